//! A screening with enough data: every guarantee against the truth, which is known because the people are simulated.

use anyhow::{Result, ensure};
use calib_core::{Artifact, Calibrated, Calibrator, Score};
use calib_host::io::files::read_artifact;
use calib_tests::classifier::{SEED, Screening};
use calib_tests::{Emulator, bare_scores, build_firmware, classified_rows};

use crate::{BARE_SCORES, BOARD, fit, folder_of, operating, print_agreement, print_guarantee, write_data};

/// What it costs to miss an ill person, and to refer a healthy one.
const MISSED: f64 = 50.0;
const REFERRED: f64 = 1.0;
/// The people whom the emulated device judges; the host judges all.
const ON_DEVICE: usize = 2000;
/// What a range's mean true probability may be off because it is taken over the people of the test, in standard errors.
const STANDARD_ERRORS: f64 = 4.0;

pub(crate) fn show() -> Result<()> {
    let Screening { case, truth } = Screening::simulate()?;
    let folder = folder_of(&case)?;
    let ill = case.test.labels.iter().filter(|&&label| label == 1).count();
    println!("\nscreening (simulated, so that the true probabilities are known)");
    println!(
        "  data         {} people to train on, half of them ill; {} to calibrate on, {} to judge on, of whom {ill} are ill; seed {SEED}",
        case.training_rows,
        case.calibration.labels.len(),
        truth.len()
    );
    let json = folder.join("classifier.json");
    case.model.save(&json)?;
    let data = write_data(&case, &folder)?;
    let slot = fit(&case, &data, &folder.join("cal.bin"))?;
    let stored = read_artifact(&slot)?;
    let artifact = stored.artifact();
    let elf = build_firmware(&json)?;
    let mut device = Emulator::start_fast(BOARD, &elf, Some(&slot))?;
    let rows = classified_rows(&mut device, &case.model, &artifact, &case.test.features[..ON_DEVICE])?;
    print_agreement("people", &rows.differences, rows.predictions.len())?;
    let bare = bare_scores(&mut device, case.model.parameters().alarm, &artifact, BARE_SCORES, SEED)?;
    print_agreement("bare scores", &bare.differences, bare.predictions.len())?;
    print_guarantee(&stored);
    let scores: Vec<Score> = case
        .test
        .features
        .iter()
        .map(|row| case.model.score(row).map_err(|refusal| anyhow::anyhow!("{refusal:?}")))
        .collect::<Result<_>>()?;
    let calibrated = calibrate(&artifact, &scores)?;
    print_ranges(&calibrated, &truth);
    print_costs(&scores, &calibrated, &truth);
    operating::show(&case, &data, &elf, ["ill people", "healthy ones"], ON_DEVICE)
}

fn calibrate(artifact: &Artifact<'_>, scores: &[Score]) -> Result<Vec<Calibrated>> {
    let Calibrator::Binary(calibrator) = artifact.calibrator() else {
        anyhow::bail!("not a binary calibrator")
    };
    let calibrated = scores.iter().filter_map(|&score| calibrator.calibrate(score).calibrated().copied());
    let calibrated: Vec<Calibrated> = calibrated.collect();
    ensure!(calibrated.len() == scores.len(), "a score has no probability");
    Ok(calibrated)
}

/// The mean calibrated probability of each score range, and its interval, beside the mean true probability of the people in it.
fn print_ranges(calibrated: &[Calibrated], truth: &[f64]) {
    println!(
        "    {:>5} {:>8} {:>12} {:>22} {:>12}",
        "range", "people", "calibrated", "exact interval", "truth"
    );
    let ranges = calibrated.iter().map(|c| c.bin).max().map_or(0, |range| range + 1);
    let mut inside = 0;
    for range in 0..ranges {
        let people: Vec<(&Calibrated, f64)> =
            calibrated.iter().zip(truth.iter().copied()).filter(|(c, _)| c.bin == range).collect();
        let Some(&(first, _)) = people.first() else { continue };
        let n = people.len() as f64;
        let mean = people.iter().map(|(_, prob)| prob).sum::<f64>() / n;
        let said = people.iter().map(|(c, _)| f64::from(c.prob)).sum::<f64>() / n;
        let variance = people.iter().map(|(_, prob)| (prob - mean).powi(2)).sum::<f64>() / (n - 1.0).max(1.0);
        let slack = STANDARD_ERRORS * (variance / n).sqrt();
        let interval = first.interval.map_or("none".into(), |interval| {
            let holds = f64::from(interval.lo) - slack <= mean && mean <= f64::from(interval.hi) + slack;
            inside += u16::from(holds);
            format!("[{:.4}, {:.4}]", interval.lo, interval.hi)
        });
        println!("    {range:>5} {:>8} {said:>12.4} {interval:>22} {mean:>12.4}", people.len());
    }
    let verdict = if inside == ranges { "every interval holds" } else { "an interval does not hold" };
    println!(
        "  verdict      {verdict}: the true rate of {inside} of {ranges} ranges lies in its interval (give or take {STANDARD_ERRORS} standard \
         errors of the truth's own mean)"
    );
}

/// What deciding costs by the classifier's score, by the calibrated probability and by the truth.
fn print_costs(scores: &[Score], calibrated: &[Calibrated], truth: &[f64]) {
    // Refer where that is expected to cost less.
    let threshold = REFERRED / (REFERRED + MISSED);
    let cost = |refers: &dyn Fn(usize) -> bool| {
        let of = |(i, prob): (usize, &f64)| if refers(i) { (1.0 - prob) * REFERRED } else { prob * MISSED };
        1000.0 * truth.iter().enumerate().map(of).sum::<f64>() / truth.len() as f64
    };
    let before = cost(&|i| f64::from(scores[i].get()) >= threshold);
    let after = cost(&|i| f64::from(calibrated[i].prob) >= threshold);
    println!(
        "  decision     a missed ill person costs {MISSED}, a referred healthy one {REFERRED}: refer from a probability of {threshold:.4} on. In \
         1000 people"
    );
    for (title, cost) in [
        ("by the classifier's score", before),
        ("by the calibrated probability", after),
        ("by the truth, which nobody has", cost(&|i| truth[i] >= threshold)),
        ("everybody is referred", cost(&|_| true)),
        ("nobody is referred", cost(&|_| false)),
    ] {
        println!("    {title:<32} {cost:>8.1}");
    }
    let verdict = if after < before { "calibrating helps" } else { "calibrating does not help" };
    println!("  verdict      {verdict}: the cost changes by {:+.1} in 1000 people", after - before);
}
