//! Calibration data with real weights.

use crate::data::BinaryData;
use crate::data_error::DataError;
use crate::fit::{Fit, FitError, fit_binary};
use crate::method::BinaryMethod;

/// At least one point, each with a score of class 1 in `[0, 1]`, a label and a weight from 0 on, not all 0.
///
/// A weight becomes a whole number of units, of which the unit is a power of two: so every sum is exact, and no result
/// depends on the order of the rows. With `n` rows and the largest weight `w`, the unit is at most `n w / 2^49`; what is
/// below half of it counts as 0. For a million rows that is a billionth of the largest weight.
#[derive(Clone, Debug, PartialEq)]
pub struct WeightedData {
    units: BinaryData,
    rows: u64,
}

/// All weights together are at most `2^TOTAL_BITS` units.
const TOTAL_BITS: i32 = 52;

impl WeightedData {
    /// Checks rows of a score, a weight and a label. The scores are used as they are; see [`BinaryData::on_device`].
    ///
    /// # Errors
    ///
    /// No rows, a score that is not in `[0, 1]`, a weight that is not a number from 0 on, or weights that are all 0.
    pub fn new(rows: &[(f64, f64, bool)]) -> Result<Self, DataError> {
        if rows.is_empty() {
            return Err(DataError::Empty);
        }
        let bad = |weight: f64| !(weight >= 0.0 && weight.is_finite());
        if let Some(row) = rows.iter().position(|row| bad(row.1)) {
            return Err(DataError::Weight { row, weight: rows[row].1 });
        }
        let largest = rows.iter().map(|row| row.1).fold(0.0, f64::max);
        if largest == 0.0 {
            return Err(DataError::NoWeight);
        }
        // The largest weight is below 2^above, the number of rows below 2^bits.
        let above = exponent(largest) + 1;
        let bits = (usize::BITS - rows.len().leading_zeros()) as i32;
        let shift = TOTAL_BITS - above - bits;
        let counts = rows.iter().map(|&(score, weight, label)| {
            let units = times_power_of_two(weight, shift).round() as u64;
            (score, units, if label { units } else { 0 })
        });
        Ok(Self { units: BinaryData::from_counts(counts.collect())?, rows: rows.len() as u64 })
    }

    /// The number of rows, those of weight 0 among them.
    #[expect(clippy::len_without_is_empty, reason = "never empty")]
    pub fn len(&self) -> u64 {
        self.rows
    }

    /// As [`BinaryData::on_device`].
    #[must_use]
    pub fn on_device(self) -> Self {
        Self { units: self.units.on_device(), ..self }
    }

    /// As [`BinaryData::rounded`].
    #[must_use]
    pub fn rounded(self) -> Self {
        Self { units: self.units.rounded(), ..self }
    }
}

/// Fits a binary calibrator to weighted points, without any guarantee: theorems count points. The fit's `n` is the number
/// of rows; the counts of its bins are units, of which only the ratios mean something.
///
/// # Errors
///
/// [`FitError::RealWeights`] for methods that count points: all but isotonic regression without smoothing and the scaling
/// functions. Otherwise as [`fit_binary`].
pub fn fit_weighted(data: &WeightedData, method: &BinaryMethod, alpha: f64) -> Result<Fit, FitError> {
    check(method)?;
    let mut fit = fit_binary(&data.units, method, alpha).map_err(|cause| match cause {
        FitError::OneClass { label, .. } => FitError::OneClass { label, n: data.rows },
        other => other,
    })?;
    debug_assert!(fit.guarantee.is_none());
    fit.n = data.rows;
    fit.weighted = true;
    for table in fit.tables.iter_mut().flatten() {
        table.n = data.rows;
    }
    Ok(fit)
}

fn check(method: &BinaryMethod) -> Result<(), FitError> {
    Err(FitError::RealWeights(match method {
        BinaryMethod::Scaling(..) | BinaryMethod::LeastSquares(..) => return Ok(()),
        BinaryMethod::Isotonic(isotonic) | BinaryMethod::IsotonicInterpolated(isotonic) => {
            if isotonic.smoothing == 0.0 {
                return Ok(());
            }
            "smoothing"
        }
        BinaryMethod::VennAbers => "venn-abers",
        BinaryMethod::ScalingBinning(_) => "scaling-binning",
        BinaryMethod::FixedWidth(_) => "fixed-width binning",
        BinaryMethod::Umd(_) | BinaryMethod::UmdRandomized(..) | BinaryMethod::Ums(_) => {
            "uniform-mass binning"
        }
    }))
}

/// The `e` with `2^e <= value < 2^(e+1)` of a positive finite number.
fn exponent(value: f64) -> i32 {
    if value < f64::MIN_POSITIVE {
        return exponent(value * 2f64.powi(64)) - 64;
    }
    (value.to_bits() >> 52) as i32 - 1023
}

