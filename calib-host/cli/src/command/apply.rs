//! `calib apply`

use std::io::{self, Write};
use std::ops::Range;
use std::path::{Path, PathBuf};

use calib_core::Artifact;
use calib_core::artifact::Reduction;
use calib_fit::apply::{Outputs, RandomWords, apply, calibrate};
use calib_fit::artifact::number_of;
use calib_fit::data::CodeVectors;
use calib_fit::job::{Finding, KindGuess, codes_of_classes, got_vectors};
use calib_fit::stats::thousands;
use calib_fit::{ScoreKind, VectorKind, Vectors};
use calib_io::files::{OutputError, OutputPlace};
use calib_io::input::{Shown, Table};
use calib_io::output::{Block, NewColumn, Part, RowChunk, TableFormat, write_stream};
use clap::Args;
use serde_json::json;

use crate::context::Context;
use crate::error::{Error, sentence};
use crate::next::{Given, Suggestion, on};
use crate::options::headings::{DATA, GUARANTEES, OUTPUT, ROWS};
use crate::options::{SCORE_COLUMN, ScoreSource, count};
use crate::out::{is_standard_output, shown_path};
use crate::read::{
    BinaryRows, NamedArtifact, groups_of, open_matrix, open_table, read_all, read_code_vectors,
};
use crate::run::Run;
use crate::show::{AppliedColumns, action_words};

/// Calibrate scores as the device does, and write a table.
///
/// The results are bit-identical to those of the device. The extension of the output specifies the format of the table.
#[derive(Args)]
pub(crate) struct Apply {
    /// Artifact.
    artifact: PathBuf,
    /// Table with scores of class 1 in [0, 1].
    ///
    /// The same as --scores FILE.
    #[arg(value_name = "FILE", group = "ScoreSource", help_heading = DATA)]
    data: Option<PathBuf>,
    #[command(flatten)]
    source: ScoreSource,
    /// Column of scores or raw scores in a table, or of integer codes for an artifact over codes.
    ///
    /// In an NPZ archive: the array of scores, logits or probabilities. For several classes in a table: all columns,
    /// separated by commas, as in `p0..p9`.
    #[arg(long, default_value = SCORE_COLUMN, value_name = "NAME", help_heading = DATA)]
    score_column: String,
    /// Output file: the rows with their probabilities.
    ///
    /// For a table of scores, the output has its columns, then prob, bin, epsilon and flags.
    ///
    /// For a matrix, the columns depend on the artifact's reduction. They are class, prob, bin, epsilon and flags of
    /// the predicted class, or the same with _1 to _K for the top-K classes. Or they are the predicted class, prob_0 to
    /// prob of the last class, and flags.
    ///
    /// What is uncalibrated is empty, and flags states it.
    ///
    /// An artifact with intervals adds lo and hi. A Venn-Abers artifact adds p0 and p1, and a randomized artifact the
    /// word that was drawn. A decision rule adds the action, of the predicted class if there are several classes.
    /// Thresholds add the verdict. Prediction sets add the classes in the set, separated by spaces, and their number.
    ///
    /// The extension specifies the format: .csv, .jsonl, .parquet, .arrow or .npy. `-` is standard output, as CSV
    /// unless --format specifies another format.
    ///
    /// Columns keep the type of the input file; text stays text, except for the scores. A CSV table cannot hold some
    /// columns: lists, objects, arrays of another length or of more than one dimension. calib leaves these columns out
    /// and names them on standard error.
    ///
    /// An NPY file has only the probabilities, as f32 of shape (n,), or (n, k) for several ranks or classes. What is
    /// uncalibrated is NaN.
    #[arg(short, long, value_name = "FILE", help_heading = OUTPUT)]
    output: PathBuf,
    /// Format, if the output's extension does not specify it.
    #[arg(long, value_name = "FORMAT", value_parser = ["csv", "jsonl", "parquet", "arrow", "npy"], help_heading = OUTPUT)]
    format: Option<String>,
    /// Add bin_0, epsilon_0 and so on to the probabilities of all classes, if each class has a separate bin and
    /// epsilon.
    #[arg(long, help_heading = OUTPUT, hide_short_help = true)]
    evidence: bool,
    /// Column of groups, for an artifact with tables or thresholds for each group.
    #[arg(long, value_name = "NAME", help_heading = ROWS)]
    group_column: Option<String>,
    /// Replace an existing output.
    #[arg(long, help_heading = OUTPUT)]
    force: bool,
    /// Seed of the random words that a randomized artifact needs, one per row.
    #[arg(long, default_value_t = 0, value_name = "SEED", value_parser = count::<u64>(..), help_heading = GUARANTEES, hide_short_help = true)]
    seed: u64,
    /// Print what was written as JSON on standard output.
    #[arg(long, help_heading = OUTPUT)]
    json: bool,
}

