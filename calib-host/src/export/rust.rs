//! The tables as Rust.

use std::fmt::Write;

use calib_core::ScoreEncoding;
use calib_core::artifact::TableForm;
use calib_core::table::{CompactTable, Scaling};
use calib_fit::artifact::StoredArtifact;

use super::exported::{Exported, title};

/// A `static` with a table, or none, per binary problem.
pub(super) fn tables(stored: &StoredArtifact, tables: &[Option<Exported<'_>>], name: &str) -> String {
    let artifact = stored.artifact();
    let encoding = encoding(artifact.header().encoding);
    let most = tables.iter().flatten().map(|table| table.form.bins()).max().unwrap_or(1);
    let room = most.next_power_of_two();
    // An artefact has a table, or it would not parse.
    let kind = match tables.iter().flatten().next().map(|table| table.form) {
        Some(TableForm::Randomized(_)) => "RandomizedTable<'static>",
        Some(TableForm::Interpolated(_)) => "InterpolatedTable<'static>",
        Some(TableForm::Scaling(_)) => "ScalingFunction",
        Some(TableForm::VennAbers(_)) => "VennAbersTable<'static>",
        Some(TableForm::Codes(_)) => "CodeTable<'static>",
        Some(TableForm::Compact(_)) => "CompactTable<'static>",
        _ => &format!("FixedTable<{room}>"),
    };
    let mut text: String =
        title(stored).iter().map(|line| format!("// {line}").trim_end().to_owned() + "\n").collect();
    // Writing to a string does not fail.
    let _ = writeln!(text, "#[rustfmt::skip]");
    let _ = writeln!(text, "static {name}: [Option<calib_core::table::{kind}>; {}] = [", tables.len());
    for table in tables {
        match table {
            None => text.push_str("    None,\n"),
            Some(table) => {
                let _ = writeln!(text, "    {},", value(&table.form, &encoding));
            }
        }
    }
    text.push_str("];\n");
    text
}

/// What makes a table; one that is none does not compile.
fn value(form: &TableForm<'_>, encoding: &str) -> String {
    let new = |kind: &str, arguments: &str| {
        format!(
            "Some(match calib_core::table::{kind}::new({arguments}) {{ Ok(table) => table, Err(_) => panic!() }})"
        )
    };
    let slice = |numbers: &[f32]| floats(numbers.iter().copied());
    match form {
        TableForm::Steps(table) => {
            let (edges, values) = (slice(table.edges()), floats(table.values()));
            format!("Some(calib_core::fixed_table!({edges}, {values}))")
        }
        TableForm::Randomized(table) => {
            let (edges, values) = (slice(table.edges()), floats(table.values()));
            new("RandomizedTable", &format!("{edges}, {}, {values}", integers(table.ties())))
        }
        TableForm::Interpolated(table) => {
            let parts = [table.x(), table.y(), table.slopes()].map(slice);
            new("InterpolatedTable", &parts.join(", "))
        }
        TableForm::VennAbers(table) => {
            let parts = [slice(table.edges()), floats(table.p0()), floats(table.p1())];
            new("VennAbersTable", &parts.join(", "))
        }
        TableForm::Codes(table) => {
            let (edges, values) = (integers(table.edges()), floats(table.values()));
            new("CodeTable", &format!("{edges}, {values}, {encoding}"))
        }
        TableForm::Compact(table) => {
            let values: Vec<u16> = table.values().map(|prob| CompactTable::nearest(prob.into())).collect();
            let (edges, values) = (integers(table.edges()), integers(&values));
            new("CompactTable", &format!("{edges}, {values}, {encoding}"))
        }
        TableForm::Scaling(function) => new("ScalingFunction", &scaling(function.parameters())),
        // There is no other form.
        _ => "None".into(),
    }
}

fn scaling(scaling: Scaling) -> String {
    let (kind, parameters): (_, &[(&str, f32)]) = match scaling {
        Scaling::PlattLogit { a, b, clip } => ("PlattLogit", &[("a", a), ("b", b), ("clip", clip)]),
        Scaling::PlattProb { a, b } => ("PlattProb", &[("a", a), ("b", b)]),
        Scaling::Beta { a, b, c, clip } => ("Beta", &[("a", a), ("b", b), ("c", c), ("clip", clip)]),
        Scaling::Temperature { inverse_t, clip } => {
            ("Temperature", &[("inverse_t", inverse_t), ("clip", clip)])
        }
        // There is no other function.
        _ => return String::new(),
    };
    let fields: Vec<String> =
        parameters.iter().map(|(name, value)| format!("{name}: {}", float(*value))).collect();
    format!("calib_core::table::Scaling::{kind} {{ {} }}", fields.join(", "))
}

fn encoding(encoding: ScoreEncoding) -> String {
    let affine = |kind, scale: f32, zero_point| {
        format!("calib_core::ScoreEncoding::{kind} {{ scale: {}, zero_point: {zero_point} }}", float(scale))
    };
    match encoding {
        ScoreEncoding::U8 { scale, zero_point } => affine("U8", scale, zero_point),
        ScoreEncoding::I8 { scale, zero_point } => affine("I8", scale, zero_point),
        ScoreEncoding::U16 { scale, zero_point } => affine("U16", scale, zero_point),
        ScoreEncoding::RoundedF32 => "calib_core::ScoreEncoding::RoundedF32".into(),
        _ => "calib_core::ScoreEncoding::F32".into(),
    }
}

fn floats(numbers: impl Iterator<Item = f32>) -> String {
    let numbers: Vec<String> = numbers.map(float).collect();
    // A constant of its own, so that a table may keep it.
    format!("const {{ &[{}] }}", numbers.join(", "))
}

/// By bits: nothing is rounded on the way.
fn float(number: f32) -> String {
    format!("f32::from_bits({:#010x})", number.to_bits())
}

fn integers(numbers: &[impl ToString]) -> String {
    let numbers: Vec<String> = numbers.iter().map(ToString::to_string).collect();
    format!("&[{}]", numbers.join(", "))
}
