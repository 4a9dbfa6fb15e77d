//! Applying an artefact to scores, with the code and the arithmetic of the device.

use calib_core::artifact::{TableForm, Tables};
use calib_core::score::EncodingError;
use calib_core::table::InterpolatedTable;
use calib_core::{
    Artifact, BinFlags, Calibrator, Margin, Outcome, QuantizedScore, Score, ScoreVector, StepTable, TopLabel,
    Uncalibrated, VectorCalibrator,
};
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use rayon::prelude::*;

use crate::artifact::score_kind;
use crate::data::{CodeVectors, DataError, VectorKind, Vectors, check_device_scores, score_of_code};
use crate::stats::ScoreKind;
use crate::stop;

/// A calibrated row.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Applied {
    /// The class that the probability is of.
    pub class: u16,
    /// Its score as the device has it: a probability, a margin, or what a code stands for; if that is a probability, the nearest.
    pub score: f32,
    /// The probability, or why there is none.
    pub outcome: Outcome,
    /// The random word that stood in for the device's, if the artefact is randomised.
    pub word: Option<u32>,
}

/// A calibrated vector: what it is depends on the artefact's reduction.
#[derive(Clone, Debug, PartialEq)]
pub enum AppliedVector {
    /// The probability of the predicted class.
    TopLabel(Applied),
    /// The probabilities of the first few classes, in their order.
    TopK(Vec<Applied>),
    /// The probabilities of all classes.
    Classes(AppliedClasses),
}

/// Every class's probability.
#[derive(Clone, Debug, PartialEq)]
pub struct AppliedClasses {
    /// The class that the classifier predicts, and its score.
    pub top: TopLabel,
    /// What is said of that class.
    pub predicted: Outcome,
    /// The probabilities, `None` for an uncalibrated class.
    pub probs: Vec<Option<f32>>,
    /// Their evidence, where each class has its own; otherwise nothing.
    pub outcomes: Vec<Outcome>,
    /// The bin of the vector as a whole, where it has one.
    pub bin: Option<u16>,
    /// The random word that stood in for the device's, if the artefact is randomised.
    pub word: Option<u32>,
}

impl Applied {
    fn of(top: TopLabel, outcome: Outcome, word: Option<u32>) -> Self {
        Self { class: top.class, score: top.score.get(), outcome, word }
    }

    /// Returns what to know about the row: `uncalibrated-class`, `empty-bin`, `zero-sum` or `uncalibrated`; of a calibrated row
    /// `out-of-range` if no calibration point has a score as low or as high; or nothing.
    pub fn flags(&self) -> &'static str {
        flags(&self.outcome)
    }
}

impl AppliedClasses {
    /// Returns what to know about the row: why the predicted class or else another class has no probability, in the words of
    /// [`Applied::flags`], or nothing.
    pub fn flags(&self) -> &'static str {
        let mut all = std::iter::once(&self.predicted).chain(&self.outcomes).map(flags);
        let Some(first) = all.find(|flags| !flags.is_empty()) else { return "" };
        // That a class has no probability is the weightier news.
        let weightier = |flags: &&str| !flags.is_empty() && *flags != OUT_OF_RANGE;
        if first == OUT_OF_RANGE { all.find(weightier).unwrap_or(first) } else { first }
    }
}

/// The flag of a score beyond those of the calibration points.
const OUT_OF_RANGE: &str = "out-of-range";

fn flags(outcome: &Outcome) -> &'static str {
    match outcome {
        Outcome::Uncalibrated(Uncalibrated::Class) => "uncalibrated-class",
        Outcome::Uncalibrated(Uncalibrated::EmptyBin) => "empty-bin",
        Outcome::Uncalibrated(Uncalibrated::ZeroSum) => "zero-sum",
        Outcome::Uncalibrated(_) => "uncalibrated",
        // Another class is.
        Outcome::Calibrated(c) if c.flags.contains(BinFlags::SHARED_OUT) => "uncalibrated-class",
        Outcome::Calibrated(c) if c.flags.contains(BinFlags::OUT_OF_RANGE) => OUT_OF_RANGE,
        Outcome::Calibrated(_) => "",
    }
}

