//! How often the interval of an expected cost misses it, over many data sets.

use anyhow::{Context, Result, ensure};
use calib_core::Score;
use calib_host::assess::Prediction;
use calib_host::decide::{
    Actions, Cost, CostedAction, Envelope, ProbDistribution, Rule, Validation, cost_interval,
};
use calib_host::stats::clopper_pearson;
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

const SETS: u64 = 2000;
const DELTA: f64 = 0.1;
const SEED: u64 = 1;
/// The number of equally likely probabilities, so that every expectation is a sum.
const ATOMS: u32 = 256;

/// P(Y = 1 | f = p) of a model that says p.
type Truth = fn(f64) -> f64;

/// Prints, for models more and less calibrated, how often the true measure is above its bound (Gao et al. 2017, Claim 4), and
/// the expected cost outside its interval and outside the deviation by `c_emp` alone (eq. 2), which guarantees nothing. Fails
/// if a bound that is guaranteed fails significantly more often than delta.
pub(super) fn decide() -> Result<()> {
    println!(
        "\nexpected cost on unlabeled points, {SETS} data sets each: n labeled and n unlabeled points, delta = {DELTA}, \
         seed {SEED}"
    );
    println!(
        "{:<26} {:>7} {:>9} {:>12} {:>14} {:>14} {:>11}",
        "model", "n", "true c", "c above", "cost outside", "beyond c_emp", "half width"
    );
    let models: [(&str, Truth); 3] =
        [("calibrated", |p| p), ("overconfident", |p| 0.25 + p / 2.0), ("too high", |p| p * p)];
    for (name, truth) in models {
        for n in [200, 2000, 20_000] {
            row(name, truth, n)?;
        }
    }
    Ok(())
}

fn row(name: &str, truth: Truth, n: usize) -> Result<()> {
    let actions = actions()?;
    let rule = Rule::bayes(&Envelope::new(&actions, |_| true));
    let (true_c, true_cost) = (calibration_measure(truth), mean_cost(&actions, &rule, truth));
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(SEED);
    let (mut above, mut outside, mut beyond, mut widths) = (0, 0, 0, 0.0);
    for _ in 0..SETS {
        let labeled: Vec<Prediction> = (0..n)
            .map(|_| {
                let prob = atom(rng.random_range(0..ATOMS));
                Prediction { class: 1, prob, bin: 0, hit: rng.random::<f64>() < truth(prob) }
            })
            .collect();
        let unlabeled =
            (0..n).map(|_| Score::new(atom(rng.random_range(0..ATOMS)) as f32).unwrap_or(Score::ZERO));
        let probs = ProbDistribution::new(unlabeled).context("there are points")?;
        let validation = Validation::new(&labeled, DELTA);
        let interval = cost_interval(&actions, &rule, &probs, &validation, (&labeled, 1));
        let misses = |lo: f64, hi: f64| u64::from(true_cost < lo || true_cost > hi);
        above += u64::from(true_c > validation.c_upper);
        outside += misses(interval.guaranteed.lo, interval.guaranteed.hi);
        beyond += misses(interval.deviation.lo, interval.deviation.hi);
        widths += (interval.guaranteed.hi - interval.guaranteed.lo) / 2.0;
    }
    let rate = |count: u64| count as f64 / SETS as f64;
    println!(
        "{name:<26} {n:>7} {true_c:>9.5} {:>12.4} {:>14.4} {:>14.4} {:>11.4}",
        rate(above),
        rate(outside),
        rate(beyond),
        widths / SETS as f64
    );
    for (what, count) in [("the bound on c", above), ("the interval of the cost", outside)] {
        let least = clopper_pearson(count, SETS, 0.01).lo;
        ensure!(least <= DELTA, "{what} fails in {:.4} of the cases, more than {DELTA}", rate(count));
    }
    Ok(())
}

/// Three actions: a missed positive costs 10, a needless one 1.5, asking 1.
fn actions() -> Result<Actions> {
    let action = |(name, positive, negative, abstain): (&str, f64, f64, bool)| -> Result<CostedAction> {
        Ok(CostedAction {
            name: name.into(),
            positive: Cost::new(positive)?,
            negative: Cost::new(negative)?,
            start_up: Cost::default(),
            alarm: false,
            abstain,
            if_sure: None,
        })
    };
    let all = [("wait", 10.0, 0.0, false), ("ask", 1.0, 1.0, true), ("act", 0.0, 1.5, false)];
    Ok(Actions::new(all.into_iter().map(action).collect::<Result<_>>()?, None)?)
}

/// As the device sees it.
fn atom(i: u32) -> f64 {
    f64::from(i as f32 / (ATOMS - 1) as f32)
}

/// The largest over all intervals of the difference of the mean probability and the truth.
fn calibration_measure(truth: Truth) -> f64 {
    let (mut sum, mut min, mut max) = (0.0, 0.0f64, 0.0f64);
    for prob in (0..ATOMS).map(atom) {
        sum += prob - truth(prob);
        (min, max) = (min.min(sum), max.max(sum));
    }
    (max - min) / f64::from(ATOMS)
}

/// The true mean cost of a rule.
fn mean_cost(actions: &Actions, rule: &Rule, truth: Truth) -> f64 {
    let cost = |prob: f64| {
        let action = &actions.all()[rule.action_at(prob as f32)];
        let positive = truth(prob);
        action.positive.get() * positive + action.negative.get() * (1.0 - positive)
    };
    (0..ATOMS).map(|i| cost(atom(i))).sum::<f64>() / f64::from(ATOMS)
}
