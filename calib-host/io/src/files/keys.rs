//! Keys in files, and signatures on artifacts.

use std::fmt;
use std::fs;
use std::io::{self, Write};
use std::path::Path;
use std::str::FromStr;

use calib_core::artifact::{KeyId, SIGNATURE_SECTION_LEN, sign};
use calib_core::slot::{Rotation, SignatureError, Trust};
use calib_core::{Artifact, TrustedKey};
use calib_fit::artifact::StoredArtifact;
use ed25519_dalek::pkcs8::spki::der::pem::LineEnding;
use ed25519_dalek::pkcs8::{
    DecodePrivateKey, DecodePublicKey, EncodePrivateKey, EncodePublicKey, KeypairBytes,
};
use ed25519_dalek::{Signature, Signer, SigningKey, VerifyingKey};

use super::error::FileError;
use super::location::Location;
use super::output::{OutputError, PUBLIC, Prepared, SECRET, is_secret, lock_folder_of};
use super::problem::Problem;
use super::read::read_limited;

/// The longest file that is read as a key.
const MAX_KEY_LEN: u64 = 1 << 16;

/// A private key for signing artifacts (Ed25519, RFC 8032); in a file as PKCS#8 in PEM, as OpenSSL writes it.
///
/// ```
/// use calib_io::files::PrivateKey;
/// # use calib_fit::{BinaryData, BinaryMethod, StoredArtifact, Umd, artifact_bytes, fit_binary};
/// # let scores = (0..400).map(|i| f64::from(i) / 400.0).collect();
/// # let data = BinaryData::new(scores, (0..400).map(|i| i % 40 < i / 20).collect())?;
/// # let fit = fit_binary(&data, &BinaryMethod::Umd(Umd::new(4)), 0.1)?;
/// # let artifact = StoredArtifact::from_bytes(&artifact_bytes(&fit, &Default::default())?)?;
///
/// let key = PrivateKey::generate()?;
/// let signed = key.sign(&artifact).expect("nobody has signed it yet");
/// assert_eq!(key.public().verify(&StoredArtifact::from_bytes(&signed)?), Ok(()));
/// assert!(key.public().verify(&artifact).is_err());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct PrivateKey(SigningKey);

/// A public key for verifying artifacts; in a file as SubjectPublicKeyInfo in PEM.
///
/// As text it is the line between the first and the last line of that file.
#[derive(Clone, Copy, Debug)]
pub struct PublicKey {
    key: VerifyingKey,
    trusted: TrustedKey,
}

/// Puts two keys in their places. Interrupted in between, a private key has no public one rather than that of another.
fn commit_pair(
    (private, path): (Prepared, &Path),
    (public, public_path): (Prepared, &Path),
    overwrite: bool,
    remove: impl Fn(&Path) -> io::Result<()>,
) -> Result<(), OutputError> {
    let there_was_none = |error: &io::Error| error.kind() == io::ErrorKind::NotFound;
    if overwrite {
        remove(public_path)
            .or_else(|error| if there_was_none(&error) { Ok(()) } else { Err(error) })
            .map_err(|source| OutputError::Io { path: public_path.into(), source })?;
    }
    private.commit()?;
    public.commit().map_err(|cause| {
        // Without overwriting nothing was there before, and nothing is there again.
        match !overwrite && remove(path).is_ok() {
            true => cause,
            false => OutputError::OnlyPrivateKey { path: path.into(), cause: Box::new(cause) },
        }
    })
}

/// The operating system has no random numbers.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the operating system gives no random numbers: {0}")]
pub struct RandomError(String);

impl PrivateKey {
    /// Makes a key from the operating system's random numbers.
    ///
    /// # Errors
    ///
    /// If it has none.
    pub fn generate() -> Result<Self, RandomError> {
        let mut seed = [0; 32];
        getrandom::fill(&mut seed).map_err(|cause| RandomError(cause.to_string()))?;
        Ok(Self(SigningKey::from_bytes(&seed)))
    }

