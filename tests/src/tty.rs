//! A device in QEMU with slots of its own, on a terminal of the operating system, as a real one is.

use std::fs::{self, File};
use std::io::{BufRead, BufReader, Write};
use std::os::unix::fs::FileExt;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};
use calib_core::wire::{ReplyBody, RequestBody, Slots};
use calib_host::io::device::serial::{Link, RetryPolicy, open_port};
use serialport::TTYPort;
use tempfile::TempDir;

use crate::watchdog::Watchdog;
use crate::{Board, GdbProbe};

/// How long QEMU may take to start.
const TIME_LIMIT: Duration = Duration::from_secs(60);
/// The flash of QEMU's RISC-V machine, and where the firmware has its slots in it.
const FLASH_LEN: u64 = 32 << 20;
const SLOTS_AT: u64 = 16 << 20;
const SLOTS_LEN: usize = 512 << 10;
/// Behind them, where it keeps its counters.
const COUNTERS_LEN: usize = 512 << 10;
/// The flash of the micro:bit.
const MICROBIT_FLASH_END: u64 = 0x4_0000;
const MICROBIT_PAGE_LEN: u64 = 1024;
/// What the machine starts with: `lui t0, 0x80000; jr t0`, a jump to the firmware.
const START: [u32; 2] = [0x8000_02B7, 0x0002_8067];

/// A device with two slots, that can be switched off at any moment and on again.
#[derive(Debug)]
pub struct TtyDevice {
    board: Board,
    elf: PathBuf,
    folder: TempDir,
    on: Option<On>,
}

/// While the power is on.
#[derive(Debug)]
struct On {
    qemu: Child,
    _watchdog: Watchdog,
    port: String,
    /// The terminal of the log, on a board that has one.
    log_port: Option<String>,
    /// While somebody has the terminal open, QEMU does not drop what the device sends.
    open: File,
}

impl TtyDevice {
    /// A device with the firmware in `elf`, erased slots and no counters, switched off.
    ///
    /// # Errors
    ///
    /// If its flash cannot be written.
    pub fn new(board: Board, elf: &Path) -> Result<Self> {
        let folder = tempfile::Builder::new().prefix("calib-").tempdir()?;
        if board == Board::Virt {
            let flash = File::create(folder.path().join("flash"))?;
            flash.set_len(FLASH_LEN)?;
            flash.write_all_at(&START.map(u32::to_le_bytes).concat(), 0)?;
            flash.write_all_at(&vec![0xFF; SLOTS_LEN + COUNTERS_LEN], SLOTS_AT)?;
        }
        Ok(Self { board, elf: fs::canonicalize(elf)?, folder, on: None })
    }

    /// Switches the power off, and puts another program into the device, as a bootloader does: the slots stay as they are.
    ///
    /// # Errors
    ///
    /// If there is no such file.
    pub fn replace_program(&mut self, elf: &Path) -> Result<()> {
        self.switch_off();
        self.elf = fs::canonicalize(elf)?;
        Ok(())
    }

