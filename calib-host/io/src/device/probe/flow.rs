//! Writing flash through a probe: plan, write, read back, look at the neighbors.

use super::access::{AccessError, FlashAccess, Sector};
use super::error::FlashError;

/// Bytes and where they belong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Segment {
    /// The address of the first.
    pub addr: u64,
    /// The bytes.
    pub bytes: Vec<u8>,
}

/// What will be erased, and what is beside it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FlashPlan {
    /// The sectors that will be erased.
    pub erased: Vec<Sector>,
    /// The sectors on either side, which must stay as they are.
    pub neighbors: Vec<Sector>,
}

/// What was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FlashReport {
    /// The sectors erased.
    pub sectors: usize,
    /// The bytes written and read back.
    pub written_bytes: usize,
    /// The bytes of neighboring sectors found as they were.
    pub neighbor_bytes: u64,
}

impl FlashPlan {
    /// How many bytes will be erased.
    pub fn erased_bytes(&self) -> u64 {
        self.erased.iter().map(|sector| sector.len_bytes).sum()
    }
}

/// Says which sectors writing these segments erases. With `whole`, a segment that shares a sector with anything else is
/// refused.
///
/// # Errors
///
/// If there is no flash, or a sector would be shared.
pub fn flash_plan(
    access: &impl FlashAccess,
    segments: &[Segment],
    whole: bool,
) -> Result<FlashPlan, FlashError> {
    let mut erased: Vec<Sector> = Vec::new();
    for segment in segments {
        let (start, end) = (segment.addr, segment.addr + segment.bytes.len() as u64);
        let sectors = access.sectors(start..end);
        let mut covered = start;
        for &sector in &sectors {
            if sector.addr > covered {
                break;
            }
            covered = covered.max(sector.addr + sector.len_bytes);
            if whole && (sector.addr < start || sector.addr + sector.len_bytes > end) {
                return Err(FlashError::NotWhole { slot_addr: start, slot_end: end, sector });
            }
        }
        if covered < end {
            return Err(FlashError::NoFlash(covered));
        }
        erased.extend(sectors);
    }
    erased.sort_by_key(|sector| sector.addr);
    erased.dedup();
    let mut neighbors: Vec<Sector> = erased
        .iter()
        .flat_map(|sector| {
            let end = sector.addr + sector.len_bytes;
            let before = sector.addr.checked_sub(1).map(|addr| access.sectors(addr..addr + 1));
            before.into_iter().flatten().chain(access.sectors(end..end + 1))
        })
        .filter(|sector| !erased.contains(sector))
        .collect();
    neighbors.sort_by_key(|sector| sector.addr);
    neighbors.dedup();
    Ok(FlashPlan { erased, neighbors })
}

/// Writes segments as planned, reads all of them back, and compares the neighboring sectors with what they were. What is
/// written does not run before the chip is reset.
///
/// # Errors
///
/// If the probe fails, or flash is not as it should be: where it first differs.
pub fn flash(
    access: &mut impl FlashAccess,
    segments: &[Segment],
    plan: &FlashPlan,
    mut watch: impl FnMut(u64),
) -> Result<FlashReport, FlashError> {
    let before = plan.neighbors.iter().map(|&sector| read(access, sector)).collect::<Result<Vec<_>, _>>()?;
    let mut done = 0;
    for Segment { addr, bytes } in segments {
        access.write(*addr, bytes)?;
        done += bytes.len() as u64;
        watch(done);
    }
    for Segment { addr, bytes } in segments {
        let mut found = vec![0; bytes.len()];
        access.read(*addr, &mut found)?;
        if let Some((at, (&written, &read))) = first_difference(bytes, &found) {
            return Err(FlashError::ReadBack { addr: addr + at as u64, written, read });
        }
    }
    for (&sector, before) in plan.neighbors.iter().zip(&before) {
        let now = read(access, sector)?;
        if let Some((at, (&before, &after))) = first_difference(before, &now) {
            return Err(FlashError::Neighbor { addr: sector.addr + at as u64, before, after });
        }
    }
    Ok(FlashReport {
        sectors: plan.erased.len(),
        written_bytes: segments.iter().map(|segment| segment.bytes.len()).sum(),
        neighbor_bytes: plan.neighbors.iter().map(|sector| sector.len_bytes).sum(),
    })
}

fn read(access: &mut impl FlashAccess, sector: Sector) -> Result<Vec<u8>, AccessError> {
    let mut bytes = vec![0; sector.len_bytes as usize];
    access.read(sector.addr, &mut bytes)?;
    Ok(bytes)
}

fn first_difference<'a>(a: &'a [u8], b: &'a [u8]) -> Option<(usize, (&'a u8, &'a u8))> {
    a.iter().zip(b).enumerate().find(|(_, (a, b))| a != b)
}

#[cfg(test)]
mod tests {
    use std::ops::Range;

    use super::*;

    const BASE: u64 = 0x1000;
    const SECTOR: u64 = 0x100;

    /// A chip with 16 sectors, and what goes wrong with it.
    struct Mock {
        flash: Vec<u8>,
        fault: MockFault,
        writes: Vec<(u64, usize)>,
    }

    #[derive(Clone, Copy, PartialEq)]
    enum MockFault {
        None,
        /// The probe is pulled at this call.
        ReadFails(usize),
        WriteFails,
        /// This byte keeps a bit.
        Stuck(u64),
        /// Erasing takes the next sector with it.
        ErasesMore,
    }

    impl Mock {
        fn new(fault: MockFault) -> Self {
            let flash = (0..16 * SECTOR).map(|at| (at % 251) as u8).collect();
            Self { flash, fault, writes: Vec::new() }
        }

        fn at(&mut self, addr: u64) -> &mut u8 {
            &mut self.flash[(addr - BASE) as usize]
        }
    }

