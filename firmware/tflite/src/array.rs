//! NumPy arrays of rows.
//!
//! The format is NumPy's NEP 1: a header, which is a Python dictionary as `numpy.save` writes it, and the values. The crates that read
//! it bring parsers of all of Python's literals, which took a quarter of the time to build a network.

use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::{error, fmt};

/// The bytes that a file begins with.
const MAGIC: &[u8] = b"\x93NUMPY";

/// Rows of equal length.
#[derive(Clone, Debug, PartialEq)]
pub struct Array<T> {
    /// The values, row by row.
    pub values: Vec<T>,
    /// The length of a row.
    pub columns: usize,
}

/// Why a file is no array of rows.
#[derive(Debug)]
pub enum ArrayError {
    /// Reading or writing this file failed.
    Io(PathBuf, io::Error),
    /// This file is no NumPy array, or not as long as its header says.
    Damaged(PathBuf),
    /// This file's array has this shape, or its columns come first.
    Shape(PathBuf, Vec<usize>),
    /// This file's array has this type, and those are read.
    Type(PathBuf, String, &'static str),
}

impl<T> Array<T> {
    /// The rows.
    pub fn rows(&self) -> impl ExactSizeIterator<Item = &[T]> {
        self.values.chunks_exact(self.columns)
    }
}

impl Array<f32> {
    /// Reads features: the rows of an array of floats or of integers, whose further dimensions are one.
    ///
    /// # Errors
    ///
    /// If the file cannot be read, or holds no such array.
    pub fn features(path: &Path) -> Result<Self, ArrayError> {
        let file = NumpyFile::open(path)?;
        let values = match file.descr.as_str() {
            "<f4" => file.values(f32::from_le_bytes),
            // As NumPy rounds.
            "<f8" => file.values(|bytes| f64::from_le_bytes(bytes) as f32),
            "|u1" => file.values(|[byte]| f32::from(byte)),
            "|i1" => file.values(|[byte]| f32::from(byte as i8)),
            "<u2" => file.values(|bytes| f32::from(u16::from_le_bytes(bytes))),
            "<i2" => file.values(|bytes| f32::from(i16::from_le_bytes(bytes))),
            _ => return Err(file.other("float32, float64, or integers of 8 or 16 bits")),
        };
        Ok(Self { values: values.ok_or(ArrayError::Damaged(path.into()))?, columns: file.columns })
    }

    /// Writes a file, in place of another only if that is `force`d.
    ///
    /// # Errors
    ///
    /// If it cannot be written.
    pub fn write(&self, path: &Path, force: bool) -> Result<(), ArrayError> {
        write(
            path,
            force,
            "<f4",
            [self.rows().len(), self.columns],
            self.values.iter().map(|v| v.to_le_bytes()),
        )
    }
}

impl Array<i8> {
    /// Reads int8 codes.
    ///
    /// # Errors
    ///
    /// As [`Array::features`].
    pub fn codes(path: &Path) -> Result<Self, ArrayError> {
        let file = NumpyFile::open(path)?;
        if file.descr != "|i1" {
            return Err(file.other("int8"));
        }
        let values = file.values(i8::from_le_bytes).ok_or(ArrayError::Damaged(path.into()))?;
        Ok(Self { values, columns: file.columns })
    }

    /// Writes a file, in place of another only if that is `force`d.
    ///
    /// # Errors
    ///
    /// If it cannot be written.
    pub fn write(&self, path: &Path, force: bool) -> Result<(), ArrayError> {
        write(
            path,
            force,
            "|i1",
            [self.rows().len(), self.columns],
            self.values.iter().map(|v| v.to_le_bytes()),
        )
    }
}

/// A file whose header was read.
struct NumpyFile<'a> {
    path: &'a Path,
    bytes: Vec<u8>,
    /// Where the values begin.
    first: usize,
    /// Their type.
    descr: String,
    rows: usize,
    columns: usize,
}

