//! Clinical validation: `calib assess`, the report's section, and its plots.

use serde_json::Value;

use crate::data::{Json, binary, close, csv, matrix_place};
use crate::decide::COSTS;
use crate::report::place;
use crate::transcript::quote;
use crate::workplace::Workplace;

const REPORT: &str = "calib report cal.bin --calibration cal.csv --test test.csv --bootstrap 20";

#[test]
fn json_and_text_say_the_same_before_and_after() {
    let place = place();
    let got = place.json("calib assess cal.bin --scores test.csv --json");
    let text = place.ok("calib assess cal.bin --scores test.csv --all").stdout;
    for (side, title) in [("before", "the scores"), ("after", "the calibrated probabilities")] {
        let found = &got["clinical"][side];
        assert_eq!(found["n"], 300);
        let block = text.split("clinical validation of ").find(|block| block.starts_with(title)).unwrap();
        let slope = &found["cox"]["slope"];
        let said = format!(
            "slope              {:.6} [{:.6}, {:.6}]",
            slope["value"].number(),
            slope["interval"]["lo"].number(),
            slope["interval"]["hi"].number()
        );
        assert!(block.contains(&said), "{said} is not in\n{block}");
        // The parts make up the score that the metrics have.
        let brier = &found["corp"]["brier"];
        let part = |name: &str| brier[name].number();
        close(&brier["score"], part("mcb") - part("dsc") + part("unc"));
        close(&got[side]["brier"]["value"], part("score"));
        assert_eq!(found["decision_curve"].list().len(), 100);
        // Without resamples there are no bands.
        assert_eq!(found["corp"]["band"], serde_json::json!([]));
        assert_eq!(found["decision_curve"][20].get("interval"), None);
    }
    // Equal probabilities say the same, with an artifact or in a table.
    place.ok("calib apply cal.bin --scores test.csv -o prob.csv");
    let table = place.json("calib assess --probs prob.csv --json");
    let slope = |value: &Value| value["cox"]["slope"]["value"].number();
    assert!((slope(&table["clinical"]) - slope(&got["clinical"]["after"])).abs() < 1e-6);
}

#[test]
fn probabilities_of_zero_and_one_are_named_and_clipped_on_request() {
    let rows: String = (0..90)
        .map(|row| format!("{},{}\n", f64::from(row % 11) / 10.0, u8::from(row % 7 < row % 11)))
        .collect();
    let place = Workplace::new().with("probs.csv", format!("prob,label\n{rows}").replace("1.1", "0.5"));
    place.says("calib assess --probs probs.csv");
    let clip = "calib assess --probs probs.csv --extreme-probs clip";
    place.says(clip);
    let got = place.json(&format!("{clip} --json"));
    assert_eq!(
        (&got["clinical"]["extremes"]["treatment"], &got["clinical"]["cox"]["n"]),
        (&"clip".into(), &90.into())
    );
    said!();
}

#[test]
fn what_is_undefined_is_said_in_words() {
    let place = Workplace::new().with("probs.csv", "prob,label\n0.2,0\n0.4,0\n0.6,0\n");
    quote(&place.json("calib assess --probs probs.csv --json")["clinical"]["cox"]["slope"]);
    place.says("calib assess --probs probs.csv");
    said!();
}

/// Predictions of one of several classes are no event of which a clinic decides.
#[test]
fn several_classes_have_no_clinical_validation() {
    let (place, _) = matrix_place(300);
    place.ok("calib fit --method umd --bins 3 --reduction top-label --logits val_logits.npy --labels val_labels.npy -o top.bin");
    let test = "--same-rows --logits val_logits.npy --labels val_labels.npy";
    let got = place.json(&format!("calib assess top.bin {test} --json"));
    assert_eq!(got.get("clinical"), None);
    place.says(
        "calib plot corp top.bin --same-rows --test val_logits.npy --test-labels val_labels.npy -o a.svg",
    );
    said!();
}

