//! The caller's three functions as flash.

use core::ffi::c_void;

use calib_core::{Erased, SlotLayout};
use embedded_storage::nor_flash::{ErrorType, NorFlash, NorFlashError, NorFlashErrorKind, ReadNorFlash};

use crate::error::{CALIB_ERROR_ARGUMENT, CALIB_ERROR_LAYOUT, Result};

/// In `calib_layout_t.erased`: erased bytes are 0xFF, as in nearly all flash.
pub const CALIB_ERASED_ONES: u8 = 0;
/// In `calib_layout_t.erased`: erased bytes are 0x00.
pub const CALIB_ERASED_ZEROS: u8 = 1;

/// The caller's flash. A callback returns 0 if it succeeded, and any other number if not. No callback may call a function with the
/// state that it serves.
///
/// A callback may take as long as the flash does: there is no limit, and a function returns after the last of its callbacks. An installation
/// erases one slot, writes it and reads it back. A save of a journal writes one record, and erases at most 4096 bytes, or one longer sector;
/// beginning with another calibrator and a reset erase all of the journal. A watchdog is fed by the callbacks, or allows for the sum.
///
/// What is asked for lies within a slot and is of whole units of 32 bytes. So the flash's own units, in which it is read and
/// written, divide 32. Nothing is written over what does not read as erased.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct calib_flash_t {
    /// Handed to every callback as it is; may be null.
    pub context: *mut c_void,
    /// Reads `len` bytes at `offset`.
    pub read:
        Option<unsafe extern "C" fn(context: *mut c_void, offset: u32, bytes: *mut u8, len: u32) -> i32>,
    /// Writes `len` bytes, which are erased, at `offset`.
    pub write:
        Option<unsafe extern "C" fn(context: *mut c_void, offset: u32, bytes: *const u8, len: u32) -> i32>,
    /// Erases the sector at `offset`, of `len` bytes.
    pub erase: Option<unsafe extern "C" fn(context: *mut c_void, offset: u32, len: u32) -> i32>,
    /// The length of the flash in bytes.
    pub len_bytes: u32,
    /// The length of a sector in bytes, all of which is erased at once: a part of 1024 or a multiple of it.
    pub sector_bytes: u32,
}

/// The place of two slots in the flash: of whole sectors, of whole units of 1024 bytes, with nothing else in them.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct calib_layout_t {
    /// The offsets of the slots in the flash, in bytes.
    pub offsets: [u32; 2],
    /// The length of either slot in bytes. An artifact may be 288 bytes shorter.
    pub slot_bytes: u32,
    /// `CALIB_ERASED_ONES` or `CALIB_ERASED_ZEROS`.
    pub erased: u8,
    /// Always 0.
    pub reserved: [u8; 3],
}

/// The number that a callback returned.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FlashError;

impl NorFlashError for FlashError {
    fn kind(&self) -> NorFlashErrorKind {
        NorFlashErrorKind::Other
    }
}

type Read = unsafe extern "C" fn(*mut c_void, u32, *mut u8, u32) -> i32;
type Write = unsafe extern "C" fn(*mut c_void, u32, *const u8, u32) -> i32;
type Erase = unsafe extern "C" fn(*mut c_void, u32, u32) -> i32;

/// Flash with sectors of any length behind a `NorFlash` with sectors of [`Flash::ERASE_SIZE`]: a shorter sector is erased several
/// times in one call, and a longer one with the first of its parts. The slot store erases whole slots from their start, and sees
/// that every part is erased.
#[derive(Debug)]
pub(crate) struct Flash {
    context: *mut c_void,
    read: Read,
    write: Write,
    erase: Erase,
    len_bytes: u32,
    sector_bytes: u32,
}

/// The value of an erased bit.
pub(crate) fn erased(bits: u8) -> Result<Erased> {
    match bits {
        CALIB_ERASED_ONES => Ok(Erased::Ones),
        CALIB_ERASED_ZEROS => Ok(Erased::Zeros),
        _ => Err(CALIB_ERROR_ARGUMENT),
    }
}

