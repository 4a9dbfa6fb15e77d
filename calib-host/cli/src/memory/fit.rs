//! `calib fit` for data in memory: the command's options, with numbers in place of files.

use std::borrow::Cow;
use std::cmp::Ordering;
use std::ffi::OsString;
use std::path::Path;

use calib_core::{Margin, QuantizedScore, Score, ScoreEncoding};
use calib_fit::artifact::Monitoring;
use calib_fit::data::{CodeVectors, DataError, RowsHash, WeightedData};
use calib_fit::job::{Finding, Looks};
use calib_fit::reduction::{Problems, fit_reduction};
use calib_fit::stats::Clusters;
use calib_fit::stop::check;
use calib_fit::{
    BinaryData, Fit, FitError, ScoreKind, StoredArtifact, VectorData, VectorKind, Vectors, artifact_bytes,
    fit_joint, joint_artifact_bytes,
};
use calib_io::files::Place;
use calib_io::input::Sample;
use clap::Parser;
use rayon::prelude::*;
use sha2::{Digest, Sha256};

use crate::error::{Error, sentence};
use crate::fitting::{Chosen, check_written, fit_sample, over_codes, warnings_of_sample};
use crate::hints::hint;
use crate::options::{CodeOptions, MethodOptions, ReductionOption, WrittenOptions};
use crate::read::{predictions, question_independence, question_predictions};
use crate::show::Warnings;

/// What errors call the data.
const SCORES: &str = "scores";
/// What errors call the scores that monitors compare with.
const MONITOR_SCORES: &str = "monitor_scores";

/// The options of `calib fit` that are not about files.
#[derive(Parser)]
#[command(name = "fit", no_binary_name = true, disable_help_flag = true)]
struct Asked {
    #[command(flatten)]
    method: MethodOptions,
    #[command(flatten)]
    reduction: ReductionOption,
    #[command(flatten)]
    codes: CodeOptions,
    #[command(flatten)]
    written: WrittenOptions,
}

/// What is to be fitted, as the options of `calib fit` say it.
///
/// ```
/// use calib_fit::ScoreKind;
/// use calib_cli::{FitRequest, Rows, Scores};
///
/// let scores: Vec<f32> = (0..400).map(|i| i as f32 / 400.0).collect();
/// let labels: Vec<i64> = (0..400).map(|i| i64::from(i % 40 < i / 20)).collect();
/// let request = FitRequest::parse(["--method", "umd", "--bins", "4"])?;
/// let fitted = request.fit(Scores::Binary(ScoreKind::Probability, scores.into()), Rows::new(&labels))?;
/// assert_eq!(fitted.artifact.artifact().header().bins, 4);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct FitRequest(Asked);

/// Scores in memory. Floats are the device's `f32`.
#[derive(Clone, Debug)]
pub enum Scores<'a> {
    /// Of class 1 of two.
    Binary(ScoreKind, Cow<'a, [f32]>),
    /// Codes of them, in the encoding that the options name.
    Codes(ScoreKind, &'a [i64]),
    /// Of several classes, row by row, with the number of classes.
    Vectors(VectorKind, Vec<f32>, usize),
    /// Codes of them.
    CodeVectors(VectorKind, &'a [i64], usize),
}

impl Scores<'_> {
    /// The number of rows.
    pub(super) fn rows(&self) -> usize {
        match self {
            Self::Binary(_, values) => values.len(),
            Self::Codes(_, values) => values.len(),
            Self::Vectors(_, values, classes) => values.len() / (*classes).max(1),
            Self::CodeVectors(_, values, classes) => values.len() / (*classes).max(1),
        }
    }
}

/// Scores of a kind as the device has them: the nearest `f32`.
///
/// ```
/// use calib_fit::ScoreKind;
/// use calib_cli::device_scores;
///
/// assert_eq!(device_scores(ScoreKind::Probability, &[0.1])?, [0.1f32]);
/// // The nearest f32 is 1.
/// assert!(device_scores(ScoreKind::Probability, &[1.0 + 1e-12]).is_err());
/// # Ok::<(), calib_fit::data::DataError>(())
/// ```
///
/// # Errors
///
/// The first that is no score of the kind.
pub fn device_scores(kind: ScoreKind, scores: &[f64]) -> Result<Vec<f32>, DataError> {
    let score = |score: f64| match kind {
        ScoreKind::Probability => Score::try_from(score).map(Score::get),
        ScoreKind::Margin => Margin::new(score as f32).map(Margin::get),
    };
    let mut rounded = vec![0.0; scores.len()];
    let parts = rounded.par_chunks_mut(PART_ROWS).zip(scores.par_chunks(PART_ROWS)).enumerate();
    let first_refused = parts.filter_map(|(part, (rounded, scores))| {
        check();
        let mut rows = rounded.iter_mut().zip(scores).enumerate();
        let refused = rows.find_map(|(row, (place, &given))| match score(given) {
            Ok(score) => {
                *place = score;
                None
            }
            Err(cause) => Some(DataError::Score { row: part * PART_ROWS + row, cause }),
        });
        refused.map(|refused| (part, refused))
    });
    match first_refused.min_by_key(|(part, _)| *part) {
        Some((_, refused)) => Err(refused),
        None => Ok(rounded),
    }
}

/// So many rows are rounded at a time.
const PART_ROWS: usize = 1 << 16;

/// What is known of the rows besides their scores.
#[derive(Clone, Copy, Debug)]
pub struct Rows<'a> {
    /// Their labels.
    pub labels: &'a [i64],
    /// Their weights, if they have some.
    pub weights: Option<&'a [f64]>,
    /// Which of them belong together: those with the same number.
    pub clusters: Option<&'a [i64]>,
    /// By how many classifiers the scores are: those of cross-validation by one for each fold. Of more than one nothing is
    /// guaranteed, as theorems are about the classifier that the scores come from, and another one is kept.
    pub classifiers: u32,
    /// Other binary scores, of the same kind, which monitors compare with in place of these: `--monitor-scores` of the command.
    pub monitor_scores: Option<&'a [f32]>,
}

