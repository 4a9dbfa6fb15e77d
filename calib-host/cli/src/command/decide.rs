//! `calib decide`

use std::path::{Path, PathBuf};

use calib_core::artifact::Reduction;
use calib_core::{Outcome, Score};
use calib_fit::apply::Applied;
use calib_fit::artifact::{CompileError, rule_sentences};
use calib_fit::assess::{AssessOptions, Flaw, Prediction, RuleInterval, flaws, unreached};
use calib_fit::data::RowsHash;
use calib_fit::decide::{
    Actions, Chosen, CostInterval, Envelope, EstimatedRoc, ProbDistribution, ReportedRule, Rule,
    ThresholdAccuracy, Validation, actual_cost, choose_actions, cost_interval, expected_cost, with_decision,
};
use calib_fit::job::Finding;
use calib_fit::{ScoreKind, StoredArtifact};
use calib_io::files::{Place, Problem};
use calib_io::input::{self, Costs, Table, read_costs};
use clap::Args;

use crate::context::Context;
use crate::error::Error;
use crate::kinds::FileKind;
use crate::next::{Given, Suggestion, on, words};
use crate::options::{SCORE_COLUMN, SameRows, binary_source, parse_alpha};
use crate::read::{NamedArtifact, labels_of, question_margins, read_all};
use crate::run::Run;
use crate::show::{Decided, Warnings, print};

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

/// Find the cheapest action for every probability, and what it costs.
///
/// The costs file is TOML: a table `[[action]]` with name, positive (what it costs if the event happens), negative
/// (if not), alarm (true or false), and if wanted abstain, if_sure (only where the evidence suffices), start_up (the cost of using it at all), above and up_to (an
/// interval of probabilities, in place of Bayes' rule). In front of the actions, uncalibrated names the action to take
/// without a probability, and cases the number of decisions over which start-up costs are spread.
///
/// Without --probs, --scores or --margins only the thresholds are printed. With them, also the expected cost and the ROC curve:
/// labels are not needed. How far they may be off follows from labelled data that the calibrator was not fitted to
/// (--validation).
#[derive(Args)]
pub(crate) struct Decide {
    /// An artefact to calibrate --scores with, and to put the rule into.
    artifact: Option<PathBuf>,
    /// The costs file.
    #[arg(long, value_name = "FILE", required_unless_present = "starter", help_heading = "Data")]
    actions: Option<PathBuf>,
    /// Write a costs file to begin with, and nothing else: three actions, and what every key means.
    #[arg(long, value_name = "FILE", conflicts_with_all = STARTER_IS_ALONE, help_heading = "Data")]
    starter: Option<PathBuf>,
    /// A table of calibrated probabilities, such as `calib apply` writes; empty ones are uncalibrated.
    #[arg(long, value_name = "FILE", conflicts_with = "scores", help_heading = "Data")]
    probs: Option<PathBuf>,
    /// Scores of class 1, to be calibrated with the artefact.
    #[arg(long, value_name = "FILE", requires = "artifact", help_heading = "Data")]
    scores: Option<PathBuf>,
    /// Margins of class 1, scores of any size, to be calibrated with the artefact.
    #[arg(long, value_name = "FILE", requires = "artifact", conflicts_with_all = ["probs", "scores"], help_heading = "Data")]
    margins: Option<PathBuf>,
    /// The column of probabilities.
    #[arg(long, default_value = "prob", value_name = "NAME", help_heading = "Data", hide_short_help = true)]
    prob_column: String,
    /// The column of scores or margins.
    #[arg(long, default_value = SCORE_COLUMN, value_name = "NAME", help_heading = "Data")]
    score_column: String,
    /// The rows are labelled, in this column: print the actual cost, too. The labels of --validation are called the same, or
    /// label.
    #[arg(long, value_name = "NAME", help_heading = "Data")]
    label_column: Option<String>,
    /// The rows are labelled, in this file: a NumPy array of integers, or a table.
    #[arg(long, value_name = "FILE", help_heading = "Data")]
    labels: Option<PathBuf>,
    /// Labelled rows, in columns called as those of the others, to tell how well calibrated the probabilities are. Not those
    /// that the calibrator was fitted to. Without it the rows themselves are used, if they are labelled.
    #[arg(long, value_name = "FILE", help_heading = "Data")]
    validation: Option<PathBuf>,
    /// The probability with which the interval of the expected cost may fail.
    #[arg(long, default_value_t = 0.1, value_name = "DELTA", value_parser = parse_alpha, help_heading = "Guarantees and intervals")]
    delta: f64,
    /// The seed of the random words that a randomised artefact needs, one a row.
    #[arg(
        long,
        default_value_t = 0,
        value_name = "SEED",
        help_heading = "Guarantees and intervals",
        hide_short_help = true
    )]
    seed: u64,
    #[command(flatten)]
    same_rows: SameRows,
    /// Where to write the artefact with the rule.
    #[arg(short, long, value_name = "FILE", requires = "artifact", help_heading = "Output")]
    output: Option<PathBuf>,
    /// Replace an existing output.
    #[arg(long, help_heading = "Output")]
    force: bool,
    /// Print JSON on standard output.
    #[arg(long, help_heading = "Output")]
    json: bool,
}

