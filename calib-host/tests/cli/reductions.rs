//! Every reduction from the command line: fit, inspect, apply, and what goes wrong with several classes.

use calib_core::{Logits, Score};
use serde_json::json;

use crate::data::Json;
use crate::npy::{f32s, i64s};
use crate::transcript::quote;
use crate::workplace::Workplace;

const ROWS: usize = 600;
const CLASSES: usize = 4;

/// Logits of four classes, the last of which is never predicted, and labels that follow the softmax.
fn matrix() -> (Vec<f32>, Vec<i64>) {
    let mut random = random();
    let (mut logits, mut labels) = (Vec::new(), Vec::new());
    for _ in 0..ROWS {
        let row = [3.0 * random(), 3.0 * random(), 3.0 * random(), -1.0 + 0.5 * random()];
        let mut below = random();
        let label = scores(&row).position(|score| {
            below -= score;
            below < 0.0
        });
        labels.push(label.unwrap_or(0) as i64);
        logits.extend(row);
    }
    (logits, labels)
}

/// Numbers from 0 to 1.
fn random() -> impl FnMut() -> f32 {
    let mut state = 7u64;
    move || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 40) as f32 / (1 << 24) as f32
    }
}

fn scores(row: &[f32]) -> impl Iterator<Item = f32> {
    Logits::new(row).unwrap().scores().map(Score::get)
}

fn place() -> Workplace {
    let (logits, labels) = matrix();
    Workplace::new()
        .with("logits.npy", f32s(&[ROWS, CLASSES], logits).bytes())
        .with("labels.npy", i64s(labels).bytes())
}

/// A fit of the files in [`place`], which gives `cal.bin`.
fn fit(options: &str) -> String {
    format!("calib fit {options} --logits logits.npy --labels labels.npy -o cal.bin --force")
}

const REDUCTIONS: [(&str, usize); 6] = [
    ("confidence", 1),
    ("top-label", 4),
    ("class-wise", 4),
    ("normalized", 4),
    ("top-k-label --k 2", 8),
    ("top-k-confidence --k 3", 3),
];
const METHODS: [(&str, bool); 13] = [
    ("umd --bins 4", true),
    ("umd --rows-per-bin 40", true),
    ("umd-original --bins 4", true),
    ("umd-randomized --rows-per-bin 30 --seed 3", true),
    ("ums --bins 3", true),
    ("fixed-width --bins 8", true),
    ("isotonic", false),
    ("isotonic-interpolated", false),
    ("isotonic --max-bins 4", false),
    ("scaling-binning --bins 3", false),
    ("platt", false),
    ("beta", false),
    ("venn-abers", false),
];

#[test]
fn every_reduction_of_every_method_is_fitted_and_applied() {
    let place = place();
    for (reduction, tables) in REDUCTIONS {
        let name = reduction.split(' ').next().unwrap();
        for (method, guaranteed) in METHODS {
            let what = format!("{reduction}, {method}");
            let line = fit(&format!("--method {method} --reduction {reduction}"));
            let report = place.json(&format!("{line} --json"));
            assert_eq!(report["reduction"], name, "{what}");
            assert_eq!(report["tables"].list().len(), tables, "{what}");
            // Division by the sum voids every guarantee.
            let guaranteed = guaranteed && name != "normalized";
            assert_eq!(report["guarantee"].is_object(), guaranteed, "{what}: {}", report["statement"]);

            let inspected = place.json("calib inspect cal.bin --json");
            assert_eq!(
                (&inspected["reduction"], &inspected["guarantee"].is_object()),
                (&json!(name), &guaranteed)
            );
            assert_eq!(inspected["tables"].list().len(), tables, "{what}");
            let missing = inspected["tables"].list().iter().filter(|t| t.is_null()).count();
            assert_eq!(report["uncalibrated"].list().len(), missing, "{what}");
            assert_eq!(inspected["flags"]["class_uncalibrated"], missing > 0, "{what}");

            place.ok("calib apply cal.bin --logits logits.npy -o out.csv --force");
            let (header, rows) = place.table("out.csv");
            assert_eq!(rows.len(), ROWS, "{what}");
            let probs: Vec<usize> = (0..header.len()).filter(|&i| header[i].starts_with("prob")).collect();
            let expected = match name {
                "confidence" | "top-label" => 1,
                "class-wise" | "normalized" => CLASSES,
                "top-k-label" => 2,
                _ => 3,
            };
            assert_eq!(probs.len(), expected, "{what}: {header:?}");
            for row in &rows {
                let given: Vec<f32> = probs.iter().filter_map(|&i| row[i].parse().ok()).collect();
                assert!(given.iter().all(|prob| (0.0..=1.0).contains(prob)), "{what}: {row:?}");
                assert!(given.len() == expected || row.iter().any(|f| f == "uncalibrated-class"), "{row:?}");
                if name == "normalized" {
                    assert!((given.iter().sum::<f32>() - 1.0).abs() < 1e-6, "{what}: {row:?}");
                }
            }
        }
    }
}

