//! A device whose serial line is full of frames that are none.

use std::fmt;
use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};
use calib_core::wire::{self, FrameReader, MAX_FRAME, Prediction, ReplyBody, Request, RequestBody};
use calib_core::{Calibrator, Outcome, Score};
use calib_host::StoredArtifact;
use rand::{Rng, RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use crate::{Board, Emulator, SEED};

/// What a serial line of 115 200 baud carries, 10 bits a byte.
pub const LINE_RATE_BYTES_PER_S: f64 = 11_520.0;
/// How many requests are sent before their replies are read.
const ROUND: usize = 16;
/// How often the log is read, in requests.
const LOG_EVERY: u64 = 4096;
/// A tick of SysTick is so many instructions, and wraps after so many ticks.
const BOARD: Board = Board::Mps2An386;
const TICKS: u32 = 1 << 24;

/// What was sent, and how it was answered.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct LoadReport {
    /// For how long.
    pub seconds: f64,
    /// Requests, each of which was answered rightly and in order.
    pub requests: u64,
    /// Malformed frames between them.
    pub malformed: u64,
    /// All bytes to the device.
    pub bytes: u64,
    /// The frames that the device said it dropped: noise has zeros of its own, and is several.
    pub dropped: u64,
    /// Instructions from the last byte of a request to the last of its reply, of all requests.
    pub instructions: u64,
    /// Of the slowest.
    pub max_instructions: u64,
    /// The requests that took more than the limit. On a busy host there was one in thousands; why is not known.
    pub slow: u64,
}

/// Sends malformed frames as fast as the device takes them, and requests between them, for so long. `elf` is the firmware
/// that [traces](crate::build_traced_firmware), with a binary classifier; the device counts instructions itself, and a
/// request is slow from `limit` of them on.
///
/// # Errors
///
/// If a request is not answered, or not as the host answers it, or out of order.
pub fn load(elf: &Path, artifact: &StoredArtifact, duration: Duration, limit: u64) -> Result<LoadReport> {
    let Calibrator::Binary(calibrator) = artifact.artifact().calibrator() else {
        bail!("the calibrator is not for a binary classifier");
    };
    let slot = tempfile::NamedTempFile::new()?;
    std::fs::write(slot.path(), artifact.as_bytes())?;
    let mut device = Emulator::start_on(BOARD, elf, Some(slot.path()))?;
    let mut random = Xoshiro256PlusPlus::seed_from_u64(SEED);
    let mut report = LoadReport::default();
    let mut trace = Trace { limit, ..Trace::default() };
    let start = Instant::now();
    let mut logged = 0;
    while start.elapsed() < duration {
        let mut waiting = Vec::new();
        for _ in 0..ROUND {
            for _ in 0..random.random_range(1..8) {
                let frame = malformed(&mut random);
                report.malformed += 1;
                report.bytes += frame.len() as u64;
                device.send_bytes(&frame)?;
            }
            let score = Score::new(random.random_range(0.0..=1.0)).context("a score")?;
            let (id, len) = device.send(RequestBody::Score(score.get()))?;
            report.bytes += len as u64;
            waiting.push((id, Outcome::Calibrated(calibrator.calibrate(score))));
        }
        for (id, expected) in waiting {
            match device.receive(id)? {
                ReplyBody::Prediction(Prediction { outcome, .. }) if outcome == expected => {
                    report.requests += 1
                }
                other => bail!("the device answered {other:?} instead of {expected:?}"),
            }
        }
        if report.requests - logged >= LOG_EVERY {
            trace.read(&mut device)?;
            logged = report.requests;
        }
    }
    report.seconds = start.elapsed().as_secs_f64();
    trace.settle(&mut device, report.requests)?;
    report.dropped = trace.dropped;
    report.instructions = instructions(trace.ticks);
    report.max_instructions = instructions(trace.max_ticks);
    report.slow = trace.slow;
    Ok(report)
}

fn instructions(ticks: u64) -> u64 {
    (ticks as f64 * BOARD.instructions_per_tick()) as u64
}

