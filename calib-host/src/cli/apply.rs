//! `calib apply`

use std::io::{self, Write};
use std::path::PathBuf;

use calib_core::{Outcome, Reduction};
use calib_host::input::{self, CsvTable, Source};
use calib_host::{Applied, Error, StoredArtifact, apply_scores, apply_vectors, write_file};
use clap::Args;

use super::options::ScoreSource;

/// Calibrate scores with an artefact, exactly as the device does, and write a CSV table.
#[derive(Args)]
pub(crate) struct Apply {
    /// The artefact.
    artifact: PathBuf,
    #[command(flatten)]
    source: ScoreSource,
    /// The column of scores in a CSV table.
    #[arg(long, default_value = "score", value_name = "NAME")]
    score_column: String,
    /// Where to write: the columns of a CSV table of scores, then prob, bin, epsilon and flags; for a matrix, class,
    /// prob, bin, epsilon and flags. The probability of an uncalibrated row is empty, and flags says so.
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,
    /// Replace an existing output.
    #[arg(long)]
    force: bool,
}

const ADDED: [&str; 4] = ["prob", "bin", "epsilon", "flags"];

impl Apply {
    pub(crate) fn run(self, quiet: bool) -> Result<(), Error> {
        let stored = StoredArtifact::read(&self.artifact)?;
        let artifact = stored.artifact();
        let header = artifact.header();
        let (path, vectors) = match self.source.vectors() {
            Some((path, kind)) => (path, Some(kind)),
            None => (self.source.scores.as_deref().expect("clap asks for one of the sources"), None),
        };
        let source = Source::read(path, !quiet)?;

        // What the rows of the output start with, and the calibrated rows.
        let mut head: Vec<String> = Vec::new();
        let mut table = None;
        let applied = if let Some(kind) = vectors {
            let vectors = input::vectors(&source, kind)?;
            head.push("class".into());
            apply_vectors(&artifact, &vectors).ok_or_else(|| {
                self.mismatch(
                    header.reduction,
                    header.classes,
                    &format!("vectors of {} classes", vectors.classes()),
                )
            })?
        } else {
            let scores = if source.is_npy() {
                head.push("score".into());
                input::read_npy(&source)?.numbers()?.scores()?
            } else {
                let csv = table.insert(CsvTable::parse(&source)?);
                csv.check_absent(&ADDED)?;
                head.extend(csv.header().iter().map(str::to_owned));
                csv.numbers(&self.score_column)?.scores()?
            };
            apply_scores(&artifact, &scores)
                .ok_or_else(|| self.mismatch(header.reduction, header.classes, "binary scores"))?
        };

        let write_rows = |out: &mut dyn Write| -> csv::Result<()> {
            let mut writer = csv::Writer::from_writer(out);
            writer.write_record(head.iter().map(String::as_str).chain(ADDED))?;
            for (i, row) in applied.iter().enumerate() {
                match (&table, vectors) {
                    (Some(table), _) => {
                        table.records()[i].iter().try_for_each(|field| writer.write_field(field))?
                    }
                    (None, Some(_)) => writer.write_field(row.top.class.to_string())?,
                    (None, None) => writer.write_field(row.top.score.get().to_string())?,
                }
                added(row).iter().try_for_each(|field| writer.write_field(field))?;
                writer.write_record(None::<&[u8]>)?;
            }
            Ok(writer.flush()?)
        };
        write_file(&self.output, self.force, |out| write_rows(out).map_err(io_cause))?;
        Ok(())
    }

    fn mismatch(&self, reduction: Reduction, classes: u16, got: &str) -> Error {
        let expects = match reduction {
            Reduction::Binary => "binary scores: use --scores".to_owned(),
            _ => format!("vectors of {classes} classes: use --logits or --probs"),
        };
        Error::Mismatch(format!(
            "the artefact does not fit the scores\n  artefact  {}: takes {expects}\n  scores    {got}",
            self.artifact.display()
        ))
    }
}

/// The operating system's reason, which tells a full disk from other failures.
fn io_cause(error: csv::Error) -> io::Error {
    match error.into_kind() {
        csv::ErrorKind::Io(cause) => cause,
        other => io::Error::other(format!("{other:?}")),
    }
}

/// The fields that describe the calibration of a row. An `f32` is printed with the digits that give it back.
fn added(row: &Applied) -> [String; 4] {
    let (prob, bin, epsilon) = match row.outcome {
        Outcome::Calibrated(c) => {
            (c.prob.to_string(), c.bin.to_string(), c.epsilon.map_or(String::new(), |e| e.to_string()))
        }
        Outcome::Uncalibrated(_) => Default::default(),
    };
    [prob, bin, epsilon, row.flags().to_owned()]
}
