//! What the device itself makes of what a probe wrote: it leaves a report in memory, or is asked over its serial port.

use std::thread;
use std::time::{Duration, Instant};

use calib_core::slot::SlotContent;
use calib_core::wire::{FrameReader, REPORT_LEN, Reply, ReplyBody, Slots, Status};
use calib_fit::artifact::StoredArtifact;

use super::access::{AccessError, FlashAccess};
use super::error::{FlashError, Rejection};
use crate::device::serial::{DeviceError, Link, Transport};

/// How long to wait between two looks at the memory.
const PAUSE: Duration = Duration::from_millis(20);

/// What a device says of itself and its slots.
#[derive(Clone, Debug, PartialEq)]
pub struct DeviceReport {
    /// Its slots.
    pub slots: Slots,
    /// The device.
    pub status: Status,
}

impl DeviceReport {
    /// Reads a report as it stands in a device's memory; `None` if none is there, or not all of it yet.
    pub fn parse(bytes: &[u8]) -> Option<Self> {
        let mut reader = FrameReader::new();
        let mut replies = bytes.iter().filter_map(|&byte| reader.push::<Reply>(byte));
        let Ok(Reply { body: ReplyBody::Slots(slots), .. }) = replies.next()? else { return None };
        let Ok(Reply { body: ReplyBody::Status(status), .. }) = replies.next()? else { return None };
        Some(Self { slots, status })
    }

    /// Asks a device over a serial line.
    ///
    /// # Errors
    ///
    /// As [`Link::ask`].
    pub fn ask<T: Transport>(link: &mut Link<T>) -> Result<Self, DeviceError> {
        Ok(Self { slots: link.slots()?, status: link.status()? })
    }

    /// The active calibrator.
    pub fn in_force(&self) -> Option<SlotContent> {
        self.slots.in_force.and_then(|slot| self.slots.slots.get(usize::from(slot)).copied()?.ok())
    }

    /// Whether the device uses this artifact: the slot that it is in.
    ///
    /// # Errors
    ///
    /// Why not.
    pub fn accepts(&self, artifact: &StoredArtifact) -> Result<u8, Rejection> {
        let (artifact, has_chain) = (artifact.artifact(), !artifact.rotations().is_empty());
        let identity = artifact.identity();
        let in_force = self.in_force();
        if let (Some(slot), Some(content)) = (self.slots.in_force, in_force)
            && content.identity == identity
        {
            return Ok(slot);
        }
        let there = self.slots.slots.iter().flatten().any(|content| content.identity == identity);
        if !there {
            return Err(Rejection::NotThere(
                self.slots.slots.map(|slot| slot.map(|content| content.identity)),
            ));
        }
        let key = artifact.signature().map(|signature| signature.key);
        if let Some(device) = self.slots.trusted_key
            && key != Some(device)
            && !has_chain
        {
            return Err(Rejection::Key { device, artifact: key });
        }
        let device = self.status.classifier_id;
        if let Some(artifact) = artifact.header().provenance.classifier
            && artifact != device
        {
            return Err(Rejection::Classifier { device, artifact });
        }
        if let Some(held) = in_force.map(|content| content.counter).filter(|&held| held > artifact.counter())
        {
            return Err(Rejection::Counter { held, offered: artifact.counter() });
        }
        Err(match in_force {
            Some(content) => Rejection::Other(content.identity),
            None => Rejection::Missing(self.status.calibrator.as_ref().err().copied()),
        })
    }
}

/// Resets a chip and lets it run. The report of an earlier start is cleared first: what stands there afterwards is new.
///
/// # Errors
///
/// The probe's.
pub fn restart(access: &mut impl FlashAccess, report_addr: Option<u64>) -> Result<(), AccessError> {
    if let Some(addr) = report_addr {
        access.write_memory(addr, &[0; REPORT_LEN])?;
    }
    access.reset()
}

