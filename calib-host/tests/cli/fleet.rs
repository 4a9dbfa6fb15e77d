//! `calib fleet`: what the counters of many devices say together.

use serde_json::{Value, json};

use crate::data::{binary, csv};
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
    if let Some([labelled, positives]) = outcomes {
        table["labelled"] = json!(labelled);
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
    let run = place.ok("calib fleet cal.bin wards.json");
    assert!(run.stdout.starts_with("20 devices with the calibrator "), "{}", run.stdout);
    assert!(
        run.stdout.contains("\n100 predictions, 0 with a known outcome\n  scores      alarm 1 : "),
        "{}",
        run.stdout
    );
    // That nothing is known is no sign that all is well.
    assert!(run.stdout.contains("\n  outcomes    nothing to judge: no outcome is known\n"), "{}", run.stdout);
    // 20 / 20 of the scores.
    let alone =
        "\n  0 of 20 devices have an alarm of their own; with nothing wrong, at most 1 are expected to\n";
    assert!(run.stdout.contains(alone), "{}", run.stdout);
    assert!(
        run.stderr.starts_with("warning: the scores of the fleet do not come from where"),
        "{}",
        run.stderr
    );
    assert_eq!(place.run("calib fleet cal.bin wards.json --fail-on-warning").code, 6);
    let json = place.json("calib fleet cal.bin wards.json --json");
    assert_eq!((&json["devices"], &json["tables"][0]["predictions"]), (&json!(20), &json!([0, 20, 40, 40])));
    assert_eq!(
        (&json["tables"][0]["shift"]["standing"], json["warnings"].as_array().unwrap().len()),
        (&json!("alarm"), 1)
    );
    let standings = json["tables"][0]["devices"].as_array().unwrap();
    assert!(standings.iter().all(|device| device["shift"]["standing"] != "alarm"), "{standings:?}");
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
    let run = place.ok("calib fleet cal.bin full.json nearly.json --html page.html");
    let told = "warning: a counter is full in ward 3: what came later is in no count, so that its evidence stands still; keep these counters under \
                a name of their own, and set the device back with `calib label --reset`\n";
    assert!(run.stderr.contains(told), "{}", run.stderr);
    let page = std::fs::read_to_string(place.path().join("page.html")).unwrap();
    assert!(page.contains("A counter is full in 1 of 2 devices"), "{page}");
    assert_eq!(place.run("calib fleet cal.bin full.json --fail-on-warning").code, 6);
    let json = place.json("calib fleet cal.bin full.json nearly.json --json");
    let is_full = |at: usize| json["tables"][0]["devices"][at]["full"].as_bool().unwrap();
    assert_eq!([is_full(0), is_full(1)], [true, false]);
    let nearly = place.ok("calib fleet cal.bin nearly.json").stderr;
    assert!(!nearly.contains("full"), "{nearly}");
}

/// On what the evidence rests is said beside it.
#[test]
fn the_conditions_of_the_evidence_are_told() {
    let place = place();
    write(&place, "ward.json", &counters(&place, "ward 3", [9; 4], None).to_string());
    let said = place.ok("calib fleet cal.bin ward.json").stdout;
    let last = said.lines().last().unwrap();
    for words in [
        "This holds if each prediction is an independent draw from the population of the reference scores (one a patient)",
        "depends on neither the label nor what predicts it within a bin",
        "which devices are added up, and when, depends on nothing that they counted",
        "about scores in 1 of 20 fleets, and about outcomes in 1 of 100 fleets, or fewer",
    ] {
        assert!(last.contains(words), "{words}: {said}");
    }
}

