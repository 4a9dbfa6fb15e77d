//! Scores that are counted by group where they are: `calib sql --group-column`, a database, and `calib fit --passes --group-column`.
//! `cargo xtask engines` asks real ones.

use std::collections::BTreeMap;
use std::fmt::Write;

use crate::data::noise;
use crate::sql::{by_score, named_buckets, without_hashes};
use crate::workplace::Workplace;

/// A row: its group, as a CSV file has it, its score and its label.
type Row = (&'static str, f32, u8);

/// Groups by turns, one of which is large, two are small, and the last is too small for most tables. Most scores are in few buckets, and a
/// tenth has one of four.
fn rows(n: usize) -> Vec<Row> {
    let of = |row: usize| {
        let group = match row % 97 {
            0..50 => "f",
            50..80 => "\"it's, \"\"m\"\"\"",
            80..96 => "7",
            _ => "true",
        };
        let score = ((row * 7919 % n) as f32 + 0.5) / n as f32;
        let score = if row.is_multiple_of(10) { (row / 10 % 4) as f32 / 4.0 } else { score.powi(3) };
        (group, score, u8::from(noise(row) < f64::from(score).sqrt() * if group == "f" { 0.5 } else { 0.9 }))
    };
    (0..n).map(of).collect()
}

fn csv(rows: &[Row]) -> String {
    let lines =
        rows.iter().map(|(group, score, label)| format!("{score},{},{label},{group}\n", score * 8.0 - 4.0));
    format!("score,margin,label,sex\n{}", lines.collect::<String>())
}

/// The rows of each group, by its name in the file.
fn divided(rows: &[Row]) -> BTreeMap<&'static str, Vec<(f32, u8)>> {
    let mut groups = BTreeMap::<_, Vec<_>>::new();
    rows.iter().for_each(|&(group, score, label)| groups.entry(group).or_default().push((score, label)));
    groups
}

/// How scores are divided: of probabilities, or of margins with two buckets to the unit.
#[derive(Clone, Copy)]
enum Kind {
    Probability,
    Margin,
}

impl Kind {
    fn per_unit(self) -> f64 {
        match self {
            Self::Probability => 65_536.0,
            Self::Margin => 2.0,
        }
    }

    fn bucket(self, score: f32) -> f64 {
        (f64::from(score) * self.per_unit()).floor()
    }

    fn of(self, score: f32) -> f32 {
        match self {
            Self::Probability => score,
            Self::Margin => score * 8.0 - 4.0,
        }
    }
}

/// Scores in ascending order, with the number of rows and of positives.
fn counted(kind: Kind, rows: &[(f32, u8)]) -> Vec<(f32, u64, u64)> {
    let rows: Vec<(f32, u8)> = rows.iter().map(|&(score, label)| (kind.of(score), label)).collect();
    let mut scores: Vec<_> = by_score(&rows).into_values().collect();
    scores.sort_by(|a, b| a.0.total_cmp(&b.0));
    scores
}

/// The answer to pass 1.
fn pass1(kind: Kind, rows: &[Row]) -> String {
    let name = if matches!(kind, Kind::Margin) { "margin_bucket" } else { "bucket" };
    let mut text = format!("sex,fault,{name},per_unit,n,positives,lowest,highest,tied,heaviest\n");
    for (group, rows) in divided(rows) {
        let scores = counted(kind, &rows);
        for scores in scores.chunk_by(|a, b| kind.bucket(a.0) == kind.bucket(b.0)) {
            let n: u64 = scores.iter().map(|row| row.1).sum();
            let positives: u64 = scores.iter().map(|row| row.2).sum();
            let tied: u64 = scores.iter().map(|row| row.1).filter(|&n| n > 1).sum();
            let heaviest = scores.iter().map(|row| row.1).max().unwrap();
            let (lowest, highest) = (scores[0].0, scores[scores.len() - 1].0);
            let (bucket, per_unit) = (kind.bucket(lowest), kind.per_unit());
            writeln!(
                text,
                "{group},0,{bucket},{per_unit},{n},{positives},{},{},{tied},{heaviest}",
                f64::from(lowest),
                f64::from(highest)
            )
            .unwrap();
        }
    }
    text
}

/// The answer to pass 2: a query names the buckets of a group behind its name.
fn pass2(kind: Kind, rows: &[Row], sql: &str) -> String {
    let mut text = "sex,score,n,positives\n".to_owned();
    for (group, rows) in divided(rows) {
        let name = group.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')).unwrap_or(group);
        let name = name.replace("\"\"", "\"").replace('\'', "''");
        let open = sql.split_once(&format!("grp = '{name}' AND ")).map(|(_, rest)| named_buckets(rest));
        let open = open.unwrap_or_default();
        for (score, n, positives) in counted(kind, &rows) {
            if open.contains(&kind.bucket(score)) {
                writeln!(text, "{group},{score},{n},{positives}").unwrap();
            }
        }
    }
    text
}

