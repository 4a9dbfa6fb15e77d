//! Reports in a real browser; `cargo xtask report-check` builds it, sets up what it needs, and calls it with the path of
//! Chromium.

use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, ensure};
use calib_claims::browser::Browser;
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use serde_json::{Value, json};
use xtask::{cargo, root, run};

/// The pages that are looked at.
const PAGES: [&str; 8] = [
    "binary.html",
    "harmful.html",
    "useless.html",
    "top.html",
    "class-wise.html",
    "grid.html",
    "fleet.html",
    "quiet-fleet.html",
];

/// What decisions on the binary data cost.
const COSTS: &str = r#"
[[action]]
name = "discharge"
positive = 100
negative = 0
alarm = false

[[action]]
name = "refer"
positive = 5
negative = 5
alarm = false
abstain = true

[[action]]
name = "treat"
positive = 1
negative = 20
alarm = true
"#;

/// Makes reports of several kinds and opens them in headless Chromium, see `check.mjs`; draws plots as PNG.
fn main() -> Result<()> {
    let browser = Browser::of("report-check")?;
    let folder = browser.folder.clone();
    run(cargo(&root()).args(["build", "--quiet", "--locked", "--package", "calib-host"]))?;
    write_data(&folder)?;
    let calib = root().join("target/debug/calib");
    let in_folder = |line: &str| {
        run(Command::new(&calib).args(line.split_whitespace()).arg("--quiet").current_dir(&folder))
    };
    in_folder("fit --method umd --bins 10 --scores cal.csv --actions costs.toml -o binary.bin --force")?;
    in_folder(
        "report binary.bin --calibration cal.csv --test test.csv --actions costs.toml -o binary.html --force",
    )?;
    // One that turns the scores round, and one of scores that are right already.
    for (name, data) in [("harmful", "turned"), ("useless", "right")] {
        in_folder(&format!("fit --method umd --bins 10 --scores {data}_cal.csv -o {name}.bin --force"))?;
        in_folder(&format!(
            "report {name}.bin --calibration {data}_cal.csv --test {data}_test.csv -o {name}.html --force"
        ))?;
    }
    for (name, data, method) in [
        ("top", "ten", "--method umd --reduction top-label --rows-per-bin 50"),
        ("class-wise", "ten", "--method umd --reduction class-wise --bins 10"),
        ("grid", "three", "--method grid --resolution 5"),
    ] {
        in_folder(&format!(
            "fit {method} --logits {data}_cal.npy --labels {data}_cal_labels.csv -o {name}.bin --force"
        ))?;
        in_folder(&format!(
            "report {name}.bin --calibration {data}_cal.npy --calibration-labels {data}_cal_labels.csv --test \
             {data}_test.npy --test-labels {data}_test_labels.csv -o {name}.html --force"
        ))?;
    }
    in_folder("fit --method umd --bins 10 --scores cal.csv --monitor -o monitored.bin --force")?;
    for (page, counters) in [("fleet", "moved.json"), ("quiet-fleet", "same.json")] {
        let identity = identity(&calib, &folder)?;
        write_counters(&folder.join(counters), &identity, page == "fleet")?;
        in_folder(&format!("fleet monitored.bin {counters} --html {page}.html --force"))?;
    }
    for page in PAGES {
        let len = fs::metadata(folder.join(page))?.len();
        ensure!(len < 1_000_000, "{page} has {len} bytes");
        println!("{page}: {len} bytes");
    }
    for (plot, artifact, data) in [
        ("reliability", "binary", "test.csv"),
        ("validity", "binary", "test.csv"),
        ("roc", "binary", "test.csv"),
        ("distribution", "binary", "test.csv"),
        ("occupancy --calibration cal.csv", "binary", "test.csv"),
        ("class --class 3", "top", "ten_test.npy --test-labels ten_test_labels.csv"),
        ("class-wise --class 3", "class-wise", "ten_test.npy --test-labels ten_test_labels.csv"),
        ("simplex", "grid", "three_test.npy --test-labels three_test_labels.csv"),
    ] {
        let name = plot.split(' ').next().unwrap_or(plot);
        in_folder(&format!("plot {plot} {artifact}.bin --test {data} -o plot-{name}.png --force"))?;
    }
    browser.run(&[&["."], &PAGES[..]].concat())?;
    println!("screenshots and PDFs are in {}", folder.display());
    Ok(())
}

