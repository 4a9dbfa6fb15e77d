//! What methods are compared on: fits to some of the points, losses of others.

use std::fmt::Debug;

use calib_core::artifact::Reduction;
use calib_core::predict::Mismatch;
use calib_core::{Margin, Outcome, Score};

use crate::apply::{Applied, RandomWords, apply, calibrate};
use crate::artifact::{CallInput, StoredArtifact};
use crate::assess::ProperScore;
use crate::binary::BinaryMethod;
use crate::data::{DataError, RowsDigest, ScoreKind, VectorKind, Vectors, check_labels, check_score};
use crate::joint::JointMethod;
use crate::names::names;
use crate::reduction::ReductionOptions;
use crate::stats::{Clusters, Seed, Units};

/// A method with its parameters.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Contender {
    /// For scores of class 1.
    Binary(BinaryMethod),
    /// For vectors, class by class or rank by rank.
    Reduced(Reduction, ReductionOptions),
    /// For logits, of the predicted class: its score is its top-two margin.
    ReducedByLead(Reduction, ReductionOptions),
    /// For vectors as a whole.
    Joint(JointMethod),
}

impl Contender {
    /// Whether something may be guaranteed of a fit, whatever the labels.
    pub(super) fn may_guarantee(&self) -> bool {
        match self {
            Self::Binary(method) => method.may_guarantee(),
            Self::Reduced(Reduction::Normalized, _) | Self::Joint(_) => false,
            Self::Reduced(_, options) | Self::ReducedByLead(_, options) => options.method.may_guarantee(),
        }
    }
}

/// Which probabilities of a vector count.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Claim {
    /// The probability of the predicted class, for the prediction being right.
    TopLabel,
    /// The probabilities of all classes. The log-loss is taken at the true class, the Brier score is the sum over classes.
    AllClasses,
}

names!(Claim, "claim":
    AllClasses "all-classes" "Those of all classes",
    TopLabel "top-label" "That of the predicted class, for the prediction being right",
);

/// Points to compare methods on, in a separate order, and which of them are judged, drawn and dealt out together.
#[derive(Clone, Debug, PartialEq)]
pub struct CompareData {
    pub(super) points: Points,
    pub(super) units: Units,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Points {
    Binary(ScoreKind, Vec<(f32, bool)>),
    Vectors { vectors: Vectors, labels: Vec<i64>, claim: Claim },
}

impl CompareData {
    /// Scores of class 1, rounded to f32 as the device has them, and labels. Whole `clusters` are dealt out and resampled, and
    /// methods are fitted to one point of each.
    ///
    /// # Panics
    ///
    /// If a score is not in `[0, 1]`, or the clusters are of another number of points.
    pub fn binary(points: impl IntoIterator<Item = (f64, bool)>, clusters: Option<&Clusters>) -> Self {
        Self::binary_of(ScoreKind::Probability, points, clusters)
    }

    /// As [`CompareData::binary`], for scores of this kind. Margins are no probabilities: what stands for them where they are to be
    /// judged as they are is the share of label 1 among the points.
    ///
    /// # Panics
    ///
    /// If a value is no score of this kind, or the clusters are of another number of points.
    pub fn binary_of(
        kind: ScoreKind,
        points: impl IntoIterator<Item = (f64, bool)>,
        clusters: Option<&Clusters>,
    ) -> Self {
        let point = |(score, label): (f64, bool)| {
            check_score(kind, score).expect("every value is a score");
            (score as f32 + 0.0, label)
        };
        let points: Vec<_> = points.into_iter().map(point).collect();
        let compare =
            |a: usize, b: usize| points[a].0.total_cmp(&points[b].0).then(points[a].1.cmp(&points[b].1));
        let mut order: Vec<usize> = (0..points.len()).collect();
        order.sort_unstable_by(|&a, &b| compare(a, b));
        let units = Units::new(clusters, &mut order, |a, b| compare(a, b).is_eq());
        Self { points: Points::Binary(kind, order.into_iter().map(|i| points[i]).collect()), units }
    }

