//! The caller's functions as classifier, alarm, timer and source of random words.

use core::ffi::{c_char, c_void};

use calib_core::wire::Refusal;
use calib_core::{AlarmRule, ClassifierId, Logits, Margin, Probs, Score};
use calib_firmware::{Classifier, Entropy, Features, Meter, Output, Scratch, Task};
use embedded_hal::digital::{Error, ErrorKind, ErrorType, OutputPin};

use crate::error::{CALIB_ERROR_ARGUMENT, CALIB_ERROR_NULL, Result};
use crate::memory::Span;

/// In `calib_classifier_t.output`: one float from 0 to 1, the score of class 1 of two.
pub const CALIB_OUTPUT_SCORE: u8 = 0;
/// In `calib_classifier_t.output`: one finite float, the margin of class 1 of two.
pub const CALIB_OUTPUT_MARGIN: u8 = 1;
/// In `calib_classifier_t.output`: a logit for each class.
pub const CALIB_OUTPUT_LOGITS: u8 = 2;
/// In `calib_classifier_t.output`: a probability for each class.
pub const CALIB_OUTPUT_PROBS: u8 = 3;

/// Bytes of the longest name of a classifier, without the zero that ends it.
pub const CALIB_NAME_BYTES: usize = 32;
/// The most features, and the most classes, of a classifier behind a serial line.
pub const CALIB_MAX_VALUES: usize = 128;

/// The caller's classifier.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct calib_classifier_t {
    /// Passed to the callback unchanged; may be null.
    pub context: *mut c_void,
    /// Classifies `count` finite features: writes one number, or one for each class, to `output`. A classifier that cannot returns
    /// anything but 0; the alarm is then raised, and the device reports to the host that the output was not a number.
    pub classify: Option<
        unsafe extern "C" fn(
            context: *mut c_void,
            features: *const f32,
            count: usize,
            output: *mut f32,
            output_len: usize,
        ) -> i32,
    >,
    /// A name for people: UTF-8, ended by a zero, constant.
    pub name: *const c_char,
    /// The identity that a calibrator names: other weights, another identity.
    pub id: [u8; 8],
    /// The number of features, at most `CALIB_MAX_VALUES`.
    pub features: u16,
    /// The number of classes, at most `CALIB_MAX_VALUES`; 2 of a score or a margin.
    pub classes: u16,
    /// `CALIB_OUTPUT_...`.
    pub output: u8,
    /// Always 0.
    pub reserved: [u8; 3],
}

/// The caller's board. A call takes as long as the callbacks that it makes: keep them short.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct calib_board_t {
    /// Passed to every callback unchanged; may be null.
    pub context: *mut c_void,
    /// Raises the alarm with 1, clears it with 0. Returns 0 if it succeeded: a device whose alarm fails does not answer.
    pub set_alarm: Option<unsafe extern "C" fn(context: *mut c_void, raised: u8) -> i32>,
    /// A timer that counts up through all of its 32 bits; null if nothing is measured.
    pub ticks: Option<unsafe extern "C" fn(context: *mut c_void) -> u32>,
    /// The most stack used so far, in bytes; null if unknown.
    pub stack_bytes: Option<unsafe extern "C" fn(context: *mut c_void) -> u32>,
    /// Writes a random word, uniform and independent of everything, and returns 0; null if there is no source of them.
    pub random: Option<unsafe extern "C" fn(context: *mut c_void, word: *mut u32) -> i32>,
}

type Classify = unsafe extern "C" fn(*mut c_void, *const f32, usize, *mut f32, usize) -> i32;

/// The caller's classifier, checked.
#[derive(Debug)]
pub(crate) struct Own {
    context: *mut c_void,
    classify: Classify,
    name: &'static str,
    id: ClassifierId,
    features: u16,
    classes: u16,
    output: u8,
}

impl Own {
    /// Checks what is constant.
    ///
    /// # Safety
    ///
    /// The callback may be called with the context, and the name is constant.
    pub(crate) unsafe fn new(own: calib_classifier_t) -> Result<Self> {
        let calib_classifier_t { context, id, features, classes, output, .. } = own;
        let classify = own.classify.ok_or(CALIB_ERROR_ARGUMENT)?;
        // SAFETY: the caller's.
        let name = unsafe { name(own.name) }?;
        let is_known = match output {
            CALIB_OUTPUT_SCORE | CALIB_OUTPUT_MARGIN => classes == 2,
            CALIB_OUTPUT_LOGITS | CALIB_OUTPUT_PROBS => (2..=CALIB_MAX_VALUES).contains(&classes.into()),
            _ => false,
        };
        if !is_known || !(1..=CALIB_MAX_VALUES).contains(&features.into()) || own.reserved != [0; 3] {
            return Err(CALIB_ERROR_ARGUMENT);
        }
        Ok(Self { context, classify, name, id: ClassifierId(id), features, classes, output })
    }
}

