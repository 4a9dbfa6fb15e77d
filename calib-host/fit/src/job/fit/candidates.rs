//! The bins where nobody names any: their number follows from the number of points.

use crate::fit::Fit;
use crate::guarantee::{GuaranteeBound, Plan, exact_epsilon, gr21_theorem3, sample_split};

/// More bins than these are asked for by name.
pub(super) const MOST_BINS: u64 = 15;
/// One bin is one probability for all scores: nobody wants it unasked.
pub(super) const FEWEST_BINS: u64 = 2;

/// The epsilon of `umd` with so many bins of so many points, in advance: no labels give more.
fn in_advance(n: u64, bins: u64, alpha: f64, bound: GuaranteeBound) -> f64 {
    match (n / bins, bound) {
        (0..2, _) => f64::INFINITY,
        (rows_per_bin, GuaranteeBound::Exact) => exact_epsilon(rows_per_bin, bins, alpha),
        (rows_per_bin, GuaranteeBound::Hoeffding) => gr21_theorem3(rows_per_bin, bins, alpha),
    }
}

/// The most bins of `umd`, from [`FEWEST_BINS`] to [`MOST_BINS`], that keep epsilon whatever the labels are; `None` if not even the fewest
/// do. The number of points decides alone, so alpha is not shared with other numbers of bins.
pub(super) fn most_bins(n: u64, alpha: f64, bound: GuaranteeBound, epsilon: f64) -> Option<u64> {
    (FEWEST_BINS..=MOST_BINS).rev().find(|&bins| in_advance(n, bins, alpha, bound) <= epsilon)
}

/// The epsilon that a fit with so many bins keeps whatever the labels are: by the points of its bins, which its scores decide. Without
/// ties at edges it is not above [what the number of points gives](most_bins). `None` for fewer than two bins, and where nothing is
/// guaranteed.
pub(super) fn kept(fit: &Fit, bins: u64, alpha: f64, bound: GuaranteeBound) -> Option<f64> {
    fit.guarantee.filter(|_| fit.bins() > 1)?;
    let fewest =
        fit.tables().iter().flatten().flat_map(|table| table.model().bins()).map(|bin| bin.n).min()?;
    Some(match bound {
        GuaranteeBound::Exact => exact_epsilon(fewest + 1, bins, alpha),
        GuaranteeBound::Hoeffding => sample_split(fewest, bins, alpha),
    })
}

/// The least epsilon that two bins keep, with three digits; `None` if none below 1 is.
pub(super) fn least_epsilon(n: u64, alpha: f64, bound: GuaranteeBound) -> Option<f64> {
    Some(in_advance(n, FEWEST_BINS, alpha, bound)).filter(|&epsilon| epsilon < 0.999).map(rounded_up)
}

/// An epsilon with three digits that is not below this one.
pub(super) fn rounded_up(epsilon: f64) -> f64 {
    let exponent = epsilon.log10().floor() as i32 - 2;
    let digits = (epsilon / 10f64.powi(exponent)).ceil();
    format!("{digits}e{exponent}").parse().expect("a number")
}

/// How many points `umd` takes for two bins within epsilon; `None` if more than anybody has.
pub(super) fn points_for(epsilon: f64, alpha: f64, bound: GuaranteeBound) -> Option<u64> {
    match bound {
        GuaranteeBound::Exact => Plan::fewest_points(FEWEST_BINS, alpha, epsilon).map(|plan| plan.n),
        GuaranteeBound::Hoeffding => {
            Some(crate::guarantee::gr21_theorem3_smallest_n(FEWEST_BINS, alpha, epsilon))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const EXACT: GuaranteeBound = GuaranteeBound::Exact;

    #[test]
    fn as_many_bins_as_a_plan_says_and_at_most_fifteen() {
        for n in [25_000, 5_000, 4_000, 2_000, 1_000, 600, 300, 50] {
            for epsilon in [0.05, 0.08, 0.1, 0.2] {
                let planned =
                    Plan::most_bins(n, 0.1, epsilon).map(|plan| plan.bins.min(15)).filter(|&bins| bins > 1);
                assert_eq!(most_bins(n, 0.1, EXACT, epsilon), planned, "{n} {epsilon}");
            }
        }
        assert!((2..=15).all(|bins| in_advance(1, bins, 0.1, EXACT) > 1.0));
    }

    #[test]
    fn what_two_bins_take_is_enough_and_no_more() {
        for bound in [EXACT, GuaranteeBound::Hoeffding] {
            for epsilon in [0.03, 0.05, 0.1, 0.31] {
                let n = points_for(epsilon, 0.1, bound).unwrap();
                assert_eq!(most_bins(n, 0.1, bound, epsilon), Some(2), "{epsilon}");
                assert_eq!(most_bins(n - 1, 0.1, bound, epsilon), None, "{epsilon}");
                let least = least_epsilon(n - 1, 0.1, bound).unwrap();
                assert!(
                    least > epsilon && most_bins(n - 1, 0.1, bound, least) >= Some(2),
                    "{epsilon} {least}"
                );
            }
            assert_eq!(least_epsilon(3, 0.1, bound), None);
        }
    }
}
