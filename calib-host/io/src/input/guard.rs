//! Panics of the crates that read files.

use std::any::Any;
use std::cell::Cell;
use std::panic::{self, AssertUnwindSafe};
use std::sync::Once;

use crate::files::{FileError, Format, Location, Problem};

thread_local! {
    static GUARDED: Cell<bool> = const { Cell::new(false) };
}

/// Runs a reader of a file of this format; if it panics, the file is damaged.
///
/// The crates that read formats check most of what they read, and assert the rest: random damage to a Parquet file finds an
/// assertion in one of some thousand files.
pub(super) fn guarded<T>(
    place: &Location,
    format: Format,
    read: impl FnOnce() -> Result<T, FileError>,
) -> Result<T, FileError> {
    caught(read).unwrap_or_else(|why| {
        let why = format!("it is damaged ({why})");
        Err(FileError::input(place.clone(), Problem::NotA(format, why)))
    })
}

/// Runs a reader; `Err` is its panic's message.
///
/// The first call puts a panic hook in front of the present one. It prints nothing while a guarded reader runs on this
/// thread, and leaves all other panics to the present one.
fn caught<T>(read: impl FnOnce() -> T) -> Result<T, String> {
    static HOOK: Once = Once::new();
    HOOK.call_once(|| {
        let present = panic::take_hook();
        panic::set_hook(Box::new(move |info| {
            if !GUARDED.get() {
                present(info);
            }
        }));
    });
    let outer = GUARDED.replace(true);
    let result = panic::catch_unwind(AssertUnwindSafe(read));
    GUARDED.set(outer);
    result.map_err(|cause| words(&*cause).to_owned())
}

fn words(cause: &(dyn Any + Send)) -> &str {
    let text = cause.downcast_ref::<String>().map(String::as_str);
    text.or_else(|| cause.downcast_ref::<&str>().copied()).unwrap_or("the reader gave up")
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    #[test]
    fn a_panic_becomes_its_words() {
        assert_eq!(caught(|| 1), Ok(1));
        assert_eq!(caught(|| panic!("offset {}", 7)), Err::<(), _>("offset 7".into()));
        // A guard within a guard leaves the outer one in force.
        assert_eq!(caught(|| caught(|| panic!("no"))), Ok(Err::<(), _>("no".into())));
        assert!(!GUARDED.get());
    }

    #[test]
    fn a_reader_that_panics_says_that_the_file_is_damaged() {
        let place = Location::file(Path::new("scores.npy"));
        let error = guarded(&place, Format::NPY, || -> Result<(), _> { panic!("index 7") }).unwrap_err();
        assert_eq!(error.to_string(), "scores.npy: not a NumPy array: it is damaged (index 7)");
        let ours = || Err::<(), _>(FileError::input(place.clone(), Problem::Empty));
        assert_eq!(
            guarded(&place, Format::NPY, ours).unwrap_err().to_string(),
            ours().unwrap_err().to_string()
        );
    }
}
