//! Statements in a file by which one key takes the place of another.

use std::io::Write;
use std::path::Path;

use calib_core::slot::{MAX_ROTATIONS, Rotation};
use calib_fit::artifact::StoredArtifact;
use serde::{Deserialize, Serialize};

use super::chain_error::ChainError;
use super::error::FileError;
use super::keys::{PrivateKey, PublicKey};
use super::location::Location;
use super::output::{OutputError, PUBLIC, Prepared};
use super::problem::Problem;
use super::read::read_limited;

/// Far more than four statements.
const MAX_CHAIN_LEN: u64 = 1 << 20;

/// A chain of [`Rotation`]s, the first key's statement first; in a file as JSON.
///
/// ```
/// use calib_io::files::{KeyChain, PrivateKey};
///
/// let [first, second, third] = [PrivateKey::generate()?, PrivateKey::generate()?, PrivateKey::generate()?];
/// let chain = KeyChain::default().and(&first, &second.public(), 6)?.and(&second, &third.public(), 8)?;
/// assert_eq!(chain.last(), Some(third.public()));
/// // The second key named the third one already, and no longer ends the chain.
/// assert!(chain.and(&second, &first.public(), 9).is_err());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct KeyChain(Vec<Rotation>);

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    chain: Vec<Statement>,
}

/// A statement as text.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Statement {
    next: String,
    counter: u32,
    signature: String,
}

impl KeyChain {
    /// Reads a chain, and verifies each statement but the first, whose key is not in it.
    ///
    /// # Errors
    ///
    /// If the file cannot be read, or is no chain.
    pub fn read(path: &Path) -> Result<Self, FileError> {
        let bytes = read_limited(path, MAX_CHAIN_LEN)?;
        let of_chain = |cause| FileError::input(Location::file(path), Problem::Chain(cause));
        let file: File =
            serde_json::from_slice(&bytes).map_err(|cause| of_chain(ChainError::Json(cause.to_string())))?;
        let parsed = (1..).zip(&file.chain).map(|(number, statement)| statement.parse(number));
        let chain = parsed.collect::<Result<Vec<_>, _>>().map_err(of_chain)?;
        Self(chain).checked().map_err(of_chain)
    }

    /// Writes the chain.
    ///
    /// # Errors
    ///
    /// If it cannot be written, or exists and is not to be replaced.
    pub fn write(&self, path: &Path, overwrite: bool) -> Result<(), OutputError> {
        let file = File { chain: self.0.iter().map(Statement::of).collect() };
        let text = serde_json::to_string_pretty(&file).expect("a chain is JSON");
        Prepared::new(PUBLIC, path, overwrite, |out| writeln!(out, "{text}"))?.commit()
    }

    /// Returns the chain with one more statement: this key is replaced by the next one, from this counter on.
    ///
    /// # Errors
    ///
    /// If the key does not end the chain, the next one is in it, the counter is lower than one before, or the chain is full.
    pub fn and(&self, key: &PrivateKey, next: &PublicKey, counter: u32) -> Result<Self, ChainError> {
        self.check_end(&key.public())?;
        if *next == key.public() {
            return Err(ChainError::Repeated(next.id()));
        }
        Self(self.0.iter().copied().chain([key.name(next, counter)]).collect()).checked()
    }

    /// The key that it ends with; `None` of an empty chain.
    pub fn last(&self) -> Option<PublicKey> {
        PublicKey::from_bytes(&self.0.last()?.next)
    }

    /// The statements.
    pub fn rotations(&self) -> &[Rotation] {
        &self.0
    }

    /// Returns an artifact that contains the chain, and which the chain's last key may sign.
    ///
    /// # Errors
    ///
    /// If `key` does not end the chain, or may not sign an artifact of this counter.
    pub fn put_into(&self, artifact: &StoredArtifact, key: &PublicKey) -> Result<StoredArtifact, ChainError> {
        self.check_end(key)?;
        let (counter, least) = (artifact.artifact().counter(), self.0.last().map_or(0, |last| last.counter));
        if counter < least {
            return Err(ChainError::Early { counter, least });
        }
        artifact.with_rotations(&self.0).map_err(|_| ChainError::TooLong)
    }

