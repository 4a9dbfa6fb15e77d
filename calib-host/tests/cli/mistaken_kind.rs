//! Probabilities that are given as logits, and logits that are given as probabilities, to every command that reads a matrix.

use serde_json::Value;

use crate::data::{CLASSES, Matrix, matrix};
use crate::npy::{f32s, labels};
use crate::workplace::Workplace;

const ROWS: usize = 600;

/// The same matrix in both kinds, rounded probabilities, labels, and artifacts of each kind of calibrator.
fn place() -> Workplace {
    let Matrix { logits, probs, labels: classes, .. } = matrix(ROWS);
    let tenths = probs.iter().map(|prob| (10.0 * prob).floor() / 10.0).collect::<Vec<_>>();
    // Almost the rows that are judged, which are allowed by name: one has another label.
    let mut fitted = classes.clone();
    fitted[0] = (fitted[0] + 1) % CLASSES as u8;
    let array = |values| f32s(&[ROWS, CLASSES], values).bytes();
    let place = Workplace::new()
        .with("logits.npy", array(logits))
        .with("probs.npy", array(probs))
        .with("tenths.npy", array(tenths))
        .with("labels.npy", labels("|u1", &classes).bytes())
        .with("fitted.npy", labels("|u1", &fitted).bytes());
    let fit =
        |what: &str| place.ok(&format!("calib fit {what} --logits logits.npy --labels fitted.npy --quiet"));
    fit("--method umd --rows-per-bin 50 --reduction top-label -o top-label.bin");
    fit("--method umd --bins 3 --reduction class-wise -o class-wise.bin");
    fit("--method umd --bins 3 --reduction top-k-label --k 2 -o top-k.bin");
    fit("--method temperature --log-probs -o joint.bin");
    fit("--method vector -o needs-logits.bin");
    place
}

const ARTIFACTS: [&str; 4] = ["top-label", "class-wise", "top-k", "joint"];

/// The question that is asked of a file.
fn question(file: &str) -> String {
    format!(
        "Every row of {file} sums to one, with entries in [0, 1]: are these probabilities? Then use --probs instead of \
         --logits."
    )
}

/// A command line by the option and the file of its matrix.
fn lines() -> Vec<String> {
    let mut lines = vec![
        "fit --method umd --bins 4 --reduction class-wise KIND FILE --labels labels.npy -o new.bin --force".to_owned(),
        "fit --method temperature --log-probs KIND FILE --labels labels.npy -o new.bin --force".to_owned(),
        "assess KIND FILE --labels labels.npy".to_owned(),
        "compare KIND FILE --labels labels.npy --methods temperature --folds 2 --repeats 1 --bootstrap 5".to_owned(),
        "compare KIND FILE --labels labels.npy --methods temperature --test FILE --test-labels labels.npy --same-rows --bootstrap 5"
            .to_owned(),
    ];
    for artifact in ARTIFACTS {
        let read = "--test FILE --test-labels labels.npy";
        let calibration = "--calibration FILE --calibration-labels fitted.npy";
        lines.extend([
            format!("apply {artifact}.bin KIND FILE -o out.csv --force"),
            format!("assess {artifact}.bin KIND FILE --labels labels.npy --same-rows"),
            format!("report {artifact}.bin {calibration} {read} KIND --same-rows --bootstrap 5 -o page.html --force"),
            format!("plot reliability {artifact}.bin {read} KIND --same-rows -o plot.svg --force"),
        ]);
    }
    lines
}

/// In a report the files go by their roles, and the option stands alone.
fn line(template: &str, kind: &str, file: &str) -> String {
    format!("calib --quiet {}", template.replace("KIND", kind).replace("FILE", file))
}

#[test]
fn every_command_questions_probabilities_that_are_given_as_logits() {
    let place = place();
    for template in lines() {
        let wrong = place.says(&line(&template, "--logits", "probs.npy"));
        // A report and a comparison read two files.
        let questions = wrong.stderr.matches(&format!("warning: {}\n", question("probs.npy"))).count();
        assert!(questions > 0, "{template}: {wrong:?}");
        for (kind, file) in [("--logits", "logits.npy"), ("--probs", "probs.npy")] {
            place.says(&line(&template, kind, file));
        }
        place.says(&line(&template, "--logits", "tenths.npy"));
    }
    said!();
}

