//! What is printed about calibrators of whole vectors.

use std::io::{self, Write};
use std::path::Path;

use calib_core::VectorCalibrator;
use calib_core::vector::{CellScheme, CellTable, ScalingInput, ScalingShape, VectorScaling};
use calib_fit::StoredArtifact;
use calib_fit::artifact::{guarantee_text, number_of};
use calib_fit::fit::parameter_of;
use calib_fit::joint::{HeldOutLoss, JointFit, JointModel, Partition};
use calib_fit::stats::{places, thousands};
use serde_json::{Value, json};

use super::artifact::ranges_json;
use super::fit::{gain_in_words, score_intervals, weights_in_words, weights_json};
use crate::out::labeled;

/// A fit for people, line by line: what fits a screen, or everything. `chosen` is what was chosen, and why.
pub(crate) fn joint_lines(
    fit: &JointFit,
    stored: &StoredArtifact,
    output: &str,
    (is_all, chosen): (bool, Option<&str>),
) -> Vec<String> {
    let what = match fit.model() {
        JointModel::Scaling(model) => match *model.weights {
            [inverse_t] => format!("temperature {:.4}", 1.0 / inverse_t),
            _ => number_of((model.weights.len() + model.intercepts.len()) as u64, "parameter"),
        },
        JointModel::Canonical(model) => {
            let empty = model.cells.iter().filter(|cell| cell.n() == 0).count();
            let ties = if model.ties_merged { ", with equal projections kept together" } else { "" };
            format!("{} cells, {} of them empty{ties}", thousands(model.cells.len()), thousands(empty))
        }
        _ => String::new(),
    };
    let held_out = held_out(fit).map(|held_out| {
        let verdict = if held_out.is_better() { "better" } else { "not better" };
        let digits = places(4, &[held_out.change(), held_out.standard_error]);
        format!(
            "Held out, the log-loss is {:.digits$}, and {:.digits$} for the unchanged scores (difference {:+.digits$}, standard error \
             {:.digits$}). It is {verdict} than uncalibrated, by a one-sided 95% interval.",
            held_out.log_loss,
            held_out.uncalibrated,
            held_out.change(),
            held_out.standard_error
        )
    });
    let points = match parameter_of(fit.parameters(), "cluster-rows") {
        Some(rows) => format!("{} (one of their {rows} rows each)", number_of(fit.n(), "cluster")),
        None => number_of(fit.n(), "observation"),
    };
    let method = fit.method();
    let (classes, size) = (fit.classes(), number_of(stored.as_bytes().len() as u64, "byte"));
    let what = format!("{points}, {method} ({classes} classes), {what}, {size}");
    let mut lines = vec![format!("Wrote {output}: {what}")];
    let mut add = |label: &str, text: &str| lines.extend(labeled(label, text));
    if let Some(blend) = fit.blend() {
        if is_all {
            add("Blend", &weights_in_words(&blend.weights));
        }
        gain_in_words(blend.gain, is_all).iter().for_each(|text| add("Gain", text));
    }
    let mut guarantee = guarantee_text(stored);
    guarantee.brief += &score_intervals(&stored.artifact());
    guarantee.labeled(is_all).iter().for_each(|(label, text)| add(label, text));
    held_out.iter().for_each(|text| add("Gain", text));
    chosen.iter().for_each(|text| add("Chosen", text));
    lines
}

/// What cross-validation found, if there was one.
fn held_out(fit: &JointFit) -> Option<HeldOutLoss> {
    match fit.model() {
        JointModel::Canonical(model) => model.held_out,
        _ => None,
    }
}

/// A fit for programs.
pub(crate) fn joint_json(fit: &JointFit, stored: &StoredArtifact, output: &Path) -> Value {
    let artifact = &stored.artifact();
    let guarantee = guarantee_text(stored);
    let mut value = json!({
        "output": output,
        "len_bytes": artifact.len_bytes(),
        "method": fit.method().to_string(),
        "reduction": "joint",
        "classes": fit.classes(),
        "n": fit.n(),
        "bins": 0,
        "guarantee": null,
        "statement": guarantee.statement,
        "assumptions": guarantee.full_assumptions(),
        "limits": guarantee.full_limits(),
        "parameters": fit.parameters(),
    });
    if let Some(blend) = fit.blend() {
        value["blend"] = weights_json(&blend.weights);
        value["gain"] = json!(blend.gain);
    }
    if let Some(found) = artifact.score_intervals() {
        value["score_intervals"] = (0..found.count()).map(|class| ranges_json(artifact, class)).collect();
    }
    match fit.model() {
        JointModel::Scaling(model) => {
            match *model.weights {
                [inverse_t] => value["temperature"] = json!(1.0 / inverse_t),
                _ => value["weights"] = json!(model.weights),
            }
            value["intercepts"] = json!(model.intercepts);
        }
        JointModel::Canonical(model) => {
            value["bins"] = model.cells.len().into();
            value["ties_merged"] = model.ties_merged.into();
            if let Some(held_out) = held_out(fit) {
                value["held_out"] = json!({
                    "log_loss": held_out.log_loss,
                    "uncalibrated": held_out.uncalibrated,
                    "change": held_out.change(),
                    "standard_error": held_out.standard_error,
                    "is_better": held_out.is_better(),
                });
            }
            value["values"] = model.cells.iter().map(|cell| json!(cell.probs)).collect();
            value["counts"] = model.cells.iter().map(|cell| json!(cell.counts)).collect();
            if let Partition::Projection { directions, thresholds } = &model.partition {
                value["directions"] = directions.chunks(fit.classes()).map(|chunk| json!(chunk)).collect();
                value["thresholds"] = json!(thresholds);
            }
        }
        _ => {}
    }
    value
}

