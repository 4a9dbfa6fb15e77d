//! NumPy arrays.

use npyz::half::f16;
use npyz::{DType, Deserialize, NpyFile, NpyHeader, Order};

use super::Source;
use super::cell::Cell;
use super::format::Format;
use super::table::Table;
use crate::error::{Error, Place, Problem};

/// The longest header of version 1, with what is before it.
pub(super) const MAX_HEADER_LEN_BYTES: u64 = 10 + u16::MAX as u64;

/// An array of numbers, row-major.
#[derive(Clone, Debug)]
pub(super) struct NpyArray {
    place: Place,
    dtype: String,
    shape: Vec<u64>,
    numbers: Numbers,
}

#[derive(Clone, Debug)]
enum Numbers {
    F32(Vec<f32>),
    F64(Vec<f64>),
    Integers(Vec<i64>),
    Unsigned(Vec<u64>),
    Bools(Vec<bool>),
}

/// Reads an array that is alone in its file, as a table of one column.
pub(super) fn table(source: &Source) -> Result<Table, Error> {
    let mut table = Table::new(source);
    parse(Place::file(source.path()), source.bytes())?.fill_lone(&mut table)?;
    Ok(table)
}

/// Reads an array of floats, integers or booleans of any width, either byte order and either memory order.
///
/// # Errors
///
/// If it is not an array, of another type, empty, or shorter or longer than its header says.
pub(super) fn parse(place: Place, bytes: &[u8]) -> Result<NpyArray, Error> {
    let fail = |problem| Error::input(place.clone(), problem);
    if bytes.is_empty() {
        return Err(fail(Problem::EmptyFile));
    }
    let not_npy = |why: &str| fail(Problem::NotA(Format::Npy, why.into()));
    let mut rest = bytes;
    if !bytes.starts_with(b"\x93NUMPY") {
        return Err(not_npy("it does not start like one"));
    }
    if shape_overflows(bytes) {
        return Err(not_npy("no memory holds an array of its shape"));
    }
    let header = NpyHeader::from_reader(&mut rest).map_err(|cause| match cause.kind() {
        std::io::ErrorKind::UnexpectedEof => not_npy("its header is cut off"),
        _ => not_npy(&cause.to_string()),
    })?;

    let expected = "float16, float32 or float64 scores, or integer labels";
    let dtype = header.dtype();
    let DType::Plain(element) = &dtype else {
        return Err(fail(Problem::Dtype { got: dtype.descr(), expected }));
    };
    let name = element.to_string();
    let shape = header.shape().to_vec();
    let wrong_type = || fail(Problem::Dtype { got: name.clone(), expected });
    let size = element.num_bytes().ok_or_else(wrong_type)?;

    let count = shape.iter().try_fold(1u64, |product, &side| product.checked_mul(side));
    let data_len = count.and_then(|count| count.checked_mul(size as u64));
    let data_len =
        data_len.ok_or_else(|| fail(Problem::Shape { got: shape.clone(), expected: "less data" }))?;
    let header_len = (bytes.len() - rest.len()) as u64;
    let promised = header_len.saturating_add(data_len);
    let got = bytes.len() as u64;
    if got < promised {
        return Err(fail(Problem::Truncated { expected: promised, got }));
    }
    if got > promised {
        return Err(fail(Problem::TrailingBytes { expected: promised, got }));
    }
    if data_len == 0 {
        return Err(fail(Problem::Empty));
    }

    let order = header.order();
    let file = NpyFile::with_header(header, rest);
    let numbers = match name.get(1..).unwrap_or_default() {
        "f2" => Numbers::F32(values(file, order, &shape, f16::to_f32)),
        "f4" => Numbers::F32(values(file, order, &shape, |v: f32| v)),
        "f8" => Numbers::F64(values(file, order, &shape, |v: f64| v)),
        "i1" => Numbers::Integers(values(file, order, &shape, |v: i8| v.into())),
        "i2" => Numbers::Integers(values(file, order, &shape, |v: i16| v.into())),
        "i4" => Numbers::Integers(values(file, order, &shape, |v: i32| v.into())),
        "i8" => Numbers::Integers(values(file, order, &shape, |v: i64| v)),
        "u1" => Numbers::Integers(values(file, order, &shape, |v: u8| v.into())),
        "u2" => Numbers::Integers(values(file, order, &shape, |v: u16| v.into())),
        "u4" => Numbers::Integers(values(file, order, &shape, |v: u32| v.into())),
        "u8" => Numbers::Unsigned(values(file, order, &shape, |v: u64| v)),
        "b1" => Numbers::Bools(values(file, order, &shape, |v: bool| v)),
        _ => return Err(wrong_type()),
    };
    Ok(NpyArray { place, dtype: name, shape, numbers })
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

/// The elements in row-major order.
fn values<T: Deserialize, U: Copy>(
    file: NpyFile<&[u8]>,
    order: Order,
    shape: &[u64],
    map: fn(T) -> U,
) -> Vec<U> {
    let stored: Vec<U> =
        file.into_vec::<T>().expect("type and length were checked").into_iter().map(map).collect();
    match (order, shape) {
        (Order::Fortran, &[rows, columns]) => {
            let (rows, columns) = (rows as usize, columns as usize);
            (0..rows * columns).map(|i| stored[i % columns * rows + i / columns]).collect()
        }
        _ => stored,
    }
}

impl NpyArray {
    /// The elements of an `(n, L)` array of floats in the device's `f32`, and `L`.
    ///
    /// # Errors
    ///
    /// If it has another shape or type.
    pub(super) fn matrix(self) -> Result<(Vec<f32>, usize), Error> {
        let &[_, columns] = &self.shape[..] else {
            return Err(self.wrong_shape("(rows, classes)"));
        };
        let values = match self.numbers {
            Numbers::F32(values) => values,
            Numbers::F64(values) => values.into_iter().map(|value| value as f32).collect(),
            _ => {
                let problem = Problem::Dtype { got: self.dtype, expected: "float16, float32 or float64" };
                return Err(Error::input(self.place, problem));
            }
        };
        Ok((values, columns as usize))
    }

    /// Makes an `(n,)` or `(n, 1)` array a column.
    ///
    /// # Errors
    ///
    /// If it has another shape.
    pub(super) fn fill(self, table: &mut Table, name: &str) -> Result<(), Error> {
        let (&[_] | &[_, 1]) = &self.shape[..] else {
            return Err(self.wrong_shape("(rows,)"));
        };
        let column = table.add_column(name, true);
        let mut push = |cell| table.push(column, cell);
        match self.numbers {
            Numbers::F32(values) => values.into_iter().map(Cell::F32).for_each(&mut push),
            Numbers::F64(values) => values.into_iter().map(Cell::F64).for_each(&mut push),
            Numbers::Integers(values) => values.into_iter().map(Cell::Integer).for_each(&mut push),
            Numbers::Unsigned(values) => values.into_iter().map(Cell::Unsigned).for_each(&mut push),
            Numbers::Bools(values) => values.into_iter().map(Cell::Bool).for_each(&mut push),
        }
        Ok(())
    }

    /// Makes it the only column, which needs no name.
    ///
    /// # Errors
    ///
    /// As [`NpyArray::fill`].
    pub(super) fn fill_lone(self, table: &mut Table) -> Result<(), Error> {
        table.set_lone(self.dtype.clone());
        self.fill(table, "score")
    }

    fn wrong_shape(&self, expected: &'static str) -> Error {
        Error::input(self.place.clone(), Problem::Shape { got: self.shape.clone(), expected })
    }
}
