//! One JSON object a line.

use super::block::Block;
use super::digits::{Digits, push_cell};
use crate::input::TableCell;

/// The lines of the rows. What is missing, or is no number that JSON has, is null.
pub(super) fn rows(block: &Block<'_>) -> Vec<u8> {
    let mut text = Vec::with_capacity(block.rows * block.columns.len() * 16);
    let mut digits: Vec<Digits> = block.columns.iter().map(|_| Digits::new()).collect();
    let keys: Vec<Vec<u8>> = block
        .columns
        .iter()
        .enumerate()
        .map(|(place, column)| {
            let mut key = vec![if place == 0 { b'{' } else { b',' }];
            push_string(&mut key, &column.name);
            key.push(b':');
            key
        })
        .collect();
    for row in 0..block.rows {
        for ((key, column), digits) in keys.iter().zip(&block.columns).zip(&mut digits) {
            text.extend_from_slice(key);
            match column.cell(row) {
                TableCell::F32(value) if value.is_finite() => digits.push(&mut text, value),
                TableCell::F64(value) if value.is_finite() => push_cell(&mut text, TableCell::F64(value)),
                TableCell::Missing | TableCell::F32(_) | TableCell::F64(_) => {
                    text.extend_from_slice(b"null");
                }
                TableCell::Raw(cell) | TableCell::Text(cell) => push_string(&mut text, cell),
                other => push_cell(&mut text, other),
            }
        }
        text.extend_from_slice(b"}\n");
    }
    text
}

fn push_string(text: &mut Vec<u8>, string: &str) {
    serde_json::to_writer(text, string).expect("memory takes all");
}