/// The name that the caller points to.
///
/// # Safety
///
/// A pointer that is not null points to a constant text, which a zero ends.
unsafe fn name(text: *const c_char) -> Result<&'static str> {
    if text.is_null() {
        return Err(CALIB_ERROR_NULL);
    }
    let text = text.cast::<u8>();
    let mut len = 0;
    // SAFETY: the caller's; nothing is read behind the zero.
    while unsafe { text.add(len).read() } != 0 {
        len += 1;
        if len > CALIB_NAME_BYTES {
            return Err(CALIB_ERROR_ARGUMENT);
        }
    }
    // SAFETY: as above.
    let bytes = unsafe { core::slice::from_raw_parts(text, len) };
    core::str::from_utf8(bytes).map_err(|_| CALIB_ERROR_ARGUMENT)
}

/// Where the name lies; nothing if it is none.
///
/// # Safety
///
/// As [`name`].
pub(crate) unsafe fn text(text: *const c_char) -> Span {
    // SAFETY: the caller's.
    let len = unsafe { name(text) }.map_or(0, str::len);
    Span::of_slice(text, len)
}

impl Classifier for Own {
    fn name(&self) -> &str {
        self.name
    }

    fn id(&self) -> ClassifierId {
        self.id
    }

    fn feature_count(&self) -> u16 {
        self.features
    }

    fn task(&self) -> Task {
        match self.output {
            CALIB_OUTPUT_SCORE | CALIB_OUTPUT_MARGIN => Task::Binary,
            _ => Task::TopLabel { classes: self.classes },
        }
    }

    fn classify<'s>(
        &self,
        features: Features<'_>,
        scratch: &'s mut Scratch,
    ) -> core::result::Result<Output<'s>, Refusal> {
        let count = if self.task() == Task::Binary { 1 } else { self.classes.into() };
        // There are at most as many classes.
        let output = scratch.get_mut(..count).unwrap_or_default();
        output.fill(f32::NAN);
        // SAFETY: by the contract of `Own::new`; the callback reads and writes no more than it is told.
        let returned = unsafe {
            let (from, to) = (features.as_ptr(), output.as_mut_ptr());
            (self.classify)(self.context, from, features.len(), to, output.len())
        };
        if returned != 0 {
            output.fill(f32::NAN);
        }
        let first = output.first().copied().unwrap_or(f32::NAN);
        match self.output {
            CALIB_OUTPUT_SCORE => Score::new(first).map(Output::Score).map_err(Refusal::Score),
            CALIB_OUTPUT_MARGIN => Margin::new(first).map(Output::Margin).map_err(Refusal::Score),
            CALIB_OUTPUT_LOGITS => Logits::new(output).map(Output::Logits).map_err(Refusal::Logits),
            _ => Probs::new(output).map(Output::Probs).map_err(Refusal::Probs),
        }
    }
}

/// The alarm, the timer and the source of random words.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Board {
    board: calib_board_t,
    set_alarm: unsafe extern "C" fn(*mut c_void, u8) -> i32,
}

/// The alarm failed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct AlarmFailed;

impl Board {
    /// Sees that there is an alarm.
    ///
    /// # Safety
    ///
    /// The callbacks may be called with the context.
    pub(crate) unsafe fn new(board: calib_board_t) -> Result<Self> {
        Ok(Self { board, set_alarm: board.set_alarm.ok_or(CALIB_ERROR_ARGUMENT)? })
    }

    fn set(&mut self, raised: u8) -> core::result::Result<(), AlarmFailed> {
        // SAFETY: by the contract of `Board::new`.
        let returned = unsafe { (self.set_alarm)(self.board.context, raised) };
        if returned == 0 { Ok(()) } else { Err(AlarmFailed) }
    }

    fn ticks(&self) -> Option<u32> {
        // SAFETY: by the contract of `Board::new`.
        self.board.ticks.map(|ticks| unsafe { ticks(self.board.context) })
    }
}

impl Error for AlarmFailed {
    fn kind(&self) -> ErrorKind {
        ErrorKind::Other
    }
}

impl ErrorType for Board {
    type Error = AlarmFailed;
}

impl OutputPin for Board {
    fn set_low(&mut self) -> core::result::Result<(), AlarmFailed> {
        self.set(0)
    }

    fn set_high(&mut self) -> core::result::Result<(), AlarmFailed> {
        self.set(1)
    }
}

impl Meter for Board {
    fn measure_ticks(&mut self, work: impl FnOnce()) -> Option<u32> {
        let start = self.ticks()?;
        work();
        Some(self.ticks()?.wrapping_sub(start))
    }

    fn stack_high_water_bytes(&mut self) -> u32 {
        // SAFETY: by the contract of `Board::new`.
        self.board.stack_bytes.map_or(0, |bytes| unsafe { bytes(self.board.context) })
    }
}

impl Entropy for Board {
    fn word(&mut self) -> Option<u32> {
        let mut word = 0;
        // SAFETY: by the contract of `Board::new`; the callback writes one word.
        let returned = self.board.random.map(|random| unsafe { random(self.board.context, &raw mut word) });
        (returned == Some(0)).then_some(word)
    }
}

/// The built-in rule: the alarm is raised by a probability at or above the threshold, or below it.
pub(crate) fn alarm_rule(threshold: f32, below: u8) -> Result<AlarmRule> {
    match below {
        _ if !(0.0..=1.0).contains(&threshold) => Err(CALIB_ERROR_ARGUMENT),
        0 => Ok(AlarmRule::AtLeast(threshold)),
        1 => Ok(AlarmRule::Below(threshold)),
        _ => Err(CALIB_ERROR_ARGUMENT),
    }
}
