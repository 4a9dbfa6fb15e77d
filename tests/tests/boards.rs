//! The same firmware on every core, against the host, bit for bit.

use std::fs;
use std::path::Path;

use calib_core::wire::{ReplyBody, RequestBody, Values};
use calib_core::{Artifact, Outcome};
use calib_host::binary::{FixedWidth, Isotonic, ScalingMethod};
use calib_host::{
    ArtifactOptions, BinaryData, BinaryMethod, Fit, ReductionOptions, StoredArtifact, TopLabelData, Umd,
    VectorKind, Vectors, artifact_bytes, fit_binary, fit_top_label,
};
use calib_tests::{Board, Case, Emulator, bare_scores, build_firmware_for, classified_rows, image_size};

/// Besides 0, 1, the edges and their neighbours.
const BARE_SCORES: usize = 300;
const ROWS: usize = 100;

/// A device's answers, as they come in frames.
type Answers = Vec<String>;

/// Deploys every fit on a board and demands the same bits as on the host, for feature rows and bare scores. Returns the
/// answers on the rows.
fn host_and_device_agree(board: Board, case: &Case, json: &Path, fits: &[Fit]) -> Answers {
    let elf = build_firmware_for(board, json).unwrap_or_else(|error| panic!("{error:#}"));
    let slot = json.with_file_name("cal.bin");
    let mut answers = Vec::new();
    let mut stack_bytes = 0;
    for fit in fits {
        let classifier = Some(case.model.parameters().id);
        let options = ArtifactOptions { classifier, intervals: true, ..ArtifactOptions::default() };
        let bytes = artifact_bytes(fit, &options).unwrap();
        fs::write(&slot, &bytes).unwrap();
        let stored = StoredArtifact::from_bytes(&bytes).unwrap();
        let artifact: Artifact<'_> = stored.artifact();
        let method = artifact.header().method;
        let place = format!("{} ({}), {method:?}", board.name(), board.core());

        let mut device = Emulator::start_on(board, &elf, Some(&slot)).unwrap();
        let rows = &case.test.features[..ROWS];
        let classified = classified_rows(&mut device, &case.model, &artifact, rows)
            .unwrap_or_else(|error| panic!("{place}: {error:#}"));
        assert_eq!(classified.differences, [] as [&str; 0], "{place}");
        let calibrated = |p: &calib_core::wire::Prediction| matches!(p.outcome, Outcome::Calibrated(_));
        assert!(classified.predictions.iter().filter(|p| calibrated(p)).count() * 10 > ROWS * 9, "{place}");

        let alarm = case.model.parameters().alarm;
        let bare = bare_scores(&mut device, alarm, &artifact, BARE_SCORES, 1).unwrap();
        assert!(bare.predictions.len() >= BARE_SCORES, "{place}");
        assert_eq!(bare.differences, [] as [&str; 0], "{place}");
        // A word that the device drew itself may be truly random.
        if !artifact.is_randomized() {
            answers.extend(classified.predictions.iter().map(|prediction| format!("{prediction:?}")));
        }

        let features: Values = case.test.features[0].iter().copied().collect();
        match device.request(RequestBody::Measure { features, repeat: 256 }).unwrap() {
            ReplyBody::Measurement(measured) => {
                assert!(measured.empty_ticks < measured.calibrate_ticks, "{place}: {measured:?}");
                let net = f64::from(measured.calibrate_ticks - measured.empty_ticks);
                let each = net * board.instructions_per_tick() / f64::from(measured.repeat);
                println!("{place}: {each:.0} instructions to calibrate");
            }
            other => panic!("{place}: not a measurement: {other:?}"),
        }
        match device.request(RequestBody::Status).unwrap() {
            ReplyBody::Status(status) => {
                assert_eq!(status.calibrator.unwrap().identity, artifact.identity(), "{place}");
                stack_bytes = stack_bytes.max(status.stack_high_water_bytes);
            }
            other => panic!("{place}: not a status: {other:?}"),
        }
    }
    let size = image_size(&elf).unwrap();
    println!("{}: {size:?}, stack {stack_bytes} bytes", board.name());
    // What the smallest part, the nRF51, has.
    assert!(size.flash_bytes < 240 * 1024, "{size:?}");
    assert!(
        (1..16 * 1024).contains(&(size.static_ram_bytes + u64::from(stack_bytes))),
        "{stack_bytes} {size:?}"
    );
    answers
}

/// The boards in turn: each is built once, and every fit runs on every one.
fn on_every_board(case: &Case, fits: &[Fit]) {
    let folder = tempfile::tempdir().unwrap();
    let json = folder.path().join("classifier.json");
    case.model.save(&json).unwrap();
    let [first, rest @ ..] = Board::ALL;
    let answers = host_and_device_agree(first, case, &json, fits);
    assert!(!answers.is_empty());
    for board in rest {
        assert_eq!(host_and_device_agree(board, case, &json, fits), answers, "{}", board.name());
    }
}

#[test]
fn every_form_of_binary_calibrator_on_every_board() {
    let case = Case::breast_cancer().unwrap();
    let scores = case.calibration.features.iter().map(|row| f64::from(case.model.score(row).unwrap().get()));
    let labels = case.calibration.labels.iter().map(|&label| label == 1);
    let data = BinaryData::new(scores.collect(), labels.collect()).unwrap().on_device();
    let methods = [
        BinaryMethod::Umd(Umd::new(5)),
        BinaryMethod::UmdRandomized(Umd::new(5), 7),
        BinaryMethod::FixedWidth(FixedWidth { bins: 20 }),
        BinaryMethod::IsotonicInterpolated(Isotonic::default()),
        BinaryMethod::Scaling(ScalingMethod::PlattLogit),
        BinaryMethod::Scaling(ScalingMethod::Beta),
        BinaryMethod::VennAbers,
    ];
    on_every_board(&case, &methods.map(|method| fit_binary(&data, &method, 0.1).unwrap()));
}

#[test]
fn top_label_on_every_board() {
    let case = Case::digits().unwrap();
    let logits: Vec<f32> =
        case.calibration.features.iter().flat_map(|row| case.model.logits(row).unwrap()).collect();
    let vectors = Vectors::new(logits, 10, VectorKind::Logits).unwrap();
    let labels: Vec<i64> = case.calibration.labels.iter().map(|&label| label.into()).collect();
    let data = TopLabelData::from_vectors(&vectors, &labels).unwrap();
    let options = ReductionOptions { method: BinaryMethod::Umd(Umd::new(1)), points_per_bin: Some(30) };
    on_every_board(&case, &[fit_top_label(&data, &options, 0.1).unwrap()]);
}
