//! How many rows a validation takes for figures of a wanted precision (Pavlou et al. 2021; the R package sampsizeval).

use std::f64::consts::{FRAC_1_SQRT_2, PI};

use serde::Serialize;
use statrs::distribution::{Continuous, ContinuousCDF, Normal};

/// The largest area under the ROC curve for which the formulas are good as they are.
const GOOD_UP_TO: f64 = 0.8;

/// Nodes of each stretch of an integral.
const NODES: usize = 24;

/// Integrals over a normal distribution end so many standard deviations from its mean.
const MAX_STANDARD_DEVIATIONS: f64 = 12.0;

/// The model that is to be validated, as it is expected to be, and the standard errors that are wanted.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct ValidationPlan {
    /// The share of label 1 in the population, in `(0, 1)`.
    pub prevalence: f64,
    /// The area under the ROC curve, in `(0.5, 1)`.
    pub auc: f64,
    /// The standard error of the area that is wanted, above 0.
    pub se_auc: f64,
    /// The standard error of the calibration slope that is wanted, above 0.
    pub se_slope: f64,
    /// The standard error of the calibration in the large that is wanted, above 0.
    pub se_intercept: f64,
}

/// The rows that each figure takes, before they are rounded up.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct ValidationSize {
    /// For the area under the ROC curve.
    pub auc: f64,
    /// For the calibration slope.
    pub slope: f64,
    /// For calibration in the large.
    pub intercept: f64,
    /// The rows that serve all three, rounded up.
    pub rows: u64,
    /// How many of them have label 1 on average, rounded up.
    pub positives: u64,
    /// Whether the area is above 0.8, where the formulas are approximations of doubtful quality.
    pub is_rough: bool,
}

impl ValidationPlan {
    /// Returns how many rows each figure takes, if the model is well calibrated and its linear predictor is normal among the rows
    /// of either label, with the same variance.
    ///
    /// The linear predictor of all rows together is assumed normal with variance `s^2 (1 + p (1 - p) s^2)` and mean `(2 p - 1) s^2 / 2 +
    /// logit p`. Here `s` is the square root of 2 times the normal quantile at the area. Above an area of 0.8 that is no longer close:
    /// sampsizeval then tunes mean and variance by simulation until prevalence and area are met. This does not: it keeps the formulas,
    /// and says so by `is_rough`.
    ///
    /// ```
    /// use calib_fit::guarantee::ValidationPlan;
    ///
    /// let plan = ValidationPlan { prevalence: 0.1, auc: 0.75, se_auc: 0.025, se_slope: 0.1, se_intercept: 0.1 };
    /// assert_eq!(plan.size().rows, 1536);
    /// ```
    ///
    /// # Panics
    ///
    /// If a number is out of its range.
    pub fn size(&self) -> ValidationSize {
        let Self { prevalence: p, auc: area, se_auc, se_slope, se_intercept } = *self;
        let is_se = |se: f64| se > 0.0 && se.is_finite();
        assert!(p > 0.0 && p < 1.0 && area > 0.5 && area < 1.0, "prevalence {p}, area {area}");
        assert!(is_se(se_auc) && is_se(se_slope) && is_se(se_intercept), "standard errors are above 0");
        let quantile = Normal::standard().inverse_cdf(area);
        let auc = (area - 2.0 * owens_t(quantile, (1.0f64 / 3.0).sqrt()) - area * area)
            / (p * (1.0 - p) * se_auc * se_auc);
        let square = 2.0 * quantile * quantile;
        let sd = (square * (1.0 + p * (1.0 - p) * square)).sqrt();
        let mean = (2.0 * p - 1.0) * square / 2.0 + (p / (1.0 - p)).ln();
        let [ones, firsts, squares] = information(mean, sd);
        let slope = ones / (ones * squares - firsts * firsts) / (se_slope * se_slope);
        let intercept = 1.0 / (ones * se_intercept * se_intercept);
        let rows = auc.max(slope).max(intercept).ceil();
        ValidationSize {
            auc,
            slope,
            intercept,
            rows: rows as u64,
            positives: (rows * p).ceil() as u64,
            is_rough: area > GOOD_UP_TO,
        }
    }
}

/// The means of `w`, `w x` and `w x^2` over a normal `x`, where `w` is the variance of a label whose logit is `x`.
fn information(mean: f64, sd: f64) -> [f64; 3] {
    let normal = Normal::new(mean, sd).expect("the standard deviation is above 0");
    // The standard deviation of the logistic density bounds the stretches from the other side.
    let reach = MAX_STANDARD_DEVIATIONS * sd;
    let stretches = reach.ceil() as usize + 8;
    integral(mean - reach, mean + reach, stretches, |x| {
        let e = (-x.abs()).exp();
        let weight = e / ((1.0 + e) * (1.0 + e)) * normal.pdf(x);
        [weight, weight * x, weight * x * x]
    })
}

/// Owen's function: the integral of `exp(-h^2 (1 + x^2) / 2) / (1 + x^2)` over `[0, a]`, divided by 2 pi (Owen 1956).
fn owens_t(h: f64, a: f64) -> f64 {
    let [value] = integral(0.0, a, 2, |x| {
        let square = 1.0 + x * x;
        [(-h * h * square / 2.0).exp() / square]
    });
    value / (2.0 * PI)
}

/// Integrals by Gauss's rule on stretches of equal length.
fn integral<const K: usize>(lo: f64, hi: f64, stretches: usize, of: impl Fn(f64) -> [f64; K]) -> [f64; K] {
    let rule = gauss();
    let half = (hi - lo) / stretches as f64 / 2.0;
    let mut sums = [0.0; K];
    for stretch in 0..stretches {
        let middle = lo + half * (2 * stretch + 1) as f64;
        for (node, weight) in rule {
            let values = of(middle + half * node);
            sums.iter_mut().zip(values).for_each(|(sum, value)| *sum += half * weight * value);
        }
    }
    sums
}

