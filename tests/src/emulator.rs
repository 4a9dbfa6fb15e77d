//! A device in QEMU, with its serial lines.

use std::collections::VecDeque;
use std::fs::{self, File};
use std::io::{ErrorKind, Read, Seek, SeekFrom};
use std::path::Path;
use std::process::{Child, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};
use calib_core::wire::{self, FrameReader, MAX_FRAME, Reply, ReplyBody, Request, RequestBody};
use defmt_decoder::{DecodeError, Table};
use tempfile::TempDir;

use crate::pipes::Pipes;
use crate::watchdog::Watchdog;
use crate::{Board, image, starvation};

/// How long the device may take for anything.
const TIME_LIMIT: Duration = Duration::from_secs(60);
/// How many requests are on their way at once: the frames of their replies fit the pipe's buffer.
const IN_FLIGHT: usize = 64;
/// How often it is looked whether something came: more often costs more than it gains.
const PAUSE: Duration = Duration::from_micros(300);
/// How long a device may take to start before it is asked once more.
const START: Duration = Duration::from_millis(20);

/// A device in QEMU.
///
/// QEMU ends when this is dropped.
#[derive(Debug)]
pub struct Emulator {
    qemu: Child,
    _watchdog: Watchdog,
    line: Pipes,
    reader: FrameReader,
    replies: VecDeque<Reply>,
    next_id: u32,
    elf: Vec<u8>,
    folder: TempDir,
    /// The bytes of the log that were handed on by `new_logs`.
    logged: u64,
}

impl Emulator {
    /// Starts the firmware in `elf` with the bytes of the file `slot` in the calibrator slot, if there is one; the rest of
    /// the slot is `0x00`. The device takes a nanosecond for an instruction, and what it logs is kept.
    ///
    /// # Errors
    ///
    /// If a file cannot be read, or QEMU does not start.
    pub fn start_on(board: Board, elf: &Path, slot: Option<&Path>) -> Result<Self> {
        let log = if board.has_log() { &["-serial", "file:log"][..] } else { &[] };
        let counting = ["-chardev", "pipe,id=frames,path=frames", "-icount", "shift=0"];
        Self::launch(board, elf, slot, &[&counting, log].concat())
    }

    /// As [`Emulator::start_on`], several times as fast: instructions take what they take, and the log is lost.
    ///
    /// # Errors
    ///
    /// As [`Emulator::start_on`], and if the device does not answer.
    pub fn start_fast(board: Board, elf: &Path, slot: Option<&Path>) -> Result<Self> {
        // A multiplexer keeps bytes ready for the device, which otherwise sleeps until QEMU comes round to the next one. No
        // byte is the one that switches it.
        let ahead = ["-chardev", "pipe,id=frames,path=frames,mux=on", "-echr", "256"];
        let mut emulator = Self::launch(board, elf, slot, &ahead)?;
        emulator.wait_until_ready()?;
        Ok(emulator)
    }

    fn launch(board: Board, elf: &Path, slot: Option<&Path>, arguments: &[&str]) -> Result<Self> {
        let folder = tempfile::Builder::new().prefix("calib-").tempdir()?;
        let line = Pipes::new(folder.path(), "frames")?;
        let bytes = image::read(elf)?;
        let mut command = board.emulator();
        command
            // A comma in a path would end QEMU's option: it is given names in its own folder.
            .current_dir(folder.path())
            .args(["-machine", board.name(), "-display", "none", "-monitor", "none", "-nic", "none"])
            .args(["-serial", "chardev:frames"])
            .args(arguments);
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
        let mut qemu = command
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(File::create(folder.path().join("stderr"))?)
            .spawn()
            .with_context(|| {
                format!("{} did not start: run `cargo xtask test`, which sets it up", board.qemu())
            })?;
        let watchdog = Watchdog::of(&qemu).inspect_err(|_| stop(&mut qemu))?;
        Ok(Self {
            qemu,
            _watchdog: watchdog,
            line,
            reader: FrameReader::new(),
            replies: VecDeque::new(),
            next_id: 1,
            elf: bytes,
            folder,
            logged: 0,
        })
    }

