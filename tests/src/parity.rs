//! The device against the host, bit for bit.

use crate::classifier::CodedRows;
use anyhow::{Context, Result, bail, ensure};
use calib_classifier::linear::LinearModel;
use calib_core::artifact::{Reduction, TableForm};
use calib_core::predict::Output;
use calib_core::wire::{Answer, Beside, Question, Ranked, ReplyBody, RequestBody, ScoreEcho, Scores, Values};
use calib_core::{
    Artifact, BinFlags, Calibrated, Calibrator, Logits, Margin, Outcome, ProbInterval, Probs, QuantizedScore,
    Score, ScoreVector, TopLabel, TopLabelCodeMargin, TopLabelMargin,
};
use calib_firmware::{AlarmRule, Classifier, Task};
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use crate::Emulator;

/// How many predictions were compared, and where they differ.
#[derive(Debug)]
pub struct Parity {
    /// The host's replies, in order.
    pub replies: Vec<ReplyBody>,
    /// The answers among them.
    pub predictions: Vec<Answer>,
    /// A line for each that the device answered differently.
    pub differences: Vec<String>,
}

/// What a calibrator is to be given.
enum Input {
    Score(TopLabel),
    Margin(Margin),
    Logits(Vec<f32>),
    Probs(Vec<f32>),
    Key(u16),
    Keys(Vec<u16>),
}

impl Input {
    /// What a question gives to the calibrator, whatever the classifier.
    fn of(question: &Question) -> Result<Self> {
        Ok(match &question.scores {
            Scores::Score(score) => Self::Score(TopLabel { class: 1, score: Score::new(*score)? }),
            Scores::Margin(margin) => Self::Margin(Margin::new(*margin)?),
            Scores::Logits(row) => Self::Logits(row.to_vec()),
            Scores::Probs(row) => Self::Probs(row.to_vec()),
            Scores::Code(key) => Self::Key(*key),
            Scores::Codes(keys) => Self::Keys(keys.to_vec()),
            other => bail!("{other:?} hold no score"),
        })
    }

    /// What the classifier makes of features.
    fn of_features(model: &LinearModel, row: &[f32]) -> Result<Self> {
        let refused = |refusal| anyhow::anyhow!("the classifier refuses a row: {refusal:?}");
        Ok(match model.task() {
            Task::Binary => Self::Score(TopLabel { class: 1, score: model.score(row).map_err(refused)? }),
            Task::TopLabel { .. } => Self::Logits(model.logits(row).map_err(refused)?),
        })
    }

    /// The band at the score, if the artifact has one.
    fn band(&self, artifact: &Artifact<'_>) -> Result<Option<ProbInterval>> {
        Ok(match *self {
            Self::Score(top) => artifact.band_at(&Output::Score(top.score)),
            Self::Margin(margin) => artifact.band_at(&Output::Margin(margin)),
            Self::Key(key) => {
                let code = QuantizedScore::from_key(artifact.header().encoding, key)?;
                artifact.band_at(&Output::Code(code))
            }
            Self::Logits(_) | Self::Probs(_) | Self::Keys(_) => None,
        })
    }

    /// The vector, if it is one.
    fn vector(&self) -> Result<Option<ScoreVector<'_>>> {
        Ok(match self {
            Self::Score(_) | Self::Margin(_) | Self::Key(_) | Self::Keys(_) => None,
            Self::Logits(row) => Some(Logits::new(row)?.into()),
            Self::Probs(row) => Some(Probs::new(row)?.into()),
        })
    }
}

/// What the host says to a request for a prediction.
///
/// # Errors
///
/// If the request holds no score, code or vector, or none that the artifact takes.
pub fn expected(rule: AlarmRule, artifact: &Artifact<'_>, request: &RequestBody) -> Result<ReplyBody> {
    let question = question(request)?;
    reply(rule, artifact, &Input::of(question)?, question.word)
}

fn question(request: &RequestBody) -> Result<&Question> {
    match request {
        RequestBody::Predict(question) => Ok(question),
        other => bail!("{other:?} asks for no prediction"),
    }
}

