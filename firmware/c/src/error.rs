//! What functions return.

use core::ffi::{CStr, c_char};

use calib_core::ParseError;
use calib_core::slot::{InstallError, LayoutError, Refused, SlotFault};
use calib_core::wire::{CountersRefusal, Missing, Refusal};

/// Success.
pub const CALIB_OK: i32 = 0;
/// A pointer is null.
pub const CALIB_ERROR_NULL: i32 = -1;
/// A pointer is not aligned for what it points to; an artifact starts at a multiple of 4.
pub const CALIB_ERROR_ALIGNMENT: i32 = -2;
/// A length is too small, or impossible.
pub const CALIB_ERROR_LENGTH: i32 = -3;
/// Memory that is written overlaps other memory of the call, or of a state. Nothing was written.
pub const CALIB_ERROR_OVERLAP: i32 = -4;
/// The state was never opened, or its opening failed; or another calibrator was loaded into the buffer of this one since, or failed to be.
pub const CALIB_ERROR_STATE: i32 = -5;
/// A callback called a function with the state that called the callback; or the memory kept a state in use over a reset: clear it.
pub const CALIB_ERROR_BUSY: i32 = -6;
/// A number that is no named constant, or a required callback that is missing.
pub const CALIB_ERROR_ARGUMENT: i32 = -7;
/// The library was built without the feature that this needs.
pub const CALIB_ERROR_UNSUPPORTED: i32 = -8;
/// The program was compiled with the header of another library.
pub const CALIB_ERROR_VERSION: i32 = -9;
/// There is no artifact: the memory is blank.
pub const CALIB_ERROR_BLANK: i32 = -20;
/// The bytes are no artifact that this version reads, or they are damaged.
pub const CALIB_ERROR_ARTIFACT: i32 = -21;
/// The artifact is for another classifier.
pub const CALIB_ERROR_CLASSIFIER: i32 = -22;
/// The artifact is not signed with the trusted key, or another key took its place.
pub const CALIB_ERROR_SIGNATURE: i32 = -23;
/// The 32 bytes are no public key.
pub const CALIB_ERROR_KEY: i32 = -24;
/// The calibrator is not of this kind of scores or number of classes, or gives more than one probability.
pub const CALIB_ERROR_KIND: i32 = -30;
/// The calibrator accepts scores in another encoding.
pub const CALIB_ERROR_ENCODING: i32 = -31;
/// A score is not a number, infinite, or out of its range; or probabilities do not add up to 1.
pub const CALIB_ERROR_SCORE: i32 = -32;
/// The calibrator has groups, and the options name none of them.
pub const CALIB_ERROR_GROUP: i32 = -33;
/// The slots do not fit the flash, its sectors or each other.
pub const CALIB_ERROR_LAYOUT: i32 = -40;
/// A callback for the flash failed.
pub const CALIB_ERROR_FLASH: i32 = -41;
/// The flash does not hold what was written.
pub const CALIB_ERROR_READ_BACK: i32 = -42;
/// The artifact is longer than a slot, or than the buffer.
pub const CALIB_ERROR_TOO_LARGE: i32 = -43;
/// No installation into the slot was completed.
pub const CALIB_ERROR_UNCOMMITTED: i32 = -44;
/// The artifact's rollback counter is below that of the active calibrator.
pub const CALIB_ERROR_DOWNGRADE: i32 = -45;
/// The artifact has no rollback counter, which a device with a trusted key requires.
pub const CALIB_ERROR_NO_COUNTER: i32 = -46;
/// The artifact's rollback counter is that of another artifact in the slots.
pub const CALIB_ERROR_SAME_COUNTER: i32 = -47;
/// The slots are not what they were when the calibrator was loaded: load it again.
pub const CALIB_ERROR_RELOAD: i32 = -48;
/// The active calibrator cannot be made permanent, or the device's installations are used up.
pub const CALIB_ERROR_WORN: i32 = -49;
/// The artifact changed while it was installed, or a piece contradicts an earlier one.
pub const CALIB_ERROR_CHANGED: i32 = -50;
/// A piece of the artifact before this one is missing.
pub const CALIB_ERROR_GAP: i32 = -51;
/// The callback for the alarm failed.
pub const CALIB_ERROR_ALARM: i32 = -60;
/// The classifier failed, or its features are not as many finite numbers as it needs.
pub const CALIB_ERROR_CLASSIFY: i32 = -61;
/// The calibrator has no monitors, none of this table, or several probabilities for a prediction.
pub const CALIB_ERROR_NOT_MONITORED: i32 = -70;
/// The calibrator has more tables, or more bins in one, than the counters have room for.
pub const CALIB_ERROR_ROOM: i32 = -71;
/// The monitors count the predictions of another calibrator, or of none yet; or the result is of another one.
pub const CALIB_ERROR_OTHER_CALIBRATOR: i32 = -72;
/// The result has no bin that the calibrator counts outcomes of.
pub const CALIB_ERROR_BIN: i32 = -73;
/// As many outcomes are known as predictions were counted; or the result is of no prediction that was counted.
pub const CALIB_ERROR_NO_PREDICTION: i32 = -74;
/// A counter has reached what it can hold.
pub const CALIB_ERROR_FULL: i32 = -75;
/// The bytes are no saved counters of these monitors and this calibrator, or damaged.
pub const CALIB_ERROR_SAVED: i32 = -76;
/// The outcome comes too late: the outcome of a prediction is known that was counted `CALIB_TOLD_WINDOW` later, or the counters were reset since.
pub const CALIB_ERROR_LATE: i32 = -77;
/// The opposite outcome of the same prediction was reported earlier. The earlier one stays.
pub const CALIB_ERROR_TOLD: i32 = -78;
/// The result is from before the restart. A journal does not hold whether its outcome was reported, so the outcome is not counted.
pub const CALIB_ERROR_RESTARTED: i32 = -79;

