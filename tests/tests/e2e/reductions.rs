//! Every reduction on the device, with 3, 10 and 100 classes, against the same code on the host, bit for bit.

use calib_core::artifact::Reduction;
use calib_core::wire::{Answer, Beside, ReplyBody};
use calib_host::binary::{Isotonic, ScalingMethod};
use calib_host::reduction::{Problems, fit_reduction};
use calib_host::{ArtifactOptions, BinaryMethod, ReductionOptions, Umd, artifact_bytes};
use calib_tests::{Board, overconfident_logits};

use crate::harness::{Image, calibrated, random_inputs};

/// Of logits, and as many of probabilities.
const VECTORS: usize = 500;

/// Fits, deploys, and demands the same bits for every vector.
fn host_and_device_agree(classes: usize) {
    let image = Image::stand_in(Board::Mps2An386, classes);
    let (data, labels) = overconfident_logits(classes, 3000).unwrap();
    let k = classes.min(5) as u16;
    let umd = BinaryMethod::Umd(Umd::new(1));
    let few = Isotonic { max_bins: Some(8), ..Isotonic::default() };
    let cases = [
        (Reduction::Confidence, umd),
        (Reduction::TopLabel, umd),
        (Reduction::ClassWise, umd),
        (Reduction::ClassWise, BinaryMethod::UmdRandomized(Umd::new(1), 7)),
        (Reduction::ClassWise, BinaryMethod::IsotonicInterpolated(few)),
        (Reduction::Normalized, umd),
        (Reduction::Normalized, BinaryMethod::Scaling(ScalingMethod::Beta)),
        (Reduction::TopLabel, BinaryMethod::VennAbers),
        (Reduction::TopKLabel { k: 2 }, BinaryMethod::Isotonic(few)),
        (Reduction::TopKConfidence { k }, umd),
    ];
    let wide = cases.into_iter().map(|(reduction, method)| (reduction, method, false));
    // In 16-bit numbers, for scores that the device rounds.
    for (reduction, method, compact) in wide.chain([(Reduction::ClassWise, umd, true)]) {
        let problems = Problems::new(&data, &labels, reduction).unwrap();
        // Every row is a point of every class's problem, but only the predicted ones are of a predicted class's. With 100
        // classes some have too few, and stay uncalibrated.
        let all_rows = matches!(reduction, Reduction::ClassWise | Reduction::Normalized);
        let rows_per_bin = Some(if all_rows { 300 } else { 25 });
        let options = ReductionOptions::new(method).rows_per_bin(rows_per_bin);
        let fit = match compact {
            true => fit_reduction(&problems.rounded(), &options, 0.1).unwrap().into_u16_table().unwrap(),
            false => fit_reduction(&problems, &options, 0.1).unwrap(),
        };
        let bytes = artifact_bytes(&fit, &ArtifactOptions::default()).unwrap();
        assert!(bytes.len() <= 64 << 10, "{reduction}: {} bytes", bytes.len());
        let mut deployed = image.deploy(format!("{reduction} of {classes} classes"), &bytes);

        let sent = deployed.vectors(VECTORS, 3);
        assert_eq!(sent.replies.len(), 2 * random_inputs(VECTORS));
        // With more classes there are thousands of edges, of the same few forms.
        if classes <= 10 {
            deployed.bare_scores(0, 3);
        }

        assert!(calibrated(&sent) * 2 > sent.predictions.len(), "{reduction}");
        for reply in &sent.replies {
            let ReplyBody::Answer(Answer { beside, .. }) = reply else { panic!("{reduction}: {reply:?}") };
            let kind = match beside {
                Beside::None => matches!(reduction, Reduction::TopLabel | Reduction::Confidence),
                Beside::Ranked(others) => reduction.top_k() == Some(1 + others.len()),
                Beside::Probs(probs) => {
                    probs.len() == classes
                        && matches!(reduction, Reduction::ClassWise | Reduction::Normalized)
                }
                Beside::Band(_) => false,
            };
            assert!(kind, "{reduction}: {reply:?}");
        }
    }
}

#[test]
fn three_classes() {
    host_and_device_agree(3);
}

#[test]
fn ten_classes() {
    host_and_device_agree(10);
}

#[test]
fn a_hundred_classes() {
    host_and_device_agree(100);
}
