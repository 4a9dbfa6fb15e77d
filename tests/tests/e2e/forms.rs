//! Every form of table on the device, against the same code on the host, bit for bit.

use std::collections::BTreeSet;

use calib_core::artifact::{
    ArtifactWriter, Guarantee, Header, HeaderFlags, Method, Provenance, Reduction, Table, TableForm, Theorem,
};
use calib_core::table::{
    CodeTable, InterpolatedTable, RandomizedTable, Scaling, ScalingFunction, VennAbersTable,
};
use calib_core::wire::{Measurement, Question, Refusal, ReplyBody, RequestBody, Scores, Values};
use calib_core::{
    Artifact, ArtifactBuffer, BinFlags, Calibrator, Identity, Outcome, ProbInterval, ScoreEncoding,
    StepTable, Uncalibrated,
};
use calib_tests::{Board, Emulator, Parity};
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use crate::harness::{ID, Image, calibrated};

const EPSILON: f32 = 0.07;
const BINS: usize = 15;
const CLIP: f32 = 1e-6;
const I8: ScoreEncoding = ScoreEncoding::I8 { scale: 1.0 / 256.0, zero_point: -128 };
const U8: ScoreEncoding = ScoreEncoding::U8 { scale: 1.0 / 255.0, zero_point: 0 };
const U16: ScoreEncoding = ScoreEncoding::U16 { scale: 1.0 / 65536.0, zero_point: 0 };

/// An artifact, and what goes beside its table.
struct StoredForm {
    buffer: ArtifactBuffer<1024>,
}

/// What to write beside a table.
#[derive(Default)]
struct Beside<'a> {
    bin_flags: &'a [BinFlags],
    intervals: Option<&'a [Option<ProbInterval>]>,
    direct: bool,
}

impl StoredForm {
    fn new(
        method: Method,
        encoding: ScoreEncoding,
        theorem: Option<Theorem>,
        form: TableForm<'_>,
        beside: &Beside<'_>,
    ) -> Self {
        let guarantee = theorem.map(|theorem| Guarantee { theorem, alpha: 0.1, epsilon: EPSILON });
        let header = Header {
            method,
            reduction: Reduction::Binary,
            encoding,
            classes: 2,
            bins: form.bins() as u32,
            n: 1000,
            guarantee,
            flags: HeaderFlags::NONE,
            provenance: Provenance {
                data_sha256: [3; 32],
                tool_version: "test",
                parameters: "",
                classifier: Some(ID),
            },
        };
        let tables = [Some(Table { form, epsilon: guarantee.map(|guarantee| guarantee.epsilon) })];
        let mut bytes = [0; 4096];
        let mut writer = ArtifactWriter::new(&mut bytes);
        writer.header(&header).unwrap();
        writer.tables(&tables).unwrap();
        if !beside.bin_flags.is_empty() {
            writer.bin_flags(beside.bin_flags).unwrap();
        }
        if let Some(intervals) = beside.intervals {
            writer.intervals(&[Some(intervals)]).unwrap();
        }
        if beside.direct {
            writer.direct_table(&tables).unwrap();
        }
        let mut buffer = ArtifactBuffer::new();
        buffer.extend_from_slice(writer.finish(|_| Identity(*b"identity")).unwrap()).unwrap();
        Self { buffer }
    }

    fn of(method: Method, theorem: Option<Theorem>, form: TableForm<'_>) -> Self {
        Self::new(method, ScoreEncoding::F32, theorem, form, &Beside::default())
    }

    fn artifact(&self) -> Artifact<'_> {
        Artifact::parse(self.buffer.as_bytes()).unwrap()
    }
}

/// `BINS - 1` edges, which are no round numbers.
fn edges() -> Vec<f32> {
    (1..BINS).map(|i| i as f32 / BINS as f32).collect()
}

/// `BINS` probabilities that rise to `highest`.
fn values(highest: f32) -> Vec<f32> {
    (0..BINS).map(|i| highest * (i as f32 + 0.3) / BINS as f32).collect()
}

/// 0, 1, every edge and its neighbors one ulp away, and as many more as make 1200.
fn scores(edges: &[f32]) -> Vec<f32> {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(11);
    let mut scores = vec![0.0, f32::from_bits(1), f32::MIN_POSITIVE, 1.0f32.next_down(), 1.0];
    scores.extend(edges.iter().flat_map(|e| [e.next_down().max(0.0), *e, e.next_up().min(1.0)]));
    while scores.len() < 1200 {
        scores.push(match scores.len() % 3 {
            // As often near 0 or near 1 as in between.
            0 => rng.random_range(0.0f32..=1.0).powi(8),
            1 => 1.0 - rng.random_range(0.0f32..=1.0).powi(8),
            _ => rng.random_range(0.0..=1.0),
        });
    }
    scores
}

