//! `calib recalibrate`: a new calibrator from what devices counted.

use serde_json::{Value, json};

use crate::data::{Json, binary, csv};
use crate::workplace::Workplace;

fn place() -> Workplace {
    let place = Workplace::new().with("data.csv", csv(&binary(1999)));
    place.ok("calib fit data.csv --method umd --bins 4 --monitor --counter 2 -o cal.bin");
    place
}

/// Counters of devices with a calibrator, an object a line.
fn write(place: &Workplace, name: &str, calibrator: &str, devices: &[(&str, Value)]) {
    let calibrator = &place.inspect(calibrator)["identity"];
    let line = |(device, table): &(&str, Value)| {
        json!({"calib_counters": 1, "device": device, "calibrator": calibrator, "tables": [table]})
            .to_string()
    };
    let lines: Vec<String> = devices.iter().map(line).collect();
    std::fs::write(place.path().join(name), lines.join("\n")).unwrap();
}

fn table(predictions: [u64; 4], labeled: [u64; 4], positives: [u64; 4]) -> Value {
    json!({"predictions": predictions, "labeled": labeled, "positives": positives})
}

#[test]
fn outcomes_of_all_devices_make_a_calibrator() {
    let place = place();
    write(&place, "a.json", "cal.bin", &[("a", table([300; 4], [60; 4], [5, 20, 38, 50]))]);
    write(&place, "b.json", "cal.bin", &[("b", table([300; 4], [40; 4], [3, 10, 22, 40]))]);
    let run = place.says("calib recalibrate cal.bin a.json b.json --counter 3 -o new.bin");
    let before = place.inspect("cal.bin");
    let (parent, values) = (before["identity"].text(), &before["tables"][0]["values"]);
    for (bin, row, rest) in
        [(0, "    0       100         8", "0.0800"), (2, "    2       100        60", "0.6000")]
    {
        let line = format!("{row}   {:.4}  {rest}", values[bin].number());
        assert!(run.stderr.contains(&line), "{line}");
    }
    let first = format!("400 outcomes of 2 devices, edges of {parent}, ");
    assert!(run.stderr.starts_with(&first), "{}", run.stderr);
    let after = place.inspect("new.bin");
    assert!(before["sample"].is_object() && after["sample"].is_null(), "{after}");
    assert_eq!(
        (&after["counter"], &after["tables"][0]["edges"]),
        (&json!(3), &before["tables"][0]["edges"]),
        "{after}"
    );
    // The device answers the new shares.
    place.ok("calib apply new.bin --scores data.csv -o out.csv");
    let (header, rows) = place.table("out.csv");
    let column = |name: &str| header.iter().position(|found| found == name).unwrap();
    let probs: std::collections::BTreeSet<&str> = rows.iter().map(|row| &*row[column("prob")]).collect();
    assert_eq!(probs.len(), 4, "{probs:?}");
    let json = place.json("calib recalibrate cal.bin a.json b.json --counter 3 -o n.bin --json");
    assert_eq!((&json["n"], &json["devices"], &json["parent"]), (&json!(400), &json!(2), &json!(parent)));
    assert_eq!(json["tables"][0]["bins"][3]["prob"], json!(0.9));
    assert_eq!((&json["warnings"], &json["has_monitors"]), (&json!([]), &json!(true)), "{json}");
    assert_eq!(place.bytes("n.bin"), place.bytes("new.bin"));
    // As does one device with the counters of both.
    write(&place, "c.json", "cal.bin", &[("c", table([600; 4], [100; 4], [8, 30, 60, 90]))]);
    let json = place.json("calib recalibrate cal.bin c.json --counter 3 -o c.bin --json");
    assert_eq!(json["tables"][0]["bins"][3]["prob"], json!(0.9));
    said!();
}

