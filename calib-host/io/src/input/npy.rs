//! NumPy arrays.

use std::collections::HashSet;
use std::io::{Read, Seek, SeekFrom};

use npyz::half::f16;
use npyz::{DType, NpyHeader, Order};

use super::cell::TableCell;
use super::chunk_reader::{ChunkReader, Input, ReadSeek};
use super::column_kind::ColumnKind;
use super::limit::CHUNK_ROWS;
use super::projection::Projection;
use super::sniff::options::TableRemark;
use super::table::{Reading, Table};
use super::values::Values;
use crate::files::{FileError, Format, Location, Problem, Unit};

/// The longest header of version 1, with what is before it.
pub(super) const MAX_HEADER_LEN_BYTES: u64 = 10 + u16::MAX as u64;

/// An array of numbers or texts, row-major.
#[derive(Clone, Debug)]
pub(super) struct NpyArray {
    pub(super) place: Location,
    pub(super) dtype: String,
    pub(super) shape: Vec<u64>,
    pub(super) elements: Elements,
}

/// What an array holds.
#[derive(Clone, Debug)]
pub(super) enum Elements {
    Numbers(Values),
    Texts(Vec<String>),
}

/// The rows of an array that is alone in its file, some at a time.
pub(super) struct Rows {
    pub(super) layout: Layout,
    file: Box<dyn ReadSeek>,
    pub(super) total: u64,
    columns: u64,
    first_row: u64,
    /// The bytes of a chunk, in memory that the next one uses again: a fit with new memory for each takes a quarter longer.
    data: Vec<u8>,
}

impl Rows {
    /// Checks the header of a file.
    ///
    /// # Errors
    ///
    /// As [`parse`].
    pub(super) fn open(input: &Input) -> Result<Self, FileError> {
        let read_error = |source| FileError::Read { path: input.path().into(), source };
        let (mut file, len_bytes) = input.open()?;
        let mut start = Vec::new();
        Read::by_ref(&mut file).take(MAX_HEADER_LEN_BYTES).read_to_end(&mut start).map_err(read_error)?;
        let layout = Layout::parse(input.place(), &start, len_bytes)?;
        layout.elements(&[])?;
        file.seek(SeekFrom::Start(layout.header_len as u64)).map_err(read_error)?;
        let (total, columns) = match &layout.shape[..] {
            [] => (1, 1),
            [rows, others @ ..] => (*rows, others.iter().product()),
        };
        Ok(Self { layout, file, total, columns, first_row: 0, data: Vec::new() })
    }

    /// The next rows, and the number of the first of them; `None` at the end.
    pub(super) fn next(&mut self) -> Result<Option<(usize, NpyArray)>, FileError> {
        let first_row = self.first_row as usize;
        let (columns, element_len) = (self.columns as usize, self.layout.element_len);
        let most = if columns <= 2 { CHUNK_ROWS } else { (CHUNK_ROWS / columns).max(1) };
        let rows = usize::try_from(self.total - self.first_row).unwrap_or(usize::MAX).min(most);
        if rows == 0 {
            return Ok(None);
        }
        self.data.resize(rows * columns * element_len, 0);
        let is_by_columns = columns > 1 && self.layout.order == Order::Fortran;
        let read = match is_by_columns {
            true => self.data.chunks_mut(rows * element_len).zip(0u64..).try_for_each(|(data, column)| {
                let at = (self.total * column + self.first_row) * element_len as u64;
                self.file.seek(SeekFrom::Start(self.layout.header_len as u64 + at))?;
                self.file.read_exact(data)
            }),
            false => self.file.read_exact(&mut self.data),
        };
        let Layout { place, dtype, shape, .. } = &self.layout;
        read.map_err(|source| FileError::Read { path: place.file.clone(), source })?;
        let mut elements = self.layout.elements(&self.data)?;
        if let (Elements::Numbers(values), true) = (&mut elements, is_by_columns) {
            values.transpose(rows, columns);
        }
        let mut shape = shape.clone();
        shape.iter_mut().take(1).for_each(|side| *side = rows as u64);
        self.first_row += rows as u64;
        Ok(Some((first_row, NpyArray { place: place.clone(), dtype: dtype.clone(), shape, elements })))
    }
}

