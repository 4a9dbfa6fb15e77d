//! Calibration errors of binned predictions, plugin and debiased.

use std::f64::consts::{FRAC_1_SQRT_2, PI};

use statrs::function::erf::erf;

use super::cells::Cell;

/// Calibration errors over one set of groups, each weighted by its share of the predictions.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct CalibrationError {
    /// The mean absolute deviation (expected calibration error).
    pub l1: f64,
    /// The same, less an estimate of its bias (Kumar et al. 2019, Definition G.3). It may be negative.
    pub l1_debiased: f64,
    /// The largest bias that `l1` may have: what it would be on average, were all groups calibrated, in the normal
    /// approximation. A group's bias is the mean of `|N(mu, sd)|` less `|mu|`, which is largest, `sd sqrt(2 / pi)`, at 0.
    pub l1_noise: f64,
    /// The mean squared deviation (Definition 5.1 there).
    pub l2_squared: f64,
    /// The same without its bias (Definition 5.2 there, without the square that its numerator has in print). It may be
    /// negative: clip it only under a root.
    pub l2_squared_debiased: f64,
    /// The largest deviation.
    pub max: f64,
    /// The number of groups that hold predictions.
    pub groups: u64,
    /// How many of them hold one prediction: they add nothing to the debiased squared error.
    pub singles: u64,
}

/// Calibration errors over groups; empty ones count for nothing.
///
/// ```
/// use calib_fit::assess::{Cell, calibration_error};
///
/// // 0.8 comes true in 60 of 100 cases, and 0.1 in 10 of 100.
/// let cell = |prob, hits| Cell::new((0..100).map(|row| (prob, row < hits)));
/// let error = calibration_error(&[cell(0.8, 60), cell(0.1, 10)]);
/// assert!((error.l1 - 0.1).abs() < 1e-9 && (error.max - 0.2).abs() < 1e-9);
/// assert!(error.l2_squared_debiased < error.l2_squared);
/// ```
///
/// # Panics
///
/// If there are no predictions.
pub fn calibration_error(cells: &[Cell]) -> CalibrationError {
    let n: u64 = cells.iter().map(|cell| cell.n).sum();
    assert!(n > 0, "nothing to assess");
    let occupied = || cells.iter().filter(|cell| cell.n > 0);
    let mean = |of: fn(&Cell) -> f64| occupied().map(|cell| cell.n as f64 * of(cell)).sum::<f64>() / n as f64;
    let l1 = occupied().map(Cell::weighted_deviation).sum::<f64>() / n as f64;
    CalibrationError {
        l1,
        l1_debiased: 2.0 * l1 - mean(expected_deviation),
        l1_noise: mean(largest_bias),
        l2_squared: mean(|cell| cell.difference().powi(2)),
        l2_squared_debiased: mean(debiased_square),
        max: occupied().map(|cell| cell.difference().abs()).fold(0.0, f64::max),
        groups: occupied().count() as u64,
        singles: occupied().filter(|cell| cell.n == 1).count() as u64,
    }
}

/// The plugin estimate of the calibration error in the norm `p >= 1`: the p-th root of the mean p-th power of the deviation.
pub(crate) fn plugin(cells: &[Cell], p: f64) -> f64 {
    let n: u64 = cells.iter().map(|cell| cell.n).sum();
    let occupied = cells.iter().filter(|cell| cell.n > 0);
    let powers = occupied.map(|cell| cell.n as f64 * cell.difference().abs().powf(p));
    (powers.sum::<f64>() / n as f64).powf(1.0 / p)
}

/// The squared difference less the variance of the fraction, without bias.
fn debiased_square(cell: &Cell) -> f64 {
    if cell.n == 1 {
        return 0.0;
    }
    let rate = cell.rate();
    cell.difference().powi(2) - rate * (1.0 - rate) / (cell.n - 1) as f64
}

/// The mean of `|s - R|` for the mean probability `s` and a normal `R` around the fraction that came true (a folded normal
/// distribution's mean).
fn expected_deviation(cell: &Cell) -> f64 {
    let rate = cell.rate();
    let sd = (rate * (1.0 - rate) / cell.n as f64).sqrt();
    let mu = cell.difference();
    if sd == 0.0 {
        return mu.abs();
    }
    let z = mu / sd;
    // 1 - 2 Phi(-z) = erf(z / sqrt 2).
    sd * (2.0 / PI).sqrt() * (-z * z / 2.0).exp() + mu * erf(z * FRAC_1_SQRT_2)
}