    /// Vectors and their true classes; `clusters` as for [`CompareData::binary`].
    ///
    /// # Errors
    ///
    /// Different numbers of rows, or a label that is no class.
    ///
    /// # Panics
    ///
    /// If the clusters are of another number of rows.
    pub fn vectors(
        vectors: &Vectors,
        labels: &[i64],
        claim: Claim,
        clusters: Option<&Clusters>,
    ) -> Result<Self, DataError> {
        check_labels(labels, vectors.len(), vectors.classes())?;
        let compare = |a: usize, b: usize| vectors.compare(a, b).then(labels[a].cmp(&labels[b]));
        let mut order: Vec<usize> = (0..labels.len()).collect();
        order.sort_unstable_by(|&a, &b| compare(a, b));
        let units = Units::new(clusters, &mut order, |a, b| compare(a, b).is_eq());
        let labels = order.iter().map(|&row| labels[row]).collect();
        Ok(Self { points: Points::Vectors { vectors: vectors.part(&order), labels, claim }, units })
    }

    /// How many rows have the rarer outcome: the rarer label, or of a predicted class the rarer of right and wrong; `None` if all classes
    /// count.
    pub(super) fn fewer_events(&self) -> Option<u64> {
        let hits = match &self.points {
            Points::Binary(_, points) => points.iter().filter(|(_, label)| *label).count(),
            Points::Vectors { vectors, labels, claim: Claim::TopLabel } => {
                let rows = vectors.top_labels().iter().zip(labels);
                rows.filter(|(top, label)| i64::from(top.class) == **label).count()
            }
            Points::Vectors { .. } => return None,
        };
        Some(hits.min(self.len() - hits) as u64)
    }

    /// The digest of the rows: equal for the same rows in any order.
    pub fn rows_digest(&self) -> RowsDigest {
        match &self.points {
            Points::Binary(_, points) => {
                RowsDigest::of_scores(points.iter().map(|&(score, label)| (score, label, 1)))
            }
            Points::Vectors { vectors, labels, .. } => vectors.rows_digest(labels),
        }
    }

    /// The number of points.
    pub fn len(&self) -> usize {
        match &self.points {
            Points::Binary(_, points) => points.len(),
            Points::Vectors { labels, .. } => labels.len(),
        }
    }

    /// Whether there are no points.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The number of points or, if there are clusters, of these.
    pub fn units(&self) -> usize {
        self.units.count()
    }

    /// Whether points belong together in clusters.
    pub fn has_clusters(&self) -> bool {
        !self.units.are_rows()
    }

    /// Which probabilities count, of vectors.
    pub(super) fn claim(&self) -> Option<Claim> {
        match self.points {
            Points::Binary(..) => None,
            Points::Vectors { claim, .. } => Some(claim),
        }
    }

    /// How many classes there are: 2 of binary scores.
    pub(super) fn classes(&self) -> usize {
        match &self.points {
            Points::Binary(..) => 2,
            Points::Vectors { vectors, .. } => vectors.classes(),
        }
    }

    /// What a device is given.
    pub(super) fn input(&self) -> CallInput {
        match &self.points {
            Points::Binary(..) => CallInput::Score,
            Points::Vectors { vectors, .. } => match vectors.kind() {
                VectorKind::Logits => CallInput::Logits,
                VectorKind::Probs => CallInput::Probs,
            },
        }
    }

    /// The points with these indices, which ascend.
    pub(super) fn part(&self, some: &[usize]) -> Self {
        let points = match &self.points {
            Points::Binary(kind, points) => Points::Binary(*kind, some.iter().map(|&i| points[i]).collect()),
            Points::Vectors { vectors, labels, claim } => Points::Vectors {
                vectors: vectors.part(some),
                labels: some.iter().map(|&i| labels[i]).collect(),
                claim: *claim,
            },
        };
        Self { points, units: self.units.part(some) }
    }

    /// For every unit the label that is the rarest of all those in it, so that dealing units out by it spreads rare labels.
    pub(super) fn strata(&self) -> Vec<usize> {
        let labels: Vec<usize> = match &self.points {
            Points::Binary(_, points) => points.iter().map(|point| point.1.into()).collect(),
            Points::Vectors { labels, .. } => labels.iter().map(|&label| label as usize).collect(),
        };
        let mut counts = vec![0u64; 1 + labels.iter().max().copied().unwrap_or(0)];
        labels.iter().for_each(|&label| counts[label] += 1);
        let mut strata = vec![None; self.units.count()];
        for (place, label) in labels.into_iter().enumerate() {
            let rarest = &mut strata[self.units.of(place)];
            let both = rarest.iter().copied().chain([label]);
            *rarest = both.min_by_key(|&label| (counts[label], label));
        }
        strata.into_iter().map(|label| label.expect("every unit has an observation")).collect()
    }

