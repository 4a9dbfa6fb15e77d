//! Assessing probabilities.

use calib_core::Artifact;
use calib_fit::assess::{
    Binning, BinningScheme, ExtremeProbs, IntervalKind, Prediction, PredictionKind, ProbMatrix, RowGroups,
    reliability,
};
use calib_fit::data::DataError as Faults;
use calib_fit::dataset::{Rows, Scores};
use calib_fit::job::{self, AssessError, AssessOptions, Assessed, Predictions};
use calib_fit::stats::Clusters;
use calib_fit::{BinaryData, Dataset};
use numpy::{IntoPyArray, PyArray1, PyReadonlyArray1};
use pyo3::prelude::*;
use serde_json::json;

use crate::artifact::PyArtifact;
use crate::data::scores_of;
use crate::errors::{DataError, MismatchError, UsageError, name, of_data};
use crate::floats::{Kind, Numbers, Slice};
use crate::interrupt::working;

/// How to assess.
#[pyclass(frozen, name = "How", module = "calib_host._native")]
pub(crate) struct PyHow(AssessOptions);

#[pymethods]
impl PyHow {
    #[new]
    #[pyo3(signature = (*, binning, n_bins, norm, alpha, resamples, intervals, seed, extreme_probs, top_k=None))]
    #[expect(clippy::too_many_arguments, reason = "Python calls it by name")]
    fn new(
        binning: &str,
        n_bins: usize,
        norm: f64,
        alpha: f64,
        resamples: usize,
        intervals: &str,
        seed: u64,
        extreme_probs: &str,
        top_k: Option<u16>,
    ) -> PyResult<Self> {
        let unknown = |cause: &dyn std::fmt::Display| UsageError::new_err(cause.to_string());
        // scikit-learn has separate names.
        let scheme: BinningScheme = match binning {
            "uniform" => BinningScheme::EqualWidth,
            "quantile" => BinningScheme::EqualMass,
            name => name.parse().map_err(|cause| unknown(&cause))?,
        };
        let binning = scheme.with_bins(n_bins);
        let intervals: IntervalKind = intervals.parse().map_err(|cause| unknown(&cause))?;
        let extremes: ExtremeProbs = extreme_probs.parse().map_err(|cause| unknown(&cause))?;
        let options = AssessOptions::default()
            .binning(binning)
            .norm(norm)
            .alpha(alpha)
            .resamples(resamples)
            .intervals(intervals)
            .seed(seed)
            .top_k(top_k)
            .extremes(extremes);
        options.check().map_err(|cause| UsageError::new_err(cause.with_names(name)))?;
        // Bins without any are refused, whatever the binning.
        match n_bins {
            0 => Err(UsageError::new_err("n_bins is 1 at least")),
            _ => Ok(Self(options)),
        }
    }
}

/// What was found, as JSON, and what is warned of.
type AssessResult = (String, Vec<String>);

/// Assesses without holding up other threads.
fn found(py: Python<'_>, assess: impl FnOnce() -> PyResult<Assessed> + Send) -> PyResult<AssessResult> {
    let found = working(py, assess)??;
    // By way of a value an f32 has the digits that the command prints.
    let mut json = json!(found);
    if let Some(warnings) = json.get_mut("warnings") {
        *warnings = found.warnings().map(|warning| warning.with_names(name)).collect();
    }
    Ok((json.to_string(), found.findings.iter().map(|finding| finding.with_names(name)).collect()))
}

/// Why nothing was assessed.
pub(crate) fn of_assess(cause: &AssessError) -> PyErr {
    match cause {
        AssessError::Options(cause) => UsageError::new_err(cause.with_names(name)),
        AssessError::NoGroups { .. } => UsageError::new_err(cause.to_string()),
        AssessError::UnknownGroup { .. } => MismatchError::new_err(cause.to_string()),
        AssessError::Mismatch(cause) => MismatchError::new_err(format!(
            "the artifact does not fit the scores\n  artifact  accepts {}\n  scores    {}",
            cause.takes.with_names(name),
            cause.got
        )),
        AssessError::SameRows(_) => DataError::new_err(format!(
            "{cause}\n  hint: evaluate on rows used for neither training nor calibration; same_rows continues anyway"
        )),
        AssessError::Data(cause) => of_data(cause),
        cause => DataError::new_err(cause.to_string()),
    }
}

