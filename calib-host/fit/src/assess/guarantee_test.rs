//! What test rows say of a guarantee.

use std::collections::BTreeMap;

use calib_core::Artifact;
use calib_core::artifact::{Reduction, Theorem};
use statrs::distribution::{Binomial, DiscreteCDF};

use crate::stats::{Interval, clopper_pearson};

/// The error that each test of evidence makes at most, were nothing wrong: one in a hundred.
pub(super) const LEVEL: f64 = 0.01;

/// The test rows of every bin that holds some, by class and bin.
pub(super) type RowsOfBins = BTreeMap<(u16, u32), Bin>;

/// What test rows say of a guarantee.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct GuaranteeTest {
    /// A bin's event rate is not where the guarantee has it, at 1 % over all bins (exact binomial tests).
    pub is_refuted: bool,
    /// The event rate of every bin is shown to be within epsilon of the bin's value: two exact one-sided tests at 5 % in each bin with
    /// test rows, all of which have to reject, so that together they err with 5 %.
    pub is_shown: bool,
    /// A bin whose event rate is less than this away from its value would go unseen in 9 of 10 cases or more, whichever bin it is; `None` if
    /// no deviation at all can be seen.
    pub unseen: Option<f64>,
}

impl GuaranteeTest {
    /// Tests the guarantee of an artifact.
    pub(super) fn of(artifact: &Artifact<'_>, rows: &RowsOfBins) -> Self {
        let nothing = Self { is_refuted: false, is_shown: false, unseen: None };
        let Some(bins) = tested_bins(artifact, rows) else { return nothing };
        if refuted(&bins) > 0 {
            return Self { is_refuted: true, ..nothing };
        }
        let level = LEVEL / bins.len() as f64;
        let unseen = bins.iter().filter_map(|(bin, tested)| bin.unseen(*tested, level)).reduce(f64::min);
        let is_shown = !bins.is_empty() && bins.iter().all(|(bin, tested)| bin.is_shown(tested.epsilon));
        Self { is_shown, unseen, ..nothing }
    }
}

/// What is guaranteed of a bin.
#[derive(Clone, Copy, Debug)]
pub(super) struct Tested {
    epsilon: f64,
    /// Where the event rate lies.
    interval: Interval,
}

/// The bins with a guarantee that hold test rows; `None` if nothing is guaranteed of predictions.
pub(super) fn tested_bins(artifact: &Artifact<'_>, rows: &RowsOfBins) -> Option<Vec<(Bin, Tested)>> {
    let header = artifact.header();
    let guarantee = header.guarantee?;
    let table = |class: u16| match header.reduction {
        Reduction::Binary | Reduction::Confidence => Some(0),
        Reduction::TopLabel => Some(usize::from(class)),
        // The predicted class's probability is promised for other rows than those of which it is predicted.
        _ => None,
    };
    let mut bins: BTreeMap<(usize, u32), Bin> = BTreeMap::new();
    for (&(class, number), of_class) in rows {
        let bin = bins.entry((table(class)?, number)).or_insert(Bin { n: 0, hits: 0, ..*of_class });
        (bin.n, bin.hits) = (bin.n + of_class.n, bin.hits + of_class.hits);
    }
    let tables = artifact.tables();
    let tested = |(&(table, number), &bin): (&(usize, u32), &Bin)| {
        let epsilon = f64::from(tables.get(table)?.epsilon?);
        // An exact guarantee is one of intervals, which are narrower than epsilon in most bins.
        let own = u16::try_from(number).ok().and_then(|number| tables.interval(table, number));
        let own = own.filter(|_| guarantee.theorem == Theorem::ClopperPearson);
        let interval = match own {
            Some(interval) => Interval { lo: interval.lo.into(), hi: interval.hi.into() },
            None => Interval { lo: bin.prob - epsilon, hi: bin.prob + epsilon },
        };
        Some((bin, Tested { epsilon, interval }))
    };
    Some(bins.iter().filter_map(tested).collect())
}

/// In how many bins the event rate is not where it is guaranteed to be, for sure: exact binomial tests at [`LEVEL`] over all bins.
pub(super) fn refuted(bins: &[(Bin, Tested)]) -> u64 {
    let level = LEVEL / bins.len() as f64;
    bins.iter().filter(|(bin, tested)| bin.p_value(tested.interval) < level).count() as u64
}

/// The test rows of a bin.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bin {
    pub(super) prob: f64,
    pub(super) n: u64,
    pub(super) hits: u64,
}

