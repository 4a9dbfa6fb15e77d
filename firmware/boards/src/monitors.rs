//! What counts predictions: monitors for every table that a calibrator of the classifier may have, or none in a build without
//! them.

use calib_firmware::Watch;

/// The most bins of a table in which predictions are counted.
#[cfg(monitored)]
const BINS: usize = 15;

/// The most tables in which they are: a calibrator with more is not watched, and the device says so when it is asked.
#[cfg(monitored)]
const TABLES: usize = if crate::classifier::OUTPUTS < 10 { crate::classifier::OUTPUTS } else { 10 };

/// After how many predictions all counters are saved: what is lost with the power, how long the flash lasts, and how soon an alarm is seen. With 1
/// the bound on false alarms holds against whoever sees each prediction and has the switch, too.
#[cfg(all(monitored, feature = "slots"))]
const SAVE_EVERY: u32 = 64;

/// The monitors, in memory that is theirs: 256 bytes for each output of the classifier, and 40 more.
#[cfg(all(monitored, not(feature = "slots")))]
pub(crate) fn take() -> impl Watch {
    calib_firmware::Monitors::<BINS, TABLES>::new()
}

/// The same, which saves its counters in sectors beside the slots. Once: nothing else takes them.
#[cfg(all(monitored, feature = "slots"))]
pub(crate) fn take() -> impl Watch {
    use crate::board;
    // The sectors of every board have this many bytes or more.
    const { assert!(board::COUNTERS.records(4096, calib_firmware::Monitors::<BINS, TABLES>::WORDS + 1) > 1) }
    // SAFETY: this is called once. Nothing is done in these sectors while the slots are worked on: there is one thread.
    let flash = unsafe { board::counters() };
    match calib_firmware::PersistentMonitors::<_, BINS, TABLES>::open(flash, board::COUNTERS, SAVE_EVERY) {
        Ok(monitors) => monitors,
        Err(_) => panic!("the counters do not fit their sectors"),
    }
}

/// None: the build is without them.
#[cfg(not(monitored))]
pub(crate) fn take() -> impl Watch {
    calib_firmware::NoMonitors
}
