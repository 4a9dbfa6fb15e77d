//! What is wrong with a protocol, or with a log of decisions.

/// What is wrong with a protocol.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ProtocolError {
    /// It is not TOML, or a key is missing, unknown or of another type.
    #[error("{0}")]
    Toml(String),
    /// A number is out of range.
    #[error("{key} = {value}: {expected}")]
    Number {
        /// The key.
        key: &'static str,
        /// The number.
        value: f64,
        /// Which numbers it may have.
        expected: &'static str,
    },
    /// Two numbers are not in ascending order.
    #[error("{key}: the first number is at most the second")]
    Order {
        /// The key.
        key: &'static str,
    },
    /// It has no name.
    #[error("name is empty")]
    NoName,
    /// It accepts every calibrator.
    #[error("accept states nothing, so that every calibrator would be accepted")]
    AcceptsAll,
    /// A key that may sign is not one.
    #[error("keys: this is not the middle line of the file of a public Ed25519 key")]
    Key,
    /// A key that may sign is there twice.
    #[error("keys: the same key occurs twice")]
    KeyTwice,
    /// There are fewer keys than are needed.
    #[error("needed = {needed}: {keys} keys are stated, and one or two of them may be needed")]
    Needed {
        /// The number of keys that must sign.
        needed: i64,
        /// The number of keys that may.
        keys: usize,
    },
}

/// What is wrong with a log of decisions.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum LogError {
    /// The line is not an entry.
    #[error("this is no entry of a decision log: {0}")]
    NotAnEntry(String),
    /// The signature is not that of the entry.
    #[error("entry {0} was edited: its signature does not match")]
    Edited(u64),
    /// Entries are missing, or in another order.
    #[error("entry {got} stands where entry {expected} belongs: entries were removed or reordered")]
    Number {
        /// The number that belongs here.
        expected: u64,
        /// The number that is here.
        got: u64,
    },
    /// The entry does not continue the one before it.
    #[error("entry {0} does not continue the entry before it: one of the two was replaced")]
    Previous(u64),
    /// The log does not contain the entry that a later statement names as the last one.
    #[error("no entry has the hash {0}: the log was cut short, or is another one")]
    Head(String),
    /// The last line is not whole.
    #[error("the last line does not end: the log was cut short")]
    CutLine,
    /// The key of an entry is not one of the protocol's.
    #[error("entry {0} is signed with a key that the protocol does not name")]
    OtherKey(u64),
    /// The protocol requires two keys, and no other key approved before.
    #[error("entry {0} signs without an approval by another key of the protocol")]
    OneKey(u64),
    /// An entry says that a calibrator was signed which did not keep every line.
    #[error("entry {0} says that a calibrator was signed, and a line of the protocol is broken")]
    Contradiction(u64),
}