/// `value * 2^power`, in steps that a finite power of two can express.
fn times_power_of_two(mut value: f64, mut power: i32) -> f64 {
    while power != 0 {
        let step = power.clamp(-1000, 1000);
        value *= 2f64.powi(step);
        power -= step;
    }
    value
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::data::Form;
    use crate::isotonic::Isotonic;
    use crate::method::Model;
    use crate::scaling::{ScalingMethod, ScalingModel};
    use crate::umd::Umd;

    fn values(fit: &Fit) -> Vec<f64> {
        fit.tables[0].as_ref().unwrap().model.bins().iter().map(|bin| bin.value).collect()
    }

    fn platt(fit: &Fit) -> (f64, f64) {
        match fit.tables[0].as_ref().unwrap().model {
            Model::Scaling(ScalingModel::PlattLogit { a, b }) => (a, b),
            ref other => panic!("{other:?}"),
        }
    }

    #[test]
    fn refuses_what_is_no_weight() {
        let new = |weight| WeightedData::new(&[(0.5, 1.0, true), (0.5, weight, false)]);
        for weight in [-1.0, f64::INFINITY, f64::NEG_INFINITY] {
            assert_eq!(new(weight), Err(DataError::Weight { row: 1, weight }));
        }
        assert!(matches!(new(f64::NAN), Err(DataError::Weight { row: 1, .. })));
        assert_eq!(WeightedData::new(&[]), Err(DataError::Empty));
        assert_eq!(WeightedData::new(&[(0.5, 0.0, true)]), Err(DataError::NoWeight));
        assert!(matches!(WeightedData::new(&[(1.5, 0.5, true)]), Err(DataError::Score { row: 0, .. })));
    }

    #[test]
    fn methods_that_count_points_refuse_weights() {
        let data = WeightedData::new(&[(0.2, 0.5, false), (0.8, 1.5, true)]).unwrap();
        for method in [BinaryMethod::Umd(Umd::new(1)), BinaryMethod::VennAbers] {
            assert!(matches!(fit_weighted(&data, &method, 0.1), Err(FitError::RealWeights(_))));
        }
        let smoothed = BinaryMethod::Isotonic(Isotonic { smoothing: 1.0, ..Isotonic::default() });
        assert_eq!(fit_weighted(&data, &smoothed, 0.1), Err(FitError::RealWeights("smoothing")));
        let one = WeightedData::new(&[(0.2, 0.5, true), (0.8, 1.5, true)]).unwrap();
        let refused = fit_weighted(&one, &BinaryMethod::Isotonic(Isotonic::default()), 0.1);
        assert_eq!(refused, Err(FitError::OneClass { label: 1, n: 2 }));
    }

    /// The rows that weigh something, all the same: score and label.
    fn units(data: &WeightedData) -> Vec<(f64, bool)> {
        let Form::Rows(rows) = data.units.form() else { panic!("weights are rows") };
        let heavy: Vec<_> = rows.iter().filter(|row| row.1 > 0).collect();
        assert!(heavy.iter().all(|row| row.1 == heavy[0].1));
        heavy.iter().map(|row| (row.0, row.2 > 0)).collect()
    }

    #[test]
    fn a_weight_below_the_unit_is_nothing_and_the_smallest_doubles_are_weights() {
        let data = WeightedData::new(&[(0.2, 1.0, false), (0.8, 1.0, true), (0.9, 1e-300, true)]).unwrap();
        assert_eq!(units(&data), [(0.2, false), (0.8, true)]);
        for scale in [f64::from_bits(1), f64::MIN_POSITIVE, 1e300] {
            let data = WeightedData::new(&[(0.2, scale, false), (0.8, scale, true)]).unwrap();
            assert_eq!(units(&data), [(0.2, false), (0.8, true)], "{scale}");
        }
    }

    proptest! {
        /// Weights that are counts, whatever their unit, give the fit of the repeated rows; neither the order of the rows
        /// nor a common factor changes a thing.
        #[test]
        fn only_ratios_of_weights_matter(
            rows in proptest::collection::vec((0u32..30, 1u32..6, any::<bool>()), 10..60).prop_shuffle(),
            factor in prop::sample::select(vec![1.0, 0.125, 0.3, 1e-200, 7e250]),
        ) {
            let score = |s: u32| f64::from(s as f32 / 30.0);
            let counts = rows.iter().map(|&(s, n, y)| (score(s), n.into(), if y { n.into() } else { 0 })).collect();
            let counts = BinaryData::from_counts(counts).unwrap();
            let weighted = |rows: &[(u32, u32, bool)]| {
                let rows: Vec<_> = rows.iter().map(|&(s, n, y)| (score(s), factor * f64::from(n), y)).collect();
                WeightedData::new(&rows).unwrap()
            };
            let mut sorted = rows.clone();
            sorted.sort();
            for method in [BinaryMethod::Isotonic(Isotonic::default()), BinaryMethod::Scaling(ScalingMethod::PlattLogit)] {
                let Ok(expected) = fit_binary(&counts, &method, 0.1) else { continue };
                let fit = fit_weighted(&weighted(&rows), &method, 0.1).unwrap();
                prop_assert_eq!(&fit, &fit_weighted(&weighted(&sorted), &method, 0.1).unwrap());
                prop_assert!(fit.weighted && fit.guarantee.is_none() && fit.n == rows.len() as u64);
                if factor == 0.125 {
                    prop_assert_eq!(values(&fit), values(&expected));
                }
                if method == BinaryMethod::Scaling(ScalingMethod::PlattLogit) {
                    let ((a, b), (c, d)) = (platt(&fit), platt(&expected));
                    prop_assert!((a - c).abs() < 1e-6 * (1.0 + c.abs()) && (b - d).abs() < 1e-6 * (1.0 + d.abs()));
                }
            }
        }
    }
}
