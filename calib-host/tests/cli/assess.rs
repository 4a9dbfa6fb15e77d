//! `calib assess`: each of its forms, and what it refuses.

use calib_fit::ScoreKind;
use calib_fit::job::{ContenderName, NamedMethod};
use serde_json::{Value, json};

use crate::data::{Json, TOP_FIT, UMD_FIT, binary_place, close, matrix_place};
use crate::npy::{f32s, i64s};
use crate::refusal::text;
use crate::transcript::refused;
use crate::workplace::Workplace;

#[test]
fn assess_measures_what_a_hand_computes() {
    // Fifteen bins of equal width: 0.125 twice, 0.5 twice, 0.875 once, 0 and 1 once each.
    let place =
        Workplace::new().with("out.csv", "prob,label\n0.125,0\n0.125,1\n0.5,1\n0.5,0\n0.875,1\n0,0\n1,1\n");
    let got = place.json("calib assess --probs out.csv --prob-column prob --label-column label --json");
    assert_eq!((&got["n"], &got["hits"], &got["uncalibrated"]), (&json!(7), &json!(4), &json!(0)));
    close(&got["accuracy"]["value"], 5.0 / 7.0);
    close(&got["brier"]["value"], (0.015_625 + 0.765_625 + 0.25 + 0.25 + 0.015_625) / 7.0);
    let log_loss = -(0.875f64.ln() + 0.125f64.ln() + 2.0 * 0.5f64.ln() + 0.875f64.ln()) / 7.0;
    close(&got["log_loss"]["value"], log_loss);
    close(&got["conf_ece"]["value"], (2.0 * 0.375 + 2.0 * 0.0 + 0.125) / 7.0);
    close(&got["conf_mce"]["value"], 0.375);
    assert_eq!(got["log_loss_clipped"], 0);
    assert_eq!(got["binning"], json!({"scheme": "equal-width", "bins": 15}));
    // Squared: two at -.375, two at 0, one each at -.125, 0 and 0.
    close(&got["lp_ce"]["squared"]["value"], (2.0 * 0.140_625 + 0.015_625) / 7.0);
    close(&got["lp_ce"]["squared_debiased"]["value"], (2.0 * (0.140_625 - 0.25) + 2.0 * (0.0 - 0.25)) / 7.0);
    close(&got["c_emp"]["value"], 0.875 / 7.0);
    close(&got["auc"]["value"], 10.0 / 12.0);
    assert_eq!(
        got["roc"],
        json!({"points": 6, "hull_points": 4, "hull_auc": 10.0 / 12.0, "isotonic_is_hull": true})
    );
    let counts = |name: &str| (got[name]["groups"].clone(), got[name]["singles"].clone());
    assert_eq!(counts("conf_ece"), (json!(5), json!(3)));
    let bins: Vec<_> = got["bins"].list().iter().map(|b| [&b["bin"], &b["n"], &b["hits"]]).collect();
    assert_eq!(json!(bins), json!([[0, 1, 0], [1, 2, 1], [7, 2, 1], [13, 1, 1], [14, 1, 1]]));
    place.says("calib assess --probs out.csv");
    said!();
}

#[test]
fn assess_top_label_predictions_with_labels_in_an_array() {
    // The third row is uncalibrated and left out. Class 0 is off by 0.25, class 1 by -0.25.
    let table = "class,prob,bin,epsilon,flags\n0,0.75,0,,\n0,0.75,0,,\n2,,,,uncalibrated-class\n1,0.75,3,,\n1,0.75,3,,\n";
    let place = Workplace::new().with("out.csv", table).with("y.npy", i64s([0, 2, 2, 1, 1]).bytes());
    let form = "calib assess --probs out.csv --labels y.npy --class-column class --json";
    let got = place.json(form);
    assert_eq!((&got["n"], &got["hits"], &got["uncalibrated"]), (&json!(4), &json!(3), &json!(1)));
    close(&got["accuracy"]["value"], 0.75);
    close(&got["conf_ece"]["value"], 0.0);
    close(&got["tl_ece"]["value"], 0.25);
    close(&got["tl_mce"]["value"], 0.25);
    close(&got["tl_mce_bin"]["value"], 0.25);
    let by_bin = place.json(&format!("{form} --bin-column bin"));
    assert_eq!(by_bin["binning"], json!({"scheme": "by-bin", "bins": 2}));
    close(&by_bin["conf_ece"]["value"], 0.25);
    place.says("calib assess --probs out.csv --labels y.npy --class-column class");
    said!();
}

