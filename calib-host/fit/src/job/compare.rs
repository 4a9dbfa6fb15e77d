//! Which method to take, or none.

use super::contenders::{ContenderOptions, Contenders};
use super::error::JobError;
use super::rows::rows;
use crate::accessors::options;
use crate::assess::{Bootstrap, IntervalKind, ProperScore};
use crate::compare::{self, Claim, CompareData, MethodComparison, Split, compare_methods};
use crate::dataset::{Content, Dataset};
use crate::options_error::OptionsError;
use crate::stats::Seed;

options! {
    /// How methods are compared.
    #[derive(Clone, Debug, PartialEq)]
    #[non_exhaustive]
    pub struct CompareOptions {
        /// The methods.
        pub contenders: ContenderOptions = ContenderOptions::default(),
        /// Which probabilities of a matrix are judged; `None` for those of all classes.
        pub claim: Option<Claim> = None,
        /// What methods are ranked by.
        pub metric: ProperScore = ProperScore::Brier,
        /// The widest guarantee that will do: others are ranked, but not recommended.
        pub epsilon: Option<f64> = None,
        /// The failure probability of guarantees.
        pub alpha: f64 = 0.1,
        /// The number of parts of the data; each is calibrated by fits to the others.
        pub folds: u16 = 5,
        /// How often the points are dealt out.
        pub repeats: u16 = 3,
        /// The number of bootstrap resamples for the 95 % intervals.
        pub bootstrap: u32 = 1000,
        /// The seed of everything random.
        pub seed: Seed = 0,
        /// Whether methods may be judged by the rows that they are fitted to.
        pub same_rows: bool = false,
    }
}

/// Compares methods by repeated cross-validation, or on `test`, and recommends one, or none. A recommended method is at most one standard
/// error behind the best, and significantly better than the unchanged scores. Of several it recommends the default of [`fit`](super::fit),
/// or else
/// the one with the fewest instructions. `progress` is called after each fit with how many are
/// done, and how many there are in all.
///
/// ```
/// use calib_fit::BinaryData;
/// use calib_fit::job::{CompareOptions, ContenderName, MethodName, compare};
///
/// // The classifier is overconfident: a score of s is right in s / 2 of the cases.
/// let scores = (0..1000).map(|i| f64::from(i) / 1000.0).collect();
/// let data = BinaryData::new(scores, (0..1000).map(|i| i % 40 < i / 50).collect())?.into();
/// let mut options = CompareOptions::default();
/// (options.bootstrap, options.repeats) = (100, 1);
/// options.contenders.methods = [MethodName::Umd, MethodName::Platt].map(ContenderName::Method).into();
/// assert!(compare(&data, None, &options, &|_, _| ())?.recommendation.is_some());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
///
/// Weighted rows or codes. A method or an option that does not go with the scores. Fewer rows or clusters than parts. Test rows of
/// another kind or of other classes. Or test rows that are those of the fit.
pub fn compare(
    data: &Dataset,
    test: Option<&Dataset>,
    options: &CompareOptions,
    progress: &(dyn Fn(usize, usize) + Sync),
) -> Result<MethodComparison, JobError> {
    options.check()?;
    let (contenders, left_out) = options.contenders_for(data)?;
    if let Some(test) = test {
        check_alike(data, test)?;
        let overlap = data.rows_digest()?.overlap(&test.rows_digest()?);
        if let Some(overlap) = overlap.filter(|overlap| overlap.is_most() && !options.same_rows) {
            return Err(JobError::SameRows(overlap));
        }
    }
    let claim = options.claim.unwrap_or(Claim::AllClasses);
    let points = points_of(data, claim)?;
    let judged = test.map(|test| points_of(test, claim)).transpose()?;
    let split = match &judged {
        Some(judged) => Split::Test { n: judged.len() },
        None => Split::CrossValidation { folds: options.folds.into(), repeats: options.repeats.into() },
    };
    if judged.is_none() && points.units() < usize::from(options.folds) {
        let (units, folds) = (points.units(), options.folds);
        let what = if points.has_clusters() { "clusters" } else { "observations" };
        let sentence = format!("{units} {what} are fewer than the {folds} folds: choose fewer with `folds`");
        return Err(OptionsError::new(sentence).into());
    }
    let mut comparison =
        compare_methods(&points, judged.as_ref(), &contenders, &options.of_methods(split), progress);
    comparison.failed.extend(left_out);
    Ok(comparison)
}

impl CompareOptions {
    fn check(&self) -> Result<(), OptionsError> {
        let refused = |sentence: String| Err(OptionsError::new(sentence));
        if self.epsilon.is_some_and(|epsilon| epsilon.is_nan() || epsilon <= 0.0) {
            return refused("epsilon is a number above 0, such as 0.05".into());
        }
        if !(self.alpha > 0.0 && self.alpha < 1.0) {
            return refused("alpha is a fraction between 0 and 1, such as 0.05".into());
        }
        match (self.folds, self.repeats, self.bootstrap) {
            (0 | 1, ..) => refused(format!("`folds` is {}: there are 2 or more", self.folds)),
            (_, 0, _) => refused("`repeats` is 0: there is 1 or more".into()),
            (.., 0) => refused("`bootstrap` is 0: there is 1 or more".into()),
            _ => Ok(()),
        }
    }

    fn contenders_for(&self, data: &Dataset) -> Result<Contenders, JobError> {
        Ok(match data.content() {
            Content::Vectors(vectors, _) => {
                let claim = self.claim.unwrap_or(Claim::AllClasses);
                self.contenders.vectors((vectors.classes(), vectors.kind()), claim, self.seed)?
            }
            Content::Points(points) if data.encoding().is_none() => {
                if self.claim.is_some() {
                    return Err(OptionsError::new(
                        "`claim` needs a matrix: `kind=logits` or `kind=probs` instead of `kind=scores`",
                    )
                    .into());
                }
                self.contenders.binary(self.seed, points.kind())?
            }
            _ => {
                return Err(
                    OptionsError::new("methods are compared on floats of rows that count the same").into()
                );
            }
        })
    }

    fn of_methods(&self, split: Split) -> compare::CompareOptions {
        compare::CompareOptions {
            split,
            score: self.metric,
            alpha: self.alpha,
            epsilon: self.epsilon,
            bootstrap: Bootstrap {
                kind: IntervalKind::Percentile,
                resamples: self.bootstrap as usize,
                seed: self.seed,
                alpha: 0.05,
            },
        }
    }
}

fn points_of(data: &Dataset, claim: Claim) -> Result<CompareData, JobError> {
    Ok(match data.content() {
        Content::Vectors(vectors, labels) => CompareData::vectors(vectors, labels, claim, data.clusters())?,
        Content::Points(points) => CompareData::binary_of(points.kind(), rows(points)?, data.clusters()),
        Content::Weighted(_) | Content::Codes(..) => unreachable!("refused before"),
    })
}

/// Refuses test rows that are not of the same classifier.
fn check_alike(data: &Dataset, test: &Dataset) -> Result<(), JobError> {
    match (data.content(), test.content()) {
        (Content::Points(one), Content::Points(other))
            if one.kind() == other.kind() && test.encoding().is_none() =>
        {
            Ok(())
        }
        (Content::Vectors(one, _), Content::Vectors(other, _)) if one.kind() == other.kind() => {
            match (one.classes(), other.classes()) {
                (classes, test) if classes != test => Err(JobError::OtherClasses { classes, test }),
                _ => Ok(()),
            }
        }
        _ => Err(JobError::Mismatch("the test data are scores of another kind")),
    }
}