impl<'a> Rows<'a> {
    /// Rows that are all the same, and independent, with scores by one classifier.
    pub fn new(labels: &'a [i64]) -> Self {
        Self { labels, weights: None, clusters: None, classifiers: 1, monitor_scores: None }
    }
}

/// What was fitted.
#[derive(Clone, Debug)]
pub struct Fitted {
    /// The artefact.
    pub artifact: StoredArtifact,
    /// What was chosen because nobody named it, and why.
    pub chosen: Option<String>,
    /// What speaks against the fit, the weightiest first.
    pub warnings: Vec<String>,
    /// What stays uncalibrated, and why.
    pub uncalibrated: Vec<(String, String)>,
}

/// Whose fault it is that nothing was fitted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// What was asked for makes no sense.
    Options,
    /// The data are of no use.
    Data,
    /// The data and the calibrator do not belong together.
    Mismatch,
}

/// Why nothing was fitted: the sentence of the command, and what to do.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{sentence}{}", hint.as_ref().map_or(String::new(), |hint| format!("\n  hint: {hint}")))]
pub struct Refused {
    /// Whose fault it is.
    pub fault: Fault,
    /// Why.
    pub sentence: String,
    /// What to do about it.
    pub hint: Option<String>,
}

impl From<Error> for Refused {
    fn from(error: Error) -> Self {
        let fault = match &error {
            Error::Data(_) => Fault::Data,
            other if other.exit_code() == 1 => Fault::Mismatch,
            other if other.exit_code() == 2 => Fault::Options,
            _ => Fault::Data,
        };
        Self { fault, sentence: error.to_string(), hint: hint(&error) }
    }
}

impl From<clap::Error> for Refused {
    fn from(error: clap::Error) -> Self {
        let text = error.render().to_string();
        let text = text.strip_prefix("error: ").unwrap_or(&text);
        // What is left tells how a command line is typed.
        let end = ["\n\nUsage:", "\n\nFor more"].iter().filter_map(|mark| text.find(mark)).min();
        let sentence = text[..end.unwrap_or(text.len())].trim_end().into();
        Self { fault: Fault::Options, sentence, hint: None }
    }
}

/// A fit of several tables, or of one, before it is written.
struct Attempted {
    fit: Fit,
    rows: RowsHash,
    warnings: Warnings,
    chosen: Option<Chosen>,
    monitors: Option<Monitoring>,
}

impl FitRequest {
    /// Reads the options, such as `["--method", "umd", "--bins", "10"]`.
    ///
    /// # Errors
    ///
    /// The first that is none, or has no such value.
    pub fn parse<T: Into<OsString> + Clone>(words: impl IntoIterator<Item = T>) -> Result<Self, Refused> {
        Ok(Self(Asked::try_parse_from(words)?))
    }

