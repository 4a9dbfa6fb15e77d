//! Margins: binary scores of any size, from the file to what every command says of them.

use serde_json::Value;

use crate::data::{Json, noise};
use crate::npy::{f32s, f64s, i8s, i16s, labels, u16s};
use crate::transcript::refused;
use crate::workplace::Workplace;

const ROWS: usize = 600;

/// An increasing function from (0, 1) to numbers of any size, both signs and heavy tails.
fn margin(prob: f32) -> f32 {
    let centered = 2.0 * prob - 1.0;
    centered * 1.5 / (1.0 - centered * centered)
}

fn table(rows: &[(f32, u8)], score: fn(f32) -> f32) -> String {
    rows.iter().fold("score,label\n".into(), |text, &(s, label)| text + &format!("{},{label}\n", score(s)))
}

/// Rows from another part of the same source.
fn rows(from: usize) -> Vec<(f32, u8)> {
    let offset = if from == 0 { 0.5 } else { 0.25 };
    let score = |row: usize| ((row * 7919 % ROWS) as f32 + offset) / ROWS as f32;
    (0..ROWS).map(|row| (score(row), u8::from(noise(row + from) < f64::from(score(row)).powi(2)))).collect()
}

/// The same rows as probabilities and as margins: `cal` to be fitted to, `test` to be judged on.
fn place() -> Workplace {
    let (cal, test) = (rows(0), rows(1000));
    Workplace::new()
        .with("cal.csv", table(&cal, margin))
        .with("test.csv", table(&test, margin))
        .with("cal-probs.csv", table(&cal, |prob| prob))
        .with("test-probs.csv", table(&test, |prob| prob))
}

/// With artifacts of both kinds.
fn fitted() -> Workplace {
    let place = place();
    place.ok("calib fit --method umd --bins 6 --margins cal.csv -o margins.bin --quiet");
    place.ok("calib fit --method umd --bins 6 --scores cal-probs.csv -o probs.bin --quiet");
    place
}

/// What was added to each row.
fn applied(place: &Workplace, artifact: &str, option: &str) -> Vec<Vec<String>> {
    place.ok(&format!("calib apply {artifact} {option} -o out.csv --force --quiet"));
    let (header, rows) = place.table("out.csv");
    let from = header.iter().position(|name| name == "prob").unwrap();
    rows.into_iter().map(|row| row[from..].to_vec()).collect()
}

#[test]
fn an_order_is_all_that_binning_and_isotonic_regression_need() {
    let place = place();
    for method in [
        "umd --bins 6",
        "umd-original --bins 6",
        "umd --rows-per-bin 100",
        "umd-randomized --bins 6 --seed 3",
        "ums --bins 6 --seed 3",
        "isotonic",
        "isotonic --smoothing 1",
        "isotonic --max-bins 4",
        "venn-abers",
    ] {
        let fit = |source: &str, out: &str| {
            place.json(&format!("calib fit --method {method} {source} -o {out} --force --json --quiet"))
        };
        let (of_probs, of_margins) =
            (fit("--scores cal-probs.csv", "p.bin"), fit("--margins cal.csv", "m.bin"));
        assert_eq!(of_probs["guarantee"], of_margins["guarantee"], "{method}");
        for key in ["counts", "values", "epsilon"] {
            assert_eq!(of_probs["tables"][0][key], of_margins["tables"][0][key], "{method} {key}");
        }
        assert_eq!(place.inspect("m.bin")["encoding"], "f32 margins", "{method}");
        let (probs, margins) = (
            applied(&place, "p.bin", "--scores cal-probs.csv"),
            applied(&place, "m.bin", "--margins cal.csv"),
        );
        assert_eq!(probs, margins, "{method}");
    }
}

