//! The tables of an artifact, by their form.

use std::fmt::Display;

use calib_core::artifact::{Method, TableForm};
use calib_core::score::FloatScore;
use calib_core::table::{
    InterpolatedTableOf, MarginScaling, RandomizedTableOf, Scaling, StepTableOf, VennAbersTableOf,
};
use calib_core::{Artifact, Margin, ScoreEncoding};
use calib_fit::fit::parameter_of;
use serde_json::{Value, json};

/// How many bytes a direct table takes, with its section's head if it is the only one; `None` if the encoding has none.
pub(super) fn direct_table(artifact: &Artifact<'_>) -> Option<usize> {
    let head = if artifact.tables().count() == 1 { 8 } else { 0 };
    let encoding = artifact.header().encoding;
    encoding.is_byte().then_some(head + 256)
}

/// How far the values of steps are from the function that was fitted, by [`Fit::in_steps`](calib_fit::Fit::in_steps); `None` if none was, or
/// `calib adjust` moved the values since.
pub(super) fn within(artifact: &Artifact<'_>) -> Option<f64> {
    let header = artifact.header();
    let parameters = header.provenance.parameters;
    let is_of_fit =
        header.method != Method::Blend && parameter_of(parameters, "calibration-prevalence").is_none();
    parameter_of(parameters, "within").filter(|_| is_of_fit)?.parse().ok()
}

/// The same as a sentence.
pub(super) fn in_steps(artifact: &Artifact<'_>) -> Option<String> {
    let method = artifact.header().method;
    let within = within(artifact)?;
    Some(format!(
        "Steps of the {method} function: each value differs from the function by at most {within:.4}."
    ))
}

/// What a table holds.
pub(super) struct ShownTable {
    /// Its size in words for people, if it is no number of bins.
    pub(super) size: Option<String>,
    /// How many bytes it takes, its epsilon among them.
    pub(super) len_bytes: usize,
    /// A line for each bin, knot or parameter.
    pub(super) lines: Vec<String>,
    /// Its numbers by their names. Edges are what the user's scores are: codes, scores or margins; beside them, as `keys`, what the device
    /// compares.
    pub(super) json: Value,
}

impl ShownTable {
    /// What a table for scores in this encoding holds.
    pub(super) fn of(form: &TableForm<'_>, encoding: ScoreEncoding) -> Self {
        let ends = if encoding.is_margin() { UNBOUNDED } else { UNIT };
        match form {
            TableForm::Steps(t) => steps(t, ends),
            TableForm::MarginSteps(t) => steps(t, ends),
            TableForm::Randomized(t) => randomized(t, ends),
            TableForm::MarginRandomized(t) => randomized(t, ends),
            TableForm::VennAbers(t) => venn_abers(t, ends),
            TableForm::MarginVennAbers(t) => venn_abers(t, ends),
            TableForm::Interpolated(t) => knots(t),
            TableForm::MarginInterpolated(t) => knots(t),
            TableForm::Scaling(f) => function(parameters(f.parameters())),
            TableForm::MarginScaling(f) => function(margin_parameters(f.parameters())),
            TableForm::Codes(t) => {
                let (lowest, highest) = encoding.code_range().unwrap_or_default();
                let code = |&key: &u32| (i64::from(lowest) + i64::from(key)).to_string();
                let (lowest, highest) = (lowest.to_string(), highest.to_string());
                let ends = Ends { lowest: &lowest, highest: &highest, brackets: ['[', ']'] };
                let values: Vec<f32> = t.values().collect();
                let edges = edges_of_keys(t.edges(), encoding);
                let numbers = json!({"form": "codes", "bins": t.bins(), "edges": edges, "keys": t.edges(), "values": values});
                let edges = t.edges().iter().map(code).collect();
                Self::of_bins(edges, &ends, all(&values), 8 * t.bins(), numbers)
            }
            TableForm::Compact(t) => {
                let values: Vec<f32> = t.values().collect();
                let keys: Vec<u32> = t.edges().iter().map(|&key| key.into()).collect();
                let edges = edges_of_keys(&keys, encoding);
                let numbers = json!({"form": "compact", "bins": t.bins(), "edges": edges, "keys": keys, "values": values});
                Self::of_bins(all(&keys), &KEYS, all(&values), 2 * (2 * t.bins() + 1), numbers)
            }
            _ => Self { size: None, len_bytes: 0, lines: Vec::new(), json: json!({}) },
        }
    }

