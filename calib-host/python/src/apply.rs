//! Applying an artifact, with the device's arithmetic.

use calib_core::artifact::Reduction;
use calib_core::{Artifact, Calibrator, Margin, QuantizedScore, Score, ScoreEncoding};
use calib_fit::apply::{Applied, Outputs, RandomWords, apply as apply_rows, apply_probs, calibrate};
use calib_fit::cancel::check_canceled;
use calib_fit::data::{CodeVectors, DataError, VectorKind};
use calib_fit::{ScoreKind, StoredArtifact, Vectors};
use numpy::{IntoPyArray, PyArray1};
use pyo3::prelude::*;

use crate::artifact::{PyArtifact, takes};
use crate::errors::{MismatchError, of_data};
use crate::floats::{Kind, Numbers, Slice};
use crate::interrupt::{alone, working};

/// So many scores are calibrated sooner than anybody interrupts.
const FEW: usize = 1 << 18;

/// So many are a part that is not divided among threads.
const ONE_PART: usize = 1 << 14;

/// Probabilities and, where not every class has one, the classes that they are of.
type ProbsAndClasses<'py> = (Bound<'py, PyArray1<f32>>, Option<Bound<'py, PyArray1<u16>>>);

/// Probabilities row by row, NaN where there is none, and the classes that they are of if not all.
#[derive(Default)]
struct Calibrated {
    probs: Vec<f32>,
    classes: Option<Vec<u16>>,
    /// The bin of each row of two classes that is calibrated; of others nothing.
    bins: Vec<u16>,
}

/// What an artifact is not for.
enum NotApplied {
    Data(DataError),
    Mismatch(&'static str),
}

impl From<DataError> for NotApplied {
    fn from(cause: DataError) -> Self {
        Self::Data(cause)
    }
}

impl NotApplied {
    fn error(&self, stored: &StoredArtifact) -> PyErr {
        match self {
            Self::Data(cause) => of_data(cause),
            Self::Mismatch(given) => {
                let artifact = stored.artifact();
                let header = artifact.header();
                MismatchError::new_err(format!(
                    "the calibrator takes {} ({} of {} classes, {}), and was given {given}",
                    takes(&artifact.calibrator()),
                    header.reduction,
                    header.classes,
                    header.encoding,
                ))
            }
        }
    }
}

/// Calibrates scores of class 1, or their codes, or vectors row by row, with the number of classes. Returns probabilities, and
/// the classes that they are of where these are not all.
#[pyfunction]
#[pyo3(signature = (artifact, kind, scores, *, classes=None, seed=0))]
pub(crate) fn apply<'py>(
    py: Python<'py>,
    artifact: &Bound<'py, PyArtifact>,
    kind: &str,
    scores: &Bound<'py, PyAny>,
    classes: Option<usize>,
    seed: u64,
) -> PyResult<ProbsAndClasses<'py>> {
    let numbers = Numbers::of(scores)?;
    let (kind, values) = (Kind::named(kind)?, numbers.borrowed()?);
    let stored = &*artifact.get().stored;
    let apply = || match quick(stored, kind, values, seed) {
        Some(probs) => Ok((probs?, None)),
        None => applied(stored, kind, values, classes, seed).map(|all| (all.probs, all.classes)),
    };
    // A lookup takes nanoseconds: few of them take less than separate threads.
    let applied = match values.len() {
        0..ONE_PART => py.detach(apply),
        ONE_PART..FEW => py.detach(|| alone(apply)),
        _ => working(py, apply)?,
    };
    let (probs, classes) = applied.map_err(|cause| cause.error(stored))?;
    Ok((probs.into_pyarray(py), classes.map(|classes| classes.into_pyarray(py))))
}

/// The probability and the bin of each row of two classes that is calibrated.
pub(crate) fn calibrated_rows(
    stored: &StoredArtifact,
    kind: Kind,
    values: Slice<'_>,
    classes: Option<usize>,
    seed: u64,
) -> PyResult<Vec<(f64, u16)>> {
    let all = applied(stored, kind, values, classes, seed).map_err(|cause| cause.error(stored))?;
    let probs = all.probs.into_iter().filter(|prob| !prob.is_nan()).map(f64::from);
    Ok(probs.zip(all.bins).collect())
}

/// The probabilities alone of binary scores, which are not copied.
fn quick(
    stored: &StoredArtifact,
    kind: Kind,
    values: Slice<'_>,
    seed: u64,
) -> Option<Result<Vec<f32>, NotApplied>> {
    let artifact = stored.artifact();
    let (Calibrator::Binary(_), Kind::Binary(ScoreKind::Probability)) = (artifact.calibrator(), kind) else {
        return None;
    };
    let scores = values.scores(ScoreKind::Probability)?;
    let probs = scores.and_then(|scores| apply_probs(&artifact, &scores, seed));
    Some(probs.map(|probs| probs.expect("the calibrator is binary")).map_err(NotApplied::Data))
}