/// Calibrates the scores of class 1 with a binary artefact; `None` if the artefact is not binary.
///
/// A randomised artefact gets a random word per row, drawn from `seed` in row order.
///
/// ```
/// use calib_core::{Outcome, Score};
/// use calib_fit::{BinaryData, BinaryMethod, Isotonic, StoredArtifact, apply_scores, artifact_bytes, fit_binary};
///
/// let data = BinaryData::new(vec![0.25, 0.5, 0.5, 0.75], vec![false, true, false, true])?;
/// let fit = fit_binary(&data, &BinaryMethod::Isotonic(Isotonic::default()), 0.1)?;
/// let stored = StoredArtifact::from_bytes(&artifact_bytes(&fit, &Default::default())?).unwrap();
/// let applied = apply_scores(&stored.artifact(), &[Score::try_from(0.55)?], 0).unwrap();
/// assert!(matches!(applied[0].outcome, Outcome::Calibrated(calibrated) if calibrated.prob == 0.5));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn apply_scores(artifact: &Artifact<'_>, scores: &[Score], seed: u64) -> Option<Vec<Applied>> {
    apply_scores_from(artifact, scores, Words::new(artifact, seed))
}

/// As [`apply_scores`], for the rows that begin at the first of these words.
pub fn apply_scores_from(artifact: &Artifact<'_>, scores: &[Score], words: Words) -> Option<Vec<Applied>> {
    let Calibrator::Binary(calibrator) = artifact.calibrator() else { return None };
    let apply = |(&score, word): (&Score, Option<u32>)| {
        let outcome = calibrator.calibrate_with(score, word);
        Applied { class: 1, score: score.get(), outcome, word }
    };
    Some(scores.iter().zip(words).map(apply).collect())
}

/// Calibrates the margins of class 1 with a binary artefact over margins; `None` if the artefact is not of that kind. Otherwise as
/// [`apply_scores`].
///
/// ```
/// use calib_core::Margin;
/// use calib_fit::{BinaryData, BinaryMethod, Isotonic, StoredArtifact, apply_margins, artifact_bytes, fit_binary};
///
/// let data = BinaryData::of_margins(vec![-7.5, -0.5, 0.5, 31.0], vec![false, true, false, true])?;
/// let fit = fit_binary(&data, &BinaryMethod::Isotonic(Isotonic::default()), 0.1)?;
/// let stored = StoredArtifact::from_bytes(&artifact_bytes(&fit, &Default::default())?)?;
/// let applied = apply_margins(&stored.artifact(), &[Margin::new(0.25)?], 0).unwrap();
/// assert_eq!(applied[0].outcome.calibrated().map(|calibrated| calibrated.prob), Some(0.5));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn apply_margins(artifact: &Artifact<'_>, margins: &[Margin], seed: u64) -> Option<Vec<Applied>> {
    let Calibrator::BinaryMargin(calibrator) = artifact.calibrator() else { return None };
    let apply = |(&margin, word): (&Margin, Option<u32>)| {
        let outcome = calibrator.calibrate_with(margin, word);
        Applied { class: 1, score: margin.get(), outcome, word }
    };
    Some(margins.iter().zip(Words::new(artifact, seed)).map(apply).collect())
}

