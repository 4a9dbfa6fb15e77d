//! Decisions: costs files right and wrong, what is printed, and what goes into the artifact.

use crate::data::Json;
use crate::refusal::{File, good};
use crate::transcript::refused;
use crate::workplace::Workplace;

/// Three actions with thresholds at 5/100 and 4/19; the last raises the alarm.
pub(crate) const COSTS: &str = "
[[action]]
name = \"wait\"
positive = 100
negative = 0
alarm = false

[[action]]
name = \"ask\"
positive = 5
negative = 5
alarm = false
abstain = true

[[action]]
name = \"treat\"
positive = 1
negative = 6
alarm = true
";

/// 0.0625 four times with no positive, 0.5 twice with one, 0.75 four times with three: calibrated but for the first.
const PROBS: &str =
    "prob,label\n0.0625,0\n0.5,1\n0.75,1\n0.0625,0\n0.75,0\n0.75,1\n0.0625,0\n0.5,0\n0.75,1\n0.0625,0\n";

fn place() -> Workplace {
    Workplace::new().with("costs.toml", COSTS).with("probs.csv", PROBS)
}

#[test]
fn thresholds_need_no_data() {
    let json = place().json("calib decide --actions costs.toml --json");
    let pieces = json["rule"]["intervals"].list();
    let names: Vec<_> = pieces.iter().map(|piece| piece["action"].text()).collect();
    assert_eq!(names, ["wait", "ask", "treat"]);
    assert_eq!(json["rule"]["kind"], "bayes");
    assert_eq!(json["uncalibrated"], "ask");
    // 5 (1 - p) = 95 p; 1 - p = 4 p.
    assert_eq!(
        (pieces[1]["above"].number() as f32, pieces[2]["above"].number() as f32),
        (0.05f32.next_down(), 0.2f32.next_down())
    );
    assert_eq!(json["expected_cost"], serde_json::Value::Null);
}

/// What is written to begin with is a costs file in which every action is the cheapest somewhere, and what follows runs.
#[test]
fn a_costs_file_to_begin_with_is_one() {
    let place = place();
    let run = place.says("calib decide --starter my.toml");
    let len = place.bytes("my.toml").len();
    let told = format!("wrote my.toml, {len} bytes\nnext: calib decide --actions my.toml\n");
    assert!(run.stderr.starts_with(&told), "{}", run.stderr);
    let json = place.json("calib decide --actions my.toml --json");
    let intervals = json["rule"]["intervals"].list();
    let names: Vec<_> = intervals.iter().map(|piece| piece["action"].text()).collect();
    assert_eq!((names, &json["uncalibrated"]), (vec!["dismiss", "ask", "treat"], &"ask".into()));
    // 15 p + 4 (1 - p) = 100 p at 4/89, and = 10 p + 20 (1 - p) at 16/21.
    for (piece, expected) in intervals[1..].iter().zip([4.0 / 89.0, 16.0 / 21.0]) {
        assert!((piece["above"].number() - expected).abs() < 1e-6, "{piece}");
    }
    // The keys that are commented out are keys.
    let text = place.text("my.toml");
    let all =
        text.replace("# cases", "cases").replace("# start_up", "start_up").replace("# if_sure", "if_sure");
    let place = place.with("all.toml", all.replace("if_sure = true", "if_sure = false"));
    place.says("calib decide --actions all.toml --probs probs.csv");
    let rest = "\nabove = 0.5";
    let stated = text
        .replace("name = \"dismiss\"", "name = \"dismiss\"\nup_to = 0.5")
        .replace(
            "[[action]]\nname = \"ask\"\npositive = 15\nnegative = 4\nalarm = false\nabstain = true",
            "# ",
        )
        .replace("\"ask\"", "\"dismiss\"")
        .replace("name = \"treat\"", &format!("name = \"treat\"{rest}"));
    let place = place.with("stated.toml", stated);
    assert_eq!(place.json("calib decide --actions stated.toml --json")["rule"]["kind"], "stated");

    assert_eq!(place.ok("calib decide --starter -").stdout, text);
    place.says("calib decide --starter my.toml");
    place.says("calib decide --starter other.toml --actions my.toml");
    place.says("calib decide");
    said!();
}

