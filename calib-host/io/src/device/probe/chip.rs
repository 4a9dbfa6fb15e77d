//! A chip behind probe-rs.

use std::fs;
use std::io::Cursor;
use std::ops::Range;
use std::path::Path;

use probe_rs::config::{MemoryRegion, Registry};
use probe_rs::flashing::{DownloadOptions, ElfLoader, ElfOptions};
use probe_rs::probe::list::{Accessibility, Lister};
use probe_rs::probe::{DebugProbeSelector, Probe};
use probe_rs::rtt::{Rtt, find_rtt_control_block_in_raw_file};
use probe_rs::{MemoryInterface, Permissions, Session, Target};

use super::access::{AccessError, FlashAccess, ProbeState, Sector, choose};
use super::flow::Segment;
use crate::files::{FileError, Location, Problem};

/// A chip that a probe is attached to.
pub struct Chip {
    session: Session,
    sectors: Vec<Sector>,
    dry_run: bool,
}

/// The probes that are plugged in.
///
/// ```no_run
/// for probe in calib_io::device::probe::probes() {
///     println!("{probe:?}");
/// }
/// ```
pub fn probes() -> Vec<ProbeState> {
    let listed = Lister::new().list_all_with_access();
    let state = |item: probe_rs::probe::list::ProbeListItem| ProbeState {
        selector: DebugProbeSelector::from(&item.info).to_string(),
        name: item.info.identifier.clone(),
        accessible: item.accessibility == Accessibility::Accessible,
    };
    listed.into_iter().map(state).collect()
}

impl Chip {
    /// Attaches to a chip: over the probe of this name, or over the only one.
    ///
    /// The chip is never unlocked, because that erases all of it.
    ///
    /// # Errors
    ///
    /// If there is no such probe or chip, or the one does not reach the other.
    pub fn attach(name: &str, selector: Option<&str>) -> Result<Self, AccessError> {
        // A wrong name is told whether or not a probe is there.
        target(name)?;
        let there = probes();
        let probe = choose(&there, selector)?;
        let attach_error = |cause: &dyn std::error::Error| AccessError::Attach(chain(cause));
        let selector = probe.selector.parse::<DebugProbeSelector>().map_err(|cause| attach_error(&cause))?;
        Self::attach_over(Lister::new().open(selector).map_err(|cause| attach_error(&cause))?, name)
    }

    /// Attaches over a probe that is open.
    ///
    /// # Errors
    ///
    /// If there is no such chip, or the probe does not reach it.
    pub fn attach_over(probe: Probe, name: &str) -> Result<Self, AccessError> {
        let target = target(name)?;
        let sectors = sectors(&target);
        let session = probe.attach(target, Permissions::new()).map_err(|cause| match cause {
            probe_rs::Error::MissingPermissions(what) => AccessError::Locked(what),
            cause => AccessError::Attach(chain(&cause)),
        })?;
        Ok(Self { session, sectors, dry_run: false })
    }

    /// Lets writing do everything but write.
    #[must_use]
    pub fn dry_run(mut self) -> Self {
        self.dry_run = true;
        self
    }
}

/// The log that a program leaves in a chip's memory, over RTT.
#[derive(Debug)]
pub struct ChipLog(Rtt);

impl Chip {
    /// Opens the log of the program that runs on the chip; where in memory it is the program says: [`log_addr`].
    ///
    /// # Errors
    ///
    /// If the probe fails, or another program runs on the chip.
    pub fn log(&mut self, addr: u64) -> Result<ChipLog, AccessError> {
        let failed = |cause: &dyn std::error::Error| AccessError::Read { addr, cause: chain(cause) };
        let mut core = self.session.core(0).map_err(|cause| failed(&cause))?;
        Rtt::attach_at(&mut core, addr).map(ChipLog).map_err(|cause| failed(&cause))
    }

