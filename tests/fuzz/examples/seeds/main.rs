//! Writes the seed corpora: `cargo run --example seeds`, from `tests/fuzz`.

mod files;

use std::fs;
use std::path::{Path, PathBuf};

use calib_core::artifact::{
    Artifact, ArtifactWriter, Guarantee, Header, HeaderFlags, Method, MonitorAction, Provenance, Reduction,
    SectionKind, Table, TableForm, Theorem,
};
use calib_core::decision::{
    Accuracy, AccuracyGuarantee, Action, Conformity, DecisionParts, OperatingParts, Quantile, Quantiles,
    SetParts, Threshold, Thresholds,
};
use calib_core::monitor::LogEvidence;
use calib_core::slot::{Receipt, SlotContent, SlotFault, UnusableSlot};
use calib_core::table::{
    CodeTable, CompactTable, InterpolatedMarginTable, InterpolatedTable, MarginFunction, MarginScaling,
    MarginTable, MarginVennAbersTable, RandomizedMarginTable, RandomizedTable, Scaling, ScalingFunction,
    VennAbersTable,
};
use calib_core::vector::{
    CellScheme, CellTable, Joint, Projection, ScalingInput, ScalingShape, Sierpinski, SimplexGrid, SplitTree,
    VectorScaling,
};
use calib_core::wire::{
    self, ActionOnAlarm, Answer, Beside, CalibratorStatus, Counters, CountersRefusal, KnownOutcomes,
    Measurement, Missing, PROTOCOL_VERSION, Persistence, PredictionOutcome, Question, Questions, Raised,
    Ranked, Refusal, Reply, ReplyBody, Request, RequestBody, ScoreEcho, Scores, Slots, UpdateStatus, Watched,
};
use calib_core::{
    AlarmRule, BinFlags, Calibrated, ClassifierId, Identity, Margin, Outcome, ParseError, ProbInterval,
    Score, ScoreEncoding, StepTable, Uncalibrated,
};
use serde::Serialize;
use sha2::{Digest, Sha256};

fn main() {
    let artifacts = [
        ("binary", binary(Method::Umd, Some(0.25))),
        ("isotonic", binary(Method::Isotonic, None)),
        ("top_label", top_label()),
        ("compact", compact()),
        ("decision", decision()),
    ];
    for (name, bytes) in artifacts
        .into_iter()
        .chain(forms())
        .chain(margins())
        .chain(reductions())
        .chain(rules())
        .chain(joint())
    {
        write("parse", name, &bytes);
    }
    for (name, body) in requests() {
        write("frame", name, &payload(&Request { id: 7, body }));
    }
    for (name, body) in replies() {
        write("frame", name, &payload(&Reply { id: 7, body }));
    }
    // Flash of two slots of 512 bytes; bits 1 and 2 of the first byte make records and marks fit, bits 3 and 4 the
    // artifacts before them.
    let artifact = binary(Method::Isotonic, None);
    for (name, choice, erased) in [
        ("blank", 0u8, 0xFF),
        ("first", 2, 0xFF),
        ("both", 6, 0xFF),
        ("zeros", 7, 0x00),
        ("made", 0x1E, 0xFF),
    ] {
        let mut flash = vec![erased; 1024];
        for slot in (0..2).filter(|slot| choice & (2 << slot) != 0) {
            flash[512 * slot..][..artifact.len()].copy_from_slice(&artifact);
        }
        flash.insert(0, choice);
        write("boot", name, &flash);
    }
    // Requests as the target makes them: a kind, a length, and so many bytes.
    let len = artifact.len() as u8;
    let part = [&[len], &artifact[..]].concat();
    let update = [&[0], &part[..], &[2], &part[..], &[6, 0, 4, 1, 128].repeat(9), &[5, 0]].concat();
    write("serve", "update", &update);
    // The same in two chunks, the second of which says where it begins by its length; then again, to find it installed.
    let (first, second) = artifact.split_at(artifact.len() / 2);
    let halves = [&[0], &part[..], &[2, len / 2], first, &[3, len / 2], second].concat();
    let twice = [&halves[..], &[6, 0, 4, 1, 128].repeat(9), &halves, &[6, 0, 5, 0, 4, 1, 9]].concat();
    write("serve", "halves", &twice);
    write("serve", "status", &framed(&Request { id: 9, body: RequestBody::Status }));
    write("frame", "framed", &framed(&Request { id: 7, body: RequestBody::predict(Scores::Score(0.5)) }));
    for (name, bytes) in conversations() {
        write("replies", name, &bytes);
    }
    for (target, name, bytes) in files::all() {
        write(target, name, &bytes);
    }
}

