//! One artifact of every kind.

use calib_core::artifact::{HeaderFlags, Method, Reduction, Table, TableForm};
use calib_core::decision::{Action, Conformity, DecisionParts, Quantile, Quantiles, SetParts};
use calib_core::{Margin, ScoreEncoding, StepTable};
use calib_host::intervals::fit_predicted;
use calib_host::joint::{CanonicalMethod, Odir, VectorScalingMethod};
use calib_host::{
    ArtifactOptions, JointMethod, Problems, StoredArtifact, VectorData, fit_joint, joint_artifact_bytes,
};
use calib_tests::overconfident_logits;

use crate::bands;
use crate::exported::rules::{CLASSES, I8, artifact, points};
use crate::exported::{artifacts, margins};

/// All of them, each with a name of its own.
pub(crate) fn all() -> Vec<(String, StoredArtifact)> {
    let mut all: Vec<(String, StoredArtifact)> =
        artifacts::all().into_iter().map(|one| (one.name, one.stored)).collect();
    let empty = margins::with_an_empty_bin();
    all.push((empty.name, empty.stored));
    all.extend(joint());
    all.extend(thresholds());
    all.extend(sets());
    all.push(deciding());
    all.extend(bands::all());
    all
}

fn joint() -> Vec<(String, StoredArtifact)> {
    let (logits, labels) = overconfident_logits(3, 600).unwrap();
    let data = VectorData::new(&logits, &labels).unwrap();
    let scaling = |method, log_probs| JointMethod::Scaling { method, log_probs, cross_validation: None };
    let problems = Problems::new(&logits, &labels, Reduction::TopLabel).unwrap();
    let beside = ArtifactOptions::default().score_intervals(Some(fit_predicted(&problems, 0.1).unwrap()));
    let methods = [
        JointMethod::Blend { seed: 0 },
        scaling(VectorScalingMethod::Temperature, false),
        scaling(VectorScalingMethod::Vector, true),
        scaling(VectorScalingMethod::Dirichlet(Odir { lambda: 0.1, mu: 0.1 }), false),
        scaling(VectorScalingMethod::StructuredVector, false),
        scaling(VectorScalingMethod::StructuredMatrix, false),
        JointMethod::Canonical(CanonicalMethod::Grid(7)),
    ];
    let stored = |method: &JointMethod| {
        let fit = fit_joint(&data, method).unwrap();
        let bytes = joint_artifact_bytes(&fit, &beside).unwrap();
        (format!("joint {}", method.method()), StoredArtifact::from_bytes(&bytes).unwrap())
    };
    methods.iter().map(stored).collect()
}

fn thresholds() -> Vec<(String, StoredArtifact)> {
    let alone = (Method::OperatingPoint, Reduction::Binary, 2);
    let none = (0, HeaderFlags::NONE);
    let key = |margin: f32| Margin::new(margin).unwrap().key();
    let probs = [[0.25f32.to_bits(), 0.75f32.to_bits()], [0.5f32.to_bits(), 1.0f32.to_bits() + 1]];
    let tables = [[0.25f32, 0.75], [0.125, 0.5]].map(|values| {
        let form = TableForm::Steps(StepTable::new(&[0.5], Box::leak(Box::new(values))).unwrap());
        Some(Table { form, epsilon: None })
    });
    let beside = artifact(
        (Method::Isotonic, Reduction::Binary, 2),
        ScoreEncoding::F32,
        (4, HeaderFlags::GROUPED),
        |writer| {
            writer.tables(&tables).unwrap();
            points(writer, &probs);
        },
    );
    vec![
        ("thresholds".into(), artifact(alone, ScoreEncoding::F32, none, |w| points(w, &probs[..1]))),
        ("thresholds of groups".into(), artifact(alone, ScoreEncoding::F32, none, |w| points(w, &probs))),
        (
            "thresholds of margins".into(),
            artifact(alone, ScoreEncoding::Margin, none, |w| points(w, &[[key(-1.0), key(2.5)]])),
        ),
        ("thresholds of codes".into(), artifact(alone, I8, none, |w| points(w, &[[20, 100]]))),
        ("thresholds beside tables of groups".into(), beside),
    ]
}

fn deciding() -> (String, StoredArtifact) {
    let form = TableForm::Steps(StepTable::new(&[0.2, 0.7], &[0.05, 0.45, 0.9]).unwrap());
    let action = |name, alarm, abstain| Action { name, alarm, abstain, if_sure: None };
    let actions = [action("leave", false, false), action("ask", false, true), action("act", true, false)];
    let parts = DecisionParts {
        thresholds: &[0.25, 0.5],
        intervals: &[0, 1, 2],
        uncalibrated: 1,
        unsure: None,
        actions: &actions,
    };
    let stored = artifact(
        (Method::Isotonic, Reduction::Binary, 2),
        ScoreEncoding::F32,
        (3, HeaderFlags::NONE),
        |writer| {
            writer.tables(&[Some(Table { form, epsilon: None })]).unwrap();
            writer.decision(&parts).unwrap();
        },
    );
    ("a decision rule".into(), stored)
}

fn sets() -> Vec<(String, StoredArtifact)> {
    let key = |margin: f32| Margin::new(margin).unwrap().key();
    let of = |conformity, encoding, key: u32| {
        let quantiles = Quantiles::All(Quantile { rows: 60, key });
        let parts = SetParts { conformity, never_empty: true, alpha: 0.1, confidence: None, quantiles };
        let stored = artifact(
            (Method::PredictionSet, Reduction::Joint, CLASSES),
            encoding,
            (0, HeaderFlags::NONE),
            |writer| writer.prediction_sets(&parts).unwrap(),
        );
        (format!("sets by {conformity:?} of {encoding}"), stored)
    };
    vec![
        of(Conformity::Score, ScoreEncoding::F32, 0.05f32.to_bits()),
        of(Conformity::Margin, ScoreEncoding::F32, key(-1.5)),
        of(Conformity::Margin, I8, Conformity::code_key(-2)),
    ]
}
