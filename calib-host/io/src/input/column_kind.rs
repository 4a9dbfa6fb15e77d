//! What columns and cells are.

/// What the cells of a column are, whatever rows are read: where the file says so, numbers or booleans; otherwise text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ColumnKind {
    /// Text, or cells of several kinds.
    Text,
    /// Booleans.
    Bool,
    /// Floats of 32 bits, or of 16, which are among them.
    F32,
    /// Floats of 64 bits.
    F64,
    /// Integers with a sign, or of up to 32 bits without.
    Integer,
    /// Integers of 64 bits without a sign.
    Unsigned,
}

/// A cell as it is in a file.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ShownCell<'t> {
    /// A null, or a field that a JSON object does not have.
    Missing,
    /// Text.
    Text(&'t str),
    /// A number, by the digits that the file has.
    Number(&'t str),
    /// A boolean.
    Bool(bool),
    /// A float of 32 bits.
    F32(f32),
    /// A float of 64 bits.
    F64(f64),
    /// An integer with a sign.
    Integer(i64),
    /// An integer without a sign.
    Unsigned(u64),
}
