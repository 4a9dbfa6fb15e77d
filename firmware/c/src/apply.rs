//! Applying an open calibrator.

use calib_core::predict::{OtherClasses, Output, Prediction};
use calib_core::{Margin, QuantizedScore, Score, ScoreEncoding};
use calib_firmware::Slot;

use crate::calibrator::{Opened, calib_calibrator_t};
use crate::error::{
    CALIB_ERROR_ENCODING, CALIB_ERROR_KIND, CALIB_ERROR_LENGTH, CALIB_ERROR_NOT_MONITORED,
    CALIB_ERROR_OVERLAP, CALIB_ERROR_SCORE, Result, code, of_refusal,
};
use crate::memory::{self, OutParam, Span};
use crate::monitors;
use crate::result::{CheckedOptions, calib_options_t, calib_result_t, options};
use crate::vectors::{Vector, encoding, encoding_of_codes, keys, of_keys, of_logits, of_probs};

/// Of several probabilities none is counted: the options may name no monitors.
fn one_probability(options: Result<CheckedOptions>) -> Result<CheckedOptions> {
    options.and_then(|told| if told.monitors.is_null() { Ok(told) } else { Err(CALIB_ERROR_NOT_MONITORED) })
}

/// Applies an open calibrator to one output, which is made of memory that is read.
///
/// # Safety
///
/// As [`calib_apply_score`].
unsafe fn apply<'o>(
    calibrator: *const calib_calibrator_t,
    told: *const calib_options_t,
    place: *mut calib_result_t,
    read: &[Span],
    output: impl FnOnce(&Slot<'static>, &[Span]) -> Result<Output<'o>>,
) -> i32 {
    // SAFETY: the caller's.
    let opened = unsafe { Opened::look(calibrator) };
    // SAFETY: the caller's.
    let options = unsafe { options(told) };
    let done = opened.and_then(|opened| {
        let options = options?;
        let own = [Span::of(calibrator), opened.bytes(), Span::of(told), Span::of(place)];
        let [others @ .., _] = &own;
        // SAFETY: the caller's. What is not handed over is not counted.
        let place = unsafe { OutParam::new(place, &[others, read]) }?;
        let query = options.query(output(opened.slot(), &own)?);
        let prediction = opened.slot().predict(&query).map_err(of_refusal)?;
        // SAFETY: the caller's.
        let number =
            unsafe { monitors::count(options.monitors, opened.artifact(), &prediction, place.span()) }?;
        place.write(calib_result_t::new(&prediction, opened.identity(), number));
        Ok(())
    });
    // SAFETY: the caller's.
    unsafe { failed(&done, (place, 1), &[Span::of(calibrator), Span::of(told)], read) };
    code(done)
}

/// Leaves of a call that failed that there is no result, unless the places for results are at fault themselves.
///
/// # Safety
///
/// As [`memory::room`].
// Once, and not in every function.
#[cold]
#[inline(never)]
pub(crate) unsafe fn failed(
    done: &Result<()>,
    (first, len): (*mut calib_result_t, usize),
    own: &[Span],
    read: &[Span],
) {
    if matches!(done, Ok(()) | Err(CALIB_ERROR_OVERLAP)) {
        return;
    }
    // SAFETY: the caller's.
    if let Ok(room) = unsafe { memory::room(first, len, &[own, read]) } {
        memory::filled(room, calib_result_t::NONE);
    }
}