/// Waits for a device's report after [`restart`].
///
/// ```no_run
/// use std::time::Duration;
///
/// use calib_io::device::probe::{Chip, await_report, report_addr, restart};
///
/// let mut chip = Chip::attach("nRF52840_xxAA", None)?;
/// let addr = report_addr("nRF52840_xxAA");
/// restart(&mut chip, addr)?;
/// let report = await_report(&mut chip, addr.expect("its board crate leaves one"), Duration::from_secs(5))?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
///
/// If the probe fails, or there is none in time.
pub fn await_report(
    access: &mut impl FlashAccess,
    addr: u64,
    patience: Duration,
) -> Result<DeviceReport, FlashError> {
    let deadline = Instant::now() + patience;
    loop {
        let mut bytes = [0; REPORT_LEN];
        access.read(addr, &mut bytes)?;
        if let Some(report) = DeviceReport::parse(&bytes) {
            return Ok(report);
        }
        if Instant::now() >= deadline {
            return Err(FlashError::NoReport { addr, patience });
        }
        thread::sleep(PAUSE);
    }
}

#[cfg(test)]
mod tests {
    use calib_core::artifact::{Method, Reduction};
    use calib_core::slot::{Refused, SignatureError, SlotFault};
    use calib_core::wire::{self, CalibratorStatus, MAX_FRAME, Missing, Name, PROTOCOL_VERSION, Questions};
    use calib_core::{AlarmRule, ClassifierId, Identity, ScoreEncoding};

    use super::*;
    use crate::files::PrivateKey;
    use calib_fit::artifact::{ArtifactOptions, artifact_bytes};
    use calib_fit::binary::{BinaryMethod, Umd};
    use calib_fit::data::BinaryData;
    use calib_fit::fit::fit_binary;

    const ID: ClassifierId = ClassifierId(*b"the-chip");

    fn artifact(classifier: ClassifierId, counter: u32) -> StoredArtifact {
        let scores = (0..400).map(|i| f64::from(i) / 400.0).collect();
        let labels = (0..400).map(|i| i % 40 < i / 20).collect();
        let data = BinaryData::new(scores, labels).unwrap().on_device();
        let fit = fit_binary(&data, &BinaryMethod::Umd(Umd::new(4)), 0.1).unwrap();
        let options = ArtifactOptions::default().counter(counter).classifier(Some(classifier));
        StoredArtifact::from_bytes(&artifact_bytes(&fit, &options).unwrap()).unwrap()
    }

    fn content(identity: Identity, counter: u32) -> SlotContent {
        SlotContent { identity, len_bytes: 100, counter, sequence: 1 }
    }

    /// The report of a device with these slots.
    fn report(slots: [Result<SlotContent, SlotFault>; 2], in_force: Option<u8>) -> DeviceReport {
        let missing =
            slots.map(|slot| slot.err().unwrap_or(SlotFault::Refused(Refused::OtherClassifier(None))));
        let held = in_force.map(|slot| slots[usize::from(slot)].unwrap()).map(|content| CalibratorStatus {
            identity: content.identity,
            counter: content.counter,
            len_bytes: content.len_bytes,
            method: Method::Umd,
            reduction: Reduction::Binary,
            bins: 4,
            n: 400,
            guarantee: None,
            encoding: ScoreEncoding::F32,
            actions: 0,
        });
        DeviceReport {
            slots: Slots { in_force, slots, max_len_bytes: 4032, trusted_key: None, update: None },
            status: Status {
                protocol: PROTOCOL_VERSION,
                firmware: Name::try_from("0.1.0").unwrap(),
                classifier: Name::try_from("test").unwrap(),
                classifier_id: ID,
                features: 2,
                classes: 2,
                alarm_rule: AlarmRule::AtLeast(0.5),
                stack_high_water_bytes: 900,
                calibrator: held.ok_or(Missing::Slots(missing)),
                fallback_from: None,
                questions: Questions::All,
            },
        }
    }

