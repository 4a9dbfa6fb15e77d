//! The firmware in the emulator, against the same code on the host.

use std::collections::BTreeSet;
use std::sync::OnceLock;

use calib_classifier::linear::{LinearModel, LinearParameters};
use calib_core::artifact::{
    ArtifactWriter, Guarantee, Header, HeaderFlags, Method, Provenance, Reduction, Table, TableForm, Theorem,
};
use calib_core::wire::{
    self, Answer, MAX_FRAME, MAX_VALUES, Measurement, Missing, Refusal, ReplyBody, Request, RequestBody,
    ScoreEcho, Scores, Status, Values,
};
use calib_core::{
    Anybody, Artifact, BinFlags, Calibrator, ClassifierId, Identity, Outcome, ParseError, Score,
    ScoreEncoding, ScoreError, StepTable, TopLabel, Uncalibrated,
};
use calib_firmware::{AlarmRule, Classifier, Features, Slot};
use calib_tests::{Board, Emulator, image_size};

use crate::harness::{Image, random_inputs};

const SLOT_LEN: usize = 0x1_0000;
const OTHER: ClassifierId = ClassifierId(*b"another!");

/// 30 features, two classes.
fn binary() -> &'static Image {
    static IMAGE: OnceLock<Image> = OnceLock::new();
    IMAGE.get_or_init(|| image("synthetic-binary", 30, 1, AlarmRule::AtLeast(0.5)))
}

/// 8 features, four classes.
fn quaternary() -> &'static Image {
    static IMAGE: OnceLock<Image> = OnceLock::new();
    IMAGE.get_or_init(|| image("synthetic-quaternary", 8, 4, AlarmRule::Below(0.6)))
}

fn image(name: &str, features: usize, outputs: usize, alarm: AlarmRule) -> Image {
    let mut random = Random(features as u64);
    let mut row = |low, high| (0..features).map(|_| random.between(low, high)).collect::<Vec<_>>();
    let model = LinearModel::new(LinearParameters {
        name: name.into(),
        id: ClassifierId([features as u8; 8]),
        mean: row(-1.0, 1.0),
        scale: row(0.5, 2.0),
        weights: (0..outputs).map(|_| row(-0.5, 0.5)).collect(),
        bias: (0..outputs).map(|output| output as f32 * 0.1).collect(),
        alarm,
    })
    .unwrap();
    Image::new(Board::Mps2An386, model)
}

/// Vectors of features around the means, none of which is refused.
fn inputs(image: &Image, count: usize) -> Vec<Vec<f32>> {
    let mut random = Random(99);
    let n = image.model.parameters().mean.len();
    (0..count).map(|_| (0..n).map(|_| random.between(-6.0, 6.0)).collect()).collect()
}

/// Knuth's MMIX generator: any fixed sequence will do.
struct Random(u64);

impl Random {
    fn between(&mut self, low: f32, high: f32) -> f32 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        low + (high - low) * ((self.0 >> 40) as f32 / (1u32 << 24) as f32)
    }
}

/// An artifact at a multiple of 4 in memory.
#[derive(Clone)]
struct Aligned(Vec<u32>);

impl Aligned {
    fn bytes(&self) -> &[u8] {
        bytemuck::cast_slice(&self.0)
    }

    fn parse(&self) -> Artifact<'_> {
        Artifact::parse(self.bytes()).unwrap()
    }
}

/// 15 bins, whose probabilities rise from 0.02 to 0.98.
fn binary_artifact(classifier: Option<ClassifierId>) -> Aligned {
    artifact(Reduction::Binary, &[Some(15)], classifier)
}

/// Four classes of which the third is uncalibrated.
fn quaternary_artifact(classifier: Option<ClassifierId>) -> Aligned {
    artifact(Reduction::TopLabel, &[Some(5), Some(1), None, Some(9)], classifier)
}

