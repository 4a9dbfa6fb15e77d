//! `cargo xtask demo`: the main job on real data: train, calibrate, deploy to an emulated device, compare, assess.

mod network;
mod operating;
mod screening;
mod sets;
mod share;
mod side_by_side;

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Instant;

use anyhow::{Context, Result, bail};
use calib_core::wire::{Measurement, ReplyBody, RequestBody, ScoreEcho, Status};
use calib_core::{Artifact, Outcome};
use calib_firmware::Classifier;
use calib_host::assess::{
    AssessOptions, Assessment, BeforeAfter, Bootstrap, EstimateWithInterval, IntervalKind, Prediction,
    PredictionKind, assess_before_after,
};
use calib_host::io::files::read_artifact;
use calib_host::stats::Interval;
use calib_host::{StoredArtifact, guarantee_text};
use calib_tests::classifier::{Case, Rows, SEED};
use calib_tests::{Board, Emulator, ImageSize, bare_scores, build_firmware, classified_rows, image_size};
use npyz::WriterBuilder;
use xtask::{built, root, run};

/// The number of bare scores that are compared besides the rows of the data.
const BARE_SCORES: usize = 10_000;
/// How often the work is repeated to count its instructions.
const REPEAT: u16 = 4096;
const BOARD: Board = Board::Mps2An386;
const BOOTSTRAP: Bootstrap =
    Bootstrap { kind: IntervalKind::Percentile, resamples: 2000, seed: SEED, alpha: 0.05 };

/// Trains, calibrates, deploys and judges all cases.
fn main() -> Result<()> {
    let start = Instant::now();
    show(&Case::breast_cancer()?)?;
    network::show()?;
    screening::show()?;
    eprintln!("all three cases took {:.0} s", start.elapsed().as_secs_f64());
    Ok(())
}

fn show(case: &Case) -> Result<()> {
    let folder = folder_of(case)?;
    let Case { name, model, training_rows, calibration, test } = case;
    println!("\n{name}");
    println!(
        "  data         {training_rows} rows to train on, {} to calibrate on, {} to judge on; seed {SEED}",
        calibration.labels.len(),
        test.labels.len()
    );

    let json = folder.join("classifier.json");
    model.save(&json)?;
    let data = write_data(case, &folder)?;
    let slot = fit(case, &data, &folder.join("cal.bin"))?;
    let stored = read_artifact(&slot)?;
    let artifact = stored.artifact();
    let elf = build_firmware(&json)?;
    let size = image_size(&elf)?;

    let mut device = Emulator::start_fast(BOARD, &elf, Some(&slot))?;
    let rows = classified_rows(&mut device, model, &artifact, &test.features)?;
    let bare = bare_scores(&mut device, model.parameters().alarm, &artifact, BARE_SCORES, SEED)?;
    let measurement = measure(&elf, &slot, test, REPEAT)?;
    let status = status(&mut device)?;

    print_agreement("test rows", &rows.differences, rows.predictions.len())?;
    print_agreement(
        "bare scores, every edge and its neighbours among them",
        &bare.differences,
        bare.predictions.len(),
    )?;
    print_assessment(false, &rows.predictions, test);
    print_guarantee(&stored);
    print_cost(&artifact, size, measurement, &status);
    operating::show(case, &data, &elf, ["cancers", "healthy ones"], usize::MAX)
}

/// Where the files of a case go.
fn folder_of(case: &Case) -> Result<PathBuf> {
    let folder = root().join("target/demo").join(case.name);
    fs::create_dir_all(&folder).with_context(|| format!("cannot create {}", folder.display()))?;
    Ok(folder)
}

/// Runs `calib fit` on the calibration data.
fn fit(case: &Case, data: &Path, slot: &Path) -> Result<PathBuf> {
    let id = case.model.id().to_string();
    calib("fit", &[&relative(data), "--classifier-id", &id, "--force", "-o", &relative(slot)])?;
    Ok(slot.to_owned())
}