impl Flash {
    /// Checks what depends on nothing else: that all callbacks are there, and that sectors are parts of `part` or multiples of it.
    ///
    /// # Safety
    ///
    /// The callbacks may be called with the context.
    pub(crate) unsafe fn new(flash: calib_flash_t, part: u32) -> Result<Self> {
        let calib_flash_t { context, len_bytes, sector_bytes, .. } = flash;
        let (Some(read), Some(write), Some(erase)) = (flash.read, flash.write, flash.erase) else {
            return Err(CALIB_ERROR_ARGUMENT);
        };
        let known = part.is_multiple_of(sector_bytes) || sector_bytes.is_multiple_of(part);
        if sector_bytes == 0 || !known {
            return Err(CALIB_ERROR_LAYOUT);
        }
        Ok(Self { context, read, write, erase, len_bytes, sector_bytes })
    }

    /// The same, for slots that are of whole sectors.
    ///
    /// # Safety
    ///
    /// As [`Flash::new`].
    pub(crate) unsafe fn with_slots(
        flash: calib_flash_t,
        layout: calib_layout_t,
    ) -> Result<(Self, SlotLayout)> {
        // SAFETY: the caller's.
        let flash = unsafe { Self::new(flash, Self::ERASE_SIZE as u32) }?;
        let calib_layout_t { offsets, slot_bytes, erased: bits, reserved } = layout;
        let erased = erased(bits)?;
        if reserved != [0; 3] {
            return Err(CALIB_ERROR_ARGUMENT);
        }
        let whole = |length: u32| length.is_multiple_of(flash.sector_bytes);
        if ![offsets[0], offsets[1], slot_bytes].into_iter().all(whole) {
            return Err(CALIB_ERROR_LAYOUT);
        }
        Ok((flash, SlotLayout { offsets, len_bytes: slot_bytes, erased }))
    }

    pub(crate) const fn len_bytes(&self) -> u32 {
        self.len_bytes
    }

    pub(crate) const fn sector_bytes(&self) -> u32 {
        self.sector_bytes
    }

    /// Erases the sector that starts at `offset`.
    pub(crate) fn erase_sector(&mut self, offset: u32) -> core::result::Result<(), FlashError> {
        // SAFETY: by the contract of `Flash::new`.
        said(unsafe { (self.erase)(self.context, offset, self.sector_bytes) })
    }
}

/// What a callback said.
fn said(returned: i32) -> core::result::Result<(), FlashError> {
    if returned == 0 { Ok(()) } else { Err(FlashError) }
}

impl ErrorType for Flash {
    type Error = FlashError;
}

impl ReadNorFlash for Flash {
    const READ_SIZE: usize = 1;

    fn read(&mut self, offset: u32, bytes: &mut [u8]) -> core::result::Result<(), FlashError> {
        // Of at most a few hundred bytes.
        let len = bytes.len() as u32;
        // SAFETY: by the contract of `Flash::new`; the callback writes no more than `len` bytes.
        said(unsafe { (self.read)(self.context, offset, bytes.as_mut_ptr(), len) })
    }

    fn capacity(&self) -> usize {
        self.len_bytes as usize
    }
}

impl NorFlash for Flash {
    const WRITE_SIZE: usize = 32;
    const ERASE_SIZE: usize = 1024;

    fn erase(&mut self, from: u32, to: u32) -> core::result::Result<(), FlashError> {
        let mut at = from;
        while at < to {
            // A longer sector was erased with its first part.
            if at.is_multiple_of(self.sector_bytes) {
                self.erase_sector(at)?;
            }
            let step = self.sector_bytes.min(Self::ERASE_SIZE as u32);
            at = at.saturating_add(step);
        }
        Ok(())
    }

    fn write(&mut self, offset: u32, bytes: &[u8]) -> core::result::Result<(), FlashError> {
        let len = bytes.len() as u32;
        // SAFETY: by the contract of `Flash::new`; the callback reads no more than `len` bytes.
        said(unsafe { (self.write)(self.context, offset, bytes.as_ptr(), len) })
    }
}
