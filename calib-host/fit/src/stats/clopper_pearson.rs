//! Exact binomial intervals (Clopper and Pearson 1934).
//!
//! Each end is found by bisection over the floating-point numbers, on a tail of the binomial distribution that is accurate
//! for every number of trials up to 2^53. The inverse of the beta distribution in `statrs` 0.19 does not end from 7.5 million
//! trials on where few of them are positive.

use std::f64::consts::TAU;

use statrs::function::erf::erfc;

use super::interval::Interval;

/// By how much a computed tail may be too small, relative to it. The ends are moved outwards by that; the tests find
/// 1e-13.
const TAIL_ERROR: f64 = 1e-9;
/// From so many positives and negatives on, a bound of the tail takes the tail's place, since the continued fraction takes
/// about the square root of the smaller count in steps. The bound exceeds the tail by about the probability of one count, 1e-5.
const BOUND_FROM: u64 = 1 << 32;

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
    let lo = match positives {
        0 => 0.0,
        _ => last(|p| p == 0.0 || tail(positives, negatives, p, 1.0 - p) <= limit),
    };
    let hi = match negatives {
        0 => 1.0,
        _ => last(|p| p == 0.0 || tail(negatives, positives, 1.0 - p, p) > limit).next_up(),
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

/// Finds the last number below 1 that meets a condition. The condition holds from 0 up to that number, and not beyond.
fn last(holds: impl Fn(f64) -> bool) -> f64 {
    // Floats that are not negative are in the order of their bits.
    let (mut holding, mut failing) = (0.0f64.to_bits(), 1.0f64.to_bits());
    while failing - holding > 1 {
        let middle = holding.midpoint(failing);
        if holds(f64::from_bits(middle)) {
            holding = middle;
        } else {
            failing = middle;
        }
    }
    f64::from_bits(holding)
}

/// The probability that `count` or more of `count + others` trials succeed, each with probability `p = 1 - q`; 1 where it
/// is one half or more.
fn tail(count: u64, others: u64, p: f64, q: f64) -> f64 {
    let (k, m) = (count as f64, others as f64);
    let n = k + m;
    // By how much the count is above its mean, from the smaller of both probabilities: that one is not rounded.
    let above = if p <= q { (-n).mul_add(p, k) } else { n.mul_add(q, -m) };
    if above <= 0.0 {
        // The median is no less than the mean rounded down.
        return 1.0;
    }
    if count.min(others) >= BOUND_FROM {
        return bound(k, m, n * p, n * q, above);
    }
    let density = density(k, m, n * p, n * q, above);
    if others == 0 { density } else { density * q * fraction(k, m + 1.0, p, q, above + q) }
}

/// An upper bound of the tail by the normal distribution (Zubkov and Serov 2013, Theorem 1: one success less, and the signed
/// root of the deviance).
fn bound(k: f64, m: f64, mean: f64, other_mean: f64, above: f64) -> f64 {
    let above = above - 1.0;
    if above <= 0.0 {
        return 1.0;
    }
    let deviance = deviance(k - 1.0, mean, above) + deviance(m + 1.0, other_mean, -above);
    0.5 * erfc(deviance.sqrt())
}

/// The probability of `k` successes and `m` failures (Loader 2000, "Fast and accurate computation of binomial
/// probabilities").
fn density(k: f64, m: f64, mean: f64, other_mean: f64, above: f64) -> f64 {
    if m == 0.0 {
        // Of k trials the share of failures is `other_mean / k`.
        return (k * if other_mean < mean { (-other_mean / k).ln_1p() } else { (mean / k).ln() }).exp();
    }
    let n = k + m;
    let deviance = deviance(k, mean, above) + deviance(m, other_mean, -above);
    (stirling_error(n) - stirling_error(k) - stirling_error(m) - deviance).exp() * (n / (TAU * k * m)).sqrt()
}

/// The logarithm of `n!` less Stirling's approximation of it.
fn stirling_error(n: f64) -> f64 {
    if n < 16.0 {
        let factorial: f64 = (1..=n as u32).map(f64::from).product();
        return factorial.ln() - (n + 0.5) * n.ln() + n - 0.5 * TAU.ln();
    }
    let s = 1.0 / (n * n);
    (1.0 / 12.0 - s * (1.0 / 360.0 - s * (1.0 / 1260.0 - s * (1.0 / 1680.0 - s / 1188.0)))) / n
}

/// `count ln(count / mean) - above`, where `above = count - mean`: by a series in `above` where both terms nearly cancel.
fn deviance(count: f64, mean: f64, above: f64) -> f64 {
    let share = above / (count + mean);
    if share.abs() >= 0.1 {
        return count * (count / mean).ln() - above;
    }
    let (mut sum, mut power) = (above * share, 2.0 * count * share);
    for odd in (3..).step_by(2) {
        power *= share * share;
        let next = sum + power / f64::from(odd);
        if next == sum {
            break;
        }
        sum = next;
    }
    sum
}

/// The tail from `a` successes on, divided by `q` times the probability of `a`, by the continued fraction of Didonato and
/// Morris 1992 (equation 9), evaluated from the front (Lentz). `above` is `a - (a + b) p + 1`; the form has no difference of
/// nearly equal numbers, and takes about the square root of the smaller of `a` and `b` in steps.
fn fraction(a: f64, b: f64, p: f64, q: f64, above: f64) -> f64 {
    let mut value = a * above / (a + 1.0);
    let (mut from_front, mut from_back) = (value, 0.0);
    let mut i = 1.0;
    loop {
        let even = a + 2.0 * i - 1.0;
        let numerator = (a + i - 1.0) * (a + b + i - 1.0) / even * (i * (b - i) / even) * p * p;
        let denominator = i + i * (b - i) * p / even + (a + i) * (above + i * (1.0 + q)) / (even + 2.0);
        from_back = 1.0 / (denominator + numerator * from_back);
        from_front = denominator + numerator / from_front;
        let step = from_front * from_back;
        value *= step;
        if (step - 1.0).abs() < 4.0 * f64::EPSILON {
            return a / value;
        }
        i += 1.0;
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use statrs::distribution::{Binomial, DiscreteCDF};

    use super::*;

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

    /// Both ways of computing a tail meet where one takes over from the other.
    #[test]
    fn the_bound_is_just_above_the_tail() {
        let (k, n) = (1u64 << 31, 1u64 << 33);
        for deviations in [0.5, 2.0, 6.0] {
            let p = 0.25 - deviations * (0.1875 / n as f64).sqrt();
            let (count, others) = (k as f64, (n - k) as f64);
            let above = (-(n as f64)).mul_add(p, count);
            let exact = tail(k, n - k, p, 1.0 - p);
            let bound = bound(count, others, n as f64 * p, n as f64 * (1.0 - p), above);
            assert!(bound >= exact && bound < exact * 1.0003, "{deviations}: {exact} {bound}");
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