    /// Asks for the status until it comes. What the multiplexer took before the device listened it hands on with the next
    /// byte: with a zero, which ends no frame.
    fn wait_until_ready(&mut self) -> Result<()> {
        let (id, _) = self.send(RequestBody::Status)?;
        let mut waiting = Waiting::new();
        while self.replies.is_empty() {
            let asked = Instant::now();
            while self.replies.is_empty() && asked.elapsed() < START {
                if !self.fill()? {
                    self.pause(&mut waiting)?;
                }
            }
            if self.replies.is_empty() {
                self.send_bytes(&[0])?;
            }
        }
        self.receive(id).map(drop)
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
    pub fn send_bytes(&mut self, mut bytes: &[u8]) -> Result<()> {
        let mut waiting = Waiting::new();
        while !bytes.is_empty() {
            match self.line.write(bytes) {
                Ok(len) => bytes = bytes.get(len..).unwrap_or_default(),
                Err(error) if is_later(&error) => self.pause(&mut waiting).context("it took no request")?,
                Err(error) => return Err(error.into()),
            }
        }
        Ok(())
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
        let mut waiting = Waiting::new();
        let reply = loop {
            match self.replies.pop_front() {
                Some(reply) => break reply,
                None if self.fill()? => waiting = Waiting::new(),
                None => self.pause(&mut waiting).context("it did not reply")?,
            }
        };
        ensure!(reply.id == id, "the device answered request {} instead of {id}", reply.id);
        Ok(reply.body)
    }

    /// Reads what is there; returns whether anything was.
    fn fill(&mut self) -> Result<bool> {
        let mut chunk = [0; 4096];
        let len = match self.line.read(&mut chunk) {
            Ok(len) => len,
            Err(error) if is_later(&error) => return Ok(false),
            Err(error) => return Err(error.into()),
        };
        for &byte in chunk.iter().take(len) {
            if let Some(reply) = self.reader.push(byte) {
                self.replies.push_back(reply.context("the device sent a frame that does not decode")?);
            }
        }
        Ok(true)
    }

    /// Waits a moment. The time limit is the device's: where QEMU has to wait for a processor, it is waited for.
    fn pause(&mut self, waiting: &mut Waiting) -> Result<()> {
        if let Some(status) = self.qemu.try_wait()? {
            bail!("QEMU ended ({status}){}", self.stderr());
        }
        if waiting.since.elapsed() > TIME_LIMIT {
            let now = starvation::waited(self.qemu.id());
            let starved = waiting.starved.zip(now).map(|(before, now)| now.saturating_sub(before));
            if now.is_none() || starved.is_some_and(|starved| starved <= TIME_LIMIT / 2) {
                bail!("nothing happened in {TIME_LIMIT:?}{}", self.stderr());
            }
            *waiting = Waiting { since: Instant::now(), starved: now };
        }
        thread::sleep(PAUSE);
        Ok(())
    }

    /// What QEMU said, on lines of its own.
    fn stderr(&self) -> String {
        match fs::read_to_string(self.folder.path().join("stderr")) {
            Ok(text) if text.is_empty() => String::new(),
            Ok(text) => format!("\n  QEMU says: {}", text.trim_end()),
            Err(error) => format!("\n  QEMU's messages cannot be read: {error}"),
        }
    }
}

impl Drop for Emulator {
    fn drop(&mut self) {
        stop(&mut self.qemu);
    }
}

/// For how long something is waited for.
struct Waiting {
    since: Instant,
    /// How long QEMU had waited for a processor then; `None` in the first round.
    starved: Option<Duration>,
}

impl Waiting {
    fn new() -> Self {
        Self { since: Instant::now(), starved: None }
    }
}

/// Whether it may work a moment later.
fn is_later(error: &std::io::Error) -> bool {
    matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted)
}

/// Both fail only if QEMU has ended already.
fn stop(qemu: &mut Child) {
    let _ = qemu.kill();
    let _ = qemu.wait();
}
