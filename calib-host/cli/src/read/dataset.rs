//! Labeled rows of files as a data set: what every command that fits or judges reads.

use std::path::Path;

use calib_core::ScoreEncoding;
use calib_core::artifact::Reduction;
use calib_fit::data::{BinaryData, Overlap};
use calib_fit::job::{AssessError, Calibrated, Finding, scores_encoding, vectors_encoding};
use calib_fit::{Dataset, ScoreKind, VectorKind};
use calib_io::files::Location;
use calib_io::input::{self, BinaryFiles, Sample, Source, Table};

use super::class_labels::row_labels;
use super::columns::{labels_of, read_code_vectors, read_vectors};
use super::files::{read_all, read_binary};
use super::rows::{ColumnNames, NamedArtifact, groups_beside};
use crate::context::Context;
use crate::error::{Error, sentence};

/// What a row's scores are.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum ScoresAre {
    /// The score of class 1 of two.
    Binary(ScoreKind),
    /// A vector, with an entry a class; without a kind it is what an artifact takes, or what the numbers look like.
    Vectors(Option<VectorKind>),
}

/// For what rows are read.
#[derive(Clone, Copy)]
pub(crate) enum For<'a> {
    /// For a device, which rounds scores, or has them as codes of this encoding.
    Device(Option<ScoreEncoding>),
    /// For an artifact, in the encoding that it takes.
    Artifact(&'a NamedArtifact<'a>),
    /// For nobody: scores are kept to the last digit.
    Nobody,
}

/// Where labeled rows are.
#[derive(Clone, Copy)]
pub(crate) struct RowFiles<'a> {
    /// The file of scores, and what these are.
    pub(crate) scores: (&'a Path, ScoresAre),
    /// The file of labels, if they are in a separate one.
    pub(crate) labels: Option<&'a Path>,
    pub(crate) columns: ColumnNames<'a>,
}

/// Labeled rows as they were read.
pub(crate) struct Labeled {
    pub(crate) data: Dataset,
    /// The files, unless there was no need to keep them.
    pub(crate) sources: Vec<Source>,
    pub(crate) scores: Location,
    pub(crate) labels: Location,
    sha256: Option<[u8; 32]>,
}

impl ScoresAre {
    /// What an artifact accepts. A matrix is of this kind if an option states it.
    pub(crate) fn of_artifact(artifact: &NamedArtifact<'_>, kind: Option<VectorKind>) -> Self {
        match artifact.stored.artifact().header().reduction {
            Reduction::Binary => Self::Binary(artifact.score_kind()),
            _ => Self::Vectors(kind),
        }
    }

    /// The option that says so.
    pub(crate) fn option(self) -> &'static str {
        match self {
            Self::Binary(ScoreKind::Probability) => "--scores",
            Self::Binary(ScoreKind::Margin) => "--margins",
            Self::Vectors(Some(VectorKind::Logits)) => "--logits",
            Self::Vectors(_) => "--probs",
        }
    }
}

impl RowFiles<'_> {
    pub(crate) fn read(&self, of: For<'_>, cx: &Context) -> Result<Labeled, Error> {
        if matches!((self.scores.1, of), (ScoresAre::Binary(ScoreKind::Probability), For::Device(None)))
            && self.columns.are_scores_and_labels()
        {
            return self.read_points(cx);
        }
        let paths: Vec<&Path> = std::iter::once(self.scores.0).chain(self.labels).collect();
        let sources = read_all(&paths, cx)?;
        let (data, labels) = dataset(&sources, self.scores.1, of, self.columns)?;
        let scores = Location::file(sources[0].path());
        let labels = labels.unwrap_or_else(|| scores.clone());
        Ok(Labeled { data, sources, scores, labels, sha256: None })
    }

    /// Reads scores and labels, of which there may be more than fit into memory as a table.
    fn read_points(&self, cx: &Context) -> Result<Labeled, Error> {
        let files = BinaryFiles {
            scores: self.scores.0,
            labels: self.labels,
            score_column: self.columns.score,
            label_column: self.columns.label,
        };
        let input = read_binary(&files, cx)?;
        let (scores, labels, sha256) = (input.scores, input.labels, Some(input.sha256));
        Ok(Labeled { data: input.data.into(), sources: Vec::new(), scores, labels, sha256 })
    }
}

impl Labeled {
    /// What a database counted in two passes, as its tables say.
    pub(crate) fn of_passes(data: Dataset, place: Location, sha256: [u8; 32]) -> Self {
        let (scores, labels) = (place.clone(), place);
        Self { data, sources: Vec::new(), scores, labels, sha256: Some(sha256) }
    }

    /// The hash of the files.
    pub(crate) fn sha256(&self) -> [u8; 32] {
        self.sha256.unwrap_or_else(|| input::sha256(&self.sources.iter().collect::<Vec<_>>()))
    }

    /// Whether an artifact was fitted to these rows, all or some.
    pub(crate) fn overlap_with_fit(&self, artifact: &NamedArtifact<'_>) -> Result<Option<Overlap>, Error> {
        let digest = self.data.rows_digest().map_err(|cause| self.refused(cause.into(), artifact))?;
        Ok(artifact.overlap_with_fit(&digest, &self.sources))
    }

