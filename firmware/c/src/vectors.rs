//! Vectors of scores: the classifier's outputs of several classes.

use calib_core::score::{CodeVector, CodeVectorError};
use calib_core::{Logits, Probs, ScoreEncoding};
use calib_firmware::{Output, Slot};

use crate::error::{CALIB_ERROR_ENCODING, CALIB_ERROR_KIND, CALIB_ERROR_SCORE, Result};
use crate::memory::{self, Span};

/// A vector in the caller's memory: its first number, how many there are, and what is made of it.
pub(crate) type Vector<'o> = (*const f32, usize, unsafe fn(*const f32, usize) -> Result<Output<'o>>);

/// Logits in the caller's memory.
///
/// # Safety
///
/// As [`memory::slice`].
pub(crate) unsafe fn of_logits<'o>(logits: *const f32, count: usize) -> Result<Output<'o>> {
    // SAFETY: the caller's.
    let logits = unsafe { memory::slice(logits, count) }?;
    Logits::new(logits).map(Output::Logits).map_err(|_| CALIB_ERROR_SCORE)
}

/// Probabilities in the caller's memory.
///
/// # Safety
///
/// As [`memory::slice`].
pub(crate) unsafe fn of_probs<'o>(probs: *const f32, count: usize) -> Result<Output<'o>> {
    // SAFETY: the caller's.
    let probs = unsafe { memory::slice(probs, count) }?;
    Probs::new(probs).map(Output::Probs).map_err(|_| CALIB_ERROR_SCORE)
}

/// What kind of number the calibrator accepts for a score.
pub(crate) fn encoding(slot: &Slot<'_>) -> Option<ScoreEncoding> {
    slot.artifact().map(|artifact| artifact.header().encoding)
}

/// The encoding of the codes that the calibrator takes.
pub(crate) fn encoding_of_codes(slot: &Slot<'_>) -> Result<ScoreEncoding> {
    encoding(slot).filter(ScoreEncoding::is_quantized).ok_or(CALIB_ERROR_ENCODING)
}

/// The codes of all classes, as keys.
pub(crate) fn of_keys<'o>(slot: &Slot<'_>, keys: &'o [u16]) -> Result<Output<'o>> {
    CodeVector::new(encoding_of_codes(slot)?, keys).map(Output::Codes).map_err(|error| match error {
        CodeVectorError::Code(..) => CALIB_ERROR_SCORE,
        _ => CALIB_ERROR_KIND,
    })
}

/// Codes in the caller's memory as keys, in other memory of the caller's.
///
/// # Safety
///
/// As [`memory::slice`] and [`memory::room`].
pub(crate) unsafe fn keys<'o, C: Copy>(
    codes: *const C,
    space: *mut u16,
    count: usize,
    others: &[Span],
    key: impl Fn(C) -> u16,
) -> Result<&'o [u16]> {
    let read = [Span::of_slice(codes, count)];
    // SAFETY: the caller's.
    let room = unsafe { memory::room(space, count, &[others, &read]) }?;
    // SAFETY: the caller's; they are not in the room.
    let codes = unsafe { memory::slice(codes, count) }?;
    room.iter_mut().zip(codes).for_each(|(to, &code)| {
        to.write(key(code));
    });
    // SAFETY: as many keys were written.
    unsafe { memory::slice(space, count) }
}
