//! Probabilities of binary scores alone, many at once.

use calib_core::artifact::{TableForm, Tables};
use calib_core::table::InterpolatedTable;
use calib_core::{Artifact, BinFlags, Calibrator, Outcome, Score, StepTable};
use rayon::prelude::*;

use super::random_words::RandomWords;
use crate::cancel;
use crate::data::{DataError, check_device_scores};

/// Returns the probabilities of scores of class 1, and nothing else, on all processors: those that [`calibrate`](super::calibrate) finds, NaN
/// for a score whose bin is empty. `None` if the artifact is not binary.
///
/// ```
/// use calib_fit::apply::apply_probs;
/// # use calib_fit::{BinaryData, BinaryMethod, StoredArtifact, Umd, artifact_bytes, fit_binary};
/// # let scores = (0..400).map(|i| f64::from(i) / 400.0).collect();
/// # let data = BinaryData::new(scores, (0..400).map(|i| i % 40 < i / 20).collect())?;
/// # let fit = fit_binary(&data, &BinaryMethod::Umd(Umd::new(4)), 0.1)?;
/// # let stored = StoredArtifact::from_bytes(&artifact_bytes(&fit, &Default::default())?)?;
///
/// // One probability a score, in the order of the scores.
/// let probs = apply_probs(&stored.artifact(), &[0.1, 0.9], 0)?.expect("the artifact is binary");
/// assert_eq!(probs.len(), 2);
/// assert!(probs[0] < probs[1]);
/// assert!(apply_probs(&stored.artifact(), &[0.1, 1.5], 0).is_err());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
///
/// The first score that is not in `[0, 1]`.
pub fn apply_probs(
    artifact: &Artifact<'_>,
    scores: &[f32],
    seed: u64,
) -> Result<Option<Vec<f32>>, DataError> {
    check_device_scores(scores)?;
    let Calibrator::Binary(calibrator) = artifact.calibrator() else { return Ok(None) };
    let checked = |score| Score::new(score).unwrap_or(Score::ZERO);
    let prob = |outcome: Outcome| outcome.calibrated().map_or(f32::NAN, |calibrated| calibrated.prob);
    if artifact.is_randomized() {
        let prob = |(&score, word): (&f32, _)| prob(calibrator.calibrate_with(checked(score), word));
        return Ok(Some(scores.iter().zip(RandomWords::new(artifact, seed)).map(prob).collect()));
    }
    let fast_path = FastPath::of(artifact.tables());
    let mut probs = vec![0.0; scores.len()];
    let parts = scores.par_chunks(1 << 14).zip(probs.par_chunks_mut(1 << 14));
    parts.for_each(|(scores, probs)| {
        cancel::check_canceled();
        match &fast_path {
            FastPath::Steps(steps, values) if values.len() <= FEW => {
                count(steps.edges(), values, scores, probs)
            }
            FastPath::Steps(steps, values) => {
                for (&score, place) in scores.iter().zip(probs) {
                    *place = values[usize::from(steps.lookup(checked(score)).0)];
                }
            }
            FastPath::Lines(lines) => {
                for (&score, place) in scores.iter().zip(probs) {
                    *place = lines.lookup(checked(score)).1;
                }
            }
            FastPath::Each => {
                for (&score, place) in scores.iter().zip(probs) {
                    *place = prob(calibrator.calibrate(checked(score)));
                }
            }
        }
    });
    Ok(Some(probs))
}

