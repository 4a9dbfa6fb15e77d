//! Replacing a device's calibrator.

use calib_core::artifact::crc32c;
use calib_core::slot::Receipt;
use calib_core::wire::{Chunk, MAX_CHUNK, ReplyBody, RequestBody, Slots, UpdateStatus};
use calib_fit::artifact::StoredArtifact;

use super::error::DeviceError;
use super::link::{Link, Transport};

/// How far a push is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// So many bytes of the artefact are on the device.
    Sending {
        /// How many.
        sent: u32,
        /// The artefact's length.
        total: u32,
    },
    /// So many bytes of flash are erased, written and compared.
    Installing {
        /// How many.
        done: u32,
        /// All of them.
        total: u32,
    },
}

/// Sends an artefact to a device and lets it install it; goes on where an earlier push of the same stopped.
///
/// ```no_run
/// use calib_host::device::serial::{Link, open_port, push};
/// use calib_host::read_artifact;
///
/// let mut link = Link::new(open_port("/dev/ttyACM0", 115_200)?);
/// let receipt = push(&mut link, &read_artifact("cal.bin".as_ref())?, |stage| eprintln!("{stage:?}"))?;
/// println!("in force: {receipt:?}");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
///
/// If the line fails, or the device refuses. The calibrator in force is then the one before, unless the device was asked
/// for the last step and its answer was lost: push again.
pub fn push<T: Transport>(
    link: &mut Link<T>,
    artifact: &StoredArtifact,
    mut watch: impl FnMut(Stage),
) -> Result<Receipt, DeviceError> {
    let slots = slots(link)?;
    let signature = artifact.artifact().signature().map(|signature| signature.key);
    if let Some(device) = slots.trusted_key
        && signature != Some(device)
    {
        return Err(DeviceError::Key { device, artifact: signature });
    }
    let bytes = artifact.as_bytes();
    // No artefact is longer than 64 MB.
    let total = bytes.len() as u32;
    let announce = RequestBody::Announce { len_bytes: total, crc: crc32c(bytes) };
    let mut status = update(link.ask(&announce)?)?;
    while let UpdateStatus::Receiving { received, .. } = status
        && received < total
    {
        watch(Stage::Sending { sent: received, total });
        let rest = bytes.get(received as usize..).unwrap_or_default();
        let chunk: Chunk = rest.iter().copied().take(MAX_CHUNK).collect();
        status = update(link.ask(&RequestBody::Chunk { offset: received, bytes: chunk })?)?;
    }
    let receipt = loop {
        status = update(link.ask(&RequestBody::Install)?)?;
        match status {
            UpdateStatus::Installing { done_bytes, total_bytes } => {
                watch(Stage::Installing { done: done_bytes, total: total_bytes });
            }
            UpdateStatus::Installed(receipt) => break receipt,
            UpdateStatus::Receiving { .. } => return Err(DeviceError::Protocol),
        }
    };
    // What counts is what the device says when it is asked afresh.
    let slots = self::slots(link)?;
    let found = slots.in_force.and_then(|slot| slots.slots.get(usize::from(slot)).copied()?.ok());
    let found = found.map(|content| content.identity);
    if found == Some(artifact.artifact().identity()) {
        Ok(receipt)
    } else {
        Err(DeviceError::OtherInForce { found })
    }
}

/// What the device's slots hold.
///
/// # Errors
///
/// As [`Link::ask`].
pub(super) fn slots<T: Transport>(link: &mut Link<T>) -> Result<Slots, DeviceError> {
    match link.ask(&RequestBody::Slots)? {
        ReplyBody::Slots(slots) => Ok(slots),
        _ => Err(DeviceError::Protocol),
    }
}

fn update(reply: ReplyBody) -> Result<UpdateStatus, DeviceError> {
    match reply {
        ReplyBody::Update(status) => Ok(status),
        _ => Err(DeviceError::Protocol),
    }
}
