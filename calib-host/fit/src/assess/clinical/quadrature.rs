//! Rows with logits in short: a few points in place of many rows, for sums of smooth functions over all rows.

use super::distinct::Distinct;
use super::logit_row::{LogitRow, ToLogit};
use crate::points::Groups;
use crate::stats::ExactSum;

/// So few rows are kept as they are.
const FEW: usize = 1 << 15;

/// The points of a bin.
pub(super) const NODES: usize = 6;

/// Bins are at most so wide, in logits.
const WIDTH: f64 = 1.0 / 64.0;

/// The inner nine tenths of all rows are cut into so many bins or more.
const INNER_BINS: f64 = 256.0;

/// A logit has at most so many bins, as a power of two.
const MOST_BITS: f64 = 40.0;

/// Where the points of a bin may be.
pub(super) struct Grid<'k> {
    bins_per_logit: f64,
    /// Bins are also cut where a function that is summed is not smooth; ascending.
    knots: &'k [f64],
}

/// Rows, or in place of the rows in a narrow bin of logits [`NODES`] points: the sum of a function over the points, with their
/// counts, is the sum over the rows of the polynomial that has the function's values at the points (Chebyshev's).
///
/// Take a function of a logit that moves with slope `s` as the bin's does, with bins of width `w`. The difference is about
/// `(s w / 2)^6 / (6! 2^5)` of a row's size: 10^-17 for `s w` of `1 / 64`, less than what sums of floats lose. Counts may be
/// negative, and are no integers.
#[derive(Default)]
pub(super) struct Quadrature {
    pub(super) points: Vec<Point>,
    /// Where the points of each bin start that stand for other rows.
    pub(super) bins: Vec<usize>,
    pub(super) ends: Ends,
}

/// The lowest and the highest logit of the positives and of the negatives.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Ends(pub(super) [Option<(f64, f64)>; 2]);

/// A logit and how many rows it stands for.
#[derive(Clone, Copy, Debug)]
pub(super) struct Point {
    pub(super) logit: f64,
    pub(super) n: f64,
    pub(super) positives: f64,
}

impl Point {
    fn of(row: &LogitRow) -> Self {
        Self { logit: row.logit, n: row.n as f64, positives: row.positives as f64 }
    }
}

/// The rows in a bin.
struct Bin {
    /// Its number among those of equal width, and of the knots below it.
    key: (i64, usize),
    /// The first of them, and one more if there are more.
    rows: Vec<LogitRow>,
    /// How many negatives and positives there are.
    counts: [u64; 2],
    /// The sums over negatives and positives of powers of where in the bin a row is, from -1 to 1.
    moments: [[ExactSum; NODES - 1]; 2],
    center: f64,
    /// One over half of its width.
    scale: f64,
}

/// Rows that follow each other.
#[derive(Default)]
struct Part {
    bins: Vec<Bin>,
    ends: Ends,
}

impl<'k> Grid<'k> {
    /// For rows nine tenths of which are in a stretch of this length; bins are so many times narrower than it takes.
    pub(super) fn new(spread: f64, narrower: f64, knots: &'k [f64]) -> Self {
        let width = if spread > 0.0 { WIDTH.min(spread / INNER_BINS) } else { WIDTH };
        // Of powers of two the numbers of bins and their ends are exact.
        let bits = (narrower / width).log2().ceil().min(MOST_BITS);
        Self { bins_per_logit: bits.exp2(), knots }
    }

    /// The bin that a logit is in, and where it ends.
    fn bin(&self, logit: f64) -> (Bin, f64) {
        let bins_per_logit = self.bins_per_logit;
        let below = self.knots.partition_point(|knot| *knot <= logit);
        let number = (logit * bins_per_logit).floor();
        let (lo, hi) = (number / bins_per_logit, (number + 1.0) / bins_per_logit);
        let lo = below.checked_sub(1).map_or(lo, |knot| lo.max(self.knots[knot]));
        let hi = self.knots.get(below).map_or(hi, |knot| hi.min(*knot));
        (Bin::new((number as i64, below), (lo, hi)), hi)
    }
}

