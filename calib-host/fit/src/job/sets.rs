//! Sets of classes that contain the true one.

use calib_core::ScoreEncoding;
use serde::Serialize;

use super::error::JobError;
use super::facts::Written;
use super::rows::codes;
use super::target::Target;
use crate::accessors::options;
use crate::artifact::{SetsFacts, SetsOnDevice, StoredArtifact, number_of, rule_sentences};
use crate::data::{DataError, VectorKind};
use crate::dataset::{Content, Dataset};
use crate::error::FitError;
use crate::options_error::OptionsError;
use crate::sets::{ConformityScore, ConformityScores, PredictionSets, SetAim, SetFigures};
use crate::stats::Share;

/// The failure probability of the interval of a class's coverage.
const COVERAGE_ALPHA: f64 = 0.05;

options! {
    by_name
    /// What prediction sets are to guarantee.
    #[derive(Clone, Copy, Debug, PartialEq)]
    #[non_exhaustive]
    pub struct SetOptions {
        /// The probability that the true class is not in the set.
        pub alpha: f64 = 0.1,
        /// Whether it is for the rows of every class, rather than for all rows taken together. `None` for every class if there are two: taken
        /// together, a frequent class alone can meet it.
        pub by_class: Option<bool> = None,
        /// The confidence over the draw of the rows that at most alpha of all new rows are missed; `None` for coverage on average.
        pub confidence: Option<f64> = None,
        /// Whether the predicted class is always in the set.
        pub never_empty: bool = false,
        /// What is compared; `None` for the margin of codes of logits, and otherwise the probability.
        pub class_score: Option<ConformityScore> = None,
    }
}

/// Prediction sets that were found, and the artifact that has them.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Sets {
    /// The sets.
    pub sets: PredictionSets,
    /// The artifact.
    pub artifact: StoredArtifact,
    /// What is said of them.
    pub summary: SetSummary,
}

/// What is said of prediction sets.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct SetSummary {
    /// Which artifact was written.
    #[serde(flatten)]
    pub written: Written,
    /// The number of calibration rows.
    pub n: u64,
    /// The sets as the artifact has them.
    pub prediction_sets: Option<SetsFacts>,
    /// The calibration rows of each class whose set has the class, with exact intervals at 95 %.
    pub coverage: Vec<Share>,
    /// The classes that sets have in fewer calibration rows than guaranteed for all classes together, significantly.
    pub missed_classes: Vec<usize>,
    /// The classes that no calibration row is of.
    pub unseen_classes: Vec<usize>,
    /// The fewest rows, by class of a class, from which on a class can be left out.
    pub rows_needed: Option<u64>,
    /// What the device does, in sentences.
    pub sentences: Vec<String>,
}

impl SetSummary {
    /// That sets leave some classes out more often than is guaranteed for all together; `None` if there is no such class.
    ///
    /// The way out is named as the field of [`SetOptions`].
    pub fn warning(&self) -> Option<OptionsError> {
        let missed = self.missed_classes.iter().map(|&class| (self.coverage[class], class));
        let share = |of: &Share| of.count as f64 / of.n as f64;
        let (least, worst) = missed.min_by(|a, b| share(&a.0).total_cmp(&share(&b.0)))?;
        let missed: Vec<String> = self.missed_classes.iter().map(ToString::to_string).collect();
        let class = if missed.len() == 1 { "class" } else { "classes" };
        Some(OptionsError::new(format!(
            "The guarantee is for all classes together, and does not hold for {class} {}: class {worst} is in the sets of {} of its {}. \
             `by_class` guarantees it for each class.",
            missed.join(", "),
            least.count,
            number_of(least.n, "row")
        )))
    }
}

/// Finds prediction sets, and writes them into an artifact.
///
/// ```
/// use calib_fit::dataset::{Dataset, Rows, Scores};
/// use calib_fit::job::{SetOptions, Target, sets};
/// use calib_fit::VectorKind;
///
/// let row = |i: u8| [0.6 + f32::from(i) / 100.0, 0.4 - f32::from(i) / 100.0];
/// let probs = Scores::Vectors(VectorKind::Probs, (0..10).flat_map(row).collect(), 2);
/// let data = Dataset::new(probs, Rows::new(&[0; 10]))?;
/// let found = sets(&data, &SetOptions::default(), &Target::Alone(Default::default()))?;
/// assert_eq!(found.summary.rows_needed, Some(9));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
///
/// Weighted rows, a class score that the rows have not, an alpha or a confidence that is not in `(0, 1)`, or a calibrator of other
/// scores.
pub fn sets(data: &Dataset, options: &SetOptions, target: &Target<'_>) -> Result<Sets, JobError> {
    options.check(data)?;
    let rows = SetRows::of::<JobError>(data, options.class_score)?;
    let rows = rows.ok_or_else(|| OptionsError::new("prediction sets are of rows that count the same"))?;
    let &SetOptions { alpha, by_class, confidence, never_empty, .. } = options;
    let by_class = by_class.unwrap_or(rows.conformities.classes() == 2);
    let aim = SetAim { alpha, by_class, confidence };
    let sets = PredictionSets::fit(&rows.conformities, &rows.labels, aim)?;
    let on_device = SetsOnDevice {
        sets: &sets,
        encoding: rows.encoding,
        binary: matches!(data.content(), Content::Points(_)),
        never_empty,
    };
    let artifact = target.write(
        options.parameters(by_class),
        |parameters, options| on_device.alone(parameters, options),
        |parent, child| on_device.beside(parent, child),
    )?;
    let stored = artifact.artifact();
    let figures = SetFigures::of(&sets, &rows.conformities, &rows.labels, never_empty, COVERAGE_ALPHA)?;
    let summary = SetSummary {
        written: Written::of(&artifact),
        n: sets.n,
        prediction_sets: stored.prediction_sets().map(SetsFacts::of),
        unseen_classes: sets.unseen().collect(),
        missed_classes: missed(&figures.by_class, alpha),
        coverage: figures.by_class,
        rows_needed: sets.aim.points_needed(sets.classes as u64),
        sentences: rule_sentences(&stored),
    };
    Ok(Sets { sets, artifact, summary })
}

