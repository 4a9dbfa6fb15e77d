//! `calib sign --protocol`, and the log of decisions.

use serde_json::Value;

use super::workplace::Workplace;

/// Rows drawn with a seed: at a score of s, the label is 1 with probability 0.6 s.
fn table(n: u32, seed: u64) -> String {
    let mut state = seed;
    let mut uniform = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 40) as f64 / f64::from(1 << 24)
    };
    let row = |row: u32| {
        let (score, other) = (uniform(), uniform());
        let label = u8::from(other < 0.6 * score);
        format!("{score},{label},{}\n", ["women", "men"][row as usize % 2])
    };
    format!("score,label,sex\n{}", (0..n).map(row).collect::<String>())
}

/// A protocol that `new.bin` keeps, with every line that there is.
const PROTOCOL: &str = r#"
name = "updates"

[change]
methods = ["isotonic", "umd"]
bins = [2, 100]
prevalence = [0.05, 0.5]
rows = true

[accept]
judged_by = "interval"
interval_width = 0.5
alpha = 0.2
sensitivity = 0.7
specificity = 0.2
not_worse_by = { brier = 0.02, log_loss = 0.5, auc = 0.04, conf_ece = 0.1 }

[accept.each_group]
sensitivity = 0.6
specificity = 0.1
not_worse_by = { brier = 0.03, log_loss = 0.6, auc = 0.05, conf_ece = 0.15 }

[rows]
independent = true
fresh = true
n = 1500
events = 300

[sign]
keys = ["OWNER", "SECOND"]
needed = 1

[rollback]
allowed = true
"#;

const SIGN: &str = "calib sign new.bin --protocol protocol.toml --test test.csv --group-column sex --active now.bin \
                    --log log.jsonl --key owner.pem -o out.bin";

/// The line of a public key that stands in a protocol.
fn key(place: &Workplace, name: &str) -> String {
    place.text(&format!("{name}.pem.pub")).lines().nth(1).unwrap().to_owned()
}

/// A folder with an active artifact, a new one, keys and the protocol.
fn place() -> Workplace {
    let place = Workplace::new()
        .with("cal.csv", table(2000, 1))
        .with("other.csv", table(3000, 2))
        .with("test.csv", table(1500, 3))
        .with("fresh.csv", table(1500, 4));
    for (rows, fit, counter, name) in [
        ("cal.csv", "--method isotonic", 1, "now"),
        ("other.csv", "--method isotonic", 2, "new"),
        ("other.csv", "--method isotonic", 1, "old"),
        ("other.csv", "--method umd --bins 10", 2, "umd"),
        ("other.csv", "--method isotonic --classifier-id 0123456789abcdef", 2, "foreign"),
        ("cal.csv", "--method isotonic", 3, "back"),
        ("test.csv", "--method isotonic", 1, "best"),
    ] {
        place.ok(&format!("calib fit {fit} {rows} --counter {counter} -o fit.bin --force"));
        let threshold =
            format!("calib threshold {rows} --calibrator fit.bin --sensitivity 0.8 --counter {counter}");
        place.ok(&format!("{threshold} -o {name}.bin"));
    }
    place.ok("calib adjust new.bin --prevalence 0.3 --counter 2 -o rare.bin");
    ["owner", "second", "stranger"]
        .iter()
        .for_each(|name| _ = place.ok(&format!("calib keygen -o {name}.pem")));
    let keys = [key(&place, "owner"), key(&place, "second")];
    let protocol = PROTOCOL.replace("OWNER", &keys[0]).replace("SECOND", &keys[1]);
    place.with("protocol.toml", protocol)
}

