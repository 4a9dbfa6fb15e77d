//! From rows to a report.

use std::collections::BTreeMap;

use calib_core::Artifact;
use calib_fit::artifact::{
    StoredArtifact, device_costs, guarantee_text, rule_sentences, scores_in_words, size_in_words, table_steps,
};
use calib_fit::assess::{
    AssessOptions, CalibratedRows, Cell, ClinicalOptions, ClinicalSummary, Evidence, Flaw, IntervalKind,
    assess_before_after, flaws_under, is_guaranteed,
};
use calib_fit::decide::ReportedRule;
use calib_fit::job::{AssessOptions as JobOptions, AssessedBeforeAfter, Compared, assess_calibrated};
use calib_fit::stats::{Clusters, shown};

use super::classes::{ClassWiseSummary, most_frequent};
use super::data::{CalibratorSummary, Labels, Origin, REPORT_SCHEMA, Report, ReportOptions};
use super::figures::{self, Side, Validities};
use super::guarantee::Curve;
use super::plots::{Occupancy, ValidityKind};
use super::subject::ReportData;
use super::{clinical_plots, simplex, size, warnings};
use crate::draw::Plot;

/// Makes a report on an artifact from the rows that it was fitted to and rows that it was not.
///
/// ```
/// use calib_core::{Outcome, Score};
/// use calib_io::report::{Figure, Origin, ReportData, plot, report};
/// use calib_fit::apply::{RandomWords, calibrate};
/// use calib_fit::assess::{AssessOptions, CalibratedRows, ExtremeProbs, Prediction, PredictionKind};
/// # use calib_fit::{BinaryData, BinaryMethod, StoredArtifact, Umd, artifact_bytes, fit_binary};
/// # let scores = (0..400).map(|i| f64::from(i) / 400.0).collect();
/// # let data = BinaryData::new(scores, (0..400).map(|i| i % 40 < i / 20).collect())?;
/// # let fit = fit_binary(&data, &BinaryMethod::Umd(Umd::new(4)), 0.1)?;
/// # let artifact = StoredArtifact::from_bytes(&artifact_bytes(&fit, &Default::default())?)?;
///
/// // Every score with its outcome, before and after calibration.
/// let rows = |label: &dyn Fn(u32) -> bool| {
///     let scores: Vec<_> = (0..200).map(|i| Score::new(i as f32 / 200.0).unwrap()).collect();
///     let of = |prob: f32, bin, i| Prediction { class: 1, prob: prob.into(), bin, hit: label(i) };
///     let binary = artifact.artifact();
///     let applied = calibrate(&binary, scores[..].into(), RandomWords::new(&binary, 0)).unwrap();
///     let after = (0..).zip(&applied).map(|(i, row)| match row.outcome {
///         Outcome::Calibrated(calibrated) => of(calibrated.prob, calibrated.bin.into(), i),
///         Outcome::Uncalibrated(_) => unreachable!("the table has all scores"),
///     });
///     let after: Vec<Prediction> = after.collect();
///     let before = (0..).zip(&scores).map(|(i, score)| of(score.get(), after[i as usize].bin, i));
///     let before = before.collect();
///     CalibratedRows { before, after, kind: PredictionKind::Binary, uncalibrated: 0, clusters: None, groups: None, margins: None }
/// };
/// let (calibration, test) = (rows(&|i| i % 20 < i / 20), rows(&|i| i % 20 < i / 22));
/// let data = ReportData {
///     calibration: &calibration,
///     test: &test,
///     class_probs: None,
///     warnings: &[],
///     rule: None,
///     operating: &[],
///     extremes: ExtremeProbs::LeaveOut,
///     drawn_classes: 12,
/// };
/// let origin = Origin {
///     files: Vec::new(),
///     calibration_is_the_artifacts: true,
///     test_is_calibration: None,
///     command: String::new(),
/// };
/// let report = report(&artifact, &data, origin, &AssessOptions::default());
/// assert!(report.metrics.after.brier.value < report.metrics.before.brier.value);
/// assert!(report.html()?.contains("<svg"));
/// let diagram = plot(Figure::Reliability, &artifact, &data, &AssessOptions::default());
/// assert!(diagram.expect("every binary report has one").svg.contains("<svg"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Panics
///
/// If no row of the test data is calibrated, or the clusters of `options` are not those of the test rows.
pub fn report(
    stored: &StoredArtifact,
    data: &ReportData<'_>,
    origin: Origin,
    options: &AssessOptions<'_>,
) -> Report {
    let artifact = &stored.artifact();
    let test = data.test;
    let how = JobOptions::default()
        .binning(options.binning)
        .norm(options.norm)
        .alpha(options.alpha)
        .resamples(options.bootstrap.map_or(0, |bootstrap| bootstrap.resamples))
        .intervals(options.bootstrap.map_or(IntervalKind::Percentile, |bootstrap| bootstrap.kind))
        .seed(options.bootstrap.map_or(0, |bootstrap| bootstrap.seed))
        .extremes(data.extremes);
    let found = assess_calibrated(test, artifact, (data.rule, data.operating.to_vec()), &how);
    let AssessedBeforeAfter {
        metrics: Compared { both: metrics, of_margins, .. },
        mut verdict,
        evidence,
        clinical,
        ..
    } = found;
    verdict.tell(origin.test_is_calibration);
    let classes = data.class_probs.map(|rows| ClassWiseSummary::new(rows, options, data.drawn_classes));
    let occupancy = occupancy(artifact, data.calibration, test);
    let predicted = metrics.after.classes.iter().map(|class| (class.class, class.assessment.n));
    let (drawn, undrawn) = most_frequent(predicted, data.drawn_classes);
    let validities = Validities::new(test, options, Curve::of(artifact), !occupancy.is_empty());
    let sides: &[Side] = if test.margins.is_some() { &[Side::After] } else { &[Side::Before, Side::After] };
    let both = test.margins.is_none().then(|| figures::before_and_after(&metrics, options));
    let mut plots: Vec<Plot> = both.into_iter().collect();
    plots.extend(sides.iter().map(|&side| figures::reliability(side, &metrics, options)));
    plots.extend(figures::of_margins(test).into_iter().flatten());
    plots.extend(figures::band(artifact, test));
    plots.extend(drawn.iter().filter_map(|&class| figures::of_class(class, &metrics)));
    plots.extend([ValidityKind::Marginal, ValidityKind::Conditional].map(|kind| validities.plot(kind)));
    plots.extend(figures::roc(test));
    plots.push(figures::distribution(test));
    plots.extend(figures::occupancy(&occupancy));
    let against_rest = |classes: &ClassWiseSummary| -> Vec<Plot> {
        classes.drawn.iter().filter_map(|&class| figures::one_vs_rest(class, classes)).collect()
    };
    plots.extend(classes.iter().flat_map(against_rest));
    plots.extend(simplex_of(artifact, data));
    plots.extend(clinical.iter().flat_map(|clinical| clinical_figures(clinical, options)));
    let flaws = flaws(artifact, data, &evidence);
    let (bootstrap, guarantee) = (options.bootstrap, guarantee_text(stored));
    Report {
        schema: REPORT_SCHEMA,
        of_margins,
        labels: Labels::default(),
        class_names: None,
        verdict,
        calibrator: CalibratorSummary::of(artifact),
        steps: steps(artifact),
        assumptions: guarantee.full_assumptions().into_iter().map(Into::into).collect(),
        limits: guarantee.full_limits().into_iter().map(Into::into).collect(),
        guarantee: Report::guarantee_of(stored),
        guaranteed: is_guaranteed(artifact),
        warnings: warnings::warnings(artifact, data, &origin, (&metrics, &evidence, &flaws), &occupancy),
        doubtful: !evidence.is_empty() || !data.warnings.is_empty() || flaws.iter().any(Flaw::is_grave),
        evidence,
        flaws,
        uncalibrated: test.uncalibrated,
        metrics,
        clinical,
        groups: found.groups,
        classes,
        undrawn_classes: undrawn,
        decision: data.rule.map(|rule| rule.summary(test, options)),
        operating_points: found.operating,
        parts: size::parts(stored),
        device_cost: device_costs(artifact),
        occupancy,
        plots,
        origin,
        options: ReportOptions {
            resamples: bootstrap.map_or(0, |bootstrap| bootstrap.resamples),
            seed: bootstrap.map_or(0, |bootstrap| bootstrap.seed),
            alpha: options.alpha,
            clusters: options.clusters.map(Clusters::count),
        },
        version: env!("CARGO_PKG_VERSION").into(),
    }
}

