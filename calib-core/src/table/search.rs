//! The searches that every binned calibrator shares.
//!
//! Every key is a word: bit patterns of floats from 0 up are ordered like the floats, and codes are integers. Margins may be below
//! 0, so each edge's bits become a key as the search meets the edge. Among up to 1023 edges no step of a search takes a branch, on
//! any core, unless the keys are those of margins: the number of instructions depends on the number of edges alone. Each core has
//! its own way to do a step without a branch, in the fewest instructions that were found.

use core::marker::PhantomData;

use crate::score::Ordered;

/// A word in which a table keeps an edge: 32 or 16 bits.
pub(crate) trait Word: Copy + Default + Into<u32> + 'static {
    /// Returns a window for a case that never happens, which the compiler leaves out.
    fn zeros<const M: usize>() -> &'static [Self; M];
}

impl Word for u32 {
    #[inline(always)]
    fn zeros<const M: usize>() -> &'static [Self; M] {
        const { &[0; M] }
    }
}

impl Word for u16 {
    #[inline(always)]
    fn zeros<const M: usize>() -> &'static [Self; M] {
        const { &[0; M] }
    }
}

/// How words become keys.
pub(crate) trait Keys {
    /// Whether keys take all 32 bits, rather than 31.
    const WIDE: bool;

    /// Returns the key of a word.
    fn of(word: u32) -> u32;
}

/// Words that are keys.
pub(crate) struct Plain;

impl Keys for Plain {
    const WIDE: bool = false;

    #[inline(always)]
    fn of(word: u32) -> u32 {
        word
    }
}

/// Words that are keys of any score: those of margins take all 32 bits.
struct Wide;

impl Keys for Wide {
    const WIDE: bool = true;

    #[inline(always)]
    fn of(word: u32) -> u32 {
        word
    }
}

/// Words that are the bits of floats.
pub(crate) struct Floats<S>(PhantomData<S>);

impl<S: Ordered> Keys for Floats<S> {
    const WIDE: bool = S::IS_MARGIN;

    #[inline(always)]
    fn of(word: u32) -> u32 {
        S::key_of(word)
    }
}

/// Counts the words below `key`, in O(log n).
#[inline]
pub(crate) fn count_below(ascending: &[u32], key: u32) -> usize {
    ascending.partition_point(|&word| word < key)
}

/// Counts the words at or below `key`, in O(log n), in little flash: one function for all callers.
#[inline(never)]
pub(crate) fn count_up_to(ascending: &[u32], key: u32) -> usize {
    ascending.partition_point(|&word| word <= key)
}

/// Counts the words at or below `key`, in O(log n). The words ascend; there are at most 65 535, all below 2^31 unless keys are wide.
#[inline(always)]
fn count_at_or_below<W: Word, K: Keys>(ascending: &[W], key: u32) -> usize {
    find_bin::<W, K>(ascending, ascending.len() + 1, key)
}

/// Nests the levels of a search: each halves the window of the next wider one, unless the search begins at it.
macro_rules! levels {
    ($key:ident, $widest:block) => { $widest };
    ($key:ident, $widest:block $level:lifetime $wider:literal $($rest:tt)*) => {
        $level: {
            let window: &[W; $wider] = levels!($key, $widest $($rest)*);
            half::<W, K, $wider, _>(window, $key)
        }
    };
}

/// Returns the bin of a key among edges that are keys: the number of edges at or below the key. `values` is the number of values,
/// one more than edges.
#[inline(always)]
pub(crate) fn bin_of<W: Word>(edges: &[W], values: usize, key: u32) -> usize {
    find_bin::<W, Plain>(edges, values, key)
}

/// Returns the bin of a key of any score among keys of the same kind of score.
#[inline(always)]
pub(crate) fn bin_of_wide(edges: &[u32], values: usize, key: u32) -> usize {
    find_bin::<u32, Wide>(edges, values, key)
}

