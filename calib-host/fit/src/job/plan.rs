//! How many points, bins or rows it takes.

use calib_core::StepTable;
use serde::Serialize;

use crate::accessors::options;
use crate::guarantee::{ClassPlan, Plan, ValidationPlan, ValidationSize};
use crate::operating::{Aim, Class, rows_needed};
use crate::options_error::OptionsError;
use crate::stats::thousands;

/// The numbers of bins for which the number of points is reported if only an epsilon is given.
const USUAL_BINS: [u64; 6] = [2, 5, 10, 15, 20, 30];
/// One bin is one probability for all scores.
const FEWEST_BINS: u64 = 2;
/// What a table on the device holds.
const MAX_BINS: u64 = StepTable::MAX_BINS as u64;
/// How many points may be on the wrong side of a threshold in the lines of an answer.
const ALLOWED: u64 = 4;

options! {
    by_name
    /// What is known of a calibration set: two numbers, and the others are answered; or `n` or `epsilon` alone, for a table over bins.
    #[derive(Clone, Copy, Debug, PartialEq)]
    #[non_exhaustive]
    pub struct PlanOptions {
        /// The number of calibration points, of all classes together.
        pub n: Option<u64> = None,
        /// The number of bins.
        pub bins: Option<u64> = None,
        /// The calibration points per bin.
        pub rows_per_bin: Option<u64> = None,
        /// The largest deviation that is acceptable.
        pub epsilon: Option<f64> = None,
        /// The probability with which the guarantee may fail.
        pub alpha: f64 = 0.1,
        /// Among how many classes alpha is divided: 1 for top-label, all of them for class-wise; `None` for one score.
        pub classes: Option<u64> = None,
    }
}

/// What was planned.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Planned {
    /// The answer; `None` if only the curve was asked for.
    pub answer: Option<PlanAnswer>,
    /// Plans over the number of bins; empty for several classes.
    pub curve: Vec<Plan>,
}

/// An answer.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub enum PlanAnswer {
    /// For one score.
    Bins(Plan),
    /// For several classes.
    Classes(ClassPlan),
}

/// Answers what is not given of points, bins, points per bin and epsilon.
///
/// ```
/// use calib_fit::job::{PlanAnswer, PlanOptions, plan};
///
/// let mut options = PlanOptions::default();
/// (options.bins, options.epsilon) = (Some(10), Some(0.1));
/// let Some(PlanAnswer::Bins(answer)) = plan(&options)?.answer else { panic!("two numbers were given") };
/// assert_eq!(answer.n, 1770);
/// # Ok::<(), calib_fit::OptionsError>(())
/// ```
///
/// # Errors
///
/// A number out of its range, fewer than two or more, or two that no plan has.
pub fn plan(options: &PlanOptions) -> Result<Planned, OptionsError> {
    options.check()?;
    if let Some(classes) = options.classes {
        let answer = Some(PlanAnswer::Classes(options.of_classes(classes)?));
        return Ok(Planned { answer, curve: Vec::new() });
    }
    let PlanOptions { n, bins, rows_per_bin, epsilon, alpha, .. } = *options;
    if let (Some(epsilon), None, None, None) = (epsilon, n, bins, rows_per_bin) {
        let plans = USUAL_BINS.into_iter().filter_map(|bins| Plan::fewest_points(bins, alpha, epsilon));
        return Ok(Planned { answer: None, curve: plans.collect() });
    }
    let answer = options.answer()?;
    let n = answer.map_or(n, |plan| Some(plan.n)).unwrap_or_default();
    let curve = bins_of_interest(n, answer).filter_map(|bins| Plan::new(n, bins, alpha)).collect();
    Ok(Planned { answer: answer.map(PlanAnswer::Bins), curve })
}

impl PlanOptions {
    fn check(&self) -> Result<(), OptionsError> {
        let fault = match *self {
            Self { alpha, .. } if !(alpha > 0.0 && alpha < 1.0) => {
                "alpha is a fraction between 0 and 1, such as 0.05"
            }
            Self { epsilon: Some(epsilon), .. } if epsilon.is_nan() || epsilon < 1e-6 => {
                "epsilon is a number from 1e-6 on, such as 0.05"
            }
            Self { rows_per_bin: Some(0..2), .. } => "a bin needs 2 observations or more",
            Self { classes: Some(0), .. } => "alpha is divided among 1 class at least",
            _ => return Ok(()),
        };
        Err(OptionsError::new(fault))
    }

