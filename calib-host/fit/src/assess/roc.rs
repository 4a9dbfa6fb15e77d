//! ROC curves and their convex hulls, in exact integers.

use serde::Serialize;

use super::assessment::RocSummary;
use crate::points::{Block, Group, group, isotonic_blocks};

/// How many negatives and positives have a score of at least some threshold.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct RocPoint {
    /// False positives.
    pub fp: u64,
    /// True positives.
    pub tp: u64,
}

/// The ROC curve of scores for a binary label, as counts. Its points are joined by straight lines.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Roc {
    /// The points for the thresholds above all scores, and at every distinct score in descending order.
    pub points: Vec<RocPoint>,
    /// The corners of the curve's convex hull from the first point to the last.
    pub hull: Vec<RocPoint>,
    /// The corners of the ROC curve of the isotonic fit to the same points.
    pub isotonic: Vec<RocPoint>,
}

impl Roc {
    /// The curve of (score, label) pairs; `None` if the labels are all equal.
    pub fn new(points: impl IntoIterator<Item = (f64, bool)>) -> Option<Self> {
        Self::of_groups(&group(points.into_iter().map(|(score, label)| (score, 1, label.into())).collect()))
    }

    /// The curve of points grouped by score, in ascending order.
    pub(crate) fn of_groups(groups: &[Group]) -> Option<Self> {
        let curve = cumulative(groups.iter().rev().map(|group| (group.n, group.positives)));
        let last = *curve.last()?;
        if last.fp == 0 || last.tp == 0 {
            return None;
        }
        let isotonic = curve_of_blocks(&isotonic_blocks(groups));
        Some(Self { hull: HullFromBelow::of(groups).hull(), points: curve, isotonic })
    }

    /// The number of negatives and of positives, at least 1 each.
    pub fn totals(&self) -> RocPoint {
        self.points[self.points.len() - 1]
    }

    /// The area under the curve.
    pub fn auc(&self) -> f64 {
        self.area(&self.points)
    }

    /// The area under the convex hull.
    pub fn hull_auc(&self) -> f64 {
        self.area(&self.hull)
    }

    /// Whether the ROC curve of the isotonic fit is the convex hull, corner by corner (Berta et al. 2024, Theorem 2.1). It
    /// always is.
    pub fn isotonic_is_hull(&self) -> bool {
        self.isotonic == self.hull
    }

    fn area(&self, points: &[RocPoint]) -> f64 {
        area(points, self.totals())
    }
}

/// The area under a curve that ends with these totals.
fn area(points: &[RocPoint], totals: RocPoint) -> f64 {
    let twice: u128 = points
        .windows(2)
        .map(|pair| u128::from(pair[1].fp - pair[0].fp) * (u128::from(pair[0].tp) + u128::from(pair[1].tp)))
        .sum();
    twice as f64 / (2 * u128::from(totals.fp) * u128::from(totals.tp)) as f64
}

/// The convex hull of a ROC curve whose points come in ascending order of score: the curve turned by half a circle, of which the
/// hull is below.
#[derive(Clone, Debug)]
pub(crate) struct HullFromBelow {
    /// The corners so far, from (0, 0) on.
    corners: Vec<RocPoint>,
}

impl Default for HullFromBelow {
    fn default() -> Self {
        Self { corners: vec![RocPoint { fp: 0, tp: 0 }] }
    }
}

impl HullFromBelow {
    /// Goes on past all points of one score.
    pub(crate) fn pass(&mut self, positives: u64, negatives: u64) {
        let last = self.totals();
        self.push(RocPoint { fp: last.fp + negatives, tp: last.tp + positives });
    }

    /// Goes on past points that are all above these.
    pub(crate) fn then(&mut self, above: &Self) {
        let last = self.totals();
        for corner in &above.corners[1..] {
            self.push(RocPoint { fp: last.fp + corner.fp, tp: last.tp + corner.tp });
        }
    }

    fn totals(&self) -> RocPoint {
        self.corners[self.corners.len() - 1]
    }

    fn push(&mut self, point: RocPoint) {
        while let [.., before, last] = self.corners[..]
            && !turns_right(point, last, before)
        {
            self.corners.pop();
        }
        self.corners.push(point);
    }

    fn of(groups: &[Group]) -> Self {
        let mut hull = Self::default();
        groups.iter().for_each(|group| hull.pass(group.positives, group.n - group.positives));
        hull
    }

    /// The corners, from (0, 0) on.
    fn hull(&self) -> Vec<RocPoint> {
        let totals = self.totals();
        let turned = |corner: &RocPoint| RocPoint { fp: totals.fp - corner.fp, tp: totals.tp - corner.tp };
        self.corners.iter().rev().map(turned).collect()
    }

    /// The curve in brief, of points with `scores` different scores and these isotonic blocks; `None` if the labels are all equal.
    pub(crate) fn summary(&self, scores: usize, blocks: &[Block]) -> Option<RocSummary> {
        let (totals, hull) = (self.totals(), self.hull());
        (totals.fp > 0 && totals.tp > 0).then(|| RocSummary {
            points: scores + 1,
            hull_points: hull.len(),
            hull_auc: area(&hull, totals),
            isotonic_is_hull: curve_of_blocks(blocks) == hull,
        })
    }
}