    /// Reads what was logged since; 0 bytes if nothing was.
    ///
    /// # Errors
    ///
    /// The probe's.
    pub fn read_log(&mut self, log: &mut ChipLog, bytes: &mut [u8]) -> Result<usize, AccessError> {
        let addr = log.0.ptr();
        let failed = |cause: &dyn std::error::Error| AccessError::Read { addr, cause: chain(cause) };
        let mut core = self.session.core(0).map_err(|cause| failed(&cause))?;
        let Some(channel) = log.0.up_channel(0) else { return Ok(0) };
        channel.read(&mut core, bytes).map_err(|cause| failed(&cause))
    }
}

/// Finds where in memory a program has its log, of an ELF file.
///
/// ```no_run
/// println!("the log is at {:#x}", calib_io::device::probe::log_addr("app.elf".as_ref())?);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
///
/// If the file cannot be read, or its program has no log over RTT.
pub fn log_addr(elf: &Path) -> Result<u64, FileError> {
    let bytes = fs::read(elf).map_err(|source| FileError::Read { path: elf.into(), source })?;
    find_rtt_control_block_in_raw_file(&bytes).ok().flatten().ok_or_else(|| {
        let problem = Problem::Format("this program has no log over RTT".into());
        FileError::input(Location::file(elf), problem)
    })
}

/// What probe-rs knows of a chip.
fn target(name: &str) -> Result<Target, AccessError> {
    let registry = Registry::from_builtin_families();
    registry.get_target_by_name(name).map_err(|_| {
        let stem: String = name.chars().take(6).collect();
        let mut similar = registry.search_chips(&stem);
        similar.truncate(8);
        AccessError::NoChip { name: name.to_owned(), similar }
    })
}

/// The sectors of all flash that probe-rs can write and that the chip has: an algorithm may serve larger chips of the family.
fn sectors(target: &Target) -> Vec<Sector> {
    let nvm = || target.memory_map.iter().filter_map(MemoryRegion::as_nvm_region);
    let is_there = |sector: &Sector| {
        let range = sector.addr..sector.addr + sector.len_bytes;
        nvm().any(|region| region.range.start <= range.start && range.end <= region.range.end)
    };
    let mut sectors = Vec::new();
    for properties in target.flash_algorithms.iter().map(|algorithm| &algorithm.flash_properties) {
        let Range { start, end } = properties.address_range.clone();
        for (index, description) in properties.sectors.iter().enumerate() {
            let next = properties.sectors.get(index + 1).map_or(end, |next| start + next.address);
            let addrs = (start + description.address..next).step_by(description.size.max(1) as usize);
            sectors.extend(addrs.map(|addr| Sector { addr, len_bytes: description.size }));
        }
    }
    sectors.retain(is_there);
    sectors.sort_by_key(|sector: &Sector| sector.addr);
    sectors.dedup_by_key(|sector| sector.addr);
    sectors
}

impl FlashAccess for Chip {
    fn sectors(&self, range: Range<u64>) -> Vec<Sector> {
        let touches =
            |sector: &&Sector| sector.addr < range.end && range.start < sector.addr + sector.len_bytes;
        self.sectors.iter().filter(touches).copied().collect()
    }

    fn read(&mut self, addr: u64, bytes: &mut [u8]) -> Result<(), AccessError> {
        let mut core =
            self.session.core(0).map_err(|cause| AccessError::Read { addr, cause: chain(&cause) })?;
        core.read(addr, bytes).map_err(|cause| AccessError::Read { addr, cause: chain(&cause) })
    }

    fn write(&mut self, addr: u64, bytes: &[u8]) -> Result<(), AccessError> {
        let failed = |cause: &dyn std::error::Error| AccessError::Write { addr, cause: chain(cause) };
        let mut loader = self.session.target().flash_loader();
        loader.add_data(addr, bytes).map_err(|cause| failed(&cause))?;
        // The defaults are kept: no chip erase. Nothing is verified here, because that would not say where.
        let mut options = DownloadOptions::default();
        options.dry_run = self.dry_run;
        loader.commit(&mut self.session, options).map_err(|cause| failed(&cause))
    }

