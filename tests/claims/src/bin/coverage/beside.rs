//! Intervals of score ranges and bands, which stand beside any calibrator.

use anyhow::{Context, Result, ensure};
use calib_claims::truth::Truth;
use calib_core::Score;
use calib_core::artifact::Rate;
use calib_host::bands::Band;
use calib_host::binary::{Loss, ScalingBinning};
use calib_host::dataset::{Dataset, Rows, Scores};
use calib_host::intervals::{self, TableIntervals};
use calib_host::job::{FitOptions, FittedModel, MethodChoice, fit};
use calib_host::stats::Interval;
use calib_host::{BinaryData, BinaryMethod, FitError, Isotonic, ScalingMethod, ScoreKind};

use crate::cell::Point;
use crate::tables::outside_interval;

/// The methods of [`methods`].
pub(crate) const METHODS: usize = 11;

fn methods() -> [MethodChoice; METHODS] {
    [
        MethodChoice::Auto,
        BinaryMethod::Unchanged.into(),
        BinaryMethod::Scaling(ScalingMethod::PlattLogit).into(),
        BinaryMethod::Scaling(ScalingMethod::PlattProb).into(),
        BinaryMethod::Scaling(ScalingMethod::Beta).into(),
        BinaryMethod::Scaling(ScalingMethod::Quadratic).into(),
        BinaryMethod::Scaling(ScalingMethod::Temperature).into(),
        BinaryMethod::Isotonic(Isotonic::default()).into(),
        BinaryMethod::IsotonicInterpolated(Isotonic::default()).into(),
        BinaryMethod::IsotonicCentered(Isotonic::default()).into(),
        BinaryMethod::ScalingBinning(ScalingBinning {
            scaling: ScalingMethod::PlattLogit,
            loss: Loss::Log,
            bins: 5,
            split_seed: None,
        })
        .into(),
    ]
}

/// Whether some range's event rate is outside of its interval: the rate that is stated, and that of all scores of the range.
pub(crate) fn intervals_fail(
    truth: &Truth,
    points: &[Point],
    data: &BinaryData,
    alpha: f64,
) -> Result<[Option<bool>; 2]> {
    let found = intervals::fit(data, alpha)?;
    let table = found.tables()[0].as_ref().context("one score has a table")?;
    let ends: Vec<Interval> = table.bins().iter().map(|bin| bin.interval).collect();
    let of_all = truth.bins(table.edges().iter().map(|&edge| (edge, 0.0)));
    let fails = outside_interval(&ends, &of_all);
    Ok(match found.rate() {
        Rate::OfRange => [Some(fails), None],
        _ => {
            let of_rows = rates_of_rows(truth, points, table);
            [Some(outside_interval(&ends, &of_rows)), Some(fails)]
        }
    })
}

/// The share and the mean probability of the rows of each range.
fn rates_of_rows(truth: &Truth, points: &[Point], table: &TableIntervals) -> Vec<(f64, f64)> {
    let mut sums = vec![(0.0, 0.0); table.bins().len()];
    for &(score, _) in points {
        let sum = &mut sums[table.edges().partition_point(|&edge| edge <= score)];
        *sum = (sum.0 + 1.0, sum.1 + truth.prob(score));
    }
    sums.into_iter().map(|(rows, sum)| (rows, sum / rows)).collect()
}

/// Whether the band misses the curve at some score, or is refused. The curve must rise.
pub(crate) fn band_fails(truth: &Truth, data: &BinaryData, alpha: f64) -> Result<bool> {
    let band = match Band::fit(data, alpha) {
        Err(FitError::NotMonotone { .. }) => return Ok(true),
        band => band?,
    };
    // The lower side is nearest to a curve that rises at the first score of a step, the upper side at the last.
    let (lower, upper) = (band.lower(), band.upper());
    let above = |(&score, &value): (&f64, &f64)| value > truth.prob(score);
    let below = |(&score, &value): (&f64, &f64)| value < truth.prob(score);
    Ok(lower.scores().iter().zip(lower.values()).any(above)
        || upper.scores().iter().zip(upper.values()).any(below))
}

/// Fails unless every artifact holds the intervals and the band that are counted here, rounded outward by one `f32` at most. Returns how
/// many artifacts there are.
pub(crate) fn are_in_artifacts(points: &[Point], data: &BinaryData, alpha: f64) -> Result<usize> {
    let (scores, labels): (Vec<f32>, Vec<i64>) =
        points.iter().map(|&(score, label)| (score as f32, i64::from(label))).unzip();
    let dataset = Dataset::new(Scores::Binary(ScoreKind::Probability, scores.into()), Rows::new(&labels))?;
    let found = intervals::fit(data, alpha)?;
    let band = Band::fit(data, alpha).ok();
    let mut compared = 0;
    for method in methods() {
        // One class, or a curve without an optimum: nothing is stored.
        let Ok(fitted) =
            fit(&dataset, &FitOptions::default().method(method.clone()).alpha(alpha).band(Some(true)))
        else {
            continue;
        };
        // The choice by default is bins with intervals of their own, if there are few events.
        if matches!(&fitted.model, FittedModel::Tables(fit) if fit.guarantee().is_some()) {
            continue;
        }
        let artifact = fitted.artifact.artifact();
        let expected = found.tables()[0].as_ref().context("one score has a table")?.bins();
        let table = artifact
            .score_intervals()
            .and_then(|ranges| ranges.table(0))
            .with_context(|| format!("{method:?} has no intervals"))?;
        let stored: Vec<_> = table.intervals().collect();
        ensure!(stored.len() == expected.len(), "{method:?} has {} intervals", stored.len());
        for (stored, expected) in stored.iter().zip(expected) {
            contains(expected.interval, (stored.lo, stored.hi)).with_context(|| format!("{method:?}"))?;
        }
        ensure!(artifact.band().is_some() == band.is_some(), "{method:?}: the band");
        if let (Some(stored), Some(band)) = (artifact.band(), &band) {
            for &(score, _) in points {
                let at = stored.at(Score::new(score as f32)?).context("a float")?;
                contains(band.at(score), (at.lo, at.hi)).with_context(|| format!("{method:?}"))?;
            }
        }
        compared += 1;
    }
    Ok(compared)
}

fn contains(exact: Interval, stored: (f32, f32)) -> Result<()> {
    let (down, up) = (exact.lo - f64::from(stored.0), f64::from(stored.1) - exact.hi);
    ensure!((0.0..1e-7).contains(&down) && (0.0..1e-7).contains(&up), "{exact:?} is stored as {stored:?}");
    Ok(())
}
