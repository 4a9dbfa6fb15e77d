//! The same firmware on every core, against the host, bit for bit.

use calib_core::wire::{ReplyBody, RequestBody, Values};
use calib_host::binary::{FixedWidth, Isotonic, ScalingMethod};
use calib_host::{
    ArtifactOptions, BinaryMethod, Fit, ReductionOptions, Umd, artifact_bytes, fit_binary, fit_reduction,
};
use calib_tests::classifier::Case;
use calib_tests::{Board, image_size};

use crate::harness::{self, Image, binary_data, calibrated, top_label_data};

/// Besides 0, 1, the edges and their neighbors.
const BARE_SCORES: usize = 300;
const ROWS: usize = 100;

/// A device's answers, as they come in frames.
type Answers = Vec<String>;

/// Deploys every fit on a board and demands the same bits as on the host, for feature rows and bare scores. Returns the
/// answers on the rows.
fn host_and_device_agree(board: Board, case: &Case, fits: &[Fit]) -> Answers {
    let image = Image::new(board, case.model.clone());
    let mut answers = Vec::new();
    let mut stack_bytes = 0;
    for fit in fits {
        let classifier = Some(case.model.parameters().id);
        let options = ArtifactOptions::default().classifier(classifier).intervals(true);
        let mut deployed =
            image.deploy_counting(format!("{:?}", fit.method()), &artifact_bytes(fit, &options).unwrap());
        let classified = deployed.rows(&case.test.features[..ROWS]);
        assert!(calibrated(&classified) * 10 > ROWS * 9, "{}", deployed.what);
        deployed.bare_scores(BARE_SCORES, 1);
        // A word that the device drew itself may be truly random.
        if !deployed.artifact().is_randomized() {
            answers.extend(classified.predictions.iter().map(|prediction| format!("{prediction:?}")));
        }

        let place = &deployed.what;
        let features: Values = case.test.features[0].iter().copied().collect();
        match deployed.device.request(RequestBody::Measure { features, repeat: 256 }).unwrap() {
            ReplyBody::Measurement(measured) => {
                assert!(measured.empty_ticks < measured.calibrate_ticks, "{place}: {measured:?}");
                let net = f64::from(measured.calibrate_ticks - measured.empty_ticks);
                let each = net * board.instructions_per_tick() / f64::from(measured.repeat);
                println!("{place}: {each:.0} instructions to calibrate");
            }
            other => panic!("{place}: not a measurement: {other:?}"),
        }
        match deployed.device.request(RequestBody::Status).unwrap() {
            ReplyBody::Status(status) => {
                let identity = deployed.stored.artifact().identity();
                assert_eq!(status.calibrator.unwrap().identity, identity, "{place}");
                stack_bytes = stack_bytes.max(status.stack_high_water_bytes);
            }
            other => panic!("{place}: not a status: {other:?}"),
        }
    }
    let size = image_size(&image.elf).unwrap();
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
    let [first, rest @ ..] = Board::ALL else { panic!("there are boards") };
    let answers = host_and_device_agree(*first, case, fits);
    assert!(!answers.is_empty());
    for &board in rest {
        assert_eq!(host_and_device_agree(board, case, fits), answers, "{}", board.name());
    }
}

#[test]
#[ignore = "builds and runs every board: `cargo xtask verify` does"]
fn every_form_of_binary_calibrator_on_every_board() {
    let case = harness::breast_cancer();
    let data = binary_data(case);
    let methods = [
        BinaryMethod::Umd(Umd::new(5)),
        BinaryMethod::UmdRandomized(Umd::new(5), 7),
        BinaryMethod::FixedWidth(FixedWidth { bins: 20 }),
        BinaryMethod::IsotonicInterpolated(Isotonic::default()),
        BinaryMethod::Scaling(ScalingMethod::PlattLogit),
        BinaryMethod::Scaling(ScalingMethod::Beta),
        BinaryMethod::VennAbers,
    ];
    on_every_board(case, &methods.map(|method| fit_binary(&data, &method, 0.1).unwrap()));
}

#[test]
#[ignore = "builds and runs every board: `cargo xtask verify` does"]
fn top_label_on_every_board() {
    let case = harness::digits();
    let data = top_label_data(case);
    let options = ReductionOptions::new(BinaryMethod::Umd(Umd::new(1))).rows_per_bin(Some(30));
    on_every_board(case, &[fit_reduction(&data, &options, 0.1).unwrap()]);
}
