//! The tables of an artefact, by their form.

use calib_core::artifact::TableForm;
use calib_core::score::FloatScore;
use calib_core::table::{
    InterpolatedTableOf, MarginScaling, RandomizedTableOf, Scaling, StepTableOf, VennAbersTableOf,
};
use calib_core::{Artifact, Margin, ScoreEncoding};
use calib_fit::artifact::bins_in_words;
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
        TableForm::MarginRandomized(table) => 3 * table.bins() - 1,
        TableForm::Interpolated(table) => 3 * table.x().len(),
        TableForm::MarginInterpolated(table) => 3 * table.x().len(),
        TableForm::VennAbers(table) => 3 * table.bins(),
        TableForm::MarginVennAbers(table) => 3 * table.bins(),
        TableForm::MarginScaling(function) => 2 + margin_parameters(function.parameters()).len(),
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
        TableForm::MarginInterpolated(table) => format!("{} knots", table.x().len()),
        TableForm::Scaling(_) | TableForm::MarginScaling(_) => "a function".into(),
        form => bins_in_words(form.bins()).unwrap_or_else(|| "no bins".into()),
    }
}

/// A line for each bin, knot or parameter.
pub(super) fn lines(form: &TableForm<'_>, encoding: ScoreEncoding) -> Vec<String> {
    match form {
        TableForm::Steps(t) => bin_lines(shown(t.edges()), &UNIT, shown_all(t.values())),
        TableForm::MarginSteps(t) => bin_lines(shown(t.edges()), &UNBOUNDED, shown_all(t.values())),
        TableForm::Randomized(t) => bin_lines(tied_edges(t), &UNIT, shown_all(t.values())),
        TableForm::MarginRandomized(t) => bin_lines(tied_edges(t), &UNBOUNDED, shown_all(t.values())),
        TableForm::VennAbers(t) => bin_lines(shown(t.edges()), &UNIT, both(t)),
        TableForm::MarginVennAbers(t) => bin_lines(shown(t.edges()), &UNBOUNDED, both(t)),
        TableForm::Interpolated(t) => knots(t),
        TableForm::MarginInterpolated(t) => knots(t),
        TableForm::Scaling(f) => named(&parameters(f.parameters())),
        TableForm::MarginScaling(f) => named(&margin_parameters(f.parameters())),
        TableForm::Codes(t) => {
            let (lowest, highest) = encoding.code_range().unwrap_or_default();
            let code = |&key: &u32| (i64::from(lowest) + i64::from(key)).to_string();
            let ends =
                Ends { lowest: &lowest.to_string(), highest: &highest.to_string(), brackets: ['[', ']'] };
            bin_lines(t.edges().iter().map(code).collect(), &ends, shown_all(t.values()))
        }
        TableForm::Compact(t) => {
            let edges = t.edges().iter().map(u16::to_string).collect();
            let ends = Ends { lowest: "first key", highest: "last key", brackets: ['[', ']'] };
            bin_lines(edges, &ends, shown_all(t.values()))
        }
        _ => Vec::new(),
    }
}

/// The ends of the first and of the last bin, and the brackets at them.
struct Ends<'a> {
    lowest: &'a str,
    highest: &'a str,
    brackets: [char; 2],
}

const UNIT: Ends<'static> = Ends { lowest: "0", highest: "1", brackets: ['[', ']'] };
const UNBOUNDED: Ends<'static> = Ends { lowest: "-inf", highest: "inf", brackets: ['(', ')'] };

/// Every bin between the ends and the edges, with its value.
fn bin_lines(edges: Vec<String>, ends: &Ends<'_>, values: Vec<String>) -> Vec<String> {
    let lows = std::iter::once(ends.lowest).chain(edges.iter().map(String::as_str));
    let highs = edges.iter().map(String::as_str).chain([ends.highest]);
    let last = values.len().saturating_sub(1);
    let line = |(bin, ((lo, hi), value)): (usize, ((&str, &str), &String))| {
        let open = if bin == 0 { ends.brackets[0] } else { '[' };
        let close = if bin == last { ends.brackets[1] } else { ')' };
        format!("{:<28} {value}", format!("{open}{lo}, {hi}{close}"))
    };
    lows.zip(highs).zip(&values).enumerate().map(line).collect()
}

fn shown(numbers: &[f32]) -> Vec<String> {
    shown_all(numbers.iter().copied())
}

