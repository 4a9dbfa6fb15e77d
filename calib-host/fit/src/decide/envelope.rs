//! Bayes' rule: the lower envelope of the actions' cost lines.

use super::actions::Actions;
use super::threshold::Threshold;

/// Which action costs least at which probability: action `i` costs `a_i p + b_i (1 - p)` on average at the probability `p`,
/// a line, and the cheapest is on the lower envelope of all lines (Gao et al. 2017, section 2.4). In exact whole numbers.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Envelope {
    /// The actions from probability 0 up.
    pub actions: Vec<usize>,
    /// Where each gives way to the next, strictly ascending. A probability that equals a threshold belongs below it.
    pub thresholds: Vec<Threshold>,
}

/// An action that is nowhere the only cheapest one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct LeftOut {
    /// The action.
    pub action: usize,
    /// One that never costs more, if a single one does; otherwise it takes several to beat it everywhere.
    pub beaten_by: Option<usize>,
}

impl Envelope {
    /// Bayes' rule for the actions that `among` tells to use.
    ///
    /// Of actions that cost the same, the one given first is used.
    ///
    /// # Panics
    ///
    /// If it tells to use none.
    pub fn new(actions: &Actions, among: impl Fn(usize) -> bool) -> Self {
        let lines: Vec<Line> = lines(actions).filter(|line| among(line.action)).collect();
        // At 0 only the cost of a negative counts; just above, the cost of a positive decides between equals.
        let mut current = *lines
            .iter()
            .min_by_key(|line| (line.negative, line.positive, line.action))
            .expect("at least one action");
        let mut envelope = Self { actions: vec![current.action], thresholds: Vec::new() };
        // The next is the first that crosses, and of several that cross there the flattest.
        while let Some((threshold, next)) = lines
            .iter()
            .filter_map(|line| Some((current.crossing(line)?, *line)))
            .min_by_key(|(threshold, line)| (*threshold, line.positive, line.action))
        {
            envelope.actions.push(next.action);
            envelope.thresholds.push(threshold);
            current = next;
        }
        envelope
    }

    /// The actions that are not on the envelope of all, and what beats them.
    pub fn left_out(&self, actions: &Actions) -> Vec<LeftOut> {
        let lines: Vec<Line> = lines(actions).collect();
        let beats =
            |one: &Line, other: &Line| one.positive <= other.positive && one.negative <= other.negative;
        let left_out = lines.iter().filter(|line| !self.actions.contains(&line.action));
        left_out
            .map(|line| LeftOut {
                action: line.action,
                beaten_by: self.actions.iter().copied().find(|&action| beats(&lines[action], line)),
            })
            .collect()
    }
}

/// The cost of an action at both ends, in millionths.
#[derive(Clone, Copy)]
struct Line {
    action: usize,
    positive: u64,
    negative: u64,
}

impl Line {
    /// Where another line goes below this one, coming from above; `None` if it never does.
    fn crossing(&self, other: &Self) -> Option<Threshold> {
        let less_per_positive = self.positive.checked_sub(other.positive).filter(|&less| less > 0)?;
        Threshold::new(other.negative.checked_sub(self.negative)?, less_per_positive)
    }
}

fn lines(actions: &Actions) -> impl Iterator<Item = Line> {
    actions.all().iter().enumerate().map(|(action, costs)| Line {
        action,
        positive: costs.positive.millionths(),
        negative: costs.negative.millionths(),
    })
}

#[cfg(test)]
mod tests {
    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::super::actions::tests::actions;
    use super::*;

    fn envelope(costs: &[(u32, u32, u32)]) -> (Vec<usize>, Vec<f64>) {
        let envelope = Envelope::new(&actions(costs), |_| true);
        (envelope.actions, envelope.thresholds.iter().map(|threshold| threshold.get()).collect())
    }

    #[test]
    fn the_threshold_of_two_actions_is_elkans() {
        // A false negative costs 9, a false positive 1.
        assert_eq!(envelope(&[(0, 1, 0), (9, 0, 0)]), (vec![1, 0], vec![0.1]));
    }

    #[test]
    fn a_dominated_action_is_left_out_and_says_why() {
        let all = actions(&[(0, 4, 0), (4, 0, 0), (4, 4, 0), (2, 2, 0), (1, 1, 0), (0, 4, 0)]);
        let envelope = Envelope::new(&all, |_| true);
        assert_eq!(envelope.actions, [1, 4, 0]);
        let left_out = |action, beaten_by| LeftOut { action, beaten_by };
        let expected = [left_out(2, Some(1)), left_out(3, Some(4)), left_out(5, Some(0))];
        assert_eq!(envelope.left_out(&all), expected);
        // Above the envelope of the other two, but below neither of them everywhere.
        let all = actions(&[(0, 4, 0), (4, 0, 0), (3, 3, 0)]);
        assert_eq!(Envelope::new(&all, |_| true).left_out(&all), [left_out(2, None)]);
    }

    #[test]
    fn three_lines_through_one_point_need_two_actions() {
        assert_eq!(envelope(&[(0, 4, 0), (4, 0, 0), (2, 2, 0)]), (vec![1, 0], vec![0.5]));
    }

    #[test]
    fn an_action_that_is_best_everywhere_stands_alone() {
        assert_eq!(envelope(&[(1, 0, 0), (1, 1, 0)]), (vec![0], vec![]));
        assert_eq!(envelope(&[(1, 0, 0), (0, 0, 0)]), (vec![1], vec![]));
    }

    proptest! {
        /// At every probability of a grid no action costs less than the envelope's, in exact whole numbers; and every
        /// action of the envelope is needed.
        #[test]
        fn no_action_costs_less(costs in vec((0u32..12, 0u32..12, Just(0)), 2..8)) {
            let all = actions(&costs);
            let Envelope { actions: order, thresholds } = Envelope::new(&all, |_| true);
            prop_assert!(thresholds.is_sorted_by(|a, b| a < b));
            prop_assert_eq!(order.len(), thresholds.len() + 1);
            const GRID: u32 = 5040;
            let mut used = vec![false; costs.len()];
            for k in 0..=GRID {
                let cost = |i: usize| k * costs[i].0 + (GRID - k) * costs[i].1;
                let prob = f64::from(k) / f64::from(GRID);
                // Where rounding the probability could decide, both sides cost the same.
                let action = order[thresholds.iter().filter(|t| t.is_below(prob)).count()];
                let least = (0..costs.len()).map(cost).min().unwrap();
                prop_assert_eq!(cost(action), least, "at {}/{}", k, GRID);
                let unique = (0..costs.len()).filter(|&i| cost(i) == least).count() == 1;
                used[action] |= unique;
            }
            for &action in &order {
                let twin = (0..costs.len()).any(|i| i != action && costs[i] == costs[action]);
                // Intervals between thresholds of costs below 12 are wider than the grid's.
                prop_assert!(used[action] || twin, "{} is never needed", action);
            }
        }
    }
}
