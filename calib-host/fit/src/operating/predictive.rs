//! Predictive values: the share of the raised that are positive, and of the cleared that are negative.

use super::error::OperatingError;
use super::point::{OperatingPoint, OperatingPoints, PointCounts, check_share};
use super::rank::Aim;
use super::scores::KeyedScores;
use crate::stats::clopper_pearson;

/// What is guaranteed of the predictive values at a stated prevalence.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize)]
#[non_exhaustive]
pub struct PredictiveValues {
    /// The least share of positives among those raised.
    pub ppv: f64,
    /// The least share of negatives among those cleared.
    pub npv: f64,
    /// The confidence that both hold, in all groups at once; 0 or below says nothing.
    pub confidence: f64,
}

impl OperatingPoints {
    /// Guarantees predictive values in a group, at a prevalence that is known.
    ///
    /// Both grow with sensitivity and specificity, so that lower bounds of those give lower bounds of these: the share that the
    /// threshold guarantees, and for the other class, which did not choose the threshold, an exact one-sided bound at the same
    /// failure probability. Their failure probabilities add up (union bound).
    ///
    /// # Errors
    ///
    /// If the prevalence is not in `(0, 1)`.
    ///
    /// ```
    /// use calib_fit::operating::{Aim, Aims, GroupScores, KeyedScores, OperatingPoints, Sharing};
    /// # let scores = (0..200).map(|i| f64::from(i % 100) / 200.0 + if i < 100 { 0.5 } else { 0.0 }).collect();
    /// # let data = calib_fit::BinaryData::new(scores, (0..200).map(|i| i < 100).collect())?;
    /// # let group = GroupScores { name: None, scores: KeyedScores::of_scores(&data)? };
    /// let aims = Aims { sensitivity: Some(Aim { level: 0.95, confidence: 0.95 }), specificity: None };
    /// let found = OperatingPoints::find(&[group], aims, Sharing::Own)?;
    ///
    /// // None of 100 negatives is raised: the specificity is at least .97.
    /// let values = found.predictive_values(&found.points()[0], 0.1)?;
    /// assert!((values.ppv - 0.78).abs() < 0.01 && values.npv > 0.99 && (values.confidence - 0.9).abs() < 1e-9);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn predictive_values(
        &self,
        point: &OperatingPoint,
        prevalence: f64,
    ) -> Result<PredictiveValues, OperatingError> {
        check_share("prevalence", prevalence)?;
        let PointCounts { positives, positives_from_upper, negatives, negatives_from_lower, .. } =
            point.counts;
        // What the specificity chose leaves the positives untouched, and the other way round.
        let raising = self.aims.specificity.map(|aim| {
            let delta = aim.delta() / self.groups();
            ((least(positives_from_upper, positives, delta), aim.level), aim)
        });
        let clearing = self.aims.sensitivity.map(|aim| {
            let delta = aim.delta() / self.groups();
            ((aim.level, least(negatives - negatives_from_lower, negatives, delta)), aim)
        });
        let (above, below) = match (raising, clearing) {
            (Some(above), Some(below)) if point.refers() => (above, below),
            // The only threshold is the specificity's.
            (Some(only), _) | (None, Some(only)) => (only, only),
            (None, None) => return Err(OperatingError::NoAim),
        };
        let ((sensitivity, specificity), _) = above;
        let ppv = share(prevalence * sensitivity, (1.0 - prevalence) * (1.0 - specificity));
        let ((sensitivity, specificity), _) = below;
        let npv = share((1.0 - prevalence) * specificity, prevalence * (1.0 - sensitivity));
        let both = if point.refers() { above.1.delta() + below.1.delta() } else { above.1.delta() };
        Ok(PredictiveValues { ppv, npv, confidence: 1.0 - 2.0 * both })
    }
}

/// The exact lower bound of a proportion that fails with probability delta.
fn least(right: u64, n: u64, delta: f64) -> f64 {
    clopper_pearson(right, n, (2.0 * delta).min(1.0 - f64::EPSILON)).lo
}

