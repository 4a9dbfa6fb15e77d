//! `calib fit --monitor`: what the monitors on a device compare with.

use serde_json::{Value, json};

use crate::data::{Json, binary, csv, matrix};
use crate::npy::{f32s, labels};
use crate::workplace::Workplace;

const N: usize = 2000;

fn place() -> Workplace {
    Workplace::new().with("data.csv", csv(&binary(N)))
}

fn gaps(table: &Value) -> Vec<u64> {
    table["gaps"].list().iter().map(|gaps| gaps.whole()).collect()
}

#[test]
fn the_bins_of_umd_are_the_monitors() {
    let place = place();
    place.says("calib fit data.csv --method umd --bins 8 --monitor -o monitored.cal");
    let shown = place.inspect("monitored.cal");
    let monitors = &shown["monitors"];
    assert_eq!(
        [&monitors["shift"], &monitors["change"], &monitors["guarantee"]],
        [&json!(20), &json!(10_000), &json!(100)]
    );
    assert_eq!(
        (gaps(&monitors["tables"][0]), &monitors["tables"][0]["edges"]),
        (vec![251, 250, 250, 250, 250, 250, 250, 250], &Value::Null)
    );
    assert_eq!(monitors["alarm_at_odds"], json!({"shift": 20, "change": 10_000, "guarantee": 100}));
    place.says("calib inspect monitored.cal");

    // Nobody gets it unasked, and nothing else of the artifact changes.
    place.ok("calib fit data.csv --method umd --bins 8 -o plain.cal");
    let plain = place.inspect("plain.cal");
    assert_eq!((&plain["monitors"], &plain["tables"]), (&Value::Null, &shown["tables"]));
    let json = place.json(
        "calib fit data.csv --method umd --bins 8 --monitor --monitor-rarity 100,500,7 --json -o other.cal",
    );
    assert_eq!(json["monitors"], place.inspect("other.cal")["monitors"]);
    assert_eq!(
        [&json["monitors"]["shift"], &json["monitors"]["change"], &json["monitors"]["guarantee"]],
        [&json!(100), &json!(500), &json!(7)]
    );
    said!();
}

/// It is in the artifact; nothing on this machine does it, and nothing drops it in silence.
#[test]
fn what_is_done_on_an_alarm_is_stored_shown_and_not_done_here() {
    let place = place();
    let fit = "calib fit data.csv --method umd --bins 8 --monitor";
    place.ok(&format!("{fit} -o flag.cal"));
    assert_eq!(place.inspect("flag.cal")["monitors"]["action"], "flag");
    place.ok(&format!("{fit} --monitor-action flag -o same.cal"));
    let read = |name: &str| std::fs::read(place.path().join(name)).unwrap();
    assert_eq!(read("flag.cal"), read("same.cal"));
    for action in ["alarm", "uncalibrated"] {
        place.says(&format!("{fit} --monitor-action {action} -o {action}.cal"));
        let file = format!("{action}.cal");
        assert_eq!(place.inspect(&file)["monitors"]["action"], action);
        place.says(&format!("calib inspect {file}"));
        // A section of 4 bytes with its head.
        assert_eq!(read(&file).len(), read("flag.cal").len() + 12);

        place.says(&format!("calib apply {file} --scores data.csv -o {action}.csv"));
        place
            .says(&format!("calib apply {file} --scores data.csv -o {action}.csv --force --fail-on-warning"));
        for language in ["h", "rs"] {
            place.says(&format!("calib export {file} -o {action}.{language}"));
            assert!(!place.path().join(format!("{action}.{language}")).exists());
        }
    }
    place.says("calib apply flag.cal --scores data.csv -o flag.csv");
    assert_eq!(read("flag.csv"), read("alarm.csv"));
    place.says("calib fit data.csv --method umd --bins 8 --monitor-action alarm -o none.cal");
    // Another prevalence has neither monitors nor what is done on their alarm.
    place.ok("calib adjust alarm.cal --prevalence 0.2 --counter 1 -o adjusted.cal");
    assert!(place.inspect("adjusted.cal")["monitors"].is_null());
    said!();
}

/// The steps of isotonic regression depend on the labels.
#[test]
fn other_methods_get_bins_of_the_monitors_own() {
    let place = place();
    place.says("calib fit data.csv --method isotonic --monitor");
    place.ok("calib fit data.csv --method isotonic --monitor=5 -o plain.cal");
    let table = &place.inspect("plain.cal")["monitors"]["tables"][0];
    assert_eq!(gaps(table), [401, 400, 400, 400, 400]);
    // Every fifth of the scores as the device sees them.
    let mut scores: Vec<f32> = binary(N).iter().map(|row| row.0).collect();
    scores.sort_by(f32::total_cmp);
    let expected: Vec<f64> = (1..5).map(|bin| f64::from(scores[bin * N / 5])).collect();
    assert_eq!(table["edges"], json!(expected));
    let margins = Workplace::new().with(
        "data.csv",
        csv(&binary(N).iter().map(|&(score, label)| (8.0 * score - 4.0, label)).collect::<Vec<_>>()),
    );
    margins.ok("calib fit --margins data.csv --method isotonic --monitor=4");
    let edges = margins.inspect("data.cal")["monitors"]["tables"][0]["edges"].clone();
    let edges: Vec<f64> = edges.list().iter().map(|edge| edge.number()).collect();
    assert!(edges.len() == 3 && edges.is_sorted() && edges[0] < 0.0 && edges[2] > 0.0, "{edges:?}");
    said!();
}

