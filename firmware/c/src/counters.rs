//! What monitors counted, and what they say.

use calib_core::wire::{Counters, MAX_COUNTED_BINS, Persistence, Raised, Watched};

/// In `calib_evidence_t.raised`: no alert was raised.
pub const CALIB_NOT_RAISED: u8 = 0;
/// In `calib_evidence_t.raised`: an alert was raised, by the prediction or outcome `raised_at`, or by one since the evaluation before it.
pub const CALIB_RAISED_AT: u8 = 1;
/// In `calib_evidence_t.raised`: an alert was raised, by the prediction `raised_at` or an earlier one.
pub const CALIB_RAISED_BY: u8 = 2;

/// In `calib_counters_t.persistence`: the counters are only in memory.
pub const CALIB_PERSISTENCE_MEMORY_ONLY: u8 = 0;
/// In `calib_counters_t.persistence`: the journal holds all but the last `unsaved` predictions and outcomes.
pub const CALIB_PERSISTENCE_SAVED: u8 = 1;
/// In `calib_counters_t.persistence`: saving the counters to flash failed.
pub const CALIB_PERSISTENCE_FAILED: u8 = 2;
/// In `calib_counters_t.persistence`: as `CALIB_PERSISTENCE_SAVED`, but counters were lost at the last start, perhaps with an alert.
pub const CALIB_PERSISTENCE_LOST: u8 = 3;
/// In `calib_counters_t.persistence`: this header does not know it.
pub const CALIB_PERSISTENCE_OTHER: u8 = 255;

/// The most bins of a table in which predictions are counted.
pub const CALIB_COUNTED_BINS: usize = 32;
/// How many units the logarithm of e has in `calib_evidence_t`.
pub const CALIB_EVIDENCE_UNITS: i32 = 16_777_216;

const _: () = assert!(CALIB_COUNTED_BINS == MAX_COUNTED_BINS);
const _: () = assert!(CALIB_EVIDENCE_UNITS as i64 == calib_core::monitor::LogEvidence::UNITS);

/// The result of a monitor.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct calib_evidence_t {
    /// The natural logarithm of the e-value (e-CUSUM for changes), in parts of `CALIB_EVIDENCE_UNITS`.
    pub log: i64,
    /// The logarithm that an alert needs.
    pub alarm_log: i64,
    /// The e-value (e-CUSUM for changes), rounded down: a large value is evidence of a change.
    pub odds: u32,
    /// The e-value (e-CUSUM for changes) that an alert needs.
    pub alarm_odds: u32,
    /// The number of the prediction, or of the outcome, that raised the alarm, counted from 1; 0 if none was raised.
    pub raised_at: u32,
    /// `CALIB_NOT_RAISED`, `CALIB_RAISED_AT` or `CALIB_RAISED_BY`.
    pub raised: u8,
    /// Whether there is such a monitor: 0 or 1. Without a guarantee there is none of it.
    pub is_watched: u8,
    /// Always 0.
    pub reserved: [u8; 2],
}

/// What the monitors of a table counted, and their results.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct calib_counters_t {
    /// Whether scores come from another distribution than the calibration's.
    pub shift: calib_evidence_t,
    /// Whether they do from some time on; of several alarms the last.
    pub change: calib_evidence_t,
    /// Whether outcomes are as frequent as guaranteed.
    pub guarantee: calib_evidence_t,
    /// The predictions in each bin of the monitors; 0 from `bins` on.
    pub predictions: [u32; CALIB_COUNTED_BINS],
    /// The known outcomes in each bin of the calibrator's table; 0 from `outcome_bins` on.
    pub labeled: [u32; CALIB_COUNTED_BINS],
    /// How many of them were positive, or right.
    pub positives: [u32; CALIB_COUNTED_BINS],
    /// The name of the calibrator whose predictions were counted.
    pub identity: [u8; 8],
    /// With `CALIB_PERSISTENCE_SAVED` or `CALIB_PERSISTENCE_LOST`, how many predictions and outcomes of all tables were counted since all was saved.
    pub unsaved: u32,
    /// The table.
    pub table: u16,
    /// How many tables the calibrator has.
    pub tables: u16,
    /// The monitors' bins.
    pub bins: u8,
    /// The bins of the calibrator's table; 0 if they are too many for outcomes to be counted.
    pub outcome_bins: u8,
    /// `CALIB_PERSISTENCE_...`.
    pub persistence: u8,
    /// Whether a counter has reached what it can hold: 0 or 1. Nothing is counted from then on.
    pub is_full: u8,
    /// Always 0.
    pub reserved: [u8; 4],
}

impl calib_evidence_t {
    /// Of a monitor that there is not.
    const NONE: Self = Self {
        log: 0,
        alarm_log: 0,
        odds: 0,
        alarm_odds: 0,
        raised_at: 0,
        raised: CALIB_NOT_RAISED,
        is_watched: 0,
        reserved: [0; 2],
    };

    fn new(watched: &Watched) -> Self {
        let (raised, raised_at) = match watched.raised {
            None => (CALIB_NOT_RAISED, 0),
            Some(Raised::At(at)) => (CALIB_RAISED_AT, at),
            Some(Raised::By(at)) => (CALIB_RAISED_BY, at),
        };
        Self {
            log: watched.evidence.units(),
            alarm_log: watched.alarm.units(),
            odds: watched.evidence.odds(),
            alarm_odds: watched.alarm.odds(),
            raised_at,
            raised,
            is_watched: 1,
            reserved: [0; 2],
        }
    }
}

impl calib_counters_t {
    pub(crate) fn new(counters: &Counters) -> Self {
        let (persistence, unsaved) = match counters.persistence {
            Persistence::MemoryOnly => (CALIB_PERSISTENCE_MEMORY_ONLY, 0),
            Persistence::SavedExcept(unsaved) => (CALIB_PERSISTENCE_SAVED, unsaved),
            Persistence::Failed => (CALIB_PERSISTENCE_FAILED, 0),
            Persistence::Lost(unsaved) => (CALIB_PERSISTENCE_LOST, unsaved),
            _ => (CALIB_PERSISTENCE_OTHER, 0),
        };
        let outcomes = || counters.outcomes.iter();
        Self {
            shift: calib_evidence_t::new(&counters.shift),
            change: calib_evidence_t::new(&counters.change),
            guarantee: counters.guarantee.as_ref().map_or(calib_evidence_t::NONE, calib_evidence_t::new),
            predictions: filled(counters.predictions.iter().copied()),
            labeled: filled(outcomes().map(|known| known.labeled)),
            positives: filled(outcomes().map(|known| known.positives)),
            identity: counters.calibrator.0,
            unsaved,
            table: counters.table,
            tables: counters.tables,
            // There are at most 32.
            bins: counters.predictions.len() as u8,
            outcome_bins: counters.outcomes.len() as u8,
            persistence,
            is_full: counters.is_full.into(),
            reserved: [0; 4],
        }
    }
}

fn filled(numbers: impl Iterator<Item = u32>) -> [u32; CALIB_COUNTED_BINS] {
    let mut all = [0; CALIB_COUNTED_BINS];
    all.iter_mut().zip(numbers).for_each(|(place, number)| *place = number);
    all
}
