//! The searches that every binned calibrator shares.
//!
//! Every kind of key is a word: bit patterns of floats from 0 up are ordered like the floats, and integer codes are
//! integers anyway. No step of a search among up to 1023 edges takes a branch, on any core: the number of instructions
//! depends on the number of edges alone. How a step is done without depends on the core's instructions.

/// What a table keeps its edges in: 32 or 16 bits.
pub(crate) trait Word: Copy + Default + Into<u32> + 'static {
    /// What the compiler leaves out: the window of a search that ended.
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

/// How many words are below `key`.
#[inline]
pub(crate) fn count_below(ascending: &[u32], key: u32) -> usize {
    ascending.partition_point(|&word| word < key)
}

/// How many of the words, which ascend, are at or below `key`, in O(log n). All are below 2^31.
///
/// The number of words tells at which of the levels the search begins; from there on it is the same for all.
#[inline(always)]
pub(crate) fn count_at_or_below<W: Word>(ascending: &[W], key: u32) -> usize {
    debug_assert!(key < 1 << 31 && ascending.last().is_none_or(|&word| word.into() < 1 << 31));
    let len = ascending.len();
    /// Enters the search at a level.
    macro_rules! begin {
        ($level:lifetime) => {
            break $level match either(ascending, key) {
                Some(window) => window,
                None => return 0,
            }
        };
    }
    let window: &[W; 1] = 'of_1: {
        let window: &[W; 3] = 'of_3: {
            let window: &[W; 7] = 'of_7: {
                let window: &[W; 15] = 'of_15: {
                    let window: &[W; 31] = 'of_31: {
                        let window: &[W; 63] = 'of_63: {
                            let window: &[W; 127] = 'of_127: {
                                let window: &[W; 255] = 'of_255: {
                                    let window: &[W; 511] = {
                                        // A few comparisons find the level, the more usual ones first.
                                        if len < 16 {
                                            if len >= 8 {
                                                begin!('of_7)
                                            } else if len >= 4 {
                                                begin!('of_3)
                                            } else if len >= 2 {
                                                begin!('of_1)
                                            }
                                            return match ascending {
                                                [only] => is_at_or_below((*only).into(), key),
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
                                            match either(ascending, key) {
                                                Some(window) => window,
                                                None => return 0,
                                            }
                                        } else {
                                            return ascending.partition_point(|&word| word.into() <= key);
                                        }
                                    };
                                    half(window, key)
                                };
                                half(window, key)
                            };
                            half(window, key)
                        };
                        half(window, key)
                    };
                    half(window, key)
                };
                half(window, key)
            };
            half(window, key)
        };
        half(window, key)
    };
    let [last] = window;
    // How far the window has moved; cheaper than counting on the way.
    window.as_ptr().addr().wrapping_sub(ascending.as_ptr().addr()) / size_of::<W>()
        + is_at_or_below((*last).into(), key)
}

/// Of the first `M` words and the last `M` those between which the key lies, of more than `M` and fewer than `2 M + 2`
/// words: a word is between both, or belongs to both.
#[cfg(all(target_arch = "arm", target_has_atomic = "32"))]
#[inline(always)]
fn either<W: Word, const M: usize>(words: &[W], key: u32) -> Option<&[W; M]> {
    let between = words.len().checked_sub(M + 1)?;
    let pivot = words.get(between).copied()?.into();
    let (first, last) = (words.get(..M)?, words.get(between + 1..)?);
    core::hint::select_unpredictable(pivot <= key, last, first).first_chunk()
}

#[cfg(not(target_arch = "arm"))]
#[inline(always)]
fn either<W: Word, const M: usize>(words: &[W], key: u32) -> Option<&[W; M]> {
    let between = words.len().checked_sub(M + 1)?;
    let pivot = words.get(between).copied()?.into();
    // Both ends are chosen, so that the compiler sees that they are in range.
    let start = core::hint::select_unpredictable(pivot <= key, between + 1, 0);
    let end = core::hint::select_unpredictable(pivot <= key, words.len(), M);
    words.get(start..end)?.first_chunk()
}

#[cfg(all(target_arch = "arm", not(target_has_atomic = "32")))]
#[inline(always)]
fn either<W: Word, const M: usize>(words: &[W], key: u32) -> Option<&[W; M]> {
    let between = words.len().checked_sub(M + 1)?;
    let pivot = words.get(between).copied()?.into();
    words.get(skip(between + 1, pivot, key)..)?.first_chunk()
}

/// The last `M` of `L = 2 M + 1` words if the middle one is at or below the key, else the first `M`.
#[cfg(all(target_arch = "arm", target_has_atomic = "32"))]
#[inline(always)]
fn half<W: Word, const L: usize, const M: usize>(words: &[W; L], key: u32) -> &[W; M] {
    let (Some(middle), Some(first), Some(last)) = (words.get(M), words.first_chunk(), words.last_chunk())
    else {
        return W::zeros();
    };
    core::hint::select_unpredictable((*middle).into() <= key, last, first)
}

#[cfg(not(all(target_arch = "arm", target_has_atomic = "32")))]
#[inline(always)]
fn half<W: Word, const L: usize, const M: usize>(words: &[W; L], key: u32) -> &[W; M] {
    let middle = words.get(M).copied().unwrap_or_default().into();
    let rest = words.get((M + 1) * is_at_or_below(middle, key)..);
    rest.and_then(|rest| rest.first_chunk()).unwrap_or(W::zeros())
}

/// `words`, fewer than 65 536, if the pivot is at or below the key, else 0: without conditional instructions.
#[cfg(all(target_arch = "arm", not(target_has_atomic = "32")))]
#[inline(always)]
fn skip(words: usize, pivot: u32, key: u32) -> usize {
    // The sign of `key - pivot` shifts all of them out; with a mask the compiler makes a branch of it.
    words >> (key.wrapping_sub(pivot) >> 31 << 4)
}

/// 1 if the word is at or below the key, else 0: both are below 2^31.
#[cfg(target_arch = "arm")]
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
    count_at_or_below::<u32>(bytemuck::must_cast_slice(ascending), key_bits)
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
