//! Progress on standard error. indicatif draws nothing where that is not a terminal.

use std::io::{self, IsTerminal};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use calib_io::files::{Progress, Unit};
use indicatif::{FormattedDuration, ProgressBar, ProgressFinish, ProgressStyle};

use crate::spinner::Spinner;

/// Shows how far the reading of files is, unless all is to be quiet.
pub(crate) fn reading(spinner: Spinner, quiet: bool) -> impl Fn(Progress<'_>) + Sync {
    let shown = Mutex::new(None::<ProgressBar>);
    move |progress| {
        spinner.give_way();
        let mut shown = shown.lock().unwrap_or_else(PoisonError::into_inner);
        if quiet || progress.done >= progress.total {
            // A bar goes away with its last owner.
            *shown = None;
            return;
        }
        shown.get_or_insert_with(|| bar(&progress)).set_position(progress.done);
    }
}

fn bar(progress: &Progress<'_>) -> ProgressBar {
    let template = match progress.unit {
        Unit::Bytes => "reading {msg} {wide_bar} {bytes}/{total_bytes} {eta}",
        Unit::Rows => "reading {msg} {wide_bar} {human_pos}/{human_len} rows {eta}",
    };
    ProgressBar::new(progress.total)
        .with_style(ProgressStyle::with_template(template).expect("a valid template"))
        .with_message(progress.path.display().to_string())
        .with_finish(ProgressFinish::AndClear)
}

/// How often the progress is drawn again.
const TICK: Duration = Duration::from_millis(200);

/// Goes away when it is dropped.
struct Cleared(ProgressBar);

impl Drop for Cleared {
    fn drop(&mut self) {
        self.0.finish_and_clear();
    }
}

/// Shows how many fits of a comparison are done, and how long the others will take.
pub(crate) struct FitBar {
    bar: Cleared,
    fits_of_each: usize,
    start: Instant,
}

impl FitBar {
    /// For a comparison in which each method is fitted so often.
    pub(crate) fn new(fits_of_each: usize, quiet: bool) -> Self {
        let bar = if quiet { ProgressBar::hidden() } else { ProgressBar::new(0) };
        let style = ProgressStyle::with_template("{bar:40} {pos}/{len} fits, {msg}{elapsed}");
        let bar = bar.with_style(style.expect("a valid template"));
        // It takes a thread, which not every system has.
        if io::stderr().is_terminal() {
            bar.enable_steady_tick(TICK);
        }
        Self { bar: Cleared(bar), fits_of_each, start: Instant::now() }
    }

    /// Takes how many fits are done, and how many there will be.
    pub(crate) fn tell(&self, done: usize, total: usize) {
        let bar = &self.bar.0;
        bar.set_length(total as u64);
        bar.set_position(done as u64);
        bar.set_message(match left(self.start.elapsed(), done, total, total / self.fits_of_each) {
            _ if done == total => "resampling, ".into(),
            Some(left) => format!("about {} left, ", FormattedDuration(left)),
            None => String::new(),
        });
    }
}

/// How long the rest takes: as long for each fit as those that are done, of which every method had its share. `None` before every method
/// had two, as fits of some take a hundred times as long as fits of others.
fn left(elapsed: Duration, done: usize, total: usize, contenders: usize) -> Option<Duration> {
    (done >= 2 * contenders).then(|| elapsed.mul_f64((total - done) as f64 / done as f64))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_time_left_is_told_when_every_method_was_met() {
        let after = |done| left(Duration::from_secs(10), done, 200, 13);
        assert_eq!((after(13), after(25)), (None, None));
        assert_eq!(after(50), Some(Duration::from_secs(30)));
        assert_eq!(after(200), Some(Duration::ZERO));
    }
}
