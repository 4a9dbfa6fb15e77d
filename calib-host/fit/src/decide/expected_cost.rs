//! What a rule costs: expected, from unlabeled probabilities, and actual.

use serde::Serialize;

use super::actions::Actions;
use super::distribution::ProbDistribution;
use super::rule::Rule;
use crate::assess::{Prediction, c_emp, c_emp_interval};
use crate::stats::Interval;

/// How well calibrated the probabilities were on labeled data that the calibrator was not fitted to.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Validation {
    /// The number of labeled points.
    pub n: u64,
    /// The empirical calibration measure.
    pub c_emp: f64,
    /// The probability with which a bound may fail.
    pub delta: f64,
    /// At least this is the true calibration measure, with probability `1 - delta`; at 0 it is vacuous.
    pub c_lower: f64,
    /// At most this is the true calibration measure, with probability `1 - delta`.
    pub c_upper: f64,
}

/// What the cost of a decision may be.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct CostInterval {
    /// The estimate, give or take `c_emp` times the sum of `|a - b|` over the intervals of the rule (Gao et al. 2017,
    /// eq. 2). Sure if `c_emp` is that of these very points, otherwise what deviation to expect.
    pub deviation: Interval,
    /// The expected cost of a decision is in here with probability `1 - delta`, by the costs of the labeled rows: the empirical Bernstein
    /// inequality of Maurer and Pontil (2009, Theorem 4) on either side.
    pub guaranteed: Interval,
    /// Whether the interval says no more than the costs of the rule do.
    pub vacuous: bool,
}

impl Validation {
    /// Measures the calibration of labeled predictions. `delta` is in `(0, 1)`.
    ///
    /// # Panics
    ///
    /// If there are no predictions.
    pub fn new(predictions: &[Prediction], delta: f64) -> Self {
        let (n, c_emp) = (predictions.len() as u64, c_emp(predictions));
        let Interval { lo, hi } = c_emp_interval(c_emp, n, delta);
        Self { n, c_emp, delta, c_lower: lo, c_upper: hi }
    }
}

/// The mean cost of a decision if the probabilities are right: `1/n` of the estimate of Gao et al. 2017, section 3.3.4.
/// Without start-up costs.
///
/// ```
/// use calib_core::Score;
/// use calib_fit::decide::{Actions, Cost, CostedAction, ProbDistribution, Rule, expected_cost};
///
/// let action = |name: &str, positive, negative| {
///     Ok::<_, Box<dyn std::error::Error>>(CostedAction {
///         name: name.into(),
///         positive: Cost::new(positive)?,
///         negative: Cost::new(negative)?,
///         start_up: Cost::default(),
///         alarm: false,
///         abstain: false,
///         if_sure: None,
///     })
/// };
/// // A missed patient costs 9, a needless treatment 1.
/// let actions = Actions::new(vec![action("wait", 9.0, 0.0)?, action("treat", 0.0, 1.0)?], Some("treat"))?;
/// let rule = Rule::stated(&[(0, 0.0, 0.1), (1, 0.1, 1.0)])?;
/// let probs = ProbDistribution::new([Score::try_from(0.05)?, Score::try_from(0.5)?]).expect("two probabilities");
/// // 0.05 waits, which costs 9 in one of 20 cases; 0.5 is treated, which costs 1 in one of two.
/// assert!((expected_cost(&actions, &rule, &probs) - (0.45 + 0.5) / 2.0).abs() < 1e-6);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn expected_cost(actions: &Actions, rule: &Rule, probs: &ProbDistribution) -> f64 {
    let of_piece = |(action, above, up_to): (usize, Option<f32>, f32)| {
        let (count, positives) = probs.within(above, up_to);
        let costs = &actions.all()[action];
        costs.positive.get() * positives + costs.negative.get() * (count as f64 - positives)
    };
    rule.pieces().map(of_piece).sum::<f64>() / probs.len() as f64
}