    fn bytes(report: &DeviceReport) -> Vec<u8> {
        let bodies = [ReplyBody::Slots(report.slots), ReplyBody::Status(report.status.clone())];
        let frame = |body| wire::encode(&Reply { id: 0, body }, &mut [0; MAX_FRAME]).unwrap().to_vec();
        let mut bytes: Vec<u8> = bodies.into_iter().flat_map(frame).collect();
        bytes.resize(REPORT_LEN, 0);
        bytes
    }

    #[test]
    fn a_report_is_read_whole_or_not_at_all() {
        let artifact = artifact(ID, 3);
        let held = content(artifact.artifact().identity(), 3);
        let report = report([Err(SlotFault::Blank), Ok(held)], Some(1));
        let whole = bytes(&report);
        assert_eq!(DeviceReport::parse(&whole), Some(report.clone()));
        assert_eq!(report.accepts(&artifact), Ok(1));
        // While it is being written, the end is still zeros.
        let len = whole.iter().rposition(|&byte| byte != 0).unwrap() + 1;
        for cut in 0..len {
            let mut part = whole.clone();
            part[cut..].fill(0);
            assert_eq!(DeviceReport::parse(&part), None, "cut at {cut}");
        }
        for at in 0..len {
            let mut altered = whole.clone();
            altered[at] ^= 4;
            assert_ne!(DeviceReport::parse(&altered), Some(report.clone()), "altered at {at}");
        }
        assert_eq!(DeviceReport::parse(&[0xFF; REPORT_LEN]), None);
        assert_eq!(DeviceReport::parse(&[]), None);
    }

    #[test]
    fn every_reason_of_a_device_is_told() {
        let offered = artifact(ID, 3);
        let identity = offered.artifact().identity();
        let (new, old) = (Ok(content(identity, 3)), content(Identity([9; 8]), 5));
        let says = |report: &DeviceReport, artifact| report.accepts(artifact).unwrap_err();

        let counter = report([Ok(old), new], Some(0));
        assert_eq!(says(&counter, &offered), Rejection::Counter { held: 5, offered: 3 });
        assert!(says(&counter, &offered).to_string().contains("3, below 5"));

        let stranger = artifact(ClassifierId([1; 8]), 3);
        let there = Ok(content(stranger.artifact().identity(), 3));
        let other = report([there, Err(SlotFault::Blank)], None);
        let rejection = Rejection::Classifier { device: ID, artifact: ClassifierId([1; 8]) };
        assert_eq!(says(&other, &stranger), rejection);

        let (owner, thief) = (PrivateKey::generate().unwrap(), PrivateKey::generate().unwrap());
        let device = owner.public().id();
        let mut keyed = report([new, Err(SlotFault::Blank)], None);
        keyed.slots.trusted_key = Some(device);
        assert_eq!(says(&keyed, &offered), Rejection::Key { device, artifact: None });
        let stolen = StoredArtifact::from_bytes(&thief.sign(&offered).unwrap()).unwrap();
        let rejection = Rejection::Key { device, artifact: Some(thief.public().id()) };
        assert_eq!(says(&keyed, &stolen), rejection);

        let altered = report([Err(SlotFault::Altered), Err(SlotFault::Blank)], None);
        let slots = [Err(SlotFault::Altered), Err(SlotFault::Blank)];
        assert_eq!(says(&altered, &offered), Rejection::NotThere(slots));

        // A forged signature has the right key: the device's own words are passed on.
        let mut forged = report([new, Err(SlotFault::Blank)], None);
        let cause = SlotFault::Refused(Refused::Signature(SignatureError::Missing));
        forged.status.calibrator = Err(Missing::Slots([cause, SlotFault::Blank]));
        assert!(says(&forged, &offered).to_string().contains(&cause.to_string()));
        let unsaid = report([Ok(content(Identity([9; 8]), 3)), new], Some(0));
        assert!(says(&unsaid, &offered).to_string().contains("is active instead"));
    }
}
