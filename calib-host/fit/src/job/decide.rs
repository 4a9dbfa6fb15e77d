//! What to do at which probability, and what it costs.

use calib_core::{Outcome, Score};
use serde::Serialize;

use super::error::JobError;
use crate::artifact::StoredArtifact;
use crate::assess::{AssessOptions, Flaw, Prediction, RuleInterval, unreached};
use crate::decide::{
    Actions, CheapestActions, CostInterval, CostedAction, Costs, Envelope, EstimatedRoc, EstimatedRocPoint,
    LeftOut, ProbDistribution, ReportedRule, Rule, ThresholdAccuracy, Validation, actual_cost,
    choose_actions, cost_interval, expected_cost, with_decision,
};
use crate::options_error::OptionsError;

/// As many points of a curve are stated.
const ROC_POINTS: usize = 513;

/// Calibrated rows to decide upon.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct DecideRows {
    /// The probability of each row; `None` for an uncalibrated one.
    pub probs: Vec<Option<Score>>,
    /// Whether the event happened, if that is known.
    pub labels: Option<Vec<bool>>,
    /// Whether the calibrator was fitted to these rows, or to some of them.
    pub is_calibration: bool,
}

/// A rule, and what is known about its cost. What needs probabilities or labels is `None` without.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Decided {
    /// The actions.
    pub actions: Actions,
    /// The rule.
    pub rule: Rule,
    /// Whether it is stated, and not that of Bayes.
    pub is_stated: bool,
    /// The actions that are never the cheapest.
    pub left_out: Vec<LeftOut>,
    /// The number of probabilities.
    pub n: Option<usize>,
    /// How many of them each interval of the rule holds.
    pub counts: Option<Vec<usize>>,
    /// The number of rows without one.
    pub uncalibrated_rows: usize,
    /// The expected cost of a decision.
    pub expected: Option<f64>,
    /// That of Bayes' rule, if another one is stated.
    pub bayes: Option<f64>,
    /// How well calibrated the probabilities are.
    pub validation: Option<Validation>,
    /// Whether that is known of the same rows.
    pub own_validation: bool,
    /// Whether labeled rows were left aside because the calibrator was fitted to them.
    pub fitted_to: bool,
    /// Where the expected cost may be.
    pub interval: Option<CostInterval>,
    /// The cost of a decision on the labeled rows.
    pub actual: Option<f64>,
    /// How accurate the rule is at each of its thresholds, on labeled rows.
    pub accuracies: Vec<ThresholdAccuracy>,
    /// How it was chosen, if start-up costs had a say.
    pub chosen: Option<CheapestActions>,
    /// The number of decisions over which start-up costs are spread.
    pub cases: Option<u64>,
    /// The ROC curve, as far as probabilities tell.
    pub roc: Option<EstimatedRoc>,
}

