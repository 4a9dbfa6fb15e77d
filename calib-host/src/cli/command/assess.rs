//! `calib assess`

use std::path::Path;

use calib_host::assess::{
    AssessOptions, Assessment, BeforeAfter, Binning, Bootstrap, ClinicalOptions, ClinicalValidation,
    GroupComparison, GroupOptions, IntervalKind, Prediction, PredictionKind, ProbMatrix, RowGroups, assess,
    assess_before_after, assess_top_k, assess_vectors, compare_groups, evidence_of_changes, is_surveyed,
    roc_surface, survey, survey_before_after, validate,
};
use calib_host::files::{Place, read_artifact};
use calib_host::input::{self, Source};
use calib_host::report::{CalibratedRows, ClassProbRows, ClinicalSummary, ReportedRule, SAME_ROWS};
use calib_host::sets::SetFigures;
use calib_host::stats::Clusters;
use calib_host::{FitError, StoredArtifact};
use clap::{Args, ValueEnum};
use serde_json::{Value, json};

use crate::cli::error::Error;
use crate::cli::options::{AssessedOptions, ClinicalArgs, count, parse_alpha};
use crate::cli::out::{print_json, stdout, warn};
use crate::cli::read::{
    After, Assessed, OperatingRows, Subject, Surveyed, judged_sets, question_points, question_predictions,
    read_counted,
};
use crate::cli::show;

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
    #[arg(long, default_value_t = 15, value_name = "B", value_parser = count::<u32>(1..=1_000_000))]
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

