//! The integer codes that scores stand for.

use calib_core::{QuantizedScore, ScoreEncoding};

use crate::data::BinaryData;

/// The code of each point's score, and whether its label is 1.
///
/// # Panics
///
/// If the points were sorted, or the encoding has no codes.
pub(super) fn codes(points: &BinaryData, encoding: ScoreEncoding) -> Vec<(QuantizedScore, bool)> {
    let of_key = |key: u16| QuantizedScore::from_key(encoding, key).expect("an encoding of codes");
    let lowest = f64::from(of_key(0).dequantized());
    let scale = f64::from(encoding.scale().expect("an encoding of codes"));
    // An f32 is near enough to tell 2^16 codes apart.
    let code = |score: f64| of_key(((score - lowest) / scale).round() as u16);
    let rows = points.rows().expect("the points have their rows");
    rows.flat_map(|(score, n, positives)| (0..n).map(move |at| (code(score), at < positives))).collect()
}
