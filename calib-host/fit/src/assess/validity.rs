//! Validity curves (Gupta and Ramdas 2021, section 2.1).

use serde::Serialize;

use super::cells::Cell;

/// From this `epsilon` on, `valid` is the share of predictions whose group is within epsilon.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct ValidityStep {
    /// The deviation of some group.
    pub epsilon: f64,
    /// The share of predictions in groups that deviate by no more.
    pub valid: f64,
}

/// The validity curve `V(epsilon)`: the share of predictions whose group's mean probability is within epsilon of the
/// observed frequency. It is an estimate, in which the noise of the frequencies counts as deviation.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Validity {
    /// Where the curve steps up; it is 0 before the first step and 1 from the last one on.
    pub steps: Vec<ValidityStep>,
}

impl Validity {
    /// The curve of groups, of which some hold predictions.
    pub fn new(cells: &[Cell]) -> Self {
        let mut groups: Vec<(f64, u64)> =
            cells.iter().filter(|cell| cell.n > 0).map(|cell| (cell.difference().abs(), cell.n)).collect();
        groups.sort_unstable_by(|a, b| a.0.total_cmp(&b.0));
        let n: u64 = groups.iter().map(|group| group.1).sum();
        let mut below = 0;
        let steps = groups.chunk_by(|a, b| a.0 == b.0).map(|equal| {
            below += equal.iter().map(|group| group.1).sum::<u64>();
            ValidityStep { epsilon: equal[0].0, valid: below as f64 / n as f64 }
        });
        Self { steps: steps.collect() }
    }

    /// `V(epsilon)`, the marginal validity.
    pub fn marginal(&self, epsilon: f64) -> f64 {
        let passed = self.steps.partition_point(|step| step.epsilon <= epsilon);
        passed.checked_sub(1).map_or(0.0, |last| self.steps[last].valid)
    }

    /// The smallest epsilon that every group is within: the conditional validity is 0 before it and 1 from it on.
    pub fn conditional(&self) -> f64 {
        self.steps.last().map_or(0.0, |step| step.epsilon)
    }

    /// The area under the curve on `[0, 1]`, by its steps: one less the mean absolute deviation.
    pub fn area(&self) -> f64 {
        let mut before = 0.0;
        let area = self.steps.iter().map(|step| {
            let rise = step.valid - before;
            before = step.valid;
            rise * (1.0 - step.epsilon)
        });
        area.sum()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::assess::calibration_error::calibration_error;

    #[test]
    fn a_curve_by_hand() {
        let cell = |prob: f64, n: u64, hits: u64| Cell::new((0..n).map(|i| (prob, i < hits)));
        let curve = Validity::new(&[cell(0.5, 4, 3), cell(0.25, 4, 1), Cell::default(), cell(0.75, 2, 2)]);
        assert_eq!(
            curve.steps,
            [ValidityStep { epsilon: 0.0, valid: 0.4 }, ValidityStep { epsilon: 0.25, valid: 1.0 }]
        );
        assert_eq!([0.0, 0.2, 0.25, 1.0].map(|e| curve.marginal(e)), [0.4, 0.4, 1.0, 1.0]);
        assert_eq!(curve.conditional(), 0.25);
        assert!((curve.area() - 0.85).abs() < 1e-15);
    }

    proptest! {
        /// The identity of the paper: the area under the curve is one less the calibration error.
        #[test]
        fn the_area_is_one_less_the_error(
            counts in proptest::collection::vec((0u32..=10, 0u64..9, 0u64..9), 1..9),
        ) {
            prop_assume!(counts.iter().any(|c| c.1 + c.2 > 0));
            let cells: Vec<Cell> = counts.iter()
                .map(|&(p, hits, misses)| Cell::new((0..hits + misses).map(|i| (f64::from(p) / 10.0, i < hits))))
                .collect();
            prop_assert!((Validity::new(&cells).area() - (1.0 - calibration_error(&cells).l1)).abs() < 1e-12);
        }
    }
}
