//! `calib fleet`: what the counters of many devices say together.

use serde_json::{Value, json};

use crate::data::{Json, binary, csv};
use crate::transcript::quote_page;
use crate::workplace::Workplace;

fn place() -> Workplace {
    let place = Workplace::new().with("data.csv", csv(&binary(1999)));
    place.ok("calib fit data.csv --method umd --bins 4 --monitor -o cal.bin");
    place.ok("calib fit data.csv --method umd --bins 4 -o plain.bin");
    place
}

/// The counters of a device, in JSON.
fn counters(
    place: &Workplace,
    device: &str,
    predictions: [u64; 4],
    outcomes: Option<[[u64; 4]; 2]>,
) -> Value {
    let mut table = json!({"predictions": predictions});
    if let Some([labeled, positives]) = outcomes {
        table["labeled"] = json!(labeled);
        table["positives"] = json!(positives);
    }
    let calibrator = &place.inspect("cal.bin")["identity"];
    json!({"calib_counters": 1, "device": device, "calibrator": calibrator, "tables": [table]})
}

fn write(place: &Workplace, name: &str, content: &str) {
    std::fs::write(place.path().join(name), content).unwrap();
}

#[test]
fn together_they_see_what_none_of_them_does() {
    let place = place();
    // Four in five scores are in the upper half.
    let devices =
        (0..20).map(|at| counters(&place, &format!("ward {at}"), [0, 1, 2, 2], None).to_string() + "\n");
    write(&place, "wards.json", &devices.collect::<String>());
    place.says("calib fleet cal.bin wards.json");
    // That nothing is known is no sign that all is well.
    // 20 / 20 of the scores.
    place.says("calib fleet cal.bin wards.json --fail-on-warning");
    let json = place.json("calib fleet cal.bin wards.json --json");
    assert_eq!((&json["devices"], &json["tables"][0]["predictions"]), (&json!(20), &json!([0, 20, 40, 40])));
    assert_eq!(
        (&json["tables"][0]["shift"]["standing"], json["warnings"].list().len()),
        (&json!("alert"), 1)
    );
    let standings = json["tables"][0]["devices"].list();
    assert!(standings.iter().all(|device| device["shift"]["standing"] != "alert"), "{standings:?}");
    said!();
}

/// As editors and PowerShell write it.
#[test]
fn counters_may_begin_with_a_byte_order_mark() {
    let place = place();
    let device = counters(&place, "ward 1", [0, 1, 2, 2], None).to_string();
    write(&place, "marked.json", &format!("\u{feff}{device}\n"));
    write(&place, "plain.json", &format!("{device}\n"));
    let of = |file: &str| place.json(&format!("calib fleet cal.bin {file} --json"))["tables"].clone();
    assert_eq!(of("marked.json"), of("plain.json"));
}

/// Where a counter stops nothing is noticed any more: that is a warning, which says what to do.
#[test]
fn a_full_counter_is_told() {
    let place = place();
    // Where the counters of 15 bins stop.
    let full = u64::from(u32::MAX / 15);
    let quarter = |count: u64| [count; 4];
    write(&place, "full.json", &counters(&place, "ward 3", quarter(full), None).to_string());
    write(&place, "nearly.json", &counters(&place, "ward 4", quarter(full - 1), None).to_string());
    place.says("calib fleet cal.bin full.json nearly.json --html page.html");
    let page = place.text("page.html");
    quote_page(&page);
    place.says("calib fleet cal.bin full.json --fail-on-warning");
    let json = place.json("calib fleet cal.bin full.json nearly.json --json");
    let is_full = |at: usize| json["tables"][0]["devices"][at]["full"].as_bool().unwrap();
    assert_eq!([is_full(0), is_full(1)], [true, false]);
    place.says("calib fleet cal.bin nearly.json");
    said!();
}

/// On what the evidence rests is said beside it.
#[test]
fn the_conditions_of_the_evidence_are_told() {
    let place = place();
    write(&place, "ward.json", &counters(&place, "ward 3", [9; 4], None).to_string());
    place.says("calib fleet cal.bin ward.json");
    said!();
}

