//! What commands said, one after the other: a snapshot holds it, word for word.
//!
//! A test runs commands with [`Workplace::says`] or [`refused`] and ends with `said!()`, which compares all that they printed with
//! `snapshots/`. `INSTA_UPDATE=always cargo test -p calib-host --test cli` writes the snapshots again.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::fmt::Write;

use serde_json::Value;

use crate::refusal::{File, MATRIX, TOP, good};
use crate::workplace::{Run, Workplace};

thread_local! {
    /// Of the test that this thread runs.
    static SAID: RefCell<String> = const { RefCell::new(String::new()) };
}

/// Writes a line of text.
pub(crate) fn note(words: &str) {
    SAID.with_borrow_mut(|said| writeln!(said, "{words}").unwrap());
}
/// Writes a text of a document, or a list of texts.
pub(crate) fn quote(value: &Value) {
    match value {
        Value::Array(all) => all.iter().for_each(quote),
        Value::String(text) => note(text),
        other => note(&other.to_string()),
    }
}

/// Writes what is to read on a page above its first table, without the plots.
pub(crate) fn quote_page(page: &str) {
    let body = page.split_once("<body").unwrap().1.split("<table").next().unwrap();
    let (first, rest) = body.split_once("<svg").unwrap_or((body, ""));
    let parts = rest.split("<svg").filter_map(|part| part.split_once("</svg>")).map(|(_, after)| after);
    for part in std::iter::once(first).chain(parts) {
        let texts = part.split('<').filter_map(|part| part.split_once('>')).map(|(_, text)| text.trim());
        texts.filter(|text| !text.is_empty()).for_each(|text| note(&steady(text)));
    }
    note("");
}

/// Writes a command and what it printed.
pub(crate) fn add(line: &str, run: &Run) {
    let Run { code, stdout, stderr } = run;
    // clap's lines of usage are its own affair.
    let told = stderr.lines().filter(|line| !line.starts_with("Usage: "));
    let told: String = told.map(|line| format!("{line}\n")).collect();
    SAID.with_borrow_mut(|said| {
        // What a document holds, the test compares as values.
        let is_document = line.contains("--json") && stdout.starts_with('{');
        let stdout = if is_document { "(JSON)\n" } else { stdout };
        write!(said, "$ {line}\n{}{}", steady(stdout), steady(&told)).unwrap();
        match code {
            0 => writeln!(said).unwrap(),
            code => writeln!(said, "exit code {code}\n").unwrap(),
        }
    });
}
/// A text without what another version of calib changes: the version, identities of artifacts, which cover it, and lengths of pages.
fn steady(text: &str) -> String {
    let is_identity =
        |word: &str| word.len() == 16 && word.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'));
    let line = |line: &str| {
        let line = line.replace(concat!("  calib ", env!("CARGO_PKG_VERSION")), "  calib VERSION");
        match line.strip_prefix("wrote ").and_then(|rest| rest.split_once(", ")) {
            Some((name, _)) if [".html", ".svg", ".h", ".rs"].iter().any(|end| name.ends_with(end)) => {
                format!("wrote {name}, SOME bytes\n")
            }
            _ => line,
        }
    };
    let mut steady = String::new();
    for text in text.split_inclusive('\n').map(line) {
        for word in text.split_inclusive(|c: char| !c.is_ascii_alphanumeric()) {
            let end = word.trim_end_matches(|c: char| !c.is_ascii_alphanumeric()).len();
            steady += if is_identity(&word[..end]) { "IDENTITY" } else { &word[..end] };
            steady += &word[end..];
        }
    }
    steady
}

/// All that was written since it was last asked for.
pub(crate) fn said() -> String {
    SAID.take()
}
/// Runs a command line that is refused, in a folder with `good` files and some of the case's own. If its output is `out`,
/// twice: there must be no output after it, and an output that was there must be as it was.
#[track_caller]
pub(crate) fn refused(files: &[File], line: &str) {
    let place = || files.iter().fold(good(), |place, (name, content)| place.with(name, content));
    let check = |place: Workplace, line: &str| {
        let before = place.everything();
        let run = place.run(line);
        assert!(run.code != 0 && run.stdout.is_empty(), "{line}: {run:?}");
        assert!(place.everything() == before, "{line}: files were made or changed");
        run
    };
    for (name, content) in files {
        // Of a binary file, and of a long one, the test says what is in it.
        let text = std::str::from_utf8(content).ok().filter(|text| text.len() < 120 && !text.contains('\0'));
        text.inspect(|text| note(&format!("{name}: {text:?}")));
    }
    let run = check(place(), line);
    if line.contains(" -o out") {
        let again = check(place().with("out", "old"), &format!("{line} --force"));
        assert_eq!((run.code, &run.stderr), (again.code, &again.stderr), "{line} --force");
    }
    add(line, &run);
}

/// A fit to `bad.csv`.
#[track_caller]
pub(crate) fn bad_csv(content: impl AsRef<[u8]>) {
    let line = "calib fit --method umd --bins 2 --scores bad.csv -o out";
    refused(&[("bad.csv", content.as_ref().to_vec())], line);
}
/// A fit to the array `bad.npy`, as scores, labels, labels of classes, logits or probs.
#[track_caller]
pub(crate) fn bad_npy(kind: &str, content: impl AsRef<[u8]>) {
    let line = match kind {
        "scores" => "calib fit --method umd --bins 2 --scores bad.npy --labels labels.npy -o out".into(),
        "labels" => "calib fit --method umd --bins 2 --scores scores.npy --labels bad.npy -o out".into(),
        "classes" => {
            format!("calib fit {TOP} --rows-per-bin 10 --logits logits.npy --labels bad.npy -o out")
        }
        matrix => format!("calib fit {MATRIX} --{matrix} bad.npy -o out"),
    };
    refused(&[("bad.npy", content.as_ref().to_vec())], &line);
}

/// A test that writes a transcript and does not compare it asserts nothing, and a snapshot without its test is read by nobody.
#[test]
fn every_transcript_is_compared() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cli");
    let mut compared = BTreeSet::new();
    for path in folder.read_dir().unwrap().map(|entry| entry.unwrap().path()) {
        let (Ok(source), Some(module)) = (std::fs::read_to_string(&path), path.file_stem()) else { continue };
        // Another function of that name is the file's own.
        let imported = source.split("use crate::transcript::").nth(1).and_then(|rest| rest.split(';').next());
        let imported = imported.unwrap_or_default();
        for test in source.split("#[test]").skip(1).filter(|_| !path.ends_with("transcript.rs")) {
            // Up to the end of the function; what helpers write, their callers compare.
            let test = test.split("\n}\n").next().unwrap();
            let compares = test.contains("said!()") || test.contains("assert_snapshot!");
            let writes = ["refused", "note", "quote", "add", "bad_csv", "bad_npy"];
            let is_called = |name: &&str| imported.contains(name) && test.contains(&format!(" {name}("));
            let writes = test.contains(".says(") || writes.iter().any(is_called);
            assert!(compares || !writes, "{}: {test}", path.display());
            let name = test.split_once("fn ").unwrap().1.split('(').next().unwrap();
            if compares {
                compared.insert(format!("cli__{}__{name}", module.display()));
            }
        }
    }
    for entry in folder.join("snapshots").read_dir().unwrap().map(|entry| entry.unwrap().path()) {
        let name = entry.file_stem().unwrap().to_str().unwrap().split('-').next().unwrap();
        assert!(compared.contains(name), "{name} is a snapshot of no test");
    }
}