/// The classes whose coverage is below `1 - alpha` significantly.
fn missed(coverage: &[Share], alpha: f64) -> Vec<usize> {
    let is_missed = |share: &Share| share.n > 0 && share.interval.hi < 1.0 - alpha;
    coverage.iter().enumerate().filter(|(_, share)| is_missed(share)).map(|(class, _)| class).collect()
}

/// The conformities of rows with their labels.
pub(super) struct SetRows {
    pub(super) conformities: ConformityScores,
    pub(super) labels: Vec<i64>,
    encoding: ScoreEncoding,
}

impl SetRows {
    /// The rows of a data set, by this score of a class if it is of several classes; `None` if they are weighted.
    pub(super) fn of<E: From<DataError> + From<FitError>>(
        data: &Dataset,
        score: Option<ConformityScore>,
    ) -> Result<Option<Self>, E> {
        let (conformities, labels, encoding) = match data.content() {
            Content::Points(points) => match data.encoding() {
                Some(encoding) => {
                    let (codes, hits): (Vec<_>, Vec<bool>) = codes(points, encoding)?.into_iter().unzip();
                    let labels = hits.into_iter().map(i64::from).collect();
                    (ConformityScores::of_binary_codes(&codes), labels, encoding)
                }
                None => {
                    let (conformities, labels) = ConformityScores::of_scores(points)?;
                    (conformities, labels.into_iter().map(i64::from).collect(), points.kind().encoding(false))
                }
            },
            Content::Weighted(_) => return Ok(None),
            Content::Vectors(vectors, labels) => {
                let score = score.unwrap_or(ConformityScore::Softmax);
                (ConformityScores::of_vectors(vectors, score)?, labels.clone(), ScoreEncoding::F32)
            }
            Content::Codes(codes, labels) => {
                let own = match codes.kind() {
                    VectorKind::Logits => ConformityScore::Margin,
                    VectorKind::Probs => ConformityScore::Softmax,
                };
                let conformities = match score.unwrap_or(own) {
                    ConformityScore::Margin => ConformityScores::of_codes(codes),
                    ConformityScore::Softmax => ConformityScores::of_code_probs(codes)?,
                };
                (conformities, labels.clone(), codes.encoding())
            }
        };
        Ok(Some(Self { conformities, labels, encoding }))
    }
}

impl SetOptions {
    fn check(&self, data: &Dataset) -> Result<(), OptionsError> {
        let sentence = match (data.content(), self.class_score) {
            (Content::Points(_), Some(_)) => {
                "`class_score` is for `logits` and `probs`: a binary score is compared unchanged"
            }
            (Content::Codes(codes, _), Some(ConformityScore::Softmax))
                if codes.kind() == VectorKind::Logits =>
            {
                "codes of logits have no softmax without floating point: use `class_score` margin"
            }
            _ => return Ok(()),
        };
        Err(OptionsError::new(sentence))
    }

    /// What was done, as `name=value` separated by spaces.
    fn parameters(&self, by_class: bool) -> String {
        let by_class = if by_class { " by-class=true" } else { "" };
        let confidence =
            self.confidence.map_or(String::new(), |confidence| format!(" set-confidence={confidence}"));
        format!("set-alpha={}{by_class}{confidence}", self.alpha)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dataset::Scores;
    use crate::job::Target;
    use crate::stats::ScoreKind;

    /// Calibrated scores, 2 % of which are of class 1: taken together the frequent class meets what is guaranteed.
    #[test]
    fn a_rare_class_is_covered_unless_rows_are_taken_together() {
        let scores: Vec<f32> = (0..2000).map(|i| (i as f32 / 2000.0).powi(2) * 0.06).collect();
        let labels: Vec<i64> = (0..2000).map(|i| i64::from(i % 33 == 0 && i > 600)).collect();
        let data = Dataset::new(
            Scores::Binary(ScoreKind::Probability, scores.into()),
            crate::dataset::Rows::new(&labels),
        )
        .unwrap();
        let found = |by_class| {
            let options = SetOptions { by_class, ..SetOptions::default() };
            sets(&data, &options, &Target::Alone(Default::default())).unwrap().summary
        };
        let by_default = found(None);
        assert_eq!(by_default, found(Some(true)));
        assert!(by_default.missed_classes.is_empty());
        assert!(by_default.coverage.iter().all(|share| share.count as f64 >= 0.9 * share.n as f64));
        let together = found(Some(false));
        assert_eq!(together.missed_classes, [1]);
        assert!(together.coverage[1].count * 10 < together.coverage[1].n, "{:?}", together.coverage);
    }
}
