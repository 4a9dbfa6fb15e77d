//! The points of the simplex at which it may be split.

use calib_core::vector::SplitTree;

use super::split_search::child;

/// The points of the simplex whose entries are multiples of one over a whole number, in the order of their entries.
pub(crate) struct Grid {
    /// In the steps of [`SplitTree`].
    steps: Vec<Vec<i32>>,
    /// In the arithmetic of the authors' code, if that tells which points are in a region.
    floats: Option<Vec<Vec<f64>>>,
}

/// The most points.
const MAX_POINTS: usize = 1_000_000;

impl Grid {
    /// `None` if there are more than a million points.
    pub(crate) fn new(classes: usize, resolution: u16) -> Option<Self> {
        let entries = whole_parts(classes, resolution)?;
        let one = f64::from(1.0 / SplitTree::STEP);
        let steps = |entry: u16| (one * f64::from(entry) / f64::from(resolution)) as i32;
        let steps = entries.iter().map(|point| point.iter().map(|&entry| steps(entry)).collect()).collect();
        Some(Self { steps, floats: None })
    }

    /// As [`new`](Self::new), but where a point is as far beyond a split for one class as for another, rounding decides as
    /// in the authors' code: entries are multiples of a rounded step, the last one is what the others leave of one.
    pub(crate) fn paper_compatible(classes: usize, resolution: u16) -> Option<Self> {
        let step = 1.0 / f64::from(resolution);
        let floats = whole_parts(classes, resolution)?.into_iter().map(|point| {
            let mut floats: Vec<f64> = point.iter().map(|&entry| f64::from(entry) * step).collect();
            floats[classes - 1] = floats[..classes - 1].iter().fold(1.0, |left, entry| left - entry);
            floats
        });
        Some(Self { floats: Some(floats.collect()), ..Self::new(classes, resolution)? })
    }

    pub(crate) fn len(&self) -> usize {
        self.steps.len()
    }

    /// The point with this index.
    pub(crate) fn point(&self, index: usize) -> &[i32] {
        &self.steps[index]
    }

    /// Of the points with the given indices, those in each child of the split at one of them.
    pub(crate) fn divided(&self, inside: &[usize], gamma: &[i32]) -> Vec<Vec<usize>> {
        let mut children = vec![Vec::new(); gamma.len()];
        let at = inside.iter().find(|&&point| self.steps[point] == gamma);
        for &point in inside {
            let child = match (&self.floats, at) {
                (Some(floats), Some(&at)) => float_child(&floats[at], &floats[point]),
                _ => child(gamma, &self.steps[point]),
            };
            children[child].push(point);
        }
        children
    }
}

/// The child of a split that a row belongs to, the first among equals after rounding.
fn float_child(gamma: &[f64], row: &[f64]) -> usize {
    let beyond = |class: usize| row[class] - gamma[class];
    (1..row.len()).fold(0, |best, class| if beyond(class) > beyond(best) { class } else { best })
}

/// Vectors of whole numbers that sum to `total`, the first entry rising slowest; `None` if there are too many.
fn whole_parts(classes: usize, total: u16) -> Option<Vec<Vec<u16>>> {
    let mut points: Vec<Vec<u16>> = vec![Vec::new()];
    for class in 0..classes {
        points = points
            .into_iter()
            .flat_map(|point| {
                let left = total - point.iter().sum::<u16>();
                let from = if class + 1 == classes { left } else { 0 };
                (from..=left).map(move |entry| [&point[..], &[entry]].concat())
            })
            .take(MAX_POINTS + 1)
            .collect();
        if points.len() > MAX_POINTS {
            return None;
        }
    }
    Some(points)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_grid_is_the_simplex() {
        let grid = Grid::new(3, 4).unwrap();
        assert_eq!(grid.len(), 15);
        assert!(grid.steps.iter().all(|point| point.iter().sum::<i32>() == 1 << 30));
        assert!(Grid::new(10, 1000).is_none());
        assert_eq!(Grid::new(2, 2).unwrap().steps, [[0, 1 << 30], [1 << 29, 1 << 29], [1 << 30, 0]]);
    }

    /// .22 - .2 and .12 - .1 are equal except for rounding.
    #[test]
    fn rounding_decides_ties_as_the_authors_code_does() {
        let index = |grid: &Grid, point: [i32; 3]| {
            let steps = point.map(|entry| ((1i64 << 30) * i64::from(entry) / 100) as i32);
            (0..grid.len()).find(|&i| *grid.point(i) == steps).unwrap()
        };
        for (grid, expected) in
            [(Grid::new(3, 100).unwrap(), 0), (Grid::paper_compatible(3, 100).unwrap(), 2)]
        {
            let (at, tied) = (index(&grid, [20, 70, 10]), index(&grid, [22, 66, 12]));
            let children = grid.divided(&[at, tied], grid.point(at));
            assert!(children[expected].contains(&tied), "{expected}");
        }
    }
}
