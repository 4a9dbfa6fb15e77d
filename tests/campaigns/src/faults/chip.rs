//! Flash with its geometry in its type.

use crate::faults::flash::{Chip, Flash};
use crate::faults::geometry::Geometry;

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
                1024 => work.on(Chip::<$write, 1024>(flash)),
                4096 => work.on(Chip::<$write, 4096>(flash)),
                16_384 => work.on(Chip::<$write, 16_384>(flash)),
                131_072 => work.on(Chip::<$write, 131_072>(flash)),
                _ => panic!("no device here has sectors of {sector} bytes"),
            }
        };
    }
    match write {
        1 => of_unit!(1),
        2 => of_unit!(2),
        4 => of_unit!(4),
        8 => of_unit!(8),
        16 => of_unit!(16),
        32 => of_unit!(32),
        _ => panic!("no device here has write units of {write} bytes"),
    }
}
