//! What a device logs about the requests that it is sent.

use std::collections::VecDeque;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};

use crate::Emulator;

/// SysTick counts down, and wraps after so many ticks.
const TICKS: u32 = 1 << 24;

/// The requests sent to a device, and the time that its log shows for each.
///
/// The log has a line for every zero that the device takes from its line, and one when a reply is written to its last
/// byte. As every zero that was sent is counted here, too, the one that ends a request is known.
#[derive(Debug)]
pub(super) struct Trace<T> {
    /// All zeros sent.
    sent: u64,
    /// All zeros taken.
    taken: u64,
    /// The requests that the log does not show as answered, in order.
    waiting: VecDeque<Waiting<T>>,
    /// The frames that the device said it dropped.
    pub(super) dropped: u64,
}

#[derive(Debug)]
struct Waiting<T> {
    id: u32,
    what: T,
    /// How many zeros were sent up to its last byte.
    zeros: u64,
    /// When the device took its last byte.
    since: Option<u32>,
}

impl<T> Trace<T> {
    /// Of a device that was sent nothing yet.
    pub(super) const fn new() -> Self {
        Self { sent: 0, taken: 0, waiting: VecDeque::new(), dropped: 0 }
    }

    /// Bytes were sent that hold no request.
    pub(super) fn sent(&mut self, bytes: &[u8]) {
        self.sent += bytes.iter().filter(|&&byte| byte == 0).count() as u64;
    }

    /// The request of this number was sent.
    pub(super) fn asked(&mut self, id: u32, what: T) {
        self.sent += 1;
        self.waiting.push_back(Waiting { id, what, zeros: self.sent, since: None });
    }

    /// How many requests the log does not show as answered.
    pub(super) fn waiting(&self) -> usize {
        self.waiting.len()
    }

    /// Reads the lines that came since the last time, and hands on every answered request with the ticks between
    /// the device's taking of its last byte and the writing of its reply's.
    pub(super) fn read(&mut self, device: &mut Emulator, mut answered: impl FnMut(T, u32)) -> Result<()> {
        for (stamp, line) in device.new_logs()? {
            let stamp: u32 = stamp.trim().parse().with_context(|| format!("no ticks: {stamp:?}"))?;
            if line == "zero taken" {
                self.taken += 1;
                let ended = self.waiting.iter_mut().find(|request| request.since.is_none());
                if let Some(request) = ended.filter(|request| request.zeros == self.taken) {
                    request.since = Some(stamp);
                }
            } else if let Some(id) = line.strip_prefix("answered ") {
                let request = self.waiting.pop_front().context("the log answers what was not asked")?;
                ensure!(id.parse() == Ok(request.id), "the log answers {id} in place of {}", request.id);
                let since = request.since.context("the log answers what was not received")?;
                answered(request.what, since.wrapping_sub(stamp) % TICKS);
            } else if line.starts_with("frame dropped") {
                self.dropped += 1;
            }
        }
        Ok(())
    }

    /// As [`Trace::read`], and waits for the lines about all requests: the last ones come after the last reply.
    pub(super) fn settle(&mut self, device: &mut Emulator, mut answered: impl FnMut(T, u32)) -> Result<()> {
        let deadline = Instant::now() + Duration::from_secs(60);
        loop {
            self.read(device, &mut answered)?;
            if self.waiting.is_empty() {
                return Ok(());
            }
            ensure!(Instant::now() < deadline, "the log lacks {} answers", self.waiting.len());
            thread::sleep(Duration::from_millis(10));
        }
    }
}
