//! Fits for tables of 16-bit numbers.

use calib_core::Margin;
use calib_core::table::CompactTable;

use super::error::CompileError;
use crate::binary::Model;
use crate::data::STEPS;
use crate::fit::Fit;
use crate::stats::ScoreKind;

/// The most by which a probability changes.
const ROUNDING: f64 = 0.5 / CompactTable::ONE as f64;

/// The lowest key whose score is not below the edge: where a lookup by keys changes bins.
pub(crate) fn edge_key(kind: ScoreKind, edge: f64) -> Option<u16> {
    match kind {
        ScoreKind::Probability => score_edge_key(edge),
        ScoreKind::Margin => margin_edge_key(edge),
    }
}

/// The least margin with an upper half of a key has zeros in the lower half.
fn margin_edge_key(edge: f64) -> Option<u16> {
    let key = Margin::new(edge as f32).ok()?.key();
    u16::try_from(key.checked_add(0xFFFF)? >> 16).ok()
}

fn score_edge_key(edge: f64) -> Option<u16> {
    let mut key = (edge * STEPS).ceil();
    // The product is off by an ulp at most.
    if key >= 1.0 && (key - 1.0) / STEPS >= edge {
        key -= 1.0;
    }
    if key / STEPS < edge {
        key += 1.0;
    }
    (1.0..=STEPS).contains(&key).then_some(key as u16)
}

impl Fit {
    /// The same fit with what a table of 16-bit numbers holds: probabilities are rounded to multiples of 1/32768, and
    /// epsilons are wider by the 2^-16 that this may cost. What is fitted for such a table must be fitted on scores that
    /// are rounded as the device rounds them: [`BinaryData::rounded`](crate::data::BinaryData::rounded) and
    /// [`Problems::rounded`](crate::reduction::Problems::rounded).
    ///
    /// # Errors
    ///
    /// If a table is no step function.
    pub fn into_u16_table(mut self) -> Result<Self, CompileError> {
        for table in self.tables.iter_mut().flatten() {
            let round = |value: &mut f64| *value = CompactTable::prob(CompactTable::nearest(*value)).into();
            let bins = match &mut table.model {
                Model::Steps(steps) => &mut steps.bins,
                Model::Codes(codes) => {
                    codes.values.iter_mut().for_each(round);
                    &mut codes.bins
                }
                _ => return Err(CompileError::NotSteps),
            };
            bins.iter_mut().for_each(|bin| round(&mut bin.value));
            table.epsilon = table.epsilon.map(|epsilon| epsilon + ROUNDING);
            for (bin, interval) in bins.iter().zip(&mut table.intervals) {
                (interval.lo, interval.hi) = (interval.lo.min(bin.value), interval.hi.max(bin.value));
            }
        }
        if let Some(guarantee) = &mut self.guarantee {
            guarantee.epsilon += ROUNDING;
        }
        self.compact = true;
        Ok(self)
    }
}

#[cfg(test)]
mod tests {
    use calib_core::{Artifact, Calibrator, Score, ScoreEncoding};
    use proptest::prelude::*;

    use super::*;
    use crate::artifact::options::ArtifactOptions;
    use crate::artifact::stored::StoredArtifact;
    use crate::artifact::tables::artifact_bytes;
    use crate::binary::{BinaryMethod, Isotonic, Umd};
    use crate::data::{BinaryData, rounded_of};
    use crate::fit::fit_binary;

    #[test]
    fn an_edge_is_the_first_key_at_or_above_it() {
        for key in 1..=u16::MAX {
            let score = f64::from(key) / STEPS;
            assert_eq!(score_edge_key(score), Some(key));
            assert_eq!(score_edge_key(score.next_down()), Some(key));
            assert_eq!(score_edge_key(score.next_up()), key.checked_add(1));
        }
        assert_eq!(score_edge_key(0.0), None);
    }

    proptest! {
        /// What the device says to a score is what the fit says to the rounded one.
        #[test]
        fn the_device_gives_what_was_fitted(
            rows in proptest::collection::vec((0.0f64..=1.0, any::<bool>()), 40..200), probes in proptest::collection::vec(0.0f32..=1.0, 50),
        ) {
            prop_assume!(rows.iter().any(|r| r.1) && rows.iter().any(|r| !r.1));
            let (scores, labels) = rows.into_iter().unzip();
            let data = BinaryData::new(scores, labels).unwrap().rounded();
            for method in [BinaryMethod::Umd(Umd::new(5)), BinaryMethod::Isotonic(Isotonic::default())] {
                let exact = fit_binary(&data, &method, 0.1).unwrap();
                let fit = exact.clone().into_u16_table().unwrap();
                let bytes = artifact_bytes(&fit, &ArtifactOptions { intervals: true, ..Default::default() }).unwrap();
                let stored = StoredArtifact::from_bytes(&bytes).unwrap();
                let artifact: Artifact<'_> = stored.artifact();
                prop_assert_eq!(artifact.header().encoding, ScoreEncoding::RoundedF32);
                let Calibrator::Binary(calibrator) = artifact.calibrator() else { panic!("not binary") };
                let model = |fit: &Fit| fit.tables[0].as_ref().unwrap().model.steps().unwrap().clone();
                for &probe in &probes {
                    let outcome = calibrator.calibrate(Score::new(probe).unwrap());
                    let got = outcome.calibrated().unwrap();
                    let seen = rounded_of(ScoreKind::Probability)(probe.into());
                    prop_assert_eq!(usize::from(got.bin), model(&fit).bin(seen));
                    prop_assert_eq!(f64::from(got.prob), model(&fit).prob(seen));
                    prop_assert!((f64::from(got.prob) - model(&exact).prob(seen)).abs() <= ROUNDING);
                }
            }
        }
    }
}