    fn of_classes(&self, classes: u64) -> Result<ClassPlan, OptionsError> {
        let alpha = self.alpha;
        let none = |what: String| {
            OptionsError::new(format!("{what} give no epsilon as low as that, not even with one bin"))
        };
        match (self.n, self.rows_per_bin, self.epsilon, self.bins) {
            (Some(n), Some(k), None, None) => ClassPlan::new(n, k, alpha, classes).ok_or_else(|| {
                OptionsError::new(format!("{} observations are fewer than one bin of {k}", thousands(n)))
            }),
            (Some(n), None, Some(epsilon), None) => {
                ClassPlan::fewest_rows_per_bin(n, alpha, classes, epsilon)
                    .ok_or_else(|| none(format!("{} observations", thousands(n))))
            }
            (None, Some(k), Some(epsilon), None) => ClassPlan::most_points(k, alpha, classes, epsilon)
                .ok_or_else(|| none(format!("{} observations a bin", thousands(k)))),
            _ => Err(OptionsError::new("with `classes` give two of `n`, `rows_per_bin` and `epsilon`")),
        }
    }

    /// The plan that was asked for; `None` if only the curve was.
    fn answer(&self) -> Result<Option<Plan>, OptionsError> {
        let alpha = self.alpha;
        let refused = |sentence: String| OptionsError::new(sentence);
        let too_few = |n: u64| refused(format!("{} observations are fewer than two a bin", thousands(n)));
        // What one bin of `n` points has.
        let too_small = |n: u64, what: &str| {
            let least = Plan::new(n, 1, alpha).map_or(f64::INFINITY, |plan| plan.epsilon);
            let needed = self.epsilon.and_then(|epsilon| Plan::fewest_points(FEWEST_BINS, alpha, epsilon));
            let needed = needed.map_or(String::new(), |Plan { n, rows_per_bin, .. }| {
                let points = if what.is_empty() { n } else { rows_per_bin };
                format!("; two bins need {}{what}", thousands(points))
            });
            refused(format!(
                "{} observations{what} give no epsilon below {least:.4}, not even with one bin{needed}",
                thousands(n)
            ))
        };
        let plan = match (self.n, self.bins, self.rows_per_bin, self.epsilon) {
            (Some(_), None, None, None) => return Ok(None),
            (Some(n), Some(bins), None, None) => Plan::new(n, bins, alpha).ok_or_else(|| too_few(n))?,
            (Some(n), None, Some(k), None) => Plan::new(n, n / k, alpha).ok_or_else(|| {
                refused(format!("{} observations are fewer than one bin of {k}", thousands(n)))
            })?,
            (Some(n), None, None, Some(epsilon)) => {
                Plan::most_bins(n, alpha, epsilon).ok_or_else(|| too_small(n, ""))?
            }
            (None, Some(bins), Some(k), None) => {
                bins.checked_mul(k).and_then(|n| Plan::new(n, bins, alpha)).ok_or_else(|| {
                    refused(format!("{bins} bins of {k} observations are more than can be counted"))
                })?
            }
            (None, Some(bins), None, Some(epsilon)) => {
                Plan::fewest_points(bins, alpha, epsilon).ok_or_else(|| too_few(0))?
            }
            (None, None, Some(k), Some(epsilon)) => {
                Plan::most_bins_of(k, alpha, epsilon).ok_or_else(|| too_small(k, " a bin"))?
            }
            _ => return Err(self.not_two()),
        };
        if plan.bins > MAX_BINS {
            return Err(refused(format!("{} bins: a table has 1 to {MAX_BINS}", plan.bins)));
        }
        Ok(Some(plan))
    }

    /// Why there is no answer to fewer than two numbers, or to more.
    fn not_two(&self) -> OptionsError {
        let given = [
            (self.n.is_some(), "`n`"),
            (self.bins.is_some(), "`bins`"),
            (self.rows_per_bin.is_some(), "`rows_per_bin`"),
            (self.epsilon.is_some(), "`epsilon`"),
        ];
        let given: Vec<&str> =
            given.into_iter().filter_map(|(is_given, name)| is_given.then_some(name)).collect();
        OptionsError::new(match &given[..] {
            [start @ .., last] if given.len() > 2 => {
                format!("{} and {last} leave nothing to answer: give two of them", start.join(", "))
            }
            _ => "give `n` or `epsilon`, or two of `n`, `bins`, `rows_per_bin` and `epsilon`".into(),
        })
    }
}