/// Returns the bin of a key.
///
/// The number of edges decides at which level the search begins. From there on it is the same for every number of edges.
#[inline(always)]
fn find_bin<W: Word, K: Keys>(edges: &[W], values: usize, key: u32) -> usize {
    debug_assert!(K::WIDE || key < 1 << 31 && edges.last().is_none_or(|&edge| edge.into() < 1 << 31));
    let len = edges.len();
    let key = compared(key, values.wrapping_sub(len));
    /// Leaves the choice of a level with that level's window.
    macro_rules! begin {
        ($level:lifetime) => {
            break $level match either::<W, K, _>(edges, key) {
                (true, window) => window,
                _ => return 0,
            }
        };
    }
    let window: &[W; 1] = levels!(key, {
        // A few comparisons find the level, the more usual ones first.
        if len < 16 {
            if len >= 8 {
                begin!('of_7)
            } else if len >= 4 {
                begin!('of_3)
            } else if len >= 2 {
                begin!('of_1)
            }
            return match edges {
                [only] => is_at_or_below::<K>((*only).into(), key),
                _ => 0,
            };
        } else if len < 64 {
            if len >= 32 {
                begin!('of_31)
            }
            begin!('of_15)
        } else if len < 256 {
            if len >= 128 {
                begin!('of_127)
            }
            begin!('of_63)
        } else if len < 512 {
            begin!('of_255)
        } else if len < 1024 {
            match either::<W, K, _>(edges, key) {
                (true, window) => window,
                _ => return 0,
            }
        } else {
            let is_below = |edge: &W| is_at_or_below::<K>((*edge).into(), key) == 1;
            return edges.partition_point(is_below) & 0xFFFF;
        }
    } 'of_1 3 'of_3 7 'of_7 15 'of_15 31 'of_31 63 'of_63 127 'of_127 255 'of_255 511);
    let [last] = window;
    // The distance that the window has moved takes fewer instructions than counting on the way.
    let moved = window.as_ptr().addr().wrapping_sub(edges.as_ptr().addr()) / size_of::<W>();
    // The distance is below 1024. The mask shows it to the compiler, which then need not cut the bin off at 16 bits.
    (moved & 0x3FF) + is_at_or_below::<K>((*last).into(), key)
}

/// Returns the half (first or last `M` words) that contains the key's position, and whether `words` has more than `M`.
///
/// There are fewer than `2 M + 2` words, so the halves overlap or leave one word between them.
// The flag stands beside the window. With an `Option` the compiler tests the pointer that it has just chosen.
#[cfg(all(target_arch = "arm", target_has_atomic = "32"))]
#[inline(always)]
fn either<W: Word, K: Keys, const M: usize>(words: &[W], key: u32) -> (bool, &[W; M]) {
    // In one pattern, because otherwise the compiler tests both pointers before it chooses.
    let (Some(pivot), Some(first), Some(last)) = (words.get(M), words.first_chunk(), words.last_chunk())
    else {
        return (false, W::zeros());
    };
    (true, core::hint::select_unpredictable(K::of((*pivot).into()) <= key, last, first))
}

#[cfg(all(target_arch = "arm", not(target_has_atomic = "32")))]
#[inline(always)]
fn either<W: Word, K: Keys, const M: usize>(words: &[W], key: u32) -> (bool, &[W; M]) {
    let Some(pivot) = words.get(M) else { return (false, W::zeros()) };
    let chosen = words.get(if_at_or_below::<W, K>(words.len() - M, (*pivot).into(), key)..);
    match chosen.and_then(|words| words.first_chunk()) {
        Some(window) => (true, window),
        None => (false, W::zeros()),
    }
}

#[cfg(not(target_arch = "arm"))]
#[inline(always)]
fn either<W: Word, K: Keys, const M: usize>(words: &[W], key: u32) -> (bool, &[W; M]) {
    let Some(pivot) = words.get(M) else { return (false, W::zeros()) };
    let is_last = is_at_or_below::<K>((*pivot).into(), key) == 1;
    let start = core::hint::select_unpredictable(is_last, words.len() - M, 0);
    match words.get(start..start + M).and_then(|words| words.first_chunk()) {
        Some(window) => (true, window),
        None => (false, W::zeros()),
    }
}

/// Returns the last `M` of `L = 2 M + 1` words if the middle word is at or below the key, otherwise the first `M`.
#[cfg(all(target_arch = "arm", target_has_atomic = "32"))]
#[inline(always)]
fn half<W: Word, K: Keys, const L: usize, const M: usize>(words: &[W; L], key: u32) -> &[W; M] {
    let (Some(middle), Some(first), Some(last)) = (words.get(M), words.first_chunk(), words.last_chunk())
    else {
        return W::zeros();
    };
    core::hint::select_unpredictable(K::of((*middle).into()) <= key, last, first)
}

#[cfg(not(all(target_arch = "arm", target_has_atomic = "32")))]
#[inline(always)]
fn half<W: Word, K: Keys, const L: usize, const M: usize>(words: &[W; L], key: u32) -> &[W; M] {
    let middle = words.get(M).copied().unwrap_or_default().into();
    let rest = words.get((M + 1) * is_at_or_below::<K>(middle, key)..);
    rest.and_then(|rest| rest.first_chunk()).unwrap_or(W::zeros())
}

/// Returns `words`, fewer than 65 536, if the pivot is at or below the key, otherwise 0, without conditional instructions.
#[cfg(all(target_arch = "arm", not(target_has_atomic = "32")))]
#[inline(always)]
fn if_at_or_below<W: Word, K: Keys>(words: usize, pivot: u32, key: u32) -> usize {
    if K::WIDE {
        return words * is_at_or_below::<K>(pivot, key);
    }
    // The sign of `key - pivot` shifts all bits of `words` out. The compiler would turn a mask into a branch. It would also turn
    // the sign of a difference of 16-bit words into a branch, but not several of the equal bits at its top.
    let difference = key.wrapping_sub(pivot);
    words >> if size_of::<W>() == 2 { difference >> 27 } else { difference >> 31 << 4 }
}

/// Returns the number with which words are compared for a key: the key.
#[cfg(target_arch = "arm")]
#[inline(always)]
fn compared(key: u32, _one: usize) -> u32 {
    key
}

/// Returns 1 if the word's key is at or below the key, otherwise 0. Both are below 2^31 unless keys are wide.
#[cfg(target_arch = "arm")]
#[inline(always)]
fn is_at_or_below<K: Keys>(word: u32, key: u32) -> usize {
    if K::WIDE {
        return usize::from(K::of(word) <= key);
    }
    // The sign of `word - key - 1`.
    (word.wrapping_add(!key) >> 31) as usize
}

/// Returns the number with which words are compared for a key: the key plus one.
// RISC-V has an instruction for `<` and none for `<=`. The compiler would turn `word < key + 1` back into `<=`, and that into two
// instructions, if it saw the 1: so the caller computes it from the table's lengths.
#[cfg(not(target_arch = "arm"))]
#[inline(always)]
fn compared(key: u32, one: usize) -> u32 {
    key.wrapping_add(one as u32)
}

/// Returns 1 if the word's key is at or below the key, otherwise 0.
// No key is the largest word, so the key plus one is no 0.
#[cfg(not(target_arch = "arm"))]
#[inline(always)]
fn is_at_or_below<K: Keys>(word: u32, next_key: u32) -> usize {
    usize::from(K::of(word) < next_key)
}

/// Returns the bin of a float, given its key, among edges of the same kind of float.
#[inline(always)]
pub(crate) fn bin_of_float<S: Ordered>(edges: &[f32], values: usize, key: u32) -> usize {
    find_bin::<u32, Floats<S>>(bytemuck::must_cast_slice(edges), values, key)
}

/// Counts the floats at or below a float of the same kind, given its key.
#[inline(always)]
pub(crate) fn count_floats_at_or_below<S: Ordered>(ascending: &[f32], key: u32) -> usize {
    count_at_or_below::<u32, Floats<S>>(bytemuck::must_cast_slice(ascending), key)
}

#[cfg(test)]
mod tests {
    extern crate std;

    use std::vec::Vec;

    use proptest::prelude::*;

    use super::*;
    use crate::score::Margin;
    use crate::test_size::step;

    const MAX: u32 = (1 << 31) - 1;

    fn scan(ascending: &[u32], key: u32) -> usize {
        ascending.iter().filter(|&&word| word <= key).count()
    }

    /// Every word and its neighbors, the ends, and some between.
    fn probes(ascending: &[u32], other: &[u32]) -> Vec<u32> {
        let around =
            ascending.iter().flat_map(|word| [word.saturating_sub(1), *word, word.saturating_add(1)]);
        let all = around.chain([0, 1, MAX]).chain(other.iter().copied());
        all.map(|key| key.min(MAX)).collect()
    }

    #[test]
    fn counts_like_a_scan_for_every_number_of_words() {
        for len in (0..300).chain([510, 511, 512, 1022, 1023, 1024, 2046, 2047, 2048, 5000]) {
            let words: Vec<u32> = (1..=len).map(|i| i * 400_001).collect();
            for key in probes(&words, &[]).into_iter().step_by(step(1 + len as usize)) {
                assert_eq!(
                    count_at_or_below::<_, Plain>(&words, key),
                    scan(&words, key),
                    "{len} words, key {key}"
                );
            }
        }
    }

    #[test]
    fn counts_as_many_words_as_a_table_may_have() {
        let words: Vec<u16> = (1..=u16::MAX).step_by(step(257)).collect();
        for (before, &word) in words.iter().enumerate() {
            assert_eq!(count_at_or_below::<_, Plain>(&words, u32::from(word) - 1), before);
            assert_eq!(count_at_or_below::<_, Plain>(&words, word.into()), before + 1);
        }
    }

    proptest! {
        #[test]
        fn counts_like_a_scan(
            words in proptest::collection::btree_set(0..=MAX, 0..200),
            other in proptest::collection::vec(any::<u32>(), 20),
        ) {
            let words: Vec<u32> = words.into_iter().collect();
            for key in probes(&words, &other) {
                prop_assert_eq!(count_at_or_below::<_, Plain>(&words, key), scan(&words, key));
            }
        }

        /// Margins of any sign, with every float beside an edge.
        #[test]
        fn counts_margins_like_a_scan(
            edges in proptest::collection::vec(any::<f32>(), 0..1100 / step(20)), other in proptest::collection::vec(any::<f32>(), 20),
        ) {
            let mut edges: Vec<f32> = edges.into_iter().filter(|edge| edge.is_finite()).map(|edge| edge + 0.0).collect();
            edges.sort_by(f32::total_cmp);
            edges.dedup();
            let around = edges.iter().flat_map(|edge| [edge.next_down(), *edge, edge.next_up()]);
            for value in around.chain([0.0, -0.0, f32::MAX, f32::MIN, f32::from_bits(1)]).chain(other) {
                let Ok(margin) = Margin::new(value) else { continue };
                let scan = edges.iter().filter(|&&edge| edge <= value).count();
                prop_assert_eq!(count_floats_at_or_below::<Margin>(&edges, margin.key()), scan, "{}", value);
            }
        }

        /// Words may repeat, as the edges of randomized ties do.
        #[test]
        fn counts_repeated_words(
            mut words in proptest::collection::vec(0u32..20, 0..70),
            key in 0u32..21,
        ) {
            words.sort_unstable();
            prop_assert_eq!(count_at_or_below::<_, Plain>(&words, key), scan(&words, key));
        }
    }
}