#[test]
fn what_says_nothing_of_new_scores_is_refused() {
    let tenths: Vec<_> =
        binary(N).iter().map(|&(score, label)| ((score * 10.0).floor() / 10.0, label)).collect();
    let place = place().with("tenths.csv", csv(&tenths));
    for line in [
        "tenths.csv --method umd --bins 5 --monitor",
        "tenths.csv --method isotonic --monitor=5",
        "data.csv --method isotonic --monitor=5 --table u16",
        "data.csv --method isotonic --monitor=5 --table u16",
        "data.csv --method umd --bins 5 --monitor=1",
        "data.csv --method umd --bins 5 --monitor --monitor-rarity 1,10,10",
        "data.csv --method umd --bins 5 --monitor --candidates 3",
        "data.csv --method umd --bins 5 --monitor-rarity 10,10,10",
        "data.csv --method umd --bins 5 --monitor=5000",
    ] {
        place.says(&format!("calib fit {line} -o out.cal"));
        assert!(!place.path().join("out.cal").exists(), "{line}");
    }
    said!();
}

/// One table for each class has monitors with its bins; whole vectors have no bins, and weights say nothing of the next score.
#[test]
fn what_has_several_scores_or_weights() {
    let data = matrix(900);
    let weighted: String = binary(N).iter().map(|(score, label)| format!("{score},{label},1.5\n")).collect();
    let place = Workplace::new()
        .with("logits.npy", f32s(&[900, 3], data.logits).bytes())
        .with("labels.npy", labels("<i8", &data.labels).bytes())
        .with("weighted.csv", format!("score,label,weight\n{weighted}"));
    let matrix = "--logits logits.npy --labels labels.npy";
    place.ok(&format!(
        "calib fit {matrix} --method umd --reduction top-label --rows-per-bin 50 --monitor -o top.cal"
    ));
    let shown = place.inspect("top.cal");
    let tables = shown["monitors"]["tables"].list();
    for (table, monitored) in shown["tables"].list().iter().zip(tables) {
        // One bin cannot tell a shift.
        let bins = table["values"].as_array().map_or(0, Vec::len);
        assert_eq!(monitored.is_null(), bins < 2);
        assert!(monitored.is_null() || gaps(monitored).len() == bins);
    }
    // The tables share what a device may say wrongly, and it is said.
    let monitored = tables.iter().filter(|table| !table.is_null()).count();
    assert!(monitored > 1);
    let of_device = json!({"shift": 20, "change": 10_000, "guarantee": 100});
    let of_each = json!({"shift": 20 * monitored, "change": 10_000, "guarantee": 100 * monitored});
    for (name, asked) in of_device.as_object().unwrap() {
        assert_eq!(&shown["monitors"][name], asked);
    }
    assert_eq!(shown["monitors"]["alarm_at_odds"], of_each);
    let said = format!(
        "This is for a device as a whole. Each of its {monitored} monitored tables raises an alert at these levels: e-value {} for a shift, e-CUSUM {} for \
         a change, e-value {} for the guarantee.",
        of_each["shift"], of_each["change"], of_each["guarantee"]
    );
    let text = place.says("calib inspect top.cal --all").stdout;
    assert!(text.split_whitespace().collect::<Vec<_>>().join(" ").contains(&said), "{text}");
    // One gap more than the class has predictions.
    let predicted = |class| data.predicted.iter().filter(|&&found| found == class).count() as u64;
    let found = (0..2).map(|class| gaps(&tables[class]).iter().sum::<u64>());
    assert_eq!(found.collect::<Vec<_>>(), [0, 1].map(|class| predicted(class) + 1));
    for line in [
        format!("{matrix} --method umd --reduction top-label --rows-per-bin 50 --monitor=5"),
        format!("{matrix} --method temperature --monitor"),
        "--scores weighted.csv --weight-column weight --method isotonic --monitor".into(),
    ] {
        place.says(&format!("calib fit {line} -o out.cal"));
    }
    said!();
}

/// Bins of the monitors' own are chosen by nobody's labels.
#[test]
fn a_calibrator_that_labels_chose_is_monitored_in_other_bins() {
    let place = place();
    place.ok("calib fit data.csv --method umd --bins 5 --monitor=8 --candidates 3 -o chosen.cal");
    assert_eq!(gaps(&place.inspect("chosen.cal")["monitors"]["tables"][0]).len(), 8);
}

