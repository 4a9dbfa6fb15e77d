//! Scores that are counted where they are: `calib sql`, a database, and `calib fit --passes`. `cargo xtask engines` asks real ones.

use std::collections::BTreeMap;
use std::fmt::Write;

use calib_host::StoredArtifact;
use calib_host::artifact::SKETCH_SECTION;
use serde_json::json;

use crate::data::{Json, binary, csv, noise};
use crate::same_rows::without_section;
use crate::workplace::Workplace;

/// Rows by score, each with its number and that of positives, as a database groups them.
pub(crate) fn by_score(rows: &[(f32, u8)]) -> BTreeMap<u32, (f32, u64, u64)> {
    let mut scores = BTreeMap::new();
    for &(score, label) in rows {
        let (_, n, positives) = scores.entry(score.to_bits()).or_insert((score, 0, 0));
        (*n, *positives) = (*n + 1, *positives + u64::from(label));
    }
    scores
}

/// The answer to pass 1.
pub(crate) fn pass1(rows: &[(f32, u8)]) -> String {
    let scores: Vec<(f32, u64, u64)> = by_score(rows).into_values().collect();
    let bucket = |score: f32| (f64::from(score) * 65_536.0).floor();
    let mut text = "fault,bucket,per_unit,n,positives,lowest,highest,tied,heaviest\n".to_owned();
    for scores in scores.chunk_by(|a, b| bucket(a.0) == bucket(b.0)) {
        let n: u64 = scores.iter().map(|row| row.1).sum();
        let positives: u64 = scores.iter().map(|row| row.2).sum();
        let tied: u64 = scores.iter().map(|row| row.1).filter(|&n| n > 1).sum();
        let heaviest = scores.iter().map(|row| row.1).max().unwrap();
        let (lowest, highest) = (f64::from(scores[0].0), f64::from(scores[scores.len() - 1].0));
        let at = bucket(scores[0].0);
        writeln!(text, "0,{at},65536,{n},{positives},{lowest},{highest},{tied},{heaviest}").unwrap();
    }
    text
}

/// The answer to pass 2, of the buckets that `is_open`.
pub(crate) fn pass2(rows: &[(f32, u8)], is_open: impl Fn(f64) -> bool) -> String {
    let mut text = "score,n,positives\n".to_owned();
    for (score, n, positives) in by_score(rows).into_values() {
        if is_open((f64::from(score) * 65_536.0).floor()) {
            writeln!(text, "{score},{n},{positives}").unwrap();
        }
    }
    text
}

/// The buckets that the query of pass 2 names.
pub(crate) fn named_buckets(sql: &str) -> Vec<f64> {
    let Some((_, list)) = sql.split_once("bucket IN (") else { return Vec::new() };
    let list = list.split(')').next().unwrap();
    list.split(',').map(|number| number.trim().parse().unwrap()).collect()
}

/// An artifact without what names the rows: CRC and identity, the hash of the files, the hash of the rows, and their sketch.
pub(crate) fn without_hashes(place: &Workplace, name: &str) -> Vec<u8> {
    let (bytes, inspected) = (place.bytes(name), place.inspect(name));
    let has_sketch = StoredArtifact::from_bytes(&bytes).unwrap().sketch().is_some();
    let mut bytes = if has_sketch { without_section(&bytes, SKETCH_SECTION) } else { bytes };
    bytes[12..24].fill(0);
    for hash in [&inspected["provenance"]["data_sha256"], &inspected["sample"]["rows"]] {
        let hash = hash.text();
        let hash: Vec<u8> =
            (0..hash.len()).step_by(2).map(|at| u8::from_str_radix(&hash[at..at + 2], 16).unwrap()).collect();
        let at = bytes.windows(hash.len()).position(|part| part == hash).unwrap();
        bytes[at..at + hash.len()].fill(0);
    }
    bytes
}

/// Most scores are in few buckets; a tenth has one of four scores.
fn skewed(n: usize) -> Vec<(f32, u8)> {
    let row = |(at, (score, label)): (usize, (f32, u8))| match at % 10 {
        0 => ((at / 10 % 4) as f32 / 4.0, label),
        _ => (score * score * score, label),
    };
    binary(n).into_iter().enumerate().map(row).collect()
}

