//! Reading what is to be assessed.

use std::path::Path;

use calib_core::{Outcome, Reduction};
use calib_host::input::{self, Column, Source, Table};
use calib_host::{
    Applied, Error, Prediction, PredictionKind, ProbMatrix, Problem, StoredArtifact, VectorKind,
    apply_scores, apply_vectors,
};

use super::{Assess, BinningName, Subject, check_both_labels};
use crate::cli::options::{labels_beside, read_labels, read_vectors};

impl Assess {
    pub(super) fn read(&self, quiet: bool) -> Result<Subject, Error> {
        let source = &self.source;
        let path = source.probs.as_deref().or(source.scores.as_deref()).or(source.logits.as_deref());
        let path = path.expect("clap asks for one of the sources");
        let paths: Vec<&Path> = std::iter::once(path).chain(self.labels.as_deref()).collect();
        let sources = Source::read_all(&paths, !quiet)?;
        if source.logits.is_some() {
            return self.read_vectors(&sources, VectorKind::Logits);
        }
        if source.probs.is_some() && input::is_matrix(&sources[0], &self.prob_column)? {
            return self.read_vectors(&sources, VectorKind::Probs);
        }
        if source.probs.is_some() {
            if self.artifact.is_some() {
                return Err(Error::Usage(
                    "an artefact is applied to --scores, --logits or --probs of shape (n, classes), not to a table of \
                     probabilities"
                        .into(),
                ));
            }
            return self.read_table(&sources);
        }
        self.read_scores(&sources)
    }