fn share(part: f64, rest: f64) -> f64 {
    part / (part + rest)
}

/// Finds the lowest threshold of a grid from which on the raised are positive with at least the aim's share, at the prevalence of
/// the calibration points. It is `None` if not even the highest is sure to be.
///
/// Thresholds are tried from the highest on, each by an exact binomial test at the whole failure probability, and the first that is
/// not sure ends the search (fixed-sequence testing. Angelopoulos, Bates, Candes, Jordan and Lei 2021, "Learn then Test"). The grid
/// must have been fixed before the calibration points were drawn: all codes, or thresholds that someone stated. If the highest
/// threshold has few points above it, nothing is ever sure.
///
/// ```
/// use calib_core::{QuantizedScore, ScoreEncoding};
/// use calib_fit::operating::{Aim, KeyedScores, threshold_of_ppv};
///
/// let encoding = ScoreEncoding::U8 { scale: 1.0, zero_point: 0 };
/// // From 90 on all are positive, from 50 on half.
/// let row = |i: u16| (QuantizedScore::from_key(encoding, i % 100).unwrap(), i % 100 >= 90 || i % 100 >= 50 && i % 2 == 0);
/// let scores = KeyedScores::of_codes(encoding, (0..1000).map(row));
/// let aim = Aim { level: 0.9, confidence: 0.95 };
/// assert_eq!(threshold_of_ppv(&scores, aim, &[50, 70, 90, 95])?, Some(90));
/// # Ok::<(), calib_fit::operating::OperatingError>(())
/// ```
///
/// # Errors
///
/// If the grid does not ascend, or a share is not in `(0, 1)`.
pub fn threshold_of_ppv(scores: &KeyedScores, aim: Aim, grid: &[u32]) -> Result<Option<u32>, OperatingError> {
    check_grid(aim, grid)?;
    let is_sure =
        |&&threshold: &&u32| is_sure(aim, scores.negatives_from(threshold), scores.positives_from(threshold));
    Ok(grid.iter().rev().take_while(is_sure).last().copied())
}

/// Finds the highest threshold of a grid below which the cleared are negative with at least the aim's share, as
/// [`threshold_of_ppv`] does from the lowest on.
///
/// # Errors
///
/// As [`threshold_of_ppv`].
pub fn threshold_of_npv(scores: &KeyedScores, aim: Aim, grid: &[u32]) -> Result<Option<u32>, OperatingError> {
    check_grid(aim, grid)?;
    let is_sure = |&&threshold: &&u32| {
        let missed = scores.positives() - scores.positives_from(threshold);
        is_sure(aim, missed, scores.negatives() - scores.negatives_from(threshold))
    };
    Ok(grid.iter().take_while(is_sure).last().copied())
}

/// Whether so many wrong ones are too few for a share of right ones below the aim's.
fn is_sure(aim: Aim, wrong: u64, right: u64) -> bool {
    aim.rank(wrong + right, 1).is_some_and(|allowed| wrong <= allowed)
}

fn check_grid(aim: Aim, grid: &[u32]) -> Result<(), OperatingError> {
    check_share("predictive value", aim.level)?;
    check_share("confidence", aim.confidence)?;
    if grid.is_sorted_by(|a, b| a < b) { Ok(()) } else { Err(OperatingError::Grid) }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// One-sided, at the whole of delta: what its closed forms say, and no lower.
    #[test]
    fn a_bound_has_one_side() {
        for (n, delta) in [(59u64, 0.05f64), (200, 0.01), (20, 0.4)] {
            let all = delta.powf(1.0 / n as f64);
            let found = least(n, n, delta);
            assert!(found <= all && all - found < 1e-6, "{n} {delta}: {found} {all}");
            let one = 1.0 - (1.0 - delta).powf(1.0 / n as f64);
            let found = least(1, n, delta);
            assert!(found <= one && one - found < 1e-6, "{n} {delta}: {found} {one}");
        }
        assert_eq!(least(0, 30, 0.05), 0.0);
    }
}
