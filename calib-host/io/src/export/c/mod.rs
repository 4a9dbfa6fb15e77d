//! The tables as a header in C, from the templates beside this file.

mod data;
mod joint;
mod lookup;
mod rules;

use calib_core::Artifact;
use calib_core::artifact::{HeaderFlags, Reduction};
use calib_fit::artifact::{StoredArtifact, rule_sentences};
use minijinja::{Environment, Error, Value, context};

use super::comment::comment_line;
use super::example::{in_c, tables_in_words};
use super::exported::{Exported, score_type, title};
use super::function::Function;
use lookup::{Kind, Lookup};

const TEMPLATES: [(&str, &str); 35] = [
    ("arithmetic.h", include_str!("arithmetic.h")),
    ("before.h", include_str!("before.h")),
    ("checked.h", include_str!("checked.h")),
    ("cell_grid.h", include_str!("cell_grid.h")),
    ("cell_projection.h", include_str!("cell_projection.h")),
    ("cell_sierpinski.h", include_str!("cell_sierpinski.h")),
    ("cell_tree.h", include_str!("cell_tree.h")),
    ("codes.h", include_str!("codes.h")),
    ("bounds.h", include_str!("bounds.h")),
    ("find_code.h", include_str!("find_code.h")),
    ("find_compact_code.h", include_str!("find_compact_code.h")),
    ("find_direct.h", include_str!("find_direct.h")),
    ("find_function.h", include_str!("find_function.h")),
    ("find_interpolated.h", include_str!("find_interpolated.h")),
    ("find_randomized.h", include_str!("find_randomized.h")),
    ("find_rounded.h", include_str!("find_rounded.h")),
    ("find_rounded_margin.h", include_str!("find_rounded_margin.h")),
    ("find_step.h", include_str!("find_step.h")),
    ("find_venn_abers.h", include_str!("find_venn_abers.h")),
    ("floats.h", include_str!("floats.h")),
    ("function.h", include_str!("function.h")),
    ("header.h", include_str!("header.h")),
    ("joint.h", include_str!("joint.h")),
    ("normalized.h", include_str!("normalized.h")),
    ("range.h", include_str!("range.h")),
    ("search.h", include_str!("search.h")),
    ("search_ties.h", include_str!("search_ties.h")),
    ("set.h", include_str!("set.h")),
    ("set_binary.h", include_str!("set_binary.h")),
    ("tables.h", include_str!("tables.h")),
    ("top_k.h", include_str!("top_k.h")),
    ("top_label.h", include_str!("top_label.h")),
    ("top_label_margin.h", include_str!("top_label_margin.h")),
    ("vectors.h", include_str!("vectors.h")),
    ("verdict.h", include_str!("verdict.h")),
];

