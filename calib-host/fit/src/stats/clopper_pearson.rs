//! Exact binomial intervals (Clopper and Pearson 1934).
//!
//! Each end is found by bisection over the floating-point numbers, on a tail of the binomial distribution that is accurate
//! for every number of trials up to 2^53. The bisection starts from a few steps of the secant method. The inverse of the beta distribution in `statrs` 0.19 does not end from 7.5 million
//! trials on where few of them are positive.

use super::binomial::{TAIL_ERROR, tail};
use super::interval::Interval;

/// The most steps of the secant method. Where it converges it takes up to eight.
const SECANTS: usize = 12;
/// The secant method takes its last step from where the logarithm is this near to 0. Nearer, rounding would bend a secant.
const NEAR: f64 = 1e-9;

/// Computes the Clopper-Pearson interval of a binomial proportion: it covers the true proportion with probability at least
/// `1 - alpha`, whatever the proportion is. For `n = 0` it is `[0, 1]`.
///
/// With `alpha / B` for each of `B` bins, all of them are covered with probability `1 - alpha`. Both ends are rounded
/// outwards. The time grows with the square root of the smaller of the two counts, and is below a millisecond.
///
/// # Panics
///
/// If `positives > n`, `n > 2^53` or alpha is not in `(0, 1)`.
///
/// # Examples
///
/// ```
/// let interval = calib_fit::stats::clopper_pearson(0, 50, 0.1);
/// assert!(interval.lo == 0.0 && (interval.hi - 0.0582).abs() < 1e-4);
/// ```
pub fn clopper_pearson(positives: u64, n: u64, alpha: f64) -> Interval {
    assert!(positives <= n && n <= 1 << 53 && alpha > 0.0 && alpha < 1.0, "{positives} of {n} at {alpha}");
    let negatives = n - positives;
    let limit = alpha / 2.0 * (1.0 - TAIL_ERROR);
    let above = |p: f64| tail(positives, negatives, p, 1.0 - p);
    let below = |p: f64| tail(negatives, positives, 1.0 - p, p);
    let [lo_starts, hi_starts] = starts(positives, negatives, limit);
    let lo = match positives {
        0 => 0.0,
        _ => last(root(|p| above(p) / limit, lo_starts), |p| above(p) <= limit),
    };
    let hi = match negatives {
        0 => 1.0,
        _ => last(root(|p| below(p) / limit, hi_starts), |p| below(p) > limit).next_up(),
    };
    Interval { lo, hi }
}

/// Computes the interval of a proportion among `n` dependent rows that amount to `effective <= n` independent ones: that of
/// Clopper and Pearson for so many trials, with the counts that the proportion would have there rounded outwards (Korn and
/// Graubard 1998). For `effective = n` it is [`clopper_pearson`].
///
/// # Panics
///
/// As [`clopper_pearson`], or if `effective` is 0 or above `n`.
///
/// # Examples
///
/// ```
/// use calib_fit::stats::{clopper_pearson, effective_clopper_pearson};
///
/// // 25 patients with 20 recordings each that all say the same: 8 of 25.
/// assert_eq!(effective_clopper_pearson(160, 500, 25, 0.1), clopper_pearson(8, 25, 0.1));
/// ```
pub fn effective_clopper_pearson(positives: u64, n: u64, effective: u64, alpha: f64) -> Interval {
    assert!((1..=n).contains(&effective), "{effective} of {n}");
    let scaled = u128::from(positives) * u128::from(effective);
    let (below, above) = (scaled / u128::from(n), scaled.div_ceil(u128::from(n)));
    Interval {
        lo: clopper_pearson(below as u64, effective, alpha).lo,
        hi: clopper_pearson(above as u64, effective, alpha).hi,
    }
}

/// Where the search for each end starts, from the outside: the tail of a normal distribution beyond z is below `exp(-z^2 / 2)`.
fn starts(positives: u64, negatives: u64, limit: f64) -> [[f64; 2]; 2] {
    let scores = [2.0, 1.6].map(|factor| score_interval(positives, negatives, -factor * limit.ln()));
    [scores.map(|score| score.0), scores.map(|score| score.1)]
}

/// The score interval of a binomial proportion (Wilson 1927), from the square of the normal quantile.
fn score_interval(positives: u64, negatives: u64, z2: f64) -> (f64, f64) {
    let (positives, negatives) = (positives as f64, negatives as f64);
    let n = positives + negatives;
    let sum = positives + z2 / 2.0 + (z2 * (positives * negatives / n + z2 / 4.0)).sqrt();
    // Both are solutions of one quadratic equation: this product has no difference of nearly equal numbers.
    let (lo, hi) = (positives * positives / n / sum, sum / (n + z2));
    (lo.min(1.0), hi.min(1.0))
}

