//! The ragged pool, in which a section keeps its tables, read in place.

use bytemuck::AnyBitPattern;

use super::error::TableFault;

/// Tables in one array of words: a count `T`, `T + 1` ascending offsets in words, then the words of all tables.
///
/// A table may be empty. Count, offsets and words are all u32, or all u16.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub(super) struct Pool<'a, W = u32> {
    offsets: &'a [W],
    words: &'a [W],
}

impl<'a, W: AnyBitPattern + Into<u32>> Pool<'a, W> {
    /// No tables.
    pub(super) const EMPTY: Self = Self { offsets: &[], words: &[] };

    /// Reads a pool of `expected` tables. An offset above the next one is found only when the table is asked for.
    pub(super) fn parse(payload: &'a [u8], expected: usize) -> Result<Self, TableFault> {
        let words: &[W] = bytemuck::try_cast_slice(payload).map_err(|_| TableFault::Extent)?;
        let (&count, words) = words.split_first().ok_or(TableFault::Count)?;
        if usize::try_from(count.into()) != Ok(expected) {
            return Err(TableFault::Count);
        }
        let (offsets, words) = words.split_at_checked(expected + 1).ok_or(TableFault::Extent)?;
        let ends = (offsets.first().map(|&w| w.into()), offsets.last().map(|&w| w.into()));
        if ends != (Some(0), u32::try_from(words.len()).ok()) {
            return Err(TableFault::Extent);
        }
        Ok(Self { offsets, words })
    }

    /// Returns the number of tables, empty ones included.
    pub(super) const fn count(&self) -> usize {
        self.offsets.len().saturating_sub(1)
    }

    /// Returns the words of a table; `None` beyond the last table, and if the table's offsets are not in order.
    #[inline]
    pub(super) fn words(&self, table: usize) -> Option<&'a [W]> {
        let start = self.start(table)?;
        let end: u32 = (*self.offsets.get(table.checked_add(1)?)?).into();
        self.words.get(start..end as usize)
    }

    /// Returns the number of words before a table.
    #[inline]
    pub(super) fn start(&self, table: usize) -> Option<usize> {
        self.offsets.get(table).map(|&start| Into::<u32>::into(start) as usize)
    }
}

/// Writes words one after the other.
pub(super) struct WordWriter<'s> {
    space: &'s mut [u8],
    len: usize,
}

impl<'s> WordWriter<'s> {
    pub(super) fn new(space: &'s mut [u8]) -> Self {
        Self { space, len: 0 }
    }

    /// Returns the number of bytes written.
    pub(super) const fn len_bytes(&self) -> usize {
        self.len
    }

    /// Writes a pool and returns its length in bytes. `put` writes a table's words.
    pub(super) fn pool<T>(
        self,
        tables: &[Option<T>],
        mut put: impl FnMut(&T, &mut Self) -> Option<()>,
    ) -> Option<usize> {
        self.tables(tables.len(), |i, out| match tables.get(i).and_then(Option::as_ref) {
            Some(table) => put(table, out),
            None => Some(()),
        })
    }

    /// The same for `count` tables, of which `put` writes the one with a number.
    pub(super) fn tables(
        mut self,
        count: usize,
        mut put: impl FnMut(usize, &mut Self) -> Option<()>,
    ) -> Option<usize> {
        self.word(u32::try_from(count).ok()?)?;
        let offsets_at = self.len;
        // Room for the offsets, which are known table by table.
        (0..=count).try_for_each(|_| self.word(0))?;
        let words_at = self.len;
        for i in 0..count {
            put(i, &mut self)?;
            let offset = u32::try_from((self.len - words_at) / 4).ok()?;
            let at = offsets_at + 4 * (i + 1);
            *self.space.get_mut(at..)?.first_chunk_mut()? = offset.to_le_bytes();
        }
        Some(self.len)
    }

    pub(super) fn word(&mut self, word: u32) -> Option<()> {
        *self.space.get_mut(self.len..)?.first_chunk_mut()? = word.to_le_bytes();
        self.len += 4;
        Some(())
    }

    pub(super) fn words(&mut self, words: &[u32]) -> Option<()> {
        words.iter().try_for_each(|&word| self.word(word))
    }

    pub(super) fn floats(&mut self, floats: impl IntoIterator<Item = f32>) -> Option<()> {
        floats.into_iter().try_for_each(|float| self.word(float.to_bits()))
    }
}

/// Writes 16-bit words one after the other.
pub(super) struct HalfWriter<'s> {
    space: &'s mut [u8],
    len: usize,
}

impl<'s> HalfWriter<'s> {
    pub(super) fn new(space: &'s mut [u8]) -> Self {
        Self { space, len: 0 }
    }

    /// Writes a pool and returns its length in bytes; `None` if it does not fit, or has more halves than an offset can count.
    pub(super) fn pool<T>(
        mut self,
        tables: &[Option<T>],
        mut put: impl FnMut(&T, &mut Self) -> Option<()>,
    ) -> Option<usize> {
        self.half(u16::try_from(tables.len()).ok()?)?;
        let offsets_at = self.len;
        (0..=tables.len()).try_for_each(|_| self.half(0))?;
        let halves_at = self.len;
        for (i, table) in tables.iter().enumerate() {
            if let Some(table) = table {
                put(table, &mut self)?;
            }
            let offset = u16::try_from((self.len - halves_at) / 2).ok()?;
            let at = offsets_at + 2 * (i + 1);
            *self.space.get_mut(at..)?.first_chunk_mut()? = offset.to_le_bytes();
        }
        Some(self.len)
    }

    pub(super) fn half(&mut self, half: u16) -> Option<()> {
        *self.space.get_mut(self.len..)?.first_chunk_mut()? = half.to_le_bytes();
        self.len += 2;
        Some(())
    }
}
