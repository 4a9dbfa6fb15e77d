//! Assessing rows, wherever they come from: for the screen, and as JSON.

use std::io::{self, Write};

use calib_core::Artifact;
use calib_fit::assess::{
    AssessOptions, Assessment, BeforeAfter, Binning, Bootstrap, ClinicalOptions, ClinicalValidation,
    Evidence, ExtremeProbs, GroupComparison, GroupOptions, OperatingAccuracy, Prediction, PredictionKind,
    RocSurface, RowGroups, TopKAssessment, VectorAssessment, assess, assess_before_after, assess_top_k,
    assess_vectors, compare_groups, evidence_of_changes, is_surveyed, roc_surface, survey,
    survey_before_after, validate,
};
use calib_fit::sets::SetFigures;
use calib_fit::stats::{Clusters, Interval};
use calib_fit::{FitError, StoredArtifact};
use calib_io::report::{CalibratedRows, ClinicalSummary, Grounds, ReportedRule, ThresholdAccuracy, Verdict};
use serde_json::{Value, json};

use crate::error::Error;
use crate::read::{OperatingRows, Subject, Surveyed};
use crate::show;

/// How rows are to be assessed, as the options of `calib assess` say it.
#[derive(Clone, Copy, Debug)]
pub struct Assessing {
    /// How probabilities are grouped for calibration errors.
    pub binning: Binning,
    /// The norm of `lp_ce`, at least 1.
    pub norm: f64,
    /// One minus the coverage of intervals.
    pub alpha: f64,
    /// The bootstrap of intervals, with the same `alpha` and `seed`.
    pub bootstrap: Option<Bootstrap>,
    /// Of the tuples that `vus` draws, and of the random words that a randomised artefact needs.
    pub seed: u64,
    /// How many of the most probable classes of a vector are assessed, too.
    pub top_k: Option<u16>,
    /// What is done with probabilities of exactly 0 or 1, which have no logit.
    pub extremes: ExtremeProbs,
}

/// What was found of rows.
#[expect(clippy::large_enum_variant, reason = "a command has one of them")]
pub(crate) enum Found {
    /// Of predictions.
    Predictions(FoundPredictions),
    /// Of the same rows before and after an artefact.
    BeforeAfter(FoundBeforeAfter),
    /// Of vectors of probabilities.
    Vectors { assessment: VectorAssessment, surface: Option<RocSurface>, top_k: Option<TopKAssessment> },
    /// Of the same vectors before and after.
    ClassProbs { verdict: Verdict, sides: [(VectorAssessment, Option<RocSurface>); 2], uncalibrated: u64 },
    /// Of the first few ranks before and after.
    Ranks { sides: [TopKAssessment; 2], uncalibrated: u64 },
    /// Of an artefact's operating points, with nothing else in it.
    Operating { accuracies: Vec<OperatingAccuracy>, n: usize, positives: usize, alpha: f64 },
}

/// What was found of predictions.
pub(crate) struct FoundPredictions {
    assessment: Assessment,
    clinical: Option<ClinicalValidation>,
    uncalibrated: u64,
    groups: Option<GroupComparison>,
}

/// What was found of rows before and after an artefact.
pub(crate) struct FoundBeforeAfter {
    verdict: Verdict,
    both: BeforeAfter,
    uncalibrated: u64,
    /// Whether the scores are margins, which are no probabilities: of them only the order counts.
    are_margins: bool,
    evidence: Vec<Evidence>,
    clinical: Option<ClinicalSummary>,
    at_thresholds: Vec<ThresholdAccuracy>,
    operating: Vec<OperatingAccuracy>,
    groups: Option<GroupComparison>,
    alpha: f64,
}

impl Default for Assessing {
    /// As the command assesses.
    fn default() -> Self {
        let AssessOptions { binning, norm, alpha, bootstrap, .. } = AssessOptions::default();
        Self { binning, norm, alpha, bootstrap, seed: 0, top_k: None, extremes: ExtremeProbs::LeaveOut }
    }
}

