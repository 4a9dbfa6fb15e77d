//! `calib apply` and `assess` as whole processes, each beside its peer, by the number of rows.

use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::Result;

use crate::large::{Folder, build, calib, measured, write_rows};
use crate::{machine, peer};

const SCRIPT: &str = include_str!("streams.py");

/// A job of ours and its peer's.
struct Job {
    name: &'static str,
    ours: &'static [&'static str],
    /// The arguments of the peer's script; none if there is no peer.
    peer: &'static [&'static str],
}

const SCORES: [&str; 2] = ["--scores", "scores.npy"];
const LABELS: [&str; 2] = ["--labels", "labels.npy"];

const JOBS: [Job; 8] = [
    Job {
        name: "apply, CSV",
        ours: &["apply", "cal.bin", "-o", "out.csv"],
        peer: &["apply", ".", "peer.csv"],
    },
    Job {
        name: "apply, Parquet",
        ours: &["apply", "cal.bin", "-o", "out.parquet"],
        peer: &["apply", ".", "peer.parquet"],
    },
    Job {
        name: "apply, NPY",
        ours: &["apply", "cal.bin", "-o", "out.npy"],
        peer: &["apply", ".", "peer.npy"],
    },
    Job { name: "apply, Arrow", ours: &["apply", "cal.bin", "-o", "out.arrow"], peer: &[] },
    Job { name: "apply, JSON lines", ours: &["apply", "cal.bin", "-o", "out.jsonl"], peer: &[] },
    Job { name: "apply platt, CSV", ours: &["apply", "platt.bin", "-o", "out.csv"], peer: &[] },
    Job { name: "assess scores", ours: &["assess", "--json"], peer: &["assess", "."] },
    Job {
        name: "assess before and after",
        ours: &["assess", "cal.bin", "--same-rows", "--json"],
        peer: &["assess", "."],
    },
];

/// Measures files of `rows`, a tenth and a hundredth of them; prints a line for every job.
pub(crate) fn streams(rows: u64, may_install: bool) -> Result<()> {
    let python =
        peer::environment(false, may_install).inspect_err(|cause| eprintln!("no peers: {cause:#}")).ok();
    build()?;
    println!("{}; scikit-learn and pandas as processes of their own", machine());
    println!(
        "{:<24} {:>12} {:>10} {:>10} {:>8} {:>12} {:>12}",
        "", "rows", "ours (s)", "peer (s)", "ratio", "ours (MiB)", "peer (MiB)"
    );
    for rows in [rows / 100, rows / 10, rows] {
        let folder = Folder::new()?;
        write_rows(&folder.0, rows)?;
        fs::write(folder.0.join("streams.py"), SCRIPT)?;
        for (method, name) in [(&["umd", "--bins", "15"][..], "cal.bin"), (&["platt"], "platt.bin")] {
            let arguments = [&["fit", "-o", name, "--method"], method, &SCORES, &LABELS].concat();
            measured(&mut calib(&folder.0, &arguments))?;
        }
        JOBS.iter().try_for_each(|job| line(&folder.0, job, rows, python.as_deref()))?;
    }
    Ok(())
}

/// Runs a job and its peer's one after the other, and prints a line about both.
fn line(folder: &Path, job: &Job, rows: u64, python: Option<&Path>) -> Result<()> {
    eprintln!("{}, {rows} rows", job.name);
    let mut arguments = [job.ours, &SCORES].concat();
    if job.ours[0] == "assess" {
        arguments.extend(LABELS);
    }
    let (seconds, peak) = measured(&mut calib(folder, &arguments))?;
    let mib = |kib: Option<u64>| kib.map_or("-".into(), |kib| (kib / 1024).to_string());
    let mut shown = [String::from("-"), String::from("-"), String::from("-")];
    if let (Some(python), false) = (python, job.peer.is_empty()) {
        let mut command = Command::new(python);
        command.current_dir(folder).arg("streams.py").args(job.peer);
        let (of_peer, peak) = measured(&mut command)?;
        shown = [format!("{of_peer:.2}"), format!("{:.1}x", of_peer / seconds), mib(peak)];
    }
    let [of_peer, ratio, peak_of_peer] = shown;
    let name = job.name;
    println!(
        "{name:<24} {rows:>12} {seconds:>10.2} {of_peer:>10} {ratio:>8} {:>12} {peak_of_peer:>12}",
        mib(peak)
    );
    for output in [
        "out.csv",
        "out.parquet",
        "out.npy",
        "out.arrow",
        "out.jsonl",
        "peer.csv",
        "peer.parquet",
        "peer.npy",
    ] {
        // Most jobs write one of them.
        let _ = fs::remove_file(folder.join(output));
    }
    Ok(())
}
