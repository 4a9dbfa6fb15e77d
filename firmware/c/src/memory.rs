//! What is checked of every pointer, and states in the caller's memory.

use crate::error::{
    CALIB_ERROR_ALIGNMENT, CALIB_ERROR_BUSY, CALIB_ERROR_LENGTH, CALIB_ERROR_NULL, CALIB_ERROR_OVERLAP,
    CALIB_ERROR_STATE, Result,
};

/// Marks a state that is open.
const OPEN: u32 = u32::from_le_bytes(*b"open");
/// Marks a state that a function is working on.
const BUSY: u32 = u32::from_le_bytes(*b"busy");

/// A pointer that is neither null nor misaligned.
pub(crate) fn checked<T>(pointer: *const T) -> Result<*const T> {
    if pointer.is_null() {
        Err(CALIB_ERROR_NULL)
    } else if !pointer.is_aligned() {
        Err(CALIB_ERROR_ALIGNMENT)
    } else {
        Ok(pointer)
    }
}

/// The same for what is written.
pub(crate) fn checked_mut<T>(pointer: *mut T) -> Result<*mut T> {
    checked(pointer.cast_const()).map(<*const T>::cast_mut)
}

/// A pointer to the first of so many values, of which the length is possible.
fn checked_slice<T>(pointer: *const T, len: usize) -> Result<*const T> {
    let bytes = len.checked_mul(size_of::<T>()).filter(|&bytes| bytes <= isize::MAX as usize);
    let pointer = checked(pointer)?;
    let end = bytes.and_then(|bytes| pointer.addr().checked_add(bytes));
    if end.is_some() { Ok(pointer) } else { Err(CALIB_ERROR_LENGTH) }
}

/// A copy of what the caller points to.
///
/// # Safety
///
/// A pointer that is neither null nor misaligned points to a value that may be read.
pub(crate) unsafe fn copied<T: Copy>(pointer: *const T) -> Result<T> {
    let pointer = checked(pointer)?;
    // SAFETY: checked, and the caller's.
    Ok(unsafe { pointer.read() })
}

/// The values that the caller points to.
///
/// # Safety
///
/// A pointer that is neither null nor misaligned points to so many values, which may be read and do not change during `'a`.
pub(crate) unsafe fn slice<'a, T>(pointer: *const T, len: usize) -> Result<&'a [T]> {
    let pointer = checked_slice(pointer, len)?;
    // SAFETY: checked, and the caller's.
    Ok(unsafe { core::slice::from_raw_parts(pointer, len) })
}

/// The values that the caller points to, to be written. They do not overlap with `read`.
///
/// # Safety
///
/// As [`slice`], and they may be written. Nothing else uses them during `'a`.
pub(crate) unsafe fn slice_mut<'a, T, R>(pointer: *mut T, len: usize, read: &[R]) -> Result<&'a mut [T]> {
    let pointer = checked_slice(pointer.cast_const(), len)?;
    let (from, to) = (pointer.addr(), pointer.addr().wrapping_add(len.wrapping_mul(size_of::<T>())));
    let read = read.as_ptr_range();
    if from < read.end.addr() && read.start.addr() < to {
        return Err(CALIB_ERROR_OVERLAP);
    }
    // SAFETY: checked, and the caller's.
    Ok(unsafe { core::slice::from_raw_parts_mut(pointer.cast_mut(), len) })
}

/// What lies in the caller's memory where the header says that a state is.
#[repr(C)]
pub(crate) struct State<T> {
    mark: u32,
    value: T,
}

impl<T> State<T> {
    /// Whether a state fits a place of this size and alignment.
    pub(crate) const fn fits(size: usize, align: usize) -> bool {
        size_of::<Self>() <= size && align_of::<Self>() <= align
    }
}

/// Sees that a place of the caller's does not overlap with what is read.
pub(crate) fn disjoint<T, R>(place: *const T, read: &[R]) -> Result<()> {
    let (from, read) = (place.addr(), read.as_ptr_range());
    let overlaps = from < read.end.addr() && read.start.addr() < from.wrapping_add(size_of::<T>());
    if overlaps { Err(CALIB_ERROR_OVERLAP) } else { Ok(()) }
}

/// Opens a state in the caller's memory, whatever that holds.
///
/// The mark goes first and comes last: a state whose opening fails is not open.
///
/// # Safety
///
/// A pointer that is neither null nor misaligned points to memory for a state, which may be written.
pub(crate) unsafe fn open<T>(place: *mut State<T>, make: impl FnOnce() -> Result<T>) -> Result<()> {
    let place = checked_mut(place)?;
    // SAFETY: checked, and the caller's.
    unsafe { (&raw mut (*place).mark).write(0) };
    let value = make()?;
    // SAFETY: as above. What was there is not dropped: nothing in a state needs that.
    unsafe {
        (&raw mut (*place).value).write(value);
        (&raw mut (*place).mark).write(OPEN);
    }
    Ok(())
}

/// A state that is only looked at.
///
/// # Safety
///
/// A pointer that is neither null nor misaligned points to memory for a state, which may be read and does not change during `'a`.
/// If it bears the mark of an open one, [`open`] made it.
pub(crate) unsafe fn look<'a, T>(place: *const State<T>) -> Result<&'a T> {
    let place = checked(place)?;
    // SAFETY: checked, and the caller's.
    match unsafe { (&raw const (*place).mark).read() } {
        // SAFETY: the same, and it is open.
        OPEN => Ok(unsafe { &(*place).value }),
        BUSY => Err(CALIB_ERROR_BUSY),
        _ => Err(CALIB_ERROR_STATE),
    }
}

/// Works on a state, which is busy meanwhile: a callback that calls with the same state is refused.
///
/// # Safety
///
/// As [`look`], and nothing else uses the state meanwhile.
pub(crate) unsafe fn work<T, R>(place: *mut State<T>, work: impl FnOnce(&mut T) -> Result<R>) -> Result<R> {
    let place = checked_mut(place)?;
    // SAFETY: checked, and the caller's.
    let mark = unsafe { &raw mut (*place).mark };
    // SAFETY: as above.
    match unsafe { mark.read() } {
        OPEN => {}
        BUSY => return Err(CALIB_ERROR_BUSY),
        _ => return Err(CALIB_ERROR_STATE),
    }
    // SAFETY: as above; by the mark, nobody else gets a reference to the value.
    let result = unsafe {
        mark.write(BUSY);
        work(&mut (*place).value)
    };
    // SAFETY: as above.
    unsafe { mark.write(OPEN) };
    result
}

/// Writes a result where the caller wants it.
///
/// # Safety
///
/// A pointer that is neither null nor misaligned may be written to.
pub(crate) unsafe fn hand_over<T>(place: *mut T, result: Result<T>) -> Result<()> {
    let place = checked_mut(place)?;
    // SAFETY: checked, and the caller's.
    unsafe { place.write(result?) };
    Ok(())
}
