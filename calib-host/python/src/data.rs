//! Rows as one value.

use calib_core::ScoreEncoding;
use calib_fit::artifact::CodeType;
use calib_fit::data::{self, RowGroups};
use calib_fit::dataset::{Dataset, Rows, Scores};
use calib_fit::job::{AssessError, Finding, overlap_with_fit};
use calib_fit::stats::Clusters;
use numpy::PyReadonlyArray1;
use pyo3::prelude::*;

use crate::artifact::PyArtifact;
use crate::assess::of_assess;
use crate::errors::{DataError, UsageError, name, named, of_data};
use crate::floats::{Kind, Numbers, Slice};
use crate::interrupt::working;

/// The type, the scale and the zero point of codes.
pub(crate) type Codes = (String, f32, i32);

/// Labeled rows of scores. Vectors are given row by row, with the number of classes. Integers are codes: of an artifact's encoding, or
/// of one that is named by its type, its scale and its zero point.
#[pyclass(frozen, name = "Dataset", module = "calib_host._native")]
pub(crate) struct PyDataset {
    pub(crate) data: Dataset,
}

#[pymethods]
impl PyDataset {
    #[new]
    #[pyo3(signature = (kind, scores, labels, *, classes=None, clusters=None, groups=None, artifact=None, codes=None))]
    #[expect(clippy::too_many_arguments, reason = "Python calls it by name")]
    fn new(
        py: Python<'_>,
        kind: &str,
        scores: &Bound<'_, PyAny>,
        labels: PyReadonlyArray1<'_, i64>,
        classes: Option<usize>,
        clusters: Option<PyReadonlyArray1<'_, i64>>,
        groups: Option<Vec<String>>,
        artifact: Option<&Bound<'_, PyArtifact>>,
        codes: Option<Codes>,
    ) -> PyResult<Self> {
        let numbers = Numbers::of(scores)?;
        let (kind, values, labels) = (Kind::named(kind)?, numbers.borrowed()?, labels.as_slice()?);
        let encoding = match (codes, artifact) {
            (Some((name, scale, zero_point)), _) => Some(encoding_of(&name, scale, zero_point)?),
            (None, Some(artifact)) => Some(artifact.get().stored.artifact().header().encoding),
            (None, None) => None,
        };
        let draws = artifact.is_some_and(|artifact| artifact.get().stored.artifact().is_randomized());
        let rows = Rows::new(labels)
            .clusters(clusters.map(|names| names.as_slice().map(Clusters::new)).transpose()?)
            .groups(groups.map(RowGroups::new))
            .in_any_order(!draws);
        let made = working(py, || {
            let scores = scores_of(kind, values, classes.unwrap_or(2), encoding)?;
            Dataset::new(scores, rows)
        })?;
        Ok(Self { data: made.map_err(|cause| of_data(&cause))? })
    }

    /// Whether an artifact was fitted to these rows, all or some; refuses them if it was to most, unless such were asked for.
    fn is_of_the_fit(&self, artifact: &Bound<'_, PyArtifact>, same_rows: bool) -> PyResult<bool> {
        let digest = self.data.rows_digest().map_err(|cause| DataError::new_err(cause.to_string()))?;
        let overlap = overlap_with_fit(&artifact.get().stored, &digest, None);
        match overlap.filter(|overlap| overlap.is_most() && !same_rows) {
            Some(overlap) => Err(of_assess(&AssessError::SameRows(overlap))),
            None => Ok(overlap.is_some()),
        }
    }

    /// What is doubtful about the rows, in sentences.
    fn warnings(&self) -> Vec<String> {
        // Only points on a disk could fail to be read.
        let repeats = self.data.repeats().ok().flatten().map(Finding::Dependence);
        Finding::of_rows(&self.data).iter().chain(&repeats).map(|warning| warning.with_names(name)).collect()
    }
}

impl PyDataset {
    /// What is doubtful about the scores.
    pub(crate) fn warning(&self) -> Option<String> {
        let warning = Finding::of_scores(&self.data).or_else(|| Finding::of_classes_as_scores(&self.data));
        warning.map(|warning| warning.with_names(name))
    }
}

pub(crate) fn encoding_of(name: &str, scale: f32, zero_point: i32) -> PyResult<ScoreEncoding> {
    let encoding = named::<CodeType>(name)?.encoding(scale, zero_point);
    encoding.map_err(|cause| UsageError::new_err(cause.to_string()))
}

/// Scores of a kind; integers are codes of the encoding.
pub(crate) fn scores_of(
    kind: Kind,
    values: Slice<'_>,
    classes: usize,
    encoding: Option<ScoreEncoding>,
) -> Result<Scores<'_>, data::DataError> {
    Ok(match (kind, values) {
        (Kind::Binary(kind), Slice::I64(codes)) => {
            Scores::Codes(kind, encoding.unwrap_or(ScoreEncoding::F32), codes)
        }
        (Kind::Vectors(kind), Slice::I64(codes)) => {
            Scores::CodeVectors(kind, encoding.unwrap_or(ScoreEncoding::F32), codes, classes)
        }
        (Kind::Binary(kind), values) => Scores::Binary(kind, values.scores(kind).expect("these are floats")?),
        (Kind::Vectors(kind), values) => {
            Scores::Vectors(kind, values.entries().expect("these are floats"), classes)
        }
    })
}
