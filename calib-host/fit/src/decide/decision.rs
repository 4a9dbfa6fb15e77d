//! What is decided on the test rows, and what it costs.

use calib_core::{Artifact, Score};
use serde::Serialize;

use super::actions::Actions;
use super::distribution::ProbDistribution;
use super::expected_cost::{CostInterval, Validation, actual_cost, cost_interval, expected_cost};
use super::rule::Rule;
use super::{Costs, Envelope};
use crate::assess::{AssessOptions, CalibratedRows, DiagnosticAccuracy, Prediction, RuleInterval};

/// The probability with which the interval of the expected cost may fail.
const DELTA: f64 = 0.1;

/// A threshold of a decision rule, as a test that is positive above it.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct ThresholdAccuracy {
    /// The test is positive for probabilities above this one.
    pub threshold: f32,
    /// The actions that are decided there, from low probabilities to high ones.
    pub actions: Vec<String>,
    /// Whether every one of them raises the device's alarm, and no other action does.
    pub is_alarm: bool,
    /// The counts, and what follows from them.
    #[serde(flatten)]
    pub accuracy: DiagnosticAccuracy,
}

/// An interval of a decision rule, and the test rows in it.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct DecisionInterval {
    /// The action's name.
    pub action: String,
    /// The probabilities of the interval are above this one; `None` for the lowest, which holds 0.
    pub above: Option<f32>,
    /// And at most this one.
    pub up_to: f32,
    /// Whether the action raises the device's alarm.
    pub alarm: bool,
    /// Whether it leaves the decision to someone else.
    pub abstain: bool,
    /// What it costs if the event happens, if that is known.
    pub positive: Option<f64>,
    /// What it costs if not.
    pub negative: Option<f64>,
    /// The calibrated test rows that it is decided for.
    pub n: u64,
    /// For how many of them the event happened.
    pub hits: u64,
    /// How many rows it would be decided for without calibration; `None` if scores are margins.
    pub n_before: Option<u64>,
}

/// What a decision costs.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct DecisionCost {
    /// Expected of the calibrated probabilities, without labels (Gao et al. 2017, section 3.3.4).
    pub expected: f64,
    /// Where the expected cost may be.
    pub interval: CostInterval,
    /// How well calibrated the test rows are, on which the interval rests.
    pub validation: Validation,
    /// Observed on the labeled test rows, decided by the calibrated probabilities.
    pub observed: f64,
    /// Observed if the scores are used as probabilities; `None` if they are margins.
    pub observed_before: Option<f64>,
}

/// A decision rule on the test rows.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct DecisionSummary {
    /// Whether the artifact carries the rule; otherwise it follows from the costs file alone.
    pub in_artifact: bool,
    /// The action without a calibrated probability.
    pub uncalibrated: String,
    /// The intervals, ascending.
    pub intervals: Vec<DecisionInterval>,
    /// How accurate the rule is at each of its thresholds.
    pub thresholds: Vec<ThresholdAccuracy>,
    /// The cost of a decision, if the costs of the actions are known.
    pub cost: Option<DecisionCost>,
}

/// The costs file lacks an action that the artifact's rule has.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the costs file has no action {0:?}, which the artifact's rule has")]
pub struct DecisionMismatch(pub String);

/// A rule with names, and costs if there are.
#[derive(Clone, Debug, PartialEq)]
pub struct ReportedRule {
    rule: Rule,
    costs: Option<Actions>,
    names: Vec<(String, bool, bool)>,
    uncalibrated: usize,
    in_artifact: bool,
}

impl ReportedRule {
    /// The rule that an artifact carries, with the costs of its actions if they are known, or else the rule of these costs; `None` without
    /// either.
    ///
    /// # Errors
    ///
    /// If the costs lack an action of the artifact's rule.
    pub fn of(artifact: &Artifact<'_>, costs: Option<&Costs>) -> Result<Option<Self>, DecisionMismatch> {
        let own = Self::of_artifact(artifact, costs.map(|costs| &costs.actions))?;
        let of_costs = |costs: &Costs| {
            let bayes = || Rule::bayes(&Envelope::new(&costs.actions, |_| true));
            Self::of_costs(costs.stated.clone().unwrap_or_else(bayes), &costs.actions)
        };
        Ok(own.or_else(|| costs.map(of_costs)))
    }

    /// The rule that an artifact carries, with the costs of its actions if they are known; `None` if it carries none.
    ///
    /// # Errors
    ///
    /// If the costs file lacks an action of the rule.
    pub fn of_artifact(
        artifact: &Artifact<'_>,
        costs: Option<&Actions>,
    ) -> Result<Option<Self>, DecisionMismatch> {
        let Some(decision) = artifact.decision() else { return Ok(None) };
        let own: Vec<_> =
            decision.actions().map(|action| (action.name.to_owned(), action.alarm, action.abstain)).collect();
        let names = costs.map_or_else(|| own.clone(), named);
        let number = |(name, ..): &(String, bool, bool)| {
            let found = names.iter().position(|other| other.0 == *name);
            found.ok_or_else(|| DecisionMismatch(name.clone()))
        };
        let numbers: Vec<usize> = own.iter().map(number).collect::<Result<_, _>>()?;
        let rule = Rule::of_artifact(decision, &numbers);
        let uncalibrated = numbers[usize::from(decision.uncalibrated())];
        Ok(Some(Self { rule, costs: costs.cloned(), names, uncalibrated, in_artifact: true }))
    }

