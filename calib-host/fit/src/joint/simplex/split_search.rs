//! What splits of a region of the simplex would do.

use calib_core::vector::SplitTree;

use crate::cancel;
use crate::stats::CountTree;

/// Points of the simplex in the steps of [`SplitTree`], with their classes.
pub(crate) struct SteppedPoints<'a> {
    pub(crate) classes: usize,
    /// Row-major.
    pub(crate) steps: &'a [i32],
    pub(crate) labels: &'a [u16],
}

/// A split of a region that could be made.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Candidate {
    pub(crate) gamma: Vec<i32>,
    /// The score: `sum over children of points times |mean label of the region - mean label of the child|`, the
    /// distance of two means being the sum of their entries' absolute differences.
    pub(crate) gain: f64,
    /// How many points of each class are in each child, row-major.
    pub(crate) counts: Vec<u64>,
    /// The other regions whose values stood against the split when it was last tried, as long as all of them are there.
    pub(crate) blocked_by: Vec<usize>,
}

/// Beyond this many classes counting takes a step per pair of point and candidate, and not all points are candidates.
const SWEPT_CLASSES: usize = 3;

/// How many are then.
const CANDIDATES: usize = 1024;

/// So many points are compared with a split at once.
const BLOCK: usize = 64;

impl SteppedPoints<'_> {
    pub(crate) fn row(&self, point: usize) -> &[i32] {
        &self.steps[point * self.classes..][..self.classes]
    }

    /// The child of a split that a point belongs to.
    pub(crate) fn child(&self, gamma: &[i32], point: usize) -> usize {
        child(gamma, self.row(point))
    }

    /// How many of the points have each class.
    pub(crate) fn class_counts(&self, points: &[usize]) -> Vec<u64> {
        let mut counts = vec![0; self.classes];
        for &point in points {
            counts[usize::from(self.labels[point])] += 1;
        }
        counts
    }

    /// A split for every point: each class is separated from class 0 midway between the point's difference of the two and the
    /// next larger one. With two classes these are all splits there are. The first is the one that separates class 1 from class 0
    /// by the least, then class 2, and so on: with two classes that of the lowest score.
    pub(crate) fn midpoints(&self, points: &[usize]) -> Vec<Vec<i32>> {
        let (first, others) = (0, 1..self.classes);
        let stride = if self.classes > SWEPT_CLASSES { points.len().div_ceil(CANDIDATES).max(1) } else { 1 };
        let mut splits: Vec<Vec<i64>> =
            points.iter().step_by(stride).map(|_| vec![0; self.classes]).collect();
        for other in others {
            let difference = |point: usize| {
                let row = self.row(point);
                i64::from(row[other]) - i64::from(row[first])
            };
            let mut differences: Vec<i64> = points.iter().map(|&point| difference(point)).collect();
            differences.sort_unstable();
            for (split, &point) in splits.iter_mut().zip(points.iter().step_by(stride)) {
                let here = difference(point);
                let above = differences[differences.partition_point(|&other| other <= here)..].first();
                split[other] = above.map_or(here, |above| here + (above - here) / 2);
            }
        }
        splits.sort_unstable();
        splits.dedup();
        splits.into_iter().map(|split| in_affine_plane(&split)).collect()
    }

    /// The splits that gain, the best first; among equals the first. `gain` tells how much from the class counts of the region
    /// and of the children.
    pub(crate) fn gaining(
        &self,
        points: &[usize],
        gammas: Vec<Vec<i32>>,
        gain: fn(&[u64], &[u64]) -> f64,
    ) -> Vec<Candidate> {
        let totals = self.class_counts(points);
        let counts = self.child_counts(points, &gammas);
        let mut candidates: Vec<Candidate> = gammas
            .into_iter()
            .zip(counts.chunks_exact(self.classes * self.classes))
            .map(|(gamma, counts)| {
                let gain = gain(&totals, counts);
                Candidate { gamma, gain, counts: counts.to_vec(), blocked_by: Vec::new() }
            })
            .filter(|candidate| candidate.gain > 0.0)
            .collect();
        candidates.sort_by(|a, b| b.gain.total_cmp(&a.gain));
        candidates
    }

    /// For every split, how many points of each class are in each child.
    fn child_counts(&self, points: &[usize], gammas: &[Vec<i32>]) -> Vec<u64> {
        if self.classes > SWEPT_CLASSES {
            return self.counted_in_blocks(points, gammas);
        }
        let width = self.classes * self.classes;
        let mut counts = vec![0; width * gammas.len()];
        for child in 0..self.classes - 1 {
            cancel::check_canceled();
            self.sweep(child, points, gammas, &mut counts);
        }
        let totals = self.class_counts(points);
        for counts in counts.chunks_exact_mut(width) {
            let (others, last) = counts.split_at_mut(width - self.classes);
            last.copy_from_slice(&totals);
            for other in others.chunks_exact(self.classes) {
                last.iter_mut().zip(other).for_each(|(last, other)| *last -= other);
            }
        }
        counts
    }

    /// The counts of each child's classes, split by split, for blocks of points, whose entries come class by class: so several
    /// points are compared at once.
    fn counted_in_blocks(&self, points: &[usize], gammas: &[Vec<i32>]) -> Vec<u64> {
        let width = self.classes * self.classes;
        let mut counts = vec![0; width * gammas.len()];
        let mut columns = vec![[0i32; BLOCK]; self.classes];
        for block in points.chunks(BLOCK) {
            cancel::check_canceled();
            for (place, &point) in block.iter().enumerate() {
                columns.iter_mut().zip(self.row(point)).for_each(|(column, &steps)| column[place] = steps);
            }
            for (gamma, counts) in gammas.iter().zip(counts.chunks_exact_mut(width)) {
                let Some(children) = children_of_block(&columns, gamma) else {
                    for &point in block {
                        counts[self.child(gamma, point) * self.classes + usize::from(self.labels[point])] +=
                            1;
                    }
                    continue;
                };
                for (&point, child) in block.iter().zip(children) {
                    counts[child as usize * self.classes + usize::from(self.labels[point])] += 1;
                }
            }
        }
        counts
    }

    /// Counts one child of every split among two or three classes in O(n log n): a point is in it if one or two
    /// differences of its entries are not below those of gamma. A sweep over the first difference and a tree of
    /// counts over the second tell.
    fn sweep(&self, child: usize, points: &[usize], gammas: &[Vec<i32>], counts: &mut [u64]) {
        let mut rows: Vec<((i64, i64), u16)> =
            points.iter().map(|&point| (pair(self.row(point), child, lead), self.labels[point])).collect();
        rows.sort_unstable_by(|a, b| b.cmp(a));
        let mut queries: Vec<((i64, i64), usize)> =
            gammas.iter().enumerate().map(|(i, gamma)| (pair(gamma, child, needed), i)).collect();
        queries.sort_unstable_by(|a, b| b.cmp(a));
        let mut seconds: Vec<i64> = rows.iter().map(|row| row.0.1).collect();
        seconds.sort_unstable();
        seconds.dedup();

        let mut tree = CountTree::new(seconds.len(), self.classes);
        let mut rows = rows.into_iter().peekable();
        for ((first, second), query) in queries {
            while let Some(((_, place), label)) = rows.next_if(|row| row.0.0 >= first) {
                // From the top, so that a prefix holds what is not below.
                let rank = seconds.len() - 1 - seconds.partition_point(|&other| other < place);
                tree.add(rank, label.into());
            }
            let not_below = seconds.len() - seconds.partition_point(|&other| other < second);
            let place = (query * self.classes + child) * self.classes;
            tree.add_prefix(not_below, &mut counts[place..place + self.classes]);
        }
    }
}

