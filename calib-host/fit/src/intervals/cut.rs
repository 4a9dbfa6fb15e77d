//! Where scores are cut into ranges.

use crate::error::FitError;
use crate::points::Points;

/// Returns the inner edges of so many ranges of about equal mass, by the scores: for `i` below `parts` the boundary between two different
/// scores that is nearest to the rank `i n / parts`, the lower of two. An edge is the lowest score above its boundary. There are fewer
/// edges where scores repeat.
pub(crate) fn nearest_edges(points: &(impl Points + ?Sized), parts: u64) -> Result<Vec<f64>, FitError> {
    let n = points.totals().0;
    let wide = |count: u64| u128::from(count);
    let targets: Vec<u128> = (1..parts).map(|i| wide(i) * wide(n)).collect();
    let ranks: Vec<u64> = targets.iter().map(|target| target.div_ceil(wide(parts)) as u64).collect();
    let nearest = |(target, group): (&u128, (u64, u64))| {
        let (below, through) = group;
        let down = (below > 0).then(|| target.abs_diff(wide(below) * wide(parts)));
        let up = (through < n).then(|| target.abs_diff(wide(through) * wide(parts)));
        match (down, up) {
            (Some(down), Some(up)) if up < down => Some(through),
            (Some(_), _) => Some(below),
            (None, Some(_)) => Some(through),
            (None, None) => None,
        }
    };
    let groups = points.at_ranks(&ranks)?.into_iter().map(|found| (found.below.0, found.through().0));
    let mut first_above: Vec<u64> =
        targets.iter().zip(groups).filter_map(nearest).map(|count| count + 1).collect();
    first_above.dedup();
    Ok(points.at_ranks(&first_above)?.into_iter().map(|found| found.group.score).collect())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::points::{Group, group};

    /// The boundaries one after the other.
    fn by_definition(groups: &[Group], parts: u64) -> Vec<f64> {
        let n: u64 = groups.iter().map(|group| group.n).sum();
        let mut boundaries = Vec::new();
        let mut below = 0;
        for pair in groups.windows(2) {
            below += pair[0].n;
            boundaries.push((below, pair[1].score));
        }
        let mut edges = Vec::new();
        for i in 1..parts {
            let distance = |below: u64| (i * n).abs_diff(below * parts);
            // The first of the nearest ones.
            if let Some(nearest) = boundaries.iter().min_by_key(|boundary| distance(boundary.0)) {
                edges.push(nearest.1);
            }
        }
        edges.dedup();
        edges
    }

    proptest! {
        #[test]
        fn edges_are_the_nearest_boundaries(
            raw in proptest::collection::vec((0u32..12, 1u64..9), 1..30), parts in 1u64..12,
        ) {
            let groups = group(raw.iter().map(|&(score, n)| (f64::from(score), n, 0)).collect());
            prop_assert_eq!(nearest_edges(&groups[..], parts).unwrap(), by_definition(&groups, parts));
        }
    }
}
