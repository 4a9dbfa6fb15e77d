//! The logistic function.

use crate::Score;

/// Maps a logit to `1 / (1 + exp(-logit))`, with the same bits on every target.
///
/// Returns `None` for NaN; infinities give 0 and 1. The argument of `exp` is never positive, so nothing
/// overflows. The relative error is below 3 ulp (libm's `expf` is within 1 ulp).
///
/// ```
/// assert_eq!(calib_core::sigmoid(0.0).unwrap().get(), 0.5);
/// assert!(calib_core::sigmoid(f32::NAN).is_none());
/// ```
pub fn sigmoid(logit: f32) -> Option<Score> {
    let e = libm::expf(-logit.abs());
    let value = if logit >= 0.0 { 1.0 / (1.0 + e) } else { e / (1.0 + e) };
    Score::new(value).ok()
}

/// [`sigmoid`] with micromath's approximate `exp`: absolute error up to 5.3e-4, and not monotone near
/// a logit of -1. Returns `None` for NaN.
///
/// Fit on scores from the same function: a calibrator fitted on [`sigmoid`] sees other scores.
#[cfg(feature = "micromath")]
pub fn sigmoid_fast(logit: f32) -> Option<Score> {
    use micromath::F32Ext;

    if logit.is_nan() {
        return None;
    }
    // Beyond 87 the approximation of exp leaves the range of f32; sigmoid is 0 or 1 to 1e-37 there.
    let e = (-logit.abs()).max(-87.0);
    let e = F32Ext::exp(e);
    let value = if logit >= 0.0 { 1.0 / (1.0 + e) } else { e / (1.0 + e) };
    Score::new_clamped(value, 1e-3).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn agrees_with_f64() {
        for i in -2000..=2000 {
            let logit = i as f32 * 0.05;
            let exact = 1.0 / (1.0 + libm::exp(-f64::from(logit)));
            let got = f64::from(sigmoid(logit).unwrap().get());
            assert!(
                (got - exact).abs() <= exact * 3.0 * f64::from(f32::EPSILON) + 1e-38,
                "{logit}: {got} {exact}"
            );
        }
        assert_eq!(sigmoid(f32::INFINITY), Some(Score::ONE));
        assert_eq!(sigmoid(f32::NEG_INFINITY), Some(Score::ZERO));
    }

    #[cfg(feature = "micromath")]
    #[test]
    fn the_fast_variant_keeps_its_stated_error() {
        let mut worst = 0.0f64;
        for i in -200_000..=200_000 {
            let logit = i as f32 * 5e-4;
            let exact = 1.0 / (1.0 + libm::exp(-f64::from(logit)));
            worst = worst.max((f64::from(sigmoid_fast(logit).unwrap().get()) - exact).abs());
        }
        assert!(worst <= 5.3e-4, "{worst}");
        assert!(sigmoid_fast(f32::NAN).is_none());
        assert!(sigmoid_fast(f32::INFINITY).unwrap().get() > 0.999);
        assert!(sigmoid_fast(f32::NEG_INFINITY).unwrap().get() < 0.001);
    }
}
