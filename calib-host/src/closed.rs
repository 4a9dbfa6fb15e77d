//! Whether there is a standard output at all.

use std::sync::atomic::{AtomicBool, Ordering};

/// Set before `main`.
static CLOSED: AtomicBool = AtomicBool::new(false);

/// Whether standard output was closed when the program was started, as by `calib inspect cal.bin >&-`. What is then printed is
/// lost without an error, as Rust opens `/dev/null` in its place before `main`.
pub(crate) fn stdout_was_closed() -> bool {
    CLOSED.load(Ordering::Relaxed)
}

#[cfg(any(target_os = "linux", target_vendor = "apple"))]
mod before_main {
    use std::ffi::c_int;
    use std::sync::atomic::Ordering;

    const STDOUT: c_int = 1;
    const F_GETFD: c_int = 1;

    unsafe extern "C" {
        fn fcntl(fd: c_int, cmd: c_int, ...) -> c_int;
    }

    // SAFETY: the loader calls functions of these sections, once, before `main`; this one needs nothing of Rust's runtime.
    #[used]
    #[cfg_attr(target_os = "linux", unsafe(link_section = ".init_array"))]
    #[cfg_attr(target_vendor = "apple", unsafe(link_section = "__DATA,__mod_init_func"))]
    static LOOK: extern "C" fn() = look;

    extern "C" fn look() {
        // SAFETY: it asks for the flags of a descriptor, which need not be open, and takes no other argument.
        let is_open = unsafe { fcntl(STDOUT, F_GETFD) } != -1;
        super::CLOSED.store(!is_open, Ordering::Relaxed);
    }
}