/// Sends every score, and every score that equals an edge with several words, and demands the same bits.
fn floats_agree(name: &str, held: &StoredForm) {
    let artifact = held.artifact();
    assert!(matches!(artifact.calibrator(), Calibrator::Binary(_)), "{name}: not binary");
    let form = artifact.tables().get(0).unwrap().form;
    let image = Image::stand_in(Board::Mps2An386, 1);
    let mut deployed = image.deploy_counting(name, held.buffer.as_bytes());

    let scores = scores(form.edges());
    let sent = deployed.asked(scores.iter().map(|&score| RequestBody::predict(Scores::Score(score))));
    let has_empty = (0..form.bins()).any(|bin| artifact.tables().bin_flags(0, bin as u16) == BinFlags::EMPTY);
    let uncalibrated = |parity: &Parity| {
        let empty = Outcome::Uncalibrated(Uncalibrated::EmptyBin);
        parity.predictions.iter().filter(|got| got.outcome == empty && got.alarm).count()
    };
    assert_eq!(calibrated(&sent) + uncalibrated(&sent), scores.len(), "{name}");
    assert_eq!(uncalibrated(&sent) > 0, has_empty, "{name}");
    // The device drew each word and told it.
    assert!(sent.predictions.iter().all(|got| got.word.is_some() == artifact.is_randomized()), "{name}");
    let words: BTreeSet<u32> = sent.predictions.iter().filter_map(|got| got.word).collect();
    assert!(!artifact.is_randomized() || words.len() > scores.len() * 9 / 10, "{} words", words.len());

    let ties: &[u32] = if let TableForm::Randomized(table) = &form { table.ties() } else { &[7] };
    let mut requests = Vec::new();
    for &score in form.edges().iter().chain(&[0.0, 0.5, 1.0]) {
        for tie in ties {
            for word in [0, tie.wrapping_sub(1), *tie, tie.wrapping_add(1), u32::MAX] {
                requests.push(RequestBody::Predict(Question {
                    group: None,
                    word: Some(word),
                    scores: Scores::Score(score),
                }));
            }
        }
    }
    let asked = requests.len();
    let sent = deployed.asked(requests);
    assert_eq!(calibrated(&sent) + uncalibrated(&sent), asked, "{name}");

    println!("{name}: {} bytes, {} instructions", artifact.len_bytes(), cost(&mut deployed.device));
    refuses_codes(&mut deployed.device);
}

/// The instructions of one calibration, as the device measures them.
fn cost(device: &mut Emulator) -> u32 {
    let features = Values::from_slice(&[0.6]).unwrap();
    match device.request(RequestBody::Measure { features, repeat: 4096 }).unwrap() {
        ReplyBody::Measurement(Measurement { repeat, empty_ticks, calibrate_ticks, .. }) => {
            // 25 MHz and a nanosecond per instruction: a tick is 40 instructions.
            (calibrate_ticks - empty_ticks) * 40 / u32::from(repeat)
        }
        other => panic!("not a measurement: {other:?}"),
    }
}

fn refuses_codes(device: &mut Emulator) {
    let refused = ReplyBody::Refused(Refusal::Encoding(ScoreEncoding::F32));
    assert_eq!(device.request(RequestBody::predict(Scores::Code(5))).unwrap(), refused);
}

#[test]
fn steps_with_intervals() {
    let (edges, values) = (edges(), values(0.98));
    let mut flags = [BinFlags::NONE; BINS];
    flags[4] = BinFlags::EMPTY;
    let interval = |(bin, &prob): (usize, &f32)| {
        if bin == 4 { None } else { ProbInterval::new((prob - 0.07).max(0.0), (prob + 0.05).min(1.0)) }
    };
    let intervals: Vec<_> = values.iter().enumerate().map(interval).collect();
    let beside = Beside { bin_flags: &flags, intervals: Some(&intervals), direct: false };
    let form = TableForm::Steps(StepTable::new(&edges, &values).unwrap());
    let theorem = Some(Theorem::ClopperPearson);
    floats_agree("steps", &StoredForm::of(Method::Umd, Some(Theorem::Gr21Theorem3), form));
    let held = StoredForm::new(Method::FixedWidth, ScoreEncoding::F32, theorem, form, &beside);
    floats_agree("steps with intervals and flags", &held);
}

#[test]
fn randomized_steps() {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(3);
    // Scores 0.2 and 0.6 have three edges each.
    let mut pairs: Vec<(f32, u32)> = edges().into_iter().map(|edge| (edge, rng.random())).collect();
    // 0 and 1 have one, too.
    pairs.extend([0.2f32, 0.2, 0.6, 0.6, 0.0, 1.0].map(|edge| (edge, rng.random())));
    pairs.sort_by(|a, b| a.partial_cmp(b).unwrap());
    let (edges, ties): (Vec<f32>, Vec<u32>) = pairs.into_iter().unzip();
    let values: Vec<f32> = (0..=edges.len()).map(|i| i as f32 / edges.len() as f32).collect();
    let intervals: Vec<_> = values.iter().map(|&prob| ProbInterval::new(prob * 0.9, prob)).collect();
    let form = TableForm::Randomized(RandomizedTable::new(&edges, &ties, &values).unwrap());
    let theorem = Some(Theorem::Gr21Theorem4);
    let beside = Beside { intervals: Some(&intervals), ..Beside::default() };
    let held = StoredForm::new(Method::UmdRandomized, ScoreEncoding::F32, theorem, form, &beside);
    floats_agree("randomized steps", &held);
}