/// A column that is alone in its file, as tables of some rows each.
struct TableChunks {
    rows: Rows,
    reading: Reading,
}

/// Checks the header of a file.
///
/// # Errors
///
/// As [`parse`], or if the array has another shape.
pub(super) fn open(
    input: &Input,
    _: &Projection,
    reading: Reading,
) -> Result<Box<dyn ChunkReader>, FileError> {
    let rows = Rows::open(input)?;
    let is_column = match rows.layout.shape[..] {
        [_] | [_, 1] => true,
        [_, 2] => reading.options.guess,
        _ => false,
    };
    if is_column {
        Ok(Box::new(TableChunks { rows, reading }))
    } else {
        Err(rows.layout.wrong_shape("(rows,)"))
    }
}

impl ChunkReader for TableChunks {
    fn next(&mut self) -> Result<Option<Table>, FileError> {
        let Some((first_row, array)) = self.rows.next()? else { return Ok(None) };
        let is_whole = array.shape.first() == Some(&self.rows.total);
        let table = Table::at(array.place.clone(), super::rows::Rows::From(first_row));
        let mut table = table.read_as(self.reading.clone().of_whole(is_whole));
        let shape = self.rows.layout.shape.clone();
        // A fault is one of the array, not of some of its rows.
        NpyArray { shape, ..array }.fill_lone(&mut table)?;
        Ok(Some(table))
    }

    fn progress(&self) -> Option<(Unit, u64, u64)> {
        Some((Unit::Rows, self.rows.first_row, self.rows.total))
    }
}

/// Reads an array of floats, integers, booleans or texts of any width, either byte order and either memory order.
///
/// # Errors
///
/// If it is not an array, of another type, empty, or shorter or longer than its header says.
pub(super) fn parse(place: Location, bytes: &[u8]) -> Result<NpyArray, FileError> {
    let layout = Layout::parse(place, bytes, bytes.len() as u64)?;
    let mut elements = layout.elements(&bytes[layout.header_len..])?;
    if let (Order::Fortran, &[rows, columns], Elements::Numbers(values)) =
        (layout.order, &layout.shape[..], &mut elements)
    {
        values.transpose(rows as usize, columns as usize);
    }
    Ok(NpyArray { place: layout.place, dtype: layout.dtype, shape: layout.shape, elements })
}

/// What an array's header says.
pub(super) struct Layout {
    pub(super) place: Location,
    /// The name of the type of the elements.
    pub(super) dtype: String,
    pub(super) element_len: usize,
    pub(super) shape: Vec<u64>,
    order: Order,
    pub(super) header_len: usize,
}

impl Layout {
    /// Checks the header in the first bytes of a file of `len_bytes`.
    pub(super) fn parse(place: Location, start: &[u8], len_bytes: u64) -> Result<Self, FileError> {
        let fail = |problem| FileError::input(place.clone(), problem);
        if start.is_empty() {
            return Err(fail(Problem::EmptyFile));
        }
        let (header, header_len) = header(start).map_err(|why| fail(Problem::NotA(Format::NPY, why)))?;
        let element = header.dtype();
        let wrong_type = |got: String| {
            fail(Problem::Dtype { got, expected: "float16, float32 or float64 scores, or integer labels" })
        };
        let DType::Plain(plain) = &element else { return Err(wrong_type(element.descr())) };
        let dtype = plain.to_string();
        let shape = header.shape().to_vec();
        let element_len = plain.num_bytes().ok_or_else(|| wrong_type(dtype.clone()))?;

        let count = shape.iter().try_fold(1u64, |product, &side| product.checked_mul(side));
        let data_len = count.and_then(|count| count.checked_mul(element_len as u64));
        let data_len =
            data_len.ok_or_else(|| fail(Problem::Shape { got: shape.clone(), expected: "less data" }))?;
        let expected = (header_len as u64).saturating_add(data_len);
        let got = len_bytes;
        if got < expected {
            return Err(fail(Problem::Truncated { expected, got }));
        }
        if got > expected {
            return Err(fail(Problem::TrailingBytes { expected, got }));
        }
        if data_len == 0 {
            return Err(fail(Problem::Empty));
        }
        let order = header.order();
        Ok(Self { place, dtype, element_len, shape, order, header_len })
    }