#[test]
fn functions_of_a_margin_are_fitted_and_applied() {
    let place = place();
    for method in [
        "platt",
        "platt --loss bayes",
        "platt --loss squared",
        "temperature",
        "scaling-binning-one-set --bins 5",
        "scaling-binning --bins 5 --scaling temperature --seed 3",
        "isotonic-interpolated",
        "fixed-width --bins 8 --range -4,4",
        "umd --bins 6 --table u16",
    ] {
        place.ok(&format!("calib fit --method {method} --margins cal.csv -o m.bin --force --quiet"));
        let json = place.json("calib assess m.bin --margins test.csv --json --quiet");
        let brier = json["after"]["brier"]["value"].number();
        assert!((0.05..0.23).contains(&brier), "{method}: {brier}");
        // The order of the rows is that of the margins.
        let auc = |side: &str| json[side]["auc"]["value"].number();
        assert!(auc("before") > 0.8 && auc("after") > 0.75, "{method}");
    }
    let probs = applied(&place, "m.bin", "--margins test.csv");
    assert_eq!(probs.len(), ROWS);
}

#[test]
fn every_format_gives_the_same_artifact() {
    let rows = rows(0);
    let margins = || rows.iter().map(|row| margin(row.0));
    let classes: Vec<u8> = rows.iter().map(|row| row.1).collect();
    let place = place()
        .with("f32.npy", f32s(&[ROWS], margins()).bytes())
        .with("f64.npy", f64s(&[ROWS], margins().map(f64::from)).bytes())
        .with("labels.npy", labels("|u1", &classes).bytes());
    let fit = |source: &str| {
        place.ok(&format!("calib fit --method umd --bins 6 {source} -o out.bin --force --quiet"));
        crate::data::without_origin(place.inspect("out.bin"))
    };
    let expected = fit("--margins cal.csv");
    assert_eq!(fit("--margins f32.npy --labels labels.npy"), expected);
    assert_eq!(fit("--margins f64.npy --labels labels.npy"), expected);
    // Counts and weights of one are rows; a cluster a row draws every row.
    let counted = table(&rows, margin).lines().enumerate().fold(String::new(), |text, (row, line)| {
        text + line
            + if row == 0 { ",n,k\n" } else { ",1," }
            + if row == 0 { "" } else { &line[line.len() - 1..] }
            + if row == 0 { "" } else { "\n" }
    });
    let place = Workplace::new().with("counts.csv", counted);
    place.ok("calib fit --method umd --bins 6 --margins counts.csv --count-columns n,k -o out.bin --quiet");
    let of_counts = crate::data::without_origin(place.inspect("out.bin"));
    assert_eq!(of_counts["tables"], expected["tables"]);
    place.ok("calib fit --method isotonic --margins counts.csv --weight-column n -o weighted.bin --quiet");
}

