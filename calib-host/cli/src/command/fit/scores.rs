//! Fits to binary scores.

use std::path::Path;

use calib_core::ScoreEncoding;
use calib_fit::reduction::{Problems, fit_reduction};
use calib_fit::{FitError, ScoreKind};
use calib_io::files::Place;
use calib_io::input::{self, BinaryFiles, Sample, Table};

use crate::context::Context;
use crate::error::Error;
use crate::fitting::{
    Chosen, fit_points, fit_sample, over_codes, range_of_codes, warnings_of, warnings_of_sample,
};
use crate::read::{
    labels_of, one_group, question_independence, question_margins, read_all, read_binary, read_groups,
};

use super::{DataOrigin, FitCommand, Fitted, usage};

impl FitCommand {
    /// Fits scores and labels.
    pub(super) fn binary(&self, cx: &Context) -> Result<Fitted, Error> {
        // Weights, counts, codes, clusters and rounded scores are aggregated or drawn from: those tables are read as a whole.
        let encoding = self.codes.encoding()?;
        let (path, kind) = self.binary_source().expect("clap asks for one of the sources");
        if let Some(column) = &self.group_column {
            return self.grouped((path, kind), column, cx);
        }
        let as_a_whole = self.points.are_aggregated() || self.clusters().is_some();
        if encoding.is_some() || kind == ScoreKind::Margin || as_a_whole || self.written.is_compact() {
            return self.aggregated((path, kind), encoding, cx);
        }
        let files = BinaryFiles {
            scores: path,
            labels: self.labels.as_deref(),
            score_column: &self.score_column,
            label_column: &self.label_column,
        };
        let input = read_binary(&files, cx)?;
        let fit = fit_points((&self.method, &self.written), &input.data, (kind, None), &input.scores)?;
        let input_place = input.scores.clone();
        let rows = input.data.rows_hash().map_err(|cause| Error::fit(input_place.clone(), cause))?;
        let (fit, chosen) = fit.map_err(|cause| {
            let one_class = matches!(cause, FitError::OneClass { .. });
            Error::fit(if one_class { input.labels.clone() } else { input.scores.clone() }, cause)
        })?;
        let spread = input.data.spread().map_err(|cause| Error::fit(input_place, cause))?;
        let mut warnings = warnings_of(&input.data).map_err(|cause| Error::fit(input.scores, cause))?;
        warnings.doubts.extend(question_independence(&input.data, None));
        let monitors = self.monitors_of(&Sample::Points(input.data), kind, cx)?;
        let origin = DataOrigin { sha256: input.sha256, rows };
        Ok(Fitted { fit: fit.with_spreads([Some(spread)]), origin, warnings, chosen, monitors })
    }

    /// Fits scores of groups, each of which has a table of its own.
    fn grouped(&self, (path, kind): (&Path, ScoreKind), column: &str, cx: &Context) -> Result<Fitted, Error> {
        if self.points.are_weighted() || self.clusters().is_some() {
            return Err(usage(
                "--group-column goes with points that count the same: leave out weights and clusters",
            ));
        }
        let encoding = self.codes.encoding()?;
        let monitors = self.written.monitors.of_tables()?;
        let paths: Vec<_> = std::iter::once(path).chain(self.labels.as_deref()).collect();
        let sources = read_all(&paths, cx)?;
        let names: Vec<&str> = [&*self.score_column, &*self.label_column, column]
            .into_iter()
            .chain(self.points.columns())
            .collect();
        let table = Table::read_only(&sources[0], &names)?;
        let labels = match self.points.counts_positives() {
            true => None,
            false => Some(labels_of(&sources, &table, &self.label_column)?),
        };
        let scores = match encoding {
            Some(encoding) => input::scores_of_codes(&table.codes(&self.score_column)?, encoding, kind)?,
            None => table.numbers(&self.score_column)?,
        };
        let place = Place::file(sources[0].path());
        let all = self.points.sample(&table, (&scores, kind), labels.as_ref())?;
        let fit_error = |cause| Error::fit(place.clone(), cause);
        let rows = all.rows_hash().map_err(fit_error)?;
        let mut warnings = warnings_of_sample(&all).map_err(fit_error)?;
        if let (Sample::Points(all), false) = (&all, self.points.are_aggregated()) {
            warnings.doubts.extend(question_independence(all, None));
        }
        let device = scores.device_scores(kind)?;
        warnings.doubts.extend(question_margins(&sources[0], kind, &device));

        let groups = read_groups(&sources[0], column, scores.len())?;
        let counts = self.points.counts(&table)?;
        let of_group = |(group, name): (usize, &String)| {
            let rows = || groups.rows_of(group);
            let score = |row: usize| f64::from(device[row]);
            let problems = match (&counts, &labels) {
                (Some((n, positives)), _) => {
                    let counted = |row| (score(row), n.values[row] as u64, positives.values[row] as u64);
                    Problems::of_counts(rows().map(counted).collect(), kind)
                }
                (None, Some(labels)) => {
                    let scores: Vec<f64> = rows().map(score).collect();
                    let labels: Vec<bool> = rows().map(|row| labels.values[row] == 1).collect();
                    Problems::of_scores(&scores, &labels, kind)
                }
                (None, None) => unreachable!("labels are read unless there are positives, which need counts"),
            };
            (name.clone(), problems)
        };
        let problems = Problems::by_group(groups.names().iter().enumerate().map(of_group).collect());
        let problems = problems.ok_or_else(|| one_group(column))?;
        let is_rounded = encoding.is_none() && self.written.is_compact();
        let problems = if is_rounded { problems.rounded() } else { problems };
        let options = self.method.by_table((kind, encoding.and_then(range_of_codes)))?;
        let fit = fit_reduction(&problems, &options, self.written.divided_alpha()).map_err(fit_error)?;
        let sha256 = input::sha256(&sources.iter().collect::<Vec<_>>());
        let fit = over_codes(fit.with_spreads(problems.spreads()), encoding)?;
        let chosen = self.method.why_tables(None).map(Chosen::whatever_labels_say);
        Ok(Fitted { fit, origin: DataOrigin { sha256, rows }, warnings, chosen, monitors })
    }