/// Calibrated rows of a file.
struct DecidedRows {
    /// `None` for an uncalibrated row.
    probs: Vec<Option<Score>>,
    labels: Option<Vec<bool>>,
    /// Whether the calibrator was fitted to these rows.
    is_calibration: bool,
}

impl Run for Decide {
    const AT_WORK: Option<&str> = Some("deciding");
    const OUTPUT: Option<FileKind> = Some(FileKind::Artefact);
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

        let files = [(path, &rows), (self.validation.as_deref(), &validation_rows)];
        let is_same = |rows: &Option<DecidedRows>| {
            rows.as_ref().is_some_and(|rows| rows.is_calibration && rows.labels.is_some())
        };
        for (path, rows) in files {
            self.same_rows.allow(is_same(rows), path.unwrap_or(Path::new("-")), "the artefact was")?;
        }
        let same = files.iter().any(|(_, rows)| is_same(rows));
        cx.warn(same.then_some(Finding::SameRows).as_slice())?;

        let decided = self.decide(&costs, rows.as_ref(), validation_rows.as_ref())?;
        let with_rule = stored.map(|stored| with_rule(stored, &decided)).transpose()?;
        if let (Some(output), Some(with_rule)) = (&self.output, &with_rule) {
            cx.write_output(output, self.force, with_rule.as_bytes())?;
        }
        let was_signed = stored.is_some_and(|stored| stored.artifact().signature().is_some());
        let warnings = Warnings {
            doubts: match self.output {
                Some(_) => was_signed
                    .then(|| UNSIGNED.to_owned())
                    .into_iter()
                    .chain(stored.and_then(replaced))
                    .collect(),
                None => Vec::new(),
            },
            flaws: match &with_rule {
                Some(with_rule) => flaws(&with_rule.artifact()),
                None => unreached_of(&decided, rows.as_ref()),
            },
            ..Warnings::default()
        };
        warnings.print(cx)?;
        if self.json {
            let mut value = decided.to_json(self.output.as_deref());
            warnings.add_to(&mut value);
            cx.print_json(&value)
        } else {
            Ok(print(&decided, &mut cx.stdout())?)
        }
    }

    fn next(given: &Given<'_>, _: &Context) -> Option<Suggestion> {
        if let Some(starter) = given.text("starter") {
            return Some((on("calib decide --actions", starter), "when its names and costs are yours"));
        }
        let (flag, path) = given.source()?;
        let line = on("calib apply", given.text("output")?).into_iter().chain([flag.to_owned(), path]);
        Some((line.chain(words("-o decided.csv")).collect(), "the action for every row"))
    }
}

