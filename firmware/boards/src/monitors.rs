//! What counts predictions: monitors for every table that a calibrator of the classifier may have, or none in a build without
//! them.

use calib_firmware::Watch;

/// The most bins of a table in which predictions are counted.
#[cfg(all(feature = "monitors", not(all(feature = "microbit", feature = "network"))))]
const BINS: usize = 15;

/// The most tables in which they are: a calibrator with more is not watched, and the device says so when it is asked.
#[cfg(all(feature = "monitors", not(all(feature = "microbit", feature = "network"))))]
const TABLES: usize = if crate::classifier::OUTPUTS < 10 { crate::classifier::OUTPUTS } else { 10 };

/// The monitors, in memory that is theirs: 256 bytes for each output of the classifier, and 32 more.
#[cfg(all(feature = "monitors", not(all(feature = "microbit", feature = "network"))))]
pub(crate) fn take() -> impl Watch {
    calib_firmware::Monitors::<BINS, TABLES>::new()
}

/// None: the build is without them, or the micro:bit's 16 KiB have no room for them beside a network.
#[cfg(any(not(feature = "monitors"), all(feature = "microbit", feature = "network")))]
pub(crate) fn take() -> impl Watch {
    calib_firmware::NoMonitors
}
