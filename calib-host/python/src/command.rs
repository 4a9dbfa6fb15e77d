//! The command `calib`.

use std::ffi::OsString;
use std::io::Write;

use calib_cli::run_from;
use pyo3::prelude::*;

/// Runs the command `calib` with these words, the first of which is its name, and returns the exit code. It may end the process.
#[pyfunction]
pub(crate) fn run(py: Python<'_>, words: Vec<OsString>) -> u8 {
    py.detach(|| {
        let code = run_from(words);
        // A failure to write was told before; the last line may be without its end.
        let _ = std::io::stdout().flush();
        code
    })
}
