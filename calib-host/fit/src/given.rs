//! Values of options that are given by name, such as those of a keyword call.

use calib_core::ClassifierId;

/// A value that was given for an option. Its errors are in the words of the language that it comes from.
pub trait Given: Sized {
    /// The error for an invalid value.
    type Error;

    /// The value as a truth value.
    fn flag(&self) -> Result<bool, Self::Error>;
    /// The value as a whole number up to this one.
    fn whole(&self, most: u64) -> Result<u64, Self::Error>;
    /// The value as a number.
    fn number(&self) -> Result<f64, Self::Error>;
    /// The value as a text.
    fn text(&self) -> Result<String, Self::Error>;
    /// The values of a sequence; none of anything else.
    fn parts(&self) -> Vec<Self>;
    /// The error for a value of another type, with what is expected.
    fn other_than(&self, expected: &str) -> Self::Error;
    /// The error for an invalid text, with the reason.
    fn refused(&self, text: &str, why: &str) -> Self::Error;

    /// The value as N values of another type.
    fn several<T: OptionValue, const N: usize>(&self, expected: &str) -> Result<[T; N], Self::Error> {
        let parts: Vec<T> = self.parts().iter().map_while(|part| T::of(part).ok()).collect();
        parts.try_into().map_err(|_| self.other_than(expected))
    }
}

/// A type of options.
pub trait OptionValue: Sized {
    /// Reads what was given.
    ///
    /// # Errors
    ///
    /// If the value has another type or is out of range.
    fn of<G: Given>(given: &G) -> Result<Self, G::Error>;
}

/// Implements [`OptionValue`] for types that one expression reads.
macro_rules! values {
    ($($type:ty: |$given:ident| $value:expr,)*) => {
        $(impl OptionValue for $type {
            fn of<G: Given>($given: &G) -> Result<Self, G::Error> {
                $value
            }
        })*
    };
}
values! {
    bool: |given| given.flag(),
    u16: |given| given.whole(u16::MAX.into()).map(|number| number as u16),
    u32: |given| given.whole(u32::MAX.into()).map(|number| number as u32),
    u64: |given| given.whole(u64::MAX),
    // The same range on every machine.
    usize: |given| given.whole(u32::MAX.into()).map(|number| number as usize),
    f64: |given| given.number(),
    (f32, f32): |given| {
        let [first, last]: [f64; 2] = given.several("two numbers, the lower first,")?;
        Ok((first as f32, last as f32))
    },
    (f64, Option<f64>): |given| match given.number() {
        Ok(number) => Ok((number, None)),
        Err(_) => given.several("a penalty, or two of them").map(|[first, second]| (first, Some(second))),
    },
    ClassifierId: |given| {
        let text = given.text().map_err(|_| given.other_than("a text of 16 hex digits"))?;
        let is_hex = text.len() == 16 && text.bytes().all(|digit| digit.is_ascii_hexdigit());
        let id = u64::from_str_radix(&text, 16).ok().filter(|_| is_hex);
        id.map(|id| Self(id.to_be_bytes())).ok_or_else(|| given.refused(&text, "a classifier id has 16 hex digits"))
    },
}

impl<T: OptionValue> OptionValue for Option<T> {
    fn of<G: Given>(given: &G) -> Result<Self, G::Error> {
        T::of(given).map(Some)
    }
}
