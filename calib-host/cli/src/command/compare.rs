//! `calib compare`

use std::io::Write;
use std::path::{Path, PathBuf};

use calib_fit::assess::ProperScore;
use calib_fit::compare::{Claim, MethodComparison, Split, fits};
use calib_fit::job::{CompareOptions, JobError, compare};
use calib_io::files::Location;
use clap::Args;
use serde_json::json;

use crate::context::Context;
use crate::dash::{no_option, option};
use crate::error::Error;
use crate::options::headings::{DATA, GUARANTEES, METHOD, OUTPUT, ROWS};
use crate::options::{
    ClusterColumn, MethodChoice, SCORE_COLUMN, SameRows, ScoreSource, any_number, count, named, parse_alpha,
};
use crate::progress::FitBar;
use crate::read::{ColumnNames, For, Labeled, RowFiles, ScoresAre};
use crate::run::Run;
use crate::show;
use crate::tables::arguments;

/// Compare calibration methods, and recommend one, or none.
///
/// calib compares methods by repeated cross-validation or on test data. A candidate must be at most one standard error
/// of the paired difference behind the best. It must also be significantly better than the unchanged scores.
///
/// calib recommends the default of `calib fit` if that is a candidate, or else the candidate with the fewest
/// instructions. Bytes are without intervals of score ranges and without a band.
///
/// Every row is calibrated by fits to other rows only, with the device's arithmetic. Guarantee and size are those of a
/// fit to all calibration rows. Raw scores are not probabilities. For them, `uncalibrated` gives every row the share of
/// label 1 among the evaluated rows.
#[derive(Args)]
pub(crate) struct Compare {
    /// Table with scores of class 1 in [0, 1] and labels.
    ///
    /// The same as --scores FILE.
    #[arg(value_name = "FILE", group = "ScoreSource", help_heading = DATA)]
    data: Option<PathBuf>,
    #[command(flatten)]
    source: ScoreSource,
    /// Labels, if not in the table of scores.
    ///
    /// A NumPy array of integers, or a table.
    #[arg(long, value_name = "FILE", help_heading = DATA)]
    labels: Option<PathBuf>,
    /// Column of scores.
    ///
    /// It is also the column of raw scores. In an NPZ archive it is the array of scores, logits or probabilities.
    #[arg(long, default_value = SCORE_COLUMN, value_name = "NAME", help_heading = DATA)]
    score_column: String,
    /// Column of labels.
    #[arg(long, default_value = "label", value_name = "NAME", help_heading = DATA)]
    label_column: String,
    #[command(flatten)]
    cluster_column: ClusterColumn,
    /// Clusters, if not in the table of scores: a NumPy array of integers, or a table with --cluster-column or
    /// `cluster`.
    #[arg(long, value_name = "FILE", help_heading = ROWS, hide_short_help = true)]
    clusters: Option<PathBuf>,
    /// Test file, which replaces cross-validation.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["folds", "repeats"], help_heading = DATA)]
    test: Option<PathBuf>,
    /// Labels of the test file, if not in its table.
    #[arg(long, value_name = "FILE", requires = "test", help_heading = DATA, hide_short_help = true)]
    test_labels: Option<PathBuf>,
    /// Clusters of the test file, if not in its table.
    #[arg(
        long,
        value_name = "FILE",
        requires = "test",
        help_heading = ROWS,
        hide_short_help = true
    )]
    test_clusters: Option<PathBuf>,
    #[command(flatten)]
    same_rows: SameRows,
    #[command(flatten)]
    choice: MethodChoice,
    /// Probabilities of a matrix to evaluate.
    #[arg(long, value_parser = named::<Claim>(), value_name = "CLAIM", help_heading = METHOD, hide_short_help = true)]
    claim: Option<Claim>,
    /// Proper scoring rule to rank by.
    ///
    /// For all classes the log-loss is that of the true class, and the Brier score is the sum over classes. Class-wise
    /// probabilities need not sum to one, so their log-loss is not proper. The log-loss ranking leaves them out.
    #[arg(long, value_parser = named::<ProperScore>(), default_value = "brier", help_heading = METHOD)]
    metric: ProperScore,
    /// Recommend only methods with a guarantee of at most E.
    ///
    /// calib ranks the other methods, but does not recommend them. If no method has such a guarantee, calib prints what
    /// one needs, and what it recommends without it.
    #[arg(long, value_name = "E", value_parser = any_number, help_heading = METHOD)]
    epsilon: Option<f64>,
    /// Accepted probability that a guarantee fails.
    #[arg(long, default_value_t = 0.1, value_name = "ALPHA", value_parser = parse_alpha, help_heading = GUARANTEES, hide_short_help = true)]
    alpha: f64,
    /// Number of folds; each is calibrated by fits to the others.
    #[arg(long, default_value_t = 5, value_name = "K", value_parser = count::<u16>(2..=1000), help_heading = GUARANTEES, hide_short_help = true)]
    folds: u16,
    /// Number of times to assign the rows to folds.
    #[arg(long, default_value_t = 3, value_name = "R", value_parser = count::<u16>(1..=1000), help_heading = GUARANTEES, hide_short_help = true)]
    repeats: u16,
    /// Number of bootstrap resamples for the 95% intervals.
    #[arg(long, default_value_t = 1000, value_name = "N", value_parser = count::<u32>(1..), help_heading = GUARANTEES, hide_short_help = true)]
    bootstrap: u32,
    /// Seed of everything random.
    #[arg(
        long,
        default_value_t = 0,
        value_name = "SEED", value_parser = count::<u64>(..),
        help_heading = GUARANTEES,
        hide_short_help = true
    )]
    seed: u64,
    /// Print JSON on standard output.
    #[arg(long, help_heading = OUTPUT)]
    json: bool,
}