/// Finds the cheapest action for every probability, and with probabilities what it costs; `delta` is the probability with which the
/// interval of the expected cost may fail. How well calibrated they are is known from `validation`, or else from the rows
/// themselves.
///
/// ```
/// use calib_core::Score;
/// use calib_fit::decide::{Actions, Cost, CostedAction, Costs};
/// use calib_fit::job::{DecideRows, decide};
///
/// let action = |name: &str, positive, negative| {
///     let (positive, negative) = (Cost::new(positive).unwrap(), Cost::new(negative).unwrap());
///     let start_up = Cost::default();
///     CostedAction { name: name.into(), positive, negative, start_up, alarm: false, abstain: false, if_sure: None }
/// };
/// // A missed patient costs 9, a needless treatment 1.
/// let actions = Actions::new(vec![action("wait", 9.0, 0.0), action("treat", 0.0, 1.0)], Some("treat"))?;
/// let rows = DecideRows { probs: vec![Score::new(0.05).ok(), Score::new(0.5).ok()], ..Default::default() };
/// let decided = decide(&Costs { actions, stated: None, cases: None }, Some(&rows), None, 0.1)?;
/// assert!((decided.rule.thresholds()[0] - 0.1).abs() < 1e-7);
/// assert_eq!(decided.counts, Some(vec![1, 1]));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
///
/// Rows without any probability, or start-up costs without rows.
pub fn decide(
    costs: &Costs,
    rows: Option<&DecideRows>,
    validation: Option<&DecideRows>,
    delta: f64,
) -> Result<Decided, JobError> {
    if !(delta > 0.0 && delta < 1.0) {
        return Err(OptionsError::new(format!("`delta` is {delta}: it lies between 0 and 1")).into());
    }
    let actions = &costs.actions;
    let envelope = Envelope::new(actions, |_| true);
    let probs = rows.map(DecideRows::distribution).transpose()?;
    let (rule, chosen) = choose(costs, &envelope, probs.as_ref())?;
    let labeled = rows.and_then(DecideRows::predictions);
    // On the points that it was fitted to a calibrator always looks good.
    let fair = |rows: &&DecideRows| !rows.is_calibration;
    let judged = validation.or(rows).filter(fair).and_then(DecideRows::predictions);
    let judged = judged.filter(|labeled| !labeled.is_empty());
    let judged = judged.map(|labeled| (Validation::new(&labeled, delta), labeled));
    let candidates = chosen.as_ref().map_or(1, |chosen| chosen.candidates);
    let known = probs.as_ref().zip(judged.as_ref());
    let interval = known.map(|(probs, (validation, labeled))| {
        cost_interval(actions, &rule, probs, validation, (labeled, candidates))
    });
    let judged = judged.map(|(validation, _)| validation);
    let is_stated = costs.stated.is_some();
    let cost_of = |rule: &Rule| probs.as_ref().map(|probs| expected_cost(actions, rule, probs));
    let within = |probs: &ProbDistribution| {
        rule.pieces().map(|(_, above, up_to)| probs.within(above, up_to).0).collect()
    };
    Ok(Decided {
        left_out: if is_stated { Vec::new() } else { envelope.left_out(actions) },
        is_stated,
        uncalibrated_rows: rows.map_or(0, |rows| rows.probs.iter().filter(|prob| prob.is_none()).count()),
        expected: cost_of(&rule),
        bayes: if is_stated { cost_of(&Rule::bayes(&envelope)) } else { None },
        counts: probs.as_ref().map(within),
        accuracies: labeled.as_deref().map_or_else(Vec::new, |labeled| accuracies(actions, &rule, labeled)),
        actual: labeled.map(|labeled| actual_cost(actions, &rule, &labeled)),
        roc: probs
            .as_ref()
            .and_then(|probs| EstimatedRoc::new(probs, judged.map(|validation| validation.c_emp))),
        fitted_to: rows.into_iter().chain(validation).any(DecideRows::is_of_the_fit),
        cases: costs.cases.or(probs.as_ref().map(|probs| probs.len() as u64)),
        n: probs.as_ref().map(ProbDistribution::len),
        own_validation: validation.is_none(),
        validation: judged,
        interval,
        chosen,
        rule,
        actions: actions.clone(),
    })
}

/// The rule, and how it was chosen if start-up costs had a say.
fn choose(
    costs: &Costs,
    envelope: &Envelope,
    probs: Option<&ProbDistribution>,
) -> Result<(Rule, Option<CheapestActions>), OptionsError> {
    let actions = &costs.actions;
    match (&costs.stated, probs) {
        (Some(stated), _) => Ok((stated.clone(), None)),
        (None, _) if !actions.have_start_up() => Ok((Rule::bayes(envelope), None)),
        (None, Some(probs)) => {
            let chosen = choose_actions(actions, probs, costs.cases.unwrap_or(probs.len() as u64));
            Ok((chosen.rule.clone(), Some(chosen)))
        }
        (None, None) => Err(OptionsError::new(
            "whether a start-up cost is worth it depends on the probabilities: give them with `probs` or `scores`",
        )),
    }
}