#[test]
fn the_expected_cost_needs_no_labels_and_the_actual_one_does() {
    let place = place();
    let unlabeled = place.json("calib decide --actions costs.toml --probs probs.csv --json");
    // 0.0625: ask, 5; 0.5: treat, 3.5; 0.75: treat, 2.25.
    assert_eq!(unlabeled["expected_cost"], (4.0 * 5.0 + 2.0 * 3.5 + 4.0 * 2.25) / 10.0);
    assert!(unlabeled["interval"].is_null() && unlabeled["actual_cost"].is_null());
    let labeled =
        place.json("calib decide --actions costs.toml --probs probs.csv --label-column label --json");
    assert_eq!(labeled["actual_cost"], (4.0 * 5.0 + 7.0 + 9.0) / 10.0);
    let validation = &labeled["validation"];
    assert!((validation["c_emp"].number() - 0.025).abs() < 1e-15);
    assert_eq!((&validation["same_rows"], &validation["c_lower_is_vacuous"]), (&true.into(), &true.into()));
    // 3.6 give or take 0.025 (100 + 0 + 5); ten points guarantee little.
    let ends = |name: &str| ["lo", "hi"].map(|end| labeled["interval"][name][end].number());
    let [lo, hi] = ends("deviation");
    assert!((lo - 0.975).abs() < 1e-12 && (hi - 6.225).abs() < 1e-12, "[{lo}, {hi}]");
    assert!(ends("guaranteed")[0] == 0.0 && ends("guaranteed")[1] > 20.0);
    place.says("calib decide --actions costs.toml --probs probs.csv --validation probs.csv");
    assert_eq!(unlabeled["expected_cost_is_optimistic"], true);
    said!();
}

#[test]
fn uncalibrated_rows_are_counted_and_left_out() {
    let place = place().with("gaps.csv", "prob\n0.5\n\n0.5\n".replace("\n\n", "\n\"\"\n"));
    let json = place.json("calib decide --actions costs.toml --probs gaps.csv --json");
    assert_eq!((&json["n"], &json["uncalibrated_rows"]), (&2.into(), &1.into()));
}

#[test]
fn start_up_costs_can_keep_an_action_out() {
    let costs = |start_up: u32| COSTS.replace("abstain = true", &format!("start_up = {start_up}"));
    let run = |start_up, cases: &str| {
        let costs = format!("uncalibrated = \"treat\"\n{cases}\n{}", costs(start_up));
        let json =
            place().with("c.toml", costs).json("calib decide --actions c.toml --probs probs.csv --json");
        let used = json["rule"]["intervals"].list().iter().any(|piece| piece["action"] == "ask");
        (used, json["start_up"]["total"].as_f64())
    };
    // Asking four times saves 4 * (5.6875 - 5) on these ten rows, as treating costs 5.6875 there.
    assert_eq!(run(0, ""), (true, None));
    assert_eq!(run(2, ""), (true, Some(38.0)));
    assert_eq!(run(3, ""), (false, Some(38.75)));
    assert!(run(3, "cases = 1000").0);
    // That of the action for the uncalibrated counts whatever the rule.
    for uncalibrated in ["ask", "treat"] {
        let costs = format!("uncalibrated = \"{uncalibrated}\"\n{}", costs(3));
        place().with("c.toml", costs).says("calib decide --actions c.toml --probs probs.csv");
    }
    let place = place().with("c.toml", format!("uncalibrated = \"ask\"\n{}", costs(3)));
    place.says("calib decide --actions c.toml");
    said!();
}

#[test]
fn stated_intervals_replace_bayes_rule() {
    let costs = COSTS
        .replace("name = \"wait\"", "name = \"wait\"\nup_to = 0.1")
        .replace("name = \"ask\"", "name = \"ask\"\nabove = 0.1\nup_to = 0.6")
        .replace("name = \"treat\"", "name = \"treat\"\nabove = 0.6");
    let place = place().with("c.toml", costs);
    let json = place.json("calib decide --actions c.toml --probs probs.csv --json");
    assert_eq!(json["rule"]["kind"], "stated");
    assert_eq!(json["expected_cost"], (4.0 * 6.25 + 2.0 * 5.0 + 4.0 * 2.25) / 10.0);
    assert_eq!(json["expected_cost_bayes"], 3.6);
    assert_eq!(json["expected_cost_is_optimistic"], false);
}

#[test]
fn a_useless_action_is_named() {
    let costs =
        format!("{COSTS}\n[[action]]\nname = \"pray\"\npositive = 101\nnegative = 7\nalarm = false\n");
    let place = place().with("c.toml", costs);
    let json = place.json("calib decide --actions c.toml --json");
    assert_eq!(json["left_out"][0]["action"], "pray");
    assert_eq!(json["left_out"][0]["beaten_by"], "wait");
    place.says("calib decide --actions c.toml");
    said!();
}

