//! A folder to work in, and the command run there.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use crate::transcript::{add, said};
use serde_json::Value;
use tempfile::TempDir;

/// A fresh folder.
pub(crate) struct Workplace(TempDir);

/// What a run of the command left on the screen.
#[derive(Debug)]
pub(crate) struct Run {
    pub(crate) code: i32,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Workplace {
    pub(crate) fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    pub(crate) fn path(&self) -> &Path {
        self.0.path()
    }

    /// Writes a file; returns the folder again.
    pub(crate) fn with(self, name: &str, content: impl AsRef<[u8]>) -> Self {
        std::fs::write(self.path().join(name), content).unwrap();
        self
    }

    pub(crate) fn bytes(&self, name: &str) -> Vec<u8> {
        std::fs::read(self.path().join(name)).unwrap()
    }

    pub(crate) fn text(&self, name: &str) -> String {
        String::from_utf8(self.bytes(name)).unwrap()
    }

    /// A CSV file's header and rows.
    pub(crate) fn table(&self, name: &str) -> (Vec<String>, Vec<Vec<String>>) {
        let mut reader = csv::Reader::from_path(self.path().join(name)).unwrap();
        let header = reader.headers().unwrap().iter().map(str::to_owned).collect();
        let rows = reader.records().map(|row| row.unwrap().iter().map(str::to_owned).collect());
        (header, rows.collect())
    }

    /// What `calib apply` says at its end.
    pub(crate) fn applied(&self, output: &str) -> String {
        let (len, rows) = (self.bytes(output).len(), self.table(output).1.len());
        format!(
            "{rows} rows read, {rows} written\nwrote {output}, {len} bytes\nnext: calib assess --probs {output}\n      if its rows have labels: how good the \
             probabilities are\n"
        )
    }

    /// Every file with its content; a folder has none.
    pub(crate) fn everything(&self) -> BTreeMap<String, Option<Vec<u8>>> {
        let entries = self.path().read_dir().unwrap().map(|entry| {
            let entry = entry.unwrap();
            let content = entry.file_type().unwrap().is_file().then(|| std::fs::read(entry.path()).unwrap());
            (entry.file_name().into_string().unwrap(), content)
        });
        entries.collect()
    }

    /// The command with arguments separated by spaces, not run yet.
    pub(crate) fn command(&self, args: &str) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_calib"));
        command.args(args.split_whitespace()).current_dir(self.path()).stdin(Stdio::null());
        command
    }

    /// Runs the command line `calib ...`.
    pub(crate) fn run(&self, line: &str) -> Run {
        let args = line.strip_prefix("calib ").expect("a line that starts with calib");
        self.command(args).output().unwrap().into()
    }

    /// Runs a command line, and writes it and what it printed into the test's transcript.
    pub(crate) fn says(&self, line: &str) -> Run {
        let run = self.run(line);
        add(line, &run);
        run
    }
    /// Runs a command line that must succeed.
    #[track_caller]
    pub(crate) fn ok(&self, line: &str) -> Run {
        let run = self.run(line);
        assert_eq!(run.code, 0, "{line}\n{}", run.stderr);
        run
    }

    /// Runs a command line that must print JSON, and nothing else, on standard output.
    #[track_caller]
    pub(crate) fn json(&self, line: &str) -> Value {
        self.ok(line).json()
    }

    /// What `calib inspect --json` says about an artifact.
    #[track_caller]
    pub(crate) fn inspect(&self, artifact: &str) -> Value {
        self.json(&format!("calib inspect {artifact} --json"))
    }
}

impl Drop for Workplace {
    fn drop(&mut self) {
        // What a failed test said is of no other test of this thread.
        if std::thread::panicking() {
            said();
        }
    }
}
impl Run {
    /// What it said on standard error, on one line.
    pub(crate) fn words(&self) -> String {
        self.stderr.split_whitespace().collect::<Vec<_>>().join(" ")
    }

    #[track_caller]
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.stdout).expect("standard output is one JSON value")
    }
}

impl From<Output> for Run {
    fn from(output: Output) -> Self {
        let text = |bytes| String::from_utf8(bytes).expect("the command prints UTF-8");
        Self {
            code: output.status.code().expect("the command was not killed"),
            stdout: text(output.stdout),
            stderr: text(output.stderr),
        }
    }
}