    fn write_memory(&mut self, addr: u64, bytes: &[u8]) -> Result<(), AccessError> {
        let failed = |cause: probe_rs::Error| AccessError::WriteMemory { addr, cause: chain(&cause) };
        self.session.core(0).map_err(failed)?.write(addr, bytes).map_err(failed)
    }

    fn reset(&mut self) -> Result<(), AccessError> {
        let failed = |cause: probe_rs::Error| AccessError::Reset(chain(&cause));
        self.session.core(0).map_err(failed)?.reset().map_err(failed)
    }
}

/// The parts of a program that go to flash, of an ELF file.
///
/// ```no_run
/// use calib_io::device::probe::{Chip, elf_segments, flash, flash_plan, restart};
///
/// // Writes a program and starts it.
/// let mut chip = Chip::attach("nRF52840_xxAA", None)?;
/// let segments = elf_segments(&mut chip, "app.elf".as_ref())?;
/// let plan = flash_plan(&chip, &segments, false)?;
/// flash(&mut chip, &segments, &plan, |bytes| eprintln!("{bytes} bytes"))?;
/// restart(&mut chip, None)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
///
/// If the file cannot be read, or is no ELF file for the chip.
pub fn elf_segments(chip: &mut Chip, path: &Path) -> Result<Vec<Segment>, FileError> {
    let bytes = fs::read(path).map_err(|source| FileError::Read { path: path.into(), source })?;
    let mut loader = chip.session.target().flash_loader();
    let format = ElfLoader(ElfOptions::default());
    loader.load_image(&mut chip.session, &mut Cursor::new(bytes), format, None).map_err(|cause| {
        let problem = Problem::Format(format!("not a program for the chip: {}", chain(&cause)));
        FileError::input(Location::file(path), problem)
    })?;
    Ok(loader.data().map(|(addr, bytes)| Segment { addr, bytes: bytes.to_vec() }).collect())
}

/// An error and what led to it, on one line.
fn chain(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        text = format!("{text}: {cause}");
        source = cause.source();
    }
    text
}

impl std::fmt::Debug for Chip {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Chip").field("target", &self.session.target().name).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use probe_rs::architecture::arm::FullyQualifiedApAddress;
    use probe_rs::integration::{FakeProbe, Operation};

    use super::*;
    use crate::device::probe::{flash_plan, slot_map};

    fn chip() -> Chip {
        let probe = FakeProbe::with_mocked_core();
        // The control access port says that the chip is not locked.
        let ap = FullyQualifiedApAddress::v1_with_default_dp(1);
        probe.expect_operation(Operation::ReadRawApRegister { ap, address: 0xC, result: 1 });
        Chip::attach_over(probe.into_probe(), "nRF52840_xxAA").unwrap().dry_run()
    }

    #[test]
    fn a_dry_run_plans_the_slots_sectors_and_writes_nothing() {
        let mut chip = chip();
        let map = slot_map("nRF52840_xxAA").unwrap();
        let slot =
            |index: u64| Segment { addr: map.addr + index * 4096, bytes: vec![0xFF; map.len_bytes as usize] };
        for index in 0..2 {
            let plan = flash_plan(&chip, &[slot(index)], true).unwrap();
            assert_eq!(plan.erased, [Sector { addr: map.addr + index * 4096, len_bytes: 4096 }]);
            assert_eq!(plan.neighbors.len(), if index == 0 { 2 } else { 1 });
        }
        chip.write(map.addr, &slot(0).bytes).unwrap();
        let beyond = chip.write(0x1000_0000_0000, &[0; 4]);
        assert!(matches!(beyond, Err(AccessError::Write { addr: 0x1000_0000_0000, .. })));
    }

    #[test]
    fn a_chip_that_is_none_is_named_with_similar_ones() {
        let probe = FakeProbe::with_mocked_core().into_probe();
        let Err(AccessError::NoChip { name, similar }) = Chip::attach_over(probe, "nRF52840_xxZZ") else {
            panic!("attached");
        };
        assert_eq!(name, "nRF52840_xxZZ");
        assert!(similar.iter().any(|name| name.starts_with("nRF52")), "{similar:?}");
    }
}
