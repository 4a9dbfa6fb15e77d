//! What the command does with devices on serial lines, and without any.

use std::fs::{self, File, Permissions};
use std::io::{Read, Write};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use calib_core::wire::{ReplyBody, RequestBody, UpdateStatus};
use calib_tests::{Board, Break, BrittleLine, TtyDevice, calib, terminals};
use serialport::SerialPort;
use tempfile::TempDir;

use super::setting::{ID, calibrator, json, retry_policy, run, virt, words};

/// A folder with `cal.bin`.
fn folder(bins: usize) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("cal.bin"), calibrator(bins, 4, Some(ID)).as_bytes()).unwrap();
    folder
}

#[test]
fn the_command_pushes_and_shows_the_status() {
    let folder = folder(11);
    let artifact = calibrator(11, 4, Some(ID));
    let mut device = TtyDevice::new(Board::Virt, virt()).unwrap();
    device.switch_on().unwrap();
    device.slots().unwrap();
    let run = |args: &[&str]| run(folder.path(), args, device.port().unwrap());
    let pushed = json(&run(&["push", "cal.bin", "--json"]));
    let identity = artifact.artifact().identity().to_string();
    assert_eq!((pushed["identity"].as_str(), pushed["sequence"].as_u64()), (Some(&*identity), Some(1)));

    let status = json(&run(&["status", "--json"]));
    assert_eq!(status["slots"]["slots"][0]["identity"].as_str(), Some(&*identity));
    assert_eq!(status["slots"]["slots"][0]["counter"].as_u64(), Some(4));
    assert_eq!(status["device"]["calibrator"]["identity"].as_str(), Some(&*identity));
    let shown = String::from_utf8(run(&["status"]).stdout).unwrap();
    assert!(shown.contains("in force") && shown.contains("slot is blank"), "{shown}");

    let lower = calibrator(11, 3, Some(ID));
    fs::write(folder.path().join("lower.bin"), lower.as_bytes()).unwrap();
    let refused = run(&["push", "lower.bin"]);
    assert_eq!(refused.status.code(), Some(5));
    let words = words(&refused);
    assert!(words.contains("counter is 3, below 4") && words.contains("--counter 4"), "{words}");
}

#[test]
fn a_push_over_a_line_that_breaks_goes_on_where_it_stopped() {
    for (how, told) in [
        (Break::Cut, "did not answer within 1.0 s, asked 2 times"),
        (Break::Unplugged, "the device is gone: its serial port was closed"),
    ] {
        let folder = folder(60);
        let mut device = TtyDevice::new(Board::Virt, virt()).unwrap();
        device.switch_on().unwrap();
        device.slots().unwrap();
        // The announcement, the first chunk and a part of the second get through.
        let line = BrittleLine::new(device.port().unwrap(), 450, how).unwrap();
        let args = ["push", "cal.bin", "--timeout", "1", "--tries", "2", "--port", line.port()];
        let cut = Command::new(calib()).current_dir(folder.path()).args(args).output().unwrap();
        assert!(line.is_broken(), "{how:?}: {}", words(&cut));
        assert_eq!(cut.status.code(), Some(5), "{how:?}");
        assert!(words(&cut).contains(told), "{how:?}: {}", words(&cut));
        drop(line);

        let mut link = device.link(retry_policy()).unwrap();
        let ReplyBody::Slots(slots) = link.ask(&RequestBody::Slots).unwrap() else { panic!("no slots") };
        let Some(UpdateStatus::Receiving { received, .. }) = slots.update else { panic!("{slots:?}") };
        assert!(received > 0 && slots.in_force.is_none(), "{how:?}");
        drop(link);
        let pushed = json(&run(folder.path(), &["push", "cal.bin", "--json"], device.port().unwrap()));
        assert_eq!(pushed["resumed_at_bytes"].as_u64(), Some(received.into()), "{how:?}");
        let identity = calibrator(60, 4, Some(ID)).artifact().identity().to_string();
        assert_eq!(pushed["identity"].as_str(), Some(&*identity), "{how:?}");
    }
}

/// Runs a push whose standard error is a terminal, and returns what stands there.
fn on_a_terminal(folder: &Path, device: &TtyDevice, flags: &[&str]) -> String {
    let (mut screen, terminal, _open) = terminals().unwrap();
    screen.set_timeout(Duration::from_millis(200)).unwrap();
    let stderr = File::options().write(true).open(terminal).unwrap();
    let mut child = Command::new(calib())
        .current_dir(folder)
        .env("TERM", "xterm")
        .args(["push", "cal.bin", "--timeout", "2", "--tries", "15", "--port", device.port().unwrap()])
        .args(flags)
        .stderr(Stdio::from(stderr))
        .spawn()
        .unwrap();
    let mut shown = Vec::new();
    let mut bytes = [0; 4096];
    loop {
        match screen.read(&mut bytes) {
            Ok(len) => shown.extend_from_slice(&bytes[..len]),
            Err(_) if child.try_wait().unwrap().is_some() => break,
            Err(_) => {}
        }
    }
    assert!(child.wait().unwrap().success());
    String::from_utf8_lossy(&shown).into_owned()
}

