//! `calib decide`

use std::path::{Path, PathBuf};

use calib_core::Score;
use calib_core::artifact::Reduction;
use calib_fit::apply::Applied;
use calib_fit::artifact::rule_sentences;
use calib_fit::assess::flaws;
use calib_fit::data::{Overlap, RowsDigest};
use calib_fit::job::{DecideRows, decide, with_rule};
use calib_fit::{ScoreKind, StoredArtifact};
use calib_io::files::{Location, Problem};
use calib_io::input::{self, Table, read_costs};
use clap::Args;

use crate::context::Context;
use crate::error::Error;
use crate::kinds::FileKind;
use crate::next::{Given, Suggestion, on, words};
use crate::options::headings::{DATA, DEVICE, GUARANTEES, OUTPUT};
use crate::options::{SCORE_COLUMN, SameRows, binary_source, count, parse_alpha, warn_of_counter};
use crate::out::made;
use crate::read::{NamedArtifact, labels_of, margin_warning, read_all};
use crate::run::Run;
use crate::show::{Warnings, print};

/// A costs file to begin with.
const STARTER: &str = include_str!("decide_starter.toml");

/// What says nothing beside a costs file to begin with.
const STARTER_IS_ALONE: [&str; 10] = [
    "artifact",
    "actions",
    "probs",
    "scores",
    "margins",
    "label_column",
    "labels",
    "validation",
    "output",
    "json",
];

/// Find the cheapest action for every probability, and its cost.
///
/// The costs file is TOML. A table `[[action]]` has name, positive (cost if the event happens), negative (cost if not)
/// and alarm (true or false).
///
/// An action may also have abstain, if_sure, start_up, above and up_to. With if_sure = true, calib takes the action
/// only if the whole interval of the bin leads to it. With if_sure = "band", the whole band at the score must lead to
/// it. start_up is the cost of using the action at all. above and up_to are an interval of probabilities, which
/// replaces Bayes' rule.
///
/// Before the actions, uncalibrated names the action for rows without a probability. cases is the number of decisions
/// over which start-up costs are spread.
///
/// Without --probs, --scores or --margins, calib prints only the thresholds. With them, it also prints the expected
/// cost and the ROC curve, which need no labels. Labeled data that the calibrator was not fitted to (--validation) show
/// how much they may differ from the truth.
#[derive(Args)]
pub(crate) struct Decide {
    /// Artifact that calibrates --scores, and that the rule is stored in.
    artifact: Option<PathBuf>,
    /// Costs file.
    #[arg(long, value_name = "FILE", required_unless_present = "starter", help_heading = DATA)]
    actions: Option<PathBuf>,
    /// Write a costs file to start with, and nothing else: three actions, with a comment on every key.
    #[arg(long, value_name = "FILE", conflicts_with_all = STARTER_IS_ALONE, help_heading = DATA)]
    starter: Option<PathBuf>,
    /// Table of calibrated probabilities, such as `calib apply` writes; an empty probability is uncalibrated.
    #[arg(long, value_name = "FILE", conflicts_with = "scores", help_heading = DATA)]
    probs: Option<PathBuf>,
    /// Scores of class 1, which the artifact calibrates.
    #[arg(long, value_name = "FILE", requires = "artifact", help_heading = DATA)]
    scores: Option<PathBuf>,
    /// Raw scores of class 1, of any size, which the artifact calibrates.
    #[arg(long, value_name = "FILE", requires = "artifact", conflicts_with_all = ["probs", "scores"], help_heading = DATA)]
    margins: Option<PathBuf>,
    /// Column of probabilities.
    #[arg(long, default_value = "prob", value_name = "NAME", help_heading = DATA, hide_short_help = true)]
    prob_column: String,
    /// Column of scores or raw scores.
    #[arg(long, default_value = SCORE_COLUMN, value_name = "NAME", help_heading = DATA)]
    score_column: String,
    /// Column of labels: also print the actual cost.
    ///
    /// The labels of --validation have the same name, or the name label.
    #[arg(long, value_name = "NAME", help_heading = DATA)]
    label_column: Option<String>,
    /// Labels of the rows, in a separate file: a NumPy array of integers, or a table.
    #[arg(long, value_name = "FILE", help_heading = DATA)]
    labels: Option<PathBuf>,
    /// Labeled rows to measure how well calibrated the probabilities are, with the same column names.
    ///
    /// The calibrator must not be fitted to these rows. By default, calib uses the input rows, if they are labeled.
    #[arg(long, value_name = "FILE", help_heading = DATA)]
    validation: Option<PathBuf>,
    /// Accepted probability that the interval of the expected cost fails.
    #[arg(long, default_value_t = 0.1, value_name = "DELTA", value_parser = parse_alpha, help_heading = GUARANTEES)]
    delta: f64,
    /// Seed of the random words that a randomized artifact needs, one per row.
    #[arg(long, default_value_t = 0, value_name = "SEED", value_parser = count::<u64>(..), help_heading = GUARANTEES, hide_short_help = true)]
    seed: u64,
    #[command(flatten)]
    same_rows: SameRows,
    /// Rollback counter of the artifact with the rule; by default that of the artifact.
    ///
    /// A device that holds a signed artifact with this counter refuses another one.
    #[arg(long, value_name = "N", value_parser = count::<u32>(..), requires = "output", help_heading = DEVICE, hide_short_help = true)]
    counter: Option<u32>,
    /// Output file for the artifact with the rule.
    #[arg(short, long, value_name = "FILE", requires = "artifact", help_heading = OUTPUT)]
    output: Option<PathBuf>,
    /// Replace an existing output.
    #[arg(long, help_heading = OUTPUT)]
    force: bool,
    /// Print JSON on standard output.
    #[arg(long, help_heading = OUTPUT)]
    json: bool,
}

