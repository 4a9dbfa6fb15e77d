//! Kinds of output and kinds of calibrator.

use super::output::{Output, Query};
use super::prediction::{Mismatch, OtherClasses, Prediction, Ranked, RankedList, ScoreEcho};
use crate::artifact::{Artifact, HeaderFlags, Reduction, Rule};
use crate::calibrator::{Calibrator, ClassProbs};
use crate::decision::{ClassSet, OperatingPoints, PredictionSets, Verdict};
use crate::outcome::{Outcome, ProbInterval, Uncalibrated};
use crate::score::{QuantizedScore, ScoreEncoding, ScoreVector, TopLabel};

/// An artifact with its calibrator at hand: made once, not for every output.
///
/// ```
/// use calib_core::predict::{Output, Predictor};
/// use calib_core::{Artifact, Score};
///
/// # mod sample { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/sample.rs")); }
/// # let bytes = sample::binary();
/// let predictor = Predictor::new(Artifact::parse(bytes.as_bytes()).unwrap());
/// let prediction = predictor.predict(&Output::Score(Score::new(0.3)?).into()).unwrap();
/// assert_eq!(prediction.first.outcome.calibrated().unwrap().prob, 0.1);
/// assert_eq!(prediction.alarm, None, "this artifact has no rule of its own");
/// # Ok::<(), calib_core::ScoreError>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Predictor<'a> {
    artifact: Artifact<'a>,
    // Of all tables: those of groups are alike.
    calibrator: Calibrator<'a>,
}

/// The problem that a classifier solves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum Task {
    /// It scores class 1 of two: a probability, a margin or a code.
    Binary,
    /// It gives a logit, a probability or the code of one for each of several classes.
    TopLabel {
        /// How many, at least 2.
        classes: u16,
    },
}

/// How many probabilities a calibrator gives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum OutputShape {
    /// One, or none because there is no calibrator: [`Predictor::predict`].
    One,
    /// One for each of the first few classes: [`Predictor::predict_classes`].
    TopK,
    /// One for each class: [`Predictor::predict_classes`].
    Classes,
}

/// The outcome where there is no calibrator beside thresholds or sets.
const NO_TABLE: Outcome = Outcome::Uncalibrated(Uncalibrated::NoTable);

impl Task {
    /// Returns the problem of a classifier with so many linear outputs: binary with one, otherwise a class each.
    pub const fn of_outputs(outputs: u16) -> Self {
        if outputs == 1 { Self::Binary } else { Self::TopLabel { classes: outputs } }
    }

    /// Returns the problem that an artifact is for.
    pub const fn of(artifact: &Artifact<'_>) -> Self {
        match artifact.header().reduction {
            Reduction::Binary => Self::Binary,
            _ => Self::TopLabel { classes: artifact.header().classes },
        }
    }

    /// Returns the number of classes.
    pub const fn classes(self) -> u16 {
        match self {
            Self::Binary => 2,
            Self::TopLabel { classes } => classes,
        }
    }

    /// Tells whether this is a problem of so many classes, and not a binary one.
    pub fn has_classes(self, count: usize) -> bool {
        matches!(self, Self::TopLabel { classes } if usize::from(classes) == count)
    }

    /// Tells whether a classifier of this problem gives such an output.
    pub fn gives(self, output: &Output<'_>) -> bool {
        match output.classes() {
            None => self == Self::Binary,
            Some(classes) => self.has_classes(classes),
        }
    }
}

impl<'a> Predictor<'a> {
    /// Takes an artifact.
    pub const fn new(artifact: Artifact<'a>) -> Self {
        Self { calibrator: artifact.calibrator_of_all_tables(), artifact }
    }