/// Applies an open calibrator to every class of a vector.
///
/// # Safety
///
/// As [`calib_apply_score`].
unsafe fn apply_all(
    calibrator: *const calib_calibrator_t,
    (vector, count, of): Vector<'_>,
    told: *const calib_options_t,
    (probs, probs_len): (*mut f32, usize),
    place: *mut calib_result_t,
) -> i32 {
    // SAFETY: the caller's.
    let opened = unsafe { Opened::look(calibrator) };
    // SAFETY: the caller's.
    let options = unsafe { options(told) };
    let done = opened.and_then(|opened| {
        let options = one_probability(options)?;
        let needed = opened.all_floats();
        if needed == 0 {
            return Err(CALIB_ERROR_KIND);
        }
        let own = [Span::of(calibrator), opened.bytes(), Span::of(told), Span::of_slice(vector, count)];
        // SAFETY: the caller's.
        let place = unsafe { OutParam::new(place, &[&own, &[Span::of_slice(probs, probs_len)]]) }?;
        // SAFETY: the caller's.
        let room = unsafe { memory::room(probs, probs_len, &[&own]) }?;
        let room = room.get_mut(..needed).ok_or(CALIB_ERROR_LENGTH)?;
        let probs = memory::filled(room, f32::NAN);
        // SAFETY: the caller's.
        let output = unsafe { of(vector, count) }?;
        let (prediction, _) =
            opened.slot().predict_classes(&options.query(output), probs).map_err(of_refusal)?;
        place.write(calib_result_t::new(&prediction, opened.identity(), 0));
        Ok(())
    });
    let read = [Span::of_slice(vector, count), Span::of_slice(probs, probs_len)];
    // SAFETY: the caller's.
    unsafe { failed(&done, (place, 1), &[Span::of(calibrator), Span::of(told)], &read) };
    code(done)
}

/// Applies an open calibrator to the first few classes of a vector.
///
/// # Safety
///
/// As [`calib_apply_score`].
unsafe fn apply_top_k(
    calibrator: *const calib_calibrator_t,
    (vector, count, of): Vector<'_>,
    told: *const calib_options_t,
    (results, results_len): (*mut calib_result_t, usize),
) -> i32 {
    // SAFETY: the caller's.
    let opened = unsafe { Opened::look(calibrator) };
    // SAFETY: the caller's.
    let options = unsafe { options(told) };
    let done = opened.and_then(|opened| {
        let options = one_probability(options)?;
        if opened.top_k() == 0 {
            return Err(CALIB_ERROR_KIND);
        }
        let own = [Span::of(calibrator), opened.bytes(), Span::of(told), Span::of_slice(vector, count)];
        // SAFETY: the caller's.
        let room = unsafe { memory::room(results, results_len, &[&own]) }?;
        let room = room.get_mut(..opened.top_k()).ok_or(CALIB_ERROR_LENGTH)?;
        memory::filled(room, calib_result_t::NONE);
        // SAFETY: the caller's.
        let output = unsafe { of(vector, count) }?;
        let (first, others) =
            opened.slot().predict_classes(&options.query(output), &mut []).map_err(of_refusal)?;
        let OtherClasses::Ranked(others) = others else { return Err(CALIB_ERROR_KIND) };
        let others = others.iter().map(|&other| Prediction::from(other));
        for (place, prediction) in room.iter_mut().zip(core::iter::once(first).chain(others)) {
            place.write(calib_result_t::new(&prediction, opened.identity(), 0));
        }
        Ok(())
    });
    // A device looks at the first, whatever it thinks of the others.
    let places = (results, results_len.min(1));
    // SAFETY: the caller's.
    unsafe {
        failed(&done, places, &[Span::of(calibrator), Span::of(told)], &[Span::of_slice(vector, count)])
    };
    code(done)
}

/// Calibrates a binary score, a float from 0 to 1. `options` may be null.
///
/// # Safety
///
/// Pointers that are neither null nor misaligned point to as many values as stated, which may be read or written as stated.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn calib_apply_score(
    calibrator: *const calib_calibrator_t,
    score: f32,
    options: *const calib_options_t,
    result: *mut calib_result_t,
) -> i32 {
    let output =
        |_: &Slot<'_>, _: &[Span]| Score::new(score).map(Output::Score).map_err(|_| CALIB_ERROR_SCORE);
    // SAFETY: the caller's.
    unsafe { apply(calibrator, options, result, &[], output) }
}