#[test]
fn outcomes_are_held_against_the_promise() {
    let place = place();
    let promised: Vec<f64> = place.inspect("cal.bin")["tables"][0]["values"]
        .as_array()
        .unwrap()
        .iter()
        .map(|v| v.as_f64().unwrap())
        .collect();
    // As frequent as the calibrator says, and in the uppermost bin half as frequent.
    let kept: Vec<u64> = promised.iter().map(|prob| (prob * 200.0).round() as u64).collect();
    let kept: [u64; 4] = kept.try_into().unwrap();
    let mut broken = kept;
    broken[3] /= 2;
    for (name, positives, standing) in [("kept.json", kept, "quiet"), ("broken.json", broken, "alarm")] {
        let counters = counters(&place, "a", [200; 4], Some([[200; 4], positives]));
        write(&place, name, &serde_json::to_string_pretty(&counters).unwrap());
        let json = place.json(&format!("calib fleet cal.bin {name} --json"));
        let table = &json["tables"][0];
        assert_eq!(
            (&table["promise"]["standing"], &table["shift"]["standing"]),
            (&json!(standing), &json!("quiet")),
            "{json}"
        );
    }
    let run = place.ok("calib fleet cal.bin broken.json --csv bins.csv");
    assert!(
        run.stderr.contains("warning: outcomes are not as frequent as was promised: evidence 1 : "),
        "{}",
        run.stderr
    );
    assert!(run.stderr.contains("\nwrote bins.csv, "), "{}", run.stderr);
    assert!(run.stdout.contains("1 of 1 devices have an alarm of their own"), "{}", run.stdout);
    assert!(run.stdout.contains("\n    a: scores quiet, outcomes alarm 1 : "), "{}", run.stdout);
    let (header, rows) = place.table("bins.csv");
    assert_eq!(
        header.join(","),
        "table,bin,prob,promised_lo,promised_hi,labelled,positives,share,share_lo,share_hi"
    );
    assert_eq!((rows.len(), &rows[3][5], &rows[3][6]), (4, &"200".to_owned(), &broken[3].to_string()));
    let number = |cell: &str| cell.parse::<f64>().unwrap();
    assert!(number(&rows[3][8]) < number(&rows[3][7]) && number(&rows[3][7]) < number(&rows[3][9]));
    assert!(number(&rows[3][9]) < number(&rows[3][3]), "{rows:?}");
    assert_eq!(place.run("calib fleet cal.bin broken.json --csv bins.csv").code, 4);
    place.ok("calib fleet cal.bin broken.json --csv bins.csv --force");
}

#[test]
fn a_page_says_what_the_counters_do() {
    let place = place();
    let devices: Vec<Value> = (0..250)
        .map(|at| counters(&place, &format!("ward <{at}>"), [1, 1, 2, 4], Some([[0, 0, 1, 1], [0, 0, 1, 0]])))
        .collect();
    write(&place, "wards.json", &devices.iter().map(|device| format!("{device}\n")).collect::<String>());
    let run = place.ok("calib fleet cal.bin wards.json --html page.html");
    assert!(run.stderr.contains("wrote page.html, "), "{}", run.stderr);
    let page = String::from_utf8(place.bytes("page.html")).unwrap();
    let identity = place.inspect("cal.bin")["identity"].as_str().unwrap().to_owned();
    for part in [
        "<h2 id=\"verdict\">Alarm: the calibrator is not to be relied on</h2>",
        "Scores: alarm. They do not come from where the reference scores did, by 2000 predictions (evidence 1 : 10^",
        "Outcomes: alarm. They are not as frequent as was promised, by 500 known ones (evidence 1 : ",
        "0 of 250 devices have an alarm of their own; with nothing wrong, at most 15 are expected to.",
        "<th scope=\"row\">ward &lt;0&gt;</th>",
        "50 more are not listed",
        // Scores of calibration and of the fleet.
        "<td class=\"number\">25.00 %</td><td class=\"number\">1000</td><td class=\"number\">50.00 %</td>",
        "calib fleet cal.bin wards.json --html page.html",
        &identity,
        "prefers-color-scheme:dark",
    ] {
        assert!(page.contains(part), "{part}\n{page}");
    }
    assert!(!page.contains("ward <") && !page.contains("{{") && !page.contains("http://ward"));
    // The same bytes from the same command, and none over another file.
    assert_eq!(place.run("calib fleet cal.bin wards.json --html page.html").code, 4);
    place.ok("calib fleet cal.bin wards.json --html page.html --force");
    let quiet: Vec<Value> = (0..3).map(|at| counters(&place, &at.to_string(), [5; 4], None)).collect();
    write(&place, "quiet.json", &quiet.iter().map(Value::to_string).collect::<String>());
    place.ok("calib fleet cal.bin quiet.json --html quiet.html --csv quiet.csv");
    let page = String::from_utf8(place.bytes("quiet.html")).unwrap();
    for part in [
        "Quiet: nothing speaks against the calibrator",
        "Outcomes: nothing to judge, as none is known: nothing tells whether the promise still holds.",
    ] {
        assert!(page.contains(part), "{part}\n{page}");
    }
    place.ok("calib fleet cal.bin --new none -o none.json");
    place.ok("calib fleet cal.bin none.json --html none.html");
    let page = String::from_utf8(place.bytes("none.html")).unwrap();
    assert!(page.contains("<h2 id=\"verdict\">Nothing to judge: no prediction is known</h2>"), "{page}");
    for (line, said) in [
        ("--html -", "give --html the name of a file"),
        ("--html quiet.json --force", "quiet.json"),
        ("--html cal.bin --force", "cal.bin"),
    ] {
        let run = place.run(&format!("calib fleet cal.bin quiet.json {line}"));
        assert!(matches!(run.code, 2 | 4) && run.stderr.contains(said), "{line}: {run:?}");
    }
    let run = place.run("calib fleet cal.bin quiet.json --html quiet.csv --force");
    assert!(run.code == 2 && run.stderr.contains("quiet.csv would hold a page in HTML"), "{run:?}");
    assert_eq!(place.run("calib fleet cal.bin --new a -o a.json --html a.html").code, 2);
}

