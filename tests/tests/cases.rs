//! Both real problems, end to end: train, fit, deploy, and compare host and device on every row.

use std::fs;

use calib_core::{Artifact, Outcome};
use calib_host::{
    BinaryData, BinaryMethod, Boundary, Fit, Isotonic, Origin, StoredArtifact, TopLabelData, TopLabelOptions,
    Umd, VectorKind, Vectors, artifact_bytes, fit_binary, fit_top_label,
};
use calib_tests::{Case, Emulator, bare_scores, build_firmware, classified_rows};

/// Fits, deploys, and demands the same bits on every calibration and test row and on 10 000 bare scores.
fn host_and_device_agree(case: &Case, fits: &[Fit]) {
    let folder = tempfile::tempdir().unwrap();
    let json = folder.path().join("classifier.json");
    case.model.save(&json).unwrap();
    let elf = build_firmware(&json).unwrap();
    for fit in fits {
        let origin = Origin { classifier: Some(case.model.parameters().id), ..Origin::default() };
        let bytes = artifact_bytes(fit, &origin).unwrap();
        let slot = folder.path().join("cal.bin");
        fs::write(&slot, &bytes).unwrap();
        let stored = StoredArtifact::from_bytes(&bytes).unwrap();
        let artifact: Artifact<'_> = stored.artifact();

        let mut device = Emulator::start(&elf, Some(&slot)).unwrap();
        let rows = [&case.test.features[..], &case.calibration.features[..]].concat();
        let classified = classified_rows(&mut device, &case.model, &artifact, &rows).unwrap();
        assert_eq!(classified.differences, [] as [&str; 0]);
        let calibrated =
            classified.predictions.iter().filter(|p| matches!(p.outcome, Outcome::Calibrated(_))).count();
        assert!(calibrated * 10 > rows.len() * 9, "{calibrated} of {} calibrated", rows.len());

        let bare = bare_scores(&mut device, case.model.parameters().alarm, &artifact, 10_000, 1).unwrap();
        assert!(bare.predictions.len() >= 10_000);
        assert_eq!(bare.differences, [] as [&str; 0]);
    }
}

#[test]
fn breast_cancer() {
    let case = Case::breast_cancer().unwrap();
    let scores = case.calibration.features.iter().map(|row| f64::from(case.model.score(row).unwrap().get()));
    let labels = case.calibration.labels.iter().map(|&label| label == 1);
    let data = BinaryData::new(scores.collect(), labels.collect()).unwrap().on_device();
    let umd = BinaryMethod::Umd(Umd { bins: 5, boundary: Boundary::Ceil });
    let fits = [umd, BinaryMethod::Isotonic(Isotonic)].map(|method| fit_binary(&data, &method, 0.1).unwrap());
    host_and_device_agree(&case, &fits);
}

#[test]
fn digits() {
    let case = Case::digits().unwrap();
    let logits: Vec<f32> =
        case.calibration.features.iter().flat_map(|row| case.model.logits(row).unwrap()).collect();
    let vectors = Vectors::new(logits, 10, VectorKind::Logits).unwrap();
    let labels: Vec<i64> = case.calibration.labels.iter().map(|&label| label.into()).collect();
    let data = TopLabelData::from_vectors(&vectors, &labels).unwrap();
    let umd = TopLabelOptions::UmdPointsPerBin { points_per_bin: 30, boundary: Boundary::Ceil };
    let fits = [umd, TopLabelOptions::Isotonic { min_points: 50 }]
        .map(|options| fit_top_label(&data, &options, 0.1).unwrap());
    host_and_device_agree(&case, &fits);
}
