//! Intervals of ranges of the score, and a band, at another prevalence.

use calib_core::ProbInterval;
use calib_core::artifact::{
    ArtifactWriter, Band, BandParts, BandSide, Rate, ScoreIntervalParts, ScoreIntervals, WriteError,
};

use super::shift::Shift;
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

/// The band of an artifact, for another prevalence.
pub(super) struct AdjustedBand<'a> {
    alpha: f32,
    lower: (&'a [u32], Vec<f32>),
    upper: (&'a [u32], Vec<f32>),
}

impl<'a> AdjustedBand<'a> {
    /// Moves both sides. They hold except with probability `alpha`, with the interval of the calibration prevalence.
    pub(super) fn of(found: Band<'a>, alpha: f32, shift: &Shift) -> Self {
        let side = |side: BandSide<'a>, end: fn(ProbInterval) -> f32| {
            (
                side.edges(),
                side.values().map(|value| end(moved(ProbInterval { lo: value, hi: value }, shift))).collect(),
            )
        };
        Self { alpha, lower: side(found.lower(), |i| i.lo), upper: side(found.upper(), |i| i.hi) }
    }

    pub(super) fn write(&self, writer: &mut ArtifactWriter<'_>) -> Result<(), WriteError> {
        let Self { alpha, lower, upper } = self;
        writer.band(&BandParts { alpha: *alpha, lower: (lower.0, &lower.1), upper: (upper.0, &upper.1) })
    }
}

/// An interval at the other prevalence, rounded outwards.
fn moved(interval: ProbInterval, shift: &Shift) -> ProbInterval {
    shift.interval(Interval { lo: interval.lo.into(), hi: interval.hi.into() }).outwards()
}
