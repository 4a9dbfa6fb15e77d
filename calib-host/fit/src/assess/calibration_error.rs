//! Calibration errors of binned predictions, plugin and debiased.

use std::f64::consts::{FRAC_1_SQRT_2, PI};

use statrs::function::erf::erf;
use statrs::function::gamma::ln_gamma;

use super::cells::Cell;

/// Calibration errors over one set of groups, each weighted by its fraction of the predictions.
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
/// // With 0.8 the event occurs in 60 of 100 cases, with 0.1 in 10 of 100.
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

/// Returns the mean absolute deviation that calibrated predictions exceed in about 5 % of cases, if they have these probabilities and are
/// independent: so much error shows nothing.
///
/// The mean and the variance are exact for a binomial number of hits in each group at its mean probability. The quantile is that of the gamma
/// distribution with these, by the cube of Wilson and Hilferty (1931).
///
/// ```
/// use calib_fit::assess::{Cell, calibration_error, chance_error};
///
/// // With 0.5 the event occurs in 60 of 100 cases. If 0.5 is right, this much is seen in 6 of 100 sets.
/// let cells = [Cell::new((0..100).map(|row| (0.5, row < 60)))];
/// let by_chance = chance_error(&cells);
/// assert!(0.095 < by_chance && by_chance < calibration_error(&cells).l1 + 0.001);
/// ```
pub fn chance_error(cells: &[Cell]) -> f64 {
    /// The standard normal quantile of 95 %.
    const Z: f64 = 1.644_853_626_951_472_7;
    let n: u64 = cells.iter().map(|cell| cell.n).sum();
    let (mut mean, mut variance) = (0.0, 0.0);
    for cell in cells.iter().filter(|cell| cell.n > 0) {
        let p = cell.mean_prob().clamp(0.0, 1.0);
        let deviation = binomial_deviation(cell.n, p);
        mean += deviation;
        variance += cell.n as f64 * p * (1.0 - p) - deviation * deviation;
    }
    if mean == 0.0 {
        return 0.0;
    }
    let ninth = variance.max(0.0) / (9.0 * mean * mean);
    mean * (1.0 - ninth + Z * ninth.sqrt()).powi(3) / n as f64
}

/// The mean absolute deviation of a binomial variable from its mean (de Moivre 1730): `2 m C(n, m) p^m (1 - p)^(n - m + 1)` with
/// `m = floor(n p) + 1`.
fn binomial_deviation(n: u64, p: f64) -> f64 {
    if p <= 0.0 || p >= 1.0 {
        return 0.0;
    }
    let n = n as f64;
    let m = ((n * p).floor() + 1.0).min(n);
    let ways = ln_gamma(n + 1.0) - ln_gamma(m + 1.0) - ln_gamma(n - m + 1.0);
    2.0 * m * (ways + m * p.ln() + (n - m + 1.0) * (-p).ln_1p()).exp()
}

/// The squared difference less the variance of the fraction, without bias.
fn debiased_square(cell: &Cell) -> f64 {
    if cell.n == 1 {
        return 0.0;
    }
    let rate = cell.rate();
    cell.difference().powi(2) - rate * (1.0 - rate) / (cell.n - 1) as f64
}

/// The mean of `|s - R|` for the mean probability `s` and a normal `R` around the observed frequency (a folded normal
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
    use rand::{RngExt, SeedableRng};
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

    #[test]
    fn the_deviation_of_a_binomial_variable_is_its_sum() {
        for (n, p) in [(1u64, 0.5), (1, 0.999), (7, 0.3), (50, 0.001), (60, 0.25), (400, 0.02)] {
            let (mut chance, mut sum) = ((1.0f64 - p).powi(n as i32), 0.0);
            for hits in 0..=n {
                sum += chance * (hits as f64 - n as f64 * p).abs();
                chance *= (n - hits) as f64 / (hits + 1) as f64 * p / (1.0 - p);
            }
            assert!((binomial_deviation(n, p) - sum).abs() < 1e-9 * (1.0 + sum), "{n} {p}");
        }
        assert_eq!((binomial_deviation(9, 0.0), binomial_deviation(9, 1.0)), (0.0, 0.0));
        let half = binomial_deviation(1 << 40, 0.5);
        assert!((half / (f64::from(1 << 19) * (2.0 / PI).sqrt()) - 1.0).abs() < 1e-2, "{half}");
        assert_eq!(chance_error(&[cell(0.0, 9, 0), cell(1.0, 3, 3), Cell::default()]), 0.0);
    }

    /// Calibrated scores exceed it in about 5 % of sets, of few rows and many, of frequent events and rare ones, and of one group.
    #[test]
    fn calibrated_predictions_exceed_the_chance_error_at_its_level() {
        let laws: [fn(f64) -> f64; 4] = [|u| u, |u| 0.2 * u * u, |u| 0.02 * u, |_| 0.3];
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(11);
        for (at, law) in laws.into_iter().enumerate() {
            for n in [30, 300, 3000] {
                let (sets, mut above) = (600, 0);
                for _ in 0..sets {
                    let mut cells = vec![Cell::default(); 15];
                    for _ in 0..n {
                        let score = law(rng.random());
                        cells[((15.0 * score) as usize).min(14)].add(score, rng.random::<f64>() < score, 1);
                    }
                    above += u32::from(calibration_error(&cells).l1 > chance_error(&cells));
                }
                // Of few rare events the numbers of hits are so few that no level is met.
                let least = if n == 30 || at == 2 { 0 } else { 18 };
                assert!((least..=48).contains(&above), "law {at}, {n} rows: {above} of {sets}");
            }
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
