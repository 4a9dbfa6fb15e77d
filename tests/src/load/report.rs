//! What came of a load.

use std::fmt;

use super::BOARD;

/// What a serial line of 115 200 baud carries, 10 bits a byte.
const LINE_RATE_BYTES_PER_S: f64 = 11_520.0;

/// What was sent, and how it was answered.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct LoadReport {
    /// For how long.
    pub seconds: f64,
    /// Malformed frames between the requests.
    pub malformed: u64,
    /// All bytes to the device.
    pub bytes: u64,
    /// The frames that the device said it dropped: noise has zeros of its own, and is several.
    pub dropped: u64,
    /// Updates, each to its end.
    pub updates: u64,
    /// Requests for a calibrated score while no update was under way.
    pub between: Answers,
    /// Those from the announcement of an artifact to its installation.
    pub during: Answers,
    /// The requests that make the updates.
    pub steps: Answers,
}

/// Replies, each right and in order, and the instructions that they took: from when the device took the last byte of a
/// request from its port until it wrote the last byte of the reply.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Answers {
    /// How many.
    pub count: u64,
    /// Of all of them.
    pub instructions: u64,
    /// Of the slowest.
    pub max_instructions: u64,
}

impl Answers {
    /// Counts another one, by ticks of the device's timer.
    pub(super) fn count(&mut self, ticks: u32) {
        let instructions = (f64::from(ticks) * BOARD.instructions_per_tick()) as u64;
        self.count += 1;
        self.instructions += instructions;
        self.max_instructions = self.max_instructions.max(instructions);
    }
}

impl LoadReport {
    /// The most instructions that the reply to a request for a calibrated score took.
    pub fn max_instructions(&self) -> u64 {
        self.between.max_instructions.max(self.during.max_instructions)
    }
}

impl fmt::Display for Answers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mean = self.instructions / self.count.max(1);
        write!(f, "{mean} instructions on average, {} at most", self.max_instructions)
    }
}

impl fmt::Display for LoadReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { seconds, malformed, bytes, dropped, updates, between, during, steps } = self;
        let per_s = *bytes as f64 / seconds;
        writeln!(
            f,
            "serial line under load for {seconds:.0} s: {malformed} malformed frames ({dropped} logged as dropped), {per_s:.0} \
             bytes/s, {:.1} times 115 200 baud",
            per_s / LINE_RATE_BYTES_PER_S
        )?;
        writeln!(f, "  {} calibrations, each right and in order, in {between}", between.count)?;
        writeln!(
            f,
            "  {} calibrations during {updates} updates, each from the calibrator in force, in {during}",
            during.count
        )?;
        write!(f, "  {} requests of the updates, in {steps}", steps.count)
    }
}
