//! Whether rows are other rows again, beyond what equal scores explain.

use std::collections::HashMap;
use std::fmt;

use super::rows_digest::{MOST, RowsDigest, RowsSketch};

/// That test rows are calibration rows, all of them or some.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize)]
pub struct Overlap {
    /// About which share of the test rows are calibration rows.
    share: f64,
    /// Whether both are the same rows.
    is_exact: bool,
}

/// Independent rows are said to overlap with at most this probability.
const LEVEL: f64 = 0.01;

/// Of a row that occurs more often, copies tell nothing from chance.
const MOST_OF_A_ROW: u64 = 1000;

/// How much each row counts for that is in both: nobody knows beforehand how many rows are shared, and how rare equal rows are.
const BETS: [f64; 5] = [1.0 / 16.0, 0.25, 1.0, 4.0, 16.0];

impl RowsDigest {
    /// Returns what rows have in common with these: `None` if it is no more than independent rows of the same distribution may have in
    /// common.
    ///
    /// ```
    /// use calib_fit::data::RowsDigest;
    ///
    /// let of = |rows: std::ops::Range<u16>| RowsDigest::of_scores(rows.map(|i| (f32::from(i) / 1024.0, i % 3 == 0, 1)));
    /// assert!(of(0..600).overlap(&of(0..600)).unwrap().is_exact());
    /// assert_eq!(of(0..600).overlap(&of(0..400)).unwrap().to_string(), "nearly all of these rows are rows");
    /// assert_eq!(of(0..600).overlap(&of(300..900)).unwrap().to_string(), "about 50% of these rows are rows");
    /// assert_eq!(of(0..500).overlap(&of(500..1000)), None);
    /// ```
    pub fn overlap(&self, others: &Self) -> Option<Overlap> {
        match self.hash == others.hash {
            true => Some(Overlap::exact()),
            false => self.sketch.overlap(&others.sketch),
        }
    }
}

impl Overlap {
    /// That both are the same rows.
    pub fn exact() -> Self {
        Self { share: 1.0, is_exact: true }
    }

    /// About which share of the test rows are calibration rows, in `[0, 1]`.
    pub fn share(self) -> f64 {
        self.share
    }

    /// Whether both are the same rows.
    pub fn is_exact(self) -> bool {
        self.is_exact
    }

    /// Whether half of the test rows or more are calibration rows, so that nothing is judged by them.
    pub fn is_most(self) -> bool {
        self.share >= 0.5
    }

    /// What is wrong with figures of these rows, in sentences.
    pub fn warning(self) -> String {
        match (self.is_exact, self.is_most()) {
            (true, _) => {
                "The test data are the calibration data: every figure here is optimistically biased.".into()
            }
            (false, true) => format!(
                "The test data overlap with the calibration data: {} of the test rows are calibration rows. Every figure here is \
                 optimistically biased, and shows nothing about new rows.",
                self.amount()
            ),
            (false, false) => format!(
                "The test data overlap with the calibration data: {} of the test rows are calibration rows. Every figure here is \
                 optimistically biased.",
                self.amount()
            ),
        }
    }

    fn amount(self) -> String {
        match (100.0 * self.share).round() {
            99.0.. => "nearly all".into(),
            percent => format!("about {}%", percent.max(1.0)),
        }
    }
}

/// As the beginning of a sentence about rows, which ends with whose rows they are.
impl fmt::Display for Overlap {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.is_exact {
            true => f.write_str("these are the rows"),
            false => write!(f, "{} of these rows are rows", self.amount()),
        }
    }
}

impl RowsSketch {
    /// Returns which share of the `test` rows are among these, if that is more than chance.
    ///
    /// Different patients may have the same score and label. So rows are compared that are equal: let one occur `a` times here and `b` times
    /// there, of `n` and `m` rows, and let `r = n / m`. There are `a (a - 1) / 2` and `b (b - 1) / 2` pairs within the sets. Divided by
    /// `r` and multiplied by it, independent rows have on average as many of them as of the `a b` pairs between the sets: the rest are
    /// copies.
    /// Independent rows that are distributed otherwise have fewer pairs between them. So the product of the factors of all
    /// rows by which a bet on copies grows, of mean at most 1, is an e-value, wherever the sketch ends.
    pub(super) fn overlap(&self, test: &Self) -> Option<Overlap> {
        let ratio = self.rows() as f64 / test.rows() as f64;
        let pairs = |a: u64, b: u64| {
            let (a, b) = (a as f64, b as f64);
            a * b - (a * (a - 1.0) / ratio + ratio * b * (b - 1.0)) / 2.0
        };
        let (mut copies, mut rows, mut growth) = (0.0, 0.0, [0.0; BETS.len()]);
        let mut means = HashMap::new();
        // What is stored of a row that occurs too often is not how often.
        let known = |&[a, b]: &[u64; 2]| a < MOST && a + b <= MOST_OF_A_ROW;
        for [a, b] in self.beside(test).into_iter().filter(known) {
            let all = a + b;
            let weight = 2.0 / all.max(2) as f64;
            copies += weight * pairs(a, b);
            rows += weight * b as f64;
            let means = means.entry(all).or_insert_with(|| {
                let chances = binomial(all, ratio / (1.0 + ratio));
                let gains: Vec<f64> = (0..=all).map(|a| weight * pairs(a, all - a)).collect();
                BETS.map(|bet| {
                    ln_sum_exp(chances.iter().zip(&gains).map(|(chance, gain)| chance + bet * gain))
                })
            });
            for ((growth, bet), mean) in growth.iter_mut().zip(BETS).zip(means) {
                *growth += bet * weight * pairs(a, b) - *mean;
            }
        }
        let e_value = growth.iter().map(|growth| growth.exp()).sum::<f64>() / BETS.len() as f64;
        (e_value >= 1.0 / LEVEL).then(|| Overlap { share: (copies / rows).clamp(0.0, 1.0), is_exact: false })
    }
}

