//! What an artifact holds.

use std::io::{self, Write};
use std::path::Path;

use calib_core::artifact::{FORMAT_VERSION, Header, HeaderFlags, Rate, Reduction, ScoreIntervals, TableForm};
use calib_core::slot::Rotation;
use calib_core::{Artifact, BinFlags, Calibrator, Margin, ProbInterval};
use calib_fit::StoredArtifact;
use calib_fit::artifact::{
    MonitorFacts, PointsFacts, SetsFacts, band_steps, between, encoding_of_keys, guarantee_text, points,
    rule_sentences, score_edges, scores_in_words, shortest, size_in_words, table_label,
};
use calib_fit::job::GuaranteeFacts;
use calib_fit::stats::{decimals, places_between, thousands};
use calib_io::files::PublicKey;
use serde::Serialize;
use serde_json::{Value, json};

use super::form::{ShownTable, direct_table, in_steps, within};
use super::joint::{print_vector, vector_json};
use super::monitors::print_monitors;
use super::rule::{print_rule, print_thresholds, rule_json};
use crate::out::labeled;

/// Prints what the artifact in a file holds, all of it.
pub(crate) fn print_artifact(path: &Path, stored: &StoredArtifact, out: &mut dyn Write) -> io::Result<()> {
    let artifact = &stored.artifact();
    print_name(path, artifact, out)?;
    print_fit(artifact, out)?;
    writeln!(out, "data        sha256 {}", hex::encode(artifact.header().provenance.data_sha256))?;
    print_origin(stored, out)?;
    if let Some(sample) = stored.sample() {
        writeln!(out, "rows        hash {}", hex::encode(sample.rows.to_bytes()))?;
    }
    for (at, text) in guarantee_text(stored).lines().iter().enumerate() {
        let lines = labeled(if at == 0 { "in words" } else { "" }, text);
        lines.iter().try_for_each(|line| writeln!(out, "{line}"))?;
    }
    if let Calibrator::Vector(calibrator) = artifact.calibrator() {
        print_vector(&calibrator, out)?;
        print_ranges_of_classes(artifact, out)?;
    }
    if let Some(rule) = artifact.decision() {
        print_rule(out, rule)?;
    }
    if let Some(groups) = artifact.groups() {
        writeln!(out, "groups      {}", groups.names().collect::<Vec<_>>().join(", "))?;
    }
    print_thresholds(out, artifact)?;
    print_monitors(artifact, out)?;
    print_same_tables(artifact, out)?;
    (0..artifact.tables().count()).try_for_each(|table| print_table(artifact, table, out))
}

/// What the artifact is.
pub(super) fn print_name(path: &Path, artifact: &Artifact<'_>, out: &mut dyn Write) -> io::Result<()> {
    let (identity, len_bytes) = (artifact.identity(), artifact.len_bytes());
    let what = format!("format {FORMAT_VERSION}, id {identity}, {} bytes, crc ok", thousands(len_bytes));
    writeln!(out, "{}: {what}", path.display())
}

/// What was fitted, what is guaranteed, and what befell it.
fn print_fit(artifact: &Artifact<'_>, out: &mut dyn Write) -> io::Result<()> {
    // Some methods have no parameters.
    let parameters =
        Some(artifact.header().provenance.parameters).filter(|parameters| !parameters.is_empty());
    print_method(artifact, &parameters.map_or(String::new(), |parameters| format!(", {parameters}")), out)?;
    if let Some(sentence) = in_steps(artifact) {
        writeln!(out, "            {sentence}")?;
    }
    print_guarantee(artifact, out)?;
    print_flags(artifact, out)
}

/// By which method, and to what.
pub(super) fn print_method(artifact: &Artifact<'_>, parameters: &str, out: &mut dyn Write) -> io::Result<()> {
    let header = artifact.header();
    let reduction = match header.reduction.top_k() {
        Some(k) => format!("{}, k = {k}", header.reduction),
        None => header.reduction.to_string(),
    };
    writeln!(out, "method      {} ({reduction}){parameters}", header.method)?;
    let bins =
        size_in_words(header.method, header.bins as usize).map_or(String::new(), |bins| format!(", {bins}"));
    let what = format!("{}, {} classes, {}{bins}", header.encoding, header.classes, points(artifact));
    labeled("scores", &what).iter().try_for_each(|line| writeln!(out, "{line}"))?;
    if is_by_top2_margin(header) {
        writeln!(out, "            the top-two margin: the largest logit minus the second largest one")?;
    }
    Ok(())
}

