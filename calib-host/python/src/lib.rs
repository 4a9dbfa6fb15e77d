//! The extension module `calib_host._native`: arrays in, arrays, artifacts and JSON out.
//!
//! What is computed, calib-host computes. The Python files beside it make arrays of whatever they are given, and objects of what
//! comes back.
#![deny(unsafe_code)]

mod apply;
mod artifact;
mod assess;
mod codes;
mod command;
mod compare;
mod data;
mod decide;
mod errors;
mod fit;
mod floats;
mod import;
mod interrupt;
mod jobs;
mod options;
mod plan;
mod report;
mod table;

use pyo3::prelude::*;

/// The extension module of calib_host.
#[pymodule]
fn _native(module: &Bound<'_, PyModule>) -> PyResult<()> {
    let py = module.py();
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    module.add("CalibError", py.get_type::<errors::CalibError>())?;
    module.add("UsageError", py.get_type::<errors::UsageError>())?;
    module.add("DataError", py.get_type::<errors::DataError>())?;
    module.add("MismatchError", py.get_type::<errors::MismatchError>())?;
    module.add_class::<artifact::PyArtifact>()?;
    module.add_class::<assess::PyHow>()?;
    module.add_class::<data::PyDataset>()?;
    module.add_function(wrap_pyfunction!(compare::compare, module)?)?;
    module.add_function(wrap_pyfunction!(report::report, module)?)?;
    module.add_function(wrap_pyfunction!(fit::fit, module)?)?;
    module.add_function(wrap_pyfunction!(apply::apply, module)?)?;
    module.add_function(wrap_pyfunction!(assess::assess, module)?)?;
    module.add_function(wrap_pyfunction!(assess::assess_calibrated, module)?)?;
    module.add_function(wrap_pyfunction!(assess::assess_vectors, module)?)?;
    module.add_function(wrap_pyfunction!(assess::calibration_curve, module)?)?;
    module.add_function(wrap_pyfunction!(codes::code_range, module)?)?;
    module.add_function(wrap_pyfunction!(import::imported, module)?)?;
    module.add_function(wrap_pyfunction!(import::imported_scaling, module)?)?;
    module.add_function(wrap_pyfunction!(artifact::write_file, module)?)?;
    module.add_function(wrap_pyfunction!(jobs::adjust, module)?)?;
    module.add_function(wrap_pyfunction!(decide::decide, module)?)?;
    module.add_function(wrap_pyfunction!(jobs::sets, module)?)?;
    module.add_function(wrap_pyfunction!(jobs::threshold, module)?)?;
    module.add_function(wrap_pyfunction!(plan::plan, module)?)?;
    module.add_function(wrap_pyfunction!(plan::plan_of_validation, module)?)?;
    module.add_function(wrap_pyfunction!(plan::plan_threshold, module)?)?;
    module.add_function(wrap_pyfunction!(plan::suitable_bins, module)?)?;
    module.add_function(wrap_pyfunction!(command::run, module)?)?;
    Ok(())
}