const SQL: &str = "calib sql --dialect duckdb --from scored --group-column sex";

#[test]
fn both_passes_give_the_artifact_of_all_rows_by_group() {
    let rows = rows(5000);
    let place = Workplace::new().with("all.csv", csv(&rows));
    place.says(SQL);
    for (kind, source, query, methods) in [
        (
            Kind::Probability,
            "--scores all.csv",
            "",
            &[
                "--method umd --bins 10",
                "--method umd --rows-per-bin 60 --alpha 0.05",
                "--method umd-original --bins 7",
                "--method fixed-width --bins 12",
                "--method isotonic",
                "--method isotonic-interpolated --rows-per-bin 100",
                "--method isotonic --max-bins 6 --smoothing 1",
            ][..],
        ),
        (
            Kind::Margin,
            "--margins all.csv --score-column margin",
            "--margins --per-unit 2",
            &["--method umd --bins 10", "--method fixed-width --bins 5 --range -3,3", "--method isotonic"][..],
        ),
    ] {
        let place = Workplace::new().with("all.csv", csv(&rows)).with("pass1.csv", pass1(kind, &rows));
        for method in methods {
            let asked = method.split(" --alpha").next().unwrap();
            let run = place.says(&format!("{SQL} {query} {asked} --pass1 pass1.csv"));
            let place = Workplace::new()
                .with("all.csv", csv(&rows))
                .with("pass1.csv", pass1(kind, &rows))
                .with("pass2.csv", pass2(kind, &rows, &run.stdout));
            let fit = format!("calib fit {method} --group-column sex");
            place.ok(&format!("{fit} --intervals none {source} -o all.bin"));
            place.ok(&format!("{fit} --passes pass1.csv pass2.csv -o counted.bin"));
            assert_eq!(without_hashes(&place, "counted.bin"), without_hashes(&place, "all.bin"), "{method}");
            let groups = place.inspect("counted.bin")["groups"].clone();
            assert_eq!(groups, serde_json::json!(["7", "f", "it's, \"m\"", "true"]), "{method}");
        }
    }
    said!();
}

#[test]
fn monitors_of_groups_are_those_of_all_rows() {
    let rows = rows(4000);
    let method = "--method umd --bins 5";
    let place =
        Workplace::new().with("all.csv", csv(&rows)).with("pass1.csv", pass1(Kind::Probability, &rows));
    let sql = place.ok(&format!("{SQL} {method} --pass1 pass1.csv")).stdout;
    let place = place.with("pass2.csv", pass2(Kind::Probability, &rows, &sql));
    let fit = format!("calib fit {method} --group-column sex --monitor");
    place.ok(&format!("{fit} --scores all.csv -o all.bin"));
    place.ok(&format!("{fit} --passes pass1.csv pass2.csv -o counted.bin"));
    assert_eq!(without_hashes(&place, "counted.bin"), without_hashes(&place, "all.bin"));
}

#[test]
fn what_cannot_be_counted_by_group_is_refused_with_what_to_do() {
    let rows = rows(2000);
    let first = pass1(Kind::Probability, &rows);
    let every = |rows: &[Row]| {
        let lines = divided(rows).into_iter().flat_map(|(group, rows)| {
            let line = move |(score, n, k)| format!("{group},{score},{n},{k}\n");
            counted(Kind::Probability, &rows).into_iter().map(line)
        });
        "sex,score,n,positives\n".to_owned() + &lines.collect::<String>()
    };
    let one: Vec<Row> = rows.iter().copied().filter(|row| row.0 == "f").collect();
    let others: Vec<Row> = rows.iter().copied().filter(|row| row.0 != "f").collect();
    let unknown: Vec<Row> =
        rows.iter().map(|row| (if row.0 == "7" { "x" } else { row.0 }, row.1, row.2)).collect();
    let many: String =
        (0..256).map(|group| format!("g{group},0,3,65536,1,0,{0},{0},0,1\n", 3.0 / 65_536.0)).collect();
    let header = first.lines().next().unwrap();
    let place = Workplace::new()
        .with("pass1.csv", &first)
        .with("pass2.csv", every(&rows))
        .with("others.csv", every(&others))
        .with("unknown.csv", every(&unknown))
        .with("one.csv", pass1(Kind::Probability, &one))
        .with("many.csv", format!("{header}\n{many}"))
        .with("together.csv", crate::sql::pass1(&rows.iter().map(|row| (row.1, row.2)).collect::<Vec<_>>()))
        .with("faulty.csv", first.clone() + ",4,0,65536,12,0,0,0,0,1\nf,1,0,65536,3,0,0,0,0,1\n")
        .with("nobody.csv", first.clone() + ",0,9,65536,1,0,0.00014,0.00014,0,1\n")
        .with("spaces.csv", first.replacen("f,0,", " f ,0,", 1) + first.lines().nth(1).unwrap());
    let both = "--method umd --bins 40 --group-column sex --passes pass1.csv pass2.csv -o out.bin";
    place.ok(&format!("calib fit {both} --force"));
    std::fs::remove_file(place.path().join("out.bin")).unwrap();
    let fit = |first: &str, second: &str| {
        format!("calib fit --method umd --bins 40 --group-column sex --passes {first} {second} -o out.bin")
    };
    for line in [
        fit("pass1.csv", "others.csv"),
        fit("pass1.csv", "others.csv"),
        fit("pass1.csv", "unknown.csv"),
        fit("pass1.csv", "unknown.csv"),
        fit("one.csv", "pass2.csv"),
        fit("many.csv", "pass2.csv"),
        fit("together.csv", "pass2.csv"),
        fit("faulty.csv", "pass2.csv"),
        fit("nobody.csv", "pass2.csv"),
        fit("spaces.csv", "pass2.csv"),
        fit("pass1.csv", "pass2.csv") + " --drop-missing",
        fit("pass1.csv", "pass2.csv") + " --monitor=5",
        fit("pass1.csv", "pass2.csv") + " --cluster-column sex",
        fit("pass1.csv", "pass2.csv") + " --table u16",
        "calib fit --method umd --bins 40 --passes pass1.csv pass2.csv -o out.bin".into(),
        fit("pass1.csv", "pass2.csv").replace("umd", "ums"),
        fit("pass1.csv", "pass2.csv").replace("umd --bins 40", "platt"),
        format!("{SQL} --method ums --bins 5"),
        format!("{SQL} --method venn-abers"),
        format!("{SQL} --method umd --bins 4 --monitor=5"),
        format!("{SQL} --margins --method umd --bins 4 --pass1 pass1.csv"),
        SQL.replace("sex", "Positives"),
    ] {
        place.says(&line);
        assert!(!place.path().join("out.bin").exists(), "{line}");
    }
    said!();
}

