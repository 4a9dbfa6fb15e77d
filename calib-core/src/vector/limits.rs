//! How many cells a partition of the simplex may have.

/// The largest number of cells: their indices are `u16`.
pub const MAX_CELLS: usize = 1 << 16;
