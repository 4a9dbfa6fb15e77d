//! What the host says that a call costs on a device, against the committed counts.

use std::collections::BTreeMap;
use std::fs;

use calib_host::artifact::{CostBasis, DeviceCost, device_costs};
use calib_host::binary::ScalingMethod;
use calib_host::{
    ArtifactOptions, BinaryData, BinaryMethod, Fit, Problems, ReductionOptions, StoredArtifact, Umd,
    artifact_bytes, fit_binary, fit_reduction,
};

/// How far the figures of the host may be from the committed counts.
const TOLERANCE: f64 = 0.02;

/// The counts at opt-level 3, by board and function.
fn baseline() -> BTreeMap<(String, String), f64> {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../firmware/bench/baseline.csv");
    let text = fs::read_to_string(path).unwrap();
    let lines = text.lines().map(|line| line.split(',').collect::<Vec<_>>());
    lines
        .filter(|cells| cells[1] == "3")
        .map(|cells| ((cells[0].into(), cells[2].into()), cells[3].parse().unwrap()))
        .collect()
}

fn costs(fit: &Fit) -> Vec<DeviceCost> {
    let bytes = artifact_bytes(fit, &ArtifactOptions::default()).unwrap();
    device_costs(&StoredArtifact::from_bytes(&bytes).unwrap().artifact())
}

/// Demands that a cost is a sum of counts on all six boards.
fn is(cost: &DeviceCost, parts: &[(f64, &str)]) {
    let baseline = baseline();
    assert_eq!(cost.cores.len(), 6);
    for core in &cost.cores {
        let count =
            |&(factor, name): &(f64, &str)| factor * baseline[&(core.board.to_owned(), name.to_owned())];
        let expected: f64 = parts.iter().map(count).sum();
        let off = core.instructions / expected - 1.0;
        assert!(off.abs() <= TOLERANCE, "{parts:?} on {}: {} for {expected}", core.board, core.instructions);
    }
}

fn binary(method: BinaryMethod) -> DeviceCost {
    let scores = (0..2000).map(|i| f64::from(i as f32 / 2000.0)).collect();
    let labels = (0..2000).map(|i| i % 50 < i / 40).collect();
    let fit = fit_binary(&BinaryData::new(scores, labels).unwrap(), &method, 0.1).unwrap();
    costs(&fit).remove(0)
}

#[test]
fn step_tables_cost_what_was_measured() {
    let umd = |bins| binary(BinaryMethod::Umd(Umd::new(bins)));
    let (small, between, large) = (umd(15), umd(32), umd(64));
    assert_eq!((small.basis, large.basis), (CostBasis::Measured, CostBasis::Measured));
    assert_eq!(between.basis, CostBasis::Interpolated);
    is(&small, &[(1.0, "calibrate_15")]);
    is(&between, &[(0.5, "calibrate_15"), (0.5, "calibrate_64")]);
    is(&large, &[(1.0, "calibrate_64")]);
}

#[test]
fn functions_cost_what_was_measured_and_what_is_around_a_lookup() {
    for (method, function) in [
        (ScalingMethod::PlattLogit, "platt_logit"),
        (ScalingMethod::PlattProb, "platt_prob"),
        (ScalingMethod::Beta, "beta"),
        (ScalingMethod::Temperature, "temperature"),
    ] {
        let got = binary(BinaryMethod::Scaling(method));
        assert_eq!(got.basis, CostBasis::Composed);
        is(&got, &[(1.0, function), (1.0, "calibrate_15"), (-1.0, "parsed_15")]);
    }
}

#[test]
fn ten_classes_cost_what_was_measured() {
    let n = 3000u16;
    let classes: Vec<u16> = (0..n).map(|i| i % 10).collect();
    let scores: Vec<f64> = (0..n).map(|i| f64::from(f32::from(i) / f32::from(n))).collect();
    let labels: Vec<i64> = (0..n).map(|i| i64::from((i % 10 + u16::from(i % 7 > 3)) % 10)).collect();
    let data = Problems::of_predictions(&classes, &scores, &labels, 10).unwrap();
    let options = ReductionOptions::new(BinaryMethod::Umd(Umd::new(15)));
    let fit = fit_reduction(&data, &options, 0.1).unwrap();
    let got = costs(&fit);
    assert_eq!(got.len(), 2);
    for (cost, function) in got.iter().zip(["top_label_probs", "top_label_logits"]) {
        assert_eq!(cost.basis, CostBasis::Measured);
        is(cost, &[(1.0, function)]);
    }
}

/// The counts that the host was built with are the committed ones.
#[test]
fn the_hosts_counts_are_the_committed_ones() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../calib-host/fit/src/artifact/cost.csv");
    let text = fs::read_to_string(path).unwrap();
    let hosts: BTreeMap<(String, String), f64> = text
        .lines()
        .skip(1)
        .map(|line| line.split(',').collect::<Vec<_>>())
        .map(|cells| ((cells[0].into(), cells[2].into()), cells[3].parse().unwrap()))
        .collect();
    let committed = baseline();
    assert_eq!(hosts.keys().collect::<Vec<_>>(), committed.keys().collect::<Vec<_>>());
    for (key, count) in &hosts {
        assert!((count / committed[key] - 1.0).abs() <= TOLERANCE, "{key:?}: {count} for {}", committed[key]);
    }
}
