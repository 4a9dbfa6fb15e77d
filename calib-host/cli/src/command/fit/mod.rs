//! `calib fit`

mod rows;

use std::io::Write;
use std::path::{Path, PathBuf};

use calib_fit::ScoreKind;
use calib_fit::decide::{Actions, Envelope, Rule};
use calib_fit::error::{ScalingError, UnfittedReason};
use calib_fit::fit::Unfitted;
use calib_fit::job::{FitOptions, Fitted, FittedModel, ScoresOf, fit};
use calib_io::files::{Location, check_output};
use calib_io::input::{Costs, holds_classes, read_costs};
use clap::Args;

use crate::context::Context;
use crate::error::{Error, option};
use crate::kinds::FileKind;
use crate::next::{Given, Suggestion, UNSEEN, on, words};
use crate::options::headings::{DATA, DEVICE, OUTPUT, ROWS};
use crate::options::{
    ArtifactArgs, ClusterColumn, ClusterSource, EncodingOptions, MethodOptions, PassOptions, ReductionOption,
    SCORE_COLUMN, ScoreSource, WeightArgs, artifact_of,
};
use crate::out::shown_path;
use crate::read::{Labeled, ScoresAre, device_scores};
use crate::run::Run;
use crate::show::{ShownFit, Warnings, joint_json, joint_lines};

/// Fit a calibrator to held-out scores and labels, and write it.
#[derive(Args)]
#[command(mut_args(|arg| match arg.get_id().as_str() {
    // Most fits name the file alone.
    "scores" | "margins" | "cluster_column" => arg.hide_short_help(true),
    _ => arg,
}))]
pub(crate) struct FitCommand {
    /// Scores of class 1 in [0, 1], and labels: a table.
    ///
    /// The same as --scores FILE.
    #[arg(value_name = "FILE", group = "ScoreSource", help_heading = DATA)]
    data: Option<PathBuf>,
    #[command(flatten)]
    source: ScoreSource,
    #[command(flatten)]
    passes: PassOptions,
    /// Labels, if not in the table of scores.
    ///
    /// A NumPy array of integers, or a table.
    #[arg(long, value_name = "FILE", help_heading = DATA)]
    labels: Option<PathBuf>,
    /// Column of scores in a table.
    ///
    /// It is also the column of raw scores, or in an NPZ archive the array of scores, logits or probabilities. For
    /// several classes in a table: all columns, in the order of the classes, separated by commas; `p0..p9` are all from
    /// p0 to p9.
    ///
    /// By default, calib also finds and reports columns with a usual name, such as y_prob, or p0 to p9 for several
    /// classes.
    #[arg(long, default_value = SCORE_COLUMN, value_name = "NAME", help_heading = DATA)]
    score_column: String,
    /// Column of labels in a table.
    ///
    /// By default, calib also finds and reports a column with a usual name, such as y_true.
    #[arg(long, default_value = "label", value_name = "NAME", help_heading = DATA)]
    label_column: String,
    #[command(flatten)]
    method: MethodOptions,
    #[command(flatten)]
    reduction: ReductionOption,
    #[command(flatten)]
    cluster_column: ClusterColumn,
    /// Clusters, if not in the table of scores: a NumPy array of integers, or a table with --cluster-column or
    /// `cluster`.
    #[arg(long, value_name = "FILE", help_heading = ROWS, hide_short_help = true)]
    clusters: Option<PathBuf>,
    /// Column of groups: fit a separate table for each group.
    ///
    /// Examples are the sex or the site. It is a column of a table of scores or codes, or of what `calib sql` counted.
    /// The guarantee holds for the bins of all tables simultaneously. The device then needs the group with every score.
    #[arg(long, value_name = "NAME", help_heading = ROWS, hide_short_help = true)]
    group_column: Option<String>,
    #[command(flatten)]
    points: WeightArgs,
    #[command(flatten)]
    codes: EncodingOptions,
    #[command(flatten)]
    written: ArtifactArgs,
    /// Scores or raw scores that the monitors compare with, instead of those of the calibration.
    ///
    /// Pass scores from where the device will be used, one of each patient, without labels. --monitor=B sets the
    /// number of bins of these scores.
    #[arg(
        long,
        requires = "monitor",
        value_name = "FILE",
        help_heading = DEVICE,
        hide_short_help = true
    )]
    monitor_scores: Option<PathBuf>,
    /// Costs file (see `calib help decide`): the rule of its actions goes into the artifact.
    #[arg(long, value_name = "FILE", help_heading = DEVICE, hide_short_help = true)]
    actions: Option<PathBuf>,
    /// Output file; by default data.cal for data.csv.
    ///
    /// `-` is standard output.
    #[arg(short, long, value_name = "FILE", help_heading = OUTPUT)]
    output: Option<PathBuf>,
    /// Replace an existing output.
    #[arg(long, help_heading = OUTPUT, hide_short_help = true)]
    force: bool,
    /// Print everything: every assumption and limit in full, and what was blended.
    #[arg(long, conflicts_with = "json", help_heading = OUTPUT, hide_short_help = true)]
    all: bool,
    /// Print the summary as JSON on standard output.
    #[arg(long, help_heading = OUTPUT, hide_short_help = true)]
    json: bool,
}