/// Runs the command, and says how to run it again.
fn calib(command: &str, arguments: &[&str]) -> Result<()> {
    println!("  command      calib {command} {}", arguments.join(" "));
    run(std::process::Command::new(built("calib")?)
        .current_dir(root())
        .arg("--quiet")
        .arg(command)
        .args(arguments))
}

/// The scores are those that the device computes: the host runs the same code, and the parity below proves it.
fn write_data(case: &Case, folder: &Path) -> Result<PathBuf> {
    let Rows { features, labels } = &case.calibration;
    let refused = |refusal| anyhow::anyhow!("the classifier refuses a row: {refusal:?}");
    let path = folder.join("calibration.csv");
    let mut writer = csv::Writer::from_path(&path)?;
    writer.write_record(["score", "label"])?;
    for (row, label) in features.iter().zip(labels) {
        let score = case.model.score(row).map_err(refused)?.get();
        writer.write_record([score.to_string(), label.to_string()])?;
    }
    writer.flush()?;
    Ok(path)
}

fn write_npy<T: npyz::AutoSerialize>(
    path: &Path,
    shape: &[u64],
    values: impl IntoIterator<Item = T>,
) -> Result<()> {
    let file = fs::File::create(path).with_context(|| format!("cannot write {}", path.display()))?;
    let mut writer = npyz::WriteOptions::new().default_dtype().shape(shape).writer(file).begin_nd()?;
    writer.extend(values)?;
    Ok(writer.finish()?)
}

/// A path below the root, for a command line that can be repeated from there.
fn relative(path: &Path) -> String {
    path.strip_prefix(root()).unwrap_or(path).display().to_string()
}

/// Counts instructions, on a device of its own: one that counts answers many requests slowly.
fn measure(elf: &Path, slot: &Path, test: &Rows, mut repeat: u16) -> Result<Measurement> {
    let mut device = Emulator::start_on(BOARD, elf, Some(slot))?;
    let features = test.features[0].iter().copied().collect();
    // The timer has 24 bits: a long classification is repeated less often.
    loop {
        match device.request(RequestBody::Measure { features: Clone::clone(&features), repeat })? {
            ReplyBody::Measurement(measurement) => return Ok(measurement),
            ReplyBody::Refused(_) if repeat > 1 => repeat /= 2,
            reply => bail!("the device does not measure: {reply:?}"),
        }
    }
}

fn status(device: &mut Emulator) -> Result<Status> {
    match device.request(RequestBody::Status)? {
        ReplyBody::Status(status) => Ok(status),
        reply => bail!("the device does not tell its status: {reply:?}"),
    }
}

fn print_agreement(what: &str, differences: &[String], count: usize) -> Result<()> {
    println!(
        "  agreement    {} of {count} {what}: the same bits on host and device",
        count - differences.len()
    );
    if let Some(first) = differences.first() {
        bail!("host and device differ: {first}");
    }
    Ok(())
}

