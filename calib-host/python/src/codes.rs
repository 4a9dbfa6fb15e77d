//! What the codes of a network stand for.

use numpy::PyReadonlyArray1;
use pyo3::prelude::*;

use crate::interrupt::working;

/// What codes stand for, given row by row, so many in a row: the lowest and the highest number, and whether they are probabilities of
/// class 1, or of all classes.
#[pyfunction]
pub(crate) fn code_range(
    py: Python<'_>,
    codes: PyReadonlyArray1<'_, i64>,
    outputs: usize,
    scale: f32,
    zero_point: i64,
) -> PyResult<(f64, f64, bool)> {
    let codes = codes.as_slice()?;
    // The product of an f32 and a difference of codes is exact in an f64.
    let value = |code: i64| f64::from(scale) * (code - zero_point) as f64;
    working(py, || {
        let (lowest, highest) = codes
            .iter()
            .fold((i64::MAX, i64::MIN), |(lowest, highest), &code| (lowest.min(code), highest.max(code)));
        if lowest > highest {
            // Nothing speaks against no rows, which are refused as such.
            return (0.0, 0.0, true);
        }
        // Every code is rounded to half a step.
        let allowed = outputs as f64 * f64::from(scale);
        let sums_to_one =
            |row: &[i64]| (row.iter().map(|&code| value(code)).sum::<f64>() - 1.0).abs() <= allowed;
        let (lowest, highest) = (value(lowest), value(highest));
        let in_range = lowest >= 0.0 && highest <= 1.0;
        (lowest, highest, in_range && (outputs == 1 || codes.chunks_exact(outputs.max(1)).all(sums_to_one)))
    })
}
