//! Panics of the readers behind the feature `arrow`.

use std::any::Any;
use std::cell::Cell;
use std::panic::{self, AssertUnwindSafe};
use std::sync::Once;

thread_local! {
    static GUARDED: Cell<bool> = const { Cell::new(false) };
}

/// Runs a reader that has been seen to panic on damaged files; `Err` is the panic's message.
///
/// The crates `parquet` and `arrow-*` check most of what they read, and assert the rest: random damage to a file finds an
/// assertion in one of some thousand files. The first call puts a panic hook in front of the present one, which says
/// nothing while a guarded reader runs on this thread, and leaves all other panics to the present one.
pub(super) fn guarded<T>(read: impl FnOnce() -> T) -> Result<T, String> {
    static HOOK: Once = Once::new();
    HOOK.call_once(|| {
        let present = panic::take_hook();
        panic::set_hook(Box::new(move |info| {
            if !GUARDED.get() {
                present(info);
            }
        }));
    });
    GUARDED.set(true);
    let result = panic::catch_unwind(AssertUnwindSafe(read));
    GUARDED.set(false);
    result.map_err(|cause| words(&*cause).to_owned())
}

fn words(cause: &(dyn Any + Send)) -> &str {
    let text = cause.downcast_ref::<String>().map(String::as_str);
    text.or_else(|| cause.downcast_ref::<&str>().copied()).unwrap_or("the reader gave up")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_becomes_its_words() {
        assert_eq!(guarded(|| 1), Ok(1));
        assert_eq!(guarded(|| panic!("offset {}", 7)), Err::<(), _>("offset 7".into()));
        assert_eq!(guarded(|| panic!("no")), Err::<(), _>("no".into()));
    }
}