/// The mean cost of the decisions on labeled predictions, without start-up costs.
///
/// ```
/// use calib_fit::assess::Prediction;
/// use calib_fit::decide::{Actions, Cost, CostedAction, Rule, actual_cost};
///
/// let action = |name: &str, positive, negative| {
///     Ok::<_, Box<dyn std::error::Error>>(CostedAction {
///         name: name.into(),
///         positive: Cost::new(positive)?,
///         negative: Cost::new(negative)?,
///         start_up: Cost::default(),
///         alarm: false,
///         abstain: false,
///         if_sure: None,
///     })
/// };
/// // A missed patient costs 9, a needless treatment 1.
/// let actions = Actions::new(vec![action("wait", 9.0, 0.0)?, action("treat", 0.0, 1.0)?], Some("treat"))?;
/// let rule = Rule::stated(&[(0, 0.0, 0.1), (1, 0.1, 1.0)])?;
/// let said = |prob, hit| Prediction { class: 1, prob, bin: 0, hit };
/// // A patient is missed, and one is treated who needs it.
/// assert_eq!(actual_cost(&actions, &rule, &[said(0.05, true), said(0.5, true)]), 4.5);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Panics
///
/// If there are no predictions.
pub fn actual_cost(actions: &Actions, rule: &Rule, predictions: &[Prediction]) -> f64 {
    assert!(!predictions.is_empty(), "nothing was decided");
    let costs = costs_of(actions, rule, predictions);
    costs.iter().map(|&(cost, count)| cost * count as f64).sum::<f64>() / predictions.len() as f64
}

/// The different costs of decisions, each with how many have it: counted first, so that the order of the rows does not matter.
fn costs_of(actions: &Actions, rule: &Rule, predictions: &[Prediction]) -> Vec<(f64, u64)> {
    let mut counts = vec![[0u64; 2]; actions.all().len()];
    for prediction in predictions {
        counts[rule.action_at(prediction.prob as f32)][usize::from(prediction.hit)] += 1;
    }
    let each = |(action, [negatives, positives]): (&super::CostedAction, [u64; 2])| {
        [(action.positive.get(), positives), (action.negative.get(), negatives)]
    };
    actions.all().iter().zip(counts).flat_map(each).collect()
}

/// The interval of the mean of a distribution between two numbers, by values of which each was drawn so many times: it fails with
/// probability `delta` at most (Maurer and Pontil 2009, Theorem 4, on either side).
fn bernstein(counts: &[(f64, u64)], (least, most): (f64, f64), delta: f64) -> Interval {
    let n = counts.iter().map(|&(_, count)| count).sum::<u64>() as f64;
    let whole = Interval { lo: least, hi: most };
    if n < 2.0 {
        return whole;
    }
    let mean = counts.iter().map(|&(value, count)| value * count as f64).sum::<f64>() / n;
    let squares = counts.iter().map(|&(value, count)| (value - mean).powi(2) * count as f64).sum::<f64>();
    let log = (4.0 / delta).ln();
    let margin =
        (2.0 * squares / (n - 1.0) * log / n).sqrt() + 7.0 * (most - least) * log / (3.0 * (n - 1.0));
    Interval { lo: (mean - margin).max(least), hi: (mean + margin).min(most) }
}

