//! The header's bytes, read without serde: what serde generates takes four kilobytes of flash more.

use super::error::ParseError;
use super::header::{Guarantee, Header, HeaderFlags, Method, Provenance, Reduction, Theorem};
use super::identity::ClassifierId;
use crate::score::ScoreEncoding;

/// The theorems in the order of their numbers.
const THEOREMS: [Theorem; 7] = [
    Theorem::Gr21Theorem3,
    Theorem::Gr22Theorem1,
    Theorem::Gr21Corollary1,
    Theorem::Gr21Theorem4,
    Theorem::SampleSplit,
    Theorem::ClopperPearson,
    Theorem::Gr22Theorem2,
];

/// What is left of the bytes, in postcard.
struct Reader<'a> {
    rest: &'a [u8],
}

impl<'a> Reader<'a> {
    #[inline(never)]
    fn take(&mut self, len: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.rest.split_at_checked(len)?;
        self.rest = rest;
        Some(taken)
    }

    fn array<const N: usize>(&mut self) -> Option<[u8; N]> {
        self.take(N)?.first_chunk().copied()
    }

    fn byte(&mut self) -> Option<u8> {
        self.take(1)?.first().copied()
    }

    fn float(&mut self) -> Option<f32> {
        self.array().map(f32::from_le_bytes)
    }

    /// A number of so many bits, seven in a byte, the lowest first.
    #[inline(never)]
    fn number(&mut self, bits: u32) -> Option<u64> {
        let (mut number, mut at) = (0, 0);
        while at < bits {
            let byte = self.byte()?;
            // The last byte has no more bits than the number, and none follows it.
            if bits - at < 8 && byte >> (bits - at) != 0 {
                return None;
            }
            number |= u64::from(byte & 0x7F) << at;
            if byte & 0x80 == 0 {
                return Some(number);
            }
            at += 7;
        }
        None
    }

    /// A number of up to 32 bits.
    fn word(&mut self, bits: u32) -> Option<u32> {
        self.number(bits).map(|number| number as u32)
    }

    fn short(&mut self) -> Option<u16> {
        self.word(16).map(|number| number as u16)
    }

    /// One of these, by its number.
    fn one_of<T: Copy>(&mut self, all: &[T]) -> Option<T> {
        all.get(self.word(32)? as usize).copied()
    }

    fn is_some(&mut self) -> Option<bool> {
        match self.byte()? {
            0 => Some(false),
            1 => Some(true),
            _ => None,
        }
    }

    #[inline(never)]
    fn text(&mut self) -> Option<&'a str> {
        let len = self.word(32)?;
        core::str::from_utf8(self.take(len as usize)?).ok()
    }

    fn reduction(&mut self) -> Option<Reduction> {
        Some(match self.word(32)? {
            0 => Reduction::Binary,
            1 => Reduction::TopLabel,
            2 => Reduction::Confidence,
            3 => Reduction::ClassWise,
            4 => Reduction::Normalized,
            5 => Reduction::TopKLabel { k: self.short()? },
            6 => Reduction::TopKConfidence { k: self.short()? },
            7 => Reduction::Joint,
            _ => return None,
        })
    }

    fn encoding(&mut self) -> Option<ScoreEncoding> {
        let number = self.word(32)?;
        ScoreEncoding::from_number(number, || {
            let scale = self.float()?;
            let word = self.word(32)?;
            // Numbers below 0 have the odd words.
            Some((scale, (word >> 1).cast_signed() ^ -(word & 1).cast_signed()))
        })
    }

    fn guarantee(&mut self) -> Option<Option<Guarantee>> {
        if !self.is_some()? {
            return Some(None);
        }
        Some(Some(Guarantee {
            theorem: self.one_of(&THEOREMS)?,
            alpha: self.float()?,
            epsilon: self.float()?,
        }))
    }
}

/// Reads a header that fills the payload, and checks that it does not contradict itself.
pub(super) fn parse(payload: &[u8]) -> Result<Header<'_>, ParseError> {
    read(payload).filter(Header::is_consistent).ok_or(ParseError::Header)
}

/// Reads a header that fills the bytes; what it says is not checked.
fn read(payload: &[u8]) -> Option<Header<'_>> {
    let mut reader = Reader { rest: payload };
    let header = Header {
        method: reader.one_of(Method::ALL)?,
        reduction: reader.reduction()?,
        encoding: reader.encoding()?,
        classes: reader.short()?,
        bins: reader.word(32)?,
        n: reader.number(64)?,
        guarantee: reader.guarantee()?,
        flags: HeaderFlags::from_bits(reader.byte()?),
        provenance: Provenance {
            data_sha256: reader.array()?,
            tool_version: reader.text()?,
            parameters: reader.text()?,
            classifier: if reader.is_some()? { Some(ClassifierId(reader.array()?)) } else { None },
        },
    };
    reader.rest.is_empty().then_some(header)
}

