//! The ROC curve of probabilities without labels.

use serde::Serialize;

use super::distribution::ProbDistribution;
use crate::stats::Interval;

/// The ROC curve that calibrated probabilities imply, from (0, 0) to (1, 1) (Gao et al. 2017, section 4).
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct EstimatedRoc {
    /// Where the threshold passes a probability that is there, from high to low.
    pub points: Vec<EstimatedRocPoint>,
    /// The area under the curve.
    pub auc: f64,
}

/// A point of it: the rates if the positive class is predicted for probabilities above the threshold.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct EstimatedRocPoint {
    /// The threshold; `None` where everything is predicted positive.
    pub threshold: Option<f32>,
    /// The estimated false positive rate.
    pub fpr: f64,
    /// The estimated true positive rate.
    pub tpr: f64,
    /// Where the false positive rate may be.
    pub fpr_band: Option<Interval>,
    /// Where the true positive rate may be.
    pub tpr_band: Option<Interval>,
}

impl EstimatedRoc {
    /// Estimates the curve; `None` if the probabilities are all 0 or all 1. `c` is how far from calibrated the
    /// probabilities are (`c_emp`), for the band.
    ///
    /// The band is sure if `c` is the `c_emp` of these very points with their labels: positives above the threshold and
    /// positives below it may each be off by `c n`. The paper's own band, which takes the number of positives for known, is
    /// narrower and not sure.
    pub fn new(probs: &ProbDistribution, c: Option<f64>) -> Option<Self> {
        let (n, positives) = (probs.len() as f64, probs.positives());
        if positives <= 0.0 || positives >= n {
            return None;
        }
        let point = |threshold: Option<f32>| {
            let (above, positives_above) = match threshold {
                Some(threshold) => probs.within(Some(threshold), 1.0),
                None => (probs.len(), positives),
            };
            let negatives_above = above as f64 - positives_above;
            let below = |all: f64, above: f64| (all - above).max(0.0);
            let rest = (below(positives, positives_above), below(n - positives, negatives_above));
            EstimatedRocPoint {
                threshold,
                fpr: negatives_above / (n - positives),
                tpr: positives_above / positives,
                fpr_band: c.map(|c| band(negatives_above, rest.1, c * n)),
                tpr_band: c.map(|c| band(positives_above, rest.0, c * n)),
            }
        };
        let mut distinct = probs.probs().to_vec();
        distinct.dedup();
        let points: Vec<_> =
            distinct.into_iter().rev().map(|prob| point(Some(prob))).chain([point(None)]).collect();
        let area =
            |pair: &[EstimatedRocPoint]| (pair[1].fpr - pair[0].fpr) * (pair[0].tpr + pair[1].tpr) / 2.0;
        let auc = points.windows(2).map(area).sum();
        Some(Self { points, auc })
    }
}

/// The rate `above / (above + below)` if both counts may be off by `margin`.
fn band(above: f64, below: f64, margin: f64) -> Interval {
    let rate = |above: f64, below: f64, otherwise: f64| {
        if above + below > 0.0 { above / (above + below) } else { otherwise }
    };
    Interval {
        lo: rate((above - margin).max(0.0), below + margin, 0.0),
        hi: rate(above + margin, (below - margin).max(0.0), 1.0),
    }
}

#[cfg(test)]
mod tests {
    use calib_core::Score;
    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::*;
    use crate::assess::{Prediction, c_emp};

    fn distribution(probs: &[f32]) -> ProbDistribution {
        ProbDistribution::new(probs.iter().map(|&prob| Score::new(prob).unwrap())).unwrap()
    }

    #[test]
    fn a_fixture_by_hand() {
        let roc = EstimatedRoc::new(&distribution(&[0.25, 0.75, 0.25, 0.75]), None).unwrap();
        let points: Vec<_> = roc.points.iter().map(|p| (p.threshold, p.fpr, p.tpr)).collect();
        assert_eq!(points, [(Some(0.75), 0.0, 0.0), (Some(0.25), 0.25, 0.75), (None, 1.0, 1.0)]);
        assert_eq!(roc.auc, 0.75);
        assert!(EstimatedRoc::new(&distribution(&[0.0, 0.0]), None).is_none());
        assert!(EstimatedRoc::new(&distribution(&[1.0]), None).is_none());
    }

    proptest! {
        /// With the points' own c_emp the true rates are in the band, whatever the labels.
        #[test]
        fn the_band_holds_the_true_rates(rows in vec((1u32..20, any::<bool>()), 2..60)) {
            let rows: Vec<(f32, bool)> = rows.into_iter().map(|(k, hit)| (k as f32 / 20.0, hit)).collect();
            let predictions: Vec<_> = rows.iter()
                .map(|&(prob, hit)| Prediction { class: 1, prob: prob.into(), bin: 0, hit }).collect();
            let probs: Vec<f32> = rows.iter().map(|row| row.0).collect();
            let roc = EstimatedRoc::new(&distribution(&probs), Some(c_emp(&predictions))).unwrap();
            for point in &roc.points {
                let above = |prob: f32| point.threshold.is_none_or(|threshold| prob > threshold);
                for (hit, band) in [(true, point.tpr_band), (false, point.fpr_band)] {
                    let all = rows.iter().filter(|row| row.1 == hit).count();
                    let caught = rows.iter().filter(|row| row.1 == hit && above(row.0)).count();
                    let Interval { lo, hi } = band.unwrap();
                    if all > 0 {
                        let rate = caught as f64 / all as f64;
                        prop_assert!(lo - 1e-9 <= rate && rate <= hi + 1e-9, "{} not in [{}, {}]", rate, lo, hi);
                    }
                }
            }
        }
    }
}
