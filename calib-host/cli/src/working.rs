//! That a command is still at work, where nothing else has been seen of it for a while.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};

/// What commands do that may take long. Others have a display of their own, or wait for a device.
const AT: [(&str, &str); 10] = [
    ("fit", "fitting"),
    ("apply", "calibrating"),
    ("assess", "assessing"),
    ("report", "making the report"),
    ("plot", "drawing"),
    ("bins", "trying numbers of bins"),
    ("decide", "deciding"),
    ("threshold", "looking for thresholds"),
    ("sets", "finding sets"),
    ("adjust", "adjusting"),
];

/// After so long without a sign of life one is given.
const PATIENCE: Duration = Duration::from_secs(2);

/// How often the sign is drawn anew.
const TICK: Duration = Duration::from_millis(200);

/// What is shown, while a command is at work.
static SHOWN: Mutex<Option<Shown>> = Mutex::new(None);
/// Tells the thread that draws when there is nothing left to draw.
static ENDED: Condvar = Condvar::new();

struct Shown {
    what: &'static str,
    start: Instant,
    last_sign: Instant,
    bar: Option<ProgressBar>,
}

impl Shown {
    fn is_due(&self, now: Instant) -> bool {
        now.duration_since(self.last_sign) >= PATIENCE
    }

    fn tick(&mut self, now: Instant) {
        if self.bar.is_none() && !self.is_due(now) {
            return;
        }
        let style = ProgressStyle::with_template("{spinner} {msg}, {elapsed}").expect("a valid template");
        let new = || ProgressBar::new_spinner().with_style(style).with_message(self.what);
        self.bar.get_or_insert_with(|| new().with_elapsed(now.duration_since(self.start))).tick();
    }

    fn clear(&mut self) {
        if let Some(bar) = self.bar.take() {
            bar.finish_and_clear();
        }
    }
}

/// Shows, until it is dropped, what the command of this name is doing and for how long, whenever there was no other sign of life for two
/// seconds. indicatif draws nothing where standard error is not a terminal.
pub(super) fn working(name: &str, quiet: bool) -> impl Drop {
    let what = AT.iter().find(|(command, _)| *command == name && !quiet).map(|(_, what)| *what);
    let now = Instant::now();
    *shown() = what.map(|what| Shown { what, start: now, last_sign: now, bar: None });
    let drawing = what.map(|_| thread::spawn(draw));
    Ended(drawing)
}

/// Takes the sign off the screen, for whatever is shown next.
pub(super) fn give_way() {
    if let Some(shown) = shown().as_mut() {
        shown.clear();
        shown.last_sign = Instant::now();
    }
}

fn draw() {
    let mut now = shown();
    while let Some(shown) = now.as_mut() {
        shown.tick(Instant::now());
        now = ENDED.wait_timeout(now, TICK).unwrap_or_else(PoisonError::into_inner).0;
    }
}

fn shown() -> MutexGuard<'static, Option<Shown>> {
    SHOWN.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Clears the screen when it is dropped.
struct Ended(Option<thread::JoinHandle<()>>);

impl Drop for Ended {
    fn drop(&mut self) {
        if let Some(mut last) = shown().take() {
            last.clear();
        }
        ENDED.notify_all();
        if let Some(drawing) = self.0.take() {
            // It ends at once, and has nothing to tell.
            let _ = drawing.join();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sign_is_given_after_two_seconds_without_another() {
        let start = Instant::now();
        let after = |millis| start + Duration::from_millis(millis);
        let mut shown = Shown { what: "fitting", start, last_sign: start, bar: None };
        shown.tick(after(1900));
        assert!(shown.bar.is_none());
        shown.tick(after(2000));
        assert!(shown.bar.as_ref().is_some_and(|bar| bar.message() == "fitting"));
        shown.clear();
        shown.last_sign = after(2500);
        shown.tick(after(4000));
        assert!(shown.bar.is_none());
        shown.tick(after(4500));
        assert!(shown.bar.is_some());
    }

    #[test]
    fn every_command_that_shows_nothing_else_is_known() {
        let known = |name: &str| AT.iter().any(|(command, _)| *command == name);
        assert!(["fit", "assess", "report", "bins"].into_iter().all(known));
        // It counts its fits.
        assert!(!known("compare"));
    }
}
