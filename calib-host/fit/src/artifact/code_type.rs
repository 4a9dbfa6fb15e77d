//! The types of integer codes.

use calib_core::{QuantizedScore, ScoreEncoding};

use super::error::CodesError;
use crate::names::names;

/// What kind of number a code is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CodeType {
    /// From 0 to 255.
    U8,
    /// From -128 to 127.
    I8,
    /// From 0 to 65535.
    U16,
    /// From -32768 to 32767.
    I16,
}

names!(CodeType, "type of codes":
    U8 "u8" "Codes from 0 to 255",
    I8 "i8" "Codes from -128 to 127",
    U16 "u16" "Codes from 0 to 65535",
    I16 "i16" "Codes from -32768 to 32767",
);

impl CodeType {
    /// Returns the encoding of codes of this type, which stand for `scale * (code - zero_point)`.
    ///
    /// # Errors
    ///
    /// [`CodesError::Encoding`] if the scale is not above 0, or the zero point is no code.
    pub fn encoding(self, scale: f32, zero_point: i32) -> Result<ScoreEncoding, CodesError> {
        let encoding = match self {
            Self::U8 => ScoreEncoding::U8 { scale, zero_point },
            Self::I8 => ScoreEncoding::I8 { scale, zero_point },
            Self::U16 => ScoreEncoding::U16 { scale, zero_point },
            Self::I16 => ScoreEncoding::I16 { scale, zero_point },
        };
        QuantizedScore::from_key(encoding, 0).map(|_| encoding).map_err(|_| CodesError::Encoding)
    }
}
