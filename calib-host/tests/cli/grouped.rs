//! Calibrators with a table for each group, from the fit to the rows.

use std::fmt::Write;

use crate::data::{Json, noise};
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
        place.says(&format!("{} --group-column sex", fit("rows.csv", "all.bin")));
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
            let epsilon = |fit: &serde_json::Value, table: usize| fit["tables"][table]["epsilon"].number();
            assert!(epsilon(&one, 0) < epsilon(&all, index), "{sex}");
            let hoeffding = |file: &str, options: &str, table: usize| {
                place.ok(&format!("{} {options} --bound hoeffding", fit(file, "bound.bin")));
                epsilon(&place.inspect("bound.bin"), table)
            };
            let own = hoeffding(&format!("{sex}.csv"), "", 0);
            let shared = hoeffding("rows.csv", "--group-column sex", index);
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
        place.says("calib inspect all.bin");
    }
    said!();
}

#[test]
fn groups_are_named_known_and_more_than_one() {
    let place = place().with("y.csv", "score,label,sex\n0.5,1,f\n0.25,0,y\n");
    place.ok("calib fit --method umd --bins 4 --scores rows.csv --group-column sex -o all.bin");
    let refused = |line: &str| {
        place.says(line);
        assert!(!place.path().join("out.csv").exists() && !place.path().join("out.bin").exists());
    };
    refused("calib apply all.bin --scores rows.csv -o out.csv");
    refused("calib apply all.bin --scores y.csv --group-column sex -o out.csv");
    let fit = "calib fit --method umd --bins 4 --scores rows.csv -o out.bin --group-column";
    refused(&format!("{fit} constant"));
    refused(&format!("{fit} age"));
    let counts = "calib fit --method umd --bins 4 --scores rows.csv --count-columns label -o out.bin --group-column sex";
    place.says(counts);
    let matrix = "calib fit --method umd --reduction top-label --rows-per-bin 20 --logits rows.csv -o out.bin --group-column sex";
    refused(matrix);
    said!();
}

#[test]
fn rows_are_judged_by_the_table_of_their_group() {
    let place = place();
    place.ok("calib fit --method isotonic --scores rows.csv --group-column sex -o all.bin");
    let line = "calib assess all.bin --scores rows.csv --group-column sex --same-rows --json";
    let value = place.json(line);
    let groups: Vec<&str> =
        value["groups"]["groups"].list().iter().map(|group| group["group"].text()).collect();
    // The third has no table, and its rows are left out.
    assert_eq!((groups, &value["uncalibrated"]), (vec!["f", "m"], &3.into()));
}

/// What the fit proposes as the next step works: a report, and each plot of it.
#[test]
fn a_calibrator_by_group_is_reported_and_plotted() {
    let place = place().with("test.csv", csv().replace("0.5,", "0.25,"));
    for (name, source) in [("probs", "--scores"), ("margins", "--score-column margin --margins")] {
        let shown = place
            .ok(&format!(
                "calib fit {source} rows.csv --method umd --bins 4 --group-column sex -o {name}.cal"
            ))
            .stderr;
        let next = shown.lines().find_map(|line| line.split_once("calib report ")).expect(&shown).1;
        assert!(next.contains("--group-column sex"), "{shown}");
        let column = if name == "margins" { "--score-column margin" } else { "" };
        let on = format!(
            "{name}.cal --calibration rows.csv --test test.csv {column} --group-column sex --same-rows"
        );
        place.ok(&format!("calib report {on} -o {name}.html"));
        let page = String::from_utf8(place.bytes(&format!("{name}.html"))).unwrap();
        assert!(page.contains("<svg") && page.len() > 10_000);
        // A margin is no probability before calibration.
        let before = if name == "probs" { &["before-and-after", "validity", "roc"][..] } else { &["map"] };
        for plot in ["reliability", "occupancy"].iter().chain(before) {
            place.ok(&format!("calib plot {plot} {on} -o {name}-{plot}.svg"));
        }
        // Without the column both say what they lack.
        let without = on.replace("--group-column sex", "");
        for line in [
            format!("calib report {without} -o no.html"),
            format!("calib plot reliability {without} -o no.svg"),
        ] {
            let run = place.run(&line);
            assert!(
                run.code == 2 && run.stderr.contains("name the column of groups with --group-column"),
                "{run:?}"
            );
        }
    }
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
    assert_eq!(place.json(assess)["groups"]["groups"].list().len(), 2);
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
    for method in ["beta", "fixed-width --bins 4"] {
        let line = format!(
            "calib fit --method {method} --margins rows.csv --score-column margin --group-column sex -o out.bin"
        );
        place.says(&line);
    }
    said!();
}