impl Run for Decide {
    const AT_WORK: Option<&str> = Some("deciding");
    const OUTPUT: Option<FileKind> = Some(FileKind::Artifact);
    const NOT_STREAMED: Option<&str> =
        Some("standard output has the answer of the command: give -o the name of a file");

    fn run(self, cx: &Context) -> Result<(), Error> {
        if let Some(starter) = &self.starter {
            return cx.write_output(starter, self.force, STARTER.as_bytes());
        }
        let costs = read_costs(self.actions.as_deref().expect("clap asks for one of the two"))?;
        let named = self.artifact.as_ref().map(|path| NamedArtifact::read(path, self.seed)).transpose()?;
        let stored = named.as_ref().map(|named| &named.stored);
        let path = self.probs.as_deref().or(self.scored().map(|scored| scored.0));
        if path.is_none()
            && (self.labels.is_some() || self.label_column.is_some() || self.validation.is_some())
        {
            return Err(Error::Usage("labels and --validation go with --probs or --scores".into()));
        }
        let rows = path
            .map(|path| self.read(path, self.labels.as_deref(), false, named.as_ref(), cx))
            .transpose()?;
        let validation_rows = self
            .validation
            .as_deref()
            .map(|path| self.read(path, None, true, named.as_ref(), cx))
            .transpose()?;

        let (rows, overlap) = rows.unzip();
        let (validation_rows, of_validation) = validation_rows.unzip();
        let mut found = Vec::new();
        for (path, overlap) in [(path, overlap), (self.validation.as_deref(), of_validation)] {
            let path = path.unwrap_or(Path::new("-"));
            found.extend(self.same_rows.allow(overlap.flatten(), path, "the artifact was")?);
        }
        cx.warn(found.get(..1).unwrap_or_default())?;

        let error = |cause| Error::job(Location::file(path.unwrap_or(Path::new("-"))), cause);
        let decided = decide(&costs, rows.as_ref(), validation_rows.as_ref(), self.delta).map_err(error)?;
        let with_rule =
            stored.map(|stored| with_rule(stored, &decided, self.counter)).transpose().map_err(error)?;
        if let (Some(output), Some(with_rule)) = (&self.output, &with_rule) {
            cx.write_output(output, self.force, with_rule.as_bytes())?;
        }
        if let (Some(stored), Some(path), true) = (stored, &self.artifact, self.output.is_some()) {
            warn_of_counter(path, stored, self.counter.unwrap_or(stored.artifact().counter()), cx)?;
        }
        let was_signed = stored.is_some_and(|stored| stored.artifact().signature().is_some());
        let warnings = Warnings {
            warnings: match self.output {
                Some(_) => was_signed
                    .then(|| UNSIGNED.to_owned())
                    .into_iter()
                    .chain(stored.and_then(replaced))
                    .collect(),
                None => Vec::new(),
            },
            flaws: match &with_rule {
                Some(with_rule) => flaws(&with_rule.artifact()),
                None => rows.as_ref().map_or_else(Vec::new, |rows| decided.unreached(rows)),
            },
            ..Warnings::default()
        };
        warnings.print(cx)?;
        if self.json {
            let mut value = made(self.output.as_deref(), &decided)?;
            warnings.add_to(&mut value);
            cx.print_json(&value)
        } else {
            Ok(print(&decided, &mut cx.stdout())?)
        }
    }

