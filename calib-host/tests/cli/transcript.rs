//! What commands said, one after the other: a snapshot holds it, word for word.
//!
//! `INSTA_UPDATE=always cargo test -p calib-host --test cli` writes the snapshots anew.

use std::fmt::Write;

use crate::refusal::{File, MATRIX, TOP, good};
use crate::workplace::{Run, Workplace};

/// Lines of commands with what they print.
#[derive(Debug, Default)]
pub(crate) struct Transcript(pub(crate) String);

impl Transcript {
    /// Writes a line of text.
    pub(crate) fn note(&mut self, words: &str) {
        writeln!(self.0, "{words}").unwrap();
    }

    /// Writes a command and what it printed.
    pub(crate) fn add(&mut self, line: &str, run: &Run) {
        let Run { code, stdout, stderr } = run;
        // clap's lines of usage are its own affair.
        let said = stderr.lines().filter(|line| !line.starts_with("Usage: "));
        let said: String = said.map(|line| format!("{line}\n")).collect();
        write!(self.0, "$ {line}\n{stdout}{said}").unwrap();
        match code {
            0 => writeln!(self.0).unwrap(),
            code => writeln!(self.0, "exit code {code}\n").unwrap(),
        }
    }

    /// Runs a command line that is refused, in a folder with `good` files and some of the case's own. If its output is `out`,
    /// twice: there must be no output after it, and an output that was there must be as it was.
    #[track_caller]
    pub(crate) fn refused(&mut self, files: &[File], line: &str) {
        let place = || files.iter().fold(good(), |place, (name, content)| place.with(name, content));
        let check = |place: Workplace, line: &str| {
            let before = place.everything();
            let run = place.run(line);
            assert!(run.code != 0 && run.stdout.is_empty(), "{line}: {run:?}");
            assert!(place.everything() == before, "{line}: files were made or changed");
            run
        };
        for (name, content) in files {
            // Of a binary file, and of a long one, the test says what is in it.
            let text =
                std::str::from_utf8(content).ok().filter(|text| text.len() < 120 && !text.contains('\0'));
            text.inspect(|text| self.note(&format!("{name}: {text:?}")));
        }
        let run = check(place(), line);
        if line.contains(" -o out") {
            let again = check(place().with("out", "old"), &format!("{line} --force"));
            assert_eq!((run.code, &run.stderr), (again.code, &again.stderr), "{line} --force");
        }
        self.add(line, &run);
    }

    /// A fit to `bad.csv`.
    #[track_caller]
    pub(crate) fn csv(&mut self, content: impl AsRef<[u8]>) {
        let line = "calib fit --method umd --bins 2 --scores bad.csv -o out";
        self.refused(&[("bad.csv", content.as_ref().to_vec())], line);
    }

    /// A fit to the array `bad.npy`, as scores, labels, labels of classes, logits or probs.
    #[track_caller]
    pub(crate) fn npy(&mut self, kind: &str, content: impl AsRef<[u8]>) {
        let line = match kind {
            "scores" => "calib fit --method umd --bins 2 --scores bad.npy --labels labels.npy -o out".into(),
            "labels" => "calib fit --method umd --bins 2 --scores scores.npy --labels bad.npy -o out".into(),
            "classes" => {
                format!("calib fit {TOP} --points-per-bin 10 --logits logits.npy --labels bad.npy -o out")
            }
            matrix => format!("calib fit {MATRIX} --{matrix} bad.npy -o out"),
        };
        self.refused(&[("bad.npy", content.as_ref().to_vec())], &line);
    }
}