    /// Fits, and writes the artefact. It is the one that the command writes of the same data, but for the hash that names their files:
    /// here it is that of the rows' hash.
    ///
    /// # Errors
    ///
    /// As the command's, in the same sentences.
    pub fn fit(&self, scores: Scores<'_>, rows: Rows<'_>) -> Result<Fitted, Refused> {
        Ok(self.fitted(scores, rows)?)
    }

    fn fitted(&self, scores: Scores<'_>, rows: Rows<'_>) -> Result<Fitted, Error> {
        let Asked { method, reduction, codes, written } = &self.0;
        check_written(method, written, codes)?;
        let encoding = codes.encoding()?;
        let reduction_asked = reduction.get()?;
        rows.check(&scores)?;
        self.check_classifiers(rows)?;
        let of_tables = matches!(scores, Scores::Vectors(..) | Scores::CodeVectors(..));
        if of_tables && rows.monitor_scores.is_some() {
            return Err(usage(
                "monitors of several classes compare with the calibration scores: leave out monitor_scores",
            ));
        }
        let attempted = match (scores, reduction_asked) {
            (Scores::Binary(..) | Scores::Codes(..), Some(_)) => {
                return Err(usage("--reduction needs a matrix: scores of every class, in a column each"));
            }
            (Scores::Binary(kind, scores), None) => self.binary((kind, None), scores, rows)?,
            (Scores::Codes(kind, codes), None) => {
                let encoding = encoding.ok_or_else(no_encoding)?;
                self.binary((kind, Some(encoding)), scores_of_codes(codes, encoding, kind)?.into(), rows)?
            }
            (Scores::Vectors(kind, values, classes), reduction_asked) => {
                let reduction_asked = method.reduction_or_chosen(reduction_asked);
                let by_margin = reduction.is_by_margin(Some(kind), reduction_asked)?;
                let vectors = Vectors::new(values, classes, kind)?;
                match reduction_asked {
                    None => return self.joint(vectors, rows),
                    Some(reduction) => self.reduced((vectors, by_margin), reduction, rows)?,
                }
            }
            (Scores::CodeVectors(kind, values, classes), reduction_asked) => {
                let reduction_asked = method.reduction_or_chosen(reduction_asked);
                let by_margin = reduction.is_by_margin(Some(kind), reduction_asked)?;
                let encoding = encoding.ok_or_else(no_encoding)?;
                codes.check_matrix(kind, reduction_asked, by_margin)?;
                let reduction = reduction_asked.expect("checked with the matrix");
                let vectors = match kind {
                    VectorKind::Probs => CodeVectors::new(values, classes, encoding),
                    VectorKind::Logits => CodeVectors::of_logits(values, classes, encoding),
                };
                let problems = |vectors: &CodeVectors, labels: &[i64]| match by_margin {
                    true => Problems::of_code_margins(vectors, labels, reduction),
                    false => Problems::of_codes(vectors, labels, reduction),
                };
                self.reduced_codes(vectors?, encoding, rows, problems)?
            }
        };
        let Attempted { fit, rows: hash, warnings, chosen, monitors } = attempted;
        let chosen_reduction = method.reduction_or_chosen(None).filter(|_| reduction_asked.is_none());
        let why = of_tables.then(|| method.why_tables(chosen_reduction)).flatten();
        let chosen = chosen.or(why.map(Chosen::whatever_labels_say));
        let fit = if written.is_compact() { fit.compacted()? } else { fit };
        let fit = written.stated(fit, chosen.as_ref().and_then(Chosen::share));
        let fit = fit.of_classifiers(rows.classifiers);
        let chosen = chosen.map(|chosen| chosen.of_classifiers(rows.classifiers));
        let bytes = artifact_bytes(&fit, &self.written_of(hash, monitors))?;
        let name = |table: usize| fit.table_name(table);
        let uncalibrated = fit.unfitted.iter().map(|one| (name(one.table), one.reason.to_string())).collect();
        Ok(fitted(&bytes, warnings, chosen, uncalibrated))
    }

