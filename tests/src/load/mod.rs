//! A device whose serial line is full of frames that are none.

mod malformed;
mod report;
mod trace;

use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use crate::classifier::SEED;
use anyhow::{Context, Result, bail};
use calib_core::artifact::crc32c;
use calib_core::wire::{Answer, MAX_CHUNK, ReplyBody, RequestBody, Scores, UpdateStatus};
use calib_core::{Calibrator, Outcome, Score, Uncalibrated};
use calib_host::StoredArtifact;
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use crate::{Board, Emulator};
use malformed::malformed;
pub use report::{Answers, LoadReport};
use trace::Trace;

const BOARD: Board = Board::Mps2An386;
/// How many requests are sent before their replies are read.
const ROUND: usize = 4;
/// The rounds between two updates.
const ROUNDS_BETWEEN: usize = 8;
/// How late the host reads the replies of the first of them, as a busy one would: the device must not notice. Its pipe
/// has room for the replies of many rounds.
const LATE: Duration = Duration::from_millis(500);
/// How often the log is read, in requests.
const LOG_EVERY: usize = 4096;

/// Sends malformed frames as fast as the device takes them, requests for calibrated scores between them, and now and then
/// an update, to each of two artifacts in turn. `elf` is the firmware that [traces](crate::build_traced_firmware), with a
/// binary classifier; the device counts instructions itself.
///
/// # Errors
///
/// If a request is not answered, or not as the host answers it, or out of order.
pub fn load(elf: &Path, artifacts: [&StoredArtifact; 2], duration: Duration) -> Result<LoadReport> {
    let mut load = Load::start(elf)?;
    let start = Instant::now();
    for artifact in artifacts.into_iter().cycle() {
        load.update(artifact)?;
        load.round(LATE)?;
        for _ in 1..ROUNDS_BETWEEN {
            load.round(Duration::ZERO)?;
        }
        if start.elapsed() > duration {
            break;
        }
    }
    load.report.seconds = start.elapsed().as_secs_f64();
    load.finish()
}

/// A device under load.
struct Load<'a> {
    device: Emulator,
    random: Xoshiro256PlusPlus,
    trace: Trace<Question>,
    in_force: Option<&'a StoredArtifact>,
    report: LoadReport,
}

/// What a request is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Question {
    Score { updating: bool },
    Step,
}

impl<'a> Load<'a> {
    /// A device without a calibrator.
    fn start(elf: &Path) -> Result<Self> {
        Ok(Self {
            device: Emulator::start_on(BOARD, elf, None)?,
            random: Xoshiro256PlusPlus::seed_from_u64(SEED),
            trace: Trace::new(),
            in_force: None,
            report: LoadReport::default(),
        })
    }

    /// Replaces the calibrator; each step is followed by requests for calibrated scores.
    fn update(&mut self, artifact: &'a StoredArtifact) -> Result<()> {
        let bytes = artifact.as_bytes();
        let announce = RequestBody::Announce { len_bytes: bytes.len() as u32, crc: crc32c(bytes) };
        let mut status = self.step(announce, artifact)?;
        while !matches!(status, UpdateStatus::Installed(_)) {
            let next = match status {
                UpdateStatus::Receiving { received, len_bytes } if received < len_bytes => {
                    let rest = bytes.get(received as usize..).unwrap_or_default();
                    let bytes = rest.iter().copied().take(MAX_CHUNK).collect();
                    RequestBody::Chunk { offset: received, bytes }
                }
                _ => RequestBody::Install,
            };
            status = self.step(next, artifact)?;
        }
        self.report.updates += 1;
        Ok(())
    }

    /// A round with a step of an update.
    fn step(&mut self, step: RequestBody, artifact: &'a StoredArtifact) -> Result<UpdateStatus> {
        let id = self.ask(step, Question::Step)?;
        let scores = self.ask_scores(ROUND - 1, true)?;
        let ReplyBody::Update(status) = self.device.receive(id)? else { bail!("no answer to an update") };
        if let UpdateStatus::Installed(_) = status {
            self.in_force = Some(artifact);
        }
        self.receive_scores(scores)?;
        Ok(status)
    }

    /// A round without, whose replies are read so late.
    fn round(&mut self, late: Duration) -> Result<()> {
        let scores = self.ask_scores(ROUND, false)?;
        thread::sleep(late);
        self.receive_scores(scores)
    }

    fn ask_scores(&mut self, count: usize, updating: bool) -> Result<Vec<(u32, Score)>> {
        let mut asked = Vec::new();
        for _ in 0..count {
            let score = Score::new(self.random.random_range(0.0..=1.0)).context("a score")?;
            let id =
                self.ask(RequestBody::predict(Scores::Score(score.get())), Question::Score { updating })?;
            asked.push((id, score));
        }
        Ok(asked)
    }

    /// Sends a few malformed frames and a request.
    fn ask(&mut self, body: RequestBody, what: Question) -> Result<u32> {
        for _ in 0..self.random.random_range(1..8) {
            let frame = malformed(&mut self.random);
            self.report.malformed += 1;
            self.report.bytes += frame.len() as u64;
            self.trace.sent(&frame);
            self.device.send_bytes(&frame)?;
        }
        let (id, len) = self.device.send(body)?;
        self.report.bytes += len as u64;
        self.trace.asked(id, what);
        Ok(id)
    }

    fn receive_scores(&mut self, asked: Vec<(u32, Score)>) -> Result<()> {
        for (id, score) in asked {
            let expected = expected(self.in_force, score)?;
            match self.device.receive(id)? {
                ReplyBody::Answer(Answer { outcome, .. }) if outcome == expected => {}
                other => bail!("the device answered {other:?} instead of {expected:?}"),
            }
        }
        if self.trace.waiting() >= LOG_EVERY {
            self.trace.read(&mut self.device, |what, ticks| count(&mut self.report, what, ticks))?;
        }
        Ok(())
    }

    fn finish(mut self) -> Result<LoadReport> {
        self.trace.settle(&mut self.device, |what, ticks| count(&mut self.report, what, ticks))?;
        self.report.dropped = self.trace.dropped;
        Ok(self.report)
    }
}

fn count(report: &mut LoadReport, what: Question, ticks: u32) {
    match what {
        Question::Score { updating: false } => report.between.count(ticks),
        Question::Score { updating: true } => report.during.count(ticks),
        Question::Step => report.steps.count(ticks),
    }
}

/// What the host says.
fn expected(in_force: Option<&StoredArtifact>, score: Score) -> Result<Outcome> {
    let Some(artifact) = in_force else { return Ok(Outcome::Uncalibrated(Uncalibrated::NoArtifact)) };
    match artifact.artifact().calibrator() {
        Calibrator::Binary(calibrator) => Ok(calibrator.calibrate(score)),
        _ => bail!("the calibrator is not for a binary classifier"),
    }
}