/// Returns the probabilities of scores of class 1, and nothing else, on all processors: those that [`apply_scores`] finds, NaN
/// for a score whose bin is empty. `None` if the artefact is not binary.
///
/// ```
/// use calib_fit::apply_probs;
/// # use calib_fit::{BinaryData, BinaryMethod, StoredArtifact, Umd, artifact_bytes, fit_binary};
/// # let scores = (0..400).map(|i| f64::from(i) / 400.0).collect();
/// # let data = BinaryData::new(scores, (0..400).map(|i| i % 40 < i / 20).collect())?;
/// # let fit = fit_binary(&data, &BinaryMethod::Umd(Umd::new(4)), 0.1)?;
/// # let stored = StoredArtifact::from_bytes(&artifact_bytes(&fit, &Default::default())?)?;
///
/// // One probability a score, in the order of the scores.
/// let probs = apply_probs(&stored.artifact(), &[0.1, 0.9], 0)?.expect("the artefact is binary");
/// assert_eq!(probs.len(), 2);
/// assert!(probs[0] < probs[1]);
/// assert!(apply_probs(&stored.artifact(), &[0.1, 1.5], 0).is_err());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
///
/// The first score that is not in `[0, 1]`.
pub fn apply_probs(
    artifact: &Artifact<'_>,
    scores: &[f32],
    seed: u64,
) -> Result<Option<Vec<f32>>, DataError> {
    check_device_scores(scores)?;
    let Calibrator::Binary(calibrator) = artifact.calibrator() else { return Ok(None) };
    let checked = |score| Score::new(score).unwrap_or(Score::ZERO);
    let prob = |outcome: Outcome| outcome.calibrated().map_or(f32::NAN, |calibrated| calibrated.prob);
    if artifact.is_randomized() {
        let prob = |(&score, word): (&f32, _)| prob(calibrator.calibrate_with(checked(score), word));
        return Ok(Some(scores.iter().zip(Words::new(artifact, seed)).map(prob).collect()));
    }
    let way = Way::of(artifact.tables());
    let mut probs = vec![0.0; scores.len()];
    let parts = scores.par_chunks(1 << 14).zip(probs.par_chunks_mut(1 << 14));
    parts.for_each(|(scores, probs)| {
        stop::check();
        match &way {
            Way::Steps(steps, values) if values.len() <= FEW => count(steps.edges(), values, scores, probs),
            Way::Steps(steps, values) => {
                for (&score, place) in scores.iter().zip(probs) {
                    *place = values[usize::from(steps.lookup(checked(score)).0)];
                }
            }
            Way::Lines(lines) => {
                for (&score, place) in scores.iter().zip(probs) {
                    *place = lines.lookup(checked(score)).1;
                }
            }
            Way::Each => {
                for (&score, place) in scores.iter().zip(probs) {
                    *place = prob(calibrator.calibrate(checked(score)));
                }
            }
        }
    });
    Ok(Some(probs))
}

