//! `calib monitor` on a terminal, with the firmware's real results and log.

use std::io::{BufRead, BufReader, Read, Write};
use std::path::PathBuf;
use std::process::{Child, ChildStdout, Command, Stdio};
use std::sync::OnceLock;

use calib_core::wire::{self, MAX_FRAME, Refusal, Reply, ReplyBody, Request, RequestBody, Scores};
use calib_host::io::device::serial::push;
use calib_tests::{Board, TtyDevice, calib, terminals};
use serde_json::Value;

use super::setting::{ID, calibrator, firmware, prob, retry_policy};

fn elf() -> &'static PathBuf {
    static ELF: OnceLock<PathBuf> = OnceLock::new();
    ELF.get_or_init(|| firmware(Board::Mps2An386))
}

/// A device with a calibrator, and the command that watches it.
struct Watched {
    device: TtyDevice,
    monitor: Child,
    lines: BufReader<ChildStdout>,
    asked: u32,
}

impl Watched {
    /// The device is asked without end until the first line comes, and that line returned: the emulator notices only after a
    /// while that somebody listens.
    fn new(args: &[&str]) -> Self {
        let mut device = TtyDevice::new(Board::Mps2An386, elf()).unwrap();
        device.switch_on().unwrap();
        device.slots().unwrap();
        push(&mut device.link(retry_policy()).unwrap(), &calibrator(10, 0, Some(ID)), |_| ()).unwrap();
        let mut monitor = Command::new(calib())
            .args(["monitor", "--port", device.port().unwrap(), "--log-port", device.log_port().unwrap()])
            .arg("--elf")
            .arg(elf())
            .args(args)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let lines = BufReader::new(monitor.stdout.take().unwrap());
        Self { device, monitor, lines, asked: 0 }
    }

    /// Asks the device for a prediction, as another program on the line would.
    fn ask(&mut self, score: f32) -> u32 {
        self.asked += 1;
        let request = Request { id: self.asked, body: RequestBody::predict(Scores::Score(score)) };
        self.device.send_bytes(wire::encode(&request, &mut [0; MAX_FRAME]).unwrap()).unwrap();
        self.asked
    }

    fn line(&mut self) -> String {
        let mut line = String::new();
        self.lines.read_line(&mut line).unwrap();
        line.trim_end().to_owned()
    }

    /// Ends the command as Ctrl-C does, and returns what it said.
    fn interrupt(mut self) -> (Option<i32>, String) {
        let pid = self.monitor.id().to_string();
        assert!(Command::new("kill").args(["-INT", &pid]).status().unwrap().success());
        self.end()
    }

    fn end(&mut self) -> (Option<i32>, String) {
        let mut said = String::new();
        self.monitor.stderr.take().unwrap().read_to_string(&mut said).unwrap();
        (self.monitor.wait().unwrap().code(), said)
    }
}

impl Drop for Watched {
    fn drop(&mut self) {
        let _ = self.monitor.kill();
        let _ = self.monitor.wait();
    }
}

/// What the host says for a score.
fn expected(score: f32) -> f64 {
    prob(&calibrator(10, 0, Some(ID)), score).into()
}

#[test]
fn results_are_shown_as_csv_and_the_log_beside_them() {
    let mut watched = Watched::new(&["--format", "csv"]);
    assert_eq!(
        watched.line(),
        "time_s,request,class,score,prob,bin,epsilon,uncalibrated,alarm,band_lo,band_hi"
    );
    for score in [0.1f32, 0.5, 0.9] {
        let id = watched.ask(score);
        let line = watched.line();
        let fields: Vec<&str> = line.split(',').collect();
        assert_eq!(fields.len(), 11, "{line}");
        assert_eq!((fields[1], fields[3].parse()), (&*id.to_string(), Ok(score)), "{line}");
        assert_eq!(fields[4].parse::<f32>().map(f64::from), Ok(expected(score)), "{line}");
        assert_eq!(fields[7], "");
        // The calibrator has no band.
        assert_eq!(fields[9..], [""; 2], "{line}");
    }
    // The emulator begins to hand on the log up to a second after somebody listens.
    std::thread::sleep(std::time::Duration::from_millis(1500));
    watched.ask(0.25);
    watched.line();
    std::thread::sleep(std::time::Duration::from_millis(500));
    let (code, said) = watched.interrupt();
    assert_eq!(code, Some(0), "{said}");
    assert!(said.contains("debug class 1 score 0.25 prob"), "{said}");
    assert!(said.lines().last().unwrap().contains("4 lines"), "{said}");
}