impl Assessing {
    /// The options, with which rows belong together.
    pub(crate) fn options<'c>(&self, clusters: Option<&'c Clusters>) -> AssessOptions<'c> {
        let Self { binning, norm, alpha, bootstrap, .. } = *self;
        AssessOptions { binning, norm, alpha, bootstrap, clusters }
    }

    /// Whether rows that say no more than a score and a label need not be kept.
    pub(crate) fn is_of_points(&self) -> bool {
        self.top_k.is_none() && is_surveyed(&self.options(None))
    }

    fn clinical(&self) -> ClinicalOptions<'static> {
        ClinicalOptions { extremes: self.extremes, thresholds: &[] }
    }

    /// Assesses points.
    pub(crate) fn of_points(&self, surveyed: &Surveyed) -> Result<Found, FitError> {
        let options = self.options(None);
        let Some(after) = &surveyed.after else {
            let found = survey(&surveyed.before, &options, &self.clinical())?;
            return Ok(Found::Predictions(FoundPredictions {
                assessment: found.assessment,
                clinical: Some(found.clinical),
                uncalibrated: 0,
                groups: None,
            }));
        };
        let (both, [before, clinical]) =
            survey_before_after([&surveyed.before, &after.data], &options, &self.clinical())?;
        let artifact = after.stored.artifact();
        let evidence = evidence_of_changes(&artifact, &both, &after.changed);
        let change = after.changed.brier_change(self.alpha);
        Ok(Found::BeforeAfter(FoundBeforeAfter {
            verdict: self.verdict(&artifact, &both, change, &evidence),
            evidence,
            both,
            uncalibrated: after.uncalibrated,
            are_margins: false,
            clinical: Some(ClinicalSummary { before: Some(before), after: clinical }),
            at_thresholds: Vec::new(),
            operating: Vec::new(),
            groups: None,
            alpha: self.alpha,
        }))
    }

    /// Refuses ranks of what has none.
    pub(crate) fn check(&self, subject: &Subject) -> Result<(), Error> {
        match self.top_k.is_some() && !matches!(subject, Subject::Vectors(..)) {
            true => Err(Error::Usage(
                "--top-k needs a matrix and no artefact: --logits or --probs of shape (n, classes)".into(),
            )),
            false => Ok(()),
        }
    }

    /// Assesses rows.
    pub(crate) fn of_rows(&self, subject: &Subject) -> Found {
        let options = self.options(subject.clusters());
        match subject {
            Subject::Predictions { rows, kind, uncalibrated, groups, .. } => {
                let is_binary = *kind == PredictionKind::Binary;
                Found::Predictions(FoundPredictions {
                    assessment: assess(rows, *kind, &options),
                    clinical: is_binary.then(|| validate(rows, &options, &self.clinical())),
                    uncalibrated: *uncalibrated,
                    groups: groups.as_ref().map(|groups| self.by_group(rows, *kind, groups, &options)),
                })
            }
            Subject::Operating(rows, stored) => Found::Operating {
                accuracies: rows.accuracies(&stored.artifact(), self.alpha),
                n: rows.rows.len(),
                positives: rows.rows.iter().filter(|row| row.label).count(),
                alpha: self.alpha,
            },
            Subject::BeforeAfter(rows, stored, operating) => {
                Found::BeforeAfter(self.before_after(rows, stored, operating.as_ref(), &options))
            }
            Subject::ClassProbs { predicted, all, stored } => Found::ClassProbs {
                verdict: self.verdict_of_predicted(predicted, &stored.artifact()),
                sides: [&all.before, &all.after].map(|matrix| {
                    (assess_vectors(matrix, &options), roc_surface(matrix, self.seed, &options))
                }),
                uncalibrated: all.uncalibrated,
            },
            Subject::Ranks { before, after, uncalibrated, .. } => Found::Ranks {
                sides: [before, after].map(|ranks| assess_top_k(ranks, &options)),
                uncalibrated: *uncalibrated,
            },
            Subject::Vectors(matrix, _) => Found::Vectors {
                assessment: assess_vectors(matrix, &options),
                surface: roc_surface(matrix, self.seed, &options),
                top_k: self.top_k.map(|k| assess_top_k(&matrix.top_k(k.into()), &options)),
            },
        }
    }

    fn before_after(
        &self,
        rows: &CalibratedRows,
        stored: &StoredArtifact,
        operating: Option<&OperatingRows>,
        options: &AssessOptions<'_>,
    ) -> FoundBeforeAfter {
        let CalibratedRows { before, after, kind, uncalibrated, margins, groups, .. } = rows;
        let artifact = stored.artifact();
        let both = assess_before_after(before, after, *kind, options, options);
        let rule = ReportedRule::of_artifact(&artifact, None).unwrap_or_default();
        // The thresholds of the artefact's rule are marked.
        let marked = artifact.decision().map(|rule| rule.thresholds()).unwrap_or_default();
        let marked: Vec<f64> = marked.iter().copied().map(f64::from).collect();
        let clinical = ClinicalOptions { extremes: self.extremes, thresholds: &marked };
        let evidence = rows.evidence(&artifact, &both, options.clusters);
        let change = rows.brier_change(options.clusters, self.alpha);
        FoundBeforeAfter {
            verdict: self.verdict(&artifact, &both, change, &evidence),
            evidence,
            both,
            uncalibrated: *uncalibrated,
            are_margins: margins.is_some(),
            clinical: ClinicalSummary::new(rows, options, &clinical),
            at_thresholds: rule.map(|rule| rule.accuracies(after, options)).unwrap_or_default(),
            operating: operating.map_or_else(Vec::new, |rows| rows.accuracies(&artifact, self.alpha)),
            groups: groups.as_ref().map(|groups| self.by_group(after, *kind, groups, options)),
            alpha: self.alpha,
        }
    }

    /// The verdict that a report has, too.
    fn verdict(
        &self,
        artifact: &Artifact<'_>,
        metrics: &BeforeAfter,
        change: Option<Interval>,
        evidence: &[Evidence],
    ) -> Verdict {
        Verdict::new(artifact, &Grounds { metrics, change, alpha: self.alpha, evidence }.with_bootstrap())
    }

    /// The same of the predicted classes, where every class has a probability.
    fn verdict_of_predicted(&self, rows: &CalibratedRows, artifact: &Artifact<'_>) -> Verdict {
        let clusters = rows.clusters.as_ref();
        let options = AssessOptions { bootstrap: None, ..self.options(clusters) };
        let both = assess_before_after(&rows.before, &rows.after, rows.kind, &options, &options);
        let evidence = rows.evidence(artifact, &both, clusters);
        self.verdict(artifact, &both, rows.brier_change(clusters, self.alpha), &evidence)
    }

    fn by_group(
        &self,
        rows: &[Prediction],
        kind: PredictionKind,
        groups: &RowGroups,
        options: &AssessOptions<'_>,
    ) -> GroupComparison {
        compare_groups(
            rows,
            kind,
            groups,
            &GroupOptions { assess: options, clinical: &self.clinical(), seed: self.seed },
        )
    }

    /// The JSON of what was found, with how: what `calib assess --json` prints. `sets` are figures of prediction sets.
    pub(crate) fn json(
        &self,
        found: &Found,
        doubts: &[String],
        sets: Option<Value>,
        clusters: Option<&Clusters>,
    ) -> Value {
        let mut value = found.json(self);
        let Some(occupied) = found.occupied() else { return value };
        value["warnings"] = json!(doubts);
        if let Some(sets) = sets {
            value["prediction_sets"] = sets;
        }
        value["binning"] = self.binning_json(occupied);
        if let Some(clusters) = clusters {
            value["clusters"] = clusters.count().into();
        }
        if let Some(bootstrap) = self.bootstrap {
            value["bootstrap"] = json!(bootstrap);
        }
        value
    }

    /// The binning and its number of bins: those asked for, or those that hold predictions.
    fn binning_json(&self, occupied: usize) -> Value {
        let mut value = json!(self.binning);
        if value.get("bins").is_none() {
            value["bins"] = occupied.into();
        }
        value
    }
}

