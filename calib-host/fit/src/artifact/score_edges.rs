//! Where the bins or score ranges of a table end, as scores.

use calib_core::artifact::{HeaderFlags, TableForm};
use calib_core::{Artifact, Margin, ScoreEncoding};

/// The inner edges of what results of a table have as their bin, ascending, in the user's scores or codes: those of the score ranges that have
/// intervals, or else of the bins. `None` if there are neither.
pub fn score_edges(artifact: &Artifact<'_>, table: usize) -> Option<Vec<f64>> {
    let tables = artifact.tables();
    let of_key = |key: u32| score_of_key(artifact, key);
    let of_floats = |edges: &[f32]| Some(edges.iter().map(|&edge| shortest(edge)).collect());
    if let Some(ranges) = tables.score_bins(table) {
        return Some(ranges.edges().iter().map(|&key| of_key(key)).collect());
    }
    match tables.get(table)?.form {
        TableForm::Steps(t) => of_floats(t.edges()),
        TableForm::MarginSteps(t) => of_floats(t.edges()),
        TableForm::Randomized(t) => of_floats(t.edges()),
        TableForm::MarginRandomized(t) => of_floats(t.edges()),
        TableForm::VennAbers(t) => of_floats(t.edges()),
        TableForm::MarginVennAbers(t) => of_floats(t.edges()),
        TableForm::Codes(t) => Some(t.edges().iter().map(|&key| of_key(key)).collect()),
        TableForm::Compact(t) => Some(t.edges().iter().map(|&key| of_key(key.into())).collect()),
        _ => None,
    }
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

/// The encoding of a table's keys: of predicted classes by their lead it is that of leads.
pub fn encoding_of_keys(artifact: &Artifact<'_>) -> ScoreEncoding {
    let header = artifact.header();
    match header.flags.contains(HeaderFlags::CLASS_MARGIN) {
        true => header.encoding.of_leads(),
        false => header.encoding,
    }
}

/// A number with the shortest digits that give the f32 back.
pub fn shortest(number: f32) -> f64 {
    number.to_string().parse().unwrap_or(f64::NAN)
}