    /// Refuses what is about a guarantee where the scores are by several classifiers.
    fn check_classifiers(&self, Rows { classifiers, monitor_scores, .. }: Rows<'_>) -> Result<(), Error> {
        let Asked { method, written, .. } = &self.0;
        let about = [
            (method.epsilon().is_some(), "--epsilon"),
            (written.intervals, "--intervals"),
            (written.candidates > 1, "--candidates"),
            (written.alpha_spent > 0.0, "--alpha-spent"),
            // The scores of the classifier that is kept are no draws from those of the others.
            (written.monitors.are_asked() && monitor_scores.is_none(), "--monitor"),
        ];
        match (classifiers, about.iter().find(|(is_asked, _)| *is_asked)) {
            (0, _) => Err(usage("scores are by 1 classifier at least, not by 0")),
            (2.., Some((_, option))) => Err(usage(&format!(
                "scores by {classifiers} classifiers have no guarantee: leave out {option}, or give scores by the classifier that is \
                 kept"
            ))),
            _ => Ok(()),
        }
    }

    fn written_of(&self, rows: RowsHash, monitors: Option<Monitoring>) -> calib_fit::ArtifactOptions {
        let sha256 = Sha256::digest(rows.to_bytes()).into();
        self.0.written.artifact_options(sha256, rows, self.0.codes.direct_table, monitors)
    }

    /// Scores of class 1, which stand for codes if there is an encoding.
    fn binary(
        &self,
        (kind, encoding): (ScoreKind, Option<ScoreEncoding>),
        scores: Cow<'_, [f32]>,
        rows: Rows<'_>,
    ) -> Result<Attempted, Error> {
        let Asked { method, written, .. } = &self.0;
        let place = Place::file(Path::new(SCORES));
        let fit_error = |cause| Error::fit(place.clone(), cause);
        let mut sample = sample(kind, &scores, rows.labels, rows.weights)?;
        let hash = sample.rows_hash().map_err(fit_error)?;
        let of_rows = rows.labels.len() as u64;
        let is_doubtful = kind == ScoreKind::Margin && scores.iter().all(|score| (0.0..=1.0).contains(score));
        let mut dependence = None;
        let compare = |a: usize, b: usize| (scores[a] + 0.0).total_cmp(&(scores[b] + 0.0));
        let drawn = self.drawn(rows, compare)?;
        if let Some(drawn) = &drawn {
            let labels: Vec<i64> = drawn.iter().map(|&row| rows.labels[row]).collect();
            let scores: Vec<f32> = drawn.iter().map(|&row| scores[row]).collect();
            sample = self::sample(kind, &scores, &labels, None)?;
        } else if let Sample::Points(data) = &sample {
            dependence = question_independence(data, None);
        }
        let monitors = match rows.monitor_scores {
            Some(scores) => {
                written.monitors.of_scores(kind, scores, &Place::file(Path::new(MONITOR_SCORES)))?
            }
            None => written.monitors.of_sample(&sample)?,
        };
        let sample = if encoding.is_none() && written.is_compact() { sample.rounded() } else { sample };
        let fit = fit_sample((method, written), &sample, (kind, encoding), &place)?;
        let (fit, chosen) = fit.map_err(fit_error)?;
        let mut warnings = warnings_of_sample(&sample).map_err(fit_error)?;
        let doubt = is_doubtful.then(|| sentence(&Finding::RawScoresInUnitInterval, Path::new(SCORES)));
        warnings.doubts.extend(doubt.into_iter().chain(dependence));
        let spread = sample.spread().map_err(fit_error)?;
        let fit = over_codes(fit.with_spreads([Some(spread)]), encoding)?;
        Ok(Attempted { fit: self.of_clusters(fit, drawn, of_rows), rows: hash, warnings, chosen, monitors })
    }

    /// A matrix of floats under a reduction.
    fn reduced(
        &self,
        (vectors, by_margin): (Vectors, bool),
        reduction: calib_core::artifact::Reduction,
        rows: Rows<'_>,
    ) -> Result<Attempted, Error> {
        let monitors = self.0.written.monitors.of_tables()?;
        let hash = vectors.rows_hash(rows.labels);
        let drawn = self.drawn(rows, |a, b| vectors.compare(a, b))?;
        let doubts = doubts_of_vectors(&vectors, rows.labels, drawn.is_some());
        let (vectors, labels) = match &drawn {
            Some(drawn) => (vectors.part(drawn), drawn.iter().map(|&row| rows.labels[row]).collect()),
            None => (vectors, rows.labels.to_vec()),
        };
        let problems = match by_margin {
            true => Problems::of_class_margins(&vectors, &labels, reduction)?,
            false => Problems::new(&vectors, &labels, reduction)?,
        };
        let problems = if self.0.written.is_compact() { problems.rounded() } else { problems };
        let fit = self.fit_problems(&problems)?;
        let warnings = Warnings { doubts, ..Warnings::default() };
        let fit = self.of_clusters(fit, drawn, rows.labels.len() as u64);
        Ok(Attempted { fit, rows: hash, warnings, chosen: None, monitors })
    }