    /// A table of probabilities of predictions.
    fn read_table(&self, sources: &[Source]) -> Result<Subject, Error> {
        let columns = [&self.prob_column, &self.label_column].into_iter().chain(&self.class_column);
        let columns: Vec<_> = columns.chain(&self.bin_column).map(String::as_str).collect();
        let table = Table::read_only(&sources[0], &columns)?;
        let probs = table.optional_numbers(&self.prob_column)?;
        let labels = self.labels_of(sources, &table, probs.len())?;
        let classes = self.class_column.as_deref().map(|name| table.labels(name)).transpose()?;
        match &classes {
            None => labels.check_classes(2)?,
            Some(classes) => {
                labels.check_classes(calib_core::MAX_CLASSES)?;
                classes.check_classes(calib_core::MAX_CLASSES)?;
            }
        }
        let bins = self.bin_column.as_deref().map(|name| table.bins(name)).transpose()?;

        let mut rows = Vec::with_capacity(probs.len());
        for (row, prob) in probs.values.iter().enumerate() {
            let Some(prob) = *prob else { continue };
            if !(0.0..=1.0).contains(&prob) {
                let problem = if prob.is_nan() { Problem::NaN } else { Problem::ProbOutOfRange(prob) };
                return Err(Error::input(probs.at(row), problem));
            }
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
        if kind == PredictionKind::Binary {
            check_both_labels(&rows, labels.place())?;
        }
        Ok(Subject::Predictions { rows, kind, uncalibrated })
    }

    /// Scores of class 1, as they are or before and after an artefact.
    fn read_scores(&self, sources: &[Source]) -> Result<Subject, Error> {
        self.check_no_table_columns()?;
        let table = Table::read_only(&sources[0], &[&self.score_column, &self.label_column])?;
        let scores = table.numbers(&self.score_column)?;
        let labels = self.labels_of(sources, &table, scores.len())?;
        labels.check_classes(2)?;
        // Checks the range, too.
        let device = scores.scores()?;
        let prediction =
            |(&prob, &label): (&f64, &i64)| Prediction { class: 1, prob, bin: 0, hit: label == 1 };
        let rows: Vec<Prediction> = scores.values.iter().zip(&labels.values).map(prediction).collect();
        check_both_labels(&rows, labels.place())?;
        let Some(path) = &self.artifact else {
            return Ok(Subject::Predictions { rows, kind: PredictionKind::Binary, uncalibrated: 0 });
        };
        let stored = StoredArtifact::read(path)?;
        self.check_bins(&stored)?;
        let applied = apply_scores(&stored.artifact(), &device, self.seed)
            .ok_or_else(|| mismatch(&stored, path, "binary scores"))?;
        let hits = rows.iter().map(|row| row.hit);
        Ok(before_after(&applied, hits, PredictionKind::Binary)
            .expect("a binary artefact calibrates every row"))
    }

    /// Vectors, as they are or before and after an artefact.
    fn read_vectors(&self, sources: &[Source], kind: VectorKind) -> Result<Subject, Error> {
        self.check_no_table_columns()?;
        let vectors = read_vectors(&sources[0], kind, &self.score_column)?;
        let Some(labels) = sources.get(1) else {
            return Err(Error::Usage("--labels is needed beside a matrix".into()));
        };
        let labels = read_labels(labels, &self.label_column)?;
        input::check_rows(&labels, vectors.len(), sources[0].path())?;
        labels.check_classes(vectors.classes())?;
        let classes = labels.values.iter().map(|&label| u16::try_from(label).expect("labels were checked"));
        let Some(path) = &self.artifact else {
            let matrix = ProbMatrix::new(vectors.probs_f64(), classes.collect(), vectors.classes());
            return Ok(Subject::Vectors(matrix));
        };
        let stored = StoredArtifact::read(path)?;
        self.check_bins(&stored)?;
        let applied = apply_vectors(&stored.artifact(), &vectors, self.seed)
            .ok_or_else(|| mismatch(&stored, path, &format!("vectors of {} classes", vectors.classes())))?;
        let hits = applied.iter().zip(classes).map(|(row, label)| row.top.class == label);
        before_after(&applied, hits, PredictionKind::TopLabel)
            .ok_or_else(|| Error::input(calib_host::Place::file(sources[0].path()), Problem::AllUncalibrated))
    }

    fn labels_of(&self, sources: &[Source], table: &Table, rows: usize) -> Result<Column<i64>, Error> {
        let labels = match sources.get(1) {
            Some(labels) => read_labels(labels, &self.label_column)?,
            None => labels_beside(table, &self.label_column)?,
        };
        input::check_rows(&labels, rows, sources[0].path())?;
        Ok(labels)
    }

    fn check_no_table_columns(&self) -> Result<(), Error> {
        let given = [("--class-column", &self.class_column), ("--bin-column", &self.bin_column)];
        match given.iter().find(|(_, column)| column.is_some()) {
            Some((name, _)) => Err(Error::Usage(format!("{name} needs a table of probabilities: --probs"))),
            None => Ok(()),
        }
    }

    /// An artefact without bins cannot be grouped by them.
    fn check_bins(&self, stored: &StoredArtifact) -> Result<(), Error> {
        if self.binning == BinningName::ByBin && stored.artifact().header().bins == 0 {
            return Err(Error::Usage(
                "--binning by-bin needs an artefact that has bins: this one is a function".into(),
            ));
        }
        Ok(())
    }
}

/// The rows that are calibrated, before and after, in the bins of the artefact; `None` if there are none.
fn before_after(
    applied: &[Applied],
    hits: impl Iterator<Item = bool>,
    kind: PredictionKind,
) -> Option<Subject> {
    let (mut before, mut after) = (Vec::with_capacity(applied.len()), Vec::with_capacity(applied.len()));
    for (row, hit) in applied.iter().zip(hits) {
        let Outcome::Calibrated(calibrated) = row.outcome else { continue };
        let of = |prob: f32| Prediction {
            class: row.top.class,
            prob: prob.into(),
            bin: calibrated.bin.into(),
            hit,
        };
        before.push(of(row.top.score.get()));
        after.push(of(calibrated.prob));
    }
    let uncalibrated = applied.len() - after.len();
    (!after.is_empty()).then_some(Subject::BeforeAfter { before, after, kind, uncalibrated })
}

fn mismatch(stored: &StoredArtifact, path: &Path, got: &str) -> Error {
    let artifact = stored.artifact();
    let header = artifact.header();
    let expects = match header.reduction {
        Reduction::Binary => "binary scores: use --scores".to_owned(),
        _ => format!("vectors of {} classes: use --logits or --probs", header.classes),
    };
    Error::Mismatch(format!(
        "the artefact does not fit the scores\n  artefact  {}: takes {expects}\n  scores    {got}",
        path.display()
    ))
}