    /// Switches the power on.
    ///
    /// # Errors
    ///
    /// If QEMU does not start.
    pub fn switch_on(&mut self) -> Result<()> {
        self.switch_off();
        let folder = self.folder.path();
        let said = folder.join("stdout");
        let mut command = self.board.emulator();
        command.current_dir(folder).args([
            "-machine",
            self.board.name(),
            "-display",
            "none",
            "-monitor",
            "none",
            "-serial",
            "pty",
            "-qmp",
            "unix:qmp,server=on,wait=off",
        ]);
        if self.board == Board::Virt {
            let elf = self.elf.to_str().context("the path of the firmware is not UTF-8")?;
            command
                .args(["-bios", "none", "-drive", "if=pflash,unit=0,format=raw,file=flash"])
                .args(["-device", &format!("loader,file={elf}")]);
        } else {
            command.args(["-serial", if self.board.has_log() { "pty" } else { "null" }]);
            command.arg("-kernel").arg(&self.elf);
        }
        if self.board == Board::Microbit {
            // The chip of its kind that has enough memory for two slots.
            command.args(["-global", "nrf51-soc.sram-size=32768", "-gdb", "unix:gdb,server=on,wait=off"]);
        }
        let mut qemu = command
            .stdin(Stdio::null())
            .stdout(File::create(&said)?)
            .stderr(File::create(folder.join("stderr"))?)
            .spawn()
            .with_context(|| format!("{} did not start: run `cargo xtask test`", self.board.qemu()))?;
        let watched = Watchdog::of(&qemu).map_err(anyhow::Error::from);
        let has_log = self.board.has_log();
        let opened = watched.and_then(|watchdog| {
            let port = wait_for_port(&mut qemu, folder, "serial0")?;
            let log_port = has_log.then(|| wait_for_port(&mut qemu, folder, "serial1")).transpose()?;
            let open = File::options().read(true).write(true).open(&port);
            let open = open.with_context(|| format!("cannot open {port}"))?;
            Ok((watchdog, port, log_port, open))
        });
        match opened {
            Ok((watchdog, port, log_port, open)) => {
                self.on = Some(On { qemu, _watchdog: watchdog, port, log_port, open });
            }
            Err(error) => {
                end(&mut qemu);
                return Err(error);
            }
        }
        Ok(())
    }

    /// Resets the device without a power cut: memory and flash stay as they are, and the program begins anew.
    ///
    /// # Errors
    ///
    /// If the power is off, or QEMU does not do so.
    pub fn reset(&mut self) -> Result<()> {
        ensure!(self.on.is_some(), "the device is switched off");
        let mut line = BufReader::new(self.connect("qmp")?);
        // QEMU greets, takes that its protocol is spoken, and tells events in between.
        let mut said = String::new();
        line.read_line(&mut said)?;
        for command in ["qmp_capabilities", "system_reset"] {
            writeln!(line.get_mut(), "{{\"execute\": \"{command}\"}}")?;
            said.clear();
            while !said.contains("\"return\"") {
                said.clear();
                ensure!(line.read_line(&mut said)? > 0, "QEMU ended at {command}");
                ensure!(!said.contains("\"error\""), "QEMU refuses {command}: {said}");
            }
        }
        Ok(())
    }

    /// What lies where a device of QEMU's RISC-V machine keeps its counters.
    ///
    /// # Errors
    ///
    /// If it is another board, or its flash cannot be read.
    pub fn counters(&self) -> Result<Vec<u8>> {
        let mut bytes = vec![0; COUNTERS_LEN];
        self.flash()?.read_exact_at(&mut bytes, SLOTS_AT + SLOTS_LEN as u64)?;
        Ok(bytes)
    }

    /// Switches the power off, and puts other bytes there.
    ///
    /// # Errors
    ///
    /// As [`TtyDevice::counters`].
    pub fn set_counters(&mut self, bytes: &[u8]) -> Result<()> {
        self.switch_off();
        ensure!(bytes.len() == COUNTERS_LEN, "{COUNTERS_LEN} bytes lie there");
        Ok(self.flash()?.write_all_at(bytes, SLOTS_AT + SLOTS_LEN as u64)?)
    }

    fn flash(&self) -> Result<File> {
        ensure!(self.board == Board::Virt, "this board's flash is not in a file");
        Ok(File::options().read(true).write(true).open(self.folder.path().join("flash"))?)
    }

    /// A socket of QEMU's.
    fn connect(&self, name: &str) -> Result<UnixStream> {
        let deadline = Instant::now() + TIME_LIMIT;
        loop {
            match UnixStream::connect(self.folder.path().join(name)) {
                Ok(line) => return Ok(line),
                Err(error) if Instant::now() > deadline => return Err(error.into()),
                // QEMU is still starting.
                Err(_) => thread::sleep(Duration::from_millis(10)),
            }
        }
    }

