//! How far a calibration curve is from the diagonal, over the rows.

use serde::Serialize;

use super::distinct::Distinct;
use crate::points::Group;
use crate::stats::ExactSum;

/// The absolute difference of a calibration curve and the probability, over the rows (Austin and Steyerberg 2019).
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct CurveDeviation {
    /// The mean: the integrated calibration index.
    pub ici: f64,
    /// The median.
    pub e50: f64,
    /// The quantile at 0.9.
    pub e90: f64,
    /// The largest.
    pub emax: f64,
}

impl CurveDeviation {
    /// Takes absolute differences over `n` rows in all, at least one: `new` makes what gives the difference, in `[0, 1]`, of one
    /// group of a part after the other, or that the group has none.
    pub(super) fn new<S: FnMut(Group) -> Option<f64>>(
        distinct: &Distinct<'_>,
        n: u64,
        new: impl Fn() -> S + Sync,
    ) -> Self {
        let sizes = Sizes { distinct, new };
        let Tally { sum, largest, counts } = sizes.tally();
        let places = [0.5, 0.9].map(|level| QuantilePosition::new(n, level));
        let ranks = places.map(|place| [place.below, (place.below + 1).min(n - 1)]);
        let found = sizes.at_ranks(&ranks.concat(), &counts);
        Self {
            ici: sum.value() / n as f64,
            e50: places[0].value(found[0], found[1]),
            e90: places[1].value(found[2], found[3]),
            emax: f64::from_bits(largest),
        }
    }
}

/// Where a quantile is, by R's type 7: of `n` numbers in ascending order linear between that at `floor((n - 1) level)`, from 0
/// on, and the next.
#[derive(Clone, Copy)]
pub(super) struct QuantilePosition {
    pub(super) below: u64,
    share: f64,
}

impl QuantilePosition {
    pub(super) fn new(n: u64, level: f64) -> Self {
        let place = (n - 1) as f64 * level;
        Self { below: place.floor() as u64, share: place - place.floor() }
    }

    /// The quantile, from the numbers there.
    pub(super) fn value(self, below: f64, above: f64) -> f64 {
        below + self.share * (above - below)
    }
}

/// The bits of differences, which ascend with their values, are below this power of two.
const ALL_BITS: u32 = 62;

/// A pass over the differences counts them in so many spans, as a power of two: their leading bits.
const COUNTED_BITS: u32 = 16;

/// The differences of up to so many rows in a span are gathered, and no longer counted in narrower ones.
const GATHERED: u64 = 1 << 20;

/// Differences that are computed again in every pass.
struct Sizes<'d, F> {
    distinct: &'d Distinct<'d>,
    new: F,
}

/// What a first pass tells.
struct Tally {
    sum: ExactSum,
    largest: u64,
    counts: Vec<u64>,
}

/// The differences whose bits are in `start .. start + 2^bits`.
#[derive(Clone, Copy, PartialEq)]
struct Span {
    start: u64,
    bits: u32,
    /// The rows with lower differences, and those in the span.
    below: u64,
    rows: u64,
}

impl Span {
    fn holds(&self, size: u64) -> bool {
        size.wrapping_sub(self.start) >> self.bits == 0
    }

    /// The part of it that holds the row of a rank, from how many rows each part has.
    fn part(&self, counts: &[u64], rank: u64) -> Self {
        let bits = self.bits.saturating_sub(COUNTED_BITS);
        let mut part = Self { bits, rows: 0, ..*self };
        for (number, &rows) in (0..).zip(counts) {
            part = Self { start: self.start + (number << bits), below: part.below + part.rows, rows, bits };
            if rank < part.below + rows {
                break;
            }
        }
        part
    }
}

