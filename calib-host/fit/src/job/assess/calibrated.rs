//! The rows of a data set before and after an artifact.

use calib_core::artifact::Reduction;
use calib_core::{Artifact, Calibrator, Outcome, TopLabel};

use super::device_scores::{DeviceScores, binary_encoding, of_kind};
use super::error::AssessError;
use super::mismatch::{codes_of_classes, got_vectors, mismatch};
use crate::apply::{Applied, AppliedRow, Others, Outputs, RandomWords, apply};
use crate::assess::{
    CalibratedRows, ClassProbRows, KeyedRow, OperatingAccuracy, Prediction, PredictionKind, ProbMatrix,
    operating_accuracies,
};
use crate::data::{BinaryData, CodeVectors, RowGroups, ScoreKind, VectorKind, Vectors};
use crate::dataset::{Content, Dataset};
use crate::job::rows::rows;
use crate::stats::Clusters;

/// The rows of a data set that an artifact calibrates.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Calibrated<'d> {
    /// What the artifact calibrates: of several classes the predicted class, or the first of several ranks. `None` if it calibrates
    /// nothing.
    pub rows: Option<CalibratedRows>,
    /// The same rows with all classes, if each has a probability in some row.
    pub class_probs: Option<ClassProbRows>,
    /// The predictions of each rank, if the artifact calibrates several and all of them in some row.
    pub ranks: Option<Ranks>,
    /// The rows as the artifact's operating points see them, if it has some.
    pub(super) keyed: Option<Vec<KeyedRow>>,
    clusters: Option<&'d Clusters>,
}

/// The predictions of each rank, before and after.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Ranks {
    /// What the classifier says.
    pub before: Vec<Vec<Prediction>>,
    /// The calibrated probabilities.
    pub after: Vec<Vec<Prediction>>,
    /// How many rows are left out because a rank is uncalibrated.
    pub uncalibrated: u64,
    /// Which of the others belong together.
    pub clusters: Option<Clusters>,
}

impl<'d> Calibrated<'d> {
    /// Calibrates rows; `seed` draws the random words of a randomized artifact.
    ///
    /// # Errors
    ///
    /// Rows that are not of the artifact's kind or groups, or none that it calibrates; or points that cannot be read from a disk.
    pub fn new(data: &'d Dataset, artifact: &Artifact<'_>, seed: u64) -> Result<Self, AssessError> {
        let clusters = data.clusters();
        let found = match data.content() {
            Content::Points(points) => Self::of_scores(data, points, artifact, seed)?,
            Content::Weighted(_) => return Err(mismatch(artifact, "weighted scores").into()),
            Content::Vectors(vectors, labels) => {
                let applied = of_outputs(artifact, vectors.into(), seed);
                let applied = applied.ok_or_else(|| mismatch(artifact, &got_vectors(artifact, vectors)))?;
                let rows = applied.iter().map(|row| row.first);
                let predicted = match artifact.calibrator() {
                    Calibrator::TopLabelMargin(_) => with_softmax(rows, vectors.top_labels().iter().copied()),
                    _ => rows.collect(),
                };
                Self {
                    rows: Some(predicted_rows(&predicted, labels, clusters)?),
                    class_probs: class_probs(&applied, vectors, labels, clusters),
                    ranks: Ranks::new(&applied, labels, clusters),
                    keyed: None,
                    clusters,
                }
            }
            Content::Codes(codes, labels) => {
                let predicted = predicted_of_codes(artifact, codes)?;
                let rows = Some(predicted_rows(&predicted, labels, clusters)?);
                Self { rows, class_probs: None, ranks: None, keyed: None, clusters }
            }
        };
        match found.is_empty(artifact) {
            true => Err(AssessError::AllUncalibrated),
            false => Ok(found),
        }
    }