/// Rows that are written together, and the random words of these rows.
struct Rows<T> {
    of: T,
    words: RandomWords,
}

/// Rows of a table of scores.
struct Scores {
    table: Table,
    binary: BinaryRows,
}

impl RowChunk for Rows<Scores> {
    fn rows(&self) -> usize {
        self.of.binary.scores.len()
    }
}

impl RowChunk for Rows<Vectors> {
    fn rows(&self) -> usize {
        self.of.len()
    }
}

impl RowChunk for Rows<CodeVectors> {
    fn rows(&self) -> usize {
        self.of.len()
    }
}

impl Run for Apply {
    const AT_WORK: Option<&str> = Some("calibrating");

    fn run(self, cx: &Context) -> Result<(), Error> {
        let format = self.format()?;
        let named = NamedArtifact::read(&self.artifact, self.seed)?;
        let artifact = named.stored.artifact();
        if self.evidence && artifact.header().reduction != Reduction::ClassWise {
            return Err(Error::Usage("--evidence goes with a class-wise artifact: leave it out".into()));
        }
        let Some((path, kind)) = self.source.vectors() else {
            let data = self.data.as_deref().map(|path| (path, ScoreKind::Probability));
            let (path, kind) = data.or(self.source.binary()).expect("clap asks for one of the sources");
            return self.scores(&named, format, (path, kind), cx);
        };
        if let Some(codes) = self.codes(&named, (path, kind), cx)? {
            return self.code_vectors(&named, format, codes, cx);
        }
        self.vectors(&named, format, (path, kind), cx)
    }

    fn next(given: &Given<'_>, _: &Context) -> Option<Suggestion> {
        let assess = on("calib assess --probs", given.text("output")?);
        Some((assess, "if its rows have labels: how good the probabilities are".into()))
    }
}

impl Apply {
    /// The columns of a table of scores, and what is added to them.
    fn scores(
        &self,
        named: &NamedArtifact<'_>,
        format: TableFormat,
        (path, kind): (&Path, ScoreKind),
        cx: &Context,
    ) -> Result<(), Error> {
        let watch = cx.reading();
        let mut pieces = open_table(path, &watch, cx)?;
        let place = pieces.place();
        let artifact = named.stored.artifact();
        let mut words = RandomWords::new(&artifact, self.seed);
        let is_calibrator = !artifact.header().method.has_no_calibrator();
        let (mut is_first, mut could_be_probs) = (true, kind == ScoreKind::Margin && is_calibrator);
        let read = || {
            let piece = match pieces.read_next() {
                Ok(None) => return Ok(None),
                Ok(Some(table)) => self.of_table(named, table, kind),
                Err(fault) => Err(fault.into()),
            };
            let look = |table| self.of_table(named, table, kind).map(drop);
            let piece = piece.map_err(|fault| pieces.first_fault(fault, look))?;
            let rows = piece.binary.scores.len();
            if std::mem::take(&mut is_first) && !cx.quiet {
                self.name_left_out(&piece.table.shown(rows), cx)?;
            }
            could_be_probs &= piece.binary.scores.could_be_probs();
            Ok(Some(next(piece, rows, &mut words)))
        };
        let rows = self.write((format, cx), read, |piece: &Rows<Scores>, rows| {
            let Scores { table, binary } = &piece.of;
            let shown = table.shown(binary.scores.len());
            let added = self.columns(named, binary.scores.outputs(), &rows, &piece.words)?;
            let scores = shown.place(&self.score_column).map(|place| (place, &binary.numbers));
            Ok(Part::new(format, &Block::beside(&shown, rows, scores, added)))
        })?;
        let warning = could_be_probs.then(|| sentence(&Finding::RawScoresInUnitInterval, &place.file));
        self.tell(&artifact, rows, warning, cx)
    }

