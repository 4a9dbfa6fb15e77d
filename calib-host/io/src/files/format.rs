//! The formats that are read, and how they are recognized.

use std::fmt;
use std::path::Path;

/// A format that is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Format {
    /// A file of it in words, such as `a CSV table`.
    pub name: &'static str,
    /// What to do about a file that is damaged.
    pub remedy: &'static str,
    /// How its files begin; those of a text behind what is blank.
    starts: Starts,
    /// How the names of its files end.
    extensions: &'static [&'static str],
    /// Whether its files are text.
    pub(crate) is_text: bool,
    /// Whether a file on the disk is read some rows at a time.
    pub(crate) is_chunked: bool,
}

type Starts = &'static [&'static [u8]];

const COLUMNAR: &str = "write or copy the file again; pandas does it with to_feather and to_parquet";

impl Format {
    /// Every format: first the one of files that neither bytes nor names tell, last the one that is unpacked to another.
    pub const ALL: [Self; 8] = [
        Self::CSV,
        Self::JSON_LINES,
        Self::ARROW_FILE,
        Self::ARROW_STREAM,
        Self::PARQUET,
        Self::NPZ,
        Self::NPY,
        Self::GZIP,
    ];

    /// Text with a header, fields separated by commas.
    pub const CSV: Self = Self::text("a CSV table", &[], &[]);
    /// One JSON object a line. An array of objects is not that, but its reader can say so.
    pub const JSON_LINES: Self = Self::text("JSON lines", &[b"{", b"[{"], &["json", "jsonl", "ndjson"]);
    /// Arrow IPC with random access, also known as Feather version 2.
    pub const ARROW_FILE: Self =
        Self::binary("an Arrow file", COLUMNAR, &[b"ARROW1", b"FEA1"], &["arrow", "feather", "ipc"]);
    /// Arrow IPC as it comes over a pipe.
    pub const ARROW_STREAM: Self =
        Self::binary("an Arrow stream", COLUMNAR, &[b"\xff\xff\xff\xff"], &["arrows"]);
    /// Apache Parquet.
    pub const PARQUET: Self =
        Self { is_chunked: true, ..Self::binary("a Parquet file", COLUMNAR, &[b"PAR1"], &["parquet", "pq"]) };
    /// A ZIP archive of NumPy arrays; also one without members.
    pub const NPZ: Self = Self::binary(
        "a NumPy archive",
        "write it with numpy.savez",
        &[b"PK\x03\x04", b"PK\x05\x06"],
        &["npz"],
    );
    /// A NumPy array.
    pub const NPY: Self = Self {
        is_chunked: true,
        ..Self::binary("a NumPy array", "write it with numpy.save", &[b"\x93NUMPY"], &["npy"])
    };
    /// Any of the others, compressed with gzip.
    pub const GZIP: Self =
        Self::binary("a gzip file", "compress or copy the file again", &[b"\x1f\x8b"], &["gz"]);

    const fn text(name: &'static str, starts: Starts, extensions: &'static [&'static str]) -> Self {
        let remedy = "save or copy the file again";
        Self { name, remedy, starts, extensions, is_text: true, is_chunked: true }
    }

    const fn binary(
        name: &'static str,
        remedy: &'static str,
        starts: Starts,
        extensions: &'static [&'static str],
    ) -> Self {
        Self { name, remedy, starts, extensions, is_text: false, is_chunked: false }
    }

    /// What the first bytes say; if nothing, what the name says; if nothing, CSV.
    pub(crate) fn of(path: &Path, bytes: &[u8]) -> Self {
        let extension = path.extension().unwrap_or_default().to_string_lossy().to_ascii_lowercase();
        let of_name = || Self::ALL.into_iter().find(|format| format.extensions.contains(&&*extension));
        Self::from_bytes(bytes).or_else(of_name).unwrap_or(Self::CSV)
    }

    pub(crate) fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let text = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes).trim_ascii_start();
        let begins = |format: &Self| {
            let bytes = if format.is_text { text } else { bytes };
            format.starts.iter().any(|start| bytes.starts_with(start))
        };
        Self::ALL.into_iter().find(begins)
    }
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}
