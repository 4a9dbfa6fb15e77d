//! What an artifact guarantees, as a curve.

use calib_core::Artifact;
use calib_core::artifact::{HeaderFlags, Method, Reduction, Theorem};
use calib_fit::artifact::candidates;

/// Hoeffding's bound as a function of epsilon: with probability `1 - factor * exp(-2 points epsilon^2)` every bin is within
/// epsilon.
#[derive(Clone, Copy)]
pub(super) struct Curve {
    /// Twice the number of bins of the union bound, times what alpha was divided by if the rows chose among several candidates.
    factor: f64,
    /// The points per bin that the artifact's own alpha and epsilon belong to.
    points: f64,
}

impl Curve {
    /// Returns the bound of an artifact, if its theorem has that form and the bound is about what the test rows show: every table
    /// has the guarantee, and it is about predictions, class by class where rows are grouped so.
    pub(super) fn of(artifact: &Artifact<'_>) -> Option<Self> {
        let header = artifact.header();
        let guarantee = header.guarantee?;
        let tables = artifact.tables();
        let mut calibrated = (0..tables.count()).filter_map(|table| tables.get(table));
        let is_about_predictions =
            matches!(header.reduction, Reduction::Binary | Reduction::TopLabel | Reduction::TopKLabel { .. });
        if !is_about_predictions || calibrated.any(|table| table.epsilon.is_none()) {
            return None;
        }
        let factor = 2.0 * f64::from(header.bins) * candidates(artifact) as f64;
        match guarantee.theorem {
            Theorem::Gr21Theorem3 | Theorem::Gr21Theorem4 | Theorem::Gr22Theorem1 | Theorem::SampleSplit => {}
            // Exact intervals imply it for the labels that every bin has.
            Theorem::ClopperPearson
                if header.method == Method::Umd
                    && header.reduction == Reduction::Binary
                    && tables.count() == 1
                    && !header.flags.contains(HeaderFlags::TIES_MERGED) =>
            {
                let labels = (header.n / u64::from(header.bins).max(1)).saturating_sub(1).max(1);
                return Some(Self { factor, points: labels as f64 });
            }
            // The others are no plain Hoeffding bounds.
            _ => return None,
        }
        let (alpha, epsilon) = (f64::from(guarantee.alpha), f64::from(guarantee.epsilon));
        Some(Self { factor, points: (factor / alpha).ln() / (2.0 * epsilon * epsilon) })
    }

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
    use calib_fit::guarantee::gr21_theorem3;

    /// The curve passes through what the theorem gives at every alpha.
    #[test]
    fn the_curve_is_the_theorem_solved_for_alpha() {
        let (rows_per_bin, bins) = (50, 10);
        let epsilon = gr21_theorem3(rows_per_bin, bins, 0.1);
        let factor = 20.0;
        let curve = Curve { factor, points: (factor / 0.1f64).ln() / (2.0 * epsilon * epsilon) };
        assert!((curve.points - 49.0).abs() < 1e-9);
        for alpha in [0.5, 0.1, 0.01] {
            let epsilon = gr21_theorem3(rows_per_bin, bins, alpha);
            assert!((curve.conditional(epsilon) - (1.0 - alpha)).abs() < 1e-12);
            let marginal = calib_fit::guarantee::gr21_theorem4_marginal(rows_per_bin, alpha);
            assert!((curve.marginal(marginal) - (1.0 - alpha)).abs() < 1e-12);
        }
        assert_eq!(curve.conditional(0.0), 0.0);
    }
}
