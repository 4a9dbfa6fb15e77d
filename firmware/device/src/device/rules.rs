//! What a device does by thresholds, prediction sets and groups, from outside.

use std::vec::Vec;

use calib_core::artifact::{ArtifactWriter, Header, HeaderFlags, Method, Reduction, Table, TableForm};
use calib_core::decision::{
    Accuracy, AccuracyGuarantee, Conformity, OperatingParts, Quantile, Quantiles, SetParts, Threshold,
    Thresholds, Verdict,
};
use calib_core::score::CodeVector;
use calib_core::wire::{Answer, Question, Refusal, ReplyBody, RequestBody, Scores, Values};
use calib_core::{
    Anybody, ClassifierId, Logits, Margin, Outcome, QuantizedScore, ScoreEncoding, StepTable, Uncalibrated,
};
use embedded_hal_mock::eh1::digital::State;

use crate::testing::{
    Aligned, BINARY, ID, LOGITS, Quantized, SOFTMAX, TERNARY, ask, calibrated, device, header, values,
    write_by,
};
use crate::{Classifier, Features, Output, Scratch, Slot, Task};

const NO_CLASS: [u16; 0] = [];

fn asked(group: Option<u8>, scores: Scores) -> RequestBody {
    RequestBody::Predict(Question { group, word: None, scores })
}

fn answer<C: Classifier>(
    device: &mut crate::testing::Under<'_, C>,
    group: Option<u8>,
    scores: Scores,
) -> Answer {
    match ask(device, asked(group, scores)) {
        ReplyBody::Answer(answer) => answer,
        other => panic!("{other:?}"),
    }
}

/// Thresholds of two keys, or of one.
pub(super) fn thresholds(lower: u32, upper: u32) -> Thresholds {
    let at = |key, above| Threshold {
        key,
        positives: 60,
        positives_above: above,
        negatives: 60,
        negatives_above: above,
    };
    Thresholds { lower: at(lower, 59), upper: at(upper, if lower == upper { 59 } else { 9 }) }
}

pub(super) fn points(writer: &mut ArtifactWriter<'_>, groups: &[Thresholds], refer_raises: bool) {
    let guarantees = [AccuracyGuarantee {
        accuracy: Accuracy::Sensitivity,
        level: 0.95,
        confidence: 0.95,
        prevalence: None,
    }];
    writer.operating_points(&OperatingParts { groups, refer_raises, guarantees: &guarantees }).unwrap();
}

fn points_alone(encoding: ScoreEncoding, groups: &[Thresholds], refer_raises: bool) -> Aligned {
    let header =
        Header { method: Method::OperatingPoint, encoding, ..header(Reduction::Binary, 2, &[], Some(ID)) };
    write_by(&header, |writer| {
        points(writer, groups, refer_raises);
        if groups.len() > 1 {
            writer.groups(&["f", "m"]).unwrap();
        }
    })
}

#[test]
fn the_alarm_follows_the_thresholds() {
    for (refer_raises, middle) in [(true, State::High), (false, State::Low)] {
        let pair = thresholds(0.25f32.to_bits(), 0.75f32.to_bits());
        let slot = points_alone(ScoreEncoding::F32, &[pair], refer_raises);
        let mut device = device(&BINARY, slot.as_bytes(), &[State::Low, middle, State::High, State::Low]);
        for (score, verdict) in [(0.2, Verdict::Negative), (0.25, Verdict::Refer), (0.75, Verdict::Positive)]
        {
            let got = answer(&mut device, Some(7), Scores::Score(score));
            assert_eq!((got.verdict, got.group, got.set), (Some(verdict), None, None));
            assert_eq!(got.outcome, Outcome::Uncalibrated(Uncalibrated::NoTable));
            assert_eq!(got.alarm, verdict == Verdict::Positive || refer_raises && score == 0.25);
        }
        // Without a group it is the same.
        let reply = ask(&mut device, RequestBody::predict(Scores::Score(0.2)));
        assert!(matches!(reply, ReplyBody::Answer(Answer { alarm: false, action: None, .. })));
        device.alarm.free().done();
    }
}