fn artifact(reduction: Reduction, bins: &[Option<usize>], classifier: Option<ClassifierId>) -> Aligned {
    let mut random = Random(5);
    let contents: Vec<Option<(Vec<f32>, Vec<f32>)>> = bins
        .iter()
        .map(|bins| {
            let bins = (*bins)?;
            let edges: BTreeSet<u32> =
                (1..bins).map(|i| (i as f32 / bins as f32 + random.between(-0.02, 0.02)).to_bits()).collect();
            let values = (0..bins).map(|i| 0.02 + 0.96 * i as f32 / bins.max(2) as f32).collect();
            Some((edges.into_iter().map(f32::from_bits).collect(), values))
        })
        .collect();
    let tables: Vec<Option<Table<'_>>> = contents
        .iter()
        .map(|content| {
            let (edges, values) = content.as_ref()?;
            let form = TableForm::Steps(StepTable::new(edges, values).unwrap());
            Some(Table { form, epsilon: Some(0.07) })
        })
        .collect();
    let whole = bins.iter().all(Option::is_some);
    let header = Header {
        method: Method::Umd,
        reduction,
        encoding: ScoreEncoding::F32,
        classes: if reduction == Reduction::Binary { 2 } else { bins.len() as u16 },
        bins: bins.iter().flatten().sum::<usize>() as u32,
        n: 1000,
        guarantee: Some(Guarantee { theorem: Theorem::Gr21Theorem3, alpha: 0.1, epsilon: 0.07 }),
        flags: if whole { HeaderFlags::NONE } else { HeaderFlags::CLASS_UNCALIBRATED },
        provenance: Provenance { data_sha256: [3; 32], tool_version: "test", parameters: "", classifier },
    };
    let mut words = vec![0; 1024];
    let mut writer = ArtifactWriter::new(bytemuck::cast_slice_mut(&mut words));
    writer.header(&header).unwrap();
    writer.tables(&tables).unwrap();
    let len_bytes = writer.finish(|_| Identity(*b"identity")).unwrap().len();
    words.truncate(len_bytes / 4);
    Aligned(words)
}

fn values(values: &[f32]) -> Values {
    Values::from_slice(values).unwrap()
}

fn ask(device: &mut Emulator, body: RequestBody) -> ReplyBody {
    device.request(body).unwrap_or_else(|error| panic!("{error:#}"))
}

fn status(device: &mut Emulator) -> Status {
    match ask(device, RequestBody::Status) {
        ReplyBody::Status(status) => status,
        other => panic!("not a status: {other:?}"),
    }
}

fn prediction(reply: &ReplyBody) -> &Answer {
    match reply {
        ReplyBody::Answer(answer) => answer,
        other => panic!("not a prediction: {other:?}"),
    }
}

/// Equal in every bit, which `==` on floats does not say.
fn assert_same_bits(device: &Answer, top: TopLabel, outcome: Outcome, input: &str) {
    assert_eq!(device.class, top.class, "{input}");
    assert_eq!(device.score, ScoreEcho::F32(top.score), "{input}");
    assert_eq!(device.outcome, outcome, "{input}");
    if let (Outcome::Calibrated(device), Outcome::Calibrated(host)) = (device.outcome, outcome) {
        assert_eq!(device.prob.to_bits(), host.prob.to_bits(), "{input}");
        assert_eq!(device.epsilon.map(f32::to_bits), host.epsilon.map(f32::to_bits), "{input}");
    }
}

/// The device holds no calibrator for this reason, and says so in every way it can.
fn assert_uncalibrated(image: &Image, slot: Option<&[u8]>, missing: Missing, reason: Uncalibrated) {
    let mut device = image.start(slot);
    let status = status(&mut device);
    assert_eq!(status.calibrator, Err(missing));
    assert_eq!(status.classifier_id, image.model.id());
    assert_eq!(status.classifier.as_str(), image.model.name());

    let row = values(&inputs(image, 1)[0]);
    let classes = usize::from(status.classes);
    let mut requests = vec![RequestBody::predict(Scores::Features(row))];
    if status.classes == 2 {
        requests.extend([0.0, 0.5, 1.0].map(|scores| RequestBody::predict(Scores::Score(scores))));
    } else {
        requests.push(RequestBody::predict(Scores::Logits(values(&vec![1.0; classes]))));
        requests.push(RequestBody::predict(Scores::Probs(values(&vec![1.0 / classes as f32; classes]))));
    }
    let asked = requests.len();
    for reply in device.pipeline(requests).unwrap() {
        let prediction = prediction(&reply);
        assert_eq!(prediction.outcome, Outcome::Uncalibrated(reason));
        assert!(prediction.alarm, "the alarm is raised as long as nothing is calibrated");
    }
    let logs = device.logs().unwrap();
    let said = logs.iter().filter(|line| line.contains("uncalibrated")).count();
    assert_eq!(said, 1 + asked, "{logs:#?}");
    assert!(logs.iter().all(|line| !line.contains("prob ")), "{logs:#?}");
}

