//! Thresholds that guarantee a sensitivity or a specificity, from the rows to the device's answer.

use std::fmt::Write;

use crate::data::{Json, noise};
use crate::refusal::File;
use crate::transcript::{quote, refused};
use crate::workplace::Workplace;

const ROWS: usize = 400;

/// 200 rows of class 1 with scores from 0.25 up and 200 of class 0 with scores up to 0.75, of men and women by turns: by 200ths,
/// the margins eight times as large and around 0, and codes.
fn csv(rows: usize) -> String {
    let mut text = "score,margin,code,label,sex\n".to_owned();
    for row in 0..rows {
        let (label, place) = (row % 2, (row / 2) as f64 / ROWS as f64);
        let score = if label == 1 { 0.25 + 1.5 * place } else { 1.5 * place };
        let sex = if noise(row) < 0.5 { "m" } else { "f" };
        let (margin, code) = (8.0 * score - 4.0, (255.0 * score) as i32 - 128);
        writeln!(text, "{score},{margin},{code},{label},{sex}").unwrap();
    }
    text
}

fn place() -> Workplace {
    Workplace::new().with("rows.csv", csv(ROWS))
}

const SENSITIVITY: &str = "--sensitivity 0.95 --confidence 0.95";

/// The 200 positives allow 4 below the threshold, which is the fifth of them from below.
#[test]
fn a_sensitivity_is_kept_for_every_kind_of_score() {
    let place = place();
    let fifth = 0.25 + 1.5 * 4.0 / 400.0;
    let codes = "--score-encoding i8,1/255,-128 --score-column code";
    let cases = [
        ("--scores", String::new(), (fifth as f32).to_bits(), format!("a score of {}", fifth as f32)),
        (
            "--margins",
            "--score-column margin".into(),
            calib_core::Margin::new((8.0 * fifth - 4.0) as f32).unwrap().key(),
            format!("a margin of {}", (8.0 * fifth - 4.0) as f32),
        ),
        (
            "--scores",
            codes.into(),
            (255.0 * fifth) as u32,
            format!("a code of {}", (255.0 * fifth) as i32 - 128),
        ),
    ];
    for (source, options, key, words) in cases {
        let line = format!("calib threshold {source} rows.csv {options} {SENSITIVITY}");
        let found = place.json(&format!("{line} -o t.bin --force --json"));
        let group = &found["operating_points"]["groups"][0];
        assert_eq!((&group["lower"]["key"], &group["upper"]["key"]), (&key.into(), &key.into()), "{source}");
        assert_eq!(found["groups"][0]["positives_allowed"], 4);
        assert_eq!((&found["parent"], &found["sharing"]), (&serde_json::Value::Null, &"own".into()));
        let sentence = found["sentences"][0].text();
        assert!(sentence.contains(&format!("{words} ")), "{sentence}");
        let shown = place.says(&format!("{line} -o t.bin --force")).stderr;
        // Said again by whoever reads the artifact.
        let inspected = place.ok("calib inspect t.bin --all").stdout;
        assert!(shown.contains(sentence) && inspected.contains(sentence), "{shown}{inspected}");
    }
    said!();
}

#[test]
fn both_at_once_refer_what_lies_between() {
    let place = place();
    let both = "--sensitivity 0.9 --specificity 0.9 --confidence 0.9";
    let found =
        place.json(&format!("calib threshold --scores rows.csv {both} --refer-raises -o t.bin --json"));
    let points = &found["operating_points"];
    assert_eq!((&points["refers"], &points["refer_raises"]), (&true.into(), &true.into()));
    let key = |which: &str| points["groups"][0][which]["key"].whole();
    assert!(key("lower") < key("upper"));
    place.says(&format!("calib threshold --scores rows.csv {both} -o t.bin --force"));
    // So far apart that one threshold has both.
    let apart: String =
        (0..200).map(|row| format!("{},{}\n", row as f64 / 200.0, u8::from(row >= 100))).collect();
    let place = place.with("apart.csv", format!("score,label\n{apart}"));
    let found = place.json(&format!("calib threshold --scores apart.csv {both} -o t.bin --force --json"));
    assert_eq!(found["operating_points"]["refers"], false);
    assert_eq!(found["groups"][0]["specificity_bounds"], serde_json::Value::Null);
    said!();
}