impl Assess {
    pub(crate) fn run(self, quiet: bool) -> Result<(), Error> {
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
        };
        if let Some(surveyed) = self.surveyed(quiet)? {
            return self.survey(&surveyed);
        }
        let sources = asked.sources(quiet)?;
        let judged = self.judged(&sources)?;
        if let Some((judged, true)) = &judged {
            return self.show_judged(judged);
        }
        let (subject, doubt) = asked.read(&sources)?;
        if self.top_k.is_some() && !matches!(subject, Subject::Vectors(..)) {
            return Err(Error::Usage(
                "--top-k needs a matrix and no artefact: --logits or --probs of shape (n, classes)".into(),
            ));
        }
        let clusters = subject.clusters().cloned();
        let clusters = clusters.as_ref();
        let options = self.options(clusters);
        let dependence = question_predictions(&subject.first_predictions(), clusters);
        let doubts: Vec<String> = doubt.into_iter().chain(dependence).collect();
        warn(&doubts)?;
        if let (Some(clusters), false) = (clusters, self.json) {
            show::clusters(clusters.rows(), clusters.count())?;
        }
        if let (Some((judged, _)), false) = (&judged, self.json) {
            self.show_judged(judged)?;
        }
        let (mut value, binning) = match subject {
            Subject::Predictions { rows, kind, uncalibrated, groups, .. } => {
                match self.predictions(&rows, kind, (uncalibrated, groups.as_ref()), &options)? {
                    Some(shown) => shown,
                    None => return Ok(()),
                }
            }
            Subject::Operating(rows, stored) => {
                return self.operating(&rows, &stored, &options);
            }
            Subject::BeforeAfter(rows, stored, operating) => {
                match self.before_after(&rows, (&stored, operating.as_ref()), &options)? {
                    Some(shown) => shown,
                    None => return Ok(()),
                }
            }
            Subject::ClassProbs(rows) => match self.class_probs(&rows, &options)? {
                Some(shown) => shown,
                None => return Ok(()),
            },
            Subject::Ranks { before, after, uncalibrated, .. } => {
                let [before, after] = [before, after].map(|ranks| assess_top_k(&ranks, &options));
                if !self.json {
                    return Ok(show::each(uncalibrated, [&before, &after], show::top_k)?);
                }
                let both = json!({"before": before, "after": after});
                (with_uncalibrated(both, uncalibrated), after.ranks[0].bins.len())
            }
            Subject::Vectors(matrix, _) => match self.vectors(&matrix, &options)? {
                Some(shown) => shown,
                None => return Ok(()),
            },
        };
        value["warnings"] = json!(doubts);
        if let Some((judged, _)) = &judged {
            value["prediction_sets"] = judged_json(judged);
        }
        print_value(value, binning, &options)
    }

    /// What can be assessed without all rows in memory, if it is such.
    fn surveyed(&self, quiet: bool) -> Result<Option<Surveyed>, Error> {
        let needs_rows = self.bin_column.is_some() || self.top_k.is_some();
        let is_surveyed = !needs_rows && is_surveyed(&self.options(None));
        match (is_surveyed, self.assessed.counted.columns()) {
            (true, None) => Surveyed::read(&self.assessed, self.seed, quiet),
            (true, Some(columns)) => read_counted(&self.assessed, columns, self.seed, quiet).map(Some),
            (false, None) => Ok(None),
            (false, Some(_)) => Err(Error::Usage(
                "of counted rows there are no resamples, no other bins than those of equal width, and no --bin-column or --top-k: \
                 leave them out"
                    .into(),
            )),
        }
    }

    /// Assesses it.
    fn survey(&self, surveyed: &Surveyed) -> Result<(), Error> {
        let options = self.options(None);
        let doubt = match self.assessed.counted.columns() {
            // In which order equal scores came is not known.
            Some(_) => None,
            None => question_points(&surveyed.before).map_err(|cause| self.on_disk(cause))?,
        };
        warn(doubt.as_slice())?;
        let clinical = ClinicalOptions { extremes: self.clinical.extremes(), thresholds: &[] };
        let (mut value, binning) = match &surveyed.after {
            None => {
                let found =
                    survey(&surveyed.before, &options, &clinical).map_err(|cause| self.on_disk(cause))?;
                let clinical = Some(found.clinical);
                match self.shown(&found.assessment, clinical, 0, None)? {
                    Some(shown) => shown,
                    None => return Ok(()),
                }
            }
            Some(after) => {
                let found = survey_before_after([&surveyed.before, &after.data], &options, &clinical);
                let (both, [before, clinical]) = found.map_err(|cause| self.on_disk(cause))?;
                let clinical = ClinicalSummary { before: Some(before), after: clinical };
                match self.shown_before_after(&both, after, &clinical)? {
                    Some(shown) => shown,
                    None => return Ok(()),
                }
            }
        };
        value["warnings"] = json!(doubt.as_slice());
        print_value(value, binning, &options)
    }

    /// Nothing but the temporary files can fail.
    fn on_disk(&self, cause: FitError) -> Error {
        let scores = self.assessed.source.scores.as_deref().unwrap_or(Path::new("-"));
        Error::Fit { place: Place::file(scores).into(), cause }
    }

    fn shown_before_after(
        &self,
        both: &BeforeAfter,
        after: &After,
        clinical: &ClinicalSummary,
    ) -> Result<Option<(Value, usize)>, Error> {
        let evidence = evidence_of_changes(&after.stored.artifact(), both, &after.changed);
        warn(&evidence)?;
        if !self.json {
            show::before_after(both, after.uncalibrated)?;
            show_clinical(clinical)?;
            return Ok(None);
        }
        let mut value = with_uncalibrated(json!(both), after.uncalibrated);
        value["evidence"] = json!(evidence);
        value["clinical"] = json!(clinical);
        Ok(Some((value, both.after.bins.len())))
    }

    /// How the sets of the artefact do, and whether there is nothing else in it.
    fn judged(&self, sources: &[Source]) -> Result<Option<(SetFigures, bool)>, Error> {
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
            warn(same.then_some(SAME_ROWS).as_slice())?;
        }
        Ok(Some((figures, is_alone)))
    }

    fn show_judged(&self, figures: &SetFigures) -> Result<(), Error> {
        match self.json {
            true => print_json(&json!({"prediction_sets": judged_json(figures)})),
            false => Ok(show::set_figures(figures, &mut stdout())?),
        }
    }

    /// Predictions: as JSON with the number of bins, or printed.
    fn predictions(
        &self,
        rows: &[Prediction],
        kind: PredictionKind,
        (uncalibrated, groups): (u64, Option<&RowGroups>),
        options: &AssessOptions<'_>,
    ) -> Result<Option<(Value, usize)>, Error> {
        let assessment = assess(rows, kind, options);
        let extremes = self.clinical.extremes();
        let is_binary = kind == PredictionKind::Binary;
        let how = ClinicalOptions { extremes, thresholds: &[] };
        let clinical = is_binary.then(|| validate(rows, options, &how));
        let groups = groups.map(|groups| self.groups(rows, kind, groups, options));
        self.shown(&assessment, clinical, uncalibrated, groups)
    }

    fn shown(
        &self,
        assessment: &Assessment,
        clinical: Option<ClinicalValidation>,
        uncalibrated: u64,
        groups: Option<GroupComparison>,
    ) -> Result<Option<(Value, usize)>, Error> {
        if !self.json {
            show::assessment(assessment, uncalibrated)?;
            clinical.iter().try_for_each(|found| show::clinical("the probabilities", found))?;
            groups.iter().try_for_each(show::groups)?;
            return Ok(None);
        }
        let mut value = with_uncalibrated(json!(assessment), uncalibrated);
        if let Some(clinical) = clinical {
            value["clinical"] = json!(clinical);
        }
        if let Some(groups) = groups {
            value["groups"] = json!(groups);
        }
        Ok(Some((value, assessment.bins.len())))
    }

    /// Scores for an artefact that holds operating points alone.
    fn operating(
        &self,
        rows: &OperatingRows,
        stored: &StoredArtifact,
        options: &AssessOptions<'_>,
    ) -> Result<(), Error> {
        let found = rows.accuracies(&stored.artifact(), options.alpha);
        if !self.json {
            return Ok(show::at_operating_points(&mut stdout(), &found, options.alpha)?);
        }
        let positives = rows.rows.iter().filter(|row| row.label).count();
        print_json(&json!({"n": rows.rows.len(), "positives": positives, "operating_points": found}))
    }

    /// The same by group.
    fn groups(
        &self,
        rows: &[Prediction],
        kind: PredictionKind,
        groups: &RowGroups,
        options: &AssessOptions<'_>,
    ) -> GroupComparison {
        let clinical = &ClinicalOptions { extremes: self.clinical.extremes(), thresholds: &[] };
        compare_groups(rows, kind, groups, &GroupOptions { assess: options, clinical, seed: self.seed })
    }

    /// Scores before and after an artefact: as JSON with the number of bins, or printed. Of margins, which are no probabilities, only
    /// the order counts before.
    fn before_after(
        &self,
        rows: &CalibratedRows,
        (stored, operating): (&StoredArtifact, Option<&OperatingRows>),
        options: &AssessOptions<'_>,
    ) -> Result<Option<(Value, usize)>, Error> {
        let CalibratedRows { before, after, kind, uncalibrated, margins, .. } = rows;
        let both = assess_before_after(before, after, *kind, options, options);
        let evidence = rows.evidence(&stored.artifact(), &both, options.clusters);
        warn(&evidence)?;
        let rule = ReportedRule::of_artifact(&stored.artifact(), None).unwrap_or_default();
        let accuracies = rule.map(|rule| rule.accuracies(after, options)).unwrap_or_default();
        let clinical = self.clinical.of_rows(rows, &stored.artifact(), options);
        let operating =
            operating.map_or_else(Vec::new, |rows| rows.accuracies(&stored.artifact(), self.alpha));
        let groups = rows.groups.as_ref().map(|groups| self.groups(after, *kind, groups, options));
        if !self.json {
            match margins {
                Some(_) => show::after_margins(&both, *uncalibrated)?,
                None => show::before_after(&both, *uncalibrated)?,
            }
            clinical.iter().try_for_each(show_clinical)?;
            show::at_thresholds(&mut stdout(), &accuracies, options.alpha)?;
            show::at_operating_points(&mut stdout(), &operating, options.alpha)?;
            groups.iter().try_for_each(show::groups)?;
            return Ok(None);
        }
        let value = if margins.is_some() { show::of_margins(&both) } else { json!(both) };
        let mut value = with_uncalibrated(value, *uncalibrated);
        value["evidence"] = json!(evidence);
        if let Some(clinical) = clinical {
            value["clinical"] = json!(clinical);
        }
        if !accuracies.is_empty() {
            value["at_thresholds"] = json!(accuracies);
        }
        if !operating.is_empty() {
            value["operating_points"] = json!(operating);
        }
        if let Some(groups) = groups {
            value["groups"] = json!(groups);
        }
        Ok(Some((value, both.after.bins.len())))
    }

    /// Vectors of probabilities before and after an artefact: as JSON with the number of bins, or printed.
    fn class_probs(
        &self,
        rows: &ClassProbRows,
        options: &AssessOptions<'_>,
    ) -> Result<Option<(Value, usize)>, Error> {
        let [before, after] = [&rows.before, &rows.after]
            .map(|matrix| (assess_vectors(matrix, options), roc_surface(matrix, self.seed, options)));
        if !self.json {
            show::each(rows.uncalibrated, [&before, &after], |(one, surface)| {
                show::vectors(one, surface.as_ref(), None)
            })?;
            return Ok(None);
        }
        let occupied = after.0.top_label.bins.len();
        let [before, after] =
            [before, after].map(|(one, surface)| show::vectors_json(&one, surface.as_ref()));
        let both = json!({"before": before, "after": after});
        Ok(Some((with_uncalibrated(both, rows.uncalibrated), occupied)))
    }

    /// Vectors of probabilities, and if asked for their first ranks: as JSON with the number of bins, or printed.
    fn vectors(
        &self,
        matrix: &ProbMatrix,
        options: &AssessOptions<'_>,
    ) -> Result<Option<(Value, usize)>, Error> {
        let assessment = assess_vectors(matrix, options);
        let surface = roc_surface(matrix, self.seed, options);
        let top_k = self.top_k.map(|k| assess_top_k(&matrix.top_k(k.into()), options));
        if !self.json {
            show::vectors(&assessment, surface.as_ref(), top_k.as_ref())?;
            return Ok(None);
        }
        let mut value = show::vectors_json(&assessment, surface.as_ref());
        let occupied = assessment.top_label.bins.len();
        value["binning"] = binning_json(options.binning, occupied);
        if let Some(top_k) = top_k {
            value["top_k"] = json!(top_k);
        }
        Ok(Some((value, occupied)))
    }

    fn options<'c>(&self, clusters: Option<&'c Clusters>) -> AssessOptions<'c> {
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
        AssessOptions { binning, norm: self.norm, alpha: self.alpha, bootstrap, clusters }
    }
}

