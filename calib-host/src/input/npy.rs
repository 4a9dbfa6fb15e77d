//! NumPy arrays.

use npyz::{DType, Deserialize, NpyFile, NpyHeader, Order};

use super::{Column, Source};
use crate::error::{Error, Place, Problem};

/// An array of numbers, row-major.
#[derive(Clone, Debug)]
pub struct NpyArray {
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
}

/// Reads an array of floats or integers of any width, either byte order and either memory order.
///
/// # Errors
///
/// If it is not an array, of another type, empty, or shorter or longer than its header says.
pub fn read_npy(source: &Source) -> Result<NpyArray, Error> {
    let place = Place::file(source.path());
    let fail = |problem| Error::input(place.clone(), problem);
    let bytes = source.bytes();
    if bytes.is_empty() {
        return Err(fail(Problem::EmptyFile));
    }
    let mut rest = bytes;
    if !bytes.starts_with(b"\x93NUMPY") {
        return Err(fail(Problem::NotNpy("it does not start like one".into())));
    }
    if shape_overflows(bytes) {
        return Err(fail(Problem::NotNpy("no memory holds an array of its shape".into())));
    }
    let header = NpyHeader::from_reader(&mut rest).map_err(|cause| {
        let cut_off = cause.kind() == std::io::ErrorKind::UnexpectedEof;
        fail(Problem::NotNpy(if cut_off { "its header is cut off".into() } else { cause.to_string() }))
    })?;

    let expected = "float32 or float64 scores, or integer labels";
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
        "f4" => Numbers::F32(values(file, order, &shape, |v: f32| v)),
        "f8" => Numbers::F64(values(file, order, &shape, |v: f64| v)),
        "i1" => Numbers::Integers(values(file, order, &shape, |v: i8| v.into())),
        "i2" => Numbers::Integers(values(file, order, &shape, |v: i16| v.into())),
        "i4" => Numbers::Integers(values(file, order, &shape, |v: i32| v.into())),
        "i8" => Numbers::Integers(values(file, order, &shape, |v: i64| v)),
        "u1" => Numbers::Integers(values(file, order, &shape, |v: u8| v.into())),
        "u2" => Numbers::Integers(values(file, order, &shape, |v: u16| v.into())),
        "u4" => Numbers::Integers(values(file, order, &shape, |v: u32| v.into())),
        // No class index comes near; the largest stands for all that are out of range.
        "u8" => Numbers::Integers(values(file, order, &shape, |v: u64| v.try_into().unwrap_or(i64::MAX))),
        "b1" => Numbers::Integers(values(file, order, &shape, |v: bool| v.into())),
        _ => return Err(wrong_type()),
    };
    Ok(NpyArray { place, dtype: name, shape, numbers })
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
    pub fn matrix(self) -> Result<(Vec<f32>, usize), Error> {
        let &[_, columns] = &self.shape[..] else {
            return Err(self.wrong_shape("(rows, classes)"));
        };
        let values = match self.numbers {
            Numbers::F32(values) => values,
            Numbers::F64(values) => values.into_iter().map(|value| value as f32).collect(),
            Numbers::Integers(_) => return Err(self.wrong_type("float32 or float64")),
        };
        Ok((values, columns as usize))
    }

    /// The elements of an `(n,)` or `(n, 1)` array of floats.
    ///
    /// # Errors
    ///
    /// If it has another shape or type.
    pub fn numbers(self) -> Result<Column<f64>, Error> {
        self.check_one_column()?;
        let values = match self.numbers {
            Numbers::F32(values) => values.into_iter().map(f64::from).collect(),
            Numbers::F64(values) => values,
            Numbers::Integers(_) => return Err(self.wrong_type("float32 or float64")),
        };
        Ok(Column { values, place: self.place, lines: Vec::new() })
    }

    /// The elements of an `(n,)` or `(n, 1)` array of integers or booleans.
    ///
    /// # Errors
    ///
    /// If it has another shape or type.
    pub fn labels(self) -> Result<Column<i64>, Error> {
        self.check_one_column()?;
        match self.numbers {
            Numbers::Integers(values) => Ok(Column { values, place: self.place, lines: Vec::new() }),
            _ => Err(self.wrong_type("integers or booleans")),
        }
    }

    fn check_one_column(&self) -> Result<(), Error> {
        match self.shape[..] {
            [_] | [_, 1] => Ok(()),
            _ => Err(self.wrong_shape("(rows,)")),
        }
    }

    fn wrong_shape(&self, expected: &'static str) -> Error {
        Error::input(self.place.clone(), Problem::Shape { got: self.shape.clone(), expected })
    }

    fn wrong_type(&self, expected: &'static str) -> Error {
        Error::input(self.place.clone(), Problem::Dtype { got: self.dtype.clone(), expected })
    }
}
