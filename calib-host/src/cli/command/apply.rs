//! `calib apply`

use std::io::{self, Write};
use std::path::PathBuf;

use calib_core::Artifact;
use calib_core::artifact::{Method, Reduction};
use calib_host::apply::AppliedVector;
use calib_host::files::write_file;
use calib_host::input::{Shown, Source, Table};
use calib_host::{ScoreKind, VectorKind};
use clap::Args;

use crate::cli::bar::reading;
use crate::cli::error::Error;
use crate::cli::options::{SCORE_COLUMN, ScoreSource};
use crate::cli::out::{stderr, warn};
use crate::cli::read::{
    NamedArtifact, RuleColumns, SET, VERDICT, applied_codes, codes_of_classes, question_kind,
    question_margins, read_code_vectors, read_groups, read_vectors,
};
use crate::cli::show::{ACTION, ADDED, AppliedColumns, INTERVAL, VENN_ABERS, WORD};

/// Calibrate scores as the device does, and write a table.
///
/// Bit by bit what the device answers, as CSV.
#[derive(Args)]
pub(crate) struct Apply {
    /// The artefact.
    artifact: PathBuf,
    #[command(flatten)]
    source: ScoreSource,
    /// The column of scores or margins in a table, or of integer codes for an artefact over codes; in an NPZ archive the array of scores,
    /// logits or probabilities. For codes of several classes in a table the columns of all, separated by commas.
    #[arg(long, default_value = SCORE_COLUMN, value_name = "NAME")]
    score_column: String,
    /// Where to write: the columns of a table of scores, then prob, bin, epsilon and flags. For a matrix, class, prob, bin,
    /// epsilon and flags of the predicted class; the same with _1 to _K of the first K classes; or the predicted class,
    /// prob_0 to the last class's, and flags, as the artefact's reduction says. Columns of a table of
    /// scores that a CSV table cannot hold (lists, objects, arrays of another length or of more than one dimension) are left
    /// out, and standard error names them. What is uncalibrated is empty, and flags
    /// says so. An artefact with intervals adds lo and hi, one of Venn-Abers p0 and p1, a randomised one the word that was drawn,
    /// one with a decision rule the action, of the predicted class where there are several, one with thresholds the verdict, and one
    /// with prediction sets the classes in the set, separated by spaces, and their number.
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,
    /// Add bin_0, epsilon_0 and so on to the probabilities of all classes, where each class has its own.
    #[arg(long)]
    evidence: bool,
    /// The column of groups, for an artefact with tables or thresholds for each group.
    #[arg(long, value_name = "NAME")]
    group_column: Option<String>,
    /// Replace an existing output.
    #[arg(long)]
    force: bool,
    /// The seed of the random words that a randomised artefact needs, one a row.
    #[arg(long, default_value_t = 0, value_name = "SEED")]
    seed: u64,
}

impl Apply {
    pub(crate) fn run(self, quiet: bool) -> Result<(), Error> {
        let named = NamedArtifact::read(&self.artifact, self.seed)?;
        let artifact = named.stored.artifact();
        if self.evidence && artifact.header().reduction != Reduction::ClassWise {
            return Err(Error::Usage("--evidence goes with a class-wise artefact: leave it out".into()));
        }
        let Some((path, kind)) = self.source.vectors() else {
            let (path, kind) = self.source.binary().expect("clap asks for one of the sources");
            return self.scores(&named, &Source::read(path, &reading(quiet))?, kind, quiet);
        };
        let source = Source::read(path, &reading(quiet))?;
        if artifact.header().method.has_no_calibrator() {
            return self.sets_alone(&named, &source, kind);
        }
        match codes_of_classes(&artifact) {
            Some((_, takes)) if kind != takes => Err(named.mismatch(match kind {
                VectorKind::Logits => "logits",
                VectorKind::Probs => "probabilities",
            })),
            Some((encoding, kind)) => {
                let codes = read_code_vectors(&source, encoding, kind, &self.score_column)?;
                let applied = applied_codes(&self.artifact, &artifact, &codes)?;
                let rule = RuleColumns::of_codes(&named, &codes)?;
                self.write(|writer| self.vectors(&artifact, applied, rule.as_ref(), writer))
            }
            None => {
                let vectors = read_vectors(&source, kind, &self.score_column)?;
                let applied = named.apply(&vectors)?;
                warn(question_kind(&source, &vectors).as_slice())?;
                let rule = RuleColumns::of_vectors(&named, &vectors)?;
                self.write(|writer| self.vectors(&artifact, applied, rule.as_ref(), writer))
            }
        }
    }

