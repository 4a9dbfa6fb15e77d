//! A message of every kind.

use calib_core::artifact::{
    GroupsError, Guarantee, KeyId, Method, MonitorAction, Reduction, SectionKind, TableFault, Theorem,
};
use calib_core::decision::{DecisionError, OperatingPointError, SetError, Verdict};
use calib_core::monitor::LogEvidence;
use calib_core::score::{CodeError, LogitsError, ProbsError};
use calib_core::slot::{Receipt, Refused, SignatureError, SlotContent, SlotFault, UnusableSlot};
use calib_core::wire::{
    ActionOnAlarm, Answer, Beside, CalibratorStatus, Chunk, Counters, CountersRefusal, Keys, KnownOutcomes,
    Measurement, Missing, Name, PROTOCOL_VERSION, Persistence, PredictionOutcome, Question, Questions,
    Raised, Ranked, RankedList, Refusal, Reply, ReplyBody, Request, RequestBody, ScoreEcho, Scores, Slots,
    Status, UpdateRefusal, UpdateStatus, Values, Watched,
};
use calib_core::{
    AlarmRule, BinFlags, Calibrated, ClassifierId, Identity, Margin, Outcome, ParseError, ProbInterval,
    Score, ScoreEncoding, ScoreError, Uncalibrated,
};

const ID: ClassifierId = ClassifierId(*b"thermo01");
const CONTENT: SlotContent =
    SlotContent { identity: Identity(*b"identity"), len_bytes: 188, counter: 4, sequence: 9 };
const RECEIPT: Receipt = Receipt { identity: Identity(*b"identity"), slot: 1, sequence: 9 };

/// Numbers the messages of one kind.
fn numbered<T>(kind: &str, bodies: Vec<T>) -> impl Iterator<Item = (String, T)> {
    bodies.into_iter().enumerate().map(move |(index, body)| (format!("{kind}-{index}"), body))
}

pub(crate) fn requests() -> Vec<(String, Request)> {
    let values: Values = [0.25, -1.5].into_iter().collect();
    let chunk: Chunk = [1, 2, 0, 255].into_iter().collect();
    let bodies = vec![
        RequestBody::Status,
        RequestBody::Measure { features: values, repeat: 300 },
        RequestBody::Slots,
        RequestBody::Announce { len_bytes: 188, crc: 0x0102_0304 },
        RequestBody::Chunk { offset: 256, bytes: chunk },
        RequestBody::Install,
    ];
    let bodies = bodies.into_iter().chain(questions()).chain(about_counters()).collect();
    numbered("request", bodies).map(|(name, body)| (name, Request { id: 7, body })).collect()
}

/// A question of every kind of scores, with and without a group and a word.
fn questions() -> Vec<RequestBody> {
    let values: Values = [0.25, -1.5].into_iter().collect();
    let keys: Keys = [200, 56, 0].into_iter().collect();
    let scores = [
        Scores::Features(values.clone()),
        Scores::Score(0.93),
        Scores::Margin(-2.5),
        Scores::Logits(values.clone()),
        Scores::Probs(values),
        Scores::Code(200),
        Scores::Codes(keys),
    ];
    let given = [(None, None), (Some(0), None), (Some(200), Some(0xDEAD_BEEF))];
    (0..)
        .zip(scores)
        .map(|(i, scores): (usize, _)| {
            let (group, word) = given[i % 3];
            RequestBody::Predict(Question { group, word, scores })
        })
        .collect()
}

/// What is asked of monitors.
fn about_counters() -> [RequestBody; 4] {
    let calibrator = Identity(*b"identity");
    let (group, class, bin) = (None, 1, 3);
    let told = PredictionOutcome { calibrator, group, class, bin, is_positive: true, known: 300 };
    [
        RequestBody::Counters { table: 2 },
        RequestBody::Outcome(told),
        RequestBody::Outcome(PredictionOutcome { group: Some(2), is_positive: false, ..told }),
        RequestBody::ResetCounters { calibrator },
    ]
}

