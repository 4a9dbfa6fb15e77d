//! Why nothing was fitted to data in memory.

use std::path::Path;

use calib_fit::job::NotFitted;
use calib_io::files::Place;

use crate::error::Error;
use crate::hints::hint;

/// Whose fault it is that nothing was fitted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// What was asked for makes no sense.
    Options,
    /// The data are of no use.
    Data,
    /// The data and the calibrator do not belong together.
    Mismatch,
}

/// Why nothing was fitted: the sentence of the command, and what to do.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{sentence}{}", hint.as_ref().map_or(String::new(), |hint| format!("\n  hint: {hint}")))]
pub struct Refused {
    /// Whose fault it is.
    pub fault: Fault,
    /// Why.
    pub sentence: String,
    /// What to do about it.
    pub hint: Option<String>,
}

impl Refused {
    /// Why nothing was fitted to scores in memory, with what to do about it.
    pub fn of_fit(cause: NotFitted) -> Self {
        let [scores, reference] = ["scores", "monitor_scores"].map(|name| Place::file(Path::new(name)));
        Error::not_fitted(cause, [&scores, &scores, &reference]).into()
    }
}

impl From<Error> for Refused {
    fn from(error: Error) -> Self {
        let fault = match &error {
            Error::Data(_) => Fault::Data,
            other if other.exit_code() == 1 => Fault::Mismatch,
            other if other.exit_code() == 2 => Fault::Options,
            _ => Fault::Data,
        };
        Self { fault, sentence: error.to_string(), hint: hint(&error) }
    }
}
