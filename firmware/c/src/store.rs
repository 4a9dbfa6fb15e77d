//! Two slots: loading and installing.

use core::sync::atomic::{AtomicU32, Ordering, compiler_fence};

use calib_core::slot::Admitted;
use calib_core::{Admission, ArtifactBuffer, ClassifierId, SlotStore};
use calib_firmware::{Slot, Task};

use crate::calibrator::{Opened, calib_calibrator_t};
use crate::error::{
    CALIB_ERROR_LENGTH, CALIB_ERROR_TOO_LARGE, CALIB_OK, Result, code, of_fault, of_faults, of_install,
    of_layout,
};
use crate::flash::{Flash, calib_flash_t, calib_layout_t};
use crate::memory::{self, OutParam, Span, State};
use crate::trust::{CALIB_KEY_BYTES, Trusted};

/// Bytes of the longest artifact that is loaded into a buffer.
pub const CALIB_BUFFER_BYTES: usize = 4096;
/// Words, of 8 bytes, of a buffer: `uint64_t buffer[CALIB_BUFFER_WORDS]`.
#[cfg(target_pointer_width = "32")]
pub const CALIB_BUFFER_WORDS: usize = 514;
/// Words, of 8 bytes, of a buffer: `uint64_t buffer[CALIB_BUFFER_WORDS]`.
#[cfg(target_pointer_width = "64")]
pub const CALIB_BUFFER_WORDS: usize = 515;
/// Words, of 8 bytes, of a `calib_store_t`.
#[cfg(target_pointer_width = "32")]
pub const CALIB_STORE_WORDS: usize = 50;
/// Words, of 8 bytes, of a `calib_store_t`.
#[cfg(target_pointer_width = "64")]
pub const CALIB_STORE_WORDS: usize = 62;
/// In `calib_slots_t.active`: neither slot holds a calibrator that is accepted.
pub const CALIB_NO_SLOT: u8 = 255;

/// Two slots in flash, of which one always holds a calibrator once one was installed. Opened by `calib_store_open`; there is nothing to
/// close.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct calib_store_t {
    /// Internal.
    pub opaque: [u64; CALIB_STORE_WORDS],
}

/// An acknowledged installation.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct calib_receipt_t {
    /// The artifact's name.
    pub identity: [u8; 8],
    /// The number of the installation on this device, from 1 on.
    pub sequence: u32,
    /// The slot that holds it, 0 or 1.
    pub slot: u8,
    /// Always 0.
    pub reserved: [u8; 3],
}

/// What a slot holds.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct calib_slot_t {
    /// `CALIB_OK` if an installation is complete in it; otherwise why not, and the rest is 0.
    pub status: i32,
    /// The artifact's length in bytes.
    pub len_bytes: u32,
    /// The artifact's counter.
    pub counter: u32,
    /// The number of the installation.
    pub sequence: u32,
    /// The artifact's name.
    pub identity: [u8; 8],
}

/// What both slots hold.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct calib_slots_t {
    /// Each slot.
    pub slots: [calib_slot_t; 2],
    /// The slot whose calibrator was loaded last, or `CALIB_NO_SLOT`.
    pub active: u8,
    /// The slot that may hold a newer calibrator than the active one and cannot be used, or `CALIB_NO_SLOT`.
    pub fallback_from: u8,
    /// Always 0.
    pub reserved: [u8; 2],
}

/// What an artifact is loaded into.
pub(crate) type Buffer = ArtifactBuffer<{ CALIB_BUFFER_BYTES / 4 }>;

/// The buffer in the caller's memory, which counts its loads.
#[repr(C)]
pub(crate) struct Counted {
    buffer: Buffer,
    loads: AtomicU32,
}

const _: () = assert!(size_of::<Counted>() <= 8 * CALIB_BUFFER_WORDS);

impl Counted {
    /// The buffer.
    ///
    /// # Safety
    ///
    /// `counted` points to a buffer that [`buffer`] made.
    pub(crate) const unsafe fn buffer(counted: *mut Self) -> *mut Buffer {
        // SAFETY: the caller's.
        unsafe { &raw mut (*counted).buffer }
    }

    /// Takes from all calibrators so far what is in the buffer, and gives it to the next.
    ///
    /// # Safety
    ///
    /// `counted` points to memory for a buffer, whatever it holds.
    unsafe fn lend(counted: *mut Self) -> Lease {
        // SAFETY: the caller's; every number is one.
        let loads = unsafe { &(*counted).loads };
        // The number goes on from what the memory holds: a store that is opened again does not give out the same one.
        let load = loads.load(Ordering::Relaxed).wrapping_add(1);
        loads.store(load, Ordering::Relaxed);
        // An interrupt that applies a calibrator while the next one is loaded finds the new number.
        compiler_fence(Ordering::SeqCst);
        Lease { loads, load }
    }
}

