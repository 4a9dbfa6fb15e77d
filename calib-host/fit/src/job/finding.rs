//! What speaks against a calibrator or an assessment, in sentences.

use std::fmt;

use crate::assess::{Evidence, Flaw, Prediction, evidence_of_fit};
use crate::binary::Gain;
use crate::data::{BinaryData, Overlap, Repeats, ScoreKind, VectorKind, Vectors};
use crate::dataset::{Content, Dataset};
use crate::error::FitError;
use crate::options_error::OptionsError;
use crate::stats::Clusters;

/// What is doubtful about rows, or what they say against a calibrator.
///
/// Displayed it is a sentence with the names of the library; [`Finding::with_names`] gives it other ones.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Finding {
    /// The rows, or some of them, are those that the artifact was fitted to.
    SameRows(Overlap),
    /// Margins could be probabilities.
    RawScoresInUnitInterval,
    /// Logits look like probabilities.
    LogitsSumToOne,
    /// Logits look like probabilities of each class by itself.
    LogitsInUnitInterval,
    /// The score of every row is its label.
    ScoresAreLabels,
    /// Every score is 0 or 1, as the class that was predicted is.
    ScoresAreClasses,
    /// Margins lie so far from 0 that 32-bit floats tell few of them apart.
    CoarseFloats {
        /// How far apart the floats are there.
        step: f64,
        /// The lowest and the highest margin.
        ends: [f64; 2],
    },
    /// In some groups all rows have one label.
    GroupsOfOneLabel {
        /// How many groups.
        groups: usize,
        /// The name of the first of them, and its label.
        first: (String, u8),
    },
    /// All rows of several classes are of this one.
    OneClass(i64),
    /// The rows do not look independent.
    Dependence(Repeats),
    /// The rows speak against the artifact.
    Evidence(Evidence),
    /// The mean of the calibrated probabilities lies outside of the exact interval in some ranges of the score.
    ValuesOutside {
        /// In how many ranges.
        outside: usize,
        /// How many ranges there are.
        ranges: usize,
    },
    /// The blend is worse than the unchanged scores, beyond what chance explains.
    Loss(Gain),
    /// There is no band, because the event rate does not rise with the score.
    NoBand(FitError),
    /// What the artifact shows against itself.
    Flaw(Flaw),
}

impl Finding {
    /// Looks whether scores of any size could be probabilities.
    pub fn of_scores(data: &Dataset) -> Option<Self> {
        match data.content() {
            Content::Points(points) if points.kind() == ScoreKind::Margin && data.encoding().is_none() => {
                let could_be_prob = |(score, ..): (f64, u64, u64)| (0.0..=1.0).contains(&score);
                points.rows()?.all(could_be_prob).then_some(Self::RawScoresInUnitInterval)
            }
            Content::Vectors(vectors, _) => KindGuess::of_no_rows().and(vectors).finding(),
            _ => None,
        }
    }

    /// Looks whether scores are labels, or classes that were predicted.
    pub fn of_classes_as_scores(data: &Dataset) -> Option<Self> {
        match data.content() {
            Content::Points(points)
                if points.kind() == ScoreKind::Probability && data.encoding().is_none() =>
            {
                points.classes_as_scores().map(Self::of_classes)
            }
            Content::Vectors(vectors, labels) if vectors.kind() == VectorKind::Probs => {
                let are_classes = vectors.rows().all(|row| row.iter().all(|prob| [0.0, 1.0].contains(prob)));
                let are_labels = || {
                    vectors.top_labels().iter().zip(labels).all(|(top, label)| i64::from(top.class) == *label)
                };
                are_classes.then(|| Self::of_classes(are_labels()))
            }
            _ => None,
        }
    }

