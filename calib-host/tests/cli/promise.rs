//! What an artefact promises: every assumption, in every place that tells of it.

use crate::data::{UMD_FIT, binary, binary_place, csv};
use crate::workplace::Workplace;

/// What a reader has to know, in words that stand in the full text.
const ASSUMED: [&str; 4] = [
    "independent: one per patient, or one per other independent unit",
    "fixed without looking at these labels",
    "same distribution as these, at the prevalence of the calibration sample",
    "Scores have a continuous distribution",
];
const LIMITS: [&str; 4] = [
    "the label as it was recorded, among patients like the sample's",
    "nor for a subgroup: a sex, a site or a scanner can be off by any amount",
    "In up to 1 of 10 calibrations it does not hold",
    "Every recalibration takes that chance anew",
];

fn texts(list: &serde_json::Value) -> Vec<String> {
    list.as_array().unwrap().iter().map(|text| text.as_str().unwrap().to_owned()).collect()
}

#[test]
fn the_assumptions_are_complete_wherever_the_promise_is() {
    let place = binary_place().with("test.csv", csv(&binary(300)));
    place.ok(UMD_FIT);
    let fitted = place.json(&format!("{UMD_FIT} --force --json"));
    let report = "calib report cal.bin --calibration cal.csv --test test.csv --bootstrap 20";
    let reported = place.json(&format!("{report} --json"));
    for told in [&fitted, &place.inspect("cal.bin"), &reported] {
        for (words, key) in [(ASSUMED, "assumptions"), (LIMITS, "limits")] {
            let all = texts(&told[key]).join(" ");
            for words in words {
                assert!(all.contains(words), "{words}\n{all}");
            }
        }
    }
    let statement = reported["guarantee"].as_str().unwrap();
    assert!(fitted["promise"].as_str().unwrap().starts_with(statement));
    place.ok(&format!("{report} -o report.html"));
    place.ok("calib export cal.bin --format c -o cal.h");
    place.ok("calib export cal.bin --format rust -o cal.rs");
    for file in ["report.html", "cal.h", "cal.rs"] {
        let text = String::from_utf8(place.bytes(file)).unwrap().replace("// ", " ").replace("&#x27;", "'");
        let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
        for words in ASSUMED.iter().chain(&LIMITS) {
            assert!(text.contains(words), "{file}: {words}\n{text}");
        }
    }
    let words = place.ok("calib inspect cal.bin").stdout;
    for assumed in ASSUMED.iter().chain(&LIMITS) {
        assert!(words.contains(assumed), "{assumed}\n{words}");
    }
}

/// On the terminal they are a list of short lines.
#[test]
fn the_terminal_has_a_short_list() {
    let run = binary_place().ok(UMD_FIT);
    let lines: Vec<&str> = run.stderr.lines().collect();
    assert!(
        lines[1].starts_with("With probability 90 % over the draw of the 400 calibration points"),
        "{lines:?}"
    );
    assert_eq!(lines[2], "This holds if:");
    let list: Vec<_> = lines.iter().filter(|line| line.starts_with("- ")).collect();
    assert!((7..=9).contains(&list.len()), "{lines:?}");
    assert!(list.iter().all(|line| line.len() < 130 && !line.ends_with('.')), "{list:?}");
    assert!(list[0].contains("independent: one per patient"), "{list:?}");
    assert!(
        run.stderr.contains("\n- scores hardly ever repeat (of the calibration points none share one)\n")
    );
    assert!(run.stderr.contains(
        "\n- in 1 of 10 calibrations it does not hold, and each recalibration takes that chance anew\n"
    ));
}

#[test]
fn ties_are_measured() {
    let mut rows = binary(400);
    // 0.10125 three times, apart from any boundary.
    let lowest = rows.iter().map(|row| row.0).fold(1.0, f32::min);
    rows.push((lowest, 0));
    rows.push((lowest, 1));
    let place = Workplace::new().with("cal.csv", csv(&rows));
    let run = place.ok(UMD_FIT);
    let line =
        "\n- scores rarely repeat (0.75 % of the calibration points share one, 0.75 % the most frequent)\n";
    assert!(run.stderr.contains(line), "{}", run.stderr);
    let sample = &place.inspect("cal.bin")["sample"];
    let share = 3.0f64 / 402.0;
    assert!((sample["tied"].as_f64().unwrap() - share).abs() < 1e-7, "{sample}");
    assert!((sample["heaviest"].as_f64().unwrap() - share).abs() < 1e-7, "{sample}");
}

