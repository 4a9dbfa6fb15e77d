//! From `f64` to an `f32` on a stated side of it.

/// Returns the smallest `f32` not below a finite value, which lies in the range of `f32`.
///
/// ```
/// use calib_fit::stats::{f32_ceil, f32_floor};
///
/// assert!(f32_floor(0.1) < f32_ceil(0.1));
/// assert_eq!((f32_floor(0.25), f32_ceil(0.25)), (0.25, 0.25));
/// ```
pub fn f32_ceil(value: f64) -> f32 {
    let nearest = value as f32;
    if f64::from(nearest) < value { nearest.next_up() } else { nearest }
}

/// Returns the largest `f32` not above a finite value, which lies in the range of `f32`.
pub fn f32_floor(value: f64) -> f32 {
    let nearest = value as f32;
    if f64::from(nearest) > value { nearest.next_down() } else { nearest }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn the_two_enclose_a_value_and_nothing_lies_between(value in -2.0..2.0f64) {
            let (below, above) = (f32_floor(value), f32_ceil(value));
            prop_assert!(f64::from(below) <= value && value <= f64::from(above));
            prop_assert!(below == above || below.next_up() == above);
            prop_assert_eq!(below == above, f64::from(value as f32) == value);
        }
    }
}