impl<'a> NumpyFile<'a> {
    fn open(path: &'a Path) -> Result<Self, ArrayError> {
        let bytes = fs::read(path).map_err(|error| ArrayError::Io(path.into(), error))?;
        let (header, first) = header(&bytes).ok_or(ArrayError::Damaged(path.into()))?;
        let descr = between(header, "'descr': '", "'").ok_or(ArrayError::Damaged(path.into()))?.to_owned();
        let shape = between(header, "'shape': (", ")").ok_or(ArrayError::Damaged(path.into()))?;
        let lengths = shape.split(',').map(str::trim).filter(|length| !length.is_empty());
        let lengths: Result<Vec<usize>, _> = lengths.map(str::parse).collect();
        let shape = lengths.map_err(|_| ArrayError::Damaged(path.into()))?;
        let columns = shape.iter().skip(1).try_fold(1usize, |product, &length| product.checked_mul(length));
        match (columns, &shape[..]) {
            (Some(columns @ 1..), &[rows, _, ..]) if header.contains("'fortran_order': False") => {
                Ok(Self { path, first, descr, rows, columns, bytes })
            }
            _ => Err(ArrayError::Shape(path.into(), shape)),
        }
    }

    /// The values, if there are as many as the header says.
    fn values<T, const BYTES: usize>(&self, read: impl Fn([u8; BYTES]) -> T) -> Option<Vec<T>> {
        let (values, rest) = self.bytes.get(self.first..)?.as_chunks::<BYTES>();
        let is_whole = rest.is_empty() && Some(values.len()) == self.rows.checked_mul(self.columns);
        is_whole.then(|| values.iter().map(|&value| read(value)).collect())
    }

    fn other(&self, needed: &'static str) -> ArrayError {
        ArrayError::Type(self.path.into(), self.descr.clone(), needed)
    }
}

/// The header, and where the values begin.
fn header(bytes: &[u8]) -> Option<(&str, usize)> {
    let rest = bytes.strip_prefix(MAGIC)?;
    let (start, len) = match rest {
        [1, _, rest @ ..] => (10, usize::from(u16::from_le_bytes(*rest.first_chunk()?))),
        [2 | 3, _, rest @ ..] => (12, u32::from_le_bytes(*rest.first_chunk()?) as usize),
        _ => return None,
    };
    let end = len.checked_add(start)?;
    Some((std::str::from_utf8(bytes.get(start..end)?).ok()?, end))
}

/// What stands between two texts.
fn between<'t>(text: &'t str, before: &str, after: &str) -> Option<&'t str> {
    text.split_once(before)?.1.split_once(after).map(|(found, _)| found)
}

fn write<const BYTES: usize>(
    path: &Path,
    force: bool,
    descr: &str,
    [rows, columns]: [usize; 2],
    values: impl Iterator<Item = [u8; BYTES]>,
) -> Result<(), ArrayError> {
    let write = || {
        let file = if force { File::create(path) } else { File::create_new(path) }?;
        let mut file = BufWriter::new(file);
        let header =
            format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': ({rows}, {columns}), }}");
        // Values begin at a multiple of 64 bytes, after a line's end.
        let padded = (10 + header.len() + 1).next_multiple_of(64) - 10;
        file.write_all(MAGIC)?;
        file.write_all(&[1, 0])?;
        file.write_all(&(padded as u16).to_le_bytes())?;
        writeln!(file, "{header:<width$}", width = padded - 1)?;
        for value in values {
            file.write_all(&value)?;
        }
        file.flush()
    };
    write().map_err(|error| ArrayError::Io(path.into(), error))
}

impl fmt::Display for ArrayError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Io(path, error) if error.kind() == io::ErrorKind::AlreadyExists => {
                write!(f, "{} is there already: --force replaces it", path.display())
            }
            Self::Io(path, error) => write!(f, "{}: {error}", path.display()),
            Self::Damaged(path) => write!(f, "{} is no NumPy array, or a part of one", path.display()),
            Self::Shape(path, shape) => write!(
                f,
                "{}: the array has the shape {shape:?}: rows of values are needed, in C order",
                path.display()
            ),
            Self::Type(path, got, needed) => {
                write!(f, "{}: the array's type is {got}: {needed} is needed", path.display())
            }
        }
    }
}

