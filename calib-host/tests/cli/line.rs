//! A device at the other end of a terminal, which stands for the serial line.

use std::fs::File;
use std::io::{Read, Write};
use std::process::{Command, Stdio};
use std::time::Duration;

use calib_core::wire::{FrameReader, MAX_FRAME, Reply, Request, encode};
use serialport::{SerialPort, TTYPort};

use crate::workplace::Run;

/// Runs a command with a device that answers so at the other end of its `--port`, which is called PORT in what was printed.
pub(crate) fn with_device(mut command: Command, mut answer: impl FnMut(Request) -> Vec<Reply>) -> Run {
    let (mut near, mut far) = TTYPort::pair().unwrap();
    far.set_exclusive(false).unwrap();
    let port = far.name().unwrap();
    let _open = File::options().read(true).write(true).open(&port).unwrap();
    // It is locked as long as it lives.
    drop(far);
    near.set_timeout(Duration::from_millis(20)).unwrap();
    command.args(["--port", &port]).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let (mut reader, mut bytes) = (FrameReader::new(), [0; 256]);
    while child.try_wait().unwrap().is_none() {
        let Ok(len) = near.read(&mut bytes) else { continue };
        for request in bytes[..len].iter().filter_map(|&byte| reader.push(byte)?.ok()) {
            for reply in answer(request) {
                near.write_all(encode(&reply, &mut [0; MAX_FRAME]).unwrap()).unwrap();
            }
        }
    }
    let Run { code, stdout, stderr } = child.wait_with_output().unwrap().into();
    Run { code, stdout: stdout.replace(&port, "PORT"), stderr: stderr.replace(&port, "PORT") }
}
