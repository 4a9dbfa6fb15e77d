//! `calib status` and `calib doctor --port`, with a device at the other end of a terminal.

use std::fs::File;
use std::io::{Read, Write};
use std::process::Command;
use std::time::Duration;

use calib_core::artifact::{Method, Reduction};
use calib_core::slot::{PassedOver, SlotContent, SlotFault};
use calib_core::wire::{
    CalibratorStatus, FrameReader, MAX_FRAME, Name, PROTOCOL_VERSION, Questions, Refusal, Reply, ReplyBody,
    Request, RequestBody, Slots, Status, encode,
};
use calib_core::{AlarmRule, ClassifierId, Identity, ScoreEncoding};
use serde_json::Value;
use serialport::{SerialPort, TTYPort};

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
                let reply = Reply { id, body: self.answer(&body) };
                near.write_all(encode(&reply, &mut [0; MAX_FRAME]).unwrap()).unwrap();
            }
        }
        let output = child.wait_with_output().unwrap();
        let text = |bytes| String::from_utf8(bytes).unwrap();
        (output.status.code().unwrap(), text(output.stdout), text(output.stderr))
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
            passed_over: self.fell_back.then_some(PassedOver { slot: 1, fault: self.fault }),
            questions: self.questions,
        }
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
fn the_doctor_asks_a_device_for_its_protocol() {
    let (code, out, _) = SOUND.run(&["doctor"]);
    assert_eq!(code, 0);
    assert!(out.contains(&format!("ok       device protocol: version {PROTOCOL_VERSION}")), "{out}");
    assert!(out.contains(&format!("firmware 0.1.0, protocol version {PROTOCOL_VERSION}")), "{out}");
    let of_device = |version| {
        let (_, out, _) = Device { version, ..SOUND }.run(&["doctor", "--timeout", "0.2"]);
        out.lines().skip_while(|line| !line.contains("device on")).collect::<Vec<_>>().join("\n")
    };
    let old = of_device(0);
    assert!(old.starts_with("missing") && old.contains("protocol version 0"), "{old}");
    assert!(old.contains("build its firmware"), "{old}");
    let later = of_device(PROTOCOL_VERSION + 1);
    assert!(later.starts_with("missing") && later.contains("install a newer version of calib"), "{later}");
}