/// Before is what the classifier's own scores give, whatever the artifact, on the rows that are calibrated.
#[test]
fn every_reduction_is_assessed_before_and_after() {
    let place = place();
    let assess = "calib assess --logits logits.npy --labels labels.npy --json";
    let own = place.json(assess);
    for (reduction, _) in REDUCTIONS {
        place.ok(&fit(&format!("--method umd --bins 4 --reduction {reduction}")));
        let both = place.json(&assess.replace("assess", "assess cal.bin --same-rows"));
        let name = reduction.split(' ').next().unwrap();
        let brier = |which: &str| match name {
            "top-k-label" | "top-k-confidence" => both[which]["ranks"][0]["brier"]["value"].number(),
            _ => both[which]["brier"]["value"].number(),
        };
        assert!(brier("after") > 0.0 && brier("after") != brier("before"), "{reduction}: {both}");
        assert!(both["binning"]["bins"].is_number(), "{reduction}");
        match name {
            "class-wise" | "normalized" => {
                assert_eq!(both["uncalibrated"], 0, "{reduction}");
                assert_eq!(both["before"]["cw_ece"]["value"], own["cw_ece"]["value"], "{reduction}");
                assert!(both["after"]["cw_ece"]["value"].number() > 0.0);
            }
            "confidence" => {
                // Before is the score in the device's f32.
                let tl_ece = |assessed: &serde_json::Value| assessed["tl_ece"]["value"].number();
                assert!((tl_ece(&both["before"]) - tl_ece(&own)).abs() < 1e-7);
            }
            _ => assert!(both["uncalibrated"].is_number(), "{reduction}"),
        }
        place.says(&assess.replace("assess", "assess cal.bin --same-rows").replace(" --json", ""));
    }
    said!();
}

#[test]
fn the_guarantee_says_what_is_meant() {
    let place = place();
    for options in [
        "--reduction confidence --rows-per-bin 60",
        "--reduction top-label --rows-per-bin 60",
        "--reduction top-label --bins 3",
        "--reduction class-wise --rows-per-bin 60",
        "--reduction class-wise --bins 10",
        "--reduction top-k-label --k 2 --rows-per-bin 60",
        "--reduction top-k-confidence --k 2 --rows-per-bin 60",
        "--reduction normalized --bins 10",
    ] {
        let run = place.says(&format!("{} --json", fit(&format!("--method umd {options}"))));
        quote(&run.json()["statement"]);
        quote(&run.json()["guarantee"]["theorem"]);
    }
    // Points per bin and bins come to the same tables; Theorem 2 is the wider.
    let epsilon = |options: &str| {
        let report =
            place.json(&format!("{} --json", fit(&format!("--method umd --bound hoeffding {options}"))));
        report["guarantee"]["epsilon"].number()
    };
    let theorem_2 = (2.0 * 600.0 / 60.0 * 4.0 / 0.1f64).ln() / (2.0 * 59.0);
    assert!((epsilon("--reduction class-wise --rows-per-bin 60") - theorem_2.sqrt()).abs() < 1e-12);
    let union = (2.0 * 40.0 / 0.1f64).ln() / (2.0 * 59.0);
    assert!((epsilon("--reduction class-wise --bins 10") - union.sqrt()).abs() < 1e-12);
    said!();
}