#[test]
fn a_bootstrap_is_repeatable_and_surrounds_the_estimate() {
    let place = binary_place();
    let form = "calib assess --probs cal.csv --prob-column score --bootstrap 200 --seed 7 --alpha 0.1 --json";
    let got = place.json(form);
    assert_eq!(got, place.json(form));
    assert_eq!(got["bootstrap"], json!({"kind": "percentile", "resamples": 200, "seed": 7, "alpha": 0.1}));
    for name in ["accuracy", "brier", "log_loss"] {
        let part = |key: &str| got[name]["interval"][key].number();
        let value = got[name]["value"].number();
        assert!(part("lo") < value && value < part("hi"), "{name}");
    }
    // The largest of many deviations has a bound or nothing.
    for name in ["c_emp", "conf_mce"] {
        assert!(got[name]["value"].is_number() && got[name].get("interval").is_none(), "{name}");
    }
    assert_eq!(got["c_emp"]["alpha"], json!(0.1));
}

/// The bound says with what probability it holds, and for whom.
#[test]
fn the_bound_of_c_is_told_with_its_probability() {
    let place = binary_place();
    let words = place.ok("calib assess --scores cal.csv --alpha 0.1 --bootstrap 20 --all").stdout;
    let bound = place.json("calib assess --scores cal.csv --alpha 0.1 --json")["c_emp"]["bound"]["hi"].take();
    let bound = bound.number();
    let sentence = format!(
        "with 90% confidence, if the model was not fitted to these rows: c_emp at most {bound:.6}; in any range of probabilities, the \
         expected events differ from the predicted ones by at most {:.1} per 1000 rows\n",
        (10_000.0 * bound).ceil() / 10.0
    );
    assert!(words.contains(&sentence), "{words}");
    place.with("few.csv", "score,label\n0.5,0\n0.5,1\n").says("calib assess --scores few.csv --all");
    let line = |name: &str| words.lines().find(|line| line.starts_with(name)).unwrap().to_owned();
    assert!(!line("c_emp").contains('[') && line("brier").contains('['), "{words}");
    said!();
}

/// A model as it is: the same numbers as a table of its top labels gives, and the class-wise ones beside them.
#[test]
fn assess_a_model_as_it_is() {
    let (place, data) = matrix_place(400);
    let lines = |(class, prob): (&usize, &f64)| format!("{class},{prob}\n");
    let table: String = data.predicted.iter().zip(&data.scores).map(lines).collect();
    let place = place
        .with("top.csv", format!("class,prob\n{table}"))
        .with("probs.npy", f32s(&[400, 3], data.probs.clone()).bytes());
    let got = place.json("calib assess --logits val_logits.npy --labels val_labels.npy --top-k 2 --json");
    let table =
        place.json("calib assess --probs top.csv --class-column class --labels val_labels.npy --json");
    assert_eq!((&got["kind"], &got["n"], &got["hits"]), (&json!("vector"), &table["n"], &table["hits"]));
    for name in ["accuracy", "conf_ece", "conf_mce", "tl_ece", "tl_mce", "tl_mce_bin", "c_emp", "auc"] {
        close(&got[name]["value"], table[name]["value"].number());
    }
    close(&got["top_label"]["brier"]["value"], table["brier"]["value"].number());
    // Class-wise and joint metrics by their definitions.
    let (mut brier, mut log_loss) = (0.0, 0.0);
    for (row, &label) in data.probs.chunks(3).zip(&data.labels) {
        let sum = row.iter().map(|&p| f64::from(p)).sum::<f64>();
        let probs: Vec<f64> = row.iter().map(|&p| f64::from(p) / sum).collect();
        brier +=
            (0..3).map(|k| (probs[k] - f64::from(u8::from(k == usize::from(label)))).powi(2)).sum::<f64>();
        log_loss -= probs[usize::from(label)].ln();
    }
    let near = |value: &Value, expected: f64| assert!((value.number() - expected).abs() < 1e-6, "{value}");
    near(&got["brier"]["value"], brier / 400.0);
    near(&got["log_loss"]["value"], log_loss / 400.0);
    let classes = got["class_wise"].list();
    let mean = classes.iter().map(|class| class["conf_ece"]["value"].number()).sum::<f64>() / 3.0;
    close(&got["cw_ece"]["value"], mean);
    assert_eq!((classes.len(), got["top_k"]["ranks"].list().len()), (3, 2));
    // The same from probabilities, up to their precision.
    let probs = place.json("calib assess --probs probs.npy --labels val_labels.npy --json");
    near(&probs["cw_ece"]["value"], mean);
    place.says("calib assess --logits val_logits.npy --labels val_labels.npy --top-k 2");
    said!();
}