#[test]
fn both_passes_give_the_artifact_of_all_rows() {
    let rows = skewed(6000);
    let place = Workplace::new().with("all.csv", csv(&rows)).with("pass1.csv", pass1(&rows));
    let sql = "calib sql --dialect duckdb --from scored";
    place.says(sql);
    for method in [
        "--method umd --bins 10",
        "--method umd --rows-per-bin 50 --alpha 0.05",
        "--method umd-original --bins 7 --candidates 3 --alpha-spent 0.1",
        "--method fixed-width --bins 12",
        "--method isotonic",
        "--method isotonic-interpolated",
        "--method isotonic --max-bins 6 --smoothing 1",
    ] {
        let asked: String =
            method.split(" --alpha").next().unwrap().split(" --candidates").next().unwrap().into();
        let run = place.ok(&format!("{sql} {asked} --pass1 pass1.csv"));
        let open = named_buckets(&run.stdout);
        assert!(
            run.stderr.starts_with(&format!("pass 2 looks into {} buckets, which hold ", open.len())),
            "{run:?}"
        );
        std::fs::write(place.path().join("pass2.csv"), pass2(&rows, |bucket| open.contains(&bucket)))
            .unwrap();
        place.ok(&format!("calib fit {method} --intervals none --scores all.csv -o all.bin --force"));
        place.says(&format!("calib fit {method} --passes pass1.csv pass2.csv -o counted.bin --force"));
        assert_eq!(without_hashes(&place, "counted.bin"), without_hashes(&place, "all.bin"), "{method}");
    }
    // The hash of the rows is that of none.
    assert_eq!(place.inspect("counted.bin")["sample"]["rows"], json!("0".repeat(32)));
    assert!(place.run("calib assess counted.bin --scores all.csv").code == 0);
    said!();
}

#[test]
fn monitors_count_in_the_bins_of_all_rows() {
    let rows: Vec<(f32, u8)> = binary(5000).into_iter().map(|(score, label)| (score / 64.0, label)).collect();
    let place = Workplace::new().with("all.csv", csv(&rows)).with("pass1.csv", pass1(&rows));
    let sql = "calib sql --dialect spark --from t --method isotonic --monitor=5 --pass1 pass1.csv";
    let open = named_buckets(&place.ok(sql).stdout);
    let place = place.with("pass2.csv", pass2(&rows, |bucket| open.contains(&bucket)));
    let fit = "calib fit --method isotonic --monitor=5";
    place.ok(&format!("{fit} --intervals none --scores all.csv -o all.bin"));
    place.ok(&format!("{fit} --passes pass1.csv pass2.csv -o counted.bin"));
    assert_eq!(without_hashes(&place, "counted.bin"), without_hashes(&place, "all.bin"));
}

/// The edges of other scores are known, so that the second pass is not asked for those of the monitors.
#[test]
fn monitors_of_other_scores_take_nothing_of_the_passes() {
    let rows: Vec<(f32, u8)> = binary(5000).into_iter().map(|(score, label)| (score / 64.0, label)).collect();
    let place = Workplace::new().with("all.csv", csv(&rows)).with("pass1.csv", pass1(&rows));
    let place = place.with("there.csv", csv(&binary(700)));
    let open = named_buckets(
        &place.ok("calib sql --dialect spark --from t --method isotonic --pass1 pass1.csv").stdout,
    );
    let monitored = named_buckets(
        &place
            .ok("calib sql --dialect spark --from t --method isotonic --monitor=5 --pass1 pass1.csv")
            .stdout,
    );
    assert!(open.len() < monitored.len(), "the test would not see what is asked for");
    let place = place.with("pass2.csv", pass2(&rows, |bucket| open.contains(&bucket)));
    let fit = "calib fit --method isotonic --monitor=5 --monitor-scores there.csv";
    place.ok(&format!("{fit} --intervals none --scores all.csv -o all.bin"));
    place.ok(&format!("{fit} --passes pass1.csv pass2.csv -o counted.bin"));
    assert_eq!(without_hashes(&place, "counted.bin"), without_hashes(&place, "all.bin"));
}

#[test]
fn what_two_passes_cannot_tell_is_refused_with_the_reason() {
    let rows = skewed(2000);
    let place = Workplace::new()
        .with("pass1.csv", pass1(&rows))
        .with("pass2.csv", pass2(&rows, |_| true))
        .with("none.csv", pass2(&rows, |_| false))
        .with("other.csv", pass2(&rows[1..], |_| true))
        .with("faulty.csv", pass1(&rows) + "1,0,65536,12,0,0,0,0,1\n2,0,65536,3,0,0,0,0,1\n")
        .with("rows.csv", csv(&rows));
    let both = "--passes pass1.csv pass2.csv -o out.bin";
    for line in [
        format!("calib fit {both}"),
        format!("calib fit --method ums --bins 5 {both}"),
        format!("calib fit --method umd-randomized --bins 5 {both}"),
        format!("calib fit --method platt {both}"),
        format!("calib fit --method umd --bins 5 --cluster-column patient {both}"),
        format!("calib fit --method umd --bins 5 --table u16 {both}"),
        "calib fit --method umd --bins 40 --passes pass1.csv -o out.bin".into(),
        "calib fit --method umd --bins 40 --passes pass1.csv none.csv -o out.bin".into(),
        "calib fit --method umd --bins 5 --passes pass1.csv other.csv -o out.bin".into(),
        "calib fit --method umd --bins 5 --passes faulty.csv pass2.csv -o out.bin".into(),
        "calib fit --method umd --bins 5 --passes rows.csv -o out.bin".into(),
        format!("calib fit --method umd --bins 5 --scores rows.csv {both}"),
        "calib fit --method umd --bins 5 --passes 1.csv 2.csv 3.csv -o out.bin".into(),
        "calib sql --dialect duckdb --from t --method ums --bins 5".into(),
        "calib sql --dialect duckdb --from t --method beta".into(),
        "calib sql --dialect oracle --from t".into(),
        "calib sql --dialect duckdb --from t --margins --per-unit 1000".into(),
        "calib sql --dialect duckdb --from t --margins --method isotonic --pass1 pass1.csv".into(),
    ] {
        place.says(&line);
        assert!(!place.path().join("out.bin").exists(), "{line}");
    }
    said!();
}