fn write(target: &str, name: &str, bytes: &[u8]) {
    let folder: PathBuf = Path::new(env!("CARGO_MANIFEST_DIR")).join("seeds").join(target);
    fs::create_dir_all(&folder).unwrap();
    fs::write(folder.join(name), bytes).unwrap();
}

fn header(method: Method, reduction: Reduction) -> Header<'static> {
    Header {
        method,
        reduction,
        encoding: ScoreEncoding::F32,
        classes: 2,
        bins: 3,
        n: 300,
        guarantee: None,
        flags: HeaderFlags::NONE,
        provenance: Provenance {
            data_sha256: [0; 32],
            tool_version: "0.1.0",
            parameters: "",
            classifier: None,
        },
    }
}

fn guarantee(theorem: Theorem) -> Option<Guarantee> {
    Some(Guarantee { theorem, alpha: 0.1, epsilon: 0.25 })
}

fn binary(method: Method, epsilon: Option<f32>) -> Vec<u8> {
    let mut header = header(method, Reduction::Binary);
    header.guarantee = epsilon.and_then(|_| guarantee(Theorem::Gr21Theorem3));
    header.provenance.classifier = Some(ClassifierId([7; 8]));
    let steps = StepTable::new(&[0.25, 0.75], &[0.1, 0.5, 0.9]).unwrap();
    artifact(&header, &[Some(Table { form: TableForm::Steps(steps), epsilon })], &[])
}

/// Two bins and three actions.
fn decision() -> Vec<u8> {
    let mut header = header(Method::Isotonic, Reduction::Binary);
    header.bins = 2;
    let steps = StepTable::new(&[0.5], &[0.1, 0.9]).unwrap();
    let action = |name, alarm, abstain| Action { name, alarm, abstain, if_sure: None };
    let actions = [action("wait", false, false), action("ask", false, true), action("act", true, false)];
    let mut buf = [0; 1024];
    let mut writer = ArtifactWriter::new(&mut buf);
    writer.header(&header).unwrap();
    writer.tables(&[Some(Table { form: TableForm::Steps(steps), epsilon: None })]).unwrap();
    let parts = DecisionParts {
        thresholds: &[0.1, 0.5],
        intervals: &[0, 1, 2],
        uncalibrated: 1,
        unsure: None,
        actions: &actions,
    };
    writer.decision(&parts).unwrap();
    finish(writer)
}