impl Decide {
    fn decide<'c>(
        &self,
        costs: &'c Costs,
        rows: Option<&DecidedRows>,
        validation_rows: Option<&DecidedRows>,
    ) -> Result<Decided<'c>, Error> {
        let actions = &costs.actions;
        let envelope = Envelope::new(actions, |_| true);
        let probs = rows.map(|rows| self.distribution(rows)).transpose()?;
        let (rule, chosen) = choose(costs, &envelope, probs.as_ref())?;
        let labelled = rows.and_then(DecidedRows::predictions);
        // On the points that it was fitted to a calibrator always looks good.
        let fair = |rows: &&DecidedRows| !rows.is_calibration;
        let (validation, own) = match validation_rows {
            Some(rows) => (Some(rows).filter(fair).and_then(DecidedRows::predictions), false),
            None => (rows.filter(fair).and_then(DecidedRows::predictions), true),
        };
        let validation = validation.filter(|labelled| !labelled.is_empty());
        let validation = validation.map(|labelled| Validation::new(&labelled, self.delta));
        let candidates = chosen.as_ref().map_or(1, |chosen| chosen.candidates);
        let interval: Option<CostInterval> = probs
            .as_ref()
            .zip(validation.as_ref())
            .map(|(probs, validation)| cost_interval(actions, &rule, probs, validation, candidates));
        let is_stated = costs.stated.is_some();
        Ok(Decided {
            actions,
            left_out: if is_stated { Vec::new() } else { envelope.left_out(actions) },
            is_stated,
            uncalibrated_rows: rows.map_or(0, |rows| rows.probs.iter().filter(|prob| prob.is_none()).count()),
            expected: probs.as_ref().map(|probs| expected_cost(actions, &rule, probs)),
            bayes: probs
                .as_ref()
                .filter(|_| is_stated)
                .map(|p| expected_cost(actions, &Rule::bayes(&envelope), p)),
            counts: probs
                .as_ref()
                .map(|probs| rule.pieces().map(|(_, above, up_to)| probs.within(above, up_to).0).collect()),
            accuracies: labelled
                .as_deref()
                .map_or_else(Vec::new, |labelled| accuracies(actions, &rule, labelled)),
            actual: labelled.map(|labelled| actual_cost(actions, &rule, &labelled)),
            roc: probs
                .as_ref()
                .and_then(|probs| EstimatedRoc::new(probs, validation.map(|validation| validation.c_emp))),
            fitted_to: rows
                .into_iter()
                .chain(validation_rows)
                .any(|rows| rows.is_calibration && rows.labels.is_some()),
            cases: costs.cases.or(probs.as_ref().map(|probs| probs.len() as u64)),
            n: probs.as_ref().map(ProbDistribution::len),
            own_validation: own,
            validation,
            interval,
            chosen,
            rule,
        })
    }

    fn distribution(&self, rows: &DecidedRows) -> Result<ProbDistribution, Error> {
        let place =
            || Place::file(self.probs.as_deref().or(self.scored().map(|s| s.0)).unwrap_or(Path::new("-")));
        ProbDistribution::new(rows.probs.iter().flatten().copied())
            .ok_or_else(|| Error::input(place(), Problem::AllUncalibrated))
    }

    /// Reads a file like the main input. `needs_labels` if it is of no use without.
    fn read(
        &self,
        path: &Path,
        labels: Option<&Path>,
        needs_labels: bool,
        named: Option<&NamedArtifact<'_>>,
        cx: &Context,
    ) -> Result<DecidedRows, Error> {
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
            cx.warn(question_margins(&sources[0], kind, applied.iter().map(|row| &row.score)).as_slice())?;
        }
        let probs = match &applied {
            Some(applied) => applied.iter().map(|row| prob(&row.outcome)).collect(),
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
        let is_calibration = match (named, applied, &labels) {
            (Some(named), Some(applied), Some(labels)) => {
                let rows = applied.iter().zip(labels);
                let hash = rows.map(|(row, &label)| RowsHash::of_score(row.score, label)).sum();
                named.is_fitted_to(hash, &sources)
            }
            _ => false,
        };
        Ok(DecidedRows { probs, labels, is_calibration })
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
            "the artefact does not take binary scores: calibrate with `calib apply`, and use --probs".into(),
        ));
    }
    named.apply_scores(table, column, kind, None)
}

