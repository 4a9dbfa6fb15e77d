//! What `calib assess` says first: the verdict of a report.

use crate::data::{CLASSES, Json, csv, matrix, matrix_place, noise};
use crate::npy::{f32s, labels};
use crate::workplace::Workplace;

/// The rows of a model that exaggerates: what is said with `score` comes true with its square.
fn exaggerated(rows: u32) -> Vec<(f32, u8)> {
    let score = |row: u32| (row as f32 + 0.5) / rows as f32;
    (0..rows).map(|row| (score(row), u8::from(noise(row as usize) < f64::from(score(row)).powi(2)))).collect()
}

#[test]
fn an_assessment_begins_with_the_verdict_that_a_report_has() {
    let rows = exaggerated(3000);
    let turned: Vec<(f32, u8)> = rows.iter().map(|&(score, label)| (score, 1 - label)).collect();
    let right: Vec<(f32, u8)> = (0..3000_usize)
        .map(|row| ((row as f32 + 0.5) / 3000.0, u8::from(noise(row) < (row as f64 + 0.5) / 3000.0)))
        .collect();
    let every = |rows: &[(f32, u8)], part: usize| {
        csv(&rows.iter().skip(part).step_by(2).copied().collect::<Vec<_>>())
    };
    let place = Workplace::new().with("cal.csv", every(&rows, 0)).with("better.csv", every(&rows, 1));
    let place = place
        .with("worse.csv", csv(&turned))
        .with("right.csv", every(&right, 1))
        .with("own.csv", every(&right, 0));
    place.ok("calib fit --method umd --bins 5 --scores cal.csv -o cal.bin");
    place.ok("calib fit --method platt --intervals none --scores own.csv -o same.bin");
    for (artifact, test, probabilities, guarantee) in [
        ("cal.bin", "better.csv", "better", "shown"),
        ("cal.bin", "worse.csv", "worse", "contradicted"),
        ("same.bin", "right.csv", "no-sure-difference", "none"),
    ] {
        let options = format!("{artifact} --scores {test} --same-rows");
        place.says(&format!("calib assess {options}"));
        let json = place.json(&format!("calib assess {options} --bootstrap 1000 --json"));
        assert_eq!(json["verdict"]["probabilities"], probabilities, "{test}: {}", json["verdict"]);
        assert_eq!(json["verdict"]["guarantee"], guarantee, "{test}");
        // The same sentences as those of the report, from the same resamples.
        let report = place.json(&format!(
            "calib report {artifact} --calibration cal.csv --test {test} --same-rows --bootstrap 1000 --json"
        ));
        assert_eq!(json["verdict"], report["verdict"], "{test}");
        let words = place.ok(&format!("calib assess {options} --bootstrap 1000 --all")).stdout;
        for sentence in report["verdict"]["sentences"].list() {
            assert!(words.contains(sentence.text()), "{sentence}: {words}");
        }
    }
    // Without an artifact nothing is compared.
    assert_eq!(place.json("calib assess --scores right.csv --json").get("verdict"), None);
    said!();
}

#[test]
fn every_kind_of_artifact_has_a_verdict_but_of_ranks() {
    let (place, _) = matrix_place(900);
    let test = matrix(3001);
    let place = place
        .with("test_logits.npy", f32s(&[3001, CLASSES], test.logits).bytes())
        .with("test_labels.npy", labels("<i8", &test.labels).bytes());
    for (options, guarantee) in [
        ("umd --reduction top-label --rows-per-bin 50", "shown"),
        ("umd --reduction class-wise --rows-per-bin 50", "not-tested"),
        ("temperature", "shown"),
        ("temperature --intervals none", "none"),
    ] {
        let data = "--logits val_logits.npy --labels val_labels.npy";
        place.ok(&format!("calib fit --method {options} {data} -o m.bin --force"));
        let data = "--logits test_logits.npy --labels test_labels.npy";
        let json = place.json(&format!("calib assess m.bin {data} --json"));
        let verdict = &json["verdict"];
        assert_eq!(verdict["guarantee"], guarantee, "{options}");
        let report = place.json(
            "calib report m.bin --logits --calibration val_logits.npy --calibration-labels val_labels.npy --test test_logits.npy \
             --test-labels test_labels.npy --json",
        );
        for key in ["probabilities", "guarantee"] {
            assert_eq!(verdict[key], report["verdict"][key], "{options}");
        }
        let words = place.ok(&format!("calib assess m.bin {data}")).stdout;
        assert!(words.starts_with("Calibration makes ") || words.starts_with("The test rows "), "{words}");
    }
}

