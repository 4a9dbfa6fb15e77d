//! Predictions counted by their probability.

use std::io;

use rayon::prelude::*;

use crate::assess::Prediction;
use crate::cancel;
use crate::parallel;
use crate::points::{Group, Groups, Sorted, SpillVec};

/// A part of groups has so many of them; parts of points are the runs that these are sorted in.
const PART: usize = 1 << 14;

/// Parts are mapped in so many a core before the results are taken.
const PARTS_A_CORE: usize = 8;

/// The distinct probabilities in ascending order, with the number of rows and of events of each. Everything is
/// computed from these, so that neither the order of the rows nor the number of threads matters.
///
/// They are passed over part by part, and kept as little as possible: points in memory are grouped again in every pass.
pub(in crate::assess) struct Distinct<'p> {
    storage: Storage<'p>,
    /// What is below each part, and in the end all.
    below: Vec<Below>,
}

enum Storage<'p> {
    Groups(Vec<Group>),
    Points(&'p Sorted),
    Spilled(SpillVec<2>),
}

/// The numbers of probabilities, of rows and of events.
#[derive(Clone, Copy, Default)]
struct Below {
    probs: usize,
    n: u64,
    positives: u64,
}

impl Below {
    fn then(self, above: Self) -> Self {
        Self {
            probs: self.probs + above.probs,
            n: self.n + above.n,
            positives: self.positives + above.positives,
        }
    }
}

impl<'p> Distinct<'p> {
    /// Counts predictions, all in memory.
    pub(super) fn new(predictions: &[Prediction]) -> Self {
        // The bits of floats in [0, 1] ascend with their values and leave the top two bits free; -0.0 is the one exception.
        let key = |row: &Prediction| (row.prob + 0.0).to_bits() << 1 | u64::from(row.hit);
        let mut keys: Vec<u64> = predictions.par_iter().map(key).collect();
        keys.par_sort_unstable();
        let group = |tied: &[u64]| Group {
            score: f64::from_bits(tied[0] >> 1),
            n: tied.len() as u64,
            positives: tied.iter().map(|key| key & 1).sum(),
        };
        Self::of_groups(keys.chunk_by(|a, b| a >> 1 == b >> 1).map(group).collect())
    }

    /// Takes groups in ascending order.
    pub(in crate::assess) fn of_groups(groups: Vec<Group>) -> Self {
        Self::of(Storage::Groups(groups))
    }

    /// Takes points in ascending order.
    pub(in crate::assess) fn of_points(points: &'p Sorted) -> Self {
        Self::of(Storage::Points(points))
    }

    /// Takes what [`record`] made of groups in ascending order.
    pub(in crate::assess) fn of_spilled(spilled: SpillVec<2>) -> Self {
        Self::of(Storage::Spilled(spilled))
    }

    fn of(storage: Storage<'p>) -> Self {
        let mut distinct = Self { storage, below: Vec::new() };
        let parts = distinct.map(|groups| {
            groups.fold(Below::default(), |below, Group { n, positives, .. }| {
                below.then(Below { probs: 1, n, positives })
            })
        });
        distinct.below.push(Below::default());
        for part in parts {
            distinct.below.push(distinct.all().then(part));
        }
        distinct
    }

    fn all(&self) -> Below {
        *self.below.last().expect("one more than there are parts")
    }

    /// The number of distinct probabilities.
    pub(in crate::assess) fn len(&self) -> usize {
        self.all().probs
    }

    /// The number of rows.
    pub(in crate::assess) fn rows(&self) -> u64 {
        self.all().n
    }

    /// How many of them are positive.
    pub(super) fn positives(&self) -> u64 {
        self.all().positives
    }

    /// The lowest and the highest.
    pub(super) fn ends(&self) -> [Group; 2] {
        self.at_places(&[0, self.len() - 1]).try_into().expect("as many as places")
    }

    /// The groups in these ascending places.
    pub(super) fn at_places(&self, places: &[usize]) -> Vec<Group> {
        let places: Vec<u64> = places.iter().map(|place| *place as u64).collect();
        self.at(&places, |below| below.probs as u64, |_| 1)
    }

    /// The groups that the rows of this rank, from 0 on, in the order of probabilities belong to; the ranks ascend.
    pub(super) fn at_ranks(&self, ranks: &[u64]) -> Vec<Group> {
        self.at(ranks, |below| below.n, |group| group.n)
    }

    /// The groups that these ascending numbers belong to, where each group has so many numbers, and so many are below a part.
    fn at(&self, wanted: &[u64], below: fn(&Below) -> u64, of_group: fn(&Group) -> u64) -> Vec<Group> {
        let part = |number: &u64| self.below.partition_point(|part| below(part) <= *number) - 1;
        let of_part = |wanted: &[u64]| {
            let place = part(&wanted[0]);
            let (mut passed, mut found) = (below(&self.below[place]), Vec::with_capacity(wanted.len()));
            self.part(place, |groups| {
                groups.each(|group| {
                    passed += of_group(&group);
                    let left = &wanted[found.len()..];
                    found.extend(left.iter().take_while(|number| **number < passed).map(|_| group));
                });
            });
            found
        };
        parallel::map(wanted.chunk_by(|a, b| part(a) == part(b)), of_part).concat()
    }

    fn parts(&self) -> usize {
        match &self.storage {
            Storage::Groups(groups) => groups.len().div_ceil(PART),
            Storage::Points(points) => points.runs(),
            Storage::Spilled(spilled) => spilled.len().div_ceil(PART),
        }
    }

