//! An artifact with one binary step table, in a fraction of the flash.

use calib_core::artifact::{BinarySteps, BinaryStepsError};
use calib_core::{Margin, QuantizedScore, Score};

use crate::apply::failed;
use crate::band::calib_band_t;
use crate::calibrator::calib_info_t;
use crate::error::{
    CALIB_ERROR_CLASSIFIER, CALIB_ERROR_ENCODING, CALIB_ERROR_KIND, CALIB_ERROR_SCORE, Result, code,
    of_parsing,
};
use crate::memory::{self, OutParam, Span};
use crate::result::calib_result_t;

/// Words, of 8 bytes, of a `calib_table_t`.
#[cfg(target_pointer_width = "32")]
pub const CALIB_TABLE_WORDS: usize = 36;
/// Words, of 8 bytes, of a `calib_table_t`.
#[cfg(target_pointer_width = "64")]
pub const CALIB_TABLE_WORDS: usize = 50;

/// An artifact with one binary step table, checked: umd and its relatives, isotonic, and what was fitted with `--table steps`. It
/// needs less flash than a `calib_calibrator_t`, and gives the same results. It counts nothing, and comes from no slot.
///
/// It points to the artifact's bytes, which stay where they are and do not change while it is used. Opened by `calib_table_open`; there
/// is nothing to close.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct calib_table_t {
    /// Internal.
    pub opaque: [u64; CALIB_TABLE_WORDS],
}

/// An open table.
#[derive(Debug)]
struct OpenTable {
    steps: BinarySteps<'static>,
    /// Where the artifact lies.
    bytes: Span,
}

/// Opens an artifact with one binary step table, as `calib_open` opens any artifact.
///
/// `CALIB_ERROR_KIND` if it is another one, or has groups, thresholds, prediction sets, a decision rule or an action on alarms: `calib_open`
/// opens it. Monitors in the artifact are not read.
///
/// # Safety
///
/// Pointers that are neither null nor misaligned point to as many values as stated, which may be read or written as stated.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn calib_table_open(
    table: *mut calib_table_t,
    bytes: *const u8,
    len: usize,
    classifier: *const u8,
) -> i32 {
    let read = [Span::of_slice(bytes, len), Span::of(classifier.cast::<[u8; 8]>())];
    let make = || {
        let place = Span::of_slice(bytes, len);
        // SAFETY: the caller's.
        let bytes: &'static [u8] = unsafe { memory::slice(bytes, len) }?;
        let steps = BinarySteps::parse_slot(bytes).map_err(|error| match error {
            BinaryStepsError::Parse(error) => of_parsing(error),
            _ => CALIB_ERROR_KIND,
        })?;
        if !classifier.is_null() {
            // SAFETY: the caller's.
            let id: [u8; 8] = unsafe { memory::copied(classifier.cast()) }?;
            if steps.header().provenance.classifier.is_some_and(|named| named.0 != id) {
                return Err(CALIB_ERROR_CLASSIFIER);
            }
        }
        Ok(OpenTable { steps, bytes: place })
    };
    // SAFETY: the caller's.
    code(unsafe { memory::open(table, &[&read], make) })
}

/// Says what an open table is, as `calib_info`.
///
/// # Safety
///
/// As [`calib_table_open`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn calib_table_info(table: *const calib_table_t, info: *mut calib_info_t) -> i32 {
    // SAFETY: the caller's.
    let told = unsafe {
        tell(table, info, |steps| {
            Ok(calib_info_t::of(steps.header(), steps.identity(), steps.len_bytes(), steps.counter()))
        })
    };
    code(told)
}

/// What is asked of a table.
enum Asked {
    Score(f32),
    Margin(f32),
    Code(i32),
}

/// The same, checked.
enum Checked {
    Score(Score),
    Margin(Margin),
    Code(QuantizedScore),
}

impl Asked {
    fn checked(self, steps: &BinarySteps<'_>) -> Result<Checked> {
        match self {
            Self::Score(score) => Score::new(score).map(Checked::Score).map_err(|_| CALIB_ERROR_SCORE),
            Self::Margin(margin) => Margin::new(margin).map(Checked::Margin).map_err(|_| CALIB_ERROR_SCORE),
            Self::Code(code) => {
                let encoding = Some(steps.header().encoding).filter(|encoding| encoding.is_quantized());
                let code = QuantizedScore::new(encoding.ok_or(CALIB_ERROR_ENCODING)?, code);
                code.map(Checked::Code).map_err(|_| CALIB_ERROR_SCORE)
            }
        }
    }
}

