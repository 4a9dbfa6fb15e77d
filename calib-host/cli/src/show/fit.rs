//! What was fitted.

use std::path::Path;

use calib_core::Artifact;
use calib_fit::StoredArtifact;
use calib_fit::artifact::{
    GuaranteeText, MonitorFacts, VacuousBins, band_steps, cluster_rows, guarantee_text, number_of, points,
    points_for_a_useful_epsilon, size_in_words,
};
use calib_fit::binary::{Bin, BlendWeight, Gain, Model, ScalingModel, TabulatedModel};
use calib_fit::fit::FittedTable;
use calib_fit::stats::{percent_of_success, shown, thousands};
use serde_json::{Value, json};

use super::artifact::{band_json, ranges_json};
use super::form::{edges_of_keys, in_steps};
use super::monitors::monitor_sentences;
use crate::out::{COLUMNS, labeled, shown_path, wrapped};

/// A fit with the artifact that was written of it.
pub(crate) struct ShownFit<'a> {
    fit: &'a calib_fit::Fit,
    artifact: Artifact<'a>,
    output: &'a Path,
    vacuous: VacuousBins,
    guarantee: GuaranteeText,
}

impl<'a> ShownFit<'a> {
    pub(crate) fn new(fit: &'a calib_fit::Fit, stored: &'a StoredArtifact, output: &'a Path) -> Self {
        let artifact = stored.artifact();
        let vacuous = VacuousBins::of(&artifact);
        let advice = points_for_a_useful_epsilon(&artifact);
        // A bound of 1 or more is no guarantee, and the guarantee says so.
        let remark = vacuous.remark().filter(|_| fit.guarantee().is_some_and(|g| g.epsilon < 1.0));
        let mut guarantee = guarantee_text(stored);
        for more in advice.into_iter().chain(remark) {
            guarantee.statement += &format!(" {more}");
            guarantee.brief += &format!(" {more}");
        }
        guarantee.brief += &score_intervals(&artifact);
        Self { fit, artifact, output, vacuous, guarantee }
    }

    /// For people, line by line: what fits a screen, or everything. `chosen` is what was chosen, and why.
    pub(crate) fn lines(&self, is_all: bool, chosen: Option<&str>) -> Vec<String> {
        let Self { fit, artifact, output, vacuous, guarantee } = self;
        let points = match cluster_rows(artifact) {
            Some(_) => points(artifact),
            None => number_of(fit.n(), "observation"),
        };
        let bins = size_in_words(artifact.header().method, fit.bins());
        let bins = bins.map_or(String::new(), |bins| format!("{bins}, "));
        let (method, reduction, len_bytes) = (fit.method(), fit.reduction(), artifact.len_bytes());
        let what = format!("{points}, {method} ({reduction}), {bins}{} bytes", thousands(len_bytes));
        let mut lines = vec![format!("Wrote {}: {what}", shown_path(output))];
        let unfitted = fit.unfitted().iter().take(SHOWN);
        let unfitted =
            unfitted.map(|unfitted| format!("{} ({})", fit.table_name(unfitted.table), unfitted.reason));
        let shown = unfitted.collect::<Vec<_>>().join("; ");
        match fit.unfitted().len() {
            0 => {}
            1..=SHOWN => lines.push(format!("uncalibrated: {shown}")),
            more => lines.push(format!("uncalibrated: {shown}; and {} more", more - SHOWN)),
        }
        let mut add = |label: &str, text: &str| lines.extend(labeled(label, text));
        let tables = || fit.tables().iter().enumerate();
        if is_all {
            tables()
                .filter_map(|(at, table)| blended(fit, at, table.as_ref()))
                .for_each(|text| add("Blend", &text));
            in_steps(artifact).iter().for_each(|text| add("Steps", text));
        }
        gain(fit, is_all).iter().for_each(|text| add("Gain", text));
        together(fit).iter().for_each(|text| add("Together", text));
        guarantee.labeled(is_all).iter().for_each(|(label, text)| add(label, text));
        if is_all {
            band_line(artifact).iter().for_each(|text| add("Band", text));
        }
        few_events(fit).iter().for_each(|text| add("Events", text));
        monitor_sentences(artifact)
            .iter()
            .enumerate()
            .for_each(|(at, text)| add(if at == 0 { "Monitors" } else { "" }, text));
        chosen.iter().for_each(|text| add("Chosen", text));
        let most = if is_all { usize::MAX } else { SHOWN_INTERVALS };
        lines.extend(exact_intervals(fit, *vacuous, most));
        lines
    }