impl Bin {
    fn new(key: (i64, usize), (lo, hi): (f64, f64)) -> Self {
        Self {
            key,
            rows: Vec::new(),
            counts: [0; 2],
            moments: [[ExactSum::default(); NODES - 1]; 2],
            center: lo.midpoint(hi),
            scale: 2.0 / (hi - lo),
        }
    }

    #[inline]
    fn add(&mut self, row: LogitRow) {
        if self.rows.len() <= NODES {
            self.rows.push(row);
        }
        let place = ((row.logit - self.center) * self.scale).clamp(-1.0, 1.0);
        for (label, times) in [(0, row.n - row.positives), (1, row.positives)] {
            if times == 0 {
                continue;
            }
            self.counts[label] += times;
            let mut power = 1.0;
            for moment in &mut self.moments[label] {
                power *= place;
                moment.add_times(power, times);
            }
        }
    }

    /// Takes what is above in the same bin.
    fn then(&mut self, above: Self) {
        self.rows.extend(above.rows);
        self.rows.truncate(NODES + 1);
        for label in 0..2 {
            self.counts[label] += above.counts[label];
            self.moments[label].iter_mut().zip(above.moments[label]).for_each(|(sum, other)| *sum += other);
        }
    }

    /// The points in place of the rows.
    fn points(&self, basis: &[[f64; NODES]; NODES]) -> [Point; NODES] {
        let count = |label: usize, lagrange: &[f64; NODES]| {
            let moments = self.moments[label].iter().map(|moment| moment.value());
            let all = std::iter::once(self.counts[label] as f64).chain(moments);
            all.zip(lagrange).map(|(moment, by)| moment * by).sum::<f64>()
        };
        std::array::from_fn(|node| {
            let [negatives, positives] = [0, 1].map(|label| count(label, &basis[node]));
            Point { logit: self.center + place(node) / self.scale, n: negatives + positives, positives }
        })
    }
}

/// Where a point is in its bin, from -1 to 1.
fn place(node: usize) -> f64 {
    -((2 * node + 1) as f64 * std::f64::consts::PI / (2 * NODES) as f64).cos()
}

/// The coefficients, from the constant on, of the polynomials that are 1 at one point of a bin and 0 at the others.
fn lagrange() -> [[f64; NODES]; NODES] {
    std::array::from_fn(|node| {
        let mut polynomial = [0.0; NODES];
        polynomial[0] = 1.0;
        for other in (0..NODES).filter(|other| *other != node) {
            let (zero, by) = (place(other), 1.0 / (place(node) - place(other)));
            for power in (0..NODES).rev() {
                let below = if power > 0 { polynomial[power - 1] } else { 0.0 };
                polynomial[power] = (below - zero * polynomial[power]) * by;
            }
        }
        polynomial
    })
}

impl Part {
    fn of(groups: &mut Groups<'_>, to_logit: ToLogit, grid: &Grid<'_>) -> Self {
        let mut part = Self::default();
        // Where the last bin ends.
        let mut end = f64::NEG_INFINITY;
        groups.each(|group| {
            let Some(row) = to_logit.row(group) else { return };
            part.ends.count(row);
            if row.logit >= end {
                let (bin, bin_end) = grid.bin(row.logit);
                end = bin_end;
                part.bins.push(bin);
            }
            part.bins.last_mut().expect("one was pushed").add(row);
        });
        part
    }

    fn then(&mut self, above: Self) {
        self.ends.then(above.ends);
        let mut bins = above.bins.into_iter();
        if let (Some(last), Some(first)) = (self.bins.last_mut(), bins.as_slice().first())
            && last.key == first.key
        {
            last.then(bins.next().expect("it is the first"));
        }
        self.bins.extend(bins);
    }
}

impl Ends {
    fn count(&mut self, LogitRow { logit, n, positives }: LogitRow) {
        let here = |is_there: bool| is_there.then_some((logit, logit));
        self.then(Self([here(positives > 0), here(positives < n)]));
    }