    /// One point of each unit, each a separate unit; `None` if these are such.
    pub(super) fn one_each(&self, seed: Seed) -> Option<Self> {
        if self.units.are_rows() {
            return None;
        }
        let one_each = self.part(&self.units.one_each(seed));
        Some(Self { units: Units::rows(one_each.len()), ..one_each })
    }

    /// The loss of every point as it is.
    pub(super) fn losses_as_they_are(&self, score: ProperScore) -> Vec<f64> {
        match &self.points {
            Points::Binary(kind, points) => {
                let own = own_prob(*kind, points);
                points.iter().map(|&(s, label)| score.loss(own(s), label)).collect()
            }
            Points::Vectors { vectors, labels, claim } => vectors
                .vectors()
                .zip(labels)
                .map(|(vector, &label)| match claim {
                    Claim::TopLabel => {
                        let top = vector.top_label();
                        score.loss(top.score.get().into(), i64::from(top.class) == label)
                    }
                    Claim::AllClasses => {
                        vector_loss(score, vector.scores().map(|score| f64::from(score.get())), label)
                    }
                })
                .collect(),
        }
    }

    /// The loss of every point after an artifact. What that leaves uncalibrated keeps its score.
    pub(super) fn losses(
        &self,
        stored: &StoredArtifact,
        score: ProperScore,
        seed: Seed,
    ) -> Result<Vec<f64>, String> {
        let artifact = stored.artifact();
        let words = RandomWords::new(&artifact, seed);
        let unfit = |_: Mismatch| "the artifact does not fit the observations".to_owned();
        let prob = |outcome: &Outcome, uncalibrated: f64| match outcome {
            Outcome::Calibrated(calibrated) => f64::from(calibrated.prob),
            _ => uncalibrated,
        };
        match &self.points {
            Points::Binary(kind, points) => {
                let scores = points.iter().map(|point| point.0);
                let (probs, margins): (Vec<Score>, Vec<Margin>);
                let outputs = match kind {
                    ScoreKind::Probability => {
                        probs = checked(scores);
                        probs[..].into()
                    }
                    ScoreKind::Margin => {
                        margins = checked(scores);
                        margins[..].into()
                    }
                };
                let own = own_prob(*kind, points);
                let applied = calibrate(&artifact, outputs, words).map_err(unfit)?;
                let loss = |(row, &(s, label)): (&Applied, &(f32, bool))| {
                    score.loss(prob(&row.outcome, own(s)), label)
                };
                Ok(applied.iter().zip(points).map(loss).collect())
            }
            Points::Vectors { vectors, labels, claim } => {
                let applied = apply(&artifact, vectors.into(), words);
                let rows = applied.zip(vectors.vectors()).zip(labels);
                rows.map(|((row, vector), &label)| {
                    let row = row.map_err(unfit)?;
                    if *claim == Claim::AllClasses {
                        let classes = row.classes().ok_or("it gives no probability for every class")?;
                        let own = vector.scores().map(|score| f64::from(score.get()));
                        let probs = classes.probs.iter().zip(own);
                        let probs = probs.map(|(prob, own)| prob.map_or(own, f64::from));
                        return Ok(vector_loss(score, probs, label));
                    }
                    // Its own score may be a top-two margin, which is no probability.
                    let (first, own) = (row.first, vector.top_label().score.get());
                    Ok(score.loss(prob(&first.outcome, own.into()), i64::from(first.class) == label))
                })
                .collect()
            }
        }
    }
}

/// Scores that were checked before.
fn checked<S: TryFrom<f32, Error: Debug>>(scores: impl Iterator<Item = f32>) -> Vec<S> {
    scores.map(|score| score.try_into().expect("scores were checked")).collect()
}

/// The probabilities that scores are, or else the share of label 1 among the points.
fn own_prob(kind: ScoreKind, points: &[(f32, bool)]) -> impl Fn(f32) -> f64 {
    let share = points.iter().filter(|point| point.1).count() as f64 / points.len() as f64;
    move |score| match kind {
        ScoreKind::Probability => score.into(),
        ScoreKind::Margin => share,
    }
}

/// The loss of a vector of probabilities.
fn vector_loss(score: ProperScore, probs: impl Iterator<Item = f64>, label: i64) -> f64 {
    let classes = (0i64..).zip(probs);
    match score {
        ProperScore::Brier => classes.map(|(class, prob)| score.loss(prob, class == label)).sum(),
        ProperScore::LogLoss => {
            classes.filter(|&(class, _)| class == label).map(|(_, prob)| score.loss(prob, true)).sum()
        }
    }
}
