//! Progress, and how long each step took.

use std::time::Instant;

use anyhow::{Context, Result};

/// The steps of a command.
pub(crate) struct Steps {
    start: Instant,
    done: Vec<(&'static str, f64)>,
}

impl Steps {
    pub(crate) fn new() -> Self {
        Self { start: Instant::now(), done: Vec::new() }
    }

    /// Does the work between two lines of progress.
    ///
    /// # Errors
    ///
    /// If the work fails, with the step's name.
    pub(crate) fn step(&mut self, name: &'static str, work: impl FnOnce() -> Result<()>) -> Result<()> {
        eprintln!("== {name}");
        let start = Instant::now();
        work().with_context(|| format!("{name} failed"))?;
        let seconds = start.elapsed().as_secs_f64();
        eprintln!("== {name}: ok, {seconds:.0} s");
        self.done.push((name, seconds));
        Ok(())
    }

    /// Prints each step with its seconds, and the sum.
    pub(crate) fn summarize(&self) {
        eprint!("{}", self.summary(self.start.elapsed().as_secs_f64()));
    }

    fn summary(&self, total: f64) -> String {
        let lines = self.done.iter().map(|(name, seconds)| format!("{seconds:>7.0} s  {name}\n"));
        format!("== summary\n{}{total:>7.0} s  in all\n", lines.collect::<String>())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_summary_has_a_line_for_every_step_that_passed() {
        let mut steps = Steps::new();
        steps.step("one", || Ok(())).unwrap();
        let failure = steps.step("two", || anyhow::bail!("it broke")).unwrap_err();
        assert_eq!(format!("{failure:#}"), "two failed: it broke");
        steps.step("three", || Ok(())).unwrap();
        assert_eq!(steps.summary(1.6), "== summary\n      0 s  one\n      0 s  three\n      2 s  in all\n");
    }
}
