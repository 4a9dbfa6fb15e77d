//! Columns of Arrow's record batches.

use arrow_array::cast::AsArray;
use arrow_array::types::{
    ArrowPrimitiveType, ArrowTemporalType, Date32Type, Date64Type, Decimal32Type, Decimal64Type,
    Decimal128Type, Decimal256Type, DecimalType, Float16Type, Float32Type, Float64Type, Int8Type, Int16Type,
    Int32Type, Int64Type, TimestampMicrosecondType, TimestampMillisecondType, TimestampNanosecondType,
    TimestampSecondType, UInt8Type, UInt16Type, UInt32Type, UInt64Type,
};
use arrow_array::{Array, PrimitiveArray, RecordBatch, StringArrayType};
use arrow_schema::{DataType, Fields, TimeUnit};

use super::cell::TableCell;
use super::column_kind::ColumnKind;
use super::limit::{MAX_UNPACKED_BYTES, check_cells};
use super::projection::Projection;
use super::table::Table;
use super::values::Values;
use crate::files::Problem;

/// Adds a schema's columns; gives the numbers of those to be filled.
pub(super) fn add_columns(table: &mut Table, fields: &Fields, projection: &Projection) -> Vec<usize> {
    let mut filled = Vec::new();
    for (index, field) in fields.iter().enumerate() {
        let is_wanted = projection.includes(field.name());
        if is_wanted && !is_scalar(field.data_type()) {
            table.add_unusable(field.name(), Problem::NotScalar(field.data_type().to_string()));
            continue;
        }
        let column = table.add_column(field.name(), is_wanted);
        table.set_kind(column, kind(field.data_type()));
        if is_wanted {
            filled.push(index);
        }
    }
    filled
}

/// Appends a batch to the columns of these numbers.
pub(super) fn append<'b>(
    table: &mut Table,
    columns: impl Iterator<Item = (usize, &'b dyn Array)>,
) -> Result<(), Problem> {
    for (column, array) in columns {
        let rows = (table.cells(column) as u64).saturating_add(array.len() as u64);
        check_cells(rows, table.width())?;
        append_array(table, column, array);
        if table.text_len() as u64 > MAX_UNPACKED_BYTES {
            return Err(Problem::TooLarge { max: MAX_UNPACKED_BYTES });
        }
    }
    Ok(())
}

/// The columns of a batch, with their numbers in the table.
pub(super) fn columns<'b>(
    batch: &'b RecordBatch,
    numbers: &'b [usize],
) -> impl Iterator<Item = (usize, &'b dyn Array)> {
    numbers.iter().copied().zip(batch.columns().iter().map(|array| &**array))
}

/// What the cells of a scalar type are.
fn kind(data_type: &DataType) -> ColumnKind {
    match data_type {
        DataType::Dictionary(_, values) => kind(values),
        DataType::Boolean => ColumnKind::Bool,
        DataType::Float16 | DataType::Float32 => ColumnKind::F32,
        DataType::Float64 => ColumnKind::F64,
        DataType::UInt64 => ColumnKind::Unsigned,
        other if other.is_integer() => ColumnKind::Integer,
        _ => ColumnKind::Text,
    }
}

/// Whether the values of a type are single numbers, booleans, texts or times.
fn is_scalar(data_type: &DataType) -> bool {
    match data_type {
        DataType::Dictionary(_, values) => is_scalar(values) && !matches!(**values, DataType::Dictionary(..)),
        DataType::Null
        | DataType::Boolean
        | DataType::Date32
        | DataType::Date64
        | DataType::Timestamp(..) => true,
        DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View => true,
        DataType::Decimal32(..)
        | DataType::Decimal64(..)
        | DataType::Decimal128(..)
        | DataType::Decimal256(..) => true,
        other => other.is_integer() || other.is_floating(),
    }
}

