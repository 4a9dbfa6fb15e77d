//! A quantized network on the device: TensorFlow Lite's codes on every row, and calibrated as on the host, bit for bit.

use std::fs;
use std::path::{Path, PathBuf};

use calib_core::artifact::Reduction;
use calib_core::wire::{ReplyBody, RequestBody, ScoreEcho, Scores};
use calib_host::data::CodeVectors;
use calib_host::joint::VectorScalingMethod;
use calib_host::reduction::{Problems, fit_reduction};
use calib_host::{
    ArtifactOptions, BinaryMethod, JointMethod, ReductionOptions, StoredArtifact, Umd, VectorData,
    VectorKind, Vectors, artifact_bytes, fit_joint, joint_artifact_bytes,
};
use calib_tests::classifier::{CodedRows, NetworkCase};
use calib_tests::{Board, Emulator, build_network_firmware, coded_rows, image_size};
use xtask::{cargo, root};

use crate::harness::{calibrated, random_inputs, random_inputs_on};

fn umd() -> ReductionOptions {
    ReductionOptions::new(BinaryMethod::Umd(Umd::new(1))).rows_per_bin(Some(30))
}

/// A calibrator's name, and its artifact.
type Named = (&'static str, Vec<u8>);

fn options(case: &NetworkCase) -> ArtifactOptions {
    ArtifactOptions::default().classifier(Some(case.network.id))
}

fn labels(rows: &CodedRows) -> Vec<i64> {
    rows.rows.labels.iter().map(|&label| label.into()).collect()
}

/// By the codes of the predicted class, or by its top-two margin.
fn of_codes(case: &NetworkCase, rows: &CodedRows, kind: VectorKind) -> Vec<u8> {
    let codes: Vec<i64> = rows.codes.iter().flatten().map(|&code| code.into()).collect();
    let (classes, encoding) = (case.network.outputs, rows.encoding);
    let (labels, reduction) = (labels(rows), Reduction::TopLabel);
    let problems = match kind {
        VectorKind::Logits => {
            let codes = CodeVectors::of_logits(&codes, classes, encoding).unwrap();
            Problems::of_code_margins(&codes, &labels, reduction)
        }
        VectorKind::Probs => {
            let codes = CodeVectors::new(&codes, classes, encoding).unwrap();
            Problems::of_codes(&codes, &labels, reduction)
        }
    };
    let fit = fit_reduction(&problems.unwrap(), &umd(), 0.1).unwrap().quantized(encoding).unwrap();
    artifact_bytes(&fit, &options(case)).unwrap()
}

/// Of a network that gives logits: by integers alone, by the softmax, by float margins, and of all classes, each of whose
/// probabilities depends on every code.
fn of_logits(case: &NetworkCase) -> Vec<Named> {
    let rows = case.calibration.as_ref().expect("the digits have rows to calibrate on");
    let floats = Vectors::new(rows.floats().concat(), case.network.outputs, VectorKind::Logits).unwrap();
    let labels = labels(rows);
    let tables = |problems: Problems| {
        artifact_bytes(&fit_reduction(&problems, &umd(), 0.1).unwrap(), &options(case)).unwrap()
    };
    let temperature = JointMethod::Scaling {
        method: VectorScalingMethod::Temperature,
        log_probs: false,
        cross_validation: None,
    };
    let joint = fit_joint(&VectorData::new(&floats, &labels).unwrap(), &temperature).unwrap();
    vec![
        ("top-two margins of codes", of_codes(case, rows, VectorKind::Logits)),
        ("softmax", tables(Problems::new(&floats, &labels, Reduction::TopLabel).unwrap())),
        ("margins", tables(Problems::of_top2_margins(&floats, &labels, Reduction::TopLabel).unwrap())),
        ("all classes", joint_artifact_bytes(&joint, &options(case)).unwrap()),
    ]
}

/// Of a network with a softmax. What it is fitted to does not matter here.
fn of_probs(case: &NetworkCase) -> Vec<Named> {
    vec![("codes", of_codes(case, &case.test, VectorKind::Probs))]
}

/// Builds, deploys, and demands TensorFlow Lite's codes and the host's bits on so many test rows.
fn host_and_device_agree(board: Board, case: &NetworkCase, artifacts: &[Named], rows: usize) {
    let elf =
        build_network_firmware(board, &case.file, case.alarm).unwrap_or_else(|error| panic!("{error:#}"));
    let rows = case.test.first(rows);
    let folder = tempfile::tempdir().unwrap();
    for (name, bytes) in artifacts {
        let what = format!("{} by {name} on {}", case.network.name, board.name());
        let slot = folder.path().join("cal.bin");
        fs::write(&slot, bytes).unwrap();
        let mut device = Emulator::start_fast(board, &elf, Some(&slot)).unwrap();
        let stored = StoredArtifact::from_bytes(bytes).unwrap();
        let parity = coded_rows(&mut device, case.alarm, &stored.artifact(), &rows).unwrap();
        assert_eq!(parity.differences, [] as [&str; 0], "{what}");
        assert_eq!(parity.predictions.len(), rows.codes.len());
        assert!(calibrated(&parity) * 10 > rows.codes.len() * 9, "{what}");
        let mut device = Emulator::start_on(board, &elf, Some(&slot)).unwrap();
        let [network, calibration] = instructions(board, &mut device, &rows);
        assert!(0.0 < calibration && calibration < network, "{what}");
        println!("{what}: {calibration:.0} instructions a calibration");
    }
    counts(board, case, &elf, &rows);
}

/// How often the work is repeated to count its instructions: some boards count in steps of dozens.
const REPEAT: u16 = 64;

/// The instructions of a prediction, and of its calibration, for the first row.
fn instructions(board: Board, device: &mut Emulator, rows: &CodedRows) -> [f64; 2] {
    let features = rows.rows.features[0].iter().copied().collect();
    let measured = match device.request(RequestBody::Measure { features, repeat: REPEAT }).unwrap() {
        ReplyBody::Measurement(measured) => measured,
        other => panic!("not a measurement: {other:?}"),
    };
    [measured.classify_ticks, measured.calibrate_ticks].map(|ticks| {
        let net = f64::from(ticks - measured.empty_ticks);
        net * board.instructions_per_tick() / f64::from(measured.repeat)
    })
}

/// Prints what the network costs, and demands that without a calibrator the device tells a code and no probability.
fn counts(board: Board, case: &NetworkCase, elf: &Path, rows: &CodedRows) {
    let what = format!("{} on {}", case.network.name, board.name());
    let mut device = Emulator::start_on(board, elf, None).unwrap();
    let features = rows.rows.features[0].iter().copied().collect();
    let ReplyBody::Answer(bare) = device.request(RequestBody::predict(Scores::Features(features))).unwrap()
    else {
        panic!("{what}: refused")
    };
    let top = rows.keys().next().unwrap().into_iter().max().unwrap();
    assert_eq!((bare.score, bare.alarm), (ScoreEcho::Code(top), true), "{what}");
    assert!(bare.outcome.calibrated().is_none(), "{what}");
    let [each, _] = instructions(board, &mut device, rows);
    let ReplyBody::Status(status) = device.request(RequestBody::Status).unwrap() else { panic!("{what}") };
    assert_eq!((status.classifier_id, status.classifier.as_str()), (case.network.id, &*case.network.name));
    let (size, stack) = (image_size(elf).unwrap(), status.stack_high_water_bytes);
    println!("{what}: {each:.0} instructions a prediction, {size:?}, {stack} bytes of stack");
}

#[test]
fn digits() {
    let case = NetworkCase::digits().unwrap();
    let rows = random_inputs(case.test.codes.len());
    host_and_device_agree(Board::Mps2An386, &case, &of_logits(&case), rows);
}

#[test]
#[ignore = "builds and runs every board: `cargo xtask verify` does"]
fn digits_on_every_board() {
    let case = NetworkCase::digits().unwrap();
    let artifacts = of_logits(&case);
    for &board in Board::ALL {
        host_and_device_agree(board, &case, &artifacts, random_inputs_on(board, case.test.codes.len()));
    }
}

/// A copy of a network's files, of which the last code of the reference is another one if it is `altered`.
fn copied(case: &NetworkCase, folder: &Path, altered: bool) -> PathBuf {
    let copy = folder.join(case.file.file_name().unwrap());
    for extension in ["tflite", "features.npy", "codes.npy"] {
        let mut bytes = fs::read(case.file.with_extension(extension)).unwrap();
        if altered && extension == "codes.npy" {
            *bytes.last_mut().unwrap() ^= 1;
        }
        fs::write(copy.with_extension(extension), bytes).unwrap();
    }
    copy
}

#[test]
#[ignore = "builds the twin and a board: `cargo xtask verify` does"]
fn a_network_that_differs_in_one_code_is_not_built() {
    let case = NetworkCase::digits_small().unwrap();
    let folder = tempfile::tempdir().unwrap();
    let copy = copied(&case, folder.path(), true);
    let error = build_network_firmware(Board::Mps2An386, &copy, case.alarm).unwrap_err().to_string();
    assert!(error.contains("1 of 497 rows of the reference come out otherwise"), "{error}");
    fs::remove_file(copy.with_extension("codes.npy")).unwrap();
    assert!(build_network_firmware(Board::Mps2An386, &copy, case.alarm).is_err());
}

#[test]
#[ignore = "builds the twin: `cargo xtask verify` does"]
fn the_twin_writes_the_codes_of_the_device() {
    let case = NetworkCase::digits_small().unwrap();
    let folder = tempfile::tempdir().unwrap();
    let output = folder.path().join("codes.npy");
    let twin = |model: &Path, more: &[&str]| {
        let mut command = cargo(&root().join("firmware"));
        command.args(["run", "--quiet", "--locked", "--package", "calib-twin", "--", "--features"]);
        command.arg(case.file.with_extension("features.npy")).arg("--output").arg(&output).args(more);
        let output = command.env("CALIB_MODEL", model).output().unwrap();
        (output.status.success(), String::from_utf8(output.stderr).unwrap())
    };
    assert_eq!(twin(&case.file, &[]), (true, String::new()));
    let codes: Vec<u8> = case.test.codes.iter().flatten().map(|&code| code as u8).collect();
    assert!(fs::read(&output).unwrap().ends_with(&codes));

    let (ran, error) = twin(&case.file, &[]);
    assert!(!ran && error.contains("is there already: --force replaces it"), "{error}");
    let (ran, error) = twin(&copied(&case, folder.path(), true), &["--force"]);
    assert!(!ran && error.contains("1 of 497 rows of the reference come out otherwise"), "{error}");
}

#[test]
#[ignore = "builds and runs every board: `cargo xtask verify` does"]
fn small_digits_on_every_board() {
    let case = NetworkCase::digits_small().unwrap();
    let artifacts = of_probs(&case);
    for &board in Board::ALL {
        host_and_device_agree(board, &case, &artifacts, random_inputs_on(board, case.test.codes.len()));
    }
}
