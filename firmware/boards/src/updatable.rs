//! A device whose calibrator is replaced over the serial line.

use calib_core::{Admission, ArtifactBuffer};
use calib_firmware::{Alarm, Classifier, Report, Updater, Watch as _, serve_updatable};

use crate::board::{self, Board};
use crate::classifier::{ALARM_RULE, CLASSIFIER};
use crate::{monitors, trust};

/// Answers the host for good.
pub(crate) fn run(board: Board) -> ! {
    let Board { mut frames, alarm, meter, entropy } = board;
    let Ok(alarm) = Alarm::new(alarm, ALARM_RULE);
    // SAFETY: this is called once, and nothing else uses the slots.
    let flash = unsafe { board::flash() };
    let mut monitors = monitors::take();
    let admission = Admission::new(trust::trust(), CLASSIFIER.id()).watched(monitors.room());
    let (mut staged, mut buffer) = (ArtifactBuffer::<{ board::WORDS }>::new(), ArtifactBuffer::new());
    let Ok(mut updater) = Updater::open(flash, board::LAYOUT, admission, CLASSIFIER.task(), &mut staged)
    else {
        panic!("the slots do not fit the flash");
    };
    let parts = (&CLASSIFIER, alarm, meter, entropy, &mut monitors);
    match serve_updatable(&mut frames, parts, &mut updater, &mut buffer, on_report) {
        Ok(()) => panic!("the line ended"),
        Err(_) => panic!("the line or the pin failed"),
    }
}

/// Leaves a report where a debug probe finds it.
#[cfg(feature = "nrf")]
fn on_report(report: &Report) {
    use vcell::VolatileCell;
    unsafe extern "C" {
        static __calib_report_start: VolatileCell<u8>;
    }
    let first = &raw const __calib_report_start;
    // SAFETY: `memory.x` leaves that many bytes of memory to the report; only this and a probe write them.
    let cells = unsafe { core::slice::from_raw_parts(first, report.len()) };
    cells.iter().zip(report).for_each(|(cell, &byte)| cell.set(byte));
}

/// The board has no address for it that the host knows.
#[cfg(not(feature = "nrf"))]
fn on_report(_: &Report) {}
