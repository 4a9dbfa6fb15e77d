//! Every method from the command line: fit, inspect, apply, and what a method does not take.

use serde_json::json;

use crate::data::{Json, scored};
use crate::workplace::Workplace;

/// 400 rows whose label is 1 about as often as the score says; 40 of them tie at 1/2, where one of four bins ends.
fn place() -> Workplace {
    let row = |i: u32| {
        let score = if i.is_multiple_of(10) { 0.5 } else { f64::from(i) / 400.0 };
        let label = (i * 7919) % 400 < i;
        format!("{score},{}\n", u8::from(label))
    };
    Workplace::new().with("cal.csv", "score,label\n".to_owned() + &(0..400).map(row).collect::<String>())
}

/// A function has no bins, and one bin is no "bins": in what a fit says, in `inspect`, and in source code.
#[test]
fn bins_are_told_of_where_there_are_some() {
    let place = place();
    for method in ["platt", "beta", "temperature"] {
        place.says(&format!("calib fit --method {method} --scores cal.csv -o f.bin --force"));
        place.says("calib inspect f.bin");
        place.ok("calib export f.bin -o f.rs --force");
        let source = place.text("f.rs");
        assert!(source.contains(&format!("{method} (binary), 400 calibration observations.")), "{source}");
    }
    // A score that falls where it should rise is pooled into one bin.
    let place = Workplace::new().with("turned.csv", scored(40, |row| (f64::from(row) / 40.0, row < 20)));
    place.says("calib fit --method isotonic --scores turned.csv -o one.bin");
    place.says("calib inspect one.bin");
    said!();
}

#[test]
fn every_method_is_fitted_and_applied() {
    let place = place();
    let methods = [
        ("umd --bins 4", "umd", true),
        ("umd --bins 4 --bound hoeffding", "umd", false),
        ("umd-original --rows-per-bin 100", "umd-original", false),
        ("umd-randomized --bins 5 --seed 3", "umd-randomized", true),
        ("umd-randomized --bins 4", "umd-randomized", true),
        ("ums --bins 5 --seed 3", "ums", true),
        ("fixed-width --bins 10", "fixed-width", true),
        ("isotonic --max-bins 4", "irp", false),
        ("isotonic --smoothing 1", "isotonic", false),
        ("isotonic-interpolated", "isotonic-interpolated", false),
        ("scaling-binning --bins 5 --scaling beta", "scaling-binning", false),
        ("scaling-binning-one-set --bins 5", "scaling-binning", false),
        ("scaling-binning --bins 5 --loss squared", "scaling-binning", false),
        ("platt", "platt", false),
        ("platt --loss squared", "platt", false),
        ("platt-prob --loss squared", "platt", false),
        ("beta --loss squared", "beta", false),
        ("temperature --loss squared", "temperature", false),
        ("platt-prob", "platt", false),
        ("beta", "beta", false),
        ("temperature", "temperature", false),
        ("venn-abers", "venn-abers", false),
    ];
    for (options, name, guaranteed) in methods {
        place.ok(&format!("calib fit --method {options} --scores cal.csv -o cal.bin --force --quiet"));
        let inspected = place.json("calib inspect cal.bin --json");
        assert_eq!(inspected["method"], name, "{options}");
        let parameters = inspected["provenance"]["parameters"].text();
        assert_eq!(
            parameters.contains(" loss=squared"),
            options.contains("--loss squared"),
            "{options}: {parameters}"
        );
        assert_eq!(inspected["guarantee"].is_object(), guaranteed, "{options}");
        let form = match name {
            "umd-randomized" => "randomized",
            "isotonic-interpolated" => "interpolated",
            "venn-abers" => "venn-abers",
            "platt" | "beta" | "temperature" => "scaling",
            _ => "steps",
        };
        assert_eq!(inspected["tables"][0]["form"], form, "{options}");
        let shown = place.ok("calib inspect cal.bin --all").stdout;
        assert!(shown.contains("table 0: ") && shown.lines().count() > 8, "{shown}");

        place.ok("calib apply cal.bin --scores cal.csv -o out.csv --force");
        let (header, rows) = place.table("out.csv");
        let column = |name: &str| header.iter().position(|there| there == name);
        assert_eq!(rows.len(), 400);
        let prob = column("prob").unwrap();
        let probs: Vec<f64> = rows.iter().map(|row| row[prob].parse().unwrap()).collect();
        assert!(probs.iter().all(|prob| (0.0..=1.0).contains(prob)), "{options}");
        // The labels follow the scores, so every method's probabilities do: on average within 0.1.
        let mean = probs.iter().sum::<f64>() / 400.0;
        let hits = rows.iter().filter(|row| row[1] == "1").count() as f64 / 400.0;
        assert!((mean - hits).abs() < 0.1, "{options}: {mean} {hits}");
        assert_eq!(column("lo").is_some(), name != "venn-abers", "{options}");
        assert_eq!(column("p0").is_some() && column("p1").is_some(), name == "venn-abers", "{options}");
        assert_eq!(column("word").is_some(), name == "umd-randomized", "{options}");
    }
}

