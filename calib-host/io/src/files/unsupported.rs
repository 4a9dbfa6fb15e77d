//! Formats that are not read.

use std::fmt;

/// The format of a file that is not read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UnsupportedFormat {
    /// A compressed file or an archive of this media type.
    Archive(&'static str),
    /// Another file of this media type.
    Media(&'static str),
    /// A file that is not text, of no known type.
    Binary,
}

impl fmt::Display for UnsupportedFormat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Archive(media_type) => write!(f, "an archive of the type {media_type}"),
            Self::Media(media_type) => write!(f, "a file of the type {media_type}"),
            Self::Binary => f.write_str("a binary file of no known type"),
        }
    }
}