    fn then(&mut self, above: Self) {
        for (ends, above) in self.0.iter_mut().zip(above.0) {
            *ends = match (*ends, above) {
                (Some(ends), Some(above)) => Some((ends.0, above.1)),
                (ends, above) => ends.or(above),
            };
        }
    }
}

impl Quadrature {
    /// Of rows of so many probabilities.
    pub(super) fn new(distinct: &Distinct<'_>, to_logit: ToLogit, probs: usize, grid: &Grid<'_>) -> Self {
        let mut short = Self::default();
        if probs <= FEW {
            distinct.for_each(|group| {
                let Some(row) = to_logit.row(group) else { return };
                short.ends.count(row);
                short.points.push(Point::of(&row));
            });
            return short;
        }
        let mut all = Part::default();
        distinct.map_in_order(|groups| Part::of(groups, to_logit, grid), |part| all.then(part));
        short.ends = all.ends;
        let basis = lagrange();
        for bin in &all.bins {
            if bin.rows.len() > NODES {
                short.bins.push(short.points.len());
                short.points.extend(bin.points(&basis));
            } else {
                short.points.extend(bin.rows.iter().map(Point::of));
            }
        }
        short
    }

    /// The number of different logits; of condensed rows a part of it, which is more than a spline has knots.
    pub(super) fn logits(&self) -> usize {
        self.points.chunk_by(|a, b| a.logit == b.logit).count()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::assess::ExtremeProbs;
    use crate::points::Group;

    proptest! {
        /// Sums of a smooth function, and of one with a bend at a knot, over the points are those over the rows.
        #[test]
        fn points_stand_for_rows(
            center in -6.0f64..6.0, spread in 0.05f64..9.0, slope in 0.2f64..1.5, knot in -1.0f64..1.0, seed in any::<u32>(),
        ) {
            let logit = |i: u32| center + spread * (f64::from(i) / 20_000.0 - 1.0).powi(3);
            let group = |i: u32| {
                let n = 1 + u64::from(i.wrapping_mul(seed | 1) >> 30);
                let score = 1.0 / (1.0 + (-logit(i)).exp());
                Group { score, n, positives: n.min(u64::from(i.wrapping_mul(2_654_435_761) >> 31)) }
            };
            let mut groups: Vec<Group> = (0..40_000).map(group).collect();
            groups.dedup_by_key(|group| group.score);
            let (to_logit, knot) = (ToLogit::new(ExtremeProbs::LeaveOut), center + knot);
            let rows: Vec<LogitRow> = groups.iter().filter_map(|group| to_logit.row(*group)).collect();
            let knots = [knot];
            let grid = Grid::new(1.5 * spread, 1.0, &knots);
            let quadrature = Quadrature::new(&Distinct::of_groups(groups), to_logit, rows.len(), &grid);
            prop_assert!(quadrature.points.len() < rows.len() / 4 && !quadrature.bins.is_empty());
            let smooth = |logit: f64| (slope * logit).exp().ln_1p();
            let bent = |logit: f64| (logit - knot).max(0.0).powi(3);
            for of in [&smooth as &dyn Fn(f64) -> f64, &bent] {
                let wanted = rows.iter().fold([0.0; 2], |sum, row| {
                    [sum[0] + of(row.logit) * row.n as f64, sum[1] + of(row.logit) * row.positives as f64]
                });
                let found = quadrature.points.iter().fold([0.0; 2], |sum, point| {
                    [sum[0] + of(point.logit) * point.n, sum[1] + of(point.logit) * point.positives]
                });
                for (found, wanted) in found.into_iter().zip(wanted) {
                    prop_assert!((found - wanted).abs() <= 1e-11 * (1.0 + wanted.abs()), "{} {}", found, wanted);
                }
            }
            let ends = |has: fn(&LogitRow) -> bool| {
                let mut of = rows.iter().filter(|row| has(row));
                of.next().map(|first| (first.logit, of.next_back().unwrap_or(first).logit))
            };
            prop_assert_eq!(quadrature.ends, Ends([ends(|row| row.positives > 0), ends(|row| row.positives < row.n)]));
        }
    }
}
