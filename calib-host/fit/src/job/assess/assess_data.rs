//! From a data set to what there is to say of it.

use calib_core::Artifact;

use super::assessed::{
    Assessed, AssessedBeforeAfter, AssessedClasses, AssessedFigures, AssessedOperating, AssessedPredictions,
    AssessedRanks, AssessedSets, AssessedVectors, Compared,
};
use super::calibrated::{Calibrated, Ranks};
use super::error::AssessError;
use super::options::AssessOptions;
use super::points::{ChangedPoints, is_of_points};
use super::sets::judged_sets;
use crate::artifact::StoredArtifact;
use crate::assess::{
    AssessOptions as Metrics, Binning, CalibratedRows, ClassProbRows, ClinicalOptions, ClinicalSummary,
    GroupComparison, GroupOptions, OperatingAccuracy, Prediction, PredictionKind, ProbMatrix, Verdict,
    assess as metrics_of, assess_before_after, assess_before_after_streaming, assess_streaming, assess_top_k,
    assess_vectors, can_stream, compare_groups, roc_surface, validate,
};
use crate::data::{BinaryData, Overlap, Repeats, RowGroups, RowsDigest, ScoreKind};
use crate::dataset::{Content, Dataset};
use crate::decide::ReportedRule;
use crate::job::Finding;
use crate::job::rows::rows;
use crate::options_error::OptionsError;
use crate::stats::Clusters;

/// Predictions of an event or of a class, as some calibrator made them.
#[derive(Clone, Debug)]
pub struct Predictions {
    /// The predictions, at least one.
    pub rows: Vec<Prediction>,
    /// What they are of.
    pub kind: PredictionKind,
    /// How many rows were left out because they are uncalibrated.
    pub uncalibrated: u64,
    /// Which of the others belong together.
    pub clusters: Option<Clusters>,
    /// Of which group each of them is.
    pub groups: Option<RowGroups>,
}

/// Assesses the probabilities of a data set; or with an artifact its scores before and after it, on the same rows.
///
/// An artifact with operating points or prediction sets is assessed by these, too. Binary points that need nothing but their scores
/// are not taken apart into rows, so that there may be more than fit into memory.
///
/// ```
/// use calib_fit::job::{AssessOptions, AssessedFigures, assess};
/// use calib_fit::{BinaryData, BinaryMethod, Dataset, StoredArtifact, Umd, artifact_bytes, fit_binary};
///
/// // A score of s is right in s / 2 of the cases, in the calibration data as in the test data.
/// let scores = |offset: f64| (0..400).map(|i| (f64::from(i) + offset) / 400.0).collect::<Vec<_>>();
/// let labels = || (0..400).map(|i| i % 40 < i / 20).collect::<Vec<_>>();
/// let fit = fit_binary(&BinaryData::new(scores(0.0), labels())?.on_device(), &BinaryMethod::Umd(Umd::new(4)), 0.1)?;
/// let artifact = StoredArtifact::from_bytes(&artifact_bytes(&fit, &Default::default())?)?;
///
/// let test = Dataset::from(BinaryData::new(scores(0.5), labels())?);
/// let found = assess(&test, Some(&artifact), &AssessOptions::default())?;
/// let Some(AssessedFigures::BeforeAfter(found)) = found.figures else { panic!("a binary calibrator") };
/// assert!(found.metrics.both.after.brier.value < found.metrics.both.before.brier.value);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
///
/// Options that are out of range or do not go with the data, or rows of another kind or other groups than the artifact's. Also rows of
/// which most are rows that it was fitted to.
pub fn assess(
    data: &Dataset,
    stored: Option<&StoredArtifact>,
    options: &AssessOptions,
) -> Result<Assessed, AssessError> {
    let mut found = assess_rows(data, stored, options)?;
    let overlap = found.findings.iter().find_map(|finding| match finding {
        Finding::SameRows(overlap) => Some(*overlap),
        _ => None,
    });
    match &mut found.figures {
        Some(AssessedFigures::BeforeAfter(found)) => found.verdict.tell(overlap),
        Some(AssessedFigures::Classes(found)) => found.verdict.tell(overlap),
        _ => {}
    }
    found.findings.extend(Finding::of_classes_as_scores(data));
    if let (None, Content::Points(points)) = (stored, data.content()) {
        found.findings.extend(Finding::of_order(points));
    }
    Ok(found)
}

