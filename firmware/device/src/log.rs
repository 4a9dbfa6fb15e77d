//! What the firmware logs, with the feature `defmt`.

use calib_core::Outcome;
use calib_core::wire::{CalibratorStatus, FrameError, Missing, Refusal, ScoreEcho};

/// A line through defmt; without it the arguments are only type-checked.
macro_rules! log {
    ($level:ident, $format:literal $(, $arg:expr)*) => {{
        #[cfg(feature = "defmt")]
        defmt::$level!($format $(, $arg)*);
        #[cfg(not(feature = "defmt"))]
        { $( let _ = &$arg; )* }
    }};
}

pub(crate) fn start(name: &str, calibrator: Result<CalibratorStatus, Missing>) {
    match calibrator {
        Ok(held) => {
            let epsilon = held.guarantee.map(|guarantee| guarantee.epsilon);
            let (identity, bins, n) = (held.identity.0, held.bins, held.n);
            log!(
                info,
                "{=str}: calibrator {=[u8]:02x}, {} bins, n {}, epsilon {}",
                name,
                identity,
                bins,
                n,
                epsilon
            );
        }
        Err(missing) => log!(info, "{=str}: uncalibrated: {}", name, missing),
    }
}

/// The reply to a request is written, to the last byte.
pub(crate) fn answered(id: u32) {
    log!(trace, "answered {}", id);
}

pub(crate) fn prediction(class: u16, score: ScoreEcho, outcome: Outcome, alarm: bool) {
    // A code and its top-two margin are logged as the integers that they are: an f32 holds them exactly.
    let score = match score {
        ScoreEcho::F32(score) => score.get(),
        ScoreEcho::Margin(margin) => margin.get(),
        ScoreEcho::Code(key) | ScoreEcho::Top2Margin(key) => key.into(),
    };
    match outcome {
        Outcome::Calibrated(calibrated) => {
            let (prob, bin) = (calibrated.prob, calibrated.bin);
            log!(debug, "class {} score {} prob {} bin {} alarm {}", class, score, prob, bin, alarm);
        }
        Outcome::Uncalibrated(reason) => {
            log!(debug, "class {} score {} uncalibrated: {} alarm {}", class, score, reason, alarm);
        }
    }
}

pub(crate) fn refused(refusal: Refusal) {
    log!(warn, "refused: {}", refusal);
}

pub(crate) fn dropped(error: FrameError) {
    log!(warn, "frame dropped: {}", error);
}

/// A monitor of a table raises its alarm, with this prediction or outcome.
pub(crate) fn alarm(monitor: &str, table: usize, at: u32) {
    log!(warn, "monitor of {=str}: alarm of table {} at {}", monitor, table, at);
}

/// What was saved cannot be read.
pub(crate) fn counters_lost() {
    log!(warn, "the saved counters cannot be read: counting begins anew");
}

/// Counters are in memory alone.
pub(crate) fn not_saved() {
    log!(warn, "counters were not saved: the flash failed");
}