fn clinical(data: &ReportData<'_>, options: &AssessOptions<'_>) -> Option<ClinicalSummary> {
    let thresholds = data.rule.map(ReportedRule::thresholds).unwrap_or_default();
    let clinical = ClinicalOptions::default().extremes(data.extremes).thresholds(&thresholds);
    data.test.clinical(options, &clinical)
}

fn clinical_figures(clinical: &ClinicalSummary, options: &AssessOptions<'_>) -> Vec<Plot> {
    let alpha = options.alpha;
    let curves = [Side::Before, Side::After].map(|side| clinical_plots::corp(side, clinical, alpha));
    let mut plots: Vec<Plot> = curves.into_iter().flatten().collect();
    plots
        .extend([clinical_plots::decision_curve(clinical, alpha), clinical_plots::outcomes(&clinical.after)]);
    plots
}

/// What the artifact shows against itself, without what the test rows tell with figures.
fn flaws(artifact: &Artifact<'_>, data: &ReportData<'_>, evidence: &[Evidence]) -> Vec<Flaw> {
    let rule = data.rule.map(|rule| rule.intervals()).unwrap_or_default();
    let is_told = |flaw: &Flaw| match flaw {
        Flaw::Falls { .. } => evidence.iter().any(|found| matches!(found, Evidence::Turned { .. })),
        Flaw::Constant { .. } => evidence.iter().any(|found| matches!(found, Evidence::Constant { .. })),
        _ => false,
    };
    flaws_under(artifact, &rule).into_iter().filter(|flaw| !is_told(flaw)).collect()
}

