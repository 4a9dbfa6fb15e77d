//! Reading what is to be assessed.

use std::borrow::Cow;
use std::path::Path;

use calib_core::Calibrator;
use calib_core::artifact::Reduction;
use calib_fit::apply::AppliedVector;
use calib_fit::assess::{Prediction, PredictionKind, ProbMatrix, RowGroups};
use calib_fit::data::RowsHash;
use calib_fit::stats::Clusters;
use calib_fit::{ScoreKind, StoredArtifact, VectorKind};
use calib_io::files::{Place, Problem};
use calib_io::input::{self, Source, Table};
use calib_io::report::{CalibratedRows, ClassProbRows, SAME_ROWS};

use super::class_labels::matrix_labels;
use super::columns::{question_kind, read_vectors};
use super::files::read_all;
use super::operating::OperatingRows;
use super::rows::{
    ColumnNames, NamedArtifact, ScoreColumns, every_class, score_columns, split, table_labels, wide,
};
use crate::context::Context;
use crate::error::Error;
use crate::options::AssessedOptions;

/// What is to be read, and for what.
pub(crate) struct Assessed<'a> {
    pub(crate) options: &'a AssessedOptions,
    /// The column of bin indices in a table of probabilities.
    pub(crate) bin_column: Option<&'a str>,
    /// Whether an artefact's bins are to be told apart.
    pub(crate) by_bin: bool,
    /// The seed of the random words that an artefact may need.
    pub(crate) seed: u64,
    /// Where warnings go.
    pub(crate) cx: &'a Context,
}

/// What was read.
pub(crate) enum Subject {
    /// Predictions, and how many rows were left out because they are uncalibrated.
    Predictions {
        rows: Vec<Prediction>,
        kind: PredictionKind,
        uncalibrated: u64,
        clusters: Option<Clusters>,
        groups: Option<RowGroups>,
    },
    /// The same rows before and after an artefact.
    BeforeAfter(CalibratedRows, StoredArtifact, Option<OperatingRows>),
    /// Scores for an artefact that holds operating points alone.
    Operating(OperatingRows, StoredArtifact),
    /// Vectors of probabilities.
    Vectors(ProbMatrix, Option<Clusters>),
    /// The same vectors before and after an artefact that gives every class a probability.
    ClassProbs { predicted: CalibratedRows, all: ClassProbRows, stored: StoredArtifact },
    /// The predictions of each rank before and after an artefact that calibrates several.
    Ranks {
        before: Vec<Vec<Prediction>>,
        after: Vec<Vec<Prediction>>,
        uncalibrated: u64,
        clusters: Option<Clusters>,
    },
}

impl Subject {
    /// Which rows belong together.
    pub(crate) fn clusters(&self) -> Option<&Clusters> {
        match self {
            Self::Predictions { clusters, .. }
            | Self::Vectors(_, clusters)
            | Self::Ranks { clusters, .. } => clusters.as_ref(),
            Self::BeforeAfter(rows, ..) => rows.clusters.as_ref(),
            Self::Operating(rows, _) => rows.clusters.as_ref(),
            Self::ClassProbs { all, .. } => all.clusters.as_ref(),
        }
    }

    /// What the classifier itself predicts first.
    pub(crate) fn first_predictions(&self) -> Cow<'_, [Prediction]> {
        match self {
            Self::Predictions { rows, .. } => Cow::Borrowed(rows),
            Self::BeforeAfter(rows, ..) => Cow::Borrowed(&rows.before),
            Self::Operating(..) => Cow::Borrowed(&[]),
            Self::Vectors(matrix, _) => Cow::Owned(matrix.top_label()),
            Self::ClassProbs { all, .. } => Cow::Owned(all.before.top_label()),
            Self::Ranks { before, .. } => Cow::Borrowed(&before[0]),
        }
    }
}

/// What was read, and what is doubtful about it.
type Read = (Subject, Option<String>);

