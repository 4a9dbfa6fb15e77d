//! How a file is read, by its start: its format, its dialect, its header, the names of its columns.
//!
//! Every guess is reported ([`TableNote`](options::TableNote)), and only [`TableOptions`](options::TableOptions) that ask for guesses get
//! them.

mod class_labels;
pub(super) mod column_aliases;
pub(super) mod detect;
pub(super) mod dialect;
pub(super) mod labels;
mod missing;
pub(super) mod options;
pub(super) mod points;
