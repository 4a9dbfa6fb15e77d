//! Where the bins or score ranges of a table end, as scores.

use calib_core::artifact::{HeaderFlags, TableForm};
use calib_core::{Artifact, BinFlags, Margin, ProbInterval, ScoreEncoding};

use super::tables::prob_of;
use super::vacuous::values;

/// The inner edges of what results of a table have as their bin, ascending, in the user's scores or codes: those of the score ranges that have
/// intervals, or else of the bins. `None` if there are neither.
pub fn score_edges(artifact: &Artifact<'_>, table: usize) -> Option<Vec<f64>> {
    match artifact.tables().score_bins(table) {
        Some(ranges) => Some(edges_of_keys(artifact, ranges.edges().iter().copied())),
        None => bin_edges(artifact, table),
    }
}

/// The bins of a table: from which score on, and below which, and the probability, ascending; empty if the table is no step function.
pub fn table_steps(artifact: &Artifact<'_>, table: usize) -> Vec<([Option<f64>; 2], f32)> {
    let tables = artifact.tables();
    let (Some(found), Some(edges)) = (tables.get(table), bin_edges(artifact, table)) else {
        return Vec::new();
    };
    let edge = |number: Option<usize>| edges.get(number?).copied();
    let step = |(bin, value): (usize, f32)| ([edge(bin.checked_sub(1)), edge(Some(bin))], value);
    let is_calibrated = |bin: &(usize, f32)| !tables.bin_flags(table, bin.0 as u16).contains(BinFlags::EMPTY);
    values(&found.form).into_iter().enumerate().filter(is_calibrated).map(step).collect()
}

/// The probability that a table gives a score; `None` if it has no such score, takes codes or draws a random word.
pub fn table_prob(artifact: &Artifact<'_>, table: usize, score: f32) -> Option<f32> {
    prob_of(&artifact.tables().get(table)?.form, score)
}

/// The inner edges of a table's bins.
fn bin_edges(artifact: &Artifact<'_>, table: usize) -> Option<Vec<f64>> {
    let of_floats = |edges: &[f32]| Some(edges.iter().map(|&edge| shortest(edge)).collect());
    match artifact.tables().get(table)?.form {
        TableForm::Steps(t) => of_floats(t.edges()),
        TableForm::MarginSteps(t) => of_floats(t.edges()),
        TableForm::Randomized(t) => of_floats(t.edges()),
        TableForm::MarginRandomized(t) => of_floats(t.edges()),
        TableForm::VennAbers(t) => of_floats(t.edges()),
        TableForm::MarginVennAbers(t) => of_floats(t.edges()),
        TableForm::Codes(t) => Some(edges_of_keys(artifact, t.edges().iter().copied())),
        TableForm::Compact(t) => Some(edges_of_keys(artifact, t.edges().iter().map(|&key| key.into()))),
        _ => None,
    }
}

/// The scores of keys.
fn edges_of_keys(artifact: &Artifact<'_>, keys: impl Iterator<Item = u32>) -> Vec<f64> {
    keys.map(|key| score_of_key(artifact, key)).collect()
}

/// From which score on, and below which, in words.
pub fn scores_in_words(scores: [Option<f64>; 2]) -> String {
    /// The least score above 0: an edge there has 0 below it.
    const LEAST: f64 = 1e-45;
    match scores {
        [None, Some(LEAST)] => "up to 0".into(),
        [Some(LEAST), Some(below)] => format!("above 0 to {below}"),
        [Some(LEAST), None] => "above 0".into(),
        [None, None] => "all".into(),
        [None, Some(below)] => format!("below {below}"),
        [Some(from), None] => format!("from {from}"),
        [Some(from), Some(below)] => format!("{from} to {below}"),
    }
}

/// The pieces of the score in which a [band](calib_core::artifact::Band) has the same ends: from which score, or code, to below which, and the
/// ends. `None` without a band.
pub fn band_steps(artifact: &Artifact<'_>) -> Option<Vec<([Option<f64>; 2], ProbInterval)>> {
    let band = artifact.band()?;
    let mut edges = [band.lower().edges(), band.upper().edges()].concat();
    edges.sort_unstable();
    edges.dedup();
    // Below the first edge the sides have their first values, as at key 0 of any kind of score.
    let at: Vec<_> = [0].iter().chain(&edges).map(|&key| band.at_key(key)).collect();
    Some(between(&edges_of_keys(artifact, edges.into_iter())).zip(at).collect())
}

/// The pieces between edges: from which score, or code, to below which.
pub fn between(edges: &[f64]) -> impl Iterator<Item = [Option<f64>; 2]> + '_ {
    let edges = || edges.iter().copied().map(Some);
    [None].into_iter().chain(edges()).zip(edges().chain([None])).map(Into::into)
}

/// What the key of an edge stands for, in the user's scores or codes.
pub fn score_of_key(artifact: &Artifact<'_>, key: u32) -> f64 {
    let encoding = encoding_of_keys(artifact);
    let is_rounded = artifact.header().flags.contains(HeaderFlags::COMPACT);
    match encoding.code_range() {
        Some((lowest, _)) => f64::from(lowest) + f64::from(key),
        None if encoding.is_margin() => {
            let key = if is_rounded { key << 16 } else { key };
            shortest(Margin::from_key(key).unwrap_or_default().get())
        }
        None if is_rounded => f64::from(key) / f64::from(u16::MAX),
        None => shortest(f32::from_bits(key)),
    }
}

/// The encoding of a table's keys. For predicted classes by their top-two margin, it is the encoding of these margins.
pub fn encoding_of_keys(artifact: &Artifact<'_>) -> ScoreEncoding {
    let header = artifact.header();
    match header.flags.contains(HeaderFlags::TOP2_MARGIN) {
        true => header.encoding.of_top2_margins(),
        false => header.encoding,
    }
}

/// A number with the shortest digits that give the f32 back.
pub fn shortest(number: f32) -> f64 {
    number.to_string().parse().unwrap_or(f64::NAN)
}