/// Sends requests for predictions to the device, and compares the answers with the host's, bit for bit.
///
/// # Errors
///
/// If the device does not answer, or a request holds no score, code or vector.
pub fn asked(
    emulator: &mut Emulator,
    rule: AlarmRule,
    artifact: &Artifact<'_>,
    requests: impl IntoIterator<Item = RequestBody>,
) -> Result<Parity> {
    let with_input = |request| Ok((Input::of(question(&request)?)?, request));
    compare(emulator, rule, artifact, requests.into_iter().map(with_input).collect::<Result<_>>()?)
}

/// Sends features to the device and compares class, score, probability, bin, epsilon, flags, alarm and action with what the
/// host computes, bit for bit.
///
/// # Errors
///
/// If the device does not answer, or the model refuses a row.
pub fn classified_rows(
    emulator: &mut Emulator,
    model: &LinearModel,
    artifact: &Artifact<'_>,
    features: &[Vec<f32>],
) -> Result<Parity> {
    let question = |row: &Vec<f32>| {
        Ok((Input::of_features(model, row)?, RequestBody::predict(Scores::Features(values(row)))))
    };
    let questions = features.iter().map(question).collect::<Result<_>>()?;
    compare(emulator, model.parameters().alarm, artifact, questions)
}

/// As [`classified_rows`], of a network: the host computes from its codes of the same rows, or from the logits that they stand for
/// if the artifact takes floats.
///
/// # Errors
///
/// If the device does not answer.
pub fn coded_rows(
    emulator: &mut Emulator,
    rule: AlarmRule,
    artifact: &Artifact<'_>,
    rows: &CodedRows,
) -> Result<Parity> {
    let takes_codes = artifact.header().encoding.is_quantized();
    let inputs = rows.keys().zip(rows.floats());
    let questions = inputs.zip(&rows.rows.features).map(|((keys, floats), features)| {
        let input = if takes_codes { Input::Keys(keys) } else { Input::Logits(floats) };
        (input, RequestBody::predict(Scores::Features(values(features))))
    });
    compare(emulator, rule, artifact, questions.collect())
}

/// Sends `count` bare scores, among them 0, 1, every edge of every table and its neighbors one ulp away, and compares
/// the answers with the host's, bit for bit. For an artifact of several classes the scores are those of a class in a vector
/// of probabilities.
///
/// # Errors
///
/// If the device does not answer.
pub fn bare_scores(
    emulator: &mut Emulator,
    rule: AlarmRule,
    artifact: &Artifact<'_>,
    count: usize,
    seed: u64,
) -> Result<Parity> {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed);
    let mut cases: Vec<(usize, f32)> = Vec::new();
    let tables = artifact.tables();
    for table in 0..tables.count() {
        cases.extend([(table, 0.0), (table, 1.0)]);
        for &edge in tables.get(table).iter().flat_map(|table| table.form.edges()) {
            cases.extend([edge.next_down(), edge, edge.next_up().min(1.0)].map(|score| (table, score)));
        }
    }
    while cases.len() < count {
        cases.push((rng.random_range(0..tables.count()), rng.random_range(0.0..=1.0)));
    }

    let mut requests = Vec::with_capacity(cases.len());
    for (table, score) in cases {
        requests.push(match artifact.calibrator() {
            Calibrator::Binary(_) if artifact.is_randomized() => RequestBody::Predict(Question {
                group: None,
                word: Some(rng.random()),
                scores: Scores::Score(score),
            }),
            Calibrator::Binary(_) => RequestBody::predict(Scores::Score(score)),
            Calibrator::TopLabel(_) | Calibrator::TopK(_) | Calibrator::Vector(_) => {
                let classes = usize::from(artifact.header().classes);
                RequestBody::predict(Scores::Probs(values(&vector(table % classes, score, classes))))
            }
            _ => bail!("the artifact does not take scores that are floats"),
        });
    }
    asked(emulator, rule, artifact, requests)
}

