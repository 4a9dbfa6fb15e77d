//! NumPy arrays.

use npyz::half::f16;
use npyz::{DType, Deserialize, NpyHeader, Order, TypeRead};

use super::cell::{TableCell, saturated};
use super::source::Source;
use super::table::{ColumnKind, Table};
use crate::files::{FileError, Format, Place, Problem};

/// The longest header of version 1, with what is before it.
pub(super) const MAX_HEADER_LEN_BYTES: u64 = 10 + u16::MAX as u64;

/// An array of numbers, row-major.
#[derive(Clone, Debug)]
pub(super) struct NpyArray {
    pub(super) place: Place,
    pub(super) dtype: String,
    pub(super) shape: Vec<u64>,
    pub(super) numbers: NpyNumbers,
}

#[derive(Clone, Debug)]
pub(super) enum NpyNumbers {
    F32(Vec<f32>),
    F64(Vec<f64>),
    Integers(Vec<i64>),
    Unsigned(Vec<u64>),
    Bools(Vec<bool>),
}

/// Reads an array that is alone in its file, as a table of one column.
pub(super) fn table(source: &Source) -> Result<Table, FileError> {
    let mut table = Table::new(source);
    parse(Place::file(source.path()), source.bytes())?.fill_lone(&mut table)?;
    Ok(table)
}

/// Reads an array of floats, integers or booleans of any width, either byte order and either memory order.
///
/// # Errors
///
/// If it is not an array, of another type, empty, or shorter or longer than its header says.
pub(super) fn parse(place: Place, bytes: &[u8]) -> Result<NpyArray, FileError> {
    let layout = Layout::parse(place, bytes, bytes.len() as u64)?;
    let mut numbers = layout.numbers(&bytes[layout.header_len..])?;
    if let (Order::Fortran, &[rows, columns]) = (layout.order, &layout.shape[..]) {
        numbers.transpose(rows as usize, columns as usize);
    }
    Ok(NpyArray { place: layout.place, dtype: layout.dtype, shape: layout.shape, numbers })
}

/// What an array's header says.
pub(super) struct Layout {
    pub(super) place: Place,
    /// The name of the type of the elements.
    pub(super) dtype: String,
    element: DType,
    pub(super) element_len: usize,
    pub(super) shape: Vec<u64>,
    order: Order,
    pub(super) header_len: usize,
}

impl Layout {
    /// Checks the header in the first bytes of a file of `len_bytes`.
    pub(super) fn parse(place: Place, start: &[u8], len_bytes: u64) -> Result<Self, FileError> {
        let fail = |problem| FileError::input(place.clone(), problem);
        if start.is_empty() {
            return Err(fail(Problem::EmptyFile));
        }
        let not_npy = |why: &str| fail(Problem::NotA(Format::Npy, why.into()));
        let mut rest = start;
        if !start.starts_with(b"\x93NUMPY") {
            return Err(not_npy("it does not start like one"));
        }
        if shape_overflows(start) {
            return Err(not_npy("no memory holds an array of its shape"));
        }
        let header = NpyHeader::from_reader(&mut rest).map_err(|cause| match cause.kind() {
            std::io::ErrorKind::UnexpectedEof => not_npy("its header is cut off"),
            _ => not_npy(&cause.to_string()),
        })?;

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
        let header_len = start.len() - rest.len();
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
        Ok(Self { place, dtype, element, element_len, shape, order, header_len })
    }

    /// Whether the rows of a matrix follow each other.
    pub(super) fn is_by_rows(&self) -> bool {
        self.order == Order::C
    }

    /// Refuses elements that are no numbers.
    pub(super) fn check_type(&self) -> Result<(), FileError> {
        self.numbers(&[]).map(drop)
    }

    /// The elements in some of the data, in the order in which they are stored.
    pub(super) fn numbers(&self, data: &[u8]) -> Result<NpyNumbers, FileError> {
        let element = &self.element;
        Ok(match self.dtype.get(1..).unwrap_or_default() {
            "f2" => NpyNumbers::F32(values(element, data, f16::to_f32)),
            "f4" => NpyNumbers::F32(values(element, data, |v: f32| v)),
            "f8" => NpyNumbers::F64(values(element, data, |v: f64| v)),
            "i1" => NpyNumbers::Integers(values(element, data, |v: i8| v.into())),
            "i2" => NpyNumbers::Integers(values(element, data, |v: i16| v.into())),
            "i4" => NpyNumbers::Integers(values(element, data, |v: i32| v.into())),
            "i8" => NpyNumbers::Integers(values(element, data, |v: i64| v)),
            "u1" => NpyNumbers::Integers(values(element, data, |v: u8| v.into())),
            "u2" => NpyNumbers::Integers(values(element, data, |v: u16| v.into())),
            "u4" => NpyNumbers::Integers(values(element, data, |v: u32| v.into())),
            "u8" => NpyNumbers::Unsigned(values(element, data, |v: u64| v)),
            "b1" => NpyNumbers::Bools(values(element, data, |v: bool| v)),
            _ => {
                let expected = "float16, float32 or float64 scores, or integer labels";
                let problem = Problem::Dtype { got: self.dtype.clone(), expected };
                return Err(FileError::input(self.place.clone(), problem));
            }
        })
    }
}