fn counters() -> Vec<ReplyBody> {
    let watched = |evidence, raised| Watched {
        evidence: LogEvidence::from_units(evidence),
        alarm: LogEvidence::from_units(50_260_000),
        raised,
    };
    let known = |labeled, positives| KnownOutcomes { labeled, positives };
    let quiet = Counters {
        calibrator: Identity(*b"identity"),
        table: 0,
        tables: 1,
        predictions: [0, 300].into_iter().collect(),
        outcomes: [].into_iter().collect(),
        shift: watched(-1, None),
        change: watched(0, None),
        guarantee: None,
        is_full: false,
        persistence: Persistence::MemoryOnly,
        takes_outcomes: false,
        action: None,
    };
    let alarmed = Counters {
        table: 2,
        tables: 3,
        outcomes: [known(300, 299), known(0, 0), known(1, 1)].into_iter().collect(),
        shift: watched(50_260_000, Some(Raised::At(300))),
        change: watched(7, Some(Raised::By(1))),
        guarantee: Some(watched(-50_260_000, None)),
        is_full: true,
        persistence: Persistence::SavedExcept(64),
        takes_outcomes: true,
        action: Some(ActionOnAlarm { action: MonitorAction::Uncalibrated, is_done: true }),
        ..quiet.clone()
    };
    let failed = Counters { persistence: Persistence::Failed, ..quiet.clone() };
    let action = Some(ActionOnAlarm { action: MonitorAction::Alarm, is_done: false });
    let lost = Counters { persistence: Persistence::Lost(300), action, ..quiet.clone() };
    [quiet, alarmed, failed, lost].map(ReplyBody::Counters).to_vec()
}

fn answers() -> Vec<ReplyBody> {
    let (class, score) = (1, ScoreEcho::F32(Score::new(0.5).unwrap()));
    let outcome = Outcome::Uncalibrated(Uncalibrated::NoTable);
    let answer = |group, verdict, set: Option<&[u16]>| {
        let set = set.map(|classes| classes.iter().copied().collect());
        ReplyBody::Answer(Answer {
            group,
            verdict,
            set,
            ..Answer::new(Ranked { class, score, outcome }, true)
        })
    };
    vec![
        answer(None, None, None),
        answer(Some(1), Some(Verdict::Negative), None),
        answer(None, Some(Verdict::Refer), None),
        answer(Some(254), Some(Verdict::Positive), None),
        answer(None, None, Some(&[])),
        answer(None, None, Some(&[0, 31, 32, 127])),
    ]
}

pub(crate) fn replies() -> Vec<(String, Reply)> {
    let kinds = numbered("status", statuses())
        .chain(numbered("prediction", predictions()))
        .chain(numbered("refusal", refusals().into_iter().map(ReplyBody::Refused).collect()))
        .chain(numbered("slots", slots()))
        .chain(numbered("update", updates()))
        .chain(numbered("answer", answers()))
        .chain(numbered("counters", counters()));
    kinds.map(|(name, body)| (name, Reply { id: 0x0102_0304, body })).collect()
}

