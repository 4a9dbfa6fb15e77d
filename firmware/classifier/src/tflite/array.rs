//! NumPy arrays of rows.

use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::{error, fmt};

use npyz::{AutoSerialize, Deserialize, NpyFile, NpyHeader, Order, WriteOptions, WriterBuilder};

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
        let file = RowsFile::open(path)?;
        let columns = file.columns;
        let values = match file.descr.as_str() {
            "<f4" => file.values::<f32>()?,
            // As NumPy rounds.
            "<f8" => file.values::<f64>()?.into_iter().map(|value| value as f32).collect(),
            "|u1" => file.values::<u8>()?.into_iter().map(f32::from).collect(),
            "|i1" => file.values::<i8>()?.into_iter().map(f32::from).collect(),
            "<u2" => file.values::<u16>()?.into_iter().map(f32::from).collect(),
            "<i2" => file.values::<i16>()?.into_iter().map(f32::from).collect(),
            _ => return Err(file.other("float32, float64, or integers of 8 or 16 bits")),
        };
        Ok(Self { values, columns })
    }

    /// Writes a file, in place of another only if that is `force`d.
    ///
    /// # Errors
    ///
    /// If it cannot be written.
    pub fn write(&self, path: &Path, force: bool) -> Result<(), ArrayError> {
        write(path, force, self)
    }
}

impl Array<i8> {
    /// Reads int8 codes.
    ///
    /// # Errors
    ///
    /// As [`Array::features`].
    pub fn codes(path: &Path) -> Result<Self, ArrayError> {
        let file = RowsFile::open(path)?;
        if file.descr != "|i1" {
            return Err(file.other("int8"));
        }
        let columns = file.columns;
        Ok(Self { values: file.values()?, columns })
    }

    /// Writes a file, in place of another only if that is `force`d.
    ///
    /// # Errors
    ///
    /// If it cannot be written.
    pub fn write(&self, path: &Path, force: bool) -> Result<(), ArrayError> {
        write(path, force, self)
    }
}

/// A file of rows whose header was read.
struct RowsFile<'a> {
    path: &'a Path,
    header: NpyHeader,
    /// The values' bytes.
    bytes: Vec<u8>,
    /// Their type.
    descr: String,
    columns: usize,
}

impl<'a> RowsFile<'a> {
    fn open(path: &'a Path) -> Result<Self, ArrayError> {
        let bytes = fs::read(path).map_err(|error| ArrayError::Io(path.into(), error))?;
        let damaged = |_| ArrayError::Damaged(path.into());
        let mut rest = &bytes[..];
        let header = NpyHeader::from_reader(&mut rest).map_err(damaged)?;
        let shape: Result<Vec<usize>, _> = header.shape().iter().map(|&length| length.try_into()).collect();
        let shape = shape.map_err(|_| ArrayError::Damaged(path.into()))?;
        let columns = shape.iter().skip(1).product();
        if shape.len() < 2 || columns == 0 || header.order() != Order::C {
            return Err(ArrayError::Shape(path.into(), shape));
        }
        let descr = header.dtype().descr().trim_matches('\'').to_owned();
        Ok(Self { path, bytes: rest.to_vec(), header, descr, columns })
    }

    /// The values, if there are as many as the header says.
    fn values<T: Deserialize>(self) -> Result<Vec<T>, ArrayError> {
        let mut rest = &self.bytes[..];
        let values = NpyFile::with_header(self.header, &mut rest).into_vec();
        values.ok().filter(|_| rest.is_empty()).ok_or(ArrayError::Damaged(self.path.into()))
    }

    fn other(&self, needed: &'static str) -> ArrayError {
        ArrayError::Type(self.path.into(), self.descr.clone(), needed)
    }
}

fn write<T: AutoSerialize + Copy>(path: &Path, force: bool, array: &Array<T>) -> Result<(), ArrayError> {
    let shape = [array.rows().len() as u64, array.columns as u64];
    let write = || {
        let file = if force { File::create(path) } else { File::create_new(path) }?;
        let mut file = BufWriter::new(file);
        let mut writer = WriteOptions::new().default_dtype().shape(&shape).writer(&mut file).begin_nd()?;
        writer.extend(array.values.iter().copied())?;
        writer.finish()?;
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
        [&b"\x93NUMPY\x01\x00"[..], &118u16.to_le_bytes(), header.as_bytes(), values].concat()
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
