//! Fitting a binary method, and what comes of it.
//!
//! Imports `stats`, `error`, `points`, `data`, `guarantee` and `binary`.

mod binary;
mod fitted;
mod steps;
mod weighted;

pub(crate) use binary::check_alpha;
pub use binary::{fit_binary, fit_device_scores};
pub use fitted::{Fit, FittedTable, Unfitted, divided, grouped_table_name, parameter_of, table_name};
pub(crate) use fitted::{of_clusters, stated_alpha};
pub use weighted::fit_weighted;