    /// Whether the rows of a matrix follow each other.
    pub(super) fn is_by_rows(&self) -> bool {
        self.order == Order::C
    }

    pub(super) fn wrong_shape(&self, expected: &'static str) -> FileError {
        FileError::input(self.place.clone(), Problem::Shape { got: self.shape.clone(), expected })
    }

    /// The elements in some of the data, in the order in which they are stored.
    pub(super) fn elements(&self, data: &[u8]) -> Result<Elements, FileError> {
        match self.dtype.as_bytes() {
            [_, b'U', ..] => self.texts(data, text_of_points).map(Elements::Texts),
            [_, b'S' | b'a', ..] => self.texts(data, text_of_bytes).map(Elements::Texts),
            _ => self.values(data).map(Elements::Numbers),
        }
    }

    /// The texts in some of the data.
    fn texts(&self, data: &[u8], text: fn(&[u8], bool) -> Option<String>) -> Result<Vec<String>, FileError> {
        let big_endian = self.dtype.starts_with('>');
        let texts = data.chunks_exact(self.element_len.max(1)).map(|element| text(element, big_endian));
        let texts: Option<Vec<String>> = texts.collect();
        texts.ok_or_else(|| FileError::input(self.place.clone(), Problem::NotUtf8))
    }

    /// The numbers in some of the data.
    fn values(&self, data: &[u8]) -> Result<Values, FileError> {
        let big_endian = self.dtype.starts_with('>');
        macro_rules! decoded {
            ($type:ident) => {
                match big_endian {
                    true => elements(data, |bytes| $type::from_be_bytes(bytes).into()),
                    false => elements(data, |bytes| $type::from_le_bytes(bytes).into()),
                }
            };
        }
        Ok(match self.dtype.get(1..).unwrap_or_default() {
            "f2" => Values::F32(decoded!(f16)),
            "f4" => Values::F32(decoded!(f32)),
            "f8" => Values::F64(decoded!(f64)),
            "i1" => Values::I64(decoded!(i8)),
            "i2" => Values::I64(decoded!(i16)),
            "i4" => Values::I64(decoded!(i32)),
            "i8" => Values::I64(decoded!(i64)),
            "u1" => Values::I64(decoded!(u8)),
            "u2" => Values::I64(decoded!(u16)),
            "u4" => Values::I64(decoded!(u32)),
            "u8" => Values::U64(decoded!(u64)),
            "b1" => Values::Bool(data.iter().map(|&byte| byte != 0).collect()),
            _ => {
                let expected = "float16, float32 or float64 scores, or integer labels";
                let problem = Problem::Dtype { got: self.dtype.clone(), expected };
                return Err(FileError::input(self.place.clone(), problem));
            }
        })
    }
}

/// A text of 32-bit code points, filled up with zeros.
fn text_of_points(element: &[u8], big_endian: bool) -> Option<String> {
    let of_bytes = if big_endian { u32::from_be_bytes } else { u32::from_le_bytes };
    let points = element.as_chunks().0.iter().map(|&bytes| of_bytes(bytes));
    points.take_while(|&point| point != 0).map(char::from_u32).collect()
}

/// A text of bytes, filled up with zeros.
fn text_of_bytes(element: &[u8], _: bool) -> Option<String> {
    let text = element.split(|&byte| byte == 0).next().unwrap_or_default();
    std::str::from_utf8(text).ok().map(str::to_owned)
}

