//! What a report holds besides metrics: decisions, costs, classes, the simplex; and its JSON form.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use crate::data::{Json, Matrix, close, matrix_place};
use crate::decide::COSTS;
use crate::report::place;
use crate::workplace::Workplace;

const FILES: &str = "--same-rows --calibration val_logits.npy --calibration-labels val_labels.npy --test val_logits.npy --test-labels \
                     val_labels.npy --bootstrap 5";

/// A fit of three classes and its report.
fn of_vectors(method: &str) -> (Workplace, Matrix, Value) {
    let (place, data) = matrix_place(600);
    place.ok(&format!("calib fit {method} --logits val_logits.npy --labels val_labels.npy -o vec.bin"));
    let got = place.json(&format!("calib report vec.bin {FILES} -o page.html --json"));
    (place, data, got)
}

fn ids(report: &Value) -> Vec<&str> {
    report["plots"].list().iter().map(|plot| plot["id"].text()).collect()
}

#[test]
fn every_class_has_a_diagram_where_every_class_has_a_probability() {
    for method in [
        "--method umd --bins 5 --reduction class-wise",
        "--method umd --bins 5 --reduction normalized",
        "--method grid --resolution 4",
    ] {
        let (place, data, got) = of_vectors(method);
        for class in 0..3 {
            assert!(ids(&got).contains(&&*format!("one-vs-rest-{class}")), "{method}: {:?}", ids(&got));
            let counted = data.labels.iter().filter(|&&label| label == class).count();
            assert_eq!(got["classes"]["after"]["class_wise"][class as usize]["hits"], counted);
        }
        // What is measured is what `calib assess` says.
        let assessed = place
            .json("calib assess vec.bin --same-rows --logits val_logits.npy --labels val_labels.npy --json");
        for side in ["before", "after"] {
            assert_eq!(got["classes"][side]["cw_ece"], assessed[side]["cw_ece"], "{method}");
        }
        let page = place.text("page.html");
        assert!(page.contains("Every class, one-vs-rest") && page.contains("id=\"simplex\""));
        assert!(!page.contains("have no separate diagram"));
    }
}

#[test]
fn the_number_of_drawn_classes_is_limited_and_the_others_are_named() {
    let (place, ..) = of_vectors("--method umd --bins 5 --reduction class-wise");
    let got =
        place.json(&format!("calib report vec.bin {FILES} --drawn-classes 1 -o page.html --force --json"));
    let drawn: Vec<_> = ids(&got).into_iter().filter(|id| id.starts_with("one-vs-rest")).collect();
    assert_eq!(drawn.len(), 1);
    assert_eq!(got["classes"]["undrawn"].list().len(), 2);
    let predicted = got["metrics"]["after"]["classes"].list().len();
    assert!(predicted > 1);
    assert_eq!(got["undrawn_classes"].list().len(), predicted - 1);
    let page = place.text("page.html");
    assert!(page.contains("These predicted classes have no separate diagram"));
    assert!(
        page.contains(
            "One-vs-rest, 1 of 3 classes have a diagram, those with the most rows. These have none:"
        )
    );
}

#[test]
fn arrows_of_the_simplex_are_drawn_for_three_classes_only() {
    let (place, data, got) = of_vectors("--method grid --resolution 4");
    let plots = got["plots"].list();
    let simplex = plots.iter().find(|plot| plot["id"] == "simplex").unwrap();
    let rows: u64 = simplex["rows"].list().iter().map(|r| r[0].text().parse::<u64>().unwrap()).sum();
    assert_eq!(rows, data.labels.len() as u64);
    let page = place.text("page.html");
    assert!(page.matches("class=\"arrow\"").count() > 10);
    let binary = crate::report::place();
    let got = binary.json("calib report cal.bin --calibration cal.csv --test test.csv --bootstrap 5 --json");
    assert!(!ids(&got).contains(&"simplex") && got["classes"].is_null() && got["decision"].is_null());
}

#[test]
fn decisions_are_those_of_the_artifact_and_cost_what_calib_decide_says() {
    let place = place().with("costs.toml", COSTS);
    place.ok("calib decide --actions costs.toml cal.bin -o rule.bin");
    let line = "calib report rule.bin --calibration cal.csv --test test.csv --bootstrap 5 --json";
    let without = place.json(line);
    assert_eq!(without["decision"]["in_artifact"], true);
    assert!(without["decision"]["cost"].is_null());
    assert_eq!(without["decision"]["intervals"][0]["positive"], Value::Null);

    let with = place.json(&format!("{line} --actions costs.toml -o page.html"));
    let decided =
        place.json("calib decide --actions costs.toml cal.bin --scores test.csv --label-column label --json");
    let (report, cost) = (&with["decision"], &with["decision"]["cost"]);
    close(&cost["expected"], decided["expected_cost"].number());
    close(&cost["observed"], decided["actual_cost"].number());
    assert_eq!(cost["interval"], decided["interval"]);
    let counts = |of: &Value, name: &str| -> Vec<u64> {
        of.list().iter().map(|interval| interval[name].whole()).collect()
    };
    assert_eq!(counts(&report["intervals"], "n"), counts(&decided["rule"]["intervals"], "n"));
    assert_eq!(report["uncalibrated"], "ask");
    // By the scores themselves: as probabilities that nothing has calibrated.
    let raw = place.json(
        "calib decide --actions costs.toml --probs test.csv --prob-column score --label-column label --json",
    );
    close(&cost["observed_before"], raw["actual_cost"].number());
    let page = place.text("page.html");
    assert!(page.contains("Decisions on the test rows") && page.contains("observed before"));

    // Without a rule in the artifact it is that of the costs file.
    let own = place.json(&(line.replace("rule.bin", "cal.bin") + " --actions costs.toml"));
    assert_eq!(own["decision"]["in_artifact"], false);
    assert_eq!(own["decision"]["cost"], *cost);
}

