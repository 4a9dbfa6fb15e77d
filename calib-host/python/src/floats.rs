//! Arrays of numbers.

use std::borrow::Cow;

use calib_fit::ScoreKind;
use calib_fit::data::{DataError, VectorKind, device_scores};
use numpy::{PyArrayDescrMethods, PyReadonlyArray1, PyUntypedArray, PyUntypedArrayMethods};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;

use crate::errors::UsageError;

/// Numbers of one of the types that scores come in, in memory without a gap.
pub(crate) enum Numbers<'py> {
    F32(PyReadonlyArray1<'py, f32>),
    F64(PyReadonlyArray1<'py, f64>),
    I64(PyReadonlyArray1<'py, i64>),
}

impl<'py> Numbers<'py> {
    pub(crate) fn of(any: &Bound<'py, PyAny>) -> PyResult<Self> {
        // Asked for what it is, and not tried as one type after the other: an error on the way may be an interrupt.
        let array = any.cast::<PyUntypedArray>()?;
        if array.ndim() != 1 {
            return Err(PyTypeError::new_err("an array of one dimension is needed"));
        }
        let (py, dtype) = (any.py(), array.dtype());
        if dtype.is_equiv_to(&numpy::dtype::<f32>(py)) {
            any.extract().map(Self::F32)
        } else if dtype.is_equiv_to(&numpy::dtype::<f64>(py)) {
            any.extract().map(Self::F64)
        } else if dtype.is_equiv_to(&numpy::dtype::<i64>(py)) {
            any.extract().map(Self::I64)
        } else {
            Err(PyTypeError::new_err("an array of the type float32, float64 or int64 is needed"))
        }
    }

    pub(crate) fn borrowed(&self) -> PyResult<Slice<'_>> {
        Ok(match self {
            Self::F32(array) => Slice::F32(array.as_slice()?),
            Self::F64(array) => Slice::F64(array.as_slice()?),
            Self::I64(array) => Slice::I64(array.as_slice()?),
        })
    }
}

/// Borrowed numbers, which threads may share.
#[derive(Clone, Copy)]
pub(crate) enum Slice<'a> {
    F32(&'a [f32]),
    F64(&'a [f64]),
    I64(&'a [i64]),
}

impl<'a> Slice<'a> {
    /// As the device has scores of this kind: copied only if they are of another type.
    pub(crate) fn scores(self, kind: ScoreKind) -> Option<Result<Cow<'a, [f32]>, DataError>> {
        match self {
            Self::F32(values) => Some(Ok(Cow::Borrowed(values))),
            Self::F64(values) => Some(device_scores(kind, values).map(Cow::Owned)),
            Self::I64(_) => None,
        }
    }

    /// The number of numbers.
    pub(crate) fn len(self) -> usize {
        match self {
            Self::F32(values) => values.len(),
            Self::F64(values) => values.len(),
            Self::I64(values) => values.len(),
        }
    }

    /// As the entries of vectors.
    pub(crate) fn entries(self) -> Option<Vec<f32>> {
        match self {
            Self::F32(values) => Some(values.to_vec()),
            Self::F64(values) => Some(values.iter().map(|&value| value as f32).collect()),
            Self::I64(_) => None,
        }
    }
}

/// What scores are.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Kind {
    Binary(ScoreKind),
    Vectors(VectorKind),
}

impl Kind {
    pub(crate) fn named(name: &str) -> PyResult<Self> {
        Ok(match name {
            "scores" => Self::Binary(ScoreKind::Probability),
            "margins" => Self::Binary(ScoreKind::Margin),
            "probs" => Self::Vectors(VectorKind::Probs),
            "logits" => Self::Vectors(VectorKind::Logits),
            _ => {
                return Err(UsageError::new_err(format!(
                    "kind={name:?}: there are \"scores\", \"margins\", \"probs\" and \"logits\""
                )));
            }
        })
    }
}