fn assess_rows(
    data: &Dataset,
    stored: Option<&StoredArtifact>,
    options: &AssessOptions,
) -> Result<Assessed, AssessError> {
    options.check()?;
    let Some(stored) = stored else { return of_dataset(data, options) };
    let artifact = stored.artifact();
    if options.top_k.is_some() {
        return Err(no_ranks());
    }
    if options.binning == Binning::ByBin && artifact.header().bins == 0 {
        return Err(OptionsError::new(
            "`binning` by-bin needs an artifact that has bins: this one is a function",
        )
        .into());
    }
    let sets = judged_sets(data, &artifact, options.alpha)?;
    if sets.is_some() && artifact.header().method.has_no_calibrator() {
        let findings = same_rows(data, stored, options)?;
        return Ok(Assessed::new(options, None, (sets, None), findings));
    }
    if let Content::Points(points) = data.content()
        && is_of_points(&artifact)
        && is_counted_only(data, options)
        && data.encoding().is_none()
        && points.kind() == ScoreKind::Probability
    {
        let points = points.as_on_device();
        let found = ChangedPoints::new(&points, &artifact)?.ok_or(AssessError::AllUncalibrated)?;
        let findings = same_rows(data, stored, options)?;
        return of_changed_points(&found, &artifact, options, findings);
    }
    let found = Calibrated::new(data, &artifact, options.seed)?;
    let mut findings = same_rows(data, stored, options)?;
    findings.extend(Finding::of_scores(data));
    Ok(of_calibrated(found, (data, &artifact), options, sets, findings))
}

/// Assesses predictions.
///
/// # Errors
///
/// Options that are out of range, or ranks, which only vectors have.
///
/// # Panics
///
/// If there are no predictions, or clusters or groups of another number of rows.
pub fn assess_predictions(
    predictions: &Predictions,
    options: &AssessOptions,
) -> Result<Assessed, AssessError> {
    options.check()?;
    if options.top_k.is_some() {
        return Err(no_ranks());
    }
    let Predictions { rows, kind, uncalibrated, clusters, groups } = predictions;
    let metrics = options.metrics(clusters.as_ref());
    let is_binary = *kind == PredictionKind::Binary;
    let figures = AssessedFigures::Predictions(AssessedPredictions {
        assessment: metrics_of(rows, *kind, &metrics),
        clinical: is_binary.then(|| validate(rows, &metrics, &options.clinical())),
        uncalibrated: *uncalibrated,
        groups: groups.as_ref().map(|groups| by_group(rows, *kind, groups, (options, &metrics))),
    });
    let mut findings: Vec<Finding> = Finding::of_predictions(rows, clusters.as_ref()).into_iter().collect();
    if is_binary {
        let (probs, hits) = rows.iter().map(|row| (row.prob, row.hit)).unzip();
        // Without rows there is nothing to ask.
        findings.extend(BinaryData::new(probs, hits).iter().flat_map(Finding::of_points));
    }
    Ok(Assessed::new(options, Some(figures), (None, clusters.as_ref()), findings))
}

/// Assesses vectors of probabilities, which need not add up to one.
///
/// # Errors
///
/// Options that are out of range.
///
/// # Panics
///
/// If there are clusters of another number of rows.
pub fn assess_matrix(
    matrix: &ProbMatrix,
    clusters: Option<&Clusters>,
    options: &AssessOptions,
) -> Result<Assessed, AssessError> {
    options.check()?;
    let metrics = options.metrics(clusters);
    let top_k = options.top_k.map(|k| assess_top_k(&matrix.top_k(k.into()), &metrics));
    let found =
        AssessedVectors { top_k, binning: Some(options.binning), ..of_matrix(matrix, options, &metrics) };
    let findings = Finding::of_predictions(&matrix.top_label(), clusters).into_iter().collect();
    Ok(Assessed::new(options, Some(AssessedFigures::Vectors(found)), (None, clusters), findings))
}