/// Everything that is known of each row.
fn applied(
    stored: &StoredArtifact,
    kind: Kind,
    values: Slice<'_>,
    classes: Option<usize>,
    seed: u64,
) -> Result<Calibrated, NotApplied> {
    let artifact = stored.artifact();
    match (kind, values) {
        (Kind::Binary(_), Slice::I64(codes)) => {
            let encoding = artifact.header().encoding;
            if !encoding.is_quantized() {
                return Err(NotApplied::Mismatch("integer codes of one score"));
            }
            of_rows(&artifact, codes_of(codes, encoding)?[..].into(), seed, "integer codes of one score")
        }
        (Kind::Binary(kind), values) => {
            let scores = values.scores(kind).ok_or(NotApplied::Mismatch("no floats"))??;
            let scores = scores.iter().enumerate();
            match kind {
                ScoreKind::Probability => {
                    let scores: Vec<Score> = scores.map(score).collect::<Result<_, _>>()?;
                    of_rows(&artifact, scores[..].into(), seed, "one score of class 1 a row")
                }
                ScoreKind::Margin => {
                    let margins: Vec<Margin> = scores.map(margin).collect::<Result<_, _>>()?;
                    of_rows(&artifact, margins[..].into(), seed, "one margin of class 1 a row")
                }
            }
        }
        (Kind::Vectors(kind), Slice::I64(codes)) => {
            let encoding = artifact.header().encoding;
            let classes = classes.unwrap_or(2);
            let vectors = match kind {
                VectorKind::Probs => CodeVectors::new(codes, classes, encoding)?,
                VectorKind::Logits => CodeVectors::of_logits(codes, classes, encoding)?,
            };
            of_rows(&artifact, (&vectors).into(), seed, "other vectors of integer codes")
        }
        (Kind::Vectors(kind), values) => {
            let entries = values.entries().ok_or(NotApplied::Mismatch("no floats"))?;
            let vectors = Vectors::new(entries, classes.unwrap_or(2), kind)?;
            let given = match kind {
                VectorKind::Logits => "vectors of logits, or with another number of classes",
                VectorKind::Probs => "vectors of probabilities, or with another number of classes",
            };
            of_rows(&artifact, (&vectors).into(), seed, given)
        }
    }
}

fn score((row, &score): (usize, &f32)) -> Result<Score, DataError> {
    Score::new(score).map_err(|cause| DataError::Score { row, cause })
}

fn margin((row, &margin): (usize, &f32)) -> Result<Margin, DataError> {
    Margin::new(margin).map_err(|cause| DataError::Score { row, cause })
}

fn codes_of(codes: &[i64], encoding: ScoreEncoding) -> Result<Vec<QuantizedScore>, DataError> {
    let known = |(row, &code): (usize, &i64)| {
        // No code is near the ends of an i32.
        let narrow = code.clamp(i32::MIN.into(), i32::MAX.into()) as i32;
        QuantizedScore::new(encoding, narrow).map_err(|cause| DataError::Code { row, class: 1, code, cause })
    };
    codes.iter().enumerate().map(known).collect()
}

fn prob(row: &Applied) -> f32 {
    row.outcome.calibrated().map_or(f32::NAN, |calibrated| calibrated.prob)
}

/// Rows between two looks at whether someone interrupts.
const ROWS: usize = 1 << 10;

/// What is said of rows, unless they are what was `given` in place of what the artifact takes.
fn of_rows(
    artifact: &Artifact<'_>,
    outputs: Outputs<'_>,
    seed: u64,
    given: &'static str,
) -> Result<Calibrated, NotApplied> {
    if artifact.header().method.has_no_calibrator() {
        return Err(NotApplied::Mismatch(given));
    }
    if artifact.header().reduction == Reduction::Binary {
        let rows = calibrate(artifact, outputs, RandomWords::new(artifact, seed));
        let rows = rows.map_err(|_| NotApplied::Mismatch(given))?;
        let bins = rows.iter().filter_map(|row| Some(row.outcome.calibrated()?.bin)).collect();
        return Ok(Calibrated { probs: rows.iter().map(prob).collect(), classes: None, bins });
    }
    let mut all = Calibrated::default();
    for (number, row) in apply_rows(artifact, outputs, RandomWords::new(artifact, seed)).enumerate() {
        if number.is_multiple_of(ROWS) {
            check_canceled();
        }
        let row = row.map_err(|_| NotApplied::Mismatch(given))?;
        if let Some(classes) = row.classes() {
            all.probs.extend(classes.probs.iter().map(|prob| prob.unwrap_or(f32::NAN)));
            continue;
        }
        for ranked in row.ranks() {
            all.probs.push(prob(ranked));
            all.classes.get_or_insert_default().push(ranked.class);
        }
    }
    Ok(all)
}
