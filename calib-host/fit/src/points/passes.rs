//! Passes over packed points.

use std::ops::Deref;

use calib_core::Score;
use rayon::prelude::*;

use super::packed::{self, Packed, pack};
use crate::error::FitError;
use crate::stats::{Sums, mean};
use crate::stop;

/// Packed points in no order, which can be passed over again and again.
pub(crate) trait Passes: Sync {
    /// How many bytes may be gathered in a pass.
    const BUDGET_LEN_BYTES: u64;

    /// How many points a part of these points may keep in memory.
    const IN_MEMORY: usize;

    /// Adds all points up, in parts of any size and order, each part from a `new` sum on. What is summed must not depend
    /// on how the points are divided.
    fn fold<T: Send>(
        &self,
        new: &(dyn Fn() -> T + Sync),
        add: &(dyn Fn(&mut T, &[Packed]) + Sync),
        merge: &(dyn Fn(&mut T, T) + Sync),
    ) -> Result<T, FitError>;
}

/// Points that are owned or borrowed.
impl<D: Deref<Target = P> + Sync, P: Passes + ?Sized> Passes for D {
    const BUDGET_LEN_BYTES: u64 = P::BUDGET_LEN_BYTES;
    const IN_MEMORY: usize = P::IN_MEMORY;

    fn fold<T: Send>(
        &self,
        new: &(dyn Fn() -> T + Sync),
        add: &(dyn Fn(&mut T, &[Packed]) + Sync),
        merge: &(dyn Fn(&mut T, T) + Sync),
    ) -> Result<T, FitError> {
        (**self).fold(new, add, merge)
    }
}

/// Scores, all of them checked, and labels, packed as they are passed over.
pub(crate) struct Arrays<'a> {
    pub(crate) scores: &'a [f32],
    pub(crate) labels: &'a [bool],
}

impl Passes for Arrays<'_> {
    const BUDGET_LEN_BYTES: u64 = u64::MAX;
    const IN_MEMORY: usize = usize::MAX;

    fn fold<T: Send>(
        &self,
        new: &(dyn Fn() -> T + Sync),
        add: &(dyn Fn(&mut T, &[Packed]) + Sync),
        merge: &(dyn Fn(&mut T, T) + Sync),
    ) -> Result<T, FitError> {
        let part_len = part_len(self.scores.len());
        let parts = self.scores.par_chunks(part_len).zip(self.labels.par_chunks(part_len));
        let sum_part = |(scores, labels): (&[f32], &[bool])| {
            let mut sum = new();
            let mut packed = [0; 1 << 12];
            for (scores, labels) in scores.chunks(packed.len()).zip(labels.chunks(packed.len())) {
                stop::check();
                for ((packed, &score), &label) in packed.iter_mut().zip(scores).zip(labels) {
                    *packed = pack(Score::new(score).unwrap_or(Score::ZERO), label);
                }
                add(&mut sum, &packed[..scores.len()]);
            }
            sum
        };
        Ok(merged(parts.map(sum_part), new, merge))
    }
}

/// The means over `n` points of the terms of (score, label), as [`Points::means`](super::Points::means) gives them.
pub(super) fn mean_of<const K: usize>(
    points: &(impl Passes + ?Sized),
    n: u64,
    terms: impl Fn(f64, bool) -> [f64; K] + Sync,
) -> Result<[f64; K], FitError> {
    let sums = points.fold(
        &Sums::default,
        &|sums, points| sums.add_all(points, |&point| terms(packed::score(point), packed::label(point))),
        &Sums::merge,
    )?;
    Ok(mean(sums, n))
}

/// One part a thread: a new sum may be large.
fn part_len(len: usize) -> usize {
    len.div_ceil(rayon::current_num_threads()).max(1 << 14)
}

/// Merges the sums of parts on all processors; a `new` sum if there are none.
pub(super) fn merged<T: Send>(
    sums: impl ParallelIterator<Item = T>,
    new: &(dyn Fn() -> T + Sync),
    merge: &(dyn Fn(&mut T, T) + Sync),
) -> T {
    let sum = sums.reduce_with(|mut sum, other| {
        merge(&mut sum, other);
        sum
    });
    sum.unwrap_or_else(new)
}

impl Passes for [Packed] {
    /// As much as there is: the points themselves are in memory.
    const BUDGET_LEN_BYTES: u64 = u64::MAX;
    const IN_MEMORY: usize = usize::MAX;

    fn fold<T: Send>(
        &self,
        new: &(dyn Fn() -> T + Sync),
        add: &(dyn Fn(&mut T, &[Packed]) + Sync),
        merge: &(dyn Fn(&mut T, T) + Sync),
    ) -> Result<T, FitError> {
        let sum_part = |part: &[Packed]| {
            let mut sum = new();
            for points in part.chunks(stop::ROWS) {
                stop::check();
                add(&mut sum, points);
            }
            sum
        };
        let parts = self.par_chunks(part_len(self.len()));
        Ok(merged(parts.map(sum_part), new, merge))
    }
}