#[test]
fn progress_is_shown_on_a_terminal_alone() {
    let folder = folder(60);
    let mut device = TtyDevice::new(Board::Virt, virt()).unwrap();
    device.switch_on().unwrap();
    device.slots().unwrap();
    let shown = on_a_terminal(folder.path(), &device, &[]);
    assert!(shown.contains("sending") || shown.contains("installing"), "{shown:?}");
    assert!(shown.contains("is active"), "{shown:?}");
    fs::write(folder.path().join("cal.bin"), calibrator(50, 4, Some(ID)).as_bytes()).unwrap();
    assert_eq!(on_a_terminal(folder.path(), &device, &["--quiet"]), "");
    fs::write(folder.path().join("cal.bin"), calibrator(60, 4, Some(ID)).as_bytes()).unwrap();
    let piped = run(folder.path(), &["push", "cal.bin"], device.port().unwrap());
    let said: Vec<String> = words(&piped).lines().map(str::to_owned).collect();
    let [in_force, next, _] = &said[..] else { panic!("{said:?}") };
    assert!(
        piped.status.success() && in_force.contains("is active") && next.starts_with("next: "),
        "{said:?}"
    );
}

#[test]
fn a_port_that_does_not_lead_to_a_device_is_told_as_what_it_is() {
    let folder = folder(9);
    let push = |port: &str| {
        let start = Instant::now();
        let args = ["push", "cal.bin", "--timeout", "0.2", "--tries", "2", "--port", port];
        let output = Command::new(calib()).current_dir(folder.path()).args(args).output().unwrap();
        assert_eq!(output.status.code(), Some(5), "{}", words(&output));
        (words(&output), start.elapsed())
    };
    let (missing, _) = push("/dev/ttyThereIsNone7");
    assert!(missing.contains("there is no serial port /dev/ttyThereIsNone7"), "{missing}");
    assert!(missing.contains("calib doctor") || missing.contains("the ports are"), "{missing}");
    let (no_port, _) = push("/dev/null");
    assert!(no_port.contains("/dev/null is no serial port"), "{no_port}");

    // A line on which nobody answers.
    let (_other, port, _open) = terminals().unwrap();
    let (silent, took) = push(&port);
    assert!(silent.contains("did not answer within 0.2 s, asked 2 times"), "{silent}");
    assert!(silent.contains("is this the right port"), "{silent}");
    assert!((0.4..20.0).contains(&took.as_secs_f64()), "{took:?}");

    // One on which something else talks.
    let (mut other, port, _open) = terminals().unwrap();
    other.set_timeout(Duration::from_millis(20)).unwrap();
    let (done, stop) = std::sync::mpsc::channel::<()>();
    let talker = thread::spawn(move || {
        while stop.try_recv() == Err(std::sync::mpsc::TryRecvError::Empty) {
            let _ = other.write_all(b"$GPGGA,123519,4807.038,N\0\r\n\0");
            let _ = other.read(&mut [0; 256]);
        }
    });
    let (noise, _) = push(&port);
    done.send(()).unwrap();
    talker.join().unwrap();
    assert!(noise.contains("did not answer") && noise.contains("damaged frames came"), "{noise}");
}

#[test]
fn a_port_without_permission_is_told_as_that() {
    let folder = folder(9);
    let (_other, port, _open) = terminals().unwrap();
    fs::set_permissions(&port, Permissions::from_mode(0o000)).unwrap();
    fs::set_permissions(folder.path(), Permissions::from_mode(0o755)).unwrap();
    // The copy is where anybody may run it.
    let copy = folder.path().join("calib");
    fs::copy(calib(), &copy).unwrap();
    let mut command = Command::new(&copy);
    command.current_dir(folder.path()).args(["push", "cal.bin", "--port", &port]);
    // Nothing is forbidden to root: then it is run as nobody.
    if File::options().read(true).write(true).open(&port).is_ok() {
        command.uid(65534).gid(65534);
    }
    let output = command.output().unwrap();
    assert_eq!(output.status.code(), Some(5), "{}", words(&output));
    let text = words(&output);
    assert!(text.contains(&format!("no permission to open {port}")) && text.contains("dialout"), "{text}");
}
