//! The one search that every binned calibrator shares.

/// How many of the words, which ascend, are at or below `key`, in O(log n).
///
/// Every kind of key is such a word: bit patterns of floats from 0 up are ordered like the floats, integer
/// codes and the random words of ties are integers anyway.
#[inline]
pub(crate) fn count_at_or_below(ascending: &[u32], key: u32) -> usize {
    ascending.partition_point(|&word| word <= key)
}

/// How many words are below `key`.
#[inline]
pub(crate) fn count_below(ascending: &[u32], key: u32) -> usize {
    ascending.partition_point(|&word| word < key)
}

/// [`count_at_or_below`] among floats from 0 up, given the bit pattern of one.
#[inline]
pub(crate) fn count_floats_at_or_below(ascending: &[f32], key_bits: u32) -> usize {
    count_at_or_below(bytemuck::must_cast_slice(ascending), key_bits)
}