/// The volumes of three classes, exact where the rows are few, and of more classes with a standard error.
#[test]
fn assess_the_roc_surface() {
    let (place, data) = matrix_place(60);
    let form = "calib assess --logits val_logits.npy --labels val_labels.npy";
    let got = place.json(&format!("{form} --json"));
    // One row of each class, taken right if no other way to give them a class each has a larger sum.
    let rows = |class: u8| -> Vec<&[f32]> {
        data.probs.chunks(3).zip(&data.labels).filter(|row| *row.1 == class).map(|row| row.0).collect()
    };
    let (mut right, mut all) = (0.0, 0.0);
    for a in rows(0) {
        for b in rows(1) {
            for c in rows(2) {
                let sum = |of: [usize; 3]| f64::from(a[of[0]]) + f64::from(b[of[1]]) + f64::from(c[of[2]]);
                let orders = [[0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]];
                all += 1.0;
                right += f64::from(u8::from(orders.iter().all(|&order| sum(order) < sum([0, 1, 2]))));
            }
        }
    }
    assert!((got["vus"]["value"].number() - right / all).abs() < 1e-3, "{} {}", got["vus"], right / all);
    assert_eq!((&got["vus"]["tuples"], got["vus"].get("standard_error")), (&json!(all as u64), None));
    assert_eq!(got["vus_hull"]["is_exact"], true);
    assert!(got["vus_hull"]["value"].as_f64() >= got["vus"]["value"].as_f64());
    let words = place.ok(&format!("{form} --all")).stdout;
    assert!(
        words.contains(&format!("(of all {all} tuples of one row a class)\nvus_hull           ")),
        "{words}"
    );

    let four = f32s(&[120, 4], (0..480).map(|i| (i * 7919 % 480) as f32 / 480.0));
    let place = place.with("four.npy", four.bytes()).with("y.npy", i64s((0..120).map(|row| row % 4)).bytes());
    let form = "calib assess --logits four.npy --labels y.npy --seed 3 --json";
    let got = place.json(form);
    assert!(got["vus"]["standard_error"].number() < 0.001 && got.get("vus_hull").is_none());
    assert_eq!(got["vus"], place.json(form)["vus"]);
    assert_eq!(got["vus"].get("interval"), None);
    let interval = place.json(&format!("{form} --bootstrap 50"))["vus"]["interval"].take();
    let half = (interval["hi"].number() - interval["lo"].number()) / 2.0;
    assert!(half > 5.0 * got["vus"]["standard_error"].number(), "{interval}");
    // Of fewer rows all tuples are looked at.
    let few = f32s(&[60, 4], (0..240).map(|i| (i * 7919 % 240) as f32 / 240.0));
    let place =
        place.with("few.npy", few.bytes()).with("few_y.npy", i64s((0..60).map(|row| row % 4)).bytes());
    let got = place.json("calib assess --logits few.npy --labels few_y.npy --json");
    assert_eq!((&got["vus"]["tuples"], got["vus"].get("standard_error")), (&json!(15u64.pow(4)), None));
    // A class without rows has no share that is right.
    let place = place.with("y.npy", i64s((0..120).map(|row| row % 3)).bytes());
    assert_eq!(place.json(form).get("vus"), None);
}