impl error::Error for ArrayError {}

#[cfg(test)]
mod tests {
    use super::*;

    /// A file as NumPy writes it.
    fn file(header: &str, values: &[u8]) -> Vec<u8> {
        let header = format!("{header:<117}\n");
        [MAGIC, &[1, 0], &118u16.to_le_bytes(), header.as_bytes(), values].concat()
    }

    fn with<R>(bytes: &[u8], work: impl FnOnce(&Path) -> R) -> R {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.npy");
        fs::write(&path, bytes).unwrap();
        work(&path)
    }

    #[test]
    fn every_type_of_features_is_read_as_float32() {
        let values = [1.5f64, -2.0].map(f64::to_le_bytes).concat();
        for (descr, values, expected) in [
            ("<f8", &values[..], [1.5, -2.0]),
            ("<f4", &[1.5f32, -2.0].map(f32::to_le_bytes).concat(), [1.5, -2.0]),
            ("|u1", &[7, 255], [7.0, 255.0]),
            ("|i1", &[7, 255], [7.0, -1.0]),
            ("<u2", &[1, 1, 255, 255], [257.0, 65_535.0]),
            ("<i2", &[1, 1, 255, 255], [257.0, -1.0]),
        ] {
            let header = format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': (1, 2, 1), }}");
            let array = with(&file(&header, values), Array::features).unwrap();
            assert_eq!(array, Array { values: expected.to_vec(), columns: 2 }, "{descr}");
        }
    }

    #[test]
    fn what_is_written_is_read_and_replaces_nothing_unless_it_is_told_to() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("codes.npy");
        let codes = Array { values: vec![-128i8, 0, 127, 5, 6, 7], columns: 3 };
        codes.write(&path, false).unwrap();
        assert_eq!(Array::codes(&path).unwrap(), codes);
        assert_eq!(fs::read(&path).unwrap().len(), 128 + 6);
        let refused = codes.write(&path, false).unwrap_err().to_string();
        assert!(refused.ends_with("codes.npy is there already: --force replaces it"), "{refused}");
        let logits = Array { values: vec![0.1f32, -1e30], columns: 1 };
        logits.write(&path, true).unwrap();
        assert_eq!(Array::features(&path).unwrap(), logits);
        let refused = Array::codes(&path).unwrap_err().to_string();
        assert!(refused.ends_with("the array's type is <f4: int8 is needed"), "{refused}");
    }

    #[test]
    fn other_shapes_and_parts_of_files_are_refused() {
        let header = |order: &str, shape: &str| {
            file(&format!("{{'descr': '|i1', 'fortran_order': {order}, 'shape': {shape}, }}"), &[1, 2, 3, 4])
        };
        for (order, shape) in [("False", "(4,)"), ("False", "()"), ("True", "(2, 2)"), ("False", "(4, 0)")] {
            let refused = with(&header(order, shape), Array::codes);
            assert!(matches!(refused, Err(ArrayError::Shape(..))), "{order} {shape}: {refused:?}");
        }
        let whole = header("False", "(2, 2)");
        assert_eq!(with(&whole, Array::codes).unwrap().values, [1, 2, 3, 4]);
        for end in 0..whole.len() {
            let refused = with(&whole[..end], Array::codes);
            assert!(matches!(refused, Err(ArrayError::Damaged(_))), "{end} bytes: {refused:?}");
        }
        for shape in ["(2, 3)", "(-2, 2)", "(99999999999999999999, 2)"] {
            let refused = with(&header("False", shape), Array::codes);
            assert!(matches!(refused, Err(ArrayError::Damaged(_))), "{shape}: {refused:?}");
        }
    }
}