/// How many scores are calibrated by the first table, where only probabilities are asked for.
enum Way<'a> {
    /// With the values, NaN in empty bins.
    Steps(StepTable<'a>, Vec<f32>),
    /// By the table alone: no bin of it has flags.
    Lines(InterpolatedTable<'a>),
    /// One by one, as a device does it.
    Each,
}

impl<'a> Way<'a> {
    fn of(tables: &Tables<'a>) -> Self {
        let is_empty = |bin: u16| tables.bin_flags(0, bin).contains(BinFlags::EMPTY);
        match tables.get(0).map(|table| table.form) {
            Some(TableForm::Steps(steps)) => {
                let value = |(bin, value)| if is_empty(bin) { f32::NAN } else { value };
                Self::Steps(steps, (0..).zip(steps.values()).map(value).collect())
            }
            Some(TableForm::Interpolated(lines))
                if !(0..lines.segments()).any(|bin| is_empty(bin as u16)) =>
            {
                Self::Lines(lines)
            }
            _ => Self::Each,
        }
    }
}

/// The edges of up to so many bins are counted one by one, for several scores at once, before a search among them is quicker.
const FEW: usize = 33;

/// Finds the values of many scores as [`calib_core::StepTable::lookup`] does: a bin's number is that of the edges at or below
/// the score.
fn count(edges: &[f32], values: &[f32], scores: &[f32], probs: &mut [f32]) {
    for (scores, probs) in scores.chunks(256).zip(probs.chunks_mut(256)) {
        let mut bins = [0u32; 256];
        for &edge in edges {
            for (bin, &score) in bins.iter_mut().zip(scores) {
                *bin += u32::from(edge <= score);
            }
        }
        for (prob, bin) in probs.iter_mut().zip(bins) {
            *prob = values[bin as usize];
        }
    }
}

/// Calibrates the codes of class 1's scores with a binary artefact over codes; `None` if the artefact is not of that kind.
///
/// ```
/// use calib_core::{Outcome, QuantizedScore, ScoreEncoding};
/// use calib_fit::{apply_codes, data::BinaryData};
/// # use calib_fit::{BinaryMethod, StoredArtifact, Umd, artifact_bytes, fit_binary};
///
/// // 8-bit scores, as the output of a quantised network: code c stands for (c + 128) / 256.
/// let encoding = ScoreEncoding::I8 { scale: 1.0 / 256.0, zero_point: -128 };
/// let scores = (0..512).map(|i| f64::from(i / 2) / 256.0).collect();
/// let data = BinaryData::new(scores, (0..512).map(|i| i % 64 < i / 8).collect())?;
/// let fit = fit_binary(&data, &BinaryMethod::Umd(Umd::new(4)), 0.1)?.over_codes(encoding)?;
/// let stored = StoredArtifact::from_bytes(&artifact_bytes(&fit, &Default::default())?)?;
///
/// let code = QuantizedScore::new(encoding, 100)?;
/// let applied = apply_codes(&stored.artifact(), &[code]).expect("the artefact is over codes")?;
/// assert!(matches!(applied[0].outcome, Outcome::Calibrated(calibrated) if calibrated.prob > 0.5));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
///
/// If a code is of another encoding than the artefact.
pub fn apply_codes(
    artifact: &Artifact<'_>,
    codes: &[QuantizedScore],
) -> Option<Result<Vec<Applied>, EncodingError>> {
    let Calibrator::BinaryCode(calibrator) = artifact.calibrator() else { return None };
    let kind = score_kind(artifact);
    let apply = |&code: &QuantizedScore| {
        let outcome = calibrator.calibrate(code)?;
        Ok(Applied { class: 1, score: score_of_code(kind, code), outcome, word: None })
    };
    Some(codes.iter().map(apply).collect())
}

/// Calibrates the predicted classes of vectors of codes, row by row; `None` if the artefact is not over codes of several
/// classes, or has another number of classes or another encoding, or is for the leads of logits where the codes stand for
/// probabilities, or the reverse.
///
/// ```
/// use calib_core::ScoreEncoding;
/// use calib_core::artifact::Reduction;
/// use calib_fit::apply::{AppliedVector, apply_code_vectors};
/// use calib_fit::data::CodeVectors;
/// use calib_fit::reduction::{Problems, fit_reduction};
/// use calib_fit::{ArtifactOptions, BinaryMethod, ReductionOptions, StoredArtifact, Umd, artifact_bytes};
///
/// // Two classes, whose probabilities add up to one; one prediction in five is wrong.
/// let encoding = ScoreEncoding::I8 { scale: 1.0 / 256.0, zero_point: -128 };
/// let codes: Vec<i64> = (0..400).map(|i| i % 200 - 100).flat_map(|code| [code, -code]).collect();
/// let labels: Vec<i64> = (0..400).map(|i| i64::from((i % 200 < 100) != (i % 5 == 0))).collect();
/// let codes = CodeVectors::new(&codes, 2, encoding)?;
///
/// let problems = Problems::of_codes(&codes, &labels, Reduction::TopLabel)?;
/// let options = ReductionOptions::new(BinaryMethod::Umd(Umd::new(1))).points_per_bin(Some(50));
/// let fit = fit_reduction(&problems, &options, 0.1)?.over_codes(encoding)?;
/// let stored = StoredArtifact::from_bytes(&artifact_bytes(&fit, &ArtifactOptions::default())?)?;
///
/// let artifact = stored.artifact();
/// let first = apply_code_vectors(&artifact, &codes).and_then(|mut rows| rows.next());
/// let Some(AppliedVector::TopLabel(row)) = first else { panic!() };
/// assert_eq!(row.class, 1);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn apply_code_vectors<'v>(
    artifact: &Artifact<'v>,
    codes: &'v CodeVectors,
) -> Option<impl Iterator<Item = AppliedVector> + use<'v>> {
    const SAME: &str = "the encodings were compared";
    let calibrator = artifact.calibrator();
    let (classes, encoding, kind) = match calibrator {
        Calibrator::TopLabelCode(of) => (of.classes(), of.encoding(), VectorKind::Probs),
        Calibrator::TopLabelCodeMargin(of) => (of.classes(), of.encoding(), VectorKind::Logits),
        _ => return None,
    };
    if (classes, encoding, kind) != (codes.classes(), codes.encoding(), codes.kind()) {
        return None;
    }
    let apply = move |row| {
        let (class, score, outcome) = match calibrator {
            Calibrator::TopLabelCodeMargin(calibrator) => {
                let top = codes.top_label_margin(row);
                (top.class(), top.dequantized(), calibrator.calibrate(top).expect(SAME))
            }
            Calibrator::TopLabelCode(calibrator) => {
                let top = codes.top_label(row);
                let score = score_of_code(ScoreKind::Probability, top.score());
                (top.class(), score, calibrator.calibrate(top.class(), top.score()).expect(SAME))
            }
            _ => unreachable!("there are no others of codes of several classes"),
        };
        AppliedVector::TopLabel(Applied { class, score, outcome, word: None })
    };
    Some(codes.rows().map(apply))
}

