//! Calibration vectors with labels.

use calib_core::{Logits, Probs};
use rayon::prelude::*;

use super::checks::check_labels;
use super::error::DataError;
use super::vectors::{VectorKind, Vectors, compare};

/// `n >= 1` checked vectors with their classes, in a separate order, so that no fit depends on the order of the rows.
#[derive(Clone, Debug, PartialEq)]
pub struct VectorData {
    /// Row-major, ascending entry by entry, then by label.
    values: Vec<f32>,
    labels: Vec<u16>,
    classes: usize,
    kind: VectorKind,
}

impl VectorData {
    /// Puts labels to vectors.
    ///
    /// # Errors
    ///
    /// Different numbers of rows, or a label that is no class.
    pub fn new(vectors: &Vectors, labels: &[i64]) -> Result<Self, DataError> {
        let classes = vectors.classes();
        let labels = check_labels(labels, vectors.len(), classes)?;
        // The first entry is near at hand where it decides, which is nearly always.
        let rows = vectors.rows().zip(labels).map(|(row, label)| (row[0] + 0.0, row, label));
        let mut rows: Vec<(f32, &[f32], u16)> = rows.collect();
        rows.par_sort_unstable_by(|a, b| {
            a.0.total_cmp(&b.0).then_with(|| compare(a.1, b.1)).then_with(|| a.2.cmp(&b.2))
        });
        let mut values = vec![0.0; rows.len() * classes];
        let places = values.par_chunks_exact_mut(classes).with_min_len(1 << 10);
        places.zip(&rows).for_each(|(place, row)| place.copy_from_slice(row.1));
        Ok(Self { values, labels: rows.iter().map(|row| row.2).collect(), classes, kind: vectors.kind() })
    }

    /// The number of classes, at least 2.
    pub fn classes(&self) -> usize {
        self.classes
    }

    /// What the entries are.
    pub fn kind(&self) -> VectorKind {
        self.kind
    }

    /// The number of vectors, at least 1.
    #[expect(clippy::len_without_is_empty, reason = "never empty")]
    pub fn len(&self) -> usize {
        self.labels.len()
    }

    /// The classes.
    pub fn labels(&self) -> &[u16] {
        &self.labels
    }

    /// The vectors as they are.
    pub(crate) fn values(&self) -> &[f32] {
        &self.values
    }

    /// How many vectors have each class as their label.
    pub(crate) fn class_counts(&self) -> Vec<u64> {
        let mut counts = vec![0; self.classes];
        for &label in &self.labels {
            counts[usize::from(label)] += 1;
        }
        counts
    }

    /// Every vector's scores, row-major, computed as the device does.
    pub fn scores(&self) -> Vec<f32> {
        let mut scores = vec![0.0; self.values.len()];
        let vectors = self.values.par_chunks_exact(self.classes).with_min_len(1 << 10);
        vectors.zip(scores.par_chunks_exact_mut(self.classes)).for_each(|(vector, place)| match self.kind {
            VectorKind::Logits => {
                Logits::new(vector).expect("checked").write_softmax(place).expect("as long");
            }
            VectorKind::Probs => {
                let probs = Probs::new(vector).expect("checked");
                place.iter_mut().zip(probs.scores()).for_each(|(place, score)| *place = score.get());
            }
        });
        scores
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_order_of_rows_does_not_matter() {
        let of = |rows: &[([f32; 2], i64)]| {
            let vectors =
                Vectors::new(rows.iter().flat_map(|row| row.0).collect(), 2, VectorKind::Probs).unwrap();
            VectorData::new(&vectors, &rows.iter().map(|row| row.1).collect::<Vec<_>>()).unwrap()
        };
        let data = of(&[([0.5, 0.5], 1), ([0.25, 0.75], 0), ([0.5, 0.5], 0)]);
        assert_eq!(data, of(&[([0.5, 0.5], 0), ([0.5, 0.5], 1), ([0.25, 0.75], 0)]));
        assert_eq!((data.labels(), data.class_counts()), (&[0, 0, 1][..], vec![2, 1]));
        assert_eq!(data.scores()[..2], [0.25, 0.75]);
    }

    #[test]
    fn labels_must_be_classes() {
        let vectors = Vectors::new(vec![0.5, 0.5], 2, VectorKind::Probs).unwrap();
        let class = |class| DataError::Class { row: 0, class, classes: 2 };
        assert_eq!(VectorData::new(&vectors, &[2]), Err(class(2)));
        assert_eq!(VectorData::new(&vectors, &[-1]), Err(class(-1)));
        assert_eq!(VectorData::new(&vectors, &[]), Err(DataError::LabelCount { scores: 1, labels: 0 }));
    }
}
