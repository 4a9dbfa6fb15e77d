//! A point in four bytes: a score in `f32` and a label.

use calib_core::Score;

use super::group::Group;
use crate::stats::f32_ceil;

/// The bit pattern of a score, which is below 2^30 and ordered like the scores, and the label in the lowest bit: packed
/// points are ordered by score, then label.
pub(crate) type Packed = u32;

/// How many of a packed point's low bits do not matter for its bucket.
const BUCKET_SHIFT: u32 = 16;

/// The number of different packed points in a bucket.
pub(crate) const BUCKET_LEN: usize = 1 << BUCKET_SHIFT;

/// The number of buckets: runs of 2^15 neighboring scores.
pub(crate) const BUCKETS: usize = (Score::ONE.to_bits() << 1 >> BUCKET_SHIFT) as usize + 1;

/// A bound of the numbers of buckets that the compiler knows.
pub(crate) const BUCKET_NUMBERS: usize = 1 << (u32::BITS - BUCKET_SHIFT);

pub(crate) fn pack(score: Score, label: bool) -> Packed {
    pack_bits(score.get(), label)
}

/// Packs a number that was found to be a score, and is not the negative zero.
pub(crate) fn pack_bits(score: f32, label: bool) -> Packed {
    score.to_bits() << 1 | u32::from(label)
}

/// The score of a packed point.
pub(crate) fn score(packed: Packed) -> f64 {
    f32::from_bits(packed >> 1).into()
}

/// The label of a packed point.
pub(crate) fn label(packed: Packed) -> bool {
    packed & 1 == 1
}

/// Whether two packed points have the same score.
pub(crate) fn are_tied(a: Packed, b: Packed) -> bool {
    a | 1 == b | 1
}

/// The bucket of a packed point, below [`BUCKETS`].
pub(crate) fn bucket(packed: Packed) -> usize {
    (packed >> BUCKET_SHIFT) as usize
}

/// The lowest packed point of a bucket.
pub(crate) fn bucket_start(bucket: usize) -> Packed {
    (bucket as u32) << BUCKET_SHIFT
}

/// The lowest packed point whose score is at or above an edge, or one above all of them; scores are below the edge exactly
/// if they are below this.
pub(crate) fn first_at_or_above(edge: f64) -> Packed {
    if edge <= 0.0 {
        return 0;
    }
    let at_or_above = f32_ceil(edge);
    if at_or_above > 1.0 { pack(Score::ONE, true) + 1 } else { at_or_above.to_bits() << 1 }
}

/// Groups of sorted packed points.
pub(crate) fn sorted_groups(sorted: &[Packed]) -> SortedGroups<'_> {
    SortedGroups { rest: sorted }
}

/// Groups of counts, by packed point from `start` on.
pub(crate) fn counted_groups(start: Packed, counts: &[u64]) -> CountedGroups<'_> {
    CountedGroups { next: start, rest: counts }
}

/// See [`sorted_groups`].
pub(crate) struct SortedGroups<'p> {
    rest: &'p [Packed],
}

/// See [`counted_groups`].
pub(crate) struct CountedGroups<'c> {
    /// The packed point of the first count that is left.
    next: Packed,
    rest: &'c [u64],
}

impl Iterator for SortedGroups<'_> {
    type Item = Group;

    #[inline]
    fn next(&mut self) -> Option<Group> {
        let (&first, rest) = self.rest.split_first()?;
        let score = score(first);
        // Most points have a separate score.
        if rest.first().is_none_or(|&second| !are_tied(second, first)) {
            self.rest = rest;
            return Some(Group { score, n: 1, positives: (first & 1).into() });
        }
        let negatives = self.rest.iter().take_while(|&&point| point == first & !1).count();
        let positives = self.rest[negatives..].iter().take_while(|&&point| point == first | 1).count();
        self.rest = &self.rest[negatives + positives..];
        Some(Group { score, n: (negatives + positives) as u64, positives: positives as u64 })
    }
}

impl Iterator for CountedGroups<'_> {
    type Item = Group;

    fn next(&mut self) -> Option<Group> {
        loop {
            let (&[negatives, positives], rest) = self.rest.split_first_chunk()?;
            let packed = self.next;
            (self.next, self.rest) = (packed + 2, rest);
            if negatives + positives > 0 {
                return Some(Group { score: score(packed), n: negatives + positives, positives });
            }
        }
    }
}
