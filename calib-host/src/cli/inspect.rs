//! `calib inspect`

use std::io::Write;
use std::path::PathBuf;

use calib_core::{Artifact, FORMAT_VERSION, HeaderFlags, TableForm};
use calib_host::{Error, StoredArtifact};
use clap::Args;
use serde_json::{Value, json};

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
            header.method, header.reduction, header.provenance.parameters
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
            writeln!(out, "flags       at least one class is uncalibrated")?;
        }
        writeln!(out, "data        sha256 {}", hex::encode(header.provenance.data_sha256))?;
        if let Some(id) = header.provenance.classifier {
            writeln!(out, "classifier  {id}")?;
        }
        writeln!(out, "written by  calib {}", header.provenance.tool_version)?;
        for index in 0..artifact.tables().count() {
            let Some(table) = artifact.tables().get(index) else {
                writeln!(out, "table {index}: uncalibrated")?;
                continue;
            };
            let TableForm::Steps(steps) = table.form else { continue };
            let bins = steps.bins();
            let epsilon = table.epsilon.map_or("none".to_owned(), |e| e.to_string());
            writeln!(out, "table {index}: {bins} bins, {} bytes, epsilon {epsilon}", 8 * bins)?;
            let lows = std::iter::once(0.0).chain(steps.edges().iter().copied());
            let highs = steps.edges().iter().copied().chain([1.0]);
            for (bin, ((lo, hi), value)) in lows.zip(highs).zip(steps.values()).enumerate() {
                let end = if bin + 1 == bins { ']' } else { ')' };
                writeln!(out, "  {bin:>4}  {:<28} {value}", format!("[{lo}, {hi}{end}"))?;
            }
        }
        Ok(())
    }
}

fn to_json(artifact: &Artifact<'_>) -> Value {
    let header = artifact.header();
    let table = |index| {
        let table = artifact.tables().get(index)?;
        let TableForm::Steps(steps) = table.form else { return None };
        Some(json!({
            "bins": steps.bins(),
            "len_bytes": 8 * steps.bins(),
            "epsilon": table.epsilon,
            "edges": steps.edges(),
            "values": steps.values().collect::<Vec<_>>(),
        }))
    };
    json!({
        "format": FORMAT_VERSION,
        "identity": artifact.identity().to_string(),
        "len_bytes": artifact.len_bytes(),
        "method": header.method.to_string(),
        "reduction": header.reduction.to_string(),
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
            "class_uncalibrated": header.flags.contains(HeaderFlags::CLASS_UNCALIBRATED),
        },
        "provenance": {
            "data_sha256": hex::encode(header.provenance.data_sha256),
            "tool_version": header.provenance.tool_version,
            "parameters": header.provenance.parameters,
            "classifier": header.provenance.classifier.map(|id| id.to_string()),
        },
        "tables": (0..artifact.tables().count()).map(table).collect::<Vec<_>>(),
    })
}