/// Whether binary points that are assessed so, maybe after an artifact, need nothing but their scores, so that there may be more than
/// fit into memory.
pub fn reads_points(artifact: Option<&Artifact<'_>>, options: &AssessOptions) -> bool {
    artifact.is_none_or(is_of_points) && options.top_k.is_none() && can_stream(&options.metrics(None))
}

/// Whether an artifact was fitted to rows with this digest, all or some: by the hash and the sketch that it keeps, or else by the SHA-256 of
/// their files.
pub fn overlap_with_fit(
    stored: &StoredArtifact,
    rows: &RowsDigest,
    data_sha256: Option<[u8; 32]>,
) -> Option<Overlap> {
    match stored.sample() {
        Some(sample) => {
            let sketch = stored.sketch().unwrap_or_default();
            RowsDigest { hash: sample.rows, sketch }.overlap(rows)
        }
        None => {
            let is_same = data_sha256 == Some(stored.artifact().header().provenance.data_sha256);
            is_same.then(Overlap::exact)
        }
    }
}

fn no_ranks() -> AssessError {
    OptionsError::new("`top_k` needs a matrix and no artifact: `logits` or `probs` of shape (n, classes)")
        .into()
}

/// Whether nothing is asked of binary points that takes their rows.
fn is_counted_only(data: &Dataset, options: &AssessOptions) -> bool {
    data.clusters().is_none() && data.groups().is_none() && can_stream(&options.metrics(None))
}

/// Assesses a data set as it is.
fn of_dataset(data: &Dataset, options: &AssessOptions) -> Result<Assessed, AssessError> {
    let refuse = |text: &str| Err(OptionsError::new(text).into());
    let clusters = data.clusters();
    match data.content() {
        Content::Points(points) if points.kind() == ScoreKind::Margin => refuse(
            "margins are not probabilities, and only probabilities can be assessed: name an artifact that accepts margins",
        ),
        Content::Points(_) if options.top_k.is_some() => Err(no_ranks()),
        Content::Points(_) if options.binning == Binning::ByBin => {
            refuse("`binning` by-bin needs an artifact, or predictions with bins")
        }
        Content::Points(points) if is_counted_only(data, options) => {
            let found = assess_streaming(points, &options.metrics(None), &options.clinical())?;
            let figures = AssessedFigures::Predictions(AssessedPredictions {
                assessment: found.assessment,
                clinical: Some(found.clinical),
                uncalibrated: 0,
                groups: None,
            });
            let findings = repeats_of_points(points)?.into_iter().collect();
            Ok(Assessed::new(options, Some(figures), (None, None), findings))
        }
        Content::Points(points) => {
            let prediction = |(prob, hit)| Prediction { class: 1, prob, bin: 0, hit };
            let rows = rows(points)?.into_iter().map(prediction).collect();
            let groups = data.groups().cloned();
            let kind = PredictionKind::Binary;
            assess_predictions(
                &Predictions { rows, kind, uncalibrated: 0, clusters: clusters.cloned(), groups },
                options,
            )
        }
        Content::Vectors(vectors, labels) => {
            let labels = labels.iter().map(|&label| label as u16).collect();
            let matrix = ProbMatrix::new(vectors.probs_f64(), labels, vectors.classes());
            let mut found = assess_matrix(&matrix, clusters, options)?;
            found.findings.splice(0..0, Finding::of_scores(data));
            Ok(found)
        }
        Content::Codes(..) => {
            refuse("codes of several classes are assessed with an artifact that accepts them")
        }
        Content::Weighted(_) => refuse("weighted rows are not assessed: leave out the weights"),
    }
}

