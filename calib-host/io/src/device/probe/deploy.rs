//! A calibrator into a chip's slots: the steps in their order.

use std::time::Duration;

use calib_fit::artifact::StoredArtifact;

use super::access::FlashAccess;
use super::error::FlashError;
use super::flow::{FlashPlan, FlashReport, Segment, flash, flash_plan};
use super::image::{SlotImage, SlotMap};
use super::report::{DeviceReport, await_report, restart};

/// Reads both slots.
///
/// ```no_run
/// use calib_io::device::probe::{Chip, read_slots, slot_map};
///
/// let mut chip = Chip::attach("nRF52840_xxAA", None)?;
/// let slots = read_slots(&mut chip, slot_map("nRF52840_xxAA").expect("calib has a board crate for this chip"))?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
///
/// The probe's.
pub fn read_slots(access: &mut impl FlashAccess, map: SlotMap) -> Result<SlotImage, FlashError> {
    let mut bytes = vec![0; 2 * map.len_bytes as usize];
    access.read(map.addr, &mut bytes)?;
    Ok(SlotImage::new(map, bytes))
}

/// Says what is to be written so that a chip's slots hold an artifact, and what that erases. Nothing is written.
///
/// ```no_run
/// use std::time::Duration;
///
/// use calib_io::device::probe::{Chip, deploy, prepare, report_addr, slot_map};
/// use calib_io::files::read_artifact;
///
/// let artifact = read_artifact("cal.bin".as_ref())?;
/// let mut chip = Chip::attach("nRF52840_xxAA", None)?;
/// let map = slot_map("nRF52840_xxAA").expect("calib has a board crate for this chip");
/// let (segment, plan) = prepare(&mut chip, map, &artifact)?;
/// println!("{plan:?}");
/// let report_addr = report_addr("nRF52840_xxAA");
/// let (written, report) = deploy(&mut chip, (segment, &plan), &artifact, report_addr, Duration::from_secs(5))?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
///
/// If the probe fails, the slots are none, or the device would not take the artifact.
pub fn prepare(
    access: &mut impl FlashAccess,
    map: SlotMap,
    artifact: &StoredArtifact,
) -> Result<(Segment, FlashPlan), FlashError> {
    let image = read_slots(access, map)?;
    let (receipt, segment) = image.install(artifact)?;
    receipt.map_err(FlashError::Refused)?;
    let plan = flash_plan(access, std::slice::from_ref(&segment), true)?;
    Ok((segment, plan))
}

/// Writes a slot as [`prepare`]d, restarts the device, and, with the address of its report, lets it say whether it uses
/// the artifact.
///
/// # Errors
///
/// If the probe fails, flash is not as it should be, or the device says nothing within `patience` or does not use the
/// artifact.
pub fn deploy(
    access: &mut impl FlashAccess,
    (segment, plan): (Segment, &FlashPlan),
    artifact: &StoredArtifact,
    report_addr: Option<u64>,
    patience: Duration,
) -> Result<(FlashReport, Option<DeviceReport>), FlashError> {
    let written = flash(access, &[segment], plan, |_| ())?;
    restart(access, report_addr)?;
    let Some(addr) = report_addr else { return Ok((written, None)) };
    let report = await_report(access, addr, patience)?;
    report.accepts(artifact).map_err(FlashError::Rejected)?;
    Ok((written, Some(report)))
}
