//! Reading what is to be assessed.

use std::path::Path;

use calib_core::score::MAX_CLASSES;
use calib_fit::assess::{Prediction, PredictionKind};
use calib_fit::data::{ExactCollector, IN_MEMORY_POINTS};
use calib_fit::job::{AssessOptions, Predictions, codes_of_classes, reads_points};
use calib_fit::{Dataset, ScoreKind, VectorKind};
use calib_io::files::{FileError, Problem};
use calib_io::input::{self, BinaryFiles, Source, Table, counted_probs};

use super::dataset::{For, ScoresAre, dataset};
use super::files::{open_binary, read_all};
use super::rows::{ColumnNames, NamedArtifact, table_labels};
use crate::context::Context;
use crate::error::Error;
use crate::options::AssessedOptions;

/// What is to be read, and for what.
pub(crate) struct Assessed<'a> {
    pub(crate) options: &'a AssessedOptions,
    pub(crate) artifact: Option<&'a NamedArtifact<'a>>,
    /// The column of bin indices in a table of probabilities.
    pub(crate) bin_column: Option<&'a str>,
}

/// What was read.
pub(crate) enum Read {
    Data(Box<Dataset>),
    Predictions(Predictions),
}

impl Assessed<'_> {
    /// Reads the rows, and the SHA-256 of their files if the artifact knows its own by nothing else.
    pub(crate) fn read(&self, how: &AssessOptions, cx: &Context) -> Result<(Read, Option<[u8; 32]>), Error> {
        let needs_hash = self.artifact.is_some_and(|artifact| artifact.stored.sample().is_none());
        let artifact = self.artifact.map(|artifact| artifact.stored.artifact());
        let is_of_points = self.bin_column.is_none() && reads_points(artifact.as_ref(), how);
        if let Some(columns) = self.options.counted.columns() {
            let (data, source) = self.read_counted(columns, how, cx)?;
            return Ok((data.into(), needs_hash.then(|| input::sha256(&[&source]))));
        }
        if is_of_points && let Some(files) = self.files() {
            let data = read_points(&files, artifact.is_some(), cx)?;
            return Ok((data.into(), needs_hash.then(|| sha256(&files))));
        }
        let sources = self.sources(cx)?;
        let read = self.read_rows(&sources)?;
        Ok((read, needs_hash.then(|| input::sha256(&sources.iter().collect::<Vec<_>>()))))
    }

    /// The file of the rows.
    pub(crate) fn path(&self) -> &Path {
        let source = &self.options.source;
        let path = source.probs.as_deref().or(source.scores.as_deref()).or(source.logits.as_deref());
        path.or(source.margins.as_deref()).expect("clap asks for one of the sources")
    }

    fn sources(&self, cx: &Context) -> Result<Vec<Source>, Error> {
        if self.options.source.margins.is_some() && self.artifact.is_none() {
            return Err(usage(
                "margins are not probabilities, and only probabilities can be assessed: name an artifact that accepts \
                 margins, or give what `calib apply` made of them with --probs",
            ));
        }
        let paths: Vec<&Path> = std::iter::once(self.path()).chain(self.options.labels.as_deref()).collect();
        Ok(read_all(&paths, cx)?)
    }

    /// Binary scores that need nothing but their own columns.
    fn files(&self) -> Option<BinaryFiles<'_>> {
        let options = self.options;
        (!self.needs_rows()).then_some(())?;
        Some(BinaryFiles {
            scores: options.source.scores.as_deref()?,
            labels: options.labels.as_deref(),
            score_column: &options.score_column,
            label_column: &options.label_column,
        })
    }

    fn needs_rows(&self) -> bool {
        let options = self.options;
        options.cluster_column.source(options.clusters.as_ref()).is_some()
            || options.group_column.name().is_some()
            || options.class_column.is_some()
    }

    fn read_rows(&self, sources: &[Source]) -> Result<Read, Error> {
        let (source, columns) = (&self.options.source, self.columns());
        let takes_codes =
            self.artifact.is_some_and(|artifact| codes_of_classes(&artifact.stored.artifact()).is_some());
        let names_classes =
            self.options.score_column.contains(',') || self.options.score_column.contains("..");
        let kind = match source {
            _ if source.logits.is_some() => ScoresAre::Vectors(Some(VectorKind::Logits)),
            _ if source.probs.is_none() => ScoresAre::Binary(match source.margins {
                Some(_) => ScoreKind::Margin,
                None => ScoreKind::Probability,
            }),
            _ if takes_codes
                || names_classes
                || input::is_matrix(&sources[0], &self.options.prob_column)? =>
            {
                ScoresAre::Vectors(Some(VectorKind::Probs))
            }
            _ if self.artifact.is_some() => {
                return Err(usage(
                    "an artifact is applied to --scores, --logits or --probs of shape (n, classes), not to a table of \
                     probabilities",
                ));
            }
            _ => return self.read_predictions(sources).map(Read::Predictions),
        };
        self.check_no_table_columns()?;
        let of = self.artifact.map_or(For::Nobody, For::Artifact);
        Ok(dataset(sources, kind, of, columns)?.0.into())
    }

    /// A table of probabilities of predictions.
    fn read_predictions(&self, sources: &[Source]) -> Result<Predictions, Error> {
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
                labels.check_classes(MAX_CLASSES)?;
                classes.check_classes(MAX_CLASSES)?;
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
        let uncalibrated = (probs.len() - rows.len()) as u64;
        if rows.is_empty() {
            return Err(Error::input(probs.place().clone(), Problem::AllUncalibrated));
        }
        let kind = if classes.is_some() { PredictionKind::TopLabel } else { PredictionKind::Binary };
        let groups = self.columns().groups(sources, probs.len())?;
        let groups = groups.map(|groups| groups.part(kept.iter().copied()));
        let clusters = self.columns().clusters(sources, probs.len())?.map(|clusters| clusters.part(kept));
        Ok(Predictions { rows, kind, uncalibrated, clusters, groups })
    }

    /// A table with columns of points and of positives, which is assessed as its rows would be.
    fn read_counted(
        &self,
        (count, positives): (&str, &str),
        how: &AssessOptions,
        cx: &Context,
    ) -> Result<(Dataset, Source), Error> {
        if self.bin_column.is_some() || !reads_points(None, how) {
            return Err(usage(
                "counted rows support no resamples, only bins of equal width, and neither --bin-column nor --top-k: leave these \
                 options out",
            ));
        }
        let (path, column) = self.counted_column()?;
        let source = read_all(&[path], cx)?.remove(0);
        let table = Table::read_only(&source, &[column, count, positives])?;
        if table.is_lone_array() {
            return Err(usage("--count-columns needs a table: a single array has no columns"));
        }
        let scores = table.numbers(column)?;
        let points = counted_probs(&scores, &table.numbers(count)?, &table.numbers(positives)?)?;
        let Some(artifact) = self.artifact.map(|artifact| artifact.stored.artifact()) else {
            return Ok((points.into(), source));
        };
        match reads_points(Some(&artifact), how) {
            true => Ok((points.into(), source)),
            false if artifact.is_randomized() => Err(usage(
                "an artifact with randomized ties draws a number for every row, which counts do not have",
            )),
            false => Err(usage(
                "counted rows are evaluated before and after an artifact that calibrates scores in [0, 1] and does nothing else",
            )),
        }
    }

    /// The table of counts, and its column of scores or probabilities.
    fn counted_column(&self) -> Result<(&Path, &str), Error> {
        let options = self.options;
        if self.needs_rows() {
            return Err(usage("counted rows have no clusters, groups or classes: leave those columns out"));
        }
        match (&options.source.scores, &options.source.probs, self.artifact) {
            (Some(path), _, _) => Ok((path, &options.score_column)),
            (_, Some(path), None) => Ok((path, &options.prob_column)),
            _ => {
                Err(usage("--count-columns goes with a table of --scores, or of --probs without an artifact"))
            }
        }
    }

    fn columns(&self) -> ColumnNames<'_> {
        let options = self.options;
        let clusters = options.cluster_column.source(options.clusters.as_ref());
        let groups = options.group_column.name();
        let (score, label) = (&*options.score_column, &*options.label_column);
        ColumnNames { score, label, clusters, groups, points: None }
    }

    fn check_no_table_columns(&self) -> Result<(), Error> {
        let given =
            [("--class-column", self.options.class_column.as_deref()), ("--bin-column", self.bin_column)];
        match given.iter().find(|(_, column)| column.is_some()) {
            Some((name, _)) => Err(usage(&format!("{name} needs a table of probabilities: --probs"))),
            None => Ok(()),
        }
    }
}

