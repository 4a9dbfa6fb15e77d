//! Exact binomial bounds in place of Hoeffding's inequality: of a bin from its counts, and in advance.

use super::theorems::sample_split;
use crate::stats::{Interval, at_most, clopper_pearson};

/// The bisection of [`exact_epsilon`] ends at this relative width. The result is rounded up by as much.
const PRECISION: f64 = 1e-9;

/// Returns the exact interval of a bin's event rate: Clopper and Pearson's at this level, which is `alpha / B` if the intervals of `B`
/// bins are to hold simultaneously with probability at least `1 - alpha`. For a bin without labels it is `[0, 1]`.
///
/// The edges of the bin must not depend on its labels. Then it holds in two cases:
/// - The labels are independent draws with the bin's rate. This is so if no scores tie at the edges and observations that are edges are
///   left out (the argument of Gupta and Ramdas 2021, Theorem 3).
/// - The scores are given, and labels are independent draws with a separate probability each. The rate is then the mean of these
///   probabilities. The binomial tail bounds theirs from one count beyond the mean on (Hoeffding 1956), which is so at the ends of
///   the interval for levels below 1/2. It is not for a single positive or a single negative: Markov's inequality takes its place there.
///
/// ```
/// let interval = calib_fit::guarantee::exact_interval(28, 285, 0.1 / 7.0);
/// assert!((interval.lo - 0.0597).abs() < 1e-4 && (interval.hi - 0.1495).abs() < 1e-4);
/// ```
///
/// # Panics
///
/// If `positives > n`, `n > 2^53` or the level is not in `(0, 1)`.
pub fn exact_interval(positives: u64, n: u64, level: f64) -> Interval {
    let Interval { lo, hi } = clopper_pearson(positives, n, level);
    let least = (level / 2.0 / n as f64).next_down();
    Interval {
        lo: if positives == 1 { lo.min(least) } else { lo },
        hi: if n - positives == 1 { hi.max((1.0 - least).next_up().min(1.0)) } else { hi },
    }
}

/// Returns the epsilon of a bin: how far the event rate can be from the bin's value while it lies in the bin's interval.
///
/// ```
/// use calib_fit::guarantee::{exact_interval, interval_epsilon};
///
/// let none_of_285 = exact_interval(0, 285, 0.1 / 7.0);
/// assert!((interval_epsilon(0.0, none_of_285) - 0.0172).abs() < 1e-4);
/// ```
pub fn interval_epsilon(value: f64, interval: Interval) -> f64 {
    (value - interval.lo).max(interval.hi - value)
}

/// Returns the exact epsilon in advance: the largest [epsilon of a bin](interval_epsilon) that any labels can give, with the union bound
/// over `bins` bins and `rows_per_bin = floor(n / B)` observations a bin. As in Theorem 3, one of them may be an edge and is left out, so
/// the bin has `rows_per_bin - 1` labels; without a label it is 1.
///
/// What a fit states is never wider. It falls with the labels of a bin, so bins with more labels keep it, too.
///
/// ```
/// use calib_fit::guarantee::{exact_epsilon, gr21_theorem3};
///
/// // 2000 observations in 7 bins.
/// assert!((exact_epsilon(285, 7, 0.1) - 0.0744).abs() < 1e-4);
/// assert!((gr21_theorem3(285, 7, 0.1) - 0.0933).abs() < 1e-4);
/// ```
///
/// # Panics
///
/// If there are no bins or alpha is not in `(0, 1)`.
pub fn exact_epsilon(rows_per_bin: u64, bins: u64, alpha: f64) -> f64 {
    let level = alpha / bins as f64;
    assert!(bins > 0 && level > 0.0 && level < 1.0, "alpha is {alpha} for {bins} bins");
    match rows_per_bin.saturating_sub(1).min(1 << 53) {
        0 => 1.0,
        labels => widest_epsilon(labels, level),
    }
}

/// The largest of `hi - k / n` over the Clopper-Pearson intervals of `k` positives of `n`. By symmetry it is the largest of `k / n - lo`,
/// too.
///
/// The end `hi` of `k` is where at most `k` positives have a probability of half the level. So `hi - k / n` exceeds `e` for some `k` if
/// that probability, at a rate of `k / n + e`, exceeds half the level for some `k`.
fn widest_epsilon(n: u64, level: f64) -> f64 {
    // Hoeffding's inequality: not less than the result.
    let (mut too_small, mut enough) = (0.0, sample_split(n, 1, level).min(1.0));
    let mut likeliest = n / 2;
    while enough - too_small > PRECISION * enough {
        let middle = f64::midpoint(too_small, enough);
        let likelihood;
        (likeliest, likelihood) = likeliest_count(likeliest, n, middle);
        if likelihood > level / 2.0 { too_small = middle } else { enough = middle }
    }
    let hi = exact_interval(likeliest, n, level).hi;
    enough.max(hi - likeliest as f64 / n as f64) * (1.0 + PRECISION)
}