/// The child of a split that a row belongs to.
pub(crate) fn child(gamma: &[i32], row: &[i32]) -> usize {
    SplitTree::child(gamma.iter().copied(), row.iter().copied())
}

/// As [`child`], for the rows of a block in the steps of a [`SplitTree`], from 0 to 2^30; `None` if a margin may not fit into 32 bits.
fn children_of_block(columns: &[[i32; BLOCK]], gamma: &[i32]) -> Option<[u32; BLOCK]> {
    const ONE: i32 = 1 << 30;
    // Margins lie between -1 and 2, in steps: less a half, they are below 2 in size.
    const HALF: i32 = ONE / 2;
    if !gamma.iter().all(|entry| (-ONE..=ONE).contains(entry)) {
        return None;
    }
    let (mut best, mut children) = ([i32::MIN; BLOCK], [0u32; BLOCK]);
    for (class, (column, gamma)) in (0..).zip(columns.iter().zip(gamma)) {
        let shift = gamma + HALF;
        for ((best, child), steps) in best.iter_mut().zip(&mut children).zip(column) {
            let margin = steps - shift;
            let is_better = margin > *best;
            *best = if is_better { margin } else { *best };
            *child = if is_better { class } else { *child };
        }
    }
    Some(children)
}

/// How much more a row has of one class than of another.
pub(crate) fn lead(row: &[i32], class: usize, other: usize) -> i64 {
    i64::from(row[class]) - i64::from(row[other])
}

/// How much more than of another class a row must have of the class whose child it is in: the lower class wins ties.
pub(crate) fn needed(gamma: &[i32], class: usize, other: usize) -> i64 {
    lead(gamma, class, other) + i64::from(other < class)
}

/// What holds between a class and the other one or two.
pub(crate) fn pair(row: &[i32], class: usize, of: fn(&[i32], usize, usize) -> i64) -> (i64, i64) {
    let mut others = (0..row.len()).filter(|&other| other != class).map(|other| of(row, class, other));
    (others.next().unwrap_or(0), others.next().unwrap_or(0))
}