/// The mean of a folded normal variable around 0. Of a group without hits or misses, too, the fraction has a variance: it
/// is taken with a hit and a miss more (Agresti and Coull 1998).
fn largest_bias(cell: &Cell) -> f64 {
    let rate = (cell.hits + 1) as f64 / (cell.n + 2) as f64;
    (rate * (1.0 - rate) / cell.n as f64 * 2.0 / PI).sqrt()
}

#[cfg(test)]
mod tests {
    use rand::SeedableRng;
    use rand_distr::{Distribution, Normal};
    use rand_xoshiro::Xoshiro256PlusPlus;

    use super::*;

    fn cell(prob: f64, n: u64, hits: u64) -> Cell {
        Cell::new((0..n).map(|i| (prob, i < hits)))
    }

    /// The twelve points: .1 four times with one hit, .4 three times with one, .8 five times with four.
    #[test]
    fn the_twelve_point_fixture() {
        let got = calibration_error(&[cell(0.1, 4, 1), cell(0.4, 3, 1), Cell::default(), cell(0.8, 5, 4)]);
        for (value, expected) in [
            (got.l2_squared, 0.008_611_111_111),
            (got.l2_squared_debiased, -0.056_666_666_667),
            (got.l1, 0.066_666_666_667),
            (got.l1_debiased, -0.052_921_990_262),
            (got.max, 0.15),
        ] {
            assert!((value - expected).abs() < 1e-12, "{value} {expected}");
        }
        assert_eq!((got.groups, got.singles), (3, 0));
        let sd = |rate: f64, n: f64| (rate * (1.0 - rate) / n).sqrt();
        let noise = (4.0 * sd(2.0 / 6.0, 4.0) + 3.0 * sd(2.0 / 5.0, 3.0) + 5.0 * sd(5.0 / 7.0, 5.0)) / 12.0;
        assert!((got.l1_noise - noise * (2.0 / PI).sqrt()).abs() < 1e-12);
        let cells = [cell(0.1, 4, 1), cell(0.4, 3, 1), cell(0.8, 5, 4)];
        assert!((plugin(&cells, 1.0) - got.l1).abs() < 1e-15);
        assert!((plugin(&cells, 2.0).powi(2) - got.l2_squared).abs() < 1e-15);
    }

    #[test]
    fn a_single_prediction_adds_nothing_to_the_debiased_square() {
        let got = calibration_error(&[cell(0.3, 1, 1)]);
        assert_eq!((got.l2_squared_debiased, got.singles), (0.0, 1));
        assert!((got.l2_squared - 0.49).abs() < 1e-15 && (got.l1_debiased - 0.7).abs() < 1e-15);
    }

    /// The closed form against draws of the normal variable.
    #[test]
    fn the_expected_deviation_is_that_of_a_simulation() {
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(3);
        for (prob, n, hits) in [(0.1, 4, 1), (0.5, 100, 50), (0.9, 30, 20), (0.2, 1000, 190)] {
            let cell = cell(prob, n, hits);
            let rate = cell.rate();
            let normal = Normal::new(rate, (rate * (1.0 - rate) / n as f64).sqrt()).unwrap();
            let draws = 200_000;
            let (mut sum, mut squares) = (0.0, 0.0);
            for _ in 0..draws {
                let deviation: f64 = (prob - normal.sample(&mut rng)).abs();
                sum += deviation;
                squares += deviation * deviation;
            }
            let mean = sum / f64::from(draws);
            let error = ((squares / f64::from(draws) - mean * mean) / f64::from(draws)).sqrt();
            assert!((expected_deviation(&cell) - mean).abs() < 5.0 * error, "{prob} {n} {hits}");
        }
    }

    /// The debiased square is unbiased: its mean over all outcomes of a group is the true squared error, exactly.
    #[test]
    fn the_debiased_square_has_no_bias() {
        let (prob, truth, n) = (0.3, 0.45f64, 7u64);
        let mut choose = 1.0;
        let mut mean = 0.0;
        for hits in 0..=n {
            let likelihood = choose * truth.powi(hits as i32) * (1.0 - truth).powi((n - hits) as i32);
            mean += likelihood * debiased_square(&cell(prob, n, hits));
            choose *= (n - hits) as f64 / (hits + 1) as f64;
        }
        assert!((mean - 0.15f64.powi(2)).abs() < 1e-14);
    }
}
