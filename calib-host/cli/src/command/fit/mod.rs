//! `calib fit`

mod matrices;
mod passes;
mod recalibrated;
mod scores;

use std::cmp::Ordering;
use std::io::Write;
use std::path::{Path, PathBuf};

use calib_fit::artifact::{CompileError, Monitoring};
use calib_fit::data::RowsHash;
use calib_fit::decide::{Actions, Envelope, Rule, with_decision};
use calib_fit::error::{ScalingError, UnfittedReason};
use calib_fit::fit::Unfitted;
use calib_fit::{ArtifactOptions, ScoreKind, StoredArtifact, artifact_bytes};
use calib_io::files::check_output;
use calib_io::input::{Costs, Sample, Source, holds_classes, read_costs};
use clap::Args;

use crate::context::Context;
use crate::error::Error;
use crate::fitting::{Chosen, check_written};
use crate::kinds::FileKind;
use crate::next::{Given, Suggestion, UNSEEN, on, words};
use crate::options::{
    ClusterColumn, ClusterSource, CodeOptions, CounterOptions, MethodOptions, PassOptions, PointOptions,
    ReductionOption, SCORE_COLUMN, ScoreSource, WrittenOptions, artifact_of,
};
use crate::read::monitors_of_scores;
use crate::run::Run;
use crate::show::{ShownFit, Warnings};

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
    #[arg(value_name = "FILE", group = "ScoreSource", help_heading = "Data")]
    data: Option<PathBuf>,
    #[command(flatten)]
    source: ScoreSource,
    #[command(flatten)]
    passes: PassOptions,
    #[command(flatten)]
    counters: CounterOptions,
    /// Labels, if not in the table of scores.
    ///
    /// A NumPy array of integers, or a table.
    #[arg(long, value_name = "FILE", help_heading = "Data")]
    labels: Option<PathBuf>,
    /// The column of scores in a table.
    ///
    /// Or of margins; in an NPZ archive the array of scores, logits or probabilities. Of several classes in a table the columns of all, in
    /// their order, separated by commas; `p0..p9` are all from p0 to p9. Without it columns with a usual name are found, such as y_prob,
    /// or of several classes p0 to p9, and that is told.
    #[arg(long, default_value = SCORE_COLUMN, value_name = "NAME", help_heading = "Data")]
    score_column: String,
    /// The column of labels in a table.
    ///
    /// Without it a column with a usual name is found, such as y_true, and that is told.
    #[arg(long, default_value = "label", value_name = "NAME", help_heading = "Data")]
    label_column: String,
    #[command(flatten)]
    method: MethodOptions,
    #[command(flatten)]
    reduction: ReductionOption,
    #[command(flatten)]
    cluster_column: ClusterColumn,
    /// The clusters, if not in the table of scores: a NumPy array of integers, or a table with --cluster-column or `cluster`.
    #[arg(long, value_name = "FILE", help_heading = "What rows are", hide_short_help = true)]
    clusters: Option<PathBuf>,
    /// A column of groups: a table of numbers for each.
    ///
    /// Such as the sex or the site, of a table of scores or codes or of what `calib sql` counted: each has a table of its own,
    /// and the guarantee holds for the bins of all of them together. The device is then told the group with every score.
    #[arg(long, value_name = "NAME", help_heading = "What rows are", hide_short_help = true)]
    group_column: Option<String>,
    #[command(flatten)]
    points: PointOptions,
    #[command(flatten)]
    codes: CodeOptions,
    #[command(flatten)]
    written: WrittenOptions,
    /// Scores or margins that the monitors compare with in place of those of the calibration, without labels: where the device will be used,
    /// one of each patient. Their bins are of these scores, as --monitor-bins says how many.
    #[arg(
        long,
        requires = "monitor_bins",
        value_name = "FILE",
        help_heading = "The device",
        hide_short_help = true
    )]
    monitor_scores: Option<PathBuf>,
    /// A costs file (see `calib help decide`): the rule of its actions goes into the artefact.
    #[arg(long, value_name = "FILE", help_heading = "The device", hide_short_help = true)]
    actions: Option<PathBuf>,
    /// Where to write; of data.csv to data.cal if not said.
    ///
    /// `-` is standard output.
    #[arg(short, long, value_name = "FILE", help_heading = "Output")]
    output: Option<PathBuf>,
    /// Replace an existing output.
    #[arg(long, help_heading = "Output", hide_short_help = true)]
    force: bool,
    /// Print the summary as JSON on standard output.
    #[arg(long, help_heading = "Output", hide_short_help = true)]
    json: bool,
}

