//! The points of the ROC surface of three classes, as counts, and their convex hull.

use super::hull::Hull;
use crate::cancel;
use crate::parallel;
use crate::stats::CountTree;

/// Up to so many lines all are looked at. The time grows with their square.
const MOST_LINES: usize = 512;

/// Of more lines so many are chosen: the surface is then smooth, and the chords of few points are close to it.
const CHOSEN_LINES: usize = 128;

/// Points are reduced to the corners of their hull when there are so many.
const BATCH: usize = 1 << 20;

/// Rows of three scores in whole steps, by class.
pub(crate) type Rows = [Vec<[i64; 3]>; 3];

/// The hull of what thresholds reach, and of everything below it.
pub(crate) struct SurfaceHull {
    hull: Hull,
    /// Whether all thresholds were tried; otherwise an even choice of them, and the hull is too small, if anything.
    pub(crate) is_exact: bool,
}

impl SurfaceHull {
    /// Six times the volume, in counts of rows.
    pub(crate) fn six_volumes(&self) -> i128 {
        self.hull.six_volumes
    }
}

/// Where the threshold between two classes can pass rows of either.
struct Lines {
    values: Vec<i64>,
    is_complete: bool,
}

impl Lines {
    fn new(values: impl Iterator<Item = i64>) -> Self {
        let mut values: Vec<i64> = values.collect();
        values.sort_unstable();
        values.dedup();
        let last = values.len() - 1;
        if last < MOST_LINES {
            return Self { values, is_complete: true };
        }
        let chosen = (0..CHOSEN_LINES).map(|i| values[i * last / (CHOSEN_LINES - 1)]);
        Self { values: chosen.collect(), is_complete: false }
    }

    /// Thresholds beside every line, in eighths of a step; beside chosen lines one is enough.
    fn beside(&self, offsets: &[i64]) -> Vec<i64> {
        let offsets = if self.is_complete { offsets } else { &offsets[..1] };
        self.values
            .iter()
            .flat_map(|value| offsets.iter().map(move |offset| EIGHTHS * value + offset))
            .collect()
    }
}

const EIGHTHS: i64 = 8;

/// The cells around a crossing of two lines, through which a third may pass, are reached by these offsets of the one and of
/// the other: no two offsets or their difference are multiples of eight, and the difference takes both signs.
const OFFSETS: [&[i64]; 2] = [&[-3, -1, 1, 3], &[-2, 2]];

/// The convex hull of the numbers of rows of each class that thresholds put into the region of their class (Berta et
/// al. 2024, Definition 3.1), of the three corners where all rows are in one region, and of all that is below.
///
/// A threshold is two numbers. The lines where it passes a row run in three directions. Each cell between them has a
/// crossing at its edge, so the cells around all crossings are all cells.
///
/// # Panics
///
/// If a class has no rows, or more than 2^32.
pub(crate) fn surface_hull(rows: &Rows) -> SurfaceHull {
    let parts = parallel::map_range(3, |pivot| around_crossings(rows, pivot));
    let is_exact = parts.iter().all(|part| part.1);
    let [a, b, c] = std::array::from_fn(|class| rows[class].len() as i64);
    let frame = [[0, 0, 0], [a, 0, 0], [0, b, 0], [0, 0, c]];
    let corners =
        Hull::new(&[&frame, &*parts.into_iter().flat_map(|part| part.0).collect::<Vec<_>>()].concat());
    let below = corners.corners.iter().flat_map(|&[a, b, c]| [[a, b, c], [a, b, 0], [a, 0, c], [0, b, c]]);
    SurfaceHull { hull: Hull::new(&frame.into_iter().chain(below).collect::<Vec<_>>()), is_exact }
}

/// The corners of the hull of the points around all crossings of the lines between one class and the two others, and
/// whether all lines were tried.
fn around_crossings(rows: &Rows, pivot: usize) -> (Vec<[i64; 3]>, bool) {
    let [p, q, r] = [pivot, (pivot + 1) % 3, (pivot + 2) % 3];
    let lines = |other: usize| Lines::new(rows[p].iter().chain(&rows[other]).map(|row| row[p] - row[other]));
    let (against_q, against_r) = (lines(q), lines(r));
    let outer = against_q.beside(OFFSETS[0]);
    let inner = against_r.beside(OFFSETS[1]);
    // A row's score for one class over that for another.
    let over = |row: &[i64; 3], one: usize, other: usize| EIGHTHS * (row[one] - row[other]);
    let pairs = |of: usize, key: [usize; 2], place: [usize; 2]| -> Vec<(i64, i64)> {
        rows[of].iter().map(|row| (over(row, key[0], key[1]), over(row, place[0], place[1]))).collect()
    };
    let (of_p, (of_q, of_r)) = rayon::join(
        || Below::new(pairs(p, [p, q], [p, r]), &outer, inner.len(), |_, j| inner[j]),
        || {
            rayon::join(
                || Below::new(pairs(q, [p, q], [q, r]), &outer, inner.len(), |i, j| inner[j] - outer[i]),
                || Below::new(pairs(r, [p, r], [q, r]), &inner, outer.len(), |j, i| inner[j] - outer[i]),
            )
        },
    );
    let not_below: Vec<i64> = {
        let mut places: Vec<i64> = rows[p].iter().map(|row| over(row, p, r)).collect();
        places.sort_unstable();
        inner.iter().map(|&b| (places.len() - places.partition_point(|&place| place < b)) as i64).collect()
    };
    let mut points = Vec::new();
    for i in 0..outer.len() {
        cancel::check_canceled();
        let mut last = [-1; 3];
        for (j, &not_below) in not_below.iter().enumerate() {
            let mut point = [0; 3];
            // Above both thresholds; below the first and above the difference; below the second and the difference.
            point[p] = not_below - of_p.place_above(i, j);
            point[q] = of_q.place_above(i, j);
            point[r] = of_r.place_below(j, i);
            if point != last {
                points.push(point);
                last = point;
            }
        }
        if points.len() > BATCH {
            points = reduced(points, rows);
        }
    }
    (reduced(points, rows), against_q.is_complete && against_r.is_complete)
}