fn statuses() -> Vec<ReplyBody> {
    let fallback_from = Some(UnusableSlot { slot: 1, fault: SlotFault::Tail { offset: 300 } });
    let status = |alarm_rule, calibrator| {
        ReplyBody::Status(Status {
            protocol: PROTOCOL_VERSION,
            firmware: Name::try_from("0.1.0").unwrap(),
            classifier: Name::try_from("fever").unwrap(),
            classifier_id: ID,
            features: 30,
            classes: 2,
            alarm_rule,
            stack_high_water_bytes: 1234,
            calibrator,
            fallback_from: None,
            questions: Questions::All,
        })
    };
    let held = |method, reduction, guarantee, encoding| {
        let identity = Identity(*b"identity");
        let (counter, len_bytes, bins, n, actions) = (4, 188, 10, 5000, 3);
        Ok(CalibratorStatus {
            identity,
            counter,
            len_bytes,
            method,
            reduction,
            bins,
            n,
            guarantee,
            encoding,
            actions,
        })
    };
    let missing = |missing| status(AlarmRule::Below(0.5), Err(missing));
    let mut all = Vec::new();
    for (method, reduction) in methods() {
        let guarantee =
            theorems().get(all.len()).map(|&theorem| Guarantee { theorem, alpha: 0.1, epsilon: 0.05 });
        let encoding = encodings()[all.len() % 5];
        all.push(status(AlarmRule::AtLeast(0.5), held(method, reduction, guarantee, encoding)));
    }
    all.extend(parse_errors().into_iter().map(|error| missing(Missing::Artifact(error))));
    all.push(missing(Missing::OtherClassifier(None)));
    all.push(missing(Missing::OtherClassifier(Some(ID))));
    all.push(missing(Missing::Slots([SlotFault::Blank, SlotFault::Altered])));
    for encoding in [
        ScoreEncoding::I16 { scale: 0.25, zero_point: -300 },
        ScoreEncoding::Margin,
        ScoreEncoding::RoundedMargin,
    ] {
        all.push(status(AlarmRule::AtLeast(0.5), held(Method::Umd, Reduction::TopLabel, None, encoding)));
    }
    for (method, reduction) in
        [(Method::OperatingPoint, Reduction::Binary), (Method::PredictionSet, Reduction::Joint)]
    {
        all.push(status(AlarmRule::AtLeast(0.5), held(method, reduction, None, ScoreEncoding::F32)));
    }
    for error in [
        ParseError::Decision(DecisionError::Unsure),
        ParseError::OperatingPoints(OperatingPointError::Guarantee(1)),
        ParseError::PredictionSets(SetError::Threshold(300)),
        ParseError::Groups(GroupsError::Name(2)),
        ParseError::UnexpectedSection(SectionKind::PredictionSets),
        ParseError::UnexpectedSection(SectionKind::MonitorAction),
    ] {
        all.push(missing(Missing::Artifact(error)));
    }
    all.push(missing(Missing::Monitors));
    let ReplyBody::Status(plain) = all[0].clone() else { unreachable!("they are statuses") };
    let questions = Questions::NoTrials;
    all.push(ReplyBody::Status(Status { protocol: 300, fallback_from, questions, ..plain }));
    all
}

fn methods() -> Vec<(Method, Reduction)> {
    use Method as M;
    use Reduction as R;
    vec![
        (M::Umd, R::Binary),
        (M::Isotonic, R::TopLabel),
        (M::UmdOriginal, R::Confidence),
        (M::UmdRandomized, R::ClassWise),
        (M::Ums, R::Normalized),
        (M::FixedWidth, R::TopKLabel { k: 3 }),
        (M::IsotonicInterpolated, R::TopKConfidence { k: 4 }),
        (M::Irp, R::Joint),
        (M::ScalingBinning, R::Binary),
        (M::Platt, R::Binary),
        (M::Beta, R::Binary),
        (M::Temperature, R::Binary),
        (M::VennAbers, R::Binary),
        (M::VectorScaling, R::Joint),
        (M::MatrixScaling, R::Joint),
        (M::Dirichlet, R::Joint),
        (M::Sierpinski, R::Joint),
        (M::Grid, R::Joint),
        (M::Projection, R::Joint),
        (M::MulticlassIrp, R::Joint),
    ]
}

fn theorems() -> [Theorem; 7] {
    [
        Theorem::Gr21Theorem3,
        Theorem::Gr22Theorem1,
        Theorem::Gr21Corollary1,
        Theorem::Gr21Theorem4,
        Theorem::SampleSplit,
        Theorem::ClopperPearson,
        Theorem::Gr22Theorem2,
    ]
}

fn encodings() -> [ScoreEncoding; 5] {
    let (scale, zero_point) = (0.00390625, -128);
    [
        ScoreEncoding::F32,
        ScoreEncoding::U8 { scale, zero_point },
        ScoreEncoding::I8 { scale, zero_point },
        ScoreEncoding::U16 { scale, zero_point },
        ScoreEncoding::RoundedF32,
    ]
}

