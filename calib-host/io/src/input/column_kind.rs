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
