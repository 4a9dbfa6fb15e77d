//! The geometries of flash, and a campaign's work over all of them.

use std::fmt;

use calib_core::Erased;

/// How flash is written and erased.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Geometry {
    /// Bytes of a write unit.
    pub write: usize,
    /// Bytes of a sector, which is erased as a whole.
    pub sector: usize,
    /// What erased bytes read as.
    pub erased: Erased,
}

/// Write units, in bytes.
const WRITES: [usize; 6] = [1, 2, 4, 8, 16, 32];
/// Sectors, in bytes.
const SECTORS: [usize; 5] = [512, 1024, 4096, 16_384, 131_072];

impl Geometry {
    /// Write units of 1 to 32 bytes, sectors of 512 bytes to 128 KiB, erased to zeros or ones.
    pub fn all() -> Vec<Self> {
        let erased = [Erased::Zeros, Erased::Ones];
        let of_unit = |&write: &usize| {
            let of_sector = move |&sector: &usize| erased.map(|erased| Self { write, sector, erased });
            SECTORS.iter().flat_map(of_sector)
        };
        WRITES.iter().flat_map(of_unit).collect()
    }

    /// What is drawn for it begins here.
    fn seed(self) -> u64 {
        self.write as u64 * 1_000_003 + self.sector as u64 * 2 + u64::from(self.erased == Erased::Ones)
    }
}

impl fmt::Display for Geometry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { write, sector, erased } = self;
        write!(f, "write {write}, sector {sector}, erased {erased:?}")
    }
}

/// Does a piece of work for every geometry, each with a seed of its own, and returns the results in their order.
pub(crate) fn for_every_geometry<R: Send>(work: impl Fn(Geometry, u64) -> R + Sync) -> Vec<R> {
    let work = &work;
    let of = |geometry: Geometry| -> Box<dyn FnOnce() -> R + Send + '_> {
        Box::new(move || work(geometry, geometry.seed()))
    };
    in_parallel(Geometry::all().into_iter().map(of).collect())
}

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