/// Finds the count `k` for which at most `k` positives of `n`, at a rate of `k / n + e`, are likeliest, and how likely they are. The
/// likelihood rises with the count up to there and falls from there on; the search goes uphill from `start`.
fn likeliest_count(start: u64, n: u64, e: f64) -> (u64, f64) {
    let likelihood = |k: u64| {
        let (rate, others) = (k as f64 / n as f64 + e, (n - k) as f64 / n as f64 - e);
        if others > 0.0 { at_most(k, n, rate, others) } else { 0.0 }
    };
    let mut best = (start, likelihood(start));
    let mut step = 1;
    // Steps double while they lead uphill, and are halved where neither direction does.
    while step > 0 {
        let next = [best.0.checked_sub(step), best.0.checked_add(step).filter(|&k| k < n)];
        let next = next.into_iter().flatten().map(|k| (k, likelihood(k))).find(|next| next.1 > best.1);
        match next {
            Some(next) => (best, step) = (next, 2 * step),
            None => step /= 2,
        }
    }
    best
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use statrs::distribution::{Binomial, Discrete};

    use super::*;

    /// The largest epsilon of a bin with so many labels, one count after the other.
    fn brute(n: u64, level: f64) -> f64 {
        let epsilon = |k| interval_epsilon(k as f64 / n as f64, exact_interval(k, n, level));
        (0..=n).map(epsilon).fold(0.0, f64::max)
    }

    #[test]
    fn is_the_largest_of_all_counts() {
        for n in (1..40).chain([57, 100, 171, 284, 285]) {
            for level in [0.9, 0.5, 0.1, 0.01, 1e-3, 1e-5, 1e-9] {
                let (found, largest) = (exact_epsilon(n + 1, 1, level), brute(n, level));
                assert!(
                    largest <= found && found <= largest * (1.0 + 1e-8),
                    "{n} {level}: {found} {largest}"
                );
            }
        }
    }

    /// The smallest `e` for which the rate of positives is further than `e` from `p` with probability at most the level, whatever `p` is: it is
    /// reached next to a count's rate, from above (the other side is its mirror image).
    fn smallest_for_all_rates(n: u64, level: f64) -> f64 {
        let worst = |e: f64| {
            let within = (2.0 * n as f64 * e + 1e-9) as u64;
            let probability = |j: u64| {
                let p = j as f64 / n as f64 + e;
                let above = j + within;
                let more = if above >= n { 0.0 } else { 1.0 - at_most(above, n, p, 1.0 - p) };
                at_most(j, n, p, 1.0 - p) + more
            };
            (0..n).take_while(|&j| j as f64 / n as f64 + e < 1.0).map(probability).fold(0.0, f64::max)
        };
        let (mut too_small, mut enough) = (0.0, 1.0);
        for _ in 0..30 {
            let middle = f64::midpoint(too_small, enough);
            if worst(middle) > level { too_small = middle } else { enough = middle }
        }
        enough
    }

    /// No epsilon that holds for all rates can be smaller than the one by `smallest_for_all_rates`. The epsilon that bins' intervals give is
    /// at most a fortieth larger, and a fifth smaller than Hoeffding's.
    #[test]
    fn is_close_to_the_smallest_possible() {
        for (n, bins, alpha, smallest, hoeffding) in [
            (190, 5, 0.1, 0.2027, 0.2495),
            (500, 5, 0.1, 0.1212, 0.1525),
            (1000, 10, 0.1, 0.1313, 0.1636),
            (2000, 10, 0.1, 0.0930, 0.1154),
            (8000, 15, 0.0894, 0.0602, 0.0739),
            (20_000, 10, 0.1, 0.0290, 0.0364),
        ] {
            let found = exact_epsilon(n / bins, bins, alpha);
            let least = smallest_for_all_rates(n / bins - 1, alpha / bins as f64);
            assert!((least - smallest).abs() < 1e-4, "{n} {bins}: {least}");
            assert!((least..=least * 1.025).contains(&found), "{n} {bins}: {found}");
            let papers = crate::guarantee::gr21_theorem3(n / bins, bins, alpha);
            assert!((papers - hoeffding).abs() < 1e-4 && found < 0.84 * papers, "{n} {bins}: {papers}");
        }
    }

    #[test]
    fn one_label_differs_from_the_others_at_markovs_price() {
        for n in [1u64, 2, 10, 300] {
            for level in [0.01f64, 0.2, 0.499] {
                let a = level / 2.0;
                let (one, all_but_one) = (exact_interval(1, n, level), exact_interval(n - 1, n, level));
                assert!(one.lo <= a / n as f64 && one.lo > 0.99 * a / n as f64);
                assert!(all_but_one.hi >= 1.0 - a / n as f64 && all_but_one.hi <= 1.0 - 0.99 * a / n as f64);
                for positives in (0..=n).filter(|&k| k != 1 && k + 1 != n) {
                    assert_eq!(exact_interval(positives, n, level), clopper_pearson(positives, n, level));
                }
            }
        }
    }

    /// Labels with different probabilities: two groups of them, by all counts.
    #[test]
    fn intervals_hold_given_the_scores() {
        let pmf = |n: u64, p: f64| -> Vec<f64> {
            let binomial = Binomial::new(p, n).unwrap();
            (0..=n).map(|k| binomial.pmf(k)).collect()
        };
        for (first, second, level) in [(1, 20, 0.02), (5, 15, 0.1), (2, 2, 0.4), (10, 10, 0.3)] {
            let n = first + second;
            let intervals: Vec<Interval> = (0..=n).map(|k| exact_interval(k, n, level)).collect();
            for p in (0..=50).map(|p| f64::from(p) / 50.0) {
                let of_first = pmf(first, p);
                for q in (0..=100).map(|q| f64::from(q * q) / 10_000.0) {
                    let mean = (first as f64 * p + second as f64 * q) / n as f64;
                    let mut outside = 0.0;
                    for (i, x) in of_first.iter().enumerate() {
                        for (j, y) in pmf(second, q).iter().enumerate() {
                            let Interval { lo, hi } = intervals[i + j];
                            outside += if lo - 1e-15 <= mean && mean <= hi + 1e-15 { 0.0 } else { x * y };
                        }
                    }
                    assert!(outside <= level, "{first} at {p}, {second} at {q}: {outside} of {level}");
                }
            }
        }
        // One label of 21 may be positive, with probability 0.22: that of Clopper and Pearson fails as often, at 0.2 a side.
        let (mean, level) = (0.22 / 21.0, 0.4);
        assert!(clopper_pearson(1, 21, level).lo > mean && exact_interval(1, 21, level).lo < mean);
    }

    /// The rate lies in the interval with the probability that is asked for, whatever it is, and so within epsilon in advance of the value.
    #[test]
    fn intervals_and_epsilon_hold_at_every_rate() {
        for (n, level) in [(9, 0.3), (37, 0.02), (99, 0.02), (60, 0.1)] {
            let intervals: Vec<Interval> = (0..=n).map(|k| exact_interval(k, n, level)).collect();
            let epsilon = exact_epsilon(n + 1, 1, level);
            for p in (0..=1000).map(|p| f64::from(p) / 1000.0) {
                let binomial = Binomial::new(p, n).unwrap();
                let (mut outside, mut beyond) = (0.0, 0.0);
                for (k, interval) in (0..=n).zip(&intervals) {
                    let value = k as f64 / n as f64;
                    let mass = binomial.pmf(k);
                    outside += if interval.lo <= p && p <= interval.hi { 0.0 } else { mass };
                    beyond += if (value - p).abs() <= epsilon { 0.0 } else { mass };
                }
                assert!(beyond <= outside && outside <= level, "{n} {level} {p}: {outside} {beyond}");
            }
        }
    }

    /// Of up to a million labels, without a sum over all counts.
    #[test]
    fn falls_with_the_labels_of_a_bin() {
        let epsilons =
            [2, 3, 10, 100, 1000, 30_000, 1_000_000, 1 << 33, 1 << 50].map(|n| exact_epsilon(n, 10, 0.1));
        assert!(epsilons.is_sorted_by(|a, b| a > b), "{epsilons:?}");
        // The normal quantile at 0.995 times the largest standard deviation.
        assert!((epsilons[6] / (2.5758 * 0.5 / 1000.0) - 1.0).abs() < 0.002, "{epsilons:?}");
        assert_eq!((exact_epsilon(1, 10, 0.1), exact_epsilon(0, 1, 0.1)), (1.0, 1.0));
        assert!(exact_epsilon(177, 10, 0.1) <= 0.1 && exact_epsilon(176, 10, 0.1) > 0.1);
    }

    proptest! {
        #[test]
        fn falls_with_labels_and_rises_with_bins(points in 2u64..20_000, bins in 1u64..30, alpha in 1e-4f64..0.9) {
            let epsilon = exact_epsilon(points, bins, alpha);
            prop_assert!(exact_epsilon(points + 1, bins, alpha) <= epsilon);
            prop_assert!(exact_epsilon(points, bins + 1, alpha) >= epsilon);
            prop_assert!(epsilon <= crate::guarantee::gr21_theorem3(points, bins, alpha) * (1.0 + 1e-8));
        }

        #[test]
        fn no_labels_give_more(points in 2u64..20_000, bins in 1u64..30, alpha in 1e-4f64..0.9, share in 0.0f64..=1.0) {
            let n = points - 1;
            let k = (share * n as f64) as u64;
            let given = interval_epsilon(k as f64 / n as f64, exact_interval(k, n, alpha / bins as f64));
            prop_assert!(given <= exact_epsilon(points, bins, alpha));
        }
    }
}
