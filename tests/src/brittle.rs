//! A serial line that breaks.

use std::fs::File;
use std::io::{ErrorKind, Read, Write};
use std::os::fd::{FromRawFd, IntoRawFd, OwnedFd};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use anyhow::{Context, Result};
use calib_host::io::device::serial::open_port;
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
    Ok((ours_alone(near)?, name, open))
}

/// The same port, which programs that are started do not inherit: they would keep it open.
fn ours_alone(port: TTYPort) -> Result<TTYPort> {
    let timeout = port.timeout();
    // SAFETY: the port gives up its descriptor, which nobody else closes.
    let inherited = unsafe { OwnedFd::from_raw_fd(port.into_raw_fd()) };
    let alone = inherited.try_clone()?;
    // SAFETY: the descriptor is a terminal's, and nobody else's.
    let mut port = unsafe { TTYPort::from_raw_fd(alone.into_raw_fd()) };
    port.set_timeout(timeout)?;
    Ok(port)
}

/// What breaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Break {
    /// The cable behind the adapter is cut: its port stays, and nothing comes any more.
    Cut,
    /// The adapter is unplugged: its port is gone.
    Unplugged,
}

/// A line to a device's terminal that breaks after so many bytes to the device.
#[derive(Debug)]
pub struct BrittleLine {
    port: String,
    /// Somebody has the terminal open from the beginning, so that it is not closed before it is used.
    _open: File,
    broken: Arc<AtomicBool>,
    /// Each direction gives back what must stay open.
    both: Vec<JoinHandle<Option<(TTYPort, TTYPort)>>>,
}

impl BrittleLine {
    /// Lays a line to the terminal `device` that breaks in this way.
    ///
    /// # Errors
    ///
    /// If it cannot be opened.
    pub fn new(device: &str, bytes_to_device: usize, how: Break) -> Result<Self> {
        let (mut host, port, open) = terminals()?;
        let mut device = open_port(device, 115_200)?;
        host.set_timeout(PAUSE)?;
        device.set_timeout(PAUSE)?;
        let (mut from_device, mut to_host) =
            (device.try_clone_native()?, ours_alone(host.try_clone_native()?)?);
        let broken = Arc::new(AtomicBool::new(false));
        let (up, down) = (Arc::clone(&broken), Arc::clone(&broken));
        let both = vec![
            thread::spawn(move || {
                carry(&mut host, &mut device, &up, Some(bytes_to_device));
                (how == Break::Cut).then_some((host, device))
            }),
            thread::spawn(move || {
                carry(&mut from_device, &mut to_host, &down, None);
                (how == Break::Cut).then_some((to_host, from_device))
            }),
        ];
        Ok(Self { port, _open: open, broken, both })
    }

    /// The terminal for the host.
    pub fn port(&self) -> &str {
        &self.port
    }

    /// Whether it is broken.
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
