//! What an artifact says of a row.

use calib_core::decision::{ClassSet, Verdict};
use calib_core::predict::{Mismatch, OtherClasses, Predictor, Query, Ranked, ScoreEcho};
use calib_core::{
    Artifact, BinFlags, Calibrator, Outcome, ProbInterval, QuantizedScore, ScoreEncoding, Uncalibrated,
    VectorCalibrator,
};

use super::outputs::{Kind, Outputs};
use super::random_words::RandomWords;
use crate::artifact::score_kind;
use crate::data::{VectorKind, score_of_code};
use crate::stats::ScoreKind;

/// A class with its calibrated probability.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Applied {
    /// The class that the probability is of.
    pub class: u16,
    /// Its score as the device has it: a probability, a margin, or what a code stands for; if that is a probability, the nearest.
    pub score: f32,
    /// The probability, or why there is none.
    pub outcome: Outcome,
    /// The band at this very score, if the artifact has one.
    pub band: Option<ProbInterval>,
    /// The random word that stood in for the device's, if the artifact is randomized.
    pub word: Option<u32>,
}

/// All that an artifact says of a row.
#[derive(Clone, Debug, PartialEq)]
pub struct AppliedRow {
    /// What it says of class 1 of two, otherwise of the predicted class.
    pub first: Applied,
    /// What it says of the other classes.
    pub others: Others,
    /// What the thresholds say; `None` if there are none.
    pub verdict: Option<Verdict>,
    /// The classes in the prediction set; `None` if there are no sets.
    pub set: Option<ClassSet>,
    /// The action of the decision rule, as an index; `None` if there is no rule.
    pub action: Option<u8>,
}

/// What is said of the classes besides the first.
#[derive(Clone, Debug, PartialEq)]
pub enum Others {
    /// Nothing.
    None,
    /// The classes after the first, in their order.
    Ranked(Vec<Applied>),
    /// The probabilities of all classes, the first included.
    Classes(AppliedClasses),
}

/// Every class's probability.
#[derive(Clone, Debug, PartialEq)]
pub struct AppliedClasses {
    /// The probabilities, `None` for an uncalibrated class.
    pub probs: Vec<Option<f32>>,
    /// Their evidence, where each class has its own; otherwise nothing.
    pub outcomes: Vec<Outcome>,
    /// The bin of the vector as a whole, where it has one.
    pub bin: Option<u16>,
}

impl Applied {
    /// Returns what to know about the row: `uncalibrated-class`, `empty-bin`, `zero-sum` or `uncalibrated`; of a calibrated row
    /// `out-of-range` if no calibration point has a score as low or as high; or nothing.
    pub fn flags(&self) -> &'static str {
        flags(&self.outcome)
    }
}

impl AppliedRow {
    /// Returns the first class, and those ranked after it.
    pub fn ranks(&self) -> impl Iterator<Item = &Applied> {
        let others = match &self.others {
            Others::Ranked(others) => &others[..],
            _ => &[],
        };
        std::iter::once(&self.first).chain(others)
    }

    /// Returns every class's probability; `None` if the artifact does not give them.
    pub fn classes(&self) -> Option<&AppliedClasses> {
        match &self.others {
            Others::Classes(classes) => Some(classes),
            _ => None,
        }
    }

    /// Returns what to know about the row: why the first class or else another class has no probability, in the words of
    /// [`Applied::flags`], or nothing.
    pub fn flags(&self) -> &'static str {
        let others = self.classes().into_iter().flat_map(|classes| &classes.outcomes);
        let mut all = std::iter::once(&self.first.outcome).chain(others).map(flags);
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

/// Says of every row what a device with the artifact says, one by one; `words` are those of the rows.
///
/// ```
/// use calib_core::Score;
/// use calib_fit::apply::{RandomWords, apply};
/// use calib_fit::{BinaryData, BinaryMethod, Isotonic, StoredArtifact, artifact_bytes, fit_binary};
///
/// let data = BinaryData::new(vec![0.25, 0.5, 0.5, 0.75], vec![false, true, false, true])?;
/// let fit = fit_binary(&data, &BinaryMethod::Isotonic(Isotonic::default()), 0.1)?;
/// let stored = StoredArtifact::from_bytes(&artifact_bytes(&fit, &Default::default())?)?;
/// let artifact = stored.artifact();
/// let scores = [Score::try_from(0.55)?];
/// let mut rows = apply(&artifact, scores[..].into(), RandomWords::new(&artifact, 0));
/// let row = rows.next().expect("there is one")?;
/// assert_eq!(row.first.outcome.calibrated().map(|calibrated| calibrated.prob), Some(0.5));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// Vectors of several classes are rows as well:
///
/// ```
/// # use calib_core::artifact::Reduction;
/// # use calib_fit::apply::{RandomWords, apply};
/// # use calib_fit::{
/// #     BinaryMethod, Problems, ReductionOptions, StoredArtifact, Umd, VectorKind, Vectors, artifact_bytes, fit_reduction,
/// # };
/// // Three classes; a row's largest probability is right in three of four cases.
/// let rows: Vec<f32> = (0..600).flat_map(|i| [[0.8, 0.1, 0.1], [0.2, 0.5, 0.3], [0.1, 0.2, 0.7]][i % 3]).collect();
/// let labels: Vec<i64> = (0..600).map(|i| if i % 4 == 0 { (i + 1) % 3 } else { i % 3 }).collect();
/// let vectors = Vectors::new(rows, 3, VectorKind::Probs)?;
/// # let problems = Problems::new(&vectors, &labels, Reduction::TopLabel)?;
/// # let method = BinaryMethod::Umd(Umd::new(1));
/// # let fit = fit_reduction(&problems, &ReductionOptions::new(method), 0.1)?;
/// # let stored = StoredArtifact::from_bytes(&artifact_bytes(&fit, &Default::default())?)?;
/// # let artifact = stored.artifact();
/// let mut rows = apply(&artifact, (&vectors).into(), RandomWords::new(&artifact, 0));
/// assert_eq!(rows.next().expect("there are 600")?.first.class, 0);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// A row that the artifact is not for is a [`Mismatch`].
pub fn apply<'r>(
    artifact: &Artifact<'r>,
    outputs: Outputs<'r>,
    words: RandomWords,
) -> impl Iterator<Item = Result<AppliedRow, Mismatch>> + use<'r> {
    let applier = Applier::new(*artifact);
    let mut space = vec![0.0; applier.predictor.space()];
    let taken = applier.check(outputs.kind);
    outputs.rows.clone().zip(words).map(move |(row, word)| {
        taken?;
        applier.row(&outputs.query(row, word), &mut space)
    })
}

