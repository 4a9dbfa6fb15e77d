//! `calib sign`

use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use calib_fit::{StoredArtifact, VectorKind};
use calib_io::decision_log::{Decision, Entry, LogOutputError, LogWriter, LoggedEntry};
use calib_io::files::{KeyChain, Location, PrivateKey, Problem, read_artifact};
use calib_io::protocol::{Case, measure, read_protocol};
use clap::Args;
use serde::Serialize;
use serde_json::json;

use crate::context::Context;
use crate::error::Error;
use crate::kinds::FileKind;
use crate::next::{Given, Suggestion, on};
use crate::options::headings::{DATA, OUTPUT, ROWS};
use crate::options::{ClusterColumn, SCORE_COLUMN};
use crate::out::{is_standard_output, shown_path};
use crate::read::{ColumnNames, For, NamedArtifact, RowFiles, ScoresAre};
use crate::run::Run;

/// Sign an artifact, if it keeps a protocol.
///
/// The signature covers every byte of the artifact: header, tables, counter and identity. A device that was built with
/// the public key accepts no other artifacts.
///
/// The artifact needs a higher counter (`calib fit --counter`) than every artifact signed before. A device with a key
/// refuses lower counters, and other artifacts with the same counter.
///
/// With --protocol, calib signs only an artifact that keeps every line of the protocol. It adds the decision to a log,
/// with what it measured for each line. If a line is broken, calib names it, signs nothing, and exits with 1.
#[derive(Args)]
pub(crate) struct Sign {
    /// Artifact.
    artifact: PathBuf,
    /// Private key.
    #[arg(long, value_name = "FILE", help_heading = DATA)]
    key: PathBuf,
    /// Chain that ends with the private key, for devices that were built with an earlier key (`calib rotate-key`).
    #[arg(long, value_name = "FILE", help_heading = DATA)]
    chain: Option<PathBuf>,
    #[command(flatten)]
    judged: JudgedOptions,
    /// Output file for the signed artifact.
    #[arg(short, long, value_name = "FILE", required_unless_present = "approve", help_heading = OUTPUT)]
    output: Option<PathBuf>,
    /// Replace an existing output.
    #[arg(long, help_heading = OUTPUT)]
    force: bool,
    /// Print what was signed as JSON on standard output.
    #[arg(long, help_heading = OUTPUT)]
    json: bool,
}

/// A protocol, and what the artifact is judged by.
#[derive(Args)]
struct JudgedOptions {
    /// Protocol that the artifact must keep.
    #[arg(long, value_name = "FILE", requires_all = ["test", "log"], help_heading = DATA)]
    protocol: Option<PathBuf>,
    /// Log of decisions; calib adds an entry to it.
    #[arg(long, value_name = "FILE", requires = "protocol", help_heading = DATA)]
    log: Option<PathBuf>,
    /// Artifact that is active now, to compare with.
    ///
    /// Required as soon as the log states that an artifact was signed.
    #[arg(long, value_name = "ARTIFACT", requires = "protocol", help_heading = DATA)]
    active: Option<PathBuf>,
    /// Scores of rows used for neither training nor calibration.
    #[arg(long, value_name = "FILE", requires = "protocol", help_heading = DATA)]
    test: Option<PathBuf>,
    /// Labels of the test rows, if not in the same table.
    #[arg(long, value_name = "FILE", requires = "test", help_heading = DATA)]
    test_labels: Option<PathBuf>,
    #[command(flatten)]
    cluster_column: ClusterColumn,
    /// Column of groups, if the protocol states what must hold in each group.
    #[arg(long, value_name = "NAME", requires = "test", help_heading = ROWS)]
    group_column: Option<String>,
    /// Read a matrix as logits; by default, as `calib report` does.
    #[arg(long, conflicts_with = "probs", requires = "test", help_heading = DATA, hide_short_help = true)]
    logits: bool,
    /// Read a matrix as probabilities.
    #[arg(long, requires = "test", help_heading = DATA, hide_short_help = true)]
    probs: bool,
    /// Column of scores.
    #[arg(long, default_value = SCORE_COLUMN, value_name = "NAME", help_heading = DATA, hide_short_help = true)]
    score_column: String,
    /// Column of labels.
    #[arg(long, default_value = "label", value_name = "NAME", help_heading = DATA, hide_short_help = true)]
    label_column: String,
    /// Only approve the artifact in the log, as the first of two keys that the protocol requires.
    #[arg(long, requires = "protocol", conflicts_with = "output", help_heading = OUTPUT)]
    approve: bool,
}

