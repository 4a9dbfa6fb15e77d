//! Calibration data with real weights.

use super::binary::BinaryData;
use super::error::DataError;
use super::rows_digest::RowsDigest;
use crate::error::FitError;
use crate::points::ScoreSummary;
use crate::stats::ScoreKind;

/// At least one point, each with a score of class 1, a probability or a margin, a label and a weight from 0 on, not all 0.
///
/// A weight becomes a whole number of units, of which the unit is a power of two: so every sum is exact, and no result
/// depends on the order of the rows. With `n` rows and the largest weight `w`, the unit is at most `n w / 2^49`; what is
/// below half of it counts as 0. For a million rows that is a billionth of the largest weight.
#[derive(Clone, Debug, PartialEq)]
pub struct WeightedData {
    units: BinaryData,
    rows: u64,
    digest: RowsDigest,
}

/// All weights together are at most `2^TOTAL_BITS` units.
const TOTAL_BITS: i32 = 52;

impl WeightedData {
    /// Checks rows of a score, a weight and a label. The scores are used as they are; see [`BinaryData::on_device`].
    ///
    /// # Errors
    ///
    /// No rows, a score that is not in `[0, 1]`, or a weight that is not a number from 0 on. Weights that are all 0, or those of a label
    /// that all count as 0.
    pub fn new(rows: &[(f64, f64, bool)]) -> Result<Self, DataError> {
        Self::of_kind(ScoreKind::Probability, rows)
    }

    /// As [`WeightedData::new`], for rows of a margin, a weight and a label.
    ///
    /// # Errors
    ///
    /// No rows, a margin that is no finite number as an `f32`, a weight that is not a number from 0 on, or weights that are
    /// all 0.
    pub fn of_margins(rows: &[(f64, f64, bool)]) -> Result<Self, DataError> {
        Self::of_kind(ScoreKind::Margin, rows)
    }

    fn of_kind(kind: ScoreKind, rows: &[(f64, f64, bool)]) -> Result<Self, DataError> {
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
        let units = |weight| times_power_of_two(weight, shift).round() as u64;
        for label in [false, true] {
            let of_label = || rows.iter().filter(|row| row.2 == label && row.1 > 0.0);
            if of_label().next().is_some() && of_label().all(|row| units(row.1) == 0) {
                return Err(DataError::WeightsApart { label: label.into(), largest });
            }
        }
        let counts = rows.iter().map(|&(score, weight, label)| {
            let units = units(weight);
            (score, units, if label { units } else { 0 })
        });
        Ok(Self {
            units: BinaryData::of_counts(kind, counts.collect())?,
            rows: rows.len() as u64,
            digest: RowsDigest::of_scores(rows.iter().map(|&(score, _, label)| (score as f32, label, 1))),
        })
    }

    /// The number of rows, rows of weight 0 included.
    #[expect(clippy::len_without_is_empty, reason = "never empty")]
    pub fn len(&self) -> u64 {
        self.rows
    }

    /// Returns what the scores are.
    pub fn kind(&self) -> ScoreKind {
        self.units.kind()
    }

    /// Returns the digest of the rows with their scores as the device sees them, whatever their weights: what a calibrator is
    /// judged by has none.
    pub fn rows_digest(&self) -> &RowsDigest {
        &self.digest
    }

    /// Looks at where the scores lie; shares are of the weight.
    ///
    /// # Errors
    ///
    /// None: the rows are in memory.
    pub fn score_summary(&self) -> Result<ScoreSummary, FitError> {
        self.units.score_summary()
    }

    /// The rows, each as so many points as its weight has units.
    pub(crate) fn units(&self) -> &BinaryData {
        &self.units
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
    use super::*;
    use crate::data::Form;

    #[test]
    fn refuses_what_is_no_weight() {
        let new = |weight| WeightedData::new(&[(0.5, 1.0, true), (0.5, weight, false)]);
        let apart =
            WeightedData::new(&[(0.2, 1.0, false), (0.6, 2.0, false), (0.7, 1e20, true), (0.3, 1.0, true)]);
        assert_eq!(apart, Err(DataError::WeightsApart { label: 0, largest: 1e20 }));
        let others =
            WeightedData::new(&[(0.2, 1e20, false), (0.6, 0.0, true), (0.7, 1e20, true), (0.3, 1.0, true)]);
        assert!(others.is_ok());
        for weight in [-1.0, f64::INFINITY, f64::NEG_INFINITY] {
            assert_eq!(new(weight), Err(DataError::Weight { row: 1, weight }));
        }
        assert!(matches!(new(f64::NAN), Err(DataError::Weight { row: 1, .. })));
        assert_eq!(WeightedData::new(&[]), Err(DataError::Empty));
        assert_eq!(WeightedData::new(&[(0.5, 0.0, true)]), Err(DataError::NoWeight));
        assert!(matches!(WeightedData::new(&[(1.5, 0.5, true)]), Err(DataError::Score { row: 0, .. })));
    }

    /// The rows that weigh something, with equal weights: score and label.
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
}
