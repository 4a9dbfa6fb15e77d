//! The search in tables whose size is part of their type, without a bounds check or a branch.
//!
//! The levels are spelled out, because a compiler that optimizes for size does not unroll a loop. The edges lie in the order
//! that suits the core's instructions.

/// On cores other than Arm the edges ascend: a level takes a load, a comparison, a shift and an addition.
#[cfg(not(target_arch = "arm"))]
pub(crate) use ascending as layout;
/// On Arm the edges are a search tree in Eytzinger's layout, level by level from the root: a level takes a load, an addition and
/// an addition with carry.
#[cfg(target_arch = "arm")]
pub(crate) use tree as layout;

#[cfg(any(test, target_arch = "arm"))]
pub(crate) mod tree {
    /// Returns the index of the edge in a slot; `None` for slot 0, which has no edge.
    pub(crate) const fn edge_in(slot: usize, room: usize) -> Option<usize> {
        if slot == 0 {
            return None;
        }
        let level = slot.ilog2();
        let before = slot - (1 << level);
        // A node has half as many leaves below it as a node one level up.
        let half = room >> (level + 1);
        Some((2 * before + 1) * half - 1)
    }

    /// Returns the word of a slot with this edge, or without one, for keys below 2^30, or if they are `WIDE` for all keys above 0.
    ///
    /// The word is `2^32 - edge`: the sum of word and key carries if the key is at or above the edge. The root's word differs
    /// unless keys are wide, so that the two highest bits of the sum are the next node's index; this takes fewer instructions
    /// than the carry.
    pub(crate) const fn word<const WIDE: bool>(slot: usize, edge: Option<u32>) -> u32 {
        match (slot, edge) {
            (1, Some(edge)) if !WIDE => (3 << 30) - edge,
            (1, None) if !WIDE => 2 << 30,
            (_, Some(edge)) => edge.wrapping_neg(),
            (_, None) => 0,
        }
    }

    /// Returns the word of a slot with this edge, or without one, for keys of 16 bits.
    pub(crate) const fn half_word(_slot: usize, edge: Option<u16>) -> u16 {
        match edge {
            Some(edge) => edge.wrapping_neg(),
            None => 0,
        }
    }

    /// Returns the number of edges at or below the key, and the word behind the edges that belongs to this bin; never `None`.
    #[inline(always)]
    pub(crate) fn find<const WIDE: bool, const N: usize>(
        words: &[[u32; N]; 2],
        key: u32,
    ) -> Option<(usize, u32)> {
        let path = path::<WIDE, N>(words, key);
        if WIDE {
            let leaf = (path >> 32) as usize;
            return Some((leaf & (N - 1), word_at(words, path)));
        }
        // Reading the path twice keeps the compiler from dividing the last sum into more instructions.
        let (bin, is_none) = path.overflowing_sub((N as u64) << 32);
        if is_none {
            return None;
        }
        Some(((bin >> 32) as usize, word_at(words, path)))
    }

    /// Returns a bin below `N` as 16 bits.
    #[inline(always)]
    pub(crate) fn cut_off<const N: usize>(bin: usize) -> u16 {
        // The compiler does not see that the bin is below `N`. Cutting off at fewer bits replaces its subtraction of `N`.
        (bin & (N - 1)) as u16
    }

    /// Does what [`find`] does, inside a loop.
    #[inline(always)]
    pub(crate) fn find_next<const WIDE: bool, const N: usize>(
        words: &[[u32; N]; 2],
        key: u32,
    ) -> Option<(usize, u32)> {
        let path = path::<WIDE, N>(words, key);
        // On a core with few registers the compiler repeats the body of a loop without an exit in more instructions.
        if !cfg!(target_has_atomic = "32") && path < (N as u64) << 32 {
            return None;
        }
        Some((((path >> 32) as usize).wrapping_sub(N), word_at(words, path)))
    }

    /// Returns the word of the node in the path's upper half.
    #[inline(always)]
    fn word_at<const N: usize>(words: &[[u32; N]; 2], path: u64) -> u32 {
        words.as_flattened().get((path >> 32) as usize).copied().unwrap_or_default()
    }

