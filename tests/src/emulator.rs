//! A device in QEMU, with its serial lines.

use std::collections::VecDeque;
use std::fs::{self, File};
use std::io::{ErrorKind, Read, Seek, SeekFrom, Write};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::Path;
use std::process::{Child, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, anyhow, bail, ensure};
use calib_core::wire::{self, FrameReader, MAX_FRAME, Reply, ReplyBody, Request, RequestBody};
use defmt_decoder::{DecodeError, Table};
use tempfile::TempDir;

use crate::watchdog::Watchdog;
use crate::{Board, image, starvation};

/// How long the device may take for anything.
const TIME_LIMIT: Duration = Duration::from_secs(60);
/// How many requests are on their way at once: their frames fit the socket's buffer many times over.
const IN_FLIGHT: usize = 32;

/// A device in QEMU, an instruction a nanosecond.
///
/// QEMU ends when this is dropped.
#[derive(Debug)]
pub struct Emulator {
    qemu: Child,
    _watchdog: Watchdog,
    line: UnixStream,
    reader: FrameReader,
    replies: VecDeque<Reply>,
    next_id: u32,
    elf: Vec<u8>,
    folder: TempDir,
    /// The bytes of the log that were handed on by `new_logs`.
    logged: u64,
}

impl Emulator {
    /// [`Emulator::start_on`] Arm's MPS2 board with a Cortex-M4F.
    ///
    /// # Errors
    ///
    /// As [`Emulator::start_on`].
    pub fn start(elf: &Path, slot: Option<&Path>) -> Result<Self> {
        Self::start_on(Board::Mps2An386, elf, slot)
    }

    /// Starts the firmware in `elf` with the bytes of the file `slot` in the calibrator slot, if there is one;
    /// the rest of the slot is `0x00`.
    ///
    /// # Errors
    ///
    /// If a file cannot be read, or QEMU does not start.
    pub fn start_on(board: Board, elf: &Path, slot: Option<&Path>) -> Result<Self> {
        let folder = tempfile::Builder::new().prefix("calib-").tempdir()?;
        let listener = UnixListener::bind(folder.path().join("frames"))?;
        listener.set_nonblocking(true)?;

        let bytes = image::read(elf)?;
        let mut command = board.emulator();
        command
            // A comma in a path would end QEMU's option: it is given names in its own folder.
            .current_dir(folder.path())
            .args(["-machine", board.name(), "-display", "none", "-monitor", "none", "-icount", "shift=0"])
            .args(["-chardev", "socket,id=frames,path=frames", "-serial", "chardev:frames"]);
        if board.has_log() {
            command.args(["-serial", "file:log"]);
        }
        if board == Board::Virt {
            // Without it QEMU starts its own firmware first.
            command.args(["-bios", "none"]);
        }
        command.arg("-kernel").arg(fs::canonicalize(elf)?);
        if let Some(slot) = slot {
            fs::copy(slot, folder.path().join("slot"))
                .with_context(|| format!("cannot read {}", slot.display()))?;
            let addr = image::symbol_addr(&bytes, "__calib_slot_start")?;
            command.arg("-device").arg(format!("loader,file=slot,addr={addr:#x},force-raw=on"));
        }
        let qemu = command
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(File::create(folder.path().join("stderr"))?)
            .spawn()
            .with_context(|| {
                format!("{} did not start: run `cargo xtask test`, which sets it up", board.qemu())
            })?;

        let watchdog = Watchdog::of(&qemu);
        let mut qemu = Stopped(Some(qemu));
        let watchdog = watchdog?;
        let line = accept(&listener, &mut qemu, folder.path())?;
        line.set_nonblocking(false)?;
        line.set_read_timeout(Some(TIME_LIMIT))?;
        line.set_write_timeout(Some(TIME_LIMIT))?;
        let qemu = qemu.0.take().context("QEMU ended")?;
        let (reader, replies) = (FrameReader::new(), VecDeque::new());
        Ok(Self {
            qemu,
            _watchdog: watchdog,
            line,
            reader,
            replies,
            next_id: 1,
            elf: bytes,
            folder,
            logged: 0,
        })
    }

    /// Sends a request and waits for its reply.
    ///
    /// # Errors
    ///
    /// If there is none in time, or it is another request's.
    pub fn request(&mut self, body: RequestBody) -> Result<ReplyBody> {
        let (id, _) = self.send(body)?;
        self.receive(id)
    }

    /// Sends requests without waiting for each reply, and returns the replies in order.
    ///
    /// Only the emulator holds bytes back that the device has no room for; real hardware would lose them.
    ///
    /// # Errors
    ///
    /// As [`Emulator::request`].
    pub fn pipeline(&mut self, requests: impl IntoIterator<Item = RequestBody>) -> Result<Vec<ReplyBody>> {
        let mut sent = VecDeque::new();
        let mut replies = Vec::new();
        for body in requests {
            sent.push_back(self.send(body)?.0);
            if sent.len() == IN_FLIGHT {
                replies.extend(sent.pop_front().map(|id| self.receive(id)).transpose()?);
            }
        }
        for id in sent {
            replies.push(self.receive(id)?);
        }
        Ok(replies)
    }

    /// Sends bytes as they are, such as damaged frames.
    ///
    /// # Errors
    ///
    /// If the device does not take them in time.
    pub fn send_bytes(&mut self, bytes: &[u8]) -> Result<()> {
        self.line.write_all(bytes).map_err(|error| self.failure("took no request", &error))
    }

