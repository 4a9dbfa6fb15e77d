//! Artifacts over margins, over codes of 16 bits with a sign, and of predicted classes by their top-two margin.

use calib_core::artifact::{
    ArtifactWriter, Header, HeaderFlags, Method, Provenance, Reduction, Table, TableForm,
};
use calib_core::table::{
    CodeTable, CompactTable, InterpolatedMarginTable, MarginFunction, MarginScaling, MarginVennAbersTable,
    RandomizedMarginTable,
};
use calib_core::{BinFlags, Identity, MarginTable, ScoreEncoding};
use calib_host::StoredArtifact;

use super::artifacts::{CLASSES, Exportable};

const I8: ScoreEncoding = ScoreEncoding::I8 { scale: 0.25, zero_point: 10 };
const I16: ScoreEncoding = ScoreEncoding::I16 { scale: 1.0 / 512.0, zero_point: -100 };

/// Edges on either side of 0 and at 0, close together and at the ends.
const EDGES: [f32; 9] = [f32::MIN, -1e20, -1.5, -1e-42, 0.0, 1e-40, 0.75, 0.750_000_06, f32::MAX];
const VALUES: [f32; 10] = [0.0, 0.015_625, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.9, 1.0];

/// All of them.
pub(crate) fn all() -> Vec<Exportable> {
    let steps = MarginTable::new(&EDGES, &VALUES).unwrap();
    let ties = [5, 0, u32::MAX, 7, 1 << 31, 9, 3, 1, 2];
    let mut repeated = EDGES;
    repeated[3] = repeated[2];
    repeated[5] = 0.0;
    let mut ties_of_repeated = ties;
    ties_of_repeated[2] = 3;
    ties_of_repeated[5] = u32::MAX;
    let randomized = RandomizedMarginTable::new(&repeated, &ties_of_repeated, &VALUES).unwrap();
    let knots = &VALUES[..EDGES.len()];
    let slopes: Vec<f32> = InterpolatedMarginTable::slopes_between(&EDGES, knots).collect();
    let upper = VALUES.map(|value| (value + 0.25).min(1.0));
    let keys = [0x0080, 0x3F00, 0x7FFF, 0x8000, 0xBF81, 0xFF7F];
    let halves = [0, 1, 4096, 16_384, 20_000, 30_000, 32_768];
    let platt = MarginFunction::new(MarginScaling::Platt { a: -1.5, b: 0.25 }).unwrap();
    let cooled = MarginFunction::new(MarginScaling::Temperature { inverse_t: 0.5 }).unwrap();
    let forms = [
        ("margins", Method::Isotonic, TableForm::MarginSteps(steps)),
        ("randomized_margins", Method::UmdRandomized, TableForm::MarginRandomized(randomized)),
        (
            "interpolated_margins",
            Method::IsotonicInterpolated,
            TableForm::MarginInterpolated(InterpolatedMarginTable::new(&EDGES, knots, &slopes).unwrap()),
        ),
        (
            "venn_abers_margins",
            Method::VennAbers,
            TableForm::MarginVennAbers(MarginVennAbersTable::new(&EDGES, &VALUES, &upper).unwrap()),
        ),
        ("margin_platt", Method::Platt, TableForm::MarginScaling(platt)),
        ("margin_temperature", Method::Temperature, TableForm::MarginScaling(cooled)),
    ];
    let binary =
        |(name, method, form)| one(name, &header(method, Reduction::Binary, ScoreEncoding::Margin), form);
    let mut all: Vec<Exportable> = forms.into_iter().map(binary).collect();
    let compact =
        TableForm::Compact(CompactTable::new(&keys, &halves, ScoreEncoding::RoundedMargin).unwrap());
    let rounded = header(Method::Isotonic, Reduction::Binary, ScoreEncoding::RoundedMargin);
    all.push(one("rounded_margins", &Header { flags: HeaderFlags::COMPACT, ..rounded }, compact));
    let edges_16 = [1, 300, 32_767, 32_768, 65_535];
    let codes = TableForm::Codes(CodeTable::new(&edges_16, &VALUES[..6], I16).unwrap());
    all.push(one("i16", &header(Method::Isotonic, Reduction::Binary, I16), codes));
    let top2_margins = TableForm::Codes(CodeTable::new(&[1, 3, 100, 255], &VALUES[..5], I8).unwrap());
    let confidence =
        Header { flags: HeaderFlags::TOP2_MARGIN, ..header(Method::Umd, Reduction::Confidence, I8) };
    all.push(one("confidence_top2_margin", &confidence, top2_margins));
    for (name, encoding, form) in [
        (
            "top_label_margin",
            ScoreEncoding::Margin,
            TableForm::MarginSteps(MarginTable::new(&[0.1, 0.4], &VALUES[..3]).unwrap()),
        ),
        ("top_label_lead", I8, TableForm::Codes(CodeTable::new(&[2, 40], &VALUES[..3], I8).unwrap())),
    ] {
        let flags = HeaderFlags::TOP2_MARGIN.with(HeaderFlags::CLASS_UNCALIBRATED);
        let header = Header { flags, ..header(Method::Umd, Reduction::TopLabel, encoding) };
        let mut tables = [Some(Table { form, epsilon: None }); CLASSES];
        tables[CLASSES - 1] = None;
        all.push(written(name, &header, &tables, &[]));
    }
    all
}

/// A table of which the bin around 0 holds no point; only C tells of such a bin.
pub(crate) fn with_an_empty_bin() -> Exportable {
    let steps = TableForm::MarginSteps(MarginTable::new(&EDGES, &VALUES).unwrap());
    let table = Some(Table { form: steps, epsilon: None });
    let mut flags = [BinFlags::NONE; VALUES.len()];
    flags[5] = BinFlags::EMPTY;
    let header = header(Method::FixedWidth, Reduction::Binary, ScoreEncoding::Margin);
    written("margins_with_an_empty_bin", &header, &[table], &flags)
}

fn one(name: &str, header: &Header<'_>, form: TableForm<'_>) -> Exportable {
    written(name, header, &[Some(Table { form, epsilon: None })], &[])
}

fn written(name: &str, header: &Header<'_>, tables: &[Option<Table<'_>>], flags: &[BinFlags]) -> Exportable {
    let bins: usize = tables.iter().flatten().map(|table| table.form.bins()).sum();
    let mut bytes = [0; 4096];
    let mut writer = ArtifactWriter::new(&mut bytes);
    writer.header(&Header { bins: bins as u32, ..*header }).unwrap();
    writer.tables(tables).unwrap();
    if !flags.is_empty() {
        writer.bin_flags(flags).unwrap();
    }
    let stored = StoredArtifact::from_bytes(writer.finish(|_| Identity(*b"identity")).unwrap()).unwrap();
    Exportable { name: name.into(), stored }
}

fn header(method: Method, reduction: Reduction, encoding: ScoreEncoding) -> Header<'static> {
    Header {
        method,
        reduction,
        encoding,
        classes: if reduction == Reduction::Binary { 2 } else { CLASSES as u16 },
        // A function has none, and `written` counts the others.
        bins: if matches!(method, Method::Platt | Method::Temperature) { 0 } else { 1 },
        n: 1000,
        guarantee: None,
        flags: HeaderFlags::NONE,
        provenance: Provenance {
            data_sha256: [3; 32],
            tool_version: "test",
            parameters: "",
            classifier: None,
        },
    }
}