#[test]
fn a_class_that_is_never_predicted_or_never_right_is_flagged() {
    let place = place();
    place.says(&fit("--method umd --rows-per-bin 40 --reduction top-label"));
    place.says("calib inspect cal.bin");

    // Class 3 is absent from the labels.
    let labels = matrix().1.into_iter().map(|label| label % 3);
    let place = place.with("labels.npy", i64s(labels).bytes());
    place.says(&fit("--method umd --bins 4 --reduction class-wise"));
    place.ok("calib apply cal.bin --logits logits.npy -o out.csv --evidence");
    let (header, rows) = place.table("out.csv");
    let names = ["class", "prob_0", "prob_1", "prob_2", "prob_3"].into_iter().map(str::to_owned);
    assert!(header.iter().take(5).cloned().eq(names));
    assert_eq!(
        (header[5].as_str(), header[9].as_str(), header[13].as_str()),
        ("bin_0", "epsilon_0", "flags")
    );
    for row in rows {
        assert_eq!([&row[4], &row[8], &row[12], &row[13]], ["", "", "", "uncalibrated-class"]);
        assert!(row[..4].iter().chain(&row[5..8]).chain(&row[9..12]).all(|field| !field.is_empty()));
    }
    // Under the normalized reduction the others share the probability.
    place.ok(&fit("--method umd --bins 4 --reduction normalized"));
    place.ok("calib apply cal.bin --logits logits.npy -o out.csv --force");
    for row in place.table("out.csv").1 {
        let sum: f32 = row[1..4].iter().map(|field| field.parse::<f32>().unwrap()).sum();
        assert!((sum - 1.0).abs() < 1e-6 && row[4].is_empty() && row[5] == "uncalibrated-class", "{row:?}");
    }
    said!();
}

#[test]
fn only_one_label_teaches_nothing() {
    let place = place().with("labels.npy", i64s([2; ROWS]).bytes());
    place.says(&fit("--method umd --bins 4 --reduction class-wise"));
    said!();
}

#[test]
fn options_of_a_reduction_are_checked() {
    let place = place();
    for options in [
        "--reduction top-k-label",
        "--reduction top-k-confidence",
        "--reduction class-wise --k 2",
        "--k 2",
        "--reduction top-k-label --k 5",
    ] {
        place.says(&fit(&format!("--method umd --bins 4 {options}")));
    }
    place.says(&fit("--method umd --bins 400 --reduction confidence"));
    place.ok(&fit("--method umd --bins 4 --reduction confidence"));
    place.says("calib apply cal.bin --logits logits.npy -o out.csv --evidence");
    said!();
}

#[test]
fn the_number_of_classes_must_agree() {
    let (logits, _) = matrix();
    let place = place().with("two.npy", f32s(&[2 * ROWS, 2], logits).bytes());
    for (reduction, _) in REDUCTIONS {
        place.ok(&fit(&format!("--method isotonic --reduction {reduction}")));
        place.says("calib apply cal.bin --logits two.npy -o out.csv");
    }
    let one = place.with("one.npy", f32s(&[3, 1], [0.1, 0.2, 0.3]).bytes());
    one.says(
        "calib fit --method umd --bins 2 --reduction class-wise --logits one.npy --labels labels.npy -o out",
    );
    said!();
}

