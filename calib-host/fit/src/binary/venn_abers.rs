//! Inductive Venn-Abers prediction.

use calib_core::artifact::Method;

use super::facts::Facts;
use crate::error::FitError;
use crate::points::{Group, Points, pool_groups};
use crate::stats::ScoreKind;

/// A Venn-Abers predictor (Vovk, Petej and Fedorova 2015), tabulated: the isotonic fits with the test point added with
/// label 0 and with label 1, at the test point, as step functions of its score.
///
/// One of the two probabilities, the one for the true label, is perfectly calibrated.
#[derive(Clone, Debug, PartialEq)]
pub struct VennAbersModel {
    /// The inner edges, strictly ascending, each an `f32`.
    pub edges: Vec<f64>,
    /// The probability with the test point taken as 0, per bin, non-decreasing.
    pub p0: Vec<f64>,
    /// The probability with the test point taken as 1, per bin, non-decreasing and not below `p0`.
    pub p1: Vec<f64>,
}

/// The points and positives of a block.
type Counts = (u64, u64);

/// The blocks of the isotonic fits of all first (or all last) of some groups, and of what is before them, as stacks that share
/// their lower parts.
struct Stacks {
    /// A block and the one below it.
    nodes: Vec<(Counts, Option<usize>)>,
    /// The top block after each number of groups, from 0 on.
    tops: Vec<Option<usize>>,
}

/// The fits at the score of a group with the test point added.
#[derive(Clone, Copy)]
struct Fitted {
    score: f64,
    p0: f64,
    p1: f64,
}

impl VennAbersModel {
    pub(super) fn facts() -> Facts {
        Facts { counts_points: Some("venn-abers"), ..Facts::new(Method::VennAbers, String::new()) }
    }

    /// Tabulates both fits of points whose scores are `f32`.
    ///
    /// A point with label 0 is never below the mean of what precedes it in its group. So the fit with label 0 is
    /// constant from one score up to the next. By the same reasoning the fit with label 1 is constant right above a
    /// score up to and including the next.
    pub(crate) fn fit(points: &(impl Points + ?Sized), kind: ScoreKind) -> Result<Self, FitError> {
        let mut table: Option<(Self, f64)> = None;
        for fitted in fitted_where_it_changes(points)? {
            table = Some(match table {
                None => (Self { edges: Vec::new(), p0: vec![0.0], p1: vec![fitted.p1] }, fitted.score),
                Some((mut table, last)) => {
                    table.begin_above(kind, last, fitted.p1);
                    (table, fitted.score)
                }
            });
            let Some((table, _)) = &mut table else { unreachable!("just made") };
            let p1 = table.p1[table.p1.len() - 1];
            table.begin(kind, fitted.score, fitted.p0, p1);
        }
        let (mut table, last) = table.expect("there is an observation");
        table.begin_above(kind, last, 1.0);
        Ok(table)
    }

    /// Begins a bin right above a score, from which on the fit with label 1 has another value.
    fn begin_above(&mut self, kind: ScoreKind, score: f64, p1: f64) {
        // -0.0, which equals 0.0, is no edge that a device reads; 0.0 is.
        let above = f64::from((score as f32).next_up()) + 0.0;
        if above.is_finite() && above <= kind.ends().1 {
            self.begin(kind, above, self.p0[self.p0.len() - 1], p1);
        }
    }

    /// Begins a bin at `edge`, unless nothing changes there; replaces the bin that begins there already.
    fn begin(&mut self, kind: ScoreKind, edge: f64, p0: f64, p1: f64) {
        let last = self.p0.len() - 1;
        if self.edges.last().copied().unwrap_or(kind.ends().0) >= edge {
            (self.p0[last], self.p1[last]) = (p0, p1);
        } else if (self.p0[last], self.p1[last]) != (p0, p1) {
            self.edges.push(edge);
            self.p0.push(p0);
            self.p1.push(p1);
        }
    }
}

