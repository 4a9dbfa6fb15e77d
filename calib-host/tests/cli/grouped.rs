//! Calibrators with a table for each group, from the fit to the rows.

use std::fmt::Write;

use crate::data::noise;
use crate::workplace::Workplace;

/// 400 rows of men and women by turns: of the same score more men than women are of class 1. Three rows are of nobody else.
fn csv() -> String {
    let mut text = "score,margin,label,sex,constant\n".to_owned();
    for row in 0..403usize {
        let (score, sex) = (((row * 37) % 403) as f64 / 512.0, ["f", "m"][row % 2]);
        let sex = if row >= 400 { "x" } else { sex };
        let label = u8::from(noise(row) < if sex == "m" { score } else { score / 2.0 });
        writeln!(text, "{score},{},{label},{sex},one", 8.0 * score - 4.0).unwrap();
    }
    text
}

fn place() -> Workplace {
    Workplace::new().with("rows.csv", csv())
}

/// The rows of one group.
fn part(sex: &str) -> String {
    csv()
        .lines()
        .filter(|line| line.starts_with("score") || line.contains(&format!(",{sex},")))
        .fold(String::new(), |text, line| text + line + "\n")
}

#[test]
fn each_group_has_the_table_that_its_own_rows_give() {
    let place = place().with("f.csv", part("f")).with("m.csv", part("m"));
    for source in ["--scores", "--margins --score-column margin"] {
        let (option, column) = source.split_once(' ').unwrap_or((source, ""));
        let fit = |rows: &str, output: &str| {
            format!("calib fit --method umd --bins 4 {option} {rows} {column} -o {output} --force")
        };
        let shown = place.ok(&format!("{} --group-column sex", fit("rows.csv", "all.bin"))).stderr;
        assert!(shown.contains("uncalibrated: group x (3 of 8 points)"), "{shown}");
        let all = place.inspect("all.bin");
        assert_eq!(all["groups"], serde_json::json!(["f", "m", "x"]));
        assert_eq!(all["n"], 403);
        for (index, sex) in ["f", "m"].into_iter().enumerate() {
            place.ok(&fit(&format!("{sex}.csv"), "one.bin"));
            let one = place.inspect("one.bin");
            for part in ["edges", "values", "score_range"] {
                assert_eq!(all["tables"][index][part], one["tables"][0][part], "{sex} {part}");
            }
            // The union is over the bins of all groups, the one without a table among them: 12 instead of 4.
            let epsilon =
                |fit: &serde_json::Value, table: usize| fit["tables"][table]["epsilon"].as_f64().unwrap();
            let (own, shared) = (epsilon(&one, 0), epsilon(&all, index));
            let ratio = ((2.0 * 8.0 / 0.1f64).ln() / (2.0 * 4.0 / 0.1f64).ln()).sqrt();
            assert!((shared / own - ratio).abs() < 1e-6, "{shared} {own}");

            let apply = |artifact: &str, rows: &str, groups: &str| {
                place.ok(&format!(
                    "calib apply {artifact} {option} {rows} {column} {groups} -o out.csv --force"
                ));
                let (header, rows) = place.table("out.csv");
                let at = |name: &str| header.iter().position(|field| field == name).unwrap();
                let (sex_at, prob, bin) = (at("sex"), at("prob"), at("bin"));
                let of = |row: &Vec<String>| (row[prob].clone(), row[bin].clone());
                rows.iter().filter(|row| row[sex_at] == sex).map(of).collect::<Vec<_>>()
            };
            let alone = apply("one.bin", &format!("{sex}.csv"), "");
            assert_eq!(apply("all.bin", "rows.csv", "--group-column sex"), alone, "{sex}");
        }
        let text = place.ok("calib inspect all.bin").stdout;
        for words in ["groups      f, m, x", "table 0 (group f)", "table 2 (group x): uncalibrated"] {
            assert!(text.contains(words), "{words} in\n{text}");
        }
    }
}

