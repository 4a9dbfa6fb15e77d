//! Passes over packed points.

use std::ops::Deref;
use std::sync::atomic::{AtomicBool, Ordering};

use calib_core::Score;

use super::packed::{self, Packed, pack};
use crate::cancel;
use crate::error::FitError;
use crate::parallel;
use crate::stats::{Sums, mean};

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
        let pack = |packed: &mut [Packed], scores: &[f32], labels: &[bool]| {
            for ((packed, &score), &label) in packed.iter_mut().zip(scores).zip(labels) {
                *packed = pack(Score::new(score).unwrap_or(Score::ZERO), label);
            }
        };
        Ok(fold_packed((self.scores, self.labels), &pack, (new, add, merge)))
    }
}

/// Scores as the device sees them, and classes, packed and checked as they are passed over.
pub(crate) struct Classes<'a> {
    scores: &'a [f32],
    classes: &'a [i64],
    are_refused: AtomicBool,
}

impl<'a> Classes<'a> {
    /// As many scores as classes.
    pub(crate) fn new(scores: &'a [f32], classes: &'a [i64]) -> Self {
        Self { scores, classes, are_refused: AtomicBool::new(false) }
    }

    /// Whether a pass met a row whose score is not in `[0, 1]`, or the negative zero, or whose class is neither 0 nor 1: what it made of
    /// its neighbors is then of no use.
    pub(crate) fn are_refused(&self) -> bool {
        self.are_refused.load(Ordering::Relaxed)
    }
}

impl Passes for Classes<'_> {
    const BUDGET_LEN_BYTES: u64 = u64::MAX;
    const IN_MEMORY: usize = usize::MAX;

    fn fold<T: Send>(
        &self,
        new: &(dyn Fn() -> T + Sync),
        add: &(dyn Fn(&mut T, &[Packed]) + Sync),
        merge: &(dyn Fn(&mut T, T) + Sync),
    ) -> Result<T, FitError> {
        let pack = |packed: &mut [Packed], scores: &[f32], classes: &[i64]| {
            let mut are_plain = true;
            for ((packed, &score), &class) in packed.iter_mut().zip(scores).zip(classes) {
                are_plain &= score.to_bits() <= Score::ONE.to_bits() && (0..2).contains(&class);
                *packed = packed::pack_bits(score, class == 1);
            }
            if !are_plain {
                self.are_refused.store(true, Ordering::Relaxed);
                packed.fill(0);
            }
        };
        Ok(fold_packed((self.scores, self.classes), &pack, (new, add, merge)))
    }
}

/// Adds up points that are packed a few at a time, in a cache.
fn fold_packed<L: Sync, T: Send>(
    (scores, labels): (&[f32], &[L]),
    pack: &(impl Fn(&mut [Packed], &[f32], &[L]) + Sync),
    (new, add, merge): Sum<'_, T>,
) -> T {
    let part_len = part_len(scores.len());
    let parts = scores.chunks(part_len).zip(labels.chunks(part_len));
    let sum_part = |(scores, labels): (&[f32], &[L])| {
        let mut sum = new();
        let mut packed = [0; 1 << 12];
        for (scores, labels) in scores.chunks(packed.len()).zip(labels.chunks(packed.len())) {
            cancel::check_canceled();
            let packed = &mut packed[..scores.len()];
            pack(packed, scores, labels);
            add(&mut sum, packed);
        }
        sum
    };
    parallel::merge(parallel::map(parts, sum_part), merge).unwrap_or_else(new)
}

/// How parts are summed: see [`Passes::fold`].
type Sum<'s, T> =
    (&'s (dyn Fn() -> T + Sync), &'s (dyn Fn(&mut T, &[Packed]) + Sync), &'s (dyn Fn(&mut T, T) + Sync));

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
            for points in part.chunks(cancel::ROWS) {
                cancel::check_canceled();
                add(&mut sum, points);
            }
            sum
        };
        let parts = self.chunks(part_len(self.len()));
        Ok(parallel::merge(parallel::map(parts, sum_part), merge).unwrap_or_else(new))
    }
}