#[test]
fn a_device_that_has_counted_nothing_shows_the_form() {
    let place = place();
    place.ok("calib fleet cal.bin --new ward-3 -o ward-3.json");
    let new: Value = serde_json::from_slice(&place.bytes("ward-3.json")).unwrap();
    assert_eq!(new, counters(&place, "ward-3", [0; 4], Some([[0; 4]; 2])));
    let run = place.ok("calib fleet cal.bin ward-3.json");
    assert!(
        run.stdout.starts_with("1 device with")
            && run.stdout.contains("scores      nothing to judge: no prediction is known\n"),
        "{}",
        run.stdout
    );
    assert_eq!(place.run("calib fleet cal.bin --new ward-3 -o ward-3.json").code, 4);
    for line in ["--new ward-3", "ward-3.json --new ward-3 -o x.json", "ward-3.json -o x.json", ""] {
        assert_eq!(place.run(&format!("calib fleet cal.bin {line}")).code, 2, "{line}");
    }
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
    for (content, code, words) in [
        (String::new(), 3, "bad.json: the file is empty"),
        (" \n".into(), 3, "bad.json: the file is empty"),
        ("score,label\n0.5,1\n".into(), 3, "bad.json, line 1: no counters of a device: expected value"),
        (good().to_string() + "\n{\"device\": 3}", 3, "bad.json, line 2: no counters of a device: "),
        (with(&|c| c["patient"] = json!("x")), 3, "unknown field `patient`"),
        (with(&|c| c["tables"][0]["predictions"] = json!([1, -1, 1, 1])), 3, "invalid value: integer `-1`"),
        (
            with(&|c| c["tables"][0]["predictions"] = json!([1, 1, 1])),
            3,
            "a, table 0: predictions has 3 bins, and the calibrator 4",
        ),
        (with(&|c| c["tables"][0]["positives"] = json!([1, 2, 0, 0])), 3, "bin 1: 2 positives of 1 outcomes"),
        (with(&|c| c["calib_counters"] = json!(2)), 3, "counters of version 2 are not known"),
        (
            with(&|c| c["calibrator"] = json!("0011223344556677")),
            1,
            "its counters are of the calibrator 0011223344556677",
        ),
    ] {
        write(&place, "bad.json", &content);
        let run = place.run("calib fleet cal.bin bad.json");
        assert!(run.code == code && run.stderr.contains(words), "{words}: {run:?}");
    }
    let run = place.run("calib fleet cal.bin good.json good.json");
    assert!(run.code == 3 && run.stderr.contains("the device a is there twice"), "{run:?}");
    for line in ["plain.bin good.json", "plain.bin --new a -o a.json"] {
        let run = place.run(&format!("calib fleet {line}"));
        assert!(run.code == 1 && run.stderr.contains("plain.bin: the calibrator has no monitors"), "{run:?}");
        assert!(run.stderr.contains("hint: fit it with --monitor"), "{run:?}");
    }
    assert_eq!(place.run("calib fleet cal.bin missing.json").code, 3);
    assert_eq!(place.run("calib fleet cal.bin good.json --csv good.json --force").code, 4);
    assert_eq!(place.bytes("good.json"), good().to_string().as_bytes());
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
        json!({"answer": {"monitor": "promise", "alarm_at": null}}),
        json!({"counters": {"predictions": [0, 0, 0, 20], "labelled": [0, 0, 0, 3], "positives": [0, 0, 0, 2]}}),
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
    let run = place.ok("calib fleet cal.bin --verify good.jsonl");
    assert_eq!(
        run.stdout,
        "ward 3: 20 predictions, 3 outcomes, 5 answers as they should be (looks_every 1)\n  shift       alarm with prediction 9, when \
         it was due\n  change      alarm with prediction 12\n  promise     no alarm was told, and none was due\n"
    );
    let json = place.json("calib fleet cal.bin --verify good.jsonl --json");
    assert_eq!(json["verified"][0]["tables"][0]["shift_alarm_at"], 9);
    assert_eq!((&json["verified"][0]["looks_every"], &json["warnings"]), (&json!(1), &json!([])));

    let with = |at: usize, line: Value| {
        let mut log = good.clone();
        log[at] = line;
        lines(&log)
    };
    let shift = |alarm_at: Value| json!({"answer": {"monitor": "shift", "alarm_at": alarm_at}});
    for (content, code, said) in [
        (
            with(5, shift(json!(null))),
            1,
            "bad.jsonl, line 6: shift is said to have no alarm, and with number 9 the evidence was 1 : ",
        ),
        (
            with(5, shift(json!(8))),
            1,
            "bad.jsonl, line 6: the alarm of shift with number 8 has no reason: the evidence was 1 : ",
        ),
        (
            with(2, shift(json!(9))),
            1,
            "line 3: the alarm of shift is said to be raised with number 9, and 8 were counted",
        ),
        (
            with(6, json!({"answer": {"monitor": "change", "alarm_at": 3}})),
            1,
            "line 7: change is said to have an alarm with number 3",
        ),
        (
            with(8, json!({"counters": {"predictions": [0, 0, 1, 19]}})),
            1,
            "line 9: predictions of bin 2: the device counted 1, and the log has 0",
        ),
        (with(1, json!({"predictions": {"bins": [4]}})), 3, "line 2: there is no bin 4: the monitor has 4"),
        (
            with(1, json!({"prediction": {"bins": [3]}})),
            3,
            "line 2: no line of a log: unknown variant `prediction`",
        ),
        (
            with(1, json!({"predictions": {"bins": [3], "patient": 7}})),
            3,
            "line 2: no line of a log: unknown field `patient`",
        ),
        (
            with(0, json!({"begin": {"calib_log": 1, "device": "a", "calibrator": "0011223344556677"}})),
            1,
            "line 1: a has the calibrator",
        ),
        (
            with(
                0,
                json!({"begin": {"calib_log": 1, "device": " ", "calibrator": good[0]["begin"]["calibrator"]}}),
            ),
            3,
            "line 1: the device has no name",
        ),
        (
            with(2, json!({"answer": {"monitor": "shift"}})),
            3,
            "line 3: no line of a log: missing field `alarm_at`",
        ),
        (lines(&good[1..]), 3, "line 1: no device has begun"),
        (String::new(), 3, "bad.jsonl: the file is empty"),
        (lines(&good) + "{\"answer\"", 3, "line 10: no line of a log: EOF"),
    ] {
        write(&place, "bad.jsonl", &content);
        let run = place.run("calib fleet cal.bin --verify bad.jsonl");
        assert!(run.code == code && run.stderr.contains(said) && run.stdout.is_empty(), "{said}: {run:?}");
    }
    // Whoever writes the log says how often a device looks, and whether anybody asked it.
    let seldom = json!({"begin": {
        "calib_log": 1, "device": "d", "calibrator": good[0]["begin"]["calibrator"], "looks_every": 1_000_000_000,
    }});
    let unasked =
        [seldom, json!({"predictions": {"bins": vec![3; 3000]}}), good[2].clone(), json!({"reset": {}})];
    write(&place, "seldom.jsonl", &lines(&unasked));
    let run = place.ok("calib fleet cal.bin --verify seldom.jsonl");
    assert!(run.stdout.starts_with(
        "d: 3000 predictions, 0 outcomes, 1 answers as they should be (looks_every 1000000000)"
    ));
    let said = "warning: d: the log says that the device evaluates its monitors every 1000000000 predictions, so it never did";
    assert!(run.stderr.contains(said), "{run:?}");
    let log = [good[0].clone(), good[3].clone(), json!({"reset": {}}), good[3].clone()];
    write(&place, "unasked.jsonl", &lines(&log));
    let json = place.json("calib fleet cal.bin --verify unasked.jsonl --json");
    let doubts = json["warnings"].as_array().unwrap();
    assert_eq!(doubts.len(), 2, "{doubts:?}");
    assert_eq!(
        doubts[0],
        "ward 3: an alarm of shift was due with prediction 9 of table 0, and the log has no answer about it"
    );
    assert!(
        doubts[1].as_str().unwrap().starts_with("ward 3, after reset 1: an alarm of shift was due"),
        "{doubts:?}"
    );
    assert_eq!(place.run("calib fleet plain.bin --verify good.jsonl").code, 1);
    assert_eq!(place.run("calib fleet cal.bin good.jsonl --verify good.jsonl").code, 2);
    assert_eq!(place.run("calib fleet cal.bin --verify none.jsonl").code, 3);
}
