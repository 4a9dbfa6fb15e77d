//! The rule as the device runs it.

use calib_core::DecisionRule;
use calib_core::decision::{Action, DecisionParts};

use super::actions::Actions;
use super::envelope::Envelope;
use crate::stats::f32_floor;

/// Thresholds in `f32` and the action of every interval: `[0, t1]`, `(t1, t2]`, ..., closed at the upper end.
#[derive(Clone, Debug, PartialEq)]
pub struct Rule {
    thresholds: Vec<f32>,
    intervals: Vec<usize>,
}

/// Why stated intervals are not a rule; actions are counted from 0.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum RuleError {
    /// An end of an interval is not in `[0, 1]`, or the lower one is not below the upper one.
    #[error("the interval ({above}, {up_to}] is not one within 0 and 1")]
    Interval {
        /// The action.
        action: usize,
        /// Its lower end.
        above: f64,
        /// Its upper end.
        up_to: f64,
    },
    /// Two intervals overlap.
    #[error("the intervals of two actions overlap between {from} and {to}")]
    Overlap {
        /// The action of the lower interval.
        below: usize,
        /// The action of the upper interval.
        action: usize,
        /// Where the upper one begins.
        from: f64,
        /// Where the lower one ends, or the upper one if that is less.
        to: f64,
    },
    /// Between 0 and 1 there is a part without an action.
    #[error("no action is stated from {from} to {to}")]
    Gap {
        /// The action above the gap; below it, if the gap ends at 1.
        action: usize,
        /// Where it begins.
        from: f64,
        /// Where it ends.
        to: f64,
    },
    /// Between its thresholds there is no `f32`.
    #[error("the interval ({above}, {up_to}] contains no number that the device can represent")]
    TooNarrow {
        /// The action.
        action: usize,
        /// Its lower end.
        above: f64,
        /// Its upper end.
        up_to: f64,
    },
}

impl RuleError {
    /// The action whose interval is wrong.
    pub fn action(&self) -> usize {
        match *self {
            Self::Interval { action, .. }
            | Self::Overlap { action, .. }
            | Self::Gap { action, .. }
            | Self::TooNarrow { action, .. } => action,
        }
    }
}

impl Rule {
    /// Bayes' rule in `f32`. For every `f32` it is the envelope's action, exactly; an action between whose thresholds
    /// there is no `f32` is never taken and not in the rule.
    pub fn bayes(envelope: &Envelope) -> Self {
        let mut rule = Self { thresholds: Vec::new(), intervals: vec![envelope.actions[0]] };
        for (threshold, &action) in envelope.thresholds.iter().zip(&envelope.actions[1..]) {
            let floor = threshold.floor_f32();
            if rule.thresholds.last() == Some(&floor) {
                rule.intervals.pop();
            } else {
                rule.thresholds.push(floor);
            }
            rule.intervals.push(action);
        }
        rule
    }

    /// A rule stated as intervals `(above, up_to]` of actions, the lowest with 0 among it, in any order.
    ///
    /// # Errors
    ///
    /// If they overlap, leave a part of `[0, 1]` out, or are none.
    pub fn stated(intervals: &[(usize, f64, f64)]) -> Result<Self, RuleError> {
        let mut ascending = intervals.to_vec();
        ascending.sort_by(|a, b| a.1.total_cmp(&b.1).then(a.2.total_cmp(&b.2)));
        let (mut reached, mut below) = (0.0, None);
        let mut rule = Self { thresholds: Vec::new(), intervals: Vec::new() };
        for &(action, above, up_to) in &ascending {
            if !(above >= 0.0 && above < up_to && up_to <= 1.0) {
                return Err(RuleError::Interval { action, above, up_to });
            }
            if let Some(below) = below.filter(|_| above < reached) {
                return Err(RuleError::Overlap { below, action, from: above, to: reached.min(up_to) });
            }
            if above > reached {
                return Err(RuleError::Gap { action, from: reached, to: above });
            }
            if below.is_some() {
                let floor = f32_floor(above);
                if rule.thresholds.last() == Some(&floor) || f32_floor(up_to) == floor {
                    return Err(RuleError::TooNarrow { action, above, up_to });
                }
                rule.thresholds.push(floor);
            }
            rule.intervals.push(action);
            (reached, below) = (up_to, Some(action));
        }
        match below {
            Some(action) if reached < 1.0 => Err(RuleError::Gap { action, from: reached, to: 1.0 }),
            Some(_) => Ok(rule),
            None => Err(RuleError::Gap { action: 0, from: 0.0, to: 1.0 }),
        }
    }

    /// The rule that an artifact carries, with the number of each of its actions among other ones.
    pub fn of_artifact(decision: &DecisionRule<'_>, numbers: &[usize]) -> Self {
        let intervals = decision.intervals().iter().map(|&action| numbers[usize::from(action)]).collect();
        Self { thresholds: decision.thresholds().to_vec(), intervals }
    }

    /// The thresholds, strictly ascending in `[0, 1)`.
    pub fn thresholds(&self) -> &[f32] {
        &self.thresholds
    }

    /// The action of every interval, one more than thresholds.
    pub fn intervals(&self) -> &[usize] {
        &self.intervals
    }

    /// The action at a probability.
    pub fn action_at(&self, prob: f32) -> usize {
        self.intervals[self.thresholds.partition_point(|&threshold| threshold < prob)]
    }