/// Calibrates vectors with an artefact for several classes, row by row; `None` if the artefact is not of that kind or
/// has another number of classes, or takes logits where the vectors are of probabilities.
///
/// A randomised artefact gets a random word per row, drawn from `seed` in row order.
///
/// ```
/// use calib_core::artifact::Reduction;
/// use calib_fit::apply::AppliedVector;
/// use calib_fit::{
///     BinaryMethod, Problems, ReductionOptions, StoredArtifact, Umd, VectorKind, Vectors, apply_vectors,
///     artifact_bytes, fit_reduction,
/// };
///
/// // Three classes; a row's largest probability is right in three of four cases.
/// let rows: Vec<f32> = (0..600).flat_map(|i| [[0.8, 0.1, 0.1], [0.2, 0.5, 0.3], [0.1, 0.2, 0.7]][i % 3]).collect();
/// let labels: Vec<i64> = (0..600).map(|i| if i % 4 == 0 { (i + 1) % 3 } else { i % 3 }).collect();
/// let vectors = Vectors::new(rows, 3, VectorKind::Probs)?;
/// let problems = Problems::new(&vectors, &labels, Reduction::TopLabel)?;
/// let method = BinaryMethod::Umd(Umd::new(1));
/// let fit = fit_reduction(&problems, &ReductionOptions::new(method), 0.1)?;
/// let stored = StoredArtifact::from_bytes(&artifact_bytes(&fit, &Default::default())?)?;
///
/// let mut applied = apply_vectors(&stored.artifact(), &vectors, 0).expect("three classes of probabilities");
/// let Some(AppliedVector::TopLabel(first)) = applied.next() else { panic!("a top-label artefact") };
/// assert_eq!(first.class, 0);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn apply_vectors<'v>(
    artifact: &Artifact<'v>,
    vectors: &'v Vectors,
    seed: u64,
) -> Option<impl Iterator<Item = AppliedVector> + use<'v>> {
    apply_vectors_from(artifact, vectors, Words::new(artifact, seed))
}