/// Before is the score as it is, after what `calib apply` gives, on the same rows.
#[test]
fn assess_before_and_after_an_artifact() {
    let place = binary_place();
    place.ok(UMD_FIT);
    place.ok("calib apply cal.bin --scores cal.csv -o out.csv");
    let form = "calib assess cal.bin --same-rows --scores cal.csv --bootstrap 100 --json";
    let got = place.json(form);
    assert_eq!(got, place.json(form));
    let before = place.json("calib assess --scores cal.csv --bootstrap 100 --json");
    let after = place.json("calib assess --probs out.csv --json");
    for name in
        ["accuracy", "brier", "log_loss", "conf_ece", "c_emp", "auc", "sharpness", "conf_mce", "lp_ce"]
    {
        // Before is the score in the device's f32; after, a table holds an f32's shortest digits.
        for (which, alone) in [("before", &before), ("after", &after)] {
            let alone = alone[name]["value"].number();
            assert!((got[which][name]["value"].number() - alone).abs() < 1e-7, "{which} {name}");
        }
        let change = got["after"][name]["value"].number() - got["before"][name]["value"].number();
        close(&got["change"][name]["value"], change);
    }
    let brier = &got["change"]["brier"]["interval"];
    assert!(brier["hi"].number() < 0.0, "calibrating helps on the calibration data themselves: {brier}");
    assert_eq!(
        place.json("calib assess cal.bin --same-rows --scores cal.csv --binning by-bin --json")["binning"]["bins"],
        10
    );
    let words = place.says("calib assess cal.bin --same-rows --scores cal.csv --all").stdout;
    // Whatever has a value before and after has a change.
    let table = words.lines().skip_while(|line| !line.contains("before       after")).skip(1);
    let table: Vec<&str> = table.take_while(|line| !line.starts_with("binned: ")).collect();
    assert_eq!(table.len(), 12, "{words}");
    for line in table {
        let numbers = line.split_whitespace().rev().take(3).map(|word| word.parse::<f64>().unwrap());
        let [change, after, before] = numbers.collect::<Vec<_>>()[..] else { panic!("{line}") };
        assert!((change - (after - before)).abs() < 2e-6, "{line}");
    }

    let (place, _) = matrix_place(400);
    place.ok(TOP_FIT);
    let got =
        place.json("calib assess top.bin --same-rows --logits val_logits.npy --labels val_labels.npy --json");
    // Class 2 has 10 points, too few for a bin of 50.
    assert_eq!((&got["uncalibrated"], &got["after"]["n"]), (&json!(10), &json!(390)));
    assert!(got["change"]["tl_ece"]["value"].number() < 0.0);
    said!();
}

#[test]
fn assess_with_other_bins() {
    let place = binary_place();
    let assess = |options: &str| place.json(&format!("calib assess --scores cal.csv --json {options}"));
    let got = assess("--binning equal-mass --bins 8");
    assert_eq!(got["binning"], json!({"scheme": "equal-mass", "bins": 8}));
    let counts: Vec<_> = got["bins"].list().iter().map(|bin| bin["n"].whole()).collect();
    assert_eq!(counts, [50; 8]);
    // 400 distinct scores: every group by value is a single prediction, and the debiased square is 0.
    let got = assess("--binning by-value --norm 2");
    assert_eq!(got["conf_ece"]["singles"], 400);
    close(&got["lp_ce"]["squared_debiased"]["value"], 0.0);
    let one = assess("--norm 1");
    assert_eq!(one["lp_ce"]["value"], one["conf_ece"]["value"]);
    let corrected = assess("--bootstrap 50 --bca");
    assert_eq!(corrected["bootstrap"]["kind"], "bca");
    assert!(corrected["brier"]["interval"]["lo"].is_number());
}

