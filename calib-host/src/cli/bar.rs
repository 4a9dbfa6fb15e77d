//! Progress on standard error. indicatif draws nothing where that is not a terminal.

use std::sync::{Mutex, PoisonError};

use calib_host::files::{Progress, Unit};
use indicatif::{ProgressBar, ProgressFinish, ProgressStyle};

/// Shows how far the reading of files is, unless all is to be quiet.
pub(crate) fn reading(quiet: bool) -> impl Fn(Progress<'_>) + Sync {
    let shown = Mutex::new(None::<ProgressBar>);
    move |progress| {
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