#[test]
fn groups_have_thresholds_of_their_own_or_one() {
    let place = place();
    let line =
        format!("calib threshold --scores rows.csv {SENSITIVITY} --group-column sex -o t.bin --force --json");
    let own = place.json(&line);
    let keys = |found: &serde_json::Value| {
        [0, 1].map(|group: usize| found["operating_points"]["groups"][group]["upper"]["key"].whole())
    };
    assert_eq!([&own["groups"][0]["group"], &own["groups"][1]["group"]], ["f", "m"]);
    assert_ne!(keys(&own)[0], keys(&own)[1]);
    place.says("calib inspect t.bin");
    let common = place.json(&format!("{line} --common-threshold"));
    assert_eq!((keys(&common)[0], &common["sharing"]), (keys(&common)[1], &"common".into()));
    // At the whole failure probability the thresholds are no lower, and the lowest is taken.
    assert!(keys(&common)[0] >= keys(&own)[0].min(keys(&own)[1]));

    // One group refers, and the other needs one threshold only.
    let mut mixed = "score,label,site\n".to_owned();
    for row in 0..400 {
        let (label, place) = (row % 2, (row / 4) as f64 / 100.0);
        let (site, apart) = if row % 4 < 2 { ("near", 0.1) } else { ("far", 0.5) };
        let score = 0.5 * place * (1.0 - apart) + if label == 1 { apart } else { 0.0 };
        writeln!(mixed, "{score},{label},{site}").unwrap();
    }
    let place = place.with("mixed.csv", mixed);
    let found = place.json(
        "calib threshold --scores mixed.csv --sensitivity 0.8 --specificity 0.8 --group-column site -o t.bin --force --json",
    );
    let group = |at: usize| &found["operating_points"]["groups"][at];
    assert_eq!(group(0)["lower"], group(0)["upper"]);
    assert!(group(1)["lower"]["key"].as_u64() < group(1)["upper"]["key"].as_u64());
    quote(&found["sentences"]);
    said!();
}

#[test]
fn a_prevalence_gives_predictive_values() {
    let place = place();
    let found = place
        .json(&format!("calib threshold --scores rows.csv {SENSITIVITY} --prevalence 0.1 -o t.bin --json"));
    let values = &found["groups"][0]["predictive_values"];
    assert!(values["npv"].number() > 0.98 && values["ppv"].number() > 0.1);
    assert!((values["confidence"].number() - 0.9).abs() < 1e-12);
    let guarantees = found["operating_points"]["guarantees"].list();
    let prevalence = guarantees[1]["prevalence"].number();
    assert_eq!(
        (guarantees.len(), prevalence as f32, &guarantees[0]["prevalence"]),
        (3, 0.1, &serde_json::Value::Null)
    );
    // Never rounded up to more than what is guaranteed.
    assert!(guarantees[1]["level"].number() <= values["ppv"].number());
}

/// Beside a calibrator the device has both; the artifact before is named, and a signature is not kept.
#[test]
fn a_threshold_stands_beside_a_calibrator() {
    let place = place();
    place.ok("calib fit --method umd --bins 4 --scores rows.csv --counter 3 -o cal.bin");
    let identity = place.json("calib inspect cal.bin --json")["identity"].clone();
    let line =
        format!("calib threshold --scores rows.csv {SENSITIVITY} --calibrator cal.bin -o t.bin --force");
    place.says(&line);
    let found = place.json(&format!("{line} --counter 4 --json"));
    assert_eq!(found["parent"], identity);
    let inspected = place.json("calib inspect t.bin --json");
    assert_eq!((&inspected["method"], &inspected["counter"]), (&"umd".into(), &4.into()));
    assert!(!inspected["operating_points"].is_null());

    place.says(&format!("{line} --counter 2"));
    place.ok("calib keygen -o key.pem");
    place.ok("calib sign cal.bin --key key.pem -o signed.bin");
    let signed = line.replace("cal.bin", "signed.bin");
    place.says(&format!("{signed} --counter 4"));
    place.says("calib inspect t.bin");

    // Of other scores than the calibrator's.
    place.says(&format!(
        "calib threshold --margins rows.csv --score-column margin {SENSITIVITY} --calibrator cal.bin --counter 4 -o m.bin"
    ));
    said!();
}

