//! How accurate a decision is that is taken above a threshold (STARD 2015).

use serde::Serialize;

use super::undefined::{Figure, Undefined};
use crate::assess::EstimateWithInterval;
use crate::stats::{Clusters, Interval, effective_clopper_pearson};

/// The accuracy of a test that is positive or negative for every row, with exact intervals, each on its own.
///
/// Those of shares are Clopper and Pearson's; of dependent rows they are for as many rows as are left if the rows of a cluster all
/// say the same. A likelihood ratio is the quotient of two shares of different rows: its interval is the quotient of the ends of
/// their Clopper-Pearson intervals at half of alpha each, so that it covers with at least one minus alpha (union bound).
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct DiagnosticAccuracy {
    /// Positive tests of rows with label 1.
    pub true_positives: u64,
    /// Positive tests of rows with label 0.
    pub false_positives: u64,
    /// Negative tests of rows with label 1.
    pub false_negatives: u64,
    /// Negative tests of rows with label 0.
    pub true_negatives: u64,
    /// The share of positive tests among rows with label 1.
    pub sensitivity: Figure,
    /// The share of negative tests among rows with label 0.
    pub specificity: Figure,
    /// The share of rows with label 1 among positive tests: at the prevalence of these rows.
    pub ppv: Figure,
    /// The share of rows with label 0 among negative tests: at the prevalence of these rows.
    pub npv: Figure,
    /// The positive likelihood ratio, sensitivity / (1 - specificity). It and the upper end may be infinite, which JSON has as null.
    pub lr_positive: Figure,
    /// The negative likelihood ratio, (1 - sensitivity) / specificity; likewise.
    pub lr_negative: Figure,
}

/// A share of some rows that meets a condition.
#[derive(Clone, Copy)]
struct Share {
    hits: u64,
    n: u64,
    effective: u64,
}

impl DiagnosticAccuracy {
    /// Takes for every row whether the test is positive and whether its label is 1.
    ///
    /// ```
    /// use calib_fit::assess::DiagnosticAccuracy;
    ///
    /// // Of 50 sick ones 48 are found, of 100 healthy ones 20 are raised.
    /// let rows: Vec<(bool, bool)> =
    ///     (0..50).map(|row| (row < 48, true)).chain((0..100).map(|row| (row < 20, false))).collect();
    /// let found = DiagnosticAccuracy::new(&rows, 0.05, None);
    /// assert_eq!((found.true_positives, found.false_positives), (48, 20));
    /// assert!((found.lr_positive.get()?.value - 0.96 / 0.2).abs() < 1e-12);
    /// # Ok::<(), calib_fit::assess::Undefined>(())
    /// ```
    ///
    /// # Panics
    ///
    /// If alpha is not in `(0, 1)`, or there are clusters of another number of rows.
    pub fn new(rows: &[(bool, bool)], alpha: f64, clusters: Option<&Clusters>) -> Self {
        let share = |of: &dyn Fn(bool, bool) -> bool, hit: &dyn Fn(bool, bool) -> bool| {
            let among = || rows.iter().enumerate().filter(|(_, row)| of(row.0, row.1));
            let n = among().count() as u64;
            let effective = match clusters {
                Some(clusters) if n > 0 => clusters.part(among().map(|(row, _)| row)).effective_rows(),
                _ => n,
            };
            Share { hits: among().filter(|(_, row)| hit(row.0, row.1)).count() as u64, n, effective }
        };
        let sensitivity = share(&|_, label| label, &|positive, _| positive);
        let specificity = share(&|_, label| !label, &|positive, _| !positive);
        let ppv = share(&|positive, _| positive, &|_, label| label);
        let npv = share(&|positive, _| !positive, &|_, label| !label);
        Self {
            true_positives: sensitivity.hits,
            false_positives: specificity.n - specificity.hits,
            false_negatives: sensitivity.n - sensitivity.hits,
            true_negatives: specificity.hits,
            sensitivity: sensitivity.figure(alpha),
            specificity: specificity.figure(alpha),
            ppv: ppv.figure(alpha),
            npv: npv.figure(alpha),
            lr_positive: sensitivity.over(specificity.complement(), alpha),
            lr_negative: sensitivity.complement().over(specificity, alpha),
        }
    }
}

impl Share {
    fn value(self) -> f64 {
        self.hits as f64 / self.n as f64
    }