    /// Descends to the key's leaf, which the returned path has in its upper half.
    #[inline(always)]
    fn path<const WIDE: bool, const N: usize>(words: &[[u32; N]; 2], key: u32) -> u64 {
        let mut path = match words.as_flattened().get(1) {
            Some(root) if N > 1 && WIDE => turn(1 << 32, key, *root),
            Some(root) if N > 1 => u64::from(root.wrapping_add(key) >> 30) << 32,
            _ => 1 << 32,
        };
        macro_rules! levels {
            ($($below:literal)*) => {$(
                // The node is below N here: the compiler sees it, and leaves the fallback out.
                if N > $below {
                    path = turn(path, key, word_at(words, path));
                }
            )*};
        }
        levels!(2 4 8 16 32 64 128 256 512 1024 2048 4096 8192 16_384 32_768);
        path
    }

    /// Takes the path one level down: twice the node, and 1 more if `a + b` carries.
    #[inline(always)]
    fn turn(path: u64, a: u32, b: u32) -> u64 {
        // As a sum of two words, which compiles to an addition with carry.
        let upper = path & !u64::from(u32::MAX);
        (upper | u64::from(a)).wrapping_add(upper | u64::from(b))
    }

    /// Does what [`find`] does, for words of 16 bits.
    #[inline(always)]
    pub(crate) fn find_half_word<const N: usize>(words: &[[u16; N]; 2], key: u16) -> Option<(usize, u16)> {
        let words = words.as_flattened();
        let mut node = 1;
        macro_rules! levels {
            ($($below:literal)*) => {$(
                if N > $below {
                    let word = words.get(node as usize).copied().unwrap_or_default();
                    node = 2 * node + ((u32::from(key) + u32::from(word)) >> 16);
                }
            )*};
        }
        levels!(1 2 4 8 16 32 64 128 256 512 1024 2048 4096 8192 16_384 32_768);
        let leaf = node as usize;
        Some((leaf & (N - 1), words.get(leaf).copied().unwrap_or_default()))
    }
}

#[cfg(not(target_arch = "arm"))]
pub(crate) mod ascending {
    /// Returns the index of the edge in a slot.
    pub(crate) const fn edge_in(slot: usize, _room: usize) -> Option<usize> {
        Some(slot)
    }

    /// Returns the word of a slot with this edge above 0, or without one.
    ///
    /// The word is the edge less one: an instruction compares for "below", two for "at or below".
    pub(crate) const fn word<const WIDE: bool>(_slot: usize, edge: Option<u32>) -> u32 {
        match edge {
            Some(edge) => edge.wrapping_sub(1),
            None => u32::MAX,
        }
    }

    /// Returns the word of a slot with this edge, or without one, for keys of 16 bits.
    pub(crate) const fn half_word(_slot: usize, edge: Option<u16>) -> u16 {
        match edge {
            Some(edge) => edge.wrapping_sub(1),
            None => u16::MAX,
        }
    }

    pub(crate) use find as find_next;
    pub(crate) use search as find_half_word;

    /// Returns a bin below `N` as 16 bits.
    #[inline(always)]
    pub(crate) fn cut_off<const N: usize>(bin: usize) -> u16 {
        bin as u16
    }

    /// Returns the number of edges at or below the key, and the word behind the edges that belongs to this bin; never `None`.
    #[inline(always)]
    pub(crate) fn find<const WIDE: bool, const N: usize>(
        words: &[[u32; N]; 2],
        key: u32,
    ) -> Option<(usize, u32)> {
        search(words, key)
    }

    /// Does what [`find`] does, for words of any width.
    #[inline(always)]
    pub(crate) fn search<W: Copy + Default + Ord, const N: usize>(
        words: &[[W; N]; 2],
        key: W,
    ) -> Option<(usize, W)> {
        let words = words.as_flattened();
        // The edges that may still be the key's neighbors, with all words up to the one that belongs to the last of them.
        let mut window = words;
        macro_rules! levels {
            ($($half:literal)*) => {$(
                if N > $half {
                    // There are N + 2 $half words here: the compiler sees it, and leaves the fallbacks out.
                    let middle = window.get($half - 1).copied().unwrap_or_default();
                    let skipped = $half * usize::from(middle < key);
                    let next = window.get(skipped..).and_then(|words| words.get(..N + $half));
                    window = next.unwrap_or_default();
                }
            )*};
        }
        levels!(32_768 16_384 8192 4096 2048 1024 512 256 128 64 32 16 8 4 2 1);
        let bin = (window.as_ptr().addr() - words.as_ptr().addr()) / size_of::<W>();
        Some((bin, window.get(N).copied().unwrap_or_default()))
    }
}
