//! Fits to binary scores.

use std::path::Path;

use calib_core::{QuantizedScore, ScoreEncoding};
use calib_host::assess::evidence_of_fit;
use calib_host::binary::Ums;
use calib_host::files::Place;
use calib_host::fit::{divided, fit_weighted};
use calib_host::input::{self, BinaryFiles, Sample, Table};
use calib_host::reduction::{Problems, fit_reduction};
use calib_host::{BinaryData, BinaryMethod, FitError, ScoreKind, fit_binary};

use crate::cli::error::Error;
use crate::cli::options::{bins_of_umd, bins_of_ums, points_for};
use crate::cli::read::{
    labels_of, question_independence, question_margins, read_all, read_binary, read_groups,
};
use crate::cli::show::Warnings;

use super::{Chosen, DataOrigin, FitCommand, Fitted, TableWidth, over_codes, usage};

impl FitCommand {
    /// Fits scores and labels.
    pub(super) fn binary(&self, quiet: bool) -> Result<Fitted, Error> {
        // Weights, counts, codes, clusters and rounded scores are aggregated or drawn from: those tables are read as a whole.
        let encoding = self.codes.encoding()?;
        let (path, kind) = self.binary_source().expect("clap asks for one of the sources");
        if let Some(column) = &self.group_column {
            return self.grouped((path, kind), column, quiet);
        }
        let as_a_whole = self.points.are_aggregated() || self.clusters().is_some();
        if encoding.is_some() || kind == ScoreKind::Margin || as_a_whole || self.table == TableWidth::U16 {
            return self.aggregated((path, kind), encoding, quiet);
        }
        let files = BinaryFiles {
            scores: path,
            labels: self.labels.as_deref(),
            score_column: &self.score_column,
            label_column: &self.label_column,
        };
        let input = read_binary(&files, quiet)?;
        let fit = match self.method.is_left_open() {
            true => self.chosen(&input.data, &input.scores, (kind, None))?,
            false => {
                let method = self.method.binary((input.data.len(), &input.scores), kind, None)?;
                fit_binary(&input.data, &method, self.divided_alpha()).map(|fit| (fit, None))
            }
        };
        let input_place = input.scores.clone();
        let rows = input.data.rows_hash().map_err(|cause| Error::fit(input_place.clone(), cause))?;
        let (fit, chosen) = fit.map_err(|cause| {
            let one_class = matches!(cause, FitError::OneClass { .. });
            Error::fit(if one_class { input.labels.clone() } else { input.scores.clone() }, cause)
        })?;
        let spread = input.data.spread().map_err(|cause| Error::fit(input_place, cause))?;
        let mut warnings = warnings_of(&input.data).map_err(|cause| Error::fit(input.scores, cause))?;
        warnings.doubts.extend(question_independence(&input.data, None));
        let origin = DataOrigin { sha256: input.sha256, rows };
        Ok(Fitted { fit: fit.with_spreads([Some(spread)]), origin, warnings, chosen })
    }

    /// Fits scores of groups, each of which has a table of its own.
    fn grouped(&self, (path, kind): (&Path, ScoreKind), column: &str, quiet: bool) -> Result<Fitted, Error> {
        let other =
            self.points.are_aggregated() || self.clusters().is_some() || self.codes.encoding()?.is_some();
        if other {
            return Err(usage(
                "--group-column goes with a row for every point, and with floats: leave out counts, weights, clusters and codes",
            ));
        }
        let paths: Vec<_> = std::iter::once(path).chain(self.labels.as_deref()).collect();
        let sources = read_all(&paths, quiet)?;
        let names = [&*self.score_column, &*self.label_column, column];
        let table = Table::read_only(&sources[0], &names)?;
        let labels = labels_of(&sources, &table, &self.label_column)?;
        let scores = table.numbers(&self.score_column)?;
        let place = Place::file(sources[0].path());
        let all = input::binary_data(&scores, &labels, kind)?;
        let fit_error = |cause| Error::fit(place.clone(), cause);
        let rows = all.rows_hash().map_err(fit_error)?;
        let mut warnings = warnings_of(&all).map_err(fit_error)?;
        warnings.doubts.extend(question_independence(&all, None));
        warnings.doubts.extend(question_margins(&sources[0], kind, &scores.device_scores(kind)?));

        let groups = read_groups(&sources[0], column, scores.len())?;
        let device = scores.device_scores(kind)?;
        let of_group = |(group, name): (usize, &String)| {
            let rows = || groups.rows_of(group);
            let scores: Vec<f64> = rows().map(|row| f64::from(device[row])).collect();
            let labels: Vec<bool> = rows().map(|row| labels.values[row] == 1).collect();
            (name.clone(), Problems::of_scores(&scores, &labels, kind))
        };
        let problems = Problems::by_group(groups.names().iter().enumerate().map(of_group).collect());
        let problems = problems.ok_or_else(|| {
            Error::Usage(format!("the column {column:?} names one group only: leave --group-column out"))
        })?;
        let problems = if self.table == TableWidth::U16 { problems.rounded() } else { problems };
        let fit =
            fit_reduction(&problems, &self.method.reduction()?, self.divided_alpha()).map_err(fit_error)?;
        let sha256 = input::sha256(&sources.iter().collect::<Vec<_>>());
        let fit = fit.with_spreads(problems.spreads());
        Ok(Fitted { fit, origin: DataOrigin { sha256, rows }, warnings, chosen: None })
    }

