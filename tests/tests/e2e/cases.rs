//! Both real problems, end to end: train, fit, deploy, and compare host and device on every row.

use calib_host::binary::{FixedWidth, Isotonic, ScalingMethod};
use calib_host::job::{MethodName, NamedMethod, ScalingName};
use calib_host::names::Named;
use calib_host::{
    ArtifactOptions, BinaryMethod, Fit, ReductionOptions, ScoreKind, Umd, artifact_bytes, fit_binary,
    fit_reduction, intervals,
};
use calib_tests::Board;
use calib_tests::classifier::Case;

use crate::harness::{self, Image, binary_data, calibrated, random_inputs, top_label_data};

/// Fits, deploys, and demands the same bits on every test row, on calibration rows, and on so many bare scores.
fn host_and_device_agree(case: &Case, fits: &[Fit], scores: usize) {
    agree_with(case, fits, scores, &ArtifactOptions::default().intervals(true));
}

/// The same for artifacts with these options.
fn agree_with(case: &Case, fits: &[Fit], scores: usize, options: &ArtifactOptions) {
    let image = Image::new(Board::Mps2An386, case.model.clone());
    let calibration = &case.calibration.features;
    let rows = [&case.test.features[..], &calibration[..random_inputs(calibration.len())]].concat();
    for fit in fits {
        let classifier = Some(case.model.parameters().id);
        let options = options.clone().classifier(classifier);
        let mut deployed = image.deploy(case.name, &artifact_bytes(fit, &options).unwrap());
        let classified = deployed.rows(&rows);
        let calibrated = calibrated(&classified);
        assert!(calibrated * 10 > rows.len() * 9, "{calibrated} of {} calibrated", rows.len());
        deployed.bare_scores(scores, 1);
    }
}

#[test]
fn breast_cancer() {
    let case = harness::breast_cancer();
    let data = binary_data(case);
    let fits = [BinaryMethod::Umd(Umd::new(5)), BinaryMethod::Isotonic(Isotonic::default())]
        .map(|method| fit_binary(&data, &method, 0.1).unwrap());
    host_and_device_agree(case, &fits[..1], 10_000);
    host_and_device_agree(case, &fits[1..], 1000);
}

#[test]
fn every_binary_method() {
    let case = harness::breast_cancer();
    let data = binary_data(case);
    let named = |&(method, ..): &(MethodName, _, _)| {
        let named = NamedMethod {
            method: Some(method),
            scaling: Some(ScalingName::Beta),
            // No threshold separates the labels of the rows that scaling-binning draws with it.
            seed: 8,
            ..NamedMethod::default()
        };
        named.binary(5, ScoreKind::Probability, None)
    };
    let irp = Isotonic { max_bins: Some(4), smoothing: 1.0 };
    let more = [BinaryMethod::FixedWidth(FixedWidth { bins: 20 }), BinaryMethod::Isotonic(irp)];
    let methods = MethodName::NAMES.iter().filter_map(named).chain(more);
    let fits: Vec<_> = methods.map(|method| fit_binary(&data, &method, 0.1).unwrap()).collect();
    assert!(fits.len() > 16, "{} methods", fits.len());
    host_and_device_agree(case, &fits, 1000);
}

/// The device answers with the range of the score and its interval, whatever the calibrator.
#[test]
fn intervals_of_ranges() {
    let case = harness::breast_cancer();
    let data = binary_data(case);
    let methods = [
        BinaryMethod::Scaling(ScalingMethod::Beta),
        BinaryMethod::Isotonic(Isotonic::default()),
        BinaryMethod::VennAbers,
    ];
    let fits = methods.map(|method| fit_binary(&data, &method, 0.1).unwrap());
    let options = ArtifactOptions::default().score_intervals(Some(intervals::fit(&data, 0.1).unwrap()));
    agree_with(case, &fits, 1000, &options);
}

#[test]
fn digits() {
    let case = harness::digits();
    let data = top_label_data(case);
    let umd = ReductionOptions::new(BinaryMethod::Umd(Umd::new(1))).rows_per_bin(Some(30));
    let isotonic = ReductionOptions::new(BinaryMethod::Isotonic(Isotonic::default())).rows_per_bin(Some(50));
    let fits = [umd, isotonic].map(|options| fit_reduction(&data, &options, 0.1).unwrap());
    host_and_device_agree(case, &fits[..1], 10_000);
    host_and_device_agree(case, &fits[1..], 1000);
}
