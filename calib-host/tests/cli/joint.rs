//! Calibrators of whole vectors from the command line: fit, inspect, apply, and what goes wrong.

use calib_core::Logits;
use serde_json::json;

use crate::data::Json;
use crate::npy::{f32s, i64s};
use crate::workplace::Workplace;

const ROWS: usize = 900;
const CLASSES: usize = 3;

/// Logits of three classes, and labels that follow the softmax of half of them.
fn matrix() -> (Vec<f32>, Vec<i64>) {
    let mut state = 11u64;
    let mut random = move || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 40) as f32 / (1 << 24) as f32
    };
    let (mut logits, mut labels) = (Vec::new(), Vec::new());
    for _ in 0..ROWS {
        let row: [f32; CLASSES] = std::array::from_fn(|_| 6.0 * random() - 3.0);
        let mut below = random();
        let halves = row.map(|logit| logit / 2.0);
        let label = Logits::new(&halves).unwrap().scores().position(|score| {
            below -= score.get();
            below < 0.0
        });
        labels.push(label.unwrap_or(0) as i64);
        logits.extend(row);
    }
    (logits, labels)
}

fn place() -> Workplace {
    let (logits, labels) = matrix();
    let mut probs = vec![0.0; logits.len()];
    for (row, place) in logits.chunks(CLASSES).zip(probs.chunks_mut(CLASSES)) {
        Logits::new(row).unwrap().write_softmax(place).unwrap();
    }
    Workplace::new()
        .with("logits.npy", f32s(&[ROWS, CLASSES], logits).bytes())
        .with("probs.npy", f32s(&[ROWS, CLASSES], probs).bytes())
        .with("labels.npy", i64s(labels).bytes())
        .with("scores.csv", "score,label\n0.25,0\n0.5,1\n0.75,1\n")
}

fn fit(options: &str) -> String {
    format!("calib fit {options} --labels labels.npy -o cal.bin --force")
}

/// Options, number of cells or 0, and whether the artifact takes logits only, if fitted to them.
const METHODS: [(&str, u64, bool); 18] = [
    ("temperature", 0, true),
    ("temperature --log-probs", 0, false),
    ("vector", 0, true),
    ("matrix", 0, true),
    ("matrix --odir 0.1", 0, true),
    ("matrix --log-probs --odir 0,0.5", 0, false),
    ("dirichlet", 0, false),
    ("dirichlet --folds 3 --seed 4", 0, false),
    ("svs", 0, false),
    ("sms", 0, false),
    ("sierpinski --resolution 2", 13, false),
    ("grid --resolution 4", 16, false),
    ("projection --bins 12", 12, false),
    ("projection-random --bins 9 --seed 2", 9, false),
    ("multiclass-irp --max-bins 1", 1, false),
    ("multiclass-irp --max-bins 3 --resolution 9", 3, false),
    ("multiclass-irp --max-bins 5 --smoothing paper --resolution 12", 5, false),
    ("multiclass-irp --max-bins 3 --folds 4 --smoothing 0.5", 3, false),
];

#[test]
fn every_method_is_fitted_and_applied() {
    let place = place();
    for (method, cells, logits_only) in METHODS {
        let name = method.split(' ').next().unwrap();
        let name = name.strip_suffix("-random").unwrap_or(name);
        for file in ["--logits logits.npy", "--probs probs.npy"] {
            let line = fit(&format!("--method {method} {file}"));
            let report = place.json(&format!("{line} --json"));
            assert_eq!((&report["method"], &report["reduction"]), (&json!(name), &json!("joint")));
            assert_eq!((&report["bins"], &report["guarantee"]), (&json!(cells), &json!(null)), "{method}");

            let inspected = place.inspect("cal.bin");
            assert_eq!((&inspected["method"], &inspected["bins"]), (&json!(name), &json!(cells)));
            assert_eq!(inspected["tables"], json!([]));
            let joint = &inspected["joint"];
            assert!(joint.is_object(), "{method}");
            if cells > 0 {
                let values = joint["values"].list();
                let sum = |cell: &serde_json::Value| -> f64 {
                    cell.list().iter().map(|value| value.number()).sum()
                };
                let expected = if method.contains("paper") { 1.15 / 1.05 } else { 1.0 };
                assert_eq!(values.len() as u64, cells);
                let empty = |i: usize| joint["flags"][i] == 1;
                assert!(
                    values
                        .iter()
                        .enumerate()
                        .all(|(i, cell)| empty(i) || (sum(cell) - expected).abs() < 1e-6)
                );
            }
            let text = place.ok("calib inspect cal.bin --all").stdout;
            assert!(text.contains("guarantee   an interval for each score range"), "{text}");

            let logits_only = logits_only && file.starts_with("--logits");
            for other in ["--logits logits.npy", "--probs probs.npy"] {
                place.says(&format!("calib apply cal.bin {other} -o out.csv --force"));
                if logits_only && other.starts_with("--probs") {
                    continue;
                }
                let (header, rows) = place.table("out.csv");
                assert_eq!(header, ["class", "prob_0", "prob_1", "prob_2", "flags", "lo", "hi"]);
                assert_eq!(rows.len(), ROWS);
            }
        }
    }
    said!();
}