#[test]
fn the_artifact_holds_the_rule_and_apply_follows_it() {
    // Of every 40 points those with a score of s have 40 s^3 positives or so.
    let label = |i: u32| u32::from(f64::from(i % 40) < 40.0 * (f64::from(i) / 2000.0).powi(3));
    let rows: String = (0..2000).map(|i| format!("{},{}\n", f64::from(i) / 2000.0, label(i))).collect();
    let place = good().with("costs.toml", COSTS).with("many.csv", format!("score,label\n{rows}"));
    place.ok("calib fit --method umd --bins 20 --scores many.csv -o many.bin");
    place.ok("calib decide --actions costs.toml many.bin --scores many.csv -o rule.bin");
    place.ok("calib fit --method umd --bins 20 --scores many.csv --actions costs.toml -o fitted.bin");
    assert_eq!(place.bytes("rule.bin"), place.bytes("fitted.bin"));

    let rule = &place.inspect("rule.bin")["decision"];
    assert_eq!(rule["intervals"], serde_json::json!([0, 1, 2]));
    assert_eq!((&rule["uncalibrated"], &rule["actions"][2]["alarm"]), (&1.into(), &true.into()));
    assert!(place.inspect("cal.bin")["decision"].is_null());
    place.says("calib inspect rule.bin");

    place.ok("calib apply rule.bin --scores many.csv -o out.csv");
    let (header, rows) = place.table("out.csv");
    assert_eq!(header.last().unwrap(), "action");
    let prob = header.iter().position(|name| name == "prob").unwrap();
    for row in &rows {
        let expected = match row[prob].parse::<f32>().unwrap() {
            prob if prob <= 0.05 => "wait",
            prob if prob < 0.2 => "ask",
            _ => "treat",
        };
        assert_eq!(row.last().unwrap(), expected);
    }
    for action in ["wait", "ask", "treat"] {
        assert!(rows.iter().filter(|row| row.last().unwrap() == action).count() >= 100, "{action}");
    }
    // A matrix of a top-label artifact, too: an uncalibrated class is asked about.
    place.ok("calib decide --actions costs.toml top.bin -o toprule.bin");
    place.ok("calib apply toprule.bin --logits logits.npy -o topout.csv");
    assert_eq!(place.table("topout.csv").0.last().unwrap(), "action");
    // Applying twice would give two columns of that name.
    place.says("calib apply rule.bin --scores out.csv -o again.csv");
    said!();
}

#[test]
fn the_points_that_were_fitted_to_prove_nothing() {
    let place = good().with("costs.toml", COSTS);
    let line = "calib decide --actions costs.toml cal.bin --scores cal.csv --label-column label --same-rows";
    let json = place.json(&format!("{line} --json"));
    assert_eq!(json["fitted_to_labeled_rows"], true);
    assert!(json["interval"].is_null() && json["validation"].is_null());
    place.says(line);
    said!();
}

#[test]
fn the_same_input_gives_the_same_bytes_in_any_order() {
    let lines: Vec<&str> = PROBS.lines().collect();
    let reversed: String =
        std::iter::once(&lines[0]).chain(lines[1..].iter().rev()).map(|line| format!("{line}\n")).collect();
    let place = place().with("reversed.csv", reversed);
    let run = |name: &str| {
        place
            .ok(&format!("calib decide --actions costs.toml --probs {name} --label-column label --json"))
            .stdout
    };
    assert_eq!(run("probs.csv"), run("reversed.csv"));
}

/// A costs file that is refused.
#[track_caller]
fn costs_refused(costs: &str) {
    let files: [File; 1] = [("costs.toml", costs.into())];
    refused(&files, "calib decide --actions costs.toml cal.bin -o out");
}

#[test]
fn what_is_no_costs_file() {
    costs_refused("");
    costs_refused("cases = 5\n");
    let missing = COSTS.replacen("negative = 5\n", "", 1);
    costs_refused(&missing);
    let unknown = COSTS.replacen("negative = 5\n", "negative = 5\ncolor = 3\n", 1);
    costs_refused(&unknown);
    let single = COSTS.split("[[action]]").nth(1).unwrap();
    costs_refused(&format!("\n[[action]]{single}"));
    let twice = COSTS.replace("\"treat\"", "\"wait\"");
    costs_refused(&twice);
    let long = COSTS.replace("\"treat\"", "\"treat as soon as possible\"");
    costs_refused(&long);
    said!();
}

