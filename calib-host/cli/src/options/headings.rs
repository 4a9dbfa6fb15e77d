//! The headings of options in help.

pub(crate) const DATA: &str = "Data";
pub(crate) const ROWS: &str = "Rows, groups and weights";
pub(crate) const METHOD: &str = "Method and bins";
pub(crate) const DETAILS: &str = "Method parameters";
pub(crate) const WHOLE_VECTORS: &str = "Methods for whole vectors";
pub(crate) const GUARANTEES: &str = "Guarantees and intervals";
pub(crate) const DEVICE: &str = "The device";
pub(crate) const OUTPUT: &str = "Output";
