//! Distribution-free guarantees and the sentences that state them.

use calib_core::artifact::Theorem;
use serde::{Serialize, Serializer};

use crate::names::names;

/// A conditional calibration guarantee: with probability at least `1 - alpha` over the draw of the calibration
/// data, every bin's value is within `epsilon` of the true probability for scores in that bin.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Guarantee {
    /// The theorem it follows from.
    #[serde(serialize_with = "in_words")]
    pub theorem: Theorem,
    /// The failure probability, in `(0, 1)`.
    pub alpha: f64,
    /// The largest deviation over all tables that have a guarantee; from 1 on it says nothing.
    pub epsilon: f64,
}

fn in_words<S: Serializer>(theorem: &Theorem, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(theorem)
}

/// How the epsilon of a binned calibrator follows from its labels.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names say it, below")]
pub enum GuaranteeBound {
    #[default]
    Exact,
    Hoeffding,
}

names! {
    GuaranteeBound, "bound":
    Exact "exact" "The farthest end of the bins' exact binomial intervals",
    Hoeffding "hoeffding" "Hoeffding's inequality, as in papers: about a quarter wider, and none for umd if scores tie at an edge",
}

/// Gupta and Ramdas 2021, Theorem 3 (conditional): `sqrt(ln(2 B / alpha) / (2 (floor(n / B) - 1)))`.
///
/// With `bins` the number of bins over which the union bound is taken and `rows_per_bin = floor(n / B) >= 2`.
///
/// ```
/// // 1000 points in 5 bins, at alpha = 0.1: figure 2 of the paper says 0.12.
/// assert!((calib_fit::guarantee::gr21_theorem3(200, 5, 0.1) - 0.10757).abs() < 1e-5);
/// ```
pub fn gr21_theorem3(rows_per_bin: u64, bins: u64, alpha: f64) -> f64 {
    hoeffding(2.0 * bins as f64 / alpha, rows_per_bin)
}

/// Gupta and Ramdas 2021, Corollary 1 (conditional), for boundary points that are kept: Theorem 3 plus
/// `1 / floor(n / B)`.
///
/// ```
/// use calib_fit::guarantee::{gr21_corollary1, gr21_theorem3};
///
/// assert_eq!(gr21_corollary1(200, 5, 0.1), gr21_theorem3(200, 5, 0.1) + 1.0 / 200.0);
/// ```
pub fn gr21_corollary1(rows_per_bin: u64, bins: u64, alpha: f64) -> f64 {
    gr21_theorem3(rows_per_bin, bins, alpha) + 1.0 / rows_per_bin as f64
}

/// Gupta and Ramdas 2021, Theorem 4 (marginal), for ties broken at random, up to an arbitrarily small delta:
/// `sqrt(ln(2 / alpha) / (2 (floor(n / B) - 1)))`. Its conditional part is Theorem 3.
///
/// ```
/// use calib_fit::guarantee::{gr21_theorem3, gr21_theorem4_marginal};
///
/// // On average over bins rather than in all of them at once, the bound is tighter.
/// assert!(gr21_theorem4_marginal(200, 0.1) < gr21_theorem3(200, 5, 0.1));
/// ```
pub fn gr21_theorem4_marginal(rows_per_bin: u64, alpha: f64) -> f64 {
    hoeffding(2.0 / alpha, rows_per_bin)
}

/// Hoeffding's bound with a union bound over `bins` bins whose edges do not depend on the labels, for a bin with `n >= 1`
/// points: `sqrt(ln(2 B / alpha) / (2 n))`.
///
/// ```
/// // 100 points in the emptiest of 5 bins.
/// assert!((calib_fit::guarantee::sample_split(100, 5, 0.1) - 0.15174).abs() < 1e-5);
/// ```
pub fn sample_split(n: u64, bins: u64, alpha: f64) -> f64 {
    hoeffding(2.0 * bins as f64 / alpha, n + 1)
}

