//! What is said of one output of the classifier.

use calib_core::decision::{ClassSet, Verdict};
use calib_core::predict::{Output, Prediction, Query, Ranked};
use calib_core::{Identity, Outcome, Uncalibrated};

use crate::error::{CALIB_ERROR_ARGUMENT, Result};
use crate::memory;
use crate::monitors::calib_monitors_t;

/// In `calib_result_t.reason`: there is no result, because the call failed or there was no call. It is 0, so a cleared result has this reason.
pub const CALIB_NO_RESULT: u8 = 0;
/// In `calib_result_t.reason`: there is a calibrated probability.
pub const CALIB_CALIBRATED: u8 = 1;
/// In `calib_result_t.reason`: no table could be fitted for the class.
pub const CALIB_NO_CLASS: u8 = 2;
/// In `calib_result_t.reason`: there is no calibrator.
pub const CALIB_NO_ARTIFACT: u8 = 3;
/// In `calib_result_t.reason`: the calibrator is damaged.
pub const CALIB_BAD_ARTIFACT: u8 = 4;
/// In `calib_result_t.reason`: the calibrator is for another classifier.
pub const CALIB_OTHER_CLASSIFIER: u8 = 5;
/// In `calib_result_t.reason`: no calibration point is in the score's bin.
pub const CALIB_EMPTY_BIN: u8 = 6;
/// In `calib_result_t.reason`: every class has the probability 0.
pub const CALIB_ZERO_SUM: u8 = 7;
/// In `calib_result_t.reason`: there are only thresholds or prediction sets, and no probability.
pub const CALIB_NO_TABLE: u8 = 8;
/// In `calib_result_t.reason`: the monitors raised an alert, and the calibrator requires no probability after an alert.
pub const CALIB_ALARMED: u8 = 9;
/// In `calib_result_t.reason`: the calibrator requires monitors, and the device has none, or too little memory for its tables.
pub const CALIB_NOT_MONITORED: u8 = 10;
/// In `calib_result_t.reason`: a reason that this header does not know.
pub const CALIB_OTHER_REASON: u8 = 255;

/// A bit of `calib_result_t.flags`: the bin holds no calibration point.
pub const CALIB_FLAG_EMPTY: u8 = 1;
/// A bit of `calib_result_t.flags`: the probability was divided by the sum over all classes.
pub const CALIB_FLAG_SHARED_OUT: u8 = 2;
/// A bit of `calib_result_t.flags`: the score is outside the range of the calibration rows.
pub const CALIB_FLAG_OUT_OF_RANGE: u8 = 4;
/// A bit of `calib_result_t.flags`: `bin` is a range of the score, and the interval holds the event rate of the range, whatever the calibrator.
pub const CALIB_FLAG_RANGE: u8 = 8;

/// In `calib_result_t.alarm`: the rule raises the alarm, or there is no probability. It is 0, so a cleared result raises the alarm.
pub const CALIB_ALARM_RAISED: u8 = 0;
/// In `calib_result_t.alarm`: the rule does not raise the alarm.
pub const CALIB_ALARM_CLEAR: u8 = 1;
/// In `calib_result_t.alarm`: the artifact has no rule; the caller decides by the probability.
pub const CALIB_ALARM_NO_RULE: u8 = 2;

/// In `calib_result_t.verdict`: the artifact has no thresholds.
pub const CALIB_VERDICT_NONE: u8 = 0;
/// In `calib_result_t.verdict`: below the lower threshold.
pub const CALIB_VERDICT_NEGATIVE: u8 = 1;
/// In `calib_result_t.verdict`: between the thresholds.
pub const CALIB_VERDICT_REFER: u8 = 2;
/// In `calib_result_t.verdict`: from the upper threshold up.
pub const CALIB_VERDICT_POSITIVE: u8 = 3;

/// In `calib_result_t.action`: the artifact has no decision rule.
pub const CALIB_NO_ACTION: u8 = 255;

/// Words of a set of classes.
pub const CALIB_SET_WORDS: usize = 4;