/// Data that a classifier too sure of itself might give: binary, and of three and ten classes.
fn write_data(folder: &Path) -> Result<()> {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(1);
    fs::write(folder.join("costs.toml"), COSTS)?;
    for (name, n) in [("cal", 2000), ("test", 3000)] {
        let [mut binary, mut turned, mut right] = [(); 3].map(|()| String::from("score,label\n"));
        for _ in 0..n {
            let score: f32 = rng.random();
            let label = u8::from(rng.random::<f32>() < score.powi(2));
            binary += &format!("{score},{label}\n");
            let mirrored = if name == "cal" { 1.0 - score } else { score };
            turned += &format!("{mirrored},{label}\n");
            right += &format!("{},{label}\n", score.powi(2));
        }
        fs::write(folder.join(format!("{name}.csv")), binary)?;
        fs::write(folder.join(format!("turned_{name}.csv")), turned)?;
        fs::write(folder.join(format!("right_{name}.csv")), right)?;
        for (several, classes) in [("three", 3), ("ten", 10)] {
            let mut labels = String::from("label\n");
            let mut logits: Vec<f32> = Vec::new();
            for _ in 0..n {
                let row: Vec<f32> = (0..classes).map(|_| 4.0 * rng.random::<f32>()).collect();
                let exps: Vec<f32> = row.iter().map(|logit| (0.6 * logit).exp()).collect();
                let mut left = rng.random::<f32>() * exps.iter().sum::<f32>();
                let class = exps.iter().position(|exp| {
                    left -= exp;
                    left < 0.0
                });
                labels += &format!("{}\n", class.unwrap_or(0));
                logits.extend(row);
            }
            fs::write(folder.join(format!("{several}_{name}_labels.csv")), labels)?;
            fs::write(folder.join(format!("{several}_{name}.npy")), npy(&logits, classes))?;
        }
    }
    Ok(())
}

/// The identity of the calibrator with monitors.
fn identity(calib: &Path, folder: &Path) -> Result<String> {
    let mut inspect = Command::new(calib);
    inspect.args(["inspect", "monitored.bin", "--json"]).current_dir(folder);
    let inspected: Value = serde_json::from_slice(&inspect.output()?.stdout)?;
    Ok(inspected["identity"].as_str().context("an artifact has an identity")?.into())
}

/// The counters of 300 devices, which are like the calibration, or whose scores and outcomes have moved.
fn write_counters(path: &Path, identity: &str, have_moved: bool) -> Result<()> {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(2);
    let mut text = String::new();
    for device in 0..300 {
        let [mut predictions, mut labeled, mut positives] = [[0u32; 10]; 3];
        for _ in 0..60 {
            let score = if have_moved { rng.random::<f32>().powf(0.8) } else { rng.random::<f32>() };
            let bin = (10.0 * score) as usize;
            predictions[bin] += 1;
            if rng.random::<f32>() < 0.2 {
                labeled[bin] += 1;
                let prob = if have_moved { score } else { score.powi(2) };
                positives[bin] += u32::from(rng.random::<f32>() < prob);
            }
        }
        let table = json!({"predictions": predictions, "labeled": labeled, "positives": positives});
        let device = format!("ward {device}");
        let counters =
            json!({"calib_counters": 1, "device": device, "calibrator": identity, "tables": [table]});
        text += &format!("{counters}\n");
    }
    Ok(fs::write(path, text)?)
}

/// A NumPy array of shape (rows, columns).
fn npy(values: &[f32], columns: usize) -> Vec<u8> {
    let shape = format!("({}, {columns})", values.len() / columns);
    let dict = format!("{{'descr': '<f4', 'fortran_order': False, 'shape': {shape}, }}");
    let header_len = (11 + dict.len()).next_multiple_of(64) - 10;
    let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
    bytes.extend((header_len as u16).to_le_bytes());
    bytes.extend(format!("{dict:<width$}\n", width = header_len - 1).into_bytes());
    bytes.extend(values.iter().flat_map(|value| value.to_le_bytes()));
    bytes
}