#[test]
fn codes_stand_for_any_finite_number() {
    let rows = rows(0);
    let classes: Vec<u8> = rows.iter().map(|row| row.1).collect();
    // From -300 to 32.767 in steps of 0.01: the most are beyond [0, 1].
    let code = |row: &(f32, u8)| (margin(row.0) * 20.0).clamp(-127.0, 127.0) as i8;
    let wide = |row: &(f32, u8)| (margin(row.0) * 100.0).clamp(-32_000.0, 32_000.0) as i16;
    let place = Workplace::new()
        .with("i8.npy", i8s(&[ROWS], rows.iter().map(code)).bytes())
        .with(
            "u8.npy",
            labels("|u1", &rows.iter().map(|row| (i16::from(code(row)) + 128) as u8).collect::<Vec<_>>())
                .bytes(),
        )
        .with("i16.npy", i16s(&[ROWS], rows.iter().map(wide)).bytes())
        .with("u16.npy", u16s(&[ROWS], rows.iter().map(|row| (i32::from(wide(row)) + 32_768) as u16)).bytes())
        .with("floats8.npy", f32s(&[ROWS], rows.iter().map(|row| 0.05 * f32::from(code(row)))).bytes())
        .with("floats16.npy", f32s(&[ROWS], rows.iter().map(|row| 0.01 * f32::from(wide(row)))).bytes())
        .with("labels.npy", labels("|u1", &classes).bytes());
    for (floats, codes, encoding) in [
        ("floats8", "i8", "i8,0.05,0"),
        ("floats8", "u8", "u8,0.05,128"),
        ("floats16", "i16", "i16,0.01,0"),
        ("floats16", "u16", "u16,0.01,32768"),
    ] {
        for method in
            ["ums --bins 5", "isotonic", "fixed-width --bins 20 --range -4,4", "scaling-binning --bins 4"]
        {
            let fit = |what: &str| {
                place.ok(&format!(
                    "calib fit --method {method} --margins {what} --labels labels.npy -o out.bin --force --quiet"
                ));
            };
            fit(&format!("{floats}.npy"));
            let expected = applied(&place, "out.bin", &format!("--margins {floats}.npy"));
            fit(&format!("{codes}.npy --score-encoding {encoding}"));
            let got = applied(&place, "out.bin", &format!("--margins {codes}.npy"));
            let answer = |row: &Vec<String>| [row[0].clone(), row[2].clone(), row[3].clone()];
            assert!(got.iter().map(answer).eq(expected.iter().map(answer)), "{method} {encoding}");
        }
        // Without a range: that of the codes.
        place.ok(&format!(
            "calib fit --method fixed-width --bins 4 --margins {codes}.npy --labels labels.npy --score-encoding {encoding} -o out.bin --force"
        ));
        // Whoever says that these are codes of probabilities is refused.
        place.says(&format!("calib apply out.bin --scores {codes}.npy -o none"));
    }
    // Wider codes than the artifact's.
    place.ok("calib fit --method isotonic --margins i8.npy --labels labels.npy --score-encoding i8,0.05,0 -o out.bin --force");
    place.says("calib apply out.bin --margins i16.npy -o none");
    said!();
}

/// A command line with the option and the file of its scores.
const LINES: [&str; 3] = [
    "apply ARTIFACT KIND FILE -o out.csv --force",
    "assess ARTIFACT KIND FILE",
    "decide --actions costs.toml ARTIFACT KIND FILE",
];

fn line(template: &str, artifact: &str, kind: &str, file: &str) -> String {
    let line = template.replace("ARTIFACT", artifact).replace("KIND", kind).replace("FILE", file);
    format!("calib --quiet {line}")
}

#[test]
fn every_command_notices_the_other_kind() {
    let place = fitted().with("costs.toml", crate::decide::COSTS);
    for template in LINES {
        for (artifact, kind, file) in
            [("margins.bin", "--scores", "test-probs.csv"), ("probs.bin", "--margins", "test.csv")]
        {
            place.says(&line(template, artifact, kind, file));
        }
        // Probabilities are margins as well as any other numbers.
        place.says(&line(template, "margins.bin", "--margins", "test-probs.csv"));
        // Margins are no probabilities.
        place.says(&line(template, "probs.bin", "--scores", "test.csv"));
        place.says(&line(template, "margins.bin", "--margins", "test.csv"));
    }
    for fit in ["fit --method umd --bins 4", "compare --methods isotonic --folds 2 --repeats 1 --bootstrap 5"]
    {
        let out = if fit.starts_with("fit") { " -o new.bin --force" } else { "" };
        place.says(&format!("calib {fit} --margins cal-probs.csv{out}"));
        place.says(&format!("calib {fit} --scores cal.csv{out}"));
    }
    for command in ["report", "plot reliability"] {
        let files = |file: &str| match command {
            "report" => format!("--calibration cal.csv --test {file} --bootstrap 5 -o out.html --force"),
            _ => format!("--test {file} -o out.svg --force"),
        };
        place.says(&format!("calib {command} margins.bin {}", files("test-probs.csv")));
        place.says(&format!(
            "calib {command} probs.bin {}",
            files("test.csv").replace("cal.csv", "cal-probs.csv")
        ));
    }
    said!();
}