    /// Every bin between the ends and the edges, with its value.
    fn of_bins(
        edges: Vec<String>,
        ends: &Ends<'_>,
        values: Vec<String>,
        len_bytes: usize,
        json: Value,
    ) -> Self {
        let lows = std::iter::once(ends.lowest).chain(edges.iter().map(String::as_str));
        let highs = edges.iter().map(String::as_str).chain([ends.highest]);
        let last = values.len().saturating_sub(1);
        let line = |(bin, ((lo, hi), value)): (usize, ((&str, &str), &String))| {
            let open = if bin == 0 { ends.brackets[0] } else { '[' };
            let close = if bin == last { ends.brackets[1] } else { ')' };
            format!("{:<28} {value}", format!("{open}{lo}, {hi}{close}"))
        };
        Self {
            size: None,
            len_bytes,
            lines: lows.zip(highs).zip(&values).enumerate().map(line).collect(),
            json,
        }
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
const KEYS: Ends<'static> = Ends { lowest: "first key", highest: "last key", brackets: ['[', ']'] };

fn all(numbers: &[impl Display]) -> Vec<String> {
    numbers.iter().map(ToString::to_string).collect()
}

fn steps<S: FloatScore>(table: &StepTableOf<'_, S>, ends: Ends<'_>) -> ShownTable {
    let values: Vec<f32> = table.values().collect();
    let numbers = json!({"form": "steps", "bins": table.bins(), "edges": table.edges(), "values": values});
    ShownTable::of_bins(all(table.edges()), &ends, all(&values), 8 * table.bins(), numbers)
}

fn randomized<S: FloatScore>(table: &RandomizedTableOf<'_, S>, ends: Ends<'_>) -> ShownTable {
    let (edges, ties, values) = (table.edges(), table.ties(), table.values().collect::<Vec<_>>());
    let numbers =
        json!({"form": "randomized", "bins": table.bins(), "edges": edges, "words": ties, "values": values});
    let edges = edges.iter().zip(ties).map(|(edge, tie)| format!("{edge}:{tie:08x}")).collect();
    ShownTable::of_bins(edges, &ends, all(&values), 4 * (3 * table.bins() - 1), numbers)
}

fn venn_abers<S: FloatScore>(table: &VennAbersTableOf<'_, S>, ends: Ends<'_>) -> ShownTable {
    let (p0, p1): (Vec<f32>, Vec<f32>) = (table.p0().collect(), table.p1().collect());
    let numbers =
        json!({"form": "venn-abers", "bins": table.bins(), "edges": table.edges(), "p0": p0, "p1": p1});
    let both = p0.iter().zip(&p1).map(|(p0, p1)| format!("p0 {p0}, p1 {p1}")).collect();
    ShownTable::of_bins(all(table.edges()), &ends, both, 12 * table.bins(), numbers)
}

fn knots<S: FloatScore>(table: &InterpolatedTableOf<'_, S>) -> ShownTable {
    let (x, y) = (table.x(), table.y());
    ShownTable {
        size: Some(format!("{} knots", x.len())),
        len_bytes: 12 * x.len(),
        lines: x.iter().zip(y).map(|(x, y)| format!("{x:<28} {y}")).collect(),
        json: json!({"form": "interpolated", "scores": x, "values": y}),
    }
}

/// A function by its parameters; its kind and epsilon take a word each.
fn function(parameters: Vec<(&str, f32)>) -> ShownTable {
    let named: serde_json::Map<_, _> =
        parameters.iter().map(|&(name, value)| (name.to_owned(), json!(value))).collect();
    ShownTable {
        size: Some("a function".into()),
        len_bytes: 4 * (2 + parameters.len()),
        lines: parameters.iter().map(|(name, value)| format!("{name:<28} {value}")).collect(),
        json: json!({"form": "scaling", "parameters": named}),
    }
}

/// The parameters of a scaling function of a margin, by name.
fn margin_parameters(scaling: MarginScaling) -> Vec<(&'static str, f32)> {
    match scaling {
        MarginScaling::Platt { a, b } => vec![("a (margin)", a), ("b", b)],
        MarginScaling::Temperature { inverse_t } => vec![("1/temperature", inverse_t)],
        MarginScaling::Quadratic { a, b, c, scale, shift } => {
            vec![("a (square)", a), ("b (margin)", b), ("c", c), ("scale", scale), ("shift", shift)]
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
        Scaling::Quadratic { a, b, c, clip } => {
            vec![("a (square)", a), ("b (logit)", b), ("c", c), ("clip", clip)]
        }
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
