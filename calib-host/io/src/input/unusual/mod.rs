//! Tables that are not as they should be: other dialects, other names, no header, gaps.
//!
//! What is guessed is told ([`TableNote`](options::TableNote)), and nothing is guessed that nobody asked for
//! ([`TableOptions`](options::TableOptions)).

mod class_labels;
pub(super) mod dialect;
mod drawn;
pub(super) mod gaps;
pub(super) mod labels;
pub(super) mod options;
pub(super) mod usual;
