//! Products of matrices that are lists of numbers.

use nalgebra::{DMatrixView, DMatrixViewMut, Dyn};

/// The entries of a matrix in a list.
#[derive(Clone, Copy)]
pub(crate) struct Entries<'m> {
    values: &'m [f64],
    rows: usize,
    columns: usize,
    /// How far the next row and the next column are.
    strides: (usize, usize),
}

/// With so many rows or columns, or fewer, a plain loop is as quick.
const SMALL: usize = 5;

impl<'m> Entries<'m> {
    /// Row by row, each of so many columns.
    pub(crate) fn by_rows(values: &'m [f64], columns: usize) -> Self {
        Self { values, rows: values.len() / columns, columns, strides: (columns, 1) }
    }

    /// Column by column, each of so many rows: the transpose of [`Entries::by_rows`].
    pub(crate) fn by_columns(values: &'m [f64], rows: usize) -> Self {
        Self { values, rows, columns: values.len() / rows, strides: (1, rows) }
    }

    fn at(&self, row: usize, column: usize) -> f64 {
        self.values[row * self.strides.0 + column * self.strides.1]
    }

    fn view(&self) -> DMatrixView<'m, f64, Dyn, Dyn> {
        let (to_row, to_column) = self.strides;
        DMatrixView::from_slice_with_strides(self.values, self.rows, self.columns, to_row, to_column)
    }
}

/// Adds the product of two matrices to `sum`, whose entries come row by row.
pub(crate) fn add_product(sum: &mut [f64], a: Entries<'_>, b: Entries<'_>) {
    let (rows, inner, columns) = (a.rows, a.columns, b.columns);
    assert_eq!((sum.len(), inner), (rows * columns, b.rows), "the matrices go together");
    if [rows, inner, columns].iter().all(|&size| size > SMALL) {
        let mut sum = DMatrixViewMut::from_slice_with_strides_mut(sum, rows, columns, columns, 1);
        sum.gemm(1.0, &a.view(), &b.view(), 1.0);
        return;
    }
    let mut add = |row: usize, k: usize| {
        let factor = a.at(row, k);
        let sums = &mut sum[row * columns..][..columns];
        sums.iter_mut().enumerate().for_each(|(column, sum)| *sum += factor * b.at(k, column));
    };
    // The longer way outside: what is added to stays near.
    if rows >= inner {
        (0..rows).for_each(|row| (0..inner).for_each(|k| add(row, k)));
    } else {
        (0..inner).for_each(|k| (0..rows).for_each(|row| add(row, k)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Small products, large ones, and those of a small matrix and a large one, in either order of the entries.
    #[test]
    fn are_those_of_the_definition() {
        let number = |i: usize| ((i * 7919) % 101) as f64 / 16.0 - 3.0;
        for (rows, inner, columns) in
            [(2, 3, 4), (1, 9, 7), (40, 3, 3), (3, 40, 3), (6, 6, 6), (9, 40, 8), (40, 9, 9)]
        {
            let a: Vec<f64> = (0..rows * inner).map(number).collect();
            let b: Vec<f64> = (0..inner * columns).map(|i| number(3 * i + 1)).collect();
            for (by_rows, a) in [(true, Entries::by_rows(&a, inner)), (false, Entries::by_columns(&a, rows))]
            {
                for b in [Entries::by_rows(&b, columns), Entries::by_columns(&b, inner)] {
                    let mut sum = vec![0.5; rows * columns];
                    add_product(&mut sum, a, b);
                    for (place, sum) in sum.iter().enumerate() {
                        let (row, column) = (place / columns, place % columns);
                        let expected: f64 = (0..inner).map(|k| a.at(row, k) * b.at(k, column)).sum();
                        assert!((sum - 0.5 - expected).abs() < 1e-9, "{rows} {inner} {columns} {by_rows}");
                    }
                }
            }
        }
    }
}