    /// The columns of a table of scores, and what is added to them.
    fn scores(
        &self,
        artifact: &NamedArtifact<'_>,
        source: &Source,
        kind: ScoreKind,
        quiet: bool,
    ) -> Result<(), Error> {
        let table = Table::read(source)?;
        table.check_absent(&ADDED)?;
        table.check_absent(&INTERVAL)?;
        if artifact.stored.artifact().header().method == Method::VennAbers {
            table.check_absent(&VENN_ABERS)?;
        }
        table.check_absent(&[WORD, ACTION])?;
        table.check_absent(VERDICT)?;
        table.check_absent(SET)?;
        let group_column = self.group_column.as_deref();
        let rule = RuleColumns::of_scores(artifact, &table, &self.score_column, kind, group_column)?;
        if let (Some(rule), true) = (&rule, artifact.stored.artifact().header().method.has_no_calibrator()) {
            let shown = table.shown(rule.rows.len());
            if !quiet {
                self.name_left_out(&shown)?;
            }
            return self.write(|writer| {
                shown.header().try_for_each(|name| writer.write_field(name))?;
                writer.write_record(rule.names)?;
                for (i, row) in rule.rows.iter().enumerate() {
                    shown.record(i).try_for_each(|field| writer.write_field(field.as_bytes()))?;
                    writer.write_record(row)?;
                }
                Ok(())
            });
        }
        let groups = match group_column {
            Some(column) => Some(read_groups(source, column, table.numbers(&self.score_column)?.len())?),
            None => None,
        };
        let applied = artifact.apply_scores(&table, &self.score_column, kind, groups.as_ref())?;
        warn(question_margins(source, kind, applied.iter().map(|row| &row.score)).as_slice())?;
        let shown = table.shown(applied.len());
        if !quiet {
            self.name_left_out(&shown)?;
        }
        let columns = AppliedColumns::of(&artifact.stored.artifact());
        self.write(|writer| {
            shown.header().try_for_each(|name| writer.write_field(name))?;
            columns.write_header("", writer)?;
            columns.write_end_header(names_of(rule.as_ref()), writer)?;
            for (i, row) in applied.iter().enumerate() {
                shown.record(i).try_for_each(|field| writer.write_field(field.as_bytes()))?;
                columns.write(row, writer)?;
                columns.write_end(row.word, &row.outcome, cells_of(rule.as_ref(), i), writer)?;
            }
            Ok(())
        })
    }

    /// The columns that the artefact's reduction asks for.
    fn vectors(
        &self,
        artifact: &Artifact<'_>,
        applied: impl Iterator<Item = AppliedVector>,
        rule: Option<&RuleColumns>,
        writer: &mut csv::Writer<&mut dyn Write>,
    ) -> csv::Result<()> {
        let columns = AppliedColumns::of(artifact);
        let header = artifact.header();
        match header.reduction {
            Reduction::TopLabel | Reduction::Confidence => {
                writer.write_field("class")?;
                columns.write_header("", writer)?;
            }
            Reduction::TopKLabel { k } | Reduction::TopKConfidence { k } => {
                for rank in 1..=k {
                    writer.write_field(format!("class_{rank}"))?;
                    columns.write_header(&format!("_{rank}"), writer)?;
                }
            }
            _ => columns.write_classes_header(header.classes, self.evidence, writer)?,
        }
        columns.write_end_header(names_of(rule), writer)?;
        for (i, row) in applied.enumerate() {
            let cells = cells_of(rule, i);
            match row {
                AppliedVector::TopLabel(row) => {
                    writer.write_field(row.class.to_string())?;
                    columns.write(&row, writer)?;
                    columns.write_end(row.word, &row.outcome, cells, writer)?;
                }
                AppliedVector::TopK(pairs) => {
                    for row in &pairs {
                        writer.write_field(row.class.to_string())?;
                        columns.write(row, writer)?;
                    }
                    let first = pairs.first().expect("there is at least one rank");
                    columns.write_end(first.word, &first.outcome, cells, writer)?;
                }
                AppliedVector::Classes(row) => {
                    columns.write_classes(&row, self.evidence, writer)?;
                    columns.write_end(row.word, &row.predicted, cells, writer)?;
                }
            }
        }
        Ok(())
    }

    /// The predicted classes and the sets, of an artefact that has nothing else.
    fn sets_alone(&self, named: &NamedArtifact<'_>, source: &Source, kind: VectorKind) -> Result<(), Error> {
        let artifact = named.stored.artifact();
        let encoding = artifact.header().encoding;
        let (classes, rule): (Vec<u16>, _) = if encoding.is_quantized() {
            let codes = read_code_vectors(source, encoding, kind, &self.score_column)?;
            (codes.softmax_top_labels().map(|top| top.class).collect(), RuleColumns::of_codes(named, &codes)?)
        } else {
            let vectors = read_vectors(source, kind, &self.score_column)?;
            warn(question_kind(source, &vectors).as_slice())?;
            (vectors.top_labels().map(|top| top.class).collect(), RuleColumns::of_vectors(named, &vectors)?)
        };
        let rule = rule.ok_or_else(|| named.mismatch("vectors"))?;
        self.write(|writer| {
            writer.write_field("class")?;
            writer.write_record(rule.names)?;
            for (class, row) in classes.iter().zip(&rule.rows) {
                writer.write_field(class.to_string())?;
                writer.write_record(row)?;
            }
            Ok(())
        })
    }

    /// No column goes missing unsaid.
    fn name_left_out(&self, shown: &Shown<'_>) -> io::Result<()> {
        let names: Vec<&str> = shown.left_out().collect();
        if names.is_empty() {
            return Ok(());
        }
        let output = self.output.display();
        let names = names.join(", ");
        writeln!(stderr(), "left out of {output}, which has one value a row and column: {names}")
    }

    fn write(
        &self,
        rows: impl FnOnce(&mut csv::Writer<&mut dyn Write>) -> csv::Result<()>,
    ) -> Result<(), Error> {
        write_file(&self.output, self.force, |out| {
            let mut writer = csv::Writer::from_writer(out);
            rows(&mut writer).map_err(io_cause)?;
            writer.flush()
        })?;
        Ok(())
    }
}

/// The names of a rule's columns.
fn names_of(rule: Option<&RuleColumns>) -> &[&str] {
    rule.map_or(&[], |rule| rule.names)
}

/// A row's cells of a rule's columns.
fn cells_of(rule: Option<&RuleColumns>, row: usize) -> &[String] {
    rule.and_then(|rule| rule.rows.get(row)).map_or(&[], Vec::as_slice)
}

/// The operating system's reason, which tells a full disk from other failures.
fn io_cause(error: csv::Error) -> io::Error {
    match error.into_kind() {
        csv::ErrorKind::Io(cause) => cause,
        other => io::Error::other(format!("{other:?}")),
    }
}