impl Found {
    /// What speaks against the artefact.
    pub(crate) fn evidence(&self) -> &[Evidence] {
        match self {
            Self::BeforeAfter(found) => &found.evidence,
            _ => &[],
        }
    }

    /// How many bins hold predictions; `None` where nothing is binned.
    fn occupied(&self) -> Option<usize> {
        match self {
            Self::Predictions(found) => Some(found.assessment.bins.len()),
            Self::BeforeAfter(found) => Some(found.both.after.bins.len()),
            Self::Vectors { assessment, .. } => Some(assessment.top_label.bins.len()),
            Self::ClassProbs { sides: [_, (after, _)], .. } => Some(after.top_label.bins.len()),
            Self::Ranks { sides: [_, after], .. } => Some(after.ranks[0].bins.len()),
            Self::Operating { .. } => None,
        }
    }

    fn json(&self, how: &Assessing) -> Value {
        match self {
            Self::Predictions(found) => found.json(),
            Self::BeforeAfter(found) => found.json(),
            Self::Vectors { assessment, surface, top_k } => {
                let mut value = vectors_json(assessment, surface.as_ref());
                value["binning"] = how.binning_json(assessment.top_label.bins.len());
                if let Some(top_k) = top_k {
                    value["top_k"] = json!(top_k);
                }
                value
            }
            Self::ClassProbs { verdict, sides, uncalibrated } => {
                let [before, after] =
                    sides.each_ref().map(|(one, surface)| vectors_json(one, surface.as_ref()));
                let value = json!({"verdict": verdict, "before": before, "after": after});
                with_uncalibrated(value, *uncalibrated)
            }
            Self::Ranks { sides: [before, after], uncalibrated } => {
                with_uncalibrated(json!({"before": before, "after": after}), *uncalibrated)
            }
            Self::Operating { accuracies, n, positives, .. } => {
                json!({"n": n, "positives": positives, "operating_points": accuracies})
            }
        }
    }

