//! The formats that tables are written in, and how a name tells them.

use std::path::{Path, PathBuf};

/// The format of a table that is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum TableFormat {
    /// Text with a header, fields separated by commas (`.csv`, or a name without an extension).
    Csv,
    /// One JSON object a line (`.jsonl`, `.ndjson`, `.json`).
    JsonLines,
    /// A NumPy array of the probabilities alone (`.npy`).
    Npy,
    /// Arrow IPC with random access, also known as Feather version 2 (`.arrow`, `.feather`, `.ipc`).
    ArrowFile,
    /// Apache Parquet (`.parquet`, `.pq`).
    Parquet,
}

/// No format goes by the name of a file.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum UnknownFormat {
    /// The extension is none of those known.
    #[error("{} has an unknown extension: a table is written as .csv, .jsonl, .parquet, .arrow or .npy", .0.display())]
    Extension(PathBuf),
    /// This build leaves the format out.
    #[error("{} needs a build with the feature `arrow`: without it a table is written as .csv, .jsonl or .npy", .0.display())]
    NotBuilt(PathBuf),
}

impl TableFormat {
    /// Tells the format by the extension of a name, whatever its case.
    ///
    /// # Errors
    ///
    /// If the extension is of no format, or of one that was left out of the build.
    pub fn of(path: &Path) -> Result<Self, UnknownFormat> {
        let Some(extension) = path.extension() else { return Ok(Self::Csv) };
        let format = match extension.to_string_lossy().to_ascii_lowercase().as_str() {
            "csv" => Self::Csv,
            "json" | "jsonl" | "ndjson" => Self::JsonLines,
            "npy" => Self::Npy,
            "arrow" | "feather" | "ipc" => Self::ArrowFile,
            "parquet" | "pq" => Self::Parquet,
            _ => return Err(UnknownFormat::Extension(path.into())),
        };
        let is_built = cfg!(feature = "arrow") || !matches!(format, Self::ArrowFile | Self::Parquet);
        if is_built { Ok(format) } else { Err(UnknownFormat::NotBuilt(path.into())) }
    }
}
