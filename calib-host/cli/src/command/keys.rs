//! `calib keygen`, `calib sign` and `calib verify`

use std::io::Write;
use std::path::PathBuf;

use calib_io::files::{Location, PrivateKey, Problem, PublicKey, read_artifact};
use clap::Args;
use serde_json::json;

use crate::context::Context;
use crate::error::Error;
use crate::kinds::FileKind;
use crate::next::{Given, Suggestion, on, words};
use crate::options::headings::{DATA, OUTPUT};
use crate::out::shown_path;
use crate::run::Run;

/// Make a key pair to sign artifacts.
///
/// The private key signs artifacts. The public key is built into devices.
///
/// The private key goes to FILE, readable by its owner only, and the public key to FILE.pub. Both are in PEM, as
/// OpenSSL reads and writes them (Ed25519). Anyone who has the private key can install calibrators on every device that
/// trusts it.
#[derive(Args)]
#[command(next_help_heading = OUTPUT)]
pub(crate) struct Keygen {
    /// Output file for the private key.
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,
    /// Replace existing keys. Devices that trust the old one accept nothing signed with the new one.
    #[arg(long)]
    force: bool,
    /// Print where the keys are, and the key's name, as JSON on standard output.
    #[arg(long)]
    json: bool,
}

/// Sign an artifact.
///
/// The signature covers every byte of the artifact: header, tables, counter and identity. A device that was built with
/// the public key accepts no other artifacts.
///
/// The artifact needs a higher counter (`calib fit --counter`) than every artifact signed before. A device with a key
/// refuses lower counters, and other artifacts with the same counter.
#[derive(Args)]
pub(crate) struct Sign {
    /// Artifact.
    artifact: PathBuf,
    /// Private key.
    #[arg(long, value_name = "FILE", help_heading = DATA)]
    key: PathBuf,
    /// Output file for the signed artifact.
    #[arg(short, long, value_name = "FILE", help_heading = OUTPUT)]
    output: PathBuf,
    /// Replace an existing output.
    #[arg(long, help_heading = OUTPUT)]
    force: bool,
    /// Print what was signed as JSON on standard output.
    #[arg(long, help_heading = OUTPUT)]
    json: bool,
}

/// Verify an artifact's signature, as a device does.
///
/// Exits with 1 if a device would refuse it.
#[derive(Args)]
pub(crate) struct Verify {
    /// Artifact.
    artifact: PathBuf,
    /// Public key.
    #[arg(long, value_name = "FILE", help_heading = DATA)]
    key: PathBuf,
    /// Print JSON on standard output.
    #[arg(long, help_heading = OUTPUT)]
    json: bool,
}

impl Run for Keygen {
    const TELLS: bool = true;
    const NOT_STREAMED: Option<&str> = Some("two keys are two files: give -o the name of the private one");

    fn run(self, cx: &Context) -> Result<(), Error> {
        let mut public_path = self.output.clone().into_os_string();
        public_path.push(".pub");
        let public_path = PathBuf::from(public_path);
        let key = PrivateKey::generate()?;
        key.write_pair(&self.output, &public_path, self.force)?;
        if self.json {
            return cx.print_json(&json!({
                "key": key.public().id().to_string(),
                "private_key": self.output,
                "public_key": public_path,
            }));
        }
        if !cx.quiet {
            let mut err = cx.stderr();
            writeln!(
                err,
                "key {}: {} (keep it secret), {}",
                key.public().id(),
                self.output.display(),
                public_path.display()
            )?;
        }
        Ok(())
    }

    fn next(given: &Given<'_>, _: &Context) -> Option<Suggestion> {
        let line = on("calib sign ARTIFACT --key", given.text("output")?);
        let why = "ARTIFACT: one with a counter above 0 (calib fit --counter)";
        Some((line.into_iter().chain(words("-o signed.bin")).collect(), why.into()))
    }
}

impl Run for Sign {
    const OUTPUT: Option<FileKind> = Some(FileKind::Artifact);
    const TELLS: bool = true;

    fn run(self, cx: &Context) -> Result<(), Error> {
        let key = PrivateKey::read(&self.key)?;
        let path = self.key.display();
        let warnings = PrivateKey::is_open_to_others(&self.key)?.then(|| {
            format!(
                "{path} is a private key, and users other than its owner can read or write it: use `chmod 600`"
            )
        });
        cx.warn(warnings.as_slice())?;
        let stored = read_artifact(&self.artifact)?;
        if stored.artifact().counter() == 0 {
            return Err(Error::input(Location::file(&self.artifact), Problem::NoCounter));
        }
        let signed = key
            .sign(&stored)
            .map_err(|by| Error::input(Location::file(&self.artifact), Problem::Signed(by)))?;
        cx.write_output(&self.output, self.force, &signed)?;
        let (id, counter) = (stored.artifact().identity(), stored.artifact().counter());
        if self.json {
            return cx.print_json(&json!({
                "output": self.output,
                "len_bytes": signed.len(),
                "identity": id.to_string(),
                "counter": counter,
                "key": key.public().id().to_string(),
                "warnings": warnings.as_slice(),
            }));
        }
        if !cx.quiet {
            let mut err = cx.stderr();
            writeln!(
                err,
                "{}: id {id}, counter {counter}, signed with key {}, {} bytes",
                shown_path(&self.output),
                key.public().id(),
                signed.len()
            )?;
        }
        Ok(())
    }

    fn next(given: &Given<'_>, _: &Context) -> Option<Suggestion> {
        let public = format!("{}.pub", given.text("key")?);
        let verify = on("calib verify", given.text("output")?);
        Some((verify.into_iter().chain(["--key".to_owned(), public]).collect(), "as a device does".into()))
    }
}

impl Run for Verify {
    fn run(self, cx: &Context) -> Result<(), Error> {
        let key = PublicKey::read(&self.key)?;
        let stored = read_artifact(&self.artifact)?;
        let verdict = key.verify(&stored);
        let (id, counter) = (stored.artifact().identity(), stored.artifact().counter());
        if self.json {
            cx.print_json(&json!({
                "artifact": self.artifact,
                "identity": id.to_string(),
                "counter": counter,
                "key": key.id().to_string(),
                "valid": verdict.is_ok(),
                "reason": verdict.err().map(|cause| cause.to_string()),
            }))?;
        }
        match verdict {
            Ok(()) if self.json => Ok(()),
            Ok(()) => {
                let mut out = cx.stdout();
                writeln!(
                    out,
                    "{}: id {id}, counter {counter}, signed with key {}",
                    self.artifact.display(),
                    key.id()
                )?;
                Ok(())
            }
            Err(cause) => Err(Error::Mismatch(format!(
                "{}: {cause}\n  key  {} ({})",
                self.artifact.display(),
                key.id(),
                self.key.display()
            ))),
        }
    }
}