/// A code is all there is to know of a score, so that one pass is enough.
#[test]
fn of_codes_one_pass_is_enough() {
    let codes: Vec<(i32, u8)> =
        binary(3000).iter().map(|(score, label)| ((score * 256.0) as i32 - 128, *label)).collect();
    let mut counts = BTreeMap::new();
    for (code, label) in &codes {
        let (n, positives) = counts.entry(code).or_insert((0, 0));
        (*n, *positives) = (*n + 1, *positives + u32::from(*label));
    }
    let rows: String = codes.iter().map(|(code, label)| format!("{code},{label}\n")).collect();
    let counted: String = counts.iter().map(|(code, (n, k))| format!("{code},{n},{k}\n")).collect();
    let place = Workplace::new()
        .with("rows.csv", format!("code,label\n{rows}"))
        .with("counts.csv", format!("code,n,positives\n{counted}"));
    let encoding = "--score-encoding i8,1/256,-128";
    place.says(&format!(
        "calib sql --dialect postgres --from scored --score-column code {encoding} --method platt"
    ));
    place.says(&format!("calib sql --dialect postgres --from scored {encoding} --method ums --bins 4"));
    for method in ["umd --bins 5", "isotonic", "platt", "fixed-width --bins 6"] {
        let fit = format!("calib fit --method {method} {encoding} --score-column code --force");
        place.ok(&format!("{fit} --scores rows.csv -o rows.bin"));
        place.ok(&format!("{fit} --scores counts.csv --count-columns n,positives -o counts.bin"));
        assert_eq!(without_hashes(&place, "counts.bin"), without_hashes(&place, "rows.bin"), "{method}");
        let hash = |name: &str| place.inspect(name)["sample"]["rows"].clone();
        assert_eq!(hash("counts.bin"), hash("rows.bin"));
    }
    said!();
}

/// Counts are assessed as their rows are.
#[test]
fn counted_rows_are_assessed_as_rows() {
    let rows: Vec<(f32, u8)> = (0..2000)
        .map(|row| ((row % 37) as f32 / 40.0, u8::from(noise(row) < (row % 37) as f64 / 45.0)))
        .collect();
    let counts: String =
        by_score(&rows).into_values().map(|(score, n, k)| format!("{score},{n},{k}\n")).collect();
    let place = Workplace::new()
        .with("rows.csv", csv(&rows))
        .with("counts.csv", format!("score,n,k\n{counts}"))
        .with("probs.csv", format!("prob,n,k\n{counts}"))
        .with("cal.csv", csv(&binary(900)));
    place.ok("calib fit cal.csv --method umd --bins 6 -o cal.bin");
    let counted = "--count-columns n,k";
    let same = |one: &str, other: &str| {
        let ([mut one, mut other], lines) = ([place.json(one), place.json(other)], [one, other]);
        for value in [&mut one, &mut other] {
            // What is asked of the order of rows is not asked of counts.
            value["warnings"].take();
        }
        assert_eq!(one, other, "{lines:?}");
    };
    same(
        "calib assess --scores rows.csv --json",
        &format!("calib assess --scores counts.csv {counted} --json"),
    );
    same(
        "calib assess --scores rows.csv --json",
        &format!("calib assess --probs probs.csv {counted} --json"),
    );
    same(
        "calib assess cal.bin --scores rows.csv --json",
        &format!("calib assess cal.bin --scores counts.csv {counted} --json"),
    );
    for line in [
        "--scores counts.csv --count-columns n",
        "--scores counts.csv --count-columns n,k --bootstrap 10",
        "--scores counts.csv --count-columns n,k --cluster-column k",
        "cal.bin --probs probs.csv --count-columns n,k",
    ] {
        place.says(&format!("calib assess {line}"));
    }
    said!();
}
