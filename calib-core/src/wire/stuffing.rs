//! COBS without panics: the functions of cobs and postcard for the same bytes check their indices by panicking.

use cobs::{CobsEncoder, DecodeResult, DecoderState};
use crc::Digest;
use postcard::ser_flavors::Flavor;

use crate::artifact::CRC_32C;

/// Collects bytes as a COBS frame.
pub(crate) struct Stuffer<'b>(CobsEncoder<'b>);

impl<'b> Stuffer<'b> {
    /// Writes to the front of `buf`.
    pub(crate) fn new(buf: &'b mut [u8]) -> Self {
        Self(CobsEncoder::new(buf))
    }
}

impl Flavor for Stuffer<'_> {
    /// The frame's length, without its ending zero.
    type Output = usize;

    fn try_push(&mut self, byte: u8) -> postcard::Result<()> {
        self.0.push(&[byte]).map_err(|_| postcard::Error::SerializeBufferFull)
    }

    fn finalize(self) -> postcard::Result<usize> {
        Ok(self.0.finalize())
    }
}

/// Collects bytes as a COBS frame that ends with their CRC-32C.
pub(crate) struct Framer<'b> {
    stuffer: Stuffer<'b>,
    digest: Digest<'static, u32>,
}

impl<'b> Framer<'b> {
    /// Writes to the front of `buf`.
    pub(crate) fn new(buf: &'b mut [u8]) -> Self {
        Self { stuffer: Stuffer::new(buf), digest: CRC_32C.digest() }
    }
}

// Both functions are called for every field of every message, and are never inlined: postcard's own CRC flavor is compiled into
// each of these places, which makes serializing several times as large.
impl Flavor for Framer<'_> {
    /// The frame's length, without its ending zero.
    type Output = usize;

    #[inline(never)]
    fn try_push(&mut self, byte: u8) -> postcard::Result<()> {
        self.digest.update(&[byte]);
        self.stuffer.try_push(byte)
    }

    #[inline(never)]
    fn try_extend(&mut self, bytes: &[u8]) -> postcard::Result<()> {
        self.digest.update(bytes);
        self.stuffer.try_extend(bytes)
    }

    fn finalize(self) -> postcard::Result<usize> {
        let Self { mut stuffer, digest } = self;
        stuffer.try_extend(&digest.finalize().to_le_bytes())?;
        stuffer.finalize()
    }
}

/// Undoes the stuffing of a frame without its ending zero, in place; `None` if the frame is not whole.
pub(crate) fn unstuff(frame: &mut [u8]) -> Option<&mut [u8]> {
    let mut state = DecoderState::Idle;
    let mut len = 0;
    for index in 0..frame.len() {
        match state.feed(frame.get(index).copied()?) {
            Ok(DecodeResult::NoData) => {}
            Ok(DecodeResult::DataContinue(byte)) => {
                *frame.get_mut(len)? = byte;
                len += 1;
            }
            // A zero ends a frame, and is never within one.
            Ok(DecodeResult::DataComplete) | Err(_) => return None,
        }
    }
    match state.feed(0) {
        Ok(DecodeResult::DataComplete) => frame.get_mut(..len),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    extern crate std;

    use std::vec;
    use std::vec::Vec;

    use proptest::prelude::*;

    use super::*;

    fn stuffed(bytes: &[u8]) -> Vec<u8> {
        let mut buf = vec![0xA5; cobs::max_encoding_length(bytes.len()) + 1];
        let mut stuffer = Stuffer::new(&mut buf);
        bytes.iter().for_each(|&byte| stuffer.try_push(byte).unwrap());
        let len = stuffer.finalize().unwrap();
        buf.truncate(len);
        buf
    }

    #[test]
    fn a_full_run_has_no_byte_behind_it_and_an_empty_frame_is_none() {
        for len in [1, 2, 253, 254, 255, 508, 509] {
            let bytes = vec![7; len];
            let mut frame = stuffed(&bytes);
            assert!(!frame.contains(&0));
            assert_eq!(frame.len(), len + len.div_ceil(254), "{len}");
            assert_eq!(unstuff(&mut frame).unwrap(), bytes);
        }
        assert_eq!(unstuff(&mut []), None);
        assert_eq!(unstuff(&mut [2]), None, "a byte is missing");
        assert_eq!(unstuff(&mut [1, 0, 1]), None, "a zero");
        let mut short = [0; 3];
        let mut stuffer = Stuffer::new(&mut short);
        assert!((0..4).any(|_| stuffer.try_push(9).is_err()));
    }

    proptest! {
        /// As cobs does it.
        #[test]
        fn agrees_with_cobs(bytes in proptest::collection::vec(prop_oneof![Just(0u8), any::<u8>()], 1..700)) {
            let mut frame = stuffed(&bytes);
            let mut theirs = vec![0; cobs::max_encoding_length(bytes.len())];
            let len = cobs::encode(&bytes, &mut theirs);
            prop_assert_eq!(&frame[..], &theirs[..len]);
            prop_assert_eq!(unstuff(&mut frame).unwrap(), &bytes[..]);
        }

        /// What is no frame for cobs is none here, and what is one is the same.
        #[test]
        fn refuses_what_cobs_refuses(frame in proptest::collection::vec(1u8..12, 1..60)) {
            let mut theirs = frame.clone();
            let expected = cobs::decode_in_place(&mut theirs).ok().map(|len| theirs[..len].to_vec());
            let mut ours = frame;
            prop_assert_eq!(unstuff(&mut ours).map(|bytes| bytes.to_vec()), expected);
        }
    }
}