/// Returns the text of an error code, in English; of any other number "unknown error". The text is constant and ends with a zero.
#[unsafe(no_mangle)]
pub const extern "C" fn calib_error_text(error: i32) -> *const c_char {
    let text: &CStr = match error {
        CALIB_OK => c"no error",
        CALIB_ERROR_NULL => c"a pointer is null",
        CALIB_ERROR_ALIGNMENT => c"a pointer is not aligned",
        CALIB_ERROR_LENGTH => c"a length is too small or impossible",
        CALIB_ERROR_OVERLAP => c"memory that is written overlaps other memory",
        CALIB_ERROR_STATE => c"the state is not open, or no longer",
        CALIB_ERROR_BUSY => c"the state is in use",
        CALIB_ERROR_ARGUMENT => c"an argument is out of range",
        CALIB_ERROR_UNSUPPORTED => c"the library was built without it",
        CALIB_ERROR_VERSION => c"the header is that of another library",
        CALIB_ERROR_BLANK => c"there is no calibrator",
        CALIB_ERROR_ARTIFACT => c"the bytes are no artifact, or damaged",
        CALIB_ERROR_CLASSIFIER => c"the artifact is for another classifier",
        CALIB_ERROR_SIGNATURE => c"the artifact is not signed with the trusted key",
        CALIB_ERROR_KEY => c"the bytes are no public key",
        CALIB_ERROR_KIND => c"the calibrator does not take such scores",
        CALIB_ERROR_ENCODING => c"the calibrator takes scores in another encoding",
        CALIB_ERROR_SCORE => c"a score is not finite or out of range",
        CALIB_ERROR_GROUP => c"the options name no group of the calibrator",
        CALIB_ERROR_LAYOUT => c"the slots do not fit the flash",
        CALIB_ERROR_FLASH => c"the flash failed",
        CALIB_ERROR_READ_BACK => c"the flash does not hold what was written",
        CALIB_ERROR_TOO_LARGE => c"the artifact is too long",
        CALIB_ERROR_UNCOMMITTED => c"no installation into the slot was completed",
        CALIB_ERROR_DOWNGRADE => c"the artifact is older than the calibrator in force",
        CALIB_ERROR_NO_COUNTER => c"the artifact has no counter",
        CALIB_ERROR_SAME_COUNTER => c"the artifact's counter was used before",
        CALIB_ERROR_RELOAD => c"the slots have changed: load again",
        CALIB_ERROR_WORN => c"the slots take no more installations",
        CALIB_ERROR_CHANGED => c"the artifact changed while it was installed",
        CALIB_ERROR_GAP => c"a piece of the artifact is missing before this one",
        CALIB_ERROR_ALARM => c"the alarm failed",
        CALIB_ERROR_CLASSIFY => c"the classifier failed, or does not take the features",
        CALIB_ERROR_NOT_MONITORED => c"the calibrator is not monitored",
        CALIB_ERROR_ROOM => c"the monitors have too little room for the calibrator, or there are none and it asks for an action on their alarms",
        CALIB_ERROR_OTHER_CALIBRATOR => c"the monitors count for another calibrator, or for none yet",
        CALIB_ERROR_BIN => c"the result has no bin of the calibrator",
        CALIB_ERROR_NO_PREDICTION => c"as many outcomes are known as predictions were counted",
        CALIB_ERROR_FULL => c"a counter is full",
        CALIB_ERROR_SAVED => c"the bytes are no saved counters of this calibrator, or damaged",
        CALIB_ERROR_LATE => c"the outcome comes too late",
        CALIB_ERROR_TOLD => c"the opposite outcome was told before",
        CALIB_ERROR_RESTARTED => c"the result is from before the restart: whether its outcome was told is unknown",
        _ => c"unknown error",
    };
    text.as_ptr()
}

