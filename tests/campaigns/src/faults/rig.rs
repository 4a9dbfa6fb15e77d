//! A device with its flash, whose power can be cut.

use std::sync::OnceLock;

use calib_core::slot::{InstallError, Receipt, Trust};
use calib_core::{Admission, ArtifactBuffer, Identity, SlotLayout, SlotStore};

use crate::faults::artifacts::{Aligned, admission};
use crate::faults::chip::{OnChip, on_chip};
use crate::faults::flash::{Chip, Flash, FlashFault};
use crate::faults::geometry::Geometry;

/// Words of the buffers that devices here load into.
const WORDS: usize = 256;

/// Why an installation of a device here fails.
pub type Failure = InstallError<FlashFault>;

/// A calibrator that is in force: its bytes and its identity.
pub type Loaded = (Vec<u8>, Identity);

/// A device's slot store over flash of any geometry.
pub trait Store {
    /// Installs an artifact, whose bytes start at a multiple of 4.
    ///
    /// # Errors
    ///
    /// Why it is not installed.
    fn install(&mut self, artifact: &[u8]) -> Result<Receipt, Failure>;

    /// Loads what is in force.
    fn load(&mut self) -> Option<Loaded>;

    /// Whether each slot holds a valid artifact.
    fn survey(&mut self) -> [bool; 2];

    /// Whether a calibrator that may be newer than the one in force was passed over.
    fn is_fallback(&mut self) -> bool;

    /// The flash.
    fn flash(&mut self) -> &mut Flash;

    /// Gives the flash back.
    fn free(self: Box<Self>) -> Flash;
}

impl<const WRITE: usize, const SECTOR: usize, T: Trust> Store for SlotStore<Chip<WRITE, SECTOR>, T> {
    fn install(&mut self, artifact: &[u8]) -> Result<Receipt, Failure> {
        self.install(artifact)
    }

    fn load(&mut self) -> Option<Loaded> {
        let mut buffer = ArtifactBuffer::<WORDS>::new();
        let admitted = self.load(&mut buffer).ok()?;
        Some((admitted.bytes().to_vec(), admitted.artifact().identity()))
    }

    fn survey(&mut self) -> [bool; 2] {
        self.survey().map(|slot| slot.is_ok())
    }

    fn is_fallback(&mut self) -> bool {
        self.fallback_from().is_some()
    }

    fn flash(&mut self) -> &mut Flash {
        &mut self.flash_mut().0
    }

    fn free(self: Box<Self>) -> Flash {
        (*self).free().0
    }
}

/// Starts a device with its flash: its store, and what is in force.
pub type Start = fn(Flash, SlotLayout) -> (Box<dyn Store>, Option<Loaded>);

/// The device that everything here is done to, if it is not calib-core's own store.
static DEVICE: OnceLock<Start> = OnceLock::new();

/// Lets everything in this process be done to another device than calib-core's own store. The first call counts.
pub fn use_device(start: Start) {
    DEVICE.get_or_init(|| start);
}

/// A device with its flash, while its power is on or off.
#[derive(Clone, Debug)]
pub(crate) struct Rig {
    pub(crate) flash: Flash,
    pub(crate) layout: SlotLayout,
    start: Start,
}

impl Rig {
    /// Slots of one sector, or two if a sector is small, apart from each other and from the ends of the flash.
    pub(crate) fn new(geometry: Geometry, seed: u64) -> Self {
        Self::starting(geometry, seed, DEVICE.get().copied().unwrap_or(open))
    }

    /// The same of another device.
    pub(crate) fn starting(geometry: Geometry, seed: u64, start: Start) -> Self {
        let per_slot = if geometry.sector <= 1024 { 2 } else { 1 };
        let sector = geometry.sector as u32;
        // Short sectors, too, begin where every device can have a slot.
        let (gap, len_bytes) = (sector.max(1024), sector * per_slot);
        let offsets = [gap, 2 * gap + len_bytes];
        let layout = SlotLayout { offsets, len_bytes, erased: geometry.erased };
        let sectors = (3 * gap + 2 * len_bytes) / sector;
        Self { flash: Flash::new(geometry, sectors as usize, seed), layout, start }
    }