/// What names the calibration data.
struct DataOrigin {
    /// The hash of the files.
    sha256: [u8; 32],
    /// The hash of the rows.
    rows: RowsHash,
}

/// What was fitted, from what, and what speaks against it.
struct Fitted {
    fit: calib_fit::Fit,
    origin: DataOrigin,
    warnings: Warnings,
    chosen: Option<Chosen>,
    monitors: Option<Monitoring>,
}

impl Run for FitCommand {
    const AT_WORK: Option<&str> = Some("fitting");
    const OUTPUT: Option<FileKind> = Some(FileKind::Artefact);
    const TELLS: bool = true;

    fn run(mut self, cx: &Context) -> Result<(), Error> {
        if let counters @ [_, ..] = self.counters.files()? {
            return self.recalibrate(counters, cx);
        }
        if self.data.as_deref().is_some_and(|file| self.holds_classes(file, cx)) {
            self.source = ScoreSource::of_probs(self.data.take());
        }
        self.fitted(cx)
    }

    fn next(given: &Given<'_>, _: &Context) -> Option<Suggestion> {
        let report = on("calib report", given.text("output").or_else(|| given.default_output())?);
        Some((report.into_iter().chain(given.judged()?).chain(words("-o report.html")).collect(), UNSEEN))
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
        check_written(&self.method, &self.written, &self.codes)?;
        let compact = self.written.is_compact();
        let asked = self.reduction.get()?;
        let reduction = match self.source.vectors() {
            Some(_) => self.method.reduction_or_chosen(asked),
            None => asked,
        };
        self.points.check()?;
        if self.clusters().is_some() && self.points.are_aggregated() {
            return Err(usage(
                "of weighted or counted rows no one row can be drawn from a cluster: leave out --cluster-column, or give a row \
                 for every point",
            ));
        }
        if self.source.vectors().is_some() {
            self.points.check_no_matrix()?;
        }
        let kind = self.source.vectors().map(|(_, kind)| kind);
        let by_margin = self.reduction.is_by_margin(kind, reduction)?;
        if let Some(kind) = kind {
            self.codes.check_matrix(kind, reduction, by_margin)?;
        }
        // A mistake there is found before a long fit.
        let decision = self.actions.as_deref().map(Decision::read).transpose()?;
        let decision = decision.as_ref();
        let Fitted { fit, origin, warnings, chosen, monitors } = match (self.source.vectors(), reduction) {
            (None, None) => match self.passes.first() {
                Some(first) => self.passes(first, cx)?,
                None => self.binary(cx)?,
            },
            (Some(_), _) if self.group_column.is_some() => {
                return Err(usage("--group-column needs a table of binary scores: --scores or --margins"));
            }
            (Some((path, kind)), Some(reduction)) => {
                self.reduced(path, (kind, by_margin), (reduction, asked.is_none()), cx)?
            }
            (Some((path, kind)), None) => return self.joint(path, kind, decision, cx),
            (None, Some(_)) => {
                return Err(usage("--reduction needs a matrix: --logits or --probs instead of --scores"));
            }
        };
        let fit = if compact { fit.compacted()? } else { fit };
        let fit = self.written.stated(fit, chosen.as_ref().and_then(Chosen::share));
        let bytes = decided(artifact_bytes(&fit, &self.options(origin, monitors))?, decision)?;
        cx.write_output(&self.output(), self.force, &bytes)?;
        let stored = StoredArtifact::from_bytes(&bytes).expect("just written");
        let chosen = chosen.map(|chosen| chosen.why);
        self.report((&fit, &stored), warnings.and_of(&stored.artifact()), chosen, cx)
    }

    /// Binary scores, and what they are.
    fn binary_source(&self) -> Option<(&Path, ScoreKind)> {
        let data = self.data.as_deref().map(|path| (path, ScoreKind::Probability));
        data.or(self.source.binary())
    }