fn of_matrix(matrix: &ProbMatrix, options: &AssessOptions, metrics: &Metrics<'_>) -> AssessedVectors {
    AssessedVectors {
        assessment: assess_vectors(matrix, metrics),
        surface: roc_surface(matrix, options.seed, metrics),
        top_k: None,
        binning: None,
    }
}

fn of_changed_points(
    found: &ChangedPoints<'_>,
    artifact: &Artifact<'_>,
    options: &AssessOptions,
    mut findings: Vec<Finding>,
) -> Result<Assessed, AssessError> {
    let ChangedPoints { before, after, changed, rows_by_prob, uncalibrated } = found;
    findings.extend(repeats_of_points(before)?);
    let (both, [of_before, of_after]) =
        assess_before_after_streaming([before, after], &options.metrics(None), &options.clinical())?;
    let judged = changed.judge(artifact, &both, rows_by_prob, options.alpha);
    findings.extend(judged.evidence.iter().copied().map(Finding::Evidence));
    let figures = AssessedFigures::BeforeAfter(AssessedBeforeAfter {
        verdict: Verdict::new(artifact, &both, &judged, options.alpha),
        evidence: judged.evidence,
        metrics: Compared { both, of_margins: false },
        uncalibrated: *uncalibrated,
        clinical: Some(ClinicalSummary { before: Some(of_before), after: of_after }),
        at_thresholds: Vec::new(),
        operating: Vec::new(),
        groups: None,
        alpha: options.alpha,
    });
    Ok(Assessed::new(options, Some(figures), (None, None), findings))
}

