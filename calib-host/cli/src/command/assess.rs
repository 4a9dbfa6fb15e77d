//! `calib assess`

use std::path::Path;

use calib_fit::FitError;
use calib_fit::assess::{Binning, Bootstrap, IntervalKind};
use calib_fit::sets::SetFigures;
use calib_io::files::{Place, read_artifact};
use calib_io::input::{self, Source};
use calib_io::report::SAME_ROWS;
use clap::{Args, ValueEnum};
use serde_json::json;

use crate::assessing::{Assessing, sets_json};
use crate::context::Context;
use crate::error::Error;
use crate::next::{Given, Suggestion, on, words};
use crate::options::{AssessedOptions, ClinicalArgs, count, parse_alpha};
use crate::read::{Assessed, Surveyed, judged_sets, question_points, question_predictions, read_counted};
use crate::run::Run;
use crate::show;

/// Measure how good probabilities are, before and after.
///
/// On data that nothing was fitted to: of a table that `calib apply` wrote, of a model as it is, or of a model before and after an
/// artefact.
#[derive(Args)]
pub(crate) struct Assess {
    #[command(flatten)]
    assessed: AssessedOptions,
    #[command(flatten)]
    clinical: ClinicalArgs,
    /// How probabilities are grouped for calibration errors. Group by the calibrator's bins or by value only if the model is
    /// known to be binned.
    #[arg(long, value_enum, default_value_t = BinningName::EqualWidth)]
    binning: BinningName,
    /// The number of bins of equal width or mass.
    #[arg(long, alias = "n-bins", default_value_t = 15, value_name = "B", value_parser = count::<u32>(1..=1_000_000))]
    bins: u32,
    /// Group by this column of bin indices instead: for probabilities that come from a binned calibrator.
    #[arg(long, value_name = "NAME", conflicts_with_all = ["bins", "binning"])]
    bin_column: Option<String>,
    /// The norm of lp_ce, at least 1.
    #[arg(long, default_value_t = 2.0, value_name = "P", value_parser = parse_norm)]
    norm: f64,
    /// Assess the K most probable classes of every row, too: for a matrix.
    #[arg(long, value_name = "K", value_parser = count::<u16>(1..))]
    top_k: Option<u16>,
    /// Give bootstrap intervals from this many resamples.
    #[arg(long, value_name = "N", value_parser = count::<u32>(1..))]
    bootstrap: Option<u32>,
    /// Correct the bootstrap intervals for bias and acceleration; without this they are percentiles. Calibration errors keep
    /// percentiles, moved to where the estimate is: their bias is too large for this correction. So does vus.
    #[arg(long, requires = "bootstrap")]
    bca: bool,
    /// The seed of the bootstrap, of the tuples that vus draws, and of the random words that a randomised artefact needs.
    #[arg(long, default_value_t = 0, value_name = "SEED")]
    seed: u64,
    /// One minus the coverage of the intervals.
    #[arg(long, default_value_t = 0.05, value_name = "ALPHA", value_parser = parse_alpha)]
    alpha: f64,
    /// Print JSON on standard output.
    #[arg(long)]
    json: bool,
}

#[derive(Clone, Copy, PartialEq, ValueEnum)]
enum BinningName {
    /// Bins of equal width.
    EqualWidth,
    /// Bins of about equal numbers of predictions: edge b of B is the prediction after floor(b n / B) of them; ties are never
    /// split.
    EqualMass,
    /// The same as the package of Kumar et al. 2019 cuts: the first n mod B bins hold one prediction more than the others, and
    /// edges are midway between neighbours.
    EqualMassKumar,
    /// Equal probabilities together.
    ByValue,
    /// The bins of the artefact.
    ByBin,
}

impl Run for Assess {
    const AT_WORK: Option<&str> = Some("assessing");

    fn run(mut self, cx: &Context) -> Result<(), Error> {
        self.assessed = self.assessed.with_data()?;
        let by_bin = self.binning == BinningName::ByBin;
        if by_bin && self.assessed.artifact.is_none() {
            return Err(Error::Usage(
                "--binning by-bin needs an artefact; for a table name its column with --bin-column".into(),
            ));
        }
        let asked = Assessed {
            options: &self.assessed,
            bin_column: self.bin_column.as_deref(),
            by_bin,
            seed: self.seed,
            cx,
        };
        if let Some(surveyed) = self.surveyed(cx)? {
            return self.survey(&surveyed, cx);
        }
        let sources = asked.sources()?;
        let judged = self.judged(&sources, cx)?;
        if let Some((judged, true)) = &judged {
            return self.show_judged(judged, cx);
        }
        let (subject, doubt) = asked.read(&sources)?;
        let assessing = self.assessing();
        assessing.check(&subject)?;
        let clusters = subject.clusters();
        let dependence = question_predictions(&subject.first_predictions(), clusters);
        let doubts: Vec<String> = doubt.into_iter().chain(dependence).collect();
        cx.warn(&doubts)?;
        if let (Some(clusters), false) = (clusters, self.json) {
            show::clusters(&mut cx.stdout(), clusters.rows(), clusters.count())?;
        }
        if let (Some((judged, _)), false) = (&judged, self.json) {
            self.show_judged(judged, cx)?;
        }
        let found = assessing.of_rows(&subject);
        cx.warn(found.evidence())?;
        if !self.json {
            return Ok(found.show(&mut cx.stdout())?);
        }
        let sets = judged.map(|(judged, _)| sets_json(&judged));
        cx.print_json(&assessing.json(&found, &doubts, sets, clusters))
    }