#[test]
fn thresholds_are_of_margins_and_of_codes_too() {
    let key = |value| Margin::new(value).unwrap().key();
    let slot = points_alone(ScoreEncoding::Margin, &[thresholds(key(-1.5), key(-1.5))], true);
    let mut margins = device(&BINARY, slot.as_bytes(), &[State::Low, State::High, State::High]);
    for (margin, verdict) in [(-1.6, Verdict::Negative), (-1.5, Verdict::Positive)] {
        let answer = answer(&mut margins, None, Scores::Margin(margin));
        assert_eq!(answer.verdict, Some(verdict));
    }
    let refused = ask(&mut margins, asked(None, Scores::Score(0.5)));
    assert_eq!(refused, ReplyBody::Refused(Refusal::Encoding(ScoreEncoding::Margin)));
    margins.alarm.free().done();

    // The greatest code is not at or above "never".
    let slot = points_alone(SOFTMAX, &[thresholds(200, 256)], false);
    let mut codes = device(&BINARY, slot.as_bytes(), &[State::Low, State::Low, State::High]);
    for (key, verdict) in [(199, Verdict::Negative), (255, Verdict::Refer)] {
        assert_eq!(answer(&mut codes, None, Scores::Code(key)).verdict, Some(verdict));
    }
    let refused = ask(&mut codes, RequestBody::predict(Scores::Margin(0.0)));
    assert_eq!(refused, ReplyBody::Refused(Refusal::Encoding(SOFTMAX)));
    codes.alarm.free().done();
}

#[test]
fn each_group_has_its_own_thresholds_and_a_request_without_one_is_refused() {
    let own = [0.25f32, 0.75].map(|at| thresholds(at.to_bits(), at.to_bits()));
    let slot = points_alone(ScoreEncoding::F32, &own, true);
    let states = [State::High, State::Low, State::High, State::High, State::High];
    let mut device = device(&BINARY, slot.as_bytes(), &states);
    for (group, verdict) in [(0, Verdict::Positive), (1, Verdict::Negative)] {
        let answer = answer(&mut device, Some(group), Scores::Score(0.5));
        assert_eq!((answer.verdict, answer.group), (Some(verdict), Some(group)));
    }
    let refused = ReplyBody::Refused(Refusal::Group(2));
    assert_eq!(ask(&mut device, asked(Some(2), Scores::Score(0.0))), refused);
    assert_eq!(ask(&mut device, asked(None, Scores::Score(0.0))), refused);
    assert_eq!(ask(&mut device, RequestBody::predict(Scores::Score(0.0))), refused);
    device.alarm.free().done();
}

#[test]
fn each_group_has_its_own_tables_whichever_was_asked_for_before() {
    let steps = |values| TableForm::Steps(StepTable::new(&[0.5], values).unwrap());
    let table = |values| Some(Table { form: steps(values), epsilon: None });
    let tables = [table(&[0.125, 0.25]), table(&[0.75, 0.875])];
    let header = header(Reduction::Binary, 2, &tables, Some(ID));
    let slot = write_by(&Header { flags: HeaderFlags::GROUPED, ..header }, |writer| {
        writer.tables(&tables).unwrap();
        writer.groups(&["f", "m"]).unwrap();
    });
    let states = [State::High, State::Low, State::High, State::High, State::Low, State::High];
    let mut device = device(&BINARY, slot.as_bytes(), &states);
    for (group, prob) in [(1, 0.875), (0, 0.25), (1, 0.875)] {
        let answer = answer(&mut device, Some(group), Scores::Score(0.5));
        assert_eq!((calibrated(answer.outcome), answer.group), (prob, Some(group)));
    }
    assert_eq!(
        ask(&mut device, RequestBody::predict(Scores::Score(0.5))),
        ReplyBody::Refused(Refusal::Group(2))
    );
    // What the classifier makes of features is the same.
    let features = Scores::Features(values(&[-9.0, 0.0]));
    assert_eq!(calibrated(answer(&mut device, Some(0), features.clone()).outcome), 0.125);
    assert_eq!(calibrated(answer(&mut device, Some(1), features).outcome), 0.75);
    device.alarm.free().done();
}

fn sets_alone(encoding: ScoreEncoding, conformity: Conformity, key: u32) -> Aligned {
    let header =
        Header { method: Method::PredictionSet, encoding, ..header(Reduction::Joint, 3, &[], Some(ID)) };
    let quantiles = Quantiles::All(Quantile { rows: 60, key });
    let parts = SetParts { conformity, never_empty: false, alpha: 0.1, confidence: None, quantiles };
    write_by(&header, |writer| writer.prediction_sets(&parts).unwrap())
}

