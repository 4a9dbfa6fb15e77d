//! Numbers as text.

use std::fmt::Display;
use std::io::Write;

use crate::input::TableCell;

/// So many numbers are remembered with their digits: more than a table has bins.
const REMEMBERED: usize = 1 << 10;

/// The longest text that is remembered.
const LONGEST: usize = 15;

/// The digits of floats that come again and again, such as the probabilities of bins.
pub(super) struct Digits {
    /// For every remainder of a float's bits the bits that had it last, with the number of digits and these.
    last: Vec<(u32, u8, [u8; LONGEST])>,
}

impl Digits {
    pub(super) fn new() -> Self {
        // The remainder of these bits is not 0: no float is found here before it came.
        let mut last = vec![(1, 0, [0; LONGEST]); REMEMBERED];
        last[place(1)].0 = 0;
        Self { last }
    }

    /// Appends what [`push_f32`] does.
    pub(super) fn push(&mut self, text: &mut Vec<u8>, value: f32) {
        let bits = value.to_bits();
        let (of, len, digits) = &mut self.last[place(bits)];
        if *of == bits {
            // A copy of fixed length needs no function call.
            let end = text.len() + usize::from(*len);
            text.extend_from_slice(digits);
            text.truncate(end);
            return;
        }
        let start = text.len();
        push_f32(text, value);
        let new = &text[start..];
        if new.len() <= LONGEST {
            (*of, *len) = (bits, new.len() as u8);
            digits[..new.len()].copy_from_slice(new);
        }
    }
}

/// Where bits are remembered: neighboring floats, and those of few digits, in different places.
fn place(bits: u32) -> usize {
    (bits.wrapping_mul(0x9E37_79B1) >> (u32::BITS - REMEMBERED.ilog2())) as usize
}

/// Appends a cell as it is, nothing if it is missing, and of a float the digits of [`push_f32`].
pub(super) fn push_cell(text: &mut Vec<u8>, cell: TableCell<&str>) {
    match cell {
        TableCell::Missing => {}
        TableCell::Raw(cell) | TableCell::Text(cell) | TableCell::Number(cell) => {
            text.extend_from_slice(cell.as_bytes());
        }
        TableCell::Bool(value) => text.extend_from_slice(if value { b"true" } else { b"false" }),
        TableCell::F32(value) => push_f32(text, value),
        TableCell::F64(value) => push_f64(text, value),
        TableCell::Integer(value) => push_integer(text, value),
        TableCell::Unsigned(value) => push_integer(text, value),
    }
}

/// Appends the fewest digits that give the float back, without an exponent: the text of its `Display`.
fn push_f32(text: &mut Vec<u8>, value: f32) {
    // Nine digits give every one back.
    let may_be_midway = (value * (1 << 14) as f32).fract() == 0.0;
    push_float(text, value, value.is_finite() && !may_be_midway);
}

/// As [`push_f32`].
fn push_f64(text: &mut Vec<u8>, value: f64) {
    // Seventeen do.
    let may_be_midway = (value * (1 << 26) as f64).fract() == 0.0;
    push_float(text, value, value.is_finite() && !may_be_midway);
}

/// Where two texts of the fewest digits are equally near, `Display` takes the upper one, and the quick way the even one. The
/// float has exactly one digit more then, and is a multiple of `2^-k` that has `k` decimals, at least `k log10(5)` of
/// them significant: of 10 or 18 digits `k` is at most 14 or 25.
fn push_float(text: &mut Vec<u8>, value: impl zmij::Float + Display, is_unique: bool) {
    if is_unique {
        let mut buffer = zmij::Buffer::new();
        let shortest = buffer.format_finite(value).as_bytes();
        if !shortest.contains(&b'e') {
            text.extend_from_slice(shortest.strip_suffix(b".0").unwrap_or(shortest));
            return;
        }
    }
    write!(text, "{value}").expect("memory takes all");
}

/// Appends an integer.
fn push_integer(text: &mut Vec<u8>, value: impl itoa::Integer) {
    text.extend_from_slice(itoa::Buffer::new().format(value).as_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;

    fn assert_is_display(values: impl Iterator<Item = f32>) {
        let mut digits = Digits::new();
        for value in values {
            for _ in 0..2 {
                let mut text = Vec::new();
                digits.push(&mut text, value);
                assert_eq!(String::from_utf8(text).unwrap(), value.to_string(), "{:#x}", value.to_bits());
            }
        }
    }

    #[test]
    fn floats_have_the_digits_of_their_display() {
        let special =
            [17.0 / 1024.0, 0.0, -0.0, 1.0, 0.1, 1e-5, 1e-7, 1e-38, 1e-45, 16_777_216.0, 1e16, 3.4e38, -2.5];
        assert_is_display(special.into_iter().chain([f32::NAN, f32::INFINITY, -f32::INFINITY]));
        // Bits that collide in the places where digits are remembered, first of all 0 and 1.
        assert_is_display((0..200_000u32).map(|i| f32::from_bits(i.wrapping_mul(2_654_435_761))));
        assert_is_display((0..200_000).map(|i| i as f32 / 199_999.0));
        // Midway between two texts, or nearly so.
        assert_is_display((0..=1 << 17).map(|i| i as f32 / (1 << 17) as f32));
        let midway = (0..200_000u64).map(|i| (i << 10 | 1) as f64 / (1 << 27) as f64);
        let any = (0..200_000u64).map(|i| f64::from_bits(i.wrapping_mul(0x9E37_79B9_7F4A_7C15)));
        for value in any.chain(midway) {
            let mut text = Vec::new();
            push_f64(&mut text, value);
            assert_eq!(String::from_utf8(text).unwrap(), value.to_string());
        }
    }

    /// All scores and probabilities there are.
    #[test]
    #[ignore = "a billion numbers: minutes with optimization"]
    fn every_float_up_to_one_has_the_digits_of_its_display() {
        let mut digits = Digits::new();
        let (mut text, mut display) = (Vec::new(), Vec::new());
        for bits in 0..=1f32.to_bits() {
            let value = f32::from_bits(bits);
            text.clear();
            display.clear();
            digits.push(&mut text, value);
            write!(display, "{value}").unwrap();
            assert_eq!(text, display, "{bits:#x}");
        }
    }
}
