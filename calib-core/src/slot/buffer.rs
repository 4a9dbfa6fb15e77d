//! A buffer for an artifact that arrives in pieces.

use core::fmt;

/// A buffer of `4 * WORDS` bytes for an artifact that arrives in pieces, such as over a serial line.
///
/// It is aligned as [`Artifact::parse`](crate::artifact::Artifact::parse) needs.
///
/// ```
/// use calib_core::{Artifact, ArtifactBuffer, ParseError};
///
/// let mut buffer = ArtifactBuffer::<16>::new();
/// buffer.extend_from_slice(b"CALB")?;
/// assert_eq!(Artifact::parse(buffer.as_bytes()), Err(ParseError::Truncated { needed: 32, available: 4 }));
/// # Ok::<(), calib_core::slot::BufferFull>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct ArtifactBuffer<const WORDS: usize> {
    words: heapless::Vec<u32, WORDS>,
    len_bytes: usize,
}

/// Why bytes were not appended to a buffer: they do not fit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct BufferFull;

impl<const WORDS: usize> ArtifactBuffer<WORDS> {
    /// Makes an empty buffer.
    pub const fn new() -> Self {
        Self { words: heapless::Vec::new(), len_bytes: 0 }
    }

    /// Appends `bytes`.
    ///
    /// # Errors
    ///
    /// If the bytes do not fit. Nothing is appended.
    pub fn extend_from_slice(&mut self, bytes: &[u8]) -> Result<(), BufferFull> {
        let end = self.len_bytes.checked_add(bytes.len()).ok_or(BufferFull)?;
        self.words.resize(end.div_ceil(4), 0).map_err(|_| BufferFull)?;
        let all = bytemuck::cast_slice_mut::<u32, u8>(&mut self.words);
        // `copy_from_slice` would leave a panic in the program, for lengths that differ.
        let room = all.get_mut(self.len_bytes..end).ok_or(BufferFull)?;
        room.iter_mut().zip(bytes).for_each(|(slot, byte)| *slot = *byte);
        self.len_bytes = end;
        Ok(())
    }

    /// Returns the bytes so far, which start at a multiple of 4 in memory.
    pub fn as_bytes(&self) -> &[u8] {
        bytemuck::cast_slice::<u32, u8>(&self.words).get(..self.len_bytes).unwrap_or_default()
    }

    /// Empties the buffer.
    pub fn clear(&mut self) {
        self.words.clear();
        self.len_bytes = 0;
    }
}

impl fmt::Display for BufferFull {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the artifact is larger than the buffer")
    }
}

impl core::error::Error for BufferFull {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn takes_pieces_of_any_length_and_refuses_what_does_not_fit() {
        let mut buffer = ArtifactBuffer::<2>::new();
        buffer.extend_from_slice(&[1, 2, 3]).unwrap();
        buffer.extend_from_slice(&[]).unwrap();
        buffer.extend_from_slice(&[4, 5]).unwrap();
        assert_eq!(buffer.extend_from_slice(&[6, 7, 8, 9]), Err(BufferFull));
        assert_eq!(buffer.as_bytes(), [1, 2, 3, 4, 5]);
        assert!(buffer.as_bytes().as_ptr().addr().is_multiple_of(4));
        buffer.clear();
        assert!(buffer.as_bytes().is_empty());
    }
}