/// More than a third of the scores are exactly 0, so that a boundary of three bins is a pair of 0 and a word.
#[test]
fn randomized_ties_take_scores_of_exactly_0() {
    let score = |i: u32| if i < 40 { 0.0 } else { f64::from(i - 29) / 100.0 };
    let rows: String = (0..80).map(|i| format!("{},{}\n", score(i), u8::from(i % 3 == 0))).collect();
    let place = Workplace::new().with("cal.csv", "score,label\n".to_owned() + &rows);
    place.ok("calib fit --method umd-randomized --bins 3 --scores cal.csv -o cal.bin");
    let inspected = place.json("calib inspect cal.bin --json");
    assert_eq!(inspected["tables"][0]["edges"][0], 0.0);
    assert!(inspected["guarantee"].is_object());
    place.ok("calib apply cal.bin --scores cal.csv -o out.csv");
    let (header, rows) = place.table("out.csv");
    let [bin, epsilon] = ["bin", "epsilon"].map(|name| header.iter().position(|n| n == name).unwrap());
    assert!(rows.iter().all(|row| !row[epsilon].is_empty()));
    let of_zeros: std::collections::BTreeSet<&str> = rows[..40].iter().map(|row| &*row[bin]).collect();
    assert!(of_zeros.len() > 1, "the word divides equal scores: {of_zeros:?}");
}

#[test]
fn the_seed_of_a_randomized_artifact_decides_who_goes_where() {
    let place = place();
    place.ok("calib fit --method umd-randomized --bins 5 --scores cal.csv -o cal.bin --quiet");
    for (seed, name) in [(1, "a.csv"), (1, "b.csv"), (2, "c.csv")] {
        place.ok(&format!("calib apply cal.bin --scores cal.csv --seed {seed} -o {name}"));
    }
    assert_eq!(place.bytes("a.csv"), place.bytes("b.csv"));
    assert_ne!(place.bytes("a.csv"), place.bytes("c.csv"));
}

#[test]
fn a_method_refuses_what_it_does_not_take() {
    let place = place();
    for options in [
        "isotonic --bins 5",
        "platt --bins 5",
        "venn-abers --rows-per-bin 5",
        "umd --bins 5 --max-bins 3",
        "beta --smoothing 1",
        "isotonic --loss squared",
        "platt --folds 3",
        "fixed-width",
    ] {
        place.says(&format!("calib fit --method {options} --scores cal.csv -o out.bin"));
    }
    said!();
}

#[test]
fn separated_labels_have_no_slope() {
    let rows: String = (0..40).map(|i| format!("{},{}\n", f64::from(i) / 40.0, u8::from(i >= 20))).collect();
    let place = Workplace::new().with("cal.csv", "score,label\n".to_owned() + &rows);
    place.says("calib fit --method platt --scores cal.csv -o cal.bin");
    said!();
}

#[test]
fn the_squared_loss_may_have_no_minimum() {
    let label = |i| u8::from(i >= 20 && i != 39);
    let rows: String = (0..40).map(|i| format!("{},{}\n", f64::from(i) / 40.0, label(i))).collect();
    let place = Workplace::new().with("cal.csv", "score,label\n".to_owned() + &rows);
    place.ok("calib fit --method platt --scores cal.csv -o cal.bin");
    place.says("calib fit --method platt --loss squared --scores cal.csv -o squared.bin");
    said!();
}

