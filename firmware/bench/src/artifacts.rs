//! Artifacts, written and parsed on the device as it would get them.

use calib_core::artifact::{
    ArtifactWriter, Guarantee, Header, HeaderFlags, Method, MonitorParts, Provenance, Rate, Reduction,
    ScoreIntervalParts, Table, TableForm, Theorem,
};
use calib_core::decision::{
    Accuracy, AccuracyGuarantee, Conformity, OperatingParts, Quantile, Quantiles, SetParts, Threshold,
    Thresholds,
};
use calib_core::table::{CodeTable, Scaling, ScalingFunction};
use calib_core::{Artifact, Identity, MarginTable, ProbInterval, ScoreEncoding, StepTable};

use crate::{host, scores};

/// Room for an artifact, word-aligned.
pub(crate) type Arena = [u32; 512];

const EDGES_15: [f32; 14] = scores::edges();
const VALUES_15: [f32; 15] = scores::values();
const EDGES_64: [f32; 63] = scores::edges();
const VALUES_64: [f32; 64] = scores::values();
const MARGINS_15: [f32; 14] = scores::margin_edges();
const MARGINS_64: [f32; 63] = scores::margin_edges();
/// The gaps of 5000 calibration scores.
pub(crate) static GAPS: [u32; 15] =
    [333, 333, 334, 333, 333, 334, 333, 333, 334, 333, 333, 334, 333, 333, 333];
/// Within this of the truth the bins of an artifact with monitors are guaranteed to be.
const EPSILON: f32 = 0.073;
const TOP2_MARGINS_15: [u16; 14] = scores::top2_margin_edges();

fn header(reduction: Reduction, classes: u16, bins: u32) -> Header<'static> {
    Header {
        method: Method::Isotonic,
        reduction,
        encoding: ScoreEncoding::F32,
        classes,
        bins,
        n: 1000,
        guarantee: None,
        flags: HeaderFlags::NONE,
        provenance: Provenance { data_sha256: [0; 32], tool_version: "", parameters: "", classifier: None },
    }
}

/// 15 or 64 bins.
fn bins_of(bins: u32) -> TableForm<'static> {
    TableForm::Steps(checked(match bins {
        15 => StepTable::new(&EDGES_15, &VALUES_15),
        _ => StepTable::new(&EDGES_64, &VALUES_64),
    }))
}

/// A binary artifact of 15 or 64 bins.
pub(crate) fn binary(room: &mut Arena, bins: u32) -> Artifact<'_> {
    let table = Table { form: bins_of(bins), epsilon: None };
    parse(room, &header(Reduction::Binary, 2, bins), &[Some(table)])
}

/// A binary artifact of 15 or 64 bins, or of a function, with the intervals of seven ranges of the score.
pub(crate) fn with_ranges<'a>(
    room: &'a mut Arena,
    function: Option<(Method, Scaling)>,
    bins: u32,
) -> Artifact<'a> {
    let (method, form) = match function {
        Some((method, scaling)) => (method, TableForm::Scaling(checked(ScalingFunction::new(scaling)))),
        None => (Method::Isotonic, bins_of(bins)),
    };
    let edges: [u32; 6] = scores::edges().map(f32::to_bits);
    let intervals = scores::values::<7>().map(|value| ProbInterval { lo: value / 2.0, hi: value });
    let header = Header { method, ..header(Reduction::Binary, 2, bins) };
    parse_by(room, &header, |writer| {
        checked(writer.tables(&[Some(Table { form, epsilon: None })]));
        checked(writer.score_intervals(&ScoreIntervalParts {
            rate: Rate::OfRange,
            alpha: 0.1,
            tables: &[Some((&edges, &intervals))],
        }));
    })
}

/// A top-label artifact of ten classes of 15 bins.
pub(crate) fn top_label(room: &mut Arena) -> Artifact<'_> {
    let table = Table { form: bins_of(15), epsilon: None };
    parse(room, &header(Reduction::TopLabel, 10, 150), &[Some(table); 10])
}

/// A binary artifact of 15 bins, with a guarantee and with monitors.
pub(crate) fn monitored(room: &mut Arena) -> Artifact<'_> {
    guaranteed(room, Reduction::Binary, 2, &[steps()])
}

/// A top-label artifact of ten classes of 15 bins, likewise.
pub(crate) fn monitored_top_label(room: &mut Arena) -> Artifact<'_> {
    guaranteed(room, Reduction::TopLabel, 10, &[steps(); 10])
}

/// 15 bins that keep a guarantee.
fn steps() -> Option<Table<'static>> {
    Some(Table { form: bins_of(15), epsilon: Some(EPSILON) })
}

fn guaranteed<'a>(
    room: &'a mut Arena,
    reduction: Reduction,
    classes: u16,
    tables: &[Option<Table<'_>>],
) -> Artifact<'a> {
    let guarantee = Some(Guarantee { theorem: Theorem::Gr21Theorem3, alpha: 0.1, epsilon: EPSILON });
    let header =
        Header { method: Method::Umd, guarantee, ..header(reduction, classes, 15 * tables.len() as u32) };
    let gaps: [&[u32]; 10] = [&GAPS; 10];
    let gaps = gaps.get(..tables.len()).unwrap_or(&gaps);
    parse_by(room, &header, |writer| {
        checked(writer.tables(tables));
        checked(writer.monitors(&MonitorParts {
            shift: 20,
            change: 10_000,
            guarantee: 100,
            gaps,
            edges: None,
        }));
    })
}