impl Run for FitCommand {
    const AT_WORK: Option<&str> = Some("fitting");
    const OUTPUT: Option<FileKind> = Some(FileKind::Artifact);
    const TELLS: bool = true;

    fn run(mut self, cx: &Context) -> Result<(), Error> {
        if self.data.as_deref().is_some_and(|file| self.holds_classes(file, cx)) {
            self.source = ScoreSource::of_probs(self.data.take());
        }
        self.fitted(cx)
    }

    fn next(given: &Given<'_>, _: &Context) -> Option<Suggestion> {
        let report = on("calib report", given.text("output").or_else(|| given.default_output())?);
        Some((
            report.into_iter().chain(given.judged()?).chain(words("-o report.html")).collect(),
            UNSEEN.into(),
        ))
    }
}

impl FitCommand {
    /// Whether the file that was named is no table of scores of class 1 but has a column for each class. Standard input cannot be read
    /// twice, and what is wrong with a file is reported where it is read.
    fn holds_classes(&self, file: &Path, cx: &Context) -> bool {
        file != Path::new("-")
            && self.group_column.is_none()
            && holds_classes(file, &self.score_column, &cx.tables).unwrap_or_default()
    }

    /// Fits and writes what was named.
    fn fitted(&self, cx: &Context) -> Result<(), Error> {
        if self.output.is_none() {
            check_output(&self.output(), self.inputs())?;
        }
        if self.clusters().is_some() && self.points.are_aggregated() {
            return Err(usage(
                "one row cannot be drawn from a cluster if rows are weighted or counted: leave out --cluster-column, or give \
                 a row for every observation",
            ));
        }
        // A mistake there is found before a long fit.
        let decision = self.actions.as_deref().map(decision).transpose()?;
        let (rows, options) = self.rows(cx)?;
        let options = options.data_sha256(rows.sha256()).decision(decision);
        let fitted = fit(&rows.data, &options).map_err(|cause| self.refused(&rows, cause))?;
        cx.write_output(&self.output(), self.force, fitted.artifact.as_bytes())?;
        self.report(&fitted, &rows.scores, cx)
    }

    /// Reads the rows that were named, and says what is fitted to them.
    fn rows(&self, cx: &Context) -> Result<(Labeled, FitOptions), Error> {
        let encoding = self.codes.encoding()?;
        if let Some((path, kind)) = self.source.vectors() {
            self.points.check_no_matrix()?;
            if self.group_column.is_some() {
                return Err(usage("--group-column needs a table of binary scores: --scores or --margins"));
            }
            let of = ScoresOf::Classes { kind, are_codes: encoding.is_some() };
            let options = self.options(of, cx)?;
            let rows = self.labeled((path, ScoresAre::Vectors(Some(kind))), encoding, cx)?;
            FitCommand::check_classes(&rows, &options.method, options.reduction.is_some())?;
            return Ok((rows, options));
        }
        if let Some(first) = self.passes.first() {
            let (rows, of) = self.pass_rows(first, cx)?;
            return Ok((rows, self.options(of, cx)?));
        }
        let (path, kind) = self.binary_source().expect("clap asks for one of the sources");
        let of = ScoresOf::Binary { kind, encoding, by_group: self.group_column.is_some() };
        let options = self.options(of, cx)?;
        Ok((self.labeled((path, ScoresAre::Binary(kind)), encoding, cx)?, options))
    }

