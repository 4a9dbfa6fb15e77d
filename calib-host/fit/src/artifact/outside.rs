//! Whether values agree with the intervals of ranges of the score.

use super::tables::prob_on_device;
use crate::binary::Model;
use crate::error::FitError;
use crate::intervals::TableIntervals;
use crate::points::Points;
use crate::stats::ScoreKind;

/// In how many ranges the mean of a model's values lies outside of the interval: of these points, to which both were fitted. None of a model
/// that divides equal scores at random.
pub(crate) fn values_outside(
    points: &(impl Points + ?Sized),
    model: &Model,
    kind: ScoreKind,
    ranges: &TableIntervals,
) -> Result<usize, FitError> {
    /// Values are summed in units of this.
    const UNIT: f64 = 1.0 / (1u64 << 40) as f64;
    if matches!(model, Model::Randomized(_) | Model::Codes(_)) {
        return Ok(0);
    }
    let sums_of = |groups: Vec<crate::points::Group>| {
        let scores: Vec<f32> = groups.iter().map(|group| group.score as f32).collect();
        let values = prob_on_device(model, kind, &scores).unwrap_or_default();
        let (mut sums, mut bin) = (vec![(0i128, 0i128); ranges.bins().len()], 0);
        // The groups ascend, as the ranges do.
        for (group, value) in groups.iter().zip(values) {
            bin += ranges.edges()[bin..].iter().take_while(|&&edge| edge <= group.score).count();
            // Probabilities are not negative, so this rounds half away from zero, as `round` does.
            let units = (f64::from(value) / UNIT + 0.5) as i64;
            let (n, sum) = &mut sums[bin];
            (*n, *sum) = (*n + i128::from(group.n), *sum + i128::from(group.n) * i128::from(units));
        }
        sums
    };
    let parts = points.map_runs(|groups| sums_of(groups.collect()))?;
    let outside = |(bin, range): (usize, &crate::intervals::RangeBin)| {
        let (n, sum) = parts.iter().fold((0, 0), |all, part| (all.0 + part[bin].0, all.1 + part[bin].1));
        let mean = sum as f64 * UNIT / n as f64;
        n > 0 && !(range.interval.lo..=range.interval.hi).contains(&mean)
    };
    Ok(ranges.bins().iter().enumerate().filter(|bin| outside(*bin)).count())
}