#[test]
fn what_makes_it_worth_less_is_told() {
    let place = place();
    // The outcomes of the uppermost bin contradicted the guarantee, and no outcome of the lowest is known.
    write(&place, "then.json", "cal.bin", &[("a", table([300; 4], [0, 60, 60, 60], [0, 22, 37, 6]))]);
    let line = "calib recalibrate cal.bin then.json --counter 2 -o x.bin";
    place.says(line);
    place.says(&format!("{line} --force --fail-on-warning"));
    // Only what was told later.
    write(&place, "now.json", "cal.bin", &[("a", table([900; 4], [50, 110, 110, 110], [5, 40, 67, 21]))]);
    place.says("calib recalibrate cal.bin now.json --since then.json --counter 2 -o y.bin");
    // Scores from elsewhere: the monitors would go on comparing with the old ones.
    write(&place, "moved.json", "cal.bin", &[("a", table([0, 0, 20, 280], [0, 0, 20, 80], [0, 0, 11, 70]))]);
    place.says("calib recalibrate cal.bin moved.json --counter 2 -o z.bin");
    assert!(place.inspect("z.bin")["monitors"].is_null());
    // A device that holds the parent refuses one with a lower counter.
    place.says("calib recalibrate cal.bin now.json --counter 0 -o low.bin");
    said!();
}

#[test]
fn what_is_not_sound_is_refused() {
    let place = place();
    place.ok("calib fit data.csv --method umd --bins 4 -o plain.bin");
    place.ok("calib fit data.csv --method isotonic --max-bins 4 --monitor=4 -o iso.bin");
    place.ok("calib fit data.csv --method platt --monitor=4 -o platt.bin");
    place.ok(
        "calib threshold --scores data.csv --sensitivity 0.9 --calibrator cal.bin --counter 3 -o rule.bin",
    );
    let good = table([300; 4], [60; 4], [5, 20, 38, 50]);
    let none = json!({"predictions": [300, 300, 300, 300]});
    write(&place, "good.json", "cal.bin", &[("a", good.clone())]);
    write(&place, "twice.json", "cal.bin", &[("a", good.clone()), ("a", good.clone())]);
    write(&place, "none.json", "cal.bin", &[("a", none.clone())]);
    write(
        &place,
        "full.json",
        "cal.bin",
        &[("a", table([u64::from(u32::MAX / 16), 9, 9, 9], [9; 4], [1; 4]))],
    );
    write(&place, "iso.json", "iso.bin", &[("a", none.clone())]);
    write(&place, "platt.json", "platt.bin", &[("a", none)]);
    write(&place, "rule.json", "rule.bin", &[("a", good.clone())]);
    write(&place, "more.json", "cal.bin", &[("a", table([900; 4], [59, 60, 60, 60], [5, 20, 38, 50]))]);
    write(&place, "other.json", "cal.bin", &[("b", good)]);
    for (counters, calibrator, more) in [
        ("good.json", "plain.bin", ""),
        ("good.json", "iso.bin", ""),
        ("good.json good.json", "cal.bin", ""),
        ("twice.json", "cal.bin", ""),
        ("none.json", "cal.bin", ""),
        ("full.json", "cal.bin", ""),
        ("iso.json", "iso.bin", ""),
        ("platt.json", "platt.bin", ""),
        ("rule.json", "rule.bin", ""),
        ("good.json", "cal.bin", "--since more.json"),
        ("good.json", "cal.bin", "--since other.json"),
        ("good.json", "cal.bin", "--since twice.json"),
        ("good.json", "cal.bin", "--alpha 1"),
        ("missing.json", "cal.bin", ""),
        ("data.csv", "cal.bin", ""),
        // What is about rows, or decided by the calibrator.
        ("good.json", "cal.bin", "--method umd"),
        ("good.json", "cal.bin", "--bins 4"),
        ("good.json", "cal.bin", "--monitor"),
        ("good.json", "cal.bin", "--label-column label"),
        ("good.json", "cal.bin", "--candidates 3"),
        ("good.json", "cal.bin", "--scores data.csv"),
    ] {
        let line = format!("calib recalibrate {calibrator} {counters} --counter 3 -o new.bin {more}");
        place.says(&line);
        assert!(!place.path().join("new.bin").exists(), "{line}");
    }
    for line in [
        "calib recalibrate cal.bin good.json --counter 3",
        "calib recalibrate cal.bin good.json -o new.bin",
        "calib recalibrate cal.bin --counter 3 -o new.bin",
        "calib fit data.csv --calibrator cal.bin -o new.bin",
        "calib fit data.csv --since good.json -o new.bin",
    ] {
        place.says(line);
    }
    said!();
}
