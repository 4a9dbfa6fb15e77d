//! Examples of Gupta and Ramdas 2022 ("Top-label calibration and multiclass-to-binary reductions").

use calib_core::Outcome;
use calib_core::artifact::Reduction;
use calib_host::apply::{AppliedRow, Others, RandomWords};
use calib_host::assess::{AssessOptions, Assessment, Prediction, PredictionKind, assess};
use calib_host::binary::Isotonic;
use calib_host::reduction::{Problems, fit_reduction};
use calib_host::{
    ArtifactOptions, BinaryMethod, Fit, ReductionOptions, StoredArtifact, VectorKind, Vectors,
    apply as applied, artifact_bytes,
};

/// Isotonic regression: one value for each score there is, if values rise with scores.
fn fit(vectors: &Vectors, labels: &[i64], reduction: Reduction) -> Fit {
    let problems = Problems::new(vectors, labels, reduction).unwrap();
    let method = BinaryMethod::Isotonic(Isotonic::default());
    fit_reduction(&problems, &ReductionOptions::new(method), 0.1).unwrap()
}

/// The rows as a device answers them.
fn apply(fit: &Fit, vectors: &Vectors) -> Vec<AppliedRow> {
    let stored =
        StoredArtifact::from_bytes(&artifact_bytes(fit, &ArtifactOptions::default()).unwrap()).unwrap();
    let artifact = stored.artifact();
    applied(&artifact, vectors.into(), RandomWords::new(&artifact, 0)).collect::<Result<_, _>>().unwrap()
}

fn probs(fit: &Fit, vectors: &Vectors) -> Vec<Option<f32>> {
    let prob = |row: AppliedRow| {
        assert_eq!(row.others, Others::None);
        match row.first.outcome {
            Outcome::Calibrated(calibrated) => Some(calibrated.prob),
            Outcome::Uncalibrated(_) => None,
        }
    };
    apply(fit, vectors).into_iter().map(prob).collect()
}

/// Example 1: class 0 is predicted for one half of the patients and right for a fifth of them, class 1 for the other half
/// and always right, both with confidence 0.6.
#[test]
fn confidence_hides_what_top_label_shows() {
    const HALF: usize = 500;
    let of = |class: usize| if class == 0 { [0.6, 0.2, 0.2] } else { [0.2, 0.6, 0.2] };
    let rows = (0..2 * HALF).flat_map(|row| of(row / HALF)).collect();
    let vectors = Vectors::new(rows, 3, VectorKind::Probs).unwrap();
    let label = |row: usize| match row / HALF {
        0 if row < HALF / 5 => 0,
        0 => 2,
        _ => 1,
    };
    let labels: Vec<i64> = (0..2 * HALF).map(label).collect();
    let assessed = |probs: &[Option<f32>]| -> Assessment {
        let row = |(row, prob): (usize, &Option<f32>)| {
            let class = row / HALF;
            Prediction {
                class: class as u16,
                prob: prob.unwrap().into(),
                bin: 0,
                hit: labels[row] == class as i64,
            }
        };
        let predictions: Vec<_> = probs.iter().enumerate().map(row).collect();
        assess(&predictions, PredictionKind::TopLabel, &AssessOptions::default())
    };

    // The classifier itself: calibrated in confidence, and off by 0.4 for either class.
    let raw = assessed(&vec![Some(0.6); 2 * HALF]);
    assert!(raw.conf_ece.value < 1e-7, "{:?}", raw.conf_ece);
    assert!((raw.tl_ece.unwrap().value - 0.4).abs() < 1e-7);

    // Calibrating confidence changes nothing; calibrating the top label puts both right.
    let confidence = probs(&fit(&vectors, &labels, Reduction::Confidence), &vectors);
    assert!(confidence.iter().all(|&prob| prob == Some(0.6)));
    let top_label = probs(&fit(&vectors, &labels, Reduction::TopLabel), &vectors);
    assert!(
        top_label.iter().enumerate().all(|(row, &prob)| prob == Some(if row < HALF { 0.2 } else { 1.0 }))
    );
    assert!(assessed(&top_label).tl_ece.unwrap().value < 1e-7);
}

/// Six points a to f of four classes with the labels 3, 4, 3, 2, 1, 1 (here less one), as in appendix A.2; the paper gives
/// the predictions in a figure, these are ours.
#[test]
fn six_points_and_every_notion() {
    let rows = [
        [0.1, 0.2, 0.6, 0.1],
        [0.4, 0.1, 0.1, 0.4],
        [0.2, 0.6, 0.1, 0.1],
        [0.5, 0.2, 0.2, 0.1],
        [0.1, 0.1, 0.6, 0.2],
        [0.3, 0.3, 0.2, 0.2],
    ];
    let vectors = Vectors::new(rows.concat(), 4, VectorKind::Probs).unwrap();
    let labels = [2, 3, 2, 1, 0, 0];

    // Confidence: (.6, 1), (.4, 0), (.6, 0), (.5, 0), (.6, 0), (.3, 1), pooled to the isotonic blocks {.3, .4, .5, .6}.
    let confidence = probs(&fit(&vectors, &labels, Reduction::Confidence), &vectors);
    assert!(confidence.iter().all(|&prob| prob == Some(1.0 / 3.0)), "{confidence:?}");

    // Top-label: class 0 has b, d and f, class 1 has c, class 2 has a and e, and class 3 is never predicted.
    let top_label = fit(&vectors, &labels, Reduction::TopLabel);
    assert_eq!(top_label.unfitted().iter().map(|unfitted| unfitted.table).collect::<Vec<_>>(), [3]);
    let third = Some(1.0 / 3.0);
    assert_eq!(probs(&top_label, &vectors), [Some(0.5), third, Some(0.0), third, Some(0.5), third]);

    // Class-wise: class 3 has (.1, 0) of a, c and d, (.2, 0) of e and f, and (.4, 1) of b.
    let class_wise = fit(&vectors, &labels, Reduction::ClassWise);
    let normalized = fit(&vectors, &labels, Reduction::Normalized);
    let mut sums = Vec::new();
    for (row, (each, divided)) in
        apply(&class_wise, &vectors).into_iter().zip(apply(&normalized, &vectors)).enumerate()
    {
        let [each, divided] = [&each, &divided].map(|row| row.classes().expect("all classes"));
        assert_eq!(each.probs[3], Some(if row == 1 { 1.0 } else { 0.0 }));
        let sum: f32 = each.probs.iter().flatten().sum();
        sums.push(sum);
        let shares: Vec<_> = each.probs.iter().map(|prob| prob.map(|prob| prob / sum)).collect();
        assert_eq!(divided.probs, shares);
        assert!((divided.probs.iter().flatten().sum::<f32>() - 1.0).abs() < 1e-6);
    }
    assert!(
        sums.iter().any(|sum| (sum - 1.0).abs() > 0.1),
        "class-wise probabilities need not sum to one: {sums:?}"
    );

    // Top-2: the second classes are b, d, b, b, d, b of the rows, in 0-based classes 1, 3, 0, 1, 3, 1.
    let pairs = apply(&fit(&vectors, &labels, Reduction::TopKConfidence { k: 2 }), &vectors);
    let classes = |rank: usize| -> Vec<u16> {
        let class = |row: &AppliedRow| {
            assert_eq!(row.ranks().count(), 2);
            row.ranks().nth(rank).unwrap().class
        };
        pairs.iter().map(class).collect()
    };
    assert_eq!(classes(0), [2, 0, 1, 0, 2, 0]);
    assert_eq!(classes(1), [1, 3, 0, 1, 3, 1]);
}