/// Thresholds, sets and groups, alone and beside tables.
fn rules() -> Vec<(&'static str, Vec<u8>)> {
    let at = |key, above| Threshold {
        key,
        positives: 60,
        positives_above: above,
        negatives: 60,
        negatives_above: above,
    };
    let pair = |lower, upper| Thresholds { lower: at(lower, 59), upper: at(upper, 9) };
    let guarantees = [AccuracyGuarantee {
        accuracy: Accuracy::Sensitivity,
        level: 0.95,
        confidence: 0.9,
        prevalence: None,
    }];
    let quantiles = Quantiles::ByClass(&[Quantile { rows: 9, key: 65_530 }; 3]);
    let sets = SetParts {
        conformity: Conformity::Margin,
        never_empty: true,
        alpha: 0.1,
        confidence: None,
        quantiles,
    };
    let codes = ScoreEncoding::I8 { scale: 1.0 / 256.0, zero_point: -128 };
    let steps = StepTable::new(&[0.5], &[0.4, 0.8]).unwrap();
    let table = Some(Table { form: TableForm::Steps(steps), epsilon: None });
    let write = |header: &Header<'_>, fill: &dyn Fn(&mut ArtifactWriter<'_>)| {
        let mut buf = [0; 1024];
        let mut writer = ArtifactWriter::new(&mut buf);
        writer.header(header).unwrap();
        fill(&mut writer);
        finish(writer)
    };
    let alone = |method, reduction, encoding| Header { encoding, bins: 0, ..header(method, reduction) };
    let of_groups = |writer: &mut ArtifactWriter<'_>| {
        let groups = [pair(0x3E80_0000, 0x3F00_0000), pair(1, 0x3F80_0001)];
        writer
            .operating_points(&OperatingParts {
                groups: &groups,
                refer_raises: true,
                guarantees: &guarantees,
            })
            .unwrap();
        writer.groups(&["f", "m"]).unwrap();
    };
    let grouped =
        Header { flags: HeaderFlags::GROUPED, bins: 4, ..header(Method::Isotonic, Reduction::Binary) };
    let of_codes = Header { classes: 3, ..alone(Method::PredictionSet, Reduction::Joint, codes) };
    vec![
        ("points", write(&alone(Method::OperatingPoint, Reduction::Binary, ScoreEncoding::F32), &of_groups)),
        (
            "points_of_codes",
            write(&alone(Method::OperatingPoint, Reduction::Binary, codes), &|writer| {
                let groups = [pair(100, 256)];
                let parts = OperatingParts { groups: &groups, refer_raises: false, guarantees: &guarantees };
                writer.operating_points(&parts).unwrap();
            }),
        ),
        ("sets", write(&of_codes, &|writer| writer.prediction_sets(&sets).unwrap())),
        (
            "groups",
            write(&grouped, &|writer| {
                writer.tables(&[table, table]).unwrap();
                of_groups(writer);
            }),
        ),
    ]
}

/// Three classes, the second uncalibrated, with an empty bin and a section of the future.
fn top_label() -> Vec<u8> {
    let mut header = header(Method::Umd, Reduction::TopLabel);
    header.classes = 3;
    header.guarantee = guarantee(Theorem::Gr22Theorem1);
    header.flags = HeaderFlags::CLASS_UNCALIBRATED;
    let two = StepTable::new(&[0.5], &[0.4, 0.8]).unwrap();
    let one = StepTable::new(&[], &[1.0]).unwrap();
    let table = |steps, epsilon| Some(Table { form: TableForm::Steps(steps), epsilon });
    let tables = [table(two, Some(0.25)), None, table(one, None)];
    artifact(&header, &tables, &[(SectionKind::BinFlags as u16, &[0, 1, 0]), (99, b"later")])
}

/// One artifact of every other reduction, of three classes or two ranks.
fn reductions() -> Vec<(&'static str, Vec<u8>)> {
    let steps = StepTable::new(&[0.5], &[0.4, 0.8]).unwrap();
    let table = Some(Table { form: TableForm::Steps(steps), epsilon: None });
    [
        ("confidence", Reduction::Confidence),
        ("class_wise", Reduction::ClassWise),
        ("normalized", Reduction::Normalized),
        ("top_k_label", Reduction::TopKLabel { k: 2 }),
        ("top_k_confidence", Reduction::TopKConfidence { k: 2 }),
    ]
    .map(|(name, reduction)| {
        let tables = vec![table; reduction.tables(3).unwrap()];
        let mut header = header(Method::Umd, reduction);
        header.classes = 3;
        header.bins = 2 * tables.len() as u32;
        (name, artifact(&header, &tables, &[]))
    })
    .into()
}

/// Two classes in 16-bit numbers.
fn compact() -> Vec<u8> {
    let encoding = ScoreEncoding::RoundedF32;
    let steps = CompactTable::new(&[1 << 15], &[1 << 13, 1 << 15], encoding).unwrap();
    let table = Some(Table { form: TableForm::Compact(steps), epsilon: None });
    let mut header = header(Method::Umd, Reduction::ClassWise);
    (header.encoding, header.flags, header.bins) = (encoding, HeaderFlags::COMPACT, 4);
    artifact(&header, &[table; 2], &[])
}