/// Calibrates a binary margin, any finite float.
///
/// # Safety
///
/// Pointers that are neither null nor misaligned point to as many values as stated, which may be read or written as stated.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn calib_apply_margin(
    calibrator: *const calib_calibrator_t,
    margin: f32,
    options: *const calib_options_t,
    result: *mut calib_result_t,
) -> i32 {
    let output =
        |_: &Slot<'_>, _: &[Span]| Margin::new(margin).map(Output::Margin).map_err(|_| CALIB_ERROR_SCORE);
    // SAFETY: the caller's.
    unsafe { apply(calibrator, options, result, &[], output) }
}

/// Calibrates a binary score's integer code, in the encoding that `calib_info` states.
///
/// # Safety
///
/// Pointers that are neither null nor misaligned point to as many values as stated, which may be read or written as stated.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn calib_apply_code(
    calibrator: *const calib_calibrator_t,
    integer_code: i32,
    options: *const calib_options_t,
    result: *mut calib_result_t,
) -> i32 {
    let output = |slot: &Slot<'_>, _: &[Span]| {
        let score = QuantizedScore::new(encoding_of_codes(slot)?, integer_code);
        score.map(Output::Code).map_err(|_| CALIB_ERROR_SCORE)
    };
    // SAFETY: the caller's.
    unsafe { apply(calibrator, options, result, &[], output) }
}

/// Calibrates the predicted class of a vector of logits, one for each class.
///
/// # Safety
///
/// Pointers that are neither null nor misaligned point to as many values as stated, which may be read or written as stated.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn calib_apply_logits(
    calibrator: *const calib_calibrator_t,
    logits: *const f32,
    count: usize,
    options: *const calib_options_t,
    result: *mut calib_result_t,
) -> i32 {
    // SAFETY: the caller's.
    unsafe {
        apply(calibrator, options, result, &[Span::of_slice(logits, count)], |_, _| of_logits(logits, count))
    }
}

/// Calibrates the predicted class of a vector of probabilities, which add up to 1.
///
/// # Safety
///
/// Pointers that are neither null nor misaligned point to as many values as stated, which may be read or written as stated.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn calib_apply_probs(
    calibrator: *const calib_calibrator_t,
    probs: *const f32,
    count: usize,
    options: *const calib_options_t,
    result: *mut calib_result_t,
) -> i32 {
    // SAFETY: the caller's.
    unsafe {
        apply(calibrator, options, result, &[Span::of_slice(probs, count)], |_, _| of_probs(probs, count))
    }
}

/// Calibrates the predicted class of a vector of keys: each class's integer code less the lowest code of the encoding.
///
/// # Safety
///
/// Pointers that are neither null nor misaligned point to as many values as stated, which may be read or written as stated.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn calib_apply_keys(
    calibrator: *const calib_calibrator_t,
    keys: *const u16,
    count: usize,
    options: *const calib_options_t,
    result: *mut calib_result_t,
) -> i32 {
    let output = |slot: &Slot<'_>, _: &[Span]| {
        // SAFETY: the caller's.
        of_keys(slot, unsafe { memory::slice(keys, count) }?)
    };
    // SAFETY: the caller's.
    unsafe { apply(calibrator, options, result, &[Span::of_slice(keys, count)], output) }
}

/// Calibrates the predicted class of a vector of codes from -128 to 127. `space` has room for as many keys.
///
/// # Safety
///
/// Pointers that are neither null nor misaligned point to as many values as stated, which may be read or written as stated.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn calib_apply_i8(
    calibrator: *const calib_calibrator_t,
    codes: *const i8,
    count: usize,
    space: *mut u16,
    options: *const calib_options_t,
    result: *mut calib_result_t,
) -> i32 {
    let read = [Span::of_slice(codes, count), Span::of_slice(space, count)];
    let output = |slot: &Slot<'_>, others: &[Span]| {
        if !matches!(encoding(slot), Some(ScoreEncoding::I8 { .. })) {
            return Err(CALIB_ERROR_ENCODING);
        }
        let key = |code: i8| (i16::from(code) + 128) as u16;
        // SAFETY: the caller's.
        of_keys(slot, unsafe { keys(codes, space, count, others, key) }?)
    };
    // SAFETY: the caller's.
    unsafe { apply(calibrator, options, result, &read, output) }
}

