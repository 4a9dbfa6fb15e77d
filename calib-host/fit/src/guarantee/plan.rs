//! Planning: how many points, how many bins, how wide an epsilon.

use calib_core::StepTable;

use super::exact::exact_epsilon;
use super::theorems::{gr21_corollary1, gr21_theorem3, gr21_theorem4_marginal};

/// What a table on the device holds.
const MAX_BINS: u64 = StepTable::MAX_BINS as u64;
/// More than anybody has, and exact as a float.
const MOST_POINTS: u64 = 1 << 52;

/// A choice of bins for so many points, and what the theorems then guarantee.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize)]
#[non_exhaustive]
pub struct Plan {
    /// The number of calibration points.
    pub n: u64,
    /// The number of bins.
    pub bins: u64,
    /// `floor(n / bins)`, at least 2.
    pub rows_per_bin: u64,
    /// The failure probability.
    pub alpha: f64,
    /// For `umd`: every bin is within epsilon of its event rate, [whatever the labels are](exact_epsilon).
    pub epsilon: f64,
    /// Theorem 3, for `umd` by Hoeffding's inequality. The conditional part of Theorem 4, for `umd-randomized`, is the same.
    pub epsilon_hoeffding: f64,
    /// Corollary 1, for `umd-original`.
    pub epsilon_original: f64,
    /// The marginal part of Theorem 4, for `umd-randomized`: the bin of a random score is within epsilon of the truth.
    pub epsilon_marginal: f64,
}

impl Plan {
    /// The guarantees with `n` points in so many bins; `None` for fewer than two points a bin, or no bins.
    ///
    /// # Panics
    ///
    /// If alpha is not in `(0, 1)`.
    pub fn new(n: u64, bins: u64, alpha: f64) -> Option<Self> {
        assert!(alpha > 0.0 && alpha < 1.0, "alpha is {alpha}");
        let rows_per_bin = n.checked_div(bins).filter(|&k| k >= 2)?;
        Some(Self {
            n,
            bins,
            rows_per_bin,
            alpha,
            epsilon: exact_epsilon(rows_per_bin, bins, alpha),
            epsilon_hoeffding: gr21_theorem3(rows_per_bin, bins, alpha),
            epsilon_original: gr21_corollary1(rows_per_bin, bins, alpha),
            epsilon_marginal: gr21_theorem4_marginal(rows_per_bin, alpha),
        })
    }

    /// The most bins that `n` points allow with an epsilon of at most this; `None` if not even one does.
    pub fn most_bins(n: u64, alpha: f64, epsilon: f64) -> Option<Self> {
        // Epsilon grows with the number of bins: there are more of them, and fewer points in each.
        let meets = |bins: u64| Self::new(n, bins, alpha).is_some_and(|plan| plan.epsilon <= epsilon);
        Self::new(n, last((n / 2).min(MAX_BINS), meets), alpha)
    }

    /// The most bins of so many points each that have an epsilon of at most this; `None` if not even one does.
    pub fn most_bins_of(rows_per_bin: u64, alpha: f64, epsilon: f64) -> Option<Self> {
        let plan = |bins: u64| Self::new(bins.checked_mul(rows_per_bin)?, bins, alpha);
        // The union bound is over more bins.
        let meets = |bins: u64| plan(bins).is_some_and(|plan| plan.epsilon <= epsilon);
        plan(last(MAX_BINS, meets))
    }

    /// The fewest points with which so many bins have an epsilon of at most this; `None` if not even all that can be counted do.
    ///
    /// ```
    /// use calib_fit::guarantee::Plan;
    ///
    /// // 177 points in each of 10 bins, where Hoeffding's inequality takes 266.
    /// assert_eq!(Plan::fewest_points(10, 0.1, 0.1).unwrap().n, 1770);
    /// ```
    pub fn fewest_points(bins: u64, alpha: f64, epsilon: f64) -> Option<Self> {
        let most = MOST_POINTS.checked_div(bins)?;
        let plan = |rows_per_bin: u64| Self::new(rows_per_bin * bins, bins, alpha);
        // Epsilon falls with the points of a bin.
        let misses = |k: u64| k < 2 || plan(k).is_some_and(|plan| plan.epsilon > epsilon);
        plan(last(most, misses) + 1).filter(|plan| plan.epsilon <= epsilon)
    }
}

/// A choice of points per bin for several classes, and what is then guaranteed of all their bins.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize)]
#[non_exhaustive]
pub struct ClassPlan {
    /// The number of calibration points, of all classes together.
    pub n: u64,
    /// The points per bin, at least 2.
    pub rows_per_bin: u64,
    /// The failure probability.
    pub alpha: f64,
    /// The number of classes among which alpha is divided: all of them for class-wise, 1 for top-label, where a point is in the
    /// table of one class only.
    pub divided_among: u64,
    /// Every bin of every class is within epsilon of its event rate, [whatever the labels are](exact_epsilon).
    pub epsilon: f64,
}