/// The header: a title, the tables, and functions for what the reduction asks.
pub(super) fn header(
    stored: &StoredArtifact,
    tables: &[Option<Exported<'_>>],
    name: &str,
) -> Result<String, Error> {
    let artifact = &stored.artifact();
    let (header, lookup) = (artifact.header(), Lookup::of(artifact, tables));
    let (lowest, highest) = header.encoding.code_range().unwrap_or_default();
    let is_top2_margin = header.flags.contains(HeaderFlags::TOP2_MARGIN);
    // A top-two margin is a difference of codes.
    let (lowest, highest) = if is_top2_margin { (0, highest - lowest) } else { (lowest, highest) };
    // As `Probs::new` has it.
    let tolerance = (f32::from(header.classes) / 512.0).clamp(0.004, 0.1);
    let mut environment = Environment::new();
    environment.set_trim_blocks(true);
    environment.set_lstrip_blocks(true);
    environment.set_keep_trailing_newline(true);
    for (file, source) in TEMPLATES {
        environment.add_template(file, source)?;
    }
    let names = |function: &Function| {
        let parameters: Vec<&str> = function.parameters.iter().map(|(name, _)| *name).collect();
        context! { kind => function.kind, parameters }
    };
    let per_group = artifact.groups().map_or(0, |groups| tables.len() / groups.count());
    // Of one score, the group is the number of the table; of several, only the predicted class's may differ by group.
    let has_group = header.flags.contains(HeaderFlags::GROUPED) && header.reduction != Reduction::Binary;
    environment.get_template("header.h")?.render(context! {
        name,
        NAME => name.to_ascii_uppercase(),
        title => commented(&title(stored)),
        example => commented(&example(artifact, name)),
        classes => (header.classes > 2 || tables.len() > 1).then_some(header.classes),
        ranks => header.reduction.top_k(),
        parts => lookup.parts(),
        tables => data::tables(&lookup, tables, lookup.is_code().then_some(lowest)),
        search => lookup.search(),
        find => lookup.find(),
        from_each => lookup.beginning_with(),
        has_empty => lookup.has_empty,
        functions => lookup.functions.iter().map(names).collect::<Vec<_>>(),
        arithmetic => arithmetic(&lookup.functions),
        group_argument => if has_group { "uint32_t group, " } else { "" },
        first_table => if has_group { format!("group * {per_group}u + ") } else { String::new() },
        groups => artifact.groups().filter(|_| has_group).map(|groups| groups.count()),
        joint => joint::joint(artifact),
        has_bounds => lookup.has_bounds,
        has_ranges => lookup.has_ranges,
        range_key => lookup.range_key(),
        has_p0_p1 => lookup.kind == Kind::VennAbers,
        is_randomized => lookup.kind == Kind::Randomized,
        is_code => lookup.is_code(),
        is_margin => lookup.is_margin(),
        needs_key => lookup.is_margin() && (lookup.kind != Kind::Function || lookup.has_ranges),
        is_top2_margin,
        key => lookup.key(),
        score_type => score_type(&header.encoding),
        lowest,
        highest,
        reduction => if is_top2_margin { Some("top_label_margin.h") } else { of_reduction(header.reduction) },
        is_by_label => matches!(header.reduction, Reduction::TopLabel | Reduction::TopKLabel { .. }),
        tolerance => format!("{tolerance:e}f"),
        has_tables => !tables.is_empty(),
        rule => rule_sentences(artifact).iter().map(|line| comment_line(line)).collect::<Vec<_>>(),
        points => artifact.operating_points().map(rules::points),
        sets => artifact.prediction_sets().map(|sets| rules::sets(artifact, sets)),
        score_words => match (header.encoding.is_quantized(), header.encoding.is_margin()) {
            (true, _) => "code",
            (false, true) => "margin, any finite float,",
            (false, false) => "score",
        },
    })
}

/// Lines for a comment, of which the first stands where it begins.
fn commented(lines: &[String]) -> String {
    let lines: Vec<String> = lines.iter().map(|line| comment_line(line)).collect();
    lines.join("\n   ").replace("   \n", "\n")
}

/// Which functions of arithmetic the scaling functions call.
fn arithmetic(functions: &[Function]) -> Value {
    let has =
        |name| functions.iter().flat_map(|function| &function.parameters).any(|(other, _)| *other == name);
    let any = functions.iter().any(|function| !function.parameters.is_empty());
    context! { times => any, exp => any, sigmoid => any, log => has("clip"), bounded => has("scale") }
}

/// How the header is used.
fn example(artifact: &Artifact<'_>, name: &str) -> Vec<String> {
    let mut lines = vec!["How it is called, where `use_it` is yours:".into(), String::new()];
    lines.extend(in_c(artifact, name).into_iter().map(|line| format!("    {line}").trim_end().to_owned()));
    if let Some(tables) = tables_in_words(artifact) {
        lines.extend([String::new(), format!("`table` is {tables}.")]);
    }
    lines
}

/// The template of the function that takes the scores of all classes, if there is one.
const fn of_reduction(reduction: Reduction) -> Option<&'static str> {
    match reduction {
        Reduction::Confidence | Reduction::TopLabel => Some("top_label.h"),
        Reduction::TopKLabel { .. } | Reduction::TopKConfidence { .. } => Some("top_k.h"),
        Reduction::Normalized => Some("normalized.h"),
        // A class's probability is that of its table, whatever the others' scores.
        _ => None,
    }
}
