//! Whether a split of the simplex keeps the order of the values (Berta, Bach and Jordan 2024, Definition 3.2).

/// Rounding that a difference of probabilities may show.
const TOLERANCE: f64 = 1e-12;

/// What the values at the points on the sides of one split leave of the room between them: for every two classes `k` and
/// `l`, the least of `r_k - r_l`, and a region that has it. The least is over the values `r` of the points on the side of
/// class `k`.
///
/// The values keep the order of the split if some `gamma'` puts them all on their sides: `gamma'_k - gamma'_l` is at most the
/// bound of `k` and `l`, for all `k` and `l`. Such a `gamma'` exists if no cycle of bounds sums to less than 0; for pairs of
/// classes alone, if no cycle of two does.
pub(crate) struct Bounds {
    classes: usize,
    /// Row-major, infinite where nothing bounds.
    bounds: Vec<Bound>,
}

/// The least of a difference of two entries.
#[derive(Clone, Copy)]
struct Bound {
    least: f64,
    region: usize,
}

impl Bounds {
    pub(crate) fn new(classes: usize) -> Self {
        Self { classes, bounds: vec![Bound { least: f64::INFINITY, region: 0 }; classes * classes] }
    }

    /// Becomes the same as others of as many classes, without taking new memory.
    pub(crate) fn set(&mut self, others: &Self) {
        self.bounds.copy_from_slice(&others.bounds);
    }

    /// Takes account of points on a side, in a region with values `probs`.
    pub(crate) fn add(&mut self, side: usize, probs: &[f64], region: usize) {
        let row = &mut self.bounds[side * self.classes..][..self.classes];
        for (bound, prob) in row.iter_mut().zip(probs) {
            let difference = probs[side] - prob;
            if difference < bound.least {
                *bound = Bound { least: difference, region };
            }
        }
    }

    /// The regions whose values leave some pair of classes no threshold between them; `None` if every pair has one.
    pub(crate) fn pair_in_conflict(&self) -> Option<Vec<usize>> {
        let bound = |k: usize, l: usize| self.bounds[k * self.classes + l];
        let mut pairs = (0..self.classes).flat_map(|k| (0..k).map(move |l| (bound(k, l), bound(l, k))));
        pairs
            .find(|(one, other)| one.least + other.least < -TOLERANCE)
            .map(|(one, other)| vec![one.region, other.region])
    }

    /// The regions whose values, taken together, leave no threshold between all classes; `None` if there is one (no cycle is
    /// negative: Floyd and Warshall).
    pub(crate) fn all_in_conflict(&self) -> Option<Vec<usize>> {
        let l = self.classes;
        let mut shortest: Vec<f64> = self.bounds.iter().map(|bound| bound.least).collect();
        for middle in 0..l {
            for from in 0..l {
                for to in 0..l {
                    let through = shortest[from * l + middle] + shortest[middle * l + to];
                    if through < shortest[from * l + to] {
                        shortest[from * l + to] = through;
                    }
                }
            }
        }
        let is_free = (0..l).all(|class| shortest[class * l + class] >= -TOLERANCE);
        let finite = || self.bounds.iter().filter(|bound| bound.least.is_finite());
        (!is_free).then(|| finite().map(|bound| bound.region).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_values_out_of_order_are_found_with_their_regions() {
        let mut bounds = Bounds::new(2);
        bounds.add(0, &[0.7, 0.3], 3);
        bounds.add(1, &[0.4, 0.6], 4);
        assert_eq!((bounds.pair_in_conflict(), bounds.all_in_conflict()), (None, None));
        // A region on the side of class 1 with more of class 0 than one on the side of class 0.
        bounds.add(1, &[0.8, 0.2], 5);
        assert_eq!(bounds.pair_in_conflict(), Some(vec![5, 3]));
        assert!(bounds.all_in_conflict().is_some_and(|regions| regions.contains(&3) && regions.contains(&5)));
    }

    /// Each pair can be separated, but every class is separated from the next by a threshold that increases: around the
    /// circle none is left.
    #[test]
    fn a_circle_of_three_is_only_found_jointly() {
        let mut bounds = Bounds::new(3);
        bounds.add(0, &[0.3, 0.6, 0.1], 0);
        bounds.add(1, &[0.1, 0.3, 0.6], 1);
        bounds.add(2, &[0.6, 0.1, 0.3], 2);
        // -0.3 one way, 0.2 the other.
        assert!(bounds.pair_in_conflict().is_some());
        let mut bounds = Bounds::new(3);
        bounds.add(0, &[0.3, 0.4, 0.3 - 0.25], 0);
        bounds.add(1, &[0.3 - 0.25, 0.3, 0.4], 1);
        bounds.add(2, &[0.4, 0.3 - 0.25, 0.3], 2);
        assert_eq!(bounds.pair_in_conflict(), None);
        assert!(bounds.all_in_conflict().is_some());
    }

    #[test]
    fn a_side_without_points_bounds_nothing() {
        let mut bounds = Bounds::new(3);
        bounds.add(0, &[0.2, 0.5, 0.3], 0);
        bounds.add(2, &[0.2, 0.4, 0.4], 1);
        assert_eq!((bounds.pair_in_conflict(), bounds.all_in_conflict()), (None, None));
    }
}
