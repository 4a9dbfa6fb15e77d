//! The tables as a header in C, from the templates beside this file.

mod data;
mod lookup;
mod rules;

use calib_core::Artifact;
use calib_core::artifact::{HeaderFlags, Reduction};
use calib_fit::artifact::{StoredArtifact, rule_sentences};
use minijinja::{Environment, Error, context};

use super::comment::comment_line;
use super::example::{in_c, tables_in_words};
use super::exported::{Exported, title, wrapped};
use lookup::{Kind, Lookup};

const TEMPLATES: [(&str, &str); 25] = [
    ("before.h", include_str!("before.h")),
    ("codes.h", include_str!("codes.h")),
    ("bounds.h", include_str!("bounds.h")),
    ("find_code.h", include_str!("find_code.h")),
    ("find_compact_code.h", include_str!("find_compact_code.h")),
    ("find_direct.h", include_str!("find_direct.h")),
    ("find_interpolated.h", include_str!("find_interpolated.h")),
    ("find_randomized.h", include_str!("find_randomized.h")),
    ("find_rounded.h", include_str!("find_rounded.h")),
    ("find_rounded_margin.h", include_str!("find_rounded_margin.h")),
    ("find_step.h", include_str!("find_step.h")),
    ("find_venn_abers.h", include_str!("find_venn_abers.h")),
    ("floats.h", include_str!("floats.h")),
    ("header.h", include_str!("header.h")),
    ("normalized.h", include_str!("normalized.h")),
    ("range.h", include_str!("range.h")),
    ("search.h", include_str!("search.h")),
    ("search_ties.h", include_str!("search_ties.h")),
    ("set.h", include_str!("set.h")),
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
    within: Option<f64>,
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
    let steps = within.map_or_else(Vec::new, |within| in_steps(within, header.reduction));
    environment.get_template("header.h")?.render(context! {
        name,
        NAME => name.to_ascii_uppercase(),
        title => commented(&[title(stored), steps].concat()),
        example => commented(&example(artifact, name)),
        classes => (header.classes > 2 || tables.len() > 1).then_some(header.classes),
        ranks => header.reduction.top_k(),
        parts => lookup.parts(),
        tables => data::tables(&lookup, tables, lookup.is_code().then_some(lowest)),
        search => lookup.search(),
        find => lookup.find(),
        from_each => lookup.beginning_with(),
        has_empty => lookup.has_empty,
        has_bounds => lookup.has_bounds,
        has_ranges => lookup.has_ranges,
        range_key => lookup.range_key(),
        has_p0_p1 => lookup.kind == Kind::VennAbers,
        is_randomized => lookup.kind == Kind::Randomized,
        is_code => lookup.is_code(),
        is_margin => lookup.is_margin(),
        is_top2_margin,
        key => lookup.key(),
        score_type => lookup.score_type(),
        lowest,
        highest,
        reduction => if is_top2_margin { Some("top_label_margin.h") } else { of_reduction(header.reduction) },
        is_by_label => matches!(header.reduction, Reduction::TopLabel | Reduction::TopKLabel { .. }),
        tolerance => format!("{tolerance:e}f"),
        has_tables => !tables.is_empty(),
        rule => rule_sentences(artifact).iter().map(|line| comment_line(line)).collect::<Vec<_>>(),
        points => artifact.operating_points().map(rules::points),
        sets => artifact.prediction_sets().and_then(|sets| rules::sets(artifact, sets)),
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

/// What tables of steps are that stand for functions.
fn in_steps(within: f64, reduction: Reduction) -> Vec<String> {
    let more = match reduction {
        Reduction::Normalized => " Probabilities that are divided by their sum may differ more.",
        _ => "",
    };
    let text = format!(
        "Steps stand for each scaling function. At every score, their value differs from `calib apply` by at most {within:.4}.{more} For \
         bit-identical values, fit with `--table steps`."
    );
    [vec![String::new()], wrapped(&text)].concat()
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
