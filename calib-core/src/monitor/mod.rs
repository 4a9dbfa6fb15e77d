//! Noticing that what was calibrated is no longer so, with a bounded probability of a false alarm.
//!
//! A calibrator's guarantee is for scores like those that it was fitted to. Three monitors watch whether they still come, each with
//! counters of a bin and integers alone:
//!
//! | monitor | needs | notices |
//! |---|---|---|
//! | [`ShiftMonitor`] | predictions | that scores come from another distribution than the calibration scores |
//! | [`ChangeMonitor`] | predictions, in their order | that they do from some time on, after however long without |
//! | [`GuaranteeMonitor`] | labels of some predictions | that outcomes are more or less frequent than was guaranteed |
//!
//! [`TableMonitors`] are all three of one table. The first and the last answer from their counts alone: anybody can work the same
//! [`LogEvidence`] out again from a log, and the counts of many devices add up. Evidence E against the calibrator is that of a bet
//! which is fair, or worse, while nothing is wrong: P(E is ever 1/alpha or more) <= alpha (Ville's inequality), however often one
//! looks. What is computed here is never above E.
//!
//! The bins are those of [`Reference`], whose edges are order statistics of the calibration scores. "Nothing is wrong" means that
//! every prediction is a fresh, independent draw from the population of the calibration scores: repeated readings of one patient
//! are not, and raise alarms with nothing wrong.
//!
//! This room imports [`outcome`](crate::outcome).

mod change;
mod counts;
mod evidence;
mod guarantee;
mod log_gamma;
mod log_ratio;
mod marks;
mod reference;
mod shift;
mod table;

pub use change::ChangeMonitor;
pub use evidence::LogEvidence;
pub use guarantee::GuaranteeMonitor;
pub use reference::{Reference, ReferenceError};
pub use shift::ShiftMonitor;
pub use table::TableMonitors;
