//! How far a calibration curve is from the diagonal, over the rows.

use serde::Serialize;

/// The absolute difference of a calibration curve and the probability, over the rows (Austin and Steyerberg 2019).
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct CurveDeviation {
    /// The mean: the integrated calibration index.
    pub ici: f64,
    /// The median.
    pub e50: f64,
    /// The quantile at 0.9.
    pub e90: f64,
    /// The largest.
    pub emax: f64,
}

impl CurveDeviation {
    /// Takes differences with the number of rows that have each; at least one row.
    pub(super) fn new(differences: impl Iterator<Item = (f64, u64)>) -> Self {
        let mut sizes: Vec<(f64, u64)> = differences.map(|(difference, n)| (difference.abs(), n)).collect();
        sizes.sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        let n: u64 = sizes.iter().map(|size| size.1).sum();
        Self {
            ici: sizes.iter().map(|&(size, n)| size * n as f64).sum::<f64>() / n as f64,
            e50: quantile(&sizes, n, 0.5),
            e90: quantile(&sizes, n, 0.9),
            emax: sizes[sizes.len() - 1].0,
        }
    }
}

/// The quantile of ascending numbers that occur so many times, `n` in all, by R's type 7: linear between the numbers at
/// `floor((n - 1) level)` and the next.
pub(super) fn quantile(ascending: &[(f64, u64)], n: u64, level: f64) -> f64 {
    let place = (n - 1) as f64 * level;
    let below = place.floor();
    let (mut passed, mut at) = (0, ascending[ascending.len() - 1].0);
    let mut values = ascending.iter();
    for &(value, times) in values.by_ref() {
        passed += times;
        at = value;
        if passed as f64 > below {
            break;
        }
    }
    let next = if passed as f64 > below + 1.0 { at } else { values.next().map_or(at, |next| next.0) };
    at + (place - below) * (next - at)
}
