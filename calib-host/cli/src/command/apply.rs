//! `calib apply`

use std::io::{self, Write};
use std::ops::Range;
use std::path::{Path, PathBuf};

use calib_core::Artifact;
use calib_core::artifact::{Method, Reduction};
use calib_fit::apply::{AppliedVector, Words, apply_vectors_from};
use calib_fit::data::CodeVectors;
use calib_fit::job::{Finding, Looks, codes_of_classes};
use calib_fit::{ScoreKind, StoredArtifact, VectorKind, Vectors};
use calib_io::files::OutputError;
use calib_io::input::{Shown, Table};
use calib_io::output::{Block, NewColumn, Part, Piece, TableFormat, send_stream, write_stream};
use clap::Args;
use serde_json::json;

use crate::context::Context;
use crate::error::{Error, sentence};
use crate::next::{Given, Suggestion, on};
use crate::options::{SCORE_COLUMN, ScoreSource};
use crate::out::{is_standard_output, shown_path};
use crate::read::{
    BinaryRows, NamedArtifact, RuleColumns, SET, VERDICT, groups_of, open_matrix, open_table, read_all,
    read_code_vectors,
};
use crate::run::Run;
use crate::show::{ACTION, ADDED, AppliedColumns, INTERVAL, VENN_ABERS, WORD, action_words, class_column};

/// Calibrate scores as the device does, and write a table.
///
/// Bit by bit what the device answers, as a table of the format that the output's name says.
#[derive(Args)]
pub(crate) struct Apply {
    /// The artefact.
    artifact: PathBuf,
    /// Scores of class 1 in [0, 1]: a table.
    ///
    /// The same as --scores FILE.
    #[arg(value_name = "FILE", group = "ScoreSource", help_heading = "Data")]
    data: Option<PathBuf>,
    #[command(flatten)]
    source: ScoreSource,
    /// The column of scores or margins in a table, or of integer codes for an artefact over codes; in an NPZ archive the array of scores,
    /// logits or probabilities. Of several classes in a table the columns of all, separated by commas, as in `p0..p9`.
    #[arg(long, default_value = SCORE_COLUMN, value_name = "NAME", help_heading = "Data")]
    score_column: String,
    /// Where to write: the columns of a table of scores, then prob, bin, epsilon and flags. For a matrix, class, prob, bin,
    /// epsilon and flags of the predicted class; the same with _1 to _K of the first K classes; or the predicted class,
    /// prob_0 to the last class's, and flags, as the artefact's reduction says. Columns of a table of
    /// scores that a CSV table cannot hold (lists, objects, arrays of another length or of more than one dimension) are left
    /// out, and standard error names them. What is uncalibrated is empty, and flags
    /// says so. An artefact with intervals adds lo and hi, one of Venn-Abers p0 and p1, a randomised one the word that was drawn,
    /// one with a decision rule the action, of the predicted class where there are several, one with thresholds the verdict, and one
    /// with prediction sets the classes in the set, separated by spaces, and their number. The extension says the format: .csv,
    /// .jsonl, .parquet, .arrow or .npy. Columns keep the type that the file has; text stays text, but for the scores. An
    /// NPY file holds the probabilities alone, as f32 of shape (n,), or (n, k) of several ranks or classes, NaN for what is
    /// uncalibrated. `-` is standard output, as CSV if --format says nothing else.
    #[arg(short, long, value_name = "FILE", help_heading = "Output")]
    output: PathBuf,
    /// The format, if the output's extension does not tell.
    #[arg(long, value_name = "FORMAT", value_parser = ["csv", "jsonl", "parquet", "arrow", "npy"], help_heading = "Output")]
    format: Option<String>,
    /// Add bin_0, epsilon_0 and so on to the probabilities of all classes, where each class has its own.
    #[arg(long, help_heading = "Output", hide_short_help = true)]
    evidence: bool,
    /// The column of groups, for an artefact with tables or thresholds for each group.
    #[arg(long, value_name = "NAME", help_heading = "What rows are")]
    group_column: Option<String>,
    /// Replace an existing output.
    #[arg(long, help_heading = "Output")]
    force: bool,
    /// The seed of the random words that a randomised artefact needs, one a row.
    #[arg(
        long,
        default_value_t = 0,
        value_name = "SEED",
        help_heading = "Guarantees and intervals",
        hide_short_help = true
    )]
    seed: u64,
    /// Print what was written as JSON on standard output.
    #[arg(long, help_heading = "Output")]
    json: bool,
}

