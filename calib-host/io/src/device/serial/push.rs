//! Replacing a device's calibrator.

use calib_core::artifact::crc32c;
use calib_core::slot::Receipt;
use calib_core::wire::{Chunk, MAX_CHUNK, ReplyBody, RequestBody, UpdateStatus};
use calib_fit::artifact::StoredArtifact;

use super::error::DeviceError;
use super::link::{Link, Transport};

/// How far a push is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// So many bytes of the artifact are on the device.
    Sending {
        /// How many.
        sent: u32,
        /// The artifact's length.
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

/// Sends an artifact to a device and lets it install it; goes on where an earlier push of the same stopped.
///
/// ```no_run
/// use calib_io::device::serial::{Link, RetryPolicy, open_port, push};
/// use calib_io::files::read_artifact;
///
/// let mut link = Link::new(open_port("/dev/ttyACM0", 115_200)?, RetryPolicy::default());
/// let receipt = push(&mut link, &read_artifact("cal.bin".as_ref())?, |stage| eprintln!("{stage:?}"))?;
/// println!("active: {receipt:?}");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
///
/// If the line fails, or the device refuses. The active calibrator is then the one before, unless the device was asked
/// for the last step and its answer was lost: push again.
pub fn push<T: Transport>(
    link: &mut Link<T>,
    artifact: &StoredArtifact,
    mut watch: impl FnMut(Stage),
) -> Result<Receipt, DeviceError> {
    let slots = link.slots()?;
    let signature = artifact.artifact().signature().map(|signature| signature.key);
    if let Some(device) = slots.trusted_key
        && signature != Some(device)
        && artifact.rotations().is_empty()
    {
        return Err(DeviceError::Key { device, artifact: signature });
    }
    let bytes = artifact.as_bytes();
    // No artifact is longer than 64 MB.
    let total = bytes.len() as u32;
    let announce = RequestBody::Announce { len_bytes: total, crc: crc32c(bytes) };
    let mut status = update(link.ask(&announce)?)?;
    let mut progress = Progress::default();
    while let UpdateStatus::Receiving { received, .. } = status
        && received < total
    {
        progress.check(received, total)?;
        watch(Stage::Sending { sent: received, total });
        let rest = bytes.get(received as usize..).unwrap_or_default();
        let chunk: Chunk = rest.iter().copied().take(MAX_CHUNK).collect();
        status = update(link.ask(&RequestBody::Chunk { offset: received, bytes: chunk })?)?;
    }
    let mut progress = Progress::default();
    let receipt = loop {
        status = update(link.ask(&RequestBody::Install)?)?;
        match status {
            UpdateStatus::Installing { done_bytes, total_bytes } => {
                progress.check(done_bytes, total_bytes)?;
                watch(Stage::Installing { done: done_bytes, total: total_bytes });
            }
            UpdateStatus::Installed(receipt) => break receipt,
            UpdateStatus::Receiving { .. } => return Err(DeviceError::Protocol),
        }
    };
    // What counts is what the device says when it is asked afresh.
    let slots = link.slots()?;
    let found = slots.in_force.and_then(|slot| slots.slots.get(usize::from(slot)).copied()?.ok());
    let found = found.map(|content| content.identity);
    if found == Some(artifact.artifact().identity()) {
        Ok(receipt)
    } else {
        Err(DeviceError::OtherInForce { found })
    }
}

/// How far a device says that it is, which has to grow.
#[derive(Default)]
struct Progress {
    furthest: Option<u32>,
    stalled: u32,
    answers: u32,
}

impl Progress {
    /// A lost answer is asked for again, so that a number may come twice, but not for ever.
    const MOST_STALLED: u32 = 16;
    /// More answers than any artifact has chunks, or any slot steps of installation.
    const MOST_ANSWERS: u32 = 1 << 20;

    fn check(&mut self, done: u32, total: u32) -> Result<(), DeviceError> {
        self.answers += 1;
        if self.furthest.is_some_and(|furthest| done <= furthest) {
            self.stalled += 1;
        }
        self.furthest = self.furthest.max(Some(done));
        if done > total {
            return Err(DeviceError::Protocol);
        }
        if self.stalled > Self::MOST_STALLED || self.answers > Self::MOST_ANSWERS {
            return Err(DeviceError::Stalled { done, total });
        }
        Ok(())
    }
}

fn update(reply: ReplyBody) -> Result<UpdateStatus, DeviceError> {
    match reply {
        ReplyBody::Update(status) => Ok(status),
        _ => Err(DeviceError::Protocol),
    }
}

#[cfg(test)]
mod tests {
    use calib_core::slot::SlotFault;
    use calib_core::wire::Slots;
    use calib_fit::{BinaryData, BinaryMethod, Umd, artifact_bytes, fit_binary};

    use super::*;
    use crate::device::serial::fake::{self, Fake};

    /// Pushes to a device that answers everything about an update with these, in turn for ever.
    fn pushed(answers: &[UpdateStatus]) -> DeviceError {
        let scores = (0..400).map(|i| f64::from(i) / 400.0).collect();
        let data = BinaryData::new(scores, (0..400).map(|i| i % 40 < i / 20).collect()).unwrap();
        let fit = fit_binary(&data, &BinaryMethod::Umd(Umd::new(4)), 0.1).unwrap();
        let bytes = artifact_bytes(&fit, &Default::default()).unwrap();
        let mut answers = answers.iter().cycle();
        let mut link = Fake::link(|request| {
            let body = match request.body {
                RequestBody::Slots => ReplyBody::Slots(Slots {
                    in_force: None,
                    slots: [Err(SlotFault::Blank); 2],
                    max_len_bytes: 1 << 16,
                    trusted_key: None,
                    update: None,
                }),
                _ => ReplyBody::Update(*answers.next().expect("they come for ever")),
            };
            fake::frame(request.id, body)
        });
        push(&mut link, &StoredArtifact::from_bytes(&bytes).unwrap(), |_| ()).unwrap_err()
    }

    #[test]
    fn a_device_that_gets_no_further_is_given_up() {
        let receiving = |received| UpdateStatus::Receiving { received, len_bytes: 176 };
        let installing = |done_bytes, total_bytes| UpdateStatus::Installing { done_bytes, total_bytes };
        for answers in [
            &[receiving(0)][..],
            &[receiving(0), receiving(1)],
            &[receiving(10_000), installing(0, 1000)],
            &[receiving(10_000), installing(999, 1000), installing(3, 1000)],
        ] {
            let error = pushed(answers);
            assert!(matches!(error, DeviceError::Stalled { .. } | DeviceError::Protocol), "{error:?}");
        }
        // More than there is.
        let error = pushed(&[receiving(10_000), installing(u32::MAX, 5)]);
        assert!(matches!(error, DeviceError::Protocol), "{error:?}");
    }

    #[test]
    fn numbers_that_come_twice_are_no_standstill() {
        let mut progress = Progress::default();
        for step in 0..100u32 {
            // Every tenth answer was lost, and asked for again.
            assert!(progress.check(step, 100).is_ok());
            assert!(step % 10 != 0 || progress.check(step, 100).is_ok());
        }
    }
    /// A device may count up one by one for longer than any update takes.
    #[test]
    fn a_device_that_creeps_is_given_up() {
        let mut progress = Progress::default();
        for step in 0..Progress::MOST_ANSWERS {
            assert!(progress.check(step, u32::MAX).is_ok(), "{step}");
        }
        let error = progress.check(Progress::MOST_ANSWERS, u32::MAX).unwrap_err();
        assert!(
            matches!(error, DeviceError::Stalled { done: Progress::MOST_ANSWERS, total: u32::MAX }),
            "{error:?}"
        );
    }
}
