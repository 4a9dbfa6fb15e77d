//! `calib fleet`

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use calib_fit::StoredArtifact;
use calib_fit::fleet::{DeviceCounters, FleetTable, LogVerifier, VerifiedDevice, aggregate};
use calib_io::files::{Location, read_artifact, write_file};
use calib_io::input::{self, Source, read_fleet_log};
use calib_io::report::{FileOrigin, FleetReport, Origin};
use clap::Args;
use serde_json::json;
use sha2::{Digest, Sha256};

use crate::context::Context;
use crate::error::Error;
use crate::options::headings::{DATA, GUARANTEES, OUTPUT};
use crate::options::parse_alpha;
use crate::read::CounterFiles;
use crate::run::Run;
use crate::show::{ShownFleet, verified};

/// Add up what the monitors of many devices counted.
///
/// All devices have the calibrator that you pass, which was fitted with --monitor. calib tests whether scores are still
/// distributed like the reference scores, and whether outcomes are as frequent as predicted. It tests all counts
/// together, and each device separately. An alert is a warning.
///
/// Which devices you pass, and when you query them, must not depend on what they counted: the most suspicious devices
/// only would always look suspicious. A device that is lost or replaced keeps its last counts in the sum.
#[derive(Args)]
pub(crate) struct FleetCommand {
    /// Calibrator that all devices have.
    #[arg(value_name = "ARTIFACT", help_heading = DATA)]
    calibrator: PathBuf,
    /// Counts: JSON, an object for each device.
    ///
    /// The members are calib_counters (1), device (its name), calibrator (the identity) and tables. tables is a list
    /// with an object for each table, or null. An object has predictions, labeled and positives, each with a number
    /// per bin. You can leave out labeled and positives.
    #[arg(value_name = "COUNTERS", required_unless_present_any = ["new", "verify"], help_heading = DATA)]
    counters: Vec<PathBuf>,
    /// Name of a device that has counted nothing: write its counts, as a template of the file.
    #[arg(long, value_name = "NAME", conflicts_with_all = ["counters", "csv", "json"], requires = "output", help_heading = OUTPUT)]
    new: Option<String>,
    /// Log of devices to verify: compute every answer again; a difference is an error that names the line.
    ///
    /// JSON, an object per line: what was counted in which order, and what the device answered. The documentation
    /// describes the form.
    #[arg(long, value_name = "LOG", conflicts_with_all = ["counters", "new", "csv", "alpha"], help_heading = OUTPUT)]
    verify: Option<PathBuf>,
    /// Output file for the counts of --new.
    #[arg(short, long, value_name = "FILE", help_heading = OUTPUT)]
    output: Option<PathBuf>,
    /// CSV file for the outcomes of every bin, of all devices together.
    #[arg(long, value_name = "FILE", help_heading = OUTPUT)]
    csv: Option<PathBuf>,
    /// HTML report to write: what the monitors report in words and plots, device by device.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["new", "verify"], help_heading = OUTPUT)]
    html: Option<PathBuf>,
    /// Replace an existing output.
    #[arg(long, help_heading = OUTPUT)]
    force: bool,
    /// Accepted probability that the intervals of the shares of outcomes do not cover all bins of a table.
    #[arg(long, default_value_t = 0.05, value_name = "ALPHA", value_parser = parse_alpha, help_heading = GUARANTEES)]
    alpha: f64,
    /// Print JSON on standard output.
    #[arg(long, help_heading = OUTPUT)]
    json: bool,
}