/// Numbers of bins from 1 to n/2, about evenly on a logarithmic scale, the answer's among them.
fn bins_of_interest(n: u64, answer: Option<Plan>) -> impl Iterator<Item = u64> {
    const STEPS: [u64; 9] = [1, 2, 3, 5, 7, 10, 15, 20, 30];
    let mut bins: Vec<u64> = (0..5u32)
        .flat_map(|decade| STEPS.map(|step| step * 10u64.pow(decade)))
        .chain(answer.map(|plan| plan.bins))
        .filter(|&bins| bins <= n / 2 && bins <= MAX_BINS)
        .collect();
    bins.sort_unstable();
    bins.dedup();
    bins.into_iter()
}

options! {
    by_name
    /// What thresholds are to guarantee, in groups that have their own.
    #[derive(Clone, Copy, Debug, PartialEq)]
    #[non_exhaustive]
    pub struct ThresholdPlanOptions {
        /// At least this share of class 1 is raised.
        pub sensitivity: Option<f64> = None,
        /// At least this share of class 0 is not raised.
        pub specificity: Option<f64> = None,
        /// The confidence of each of the two, and that rows have enough points.
        pub confidence: f64 = 0.95,
        /// Among how many groups the failure probability is divided.
        pub groups: u64 = 1,
        /// The share of class 1 in the population; without it rows are not planned.
        pub prevalence: Option<f64> = None,
    }
}

/// The points that thresholds take.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct PlannedThresholds {
    /// The confidence of each of the two.
    pub confidence: f64,
    /// The number of groups, each of which takes so many points.
    pub groups: u64,
    /// The share of class 1 in the population.
    pub prevalence: Option<f64>,
    /// The answer for each threshold.
    pub thresholds: Vec<PlannedThreshold>,
}

/// The points that a threshold takes.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct PlannedThreshold {
    /// The class whose points count.
    pub class: Class,
    /// What is guaranteed: "sensitivity" or "specificity".
    pub accuracy: &'static str,
    /// The share that is guaranteed.
    pub level: f64,
    /// The points by how many of them may be on the wrong side, from none on.
    pub points: Vec<PlannedPoints>,
}

/// The points of a class of which some may be on the wrong side.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct PlannedPoints {
    /// How many may be.
    pub allowed: u64,
    /// The points.
    pub points: u64,
    /// The rows that have so many with the confidence; `None` without a prevalence, and beyond 2^53.
    pub rows: Option<u64>,
    /// The rows that have so many on average; `None` without a prevalence.
    pub mean_rows: Option<f64>,
}

/// Answers how many points of a class a threshold takes, and how many rows if the prevalence is known.
///
/// ```
/// use calib_fit::job::{ThresholdPlanOptions, plan_thresholds};
///
/// let mut options = ThresholdPlanOptions::default();
/// options.sensitivity = Some(0.95);
/// assert_eq!(plan_thresholds(&options)?.thresholds[0].points[0].points, 59);
/// # Ok::<(), calib_fit::OptionsError>(())
/// ```
///
/// # Errors
///
/// A share that is not between 0 and 1, no group, or more points than 2^53.
pub fn plan_thresholds(options: &ThresholdPlanOptions) -> Result<PlannedThresholds, OptionsError> {
    let ThresholdPlanOptions { sensitivity, specificity, confidence, groups, prevalence } = *options;
    let shares = [
        ("`sensitivity`", sensitivity),
        ("`specificity`", specificity),
        ("`confidence`", Some(confidence)),
        ("`prevalence`", prevalence),
    ];
    for (name, share) in shares.into_iter().filter_map(|(name, share)| Some((name, share?))) {
        check_share(name, share)?;
    }
    if groups == 0 || sensitivity.or(specificity).is_none() {
        return Err(OptionsError::new("give `sensitivity` or `specificity`, and 1 of `groups` or more"));
    }
    let asked = [
        (Class::Positives, "sensitivity", sensitivity, prevalence),
        (Class::Negatives, "specificity", specificity, prevalence.map(|prevalence| 1.0 - prevalence)),
    ];
    let mut thresholds = Vec::new();
    for (class, accuracy, level, share) in asked {
        let Some(level) = level else { continue };
        let aim = Aim { level, confidence };
        let line = |allowed: u64| {
            let points = aim.points_needed(allowed, groups)?;
            Some(PlannedPoints {
                allowed,
                points,
                rows: share.and_then(|share| rows_needed(points, share, confidence)),
                mean_rows: share.map(|share| points as f64 / share),
            })
        };
        let points = (0..ALLOWED).map(line).collect::<Option<_>>().ok_or_else(|| {
            OptionsError::new(format!("a {accuracy} of {level} needs more than 2^53 {class}"))
        })?;
        thresholds.push(PlannedThreshold { class, accuracy, level, points });
    }
    Ok(PlannedThresholds { confidence, groups, prevalence, thresholds })
}

