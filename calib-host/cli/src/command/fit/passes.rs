//! Fits to what a database counted in two passes.

use std::path::Path;

use calib_fit::artifact::Monitoring;
use calib_fit::data::RowsHash;
use calib_fit::passes::{FirstPass, GroupedPass, OpenGroup};
use calib_fit::reduction::{ReductionOptions, fit_reduction};
use calib_fit::{BinaryMethod, Fit, fit_binary};
use calib_io::files::Place;
use calib_io::input::{self, Sample, Source, read_second_pass, read_second_pass_by_group};

use super::{DataOrigin, FitCommand, Fitted, usage};
use crate::context::Context;
use crate::error::Error;
use crate::read::{Counted, Opened};
use crate::show::Warnings;

/// A fit, and the monitors that go with it.
type Monitored = (Fit, Option<Monitoring>);

/// The answer to the second pass, if there is one, and what a refusal is said of: it, and the answer to the first.
struct Answers<'a> {
    first: &'a Place,
    second: Option<&'a Source>,
}

impl FitCommand {
    /// Fits the tables of both passes: the same artefact as all rows have, but for the hash of the rows, which are not there.
    pub(super) fn passes(&self, first: &Path, cx: &Context) -> Result<Fitted, Error> {
        self.check_passes(cx)?;
        let column = self.group_column.as_deref();
        // Edges of other scores are known already.
        let own_bins = self.written.monitors.own_bins().filter(|_| self.monitor_scores.is_none());
        let opened = Opened::read(first, &self.method, column, own_bins, cx)?;
        let second = self.passes.second();
        let second = second.map(|path| Source::read(path, &cx.reading())).transpose()?;
        let answers = Answers { first: &opened.place, second: second.as_ref() };
        let (fit, monitors) = match &opened.counted {
            Counted::Together { first, method, open } => {
                self.together((first, open), method, &answers, cx)?
            }
            Counted::ByGroup { first, options, open } => {
                let column = column.expect("what is counted by group has a column of groups");
                self.by_group((first, open), options, &answers, column)?
            }
        };
        let sources: Vec<&Source> = std::iter::once(&opened.source).chain(&second).collect();
        Ok(Fitted {
            fit,
            // The hash of no rows, which no rows that it is judged by have.
            origin: DataOrigin { sha256: input::sha256(&sources), rows: RowsHash::default() },
            warnings: Warnings::default(),
            chosen: None,
            monitors,
        })
    }

    fn together(
        &self,
        (first, open): (&FirstPass, &[f64]),
        method: &BinaryMethod,
        answers: &Answers<'_>,
        cx: &Context,
    ) -> Result<Monitored, Error> {
        let kind = first.buckets().kind();
        let counted = answers.second.map(|source| read_second_pass(source, kind)).transpose()?;
        let data = first.points(open, counted.unwrap_or_default());
        let data = data.map_err(|cause| Error::pass(answers.place(), cause))?;
        let fit = fit_binary(&data, method, self.written.divided_alpha())
            .map_err(|cause| Error::fit(answers.first.clone(), cause))?;
        let monitors = self.monitors_of(&Sample::Points(data), kind, cx)?;
        Ok((fit.with_spreads([Some(first.spread())]), monitors))
    }

    fn by_group(
        &self,
        (first, open): (&GroupedPass, &[OpenGroup]),
        options: &ReductionOptions,
        answers: &Answers<'_>,
        column: &str,
    ) -> Result<Monitored, Error> {
        let monitors = self.written.monitors.of_tables()?;
        let kind = first.buckets().kind();
        let counted =
            answers.second.map(|source| read_second_pass_by_group(source, kind, column)).transpose()?;
        let problems = first.problems(open, counted.unwrap_or_default());
        let problems = problems.map_err(|cause| Error::pass(answers.place(), cause))?;
        let fit = fit_reduction(&problems, options, self.written.divided_alpha())
            .map_err(|cause| Error::fit(answers.first.clone(), cause))?;
        Ok((fit.with_spreads(first.spreads()), monitors))
    }

    /// Refuses what takes rows, of which counts have none.
    fn check_passes(&self, cx: &Context) -> Result<(), Error> {
        let refused = [
            (self.clusters().is_some(), "--cluster-column draws a row of each cluster, and counts have none"),
            (
                cx.leaves_out(),
                "--drop-missing leaves out rows, and both passes count them: leave them out in the database, with a condition in --from",
            ),
            (self.points.are_aggregated(), "both passes say themselves how many points a row is"),
            (self.labels.is_some(), "both passes count labels: leave out --labels"),
            (
                self.codes.encoding()?.is_some(),
                "of integer codes one pass tells everything: fit what `calib sql --score-encoding` asks for with --scores and \
                 --count-column",
            ),
            (
                self.written.is_compact(),
                "--table u16 rounds every score before the fit, and counts by bucket have none",
            ),
        ];
        match refused.into_iter().find(|(is_asked, _)| *is_asked) {
            Some((_, why)) => Err(usage(why)),
            None => Ok(()),
        }
    }
}

impl Answers<'_> {
    /// Where it is said that both do not stand for the same rows.
    fn place(&self) -> Place {
        self.second.map_or_else(|| self.first.clone(), |source| Place::file(source.path()))
    }
}