/// Calibrates every row of a binary classifier, or the predicted class of every one, without what thresholds, sets and rules say of it:
/// rows need no groups for these. `words` are those of the rows.
///
/// # Errors
///
/// If the artifact is not for such rows, or gives more than one probability a row.
pub fn calibrate(
    artifact: &Artifact<'_>,
    outputs: Outputs<'_>,
    words: RandomWords,
) -> Result<Vec<Applied>, Mismatch> {
    let applier = Applier::new(*artifact);
    applier.check(outputs.kind)?;
    let mut all = Vec::with_capacity(outputs.rows.len());
    for (row, word) in outputs.rows.clone().zip(words) {
        let query = outputs.query(row, word);
        all.push(applier.first(&applier.predictor.calibrate(&query)?, &query));
    }
    Ok(all)
}

/// An artifact, and what the numbers of rows stand for.
struct Applier<'a> {
    predictor: Predictor<'a>,
    encoding: ScoreEncoding,
    scores: ScoreKind,
}

impl<'a> Applier<'a> {
    fn new(artifact: Artifact<'a>) -> Self {
        let encoding = artifact.header().encoding;
        Self { scores: score_kind(&artifact), encoding, predictor: Predictor::new(artifact) }
    }

    /// A device takes codes as they are; here it is known whether they stand for logits or for probabilities.
    fn check(&self, kind: Kind<'_>) -> Result<(), Mismatch> {
        let Kind::CodeVectors(codes) = kind else { return Ok(()) };
        let takes_any = self.predictor.artifact().header().method.has_no_calibrator();
        match takes_any || self.predictor.takes_top2_margin() == (codes.kind() == VectorKind::Logits) {
            true => Ok(()),
            false => Err(Mismatch::ClassScore),
        }
    }

    fn row(&self, query: &Query<'_>, space: &mut [f32]) -> Result<AppliedRow, Mismatch> {
        let (said, others) = self.predictor.predict_classes(query, space)?;
        let applied = |ranked: &Ranked| self.applied(ranked, query.word);
        let others = match others {
            OtherClasses::None => Others::None,
            OtherClasses::Ranked(ranked) => Others::Ranked(ranked.iter().map(applied).collect()),
            OtherClasses::Probs(probs) => Others::Classes(AppliedClasses {
                probs: probs.iter().collect(),
                outcomes: self.outcomes(query),
                bin: probs.bin(),
            }),
        };
        let (verdict, set, action) = (said.verdict, said.set, said.action);
        Ok(AppliedRow { first: self.first(&said.first, query), others, verdict, set, action })
    }

    /// The first class, with the band at its score.
    fn first(&self, ranked: &Ranked, query: &Query<'_>) -> Applied {
        Applied { band: self.predictor.artifact().band_at(&query.output), ..self.applied(ranked, query.word) }
    }

    fn applied(&self, ranked: &Ranked, word: Option<u32>) -> Applied {
        let Ranked { class, score, outcome } = *ranked;
        Applied { class, score: self.score(score), outcome, band: None, word }
    }

    /// The evidence of each class, where each has its own.
    fn outcomes(&self, query: &Query<'_>) -> Vec<Outcome> {
        match (self.predictor.artifact().calibrator(), query.output.vector()) {
            (Calibrator::Vector(VectorCalibrator::ClassWise(calibrator)), Some(vector)) => {
                calibrator.calibrate_all(vector, query.word).into_iter().flatten().collect()
            }
            _ => Vec::new(),
        }
    }

    fn score(&self, echo: ScoreEcho) -> f32 {
        match echo {
            ScoreEcho::F32(score) => score.get(),
            ScoreEcho::Margin(margin) => margin.get(),
            ScoreEcho::Top2Margin(top2_margin) => {
                self.encoding.scale().unwrap_or_default() * f32::from(top2_margin)
            }
            ScoreEcho::Code(key) => {
                let code = QuantizedScore::from_key(self.encoding, key);
                code.map_or(0.0, |code| score_of_code(self.scores, code))
            }
        }
    }
}