#[test]
fn only_a_class_alone_leaves_the_alarm_low() {
    let slot = sets_alone(ScoreEncoding::F32, Conformity::Margin, Margin::new(0.5).unwrap().key());
    let states = [State::Low, State::High, State::High];
    let mut strict = device(&TERNARY, slot.as_bytes(), &states);
    let logits = |row: &[f32]| Scores::Logits(values(row));
    let classes = |answer: Answer| answer.set.unwrap().classes().collect::<Vec<_>>();
    assert_eq!(classes(answer(&mut strict, None, logits(&[0.0, 9.0, 0.0]))), [1]);
    assert_eq!(classes(answer(&mut strict, None, logits(&[0.0, 1.0, 0.75]))), NO_CLASS);
    // Margins are of logits, not of probabilities.
    let refused = ask(&mut strict, RequestBody::predict(Scores::Probs(values(&[0.5, 0.25, 0.25]))));
    assert_eq!(refused, ReplyBody::Refused(Refusal::Encoding(ScoreEncoding::F32)));
    strict.alarm.free().done();

    let slot = sets_alone(ScoreEncoding::F32, Conformity::Score, 0.25f32.to_bits());
    let mut lax = device(&TERNARY, slot.as_bytes(), &[State::High, State::Low]);
    let probs = |row: &[f32]| Scores::Probs(values(row));
    let both = answer(&mut lax, None, probs(&[0.5, 0.25, 0.25]));
    assert_eq!((both.alarm, both.verdict), (true, None));
    assert_eq!(classes(both), [0, 1, 2]);
    assert_eq!(classes(answer(&mut lax, None, probs(&[0.0, 0.125, 0.875]))), [2]);
    lax.alarm.free().done();
}

/// A classifier of three classes that gives the codes of all.
struct AllCodes([u16; 3]);

impl Classifier for AllCodes {
    fn name(&self) -> &str {
        "codes"
    }

    fn id(&self) -> ClassifierId {
        ID
    }

    fn feature_count(&self) -> u16 {
        0
    }

    fn task(&self) -> Task {
        Task::TopLabel { classes: 3 }
    }

    fn classify<'s>(&self, _: Features<'_>, _: &'s mut Scratch) -> Result<Output<'s>, Refusal> {
        static KEYS: [u16; 3] = [10, 200, 199];
        assert_eq!(KEYS, self.0);
        Ok(Output::Codes(CodeVector::new(SOFTMAX, &KEYS).unwrap()))
    }
}

#[test]
fn sets_of_codes_take_the_codes_of_all_classes() {
    static ALL: AllCodes = AllCodes([10, 200, 199]);
    let slot = sets_alone(SOFTMAX, Conformity::Margin, Conformity::code_key(-1));
    let mut all = device(&ALL, slot.as_bytes(), &[State::High, State::Low]);
    let reply = answer(&mut all, None, Scores::Features(Values::new()));
    assert!(reply.set.unwrap().classes().eq([1, 2]));
    let keys = Scores::Codes([10, 200, 198].into_iter().collect());
    assert!(answer(&mut all, None, keys).set.unwrap().classes().eq([1]));
    all.alarm.free().done();

    let mut one = device(&Quantized, slot.as_bytes(), &[State::High]);
    let features = Scores::Features(values(&[1.0, 2.0, 3.0]));
    assert_eq!(ask(&mut one, asked(None, features)), ReplyBody::Refused(Refusal::AllClasses));
    one.alarm.free().done();
}

#[test]
fn sets_of_quantized_logits_are_of_codes_or_of_what_they_stand_for() {
    let keys = [10, 200, 190];
    let floats = keys.map(|key| QuantizedScore::from_key(LOGITS, key).unwrap().dequantized());
    let codes = CodeVector::new(LOGITS, &keys).unwrap();
    let output = Output::QuantizedLogits { codes, logits: Logits::new(&floats).unwrap() };
    let of_floats = sets_alone(ScoreEncoding::F32, Conformity::Margin, Margin::new(0.5).unwrap().key());
    let of_codes = |encoding| sets_alone(encoding, Conformity::Margin, Conformity::code_key(-10));
    let set = |artifact: &Aligned| {
        let slot = Slot::read(artifact.as_bytes(), Anybody, ID, Task::TopLabel { classes: 3 });
        slot.predict(&output.into()).map(|prediction| prediction.set.unwrap().classes().collect::<Vec<_>>())
    };
    assert_eq!(set(&of_floats), Ok(std::vec![1]));
    assert_eq!(set(&of_codes(LOGITS)), Ok(std::vec![1, 2]));
    assert_eq!(set(&of_codes(SOFTMAX)), Err(Refusal::Encoding(SOFTMAX)));
}