#[test]
fn a_page_about_scores_that_tell_nothing_says_so() {
    // Three of ten come true, whatever the score.
    let rows = |from: usize| {
        let row = |row: usize| (noise(row + from) as f32, u8::from([0, 3, 7].contains(&(row % 10))));
        csv(&(0..1500).map(row).collect::<Vec<_>>())
    };
    let place = Workplace::new().with("cal.csv", rows(0)).with("test.csv", rows(5000));
    place.ok("calib fit --method umd --bins 5 --scores cal.csv -o cal.bin");
    let run = place.says("calib report cal.bin --calibration cal.csv --test test.csv -o page.html");
    let page = place.text("page.html");
    let said = "These rows do not show that the scores separate the classes better than chance";
    assert!(page.contains(said), "{}", run.stderr);
    // The probabilities are right, and of no use.
    assert!(page.contains("Calibration makes the probabilities better"), "{}", run.stderr);
    place.says("calib assess cal.bin --scores test.csv --bootstrap 200");
    said!();
}

/// Scores that tell much, and a calibrator of two bins that is right on average: good by the Brier score, and not green.
#[test]
fn a_calibrator_that_hides_what_the_scores_tell_is_not_called_good() {
    // The scores are twice too high.
    let rows = |from: usize, n: usize| {
        let row = |row: usize| {
            let score = ((row * 7919 % n) as f32 + 0.5) / n as f32;
            (score, u8::from(noise(row + from) < 0.5 * f64::from(score)))
        };
        csv(&(0..n).map(row).collect::<Vec<_>>())
    };
    let place = Workplace::new().with("cal.csv", rows(0, 2000)).with("test.csv", rows(50_000, 4000));
    place.ok("calib fit --method umd --bins 2 --scores cal.csv -o two.bin");
    let verdict = |artifact: &str| place.json(&format!("calib assess {artifact} --scores test.csv --json"));
    let two = verdict("two.bin");
    let said = &two["verdict"];
    assert_eq!((&said["probabilities"], &said["is_coarse"]), (&"better".into(), &true.into()), "{said}");
    assert_eq!(said["values"]["count"], 2);
    let kinds: Vec<&str> = two["evidence"].list().iter().map(|found| found["kind"].text()).collect();
    assert_eq!(kinds, ["order", "mixed"]);
    // By resamples, that is from rows instead of counts, the same is found.
    let rows = place.json("calib assess two.bin --scores test.csv --bootstrap 50 --json");
    assert_eq!(rows["evidence"], two["evidence"]);
    place.ok("calib report two.bin --calibration cal.csv --test test.csv --bootstrap 20 -o page.html");
    let page = place.text("page.html");
    for part in [
        "loses part of the information in the scores",
        "2 different probabilities",
        "The device’s table: 2 bins",
        "no-guarantee",
    ] {
        assert!(page.contains(part), "{part}");
    }
    // A smooth calibrator loses nothing.
    place.ok("calib fit --method beta --scores cal.csv -o beta.bin");
    let smooth = verdict("beta.bin");
    assert_eq!((smooth["evidence"].list().len(), &smooth["verdict"]["is_coarse"]), (0, &false.into()));
}