/// The elements of a type of `N` bytes.
fn elements<T, const N: usize>(data: &[u8], of_bytes: impl Fn([u8; N]) -> T) -> Vec<T> {
    data.as_chunks().0.iter().map(|&bytes| of_bytes(bytes)).collect()
}

/// The shape that the start of a file states, if it is an array at all.
pub(super) fn shape(start: &[u8]) -> Option<Vec<u64>> {
    Some(header(start).ok()?.0.shape().to_vec())
}

/// The header at the start of a file, and its length in bytes; or why there is none.
fn header(start: &[u8]) -> Result<(NpyHeader, usize), String> {
    const CUT_OFF: &str = "its header is cut off";
    let Some(versioned) = start.strip_prefix(b"\x93NUMPY") else {
        return Err("it does not start like one".into());
    };
    check_header(header_text(versioned).ok_or(CUT_OFF)?)?;
    let mut rest = start;
    let header = NpyHeader::from_reader(&mut rest).map_err(|cause| match cause.kind() {
        std::io::ErrorKind::UnexpectedEof => CUT_OFF.to_owned(),
        _ => cause.to_string(),
    })?;
    Ok((header, start.len() - rest.len()))
}

/// The text of a header that begins with its version; `None` if it is cut off. npyz reserves the memory for one of any length that is stated.
fn header_text(versioned: &[u8]) -> Option<&[u8]> {
    let (&[major, _], rest) = versioned.split_first_chunk()?;
    let (len, text) = match major {
        1 => rest.split_first_chunk().map(|(len, text)| (u16::from_le_bytes(*len).into(), text))?,
        2 | 3 => rest.split_first_chunk().map(|(len, text)| (u32::from_le_bytes(*len), text))?,
        // Of another version npyz says so.
        _ => return Some(&[]),
    };
    text.get(..usize::try_from(len).ok()?)
}

/// Refuses what npyz does not: a text that nests deeper than that of any array, for which it takes twice as long, or longer, for each bracket.
/// And sizes whose product, which it takes unchecked, is more than a `u64`.
fn check_header(text: &[u8]) -> Result<(), &'static str> {
    /// A type that lists its fields, of which one has a separate shape, has four.
    const DEEPEST: usize = 6;
    const KEY: &[u8] = b"'shape'";
    let mut depth = 0usize;
    for byte in text {
        match byte {
            b'(' | b'[' | b'{' => depth += 1,
            b')' | b']' | b'}' => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth > DEEPEST {
            return Err("its header nests too deeply");
        }
    }
    let Some(at) = text.windows(KEY.len()).position(|window| window == KEY) else { return Ok(()) };
    let sizes = text[at..].split(|byte| b")]}".contains(byte)).next().unwrap_or_default();
    let sizes = sizes.split(|byte| !byte.is_ascii_digit()).filter(|digits| !digits.is_empty());
    let sizes = sizes.map(|digits| std::str::from_utf8(digits).ok()?.parse::<u64>().ok());
    match sizes.reduce(|product, size| product?.checked_mul(size?)) {
        Some(None) => Err("no memory holds an array of its shape"),
        _ => Ok(()),
    }
}

impl NpyArray {
    /// The elements of an `(n, L)` array of floats in the device's `f32`, and `L`.
    ///
    /// # Errors
    ///
    /// If it has another shape or type.
    pub(super) fn matrix(self) -> Result<(Vec<f32>, usize), FileError> {
        let &[_, columns] = &self.shape[..] else {
            return Err(self.wrong_shape("(rows, classes)"));
        };
        let values = match self.elements {
            Elements::Numbers(Values::F32(values)) => values,
            Elements::Numbers(Values::F64(values)) => values.into_iter().map(|value| value as f32).collect(),
            _ => {
                let problem = Problem::Dtype { got: self.dtype, expected: Problem::FLOATS };
                return Err(FileError::input(self.place, problem));
            }
        };
        Ok((values, columns as usize))
    }