/// The result for one output of the classifier. Plain data without pointers, safe to copy.
///
/// A call that fails leaves `CALIB_NO_RESULT` here, with the alarm raised and without a probability, unless the place itself is at fault.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct calib_result_t {
    /// The calibrated probability of class 1 of two, otherwise that the predicted class is right. Not a number unless `reason` is
    /// `CALIB_CALIBRATED`, so that a comparison with it is false.
    pub prob: f32,
    /// The guaranteed bound on the difference between `prob` and the event frequency of the bin; not a number without a guarantee. It fails with
    /// probability at most `calib_info_t.alpha`.
    pub epsilon: f32,
    /// The lower end of the probability's interval; meaningful if `has_interval` is 1.
    pub interval_low: f32,
    /// The upper end of the probability's interval.
    pub interval_high: f32,
    /// The prediction set, if `has_set` is 1: class `c` is bit `c % 32` of word `c / 32`.
    pub set: [u32; CALIB_SET_WORDS],
    /// The name of the calibrator; zeros if there is none.
    pub identity: [u8; 8],
    /// The number of the prediction, which no other prediction that the monitors counted has: from 1 on, and with a journal behind all numbers of
    /// earlier starts. 0 if it was not counted, or if the journal could not reserve a number. `calib_monitors_tell` knows the prediction by it.
    pub number: u32,
    /// The predicted class; 1 of a binary calibrator.
    pub class_index: u16,
    /// The bin of the score.
    pub bin: u16,
    /// `CALIB_CALIBRATED`, or why there is no probability.
    pub reason: u8,
    /// Bits `CALIB_FLAG_...`.
    pub flags: u8,
    /// Whether there is an interval: 0 or 1.
    pub has_interval: u8,
    /// Whether there is a prediction set: 0 or 1.
    pub has_set: u8,
    /// The number of the decision rule's action, or `CALIB_NO_ACTION`.
    pub action: u8,
    /// `CALIB_VERDICT_...`: the verdict of the thresholds.
    pub verdict: u8,
    /// `CALIB_ALARM_...`.
    pub alarm: u8,
    /// Always 0.
    pub reserved: u8,
}

/// Optional inputs besides scores. A null pointer stands for all zeros.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct calib_options_t {
    /// The monitors that count the prediction, begun with this calibrator; null counts nothing. They are for one thread at a time.
    pub monitors: *mut calib_monitors_t,
    /// A random word, uniform and independent of the scores, for a randomized calibrator.
    pub word: u32,
    /// Whether there is a random word: 0 or 1.
    pub has_word: u8,
    /// The code of the patient's group, for an artifact with groups.
    pub group: u8,
    /// Whether there is a group: 0 or 1.
    pub has_group: u8,
    /// Always 0.
    pub reserved: u8,
}

/// The options, checked.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CheckedOptions {
    /// A random word.
    pub(crate) word: Option<u32>,
    pub(crate) group: Option<u8>,
    /// What counts the prediction, or null.
    pub(crate) monitors: *mut calib_monitors_t,
}

/// What the caller's options say.
///
/// # Safety
///
/// A pointer that is neither null nor misaligned points to options.
pub(crate) unsafe fn options(options: *const calib_options_t) -> Result<CheckedOptions> {
    if options.is_null() {
        return Ok(CheckedOptions { word: None, group: None, monitors: core::ptr::null_mut() });
    }
    // SAFETY: the caller's.
    let options = unsafe { memory::copied(options) }?;
    match options {
        calib_options_t { has_word: 0 | 1, has_group: 0 | 1, reserved: 0, monitors, .. } => {
            let word = (options.has_word == 1).then_some(options.word);
            Ok(CheckedOptions { word, group: (options.has_group == 1).then_some(options.group), monitors })
        }
        _ => Err(CALIB_ERROR_ARGUMENT),
    }
}