/// The fits at the scores of groups, in ascending order; groups between others with the same fits are left out.
fn fitted_where_it_changes(points: &(impl Points + ?Sized)) -> Result<Vec<Fitted>, FitError> {
    // What is before and after a run of groups matters by its isotonic fit alone.
    let blocks = points.map_runs(|groups| {
        pool_groups(groups).iter().map(|block| (block.n, block.positives)).collect::<Vec<_>>()
    })?;
    let mut starts = vec![0];
    for blocks in &blocks {
        starts.push(starts[starts.len() - 1] + blocks.len());
    }
    let blocks = blocks.concat();
    let before = Stacks::before(Vec::new(), blocks.iter().copied());
    let after = Stacks::after(Vec::new(), blocks.iter().rev().copied());
    let runs = points.map_numbered_runs(|run, groups| {
        let groups: Vec<Group> = groups.collect();
        let counts = || groups.iter().map(|group| (group.n, group.positives));
        let before = Stacks::before(before.stack(starts[run]), counts());
        let after = Stacks::after(after.stack(blocks.len() - starts[run + 1]), counts().rev());
        let fitted = |index: usize, label: u64| {
            let point = (groups[index].n + 1, groups[index].positives + label);
            pooled(point, &before, index, &after, groups.len() - 1 - index)
        };
        let fitted =
            |index: usize| Fitted { score: groups[index].score, p0: fitted(index, 0), p1: fitted(index, 1) };
        where_it_changes(&(0..groups.len()).map(fitted).collect::<Vec<_>>())
    })?;
    Ok(runs.concat())
}

/// The first and the last, and those that differ from a neighbor.
fn where_it_changes(all: &[Fitted]) -> Vec<Fitted> {
    let differ = |a: &Fitted, b: Option<&Fitted>| b.is_none_or(|b| (a.p0, a.p1) != (b.p0, b.p1));
    let before = |index: usize| index.checked_sub(1).map(|before| &all[before]);
    let kept = |(index, fitted): &(usize, &Fitted)| {
        differ(fitted, before(*index)) || differ(fitted, all.get(index + 1))
    };
    all.iter().enumerate().filter(kept).map(|(_, fitted)| *fitted).collect()
}

impl Stacks {
    /// The fits of all first groups, on top of the blocks of what is before them.
    fn before(below: Vec<Counts>, groups: impl Iterator<Item = Counts>) -> Self {
        Self::new(below, groups, |below, new| !mean_is_below(below, new))
    }

    /// The fits of all last groups, which come from the last on, on top of the blocks of what is after them.
    fn after(below: Vec<Counts>, groups: impl Iterator<Item = Counts>) -> Self {
        Self::new(below, groups, |above, new| !mean_is_below(new, above))
    }

    /// Pushes groups one by one, pooling the new block with the top one while they `violate` the order.
    fn new(
        below: Vec<Counts>,
        groups: impl Iterator<Item = Counts>,
        violate: impl Fn(Counts, Counts) -> bool,
    ) -> Self {
        let mut top = below.len().checked_sub(1);
        let nodes = below.into_iter().enumerate().map(|(node, block)| (block, node.checked_sub(1))).collect();
        let mut stacks = Self { nodes, tops: vec![top] };
        for mut block in groups {
            while let Some((below, next)) = top.map(|top| stacks.nodes[top])
                && violate(below, block)
            {
                block = pool(block, below);
                top = next;
            }
            stacks.nodes.push((block, top));
            top = Some(stacks.nodes.len() - 1);
            stacks.tops.push(top);
        }
        stacks
    }

    /// The blocks of the fit of so many groups, from the lowest of the stack on.
    fn stack(&self, groups: usize) -> Vec<Counts> {
        let mut next = self.tops[groups];
        let mut blocks: Vec<Counts> = std::iter::from_fn(|| {
            let (block, below) = self.top(next)?;
            next = below;
            Some(block)
        })
        .collect();
        blocks.reverse();
        blocks
    }

    fn top(&self, top: Option<usize>) -> Option<(Counts, Option<usize>)> {
        top.map(|top| self.nodes[top])
    }
}

/// The fitted value of `block` between the fits of the first `below` and the last `above` groups.
fn pooled(mut block: Counts, before: &Stacks, below: usize, after: &Stacks, above: usize) -> f64 {
    let (mut left, mut right) = (before.tops[below], after.tops[above]);
    loop {
        match (before.top(left), after.top(right)) {
            (Some((neighbor, next)), _) if !mean_is_below(neighbor, block) => {
                block = pool(block, neighbor);
                left = next;
            }
            (_, Some((neighbor, next))) if !mean_is_below(block, neighbor) => {
                block = pool(block, neighbor);
                right = next;
            }
            _ => return block.1 as f64 / block.0 as f64,
        }
    }
}