/// What is guaranteed, in numbers.
fn print_guarantee(artifact: &Artifact<'_>, out: &mut dyn Write) -> io::Result<()> {
    let header = artifact.header();
    match header.guarantee {
        Some(g) if g.epsilon >= 1.0 => {
            writeln!(out, "guarantee   none: an epsilon of {} is wider than every probability", g.epsilon)?;
        }
        Some(g) => writeln!(
            out,
            "guarantee   within {} with probability {:.*} ({})",
            g.epsilon,
            decimals(g.alpha),
            1.0 - f64::from(g.alpha),
            g.theorem
        )?,
        None if artifact.score_intervals().is_some() || artifact.band().is_some() => {}
        None => writeln!(out, "guarantee   none")?,
    }
    if let Some(found) = artifact.score_intervals() {
        let (decimals, probability) = (decimals(found.alpha()), 1.0 - f64::from(found.alpha()));
        writeln!(
            out,
            "guarantee   an interval for each score range, with probability {probability:.decimals$} ({})",
            rate_of(found)
        )?;
    }
    if let Some(band) = artifact.band() {
        let (decimals, probability) = (decimals(band.alpha()), 1.0 - f64::from(band.alpha()));
        writeln!(
            out,
            "guarantee   a band for every score simultaneously, with probability {probability:.decimals$}, if a higher score never means a \
             lower probability"
        )?;
    }
    Ok(())
}

/// What befell the fit.
pub(super) fn print_flags(artifact: &Artifact<'_>, out: &mut dyn Write) -> io::Result<()> {
    let header = artifact.header();
    if header.flags.contains(HeaderFlags::TIES_MERGED) {
        writeln!(out, "flags       equal scores at an edge were kept in one bin")?;
    }
    if header.flags.contains(HeaderFlags::CLASS_UNCALIBRATED) {
        let tables = artifact.tables();
        let missing = (0..tables.count()).filter(|&table| tables.get(table).is_none()).count();
        writeln!(out, "flags       {missing} of {} tables uncalibrated", tables.count())?;
    }
    if header.flags.contains(HeaderFlags::WEIGHTED) {
        writeln!(out, "flags       the calibration observations had real weights")?;
    }
    Ok(())
}

/// A key that took the place of another one, and the least counter of what it signs.
#[derive(Serialize)]
struct NextKey {
    key: Option<String>,
    counter: u32,
}

fn next_keys(stored: &StoredArtifact) -> Vec<NextKey> {
    let named = |rotation: &Rotation| NextKey {
        key: PublicKey::from_bytes(&rotation.next).map(|key| key.id().to_string()),
        counter: rotation.counter,
    };
    stored.rotations().iter().map(named).collect()
}

/// Where it comes from.
pub(super) fn print_origin(stored: &StoredArtifact, out: &mut dyn Write) -> io::Result<()> {
    let artifact = stored.artifact();
    let header = artifact.header();
    if let Some(id) = header.provenance.classifier {
        writeln!(out, "classifier  {id}")?;
    }
    if artifact.counter() > 0 {
        writeln!(out, "counter     {}", artifact.counter())?;
    }
    if let Some(signature) = artifact.signature() {
        writeln!(out, "signature   with key {}, not verified here: see `calib verify`", signature.key)?;
    }
    for NextKey { key, counter } in next_keys(stored) {
        let key = key.as_deref().unwrap_or("unknown");
        writeln!(out, "next key    {key}, from counter {counter} on")?;
    }
    writeln!(out, "written by  calib {}", header.provenance.tool_version)
}

