//! CSV, as RFC 4180 has it, with lines that end with `\n`.

use super::block::Block;
use super::digits::{Digits, push_cell};
use crate::input::TableCell;

/// The line of names.
pub(super) fn header(block: &Block<'_>) -> Vec<u8> {
    let mut text = Vec::new();
    for (place, column) in block.columns.iter().enumerate() {
        separate(&mut text, place);
        push_text(&mut text, &column.name);
    }
    end_record(&mut text, 0);
    text
}

/// The lines of the rows.
pub(super) fn rows(block: &Block<'_>) -> Vec<u8> {
    let mut text = Vec::with_capacity(block.rows * block.columns.len() * 8);
    let mut digits: Vec<Digits> = block.columns.iter().map(|_| Digits::new()).collect();
    for row in 0..block.rows {
        let start = text.len();
        for ((place, column), digits) in block.columns.iter().enumerate().zip(&mut digits) {
            separate(&mut text, place);
            match column.cell_as_read(row) {
                TableCell::Raw(cell) | TableCell::Text(cell) | TableCell::Number(cell) => {
                    push_text(&mut text, cell)
                }
                TableCell::F32(value) => digits.push(&mut text, value),
                other => push_cell(&mut text, other),
            }
        }
        end_record(&mut text, start);
    }
    text
}

fn separate(text: &mut Vec<u8>, place: usize) {
    if place > 0 {
        text.push(b',');
    }
}

/// A line without anything on it would be skipped: a single empty field is quoted.
fn end_record(text: &mut Vec<u8>, start: usize) {
    if text.len() == start {
        text.extend_from_slice(b"\"\"");
    }
    text.push(b'\n');
}

fn push_text(text: &mut Vec<u8>, field: &str) {
    // Most fields hold only characters above the comma: one comparison per byte finds that.
    if field.bytes().all(|byte| byte > b',')
        || !field.bytes().any(|byte| matches!(byte, b',' | b'"' | b'\r' | b'\n'))
    {
        text.extend_from_slice(field.as_bytes());
        return;
    }
    text.push(b'"');
    for byte in field.bytes() {
        if byte == b'"' {
            text.push(b'"');
        }
        text.push(byte);
    }
    text.push(b'"');
}