    /// The lines that the device has logged since it started.
    ///
    /// What led to a reply is among them once the reply is there.
    ///
    /// # Errors
    ///
    /// If the log does not fit the firmware, or the board has no line for it.
    pub fn logs(&mut self) -> Result<Vec<String>> {
        self.logged = 0;
        Ok(self.new_logs()?.into_iter().map(|(_, line)| line).collect())
    }

    /// The lines that were logged since this or [`Emulator::logs`] was called, each with its time stamp in front.
    pub(crate) fn new_logs(&mut self) -> Result<Vec<(String, String)>> {
        let table = Table::parse(&self.elf)?.context("the firmware logs nothing")?;
        let mut log = Vec::new();
        let mut file = File::open(self.folder.path().join("log"))?;
        file.seek(SeekFrom::Start(self.logged))?;
        file.read_to_end(&mut log)?;
        // A frame ends with a zero, and has none within: what is not whole yet waits for the next time.
        log.truncate(log.iter().rposition(|&byte| byte == 0).map_or(0, |last| last + 1));
        self.logged += log.len() as u64;
        let mut decoder = table.new_stream_decoder();
        decoder.received(&log);
        let mut lines = Vec::new();
        loop {
            match decoder.decode() {
                Ok(frame) => {
                    let stamp = frame.display_timestamp().map(|stamp| stamp.to_string());
                    lines.push((stamp.unwrap_or_default(), frame.display_message().to_string()));
                }
                Err(DecodeError::UnexpectedEof) => return Ok(lines),
                Err(DecodeError::Malformed) => bail!("the log is damaged after line {}", lines.len()),
            }
        }
    }

    /// Sends a request; returns its number, and the bytes that it took.
    pub(crate) fn send(&mut self, body: RequestBody) -> Result<(u32, usize)> {
        let id = self.next_id;
        self.next_id = self.next_id.wrapping_add(1);
        let mut buf = [0; MAX_FRAME];
        let frame = wire::encode(&Request { id, body }, &mut buf)?;
        let len = frame.len();
        self.send_bytes(frame)?;
        Ok((id, len))
    }

    /// Waits for the reply to the request of this number, which is the next.
    pub(crate) fn receive(&mut self, id: u32) -> Result<ReplyBody> {
        let reply = loop {
            match self.replies.pop_front() {
                Some(reply) => break reply,
                None => self.fill()?,
            }
        };
        ensure!(reply.id == id, "the device answered request {} instead of {id}", reply.id);
        Ok(reply.body)
    }

    /// Reads what is there, at least a byte.
    fn fill(&mut self) -> Result<()> {
        let mut chunk = [0; 4096];
        let len = self.read_line(&mut chunk)?;
        for &byte in chunk.iter().take(len) {
            if let Some(reply) = self.reader.push(byte) {
                self.replies.push_back(reply.context("the device sent a frame that does not decode")?);
            }
        }
        Ok(())
    }

    /// Reads what is there. The time limit is the device's: where QEMU has to wait for a processor, it is waited for.
    fn read_line(&mut self, chunk: &mut [u8]) -> Result<usize> {
        let mut waited = None;
        loop {
            let error = match self.line.read(chunk) {
                Ok(0) => ErrorKind::UnexpectedEof.into(),
                Ok(len) => return Ok(len),
                // This process was stopped for a while.
                Err(error) if error.kind() == ErrorKind::Interrupted => continue,
                Err(error) if error.kind() == ErrorKind::WouldBlock => {
                    let now = starvation::waited(self.qemu.id());
                    let since = waited.zip(now).map(|(before, now)| now.saturating_sub(before));
                    if now.is_some() && since.is_none_or(|since| since > TIME_LIMIT / 2) {
                        waited = now;
                        continue;
                    }
                    error
                }
                Err(error) => error,
            };
            return Err(self.failure("did not reply", &error));
        }
    }

    fn failure(&self, what: &str, error: &std::io::Error) -> anyhow::Error {
        anyhow!("the emulated device {what}: {error}{}", stderr(self.folder.path()))
    }
}

impl Drop for Emulator {
    fn drop(&mut self) {
        stop(&mut self.qemu);
    }
}

/// QEMU while it starts: stopped unless it is taken out.
struct Stopped(Option<Child>);

impl Drop for Stopped {
    fn drop(&mut self) {
        if let Some(qemu) = &mut self.0 {
            stop(qemu);
        }
    }
}

/// Both fail only if QEMU has ended already.
fn stop(qemu: &mut Child) {
    let _ = qemu.kill();
    let _ = qemu.wait();
}

/// Waits until QEMU connects to its socket.
fn accept(listener: &UnixListener, qemu: &mut Stopped, folder: &Path) -> Result<UnixStream> {
    let deadline = Instant::now() + TIME_LIMIT;
    loop {
        match listener.accept() {
            Ok((line, _)) => return Ok(line),
            Err(error) if error.kind() == ErrorKind::WouldBlock => {}
            Err(error) => return Err(error.into()),
        }
        let ended = qemu.0.as_mut().map(Child::try_wait).transpose()?.flatten();
        if let Some(status) = ended {
            bail!("QEMU ended at once ({status}){}", stderr(folder));
        }
        ensure!(Instant::now() < deadline, "QEMU did not connect in {TIME_LIMIT:?}{}", stderr(folder));
        thread::sleep(Duration::from_millis(2));
    }
}

/// What QEMU said, on lines of its own.
fn stderr(folder: &Path) -> String {
    match fs::read_to_string(folder.join("stderr")) {
        Ok(text) if text.is_empty() => String::new(),
        Ok(text) => format!("\n  QEMU says: {}", text.trim_end()),
        Err(error) => format!("\n  QEMU's messages cannot be read: {error}"),
    }
}