impl ClassPlan {
    /// The guarantee with `n` points, so many to a bin; `None` for fewer than two, or more than there are.
    ///
    /// ```
    /// use calib_fit::guarantee::{ClassPlan, exact_epsilon};
    ///
    /// // 100 bins of all classes together, or 100 of each.
    /// let top_label = ClassPlan::new(10_000, 100, 0.1, 1).unwrap();
    /// assert_eq!(top_label.epsilon, exact_epsilon(100, 100, 0.1));
    /// let class_wise = ClassPlan::new(10_000, 100, 0.1, 10).unwrap();
    /// assert_eq!(class_wise.epsilon, exact_epsilon(100, 1000, 0.1));
    /// ```
    ///
    /// # Panics
    ///
    /// If alpha is not in `(0, 1)`, or it is divided among no class.
    pub fn new(n: u64, rows_per_bin: u64, alpha: f64, divided_among: u64) -> Option<Self> {
        assert!(alpha > 0.0 && alpha < 1.0 && divided_among > 0, "alpha is {alpha} for {divided_among}");
        let bins = n.checked_div(rows_per_bin).filter(|&bins| bins > 0 && rows_per_bin >= 2)?;
        let epsilon = exact_epsilon(rows_per_bin, bins.saturating_mul(divided_among), alpha);
        Some(Self { n, rows_per_bin, alpha, divided_among, epsilon })
    }

    /// The fewest points per bin with which `n` points have an epsilon of at most this; `None` if not even one bin of all has it.
    pub fn fewest_rows_per_bin(n: u64, alpha: f64, divided_among: u64, epsilon: f64) -> Option<Self> {
        let plan = |k: u64| Self::new(n, k, alpha, divided_among);
        // Epsilon falls with the points per bin: there are fewer bins, and more points in each.
        let misses = |k: u64| k < 2 || plan(k).is_some_and(|plan| plan.epsilon > epsilon);
        plan(last(n, misses) + 1)
    }

    /// The fewest points that have an epsilon of at most this, all of them in one bin; `None` if not even all that can be counted do.
    pub fn fewest_points(alpha: f64, divided_among: u64, epsilon: f64) -> Option<Self> {
        let plan = |n: u64| Self::new(n, n, alpha, divided_among);
        // Epsilon falls with the points of the one bin.
        let misses = |n: u64| n < 2 || plan(n).is_some_and(|plan| plan.epsilon > epsilon);
        let n = last(MOST_POINTS, misses) + 1;
        plan(n).filter(|plan| plan.epsilon <= epsilon)
    }

    /// The most points, so many to a bin, that have an epsilon of at most this; `None` if not even one bin has it.
    pub fn most_points(rows_per_bin: u64, alpha: f64, divided_among: u64, epsilon: f64) -> Option<Self> {
        let plan = |bins: u64| Self::new(bins.checked_mul(rows_per_bin)?, rows_per_bin, alpha, divided_among);
        // The union bound is over more bins.
        plan(last(MAX_BINS, |bins| plan(bins).is_some_and(|plan| plan.epsilon <= epsilon)))
    }
}

