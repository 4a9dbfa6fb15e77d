//! A device in C: the library's functions over the model of flash.

use core::ffi::c_void;

use crate::faults::{Failure, Flash, FlashFault, Loaded, Store};
use calib_c::{
    CALIB_BUFFER_WORDS, CALIB_CALIBRATOR_WORDS, CALIB_ERASED_ONES, CALIB_ERASED_ZEROS, CALIB_ERROR_DOWNGRADE,
    CALIB_ERROR_FLASH, CALIB_ERROR_READ_BACK, CALIB_ERROR_RELOAD, CALIB_ERROR_WORN, CALIB_NO_SLOT, CALIB_OK,
    CALIB_STORE_WORDS, calib_calibrator_t, calib_flash_t, calib_info, calib_info_t, calib_layout_t,
    calib_receipt_t, calib_slots_t, calib_store_install, calib_store_load, calib_store_open,
    calib_store_survey, calib_store_t,
};
use calib_core::slot::{InstallError, Receipt};
use calib_core::{Artifact, Erased, Identity, SlotLayout};

/// The classifier of the campaigns' devices.
const CLASSIFIER: [u8; 8] = *b"faults01";

/// What the callbacks are given.
pub(crate) struct Chip {
    pub(crate) flash: Flash,
    /// The fault that a callback reported last.
    fault: FlashFault,
}

impl Chip {
    pub(crate) fn new(flash: Flash) -> Box<Self> {
        Box::new(Self { flash, fault: FlashFault::PowerCut })
    }

    /// The callbacks, which use it as long as it lives.
    pub(crate) fn callbacks(&mut self) -> calib_flash_t {
        let (len_bytes, sector_bytes) = (self.flash.raw().len() as u32, self.flash.geometry().sector as u32);
        calib_flash_t {
            context: (&raw mut *self).cast(),
            read: Some(read),
            write: Some(write),
            erase: Some(erase),
            len_bytes,
            sector_bytes,
        }
    }
}

/// The library's name for the value of an erased bit.
pub(crate) fn erased(erased: Erased) -> u8 {
    match erased {
        Erased::Ones => CALIB_ERASED_ONES,
        Erased::Zeros => CALIB_ERASED_ZEROS,
    }
}

/// A device whose power is on.
struct Device {
    chip: Box<Chip>,
    store: Box<calib_store_t>,
    buffer: Box<[u64; CALIB_BUFFER_WORDS]>,
}

/// Starts a device.
///
/// # Panics
///
/// If the slots do not fit the flash.
pub fn start(flash: Flash, layout: SlotLayout) -> (Box<dyn Store>, Option<Loaded>) {
    let mut device = Device {
        chip: Chip::new(flash),
        store: Box::new(calib_store_t { opaque: [0; CALIB_STORE_WORDS] }),
        buffer: Box::new([0; CALIB_BUFFER_WORDS]),
    };
    let (flash, erased) = (device.chip.callbacks(), erased(layout.erased));
    let layout =
        calib_layout_t { offsets: layout.offsets, slot_bytes: layout.len_bytes, erased, reserved: [0; 3] };
    // SAFETY: every pointer points to what the function says, which lives as long as the device.
    let opened = unsafe {
        calib_store_open(
            &raw mut *device.store,
            &raw const flash,
            &raw const layout,
            CLASSIFIER.as_ptr(),
            core::ptr::null(),
            device.buffer.as_mut_ptr(),
            CALIB_BUFFER_WORDS,
        )
    };
    assert_eq!(opened, CALIB_OK, "the layout fits");
    let loaded = device.load();
    (Box::new(device), loaded)
}

impl Device {
    /// The counter that stands against a downgrade, which the library's number does not tell. Flash that cannot be read now may hide it
    /// from a survey: then it is the lowest that explains the refusal.
    fn held_against(&mut self, offered: u32) -> u32 {
        let slots = self.slots().slots;
        let counters = slots.iter().filter(|slot| slot.status == CALIB_OK).map(|slot| slot.counter);
        counters.filter(|&held| held > offered).max().unwrap_or(offered + 1)
    }

    fn slots(&mut self) -> calib_slots_t {
        let mut slots =
            calib_slots_t { slots: Default::default(), active: 0, fallback_from: 0, reserved: [0; 2] };
        // SAFETY: the store is open, and the place is there.
        let found = unsafe { calib_store_survey(&raw mut *self.store, &raw mut slots) };
        assert_eq!(found, CALIB_OK, "a survey always ends well");
        slots
    }