impl Run for FleetCommand {
    fn run(self, cx: &Context) -> Result<(), Error> {
        // Beside counters, with which --new does not go, nothing can require it.
        if self.output.is_some() && self.new.is_none() {
            return Err(Error::Usage(
                "-o is for the counters of --new. To write this report, use --html, --csv or --json".into(),
            ));
        }
        let stored = read_artifact(&self.calibrator)?;
        if let Some((device, output)) = self.new.as_ref().zip(self.output.as_ref()) {
            let counters = DeviceCounters::new(&stored.artifact(), device)
                .map_err(|cause| Error::Fleet { place: Box::new(Location::file(&self.calibrator)), cause })?;
            let mut text = serde_json::to_vec_pretty(&counters).map_err(io::Error::from)?;
            text.push(b'\n');
            return cx.write_output(output, self.force, &text);
        }
        if let Some(log) = &self.verify {
            return self.verify(&stored, log, cx);
        }
        let CounterFiles { sources, devices, paths } = CounterFiles::read(&self.counters, cx)?;
        let tables = aggregate(&stored.artifact(), &devices, self.alpha).map_err(|cause| {
            // Of a device that is there twice, the file of the second.
            let at = devices.iter().rposition(|device| Some(&*device.device) == cause.device());
            Error::Fleet {
                place: Box::new(Location::file(at.map_or(&self.calibrator, |at| &paths[at]))),
                cause,
            }
        })?;
        let shown =
            ShownFleet { stored: &stored, tables: &tables, devices: devices.len(), alpha: self.alpha };
        let warnings = shown.warnings();
        cx.warn(&warnings)?;
        if let Some(path) = &self.csv {
            write_file(path, self.force, |out| write_csv(&tables, out))?;
        }
        if let Some(path) = &self.html {
            let origin = self.origin(&stored, &sources, cx);
            let page = FleetReport {
                stored: &stored,
                tables: &tables,
                devices: devices.len(),
                alpha: self.alpha,
                origin: &origin,
            };
            cx.write_output(path, self.force, page.html()?.as_bytes())?;
        }
        if self.json {
            let mut value = shown.json();
            value["warnings"] = warnings.into();
            return cx.print_json(&value);
        }
        Ok(shown.print(&mut cx.stdout())?)
    }
}

impl FleetCommand {
    /// Computes again what devices answered.
    fn verify(&self, stored: &StoredArtifact, log: &Path, cx: &Context) -> Result<(), Error> {
        let artifact = stored.artifact();
        let mut verifier = LogVerifier::new(&artifact)
            .map_err(|cause| Error::Log { place: Box::new(Location::file(&self.calibrator)), cause })?;
        read_fleet_log(log, |place, line| {
            verifier.take(&line).map_err(|cause| Error::Log { place: Box::new(place), cause })
        })?;
        let devices = verifier.finish();
        let warnings: Vec<String> = devices.iter().flat_map(VerifiedDevice::warnings).collect();
        cx.warn(&warnings)?;
        match self.json {
            true => cx.print_json(&json!({"verified": devices, "warnings": warnings})),
            false => Ok(verified(&devices, &mut cx.stdout())?),
        }
    }

    /// Which files a page comes from.
    fn origin(&self, stored: &StoredArtifact, sources: &[Source], cx: &Context) -> Origin {
        let artifact = FileOrigin {
            role: "Artifact file".into(),
            name: self.calibrator.display().to_string(),
            sha256: hex::encode(Sha256::digest(stored.as_bytes())),
        };
        // Of a large fleet the files are as many as its devices.
        let name = match sources {
            [one] => one.path().display().to_string(),
            [first, ..] => {
                format!("{} and {} more, in their order", first.path().display(), sources.len() - 1)
            }
            [] => String::new(),
        };
        let sha256 = hex::encode(input::sha256(&sources.iter().collect::<Vec<_>>()));
        let counters = FileOrigin { role: "Counters".into(), name, sha256 };
        Origin {
            files: vec![artifact, counters],
            calibration_is_the_artifacts: false,
            test_is_calibration: None,
            command: cx.command_line(),
        }
    }
}

/// A line for every bin of every table.
fn write_csv(tables: &[FleetTable], out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "table,bin,prob,guaranteed_lo,guaranteed_hi,labeled,positives,share,share_lo,share_hi")?;
    let cell = |value: Option<f64>| value.map_or(String::new(), |value| value.to_string());
    for table in tables {
        for (at, bin) in table.bins.iter().enumerate() {
            let share = (bin.labeled > 0).then(|| bin.positives as f64 / bin.labeled as f64);
            writeln!(
                out,
                "{},{at},{},{},{},{},{},{},{},{}",
                table.table,
                bin.prob.map_or(String::new(), |prob| prob.to_string()),
                cell(bin.guaranteed.map(|guaranteed| guaranteed.lo)),
                cell(bin.guaranteed.map(|guaranteed| guaranteed.hi)),
                bin.labeled,
                bin.positives,
                cell(share),
                bin.interval.lo,
                bin.interval.hi,
            )?;
        }
    }
    Ok(())
}