fn pool(a: Counts, b: Counts) -> Counts {
    (a.0 + b.0, a.1 + b.1)
}

fn mean_is_below(a: Counts, b: Counts) -> bool {
    u128::from(a.1) * u128::from(b.0) < u128::from(b.1) * u128::from(a.0)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rand::{RngExt, SeedableRng};
    use rand_xoshiro::Xoshiro256PlusPlus;

    use super::*;
    use crate::points::{group, isotonic_blocks};

    /// The definition: add the test point, fit, look.
    fn by_definition(groups: &[Group], score: f64, label: u64) -> f64 {
        let mut points: Vec<_> = groups.iter().map(|g| (g.score, g.n, g.positives)).collect();
        points.push((score, 1, label));
        let blocks = isotonic_blocks(&group(points));
        let block = blocks.iter().find(|b| b.lo <= score && score <= b.hi).unwrap();
        block.positives as f64 / block.n as f64
    }

    /// Of the two probabilities, the one for the true label is perfectly calibrated, whatever the score's
    /// distribution: among the test points for which it is about `p`, a share of about `p` has label 1. The other one is
    /// not.
    #[test]
    fn the_probability_for_the_true_label_is_calibrated() {
        const DRAWS: usize = 40_000;
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(5);
        // The sums over draws of the label minus the probability, and its variance, by the probability's fifth.
        let mut right = [(0.0, 0.0); 5];
        let mut wrong = [(0.0, 0.0); 5];
        for _ in 0..DRAWS {
            let mut draw = || {
                let score = f64::from(rng.random_range(0u8..30)) / 32.0;
                (score, rng.random_bool(0.2 + 0.6 * score * score))
            };
            let points = (0..25).map(|_| draw()).map(|(score, label)| (score, 1, label.into())).collect();
            let (score, label) = draw();
            let model = VennAbersModel::fit(&group(points)[..], ScoreKind::Probability).unwrap();
            let bin = model.edges.partition_point(|&edge| edge <= score);
            let ends = if label { [model.p1[bin], model.p0[bin]] } else { [model.p0[bin], model.p1[bin]] };
            for (sums, prob) in [&mut right, &mut wrong].into_iter().zip(ends) {
                let sum = &mut sums[((5.0 * prob) as usize).min(4)];
                *sum = (sum.0 + f64::from(u8::from(label)) - prob, sum.1 + prob * (1.0 - prob));
            }
        }
        let deviations =
            |sums: [(f64, f64); 5]| sums.map(|(sum, variance)| sum.abs() / variance.max(1.0).sqrt());
        assert!(deviations(right).into_iter().all(|deviation| deviation < 4.0), "{:?}", deviations(right));
        assert!(deviations(wrong).into_iter().any(|deviation| deviation > 10.0), "{:?}", deviations(wrong));
    }

    proptest! {
        #[test]
        fn tabulates_the_definition(
            raw in proptest::collection::vec((0u32..12, 1u64..4, any::<bool>()), 1..40),
            probe in 0.0f32..=1.0,
        ) {
            let at = |i: u32| f64::from(i as f32 / 11.0);
            let groups = group(raw.into_iter().map(|(s, n, y)| (at(s), n, if y { n } else { 0 })).collect());
            let model = VennAbersModel::fit(&groups[..], ScoreKind::Probability).unwrap();
            let mut probes = vec![f64::from(probe), 0.0, 1.0];
            for i in 0..12 {
                let s = at(i) as f32;
                probes.extend([s.next_down().max(0.0), s, s.next_up().min(1.0)].map(f64::from));
            }
            for probe in probes {
                let bin = model.edges.partition_point(|&edge| edge <= probe);
                prop_assert_eq!(model.p0[bin], by_definition(&groups, probe, 0), "p0 at {}", probe);
                prop_assert_eq!(model.p1[bin], by_definition(&groups, probe, 1), "p1 at {}", probe);
            }
            prop_assert!(model.edges.windows(2).all(|e| e[0] < e[1]));
            prop_assert!(model.p0.is_sorted() && model.p1.is_sorted());
            prop_assert!(model.p0.iter().zip(&model.p1).all(|(p0, p1)| p0 <= p1));
        }
    }
}
