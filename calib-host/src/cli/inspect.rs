//! `calib inspect`

use std::io::Write;
use std::path::PathBuf;

use calib_core::artifact::{FORMAT_VERSION, HeaderFlags, Reduction, TableForm};
use calib_core::table::Scaling;
use calib_core::{Artifact, Calibrator, ScoreEncoding};
use calib_host::{Error, StoredArtifact, table_name};
use clap::Args;
use serde_json::{Value, json};

use super::joint_report::{print_vector, vector_json};
use super::rule::{print_rule, rule_json};
use super::{decimals, print_json};

/// Check an artefact and show what it holds.
#[derive(Args)]
pub(crate) struct Inspect {
    /// The artefact.
    artifact: PathBuf,
    /// Print JSON on standard output.
    #[arg(long)]
    json: bool,
}

impl Inspect {
    pub(crate) fn run(self) -> Result<(), Error> {
        let stored = StoredArtifact::read(&self.artifact)?;
        let artifact = stored.artifact();
        if self.json { print_json(&to_json(&artifact)) } else { self.print(&artifact) }
    }

    fn print(&self, artifact: &Artifact<'_>) -> Result<(), Error> {
        let header = artifact.header();
        let mut out = std::io::stdout().lock();
        writeln!(
            out,
            "{}: format {FORMAT_VERSION}, id {}, {} bytes, crc ok",
            self.artifact.display(),
            artifact.identity(),
            artifact.len_bytes()
        )?;
        writeln!(
            out,
            "method      {} ({}), {}",
            header.method,
            match header.reduction.top_k() {
                Some(k) => format!("{}, k = {k}", header.reduction),
                None => header.reduction.to_string(),
            },
            header.provenance.parameters
        )?;
        writeln!(
            out,
            "scores      {}, {} classes, {} calibration points, {} bins",
            header.encoding, header.classes, header.n, header.bins
        )?;
        match header.guarantee {
            Some(g) => writeln!(
                out,
                "guarantee   within {} with probability {:.*} ({})",
                g.epsilon,
                decimals(g.alpha),
                1.0 - f64::from(g.alpha),
                g.theorem
            )?,
            None => writeln!(out, "guarantee   none")?,
        }
        if header.flags.contains(HeaderFlags::TIES_MERGED) {
            writeln!(out, "flags       equal scores straddled a bin boundary and were merged")?;
        }
        if header.flags.contains(HeaderFlags::CLASS_UNCALIBRATED) {
            let tables = artifact.tables();
            let missing = (0..tables.count()).filter(|&table| tables.get(table).is_none()).count();
            writeln!(out, "flags       {missing} of {} tables uncalibrated", tables.count())?;
        }
        if header.flags.contains(HeaderFlags::WEIGHTED) {
            writeln!(out, "flags       the calibration points had real weights")?;
        }
        writeln!(out, "data        sha256 {}", hex::encode(header.provenance.data_sha256))?;
        if let Some(id) = header.provenance.classifier {
            writeln!(out, "classifier  {id}")?;
        }
        if artifact.counter() > 0 {
            writeln!(out, "counter     {}", artifact.counter())?;
        }
        if let Some(signature) = artifact.signature() {
            writeln!(out, "signature   with key {}, not verified here: see `calib verify`", signature.key)?;
        }
        writeln!(out, "written by  calib {}", header.provenance.tool_version)?;
        if let Calibrator::Vector(calibrator) = artifact.calibrator() {
            print_vector(&calibrator, &mut out)?;
        }
        if let Some(rule) = artifact.decision() {
            print_rule(&mut out, rule)?;
        }
        for index in 0..artifact.tables().count() {
            let name = match header.reduction {
                Reduction::Binary | Reduction::Confidence => String::new(),
                reduction => format!(" ({})", table_name(reduction, header.classes.into(), index)),
            };
            let Some(table) = artifact.tables().get(index) else {
                writeln!(out, "table {index}{name}: uncalibrated")?;
                continue;
            };
            let epsilon = table.epsilon.map_or("none".to_owned(), |e| e.to_string());
            let (size, bytes) = (size(&table.form), len_bytes(&table.form));
            writeln!(out, "table {index}{name}: {size}, {bytes} bytes, epsilon {epsilon}")?;
            if let (TableForm::Codes(_), Some(direct)) = (&table.form, direct_table(artifact)) {
                let has = if artifact.tables().has_direct_table() { "takes" } else { "would take" };
                writeln!(out, "  search: {bytes} bytes, a direct table {has} {direct} more")?;
            }
            for (row, line) in lines(&table.form, header.encoding).iter().enumerate() {
                writeln!(out, "  {row:>4}  {line}")?;
            }
        }
        Ok(())
    }
}

