//! The tables as Rust.

use std::fmt::Write;

use calib_core::artifact::{HeaderFlags, TableForm};
use calib_core::score::FloatScore;
use calib_core::table::{
    CompactTable, InterpolatedTableOf, RandomizedTableOf, StepTableOf, VennAbersTableOf,
};
use calib_core::{Artifact, ProbInterval};
use calib_fit::artifact::StoredArtifact;

use super::comment::comment_line;
use super::example::{in_rust, tables_in_words};
use super::exported::{Exported, title};
use super::function::Function;

/// A `static` with a table, or none, per binary problem.
pub(super) fn tables(stored: &StoredArtifact, tables: &[Option<Exported<'_>>], name: &str) -> String {
    let artifact = stored.artifact();
    // In decimals that give the bits of the scale again.
    let encoding = format!("calib_core::ScoreEncoding::{:?}", artifact.header().encoding);
    let most = tables.iter().flatten().map(|table| table.form.bins()).max().unwrap_or(1);
    let room = most.next_power_of_two();
    // An artifact has a table, or it would not parse.
    let kind = match tables.iter().flatten().next().map(|table| table.form) {
        Some(TableForm::Randomized(_)) => "RandomizedTable<'static>",
        Some(TableForm::Interpolated(_)) => "InterpolatedTable<'static>",
        Some(TableForm::Scaling(_)) => "ScalingFunction",
        Some(TableForm::VennAbers(_)) => "VennAbersTable<'static>",
        Some(TableForm::Codes(_)) => "CodeTable<'static>",
        Some(TableForm::Compact(_)) => "CompactTable<'static>",
        Some(TableForm::MarginSteps(_)) => &format!("FixedMarginTable<{room}>"),
        Some(TableForm::MarginRandomized(_)) => "RandomizedMarginTable<'static>",
        Some(TableForm::MarginInterpolated(_)) => "InterpolatedMarginTable<'static>",
        Some(TableForm::MarginScaling(_)) => "MarginFunction",
        Some(TableForm::MarginVennAbers(_)) => "MarginVennAbersTable<'static>",
        _ => &format!("FixedTable<{room}>"),
    };
    let mut text: String = title(stored).iter().map(|line| commented(line)).collect();
    if artifact.operating_points().is_some() || artifact.prediction_sets().is_some() {
        text.push_str("// The artifact's thresholds and prediction sets are not here: parse the artifact itself for them.\n");
    }
    text.extend(example(&artifact, tables, name).iter().map(|line| commented(line)));
    // Writing to a string does not fail.
    let _ = writeln!(text, "#[rustfmt::skip]");
    let _ = writeln!(text, "static {name}: [Option<calib_core::table::{kind}>; {}] = [", tables.len());
    let is_top2_margin = artifact.header().flags.contains(HeaderFlags::TOP2_MARGIN);
    // A top-two margin is a difference of codes.
    let lowest =
        artifact.header().encoding.code_range().map(|(lowest, _)| if is_top2_margin { 0 } else { lowest });
    for table in tables {
        match table {
            None => text.push_str("    None,\n"),
            Some(table) => {
                for line in table.decimals(lowest) {
                    text += &format!("    {}", commented(&line));
                }
                let _ = writeln!(text, "    {},", value(&table.form, &encoding));
            }
        }
    }
    text.push_str("];\n");
    if tables.iter().flatten().any(|table| !table.intervals.is_empty()) {
        text += &intervals(tables, name);
    }
    text
}

/// A `static` with the intervals of each table, or none.
fn intervals(tables: &[Option<Exported<'_>>], name: &str) -> String {
    let has_ranges = tables.iter().flatten().any(|table| table.ranges.is_some());
    let kind = match has_ranges {
        true => "calib_core::artifact::ScoreBins<'static>",
        false => "&[Option<calib_core::ProbInterval>]",
    };
    let of_table = |table: &Option<Exported<'_>>| {
        let Some(table) = table else { return "    None,\n".to_owned() };
        let Some(ranges) = table.ranges else {
            let all: Vec<String> = table.intervals.iter().map(of_bin).collect();
            return format!("    Some(&[{}]),\n", all.join(", "));
        };
        let pair = |one: ProbInterval| format!("[{:#010x}, {:#010x}]", one.lo.to_bits(), one.hi.to_bits());
        let pairs: Vec<String> = ranges.intervals().map(pair).collect();
        let edges: Vec<String> = ranges.edges().iter().map(|edge| format!("{edge:#x}")).collect();
        format!(
            "    Some(match calib_core::artifact::ScoreBins::new(&[{}], &[{}]) {{ Some(ranges) => ranges, None => panic!() }}),\n",
            edges.join(", "),
            pairs.join(", ")
        )
    };
    let all: String = tables.iter().map(of_table).collect();
    format!(
        "#[allow(dead_code)]\n#[rustfmt::skip]\nstatic {name}_INTERVALS: [Option<{kind}>; {}] = [\n{all}];\n",
        tables.len()
    )
}

fn of_bin(interval: &Option<ProbInterval>) -> String {
    match interval {
        Some(ProbInterval { lo, hi }) => {
            format!("Some(calib_core::ProbInterval {{ lo: {}, hi: {} }})", float(*lo), float(*hi))
        }
        None => "None".into(),
    }
}

/// A line of a comment.
fn commented(line: &str) -> String {
    format!("// {}", comment_line(line)).trim_end().to_owned() + "\n"
}

/// How the tables are used.
fn example(artifact: &Artifact<'_>, tables: &[Option<Exported<'_>>], name: &str) -> Vec<String> {
    let mut lines = vec![
        String::new(),
        format!(
            "In Cargo.toml: calib-core = {{ path = \"PATH/calib-core\" }}, where PATH is a checkout of calib {}. How it is called:",
            env!("CARGO_PKG_VERSION")
        ),
        String::new(),
        "    include!(\"this file\");".into(),
        String::new(),
    ];
    lines.extend(in_rust(artifact, tables, name).into_iter().map(|line| format!("    {line}")));
    if let Some(tables) = tables_in_words(artifact) {
        lines.extend([String::new(), format!("Replace 0 with {tables}.")]);
    }
    lines
}

