//! Reads tables of a flatbuffer, and never a byte beyond its end.
//!
//! The format is described at <https://flatbuffers.dev/internals/>: a table begins with the signed distance back to its
//! vtable, whose 16-bit entries are the places of the fields, 0 for a field that has its default.

/// The bytes are no flatbuffer, or end too early.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Damaged;

type Result<T> = std::result::Result<T, Damaged>;

/// A table: fields by number.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Table<'a> {
    bytes: &'a [u8],
    at: usize,
}

/// A vector whose elements have so many bytes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Vector<'a> {
    bytes: &'a [u8],
    first: usize,
    len: usize,
}

/// A number as it stands in a flatbuffer.
pub(crate) trait Number: Copy {
    const BYTES: usize;

    fn read(bytes: &[u8], at: usize) -> Result<Self>;
}

macro_rules! number {
    ($($type:ty),*) => {$(
        impl Number for $type {
            const BYTES: usize = size_of::<$type>();

            fn read(bytes: &[u8], at: usize) -> Result<Self> {
                let chunk = bytes.get(at..).and_then(|rest| rest.first_chunk()).ok_or(Damaged)?;
                Ok(<$type>::from_le_bytes(*chunk))
            }
        }
    )*};
}

number!(i8, u8, u16, i32, u32, i64, f32);

impl<'a> Table<'a> {
    /// The first table of a file with this identifier.
    pub(crate) fn root(bytes: &'a [u8], identifier: &[u8; 4]) -> Result<Self> {
        if bytes.get(4..8) != Some(identifier) {
            return Err(Damaged);
        }
        Ok(Self { bytes, at: forward(bytes, 0)? })
    }

    /// A field's number, or its default.
    pub(crate) fn number<N: Number>(self, field: usize, default: N) -> Result<N> {
        self.field(field)?.map_or(Ok(default), |at| N::read(self.bytes, at))
    }

    /// A field's table, if it is there.
    pub(crate) fn table(self, field: usize) -> Result<Option<Self>> {
        let Some(at) = self.field(field)? else { return Ok(None) };
        Ok(Some(Self { bytes: self.bytes, at: forward(self.bytes, at)? }))
    }

    /// A field's numbers; none if it is not there.
    pub(crate) fn numbers<N: Number>(self, field: usize) -> Result<Vec<N>> {
        let Some(vector) = self.vector(field, N::BYTES)? else { return Ok(Vec::new()) };
        (0..vector.len).map(|index| N::read(vector.bytes, vector.first + index * N::BYTES)).collect()
    }

    /// A field's tables; none if it is not there.
    pub(crate) fn tables(self, field: usize) -> Result<Vec<Self>> {
        let Some(vector) = self.vector(field, 4)? else { return Ok(Vec::new()) };
        let table = |index| {
            let at = forward(vector.bytes, vector.first + 4 * index)?;
            Ok(Self { bytes: vector.bytes, at })
        };
        (0..vector.len).map(table).collect()
    }

    fn vector(self, field: usize, element_bytes: usize) -> Result<Option<Vector<'a>>> {
        let Some(at) = self.field(field)? else { return Ok(None) };
        let at = forward(self.bytes, at)?;
        let len = u32::read(self.bytes, at)? as usize;
        let first = at + 4;
        let end = len.checked_mul(element_bytes).and_then(|bytes| bytes.checked_add(first)).ok_or(Damaged)?;
        if end > self.bytes.len() {
            return Err(Damaged);
        }
        Ok(Some(Vector { bytes: self.bytes, first, len }))
    }

    /// Where a field is; `None` if it has its default.
    fn field(self, field: usize) -> Result<Option<usize>> {
        let back = i64::from(i32::read(self.bytes, self.at)?);
        let vtable = usize::try_from(self.at as i64 - back).map_err(|_| Damaged)?;
        let len = usize::from(u16::read(self.bytes, vtable)?);
        let entry = 4 + 2 * field;
        if entry + 2 > len {
            return Ok(None);
        }
        let offset = usize::from(u16::read(self.bytes, vtable.checked_add(entry).ok_or(Damaged)?)?);
        Ok((offset != 0).then_some(self.at + offset))
    }
}

/// Where the unsigned distance at a place leads.
fn forward(bytes: &[u8], at: usize) -> Result<usize> {
    let to = at.checked_add(u32::read(bytes, at)? as usize).ok_or(Damaged)?;
    if to < bytes.len() { Ok(to) } else { Err(Damaged) }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A table with the number 7 in field 0, nothing in field 1 and the numbers 3 and -4 in field 2.
    const FILE: [u8; 44] = [
        20, 0, 0, 0, b'T', b'E', b'S', b'T', // the root's place, the identifier
        10, 0, 12, 0, 4, 0, 0, 0, 8, 0, 0, 0, // the vtable, filled up to 4 bytes
        12, 0, 0, 0, 7, 0, 0, 0, 4, 0, 0, 0, // the table
        2, 0, 0, 0, 3, 0, 0, 0, 0xFC, 0xFF, 0xFF, 0xFF, // the vector
    ];

    #[test]
    fn fields_are_read_and_those_that_are_not_there_have_their_defaults() {
        let table = Table::root(&FILE, b"TEST").unwrap();
        assert_eq!(table.number(0, 1), Ok(7));
        assert_eq!((table.number(1, 5), table.number(9, -6)), (Ok(5), Ok(-6)));
        assert_eq!(table.numbers::<i32>(2), Ok(vec![3, -4]));
        assert_eq!(table.numbers::<i32>(1), Ok(vec![]));
        assert!(table.table(1).unwrap().is_none() && table.tables(3).unwrap().is_empty());
        assert!(Table::root(&FILE, b"ELSE").is_err());
    }

    #[test]
    fn damage_is_told_and_nothing_is_read_beyond_the_end() {
        let read = |bytes: &[u8]| {
            let table = Table::root(bytes, b"TEST")?;
            table.number::<i64>(0, 0)?;
            table.numbers::<i32>(2)?;
            table.tables(2).map(|tables| tables.len())
        };
        for end in 0..FILE.len() {
            assert_eq!(read(&FILE[..end]), Err(Damaged), "{end} bytes");
        }
        for at in 0..FILE.len() {
            for value in [0x00, 0x01, 0x7F, 0x80, 0xFF] {
                let mut bytes = FILE;
                bytes[at] = value;
                // What comes out does not matter: that nothing panics does.
                let _ = read(&bytes);
            }
        }
    }
}