fn to_json(artifact: &Artifact<'_>) -> Value {
    let header = artifact.header();
    let table = |index| {
        let table = artifact.tables().get(index)?;
        let mut value = form_json(&table.form);
        if let TableForm::Codes(codes) = table.form {
            let lowest = i64::from(header.encoding.code_range().map_or(0, |range| range.0));
            value["codes"] = codes.edges().iter().map(|&key| lowest + i64::from(key)).collect();
            value["direct_table"] = json!(artifact.tables().has_direct_table());
            value["direct_table_len_bytes"] = direct_table(artifact).into();
        }
        value["len_bytes"] = len_bytes(&table.form).into();
        value["epsilon"] = table.epsilon.into();
        Some(value)
    };
    json!({
        "format": FORMAT_VERSION,
        "identity": artifact.identity().to_string(),
        "len_bytes": artifact.len_bytes(),
        "counter": artifact.counter(),
        "signed_with": artifact.signature().map(|signature| signature.key.to_string()),
        "method": header.method.to_string(),
        "reduction": header.reduction.to_string(),
        "k": header.reduction.top_k(),
        "encoding": header.encoding.to_string(),
        "classes": header.classes,
        "n": header.n,
        "bins": header.bins,
        "guarantee": header.guarantee.map(|g| json!({
            "theorem": g.theorem.to_string(),
            "alpha": g.alpha,
            "epsilon": g.epsilon,
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
        "joint": match artifact.calibrator() {
            Calibrator::Vector(calibrator) => vector_json(&calibrator),
            _ => None,
        },
        "tables": (0..artifact.tables().count()).map(table).collect::<Vec<_>>(),
    })
}

/// How many bytes a direct table takes, with its section's head if it is the only one; `None` if the encoding has none.
fn direct_table(artifact: &Artifact<'_>) -> Option<usize> {
    let head = if artifact.tables().count() == 1 { 8 } else { 0 };
    let encoding = artifact.header().encoding;
    matches!(encoding, ScoreEncoding::U8 { .. } | ScoreEncoding::I8 { .. }).then_some(head + 256)
}

/// How many bytes a table takes, its epsilon among them.
fn len_bytes(form: &TableForm<'_>) -> usize {
    let words = match form {
        TableForm::Compact(table) => return 2 * (2 * table.bins() + 1),
        TableForm::Randomized(table) => 3 * table.bins() - 1,
        TableForm::Interpolated(table) => 3 * table.x().len(),
        TableForm::VennAbers(table) => 3 * table.bins(),
        // The epsilon, the kind and the parameters.
        TableForm::Scaling(function) => 2 + parameters(function.parameters()).len(),
        form => 2 * form.bins(),
    };
    4 * words
}

/// A table's size in words for people.
fn size(form: &TableForm<'_>) -> String {
    match form {
        TableForm::Interpolated(table) => format!("{} knots", table.x().len()),
        TableForm::Scaling(_) => "a function".into(),
        form => format!("{} bins", form.bins()),
    }
}

/// A line for each bin, knot or parameter.
fn lines(form: &TableForm<'_>, encoding: ScoreEncoding) -> Vec<String> {
    let bin = |lo: String, hi: String, last: bool, value: String| {
        let end = if last { ']' } else { ')' };
        format!("{:<28} {value}", format!("[{lo}, {hi}{end}"))
    };
    // Every bin between the ends of the range and the edges.
    let bins = |edges: Vec<String>, ends: (String, String), values: Vec<String>| -> Vec<String> {
        let lows = std::iter::once(ends.0).chain(edges.iter().cloned());
        let highs = edges.iter().cloned().chain([ends.1]);
        let count = values.len();
        let rows = lows.zip(highs).zip(values).enumerate();
        rows.map(|(i, ((lo, hi), value))| bin(lo, hi, i + 1 == count, value)).collect()
    };
    let shown = |values: &[f32]| values.iter().map(f32::to_string).collect::<Vec<_>>();
    let unit = || ("0".to_owned(), "1".to_owned());
    match form {
        TableForm::Steps(t) => bins(shown(t.edges()), unit(), t.values().map(|v| v.to_string()).collect()),
        TableForm::Randomized(t) => {
            let edges =
                t.edges().iter().zip(t.ties()).map(|(edge, tie)| format!("{edge}:{tie:08x}")).collect();
            bins(edges, unit(), t.values().map(|v| v.to_string()).collect())
        }
        TableForm::VennAbers(t) => {
            let values = t.p0().zip(t.p1()).map(|(p0, p1)| format!("{p0} to {p1}")).collect();
            bins(shown(t.edges()), unit(), values)
        }
        TableForm::Interpolated(t) => t.x().iter().zip(t.y()).map(|(x, y)| format!("{x:<28} {y}")).collect(),
        TableForm::Scaling(f) => {
            parameters(f.parameters()).iter().map(|(name, value)| format!("{name:<28} {value}")).collect()
        }
        TableForm::Codes(t) => {
            let (lowest, highest) = encoding.code_range().unwrap_or_default();
            let code = |&key: &u32| (i64::from(lowest) + i64::from(key)).to_string();
            bins(
                t.edges().iter().map(code).collect(),
                (lowest.to_string(), highest.to_string()),
                t.values().map(|v| v.to_string()).collect(),
            )
        }
        TableForm::Compact(t) => {
            let edges = t.edges().iter().map(u16::to_string).collect();
            let values = t.values().map(|v| v.to_string()).collect();
            bins(edges, ("first key".into(), "last key".into()), values)
        }
        _ => Vec::new(),
    }
}

/// The parameters of a scaling function, by name.
fn parameters(scaling: Scaling) -> Vec<(&'static str, f32)> {
    match scaling {
        Scaling::PlattLogit { a, b, clip } => vec![("a (logit)", a), ("b", b), ("clip", clip)],
        Scaling::PlattProb { a, b } => vec![("a (score)", a), ("b", b)],
        Scaling::Beta { a, b, c, clip } => vec![("a", a), ("b", b), ("c", c), ("clip", clip)],
        Scaling::Temperature { inverse_t, clip } => vec![("1/temperature", inverse_t), ("clip", clip)],
        _ => Vec::new(),
    }
}

fn form_json(form: &TableForm<'_>) -> Value {
    let all = |values: &mut dyn Iterator<Item = f32>| values.collect::<Vec<_>>();
    match form {
        TableForm::Steps(t) => json!({
            "form": "steps", "bins": t.bins(), "edges": t.edges(), "values": all(&mut t.values()),
        }),
        TableForm::Randomized(t) => json!({
            "form": "randomized", "bins": t.bins(), "edges": t.edges(), "words": t.ties(),
            "values": all(&mut t.values()),
        }),
        TableForm::Interpolated(t) => json!({"form": "interpolated", "scores": t.x(), "values": t.y()}),
        TableForm::VennAbers(t) => json!({
            "form": "venn-abers", "bins": t.bins(), "edges": t.edges(), "p0": all(&mut t.p0()), "p1": all(&mut t.p1()),
        }),
        TableForm::Scaling(f) => {
            let parameters =
                parameters(f.parameters()).into_iter().map(|(name, value)| (name.to_owned(), json!(value)));
            json!({"form": "scaling", "parameters": Value::Object(parameters.collect())})
        }
        TableForm::Codes(t) => json!({
            "form": "codes", "bins": t.bins(), "edges": t.edges(), "values": all(&mut t.values()),
        }),
        TableForm::Compact(t) => json!({
            "form": "compact", "bins": t.bins(), "edges": t.edges(), "values": all(&mut t.values()),
        }),
        _ => json!({}),
    }
}
