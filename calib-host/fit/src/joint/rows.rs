//! Labeled features of whole vectors, in pieces for several processors.

use crate::stop;
use rayon::prelude::*;

/// A piece has at least so many rows, which are worth a thread's while.
const PIECE_ROWS: usize = 256;

/// There are at most so many pieces: each may have sums as long as a matrix.
const MOST_PIECES: usize = 64;

/// Features in `f64`, row-major, with the class of each row.
///
/// Sums over rows are taken piece by piece, and the pieces' sums then added in their order. Where pieces end depends on the
/// number of rows alone, so that no sum depends on the number of threads.
pub(crate) struct Rows {
    features: Vec<f64>,
    labels: Vec<u16>,
    classes: usize,
}

/// Neighboring rows.
#[derive(Clone, Copy)]
pub(crate) struct Piece<'r> {
    pub(crate) features: &'r [f64],
    pub(crate) labels: &'r [u16],
}

impl Rows {
    /// Puts as many labels as there are rows to features.
    pub(crate) fn new(features: Vec<f64>, labels: Vec<u16>, classes: usize) -> Self {
        debug_assert_eq!(features.len(), labels.len() * classes);
        Self { features, labels, classes }
    }

    pub(crate) fn classes(&self) -> usize {
        self.classes
    }

    pub(crate) fn len(&self) -> usize {
        self.labels.len()
    }

    /// Some of the rows, in the order in which they are given.
    pub(crate) fn part(&self, some: &[usize]) -> Self {
        Self {
            features: some.iter().flat_map(|&row| self.features(row)).copied().collect(),
            labels: some.iter().map(|&row| self.labels[row]).collect(),
            classes: self.classes,
        }
    }

    /// Multiplies all features by a number.
    pub(crate) fn scale(&mut self, factor: f64) {
        self.features.par_iter_mut().for_each(|feature| *feature *= factor);
    }

    /// The features of a row.
    pub(crate) fn features(&self, row: usize) -> &[f64] {
        &self.features[row * self.classes..][..self.classes]
    }

    /// The number of rows of every piece but the last.
    pub(crate) fn piece_rows(&self) -> usize {
        self.len().div_ceil(MOST_PIECES).max(PIECE_ROWS)
    }

    /// The pieces in their order.
    pub(crate) fn pieces(&self) -> impl IndexedParallelIterator<Item = Piece<'_>> {
        let rows = self.piece_rows();
        let features = self.features.par_chunks(rows * self.classes);
        features.zip(self.labels.par_chunks(rows)).map(|(features, labels)| {
            stop::check();
            Piece { features, labels }
        })
    }

    /// Adds what `add` adds to `len` sums for each piece.
    pub(crate) fn sums(&self, len: usize, add: impl Fn(Piece<'_>, &mut [f64]) + Sync) -> Vec<f64> {
        let of_piece = |piece| {
            let mut sums = vec![0.0; len];
            add(piece, &mut sums);
            sums
        };
        let mut all = vec![0.0; len];
        for sums in self.pieces().map(of_piece).collect::<Vec<_>>() {
            add_to(&mut all, &sums);
        }
        all
    }
}

/// Adds numbers to others, one by one.
pub(crate) fn add_to(sums: &mut [f64], others: &[f64]) {
    sums.iter_mut().zip(others).for_each(|(sum, other)| *sum += other);
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every row is in one piece, and the sums of terms of any size are the same on one thread and on several.
    #[test]
    fn threads_do_not_matter() {
        for n in [1, PIECE_ROWS, PIECE_ROWS + 1, MOST_PIECES * PIECE_ROWS + 17] {
            let features = (0..3 * n).map(|i| (i as f64).sin() * 10f64.powi(i as i32 % 7)).collect();
            let rows = Rows::new(features, (0..n).map(|row| (row % 3) as u16).collect(), 3);
            assert!(rows.pieces().len() <= MOST_PIECES);
            let sums = || {
                rows.sums(4, |piece, sums| {
                    for (features, &label) in piece.features.chunks_exact(3).zip(piece.labels) {
                        add_to(sums, features);
                        sums[3] += f64::from(label);
                    }
                })
            };
            let on =
                |threads| rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap().install(sums);
            assert_eq!(on(1), on(3));
            assert_eq!(on(1)[3], (0..n).map(|row| (row % 3) as f64).sum::<f64>());
            let sum: f64 = (0..n).map(|row| rows.features(row)[1]).sum();
            assert!((on(1)[1] - sum).abs() <= 1e-9 * n as f64);
        }
    }
}