impl From<Dataset> for Read {
    fn from(data: Dataset) -> Self {
        Self::Data(Box::new(data))
    }
}

/// Reads points that may be more than fit into memory, their scores as they are or as the device sees them.
fn read_points(files: &BinaryFiles<'_>, on_device: bool, cx: &Context) -> Result<Dataset, Error> {
    let watch = cx.reading();
    if on_device {
        return Ok(open_binary::<f32>(files, ScoreKind::Probability, (&watch, cx))?.read_all()?.into());
    }
    let mut points = ExactCollector::new(IN_MEMORY_POINTS);
    let mut pieces = open_binary::<f64>(files, ScoreKind::Probability, (&watch, cx))?;
    while let Some(piece) = pieces.read_next()? {
        points.extend(&piece.scores, &piece.labels).map_err(FileError::spill)?;
    }
    Ok(points.finish().map_err(FileError::spill)?.expect("a table has rows").into())
}

/// The SHA-256 of files; of none if one cannot be read again.
fn sha256(files: &BinaryFiles<'_>) -> [u8; 32] {
    let paths: Vec<&Path> = std::iter::once(files.scores).chain(files.labels).collect();
    let sources = Source::read_all(&paths, &|_| ()).unwrap_or_default();
    input::sha256(&sources.iter().collect::<Vec<_>>())
}

fn usage(text: &str) -> Error {
    Error::Usage(text.into())
}
