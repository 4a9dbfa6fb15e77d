//! How often bands fail, over draws of labels of populations whose curves are known.

use calib_fit::bands::Band;
use calib_fit::{BinaryData, FitError};
use rand::{Rng, RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

/// A population: its name, a draw of a score from a uniform number, and the probability of label 1 at a score, which does not fall.
struct Population {
    name: &'static str,
    score: fn(f64) -> f64,
    prob: fn(f64) -> f64,
}

const POPULATIONS: [Population; 6] = [
    Population { name: "flat .3", score: |u| u, prob: |_| 0.3 },
    Population { name: "flat .01", score: |u| u, prob: |_| 0.01 },
    Population { name: "3 atoms", score: |u| (3.0 * u).floor() / 4.0, prob: |s| 0.1 + s },
    Population {
        name: "40 % zeros",
        score: |u| if u < 0.4 { 0.0 } else { (u - 0.4) / 0.6 },
        prob: |s| if s == 0.0 { 0.05 } else { 0.05 + 0.95 / (1.0 + (-20.0 * (s - 0.5)).exp()) },
    },
    Population { name: "steep", score: |u| u, prob: |s| 1.0 / (1.0 + (-60.0 * (s - 0.5)).exp()) },
    Population { name: "diagonal", score: |u| u, prob: |s| s },
];

impl Population {
    /// In how many of so many calibration sets the band misses the curve at some score, or is refused; and the mean width of the others.
    fn failures(&self, n: usize, alpha: f64, sets: u32, rng: &mut impl Rng) -> (u32, f64) {
        let mut failed = 0;
        let mut widths = 0.0;
        for _ in 0..sets {
            let scores: Vec<f64> = (0..n).map(|_| f64::from((self.score)(rng.random()) as f32)).collect();
            let labels = scores.iter().map(|&score| rng.random::<f64>() < (self.prob)(score)).collect();
            let band = match Band::fit(&BinaryData::new(scores.clone(), labels).unwrap(), alpha) {
                Ok(band) => band,
                Err(FitError::NotMonotone { .. }) => {
                    failed += 1;
                    continue;
                }
                Err(other) => panic!("{other}"),
            };
            // Between two scores at which the band changes it is flat, and the curve rises: what it leaves, it leaves at one of them.
            let steps = band.lower().scores().iter().chain(band.upper().scores()).copied();
            let around = steps.flat_map(|score| [score.next_down(), score, score.next_up()]);
            let holds = |score: f64| {
                let (interval, prob) = (band.at(score), (self.prob)(score));
                interval.lo <= prob && prob <= interval.hi
            };
            let holds = scores.iter().copied().all(holds)
                && (self.name == "3 atoms" || around.filter(|score| (0.0..=1.0).contains(score)).all(holds));
            failed += u32::from(!holds);
            widths += band.mean_width();
        }
        (failed, widths / f64::from(sets))
    }
}

/// With 200 sets more than 35 fail with a probability below one in a thousand if one in ten does.
#[test]
fn bands_hold_for_all_scores_together() {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(1);
    for population in &POPULATIONS {
        let (failed, _) = population.failures(200, 0.1, 200, &mut rng);
        assert!(failed <= 35, "{}: {failed} of 200", population.name);
    }
    // And not because they say nothing.
    let (failed, width) = POPULATIONS[0].failures(200, 0.5, 200, &mut rng);
    assert!(failed > 10 && width < 0.5, "{failed} of 200, {width}");
}