/// One artifact of every other form.
fn forms() -> Vec<(&'static str, Vec<u8>)> {
    let encoding = ScoreEncoding::I8 { scale: 1.0 / 256.0, zero_point: -128 };
    let randomized = RandomizedTable::new(&[0.5, 0.5], &[1 << 30, 1 << 31], &[0.1, 0.5, 0.9]).unwrap();
    let (x, y) = ([0.25, 0.5, 0.75], [0.1, 0.3, 0.9]);
    let slopes: Vec<f32> = InterpolatedTable::slopes_between(&x, &y).collect();
    let interpolated = InterpolatedTable::new(&x, &y, &slopes).unwrap();
    let venn_abers = VennAbersTable::new(&[0.5], &[0.1, 0.6], &[0.3, 0.8]).unwrap();
    let steps = StepTable::new(&[0.5], &[0.25, 0.75]).unwrap();
    let codes = CodeTable::new(&[64, 192], &[0.1, 0.5, 0.9], encoding).unwrap();
    let clip = 1e-6;
    let scaling = |parameters| TableForm::Scaling(ScalingFunction::new(parameters).unwrap());
    [
        ("randomized", Method::UmdRandomized, TableForm::Randomized(randomized)),
        ("interpolated", Method::IsotonicInterpolated, TableForm::Interpolated(interpolated)),
        ("platt_logit", Method::Platt, scaling(Scaling::PlattLogit { a: 0.8, b: -0.1, clip })),
        ("platt_prob", Method::Platt, scaling(Scaling::PlattProb { a: 6.0, b: -3.0 })),
        ("beta", Method::Beta, scaling(Scaling::Beta { a: 0.8, b: 1.2, c: 0.1, clip })),
        ("temperature", Method::Temperature, scaling(Scaling::Temperature { inverse_t: 0.5, clip })),
        ("quadratic", Method::Quadratic, scaling(Scaling::Quadratic { a: 0.05, b: 0.9, c: -0.2, clip })),
        ("none", Method::Unchanged, scaling(Scaling::Unchanged)),
        ("venn_abers", Method::VennAbers, TableForm::VennAbers(venn_abers)),
        ("intervals", Method::FixedWidth, TableForm::Steps(steps)),
        ("codes", Method::Ums, TableForm::Codes(codes)),
    ]
    .map(|(name, method, form)| (name, form_artifact(method, form, encoding)))
    .into()
}

/// One artifact of margins in every form, and by the top-two margin of the predicted one of three classes: of floats and of codes.
fn margins() -> Vec<(&'static str, Vec<u8>)> {
    let steps = MarginTable::new(&[-2.5, 0.0, 3.0], &[0.1, 0.3, 0.6, 0.9]).unwrap();
    let randomized =
        RandomizedMarginTable::new(&[-1.0, -1.0], &[1 << 30, 1 << 31], &[0.1, 0.5, 0.9]).unwrap();
    let (x, y) = ([-1.5, 0.0, 2.0], [0.1, 0.3, 0.9]);
    let slopes: Vec<f32> = InterpolatedMarginTable::slopes_between(&x, &y).collect();
    let interpolated = InterpolatedMarginTable::new(&x, &y, &slopes).unwrap();
    let venn_abers = MarginVennAbersTable::new(&[-0.5], &[0.1, 0.6], &[0.3, 0.8]).unwrap();
    let platt = MarginFunction::new(MarginScaling::Platt { a: 1.5, b: -0.5 }).unwrap();
    let compact = CompactTable::new(&[1 << 15], &[1 << 13, 1 << 15], ScoreEncoding::RoundedMargin).unwrap();
    let logits = ScoreEncoding::I8 { scale: 0.25, zero_point: 10 };
    let top2_margins = CodeTable::new(&[1, 40], &[0.1, 0.5, 0.9], logits).unwrap();
    let (binary, float) = (Reduction::Binary, ScoreEncoding::Margin);
    [
        ("margin_steps", Method::Umd, binary, float, TableForm::MarginSteps(steps)),
        ("margin_randomized", Method::UmdRandomized, binary, float, TableForm::MarginRandomized(randomized)),
        (
            "margin_knots",
            Method::IsotonicInterpolated,
            binary,
            float,
            TableForm::MarginInterpolated(interpolated),
        ),
        ("margin_venn_abers", Method::VennAbers, binary, float, TableForm::MarginVennAbers(venn_abers)),
        ("margin_platt", Method::Platt, binary, float, TableForm::MarginScaling(platt)),
        ("margin_compact", Method::Umd, binary, ScoreEncoding::RoundedMargin, TableForm::Compact(compact)),
        ("top2_margin_of_logits", Method::Umd, Reduction::Confidence, float, TableForm::MarginSteps(steps)),
        ("top2_margin_of_codes", Method::Umd, Reduction::TopLabel, logits, TableForm::Codes(top2_margins)),
    ]
    .map(|(name, method, reduction, encoding, form)| {
        let mut header = header(method, reduction);
        header.encoding = encoding;
        if reduction != binary {
            (header.classes, header.flags) = (3, HeaderFlags::TOP2_MARGIN);
        }
        if matches!(form, TableForm::Compact(_)) {
            header.flags = HeaderFlags::COMPACT;
        }
        let tables = vec![Some(Table { form, epsilon: None }); reduction.tables(header.classes).unwrap()];
        header.bins = (form.bins() * tables.len()) as u32;
        (name, artifact(&header, &tables, &[]))
    })
    .into()
}