/// One of ten candidates is fitted at a tenth of alpha, and the promise is for all of alpha.
#[test]
fn a_choice_among_candidates_costs_epsilon() {
    let place = binary_place();
    let alone = place.json(&format!("{UMD_FIT} --json"));
    let among = place.json(&format!("{UMD_FIT} --force --candidates 10 --json"));
    let epsilon = |fit: &serde_json::Value| fit["guarantee"]["epsilon"].as_f64().unwrap();
    let factor = (1.0 + 10f64.ln() / 200f64.ln()).sqrt();
    assert!((epsilon(&among) / epsilon(&alone) - factor).abs() < 1e-6, "{alone} {among}");
    assert_eq!(among["guarantee"]["alpha"], 0.1);
    let promise = among["promise"].as_str().unwrap();
    assert!(promise.contains("With probability 90 %"), "{promise}");
    assert!(promise.contains(", at alpha / 10 for each of 10 candidates)."), "{promise}");
    assert!(texts(&among["assumptions"]).join(" ").contains("no more than 10 candidates"), "{among}");
    let inspected = place.inspect("cal.bin");
    assert_eq!(inspected["provenance"]["parameters"], "alpha=0.1 candidates=10 bins=10 boundary=ceil");
    // The exact intervals are for a tenth of alpha, too.
    let width = |fit: &serde_json::Value| {
        let interval = &fit["tables"][0]["intervals"][4];
        interval["hi"].as_f64().unwrap() - interval["lo"].as_f64().unwrap()
    };
    assert!(width(&among) > width(&alone), "{} {}", width(&among), width(&alone));
    // How many points an epsilon of 0.1 takes depends on it as well.
    assert!(promise.contains("10 bins need 3820 points"), "{promise}");
}

#[test]
fn what_was_spent_before_is_told() {
    let place = binary_place();
    let fit = place.json(&format!("{UMD_FIT} --alpha-spent 0.2 --json"));
    let limits = texts(&fit["limits"]).join(" ");
    assert!(
        limits.contains("took a probability of 0.2") && limits.contains("a probability of up to 0.3."),
        "{limits}"
    );
    assert!(!limits.contains("takes that chance anew"), "{limits}");
    let refused = place.run(&format!("{UMD_FIT} --force --alpha-spent 1"));
    assert_eq!(refused.code, 2, "{}", refused.stderr);
}

/// Epsilon and the intervals hold at alpha each.
#[test]
fn epsilon_and_intervals_share_no_alpha() {
    let fit = binary_place().json(&format!("{UMD_FIT} --intervals --json"));
    let limits = texts(&fit["limits"]).join(" ");
    assert!(
        limits
            .contains("hold with probability 90 % by themselves, as epsilon does: both together with 80 %."),
        "{limits}"
    );
}

#[test]
fn exactly_0_and_1_from_few_points_are_told() {
    let place = Workplace::new().with("cal.csv", "score,label\n0.1,0\n0.2,0\n0.5,1\n0.5,0\n0.9,1\n");
    let run = place.ok("calib fit --method isotonic --scores cal.csv -o cal.bin");
    let told = "2 bins say exactly 0 or 1, from as few as 1 point: no proof that the other never happens";
    assert!(run.stderr.contains(&format!("\n- {told}\n")), "{}", run.stderr);
    let inspected = place.inspect("cal.bin");
    assert!(texts(&inspected["limits"]).contains(&format!("{told}.")), "{inspected}");
    assert_eq!(
        (&inspected["sample"]["pure_bins"], &inspected["sample"]["fewest_in_pure"]),
        (&2.into(), &1.into())
    );
}

#[test]
fn a_lot_is_told_to_answer_differently() {
    let line = UMD_FIT.replace("--method umd", "--method umd-randomized");
    let fit = binary_place().json(&format!("{line} --json"));
    let limits = texts(&fit["limits"]).join(" ");
    assert!(limits.contains("Two patients with the same score may get different answers"), "{limits}");
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
    assert!(place.ok("calib inspect cal.bin").stdout.contains(", scores 0.00125 to 0.99875\n"));
}