    fn check_end(&self, key: &PublicKey) -> Result<(), ChainError> {
        match self.last() {
            Some(end) if end != *key => Err(ChainError::End { end: end.id(), key: key.id() }),
            _ => Ok(()),
        }
    }

    fn checked(self) -> Result<Self, ChainError> {
        if !(1..=MAX_ROTATIONS).contains(&self.0.len()) {
            return Err(ChainError::Length(self.0.len()));
        }
        let (mut before, mut least): (Vec<PublicKey>, u32) = (Vec::new(), 1);
        for (number, rotation) in (1..).zip(&self.0) {
            let next = PublicKey::from_bytes(&rotation.next).ok_or(ChainError::Key(number))?;
            if before.last().is_some_and(|signer| !signer.named(rotation)) {
                return Err(ChainError::Signature(number));
            }
            if before.contains(&next) {
                return Err(ChainError::Repeated(next.id()));
            }
            if rotation.counter < least {
                return Err(ChainError::Counter { counter: rotation.counter, least });
            }
            least = rotation.counter;
            before.push(next);
        }
        Ok(self)
    }
}

impl Statement {
    fn of(rotation: &Rotation) -> Self {
        let next = PublicKey::from_bytes(&rotation.next).map(|key| key.to_string()).unwrap_or_default();
        Self { next, counter: rotation.counter, signature: hex::encode(rotation.signature) }
    }

    fn parse(&self, number: usize) -> Result<Rotation, ChainError> {
        let next = self.next.parse::<PublicKey>().map_err(|_| ChainError::Key(number))?.to_bytes();
        let mut signature = [0; 64];
        hex::decode_to_slice(&self.signature, &mut signature)
            .map_err(|cause| ChainError::Json(format!("signature of statement {number}: {cause}")))?;
        Ok(Rotation { next, counter: self.counter, signature })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_read_as_it_was_written_and_an_edited_one_is_not() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("chain.json");
        let [a, b, c] = [(); 3].map(|()| PrivateKey::generate().unwrap());
        let chain = KeyChain::default().and(&a, &b.public(), 6).unwrap().and(&b, &c.public(), 8).unwrap();
        chain.write(&path, false).unwrap();
        assert_eq!(KeyChain::read(&path).unwrap(), chain);

        let text = std::fs::read_to_string(&path).unwrap();
        let refused = |from: &str, to: &str| {
            std::fs::write(&path, text.replacen(from, to, 1)).unwrap();
            match KeyChain::read(&path).unwrap_err() {
                FileError::Input { problem, .. } => match problem {
                    Problem::Chain(cause) => cause,
                    other => panic!("{other}"),
                },
                other => panic!("{other}"),
            }
        };
        assert_eq!(refused("\"counter\": 8", "\"counter\": 9"), ChainError::Signature(2));
        assert_eq!(refused(&b.public().to_string(), &a.public().to_string()), ChainError::Signature(2));
        assert_eq!(refused("MCow", "MCox"), ChainError::Key(1));
        assert_eq!(refused("\"counter\": 6", "\"counter\": 0"), ChainError::Counter { counter: 0, least: 1 });
        assert!(matches!(refused("counter", "number"), ChainError::Json(_)));
    }

    #[test]
    fn only_the_last_key_adds_and_signs_and_never_earlier() {
        let keys: Vec<PrivateKey> = (0..6).map(|_| PrivateKey::generate().unwrap()).collect();
        let mut chain = KeyChain::default();
        for (at, pair) in keys.windows(2).take(MAX_ROTATIONS).enumerate() {
            chain = chain.and(&pair[0], &pair[1].public(), 6 + at as u32).unwrap();
        }
        let [early, last, next] = [&keys[0], &keys[4], &keys[5]].map(|key| key.public());
        assert_eq!(chain.and(&keys[4], &next, 20), Err(ChainError::Length(5)));
        let other = ChainError::End { end: last.id(), key: early.id() };
        assert_eq!(chain.and(&keys[0], &next, 20), Err(other));
        let short = KeyChain::default().and(&keys[0], &keys[1].public(), 6).unwrap();
        assert_eq!(short.and(&keys[1], &next, 5), Err(ChainError::Counter { counter: 5, least: 6 }));
        assert_eq!(
            short.and(&keys[1], &keys[1].public(), 7),
            Err(ChainError::Repeated(keys[1].public().id()))
        );
    }
}