    /// What is written, by the extension of the file if nothing else says it.
    fn format(&self) -> Result<TableFormat, Error> {
        let named = self.format.as_ref().map(|format| Path::new("table").with_extension(format));
        TableFormat::of(named.as_deref().unwrap_or(&self.output))
            .map_err(|unknown| Error::Usage(unknown.to_string()))
    }

    /// Writes rows where they are asked for, and returns their number.
    fn write<P: RowChunk>(
        &self,
        (format, cx): (TableFormat, &Context),
        mut read: impl FnMut() -> Result<Option<P>, Error> + Send,
        make: impl Fn(&P, Range<usize>) -> Result<Part, Error> + Sync,
    ) -> Result<u64, Error> {
        let mut rows = 0;
        let counted = || {
            let piece = read()?;
            rows += piece.as_ref().map_or(0, |piece| piece.rows() as u64);
            Ok(piece)
        };
        if is_standard_output(&self.output) {
            let is_text = matches!(format, TableFormat::Csv | TableFormat::JsonLines);
            let mut out = cx.raw_stdout(is_text)?;
            let place = OutputPlace::Stream { name: &self.output, out: &mut *out };
            write_stream(place, format, counted, make).map_err(|error| match error {
                // As of everything else that is printed there.
                Error::Output(OutputError::Io { path, source }) if path == self.output => {
                    Error::Stdout(source)
                }
                other => other,
            })?;
        } else {
            let place = OutputPlace::File { path: &self.output, overwrite: self.force };
            write_stream(place, format, counted, make)?;
        }
        Ok(rows)
    }

    /// Tells what was written, and what to doubt.
    fn tell(
        &self,
        artifact: &Artifact<'_>,
        rows: u64,
        warning: Option<String>,
        cx: &Context,
    ) -> Result<(), Error> {
        let action = artifact.monitor_action().map(|action| {
            format!(
                "after an alert of the monitors, {}: no monitor counts these rows, and they are calibrated as before an alert",
                action_words(action)
            )
        });
        let warnings: Vec<String> = warning.into_iter().chain(action).collect();
        cx.warn(&warnings)?;
        // What is left out was read, too.
        let read = rows + cx.rows_left_out();
        if !self.json {
            if !cx.quiet && !is_standard_output(&self.output) {
                writeln!(cx.stderr(), "{} read, {} written", number_of(read, "row"), thousands(rows))?;
            }
            return Ok(());
        }
        // A file that somebody has removed since is not worth a failure.
        let len_bytes = std::fs::metadata(&self.output).map(|file| file.len()).ok();
        cx.print_json(&json!({
            "output": self.output,
            "len_bytes": len_bytes,
            "rows_read": read,
            "rows": rows,
            "identity": artifact.identity().to_string(),
            "warnings": warnings,
        }))
    }

    fn of_table(&self, named: &NamedArtifact<'_>, table: Table, kind: ScoreKind) -> Result<Scores, Error> {
        table.check_absent(&AppliedColumns::of(named.stored.artifact(), self.evidence).reserved())?;
        let groups = self.group_column.as_ref().map(|column| groups_of(&table, column)).transpose()?;
        let binary = named.binary_rows(&table, &self.score_column, kind, groups.as_ref())?;
        named.check(binary.scores.outputs(), || "binary scores".into())?;
        Ok(Scores { table, binary })
    }

    /// What the artifact says of some rows of a piece.
    fn columns(
        &self,
        named: &NamedArtifact<'_>,
        outputs: Outputs<'_>,
        rows: &Range<usize>,
        words: &RandomWords,
    ) -> Result<Vec<NewColumn>, Error> {
        let artifact = named.stored.artifact();
        let (mut words, columns) = (words.clone(), AppliedColumns::of(artifact, self.evidence));
        words.skip_rows(rows.start);
        if columns.are_plain() {
            let applied = calibrate(&artifact, outputs.part(rows.clone()), words);
            return Ok(columns.of_scores(&applied.map_err(|_| named.mismatch("other rows"))?));
        }
        let applied = apply(&artifact, outputs.part(rows.clone()), words).collect::<Result<Vec<_>, _>>();
        let applied = applied.map_err(|_| named.mismatch("other rows"))?;
        Ok(columns.of_rows(&applied))
    }