#[test]
fn the_page_has_the_section_with_item_numbers_and_its_plots() {
    let place = place().with("costs.toml", COSTS);
    let got = place.json(&format!("{REPORT} --actions costs.toml -o page.html --json"));
    let page = place.text("page.html");
    for part in
        ["Clinical validation <span class=\"item\">TRIPOD+AI 12e, 23a", "Spiegelhalter’s z", "TRIPOD+AI 15<"]
    {
        assert!(page.contains(part), "{part}");
    }
    let assessed = place.json("calib assess cal.bin --scores test.csv --bootstrap 20 --json");
    for (name, of) in [("cox", "cox"), ("corp", "corp"), ("spline", "spline")] {
        assert_eq!(got["clinical"]["after"][name], assessed["clinical"]["after"][of], "{name}");
    }
    let plots = got["plots"].list();
    for id in ["corp-before", "corp-after", "decision-curve", "outcomes"] {
        assert!(plots.iter().any(|plot| plot["id"] == id), "{id}");
    }
    // The rule's thresholds are marked, with resampled intervals.
    let curve = got["clinical"]["after"]["decision_curve"].list();
    let marked: Vec<_> = curve.iter().filter(|point| point["marked"] == true).collect();
    assert!(!marked.is_empty() && marked.iter().all(|point| point["interval"].is_object()));
    assert!(page.contains("thresholds of the decision rule"));
    for name in ["corp-before", "corp", "decision-curve", "outcomes"] {
        place.ok(&format!("calib plot {name} cal.bin --test test.csv -o {name}.svg"));
        let file = place.text(&format!("{name}.svg"));
        assert!(file.starts_with("<svg"), "{name}");
    }
}

/// Margins are no probabilities: nothing is said of them before calibration.
#[test]
fn margins_have_a_clinical_validation_after_calibration_only() {
    let rows: Vec<(f32, u8)> =
        binary(400).into_iter().map(|(score, label)| ((score / (1.0 - score)).ln(), label)).collect();
    let place = Workplace::new().with("cal.csv", csv(&rows[..200])).with("test.csv", csv(&rows[200..]));
    place.ok("calib fit --method umd --bins 5 --margins cal.csv -o cal.bin");
    let got = place.json("calib assess cal.bin --margins test.csv --json");
    assert_eq!(got["clinical"]["before"], Value::Null);
    assert!(got["clinical"]["after"]["corp"]["brier"]["score"].is_number());
    place.says("calib assess cal.bin --margins test.csv");
    place.says("calib plot corp-before cal.bin --test test.csv -o a.svg");
    said!();
}

/// What a clinic asks of an action: the same counts and shares in `assess`, `report` and `decide`.
#[test]
fn every_threshold_of_a_rule_has_its_accuracy() {
    let place = place().with("costs.toml", COSTS);
    place.ok("calib fit --method umd --bins 10 --scores cal.csv --actions costs.toml -o rule.bin");
    let got = place.json("calib assess rule.bin --scores test.csv --json");
    let found = got["at_thresholds"].list();
    let rule = &place.inspect("rule.bin")["decision"];
    assert!(!found.is_empty(), "{rule}");
    place.ok("calib apply rule.bin --scores test.csv -o prob.csv");
    let (header, rows) = place.table("prob.csv");
    let column = |name: &str| header.iter().position(|column| column == name).unwrap();
    for one in found {
        let threshold = one["threshold"].number() as f32;
        let count = |raised: bool, label: &str| {
            let is = |row: &&Vec<String>| {
                (row[column("prob")].parse::<f32>().unwrap() > threshold) == raised
                    && row[column("label")] == label
            };
            rows.iter().filter(is).count() as f64
        };
        let (tp, fp) = (count(true, "1"), count(true, "0"));
        let (missed, spared) = (count(false, "1"), count(false, "0"));
        close(&one["true_positives"], tp);
        close(&one["true_negatives"], spared);
        close(&one["sensitivity"]["value"], tp / (tp + missed));
        close(&one["specificity"]["value"], spared / (spared + fp));
        close(&one["npv"]["value"], spared / (spared + missed));
        let interval = &one["ppv"]["interval"];
        let exact = calib_host::stats::clopper_pearson(tp as u64, (tp + fp) as u64, 0.05);
        close(&interval["lo"], exact.lo);
        close(&interval["hi"], exact.hi);
        assert!(!one["actions"].list().is_empty());
    }
    let report = place.json(
        "calib report rule.bin --calibration cal.csv --test test.csv --bootstrap 5 -o page.html --json",
    );
    assert_eq!(report["decision"]["thresholds"], got["at_thresholds"]);
    let page = place.text("page.html");
    assert!(page.contains("At each threshold <span class=\"item\">STARD 2015, 23, 24"));
    let decide = "calib decide rule.bin --actions costs.toml --scores test.csv --label-column label";
    assert_eq!(place.json(&format!("{decide} --json"))["at_thresholds"], got["at_thresholds"]);
    let line = |text: String| text.lines().find(|line| line.contains("sensitivity")).unwrap().to_owned();
    let texts =
        [decide, "calib assess rule.bin --scores test.csv"].map(|command| line(place.ok(command).stdout));
    assert_eq!(texts[0], texts[1]);
    // Without labels nothing is said.
    let unlabeled = place.json("calib decide rule.bin --actions costs.toml --scores test.csv --json");
    assert_eq!(unlabeled["at_thresholds"], serde_json::json!([]));
}

