//! A serial line that breaks.

use std::fs::File;
use std::io::{ErrorKind, Read, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use anyhow::{Context, Result};
use calib_host::open_port;
use serialport::{SerialPort, TTYPort};

const PAUSE: Duration = Duration::from_millis(20);

/// A pair of terminals: one end, the name of the other, and that end held open without keeping anybody else from it.
///
/// # Errors
///
/// If the operating system gives none.
pub fn terminals() -> Result<(TTYPort, String, File)> {
    let (near, mut far) = TTYPort::pair()?;
    far.set_exclusive(false)?;
    let name = far.name().context("the terminal has no name")?;
    // `far` itself is locked as long as it lives.
    let open = File::options().read(true).write(true).open(&name)?;
    Ok((near, name, open))
}

/// A line to a device's terminal that goes dead after so many bytes to the device: the adapter stays, the cable is cut.
#[derive(Debug)]
pub struct BrittleLine {
    port: String,
    /// Somebody has the terminal open from the beginning, so that it is not closed before it is used.
    _open: File,
    broken: Arc<AtomicBool>,
    both: Vec<JoinHandle<()>>,
}

impl BrittleLine {
    /// Lays a line to the terminal `device`.
    ///
    /// # Errors
    ///
    /// If it cannot be opened.
    pub fn new(device: &str, bytes_to_device: usize) -> Result<Self> {
        let (mut host, port, open) = terminals()?;
        let mut device = open_port(device, 115_200)?;
        host.set_timeout(PAUSE)?;
        device.set_timeout(PAUSE)?;
        let (mut from_device, mut to_host) = (device.try_clone_native()?, host.try_clone_native()?);
        let broken = Arc::new(AtomicBool::new(false));
        let (up, down) = (Arc::clone(&broken), Arc::clone(&broken));
        let both = vec![
            thread::spawn(move || carry(&mut host, &mut device, &up, Some(bytes_to_device))),
            thread::spawn(move || carry(&mut from_device, &mut to_host, &down, None)),
        ];
        Ok(Self { port, _open: open, broken, both })
    }

    /// The terminal for the host.
    pub fn port(&self) -> &str {
        &self.port
    }

    /// Whether it is dead.
    pub fn is_broken(&self) -> bool {
        self.broken.load(Ordering::Relaxed)
    }
}

impl Drop for BrittleLine {
    fn drop(&mut self) {
        self.broken.store(true, Ordering::Relaxed);
        for direction in self.both.drain(..) {
            let _ = direction.join();
        }
    }
}

/// Carries bytes until the line is broken, and breaks it after `limit` bytes.
fn carry(from: &mut TTYPort, to: &mut TTYPort, broken: &AtomicBool, limit: Option<usize>) {
    let mut carried = 0;
    let mut byte = [0];
    while !broken.load(Ordering::Relaxed) {
        match from.read(&mut byte) {
            Ok(1) if to.write_all(&byte).is_ok() => carried += 1,
            Err(error) if error.kind() == ErrorKind::TimedOut => {}
            _ => break,
        }
        if limit.is_some_and(|limit| carried >= limit) {
            break;
        }
    }
    broken.store(true, Ordering::Relaxed);
}