    fn of_scores(
        data: &'d Dataset,
        points: &BinaryData,
        artifact: &Artifact<'_>,
        seed: u64,
    ) -> Result<Self, AssessError> {
        let (rows, clusters, groups) = (rows(points)?, data.clusters(), data.groups());
        let labels: Vec<bool> = rows.iter().map(|row| row.1).collect();
        let given = DeviceScores::new(points.kind(), data.encoding(), rows.iter().map(|row| row.0))?;
        let keyed = match artifact.operating_points() {
            Some(_) => Some(given.keyed_rows(artifact, &labels, groups)?),
            None => None,
        };
        if artifact.header().method.has_no_calibrator() && keyed.is_some() {
            return Ok(Self { rows: None, class_probs: None, ranks: None, keyed, clusters });
        }
        match (binary_encoding(artifact, points.kind()), data.encoding()) {
            (None, _) => return Err(mismatch(artifact, of_kind(points.kind())).into()),
            (Some(encoding), Some(_)) if !encoding.is_quantized() => {
                return Err(mismatch(artifact, "integer codes of one score").into());
            }
            _ => {}
        }
        let applied = given.check(artifact, groups)?.applied(artifact, seed)?;
        let rows = binary_rows(&applied, &labels, (points.kind(), clusters, groups));
        Ok(Self { rows: Some(rows), class_probs: None, ranks: None, keyed, clusters })
    }

    /// Whether nothing is left that the artifact's reduction is about.
    fn is_empty(&self, artifact: &Artifact<'_>) -> bool {
        match artifact.header().reduction {
            Reduction::TopKLabel { .. } | Reduction::TopKConfidence { .. } => self.ranks.is_none(),
            _ => self.rows.as_ref().is_some_and(|rows| rows.after.is_empty()),
        }
    }

    /// Returns what the artifact calibrates.
    ///
    /// # Errors
    ///
    /// If it calibrates nothing.
    pub fn predictions(&self, artifact: &Artifact<'_>) -> Result<&CalibratedRows, AssessError> {
        let nothing = || mismatch(artifact, "scores to be calibrated, without groups").into();
        self.rows.as_ref().ok_or_else(nothing)
    }

    /// How accurate the artifact's operating points are; empty if it has none.
    pub fn operating(&self, artifact: &Artifact<'_>, alpha: f64) -> Vec<OperatingAccuracy> {
        let rows = self.keyed.iter();
        rows.flat_map(|rows| operating_accuracies(artifact, rows, alpha, self.clusters)).collect()
    }
}

