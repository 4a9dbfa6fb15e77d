//! Blocks as Arrow's record batches.

use std::sync::Arc;

use arrow_array::builder::StringBuilder;
use arrow_array::{
    ArrayRef, BooleanArray, Float32Array, Float64Array, Int64Array, RecordBatch, RecordBatchOptions,
    UInt64Array,
};
use arrow_schema::{DataType, Field, Schema, SchemaRef};

use super::block::{Block, Column};
use super::digits::push_cell;
use crate::input::{ColumnKind, TableCell};

/// The columns' names and types. Every column may have gaps.
pub(super) fn schema(block: &Block<'_>) -> SchemaRef {
    let field = |column: &Column<'_>| Field::new(column.name.as_ref(), data_type(column.kind()), true);
    Arc::new(Schema::new(block.columns.iter().map(field).collect::<Vec<_>>()))
}

fn data_type(kind: ColumnKind) -> DataType {
    match kind {
        ColumnKind::Text => DataType::Utf8,
        ColumnKind::Bool => DataType::Boolean,
        ColumnKind::F32 => DataType::Float32,
        ColumnKind::F64 => DataType::Float64,
        ColumnKind::Integer => DataType::Int64,
        ColumnKind::Unsigned => DataType::UInt64,
    }
}

/// The rows.
pub(super) fn rows(block: &Block<'_>, schema: SchemaRef) -> RecordBatch {
    let arrays = block.columns.iter().map(|column| array(column, block.rows)).collect();
    let options = RecordBatchOptions::new().with_row_count(Some(block.rows));
    let batch = RecordBatch::try_new_with_options(schema, arrays, &options);
    batch.expect("the columns are of these types, and of one length")
}

fn array(column: &Column<'_>, rows: usize) -> ArrayRef {
    let cells = (0..rows).map(|row| column.cell(row));
    macro_rules! of {
        ($array:ty, $cell:path) => {
            Arc::new(
                cells
                    .map(|cell| if let $cell(value) = cell { Some(value) } else { None })
                    .collect::<$array>(),
            )
        };
    }
    match column.kind() {
        ColumnKind::F32 => of!(Float32Array, TableCell::F32),
        ColumnKind::F64 => of!(Float64Array, TableCell::F64),
        ColumnKind::Bool => of!(BooleanArray, TableCell::Bool),
        ColumnKind::Unsigned => of!(UInt64Array, TableCell::Unsigned),
        ColumnKind::Integer => {
            let integer = |cell| match cell {
                TableCell::Integer(value) => Some(value),
                // Those of new columns are small.
                TableCell::Unsigned(value) => i64::try_from(value).ok(),
                _ => None,
            };
            Arc::new(cells.map(integer).collect::<Int64Array>())
        }
        ColumnKind::Text => {
            let mut builder = StringBuilder::with_capacity(rows, rows * 4);
            let mut number = Vec::new();
            for cell in cells {
                match cell {
                    TableCell::Missing => builder.append_null(),
                    TableCell::Raw(text) | TableCell::Text(text) | TableCell::Number(text) => {
                        builder.append_value(text);
                    }
                    other => {
                        number.clear();
                        push_cell(&mut number, other);
                        builder.append_value(str::from_utf8(&number).expect("digits"));
                    }
                }
            }
            Arc::new(builder.finish())
        }
    }
}