    /// Where the artefact goes.
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

    /// The monitors of one score: their bins are of `sample`, or of other scores.
    fn monitors_of(
        &self,
        sample: &Sample,
        kind: ScoreKind,
        cx: &Context,
    ) -> Result<Option<Monitoring>, Error> {
        match &self.monitor_scores {
            Some(path) => monitors_of_scores(&self.written.monitors, (path, &self.score_column), kind, cx),
            None => self.written.monitors.of_sample(sample),
        }
    }

    fn clusters(&self) -> Option<ClusterSource<'_>> {
        self.cluster_column.source(self.clusters.as_ref())
    }

    /// Draws one row of each cluster, if rows belong together. `compare` orders rows by their scores.
    fn draw(
        &self,
        scores: &Source,
        labels: &[i64],
        compare: impl Fn(usize, usize) -> Ordering,
    ) -> Result<Option<Drawn>, Error> {
        let Some(source) = self.clusters() else { return Ok(None) };
        let clusters = source.read(scores, labels.len())?;
        let compare = |a: usize, b: usize| compare(a, b).then(labels[a].cmp(&labels[b]));
        let rows = clusters.one_row_each(self.method.seed(), compare);
        Ok(Some(Drawn { rows, of_rows: labels.len() as u64 }))
    }

    /// Records in a fit that its points were drawn; not if every row was.
    fn drawn(&self, fit: calib_fit::Fit, drawn: Option<Drawn>) -> calib_fit::Fit {
        match drawn.filter(Drawn::left_some_out) {
            Some(drawn) => fit.of_clusters(drawn.of_rows, self.method.seed()),
            None => fit,
        }
    }

    fn options(&self, origin: DataOrigin, monitors: Option<Monitoring>) -> ArtifactOptions {
        self.written.artifact_options(origin.sha256, origin.rows, self.codes.direct_table, monitors)
    }

    fn report(
        &self,
        (fit, stored): (&calib_fit::Fit, &StoredArtifact),
        warnings: Warnings,
        chosen: Option<String>,
        cx: &Context,
    ) -> Result<(), Error> {
        warnings.print(cx)?;
        let output = self.output();
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
        for line in shown.lines() {
            writeln!(err, "{line}")?;
        }
        if let Some(why) = chosen {
            writeln!(err, "{why}.")?;
        }
        if let Some(asked) =
            self.method.bins().filter(|&asked| fit.tied_tables().next() == Some(0) && fit.bins() < asked)
        {
            let left = fit.bins();
            writeln!(
                err,
                "Scores tie: of the {asked} bins {left} are left. --ties randomize keeps all of them."
            )?;
        }
        let is_separated =
            |unfitted: &Unfitted| unfitted.reason == UnfittedReason::Scaling(ScalingError::Separated);
        if fit.unfitted.iter().any(is_separated) {
            writeln!(err, "  hint: --targets bayes fits a slope where a threshold separates the labels")?;
        }
        Ok(())
    }
}

/// The rows that were drawn, one of each cluster.
struct Drawn {
    /// Which.
    rows: Vec<usize>,
    /// Of how many.
    of_rows: u64,
}

impl Drawn {
    /// Whether a cluster has several rows.
    fn left_some_out(&self) -> bool {
        self.rows.len() as u64 != self.of_rows
    }

    fn of<T: Copy>(&self, values: &[T]) -> Vec<T> {
        self.rows.iter().map(|&row| values[row]).collect()
    }
}

/// The actions of a costs file and their rule.
struct Decision {
    actions: Actions,
    rule: Rule,
}

impl Decision {
    fn read(path: &Path) -> Result<Self, Error> {
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
        Ok(Self { actions, rule })
    }
}

/// An artefact with its decision rule, if there is one.
fn decided(artifact: Vec<u8>, decision: Option<&Decision>) -> Result<Vec<u8>, Error> {
    let Some(Decision { actions, rule }) = decision else { return Ok(artifact) };
    let stored = StoredArtifact::from_bytes(&artifact).expect("just written");
    Ok(with_decision(&stored, actions, rule).map_err(CompileError::from)?)
}

fn usage(text: &str) -> Error {
    Error::Usage(text.into())
}
