//! That a command is still at work, where nothing else has been seen of it for a while.

use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};

/// After so long without a sign of life one is given.
const PATIENCE: Duration = Duration::from_secs(2);

/// How often the sign is drawn again.
const TICK: Duration = Duration::from_millis(200);

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

/// The sign that a command is at work; clones are one sign.
#[derive(Clone, Default)]
pub(crate) struct Spinner(Arc<Screen>);

#[derive(Default)]
struct Screen {
    /// What is shown, while a command is at work.
    shown: Mutex<Option<Shown>>,
    /// Tells the thread that draws when there is nothing left to draw.
    ended: Condvar,
}

impl Spinner {
    /// Shows, until what it returns is dropped, what a command is doing and for how long, whenever there was no other sign of life for two
    /// seconds. indicatif draws nothing where standard error is not a terminal.
    pub(crate) fn start(&self, what: Option<&'static str>) -> impl Drop + use<> {
        let now = Instant::now();
        *self.0.shown() = what.map(|what| Shown { what, start: now, last_sign: now, bar: None });
        let screen = Arc::clone(&self.0);
        // Where there are no threads there is no sign.
        let drawing = what.and_then(|_| thread::Builder::new().spawn(move || screen.draw()).ok());
        Ended { screen: Arc::clone(&self.0), drawing }
    }

    /// Takes the sign off the screen, for whatever is shown next.
    pub(crate) fn give_way(&self) {
        if let Some(shown) = self.0.shown().as_mut() {
            shown.clear();
            shown.last_sign = Instant::now();
        }
    }
}

impl Screen {
    fn draw(&self) {
        let mut now = self.shown();
        while let Some(shown) = now.as_mut() {
            shown.tick(Instant::now());
            now = self.ended.wait_timeout(now, TICK).unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    fn shown(&self) -> MutexGuard<'_, Option<Shown>> {
        self.shown.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Clears the screen when it is dropped.
struct Ended {
    screen: Arc<Screen>,
    drawing: Option<thread::JoinHandle<()>>,
}

impl Drop for Ended {
    fn drop(&mut self) {
        if let Some(mut last) = self.screen.shown().take() {
            last.clear();
        }
        self.screen.ended.notify_all();
        if let Some(drawing) = self.drawing.take() {
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
}