    /// Reads a key.
    ///
    /// # Errors
    ///
    /// If the file cannot be read, or holds no private Ed25519 key.
    pub fn read(path: &Path) -> Result<Self, FileError> {
        let pem = read_pem(path, true)?;
        match SigningKey::from_pkcs8_pem(&pem) {
            Ok(key) => Ok(Self(key)),
            Err(_) => {
                let encrypted = pem.starts_with("-----BEGIN ENCRYPTED PRIVATE KEY-----");
                let problem = if encrypted { Problem::EncryptedKey } else { Problem::Key { private: true } };
                Err(FileError::input(Location::file(path), problem))
            }
        }
    }

    /// Whether others than its owner may read or write the file of a private key, where files say so.
    ///
    /// # Errors
    ///
    /// If the file is not there.
    pub fn is_open_to_others(path: &Path) -> Result<bool, FileError> {
        let meta = fs::metadata(path).map_err(|source| FileError::Read { path: path.into(), source })?;
        Ok(cfg!(unix) && !is_secret(&meta))
    }

    /// Writes the key so that only its owner can read it, and its public key: both, or neither.
    ///
    /// # Errors
    ///
    /// If one cannot be written, or exists and is not to be replaced.
    pub fn write_pair(&self, path: &Path, public_path: &Path, overwrite: bool) -> Result<(), OutputError> {
        // Without the public key, which OpenSSL 3.0 does not read in the same file.
        let pair = KeypairBytes { secret_key: self.0.to_bytes(), public_key: None };
        let pem = pair.to_pkcs8_pem(LineEnding::LF).expect("every key has a PEM");
        // A public key whose private key is lost locks out the devices that are built with it: both are on the disk before
        // either is in its place.
        let private = Prepared::new(SECRET, path, overwrite, |out| out.write_all(pem.as_bytes()))?;
        let public = self.public().prepare(public_path, overwrite)?;
        let _lock = lock_folder_of(path);
        commit_pair((private, path), (public, public_path), overwrite, |path| fs::remove_file(path))
    }

    /// The public key that goes with it.
    pub fn public(&self) -> PublicKey {
        PublicKey::of(self.0.verifying_key()).expect("a public key made of a private one is strong")
    }

    /// Signs an artifact, and returns the signed one.
    ///
    /// # Errors
    ///
    /// If it is signed already: the name of the key.
    pub fn sign(&self, artifact: &StoredArtifact) -> Result<Vec<u8>, KeyId> {
        if let Some(signature) = artifact.artifact().signature() {
            return Err(signature.key);
        }
        let bytes = artifact.as_bytes();
        let mut signed = vec![0; bytes.len() + SIGNATURE_SECTION_LEN];
        signed[..bytes.len()].copy_from_slice(bytes);
        let with_key = |part: calib_core::artifact::SignedPart<'_>| self.0.sign(&part.message()).to_bytes();
        sign(&mut signed, bytes.len(), self.public().id(), with_key).expect("there is room for it");
        Ok(signed)
    }

    /// States that another key takes the place of this one in artifacts whose counter is at least this one.
    pub fn name(&self, next: &PublicKey, counter: u32) -> Rotation {
        let next = next.to_bytes();
        let signature = self.0.sign(&Rotation::message(&next, counter)).to_bytes();
        Rotation { next, counter, signature }
    }

    /// Signs a payload that is no artifact, as DSSE does: its type is signed with it, and so no signature passes for one of something else.
    ///
    /// ```
    /// use calib_io::files::PrivateKey;
    ///
    /// let key = PrivateKey::generate()?;
    /// let signature = key.sign_payload("text/plain", b"yes");
    /// assert!(key.public().signed_payload("text/plain", b"yes", &signature));
    /// assert!(!key.public().signed_payload("text/html", b"yes", &signature));
    /// # Ok::<(), calib_io::files::RandomError>(())
    /// ```
    pub fn sign_payload(&self, payload_type: &str, payload: &[u8]) -> [u8; 64] {
        self.0.sign(&pre_authentication(payload_type, payload)).to_bytes()
    }
}

/// What DSSE 1.0 signs.
fn pre_authentication(payload_type: &str, payload: &[u8]) -> Vec<u8> {
    let head = format!("DSSEv1 {} {payload_type} {} ", payload_type.len(), payload.len());
    [head.as_bytes(), payload].concat()
}

