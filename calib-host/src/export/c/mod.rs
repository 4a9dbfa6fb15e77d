//! The tables as a header in C.

mod data;
mod lookup;

use calib_core::{Artifact, Reduction};

use super::{Exported, title};
use lookup::Lookup;

/// The header: a title, the tables, and functions for what the reduction asks. The pieces of C hold words in capitals for
/// what differs.
pub(super) fn header(artifact: &Artifact<'_>, tables: &[Option<Exported<'_>>], name: &str) -> String {
    let lookup = Lookup::of(artifact, tables);
    let mut text = format!("/* {} */\n", title(artifact).join("\n   "));
    text.push_str(include_str!("before.h"));
    text.push_str(&data::tables(&lookup, artifact, tables));
    text.push_str(&lookup.functions());
    text.push_str(&of_reduction(artifact, &lookup));
    text.push_str("\n#endif\n");
    // Whatever words the name holds.
    text.replace("CAPITALS", "\0").replace("NAME", name).replace('\0', &name.to_ascii_uppercase())
}

/// The functions that take the scores of all classes.
fn of_reduction(artifact: &Artifact<'_>, lookup: &Lookup) -> String {
    let header = artifact.header();
    let (function, table) = match header.reduction {
        Reduction::Confidence => (include_str!("top_label.h"), "0"),
        Reduction::TopLabel => (include_str!("top_label.h"), "first"),
        Reduction::TopKLabel { .. } => (include_str!("top_k.h"), "rank * CAPITALS_CLASSES + class_"),
        Reduction::TopKConfidence { .. } => (include_str!("top_k.h"), "rank"),
        Reduction::Normalized => (include_str!("normalized.h"), ""),
        // A class's probability is that of its table, whatever the others' scores.
        _ => return String::new(),
    };
    let (vectors, score, check, as_score) = match lookup.code_type() {
        Some(code) => ("", code, "", "scores[first]"),
        None => (
            include_str!("vectors.h"),
            "float",
            "    if (!NAME_are_probs(scores))\n        return CAPITALS_BAD_SCORE;\n",
            "NAME_score(scores[first])",
        ),
    };
    // As `Probs::new` has it.
    let tolerance = (f32::from(header.classes) / 512.0).clamp(0.004, 0.1);
    let function = function.replace("AS_SCORE", as_score).replace("SCORE *", &format!("{score} *"));
    let function = function.replace("(TABLE,", &format!("({table},")).replace("CHECK", check);
    let text = [vectors, &function].concat().replace("TOLERANCE", &format!("{tolerance:e}f"));
    lookup.with_word(&text)
}
