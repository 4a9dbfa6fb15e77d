//! Every bit pattern of an f32 through calib-core's tables, against a linear scan.
//!
//! Patterns are taken in ascending order, so that the scan of one score goes on where that of the one before ended: it
//! compares with every edge once a chunk, and never searches.

mod cases;
mod check;

pub use cases::{Case, cases, margin_cases};
pub use check::{CHUNK, Counts, Taken, check, near_edges};