    fn next(given: &Given<'_>, _: &Context) -> Option<Suggestion> {
        let (flag, path) = given.source()?;
        let report = on("calib report", given.text("artifact")?);
        let test = ["--calibration".into(), "CALIBRATION".into(), "--test".into(), path];
        let kind = (flag == "--logits" || flag == "--probs").then(|| flag.to_owned());
        let labels = given.flag("labels", "--test-labels");
        let line = report.into_iter().chain(test).chain(labels).chain(kind).chain(given.columns());
        Some((line.chain(words("-o report.html")).collect(), "CALIBRATION: the rows that it was fitted to"))
    }
}

impl Assess {
    /// What can be assessed without all rows in memory, if it is such.
    fn surveyed(&self, cx: &Context) -> Result<Option<Surveyed>, Error> {
        let is_surveyed = self.bin_column.is_none() && self.assessing().is_of_points();
        match (is_surveyed, self.assessed.counted.columns()) {
            (true, None) => Surveyed::read(&self.assessed, self.seed, cx),
            (true, Some(columns)) => read_counted(&self.assessed, columns, self.seed, cx).map(Some),
            (false, None) => Ok(None),
            (false, Some(_)) => Err(Error::Usage(
                "of counted rows there are no resamples, no other bins than those of equal width, and no --bin-column or --top-k: \
                 leave them out"
                    .into(),
            )),
        }
    }

    /// Assesses it.
    fn survey(&self, surveyed: &Surveyed, cx: &Context) -> Result<(), Error> {
        let assessing = self.assessing();
        let doubt = match self.assessed.counted.columns() {
            // In which order equal scores came is not known.
            Some(_) => None,
            None => question_points(&surveyed.before).map_err(|cause| self.on_disk(cause))?,
        };
        cx.warn(doubt.as_slice())?;
        let found = assessing.of_points(surveyed).map_err(|cause| self.on_disk(cause))?;
        cx.warn(found.evidence())?;
        match self.json {
            true => cx.print_json(&assessing.json(&found, doubt.as_slice(), None, None)),
            false => Ok(found.show(&mut cx.stdout())?),
        }
    }

    /// Nothing but the temporary files can fail.
    fn on_disk(&self, cause: FitError) -> Error {
        let scores = self.assessed.source.scores.as_deref().unwrap_or(Path::new("-"));
        Error::Fit { place: Place::file(scores).into(), cause }
    }

    /// How the sets of the artefact do, and whether there is nothing else in it.
    fn judged(&self, sources: &[Source], cx: &Context) -> Result<Option<(SetFigures, bool)>, Error> {
        let Some(path) = &self.assessed.artifact else { return Ok(None) };
        let stored = read_artifact(path)?;
        let Some(figures) = judged_sets(&self.assessed, &stored, sources, self.alpha)? else {
            return Ok(None);
        };
        let is_alone = stored.artifact().header().method.has_no_calibrator();
        if is_alone {
            let same = stored.artifact().header().provenance.data_sha256
                == input::sha256(&sources.iter().collect::<Vec<_>>());
            self.assessed.same_rows.allow(same, sources[0].path(), "the artefact was")?;
            cx.warn(same.then_some(SAME_ROWS).as_slice())?;
        }
        Ok(Some((figures, is_alone)))
    }

    fn show_judged(&self, figures: &SetFigures, cx: &Context) -> Result<(), Error> {
        match self.json {
            true => cx.print_json(&json!({"prediction_sets": sets_json(figures)})),
            false => Ok(show::set_figures(figures, &mut cx.stdout())?),
        }
    }

    fn assessing(&self) -> Assessing {
        let bins = self.bins as usize;
        let binning = match self.binning {
            _ if self.bin_column.is_some() => Binning::ByBin,
            BinningName::EqualWidth => Binning::EqualWidth(bins),
            BinningName::EqualMass => Binning::EqualMass(bins),
            BinningName::EqualMassKumar => Binning::EqualMassKumar(bins),
            BinningName::ByValue => Binning::ByValue,
            BinningName::ByBin => Binning::ByBin,
        };
        let bootstrap = self.bootstrap.map(|resamples| Bootstrap {
            kind: if self.bca { IntervalKind::Bca } else { IntervalKind::Percentile },
            resamples: resamples as usize,
            seed: self.seed,
            alpha: self.alpha,
        });
        Assessing {
            binning,
            norm: self.norm,
            alpha: self.alpha,
            bootstrap,
            seed: self.seed,
            top_k: self.top_k,
            extremes: self.clinical.extremes(),
        }
    }
}

fn parse_norm(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(p) if p >= 1.0 && p.is_finite() => Ok(p),
        _ => Err("the norm is a number from 1 on, such as 2".into()),
    }
}