#[test]
fn a_blank_slot_is_no_calibrator() {
    let blank = Missing::Artifact(ParseError::Blank);
    assert_uncalibrated(binary(), None, blank, Uncalibrated::NoArtifact);
    assert_uncalibrated(binary(), Some(&[0xFF; SLOT_LEN]), blank, Uncalibrated::NoArtifact);
    assert_uncalibrated(quaternary(), None, blank, Uncalibrated::NoArtifact);
}

#[test]
fn a_damaged_artifact_is_no_calibrator() {
    let good = binary_artifact(Some(binary().model.id()));
    for bit in [0, 100, 8 * good.bytes().len() - 1] {
        let mut bad = good.bytes().to_vec();
        bad[bit / 8] ^= 1 << (bit % 8);
        let mut aligned = good.clone();
        bytemuck::cast_slice_mut::<u32, u8>(&mut aligned.0).copy_from_slice(&bad);
        let cause = Artifact::parse(aligned.bytes()).unwrap_err();
        assert_uncalibrated(binary(), Some(&bad), Missing::Artifact(cause), Uncalibrated::BadArtifact);
    }

    let mut dirty = vec![0xFF; SLOT_LEN];
    dirty[..good.bytes().len()].copy_from_slice(good.bytes());
    dirty[SLOT_LEN - 1] = 0;
    let cause = ParseError::TrailingBytes { offset: SLOT_LEN - 1 };
    assert_uncalibrated(binary(), Some(&dirty), Missing::Artifact(cause), Uncalibrated::BadArtifact);
}

#[test]
fn another_classifiers_artifact_is_no_calibrator() {
    let slots = [
        (binary(), binary_artifact(Some(OTHER)), Some(OTHER)),
        (binary(), quaternary_artifact(Some(binary().model.id())), Some(binary().model.id())),
        (quaternary(), binary_artifact(None), None),
    ];
    for (image, artifact, named) in slots {
        let missing = Missing::OtherClassifier(named);
        assert_uncalibrated(image, Some(artifact.bytes()), missing, Uncalibrated::OtherClassifier);
    }
}

#[test]
fn the_device_knows_its_calibrator() {
    let artifact = binary_artifact(Some(binary().model.id()));
    let mut slot = vec![0xFF; SLOT_LEN];
    slot[..artifact.bytes().len()].copy_from_slice(artifact.bytes());
    let mut device = binary().start(Some(&slot));
    let held = status(&mut device).calibrator.unwrap();
    let header = *artifact.parse().header();
    assert_eq!((held.identity, held.len_bytes as usize), (Identity(*b"identity"), artifact.bytes().len()));
    assert_eq!((held.method, held.reduction, held.bins), (header.method, header.reduction, 15));
    assert_eq!((held.n, held.guarantee), (header.n, header.guarantee));
    let logs = device.logs().unwrap();
    assert_eq!(logs.len(), 1, "{logs:#?}");
    for part in ["synthetic-binary", "15 bins", "n 1000", "0.07"] {
        assert!(logs[0].contains(part), "{logs:#?}");
    }
}