    /// Looks whether groups have one label each, where all rows together have both.
    pub(crate) fn of_groups(data: &Dataset) -> Option<Self> {
        let (Content::Points(points), Some(groups)) = (data.content(), data.groups()) else { return None };
        let mut counts = vec![(0, 0); groups.names().len()];
        for (row, (_, n, positives)) in points.rows()?.enumerate() {
            let (of_group, of_label_1) = &mut counts[groups.of(row)];
            (*of_group, *of_label_1) = (*of_group + n, *of_label_1 + positives);
        }
        let label_of = |&(n, positives): &(u64, u64)| match positives {
            0 => Some(0),
            all if all == n => Some(1),
            _ => None,
        };
        let labels: Vec<Option<u8>> = counts.iter().map(label_of).collect();
        let (at, label) =
            labels.iter().enumerate().find_map(|(group, label)| label.map(|label| (group, label)))?;
        let groups_of_one = labels.iter().flatten().count();
        let has_both = labels.iter().any(|&of_group| of_group != Some(label));
        let first = (groups.names()[at].clone(), label);
        has_both.then_some(Self::GroupsOfOneLabel { groups: groups_of_one, first })
    }

    /// Looks whether 32-bit floats tell the margins apart.
    pub(crate) fn of_floats(data: &Dataset) -> Option<Self> {
        if data.score_kind() != Some(ScoreKind::Margin) || data.encoding().is_some() {
            return None;
        }
        // Only points on a disk could fail to be read.
        let score_summary = data.score_summary().ok().flatten()?;
        let (lowest, highest) = (score_summary.lowest, score_summary.highest);
        let power_of_two = f32::from_bits((lowest.abs().max(highest.abs()) as f32).to_bits() & 0x7F80_0000);
        let step = f64::from(power_of_two) * f64::from(f32::EPSILON);
        // Equal margins are no sign, unless not even whole numbers differ there.
        let is_coarse = step > (highest - lowest) / 256.0 && (lowest < highest || step > 1.0);
        is_coarse.then_some(Self::CoarseFloats { step, ends: [lowest, highest] })
    }

    /// Looks at scores, separately and beside their labels, before anything is fitted to them or judged by them.
    pub fn of_rows(data: &Dataset) -> Vec<Self> {
        let scores = Self::of_scores(data).or_else(|| Self::of_classes_as_scores(data));
        let order = match data.content() {
            Content::Points(points) => Self::of_order(points),
            _ => None,
        };
        scores.into_iter().chain(Self::of_floats(data)).chain(order).collect()
    }

    /// Looks whether predictions of one score are labels or classes, and whether they order the rows.
    pub fn of_points(points: &BinaryData) -> Vec<Self> {
        let classes = match points.kind() {
            ScoreKind::Probability => points.classes_as_scores().map(Self::of_classes),
            ScoreKind::Margin => None,
        };
        classes.into_iter().chain(Self::of_order(points)).collect()
    }

    /// Whether higher scores go with the other class, or order the rows no better than chance.
    pub(crate) fn of_order(points: &BinaryData) -> Option<Self> {
        // Only points on a disk could fail to be read.
        evidence_of_fit(points).ok().flatten().map(Self::Evidence)
    }

    fn of_classes(are_labels: bool) -> Self {
        if are_labels { Self::ScoresAreLabels } else { Self::ScoresAreClasses }
    }

    /// Looks whether predictions repeat each other, unless it is known which belong together.
    pub fn of_predictions(rows: &[Prediction], clusters: Option<&Clusters>) -> Option<Self> {
        if clusters.is_some() {
            return None;
        }
        let (scores, labels) = rows.iter().map(|row| (row.prob, row.hit)).unzip();
        // Without rows there is nothing to ask.
        let data = BinaryData::new(scores, labels).ok()?.on_device();
        // Only points on a disk could fail to be read.
        Repeats::noticed_in(&data).ok().flatten().map(Self::Dependence)
    }

    /// Whether it is about the rows and not about the artifact.
    pub fn is_doubt(&self) -> bool {
        !matches!(
            self,
            Self::SameRows(_)
                | Self::Evidence(_)
                | Self::ValuesOutside { .. }
                | Self::Loss(_)
                | Self::NoBand(_)
                | Self::Flaw(_)
        )
    }

    /// Returns the sentence with other names: `data` is the name of the scores, and the others are those of fields.
    pub fn with_names(&self, name: impl Fn(&str) -> String) -> String {
        OptionsError::new(self.sentence()).with_names(name)
    }

