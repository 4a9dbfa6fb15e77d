//! What a file is that somebody took for data.

use std::borrow::Cow;
use std::io::Cursor;
use std::path::Path;

use zip::ZipArchive;

use super::unusual::dialect;
use crate::files::{Foreign, Format, Problem};

/// So much of a file is looked at to tell whether it is text.
const START_LEN_BYTES: usize = 1 << 16;

/// What a file is by its first bytes, or as a ZIP archive by its members, if it is known and not read.
pub(super) fn other_kind(path: &Path, bytes: &[u8]) -> Option<Problem> {
    match bytes {
        [b'C', b'A', b'L', b'B', ..] => Some(Problem::IsArtifact),
        // What torch.save wrote before it wrote archives begins with a pickle of this number.
        [0x80, 2, 0x8a, 0x0a, 0x6c, 0xfc, 0x9c, 0x46, 0xf9, ..] => Some(Problem::Foreign(Foreign::Torch)),
        // The protocols of Python since 2.3; text has no such bytes.
        [0x80, 2..=5, ..] => Some(Problem::Pickle),
        // Excel's before 2007.
        [0xd0, 0xcf, 0x11, 0xe0, 0xa1, 0xb1, 0x1a, 0xe1, ..] => Some(Problem::Spreadsheet),
        [b'P', b'K', 3, 4, ..] => of_archive(path, bytes),
        _ => foreign(bytes).map(Problem::Foreign),
    }
}

/// Refuses what should be text and is not: bytes that are no UTF-8, zeros among them. Latin-1 has none.
pub(super) fn check_text(bytes: &[u8], format: Format) -> Result<(), Problem> {
    let start = &bytes[..bytes.len().min(START_LEN_BYTES)];
    let is_utf8 = || match std::str::from_utf8(start) {
        Ok(_) => true,
        // The last character may go on.
        Err(cause) => cause.error_len().is_none() && bytes.len() > start.len(),
    };
    match format == Format::Csv && start.contains(&0) && !dialect::is_utf16(bytes) && !is_utf8() {
        true => Err(Problem::Foreign(Foreign::Binary)),
        false => Ok(()),
    }
}

fn foreign(bytes: &[u8]) -> Option<Foreign> {
    const STARTS: [(&[u8], Foreign); 23] = [
        (b"\xfd7zXZ\0", Foreign::Xz),
        (b"\x28\xb5\x2f\xfd", Foreign::Zstd),
        (b"\x04\x22\x4d\x18", Foreign::Lz4),
        (b"7z\xbc\xaf\x27\x1c", Foreign::SevenZip),
        (b"\x89HDF\r\n\x1a\n", Foreign::Hdf5),
        (b"<stata_dta>", Foreign::Stata),
        // Stata 8 to 12: the release, the order of bytes, the type of file and a filler.
        (b"\x71\x01\x01\x00", Foreign::Stata),
        (b"\x71\x02\x01\x00", Foreign::Stata),
        (b"\x72\x01\x01\x00", Foreign::Stata),
        (b"\x72\x02\x01\x00", Foreign::Stata),
        (b"\x73\x01\x01\x00", Foreign::Stata),
        (b"\x73\x02\x01\x00", Foreign::Stata),
        (b"MATLAB 5.0 MAT-file", Foreign::Matlab),
        (b"MATLAB 7.3 MAT-file", Foreign::Matlab),
        (b"SQLite format 3\0", Foreign::Sqlite),
        (b"$FL2@(#)", Foreign::Spss),
        (b"$FL3@(#)", Foreign::Spss),
        (b"\0\0\0\0\0\0\0\0\0\0\0\0\xc2\xea\x81\x60", Foreign::Sas),
        (b"HEADER RECORD*******", Foreign::Sas),
        // Those of save, and of saveRDS with the version of the format.
        (b"RDX2\n", Foreign::R),
        (b"RDX3\n", Foreign::R),
        (b"X\n\0\0\0\x02", Foreign::R),
        (b"X\n\0\0\0\x03", Foreign::R),
    ];
    let is_bzip2 = matches!(bytes, [b'B', b'Z', b'h', b'1'..=b'9', b'1', b'A', b'Y', b'&', ..]);
    let known = STARTS.iter().find(|(start, _)| bytes.starts_with(start)).map(|&(_, foreign)| foreign);
    known.or(is_bzip2.then_some(Foreign::Bzip2))
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
    } else if any(|name| name.ends_with("/data.pkl") || name == "data.pkl") {
        Some(Problem::Foreign(Foreign::Torch))
    } else {
        let is_named_npz = path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("npz"));
        (!is_named_npz).then_some(Problem::Foreign(Foreign::Zip))
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
