//! Which actions to use if using one at all costs something.

use super::actions::Actions;
use super::distribution::ProbDistribution;
use super::envelope::Envelope;
use super::expected_cost::expected_cost;
use super::rule::Rule;

/// The actions that cost least together.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct CheapestActions {
    /// Bayes' rule for them.
    pub rule: Rule,
    /// The expected cost of all cases, start-up costs included.
    pub total: f64,
    /// The start-up costs among it.
    pub start_up: f64,
    /// How many sets of actions were compared.
    pub candidates: u64,
}

/// Chooses the actions with the least expected cost of `cases` decisions, their start-up costs included, over probabilities
/// distributed like `probs`. Within a set of actions Bayes' rule is the best; all sets are tried, which is exact and for the
/// at most 16 actions quick (Gao et al. 2017, section 3.3.4).
///
/// The action for the uncalibrated has to be ready whatever the rule: its start-up cost is always counted. Of sets that
/// cost the same, one with fewer actions is taken.
///
/// ```
/// use calib_core::Score;
/// use calib_fit::decide::{Actions, Cost, CostedAction, ProbDistribution, choose_actions};
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
/// let probs = ProbDistribution::new([Score::try_from(0.05)?, Score::try_from(0.5)?]).expect("two probabilities");
/// // Treatment is worth it from one in ten on.
/// let chosen = choose_actions(&actions, &probs, 1000);
/// assert_eq!((chosen.rule.action_at(0.05), chosen.rule.action_at(0.5)), (0, 1));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn choose_actions(actions: &Actions, probs: &ProbDistribution, cases: u64) -> CheapestActions {
    let count = actions.all().len();
    let candidates = (1u64 << count) - 1;
    let mut best: Option<(CheapestActions, u32)> = None;
    for set in 1..=candidates {
        let rule = Rule::bayes(&Envelope::new(actions, |action| set >> action & 1 == 1));
        // A set with an action that its rule never takes is no better than without it.
        if rule.intervals().len() != set.count_ones() as usize {
            continue;
        }
        let start_up = start_up_cost(actions, &rule);
        let total = expected_cost(actions, &rule, probs) * cases as f64 + start_up;
        let better = best
            .as_ref()
            .is_none_or(|(best, size)| total < best.total || total == best.total && set.count_ones() < *size);
        if better {
            best = Some((CheapestActions { rule, total, start_up, candidates }, set.count_ones()));
        }
    }
    best.expect("every single action is a set").0
}

/// The start-up costs of all actions of a rule, and of the one for the uncalibrated.
fn start_up_cost(actions: &Actions, rule: &Rule) -> f64 {
    let used = |&action: &usize| rule.intervals().contains(&action) || action == actions.uncalibrated();
    (0..actions.all().len()).filter(used).map(|action| actions.all()[action].start_up.get()).sum()
}

#[cfg(test)]
mod tests {
    use calib_core::Score;
    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::super::actions::tests::actions;
    use super::*;

    fn distribution(sixteenths: &[u8]) -> ProbDistribution {
        ProbDistribution::new(sixteenths.iter().map(|&k| Score::new(f32::from(k) / 16.0).unwrap())).unwrap()
    }

    #[test]
    fn an_action_that_is_rarely_needed_is_not_started() {
        // The third is best around 0.5 and saves 1 a case there.
        let costs = |start_up| [(0, 4, 0), (4, 0, 0), (1, 1, start_up)];
        let probs = distribution(&[0, 8, 16]);
        let chosen = |start_up, cases| choose_actions(&actions(&costs(start_up)), &probs, cases);
        let free = chosen(0, 300);
        assert_eq!((free.rule.intervals(), free.total, free.candidates), (&[1, 2, 0][..], 100.0, 7));
        let worth = chosen(99, 300);
        assert_eq!((worth.rule.intervals(), worth.total, worth.start_up), (&[1, 2, 0][..], 199.0, 99.0));
        let dear = chosen(101, 300);
        assert_eq!((dear.rule.intervals(), dear.total, dear.start_up), (&[1, 0][..], 200.0, 0.0));
        // As dear as doing without: fewer actions.
        assert_eq!(chosen(100, 300).rule.intervals(), [1, 0]);
        assert_eq!(chosen(101, 3000).rule.intervals(), [1, 2, 0]);
    }

    proptest! {
        /// No way to give an action to every probability costs less.
        #[test]
        fn no_assignment_costs_less(
            costs in vec((0u32..10, 0u32..10, 0u32..20), 2..4),
            sixteenths in vec(0u8..=16, 1..6),
        ) {
            let all = actions(&costs);
            let n = sixteenths.len();
            let chosen = choose_actions(&all, &distribution(&sixteenths), n as u64);
            let mut least = f64::INFINITY;
            for code in 0..costs.len().pow(n as u32) {
                let assigned: Vec<usize> = (0..n).map(|i| code / costs.len().pow(i as u32) % costs.len()).collect();
                let per_case: f64 = assigned.iter().zip(&sixteenths)
                    .map(|(&action, &k)| {
                        let (a, b, _) = costs[action];
                        (f64::from(a) * f64::from(k) + f64::from(b) * f64::from(16 - k)) / 16.0
                    }).sum();
                let started = (0..costs.len()).filter(|action| assigned.contains(action) || *action == all.uncalibrated());
                least = least.min(per_case + started.map(|action| f64::from(costs[action].2)).sum::<f64>());
            }
            prop_assert!((chosen.total - least).abs() < 1e-9, "{} {}", chosen.total, least);
        }
    }
}
