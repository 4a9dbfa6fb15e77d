//! Writes NumPy arrays byte by byte, right ones and wrong ones, without the crate that reads them.

/// An array's bytes, little-endian unless `big_endian` turned them around.
#[derive(Clone, Debug)]
pub(crate) struct Npy {
    descr: String,
    shape: Vec<usize>,
    fortran: bool,
    elements: Vec<Vec<u8>>,
}

/// An array of this type, such as `<f4`, whose elements have these bytes, in row-major order.
fn array<const N: usize>(descr: &str, shape: &[usize], elements: impl IntoIterator<Item = [u8; N]>) -> Npy {
    let elements = elements.into_iter().map(|bytes| bytes.to_vec()).collect();
    Npy { descr: descr.into(), shape: shape.into(), fortran: false, elements }
}

/// A float32 array.
pub(crate) fn f32s(shape: &[usize], values: impl IntoIterator<Item = f32>) -> Npy {
    array("<f4", shape, values.into_iter().map(f32::to_le_bytes))
}

/// A float16 array from the bits of its elements.
#[cfg(feature = "arrow")]
pub(crate) fn f16s(shape: &[usize], bits: impl IntoIterator<Item = u16>) -> Npy {
    array("<f2", shape, bits.into_iter().map(u16::to_le_bytes))
}

/// A float64 array.
pub(crate) fn f64s(shape: &[usize], values: impl IntoIterator<Item = f64>) -> Npy {
    array("<f8", shape, values.into_iter().map(f64::to_le_bytes))
}

/// An int64 array of one dimension.
pub(crate) fn i64s(values: impl IntoIterator<Item = i64>) -> Npy {
    let elements: Vec<_> = values.into_iter().map(i64::to_le_bytes).collect();
    array("<i8", &[elements.len()], elements)
}

/// An int8 array.
pub(crate) fn i8s(shape: &[usize], values: impl IntoIterator<Item = i8>) -> Npy {
    array("|i1", shape, values.into_iter().map(i8::to_le_bytes))
}

/// An int16 array.
pub(crate) fn i16s(shape: &[usize], values: impl IntoIterator<Item = i16>) -> Npy {
    array("<i2", shape, values.into_iter().map(i16::to_le_bytes))
}

/// A uint16 array.
pub(crate) fn u16s(shape: &[usize], values: impl IntoIterator<Item = u16>) -> Npy {
    array("<u2", shape, values.into_iter().map(u16::to_le_bytes))
}

/// A one-dimensional array of an integer type or of booleans, from small numbers that every type can hold.
pub(crate) fn labels(descr: &str, values: &[u8]) -> Npy {
    let size: usize = descr[2..].parse().unwrap();
    let elements = values.iter().map(|&value| {
        let mut bytes = vec![0; size];
        bytes[0] = value;
        bytes
    });
    Npy { descr: descr.into(), shape: vec![values.len()], fortran: false, elements: elements.collect() }
}

/// A one-dimensional array of texts of up to eight characters, as NumPy has them: `U` of code points, `S` of bytes.
pub(crate) fn texts(kind: char, texts: &[&str]) -> Npy {
    let (descr, size) = if kind == 'U' { ("<U8", 32) } else { ("|S8", 8) };
    let elements = texts.iter().map(|text| {
        let mut bytes: Vec<u8> = match kind {
            'U' => text.chars().flat_map(|c| u32::from(c).to_le_bytes()).collect(),
            _ => text.bytes().collect(),
        };
        bytes.resize(size, 0);
        bytes
    });
    Npy { descr: descr.into(), shape: vec![texts.len()], fortran: false, elements: elements.collect() }
}

impl Npy {
    /// The same array in Fortran's memory order.
    pub(crate) fn fortran(mut self) -> Self {
        let &[rows, columns] = &self.shape[..] else { panic!("a matrix") };
        self.elements =
            (0..rows * columns).map(|i| self.elements[i % rows * columns + i / rows].clone()).collect();
        self.fortran = true;
        self
    }

    /// The same array with the other byte order.
    pub(crate) fn big_endian(mut self) -> Self {
        self.descr = self.descr.replace('<', ">");
        self.elements.iter_mut().for_each(|bytes| bytes.reverse());
        self
    }

    /// The same texts with the other order of the bytes in a code point.
    pub(crate) fn big_endian_points(mut self) -> Self {
        self.descr = self.descr.replace('<', ">");
        self.elements.iter_mut().flat_map(|bytes| bytes.chunks_mut(4)).for_each(<[u8]>::reverse);
        self
    }

    /// The same bytes under another type.
    pub(crate) fn descr(mut self, descr: &str) -> Self {
        self.descr = descr.into();
        self
    }

    /// The same elements under another shape.
    pub(crate) fn shape(mut self, shape: &[usize]) -> Self {
        self.shape = shape.into();
        self
    }

    /// The file: version 1.0, the header padded to a multiple of 64 bytes.
    pub(crate) fn bytes(&self) -> Vec<u8> {
        let sizes: String = self.shape.iter().map(|size| format!("{size}, ")).collect();
        let fortran = if self.fortran { "True" } else { "False" };
        let dict = format!("{{'descr': '{}', 'fortran_order': {fortran}, 'shape': ({sizes}), }}", self.descr);
        let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
        let header_len = (10 + dict.len() + 1).next_multiple_of(64) - 10;
        bytes.extend((header_len as u16).to_le_bytes());
        bytes.extend(format!("{dict:<width$}\n", width = header_len - 1).into_bytes());
        bytes.extend(self.elements.concat());
        bytes
    }
}