    /// Fits margins, weighted or counted points, codes, one point of each cluster, or scores for a table of 16-bit numbers.
    fn aggregated(
        &self,
        (path, kind): (&Path, ScoreKind),
        encoding: Option<ScoreEncoding>,
        cx: &Context,
    ) -> Result<Fitted, Error> {
        let paths: Vec<_> = std::iter::once(path).chain(self.labels.as_deref()).collect();
        let sources = read_all(&paths, cx)?;
        let names: Vec<&str> =
            [&*self.score_column, &*self.label_column].into_iter().chain(self.points.columns()).collect();
        let table = Table::read_only(&sources[0], &names)?;
        let mut labels = match self.points.counts_positives() {
            true => None,
            false => Some(labels_of(&sources, &table, &self.label_column)?),
        };
        let mut scores = match encoding {
            Some(encoding) => input::scores_of_codes(&table.codes(&self.score_column)?, encoding, kind)?,
            None => table.numbers(&self.score_column)?,
        };
        let mut sample = self.points.sample(&table, (&scores, kind), labels.as_ref())?;
        let doubt = question_margins(&sources[0], kind, &scores.device_scores(kind)?);
        // Of all rows, those that are not drawn among them.
        let place = Place::file(sources[0].path());
        let rows = sample.rows_hash().map_err(|cause| Error::fit(place.clone(), cause))?;
        let mut drawn = None;
        if let (Some(labels), Some(_)) = (&mut labels, self.clusters()) {
            // As the device has them: what it cannot tell apart has one order.
            let seen = |row: usize| scores.values[row] as f32 + 0.0;
            let compare = |a: usize, b: usize| seen(a).total_cmp(&seen(b));
            drawn = self.draw(&sources[0], &labels.values, compare)?;
            let some = drawn.as_ref().map(|drawn| &drawn.rows[..]).unwrap_or_default();
            (scores, *labels) = (scores.part(some), labels.part(some));
            sample = self.points.sample(&table, (&scores, kind), Some(labels))?;
        }
        let dependence = match (&sample, &drawn) {
            (Sample::Points(data), None) if !self.points.are_aggregated() => {
                question_independence(data, None)
            }
            _ => None,
        };
        // Of the scores as they are: that rounded ones have no monitors is said when the artefact is written.
        let monitors = self.monitors_of(&sample, kind, cx)?;
        let sample = if encoding.is_none() && self.written.is_compact() { sample.rounded() } else { sample };
        let fit_error = |cause| {
            let one_class = matches!(cause, FitError::OneClass { .. });
            let labels = labels.as_ref().map(|labels| labels.place().clone());
            Error::fit(labels.filter(|_| one_class).unwrap_or(place.clone()), cause)
        };
        let (fit, chosen) = fit_sample((&self.method, &self.written), &sample, (kind, encoding), &place)?
            .map_err(fit_error)?;
        let mut warnings = warnings_of_sample(&sample).map_err(fit_error)?;
        warnings.doubts.extend(doubt.into_iter().chain(dependence));
        let spread = sample.spread().map_err(fit_error)?;
        let sha256 = input::sha256(&sources.iter().collect::<Vec<_>>());
        let fit = self.drawn(over_codes(fit.with_spreads([Some(spread)]), encoding)?, drawn);
        Ok(Fitted { fit, origin: DataOrigin { sha256, rows }, warnings, chosen, monitors })
    }
}