/// The right of a calibrator to what a buffer holds, until the next load.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Lease {
    loads: *const AtomicU32,
    load: u32,
}

impl Lease {
    /// Whether nothing was loaded since.
    ///
    /// # Safety
    ///
    /// The buffer is there.
    pub(crate) unsafe fn holds(self) -> bool {
        // SAFETY: the caller's.
        unsafe { &*self.loads }.load(Ordering::Relaxed) == self.load
    }
}

/// An open store.
#[derive(Debug)]
struct OpenStore {
    store: SlotStore<Flash, Trusted>,
    buffer: *mut Counted,
}

impl OpenStore {
    /// What a call with this store must leave alone: it, and the buffer.
    fn own(&self, store: *const calib_store_t) -> [Span; 2] {
        [Span::of(store), Span::of(self.buffer)]
    }
}

/// Makes an empty buffer of the caller's words, which are no part of the other memory that the function is given.
///
/// # Safety
///
/// A pointer that is neither null nor misaligned points to so many words, which may be written, and which nothing else uses while
/// the buffer is used.
pub(crate) unsafe fn buffer(words: *mut u64, len: usize, others: &[Span]) -> Result<*mut Counted> {
    let buffer = memory::checked_mut(words.cast::<Counted>())?;
    if len < CALIB_BUFFER_WORDS {
        return Err(CALIB_ERROR_LENGTH);
    }
    buffer_span(words).apart_from(others)?;
    // SAFETY: checked, and the caller's; an empty buffer's words are not initialized.
    unsafe {
        let _ = Counted::lend(buffer);
        Counted::buffer(buffer).write(Buffer::new());
    }
    Ok(buffer)
}

/// Where a buffer lies.
pub(crate) fn buffer_span(words: *const u64) -> Span {
    Span::of_slice(words, CALIB_BUFFER_WORDS)
}

/// What a store is made of.
///
/// # Safety
///
/// As [`calib_store_open`].
pub(crate) unsafe fn parts(
    flash: *const calib_flash_t,
    layout: *const calib_layout_t,
    classifier: ClassifierId,
    key: *const u8,
) -> Result<(Flash, calib_core::SlotLayout, Admission<Trusted>)> {
    // SAFETY: the caller's.
    let (flash, layout) = unsafe { Flash::with_slots(memory::copied(flash)?, memory::copied(layout)?) }?;
    // SAFETY: the caller's.
    let trusted = unsafe { Trusted::new(key) }?;
    Ok((flash, layout, Admission::new(trusted, classifier)))
}

/// Takes the flash with two slots, for the classifier of this identity.
///
/// `classifier` points to 8 bytes. `key` points to the 32 bytes of the public key with which artifacts must be signed; null
/// accepts every artifact. `buffer` has room for `CALIB_BUFFER_WORDS` words; artifacts are loaded into it, so calibrators point
/// to it. The slots are read, and nothing is written. It is no error if there is no calibrator: `calib_store_load` reports that.
///
/// # Safety
///
/// Pointers that are neither null nor misaligned point to as many values as stated, which may be read or written as stated.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn calib_store_open(
    store: *mut calib_store_t,
    flash: *const calib_flash_t,
    layout: *const calib_layout_t,
    classifier: *const u8,
    key: *const u8,
    buffer: *mut u64,
    buffer_words: usize,
) -> i32 {
    let read = [
        Span::of(flash),
        Span::of(layout),
        Span::of(classifier.cast::<[u8; 8]>()),
        Span::of(key.cast::<[u8; CALIB_KEY_BYTES]>()),
    ];
    let make = || {
        // SAFETY: the caller's.
        let id = ClassifierId(unsafe { memory::copied(classifier.cast()) }?);
        // SAFETY: the caller's.
        let (flash, layout, admission) = unsafe { parts(flash, layout, id, key) }?;
        // SAFETY: the caller's.
        let buffer = unsafe { self::buffer(buffer, buffer_words, &read) }?;
        // SAFETY: as above; the borrow ends here.
        let (store, _) = SlotStore::open(flash, layout, admission, unsafe { &mut *Counted::buffer(buffer) })
            .map_err(of_layout)?;
        Ok(OpenStore { store, buffer })
    };
    // SAFETY: the caller's.
    code(unsafe { memory::open(store, &[&read, &[buffer_span(buffer)]], make) })
}

