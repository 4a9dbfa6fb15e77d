//! Tails of the binomial distribution, accurate for every number of trials up to 2^53.

use std::f64::consts::TAU;

use statrs::function::erf::erfc;

/// By how much a computed tail may be too small, relative to it. Who compares a tail with a
/// level allows for that; the tests find 1e-13.
pub(super) const TAIL_ERROR: f64 = 1e-9;
/// From this many positives and negatives on, a bound of the tail replaces the tail. The continued fraction needs about the
/// square root of the smaller count in steps. The bound exceeds the tail by about the probability of one count, 1e-5.
const BOUND_FROM: u64 = 1 << 32;

/// Tells whether at most `count` of `n` trials succeed with probability at most `level`, if each does with probability
/// `p = 1 - q`. A tail that equals the level to nine digits counts as above it.
///
/// # Panics
///
/// If `count > n` or `n > 2^53`.
pub(crate) fn at_most_is_rare(count: u64, n: u64, p: f64, q: f64, level: f64) -> bool {
    level >= 1.0 || at_most(count, n, p, q) <= level * (1.0 - TAIL_ERROR)
}

/// Returns the probability that at most `count` of `n` trials succeed, each with probability `p = 1 - q`.
///
/// # Panics
///
/// If `count > n` or `n > 2^53`.
pub(crate) fn at_most(count: u64, n: u64, p: f64, q: f64) -> f64 {
    assert!(count <= n && n <= 1 << 53, "{count} of {n}");
    if count == n {
        return 1.0;
    }
    // As many failures as are left, or more.
    let below = tail(n - count, count, q, p);
    if below < 1.0 { below } else { 1.0 - tail(count + 1, n - count - 1, p, q) }
}

/// The probability that `count` or more of `count + others` trials succeed, each with probability `p = 1 - q`; 1 where it
/// is one half or more.
pub(super) fn tail(count: u64, others: u64, p: f64, q: f64) -> f64 {
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
/// Morris 1992 (equation 9), evaluated from the front (Lentz). `above` is `a - (a + b) p + 1`. The form has no difference of
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
    use statrs::distribution::{Binomial, DiscreteCDF};

    use super::*;

    /// A tail may be computed a little too small, and one that equals the level to nine digits is above it.
    #[test]
    fn a_tail_that_equals_the_level_is_not_rare() {
        for (count, n, p, prob) in
            [(0, 1, 0.5, 0.5), (0, 2, 0.5, 0.25), (1, 2, 0.25, 0.9375), (2, 3, 0.5, 0.875)]
        {
            assert!(!at_most_is_rare(count, n, p, 1.0 - p, prob), "{count} of {n}");
            assert!(!at_most_is_rare(count, n, p, 1.0 - p, prob * (1.0 + 1e-10)), "{count} of {n}");
            assert!(at_most_is_rare(count, n, p, 1.0 - p, prob * (1.0 + 1e-8)), "{count} of {n}");
        }
    }

    /// For every count, against the sums of `statrs`.
    #[test]
    fn rare_is_what_the_distribution_says() {
        for (n, p) in [(1u64, 0.5), (7, 0.05), (59, 0.05), (200, 0.3), (60, 0.9)] {
            let distribution = Binomial::new(p, n).unwrap();
            for count in 0..=n {
                let prob = distribution.cdf(count);
                assert!(at_most_is_rare(count, n, p, 1.0 - p, prob * (1.0 + 1e-8)), "{count} of {n} at {p}");
                assert!(!at_most_is_rare(count, n, p, 1.0 - p, prob * (1.0 - 1e-8)), "{count} of {n} at {p}");
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
}
