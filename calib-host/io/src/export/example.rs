//! How what is exported is called: a function for the first comment of the source code.

use calib_core::Artifact;
use calib_core::artifact::{HeaderFlags, Reduction, TableForm};

use super::exported::{Exported, joint, score_type};

/// A function of C that calls the header by its artifact's reduction, line by line. `use_it` is the reader's own.
pub(super) fn in_c(artifact: &Artifact<'_>, name: &str) -> Vec<String> {
    let header = artifact.header();
    let upper = name.to_ascii_uppercase();
    let number = score_type(&header.encoding);
    let is_top2_margin = header.flags.contains(HeaderFlags::TOP2_MARGIN);
    let (word, draw) = match artifact.is_randomized() {
        true => (", uint32_t random_word", "random_word, "),
        false => ("", ""),
    };
    let is_grouped = header.flags.contains(HeaderFlags::GROUPED);
    let (group_parameter, group) = if is_grouped { ("uint32_t group, ", "group, ") } else { ("", "") };
    let (parameters, variables, call) = match (joint(artifact), header.reduction) {
        (Some(calibrator), _) => {
            let scores = if calibrator.needs_logits() { "logits" } else { "probs" };
            let call = format!("{name}_all_classes({scores}, calibrated, &predicted, &result)");
            let variables = vec![format!("float calibrated[{upper}_CLASSES];"), "uint32_t predicted;".into()];
            (format!("const float *{scores}"), variables, call)
        }
        _ if artifact.tables().count() == 0 => return without_tables(artifact, name, number),
        (_, Reduction::Confidence | Reduction::TopLabel) => {
            let scores = if is_top2_margin { "logits" } else { "scores" };
            let call = format!("{name}_top_label({group}{scores}, {draw}&predicted, &result)");
            (
                format!("{group_parameter}const {number} *{scores}"),
                vec!["uint32_t predicted;".to_owned()],
                call,
            )
        }
        (_, Reduction::TopKLabel { .. } | Reduction::TopKConfidence { .. }) => {
            let call = format!("{name}_top_k(probs, rank, {draw}&class_of_rank, &result)");
            ("const float *probs, uint32_t rank".into(), vec!["uint32_t class_of_rank;".to_owned()], call)
        }
        (_, Reduction::Normalized) => {
            return normalized(name, &upper, (word, draw));
        }
        _ => {
            let index = match artifact.tables().count() {
                1 => "0",
                _ => "table",
            };
            let score = format!("{number} score");
            let parameters = if index == "0" { score } else { format!("uint32_t table, {score}") };
            (parameters, Vec::new(), format!("{name}_calibrate({index}, score, {draw}&result)"))
        }
    };
    let mut lines = vec![format!("void example({parameters}{word})"), "{".into()];
    lines.push(format!("    struct {name}_result result;"));
    lines.extend(variables.iter().map(|line| format!("    {line}")));
    lines.extend([
        String::new(),
        format!("    if ({call} == {upper}_OK)"),
        "        use_it(result.prob);".into(),
        "}".into(),
    ]);
    lines
}

fn normalized(name: &str, upper: &str, (word, draw): (&str, &str)) -> Vec<String> {
    vec![
        format!("void example(const float *probs{word})"),
        "{".into(),
        format!("    float calibrated[{upper}_CLASSES];"),
        String::new(),
        format!("    if ({name}_normalized(probs, {draw}calibrated) == {upper}_OK)"),
        "        use_it(calibrated[0]);".into(),
        "}".into(),
    ]
}