/// Assesses probabilities of class 1 or, with the predicted classes, of predictions being right. `labels` are the true classes.
#[pyfunction]
#[pyo3(signature = (how, probs, labels, *, predicted=None, bins=None, clusters=None, groups=None))]
#[expect(clippy::too_many_arguments, reason = "Python calls it by name")]
pub(crate) fn assess(
    py: Python<'_>,
    how: &Bound<'_, PyHow>,
    probs: &Bound<'_, PyAny>,
    labels: PyReadonlyArray1<'_, i64>,
    predicted: Option<PyReadonlyArray1<'_, i64>>,
    bins: Option<PyReadonlyArray1<'_, u32>>,
    clusters: Option<PyReadonlyArray1<'_, i64>>,
    groups: Option<Vec<String>>,
) -> PyResult<AssessResult> {
    let options = how.get().0;
    let numbers = Numbers::of(probs)?;
    let (probs, labels) = (numbers.borrowed()?, labels.as_slice()?);
    let predicted = predicted.as_ref().map(PyReadonlyArray1::as_slice).transpose()?;
    let bins = bins.as_ref().map(PyReadonlyArray1::as_slice).transpose()?;
    let clusters = clusters.map(|clusters| clusters.as_slice().map(Clusters::new)).transpose()?;
    let groups = groups.map(RowGroups::new);
    if options.binning == Binning::ByBin && bins.is_none() {
        return Err(UsageError::new_err("binning=\"by-bin\" needs the bins, or a calibrator that has some"));
    }
    check_count(probs.len(), labels.len())?;
    check_beside(labels, "predicted classes", predicted.map(<[i64]>::len))?;
    check_beside(labels, "bins", bins.map(<[u32]>::len))?;
    check_beside(labels, "clusters", clusters.as_ref().map(Clusters::rows))?;
    check_beside(labels, "groups", groups.as_ref().map(RowGroups::rows))?;
    let needs_rows = predicted.is_some() || bins.is_some() || clusters.is_some() || groups.is_some();
    found(py, || {
        if let (Slice::F32(probs), false) = (probs, needs_rows) {
            // As the device has them: sorted sooner, and in less memory.
            let data = BinaryData::from_device_classes(probs, labels).map_err(|cause| of_data(&cause))?;
            return job::assess(&data.into(), None, &options).map_err(|cause| of_assess(&cause));
        }
        let (probs, hits) = (check_probs(probs)?, hits(labels, predicted)?);
        if !needs_rows {
            let data = BinaryData::new(probs, hits).map_err(|cause| of_data(&cause))?;
            return job::assess(&data.into(), None, &options).map_err(|cause| of_assess(&cause));
        }
        let row = |(row, (&prob, &hit)): (usize, (&f64, &bool))| Prediction {
            class: predicted.map_or(1, |classes| classes[row] as u16),
            prob,
            bin: bins.map_or(0, |bins| bins[row]),
            hit,
        };
        let rows = probs.iter().zip(&hits).enumerate().map(row).collect();
        let kind = if predicted.is_some() { PredictionKind::TopLabel } else { PredictionKind::Binary };
        let predictions = Predictions { rows, kind, uncalibrated: 0, clusters, groups };
        job::assess_predictions(&predictions, &options).map_err(|cause| of_assess(&cause))
    })
}

/// Whether each label is the predicted class, which is class 1 where none are given: there are two then.
fn hits(labels: &[i64], predicted: Option<&[i64]>) -> PyResult<Vec<bool>> {
    let refused =
        |(row, &class, classes): (usize, &i64, usize)| of_data(&Faults::Class { row, class, classes });
    let checked = |classes: usize| {
        move |(row, class): (usize, &i64)| match usize::try_from(*class) {
            Ok(known) if known < classes => Ok(()),
            _ => Err(refused((row, class, classes))),
        }
    };
    match predicted {
        Some(predicted) => {
            predicted.iter().enumerate().try_for_each(checked(u16::MAX.into()))?;
            Ok(predicted.iter().zip(labels).map(|(predicted, label)| predicted == label).collect())
        }
        None => {
            labels.iter().enumerate().try_for_each(checked(2))?;
            Ok(labels.iter().map(|&label| label == 1).collect())
        }
    }
}