/// Fewer rows than bins, one row, equal scores: honest numbers.
#[test]
fn assess_what_is_little() {
    let place = Workplace::new()
        .with("two.csv", "score,label\n0.25,0\n0.75,1\n")
        .with("same.csv", "score,label\n0.5,0\n0.5,1\n0.5,1\n0.5,1\n");
    let got = place.json("calib assess --scores two.csv --bins 100 --json");
    assert_eq!((&got["conf_ece"]["groups"], &got["conf_ece"]["singles"]), (&json!(2), &json!(2)));
    close(&got["conf_ece"]["value"], 0.25);
    let got =
        place.json("calib assess --scores same.csv --binning equal-mass --bins 3 --bootstrap 20 --json");
    assert_eq!((&got["conf_ece"]["groups"], &got["binning"]["bins"]), (&json!(1), &json!(3)));
    close(&got["auc"]["value"], 0.5);
    close(&got["sharpness"]["value"], 0.0);
    assert_eq!(got["roc"], json!({"points": 2, "hull_points": 2, "hull_auc": 0.5, "isotonic_is_hull": true}));
    let place = place.with("one.npy", f32s(&[1, 2], [0.25, 0.75]).bytes()).with("y.npy", i64s([1]).bytes());
    let got = place.json("calib assess --probs one.npy --labels y.npy --bootstrap 5 --json");
    assert_eq!((&got["n"], &got["auc"], &got["roc"]), (&json!(1), &Value::Null, &Value::Null));
}

#[test]
fn probabilities_that_cannot_be_assessed() {
    let assess = |csv: &str, options: &str| {
        refused(&[("bad.csv", text(csv))], &format!("calib assess --probs bad.csv {options}"));
    };
    for prob in ["1.5", "-0.1", "inf", "NaN", "high"] {
        assess(&format!("prob,label\n0.5,0\n{prob},1\n"), "");
    }
    assess("prob,label\n,0\n,1\n", "");
    for csv in ["score,label\n0.5,0\n0.5,1\n", "prob\n0.5\n"] {
        assess(csv, "");
    }
    for bin in ["x", "-1", "0.5"] {
        assess(&format!("prob,label,bin\n0.5,0,0\n0.5,1,{bin}\n"), "--bin-column bin");
    }
    assess("prob,label\n0.5,0\n0.5,2\n", "");
    assess("prob,label,class\n0.5,0,0\n0.5,1,a\n", "--class-column class");
    assess("prob,label\n0.5,0\n0.5,1\n", "--labels labels.npy");
    said!();
}

/// A month in which a rare event did not happen, or one in which nothing else did.
#[test]
fn rows_of_one_label_are_assessed_without_what_separates_labels() {
    let place = binary_place();
    place.ok("calib fit --method umd --bins 4 --scores cal.csv -o cal.bin --quiet");
    for label in [0, 1] {
        let rows: String =
            (0..200).map(|row| format!("{},{label}\n", (f64::from(row) + 0.5) / 200.0)).collect();
        let place = binary_place()
            .with("cal.bin", place.bytes("cal.bin"))
            .with("one.csv", format!("score,label\n{rows}"));
        for form in ["calib assess --scores one.csv", "calib assess --probs one.csv --prob-column score"] {
            let got = place.json(&format!("{form} --bootstrap 20 --json"));
            assert!(got["auc"].is_null() && got["conf_ece"]["value"].is_number(), "{got}");
            // Clopper and Pearson: 0.025^(1/200)
            let (rate, interval) = (&got["rate"]["value"], &got["rate"]["interval"]);
            assert_eq!(rate, f64::from(label));
            let inner = if label == 0 { 1.0 - interval["hi"].number() } else { interval["lo"].number() };
            assert!((inner - 0.025f64.powf(1.0 / 200.0)).abs() < 1e-9, "{interval}");
            place.says(form);
        }
        let both = place.json("calib assess cal.bin --scores one.csv --json");
        assert!(both["change"]["auc"].is_null() && both["change"]["brier"]["value"].is_number(), "{both}");
        let report = place.json(
            "calib report cal.bin --calibration cal.csv --test one.csv --bootstrap 20 -o page.html --json",
        );
        let words = format!("All 200 test rows have label {label}");
        assert!(report["warnings"].to_string().contains(&words), "{}", report["warnings"]);
        assert!(report["plots"].list().iter().all(|plot| plot["id"] != "roc"));
        assert!(place.text("page.html").contains(&words));
    }
    said!();
}

