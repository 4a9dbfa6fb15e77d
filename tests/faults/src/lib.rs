//! Power cuts, half-erased flash and forgeries against calib-core's slot store.

mod artifacts;
mod cuts;
mod flash;
mod forgeries;
mod geometry;
mod half_erased;
mod pairs;
mod report;
mod scale;
mod worn;

pub use cuts::{CutReport, cuts};
pub use flash::{Cut, Flash, PowerCut};
pub use forgeries::{ForgeryReport, forgeries};
pub use geometry::GEOMETRIES;
pub use half_erased::{HalfErasedReport, half_erased};
pub use pairs::{PairReport, pairs};
pub use scale::Scale;
pub use worn::{WornReport, worn};
