//! Whether the metadata of a Parquet file and of its pages end.

/// How deep values lie in others at most.
const MAX_DEPTH: u8 = 64;

/// The field of a page's header that says how long the page behind it is.
const PAGE_LEN: u64 = 3;

/// Whether bytes begin with a struct in Thrift's compact protocol that has no more values than there are bytes.
///
/// The crate that reads Parquet passes over a field that it does not know value by value. Booleans in a list have no bytes there, so a list that
/// states that it has 2^31 of them takes seconds. A file of a kilobyte may have a hundred such lists.
pub(super) fn ends(bytes: &[u8]) -> bool {
    Walk { rest: bytes, left: bytes.len() }.fields(MAX_DEPTH, |_, _| ()).is_some()
}

/// The length of the header of a page that bytes begin with, and of the page itself if the header says it. It is `None` if it does not end as [`ends`] says.
pub(super) fn page(bytes: &[u8]) -> Option<(usize, Option<u64>)> {
    let mut walk = Walk { rest: bytes, left: bytes.len() };
    let mut page_len = None;
    walk.fields(MAX_DEPTH, |field, value| {
        if field == PAGE_LEN {
            page_len = Walk { rest: value, left: 0 }.number().map(unsigned);
        }
    })?;
    Some((bytes.len() - walk.rest.len(), page_len))
}

/// A number without its sign: those of Thrift have it in the last bit.
const fn unsigned(number: u64) -> u64 {
    number >> 1
}

struct Walk<'a> {
    rest: &'a [u8],
    /// How many more values there may be.
    left: usize,
}

impl Walk<'_> {
    fn byte(&mut self) -> Option<u8> {
        let (&byte, rest) = self.rest.split_first()?;
        self.rest = rest;
        Some(byte)
    }

    fn number(&mut self) -> Option<u64> {
        let mut number = 0;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            number |= u64::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                return Some(number);
            }
        }
        None
    }

    fn pass(&mut self, len: u64) -> Option<()> {
        self.rest = self.rest.get(usize::try_from(len).ok()?..)?;
        Some(())
    }

    /// Passes over a struct; `see` is given the number of each field, and its value with all that follows.
    fn fields(&mut self, depth: u8, mut see: impl FnMut(u64, &[u8])) -> Option<()> {
        let mut field = 0u64;
        loop {
            let header = self.byte()?;
            if header & 0xf == 0 {
                return Some(());
            }
            field = if header >> 4 == 0 { unsigned(self.number()?) } else { field + u64::from(header >> 4) };
            see(field, self.rest);
            self.value(header & 0xf, depth)?;
        }
    }

    fn value(&mut self, kind: u8, depth: u8) -> Option<()> {
        self.left = self.left.checked_sub(1)?;
        let depth = depth.checked_sub(1)?;
        match kind {
            // In a struct its kind is its value.
            1 | 2 => Some(()),
            3 => self.pass(1),
            4..=6 => self.number().map(drop),
            7 => self.pass(8),
            8 => self.number().and_then(|len| self.pass(len)),
            9 | 10 => {
                let header = self.byte()?;
                let count = if header >> 4 == 15 { self.number()? } else { u64::from(header >> 4) };
                (0..count).try_for_each(|_| self.value(header & 0xf, depth))
            }
            11 => {
                let count = self.number()?;
                let kinds = if count > 0 { self.byte()? } else { 0 };
                (0..count).try_for_each(|_| {
                    self.value(kinds >> 4, depth)?;
                    self.value(kinds & 0xf, depth)
                })
            }
            12 => self.fields(depth, |_, _| ()),
            13 => self.pass(16),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_has_more_values_than_bytes_does_not_end() {
        // Nothing; a number; a list of three numbers; an empty map; a struct with a boolean; a text.
        for whole in [
            &[0][..],
            &[0x15, 0x80, 1, 0],
            &[0x19, 0x35, 2, 4, 6, 0],
            &[0x1b, 0, 0],
            &[0x1c, 0x11, 0, 0],
            &[0x18, 2, b'a', b'b', 0],
        ] {
            assert!(ends(whole), "{whole:x?}");
            // Cut anywhere, it has no end.
            (0..whole.len()).for_each(|len| assert!(!ends(&whole[..len]), "{whole:x?}, {len}"));
        }
        // 2^31 - 1 booleans; a hundred lists of as many; 2^63 pairs; structs in structs.
        let list = [0x19, 0xf1, 0xff, 0xff, 0xff, 0xff, 7];
        assert!(!ends(&[&list[..], &[0]].concat()));
        assert!(!ends(&[&list.repeat(100)[..], &[0]].concat()));
        assert!(!ends(&[0x1b, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f, 0x11, 0]));
        assert!(!ends(&[0x1c; 1000]));
        assert!(!ends(&[0xff; 40]));
    }

    #[test]
    fn a_page_is_as_long_as_its_header_says() {
        // Kind, lengths unpacked and packed, a struct; then the page.
        let header = [0x15, 0, 0x15, 20, 0x15, 0x98, 1, 0x2c, 0x15, 4, 0, 0];
        assert_eq!(page(&[&header[..], &[7; 9]].concat()), Some((header.len(), Some(76))));
        // The same with the fields' numbers written out, in another order.
        assert_eq!(page(&[0x05, 6, 0x98, 1, 0x05, 2, 0, 0]), Some((8, Some(76))));
        // Cut, without a length, or with a list that has no end.
        (0..header.len()).for_each(|len| assert_eq!(page(&header[..len]), None));
        assert_eq!(page(&[0x15, 0, 0]), Some((3, None)));
        assert_eq!(page(&[&header[..7], &[0x79, 0xf7, 0xff, 0xff, 0xff, 0xff, 7, 0]].concat()), None);
    }
}