/// Scores of another prevalence are no draws from the calibration scores, and those from there are.
#[test]
fn another_prevalence_is_compared_with_its_own_scores() {
    let there: Vec<_> = binary(601).iter().map(|&(score, _)| score * score).collect();
    let there: String = there.iter().map(|score| format!("{score}\n")).collect();
    let place = place().with("there.csv", format!("score\n{there}"));
    place.ok("calib fit data.csv --method umd --bins 5 --monitor --counter 1 -o cal.bin");
    place.ok("calib adjust cal.bin --prevalence 0.1 --counter 2 -o new.bin");
    assert!(!place.inspect("cal.bin")["monitors"].is_null());
    assert!(place.inspect("new.bin")["monitors"].is_null());

    let adjust = "calib adjust cal.bin --prevalence 0.1 --counter 2";
    place.says(&format!("{adjust} --monitor=4 --monitor-scores there.csv -o there.bin"));
    let monitors = &place.inspect("there.bin")["monitors"];
    assert_eq!((gaps(&monitors["tables"][0]).iter().sum::<u64>(), &monitors["scores"]), (602, &json!(601)));
    let shown = place.json(&format!("{adjust} --monitor=4 --monitor-scores there.csv -o json.bin --json"));
    assert_eq!(&shown["monitors"], monitors);
    for line in ["--monitor", "--monitor=4", "--score-column score"] {
        place.says(&format!("{adjust} {line} -o out.bin"));
    }
    said!();
}

/// `--monitor-scores`: what the device will see is known, and its labels are not.
#[test]
fn monitors_compare_with_scores_without_labels() {
    let there: Vec<f32> = binary(900).iter().map(|&(score, _)| score * score).collect();
    let column = |name: &str, scores: &[f32]| {
        format!("{name}\n{}", scores.iter().map(|score| format!("{score}\n")).collect::<String>())
    };
    let mut above = there.clone();
    above[6] = 1.5;
    let weighted: String = binary(N).iter().map(|(score, label)| format!("{score},{label},1.5\n")).collect();
    let groups: String =
        binary(N).iter().enumerate().map(|(i, (s, l))| format!("{s},{l},{}\n", i % 2)).collect();
    let place = place()
        .with("there.csv", column("score", &there))
        .with("named.csv", column("height", &there))
        .with("above.csv", column("score", &above))
        .with("few.csv", column("score", &there[..7]))
        .with("none.csv", "score\n")
        .with("tied.csv", format!("score\n{}", "0.5\n".repeat(40)))
        .with("weighted.csv", format!("score,label,weight\n{weighted}"))
        .with("groups.csv", format!("score,label,site\n{groups}"));
    let monitors = "--monitor=4 --monitor-scores";
    for (fit, name) in [
        ("data.csv --method umd --bins 8", "umd.cal"),
        ("data.csv --method isotonic", "isotonic.cal"),
        ("weighted.csv --weight-column weight --method isotonic", "weighted.cal"),
    ] {
        place.ok(&format!("calib fit {fit} {monitors} there.csv -o {name}"));
        let shown = place.inspect(name);
        let table = &shown["monitors"]["tables"][0];
        let mut sorted = there.clone();
        sorted.sort_by(f32::total_cmp);
        let edges: Vec<f64> = (1..4).map(|bin| f64::from(sorted[bin * 225])).collect();
        assert_eq!((gaps(table), &table["edges"]), (vec![226, 225, 225, 225], &json!(edges)));
        assert_eq!(shown["monitors"]["scores"], json!(900));
        let parameters = shown["provenance"]["parameters"].text();
        assert!(parameters.ends_with("monitor-scores=900"), "{parameters}");
        place.says(&format!("calib inspect {name}"));
    }
    // The table is as without them.
    place.ok("calib fit data.csv --method umd --bins 8 -o plain.cal");
    assert_eq!(place.inspect("plain.cal")["tables"], place.inspect("umd.cal")["tables"]);
    assert!(place.inspect("plain.cal")["monitors"].is_null());

    for line in [
        "data.csv --method umd --bins 8 --monitor --monitor-scores there.csv",
        "data.csv --method isotonic M no.csv",
        "data.csv --method isotonic M named.csv",
        "data.csv --method isotonic M above.csv",
        "data.csv --method isotonic M few.csv",
        "data.csv --method isotonic M none.csv",
        "data.csv --method isotonic M tied.csv",
        "groups.csv --group-column site --method umd --bins 4 M there.csv",
    ] {
        place.says(&format!("calib fit {} -o out.cal", line.replace('M', monitors)));
        assert!(!place.path().join("out.cal").exists(), "{line}");
    }
    // What is read is not overwritten.
    place.says(&format!("calib fit data.csv --method isotonic {monitors} there.csv -o there.csv"));
    said!();
}
