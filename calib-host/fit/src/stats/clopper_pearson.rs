//! Exact binomial intervals.

use statrs::distribution::{Beta, ContinuousCDF};

use super::interval::Interval;

/// The Clopper-Pearson interval of a binomial proportion: covers the true one with probability at least `1 - alpha`,
/// whatever it is. For `n = 0` it is `[0, 1]`.
///
/// With `alpha / B` for each of `B` bins, all of them are covered with probability `1 - alpha`.
///
/// ```
/// let none_of_fifty = calib_fit::stats::clopper_pearson(0, 50, 0.1);
/// assert_eq!(none_of_fifty.lo, 0.0);
/// assert!((none_of_fifty.hi - (1.0 - 0.05f64.powf(1.0 / 50.0))).abs() < 1e-9);
/// ```
///
/// # Panics
///
/// If `positives > n` or alpha is not in `(0, 1)`.
pub fn clopper_pearson(positives: u64, n: u64, alpha: f64) -> Interval {
    assert!(positives <= n && alpha > 0.0 && alpha < 1.0, "{positives} of {n} at {alpha}");
    let quantile = |a: u64, b: u64, p: f64| {
        let beta = Beta::new(a as f64, b as f64).expect("both parameters are at least 1");
        beta.inverse_cdf(p)
    };
    let failures = n - positives;
    let lo = if positives == 0 { 0.0 } else { quantile(positives, failures + 1, alpha / 2.0) };
    let hi = if failures == 0 { 1.0 } else { quantile(positives + 1, failures, 1.0 - alpha / 2.0) };
    Interval { lo, hi }
}

#[cfg(test)]
mod tests {
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
    }
}