/// The last of `1..=most` that meets a condition; 0 if none does. Whatever comes before a number that meets it has to meet it, too.
fn last(most: u64, meets: impl Fn(u64) -> bool) -> u64 {
    let (mut lo, mut hi) = (0, most + 1);
    while hi - lo > 1 {
        let middle = lo + (hi - lo) / 2;
        if meets(middle) { lo = middle } else { hi = middle }
    }
    lo
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An epsilon that is just met is met, whichever number is looked for; and the least number may be the answer.
    #[test]
    fn the_searches_take_what_is_just_enough() {
        for (bins, rows_per_bin) in [(10, 177), (1, 30), (3, 2)] {
            let plan = Plan::new(bins * rows_per_bin, bins, 0.1).unwrap();
            assert_eq!(Plan::fewest_points(bins, 0.1, plan.epsilon), Some(plan));
            assert_eq!(Plan::most_bins_of(rows_per_bin, 0.1, plan.epsilon), Some(plan));
        }
        assert_eq!(Plan::fewest_points(10, 0.1, 3.0).unwrap().n, 20);
        let plan = ClassPlan::new(2000, 90, 0.1, 3).unwrap();
        assert_eq!(ClassPlan::fewest_rows_per_bin(2000, 0.1, 3, plan.epsilon), Some(plan));
        let one = ClassPlan::new(90, 90, 0.1, 3).unwrap();
        assert_eq!(ClassPlan::fewest_points(0.1, 3, one.epsilon), Some(one));
        assert_eq!(ClassPlan::most_points(90, 0.1, 3, one.epsilon), Some(one));
        // So many points that few bins of them can be counted.
        let many = Plan::fewest_points(10, 0.1, 1e-7).unwrap();
        assert!(many.epsilon <= 1e-7 && many.n > MOST_POINTS / 10 && many.n.is_multiple_of(10), "{many:?}");
    }

    #[test]
    fn the_suggestions_of_figure_2() {
        // GR21, figure 2: n = 1K, B = 5 gives epsilon <= 0.12; 5K and 10: 0.08; 20K and 22: 0.06.
        for (n, bins, epsilon) in [(1000, 5, 0.12), (5000, 10, 0.08), (20_000, 22, 0.06)] {
            let plan = Plan::new(n, bins, 0.1).unwrap();
            assert!(plan.epsilon <= epsilon && plan.epsilon_marginal < plan.epsilon_hoeffding);
            assert!(Plan::most_bins(n, 0.1, epsilon).unwrap().bins >= bins);
        }
    }

    #[test]
    fn the_searches_for_classes_find_the_ends() {
        for (n, among, epsilon) in
            [(2000, 1, 0.2), (2000, 10, 0.2), (500, 3, 0.15), (500, 3, 0.01), (3, 1, 3.0)]
        {
            let plan = |k| ClassPlan::new(n, k, 0.1, among);
            let brute = (2..=n).filter_map(plan).find(|plan| plan.epsilon <= epsilon);
            assert_eq!(
                ClassPlan::fewest_rows_per_bin(n, 0.1, among, epsilon),
                brute,
                "{n} {among} {epsilon}"
            );
        }
        for (k, among, epsilon) in [(100, 1, 0.2), (100, 10, 0.2), (200, 3, 0.15), (10, 3, 0.1)] {
            let plan = |bins| ClassPlan::new(bins * k, k, 0.1, among);
            let brute = (1..=3000).filter_map(plan).rfind(|plan| plan.epsilon <= epsilon);
            let most = ClassPlan::most_points(k, 0.1, among, epsilon);
            assert_eq!(most, brute, "{k} {among} {epsilon}");
        }
        for (among, epsilon) in [(1, 0.2), (10, 0.05), (3, 3.0)] {
            let plan = |n| ClassPlan::new(n, n, 0.1, among);
            let brute = (2..).filter_map(plan).find(|plan| plan.epsilon <= epsilon);
            assert_eq!(ClassPlan::fewest_points(0.1, among, epsilon), brute, "{among} {epsilon}");
        }
        assert_eq!(ClassPlan::fewest_points(0.1, 1, 1e-9), None);
        assert_eq!(ClassPlan::new(10, 1, 0.1, 1), None);
        assert_eq!(ClassPlan::new(10, 11, 0.1, 1), None);
    }

    #[test]
    fn the_searches_find_the_ends() {
        for n in [2, 10, 999, 5000] {
            for epsilon in [0.05, 0.1, 0.5, 3.0] {
                let most = Plan::most_bins(n, 0.1, epsilon);
                let brute =
                    (1..=n).filter_map(|b| Plan::new(n, b, 0.1)).rfind(|plan| plan.epsilon <= epsilon);
                assert_eq!(most, brute, "{n} {epsilon}");
            }
        }
        for (rows_per_bin, epsilon) in
            [(2, 0.5), (100, 0.12), (100, 0.2), (250, 0.1), (500, 0.1), (9000, 0.3)]
        {
            let plan = |bins| Plan::new(rows_per_bin * bins, bins, 0.1);
            let most = Plan::most_bins_of(rows_per_bin, 0.1, epsilon).map_or(0, |plan| plan.bins);
            let keeps = |bins| plan(bins).unwrap().epsilon <= epsilon;
            assert!(most == 0 || keeps(most), "{rows_per_bin} {epsilon}");
            assert!(most == MAX_BINS || !keeps(most + 1), "{rows_per_bin} {epsilon}");
        }
        assert_eq!(Plan::most_bins_of(u64::MAX, 0.1, 0.1).unwrap().bins, 1);
        let fewest = Plan::fewest_points(10, 0.1, 0.1).unwrap();
        assert_eq!(fewest.n, 1770);
        assert!(Plan::new(1769, 10, 0.1).unwrap().epsilon > 0.1);
        assert_eq!(Plan::new(1, 1, 0.1), None);
        assert_eq!(Plan::new(10, 0, 0.1), None);
    }
}