impl PublicKey {
    /// Reads a key.
    ///
    /// # Errors
    ///
    /// If the file cannot be read, or holds no public Ed25519 key.
    pub fn read(path: &Path) -> Result<Self, FileError> {
        let pem = read_pem(path, false)?;
        Self::from_pem(&pem)
            .ok_or_else(|| FileError::input(Location::file(path), Problem::Key { private: false }))
    }

    /// The key in the text of a file; `None` if it is no public Ed25519 key.
    pub fn from_pem(pem: &str) -> Option<Self> {
        Self::of(VerifyingKey::from_public_key_pem(pem).ok()?)
    }

    /// The key with these 32 bytes; `None` if they are no public Ed25519 key.
    pub fn from_bytes(bytes: &[u8; 32]) -> Option<Self> {
        Self::of(VerifyingKey::from_bytes(bytes).ok()?)
    }

    fn of(key: VerifyingKey) -> Option<Self> {
        let trusted = TrustedKey::new(key.as_bytes()).ok()?;
        Some(Self { key, trusted })
    }

    /// Whether the key made a statement with [`PrivateKey::name`].
    pub fn named(&self, rotation: &Rotation) -> bool {
        let message = Rotation::message(&rotation.next, rotation.counter);
        self.key.verify_strict(&message, &Signature::from_bytes(&rotation.signature)).is_ok()
    }

    /// The text of the key's file.
    pub fn to_pem(&self) -> String {
        self.key.to_public_key_pem(LineEnding::LF).expect("every key has a PEM")
    }

    /// Whether the key made a signature with [`PrivateKey::sign_payload`].
    pub fn signed_payload(&self, payload_type: &str, payload: &[u8], signature: &[u8; 64]) -> bool {
        let message = pre_authentication(payload_type, payload);
        self.key.verify_strict(&message, &Signature::from_bytes(signature)).is_ok()
    }

    /// Writes the key.
    ///
    /// # Errors
    ///
    /// If it cannot be written, or exists and is not to be replaced.
    pub fn write(&self, path: &Path, overwrite: bool) -> Result<(), OutputError> {
        self.prepare(path, overwrite)?.commit()
    }

    fn prepare(&self, path: &Path, overwrite: bool) -> Result<Prepared, OutputError> {
        let pem = self.to_pem();
        Prepared::new(PUBLIC, path, overwrite, |out| out.write_all(pem.as_bytes()))
    }

    /// The key's name.
    pub fn id(&self) -> KeyId {
        self.trusted.id()
    }

    /// The 32 bytes that a device is built with.
    pub fn to_bytes(&self) -> [u8; 32] {
        self.key.to_bytes()
    }

    /// Verifies an artifact's signature, as a device does.
    ///
    /// # Errors
    ///
    /// If the device would not accept it.
    pub fn verify(&self, artifact: &StoredArtifact) -> Result<(), SignatureError> {
        let parsed: Artifact<'_> = artifact.artifact();
        self.trusted.check(&parsed, artifact.as_bytes())
    }
}

impl PartialEq for PublicKey {
    fn eq(&self, other: &Self) -> bool {
        self.key == other.key
    }
}

impl Eq for PublicKey {}

impl fmt::Display for PublicKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.to_pem().lines().nth(1).unwrap_or_default())
    }
}

/// A text is no public key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not the line between the first and the last line of the file of a public Ed25519 key")]
pub struct NotAPublicKey;

impl FromStr for PublicKey {
    type Err = NotAPublicKey;

    fn from_str(text: &str) -> Result<Self, NotAPublicKey> {
        let pem = format!("-----BEGIN PUBLIC KEY-----\n{text}\n-----END PUBLIC KEY-----\n");
        // One key has one text.
        Self::from_pem(&pem).filter(|key| key.to_string() == text).ok_or(NotAPublicKey)
    }
}

impl fmt::Debug for PrivateKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("PrivateKey").field(&self.public().id()).finish()
    }
}