/// Loads the active calibrator into the store's buffer, checks it there, and opens it.
///
/// Calibrators that were loaded before point to the same buffer: from then on they are refused with `CALIB_ERROR_STATE`, also if nothing could be
/// loaded. Other threads do not apply them meanwhile.
///
/// # Safety
///
/// As [`calib_store_open`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn calib_store_load(
    store: *mut calib_store_t,
    calibrator: *mut calib_calibrator_t,
) -> i32 {
    let load = |opened: &mut OpenStore| {
        let own = opened.own(store);
        let make = || {
            // SAFETY: the buffer is the store's, and the calibrators from before no longer look at it.
            let (lease, buffer): (_, &'static mut Buffer) =
                unsafe { (Counted::lend(opened.buffer), &mut *Counted::buffer(opened.buffer)) };
            let admitted: Admitted<'static> = opened.store.load(buffer).map_err(of_faults)?;
            let artifact = *admitted.artifact();
            let slot = Slot::admitted(Ok(admitted), Task::of(&artifact));
            Opened::new(slot, &artifact, Span::of(opened.buffer), Some(lease))
        };
        // SAFETY: the caller's.
        unsafe { memory::open(calibrator, &[&own], make) }
    };
    // SAFETY: the caller's.
    code(unsafe { memory::work(store.cast::<State<OpenStore>>(), load) })
}

/// Checks an artifact of `len` bytes and installs it in the slot that is not active; `receipt` may be null.
///
/// The power may fail at any moment: the active calibrator is then the old one or the new one. Once this returns `CALIB_OK`, it is
/// the new one. `bytes` starts at a multiple of 4, and has at most `CALIB_BUFFER_BYTES`. The calibrator that was loaded stays usable; `calib_store_load` loads the new
/// one.
///
/// # Safety
///
/// As [`calib_store_open`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn calib_store_install(
    store: *mut calib_store_t,
    bytes: *const u8,
    len: usize,
    receipt: *mut calib_receipt_t,
) -> i32 {
    let install = |opened: &mut OpenStore| {
        let (own, given) = (opened.own(store), Span::of_slice(bytes, len));
        given.apart_from(&own)?;
        let receipt = match receipt.is_null() {
            true => None,
            // SAFETY: the caller's.
            false => Some(unsafe { OutParam::new(receipt, &[&own, &[given]]) }?),
        };
        // SAFETY: the caller's.
        let bytes = unsafe { memory::slice(bytes, len) }?;
        // A slot may be longer than the buffer, and what cannot be loaded would never be active.
        if len > CALIB_BUFFER_BYTES {
            return Err(CALIB_ERROR_TOO_LARGE);
        }
        let done = opened.store.install(bytes).map_err(of_install)?;
        let identity = done.identity.0;
        if let Some(receipt) = receipt {
            let (sequence, slot) = (done.sequence, done.slot);
            receipt.write(calib_receipt_t { identity, sequence, slot, reserved: [0; 3] });
        }
        Ok(())
    };
    // SAFETY: the caller's.
    code(unsafe { memory::work(store.cast::<State<OpenStore>>(), install) })
}

/// Reads both slots completely, and reports what they hold.
///
/// # Safety
///
/// As [`calib_store_open`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn calib_store_survey(store: *mut calib_store_t, slots: *mut calib_slots_t) -> i32 {
    let survey = |opened: &mut OpenStore| {
        // SAFETY: the caller's.
        let place = unsafe { OutParam::new(slots, &[&opened.own(store)]) }?;
        let slots = opened.store.survey().map(|slot| match slot {
            Ok(content) => calib_slot_t {
                status: CALIB_OK,
                len_bytes: content.len_bytes,
                counter: content.counter,
                sequence: content.sequence,
                identity: content.identity.0,
            },
            Err(fault) => calib_slot_t { status: of_fault(fault), ..calib_slot_t::default() },
        });
        let active = opened.store.current_slot().map_or(CALIB_NO_SLOT, |slot| slot as u8);
        let fallback_from = opened.store.fallback_from().map_or(CALIB_NO_SLOT, |slot| slot.slot);
        place.write(calib_slots_t { slots, active, fallback_from, reserved: [0; 2] });
        Ok(())
    };
    // SAFETY: the caller's.
    code(unsafe { memory::work(store.cast::<State<OpenStore>>(), survey) })
}
