//! Rows with a probability for every class.

use calib_core::Outcome;
use calib_fit::Vectors;
use calib_fit::apply::AppliedVector;
use calib_fit::assess::ProbMatrix;
use calib_fit::stats::Clusters;
use calib_io::report::ClassProbRows;

/// The rows of which every class is calibrated, before and after; `None` if there are none.
pub(crate) fn class_probs(
    applied: impl Iterator<Item = AppliedVector>,
    vectors: &Vectors,
    labels: &[u16],
    clusters: Option<&Clusters>,
) -> Option<ClassProbRows> {
    let classes = vectors.classes();
    let (mut probs, mut bins, mut kept, mut before) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    let scores = vectors.probs_f64();
    let mut uncalibrated = 0;
    for ((number, row), scores) in applied.enumerate().zip(scores.chunks_exact(classes)) {
        let AppliedVector::Classes(row) = row else { continue };
        let Some(row_probs) = row.probs.iter().copied().collect::<Option<Vec<f32>>>() else {
            uncalibrated += 1;
            continue;
        };
        probs.extend(row_probs.into_iter().map(f64::from));
        let whole: u32 = row.bin.unwrap_or_default().into();
        bins.extend((0..classes).map(|class| match row.outcomes.get(class) {
            Some(Outcome::Calibrated(calibrated)) => calibrated.bin.into(),
            _ => whole,
        }));
        before.extend_from_slice(scores);
        kept.push(number);
    }
    let matrix = |probs, labels| ProbMatrix::new(probs, labels, classes).with_bins(bins.clone());
    let labels: Vec<u16> = kept.iter().map(|&row| labels[row]).collect();
    (!kept.is_empty()).then(|| ClassProbRows {
        before: matrix(before, labels.clone()),
        after: matrix(probs, labels),
        uncalibrated,
        clusters: clusters.map(|clusters| clusters.part(kept)),
    })
}
