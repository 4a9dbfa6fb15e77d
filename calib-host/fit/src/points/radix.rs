//! Sorting packed points by counting.

use super::packed::Packed;

const DIGIT_BITS: u32 = 11;
const DIGITS: usize = 1 << DIGIT_BITS;

/// Sorts points that are near each other and come in parts: by counting, from the lowest bits in which they differ on.
pub(super) fn sort_run(first: Vec<Packed>, others: Vec<Vec<Packed>>) -> Vec<Packed> {
    /// Fewer points are sorted sooner by comparing them.
    const FEW: usize = 1 << 10;
    let mut parts = others;
    parts.push(first);
    let len = parts.iter().map(Vec::len).sum();
    if len < FEW {
        let mut points = parts.concat();
        points.sort_unstable();
        return points;
    }
    let all = || parts.iter().flatten();
    let (lowest, highest) = all().fold((Packed::MAX, 0), |(lo, hi), &point| (lo.min(point), hi.max(point)));
    let passes = (u32::BITS - (highest - lowest).leading_zeros()).div_ceil(DIGIT_BITS).max(1);
    let digit = |pass: u32| move |point: Packed| ((point - lowest) >> (pass * DIGIT_BITS)) as usize % DIGITS;
    let mut points = vec![0; len];
    by_digit(all(), digit(0), &mut points);
    drop(parts);
    let mut sorted = if passes > 1 { vec![0; len] } else { Vec::new() };
    for pass in 1..passes {
        by_digit(points.iter(), digit(pass), &mut sorted);
        std::mem::swap(&mut points, &mut sorted);
    }
    points
}

/// Puts points in the order of one digit; those with the same keep theirs.
fn by_digit<'p>(
    points: impl Iterator<Item = &'p Packed> + Clone,
    digit: impl Fn(Packed) -> usize,
    sorted: &mut [Packed],
) {
    let mut next = [0u32; DIGITS];
    for &point in points.clone() {
        next[digit(point)] += 1;
    }
    let mut start = 0;
    for next in &mut next {
        start += std::mem::replace(next, start);
    }
    for &point in points {
        let at = &mut next[digit(point)];
        sorted[*at as usize] = point;
        *at += 1;
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn a_run_is_sorted(
            start in 0u32..1 << 30, spread in 0u32..26, words in proptest::collection::vec(any::<u32>(), 1..5000),
            cut in any::<prop::sample::Index>(),
        ) {
            let points: Vec<Packed> = words.iter().map(|word| start + word % (1 << spread)).collect();
            let mut expected = points.clone();
            expected.sort_unstable();
            let (first, other) = points.split_at(cut.index(points.len()));
            prop_assert_eq!(sort_run(first.to_vec(), vec![other.to_vec()]), expected);
        }
    }
}