    /// Returns the artifact.
    pub const fn artifact(&self) -> &Artifact<'a> {
        &self.artifact
    }

    /// Returns how many probabilities the calibrator gives.
    pub const fn shape(&self) -> OutputShape {
        match self.calibrator {
            Calibrator::TopK(_) => OutputShape::TopK,
            Calibrator::Vector(_) => OutputShape::Classes,
            _ => OutputShape::One,
        }
    }

    /// Returns how many floats of memory [`Predictor::predict_classes`] takes.
    pub const fn space(&self) -> usize {
        match &self.calibrator {
            Calibrator::Vector(calibrator) => calibrator.space(),
            _ => 0,
        }
    }

    /// Tells whether the calibrator takes the top-two margin of the codes, and not the code.
    pub fn takes_top2_margin(&self) -> bool {
        matches!(self.calibrator, Calibrator::TopLabelCodeMargin(_))
    }

    /// Says all that the artifact says of an output.
    ///
    /// # Errors
    ///
    /// If the output is not of the artifact's kind, or the calibrator gives more than [one](OutputShape::One) probability.
    pub fn predict(&self, query: &Query<'_>) -> Result<Prediction, Mismatch> {
        self.predict_as(query)
    }

    /// Does the same with an error that a mismatch becomes where it is found: no result is copied into another one on the stack.
    ///
    /// # Errors
    ///
    /// As [`Predictor::predict`].
    pub fn predict_as<E: From<Mismatch>>(&self, query: &Query<'_>) -> Result<Prediction, E> {
        let group = self.group(query.group)?;
        let first = self.calibrate_as::<E>(query)?;
        self.judge(&first, &query.output, group)
    }

    /// Says all that the artifact says of an output, and what its calibrator says of the other classes. A calibrator of all classes
    /// writes their probabilities into the front of `space`, which has room for
    /// [`VectorCalibrator::space`](crate::calibrator::VectorCalibrator::space) floats.
    ///
    /// # Errors
    ///
    /// If the output is not of the artifact's kind, or `space` is too short.
    pub fn predict_classes<'p>(
        &self,
        query: &Query<'_>,
        space: &'p mut [f32],
    ) -> Result<(Prediction, OtherClasses<'p>), Mismatch> {
        self.predict_classes_as(query, space)
    }

    /// Does the same with another error, as [`Predictor::predict_as`].
    ///
    /// # Errors
    ///
    /// As [`Predictor::predict_classes`].
    pub fn predict_classes_as<'p, E: From<Mismatch>>(
        &self,
        query: &Query<'_>,
        space: &'p mut [f32],
    ) -> Result<(Prediction, OtherClasses<'p>), E> {
        let group = self.group(query.group)?;
        let (first, others) = self.calibrate_classes_as::<E>(query, space)?;
        Ok((self.judge(&first, &query.output, group)?, others))
    }

    /// Calibrates an output, without what thresholds, sets and rules say of it.
    ///
    /// # Errors
    ///
    /// As [`Predictor::predict`].
    #[inline]
    pub fn calibrate(&self, query: &Query<'_>) -> Result<Ranked, Mismatch> {
        self.calibrate_as(query)
    }

    /// Does the same with another error, as [`Predictor::predict_as`].
    ///
    /// # Errors
    ///
    /// As [`Predictor::predict`].
    // One for all callers: a caller that returns its result adds no frame on the way to the table.
    #[inline(never)]
    pub fn calibrate_as<E: From<Mismatch>>(&self, query: &Query<'_>) -> Result<Ranked, E> {
        let is_grouped = self.artifact.header().flags.contains(HeaderFlags::GROUPED);
        let group = if is_grouped { self.group(query.group)? } else { None };
        let (class, score) = match (query.output, &self.calibrator) {
            // The most frequent ones, without a call.
            (Output::Score(score), Calibrator::Binary(_)) => (1, ScoreEcho::F32(score)),
            (Output::Probs(probs), Calibrator::TopLabel(of)) if probs.classes() == of.classes() => {
                ScoreEcho::of_top(probs.top_label())
            }
            _ => self.score(&query.output)?,
        };
        let (tables, table) = (self.artifact.tables(), self.table(group, class));
        let outcome = match score {
            _ if matches!(self.calibrator, Calibrator::None) => NO_TABLE,
            ScoreEcho::F32(score) => tables.calibrate(table, score, query.word),
            ScoreEcho::Margin(margin) => tables.calibrate(table, margin, query.word),
            ScoreEcho::Code(key) | ScoreEcho::Top2Margin(key) => tables.calibrate_code(table, key),
        };
        Ok(Ranked { class, score, outcome })
    }

    /// Calibrates an output and the other classes, without what thresholds, sets and rules say of it.
    ///
    /// # Errors
    ///
    /// As [`Predictor::predict_classes`].
    pub fn calibrate_classes<'p>(
        &self,
        query: &Query<'_>,
        space: &'p mut [f32],
    ) -> Result<(Ranked, OtherClasses<'p>), Mismatch> {
        self.calibrate_classes_as(query, space)
    }

    /// Does the same with another error, as [`Predictor::predict_as`].
    ///
    /// # Errors
    ///
    /// As [`Predictor::predict_classes`].
    pub fn calibrate_classes_as<'p, E: From<Mismatch>>(
        &self,
        query: &Query<'_>,
        space: &'p mut [f32],
    ) -> Result<(Ranked, OtherClasses<'p>), E> {
        let vector = || query.output.vector().ok_or(self.other_kind());
        match &self.calibrator {
            Calibrator::TopK(calibrator) => {
                let ranked =
                    calibrator.calibrate_all(vector()?, query.word).map_err(|_| self.other_kind())?;
                let mut ranked = ranked.map(|(top, outcome)| of_top(top, outcome));
                // There is at least one rank, and room for all.
                let first = ranked.next().ok_or(self.other_kind())?;
                let mut others = RankedList::new();
                ranked.for_each(|class| _ = others.push(class));
                Ok((first, OtherClasses::Ranked(others)))
            }
            Calibrator::Vector(_) => {
                let (first, probs) = self.all_classes(vector()?, query.word, space)?;
                Ok((first, OtherClasses::Probs(probs)))
            }
            _ => Ok((self.calibrate_as::<E>(query)?, OtherClasses::None)),
        }
    }

    fn all_classes<'p>(
        &self,
        vector: ScoreVector<'_>,
        word: Option<u32>,
        space: &'p mut [f32],
    ) -> Result<(Ranked, ClassProbs<'p>), Mismatch> {
        let Calibrator::Vector(calibrator) = &self.calibrator else { return Err(self.other_kind()) };
        let probs = calibrator.calibrate(vector, word, space).map_err(|_| self.other_kind())?;
        let top = vector.top_label();
        let mut outcome = calibrator.outcome(top, word, probs);
        if self.artifact.joint().is_some() {
            self.artifact.tables().put_interval(&mut outcome, top.class.into(), top.score.to_bits());
        }
        Ok((of_top(top, outcome), probs))
    }

    /// Checks the code of a group, and returns it if the artifact has groups.
    fn group(&self, code: Option<u8>) -> Result<Option<u8>, Mismatch> {
        let Some(names) = self.artifact.groups() else { return Ok(None) };
        // There are at most 255.
        let mismatch = Mismatch::Group(names.count() as u8);
        code.filter(|&code| usize::from(code) < names.count()).ok_or(mismatch).map(Some)
    }

    /// Returns the index of the table for a class of a group.
    fn table(&self, group: Option<u8>, class: u16) -> usize {
        let group = usize::from(group.unwrap_or(0));
        match self.artifact.header().reduction {
            // Of at most 255 groups with at most 65,535 tables each.
            Reduction::TopLabel => {
                group.wrapping_mul(self.artifact.header().classes.into()).wrapping_add(class.into())
            }
            _ => group,
        }
    }

    /// Returns the class whose table calibrates, and its score in the form in which the calibrator takes it.
    // Not inlined: its frame would lie below that of the tables.
    #[inline(never)]
    fn score(&self, output: &Output<'_>) -> Result<(u16, ScoreEcho), Mismatch> {
        use Calibrator as C;

        if !Task::of(&self.artifact).gives(output) {
            return Err(self.other_kind());
        }
        let encoding = self.encoding();
        match (output, &self.calibrator) {
            (Output::Logits(_), C::TopLabel(_)) => Ok(output.first()),
            (Output::Score(_) | Output::Probs(_) | Output::Logits(_), C::None)
                if encoding == ScoreEncoding::F32 =>
            {
                Ok(output.first())
            }
            (Output::QuantizedLogits { logits, .. }, C::TopLabel(_)) => {
                Ok(ScoreEcho::of_top(logits.top_label()))
            }
            (Output::QuantizedLogits { logits, .. }, C::None) if encoding == ScoreEncoding::F32 => {
                Ok(ScoreEcho::of_top(logits.top_label()))
            }
            // No softmax is needed.
            (Output::Logits(logits) | Output::QuantizedLogits { logits, .. }, C::TopLabelMargin(_)) => {
                let top = logits.top_label_margin();
                Ok((top.class, ScoreEcho::Margin(top.margin)))
            }
            (
                Output::Score(_) | Output::Probs(_) | Output::Logits(_) | Output::QuantizedLogits { .. },
                C::TopK(_) | C::Vector(_),
            ) => Err(self.other_kind()),
            (Output::Margin(_), C::BinaryMargin(_)) => Ok(output.first()),
            (Output::Margin(_), C::None) if encoding.is_margin() => Ok(output.first()),
            (Output::TopLabelCode(_), C::TopLabelCodeMargin(_))
            | (Output::TopLabelCodeMargin(_), C::TopLabelCode(_)) => Err(Mismatch::ClassScore),
            (Output::Code(score), C::BinaryCode(_) | C::None) if score.encoding() == encoding => {
                Ok(output.first())
            }
            (Output::TopLabelCode(top), C::TopLabelCode(_) | C::None)
                if top.score().encoding() == encoding =>
            {
                Ok(output.first())
            }
            (Output::TopLabelCodeMargin(top), C::TopLabelCodeMargin(_)) if top.encoding() == encoding => {
                Ok(output.first())
            }
            (Output::Codes(codes) | Output::QuantizedLogits { codes, .. }, calibrator)
                if codes.encoding() == encoding =>
            {
                match calibrator {
                    C::TopLabelCodeMargin(_) => {
                        Ok(Output::TopLabelCodeMargin(codes.top_label_margin()).first())
                    }
                    _ => Ok(output.first()),
                }
            }
            _ => Err(Mismatch::Encoding(encoding)),
        }
    }

    /// Adds what the decision rule, the thresholds or the prediction sets say: an artifact has one of them at most.
    // Not inlined: its frame would lie below that of the calibrator.
    #[inline(never)]
    fn judge<E: From<Mismatch>>(
        &self,
        first: &Ranked,
        output: &Output<'_>,
        group: Option<u8>,
    ) -> Result<Prediction, E> {
        let (mut verdict_of, mut set_of, mut action, mut alarm) = (None, None, None, None);
        match self.artifact.rule() {
            Rule::None => {}
            Rule::Decision(rule) => {
                let taken = rule.decide(&first.outcome, || self.artifact.band_at(output));
                action = Some(taken);
                alarm = Some(rule.is_raised_by(&first.outcome, taken));
            }
            Rule::OperatingPoints(points) => {
                let verdict = verdict(points, &first.score, group)?;
                verdict_of = Some(verdict);
                alarm = Some(points.is_raised_by(verdict));
            }
            // Only exactly one class is an answer which needs nobody else.
            Rule::PredictionSets(sets) => {
                let set = set(sets, output)?;
                set_of = Some(set);
                alarm = Some(set.alone().is_none());
            }
        }
        Ok(Prediction { first: *first, group, verdict: verdict_of, set: set_of, action, alarm })
    }

    const fn encoding(&self) -> ScoreEncoding {
        self.artifact.header().encoding
    }

    const fn other_kind(&self) -> Mismatch {
        Mismatch::Kind { classes: Task::of(&self.artifact).classes() }
    }
}