    /// Vectors of codes, if the artifact takes such; `None` if it takes others.
    fn codes(
        &self,
        named: &NamedArtifact<'_>,
        (path, kind): (&Path, VectorKind),
        cx: &Context,
    ) -> Result<Option<CodeVectors>, Error> {
        let artifact = named.stored.artifact();
        let read = |encoding, kind| {
            let source = &read_all(&[path], cx)?[0];
            read_code_vectors(source, encoding, kind, &self.score_column)
        };
        let encoding = artifact.header().encoding;
        if artifact.header().method.has_no_calibrator() && encoding.is_quantized() {
            return Ok(Some(read(encoding, kind)?));
        }
        match codes_of_classes(&artifact) {
            Some((_, takes)) if kind != takes => Err(named.mismatch(match kind {
                VectorKind::Logits => "logits",
                VectorKind::Probs => "probabilities",
            })),
            Some((encoding, kind)) => Ok(Some(read(encoding, kind)?)),
            None => Ok(None),
        }
    }

    fn code_vectors(
        &self,
        named: &NamedArtifact<'_>,
        format: TableFormat,
        codes: CodeVectors,
        cx: &Context,
    ) -> Result<(), Error> {
        let artifact = named.stored.artifact();
        named.check((&codes).into(), || format!("codes of {} classes", codes.classes()))?;
        let mut piece = Some(Rows { of: codes, words: RandomWords::new(&artifact, self.seed) });
        let rows = self.write(
            (format, cx),
            || Ok(piece.take()),
            |piece: &Rows<CodeVectors>, rows| {
                let columns = self.columns(named, (&piece.of).into(), &rows, &piece.words)?;
                Ok(Part::new(format, &Block::new(columns)))
            },
        )?;
        self.tell(&artifact, rows, None, cx)
    }

    fn vectors(
        &self,
        named: &NamedArtifact<'_>,
        format: TableFormat,
        (path, kind): (&Path, VectorKind),
        cx: &Context,
    ) -> Result<(), Error> {
        let watch = cx.reading();
        let name = Some(self.score_column.as_str()).filter(|name| *name != SCORE_COLUMN);
        let mut pieces = open_matrix(path, kind, name, (&watch, cx))?;
        let place = pieces.place().clone();
        let artifact = named.stored.artifact();
        let mut words = RandomWords::new(&artifact, self.seed);
        let mut guess = KindGuess::of_no_rows();
        let read = || {
            let Some(vectors) = pieces.read_next()? else { return Ok(None) };
            guess = guess.and(&vectors);
            named.check((&vectors).into(), || got_vectors(&artifact, &vectors))?;
            let rows = vectors.len();
            Ok(Some(next(vectors, rows, &mut words)))
        };
        let rows = self.write((format, cx), read, |piece: &Rows<Vectors>, rows| {
            let columns = self.columns(named, (&piece.of).into(), &rows, &piece.words)?;
            Ok(Part::new(format, &Block::new(columns)))
        })?;
        let warning = guess.finding().map(|finding| sentence(&finding, &place.file));
        self.tell(&artifact, rows, warning, cx)
    }

    /// No column goes missing unsaid.
    fn name_left_out(&self, shown: &Shown<'_>, cx: &Context) -> io::Result<()> {
        let names: Vec<&str> = shown.left_out().collect();
        if names.is_empty() {
            return Ok(());
        }
        let output = shown_path(&self.output);
        let names = names.join(", ");
        writeln!(cx.stderr(), "left out of {output}, which has one value a row and column: {names}")
    }
}

/// The next rows, with their words.
fn next<T>(of: T, rows: usize, words: &mut RandomWords) -> Rows<T> {
    let of_rows = words.clone();
    words.skip_rows(rows);
    Rows { of, words: of_rows }
}
