//! What commands show, as text and as JSON.

mod applied;
mod artifact;
mod assessed;
mod assessment;
mod clinical;
mod comparison;
#[cfg(feature = "serial")]
mod counters;
mod decided;
#[cfg(feature = "serial")]
mod device;
mod first_figures;
mod fit;
mod fleet;
mod form;
mod groups;
mod joint;
mod monitors;
mod operating;
mod recalibrated;
mod rule;
mod screen;
mod sets;
#[cfg(any(feature = "serial", feature = "probe"))]
mod slots;
mod threshold;
mod verified;
mod warnings;

pub(crate) use applied::AppliedColumns;
pub(crate) use artifact::{artifact_json, print_artifact};
pub(crate) use assessed::assessed;
pub(crate) use assessment::class_names;
pub(crate) use comparison::comparison;
#[cfg(feature = "serial")]
pub(crate) use counters::{counter_warnings, counter_words, counters_json, print_counters};
pub(crate) use decided::print;
#[cfg(feature = "serial")]
pub(crate) use device::{device_json, print_device, print_protocol, slots_json, standing_json};
pub(crate) use fit::ShownFit;
pub(crate) use fleet::ShownFleet;
pub(crate) use joint::{joint_json, joint_lines};
pub(crate) use monitors::{action_words, guarantee_and_monitors};
pub(crate) use operating::thresholds;
pub(crate) use recalibrated::ShownRecalibration;
pub(crate) use screen::print_screen;
pub(crate) use sets::sets;
#[cfg(feature = "probe")]
pub(crate) use slots::slot_json;
pub(crate) use verified::verified;
pub(crate) use warnings::Warnings;