fn parse_errors() -> Vec<ParseError> {
    let faults = [
        TableFault::Count,
        TableFault::Extent,
        TableFault::Content,
        TableFault::Bins,
        TableFault::Missing,
        TableFault::Epsilon,
        TableFault::Flags,
        TableFault::Intervals,
        TableFault::Direct,
    ];
    let decisions = [
        DecisionError::Length,
        DecisionError::Actions,
        DecisionError::ThresholdRange(1),
        DecisionError::ThresholdOrder(2),
        DecisionError::Interval(3),
        DecisionError::Uncalibrated,
        DecisionError::Flags(4),
        DecisionError::Name(5),
        DecisionError::Reserved,
    ];
    let mut all = vec![
        ParseError::Blank,
        ParseError::Misaligned,
        ParseError::Magic,
        ParseError::FormatVersion(2),
        ParseError::Reserved,
        ParseError::Truncated { needed: 300, available: 200 },
        ParseError::TotalLength(7),
        ParseError::Crc { stored: 1, computed: u32::MAX },
        ParseError::Section(32),
        ParseError::SectionCount { stated: 2, found: 3 },
        ParseError::UnknownSection(99),
        ParseError::DuplicateSection(1),
        ParseError::MissingSection(SectionKind::Header),
        ParseError::Header,
        ParseError::TrailingBytes { offset: 188 },
        ParseError::UnexpectedSection(SectionKind::Signature),
    ];
    all.extend(faults.map(|fault| ParseError::Table { table: 5, fault }));
    all.extend(decisions.map(ParseError::Decision));
    all
}

fn predictions() -> Vec<ReplyBody> {
    let calibrated = |epsilon, flags, interval| {
        Outcome::Calibrated(Calibrated { prob: 0.75, bin: 300, epsilon, flags, interval })
    };
    let score = ScoreEcho::F32(Score::new(0.93).unwrap());
    let outcomes = [
        calibrated(None, BinFlags::NONE, None),
        calibrated(Some(0.05), BinFlags::EMPTY, Some(ProbInterval { lo: 0.5, hi: 0.875 })),
        Outcome::Uncalibrated(Uncalibrated::Class),
        Outcome::Uncalibrated(Uncalibrated::NoArtifact),
        Outcome::Uncalibrated(Uncalibrated::BadArtifact),
        Outcome::Uncalibrated(Uncalibrated::OtherClassifier),
    ];
    let top = |outcome| Answer::new(Ranked { class: 1, score, outcome }, true);
    let mut all: Vec<ReplyBody> = outcomes.map(|outcome| ReplyBody::Answer(top(outcome))).to_vec();
    let (word, action) = (Some(0xDEAD_BEEF), Some(2));
    let coded = Answer { score: ScoreEcho::Code(200), alarm: false, word, action, ..top(outcomes[1]) };
    all.push(ReplyBody::Answer(coded));
    let ranked: RankedList =
        outcomes[1..3].iter().map(|&outcome| Ranked { class: 5, score, outcome }).collect();
    let beside = Beside::Ranked(ranked);
    all.push(ReplyBody::Answer(Answer { word, action, beside, ..top(outcomes[1]) }));
    let beside = Beside::Probs([0.75, f32::NAN, 0.25].into_iter().collect());
    all.push(ReplyBody::Answer(Answer { beside, ..top(outcomes[1]) }));
    let (repeat, empty_ticks, classify_ticks, calibrate_ticks) = (300, 1, 70_000, 200);
    all.push(ReplyBody::Measurement(Measurement { repeat, empty_ticks, classify_ticks, calibrate_ticks }));
    for score in [ScoreEcho::Margin(Margin::new(-2.5).unwrap()), ScoreEcho::Top2Margin(300)] {
        all.push(ReplyBody::Answer(Answer { score, ..top(outcomes[1]) }));
    }
    let beside = Beside::Band(ProbInterval { lo: 0.625, hi: 0.9375 });
    all.push(ReplyBody::Answer(Answer { beside, ..top(outcomes[1]) }));
    all
}

