//! `calib apply`

use std::io::{self, Write};
use std::path::PathBuf;

use calib_core::{Calibrator, Outcome, Reduction};
use calib_host::input::{self, Shown, Source, Table};
use calib_host::{Applied, Error, StoredArtifact, apply_codes, apply_scores, apply_vectors, write_file};
use clap::Args;

use super::options::{SCORE_COLUMN, ScoreSource, read_vectors};

/// Calibrate scores with an artefact, exactly as the device does, and write a CSV table.
#[derive(Args)]
pub(crate) struct Apply {
    /// The artefact.
    artifact: PathBuf,
    #[command(flatten)]
    source: ScoreSource,
    /// The column of scores in a table, or of integer codes for an artefact over codes; in an NPZ archive the array of scores, logits or probabilities.
    #[arg(long, default_value = SCORE_COLUMN, value_name = "NAME")]
    score_column: String,
    /// Where to write: the columns of a table of scores, then prob, bin, epsilon and flags; for a matrix, class,
    /// prob, bin, epsilon and flags. Columns that a CSV table cannot hold (lists, objects, arrays of another length or of
    /// more than one dimension) are left out, and standard error names them. The probability of an uncalibrated row is empty, and flags says so. An artefact with
    /// intervals adds lo and hi, a randomised one the word that was drawn.
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,
    /// Replace an existing output.
    #[arg(long)]
    force: bool,
    /// The seed of the random words that a randomised artefact needs, one a row.
    #[arg(long, default_value_t = 0, value_name = "SEED")]
    seed: u64,
}

/// What every output has, what intervals add, and what a randomised artefact does.
const ADDED: [&str; 4] = ["prob", "bin", "epsilon", "flags"];
const INTERVAL: [&str; 2] = ["lo", "hi"];
const WORD: &str = "word";

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
        let table;
        let (shown, applied) = if let Some(kind) = vectors {
            let vectors = read_vectors(&source, kind, &self.score_column)?;
            let applied = apply_vectors(&artifact, &vectors, self.seed).ok_or_else(|| {
                self.mismatch(
                    header.reduction,
                    header.classes,
                    &format!("vectors of {} classes", vectors.classes()),
                )
            })?;
            (None, applied)
        } else {
            table = Table::read(&source)?;
            table.check_absent(&ADDED)?;
            table.check_absent(&INTERVAL)?;
            table.check_absent(&[WORD])?;
            let applied = if let Calibrator::BinaryCode(calibrator) = artifact.calibrator() {
                let codes = input::codes(&table.codes(&self.score_column)?, calibrator.encoding())?;
                let applied = apply_codes(&artifact, &codes).expect("the artefact is over codes");
                applied.expect("the codes are in the artefact's encoding")
            } else {
                let scores = table.numbers(&self.score_column)?.scores()?;
                apply_scores(&artifact, &scores, self.seed)
                    .ok_or_else(|| self.mismatch(header.reduction, header.classes, "binary scores"))?
            };
            let shown = table.shown(applied.len());
            if !quiet {
                self.name_left_out(&shown)?;
            }
            (Some(shown), applied)
        };

        let interval = |row: &Applied| match row.outcome {
            Outcome::Calibrated(calibrated) => calibrated.interval,
            Outcome::Uncalibrated(_) => None,
        };
        let has_intervals = applied.iter().any(|row| interval(row).is_some());
        let has_words = applied.iter().any(|row| row.word.is_some());

        let write_rows = |out: &mut dyn Write| -> csv::Result<()> {
            let mut writer = csv::Writer::from_writer(out);
            match &shown {
                Some(shown) => shown.header().try_for_each(|name| writer.write_field(name))?,
                None => writer.write_field("class")?,
            }
            ADDED.iter().try_for_each(|name| writer.write_field(name))?;
            if has_intervals {
                INTERVAL.iter().try_for_each(|name| writer.write_field(name))?;
            }
            if has_words {
                writer.write_field(WORD)?;
            }
            writer.write_record(None::<&[u8]>)?;
            for (i, row) in applied.iter().enumerate() {
                match &shown {
                    Some(shown) => {
                        shown.record(i).try_for_each(|field| writer.write_field(field.as_bytes()))?
                    }
                    None => writer.write_field(row.top.class.to_string())?,
                }
                added(row).iter().try_for_each(|field| writer.write_field(field))?;
                if has_intervals {
                    let ends =
                        interval(row).map_or(Default::default(), |i| [i.lo.to_string(), i.hi.to_string()]);
                    ends.iter().try_for_each(|field| writer.write_field(field))?;
                }
                if has_words {
                    writer.write_field(row.word.map_or(String::new(), |word| word.to_string()))?;
                }
                writer.write_record(None::<&[u8]>)?;
            }
            Ok(writer.flush()?)
        };
        write_file(&self.output, self.force, |out| write_rows(out).map_err(io_cause))?;
        Ok(())
    }

    /// No column goes missing unsaid.
    fn name_left_out(&self, shown: &Shown<'_>) -> io::Result<()> {
        let names: Vec<&str> = shown.left_out().collect();
        if names.is_empty() {
            return Ok(());
        }
        let output = self.output.display();
        let names = names.join(", ");
        writeln!(io::stderr(), "left out of {output}, which has one value a row and column: {names}")
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