#[test]
fn groups_are_named_known_and_more_than_one() {
    let place = place().with("y.csv", "score,label,sex\n0.5,1,f\n0.25,0,y\n");
    place.ok("calib fit --method umd --bins 4 --scores rows.csv --group-column sex -o all.bin");
    let refused = |line: &str, code: i32, words: &str| {
        let run = place.run(line);
        assert_eq!(run.code, code, "{line}\n{}", run.stderr);
        assert!(run.stderr.contains(words), "{words} in\n{}", run.stderr);
        assert!(!place.path().join("out.csv").exists() && !place.path().join("out.bin").exists());
    };
    refused(
        "calib apply all.bin --scores rows.csv -o out.csv",
        2,
        "all.bin tells the groups f, m, x apart: name the column of groups with --group-column",
    );
    refused(
        "calib apply all.bin --scores y.csv --group-column sex -o out.csv",
        1,
        "the artefact knows no group \"y\"\n  artefact  all.bin: knows f, m, x",
    );
    let fit = "calib fit --method umd --bins 4 --scores rows.csv -o out.bin --group-column";
    refused(&format!("{fit} constant"), 2, "names one group only");
    refused(&format!("{fit} age"), 3, "age");
    let counts = "calib fit --method umd --bins 4 --scores rows.csv --count-column label -o out.bin --group-column sex";
    assert_ne!(place.run(counts).code, 0);
    let matrix = "calib fit --method umd --reduction top-label --points-per-bin 20 --logits rows.csv -o out.bin --group-column sex";
    refused(matrix, 2, "--group-column needs a table of binary scores");
}

#[test]
fn rows_are_judged_by_the_table_of_their_group() {
    let place = place();
    place.ok("calib fit --method isotonic --scores rows.csv --group-column sex -o all.bin");
    let line = "calib assess all.bin --scores rows.csv --group-column sex --same-rows --json";
    let value = place.json(line);
    let groups: Vec<&str> = value["groups"]["groups"]
        .as_array()
        .unwrap()
        .iter()
        .map(|group| group["group"].as_str().unwrap())
        .collect();
    // The third has no table, and its rows are left out.
    assert_eq!((groups, &value["uncalibrated"]), (vec!["f", "m"], &3.into()));
}

/// Integer codes are looked up in the table of their group, and what is said of the rows is that.
#[test]
fn codes_are_calibrated_by_the_table_of_their_group() {
    let code = |line: &str| {
        let mut fields = line.split(',');
        let score = fields.next().unwrap();
        let code =
            score.parse::<f64>().map_or("code".into(), |score| ((score * 256.0) as i64 - 128).to_string());
        format!("{code},{}\n", fields.collect::<Vec<_>>().join(","))
    };
    let coded = |text: &str| text.lines().map(code).collect::<String>();
    let place = Workplace::new().with("rows.csv", coded(&csv())).with("f.csv", coded(&part("f")));
    let fit = "calib fit --score-encoding i8,1/256,-128 --score-column code --method";
    for method in ["umd --bins 4", "platt", "umd --bins 4 --table direct"] {
        place.ok(&format!("{fit} {method} --scores rows.csv --group-column sex -o all.bin --force"));
        place.ok(&format!("{fit} {method} --scores f.csv -o f.bin --force"));
        let apply = |artifact: &str, rows: &str, groups: &str| {
            let line = format!(
                "calib apply {artifact} --scores {rows} --score-column code {groups} -o out.csv --force"
            );
            place.ok(&line);
            let (header, rows) = place.table("out.csv");
            let at = |name: &str| header.iter().position(|field| field == name).unwrap();
            let of = |row: &Vec<String>| (row[at("code")].clone(), row[at("prob")].clone());
            rows.iter().filter(|row| row[at("sex")] == "f").map(of).collect::<Vec<_>>()
        };
        let alone = apply("f.bin", "f.csv", "");
        assert_eq!(apply("all.bin", "rows.csv", "--group-column sex"), alone, "{method}");
    }
    let assess =
        "calib assess all.bin --scores rows.csv --score-column code --group-column sex --same-rows --json";
    assert_eq!(place.json(assess)["groups"]["groups"].as_array().unwrap().len(), 2);
}

/// Of margins each method is that of margins: bins of equal width have a range, and Platt's function is one of the margin.
#[test]
fn margins_of_groups_have_every_method_of_margins() {
    let place = place().with("f.csv", part("f"));
    for method in ["platt", "temperature", "fixed-width --bins 4 --range -4,3"] {
        let fit = format!("calib fit --method {method} --score-column margin --force --margins");
        place.ok(&format!("{fit} rows.csv --group-column sex -o all.bin"));
        place.ok(&format!("{fit} f.csv -o f.bin"));
        let (all, alone) = (place.inspect("all.bin"), place.inspect("f.bin"));
        for part in ["edges", "values", "scaling"] {
            assert_eq!(all["tables"][0][part], alone["tables"][0][part], "{method} {part}");
        }
    }
    for (method, said) in [("beta", "use platt"), ("fixed-width --bins 4", "need their range: --range LO,HI")]
    {
        let line = format!(
            "calib fit --method {method} --margins rows.csv --score-column margin --group-column sex -o out.bin"
        );
        let run = place.run(&line);
        assert!(run.code == 2 && run.stderr.contains(said), "{run:?}");
    }
}
