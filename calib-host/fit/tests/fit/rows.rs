//! Rows that look random, for tests of what stands in an artifact.

use calib_core::ScoreEncoding;

/// The number of rows.
pub(crate) const N: usize = 900;
/// Codes of probabilities.
pub(crate) const I8: ScoreEncoding = ScoreEncoding::I8 { scale: 1.0 / 256.0, zero_point: -128 };

/// A number below 1 that looks random.
pub(crate) fn hash(row: usize, salt: u64) -> f64 {
    let mut x =
        (row as u64 + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ salt.wrapping_mul(0xD134_2543_DE82_EF95);
    x ^= x >> 29;
    x = x.wrapping_mul(0xBF58_476D_1CE4_E5B9);
    (x >> 11) as f64 / (1u64 << 53) as f64
}

/// Scores of class 1, in `[0, 1)`.
pub(crate) fn scores() -> Vec<f32> {
    (0..N).map(|row| hash(row, 1) as f32).collect()
}

/// Labels of these scores: class 1 with a probability of the score squared.
pub(crate) fn labels(scores: &[f32]) -> Vec<i64> {
    let label = |(row, &score): (usize, &f32)| i64::from(hash(row, 2) < f64::from(score * score));
    scores.iter().enumerate().map(label).collect()
}
