//! The figures of an assessment that matter first.

use std::io::{self, Write};

use calib_fit::artifact::number_of;
use calib_fit::assess::{
    Assessment, ClinicalValidation, EstimateWithInterval, TopKAssessment, VectorAssessment, Verdict,
};
use calib_fit::job::{
    AssessedBeforeAfter, AssessedClasses, AssessedPredictions, AssessedRanks, AssessedVectors,
};

use super::assessment::{broken_lines, remarks};
use crate::out::{COLUMNS, wrapped};

/// A figure with its name, of each side that has it.
struct Row {
    name: &'static str,
    sides: Vec<Option<EstimateWithInterval>>,
}

/// Of predictions alone.
pub(super) fn of_predictions(out: &mut impl Write, found: &AssessedPredictions) -> io::Result<()> {
    head(out, &found.assessment, found.uncalibrated)?;
    let proper = [
        row("Brier score", [Some(found.assessment.brier)]),
        row("Log-loss", [Some(found.assessment.log_loss)]),
    ];
    let intercept = row("Calibration intercept (best: 0)", [found.clinical.as_ref().and_then(intercept)]);
    let rows =
        proper.into_iter().chain(of_sides([(&found.assessment, found.clinical.as_ref())])).chain([intercept]);
    table(out, &[], rows)?;
    more(out)
}

/// Before and after an artifact, behind the verdict.
pub(super) fn of_before_after(out: &mut impl Write, found: &AssessedBeforeAfter) -> io::Result<()> {
    verdict(out, &found.verdict)?;
    let both = &found.metrics.both;
    head(out, &both.after, found.uncalibrated)?;
    let clinical = found.clinical.as_ref();
    let (before, after) =
        (clinical.and_then(|found| found.before.as_ref()), clinical.map(|found| &found.after));
    let mut rows = of_sides([(&both.before, before), (&both.after, after)]);
    if found.metrics.of_margins {
        // Raw scores have an order, and are no probabilities.
        rows.iter_mut().filter(|row| row.name != AUC).for_each(|row| row.sides[0] = None);
    }
    table(out, &BOTH, rows)?;
    more(out)
}

/// Of vectors alone.
pub(super) fn of_vectors(out: &mut impl Write, found: &AssessedVectors) -> io::Result<()> {
    head(out, &found.assessment.top_label, 0)?;
    table(out, &[], of_classes([&found.assessment]))?;
    more(out)
}

/// Of vectors before and after an artifact.
pub(super) fn of_vectors_before_after(out: &mut impl Write, found: &AssessedClasses) -> io::Result<()> {
    verdict(out, &found.verdict)?;
    head(out, &found.after.assessment.top_label, found.uncalibrated)?;
    table(out, &BOTH, of_classes([&found.before.assessment, &found.after.assessment]))?;
    more(out)
}

/// Of the first few ranks before and after an artifact.
pub(super) fn of_ranks(out: &mut impl Write, found: &AssessedRanks) -> io::Result<()> {
    let AssessedRanks { before, after, uncalibrated, .. } = found;
    writeln!(out, "The {} most probable classes", after.ranks.len())?;
    if *uncalibrated > 0 {
        writeln!(out, "left out, because uncalibrated: {uncalibrated}")?;
    }
    let row_of = |name, of: fn(&TopKAssessment) -> EstimateWithInterval| {
        row(name, [before, after].map(|side| Some(of(side))))
    };
    let rows = [row_of("Accuracy", |side| side.accuracy), row_of("Mean probability", |side| side.mean_prob)];
    table(out, &BOTH, rows)?;
    more(out)
}

const BOTH: [&str; 2] = ["before", "after"];
const AUC: &str = "AUC";

/// The verdict without what is known before any row is, and the bins or ranges that contradict the guarantee.
fn verdict(out: &mut impl Write, verdict: &Verdict) -> io::Result<()> {
    writeln!(out, "{}.", verdict.title())?;
    let of_values = verdict.values.map(|values| values.to_string());
    for sentence in verdict.sentences.iter().filter(|sentence| Some(*sentence) != of_values.as_ref()) {
        wrapped(sentence, COLUMNS).iter().try_for_each(|line| writeln!(out, "{line}"))?;
    }
    broken_lines(out, &verdict.ranges)?;
    writeln!(out)
}

