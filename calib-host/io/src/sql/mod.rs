//! What a database is asked, so that a calibrator is fitted where the data are.
//!
//! The queries count: see [`passes`](calib_fit::passes). They are standard SQL except for a few words, in which engines differ.
//!
//! ```
//! use calib_fit::passes::Buckets;
//! use calib_io::sql::{Dialect, Query};
//!
//! let query = Query { dialect: Dialect::DuckDb, from: "scored", score: "score", label: "label", group: None, skip_ties: false };
//! assert!(query.first_pass(Buckets::Probabilities).contains("GROUP BY fault, bucket"));
//! assert!(query.second_pass(Buckets::Probabilities, &[6553.0, 6554.0]).contains("bucket IN (6553, 6554)"));
//! ```
//!
//! With a [column of groups](Query::group) they count by group, for [a table of each](calib_fit::passes::GroupedPass).

mod dialect;
mod query;

pub use dialect::Dialect;
pub use query::{Query, is_column_of_answer};
