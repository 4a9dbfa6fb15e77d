//! How far a calibration curve is from the diagonal, over the rows.

use std::io;

use serde::Serialize;

use crate::points::Sorter;

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
    /// Takes absolute differences, each a record of its bits and of the number of rows that have it, of `n` rows in all, at least
    /// one.
    ///
    /// # Errors
    ///
    /// If a temporary file cannot be written.
    pub(super) fn new(sizes: Sorter<2>, n: u64) -> io::Result<Self> {
        let (mut sum, mut emax) = (0.0, 0.0);
        let mut quantiles = [Quantile::new(n, 0.5), Quantile::new(n, 0.9)];
        // The bits of floats from 0 on ascend with their values.
        sizes.for_each(|&[size, times]| {
            let size = f64::from_bits(size);
            sum += size * times as f64;
            emax = size;
            quantiles.iter_mut().for_each(|quantile| quantile.pass(size, times));
        })?;
        let [e50, e90] = quantiles.map(|quantile| quantile.value());
        Ok(Self { ici: sum / n as f64, e50, e90, emax })
    }

    /// The record of a difference that so many rows have.
    pub(super) fn record(difference: f64, n: u64) -> [u64; 2] {
        [difference.abs().to_bits(), n]
    }
}

/// A quantile of numbers that come in ascending order, by R's type 7: of `n` linear between the numbers at
/// `floor((n - 1) level)` and the next.
pub(super) struct Quantile {
    place: f64,
    passed: u64,
    /// The number at the floor, and the next if it is another one.
    at: Option<f64>,
    next: Option<f64>,
}

impl Quantile {
    pub(super) fn new(n: u64, level: f64) -> Self {
        Self { place: (n - 1) as f64 * level, passed: 0, at: None, next: None }
    }

    /// Goes on past a number that occurs so many times.
    pub(super) fn pass(&mut self, value: f64, times: u64) {
        let below = self.place.floor();
        if self.passed as f64 <= below {
            self.passed += times;
            self.at = Some(value);
            if self.passed as f64 > below + 1.0 {
                self.next = Some(value);
            }
        } else if self.next.is_none() {
            self.next = Some(value);
        }
    }

    /// The quantile, once all numbers have come.
    pub(super) fn value(&self) -> f64 {
        let at = self.at.expect("there are numbers");
        at + (self.place - self.place.floor()) * (self.next.unwrap_or(at) - at)
    }
}