    /// A matrix of codes under a reduction.
    fn reduced_codes(
        &self,
        vectors: CodeVectors,
        encoding: ScoreEncoding,
        rows: Rows<'_>,
        problems: impl Fn(&CodeVectors, &[i64]) -> Result<Problems, DataError>,
    ) -> Result<Attempted, Error> {
        let monitors = self.0.written.monitors.of_tables()?;
        let hash = vectors.rows_hash(rows.labels);
        let drawn = self.drawn(rows, |a, b| vectors.compare(a, b))?;
        let problems = match &drawn {
            Some(drawn) => {
                let labels: Vec<i64> = drawn.iter().map(|&row| rows.labels[row]).collect();
                problems(&vectors.part(drawn), &labels)?
            }
            None => problems(&vectors, rows.labels)?,
        };
        let fit = over_codes(self.fit_problems(&problems)?, Some(encoding))?;
        let fit = self.of_clusters(fit, drawn, rows.labels.len() as u64);
        Ok(Attempted { fit, rows: hash, warnings: Warnings::default(), chosen: None, monitors })
    }

    fn fit_problems(&self, problems: &Problems) -> Result<Fit, Error> {
        let fit = fit_reduction(problems, &self.0.method.reduction()?, self.0.written.divided_alpha());
        let fit = fit.map_err(|cause| Error::fit(Place::file(Path::new(SCORES)), cause))?;
        Ok(fit.with_spreads(problems.spreads()))
    }

    /// One calibrator of whole vectors.
    fn joint(&self, vectors: Vectors, rows: Rows<'_>) -> Result<Fitted, Error> {
        let method = self.0.method.joint()?;
        self.0.written.check_joint()?;
        let hash = vectors.rows_hash(rows.labels);
        let drawn = self.drawn(rows, |a, b| vectors.compare(a, b))?;
        let doubts = doubts_of_vectors(&vectors, rows.labels, drawn.is_some());
        let data = match &drawn {
            Some(drawn) => {
                let labels: Vec<i64> = drawn.iter().map(|&row| rows.labels[row]).collect();
                VectorData::new(&vectors.part(drawn), &labels)?
            }
            None => VectorData::new(&vectors, rows.labels)?,
        };
        let place = Place::file(Path::new(SCORES));
        let fit = fit_joint(&data, &method).map_err(|cause: FitError| Error::fit(place, cause))?;
        let n = rows.labels.len() as u64;
        let fit = match drawn.filter(|drawn| drawn.len() as u64 != n) {
            Some(_) => fit.of_clusters(n, self.0.method.seed()),
            None => fit,
        };
        let bytes = joint_artifact_bytes(&fit, &self.written_of(hash, None))?;
        let warnings = Warnings { doubts, ..Warnings::default() };
        Ok(fitted(&bytes, warnings, None, Vec::new()))
    }

    /// Draws one row of each cluster, if rows belong together.
    fn drawn(
        &self,
        rows: Rows<'_>,
        compare: impl Fn(usize, usize) -> Ordering,
    ) -> Result<Option<Vec<usize>>, Error> {
        let Some(clusters) = rows.clusters else { return Ok(None) };
        if rows.weights.is_some() {
            return Err(usage(
                "of weighted rows no one row can be drawn from a cluster: leave out --clusters",
            ));
        }
        let compare = |a: usize, b: usize| compare(a, b).then(rows.labels[a].cmp(&rows.labels[b]));
        Ok(Some(Clusters::new(clusters).one_row_each(self.0.method.seed(), compare)))
    }

    /// Records in a fit that its points were drawn; not if every row was.
    fn of_clusters(&self, fit: Fit, drawn: Option<Vec<usize>>, of_rows: u64) -> Fit {
        match drawn.filter(|drawn| drawn.len() as u64 != of_rows) {
            Some(_) => fit.of_clusters(of_rows, self.0.method.seed()),
            None => fit,
        }
    }
}