    fn next(given: &Given<'_>, _: &Context) -> Option<Suggestion> {
        if let Some(starter) = given.text("starter") {
            return Some((
                on("calib decide --actions", starter),
                "when its names and costs are yours".into(),
            ));
        }
        let (flag, path) = given.source()?;
        let line = on("calib apply", given.text("output")?).into_iter().chain([flag.to_owned(), path]);
        Some((line.chain(words("-o decided.csv")).collect(), "the action for every row".into()))
    }
}

impl Decide {
    /// Reads a file like the main input. `needs_labels` if it is of no use without.
    fn read(
        &self,
        path: &Path,
        labels: Option<&Path>,
        needs_labels: bool,
        named: Option<&NamedArtifact<'_>>,
        cx: &Context,
    ) -> Result<(DecideRows, Option<Overlap>), Error> {
        let paths: Vec<_> = std::iter::once(path).chain(labels).collect();
        let sources = read_all(&paths, cx)?;
        let scored = named.zip(self.scored());
        let column = if scored.is_some() { &self.score_column } else { &self.prob_column };
        let default = needs_labels.then_some("label");
        let label_column = self.label_column.as_deref().or(default);
        let columns: Vec<&str> =
            std::iter::once(&**column).chain(label_column.filter(|_| labels.is_none())).collect();
        let table = Table::read_only(&sources[0], &columns)?;
        let applied = match scored {
            Some((named, (_, kind))) => Some(applied(named, &table, column, kind)?),
            None => None,
        };
        if let (Some(applied), Some((_, (_, kind)))) = (&applied, scored) {
            cx.warn(margin_warning(&sources[0], kind, applied.iter().map(|row| &row.score)).as_slice())?;
        }
        let probs = match &applied {
            Some(applied) => DecideRows::of_outcomes(applied.iter().map(|row| &row.outcome)).probs,
            None => probs(&table, column)?,
        };
        let labels = match label_column.or(labels.map(|_| "label")) {
            Some(column) => Some(labels_of(&sources, &table, column)?),
            None => None,
        };
        if let Some(labels) = &labels {
            input::check_rows(labels, probs.len(), path)?;
            labels.check_classes(2)?;
        }
        let labels: Option<Vec<bool>> =
            labels.map(|labels| labels.values.iter().map(|&label| label == 1).collect());
        let overlap = match (named, applied, &labels) {
            (Some(named), Some(applied), Some(labels)) => {
                let rows = applied.iter().zip(labels);
                let digest = RowsDigest::of_scores(rows.map(|(row, &label)| (row.score, label, 1)));
                named.overlap_with_fit(&digest, &sources)
            }
            _ => None,
        };
        Ok((DecideRows { probs, labels, is_calibration: overlap.is_some() }, overlap))
    }

    /// The file of binary scores, and what these are.
    fn scored(&self) -> Option<(&Path, ScoreKind)> {
        binary_source(self.scores.as_deref(), self.margins.as_deref())
    }
}

fn applied(
    named: &NamedArtifact<'_>,
    table: &Table,
    column: &str,
    kind: ScoreKind,
) -> Result<Vec<Applied>, Error> {
    if named.stored.artifact().header().reduction != Reduction::Binary {
        return Err(Error::Mismatch(
            "the artifact does not take binary scores: calibrate with `calib apply`, and use --probs".into(),
        ));
    }
    named.apply_scores(table, column, kind, None)
}

/// What is said where a rule is put into a signed artifact.
const UNSIGNED: &str = "the artifact was signed, and the one with the rule is not: sign it with `calib sign`";

/// What is said where a rule takes the place of thresholds or sets.
fn replaced(stored: &StoredArtifact) -> Option<String> {
    let sentence = rule_sentences(&stored.artifact()).into_iter().next()?;
    Some(format!(
        "a device decides in one way only: the rule replaces the earlier guarantee of the artifact: {sentence}"
    ))
}

/// A column of probabilities, empty where there is none.
fn probs(table: &Table, column: &str) -> Result<Vec<Option<Score>>, Error> {
    let column = table.optional_numbers(column)?;
    let check = |(row, prob): (usize, &Option<f64>)| match *prob {
        None => Ok(None),
        Some(prob) if (0.0..=1.0).contains(&prob) => Ok(Score::new(prob as f32).ok()),
        Some(prob) if prob.is_nan() => Err(Error::input(column.at(row), Problem::NaN)),
        Some(prob) => Err(Error::input(column.at(row), Problem::ProbOutOfRange(prob))),
    };
    column.values.iter().enumerate().map(check).collect()
}