fn check_share(name: &str, share: f64) -> Result<(), OptionsError> {
    match share > 0.0 && share < 1.0 {
        true => Ok(()),
        false => Err(OptionsError::new(format!("{name} is {share}: it is a share between 0 and 1"))),
    }
}

/// The rows that a validation takes, for what was given.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct PlannedValidation {
    /// The rows.
    pub validation: ValidationSize,
    /// What was given.
    pub given: ValidationPlan,
}

/// Answers how many rows the figures of a validation take.
///
/// # Errors
///
/// A prevalence or an area that no model has, or a standard error that is not above 0.
pub fn plan_validation(given: ValidationPlan) -> Result<PlannedValidation, OptionsError> {
    check_share("`prevalence`", given.prevalence)?;
    let ValidationPlan { auc, se_auc, se_slope, se_intercept, .. } = given;
    if !(0.501..=0.999).contains(&auc) {
        return Err(OptionsError::new(format!("`auc` is {auc}: it is an area from 0.501 to 0.999")));
    }
    for (name, se) in [("`se_auc`", se_auc), ("`se_slope`", se_slope), ("`se_intercept`", se_intercept)] {
        if !(1e-4..=10.0).contains(&se) {
            let sentence = format!("{name} is {se}: it is a standard error from 0.0001 to 10");
            return Err(OptionsError::new(sentence));
        }
    }
    Ok(PlannedValidation { validation: given.size(), given })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn options(n: Option<u64>, bins: Option<u64>, k: Option<u64>, epsilon: Option<f64>) -> PlanOptions {
        PlanOptions { n, bins, rows_per_bin: k, epsilon, ..PlanOptions::default() }
    }

    #[test]
    fn two_numbers_answer_the_others() {
        for (given, n, bins) in [
            (options(Some(1770), Some(10), None, None), 1770, 10),
            (options(Some(1770), None, None, Some(0.1)), 1770, 10),
            (options(None, Some(10), None, Some(0.1)), 1770, 10),
            (options(None, None, Some(177), Some(0.1)), 1770, 10),
            (options(Some(1770), None, Some(177), None), 1770, 10),
            (options(None, Some(10), Some(177), None), 1770, 10),
        ] {
            let planned = plan(&given).unwrap();
            let Some(PlanAnswer::Bins(answer)) = planned.answer else { panic!("{given:?}") };
            assert_eq!((answer.n, answer.bins), (n, bins), "{given:?}");
            assert!(planned.curve.contains(&answer), "{given:?}");
        }
        assert_eq!(plan(&options(Some(1770), None, None, None)).unwrap().answer, None);
        assert_eq!(plan(&options(None, None, None, Some(0.1))).unwrap().curve.len(), USUAL_BINS.len());
    }

    #[test]
    fn what_no_plan_has_is_refused_by_the_names_of_fields() {
        let classes = PlanOptions { classes: Some(3), ..options(Some(100), Some(2), None, None) };
        for (given, sentence) in [
            (options(None, Some(3), None, None), "two of n, bins, rows_per_bin and epsilon"),
            (options(Some(9), Some(3), Some(3), None), "n, bins and rows_per_bin leave nothing to answer"),
            (options(Some(100), None, None, Some(0.01)), "100 observations give no epsilon below"),
            (options(Some(100), None, Some(1), None), "a bin needs 2 observations"),
            (options(None, None, None, Some(f64::NAN)), "epsilon is a number"),
            (classes, "with classes give two of n, rows_per_bin and epsilon"),
        ] {
            let error = plan(&given).unwrap_err().to_string();
            assert!(error.contains(sentence), "{error}");
        }
    }

    #[test]
    fn a_validation_out_of_range_is_refused() {
        let given =
            ValidationPlan { prevalence: 0.1, auc: 0.75, se_auc: 0.025, se_slope: 0.1, se_intercept: 0.1 };
        assert_eq!(plan_validation(given).unwrap().validation.rows, 1536);
        for wrong in [
            ValidationPlan { prevalence: 1.0, ..given },
            ValidationPlan { auc: 0.5, ..given },
            ValidationPlan { se_slope: 0.0, ..given },
        ] {
            assert!(plan_validation(wrong).is_err(), "{wrong:?}");
        }
    }
}