fn prob(outcome: &Outcome) -> Option<Score> {
    outcome.calibrated().and_then(|found| Score::new(found.prob).ok())
}

/// The decisions that the artefact, or without one no row, leads to.
fn unreached_of(decided: &Decided<'_>, rows: Option<&DecidedRows>) -> Vec<Flaw> {
    let Some(rows) = rows else { return Vec::new() };
    let interval = |(action, above, up_to): (usize, Option<f32>, f32)| {
        let action = &decided.actions.all()[action];
        RuleInterval { action: &action.name, alarm: action.alarm, above, up_to }
    };
    let rule: Vec<_> = decided.rule.pieces().map(interval).collect();
    unreached(&rule, rows.probs.iter().flatten().map(|prob| prob.get()))
}

/// What is said where a rule is put into a signed artefact.
const UNSIGNED: &str = "the artefact was signed, and the one with the rule is not: sign it with `calib sign`";

/// What is said where a rule takes the place of thresholds or sets.
fn replaced(stored: &StoredArtifact) -> Option<String> {
    let sentence = rule_sentences(&stored.artifact()).into_iter().next()?;
    Some(format!(
        "a device decides in one way, and the rule takes the place of what the artefact promises: {sentence}"
    ))
}

/// The artefact with the rule in it.
fn with_rule(stored: &StoredArtifact, decided: &Decided<'_>) -> Result<StoredArtifact, Error> {
    let artifact = stored.artifact();
    if artifact.header().method.has_no_calibrator() {
        return Err(Error::Mismatch(
            "the artefact has thresholds or sets alone, and no probabilities to decide by".into(),
        ));
    }
    let bytes = with_decision(stored, decided.actions, &decided.rule);
    let bytes = bytes.map_err(|cause| Error::from(CompileError::from(cause)))?;
    Ok(StoredArtifact::from_bytes(&bytes).expect("what was written is an artefact"))
}

impl DecidedRows {
    /// The calibrated rows with their labels, if there are labels.
    fn predictions(&self) -> Option<Vec<Prediction>> {
        let rows = self.probs.iter().zip(self.labels.as_ref()?);
        let prediction = |(prob, &hit): (&Option<Score>, &bool)| {
            prob.map(|prob| Prediction { class: 1, prob: prob.get().into(), bin: 0, hit })
        };
        Some(rows.filter_map(prediction).collect())
    }
}

/// How accurate the rule is at its thresholds, with 95 % intervals.
fn accuracies(actions: &Actions, rule: &Rule, labelled: &[Prediction]) -> Vec<ThresholdAccuracy> {
    match labelled.is_empty() {
        true => Vec::new(),
        false => {
            ReportedRule::of_costs(rule.clone(), actions).accuracies(labelled, &AssessOptions::default())
        }
    }
}

/// The rule, and how it was chosen if start-up costs had a say.
fn choose(
    costs: &Costs,
    envelope: &Envelope,
    probs: Option<&ProbDistribution>,
) -> Result<(Rule, Option<Chosen>), Error> {
    let actions: &Actions = &costs.actions;
    match (&costs.stated, probs) {
        (Some(stated), _) => Ok((stated.clone(), None)),
        (None, _) if !actions.have_start_up() => Ok((Rule::bayes(envelope), None)),
        (None, Some(probs)) => {
            let chosen = choose_actions(actions, probs, costs.cases.unwrap_or(probs.len() as u64));
            Ok((chosen.rule.clone(), Some(chosen)))
        }
        (None, None) => Err(Error::Usage(
            "whether a start-up cost is worth it depends on the probabilities: give them with --probs or --scores".into(),
        )),
    }
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
