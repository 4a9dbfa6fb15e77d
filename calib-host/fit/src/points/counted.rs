//! Order statistics, counts and groups of packed points, by passes that count them.

use super::group::Group;
use super::packed::{self, BUCKET_LEN, BUCKETS, Packed};
use super::passes::{Passes, mean_of};
use super::radix::sort_run;
use super::{Groups, Points, Ranked, Walk};
use crate::cancel;
use crate::error::FitError;
use crate::parallel;

/// A run is cut when it has so many points: few enough to be sorted in a cache.
const RUN_POINTS: u64 = 1 << 18;

/// A walk gathers so much at once, even of points in memory.
const WALK_LEN_BYTES: u64 = 256 << 20;

/// Packed points with their counts by bucket: the first pass. Whatever a fit wants to know more exactly it learns from the
/// points of some buckets, gathered by another pass.
pub(crate) struct Counted<P> {
    passes: P,
    /// Points and positives below each bucket; one entry more than there are buckets.
    below: Vec<(u64, u64)>,
}

/// Neighboring buckets `start..end` whose points are gathered together.
#[derive(Clone, Copy)]
struct Run {
    start: usize,
    end: usize,
    points: u64,
}

/// The points of a run.
enum Gathered {
    /// One by one, in parts.
    Points(Vec<Packed>, Vec<Vec<Packed>>),
    /// As counts of each possible point, where these take less memory.
    Counts(Vec<u64>),
}

impl<P: Passes> Counted<P> {
    /// Counts at least one point by bucket.
    pub(crate) fn new(passes: P) -> Result<Self, FitError> {
        let counts = passes.fold(
            &|| vec![[0u64; 2]; packed::BUCKET_NUMBERS].try_into().expect("of that length"),
            &|counts: &mut Box<[[u64; 2]; packed::BUCKET_NUMBERS]>, points| {
                for &point in points {
                    counts[packed::bucket(point)][usize::from(packed::label(point))] += 1;
                }
            },
            &|counts, others| {
                for (count, other) in counts.iter_mut().zip(others.iter()) {
                    *count = [count[0] + other[0], count[1] + other[1]];
                }
            },
        )?;
        let mut below = Vec::with_capacity(BUCKETS + 1);
        let mut sum = (0, 0);
        below.push(sum);
        for &[negatives, positives] in &counts[..BUCKETS] {
            sum = (sum.0 + negatives + positives, sum.1 + positives);
            below.push(sum);
        }
        Ok(Self { passes, below })
    }

    fn run(&self, start: usize, end: usize) -> Run {
        Run { start, end, points: self.below[end].0 - self.below[start].0 }
    }

    /// Runs that cover all points, in ascending order.
    fn runs(&self) -> Vec<Run> {
        let mut runs = Vec::new();
        let mut start = 0;
        for end in 1..=BUCKETS {
            let last = end - 1;
            // A bucket of many points is a separate run, as it can be counted.
            if self.run(last, end).points >= RUN_POINTS && start < last {
                runs.push(self.run(start, last));
                start = last;
            }
            if self.run(start, end).points >= RUN_POINTS || end == BUCKETS {
                runs.push(self.run(start, end));
                start = end;
            }
        }
        runs
    }