/// Returns what thresholds say of a score.
fn verdict(points: &OperatingPoints<'_>, score: &ScoreEcho, group: Option<u8>) -> Result<Verdict, Mismatch> {
    let group = match points.groups() {
        1 => 0,
        groups => group.map(usize::from).ok_or(Mismatch::Group(groups as u8))?,
    };
    let verdict = match *score {
        ScoreEcho::F32(score) => points.point(group).map(|point| point.verdict(score)),
        ScoreEcho::Margin(margin) => points.point(group).map(|point| point.verdict(margin)),
        ScoreEcho::Code(key) => points.code_point(group).and_then(|point| {
            let score = QuantizedScore::from_key(points.encoding(), key).ok()?;
            point.verdict(score).ok()
        }),
        ScoreEcho::Top2Margin(_) => None,
    };
    verdict.ok_or(Mismatch::Encoding(points.encoding()))
}

/// Returns the prediction set of an output.
fn set(sets: &PredictionSets<'_>, output: &Output<'_>) -> Result<ClassSet, Mismatch> {
    let set = match *output {
        Output::Score(score) => sets.of_score(score),
        Output::Margin(margin) => sets.of_margin(margin),
        Output::Code(score) => sets.of_code(score),
        Output::Logits(logits) => sets.of_logits(logits),
        Output::Probs(probs) => sets.of_probs(probs),
        Output::QuantizedLogits { logits, .. } if !sets.encoding().is_quantized() => sets.of_logits(logits),
        Output::Codes(codes) | Output::QuantizedLogits { codes, .. }
            if codes.encoding() == sets.encoding() =>
        {
            sets.of_keys(codes.keys()).ok()
        }
        Output::Codes(_) | Output::QuantizedLogits { .. } => None,
        Output::TopLabelCode(_) | Output::TopLabelCodeMargin(_) => return Err(Mismatch::AllClasses),
    };
    set.ok_or(Mismatch::Encoding(sets.encoding()))
}

