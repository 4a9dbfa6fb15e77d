//! What is checked of every pointer, and states in the caller's memory.

use core::mem::MaybeUninit;

use crate::error::{
    CALIB_ERROR_ALIGNMENT, CALIB_ERROR_BUSY, CALIB_ERROR_LENGTH, CALIB_ERROR_NULL, CALIB_ERROR_OVERLAP,
    CALIB_ERROR_STATE, Result,
};

/// Marks a state that is open.
const OPEN: u32 = u32::from_le_bytes(*b"open");
/// Marks a state that a function is working on.
const BUSY: u32 = u32::from_le_bytes(*b"busy");

/// Addresses of memory: compared, never followed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Span {
    start: usize,
    end: usize,
}

impl Span {
    /// Of one value; of nothing if the pointer is null.
    pub(crate) fn of<T>(place: *const T) -> Self {
        Self::of_slice(place, 1)
    }

    /// Of so many values; of nothing if the pointer is null or they cannot be so many, which [`slice`] and [`room`] refuse.
    pub(crate) fn of_slice<T>(first: *const T, len: usize) -> Self {
        let start = first.addr();
        let end = end_of(first, len).filter(|_| !first.is_null());
        Self { start, end: end.unwrap_or(start) }
    }

    fn overlaps(self, other: Self) -> bool {
        self.start.max(other.start) < self.end.min(other.end)
    }

    /// Sees that none of this memory is among the others.
    // Its loops are not worth being there for every pointer.
    #[inline(never)]
    pub(crate) fn apart_from(self, others: &[Self]) -> Result<()> {
        if others.iter().any(|&other| self.overlaps(other)) { Err(CALIB_ERROR_OVERLAP) } else { Ok(()) }
    }
}

/// The address behind so many values, if memory holds so many.
fn end_of<T>(first: *const T, len: usize) -> Option<usize> {
    let bytes = len.checked_mul(size_of::<T>()).filter(|&bytes| bytes <= isize::MAX as usize);
    first.addr().checked_add(bytes?)
}

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
    let pointer = checked(pointer)?;
    if end_of(pointer, len).is_some() { Ok(pointer) } else { Err(CALIB_ERROR_LENGTH) }
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

/// Room of the caller's for so many values, whatever it holds: no part of the other memory that the function is given.
///
/// # Safety
///
/// A pointer that is neither null nor misaligned points to so much memory, which may be written. Nothing else uses it during `'a`.
pub(crate) unsafe fn room<'a, T>(
    first: *mut T,
    len: usize,
    others: &[&[Span]],
) -> Result<&'a mut [MaybeUninit<T>]> {
    let first = checked_slice(first.cast_const(), len)?;
    let room = Span::of_slice(first, len);
    others.iter().try_for_each(|others| room.apart_from(others))?;
    // SAFETY: checked, and the caller's; values that may be missing are never invalid.
    Ok(unsafe { core::slice::from_raw_parts_mut(first.cast_mut().cast(), len) })
}

/// Puts the same value everywhere into a buffer: anyone who gets it may read what is there.
pub(crate) fn filled<T: Copy>(room: &mut [MaybeUninit<T>], value: T) -> &mut [T] {
    room.fill(MaybeUninit::new(value));
    // SAFETY: all values are there.
    unsafe { &mut *(core::ptr::from_mut(room) as *mut [T]) }
}

/// The same of an array.
pub(crate) fn filled_array<T: Copy, const N: usize>(room: &mut [MaybeUninit<T>; N], value: T) -> &mut [T; N] {
    room.fill(MaybeUninit::new(value));
    // SAFETY: all values are there.
    unsafe { &mut *core::ptr::from_mut(room).cast() }
}

/// A place of the caller's for one result, which is written last: no part of the other memory that the function is given.
pub(crate) struct OutParam<T>(*mut T);

impl<T> OutParam<T> {
    /// Checks the caller's pointer.
    ///
    /// # Safety
    ///
    /// A pointer that is neither null nor misaligned may be written to, as long as the place is there.
    pub(crate) unsafe fn new(place: *mut T, others: &[&[Span]]) -> Result<Self> {
        let place = checked_mut(place)?;
        others.iter().try_for_each(|others| Span::of(place).apart_from(others))?;
        Ok(Self(place))
    }

    /// Where it is.
    pub(crate) fn span(&self) -> Span {
        Span::of(self.0)
    }

    pub(crate) fn write(self, result: T) {
        // SAFETY: by the contract of `OutParam::new`.
        unsafe { self.0.write(result) };
    }
}

/// What lies in the caller's memory where the header says that a state is.
#[repr(C)]
pub(crate) struct State<T> {
    mark: u32,
    value: T,
}

impl<T> State<T> {
    /// Whether a state fits a place of this size and alignment.
    const fn fits(size: usize, align: usize) -> bool {
        size_of::<Self>() <= size && align_of::<Self>() <= align
    }
}

/// Opens a state in the caller's memory, whatever that holds but the mark of a state that is in use. It is no part of the other memory that
/// the function is given.
///
/// It is busy while it is made: callbacks that call with it are refused. A state whose opening fails is not open, unless nothing was
/// written at all because the place is none.
///
/// # Safety
///
/// A pointer that is neither null nor misaligned points to memory for a state, which may be written.
pub(crate) unsafe fn open<P, T>(
    place: *mut P,
    others: &[&[Span]],
    make: impl FnOnce() -> Result<T>,
) -> Result<()> {
    const { assert!(State::<T>::fits(size_of::<P>(), align_of::<P>())) };
    let place = checked_mut(place)?;
    others.iter().try_for_each(|others| Span::of(place).apart_from(others))?;
    let place = place.cast::<State<T>>();
    // SAFETY: checked, and the caller's; what was there is not dropped, as nothing in a state needs that.
    let (mark, value) = unsafe { (&raw mut (*place).mark, &raw mut (*place).value) };
    // SAFETY: as above.
    if unsafe { mark.read() } == BUSY {
        return Err(CALIB_ERROR_BUSY);
    }
    // SAFETY: as above.
    unsafe { mark.write(BUSY) };
    let made = make();
    // SAFETY: as above.
    unsafe {
        match made {
            Ok(made) => {
                value.write(made);
                mark.write(OPEN);
                Ok(())
            }
            Err(error) => {
                mark.write(0);
                Err(error)
            }
        }
    }
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