fn shown_all(numbers: impl Iterator<Item = f32>) -> Vec<String> {
    numbers.map(|number| number.to_string()).collect()
}

fn tied_edges<S: FloatScore>(table: &RandomizedTableOf<'_, S>) -> Vec<String> {
    table.edges().iter().zip(table.ties()).map(|(edge, tie)| format!("{edge}:{tie:08x}")).collect()
}

fn both<S: FloatScore>(table: &VennAbersTableOf<'_, S>) -> Vec<String> {
    table.p0().zip(table.p1()).map(|(p0, p1)| format!("p0 {p0}, p1 {p1}")).collect()
}

fn knots<S: FloatScore>(table: &InterpolatedTableOf<'_, S>) -> Vec<String> {
    table.x().iter().zip(table.y()).map(|(x, y)| format!("{x:<28} {y}")).collect()
}

fn named(parameters: &[(&str, f32)]) -> Vec<String> {
    parameters.iter().map(|(name, value)| format!("{name:<28} {value}")).collect()
}

/// The parameters of a scaling function of a margin, by name.
fn margin_parameters(scaling: MarginScaling) -> Vec<(&'static str, f32)> {
    match scaling {
        MarginScaling::Platt { a, b } => vec![("a (margin)", a), ("b", b)],
        MarginScaling::Temperature { inverse_t } => vec![("1/temperature", inverse_t)],
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

/// The codes of edges that are keys; or the scores, multiples of 1/65535, that the device rounds to; or the least margins of keys.
pub(super) fn edges_of_keys(keys: &[u32], encoding: ScoreEncoding) -> Value {
    match encoding.code_range() {
        Some((lowest, _)) => keys.iter().map(|&key| i64::from(lowest) + i64::from(key)).collect(),
        None if encoding.is_margin() => {
            keys.iter().map(|&key| Margin::from_key(key << 16).map_or(0.0, Margin::get)).collect()
        }
        None => keys.iter().map(|&key| f64::from(key) / f64::from(u16::MAX)).collect(),
    }
}

/// A table's numbers by their names. Edges are what the user's scores are: codes, scores or margins; beside them, as `keys`, what
/// the device compares.
pub(super) fn form_json(form: &TableForm<'_>, encoding: ScoreEncoding) -> Value {
    let all = |values: &mut dyn Iterator<Item = f32>| values.collect::<Vec<_>>();
    let of_parameters = |parameters: Vec<(&str, f32)>| {
        let parameters = parameters.into_iter().map(|(name, value)| (name.to_owned(), json!(value)));
        json!({"form": "scaling", "parameters": Value::Object(parameters.collect())})
    };
    match form {
        TableForm::Steps(t) => steps_json(t),
        TableForm::MarginSteps(t) => steps_json(t),
        TableForm::Randomized(t) => randomized_json(t),
        TableForm::MarginRandomized(t) => randomized_json(t),
        TableForm::Interpolated(t) => json!({"form": "interpolated", "scores": t.x(), "values": t.y()}),
        TableForm::MarginInterpolated(t) => json!({"form": "interpolated", "scores": t.x(), "values": t.y()}),
        TableForm::VennAbers(t) => venn_abers_json(t),
        TableForm::MarginVennAbers(t) => venn_abers_json(t),
        TableForm::Scaling(f) => of_parameters(parameters(f.parameters())),
        TableForm::MarginScaling(f) => of_parameters(margin_parameters(f.parameters())),
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

fn steps_json<S: FloatScore>(table: &StepTableOf<'_, S>) -> Value {
    json!({
        "form": "steps", "bins": table.bins(), "edges": table.edges(), "values": table.values().collect::<Vec<_>>(),
    })
}

fn randomized_json<S: FloatScore>(table: &RandomizedTableOf<'_, S>) -> Value {
    json!({
        "form": "randomized", "bins": table.bins(), "edges": table.edges(), "words": table.ties(),
        "values": table.values().collect::<Vec<_>>(),
    })
}

fn venn_abers_json<S: FloatScore>(table: &VennAbersTableOf<'_, S>) -> Value {
    json!({
        "form": "venn-abers", "bins": table.bins(), "edges": table.edges(),
        "p0": table.p0().collect::<Vec<_>>(), "p1": table.p1().collect::<Vec<_>>(),
    })
}
