//! The formats that are read, and how they are recognized.

use std::fmt;
use std::path::Path;

/// The format of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Format {
    /// Text with a header, fields separated by commas: what is none of the others.
    Csv,
    /// One JSON object a line (`.jsonl`, `.ndjson`).
    JsonLines,
    /// A NumPy array (`.npy`).
    Npy,
    /// A ZIP archive of NumPy arrays (`.npz`).
    Npz,
    /// Arrow IPC with random access, also known as Feather version 2 (`.arrow`, `.feather`).
    ArrowFile,
    /// Arrow IPC as it comes over a pipe (`.arrows`).
    ArrowStream,
    /// Apache Parquet (`.parquet`).
    Parquet,
    /// Any of the others, compressed with gzip (`.gz`).
    Gzip,
}

impl Format {
    /// What the first bytes say; if nothing, what the name says; if nothing, CSV.
    pub(crate) fn of(path: &Path, bytes: &[u8]) -> Self {
        Self::from_bytes(bytes).or_else(|| Self::from_name(path)).unwrap_or(Self::Csv)
    }

    pub(crate) fn from_bytes(bytes: &[u8]) -> Option<Self> {
        const MAGIC: [(&[u8], Format); 8] = [
            (b"\x1f\x8b", Format::Gzip),
            (b"\x93NUMPY", Format::Npy),
            (b"PK\x03\x04", Format::Npz),
            // An archive without members.
            (b"PK\x05\x06", Format::Npz),
            (b"ARROW1", Format::ArrowFile),
            (b"FEA1", Format::ArrowFile),
            (b"\xff\xff\xff\xff", Format::ArrowStream),
            (b"PAR1", Format::Parquet),
        ];
        let known = MAGIC.iter().find(|(magic, _)| bytes.starts_with(magic)).map(|&(_, format)| format);
        known.or_else(|| {
            let text = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes).trim_ascii_start();
            // An array of objects is no JSON lines either, but the reader can say so.
            (text.starts_with(b"{") || text.starts_with(b"[{")).then_some(Self::JsonLines)
        })
    }

    fn from_name(path: &Path) -> Option<Self> {
        let extension = path.extension()?.to_str()?.to_ascii_lowercase();
        Some(match extension.as_str() {
            "gz" => Self::Gzip,
            "npy" => Self::Npy,
            "npz" => Self::Npz,
            "json" | "jsonl" | "ndjson" => Self::JsonLines,
            "arrow" | "feather" | "ipc" => Self::ArrowFile,
            "arrows" => Self::ArrowStream,
            "parquet" | "pq" => Self::Parquet,
            _ => return None,
        })
    }
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Csv => "a CSV table",
            Self::JsonLines => "JSON lines",
            Self::Npy => "a NumPy array",
            Self::Npz => "a NumPy archive",
            Self::ArrowFile => "an Arrow file",
            Self::ArrowStream => "an Arrow stream",
            Self::Parquet => "a Parquet file",
            Self::Gzip => "a gzip file",
        })
    }
}
