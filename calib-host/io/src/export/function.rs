//! Scaling functions by the names of their parameters.

use calib_core::artifact::TableForm;
use calib_core::table::{MarginScaling, Scaling};

/// A scaling function of an artifact.
pub(super) struct Function {
    /// The enum of calib-core that it is of.
    pub(super) family: &'static str,
    /// Its name there.
    pub(super) kind: &'static str,
    /// Its parameters, in the order of their declaration.
    pub(super) parameters: Vec<(&'static str, f32)>,
}

impl Function {
    /// The function of a form; `None` if it is a table.
    pub(super) fn of(form: &TableForm<'_>) -> Option<Self> {
        let (family, kind, parameters): (_, _, &[_]) = match form {
            TableForm::Scaling(function) => match function.parameters() {
                Scaling::PlattLogit { a, b, clip } => {
                    ("Scaling", "PlattLogit", &[("a", a), ("b", b), ("clip", clip)])
                }
                Scaling::PlattProb { a, b } => ("Scaling", "PlattProb", &[("a", a), ("b", b)]),
                Scaling::Beta { a, b, c, clip } => {
                    ("Scaling", "Beta", &[("a", a), ("b", b), ("c", c), ("clip", clip)])
                }
                Scaling::Temperature { inverse_t, clip } => {
                    ("Scaling", "Temperature", &[("inverse_t", inverse_t), ("clip", clip)])
                }
                Scaling::Quadratic { a, b, c, clip } => {
                    ("Scaling", "Quadratic", &[("a", a), ("b", b), ("c", c), ("clip", clip)])
                }
                Scaling::Unchanged => ("Scaling", "Unchanged", &[]),
                // There is no other function.
                _ => return None,
            },
            TableForm::MarginScaling(function) => match function.parameters() {
                MarginScaling::Platt { a, b } => ("MarginScaling", "Platt", &[("a", a), ("b", b)]),
                MarginScaling::Temperature { inverse_t } => {
                    ("MarginScaling", "Temperature", &[("inverse_t", inverse_t)])
                }
                MarginScaling::Quadratic { a, b, c, scale, shift } => (
                    "MarginScaling",
                    "Quadratic",
                    &[("a", a), ("b", b), ("c", c), ("scale", scale), ("shift", shift)],
                ),
                _ => return None,
            },
            _ => return None,
        };
        Some(Self { family, kind, parameters: parameters.to_vec() })
    }
}