    /// The elements of an `(n, L)` array of integers, and `L`.
    ///
    /// # Errors
    ///
    /// If it has another shape or type.
    pub(super) fn integer_matrix(self) -> Result<(Vec<i64>, usize), FileError> {
        let &[_, columns] = &self.shape[..] else {
            return Err(self.wrong_shape("(rows, classes)"));
        };
        let integers = match self.elements {
            Elements::Numbers(Values::I64(values)) => Some(values),
            Elements::Numbers(values @ Values::U64(_)) => values.integers(),
            Elements::Numbers(_) | Elements::Texts(_) => None,
        };
        match integers {
            Some(values) => Ok((values, columns as usize)),
            None => {
                let problem = Problem::Dtype { got: self.dtype, expected: Problem::CODES };
                Err(FileError::input(self.place, problem))
            }
        }
    }

    /// The same without some rows.
    #[must_use]
    pub(super) fn without_rows(self, left_out: &HashSet<usize>) -> Self {
        let &[rows, columns] = &self.shape[..] else { return self };
        if left_out.is_empty() {
            return self;
        }
        let (rows, columns) = (rows as usize, columns as usize);
        let kept: Vec<usize> = (0..rows).filter(|row| !left_out.contains(row)).collect();
        let entries: Vec<usize> = kept.iter().flat_map(|row| row * columns..(row + 1) * columns).collect();
        let elements = match &self.elements {
            Elements::Numbers(values) => Elements::Numbers(values.part(&entries)),
            Elements::Texts(texts) => Elements::Texts(entries.iter().map(|&at| texts[at].clone()).collect()),
        };
        Self { elements, shape: vec![kept.len() as u64, columns as u64], ..self }
    }

    /// Whether each row of a matrix has an entry that is NaN.
    pub(super) fn incomplete_rows(&self) -> Option<Vec<bool>> {
        let &[rows, columns] = &self.shape[..] else { return None };
        let (rows, columns) = (rows as usize, columns as usize);
        let is_missing = |place: usize| match &self.elements {
            Elements::Numbers(values) => values.cell::<&str>(place).is_missing(),
            Elements::Texts(texts) => TableCell::Raw(texts[place].as_str()).is_missing(),
        };
        Some((0..rows).map(|row| (row * columns..(row + 1) * columns).any(is_missing)).collect())
    }

    /// Makes an `(n,)` or `(n, 1)` array a column, and where this may be guessed the second column of an `(n, 2)` array of probabilities
    /// of two classes.
    ///
    /// # Errors
    ///
    /// If it has another shape.
    pub(super) fn fill(self, table: &mut Table, name: &str) -> Result<(), FileError> {
        let elements = match (&self.shape[..], &self.elements) {
            ([_] | [_, 1], _) => self.elements,
            ([_, 2], Elements::Numbers(values)) if table.options().guess => {
                let second = values.second_of_two_probs();
                let Some(second) = second else { return Err(self.wrong_shape("(rows,)")) };
                table.options().note(&Location::file(&self.place.file), TableRemark::SecondColumn);
                Elements::Numbers(second)
            }
            _ => return Err(self.wrong_shape("(rows,)")),
        };
        let column = table.add_column(name, true);
        match elements {
            Elements::Numbers(values) => {
                table.set_kind(column, values.kind());
                table.extend(column, values);
            }
            Elements::Texts(texts) => {
                table.set_kind(column, ColumnKind::Text);
                texts.iter().for_each(|text| table.push(column, TableCell::Raw(text)));
            }
        }
        Ok(())
    }

    /// Makes it the only column, which needs no name.
    ///
    /// # Errors
    ///
    /// As [`NpyArray::fill`].
    pub(super) fn fill_lone(self, table: &mut Table) -> Result<(), FileError> {
        table.set_lone(self.dtype.clone());
        self.fill(table, "score")
    }

    fn wrong_shape(&self, expected: &'static str) -> FileError {
        FileError::input(self.place.clone(), Problem::Shape { got: self.shape.clone(), expected })
    }
}
