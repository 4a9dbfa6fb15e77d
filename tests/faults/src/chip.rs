//! Flash with its geometry in its type.

use crate::flash::{Chip, Flash};
use crate::geometry::Geometry;

/// Work on flash whose geometry is in its type.
pub(crate) trait OnChip {
    /// What it gives.
    type Result;

    /// Does the work.
    fn on<const WRITE: usize, const SECTOR: usize>(self, chip: Chip<WRITE, SECTOR>) -> Self::Result;
}

/// Does work on the chip that the flash's geometry asks for.
pub(crate) fn on_chip<W: OnChip>(flash: Flash, work: W) -> W::Result {
    let Geometry { write, sector, .. } = flash.geometry();
    macro_rules! of_unit {
        ($write:literal) => {
            match sector {
                512 => work.on(Chip::<$write, 512>(flash)),
                4096 => work.on(Chip::<$write, 4096>(flash)),
                #[cfg(feature = "every-geometry")]
                1024 => work.on(Chip::<$write, 1024>(flash)),
                #[cfg(feature = "every-geometry")]
                16_384 => work.on(Chip::<$write, 16_384>(flash)),
                #[cfg(feature = "every-geometry")]
                131_072 => work.on(Chip::<$write, 131_072>(flash)),
                _ => panic!("no device here has sectors of {sector} bytes"),
            }
        };
    }
    match write {
        1 => of_unit!(1),
        32 => of_unit!(32),
        #[cfg(feature = "every-geometry")]
        2 => of_unit!(2),
        #[cfg(feature = "every-geometry")]
        4 => of_unit!(4),
        #[cfg(feature = "every-geometry")]
        8 => of_unit!(8),
        #[cfg(feature = "every-geometry")]
        16 => of_unit!(16),
        _ => panic!("no device here has write units of {write} bytes"),
    }
}