/// One artifact of every calibrator of whole vectors, of three classes.
fn joint() -> Vec<(&'static str, Vec<u8>)> {
    let log_probs = ScalingInput::LogProbs { clip: 1e-6 };
    let scaling = |input, shape| Joint::Scaled(VectorScaling::new(3, input, shape).unwrap());
    let weights = [1.0, 0.1, 0.0, 0.0, 0.9, 0.1, 0.0, 0.0, 0.9];
    let intercepts = [0.1, -0.1, 0.0];
    let nodes = [1 << 28, 0, 0, SplitTree::LEAF, SplitTree::LEAF | 1, SplitTree::LEAF | 2];
    let directions = [-1.0, 0.0, 0.0, 0.0, -1.0, 0.0];
    let values: Vec<f32> = [0.5, 0.25, 0.25].repeat(4);
    let tree = SplitTree::new(3, &nodes).unwrap();
    let projection = Projection::new(3, &directions, &[-0.75, -0.5]).unwrap();
    let binned = |scheme, cells: usize| Joint::Binned(CellTable::new(scheme, &values[..3 * cells]).unwrap());
    let sierpinski = CellScheme::Sierpinski(Sierpinski::new(3, 1).unwrap());
    let grid = CellScheme::Grid(SimplexGrid::new(3, 2).unwrap());
    [
        (
            "joint_temperature",
            Method::Temperature,
            scaling(ScalingInput::Logits, ScalingShape::Temperature { inverse_t: 0.5 }),
        ),
        (
            "vector",
            Method::VectorScaling,
            scaling(
                ScalingInput::Logits,
                ScalingShape::Vector { weights: &weights[..3], intercepts: &intercepts },
            ),
        ),
        (
            "dirichlet",
            Method::Dirichlet,
            scaling(log_probs, ScalingShape::Matrix { weights: &weights, intercepts: &intercepts }),
        ),
        ("sierpinski", Method::Sierpinski, binned(sierpinski, 4)),
        ("grid", Method::Grid, binned(grid, 4)),
        ("projection", Method::Projection, binned(CellScheme::Projection(projection), 3)),
        ("multiclass_irp", Method::MulticlassIrp, binned(CellScheme::SplitTree(tree), 3)),
    ]
    .map(|(name, method, calibrator)| {
        let mut header = header(method, Reduction::Joint);
        header.classes = 3;
        header.bins = match calibrator {
            Joint::Binned(table) => table.scheme().cells() as u32,
            Joint::Scaled(_) => 0,
        };
        let mut buf = [0; 1024];
        let mut writer = ArtifactWriter::new(&mut buf);
        writer.header(&header).unwrap();
        writer.joint(&calibrator).unwrap();
        if header.bins == 4 {
            writer.bin_flags(&[BinFlags::NONE, BinFlags::EMPTY, BinFlags::NONE, BinFlags::NONE]).unwrap();
        }
        (name, finish(writer))
    })
    .into()
}

