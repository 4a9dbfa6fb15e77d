//! A debug probe on an emulated chip: QEMU's own debugger interface, behind the trait that the host's flow uses.

use std::io::{Read, Write};
use std::ops::Range;
use std::os::unix::net::UnixStream;
use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};
use calib_host::io::device::probe::{AccessError, FlashAccess, Sector};

const TIME_LIMIT: Duration = Duration::from_secs(30);
/// What one packet carries.
const PIECE: usize = 1024;

/// A probe that is attached to QEMU's micro:bit. It stops the core, as probes do.
#[derive(Debug)]
pub struct GdbProbe {
    line: UnixStream,
    flash: Range<u64>,
    sector_len: u64,
    running: bool,
}

impl GdbProbe {
    /// Attaches, and stops the core. The chip's flash lies at `flash`, in sectors of `sector_len` bytes.
    ///
    /// # Errors
    ///
    /// If QEMU does not answer.
    pub fn attach(line: UnixStream, flash: Range<u64>, sector_len: u64) -> Result<Self> {
        line.set_read_timeout(Some(TIME_LIMIT))?;
        let mut probe = Self { line, flash, sector_len, running: false };
        probe.settle()?;
        Ok(probe)
    }

    fn send(&mut self, command: &str) -> Result<()> {
        let sum = command.bytes().fold(0u8, u8::wrapping_add);
        Ok(self.line.write_all(format!("${command}#{sum:02x}").as_bytes())?)
    }

    fn byte(&mut self) -> Result<u8> {
        let mut byte = [0];
        self.line.read_exact(&mut byte).context("QEMU's debugger interface is silent")?;
        Ok(byte[0])
    }

    /// The next packet, acknowledged.
    fn packet(&mut self) -> Result<String> {
        while self.byte()? != b'$' {}
        let mut text = String::new();
        loop {
            match self.byte()? {
                b'#' => break,
                byte => text.push(char::from(byte)),
            }
        }
        self.byte()?;
        self.byte()?;
        self.line.write_all(b"+")?;
        Ok(text)
    }

    fn ask(&mut self, command: &str) -> Result<String> {
        self.send(command)?;
        self.packet()
    }

    /// Takes all that QEMU reports unasked, such as that the core has stopped. What is not known is answered by nothing.
    fn settle(&mut self) -> Result<()> {
        self.send("vMustReplyEmpty")?;
        while !self.packet()?.is_empty() {}
        Ok(())
    }

    /// Stops the core.
    fn stop(&mut self) -> Result<()> {
        self.line.write_all(&[3])?;
        self.packet()?;
        self.settle()?;
        self.running = false;
        Ok(())
    }

    /// Does something while the core stands still.
    fn stopped<R>(&mut self, work: impl FnOnce(&mut Self) -> Result<R>) -> Result<R> {
        if !self.running {
            return work(self);
        }
        self.stop()?;
        let result = work(self);
        self.send("c")?;
        self.running = true;
        result
    }

    fn read_bytes(&mut self, addr: u64, bytes: &mut [u8]) -> Result<()> {
        for (at, piece) in (addr..).step_by(PIECE).zip(bytes.chunks_mut(PIECE)) {
            let text = self.ask(&format!("m{at:x},{:x}", piece.len()))?;
            ensure!(text.len() == 2 * piece.len(), "reading {at:#x}: {text}");
            for (byte, digits) in piece.iter_mut().zip(text.as_bytes().chunks(2)) {
                *byte = u8::from_str_radix(std::str::from_utf8(digits)?, 16)?;
            }
        }
        Ok(())
    }

    fn write_bytes(&mut self, addr: u64, bytes: &[u8]) -> Result<()> {
        for (at, piece) in (addr..).step_by(PIECE).zip(bytes.chunks(PIECE)) {
            let digits: String = piece.iter().map(|byte| format!("{byte:02x}")).collect();
            let answer = self.ask(&format!("M{at:x},{:x}:{digits}", piece.len()))?;
            ensure!(answer == "OK", "writing {at:#x}: {answer}");
        }
        Ok(())
    }

    /// Lets QEMU reset the machine, and the core run.
    fn restart(&mut self) -> Result<()> {
        if self.running {
            self.stop()?;
        }
        let command: String = b"system_reset".iter().map(|byte| format!("{byte:02x}")).collect();
        self.send(&format!("qRcmd,{command}"))?;
        loop {
            match self.packet()?.as_str() {
                "OK" => break,
                text if text.starts_with('O') => {}
                text => bail!("resetting: {text}"),
            }
        }
        self.running = true;
        self.send("c")
    }
}

impl Drop for GdbProbe {
    /// Lets the core run.
    fn drop(&mut self) {
        if !self.running {
            let _ = self.ask("D");
        }
    }
}

impl FlashAccess for GdbProbe {
    fn sectors(&self, range: Range<u64>) -> Vec<Sector> {
        self.flash
            .clone()
            .step_by(self.sector_len as usize)
            .map(|addr| Sector { addr, len_bytes: self.sector_len })
            .filter(|sector| sector.addr < range.end && range.start < sector.addr + sector.len_bytes)
            .collect()
    }

    fn read(&mut self, addr: u64, bytes: &mut [u8]) -> Result<(), AccessError> {
        self.stopped(|probe| probe.read_bytes(addr, bytes))
            .map_err(|error| AccessError::Read { addr, cause: format!("{error:#}") })
    }

    fn write(&mut self, addr: u64, bytes: &[u8]) -> Result<(), AccessError> {
        // The debugger writes flash as it is told to: what erasing does to the rest of the sectors is done first.
        let erased = self.sectors(addr..addr + bytes.len() as u64);
        self.stopped(|probe| {
            for sector in erased {
                probe.write_bytes(sector.addr, &vec![0xFF; sector.len_bytes as usize])?;
            }
            probe.write_bytes(addr, bytes)
        })
        .map_err(|error| AccessError::Write { addr, cause: format!("{error:#}") })
    }

    fn write_memory(&mut self, addr: u64, bytes: &[u8]) -> Result<(), AccessError> {
        self.stopped(|probe| probe.write_bytes(addr, bytes))
            .map_err(|error| AccessError::WriteMemory { addr, cause: format!("{error:#}") })
    }

    fn reset(&mut self) -> Result<(), AccessError> {
        self.restart().map_err(|error| AccessError::Reset(format!("{error:#}")))
    }
}