/// Writes what an open table says.
///
/// # Safety
///
/// As [`calib_table_open`].
unsafe fn tell<T>(
    table: *const calib_table_t,
    place: *mut T,
    what: impl FnOnce(&BinarySteps<'static>) -> Result<T>,
) -> Result<()> {
    // SAFETY: the caller's.
    let opened = unsafe { memory::look::<OpenTable>(table.cast()) }?;
    // SAFETY: the caller's.
    let place = unsafe { OutParam::new(place, &[&[Span::of(table), opened.bytes]]) }?;
    place.write(what(&opened.steps)?);
    Ok(())
}

/// Applies an open table.
///
/// # Safety
///
/// As [`calib_table_open`].
// Once for all kinds of scores, for the sake of the flash.
#[inline(never)]
unsafe fn apply(table: *const calib_table_t, place: *mut calib_result_t, asked: Asked) -> i32 {
    let what = |steps: &BinarySteps<'static>| {
        let outcome = match asked.checked(steps)? {
            Checked::Score(score) => steps.calibrate(score),
            Checked::Margin(margin) => steps.calibrate(margin),
            Checked::Code(code) => steps.calibrate_code(code),
        };
        let identity = steps.identity().0;
        let of_class = calib_result_t { class_index: 1, identity, ..calib_result_t::NONE };
        Ok(of_class.with(&outcome.ok_or(CALIB_ERROR_ENCODING)?, None))
    };
    // SAFETY: the caller's.
    let done = unsafe { tell(table, place, what) };
    // SAFETY: the caller's.
    unsafe { failed(&done, (place, 1), &[Span::of(table)], &[]) };
    code(done)
}

/// Writes the band of an open table.
///
/// # Safety
///
/// As [`calib_table_open`].
#[inline(never)]
unsafe fn band(table: *const calib_table_t, place: *mut calib_band_t, asked: Asked) -> i32 {
    let what = |steps: &BinarySteps<'static>| {
        let checked = asked.checked(steps)?;
        calib_band_t::of(steps.band(), |band| match checked {
            Checked::Score(score) => band.at(score),
            Checked::Margin(margin) => band.at(margin),
            Checked::Code(code) => band.at_code(code),
        })
    };
    // SAFETY: the caller's.
    code(unsafe { tell(table, place, what) })
}

/// Calibrates a binary score, a float from 0 to 1, as `calib_apply_score`.
///
/// # Safety
///
/// As [`calib_table_open`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn calib_table_score(
    table: *const calib_table_t,
    score: f32,
    result: *mut calib_result_t,
) -> i32 {
    // SAFETY: the caller's.
    unsafe { apply(table, result, Asked::Score(score)) }
}

/// Calibrates a binary margin, any finite float, as `calib_apply_margin`.
///
/// # Safety
///
/// As [`calib_table_open`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn calib_table_margin(
    table: *const calib_table_t,
    margin: f32,
    result: *mut calib_result_t,
) -> i32 {
    // SAFETY: the caller's.
    unsafe { apply(table, result, Asked::Margin(margin)) }
}

/// Calibrates a binary score's integer code, in the encoding that `calib_table_info` states, as `calib_apply_code`.
///
/// # Safety
///
/// As [`calib_table_open`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn calib_table_code(
    table: *const calib_table_t,
    integer_code: i32,
    result: *mut calib_result_t,
) -> i32 {
    // SAFETY: the caller's.
    unsafe { apply(table, result, Asked::Code(integer_code)) }
}

/// The band at a binary score, as `calib_band_score`.
///
/// # Safety
///
/// As [`calib_table_open`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn calib_table_band_score(
    table: *const calib_table_t,
    score: f32,
    band: *mut calib_band_t,
) -> i32 {
    // SAFETY: the caller's.
    unsafe { self::band(table, band, Asked::Score(score)) }
}

/// The band at a binary margin, as `calib_band_margin`.
///
/// # Safety
///
/// As [`calib_table_open`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn calib_table_band_margin(
    table: *const calib_table_t,
    margin: f32,
    band: *mut calib_band_t,
) -> i32 {
    // SAFETY: the caller's.
    unsafe { self::band(table, band, Asked::Margin(margin)) }
}

/// The band at a binary score's integer code, as `calib_band_code`.
///
/// # Safety
///
/// As [`calib_table_open`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn calib_table_band_code(
    table: *const calib_table_t,
    integer_code: i32,
    band: *mut calib_band_t,
) -> i32 {
    // SAFETY: the caller's.
    unsafe { self::band(table, band, Asked::Code(integer_code)) }
}
