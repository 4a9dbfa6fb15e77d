//! Distributions of known truth.

use calib_host::BinaryData;
use rand::RngExt;
use rand_xoshiro::Xoshiro256PlusPlus;

/// How finely continuous distributions are integrated.
const CELLS: usize = 1 << 16;

/// A distribution of scores in `[0, 1]` and labels whose bins' true probabilities are known.
pub struct Truth {
    /// What it is called in tables.
    pub name: &'static str,
    scores: Scores,
    /// P(Y = 1 | score).
    prob: fn(f64) -> f64,
    /// The integral of `prob` over uniform scores up to each of `CELLS + 1` evenly spaced points, or the sums over the atoms up to each.
    cumulative: Vec<f64>,
}

/// How scores are spread.
enum Scores {
    /// Uniform, but for a share of zeros.
    Uniform { zeros: f64 },
    /// Single scores, ascending, and the probability of a lower one for each and after the last.
    Atoms { scores: Vec<f64>, below: Vec<f64> },
}

impl Truth {
    /// Scores uniform on `[0, 1]`.
    pub fn uniform(name: &'static str, prob: fn(f64) -> f64) -> Self {
        Self::with_zeros(name, 0.0, prob)
    }

    /// Scores uniform on `[0, 1]`, but for a share that is 0.
    pub fn with_zeros(name: &'static str, zeros: f64, prob: fn(f64) -> f64) -> Self {
        let width = 1.0 / CELLS as f64;
        // Simpson's rule on every cell.
        let cell = |i: usize| {
            let lo = i as f64 * width;
            (prob(lo) + 4.0 * prob(lo + width / 2.0) + prob(lo + width)) * width / 6.0
        };
        Self { name, scores: Scores::Uniform { zeros }, prob, cumulative: sums((0..CELLS).map(cell)) }
    }

    /// Scores `0, 1/(n - 1), ..., 1`, each with a weight.
    pub fn atoms(name: &'static str, weights: &[f64], prob: fn(f64) -> f64) -> Self {
        let whole: f64 = weights.iter().sum();
        let most = (weights.len() - 1) as f64;
        // As the device sees them.
        let scores: Vec<f64> = (0..weights.len()).map(|i| f64::from((i as f64 / most) as f32)).collect();
        let cumulative =
            sums(scores.iter().zip(weights).map(|(&score, weight)| prob(score) * weight / whole));
        let below = sums(weights.iter().map(|weight| weight / whole));
        Self { name, scores: Scores::Atoms { scores, below }, prob, cumulative }
    }

    /// Returns the probability that a label at this score is 1.
    pub fn prob(&self, score: f64) -> f64 {
        (self.prob)(score)
    }

    /// Draws points; scores are `f32`.
    pub fn draw(&self, n: usize, rng: &mut Xoshiro256PlusPlus) -> BinaryData {
        let (scores, labels) = self.points(n, rng).into_iter().unzip();
        BinaryData::new(scores, labels).expect("scores are in [0, 1]").on_device()
    }

    /// The same as scores and labels.
    pub fn points(&self, n: usize, rng: &mut Xoshiro256PlusPlus) -> Vec<(f64, bool)> {
        let mut point = || {
            let score = match &self.scores {
                Scores::Uniform { zeros } if *zeros > 0.0 && rng.random_bool(*zeros) => 0.0,
                Scores::Uniform { .. } => f64::from(rng.random::<f32>()),
                Scores::Atoms { scores, below } => {
                    let word: f64 = rng.random();
                    scores[below[1..scores.len()].partition_point(|&below| below <= word)]
                }
            };
            (score, rng.random::<f64>() < (self.prob)(score))
        };
        std::iter::repeat_with(&mut point).take(n).collect()
    }

    /// The probability that (score, word) is below (`edge`, `word`), and that it is and Y = 1.
    fn below(&self, edge: f64, word: f64) -> (f64, f64) {
        match &self.scores {
            Scores::Atoms { scores, below } => {
                let lower = scores.partition_point(|&score| score < edge);
                let at = scores.get(lower).is_some_and(|&score| score == edge);
                let share = if at { word * (below[lower + 1] - below[lower]) } else { 0.0 };
                (below[lower] + share, self.cumulative[lower] + share * (self.prob)(edge))
            }
            Scores::Uniform { zeros } => {
                let share = zeros * if edge > 0.0 { 1.0 } else { word };
                let position = edge * CELLS as f64;
                let cell = (position as usize).min(CELLS - 1);
                let (lo, hi) = (self.cumulative[cell], self.cumulative[cell + 1]);
                let positive = lo + (hi - lo) * (position - cell as f64);
                (share + (1.0 - zeros) * edge, share * (self.prob)(0.0) + (1.0 - zeros) * positive)
            }
        }
    }

    /// Returns the probability of each bin between edges, as pairs of a score and a word in `[0, 1)`, and of Y = 1 in it.
    pub fn bins(&self, edges: impl Iterator<Item = (f64, f64)>) -> Vec<(f64, f64)> {
        let mut last = (0.0, 0.0);
        // Beyond all scores.
        let whole = match self.scores {
            Scores::Uniform { .. } => self.below(1.0, 1.0),
            Scores::Atoms { .. } => self.below(2.0, 0.0),
        };
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
    use rand::SeedableRng;

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
        let truth = Truth::atoms("two", &[1.0, 1.0], |s| s);
        // A quarter of the upper atom belongs to the lower bin.
        let bins = truth.bins([(1.0, 0.25)].into_iter());
        assert!((bins[0].0 - 0.625).abs() < 1e-12 && (bins[0].1 - 0.2).abs() < 1e-12);
        assert!((bins[1].0 - 0.375).abs() < 1e-12 && (bins[1].1 - 1.0).abs() < 1e-12);
    }

    #[test]
    fn zeros_are_one_atom_of_their_own() {
        let truth = Truth::with_zeros("zeros", 0.4, |s| if s == 0.0 { 0.1 } else { s });
        // The zeros and a sixth of the others; half of the zeros.
        for (edge, word, mass, positive) in [(0.25, 0.0, 0.55, 0.04 + 0.6 * 0.03125), (0.0, 0.5, 0.2, 0.02)] {
            let bins = truth.bins([(edge, word)].into_iter());
            assert!((bins[0].0 - mass).abs() < 1e-9 && (bins[0].1 - positive / mass).abs() < 1e-4);
            assert!((bins[1].0 - (1.0 - mass)).abs() < 1e-9);
        }
    }

    #[test]
    fn atoms_are_drawn_by_their_weights() {
        let truth = Truth::atoms("three", &[1.0, 2.0, 1.0], |s| s);
        let points = truth.points(4000, &mut Xoshiro256PlusPlus::seed_from_u64(1));
        for (score, share) in [(0.0, 0.25), (0.5, 0.5), (1.0, 0.25)] {
            let found = points.iter().filter(|point| point.0 == score).count() as f64 / 4000.0;
            assert!((found - share).abs() < 0.04, "{score}: {found}");
        }
    }
}