#[test]
fn results_and_log_are_json_lines() {
    let mut watched = Watched::new(&["--format", "json"]);
    let (mut results, mut logs) = (0, 0);
    while results == 0 || logs == 0 {
        watched.ask(0.75);
        let line: Value = serde_json::from_str(&watched.line()).unwrap();
        assert!(line["time_s"].as_f64().unwrap() > 1e9);
        if let Some(log) = line.get("log") {
            assert_eq!(log["level"], "debug");
            let message = log["message"].as_str().unwrap();
            assert!(message.starts_with("class 1 score 0.75 prob"), "{message}");
            assert!(log["file"].as_str().unwrap().ends_with("log.rs"), "{log}");
            logs += 1;
        } else {
            let prediction = &line["reply"]["prediction"];
            assert_eq!(prediction["class"], 1, "{line}");
            results += 1;
        }
        std::thread::sleep(std::time::Duration::from_millis(100));
    }
    assert_eq!(watched.interrupt().0, Some(0));
}

#[test]
fn a_device_that_is_unplugged_is_told_as_that() {
    let mut watched = Watched::new(&["--format", "csv"]);
    watched.line();
    watched.ask(0.5);
    assert!(watched.line().contains(",0.5,"));
    watched.device.switch_off();
    let (code, said) = watched.end();
    assert_eq!(code, Some(5), "{said}");
    assert!(said.contains("the device is gone: its serial port was closed"), "{said}");
    assert!(said.contains("connect it again"), "{said}");
}

#[test]
fn a_port_that_disappears_in_the_middle_of_a_reply_is_told_as_that() {
    let (mut near, port, _open) = terminals().unwrap();
    let mut monitor = Command::new(calib())
        .args(["monitor", "--port", &port])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(monitor.stdout.take().unwrap()).lines().map(Result::unwrap);
    assert!(lines.next().unwrap().starts_with("time_s,"));
    let refused = ReplyBody::Refused(Refusal::Measure);
    let reply = Reply { id: 7, body: refused };
    let mut space = [0; MAX_FRAME];
    let frame = wire::encode(&reply, &mut space).unwrap();
    near.write_all(&frame[..frame.len() / 2]).unwrap();
    drop(near);
    let output = monitor.wait_with_output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(5), "{said}");
    assert!(said.contains("the device is gone: its serial port was closed"), "{said}");
    assert_eq!(lines.next(), None, "half a reply is none");
}

#[test]
fn a_log_needs_its_program_and_a_way() {
    let run = |args: &[&str]| {
        let output = Command::new(calib()).arg("monitor").args(args).output().unwrap();
        (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
    };
    let mut device = TtyDevice::new(Board::Mps2An386, elf()).unwrap();
    device.switch_on().unwrap();
    let port = device.port().unwrap();
    let (code, said) = run(&["--port", port, "--log-port", port]);
    assert!(code == Some(2) && said.contains("--elf"), "{said}");
    let (code, said) = run(&["--port", port, "--elf", elf().to_str().unwrap()]);
    assert!(code == Some(2) && said.contains("--log-port"), "{said}");
    let folder = tempfile::tempdir().unwrap();
    let text = folder.path().join("text.elf");
    std::fs::write(&text, "no program").unwrap();
    let (code, said) = run(&["--port", port, "--log-port", port, "--elf", text.to_str().unwrap()]);
    assert!(code == Some(3) && said.contains("text.elf: "), "{said}");
}
