//! `calib status` and `calib doctor --port`, with devices of several ages at the other end of a terminal.

use std::fs::File;
use std::io::{Read, Write};
use std::process::Command;
use std::time::{Duration, Instant};

use calib_core::artifact::{Method, Reduction};
use calib_core::slot::{PassedOver, SlotContent, SlotFault};
use calib_core::wire::{
    CalibratorStatus, FrameReader, Held, MAX_FRAME, Name, PROTOCOL_VERSION, Questions, Refusal, Reply,
    ReplyBody, Request, RequestBody, Slots, Standing, Status, encode,
};
use calib_core::{AlarmRule, ClassifierId, Identity, ScoreEncoding};
use serde_json::Value;
use serialport::{SerialPort, TTYPort};

/// A device, as far as these commands see it.
#[derive(Clone, Copy)]
struct Device {
    /// The version of its protocol; those of version 1 are silent when they are asked.
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
    fn answer(&self, request: &RequestBody) -> Option<ReplyBody> {
        Some(match request {
            RequestBody::Status => ReplyBody::Status(status()),
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
            _ if self.version == 1 => return None,
            RequestBody::Version => ReplyBody::Version(self.version),
            RequestBody::Standing => ReplyBody::Standing(Standing {
                held: Some(Held { identity: IDENTITY, counter: 3 }),
                passed_over: self.fell_back.then_some(PassedOver { slot: 1, fault: self.fault }),
                questions: self.questions,
            }),
            _ => ReplyBody::Refused(Refusal::Unknown),
        })
    }

    /// Runs a command with the device at the other end of `--port`: exit code, standard output and error.
    fn run(self, args: &[&str]) -> (i32, String, String) {
        let (mut near, mut far) = TTYPort::pair().unwrap();
        far.set_exclusive(false).unwrap();
        let port = far.name().unwrap();
        let _open = File::options().read(true).write(true).open(&port).unwrap();
        // It is locked as long as it lives.
        drop(far);
        near.set_timeout(Duration::from_millis(20)).unwrap();
        let mut child = Command::new(env!("CARGO_BIN_EXE_calib"))
            .args(args)
            .args(["--port", &port])
            .stdout(std::process::Stdio::piped())
            .stderr(std::process::Stdio::piped())
            .spawn()
            .unwrap();
        let mut reader = FrameReader::new();
        let mut bytes = [0; 256];
        while child.try_wait().unwrap().is_none() {
            let Ok(len) = near.read(&mut bytes) else { continue };
            for Request { id, body } in bytes[..len].iter().filter_map(|&byte| reader.push(byte)?.ok()) {
                if let Some(body) = self.answer(&body) {
                    near.write_all(encode(&Reply { id, body }, &mut [0; MAX_FRAME]).unwrap()).unwrap();
                }
            }
        }
        let output = child.wait_with_output().unwrap();
        let text = |bytes| String::from_utf8(bytes).unwrap();
        (output.status.code().unwrap(), text(output.stdout), text(output.stderr))
    }
}

fn status() -> Status {
    Status {
        firmware: Name::try_from("0.1.0").unwrap(),
        classifier: Name::try_from("fever").unwrap(),
        classifier_id: ClassifierId([7; 8]),
        features: 2,
        classes: 2,
        alarm_rule: AlarmRule::AtLeast(0.5),
        stack_high_water_bytes: 900,
        calibrator: Ok(CalibratorStatus {
            identity: IDENTITY,
            len_bytes: 188,
            method: Method::Umd,
            reduction: Reduction::Binary,
            bins: 4,
            n: 400,
            guarantee: None,
            encoding: ScoreEncoding::Margin,
            actions: 0,
        }),
    }
}