    fn interval(self, alpha: f64) -> Interval {
        effective_clopper_pearson(self.hits, self.n, self.effective, alpha)
    }

    fn complement(self) -> Self {
        Self { hits: self.n - self.hits, ..self }
    }

    fn figure(self, alpha: f64) -> Figure {
        match self.n {
            0 => Err(Undefined::NoDenominator).into(),
            _ => Figure::Defined(EstimateWithInterval {
                value: self.value(),
                interval: Some(self.interval(alpha)),
            }),
        }
    }

    fn over(self, other: Self, alpha: f64) -> Figure {
        if self.n == 0 || other.n == 0 {
            return Err(Undefined::NoDenominator).into();
        }
        if self.hits == 0 && other.hits == 0 {
            return Err(Undefined::NothingOverNothing).into();
        }
        let [above, below] = [self, other].map(|share| share.interval(alpha / 2.0));
        let interval = Some(Interval { lo: above.lo / below.hi, hi: above.hi / below.lo });
        Figure::Defined(EstimateWithInterval { value: self.value() / other.value(), interval })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stats::clopper_pearson;

    fn rows(counts: [usize; 4]) -> Vec<(bool, bool)> {
        let kinds = [(true, true), (true, false), (false, true), (false, false)];
        kinds.into_iter().zip(counts).flat_map(|(kind, count)| vec![kind; count]).collect()
    }

    fn value(figure: Figure) -> f64 {
        figure.get().unwrap().value
    }

    #[test]
    fn a_table_by_hand() {
        let found = DiagnosticAccuracy::new(&rows([48, 20, 2, 80]), 0.05, None);
        let shares = [found.sensitivity, found.specificity, found.ppv, found.npv].map(value);
        assert_eq!(shares, [48.0 / 50.0, 0.8, 48.0 / 68.0, 80.0 / 82.0]);
        let interval = |figure: Figure| figure.get().unwrap().interval.unwrap();
        assert_eq!(interval(found.sensitivity), clopper_pearson(48, 50, 0.05));
        assert_eq!(interval(found.npv), clopper_pearson(80, 82, 0.05));
        assert!((value(found.lr_negative) - 0.04 / 0.8).abs() < 1e-15);
        let (above, below) = (clopper_pearson(48, 50, 0.025), clopper_pearson(20, 100, 0.025));
        assert_eq!(
            interval(found.lr_positive),
            Interval { lo: above.lo / below.hi, hi: above.hi / below.lo }
        );
    }

    #[test]
    fn what_has_no_rows_is_said_and_a_ratio_may_be_infinite() {
        let perfect = DiagnosticAccuracy::new(&rows([5, 0, 0, 5]), 0.05, None);
        let ratio = perfect.lr_positive.get().unwrap();
        assert!(ratio.value.is_infinite() && ratio.interval.unwrap().hi.is_infinite());
        let (above, below) = (clopper_pearson(5, 5, 0.025), clopper_pearson(0, 5, 0.025));
        assert_eq!(ratio.interval.unwrap().lo, above.lo / below.hi);
        let never = DiagnosticAccuracy::new(&rows([0, 0, 5, 5]), 0.05, None);
        assert_eq!(never.ppv.get(), Err(Undefined::NoDenominator));
        assert_eq!(never.lr_positive.get(), Err(Undefined::NothingOverNothing));
        assert_eq!(value(never.lr_negative), 1.0);
        let healthy = DiagnosticAccuracy::new(&rows([0, 1, 0, 5]), 0.05, None);
        assert_eq!(healthy.sensitivity.get(), Err(Undefined::NoDenominator));
        assert_eq!(healthy.lr_negative.get(), Err(Undefined::NoDenominator));
    }

    /// Twice the same rows in clusters of two say as much as once.
    #[test]
    fn clusters_of_equal_rows_count_once() {
        let once = rows([30, 8, 4, 50]);
        let twice: Vec<_> = once.iter().flat_map(|row| [*row; 2]).collect();
        let clusters = Clusters::new((0..twice.len()).map(|row| row / 2));
        let clustered = DiagnosticAccuracy::new(&twice, 0.1, Some(&clusters));
        let alone = DiagnosticAccuracy::new(&once, 0.1, None);
        assert_eq!(clustered.sensitivity, alone.sensitivity);
        assert_eq!(clustered.lr_negative, alone.lr_negative);
        assert_eq!(clustered.true_negatives, 2 * alone.true_negatives);
    }
}