#[test]
fn a_validation_is_planned() {
    let place = Workplace::new();
    let line =
        "calib plan --validation --prevalence .1 --auc .75 --se-auc .025 --se-slope .1 --se-intercept .1";
    place.says(line);
    let got = place.json(&format!("{line} --json"));
    assert_eq!(got["validation"]["rows"], 1536);
    assert!((got["validation"]["intercept"].number() - 1223.9).abs() < 0.05);
    place.says("calib plan --validation --prevalence .1 --auc .9");
    for wrong in
        ["--prevalence 0 --auc .7", "--prevalence 1 --auc .7", "--prevalence .1 --auc .5", "--auc .7"]
    {
        place.says(&format!("calib plan --validation {wrong}"));
    }
    place.says("calib plan --n 100 --prevalence .1");
    said!();
}

/// Scores with groups: one that is told half of its risk, one with three rows.
fn with_groups() -> Workplace {
    let place = place();
    let line = |row: u32| {
        let score = (f64::from(row) + 0.25) / 600.0;
        let group = if row % 200 == 7 {
            "few"
        } else if row.is_multiple_of(2) {
            "even"
        } else {
            "odd"
        };
        let label = match group {
            "odd" => row * 7919 % 101 < row / 12,
            _ => row * 7919 % 101 < row / 6,
        };
        format!("{score},{},{group}\n", u8::from(label))
    };
    place.with("groups.csv", format!("score,label,unit\n{}", (0..600).map(line).collect::<String>()))
}

#[test]
fn groups_stand_side_by_side_in_assess_and_report() {
    let place = with_groups();
    let assess = "calib assess cal.bin --scores groups.csv --group-column unit";
    let got = place.json(&format!("{assess} --json"));
    let groups = got["groups"]["groups"].list();
    let names: Vec<_> = groups.iter().map(|group| group["group"].text()).collect();
    assert_eq!(names, ["even", "few", "odd"]);
    assert_eq!(groups.iter().map(|group| group["n"].whole()).sum::<u64>(), 600);
    let few = groups[1]["too_small"].text();
    // The intervals are those of a third of alpha.
    let exact =
        calib_host::stats::clopper_pearson(groups[0]["hits"].whole(), groups[0]["n"].whole(), 0.05 / 3.0);
    close(&groups[0]["rate"]["interval"]["lo"], exact.lo);
    let test = &got["groups"]["equal_calibration"];
    assert!(test["p_value"].number() < 0.01, "{test}");
    place.says(assess);
    let report = place.json(
        "calib report cal.bin --calibration cal.csv --test groups.csv --group-column unit --bootstrap 5 -o page.html --json",
    );
    assert_eq!(report["groups"]["equal_calibration"], *test);
    let page = place.text("page.html");
    assert!(page.contains("By group <span class=\"item\">TRIPOD+AI 14, 23a") && page.contains(few));
    // The same of a table of probabilities.
    place.ok("calib apply cal.bin --scores groups.csv -o prob.csv");
    let table = place.json("calib assess --probs prob.csv --group-column unit --json");
    assert_eq!(table["groups"]["equal_calibration"], *test);
    said!();
}

#[test]
fn groups_that_cannot_be_compared_are_told_in_words() {
    let place = with_groups().with("one.csv", "prob,label,unit\n0.2,0,a\n0.4,1,a\n0.5,0,a\n");
    place.says("calib assess --probs one.csv --group-column unit");
    place.says("calib assess --probs one.csv --group-column sex");
    let clusters = "calib assess cal.bin --scores groups.csv --group-column unit --cluster-column unit";
    place.says(clusters);
    let many: String = (0..300).map(|row| format!("0.5,{},name{row}\n", row % 2)).collect();
    let place = place.with("many.csv", format!("prob,label,unit\n{many}"));
    place.says("calib assess --probs many.csv --group-column unit");
    let place = place.with("empty.csv", "prob,label,unit\n0.2,0,a\n0.4,1,\n");
    place.says("calib assess --probs empty.csv --group-column unit");
    let (matrix, _) = matrix_place(60);
    matrix.says("calib assess --logits val_logits.npy --labels val_labels.npy --group-column unit");
    said!();
}