#[test]
fn interpolated() {
    let mut x = edges();
    // A knot at 0, and two next to each other.
    x[0] = 0.0;
    x[1] = f32::from_bits(1);
    let y: Vec<f32> = values(0.98).into_iter().skip(1).collect();
    let slopes: Vec<f32> = InterpolatedTable::slopes_between(&x, &y).collect();
    let form = TableForm::Interpolated(InterpolatedTable::new(&x, &y, &slopes).unwrap());
    floats_agree("interpolated", &StoredForm::of(Method::IsotonicInterpolated, None, form));
}

#[test]
fn scaling() {
    let functions = [
        ("platt on the logit", Method::Platt, Scaling::PlattLogit { a: 0.7, b: -0.3, clip: CLIP }),
        ("platt on the probability", Method::Platt, Scaling::PlattProb { a: 7.1, b: -3.3 }),
        ("beta", Method::Beta, Scaling::Beta { a: 0.7, b: 1.3, c: -0.2, clip: CLIP }),
        ("temperature", Method::Temperature, Scaling::Temperature { inverse_t: 0.6, clip: CLIP }),
        ("quadratic", Method::Quadratic, Scaling::Quadratic { a: -0.05, b: 0.8, c: -0.2, clip: CLIP }),
        ("none", Method::Unchanged, Scaling::Unchanged),
    ];
    for (name, method, parameters) in functions {
        let form = TableForm::Scaling(ScalingFunction::new(parameters).unwrap());
        floats_agree(name, &StoredForm::of(method, None, form));
    }
}

#[test]
fn venn_abers() {
    let (edges, p0, p1) = (edges(), values(0.9), values(1.0));
    let form = TableForm::VennAbers(VennAbersTable::new(&edges, &p0, &p1).unwrap());
    floats_agree("venn-abers", &StoredForm::of(Method::VennAbers, None, form));
}

/// Sends codes, all of an 8-bit encoding, and demands the same bits.
fn codes_agree(name: &str, encoding: ScoreEncoding, codes: impl Iterator<Item = u16>, held: &StoredForm) {
    let artifact = held.artifact();
    assert!(matches!(artifact.calibrator(), Calibrator::BinaryCode(_)), "{name}: not over codes");
    let image = Image::stand_in(Board::Mps2An386, 1);
    let mut deployed = image.deploy(name, held.buffer.as_bytes());
    let requests: Vec<RequestBody> = codes.map(|scores| RequestBody::predict(Scores::Code(scores))).collect();
    let asked = requests.len();
    assert_eq!(calibrated(&deployed.asked(requests)), asked, "{name}");
    println!("{name}: {} bytes", artifact.len_bytes());

    let device = &mut deployed.device;
    // A float is no code.
    let features = Values::from_slice(&[0.6]).unwrap();
    for body in [
        RequestBody::predict(Scores::Score(0.5)),
        RequestBody::Predict(Question { group: None, word: Some(1), scores: Scores::Score(0.5) }),
        RequestBody::predict(Scores::Features(features)),
    ] {
        assert_eq!(device.request(body).unwrap(), ReplyBody::Refused(Refusal::Encoding(encoding)));
    }
    match device.request(RequestBody::Status).unwrap() {
        ReplyBody::Status(status) => assert_eq!(status.calibrator.unwrap().encoding, encoding),
        other => panic!("not a status: {other:?}"),
    }
}

#[test]
fn codes_of_8_bits() {
    let edges: Vec<u32> = (1..BINS as u32).map(|i| i * 17).collect();
    let values = values(0.98);
    for encoding in [I8, U8] {
        let form = TableForm::Codes(CodeTable::new(&edges, &values, encoding).unwrap());
        for (name, direct) in [("8-bit codes", false), ("8-bit codes with a direct table", true)] {
            let beside = Beside { direct, ..Beside::default() };
            let held = StoredForm::new(Method::Ums, encoding, Some(Theorem::SampleSplit), form, &beside);
            // Each four times, for more than 1000 in all.
            codes_agree(name, encoding, (0..4).flat_map(|_| 0..256), &held);
        }
    }
}

#[test]
fn codes_of_16_bits() {
    let edges: Vec<u32> = (1..BINS as u32).map(|i| i * 4321).collect();
    let values = values(0.98);
    let form = TableForm::Codes(CodeTable::new(&edges, &values, U16).unwrap());
    let held = StoredForm::new(Method::Umd, U16, Some(Theorem::Gr21Theorem3), form, &Beside::default());
    let around = edges.iter().flat_map(|&edge| [edge - 1, edge, edge + 1]).map(|key| key as u16);
    codes_agree("16-bit codes", U16, around.chain((0..=u16::MAX).step_by(51)).chain([u16::MAX]), &held);
}