    /// For programs, by names.
    pub(crate) fn json(&self) -> Value {
        let Self { fit, artifact, output, vacuous, guarantee } = self;
        let mut shown = json!({
            "output": output,
            "len_bytes": artifact.len_bytes(),
            "method": fit.method().to_string(),
            "reduction": fit.reduction().to_string(),
            "n": fit.n(),
            "cluster_rows": cluster_rows(artifact),
            "encoding": fit.encoding().to_string(),
            "weighted": fit.weighted(),
            "bins": fit.bins(),
            "guarantee": fit.guarantee(),
            "monitors": MonitorFacts::of(artifact),
            "vacuous_bins": vacuous.vacuous,
            "statement": guarantee.statement,
            "assumptions": guarantee.full_assumptions(),
            "limits": guarantee.full_limits(),
            "uncalibrated": fit.unfitted().iter().map(|unfitted| json!({
                "table": unfitted.table,
                "name": fit.table_name(unfitted.table),
                "reason": unfitted.reason.to_string(),
            })).collect::<Vec<_>>(),
            "tables": fit.tables().iter().enumerate().map(|(index, table)| {
                let mut value = table_json(table.as_ref()?, fit.weighted());
                if artifact.score_intervals().is_some() {
                    value["score_intervals"] = ranges_json(artifact, index);
                }
                Some(value)
            }).collect::<Vec<_>>(),
        });
        if artifact.band().is_some() {
            shown["band"] = band_json(artifact);
        }
        shown
    }
}

/// The weight of each candidate, by its name.
pub(super) fn weights_json(weights: &[BlendWeight]) -> Value {
    weights.iter().map(|part| (part.name, part.weight)).collect()
}

/// What was blended in a table; nothing if it is of the rows of all tables.
fn blended(fit: &calib_fit::Fit, index: usize, table: Option<&FittedTable>) -> Option<String> {
    let Some(Model::Tabulated(steps)) = table.map(FittedTable::model) else { return None };
    if steps.weights.is_empty() {
        return None;
    }
    let of = match fit.tables().len() {
        1 => String::new(),
        _ if table.is_some_and(FittedTable::is_of_all_tables) => return None,
        _ => format!("{}: ", fit.table_name(index)),
    };
    Some(format!("{of}{}{}", weights_in_words(&steps.weights), within_in_words(steps)))
}

/// What was blended, and how much of it.
pub(super) fn weights_in_words(weights: &[BlendWeight]) -> String {
    let shown = weights.iter().filter(|part| part.weight >= 0.005);
    shown.map(|part| format!("{} {:.0}%", part.name, 100.0 * part.weight)).collect::<Vec<_>>().join(", ")
}

/// What a blend of one table gains; if it does, only for those who ask for all.
fn gain(fit: &calib_fit::Fit, is_all: bool) -> Option<String> {
    gain_in_words(fit.blend_gain()?, is_all)
}

/// What a blend gains; if it does, only for those who ask for all.
pub(super) fn gain_in_words(gain: Gain, is_all: bool) -> Option<String> {
    match (gain.is_sure(), gain.is_loss()) {
        (true, _) => is_all.then(|| format!("In cross-validation the Brier score changes by {gain}.")),
        // Warned of.
        (_, true) => None,
        _ => Some(format!(
            "The blend is not significantly better than the unchanged scores: in cross-validation the Brier score changes by {gain}. \
             --method none leaves the scores unchanged."
        )),
    }
}

/// The classes that have a table of all classes, with the number of rows of each class.
fn together(fit: &calib_fit::Fit) -> Option<String> {
    let tables = fit.tables().iter().enumerate();
    let classes: Vec<String> = tables
        .filter_map(|(index, table)| Some((index, table.as_ref().filter(|table| table.is_of_all_tables())?)))
        .map(|(index, table)| format!("{} ({})", fit.table_name(index), number_of(table.n(), "row")))
        .collect();
    let more = classes.len().saturating_sub(SHOWN);
    let more = if more == 0 { String::new() } else { format!("; and {more} more") };
    let shown = classes.iter().take(SHOWN).cloned().collect::<Vec<_>>().join(", ");
    (!classes.is_empty()).then(|| {
        format!(
            "These were predicted too rarely, and are calibrated with the rows of all classes: {shown}{more}"
        )
    })
}