impl RocSummary {
    /// Of points grouped by score, in ascending order; `None` if the labels are all equal.
    pub(super) fn of_groups(groups: &[Group]) -> Option<Self> {
        HullFromBelow::of(groups).summary(groups.len(), &isotonic_blocks(groups))
    }
}

/// The ROC curve of isotonic blocks.
fn curve_of_blocks(blocks: &[Block]) -> Vec<RocPoint> {
    cumulative(blocks.iter().rev().map(|block| (block.n, block.positives)))
}

/// The running counts of (points, positives), from (0, 0) on.
fn cumulative(groups: impl Iterator<Item = (u64, u64)>) -> Vec<RocPoint> {
    let mut here = RocPoint { fp: 0, tp: 0 };
    std::iter::once(here)
        .chain(groups.map(|(n, positives)| {
            here = RocPoint { fp: here.fp + n - positives, tp: here.tp + positives };
            here
        }))
        .collect()
}

/// Whether the way from `a` over `b` to `c`, which all ascend, bends to the right at `b`.
fn turns_right(a: RocPoint, b: RocPoint, c: RocPoint) -> bool {
    let product = |fp: u64, tp: u64| u128::from(fp) * u128::from(tp);
    // Both ways may be reversed.
    let (fp, tp) =
        (|p: RocPoint, q: RocPoint| p.fp.abs_diff(q.fp), |p: RocPoint, q: RocPoint| p.tp.abs_diff(q.tp));
    product(fp(c, b), tp(b, a)) > product(fp(b, a), tp(c, b))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::points::Concordance;

    fn points(counts: &[(u64, u64)]) -> Vec<RocPoint> {
        counts.iter().map(|&(fp, tp)| RocPoint { fp, tp }).collect()
    }

    #[test]
    fn a_curve_by_hand() {
        // Descending: .9 positive; .7 negative; .5 both; .1 negative.
        let roc = Roc::new([(0.9, true), (0.7, false), (0.5, true), (0.5, false), (0.1, false)]).unwrap();
        assert_eq!(roc.points, points(&[(0, 0), (0, 1), (1, 1), (2, 2), (3, 2)]));
        assert_eq!(roc.hull, points(&[(0, 0), (0, 1), (2, 2), (3, 2)]));
        assert!((roc.auc() - (1.0 + 1.5 + 2.0) / 6.0).abs() < 1e-15);
        assert!((roc.hull_auc() - (3.0 + 2.0) / 6.0).abs() < 1e-15);
        assert!(roc.isotonic_is_hull());
        assert_eq!(Roc::new([(0.2, true), (0.3, true)]), None);
        assert_eq!(Roc::new([]), None);
    }

    proptest! {
        /// Theorem 2.1: the same corners, in integers.
        #[test]
        fn the_isotonic_fit_has_the_hull_as_its_curve(rows in proptest::collection::vec((0u32..30, any::<bool>()), 2..200)) {
            let rows = rows.into_iter().map(|(s, y)| (f64::from(s), y));
            if let Some(roc) = Roc::new(rows) {
                prop_assert_eq!(&roc.isotonic, &roc.hull);
                prop_assert!(roc.hull_auc() >= roc.auc());
                prop_assert_eq!(roc.hull.last(), roc.points.last());
                // No point of the curve is above the hull.
                for pair in roc.hull.windows(2) {
                    let between = roc.points.iter().filter(|p| p.fp >= pair[0].fp && p.fp <= pair[1].fp && p.tp >= pair[0].tp);
                    for p in between.filter(|p| p.tp <= pair[1].tp) {
                        let above = u128::from(p.tp - pair[0].tp) * u128::from(pair[1].fp - pair[0].fp);
                        prop_assert!(above <= u128::from(pair[1].tp - pair[0].tp) * u128::from(p.fp - pair[0].fp));
                    }
                }
            }
        }

        /// The area in one ascending pass is the area under the curve, and the share of pairs in the right order.
        #[test]
        fn the_areas_agree(rows in proptest::collection::vec((0u32..9, any::<bool>()), 1..40)) {
            let mut area = Concordance::default();
            for score in 0..9 {
                let of = |label| rows.iter().filter(|row| **row == (score, label)).count() as u64;
                area.pass(of(true), of(false));
            }
            let curve = Roc::new(rows.iter().map(|&(s, y)| (f64::from(s), y)));
            prop_assert_eq!(area.auc(), curve.as_ref().map(Roc::auc));
            let pairs = rows.iter().filter(|r| r.1).flat_map(|p| rows.iter().filter(|r| !r.1).map(move |n| (p.0, n.0)));
            let won: Vec<f64> = pairs.map(|(p, n)| match p.cmp(&n) {
                std::cmp::Ordering::Greater => 1.0,
                std::cmp::Ordering::Equal => 0.5,
                std::cmp::Ordering::Less => 0.0,
            }).collect();
            if let Some(auc) = area.auc() {
                prop_assert!((auc - won.iter().sum::<f64>() / won.len() as f64).abs() < 1e-12);
            }
        }
    }
}