#[test]
fn size_and_cost_are_those_of_the_artifact() {
    let place = place();
    let got = place
        .json("calib report cal.bin --calibration cal.csv --test test.csv --bootstrap 5 -o page.html --json");
    let parts = got["parts"].list();
    let sum: u64 = parts.iter().map(|part| part["len_bytes"].whole()).sum();
    assert_eq!(sum, place.bytes("cal.bin").len() as u64);
    let cost = &got["device_cost"][0];
    assert_eq!((&cost["input"], cost["cores"].list().len()), (&json!("score"), 6));
    let page = place.text("page.html");
    assert!(page.contains("Cortex-M0") && page.contains("instructions a call, given"));

    place.ok("calib fit --method umd --bins 5 --table u16 --scores cal.csv -o small.bin");
    let got = place.json("calib report small.bin --calibration cal.csv --test test.csv --bootstrap 5 -o page.html --force --json");
    assert_eq!(got["device_cost"], json!([]));
    let page = place.text("page.html");
    assert!(page.contains("Instructions of this form of calibrator were not measured."));
}

#[test]
fn plots_are_pixels_too_and_the_same_each_time() {
    let place = place();
    let line = "calib plot reliability cal.bin --test test.csv";
    place.ok(&format!("{line} -o a.png"));
    place.ok(&format!("{line} -o b --format png"));
    place.ok(&format!("{line} -o c.png --scale 1"));
    let [a, b, c] = ["a.png", "b", "c.png"].map(|name| place.bytes(name));
    assert!(a == b && a.starts_with(b"\x89PNG\r\n\x1a\n"));
    let width = |png: &[u8]| u32::from_be_bytes(png[16..20].try_into().unwrap());
    assert_eq!((width(&a), width(&c)), (720, 360));
    place.ok(&format!("{line} -o d.png --format svg"));
    assert!(place.bytes("d.png").starts_with(b"<svg"));
    let (vectors, ..) = of_vectors("--method umd --bins 5 --reduction class-wise");
    for plot in ["simplex", "class-wise --class 2", "class --class 0"] {
        vectors.ok(&format!(
            "calib plot {plot} vec.bin --same-rows --test val_logits.npy --test-labels val_labels.npy -o out.png --force"
        ));
        assert!(vectors.bytes("out.png").len() > 2000, "{plot}");
    }
}

/// All names of an object and of what it holds, with a point between them; entries of a list have the list's name.
fn names(value: &Value, above: &str, into: &mut BTreeSet<String>) {
    match value {
        Value::Object(object) => {
            for (name, value) in object {
                let name = if above.is_empty() { name.clone() } else { format!("{above}.{name}") };
                names(value, &name, into);
                into.insert(name);
            }
        }
        Value::Array(entries) => entries.iter().for_each(|entry| names(entry, above, into)),
        _ => {}
    }
}

#[test]
fn every_name_of_the_json_form_is_documented() {
    let lines = calib_host::io::report::REPORT_KEYS.lines();
    let documented: Vec<(&str, &str)> = lines.map(|line| line.split_once(": ").unwrap()).collect();
    let place = place().with("costs.toml", COSTS);
    let binary = place
        .json("calib report cal.bin --calibration cal.csv --test test.csv --bootstrap 5 --actions costs.toml --json");
    let (.., vectors) = of_vectors("--method umd --bins 5 --reduction class-wise");
    let mut met = BTreeSet::new();
    for report in [&binary, &vectors] {
        names(report, "", &mut met);
    }
    let covers = |known: &str, name: &str| match known.strip_suffix(".*") {
        Some(above) => name == above || name.strip_prefix(above).is_some_and(|rest| rest.starts_with('.')),
        None => known == name,
    };
    let unknown: Vec<_> =
        met.iter().filter(|name| !documented.iter().any(|(known, _)| covers(known, name))).collect();
    assert_eq!(unknown, [] as [&String; 0]);
    // And what is documented is there.
    let absent: Vec<_> =
        documented.iter().filter(|(known, _)| !met.iter().any(|name| covers(known, name))).collect();
    assert_eq!(absent, [] as [&(&str, &str); 0]);
}
