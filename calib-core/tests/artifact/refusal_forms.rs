//! Every contradiction in the newer forms that a right CRC does not hide, each with its exact error.

use calib_core::ParseError::{Header as BadHeader, Table as BadTable, UnexpectedSection};
use calib_core::artifact::TableFault::{self, Bins, Content, Direct, Epsilon, Extent, Flags, Intervals};
use calib_core::artifact::{
    ArtifactWriter, Guarantee, Header, HeaderFlags, Method, Provenance, Reduction, SectionKind, Theorem,
    WriteError,
};
use calib_core::{Artifact, ParseError, ScoreEncoding};

use crate::forge::{MANDATORY, Section, aligned, assemble, disassemble, refusal};
use crate::golden::hex;
use crate::golden_forms::forms;
use crate::listings::{
    BETA, CODES, INTERPOLATED, INTERVALS, PLATT_LOGIT, PLATT_PROB, RANDOMIZED, TEMPERATURE, VENN_ABERS,
};

const THEOREMS: [Theorem; 6] = [
    Theorem::Gr21Theorem3,
    Theorem::Gr22Theorem1,
    Theorem::Gr21Corollary1,
    Theorem::Gr21Theorem4,
    Theorem::SampleSplit,
    Theorem::ClopperPearson,
];
const I8: ScoreEncoding = ScoreEncoding::I8 { scale: 1.0 / 256.0, zero_point: -128 };
const U16: ScoreEncoding = ScoreEncoding::U16 { scale: 1.0 / 65536.0, zero_point: 0 };
const HALF: u32 = 0x3F00_0000;
const ONE: u32 = 0x3F80_0000;
const NAN: u32 = 0x7FC0_0000;
const INFINITY: u32 = 0x7F80_0000;
const NEGATIVE: u32 = 0xBF00_0000;

/// The methods of one score that have a calibrator.
fn binary_methods() -> impl Iterator<Item = Method> {
    use Method::{
        Dirichlet, Grid, MatrixScaling, MulticlassIrp, OperatingPoint, PredictionSet, Projection, Sierpinski,
        StructuredMatrix, StructuredVector, VectorScaling,
    };
    let others = [
        VectorScaling,
        MatrixScaling,
        Dirichlet,
        Sierpinski,
        Grid,
        Projection,
        MulticlassIrp,
        OperatingPoint,
        PredictionSet,
        StructuredVector,
        StructuredMatrix,
    ];
    Method::ALL.iter().copied().filter(move |method| !others.contains(method))
}

fn method_kind(method: Method) -> SectionKind {
    match method {
        Method::UmdRandomized => SectionKind::RandomizedSteps,
        Method::IsotonicInterpolated | Method::IsotonicCentered => SectionKind::Interpolated,
        Method::Platt | Method::Beta | Method::Temperature | Method::Quadratic | Method::Unchanged => {
            SectionKind::Scaling
        }
        Method::VennAbers => SectionKind::VennAbers,
        _ => SectionKind::Tables,
    }
}

