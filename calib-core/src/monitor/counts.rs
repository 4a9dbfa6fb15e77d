//! Counters that stop before they overflow.

/// Counts one more in a bin, unless that would make all of them more than a `u32` holds. Tells whether it was counted.
pub(super) fn count<const B: usize>(counts: &mut [u32; B], bin: usize) -> bool {
    let limit = const { u32::MAX / if B == 0 { 1 } else { B as u32 } };
    match counts.get_mut(bin) {
        Some(count) if *count < limit => {
            *count += 1;
            true
        }
        _ => false,
    }
}

/// Adds all counts.
pub(super) fn total<const B: usize>(counts: &[u32; B]) -> u32 {
    counts.iter().fold(0, |sum: u32, &count| sum.saturating_add(count))
}

/// Tells whether a counter is where it stops.
pub(super) fn is_full<const B: usize>(counts: &[u32; B]) -> bool {
    let limit = u32::MAX / (B.max(1) as u32);
    counts.iter().any(|&count| count >= limit)
}
