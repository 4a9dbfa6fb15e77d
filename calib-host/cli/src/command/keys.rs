//! `calib keygen` and `calib verify`

use std::io::Write;
use std::path::{Path, PathBuf};

use calib_fit::StoredArtifact;
use calib_io::decision_log::Decision;
use calib_io::files::{KeyChain, Location, PrivateKey, Problem, PublicKey, read_artifact};
use clap::Args;
use serde::Serialize;
use serde_json::json;

use crate::context::Context;
use crate::error::Error;
use crate::next::{Given, Suggestion, on, words};
use crate::options::Demanded;
use crate::options::headings::{DATA, OUTPUT};
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

/// Name the key that takes the place of another one.
///
/// The owner of the old key states that the next key takes its place, in artifacts whose counter is --counter or higher.
/// Artifacts that are signed with the next key contain the statement (`calib sign --chain`), and devices with the old
/// key accept them.
///
/// As soon as such an artifact is installed on a device, the device refuses what the old key signs.
#[derive(Args)]
pub(crate) struct RotateKey {
    /// Private key that is replaced.
    #[arg(long, value_name = "FILE", help_heading = DATA)]
    key: PathBuf,
    /// Public key that takes its place.
    #[arg(long, value_name = "FILE", help_heading = DATA)]
    next: PathBuf,
    /// Chain that ends with the replaced key, if that key took the place of another one.
    #[arg(long, value_name = "FILE", help_heading = DATA)]
    chain: Option<PathBuf>,
    /// Least counter of artifacts that the next key signs.
    #[arg(long, value_name = "N", help_heading = DATA)]
    counter: u32,
    /// Output file for the chain.
    #[arg(short, long, value_name = "FILE", help_heading = OUTPUT)]
    output: PathBuf,
    /// Replace an existing output.
    #[arg(long, help_heading = OUTPUT)]
    force: bool,
    /// Print the keys as JSON on standard output.
    #[arg(long, help_heading = OUTPUT)]
    json: bool,
}

/// Verify a signature, as a device does, and a log of decisions.
///
/// Exits with 1 if a device would refuse the artifact, or if the log does not state that it was signed under the
/// protocol.
#[derive(Args)]
pub(crate) struct Verify {
    /// Artifact.
    #[arg(required_unless_present = "log")]
    artifact: Option<PathBuf>,
    /// Public key.
    #[arg(long, value_name = "FILE", required_unless_present = "log", requires = "artifact", help_heading = DATA)]
    key: Option<PathBuf>,
    #[command(flatten)]
    demanded: Demanded,
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

impl Run for RotateKey {
    const TELLS: bool = true;
    const NOT_STREAMED: Option<&str> = Some("a chain is kept for later: give -o its name");

    fn run(self, cx: &Context) -> Result<(), Error> {
        let (key, next) = (PrivateKey::read(&self.key)?, PublicKey::read(&self.next)?);
        let before = self.chain.as_deref().map(KeyChain::read).transpose()?.unwrap_or_default();
        let place = self.chain.as_deref().unwrap_or(&self.next);
        let chain = before
            .and(&key, &next, self.counter)
            .map_err(|cause| Error::input(Location::file(place), Problem::Chain(cause)))?;
        chain.write(&self.output, self.force)?;
        let (old, statements) = (key.public().id(), chain.rotations().len());
        if self.json {
            #[derive(Serialize)]
            struct Json<'a> {
                output: &'a Path,
                key: String,
                next: String,
                counter: u32,
                statements: usize,
            }
            let (key, next) = (old.to_string(), next.id().to_string());
            let (output, counter) = (&*self.output, self.counter);
            return cx.print_json(&Json { output, key, next, counter, statements });
        }
        if !cx.quiet {
            writeln!(
                cx.stderr(),
                "{}: key {} takes the place of key {old} from counter {} on; statements: {statements}",
                self.output.display(),
                next.id(),
                self.counter
            )?;
        }
        Ok(())
    }

    fn next(given: &Given<'_>, _: &Context) -> Option<Suggestion> {
        let line = on("calib sign ARTIFACT --key NEXT --chain", given.text("output")?);
        let why = "NEXT: the private key that goes with --next";
        Some((line.into_iter().chain(words("-o signed.bin")).collect(), why.into()))
    }
}

impl Run for Verify {
    fn run(self, cx: &Context) -> Result<(), Error> {
        let stored = self.artifact.as_deref().map(read_artifact).transpose()?;
        if let Some((path, stored, key)) = self
            .artifact
            .as_deref()
            .zip(stored.as_ref())
            .zip(self.key.as_deref())
            .map(|((path, stored), key)| (path, stored, key))
        {
            self.signature(path, stored, key, cx)?;
        }
        let named = self.artifact.as_deref().zip(stored.as_ref());
        let Some((path, log)) = self.demanded.check(named)? else { return Ok(()) };
        let entries = log.entries();
        let signed = entries.iter().filter(|logged| logged.entry.decision == Decision::Signed).count();
        if self.json {
            return cx.print_json(
                &json!({"log": path, "entries": entries.len(), "signed": signed, "head": log.head()}),
            );
        }
        let head = log.head().unwrap_or("none");
        Ok(writeln!(
            cx.stdout(),
            "{}: {} entries, {signed} signed, in order; head {head}",
            path.display(),
            entries.len()
        )?)
    }
}

impl Verify {
    fn signature(
        &self,
        path: &Path,
        stored: &StoredArtifact,
        key_path: &Path,
        cx: &Context,
    ) -> Result<(), Error> {
        let key = PublicKey::read(key_path)?;
        let verdict = key.verify(stored);
        let (id, counter) = (stored.artifact().identity(), stored.artifact().counter());
        if self.json {
            cx.print_json(&json!({
                "artifact": path,
                "identity": id.to_string(),
                "counter": counter,
                "key": key.id().to_string(),
                "signed_with": stored.artifact().signature().map(|signature| signature.key.to_string()),
                "valid": verdict.is_ok(),
                "reason": verdict.err().map(|cause| cause.to_string()),
            }))?;
        }
        match verdict {
            Ok(()) if self.json => Ok(()),
            Ok(()) => {
                let by = stored.artifact().signature().map_or(key.id(), |signature| signature.key);
                let place = match by == key.id() {
                    true => String::new(),
                    false => format!(", which took the place of key {}", key.id()),
                };
                Ok(writeln!(
                    cx.stdout(),
                    "{}: id {id}, counter {counter}, signed with key {by}{place}",
                    path.display()
                )?)
            }
            Err(cause) => Err(Error::Mismatch(format!(
                "{}: {cause}\n  key  {} ({})",
                path.display(),
                key.id(),
                key_path.display()
            ))),
        }
    }
}