fn refusals() -> Vec<Refusal> {
    vec![
        Refusal::FeatureCount { expected: 30, got: 2 },
        Refusal::Feature(3),
        Refusal::Score(ScoreError::NaN),
        Refusal::Score(ScoreError::Infinite),
        Refusal::Score(ScoreError::OutOfRange(1.5)),
        Refusal::Logits(LogitsError::ClassCount(1)),
        Refusal::Logits(LogitsError::NaN(2)),
        Refusal::Logits(LogitsError::Infinite(3)),
        Refusal::Probs(ProbsError::ClassCount(1)),
        Refusal::Probs(ProbsError::Score(2, ScoreError::NaN)),
        Refusal::Probs(ProbsError::Sum(1.5)),
        Refusal::Kind { classes: 10 },
        Refusal::Measure,
        Refusal::Encoding(encodings()[2]),
        Refusal::Code(CodeError::Encoding),
        Refusal::Code(CodeError::OutOfRange(-200)),
        Refusal::Update(UpdateRefusal::NotUpdatable),
        Refusal::Update(UpdateRefusal::TooLarge { len_bytes: 5000, max: 4032 }),
        Refusal::Update(UpdateRefusal::NotAnnounced),
        Refusal::Update(UpdateRefusal::Offset { expected: 70 }),
        Refusal::Update(UpdateRefusal::Incomplete { received: 70 }),
        Refusal::Update(UpdateRefusal::Crc),
        Refusal::Update(UpdateRefusal::Refused(Refused::Artifact(ParseError::Magic))),
        Refusal::Update(UpdateRefusal::Refused(Refused::Signature(SignatureError::Missing))),
        Refusal::Update(UpdateRefusal::Refused(Refused::Signature(SignatureError::OtherKey(KeyId([9; 8]))))),
        Refusal::Update(UpdateRefusal::Refused(Refused::Signature(SignatureError::Wrong))),
        Refusal::Update(UpdateRefusal::Refused(Refused::OtherClassifier(Some(ID)))),
        Refusal::Update(UpdateRefusal::Refused(Refused::OtherClassifier(None))),
        Refusal::Update(UpdateRefusal::Downgrade { held: 4, offered: 3 }),
        Refusal::Update(UpdateRefusal::Flash),
        Refusal::Update(UpdateRefusal::ReadBack { offset: 1000 }),
        Refusal::Update(UpdateRefusal::SequenceExhausted),
        Refusal::Update(UpdateRefusal::NoMark),
        Refusal::Update(UpdateRefusal::NoCounter),
        Refusal::Update(UpdateRefusal::SameCounter { counter: 4 }),
        Refusal::Update(UpdateRefusal::Reload),
        Refusal::Unknown,
        Refusal::SwitchedOff,
        Refusal::ClassScore,
        Refusal::Encoding(ScoreEncoding::Margin),
        Refusal::Group(3),
        Refusal::AllClasses,
        Refusal::Counters(CountersRefusal::NotBuilt),
        Refusal::Counters(CountersRefusal::NotMonitored),
        Refusal::Counters(CountersRefusal::Table { tables: 3 }),
        Refusal::Counters(CountersRefusal::Room { tables: 1, bins: 16 }),
        Refusal::Counters(CountersRefusal::OtherCalibrator(Identity(*b"identity"))),
        Refusal::Counters(CountersRefusal::Bin),
        Refusal::Counters(CountersRefusal::NoPrediction),
        Refusal::Counters(CountersRefusal::Known(300)),
        Refusal::Counters(CountersRefusal::Full),
        Refusal::Update(UpdateRefusal::Refused(Refused::Monitors)),
    ]
}

fn slots() -> Vec<ReplyBody> {
    let faults = [
        SlotFault::Blank,
        SlotFault::Uncommitted,
        SlotFault::Altered,
        SlotFault::Tail { offset: 300 },
        SlotFault::TooLarge { len_bytes: 5000 },
        SlotFault::Refused(Refused::OtherClassifier(None)),
        SlotFault::Flash,
    ];
    let empty = Slots {
        in_force: None,
        slots: [Err(SlotFault::Blank); 2],
        max_len_bytes: 4032,
        trusted_key: None,
        update: None,
    };
    let mut all: Vec<Slots> =
        faults.map(|fault| Slots { slots: [Err(fault), Ok(CONTENT)], ..empty }).to_vec();
    all.push(Slots { in_force: Some(1), trusted_key: Some(KeyId([9; 8])), ..all[0] });
    all.extend(progress().map(|update| Slots { update: Some(update), ..empty }));
    all.into_iter().map(ReplyBody::Slots).collect()
}

fn progress() -> [UpdateStatus; 3] {
    [
        UpdateStatus::Receiving { received: 70, len_bytes: 188 },
        UpdateStatus::Installing { done_bytes: 4096, total_bytes: 8000 },
        UpdateStatus::Installed(RECEIPT),
    ]
}

fn updates() -> Vec<ReplyBody> {
    progress().map(ReplyBody::Update).to_vec()
}