/// A plot of a report.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Figure {
    /// The reliability diagrams before and after calibration in one.
    BeforeAndAfter,
    /// The reliability diagram before calibration.
    ReliabilityBefore,
    /// The reliability diagram after calibration.
    Reliability,
    /// The reliability diagrams of one predicted class, before and after.
    Class(u16),
    /// The share of predictions whose bin is within epsilon.
    Validity,
    /// Whether every bin is within epsilon.
    ValidityConditional,
    /// The ROC curves and the convex hull.
    Roc,
    /// The distributions of scores and probabilities.
    Distribution,
    /// The distribution of margins.
    Margins,
    /// The calibrated probability of every margin.
    Map,
    /// The band over the scores, if the artifact has one.
    Band,
    /// The reliability diagram of one class against the rest, before and after.
    ClassWise(u16),
    /// The shares of the calibration and test rows in the calibrator's bins.
    Occupancy,
    /// The recalibration diagram on the simplex, for three classes.
    Simplex,
    /// The CORP reliability curve before calibration; binary rows only.
    CorpBefore,
    /// The CORP reliability curve after calibration; binary rows only.
    Corp,
    /// The decision curve; binary rows only.
    DecisionCurve,
    /// The calibrated probabilities by outcome; binary rows only.
    Outcomes,
}

/// Draws one plot of the [`report`] on the same artifact and rows, as in the example there; `None` if the report has none of
/// this kind.
///
/// # Panics
///
/// If no row of the test data is calibrated, or the clusters of `options` are not those of the test rows.
pub fn plot(
    figure: Figure,
    stored: &StoredArtifact,
    data: &ReportData<'_>,
    options: &AssessOptions<'_>,
) -> Option<Plot> {
    let artifact = &stored.artifact();
    let test = data.test;
    let metrics = || assess_before_after(&test.before, &test.after, test.kind, options, options);
    let validity = |kind| {
        let by_bin = artifact.header().bins > 0;
        Validities::new(test, options, Curve::of(artifact), by_bin).plot(kind)
    };
    match figure {
        // A margin is no probability.
        Figure::BeforeAndAfter | Figure::ReliabilityBefore if test.margins.is_some() => None,
        Figure::BeforeAndAfter => Some(figures::before_and_after(&metrics(), options)),
        Figure::Margins => figures::of_margins(test).map(|[margins, _]| margins),
        Figure::Map => figures::of_margins(test).map(|[_, map]| map),
        Figure::Band => figures::band(artifact, test),
        Figure::ReliabilityBefore => Some(figures::reliability(Side::Before, &metrics(), options)),
        Figure::Reliability => Some(figures::reliability(Side::After, &metrics(), options)),
        Figure::Class(class) => figures::of_class(class, &metrics()),
        Figure::Validity => Some(validity(ValidityKind::Marginal)),
        Figure::ValidityConditional => Some(validity(ValidityKind::Conditional)),
        Figure::Roc => figures::roc(test),
        Figure::Distribution => Some(figures::distribution(test)),
        Figure::ClassWise(class) => {
            let classes = ClassWiseSummary::new(data.class_probs?, options, data.drawn_classes);
            figures::one_vs_rest(class, &classes)
        }
        Figure::Occupancy => figures::occupancy(&occupancy(artifact, data.calibration, test)),
        Figure::Simplex => simplex_of(artifact, data),
        Figure::CorpBefore => clinical_plots::corp(Side::Before, &clinical(data, options)?, options.alpha),
        Figure::Corp => clinical_plots::corp(Side::After, &clinical(data, options)?, options.alpha),
        Figure::DecisionCurve => {
            Some(clinical_plots::decision_curve(&clinical(data, options)?, options.alpha))
        }
        Figure::Outcomes => Some(clinical_plots::outcomes(&clinical(data, options)?.after)),
    }
}