    /// The rows as an artifact calibrates them.
    pub(crate) fn calibrated(&self, artifact: &NamedArtifact<'_>) -> Result<Calibrated<'_>, Error> {
        let found = Calibrated::new(&self.data, &artifact.stored.artifact(), artifact.seed);
        found.map_err(|cause| self.refused(cause, artifact))
    }

    fn refused(&self, cause: AssessError, artifact: &NamedArtifact<'_>) -> Error {
        Error::assess(cause, &self.scores.file, artifact.path)
    }

    /// What is doubtful about the file of scores.
    pub(crate) fn warning(&self) -> Option<String> {
        let warning = Finding::of_scores(&self.data).or_else(|| Finding::of_classes_as_scores(&self.data));
        warning.map(|warning| self.sentence(&warning))
    }

    /// What is doubtful about the file of scores, and then about the rows: that scores do not order them, that they do not look independent.
    pub(crate) fn warnings(&self) -> Vec<String> {
        // Only points on a disk could fail to be read.
        let repeats = self.data.repeats().ok().flatten().map(Finding::Dependence);
        Finding::of_rows(&self.data).iter().chain(&repeats).map(|warning| self.sentence(warning)).collect()
    }

    fn sentence(&self, finding: &Finding) -> String {
        sentence(finding, &self.scores.file)
    }
}

/// Reads labeled rows of files, and where the labels are if they have a column.
pub(crate) fn dataset(
    sources: &[Source],
    scores: ScoresAre,
    of: For<'_>,
    columns: ColumnNames<'_>,
) -> Result<(Dataset, Option<Location>), Error> {
    let (data, rows, labels) = match scores {
        ScoresAre::Binary(kind) => binary(sources, kind, of, columns)?,
        ScoresAre::Vectors(kind) => {
            columns.check_no_groups()?;
            let data = vectors(sources, kind, of, columns)?;
            let rows = data.len() as usize;
            (data, rows, None)
        }
    };
    let clusters = columns.clusters(sources, rows)?;
    Ok((data.with_clusters(clusters)?, labels))
}

/// Scores of class 1 with their groups, the number of rows, and where the labels are.
fn binary(
    sources: &[Source],
    kind: ScoreKind,
    of: For<'_>,
    columns: ColumnNames<'_>,
) -> Result<(Dataset, usize, Option<Location>), Error> {
    let (encoding, kind) = match of {
        For::Device(encoding) => (encoding, kind),
        For::Artifact(named) => {
            let (encoding, kind) = scores_encoding(&named.stored.artifact(), kind)
                .map_err(|cause| named.refuse(cause.into()))?;
            (Some(encoding).filter(ScoreEncoding::is_quantized), kind)
        }
        For::Nobody => (None, kind),
    };
    let table = Table::read_only(&sources[0], &columns.named())?;
    let scores = match encoding {
        Some(encoding) => table.codes(columns.score, encoding)?.stand_for(kind)?,
        None => table.numbers(columns.score)?,
    };
    let labels = match columns.points.is_some_and(|points| points.counts_positives()) {
        true => None,
        false => Some(labels_of(sources, &table, columns.label)?),
    };
    let groups = columns.groups.map(|column| groups_beside(&table, column, scores.len(), sources[0].path()));
    let data = match (columns.points, labels.as_ref(), of) {
        (Some(points), labels, _) => match points.sample(&table, (&scores, kind), labels)? {
            Sample::Points(points) => Dataset::from(points),
            Sample::Weighted(points) => points.into(),
        },
        // A device never saw them: they are assessed to the last digit.
        (None, Some(labels), For::Nobody) => {
            scores.check_scores(kind)?;
            input::check_rows(labels, scores.len(), sources[0].path())?;
            labels.check_classes(2)?;
            BinaryData::new(scores.values.clone(), labels.values.iter().map(|&label| label == 1).collect())?
                .into()
        }
        (None, Some(labels), _) => input::binary_data(&scores, labels, kind)?.into(),
        (None, None, _) => unreachable!("labels are read unless observations are counted"),
    };
    let place = labels.map(|labels| labels.place().clone());
    Ok((data.in_codes(encoding).with_groups(groups.transpose()?)?, scores.len(), place))
}

/// Vectors with the class of each.
fn vectors(
    sources: &[Source],
    kind: Option<VectorKind>,
    of: For<'_>,
    columns: ColumnNames<'_>,
) -> Result<Dataset, Error> {
    let labels = |rows, classes| row_labels(sources, columns, rows, classes);
    let stated = || kind.expect("only an artifact tells");
    let codes = match of {
        For::Device(encoding) => encoding.map(|encoding| (encoding, stated())),
        For::Artifact(named) => {
            vectors_encoding(&named.stored.artifact(), kind).map_err(|cause| named.refuse(cause.into()))?
        }
        For::Nobody => None,
    };
    if let Some((encoding, kind)) = codes {
        let codes = read_code_vectors(&sources[0], encoding, kind, columns.score)?;
        let (labels, names) = labels(codes.len(), codes.classes())?;
        return Ok(Dataset::of_codes(codes, labels.values)?.with_class_names(names));
    }
    let vectors = match of {
        For::Artifact(named) => named.matrix(&sources[0], kind, columns.score)?,
        For::Device(_) | For::Nobody => read_vectors(&sources[0], stated(), columns.score)?,
    };
    let (labels, names) = labels(vectors.len(), vectors.classes())?;
    Ok(Dataset::of_vectors(vectors, labels.values)?.with_class_names(names))
}
