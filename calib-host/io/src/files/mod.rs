//! What every file has: a place for what is wrong, a way to be read, and a way to be written.
//!
//! Errors name the file, the row and the column, and say what is wrong there; they never name an option of the command line.
//! A file is written completely or not at all. What tables and arrays hold is read by [`input`](crate::input).
//!
//! This is the lowest room: it knows artifacts and the errors of the fitting, and no other room.

mod artifact;
mod chain_error;
mod costs_error;
mod error;
mod fault;
mod format;
mod key_chain;
mod keys;
mod location;
mod missing;
mod output;
mod problem;
mod progress;
mod protocol_error;
mod read;
mod toml_text;
mod unsupported;

pub(crate) use artifact::artifact_of_bytes;
pub use artifact::read_artifact;
pub use chain_error::ChainError;
pub use costs_error::CostsError;
pub use error::FileError;
pub(crate) use fault::{Fault, score_problem};
pub use format::Format;
pub use key_chain::KeyChain;
pub use keys::{NotAPublicKey, PrivateKey, PublicKey, RandomError};
pub use location::{Location, Row};
pub use missing::is_missing;
pub(crate) use missing::{is_missing_code, may_be_missing};
pub use output::{OutputError, OutputFile, OutputPlace, check_output, remove_unfinished, write_file};
pub(crate) use output::{PUBLIC, Prepared, lock_folder_of};
pub use problem::{Problem, quoted};
pub use progress::{Progress, Unit, Watch};
pub use protocol_error::{LogError, ProtocolError};
pub(crate) use read::{json_words, read_limited, read_text, read_to_limit, text_of};
pub(crate) use toml_text::TomlText;
pub use unsupported::UnsupportedFormat;