impl CheckedOptions {
    /// An output with the word and the group that the options name.
    pub(crate) const fn query(self, output: Output<'_>) -> Query<'_> {
        Query { output, group: self.group, word: self.word }
    }
}

impl calib_result_t {
    /// What a call that failed leaves.
    pub(crate) const NONE: Self = Self {
        prob: f32::NAN,
        epsilon: f32::NAN,
        interval_low: 0.0,
        interval_high: 1.0,
        set: [0; CALIB_SET_WORDS],
        identity: [0; 8],
        number: 0,
        class_index: 0,
        bin: 0,
        reason: CALIB_NO_RESULT,
        flags: 0,
        has_interval: 0,
        has_set: 0,
        action: CALIB_NO_ACTION,
        verdict: CALIB_VERDICT_NONE,
        alarm: CALIB_ALARM_RAISED,
        reserved: 0,
    };

    /// By this calibrator; `number` is that of the prediction, if the monitors counted it.
    pub(crate) fn new(prediction: &Prediction, of: Option<Identity>, number: u32) -> Self {
        let Prediction { first: Ranked { class, outcome, .. }, verdict, set, action, alarm, .. } = prediction;
        let of_class = Self {
            set: words(set.unwrap_or_default()),
            identity: of.map_or([0; 8], |identity| identity.0),
            number,
            class_index: *class,
            has_set: set.is_some().into(),
            action: action.unwrap_or(CALIB_NO_ACTION),
            verdict: self::verdict(*verdict),
            ..Self::NONE
        };
        of_class.with(outcome, *alarm)
    }

    /// With this outcome, and the alarm if a rule says it.
    pub(crate) fn with(self, outcome: &Outcome, alarm: Option<bool>) -> Self {
        let mut result = Self {
            reason: CALIB_CALIBRATED,
            alarm: match alarm {
                Some(true) => CALIB_ALARM_RAISED,
                Some(false) => CALIB_ALARM_CLEAR,
                None if outcome.calibrated().is_none() => CALIB_ALARM_RAISED,
                None => CALIB_ALARM_NO_RULE,
            },
            ..self
        };
        match outcome {
            Outcome::Uncalibrated(why) => result.reason = reason(*why),
            Outcome::Calibrated(calibrated) => {
                (result.bin, result.flags) = (calibrated.bin, calibrated.flags.bits());
                match outcome.calibrated() {
                    // What an artifact holds for an empty bin is no probability.
                    None => result.reason = CALIB_EMPTY_BIN,
                    Some(calibrated) => {
                        result.prob = calibrated.prob;
                        result.epsilon = calibrated.epsilon.unwrap_or(f32::NAN);
                        if let Some(interval) = calibrated.interval {
                            (result.interval_low, result.interval_high) = (interval.lo, interval.hi);
                            result.has_interval = 1;
                        }
                    }
                }
            }
        }
        result
    }
}

const fn reason(why: Uncalibrated) -> u8 {
    match why {
        Uncalibrated::Class => CALIB_NO_CLASS,
        Uncalibrated::NoArtifact => CALIB_NO_ARTIFACT,
        Uncalibrated::BadArtifact => CALIB_BAD_ARTIFACT,
        Uncalibrated::OtherClassifier => CALIB_OTHER_CLASSIFIER,
        Uncalibrated::EmptyBin => CALIB_EMPTY_BIN,
        Uncalibrated::ZeroSum => CALIB_ZERO_SUM,
        Uncalibrated::NoTable => CALIB_NO_TABLE,
        Uncalibrated::Alarmed => CALIB_ALARMED,
        Uncalibrated::NotMonitored => CALIB_NOT_MONITORED,
        _ => CALIB_OTHER_REASON,
    }
}

const fn verdict(verdict: Option<Verdict>) -> u8 {
    match verdict {
        None => CALIB_VERDICT_NONE,
        Some(Verdict::Negative) => CALIB_VERDICT_NEGATIVE,
        Some(Verdict::Refer) => CALIB_VERDICT_REFER,
        Some(Verdict::Positive) => CALIB_VERDICT_POSITIVE,
    }
}

fn words(set: ClassSet) -> [u32; CALIB_SET_WORDS] {
    let mut words = [0; CALIB_SET_WORDS];
    for class in set.classes() {
        if let Some(word) = words.get_mut(usize::from(class / 32)) {
            *word |= 1 << (class % 32);
        }
    }
    words
}