/// How far the steps are from what was blended; nothing if they are it. If the calibration scores have most of them, how far they are there.
fn within_in_words(steps: &TabulatedModel) -> String {
    let everywhere = steps.stated_within();
    match steps.within_seen.filter(|within| *within < steps.within / 2.0) {
        _ if steps.within == 0.0 => String::new(),
        Some(within) => format!(
            ". Between the lowest and the highest calibration score its steps differ from it by at most {}, and elsewhere by at most \
             {everywhere:.4}.",
            shown(4, within)
        ),
        None => format!(". Its steps differ from it by at most {everywhere:.4}."),
    }
}

/// What is to be said of bins with almost no events.
fn few_events(fit: &calib_fit::Fit) -> Vec<String> {
    let mut remarks = Vec::new();
    let tables = || fit.tables().iter().flatten();
    if let Some(label) = fit.one_label() {
        let intervals = || tables().flat_map(|table| table.intervals());
        let bound = match label {
            false => intervals().map(|i| i.hi).reduce(f64::max).map(|hi| ("an upper", "most", hi)),
            true => intervals().map(|i| i.lo).reduce(f64::min).map(|lo| ("a lower", "least", lo)),
        };
        let (n, label) = (fit.n(), u8::from(label));
        remarks.push(match bound {
            Some((side, at, bound)) => format!(
                "All {} labels are {label}: only {side} bound is known of every bin, {} at {at}. The artifact carries the bounds.",
                thousands(n),
                shown(4, bound)
            ),
            None => format!("All {} labels are {label}, and nothing bounds how rare the other one is.", thousands(n)),
        });
    }
    let few: usize = tables().map(|table| table.bins_with_few_events().len()).sum();
    if few > 0 {
        let have = if few == 1 { "has" } else { "have" };
        remarks.push(format!(
            "{few} of {} {have} at most two positives or two negatives: rely on the exact intervals (--json).",
            number_of(fit.bins() as u64, "bin")
        ));
    }
    remarks
}

/// How wide the intervals of ranges of the score are, behind what they guarantee.
pub(super) fn score_intervals(artifact: &Artifact<'_>) -> String {
    let band =
        if artifact.band().is_some() { "; `calib inspect` lists them, and --all shows the band" } else { "" };
    widths(artifact).map(|widths| format!(" {widths}{band}.")).unwrap_or_default()
}

fn widths(artifact: &Artifact<'_>) -> Option<String> {
    let found = artifact.score_intervals()?;
    let intervals =
        || (0..found.count()).filter_map(|table| found.table(table)).flat_map(|ranges| ranges.intervals());
    let width = || intervals().map(|interval| interval.hi - interval.lo);
    let (narrowest, widest) = (width().reduce(f32::min)?, width().reduce(f32::max)?);
    let (narrowest, widest) = (shown(3, narrowest.into()), shown(3, widest.into()));
    let wide = if narrowest == widest { widest } else { format!("{narrowest} to {widest}") };
    Some(format!("{}, {wide} wide", number_of(intervals().count() as u64, "interval")))
}

/// Where the band is narrowest, and how wide it is if it is wrong about the curve.
fn band_line(artifact: &Artifact<'_>) -> Option<String> {
    let widths = band_steps(artifact)?.into_iter().map(|(_, interval)| interval.hi - interval.lo);
    Some(format!(
        "The band has {} and is {} wide where it is narrowest. If the probability may fall by 0.05 from a score to a higher one, it is \
         0.05 wider on each side.",
        number_of(widths.len() as u64, "step"),
        shown(3, widths.reduce(f32::min)?.into())
    ))
}