/// How accurate the rule is at its thresholds, with 95 % intervals.
fn accuracies(actions: &Actions, rule: &Rule, labeled: &[Prediction]) -> Vec<ThresholdAccuracy> {
    match labeled.is_empty() {
        true => Vec::new(),
        false => ReportedRule::of_costs(rule.clone(), actions).accuracies(labeled, &AssessOptions::default()),
    }
}

/// Returns the artifact with the rule in it, in place of whatever said what is done.
///
/// # Errors
///
/// If it has no probabilities, or no band and an action asks for it, or would be larger than the format allows.
pub fn with_rule(
    stored: &StoredArtifact,
    decided: &Decided,
    counter: Option<u32>,
) -> Result<StoredArtifact, JobError> {
    if stored.artifact().header().method.has_no_calibrator() {
        return Err(JobError::Mismatch(
            "the artifact has only thresholds or sets, and no probabilities to decide by",
        ));
    }
    if decided.actions.ask_for_band() && stored.artifact().band().is_none() {
        return Err(JobError::Mismatch(
            "an action asks for the band at a score (`if_sure = \"band\"`), and the artifact has no band",
        ));
    }
    let bytes = with_decision(stored, &decided.actions, &decided.rule, counter)?;
    Ok(StoredArtifact::from_bytes(&bytes).expect("what was written is an artifact"))
}

impl DecideRows {
    /// Takes what a calibrator gave.
    pub fn of_outcomes<'o>(outcomes: impl IntoIterator<Item = &'o Outcome>) -> Self {
        let prob = |outcome: &Outcome| outcome.calibrated().and_then(|found| Score::new(found.prob).ok());
        Self { probs: outcomes.into_iter().map(prob).collect(), ..Self::default() }
    }

    /// Whether these are labeled rows that the calibrator was fitted to, all or some.
    pub fn is_of_the_fit(&self) -> bool {
        self.is_calibration && self.labels.is_some()
    }

    fn distribution(&self) -> Result<ProbDistribution, JobError> {
        let probs = ProbDistribution::new(self.probs.iter().flatten().copied());
        probs.ok_or(JobError::AllUncalibrated)
    }

    /// The calibrated rows with their labels, if there are labels.
    fn predictions(&self) -> Option<Vec<Prediction>> {
        let rows = self.probs.iter().zip(self.labels.as_ref()?);
        let prediction = |(prob, &hit): (&Option<Score>, &bool)| {
            prob.map(|prob| Prediction { class: 1, prob: prob.get().into(), bin: 0, hit })
        };
        Some(rows.filter_map(prediction).collect())
    }
}

impl Decided {
    /// Returns the least and the most that a decision is expected to cost if rows without a probability count, too: each costs what its
    /// action costs if the event happens, or if not. `None` if there are no such rows.
    pub fn over_all_rows(&self) -> Option<[f64; 2]> {
        let (n, expected) = (self.n? as f64, self.expected?);
        let left_out = (self.uncalibrated_rows > 0).then_some(self.uncalibrated_rows as f64)?;
        let action = &self.actions.all()[self.actions.uncalibrated()];
        let (one, other) = (action.positive.get(), action.negative.get());
        Some([one.min(other), one.max(other)].map(|cost| (n * expected + left_out * cost) / (n + left_out)))
    }

    /// Returns the decisions that none of these rows leads to.
    pub fn unreached(&self, rows: &DecideRows) -> Vec<Flaw> {
        let interval = |(action, above, up_to): (usize, Option<f32>, f32)| {
            let action = &self.actions.all()[action];
            RuleInterval { action: &action.name, alarm: action.alarm, above, up_to }
        };
        let rule: Vec<_> = self.rule.pieces().map(interval).collect();
        unreached(&rule, rows.probs.iter().flatten().map(|prob| prob.get()))
    }
}

impl Serialize for Decided {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        DecideSummary::of(self).serialize(serializer)
    }
}

