//! Inputs of which the compiler knows nothing.

use core::hint::black_box;

use calib_core::{Margin, Score};

/// Any number.
pub(crate) fn any<T: Default>() -> T {
    black_box(T::default())
}

/// Anything made from this: the compiler does not see from what.
pub(crate) fn from<T>(value: T) -> T {
    black_box(value)
}

/// Any number of floats.
pub(crate) fn floats() -> &'static [f32] {
    black_box(&[])
}

/// Any number of words.
pub(crate) fn words() -> &'static [u32] {
    black_box(&[])
}

/// Any bytes.
pub(crate) fn bytes() -> &'static [u8] {
    black_box(&[])
}

/// Any score.
pub(crate) fn score() -> Score {
    Score::new(any()).unwrap_or(Score::ZERO)
}

/// Any margin.
pub(crate) fn margin() -> Margin {
    Margin::new(any()).unwrap_or(Margin::ZERO)
}

/// Uses a value, so that the compiler keeps what made it.
pub(crate) fn keep<T>(value: T) {
    black_box(value);
}