#[test]
fn outcomes_are_held_against_the_guarantee() {
    let place = place();
    let guaranteed: Vec<f64> =
        place.inspect("cal.bin")["tables"][0]["values"].list().iter().map(|v| v.number()).collect();
    // As frequent as the calibrator says, and in the uppermost bin half as frequent.
    let kept: Vec<u64> = guaranteed.iter().map(|prob| (prob * 200.0).round() as u64).collect();
    let kept: [u64; 4] = kept.try_into().unwrap();
    let mut broken = kept;
    broken[3] /= 2;
    for (name, positives, standing) in [("kept.json", kept, "quiet"), ("broken.json", broken, "alert")] {
        let counters = counters(&place, "a", [200; 4], Some([[200; 4], positives]));
        write(&place, name, &serde_json::to_string_pretty(&counters).unwrap());
        let json = place.json(&format!("calib fleet cal.bin {name} --json"));
        let table = &json["tables"][0];
        assert_eq!(
            (&table["guarantee"]["standing"], &table["shift"]["standing"]),
            (&json!(standing), &json!("quiet")),
            "{json}"
        );
    }
    place.says("calib fleet cal.bin broken.json --csv bins.csv");
    let (header, rows) = place.table("bins.csv");
    assert_eq!(
        header.join(","),
        "table,bin,prob,guaranteed_lo,guaranteed_hi,labeled,positives,share,share_lo,share_hi"
    );
    assert_eq!((rows.len(), &rows[3][5], &rows[3][6]), (4, &"200".to_owned(), &broken[3].to_string()));
    let number = |cell: &str| cell.parse::<f64>().unwrap();
    assert!(number(&rows[3][8]) < number(&rows[3][7]) && number(&rows[3][7]) < number(&rows[3][9]));
    assert!(number(&rows[3][9]) < number(&rows[3][3]), "{rows:?}");
    place.says("calib fleet cal.bin broken.json --csv bins.csv");
    place.ok("calib fleet cal.bin broken.json --csv bins.csv --force");
    said!();
}

#[test]
fn a_page_says_what_the_counters_do() {
    let place = place();
    let devices: Vec<Value> = (0..250)
        .map(|at| counters(&place, &format!("ward <{at}>"), [1, 1, 2, 4], Some([[0, 0, 1, 1], [0, 0, 1, 0]])))
        .collect();
    write(&place, "wards.json", &devices.iter().map(|device| format!("{device}\n")).collect::<String>());
    place.says("calib fleet cal.bin wards.json --html page.html");
    let page = place.text("page.html");
    let identity = place.inspect("cal.bin")["identity"].text().to_owned();
    for part in [
        "<th scope=\"row\">ward &lt;0&gt;</th>",
        "50 more are not listed",
        // Scores of calibration and of the fleet.
        "<td class=\"number\">25.00%</td><td class=\"number\">1000</td><td class=\"number\">50.00%</td>",
        "calib fleet cal.bin wards.json --html page.html",
        &identity,
        "prefers-color-scheme:dark",
    ] {
        assert!(page.contains(part), "{part}\n{page}");
    }
    quote_page(&page);
    assert!(!page.contains("ward <") && !page.contains("{{") && !page.contains("http://ward"));
    // The same bytes from the same command, and none over another file.
    place.says("calib fleet cal.bin wards.json --html page.html");
    place.ok("calib fleet cal.bin wards.json --html page.html --force");
    let quiet: Vec<Value> = (0..3).map(|at| counters(&place, &at.to_string(), [5; 4], None)).collect();
    write(&place, "quiet.json", &quiet.iter().map(Value::to_string).collect::<String>());
    place.ok("calib fleet cal.bin quiet.json --html quiet.html --csv quiet.csv");
    let page = place.text("quiet.html");
    quote_page(&page);
    place.ok("calib fleet cal.bin --new none -o none.json");
    place.ok("calib fleet cal.bin none.json --html none.html");
    let page = place.text("none.html");
    quote_page(&page);
    for line in ["--html -", "--html quiet.json --force", "--html cal.bin --force"] {
        let run = place.says(&format!("calib fleet cal.bin quiet.json {line}"));
        assert!(matches!(run.code, 2 | 4), "{line}: {run:?}");
    }
    place.says("calib fleet cal.bin quiet.json --html quiet.csv --force");
    place.says("calib fleet cal.bin --new a -o a.json --html a.html");
    said!();
}

