//! `calib status` and `calib doctor --port`, with a device at the other end of a terminal.

use calib_core::artifact::{Method, Reduction};
use calib_core::slot::{SlotContent, SlotFault, UnusableSlot};
use calib_core::wire::{
    CalibratorStatus, Name, PROTOCOL_VERSION, Questions, Refusal, Reply, ReplyBody, Request, RequestBody,
    Slots, Status,
};
use calib_core::{AlarmRule, ClassifierId, Identity, ScoreEncoding};
use serde_json::Value;

use crate::line::with_device;
use crate::transcript::{add, note};
use crate::workplace::{Run, Workplace};

/// A device, as far as these commands see it.
#[derive(Clone, Copy)]
struct Device {
    /// The version of its protocol.
    version: u16,
    /// What is wrong with the slot that is not in force.
    fault: SlotFault,
    /// Whether it knows that it fell back.
    fell_back: bool,
    questions: Questions,
}

const IDENTITY: Identity = Identity(*b"identity");
const SOUND: Device = Device {
    version: PROTOCOL_VERSION,
    fault: SlotFault::Blank,
    fell_back: false,
    questions: Questions::All,
};

impl Device {
    fn answer(&self, request: &RequestBody) -> ReplyBody {
        match request {
            RequestBody::Status => ReplyBody::Status(self.status()),
            RequestBody::Slots => ReplyBody::Slots(Slots {
                in_force: Some(0),
                slots: [
                    Ok(SlotContent { identity: IDENTITY, len_bytes: 188, counter: 3, sequence: 1 }),
                    Err(self.fault),
                ],
                max_len_bytes: 3808,
                trusted_key: None,
                update: None,
            }),
            _ => ReplyBody::Refused(Refusal::Unknown),
        }
    }

    /// Runs a command with the device at the other end of `--port`.
    fn run(self, line: &str) -> Run {
        let place = Workplace::new();
        let command = place.command(line.strip_prefix("calib ").unwrap());
        with_device(command, |Request { id, body }| vec![Reply { id, body: self.answer(&body) }])
    }

    /// Writes it and what it printed into the transcript, too.
    fn says(self, line: &str) -> Run {
        let run = self.run(line);
        add(line, &run);
        run
    }

    fn status(&self) -> Status {
        Status {
            protocol: self.version,
            firmware: Name::try_from("0.1.0").unwrap(),
            classifier: Name::try_from("fever").unwrap(),
            classifier_id: ClassifierId([7; 8]),
            features: 2,
            classes: 2,
            alarm_rule: AlarmRule::AtLeast(0.5),
            stack_high_water_bytes: 900,
            calibrator: Ok(CalibratorStatus {
                identity: IDENTITY,
                counter: 3,
                len_bytes: 188,
                method: Method::Umd,
                reduction: Reduction::Binary,
                bins: 4,
                n: 400,
                guarantee: None,
                encoding: ScoreEncoding::Margin,
                actions: 0,
            }),
            fallback_from: self.fell_back.then_some(UnusableSlot { slot: 1, fault: self.fault }),
            questions: self.questions,
        }
    }
}

#[test]
fn the_protocol_is_shown_and_what_is_not_answered() {
    let out = SOUND.says("calib status").stdout;
    assert!(out.contains(&format!("answers     from {IDENTITY}, counter 3")), "{out}");
    Device { questions: Questions::NoTrials, ..SOUND }.says("calib status");
    let shown = SOUND.says("calib status --json").json();
    assert_eq!(shown["protocol"], PROTOCOL_VERSION);
    assert_eq!(shown["device"]["calibrator"]["encoding"], "f32 margins");
    assert_eq!(shown["standing"]["counter"], 3);
    assert_eq!(shown["standing"]["answers_trials"], true);
    assert_eq!(shown["standing"]["fallback_from"], Value::Null);
    said!();
}

#[test]
fn a_device_that_fell_back_is_an_error() {
    let device = Device { fault: SlotFault::Altered, fell_back: true, ..SOUND };
    device.says("calib status");
    let run = device.run("calib status --json");
    assert_eq!((run.code, &run.json()["standing"]["fallback_from"]["slot"]), (5, &Value::from(1)));
    said!();
}

#[test]
fn the_doctor_asks_a_device_for_its_protocol() {
    let Run { code, stdout: out, .. } = SOUND.run("calib doctor");
    assert_eq!(code, 0);
    assert!(out.contains(&format!("ok       device protocol: version {PROTOCOL_VERSION}")), "{out}");
    assert!(out.contains(&format!("firmware 0.1.0, protocol version {PROTOCOL_VERSION}")), "{out}");
    // What else the doctor finds is of this machine.
    for version in [0, PROTOCOL_VERSION + 1] {
        let out = Device { version, ..SOUND }.run("calib doctor --timeout 0.2").stdout;
        out.lines().skip_while(|line| !line.contains("device on")).for_each(note);
    }
    said!();
}