#[cfg(test)]
mod tests {
    extern crate std;

    use proptest::prelude::*;

    use super::*;
    use crate::test_size::cases;

    /// What serde reads of bytes that a header fills.
    fn by_serde(payload: &[u8]) -> Option<Header<'_>> {
        postcard::take_from_bytes(payload).ok().filter(|(_, rest)| rest.is_empty()).map(|(header, _)| header)
    }

    /// As text, in which a number that is none equals itself.
    fn shown(header: Option<Header<'_>>) -> std::string::String {
        std::format!("{header:?}")
    }

    fn encodings() -> impl Strategy<Value = ScoreEncoding> {
        let of = |number, affine| ScoreEncoding::from_number(number, || Some(affine));
        let count = (0..).take_while(|&number| of(number, (1.0, 0)).is_some()).count() as u32;
        (0..count, any::<(f32, i32)>()).prop_map(move |(number, affine)| of(number, affine).unwrap())
    }

    fn reductions() -> impl Strategy<Value = Reduction> {
        use Reduction::{
            Binary, ClassWise, Confidence, Joint, Normalized, TopKConfidence, TopKLabel, TopLabel,
        };
        (0..8, any::<u16>()).prop_map(|(kind, k)| match kind {
            0 => Binary,
            1 => TopLabel,
            2 => Confidence,
            3 => ClassWise,
            4 => Normalized,
            5 => TopKLabel { k },
            6 => TopKConfidence { k },
            _ => Joint,
        })
    }

    #[test]
    fn the_numbers_are_those_of_serde() {
        for (number, method) in (0..).zip(Method::ALL) {
            assert_eq!(postcard::from_bytes(&[number]), Ok(*method));
            assert_eq!(method.number(), number);
        }
        assert!(postcard::from_bytes::<Method>(&[Method::ALL.len() as u8]).is_err());
        for (number, theorem) in (0..).zip(THEOREMS) {
            assert_eq!(postcard::from_bytes(&[number]), Ok(theorem));
            assert_eq!(theorem.number(), number);
        }
        assert!(postcard::from_bytes::<Theorem>(&[THEOREMS.len() as u8]).is_err());
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(cases(4000)))]

        /// Every header that is written is read; bytes that were changed, cut off or added are read alike, or refused alike.
        #[test]
        fn reads_what_serde_reads(
            (method, theorem) in (0..Method::ALL.len(), 0..THEOREMS.len()),
            (reduction, encoding) in (reductions(), encodings()),
            (classes, bins, n, flags) in any::<(u16, u32, u64, u8)>(),
            guarantee in any::<Option<(f32, f32)>>(),
            data_sha256 in any::<[u8; 32]>(),
            (tool_version, parameters) in (".{0,9}", ".{0,40}"),
            classifier in any::<Option<[u8; 8]>>(),
            (at, byte) in any::<(prop::sample::Index, u8)>(),
            len in any::<prop::sample::Index>(),
        ) {
            let header = Header {
                method: Method::ALL[method],
                reduction,
                encoding,
                classes,
                bins,
                n,
                guarantee: guarantee.map(|(alpha, epsilon)| Guarantee { theorem: THEOREMS[theorem], alpha, epsilon }),
                flags: HeaderFlags::from_bits(flags),
                provenance: Provenance {
                    data_sha256,
                    tool_version: &tool_version,
                    parameters: &parameters,
                    classifier: classifier.map(ClassifierId),
                },
            };
            let mut buffer = [0; 512];
            let written = postcard::to_slice(&header, &mut buffer).unwrap();
            prop_assert_eq!(shown(read(written)), shown(Some(header)));
            let cut = len.index(written.len());
            prop_assert_eq!(shown(read(&written[..cut])), shown(by_serde(&written[..cut])));
            let at = at.index(written.len());
            written[at] = byte;
            prop_assert_eq!(shown(read(written)), shown(by_serde(written)));
        }

        /// A number is read as serde reads it, whatever its bytes.
        #[test]
        fn reads_the_numbers_that_serde_reads(bytes in prop::collection::vec(
            prop_oneof![any::<u8>(), 0x80..=0x83u8, 0..4u8], 0..12,
        )) {
            let number = |bits| {
                let mut reader = Reader { rest: &bytes };
                reader.number(bits).map(|number| (number, reader.rest))
            };
            let short = postcard::take_from_bytes::<u16>(&bytes).ok();
            prop_assert_eq!(number(16), short.map(|(number, rest)| (number.into(), rest)));
            let word = postcard::take_from_bytes::<u32>(&bytes).ok();
            prop_assert_eq!(number(32), word.map(|(number, rest)| (number.into(), rest)));
            prop_assert_eq!(number(64), postcard::take_from_bytes::<u64>(&bytes).ok());
        }
    }
}
