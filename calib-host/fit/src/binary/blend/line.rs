//! The straight line of least squared error.

use crate::error::FitError;
use crate::points::Points;

/// `base + slope * score`, kept from 0 to 1: what is left of probabilities if some labels are wrong by chance.
#[derive(Clone, Copy, Debug)]
pub(super) struct Line {
    base: f64,
    slope: f64,
}

impl Line {
    /// Fits points; `None` if the line would fall.
    pub(super) fn fit(points: &(impl Points + ?Sized)) -> Result<Option<Self>, FitError> {
        let (n, positives) = points.totals();
        let (n, rate) = (n as f64, positives as f64 / n as f64);
        let mut sum = 0.0;
        points.walk(&mut |group| {
            sum += group.n as f64 * group.score;
            Ok(())
        })?;
        let center = sum / n;
        let (mut squares, mut products) = (0.0, 0.0);
        points.walk(&mut |group| {
            let from_center = group.score - center;
            squares += group.n as f64 * from_center * from_center;
            products += (group.positives as f64 - group.n as f64 * rate) * from_center;
            Ok(())
        })?;
        let slope = if squares > 0.0 { products / squares } else { 0.0 };
        Ok((slope >= 0.0).then_some(Self { base: rate - slope * center, slope }))
    }

    pub(super) fn prob(self, score: f64) -> f64 {
        (self.base + self.slope * score).clamp(0.0, 1.0)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::points::group;

    proptest! {
        /// No other line has a smaller squared error, and a line that falls is none.
        #[test]
        fn no_other_line_is_nearer(
            raw in proptest::collection::vec((0u32..50, 1u64..4, any::<bool>()), 2..40), base in -0.2f64..0.2, slope in -0.5f64..0.5,
        ) {
            let points = group(raw.into_iter().map(|(s, n, y)| (f64::from(s) / 49.0, n, if y { n } else { 0 })).collect());
            let error = |a: f64, b: f64| -> f64 {
                let of = |label: f64, at: f64| (label - a - b * at).powi(2);
                points
                    .iter()
                    .map(|g| g.positives as f64 * of(1.0, g.score) + (g.n - g.positives) as f64 * of(0.0, g.score))
                    .sum()
            };
            match Line::fit(&points[..]).unwrap() {
                Some(line) => {
                    prop_assert!(error(line.base, line.slope) <= error(line.base + base, line.slope + slope) + 1e-9);
                    prop_assert!([0.0, 0.3, 1.0].iter().all(|&score| (0.0..=1.0).contains(&line.prob(score))));
                }
                // Then even a level line is nearer than any that rises.
                None => {
                    let (n, positives) = points.totals();
                    let level = error(positives as f64 / n as f64, 0.0);
                    prop_assert!(level <= error(positives as f64 / n as f64 + base, slope.abs()) + 1e-9);
                }
            }
        }
    }
}