impl Run for Sign {
    const AT_WORK: Option<&str> = Some("signing");
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
        if let Some(protocol) = &self.judged.protocol {
            return self.by_protocol(&key, protocol, cx);
        }
        let output = self.output.as_deref().expect("clap asks for it");
        let stored = read_artifact(&self.artifact)?;
        self.check_counter(stored.artifact().counter())?;
        let stored = self.with_chain(stored, &key)?;
        let signed = key
            .sign(&stored)
            .map_err(|by| Error::input(Location::file(&self.artifact), Problem::Signed(by)))?;
        cx.write_output(output, self.force, &signed)?;
        let (id, counter) = (stored.artifact().identity(), stored.artifact().counter());
        if self.json {
            return cx.print_json(&json!({
                "output": output,
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
                shown_path(output),
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

impl Sign {
    fn check_counter(&self, counter: u32) -> Result<(), Error> {
        match counter {
            0 => Err(Error::input(Location::file(&self.artifact), Problem::NoCounter)),
            _ => Ok(()),
        }
    }

    /// The artifact with the chain of keys that is asked for.
    fn with_chain(&self, stored: StoredArtifact, key: &PrivateKey) -> Result<StoredArtifact, Error> {
        let Some(path) = &self.chain else { return Ok(stored) };
        if let Some(by) = stored.artifact().signature() {
            return Err(Error::input(Location::file(&self.artifact), Problem::Signed(by.key)));
        }
        let chain = KeyChain::read(path)?;
        chain
            .put_into(&stored, &key.public())
            .map_err(|cause| Error::input(Location::file(path), Problem::Chain(cause)))
    }

    /// Signs what keeps a protocol, and adds the decision to the log.
    fn by_protocol(&self, key: &PrivateKey, protocol: &Path, cx: &Context) -> Result<(), Error> {
        let judged = &self.judged;
        let (test, log) = judged.test.as_deref().zip(judged.log.as_deref()).expect("clap asks for both");
        if self.output.as_deref().is_some_and(is_standard_output) {
            return Err(Error::Usage("what a protocol accepts goes to a file: give -o its name".into()));
        }
        let protocol = read_protocol(protocol)?;
        let mut new = NamedArtifact::read(&self.artifact, 0)?;
        self.check_counter(new.stored.artifact().counter())?;
        new.stored = self.with_chain(new.stored, key)?;
        let artifact = new.stored.artifact();
        if let Some(signature) = artifact.signature() {
            return Err(Error::input(Location::file(&self.artifact), Problem::Signed(signature.key)));
        }
        let active = judged.active.as_deref().map(read_artifact).transpose()?;
        let mut writer = LogWriter::open(log)?;
        let rows = RowFiles {
            scores: (test, ScoresAre::of_artifact(&new, judged.kind())),
            labels: judged.test_labels.as_deref(),
            columns: ColumnNames {
                score: &judged.score_column,
                label: &judged.label_column,
                clusters: judged.cluster_column.source(None),
                groups: judged.group_column.as_deref(),
                points: None,
            },
        };
        let rows = rows.read(For::Artifact(&new), cx)?;
        let data_sha256 = new.stored.sample().is_none().then(|| rows.sha256());
        let measured = measure(&protocol, (&new.stored, active.as_ref()), &rows.data, data_sha256)
            .map_err(|cause| Error::assess(cause, test, new.path))?;
        let public = key.public();
        let history = writer.log().history(&protocol, &new.stored, &measured, &public);
        let case = Case {
            new: &new.stored,
            active: active.as_ref(),
            measured: &measured,
            key: &public,
            approves: judged.approve,
            history: &history,
        };
        let output = self.output.as_deref();
        let place = output.map(|path| (path, self.force));
        let logged = writer.decide(key, &protocol, &case, (place, now())).map_err(|cause| match cause {
            LogOutputError::Output(cause) => Error::from(cause),
            LogOutputError::Log(cause) => cause.into(),
            cause => Error::Usage(cause.to_string()),
        })?;
        self.tell(&logged, log, cx)
    }

    fn tell(&self, logged: &LoggedEntry, log: &Path, cx: &Context) -> Result<(), Error> {
        #[derive(Serialize)]
        struct Json<'a> {
            output: Option<&'a Path>,
            log: &'a Path,
            head: &'a str,
            entry: &'a Entry,
        }
        let LoggedEntry { entry, sha256: head, .. } = logged;
        let output = self.output.as_deref().filter(|_| entry.decision == Decision::Signed);
        if self.json {
            cx.print_json(&Json { output, log, head, entry })?;
        } else if !cx.quiet {
            let mut err = cx.stderr();
            entry.lines.iter().try_for_each(|line| writeln!(err, "{line}"))?;
            let what = match entry.decision {
                Decision::Signed => format!("{}: signed", output.unwrap_or(log).display()),
                Decision::Approved => format!("{}: approved, and not signed yet", self.artifact.display()),
                Decision::Refused => format!("{}: not signed", self.artifact.display()),
            };
            writeln!(err, "{what}; entry {} of {}, head {head}", entry.number, log.display())?;
        }
        if entry.decision != Decision::Refused {
            return Ok(());
        }
        let broken: Vec<&str> =
            entry.lines.iter().filter(|line| !line.kept).map(|line| line.line.as_str()).collect();
        Err(Error::Mismatch(format!(
            "{}: the protocol {:?} does not accept it: {}",
            self.artifact.display(),
            entry.protocol.name,
            broken.join(", ")
        )))
    }
}

impl JudgedOptions {
    fn kind(&self) -> Option<VectorKind> {
        match self.logits {
            true => Some(VectorKind::Logits),
            false => self.probs.then_some(VectorKind::Probs),
        }
    }
}

/// The time in seconds since 1970; that of `SOURCE_DATE_EPOCH`, if it is set, so that the same inputs give the same log.
fn now() -> u64 {
    let stated = std::env::var("SOURCE_DATE_EPOCH").ok().and_then(|text| text.parse().ok());
    let clock = || SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
    stated.unwrap_or_else(clock)
}
