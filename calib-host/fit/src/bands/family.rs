//! Which unions of neighboring cells have an interval.

use std::ops::Range;

/// Returns the cells of every union. Lengths grow by half up to all cells, and starts are a quarter of a length apart.
pub(super) fn family(cells: usize) -> Vec<Range<usize>> {
    let mut unions = Vec::new();
    let mut length = 1;
    while length <= cells {
        let step = (length / 4).max(1);
        let last = cells - length;
        unions.extend((0..last).step_by(step).chain([last]).map(|start| start..start + length));
        let next = (length + 1).max((3 * length).div_ceil(2));
        length = if length < cells { next.min(cells) } else { next };
    }
    unions
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn has_every_cell_and_all_of_them_and_as_many_unions_as_known() {
        for cells in 1..200 {
            let unions = family(cells);
            assert!((0..cells).all(|cell| unions.contains(&(cell..cell + 1))));
            assert!(unions.contains(&(0..cells)));
            assert!(unions.iter().all(|union| !union.is_empty() && union.end <= cells));
            let mut sorted: Vec<_> = unions.iter().map(|union| (union.start, union.end)).collect();
            sorted.sort_unstable();
            sorted.dedup();
            assert_eq!(sorted.len(), unions.len(), "{cells}");
        }
        let lengths = |cells| {
            let mut lengths: Vec<usize> = family(cells).iter().map(|union| union.len()).collect();
            lengths.dedup();
            lengths
        };
        assert_eq!(lengths(30), [1, 2, 3, 5, 8, 12, 18, 27, 30]);
        // Starts of 8 cells among 13 are 0, 2 and 4, and the last one.
        let of_8: Vec<_> = family(13).into_iter().filter(|union| union.len() == 8).collect();
        assert_eq!(of_8, [0..8, 2..10, 4..12, 5..13]);
        // Of 200, 1000, 5000 and 20 000 rows.
        for (cells, about) in [(21, 90), (47, 250), (106, 520), (212, 1070)] {
            let found = family(cells).len();
            assert!(found.abs_diff(about) * 10 < about, "{cells}: {found}");
        }
    }
}