/// Returns about where a function of a probability is 1, by the secant method on its logarithm over the log-odds. The result may be
/// wrong where the method does not converge.
fn root(function: impl Fn(f64) -> f64, start: [f64; 2]) -> f64 {
    let prob = |log_odds: f64| 1.0 / (1.0 + (-log_odds).exp());
    let at = |log_odds: f64| (log_odds, function(prob(log_odds)).ln());
    let [mut previous, mut current] = start.map(|prob| at((prob / (1.0 - prob)).ln()));
    for _ in 0..SECANTS {
        let next = current.0 - current.1 * (current.0 - previous.0) / (current.1 - previous.1);
        if !next.is_finite() {
            break;
        }
        if current.1.abs() < NEAR {
            return prob(next);
        }
        (previous, current) = (current, at(next));
    }
    prob(current.0)
}

/// Finds the last number below 1 that meets a condition. The condition holds from 0 up to that number, and not beyond. The nearer
/// the guess is, the shorter is the search.
fn last(guess: f64, holds: impl Fn(f64) -> bool) -> f64 {
    // Floats that are not negative are in the order of their bits.
    let (mut holding, mut failing) = (0.0f64.to_bits(), 1.0f64.to_bits());
    let holds = |bits| holds(f64::from_bits(bits));
    let guess = guess.to_bits().clamp(holding + 1, failing - 1);
    // Away from the guess, by steps that double, until the number is passed.
    let mut step = 1;
    if holds(guess) {
        holding = guess;
        while failing - holding > step && holds(holding + step) {
            holding += step;
            step *= 2;
        }
        failing = failing.min(holding + step);
    } else {
        failing = guess;
        while failing - holding > step && !holds(failing - step) {
            failing -= step;
            step *= 2;
        }
        holding = holding.max(failing.saturating_sub(step));
    }
    while failing - holding > 1 {
        let middle = holding.midpoint(failing);
        if holds(middle) {
            holding = middle;
        } else {
            failing = middle;
        }
    }
    f64::from_bits(holding)
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use proptest::prelude::*;
    use statrs::distribution::{Binomial, DiscreteCDF};

    use super::*;

    /// Each end is the outermost number whose tail is not above half of alpha, so that rounding never makes the interval shorter.
    #[test]
    fn ends_are_rounded_outwards() {
        for (positives, n, alpha) in
            [(1, 10, 0.1), (5, 10, 0.05), (3, 300, 0.01), (990, 1000, 0.1), (40, 80, 1e-4)]
        {
            let (negatives, limit) = (n - positives, alpha / 2.0 * (1.0 - TAIL_ERROR));
            let Interval { lo, hi } = clopper_pearson(positives, n, alpha);
            let (below, above) = (
                |p: f64| tail(positives, negatives, p, 1.0 - p),
                |p: f64| tail(negatives, positives, 1.0 - p, p),
            );
            assert!(below(lo) <= limit && below(lo.next_up()) > limit, "{positives} of {n}");
            assert!(above(hi) <= limit && above(hi.next_down()) > limit, "{positives} of {n}");
        }
    }

    /// A third of two rows is none of them below, and one above.
    #[test]
    fn effective_counts_are_rounded_outwards() {
        let found = effective_clopper_pearson(1, 3, 2, 0.1);
        assert_eq!((found.lo, found.hi), (0.0, clopper_pearson(1, 2, 0.1).hi));
        let turned = effective_clopper_pearson(2, 3, 2, 0.1);
        assert_eq!((turned.lo, turned.hi), (clopper_pearson(1, 2, 0.1).lo, 1.0));
    }

    /// At the ends of the interval the observed count is just at the edge of what is plausible.
    #[test]
    fn inverts_the_binomial_tails() {
        for (positives, n, alpha) in
            [(1, 10, 0.1), (5, 10, 0.05), (3, 300, 0.01), (990, 1000, 0.1), (40, 80, 1e-4)]
        {
            let interval = clopper_pearson(positives, n, alpha);
            let below = Binomial::new(interval.hi, n).unwrap().cdf(positives);
            let above = 1.0 - Binomial::new(interval.lo, n).unwrap().cdf(positives - 1);
            assert!((below - alpha / 2.0).abs() < 1e-8, "{positives}/{n}: {below}");
            assert!((above - alpha / 2.0).abs() < 1e-8, "{positives}/{n}: {above}");
        }
    }

    #[test]
    fn the_ends_have_closed_forms() {
        let none = clopper_pearson(0, 50, 0.1);
        assert_eq!(none.lo, 0.0);
        assert!((none.hi - (1.0 - 0.05f64.powf(1.0 / 50.0))).abs() < 1e-9);
        let all = clopper_pearson(50, 50, 0.1);
        assert_eq!(all.hi, 1.0);
        assert!((all.lo - 0.05f64.powf(1.0 / 50.0)).abs() < 1e-9);
        assert_eq!(clopper_pearson(0, 0, 0.1), Interval { lo: 0.0, hi: 1.0 });
        let one = clopper_pearson(1, 1, 0.5);
        assert!(one.lo < 0.25 && one.lo > 0.25 - 1e-9);
    }

    /// The probability of at most `positives`, which are few, as a sum of positive terms.
    fn at_most(positives: u64, n: u64, p: f64) -> f64 {
        let odds = p / (1.0 - p);
        let mut term = (n as f64 * (-p).ln_1p()).exp();
        let mut sum = term;
        for j in 0..positives {
            term *= (n - j) as f64 / (j + 1) as f64 * odds;
            sum += term;
        }
        sum
    }

    /// Where `statrs` does not end, and up to the largest count that a float holds.
    #[test]
    fn ends_for_any_number_of_trials_and_is_rounded_outwards() {
        for n in [100, 7_500_000, 8_400_000, 1_000_000_000, 1 << 40, 1 << 53] {
            for positives in [0, 1, 3, 20] {
                for alpha in [0.5, 0.1, 1e-4, 1e-9] {
                    let Interval { lo, hi } = clopper_pearson(positives, n, alpha);
                    let share = at_most(positives, n, hi) / (alpha / 2.0);
                    assert!((1.0 - 1e-8..1.0).contains(&share), "{positives}/{n} at {alpha}: {share}");
                    if positives > 0 && alpha > 1e-3 {
                        let share = (1.0 - at_most(positives - 1, n, lo)) / (alpha / 2.0);
                        assert!((share - 1.0).abs() < 1e-6, "{positives}/{n} at {alpha}: {share}");
                    }
                    let turned = clopper_pearson(n - positives, n, alpha);
                    assert!((1.0 - turned.lo - hi).abs() <= f64::EPSILON);
                }
            }
            for positives in [n / 50, n / 3, n / 2] {
                let Interval { lo, hi } = clopper_pearson(positives, n, 0.1);
                let rate = positives as f64 / n as f64;
                // 1.645 standard deviations, and half a count for its being discrete.
                let half =
                    1.7 * (rate * (1.0 - rate) / n as f64).sqrt() + 2.0 / n as f64 + 2.0 * f64::EPSILON;
                assert!(lo < rate && rate < hi, "{positives}/{n}: {lo} {hi}");
                assert!(n < 1000 || (rate - lo < half && hi - rate < half), "{positives}/{n}: {lo} {hi}");
            }
        }
    }

    #[test]
    fn the_search_ends_at_the_number_from_any_guess() {
        let (least, most) = (f64::from_bits(1), 1.0f64.next_down());
        for number in [0.0, least, 1e-300, 0.3, most] {
            for guess in [0.0, least, 1e-9, 0.3, 0.3f64.next_up(), 0.7, most, 1.0, f64::INFINITY, f64::NAN] {
                assert_eq!(last(guess, |p| p <= number), number, "{guess}");
            }
        }
    }

    /// From two starts, in up to eight steps, to where few floats are left to search.
    #[test]
    fn secants_lead_to_the_ends() {
        for (positives, n) in [(1, 2), (3, 300), (1, 1 << 40), (300_000, 1_000_000), (1 << 31, 1 << 33)] {
            for alpha in [0.9, 0.1, 1e-3, 1e-12] {
                let (negatives, limit) = (n - positives, alpha / 2.0 * (1.0 - TAIL_ERROR));
                let tails = Cell::new(0);
                let counted = |tail: f64| {
                    tails.set(tails.get() + 1);
                    tail / limit
                };
                let above = |p: f64| counted(tail(positives, negatives, p, 1.0 - p));
                let below = |p: f64| counted(tail(negatives, positives, 1.0 - p, p));
                let [lo_starts, hi_starts] = starts(positives, negatives, limit);
                let Interval { lo, hi } = clopper_pearson(positives, n, alpha);
                for (found, end) in [(root(above, lo_starts), lo), (root(below, hi_starts), hi)] {
                    assert!(
                        (found / end - 1.0).abs() < 1e-13,
                        "{positives} of {n} at {alpha}: {found} {end}"
                    );
                }
                assert!(tails.get() <= 2 * (2 + 8), "{positives} of {n} at {alpha}: {}", tails.get());
            }
        }
    }

    proptest! {
        #[test]
        fn covers_the_rate_and_grows_with_the_count_and_the_confidence(
            n in 1u64..10_000_000,
            share in 0.0..1.0f64,
            alpha in 1e-6..0.9f64,
        ) {
            let positives = (share * n as f64) as u64;
            let got = clopper_pearson(positives, n, alpha);
            let rate = positives as f64 / n as f64;
            prop_assert!(0.0 <= got.lo && got.lo <= rate && rate <= got.hi && got.hi <= 1.0);
            let next = clopper_pearson(positives + 1, n + 1, alpha);
            prop_assert!(got.lo < next.lo && got.hi <= next.hi);
            let surer = clopper_pearson(positives, n, alpha / 2.0);
            prop_assert!(surer.lo <= got.lo && got.hi <= surer.hi);
        }
    }
}