    /// Where a slot is.
    pub(crate) fn range(&self, slot: usize) -> std::ops::Range<usize> {
        let start = self.layout.offsets[slot] as usize;
        start..start + self.layout.len_bytes as usize
    }

    /// Whether a bit of a slot reads otherwise every time.
    pub(crate) fn is_unstable(&self, slot: usize) -> bool {
        self.flash.is_unstable(self.range(slot))
    }

    /// Starts the device, and lets `work` go on with its store and what was in force, until it ends or the power fails. RAM is
    /// lost then.
    pub(crate) fn run<R>(&mut self, work: impl FnOnce(&mut dyn Store, Option<Loaded>) -> R) -> R {
        let empty = Flash::new(self.flash.geometry(), 0, 0);
        let flash = std::mem::replace(&mut self.flash, empty);
        let (mut store, loaded) = (self.start)(flash, self.layout);
        let result = work(&mut *store, loaded);
        self.flash = store.free();
        result
    }

    /// Starts the device and installs an artifact.
    pub(crate) fn try_install(&mut self, artifact: &Aligned) -> Result<Receipt, Failure> {
        self.run(|store, _| store.install(artifact.bytes()))
    }

    /// Installs an artifact with the power on. If the device looks at its slots again first, that is what starts are for.
    ///
    /// # Errors
    ///
    /// If it does not succeed within 20 starts: why not.
    pub(crate) fn install(&mut self, artifact: &Aligned) -> Result<Receipt, String> {
        let mut last = String::new();
        for _ in 0..20 {
            self.flash.restart();
            match self.try_install(artifact) {
                Ok(receipt) => return Ok(receipt),
                Err(
                    error @ (InstallError::Reload | InstallError::ReadBack { .. } | InstallError::Flash(_)),
                ) => {
                    last = error.to_string();
                }
                Err(error) => return Err(error.to_string()),
            }
        }
        Err(last)
    }

    /// Starts the device with the power on, and returns which of the artifacts is in force: its place in the list.
    ///
    /// # Errors
    ///
    /// If it is none of them: what was loaded instead.
    pub(crate) fn boot(&mut self, known: &[&Aligned]) -> Result<Option<usize>, String> {
        self.flash.restart();
        self.run(|store, _| match store.load() {
            Some(loaded) => which(&loaded, known).map(Some),
            None if store.flash().is_dead() => Err("the flash is dead".into()),
            None => Ok(None),
        })
    }
}

/// Which of the known artifacts was loaded: its place in the list.
///
/// # Errors
///
/// If it is none of them.
pub(crate) fn which((bytes, identity): &Loaded, known: &[&Aligned]) -> Result<usize, String> {
    let found = known.iter().position(|artifact| artifact.bytes() == bytes);
    found.ok_or_else(|| format!("a calibrator that nobody installed is in force: {identity}"))
}

/// A store over the chip that the flash's geometry asks for, and what is in force.
fn open(flash: Flash, layout: SlotLayout) -> (Box<dyn Store>, Option<Loaded>) {
    on_chip(flash, Open(layout, admission()))
}

/// Opens a store.
pub(crate) struct Open<T>(pub(crate) SlotLayout, pub(crate) Admission<T>);

impl<T: Trust + 'static> OnChip for Open<T> {
    type Result = (Box<dyn Store>, Option<Loaded>);

    fn on<const WRITE: usize, const SECTOR: usize>(self, chip: Chip<WRITE, SECTOR>) -> Self::Result {
        let mut buffer = ArtifactBuffer::<WORDS>::new();
        let (store, loaded) = SlotStore::open(chip, self.0, self.1, &mut buffer).expect("the layout fits");
        let loaded = loaded.ok().map(|admitted| (admitted.bytes().to_vec(), admitted.artifact().identity()));
        (Box::new(store), loaded)
    }
}
