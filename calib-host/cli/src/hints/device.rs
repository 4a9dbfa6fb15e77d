//! What to do about a device.

use calib_core::ClassifierId;
use calib_core::slot::{Refused, SignatureError};
use calib_core::wire::{CountersRefusal, UpdateRefusal};
use calib_fit::artifact::number_of;
use calib_io::device::probe::{AccessError, FlashError, Rejection};
use calib_io::device::serial::DeviceError;

pub(super) fn of_device(error: &DeviceError) -> Option<String> {
    Some(match error {
        DeviceError::NoPort { there, .. } | DeviceError::NotAPort { there, .. } if there.is_empty() => {
            "no serial port was found: connect the device, then run `calib doctor`".into()
        }
        DeviceError::NoPort { there, .. } | DeviceError::NotAPort { there, .. } => {
            format!("the ports are {}", there.join(", "))
        }
        DeviceError::NoPermission { port } => {
            format!(
                "join the group that owns {port} (often `sudo usermod -aG dialout $USER`), then log in again"
            )
        }
        DeviceError::Busy { .. } => "close the other program, such as a terminal or a monitor".into(),
        DeviceError::Silent { damaged: 0, .. } => {
            "is this the right port and baud rate, and does the device run calib's firmware?".into()
        }
        DeviceError::Silent { damaged, .. } => {
            format!("{} came: check the baud rate and the cable", number_of(*damaged, "damaged frame"))
        }
        DeviceError::Echo => {
            "is a device behind the adapter, with receiving and sending lines not joined? switch off the echo of an RS-485 adapter, if it can".into()
        }
        DeviceError::Stalled { .. } => "reset the device, and push again".into(),
        DeviceError::Protocol => "use the calib that the firmware was built with".into(),
        DeviceError::UnknownRequest => "build its firmware with this version of calib".into(),
        DeviceError::UnknownReply => "install a newer version of calib".into(),
        DeviceError::FellBack { .. } => {
            "push the newest calibrator again with `calib push`; if it happens again, the flash is worn out".into()
        }
        DeviceError::Refused(UpdateRefusal::NoCounter) => {
            "fit again with --counter 1 or more, and sign that: a device with a key accepts nothing without a counter".into()
        }
        DeviceError::Refused(UpdateRefusal::SameCounter { counter }) => {
            format!("fit again with --counter {} or more, and sign that", counter.saturating_add(1))
        }
        DeviceError::Refused(UpdateRefusal::NoMark) => {
            "the active calibrator is unchanged; write the new one through a debug probe with `calib flash`".into()
        }
        DeviceError::Refused(UpdateRefusal::NotUpdatable) => {
            "this firmware has no slots: write its flash with `calib flash`".into()
        }
        DeviceError::Refused(UpdateRefusal::Downgrade { held, .. }) => {
            format!("fit again with --counter {held} or more, if this one is to replace it")
        }
        DeviceError::Refused(UpdateRefusal::Refused(Refused::OtherClassifier(id))) => other_classifier(*id),
        DeviceError::Refused(UpdateRefusal::Refused(Refused::Monitors)) => {
            "fit without --monitor-action, or build its firmware with monitors and room for these tables; the active calibrator is unchanged"
                .into()
        }
        DeviceError::Refused(UpdateRefusal::Refused(Refused::Signature(SignatureError::Missing)))
        | DeviceError::Key { .. } => {
            "sign the calibrator with `calib sign` and the private key that belongs to the device".into()
        }
        DeviceError::Refused(UpdateRefusal::TooLarge { .. }) => "fit with fewer bins".into(),
        DeviceError::Refused(UpdateRefusal::ReadBack { .. } | UpdateRefusal::Flash) => {
            "the active calibrator is unchanged; if it happens again, the flash is worn out".into()
        }
        DeviceError::Counters(refusal) => return of_counters(refusal),
        DeviceError::Gone => {
            "connect it again, then run the command again: a push goes on where it stopped".into()
        }
        DeviceError::Refused(_) | DeviceError::Line(_) => {
            "run the command again: it goes on where it stopped".into()
        }
        _ => return None,
    })
}

fn of_counters(refusal: &CountersRefusal) -> Option<String> {
    Some(match refusal {
        CountersRefusal::NotBuilt => "build its firmware with monitors: the boards' feature of that name".into(),
        CountersRefusal::NotMonitored | CountersRefusal::Table { .. } => {
            "fit the calibrator with --monitor, and push it; or see `calib inspect` for the tables that are monitored".into()
        }
        CountersRefusal::Room { bins, .. } => format!("fit with up to {bins} bins, or build its firmware with room for more"),
        CountersRefusal::OtherCalibrator(_) => {
            "the predictions of another calibrator are not counted with this one's: keep their outcomes for the next fit".into()
        }
        CountersRefusal::NoPrediction => {
            "was the device switched off since, or did it receive an outcome twice? it counts no outcome without a prediction".into()
        }
        CountersRefusal::Full => "write its counts to a file, then reset them with `calib label --reset`".into(),
        _ => return None,
    })
}

fn other_classifier(id: Option<ClassifierId>) -> String {
    match id {
        Some(id) => format!("it was fitted for classifier {id}: see `calib status` for the device's"),
        None => "it is for another kind or number of scores than the device's classifier gives".into(),
    }
}

pub(super) fn of_flash(error: &FlashError) -> Option<String> {
    Some(match error {
        FlashError::Access(cause) => of_access(cause),
        FlashError::Slots(_) | FlashError::Refused(_) => return None,
        FlashError::NotWhole { .. } => "give the --slot-addr and --slot-len that the firmware was built with".into(),
        FlashError::NoReport { .. } => {
            "does calib's firmware run on the chip? ask it over its serial port with --port, or not at all with --no-verdict"
                .into()
        }
        FlashError::Rejected(rejection) => of_rejection(rejection),
        _ => "the active calibrator is unchanged; run the command again".into(),
    })
}

fn of_access(error: &AccessError) -> String {
    match error {
        AccessError::NoProbe => "connect one, and its cable to the chip; then run `calib doctor`".into(),
        AccessError::NoPermission(_) => {
            "install the udev rules of https://probe.rs/docs/getting-started/probe-setup, then plug it in again".into()
        }
        AccessError::NoSuchProbe { there, .. } => format!("there are {}", there.join(", ")),
        AccessError::SeveralProbes(there) => format!("choose one with --probe: {}", there.join(", ")),
        AccessError::NoChip { similar, .. } if similar.is_empty() => "see https://probe.rs/targets for the names".into(),
        AccessError::NoChip { similar, .. } => format!("similar are {}", similar.join(", ")),
        AccessError::Attach(_) => "is the chip powered, and is --chip the right one?".into(),
        AccessError::Locked(_) => "unlocking erases the whole chip, which calib never does: use the maker's tool".into(),
        _ => "check cable and power, then run it again".into(),
    }
}

fn of_rejection(rejection: &Rejection) -> String {
    match rejection {
        Rejection::Key { .. } => {
            "sign it with `calib sign` and the private key that belongs to the device".into()
        }
        Rejection::Classifier { device, .. } => {
            format!("fit for the device's classifier: `calib fit --classifier-id {device}`")
        }
        Rejection::Counter { held, .. } => format!("fit again with --counter {held} or more"),
        Rejection::NotThere(_) => {
            "are --slot-addr and --slot-len those of the firmware that is on the chip?".into()
        }
        _ => "ask the device with `calib status --port PORT`".into(),
    }
}
