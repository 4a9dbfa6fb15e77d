//! How many bins: what is known of the calibration error against the squared error (Kumar et al. 2019, figure 17).

use serde::Serialize;

use crate::assess::{AssessOptions, Binning, Bootstrap, Column, Prediction, PredictionKind};
use crate::binary::{BinaryMethod, Umd};
use crate::data::{BinaryData, DataError};
use crate::error::FitError;
use crate::fit::fit_binary;
use crate::points::{group, split};
use crate::stats::Seed;

/// A number of bins that was tried.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct BinsTried {
    /// The number of bins.
    pub bins: usize,
    /// The mean squared error on the test points.
    pub brier: f64,
    /// The upper end of the one-sided interval of the calibration error (the root of the mean squared deviation), from the
    /// plugin estimate; `None` if the bound has no value: the estimate is so far below 0 that the normal approximation is of no use.
    pub upper_plugin: Option<f64>,
    /// The same from the debiased estimate.
    pub upper_debiased: Option<f64>,
}

/// Fits uniform-mass binning with each number of bins to `calibration`, and judges it on `test`, whose points are (score,
/// label). More bins lower the squared error as long as there are points for them, and raise what can be said about the
/// calibration error. The bounds are the estimates of the squared error plus a normal quantile at `1 - alpha / M` times
/// the standard deviation of its resamples, where `M` is how many numbers of bins are tried: so all of them hold together, and
/// with them that of whichever is taken, as far as the normal approximation does.
///
/// ```
/// use calib_fit::assess::{Bootstrap, IntervalKind};
/// use calib_fit::compare::{choose_bins, halves};
///
/// let points = (0..1000).map(|i| (f64::from(i) / 1000.0, i % 40 < i / 25));
/// let (calibration, test) = halves(points, 1)?;
/// let bootstrap = Bootstrap { kind: IntervalKind::Percentile, resamples: 100, seed: 1, alpha: 0.1 };
/// let tried = choose_bins(&calibration, &test, &[2, 5, 10], bootstrap)?;
/// assert!(tried[1].brier < tried[0].brier);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
///
/// The first number of bins that cannot be fitted.
///
/// # Panics
///
/// If there are no test points.
pub fn choose_bins(
    calibration: &BinaryData,
    test: &[(f64, bool)],
    bins: &[usize],
    bootstrap: Bootstrap,
) -> Result<Vec<BinsTried>, FitError> {
    let each = Bootstrap { alpha: bootstrap.alpha / bins.len().max(1) as f64, ..bootstrap };
    let tried = |&bins: &usize| {
        // Only the bins are looked at, whatever the guarantee's alpha.
        let fit = fit_binary(calibration, &BinaryMethod::Umd(Umd::new(bins)), 0.1)?;
        if let Some(label) = fit.one_label() {
            return Err(FitError::OneClass { label: label.into(), n: fit.n });
        }
        let table = fit.tables.first().and_then(Option::as_ref);
        let model = table.and_then(|table| table.model.steps()).expect("umd fits steps");
        let rows: Vec<Prediction> = test
            .iter()
            .map(|&(score, hit)| {
                let bin = model.bin(score);
                Prediction { class: 1, prob: model.bins[bin].value, bin: bin as u32, hit }
            })
            .collect();
        let AssessOptions { norm, .. } = AssessOptions::default();
        let column = Column::new(&rows, PredictionKind::Binary, Binning::ByBin, norm);
        let figures = column.figures(&column.tally());
        let deviations = bootstrap.standard_deviations(rows.len(), |counts| {
            let figures = column.resampled(counts);
            vec![figures.l2_squared, figures.l2_squared_debiased]
        });
        let upper = |estimate: f64, deviation: f64| {
            Some((estimate + each.upper_quantile() * deviation).sqrt()).filter(|&bound| bound > 0.0)
        };
        Ok(BinsTried {
            bins,
            brier: figures.brier,
            upper_plugin: upper(figures.l2_squared, deviations[0]),
            upper_debiased: upper(figures.l2_squared_debiased, deviations[1]),
        })
    };
    bins.iter().map(tried).collect()
}

/// Divides points at random into two halves of equal size: one to fit to, one to judge with. The result does not depend on
/// the order of the points.
///
/// ```
/// let points = (0..100).map(|i| (f64::from(i) / 100.0, i % 2 == 0));
/// let (calibration, test) = calib_fit::compare::halves(points, 1)?;
/// assert_eq!((calibration.len(), test.len()), (50, 50));
/// # Ok::<(), calib_fit::data::DataError>(())
/// ```
///
/// # Errors
///
/// Fewer than two points, or a score that is not in `[0, 1]`.
pub fn halves(
    points: impl IntoIterator<Item = (f64, bool)>,
    seed: Seed,
) -> Result<(BinaryData, Vec<(f64, bool)>), DataError> {
    let groups = group(points.into_iter().map(|(score, label)| (score, 1, label.into())).collect());
    let parts = split(&groups, 2, seed);
    let calibration = parts[0].iter().map(|group| (group.score, group.n, group.positives)).collect();
    let test: Vec<(f64, bool)> =
        parts[1].iter().flat_map(|group| (0..group.n).map(|i| (group.score, i < group.positives))).collect();
    let calibration = BinaryData::from_counts(calibration)?;
    if test.is_empty() { Err(DataError::Empty) } else { Ok((calibration, test)) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::assess::IntervalKind;

    /// With many bins the plugin estimate sees error that is noise; the debiased bound stays below it.
    #[test]
    fn the_debiased_bound_allows_more_bins() {
        let point = |i: u32| {
            let score = f64::from(i * 7919 % 4000) / 4000.0;
            let noise = f64::from(i.wrapping_mul(2_654_435_769) >> 8) / f64::from(1 << 24);
            (score, noise < score * score)
        };
        let half = |range: std::ops::Range<u32>| range.map(point).collect::<Vec<_>>();
        let (calibration, test) = (half(0..2000), half(2000..4000));
        let (scores, labels) = calibration.into_iter().unzip();
        let calibration = BinaryData::new(scores, labels).unwrap();
        let bootstrap = Bootstrap { kind: IntervalKind::Percentile, resamples: 100, seed: 1, alpha: 0.1 };
        let got = choose_bins(&calibration, &test, &[2, 10, 50], bootstrap).unwrap();
        assert!(got.iter().all(|tried| tried.upper_debiased < tried.upper_plugin));
        assert!(got[0].brier > got[1].brier, "two bins are too few: {got:?}");
        assert!(got[2].upper_plugin > got[1].upper_plugin, "{got:?}");
        // Alone, a number of bins takes no share of alpha.
        let alone = choose_bins(&calibration, &test, &[10], bootstrap).unwrap();
        assert!(alone[0].upper_plugin < got[1].upper_plugin, "{alone:?} {got:?}");
        assert!(choose_bins(&calibration, &test, &[1500], bootstrap).is_err());
    }

    #[test]
    fn halves_are_drawn_and_not_cut() {
        let points: Vec<_> = (0..101).map(|i| (f64::from(i / 2) / 100.0, i % 3 == 0)).collect();
        let (calibration, test) = halves(points.iter().copied(), 1).unwrap();
        assert_eq!((calibration.len(), test.len()), (51, 50));
        assert!(test.iter().any(|point| point.0 < 0.1) && test.iter().any(|point| point.0 > 0.4));
        assert_eq!(halves(points.iter().rev().copied(), 1).unwrap(), (calibration, test.clone()));
        assert_ne!(halves(points.iter().copied(), 2).unwrap().1, test);
        assert_eq!(halves([(0.5, true)], 1), Err(DataError::Empty));
    }
}
