//! The headings under which options stand in help.

pub(crate) const DATA: &str = "Data";
pub(crate) const ROWS: &str = "What rows are";
pub(crate) const METHOD: &str = "Method and bins";
pub(crate) const DETAILS: &str = "Details of methods";
pub(crate) const WHOLE_VECTORS: &str = "Methods for whole vectors";
pub(crate) const GUARANTEES: &str = "Guarantees and intervals";
pub(crate) const DEVICE: &str = "The device";
pub(crate) const OUTPUT: &str = "Output";