/// Of a patient's rows one counts.
#[test]
fn one_row_of_each_cluster_counts() {
    let rows: String = (0..600)
        .map(|row| format!("{},{},p{}\n", (row % 120) as f64 / 120.0 + row as f64 * 1e-7, row % 2, row % 120))
        .collect();
    let place = Workplace::new().with("rows.csv", format!("score,label,patient\n{rows}"));
    let line =
        format!("calib threshold --scores rows.csv {SENSITIVITY} --cluster-column patient -o t.bin --json");
    let found = place.json(&line);
    assert_eq!(found["operating_points"]["groups"][0]["upper"]["positives"], 60);
    place.says("calib inspect t.bin");
    said!();
}

#[test]
fn what_cannot_be_guaranteed_is_refused() {
    let rows = |labels: &dyn Fn(usize) -> u8, n: usize| -> Vec<u8> {
        let rows: String = (0..n)
            .map(|row| {
                format!(
                    "{},{},{}\n",
                    (row as f64 + 0.5) / n as f64,
                    labels(row),
                    if row < 6 { "rare" } else { "m" }
                )
            })
            .collect();
        format!("score,label,sex\n{rows}").into_bytes()
    };
    let files: [File; 4] = [
        ("none.csv", rows(&|_| 0, 200)),
        ("all.csv", rows(&|_| 1, 200)),
        ("few.csv", rows(&|row| u8::from(row % 4 == 0), 200)),
        ("sexes.csv", rows(&|row| (row % 2) as u8, 400)),
    ];
    let line = |options: &str| format!("calib threshold {options} -o out");
    let sensitivity = |file: &str| line(&format!("--scores {file} --sensitivity 0.95"));
    let cases = [
        sensitivity("none.csv"),
        sensitivity("few.csv"),
        line("--scores all.csv --sensitivity 0.95 --specificity 0.95"),
        line("--scores sexes.csv --sensitivity 0.95 --group-column sex"),
        line("--scores few.csv"),
    ];
    for line in cases {
        refused(&files, &line);
    }
    let place = files.iter().fold(Workplace::new(), |place, (name, content)| place.with(name, content));
    for options in [
        "--sensitivity 0",
        "--sensitivity 1",
        "--sensitivity 0.9 --prevalence 0",
        "--sensitivity 0.9 --prevalence 1",
        "--sensitivity 0.9 --confidence 1",
    ] {
        place.says(&line(&format!("--scores few.csv {options}")));
    }
    place.says(&line("--scores few.csv --sensitivity 0.9 --group-column age"));
    place.says(&line("--scores few.csv --sensitivity 0.9 --common-threshold"));
    said!();
}

/// What the device would say of each row, and how often that is right, for every kind of score and beside a calibrator.
#[test]
fn thresholds_are_applied_and_judged() {
    let place = place();
    place.ok("calib fit --method umd --bins 4 --scores rows.csv -o cal.bin");
    let both = "--sensitivity 0.9 --specificity 0.9 --confidence 0.9";
    let codes = "--score-column code --score-encoding i8,1/255,-128";
    for (source, column, fit) in [
        ("--scores", "score", String::new()),
        ("--scores", "score", "--calibrator cal.bin --counter 1".into()),
        ("--margins", "margin", "--score-column margin".into()),
        ("--scores", "code", codes.into()),
    ] {
        place.ok(&format!("calib threshold {source} rows.csv {both} {fit} -o t.bin --force"));
        let columns = format!("--score-column {column}");
        place.ok(&format!("calib apply t.bin {source} rows.csv {columns} -o out.csv --force"));
        let (header, rows) = place.table("out.csv");
        let at = |name: &str| header.iter().position(|there| there == name).unwrap();
        assert_eq!(header.iter().any(|name| name == "prob"), fit.contains("calibrator"), "{header:?}");
        let count = |verdict: &str, label: &str| {
            let is_one = |row: &&Vec<String>| row[at("verdict")] == verdict && row[at("label")] == label;
            rows.iter().filter(is_one).count() as u64
        };
        let raised = [count("positive", "0"), count("positive", "1")];
        let referred = [count("refer", "0"), count("refer", "1")];
        assert!(raised[1] > 0 && referred[0] > 0 && rows.len() == ROWS);

        let line = format!("calib assess t.bin {source} rows.csv {columns} --same-rows");
        let judged = place.json(&format!("{line} --json"))["operating_points"].clone();
        let of = |test: &str| {
            let judged = judged.list().iter().find(|judged| judged["test"] == test).unwrap();
            assert_eq!(judged["group"], serde_json::Value::Null);
            ["true_positives", "false_positives", "false_negatives", "true_negatives"]
                .map(|name| judged[name].whole())
        };
        assert_eq!(of("raised"), [raised[1], raised[0], 200 - raised[1], 200 - raised[0]], "{fit}");
        let [one, other] = [raised[1] + referred[1], raised[0] + referred[0]];
        assert_eq!(of("not-cleared"), [one, other, 200 - one, 200 - other], "{fit}");
        place.says(&line);
    }
    said!();
}