impl Assessed<'_> {
    /// Reads the files.
    pub(crate) fn sources(&self) -> Result<Vec<Source>, Error> {
        let source = &self.options.source;
        if source.margins.is_some() && self.options.artifact.is_none() {
            return Err(Error::Usage(
                "margins are no probabilities, of which alone it can be said how good they are: name an artefact that takes \
                 margins, or give what `calib apply` made of them with --probs"
                    .into(),
            ));
        }
        let path = source.probs.as_deref().or(source.scores.as_deref()).or(source.logits.as_deref());
        let path = path.or(source.margins.as_deref());
        let path = path.expect("clap asks for one of the sources");
        let paths: Vec<&Path> = std::iter::once(path).chain(self.options.labels.as_deref()).collect();
        Ok(read_all(&paths, self.cx)?)
    }

    pub(crate) fn read(&self, sources: &[Source]) -> Result<Read, Error> {
        let source = &self.options.source;
        let artifact =
            self.options.artifact.as_ref().map(|path| NamedArtifact::read(path, self.seed)).transpose()?;
        let artifact = artifact.as_ref();
        let of_classes = artifact.filter(|artifact| artifact.takes_codes_of_classes());
        if source.logits.is_some() {
            return self.read_vectors(sources, VectorKind::Logits, artifact);
        }
        let names_classes =
            self.options.score_column.contains(',') || self.options.score_column.contains("..");
        if source.probs.is_some()
            && (of_classes.is_some()
                || names_classes
                || input::is_matrix(&sources[0], &self.options.prob_column)?)
        {
            return self.read_vectors(sources, VectorKind::Probs, artifact);
        }
        if source.probs.is_some() {
            if artifact.is_some() {
                return Err(Error::Usage(
                    "an artefact is applied to --scores, --logits or --probs of shape (n, classes), not to a table of \
                     probabilities"
                        .into(),
                ));
            }
            return Ok((self.read_table(sources)?, None));
        }
        self.read_scores(sources, artifact)
    }

    /// A table of probabilities of predictions.
    fn read_table(&self, sources: &[Source]) -> Result<Subject, Error> {
        let columns = [&self.options.prob_column, &self.options.label_column]
            .into_iter()
            .chain(&self.options.class_column);
        let columns: Vec<_> = columns.map(String::as_str).chain(self.bin_column).collect();
        let table = Table::read_only(&sources[0], &columns)?;
        let probs = table.optional_numbers(&self.options.prob_column)?;
        let labels = table_labels(sources, &table, &self.options.label_column, probs.len())?;
        let classes = self.options.class_column.as_deref().map(|name| table.classes(name)).transpose()?;
        match &classes {
            None => labels.check_classes(2)?,
            Some(classes) => {
                labels.check_classes(calib_core::score::MAX_CLASSES)?;
                classes.check_classes(calib_core::score::MAX_CLASSES)?;
            }
        }
        let bins = self.bin_column.map(|name| table.bins(name)).transpose()?;

        let (mut rows, mut kept) = (Vec::with_capacity(probs.len()), Vec::with_capacity(probs.len()));
        for (row, prob) in probs.values.iter().enumerate() {
            let Some(prob) = *prob else { continue };
            if !(0.0..=1.0).contains(&prob) {
                let problem = if prob.is_nan() { Problem::NaN } else { Problem::ProbOutOfRange(prob) };
                return Err(Error::input(probs.at(row), problem));
            }
            kept.push(row);
            let class = classes.as_ref().map_or(1, |classes| classes.values[row]);
            rows.push(Prediction {
                class: u16::try_from(class).expect("classes were checked"),
                prob,
                bin: bins.as_ref().map_or(0, |bins| bins.values[row]),
                hit: labels.values[row] == class,
            });
        }
        let uncalibrated = probs.len() - rows.len();
        if rows.is_empty() {
            return Err(Error::input(probs.place().clone(), Problem::AllUncalibrated));
        }
        let kind = if classes.is_some() { PredictionKind::TopLabel } else { PredictionKind::Binary };
        let groups = self.columns().groups(sources, probs.len())?;
        let groups = groups.map(|groups| groups.part(kept.iter().copied()));
        let clusters = self.clusters(sources, probs.len())?.map(|clusters| clusters.part(kept));
        Ok(Subject::Predictions { rows, kind, uncalibrated: uncalibrated as u64, clusters, groups })
    }

    /// Scores of class 1, as they are or before and after an artefact.
    fn read_scores(&self, sources: &[Source], artifact: Option<&NamedArtifact<'_>>) -> Result<Read, Error> {
        self.check_no_table_columns()?;
        if let Some(artifact) = artifact {
            self.check_bins(&artifact.stored)?;
            let kind = if self.options.source.margins.is_some() {
                ScoreKind::Margin
            } else {
                ScoreKind::Probability
            };
            if let Calibrator::None = artifact.stored.artifact().calibrator()
                && let Some(rows) = artifact.operating_rows(sources, self.columns(), kind)?
            {
                self.check_rows(artifact, rows.hash, sources)?;
                return Ok((Subject::Operating(rows, artifact.stored.clone()), None));
            }
            let read = artifact.scores(sources, self.columns(), kind)?;
            self.check_rows(artifact, read.hash, sources)?;
            let operating = artifact.operating_rows(sources, self.columns(), kind)?;
            return Ok((Subject::BeforeAfter(read.rows, artifact.stored.clone(), operating), read.doubt));
        }
        let ScoreColumns { scores, labels, clusters, groups } = score_columns(sources, self.columns())?;
        // Checks the range, too.
        scores.scores()?;
        let prediction =
            |(&prob, &label): (&f64, &i64)| Prediction { class: 1, prob, bin: 0, hit: label == 1 };
        let rows: Vec<Prediction> = scores.values.iter().zip(&labels.values).map(prediction).collect();
        let kind = PredictionKind::Binary;
        Ok((Subject::Predictions { rows, kind, uncalibrated: 0, clusters, groups }, None))
    }

    /// Vectors, as they are or before and after an artefact.
    fn read_vectors(
        &self,
        sources: &[Source],
        kind: VectorKind,
        artifact: Option<&NamedArtifact<'_>>,
    ) -> Result<Read, Error> {
        self.check_no_table_columns()?;
        self.columns().check_no_groups()?;
        if let Some(artifact) = artifact {
            self.check_bins(&artifact.stored)?;
            let reduction = artifact.stored.artifact().header().reduction;
            if matches!(reduction, Reduction::TopLabel | Reduction::Confidence) {
                let read = artifact.vectors(sources, Some(kind), self.columns())?;
                self.check_rows(artifact, read.hash, sources)?;
                return Ok((Subject::BeforeAfter(read.rows, artifact.stored.clone(), None), read.doubt));
            }
        }
        let vectors = read_vectors(&sources[0], kind, &self.options.score_column)?;
        let doubt = question_kind(&sources[0], &vectors);
        let labels = matrix_labels(sources, self.columns().into(), vectors.len(), vectors.classes())?;
        let clusters = self.clusters(sources, vectors.len())?;
        let Some(artifact) = artifact else {
            let matrix = ProbMatrix::new(vectors.probs_f64(), labels, vectors.classes());
            return Ok((Subject::Vectors(matrix, clusters), doubt));
        };
        self.check_rows(artifact, vectors.rows_hash(&wide(&labels)), sources)?;
        let clusters = clusters.as_ref();
        let applied = artifact.apply(&vectors)?;
        let subject = match artifact.stored.artifact().header().reduction {
            Reduction::TopKLabel { .. } | Reduction::TopKConfidence { .. } => {
                ranks(applied, &labels, clusters)
            }
            _ => {
                let (predicted, all) =
                    every_class(applied, (&vectors, sources[0].path()), &labels, clusters)?;
                all.map(|all| Subject::ClassProbs { predicted, all, stored: artifact.stored.clone() })
            }
        };
        let nothing = || Error::input(Place::file(sources[0].path()), Problem::AllUncalibrated);
        Ok((subject.ok_or_else(nothing)?, doubt))
    }

    /// Refuses the rows that the artefact was fitted to, or warns of them.
    fn check_rows(
        &self,
        artifact: &NamedArtifact<'_>,
        rows: RowsHash,
        sources: &[Source],
    ) -> Result<(), Error> {
        let same = artifact.is_fitted_to(rows, sources);
        self.options.same_rows.allow(same, sources[0].path(), "the artefact was")?;
        Ok(self.cx.warn(same.then_some(SAME_ROWS).as_slice())?)
    }

    fn columns(&self) -> ColumnNames<'_> {
        let options = self.options;
        let clusters = options.cluster_column.source(options.clusters.as_ref());
        let groups = options.group_column.name();
        ColumnNames { score: &options.score_column, label: &options.label_column, clusters, groups }
    }

    /// Which of so many rows belong together.
    fn clusters(&self, sources: &[Source], rows: usize) -> Result<Option<Clusters>, Error> {
        self.columns().clusters(sources, rows)
    }

    fn check_no_table_columns(&self) -> Result<(), Error> {
        let given =
            [("--class-column", self.options.class_column.as_deref()), ("--bin-column", self.bin_column)];
        match given.iter().find(|(_, column)| column.is_some()) {
            Some((name, _)) => Err(Error::Usage(format!("{name} needs a table of probabilities: --probs"))),
            None => Ok(()),
        }
    }

    /// An artefact without bins cannot be grouped by them.
    fn check_bins(&self, stored: &StoredArtifact) -> Result<(), Error> {
        if self.by_bin && stored.artifact().header().bins == 0 {
            return Err(Error::Usage(
                "--binning by-bin needs an artefact that has bins: this one is a function".into(),
            ));
        }
        Ok(())
    }
}

