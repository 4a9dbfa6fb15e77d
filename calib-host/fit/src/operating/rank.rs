//! How many points of a class may lie beyond a threshold, and how many points that takes.

use crate::stats::{at_most_is_rare, complement};

/// A share of a class that a threshold is to get right, and with which confidence.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize)]
pub struct Aim {
    /// The share: the sensitivity or the specificity, in `(0, 1)`.
    pub level: f64,
    /// The confidence that the share is reached, in `(0, 1)`.
    pub confidence: f64,
}

impl Aim {
    /// The probability that the share is not reached.
    pub fn delta(self) -> f64 {
        complement(self.confidence)
    }

    /// Returns how many of `n` points of the class may lie on the wrong side of the threshold: the largest `k` with
    /// `P(Bin(n, 1 - level) <= k) <= delta / among`; `None` if none may, for `n` points are too few.
    ///
    /// The threshold is then the `k + 1`-th score from the wrong side. For any distribution of the scores, however often they repeat,
    /// the share that it gets right is at least the level. This holds with at least `1 - delta / among` probability over the draw of
    /// the points
    /// (Wilks 1941, tolerance limits).
    ///
    /// ```
    /// use calib_fit::operating::Aim;
    ///
    /// let aim = Aim { level: 0.95, confidence: 0.95 };
    /// assert_eq!((aim.rank(58, 1), aim.rank(59, 1), aim.rank(93, 1)), (None, Some(0), Some(1)));
    /// ```
    ///
    /// # Panics
    ///
    /// If level or confidence are not in `(0, 1)`, `among` is 0 or `n > 2^53`.
    pub fn rank(self, n: u64, among: u64) -> Option<u64> {
        assert!(among > 0, "divided among none");
        let (wrong, delta) = (complement(self.level), self.delta() / among as f64);
        let allows = |k: u64| k <= n && at_most_is_rare(k, n, wrong, self.level, delta);
        // The probability grows with k.
        allows(0).then(|| last_that(n, allows))
    }

    /// Returns the fewest points of the class of which `k` may lie on the wrong side; `None` beyond 2^53.
    ///
    /// ```
    /// use calib_fit::operating::Aim;
    ///
    /// let aim = Aim { level: 0.9, confidence: 0.95 };
    /// assert_eq!([0, 1, 2].map(|k| aim.points_needed(k, 1).unwrap()), [29, 46, 61]);
    /// ```
    ///
    /// # Panics
    ///
    /// As [`Aim::rank`].
    pub fn points_needed(self, k: u64, among: u64) -> Option<u64> {
        assert!(among > 0, "divided among none");
        fewest_trials(k, complement(self.level), self.delta() / among as f64)
    }
}

/// Returns the fewest rows among which there are so many of a class with at least the given confidence, if each row is of the class
/// with probability `prevalence`. It is `None` beyond 2^53.
///
/// ```
/// // On average it takes 590.
/// assert_eq!(calib_fit::operating::rows_needed(59, 0.1, 0.95), Some(715));
/// ```
///
/// # Panics
///
/// If prevalence or confidence are not in `(0, 1)`.
pub fn rows_needed(points: u64, prevalence: f64, confidence: f64) -> Option<u64> {
    match points.checked_sub(1) {
        Some(one_less) => fewest_trials(one_less, prevalence, complement(confidence)),
        None => Some(0),
    }
}

/// The fewest trials of which at most `count` succeed with probability at most `level`.
fn fewest_trials(count: u64, prob: f64, level: f64) -> Option<u64> {
    const MOST: u64 = 1 << 53;
    assert!(prob > 0.0 && prob < 1.0, "{prob}");
    let fails = |n: u64| n <= count || !at_most_is_rare(count, n, prob, 1.0 - prob, level);
    let fewest = last_that(MOST, fails) + 1;
    (fewest <= MOST).then_some(fewest)
}