/// As [`apply_vectors`], for the rows that begin at the first of these words.
pub fn apply_vectors_from<'v>(
    artifact: &Artifact<'v>,
    vectors: &'v Vectors,
    words: Words,
) -> Option<impl Iterator<Item = AppliedVector> + use<'v>> {
    let calibrator = artifact.calibrator();
    let classes = match calibrator {
        Calibrator::TopLabel(calibrator) => calibrator.classes(),
        Calibrator::TopLabelMargin(_) if vectors.kind() != VectorKind::Logits => return None,
        Calibrator::TopLabelMargin(calibrator) => calibrator.classes(),
        Calibrator::TopK(calibrator) => calibrator.classes(),
        Calibrator::Vector(calibrator) => calibrator.classes(),
        _ => return None,
    };
    if classes != vectors.classes() {
        return None;
    }
    let mut space = vec![0.0; classes];
    if let Calibrator::Vector(calibrator) = calibrator {
        if calibrator.needs_logits() && vectors.kind() != VectorKind::Logits {
            return None;
        }
        space.resize(calibrator.space(), 0.0);
    }
    let rows = vectors.vectors().zip(words);
    Some(rows.map(move |(vector, word)| apply_vector(&calibrator, vector, word, &mut space)))
}

/// Calibrates a vector of the calibrator's number of classes, which is one for several.
fn apply_vector(
    calibrator: &Calibrator<'_>,
    vector: ScoreVector<'_>,
    word: Option<u32>,
    space: &mut [f32],
) -> AppliedVector {
    const SAME: &str = "the numbers of classes were compared";
    match calibrator {
        Calibrator::TopK(calibrator) => {
            let pairs = calibrator.calibrate_all(vector, word).expect(SAME);
            AppliedVector::TopK(pairs.map(|(top, outcome)| Applied::of(top, outcome, word)).collect())
        }
        Calibrator::Vector(calibrator) => {
            let probs = calibrator.calibrate(vector, word, space).expect(SAME);
            let outcomes = match calibrator {
                VectorCalibrator::ClassWise(c) => c.calibrate_all(vector, word).expect(SAME).collect(),
                _ => Vec::new(),
            };
            let top = vector.top_label();
            AppliedVector::Classes(AppliedClasses {
                top,
                predicted: calibrator.outcome(top, word, probs),
                probs: probs.iter().collect(),
                outcomes,
                bin: probs.bin(),
                word,
            })
        }
        Calibrator::TopLabel(calibrator) => {
            let top = vector.top_label();
            AppliedVector::TopLabel(Applied::of(top, calibrator.calibrate_with(top, word), word))
        }
        Calibrator::TopLabelMargin(calibrator) => {
            let ScoreVector::Logits(logits) = vector else { unreachable!("the kinds were compared") };
            let top = logits.top_label_margin();
            let outcome = calibrator.calibrate_with(top, word);
            AppliedVector::TopLabel(Applied { class: top.class, score: top.margin.get(), outcome, word })
        }
        _ => unreachable!("apply_vectors takes no other"),
    }
}

/// The random words that stand in for a device's, one a row, drawn in row order: none if the artefact is not randomised.
///
/// Rows that come piece by piece take theirs from one of these.
///
/// ```
/// use calib_fit::apply::{Words, apply_scores_from};
/// use calib_fit::{BinaryMethod, BinaryData, StoredArtifact, Umd, apply_scores, artifact_bytes, fit_binary};
/// # use calib_core::Score;
/// # let scores = (0..400).map(|i| f64::from(i) / 400.0).collect();
/// # let data = BinaryData::new(scores, (0..400).map(|i| i % 40 < i / 20).collect())?;
/// # let fit = fit_binary(&data, &BinaryMethod::UmdRandomized(Umd::new(4), 1), 0.1)?;
/// # let stored = StoredArtifact::from_bytes(&artifact_bytes(&fit, &Default::default())?)?;
/// # let scores = [Score::ZERO, Score::ONE, Score::ZERO];
/// let artifact = stored.artifact();
/// let whole = apply_scores(&artifact, &scores, 7).expect("the artefact is binary");
/// let mut words = Words::new(&artifact, 7);
/// words.skip_rows(1);
/// let rest = apply_scores_from(&artifact, &scores[1..], words).expect("the artefact is binary");
/// assert_eq!(rest, whole[1..]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Words {
    drawn_from: Option<Xoshiro256PlusPlus>,
}

