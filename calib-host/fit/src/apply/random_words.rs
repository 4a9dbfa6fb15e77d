//! Random words in place of a device's.

use calib_core::Artifact;
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

/// The random words that stand in for a device's, one a row, drawn in row order: none if the artifact is not randomized.
///
/// Rows that come piece by piece take theirs from one of these.
///
/// ```
/// use calib_fit::apply::{RandomWords, calibrate};
/// use calib_fit::{BinaryMethod, BinaryData, StoredArtifact, Umd, artifact_bytes, fit_binary};
/// # use calib_core::Score;
/// # let scores = (0..400).map(|i| f64::from(i) / 400.0).collect();
/// # let data = BinaryData::new(scores, (0..400).map(|i| i % 40 < i / 20).collect())?;
/// # let fit = fit_binary(&data, &BinaryMethod::UmdRandomized(Umd::new(4), 1), 0.1)?;
/// # let stored = StoredArtifact::from_bytes(&artifact_bytes(&fit, &Default::default())?)?;
/// # let scores = [Score::ZERO, Score::ONE, Score::ZERO];
/// let artifact = stored.artifact();
/// let mut words = RandomWords::new(&artifact, 7);
/// let whole = calibrate(&artifact, scores[..].into(), words.clone())?;
/// words.skip_rows(1);
/// assert_eq!(calibrate(&artifact, scores[1..].into(), words)?, whole[1..]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct RandomWords {
    drawn_from: Option<Xoshiro256PlusPlus>,
}

impl RandomWords {
    /// Those of all rows.
    pub fn new(artifact: &Artifact<'_>, seed: u64) -> Self {
        let generator = || {
            let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed);
            // Far from the numbers that a fit draws from the same seed.
            rng.long_jump();
            rng
        };
        Self { drawn_from: artifact.is_randomized().then(generator) }
    }

    /// Leaves out those of so many rows.
    pub fn skip_rows(&mut self, rows: usize) {
        if self.drawn_from.is_some() {
            self.take(rows).for_each(drop);
        }
    }
}

/// Without an end: a word, or none, for every row.
impl Iterator for RandomWords {
    type Item = Option<u32>;

    fn next(&mut self) -> Option<Option<u32>> {
        Some(self.drawn_from.as_mut().map(RngExt::random))
    }
}
