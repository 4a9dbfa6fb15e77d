//! Labeled features of whole vectors, in pieces for several processors.

use crate::parallel;

/// A piece has at least so many rows, which are worth a thread's while.
const PIECE_ROWS: usize = 256;

/// There are at most so many pieces: each may have sums as long as a matrix.
const MOST_PIECES: usize = 64;

/// A block of rows has about so many features: what is computed of them stays in a processor's cache.
const BLOCK_LEN: usize = 1 << 13;

/// Features, row-major, with the class of each row.
///
/// Sums over rows are taken piece by piece, and the pieces' sums then added in their order. Where pieces and their blocks end depends
/// on the number of rows alone, so that no sum depends on the number of threads.
#[derive(Clone)]
pub(crate) struct Rows {
    /// The features before they are multiplied.
    features: Vec<f32>,
    /// What all features are multiplied by.
    factor: f64,
    labels: Vec<u16>,
    classes: usize,
}

/// Neighboring rows.
#[derive(Clone, Copy)]
pub(crate) struct Chunk<'r> {
    /// The features before they are multiplied by the factor.
    pub(crate) features: &'r [f32],
    pub(crate) factor: f64,
    pub(crate) labels: &'r [u16],
    classes: usize,
}

impl Rows {
    /// Puts as many labels as there are rows to features.
    pub(crate) fn new(features: Vec<f32>, labels: Vec<u16>, classes: usize) -> Self {
        debug_assert_eq!(features.len(), labels.len() * classes);
        Self { features, factor: 1.0, labels, classes }
    }

    pub(crate) fn classes(&self) -> usize {
        self.classes
    }

    pub(crate) fn len(&self) -> usize {
        self.labels.len()
    }

    /// Some of the rows, in the order in which they are given.
    pub(crate) fn part(&self, some: impl IntoIterator<Item = usize>) -> Self {
        let (mut features, mut labels) = (Vec::new(), Vec::new());
        for row in some {
            features.extend_from_slice(&self.features[row * self.classes..][..self.classes]);
            labels.push(self.labels[row]);
        }
        Self { features, labels, ..*self }
    }

    /// Multiplies all features by a number.
    pub(crate) fn scale(&mut self, factor: f64) {
        self.factor *= factor;
    }

    /// The features of a row.
    pub(crate) fn features(&self, row: usize) -> impl Iterator<Item = f64> + Clone {
        let features = &self.features[row * self.classes..][..self.classes];
        features.iter().map(|&feature| f64::from(feature) * self.factor)
    }

    /// What all features are multiplied by.
    pub(crate) fn factor(&self) -> f64 {
        self.factor
    }

    /// The largest distance of a feature from 0.
    pub(crate) fn largest(&self) -> f64 {
        let of_chunk =
            |chunk: Chunk<'_>| chunk.features.iter().fold(0.0f32, |max, feature| max.max(feature.abs()));
        let largest = parallel::map(self.chunks(), of_chunk).into_iter().fold(0.0, f32::max);
        f64::from(largest) * self.factor.abs()
    }

    /// The number of rows of every piece but the last.
    pub(crate) fn piece_rows(&self) -> usize {
        self.len().div_ceil(MOST_PIECES).max(PIECE_ROWS)
    }

    /// The pieces in their order.
    pub(crate) fn chunks(&self) -> impl ExactSizeIterator<Item = Chunk<'_>> {
        let rows = self.piece_rows();
        let features = self.features.chunks(rows * self.classes);
        let chunk =
            |(features, labels)| Chunk { features, factor: self.factor, labels, classes: self.classes };
        features.zip(self.labels.chunks(rows)).map(chunk)
    }

    /// Adds what `add` adds to `len` sums for each piece.
    pub(crate) fn sums(&self, len: usize, add: impl Fn(Chunk<'_>, &mut [f64]) + Sync) -> Vec<f64> {
        let of_chunk = |chunk| {
            let mut sums = vec![0.0; len];
            add(chunk, &mut sums);
            sums
        };
        let mut all = vec![0.0; len];
        for sums in parallel::map(self.chunks(), of_chunk) {
            add_to(&mut all, &sums);
        }
        all
    }
}

impl<'r> Chunk<'r> {
    /// The number of features of every block but the last.
    pub(crate) fn block_len(self) -> usize {
        (BLOCK_LEN / self.classes).max(1) * self.classes
    }

    /// Its blocks in their order.
    pub(crate) fn blocks(self) -> impl Iterator<Item = Self> {
        let len = self.block_len();
        let parts = self.features.chunks(len).zip(self.labels.chunks(len / self.classes));
        parts.map(move |(features, labels)| Self { features, labels, ..self })
    }

    /// Replaces numbers by the features, multiplied by the factor.
    pub(crate) fn write_features(self, features: &mut Vec<f64>) {
        features.clear();
        features.extend(self.features.iter().map(|&feature| f64::from(feature) * self.factor));
    }
}

/// Adds numbers to others, one by one.
pub(crate) fn add_to(sums: &mut [f64], others: &[f64]) {
    sums.iter_mut().zip(others).for_each(|(sum, other)| *sum += other);
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every row is in one piece and in one block of it, and the sums of terms of any size are the same on one thread and on several.
    #[test]
    fn threads_do_not_matter() {
        for n in
            [1, PIECE_ROWS, PIECE_ROWS + 1, MOST_PIECES * PIECE_ROWS + 17, 4 * MOST_PIECES * BLOCK_LEN / 3]
        {
            let features = (0..3 * n).map(|i| (i as f32).sin() * 10f32.powi(i as i32 % 7)).collect();
            let mut rows = Rows::new(features, (0..n).map(|row| (row % 3) as u16).collect(), 3);
            rows.scale(0.5);
            assert!(rows.chunks().len() <= MOST_PIECES);
            let sums = || {
                rows.sums(4, |chunk, sums| {
                    let mut features = Vec::new();
                    for block in chunk.blocks() {
                        block.write_features(&mut features);
                        for (features, &label) in features.chunks_exact(3).zip(block.labels) {
                            add_to(sums, features);
                            sums[3] += f64::from(label);
                        }
                    }
                })
            };
            let on =
                |threads| rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap().install(sums);
            assert_eq!(on(1), on(3));
            assert_eq!(on(1)[3], (0..n).map(|row| (row % 3) as f64).sum::<f64>());
            let sum: f64 = (0..n).map(|row| rows.features(row).nth(1).unwrap()).sum();
            assert!((on(1)[1] - sum).abs() <= 1e-9 * n as f64);
        }
    }
}