impl Run for Compare {
    fn run(self, cx: &Context) -> Result<(), Error> {
        let scores = self.scores();
        let data = self.read(scores, (self.labels.as_deref(), self.clusters.as_ref()), cx)?;
        let read = |path| {
            self.read((path, scores.1), (self.test_labels.as_deref(), self.test_clusters.as_ref()), cx)
        };
        let test = self.test.as_deref().map(read).transpose()?;
        let warnings: Vec<String> = std::iter::once(&data).chain(&test).flat_map(Labeled::warnings).collect();
        cx.warn(&warnings)?;
        let place = || Location::file(scores.0);
        if let (Some(test), Some(path)) = (&test, &self.test) {
            let digest = |rows: &Labeled| rows.data.rows_digest().map_err(|cause| Error::fit(place(), cause));
            let overlap = digest(&data)?.overlap(&digest(test)?);
            cx.warn(self.same_rows.allow(overlap, path, "every method is")?.as_slice())?;
        }
        let bar = FitBar::new(self.fits_of_each(), cx.quiet);
        let told = |done, total| bar.tell(done, total);
        let test = test.as_ref().map(|test| &test.data);
        let comparison = compare(&data.data, test, &self.options(), &told).map_err(|cause| match cause {
            JobError::OtherClasses { classes, test } => Error::Mismatch(format!(
                "the test data are of another classifier\n  {}: {classes} classes\n  {}: {test} classes",
                scores.0.display(),
                self.test.as_deref().unwrap_or(Path::new("-")).display()
            )),
            cause => Error::job(place(), cause),
        })?;
        drop(bar);
        if !self.json {
            show::comparison(&mut cx.stdout(), &comparison)?;
            if let Some(line) = self.fit(&comparison, cx).filter(|_| !cx.quiet) {
                writeln!(cx.stderr(), "next: {line}")?;
            }
            return Ok(());
        }
        let mut value = json!(comparison);
        value["warnings"] = json!(warnings);
        cx.print_json(&value)
    }
}

impl Compare {
    /// The file of scores, and what these are.
    fn scores(&self) -> (&Path, ScoresAre) {
        self.source.or(self.data.as_deref())
    }

    /// The command that fits what is recommended, or what is without a demand that none meets, if the data can be read again.
    fn fit(&self, comparison: &MethodComparison, cx: &Context) -> Option<String> {
        let without = || comparison.unmet.as_ref().and_then(|unmet| unmet.without.as_ref());
        let name = comparison.recommendation.as_ref().or_else(without)?;
        let (path, kind) = self.scores();
        // Clusters may be in a file of their own, and standard input is read once.
        if path == Path::new("-") || self.cluster_column.source(self.clusters.as_ref()).is_some() {
            return None;
        }
        let text = |path: &Path| no_option(path.display().to_string());
        let mut words = vec!["calib".to_owned(), "fit".into()];
        words.extend(self.choice.options_of_fit(name, self.seed)?);
        words.extend([kind.option().to_owned(), text(path)]);
        let mut add = |name: &str, value: String| words.extend(option(name, value));
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

    fn options(&self) -> CompareOptions {
        let mut options = CompareOptions::default();
        options.contenders = self.choice.contenders();
        (options.claim, options.metric) = (self.claim, self.metric);
        (options.epsilon, options.alpha) = (self.epsilon, self.alpha);
        (options.folds, options.repeats) = (self.folds, self.repeats);
        (options.bootstrap, options.seed) = (self.bootstrap, self.seed);
        options.same_rows = self.same_rows.are_allowed();
        options
    }

    /// How many fits each method takes.
    fn fits_of_each(&self) -> usize {
        let (folds, repeats) = (self.folds.into(), self.repeats.into());
        self.test.as_ref().map_or_else(|| fits(Split::CrossValidation { folds, repeats }), |_| 1)
    }

    fn read(
        &self,
        scores: (&Path, ScoresAre),
        (labels, clusters): (Option<&Path>, Option<&PathBuf>),
        cx: &Context,
    ) -> Result<Labeled, Error> {
        let columns = ColumnNames {
            score: &self.score_column,
            label: &self.label_column,
            clusters: self.cluster_column.source(clusters),
            groups: None,
            points: None,
        };
        RowFiles { scores, labels, columns }.read(For::Device(None), cx)
    }
}