/// The smallest `n` for which Theorem 3 gives `epsilon` with `bins` bins, at `0 < epsilon`.
///
/// ```
/// use calib_fit::guarantee::{gr21_theorem3, gr21_theorem3_smallest_n};
///
/// let n = gr21_theorem3_smallest_n(10, 0.1, 0.05);
/// assert!(gr21_theorem3(n / 10, 10, 0.1) <= 0.05 && gr21_theorem3((n - 1) / 10, 10, 0.1) > 0.05);
/// ```
pub fn gr21_theorem3_smallest_n(bins: u64, alpha: f64, epsilon: f64) -> u64 {
    let per_bin = ((2.0 * bins as f64 / alpha).ln() / (2.0 * epsilon * epsilon)).ceil() as u64;
    bins * (per_bin.max(1) + 1)
}

/// Gupta and Ramdas 2022, Theorem 1 (conditional): `sqrt(ln(2 n / (k alpha)) / (2 (k - 1)))` for `k >= 2`
/// points per bin and `n` points in all.
///
/// ```
/// // 10 000 points, at least 100 to a bin.
/// assert!((calib_fit::guarantee::gr22_theorem1(10_000, 100, 0.1) - 0.19593).abs() < 1e-5);
/// ```
pub fn gr22_theorem1(n: u64, k: u64, alpha: f64) -> f64 {
    hoeffding(2.0 * n as f64 / (k as f64 * alpha), k)
}

/// Gupta and Ramdas 2022, Theorem 2 (conditional), for all classes together: [`gr22_theorem1`] at `alpha / classes`.
///
/// ```
/// use calib_fit::guarantee::{gr22_theorem1, gr22_theorem2};
///
/// assert_eq!(gr22_theorem2(10_000, 100, 10, 0.1), gr22_theorem1(10_000, 100, 0.1 / 10.0));
/// ```
pub fn gr22_theorem2(n: u64, k: u64, classes: u64, alpha: f64) -> f64 {
    gr22_theorem1(n, k, alpha / classes as f64)
}

fn hoeffding(inverse_level: f64, rows_per_bin: u64) -> f64 {
    (inverse_level.ln() / (2.0 * (rows_per_bin as f64 - 1.0))).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_papers_examples() {
        // Figure 2 of GR21: n = 1000, B = 5 gives epsilon <= 0.12, in full 0.10757; n = 5000, B = 10: 0.07286.
        assert!((gr21_theorem3(200, 5, 0.1) - 0.107_567_557_199_088_27).abs() < 1e-15);
        assert!((gr21_theorem3(500, 10, 0.1) - 0.072_862_440_509_648_6).abs() < 1e-15);
        // GR22: n = 500, k = 20, alpha = 0.1.
        assert!((gr22_theorem1(500, 20, 0.1) - 0.404_403_657_722_740_34).abs() < 1e-15);
    }

    /// One epsilon of each theorem, by its formula.
    #[test]
    fn each_theorem_has_its_own_epsilon() {
        for (found, expected) in [
            (gr21_corollary1(200, 5, 0.1), 0.112_567_557_199_088_27),
            (gr21_theorem4_marginal(200, 0.1), 0.086_758_086_144_417_61),
            (sample_split(100, 5, 0.1), 0.151_742_712_938_514_63),
            (gr22_theorem1(10_000, 100, 0.1), 0.195_929_569_642_546_68),
            (gr22_theorem2(10_000, 100, 10, 0.1), 0.223_646_180_163_439_46),
        ] {
            assert!((found - expected).abs() < 1e-15, "{found} {expected}");
        }
    }

    #[test]
    fn the_smallest_n_is_the_smallest() {
        assert_eq!(gr21_theorem3_smallest_n(10, 0.1, 0.1), 2660);
        for (bins, epsilon) in [(1, 0.05), (5, 0.1), (22, 0.02), (100, 0.3)] {
            let n = gr21_theorem3_smallest_n(bins, 0.1, epsilon);
            assert!(gr21_theorem3(n / bins, bins, 0.1) <= epsilon);
            assert!(gr21_theorem3((n - 1) / bins, bins, 0.1) > epsilon);
        }
    }
}