/// An artifact of thresholds alone: clears below 0.25, raises from 0.5, of two groups one never.
fn thresholds_alone(by_group: bool) -> Workplace {
    use calib_core::artifact::{ArtifactWriter, Header, HeaderFlags, Method, Provenance, Reduction};
    use calib_core::decision::{Accuracy, AccuracyGuarantee, OperatingParts, Threshold, Thresholds};
    use calib_core::{Score, ScoreEncoding};

    let at =
        |key: u32| Threshold { key, positives: 60, positives_above: 50, negatives: 90, negatives_above: 9 };
    let key = |score: f32| Score::new(score).unwrap().get().to_bits();
    let first = Thresholds { lower: at(key(0.25)), upper: at(key(0.5)) };
    let never = Threshold { positives_above: 0, negatives_above: 0, ..at(key(1.0) + 1) };
    let second = Thresholds { lower: at(key(0.75)), upper: never };
    let groups = if by_group { vec![first, second] } else { vec![first] };
    let guarantee =
        AccuracyGuarantee { accuracy: Accuracy::Sensitivity, level: 0.95, confidence: 0.9, prevalence: None };
    let mut buf = vec![0; 2048];
    let mut writer = ArtifactWriter::new(&mut buf);
    let header = Header {
        method: Method::OperatingPoint,
        reduction: Reduction::Binary,
        encoding: ScoreEncoding::F32,
        classes: 2,
        bins: 0,
        n: 150 * groups.len() as u64,
        guarantee: None,
        flags: HeaderFlags::NONE,
        provenance: Provenance { data_sha256: [0; 32], tool_version: "0", parameters: "", classifier: None },
    };
    writer.header(&header).unwrap();
    writer
        .operating_points(&OperatingParts { groups: &groups, refer_raises: false, guarantees: &[guarantee] })
        .unwrap();
    if by_group {
        writer.groups(&["even", "odd"]).unwrap();
    }
    let bytes = writer.finish(calib_host::artifact::identity).unwrap().to_vec();
    let line = |row: u32| {
        let group = if row.is_multiple_of(2) { "even" } else { "odd" };
        format!("{},{},{group}\n", f64::from(row) / 200.0, u8::from(row % 10 < row / 20))
    };
    let rows: String = (0..200).map(line).collect();
    Workplace::new().with("points.bin", bytes).with("test.csv", format!("score,label,unit\n{rows}"))
}

#[test]
fn thresholds_of_the_score_have_their_accuracy() {
    let place = thresholds_alone(false);
    let got = place.json("calib assess points.bin --scores test.csv --json");
    let found = got["operating_points"].list();
    assert_eq!(found.len(), 2);
    for (one, (test, from)) in found.iter().zip([("raised", 100), ("not-cleared", 50)]) {
        let hits = (from..200).filter(|row| row % 10 < row / 20).count();
        assert_eq!((&one["test"], &one["true_positives"]), (&test.into(), &hits.into()));
        assert_eq!(one["false_positives"], 200 - from - hits as u32);
        let positives = (0..200).filter(|row| row % 10 < row / 20).count();
        close(&one["sensitivity"]["value"], hits as f64 / positives as f64);
        assert_eq!(one["group"], Value::Null);
    }
    place.says("calib assess points.bin --scores test.csv");
    // What needs probabilities is refused, without a panic.
    place.says("calib report points.bin --calibration test.csv --test test.csv --same-rows -o page.html");
    said!();
}

#[test]
fn thresholds_by_group_take_the_column_and_know_their_groups() {
    let place = thresholds_alone(true);
    let assess = "calib assess points.bin --scores test.csv";
    place.says(assess);
    place.says(&format!("{assess} --group-column unit"));
    let other = place.with("other.csv", "score,label,unit\n0.5,1,third\n0.2,0,even\n");
    other.says("calib assess points.bin --scores other.csv --group-column unit");
    said!();
}