/// The page's heading says no more than the odds do, and of scores alone it says that.
#[test]
fn a_page_is_headed_by_what_the_evidence_amounts_to() {
    let place = place();
    let title = |counters: &Value| {
        write(&place, "one.json", &counters.to_string());
        let json = place.json("calib fleet cal.bin one.json --json");
        place.ok("calib fleet cal.bin one.json --html one.html --force");
        let page = place.text("one.html");
        let table = &json["tables"][0];
        let standing = |of: &str| table[of]["standing"].as_str().map(str::to_owned);
        (standing("shift").unwrap(), standing("guarantee"), page)
    };
    let mut seen = std::collections::BTreeSet::new();
    for highest in 0..60 {
        let (standing, outcomes, page) = title(&counters(&place, "ward 3", [3, 3, 3, highest], None));
        assert_ne!(outcomes.as_deref(), Some("alert"));
        let expected = match standing.as_str() {
            "quiet" | "weak evidence" => "Quiet: little or no evidence against the calibrator",
            "evidence" => "There is evidence against the calibrator, but not enough for an alert",
            _ => {
                "Alert: the scores are not like the reference scores. Only outcomes show whether the probabilities are still calibrated"
            }
        };
        assert!(page.contains(expected), "{highest} {standing}: {page}");
        assert!(!page.contains("do not rely on the calibrator"), "{highest}");
        assert_eq!(page.contains("There is evidence against"), standing == "evidence", "{highest}");
        assert_eq!(page.contains("There is weak evidence that"), standing == "weak evidence", "{highest}");
        seen.insert(standing);
    }
    assert_eq!(
        seen.iter().map(String::as_str).collect::<Vec<_>>(),
        ["alert", "evidence", "quiet", "weak evidence"]
    );
    // An alarm of outcomes is about the probabilities.
    let (_, outcomes, page) =
        title(&counters(&place, "ward 3", [200; 4], Some([[200; 4], [200, 200, 0, 0]])));
    assert_eq!(outcomes.as_deref(), Some("alert"));
    assert!(
        page.contains("Alert: do not rely on the calibrator") && !page.contains("Only outcomes show"),
        "{page}"
    );
}

#[test]
fn a_device_that_has_counted_nothing_shows_the_form() {
    let place = place();
    place.ok("calib fleet cal.bin --new ward-3 -o ward-3.json");
    let new: Value = serde_json::from_slice(&place.bytes("ward-3.json")).unwrap();
    assert_eq!(new, counters(&place, "ward-3", [0; 4], Some([[0; 4]; 2])));
    place.says("calib fleet cal.bin ward-3.json");
    place.says("calib fleet cal.bin --new ward-3 -o ward-3.json");
    for line in ["--new ward-3", "ward-3.json --new ward-3 -o x.json", "ward-3.json -o x.json", ""] {
        place.says(&format!("calib fleet cal.bin {line}"));
    }
    said!();
}

#[test]
fn what_is_no_counters_of_the_calibrator_is_refused() {
    let place = place();
    let good = || counters(&place, "a", [1; 4], Some([[1; 4], [0; 4]]));
    let with = |change: &dyn Fn(&mut Value)| {
        let mut value = good();
        change(&mut value);
        value.to_string()
    };
    write(&place, "good.json", &good().to_string());
    for content in [
        String::new(),
        " \n".into(),
        "score,label\n0.5,1\n".into(),
        good().to_string() + "\n{\"device\": 3}",
        with(&|c| c["patient"] = json!("x")),
        with(&|c| c["tables"][0]["predictions"] = json!([1, -1, 1, 1])),
        with(&|c| c["tables"][0]["predictions"] = json!([1, 1, 1])),
        with(&|c| c["tables"][0]["positives"] = json!([1, 2, 0, 0])),
        with(&|c| c["calib_counters"] = json!(2)),
        with(&|c| c["calibrator"] = json!("0011223344556677")),
    ] {
        write(&place, "bad.json", &content);
        place.says("calib fleet cal.bin bad.json");
    }
    place.says("calib fleet cal.bin good.json good.json");
    for line in ["plain.bin good.json", "plain.bin --new a -o a.json"] {
        place.says(&format!("calib fleet {line}"));
    }
    place.says("calib fleet cal.bin missing.json");
    place.says("calib fleet cal.bin good.json --csv good.json --force");
    assert_eq!(place.bytes("good.json"), good().to_string().as_bytes());
    said!();
}