    /// Maps the groups of runs, which ascend, each with what is below it. As many runs are gathered in a pass as memory
    /// allows.
    fn map<T: Send>(
        &self,
        runs: &[Run],
        map: impl Fn(usize, &mut Groups<'_>) -> T + Sync,
    ) -> Result<Vec<T>, FitError> {
        let mut results = Vec::with_capacity(runs.len());
        for batch in batches(runs, P::BUDGET_LEN_BYTES) {
            let first = results.len();
            map_gathered(self.gather(batch)?, batch, first, &map, &mut results);
        }
        Ok(results)
    }

    fn gather(&self, runs: &[Run]) -> Result<Vec<Gathered>, FitError> {
        // For every bucket, one more than the number of its run.
        let mut slots = [0u16; packed::BUCKET_NUMBERS];
        for (slot, run) in (1..).zip(runs) {
            slots[run.start..run.end].fill(slot);
        }
        self.passes.fold(
            &|| runs.iter().map(Run::gathered).collect::<Vec<_>>(),
            &|gathered, points| {
                for &point in points {
                    let slot = usize::from(slots[packed::bucket(point)]);
                    let Some(slot) = slot.checked_sub(1) else { continue };
                    match &mut gathered[slot] {
                        Gathered::Points(points, _) => points.push(point),
                        Gathered::Counts(counts) => {
                            counts[(point - packed::bucket_start(runs[slot].start)) as usize] += 1;
                        }
                    }
                }
            },
            &|gathered, others| gathered.iter_mut().zip(others).for_each(|(sum, other)| sum.merge(other)),
        )
    }

    /// All points in ascending order, by run.
    pub(super) fn into_sorted_runs(self) -> Result<Vec<Vec<Packed>>, FitError> {
        let runs = self.runs();
        let gathered = self.gather(&runs)?;
        // The runs hold a copy of the points, and sorting takes room.
        drop(self);
        let sorted = |(mut gathered, run): (Gathered, &Run)| {
            gathered.sort();
            gathered.into_points(run)
        };
        let sorted = parallel::map(gathered.into_iter().zip(&runs), sorted);
        Ok(sorted.into_iter().filter(|run| !run.is_empty()).collect())
    }
}

/// Divides runs into batches that take up to so many bytes, of one run at least.
fn batches(runs: &[Run], budget_len_bytes: u64) -> impl Iterator<Item = &[Run]> {
    let mut rest = runs;
    std::iter::from_fn(move || {
        let mut len_bytes = 0u64;
        let fits = |run: &&Run| {
            len_bytes = len_bytes.saturating_add(run.len_bytes());
            len_bytes <= budget_len_bytes
        };
        let (batch, after) = rest.split_at(rest.iter().take_while(fits).count().max(1).min(rest.len()));
        rest = after;
        (!batch.is_empty()).then_some(batch)
    })
}

/// Maps the groups of gathered runs on all cores, the first of which has the number `first`.
fn map_gathered<T: Send>(
    gathered: Vec<Gathered>,
    runs: &[Run],
    first: usize,
    map: &(dyn Fn(usize, &mut Groups<'_>) -> T + Sync),
    results: &mut Vec<T>,
) {
    results.extend(parallel::map(
        gathered.into_iter().zip(runs).enumerate(),
        |(index, (mut gathered, run))| {
            gathered.sort();
            map(first + index, &mut gathered.groups(run))
        },
    ));
}

impl Run {
    fn counts_len(&self) -> usize {
        (self.end - self.start) * BUCKET_LEN
    }

    fn is_counted(&self) -> bool {
        self.points.saturating_mul(size_of::<Packed>() as u64) > (self.counts_len() * size_of::<u64>()) as u64
    }

    fn gathered(&self) -> Gathered {
        if self.is_counted() {
            Gathered::Counts(vec![0; self.counts_len()])
        } else {
            // A part for each thread.
            let part_len = self.points as usize / rayon::current_num_threads();
            Gathered::Points(Vec::with_capacity(part_len + part_len / 16), Vec::new())
        }
    }

    fn len_bytes(&self) -> u64 {
        match self.is_counted() {
            true => (self.counts_len() * size_of::<u64>()) as u64,
            // A growing vector may have twice the room that it needs.
            false => self.points.saturating_mul(2 * size_of::<Packed>() as u64),
        }
    }
}

impl Gathered {
    /// Puts points in order, as they must be for their groups.
    fn sort(&mut self) {
        if let Self::Points(points, others) = self {
            *points = sort_run(std::mem::take(points), std::mem::take(others));
        }
    }

    /// The groups of a run that is in order, ascending.
    fn groups(&self, run: &Run) -> Groups<'_> {
        match self {
            Self::Points(points, _) => Groups::OfPoints(packed::sorted_groups(points)),
            Self::Counts(counts) => {
                Groups::OfCounts(packed::counted_groups(packed::bucket_start(run.start), counts))
            }
        }
    }

    /// The points of a run that is in order, one by one.
    fn into_points(self, run: &Run) -> Vec<Packed> {
        match self {
            Self::Points(points, _) => points,
            Self::Counts(counts) => {
                let repeated = |(point, &count)| std::iter::repeat_n(point, count as usize);
                (packed::bucket_start(run.start)..).zip(&counts).flat_map(repeated).collect()
            }
        }
    }

    fn merge(&mut self, other: Self) {
        match (self, other) {
            (Self::Points(_, parts), Self::Points(part, others)) => {
                parts.push(part);
                parts.extend(others);
            }
            (Self::Counts(counts), Self::Counts(others)) => {
                counts.iter_mut().zip(others).for_each(|(count, other)| *count += other);
            }
            _ => unreachable!("a run is gathered in one way"),
        }
    }
}

impl<P: Passes> Points for Counted<P> {
    fn totals(&self) -> (u64, u64) {
        self.below[BUCKETS]
    }

    /// Pairs within a bucket count as if all were in the wrong order.
    fn auc_at_least(&self) -> f64 {
        auc_at_least(&self.below)
    }

    fn at_ranks(&self, ranks: &[u64]) -> Result<Vec<Ranked>, FitError> {
        let bucket = |rank: &u64| self.below.partition_point(|below| below.0 < *rank) - 1;
        let by_bucket: Vec<&[u64]> = ranks.chunk_by(|a, b| bucket(a) == bucket(b)).collect();
        let buckets: Vec<usize> = by_bucket.iter().map(|ranks| bucket(&ranks[0])).collect();
        let runs: Vec<Run> = buckets.iter().map(|&bucket| self.run(bucket, bucket + 1)).collect();
        let ranked = self.map(&runs, |index, groups| {
            let below = self.below[buckets[index]];
            let groups: Vec<Group> = groups.collect();
            let inside: Vec<u64> = by_bucket[index].iter().map(|rank| rank - below.0).collect();
            let mut ranked = groups.at_ranks(&inside)?;
            for ranked in &mut ranked {
                ranked.below = (ranked.below.0 + below.0, ranked.below.1 + below.1);
            }
            Ok(ranked)
        })?;
        ranked.into_iter().collect::<Result<Vec<_>, _>>().map(|ranked| ranked.concat())
    }

    fn below(&self, edges: &[f64]) -> Result<Vec<(u64, u64)>, FitError> {
        let keys: Vec<Packed> = edges.iter().map(|&edge| packed::first_at_or_above(edge)).collect();
        let bucket = |key: Packed| packed::bucket(key).min(BUCKETS);
        // An edge between two buckets needs no closer look.
        let mut buckets: Vec<usize> =
            keys.iter().filter(|&&key| key % BUCKET_LEN as u32 != 0).map(|&key| bucket(key)).collect();
        buckets.dedup();
        let runs: Vec<Run> =
            buckets.iter().map(|&bucket| self.run(bucket, (bucket + 1).min(BUCKETS))).collect();
        let inside = self.map(&runs, |index, groups| {
            let in_bucket = |key: &&Packed| bucket(**key) == buckets[index];
            let mut walk = Walk::default();
            let mut groups = groups.peekable();
            let mut counts = Vec::new();
            for &key in keys.iter().filter(in_bucket).filter(|&&key| key % BUCKET_LEN as u32 != 0) {
                let edge = packed::score(key);
                while let Some(group) = groups.next_if(|group| group.score < edge) {
                    walk.pass(group);
                }
                counts.push((walk.n, walk.positives));
            }
            counts
        })?;
        let mut inside = inside.into_iter().flatten();
        let count = |&key: &Packed| {
            let below = self.below[bucket(key)];
            match key % BUCKET_LEN as u32 {
                0 => below,
                _ => {
                    let (n, positives) = inside.next().expect("one for every key inside a bucket");
                    (below.0 + n, below.1 + positives)
                }
            }
        };
        Ok(keys.iter().map(count).collect())
    }

    fn ranges(&self) -> Result<[Option<(f64, f64)>; 2], FitError> {
        const EMPTY: (Packed, Packed) = (Packed::MAX, 0);
        let widen = |range: &mut (Packed, Packed), other: (Packed, Packed)| {
            *range = (range.0.min(other.0), range.1.max(other.1));
        };
        let ranges = self.passes.fold(
            &|| [EMPTY; 2],
            &|ranges, points| {
                for &point in points {
                    widen(&mut ranges[usize::from(packed::label(point))], (point, point));
                }
            },
            &|ranges, others| ranges.iter_mut().zip(others).for_each(|(range, other)| widen(range, other)),
        )?;
        Ok(ranges.map(|(lo, hi)| (lo <= hi).then(|| (packed::score(lo), packed::score(hi)))))
    }

    fn means<const K: usize>(
        &self,
        terms: impl Fn(f64, bool) -> [f64; K] + Sync,
    ) -> Result<[f64; K], FitError> {
        mean_of(&self.passes, self.totals().0, terms)
    }

    fn map_numbered_runs<T: Send>(
        &self,
        map: impl Fn(usize, &mut Groups<'_>) -> T + Sync,
    ) -> Result<Vec<T>, FitError> {
        self.map(&self.runs(), map)
    }

    fn map_runs_in_order<T: Send>(
        &self,
        map: impl Fn(&mut Groups<'_>) -> T + Sync,
        mut take: impl FnMut(T) -> Result<(), FitError>,
    ) -> Result<(), FitError> {
        const BUDGET_LEN_BYTES: u64 = 16 << 20;
        for batch in batches(&self.runs(), BUDGET_LEN_BYTES) {
            let mut gathered = self.gather(batch)?;
            // The results of a few runs may be larger than all that is gathered.
            for some in batch.chunks(rayon::current_num_threads()) {
                let mut results = Vec::with_capacity(some.len());
                let gathered = gathered.drain(..some.len()).collect();
                map_gathered(gathered, some, 0, &|_, groups| map(groups), &mut results);
                results.into_iter().try_for_each(&mut take)?;
            }
        }
        Ok(())
    }

    fn walk(&self, visit: &mut dyn FnMut(Group) -> Result<(), FitError>) -> Result<(), FitError> {
        for batch in batches(&self.runs(), P::BUDGET_LEN_BYTES.min(WALK_LEN_BYTES)) {
            let mut gathered = self.gather(batch)?;
            parallel::map(&mut gathered, |gathered| gathered.sort());
            for (gathered, run) in gathered.iter().zip(batch) {
                cancel::check_canceled();
                gathered.groups(run).try_for_each(&mut *visit)?;
            }
        }
        Ok(())
    }

    fn packed_in_memory(&self) -> Option<usize> {
        Some(P::IN_MEMORY)
    }
}

/// An area under the ROC curve that the true one is not below, from the points and positives below neighboring ranges of scores.
pub(super) fn auc_at_least(below: &[(u64, u64)]) -> f64 {
    let (n, positives) = below.last().copied().unwrap_or_default();
    let pairs = positives as f64 * (n - positives) as f64;
    let in_order = |ends: &[(u64, u64)]| {
        let [(below, positives_below), (_, positives_through)] = *ends else { return 0.0 };
        (positives_through - positives_below) as f64 * (below - positives_below) as f64
    };
    below.windows(2).map(in_order).sum::<f64>() / pairs
}

#[cfg(test)]
mod tests {
    use calib_core::Score;
    use proptest::prelude::*;

    use super::*;
    use crate::points::Sorted;
    use crate::points::group::group;
    use crate::points::packed::{pack, sorted_groups};

    /// Points with hardly any ties, with many, all equal, and at both extremes.
    fn points() -> impl Strategy<Value = Vec<Packed>> {
        let one = Score::ONE.to_bits();
        let bits = prop_oneof![
            proptest::collection::vec(0..=one, 1..300),
            proptest::collection::vec(0x3F00_0000..0x3F00_0040u32, 1..300),
            proptest::collection::vec(prop_oneof![Just(0), Just(1), Just(one - 1), Just(one)], 1..300),
            proptest::collection::vec(Just(0x3E12_3456), 1..300),
        ];
        (bits, any::<u64>()).prop_map(|(bits, seed)| {
            let label = |i: usize| seed.rotate_left(i as u32 * 7) & 1 == 1;
            let score = |bits| Score::new(f32::from_bits(bits)).unwrap();
            bits.into_iter().enumerate().map(|(i, bits)| pack(score(bits), label(i))).collect()
        })
    }

    fn grouped(points: &[Packed]) -> Vec<Group> {
        let row = |&point: &Packed| (packed::score(point), 1, u64::from(packed::label(point)));
        group(points.iter().map(row).collect())
    }

    /// Points of which hardly any fit into memory, in parts of an odd size.
    struct Scarce(Vec<Packed>);

    impl Passes for Scarce {
        const BUDGET_LEN_BYTES: u64 = 64;
        const IN_MEMORY: usize = 0;

        fn fold<T: Send>(
            &self,
            new: &(dyn Fn() -> T + Sync),
            add: &(dyn Fn(&mut T, &[Packed]) + Sync),
            merge: &(dyn Fn(&mut T, T) + Sync),
        ) -> Result<T, FitError> {
            let mut sum = new();
            for part in self.0.chunks(7) {
                let mut other = new();
                add(&mut other, part);
                merge(&mut sum, other);
            }
            Ok(sum)
        }
    }

    fn answers_as_groups_do(
        points: &impl Points,
        groups: &[Group],
        ranks: &[u64],
        edges: &[f64],
    ) -> Result<(), TestCaseError> {
        prop_assert_eq!(points.totals(), groups.totals());
        prop_assert_eq!(points.at_ranks(ranks), groups.at_ranks(ranks));
        prop_assert_eq!(points.below(edges), Points::below(groups, edges));
        prop_assert_eq!(points.ranges(), groups.ranges());
        prop_assert_eq!(points.groups().unwrap(), groups);
        let mut walked = Vec::new();
        points
            .walk(&mut |group| {
                walked.push(group);
                Ok(())
            })
            .unwrap();
        prop_assert_eq!(walked, groups);
        let mut in_order = Vec::new();
        let take = |run: Vec<Group>| {
            in_order.extend(run);
            Ok(())
        };
        points.map_runs_in_order(|groups| groups.collect(), take).unwrap();
        prop_assert_eq!(in_order, groups);
        let terms = |score: f64, label: bool| [score.sqrt(), f64::from(u8::from(label)) * score - 0.3];
        prop_assert_eq!(points.means(terms), groups.means(terms));
        Ok(())
    }

    proptest! {
        #[test]
        fn every_answer_is_that_of_the_groups(
            points in points(), ranks in proptest::collection::vec(0.0f64..1.0, 0..9),
            edges in proptest::collection::vec(prop_oneof![0.0f64..=1.0, Just(0.5), Just(0.0), Just(1.0)], 0..9),
        ) {
            let groups = grouped(&points);
            let n = points.len() as f64;
            let mut ranks: Vec<u64> = ranks.iter().map(|rank| 1 + (rank * n) as u64).collect();
            ranks.sort_unstable();
            // Edges that are scores, too, and one just above.
            let mut edges = edges;
            edges.extend([0, points.len() / 2].map(|i| packed::score(points[i])));
            edges.push(packed::score(points[0]) + 1e-12);
            edges.sort_unstable_by(f64::total_cmp);
            answers_as_groups_do(&Counted::new(&points[..]).unwrap(), &groups, &ranks, &edges)?;
            answers_as_groups_do(&Sorted::new(points.clone()), &groups, &ranks, &edges)?;
            answers_as_groups_do(&Counted::new(Scarce(points)).unwrap(), &groups, &ranks, &edges)?;
        }
    }

    /// Enough points for several parts and runs, and runs that are counted: with one thread and with several.
    #[test]
    fn threads_do_not_matter() {
        let mut state = 1u32;
        let mut random = || {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            state >> 8
        };
        let points: Vec<Packed> = (0..1_000_000)
            .map(|i| match i % 4 {
                0 | 2 => (0.25f32, random()),
                1 => (0.75 + (random() % 8) as f32 / 64.0, random()),
                _ => (random() as f32 / (1 << 24) as f32, random()),
            })
            .map(|(score, word)| pack(Score::new(score).unwrap(), word % 3 == 0))
            .collect();
        let groups = grouped(&points);
        let ranks: Vec<u64> = (1..50).map(|i| i * 20_000 + i % 3).collect();
        let edges: Vec<f64> = (0..40).map(|i| f64::from(i) / 40.0).collect();
        for threads in [1, 2, 5] {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| {
                let counted = Counted::new(&points[..]).unwrap();
                assert!(counted.runs().len() > 2 && counted.runs().iter().any(Run::is_counted));
                let sorted = Sorted::new(points.clone());
                assert!(sorted.iter().is_sorted());
                answers_as_groups_do(&sorted, &groups, &ranks, &edges)?;
                answers_as_groups_do(&counted, &groups, &ranks, &edges)
            })
            .unwrap();
        }
    }

    #[test]
    fn counted_and_sorted_groups_are_the_same() {
        let start = packed::bucket_start(0x3E80);
        let mut points = vec![start, start + 1, start + 1, start + 6, start + 9, start + 0xFFFF];
        let mut counts = vec![0; BUCKET_LEN];
        points.iter().for_each(|&point| counts[(point - start) as usize] += 1);
        points.sort_unstable();
        assert!(packed::counted_groups(start, &counts).eq(sorted_groups(&points)));
        assert_eq!(sorted_groups(&points).count(), 4);
    }
}
