//! From a fit to the bytes that a device reads, and what can be said of such bytes: size, cost, and what they promise.
//!
//! Imports `stats`, `guarantee`, `binary`, `fit` and `joint`.

mod advice;
mod compact;
mod cost;
mod error;
mod joint;
mod options;
mod over_codes;
mod promise;
mod stored;
mod tables;
mod write;

pub use advice::{VacuousBins, points_for_a_useful_epsilon};
pub use cost::{CallInput, CoreCost, CostBasis, DeviceCost, device_costs};
pub use error::{CodesError, CompileError, MAX_CODE_STEPS};
pub use joint::joint_artifact_bytes;
pub use options::{ArtifactOptions, identity};
pub use promise::{cluster_rows, points, promise};
pub use stored::{SECTION_HEAD_LEN, StoredArtifact};
pub use tables::artifact_bytes;
pub(crate) use write::written;
