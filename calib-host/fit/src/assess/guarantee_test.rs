//! What test rows say of a guarantee.

use std::collections::BTreeMap;

use calib_core::Artifact;
use calib_core::artifact::{Reduction, Theorem};
use serde::Serialize;
use statrs::distribution::{Binomial, DiscreteCDF};

use crate::artifact::{score_edges, scores_in_words};
use crate::stats::{Interval, clopper_pearson, shown};

/// The error that each test of evidence makes at most, were nothing wrong: one in a hundred.
pub(super) const LEVEL: f64 = 0.01;

/// The test rows of every bin that holds some, by class and bin.
pub(super) type RowsOfBins = BTreeMap<(u16, u32), Bin>;

/// What test rows say of a guarantee: of the values of bins, or of the intervals of score ranges if the artifact has such.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct GuaranteeTest {
    /// The event rate of a bin or range is not where the guarantee has it, at 1 % over all of them (exact binomial tests).
    pub is_refuted: bool,
    /// The event rate of every bin is shown to be within epsilon of the bin's value, or that of every range within its interval: two exact
    /// one-sided tests at 5 % in each one with test rows, all of which have to reject, so that together they err with 5 %.
    pub is_shown: bool,
    /// Take a bin whose event rate is less than this away from its value, or a range whose event rate is less than this outside its
    /// interval. It would go undetected in 9 of 10 cases or more, whichever it is. It is `None` if no deviation at all can be seen.
    pub unseen: Option<f64>,
    /// Each bin or range with test rows.
    pub ranges: Vec<RangeTest>,
}

/// Whether a guarantee holds on the test rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum GuaranteeOnRows {
    /// The rows show that no bin deviates by more than epsilon, or that the event rate of every score range lies in its interval.
    Shown,
    /// The rows neither show nor refute it.
    NotRefuted,
    /// Some bin deviates by more, or the rate of some range lies outside its interval, significantly.
    Contradicted,
    /// It is not about what test rows show.
    NotTested,
    /// There is none.
    None,
}

/// The test rows of a bin with a guarantee, or of a score range with an interval.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct RangeTest {
    /// The predicted class, if each has bins or separate ranges.
    pub class: Option<u16>,
    /// The number of the bin or range, 0-based, in ascending order of the scores.
    pub bin: u32,
    /// From which score on, and below which; `None` at the ends of all scores.
    pub scores: [Option<f64>; 2],
    /// The number of test rows.
    pub n: u64,
    /// How many of them are positive.
    pub hits: u64,
    /// The event rate among them.
    pub rate: f64,
    /// Where the event rate is guaranteed to be.
    pub interval: Interval,
    /// How far the event rate of a bin may be from the bin's value; `None` in a range.
    pub epsilon: Option<f64>,
    /// What these rows show: that it holds, that it does not, or neither.
    pub guarantee: GuaranteeOnRows,
}

impl RangeTest {
    /// What the columns of [`RangeTest::cells`] are.
    pub const COLUMNS: [&str; 7] = ["bin", "scores", "rows", "events", "rate", "guaranteed", "these rows"];

    /// The bin in words, a cell for each column.
    pub fn cells(&self) -> [String; 7] {
        let bin = match self.class {
            Some(class) => format!("{class}: {}", self.bin),
            None => self.bin.to_string(),
        };
        let scores = scores_in_words(self.scores);
        let guarantee = match self.guarantee {
            GuaranteeOnRows::Shown if self.epsilon.is_some() => "within epsilon",
            GuaranteeOnRows::Shown => "within",
            GuaranteeOnRows::Contradicted => "outside",
            GuaranteeOnRows::NotTested => "not tested",
            _ => "not refuted",
        };
        let interval = format!("{:.4}", self.interval);
        let [n, hits] = [self.n, self.hits].map(|count| count.to_string());
        [bin, scores, n, hits, shown(4, self.rate), interval, guarantee.into()]
    }
}

