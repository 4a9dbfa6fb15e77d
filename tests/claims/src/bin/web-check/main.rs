//! The page in a real browser; `cargo xtask web --check` builds both, and calls this with the path of Chromium.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, ensure};
use calib_claims::browser::Browser;
use calib_core::predict::{Output, Query};
use calib_core::{Margin, Score};
use calib_fit::StoredArtifact;
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use serde_json::{Value, json};
use xtask::{cargo, root, run};

/// Fits of which the page's artifacts are compared with the command's: of each table by each of these methods.
const TABLES: [&str; 3] = ["cal.csv", "german.csv", "cal.jsonl"];
const METHODS: [&str; 10] = [
    "",
    "--method umd --bins 10",
    "--method isotonic",
    "--method isotonic-centered",
    "--method venn-abers",
    "--method platt",
    "--method beta",
    "--method temperature",
    "--method scaling-binning --bins 10",
    "--epsilon 0.1",
];
/// And of other scores.
const OTHERS: [&str; 3] = [
    "--margins margins.csv",
    "--margins margins.csv --method umd --bins 10",
    "--logits ten.npy --labels ten_labels.csv --method umd --reduction top-label --rows-per-bin 50",
];
/// What the page refuses as the command does, word for word.
const BAD: [&str; 5] = ["no_label.csv", "beyond.csv", "three_labels.csv", "picture.csv", "empty.csv"];
/// So many scores of each method are sent through the page's device.
const SCORES: usize = 10_000;

fn main() -> Result<()> {
    let browser = Browser::of("web-check")?;
    let folder = browser.folder.join("web");
    fs::create_dir_all(&folder)?;
    run(cargo(&root())
        .args(["build", "--quiet", "--locked", "--package", "calib-host", "--bin", "calib"])
        .args(["--no-default-features", "--features", "cli"]))?;
    write_data(&folder)?;
    let cases = json!({"fits": fits(&folder)?, "refused": refused(&folder)?});
    fs::write(folder.join("cases.json"), cases.to_string())?;
    browser.run(&[root().join("target/web/calib.html"), "web".into()])?;
    println!("screenshots are in {}", folder.display());
    Ok(())
}

/// What the command writes for each fit, and what calib-core on this machine then says of scores, as the bits of floats.
fn fits(folder: &Path) -> Result<Vec<Value>> {
    let ends =
        |table: &str| if table == "german.csv" { " --label-column Ergebnis --score-column Wert" } else { "" };
    let mut lines: Vec<String> = TABLES
        .iter()
        .flat_map(|table| METHODS.map(|method| format!("fit {table}{} {method}", ends(table))))
        .collect();
    lines.extend(OTHERS.map(|words| format!("fit {words}")));
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(3);
    let scores: Vec<f32> = (0..SCORES).map(|_| rng.random()).collect();
    let text: String = scores.iter().map(|score| format!("{score}\n")).collect();
    fs::write(folder.join("scores.txt"), text)?;
    let fit = |(number, line): (usize, String)| {
        let output = format!("{number}.cal");
        let words: Vec<&str> = line.split_whitespace().chain(["-o", &output, "--force"]).collect();
        let said = calib(folder, &words)?;
        ensure!(said["code"] == 0, "calib {line}: {said}");
        let has_scores = number < METHODS.len() || line.contains("--margins");
        if has_scores {
            let bits = bits(&fs::read(folder.join(&output))?, &scores)?;
            fs::write(folder.join(format!("{number}.bits")), bits)?;
        }
        Ok(json!({"words": words, "output": output, "said": said, "bits": has_scores}))
    };
    lines.into_iter().enumerate().map(fit).collect()
}

/// The bits of what an artifact says of scores, a line each.
fn bits(artifact: &[u8], scores: &[f32]) -> Result<String> {
    let stored = StoredArtifact::from_bytes(artifact)?;
    let artifact = stored.artifact();
    let mut text = String::new();
    for &score in scores {
        let of_score = artifact.predict(&Query::from(Output::Score(Score::new(score)?)));
        let said = match of_score {
            Ok(said) => said,
            Err(_) => artifact.predict(&Query::from(Output::Margin(Margin::new(score)?)))?,
        };
        let calibrated = said.first.outcome.calibrated().context("a score without a probability")?;
        writeln!(text, "{:08x}", calibrated.prob.to_bits())?;
    }
    Ok(text)
}