#[test]
fn what_is_no_margin_is_refused_with_its_place() {
    let fit = |rows: &str| {
        let content = format!("score,label\n-2.5,0\n{rows}").into_bytes();
        refused(&[("bad.csv", content)], "calib fit --method isotonic --margins bad.csv -o out");
    };
    fit("nan,1\n");
    for cell in ["inf", "-inf", "1e39"] {
        fit(&format!("{cell},1\n"));
    }
    let place = fitted();
    for options in [
        "--score-encoding i16,0,0",
        "--score-encoding i16,-0.5,0",
        "--score-encoding i16,inf,0",
        "--score-encoding i16,nan,0",
        "--score-encoding i16,1,32768",
        "--score-encoding i16,1,-32769",
    ] {
        place.says(&format!("calib fit --method isotonic --margins cal.csv {options} -o none"));
    }
    said!();
}

#[test]
fn both_zeros_are_one() {
    let rows = |zero: &str| format!("score,label\n-1.5,0\n{zero},1\n-0.5,0\n{zero},0\n1,1\n2.5,0\n3,1\n");
    let place = Workplace::new().with("plus.csv", rows("0.0")).with("minus.csv", rows("-0.0"));
    for method in ["isotonic", "venn-abers", "umd --bins 3", "platt"] {
        let fit = |file: &str| {
            place.ok(&format!("calib fit --method {method} --margins {file} -o out.bin --force --quiet"));
            crate::data::without_origin(place.inspect("out.bin"))
        };
        assert_eq!(fit("plus.csv"), fit("minus.csv"), "{method}");
        assert_eq!(
            applied(&place, "out.bin", "--margins plus.csv"),
            applied(&place, "out.bin", "--margins minus.csv")
        );
    }
}

#[test]
fn methods_and_options_of_probabilities_say_what_to_do_instead() {
    let place = place();
    for options in [
        "beta",
        "scaling-binning --bins 3 --scaling beta",
        "platt-prob",
        "fixed-width --bins 4",
        "isotonic --range -1,1",
        "fixed-width --bins 4 --range 1,-1",
    ] {
        place.says(&format!("calib fit --method {options} --margins cal.csv -o none"));
    }
    place.says("calib fit --method fixed-width --bins 4 --range -1,1 --scores cal-probs.csv -o none");
    place.says("calib assess --margins test.csv");
    said!();
}

/// Nothing that needs a probability is said of margins, and what needs an order is the same as of probabilities in that order.
#[test]
fn margins_are_assessed_after_calibration_and_by_their_order_before() {
    let place = fitted();
    let of_margins = place.json("calib assess margins.bin --margins test.csv --json --bootstrap 20 --seed 4");
    let of_probs =
        place.json("calib assess probs.bin --scores test-probs.csv --json --bootstrap 20 --seed 4");
    assert_eq!(of_margins["after"], of_probs["after"]);
    assert_eq!(of_margins["before"]["auc"], of_probs["before"]["auc"]);
    assert_eq!(of_margins["before"].as_object().unwrap().len(), 1);
    assert!(of_margins["change"]["brier"].is_null());
    place.says("calib assess margins.bin --margins test.csv");
    // What was fitted to is noticed.
    place.says("calib assess margins.bin --margins cal.csv");
    said!();
}

