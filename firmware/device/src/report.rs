//! What a device leaves in memory for a debug probe to read.

use calib_core::wire::{self, REPORT_LEN, Reply, Request, RequestBody};
use embedded_hal::digital::OutputPin;

use crate::{Classifier, Device, Entropy, Meter, Update, Watch};

/// What a device makes of its slots: its replies to [`RequestBody::Slots`] and [`RequestBody::Status`], one after the
/// other, as frames with their checksums.
///
/// A board leaves it at an address that the host knows. A probe clears it before it resets the device: what stands
/// there afterwards is what the device found.
pub type Report = [u8; REPORT_LEN];

/// The report of a device; zeros, which are none, if there are no slots.
// What it needs of the stack is given back before anything is served.
#[inline(never)]
pub(crate) fn report<C, P, M, E, W>(
    device: &mut Device<'_, C, P, M, E, W>,
    update: &mut impl Update,
) -> Report
where
    C: Classifier,
    P: OutputPin,
    M: Meter,
    E: Entropy,
    W: Watch,
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

#[cfg(test)]
mod tests {
    use calib_core::artifact::crc32c;
    use calib_core::wire::{Chunk, FrameReader, MAX_CHUNK, ReplyBody, UpdateStatus};
    use calib_core::{Admission, Anybody, Erased, SlotLayout};
    use embedded_hal_mock::eh1::digital::{Mock, State, Transaction};

    use super::*;
    use crate::testing::{BINARY, ID, Line, StopWatch, TestFlash, binary_artifact};
    use crate::{Alarm, AlarmRule, NoEntropy, NoMonitors, NoUpdate, Task, Updater, serve_updatable};

    const LAYOUT: SlotLayout = SlotLayout { offsets: [0, 1024], len_bytes: 1024, erased: Erased::Ones };

    /// What a probe makes of a report.
    fn replies(report: &Report) -> std::vec::Vec<ReplyBody> {
        let mut reader = FrameReader::new();
        let replies = report.iter().filter_map(|&byte| reader.push::<Reply>(byte));
        replies.map_while(Result::ok).map(|reply| reply.body).collect()
    }

    #[test]
    fn a_report_is_left_at_the_start_and_after_a_replacement() {
        let good = binary_artifact(Some(ID));
        let bytes = good.as_bytes();
        let mut staged = calib_core::ArtifactBuffer::<256>::new();
        let mut updater = Updater::open(
            TestFlash::new(2048),
            LAYOUT,
            Admission::new(Anybody, ID),
            Task::Binary,
            &mut staged,
        )
        .unwrap();
        let mut requests =
            std::vec![RequestBody::Announce { len_bytes: bytes.len() as u32, crc: crc32c(bytes) }];
        requests.extend(bytes.chunks(MAX_CHUNK).enumerate().map(|(index, part)| RequestBody::Chunk {
            offset: (index * MAX_CHUNK) as u32,
            bytes: Chunk::from_slice(part).unwrap(),
        }));
        requests.extend(std::iter::repeat_n(RequestBody::Install, 200));
        let input: std::vec::Vec<u8> = requests
            .into_iter()
            .flat_map(|body| {
                wire::encode(&Request { id: 1, body }, &mut [0; wire::MAX_FRAME]).unwrap().to_vec()
            })
            .collect();
        let mut pin = Mock::new(&[Transaction::set(State::High)]);
        let alarm = Alarm::new(pin.clone(), AlarmRule::AtLeast(0.5)).unwrap();
        let parts = (&BINARY, alarm, StopWatch { ticks: None }, NoEntropy, NoMonitors);
        let mut reports = std::vec::Vec::new();
        let mut line = Line::new(&input);
        serve_updatable(&mut line, parts, &mut updater, &mut calib_core::ArtifactBuffer::new(), |report| {
            reports.push(*report)
        })
        .unwrap();
        pin.done();

        let [before, after] = &reports[..] else { panic!("{} reports", reports.len()) };
        let [ReplyBody::Slots(slots), ReplyBody::Status(status)] = &replies(before)[..] else {
            panic!("not both replies")
        };
        assert_eq!((slots.in_force, status.classifier_id, status.calibrator.is_err()), (None, ID, true));
        let [ReplyBody::Slots(slots), ReplyBody::Status(status)] = &replies(after)[..] else {
            panic!("not both replies")
        };
        assert_eq!(slots.in_force, Some(0));
        assert!(matches!(slots.update, Some(UpdateStatus::Installed(_))));
        let held = status.calibrator.as_ref().unwrap();
        assert_eq!(Ok(held.identity), slots.slots[0].map(|content| content.identity));
    }

    #[test]
    fn a_device_without_slots_leaves_zeros() {
        let mut pin = Mock::new(&[Transaction::set(State::High)]);
        let alarm = Alarm::new(pin.clone(), AlarmRule::AtLeast(0.5)).unwrap();
        let mut device = Device::new(&BINARY, &[], Anybody, alarm, StopWatch { ticks: None }, NoEntropy);
        assert_eq!(report(&mut device, &mut NoUpdate), [0; REPORT_LEN]);
        pin.done();
    }
}