#[test]
fn groups_are_told_by_their_column() {
    let place = place();
    place.ok(&format!("calib threshold --scores rows.csv {SENSITIVITY} --group-column sex -o t.bin"));
    place.says("calib apply t.bin --scores rows.csv -o out.csv");
    place.ok("calib apply t.bin --scores rows.csv --group-column sex -o out.csv");
    let inspected = place.json("calib inspect t.bin --json");
    let (header, rows) = place.table("out.csv");
    let at = |name: &str| header.iter().position(|there| there == name).unwrap();
    for (group, sex) in ["f", "m"].into_iter().enumerate() {
        let key = inspected["operating_points"]["groups"][group]["upper"]["key"].whole();
        for row in rows.iter().filter(|row| row[at("sex")] == sex) {
            let is_raised = u64::from(row[at("score")].parse::<f32>().unwrap().to_bits()) >= key;
            assert_eq!(row[at("verdict")], if is_raised { "positive" } else { "negative" });
        }
    }
    let judged = place.json("calib assess t.bin --scores rows.csv --group-column sex --same-rows --json");
    assert_eq!(
        (&judged["operating_points"][0]["group"], &judged["operating_points"][1]["group"]),
        (&"f".into(), &"m".into())
    );
    let place = place.with("other.csv", "score,label,sex\n0.5,1,x\n0.25,0,f\n");
    for command in [
        "apply t.bin --scores other.csv --group-column sex -o new.csv",
        "assess t.bin --scores other.csv --group-column sex",
    ] {
        place.says(&format!("calib {command}"));
    }
    // The rows that the thresholds are from.
    place.says("calib assess t.bin --scores rows.csv --group-column sex");
    place.says("calib apply t.bin --margins rows.csv --group-column sex -o new.csv");
    said!();
}

/// A device decides in one way: a rule of costs takes the place of the thresholds, and says so.
#[test]
fn a_rule_takes_the_place_of_thresholds_and_a_report_says_them() {
    let place = place().with("costs.toml", crate::decide::COSTS).with("test.csv", csv(200));
    place.ok("calib fit --method umd --bins 4 --scores rows.csv -o cal.bin");
    place.ok(&format!(
        "calib threshold --scores rows.csv {SENSITIVITY} --calibrator cal.bin --counter 1 -o t.bin"
    ));
    place.says("calib decide t.bin --actions costs.toml -o d.bin");
    let inspected = place.json("calib inspect d.bin --json");
    assert!(inspected["operating_points"].is_null() && !inspected["decision"].is_null());
    place.ok("calib report t.bin --calibration rows.csv --test test.csv --same-rows -o page.html");
    let page = place.text("page.html");
    assert!(
        page.contains("The device raises its alarm at a score of")
            && page.contains("sensitivity at least 95%"),
        "no sentence"
    );

    place.ok(&format!("calib threshold --scores rows.csv {SENSITIVITY} -o alone.bin"));
    place.says("calib decide alone.bin --actions costs.toml -o e.bin");
    said!();
}