/// Sends `count` vectors of logits, and as many of probabilities unless the calibrator takes logits only, some of them with
/// ties, and compares the answers with the host's, bit for bit.
///
/// # Errors
///
/// If the device does not answer.
pub fn vectors(
    emulator: &mut Emulator,
    rule: AlarmRule,
    artifact: &Artifact<'_>,
    count: usize,
    seed: u64,
) -> Result<Parity> {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed);
    let logits_only = matches!(artifact.calibrator(), Calibrator::Vector(c) if c.needs_logits());
    let mut requests = Vec::with_capacity(2 * count);
    for i in 0..count {
        let mut logits = spread_logits(&mut rng, artifact.header().classes.into(), i);
        if i % 4 == 0 {
            // Coarse logits, of which the largest are often equal.
            logits.iter_mut().for_each(|logit| *logit = logit.round());
        }
        requests.push(RequestBody::predict(Scores::Logits(values(&logits))));
        if !logits_only {
            requests.push(RequestBody::predict(Scores::Probs(values(&softmax(&logits)?))));
        }
    }
    asked(emulator, rule, artifact, requests)
}

/// Sends `count` vectors of integer codes, and those whose highest code is at an edge of a table or next to it, and compares
/// the answers with the host's, bit for bit. Half of them are what a quantized softmax gives, the others any codes; many have
/// equal highest ones.
///
/// # Errors
///
/// If the device does not answer.
pub fn code_vectors(
    emulator: &mut Emulator,
    rule: AlarmRule,
    artifact: &Artifact<'_>,
    count: usize,
    seed: u64,
) -> Result<Parity> {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed);
    let (classes, encoding) = (usize::from(artifact.header().classes), artifact.header().encoding);
    let (lowest, highest) = encoding.code_range().context("the artifact is not over codes")?;
    let max_key = (highest - lowest) as u16;
    let mut rows = Vec::with_capacity(count);
    for i in 0..count {
        rows.push(if i % 2 == 0 {
            quantized_softmax(&spread_logits(&mut rng, classes, i), max_key)?
        } else {
            // A few codes apart, so that they are often the same.
            let base = rng.random_range(2..=max_key);
            (0..classes).map(|_| base - rng.random_range(0..3)).collect()
        });
    }
    let tables = artifact.tables();
    for table in 0..tables.count() {
        let edges = match tables.get(table).map(|table| table.form) {
            Some(TableForm::Codes(codes)) => codes.edges().to_vec(),
            Some(TableForm::Compact(codes)) => codes.edges().iter().map(|&edge| edge.into()).collect(),
            _ => continue,
        };
        for key in edges.into_iter().flat_map(|edge| [edge - 1, edge, edge + 1]) {
            let key = key.min(max_key.into()) as u16;
            let mut row = vec![key / 2; classes];
            row[table % classes] = key;
            rows.push(row);
        }
    }
    let request = |keys: Vec<u16>| RequestBody::predict(Scores::Codes(keys.into_iter().collect()));
    asked(emulator, rule, artifact, rows.into_iter().map(request))
}

/// The softmax of logits in steps of one over the number of codes, rounded, and at most the highest: as TensorFlow Lite has it.
///
/// # Errors
///
/// If the logits are none.
pub fn quantized_softmax(logits: &[f32], max_key: u16) -> Result<Vec<u16>> {
    let key = |prob: f32| (prob * (f32::from(max_key) + 1.0)).round().min(max_key.into()) as u16;
    Ok(softmax(logits)?.into_iter().map(key).collect())
}

/// Logits of a row: near each other, apart and far apart in turn.
pub(crate) fn spread_logits(rng: &mut Xoshiro256PlusPlus, classes: usize, row: usize) -> Vec<f32> {
    let spread = [0.5, 4.0, 30.0][row % 3];
    (0..classes).map(|_| rng.random_range(-spread..spread)).collect()
}

fn softmax(logits: &[f32]) -> Result<Vec<f32>> {
    let mut probs = vec![0.0; logits.len()];
    Logits::new(logits)?.write_softmax(&mut probs)?;
    Ok(probs)
}

/// A vector that gives `score` to `class` and shares out the rest.
fn vector(class: usize, score: f32, classes: usize) -> Vec<f32> {
    let other = (1.0 - score) / (classes - 1) as f32;
    (0..classes).map(|c| if c == class { score } else { other }).collect()
}

