//! What tables over floats are searched by.

use super::float::Score;
use super::margin::{Margin, key_of_bits};

/// A float by which a table is searched: a [`Score`] or a [`Margin`]. The kind is part of a table's type, so that neither is looked
/// up in the other's table.
pub trait FloatScore: Ordered {}

impl FloatScore for Score {}
impl FloatScore for Margin {}

/// How the floats are ordered. The name is private, so no other crate adds a kind.
pub trait Ordered: Copy {
    /// Whether the floats are any finite ones, rather than those in `[0, 1]`.
    const IS_MARGIN: bool;

    /// Returns an integer ordered like the floats.
    fn key(self) -> u32;

    /// Returns the same integer for the bits of a float that is not `-0.0`.
    fn key_of(bits: u32) -> u32;

    /// Returns the float.
    fn value(self) -> f32;

    /// Returns the key for a table of 16-bit numbers.
    fn rounded_key(self) -> u16;
}

impl Ordered for Score {
    const IS_MARGIN: bool = false;

    #[inline(always)]
    fn key(self) -> u32 {
        self.to_bits()
    }

    #[inline(always)]
    fn key_of(bits: u32) -> u32 {
        bits
    }

    #[inline(always)]
    fn value(self) -> f32 {
        self.get()
    }

    #[inline(always)]
    fn rounded_key(self) -> u16 {
        self.rounded_key()
    }
}

impl Ordered for Margin {
    const IS_MARGIN: bool = true;

    #[inline(always)]
    fn key(self) -> u32 {
        self.key()
    }

    #[inline(always)]
    fn key_of(bits: u32) -> u32 {
        key_of_bits(bits)
    }

    #[inline(always)]
    fn value(self) -> f32 {
        self.get()
    }

    #[inline(always)]
    fn rounded_key(self) -> u16 {
        self.rounded_key()
    }
}