    /// A rule that follows from a costs file.
    pub fn of_costs(rule: Rule, costs: &Actions) -> Self {
        let (names, uncalibrated) = (named(costs), costs.uncalibrated());
        Self { rule, costs: Some(costs.clone()), names, uncalibrated, in_artifact: false }
    }

    /// The thresholds, ascending.
    pub fn thresholds(&self) -> Vec<f64> {
        self.rule.thresholds().iter().copied().map(f64::from).collect()
    }

    /// How accurate the rule is on these rows at each of its thresholds, above which a test is positive. Of the options, alpha
    /// and the clusters of the rows count.
    pub fn accuracies(&self, rows: &[Prediction], options: &AssessOptions<'_>) -> Vec<ThresholdAccuracy> {
        let is_alarm = |&action: &usize| self.names[action].1;
        let at = |(i, &threshold): (usize, &f32)| {
            let (below, above) = self.rule.intervals().split_at(i + 1);
            let mut actions: Vec<String> = above.iter().map(|&action| self.names[action].0.clone()).collect();
            let mut met = std::collections::BTreeSet::new();
            actions.retain(|action| met.insert(action.clone()));
            let tests: Vec<(bool, bool)> =
                rows.iter().map(|row| (row.prob as f32 > threshold, row.hit)).collect();
            ThresholdAccuracy {
                threshold,
                actions,
                is_alarm: above.iter().all(is_alarm) && !below.iter().any(is_alarm),
                accuracy: DiagnosticAccuracy::new(&tests, options.alpha, options.clusters),
            }
        };
        self.rule.thresholds().iter().enumerate().map(at).collect()
    }

    /// The intervals with the names of their actions.
    pub fn intervals(&self) -> Vec<RuleInterval<'_>> {
        let interval = |(action, above, up_to): (usize, Option<f32>, f32)| {
            let (name, alarm, _) = &self.names[action];
            RuleInterval { action: name, alarm: *alarm, above, up_to }
        };
        self.rule.pieces().map(interval).collect()
    }

    /// What is decided on test rows, by the calibrated probabilities and by the scores. The costs are those of one row of each
    /// cluster, where rows are not independent, drawn with the bootstrap's seed.
    pub fn summary(&self, test: &CalibratedRows, options: &AssessOptions<'_>) -> DecisionSummary {
        let CalibratedRows { before, after, .. } = test;
        let is_prob = test.margins.is_none();
        let interval = |(action, above, up_to): (usize, Option<f32>, f32)| {
            let inside = |row: &&Prediction| {
                let prob = row.prob as f32;
                above.is_none_or(|above| prob > above) && prob <= up_to
            };
            let (name, alarm, abstain) = self.names[action].clone();
            let costs = self.costs.as_ref().map(|costs| &costs.all()[action]);
            DecisionInterval {
                action: name,
                above,
                up_to,
                alarm,
                abstain,
                positive: costs.map(|costs| costs.positive.get()),
                negative: costs.map(|costs| costs.negative.get()),
                n: after.iter().filter(inside).count() as u64,
                hits: after.iter().filter(inside).filter(|row| row.hit).count() as u64,
                n_before: is_prob.then(|| before.iter().filter(inside).count() as u64),
            }
        };
        DecisionSummary {
            in_artifact: self.in_artifact,
            uncalibrated: self.names[self.uncalibrated].0.clone(),
            intervals: self.rule.pieces().map(interval).collect(),
            thresholds: self.accuracies(after, options),
            cost: self.costs.as_ref().and_then(|costs| {
                let seed = options.bootstrap.map_or(0, |bootstrap| bootstrap.seed);
                let Some(clusters) = options.clusters else {
                    return self.cost(costs, is_prob.then_some(before), after);
                };
                let key = |row: usize| (before[row].key(), after[row].key());
                let drawn = clusters.one_row_each(seed, |a, b| key(a).cmp(&key(b)));
                let of = |rows: &[Prediction]| drawn.iter().map(|&row| rows[row]).collect::<Vec<_>>();
                self.cost(costs, is_prob.then(|| of(before)).as_deref(), &of(after))
            }),
        }
    }

    fn cost(
        &self,
        costs: &Actions,
        before: Option<&[Prediction]>,
        after: &[Prediction],
    ) -> Option<DecisionCost> {
        let scores = after.iter().filter_map(|row| Score::new(row.prob as f32).ok());
        let probs = ProbDistribution::new(scores)?;
        let validation = Validation::new(after, DELTA);
        Some(DecisionCost {
            expected: expected_cost(costs, &self.rule, &probs),
            interval: cost_interval(costs, &self.rule, &probs, &validation, (after, 1)),
            validation,
            observed: actual_cost(costs, &self.rule, after),
            observed_before: before.map(|before| actual_cost(costs, &self.rule, before)),
        })
    }
}

fn named(costs: &Actions) -> Vec<(String, bool, bool)> {
    costs.all().iter().map(|action| (action.name.clone(), action.alarm, action.abstain)).collect()
}
