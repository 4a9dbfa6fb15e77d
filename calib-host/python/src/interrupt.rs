//! Work that takes long: without Python's lock, and stopped by Ctrl-C.

use std::sync::mpsc::{RecvTimeoutError, sync_channel};
use std::thread;
use std::time::Duration;

use calib_fit::cancel::{CancelToken, NoResult};
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use rayon::ThreadPoolBuilder;

/// How often Python is asked whether someone interrupts.
const TICK: Duration = Duration::from_millis(50);

/// Does work on a separate thread.
///
/// The threads that all of a process share are not there in a child that it forks, which would wait for them for ever.
///
/// # Panics
///
/// If the system has no threads left.
pub(crate) fn alone<T: Send>(work: impl FnOnce() -> T + Send) -> T {
    let one = ThreadPoolBuilder::new().num_threads(1).build();
    one.expect("a thread").install(work)
}

/// Does work on separate threads, without Python's lock, and waits for it.
///
/// # Errors
///
/// `KeyboardInterrupt`, or what another signal handler raises: the work was stopped, and has ended. `RuntimeError` if it panicked.
pub(crate) fn working<T: Send>(py: Python<'_>, work: impl FnOnce() -> T + Send) -> PyResult<T> {
    let token = CancelToken::default();
    let stopping = token.clone();
    thread::scope(|scope| {
        let (send, mut result) = sync_channel(1);
        let at_work = scope.spawn(move || drop(send.send(token.run(work))));
        let mut raised = None;
        let done = loop {
            let (received, waiting) = py.detach(move || (result.recv_timeout(TICK), result));
            result = waiting;
            match received {
                Err(RecvTimeoutError::Timeout) => {
                    if let Err(error) = py.check_signals() {
                        stopping.cancel();
                        // Pressed twice, it is raised once.
                        raised.get_or_insert(error);
                    }
                }
                Ok(done) => break done,
                Err(RecvTimeoutError::Disconnected) => {
                    // Taken here, as the scope would panic with it.
                    break Err(NoResult::Panicked(at_work.join().err().unwrap_or_else(|| Box::new(()))));
                }
            }
        };
        match (raised, done) {
            (Some(error), _) => Err(error),
            (None, Ok(done)) => Ok(done),
            (None, Err(_)) => Err(PyRuntimeError::new_err(
                "calib_host failed because of an internal error: the message on standard error states where",
            )),
        }
    })
}