/// What the host computes for an input and the random word that the device was given or drew.
fn reply(rule: AlarmRule, artifact: &Artifact<'_>, input: &Input, word: Option<u32>) -> Result<ReplyBody> {
    // The artifact's own rule goes before the built-in one.
    let decision = artifact.decision();
    let band = input.band(artifact)?;
    let action = |outcome: &Outcome| decision.map(|decision| decision.decide(outcome, || band));
    let alarm = |outcome: &Outcome| match (decision.zip(action(outcome)), outcome) {
        (Some((decision, action)), outcome) => decision.is_raised_by(outcome, action),
        (None, Outcome::Calibrated(calibrated)) => rule.is_raised_by(calibrated.prob),
        (None, Outcome::Uncalibrated(_)) => true,
    };
    let of_class = |class: u16, score: ScoreEcho, outcome: Outcome| {
        let (alarm, action) = (alarm(&outcome), action(&outcome));
        let beside = band.map_or(Beside::None, Beside::Band);
        Answer { word, action, beside, ..Answer::new(Ranked { class, score, outcome }, alarm) }
    };
    let prediction = |top: TopLabel, outcome| of_class(top.class, ScoreEcho::F32(top.score), outcome);
    Ok(match (artifact.calibrator(), input.vector()?) {
        (Calibrator::Binary(calibrator), _) => {
            let Input::Score(top) = *input else { bail!("a vector for a binary artifact") };
            ReplyBody::Answer(prediction(top, calibrator.calibrate_with(top.score, word)))
        }
        (Calibrator::BinaryCode(calibrator), _) => {
            let Input::Key(key) = *input else { bail!("no code for an artifact over codes") };
            let outcome = calibrator.calibrate(QuantizedScore::from_key(calibrator.encoding(), key)?)?;
            ReplyBody::Answer(of_class(1, ScoreEcho::Code(key), outcome))
        }
        (Calibrator::TopLabelCode(calibrator), _) => {
            let Input::Keys(keys) = input else { bail!("no codes for an artifact over codes") };
            // The first of the largest, found in another way than the device does.
            let most = *keys.iter().max().context("a vector without classes")?;
            let class = keys.iter().position(|&key| key == most).context("it is there")? as u16;
            let outcome =
                calibrator.calibrate(class, QuantizedScore::from_key(calibrator.encoding(), most)?)?;
            ReplyBody::Answer(of_class(class, ScoreEcho::Code(most), outcome))
        }
        (Calibrator::BinaryMargin(calibrator), _) => {
            let Input::Margin(margin) = *input else { bail!("no margin for an artifact over margins") };
            let outcome = calibrator.calibrate_with(margin, word);
            ReplyBody::Answer(of_class(1, ScoreEcho::Margin(margin), outcome))
        }
        (Calibrator::TopLabelMargin(calibrator), _) => {
            let Input::Logits(row) = input else { bail!("no logits for an artifact by margin") };
            let (class, [most, second]) = first_two(row).context("a vector of one class")?;
            // Both zeros are the same logit: their difference is 0, not -0.
            let margin = Margin::new((most - second).min(f32::MAX) + 0.0)?;
            let outcome = calibrator.calibrate_with(TopLabelMargin { class, margin }, word);
            ReplyBody::Answer(of_class(class, ScoreEcho::Margin(margin), outcome))
        }
        (Calibrator::TopLabelCodeMargin(calibrator), _) => {
            let Input::Keys(keys) = input else { bail!("no codes for an artifact over codes") };
            let (class, [most, second]) = first_two(keys).context("a vector of one class")?;
            let top = TopLabelCodeMargin::from_keys(calibrator.encoding(), keys)?;
            ensure!(
                (top.class(), top.top2_margin()) == (class, most - second),
                "another top-two margin than by sorting"
            );
            let outcome = calibrator.calibrate(top)?;
            ReplyBody::Answer(of_class(class, ScoreEcho::Top2Margin(most - second), outcome))
        }
        (Calibrator::TopLabel(calibrator), Some(vector)) => {
            let top = vector.top_label();
            ReplyBody::Answer(prediction(top, calibrator.calibrate_with(top, word)))
        }
        (Calibrator::TopK(calibrator), Some(vector)) => {
            let mut ranked = calibrator.calibrate_all(vector, word)?;
            let (top, outcome) = ranked.next().context("there is at least one rank")?;
            let of_rank = |(top, outcome): (TopLabel, Outcome)| prediction(top, outcome).first();
            let beside = Beside::Ranked(ranked.map(of_rank).collect());
            ReplyBody::Answer(Answer { beside, ..prediction(top, outcome) })
        }
        (Calibrator::Vector(calibrator), Some(vector)) => {
            let mut space = vec![0.0; calibrator.space()];
            let probs = calibrator.calibrate(vector, word, &mut space)?;
            let top = vector.top_label();
            let others = probs.iter().map(|prob| prob.unwrap_or(f32::NAN)).collect();
            let beside = Beside::Probs(others);
            let outcome = in_range(artifact, top, calibrator.outcome(top, word, probs));
            ReplyBody::Answer(Answer { beside, ..prediction(top, outcome) })
        }
        _ => bail!("the artifact does not take such an input"),
    })
}