#[test]
fn a_binary_device_agrees_with_the_host_bit_for_bit() {
    let Image { model, .. } = binary();
    let artifact = binary_artifact(Some(model.id()));
    let Calibrator::Binary(calibrator) = artifact.parse().calibrator() else { panic!("not binary") };
    let edges = artifact.parse().tables().get(0).unwrap().form.edges().to_vec();
    let mut device = binary().start_fast(artifact.bytes());

    let mut scores: Vec<f32> = vec![0.0, f32::from_bits(1), 1.0f32.next_down(), 1.0];
    scores.extend(edges.iter().flat_map(|edge| [edge.next_down(), *edge, edge.next_up()]));
    let mut random = Random(17);
    scores.resize_with(scores.len() + random_inputs(10_000), || random.between(0.0, 1.0));
    let replies = device
        .pipeline(scores.iter().copied().map(|scores| RequestBody::predict(Scores::Score(scores))))
        .unwrap();
    assert_eq!(replies.len(), scores.len());
    let mut bins = BTreeSet::new();
    for (score, reply) in scores.iter().zip(&replies) {
        let top = TopLabel { class: 1, score: Score::new(*score).unwrap() };
        let Outcome::Calibrated(host) = calibrator.calibrate(top.score) else { panic!("{score}") };
        bins.insert(host.bin);
        assert_eq!(host.flags, BinFlags::NONE);
        let device = prediction(reply);
        assert_same_bits(device, top, Outcome::Calibrated(host), &format!("score {score}"));
        assert_eq!(device.alarm, host.prob >= 0.5, "score {score}");
    }
    assert_eq!(bins.len(), 15, "every bin was hit");

    let inputs = inputs(binary(), 500);
    let replies =
        device.pipeline(inputs.iter().map(|x| RequestBody::predict(Scores::Features(values(x))))).unwrap();
    for (input, reply) in inputs.iter().zip(&replies) {
        let top = TopLabel { class: 1, score: model.score(input).unwrap() };
        let host = calibrator.calibrate(top.score);
        assert_same_bits(prediction(reply), top, host, &format!("features {input:?}"));
    }
}

#[test]
fn a_multi_class_device_agrees_with_the_host_bit_for_bit() {
    let Image { model, .. } = quaternary();
    let artifact = quaternary_artifact(Some(model.id()));
    let Calibrator::TopLabel(calibrator) = artifact.parse().calibrator() else { panic!("not top-label") };
    let slot = Slot::read(artifact.bytes(), Anybody, model.id(), model.task());
    let mut device = quaternary().start_fast(artifact.bytes());

    let inputs = inputs(quaternary(), 500);
    let replies =
        device.pipeline(inputs.iter().map(|x| RequestBody::predict(Scores::Features(values(x))))).unwrap();
    let mut classes = BTreeSet::new();
    for (input, reply) in inputs.iter().zip(&replies) {
        let mut scratch = [0.0; MAX_VALUES];
        let features = Features::new(input, model.feature_count()).unwrap();
        let output = model.classify(features, &mut scratch).unwrap();
        let host = slot.calibrate(&output.into()).unwrap();
        classes.insert(host.class);
        let device = prediction(reply);
        let ScoreEcho::F32(score) = host.score else { panic!("not a float") };
        let top = TopLabel { class: host.class, score };
        assert_same_bits(device, top, host.outcome, &format!("features {input:?}"));
        let trusted = matches!(host.outcome, Outcome::Calibrated(calibrated) if calibrated.prob >= 0.6);
        assert_eq!(device.alarm, !trusted, "features {input:?}");
    }
    assert_eq!(classes.len(), 4, "every class was predicted");

    let logits: Vec<Vec<f32>> = inputs.iter().map(|input| model.logits(input).unwrap()).collect();
    let replies =
        device.pipeline(logits.iter().map(|z| RequestBody::predict(Scores::Logits(values(z))))).unwrap();
    for (logits, reply) in logits.iter().zip(&replies) {
        let checked = calib_core::Logits::new(logits).unwrap();
        let (top, host) = calibrator.calibrate_logits(checked).unwrap();
        assert_same_bits(prediction(reply), top, host, &format!("logits {logits:?}"));
    }

    // Every edge of every table, and one ulp to either side.
    let mut rows = Vec::new();
    for class in 0..4 {
        let Some(table) = artifact.parse().tables().get(class) else { continue };
        for edge in table.form.edges().iter().filter(|edge| **edge > 0.51) {
            for score in [edge.next_down(), *edge, edge.next_up()] {
                let mut row = [(1.0 - score) / 3.0; 4];
                row[class] = score;
                rows.push(row);
            }
        }
    }
    assert!(!rows.is_empty());
    let replies =
        device.pipeline(rows.iter().map(|row| RequestBody::predict(Scores::Probs(values(row))))).unwrap();
    for (row, reply) in rows.iter().zip(&replies) {
        let probs = calib_core::Probs::new(row).unwrap();
        let (top, host) = calibrator.calibrate_probs(probs).unwrap();
        assert_same_bits(prediction(reply), top, host, &format!("probabilities {row:?}"));
    }
}

