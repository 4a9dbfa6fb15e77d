//! What was told of the tables that were read.

use std::sync::{LazyLock, Mutex, MutexGuard, PoisonError};

use calib_io::input::TableNote;
use serde_json::{Value, json};

/// There is one command a process.
static TOLD: LazyLock<Mutex<Told>> = LazyLock::new(Mutex::default);

#[derive(Default)]
struct Told {
    notes: Vec<TableNote>,
    is_quiet: bool,
    leaves_out: bool,
}

fn told() -> MutexGuard<'static, Told> {
    TOLD.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Begins a command, which may be quiet, and may leave out rows.
pub(crate) fn begin(is_quiet: bool, leaves_out: bool) {
    let mut told = told();
    (told.is_quiet, told.leaves_out) = (is_quiet, leaves_out);
}

/// Keeps a note; whether it is one to be told on standard error, which is so once.
pub(crate) fn is_to_be_told(note: &TableNote) -> bool {
    let mut told = told();
    let is_new = !told.notes.contains(note);
    if is_new {
        told.notes.push(note.clone());
    }
    is_new && !told.is_quiet
}

/// What was left out of tables, in sentences.
pub(crate) fn left_out() -> Vec<String> {
    let is_left_out = |note: &&TableNote| matches!(note, TableNote::LeftOut { .. });
    told().notes.iter().filter(is_left_out).map(|note| format!("{note}.")).collect()
}

/// Adds what was told to the object that a command prints, if anything was.
pub(crate) fn add_to(value: &mut Value) {
    let told = told();
    let Some(object) = value.as_object_mut() else { return };
    if told.leaves_out {
        let left_out = told.notes.iter().filter_map(|note| match note {
            TableNote::LeftOut { file, rows, of } => Some(json!({"file": file, "rows": rows, "of": of})),
            _ => None,
        });
        object.insert("left_out".into(), left_out.collect());
    }
    if !told.notes.is_empty() {
        object.insert("notes".into(), told.notes.iter().map(ToString::to_string).collect());
    }
}

/// Whether something is to be added.
pub(crate) fn has_told() -> bool {
    let told = told();
    told.leaves_out || !told.notes.is_empty()
}