fn header(method: Method) -> Header<'static> {
    Header {
        method,
        reduction: Reduction::Binary,
        encoding: ScoreEncoding::F32,
        classes: 2,
        bins: if method_kind(method) == SectionKind::Scaling { 0 } else { 3 },
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

/// Whether the writer takes a header; it asks what the parser asks.
fn is_consistent(header: &Header<'_>) -> bool {
    match ArtifactWriter::new(&mut [0; 256]).header(header) {
        Ok(()) => true,
        Err(WriteError::Header) => false,
        Err(other) => panic!("{other}"),
    }
}

/// The first of the artifact's sections that hold tables or go beside them, with its header changed.
fn with_header(listing: &str, change: impl FnOnce(&mut Header<'_>)) -> Vec<Section> {
    let bytes = aligned(&hex(listing));
    let mut header = *Artifact::parse(bytes.as_bytes()).unwrap().header();
    change(&mut header);
    let mut sections = disassemble(bytes.as_bytes());
    let mut buf = [0; 256];
    sections[0].payload = postcard::to_slice(&header, &mut buf).unwrap().to_vec();
    sections
}

fn words(section: &mut Section, change: impl FnOnce(&mut Vec<u32>)) {
    let mut words: Vec<u32> =
        section.payload.chunks(4).map(|word| u32::from_le_bytes(word.try_into().unwrap())).collect();
    change(&mut words);
    section.payload = words.iter().flat_map(|word| word.to_le_bytes()).collect();
}

#[test]
fn taking_apart_and_putting_together_changes_nothing() {
    for form in forms() {
        let bytes = hex(form.listing);
        assert_eq!(assemble(&disassemble(&bytes)), bytes);
    }
}

#[test]
fn a_method_has_the_theorems_that_prove_something_about_it() {
    use Theorem::{ClopperPearson, Gr21Corollary1, Gr21Theorem3, Gr21Theorem4, Gr22Theorem1, SampleSplit};
    for method in binary_methods() {
        let proved: &[Theorem] = match method {
            Method::Umd => &[Gr21Theorem3, Gr22Theorem1, ClopperPearson],
            Method::UmdOriginal => &[Gr21Corollary1],
            Method::UmdRandomized => &[Gr21Theorem4],
            Method::Ums | Method::FixedWidth => &[SampleSplit, ClopperPearson],
            Method::ScalingBinning => &[SampleSplit],
            _ => &[],
        };
        assert!(is_consistent(&header(method)), "{method}");
        for theorem in THEOREMS {
            for reduction in [Reduction::Binary, Reduction::TopLabel] {
                let guarantee = Some(Guarantee { theorem, alpha: 0.1, epsilon: 0.25 });
                let guaranteed = Header { guarantee, reduction, ..header(method) };
                let fits = reduction == Reduction::TopLabel || theorem != Gr22Theorem1;
                let expected = fits && proved.contains(&theorem);
                assert_eq!(is_consistent(&guaranteed), expected, "{method} {reduction} {theorem}");

                let weighted = Header { flags: HeaderFlags::WEIGHTED, ..guaranteed };
                assert!(!is_consistent(&weighted), "{method}: nothing holds with weights");

                // Merged ties spoil edges that the points themselves chose, except for exact intervals given the scores.
                let tied = Header { flags: HeaderFlags::TIES_MERGED, ..guaranteed };
                let split = matches!(method, Method::Ums | Method::FixedWidth | Method::ScalingBinning);
                let holds = expected
                    && method != Method::UmdRandomized
                    && (split || reduction == Reduction::TopLabel || theorem == ClopperPearson);
                assert_eq!(is_consistent(&tied), holds, "{method} {reduction} {theorem}, tied");
            }
        }
        let flags = HeaderFlags::WEIGHTED.with(HeaderFlags::TIES_MERGED);
        let weighted = Header { flags, ..header(method) };
        assert_eq!(is_consistent(&weighted), method != Method::UmdRandomized, "{method}");
    }
}

#[test]
fn a_header_has_bins_unless_it_has_functions() {
    for method in binary_methods() {
        let scaling = method_kind(method) == SectionKind::Scaling;
        for bins in [0, 1, 3] {
            let bins_fit = (bins == 0) == scaling;
            assert_eq!(is_consistent(&Header { bins, ..header(method) }), bins_fit, "{method} {bins}");
        }
    }
}

#[test]
fn an_encoding_is_of_this_world_and_for_methods_that_are_steps_over_codes() {
    for method in binary_methods() {
        for encoding in [I8, U16] {
            let steps = !matches!(method, Method::UmdRandomized | Method::VennAbers);
            let over_codes = Header { encoding, bins: 3, ..header(method) };
            assert_eq!(is_consistent(&over_codes), steps, "{method}");
            assert!(!is_consistent(&Header { bins: 0, ..over_codes }), "{method}");
        }
    }
    let u8 = |scale, zero_point| ScoreEncoding::U8 { scale, zero_point };
    let i8 = |scale, zero_point| ScoreEncoding::I8 { scale, zero_point };
    let u16 = |scale, zero_point| ScoreEncoding::U16 { scale, zero_point };
    let cases = [
        (u8(0.1, 0), true),
        (u8(0.1, 255), true),
        (u8(0.1, 256), false),
        (u8(0.1, -1), false),
        (i8(0.1, -128), true),
        (i8(0.1, 128), false),
        (u16(0.1, 65_535), true),
        (u16(0.1, 65_536), false),
        (u16(0.0, 0), false),
        (u16(-0.1, 0), false),
        (u8(f32::NAN, 0), false),
        (u8(f32::INFINITY, 0), false),
    ];
    for (encoding, possible) in cases {
        assert_eq!(is_consistent(&Header { encoding, ..header(Method::Umd) }), possible, "{encoding}");
    }
}

#[test]
fn a_table_section_goes_with_its_method_alone() {
    for form in forms().iter().filter(|form| form.encoding == ScoreEncoding::F32) {
        let kind = form.table.form.section();
        for method in binary_methods() {
            let mut sections = with_header(form.listing, |header| {
                header.method = method;
                header.guarantee = None;
                header.bins =
                    if method_kind(method) == SectionKind::Scaling { 0 } else { header.bins.max(1) };
            });
            sections.truncate(2);
            words(&mut sections[1], |words| words[3] = NAN);
            let expected = if method_kind(method) == kind { None } else { Some(UnexpectedSection(kind)) };
            assert_eq!(refusal(&assemble(&sections)), expected, "{}: {method}", form.name);
        }
    }
}

#[test]
fn there_is_one_table_section() {
    let all: Vec<Section> = forms().iter().map(|form| disassemble(&hex(form.listing))[1].clone()).collect();
    for form in forms() {
        for other in &all {
            let mut sections = disassemble(&hex(form.listing));
            let expected = if sections[1].kind == other.kind {
                ParseError::DuplicateSection(other.kind)
            } else {
                let kinds = all_kinds();
                UnexpectedSection(kinds[usize::from(other.kind) - 1])
            };
            sections.push(other.clone());
            assert_eq!(refusal(&assemble(&sections)), Some(expected), "{}", form.name);
        }
        let mut sections = disassemble(&hex(form.listing));
        sections.truncate(1);
        let missing = ParseError::MissingSection(form.table.form.section());
        assert_eq!(refusal(&assemble(&sections)), Some(missing), "{}", form.name);
    }
}

fn all_kinds() -> [SectionKind; 10] {
    [
        SectionKind::Header,
        SectionKind::Tables,
        SectionKind::BinFlags,
        SectionKind::RandomizedSteps,
        SectionKind::Interpolated,
        SectionKind::Scaling,
        SectionKind::VennAbers,
        SectionKind::Intervals,
        SectionKind::IntegerSteps,
        SectionKind::DirectTable,
    ]
}

#[test]
fn what_goes_beside_tables_goes_beside_its_own() {
    let beside = disassemble(&hex(INTERVALS));
    let (bin_flags, intervals) = (&beside[2], &beside[3]);
    let direct = &disassemble(&hex(CODES))[2];
    for listing in [RANDOMIZED, INTERPOLATED, PLATT_LOGIT, VENN_ABERS, CODES, INTERVALS] {
        let sections = disassemble(&hex(listing));
        let kind = sections[1].kind;
        for (section, beside, homes) in [
            (bin_flags, SectionKind::BinFlags, &[2, 9][..]),
            (intervals, SectionKind::Intervals, &[2, 4, 9]),
            (direct, SectionKind::DirectTable, &[9]),
        ] {
            if homes.contains(&kind) {
                continue;
            }
            let sections = [&sections[..2], std::slice::from_ref(section)].concat();
            assert_eq!(refusal(&assemble(&sections)), Some(UnexpectedSection(beside)));
        }
    }
    // 65 536 codes have no direct table.
    let sections = with_header(CODES, |header| header.encoding = U16);
    assert_eq!(refusal(&assemble(&sections)), Some(UnexpectedSection(SectionKind::DirectTable)));
}

/// What stands behind a pool of one table: 0 count, 1 and 2 offsets, 3 epsilon, 4 onwards the table.
#[test]
fn contradictions_in_the_tables() {
    type Spoil = fn(&mut Vec<u32>);
    type Case = (&'static str, &'static str, Spoil, TableFault);
    let cases: &[Case] = &[
        // 4, 5 edges; 6, 7 words; 8, 9, 10 values.
        ("randomized: score -0", RANDOMIZED, |w| w[4] = 0x8000_0000, Content),
        ("randomized: score above 1", RANDOMIZED, |w| w[5] = ONE + 1, Content),
        ("randomized: scores descend", RANDOMIZED, |w| w[5] = HALF - 1, Content),
        ("randomized: words descend", RANDOMIZED, |w| w.swap(6, 7), Content),
        ("randomized: equal pairs", RANDOMIZED, |w| w[7] = w[6], Content),
        ("randomized: value above 1", RANDOMIZED, |w| w[10] = ONE + 1, Content),
        ("randomized: a word too few", RANDOMIZED, shorten, Extent),
        ("randomized: epsilon above the header's", RANDOMIZED, |w| w[3] += 1, Epsilon),
        // 4, 5, 6 x; 7, 8, 9 y; 10, 11 slopes.
        ("interpolated: epsilon", INTERPOLATED, |w| w[3] = HALF, Epsilon),
        ("interpolated: x descend", INTERPOLATED, |w| w.swap(4, 5), Content),
        ("interpolated: x below 0", INTERPOLATED, |w| w[4] = NEGATIVE, Content),
        ("interpolated: x is -0", INTERPOLATED, |w| w[4] = 0x8000_0000, Content),
        ("interpolated: x above 1", INTERPOLATED, |w| w[6] = ONE + 1, Content),
        ("interpolated: y descend", INTERPOLATED, |w| w.swap(8, 9), Content),
        ("interpolated: y above 1", INTERPOLATED, |w| w[9] = ONE + 1, Content),
        ("interpolated: a slope one ulp off", INTERPOLATED, |w| w[10] += 1, Content),
        ("interpolated: slope infinite", INTERPOLATED, |w| w[11] = INFINITY, Content),
        ("interpolated: a word too few", INTERPOLATED, shorten, Extent),
        ("interpolated: no knot", INTERPOLATED, only_epsilon, Extent),
        // 4 kind, 5 onwards parameters.
        ("scaling: unknown kind", PLATT_LOGIT, |w| w[4] = 4, Extent),
        ("scaling: another kind's number of parameters", PLATT_LOGIT, |w| w[4] = 1, Extent),
        ("scaling: no kind", PLATT_LOGIT, only_epsilon, Extent),
        ("scaling: epsilon", TEMPERATURE, |w| w[3] = HALF, Epsilon),
        ("platt: a NaN", PLATT_LOGIT, |w| w[5] = NAN, Content),
        ("platt: b infinite", PLATT_PROB, |w| w[6] = INFINITY, Content),
        ("platt: clip 0", PLATT_LOGIT, |w| w[7] = 0, Content),
        ("platt: clip 1/2", PLATT_LOGIT, |w| w[7] = HALF, Content),
        ("platt: clip below 0", PLATT_LOGIT, |w| w[7] = NEGATIVE, Content),
        ("beta: a below 0", BETA, |w| w[5] = NEGATIVE, Content),
        ("beta: b below 0", BETA, |w| w[6] = NEGATIVE, Content),
        ("beta: c NaN", BETA, |w| w[7] = NAN, Content),
        ("beta: clip NaN", BETA, |w| w[8] = NAN, Content),
        ("temperature: 0", TEMPERATURE, |w| w[5] = 0, Content),
        ("temperature: below 0", TEMPERATURE, |w| w[5] = NEGATIVE, Content),
        // 4 edge; 5, 6 p0; 7, 8 p1.
        ("venn-abers: epsilon", VENN_ABERS, |w| w[3] = HALF, Epsilon),
        ("venn-abers: edge 0", VENN_ABERS, |w| w[4] = 0, Content),
        ("venn-abers: p0 descend", VENN_ABERS, |w| w.swap(5, 6), Content),
        ("venn-abers: p1 descend", VENN_ABERS, |w| w.swap(7, 8), Content),
        ("venn-abers: p0 above p1", VENN_ABERS, |w| w[8] = HALF - 1, Content),
        ("venn-abers: p1 above 1", VENN_ABERS, |w| w[8] = ONE + 1, Content),
        ("venn-abers: a word too few", VENN_ABERS, shorten, Extent),
        ("venn-abers: no bin", VENN_ABERS, only_epsilon, Extent),
        // 4, 5 edges; 6, 7, 8 values.
        ("codes: edge 0", CODES, |w| w[4] = 0, Content),
        ("codes: edge above the highest code", CODES, |w| w[5] = 256, Content),
        ("codes: edges descend", CODES, |w| w.swap(4, 5), Content),
        ("codes: equal edges", CODES, |w| w[5] = 64, Content),
        ("codes: value NaN", CODES, |w| w[7] = NAN, Content),
        ("codes: a word too few", CODES, shorten, Extent),
        ("codes: an edge that the direct table does not know", CODES, |w| w[4] = 65, Direct),
    ];
    for &(name, listing, spoil, fault) in cases {
        let mut sections = disassemble(&hex(listing));
        words(&mut sections[1], spoil);
        assert_eq!(refusal(&assemble(&sections)), Some(BadTable { table: 0, fault }), "{name}");
    }
    // Scores of exactly 0 may be divided by lot.
    let mut sections = disassemble(&hex(RANDOMIZED));
    words(&mut sections[1], |w| w[4] = 0);
    assert_eq!(refusal(&assemble(&sections)), None);
    for form in forms() {
        let sections = with_header(form.listing, |header| header.bins += 1);
        let expected =
            if form.table.form.bins() == 0 { BadHeader } else { BadTable { table: 0, fault: Bins } };
        assert_eq!(refusal(&assemble(&sections)), Some(expected), "{}", form.name);
    }
}

/// The table's last word is cut off.
fn shorten(words: &mut Vec<u32>) {
    words.pop();
    words[2] -= 1;
}

/// The table has no word but its epsilon.
fn only_epsilon(words: &mut Vec<u32>) {
    words.truncate(4);
    words[2] = 1;
}

/// 0 count, 1 and 2 offsets, 3 and 4 the first bin's ends, 5 and 6 the second's.
#[test]
fn contradictions_in_the_intervals() {
    type Spoil = fn(&mut Vec<u32>);
    let cases: &[(&str, Spoil)] = &[
        ("no words", |w| w.clear()),
        ("two tables", |w| w[0] = 2),
        ("an offset too high", |w| w[2] = 5),
        ("a bin too few", |w| {
            w.truncate(5);
            w[2] = 2;
        }),
        ("half a bin", shorten),
        ("upside down", |w| w.swap(3, 4)),
        ("below 0", |w| w[3] = NEGATIVE),
        ("above 1", |w| w[4] = ONE + 1),
        ("half NaN", |w| w[3] = NAN),
        ("above the value", |w| w[3] = 0x3E00_0001),
        ("below the value", |w| w[4] = 0x3DFF_FFFF),
        ("for an empty bin", |w| w[5..].copy_from_slice(&[0, ONE])),
    ];
    for &(name, spoil) in cases {
        let mut sections = disassemble(&hex(INTERVALS));
        words(&mut sections[3], spoil);
        let expected = BadTable { table: 0, fault: Intervals };
        assert_eq!(refusal(&assemble(&sections)), Some(expected), "{name}");
    }
    // An interval without a guarantee: at which alpha would it hold?
    let mut sections = with_header(INTERVALS, |header| header.guarantee = None);
    words(&mut sections[1], |words| words[3] = NAN);
    let expected = BadTable { table: 0, fault: Intervals };
    assert_eq!(refusal(&assemble(&sections)), Some(expected));
    words(&mut sections[3], |words| words[3..].fill(NAN));
    assert_eq!(refusal(&assemble(&sections)), None);
    // Both may be said to be mandatory.
    for section in &mut sections {
        section.flags = MANDATORY;
    }
    assert_eq!(refusal(&assemble(&sections)), None);
}

#[test]
fn contradictions_in_the_direct_table() {
    let expected = Some(BadTable { table: 0, fault: Direct });
    for len in [0, 1, 255, 257, 512] {
        let mut sections = disassemble(&hex(CODES));
        sections[2].payload.resize(len, 2);
        assert_eq!(refusal(&assemble(&sections)), expected, "{len} bytes");
    }
    // Miri takes a second for each.
    for code in (0..256).step_by(if cfg!(miri) { 51 } else { 1 }) {
        for wrong in 1..4 {
            let mut sections = disassemble(&hex(CODES));
            sections[2].payload[code] ^= wrong;
            assert_eq!(refusal(&assemble(&sections)), expected, "code {code}");
        }
    }
}

#[test]
fn bin_flags_beside_codes() {
    let flags = |payload: &[u8]| Section { kind: 3, flags: 0, payload: payload.to_vec() };
    for (payload, expected) in [
        (&[0, 1, 0][..], None),
        (&[0, 1], Some(BadTable { table: 0, fault: Flags })),
        (&[0, 1, 2], Some(BadTable { table: 0, fault: Flags })),
    ] {
        let mut sections = disassemble(&hex(CODES));
        sections.push(flags(payload));
        assert_eq!(refusal(&assemble(&sections)), expected);
    }
}

#[test]
fn steps_are_marked_for_functions_of_floats_alone() {
    for method in binary_methods() {
        let is_function = matches!(method_kind(method), SectionKind::Scaling | SectionKind::Interpolated);
        let steps = Header { flags: HeaderFlags::STEPS, bins: 3, ..header(method) };
        assert_eq!(is_consistent(&steps), is_function, "{method}");
        assert!(!is_consistent(&Header { bins: 0, ..steps }), "{method}");
        let compact = Header { flags: HeaderFlags::STEPS.with(HeaderFlags::COMPACT), ..steps };
        for encoding in [ScoreEncoding::F32, I8, U16, ScoreEncoding::RoundedF32] {
            let of_floats = is_function && encoding == ScoreEncoding::F32;
            assert_eq!(is_consistent(&Header { encoding, ..steps }), of_floats, "{method} {encoding}");
            assert!(!is_consistent(&Header { encoding, ..compact }), "{method} {encoding}");
        }
        let margins = Header { encoding: ScoreEncoding::Margin, ..steps };
        assert_eq!(is_consistent(&margins), is_function && method != Method::Beta, "{method}");
    }
    // With the mark a step table takes the place of the function, and no other table does.
    for form in forms().iter().filter(|form| form.encoding == ScoreEncoding::F32) {
        let kind = form.table.form.section();
        let mut sections = with_header(form.listing, |header| {
            (header.method, header.flags, header.guarantee) = (Method::Beta, HeaderFlags::STEPS, None);
            header.bins = header.bins.max(1);
        });
        sections.truncate(2);
        words(&mut sections[1], |words| words[3] = NAN);
        let expected = if kind == SectionKind::Tables { None } else { Some(UnexpectedSection(kind)) };
        assert_eq!(refusal(&assemble(&sections)), expected, "{}", form.name);
    }
}