#[test]
fn every_command_refuses_logits_that_are_given_as_probabilities() {
    let place = place();
    for template in lines() {
        place.says(&line(&template, "--probs", "logits.npy"));
    }
    said!();
}

#[test]
fn the_question_is_in_the_json_and_first_on_the_page() {
    let place = place();
    let asked = |template: &str, file: &str| {
        let json = place.json(&line(&format!("{template} --json"), "--logits", file));
        json["warnings"].get(0).cloned().unwrap_or_default()
    };
    for template in lines().iter().filter(|line| !line.starts_with("apply") && !line.starts_with("plot")) {
        assert_eq!(asked(template, "probs.npy"), question("probs.npy"), "{template}");
        let first = asked(template, "logits.npy");
        assert!(first.as_str().is_none_or(|first| !first.contains("probabilities?")), "{template}: {first}");
    }
    // A reader meets it before anything that rests on it.
    let report = lines().into_iter().find(|line| line.starts_with("report")).expect("there is one");
    place.ok(&line(&report, "--logits", "probs.npy"));
    let page = place.text("page.html");
    let (asked, guarantee) = (page.find("are these probabilities?"), page.find("id=\"guarantee\""));
    assert!(asked.zip(guarantee).is_some_and(|(asked, guarantee)| asked < guarantee));
    place.ok(&line(&report, "--logits", "logits.npy"));
    assert!(!place.text("page.html").contains("are these probabilities?"));
}

/// The figures of a report that says nothing of its matrix are those of the right kind.
#[test]
fn a_matrix_that_nobody_names_is_what_its_numbers_are() {
    let place = place();
    for artifact in ARTIFACTS {
        let report = |kind: &str, file: &str| -> Value {
            let roles = [("calibration", "fitted"), ("test", "labels")]
                .map(|(role, labels)| format!("--{role} {file} --{role}-labels {labels}.npy"));
            let line = format!(
                "calib report {artifact}.bin {kind} {} --same-rows --bootstrap 5 --json",
                roles.join(" ")
            );
            place.json(&line)["metrics"].take()
        };
        for (kind, file) in [("logits", "logits.npy"), ("probs", "probs.npy")] {
            let named = report(&format!("--{kind}"), file);
            assert_eq!(report("", file), named, "{artifact}, {file}");
        }
    }
}

/// An artifact that takes logits alone knows what a matrix is.
#[test]
fn an_artifact_of_logits_takes_a_matrix_for_logits() {
    let place = place();
    let files = |file: &str| {
        let roles = [("calibration", "fitted"), ("test", "labels")]
            .map(|(role, labels)| format!("--{role} {file} --{role}-labels {labels}.npy"));
        format!("calib report needs-logits.bin {} --same-rows --bootstrap 5 --json", roles.join(" "))
    };
    let asked = place.ok(&files("probs.npy"));
    assert_eq!(asked.json()["warnings"][0], question("probs.npy"));
    assert!(asked.stderr.starts_with(&format!("warning: {}", question("probs.npy"))), "{}", asked.stderr);
    place.says(&files("logits.npy"));
    place.says(&format!("{} --probs", files("probs.npy")));
    said!();
}

/// Those that read one column of scores or probabilities refuse a matrix.
#[test]
fn commands_of_one_column_refuse_a_matrix() {
    let place = place().with(
        "costs.toml",
        "[[action]]\nname = \"wait\"\npositive = 1\nnegative = 0\nalarm = false\n[[action]]\nname = \"act\"\npositive = 0\n\
         negative = 1\nalarm = true\n",
    );
    for line in [
        "decide --actions costs.toml --probs probs.npy",
        "bins --scores probs.npy --labels labels.npy",
        "fit --method umd --bins 3 --scores probs.npy --labels labels.npy -o new.bin",
    ] {
        place.says(&format!("calib {line}"));
    }
    said!();
}

#[test]
fn both_kinds_at_once_are_refused() {
    let place = place();
    let line = "calib report top-label.bin --calibration probs.npy --test probs.npy --json";
    place.says(&format!("{line} --logits --probs"));
    said!();
}
