//! What is asked of an artifact, and what calib-core answers, as words.

use calib_core::artifact::{Reduction, TableForm};
use calib_core::decision::{ClassSet, Verdict};
use calib_core::predict::{Output, Query};
use calib_core::score::CodeVector;
use calib_core::wire::{Answer, Beside, Question, ReplyBody, RequestBody, Scores};
use calib_core::{
    AlarmRule, Artifact, Calibrator, Logits, Margin, Outcome, ProbInterval, Probs, QuantizedScore, Score,
    ScoreEncoding, Uncalibrated,
};
use calib_tests::{around_band_edges, expected};
use rand::{Rng, RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

/// What is asked: the scores go to the function of this kind.
pub(crate) struct KindedQuestion {
    kind: u32,
    question: Question,
}

const SCORE: u32 = 0;
const MARGIN: u32 = 1;
const CODE: u32 = 2;
const LOGITS: u32 = 3;
const KEYS: u32 = 5;
const I8: u32 = 6;
const U8: u32 = 7;
const ALL_LOGITS: u32 = 8;
const TOP_K_LOGITS: u32 = 10;

/// Questions about every edge of every table, and about random scores up to so many.
pub(crate) fn questions(artifact: &Artifact<'_>, count: usize) -> Vec<KindedQuestion> {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(41);
    let groups = artifact.groups().map_or(0, |groups| groups.count());
    let edges: Vec<f32> = (0..artifact.tables().count())
        .filter_map(|index| artifact.tables().get(index))
        .flat_map(|table| table.form.edges().to_vec())
        .flat_map(|edge| [edge.next_down(), edge, edge.next_up()])
        .collect();
    let keys: Vec<u32> = (0..artifact.tables().count())
        .filter_map(|index| artifact.tables().get(index))
        .flat_map(|table| match table.form {
            TableForm::Codes(codes) => codes.edges().to_vec(),
            TableForm::Compact(codes) => codes.edges().iter().map(|&edge| edge.into()).collect(),
            _ => Vec::new(),
        })
        .flat_map(|edge| [edge.saturating_sub(1), edge, edge + 1])
        .collect();
    let mut around_band = around_band_edges(artifact).into_iter();
    (0..count)
        .map(|place| {
            let (kind, scores) = match around_band.next() {
                Some(asked) => (kind_of(&asked), asked),
                None => scores(artifact, (&edges, &keys), place, &mut rng),
            };
            let word = artifact.is_randomized().then(|| rng.next_u32());
            let group = (groups > 0).then(|| (place % groups) as u8);
            KindedQuestion { kind, question: Question { group, word, scores } }
        })
        .collect()
}

/// The kind of a score that is no vector.
fn kind_of(scores: &Scores) -> u32 {
    match scores {
        Scores::Score(_) => SCORE,
        Scores::Margin(_) => MARGIN,
        Scores::Code(_) => CODE,
        other => panic!("{other:?} is a vector"),
    }
}

/// The band at a score; `None` if the artifact has none.
fn band_at(artifact: &Artifact<'_>, scores: &Scores) -> Option<ProbInterval> {
    let output = match scores {
        Scores::Score(value) => Output::Score(Score::new(*value).unwrap()),
        Scores::Margin(value) => Output::Margin(Margin::new(*value).unwrap()),
        Scores::Code(key) => {
            Output::Code(QuantizedScore::from_key(artifact.header().encoding, *key).unwrap())
        }
        _ => return None,
    };
    artifact.band_at(&output)
}

/// What `calib_band_...` writes: no error and the band, or an error and what was there before.
fn band(words: &mut Vec<u32>, artifact: &Artifact<'_>, scores: &Scores) {
    const NO_BAND: i32 = -30;
    if !matches!(scores, Scores::Score(_) | Scores::Margin(_) | Scores::Code(_)) {
        return;
    }
    let (error, floats) = match (artifact.band(), band_at(artifact, scores)) {
        (Some(band), Some(at)) => (0, [at.lo, at.hi, band.alpha()]),
        _ => (NO_BAND, [2.0, 3.0, 4.0]),
    };
    words.push(error.cast_unsigned());
    words.extend(floats.map(f32::to_bits));
}

fn scores(
    artifact: &Artifact<'_>,
    (edges, keys): (&[f32], &[u32]),
    place: usize,
    rng: &mut Xoshiro256PlusPlus,
) -> (u32, Scores) {
    let header = artifact.header();
    let (encoding, classes) = (header.encoding, usize::from(header.classes));
    let max_key = encoding.code_range().map_or(0, |(lowest, highest)| (highest - lowest) as u32);
    if header.reduction == Reduction::Binary {
        return match encoding {
            _ if encoding.is_quantized() => {
                let key = keys.get(place).copied().unwrap_or_else(|| rng.random_range(0..=max_key));
                (CODE, Scores::Code(key.min(max_key) as u16))
            }
            _ if encoding.is_margin() => {
                let spread = [1.0, 8.0, 1e6][place % 3];
                let margin = edges.get(place).copied().unwrap_or_else(|| rng.random_range(-spread..spread));
                (MARGIN, Scores::Margin(if margin.is_finite() { margin } else { 0.0 }))
            }
            _ => {
                let score = edges.get(place).copied().unwrap_or_else(|| rng.random_range(0.0..=1.0));
                (SCORE, Scores::Score(score.clamp(0.0, 1.0)))
            }
        };
    }
    if encoding.is_quantized() {
        let base = rng.random_range(2..=max_key);
        let near = place.is_multiple_of(2);
        let key = |rng: &mut Xoshiro256PlusPlus| match near {
            true => base - rng.random_range(0..3),
            false => rng.random_range(0..=max_key),
        };
        let row = (0..classes).map(|_| key(rng) as u16).collect();
        let kind = match encoding {
            ScoreEncoding::I8 { .. } if !place.is_multiple_of(3) => I8,
            ScoreEncoding::U8 { .. } if !place.is_multiple_of(3) => U8,
            _ => KEYS,
        };
        return (kind, Scores::Codes(row));
    }
    let spread = [0.5, 4.0, 30.0][place % 3];
    let mut logits: Vec<f32> = (0..classes).map(|_| rng.random_range(-spread..spread)).collect();
    if place.is_multiple_of(4) {
        // The largest are often equal.
        logits.iter_mut().for_each(|logit| *logit = logit.round());
    }
    let calibrator = artifact.calibrator();
    let first = match calibrator {
        Calibrator::Vector(_) => ALL_LOGITS,
        Calibrator::TopK(_) => TOP_K_LOGITS,
        _ => LOGITS,
    };
    let logits_only = match calibrator {
        Calibrator::Vector(vector) => vector.needs_logits(),
        Calibrator::TopLabelMargin(_) => true,
        Calibrator::None => artifact.prediction_sets().is_some_and(|sets| {
            let mut probs = vec![0.0; classes];
            probs[0] = 1.0;
            sets.of_probs(Probs::new(&probs).unwrap()).is_none()
        }),
        _ => false,
    };
    if logits_only || place.is_multiple_of(2) {
        return (first, Scores::Logits(logits.into_iter().collect()));
    }
    let mut probs = vec![0.0; classes];
    Logits::new(&logits).unwrap().write_softmax(&mut probs).unwrap();
    // The function for probabilities comes after the one for logits.
    (first + 1, Scores::Probs(probs.into_iter().collect()))
}

/// The file that `parity.c` reads.
pub(crate) fn file(bytes: &[u8], artifact: &Artifact<'_>, asked: &[KindedQuestion]) -> Vec<u8> {
    let mut file = Vec::new();
    let mut put = |word: u32| file.extend(word.to_le_bytes());
    put(bytes.len() as u32);
    for chunk in bytes.chunks(4) {
        let mut word = [0; 4];
        word[..chunk.len()].copy_from_slice(chunk);
        put(u32::from_le_bytes(word));
    }
    put(asked.len() as u32);
    let (lowest, _) = artifact.header().encoding.code_range().unwrap_or_default();
    for KindedQuestion { kind, question: Question { group, word, scores } } in asked {
        let code = |key: u16| (i32::from(key) + lowest).cast_unsigned();
        let values: Vec<u32> = match scores {
            Scores::Score(value) | Scores::Margin(value) => vec![value.to_bits()],
            Scores::Code(key) => vec![code(*key)],
            Scores::Codes(keys) if *kind == KEYS => keys.iter().map(|&key| key.into()).collect(),
            Scores::Codes(keys) => keys.iter().map(|&key| code(key)).collect(),
            Scores::Logits(row) | Scores::Probs(row) => row.iter().map(|value| value.to_bits()).collect(),
            other => panic!("{other:?} is not asked"),
        };
        [*kind, word.is_some().into(), word.unwrap_or(0), group.is_some().into(), group.unwrap_or(0).into()]
            .into_iter()
            .chain([values.len() as u32])
            .chain(values)
            .for_each(&mut put);
    }
    file
}

/// Demands what calib-core says.
pub(crate) fn compare(name: &str, artifact: &Artifact<'_>, asked: &[KindedQuestion], got: &[u32]) {
    let info = info(artifact);
    assert_eq!(got[..info.len()], info, "{name}: what the artifact is");
    // No error, or that of another kind.
    let table = if is_one_table(artifact) { 0 } else { -30i32 };
    assert_eq!(got[info.len()], table.cast_unsigned(), "{name}: whether it is one table");
    let mut rest = &got[info.len() + 1..];
    for KindedQuestion { kind, question } in asked {
        let answer = answer(artifact, question);
        let (found, more) = rest.split_at(answer.len().min(rest.len()));
        assert_eq!(found, answer, "{name}: kind {kind}, {question:?}");
        rest = more;
    }
    assert_eq!(rest, [0; 0], "{name}: more than was asked");
}

/// Whether `calib_table_open` takes the artifact: one binary step table, and nothing to heed besides.
pub(crate) fn is_one_table(artifact: &Artifact<'_>) -> bool {
    let form = artifact.tables().get(0).map(|table| table.form);
    let has_rule = artifact.decision().is_some()
        || artifact.operating_points().is_some()
        || artifact.prediction_sets().is_some()
        || artifact.monitor_action().is_some();
    artifact.header().reduction == Reduction::Binary
        && form.is_some_and(|form| form.step(0).is_some() && !artifact.is_randomized())
        && !has_rule
        && artifact.groups().is_none()
}

/// What `calib_info` says.
fn info(artifact: &Artifact<'_>) -> Vec<u32> {
    let header = artifact.header();
    let (top_k, all_floats) = match artifact.calibrator() {
        Calibrator::TopK(top) => (top.k(), 0),
        Calibrator::Vector(vector) => (0, vector.space()),
        _ => (0, 0),
    };
    let guarantee = header.guarantee;
    let mut words = vec![header.n as u32];
    words.extend(artifact.identity().0.map(u32::from));
    words.extend([artifact.len_bytes() as u32, artifact.counter(), header.bins]);
    words.push(guarantee.map_or(f32::NAN, |guarantee| guarantee.alpha).to_bits());
    words.push(guarantee.map_or(f32::NAN, |guarantee| guarantee.epsilon).to_bits());
    words.extend([header.classes.into(), top_k as u32, all_floats as u32]);
    words.push(artifact.groups().map_or(0, |groups| groups.count() as u32));
    words.push(artifact.decision().map_or(0, |rule| rule.action_count() as u32));
    words.push(artifact.is_randomized().into());
    words.push(artifact.operating_points().is_some().into());
    words.push(artifact.prediction_sets().is_some().into());
    let (scale, zero_point) = header.encoding.affine().unwrap_or_default();
    words.extend([header.encoding.number().into(), f32::to_bits(scale), i32::cast_unsigned(zero_point)]);
    words.push(match header.reduction {
        Reduction::Binary => 0,
        Reduction::TopLabel => 1,
        Reduction::Confidence => 2,
        Reduction::ClassWise => 3,
        Reduction::Normalized => 4,
        Reduction::TopKLabel { .. } => 5,
        Reduction::TopKConfidence { .. } => 6,
        Reduction::Joint => 7,
        other => panic!("{other} has no number"),
    });
    // The format numbers both in the order in which they are declared.
    words.extend([header.method as u32, guarantee.map_or(255, |guarantee| guarantee.theorem as u32)]);
    words
}

/// What is said of one question: no error, the results, and the probabilities of all classes.
fn answer(artifact: &Artifact<'_>, question: &Question) -> Vec<u32> {
    let (outcomes, probs) = outcomes(artifact, question);
    let (verdict, set) = (verdict(artifact, question), set(artifact, question));
    let mut words = vec![0];
    for (place, (class, outcome)) in outcomes.iter().enumerate() {
        let is_first = place == 0;
        result(&mut words, *class, outcome);
        let set = if is_first { set } else { None };
        let at = words.len() - 17;
        for class in set.iter().flat_map(ClassSet::classes) {
            words[at + 4 + usize::from(class / 32)] |= 1 << (class % 32);
        }
        words[at + 13] = set.is_some().into();
        if is_first {
            rules(&mut words[at + 14..], (artifact, &question.scores), outcome, verdict, set);
        }
    }
    words.extend(probs.iter().map(|prob| prob.to_bits()));
    band(&mut words, artifact, &question.scores);
    if is_one_table(artifact) {
        // The program compares the result itself.
        band(&mut words, artifact, &question.scores);
    }
    words
}

/// The words of a result without rules.
fn result(words: &mut Vec<u32>, class: u16, outcome: &Outcome) {
    let calibrated = outcome.calibrated();
    let interval = calibrated.and_then(|calibrated| calibrated.interval);
    let (reason, bin, flags) = match outcome {
        Outcome::Uncalibrated(why) => (*why as u32 + 2, 0, 0),
        Outcome::Calibrated(found) => (
            if calibrated.is_some() { 1 } else { Uncalibrated::EmptyBin as u32 + 2 },
            found.bin.into(),
            found.flags.bits().into(),
        ),
    };
    words.push(calibrated.map_or(f32::NAN, |calibrated| calibrated.prob).to_bits());
    words.push(calibrated.and_then(|calibrated| calibrated.epsilon).unwrap_or(f32::NAN).to_bits());
    words.push(interval.map_or(0.0f32, |interval| interval.lo).to_bits());
    words.push(interval.map_or(1.0f32, |interval| interval.hi).to_bits());
    words.extend([0; 4]);
    words.extend([class.into(), bin, reason, flags, interval.is_some().into(), 0]);
    // No action, no verdict, and the alarm if nothing else says it.
    words.extend([255, 0, if calibrated.is_some() { 2 } else { 0 }]);
}

/// Action, verdict and alarm.
fn rules(
    words: &mut [u32],
    (artifact, scores): (&Artifact<'_>, &Scores),
    outcome: &Outcome,
    verdict: Option<Verdict>,
    set: Option<ClassSet>,
) {
    if let Some(verdict) = verdict {
        words[1] = match verdict {
            Verdict::Negative => 1,
            Verdict::Refer => 2,
            Verdict::Positive => 3,
        };
        words[2] = (!artifact.operating_points().unwrap().is_raised_by(verdict)).into();
    } else if let Some(set) = set {
        words[2] = (set.len() == 1).into();
    }
    if let Some(rule) = artifact.decision() {
        let action = rule.decide(outcome, || band_at(artifact, scores));
        (words[0], words[2]) = (action.into(), (!rule.is_raised_by(outcome, action)).into());
    }
}

/// Classes with their outcomes, and the probabilities of all classes if the calibrator gives them.
fn outcomes(artifact: &Artifact<'_>, question: &Question) -> (Vec<(u16, Outcome)>, Vec<f32>) {
    const NO_TABLE: Outcome = Outcome::Uncalibrated(Uncalibrated::NoTable);
    match (artifact.calibrator(), &question.scores) {
        (Calibrator::None, scores) => (vec![(predicted(scores), NO_TABLE)], Vec::new()),
        (Calibrator::Grouped, Scores::Score(value)) => {
            let output = Output::Score(Score::new(*value).unwrap());
            let query = Query { group: question.group, ..output.into() };
            (vec![(1, artifact.predict(&query).unwrap().first.outcome)], Vec::new())
        }
        _ => {
            let request = RequestBody::Predict(question.clone());
            match expected(AlarmRule::AtLeast(0.5), artifact, &request).unwrap() {
                ReplyBody::Answer(Answer { class, outcome, beside, .. }) => match beside {
                    Beside::None | Beside::Band(_) => (vec![(class, outcome)], Vec::new()),
                    Beside::Ranked(others) => {
                        let others = others.iter().map(|ranked| (ranked.class, ranked.outcome));
                        ([(class, outcome)].into_iter().chain(others).collect(), Vec::new())
                    }
                    Beside::Probs(probs) => (vec![(class, outcome)], probs.to_vec()),
                },
                other => panic!("{other:?}"),
            }
        }
    }
}

/// The first class of the largest score; 1 of a binary one.
fn predicted(scores: &Scores) -> u16 {
    match scores {
        Scores::Logits(row) | Scores::Probs(row) => first_of_largest(row),
        Scores::Codes(keys) => first_of_largest(keys),
        _ => 1,
    }
}

fn first_of_largest<T: PartialOrd>(row: &[T]) -> u16 {
    (0..row.len()).find(|&at| row.iter().all(|other| row[at] >= *other)).unwrap() as u16
}

fn verdict(artifact: &Artifact<'_>, question: &Question) -> Option<Verdict> {
    let points = artifact.operating_points()?;
    let group = if points.groups() == 1 { 0 } else { question.group.unwrap().into() };
    Some(match &question.scores {
        Scores::Score(value) => points.point(group).unwrap().verdict(Score::new(*value).unwrap()),
        Scores::Margin(value) => points.point(group).unwrap().verdict(Margin::new(*value).unwrap()),
        Scores::Code(key) => {
            let score = QuantizedScore::from_key(points.encoding(), *key).unwrap();
            points.code_point(group).unwrap().verdict(score).unwrap()
        }
        other => panic!("{other:?} has no verdict"),
    })
}

fn set(artifact: &Artifact<'_>, question: &Question) -> Option<ClassSet> {
    let sets = artifact.prediction_sets()?;
    Some(match &question.scores {
        Scores::Logits(row) => sets.of_logits(Logits::new(row).unwrap()).unwrap(),
        Scores::Probs(row) => sets.of_probs(Probs::new(row).unwrap()).unwrap(),
        Scores::Codes(keys) => sets.of_keys(CodeVector::new(sets.encoding(), keys).unwrap().keys()).unwrap(),
        other => panic!("{other:?} has no set here"),
    })
}