#[test]
fn a_plan_answers_what_is_missing() {
    let place = Workplace::new();
    let answer = |line: &str| place.json(line)["answer"].clone();
    assert_eq!(answer("calib plan --bins 10 --epsilon 0.1 --json")["n"], 1770);
    assert_eq!(answer("calib plan --n 5000 --epsilon 0.08 --json")["bins"], 16);
    assert_eq!(answer("calib plan --n 5000 --rows-per-bin 500 --json")["bins"], 10);
    assert_eq!(answer("calib plan --bins 10 --rows-per-bin 500 --json")["n"], 5000);
    let most = answer("calib plan --rows-per-bin 500 --epsilon 0.1 --json");
    let bins = most["bins"].whole();
    assert!(bins > 1079 && most["n"].whole() == 500 * bins, "{most}");
    let keeps = |bins: u64| {
        let line = format!("calib plan --bins {bins} --rows-per-bin 500 --json");
        answer(&line)["epsilon"].number() <= 0.1
    };
    assert!(keeps(bins) && !keeps(bins + 1));
    assert!(answer("calib plan --n 5000 --json").is_null());
    let five = answer("calib plan --n 1000 --bins 5 --json");
    assert!((five["epsilon_hoeffding"].number() - 0.107_567_557_199).abs() < 1e-12);
    assert!((five["epsilon"].number() - 0.0856).abs() < 1e-3, "{five}");

    // Several classes.
    let top = answer("calib plan --reduction top-label --n 10000 --rows-per-bin 100 --json");
    assert!((0.165..0.175).contains(&top["epsilon"].number()), "{top}");
    let class_wise = "calib plan --reduction class-wise --classes 10 --n 10000 --rows-per-bin 100";
    let wise = answer(&format!("{class_wise} --json"));
    assert!(wise["epsilon"].as_f64() > top["epsilon"].as_f64(), "{wise}");
    let epsilon = top["epsilon"].number();
    let fewest = answer(&format!("calib plan --reduction top-label --n 10000 --epsilon {epsilon} --json"));
    assert_eq!(fewest["rows_per_bin"], 100);
    let most =
        answer(&format!("calib plan --reduction top-label --rows-per-bin 100 --epsilon {epsilon} --json"));
    assert_eq!(most["n"], 10_000);
    for line in [class_wise, "calib plan --n 5000 --bins 10"] {
        place.says(line);
    }

    // Beside an answer only what is near it, and an epsilon of 1 or more is none.
    let near = place.says("calib plan --n 5000 --bins 10").stdout;
    let bins: Vec<&str> = near.lines().skip_while(|line| !line.starts_with("  bins")).skip(1).collect();
    let bins: Vec<&str> = bins.iter().map(|line| line.split_whitespace().next().unwrap()).collect();
    assert_eq!(bins, ["5", "7", "10", "15", "20"], "{near}");
    assert!(place.ok("calib plan --n 5000").stdout.lines().count() > 20);
    place.says("calib plan --n 10 --bins 5");

    place.ok("calib plan --n 5000 --bins 10 --svg plan.svg");
    let svg = place.text("plan.svg");
    assert!(svg.starts_with("<svg") && svg.trim_end().ends_with("</svg>"));
    place.says("calib plan --n 5000 --bins 10 --svg plan.svg");

    for line in [
        "calib plan --bins 5",
        "calib plan --reduction class-wise --n 900 --epsilon 0.1",
        "calib plan --reduction top-label --n 900",
        "calib plan --n 10 --bins 9",
        "calib plan --n 10 --rows-per-bin 11",
        "calib plan --n 200000 --rows-per-bin 2",
        "calib plan --n 10 --epsilon 0.1",
        "calib plan --rows-per-bin 10 --epsilon 0.1",
        "calib plan --n 9 --bins 3 --epsilon 0.1",
        "calib plan --n 900 --rows-per-bin 30 --epsilon 0.1",
    ] {
        place.says(line);
    }
    said!();
}