/// Of an artifact with thresholds or sets alone.
fn without_tables(artifact: &Artifact<'_>, name: &str, number: &str) -> Vec<String> {
    let upper = name.to_ascii_uppercase();
    if artifact.operating_points().is_some() {
        return vec![
            format!("void example({number} score)"),
            "{".into(),
            "    int verdict;".into(),
            String::new(),
            format!("    if ({name}_verdict(0, score, &verdict) == {upper}_OK)"),
            format!("        use_it(verdict == {upper}_POSITIVE);"),
            "}".into(),
        ];
    }
    if artifact.header().reduction == Reduction::Binary {
        return vec![
            format!("void example({number} score)"),
            "{".into(),
            "    uint32_t set;".into(),
            String::new(),
            format!("    if ({name}_set(score, &set) == {upper}_OK)"),
            "        use_it(set & 1u);".into(),
            "}".into(),
        ];
    }
    vec![
        format!("void example(const {number} *scores)"),
        "{".into(),
        "    uint32_t set[4];".into(),
        String::new(),
        format!("    if ({name}_set(scores, set) == {upper}_OK)"),
        "        use_it(set[0] & 1u);".into(),
        "}".into(),
    ]
}

/// What `table` stands for in the example, where it is an argument.
pub(super) fn tables_in_words(artifact: &Artifact<'_>) -> Option<&'static str> {
    let header = artifact.header();
    match header.reduction {
        _ if artifact.tables().count() < 2 => None,
        Reduction::Binary if header.flags.contains(HeaderFlags::GROUPED) => Some("the number of the group"),
        Reduction::ClassWise => Some("the number of the class, from 0"),
        _ => None,
    }
}

/// The key of a score among the edges of ranges.
fn key_of(artifact: &Artifact<'_>, form: &TableForm<'_>) -> &'static str {
    let encoding = artifact.header().encoding;
    match (encoding.is_quantized(), form) {
        (true, _) => "score.key().into()",
        (false, TableForm::Compact(_)) => "score.rounded_key().into()",
        _ if encoding.is_margin() => "score.key()",
        _ => "score.to_bits()",
    }
}

/// A function of Rust that looks a score up in the first table, line by line.
pub(super) fn in_rust(artifact: &Artifact<'_>, tables: &[Option<Exported<'_>>], name: &str) -> Vec<String> {
    let header = artifact.header();
    let is_margin = header.encoding.is_margin();
    // Codes are made by an encoding, which is long to write down: its key stands for all that.
    let score = match (header.encoding.is_quantized(), is_margin) {
        (true, _) => "calib_core::QuantizedScore",
        (false, true) => "calib_core::Margin",
        (false, false) => "calib_core::Score",
    };
    let form = tables.iter().flatten().next().map(|table| table.form);
    let (word, looked_up) = match form {
        Some(TableForm::Randomized(_) | TableForm::MarginRandomized(_)) => {
            (", random_word: u32", "table.lookup(score, random_word).1")
        }
        Some(TableForm::Scaling(_) | TableForm::MarginScaling(_)) => ("", "table.prob(score)"),
        Some(TableForm::Compact(_)) if !header.encoding.is_quantized() => ("", "table.lookup_score(score).1"),
        _ => ("", "table.lookup(score).1"),
    };
    let mut lines = vec![
        format!("fn example(score: {score}{word}) -> Option<f32> {{"),
        format!("    let table = {name}[0].as_ref()?;"),
        format!("    Some({looked_up})"),
        "}".into(),
    ];
    let first = tables.iter().flatten().next().filter(|table| !table.intervals.is_empty());
    lines.extend(first.into_iter().flat_map(|table| match table.ranges {
        Some(_) => [
            format!("fn interval(score: {score}) -> Option<calib_core::ProbInterval> {{"),
            format!("    let ranges = {name}_INTERVALS[0].as_ref()?;"),
            format!("    ranges.interval(ranges.bin({}))", key_of(artifact, &table.form)),
            "}".into(),
        ],
        None => [
            format!("fn interval(score: {score}{word}) -> Option<calib_core::ProbInterval> {{"),
            format!("    let table = {name}[0].as_ref()?;"),
            format!("    *{name}_INTERVALS[0]?.get(usize::from({}))?", looked_up.replace(".1", ".0")),
            "}".into(),
        ],
    }));
    lines
}