/// Why something failed, as a number of the header.
pub(crate) type Result<T> = core::result::Result<T, i32>;

/// What a function returns.
pub(crate) const fn code(result: Result<()>) -> i32 {
    match result {
        Ok(()) => CALIB_OK,
        Err(error) => error,
    }
}

pub(crate) const fn of_parsing(error: ParseError) -> i32 {
    match error {
        ParseError::Blank => CALIB_ERROR_BLANK,
        ParseError::Misaligned => CALIB_ERROR_ALIGNMENT,
        _ => CALIB_ERROR_ARTIFACT,
    }
}

pub(crate) const fn of_missing(missing: Missing) -> i32 {
    match missing {
        Missing::Artifact(error) => of_parsing(error),
        Missing::OtherClassifier(_) => CALIB_ERROR_CLASSIFIER,
        Missing::Slots(faults) => of_faults(faults),
        Missing::Monitors => CALIB_ERROR_ROOM,
    }
}

const fn of_refused(refused: Refused) -> i32 {
    match refused {
        Refused::Artifact(error) => of_parsing(error),
        Refused::Signature(_) => CALIB_ERROR_SIGNATURE,
        Refused::OtherClassifier(_) => CALIB_ERROR_CLASSIFIER,
        Refused::Monitors => CALIB_ERROR_ROOM,
        _ => CALIB_ERROR_ARTIFACT,
    }
}

pub(crate) const fn of_fault(fault: SlotFault) -> i32 {
    match fault {
        SlotFault::Blank => CALIB_ERROR_BLANK,
        SlotFault::Uncommitted => CALIB_ERROR_UNCOMMITTED,
        SlotFault::TooLarge { .. } => CALIB_ERROR_TOO_LARGE,
        SlotFault::Refused(refused) => of_refused(refused),
        SlotFault::Flash => CALIB_ERROR_FLASH,
        _ => CALIB_ERROR_ARTIFACT,
    }
}

/// Of two slots without a calibrator, the fault that says more: a blank slot says least.
pub(crate) const fn of_faults([first, second]: [SlotFault; 2]) -> i32 {
    match first {
        SlotFault::Blank => of_fault(second),
        SlotFault::Uncommitted if !matches!(second, SlotFault::Blank) => of_fault(second),
        _ => of_fault(first),
    }
}

pub(crate) const fn of_layout(_: LayoutError) -> i32 {
    CALIB_ERROR_LAYOUT
}

pub(crate) fn of_install<E>(error: InstallError<E>) -> i32 {
    match error {
        InstallError::Refused(refused) => of_refused(refused),
        InstallError::Downgrade { .. } => CALIB_ERROR_DOWNGRADE,
        InstallError::TooLarge { .. } => CALIB_ERROR_TOO_LARGE,
        InstallError::OtherArtifact => CALIB_ERROR_CHANGED,
        InstallError::ReadBack { .. } => CALIB_ERROR_READ_BACK,
        InstallError::SequenceExhausted | InstallError::NoMark => CALIB_ERROR_WORN,
        InstallError::NoCounter => CALIB_ERROR_NO_COUNTER,
        InstallError::SameCounter { .. } => CALIB_ERROR_SAME_COUNTER,
        InstallError::Reload => CALIB_ERROR_RELOAD,
        _ => CALIB_ERROR_FLASH,
    }
}

pub(crate) const fn of_refusal(refusal: Refusal) -> i32 {
    match refusal {
        Refusal::FeatureCount { .. } | Refusal::Feature(_) => CALIB_ERROR_CLASSIFY,
        Refusal::Score(_) | Refusal::Logits(_) | Refusal::Probs(_) | Refusal::Code(_) => CALIB_ERROR_SCORE,
        Refusal::Encoding(_) => CALIB_ERROR_ENCODING,
        Refusal::Group(_) => CALIB_ERROR_GROUP,
        Refusal::Counters(refusal) => of_counters(refusal),
        _ => CALIB_ERROR_KIND,
    }
}

const fn of_counters(refusal: CountersRefusal) -> i32 {
    match refusal {
        CountersRefusal::Room { .. } => CALIB_ERROR_ROOM,
        CountersRefusal::OtherCalibrator(_) => CALIB_ERROR_OTHER_CALIBRATOR,
        CountersRefusal::Bin => CALIB_ERROR_BIN,
        CountersRefusal::NoPrediction => CALIB_ERROR_NO_PREDICTION,
        CountersRefusal::Full => CALIB_ERROR_FULL,
        _ => CALIB_ERROR_NOT_MONITORED,
    }
}
