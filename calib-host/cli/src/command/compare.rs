//! `calib compare`

use std::io::Write;
use std::path::{Path, PathBuf};

use calib_fit::assess::{Bootstrap, IntervalKind, ProperScore};
use calib_fit::compare::{Claim, CompareData, CompareOptions, MethodComparison, Split, compare_methods};
use calib_fit::job::Finding;
use calib_fit::{ScoreKind, VectorKind};
use calib_io::input;
use clap::{Args, ValueEnum};
use serde_json::json;

use crate::context::Context;
use crate::error::Error;
use crate::options::{
    ClusterColumn, ClusterSource, Contenders, MethodChoice, SCORE_COLUMN, SameRows, ScoreSource, any_number,
    count, parse_alpha,
};
use crate::progress::FitBar;
use crate::read::{
    ColumnNames, MatrixColumns, ScoreColumns, matrix_labels, predictions, question_independence,
    question_kind, question_margins, question_predictions, read_all, read_vectors, score_columns,
};
use crate::run::Run;
use crate::show;
use crate::tables::arguments;

/// Compare calibration methods, and recommend one, or none.
///
/// By repeated cross-validation or on test data. Taken is the smallest artefact that is at most one standard error of the paired
/// difference behind the best, and surely better than the scores as they are.
///
/// Every point is calibrated by fits to other points only, with the device's arithmetic. Guarantee and size are those of a
/// fit to all calibration points. Margins are no probabilities: what is called uncalibrated then gives every point the share of
/// label 1 among those that are judged.
#[derive(Args)]
pub(crate) struct Compare {
    /// Scores of class 1 in [0, 1], and labels: a table.
    ///
    /// The same as --scores FILE.
    #[arg(value_name = "FILE", group = "ScoreSource", help_heading = "Data")]
    data: Option<PathBuf>,
    #[command(flatten)]
    source: ScoreSource,
    /// Labels, if not in the table of scores: a NumPy array of integers, or a table.
    #[arg(long, value_name = "FILE", help_heading = "Data")]
    labels: Option<PathBuf>,
    /// The column of scores or margins in a table; in an NPZ archive the array of scores, logits or probabilities.
    #[arg(long, default_value = SCORE_COLUMN, value_name = "NAME", help_heading = "Data")]
    score_column: String,
    /// The column of labels in a table.
    #[arg(long, default_value = "label", value_name = "NAME", help_heading = "Data")]
    label_column: String,
    #[command(flatten)]
    cluster_column: ClusterColumn,
    /// The clusters, if not in the table of scores: a NumPy array of integers, or a table with --cluster-column or `cluster`.
    #[arg(long, value_name = "FILE", help_heading = "What rows are", hide_short_help = true)]
    clusters: Option<PathBuf>,
    /// Judge the methods on this file, of the same kind, in place of cross-validation.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["folds", "repeats"], help_heading = "Data")]
    test: Option<PathBuf>,
    /// The labels of the test file, if not in its table.
    #[arg(long, value_name = "FILE", requires = "test", help_heading = "Data")]
    test_labels: Option<PathBuf>,
    /// The clusters of the test file, if not in its table.
    #[arg(
        long,
        value_name = "FILE",
        requires = "test",
        help_heading = "What rows are",
        hide_short_help = true
    )]
    test_clusters: Option<PathBuf>,
    #[command(flatten)]
    same_rows: SameRows,
    #[command(flatten)]
    choice: MethodChoice,
    /// Of a matrix, which probabilities are judged.
    #[arg(long, value_enum, value_name = "CLAIM", help_heading = "Method and bins")]
    claim: Option<ClaimName>,
    /// The proper scoring rule to rank by. For all classes the log-loss is that of the true class, and the Brier score the
    /// sum over classes. Class-wise probabilities need not sum to one, so that their log-loss is not proper: they are left
    /// out there.
    #[arg(long, value_enum, default_value_t = Metric::Brier, help_heading = "Method and bins")]
    metric: Metric,
    /// The widest guarantee that will do: others are ranked, but not recommended. Where none will do, what it takes is told, and
    /// what to take without it.
    #[arg(long, value_name = "E", value_parser = any_number, help_heading = "Method and bins")]
    epsilon: Option<f64>,
    /// The failure probability of guarantees.
    #[arg(long, default_value_t = 0.1, value_name = "ALPHA", value_parser = parse_alpha, help_heading = "Guarantees and intervals")]
    alpha: f64,
    /// The number of parts of the data; each is calibrated by fits to the others.
    #[arg(long, default_value_t = 5, value_name = "K", value_parser = count::<u16>(2..=1000), help_heading = "Guarantees and intervals", hide_short_help = true)]
    folds: u16,
    /// How often the points are dealt out anew.
    #[arg(long, default_value_t = 3, value_name = "R", value_parser = count::<u16>(1..=1000), help_heading = "Guarantees and intervals", hide_short_help = true)]
    repeats: u16,
    /// The number of bootstrap resamples for the 95 % intervals.
    #[arg(long, default_value_t = 1000, value_name = "N", value_parser = count::<u32>(1..), help_heading = "Guarantees and intervals", hide_short_help = true)]
    bootstrap: u32,
    /// The seed of everything random.
    #[arg(
        long,
        default_value_t = 0,
        value_name = "SEED",
        help_heading = "Guarantees and intervals",
        hide_short_help = true
    )]
    seed: u64,
    /// Print JSON on standard output.
    #[arg(long, help_heading = "Output")]
    json: bool,
}