    /// Prints it.
    pub(crate) fn show(&self, out: &mut impl Write) -> io::Result<()> {
        match self {
            Self::Predictions(found) => found.show(out),
            Self::BeforeAfter(found) => found.show(out),
            Self::Vectors { assessment, surface, top_k } => {
                show::vectors(out, assessment, surface.as_ref(), top_k.as_ref())
            }
            Self::ClassProbs { verdict, sides: [before, after], uncalibrated } => {
                show::verdict(out, verdict)?;
                show::each(out, *uncalibrated, [before, after], |out, (one, surface)| {
                    show::vectors(out, one, surface.as_ref(), None)
                })
            }
            Self::Ranks { sides: [before, after], uncalibrated } => {
                show::each(out, *uncalibrated, [before, after], show::top_k)
            }
            Self::Operating { accuracies, alpha, .. } => show::at_operating_points(out, accuracies, *alpha),
        }
    }
}

impl FoundPredictions {
    fn json(&self) -> Value {
        let mut value = with_uncalibrated(json!(self.assessment), self.uncalibrated);
        if let Some(clinical) = &self.clinical {
            value["clinical"] = json!(clinical);
        }
        if let Some(groups) = &self.groups {
            value["groups"] = json!(groups);
        }
        value
    }

    fn show(&self, out: &mut impl Write) -> io::Result<()> {
        show::assessment(out, &self.assessment, self.uncalibrated)?;
        self.clinical.iter().try_for_each(|found| show::clinical(out, "the probabilities", found))?;
        self.groups.iter().try_for_each(|groups| show::groups(out, groups))
    }
}

impl FoundBeforeAfter {
    fn json(&self) -> Value {
        let value = if self.are_margins { of_margins(&self.both) } else { json!(self.both) };
        let mut value = with_uncalibrated(value, self.uncalibrated);
        value["verdict"] = json!(self.verdict);
        value["evidence"] = json!(self.evidence);
        if let Some(clinical) = &self.clinical {
            value["clinical"] = json!(clinical);
        }
        if !self.at_thresholds.is_empty() {
            value["at_thresholds"] = json!(self.at_thresholds);
        }
        if !self.operating.is_empty() {
            value["operating_points"] = json!(self.operating);
        }
        if let Some(groups) = &self.groups {
            value["groups"] = json!(groups);
        }
        value
    }

    fn show(&self, out: &mut impl Write) -> io::Result<()> {
        show::verdict(out, &self.verdict)?;
        match self.are_margins {
            true => show::after_margins(out, &self.both, self.uncalibrated)?,
            false => show::before_after(out, &self.both, self.uncalibrated)?,
        }
        if let Some(ClinicalSummary { before, after }) = &self.clinical {
            before.iter().try_for_each(|found| show::clinical(out, "the scores", found))?;
            show::clinical(out, "the calibrated probabilities", after)?;
        }
        show::at_thresholds(out, &self.at_thresholds, self.alpha)?;
        show::at_operating_points(out, &self.operating, self.alpha)?;
        self.groups.iter().try_for_each(|groups| show::groups(out, groups))
    }
}

fn with_uncalibrated(mut value: Value, uncalibrated: u64) -> Value {
    value["uncalibrated"] = uncalibrated.into();
    value
}

/// Figures of prediction sets.
pub(crate) fn sets_json(figures: &SetFigures) -> Value {
    let mut value = json!(figures);
    value["alone"] = json!(figures.alone());
    value["empty"] = json!(figures.empty());
    value
}

/// Of margins, and of the change, what needs an order alone.
fn of_margins(both: &BeforeAfter) -> Value {
    let BeforeAfter { before, after, change } = both;
    json!({"before": {"auc": before.auc}, "after": after, "change": {"auc": change.auc}})
}

/// The metrics of vectors under their names, beside those of the most probable class; what both have is the vectors', and the
/// other under `top_label`.
fn vectors_json(vectors: &VectorAssessment, surface: Option<&RocSurface>) -> Value {
    let mut value = json!(vectors.top_label);
    let shared =
        ["brier", "brier_calibration", "brier_refinement", "brier_split", "log_loss", "log_loss_clipped"];
    value["kind"] = "vector".into();
    value["top_label"] = shared.iter().map(|&name| (name.to_owned(), value[name].clone())).collect();
    let fields = value.as_object_mut().expect("an assessment is an object");
    shared.iter().for_each(|&name| {
        fields.shift_remove(name);
    });
    let classes = fields.shift_remove("classes");
    value["top_label"]["classes"] = classes.unwrap_or_default();
    let Value::Object(own) = json!(vectors) else { unreachable!("an assessment is an object") };
    for (name, own) in own.into_iter().filter(|(name, _)| name != "top_label") {
        value[name] = own;
    }
    if let Some(surface) = surface {
        let Value::Object(volumes) = json!(surface) else { unreachable!("volumes are an object") };
        volumes.into_iter().for_each(|(name, volume)| value[name] = volume);
    }
    value
}
