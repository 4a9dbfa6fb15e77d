//! Artifacts.

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use calib_core::Calibrator;
use calib_fit::StoredArtifact;
use calib_fit::artifact::{guarantee_text, score_kind, score_of_key};
use calib_fit::assess::flaws;
use calib_io::files::{OutputError, read_artifact};
use calib_io::{export, files};
use pyo3::exceptions::{PyFileExistsError, PyOSError};
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use serde_json::json;

use crate::errors::{DataError, UsageError};
use crate::table::tables;

/// An artifact: what a device reads.
#[pyclass(frozen, name = "Artifact", module = "calib_host._native")]
pub(crate) struct PyArtifact {
    pub(crate) stored: Arc<StoredArtifact>,
}

impl PyArtifact {
    pub(crate) fn new(stored: StoredArtifact) -> Self {
        Self { stored: Arc::new(stored) }
    }
}

#[pymethods]
impl PyArtifact {
    /// Checks the bytes of an artifact.
    #[new]
    fn from_bytes(bytes: &[u8]) -> PyResult<Self> {
        match StoredArtifact::from_bytes(bytes) {
            Ok(stored) => Ok(Self::new(stored)),
            Err(cause) => Err(DataError::new_err(format!("these bytes are no artifact: {cause}"))),
        }
    }

    /// Reads an artifact.
    #[staticmethod]
    fn read(path: PathBuf) -> PyResult<Self> {
        // The command says what is wrong with a file in the same words.
        let file = File::open(&path).and_then(|mut file| file.read(&mut [0]));
        file.map_err(|cause| of_system(&cause, &path))?;
        read_artifact(&path).map(Self::new).map_err(|cause| DataError::new_err(cause.to_string()))
    }

    /// Its bytes.
    fn to_bytes<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, self.stored.as_bytes())
    }

    /// Writes it; `force` replaces a file that is there.
    fn write(&self, py: Python<'_>, path: PathBuf, force: bool) -> PyResult<()> {
        write_file(py, path, self.stored.as_bytes(), force)
    }

    /// What it is and what it guarantees, as JSON.
    fn facts(&self) -> String {
        let artifact = self.stored.artifact();
        let header = artifact.header();
        let guaranteed = guarantee_text(&self.stored);
        let guarantee = header.guarantee.filter(|guarantee| guarantee.epsilon < 1.0);
        let hex = |bytes: &[u8]| bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>();
        json!({
            "method": header.method.to_string(),
            "reduction": header.reduction.to_string(),
            "encoding": header.encoding.to_string(),
            "scores": score_kind(&artifact).to_string(),
            "takes": takes(&artifact.calibrator()),
            "classes": header.classes,
            "bins": header.bins,
            "n": header.n,
            "parameters": header.provenance.parameters,
            "tool_version": header.provenance.tool_version,
            "data_sha256": hex(&header.provenance.data_sha256),
            "identity": artifact.identity().to_string(),
            "len_bytes": artifact.len_bytes(),
            "randomized": artifact.is_randomized(),
            "guarantee": guarantee.map(|guarantee| json!({
                "theorem": guarantee.theorem.to_string(),
                // The numbers that were stated: an artifact holds the nearest f32.
                "alpha": guarantee.alpha.to_string().parse::<f64>().unwrap_or_default(),
                "epsilon": guarantee.epsilon.to_string().parse::<f64>().unwrap_or_default(),
            })),
            "statement": guaranteed.statement,
            "assumptions": guaranteed.full_assumptions(),
            "limits": guaranteed.full_limits(),
            "warnings": flaws(&artifact).iter().map(ToString::to_string).collect::<Vec<_>>(),
        })
        .to_string()
    }

    /// What it says of every score, range by range, as JSON.
    fn tables(&self) -> String {
        tables(&self.stored.artifact()).to_string()
    }

    /// The score, or code, that a key of the device stands for.
    fn score_of_key(&self, key: u32) -> f64 {
        score_of_key(&self.stored.artifact(), key)
    }

    /// A header in C.
    fn export_c(&self, name: &str) -> PyResult<String> {
        export::export_c(&self.stored, name).map_err(|cause| UsageError::new_err(cause.to_string()))
    }

    /// Tables in Rust.
    fn export_rust(&self, name: &str) -> PyResult<String> {
        export::export_rust(&self.stored, name).map_err(|cause| UsageError::new_err(cause.to_string()))
    }
}

/// Writes a file in one step: there is all of it, or what was there before; `force` replaces a file that is there.
#[pyfunction]
pub(crate) fn write_file(py: Python<'_>, path: PathBuf, bytes: &[u8], force: bool) -> PyResult<()> {
    let written = py.detach(|| files::write_file(&path, force, |out| out.write_all(bytes)));
    written.map_err(|cause| match cause {
        OutputError::Exists(_) => {
            PyFileExistsError::new_err(format!("{cause}: add force=True to replace it"))
        }
        OutputError::Io { path, source } => of_system(&source, &path),
        cause => PyOSError::new_err(cause.to_string()),
    })
}

/// What the operating system refuses: Python chooses its exception by the number.
fn of_system(cause: &io::Error, path: &Path) -> PyErr {
    match cause.raw_os_error() {
        Some(code) => {
            let words = cause.to_string();
            let words = words.split(" (os error").next().unwrap_or(&words).to_owned();
            PyOSError::new_err((code, words, path.display().to_string()))
        }
        None => PyOSError::new_err(cause.to_string()),
    }
}

/// What kind of input a calibrator takes.
pub(crate) fn takes(calibrator: &Calibrator<'_>) -> &'static str {
    match calibrator {
        Calibrator::Binary(_) => "scores",
        Calibrator::BinaryMargin(_) => "margins",
        Calibrator::BinaryCode(_) => "codes",
        Calibrator::TopLabelCode(_) | Calibrator::TopLabelCodeMargin(_) => "vectors of codes",
        Calibrator::TopLabelMargin(_) => "logits",
        Calibrator::Vector(calibrator) if calibrator.needs_logits() => "logits",
        Calibrator::TopLabel(_) | Calibrator::TopK(_) | Calibrator::Vector(_) => "vectors",
        Calibrator::Grouped => "scores of groups",
        _ => "nothing",
    }
}