    /// The sentence with names between backticks.
    fn sentence(&self) -> String {
        match self {
            Self::SameRows(overlap) => overlap.warning(),
            Self::RawScoresInUnitInterval => {
                "Every score of `data` is in [0, 1]: are these probabilities? Then use `kind=scores` instead of `kind=margins`, with an artifact \
                 that was fitted so."
                    .into()
            }
            Self::LogitsSumToOne => {
                "Every row of `data` sums to one, with entries in [0, 1]: are these probabilities? Then use `kind=probs` instead of \
                 `kind=logits`."
                    .into()
            }
            Self::LogitsInUnitInterval => {
                "Every entry of `data` is in [0, 1], but the rows do not sum to one: are these probabilities, separate for \
                 each class, or rounded? Then divide each row by its sum, and use `kind=probs`."
                    .into()
            }
            Self::ScoresAreLabels => {
                "The score of every row of `data` is its label: did you pass the column of labels as the scores? Then no \
                 result here is about a classifier."
                    .into()
            }
            Self::ScoresAreClasses => {
                "Every score of `data` is 0 or 1: are these predicted classes? Calibration needs probabilities, as predict_proba gives them."
                    .into()
            }
            Self::CoarseFloats { step, ends: [lowest, highest] } => format!(
                "The margins of `data` are between {lowest:.0} and {highest:.0}, where the 32-bit floats of the device are {step} apart: \
                 subtract {:.0} from every margin, for the fit and on the device.",
                (lowest + highest) / 2.0
            ),
            Self::GroupsOfOneLabel { groups: 1, first: (group, label) } => {
                format!("All labels of group {group} are {label}: nothing is learned about the other class there.")
            }
            Self::GroupsOfOneLabel { groups, first: (group, label) } => format!(
                "In {groups} groups all labels are equal, as in group {group}, where they are {label}: nothing is learned about the other \
                 class there."
            ),
            Self::OneClass(class) => {
                format!("All labels of `data` are {class}: nothing is learned about the other classes.")
            }
            Self::Dependence(noticed) => format!("{noticed} Then name the patient with `clusters`."),
            Self::Evidence(evidence) => evidence.to_string(),
            Self::NoBand(cause) => format!("There is {cause}."),
            Self::ValuesOutside { outside, ranges } => format!(
                "In {outside} of {ranges} ranges of the score the mean calibrated probability lies outside of the exact interval: the \
                 method does not fit these rows there."
            ),
            Self::Loss(gain) => format!(
                "The blend is significantly worse than the unchanged scores: in cross-validation the Brier score changes by {gain}. \
                 `method=none` leaves the scores unchanged."
            ),
            Self::Flaw(flaw) => flaw.to_string(),
        }
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = |name: &str| if name == "data" { "scores".to_owned() } else { name.to_owned() };
        f.write_str(&self.with_names(name))
    }
}

/// Whether scores that are said to be of any size look like probabilities, as far as they were looked at.
#[derive(Clone, Copy, Debug)]
pub struct KindGuess {
    like_probs: bool,
    in_unit_interval: bool,
}

impl KindGuess {
    /// Of no rows: like anything.
    pub fn of_no_rows() -> Self {
        Self { like_probs: true, in_unit_interval: true }
    }

    /// With more rows of the same matrix.
    #[must_use]
    pub fn and(self, vectors: &Vectors) -> Self {
        let are_logits = vectors.kind() == VectorKind::Logits;
        Self {
            like_probs: self.like_probs && are_logits && vectors.all_look_like_probs(),
            in_unit_interval: self.in_unit_interval && are_logits && vectors.all_in_unit_interval(),
        }
    }

    /// What is doubtful about the rows.
    pub fn finding(self) -> Option<Finding> {
        match self {
            Self { like_probs: true, .. } => Some(Finding::LogitsSumToOne),
            Self { in_unit_interval: true, .. } => Some(Finding::LogitsInUnitInterval),
            _ => None,
        }
    }
}
