//! Products of matrices that are lists of numbers.

use std::array;

use nalgebra::{DMatrixView, DMatrixViewMut, Dyn, RealField};

/// The numbers that matrices are made of: an `f64`, or an `f32` where a product need not be exact and is computed twice as fast.
pub(crate) trait Number: RealField + Copy + Default + From<f32> + Into<f64> {
    /// The nearest number.
    fn nearest(value: f64) -> Self;
}

impl Number for f32 {
    fn nearest(value: f64) -> Self {
        value as f32
    }
}

impl Number for f64 {
    fn nearest(value: f64) -> Self {
        value
    }
}

/// The entries of a matrix in a list.
#[derive(Clone, Copy)]
pub(crate) struct Entries<'m, T> {
    values: &'m [T],
    rows: usize,
    columns: usize,
    /// How far the next row and the next column are.
    strides: (usize, usize),
}

/// With so many rows or columns, or fewer, a plain loop is as quick.
const SMALL: usize = 5;

impl<'m, T: Number> Entries<'m, T> {
    /// Row by row, each of so many columns.
    pub(crate) fn by_rows(values: &'m [T], columns: usize) -> Self {
        Self { values, rows: values.len() / columns, columns, strides: (columns, 1) }
    }

    /// Column by column, each of so many rows: the transpose of [`Entries::by_rows`].
    pub(crate) fn by_columns(values: &'m [T], rows: usize) -> Self {
        Self { values, rows, columns: values.len() / rows, strides: (1, rows) }
    }

    fn at(&self, row: usize, column: usize) -> T {
        self.values[row * self.strides.0 + column * self.strides.1]
    }

    fn view(&self) -> DMatrixView<'m, T, Dyn, Dyn> {
        let (to_row, to_column) = self.strides;
        DMatrixView::from_slice_with_strides(self.values, self.rows, self.columns, to_row, to_column)
    }
}

