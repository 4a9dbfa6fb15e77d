//! What the counters of many devices say together.
//!
//! A device's [monitors](calib_core::monitor) answer from counts alone, and counts of devices with the same calibrator add up: what
//! none of them sees, all of them may. Here the evidence is computed again from counts, in doubles and by the definition, so that
//! it also tells whether an answer of a device was right.
//!
//! Which devices are added, and when, must depend neither on their scores nor on their counts, labels or alarms: the most
//! suspicious ones alone are always suspicious. A device that is lost or replaced keeps its last counters in the sum.
//!
//! A [log](LogLine) says in which order a device counted and what it answered, and a [verifier](LogVerifier) works the answers out again.
//!
//! With the outcomes of the whole fleet the active calibrator [gets new values](recalibrated).
//!
//! Imports `stats`, `error`, `binary`, `fit` and `artifact`.

mod aggregate;
mod counters;
mod error;
mod evidence;
mod log;
mod log_error;
mod recalibrate;
mod verify;

pub use aggregate::{DeviceEvidence, FleetBin, FleetTable, aggregate};
pub use counters::{COUNTERS_VERSION, DeviceCounters, TableCounters};
pub use error::FleetError;
pub use evidence::{Evidence, EvidenceLevel, e_value, guarantee_evidence, shift_evidence};
pub use log::{
    LOG_VERSION, LOOKS_EVERY, LOOKS_WHEN_SAVED, LogBegin, LogLine, LogReset, LoggedAnswer, LoggedCounters,
    LoggedOutcomes, LoggedPredictions, MonitorName,
};
pub use log_error::LogError;
pub use recalibrate::{RecalibrateError, Recalibrated, RecalibratedBin, Recalibration, recalibrated};
pub use verify::{LogVerifier, VerifiedDevice, VerifiedTable};
