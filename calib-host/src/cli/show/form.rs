//! The tables of an artefact, by their form.

use calib_core::artifact::TableForm;
use calib_core::table::Scaling;
use calib_core::{Artifact, ScoreEncoding};
use serde_json::{Value, json};

/// How many bytes a direct table takes, with its section's head if it is the only one; `None` if the encoding has none.
pub(super) fn direct_table(artifact: &Artifact<'_>) -> Option<usize> {
    let head = if artifact.tables().count() == 1 { 8 } else { 0 };
    let encoding = artifact.header().encoding;
    matches!(encoding, ScoreEncoding::U8 { .. } | ScoreEncoding::I8 { .. }).then_some(head + 256)
}

/// How many bytes a table takes, its epsilon among them.
pub(super) fn len_bytes(form: &TableForm<'_>) -> usize {
    let words = match form {
        TableForm::Compact(table) => return 2 * (2 * table.bins() + 1),
        TableForm::Randomized(table) => 3 * table.bins() - 1,
        TableForm::Interpolated(table) => 3 * table.x().len(),
        TableForm::VennAbers(table) => 3 * table.bins(),
        // The epsilon, the kind and the parameters.
        TableForm::Scaling(function) => 2 + parameters(function.parameters()).len(),
        form => 2 * form.bins(),
    };
    4 * words
}

/// A table's size in words for people.
pub(super) fn size(form: &TableForm<'_>) -> String {
    match form {
        TableForm::Interpolated(table) => format!("{} knots", table.x().len()),
        TableForm::Scaling(_) => "a function".into(),
        form => format!("{} bins", form.bins()),
    }
}

/// A line for each bin, knot or parameter.
pub(super) fn lines(form: &TableForm<'_>, encoding: ScoreEncoding) -> Vec<String> {
    let bin = |lo: String, hi: String, last: bool, value: String| {
        let end = if last { ']' } else { ')' };
        format!("{:<28} {value}", format!("[{lo}, {hi}{end}"))
    };
    // Every bin between the ends of the range and the edges.
    let bins = |edges: Vec<String>, ends: (String, String), values: Vec<String>| -> Vec<String> {
        let lows = std::iter::once(ends.0).chain(edges.iter().cloned());
        let highs = edges.iter().cloned().chain([ends.1]);
        let count = values.len();
        let rows = lows.zip(highs).zip(values).enumerate();
        rows.map(|(i, ((lo, hi), value))| bin(lo, hi, i + 1 == count, value)).collect()
    };
    let shown = |values: &[f32]| values.iter().map(f32::to_string).collect::<Vec<_>>();
    let unit = || ("0".to_owned(), "1".to_owned());
    match form {
        TableForm::Steps(t) => bins(shown(t.edges()), unit(), t.values().map(|v| v.to_string()).collect()),
        TableForm::Randomized(t) => {
            let edges =
                t.edges().iter().zip(t.ties()).map(|(edge, tie)| format!("{edge}:{tie:08x}")).collect();
            bins(edges, unit(), t.values().map(|v| v.to_string()).collect())
        }
        TableForm::VennAbers(t) => {
            let values = t.p0().zip(t.p1()).map(|(p0, p1)| format!("p0 {p0}, p1 {p1}")).collect();
            bins(shown(t.edges()), unit(), values)
        }
        TableForm::Interpolated(t) => t.x().iter().zip(t.y()).map(|(x, y)| format!("{x:<28} {y}")).collect(),
        TableForm::Scaling(f) => {
            parameters(f.parameters()).iter().map(|(name, value)| format!("{name:<28} {value}")).collect()
        }
        TableForm::Codes(t) => {
            let (lowest, highest) = encoding.code_range().unwrap_or_default();
            let code = |&key: &u32| (i64::from(lowest) + i64::from(key)).to_string();
            bins(
                t.edges().iter().map(code).collect(),
                (lowest.to_string(), highest.to_string()),
                t.values().map(|v| v.to_string()).collect(),
            )
        }
        TableForm::Compact(t) => {
            let edges = t.edges().iter().map(u16::to_string).collect();
            let values = t.values().map(|v| v.to_string()).collect();
            bins(edges, ("first key".into(), "last key".into()), values)
        }
        _ => Vec::new(),
    }
}

/// The parameters of a scaling function, by name.
fn parameters(scaling: Scaling) -> Vec<(&'static str, f32)> {
    match scaling {
        Scaling::PlattLogit { a, b, clip } => vec![("a (logit)", a), ("b", b), ("clip", clip)],
        Scaling::PlattProb { a, b } => vec![("a (score)", a), ("b", b)],
        Scaling::Beta { a, b, c, clip } => vec![("a", a), ("b", b), ("c", c), ("clip", clip)],
        Scaling::Temperature { inverse_t, clip } => vec![("1/temperature", inverse_t), ("clip", clip)],
        _ => Vec::new(),
    }
}

/// The codes of edges that are keys, or the scores, multiples of 1/65535, that the device rounds to.
pub(crate) fn edges_of_keys(keys: &[u32], encoding: ScoreEncoding) -> Value {
    match encoding.code_range() {
        Some((lowest, _)) => keys.iter().map(|&key| i64::from(lowest) + i64::from(key)).collect(),
        None => keys.iter().map(|&key| f64::from(key) / f64::from(u16::MAX)).collect(),
    }
}

/// A table's numbers by their names. Edges are what the user's scores are: codes, or scores; beside them, as `keys`, what the
/// device compares.
pub(super) fn form_json(form: &TableForm<'_>, encoding: ScoreEncoding) -> Value {
    let all = |values: &mut dyn Iterator<Item = f32>| values.collect::<Vec<_>>();
    match form {
        TableForm::Steps(t) => json!({
            "form": "steps", "bins": t.bins(), "edges": t.edges(), "values": all(&mut t.values()),
        }),
        TableForm::Randomized(t) => json!({
            "form": "randomized", "bins": t.bins(), "edges": t.edges(), "words": t.ties(),
            "values": all(&mut t.values()),
        }),
        TableForm::Interpolated(t) => json!({"form": "interpolated", "scores": t.x(), "values": t.y()}),
        TableForm::VennAbers(t) => json!({
            "form": "venn-abers", "bins": t.bins(), "edges": t.edges(), "p0": all(&mut t.p0()), "p1": all(&mut t.p1()),
        }),
        TableForm::Scaling(f) => {
            let parameters =
                parameters(f.parameters()).into_iter().map(|(name, value)| (name.to_owned(), json!(value)));
            json!({"form": "scaling", "parameters": Value::Object(parameters.collect())})
        }
        TableForm::Codes(t) => json!({
            "form": "codes", "bins": t.bins(), "edges": edges_of_keys(t.edges(), encoding), "keys": t.edges(),
            "values": all(&mut t.values()),
        }),
        TableForm::Compact(t) => json!({
            "form": "compact", "bins": t.bins(),
            "edges": edges_of_keys(&t.edges().iter().map(|&key| key.into()).collect::<Vec<_>>(), encoding),
            "keys": t.edges(), "values": all(&mut t.values()),
        }),
        _ => json!({}),
    }
}
