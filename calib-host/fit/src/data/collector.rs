//! Collecting points that come piece by piece, and may be more than fit into memory.

use std::io;

use calib_core::Score;

use super::binary::BinaryData;
use crate::points::{Collected, Collector, Packed, Passes, packed};

/// How many points of 4 bytes calib keeps in memory. If there are more, all go to a temporary file.
pub const IN_MEMORY_POINTS: usize = 1 << 25;

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

/// Collects scores as they are, piece by piece, with labels: packed as long as all of them are of the device's `f32`; the first that
/// is not makes all of them rows in memory.
///
/// ```
/// use calib_fit::data::ExactCollector;
///
/// let mut points = ExactCollector::new(1000);
/// points.extend(&[0.5, 0.25], &[true, false])?;
/// points.extend(&[0.1], &[true])?;
/// assert_eq!(points.finish()?.map(|data| data.len()), Some(3));
/// # Ok::<(), std::io::Error>(())
/// ```
pub struct ExactCollector {
    packed: Collector,
    rows: Option<Vec<(f64, u64, u64)>>,
    in_memory: usize,
}

impl ExactCollector {
    /// Keeps up to `in_memory` packed points, of 4 bytes each, in memory.
    pub fn new(in_memory: usize) -> Self {
        Self { packed: Collector::new(in_memory), rows: None, in_memory }
    }

    /// Adds scores in `[0, 1]` with their labels.
    ///
    /// # Errors
    ///
    /// If the temporary file cannot be made, written or read back.
    ///
    /// # Panics
    ///
    /// If a score is not in `[0, 1]`.
    pub fn extend(&mut self, scores: &[f64], labels: &[bool]) -> io::Result<()> {
        assert!(
            scores.iter().fold(true, |are, score| are & (0.0..=1.0).contains(score)),
            "the scores are in [0, 1]"
        );
        let are_singles = || scores.iter().fold(true, |are, &score| are & (f64::from(score as f32) == score));
        if self.rows.is_none() && !are_singles() {
            self.unpack()?;
        }
        let pairs = scores.iter().zip(labels);
        match &mut self.rows {
            Some(rows) => {
                rows.extend(pairs.map(|(&score, &label)| (score, 1, u64::from(label))));
                Ok(())
            }
            // The negative zero is the score 0.
            None => {
                self.packed.extend(pairs.map(|(&score, &label)| packed::pack_bits(score as f32 + 0.0, label)))
            }
        }
    }

    fn unpack(&mut self) -> io::Result<()> {
        let packed = std::mem::replace(&mut self.packed, Collector::new(self.in_memory)).finish()?;
        let row = |&point: &Packed| (packed::score(point), 1, u64::from(packed::label(point)));
        self.rows = Some(match packed {
            None => Vec::new(),
            Some(Collected::Memory(points)) => points.iter().map(row).collect(),
            Some(Collected::Spill(points)) => {
                let add = |rows: &mut Vec<_>, part: &[Packed]| rows.extend(part.iter().map(row));
                let all = points.fold(&Vec::new, &add, &|rows, others| rows.extend(others));
                all.map_err(io::Error::other)?
            }
        });
        Ok(())
    }

    /// Returns the points; `None` if there were none.
    ///
    /// # Errors
    ///
    /// If the temporary file cannot be written.
    pub fn finish(self) -> io::Result<Option<BinaryData>> {
        Ok(match self.rows {
            Some(rows) => {
                (!rows.is_empty()).then(|| BinaryData::from_counts(rows).expect("scores are in [0, 1]"))
            }
            None => self.packed.finish()?.map(BinaryData::from_collected),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whether the first score that is no `f32` finds the others in memory or on a disk.
    #[test]
    fn a_score_that_is_no_single_loses_none_of_those_before_it() {
        let scores: Vec<f64> = (0..1000).map(|i| f64::from(i % 37) / 64.0).chain([0.1, 0.5]).collect();
        let labels: Vec<bool> = (0..scores.len()).map(|i| i % 3 == 0).collect();
        let expected = BinaryData::new(scores.clone(), labels.clone()).unwrap();
        for in_memory in [0, 500, usize::MAX] {
            let mut points = ExactCollector::new(in_memory);
            for (scores, labels) in scores.chunks(100).zip(labels.chunks(100)) {
                points.extend(scores, labels).unwrap();
            }
            assert_eq!(points.finish().unwrap().unwrap(), expected, "{in_memory}");
        }
    }
}