    impl FlashAccess for Mock {
        fn sectors(&self, range: Range<u64>) -> Vec<Sector> {
            (0..16)
                .map(|index| Sector { addr: BASE + index * SECTOR, len_bytes: SECTOR })
                .filter(|sector| sector.addr < range.end && range.start < sector.addr + sector.len_bytes)
                .collect()
        }

        fn read(&mut self, addr: u64, bytes: &mut [u8]) -> Result<(), AccessError> {
            if let MockFault::ReadFails(left) = &mut self.fault {
                if *left == 0 {
                    return Err(AccessError::Read { addr, cause: "pulled".into() });
                }
                *left -= 1;
            }
            let from = (addr - BASE) as usize;
            bytes.copy_from_slice(&self.flash[from..from + bytes.len()]);
            Ok(())
        }

        fn write(&mut self, addr: u64, bytes: &[u8]) -> Result<(), AccessError> {
            if self.fault == MockFault::WriteFails {
                return Err(AccessError::Write { addr, cause: "pulled".into() });
            }
            self.writes.push((addr, bytes.len()));
            for sector in self.sectors(addr..addr + bytes.len() as u64) {
                let more = u64::from(self.fault == MockFault::ErasesMore);
                (sector.addr..sector.addr + sector.len_bytes + more).for_each(|at| *self.at(at) = 0xFF);
            }
            for (at, &byte) in (addr..).zip(bytes) {
                *self.at(at) = byte;
            }
            if let MockFault::Stuck(at) = self.fault {
                *self.at(at) ^= 0x10;
            }
            Ok(())
        }

        fn write_memory(&mut self, addr: u64, _: &[u8]) -> Result<(), AccessError> {
            panic!("memory is written at {addr:#x}")
        }

        fn reset(&mut self) -> Result<(), AccessError> {
            panic!("it is reset")
        }
    }

    fn slot() -> [Segment; 1] {
        [Segment { addr: BASE + 4 * SECTOR, bytes: vec![0x5A; 2 * SECTOR as usize] }]
    }

    fn run(fault: MockFault) -> (Result<FlashReport, FlashError>, Mock) {
        let mut mock = Mock::new(fault);
        let plan = flash_plan(&mock, &slot(), true).unwrap();
        (flash(&mut mock, &slot(), &plan, |_| ()), mock)
    }

    #[test]
    fn only_the_slots_sectors_are_erased_and_all_is_read_back() {
        let (report, mock) = run(MockFault::None);
        let expected = FlashReport { sectors: 2, written_bytes: 512, neighbor_bytes: 512 };
        assert_eq!(report, Ok(expected));
        assert_eq!(mock.writes, [(BASE + 4 * SECTOR, 512)]);
        let fresh = Mock::new(MockFault::None).flash;
        assert_eq!((&mock.flash[..1024], &mock.flash[1536..]), (&fresh[..1024], &fresh[1536..]));
        assert!(mock.flash[1024..1536].iter().all(|&byte| byte == 0x5A));
    }

    #[test]
    fn every_failure_is_told_with_its_place() {
        let written = BASE + 4 * SECTOR + 77;
        let pulled = |addr| Err(FlashError::Access(AccessError::Read { addr, cause: "pulled".into() }));
        let beside = BASE + 6 * SECTOR;
        let before = Mock::new(MockFault::None).flash[(beside - BASE) as usize];
        let cases = [
            (MockFault::ReadFails(0), pulled(BASE + 3 * SECTOR)),
            (MockFault::ReadFails(1), pulled(beside)),
            (MockFault::ReadFails(2), pulled(BASE + 4 * SECTOR)),
            (MockFault::ReadFails(3), pulled(BASE + 3 * SECTOR)),
            (MockFault::ReadFails(4), pulled(beside)),
            (
                MockFault::WriteFails,
                Err(FlashError::Access(AccessError::Write {
                    addr: BASE + 4 * SECTOR,
                    cause: "pulled".into(),
                })),
            ),
            (
                MockFault::Stuck(written),
                Err(FlashError::ReadBack { addr: written, written: 0x5A, read: 0x4A }),
            ),
            (MockFault::ErasesMore, Err(FlashError::Neighbor { addr: beside, before, after: 0xFF })),
        ];
        for (fault, expected) in cases {
            let (result, mock) = run(fault);
            assert_eq!(result, expected);
            let wrote = !matches!(fault, MockFault::ReadFails(0 | 1) | MockFault::WriteFails);
            assert_eq!(mock.writes.len(), usize::from(wrote), "nothing is written before all was read");
        }
    }

    #[test]
    fn a_slot_is_of_whole_sectors_within_flash() {
        let mock = Mock::new(MockFault::None);
        let at = |addr, len| [Segment { addr, bytes: vec![0; len] }];
        for (addr, len) in [(BASE + 8, 0x100), (BASE, 0x180), (BASE + 0x80, 0x80)] {
            let refused = flash_plan(&mock, &at(addr, len), true);
            assert!(matches!(refused, Err(FlashError::NotWhole { slot_addr, .. }) if slot_addr == addr));
            assert!(flash_plan(&mock, &at(addr, len), false).is_ok(), "a program needs no whole sectors");
        }
        assert_eq!(
            flash_plan(&mock, &at(BASE + 15 * SECTOR, 0x200), true),
            Err(FlashError::NoFlash(BASE + 16 * SECTOR))
        );
        assert_eq!(flash_plan(&mock, &at(BASE - 4, 0x200), false), Err(FlashError::NoFlash(BASE - 4)));
        let first = flash_plan(&mock, &at(BASE, 0x100), true).unwrap();
        assert_eq!(first.neighbors, [Sector { addr: BASE + SECTOR, len_bytes: SECTOR }]);
    }
}