#[derive(Clone, Copy, PartialEq, ValueEnum)]
enum Metric {
    /// The Brier score.
    Brier,
    /// The log-loss.
    LogLoss,
}

#[derive(Clone, Copy, ValueEnum)]
enum ClaimName {
    /// Those of all classes.
    AllClasses,
    /// That of the predicted class, for the prediction being right.
    TopLabel,
}

impl Run for Compare {
    fn run(self, cx: &Context) -> Result<(), Error> {
        if self.epsilon.is_some_and(|epsilon| epsilon.is_nan() || epsilon <= 0.0) {
            return Err(Error::Usage("epsilon is a number above 0, such as 0.05".into()));
        }
        let mut doubts = Vec::new();
        let ((contenders, left_out), data, test) = match self.source.vectors() {
            None => {
                if self.claim.is_some() {
                    return Err(Error::Usage(
                        "--claim needs a matrix: --logits or --probs instead of --scores".into(),
                    ));
                }
                let (path, kind) = self.binary_source().expect("clap asks for one of the sources");
                let contenders = self.choice.binary(self.seed, kind)?;
                let data =
                    self.binary((path, kind), self.labels.as_deref(), self.clusters(), &mut doubts, cx)?;
                let mut read = |test: &PathBuf| {
                    let labels = self.test_labels.as_deref();
                    self.binary((test, kind), labels, self.clusters_of_test(), &mut doubts, cx)
                };
                (contenders, data, self.test.as_ref().map(&mut read).transpose()?)
            }
            Some((path, kind)) => self.matrices(path, kind, &mut doubts, cx)?,
        };
        cx.warn(&doubts)?;
        let same = test.as_ref().is_some_and(|test| test.rows_hash() == data.rows_hash());
        let path = self.test.as_deref().unwrap_or(Path::new("-"));
        self.same_rows.allow(same, path, "every method is")?;
        cx.warn(same.then_some(Finding::SameRows).as_slice())?;
        let split = match &test {
            Some(test) => Split::Test { n: test.len() },
            None => Split::CrossValidation { folds: self.folds.into(), repeats: self.repeats.into() },
        };
        if test.is_none() && data.units() < usize::from(self.folds) {
            return Err(Error::Usage(format!(
                "{} {} are fewer than the {} folds: choose fewer with --folds",
                data.units(),
                if data.has_clusters() { "clusters" } else { "points" },
                self.folds
            )));
        }
        let bar = FitBar::new(contenders.len(), cx.quiet);
        let options = self.options(split);
        let told = |done, total| bar.tell(done, total);
        let mut comparison = compare_methods(&data, test.as_ref(), &contenders, &options, &told);
        drop(bar);
        comparison.failed.extend(left_out);
        if !self.json {
            show::comparison(&mut cx.stdout(), &comparison)?;
            if let Some(line) = self.fit(&comparison, cx).filter(|_| !cx.quiet) {
                writeln!(cx.stderr(), "next: {line}")?;
            }
            return Ok(());
        }
        let mut value = json!(comparison);
        value["warnings"] = json!(doubts);
        cx.print_json(&value)
    }
}

impl Compare {
    /// Binary scores, and what they are.
    fn binary_source(&self) -> Option<(&Path, ScoreKind)> {
        let data = self.data.as_deref().map(|path| (path, ScoreKind::Probability));
        data.or(self.source.binary())
    }

    /// The command that fits what is recommended, or what is without a demand that none meets, if the data can be read again.
    fn fit(&self, comparison: &MethodComparison, cx: &Context) -> Option<String> {
        let without = || comparison.unmet.as_ref().and_then(|unmet| unmet.without.as_ref());
        let name = comparison.recommendation.as_ref().or_else(without)?;
        let (flag, path) = match (self.binary_source(), self.source.vectors()) {
            (Some((path, ScoreKind::Probability)), _) => ("--scores", path),
            (Some((path, ScoreKind::Margin)), _) => ("--margins", path),
            (None, Some((path, VectorKind::Logits))) => ("--logits", path),
            (None, Some((path, _))) => ("--probs", path),
            (None, None) => return None,
        };
        // Clusters may be in a file of their own, and standard input is read once.
        if path == Path::new("-") || self.clusters().is_some() {
            return None;
        }
        let text = |path: &Path| path.display().to_string();
        let mut words = vec!["calib".to_owned(), "fit".into()];
        words.extend(self.choice.options_of_fit(name, self.seed));
        words.extend([flag.to_owned(), text(path)]);
        let mut add = |option: &str, value: String| words.extend([option.to_owned(), value]);
        if let Some(labels) = &self.labels {
            add("--labels", text(labels));
        }
        if self.score_column != SCORE_COLUMN {
            add("--score-column", self.score_column.clone());
        }
        if self.label_column != "label" {
            add("--label-column", self.label_column.clone());
        }
        let taken = comparison.methods.iter().find(|method| method.name == *name);
        if taken.is_some_and(|method| method.epsilon.is_some()) {
            if comparison.candidates > 1 {
                add("--candidates", comparison.candidates.to_string());
            }
            if self.alpha != 0.1 {
                add("--alpha", self.alpha.to_string());
            }
        }
        words.extend(arguments(&cx.tables));
        words.extend(["-o".to_owned(), format!("{}.bin", name.replace('/', "-"))]);
        shlex::try_join(words.iter().map(String::as_str)).ok()
    }