/// The corners of the hull of points of the surface.
fn reduced(points: Vec<[i64; 3]>, rows: &Rows) -> Vec<[i64; 3]> {
    let [a, b, c] = std::array::from_fn(|class| rows[class].len() as i64);
    Hull::new(&[&[[0, 0, 0], [a, 0, 0], [0, b, 0], [0, 0, c]], &*points].concat()).corners
}

/// Of rows with two numbers, a key and a place: how many have a key below the one and a place below the other of two
/// thresholds.
struct Below {
    width: usize,
    /// Row-major, for every threshold of keys those of places.
    both: Vec<u32>,
    keys: Vec<u32>,
}

impl Below {
    /// Counts for ascending thresholds of keys and, for each, `width` thresholds of places.
    fn new(
        mut rows: Vec<(i64, i64)>,
        keys: &[i64],
        width: usize,
        place: impl Fn(usize, usize) -> i64,
    ) -> Self {
        rows.sort_unstable();
        let mut places: Vec<i64> = rows.iter().map(|row| row.1).collect();
        places.sort_unstable();
        let rank = |place: i64| places.partition_point(|&other| other < place);
        let mut tree = CountTree::new(places.len(), 1);
        let mut below = Self { width, both: Vec::with_capacity(keys.len() * width), keys: Vec::new() };
        let mut rows = rows.into_iter().peekable();
        let mut passed = 0;
        for (i, &key) in keys.iter().enumerate() {
            while let Some(row) = rows.next_if(|row| row.0 < key) {
                tree.add(rank(row.1), 0);
                passed += 1;
            }
            below.keys.push(passed);
            for j in 0..width {
                let mut count = [0];
                tree.add_prefix(rank(place(i, j)), &mut count);
                below.both.push(count[0] as u32);
            }
        }
        below
    }

    /// How many rows have a key below its threshold, and a place below its own.
    fn place_below(&self, key: usize, place: usize) -> i64 {
        self.both[key * self.width + place].into()
    }

    /// How many have a key below its threshold, and a place above its own.
    fn place_above(&self, key: usize, place: usize) -> i64 {
        i64::from(self.keys[key]) - self.place_below(key, place)
    }
}

#[cfg(test)]
pub(super) mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    /// How many rows of each class a threshold gets right that no row ties with.
    fn counts(rows: &Rows, gamma: [i64; 3], scale: i64) -> [i64; 3] {
        std::array::from_fn(|class| {
            let right = |row: &&[i64; 3]| (0..3).max_by_key(|&k| scale * row[k] - gamma[k]) == Some(class);
            rows[class].iter().filter(right).count() as i64
        })
    }

    /// The points of the cells around every crossing of two lines of whatever two directions, counted one by one.
    pub(crate) fn cells(rows: &Rows) -> BTreeSet<[i64; 3]> {
        let lines = |i: usize, j: usize| -> Vec<i64> {
            rows[i].iter().chain(&rows[j]).map(|row| 8 * (row[i] - row[j])).collect()
        };
        let offsets = [(1, 2), (2, 1), (-1, 2), (1, -2), (-1, -2), (-2, -1)];
        let mut points = BTreeSet::new();
        for (p, q, r) in [(0, 1, 2), (1, 2, 0), (2, 0, 1)] {
            for (a, b) in lines(p, q).iter().flat_map(|&a| lines(p, r).into_iter().map(move |b| (a, b))) {
                for (over_a, over_b) in offsets {
                    let mut gamma = [0; 3];
                    (gamma[q], gamma[r]) = (-a - over_a, -b - over_b);
                    points.insert(counts(rows, gamma, 8));
                }
            }
        }
        points
    }

    /// The counts of every cell between the lines: thresholds in thirds of a step around all rows, ties to no class.
    fn brute_force(rows: &Rows) -> BTreeSet<[i64; 3]> {
        let mut points = BTreeSet::new();
        for a in (-30..=30).filter(|a| a % 3 != 0) {
            for b in (-30..=30).filter(|b| b % 3 != 0 && (b - a) % 3 != 0) {
                points.insert(counts(rows, [0, -a, -b], 3));
            }
        }
        points
    }

    proptest! {
        /// All cells count, ties or not: the same hull as from a fine grid of thresholds.
        #[test]
        fn no_cell_is_missed(
            rows in proptest::collection::vec(([0i64..5, 0i64..5, 0i64..5], 0usize..3), 0..12),
            first in proptest::array::uniform3([0i64..5, 0i64..5, 0i64..5]),
        ) {
            let mut by_class = first.map(|row| vec![row]);
            rows.into_iter().for_each(|(row, class)| by_class[class].push(row));
            let got = surface_hull(&by_class);
            prop_assert!(got.is_exact);
            let [a, b, c] = std::array::from_fn(|class| by_class[class].len() as i64);
            let frame = [[0, 0, 0], [a, 0, 0], [0, b, 0], [0, 0, c]];
            let points = brute_force(&by_class);
            let below = points.iter().flat_map(|&[a, b, c]| [[a, b, c], [a, b, 0], [a, 0, c], [0, b, c]]);
            let expected = Hull::new(&frame.into_iter().chain(below).collect::<Vec<_>>());
            prop_assert_eq!(got.hull.six_volumes, expected.six_volumes);
        }
    }
}