#[test]
fn what_does_not_belong_together_is_not_assessed() {
    for line in [
        "cal.bin --logits logits.npy --labels labels.npy",
        "top.bin --scores cal.csv",
        "top.bin --logits four.npy --labels labels.npy",
    ] {
        let four = ("four.npy", f32s(&[40, 4], (0..160).map(|i| i as f32)).bytes());
        refused(&[four], &format!("calib assess {line}"));
    }
    let short = ("short.npy", i64s([0, 1]).bytes());
    refused(&[short], "calib assess --logits logits.npy --labels short.npy");
    let other = ("other.npy", i64s((0..40).map(|row| row % 4)).bytes());
    refused(&[other], "calib assess --logits logits.npy --labels other.npy");
    for options in [
        "--logits logits.npy",
        "--scores cal.csv --binning by-bin",
        "--scores cal.csv --bin-column bin",
        "--scores cal.csv --top-k 2",
        "cal.bin --probs cal.csv",
    ] {
        refused(&[], &format!("calib assess {options}"));
    }
    refused(&[], "calib assess --scores cal.csv --norm 0.5");
    said!();
}

#[test]
fn compare_ranks_and_recommends() {
    let place = binary_place();
    let form = "calib compare --methods all --scores cal.csv --repeats 1 --bootstrap 100 --epsilon 0.5";
    let got = place.json(&format!("{form} --json"));
    assert_eq!(got, place.json(&format!("{form} --json")));
    let methods = got["methods"].list();
    let takes_scores = |contender: &ContenderName| match *contender {
        ContenderName::Irp => true,
        ContenderName::Method(method) => {
            let named = NamedMethod { method: Some(method), ..NamedMethod::default() };
            named.binary(10, ScoreKind::Probability, None).is_some()
        }
    };
    assert_eq!(methods.len() + got["failed"].list().len(), ContenderName::all().filter(takes_scores).count());
    let losses: Vec<f64> = methods.iter().map(|m| m["loss"]["value"].number()).collect();
    assert!(losses.is_sorted());
    // What is recommended has a guarantee, and the size that `calib fit` gives.
    let name = got["recommendation"].text();
    let best = methods.iter().find(|method| method["name"] == name).unwrap();
    assert!(best["epsilon"].number() <= 0.5 && best["meets_epsilon"] == true);
    place.ok(&format!("{UMD_FIT} --candidates {}", got["candidates"]));
    let umd = methods.iter().find(|method| method["name"] == "umd").unwrap();
    assert_eq!(umd["len_bytes"], place.inspect("cal.bin")["len_bytes"]);
    let few =
        place.json("calib compare --methods umd,platt --scores cal.csv --metric log-loss --repeats 1 --json");
    assert_eq!((few["methods"].list().len(), &few["score"]), (2, &json!("log_loss")));
    let words = place.says(form).stdout;
    assert!(words.starts_with(&format!("Take {name}: ")), "{words}");

    let three = "score,label\n0.5,0\n0.25,1\n0.75,0\n";
    refused(&[("bad.csv", text(three))], "calib compare --scores bad.csv");
    refused(&[], "calib compare --scores cal.csv --epsilon 0");
    said!();
}
