//! Scores that are no probabilities on the device, against the same code on the host, bit for bit: margins, int16 codes, and the
//! top-two margin of a predicted class.

use calib_core::artifact::{
    ArtifactWriter, Guarantee, Header, HeaderFlags, Method, Provenance, Reduction, Table, TableForm, Theorem,
};
use calib_core::table::{
    CodeTable, CompactTable, InterpolatedMarginTable, MarginFunction, MarginScaling, MarginTable,
    MarginVennAbersTable, RandomizedMarginTable,
};
use calib_core::wire::{Question, Refusal, ReplyBody, RequestBody, Scores};
use calib_core::{BinFlags, Identity, Margin, Outcome, ScoreEncoding, ScoreError, Uncalibrated};
use calib_tests::Board;
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use crate::harness::{ID, Image, calibrated};

const EPSILON: f32 = 0.07;
const MARGINS: usize = 10_000;
const VECTORS: usize = 2000;
/// No round numbers, one of them 0, two next to each other.
const EDGES: [f32; 9] = [-1e30, -7.3, -0.3, -1e-42, 0.0, 1e-45, 0.7, 4.1, 3e38];
const I16: ScoreEncoding = ScoreEncoding::I16 { scale: 1.0 / 4096.0, zero_point: -700 };
const I8: ScoreEncoding = ScoreEncoding::I8 { scale: 0.125, zero_point: 3 };

/// What an artifact is of, besides its tables.
struct Of {
    method: Method,
    reduction: Reduction,
    encoding: ScoreEncoding,
    classes: u16,
    theorem: Option<Theorem>,
}

impl Of {
    const fn binary(method: Method, encoding: ScoreEncoding, theorem: Option<Theorem>) -> Self {
        Self { method, reduction: Reduction::Binary, encoding, classes: 2, theorem }
    }