#[test]
fn margins_are_decided_on_and_compared() {
    let place = fitted().with("costs.toml", crate::decide::COSTS);
    let decide = |what: &str| {
        place.json(&format!(
            "calib decide --actions costs.toml {what} --label-column label -o ruled.bin --force --json"
        ))
    };
    let without_files = |mut value: Value| {
        value["warnings"].take();
        value
    };
    assert_eq!(
        without_files(decide("margins.bin --margins test.csv")),
        without_files(decide("probs.bin --scores test-probs.csv"))
    );
    let compare = |what: &str| {
        place.json(&format!("calib compare {what} --folds 3 --repeats 1 --bootstrap 20 --json --quiet"))
    };
    let (margins, probs) = (compare("--margins cal.csv"), compare("--scores cal-probs.csv"));
    let loss = |comparison: &Value, name: &str| {
        let methods = comparison["methods"].list();
        methods.iter().find(|method| method["name"] == name).map(|method| method["loss"]["value"].clone())
    };
    // Midpoint edges are elsewhere on another scale; those of the others are scores.
    assert!(loss(&margins, "isotonic").is_some() && loss(&margins, "isotonic-max-bins").is_some());
    for name in ["umd", "umd-original", "umd-randomized", "ums", "venn-abers"] {
        assert!(loss(&margins, name).is_some(), "{name}: {margins}");
        assert_eq!(loss(&margins, name), loss(&probs, name), "{name}");
    }
    assert!(loss(&margins, "platt").is_some());
    let failed: Vec<&str> = margins["failed"].list().iter().map(|failed| failed["name"].text()).collect();
    assert!(failed.contains(&"beta") && failed.contains(&"fixed-width"), "{failed:?}");
    // The share of label 1 for every row: the variance of the labels.
    let share = rows(0).iter().filter(|row| row.1 == 1).count() as f64 / ROWS as f64;
    crate::data::close(&margins["uncalibrated"]["value"], share * (1.0 - share));
}

/// A report draws margins on their own axis, and says nothing of them that takes a probability.
#[test]
fn reports_and_plots_have_an_axis_of_margins() {
    let place = fitted().with("costs.toml", crate::decide::COSTS);
    let report = |artifact: &str, suffix: &str| {
        place.json(&format!(
            "calib report {artifact} --calibration cal{suffix}.csv --test test{suffix}.csv --actions costs.toml --bootstrap 20 --json"
        ))
    };
    let (margins, probs) = (report("margins.bin", ""), report("probs.bin", "-probs"));
    assert_eq!(margins["metrics"]["after"], probs["metrics"]["after"]);
    assert_eq!(margins["metrics"]["before"]["auc"], probs["metrics"]["before"]["auc"]);
    for side in ["before", "change"] {
        assert_eq!(margins["metrics"][side].as_object().unwrap().len(), 1, "{side}");
    }
    assert_eq!(margins["occupancy"], probs["occupancy"]);
    assert!(margins["decision"]["intervals"][0]["n_before"].is_null());
    assert_eq!(margins["decision"]["cost"]["observed"], probs["decision"]["cost"]["observed"]);
    let ids = |report: &Value| -> Vec<String> {
        let plots = report["plots"].list();
        plots.iter().map(|plot| plot["id"].text().to_owned()).collect()
    };
    assert!(ids(&margins).iter().any(|id| id == "margins") && ids(&margins).iter().any(|id| id == "map"));
    assert!(ids(&margins).iter().all(|id| id != "reliability-before"));
    assert!(ids(&probs).iter().all(|id| id != "margins" && id != "map"));
    // One in a hundred margins lies beyond either end of the axis; those at the ends are some of the data.
    let of_id = |id: &str| margins["plots"].list().iter().find(|plot| plot["id"] == id).unwrap();
    let counts = of_id("margins")["rows"].list().iter().map(|row| row[1].text());
    assert_eq!(counts.map(|count| count.parse::<usize>().unwrap()).sum::<usize>(), ROWS);
    let map: Vec<f64> =
        of_id("map")["rows"].list().iter().map(|row| row[1].text().parse().unwrap()).collect();
    assert!(map.len() == 21 && map[0] < 0.1 && map[20] > 0.7, "{map:?}");
    place.ok("calib report margins.bin --calibration cal.csv --test test.csv --bootstrap 5 -o page.html");
    let page = place.text("page.html");
    assert!(page.contains("Calibration map") && !page.contains("Reliability before calibration"));
    for plot in ["margins", "map", "reliability", "roc", "distribution", "validity", "validity-conditional"] {
        place.ok(&format!("calib plot {plot} margins.bin --test test.csv -o {plot}.svg"));
    }
    assert!(place.text("map.svg").contains(">margin</text>"));
    place.says("calib plot reliability-before margins.bin --test test.csv -o none.svg");
    place.says("calib plot map probs.bin --test test-probs.csv -o none.svg");
    said!();
}
