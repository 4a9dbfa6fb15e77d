//! Collecting points that come piece by piece, and may be more than fit into memory.

use std::io;

use calib_core::Score;

use super::binary::BinaryData;
use crate::points::{Collector, packed};

/// Collects scores and labels piece by piece: in memory as long as they are few, then in a temporary file without a name.
///
/// ```
/// use calib_core::Score;
/// use calib_fit::data::BinaryCollector;
///
/// let mut points = BinaryCollector::new(1000);
/// points.extend([(Score::ZERO, false), (Score::ONE, true)])?;
/// points.extend([(Score::ONE, false)])?;
/// assert_eq!(points.finish()?.map(|data| data.len()), Some(3));
/// # Ok::<(), std::io::Error>(())
/// ```
pub struct BinaryCollector {
    points: Collector,
}

impl BinaryCollector {
    /// Keeps up to `in_memory` points, of 4 bytes each, in memory.
    pub fn new(in_memory: usize) -> Self {
        Self { points: Collector::new(in_memory) }
    }

    /// Adds points: scores of class 1 with their labels.
    ///
    /// # Errors
    ///
    /// If the temporary file cannot be made or written.
    pub fn extend(&mut self, points: impl IntoIterator<Item = (Score, bool)>) -> io::Result<()> {
        self.points.extend(points.into_iter().map(|(score, label)| packed::pack(score, label)))
    }

    /// Adds points: scores of class 1 as the device sees them, each in `[0, 1]`, with their labels.
    ///
    /// # Errors
    ///
    /// If the temporary file cannot be made or written.
    ///
    /// # Panics
    ///
    /// If a score is not in `[0, 1]`, or there are not as many labels.
    pub fn extend_device_scores(&mut self, scores: &[f32], labels: &[bool]) -> io::Result<()> {
        assert_eq!(scores.len(), labels.len(), "every score has a label");
        let are_scores = scores.iter().fold(true, |are, score| are & (0.0..=1.0).contains(score));
        assert!(are_scores, "the scores are in [0, 1]");
        let packed = |(&score, &label): (&f32, &bool)| packed::pack_bits(score + 0.0, label);
        self.points.extend(scores.iter().zip(labels).map(packed))
    }

    /// Returns the points, in ascending order if they are in memory; `None` if there were none.
    ///
    /// # Errors
    ///
    /// If the temporary file cannot be written.
    pub fn finish(self) -> io::Result<Option<BinaryData>> {
        Ok(self.points.finish()?.map(BinaryData::from_collected))
    }
}
