//! Labelled rows of files as a data set.

use std::path::Path;

use calib_core::ScoreEncoding;
use calib_fit::data::RowGroups;
use calib_fit::{Dataset, ScoreKind, VectorKind};
use calib_io::input::{self, Source, Table};

use super::class_labels::{MatrixColumns, row_labels};
use super::columns::{question_kind, question_margins, read_code_vectors, read_vectors};
use super::files::read_all;
use super::independence::with_hint;
use super::rows::binary_labels;
use crate::context::Context;
use crate::error::Error;
use crate::options::ClusterSource;

/// Where labelled rows are.
pub(crate) struct LabelledFiles<'a> {
    /// The file of scores, and what these are.
    pub(crate) scores: (&'a Path, ScoresAre),
    /// The file of labels, if they are in one of their own.
    pub(crate) labels: Option<&'a Path>,
    pub(crate) score_column: &'a str,
    pub(crate) label_column: &'a str,
    pub(crate) clusters: Option<ClusterSource<'a>>,
    /// The column of groups, of binary scores.
    pub(crate) group_column: Option<&'a str>,
    /// The encoding of codes; `None` for floats.
    pub(crate) encoding: Option<ScoreEncoding>,
}

/// What a row's scores are.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum ScoresAre {
    /// The score of class 1 of two.
    Binary(ScoreKind),
    /// A vector, with an entry a class.
    Vectors(VectorKind),
}

impl ScoresAre {
    /// The option that says so.
    pub(crate) fn option(self) -> &'static str {
        match self {
            Self::Binary(ScoreKind::Probability) => "--scores",
            Self::Binary(ScoreKind::Margin) => "--margins",
            Self::Vectors(VectorKind::Logits) => "--logits",
            Self::Vectors(VectorKind::Probs) => "--probs",
        }
    }
}

/// Labelled rows as they were read.
pub(crate) struct Labelled {
    pub(crate) data: Dataset,
    /// What is doubtful about the file of scores.
    pub(crate) doubt: Option<String>,
    sources: Vec<Source>,
}

impl Labelled {
    /// The hash of the files.
    pub(crate) fn sha256(&self) -> [u8; 32] {
        input::sha256(&self.sources.iter().collect::<Vec<_>>())
    }

    /// What is doubtful about the file of scores, and then about the rows: that they do not look independent.
    pub(crate) fn doubts(&self) -> Vec<String> {
        // Only points on a disk could fail to be read.
        let repeats = self.data.repeats().ok().flatten().map(with_hint);
        self.doubt.iter().cloned().chain(repeats).collect()
    }
}

impl LabelledFiles<'_> {
    pub(crate) fn read(&self, cx: &Context) -> Result<Labelled, Error> {
        let paths: Vec<&Path> = std::iter::once(self.scores.0).chain(self.labels).collect();
        let sources = read_all(&paths, cx)?;
        let (data, doubt) = match self.scores.1 {
            ScoresAre::Binary(kind) => self.binary(&sources, kind)?,
            ScoresAre::Vectors(kind) => self.vectors(&sources, kind)?,
        };
        let rows = data.len() as usize;
        let clusters = self.clusters.map(|clusters| clusters.read(&sources[0], rows)).transpose()?;
        Ok(Labelled { data: data.with_clusters(clusters)?, doubt, sources })
    }

    fn binary(&self, sources: &[Source], kind: ScoreKind) -> Result<(Dataset, Option<String>), Error> {
        let names: Vec<&str> =
            [self.score_column, self.label_column].into_iter().chain(self.group_column).collect();
        let table = Table::read_only(&sources[0], &names)?;
        let scores = match self.encoding {
            Some(encoding) => input::scores_of_codes(&table.codes(self.score_column)?, encoding, kind)?,
            None => table.numbers(self.score_column)?,
        };
        let labels = binary_labels(sources, &table, self.label_column, scores.len())?;
        let data = Dataset::from(input::binary_data(&scores, &labels, kind)?).in_codes(self.encoding);
        let doubt = question_margins(&sources[0], kind, &scores.device_scores(kind)?);
        let groups = match self.group_column {
            Some(column) => {
                let names = table.names(column)?;
                input::check_rows(&names, scores.len(), sources[0].path())?;
                Some(RowGroups::new(names.values))
            }
            None => None,
        };
        Ok((data.with_groups(groups)?, doubt))
    }

    fn vectors(&self, sources: &[Source], kind: VectorKind) -> Result<(Dataset, Option<String>), Error> {
        let columns = MatrixColumns { score: self.score_column, label: self.label_column };
        if let Some(encoding) = self.encoding {
            let codes = read_code_vectors(&sources[0], encoding, kind, self.score_column)?;
            let labels = row_labels(sources, columns, codes.len(), codes.classes())?.values;
            return Ok((Dataset::of_codes(codes, labels)?, None));
        }
        let vectors = read_vectors(&sources[0], kind, self.score_column)?;
        let labels = row_labels(sources, columns, vectors.len(), vectors.classes())?.values;
        let doubt = question_kind(&sources[0], &vectors);
        Ok((Dataset::of_vectors(vectors, labels)?, doubt))
    }
}
