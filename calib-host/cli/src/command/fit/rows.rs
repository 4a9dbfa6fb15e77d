//! The rows that a calibrator is fitted to, as a data set.

use std::path::Path;

use calib_core::ScoreEncoding;
use calib_fit::data::DataError;
use calib_fit::job::{MethodChoice, NotFitted, ScoresOf};
use calib_fit::{Dataset, ScoreKind, VectorKind};
use calib_io::files::Place;
use calib_io::input::{
    self, BinaryFiles, Sample, Source, Table, read_second_pass, read_second_pass_by_group,
};

use super::{FitCommand, usage};
use crate::context::Context;
use crate::error::Error;
use crate::read::{
    Counted, MatrixColumns, Opened, labels_of, one_group, read_all, read_binary, read_code_vectors,
    read_groups, read_vectors, row_labels,
};

/// Rows, and what is said of where they come from.
pub(super) struct Rows {
    pub(super) data: Dataset,
    /// The hash of the files.
    pub(super) sha256: [u8; 32],
    pub(super) scores: Place,
    labels: Place,
}

impl Rows {
    /// Why nothing was fitted to them; `reference` is where the scores are that monitors compare with.
    pub(super) fn refused(&self, cause: NotFitted, reference: Option<&Path>) -> Error {
        let reference = reference.map_or_else(|| self.scores.clone(), Place::file);
        Error::not_fitted(cause, [&self.scores, &self.labels, &reference])
    }
}

impl FitCommand {
    /// Reads scores of class 1 and labels.
    pub(super) fn binary_rows(
        &self,
        (path, kind): (&Path, ScoreKind),
        encoding: Option<ScoreEncoding>,
        cx: &Context,
    ) -> Result<Rows, Error> {
        let is_plain = encoding.is_none() && kind == ScoreKind::Probability && self.group_column.is_none();
        // Weights, counts, clusters and groups go by rows: those tables are read as a whole.
        if is_plain && !self.points.are_aggregated() && self.clusters().is_none() {
            let files = BinaryFiles {
                scores: path,
                labels: self.labels.as_deref(),
                score_column: &self.score_column,
                label_column: &self.label_column,
            };
            let input = read_binary(&files, cx)?;
            let (scores, labels) = (input.scores, input.labels);
            return Ok(Rows { data: input.data.into(), sha256: input.sha256, scores, labels });
        }
        if self.group_column.is_some() && (self.points.are_weighted() || self.clusters().is_some()) {
            return Err(usage(
                "--group-column goes with points that count the same: leave out weights and clusters",
            ));
        }
        let paths: Vec<_> = std::iter::once(path).chain(self.labels.as_deref()).collect();
        let sources = read_all(&paths, cx)?;
        let names =
            [&*self.score_column, &*self.label_column].into_iter().chain(self.group_column.as_deref());
        let names: Vec<&str> = names.chain(self.points.columns()).collect();
        let table = Table::read_only(&sources[0], &names)?;
        let labels = match self.points.counts_positives() {
            true => None,
            false => Some(labels_of(&sources, &table, &self.label_column)?),
        };
        let scores = match encoding {
            Some(encoding) => input::scores_of_codes(&table.codes(&self.score_column)?, encoding, kind)?,
            None => table.numbers(&self.score_column)?,
        };
        let data = match self.points.sample(&table, (&scores, kind), labels.as_ref())? {
            Sample::Points(points) => Dataset::from(points),
            Sample::Weighted(points) => points.into(),
        };
        let clusters = self.clusters().map(|source| source.read(&sources[0], scores.len())).transpose()?;
        let groups = match self.group_column.as_deref() {
            Some(column) => {
                let groups = read_groups(&sources[0], column, scores.len())?;
                if groups.names().len() == 1 {
                    return Err(one_group(column));
                }
                Some(groups)
            }
            None => None,
        };
        let data = data.in_codes(encoding).with_clusters(clusters)?.with_groups(groups)?;
        let place = Place::file(sources[0].path());
        let labels = labels.map_or_else(|| place.clone(), |labels| labels.place().clone());
        Ok(Rows { data, sha256: sha256(&sources), scores: place, labels })
    }

    /// Reads a matrix and its labels.
    pub(super) fn matrix_rows(
        &self,
        (path, kind): (&Path, VectorKind),
        encoding: Option<ScoreEncoding>,
        cx: &Context,
    ) -> Result<Rows, Error> {
        let paths: Vec<_> = std::iter::once(path).chain(self.labels.as_deref()).collect();
        let sources = read_all(&paths, cx)?;
        let columns = MatrixColumns { score: &self.score_column, label: &self.label_column };
        let labels = |rows, classes| row_labels(&sources, columns, rows, classes);
        let data = match encoding {
            Some(encoding) => {
                let codes = read_code_vectors(&sources[0], encoding, kind, &self.score_column)?;
                let labels = labels(codes.len(), codes.classes())?.values;
                Dataset::of_codes(codes, labels)
            }
            None => {
                let vectors = read_vectors(&sources[0], kind, &self.score_column)?;
                let labels = labels(vectors.len(), vectors.classes())?.values;
                Dataset::of_vectors(vectors, labels)
            }
        };
        let data = data.unwrap_or_else(|cause: DataError| unreachable!("the rows were checked: {cause}"));
        let rows = data.len() as usize;
        let clusters = self.clusters().map(|source| source.read(&sources[0], rows)).transpose()?;
        let place = Place::file(sources[0].path());
        let data = data.with_clusters(clusters)?;
        Ok(Rows { data, sha256: sha256(&sources), scores: place.clone(), labels: place })
    }

    /// Reads the tables of both passes: the same artefact as all rows have, but for the hash of the rows, which are not there.
    pub(super) fn pass_rows(&self, first: &Path, cx: &Context) -> Result<(Rows, ScoresOf), Error> {
        self.check_passes(cx)?;
        let column = self.group_column.as_deref();
        // Edges of other scores are known already.
        let own_bins = self.written.monitors.own_bins().filter(|_| self.monitor_scores.is_none());
        let opened = Opened::read(first, &self.method.named(), column, own_bins, cx)?;
        let second = self.passes.second();
        let second = second.map(|path| Source::read(path, &cx.reading())).transpose()?;
        // Where it is said that both do not stand for the same rows.
        let place =
            || second.as_ref().map_or_else(|| opened.place.clone(), |source| Place::file(source.path()));
        let kind = opened.counted.buckets().kind();
        let data = match &opened.counted {
            Counted::Together { first, open, .. } => {
                let counted = second.as_ref().map(|source| read_second_pass(source, kind)).transpose()?;
                let points = first.points(open, counted.unwrap_or_default());
                points.map(|points| Dataset::of_passes(points, None, [Some(first.spread())]))
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
        let sha256 = input::sha256(&sources);
        let rows = Rows { data, sha256, scores: opened.place.clone(), labels: opened.place };
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

    /// What is fitted to a matrix that was read, of which nobody named a reduction.
    pub(super) fn check_classes(rows: &Rows, method: &MethodChoice, is_named: bool) -> Result<(), Error> {
        let is_of_two = match rows.data.content() {
            calib_fit::dataset::Content::Vectors(vectors, _) => vectors.classes() == 2,
            _ => false,
        };
        match (is_of_two, method, is_named) {
            (true, MethodChoice::Auto { .. }, false) => Err(usage(
                "of two classes give class 1 with --scores (of a table with --score-column), or name a --reduction",
            )),
            _ => Ok(()),
        }
    }
}

fn sha256(sources: &[Source]) -> [u8; 32] {
    input::sha256(&sources.iter().collect::<Vec<_>>())
}