    /// Switches the power off at once: QEMU is killed, whatever it does.
    pub fn switch_off(&mut self) {
        if let Some(mut on) = self.on.take() {
            end(&mut on.qemu);
        }
    }

    /// The terminal that the device is on.
    ///
    /// # Errors
    ///
    /// If the power is off.
    pub fn port(&self) -> Result<&str> {
        Ok(&self.on.as_ref().context("the device is switched off")?.port)
    }

    /// The terminal that the device logs to.
    ///
    /// # Errors
    ///
    /// If the power is off, or the board has no line for a log.
    pub fn log_port(&self) -> Result<&str> {
        let on = self.on.as_ref().context("the device is switched off")?;
        on.log_port.as_deref().context("the board has no line for a log")
    }

    /// Sends bytes to the device, and leaves its answer to whoever listens.
    ///
    /// # Errors
    ///
    /// If the power is off.
    pub fn send_bytes(&mut self, bytes: &[u8]) -> Result<()> {
        let on = self.on.as_mut().context("the device is switched off")?;
        Ok(on.open.write_all(bytes)?)
    }

    /// A debug probe on the device, a micro:bit.
    ///
    /// # Errors
    ///
    /// If the power is off, or it is another board.
    pub fn probe(&self) -> Result<GdbProbe> {
        ensure!(self.board == Board::Microbit && self.on.is_some(), "this device has no probe");
        GdbProbe::attach(self.connect("gdb")?, 0..MICROBIT_FLASH_END, MICROBIT_PAGE_LEN)
    }

    /// The process that is killed to switch the power off.
    ///
    /// # Errors
    ///
    /// If the power is off.
    pub fn process(&mut self) -> Result<&mut Child> {
        Ok(&mut self.on.as_mut().context("the device is switched off")?.qemu)
    }

    /// A link to the device.
    ///
    /// # Errors
    ///
    /// If the power is off, or the terminal cannot be opened.
    pub fn link(&self, retry: RetryPolicy) -> Result<Link<TTYPort>> {
        Ok(Link::new(open_port(self.port()?, 115_200)?, retry))
    }

    /// What the slots hold.
    ///
    /// # Errors
    ///
    /// If the device does not answer.
    pub fn slots(&self) -> Result<Slots> {
        // QEMU looks once a second whether somebody has the terminal open, and drops what the device sends until then.
        let retry = RetryPolicy { reply: Duration::from_millis(500), tries: 60 };
        match self.link(retry)?.ask(&RequestBody::Slots)? {
            ReplyBody::Slots(slots) => Ok(slots),
            other => bail!("the device answered {other:?}"),
        }
    }
}

impl Drop for TtyDevice {
    fn drop(&mut self) {
        self.switch_off();
    }
}

/// Both fail only if QEMU has ended already.
fn end(qemu: &mut Child) {
    let _ = qemu.kill();
    let _ = qemu.wait();
}

/// Waits until QEMU says which terminal it made for a serial line.
fn wait_for_port(qemu: &mut Child, folder: &Path, label: &str) -> Result<String> {
    let deadline = Instant::now() + TIME_LIMIT;
    loop {
        let said = fs::read_to_string(folder.join("stdout"))? + &fs::read_to_string(folder.join("stderr"))?;
        let label = format!(" (label {label})");
        if let Some((before, _)) = said.split_once(&label)
            && let Some((_, port)) = before.rsplit_once("redirected to ")
        {
            return Ok(port.to_owned());
        }
        if let Some(status) = qemu.try_wait()? {
            bail!("QEMU ended at once ({status})\n  QEMU says: {}", said.trim_end());
        }
        ensure!(Instant::now() < deadline, "QEMU names no terminal\n  QEMU says: {}", said.trim_end());
        thread::sleep(Duration::from_millis(2));
    }
}