/// A binary artifact of margins with 15 or 64 bins.
pub(crate) fn margin(room: &mut Arena, bins: u32) -> Artifact<'_> {
    let form = match bins {
        15 => TableForm::MarginSteps(checked(MarginTable::new(&MARGINS_15, &VALUES_15))),
        _ => TableForm::MarginSteps(checked(MarginTable::new(&MARGINS_64, &VALUES_64))),
    };
    let header = Header { encoding: ScoreEncoding::Margin, ..header(Reduction::Binary, 2, bins) };
    parse(room, &header, &[Some(Table { form, epsilon: None })])
}

/// As [`top_label`], by the top-two margin of the logits.
pub(crate) fn top2_margin_of_logits(room: &mut Arena) -> Artifact<'_> {
    let form = TableForm::MarginSteps(checked(MarginTable::new(&MARGINS_15, &VALUES_15)));
    by_top2_margin(room, ScoreEncoding::Margin, form)
}

/// As [`top_label`], by the top-two margin of the codes.
pub(crate) fn top2_margin_of_codes(room: &mut Arena) -> Artifact<'_> {
    let edges = TOP2_MARGINS_15.map(u32::from);
    let table = CodeTable::new(&edges, &VALUES_15, scores::LOGIT_CODES);
    by_top2_margin(room, scores::LOGIT_CODES, TableForm::Codes(checked(table)))
}

/// Thresholds of a binary score alone.
pub(crate) fn points(room: &mut Arena, encoding: ScoreEncoding, ends: [u32; 2]) -> Artifact<'_> {
    let [lower, upper] = ends.map(|key| Threshold {
        key,
        positives: 60,
        positives_above: 60,
        negatives: 60,
        negatives_above: 60,
    });
    let guarantees = [AccuracyGuarantee {
        accuracy: Accuracy::Sensitivity,
        level: 0.95,
        confidence: 0.95,
        prevalence: None,
    }];
    let groups = [Thresholds { lower, upper }];
    let header = Header { method: Method::OperatingPoint, encoding, ..header(Reduction::Binary, 2, 0) };
    parse_by(room, &header, |writer| {
        checked(writer.operating_points(&OperatingParts {
            groups: &groups,
            refer_raises: true,
            guarantees: &guarantees,
        }));
    })
}

/// Prediction sets of ten classes alone.
pub(crate) fn sets(
    room: &mut Arena,
    encoding: ScoreEncoding,
    conformity: Conformity,
    key: u32,
) -> Artifact<'_> {
    let header = Header { method: Method::PredictionSet, encoding, ..header(Reduction::Joint, 10, 0) };
    let quantiles = Quantiles::All(Quantile { rows: 60, key });
    let parts = SetParts { conformity, never_empty: false, alpha: 0.1, confidence: None, quantiles };
    parse_by(room, &header, |writer| checked(writer.prediction_sets(&parts)))
}

fn by_top2_margin<'a>(room: &'a mut Arena, encoding: ScoreEncoding, form: TableForm<'_>) -> Artifact<'a> {
    let header = header(Reduction::TopLabel, 10, 150);
    let flags = header.flags.with(HeaderFlags::TOP2_MARGIN);
    let header = Header { encoding, flags, ..header };
    parse(room, &header, &[Some(Table { form, epsilon: None }); 10])
}

fn parse<'a>(room: &'a mut Arena, header: &Header<'_>, tables: &[Option<Table<'_>>]) -> Artifact<'a> {
    parse_by(room, header, |writer| checked(writer.tables(tables)))
}

fn parse_by<'a>(
    room: &'a mut Arena,
    header: &Header<'_>,
    fill: impl FnOnce(&mut ArtifactWriter<'_>),
) -> Artifact<'a> {
    let bytes = bytes_of(room);
    let mut writer = ArtifactWriter::new(bytes);
    checked(writer.header(header));
    fill(&mut writer);
    let len_bytes = checked(writer.finish(|_| Identity([0; 8]))).len();
    match room.as_slice().get(..len_bytes / 4) {
        Some(words) => checked(Artifact::parse(words_as_bytes(words))),
        None => host::exit(false),
    }
}

fn bytes_of(words: &mut Arena) -> &mut [u8] {
    // SAFETY: words are four bytes each, and any bytes are words.
    unsafe { core::slice::from_raw_parts_mut(words.as_mut_ptr().cast(), 4 * words.len()) }
}

fn words_as_bytes(words: &[u32]) -> &[u8] {
    // SAFETY: as above.
    unsafe { core::slice::from_raw_parts(words.as_ptr().cast(), 4 * words.len()) }
}

fn checked<T, E: core::fmt::Debug>(result: Result<T, E>) -> T {
    match result {
        Ok(value) => value,
        Err(error) => {
            host::print(format_args!("error: {error:?}\n"));
            host::exit(false)
        }
    }
}
