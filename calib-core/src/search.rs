//! The searches that every binned calibrator shares.
//!
//! Every kind of key is a word: bit patterns of floats from 0 up are ordered like the floats, and integer codes are
//! integers anyway. No step of a search takes a branch, on any core: the number of instructions depends on the number of
//! edges alone. How a step is done without depends on the core's instructions.

/// The path one level further down a binary tree: `2 path`, and 1 more if `a + b` carries.
#[cfg(any(test, target_arch = "arm"))]
#[inline(always)]
fn turn(path: u32, a: u32, b: u32) -> u32 {
    // As the upper half of a sum of two words, which compiles to an addition with carry.
    let upper = (path as u64) << 32;
    ((upper | a as u64).wrapping_add(upper | b as u64) >> 32) as u32
}

/// How many words are below `key`.
#[inline]
pub(crate) fn count_below(ascending: &[u32], key: u32) -> usize {
    ascending.partition_point(|&word| word < key)
}

/// Walks down a search tree in Eytzinger's layout, from index 1 to a leaf's index, in `[N, 2 N)`.
///
/// A node holds `2^32 - edge`, or 0 if it has no edge; the leaves lie behind the nodes. `N` is a power of two up to 65 536.
/// The levels are spelled out, because a compiler that optimises for size does not unroll a loop.
#[cfg(any(test, target_arch = "arm"))]
#[inline(always)]
pub(crate) fn descend<const N: usize>(tree: &[u32], key: u32) -> usize {
    let mut node = 1;
    macro_rules! levels {
        ($($below:literal)*) => {$(
            // The node is less than N here; the compiler sees it, and leaves the fallback out.
            if N > $below {
                node = turn(node, key, tree.get(node as usize).copied().unwrap_or_default());
            }
        )*};
    }
    levels!(1 2 4 8 16 32 64 128 256 512 1024 2048 4096 8192 16_384 32_768);
    node as usize
}

/// How many of ascending words are below `key`. Of the `N` words, a power of two up to 65 536, the last is never compared with;
/// what is not in use is `u32::MAX`.
///
/// Every level is a load at a fixed distance, a comparison, a shift and an addition, where [`descend`] would take twice as
/// many without additions with carry.
#[cfg(any(test, not(target_arch = "arm")))]
#[inline(always)]
pub(crate) fn count_below_in_full<const N: usize>(ascending: &[u32; N], key: u32) -> usize {
    let mut window = ascending.as_slice();
    macro_rules! levels {
        ($($half:literal)*) => {$(
            if N > $half {
                // There are 2 $half words here; the compiler sees it, and leaves the fallbacks out.
                let middle = window.get($half - 1).copied().unwrap_or_default();
                let skipped = $half * usize::from(middle < key);
                let Some(next) = window.get(skipped..).and_then(|words| words.get(..$half)) else { return 0 };
                window = next;
            }
        )*};
    }
    levels!(32_768 16_384 8192 4096 2048 1024 512 256 128 64 32 16 8 4 2 1);
    (window.as_ptr().addr() - ascending.as_ptr().addr()) / size_of::<u32>()
}

/// [`descend`] in a tree of half words, whose nodes hold `2^16 - edge`.
#[inline(always)]
pub(crate) fn descend_half_words<const N: usize>(tree: &[u16], key: u16) -> usize {
    let mut node = 1;
    macro_rules! levels {
        ($($below:literal)*) => {$(
            if N > $below {
                let complement = tree.get(node as usize).copied().unwrap_or_default();
                node = 2 * node + ((u32::from(key) + u32::from(complement)) >> 16);
            }
        )*};
    }
    levels!(1 2 4 8 16 32 64 128 256 512 1024 2048 4096 8192 16_384 32_768);
    node as usize
}

/// How many of the words, which ascend, are at or below `key`, in O(log n). All are below 2^31.
///
/// The number of words tells the depth, and every depth has its own code.
#[inline(always)]
pub(crate) fn count_at_or_below(ascending: &[u32], key: u32) -> usize {
    debug_assert!(key < 1 << 31 && ascending.last().is_none_or(|&word| word < 1 << 31));
    let len = ascending.len();
    // A few comparisons find one of eleven cases, the more usual ones first.
    if len < 16 {
        if len >= 8 {
            count::<7>(ascending, key)
        } else if len >= 4 {
            count::<3>(ascending, key)
        } else if len >= 2 {
            count::<1>(ascending, key)
        } else {
            count::<0>(ascending, key)
        }
    } else if len < 64 {
        if len >= 32 { count::<31>(ascending, key) } else { count::<15>(ascending, key) }
    } else if len < 256 {
        if len >= 128 { count::<127>(ascending, key) } else { count::<63>(ascending, key) }
    } else if len < 512 {
        count::<255>(ascending, key)
    } else if len < 1024 {
        count::<511>(ascending, key)
    } else {
        ascending.partition_point(|&word| word <= key)
    }
}