/// What is said of a decision.
#[derive(Serialize)]
struct DecideSummary<'a> {
    actions: &'a [CostedAction],
    uncalibrated: &'a str,
    rule: RuleSummary<'a>,
    left_out: Vec<LeftOutSummary<'a>>,
    n: Option<usize>,
    uncalibrated_rows: usize,
    expected_cost: Option<f64>,
    expected_cost_over_all_rows: Option<[f64; 2]>,
    expected_cost_is_optimistic: Option<bool>,
    expected_cost_bayes: Option<f64>,
    validation: Option<ValidationSummary>,
    fitted_to_labeled_rows: bool,
    interval: Option<CostInterval>,
    actual_cost: Option<f64>,
    at_thresholds: &'a [ThresholdAccuracy],
    start_up: Option<StartUpSummary>,
    roc: Option<RocSummary<'a>>,
}

#[derive(Serialize)]
struct RuleSummary<'a> {
    kind: &'static str,
    intervals: Vec<IntervalSummary<'a>>,
}

#[derive(Serialize)]
struct IntervalSummary<'a> {
    action: &'a str,
    above: Option<f32>,
    up_to: f32,
    n: Option<usize>,
}

#[derive(Serialize)]
struct LeftOutSummary<'a> {
    action: &'a str,
    beaten_by: Option<&'a str>,
}

#[derive(Serialize)]
struct ValidationSummary {
    n: u64,
    c_emp: f64,
    delta: f64,
    c_upper: f64,
    c_lower: f64,
    c_lower_is_vacuous: bool,
    same_rows: bool,
}

#[derive(Serialize)]
struct StartUpSummary {
    cases: Option<u64>,
    total: f64,
    start_up: f64,
    candidates: u64,
}

#[derive(Serialize)]
struct RocSummary<'a> {
    auc: f64,
    n_points: usize,
    points: Vec<&'a EstimatedRocPoint>,
}

impl<'a> DecideSummary<'a> {
    fn of(decided: &'a Decided) -> Self {
        let name = |action: usize| &*decided.actions.all()[action].name;
        let intervals = decided.rule.pieces().enumerate().map(|(i, (action, above, up_to))| {
            let n = decided.counts.as_ref().map(|counts| counts[i]);
            IntervalSummary { action: name(action), above, up_to, n }
        });
        let left_out = decided.left_out.iter();
        let left_out = left_out
            .map(|left| LeftOutSummary { action: name(left.action), beaten_by: left.beaten_by.map(name) });
        Self {
            actions: decided.actions.all(),
            uncalibrated: name(decided.actions.uncalibrated()),
            rule: RuleSummary {
                kind: if decided.is_stated { "stated" } else { "bayes" },
                intervals: intervals.collect(),
            },
            left_out: left_out.collect(),
            n: decided.n,
            uncalibrated_rows: decided.uncalibrated_rows,
            expected_cost: decided.expected,
            expected_cost_over_all_rows: decided.over_all_rows(),
            expected_cost_is_optimistic: decided.expected.map(|_| !decided.is_stated),
            expected_cost_bayes: decided.bayes,
            validation: decided.validation.map(|v| ValidationSummary {
                n: v.n,
                c_emp: v.c_emp,
                delta: v.delta,
                c_upper: v.c_upper,
                c_lower: v.c_lower,
                c_lower_is_vacuous: v.c_lower == 0.0,
                same_rows: decided.own_validation,
            }),
            fitted_to_labeled_rows: decided.fitted_to,
            interval: decided.interval,
            actual_cost: decided.actual,
            at_thresholds: &decided.accuracies,
            start_up: decided.chosen.as_ref().map(|chosen| StartUpSummary {
                cases: decided.cases,
                total: chosen.total,
                start_up: chosen.start_up,
                candidates: chosen.candidates,
            }),
            roc: decided.roc.as_ref().map(|roc| RocSummary {
                auc: roc.auc,
                n_points: roc.points.len(),
                points: thinned(&roc.points),
            }),
        }
    }
}

/// A number of points with the first and the last, evenly spaced.
fn thinned(points: &[EstimatedRocPoint]) -> Vec<&EstimatedRocPoint> {
    let last = points.len() - 1;
    let wanted = ROC_POINTS.min(points.len());
    (0..wanted).map(|i| &points[i * last / (wanted - 1).max(1)]).collect()
}