/// What the command says of tables that it refuses.
fn refused(folder: &Path) -> Result<Vec<Value>> {
    let refuse = |table| {
        let words = ["fit", table, "-o", "bad.cal", "--force"];
        let said = calib(folder, &words)?;
        ensure!(said["code"] != 0, "calib fits {table}");
        Ok(json!({"words": words, "said": said}))
    };
    BAD.into_iter().map(refuse).collect()
}

/// What the command prints, and its exit code.
fn calib(folder: &Path, words: &[&str]) -> Result<Value> {
    let ended = Command::new(root().join("target/debug/calib")).args(words).current_dir(folder).output()?;
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    Ok(json!({"code": ended.status.code(), "stdout": text(&ended.stdout), "stderr": text(&ended.stderr)}))
}

/// Tables as users have them, and some that are none.
fn write_data(folder: &Path) -> Result<()> {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(1);
    let mut row = || {
        let score = (rng.random::<f32>() * 1e6).round() / 1e6;
        (score, u8::from(rng.random::<f32>() < score * score))
    };
    let mut table = |name: &str, n: usize, head: &str, line: &dyn Fn(f32, u8) -> String| {
        let rows: String = (0..n).map(|_| row()).map(|(score, label)| line(score, label)).collect();
        fs::write(folder.join(name), format!("{head}{rows}"))
    };
    let plain = |score: f32, label: u8| format!("{score},{label}\n");
    let head = "score,label\n";
    table("cal.csv", 2000, head, &plain)?;
    table("test.csv", 3000, head, &plain)?;
    table("big.csv", 1_000_000, head, &plain)?;
    let comma = |score: f32| score.to_string().replace('.', ",");
    table("german.csv", 2000, "Wert;Ergebnis\n", &|score, label| format!("{};{label}\n", comma(score)))?;
    table("cal.jsonl", 2000, "", &|score, label| format!("{}\n", json!({"score": score, "label": label})))?;
    let gap = |score: f32, label: u8| if score < 0.02 { format!(",{label}\n") } else { plain(score, label) };
    table("missing.csv", 2000, head, &gap)?;
    let margin = |score: f32| (score.max(1e-6) / (1.0 - score).max(1e-6)).ln();
    table("margins.csv", 2000, head, &|score, label| format!("{},{label}\n", margin(score)))?;
    table("no_label.csv", 100, "score,reading\n", &|score, _| format!("{score},{}\n", 37.0 + score))?;
    table("beyond.csv", 100, head, &|score, label| format!("{},{label}\n", 2.0 * score))?;
    table("three_labels.csv", 100, head, &|score, label| {
        format!("{score},{}\n", if score < 0.3 { 2 } else { label })
    })?;
    fs::write(
        folder.join("picture.csv"),
        b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x01\0\0\0\x01\x08\x06\0\0\0",
    )?;
    fs::write(folder.join("empty.csv"), "")?;
    for name in ["ten", "ten_test"] {
        let (mut logits, mut labels) = (Vec::new(), String::from("label\n"));
        for _ in 0..3000 {
            let row: [f32; 10] = std::array::from_fn(|_| 4.0 * rng.random::<f32>());
            let exps = row.map(|logit| (0.6 * logit).exp());
            let mut left = rng.random::<f32>() * exps.iter().sum::<f32>();
            let class = exps.iter().position(|exp| {
                left -= exp;
                left < 0.0
            });
            writeln!(labels, "{}", class.unwrap_or(0))?;
            logits.extend(row);
        }
        fs::write(folder.join(format!("{name}_labels.csv")), labels)?;
        fs::write(folder.join(format!("{name}.npy")), npy(&logits, 10))?;
    }
    Ok(())
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