/// [`count_at_or_below`] of `M + 1` to `2 M + 1` words, where `M + 1` is a power of two; 0 if there are none.
#[inline(always)]
fn count<const M: usize>(ascending: &[u32], key: u32) -> usize {
    // Of the first M words and the last M those between which the key lies; a word is between both.
    let Some(before) = ascending.len().checked_sub(M + 1) else { return 0 };
    let Some(&pivot) = ascending.get(before) else { return 0 };
    let Some(window) = ascending.get(skip(before + 1, pivot, key)..) else { return 0 };
    let Some(mut window) = window.get(..M) else { return 0 };
    macro_rules! levels {
        ($($half:literal)*) => {$(
            if M >= $half {
                let middle = window.get($half - 1).copied().unwrap_or_default();
                let Some(next) = upper_or_lower::<{ $half - 1 }>(window, middle, key) else { return 0 };
                window = next;
            }
        )*};
    }
    levels!(256 128 64 32 16 8 4 2 1);
    // How far the window has moved; cheaper than counting on the way.
    (window.as_ptr().addr() - ascending.as_ptr().addr()) / size_of::<u32>()
}

/// `words` if the pivot is at or below the key, else 0, on a core with conditional instructions: among Arm's those are the
/// cores with atomics.
#[cfg(all(target_arch = "arm", target_has_atomic = "32"))]
#[inline(always)]
fn skip(words: usize, pivot: u32, key: u32) -> usize {
    words & (pivot.wrapping_add(!key) as i32 >> 31) as usize
}

/// `words`, fewer than 65 536, if the pivot is at or below the key, else 0: without conditional instructions.
#[cfg(all(target_arch = "arm", not(target_has_atomic = "32")))]
#[inline(always)]
fn skip(words: usize, pivot: u32, key: u32) -> usize {
    // The sign of `key - pivot` shifts all of them out; with a mask the compiler makes a branch of it.
    words >> (key.wrapping_sub(pivot) >> 31 << 4)
}

/// `words` if the pivot is at or below the key, else 0: by arithmetic, where a choice would be a branch.
#[cfg(not(target_arch = "arm"))]
#[inline(always)]
fn skip(words: usize, pivot: u32, key: u32) -> usize {
    words & 0usize.wrapping_sub(usize::from(pivot <= key))
}

/// The last `M` of `2 M + 1` words if the middle one is at or below the key, else the first `M`; as [`skip`].
#[cfg(all(target_arch = "arm", target_has_atomic = "32"))]
#[inline(always)]
fn upper_or_lower<const M: usize>(words: &[u32], middle: u32, key: u32) -> Option<&[u32]> {
    let (lower, upper) = (words.get(..M)?, words.get(M + 1..2 * M + 1)?);
    Some(core::hint::select_unpredictable(middle <= key, upper, lower))
}

/// The last `M` of `2 M + 1` words if the middle one is at or below the key, else the first `M`; as [`skip`].
#[cfg(not(all(target_arch = "arm", target_has_atomic = "32")))]
#[inline(always)]
fn upper_or_lower<const M: usize>(words: &[u32], middle: u32, key: u32) -> Option<&[u32]> {
    words.get((M + 1) * is_at_or_below(middle, key)..)?.get(..M)
}

/// 1 if the word is at or below the key, else 0: both are below 2^31.
#[cfg(all(target_arch = "arm", not(target_has_atomic = "32")))]
#[inline(always)]
fn is_at_or_below(word: u32, key: u32) -> usize {
    // The sign of `word - key - 1`.
    (word.wrapping_add(!key) >> 31) as usize
}

/// 1 if the word is at or below the key, else 0: both are below 2^31.
#[cfg(not(target_arch = "arm"))]
#[inline(always)]
fn is_at_or_below(word: u32, key: u32) -> usize {
    // RISC-V has one instruction for `<`, and the sum is the same for all words.
    usize::from(word < key + 1)
}

/// [`count_at_or_below`] among floats in `[0, 1]`, given the bit pattern of one.
#[inline(always)]
pub(crate) fn count_floats_at_or_below(ascending: &[f32], key_bits: u32) -> usize {
    count_at_or_below(bytemuck::must_cast_slice(ascending), key_bits)
}

#[cfg(test)]
mod tests {
    extern crate std;

    use std::vec::Vec;

    use proptest::prelude::*;

    use super::*;
    use crate::test_size::step;

    const MAX: u32 = (1 << 31) - 1;

    fn scan(ascending: &[u32], key: u32) -> usize {
        ascending.iter().filter(|&&word| word <= key).count()
    }

    /// Every word and its neighbours, the ends, and some between.
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
                assert_eq!(count_at_or_below(&words, key), scan(&words, key), "{len} words, key {key}");
            }
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
                prop_assert_eq!(count_at_or_below(&words, key), scan(&words, key));
            }
        }

        /// Words may repeat, as the edges of randomised ties do.
        #[test]
        fn counts_repeated_words(
            mut words in proptest::collection::vec(0u32..20, 0..70),
            key in 0u32..21,
        ) {
            words.sort_unstable();
            prop_assert_eq!(count_at_or_below(&words, key), scan(&words, key));
        }
    }
}