impl Ranks {
    /// The rows of which every rank is calibrated; `None` if there are none.
    fn new(applied: &[AppliedRow], labels: &[i64], clusters: Option<&Clusters>) -> Option<Self> {
        let (mut before, mut after): (Vec<Vec<Prediction>>, Vec<Vec<Prediction>>) = Default::default();
        let (mut uncalibrated, mut kept) = (0, Vec::new());
        for (number, (row, &label)) in applied.iter().zip(labels).enumerate() {
            let Others::Ranked(_) = row.others else { continue };
            let pairs: Vec<Applied> = row.ranks().copied().collect();
            let hits = pairs.iter().map(|pair| i64::from(pair.class) == label);
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
        (!after.is_empty()).then_some(Self { before, after, uncalibrated, clusters })
    }
}

/// Binary rows without those that have no probability.
fn binary_rows(
    applied: &[Applied],
    labels: &[bool],
    (kind, clusters, groups): (ScoreKind, Option<&Clusters>, Option<&RowGroups>),
) -> CalibratedRows {
    let mut rows = split(applied, labels.iter().copied(), PredictionKind::Binary, clusters);
    let is_kept = |row: &usize| applied[*row].outcome.calibrated().is_some();
    rows.groups = groups.map(|groups| groups.part((0..applied.len()).filter(is_kept)));
    match kind {
        ScoreKind::Probability => rows,
        ScoreKind::Margin => {
            let calibrated = applied.iter().filter(|row| row.outcome.calibrated().is_some());
            rows.of_margins(calibrated.map(|row| row.score).collect())
        }
    }
}

/// What is said of the predicted classes of vectors of codes.
fn predicted_of_codes(artifact: &Artifact<'_>, codes: &CodeVectors) -> Result<Vec<Applied>, AssessError> {
    let Some((_, kind)) = codes_of_classes(artifact) else {
        return Err(mismatch(artifact, "vectors of integer codes").into());
    };
    if kind != codes.kind() {
        return Err(mismatch(
            artifact,
            match codes.kind() {
                VectorKind::Logits => "logits",
                VectorKind::Probs => "probabilities",
            },
        )
        .into());
    }
    let got = || mismatch(artifact, &format!("codes of {} classes", codes.classes()));
    let applied = of_outputs(artifact, codes.into(), 0).ok_or_else(got)?;
    let rows = applied.iter().map(|row| row.first);
    Ok(match kind {
        VectorKind::Probs => rows.collect(),
        VectorKind::Logits => with_softmax(rows, codes.softmax_top_labels()),
    })
}

/// What is said of every row; `None` if the artifact calibrates no such.
fn of_outputs(artifact: &Artifact<'_>, outputs: Outputs<'_>, seed: u64) -> Option<Vec<AppliedRow>> {
    if artifact.header().method.has_no_calibrator() {
        return None;
    }
    apply(artifact, outputs, RandomWords::new(artifact, seed)).collect::<Result<_, _>>().ok()
}

/// The rows with the softmax for a score: a top-two margin is no probability that the calibrated one could be compared with.
fn with_softmax(
    applied: impl Iterator<Item = Applied>,
    tops: impl Iterator<Item = TopLabel>,
) -> Vec<Applied> {
    applied.zip(tops).map(|(row, top)| Applied { score: top.score.get(), ..row }).collect()
}

/// The predicted classes that are calibrated, before and after.
fn predicted_rows(
    applied: &[Applied],
    labels: &[i64],
    clusters: Option<&Clusters>,
) -> Result<CalibratedRows, AssessError> {
    let hits = applied.iter().zip(labels).map(|(row, &label)| i64::from(row.class) == label);
    let rows = split(applied, hits, PredictionKind::TopLabel, clusters);
    if rows.after.is_empty() { Err(AssessError::AllUncalibrated) } else { Ok(rows) }
}

/// The rows of which every class is calibrated, before and after; `None` if there are none.
fn class_probs(
    applied: &[AppliedRow],
    vectors: &Vectors,
    labels: &[i64],
    clusters: Option<&Clusters>,
) -> Option<ClassProbRows> {
    let classes = vectors.classes();
    let (mut probs, mut bins, mut kept, mut before) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    let mut uncalibrated = 0;
    let scores = applied.iter().any(|row| row.classes().is_some()).then(|| vectors.probs_f64())?;
    for ((number, row), scores) in applied.iter().enumerate().zip(scores.chunks_exact(classes)) {
        let Some(row) = row.classes() else { continue };
        let Some(row_probs) = row.probs.iter().copied().collect::<Option<Vec<f32>>>() else {
            uncalibrated += 1;
            continue;
        };
        probs.extend(row_probs.into_iter().map(f64::from));
        let whole: u32 = row.bin.unwrap_or_default().into();
        bins.extend((0..classes).map(|class| match row.outcomes.get(class) {
            Some(Outcome::Calibrated(calibrated)) => calibrated.bin.into(),
            _ => whole,
        }));
        before.extend_from_slice(scores);
        kept.push(number);
    }
    let labels: Vec<u16> = kept.iter().map(|&row| labels[row] as u16).collect();
    let matrix = |probs, labels| ProbMatrix::new(probs, labels, classes).with_bins(bins.clone());
    (!kept.is_empty()).then(|| ClassProbRows {
        before: matrix(before, labels.clone()),
        after: matrix(probs, labels),
        uncalibrated,
        clusters: clusters.map(|clusters| clusters.part(kept)),
    })
}

/// The rows that are calibrated, before and after, in the bins of the artifact.
fn split(
    applied: &[Applied],
    hits: impl Iterator<Item = bool>,
    kind: PredictionKind,
    clusters: Option<&Clusters>,
) -> CalibratedRows {
    let (mut before, mut after) = (Vec::with_capacity(applied.len()), Vec::with_capacity(applied.len()));
    let is_kept = |row: &usize| applied[*row].outcome.calibrated().is_some();
    let clusters = clusters.map(|clusters| clusters.part((0..applied.len()).filter(is_kept)));
    for (row, hit) in applied.iter().zip(hits) {
        let Some(calibrated) = row.outcome.calibrated() else { continue };
        let of =
            |prob: f32| Prediction { class: row.class, prob: prob.into(), bin: calibrated.bin.into(), hit };
        before.push(of(row.score));
        after.push(of(calibrated.prob));
    }
    let uncalibrated = (applied.len() - after.len()) as u64;
    CalibratedRows { before, after, kind, uncalibrated, clusters, groups: None, margins: None }
}
