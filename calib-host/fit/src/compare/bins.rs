//! How many bins: what is known of the calibration error against the squared error (Kumar et al. 2019, figure 17).

use std::cmp::Ordering;

use serde::Serialize;

use crate::assess::{AssessOptions, Binning, Bootstrap, Column, Prediction, PredictionKind};
use crate::binary::{BinaryMethod, Umd};
use crate::data::{BinaryData, DataError};
use crate::error::FitError;
use crate::fit::fit_binary;
use crate::points::{group, split_groups};
use crate::stats::{Clusters, Seed, Units, deal};

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

/// Points to judge with.
#[derive(Clone, Debug, PartialEq)]
pub struct TestPoints {
    /// Scores and labels, at least one.
    pub points: Vec<(f64, bool)>,
    /// Which of them are resampled together; `None` if all are independent.
    pub clusters: Option<Clusters>,
}

impl TestPoints {
    /// All points to fit to, or one of each cluster, drawn with the seed.
    ///
    /// # Errors
    ///
    /// If there are none, or a score is not in `[0, 1]`.
    ///
    /// # Panics
    ///
    /// If the clusters are of another number of points.
    pub fn one_of_each_cluster(&self, seed: Seed) -> Result<BinaryData, DataError> {
        let Self { points, clusters } = self;
        let drawn = clusters
            .as_ref()
            .map(|clusters| clusters.one_row_each(seed, |a, b| compare(&points[a], &points[b])));
        let drawn = drawn.unwrap_or_else(|| (0..points.len()).collect());
        let (scores, labels) = drawn.into_iter().map(|i| points[i]).unzip();
        BinaryData::new(scores, labels)
    }
}

/// The order of points by score and label.
fn compare(a: &(f64, bool), b: &(f64, bool)) -> Ordering {
    a.0.total_cmp(&b.0).then(a.1.cmp(&b.1))
}

/// Fits uniform-mass binning with each number of bins to `calibration`, and judges it on `test`. More bins lower the squared error
/// as long as there are points for them, and raise what can be said about the calibration error. A bound is an estimate of the squared error plus a margin. The margin is a normal quantile
/// at `1 - alpha / M` times the standard deviation of its resamples, where `M` is how many numbers of bins are tried: so all of them hold simultaneously, and
/// with them that of whichever is taken, as far as the normal approximation does.
///
/// ```
/// use calib_fit::assess::{Bootstrap, IntervalKind};
/// use calib_fit::compare::{choose_bins, halves};
///
/// let points = (0..1000).map(|i| (f64::from(i) / 1000.0, i % 40 < i / 25));
/// let (calibration, test) = halves(points, None, 1)?;
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
/// If there are no test points, or clusters of another number of them.
pub fn choose_bins(
    calibration: &BinaryData,
    test: &TestPoints,
    bins: &[usize],
    bootstrap: Bootstrap,
) -> Result<Vec<BinsTried>, FitError> {
    let TestPoints { points: test, clusters } = test;
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
        let mut order: Vec<usize> = (0..rows.len()).collect();
        order.sort_unstable_by_key(|&row| rows[row].key());
        let units = Units::new(clusters.as_ref(), &mut order, |a, b| rows[a].key() == rows[b].key());
        let rows = order.into_iter().map(|row| rows[row]).zip(0..).collect();
        let column = Column::with_sources(rows, PredictionKind::Binary, Binning::ByBin, norm);
        let figures = column.frame.figures(&column.tally());
        let deviations = bootstrap.standard_deviations(&units, |counts| {
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

/// Divides points at random into two halves of equal size: one to fit to, one to judge with. Of clusters, half go to each
/// side as a whole, and the points to fit to are one of each. The result does not depend on the order of the points.
///
/// ```
/// let points = (0..100).map(|i| (f64::from(i) / 100.0, i % 2 == 0));
/// let (calibration, test) = calib_fit::compare::halves(points, None, 1)?;
/// assert_eq!((calibration.len(), test.points.len()), (50, 50));
/// # Ok::<(), calib_fit::data::DataError>(())
/// ```
///
/// # Errors
///
/// Fewer than two points or clusters, or a score that is not in `[0, 1]`.
///
/// # Panics
///
/// If the clusters are of another number of points.
pub fn halves(
    points: impl IntoIterator<Item = (f64, bool)>,
    clusters: Option<&Clusters>,
    seed: Seed,
) -> Result<(BinaryData, TestPoints), DataError> {
    if let Some(clusters) = clusters {
        return halves_of_clusters(&points.into_iter().collect::<Vec<_>>(), clusters, seed);
    }
    let groups = group(points.into_iter().map(|(score, label)| (score, 1, label.into())).collect());
    let parts = split_groups(&groups, 2, seed);
    let calibration = parts[0].iter().map(|group| (group.score, group.n, group.positives)).collect();
    let test: Vec<(f64, bool)> =
        parts[1].iter().flat_map(|group| (0..group.n).map(|i| (group.score, i < group.positives))).collect();
    let calibration = BinaryData::from_counts(calibration)?;
    let test = TestPoints { points: test, clusters: None };
    if test.points.is_empty() { Err(DataError::Empty) } else { Ok((calibration, test)) }
}

fn halves_of_clusters(
    points: &[(f64, bool)],
    clusters: &Clusters,
    seed: Seed,
) -> Result<(BinaryData, TestPoints), DataError> {
    if clusters.count() < 2 {
        return Err(DataError::Empty);
    }
    let mut order: Vec<usize> = (0..points.len()).collect();
    order.sort_unstable_by(|&a, &b| compare(&points[a], &points[b]));
    let same = |a: usize, b: usize| compare(&points[a], &points[b]).is_eq();
    let units = Units::new(Some(clusters), &mut order, same);
    let (calibration, test) = deal(&units, &vec![0; units.count()], 2, 1, seed).remove(0).remove(0);
    let half = |places: Vec<usize>| TestPoints {
        points: places.iter().map(|&place| points[order[place]]).collect(),
        clusters: Some(clusters.part(places.iter().map(|&place| order[place]))),
    };
    Ok((half(calibration).one_of_each_cluster(seed)?, half(test)))
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
        let test = TestPoints { points: test, clusters: None };
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
        let (calibration, test) = halves(points.iter().copied(), None, 1).unwrap();
        assert_eq!((calibration.len(), test.points.len()), (51, 50));
        assert!(
            test.points.iter().any(|point| point.0 < 0.1) && test.points.iter().any(|point| point.0 > 0.4)
        );
        assert_eq!(halves(points.iter().rev().copied(), None, 1).unwrap(), (calibration, test.clone()));
        assert_ne!(halves(points.iter().copied(), None, 2).unwrap().1, test);
        assert_eq!(halves([(0.5, true)], None, 1), Err(DataError::Empty));
    }
}