impl Words {
    /// Those of all rows.
    pub fn new(artifact: &Artifact<'_>, seed: u64) -> Self {
        let generator = || {
            let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed);
            // Far from the numbers that a fit draws from the same seed.
            rng.long_jump();
            rng
        };
        Self { drawn_from: artifact.is_randomized().then(generator) }
    }

    /// Leaves out those of so many rows.
    pub fn skip_rows(&mut self, rows: usize) {
        if self.drawn_from.is_some() {
            self.take(rows).for_each(drop);
        }
    }
}

/// Without an end: a word, or none, for every row.
impl Iterator for Words {
    type Item = Option<u32>;

    fn next(&mut self) -> Option<Option<u32>> {
        Some(self.drawn_from.as_mut().map(RngExt::random))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::artifact::{ArtifactOptions, StoredArtifact, artifact_bytes};
    use crate::binary::{BinaryMethod, FixedWidth, Isotonic, ScalingMethod, Umd};
    use crate::data::BinaryData;
    use crate::fit::fit_binary;

    #[test]
    fn probabilities_alone_are_those_of_all_there_is() {
        let scores: Vec<f32> = (0..40_000).map(|i| (i * 7919 % 4001) as f32 / 4000.0).collect();
        let labels: Vec<bool> = (0..40_000).map(|i| i * 31 % 10 < i * 7919 % 4001 / 400).collect();
        let data = BinaryData::from_device_scores(&scores, &labels).unwrap();
        let checked: Vec<Score> = scores.iter().map(|&score| Score::new(score).unwrap()).collect();
        for method in [
            BinaryMethod::Umd(Umd::new(9)),
            BinaryMethod::UmdRandomized(Umd::new(9), 1),
            BinaryMethod::FixedWidth(FixedWidth { bins: 1 }),
            BinaryMethod::FixedWidth(FixedWidth { bins: 33 }),
            BinaryMethod::FixedWidth(FixedWidth { bins: 34 }),
            BinaryMethod::Scaling(ScalingMethod::Beta),
            BinaryMethod::VennAbers,
            BinaryMethod::Isotonic(Isotonic::default()),
            BinaryMethod::IsotonicInterpolated(Isotonic::default()),
        ] {
            let fit = fit_binary(&data, &method, 0.1).unwrap();
            let bytes = artifact_bytes(&fit, &ArtifactOptions::default()).unwrap();
            let stored = StoredArtifact::from_bytes(&bytes).unwrap();
            let all = apply_scores(&stored.artifact(), &checked, 5).unwrap();
            let probs = apply_probs(&stored.artifact(), &scores, 5).unwrap().unwrap();
            for (row, prob) in all.iter().zip(probs) {
                match row.outcome {
                    Outcome::Calibrated(calibrated) => assert_eq!(calibrated.prob.to_bits(), prob.to_bits()),
                    Outcome::Uncalibrated(why) => {
                        assert!(prob.is_nan());
                        assert_eq!((why, row.flags()), (Uncalibrated::EmptyBin, "empty-bin"));
                    }
                }
            }
            let bad = apply_probs(&stored.artifact(), &[0.5, -0.0, 1.5, f32::NAN], 0);
            let cause = calib_core::ScoreError::OutOfRange(1.5);
            assert_eq!(bad, Err(DataError::Score { row: 2, cause }));
        }
    }
}