fn read_pem(path: &Path, private: bool) -> Result<String, FileError> {
    let no_key = || FileError::input(Location::file(path), Problem::Key { private });
    let bytes = read_limited(path, MAX_KEY_LEN).map_err(|error| match error {
        FileError::Input { .. } => no_key(),
        error => error,
    })?;
    let is_der = match private {
        true => SigningKey::from_pkcs8_der(&bytes).is_ok(),
        false => VerifyingKey::from_public_key_der(&bytes).is_ok(),
    };
    if is_der {
        return Err(FileError::input(Location::file(path), Problem::DerKey { private }));
    }
    let text = String::from_utf8(bytes).map_err(|_| no_key())?;
    // RFC 7468 allows text before the first line of the key.
    let start = text.find("-----BEGIN ").unwrap_or(0);
    Ok(text[start..].to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pair(folder: &Path, key: &PrivateKey, overwrite: bool) -> [(Prepared, std::path::PathBuf); 2] {
        let [path, public_path] = ["key", "key.pub"].map(|name| folder.join(name));
        let private = Prepared::new(SECRET, &path, overwrite, |out| out.write_all(b"private")).unwrap();
        [(private, path), (key.public().prepare(&public_path, overwrite).unwrap(), public_path)]
    }

    fn committed(
        [private, public]: [(Prepared, std::path::PathBuf); 2],
        overwrite: bool,
        remove: impl Fn(&Path) -> io::Result<()>,
    ) -> Result<(), OutputError> {
        commit_pair((private.0, &private.1), (public.0, &public.1), overwrite, remove)
    }

    /// Whatever stops it, no private key stands beside the public key of another.
    #[test]
    fn a_pair_that_is_half_written_is_told() {
        let key = PrivateKey::generate().unwrap();
        let folder = tempfile::tempdir().unwrap();
        let [path, public_path] = ["key", "key.pub"].map(|name| folder.path().join(name));
        let denied = |_: &Path| Err(io::Error::from(io::ErrorKind::PermissionDenied));

        // A public key of another that stays where it is: the private key is not replaced either.
        fs::write(&path, "old private").unwrap();
        fs::write(&public_path, "old public").unwrap();
        let kept = committed(pair(folder.path(), &key, true), true, denied);
        assert!(matches!(kept, Err(OutputError::Io { path, .. }) if path == public_path));
        assert_eq!(fs::read_to_string(&path).unwrap(), "old private");
        assert_eq!(fs::read_to_string(&public_path).unwrap(), "old public");

        // The public key cannot be put in its place, where a folder is meanwhile.
        let blocked = |path: &Path| {
            fs::remove_file(path)?;
            fs::create_dir(path)
        };
        let alone = committed(pair(folder.path(), &key, true), true, blocked);
        assert!(matches!(&alone, Err(OutputError::OnlyPrivateKey { .. })), "{alone:?}");
        assert_eq!(fs::read_to_string(&path).unwrap(), "private");
        fs::remove_dir(&public_path).unwrap();

        // Without a public key there is nothing to remove.
        committed(pair(folder.path(), &key, true), true, |path| fs::remove_file(path)).unwrap();
        fs::remove_file(&path).unwrap();
        fs::remove_file(&public_path).unwrap();

        // Someone else writes the public key first: neither stays, or what stays is told.
        for (removes, stays) in [(true, false), (false, true)] {
            let prepared = pair(folder.path(), &key, false);
            fs::write(&public_path, "of another").unwrap();
            let refused =
                committed(prepared, false, |path| if removes { fs::remove_file(path) } else { denied(path) });
            assert_eq!(matches!(refused, Err(OutputError::OnlyPrivateKey { .. })), stays, "{refused:?}");
            assert_eq!(path.exists(), stays);
            assert_eq!(fs::read_to_string(&public_path).unwrap(), "of another");
            fs::remove_file(&public_path).unwrap();
        }
    }

    #[test]
    fn a_key_in_der_is_told_as_that() {
        let key = PrivateKey::generate().unwrap();
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("key.der");
        fs::write(&path, key.0.to_pkcs8_der().unwrap().as_bytes()).unwrap();
        let is_der = |error: FileError, of: bool| matches!(error, FileError::Input { problem: Problem::DerKey { private }, .. } if private == of);
        assert!(is_der(PrivateKey::read(&path).unwrap_err(), true));
        fs::write(&path, key.public().key.to_public_key_der().unwrap().as_bytes()).unwrap();
        assert!(is_der(PublicKey::read(&path).unwrap_err(), false));
        assert!(!is_der(PrivateKey::read(&path).unwrap_err(), true));
    }
}
