//! Files that hold no table or array.

use std::borrow::Cow;
use std::io::Cursor;
use std::path::Path;

use zip::ZipArchive;

use super::dialect;
use crate::files::{Format, Problem, UnsupportedFormat};

/// So much of a file is looked at to tell whether it is text.
const START_LEN_BYTES: usize = 1 << 16;

/// What a file is by its first bytes, or as a ZIP archive by its members, if it is known and not read.
pub(in crate::input) fn other_kind(path: &Path, bytes: &[u8]) -> Option<Problem> {
    match bytes {
        [b'C', b'A', b'L', b'B', ..] => Some(Problem::IsArtifact),
        // The protocols of Python since 2.3; text has no such bytes.
        [0x80, 2..=5, ..] => Some(Problem::Pickle),
        // Excel's before 2007.
        [0xd0, 0xcf, 0x11, 0xe0, 0xa1, 0xb1, 0x1a, 0xe1, ..] => Some(Problem::Spreadsheet),
        [b'P', b'K', 3, 4, ..] => of_archive(path, bytes),
        _ => None,
    }
}

/// Refuses what should be text and is not: bytes that are no UTF-8, zeros among them. Latin-1 has none.
pub(in crate::input) fn check_text(bytes: &[u8], format: Format) -> Result<(), Problem> {
    let start = &bytes[..bytes.len().min(START_LEN_BYTES)];
    let is_utf8 = || match std::str::from_utf8(start) {
        Ok(_) => true,
        // The last character may go on.
        Err(cause) => cause.error_len().is_none() && bytes.len() > start.len(),
    };
    match format == Format::CSV && start.contains(&0) && !dialect::is_utf16(bytes) && !is_utf8() {
        true => Err(Problem::Unsupported(unsupported(start))),
        false => Ok(()),
    }
}

/// The format of bytes that are no text.
fn unsupported(bytes: &[u8]) -> UnsupportedFormat {
    match infer::get(bytes) {
        Some(kind) if kind.matcher_type() == infer::MatcherType::Archive => {
            UnsupportedFormat::Archive(kind.mime_type())
        }
        Some(kind) => UnsupportedFormat::Media(kind.mime_type()),
        None => UnsupportedFormat::Binary,
    }
}

/// What a ZIP archive is that holds no NumPy arrays, nor says by its name that it should.
fn of_archive(path: &Path, archive: &[u8]) -> Option<Problem> {
    let Ok(members) = ZipArchive::new(Cursor::new(archive)) else {
        // The list of members is at its end, and may be cut off.
        return begins_like_spreadsheet(archive).then_some(Problem::Spreadsheet);
    };
    let names: Vec<String> = members.file_names().filter_map(Result::ok).map(Cow::into_owned).collect();
    let any = |is: fn(&str) -> bool| names.iter().any(|name| is(name));
    if any(|name| name.ends_with(".npy")) {
        return None;
    }
    if any(|name| name.starts_with("xl/")) || begins_like_spreadsheet(archive) {
        Some(Problem::Spreadsheet)
    } else {
        let is_named_npz = path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("npz"));
        (!is_named_npz).then(|| Problem::Unsupported(unsupported(archive)))
    }
}

/// Whether the first member of an archive is one that spreadsheets begin with: of Office Open XML, or of OpenDocument.
fn begins_like_spreadsheet(archive: &[u8]) -> bool {
    /// The length of what precedes a member's name.
    const HEADER_LEN_BYTES: usize = 30;
    let names: [&[u8]; 5] =
        [b"[Content_Types].xml", b"_rels/", b"docProps/", b"xl/", b"mimetypeapplication/vnd.oasis"];
    let name = archive.get(HEADER_LEN_BYTES..).unwrap_or_default();
    names.iter().any(|start| name.starts_with(start))
}