fn of_calibrated(
    found: Calibrated<'_>,
    (data, artifact): (&Dataset, &Artifact<'_>),
    options: &AssessOptions,
    sets: Option<AssessedSets>,
    mut findings: Vec<Finding>,
) -> Assessed {
    let operating = found.operating(artifact, options.alpha);
    let (clusters, figures) = match found {
        Calibrated { ranks: Some(ranks), .. } => {
            findings.extend(Finding::of_predictions(&ranks.before[0], ranks.clusters.as_ref()));
            (ranks.clusters.clone(), AssessedFigures::Ranks(of_ranks(&ranks, options)))
        }
        Calibrated { rows: Some(rows), class_probs: Some(all), .. } => {
            let clusters = all.clusters.as_ref();
            findings.extend(Finding::of_predictions(&all.before.top_label(), clusters));
            (clusters.cloned(), AssessedFigures::Classes(of_classes(&rows, &all, artifact, options)))
        }
        Calibrated { rows: Some(rows), .. } => {
            findings.extend(Finding::of_predictions(&rows.before, rows.clusters.as_ref()));
            // Without separate costs a rule fits its artifact.
            let rule = ReportedRule::of_artifact(artifact, None).unwrap_or_default();
            let found = assess_calibrated(&rows, artifact, (rule.as_ref(), operating), options);
            findings.extend(found.evidence.iter().copied().map(Finding::Evidence));
            (rows.clusters, AssessedFigures::BeforeAfter(found))
        }
        Calibrated { keyed, .. } => {
            let rows = keyed.unwrap_or_default();
            let found = AssessedOperating {
                n: rows.len(),
                positives: rows.iter().filter(|row| row.label).count(),
                accuracies: operating,
                alpha: options.alpha,
            };
            (data.clusters().cloned(), AssessedFigures::Operating(found))
        }
    };
    Assessed::new(options, Some(figures), (sets, clusters.as_ref()), findings)
}

fn of_ranks(ranks: &Ranks, options: &AssessOptions) -> AssessedRanks {
    let metrics = options.metrics(ranks.clusters.as_ref());
    let [before, after] = [&ranks.before, &ranks.after].map(|ranks| assess_top_k(ranks, &metrics));
    AssessedRanks { before, after, uncalibrated: ranks.uncalibrated }
}

fn of_classes(
    predicted: &CalibratedRows,
    all: &ClassProbRows,
    artifact: &Artifact<'_>,
    options: &AssessOptions,
) -> AssessedClasses {
    let clusters = predicted.clusters.as_ref();
    let without = Metrics { bootstrap: None, ..options.metrics(clusters) };
    let both = assess_before_after(&predicted.before, &predicted.after, predicted.kind, &without, &without);
    let judged = predicted.judged(artifact, &both, clusters, options.alpha);
    let metrics = options.metrics(all.clusters.as_ref());
    let [before, after] = [&all.before, &all.after].map(|matrix| of_matrix(matrix, options, &metrics));
    let verdict = Verdict::new(artifact, &both, &judged, options.alpha);
    AssessedClasses { verdict, before, after, uncalibrated: all.uncalibrated }
}

/// Assesses the rows that an artifact calibrates, with a rule that decides by the probabilities, and how accurate its operating points
/// are.
///
/// # Panics
///
/// If there are no rows.
pub fn assess_calibrated(
    rows: &CalibratedRows,
    artifact: &Artifact<'_>,
    (rule, operating): (Option<&ReportedRule>, Vec<OperatingAccuracy>),
    options: &AssessOptions,
) -> AssessedBeforeAfter {
    let CalibratedRows { before, after, kind, uncalibrated, margins, groups, .. } = rows;
    let metrics = options.metrics(rows.clusters.as_ref());
    let both = assess_before_after(before, after, *kind, &metrics, &metrics);
    let thresholds = rule.map(ReportedRule::thresholds).unwrap_or_default();
    let clinical = ClinicalOptions { thresholds: &thresholds, ..options.clinical() };
    let judged = rows.judged(artifact, &both, metrics.clusters, options.alpha);
    AssessedBeforeAfter {
        verdict: Verdict::new(artifact, &both, &judged, options.alpha),
        evidence: judged.evidence,
        metrics: Compared { both, of_margins: margins.is_some() },
        uncalibrated: *uncalibrated,
        clinical: rows.clinical(&metrics, &clinical),
        at_thresholds: rule.map(|rule| rule.accuracies(after, &metrics)).unwrap_or_default(),
        operating,
        groups: groups.as_ref().map(|groups| by_group(after, *kind, groups, (options, &metrics))),
        alpha: options.alpha,
    }
}

fn by_group(
    rows: &[Prediction],
    kind: PredictionKind,
    groups: &RowGroups,
    (options, metrics): (&AssessOptions, &Metrics<'_>),
) -> GroupComparison {
    let how = GroupOptions { assess: metrics, clinical: &options.clinical(), seed: options.seed };
    compare_groups(rows, kind, groups, &how)
}

/// Refuses rows of which the artifact was fitted to most, or says to how many.
fn same_rows(
    data: &Dataset,
    stored: &StoredArtifact,
    options: &AssessOptions,
) -> Result<Vec<Finding>, AssessError> {
    match overlap_with_fit(stored, &data.rows_digest()?, options.data_sha256) {
        Some(overlap) if overlap.is_most() && !options.same_rows => Err(AssessError::SameRows(overlap)),
        overlap => Ok(overlap.map(Finding::SameRows).into_iter().collect()),
    }
}

/// Whether points repeat each other, maybe more than fit into memory, and of any floats. Of counted ones nobody knows.
fn repeats_of_points(points: &BinaryData) -> Result<Option<Finding>, AssessError> {
    if points.are_counted() {
        return Ok(None);
    }
    Ok(Repeats::noticed_anywhere(&points.as_on_device())?.map(Finding::Dependence))
}

impl Assessed {
    fn new(
        options: &AssessOptions,
        figures: Option<AssessedFigures>,
        (sets, clusters): (Option<AssessedSets>, Option<&Clusters>),
        findings: Vec<Finding>,
    ) -> Self {
        let clusters = clusters.map(|clusters| (clusters.rows(), clusters.count()));
        Self { figures, sets, findings, clusters, binning: options.binning, bootstrap: options.bootstrap() }
    }

    /// Returns what is doubtful about the rows.
    pub fn warnings(&self) -> impl Iterator<Item = &Finding> {
        self.findings.iter().filter(|finding| finding.is_doubt())
    }
}