/// What the device's log said about its requests.
#[derive(Default)]
struct Trace {
    asked: Option<(u32, u32)>,
    answered: u64,
    dropped: u64,
    ticks: u64,
    max_ticks: u64,
    limit: u64,
    slow: u64,
}

impl Trace {
    /// Reads the lines that came since the last time.
    fn read(&mut self, device: &mut Emulator) -> Result<()> {
        for (stamp, line) in device.new_logs()? {
            let stamp: u32 = stamp.trim().parse().with_context(|| format!("no ticks: {stamp:?}"))?;
            if let Some(id) = line.strip_prefix("asked ") {
                self.asked = Some((id.parse()?, stamp));
            } else if let Some(id) = line.strip_prefix("answered ") {
                let (asked, since) = self.asked.take().context("answered what was not asked")?;
                ensure!(id.parse() == Ok(asked), "answered {id} in place of {asked}");
                // SysTick counts down.
                let ticks = u64::from(since.wrapping_sub(stamp) % TICKS);
                self.answered += 1;
                self.ticks += ticks;
                self.max_ticks = self.max_ticks.max(ticks);
                self.slow += u64::from(instructions(ticks) > self.limit);
            } else if line.starts_with("frame dropped") {
                self.dropped += 1;
            }
        }
        Ok(())
    }

    /// Waits for the last lines: they come after the last reply.
    fn settle(&mut self, device: &mut Emulator, requests: u64) -> Result<()> {
        let deadline = Instant::now() + Duration::from_secs(10);
        while self.answered < requests && Instant::now() < deadline {
            std::thread::sleep(Duration::from_millis(10));
            self.read(device)?;
        }
        ensure!(self.answered == requests, "the log shows {} of {requests} answers", self.answered);
        Ok(())
    }
}

/// A frame that is no request, with the zero that ends it.
fn malformed(random: &mut Xoshiro256PlusPlus) -> Vec<u8> {
    loop {
        let mut good = [0; MAX_FRAME];
        let request = Request { id: random.next_u32(), body: RequestBody::Score(random.random()) };
        let good = wire::encode(&request, &mut good).expect("it fits");
        let mut frame = match random.random_range(0..5) {
            // One bit wrong, or two.
            0 => flipped(good, random),
            // Cut off.
            1 => good[..random.random_range(1..good.len() - 1)].to_vec(),
            // Noise, now and then longer than any frame.
            2 => noise(random.random_range(0..64), random),
            3 => noise(random.random_range(MAX_FRAME..2 * MAX_FRAME), random),
            // A request twice without the zero between.
            _ => [&good[..good.len() - 1], good].concat(),
        };
        frame.push(0);
        let mut reader = FrameReader::new();
        if frame.iter().filter_map(|&byte| reader.push::<Request>(byte)).all(|request| request.is_err()) {
            return frame;
        }
    }
}

fn flipped(good: &[u8], random: &mut Xoshiro256PlusPlus) -> Vec<u8> {
    let mut frame = good.to_vec();
    for _ in 0..random.random_range(1..=2) {
        let at = random.random_range(0..frame.len());
        frame[at] ^= 1 << random.random_range(0..8);
    }
    frame
}

fn noise(len: usize, random: &mut Xoshiro256PlusPlus) -> Vec<u8> {
    let mut bytes = vec![0; len];
    random.fill_bytes(&mut bytes);
    bytes
}

impl fmt::Display for LoadReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { seconds, requests, malformed, bytes, dropped, instructions, max_instructions, slow } =
            self;
        let per_s = *bytes as f64 / seconds;
        writeln!(
            f,
            "serial line under load for {seconds:.0} s: {malformed} malformed frames ({dropped} logged as dropped), {per_s:.0} \
             bytes/s, {:.1} times 115 200 baud",
            per_s / LINE_RATE_BYTES_PER_S
        )?;
        write!(
            f,
            "  {requests} requests, each answered rightly and in order, in {} instructions on average, {slow} over the limit, \
             {max_instructions} at most",
            instructions / requests.max(&1)
        )
    }
}