/// A group that is too small for a table is none of the second pass's business, and stays uncalibrated.
#[test]
fn a_group_too_small_for_a_table_is_not_asked_for() {
    let rows = rows(5000);
    let place = Workplace::new().with("pass1.csv", pass1(Kind::Probability, &rows));
    let sql = place.says(&format!("{SQL} --method umd --rows-per-bin 60 --pass1 pass1.csv")).stdout;
    let place = place.with("pass2.csv", pass2(Kind::Probability, &rows, &sql));
    let fit =
        "calib fit --method umd --rows-per-bin 60 --group-column sex --passes pass1.csv pass2.csv -o out.bin";
    place.says(fit);
    said!();
}

/// Counts by group, of codes and of floats, are as good as their rows, for methods that two passes are not enough for, too.
#[test]
fn counts_by_group_give_the_artifact_of_all_rows() {
    let encoding = "--score-encoding i8,1/256,-128";
    let rows: Vec<(&str, i32, u8)> = rows(4000)
        .iter()
        .map(|&(group, score, label)| (group, (score * 255.0) as i32 - 128, label))
        .collect();
    let mut counts = BTreeMap::new();
    for &(group, code, label) in &rows {
        let (n, positives) = counts.entry((group, code)).or_insert((0, 0));
        (*n, *positives) = (*n + 1, *positives + u32::from(label));
    }
    let score = |code: i32| f64::from(code + 128) / 256.0;
    let of_rows: String = rows
        .iter()
        .map(|(group, code, label)| format!("{code},{},{label},{group}\n", score(*code)))
        .collect();
    let counted: String = counts
        .iter()
        .map(|((group, code), (n, k))| format!("{group},{code},{},{n},{k}\n", score(*code)))
        .collect();
    let place = Workplace::new()
        .with("rows.csv", format!("code,score,label,sex\n{of_rows}"))
        .with("counts.csv", format!("sex,code,score,n,positives\n{counted}"));
    place.says(&format!("{SQL} --score-column code {encoding} --method platt"));
    let counts = "--scores counts.csv --count-columns n,positives -o counts.bin";
    for method in [
        "umd --bins 5",
        "isotonic",
        "platt",
        "fixed-width --bins 6",
        "beta",
        "umd --bins 5 --table u16",
        "isotonic --table u16",
    ] {
        for source in [format!("--score-column code {encoding}"), "--score-column score".into()] {
            let is_code = source.contains("code");
            if is_code && method.contains("u16") {
                continue;
            }
            let fit = format!("calib fit --method {method} {source} --group-column sex --force");
            place.ok(&format!("{fit} --scores rows.csv -o rows.bin"));
            place.ok(&format!("{fit} {counts}"));
            assert_eq!(without_hashes(&place, "counts.bin"), without_hashes(&place, "rows.bin"), "{method}");
            let hash = |name: &str| place.inspect(name)["sample"]["rows"].clone();
            assert_eq!(hash("counts.bin"), hash("rows.bin"));
        }
    }
    for refused in ["--weight-column n", "--cluster-column n"] {
        place.says(&format!(
            "calib fit --method isotonic --scores rows.csv {refused} --group-column sex -o out.bin"
        ));
    }
    said!();
}