/// Where the mean cost may be, given how well calibrated the probabilities are, and given the costs of labeled rows that are draws from
/// the same distribution. `candidates` is the number of rules among which this one was chosen by its cost on the same
/// probabilities: 1 for Bayes' rule and for a stated one.
///
/// ```
/// use calib_core::Score;
/// use calib_fit::assess::Prediction;
/// use calib_fit::decide::{Actions, Cost, CostedAction, ProbDistribution, Rule, Validation, cost_interval};
///
/// let action = |name: &str, positive, negative| {
///     Ok::<_, Box<dyn std::error::Error>>(CostedAction {
///         name: name.into(),
///         positive: Cost::new(positive)?,
///         negative: Cost::new(negative)?,
///         start_up: Cost::default(),
///         alarm: false,
///         abstain: false,
///         if_sure: None,
///     })
/// };
/// // A missed patient costs 9, a needless treatment 1.
/// let actions = Actions::new(vec![action("wait", 9.0, 0.0)?, action("treat", 0.0, 1.0)?], Some("treat"))?;
/// let rule = Rule::stated(&[(0, 0.0, 0.1), (1, 0.1, 1.0)])?;
/// let probs = ProbDistribution::new([Score::try_from(0.5)?; 100]).expect("100 probabilities");
/// let said: Vec<_> = (0..100).map(|i| Prediction { class: 1, prob: 0.5, bin: 0, hit: i % 2 == 0 }).collect();
/// let cost = cost_interval(&actions, &rule, &probs, &Validation::new(&said, 0.1), (&said, 1));
/// assert!(cost.guaranteed.lo <= 0.5 && 0.5 <= cost.guaranteed.hi);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn cost_interval(
    actions: &Actions,
    rule: &Rule,
    probs: &ProbDistribution,
    validation: &Validation,
    (labeled, candidates): (&[Prediction], u64),
) -> CostInterval {
    let estimate = expected_cost(actions, rule, probs);
    let weight: f64 = rule.intervals().iter().map(|&action| spread(actions, action)).sum();
    let (least, most) = cost_range(actions, rule);
    let around =
        |margin: f64| Interval { lo: (estimate - margin).max(least), hi: (estimate + margin).min(most) };

    let delta = validation.delta / candidates as f64;
    let guaranteed = bernstein(&costs_of(actions, rule, labeled), (least, most), delta);
    CostInterval {
        deviation: around(validation.c_emp * weight),
        guaranteed,
        vacuous: guaranteed.lo <= least && guaranteed.hi >= most,
    }
}

/// `|a - b|`: by how much a label changes the cost of an action.
fn spread(actions: &Actions, action: usize) -> f64 {
    let costs = &actions.all()[action];
    (costs.positive.get() - costs.negative.get()).abs()
}

/// The lowest and the highest cost that a case can have under a rule.
fn cost_range(actions: &Actions, rule: &Rule) -> (f64, f64) {
    range(rule.intervals().iter().flat_map(|&action| {
        let costs = &actions.all()[action];
        [costs.positive.get(), costs.negative.get()]
    }))
}

fn range(values: impl Iterator<Item = f64>) -> (f64, f64) {
    values.fold((f64::INFINITY, f64::NEG_INFINITY), |(lo, hi), value| (lo.min(value), hi.max(value)))
}

#[cfg(test)]
mod tests {
    use calib_core::Score;
    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::super::actions::tests::actions;
    use super::super::envelope::Envelope;
    use super::*;

    fn bayes(actions: &Actions) -> Rule {
        Rule::bayes(&Envelope::new(actions, |_| true))
    }

    fn distribution(predictions: &[Prediction]) -> ProbDistribution {
        ProbDistribution::new(predictions.iter().map(|p| Score::new(p.prob as f32).unwrap())).unwrap()
    }

    fn predictions(rows: &[(u32, u32, bool)]) -> Vec<Prediction> {
        rows.iter()
            .map(|&(k, n, hit)| Prediction { class: 1, prob: f64::from(k as f32 / n as f32), bin: 0, hit })
            .collect()
    }

    #[test]
    fn a_fixture_by_hand() {
        // A false negative costs 9, a false positive 1; the threshold is 0.1.
        let all = actions(&[(0, 1, 0), (9, 0, 0)]);
        let rule = bayes(&all);
        let rows = predictions(&[(0, 4, false), (1, 16, true), (1, 4, false), (3, 4, true)]);
        // 0 and 1/16 below: 9 (0 + 1/16); 1/4 and 3/4 above: 1 (3/4 + 1/4).
        assert_eq!(expected_cost(&all, &rule, &distribution(&rows)), (9.0 / 16.0 + 1.0) / 4.0);
        // The positive below costs 9, the negative above 1.
        assert_eq!(actual_cost(&all, &rule, &rows), 10.0 / 4.0);
    }

