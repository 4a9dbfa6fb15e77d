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
use npyz::WriterBuilder;
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use crate::measure::Folder;
use crate::peer;

const BINS: usize = 15;
const REPEATS: usize = 3;

/// What was measured in memory.
pub(crate) struct Measured {
    pub(crate) name: String,
    pub(crate) rows: u64,
    pub(crate) seconds: f64,
    /// What the peer is, and its seconds.
    pub(crate) peer: Option<(String, f64)>,
}

impl Measured {
    /// How many times faster than the peer it is.
    pub(crate) fn ratio(&self) -> Option<f64> {
        self.peer.as_ref().map(|(_, seconds)| seconds / self.seconds)
    }
}

/// Measures fits and lookups on arrays, with a line for every peer; without `python` there are none.
pub(crate) fn memory(rows: u64, python: Option<&Path>, with_netcal: bool) -> Result<Vec<Measured>> {
    let (scores, labels) = rows_of(usize::try_from(rows)?);
    let ours = ours(&scores, &labels)?;
    let folder = Folder::new("memory")?;
    let peers = match python {
        Some(python) => {
            write_npy(&folder.path().join("scores.npy"), &scores)?;
            let labels: Vec<u8> = labels.iter().map(|&label| u8::from(label)).collect();
            write_npy(&folder.path().join("labels.npy"), &labels)?;
            peer::measure(python, folder.path(), with_netcal)?
        }
        None => Vec::new(),
    };
    let mut measured = Vec::new();
    for (name, seconds) in ours {
        let of_name: Vec<_> = peers.iter().filter(|peer| peer.name == name).collect();
        let line = |peer| Measured { name: name.to_owned(), rows, seconds, peer };
        if of_name.is_empty() {
            measured.push(line(None));
        }
        measured.extend(of_name.iter().map(|peer| line(Some((peer.peer.clone(), peer.seconds)))));
    }
    Ok(measured)
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
        let probs = apply_probs(&stored.artifact(), scores, 0)?.context("the artifact is binary")?;
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