/// Shows a calibrator of an artifact; nothing for one with tables.
pub(crate) fn print_vector(calibrator: &VectorCalibrator<'_>, out: &mut dyn Write) -> io::Result<()> {
    match calibrator {
        VectorCalibrator::Scaled(function) => print_scaling(function, out),
        VectorCalibrator::Binned(table) => print_cells(table, out),
        _ => Ok(()),
    }
}

fn print_scaling(function: &VectorScaling<'_>, out: &mut dyn Write) -> io::Result<()> {
    match function.input() {
        ScalingInput::Logits => writeln!(out, "features    logits")?,
        ScalingInput::LogProbs { clip } => {
            writeln!(out, "features    logarithms of scores, clipped to {clip}")?;
        }
    }
    match function.shape() {
        ScalingShape::Temperature { inverse_t } => writeln!(out, "temperature {}", 1.0 / inverse_t),
        ScalingShape::Vector { weights, intercepts } => {
            for (class, (weight, intercept)) in weights.iter().zip(intercepts).enumerate() {
                writeln!(out, "  {class:>4}  weight {weight}, intercept {intercept}")?;
            }
            Ok(())
        }
        ScalingShape::Matrix { weights, intercepts } => {
            for (class, (row, intercept)) in weights.chunks(function.classes()).zip(intercepts).enumerate() {
                writeln!(out, "  {class:>4}  weights {}, intercept {intercept}", list(row))?;
            }
            Ok(())
        }
        _ => Ok(()),
    }
}

fn print_cells(table: &CellTable<'_>, out: &mut dyn Write) -> io::Result<()> {
    let scheme = table.scheme();
    let classes = scheme.classes();
    writeln!(out, "cells       {}, {} bytes of values", scheme.cells(), 4 * table.values().len())?;
    for (cell, values) in table.values().chunks(classes).enumerate() {
        let empty = if table.flags(cell as u16) == calib_core::BinFlags::NONE { "" } else { ", empty" };
        let below = match scheme {
            CellScheme::Projection(projection) => projection
                .thresholds()
                .get(cell)
                .zip(projection.directions().chunks(classes).nth(cell))
                .map(|(threshold, direction)| format!(" if ({}) . scores < {threshold}", list(direction)))
                .unwrap_or_default(),
            _ => String::new(),
        };
        writeln!(out, "  {cell:>4}  {}{empty}{below}", list(values))?;
    }
    Ok(())
}

/// The calibrator of an artifact for programs; `None` for one with tables.
pub(crate) fn vector_json(calibrator: &VectorCalibrator<'_>) -> Option<Value> {
    match calibrator {
        VectorCalibrator::Scaled(function) => {
            let clip = match function.input() {
                ScalingInput::Logits => None,
                ScalingInput::LogProbs { clip } => Some(clip),
            };
            let mut value = match function.shape() {
                ScalingShape::Temperature { inverse_t } => json!({"inverse_t": inverse_t}),
                ScalingShape::Vector { weights, intercepts }
                | ScalingShape::Matrix { weights, intercepts } => {
                    json!({"weights": weights, "intercepts": intercepts})
                }
                _ => json!({}),
            };
            value["features"] = if clip.is_some() { "log-probs" } else { "logits" }.into();
            value["clip"] = json!(clip);
            Some(value)
        }
        VectorCalibrator::Binned(table) => {
            let classes = table.scheme().classes();
            let values: Vec<_> = table.values().chunks(classes).collect();
            let flags = (0..values.len()).map(|cell| table.flags(cell as u16).bits());
            let mut value = json!({"values": values, "flags": flags.collect::<Vec<_>>()});
            match table.scheme() {
                CellScheme::Sierpinski(sierpinski) => value["depth"] = sierpinski.depth().into(),
                CellScheme::Grid(grid) => value["resolution"] = grid.resolution().into(),
                CellScheme::Projection(projection) => {
                    value["directions"] =
                        projection.directions().chunks(classes).map(|row| json!(row)).collect();
                    value["thresholds"] = json!(projection.thresholds());
                }
                CellScheme::SplitTree(tree) => value["nodes"] = json!(tree.words().len() / (2 * classes)),
                _ => {}
            }
            Some(value)
        }
        _ => None,
    }
}

fn list(values: &[f32]) -> String {
    values.iter().map(f32::to_string).collect::<Vec<_>>().join(" ")
}