/// Which classes have the same table: that of the rows of all classes, if each was predicted too rarely.
pub(super) fn print_same_tables(artifact: &Artifact<'_>, out: &mut dyn Write) -> io::Result<()> {
    let tables = artifact.tables();
    let mut same: Vec<(Value, Vec<String>)> = Vec::new();
    for (index, table) in (0..tables.count()).filter_map(|index| Some((index, tables.get(index)?))) {
        let content = ShownTable::of(&table.form, encoding_of_keys(artifact)).json;
        let name = table_label(artifact, index);
        match same.iter_mut().find(|(other, _)| *other == content) {
            Some((_, names)) => names.push(name),
            None => same.push((content, vec![name])),
        }
    }
    for (_, names) in same.iter().filter(|(_, names)| names.len() > 1) {
        let lines = labeled("together", &format!("{} have the same table", names.join(", ")));
        lines.iter().try_for_each(|line| writeln!(out, "{line}"))?;
    }
    Ok(())
}

/// Tells whether the score of a predicted class is its top-two margin.
fn is_by_top2_margin(header: &Header<'_>) -> bool {
    header.flags.contains(HeaderFlags::TOP2_MARGIN)
}

/// The least and the greatest score, or code, of a table's calibration points, if the artifact tells.
fn score_range(artifact: &Artifact<'_>, table: usize) -> Option<[f64; 2]> {
    let encoding = encoding_of_keys(artifact);
    let range = artifact.tables().score_range(table)?;
    Some(range.map(|end| match encoding.code_range() {
        Some((lowest, _)) => f64::from(lowest) + f64::from(end),
        None if encoding.is_margin() => shortest(Margin::from_key(end).unwrap_or_default().get()),
        None => shortest(f32::from_bits(end)),
    }))
}