fn show_clinical(ClinicalSummary { before, after }: &ClinicalSummary) -> Result<(), Error> {
    before.iter().try_for_each(|found| show::clinical("the scores", found))?;
    Ok(show::clinical("the calibrated probabilities", after)?)
}

fn with_uncalibrated(mut value: Value, uncalibrated: u64) -> Value {
    value["uncalibrated"] = uncalibrated.into();
    value
}

/// Prints an assessment with how it was made.
fn print_value(mut value: Value, occupied: usize, options: &AssessOptions<'_>) -> Result<(), Error> {
    value["binning"] = binning_json(options.binning, occupied);
    if let Some(clusters) = options.clusters {
        value["clusters"] = clusters.count().into();
    }
    if let Some(bootstrap) = options.bootstrap {
        value["bootstrap"] = json!(bootstrap);
    }
    print_json(&value)
}

/// The binning and its number of bins: those asked for, or those that hold predictions.
fn binning_json(binning: Binning, occupied: usize) -> Value {
    let mut value = json!(binning);
    if value.get("bins").is_none() {
        value["bins"] = occupied.into();
    }
    value
}

fn parse_norm(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(p) if p >= 1.0 && p.is_finite() => Ok(p),
        _ => Err("the norm is a number from 1 on, such as 2".into()),
    }
}

/// Figures of sets as JSON.
fn judged_json(figures: &SetFigures) -> Value {
    let mut value = json!(figures);
    value["alone"] = json!(figures.alone());
    value["empty"] = json!(figures.empty());
    value
}