#[test]
fn the_protocol_is_shown_and_what_is_not_answered() {
    let (code, out, err) = SOUND.run(&["status"]);
    assert_eq!((code, &*err), (0, ""), "{out}");
    assert!(out.contains(&format!("protocol    version {PROTOCOL_VERSION}")), "{out}");
    assert!(out.contains(&format!("answers     from {IDENTITY}, counter 3")), "{out}");
    assert!(out.contains("scores      f32 margins\n"), "{out}");
    assert!(!out.contains("neither scores"), "{out}");
    let (_, out, _) = Device { questions: Questions::NoTrials, ..SOUND }.run(&["status"]);
    assert!(out.contains("neither scores from the line nor measurements"), "{out}");
    let (code, out, _) = SOUND.run(&["status", "--json"]);
    let shown: Value = serde_json::from_str(&out).unwrap();
    assert_eq!((code, shown["protocol"].as_u64()), (0, Some(PROTOCOL_VERSION.into())));
    assert_eq!(shown["device"]["calibrator"]["encoding"], "f32 margins");
    assert_eq!(shown["standing"]["counter"], 3);
    assert_eq!(shown["standing"]["answers_trials"], true);
    assert_eq!(shown["standing"]["passed_over"], Value::Null);
}

#[test]
fn a_device_that_fell_back_is_an_error() {
    let device = Device { fault: SlotFault::Altered, fell_back: true, ..SOUND };
    let (code, out, err) = device.run(&["status"]);
    assert_eq!(code, 5, "{out}{err}");
    assert!(out.contains("slot 0") && out.contains("in force"), "{out}");
    assert!(err.contains("may have fallen back to an older calibrator: slot 1"), "{err}");
    assert!(err.contains("the slot's bytes were altered") && err.contains("calib push"), "{err}");
    let (code, out, _) = device.run(&["status", "--json"]);
    let shown: Value = serde_json::from_str(&out).unwrap();
    assert_eq!((code, &shown["standing"]["passed_over"]["slot"]), (5, &Value::from(1)));
}

#[test]
fn old_firmware_is_told_as_that_in_time() {
    let old = Device { version: 1, ..SOUND };
    let start = Instant::now();
    let (code, out, err) = old.run(&["status", "--timeout", "60"]);
    assert!(start.elapsed() < Duration::from_secs(30), "{:?}", start.elapsed());
    assert_eq!((code, &*err), (0, ""), "{out}");
    assert!(out.contains("version 1: the firmware does not say"), "{out}");
    let (code, out, _) = old.run(&["status", "--json", "--timeout", "0.2"]);
    let shown: Value = serde_json::from_str(&out).unwrap();
    assert_eq!((code, &shown["protocol"], &shown["standing"]), (0, &Value::Null, &Value::Null));
    // It cannot say that it fell back: a slot that is damaged is a warning.
    let (code, _, err) = Device { fault: SlotFault::Altered, ..old }.run(&["status", "--timeout", "0.2"]);
    assert_eq!(code, 0);
    assert!(err.contains("warning: slot 1: the slot's bytes were altered"), "{err}");
}

#[test]
fn the_doctor_asks_a_device_for_its_protocol() {
    let (code, out, _) = SOUND.run(&["doctor"]);
    assert_eq!(code, 0);
    assert!(out.contains(&format!("ok       device protocol: version {PROTOCOL_VERSION}")), "{out}");
    assert!(out.contains(&format!("firmware 0.1.0, protocol version {PROTOCOL_VERSION}")), "{out}");
    let of_device = |version| {
        let (_, out, _) = Device { version, ..SOUND }.run(&["doctor", "--timeout", "0.2"]);
        out.lines().skip_while(|line| !line.contains("device on")).collect::<Vec<_>>().join("\n")
    };
    let old = of_device(1);
    assert!(old.starts_with("missing") && old.contains("protocol version 1"), "{old}");
    assert!(old.contains("build its firmware"), "{old}");
    let later = of_device(PROTOCOL_VERSION + 1);
    assert!(later.starts_with("missing") && later.contains("install a newer version of calib"), "{later}");
}