fn print_assessment(top_label: bool, predictions: &[calib_core::wire::Answer], test: &Rows) {
    let (mut before, mut after) = (Vec::new(), Vec::new());
    for (prediction, &label) in predictions.iter().zip(&test.labels) {
        // Before and after are compared on the same rows.
        let Outcome::Calibrated(calibrated) = prediction.outcome else { continue };
        let ScoreEcho::F32(score) = prediction.score else { continue };
        let row = Prediction {
            class: prediction.class,
            prob: 0.0,
            bin: calibrated.bin.into(),
            hit: label == prediction.class,
        };
        before.push(Prediction { prob: score.get().into(), ..row });
        after.push(Prediction { prob: calibrated.prob.into(), ..row });
    }
    if before.len() < predictions.len() {
        let left_out = predictions.len() - before.len();
        println!("  uncalibrated {left_out} test rows: their class has no table");
    }
    let kind = if top_label { PredictionKind::TopLabel } else { PredictionKind::Binary };
    let options = AssessOptions::default().bootstrap(Some(BOOTSTRAP));
    let BeforeAfter { before: score, after: prob, change, .. } =
        assess_before_after(&before, &after, kind, &options, &options);
    println!("  on {} test rows    {:<28} {:<28}", before.len(), "classifier's score", "calibrated");
    type Metric = fn(&Assessment) -> EstimateWithInterval;
    let mut metrics: Vec<(&str, Metric)> = vec![
        ("accuracy", |a| a.accuracy),
        ("Brier", |a| a.brier),
        ("log-loss", |a| a.log_loss),
        ("ECE, 15 bins", |a| a.conf_ece.plugin()),
    ];
    if top_label {
        metrics.push(("top-label ECE", |a| a.tl_ece.expect("assessed as top-label").plugin()));
    }
    for (name, metric) in metrics {
        println!("    {name:<18} {:<28} {:<28}", with_interval(metric(&score)), with_interval(metric(&prob)));
    }
    println!("    in brackets: 95 % bootstrap percentile intervals, {} resamples", BOOTSTRAP.resamples);
    if prob.log_loss_clipped > 0 {
        let clipped = prob.log_loss_clipped;
        println!(
            "    rows with a calibrated probability of 0 for what happened: {clipped}; the log-loss clips it to 2e-16"
        );
    }
    print_verdict(change.brier);
}

/// Says whether calibrating lowered the Brier score, by a paired bootstrap.
fn print_verdict(change: EstimateWithInterval) {
    let Interval { lo, hi } = change.interval.expect("the bootstrap gives one");
    let verdict = if hi < 0.0 {
        "calibrating helps"
    } else if lo > 0.0 {
        "calibrating does not help, it harms: these data are too few"
    } else {
        "calibrating shows no gain on data this small: `calib fit --method none` leaves the scores as they are, with the same intervals"
    };
    let mean = change.value;
    println!("  verdict      {verdict}: the Brier score changes by {mean:+.4} [{lo:+.4}, {hi:+.4}]");
}

fn with_interval(estimate: EstimateWithInterval) -> String {
    match estimate.interval {
        Some(Interval { lo, hi }) => format!("{:.4} [{lo:.4}, {hi:.4}]", estimate.value),
        None => format!("{:.4}", estimate.value),
    }
}

fn print_guarantee(stored: &StoredArtifact) {
    println!("  guarantee    {}", guarantee_text(stored).statement);
    let artifact = stored.artifact();
    let Some(found) = artifact.score_intervals() else { return };
    let tables = (0..found.count()).filter_map(|table| found.table(table));
    let widths: Vec<f32> =
        tables.flat_map(|ranges| ranges.intervals()).map(|interval| interval.hi - interval.lo).collect();
    let narrowest = widths.iter().copied().fold(f32::INFINITY, f32::min);
    let widest = widths.iter().copied().fold(0.0, f32::max);
    println!("               {} intervals, {narrowest:.3} to {widest:.3} wide", widths.len());
}

fn print_cost(artifact: &Artifact<'_>, size: ImageSize, measurement: Measurement, status: &Status) {
    println!("  artifact     {} bytes, id {}", artifact.len_bytes(), artifact.identity());
    println!(
        "  firmware     {} bytes of flash, {} bytes of static RAM, {} bytes of stack at most so far",
        size.flash_bytes, size.static_ram_bytes, status.stack_high_water_bytes
    );
    println!(
        "  instructions {:.1} per prediction, {:.1} per calibration (Cortex-M4F emulated, mean of {} runs)",
        instructions(measurement, measurement.classify_ticks),
        instructions(measurement, measurement.calibrate_ticks),
        measurement.repeat
    );
}

/// The instructions of one round, of which so many ticks were measured.
fn instructions(measurement: Measurement, ticks: u32) -> f64 {
    let net = f64::from(ticks) - f64::from(measurement.empty_ticks);
    net * BOARD.instructions_per_tick() / f64::from(measurement.repeat)
}
