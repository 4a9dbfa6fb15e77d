//! What an artefact guarantees, in words and as a curve.

use calib_core::Artifact;
use calib_core::artifact::{HeaderFlags, Method, Theorem};

/// What an artefact guarantees.
pub(super) struct Promise {
    curve: Option<Curve>,
}

/// Hoeffding's bound as a function of epsilon: with probability `1 - factor * exp(-2 points epsilon^2)` every bin is within
/// epsilon.
#[derive(Clone, Copy)]
pub(super) struct Curve {
    /// Twice the number of bins of the union bound.
    factor: f64,
    /// The points per bin that the artefact's own alpha and epsilon belong to.
    points: f64,
}

impl Promise {
    pub(super) fn new(artifact: &Artifact<'_>) -> Self {
        let header = artifact.header();
        let curve = header.guarantee.and_then(|guarantee| {
            let factor = match guarantee.theorem {
                Theorem::Gr21Theorem3
                | Theorem::Gr21Theorem4
                | Theorem::Gr22Theorem1
                | Theorem::SampleSplit => 2.0 * f64::from(header.bins),
                // The others are no plain Hoeffding bounds.
                _ => return None,
            };
            let (alpha, epsilon) = (f64::from(guarantee.alpha), f64::from(guarantee.epsilon));
            Some(Curve { factor, points: (factor / alpha).ln() / (2.0 * epsilon * epsilon) })
        });
        Self { curve }
    }

    /// The bound as a function of epsilon, if the theorem has that form.
    pub(super) fn curve(&self) -> Option<Curve> {
        self.curve
    }

    /// The guarantee in one sentence, with its assumptions.
    pub(super) fn sentence(&self, artifact: &Artifact<'_>) -> String {
        let header = artifact.header();
        let Some(guarantee) = header.guarantee else {
            return match header.method {
                Method::Umd | Method::UmdOriginal if header.flags.contains(HeaderFlags::TIES_MERGED) => {
                    "Nothing is guaranteed: equal scores straddle a bin boundary, and were merged.".into()
                }
                Method::VennAbers => {
                    "Nothing is guaranteed for a single probability: of the two ends of the interval, the \
                                      one for the label that comes true is calibrated."
                        .into()
                }
                method => format!("Nothing is guaranteed: {method} has no distribution-free guarantee."),
            };
        };
        let word = match guarantee.theorem {
            Theorem::Gr21Theorem4 => ", if the device is handed a fresh random word each time",
            Theorem::SampleSplit => "",
            _ => ", if scores rarely repeat",
        };
        format!(
            "With probability {} over the draw of the {} calibration points, the probability of every bin is within {:.4} of \
             the true one for new data from the same distribution{word} ({}); nothing is promised for a single score \
             within a bin, nor once the data change.",
            1.0 - round(guarantee.alpha),
            header.n,
            guarantee.epsilon,
            guarantee.theorem
        )
    }
}

/// An `f32` as the decimal number that a person wrote.
fn round(value: f32) -> f64 {
    value.to_string().parse().expect("a printed number is a number")
}

impl Curve {
    /// A lower bound of the probability that the bin of a random score is within epsilon.
    pub(super) fn marginal(self, epsilon: f64) -> f64 {
        self.bound(2.0, epsilon)
    }

    /// A lower bound of the probability that every bin is.
    pub(super) fn conditional(self, epsilon: f64) -> f64 {
        self.bound(self.factor, epsilon)
    }

    fn bound(self, factor: f64, epsilon: f64) -> f64 {
        (1.0 - factor * (-2.0 * self.points * epsilon * epsilon).exp()).max(0.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gr21_theorem3;

    /// The curve passes through what the theorem gives at every alpha.
    #[test]
    fn the_curve_is_the_theorem_solved_for_alpha() {
        let (points_per_bin, bins) = (50, 10);
        let epsilon = gr21_theorem3(points_per_bin, bins, 0.1);
        let factor = 20.0;
        let curve = Curve { factor, points: (factor / 0.1f64).ln() / (2.0 * epsilon * epsilon) };
        assert!((curve.points - 49.0).abs() < 1e-9);
        for alpha in [0.5, 0.1, 0.01] {
            let epsilon = gr21_theorem3(points_per_bin, bins, alpha);
            assert!((curve.conditional(epsilon) - (1.0 - alpha)).abs() < 1e-12);
            let marginal = crate::gr21_theorem4_marginal(points_per_bin, alpha);
            assert!((curve.marginal(marginal) - (1.0 - alpha)).abs() < 1e-12);
        }
        assert_eq!(curve.conditional(0.0), 0.0);
    }
}