/// Where no point is positive, binning with a guarantee knows an upper bound, and says so; the device gets it.
#[test]
fn one_label_gives_a_bound() {
    for label in [0, 1] {
        let place = Workplace::new().with("cal.csv", scored(32, |row| (f64::from(row) / 32.0, label == 1)));
        let fit = "calib fit --method fixed-width --bins 2 --scores cal.csv -o cal.bin --force";
        place.says(fit);
        let table = place.json(&format!("{fit} --json"))["tables"][0].take();
        assert_eq!(table["bins_with_few_events"], json!([0, 1]));
        // 16 points a bin: alpha / (2 B) = 0.025.
        let bound = 1.0 - 0.025f64.powf(1.0 / 16.0);
        place.ok("calib apply cal.bin --scores cal.csv -o out.csv");
        let (header, rows) = place.table("out.csv");
        let column = |name: &str| header.iter().position(|column| column == name).unwrap();
        for row in rows {
            let number = |name: &str| row[column(name)].parse::<f64>().unwrap();
            let (lo, hi) = if label == 0 { (0.0, bound) } else { (1.0 - bound, 1.0) };
            assert!((number("lo") - lo).abs() < 1e-6 && (number("hi") - hi).abs() < 1e-6, "{row:?}");
        }
    }
    said!();
}

/// Bins in which next to nothing happened are counted.
#[test]
fn few_events_in_a_bin_are_told() {
    let place = Workplace::new()
        .with("cal.csv", scored(64, |row| (f64::from(row) / 64.0, row > 32 && row % 3 == 0 || row == 5)));
    place.says("calib fit --method fixed-width --bins 2 --scores cal.csv -o cal.bin");
    place.says("calib fit --method isotonic --scores cal.csv -o cal.bin --force");
    said!();
}

/// Labels that a threshold separates have no maximum likelihood; the message names the targets that have an answer.
#[test]
fn bayesian_targets_fit_what_labels_do_not() {
    let place = Workplace::new().with("cal.csv", scored(20, |row| (f64::from(row) / 20.0, row >= 12)));
    let fit = |options: &str| format!("calib fit {options} --scores cal.csv -o cal.bin --force");
    for method in ["platt", "beta", "temperature", "scaling-binning-one-set --bins 2"] {
        // Without an intercept the threshold would have to be 1/2.
        let is_separated = !method.starts_with("temperature");
        let run = place.says(&fit(&format!("--method {method}")));
        assert_eq!(run.code != 0, is_separated, "{method}");
        place.ok(&fit(&format!("--method {method} --loss bayes")));
        let parameters = place.inspect("cal.bin")["provenance"]["parameters"].to_string();
        assert!(parameters.contains("targets=bayes"), "{parameters}");
    }
    place.says(&fit("--method umd --bins 2 --loss bayes"));
    said!();
}

/// What is compared is what a fit of that name makes.
#[test]
fn compare_fits_what_fit_fits() {
    let place = place();
    let compared = place.json("calib compare --scores cal.csv --folds 2 --repeats 1 --bootstrap 5 --json");
    let methods = compared["methods"].list();
    assert!(methods.len() >= 12 && compared["failed"] == json!([]), "{compared}");
    // Those with a guarantee are candidates among which the labels choose.
    let candidates = format!("--candidates {}", compared["candidates"]);
    for method in methods {
        let name = method["name"].text();
        let has_bins = ["umd", "umd-original", "umd-randomized", "ums", "fixed-width", "scaling-binning"];
        let chosen = if has_bins[..5].contains(&name) { &*candidates } else { "" };
        let bins = match name {
            "isotonic-max-bins" => "--method isotonic --max-bins 10",
            name if has_bins.contains(&name) => "--bins 10",
            _ => "",
        };
        let method_option =
            if name == "isotonic-max-bins" { String::new() } else { format!("--method {name}") };
        place.ok(&format!(
            "calib fit {method_option} {bins} {chosen} --intervals none --scores cal.csv -o one.bin --force --quiet"
        ));
        let fitted = place.inspect("one.bin");
        assert_eq!(method["parameters"], fitted["provenance"]["parameters"], "{name}");
        assert_eq!(method["len_bytes"], fitted["len_bytes"], "{name}");
    }
}