/// Of which rate intervals of ranges are.
fn rate_of(found: ScoreIntervals<'_>) -> &'static str {
    match found.rate() {
        Rate::OfRange => "the event rate of the range",
        _ => "the event rate at the calibration scores of the range",
    }
}

/// The ranges of the score that have separate intervals: from which score, or code, to below which, and the interval.
fn ranges(artifact: &Artifact<'_>, table: usize) -> Option<Vec<([Option<f64>; 2], ProbInterval)>> {
    let bins = artifact.tables().score_bins(table)?;
    Some(between(&score_edges(artifact, table)?).zip(bins.intervals()).collect())
}

/// The same as JSON, with alpha; null without a band.
pub(super) fn band_json(artifact: &Artifact<'_>) -> Value {
    let Some((band, pieces)) = artifact.band().zip(band_steps(artifact)) else { return Value::Null };
    json!({"alpha": band.alpha(), "steps": pieces.iter().map(range_json).collect::<Vec<_>>()})
}

/// The same as JSON; null without such ranges.
pub(super) fn ranges_json(artifact: &Artifact<'_>, table: usize) -> Value {
    ranges(artifact, table).map(|ranges| ranges.iter().map(range_json).collect()).unwrap_or_default()
}

fn range_json((scores, i): &([Option<f64>; 2], ProbInterval)) -> Value {
    json!({"scores": scores, "interval": [i.lo, i.hi]})
}

/// A table in a line: its size, and the scores that it saw.
pub(super) fn table_head(artifact: &Artifact<'_>, index: usize) -> String {
    let name = match artifact.tables().count() {
        1 => String::new(),
        _ => format!(" ({})", table_label(artifact, index)),
    };
    let Some(table) = artifact.tables().get(index) else {
        return format!("table {index}{name}: uncalibrated");
    };
    let range = score_range(artifact, index);
    let range = range.map_or(String::new(), |[lowest, highest]| format!(", scores {lowest} to {highest}"));
    let epsilon = table.epsilon.map_or(String::new(), |epsilon| format!(", epsilon {epsilon}"));
    let ShownTable { size, len_bytes, lines, .. } = ShownTable::of(&table.form, encoding_of_keys(artifact));
    let size = size
        .or_else(|| size_in_words(artifact.header().method, lines.len()))
        .unwrap_or_else(|| "no bins".into());
    format!("table {index}{name}: {size}, {len_bytes} bytes{epsilon}{range}")
}

/// A table, a line for each bin.
fn print_table(artifact: &Artifact<'_>, index: usize, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "{}", table_head(artifact, index))?;
    let Some(table) = artifact.tables().get(index) else { return Ok(()) };
    let ShownTable { len_bytes, lines, .. } = ShownTable::of(&table.form, encoding_of_keys(artifact));
    if let (TableForm::Codes(_), Some(direct)) = (&table.form, direct_table(artifact)) {
        let has = if artifact.tables().has_direct_table() { "takes" } else { "would take" };
        writeln!(out, "  search: {len_bytes} bytes, a direct table {has} {direct} more")?;
    }
    // Steps of a function say little one by one.
    let is_long = table.epsilon.is_none() && lines.len() > 2 * SHOWN + 1;
    for (row, line) in lines.iter().enumerate() {
        if is_long && row == SHOWN {
            writeln!(out, "        ({} more: --json lists them)", lines.len() - 2 * SHOWN)?;
        }
        if is_long && (SHOWN..lines.len() - SHOWN).contains(&row) {
            continue;
        }
        writeln!(out, "  {row:>4}  {line}{}", mark(artifact, index, row))?;
    }
    for (row, (scores, ends)) in ranges_in_words(artifact, index).iter().enumerate() {
        writeln!(out, "  range {row:>2}  scores {scores}: event rate {ends}")?;
    }
    let pieces = band_steps(artifact).unwrap_or_default();
    for (at, (scores, ProbInterval { lo, hi })) in pieces.iter().enumerate() {
        if pieces.len() > 2 * SHOWN + 1 && at == SHOWN {
            writeln!(out, "  band      ({} more: --json lists them)", pieces.len() - 2 * SHOWN)?;
        }
        if at < SHOWN || pieces.len() <= 2 * SHOWN + 1 || at >= pieces.len() - SHOWN {
            let ends = ends_in_words(*lo, *hi);
            writeln!(out, "  band      scores {}: probability {ends}", scores_in_words(*scores))?;
        }
    }
    Ok(())
}

/// The ranges beside a calibrator of whole vectors, class by class.
fn print_ranges_of_classes(artifact: &Artifact<'_>, out: &mut dyn Write) -> io::Result<()> {
    if artifact.tables().count() > 0 {
        return Ok(());
    }
    for class in 0..artifact.score_intervals().map_or(0, |found| found.count()) {
        for (row, (scores, ends)) in ranges_in_words(artifact, class).iter().enumerate() {
            writeln!(out, "  class {class}, range {row:>2}  scores {scores}: event rate {ends}")?;
        }
    }
    Ok(())
}

/// A line for each bin, knot or parameter of a table.
pub(super) fn table_lines(artifact: &Artifact<'_>, index: usize) -> Vec<String> {
    let Some(table) = artifact.tables().get(index) else { return Vec::new() };
    let lines = ShownTable::of(&table.form, encoding_of_keys(artifact)).lines;
    lines.iter().enumerate().map(|(row, line)| line.clone() + mark(artifact, index, row)).collect()
}

/// What stands behind a bin that rests on nothing.
fn mark(artifact: &Artifact<'_>, index: usize, row: usize) -> &'static str {
    let is_empty = artifact.tables().bin_flags(index, row as u16).contains(BinFlags::EMPTY);
    if is_empty { " (no calibration observation: uncalibrated)" } else { "" }
}

/// The ranges of the score of a table, each with the interval of its event rate.
pub(super) fn ranges_in_words(artifact: &Artifact<'_>, index: usize) -> Vec<(String, String)> {
    let ranges = ranges(artifact, index).unwrap_or_default();
    ranges.iter().map(|(scores, i)| (scores_in_words(*scores), ends_in_words(i.lo, i.hi))).collect()
}

/// Both ends of an interval, with as many decimals as the upper one needs.
pub(super) fn ends_in_words(lo: f32, hi: f32) -> String {
    let places = places_between(4, lo.into(), hi.into());
    format!("{lo:.places$} to {hi:.places$}")
}

/// How many steps of a long table, or of a band, are shown at each end.
const SHOWN: usize = 8;

/// What an artifact holds, as JSON.
pub(crate) fn artifact_json(stored: &StoredArtifact) -> Value {
    let (artifact, guarantee) = (&stored.artifact(), guarantee_text(stored));
    let (header, tables) = (artifact.header(), artifact.tables());
    let table = |index| {
        let table = tables.get(index)?;
        let ShownTable { len_bytes, json: mut value, .. } =
            ShownTable::of(&table.form, encoding_of_keys(artifact));
        if let TableForm::Codes(codes) = table.form {
            let lowest = i64::from(encoding_of_keys(artifact).code_range().map_or(0, |range| range.0));
            value["codes"] = codes.edges().iter().map(|&key| lowest + i64::from(key)).collect();
            value["direct_table"] = json!(artifact.tables().has_direct_table());
            value["direct_table_len_bytes"] = direct_table(artifact).into();
        }
        let is_empty = |&bin: &usize| tables.bin_flags(index, bin as u16).contains(BinFlags::EMPTY);
        value["empty_bins"] = (0..table.form.bins()).filter(is_empty).collect();
        value["score_range"] = json!(score_range(artifact, index));
        if artifact.score_intervals().is_some() {
            value["score_intervals"] = ranges_json(artifact, index);
        }
        value["len_bytes"] = len_bytes.into();
        value["epsilon"] = table.epsilon.into();
        if tables.has_intervals() {
            let of_bin = |bin| tables.interval(index, bin as u16).map(|i| json!({"lo": i.lo, "hi": i.hi}));
            value["intervals"] = json!((0..table.form.bins()).map(of_bin).collect::<Vec<_>>());
        }
        Some(value)
    };
    let mut shown = json!({
        "format": FORMAT_VERSION,
        "identity": artifact.identity().to_string(),
        "len_bytes": artifact.len_bytes(),
        "counter": artifact.counter(),
        "signed_with": artifact.signature().map(|signature| signature.key.to_string()),
        "next_keys": next_keys(stored),
        "method": header.method.to_string(),
        "reduction": header.reduction.to_string(),
        "k": header.reduction.top_k(),
        "encoding": header.encoding.to_string(),
        "class_score": match (is_by_top2_margin(header), header.reduction) {
            (true, _) => Some("margin"),
            (false, Reduction::TopLabel | Reduction::Confidence) => Some("softmax"),
            (false, _) => None,
        },
        "classes": header.classes,
        "n": header.n,
        "bins": header.bins,
        "guarantee": header.guarantee.map(GuaranteeFacts::from),
        "statement": guarantee.statement,
        "assumptions": guarantee.full_assumptions(),
        "limits": guarantee.full_limits(),
        "sample": stored.sample().map(|sample| json!({
            "rows": hex::encode(sample.rows.to_bytes()),
            "tied": Some(sample.tied).filter(|share| !share.is_nan()),
            "heaviest": Some(sample.heaviest).filter(|share| !share.is_nan()),
            "pure_bins": sample.pure_bins,
            "fewest_in_pure": sample.fewest_in_pure,
            "positives": sample.positives,
        })),
        "flags": {
            "ties_merged": header.flags.contains(HeaderFlags::TIES_MERGED),
            "weighted": header.flags.contains(HeaderFlags::WEIGHTED),
            "class_uncalibrated": header.flags.contains(HeaderFlags::CLASS_UNCALIBRATED),
        },
        "provenance": {
            "data_sha256": hex::encode(header.provenance.data_sha256),
            "tool_version": header.provenance.tool_version,
            "parameters": header.provenance.parameters,
            "classifier": header.provenance.classifier.map(|id| id.to_string()),
        },
        "decision": artifact.decision().map(rule_json),
        "groups": artifact.groups().map(|groups| groups.names().collect::<Vec<_>>()),
        "operating_points": artifact.operating_points().map(PointsFacts::of),
        "monitors": MonitorFacts::of(artifact),
        "prediction_sets": artifact.prediction_sets().map(SetsFacts::of),
        "rule": rule_sentences(artifact),
        "joint": match artifact.calibrator() {
            Calibrator::Vector(calibrator) => vector_json(&calibrator),
            _ => None,
        },
        "tables": (0..artifact.tables().count()).map(table).collect::<Vec<_>>(),
    });
    if let Some(within) = within(artifact) {
        shown["within"] = within.into();
    }
    if let Some(found) = artifact.score_intervals() {
        shown["score_intervals"] = json!({"alpha": found.alpha(), "of": rate_of(found)});
        if artifact.tables().count() == 0 {
            let classes = 0..found.count();
            shown["score_intervals"]["classes"] = classes.map(|class| ranges_json(artifact, class)).collect();
        }
    }
    if artifact.band().is_some() {
        shown["band"] = band_json(artifact);
    }
    shown
}
