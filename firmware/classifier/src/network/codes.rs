//! What int8 codes stand for.

/// The scale and zero point of int8 codes: a code stands for `scale * (code - zero_point)`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Codes {
    /// The difference between neighboring codes, above 0 and finite.
    pub scale: f32,
    /// The code of 0.
    pub zero_point: i8,
}

impl Codes {
    /// The code of a finite number as TensorFlow Lite's operator QUANTIZE gives it: rounded to the nearest, halves away from 0,
    /// and the first or last code beyond the ends.
    ///
    /// ```
    /// use calib_classifier::network::Codes;
    ///
    /// let codes = Codes { scale: 0.5, zero_point: -10 };
    /// assert_eq!([0.0, 0.25, -0.25, 0.2, 1e9, -1e9].map(|value| codes.quantize(value)), [-10, -9, -11, -10, 127, -128]);
    /// ```
    pub fn quantize(self, value: f32) -> i8 {
        // The conversion to an integer stops at its ends.
        let steps = libm::roundf(value / self.scale) as i32;
        steps.saturating_add(self.zero_point.into()).clamp(i8::MIN.into(), i8::MAX.into()) as i8
    }

    /// The number that a code stands for.
    pub fn dequantize(self, code: i8) -> f32 {
        self.scale * (i16::from(code) - i16::from(self.zero_point)) as f32
    }
}