/// Appends an array of a scalar type.
fn append_array(table: &mut Table, column: usize, array: &dyn Array) {
    let mut to = Target { table, column };
    match array.data_type() {
        DataType::Boolean => {
            let bools = array.as_boolean();
            to.typed(array, Values::Bool(bools.values().iter().collect()));
        }
        DataType::Int8 => to.integers::<Int8Type>(array),
        DataType::Int16 => to.integers::<Int16Type>(array),
        DataType::Int32 => to.integers::<Int32Type>(array),
        DataType::Int64 => to.integers::<Int64Type>(array),
        DataType::UInt8 => to.integers::<UInt8Type>(array),
        DataType::UInt16 => to.integers::<UInt16Type>(array),
        DataType::UInt32 => to.integers::<UInt32Type>(array),
        DataType::UInt64 => to.primitives::<UInt64Type>(array, Values::U64),
        DataType::Float16 => to.primitives::<Float16Type>(array, |values| {
            Values::F32(values.into_iter().map(|value| value.to_f32()).collect())
        }),
        DataType::Float32 => to.primitives::<Float32Type>(array, Values::F32),
        DataType::Float64 => to.primitives::<Float64Type>(array, Values::F64),
        DataType::Utf8 => to.texts(array.as_string::<i32>()),
        DataType::LargeUtf8 => to.texts(array.as_string::<i64>()),
        DataType::Utf8View => to.texts(array.as_string_view()),
        DataType::Date32 => to.dates(array.as_primitive::<Date32Type>()),
        DataType::Date64 => to.dates(array.as_primitive::<Date64Type>()),
        DataType::Timestamp(TimeUnit::Second, zone) => {
            to.times(array.as_primitive::<TimestampSecondType>(), zone.is_some());
        }
        DataType::Timestamp(TimeUnit::Millisecond, zone) => {
            to.times(array.as_primitive::<TimestampMillisecondType>(), zone.is_some());
        }
        DataType::Timestamp(TimeUnit::Microsecond, zone) => {
            to.times(array.as_primitive::<TimestampMicrosecondType>(), zone.is_some());
        }
        DataType::Timestamp(TimeUnit::Nanosecond, zone) => {
            to.times(array.as_primitive::<TimestampNanosecondType>(), zone.is_some());
        }
        DataType::Decimal32(..) => to.decimals(array.as_primitive::<Decimal32Type>()),
        DataType::Decimal64(..) => to.decimals(array.as_primitive::<Decimal64Type>()),
        DataType::Decimal128(..) => to.decimals(array.as_primitive::<Decimal128Type>()),
        DataType::Decimal256(..) => to.decimals(array.as_primitive::<Decimal256Type>()),
        DataType::Dictionary(..) => {
            // Every value once, so that a dictionary of long texts does not become a long text a row.
            let array = array.as_any_dictionary();
            let before = to.table.cells(column);
            append_array(to.table, column, array.values());
            let values = to.table.take_from(column, before);
            let keys = if values.is_empty() { vec![0; array.len()] } else { array.normalized_keys() };
            for (row, key) in keys.into_iter().enumerate() {
                let value = if array.keys().is_null(row) { None } else { values.get(key) };
                to.table.push_again(column, value.copied().unwrap_or(TableCell::Missing));
            }
        }
        // Only nulls are left of what `is_scalar` lets through.
        _ => (0..array.len()).for_each(|_| to.table.push(column, TableCell::Missing)),
    }
}

/// The column that is filled.
struct Target<'t> {
    table: &'t mut Table,
    column: usize,
}

impl Target<'_> {
    fn push_all<'a>(&mut self, array: &dyn Array, cell: impl Fn(usize) -> TableCell<&'a str>) {
        for row in 0..array.len() {
            self.table.push(self.column, if array.is_null(row) { TableCell::Missing } else { cell(row) });
        }
    }

    fn primitives<T: ArrowPrimitiveType>(
        &mut self,
        array: &dyn Array,
        values: impl Fn(Vec<T::Native>) -> Values,
    ) {
        self.typed(array, values(array.as_primitive::<T>().values().to_vec()));
    }

    fn integers<T: ArrowPrimitiveType<Native: Into<i64>>>(&mut self, array: &dyn Array) {
        let integers = array.as_primitive::<T>().values().iter().map(|&value| value.into());
        self.typed(array, Values::I64(integers.collect()));
    }

    /// Appends the values of an array; where there are nulls among them, cell by cell.
    fn typed(&mut self, array: &dyn Array, values: Values) {
        match array.null_count() {
            0 => self.table.extend(self.column, values),
            _ => self.push_all(array, |row| values.cell(row)),
        }
    }

    fn texts<'a>(&mut self, array: impl StringArrayType<'a>) {
        self.push_all(&array, |row| TableCell::Text(array.value(row)));
    }

    fn decimals<T: DecimalType>(&mut self, array: &PrimitiveArray<T>) {
        self.push_shown(array, |row| Some(array.value_as_string(row)), |text| TableCell::Number(text));
    }

    fn dates<T: ArrowTemporalType>(&mut self, array: &PrimitiveArray<T>)
    where
        i64: From<T::Native>,
    {
        self.push_shown(
            array,
            |row| Some(array.value_as_date(row)?.to_string()),
            |text| TableCell::Text(text),
        );
    }

    /// As ISO 8601, in UTC if the type has a time zone.
    fn times<T: ArrowTemporalType>(&mut self, array: &PrimitiveArray<T>, has_zone: bool)
    where
        i64: From<T::Native>,
    {
        let zone = if has_zone { "Z" } else { "" };
        let show = |row| Some(format!("{:?}{zone}", array.value_as_datetime(row)?));
        self.push_shown(array, show, |text| TableCell::Text(text));
    }

    /// A time that no calendar has is missing.
    fn push_shown<T: ArrowPrimitiveType>(
        &mut self,
        array: &PrimitiveArray<T>,
        show: impl Fn(usize) -> Option<String>,
        cell: fn(&str) -> TableCell<&str>,
    ) {
        for row in 0..array.len() {
            let text = if array.is_null(row) { None } else { show(row) };
            self.table.push(self.column, text.as_deref().map_or(TableCell::Missing, cell));
        }
    }
}
