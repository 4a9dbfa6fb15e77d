//! Every calibrator of whole vectors on the device against the same code on the host, bit for bit.

use std::fs;

use calib_core::wire::{Refusal, ReplyBody, RequestBody};
use calib_core::{ClassifierId, Outcome};
use calib_firmware::{AlarmRule, LinearModel, LinearParameters};
use calib_host::{
    ArtifactOptions, CanonicalMethod, CrossValidation, Directions, JointMethod, MulticlassIrp, Odir,
    ProjectionBinning, Splits, StoredArtifact, VectorData, VectorKind, VectorScalingMethod, Vectors,
    fit_joint, joint_artifact_bytes,
};
use calib_tests::{Emulator, build_firmware, vectors};
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

const ALARM: AlarmRule = AlarmRule::Below(0.5);

/// A classifier that only counts its classes: these tests send its output.
fn classifier(classes: usize) -> LinearModel {
    LinearModel::new(LinearParameters {
        name: format!("{classes}-classes"),
        id: ClassifierId(*b"allkinds"),
        mean: vec![0.0],
        scale: vec![1.0],
        weights: vec![vec![1.0]; classes],
        bias: vec![0.0; classes],
        alarm: ALARM,
    })
    .unwrap()
}

/// Random logits, and labels drawn from their softmax at half the logits: the classifier is overconfident.
fn calibration_data(classes: usize, n: usize) -> VectorData {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(classes as u64);
    let logits: Vec<f32> = (0..n * classes).map(|_| rng.random_range(-4.0..4.0)).collect();
    let label = |row: &[f32], mut draw: f32| {
        let weights: Vec<f32> = row.iter().map(|logit| (logit / 2.0).exp()).collect();
        draw *= weights.iter().sum::<f32>();
        weights.iter().position(|weight| {
            draw -= weight;
            draw < 0.0
        })
    };
    let labels: Vec<i64> =
        logits.chunks_exact(classes).map(|row| label(row, rng.random()).unwrap_or(0) as i64).collect();
    VectorData::new(&Vectors::new(logits, classes, VectorKind::Logits).unwrap(), &labels).unwrap()
}

fn scaling(method: VectorScalingMethod, log_probs: bool) -> JointMethod {
    JointMethod::Scaling { method, log_probs, cross_validation: None }
}

/// Fits, deploys, and demands the same bits for every vector.
fn host_and_device_agree(classes: usize, n: usize, methods: &[JointMethod]) {
    let model = classifier(classes);
    let folder = tempfile::tempdir().unwrap();
    let json = folder.path().join("classifier.json");
    model.save(&json).unwrap();
    let elf = build_firmware(&json).unwrap_or_else(|error| panic!("{error:#}"));
    let data = calibration_data(classes, n);
    for method in methods {
        let name = method.method();
        let fit = fit_joint(&data, method).unwrap();
        let bytes = joint_artifact_bytes(&fit, &ArtifactOptions::default()).unwrap();
        assert!(bytes.len() <= 64 << 10, "{name}: {} bytes", bytes.len());
        let slot = folder.path().join("cal.bin");
        fs::write(&slot, &bytes).unwrap();
        let stored = StoredArtifact::from_bytes(&bytes).unwrap();
        let artifact = stored.artifact();
        let mut device = Emulator::start(&elf, Some(&slot)).unwrap_or_else(|error| panic!("{error:#}"));

        let sent = vectors(&mut device, ALARM, &artifact, 1000, 3).unwrap();
        assert_eq!(sent.differences, [] as [&str; 0], "{name}");
        assert!(sent.replies.len() >= 1000);
        assert!(sent.predictions.iter().all(|p| matches!(p.outcome, Outcome::Calibrated(_))), "{name}");
        for reply in &sent.replies {
            let ReplyBody::Classes(reply) = reply else { panic!("{name}: {reply:?}") };
            let sum: f32 = reply.probs.iter().map(|prob| prob.unwrap()).sum();
            assert!(reply.probs.len() == classes && (sum - 1.0).abs() < 1e-4, "{name}: {reply:?}");
        }
        // A function of logits refuses probabilities.
        let calib_core::Calibrator::Vector(calibrator) = artifact.calibrator() else { panic!("{name}") };
        let probs = vec![1.0 / classes as f32; classes].into_iter().collect();
        let reply = device.pipeline([RequestBody::Probs(probs)]).unwrap().remove(0);
        let refused = matches!(reply, ReplyBody::Refused(Refusal::Kind { .. }));
        assert_eq!(refused, calibrator.needs_logits(), "{name}: {reply:?}");
    }
}

const SOME: Odir = Odir { lambda: 0.1, mu: 0.1 };

#[test]
fn three_classes() {
    let irp = MulticlassIrp {
        cross_validation: Some(CrossValidation { folds: 5, seed: 1 }),
        ..MulticlassIrp::default()
    };
    let by_grid = MulticlassIrp { splits: Splits::Grid(20), strict: true, ..MulticlassIrp::default() };
    let projection = |bins, directions| CanonicalMethod::Projection(ProjectionBinning { bins, directions });
    let canonical = [
        CanonicalMethod::Sierpinski(3),
        CanonicalMethod::Grid(7),
        projection(27, Directions::Rotate),
        projection(20, Directions::Random(5)),
        CanonicalMethod::MulticlassIrp(irp),
        CanonicalMethod::MulticlassIrp(by_grid),
    ];
    let scaling = [
        scaling(VectorScalingMethod::Temperature, false),
        scaling(VectorScalingMethod::Temperature, true),
        scaling(VectorScalingMethod::Vector, false),
        scaling(VectorScalingMethod::Vector, true),
        scaling(VectorScalingMethod::Matrix(Odir::default()), false),
        scaling(VectorScalingMethod::Dirichlet(SOME), false),
    ];
    let methods: Vec<_> = scaling.into_iter().chain(canonical.map(JointMethod::Canonical)).collect();
    host_and_device_agree(3, 3000, &methods);
}

#[test]
fn ten_classes() {
    let projection = ProjectionBinning { bins: 40, directions: Directions::Rotate };
    let irp = MulticlassIrp { max_regions: Some(100), ..MulticlassIrp::default() };
    let methods = [
        scaling(VectorScalingMethod::Temperature, false),
        scaling(VectorScalingMethod::Vector, true),
        scaling(VectorScalingMethod::Matrix(SOME), false),
        scaling(VectorScalingMethod::Dirichlet(SOME), false),
        JointMethod::Canonical(CanonicalMethod::Sierpinski(2)),
        JointMethod::Canonical(CanonicalMethod::Grid(3)),
        JointMethod::Canonical(CanonicalMethod::Projection(projection)),
        JointMethod::Canonical(CanonicalMethod::MulticlassIrp(irp)),
    ];
    host_and_device_agree(10, 2000, &methods);
}

#[test]
fn a_hundred_classes() {
    let methods = [
        scaling(VectorScalingMethod::Temperature, true),
        scaling(VectorScalingMethod::Vector, false),
        scaling(VectorScalingMethod::Dirichlet(Odir { lambda: 10.0, mu: 10.0 }), false),
    ];
    host_and_device_agree(100, 1200, &methods);
}