/// Rows of a table of scores.
struct ScorePiece {
    table: Table,
    rows: usize,
    /// Nothing, of an artefact that has a rule alone.
    binary: Option<BinaryRows>,
    rule: Option<RuleColumns>,
    /// Those of the rows.
    words: Words,
}

/// Rows of a matrix.
struct VectorPiece {
    vectors: Predicted,
    rule: Option<RuleColumns>,
    words: Words,
}

/// What becomes columns.
enum Predicted {
    /// Vectors to be calibrated.
    Vectors(Vectors),
    /// Vectors that are calibrated already.
    Applied(Vec<AppliedVector>),
    /// The predicted classes, of an artefact that has sets alone.
    Classes(Vec<u16>),
}

impl Piece for ScorePiece {
    fn rows(&self) -> usize {
        self.rows
    }
}

impl Piece for VectorPiece {
    fn rows(&self) -> usize {
        match &self.vectors {
            Predicted::Vectors(vectors) => vectors.len(),
            Predicted::Applied(rows) => rows.len(),
            Predicted::Classes(classes) => classes.len(),
        }
    }
}

impl Run for Apply {
    const AT_WORK: Option<&str> = Some("calibrating");

    fn run(self, cx: &Context) -> Result<(), Error> {
        let format = self.format()?;
        let named = NamedArtifact::read(&self.artifact, self.seed)?;
        let artifact = named.stored.artifact();
        if self.evidence && artifact.header().reduction != Reduction::ClassWise {
            return Err(Error::Usage("--evidence goes with a class-wise artefact: leave it out".into()));
        }
        let Some((path, kind)) = self.source.vectors() else {
            let data = self.data.as_deref().map(|path| (path, ScoreKind::Probability));
            let (path, kind) = data.or(self.source.binary()).expect("clap asks for one of the sources");
            return self.scores(&named, format, (path, kind), cx);
        };
        if let Some(codes) = self.codes(&named, (path, kind), cx)? {
            return self.code_vectors(&named, format, &codes, cx);
        }
        self.vectors(&named, format, (path, kind), cx)
    }

    fn next(given: &Given<'_>, _: &Context) -> Option<Suggestion> {
        let assess = on("calib assess --probs", given.text("output")?);
        Some((assess, "if its rows have labels: how good the probabilities are"))
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
        let mut words = Words::new(&artifact, self.seed);
        let (mut is_first, mut could_be_probs) = (true, kind == ScoreKind::Margin);
        let read = || {
            let piece = match pieces.read_next() {
                Ok(None) => return Ok(None),
                Ok(Some(table)) => self.score_piece(named, table, kind, &mut words),
                Err(fault) => Err(fault.into()),
            };
            let look = |table| self.score_piece(named, table, kind, &mut words.clone()).map(drop);
            let piece = piece.map_err(|fault| pieces.first_fault(fault, look))?;
            if std::mem::take(&mut is_first) && !cx.quiet {
                self.name_left_out(&piece.table.shown(piece.rows), cx)?;
            }
            could_be_probs &= piece.binary.as_ref().is_some_and(|binary| binary.scores.could_be_probs());
            Ok(Some(piece))
        };
        let columns = AppliedColumns::of(&artifact);
        let rows = self.write((format, cx), read, |piece: &ScorePiece, rows| {
            self.score_part(&named.stored, columns, format, piece, rows)
        })?;
        let doubt = could_be_probs.then(|| sentence(&Finding::RawScoresInUnitInterval, &place.file));
        self.tell(&artifact, rows, doubt, cx)
    }

    /// What is written, by the extension of the file if nothing else says it.
    fn format(&self) -> Result<TableFormat, Error> {
        let named = self.format.as_ref().map(|format| Path::new("table").with_extension(format));
        TableFormat::of(named.as_deref().unwrap_or(&self.output))
            .map_err(|unknown| Error::Usage(unknown.to_string()))
    }