/// Whether the regions that cross-validation chose are better than the scores as they are.
#[test]
fn cross_validated_regions_are_compared_with_the_scores() {
    let place = place();
    let line = fit("--method multiclass-irp --folds 4 --logits logits.npy");
    place.says(&line);
    let held_out = place.json(&format!("{line} --json"))["held_out"].take();
    let number = |name: &str| held_out[name].number();
    assert!((number("change") - number("log_loss") + number("uncalibrated")).abs() < 1e-12);
    // The logits are twice too large, which costs more than a few regions do.
    assert!(held_out["is_better"] == true && number("change") < 0.0, "{held_out}");
    assert_eq!(
        place.json(&fit("--method multiclass-irp --logits logits.npy --json"))["held_out"],
        json!(null)
    );
    said!();
}

/// One sentence wherever an artifact is applied.
#[test]
fn logits_are_asked_for_everywhere() {
    let place = place();
    place.ok(&fit("--method vector --logits logits.npy"));
    for line in
        ["apply cal.bin --probs probs.npy -o out.csv", "assess cal.bin --probs probs.npy --labels labels.npy"]
    {
        place.says(&format!("calib {line}"));
    }
    said!();
}

#[test]
fn scaling_finds_that_the_logits_are_twice_too_large() {
    let place = place();
    let report = place.json(&(fit("--method temperature --logits logits.npy") + " --json"));
    assert!((report["temperature"].number() - 2.0).abs() < 0.3, "{report}");
    let on_probs = place.json(&(fit("--method temperature --probs probs.npy") + " --json"));
    let difference = report["temperature"].number() - on_probs["temperature"].number();
    assert!(difference.abs() < 1e-4, "{difference}");
}

#[test]
fn bad_options_are_named() {
    let place = place();
    let refused = |options: &str| {
        place.says(&fit(options));
    };
    let logits = "--logits logits.npy";
    refused(&format!("--method dirichlet {logits} --reduction top-label"));
    refused(&format!("--method umd --bins 3 {logits}"));
    refused(&format!("--method sierpinski {logits}"));
    refused(&format!("--method grid {logits}"));
    refused(&format!("--method projection {logits}"));
    refused(&format!("--method vector --resolution 3 {logits}"));
    refused(&format!("--method dirichlet --log-probs {logits}"));
    refused(&format!("--method dirichlet --bins 3 {logits}"));
    refused(&format!("--method svs --log-probs {logits}"));
    refused(&format!("--method sms --odir 0.1 {logits}"));
    refused(&format!("--method sms --folds 5 {logits}"));
    refused(&format!("--method grid --resolution 3 --smoothing 1 {logits}"));
    for options in
        ["--method grid --resolution 3", "--method platt --resolution 3", "--method temperature --log-probs"]
    {
        place.says(&format!("calib fit {options} --scores scores.csv -o cal.bin --force"));
    }
    refused(&format!("--method sierpinski --resolution 0 {logits}"));
    refused(&format!("--method dirichlet --odir=-1 {logits}"));
    refused(&format!("--method multiclass-irp --folds 1 {logits}"));
    refused(&format!("--method multiclass-irp --max-bins 0 {logits}"));
    refused(&format!("--method sierpinski --resolution 30 {logits}"));
    refused(&format!("--method projection --bins 700 {logits}"));
    said!();
}

#[test]
fn bad_data_are_named() {
    let rows = |logits: &[f32], classes: usize, labels: &[i64]| {
        Workplace::new()
            .with("logits.npy", f32s(&[labels.len(), classes], logits.to_vec()).bytes())
            .with("labels.npy", i64s(labels.to_vec()).bytes())
    };
    let refused = |place: &Workplace, method: &str| {
        place.says(&fit(&format!("--method {method} --logits logits.npy")));
    };
    let absent = rows(&[1.0, 0.0, 0.5, 0.0, 1.0, 0.5, 1.0, 0.5, 0.0], 3, &[0, 1, 1]);
    refused(&absent, "vector");
    refused(&absent, "dirichlet");
    let one = rows(&[1.0, 0.0, 0.5, 0.0, 1.0, 0.5], 3, &[1, 1]);
    refused(&one, "temperature");
    refused(&one, "grid --resolution 3");
    let right = rows(&[2.0, 0.0, 0.0, 0.0, 2.0, 0.0, 0.0, 0.0, 2.0], 3, &[0, 1, 2]);
    refused(&right, "matrix");
    refused(&right, "temperature");
    refused(&right, "sms");
    // No penalty is on the diagonal, so none is a way out.
    refused(&right, "dirichlet --odir 1e6,1e6");
    refused(&right, "dirichlet --odir 0.01");
    refused(&absent, "svs");
    let equal = rows(&[1.0; 9], 3, &[0, 1, 2]);
    refused(&equal, "temperature");
    let many = rows(&[0.5; 34], 17, &[0, 1]);
    refused(&many, "multiclass-irp");
    refused(&many, "sierpinski --resolution 4");
    said!();
}

#[test]
fn the_counter_goes_into_the_artifact() {
    let place = place();
    for method in ["temperature", "sierpinski --resolution 2"] {
        place.ok(&fit(&format!("--method {method} --logits logits.npy --counter 7")));
        assert_eq!(place.inspect("cal.bin")["counter"], 7, "{method}");
    }
}