/// The score of a split, from the class counts of the region and of the children. Exact up to the last division.
pub(crate) fn gain(totals: &[u64], counts: &[u64]) -> f64 {
    let n: u64 = totals.iter().sum();
    let of_child = |counts: &[u64]| -> u128 {
        let here: u64 = counts.iter().sum();
        let products = counts.iter().zip(totals).map(|(&count, &total)| {
            (u128::from(here) * u128::from(total), u128::from(n) * u128::from(count))
        });
        products.map(|(expected, got)| expected.abs_diff(got)).sum()
    };
    counts.chunks_exact(totals.len()).map(of_child).sum::<u128>() as f64 / n as f64
}

/// The score of the first split of the simplex as the authors' code has it: the mean label of the whole is compared with the
/// values `(share + 0.05) / 1.05` of the children.
pub(crate) fn first_gain_of_the_paper(totals: &[u64], counts: &[u64]) -> f64 {
    let n = u128::from(totals.iter().sum::<u64>());
    let of_child = |counts: &[u64]| -> u128 {
        let here = u128::from(counts.iter().sum::<u64>());
        let products = counts
            .iter()
            .zip(totals)
            .map(|(&count, &total)| (21 * here * u128::from(total), n * (20 * u128::from(count) + here)));
        products.map(|(expected, got)| expected.abs_diff(got)).sum()
    };
    counts.chunks_exact(totals.len()).map(of_child).sum::<u128>() as f64 / (21 * n) as f64
}

/// Adds the same number to all entries, so that they sum to about one: no difference changes.
fn in_affine_plane(gamma: &[i64]) -> Vec<i32> {
    let one = (1.0 / SplitTree::STEP) as i64;
    let shift = (one - gamma.iter().sum::<i64>()).div_euclid(gamma.len() as i64);
    gamma.iter().map(|entry| i32::try_from(entry + shift).expect("below 2 in size")).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn steps() -> impl Strategy<Value = i32> {
        prop_oneof![Just(0), Just(1 << 30), 0i32..=1 << 30, 0i32..4]
    }

    proptest! {
        /// The sweep counts what one-by-one counting does, ties included.
        #[test]
        fn sweeps_count_every_point(
            classes in 2usize..4,
            raw in proptest::collection::vec((0i32..6, 0i32..6, 0i32..6, 0u16..3), 1..40),
            gammas in proptest::collection::vec(proptest::collection::vec(-6i32..6, 3), 1..20),
        ) {
            let steps: Vec<i32> = raw.iter().flat_map(|r| [r.0, r.1, r.2][..classes].to_vec()).collect();
            let labels: Vec<u16> = raw.iter().map(|r| r.3 % classes as u16).collect();
            let points = SteppedPoints { classes, steps: &steps, labels: &labels };
            let some: Vec<usize> = (0..raw.len()).filter(|i| i % 3 != 1).collect();
            let gammas: Vec<Vec<i32>> = gammas.iter().map(|gamma| gamma[..classes].to_vec()).collect();
            prop_assert_eq!(points.child_counts(&some, &gammas), points.counted_in_blocks(&some, &gammas));
        }

        /// Of points at the ends of the simplex, too, and splits within it and far out.
        #[test]
        fn blocks_count_as_the_device_does(
            classes in 2usize..7,
            raw in proptest::collection::vec((proptest::collection::vec(steps(), 6), 0u16..6), 1..200),
            gammas in proptest::collection::vec(proptest::collection::vec(prop_oneof![steps(), any::<i32>()], 6), 1..8),
        ) {
            let steps: Vec<i32> = raw.iter().flat_map(|row| row.0[..classes].to_vec()).collect();
            let labels: Vec<u16> = raw.iter().map(|row| row.1 % classes as u16).collect();
            let points = SteppedPoints { classes, steps: &steps, labels: &labels };
            let some: Vec<usize> = (0..raw.len()).filter(|i| i % 5 != 1).collect();
            let gammas: Vec<Vec<i32>> = gammas.iter().map(|gamma| gamma[..classes].to_vec()).collect();
            let counts = points.counted_in_blocks(&some, &gammas);
            for (gamma, counts) in gammas.iter().zip(counts.chunks_exact(classes * classes)) {
                let mut expected = vec![0; classes * classes];
                for &point in &some {
                    expected[points.child(gamma, point) * classes + usize::from(labels[point])] += 1;
                }
                prop_assert_eq!(counts, &expected[..], "{:?}", gamma);
            }
        }

        /// The gain is the printed formula.
        #[test]
        fn the_gain_is_the_formula(counts in proptest::collection::vec(0u64..50, 9)) {
            let totals: Vec<u64> = (0..3).map(|c| counts[c] + counts[3 + c] + counts[6 + c]).collect();
            let n: u64 = totals.iter().sum();
            prop_assume!(n > 0);
            let mut expected = 0.0;
            for child in counts.chunks(3) {
                let here = child.iter().sum::<u64>() as f64;
                for (count, total) in child.iter().zip(&totals) {
                    if here > 0.0 {
                        expected += here * (*total as f64 / n as f64 - *count as f64 / here).abs();
                    }
                }
            }
            prop_assert!((gain(&totals, &counts) - expected).abs() < 1e-9);
        }
    }
}