    /// Costs of 0, 1 and 100 with known frequencies, in many draws: the interval holds their mean nearly always, and is not much wider than a
    /// normal one.
    #[test]
    fn the_interval_of_the_mean_holds_it_and_is_narrow() {
        let mut state = 1u64;
        let mut missed = 0;
        for _ in 0..400 {
            let mut counts = [(0.0, 0u64), (1.0, 0), (100.0, 0)];
            for _ in 0..2000 {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                let uniform = (state >> 40) as f64 / f64::from(1 << 24);
                counts[if uniform < 0.02 { 2 } else { usize::from(uniform < 0.3) }].1 += 1;
            }
            let Interval { lo, hi } = bernstein(&counts, (0.0, 100.0), 0.1);
            let mean = 0.02 * 100.0 + 0.28;
            missed += u32::from(!(lo..=hi).contains(&mean));
            // The standard error is 0.31, and the range of costs 100.
            assert!(hi - lo < 2.0 * 1.5, "{lo} {hi}");
        }
        assert!(missed <= 40, "{missed} of 400");
        assert_eq!(bernstein(&[(5.0, 1)], (0.0, 9.0), 0.1), Interval { lo: 0.0, hi: 9.0 });
    }

    /// The labels of 20 000 rows say what a decision costs; twenty rows say almost nothing.
    #[test]
    fn the_guarantee_follows_from_labels_and_says_when_it_says_nothing() {
        let all = actions(&[(0, 1, 0), (9, 0, 0)]);
        let rule = bayes(&all);
        let rows: Vec<_> = (0..20_000).map(|i| (i % 100, 100, (i / 100) % 100 < i % 100)).collect();
        let rows = predictions(&rows);
        let validation = Validation::new(&rows, 0.1);
        let CostInterval { guaranteed, vacuous, .. } =
            cost_interval(&all, &rule, &distribution(&rows), &validation, (&rows, 1));
        let actual = actual_cost(&all, &rule, &rows);
        assert!(!vacuous && guaranteed.lo < actual && actual < guaranteed.hi);
        assert!(guaranteed.hi - guaranteed.lo < 0.06, "{guaranteed:?}");
        let several = cost_interval(&all, &rule, &distribution(&rows), &validation, (&rows, 100)).guaranteed;
        assert!(several.lo < guaranteed.lo && guaranteed.hi < several.hi);
        let few = &rows[..20];
        assert!(cost_interval(&all, &rule, &distribution(few), &Validation::new(few, 0.1), (few, 1)).vacuous);
    }

    proptest! {
        /// If at every probability the share of positives is that probability, the expected cost is the actual one.
        #[test]
        fn is_the_actual_cost_of_perfectly_calibrated_points(
            counts in vec((0u32..=64, 1usize..5), 1..20),
            costs in vec((0u32..100, 0u32..100, Just(0)), 2..6),
        ) {
            let all = actions(&costs);
            let rule = bayes(&all);
            let rows: Vec<_> = counts.iter()
                .flat_map(|&(k, times)| (0..64 * times as u32).map(move |i| (k, 64, i % 64 < k))).collect();
            let rows = predictions(&rows);
            let (expected, actual) =
                (expected_cost(&all, &rule, &distribution(&rows)), actual_cost(&all, &rule, &rows));
            prop_assert!((expected - actual).abs() <= 1e-12 * actual.max(1.0), "{} {}", expected, actual);
            prop_assert!(c_emp(&rows) < 1e-12);
        }

        /// Equation (2): with the points' own c_emp the deviation is never exceeded, whatever the labels.
        #[test]
        fn the_deviation_holds_the_actual_cost(
            rows in vec((0u32..=30, Just(30), any::<bool>()), 1..60),
            costs in vec((0u32..100, 0u32..100, Just(0)), 2..6),
        ) {
            let all = actions(&costs);
            let rule = bayes(&all);
            let rows = predictions(&rows);
            let validation = Validation::new(&rows, 0.1);
            let interval = cost_interval(&all, &rule, &distribution(&rows), &validation, (&rows, 1));
            let actual = actual_cost(&all, &rule, &rows);
            let Interval { lo, hi } = interval.deviation;
            prop_assert!(lo - 1e-9 <= actual && actual <= hi + 1e-9, "{} not in [{}, {}]", actual, lo, hi);
        }
    }
}