/// Assesses vectors of probabilities, given row by row.
#[pyfunction]
#[pyo3(signature = (how, probs, labels, classes, *, clusters=None))]
pub(crate) fn assess_vectors(
    py: Python<'_>,
    how: &Bound<'_, PyHow>,
    probs: PyReadonlyArray1<'_, f64>,
    labels: PyReadonlyArray1<'_, u16>,
    classes: usize,
    clusters: Option<PyReadonlyArray1<'_, i64>>,
) -> PyResult<AssessResult> {
    let options = how.get().0;
    let (probs, labels) = (probs.as_slice()?, labels.as_slice()?);
    check_count(probs.len() / classes.max(1), labels.len())?;
    if let Some(row) = labels.iter().position(|&label| usize::from(label) >= classes) {
        return Err(of_data(&Faults::Class { row, class: labels[row].into(), classes }));
    }
    let clusters = clusters.map(|clusters| clusters.as_slice().map(Clusters::new)).transpose()?;
    check_beside(labels, "clusters", clusters.as_ref().map(Clusters::rows))?;
    found(py, || {
        if let Some(at) = first_improbable(probs) {
            let (row, class) = (at / classes, at % classes);
            let text = format!("row {row}, class {class}: {} is no probability in [0, 1]", probs[at]);
            return Err(DataError::new_err(text));
        }
        let matrix = ProbMatrix::new(probs.to_vec(), labels.to_vec(), classes);
        job::assess_matrix(&matrix, clusters.as_ref(), &options).map_err(|cause| of_assess(&cause))
    })
}

/// Assesses the same rows before and after calibration. `same_rows` lets those be judged that the calibrator was fitted to.
#[pyfunction]
#[pyo3(signature = (artifact, how, kind, scores, labels, *, classes=None, clusters=None, groups=None, same_rows=false))]
#[expect(clippy::too_many_arguments, reason = "Python calls it by name")]
pub(crate) fn assess_calibrated(
    py: Python<'_>,
    artifact: &Bound<'_, PyArtifact>,
    how: &Bound<'_, PyHow>,
    kind: &str,
    scores: &Bound<'_, PyAny>,
    labels: PyReadonlyArray1<'_, i64>,
    classes: Option<usize>,
    clusters: Option<PyReadonlyArray1<'_, i64>>,
    groups: Option<Vec<String>>,
    same_rows: bool,
) -> PyResult<AssessResult> {
    let options = how.get().0.same_rows(same_rows);
    let numbers = Numbers::of(scores)?;
    let stored = &*artifact.get().stored;
    let (kind, values, labels) = (Kind::named(kind)?, numbers.borrowed()?, labels.as_slice()?);
    let clusters = clusters.map(|clusters| clusters.as_slice().map(Clusters::new)).transpose()?;
    let groups = groups.map(RowGroups::new);
    check_beside(labels, "clusters", clusters.as_ref().map(Clusters::rows))?;
    check_beside(labels, "groups", groups.as_ref().map(RowGroups::rows))?;
    found(py, || {
        let artifact = stored.artifact();
        let scores = scores_for(&artifact, values, kind, classes.unwrap_or(2))?;
        let rows =
            Rows::new(labels).clusters(clusters).groups(groups).in_any_order(!artifact.is_randomized());
        let data = Dataset::new(scores, rows).map_err(|cause| of_data(&cause))?;
        job::assess(&data, Some(stored), &options).map_err(|cause| of_assess(&cause))
    })
}

