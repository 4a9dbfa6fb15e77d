//! Fitting a calibrator to a data set.

mod auto;
mod candidates;
mod error;
mod finding;
mod fitted;
mod joint;
mod method;
mod method_name;
mod options;

pub use error::NotFitted;
pub use fitted::{Fitted, FittedModel, fit};
pub use method::ScoresOf;
pub use method_name::{
    AlarmAction, ClassScore, MethodName, NamedMethod, ReductionName, ScalingName, Smoothing, TableWidth,
};
pub use options::{FitOptions, MethodChoice, MonitorOptions, ROWS_PER_BIN};
