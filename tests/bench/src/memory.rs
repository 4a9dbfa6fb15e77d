//! Fits and lookups in memory, ours and the peers', on the same arrays.

use std::fs;
use std::hint::black_box;
use std::path::Path;
use std::time::Instant;

use anyhow::{Context, Result, ensure};
use calib_host::apply::apply_probs;
use calib_host::assess::{AssessOptions, Prediction, PredictionKind, assess};
use calib_host::binary::{FixedWidth, Isotonic, ScalingMethod};
use calib_host::fit::fit_device_scores;
use calib_host::{ArtifactOptions, BinaryMethod, StoredArtifact, Umd, artifact_bytes};
use calib_run::root;
use npyz::WriterBuilder;
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use crate::{machine, peer};

const BINS: usize = 15;
const REPEATS: usize = 3;

/// Prints a line for every measurement: ours, the peer's, and how many times faster ours is.
pub(crate) fn memory(rows: u64, with_netcal: bool, may_install: bool) -> Result<()> {
    let (scores, labels) = rows_of(usize::try_from(rows)?);
    let ours = ours(&scores, &labels)?;
    let folder = root().join("target/bench");
    fs::create_dir_all(&folder)?;
    write_npy(&folder.join("scores.npy"), &scores)?;
    write_npy(&folder.join("labels.npy"), &labels.iter().map(|&label| u8::from(label)).collect::<Vec<_>>())?;
    let (peers, versions) = peer::measure(&folder, with_netcal, may_install).unwrap_or_else(|cause| {
        eprintln!("no peers to compare with: {cause:#}");
        (Vec::new(), String::new())
    });
    fs::remove_dir_all(&folder)?;

    println!("{rows} rows, best of {REPEATS}; {}; {versions}", machine());
    println!("{:<12} {:>10} {:>10} {:>8}  peer", "", "ours (s)", "peer (s)", "ratio");
    for (name, seconds) in ours {
        let mut peers = peers.iter().filter(|peer| peer.name == name).peekable();
        if peers.peek().is_none() {
            println!("{name:<12} {seconds:>10.4}");
        }
        for peer in peers {
            let ratio = peer.seconds / seconds;
            println!("{name:<12} {seconds:>10.4} {:>10.4} {ratio:>7.1}x  {}", peer.seconds, peer.peer);
        }
    }
    Ok(())
}

/// Times from arrays of scores and labels to a fitted model, and from scores to probabilities.
fn ours(scores: &[f32], labels: &[bool]) -> Result<Vec<(&'static str, f64)>> {
    let methods = [
        ("umd", BinaryMethod::Umd(Umd::new(BINS))),
        ("fixed-width", BinaryMethod::FixedWidth(FixedWidth { bins: BINS })),
        ("isotonic", BinaryMethod::Isotonic(Isotonic::default())),
        ("platt", BinaryMethod::Scaling(ScalingMethod::PlattLogit)),
    ];
    let fit = |method: &BinaryMethod| -> Result<_> { Ok(fit_device_scores(scores, labels, method, 0.1)??) };
    let mut measured = Vec::new();
    for (name, method) in &methods {
        eprintln!("measuring {name}");
        measured.push((*name, best(|| fit(method).map(drop))?));
    }
    let stored =
        StoredArtifact::from_bytes(&artifact_bytes(&fit(&methods[0].1)?, &ArtifactOptions::default())?)?;
    eprintln!("measuring apply");
    let apply = || -> Result<()> {
        let probs = apply_probs(&stored.artifact(), scores, 0)?.context("the artefact is binary")?;
        ensure!(probs.len() == scores.len(), "a score got no probability");
        Ok(())
    };
    measured.push(("apply", best(apply)?));
    eprintln!("measuring assess");
    let prediction = |(&score, &hit): (&f32, &bool)| Prediction { class: 1, prob: score.into(), bin: 0, hit };
    measured.push((
        "assess",
        best(|| {
            let predictions: Vec<Prediction> = scores.iter().zip(labels).map(prediction).collect();
            black_box(assess(&predictions, PredictionKind::Binary, &AssessOptions::default()));
            Ok(())
        })?,
    ));
    Ok(measured)
}

fn best(mut run: impl FnMut() -> Result<()>) -> Result<f64> {
    let mut best = f64::INFINITY;
    for _ in 0..REPEATS {
        let start = Instant::now();
        run()?;
        best = best.min(start.elapsed().as_secs_f64());
    }
    Ok(best)
}

/// Scores of an overconfident classifier: uniform, with a truth of `s^1.5`.
fn rows_of(rows: usize) -> (Vec<f32>, Vec<bool>) {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(1);
    (0..rows)
        .map(|_| {
            let score: f32 = rng.random();
            (score, rng.random::<f32>() < score.powf(1.5))
        })
        .unzip()
}

fn write_npy<T: npyz::AutoSerialize + Copy>(path: &Path, values: &[T]) -> Result<()> {
    let file = std::io::BufWriter::new(fs::File::create(path)?);
    let mut writer =
        npyz::WriteOptions::new().default_dtype().shape(&[values.len() as u64]).writer(file).begin_nd()?;
    writer.extend(values.iter().copied())?;
    Ok(writer.finish()?)
}