/// The shape that the start of a file promises, if it is an array at all.
pub(super) fn shape(mut start: &[u8]) -> Option<Vec<u64>> {
    if !start.starts_with(b"\x93NUMPY") || shape_overflows(start) {
        return None;
    }
    Some(NpyHeader::from_reader(&mut start).ok()?.shape().to_vec())
}

/// Whether the sizes in the header's shape multiply to more than a `u64`: npyz takes the product unchecked.
fn shape_overflows(bytes: &[u8]) -> bool {
    const KEY: &[u8] = b"'shape'";
    let Some(at) = bytes.windows(KEY.len()).take(1 << 16).position(|window| window == KEY) else {
        return false;
    };
    let sizes = bytes[at..].split(|byte| b")]}".contains(byte)).next().unwrap_or_default();
    let sizes = sizes.split(|byte| !byte.is_ascii_digit()).filter(|digits| !digits.is_empty());
    let product = sizes.map(|digits| std::str::from_utf8(digits).ok()?.parse::<u64>().ok());
    product.reduce(|product, size| product?.checked_mul(size?)).is_some_and(|product| product.is_none())
}

fn values<T: Deserialize, U>(element: &DType, mut data: &[u8], map: fn(T) -> U) -> Vec<U> {
    let reader = T::reader(element).expect("the type was looked at");
    let mut values = Vec::new();
    while !data.is_empty() {
        values.push(map(reader.read_one(&mut data).expect("the length was checked")));
    }
    values
}

impl NpyNumbers {
    fn kind(&self) -> ColumnKind {
        match self {
            Self::F32(_) => ColumnKind::F32,
            Self::F64(_) => ColumnKind::F64,
            Self::Integers(_) => ColumnKind::Integer,
            Self::Unsigned(_) => ColumnKind::Unsigned,
            Self::Bools(_) => ColumnKind::Bool,
        }
    }

    /// Makes the elements of a matrix that is stored column by column row-major.
    fn transpose(&mut self, rows: usize, columns: usize) {
        match self {
            Self::F32(values) => *values = transposed(values, rows, columns),
            Self::F64(values) => *values = transposed(values, rows, columns),
            Self::Integers(values) => *values = transposed(values, rows, columns),
            Self::Unsigned(values) => *values = transposed(values, rows, columns),
            Self::Bools(values) => *values = transposed(values, rows, columns),
        }
    }
}

fn transposed<T: Copy>(stored: &[T], rows: usize, columns: usize) -> Vec<T> {
    (0..rows * columns).map(|i| stored[i % columns * rows + i / columns]).collect()
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
        let values = match self.numbers {
            NpyNumbers::F32(values) => values,
            NpyNumbers::F64(values) => values.into_iter().map(|value| value as f32).collect(),
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
        let values = match self.numbers {
            NpyNumbers::Integers(values) => values,
            NpyNumbers::Unsigned(values) => values.into_iter().map(saturated).collect(),
            _ => {
                let problem = Problem::Dtype { got: self.dtype, expected: Problem::CODES };
                return Err(FileError::input(self.place, problem));
            }
        };
        Ok((values, columns as usize))
    }

    /// Makes an `(n,)` or `(n, 1)` array a column.
    ///
    /// # Errors
    ///
    /// If it has another shape.
    pub(super) fn fill(self, table: &mut Table, name: &str) -> Result<(), FileError> {
        let (&[_] | &[_, 1]) = &self.shape[..] else {
            return Err(self.wrong_shape("(rows,)"));
        };
        let column = table.add_column(name, true);
        table.set_kind(column, self.numbers.kind());
        let mut push = |cell| table.push(column, cell);
        match self.numbers {
            NpyNumbers::F32(values) => values.into_iter().map(TableCell::F32).for_each(&mut push),
            NpyNumbers::F64(values) => values.into_iter().map(TableCell::F64).for_each(&mut push),
            NpyNumbers::Integers(values) => values.into_iter().map(TableCell::Integer).for_each(&mut push),
            NpyNumbers::Unsigned(values) => values.into_iter().map(TableCell::Unsigned).for_each(&mut push),
            NpyNumbers::Bools(values) => values.into_iter().map(TableCell::Bool).for_each(&mut push),
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
