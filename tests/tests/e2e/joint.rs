//! Every calibrator of whole vectors on the device against the same code on the host, bit for bit.

use calib_core::artifact::{Method, Reduction};
use calib_core::wire::{Answer, Beside, Refusal, ReplyBody, RequestBody, Scores};
use calib_core::{Artifact, BinFlags, Calibrator, Outcome, VectorCalibrator};
use calib_host::intervals::fit_predicted;
use calib_host::joint::{
    CanonicalMethod, Directions, MulticlassIrp, Odir, ProjectionBinning, Splits, VectorScalingMethod,
};
use calib_host::stats::CrossValidation;
use calib_host::{ArtifactOptions, JointMethod, Problems, VectorData, fit_joint, joint_artifact_bytes};
use calib_tests::{Board, overconfident_logits};

use crate::harness::{Image, calibrated};

fn scaling(method: VectorScalingMethod, log_probs: bool) -> JointMethod {
    JointMethod::Scaling { method, log_probs, cross_validation: None }
}

/// The artifact of each method, with intervals of the predicted class if they are wanted.
pub(crate) fn artifacts(
    (classes, n): (usize, usize),
    methods: &[JointMethod],
    has_intervals: bool,
) -> Vec<(Method, Vec<u8>)> {
    let (logits, labels) = overconfident_logits(classes, n).unwrap();
    let data = VectorData::new(&logits, &labels).unwrap();
    let problems = Problems::new(&logits, &labels, Reduction::TopLabel).unwrap();
    let found = has_intervals.then(|| fit_predicted(&problems, 0.1).unwrap());
    let beside = ArtifactOptions::default().score_intervals(found);
    let fitted = |method| joint_artifact_bytes(&fit_joint(&data, method).unwrap(), &beside).unwrap();
    methods.iter().map(|method| (method.method(), fitted(method))).collect()
}

/// Fits, deploys, and demands the same bits for every vector, its interval among them.
fn host_and_device_agree(classes: usize, n: usize, methods: &[JointMethod]) {
    let image = Image::stand_in(Board::Mps2An386, classes);
    for (name, bytes) in artifacts((classes, n), methods, true) {
        assert!(bytes.len() <= 64 << 10, "{name}: {} bytes", bytes.len());
        let mut deployed = image.deploy(name.to_string(), &bytes);

        let sent = deployed.vectors(1000, 3);
        // Only a vector in a cell without calibration points has no probabilities.
        let (all, calibrated) = (sent.predictions.len(), calibrated(&sent));
        assert!(calibrated == all || has_empty_cells(&deployed.artifact()) && calibrated * 2 > all, "{name}");
        let found = deployed.artifact().score_intervals().unwrap();
        for reply in &sent.replies {
            let ReplyBody::Answer(Answer { class, outcome, beside: Beside::Probs(probs), .. }) = reply else {
                panic!("{name}: {reply:?}")
            };
            // Every class that was predicted in a calibration row has ranges.
            if let Outcome::Calibrated(first) = outcome {
                let range =
                    found.table((*class).into()).map(|ranges| ranges.interval(first.bin.into()).unwrap());
                assert_eq!(
                    (first.interval, first.flags.contains(BinFlags::RANGE)),
                    (range, range.is_some()),
                    "{name}"
                );
            }
            if probs.iter().all(|prob| prob.is_nan()) {
                assert!(calibrated < all, "{name}: {reply:?}");
                continue;
            }
            let sum: f32 = probs.iter().sum();
            assert!(probs.len() == classes && (sum - 1.0).abs() < 1e-4, "{name}: {reply:?}");
        }
        // A function of logits refuses probabilities.
        let probs = vec![1.0 / classes as f32; classes].into_iter().collect();
        let reply = deployed.device.request(RequestBody::predict(Scores::Probs(probs))).unwrap();
        let refused = matches!(reply, ReplyBody::Refused(Refusal::Kind { .. }));
        let Calibrator::Vector(calibrator) = deployed.artifact().calibrator() else { panic!("{name}") };
        assert_eq!(refused, calibrator.needs_logits(), "{name}: {reply:?}");
    }
}

/// Whether some cell of the simplex holds no calibration point.
fn has_empty_cells(artifact: &Artifact<'_>) -> bool {
    let Calibrator::Vector(VectorCalibrator::Binned(cells)) = artifact.calibrator() else { return false };
    (0..artifact.header().bins).any(|cell| cells.flags(cell as u16).contains(BinFlags::EMPTY))
}

const SOME: Odir = Odir { lambda: 0.1, mu: 0.1 };

pub(crate) fn of_three_classes() -> Vec<JointMethod> {
    let irp = MulticlassIrp {
        cross_validation: Some(CrossValidation { folds: 5, seed: 1 }),
        ..MulticlassIrp::default()
    };
    let by_grid = MulticlassIrp { splits: Splits::Grid(20), ..MulticlassIrp::default() };
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
        JointMethod::Blend { seed: 0 },
        JointMethod::Unchanged,
        scaling(VectorScalingMethod::Temperature, false),
        scaling(VectorScalingMethod::Temperature, true),
        scaling(VectorScalingMethod::Vector, false),
        scaling(VectorScalingMethod::Vector, true),
        scaling(VectorScalingMethod::Matrix(Odir::default()), false),
        scaling(VectorScalingMethod::Dirichlet(SOME), false),
        scaling(VectorScalingMethod::StructuredVector, false),
        scaling(VectorScalingMethod::StructuredMatrix, false),
    ];
    scaling.into_iter().chain(canonical.map(JointMethod::Canonical)).collect()
}

pub(crate) fn of_ten_classes() -> Vec<JointMethod> {
    let projection = ProjectionBinning { bins: 40, directions: Directions::Rotate };
    let irp = MulticlassIrp { max_regions: Some(100), ..MulticlassIrp::default() };
    vec![
        JointMethod::Blend { seed: 0 },
        scaling(VectorScalingMethod::Temperature, false),
        scaling(VectorScalingMethod::Vector, true),
        scaling(VectorScalingMethod::Matrix(SOME), false),
        scaling(VectorScalingMethod::Dirichlet(SOME), false),
        scaling(VectorScalingMethod::StructuredMatrix, false),
        JointMethod::Canonical(CanonicalMethod::Sierpinski(2)),
        JointMethod::Canonical(CanonicalMethod::Grid(3)),
        JointMethod::Canonical(CanonicalMethod::Projection(projection)),
        JointMethod::Canonical(CanonicalMethod::MulticlassIrp(irp)),
    ]
}

#[test]
fn three_classes() {
    host_and_device_agree(3, 3000, &of_three_classes());
}

#[test]
fn ten_classes() {
    host_and_device_agree(10, 2000, &of_ten_classes());
}

#[test]
fn a_hundred_classes() {
    let methods = [
        JointMethod::Blend { seed: 0 },
        scaling(VectorScalingMethod::Temperature, true),
        scaling(VectorScalingMethod::Vector, false),
        scaling(VectorScalingMethod::Dirichlet(Odir { lambda: 10.0, mu: 10.0 }), false),
        scaling(VectorScalingMethod::StructuredVector, false),
    ];
    host_and_device_agree(100, 1200, &methods);
}