const fn of_top(top: TopLabel, outcome: Outcome) -> Ranked {
    Ranked { class: top.class, score: ScoreEcho::F32(top.score), outcome }
}

impl Artifact<'_> {
    /// Says all that the artifact says of an output, as [`Predictor::predict`].
    ///
    /// # Errors
    ///
    /// If the output is not of the artifact's kind, or the calibrator gives more than one probability.
    pub fn predict(&self, query: &Query<'_>) -> Result<Prediction, Mismatch> {
        Predictor::new(*self).predict(query)
    }

    /// Says all that the artifact says of an output, and what its calibrator says of the other classes, as
    /// [`Predictor::predict_classes`].
    ///
    /// # Errors
    ///
    /// If the output is not of the artifact's kind, or `space` is too short.
    pub fn predict_classes<'p>(
        &self,
        query: &Query<'_>,
        space: &'p mut [f32],
    ) -> Result<(Prediction, OtherClasses<'p>), Mismatch> {
        Predictor::new(*self).predict_classes(query, space)
    }

    /// Returns the [band](crate::artifact::Band) at an output: for this very score, not for its bin; `None` if the artifact has no band, or is
    /// for other scores.
    ///
    /// It is apart from a [`Prediction`], so that nobody pays for it who does not ask.
    pub fn band_at(&self, output: &Output<'_>) -> Option<ProbInterval> {
        let band = self.band()?;
        match *output {
            Output::Score(score) => band.at(score),
            Output::Margin(margin) => band.at(margin),
            Output::Code(code) => band.at_code(code),
            _ => None,
        }
    }
}