/// The last of `0..=most` that meets a condition, which 0 and whatever comes before a number that meets it meet, too.
fn last_that(most: u64, meets: impl Fn(u64) -> bool) -> u64 {
    let (mut below, mut step) = (0, 1);
    // Doubling first: a condition costs the more the larger the number.
    while step <= most - below && meets(below + step) {
        below += step;
        step = step.saturating_mul(2);
    }
    while step > 1 {
        step /= 2;
        if step <= most - below && meets(below + step) {
            below += step;
        }
    }
    below
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_known_numbers_of_points() {
        let aim = |level| Aim { level, confidence: 0.95 };
        for (level, needed) in [(0.95, &[59, 93, 124, 153][..]), (0.9, &[29, 46, 61])] {
            for (k, &n) in (0..).zip(needed) {
                assert_eq!(aim(level).points_needed(k, 1), Some(n));
                assert_eq!(aim(level).rank(n, 1), Some(k));
                assert_eq!(aim(level).rank(n - 1, 1), k.checked_sub(1));
            }
        }
        // .95^90 is just below .01, and a fifth of .05 is that.
        assert_eq!(Aim { level: 0.95, confidence: 0.99 }.points_needed(0, 1), Some(90));
        assert_eq!(aim(0.95).points_needed(0, 5), Some(90));
        let many = aim(1.0 - 1e-15).points_needed(0, 1).unwrap() as f64;
        assert!((many / 2.995_732_273_553_991e15 - 1.0).abs() < 1e-8);
        assert_eq!(aim(1.0 - 1e-16).points_needed(0, 1), None);
        assert_eq!(Aim { level: 0.5, confidence: 0.25 }.rank(4, 1), Some(2));
        // Rows until there are so many of a class: .9^28 is above .05, and .9^29 below.
        let rows = |points| rows_needed(points, 0.1, 0.95);
        assert_eq!([rows(0), rows(1), rows(2), rows(59)], [Some(0), Some(29), Some(46), Some(715)]);
    }

    #[test]
    fn the_search_finds_the_last() {
        for most in [0, 1, 2, 3, 7, 8, 100, u64::MAX] {
            for last in [0, 1, 2, 3, 6, 7, 8, 50, 99, 100, u64::MAX] {
                assert_eq!(last_that(most, |n| n <= last), most.min(last), "{most} {last}");
            }
        }
    }

    /// The probability of at most `k` of `n`, as a sum of products.
    fn at_most(k: u64, n: u64, p: f64) -> f64 {
        let mut term = (1.0 - p).powi(n as i32);
        let mut sum = term;
        for j in 0..k {
            term *= (n - j) as f64 / (j + 1) as f64 * p / (1.0 - p);
            sum += term;
        }
        sum
    }

    proptest! {
        /// One more wrong would be too many, and one point fewer too few.
        #[test]
        fn ranks_are_the_largest_and_points_the_fewest(
            n in 1u64..500, level in 30u32..100, confidence in 1u32..100, among in 1u64..5,
        ) {
            let aim = Aim { level: f64::from(level) / 100.0, confidence: f64::from(confidence) / 100.0 };
            let delta = (1.0 - aim.confidence) / among as f64;
            let is_rare = |k: u64| at_most(k, n, 1.0 - aim.level) <= delta * (1.0 - 1e-8);
            let is_not = |k: u64| k >= n || at_most(k, n, 1.0 - aim.level) > delta * (1.0 - 1e-7);
            match aim.rank(n, among) {
                Some(k) => {
                    prop_assert!(k < n && is_rare(k) && is_not(k + 1));
                    let needed = aim.points_needed(k, among).unwrap();
                    prop_assert!(needed <= n);
                    prop_assert!(aim.rank(needed - 1, among).is_none_or(|less| less < k));
                }
                None => {
                    prop_assert!(is_not(0));
                    prop_assert!(aim.points_needed(0, among).unwrap() > n);
                }
            }
        }
    }
}