/// Scores of a kind, integers as the codes that an artifact takes.
fn scores_for<'a>(
    artifact: &Artifact<'_>,
    values: Slice<'a>,
    kind: Kind,
    classes: usize,
) -> PyResult<Scores<'a>> {
    let refuse = |cause: job::Mismatch| of_assess(&cause.into());
    let (kind, encoding) = match (kind, values) {
        (Kind::Binary(kind), Slice::I64(_)) => {
            let (encoding, kind) = job::scores_encoding(artifact, kind).map_err(refuse)?;
            if !encoding.is_quantized() {
                return Err(refuse(job::mismatch(artifact, "integer codes of one score")));
            }
            (Kind::Binary(kind), Some(encoding))
        }
        (Kind::Vectors(of), Slice::I64(_)) => {
            let encoding = job::vectors_encoding(artifact, Some(of)).map_err(refuse)?;
            let none = || refuse(job::mismatch(artifact, "vectors of integer codes"));
            (kind, Some(encoding.ok_or_else(none)?.0))
        }
        _ => (kind, None),
    };
    scores_of(kind, values, classes, encoding).map_err(|cause| of_data(&cause))
}

/// Observed frequencies and mean probabilities of the bins that hold predictions.
type Curve<'py> = (Bound<'py, PyArray1<f64>>, Bound<'py, PyArray1<f64>>);

/// The points of a reliability diagram.
#[pyfunction]
pub(crate) fn calibration_curve<'py>(
    py: Python<'py>,
    probs: PyReadonlyArray1<'py, f64>,
    hits: PyReadonlyArray1<'py, bool>,
    strategy: &str,
    n_bins: usize,
) -> PyResult<Curve<'py>> {
    let binning = match (strategy, n_bins) {
        (_, 0) => return Err(UsageError::new_err("n_bins is 1 at least")),
        ("uniform" | "equal-width", _) => Binning::EqualWidth(n_bins),
        ("quantile" | "equal-mass", _) => Binning::EqualMass(n_bins),
        _ => {
            return Err(UsageError::new_err(format!(
                "strategy={strategy:?}: there are \"uniform\" and \"quantile\""
            )));
        }
    };
    let (probs, hits) = (probs.as_slice()?, hits.as_slice()?);
    check_count(probs.len(), hits.len())?;
    check_unit(probs)?;
    let bins = working(py, || reliability(probs, hits, binning, 0.05))?;
    let rates: Vec<f64> = bins.iter().map(|bin| bin.rate).collect();
    let means: Vec<f64> = bins.iter().map(|bin| bin.mean_prob).collect();
    Ok((rates.into_pyarray(py), means.into_pyarray(py)))
}

/// That there are rows, and a label for each.
fn check_count(scores: usize, labels: usize) -> PyResult<()> {
    if scores == 0 {
        return Err(of_data(&Faults::Empty));
    }
    match scores == labels {
        true => Ok(()),
        false => Err(of_data(&Faults::LabelCount { scores, labels })),
    }
}

/// That what is given beside the labels is given for each.
fn check_beside<L>(labels: &[L], what: &str, len: Option<usize>) -> PyResult<()> {
    match len {
        Some(len) if len != labels.len() => {
            Err(DataError::new_err(format!("{len} {what} but {} labels", labels.len())))
        }
        _ => Ok(()),
    }
}

/// That all are probabilities.
fn check_probs(probs: Slice<'_>) -> PyResult<Vec<f64>> {
    let probs: Vec<f64> = match probs {
        Slice::F32(probs) => probs.iter().map(|&prob| prob.into()).collect(),
        Slice::F64(probs) => probs.to_vec(),
        Slice::I64(_) => return Err(DataError::new_err("integers are no probabilities")),
    };
    check_unit(&probs).map(|()| probs)
}

/// That all are in `[0, 1]`.
fn check_unit(probs: &[f64]) -> PyResult<()> {
    match first_improbable(probs) {
        Some(at) => Err(DataError::new_err(format!("row {at}: {} is no probability in [0, 1]", probs[at]))),
        None => Ok(()),
    }
}

/// The first number that is no probability.
fn first_improbable(probs: &[f64]) -> Option<usize> {
    probs.iter().position(|prob| !(0.0..=1.0).contains(prob))
}
