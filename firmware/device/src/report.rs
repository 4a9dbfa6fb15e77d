//! What a device leaves in memory for a debug probe to read.

use calib_core::wire::{self, Reply, Request, RequestBody};
use embedded_hal::digital::OutputPin;

use crate::{Classifier, Device, Entropy, Meter, Update};

/// The length of a report in bytes.
pub const REPORT_LEN: usize = 512;

/// What a device makes of its slots: its replies to [`RequestBody::Slots`] and [`RequestBody::Status`], one after the
/// other, as frames with their checksums.
///
/// A board leaves it at an address that the host knows. A probe clears it before it resets the device: what stands
/// there afterwards is what the device found.
pub type Report = [u8; REPORT_LEN];

/// The report of a device; zeros, which are none, if there are no slots.
pub(crate) fn report<C, P, M, E>(device: &mut Device<'_, C, P, M, E>, update: &mut impl Update) -> Report
where
    C: Classifier,
    P: OutputPin,
    M: Meter,
    E: Entropy,
{
    let mut report = [0; REPORT_LEN];
    let filled = update.answer(&RequestBody::Slots).and_then(|body| {
        let len = wire::encode(&Reply { id: 0, body }, &mut report).ok()?.len();
        // A status leaves the alarm alone: its pin cannot fail here.
        let status = device.answer(&Request { id: 0, body: RequestBody::Status }).ok()?;
        wire::encode(&status, report.get_mut(len..)?).ok().map(|_| ())
    });
    if filled.is_some() { report } else { [0; REPORT_LEN] }
}