    /// Writes rows where they are asked for, and returns their number.
    fn write<P: Piece>(
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
            let sent = send_stream((&self.output, &mut *out, format), counted, make);
            sent.map_err(|error| match error {
                // As of everything else that is printed there.
                Error::Output(OutputError::Io { path, source }) if path == self.output => {
                    Error::Stdout(source)
                }
                other => other,
            })?;
        } else {
            write_stream((&self.output, self.force, format), counted, make)?;
        }
        Ok(rows)
    }

    /// Tells what was written, and what to doubt.
    fn tell(
        &self,
        artifact: &Artifact<'_>,
        rows: u64,
        doubt: Option<String>,
        cx: &Context,
    ) -> Result<(), Error> {
        let action = artifact.monitor_action().map(|action| {
            format!(
                "on an alarm of the monitors {}: no monitor counts these rows, and they are calibrated as before an alarm",
                action_words(action)
            )
        });
        let warnings: Vec<String> = doubt.into_iter().chain(action).collect();
        cx.warn(&warnings)?;
        if !self.json {
            return Ok(());
        }
        // A file that somebody has removed since is not worth a failure.
        let len_bytes = std::fs::metadata(&self.output).map(|file| file.len()).ok();
        cx.print_json(&json!({
            "output": self.output,
            "len_bytes": len_bytes,
            "rows": rows,
            "identity": artifact.identity().to_string(),
            "warnings": warnings,
        }))
    }

    fn score_piece(
        &self,
        named: &NamedArtifact<'_>,
        table: Table,
        kind: ScoreKind,
        words: &mut Words,
    ) -> Result<ScorePiece, Error> {
        check_names(&table, &named.stored.artifact())?;
        let group_column = self.group_column.as_deref();
        let rule = RuleColumns::of_scores(named, &table, &self.score_column, kind, group_column)?;
        let own_words = words.clone();
        if let (Some(rule), true) = (&rule, named.stored.artifact().header().method.has_no_calibrator()) {
            let rows = rule.rows.len();
            return Ok(ScorePiece { table, rows, binary: None, rule: Some(rule.clone()), words: own_words });
        }
        let groups = group_column.map(|column| groups_of(&table, column)).transpose()?;
        let binary = named.binary_rows(&table, &self.score_column, kind, groups.as_ref())?;
        let rows = binary.scores.len();
        words.skip_rows(rows);
        Ok(ScorePiece { table, rows, binary: Some(binary), rule, words: own_words })
    }

    fn score_part(
        &self,
        stored: &StoredArtifact,
        columns: AppliedColumns<'_>,
        format: TableFormat,
        piece: &ScorePiece,
        rows: Range<usize>,
    ) -> Result<Part, Error> {
        let shown = piece.table.shown(piece.rows);
        let mut added = Vec::new();
        if let Some(binary) = &piece.binary {
            let mut words = piece.words.clone();
            words.skip_rows(rows.start);
            let applied = binary.scores.applied(&stored.artifact(), rows.clone(), words);
            added = columns.probs("", applied.iter());
            added.extend(columns.end(applied.iter().map(|row| (row.word, &row.outcome))));
        }
        added.extend(piece.rule.iter().flat_map(|rule| rule.columns(rows.clone())));
        let scores = piece.binary.as_ref().map(|binary| binary.numbers.shown());
        let scores = shown.place(&self.score_column).zip(scores);
        Ok(Part::new(format, &Block::beside(&shown, rows, scores, added)))
    }

    /// Vectors of codes, if the artefact takes such; `None` if it takes others.
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
        codes: &CodeVectors,
        cx: &Context,
    ) -> Result<(), Error> {
        let artifact = named.stored.artifact();
        let vectors = match artifact.header().method.has_no_calibrator() {
            true => Predicted::Classes(codes.softmax_top_labels().map(|top| top.class).collect()),
            false => Predicted::Applied(named.apply_codes(codes)?.collect()),
        };
        let rule = RuleColumns::of_codes(named, codes)?;
        if matches!(vectors, Predicted::Classes(_)) && rule.is_none() {
            return Err(named.mismatch("vectors"));
        }
        let words = Words::new(&artifact, self.seed);
        let mut piece = Some(VectorPiece { vectors, rule, words });
        let rows = self.write_vectors(named, (format, cx), || Ok(piece.take()))?;
        self.tell(&artifact, rows, None, cx)
    }

    /// The columns that the artefact's reduction asks for.
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
        let is_alone = artifact.header().method.has_no_calibrator();
        let mut words = Words::new(&artifact, self.seed);
        let mut looks = Looks::like_anything();
        let read = || {
            let Some(vectors) = pieces.read_next()? else { return Ok(None) };
            looks = looks.and(&vectors);
            let rule = RuleColumns::of_vectors(named, &vectors)?;
            let own_words = words.clone();
            words.skip_rows(vectors.len());
            let vectors = if is_alone {
                rule.as_ref().ok_or_else(|| named.mismatch("vectors"))?;
                Predicted::Classes(vectors.top_labels().map(|top| top.class).collect())
            } else {
                // Whether they fit is told before a part is made of them.
                drop(named.apply(&vectors)?);
                Predicted::Vectors(vectors)
            };
            Ok(Some(VectorPiece { vectors, rule, words: own_words }))
        };
        let rows = self.write_vectors(named, (format, cx), read)?;
        let doubt = looks.finding().map(|finding| sentence(&finding, &place.file));
        self.tell(&artifact, rows, doubt, cx)
    }

    fn write_vectors(
        &self,
        named: &NamedArtifact<'_>,
        output: (TableFormat, &Context),
        read: impl FnMut() -> Result<Option<VectorPiece>, Error> + Send,
    ) -> Result<u64, Error> {
        self.write(output, read, |piece: &VectorPiece, rows| {
            let artifact = named.stored.artifact();
            let applied;
            let applied = match &piece.vectors {
                Predicted::Vectors(vectors) => {
                    let mut words = piece.words.clone();
                    words.skip_rows(rows.start);
                    let part = vectors.part(&rows.clone().collect::<Vec<_>>());
                    let found = apply_vectors_from(&artifact, &part, words);
                    applied = found.ok_or_else(|| named.mismatch("vectors"))?.collect::<Vec<_>>();
                    &applied[..]
                }
                Predicted::Applied(applied) => &applied[rows.clone()],
                Predicted::Classes(_) => &[],
            };
            let mut columns = match &piece.vectors {
                Predicted::Classes(classes) => {
                    vec![class_column("class", classes[rows.clone()].iter().copied())]
                }
                _ => self.columns_of(&artifact, applied),
            };
            columns.extend(piece.rule.iter().flat_map(|rule| rule.columns(rows.clone())));
            Ok(Part::new(output.0, &Block::new(columns)))
        })
    }

    /// What is said of calibrated vectors, which are all of the kind that the artefact's reduction asks for.
    fn columns_of(&self, artifact: &Artifact<'_>, applied: &[AppliedVector]) -> Vec<NewColumn> {
        let columns = AppliedColumns::of(artifact);
        let header = artifact.header();
        match header.reduction {
            Reduction::TopLabel | Reduction::Confidence => {
                let rows = || {
                    applied.iter().filter_map(|row| match row {
                        AppliedVector::TopLabel(row) => Some(row),
                        _ => None,
                    })
                };
                let mut all = vec![class_column("class", rows().map(|row| row.class))];
                all.extend(columns.probs("", rows()));
                all.extend(columns.end(rows().map(|row| (row.word, &row.outcome))));
                all
            }
            Reduction::TopKLabel { k } | Reduction::TopKConfidence { k } => {
                let ranked = |rank: usize| {
                    applied.iter().filter_map(move |row| match row {
                        AppliedVector::TopK(pairs) => pairs.get(rank),
                        _ => None,
                    })
                };
                let mut all = Vec::new();
                for rank in 0..usize::from(k) {
                    let behind = format!("_{}", rank + 1);
                    all.push(class_column(format!("class{behind}"), ranked(rank).map(|row| row.class)));
                    all.extend(columns.probs(&behind, ranked(rank)));
                }
                all.extend(columns.end(ranked(0).map(|row| (row.word, &row.outcome))));
                all
            }
            _ => {
                let of_classes = |row: &AppliedVector| match row {
                    AppliedVector::Classes(row) => Some(row.clone()),
                    _ => None,
                };
                let rows: Vec<_> = applied.iter().filter_map(of_classes).collect();
                let mut all = columns.classes(&rows, header.classes, self.evidence);
                all.extend(columns.end(rows.iter().map(|row| (row.word, &row.predicted))));
                all
            }
        }
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

/// Refuses a table that has a column already that is to be added.
fn check_names(table: &Table, artifact: &Artifact<'_>) -> Result<(), Error> {
    table.check_absent(&ADDED)?;
    table.check_absent(&INTERVAL)?;
    if artifact.header().method == Method::VennAbers {
        table.check_absent(&VENN_ABERS)?;
    }
    table.check_absent(&[WORD, ACTION])?;
    table.check_absent(VERDICT)?;
    table.check_absent(SET)?;
    Ok(())
}
