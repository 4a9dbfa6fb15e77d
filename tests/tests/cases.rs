//! Both real problems, end to end: train, fit, deploy, and compare host and device on every row.

use std::fs;

use calib_core::{Artifact, Outcome};
use calib_host::binary::{BoundaryPoints, FixedWidth, Isotonic, Loss, ScalingBinning, ScalingMethod, Ums};
use calib_host::{
    ArtifactOptions, BinaryData, BinaryMethod, Fit, ReductionOptions, StoredArtifact, TopLabelData, Umd,
    VectorKind, Vectors, artifact_bytes, fit_binary, fit_top_label,
};
use calib_tests::{Case, Emulator, bare_scores, build_firmware, classified_rows};

/// Fits, deploys, and demands the same bits on every calibration and test row and on so many bare scores.
fn host_and_device_agree(case: &Case, fits: &[Fit], scores: usize) {
    let folder = tempfile::tempdir().unwrap();
    let json = folder.path().join("classifier.json");
    case.model.save(&json).unwrap();
    let elf = build_firmware(&json).unwrap();
    for fit in fits {
        let classifier = Some(case.model.parameters().id);
        let options = ArtifactOptions { classifier, intervals: true, ..ArtifactOptions::default() };
        let bytes = artifact_bytes(fit, &options).unwrap();
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

        let bare = bare_scores(&mut device, case.model.parameters().alarm, &artifact, scores, 1).unwrap();
        assert!(bare.predictions.len() >= scores);
        assert_eq!(bare.differences, [] as [&str; 0]);
    }
}

fn breast_cancer_data(case: &Case) -> BinaryData {
    let scores = case.calibration.features.iter().map(|row| f64::from(case.model.score(row).unwrap().get()));
    let labels = case.calibration.labels.iter().map(|&label| label == 1);
    BinaryData::new(scores.collect(), labels.collect()).unwrap().on_device()
}

#[test]
fn breast_cancer() {
    let case = Case::breast_cancer().unwrap();
    let data = breast_cancer_data(&case);
    let fits = [BinaryMethod::Umd(Umd::new(5)), BinaryMethod::Isotonic(Isotonic::default())]
        .map(|method| fit_binary(&data, &method, 0.1).unwrap());
    host_and_device_agree(&case, &fits[..1], 10_000);
    host_and_device_agree(&case, &fits[1..], 1000);
}

#[test]
fn every_binary_method() {
    let case = Case::breast_cancer().unwrap();
    let data = breast_cancer_data(&case);
    let original = Umd { boundary_points: BoundaryPoints::Kept, ..Umd::new(5) };
    let irp = Isotonic { max_bins: Some(4), smoothing: 1.0 };
    let scaling = ScalingMethod::Beta;
    let methods = [
        BinaryMethod::Umd(original),
        BinaryMethod::UmdRandomized(Umd::new(5), 7),
        BinaryMethod::Ums(Ums { bins: 5, seed: 7 }),
        BinaryMethod::FixedWidth(FixedWidth { bins: 20 }),
        BinaryMethod::Isotonic(irp),
        BinaryMethod::IsotonicInterpolated(Isotonic::default()),
        BinaryMethod::ScalingBinning(ScalingBinning { scaling, loss: Loss::Log, bins: 5, split_seed: None }),
        BinaryMethod::Scaling(ScalingMethod::PlattLogit),
        BinaryMethod::Scaling(ScalingMethod::PlattProb),
        BinaryMethod::Scaling(ScalingMethod::Beta),
        BinaryMethod::Scaling(ScalingMethod::Temperature),
        BinaryMethod::VennAbers,
    ];
    let fits = methods.map(|method| fit_binary(&data, &method, 0.1).unwrap());
    host_and_device_agree(&case, &fits, 1000);
}

#[test]
fn digits() {
    let case = Case::digits().unwrap();
    let logits: Vec<f32> =
        case.calibration.features.iter().flat_map(|row| case.model.logits(row).unwrap()).collect();
    let vectors = Vectors::new(logits, 10, VectorKind::Logits).unwrap();
    let labels: Vec<i64> = case.calibration.labels.iter().map(|&label| label.into()).collect();
    let data = TopLabelData::from_vectors(&vectors, &labels).unwrap();
    let umd = ReductionOptions { method: BinaryMethod::Umd(Umd::new(1)), points_per_bin: Some(30) };
    let isotonic =
        ReductionOptions { method: BinaryMethod::Isotonic(Isotonic::default()), points_per_bin: Some(50) };
    let fits = [umd, isotonic].map(|options| fit_top_label(&data, &options, 0.1).unwrap());
    host_and_device_agree(&case, &fits[..1], 10_000);
    host_and_device_agree(&case, &fits[1..], 1000);
}
