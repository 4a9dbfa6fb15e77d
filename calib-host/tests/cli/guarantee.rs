//! What an artifact guarantees: every assumption, in every place that tells of it.

use crate::data::{Json, UMD_FIT, binary, binary_place, csv};
use crate::transcript::quote;
use crate::workplace::Workplace;

fn texts(list: &serde_json::Value) -> Vec<String> {
    list.list().iter().map(|text| text.text().to_owned()).collect()
}

#[test]
fn the_assumptions_are_complete_wherever_the_guarantee_is() {
    let place = binary_place().with("test.csv", csv(&binary(300)));
    place.ok(UMD_FIT);
    let fitted = place.json(&format!("{UMD_FIT} --force --json"));
    let report = "calib report cal.bin --calibration cal.csv --test test.csv --bootstrap 20";
    let reported = place.json(&format!("{report} --json"));
    let parts = ["assumptions", "limits"];
    for told in [&place.inspect("cal.bin"), &reported] {
        assert_eq!(parts.map(|part| &told[part]), parts.map(|part| &fitted[part]));
    }
    let statement = reported["guarantee"].text();
    assert!(fitted["statement"].text().starts_with(statement));
    place.ok(&format!("{report} -o report.html"));
    place.ok("calib export cal.bin --format c -o cal.h");
    place.ok("calib export cal.bin --format rust -o cal.rs");
    for file in ["report.html", "cal.h", "cal.rs"] {
        let text = place.text(file).replace("// ", " ").replace("&#x27;", "'").replace("&#x2f;", "/");
        let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
        for words in parts.iter().flat_map(|part| texts(&fitted[part])) {
            assert!(text.contains(&words), "{file}: {words}\n{text}");
        }
    }
    place.says("calib inspect cal.bin");
    said!();
}

/// On the terminal they are short, a line of each kind.
#[test]
fn the_terminal_has_a_short_list() {
    let run = binary_place().says(UMD_FIT);
    let words = run.words();
    let conditions = words.split("Requires ").nth(1).unwrap().split(" Events ").next().unwrap();
    let list: Vec<_> = conditions.split(" Limits ").flat_map(|list| list.split("; ")).collect();
    assert!((5..=9).contains(&list.len()) && run.stderr.lines().count() <= 12, "{list:?}");
    assert!(list.iter().all(|condition| condition.len() < 130), "{list:?}");
    said!();
}

#[test]
fn ties_are_measured() {
    let mut rows = binary(400);
    // 0.10125 three times, apart from any boundary.
    let lowest = rows.iter().map(|row| row.0).fold(1.0, f32::min);
    rows.push((lowest, 0));
    rows.push((lowest, 1));
    let place = Workplace::new().with("cal.csv", csv(&rows));
    place.says(UMD_FIT);
    let sample = &place.inspect("cal.bin")["sample"];
    let share = 3.0f64 / 402.0;
    assert!((sample["tied"].number() - share).abs() < 1e-7, "{sample}");
    assert!((sample["heaviest"].number() - share).abs() < 1e-7, "{sample}");
    said!();
}

/// One of ten candidates is fitted at a tenth of alpha, and the guarantee is for all of alpha.
#[test]
fn a_choice_among_candidates_costs_epsilon() {
    let place = binary_place();
    let alone = place.json(&format!("{UMD_FIT} --json"));
    let among = place.json(&format!("{UMD_FIT} --force --candidates 10 --json"));
    let epsilon = |fit: &serde_json::Value| fit["guarantee"]["epsilon"].number();
    let tenth = place.json(&format!("{} --force --json", UMD_FIT.replace("--alpha 0.1", "--alpha 0.01")));
    assert!((epsilon(&among) / epsilon(&tenth) - 1.0).abs() < 1e-6, "{tenth} {among}");
    assert!(epsilon(&among) > epsilon(&alone), "{alone} {among}");
    let hoeffding = |options: &str| {
        epsilon(&place.json(&format!("{UMD_FIT} --force --bound hoeffding {options} --json")))
    };
    let factor = (1.0 + 10f64.ln() / 200f64.ln()).sqrt();
    assert!((hoeffding("--candidates 10") / hoeffding("") - factor).abs() < 1e-6);
    place.ok(&format!("{UMD_FIT} --force --candidates 10"));
    assert_eq!(among["guarantee"]["alpha"], 0.1);
    // How many points an epsilon of 0.1 takes depends on it as well.
    quote(&among["statement"]);
    quote(&among["assumptions"]);
    let inspected = place.inspect("cal.bin");
    assert_eq!(inspected["provenance"]["parameters"], "alpha=0.1 candidates=10 bins=10 boundary=ceil");
    // The exact intervals are for a tenth of alpha, too.
    let width = |fit: &serde_json::Value| {
        let interval = &fit["tables"][0]["intervals"][4];
        interval["hi"].number() - interval["lo"].number()
    };
    assert!(width(&among) > width(&alone), "{} {}", width(&among), width(&alone));
    said!();
}

#[test]
fn what_was_spent_before_is_told() {
    let place = binary_place();
    quote(&place.says(&format!("{UMD_FIT} --alpha-spent 0.2 --json")).json()["limits"]);
    place.says(&format!("{UMD_FIT} --force --alpha-spent 1"));
    said!();
}

/// Epsilon and the intervals hold at alpha each.
#[test]
fn epsilon_and_intervals_share_no_alpha() {
    quote(&binary_place().says(&format!("{UMD_FIT} --json")).json()["limits"]);
    said!();
}

#[test]
fn exactly_0_and_1_from_few_points_are_told() {
    let place = Workplace::new().with("cal.csv", "score,label\n0.1,0\n0.2,0\n0.5,1\n0.5,0\n0.9,1\n");
    place.says("calib fit --method isotonic --scores cal.csv -o cal.bin");
    let inspected = place.inspect("cal.bin");
    quote(&inspected["limits"]);
    assert_eq!(
        (&inspected["sample"]["pure_bins"], &inspected["sample"]["fewest_in_pure"]),
        (&2.into(), &1.into())
    );
    said!();
}

#[test]
fn a_lot_is_told_to_answer_differently() {
    let line = UMD_FIT.replace("--method umd", "--method umd-randomized");
    quote(&binary_place().says(&format!("{line} --json")).json()["limits"]);
    said!();
}

/// Scores below and above all calibration scores are marked by `apply`, and `inspect` says where they begin.
#[test]
fn scores_out_of_range_are_marked() {
    let place =
        binary_place().with("new.csv", "score,label\n0.001,0\n0.00125,0\n0.5,1\n0.99875,1\n0.999,1\n");
    place.ok(UMD_FIT);
    place.ok("calib apply cal.bin --scores new.csv -o out.csv");
    let (header, rows) = place.table("out.csv");
    let at = header.iter().position(|name| name == "flags").unwrap();
    let flags: Vec<&str> = rows.iter().map(|row| row[at].as_str()).collect();
    assert_eq!(flags, ["out-of-range", "", "", "", "out-of-range"]);
    assert!(rows.iter().all(|row| !row[at - 3].is_empty()), "they have a probability all the same: {rows:?}");
    let inspected = place.inspect("cal.bin");
    assert_eq!(inspected["tables"][0]["score_range"], serde_json::json!([0.00125, 0.99875]));
    place.says("calib inspect cal.bin");
    said!();
}
