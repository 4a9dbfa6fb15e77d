//! Counters that stop before they overflow.

/// Counts one more in a bin in which there is room, and tells whether that was the last for which there was. `None` if it was not counted, as
/// there is no such bin, or no room.
pub(super) fn count<const B: usize>(counts: &mut [u32; B], bin: usize) -> Option<bool> {
    let count = counts.get_mut(bin).filter(|count| **count < const { limit(B) })?;
    *count += 1;
    Some(*count == const { limit(B) })
}

/// Adds all counts.
pub(super) fn total<const B: usize>(counts: &[u32; B]) -> u32 {
    counts.iter().fold(0, |sum: u32, &count| sum.saturating_add(count))
}

/// Tells whether a counter is where it stops.
pub(super) const fn are_full<const B: usize>(counts: &[u32; B]) -> bool {
    let mut left: &[u32] = counts;
    while let [count, others @ ..] = left {
        if *count >= limit(B) {
            return true;
        }
        left = others;
    }
    false
}

/// Where a counter stops, so that all of them together are no more than a `u32` holds.
const fn limit(bins: usize) -> u32 {
    u32::MAX / if bins == 0 { 1 } else { bins as u32 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_counter_stops_where_all_of_them_fit_together() {
        let limit = u32::MAX / 3;
        let mut counts = [0, limit - 2, limit];
        assert!(are_full(&counts));
        assert_eq!(
            (count(&mut counts, 0), count(&mut counts, 2), count(&mut counts, 3)),
            (Some(false), None, None)
        );
        assert_eq!([1, 1, 1].map(|bin| count(&mut counts, bin)), [Some(false), Some(true), None]);
        assert_eq!(counts, [1, limit, limit]);
        assert_eq!((total(&counts), total(&[limit; 3])), (2 * limit + 1, u32::MAX));
        assert!(!are_full(&[limit - 1; 3]) && !are_full(&[]));
    }
}
