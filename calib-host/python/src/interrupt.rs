//! Work that takes long: beside Python's own, and interrupted by Ctrl-C.

use std::sync::mpsc::{RecvTimeoutError, sync_channel};
use std::thread;
use std::time::Duration;

use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;

/// How often Python is asked whether somebody interrupts.
const TICK: Duration = Duration::from_millis(50);

/// Does work in a thread of its own, without Python's lock, and waits for it.
///
/// # Errors
///
/// `KeyboardInterrupt`, or what another signal handler raises: nobody waits for the work any more, and its result is dropped.
pub(crate) fn working<T: Send + 'static>(
    py: Python<'_>,
    work: impl FnOnce() -> T + Send + 'static,
) -> PyResult<T> {
    let (send, mut result) = sync_channel(1);
    // Where nobody waits any more there is nobody to tell.
    thread::spawn(move || drop(send.send(work())));
    loop {
        let (received, waiting) = py.detach(move || (result.recv_timeout(TICK), result));
        result = waiting;
        match received {
            Ok(done) => return Ok(done),
            Err(RecvTimeoutError::Timeout) => py.check_signals()?,
            Err(RecvTimeoutError::Disconnected) => {
                return Err(PyRuntimeError::new_err(
                    "calib_host failed, which is a fault of its own: the message on standard error says where",
                ));
            }
        }
    }
}
