//! Distributions of known truth.

use calib_host::BinaryData;
use rand::RngExt;
use rand_xoshiro::Xoshiro256PlusPlus;

/// How finely continuous distributions are integrated.
const CELLS: usize = 1 << 16;

/// A distribution of scores in `[0, 1]` and labels whose bins' true probabilities are known.
pub(super) struct Truth {
    pub(super) name: &'static str,
    /// The number of equally likely scores; `None` for a uniform distribution.
    atoms: Option<usize>,
    /// P(Y = 1 | score).
    prob: fn(f64) -> f64,
    /// The integral of `prob` over the distribution up to each of `CELLS + 1` evenly spaced points, or up to each atom.
    cumulative: Vec<f64>,
}

impl Truth {
    /// Scores uniform on `[0, 1]`.
    pub(super) fn uniform(name: &'static str, prob: fn(f64) -> f64) -> Self {
        let width = 1.0 / CELLS as f64;
        // Simpson's rule on every cell.
        let cell = |i: usize| {
            let lo = i as f64 * width;
            (prob(lo) + 4.0 * prob(lo + width / 2.0) + prob(lo + width)) * width / 6.0
        };
        Self { name, atoms: None, prob, cumulative: sums((0..CELLS).map(cell)) }
    }

    /// Scores uniform on `0, 1/(atoms - 1), ..., 1`.
    pub(super) fn atomic(name: &'static str, atoms: usize, prob: fn(f64) -> f64) -> Self {
        let mass = |i: usize| prob(score(i, atoms)) / atoms as f64;
        Self { name, atoms: Some(atoms), prob, cumulative: sums((0..atoms).map(mass)) }
    }

    /// Draws points; scores are `f32`.
    pub(super) fn draw(&self, n: usize, rng: &mut Xoshiro256PlusPlus) -> BinaryData {
        let (scores, labels) = self.points(n, rng).into_iter().unzip();
        BinaryData::new(scores, labels).expect("scores are in [0, 1]").on_device()
    }

    /// The same as scores and labels.
    pub(super) fn points(&self, n: usize, rng: &mut Xoshiro256PlusPlus) -> Vec<(f64, bool)> {
        let mut point = || {
            let score = match self.atoms {
                Some(atoms) => score(rng.random_range(0..atoms), atoms),
                None => f64::from(rng.random::<f32>()),
            };
            (score, rng.random::<f64>() < (self.prob)(score))
        };
        std::iter::repeat_with(&mut point).take(n).collect()
    }

    /// The probability that (score, word) is below (`edge`, `word`), and that it is and Y = 1.
    fn below(&self, edge: f64, word: f64) -> (f64, f64) {
        match self.atoms {
            Some(atoms) => {
                let nearest = (edge * (atoms - 1) as f64).round() as usize;
                let at = score(nearest, atoms) == edge;
                let lower = (0..atoms).position(|i| score(i, atoms) >= edge).unwrap_or(atoms);
                let share = if at { word } else { 0.0 };
                let prob = lower as f64 / atoms as f64 + share / atoms as f64;
                (prob, self.cumulative[lower] + share * (self.prob)(edge) / atoms as f64)
            }
            None => {
                let position = edge * CELLS as f64;
                let cell = (position as usize).min(CELLS - 1);
                let (lo, hi) = (self.cumulative[cell], self.cumulative[cell + 1]);
                (edge, lo + (hi - lo) * (position - cell as f64))
            }
        }
    }

    /// The probability of each bin between edges, as pairs of a score and a word in `[0, 1)`, and of Y = 1 in it.
    pub(super) fn bins(&self, edges: impl Iterator<Item = (f64, f64)>) -> Vec<(f64, f64)> {
        let mut last = (0.0, 0.0);
        let whole = (1.0, self.cumulative[self.cumulative.len() - 1]);
        edges
            .map(|(edge, word)| self.below(edge, word))
            .chain([whole])
            .map(|here| {
                let (mass, positive) = (here.0 - last.0, here.1 - last.1);
                last = here;
                (mass, if mass > 0.0 { positive / mass } else { 0.0 })
            })
            .collect()
    }
}

/// As the device sees it.
fn score(atom: usize, atoms: usize) -> f64 {
    f64::from((atom as f64 / (atoms - 1) as f64) as f32)
}

fn sums(values: impl Iterator<Item = f64>) -> Vec<f64> {
    let mut sum = 0.0;
    std::iter::once(0.0)
        .chain(values.map(|value| {
            sum += value;
            sum
        }))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bins_of_a_uniform_distribution() {
        let truth = Truth::uniform("square", |s| s * s);
        let bins = truth.bins([(0.25, 0.0), (0.5, 0.0)].into_iter());
        let integral = |lo: f64, hi: f64| (hi.powi(3) - lo.powi(3)) / (3.0 * (hi - lo));
        for ((mass, prob), (lo, hi)) in bins.iter().zip([(0.0, 0.25), (0.25, 0.5), (0.5, 1.0)]) {
            assert!((mass - (hi - lo)).abs() < 1e-12 && (prob - integral(lo, hi)).abs() < 1e-9);
        }
    }

    #[test]
    fn an_atom_is_shared_out_by_the_word() {
        let truth = Truth::atomic("two", 2, |s| s);
        // A quarter of the upper atom belongs to the lower bin.
        let bins = truth.bins([(1.0, 0.25)].into_iter());
        assert!((bins[0].0 - 0.625).abs() < 1e-12 && (bins[0].1 - 0.2).abs() < 1e-12);
        assert!((bins[1].0 - 0.375).abs() < 1e-12 && (bins[1].1 - 1.0).abs() < 1e-12);
    }
}
