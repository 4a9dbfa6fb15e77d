//! A device whose calibrator is replaced over the serial line.

use calib_core::{Admission, ArtifactBuffer};
use calib_firmware::{Alarm, Classifier, Updater, serve_updatable};

use crate::board::{self, Board};
use crate::classifier::{ALARM_RULE, CLASSIFIER};
use crate::trust;

/// The longest calibrator is of 8 KB; there are two buffers of that.
const WORDS: usize = 2048;

/// Answers the host for good.
pub(crate) fn run(board: Board) -> ! {
    let Board { mut frames, alarm, meter, entropy } = board;
    let Ok(alarm) = Alarm::new(alarm, ALARM_RULE);
    // SAFETY: this is called once, and nothing else uses the slots.
    let flash = unsafe { board::flash() };
    let admission = Admission::new(trust::trust(), CLASSIFIER.id());
    let Ok(mut updater) = Updater::<_, _, WORDS>::open(flash, board::LAYOUT, admission, CLASSIFIER.kind())
    else {
        panic!("the slots do not fit the flash");
    };
    let mut buffer = ArtifactBuffer::new();
    match serve_updatable(&mut frames, (&CLASSIFIER, alarm, meter, entropy), &mut updater, &mut buffer) {
        Ok(()) => panic!("the line ended"),
        Err(_) => panic!("the line or the pin failed"),
    }
}
