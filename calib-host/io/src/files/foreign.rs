//! Kinds of files that are known and not read.

use std::fmt;

/// What a file is that is not read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Foreign {
    /// Compressed with bzip2.
    Bzip2,
    /// Compressed with xz.
    Xz,
    /// Compressed with zstd.
    Zstd,
    /// Compressed with lz4.
    Lz4,
    /// An archive of 7-Zip.
    SevenZip,
    /// A ZIP archive of anything but NumPy arrays.
    Zip,
    /// HDF5, as `DataFrame.to_hdf` and Keras write it.
    Hdf5,
    /// Stata's `.dta`.
    Stata,
    /// MATLAB's `.mat`.
    Matlab,
    /// A database of SQLite.
    Sqlite,
    /// SPSS's `.sav`.
    Spss,
    /// SAS's `.sas7bdat` or `.xpt`.
    Sas,
    /// R's `.rds`, `.rda` or `.RData`.
    R,
    /// What `torch.save` writes.
    Torch,
    /// Anything else that is no text.
    Binary,
}

impl fmt::Display for Foreign {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Bzip2 => "a file compressed with bzip2",
            Self::Xz => "a file compressed with xz",
            Self::Zstd => "a file compressed with zstd",
            Self::Lz4 => "a file compressed with lz4",
            Self::SevenZip => "a 7-Zip archive",
            Self::Zip => "a ZIP archive without NumPy arrays",
            Self::Hdf5 => "an HDF5 file",
            Self::Stata => "a Stata file",
            Self::Matlab => "a MATLAB file",
            Self::Sqlite => "an SQLite database",
            Self::Spss => "an SPSS file",
            Self::Sas => "a SAS file",
            Self::R => "a file of R's saveRDS or save",
            Self::Torch => "a file of PyTorch",
            Self::Binary => "a binary file of no known kind",
        })
    }
}
