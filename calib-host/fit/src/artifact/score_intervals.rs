//! Intervals of ranges of the score beside the tables, as the device has them.

use calib_core::artifact::{ArtifactWriter, ScoreIntervalParts, WriteError};
use calib_core::{Margin, ProbInterval, QuantizedScore, Score, ScoreEncoding};

use super::compact::edge_key;
use super::error::CompileError;
use crate::data::score_of_code;
use crate::fit::Fit;
use crate::intervals::{Intervals, TableIntervals};
use crate::stats::ScoreKind;

/// A table's edges as keys, and its intervals rounded outwards.
pub(super) type Ranges = (Vec<u32>, Vec<ProbInterval>);

/// Returns what each table of a fit is written with.
pub(super) fn of_tables(found: &Intervals, fit: &Fit) -> Result<Vec<Option<Ranges>>, CompileError> {
    if found.tables().len() != fit.tables.len() {
        return Err(CompileError::Write(WriteError::Form));
    }
    let encoding = fit.encoding();
    let of_keys = if fit.is_by_top2_margin() { encoding.of_top2_margins() } else { encoding };
    by_keys(found, |edge| key_of(edge, fit.scores, of_keys, fit.compact))
}

/// Returns what each predicted class is written with, beside a calibrator of whole vectors.
pub(super) fn of_classes(found: &Intervals, classes: usize) -> Result<Vec<Option<Ranges>>, CompileError> {
    if found.tables().len() != classes {
        return Err(CompileError::Write(WriteError::Form));
    }
    by_keys(found, |edge| key_of(edge, ScoreKind::Probability, ScoreEncoding::F32, false))
}

fn by_keys(
    found: &Intervals,
    key: impl Fn(f64) -> Result<u32, CompileError>,
) -> Result<Vec<Option<Ranges>>, CompileError> {
    let table = |ranges: &TableIntervals| -> Result<Ranges, CompileError> {
        let edges = ranges.edges().iter().map(|&edge| key(edge)).collect::<Result<Vec<_>, _>>()?;
        if let Some(same) = edges.windows(2).position(|pair| pair[0] == pair[1]) {
            return Err(CompileError::TooFine(ranges.edges()[same + 1]));
        }
        Ok((edges, ranges.bins().iter().map(|bin| bin.interval.outwards()).collect()))
    };
    found.tables().iter().map(|ranges| ranges.as_ref().map(table).transpose()).collect()
}

/// Writes the section.
pub(super) fn write(
    found: &Intervals,
    tables: &[Option<Ranges>],
    writer: &mut ArtifactWriter<'_>,
) -> Result<(), WriteError> {
    let tables: Vec<_> =
        tables.iter().map(|t| t.as_ref().map(|(edges, pairs)| (&edges[..], &pairs[..]))).collect();
    writer.score_intervals(&ScoreIntervalParts {
        rate: found.rate(),
        alpha: found.alpha() as f32,
        tables: &tables,
    })
}

/// The least key whose score is not below the edge.
fn key_of(edge: f64, kind: ScoreKind, encoding: ScoreEncoding, compact: bool) -> Result<u32, CompileError> {
    if let Some((lowest, highest)) = encoding.code_range() {
        let score = |code| QuantizedScore::new(encoding, code).map(|code| score_of_code(kind, code));
        let (mut from, mut to) = (lowest, highest);
        while from < to {
            let middle = from + (to - from) / 2;
            if score(middle).is_ok_and(|score| f64::from(score) < edge) {
                from = middle + 1
            } else {
                to = middle
            }
        }
        return Ok((from - lowest).cast_unsigned());
    }
    if compact {
        return edge_key(kind, edge).map(u32::from).ok_or(CompileError::TooFine(edge));
    }
    let single = Some(edge as f32).filter(|single| f64::from(*single) == edge);
    let key = single.and_then(|single| match kind {
        ScoreKind::Probability => Score::new(single).map(Score::to_bits).ok(),
        ScoreKind::Margin => Margin::new(single).map(Margin::key).ok(),
    });
    key.ok_or(CompileError::Edge(edge))
}
