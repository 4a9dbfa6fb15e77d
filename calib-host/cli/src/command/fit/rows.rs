//! The rows that a calibrator is fitted to, as a data set.

use std::path::Path;

use calib_core::ScoreEncoding;
use calib_fit::Dataset;
use calib_fit::job::{MethodChoice, NotFitted, ScoresOf};
use calib_io::files::Location;
use calib_io::input::{self, Source, read_second_pass, read_second_pass_by_group};

use super::{FitCommand, usage};
use crate::context::Context;
use crate::error::Error;
use crate::read::{ColumnNames, Counted, For, Labeled, Opened, RowFiles, ScoresAre, one_group};

impl FitCommand {
    /// Reads scores and labels.
    pub(super) fn labeled(
        &self,
        scores: (&Path, ScoresAre),
        encoding: Option<ScoreEncoding>,
        cx: &Context,
    ) -> Result<Labeled, Error> {
        if self.group_column.is_some() && (self.points.are_weighted() || self.clusters().is_some()) {
            return Err(usage(
                "--group-column goes with observations that count the same: leave out weights and clusters",
            ));
        }
        let columns = ColumnNames {
            score: &self.score_column,
            label: &self.label_column,
            clusters: self.clusters(),
            groups: self.group_column.as_deref(),
            points: Some(&self.points),
        };
        let rows =
            RowFiles { scores, labels: self.labels.as_deref(), columns }.read(For::Device(encoding), cx)?;
        match (self.group_column.as_deref(), rows.data.groups()) {
            (Some(column), Some(groups)) if groups.names().len() == 1 => Err(one_group(column)),
            _ => Ok(rows),
        }
    }

    /// Why no calibrator was fitted to rows.
    pub(super) fn refused(&self, rows: &Labeled, cause: NotFitted) -> Error {
        let reference = self.monitor_scores.as_deref().map_or_else(|| rows.scores.clone(), Location::file);
        Error::not_fitted(cause, [&rows.scores, &rows.labels, &reference])
    }

    /// Reads the tables of both passes: the same artifact as that of all rows, except for the hash of the rows, which are not there.
    pub(super) fn pass_rows(&self, first: &Path, cx: &Context) -> Result<(Labeled, ScoresOf), Error> {
        self.check_passes(cx)?;
        let column = self.group_column.as_deref();
        // Edges of other scores are known already.
        let own_bins = self.written.monitors.own_bins().filter(|_| self.monitor_scores.is_none());
        let opened = Opened::read(first, &self.method.named(), column, own_bins, cx)?;
        let second = self.passes.second();
        let second = second.map(|path| Source::read(path, &cx.reading())).transpose()?;
        // Where it is said that both do not stand for the same rows.
        let place =
            || second.as_ref().map_or_else(|| opened.place.clone(), |source| Location::file(source.path()));
        let kind = opened.counted.buckets().kind();
        let data = match &opened.counted {
            Counted::Together { first, open, .. } => {
                let counted = second.as_ref().map(|source| read_second_pass(source, kind)).transpose()?;
                let points = first.points(open, counted.unwrap_or_default());
                points.map(|points| Dataset::of_passes(points, None, [Some(first.score_summary())]))
            }
            Counted::ByGroup { first, open, .. } => {
                let column = column.expect("what is counted by group has a column of groups");
                let counted = second
                    .as_ref()
                    .map(|source| read_second_pass_by_group(source, kind, column))
                    .transpose()?;
                first.dataset(open, counted.unwrap_or_default())
            }
        };
        let data = data.map_err(|cause| Error::pass(place(), cause))?;
        let sources: Vec<&Source> = std::iter::once(&opened.source).chain(&second).collect();
        let rows = Labeled::of_passes(data, opened.place.clone(), input::sha256(&sources));
        Ok((rows, ScoresOf::Binary { kind, encoding: None, by_group: column.is_some() }))
    }

    /// Refuses what takes rows, of which counts have none.
    fn check_passes(&self, cx: &Context) -> Result<(), Error> {
        let refused = [
            (self.clusters().is_some(), "--cluster-column draws a row of each cluster, and counts have none"),
            (
                cx.leaves_out(),
                "--drop-missing leaves out rows, and both passes count them: leave them out in the database, with a condition in --from",
            ),
            (self.points.are_aggregated(), "both passes state how many observations a row is"),
            (self.labels.is_some(), "both passes count labels: leave out --labels"),
            (
                self.codes.encoding()?.is_some(),
                "for integer codes, one pass is enough: fit what `calib sql --score-encoding` asks for with --scores and \
                 --count-columns",
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

    /// What is fitted to a matrix that was read, of which nobody named a reduction.
    pub(super) fn check_classes(rows: &Labeled, method: &MethodChoice, is_named: bool) -> Result<(), Error> {
        let is_of_two = match rows.data.content() {
            calib_fit::dataset::Content::Vectors(vectors, _) => vectors.classes() == 2,
            _ => false,
        };
        match (is_of_two, method, is_named) {
            (true, MethodChoice::Auto | MethodChoice::Within(_), false) => Err(usage(
                "for two classes, give the scores of class 1 with --scores (in a table, set --score-column), or name a --reduction",
            )),
            _ => Ok(()),
        }
    }
}