fn form_artifact(method: Method, form: TableForm<'_>, codes: ScoreEncoding) -> Vec<u8> {
    let mut header = header(method, Reduction::Binary);
    header.bins = form.bins() as u32;
    let over_codes = matches!(form, TableForm::Codes(_));
    if over_codes {
        header.encoding = codes;
    }
    let theorem = match method {
        Method::UmdRandomized => Some(Theorem::Gr21Theorem4),
        Method::FixedWidth => Some(Theorem::ClopperPearson),
        Method::Ums => Some(Theorem::SampleSplit),
        _ => None,
    };
    header.guarantee = theorem.and_then(guarantee);
    let tables = [Some(Table { form, epsilon: header.guarantee.map(|guarantee| guarantee.epsilon) })];
    let mut buf = [0; 1024];
    let mut writer = ArtifactWriter::new(&mut buf);
    writer.header(&header).unwrap();
    writer.tables(&tables).unwrap();
    if over_codes {
        writer.direct_table(&tables).unwrap();
    }
    if method == Method::FixedWidth {
        writer.bin_flags(&[BinFlags::NONE, BinFlags::EMPTY]).unwrap();
        writer.intervals(&[Some(&[ProbInterval::new(0.1, 0.4), None])]).unwrap();
    }
    finish(writer)
}

fn finish(writer: ArtifactWriter<'_>) -> Vec<u8> {
    writer.finish(|sections| Identity(Sha256::digest(sections)[..8].try_into().unwrap())).unwrap().to_vec()
}

fn artifact(header: &Header<'_>, tables: &[Option<Table<'_>>], more: &[(u16, &[u8])]) -> Vec<u8> {
    let mut buf = [0; 1024];
    let mut writer = ArtifactWriter::new(&mut buf);
    writer.header(header).unwrap();
    writer.tables(tables).unwrap();
    for &(kind, payload) in more {
        writer.section(kind, false, payload).unwrap();
    }
    finish(writer)
}

fn requests() -> Vec<(&'static str, RequestBody)> {
    let values = || [0.25, 0.5, 0.25].into_iter().collect();
    vec![
        ("request_status", RequestBody::Status),
        ("request_classify", RequestBody::predict(Scores::Features(values()))),
        ("request_score", RequestBody::predict(Scores::Score(0.5))),
        ("request_logits", RequestBody::predict(Scores::Logits(values()))),
        ("request_probs", RequestBody::predict(Scores::Probs(values()))),
        ("request_measure", RequestBody::Measure { features: values(), repeat: 100 }),
        (
            "request_score_with_word",
            RequestBody::Predict(Question { group: None, word: Some(1 << 31), scores: Scores::Score(0.5) }),
        ),
        ("request_code", RequestBody::predict(Scores::Code(200))),
        ("request_codes", RequestBody::predict(Scores::Codes([200, 56, 0].into_iter().collect()))),
        ("request_margin", RequestBody::predict(Scores::Margin(-2.5))),
        (
            "request_margin_with_word",
            RequestBody::Predict(Question { group: None, word: Some(1 << 31), scores: Scores::Margin(-2.5) }),
        ),
        ("request_ask", ask(None, Scores::Logits(values()))),
        ("request_counters", RequestBody::Counters { table: 2 }),
        ("request_outcome", RequestBody::Outcome(outcome())),
        ("request_reset_counters", RequestBody::ResetCounters { calibrator: Identity(*b"identity") }),
        ("request_ask_group", ask(Some(1), Scores::Codes([200, 56, 0].into_iter().collect()))),
    ]
}

fn outcome() -> PredictionOutcome {
    let calibrator = Identity(*b"identity");
    PredictionOutcome { calibrator, group: None, class: 1, bin: 3, is_positive: true, known: 300 }
}