/// The rows of which every rank is calibrated, before and after; `None` if there are none.
pub(crate) fn ranks(
    applied: impl Iterator<Item = AppliedVector>,
    labels: &[u16],
    clusters: Option<&Clusters>,
) -> Option<Subject> {
    let (mut before, mut after): (Vec<Vec<Prediction>>, Vec<Vec<Prediction>>) = Default::default();
    let (mut uncalibrated, mut kept) = (0, Vec::new());
    for (number, (row, &label)) in applied.zip(labels).enumerate() {
        let AppliedVector::TopK(pairs) = row else { continue };
        let hits = pairs.iter().map(|pair| pair.class == label);
        let rows = split(&pairs, hits, PredictionKind::TopLabel, None);
        if rows.uncalibrated > 0 {
            uncalibrated += 1;
            continue;
        }
        kept.push(number);
        before.resize_with(pairs.len(), Vec::new);
        after.resize_with(pairs.len(), Vec::new);
        before.iter_mut().zip(rows.before).for_each(|(rank, prediction)| rank.push(prediction));
        after.iter_mut().zip(rows.after).for_each(|(rank, prediction)| rank.push(prediction));
    }
    let clusters = clusters.map(|clusters| clusters.part(kept));
    (!after.is_empty()).then_some(Subject::Ranks { before, after, uncalibrated, clusters })
}