    fn options(&self, split: Split) -> CompareOptions {
        CompareOptions {
            split,
            score: match self.metric {
                Metric::Brier => ProperScore::Brier,
                Metric::LogLoss => ProperScore::LogLoss,
            },
            alpha: self.alpha,
            epsilon: self.epsilon,
            bootstrap: Bootstrap {
                kind: IntervalKind::Percentile,
                resamples: self.bootstrap as usize,
                seed: self.seed,
                alpha: 0.05,
            },
        }
    }

    fn clusters(&self) -> Option<ClusterSource<'_>> {
        self.cluster_column.source(self.clusters.as_ref())
    }

    fn clusters_of_test(&self) -> Option<ClusterSource<'_>> {
        self.cluster_column.source(self.test_clusters.as_ref())
    }

    fn binary(
        &self,
        (path, kind): (&Path, ScoreKind),
        labels: Option<&Path>,
        clusters: Option<ClusterSource<'_>>,
        doubts: &mut Vec<String>,
        cx: &Context,
    ) -> Result<CompareData, Error> {
        let paths: Vec<&Path> = std::iter::once(path).chain(labels).collect();
        let sources = read_all(&paths, cx)?;
        let columns =
            ColumnNames { score: &self.score_column, label: &self.label_column, clusters, groups: None };
        let ScoreColumns { scores, labels, clusters } = score_columns(&sources, columns)?;
        // Checks the range, too.
        doubts.extend(question_independence(&input::binary_data(&scores, &labels, kind)?, clusters.as_ref()));
        doubts.extend(question_margins(&sources[0], kind, &scores.device_scores(kind)?));
        let labels = labels.values.iter().map(|&label| label == 1);
        Ok(CompareData::binary_of(kind, scores.values.iter().copied().zip(labels), clusters.as_ref()))
    }

    fn matrices(
        &self,
        path: &Path,
        kind: VectorKind,
        doubts: &mut Vec<String>,
        cx: &Context,
    ) -> Result<(Contenders, CompareData, Option<CompareData>), Error> {
        let claim = match self.claim {
            None | Some(ClaimName::AllClasses) => Claim::AllClasses,
            Some(ClaimName::TopLabel) => Claim::TopLabel,
        };
        let mut read = |path: &Path, labels: Option<&Path>, clusters: Option<ClusterSource<'_>>| {
            let paths: Vec<&Path> = std::iter::once(path).chain(labels).collect();
            let sources = read_all(&paths, cx)?;
            let vectors = read_vectors(&sources[0], kind, &self.score_column)?;
            let columns = MatrixColumns { score: &self.score_column, label: &self.label_column };
            doubts.extend(question_kind(&sources[0], &vectors));
            let labels = matrix_labels(&sources, columns, vectors.len(), vectors.classes())?;
            let labels: Vec<i64> = labels.into_iter().map(i64::from).collect();
            let clusters = clusters.map(|clusters| clusters.read(&sources[0], vectors.len())).transpose()?;
            doubts.extend(question_predictions(&predictions(&vectors, &labels), clusters.as_ref()));
            let data = CompareData::vectors(&vectors, &labels, claim, clusters.as_ref());
            let data = data.expect("the rows were checked");
            Ok::<_, Error>((vectors.classes(), data))
        };
        let (classes, data) = read(path, self.labels.as_deref(), self.clusters())?;
        let test = self.test.as_deref();
        let test =
            test.map(|test| read(test, self.test_labels.as_deref(), self.clusters_of_test())).transpose()?;
        if let (Some((others, _)), Some(test)) = (&test, &self.test)
            && *others != classes
        {
            return Err(Error::Mismatch(format!(
                "the test data are of another classifier\n  {}: {classes} classes\n  {}: {others} classes",
                path.display(),
                test.display()
            )));
        }
        let contenders = self.choice.vectors((classes, kind), claim, self.seed)?;
        Ok((contenders, data, test.map(|test| test.1)))
    }
}