impl<S: FnMut(Group) -> Option<f64>, F: Fn() -> S + Sync> Sizes<'_, F> {
    /// Passes over all differences: `add` takes the bits of each with its rows, and `merge` the parts in order.
    fn pass<T: Send>(
        &self,
        new: impl Fn() -> T + Sync,
        add: impl Fn(&mut T, u64, u64) + Sync,
        merge: impl FnMut(T),
    ) {
        let of_part = |groups: &mut crate::points::Groups<'_>| {
            let (mut part, mut size) = (new(), (self.new)());
            groups.each(|group| {
                if let Some(size) = size(group) {
                    add(&mut part, size.to_bits(), group.n);
                }
            });
            part
        };
        self.distinct.map_in_order(of_part, merge);
    }

    fn tally(&self) -> Tally {
        let new = || Tally { sum: ExactSum::default(), largest: 0, counts: vec![0; 1 << COUNTED_BITS] };
        let mut all = new();
        self.pass(
            new,
            |tally, size, rows| {
                tally.sum.add_times(f64::from_bits(size), rows);
                tally.largest = tally.largest.max(size);
                tally.counts[(size >> (ALL_BITS - COUNTED_BITS)) as usize] += rows;
            },
            |part| {
                all.sum += part.sum;
                all.largest = all.largest.max(part.largest);
                add_all(&mut all.counts, &part.counts);
            },
        );
        all
    }

    /// The differences of the rows with these ranks, from 0 on, in the order of differences, from the first counts of all.
    fn at_ranks(&self, ranks: &[u64], counts: &[u64]) -> Vec<f64> {
        let all = Span { start: 0, bits: ALL_BITS, below: 0, rows: counts.iter().sum() };
        let mut spans: Vec<Span> = ranks.iter().map(|&rank| all.part(counts, rank)).collect();
        loop {
            let mut wide: Vec<Span> =
                spans.iter().filter(|span| span.rows > GATHERED && span.bits > 0).copied().collect();
            wide.dedup();
            if wide.is_empty() {
                break;
            }
            let counts = self.counted(&wide);
            for (span, &rank) in spans.iter_mut().zip(ranks) {
                if let Some(number) = wide.iter().position(|wide| wide == span) {
                    *span = span.part(&counts[number], rank);
                }
            }
        }
        let mut narrow = spans.clone();
        narrow.dedup();
        let gathered = self.gathered(&narrow);
        let at = |(span, &rank): (&Span, &u64)| {
            let number = narrow.iter().position(|narrow| narrow == span).expect("it is one of them");
            let mut through = span.below;
            let found = gathered[number].iter().find(|(_, rows)| {
                through += rows;
                rank < through
            });
            f64::from_bits(found.map_or(span.start, |found| found.0))
        };
        spans.iter().zip(ranks).map(at).collect()
    }

    /// How many rows the parts of some spans have.
    fn counted(&self, spans: &[Span]) -> Vec<Vec<u64>> {
        let new = || vec![vec![0; 1 << COUNTED_BITS]; spans.len()];
        let mut all = new();
        self.pass(
            new,
            |counts, size, rows| {
                for (counts, span) in counts.iter_mut().zip(spans).filter(|(_, span)| span.holds(size)) {
                    let part_bits = span.bits.saturating_sub(COUNTED_BITS);
                    counts[((size - span.start) >> part_bits) as usize] += rows;
                }
            },
            |part| all.iter_mut().zip(&part).for_each(|(all, part)| add_all(all, part)),
        );
        all
    }

    /// The differences in some spans with their rows, ascending; nothing of a span that holds one difference alone.
    fn gathered(&self, spans: &[Span]) -> Vec<Vec<(u64, u64)>> {
        let mut all = vec![Vec::new(); spans.len()];
        self.pass(
            || vec![Vec::new(); spans.len()],
            |gathered, size, rows| {
                for (gathered, span) in gathered.iter_mut().zip(spans) {
                    if span.bits > 0 && span.holds(size) {
                        gathered.push((size, rows));
                    }
                }
            },
            |part| all.iter_mut().zip(part).for_each(|(all, part)| all.extend(part)),
        );
        all.iter_mut().for_each(|gathered| gathered.sort_unstable());
        all
    }
}

fn add_all(counts: &mut [u64], others: &[u64]) {
    counts.iter_mut().zip(others).for_each(|(count, other)| *count += other);
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// Differences of all sizes, and many that are hardly told apart, so that spans are narrowed several times.
        #[test]
        fn is_what_a_sorted_list_says(
            sizes in proptest::collection::vec((prop_oneof![
                0.0f64..=1.0,
                (0u64..40).prop_map(|bits| f64::from_bits(0x3FB9_9999_9999_0000 + bits)),
                Just(0.0),
                Just(1.0),
            ], prop_oneof![Just(1u64), Just(3), Just(GATHERED), 1u64..5 * GATHERED]), 1..60),
            left_out in 0usize..3,
        ) {
            // A group's score is its place.
            let groups: Vec<Group> = sizes.iter().enumerate()
                .map(|(place, &(_, n))| Group { score: place as f64, n, positives: 0 }).collect();
            let mut kept: Vec<(f64, u64)> = sizes.iter().skip(left_out).copied().collect();
            prop_assume!(!kept.is_empty());
            kept.sort_unstable_by(|a, b| a.0.total_cmp(&b.0));
            let n: u64 = kept.iter().map(|size| size.1).sum();
            let at = |rank: u64| {
                let mut through = 0;
                kept.iter().find(|size| { through += size.1; rank < through }).unwrap().0
            };
            let quantile = |level: f64| {
                let place = (n - 1) as f64 * level;
                let below = at(place as u64);
                below + (place - place.floor()) * (at((place as u64 + 1).min(n - 1)) - below)
            };
            let found = CurveDeviation::new(&Distinct::of_groups(groups), n, || {
                |group: Group| (group.score as usize >= left_out).then(|| sizes[group.score as usize].0)
            });
            let mean = kept.iter().map(|size| size.0 * size.1 as f64).sum::<f64>() / n as f64;
            prop_assert!((found.ici - mean).abs() < 1e-12);
            prop_assert_eq!((found.e50, found.e90, found.emax), (quantile(0.5), quantile(0.9), kept[kept.len() - 1].0));
        }
    }
}
