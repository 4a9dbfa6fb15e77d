//! What may change in a calibrator, and what a changed one must show: a plan in a file, and whether a calibrator keeps it.
//!
//! A plan of this kind is a predetermined change control plan of the FDA, in a form that is enforced. All figures are those of
//! [`assess`](calib_fit::job::assess) and of the artifact.

mod judge;
mod lines;
mod measure;
mod plan;
mod read;

pub use judge::{Case, History, judge};
pub use lines::{Line, Reading};
pub use measure::{GroupFigures, Measured, RowFigures, measure};
pub use plan::{Accept, Change, Demands, JudgedBy, Margins, Protocol, RequiredRows, Signers};
pub(crate) use read::protocol_of_bytes;
pub use read::read_protocol;

/// A protocol to begin with: every key, with a comment.
pub const STARTER: &str = include_str!("starter.toml");
