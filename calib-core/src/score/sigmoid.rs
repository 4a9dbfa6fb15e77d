//! The logistic function.

use super::float::Score;

/// Maps a logit to `1 / (1 + exp(-logit))`, with the same bits on every target.
///
/// Returns `None` for NaN; infinities give 0 and 1. The argument of `exp` is never positive, so nothing overflows. The relative
/// error is below 3 ulp; the error of libm's `expf` is within 1 ulp.
///
/// ```
/// assert_eq!(calib_core::score::sigmoid(0.0).unwrap().get(), 0.5);
/// assert!(calib_core::score::sigmoid(f32::NAN).is_none());
/// ```
pub fn sigmoid(logit: f32) -> Option<Score> {
    let e = libm::expf(-logit.abs());
    let value = if logit >= 0.0 { 1.0 / (1.0 + e) } else { e / (1.0 + e) };
    Score::new(value).ok()
}

/// Maps a logit to its [`sigmoid`] with micromath's approximate `exp`: the absolute error is up to 5.3e-4, and the result is not
/// monotone near a logit of -1.
///
/// Returns `None` for NaN.
///
/// ```
/// let prob = calib_core::score::sigmoid_fast(2.0).unwrap().get();
/// assert!((prob - 0.8808).abs() < 5.3e-4);
/// ```
///
/// | logits | absolute error | relative error |
/// |---|---|---|
/// | -20 to -10 | 7.3e-8 | 2.4e-3 |
/// | -10 to -5 | 9.2e-6 | 2.4e-3 |
/// | -5 to -2 | 2.4e-4 | 2.4e-3 |
/// | -2 to 0 | 5.3e-4 | 1.9e-3 |
/// | 0 to 2 | 5.3e-4 | 7.9e-4 |
/// | 2 to 5 | 2.4e-4 | 2.7e-4 |
/// | 5 to 20 | 9.3e-6 | 9.4e-6 |
///
/// The errors are measured on a grid of 1/8192 against `libm` in f64. Between the logits -2 and -0.5 the result falls 97 589
/// times from one float to the next, by at most 5.8e-6. `cargo test -p calib-core --features micromath errors_of -- --nocapture`
/// prints these numbers. The function takes more instructions than [`sigmoid`] on every core that `cargo xtask bench device`
/// measures.
///
/// Fit and use a calibrator on scores of the same function: the scores of [`sigmoid`] are others.
#[cfg(feature = "micromath")]
pub fn sigmoid_fast(logit: f32) -> Option<Score> {
    use micromath::F32Ext;

    if logit.is_nan() {
        return None;
    }
    // Beyond 87 the approximation of `exp` leaves the range of f32; the sigmoid differs from 0 or 1 by 1e-37 there.
    let e = (-logit.abs()).max(-87.0);
    let e = F32Ext::exp(e);
    let value = if logit >= 0.0 { 1.0 / (1.0 + e) } else { e / (1.0 + e) };
    Score::new_clamped(value, 1e-3).ok()
}

#[cfg(test)]
mod tests {
    #[cfg(feature = "micromath")]
    extern crate std;

    use super::*;
    use crate::test_size::step;

    #[test]
    fn agrees_with_f64() {
        for i in (-2000..=2000).step_by(step(20)) {
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

    /// The table in the documentation: print it with `cargo test -p calib-core --features micromath errors -- --nocapture`.
    #[cfg(feature = "micromath")]
    #[test]
    fn errors_of_the_fast_variant() {
        for (from, to) in [(-20, -10), (-10, -5), (-5, -2), (-2, 0), (0, 2), (2, 5), (5, 20)] {
            let (mut absolute, mut relative) = (0.0f64, 0.0f64);
            for i in from * 8192..=to * 8192 {
                let logit = i as f32 / 8192.0;
                let exact = 1.0 / (1.0 + libm::exp(-f64::from(logit)));
                let fast = f64::from(sigmoid_fast(logit).unwrap().get());
                absolute = absolute.max((fast - exact).abs());
                relative = relative.max((fast - exact).abs() / exact);
            }
            std::println!("{from:3}..{to:3}  {absolute:.1e}  {relative:.1e}");
            assert!(absolute <= 5.3e-4 && relative <= 2.5e-3, "{from}..{to}");
        }
        // Every float from -2 to -0.5.
        let (mut before, mut falls, mut largest) = (0.0f32, 0, 0.0f32);
        for bits in (0.5f32.to_bits()..=2.0f32.to_bits()).rev() {
            let fast = sigmoid_fast(-f32::from_bits(bits)).unwrap().get();
            falls += u32::from(fast < before);
            largest = largest.max(before - fast);
            before = fast;
        }
        std::println!("falls {falls} times between neighbors in -2..-0.5, by at most {largest:.1e}");
        assert!(falls > 0 && largest <= 5.9e-6, "{falls} {largest}");
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