/// The nodes and weights of Gauss's rule on `[-1, 1]`: roots of Legendre's polynomial by Newton's method.
fn gauss() -> [(f64, f64); NODES] {
    std::array::from_fn(|i| {
        let n = NODES as f64;
        let mut x = (PI * (i as f64 + 0.75) / (n + 0.5)).cos();
        let mut slope = FRAC_1_SQRT_2;
        for _ in 0..20 {
            let (mut value, mut before) = (1.0, 0.0);
            for k in 1..=NODES {
                let k = k as f64;
                (value, before) = (((2.0 * k - 1.0) * x * value - (k - 1.0) * before) / k, value);
            }
            slope = n * (x * value - before) / (x * x - 1.0);
            x -= value / slope;
        }
        (x, 2.0 / ((1.0 - x * x) * slope * slope))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn size(prevalence: f64, auc: f64, [se_auc, se_slope, se_intercept]: [f64; 3]) -> ValidationSize {
        ValidationPlan { prevalence, auc, se_auc, se_slope, se_intercept }.size()
    }

    /// The paper's example, and others by SciPy's `owens_t` and `quad`.
    #[test]
    fn sizes_are_those_of_the_paper_and_of_scipy() {
        let cases = [
            (
                size(0.1, 0.75, [0.025, 0.1, 0.1]),
                [1027.113019055746, 1535.3035797887776, 1223.8938862653347],
                1536,
            ),
            (
                size(0.3, 0.7, [0.02, 0.15, 0.12]),
                [794.8490557431076, 481.62158207102254, 370.11195874616567],
                795,
            ),
            (
                size(0.02, 0.9, [0.025, 0.15, 0.15]),
                [1828.6957729259943, 1191.8977046514683, 2755.3701661869018],
                2756,
            ),
        ];
        for (got, wanted, rows) in cases {
            for (got, wanted) in [got.auc, got.slope, got.intercept].into_iter().zip(wanted) {
                assert!((got / wanted - 1.0).abs() < 1e-9, "{got} is not {wanted}");
            }
            assert_eq!(got.rows, rows);
        }
        assert!(!cases[0].0.is_rough && cases[2].0.is_rough);
        assert_eq!(cases[0].0.positives, 154);
    }

    /// Of an integral whose value is known, and with the ends of what may be asked.
    #[test]
    fn the_rule_is_exact_and_extremes_are_finite() {
        let [cube, even] = integral(-1.0, 2.0, 1, |x| [x.powi(3), x.powi(46)]);
        assert!((cube - 3.75).abs() < 1e-13 && (even * 47.0 / (2f64.powi(47) + 1.0) - 1.0).abs() < 1e-12);
        for (p, auc) in [(0.001, 0.501), (0.5, 0.999), (0.999, 0.55)] {
            let got = size(p, auc, [0.02; 3]);
            assert!([got.auc, got.slope, got.intercept].iter().all(|n| n.is_finite() && *n > 0.0), "{got:?}");
        }
    }

    /// The other label's rows have the same area, and their linear predictor the other sign.
    #[test]
    fn either_label_may_be_the_rare_one() {
        for (p, auc) in [(0.001, 0.999), (0.02, 0.9), (0.3, 0.6)] {
            let (rare, common) = (size(p, auc, [0.02; 3]), size(1.0 - p, auc, [0.02; 3]));
            for (rare, common) in
                [(rare.auc, common.auc), (rare.slope, common.slope), (rare.intercept, common.intercept)]
            {
                assert!((rare / common - 1.0).abs() < 1e-9, "{p} {auc}: {rare} {common}");
            }
        }
        // By the trapezoidal rule on 400 000 stretches: nearly all that counts is four standard deviations from the mean.
        let far = size(0.001, 0.999, [0.02, 0.15, 0.15]);
        assert!((far.slope / 33_661.839_084_572_67 - 1.0).abs() < 1e-9, "{far:?}");
        assert!((far.intercept / 187_188.065_457_512_33 - 1.0).abs() < 1e-9, "{far:?}");
        // Linear predictors beyond what an exponential function holds.
        let far = size(0.5, 1.0 - 1e-15, [0.02; 3]);
        assert!(far.slope.is_finite() && far.intercept.is_finite(), "{far:?}");
    }

    #[test]
    fn the_formulas_are_good_up_to_an_area_of_four_fifths() {
        let is_rough = |auc| size(0.3, auc, [0.02; 3]).is_rough;
        assert_eq!([0.8f64.next_down(), 0.8, 0.8f64.next_up()].map(is_rough), [false, false, true]);
    }

    #[test]
    fn what_is_no_standard_error_is_refused() {
        for at in 0..3 {
            for bad in [0.0, -0.1, f64::INFINITY, f64::NAN] {
                let mut errors = [0.02; 3];
                errors[at] = bad;
                assert!(std::panic::catch_unwind(|| size(0.3, 0.7, errors)).is_err(), "{at} {bad}");
            }
        }
    }

    /// A standard error half as large takes four times the rows.
    #[test]
    fn rows_go_with_the_square() {
        let (one, two) = (size(0.2, 0.7, [0.02; 3]), size(0.2, 0.7, [0.01; 3]));
        assert!((two.slope / one.slope - 4.0).abs() < 1e-12 && (two.auc / one.auc - 4.0).abs() < 1e-12);
    }
}