/// The logarithms of the probabilities of 0 to `n` successes.
fn binomial(n: u64, p: f64) -> Vec<f64> {
    let mut ways = 0.0;
    let chance = |k: u64| {
        if k > 0 {
            ways += ((n - k + 1) as f64 / k as f64).ln();
        }
        ways + k as f64 * p.ln() + (n - k) as f64 * (1.0 - p).ln()
    };
    (0..=n).map(chance).collect()
}

fn ln_sum_exp(terms: impl Iterator<Item = f64> + Clone) -> f64 {
    let largest = terms.clone().fold(f64::NEG_INFINITY, f64::max);
    largest + terms.map(|term| (term - largest).exp()).sum::<f64>().ln()
}

#[cfg(test)]
mod tests {
    use rand::seq::SliceRandom;
    use rand::{Rng, RngExt, SeedableRng};
    use rand_xoshiro::Xoshiro256PlusPlus;

    use super::*;
    use crate::data::RowsDigest;

    type Rows = Vec<(f32, bool)>;

    /// Scores that never repeat, with up to three and two decimals, as 8-bit codes, rare ones, and those of which 40 % are 0.
    const LAWS: [fn(f64) -> f64; 6] = [
        |s| s,
        |s| (1000.0 * s).round() / 1000.0,
        |s| (100.0 * s).round() / 100.0,
        |s| (256.0 * s).floor() / 256.0,
        |s| (256.0 * s * s * s * s).floor() / 256.0,
        |s| (s - 0.4).max(0.0),
    ];

    fn drawn(law: fn(f64) -> f64, n: usize, rng: &mut impl Rng) -> Rows {
        let row = |rng: &mut _| {
            let score = law(RngExt::random::<f64>(rng));
            (score as f32, RngExt::random::<f64>(rng) < score)
        };
        (0..n).map(|_| row(rng)).collect()
    }

    /// What an artifact that was fitted to rows says of test rows.
    fn found(fitted: &Rows, test: &Rows) -> Option<Overlap> {
        let of = |rows: &Rows| RowsDigest::of_scores(rows.iter().map(|&(score, label)| (score, label, 1)));
        RowsSketch::from_bytes(&of(fitted).sketch.to_bytes()).unwrap().overlap(&of(test).sketch)
    }

    /// Of 600 rows of an artifact, 599, 400 and 60 are recognized if scores hardly repeat, separately and among others. If scores repeat
    /// often, all except the last are.
    #[test]
    fn rows_of_the_fit_are_known_again() {
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(1);
        for (at, law) in LAWS.into_iter().enumerate() {
            let repeats = (1..5).contains(&at);
            for (shared, others) in [(599, 0), (599, 1), (400, 0), (400, 200), (60, 0)] {
                let (mut seen, mut off) = (0, 0.0f64);
                for _ in 0..20 {
                    let fitted = drawn(law, 600, &mut rng);
                    let mut test = fitted.clone();
                    test.shuffle(&mut rng);
                    test.truncate(shared);
                    test.extend(drawn(law, others, &mut rng));
                    test.shuffle(&mut rng);
                    if let Some(overlap) = found(&fitted, &test) {
                        seen += 1;
                        let truth = shared as f64 / (shared + others) as f64;
                        off = off.max((overlap.share() - truth).abs());
                        assert!(!overlap.is_exact());
                    }
                }
                let least = match (shared, repeats) {
                    (60, true) => 0,
                    (60, false) => 14,
                    (400, _) if others > 0 => 17,
                    _ => 20,
                };
                assert!(seen >= least, "law {at}, {shared} and {others}: seen {seen} times");
                assert!(off < 0.25, "law {at}, {shared} and {others}: off by {off}");
            }
        }
    }

    /// Independent rows are hardly ever taken for copies, however often scores repeat, whatever the numbers of rows, and if the test rows
    /// are distributed otherwise.
    #[test]
    fn independent_rows_are_no_copies() {
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(2);
        let (mut sets, mut wrong) = (0, 0);
        for law in LAWS {
            for (fitted, test) in [(600, 600), (30, 40), (200, 4000), (4000, 200)] {
                for _ in 0..60 {
                    let fitted = drawn(law, fitted, &mut rng);
                    let mut others = drawn(law, test, &mut rng);
                    if sets % 2 == 1 {
                        // More of the high scores, or of the positives.
                        others.retain(|row| f64::from(row.0) > rng.random::<f64>() || row.1);
                    }
                    sets += 1;
                    wrong += u32::from(found(&fitted, &others).is_some());
                }
            }
        }
        assert!(wrong <= 3, "{wrong} of {sets}");
        let none = Rows::new();
        assert_eq!(found(&none, &none), None);
        assert_eq!(found(&drawn(LAWS[0], 9, &mut rng), &none), None);
    }

    /// The factor by which a bet on copies grows has the mean 1 if there are none, for any number of equal rows.
    #[test]
    fn chances_of_equal_rows_are_those_of_the_binomial_law() {
        for (n, p) in [(1, 0.5), (7, 0.2), (1000, 0.9), (40, 1e-4)] {
            let chances = binomial(n, p);
            assert!(ln_sum_exp(chances.iter().copied()).abs() < 1e-9);
            let mean: f64 = chances.iter().enumerate().map(|(k, chance)| k as f64 * chance.exp()).sum();
            assert!((mean - n as f64 * p).abs() < 1e-9 * n as f64);
        }
    }
}
