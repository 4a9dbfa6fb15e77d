//! How often exact guarantees fail, over draws of calibration sets from populations whose event rates are known.

use calib_fit::{BinaryData, BinaryMethod, Umd, fit_binary};
use rand::{Rng, RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

/// A population: its name, a draw of a score from a uniform number, and the probability of label 1 at a score.
struct Population {
    name: &'static str,
    /// The inverse of the distribution function of scores.
    score: fn(f64) -> f64,
    prob: fn(f64) -> f64,
}

const POPULATIONS: [Population; 7] = [
    Population { name: "flat", score: |u| u, prob: |_| 0.5 },
    Population { name: "diagonal", score: |u| u, prob: |s| s },
    Population { name: "1 % positive", score: |u| u, prob: |s| 0.02 * s },
    Population { name: "steep", score: |u| u, prob: |s| 1.0 / (1.0 + (-60.0 * (s - 0.5)).exp()) },
    Population { name: "oscillating", score: |u| u, prob: |s| 0.5 + 0.4 * (40.0 * s).sin() },
    Population { name: "20 atoms", score: |u| (20.0 * u.sqrt()).floor() / 20.0, prob: |s| 0.1 + 0.8 * s },
    Population {
        name: "40 % zeros",
        score: |u| if u < 0.4 { 0.0 } else { (u - 0.4) / 0.6 },
        prob: |s| if s == 0.0 { 0.05 } else { 1.0 / (1.0 + (-20.0 * (s - 0.5)).exp()) },
    },
];

/// How fine the populations are: their event rates are means over so many scores.
const GRID: usize = 20_000;

impl Population {
    /// The scores of the population on a grid, ascending, each with the sum of probabilities before it.
    fn grid(&self) -> (Vec<f64>, Vec<f64>) {
        let scores: Vec<f64> =
            (0..GRID).map(|i| f64::from((self.score)((i as f64 + 0.5) / GRID as f64) as f32)).collect();
        let mut sums = vec![0.0];
        for &score in &scores {
            sums.push(sums[sums.len() - 1] + (self.prob)(score));
        }
        (scores, sums)
    }

    /// In how many of so many calibration sets an interval misses its bin's event rate, and a value is further from it than epsilon.
    fn failures(&self, n: usize, alpha: f64, sets: u32, rng: &mut impl Rng) -> [u32; 2] {
        let (grid, sums) = self.grid();
        let bins = Umd::suitable_bins(n as u64);
        let mut missed = [0, 0];
        for _ in 0..sets {
            let scores: Vec<f64> = (0..n).map(|_| f64::from((self.score)(rng.random()) as f32)).collect();
            let labels = scores.iter().map(|&score| rng.random::<f64>() < (self.prob)(score)).collect();
            let data = BinaryData::new(scores, labels).unwrap();
            let fit = fit_binary(&data, &BinaryMethod::Umd(Umd::new(bins)), alpha).unwrap();
            let table = fit.tables()[0].as_ref().unwrap();
            let steps = table.model().steps().unwrap();
            let ends: Vec<usize> = std::iter::once(0)
                .chain(steps.edges.iter().map(|edge| grid.partition_point(|score| score < edge)))
                .chain([GRID])
                .collect();
            let epsilon = fit.guarantee().unwrap().epsilon;
            let (mut outside, mut beyond) = (false, false);
            for (bin, ends) in ends.windows(2).enumerate().filter(|(_, ends)| ends[0] < ends[1]) {
                let rate = (sums[ends[1]] - sums[ends[0]]) / (ends[1] - ends[0]) as f64;
                let interval = table.intervals()[bin];
                outside |= !(interval.lo..=interval.hi).contains(&rate);
                beyond |= (steps.bins[bin].value - rate).abs() > epsilon;
            }
            missed[0] += u32::from(outside);
            missed[1] += u32::from(beyond);
        }
        missed
    }
}

/// A few hundred sets each: with 400 sets more than 60 fail with a probability below one in a thousand if one in ten does.
#[test]
fn intervals_of_all_bins_hold_together() {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(1);
    for population in &POPULATIONS {
        let [outside, beyond] = population.failures(300, 0.1, 400, &mut rng);
        assert!(outside <= 60 && beyond <= outside, "{}: {outside}, {beyond} of 400", population.name);
    }
}