fn entries(place: &Workplace) -> Vec<Value> {
    place.text("log.jsonl").lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// The lines that the last entry calls broken.
fn broken(place: &Workplace) -> Vec<String> {
    let entry = entries(place).pop().unwrap()["entry"].take();
    let lines = entry["lines"].as_array().unwrap().iter().filter(|line| line["kept"] == false);
    let name = |line: &Value| match line["group"].as_str() {
        Some(group) => format!("{} of {group}", line["line"].as_str().unwrap()),
        None => line["line"].as_str().unwrap().to_owned(),
    };
    lines.map(name).collect()
}

#[test]
fn a_change_that_keeps_the_protocol_is_signed_and_a_breach_of_each_line_is_refused() {
    let place = place();
    let protocol = place.text("protocol.toml");
    place.ok(SIGN);
    assert_eq!(broken(&place), [""; 0]);
    let kept: Vec<Value> = entries(&place)[0]["entry"]["lines"].as_array().unwrap().clone();
    place.ok("calib verify out.bin --key owner.pem.pub --protocol protocol.toml --log log.jsonl");
    std::fs::remove_file(place.path().join("out.bin")).unwrap();

    let both = |line: &str| ["men", "women"].map(|group| format!("accept.each_group.{line} of {group}"));
    let one = |line: &str| vec![line.to_owned()];
    // This method has no intervals of score ranges.
    let without_ranges = |line: &str| vec![line.to_owned(), "accept.interval_width".to_owned()];
    // What is edited in the protocol, and in the command.
    let breaches: Vec<(&str, &str, &str, &str, Vec<String>)> = vec![
        ("", "", "new.bin", "old.bin", one("counter")),
        ("", "", "new.bin", "foreign.bin", one("scores")),
        ("\"isotonic\", ", "", "", "", one("change.methods")),
        ("methods = [\"isotonic\", \"umd\"]", "", "new.bin", "umd.bin", without_ranges("change.methods")),
        ("[2, 100]", "[2, 5]", "", "", one("change.bins")),
        ("bins = [2, 100]", "", "new.bin", "umd.bin", without_ranges("change.bins")),
        ("[0.05, 0.5]", "[0.35, 0.5]", "new.bin", "rare.bin", one("change.prevalence")),
        ("prevalence = [0.05, 0.5]", "", "new.bin", "rare.bin", one("change.prevalence")),
        ("rows = true", "", "", "", one("change.rows")),
        ("alpha = 0.2", "epsilon = 0.2", "", "", one("accept.epsilon")),
        ("alpha = 0.2", "epsilon = 0.01", "new.bin", "umd.bin", without_ranges("accept.epsilon")),
        ("interval_width = 0.5", "interval_width = 0.05", "", "", one("accept.interval_width")),
        ("alpha = 0.2", "alpha = 0.05", "", "", one("accept.alpha")),
        ("sensitivity = 0.7", "sensitivity = 0.95", "", "", one("accept.sensitivity")),
        ("specificity = 0.2", "specificity = 0.9", "", "", one("accept.specificity")),
        ("brier = 0.02,", "brier = 0,", "now.bin", "best.bin", one("accept.not_worse_by.brier")),
        ("log_loss = 0.5,", "log_loss = 0,", "now.bin", "best.bin", one("accept.not_worse_by.log_loss")),
        ("auc = 0.04", "auc = 0", "now.bin", "best.bin", one("accept.not_worse_by.auc")),
        ("conf_ece = 0.1 ", "conf_ece = 0 ", "now.bin", "best.bin", one("accept.not_worse_by.conf_ece")),
        ("sensitivity = 0.6", "sensitivity = 0.95", "", "", both("sensitivity").into()),
        ("specificity = 0.1", "specificity = 0.9", "", "", both("specificity").into()),
        ("brier = 0.03,", "brier = 0,", "now.bin", "best.bin", both("not_worse_by.brier").into()),
        ("log_loss = 0.6,", "log_loss = 0,", "now.bin", "best.bin", both("not_worse_by.log_loss").into()),
        ("auc = 0.05", "auc = 0", "now.bin", "best.bin", both("not_worse_by.auc").into()),
        ("conf_ece = 0.15", "conf_ece = 0", "now.bin", "best.bin", both("not_worse_by.conf_ece").into()),
        ("", "", " --group-column sex", "", one("accept.each_group")),
        ("n = 1500", "n = 1501", "", "", one("rows.n")),
        ("events = 300", "events = 1200", "", "", one("rows.events")),
        ("n = 1500", "n = 1000", "test.csv", "other.csv", one("rows.independent")),
        ("", "", "owner.pem", "stranger.pem", one("sign.keys")),
        ("needed = 1", "needed = 2", "", "", one("sign.keys")),
    ];
    let mut refused = Vec::new();
    for (from, to, word, instead, lines) in breaches {
        let edited = if from.is_empty() { protocol.clone() } else { protocol.replacen(from, to, 1) };
        assert!(from.is_empty() || edited != protocol, "{from}");
        let command = if word.is_empty() { SIGN.into() } else { SIGN.replacen(word, instead, 1) };
        std::fs::remove_file(place.path().join("log.jsonl")).unwrap();
        std::fs::write(place.path().join("protocol.toml"), edited).unwrap();
        let run = place.run(&command);
        assert_eq!(broken(&place), lines, "{from}{word} -> {to}{instead}: {}", run.stderr);
        let names = lines.iter().map(|line| line.split(' ').next().unwrap());
        assert!(run.code == 1 && names.clone().all(|name| run.stderr.contains(name)), "{run:?}");
        assert!(!place.path().join("out.bin").exists(), "{lines:?}: signed");
        assert_eq!(entries(&place)[0]["entry"]["decision"], "refused");
        refused.extend(names.map(str::to_owned));
    }
    // The two that need an entry before them are refused in the next test.
    let lines = kept.iter().map(|line| line["line"].as_str().unwrap()).filter(|line| *line != "rows.fresh");
    let left: Vec<&str> = lines.filter(|line| !refused.iter().any(|name| name == line)).collect();
    assert_eq!(left, [""; 0], "no breach of these was tried");
}

#[test]
fn the_log_keeps_what_was_decided_and_what_follows_is_compared_with_it() {
    let place = place();
    place.ok(&SIGN.replace("-o out.bin", "-o first.bin"));
    // The active artifact is the one that was signed last, and rows that judged one calibrator do not judge another.
    let next = SIGN.replace("new.bin", "back.bin").replace("--active now.bin", "--active first.bin");
    let fresh = next.replace("test.csv", "fresh.csv");
    let stale = fresh.replace("first.bin", "now.bin");
    assert_eq!((place.run(&stale).code, broken(&place)), (1, vec!["active".into()]));
    let none = fresh.replace("--active first.bin ", "");
    assert_eq!((place.run(&none).code, broken(&place)), (1, vec!["active".into()]));
    assert_eq!((place.run(&next).code, broken(&place)), (1, vec!["rows.fresh".into()]));
    // The rows of the first decision judged another calibrator.
    place.ok(&fresh);
    let all = entries(&place);
    let decisions: Vec<&str> = all.iter().map(|line| line["entry"]["decision"].as_str().unwrap()).collect();
    assert_eq!(decisions, ["signed", "refused", "refused", "refused", "signed"]);
    place.ok("calib verify --log log.jsonl --protocol protocol.toml");

    // The calibrator that was signed first is signed again, without being compared.
    place.ok("calib fit --method isotonic other.csv --counter 4 -o fit.bin --force");
    place.ok("calib threshold other.csv --calibrator fit.bin --sensitivity 0.8 --counter 4 -o again.bin");
    let rollback = SIGN.replace("new.bin", "again.bin").replace("--active now.bin", "--active out.bin");
    let rollback = rollback.replace("-o out.bin", "-o rollback.bin");
    place.ok(&rollback);
    let lines = entries(&place).pop().unwrap()["entry"]["lines"].clone();
    let names: Vec<&str> =
        lines.as_array().unwrap().iter().map(|line| line["line"].as_str().unwrap()).collect();
    assert!(
        names.contains(&"rollback.allowed") && !names.iter().any(|name| name.contains("not_worse")),
        "{names:?}"
    );

    // A log that is edited takes no entry, and says why.
    let text = place.text("log.jsonl");
    let head =
        place.ok("calib verify --log log.jsonl").stdout.trim_end().rsplit(' ').next().unwrap().to_owned();
    let verify = format!("calib verify --log log.jsonl --head {head}");
    place.ok(&verify);
    std::fs::write(place.path().join("log.jsonl"), text.replacen("refused", "signed", 1)).unwrap();
    for line in ["calib verify --log log.jsonl", &rollback] {
        let run = place.run(line);
        assert!(run.code == 3 && run.stderr.contains("log.jsonl, line 2: entry 2 was edited"), "{run:?}");
    }
    let cut: String = text.lines().take(5).map(|line| format!("{line}\n")).collect();
    std::fs::write(place.path().join("log.jsonl"), cut).unwrap();
    place.ok("calib verify --log log.jsonl");
    let run = place.run(&verify);
    assert!(run.code == 3 && run.stderr.contains("was cut short"), "{run:?}");
}

#[test]
fn two_keys_and_a_demand() {
    let place = place();
    let protocol = place.text("protocol.toml");
    let two = protocol.replace("needed = 1", "needed = 2");
    let place = place.with("protocol.toml", &two);
    place.ok(&SIGN.replace("-o out.bin", "--approve").replace("owner.pem", "second.pem"));
    assert!(!place.path().join("out.bin").exists());
    place.ok(SIGN);
    let demand = "--protocol protocol.toml --log log.jsonl";
    place.ok(&format!("calib verify out.bin --key owner.pem.pub {demand}"));
    // Loosened afterwards, it is another protocol.
    let place = place.with("protocol.toml", two.replace("n = 1500", "n = 10"));
    let verify = format!("calib verify out.bin --key owner.pem.pub {demand} --json");
    let run = place.run(&verify);
    assert!(run.code == 1 && run.stderr.contains("the protocol was changed afterwards"), "{run:?}");
    #[cfg(feature = "serial")]
    for line in ["calib push out.bin --port /dev/null", "calib push new.bin --port /dev/null"] {
        // Refused before the port is opened.
        let run = place.run(&format!("{line} {demand}"));
        assert_eq!(run.code, 1, "{run:?}");
    }
}

#[test]
fn what_is_no_protocol_is_refused_with_its_line() {
    let place = place();
    let protocol = place.text("protocol.toml");
    for (from, to) in [
        ("alpha = 0.2", "alpa = 0.2"),
        ("alpha = 0.2", "alpha = 2"),
        ("brier = 0.02", "brier = -0.02"),
        ("[2, 100]", "[100, 2]"),
        ("needed = 1", "needed = 3"),
        ("keys = [\"", "keys = [\"x"),
        ("n = 1500", "n = 0"),
        ("[rollback]\nallowed = true\n", "[rolback]\nallowed = true\n"),
        ("name = \"updates\"", "name = \"\""),
    ] {
        std::fs::write(place.path().join("protocol.toml"), protocol.replacen(from, to, 1)).unwrap();
        let before = place.everything();
        place.says(SIGN);
        assert!(place.everything() == before, "{to}: files were made or changed");
    }
    place.says("calib sign new.bin --key owner.pem");
    place.says("calib sign new.bin --key owner.pem --protocol protocol.toml -o out.bin");
    said!();
}