impl Bin {
    /// How likely a count as extreme as this one is at most, if the event rate lies in the interval.
    fn p_value(&self, interval: Interval) -> f64 {
        let binomial = |p: f64| Binomial::new(p.clamp(0.0, 1.0), self.n).expect("a probability");
        let above = match self.hits {
            0 => 1.0,
            hits => binomial(interval.hi).sf(hits - 1),
        };
        let below = binomial(interval.lo).cdf(self.hits);
        // Twice: the side is chosen by the data.
        (2.0 * above.min(below)).min(1.0)
    }

    /// Whether the event rate is shown to be within epsilon of the probability, by an exact test at 5 % on either side.
    fn is_shown(&self, epsilon: f64) -> bool {
        let Interval { lo, hi } = clopper_pearson(self.hits, self.n, 2.0 * SHOWN);
        // A rate cannot be below 0 or above 1.
        (lo >= self.prob - epsilon || self.prob <= epsilon)
            && (hi <= self.prob + epsilon || self.prob + epsilon >= 1.0)
    }

    /// The smallest deviation of the event rate from the probability that the test at this level finds in a tenth of cases; `None` if it
    /// finds none.
    fn unseen(&self, tested: Tested, level: f64) -> Option<f64> {
        let refuses = |hits: u64| Self { hits, ..*self }.p_value(tested.interval) < level;
        let middle = (self.prob * self.n as f64) as u64;
        // The first count above, and the last one below, that the test refuses.
        let above =
            first(middle, self.n, refuses).map(|hits| clopper_pearson(hits, self.n, 0.2).lo - self.prob);
        let below = first(0, middle, |less| refuses(middle - less))
            .map(|less| self.prob - clopper_pearson(middle - less, self.n, 0.2).hi);
        above.into_iter().chain(below).reduce(f64::min)
    }
}

/// The error of the tests that show a guarantee to be kept.
const SHOWN: f64 = 0.05;

/// The first number of a range, both ends in it, that meets a condition which all after it meet, too.
fn first(from: u64, to: u64, meets: impl Fn(u64) -> bool) -> Option<u64> {
    let (mut lo, mut hi) = (from, to + 1);
    while lo < hi {
        let middle = lo.midpoint(hi);
        if meets(middle) { hi = middle } else { lo = middle + 1 }
    }
    (lo <= to).then_some(lo)
}

#[cfg(test)]
mod tests {
    use statrs::distribution::Discrete;

    use super::*;

    #[test]
    fn the_p_value_is_a_sum_of_binomial_probabilities() {
        // 9 of 10 where at most 0.5 is promised: (10 + 1) / 2^10, twice.
        let around =
            |bin: Bin, epsilon: f64| bin.p_value(Interval { lo: bin.prob - epsilon, hi: bin.prob + epsilon });
        let bin = Bin { prob: 0.4, n: 10, hits: 9 };
        assert!((around(bin, 0.1) - 22.0 / 1024.0).abs() < 1e-9);
        let bin = Bin { prob: 0.6, n: 10, hits: 1 };
        assert!((around(bin, 0.1) - 22.0 / 1024.0).abs() < 1e-9);
        assert_eq!(around(Bin { prob: 0.5, n: 10, hits: 5 }, 0.1), 1.0);
        assert_eq!(around(Bin { prob: 0.9, n: 10, hits: 10 }, 0.2), 1.0);
        assert_eq!(around(Bin { prob: 0.1, n: 10, hits: 0 }, 0.2), 1.0);
    }

    /// What is said to go unseen in 9 of 10 cases does, and what is a little larger is seen more often.
    #[test]
    fn a_deviation_that_goes_unseen_is_at_its_level() {
        let interval = Interval { lo: 0.35, hi: 0.45 };
        let tested = Tested { epsilon: 0.05, interval };
        for n in [20, 100, 1000] {
            let bin = Bin { prob: 0.4, n, hits: 0 };
            let unseen = bin.unseen(tested, 0.01).unwrap();
            let power = |rate: f64| {
                let binomial = Binomial::new(rate, n).unwrap();
                let found = |hits: &u64| Bin { hits: *hits, ..bin }.p_value(interval) < 0.01;
                (0..=n).filter(found).map(|hits| binomial.pmf(hits)).sum::<f64>()
            };
            let powers = [power(0.4 + unseen), power(0.4 - unseen)];
            assert!(
                powers.iter().all(|power| *power <= 0.101) && powers.iter().any(|power| *power > 0.099),
                "{powers:?}"
            );
            assert!(unseen > 0.05);
        }
        assert_eq!(Bin { prob: 0.4, n: 1, hits: 0 }.unseen(tested, 0.01), None);
    }
}
