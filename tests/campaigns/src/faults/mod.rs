//! Power cuts, half-erased flash and forgeries against calib-core's slot store.

mod artifacts;
mod chip;
mod counters;
mod cuts;
mod flash;
mod forgeries;
mod geometry;
mod half_erased;
mod nature;
mod numbers;
mod pairs;
mod report;
mod rest;
mod rig;
mod rotations;
mod scale;
mod sequences;
mod worn;

pub(crate) use artifacts::Aligned;
pub use counters::{CounterReport, counters};
pub use cuts::{CutReport, cuts};
pub use flash::{Cut, Flash, FlashFault};
pub use forgeries::{ForgeryReport, forgeries};
pub use geometry::Geometry;
pub use half_erased::{HalfErasedReport, half_erased};
pub use nature::Nature;
pub use numbers::{NumberReport, numbers};
pub use pairs::{PairReport, pairs};
pub use rest::{RestReport, rest};
pub use rig::{Failure, Loaded, Start, Store, use_device};
pub use rotations::{RotationReport, rotations};
pub use scale::Scale;
pub use sequences::{SequenceReport, sequences};
pub use worn::{WornReport, worn};
