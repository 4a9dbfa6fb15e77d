//! NumPy arrays of probabilities.
//!
//! The format: <https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html>

use super::block::Block;

/// The header is as long whatever the number of rows, so that it can be written again at the end.
pub(super) const HEADER_LEN: usize = 128;

/// The header of `rows` rows: an array of one dimension if there is one column of probabilities, otherwise of two.
pub(super) fn header(rows: u64, columns: usize) -> Vec<u8> {
    let shape = if columns == 1 { format!("({rows},)") } else { format!("({rows}, {columns})") };
    let text = format!("{{'descr': '<f4', 'fortran_order': False, 'shape': {shape}, }}");
    let mut header = b"\x93NUMPY\x01\x00".to_vec();
    header.extend(((HEADER_LEN - 10) as u16).to_le_bytes());
    header.extend(text.bytes());
    header.resize(HEADER_LEN - 1, b' ');
    header.push(b'\n');
    header
}

/// How many columns of probabilities there are.
pub(super) fn width(block: &Block<'_>) -> usize {
    block.columns.iter().filter(|column| column.is_prob).count()
}

/// The probabilities row by row, NaN where there is none.
pub(super) fn rows(block: &Block<'_>) -> Vec<u8> {
    let probs: Vec<_> = block.columns.iter().filter(|column| column.is_prob).collect();
    let mut bytes = Vec::with_capacity(block.rows * probs.len() * size_of::<f32>());
    for row in 0..block.rows {
        for column in &probs {
            bytes.extend(column.prob(row).unwrap_or(f32::NAN).to_le_bytes());
        }
    }
    bytes
}