/// Adds the product of two matrices to `sum`, whose entries come row by row.
pub(crate) fn add_product<T: Number>(sum: &mut [T], a: Entries<'_, T>, b: Entries<'_, T>) {
    let (rows, inner, columns) = (a.rows, a.columns, b.columns);
    assert_eq!((sum.len(), inner), (rows * columns, b.rows), "the matrices go together");
    if [rows, inner, columns].iter().all(|&size| size > SMALL) {
        let mut sum = DMatrixViewMut::from_slice_with_strides_mut(sum, rows, columns, columns, 1);
        sum.gemm(T::one(), &a.view(), &b.view(), T::one());
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

/// The most columns of a narrow matrix, whose rows fit into a processor's registers.
const NARROW: usize = 16;

/// Calls a function that is compiled for each number of columns of a narrow matrix.
macro_rules! narrow {
    ($columns:expr, $function:ident $arguments:tt, $($number:literal)*) => {
        match $columns {
            $($number => $function::<T, $number> $arguments,)*
            _ => unreachable!("up to {NARROW}"),
        }
    };
    ($columns:expr, $function:ident $arguments:tt) => {
        narrow!($columns, $function $arguments, 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16)
    };
}

/// Writes `W x + b` of every row `x` to `scaled`, where the rows of `W` come one after the other and are as long as `b`.
pub(crate) fn write_affine<T: Number>(scaled: &mut [T], (weights, intercepts): (&[T], &[T]), rows: &[T]) {
    let columns = intercepts.len();
    if columns <= NARROW {
        return narrow!(columns, write_narrow_affine(scaled, (weights, intercepts), rows));
    }
    scaled.chunks_exact_mut(columns).for_each(|scaled| scaled.copy_from_slice(intercepts));
    add_product(scaled, Entries::by_rows(rows, columns), Entries::by_columns(weights, columns));
}

fn write_narrow_affine<T: Number, const COLUMNS: usize>(
    scaled: &mut [T],
    (weights, intercepts): (&[T], &[T]),
    rows: &[T],
) {
    let by_column: [[T; COLUMNS]; COLUMNS] =
        array::from_fn(|column| array::from_fn(|row| weights[row * COLUMNS + column]));
    let intercepts: [T; COLUMNS] = array::from_fn(|row| intercepts[row]);
    for (scaled, row) in scaled.as_chunks_mut().0.iter_mut().zip(rows.as_chunks::<COLUMNS>().0) {
        let mut sums = intercepts;
        for (&x, column) in row.iter().zip(&by_column) {
            sums.iter_mut().zip(column).for_each(|(sum, &weight)| *sum += weight * x);
        }
        *scaled = sums;
    }
}

/// Adds products to `sum`, whose entries come row by row: of every entry of a row of `a` with every entry of the same row of `b`. Both
/// have the same number of columns.
pub(crate) fn add_outer<T: Number>(sum: &mut [T], a: &[T], b: &[T], columns: usize) {
    if columns <= NARROW {
        return narrow!(columns, add_narrow_outer(sum, a, b));
    }
    add_product(sum, Entries::by_columns(a, columns), Entries::by_rows(b, columns));
}

fn add_narrow_outer<T: Number, const COLUMNS: usize>(sum: &mut [T], a: &[T], b: &[T]) {
    let mut sums = [[T::default(); COLUMNS]; COLUMNS];
    // Four rows at once, so that the sums are read and written less often.
    let (a, a_rest) = a.as_chunks::<COLUMNS>().0.as_chunks();
    let (b, b_rest) = b.as_chunks::<COLUMNS>().0.as_chunks();
    for ([a0, a1, a2, a3], [b0, b1, b2, b3]) in a.iter().zip(b) {
        for (k, sums) in sums.iter_mut().enumerate() {
            for (j, sum) in sums.iter_mut().enumerate() {
                *sum += (a0[k] * b0[j] + a1[k] * b1[j]) + (a2[k] * b2[j] + a3[k] * b3[j]);
            }
        }
    }
    for (a, b) in a_rest.iter().zip(b_rest) {
        for (sums, &a) in sums.iter_mut().zip(a) {
            sums.iter_mut().zip(b).for_each(|(sum, &b)| *sum += a * b);
        }
    }
    for (sum, sums) in sum.iter_mut().zip(sums.as_flattened()) {
        *sum += *sums;
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

    /// Of any number of columns, narrow or not, and of any number of rows.
    #[test]
    fn affine_and_outer_products_are_those_of_the_definition() {
        let number = |i: usize| ((i * 7919) % 101) as f64 / 16.0 - 3.0;
        for (columns, n) in (1..=20).flat_map(|columns| [(columns, 1), (columns, 8), (columns, 23)]) {
            let a: Vec<f64> = (0..n * columns).map(number).collect();
            let b: Vec<f64> = (0..n * columns).map(|i| number(3 * i + 1)).collect();
            let weights: Vec<f64> = (0..columns * columns).map(|i| number(5 * i + 2)).collect();
            let intercepts: Vec<f64> = (0..columns).map(|i| number(7 * i)).collect();
            let mut scaled = vec![f64::NAN; n * columns];
            write_affine(&mut scaled, (&weights, &intercepts), &b);
            for (place, scaled) in scaled.iter().enumerate() {
                let (row, k) = (place / columns, place % columns);
                let sum: f64 = (0..columns).map(|j| weights[k * columns + j] * b[row * columns + j]).sum();
                assert!((scaled - intercepts[k] - sum).abs() < 1e-9, "{columns} {n}");
            }
            let mut sum = vec![0.5; columns * columns];
            add_outer(&mut sum, &a, &b, columns);
            for (place, sum) in sum.iter().enumerate() {
                let (k, j) = (place / columns, place % columns);
                let expected: f64 = (0..n).map(|row| a[row * columns + k] * b[row * columns + j]).sum();
                assert!((sum - 0.5 - expected).abs() < 1e-9, "{columns} {n}");
            }
        }
    }
}