#[test]
fn damaged_frames_are_dropped_and_good_ones_answered() {
    let artifact = binary_artifact(None);
    let mut device = binary().start(Some(artifact.bytes()));
    let expected = ask(&mut device, RequestBody::predict(Scores::Score(0.3)));

    let mut buf = [0; MAX_FRAME];
    let good =
        wire::encode(&Request { id: 7, body: RequestBody::predict(Scores::Score(0.9)) }, &mut buf).unwrap();
    let mut flipped = good.to_vec();
    flipped[2] ^= 0x08;
    let mut overlong = vec![1; 2 * MAX_FRAME];
    overlong.push(0);
    let cut = [&good[..good.len() / 2], &[0]].concat();
    for damage in [&b"\0\0"[..], b"hello\n\0", &flipped, &overlong, &cut] {
        device.send_bytes(damage).unwrap();
        assert_eq!(ask(&mut device, RequestBody::predict(Scores::Score(0.3))), expected);
    }
    let logs = device.logs().unwrap();
    let dropped = logs.iter().filter(|line| line.contains("frame dropped")).count();
    assert_eq!(dropped, 4, "{logs:#?}");
}

#[test]
fn what_cannot_be_answered_is_refused() {
    let artifact = binary_artifact(None);
    let mut device = binary().start(Some(artifact.bytes()));
    let mut features = inputs(binary(), 1).remove(0);
    let mut refused = |body| match ask(&mut device, body) {
        ReplyBody::Refused(refusal) => refusal,
        other => panic!("not refused: {other:?}"),
    };
    assert_eq!(refused(RequestBody::predict(Scores::Score(f32::NAN))), Refusal::Score(ScoreError::NaN));
    assert_eq!(
        refused(RequestBody::predict(Scores::Score(f32::INFINITY))),
        Refusal::Score(ScoreError::Infinite)
    );
    assert_eq!(
        refused(RequestBody::predict(Scores::Score(-0.1))),
        Refusal::Score(ScoreError::OutOfRange(-0.1))
    );
    assert_eq!(
        refused(RequestBody::predict(Scores::Logits(values(&[0.0, 1.0])))),
        Refusal::Kind { classes: 2 }
    );
    assert_eq!(
        refused(RequestBody::predict(Scores::Features(values(&features[1..])))),
        Refusal::FeatureCount { expected: 30, got: 29 }
    );
    assert_eq!(refused(RequestBody::Measure { features: values(&features), repeat: 0 }), Refusal::Measure);
    features[29] = f32::NAN;
    assert_eq!(refused(RequestBody::predict(Scores::Features(values(&features)))), Refusal::Feature(29));
}

#[test]
fn measurements_repeat_exactly() {
    let measure = |image: &Image, artifact: &Aligned| -> (Measurement, u32) {
        let mut device = image.start(Some(artifact.bytes()));
        let features = values(&inputs(image, 1)[0]);
        match ask(&mut device, RequestBody::Measure { features, repeat: 4096 }) {
            ReplyBody::Measurement(measurement) => (measurement, status(&mut device).stack_high_water_bytes),
            other => panic!("not a measurement: {other:?}"),
        }
    };
    for (image, artifact) in [(binary(), binary_artifact(None)), (quaternary(), quaternary_artifact(None))] {
        let (first, stack) = measure(image, &artifact);
        assert_eq!(measure(image, &artifact), (first, stack));
        assert!(first.empty_ticks < first.calibrate_ticks);
        assert!(first.empty_ticks < first.classify_ticks);
        // 25 MHz and a nanosecond per instruction: a tick is 40 instructions.
        let each = |ticks: u32| (ticks - first.empty_ticks) * 40 / u32::from(first.repeat);
        let size = image_size(&image.elf).unwrap();
        println!(
            "{}: {} instructions to classify, {} to calibrate; stack {stack} bytes, {size:?}",
            image.model.name(),
            each(first.classify_ticks),
            each(first.calibrate_ticks),
        );
        assert!((1..16 * 1024).contains(&stack), "{stack}");
        assert!(size.flash_bytes < 256 * 1024 && size.static_ram_bytes < 16 * 1024, "{size:?}");
    }
}
