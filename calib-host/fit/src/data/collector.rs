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

    /// Returns the points; `None` if there were none.
    ///
    /// # Errors
    ///
    /// If the temporary file cannot be written.
    pub fn finish(self) -> io::Result<Option<BinaryData>> {
        let data = BinaryData::from_collected(self.points.finish()?);
        Ok((data.len() > 0).then_some(data))
    }
}