/// How many scores are calibrated by the first table, where only probabilities are asked for.
enum FastPath<'a> {
    /// With the values, NaN in empty bins.
    Steps(StepTable<'a>, Vec<f32>),
    /// By the table alone: no bin of it has flags.
    Lines(InterpolatedTable<'a>),
    /// One by one, as a device does it.
    Each,
}

impl<'a> FastPath<'a> {
    fn of(tables: &Tables<'a>) -> Self {
        let is_empty = |bin: u16| tables.bin_flags(0, bin).contains(BinFlags::EMPTY);
        match tables.get(0).map(|table| table.form) {
            Some(TableForm::Steps(steps)) => {
                let value = |(bin, value)| if is_empty(bin) { f32::NAN } else { value };
                Self::Steps(steps, (0..).zip(steps.values()).map(value).collect())
            }
            Some(TableForm::Interpolated(lines))
                if !(0..lines.segments()).any(|bin| is_empty(bin as u16)) =>
            {
                Self::Lines(lines)
            }
            _ => Self::Each,
        }
    }
}

/// The edges of up to so many bins are counted one by one, for several scores at once, before a search among them is quicker.
const FEW: usize = 33;

/// Finds the values of many scores as [`calib_core::StepTable::lookup`] does: a bin's number is that of the edges at or below
/// the score.
fn count(edges: &[f32], values: &[f32], scores: &[f32], probs: &mut [f32]) {
    for (scores, probs) in scores.chunks(256).zip(probs.chunks_mut(256)) {
        let mut bins = [0u32; 256];
        for &edge in edges {
            for (bin, &score) in bins.iter_mut().zip(scores) {
                *bin += u32::from(edge <= score);
            }
        }
        for (prob, bin) in probs.iter_mut().zip(bins) {
            *prob = values[bin as usize];
        }
    }
}

#[cfg(test)]
mod tests {
    use calib_core::Uncalibrated;

    use super::*;
    use crate::apply::calibrate;
    use crate::artifact::{ArtifactOptions, StoredArtifact, artifact_bytes};
    use crate::binary::{BinaryMethod, FixedWidth, Isotonic, ScalingMethod, Umd};
    use crate::data::BinaryData;
    use crate::fit::fit_binary;

    #[test]
    fn probabilities_alone_are_those_of_all_there_is() {
        let scores: Vec<f32> = (0..40_000).map(|i| (i * 7919 % 4001) as f32 / 4000.0).collect();
        let labels: Vec<bool> = (0..40_000).map(|i| i * 31 % 10 < i * 7919 % 4001 / 400).collect();
        let data = BinaryData::from_device_scores(&scores, &labels).unwrap();
        let checked: Vec<Score> = scores.iter().map(|&score| Score::new(score).unwrap()).collect();
        for method in [
            BinaryMethod::Umd(Umd::new(9)),
            BinaryMethod::UmdRandomized(Umd::new(9), 1),
            BinaryMethod::FixedWidth(FixedWidth { bins: 1 }),
            BinaryMethod::FixedWidth(FixedWidth { bins: 33 }),
            BinaryMethod::FixedWidth(FixedWidth { bins: 34 }),
            BinaryMethod::Scaling(ScalingMethod::Beta),
            BinaryMethod::VennAbers,
            BinaryMethod::Isotonic(Isotonic::default()),
            BinaryMethod::IsotonicInterpolated(Isotonic::default()),
            BinaryMethod::IsotonicCentered(Isotonic::default()),
            BinaryMethod::Unchanged,
        ] {
            let fit = fit_binary(&data, &method, 0.1).unwrap();
            let bytes = artifact_bytes(&fit, &ArtifactOptions::default()).unwrap();
            let stored = StoredArtifact::from_bytes(&bytes).unwrap();
            let artifact = stored.artifact();
            let all = calibrate(&artifact, checked[..].into(), RandomWords::new(&artifact, 5)).unwrap();
            let probs = apply_probs(&stored.artifact(), &scores, 5).unwrap().unwrap();
            for (row, prob) in all.iter().zip(probs) {
                match row.outcome {
                    Outcome::Calibrated(calibrated) => assert_eq!(calibrated.prob.to_bits(), prob.to_bits()),
                    Outcome::Uncalibrated(why) => {
                        assert!(prob.is_nan());
                        assert_eq!((why, row.flags()), (Uncalibrated::EmptyBin, "empty-bin"));
                    }
                }
            }
            let bad = apply_probs(&stored.artifact(), &[0.5, -0.0, 1.5, f32::NAN], 0);
            let cause = calib_core::ScoreError::OutOfRange(1.5);
            assert_eq!(bad, Err(DataError::Score { row: 2, cause }));
        }
    }
}