    /// Fits the bins that suit so many points. Where scores tie at an edge, so that `umd` has no guarantee, it is `ums`, and alpha is
    /// divided between both: which of them it is depends on the scores.
    fn chosen(
        &self,
        data: &BinaryData,
        place: &Place,
        (kind, codes): (ScoreKind, Option<(f32, f32)>),
    ) -> Result<Result<(calib_host::Fit, Option<Chosen>), FitError>, Error> {
        let (n, alpha) = (data.len(), self.divided_alpha());
        // The fit refuses any other alpha, and says why.
        let epsilon = self.method.epsilon().filter(|_| alpha > 0.0 && alpha < 1.0);
        let Some(chosen) = bins_of_umd(n, alpha, epsilon) else {
            let epsilon = epsilon.unwrap_or_default();
            let needed = points_for(epsilon, alpha).map_or(String::new(), |n| format!(": two bins take {n}"));
            return Err(Error::Usage(format!(
                "{place}: no bins of {n} points keep a guarantee within {epsilon}{needed}; leave --epsilon out, or take a larger one"
            )));
        };
        let umd = self.method.umd(chosen.bins, (kind, codes.is_some()))?;
        let fit = match fit_binary(data, &umd, alpha) {
            Ok(fit) => fit,
            Err(cause) => return Ok(Err(cause)),
        };
        let only = |why| Ok(Ok((fit.clone(), Some(Chosen { why, candidates: 1 }))));
        if fit.tied_tables().next().is_none() {
            return only(chosen.why);
        }
        let halved = divided(alpha, 2);
        let split =
            bins_of_ums(n, halved, epsilon).map(|split| Ums { bins: split.bins, seed: self.method.seed() });
        let split = split.and_then(|ums| fit_binary(data, &BinaryMethod::Ums(ums), halved).ok());
        let keeps = |fit: &calib_host::Fit| {
            fit.guarantee.is_some_and(|guarantee| epsilon.is_none_or(|epsilon| guarantee.epsilon <= epsilon))
        };
        match (split.filter(keeps), epsilon) {
            (Some(split), _) => {
                let why = format!(
                    "chosen: ums with {} bins, because scores tie at an edge, so that umd has no guarantee; --method umd --ties \
                     randomize has a narrower one, with random numbers on the device",
                    split.bins()
                );
                Ok(Ok((split, Some(Chosen { why, candidates: 2 }))))
            }
            (None, Some(epsilon)) => Err(Error::Usage(format!(
                "{place}: scores tie at the edges of bins, and neither umd nor ums keeps a guarantee within {epsilon}; leave --epsilon \
                 out, or take --method umd --ties randomize with --bins"
            ))),
            (None, None) => only(format!(
                "chosen: umd with {} bins; scores tie at an edge, so that it has no guarantee",
                fit.bins()
            )),
        }
    }

    /// Fits margins, weighted or counted points, codes, one point of each cluster, or scores for a table of 16-bit numbers.
    fn aggregated(
        &self,
        (path, kind): (&Path, ScoreKind),
        encoding: Option<ScoreEncoding>,
        quiet: bool,
    ) -> Result<Fitted, Error> {
        let paths: Vec<_> = std::iter::once(path).chain(self.labels.as_deref()).collect();
        let sources = read_all(&paths, quiet)?;
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
        let sample =
            if encoding.is_none() && self.table == TableWidth::U16 { sample.rounded() } else { sample };
        let fit_error = |cause| {
            let one_class = matches!(cause, FitError::OneClass { .. });
            let labels = labels.as_ref().map(|labels| labels.place().clone());
            Error::fit(labels.filter(|_| one_class).unwrap_or(place.clone()), cause)
        };
        let codes = encoding.and_then(range_of_codes);
        let method = |n| self.method.binary((n, &place), kind, codes);
        let (fit, chosen) = match &sample {
            Sample::Points(data) if self.method.is_left_open() => self.chosen(data, &place, (kind, codes))?,
            Sample::Points(data) => {
                fit_binary(data, &method(data.len())?, self.divided_alpha()).map(|fit| (fit, None))
            }
            Sample::Weighted(data) => {
                fit_weighted(data, &method(data.len())?, self.divided_alpha()).map(|fit| (fit, None))
            }
        }
        .map_err(fit_error)?;
        let mut warnings = warnings_of_sample(&sample).map_err(fit_error)?;
        warnings.doubts.extend(doubt.into_iter().chain(dependence));
        let spread = sample.spread().map_err(fit_error)?;
        let sha256 = input::sha256(&sources.iter().collect::<Vec<_>>());
        let fit = self.drawn(over_codes(fit.with_spreads([Some(spread)]), encoding)?, drawn);
        Ok(Fitted { fit, origin: DataOrigin { sha256, rows }, warnings, chosen })
    }
}

/// What the points that a calibrator is fitted to say against it.
fn warnings_of(data: &BinaryData) -> Result<Warnings, FitError> {
    let evidence = evidence_of_fit(data)?.into_iter().collect();
    Ok(Warnings { evidence, ..Warnings::default() })
}

/// What the lowest and the highest code stand for.
fn range_of_codes(encoding: ScoreEncoding) -> Option<(f32, f32)> {
    let (lowest, highest) = encoding.code_range()?;
    let score = |code| Some(QuantizedScore::new(encoding, code).ok()?.dequantized());
    score(lowest).zip(score(highest))
}

fn warnings_of_sample(sample: &Sample) -> Result<Warnings, FitError> {
    match sample {
        Sample::Points(data) => warnings_of(data),
        // The test counts points.
        Sample::Weighted(_) => Ok(Warnings::default()),
    }
}
