//! Intervals of ranges of the score, and a band, at another prevalence.

use calib_core::ProbInterval;
use calib_core::artifact::{
    ArtifactWriter, Band, BandSide, Rate, ScoreIntervalParts, ScoreIntervals, WriteError,
};

use super::shift::Shift;
use crate::artifact::DeviceBand;
use crate::stats::Interval;

/// The ranges of an artifact's only table, with intervals for another prevalence.
pub(super) struct AdjustedRanges<'a> {
    rate: Rate,
    alpha: f32,
    edges: &'a [u32],
    intervals: Vec<ProbInterval>,
}

impl<'a> AdjustedRanges<'a> {
    /// Moves the intervals of the only table. They hold except with probability `alpha`, with the interval of the calibration prevalence.
    pub(super) fn of(found: ScoreIntervals<'a>, alpha: f32, shift: &Shift) -> Self {
        let ranges = found.table(0);
        let moved = |interval| moved(interval, shift);
        let intervals = ranges.iter().flat_map(|ranges| ranges.intervals()).map(moved).collect();
        let edges = ranges.map_or(&[][..], |ranges| ranges.edges());
        Self { rate: found.rate(), alpha, edges, intervals }
    }

    pub(super) fn write(&self, writer: &mut ArtifactWriter<'_>) -> Result<(), WriteError> {
        let &Self { rate, alpha, edges, ref intervals } = self;
        writer.score_intervals(&ScoreIntervalParts { rate, alpha, tables: &[Some((edges, intervals))] })
    }
}

/// The band of an artifact, for another prevalence: both sides are moved. They hold except with probability `alpha`, with the interval of the
/// calibration prevalence.
pub(super) fn adjusted_band(found: Band<'_>, alpha: f32, shift: &Shift) -> DeviceBand {
    let side = |side: BandSide<'_>, end: fn(ProbInterval) -> f32| {
        let value = |value| end(moved(ProbInterval { lo: value, hi: value }, shift));
        (side.edges().to_vec(), side.values().map(value).collect())
    };
    DeviceBand { alpha, lower: side(found.lower(), |i| i.lo), upper: side(found.upper(), |i| i.hi) }
}

/// An interval at the other prevalence, rounded outwards.
fn moved(interval: ProbInterval, shift: &Shift) -> ProbInterval {
    shift.interval(Interval { lo: interval.lo.into(), hi: interval.hi.into() }).outwards()
}
