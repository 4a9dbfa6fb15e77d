//! Points one by one, and the integer codes that their scores stand for.

use calib_core::{QuantizedScore, ScoreEncoding};

use crate::data::{BinaryData, Form};
use crate::error::FitError;
use crate::points::{Counted, Points};

/// Each point's score, and whether its label is 1.
///
/// # Errors
///
/// [`FitError::Spill`] if points on a disk cannot be read back.
pub(super) fn rows(points: &BinaryData) -> Result<Vec<(f64, bool)>, FitError> {
    let each = |(score, n, positives): (f64, u64, u64)| (0..n).map(move |at| (score, at < positives));
    let groups = match points.form() {
        Form::Sorted(points) => points.groups()?,
        Form::Spilled(points) => Counted::new(&**points)?.groups()?,
        _ => return Ok(points.rows().into_iter().flatten().flat_map(each).collect()),
    };
    let counts = groups.iter().map(|group| (group.score, group.n, group.positives));
    Ok(counts.flat_map(each).collect())
}

/// The code of each point's score, and whether its label is 1.
///
/// # Errors
///
/// As [`rows`].
///
/// # Panics
///
/// If the encoding has no codes.
pub(super) fn codes(
    points: &BinaryData,
    encoding: ScoreEncoding,
) -> Result<Vec<(QuantizedScore, bool)>, FitError> {
    let of_key = |key: u16| QuantizedScore::from_key(encoding, key).expect("an encoding of codes");
    let lowest = f64::from(of_key(0).dequantized());
    let scale = f64::from(encoding.scale().expect("an encoding of codes"));
    // An f32 is near enough to tell 2^16 codes apart.
    let code = |score: f64| of_key(((score - lowest) / scale).round() as u16);
    Ok(rows(points)?.into_iter().map(|(score, label)| (code(score), label)).collect())
}