    /// Goes over one part.
    fn part<T>(&self, number: usize, over: impl FnOnce(&mut Groups<'_>) -> T) -> T {
        cancel::check_canceled();
        let ends = |len: usize| number * PART..len.min((number + 1) * PART);
        match &self.storage {
            Storage::Groups(groups) => over(&mut Groups::of(&groups[ends(groups.len())])),
            Storage::Points(points) => over(&mut points.run(number)),
            Storage::Spilled(spilled) => {
                let (range, mut buffer) = (ends(spilled.len()), Vec::new());
                let groups: Vec<Group> =
                    spilled.read(range.start, range.len(), &mut buffer).iter().map(group).collect();
                over(&mut Groups::of(&groups))
            }
        }
    }

    /// Takes all in ascending order.
    pub(super) fn for_each(&self, mut take: impl FnMut(Group)) {
        (0..self.parts()).for_each(|number| self.part(number, |groups| groups.each(&mut take)));
    }

    /// Maps parts of them, which ascend, on all cores.
    pub(super) fn map<T: Send>(&self, map: impl Fn(&mut Groups<'_>) -> T + Sync) -> Vec<T> {
        parallel::map_range(self.parts(), |number| self.part(number, &map))
    }

    /// Maps parts of them on all cores, and takes the results in order, before many of them are there.
    pub(in crate::assess) fn map_in_order<T: Send>(
        &self,
        map: impl Fn(&mut Groups<'_>) -> T + Sync,
        mut take: impl FnMut(T),
    ) {
        let numbers: Vec<usize> = (0..self.parts()).collect();
        for some in numbers.chunks(PARTS_A_CORE * rayon::current_num_threads()) {
            let mapped = parallel::map(some, |&number| self.part(number, &map));
            mapped.into_iter().for_each(&mut take);
        }
    }

    /// At most so many groups: neighbors are pooled, with the mean of their probabilities, in runs of about as many rows.
    pub(super) fn pooled(&self, most: usize) -> Vec<Group> {
        let mut runs: Vec<(Group, f64)> = Vec::new();
        if self.len() <= most {
            let mut groups = Vec::new();
            self.for_each(|group| groups.push(group));
            return groups;
        }
        let run_rows = self.rows().div_ceil(most as u64);
        self.for_each(|group| {
            let sum = group.score * group.n as f64;
            match runs.last_mut() {
                Some((run, run_sum)) if run.n + group.n <= run_rows => {
                    run.n += group.n;
                    run.positives += group.positives;
                    *run_sum += sum;
                }
                _ => runs.push((group, sum)),
            }
        });
        runs.into_iter().map(|(run, sum)| Group { score: sum / run.n as f64, ..run }).collect()
    }
}

/// Writes groups in ascending order to a vector that keeps up to so many of them in memory.
///
/// # Panics
///
/// If a group stands for 2^32 rows or more.
pub(in crate::assess) fn record(groups: &[Group], spilled: &mut SpillVec<2>) -> io::Result<()> {
    spilled.extend(groups.iter().map(|&Group { score, n, positives }| {
        assert!(u32::try_from(n).is_ok(), "more than 2^32 predictions");
        [score.to_bits(), n << u32::BITS | positives]
    }))
}

/// What [`record`] wrote.
fn group(&[score, counts]: &[u64; 2]) -> Group {
    let (n, positives) = (counts >> u32::BITS, counts & u64::from(u32::MAX));
    Group { score: f64::from_bits(score), n, positives }
}

#[cfg(test)]
mod tests {
    use calib_core::Score;
    use proptest::prelude::*;

    use super::*;
    use crate::points::packed;

    proptest! {
        /// However they are kept, and wherever parts are cut.
        #[test]
        fn places_and_ranks_are_those_of_a_list(words in proptest::collection::vec(0u32..40_000, 1..60), copies in 1u32..1500) {
            // Several parts of groups, and several runs of points.
            let rows: Vec<u32> = (0..copies).flat_map(|copy| words.iter().map(move |word| word + 20 * copy)).collect();
            let score = |row: u32| Score::new(f32::from_bits(0x3E80_0000 + row * 60)).unwrap();
            let sorted = Sorted::new(rows.iter().map(|&row| packed::pack(score(row), row % 3 == 0)).collect());
            let of_points = Distinct::of_points(&sorted);
            let mut groups = Vec::new();
            of_points.for_each(|group| groups.push(group));
            prop_assert!(groups.is_sorted_by(|a, b| a.score < b.score));
            let mut spilled = SpillVec::new(7);
            record(&groups, &mut spilled).unwrap();
            let rank_of: Vec<usize> =
                groups.iter().enumerate().flat_map(|(place, group)| vec![place; group.n as usize]).collect();
            let places: Vec<usize> = (0..groups.len()).step_by(groups.len() / 90 + 1).flat_map(|place| [place, place]).collect();
            let ranks: Vec<u64> = (0..rank_of.len() as u64).step_by(rank_of.len() / 90 + 1).collect();
            for distinct in [&of_points, &Distinct::of_groups(groups.clone()), &Distinct::of_spilled(spilled)] {
                prop_assert_eq!((distinct.len(), distinct.rows()), (groups.len(), rows.len() as u64));
                let expected: Vec<Group> = places.iter().map(|&place| groups[place]).collect();
                prop_assert_eq!(distinct.at_places(&places), expected);
                let expected: Vec<Group> = ranks.iter().map(|&rank| groups[rank_of[rank as usize]]).collect();
                prop_assert_eq!(distinct.at_ranks(&ranks), expected);
                prop_assert_eq!(distinct.ends(), [groups[0], groups[groups.len() - 1]]);
            }
        }
    }
}
