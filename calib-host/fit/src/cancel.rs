//! Stopping work that nobody waits for any more.

use std::any::Any;
use std::cell::RefCell;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use rayon::ThreadPoolBuilder;

/// Asks work to stop. Clones ask the same work.
#[derive(Clone, Debug, Default)]
pub struct CancelToken(Arc<AtomicBool>);

/// That work stopped because it was asked to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Canceled;

/// Why work has no result.
pub enum NoResult {
    /// It was asked to stop.
    Canceled,
    /// It panicked, with this payload.
    Panicked(Box<dyn Any + Send>),
}

thread_local! {
    /// What may stop the work of this thread.
    static CURRENT: RefCell<Option<CancelToken>> = const { RefCell::new(None) };
}

impl CancelToken {
    /// Asks the work to stop, which it does at its next [`check_canceled`].
    pub fn cancel(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Returns whether the work was asked to stop.
    pub fn is_canceled(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }

    /// Does work on separate threads, which this may stop.
    ///
    /// Every loop of this crate that may take long calls [`check_canceled`], which leaves the work by unwinding, as rust-analyzer's queries are
    /// left: no function on the way has to know of it, and what the work holds is dropped.
    ///
    /// ```
    /// use calib_fit::cancel::{NoResult, CancelToken, check_canceled};
    ///
    /// let token = CancelToken::default();
    /// assert!(matches!(token.run(|| 6 * 7), Ok(42)));
    /// token.cancel();
    /// let endless = || loop {
    ///     check_canceled();
    /// };
    /// assert!(matches!(token.run(endless), Err(NoResult::Canceled)));
    /// ```
    ///
    /// # Errors
    ///
    /// [`NoResult::Canceled`] if it stopped, and [`NoResult::Panicked`] if it panicked.
    ///
    /// # Panics
    ///
    /// If the system has no threads left.
    pub fn run<T: Send>(&self, work: impl FnOnce() -> T + Send) -> Result<T, NoResult> {
        let own = self.clone();
        let pool = ThreadPoolBuilder::new()
            .start_handler(move |_| CURRENT.with_borrow_mut(|current| *current = Some(own.clone())))
            .build()
            .expect("a pool of threads");
        // What it has changed when it stops is dropped with it: it owns whatever it changes.
        pool.install(|| catch_unwind(AssertUnwindSafe(work))).map_err(|payload| {
            match payload.is::<Canceled>() {
                true => NoResult::Canceled,
                false => NoResult::Panicked(payload),
            }
        })
    }
}

/// Leaves the work of this thread, and of those that work with it, if it was asked to stop.
pub fn check_canceled() {
    let is_canceled = CURRENT.with_borrow(|current| current.as_ref().is_some_and(CancelToken::is_canceled));
    if is_canceled {
        resume_unwind(Box::new(Canceled));
    }
}

/// [`check_canceled`] in loops whose steps take nanoseconds: looks before one row in many.
#[inline]
pub(crate) fn check_row(row: usize) {
    if row.is_multiple_of(ROWS) {
        check_canceled();
    }
}

/// Rows between two looks.
pub(crate) const ROWS: usize = 1 << 18;

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicU32;
    use std::time::{Duration, Instant};

    use rayon::prelude::*;

    use super::*;

    #[test]
    fn all_threads_of_the_work_stop_and_drop_what_they_hold() {
        struct Held<'a>(&'a AtomicU32);
        impl Drop for Held<'_> {
            fn drop(&mut self) {
                self.0.fetch_sub(1, Ordering::Relaxed);
            }
        }
        let (token, held) = (CancelToken::default(), AtomicU32::new(0));
        let asking = token.clone();
        let asked = std::thread::spawn(move || {
            std::thread::sleep(Duration::from_millis(50));
            asking.cancel();
            Instant::now()
        });
        let endless = |_: usize| {
            held.fetch_add(1, Ordering::Relaxed);
            let _held = Held(&held);
            loop {
                check_canceled();
            }
        };
        let result = token.run(|| (0..64).into_par_iter().for_each(endless));
        assert!(matches!(result, Err(NoResult::Canceled)));
        assert!(asked.join().unwrap().elapsed() < Duration::from_secs(1));
        assert_eq!(held.into_inner(), 0);
    }

    #[test]
    fn other_work_goes_on() {
        let token = CancelToken::default();
        token.cancel();
        check_canceled();
        let other = CancelToken::default()
            .run(|| (0..100u32).into_par_iter().map(|i| (check_canceled(), i).1).sum::<u32>());
        assert!(matches!(other, Ok(4950)));
    }

    #[test]
    fn a_panic_is_no_stop() {
        let result = CancelToken::default().run(|| resume_unwind(Box::new("a fault")));
        let Err(NoResult::Panicked(payload)) = result else { panic!("it panicked") };
        assert_eq!(payload.downcast_ref(), Some(&"a fault"));
    }
}