/// Monitors of which one has raised its alarm.
fn counters() -> Counters {
    let watched = |evidence, raised| Watched {
        evidence: LogEvidence::from_units(evidence),
        alarm: LogEvidence::from_units(50_260_000),
        raised,
    };
    let known = |labeled, positives| KnownOutcomes { labeled, positives };
    Counters {
        calibrator: Identity(*b"identity"),
        table: 2,
        tables: 3,
        predictions: [0, 300].into_iter().collect(),
        outcomes: [known(300, 299), known(0, 0), known(1, 1)].into_iter().collect(),
        shift: watched(50_260_000, Some(Raised::At(300))),
        change: watched(7, Some(Raised::By(1))),
        guarantee: Some(watched(-50_260_000, None)),
        is_full: true,
        persistence: Persistence::SavedExcept(64),
        takes_outcomes: true,
        action: Some(ActionOnAlarm { action: MonitorAction::Alarm, is_done: true }),
    }
}

fn ask(group: Option<u8>, scores: Scores) -> RequestBody {
    RequestBody::Predict(Question { group, word: Some(1 << 31), scores })
}

fn replies() -> Vec<(&'static str, ReplyBody)> {
    let interval = ProbInterval::new(0.7, 0.8);
    let calibrated = Calibrated { prob: 0.75, bin: 2, epsilon: Some(0.1), flags: BinFlags::NONE, interval };
    let score = ScoreEcho::F32(Score::new(0.9).unwrap());
    let predicted = |score, outcome, word| {
        ReplyBody::Answer(Answer { word, ..Answer::new(Ranked { class: 1, score, outcome }, true) })
    };
    let outcome = Outcome::Calibrated(calibrated);
    let top = Answer::new(Ranked { class: 1, score, outcome }, true);
    let decided = Answer { action: Some(2), ..top.clone() };
    let prediction = |outcome| predicted(score, outcome, None);
    let status = |calibrator| {
        ReplyBody::Status(wire::Status {
            protocol: PROTOCOL_VERSION,
            firmware: "0.1.0".try_into().unwrap(),
            classifier: "wdbc".try_into().unwrap(),
            classifier_id: ClassifierId([7; 8]),
            features: 30,
            classes: 2,
            alarm_rule: AlarmRule::AtLeast(0.5),
            stack_high_water_bytes: 2048,
            calibrator,
            fallback_from: Some(UnusableSlot { slot: 1, fault: SlotFault::Altered }),
            questions: Questions::NoTrials,
        })
    };
    let calibrator = CalibratorStatus {
        identity: Identity([9; 8]),
        counter: 3,
        len_bytes: 160,
        method: Method::Umd,
        reduction: Reduction::Binary,
        bins: 3,
        n: 300,
        guarantee: guarantee(Theorem::Gr21Theorem3),
        encoding: ScoreEncoding::F32,
        actions: 3,
    };
    let crc = ParseError::Crc { stored: 1, computed: 2 };
    let probs = Beside::Probs([0.25, 0.75, f32::NAN].into_iter().collect());
    let ranked = Beside::Ranked([2, 0].map(|class| Ranked { class, score, outcome }).into_iter().collect());
    vec![
        ("reply_classes", ReplyBody::Answer(Answer { beside: probs, ..top.clone() })),
        ("reply_band", ReplyBody::Answer(Answer { beside: Beside::Band(interval.unwrap()), ..top.clone() })),
        ("reply_top_k", ReplyBody::Answer(Answer { beside: ranked, word: Some(7), ..top })),
        ("reply_prediction", prediction(Outcome::Calibrated(calibrated))),
        ("reply_counters", ReplyBody::Counters(counters())),
        ("reply_counters_refused", ReplyBody::Refused(Refusal::Counters(CountersRefusal::Known(300)))),
        ("reply_with_word", predicted(score, Outcome::Calibrated(calibrated), Some(1 << 31))),
        ("reply_decided", ReplyBody::Answer(decided)),
        ("reply_code", predicted(ScoreEcho::Code(200), Outcome::Calibrated(calibrated), None)),
        ("reply_margin", predicted(ScoreEcho::Margin(Margin::new(-2.5).unwrap()), outcome, None)),
        ("reply_top2_margin", predicted(ScoreEcho::Top2Margin(40), outcome, None)),
        ("reply_uncalibrated", prediction(Outcome::Uncalibrated(Uncalibrated::Class))),
        ("reply_status", status(Ok(calibrator))),
        ("reply_damaged", status(Err(Missing::Artifact(crc)))),
        (
            "reply_measurement",
            ReplyBody::Measurement(Measurement {
                repeat: 100,
                empty_ticks: 1,
                classify_ticks: 2,
                calibrate_ticks: 3,
            }),
        ),
        ("reply_refused", ReplyBody::Refused(Refusal::FeatureCount { expected: 30, got: 3 })),
    ]
}