/// The range of the predicted class's score beside a calibrator of whole vectors: by a scan, as the device does not find it.
fn in_range(artifact: &Artifact<'_>, top: TopLabel, outcome: Outcome) -> Outcome {
    let found = artifact.score_intervals().filter(|_| artifact.header().reduction == Reduction::Joint);
    match (outcome, found.and_then(|found| found.table(top.class.into()))) {
        (Outcome::Calibrated(calibrated), Some(ranges)) => {
            let bin = ranges.edges().iter().filter(|&&edge| edge <= top.score.to_bits()).count();
            let flags = calibrated.flags.with(BinFlags::RANGE);
            let interval = ranges.interval(bin);
            Outcome::Calibrated(Calibrated { bin: bin as u16, flags, interval, ..calibrated })
        }
        _ => outcome,
    }
}

/// The first class with the largest of the scores, that score and the one that is next to it in order: by sorting, as the device
/// does not find them.
fn first_two<S: Copy + PartialOrd>(scores: &[S]) -> Option<(u16, [S; 2])> {
    let mut order: Vec<usize> = (0..scores.len()).collect();
    order.sort_by(|&a, &b| scores[b].partial_cmp(&scores[a]).expect("scores are ordered"));
    let [first, second, ..] = order[..] else { return None };
    Some((first as u16, [scores[first], scores[second]]))
}

/// The answer to a question.
fn answer(reply: &ReplyBody) -> Option<&Answer> {
    match reply {
        ReplyBody::Answer(answer) => Some(answer),
        _ => None,
    }
}

fn values(row: &[f32]) -> Values {
    row.iter().copied().collect()
}

fn compare(
    emulator: &mut Emulator,
    rule: AlarmRule,
    artifact: &Artifact<'_>,
    questions: Vec<(Input, RequestBody)>,
) -> Result<Parity> {
    let replies = emulator.pipeline(questions.iter().map(|(_, request)| request.clone()))?;
    if replies.len() != questions.len() {
        bail!("{} replies to {} requests", replies.len(), questions.len());
    }
    let mut parity = Parity { replies: Vec::new(), predictions: Vec::new(), differences: Vec::new() };
    for (row, (got, (input, request))) in replies.iter().zip(&questions).enumerate() {
        let word = match request {
            RequestBody::Predict(Question { word: Some(word), .. }) => Some(*word),
            // A word that the device drew itself is its to tell.
            _ if artifact.is_randomized() => answer(got).and_then(|answer| answer.word),
            _ => None,
        };
        let expected = reply(rule, artifact, input, word)?;
        // Frames are the same bytes exactly if every number has the same bits.
        if bits(got) != bits(&expected) {
            parity.differences.push(format!("row {row}: host {expected:?}, device {got:?}"));
        }
        parity.predictions.extend(answer(&expected).cloned());
        parity.replies.push(expected);
    }
    Ok(parity)
}

fn bits(reply: &ReplyBody) -> Vec<u8> {
    let mut buf = [0; calib_core::wire::MAX_FRAME];
    calib_core::wire::encode(reply, &mut buf).expect("a reply fits a frame").to_vec()
}