/// Calibrates the predicted class of a vector of codes from 0 to 255. `space` has room for as many keys.
///
/// # Safety
///
/// Pointers that are neither null nor misaligned point to as many values as stated, which may be read or written as stated.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn calib_apply_u8(
    calibrator: *const calib_calibrator_t,
    codes: *const u8,
    count: usize,
    space: *mut u16,
    options: *const calib_options_t,
    result: *mut calib_result_t,
) -> i32 {
    let read = [Span::of_slice(codes, count), Span::of_slice(space, count)];
    let output = |slot: &Slot<'_>, others: &[Span]| {
        if !matches!(encoding(slot), Some(ScoreEncoding::U8 { .. })) {
            return Err(CALIB_ERROR_ENCODING);
        }
        // SAFETY: the caller's.
        of_keys(slot, unsafe { keys(codes, space, count, others, u16::from) }?)
    };
    // SAFETY: the caller's.
    unsafe { apply(calibrator, options, result, &read, output) }
}

/// Calibrates every class of a vector of logits: the front of `probs` then holds a probability for each class, not a number where
/// there is none. `probs` has room for `calib_info_t.all_floats` floats. The result is of the predicted class.
///
/// # Safety
///
/// Pointers that are neither null nor misaligned point to as many values as stated, which may be read or written as stated.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn calib_apply_all_logits(
    calibrator: *const calib_calibrator_t,
    logits: *const f32,
    count: usize,
    options: *const calib_options_t,
    probs: *mut f32,
    probs_len: usize,
    result: *mut calib_result_t,
) -> i32 {
    // SAFETY: the caller's.
    unsafe { apply_all(calibrator, (logits, count, of_logits), options, (probs, probs_len), result) }
}

/// Calibrates every class of a vector of probabilities, as `calib_apply_all_logits`.
///
/// # Safety
///
/// Pointers that are neither null nor misaligned point to as many values as stated, which may be read or written as stated.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn calib_apply_all_probs(
    calibrator: *const calib_calibrator_t,
    vector: *const f32,
    count: usize,
    options: *const calib_options_t,
    probs: *mut f32,
    probs_len: usize,
    result: *mut calib_result_t,
) -> i32 {
    // SAFETY: the caller's.
    unsafe { apply_all(calibrator, (vector, count, of_probs), options, (probs, probs_len), result) }
}

/// Calibrates the first few classes of a vector of logits, in descending order: `results` has room for `results_len` of them, and
/// `calib_info_t.top_k` are written. Action, verdict, set and alarm stand in the first.
///
/// # Safety
///
/// Pointers that are neither null nor misaligned point to as many values as stated, which may be read or written as stated.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn calib_apply_top_k_logits(
    calibrator: *const calib_calibrator_t,
    logits: *const f32,
    count: usize,
    options: *const calib_options_t,
    results: *mut calib_result_t,
    results_len: usize,
) -> i32 {
    // SAFETY: the caller's.
    unsafe { apply_top_k(calibrator, (logits, count, of_logits), options, (results, results_len)) }
}

/// Calibrates the first few classes of a vector of probabilities, as `calib_apply_top_k_logits`.
///
/// # Safety
///
/// Pointers that are neither null nor misaligned point to as many values as stated, which may be read or written as stated.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn calib_apply_top_k_probs(
    calibrator: *const calib_calibrator_t,
    probs: *const f32,
    count: usize,
    options: *const calib_options_t,
    results: *mut calib_result_t,
    results_len: usize,
) -> i32 {
    // SAFETY: the caller's.
    unsafe { apply_top_k(calibrator, (probs, count, of_probs), options, (results, results_len)) }
}