/// What a device says, as the target makes frames of it: what is asked, and then parts of a kind, a length, and so many bytes.
fn conversations() -> Vec<(&'static str, Vec<u8>)> {
    let part = |kind: u8, bytes: &[u8]| [&[kind, bytes.len() as u8], bytes].concat();
    // The target puts the number in front.
    let body = |body: ReplyBody| payload(&Reply { id: 7, body })[1..].to_vec();
    let answer = |of: ReplyBody| part(0, &body(of));
    let (artifact, update) = (binary(Method::Umd, Some(0.25)), ReplyBody::Update);
    let total = artifact.len() as u32;
    let identity = Artifact::parse(&artifact).unwrap().identity();
    let content = SlotContent { identity, len_bytes: total, counter: 0, sequence: 1 };
    let slots = |in_force: Option<u8>| {
        let held = in_force.map_or(Err(SlotFault::Blank), |_| Ok(content));
        let slots = [held, Err(SlotFault::Blank)];
        answer(ReplyBody::Slots(Slots {
            in_force,
            slots,
            max_len_bytes: 512,
            trusted_key: None,
            update: None,
        }))
    };
    let receiving = |received| answer(update(UpdateStatus::Receiving { received, len_bytes: total }));
    let installing = |done_bytes| answer(update(UpdateStatus::Installing { done_bytes, total_bytes: 512 }));
    let installed = answer(update(UpdateStatus::Installed(Receipt { identity, slot: 0, sequence: 1 })));
    let pushed =
        [slots(None), receiving(0), receiving(total), installing(256), installed, slots(Some(0))].concat();
    let told = |name: &str| body(replies().into_iter().find(|(reply, _)| *reply == name).unwrap().1);
    let (status, prediction) = (told("reply_status"), told("reply_prediction"));
    let late = [part(1, &prediction), part(2, &prediction), part(3, b"boot"), part(0, &status)].concat();
    let all: Vec<u8> = replies().into_iter().flat_map(|(_, body)| framed(&Reply { id: 7, body })).collect();
    vec![
        ("answers", [&[0], &late[..], &slots(Some(0)), &part(0, &prediction)].concat()),
        ("refused", [&[0], &part(0, &told("reply_refused"))[..], &part(0, &[99, 1])].concat()),
        ("status", [&[1], &part(0, &status)[..]].concat()),
        ("unknown", [&[1], &answer(ReplyBody::Refused(Refusal::Unknown))[..]].concat()),
        ("pushed", [&[2], &pushed[..]].concat()),
        ("stopped", [&[2], &slots(None)[..], &receiving(1), &receiving(1), &receiving(0)].concat()),
        ("received", [&[3], &all[..]].concat()),
    ]
}

fn framed<T: Serialize>(message: &T) -> Vec<u8> {
    wire::encode(message, &mut [0; wire::MAX_FRAME]).unwrap().to_vec()
}

/// The message alone, without COBS and CRC: the target adds them.
fn payload<T: Serialize>(message: &T) -> Vec<u8> {
    let frame = framed(message);
    let mut decoded = vec![0; frame.len()];
    let len = cobs::decode(&frame[..frame.len() - 1], &mut decoded).unwrap();
    decoded.truncate(len - 4);
    decoded
}
