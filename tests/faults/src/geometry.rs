//! The flash that devices have.

use calib_core::slot::{Admitted, InstallError, Receipt};
use calib_core::{Anybody, ArtifactBuffer, Erased, SlotLayout, SlotStore};

use crate::artifacts::{Aligned, admission};
use crate::flash::{Flash, FlashFault};

/// Words of the buffers that devices here load into.
pub(crate) const WORDS: usize = 256;

/// Why an installation of a device here fails.
pub(crate) type Failure = InstallError<FlashFault>;

/// A device with its flash, while its power is on or off.
#[derive(Clone, Debug)]
pub(crate) struct Rig<const WRITE: usize, const SECTOR: usize> {
    pub(crate) flash: Flash<WRITE, SECTOR>,
    pub(crate) layout: SlotLayout,
}

pub(crate) type Store<const WRITE: usize, const SECTOR: usize> = SlotStore<Flash<WRITE, SECTOR>, Anybody>;

impl<const WRITE: usize, const SECTOR: usize> Rig<WRITE, SECTOR> {
    /// Slots of one sector, or two if a sector is small, apart from each other and from the ends of the flash.
    pub(crate) fn new(erased: Erased, seed: u64) -> Self {
        let per_slot = if SECTOR <= 1024 { 2 } else { 1 };
        let sector = SECTOR as u32;
        let layout =
            SlotLayout { offsets: [sector, sector * (2 + per_slot)], len_bytes: sector * per_slot, erased };
        let flash = Flash::new(3 + 2 * per_slot as usize, erased.byte(), seed);
        Self { flash, layout }
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

    /// Starts the device, and lets `work` go on with its store, until it ends or the power fails. RAM is lost then.
    pub(crate) fn run<R>(&mut self, work: impl FnOnce(&mut Store<WRITE, SECTOR>) -> R) -> R {
        let empty = Flash::new(0, 0, 0);
        let flash = std::mem::replace(&mut self.flash, empty);
        let mut buffer = ArtifactBuffer::<WORDS>::new();
        let (mut store, _) =
            SlotStore::open(flash, self.layout, admission(), &mut buffer).expect("the layout fits");
        let result = work(&mut store);
        self.flash = store.free();
        result
    }

    /// Installs an artefact with the power on. If the device looks at its slots again first, that is what starts are for.
    ///
    /// # Errors
    ///
    /// If it does not succeed within 20 starts: why not.
    pub(crate) fn install(&mut self, artifact: &Aligned) -> Result<Receipt, String> {
        let mut last = String::new();
        for _ in 0..20 {
            self.flash.restart();
            match self.run(|store| store.install(artifact.bytes())) {
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

    /// Starts the device with the power on, and returns which of the artefacts is in force: its place in the list.
    ///
    /// # Errors
    ///
    /// If it is none of them: what was loaded instead.
    pub(crate) fn boot(&mut self, known: &[&Aligned]) -> Result<Option<usize>, String> {
        self.flash.restart();
        let mut buffer = ArtifactBuffer::<WORDS>::new();
        self.run(|store| match store.load(&mut buffer) {
            Ok(loaded) => which(&loaded, known).map(Some),
            Err(_) if store.flash().is_dead() => Err("the flash is dead".into()),
            Err(_) => Ok(None),
        })
    }
}

fn which(loaded: &Admitted<'_>, known: &[&Aligned]) -> Result<usize, String> {
    let found = known.iter().position(|artifact| artifact.bytes() == loaded.bytes());
    found.ok_or_else(|| {
        format!("a calibrator that nobody installed is in force: {}", loaded.artifact().identity())
    })
}

/// Puts a generic function's works for one write unit and these sectors on a list.
macro_rules! add_works {
    ($works:ident, $function:ident, $scale:ident, $write:literal, $($sector:literal)*) => {
        $(for (at, erased) in [calib_core::Erased::Zeros, calib_core::Erased::Ones].into_iter().enumerate() {
            let seed = $write * 1_000_003 + $sector * 2 + at as u64;
            $works.push(Box::new(move || $function::<$write, $sector>(erased, seed, $scale)));
        })*
    };
}
pub(crate) use add_works;

/// Runs a generic function for every geometry, each with a seed of its own, on as many threads as there are cores.
macro_rules! for_every_geometry {
    ($function:ident, $scale:expr) => {{
        use $crate::geometry::add_works;
        let scale = $scale;
        let mut works: Vec<Box<dyn FnOnce() -> _ + Send>> = Vec::new();
        add_works!(works, $function, scale, 1, 512 4096);
        add_works!(works, $function, scale, 32, 512 4096);
        #[cfg(feature = "every-geometry")]
        {
            add_works!(works, $function, scale, 1, 1024 16_384 131_072);
            add_works!(works, $function, scale, 2, 512 1024 4096 16_384 131_072);
            add_works!(works, $function, scale, 4, 512 1024 4096 16_384 131_072);
            add_works!(works, $function, scale, 8, 512 1024 4096 16_384 131_072);
            add_works!(works, $function, scale, 16, 512 1024 4096 16_384 131_072);
            add_works!(works, $function, scale, 32, 1024 16_384 131_072);
        }
        $crate::geometry::in_parallel(works)
    }};
}
pub(crate) use for_every_geometry;

/// The number of geometries: write units of 1 to 32 bytes, sectors of 512 bytes to 128 KiB, erased to zeros or ones.
pub const GEOMETRIES: usize = if cfg!(feature = "every-geometry") { 6 * 5 * 2 } else { 2 * 2 * 2 };

/// Runs works on all cores, and returns their results in order.
pub(crate) fn in_parallel<R: Send>(works: Vec<Box<dyn FnOnce() -> R + Send + '_>>) -> Vec<R> {
    let count = works.len();
    let queue = std::sync::Mutex::new(works.into_iter().enumerate());
    let results = std::sync::Mutex::new(Vec::with_capacity(count));
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                loop {
                    let Some((index, work)) = queue.lock().expect("no work panics with it").next() else {
                        return;
                    };
                    let result = work();
                    results.lock().expect("no work panics with it").push((index, result));
                }
            });
        }
    });
    let mut results = results.into_inner().expect("no work panics with it");
    results.sort_by_key(|(index, _)| *index);
    results.into_iter().map(|(_, result)| result).collect()
}