    fn failure(&mut self, error: i32, artifact: &[u8]) -> Failure {
        match error {
            CALIB_ERROR_FLASH => InstallError::Flash(self.chip.fault),
            CALIB_ERROR_READ_BACK => InstallError::ReadBack { offset: 0 },
            CALIB_ERROR_RELOAD => InstallError::Reload,
            CALIB_ERROR_WORN => InstallError::NoMark,
            CALIB_ERROR_DOWNGRADE => {
                let offered = Artifact::parse(artifact).map_or(0, |artifact| artifact.counter());
                InstallError::Downgrade { held: self.held_against(offered), offered }
            }
            _ => InstallError::OtherArtifact,
        }
    }
}

impl Store for Device {
    fn install(&mut self, artifact: &[u8]) -> Result<Receipt, Failure> {
        let mut receipt = calib_receipt_t::default();
        // SAFETY: the store is open, and every pointer points to what the function says.
        let done = unsafe {
            let (store, receipt) = (&raw mut *self.store, &raw mut receipt);
            calib_store_install(store, artifact.as_ptr(), artifact.len(), receipt)
        };
        if done != CALIB_OK {
            return Err(self.failure(done, artifact));
        }
        let calib_receipt_t { identity, sequence, slot, .. } = receipt;
        Ok(Receipt { identity: Identity(identity), slot, sequence })
    }

    fn load(&mut self) -> Option<Loaded> {
        let mut calibrator = calib_calibrator_t { opaque: [0; CALIB_CALIBRATOR_WORDS] };
        let mut info = core::mem::MaybeUninit::<calib_info_t>::zeroed();
        // SAFETY: the store is open, and every pointer points to what the function says; all zeros are an info.
        let (loaded, info) = unsafe {
            let loaded = calib_store_load(&raw mut *self.store, &raw mut calibrator);
            if loaded == CALIB_OK {
                assert_eq!(calib_info(&raw const calibrator, info.as_mut_ptr()), CALIB_OK);
            }
            (loaded, info.assume_init())
        };
        if loaded != CALIB_OK {
            return None;
        }
        // The artifact lies somewhere in the buffer, at a multiple of 4.
        let bytes: Vec<u8> = self.buffer.iter().flat_map(|word| word.to_le_bytes()).collect();
        let start = bytes.windows(4).position(|word| word == *b"CALB")?;
        Some((bytes[start..][..info.len_bytes as usize].to_vec(), Identity(info.identity)))
    }

    fn survey(&mut self) -> [bool; 2] {
        self.slots().slots.map(|slot| slot.status == CALIB_OK)
    }

    fn is_fallback(&mut self) -> bool {
        self.slots().fallback_from != CALIB_NO_SLOT
    }

    fn flash(&mut self) -> &mut Flash {
        &mut self.chip.flash
    }

    fn free(self: Box<Self>) -> Flash {
        self.chip.flash
    }
}

/// Uses the chip, and remembers what went wrong.
///
/// # Safety
///
/// `context` points to a chip that nothing else uses.
unsafe fn with_chip(context: *mut c_void, work: impl FnOnce(&mut Flash) -> Result<(), FlashFault>) -> i32 {
    // SAFETY: the caller's.
    let chip = unsafe { &mut *context.cast::<Chip>() };
    match work(&mut chip.flash) {
        Ok(()) => 0,
        Err(fault) => {
            chip.fault = fault;
            1
        }
    }
}

unsafe extern "C" fn read(context: *mut c_void, offset: u32, bytes: *mut u8, len: u32) -> i32 {
    // SAFETY: the library says where to and how much.
    let bytes = unsafe { core::slice::from_raw_parts_mut(bytes, len as usize) };
    // SAFETY: the context is the device's chip.
    unsafe { with_chip(context, |flash| flash.read(offset, bytes)) }
}

unsafe extern "C" fn write(context: *mut c_void, offset: u32, bytes: *const u8, len: u32) -> i32 {
    // SAFETY: the library says where from and how much.
    let bytes = unsafe { core::slice::from_raw_parts(bytes, len as usize) };
    // SAFETY: the context is the device's chip.
    unsafe { with_chip(context, |flash| flash.write(offset, bytes)) }
}

unsafe extern "C" fn erase(context: *mut c_void, offset: u32, len: u32) -> i32 {
    // SAFETY: the context is the device's chip.
    unsafe { with_chip(context, |flash| flash.erase(offset, offset + len)) }
}
