//! The classifiers of the demonstration and of the end-to-end tests, trained on real data,
//! and on people who are simulated.
//!
//! A [`NetworkCase`] is a quantized network that was trained elsewhere, with its rows.
//!
//! A [`Case`] is a trained [`LinearModel`](calib_classifier::linear::LinearModel) with the rows that it has not seen. Nothing here knows
//! of calibrators, boards and emulators.

mod case;
mod network;
mod screening;
mod train;

pub use case::{Case, Rows, SEED};
pub use network::{CodedRows, NetworkCase};
pub use screening::Screening;