/// What makes a table; one that is none does not compile.
fn value(form: &TableForm<'_>, encoding: &str) -> String {
    let new = |kind: &str, arguments: &str| {
        format!(
            "Some(match calib_core::table::{kind}::new({arguments}) {{ Ok(table) => table, Err(_) => panic!() }})"
        )
    };
    let parameters = || Function::of(form).as_ref().map_or(String::new(), function);
    match form {
        TableForm::Steps(table) => format!("Some(calib_core::fixed_table!({}))", steps(table)),
        TableForm::MarginSteps(table) => format!("Some(calib_core::fixed_margin_table!({}))", steps(table)),
        TableForm::Randomized(table) => new("RandomizedTable", &randomized(table)),
        TableForm::MarginRandomized(table) => new("RandomizedMarginTable", &randomized(table)),
        TableForm::Interpolated(table) => new("InterpolatedTable", &interpolated(table)),
        TableForm::MarginInterpolated(table) => new("InterpolatedMarginTable", &interpolated(table)),
        TableForm::VennAbers(table) => new("VennAbersTable", &venn_abers(table)),
        TableForm::MarginVennAbers(table) => new("MarginVennAbersTable", &venn_abers(table)),
        TableForm::Codes(table) => {
            let (edges, values) = (integers(table.edges()), floats(table.values()));
            new("CodeTable", &format!("{edges}, {values}, {encoding}"))
        }
        TableForm::Compact(table) => {
            let values: Vec<u16> = table.values().map(|prob| CompactTable::nearest(prob.into())).collect();
            let (edges, values) = (integers(table.edges()), integers(&values));
            new("CompactTable", &format!("{edges}, {values}, {encoding}"))
        }
        TableForm::Scaling(_) => new("ScalingFunction", &parameters()),
        TableForm::MarginScaling(_) => new("MarginFunction", &parameters()),
        // There is no other form.
        _ => "None".into(),
    }
}

fn steps<S: FloatScore>(table: &StepTableOf<'_, S>) -> String {
    format!("{}, {}", slice(table.edges()), floats(table.values()))
}

fn randomized<S: FloatScore>(table: &RandomizedTableOf<'_, S>) -> String {
    format!("{}, {}, {}", slice(table.edges()), integers(table.ties()), floats(table.values()))
}

fn interpolated<S: FloatScore>(table: &InterpolatedTableOf<'_, S>) -> String {
    [table.x(), table.y(), table.slopes()].map(slice).join(", ")
}

fn venn_abers<S: FloatScore>(table: &VennAbersTableOf<'_, S>) -> String {
    [slice(table.edges()), floats(table.p0()), floats(table.p1())].join(", ")
}

fn slice(numbers: &[f32]) -> String {
    floats(numbers.iter().copied())
}

fn function(function: &Function) -> String {
    let field = |(name, value): &(&str, f32)| format!("{name}: {}", float(*value));
    let fields: Vec<String> = function.parameters.iter().map(field).collect();
    format!("calib_core::table::{}::{} {{ {} }}", function.family, function.kind, fields.join(", "))
}

fn floats(numbers: impl Iterator<Item = f32>) -> String {
    let numbers: Vec<String> = numbers.map(float).collect();
    // A separate constant, so that a table may keep it.
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
