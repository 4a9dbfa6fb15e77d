//! Whether splits of the simplex keep the order of the values (Berta, Bach and Jordan 2024, Definition 3.2).

/// Rounding that a difference of probabilities may show.
const TOLERANCE: f64 = 1e-12;

/// How far apart values may be told, for one split: `bound(k, l)` is the least of `r_k - r_l` over the values `r` of the
/// regions with points under child `k`.
///
/// The values keep the order of the split if some `gamma'` puts them all on their sides: `gamma'_k - gamma'_l <= bound(k,
/// l)` for all `k` and `l`. Such a `gamma'` exists if no cycle of bounds sums to less than 0; for pairs of classes alone,
/// if no cycle of two does.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Bounds {
    classes: usize,
    /// Row-major, infinite where nothing bounds.
    bounds: Vec<f64>,
}

impl Bounds {
    pub(crate) fn new(classes: usize) -> Self {
        Self { classes, bounds: vec![f64::INFINITY; classes * classes] }
    }

    /// Takes account of a region with values `probs` under `child`.
    pub(crate) fn add(&mut self, child: usize, probs: &[f64]) {
        let row = &mut self.bounds[child * self.classes..][..self.classes];
        for (bound, prob) in row.iter_mut().zip(probs) {
            *bound = bound.min(probs[child] - prob);
        }
    }

    /// Whether every pair of classes on its own has a threshold between them.
    pub(crate) fn is_pairwise_feasible(&self) -> bool {
        let l = self.classes;
        (0..l).all(|i| (0..i).all(|j| self.bounds[i * l + j] + self.bounds[j * l + i] >= -TOLERANCE))
    }

    /// Whether all have one together: no cycle is negative (Floyd and Warshall).
    pub(crate) fn is_jointly_feasible(&self) -> bool {
        let l = self.classes;
        let mut shortest = self.bounds.clone();
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
        (0..l).all(|class| shortest[class * l + class] >= -TOLERANCE)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_values_out_of_order_are_found() {
        let mut bounds = Bounds::new(2);
        bounds.add(0, &[0.7, 0.3]);
        bounds.add(1, &[0.4, 0.6]);
        assert!(bounds.is_pairwise_feasible() && bounds.is_jointly_feasible());
        // A region on the side of class 1 with more of class 0 than one on the side of class 0.
        bounds.add(1, &[0.8, 0.2]);
        assert!(!bounds.is_pairwise_feasible() && !bounds.is_jointly_feasible());
    }

    /// Each pair can be told apart, but every class is told from the next by a threshold that goes up: around the
    /// circle none is left.
    #[test]
    fn a_circle_of_three_is_only_found_jointly() {
        let mut bounds = Bounds::new(3);
        bounds.add(0, &[0.3, 0.6, 0.1]);
        bounds.add(1, &[0.1, 0.3, 0.6]);
        bounds.add(2, &[0.6, 0.1, 0.3]);
        // -0.3 one way, 0.2 the other.
        let mut pairs = bounds.clone();
        assert!(!pairs.is_pairwise_feasible());
        pairs = Bounds::new(3);
        pairs.add(0, &[0.3, 0.4, 0.3 - 0.25]);
        pairs.add(1, &[0.3 - 0.25, 0.3, 0.4]);
        pairs.add(2, &[0.4, 0.3 - 0.25, 0.3]);
        assert!(pairs.is_pairwise_feasible() && !pairs.is_jointly_feasible());
    }

    #[test]
    fn a_child_without_points_bounds_nothing() {
        let mut bounds = Bounds::new(3);
        bounds.add(0, &[0.2, 0.5, 0.3]);
        bounds.add(2, &[0.2, 0.4, 0.4]);
        assert!(bounds.is_pairwise_feasible() && bounds.is_jointly_feasible());
    }
}