    /// Every interval: its action, its lower end (`None` for the lowest, which holds 0), and its upper end.
    pub fn pieces(&self) -> impl Iterator<Item = (usize, Option<f32>, f32)> {
        let lower = std::iter::once(None).chain(self.thresholds.iter().copied().map(Some));
        let upper = self.thresholds.iter().copied().chain([1.0]);
        self.intervals.iter().zip(lower.zip(upper)).map(|(&action, (above, up_to))| (action, above, up_to))
    }

    /// Hands the parts for an artifact to `write`: all actions in their order, also actions that the rule never takes.
    pub fn with_parts<R>(&self, actions: &Actions, write: impl FnOnce(&DecisionParts<'_>) -> R) -> R {
        // There are at most 16.
        let intervals: Vec<u8> = self.intervals.iter().map(|&action| action as u8).collect();
        let all: Vec<Action<'_>> = actions
            .all()
            .iter()
            .map(|action| Action {
                name: &action.name,
                alarm: action.alarm,
                abstain: action.abstain,
                if_sure: action.if_sure,
            })
            .collect();
        write(&DecisionParts {
            thresholds: &self.thresholds,
            intervals: &intervals,
            uncalibrated: actions.uncalibrated() as u8,
            unsure: actions.unsure().map(|unsure| unsure as u8),
            actions: &all,
        })
    }
}

#[cfg(test)]
mod tests {
    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::super::actions::tests::actions;
    use super::*;

    #[test]
    fn stated_intervals_cover_everything_once() {
        let rule = Rule::stated(&[(2, 0.7, 1.0), (0, 0.0, 0.2), (1, 0.2, 0.7)]).unwrap();
        assert_eq!(rule.intervals(), [0, 1, 2]);
        assert_eq!(
            [0.0, 0.2f32.next_down(), 0.5, 0.7f32.next_down(), 1.0].map(|p| rule.action_at(p)),
            [0, 0, 1, 1, 2]
        );
        // 0.2 in f32 is above 0.2, 0.7 in f32 is below 0.7.
        assert_eq!([0.2, 0.7].map(|p| rule.action_at(p)), [1, 1]);
        let pieces: Vec<_> = rule.pieces().collect();
        assert_eq!(pieces[0].1, None);
        assert_eq!((pieces[2].0, pieces[2].2), (2, 1.0));
    }

    #[test]
    fn what_is_not_covered_or_covered_twice_is_refused() {
        let refused = |intervals: &[(usize, f64, f64)]| Rule::stated(intervals).unwrap_err();
        assert_eq!(
            refused(&[(0, 0.0, 0.5), (1, 0.4, 1.0)]),
            RuleError::Overlap { below: 0, action: 1, from: 0.4, to: 0.5 }
        );
        assert_eq!(
            refused(&[(0, 0.0, 1.0), (1, 0.4, 0.6)]),
            RuleError::Overlap { below: 0, action: 1, from: 0.4, to: 0.6 }
        );
        assert_eq!(
            refused(&[(0, 0.0, 0.4), (1, 0.5, 1.0)]),
            RuleError::Gap { action: 1, from: 0.4, to: 0.5 }
        );
        assert_eq!(
            refused(&[(0, 0.0, 0.4), (1, 0.4, 0.9)]),
            RuleError::Gap { action: 1, from: 0.9, to: 1.0 }
        );
        assert_eq!(refused(&[(0, 0.1, 1.0)]), RuleError::Gap { action: 0, from: 0.0, to: 0.1 });
        assert_eq!(refused(&[]), RuleError::Gap { action: 0, from: 0.0, to: 1.0 });
        for (above, up_to) in [(0.5, 0.5), (0.6, 0.5), (-0.1, 0.5), (0.0, 1.1), (0.0, f64::NAN)] {
            assert!(matches!(refused(&[(0, above, up_to)]), RuleError::Interval { action: 0, .. }));
        }
        let narrow = 0.5f64.next_up();
        assert!(matches!(
            refused(&[(0, 0.0, 0.5), (1, 0.5, narrow), (2, narrow, 1.0)]),
            RuleError::TooNarrow { action: 1, .. }
        ));
    }

    #[test]
    fn an_action_between_two_neighbors_is_never_taken() {
        // The middle one is best from 0.0999999992 to 0.1, where there is no f32.
        let all = actions(&[(0, 105_555_555, 0), (950_000_000, 0, 0), (450_000_000, 55_555_555, 0)]);
        let envelope = Envelope::new(&all, |_| true);
        assert_eq!(envelope.actions, [1, 2, 0]);
        let rule = Rule::bayes(&envelope);
        assert_eq!((rule.intervals(), rule.thresholds()), (&[1, 0][..], &[0.1f32.next_down()][..]));
    }

    proptest! {
        /// For every f32 the compiled rule takes the action of the exact comparison, also on the device.
        #[test]
        fn is_the_envelope_for_every_f32(
            costs in vec((0u32..1_000_000, 0u32..1_000_000, Just(0)), 2..10),
            bits in vec(0u32..=0x3F80_0000, 50),
        ) {
            let all = actions(&costs);
            let envelope = Envelope::new(&all, |_| true);
            let rule = Rule::bayes(&envelope);
            let around = rule.thresholds().iter().flat_map(|t| [t.next_down().max(0.0), *t, t.next_up()]);
            let probes: Vec<f32> = around.chain(bits.into_iter().map(f32::from_bits)).chain([0.0, 1.0]).collect();
            for prob in probes {
                let below = envelope.thresholds.iter().filter(|t| t.is_below(prob.into())).count();
                prop_assert_eq!(rule.action_at(prob), envelope.actions[below], "{}", prob);
            }
        }
    }
}
