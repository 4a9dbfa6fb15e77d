//! Keys in files, and signatures on artefacts.

use std::fs;
use std::path::Path;

use calib_core::artifact::{KeyId, SIGNATURE_SECTION_LEN, sign};
use calib_core::slot::{SignatureError, Trust};
use calib_core::{Artifact, TrustedKey};
use ed25519_dalek::pkcs8::spki::der::pem::LineEnding;
use ed25519_dalek::pkcs8::{
    DecodePrivateKey, DecodePublicKey, EncodePrivateKey, EncodePublicKey, KeypairBytes,
};
use ed25519_dalek::{Signer, SigningKey, VerifyingKey};

use crate::StoredArtifact;
use crate::error::{Error, Place};
use crate::output::{write_file, write_secret_file};
use crate::problem::Problem;

/// The longest file that is read as a key.
const MAX_KEY_LEN: u64 = 1 << 16;

/// A private key for signing artefacts (Ed25519, RFC 8032); in a file as PKCS#8 in PEM, as OpenSSL writes it.
pub struct PrivateKey(SigningKey);

/// A public key for verifying artefacts; in a file as SubjectPublicKeyInfo in PEM.
#[derive(Clone, Copy, Debug)]
pub struct PublicKey {
    key: VerifyingKey,
    trusted: TrustedKey,
}

impl PrivateKey {
    /// Makes a key from the operating system's random numbers.
    ///
    /// # Errors
    ///
    /// If it has none.
    pub fn generate() -> Result<Self, Error> {
        let mut seed = [0; 32];
        getrandom::fill(&mut seed).map_err(|cause| Error::Random(cause.to_string()))?;
        Ok(Self(SigningKey::from_bytes(&seed)))
    }

    /// Reads a key.
    ///
    /// # Errors
    ///
    /// If the file cannot be read, or holds no private Ed25519 key.
    pub fn read(path: &Path) -> Result<Self, Error> {
        let pem = read_pem(path)?;
        match SigningKey::from_pkcs8_pem(&pem) {
            Ok(key) => Ok(Self(key)),
            Err(_) => Err(Error::input(Place::file(path), Problem::Key { private: true })),
        }
    }

    /// Writes the key so that only its owner can read it.
    ///
    /// # Errors
    ///
    /// If it cannot be written, or exists and is not to be replaced.
    pub fn write(&self, path: &Path, overwrite: bool) -> Result<(), Error> {
        // Without the public key, which OpenSSL 3.0 does not read in the same file.
        let pair = KeypairBytes { secret_key: self.0.to_bytes(), public_key: None };
        let pem = pair.to_pkcs8_pem(LineEnding::LF).expect("every key has a PEM");
        Ok(write_secret_file(path, overwrite, |out| out.write_all(pem.as_bytes()))?)
    }

    /// The public key that goes with it.
    pub fn public(&self) -> PublicKey {
        let key = self.0.verifying_key();
        let trusted = TrustedKey::new(key.as_bytes()).expect("a public key made of a private one is strong");
        PublicKey { key, trusted }
    }

    /// Signs an artefact, and returns the signed one.
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
}

impl PublicKey {
    /// Reads a key.
    ///
    /// # Errors
    ///
    /// If the file cannot be read, or holds no public Ed25519 key.
    pub fn read(path: &Path) -> Result<Self, Error> {
        let pem = read_pem(path)?;
        let key = VerifyingKey::from_public_key_pem(&pem).ok();
        let trusted = key.and_then(|key| TrustedKey::new(key.as_bytes()).ok());
        match key.zip(trusted) {
            Some((key, trusted)) => Ok(Self { key, trusted }),
            None => Err(Error::input(Place::file(path), Problem::Key { private: false })),
        }
    }

    /// Writes the key.
    ///
    /// # Errors
    ///
    /// If it cannot be written, or exists and is not to be replaced.
    pub fn write(&self, path: &Path, overwrite: bool) -> Result<(), Error> {
        let pem = self.key.to_public_key_pem(LineEnding::LF).expect("every key has a PEM");
        Ok(write_file(path, overwrite, |out| out.write_all(pem.as_bytes()))?)
    }

    /// The key's name.
    pub fn id(&self) -> KeyId {
        self.trusted.id()
    }

    /// The 32 bytes that a device is built with.
    pub fn to_bytes(&self) -> [u8; 32] {
        self.key.to_bytes()
    }

    /// Verifies an artefact's signature, as a device does.
    ///
    /// # Errors
    ///
    /// If the device would not accept it.
    pub fn verify(&self, artifact: &StoredArtifact) -> Result<(), SignatureError> {
        let parsed: Artifact<'_> = artifact.artifact();
        self.trusted.check(&parsed, artifact.as_bytes())
    }
}

impl std::fmt::Debug for PrivateKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("PrivateKey").field(&self.public().id()).finish()
    }
}

fn read_pem(path: &Path) -> Result<String, Error> {
    let read_error = |source| Error::Read { path: path.into(), source };
    if fs::metadata(path).map_err(read_error)?.len() > MAX_KEY_LEN {
        return Err(Error::input(Place::file(path), Problem::Key { private: false }));
    }
    let bytes = fs::read(path).map_err(read_error)?;
    String::from_utf8(bytes).map_err(|_| Error::input(Place::file(path), Problem::NotUtf8))
}