fn simplex_of(artifact: &Artifact<'_>, data: &ReportData<'_>) -> Option<Plot> {
    data.class_probs.filter(|_| artifact.header().classes == 3).map(simplex::simplex)
}

/// The table of the device, if there is one, and it has no more bins than a reader looks at.
fn steps(artifact: &Artifact<'_>) -> Vec<[String; 2]> {
    const MOST: usize = 32;
    let steps = if artifact.tables().count() == 1 { table_steps(artifact, 0) } else { Vec::new() };
    let few = Some(steps).filter(|steps| steps.len() <= MOST).unwrap_or_default();
    few.into_iter().map(|(scores, value)| [scores_in_words(scores), shown(4, value.into())]).collect()
}

impl CalibratorSummary {
    /// What an artifact tells of itself.
    pub(crate) fn of(artifact: &Artifact<'_>) -> Self {
        let header = artifact.header();
        let tables = artifact.tables();
        let largest = (0..tables.count()).filter_map(|table| Some(tables.get(table)?.form.bins())).max();
        Self {
            method: header.method.to_string(),
            reduction: header.reduction.to_string(),
            parameters: header.provenance.parameters.into(),
            encoding: header.encoding.to_string(),
            classes: header.classes,
            n: header.n,
            bins: header.bins,
            table: size_in_words(header.method, header.bins as usize),
            len_bytes: artifact.len_bytes(),
            identity: artifact.identity().to_string(),
            tool_version: header.provenance.tool_version.into(),
            data_sha256: hex::encode(header.provenance.data_sha256),
            comparisons: largest.filter(|&bins| bins > 0).map(|bins| bins.next_power_of_two().ilog2()),
        }
    }
}

/// The counts of both data sets in the bins that occur in either, by class and bin.
fn occupancy(artifact: &Artifact<'_>, calibration: &CalibratedRows, test: &CalibratedRows) -> Vec<Occupancy> {
    if artifact.header().bins == 0 {
        return Vec::new();
    }
    let mut bins = BTreeMap::<(u16, u32), [Cell; 2]>::new();
    for (rows, which) in [(calibration, 0), (test, 1)] {
        for row in &rows.after {
            bins.entry((row.class, row.bin)).or_default()[which].add(row.prob, row.hit, 1);
        }
    }
    let bin = |((class, bin), [calibration, test]): ((u16, u32), [Cell; 2])| {
        let mut both = calibration;
        both += test;
        Occupancy { class, bin, prob: both.mean_prob(), calibration: calibration.n, test: test.n }
    };
    bins.into_iter().map(bin).collect()
}

impl Report {
    /// What is guaranteed of an artifact's probabilities, and what thresholds or sets beside them guarantee.
    pub(crate) fn guarantee_of(stored: &StoredArtifact) -> String {
        let upper = |sentence: String| {
            let (first, rest) = sentence.split_at(sentence.chars().next().map_or(0, char::len_utf8));
            format!(" {}{rest}.", first.to_uppercase())
        };
        let rules = rule_sentences(&stored.artifact());
        guarantee_text(stored).statement + &rules.into_iter().map(upper).collect::<String>()
    }
}