    /// What is fitted to such scores.
    fn options(&self, of: ScoresOf, cx: &Context) -> Result<FitOptions, Error> {
        let named = self.reduction.of(self.method.named());
        let (method, reduction) = (named.choice(of)?, named.reduction_of(of)?);
        let others = match (&self.monitor_scores, of) {
            (Some(path), ScoresOf::Binary { kind, .. }) => {
                Some(device_scores(path, &self.score_column, kind, cx)?)
            }
            _ => None,
        };
        let options = self.written.of_fit(others)?;
        Ok(options.method(method).reduction(reduction).class_score(named.class_score).seed(named.seed))
    }

    /// Binary scores, and what they are.
    fn binary_source(&self) -> Option<(&Path, ScoreKind)> {
        let data = self.data.as_deref().map(|path| (path, ScoreKind::Probability));
        data.or(self.source.binary())
    }

    /// Where the artifact goes.
    fn output(&self) -> PathBuf {
        let scores = self.inputs().next().map(artifact_of);
        self.output.clone().or(scores).expect("clap asks for one of the sources")
    }

    /// The files of scores and labels.
    fn inputs(&self) -> impl Iterator<Item = &Path> {
        let scores =
            self.binary_source().map(|(path, _)| path).or(self.source.vectors().map(|(path, _)| path));
        let passes = [self.passes.first(), self.passes.second()].into_iter().flatten();
        scores.into_iter().chain(passes).chain(self.labels.as_deref()).chain(self.monitor_scores.as_deref())
    }

    fn clusters(&self) -> Option<ClusterSource<'_>> {
        self.cluster_column.source(self.clusters.as_ref())
    }

    fn report(&self, fitted: &Fitted, rows: &Location, cx: &Context) -> Result<(), Error> {
        let warnings = Warnings::of_findings(&fitted.findings, rows);
        warnings.print(cx)?;
        let output = self.output();
        let stored = &fitted.artifact;
        let chosen = fitted.chosen.as_ref().map(|chosen| chosen.with_names(option));
        let why = chosen.as_ref().map(|why| format!("{}.", why.trim_start_matches("chosen: ")));
        let fit = match &fitted.model {
            FittedModel::Tables(fit) => fit,
            FittedModel::Joint(fit) => {
                if self.json {
                    let mut value = joint_json(fit, stored, &output);
                    value["chosen"] = chosen.into();
                    warnings.add_to(&mut value);
                    return cx.print_json(&value);
                }
                if !cx.quiet {
                    let (mut err, output) = (cx.stderr(), shown_path(&output).to_string());
                    for line in joint_lines(fit, stored, &output, (self.all, why.as_deref())) {
                        writeln!(err, "{line}")?;
                    }
                }
                return Ok(());
            }
        };
        let shown = ShownFit::new(fit, stored, &output);
        if self.json {
            let mut value = shown.json();
            value["chosen"] = chosen.into();
            warnings.add_to(&mut value);
            return cx.print_json(&value);
        }
        if cx.quiet {
            return Ok(());
        }
        let mut err = cx.stderr();
        for line in shown.lines(self.all, why.as_deref()) {
            writeln!(err, "{line}")?;
        }
        if let Some(asked) =
            self.method.bins().filter(|&asked| fit.tied_tables().next() == Some(0) && fit.bins() < asked)
        {
            let left = fit.bins();
            writeln!(
                err,
                "Scores tie: of the {asked} bins {left} are left. --method umd-randomized keeps all of them."
            )?;
        }
        let is_separated =
            |unfitted: &Unfitted| unfitted.reason == UnfittedReason::Scaling(ScalingError::Separated);
        if fit.unfitted().iter().any(is_separated) {
            writeln!(err, "  hint: --loss bayes fits a slope where a threshold separates the labels")?;
        }
        Ok(())
    }
}

/// Reads the actions of a costs file and their rule.
fn decision(path: &Path) -> Result<(Actions, Rule), Error> {
    let Costs { actions, stated, .. } = read_costs(path)?;
    let rule = match stated {
        Some(stated) => stated,
        None if actions.have_start_up() => {
            return Err(usage(
                "start-up costs need the probabilities of a deployment: use `calib decide` with --probs or --scores",
            ));
        }
        None => Rule::bayes(&Envelope::new(&actions, |_| true)),
    };
    Ok((actions, rule))
}

fn usage(text: &str) -> Error {
    Error::Usage(text.into())
}