#[test]
fn five_thousand_classes_work_on_the_host() {
    let (rows, classes) = (60, 5000);
    let value = |i: usize| ((i * 7919) % 10_007) as f32 / 1000.0;
    let place = Workplace::new()
        .with("logits.npy", f32s(&[rows, classes], (0..rows * classes).map(value)).bytes())
        .with("labels.npy", i64s((0..rows as i64).map(|row| row % 3)).bytes());
    for reduction in ["confidence", "class-wise", "normalized", "top-k-confidence --k 2"] {
        place.ok(&fit(&format!("--method umd --bins 2 --reduction {reduction} --quiet")));
        place.ok("calib apply cal.bin --logits logits.npy -o out.csv --force");
        assert_eq!(place.table("out.csv").1.len(), rows, "{reduction}");
    }
}

/// Ten classes of 15 bins: what the tables take, and what 16 bits cost.
#[test]
fn tables_of_16_bits_take_half_the_room() {
    let (rows, classes) = (4000, 10);
    let logits = std::iter::repeat_with(random()).map(|share| 5.0 * share).take(rows * classes);
    let place = Workplace::new()
        .with("logits.npy", f32s(&[rows, classes], logits).bytes())
        .with("labels.npy", i64s((0..rows as i64).map(|row| row % 10)).bytes());
    for reduction in ["top-label", "class-wise"] {
        let options =
            format!("--method umd --bins 15 --reduction {reduction} --classifier-id 0123456789abcdef");
        // Intervals take 8 bytes a bin, and are left out with 16 bits. Of these 128 tell the range of the calibration scores of each class, and what else is known of the points, and 280 are the sketch of the rows.
        for (table, most) in [("f32", 1400 + 150 * 8 + 60 + 128 + 280), ("u16", 800 + 128 + 280)] {
            let report = place.json(&format!("{} --table {table} --json", fit(&options)));
            assert_eq!(report["bins"], 150, "{reduction}");
            let inspected = place.json("calib inspect cal.bin --json");
            let len = inspected["len_bytes"].whole();
            assert!(len < most, "{reduction}, {table}: {len} bytes");
            let of_table = if table == "u16" { ("compact", 62) } else { ("steps", 120) };
            assert_eq!(
                (inspected["tables"][3]["form"].as_str(), inspected["tables"][3]["len_bytes"].as_u64()),
                (Some(of_table.0), Some(of_table.1))
            );
            place.ok("calib inspect cal.bin");
            place.ok(&format!("calib apply cal.bin --logits logits.npy -o {table}.csv --force"));
            // What is reported is what the device has: the epsilon makes up for the rounding. Rounded scores may tie, so
            // that there is none.
            assert_eq!(inspected["guarantee"].is_object(), report["guarantee"].is_object());
            assert!(reduction != "top-label" || report["guarantee"].is_object());
            if let Some(epsilon) = report["guarantee"]["epsilon"].as_f64() {
                let stored = inspected["guarantee"]["epsilon"].number();
                assert!((0.0..1e-7).contains(&(stored - epsilon)));
            }
        }
        let probs = |name: &str| -> Vec<f32> {
            let (header, rows) = place.table(name);
            let columns: Vec<usize> = (0..header.len()).filter(|&i| header[i].starts_with("prob")).collect();
            rows.iter().flat_map(|row| columns.iter().map(|&i| row[i].parse().unwrap())).collect()
        };
        let (wide, narrow) = (probs("f32.csv"), probs("u16.csv"));
        assert!(narrow.iter().all(|prob| (prob * 32_768.0).fract() == 0.0));
        // Where rounded scores tie at a boundary, its points count where a lookup puts them; the rest is rounding.
        let far = wide.iter().zip(&narrow).map(|(a, b)| (a - b).abs()).sum::<f32>() / wide.len() as f32;
        assert!(far < 0.005, "{reduction}: {far}");
    }
    for (method, name) in
        [("platt", "platt"), ("venn-abers", "venn-abers"), ("isotonic-interpolated", "isotonic-interpolated")]
    {
        let run = place.run(&fit(&format!("--method {method} --reduction class-wise --table u16")));
        let sentence = format!("--table u16 is for step functions, which {name} is not: leave it out");
        assert_eq!((run.code, run.stderr), (2, format!("error: {sentence}\n")));
    }
}