#[test]
fn what_is_no_cost() {
    let with = |cost: &str| COSTS.replacen("positive = 5", &format!("positive = {cost}"), 1);
    costs_refused(&with("nan"));
    costs_refused(&with("inf"));
    costs_refused(&with("-5"));
    costs_refused(&with("1e10"));
    costs_refused(&with("0.0000001"));
    costs_refused(&format!("cases = 0\n{COSTS}"));
    said!();
}

/// Before anything is read or fitted: the scores are not even there.
#[test]
fn fit_reads_the_costs_first() {
    let files: [File; 1] = [("costs.toml", COSTS.replace("positive", "positiv").into())];
    let place = files.iter().fold(place(), |place, (name, content)| place.with(name, content));
    for source in ["--scores none.csv", "--method temperature --logits none.npy --labels none.npy"] {
        let method = if source.starts_with("--scores") { "--method umd --bins 2" } else { "" };
        place.says(&format!("calib fit {method} {source} --actions costs.toml -o out.bin"));
    }
    let place = place.with("costs.toml", COSTS.replace("alarm = true", "alarm = true\nstart_up = 5"));
    place.says("calib fit --method umd --bins 2 --scores none.csv --actions costs.toml -o out.bin");
    said!();
}

#[test]
fn what_to_do_without_a_probability_must_be_clear() {
    let unclear = COSTS.replace("abstain = true", "").replace("alarm = true", "alarm = false");
    costs_refused(&unclear);
    costs_refused(&format!("uncalibrated = \"panic\"\n{COSTS}"));
    said!();
}

#[test]
fn intervals_that_overlap_or_leave_something_out() {
    let with = |wait: &str, ask: &str, treat: &str| {
        COSTS
            .replace("name = \"wait\"", &format!("name = \"wait\"\n{wait}"))
            .replace("name = \"ask\"", &format!("name = \"ask\"\n{ask}"))
            .replace("name = \"treat\"", &format!("name = \"treat\"\n{treat}"))
    };
    costs_refused(&with("up_to = 0.3", "above = 0.2\nup_to = 0.7", "above = 0.7"));
    costs_refused(&with("up_to = 0.2", "above = 0.3\nup_to = 0.7", "above = 0.7"));
    costs_refused(&with("up_to = 0.2", "above = 0.2\nup_to = 0.7", ""));
    costs_refused(&with("up_to = 0.2", "above = 0.2\nup_to = 0.7", "above = 0.7\nup_to = 1.5"));
    said!();
}

#[test]
fn usage() {
    let line = |args: &str| place().says(&format!("calib decide --actions costs.toml {args}"));
    for args in
        ["--scores probs.csv", "-o out.bin", "--label-column label", "--validation probs.csv", "--delta 10"]
    {
        line(args);
    }
    let files: [File; 1] = [("costs.toml", COSTS.into())];
    refused(&files, "calib decide --actions costs.toml top.bin --scores cal.csv -o out");
    said!();
}

#[test]
fn labels_of_one_class_show_how_wrong_the_probabilities_are() {
    let rows: String = (1..=8).map(|i| format!("0.{i},1\n")).collect();
    let place = place().with("one.csv", format!("prob,label\n{rows}"));
    let json = place.json("calib decide --actions costs.toml --probs one.csv --label-column label --json");
    // All are positive, the mean probability is 0.45, and none is above its outcome.
    assert!((json["validation"]["c_emp"].number() - 0.55).abs() < 1e-6, "{json}");
    // 0.1: ask, 5; from 0.2 on, whose nearest f32 is above it: treat, 1.
    assert_eq!(json["actual_cost"], (5.0 + 7.0) / 8.0);
    assert!(json["interval"]["deviation"]["lo"].number() >= 0.0, "{json}");
}

#[test]
fn equal_probabilities_are_decided_alike() {
    let place = place().with("equal.csv", format!("prob,label\n{}", "0.5,0\n0.5,1\n".repeat(4)));
    let json = place.json("calib decide --actions costs.toml --probs equal.csv --label-column label --json");
    assert_eq!((&json["expected_cost"], &json["actual_cost"]), (&3.5.into(), &3.5.into()));
    assert_eq!((&json["validation"]["c_emp"], &json["roc"]["auc"]), (&0.0.into(), &0.5.into()));
}

/// Where nothing is expected to be positive, or nothing negative, a rate of them is of nothing.
#[test]
fn certainties_have_no_roc_curve() {
    for certain in [0, 1] {
        let place = place().with("certain.csv", format!("prob\n{}", format!("{certain}\n").repeat(4)));
        let json = place.json("calib decide --actions costs.toml --probs certain.csv --json");
        assert_eq!(json["expected_cost"], f64::from(certain));
        assert!(json["roc"].is_null(), "{json}");
    }
}
