//! What an artifact says of every score, range by range.

use calib_core::{Artifact, BinFlags};
use calib_fit::artifact::{between, encoding_of_keys, score_edges, table_label, table_prob, table_steps};
use serde_json::{Value, json};

/// The tables of an artifact as JSON. Each has its score ranges: from which score on, below which, the probability, and the interval.
///
/// A function without intervals beside it has one range of all scores.
pub(crate) fn tables(artifact: &Artifact<'_>) -> Value {
    (0..artifact.tables().count()).map(|index| table(artifact, index)).collect()
}

fn table(artifact: &Artifact<'_>, index: usize) -> Value {
    let tables = artifact.tables();
    let name = if tables.count() == 1 { String::new() } else { table_label(artifact, index) };
    let Some(found) = tables.get(index) else {
        return json!({"name": name, "epsilon": null, "rows": []});
    };
    let edges = score_edges(artifact, index).unwrap_or_default();
    let steps = table_steps(artifact, index);
    let ranges = tables.score_bins(index).map(|ranges| ranges.intervals().collect::<Vec<_>>());
    let row = |(bin, [from, to]): (usize, [Option<f64>; 2])| {
        let step = steps.iter().find(|(scores, _)| *scores == [from, to]).map(|(_, value)| *value);
        let is_empty = ranges.is_none() && tables.bin_flags(index, bin as u16).contains(BinFlags::EMPTY);
        let of_function = || table_prob(artifact, index, middle(artifact, from, to)).filter(|_| !is_empty);
        let interval = match &ranges {
            Some(ranges) => ranges.get(bin).copied(),
            None => tables.interval(index, bin as u16),
        };
        json!({
            "from": from,
            "to": to,
            "value": step.or_else(of_function),
            "interval": interval.map(|interval| [interval.lo, interval.hi]),
        })
    };
    json!({
        "name": name,
        "epsilon": found.epsilon,
        "rows": between(&edges).enumerate().map(row).collect::<Vec<_>>(),
    })
}

/// A score between two: in the middle, or at the one that is there.
fn middle(artifact: &Artifact<'_>, from: Option<f64>, to: Option<f64>) -> f32 {
    let (lowest, highest) = match encoding_of_keys(artifact).is_margin() {
        true => (None, None),
        false => (Some(0.0), Some(1.0)),
    };
    match (from.or(lowest), to.or(highest)) {
        (Some(from), Some(to)) => ((from + to) / 2.0) as f32,
        (Some(end), None) | (None, Some(end)) => end as f32,
        (None, None) => 0.0,
    }
}