/// A log of a device whose scores are all in the uppermost bin: its alarm comes with the ninth.
fn log(place: &Workplace) -> Vec<Value> {
    let calibrator = &place.inspect("cal.bin")["identity"];
    vec![
        json!({"begin": {"calib_log": 1, "device": "ward 3", "calibrator": calibrator}}),
        json!({"predictions": {"bins": vec![3; 8], "time": "in the morning"}}),
        json!({"answer": {"monitor": "shift", "alarm_at": null}}),
        json!({"predictions": {"bins": vec![3; 12]}}),
        json!({"outcomes": {"bins": [3, 3, 3], "labels": [1, 0, 1]}}),
        json!({"answer": {"monitor": "shift", "alarm_at": 9, "time": "at noon"}}),
        json!({"answer": {"monitor": "change", "alarm_at": 12}}),
        json!({"answer": {"monitor": "guarantee", "alarm_at": null}}),
        json!({"counters": {"predictions": [0, 0, 0, 20], "labeled": [0, 0, 0, 3], "positives": [0, 0, 0, 2]}}),
    ]
}

fn lines(log: &[Value]) -> String {
    log.iter().map(|line| format!("{line}\n")).collect()
}

#[test]
fn every_answer_of_a_device_is_worked_out_again() {
    let place = place();
    let good = log(&place);
    write(&place, "good.jsonl", &(lines(&good) + "\n"));
    place.says("calib fleet cal.bin --verify good.jsonl");
    let json = place.json("calib fleet cal.bin --verify good.jsonl --json");
    assert_eq!(json["verified"][0]["tables"][0]["shift_alarm_at"], 9);
    assert_eq!((&json["verified"][0]["looks_every"], &json["warnings"]), (&json!(1), &json!([])));

    let with = |at: usize, line: Value| {
        let mut log = good.clone();
        log[at] = line;
        lines(&log)
    };
    let shift = |alarm_at: Value| json!({"answer": {"monitor": "shift", "alarm_at": alarm_at}});
    for content in [
        with(5, shift(json!(null))),
        with(5, shift(json!(8))),
        with(2, shift(json!(9))),
        with(6, json!({"answer": {"monitor": "change", "alarm_at": 3}})),
        with(8, json!({"counters": {"predictions": [0, 0, 1, 19]}})),
        with(1, json!({"predictions": {"bins": [4]}})),
        with(1, json!({"prediction": {"bins": [3]}})),
        with(1, json!({"predictions": {"bins": [3], "patient": 7}})),
        with(0, json!({"begin": {"calib_log": 1, "device": "a", "calibrator": "0011223344556677"}})),
        with(
            0,
            json!({"begin": {"calib_log": 1, "device": " ", "calibrator": good[0]["begin"]["calibrator"]}}),
        ),
        with(2, json!({"answer": {"monitor": "shift"}})),
        lines(&good[1..]),
        String::new(),
        lines(&good) + "{\"answer\"",
    ] {
        write(&place, "bad.jsonl", &content);
        place.says("calib fleet cal.bin --verify bad.jsonl");
    }
    // Whoever writes the log says how often a device looks, and whether anybody asked it.
    let seldom = json!({"begin": {
        "calib_log": 1, "device": "d", "calibrator": good[0]["begin"]["calibrator"], "looks_every": 1_000_000_000,
    }});
    let unasked =
        [seldom, json!({"predictions": {"bins": vec![3; 3000]}}), good[2].clone(), json!({"reset": {}})];
    write(&place, "seldom.jsonl", &lines(&unasked));
    place.says("calib fleet cal.bin --verify seldom.jsonl");
    let log = [good[0].clone(), good[3].clone(), json!({"reset": {}}), good[3].clone()];
    write(&place, "unasked.jsonl", &lines(&log));
    let json = place.json("calib fleet cal.bin --verify unasked.jsonl --json");
    assert_eq!(json["warnings"].list().len(), 2, "{json}");
    place.says("calib fleet cal.bin --verify unasked.jsonl");
    place.says("calib fleet plain.bin --verify good.jsonl");
    place.says("calib fleet cal.bin good.jsonl --verify good.jsonl");
    place.says("calib fleet cal.bin --verify none.jsonl");
    said!();
}