impl GuaranteeTest {
    /// Tests the guarantee of an artifact.
    pub(super) fn of(artifact: &Artifact<'_>, rows: &RowsOfBins) -> Self {
        let bins = tested_bins(artifact, rows).unwrap_or_default();
        let level = LEVEL / bins.len() as f64;
        let is_refuted = refuted(&bins) > 0;
        let is_shown = !is_refuted && !bins.is_empty() && bins.iter().all(Tested::is_shown);
        let unseen = bins.iter().filter_map(|tested| tested.unseen(level)).reduce(f64::min);
        let by_class = matches!(artifact.header().reduction, Reduction::TopLabel | Reduction::Joint);
        let tables = artifact.score_intervals().map_or(artifact.tables().count(), |found| found.count());
        let edges: BTreeMap<usize, Vec<f64>> =
            (0..tables).filter_map(|table| Some((table, score_edges(artifact, table)?))).collect();
        let range = |tested: &Tested| {
            let &Tested { table, number, bin: Bin { n, hits, .. }, interval, .. } = tested;
            let edge = |number: Option<u32>| edges.get(&table)?.get(number? as usize).copied();
            RangeTest {
                class: by_class.then_some(table as u16),
                bin: number,
                scores: [edge(number.checked_sub(1)), edge(Some(number))],
                n,
                hits,
                rate: hits as f64 / n as f64,
                interval: Interval { lo: interval.lo.max(0.0), hi: interval.hi.min(1.0) },
                epsilon: tested.epsilon,
                guarantee: match (tested.is_refuted(level), tested.is_shown()) {
                    (true, _) => GuaranteeOnRows::Contradicted,
                    (false, true) => GuaranteeOnRows::Shown,
                    (false, false) => GuaranteeOnRows::NotRefuted,
                },
            }
        };
        let ranges = bins.iter().map(range).collect();
        Self { is_refuted, is_shown, unseen: unseen.filter(|_| !is_refuted), ranges }
    }
}

/// A bin or range with test rows, and what is guaranteed of it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Tested {
    table: usize,
    number: u32,
    bin: Bin,
    /// Where the event rate lies.
    interval: Interval,
    /// Where it has to be shown to be: within epsilon of the bin's value, or in the range's interval.
    aim: Interval,
    /// Of a bin.
    epsilon: Option<f64>,
    /// From where deviations are measured: from the bin's value, or from the ends of the range's interval.
    from: Interval,
}

/// The bins or ranges with a guarantee that hold test rows; `None` if nothing is guaranteed of predictions.
pub(super) fn tested_bins(artifact: &Artifact<'_>, rows: &RowsOfBins) -> Option<Vec<Tested>> {
    let header = artifact.header();
    let of_ranges = artifact.score_intervals();
    let theorem = header.guarantee.map(|guarantee| guarantee.theorem);
    of_ranges.map(|_| ()).or(theorem.map(|_| ()))?;
    let table = |class: u16| match header.reduction {
        Reduction::Binary | Reduction::Confidence => Some(0),
        // Beside a calibrator of whole vectors only ranges of the predicted class's score have a guarantee.
        Reduction::TopLabel | Reduction::Joint => Some(usize::from(class)),
        // The predicted class's probability is guaranteed for other rows than those of which it is predicted.
        _ => None,
    };
    let mut bins: BTreeMap<(usize, u32), Bin> = BTreeMap::new();
    for (&(class, number), of_class) in rows {
        let bin = bins.entry((table(class)?, number)).or_insert(Bin { n: 0, hits: 0, ..*of_class });
        (bin.n, bin.hits) = (bin.n + of_class.n, bin.hits + of_class.hits);
    }
    let tables = artifact.tables();
    let tested = |(&(table, number), &bin): (&(usize, u32), &Bin)| {
        let own = u16::try_from(number).ok().and_then(|number| tables.interval(table, number));
        let own = own.map(|own| Interval { lo: own.lo.into(), hi: own.hi.into() });
        if of_ranges.is_some() {
            let own = own?;
            return Some(Tested { table, number, bin, interval: own, aim: own, epsilon: None, from: own });
        }
        let epsilon = f64::from(tables.get(table)?.epsilon?);
        let within = Interval { lo: bin.prob - epsilon, hi: bin.prob + epsilon };
        // An exact guarantee is one of intervals, which are narrower than epsilon in most bins.
        let interval = own.filter(|_| theorem == Some(Theorem::ClopperPearson)).unwrap_or(within);
        let from = Interval { lo: bin.prob, hi: bin.prob };
        Some(Tested { table, number, bin, interval, aim: within, epsilon: Some(epsilon), from })
    };
    Some(bins.iter().filter_map(tested).collect())
}

