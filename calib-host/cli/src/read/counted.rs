//! Tables aggregated by score or probability, which are assessed as their rows would be.

use std::path::Path;

use calib_core::Score;
use calib_fit::BinaryData;
use calib_fit::apply::{Applied, Words, apply_scores_from};
use calib_fit::assess::{ChangedRows, Prediction};
use calib_fit::data::RowsHash;
use calib_io::files::{Place, Problem};
use calib_io::input::{self, Table, counted_probs};
use calib_io::report::SAME_ROWS;

use super::files::read_all;
use super::rows::{NamedArtifact, is_fitted_to};
use super::surveyed::{After, Surveyed, calibrates_alone};
use crate::context::Context;
use crate::error::Error;
use crate::options::AssessedOptions;

/// Reads a table with columns of points and of positives.
pub(crate) fn read_counted(
    options: &AssessedOptions,
    (count, positives): (&str, &str),
    seed: u64,
    cx: &Context,
) -> Result<Surveyed, Error> {
    let (path, column) = counted_column(options)?;
    let sources = read_all(&[path], cx)?;
    let table = Table::read_only(&sources[0], &[column, count, positives])?;
    if table.is_lone_array() {
        return Err(usage("--count-column needs a table: an array that is alone has no columns"));
    }
    let scores = table.numbers(column)?;
    let (n, k) = (table.numbers(count)?, table.numbers(positives)?);
    let before = counted_probs(&scores, &n, &k)?;
    let Some(path) = &options.artifact else { return Ok(Surveyed { before, after: None }) };
    let named = NamedArtifact::read(path, seed)?;
    if !calibrates_alone(&named.stored) {
        return Err(usage(
            "counted rows are judged before and after an artefact that calibrates scores in [0, 1] and does nothing else",
        ));
    }
    let artifact = named.stored.artifact();
    let device: Vec<Score> = scores.scores()?;
    let applied = apply_scores_from(&artifact, &device, Words::new(&artifact, seed));
    let applied = applied.expect("the artefact is for such");
    if applied.iter().any(|row| row.word.is_some()) {
        return Err(usage(
            "an artefact with randomised ties draws a number for every row, and counts have none",
        ));
    }
    let counts = n.values.iter().zip(&k.values).map(|(&n, &k)| (n as u64, k as u64));
    let found = Calibrated::of(applied.iter().zip(counts));
    let same = is_fitted_to(&named.stored, found.hash, || input::sha256(&[&sources[0]]));
    options.same_rows.allow(same, sources[0].path(), "the artefact was")?;
    cx.warn(same.then_some(SAME_ROWS).as_slice())?;
    let place = || Place::file(sources[0].path());
    let data =
        |rows| BinaryData::from_counts(rows).map_err(|_| Error::input(place(), Problem::AllUncalibrated));
    let (uncalibrated, changed) = (found.uncalibrated, found.changed);
    let (before, data) = (data(found.before)?, data(found.after)?);
    Ok(Surveyed { before, after: Some(After { stored: named.stored.clone(), data, changed, uncalibrated }) })
}

/// The table, and its column of scores or probabilities.
fn counted_column(options: &AssessedOptions) -> Result<(&Path, &str), Error> {
    let needs_rows = options.cluster_column.source(options.clusters.as_ref()).is_some()
        || options.group_column.name().is_some()
        || options.class_column.is_some();
    if needs_rows {
        return Err(usage("counted rows have no clusters, groups or classes: leave those columns out"));
    }
    match (&options.source.scores, &options.source.probs, &options.artifact) {
        (Some(path), _, _) => Ok((path, &options.score_column)),
        (_, Some(path), None) => Ok((path, &options.prob_column)),
        _ => Err(usage("--count-column goes with a table of --scores, or of --probs without an artefact")),
    }
}

/// Counted rows before and after an artefact.
#[derive(Default)]
struct Calibrated {
    before: Vec<(f64, u64, u64)>,
    after: Vec<(f64, u64, u64)>,
    changed: ChangedRows,
    hash: RowsHash,
    uncalibrated: u64,
}

impl Calibrated {
    fn of<'a>(rows: impl Iterator<Item = (&'a Applied, (u64, u64))>) -> Self {
        let mut all = Self::default();
        for (row, (n, positives)) in rows {
            let of_label = [(false, n - positives), (true, positives)];
            all.hash +=
                of_label.map(|(hit, rows)| RowsHash::of_score(row.score, hit).times(rows)).into_iter().sum();
            let Some(calibrated) = row.outcome.calibrated() else {
                all.uncalibrated += n;
                continue;
            };
            let (before, prob) = (f64::from(row.score), f64::from(calibrated.prob));
            for (hit, rows) in of_label.into_iter().filter(|(_, rows)| *rows > 0) {
                let after = Prediction { class: row.class, prob, bin: calibrated.bin.into(), hit };
                all.changed.add_times(before, &after, rows);
            }
            all.before.push((before, n, positives));
            all.after.push((prob, n, positives));
        }
        all
    }
}

fn usage(text: &str) -> Error {
    Error::Usage(text.into())
}
