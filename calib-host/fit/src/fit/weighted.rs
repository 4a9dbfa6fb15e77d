//! Fitting points with real weights.

use super::binary::fit_binary;
use super::fitted::Fit;
use crate::binary::BinaryMethod;
use crate::data::WeightedData;
use crate::error::FitError;

/// Fits a binary calibrator to weighted points, without any guarantee: theorems count points. The fit's `n` is the number
/// of rows; the counts of its bins are units, of which only the ratios mean something.
///
/// ```
/// use calib_fit::{BinaryMethod, FitError, Isotonic, Umd, WeightedData, fit_weighted};
///
/// // Score, weight, label.
/// let data = WeightedData::new(&[(0.2, 1.5, false), (0.4, 0.5, true), (0.7, 0.5, false), (0.9, 1.0, true)])?;
/// let fit = fit_weighted(&data, &BinaryMethod::Isotonic(Isotonic::default()), 0.1)?;
/// assert_eq!(fit.tables()[0].as_ref().unwrap().model().steps().unwrap().prob(0.5), 0.5);
///
/// let counts = fit_weighted(&data, &BinaryMethod::Umd(Umd::new(2)), 0.1);
/// assert!(matches!(counts, Err(FitError::RealWeights(_))));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
///
/// [`FitError::RealWeights`] for methods that count points: all but isotonic regression without smoothing and the scaling
/// functions. Otherwise as [`fit_binary`].
pub fn fit_weighted(data: &WeightedData, method: &BinaryMethod, alpha: f64) -> Result<Fit, FitError> {
    if let Some(what) = method.facts().counts_points {
        return Err(FitError::RealWeights(what));
    }
    let mut fit = fit_binary(data.units(), method, alpha).map_err(|cause| match cause {
        FitError::OneClass { label, .. } => FitError::OneClass { label, n: data.len() },
        other => other,
    })?;
    debug_assert!(fit.guarantee.is_none());
    fit.n = data.len();
    fit.positives = None;
    fit.weighted = true;
    for table in fit.tables.iter_mut().flatten() {
        table.n = data.len();
    }
    Ok(fit)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::binary::{Isotonic, Model, ScalingMethod, ScalingModel, Umd};
    use crate::data::BinaryData;

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