/// What the figures are of.
fn head(out: &mut impl Write, assessment: &Assessment, uncalibrated: u64) -> io::Result<()> {
    let (rows, events) = (number_of(assessment.n, "prediction"), number_of(assessment.hits, "event"));
    writeln!(out, "{rows}, {events}")?;
    remarks(out, assessment, uncalibrated)
}

/// The last line.
fn more(out: &mut impl Write) -> io::Result<()> {
    writeln!(out, "All figures: --all or --json")
}

fn row(name: &'static str, sides: impl IntoIterator<Item = Option<EstimateWithInterval>>) -> Row {
    Row { name, sides: sides.into_iter().collect() }
}

fn of_sides<const N: usize>(sides: [(&Assessment, Option<&ClinicalValidation>); N]) -> Vec<Row> {
    let of = |name, of: fn(&Assessment) -> Option<EstimateWithInterval>| {
        row(name, sides.map(|(side, _)| of(side)))
    };
    vec![
        of("Expected calibration error", |side| {
            let conf_ece = side.conf_ece;
            let corrected = conf_ece
                .debiased
                .map(|value| EstimateWithInterval { value, interval: conf_ece.debiased_interval });
            corrected.or(Some(conf_ece.plugin()))
        }),
        of(AUC, |side| side.auc),
        row("Calibration slope (best: 1)", sides.map(|(_, clinical)| clinical.and_then(slope))),
    ]
}

fn of_classes<const N: usize>(sides: [&VectorAssessment; N]) -> Vec<Row> {
    let of =
        |name, of: fn(&VectorAssessment) -> EstimateWithInterval| row(name, sides.map(|side| Some(of(side))));
    vec![
        of("Accuracy", |side| side.top_label.accuracy),
        of("Log-loss", |side| side.log_loss),
        of("Class-wise calibration error", |side| {
            let cw_ece = side.cw_ece;
            let corrected = cw_ece
                .debiased
                .map(|value| EstimateWithInterval { value, interval: cw_ece.debiased_interval });
            corrected.unwrap_or(cw_ece.plugin())
        }),
    ]
}

fn slope(found: &ClinicalValidation) -> Option<EstimateWithInterval> {
    found.cox.slope.get().ok().copied()
}

fn intercept(found: &ClinicalValidation) -> Option<EstimateWithInterval> {
    found.cox.intercept.get().ok().copied()
}

/// A line for every figure that a side has.
fn table(out: &mut impl Write, titles: &[&str], rows: impl IntoIterator<Item = Row>) -> io::Result<()> {
    let rows: Vec<Row> = rows.into_iter().filter(|row| row.sides.iter().any(Option::is_some)).collect();
    let cell =
        |side: &Option<EstimateWithInterval>| side.map_or("-".to_owned(), |figure| format!("{figure:.4}"));
    let lines: Vec<Vec<String>> = rows.iter().map(|row| row.sides.iter().map(cell).collect()).collect();
    let name = rows.iter().map(|row| row.name.len()).max().unwrap_or_default();
    let width = lines
        .iter()
        .flatten()
        .map(String::len)
        .chain(titles.iter().map(|title| title.len()))
        .max()
        .unwrap_or_default();
    if !titles.is_empty() {
        line(out, ("", name), titles.iter().copied(), width)?;
    }
    rows.iter()
        .zip(&lines)
        .try_for_each(|(row, cells)| line(out, (row.name, name), cells.iter().map(String::as_str), width))
}

fn line<'c>(
    out: &mut impl Write,
    (name, name_width): (&str, usize),
    cells: impl Iterator<Item = &'c str>,
    width: usize,
) -> io::Result<()> {
    let cells: String = cells.map(|cell| format!("  {cell:<width$}")).collect();
    writeln!(out, "{}", format!("{name:<name_width$}{cells}").trim_end())
}