/// In how many bins the event rate is significantly not where it is guaranteed to be: exact binomial tests at [`LEVEL`] over all bins.
pub(super) fn refuted(bins: &[Tested]) -> u64 {
    let level = LEVEL / bins.len() as f64;
    bins.iter().filter(|tested| tested.is_refuted(level)).count() as u64
}

/// The test rows of a bin.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bin {
    /// The value of the bin. In a range it is the value of some row, and of no use.
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
}

impl Tested {
    fn is_refuted(&self, level: f64) -> bool {
        self.bin.p_value(self.interval) < level
    }

    /// Whether the event rate is shown to be where it should be, by an exact test at 5 % on either side.
    fn is_shown(&self) -> bool {
        let Interval { lo, hi } = clopper_pearson(self.bin.hits, self.bin.n, 2.0 * SHOWN);
        // A rate cannot be below 0 or above 1.
        (lo >= self.aim.lo || self.aim.lo <= 0.0) && (hi <= self.aim.hi || self.aim.hi >= 1.0)
    }

    /// The smallest deviation of the event rate that the test at this level finds in a tenth of cases; `None` if it finds none.
    fn unseen(&self, level: f64) -> Option<f64> {
        let Self { bin, interval, from, .. } = self;
        let refuses = |hits: u64| Bin { hits, ..*bin }.p_value(*interval) < level;
        let middle = (from.lo.midpoint(from.hi) * bin.n as f64) as u64;
        // The first count above, and the last one below, that the test refuses.
        let above = first(middle, bin.n, refuses).map(|hits| clopper_pearson(hits, bin.n, 0.2).lo - from.hi);
        let below = first(0, middle, |less| refuses(middle - less))
            .map(|less| from.lo - clopper_pearson(middle - less, bin.n, 0.2).hi);
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
        // 9 of 10 where at most 0.5 is guaranteed: (10 + 1) / 2^10, twice.
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
        let tested = |n: u64, from: Interval| {
            let bin = Bin { prob: 0.4, n, hits: 0 };
            Tested { table: 0, number: 0, bin, interval, aim: interval, epsilon: None, from }
        };
        let value = Interval { lo: 0.4, hi: 0.4 };
        for (n, from) in [20, 100, 1000].into_iter().flat_map(|n| [(n, value), (n, interval)]) {
            let bin = Bin { prob: 0.4, n, hits: 0 };
            let unseen = tested(n, from).unseen(0.01).unwrap();
            let power = |rate: f64| {
                let binomial = Binomial::new(rate, n).unwrap();
                let found = |hits: &u64| Bin { hits: *hits, ..bin }.p_value(interval) < 0.01;
                (0..=n).filter(found).map(|hits| binomial.pmf(hits)).sum::<f64>()
            };
            let powers = [power(from.hi + unseen), power(from.lo - unseen)];
            assert!(
                powers.iter().all(|power| *power <= 0.101) && powers.iter().any(|power| *power > 0.099),
                "{powers:?}"
            );
            assert!(unseen > value.lo - interval.lo - (value.lo - from.lo));
        }
        assert_eq!(tested(1, value).unseen(0.01), None);
    }
}