impl Rows<'_> {
    /// That there is a label, and a weight, for every row of scores.
    fn check(&self, scores: &Scores<'_>) -> Result<(), Error> {
        let len = scores.rows();
        let is_matrix = matches!(scores, Scores::Vectors(..) | Scores::CodeVectors(..));
        if len == 0 {
            return Err(DataError::Empty.into());
        }
        if len != self.labels.len() {
            return Err(DataError::LabelCount { scores: len, labels: self.labels.len() }.into());
        }
        if is_matrix && self.weights.is_some() {
            return Err(usage("weights go with scores of class 1: the rows of a matrix have none"));
        }
        let rows = |what: &str, rows: usize| usage(&format!("{len} rows of scores but {rows} {what}"));
        match (self.weights, self.clusters) {
            (Some(weights), _) if weights.len() != len => Err(rows("weights", weights.len())),
            (_, Some(clusters)) if clusters.len() != len => Err(rows("clusters", clusters.len())),
            _ => Ok(()),
        }
    }
}

fn fitted(
    bytes: &[u8],
    warnings: Warnings,
    chosen: Option<Chosen>,
    uncalibrated: Vec<(String, String)>,
) -> Fitted {
    let artifact = StoredArtifact::from_bytes(bytes).expect("just written");
    let warnings = warnings.and_of(&artifact.artifact()).sentences();
    Fitted { artifact, chosen: chosen.map(|chosen| chosen.why), warnings, uncalibrated }
}

fn sample(kind: ScoreKind, scores: &[f32], labels: &[i64], weights: Option<&[f64]>) -> Result<Sample, Error> {
    if let Some(weights) = weights {
        let labels = binary_labels(labels)?;
        let rows = scores.iter().zip(weights).zip(labels);
        let rows: Vec<_> = rows.map(|((&score, &weight), label)| (score.into(), weight, label)).collect();
        return Ok(Sample::Weighted(match kind {
            ScoreKind::Probability => WeightedData::new(&rows)?,
            ScoreKind::Margin => WeightedData::of_margins(&rows)?,
        }));
    }
    Ok(Sample::Points(match kind {
        ScoreKind::Probability => BinaryData::from_device_classes(scores, labels)?,
        ScoreKind::Margin => {
            let labels = binary_labels(labels)?;
            BinaryData::of_margins(scores.iter().copied().map(f64::from).collect(), labels)?
        }
    }))
}

pub(super) fn binary_labels(labels: &[i64]) -> Result<Vec<bool>, Error> {
    match labels.iter().position(|label| !(0..2).contains(label)) {
        Some(row) => Err(DataError::Class { row, class: labels[row], classes: 2 }.into()),
        None => Ok(labels.iter().map(|&label| label == 1).collect()),
    }
}

/// The scores of a kind that codes stand for.
fn scores_of_codes(codes: &[i64], encoding: ScoreEncoding, kind: ScoreKind) -> Result<Vec<f32>, DataError> {
    let score = |(row, known): (usize, &QuantizedScore)| {
        let score = match kind {
            ScoreKind::Probability => known.score().map(|score| score.get()),
            ScoreKind::Margin => Margin::new(known.dequantized()).ok().map(|margin| margin.get()),
        };
        let code = known.code();
        score.ok_or(DataError::CodeScore { row, class: 1, code, score: known.dequantized() })
    };
    codes_of(codes, encoding)?.iter().enumerate().map(score).collect()
}

/// Codes of an encoding.
pub(super) fn codes_of(codes: &[i64], encoding: ScoreEncoding) -> Result<Vec<QuantizedScore>, DataError> {
    let known = |(row, &code): (usize, &i64)| {
        // No code is near the ends of an i32.
        let narrow = code.clamp(i32::MIN.into(), i32::MAX.into()) as i32;
        QuantizedScore::new(encoding, narrow).map_err(|cause| DataError::Code { row, class: 1, code, cause })
    };
    codes.iter().enumerate().map(known).collect()
}

fn doubts_of_vectors(vectors: &Vectors, labels: &[i64], are_drawn: bool) -> Vec<String> {
    let doubt = Looks::like_anything().and(vectors).finding();
    let doubt = doubt.map(|finding| sentence(&finding, Path::new("logits")));
    let dependence = (!are_drawn).then(|| question_predictions(&predictions(vectors, labels), None));
    doubt.into_iter().chain(dependence.flatten()).collect()
}

fn no_encoding() -> Error {
    usage("integer codes need --score-encoding, --scale and --zero-point")
}

fn usage(text: &str) -> Error {
    Error::Usage(text.into())
}