    /// An artifact with these tables; of several classes it is by the top-two margin of the predicted one.
    fn artifact(
        &self,
        forms: &[Option<TableForm<'_>>],
        beside: impl FnOnce(&mut ArtifactWriter<'_>),
    ) -> Vec<u8> {
        let Self { method, reduction, encoding, classes, theorem } = *self;
        let mut flags = HeaderFlags::NONE;
        if reduction != Reduction::Binary {
            flags = flags.with(HeaderFlags::TOP2_MARGIN);
        }
        if forms.iter().any(|form| matches!(form, Some(TableForm::Compact(_)))) {
            flags = flags.with(HeaderFlags::COMPACT);
        }
        if forms.contains(&None) {
            flags = flags.with(HeaderFlags::CLASS_UNCALIBRATED);
        }
        let guarantee = theorem.map(|theorem| Guarantee { theorem, alpha: 0.1, epsilon: EPSILON });
        let bins = forms.iter().flatten().map(|form| form.bins() as u32).sum();
        let provenance =
            Provenance { data_sha256: [3; 32], tool_version: "test", parameters: "", classifier: Some(ID) };
        let header =
            Header { method, reduction, encoding, classes, bins, n: 1000, guarantee, flags, provenance };
        let epsilon = guarantee.map(|guarantee| guarantee.epsilon);
        let tables: Vec<_> = forms.iter().map(|form| form.map(|form| Table { form, epsilon })).collect();
        let mut bytes = vec![0; 16_384];
        let mut writer = ArtifactWriter::new(&mut bytes);
        writer.header(&header).unwrap();
        writer.tables(&tables).unwrap();
        beside(&mut writer);
        writer.finish(|_| Identity(*b"identity")).unwrap().to_vec()
    }
}

/// Rising probabilities, one more than edges.
fn values(edges: usize) -> Vec<f32> {
    (0..=edges).map(|bin| (bin as f32 + 0.3) / (edges as f32 + 1.0)).collect()
}

/// An artifact of margins in every form.
fn forms() -> Vec<(&'static str, Vec<u8>)> {
    let margins = |method, theorem| Of::binary(method, ScoreEncoding::Margin, theorem);
    let mut all = vec![("steps with ranges and an empty bin", steps()), ("randomized", randomized())];
    let values = values(EDGES.len());

    let slopes: Vec<f32> = InterpolatedMarginTable::slopes_between(&EDGES, &values[1..]).collect();
    let table = InterpolatedMarginTable::new(&EDGES, &values[1..], &slopes).unwrap();
    let form = [Some(TableForm::MarginInterpolated(table))];
    all.push(("interpolated", margins(Method::IsotonicInterpolated, None).artifact(&form, |_| {})));

    let p0: Vec<f32> = values.iter().map(|value| value * 0.9).collect();
    let form = [Some(TableForm::MarginVennAbers(MarginVennAbersTable::new(&EDGES, &p0, &values).unwrap()))];
    all.push(("venn-abers", margins(Method::VennAbers, None).artifact(&form, |_| {})));

    for (name, method, parameters) in [
        ("platt", Method::Platt, MarginScaling::Platt { a: 1.7, b: -0.3 }),
        ("falling platt", Method::Platt, MarginScaling::Platt { a: -3e37, b: 2.5 }),
        ("temperature", Method::Temperature, MarginScaling::Temperature { inverse_t: 0.6 }),
        (
            "quadratic",
            Method::Quadratic,
            MarginScaling::Quadratic { a: 0.05, b: 0.9, c: -0.4, scale: 0.8, shift: -1.2 },
        ),
    ] {
        let form = [Some(TableForm::MarginScaling(MarginFunction::new(parameters).unwrap()))];
        all.push((name, margins(method, None).artifact(&form, |_| {})));
    }

    let mut keys: Vec<u16> = EDGES.map(|edge| Margin::new(edge).unwrap().rounded_key()).to_vec();
    keys.dedup();
    let halves: Vec<u16> = (0..=keys.len() as u16).map(|bin| 300 + 3000 * bin).collect();
    let table = CompactTable::new(&keys, &halves, ScoreEncoding::RoundedMargin).unwrap();
    let of = Of::binary(Method::Umd, ScoreEncoding::RoundedMargin, Some(Theorem::Gr21Theorem3));
    all.push(("compact", of.artifact(&[Some(TableForm::Compact(table))], |_| {})));
    all
}

fn steps() -> Vec<u8> {
    let values = values(EDGES.len());
    let form = [Some(TableForm::MarginSteps(MarginTable::new(&EDGES, &values).unwrap()))];
    let mut flags = [BinFlags::NONE; EDGES.len() + 1];
    flags[2] = BinFlags::EMPTY;
    let range = [-8.0, 5.0].map(|end| Margin::new(end).unwrap().key());
    let of = Of::binary(Method::Umd, ScoreEncoding::Margin, Some(Theorem::Gr21Theorem3));
    of.artifact(&form, |writer| {
        writer.bin_flags(&flags).unwrap();
        writer.score_ranges(&[Some(range)]).unwrap();
    })
}

fn randomized() -> Vec<u8> {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(3);
    // Margins -0.3 and 0 have three edges each.
    let mut pairs: Vec<(f32, u32)> =
        EDGES.into_iter().chain([-0.3, -0.3, 0.0, 0.0]).map(|edge| (edge, rng.random())).collect();
    pairs.sort_by(|a, b| a.partial_cmp(b).unwrap());
    let (edges, ties): (Vec<f32>, Vec<u32>) = pairs.into_iter().unzip();
    let values = values(edges.len());
    let table = RandomizedMarginTable::new(&edges, &ties, &values).unwrap();
    let of = Of::binary(Method::UmdRandomized, ScoreEncoding::Margin, Some(Theorem::Gr21Theorem4));
    of.artifact(&[Some(TableForm::MarginRandomized(table))], |_| {})
}

/// Deploys every form, and demands the same bits for every margin; a probability is refused.
fn margins_agree(board: Board) {
    let image = Image::stand_in(board, 1);
    for (name, bytes) in forms() {
        let mut deployed = image.deploy(name, &bytes);
        let sent = deployed.margins(MARGINS, 5);
        let empty = Outcome::Uncalibrated(Uncalibrated::EmptyBin);
        let uncalibrated = sent.predictions.iter().filter(|got| got.outcome == empty && got.alarm).count();
        assert_eq!(calibrated(&sent) + uncalibrated, sent.replies.len(), "{name}");
        assert_eq!(uncalibrated > 0, name.contains("empty"), "{name}");
        let beyond = |outcome: Outcome| {
            outcome.calibrated().is_some_and(|calibrated| calibrated.flags.contains(BinFlags::OUT_OF_RANGE))
        };
        let marked = sent.predictions.iter().any(|got| beyond(got.outcome));
        assert_eq!(marked, name.contains("ranges"), "{name}");

        let encoding = deployed.artifact().header().encoding;
        let mut refused = |body| match deployed.device.request(body).unwrap() {
            ReplyBody::Refused(refusal) => refusal,
            other => panic!("{name}: not refused: {other:?}"),
        };
        for body in [
            RequestBody::predict(Scores::Score(0.5)),
            RequestBody::Predict(Question { group: None, word: Some(1), scores: Scores::Score(0.5) }),
            RequestBody::predict(Scores::Code(5)),
        ] {
            assert_eq!(refused(body), Refusal::Encoding(encoding), "{name}");
        }
        assert_eq!(
            refused(RequestBody::predict(Scores::Margin(f32::NAN))),
            Refusal::Score(ScoreError::NaN),
            "{name}"
        );
        let infinite = RequestBody::Predict(Question {
            group: None,
            word: Some(1),
            scores: Scores::Margin(f32::NEG_INFINITY),
        });
        assert_eq!(refused(infinite), Refusal::Score(ScoreError::Infinite), "{name}");
        println!("{name}: {} bytes, {} margins", bytes.len(), sent.replies.len());
    }
}

/// All codes of int16 that an artifact could mistake, in both widths of table.
fn codes_agree(board: Board) {
    let image = Image::stand_in(board, 1);
    let edges: Vec<u32> = (1..15).map(|edge| edge * 4321).collect();
    let values = values(edges.len());
    let keys: Vec<u16> = edges.iter().map(|&edge| edge as u16).collect();
    let halves: Vec<u16> = (0..15).map(|bin| 300 + 2000 * bin).collect();
    for form in [
        TableForm::Codes(CodeTable::new(&edges, &values, I16).unwrap()),
        TableForm::Compact(CompactTable::new(&keys, &halves, I16).unwrap()),
    ] {
        let bytes = Of::binary(Method::Umd, I16, Some(Theorem::Gr21Theorem3)).artifact(&[Some(form)], |_| {});
        let mut deployed = image.deploy("int16 codes", &bytes);
        let around = keys.iter().flat_map(|&edge| [edge - 1, edge, edge + 1]);
        let all = around.chain((0..=u16::MAX).step_by(51)).chain([u16::MAX]);
        let sent = deployed.asked(all.map(|scores| RequestBody::predict(Scores::Code(scores))));
        assert_eq!(calibrated(&sent), sent.replies.len());
        let margin = deployed.device.request(RequestBody::predict(Scores::Margin(0.5))).unwrap();
        assert_eq!(margin, ReplyBody::Refused(Refusal::Encoding(I16)));
    }
}

/// Deploys artifacts by the top-two margin of the predicted class, and demands the same bits for every vector; probabilities are refused.
fn top2_margins_agree(board: Board, classes: u16) {
    let image = Image::stand_in(board, classes.into());
    for (encoding, reduction) in [
        (I8, Reduction::TopLabel),
        (I16, Reduction::TopLabel),
        (ScoreEncoding::Margin, Reduction::TopLabel),
        (I8, Reduction::Confidence),
        (ScoreEncoding::Margin, Reduction::Confidence),
    ] {
        let name = format!("{classes} classes, {reduction} by the top-two margin over {encoding}");
        let bytes = by_top2_margin(encoding, reduction, classes);
        let mut deployed = image.deploy(&name, &bytes);
        let sent = deployed.top2_margins(VECTORS, 9);
        assert!(calibrated(&sent) * 2 > sent.replies.len(), "{name}");
        let row = [0.5, 0.5].into_iter().chain([0.0].into_iter().cycle()).take(classes.into()).collect();
        let probs = deployed.device.request(RequestBody::predict(Scores::Probs(row))).unwrap();
        assert_eq!(probs, ReplyBody::Refused(Refusal::Encoding(encoding)), "{name}");
        println!("{name}: {} bytes, {} vectors", bytes.len(), sent.replies.len());
    }
}

/// An artifact by the top-two margin whose last class, of several tables, is uncalibrated.
fn by_top2_margin(encoding: ScoreEncoding, reduction: Reduction, classes: u16) -> Vec<u8> {
    let tables = if reduction == Reduction::Confidence { 1 } else { classes };
    let code_edges = |table: u16| match encoding {
        ScoreEncoding::I8 { .. } => [1, 20 + u32::from(table), 130],
        _ => [1, 300 + u32::from(table), 65_535],
    };
    let values = values(3);
    let margin_edges: Vec<[f32; 3]> =
        (0..tables).map(|table| [1e-45, 0.3 + f32::from(table), f32::MAX]).collect();
    let code_edges: Vec<[u32; 3]> = (0..tables).map(code_edges).collect();
    let form = |table: usize| {
        if tables > 1 && table + 1 == usize::from(tables) {
            None
        } else if encoding.is_margin() {
            Some(TableForm::MarginSteps(MarginTable::new(&margin_edges[table], &values).unwrap()))
        } else {
            Some(TableForm::Codes(CodeTable::new(&code_edges[table], &values, encoding).unwrap()))
        }
    };
    let forms: Vec<_> = (0..tables.into()).map(form).collect();
    let theorem = match reduction {
        Reduction::Confidence => Some(Theorem::Gr21Theorem3),
        _ => Some(Theorem::Gr22Theorem1),
    };
    Of { method: Method::Umd, reduction, encoding, classes, theorem }.artifact(&forms, |_| {})
}

#[test]
fn margins() {
    margins_agree(Board::Mps2An386);
}

#[test]
fn int16_codes() {
    codes_agree(Board::Mps2An386);
}

#[test]
fn top2_margins_of_3_classes() {
    top2_margins_agree(Board::Mps2An386, 3);
}

#[test]
fn top2_margins_of_10_classes() {
    top2_margins_agree(Board::Mps2An386, 10);
}

#[test]
#[ignore = "builds other boards: `cargo xtask verify` does"]
fn top2_margins_of_100_classes() {
    top2_margins_agree(Board::Mps2An386, 100);
}

#[test]
#[ignore = "builds other boards: `cargo xtask verify` does"]
fn on_other_cores() {
    for &board in Board::ALL.iter().filter(|&&board| board != Board::Mps2An386) {
        margins_agree(board);
        codes_agree(board);
        top2_margins_agree(board, 3);
    }
    top2_margins_agree(Board::Microbit, 10);
}
