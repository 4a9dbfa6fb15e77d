//! A classifier, its calibrator and an alarm on a microcontroller, independent of the board.
//!
//! A board brings a serial port, a pin, a timer, a source of random words and the bytes of its calibrator slot; a
//! user brings a [`Classifier`]. A [`Device`] joins them, and [`serve`] answers the host's questions until the line fails.
//! A board with its own flash has two slots instead: an [`Updater`] replaces the calibrator over the line, while
//! [`serve_updatable`] answers from the active one; [`serve_async`] does so in Embassy. [`Monitors`] count what is predicted, and
//! notice that it is no longer like the calibration.
//!
//! ```
//! use calib_core::{ClassifierId, Score, wire::Refusal};
//! use calib_firmware::{Classifier, Features, Task, Output, Scratch};
//!
//! /// Class 1 is as likely as its only feature says.
//! struct Thermometer;
//!
//! impl Classifier for Thermometer {
//!     fn name(&self) -> &str {
//!         "thermometer"
//!     }
//!
//!     fn id(&self) -> ClassifierId {
//!         ClassifierId(*b"thermo01")
//!     }
//!
//!     fn feature_count(&self) -> u16 {
//!         1
//!     }
//!
//!     fn task(&self) -> Task {
//!         Task::Binary
//!     }
//!
//!     fn classify<'s>(&self, features: Features<'_>, _: &'s mut Scratch) -> Result<Output<'s>, Refusal> {
//!         let hot = features.iter().all(|&degrees_celsius| degrees_celsius > 38.0);
//!         Ok(Output::Score(if hot { Score::ONE } else { Score::ZERO }))
//!     }
//! }
//! ```
//!
//! # What this crate does not do
//!
//! It never fits a calibrator, drives flash, allocates, or touches registers, and it never turns a score into an alarm: without a calibrated probability the alarm stays raised.
//!
//! # Features
//!
//! * `defmt`: logs the calibrator at the start, every prediction, and every damaged frame.
//! * `ed25519`: adds calib-core's `TrustedKey`, for devices that accept only signed calibrators.
#![no_std]
#![forbid(unsafe_code)]

#[cfg(test)]
extern crate std;

mod alarm;
mod classifier;
mod device;
mod entropy;
mod features;
mod linear;
mod log;
mod meter;
mod monitors;
mod persistent;
mod report;
mod serve;
mod serve_async;
mod slot;
#[cfg(test)]
mod testing;
mod update;
mod watch;

pub use alarm::Alarm;
pub use calib_core::AlarmRule;
pub use calib_core::predict::{Output, Task};
pub use classifier::{Classifier, Scratch};
pub use device::Device;
pub use entropy::{Entropy, NoEntropy};
pub use features::Features;
pub use linear::{LinearClassifier, LinearLayer, linear_output};
pub use meter::Meter;
pub use monitors::{LOOK_EVERY, Monitors};
pub use persistent::PersistentMonitors;
pub use report::Report;
pub use serve::{ServeError, push_byte, push_byte_with, serve, serve_updatable};
pub use serve_async::serve_async;
pub use slot::Slot;
pub use update::{NoUpdate, Update, Updater};
pub use watch::{NoMonitors, Watch};
