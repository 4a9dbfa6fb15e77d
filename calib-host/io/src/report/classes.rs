//! Every class against the rest.

use calib_fit::assess::{
    AssessOptions, Assessment, BinnedEstimate, ClassProbRows, ProbMatrix, assess_vectors,
};
use serde::Serialize;

/// Metrics of vectors of probabilities, without bootstrap intervals.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ClassWiseSide {
    /// The squared differences of probabilities and outcomes, summed over classes, and averaged.
    pub brier: f64,
    /// The mean negative logarithm of the probability given to the true class, in nats.
    pub log_loss: f64,
    /// The mean over classes of their calibration errors.
    pub cw_ece: BinnedEstimate,
    /// The root of the mean over classes of their squared calibration errors.
    pub marginal_ce: BinnedEstimate,
    /// The metrics of every class against the rest, in order.
    pub class_wise: Vec<Assessment>,
}

/// Every class against the rest, before and after calibration.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ClassWiseSummary {
    /// The number of rows of which every class has a probability.
    pub n: u64,
    /// How many rows are left out because a class is uncalibrated.
    pub uncalibrated: u64,
    /// The classifier's probabilities.
    pub before: ClassWiseSide,
    /// The calibrated ones.
    pub after: ClassWiseSide,
    /// The classes that have a diagram: those with the most rows.
    pub drawn: Vec<u16>,
    /// The classes that have none.
    pub undrawn: Vec<u16>,
}

impl ClassWiseSummary {
    pub(super) fn new(rows: &ClassProbRows, options: &AssessOptions<'_>, drawn_classes: usize) -> Self {
        let options = options.bootstrap(None).clusters(rows.clusters.as_ref());
        let side = |matrix: &ProbMatrix| {
            let assessed = assess_vectors(matrix, &options);
            ClassWiseSide {
                brier: assessed.brier.value,
                log_loss: assessed.log_loss.value,
                cw_ece: assessed.cw_ece,
                marginal_ce: assessed.marginal_ce,
                class_wise: assessed.class_wise,
            }
        };
        let (before, after) = (side(&rows.before), side(&rows.after));
        let hits = (0..).zip(after.class_wise.iter().map(|class| class.hits));
        let (drawn, undrawn) = most_frequent(hits, drawn_classes);
        let n = after.class_wise[0].n;
        Self { n, uncalibrated: rows.uncalibrated, before, after, drawn, undrawn }
    }
}

/// The classes with the highest counts, at most so many, and the others; both ascending. Of equal counts the lower class comes
/// first.
pub(super) fn most_frequent(
    classes: impl IntoIterator<Item = (u16, u64)>,
    at_most: usize,
) -> (Vec<u16>, Vec<u16>) {
    let mut classes: Vec<_> = classes.into_iter().collect();
    classes.sort_by_key(|&(class, count)| (std::cmp::Reverse(count), class));
    let others = classes.split_off(at_most.min(classes.len()));
    let ascending = |classes: Vec<(u16, u64)>| {
        let mut classes: Vec<u16> = classes.into_iter().map(|class| class.0).collect();
        classes.sort_unstable();
        classes
    };
    (ascending(classes), ascending(others))
}

/// Class numbers as ranges: `3, 5 to 9`.
pub(super) fn ranges(classes: &[u16]) -> String {
    let runs = classes.chunk_by(|a, b| a + 1 == *b).map(|run| match run {
        [only] => only.to_string(),
        [first, second] => format!("{first}, {second}"),
        [first, .., last] => format!("{first} to {last}"),
        [] => String::new(),
    });
    runs.collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_most_frequent_are_drawn_and_the_others_named() {
        let counts = [(0, 5), (1, 9), (2, 5), (3, 1), (4, 7)];
        assert_eq!(most_frequent(counts, 3), (vec![0, 1, 4], vec![2, 3]));
        assert_eq!(most_frequent(counts, 9), (vec![0, 1, 2, 3, 4], vec![]));
        assert_eq!(ranges(&[1, 2, 5, 7, 8, 9]), "1, 2, 5, 7 to 9");
        assert_eq!(ranges(&[]), "");
    }
}
