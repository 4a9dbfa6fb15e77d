//! Thresholds, prediction sets and groups on the device, against their definitions on the host, bit for bit.

use calib_core::artifact::{
    ArtifactWriter, Header, HeaderFlags, Method, Provenance, Reduction, Table, TableForm,
};
use calib_core::decision::{
    Accuracy, AccuracyGuarantee, ClassSet, Conformity, OperatingParts, Quantile, Quantiles, SetParts,
    Threshold, Thresholds, Verdict,
};
use calib_core::wire::{
    Answer, MAX_FRAME, Question, Ranked, ReplyBody, RequestBody, ScoreEcho, Scores, encode,
};
use calib_core::{
    BinFlags, Calibrated, Identity, Logits, Margin, Outcome, Score, ScoreEncoding, StepTable, Uncalibrated,
};
use calib_tests::Board;
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use crate::harness::{ID, Image, random_inputs_on};

const SCORES: usize = 10_000;
const VECTORS: usize = 2000;
const I8: ScoreEncoding = ScoreEncoding::I8 { scale: 0.125, zero_point: 3 };
const NO_TABLE: Outcome = Outcome::Uncalibrated(Uncalibrated::NoTable);

/// An artifact of sections that `fill` writes.
fn artifact(
    (method, reduction, classes): (Method, Reduction, u16),
    encoding: ScoreEncoding,
    (bins, flags): (u32, HeaderFlags),
    fill: impl FnOnce(&mut ArtifactWriter<'_>),
) -> Vec<u8> {
    let provenance =
        Provenance { data_sha256: [3; 32], tool_version: "test", parameters: "", classifier: Some(ID) };
    let header =
        Header { method, reduction, encoding, classes, bins, n: 100_000, guarantee: None, flags, provenance };
    let mut bytes = vec![0; 16_384];
    let mut writer = ArtifactWriter::new(&mut bytes);
    writer.header(&header).unwrap();
    fill(&mut writer);
    writer.finish(|_| Identity(*b"identity")).unwrap().to_vec()
}

fn write_points(writer: &mut ArtifactWriter<'_>, keys: &[(u32, u32)], refer_raises: bool) {
    let at = |key, above| Threshold {
        key,
        positives: 60,
        positives_above: above,
        negatives: 60,
        negatives_above: above,
    };
    let groups: Vec<Thresholds> = keys
        .iter()
        .map(|&(lower, upper)| Thresholds {
            lower: at(lower, 59),
            upper: at(upper, if lower == upper { 59 } else { 9 }),
        })
        .collect();
    let guarantees = [AccuracyGuarantee {
        accuracy: Accuracy::Sensitivity,
        level: 0.95,
        confidence: 0.9,
        prevalence: None,
    }];
    let parts = OperatingParts { groups: &groups, refer_raises, guarantees: &guarantees };
    writer.operating_points(&parts).unwrap();
    if groups.len() > 1 {
        let names: Vec<String> = (0..groups.len()).map(|group| format!("group {group}")).collect();
        writer.groups(&names.iter().map(String::as_str).collect::<Vec<_>>()).unwrap();
    }
}

/// Asks all questions, and demands these answers, bit for bit.
fn answers(image: &Image, name: &str, bytes: &[u8], asked: Vec<(Question, Answer)>) {
    let mut device = image.start_fast(bytes);
    let requests = asked.iter().map(|(question, _)| RequestBody::Predict(question.clone()));
    let replies = device.pipeline(requests).unwrap_or_else(|error| panic!("{name}: {error:#}"));
    assert_eq!(replies.len(), asked.len(), "{name}");
    let bits = |reply: &ReplyBody| encode(reply, &mut [0; MAX_FRAME]).unwrap().to_vec();
    for (reply, (question, answer)) in replies.iter().zip(&asked) {
        let expected = ReplyBody::Answer(answer.clone());
        assert_eq!(bits(reply), bits(&expected), "{name}: {question:?}: host {expected:?}, device {reply:?}");
    }
    println!("{name}: {} bytes, {} questions", bytes.len(), asked.len());
}

fn verdict(is_at_least: impl Fn(usize) -> bool) -> Verdict {
    match (is_at_least(0), is_at_least(1)) {
        (_, true) => Verdict::Positive,
        (true, false) => Verdict::Refer,
        (false, false) => Verdict::Negative,
    }
}

/// The answer to a binary score by thresholds alone.
fn by_thresholds(score: ScoreEcho, group: Option<u8>, verdict: Verdict, refer_raises: bool) -> Answer {
    let alarm = verdict == Verdict::Positive || refer_raises && verdict == Verdict::Refer;
    let answer = Answer::new(Ranked { class: 1, score, outcome: NO_TABLE }, alarm);
    Answer { group, verdict: Some(verdict), ..answer }
}

/// Thresholds of probabilities, margins and codes, one or two, of one group and of three, "never" among them.
fn thresholds_agree(board: Board) {
    let image = Image::stand_in(board, 1);
    let bare = (Method::OperatingPoint, Reduction::Binary, 2);
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(11);
    let around = |ends: &[f32]| -> Vec<f32> {
        ends.iter().flat_map(|end| [end.next_down(), *end, end.next_up()]).filter(|x| x.is_finite()).collect()
    };

    let ends = [[0.25f32, 0.7], [0.0, 0.0], [0.4, 1.0f32.next_up()]];
    let keys = ends.map(|[lower, upper]| (lower.to_bits(), upper.to_bits()));
    // Every group has two thresholds if one has: the second is the same but for the next float.
    let keys = keys.map(|(lower, upper)| (lower, upper.max(lower + 1)));
    let bytes = artifact(bare, ScoreEncoding::F32, (0, HeaderFlags::NONE), |w| write_points(w, &keys, true));
    let mut scores = around(&ends.concat());
    scores.retain(|score| (0.0..=1.0).contains(score));
    scores.extend((0..random_inputs_on(board, SCORES)).map(|_| rng.random_range(0.0f32..=1.0)));
    let asked = (0..).zip(scores).map(|(i, value): (usize, f32)| {
        let (group, score) = ((i % 3) as u8, Score::new(value).unwrap());
        let (lower, upper) = keys[i % 3];
        let verdict = verdict(|end| value >= f32::from_bits([lower, upper][end]));
        let question = Question { group: Some(group), word: None, scores: Scores::Score(value) };
        (question, by_thresholds(ScoreEcho::F32(score), Some(group), verdict, true))
    });
    answers(&image, "thresholds of probabilities", &bytes, asked.collect());

    for (ends, refer_raises) in [([-3.5f32, 1e30], false), ([0.0, 0.0], true), ([-1e-42, f32::MAX], true)] {
        let key = |value| Margin::new(value).unwrap().key();
        let pair = [(key(ends[0]), key(ends[1]))];
        let bytes = artifact(bare, ScoreEncoding::Margin, (0, HeaderFlags::NONE), |writer| {
            write_points(writer, &pair, refer_raises);
        });
        let mut margins = around(&[ends[0], ends[1], -0.0, f32::MIN]);
        margins.extend((0..random_inputs_on(board, SCORES)).map(|_| rng.random_range(-5.0f32..5.0)));
        let asked = margins.into_iter().map(|value| {
            let verdict = verdict(|end| value >= ends[end]);
            let question = Question { group: None, word: None, scores: Scores::Margin(value) };
            let score = ScoreEcho::Margin(Margin::new(value).unwrap());
            (question, by_thresholds(score, None, verdict, refer_raises))
        });
        answers(&image, "thresholds of margins", &bytes, asked.collect());
    }

    let bytes =
        artifact(bare, I8, (0, HeaderFlags::NONE), |writer| write_points(writer, &[(100, 256)], false));
    let asked = (0..256u16).map(|key| {
        let verdict = if key < 100 { Verdict::Negative } else { Verdict::Refer };
        let question = Question { group: None, word: None, scores: Scores::Code(key) };
        (question, by_thresholds(ScoreEcho::Code(key), None, verdict, false))
    });
    answers(&image, "thresholds of codes", &bytes, asked.collect());
}

/// Tables of three groups, the second uncalibrated in one bin, with thresholds beside them.
fn groups_agree(board: Board) {
    const EDGES: [[f32; 2]; 3] = [[0.2, 0.7], [1e-40, 0.5], [0.3, 1.0]];
    const VALUES: [[f32; 3]; 3] = [[0.1, 0.4, 0.9], [0.2, 0.3, 0.75], [0.0, 0.5, 1.0]];
    let image = Image::stand_in(board, 1);
    let keys = [(0.4f32.to_bits(), 0.6f32.to_bits()), (1, 2), (0.9f32.to_bits(), 1.0f32.to_bits() + 1)];
    let form = |group: usize| TableForm::Steps(StepTable::new(&EDGES[group], &VALUES[group]).unwrap());
    let tables = [0, 1, 2].map(|group| Some(Table { form: form(group), epsilon: None }));
    let mut flags = [BinFlags::NONE; 9];
    flags[4] = BinFlags::EMPTY;
    let of = (Method::Umd, Reduction::Binary, 2);
    let bytes = artifact(of, ScoreEncoding::F32, (9, HeaderFlags::GROUPED), |writer| {
        writer.tables(&tables).unwrap();
        writer.bin_flags(&flags).unwrap();
        write_points(writer, &keys, false);
    });
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(12);
    let edges = EDGES.concat().into_iter().flat_map(|edge| [edge.next_down(), edge, edge.next_up().min(1.0)]);
    let scores = edges.chain((0..random_inputs_on(board, SCORES)).map(|_| rng.random_range(0.0..=1.0)));
    let asked = scores.flat_map(|value| [0usize, 1, 2].map(|group| (group, value))).map(|(group, value)| {
        let bin = EDGES[group].iter().filter(|&&edge| edge <= value).count();
        let flags = BinFlags::NONE;
        let outcome = match (group, bin) {
            (1, 1) => Outcome::Uncalibrated(Uncalibrated::EmptyBin),
            _ => Outcome::Calibrated(Calibrated {
                prob: VALUES[group][bin],
                bin: bin as u16,
                epsilon: None,
                flags,
                interval: None,
            }),
        };
        let verdict = verdict(|end| value.to_bits() >= [keys[group].0, keys[group].1][end]);
        let score = ScoreEcho::F32(Score::new(value).unwrap());
        let mut answer = by_thresholds(score, Some(group as u8), verdict, false);
        answer.outcome = outcome;
        let scores = Scores::Score(value);
        (Question { group: Some(group as u8), word: None, scores }, answer)
    });
    answers(&image, "tables and thresholds of three groups", &bytes, asked.collect());
}

/// The answer to a vector by its set alone: the predicted class, and the alarm unless it is alone.
fn by_set(class: u16, score: ScoreEcho, set: ClassSet) -> Answer {
    let alarm = set.len() != 1;
    Answer { set: Some(set), ..Answer::new(Ranked { class, score, outcome: NO_TABLE }, alarm) }
}

/// For every class its entry and the largest entry of the others.
fn beside<T: Copy + PartialOrd>(row: &[T]) -> Vec<(T, T)> {
    let others = |y: usize| {
        let others = row.iter().enumerate().filter(move |&(other, _)| other != y).map(|(_, &value)| value);
        others.reduce(|a, b| if b > a { b } else { a }).unwrap()
    };
    (0..row.len()).map(|y| (row[y], others(y))).collect()
}

/// The first class of the largest entry.
fn predicted<T: Copy + PartialOrd>(row: &[T]) -> u16 {
    let is_first =
        |&y: &usize| row.iter().enumerate().all(|(i, &value)| value < row[y] || value == row[y] && i >= y);
    (0..row.len()).find(is_first).unwrap() as u16
}

/// Sets of logits by softmax and by margin, and of codes by margin and by score: one threshold, and one a class.
fn sets_agree(board: Board, classes: u16) {
    let image = Image::stand_in(board, classes.into());
    let bare = (Method::PredictionSet, Reduction::Joint, classes);
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(13);
    let rows: Vec<Vec<i8>> = (0..random_inputs_on(board, VECTORS))
        .map(|i| {
            (0..classes)
                .map(|_| rng.random_range(-1..=1) * [1, 9, 60][i % 3] + rng.random_range(-3..=3))
                .collect()
        })
        .collect();
    let mut sizes = Vec::new();
    let key = |value: f32| Margin::new(value).unwrap().key();
    for (conformity, encoding, by_class, never_empty) in [
        (Conformity::Score, ScoreEncoding::F32, false, false),
        (Conformity::Margin, ScoreEncoding::F32, true, false),
        (Conformity::Margin, ScoreEncoding::F32, false, true),
        (Conformity::Score, I8, true, true),
        (Conformity::Margin, I8, false, false),
    ] {
        let threshold = |class: u16| match (conformity, encoding.is_quantized()) {
            (Conformity::Score, false) => 0.2f32.to_bits(),
            (Conformity::Margin, false) => key(f32::from(class % 3) * 0.3 - 0.5),
            (Conformity::Score, true) => 185 + u32::from(class % 3) * 2,
            (Conformity::Margin, true) => Conformity::code_key(-2),
        };
        let all: Vec<Quantile> =
            (0..classes).map(|class| Quantile { rows: 60, key: threshold(class) }).collect();
        let quantiles = if by_class { Quantiles::ByClass(&all) } else { Quantiles::All(all[0]) };
        let parts = SetParts { conformity, never_empty, alpha: 0.1, confidence: None, quantiles };
        let bytes = artifact(bare, encoding, (0, HeaderFlags::NONE), |writer| {
            writer.prediction_sets(&parts).unwrap();
        });
        let least = |class: usize| threshold(if by_class { class as u16 } else { 0 });
        let asked = rows.iter().map(|row| {
            let logits: Vec<f32> = row.iter().map(|&z| f32::from(z) / 7.0).collect();
            let keys: Vec<u16> = row.iter().map(|&z| (i16::from(z) + 128) as u16).collect();
            let mut softmax = vec![0.0; row.len()];
            Logits::new(&logits).unwrap().write_softmax(&mut softmax).unwrap();
            let is_in = |y: usize| match (conformity, encoding.is_quantized()) {
                (Conformity::Score, false) => softmax[y] >= f32::from_bits(least(y)),
                (Conformity::Margin, false) => {
                    let (own, other) = beside(&logits)[y];
                    key(own - other) >= least(y)
                }
                (Conformity::Score, true) => u32::from(keys[y]) >= least(y),
                (Conformity::Margin, true) => {
                    let (own, other) = beside(&keys)[y];
                    i32::from(own) - i32::from(other) >= -2
                }
            };
            let class = predicted(row);
            let mut set: ClassSet = (0..classes).filter(|&y| is_in(y.into())).collect();
            if never_empty {
                set.insert(class);
            }
            let (scores, score) = match encoding.is_quantized() {
                true => {
                    let top = ScoreEcho::Code(keys[usize::from(class)]);
                    (Scores::Codes(keys.iter().copied().collect()), top)
                }
                false => {
                    let top = Score::new(softmax[usize::from(class)]).unwrap();
                    (Scores::Logits(logits.iter().copied().collect()), ScoreEcho::F32(top))
                }
            };
            (Question { group: None, word: None, scores }, by_set(class, score, set))
        });
        let asked: Vec<_> = asked.collect();
        sizes.extend(asked.iter().map(|(_, answer)| answer.set.unwrap().len()));
        let name = format!("{classes} classes, {conformity:?} over {encoding}, by class {by_class}");
        answers(&image, &name, &bytes, asked);
    }
    assert!(sizes.contains(&1) && sizes.iter().any(|&size| size > 1), "sets of one class and of several");
}

#[test]
fn thresholds() {
    thresholds_agree(Board::Mps2An386);
}

#[test]
fn groups() {
    groups_agree(Board::Mps2An386);
}

#[test]
fn sets_of_3_classes() {
    sets_agree(Board::Mps2An386, 3);
}

#[test]
fn sets_of_10_classes() {
    sets_agree(Board::Mps2An386, 10);
}

#[test]
#[ignore = "builds other boards: `cargo xtask verify` does"]
fn on_other_cores() {
    for &board in Board::ALL.iter().filter(|&&board| board != Board::Mps2An386) {
        thresholds_agree(board);
        groups_agree(board);
        sets_agree(board, 3);
    }
    sets_agree(Board::Mps2An386, 100);
}