/// The exact intervals of the bins, line by line, where epsilon is wider than all that it is about.
fn exact_intervals(fit: &calib_fit::Fit, vacuous: VacuousBins, most: usize) -> Vec<String> {
    // That an epsilon from 1 on guarantees nothing is told already.
    let is_told = |epsilon: f64| epsilon >= 1.0 || !vacuous.are_rare_events() || fit.one_label().is_some();
    let Some(guarantee) = fit.guarantee().filter(|guarantee| !is_told(guarantee.epsilon)) else {
        return Vec::new();
    };
    let head = format!(
        "Epsilon is wider than every probability. Exact intervals of the bins, which hold simultaneously with at least {}% probability:",
        percent_of_success(guarantee.alpha)
    );
    let tables = fit.tables().iter().enumerate().filter_map(|(index, table)| Some((index, table.as_ref()?)));
    let bins = tables.flat_map(|(index, table)| {
        let name = match fit.tables().len() {
            1 => String::new(),
            _ => format!("{}, ", fit.table_name(index)),
        };
        table.model().bins().iter().zip(table.intervals()).enumerate().map(move |(bin, (counts, i))| {
            let (bin, Bin { n, positives, .. }) = (bin + 1, counts);
            format!("  {name}bin {bin}: {positives} of {n}, {i:.4}")
        })
    });
    let mut lines = wrapped(&head, COLUMNS);
    lines.extend(bins.take(most));
    if fit.bins() > most {
        lines.push("  (--all lists the others)".into());
    }
    lines
}

/// How many exact intervals are listed, unless all are requested.
const SHOWN_INTERVALS: usize = 8;

/// How many uncalibrated tables are listed.
const SHOWN: usize = 8;

/// A table's numbers, by their names.
fn table_json(table: &FittedTable, weighted: bool) -> Value {
    let bins = table.model().bins();
    let values = || bins.iter().map(|bin| bin.value).collect::<Vec<_>>();
    let mut value = match table.model() {
        Model::Steps(steps) => {
            json!({"edges": steps.edges, "values": values(), "ties_merged": steps.ties_merged})
        }
        Model::Randomized(steps) => json!({"edges": steps.edges, "words": steps.words, "values": values()}),
        Model::Tabulated(steps) => {
            let mut value = json!({"edges": steps.edges, "values": steps.values, "within": steps.within});
            if table.is_of_all_tables() {
                value["of_all_classes"] = true.into();
            }
            if !steps.weights.is_empty() {
                value["weights"] = weights_json(&steps.weights);
                value["gain"] = json!(steps.gain);
            }
            value
        }
        Model::Interpolated(line) => json!({"scores": line.scores, "values": line.values}),
        Model::Codes(codes) => {
            let edges = edges_of_keys(&codes.edges, codes.encoding);
            json!({"edges": edges, "keys": codes.edges, "values": codes.values, "ties_merged": codes.ties_merged})
        }
        Model::VennAbers(table) => json!({"edges": table.edges, "p0": table.p0, "p1": table.p1}),
        Model::Scaling(
            ScalingModel::PlattLogit { a, b }
            | ScalingModel::PlattProb { a, b }
            | ScalingModel::PlattMargin { a, b },
        ) => json!({"a": a, "b": b}),
        Model::Scaling(ScalingModel::Beta { a, b, c } | ScalingModel::Quadratic { a, b, c }) => {
            json!({"a": a, "b": b, "c": c})
        }
        Model::Scaling(ScalingModel::QuadraticMargin { a, b, c, scale, shift }) => {
            json!({"a": a, "b": b, "c": c, "scale": scale, "shift": shift})
        }
        Model::Scaling(
            ScalingModel::Temperature { inverse_t } | ScalingModel::TemperatureMargin { inverse_t },
        ) => json!({"temperature": 1.0 / inverse_t}),
        _ => json!({}),
    };
    value["n"] = table.n().into();
    value["epsilon"] = table.epsilon().into();
    if weighted {
        let total = bins.iter().map(|bin| bin.n).sum::<u64>() as f64;
        value["weight_shares"] = bins.iter().map(|bin| bin.n as f64 / total).collect();
    } else if !bins.is_empty() {
        value["counts"] = bins.iter().map(|bin| bin.n).collect();
        value["positives"] = bins.iter().map(|bin| bin.positives).collect();
    }
    if !table.intervals().is_empty() {
        value["intervals"] = json!(table.intervals());
        value["bins_with_few_events"] = json!(table.bins_with_few_events());
    }
    value
}
