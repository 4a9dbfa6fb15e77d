//! Several classes as binary problems: top-label, confidence, class-wise and top-k calibration (Gupta and Ramdas 2022).
//!
//! Imports `error`, `points`, `data`, `guarantee`, `binary` and `fit`.

mod fit;
mod options;
mod problems;
mod table;

pub use fit::fit_reduction;
pub use options::ReductionOptions;
pub use problems::Problems;
