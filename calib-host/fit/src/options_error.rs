//! Why options make no sense, in a sentence that names them.

use std::fmt;

/// Why options make no sense: out of range, or not together.
///
/// The sentence names them as fields, between backticks. It is shown without these, as Rust and Python spell the fields; a command
/// line has [separate names](Self::with_names).
///
/// ```
/// use calib_fit::OptionsError;
///
/// let error = OptionsError::new("give `n` or `rows_per_bin`");
/// assert_eq!(error.to_string(), "give n or rows_per_bin");
/// let shell = error.with_names(|field| format!("--{}", field.replace('_', "-")));
/// assert_eq!(shell, "give --n or --rows-per-bin");
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OptionsError(String);

impl OptionsError {
    /// With this sentence.
    pub fn new(sentence: impl Into<String>) -> Self {
        Self(sentence.into())
    }

    /// Returns the sentence with other names of the fields.
    pub fn with_names(&self, name: impl Fn(&str) -> String) -> String {
        let parts = self.0.split('`').enumerate();
        parts.map(|(at, part)| if at % 2 == 1 { name(part) } else { part.to_owned() }).collect()
    }
}

impl fmt::Display for OptionsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.replace('`', ""))
    }
}

impl std::error::Error for OptionsError {}
