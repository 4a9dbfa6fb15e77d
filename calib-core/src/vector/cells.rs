//! Calibrators that divide the probability simplex into cells.

use super::projection::Projection;
use super::sierpinski::Sierpinski;
use super::simplex_grid::SimplexGrid;
use super::split_tree::SplitTree;
use crate::outcome::BinFlags;
use crate::table::{TableError, check_probs};

/// A partition of the probability simplex.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub enum CellScheme<'a> {
    /// Simplices within simplices, finest toward the corners.
    Sierpinski(Sierpinski),
    /// A regular grid.
    Grid(SimplexGrid),
    /// A sequence of hyperplanes.
    Projection(Projection<'a>),
    /// A tree of splits.
    SplitTree(SplitTree<'a>),
}

/// A partition of the simplex, with the probabilities of all classes in each cell.
///
/// ```
/// use calib_core::vector::{CellScheme, CellTable, SimplexGrid};
///
/// // Two classes and two cells: class 0 has more or less than one half.
/// let scheme = CellScheme::Grid(SimplexGrid::new(2, 2).unwrap());
/// let table = CellTable::new(scheme, &[0.2, 0.8, 0.75, 0.25]).unwrap();
/// let mut scores = [0.9, 0.1];
/// assert_eq!(table.calibrate(&mut scores), 1);
/// assert_eq!(scores, [0.75, 0.25]);
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct CellTable<'a> {
    scheme: CellScheme<'a>,
    /// A probability per class, for each cell.
    values: &'a [f32],
    /// A byte per cell, or no byte at all.
    flags: &'a [u8],
}

impl CellScheme<'_> {
    /// Returns the number of classes.
    pub const fn classes(&self) -> usize {
        match self {
            Self::Sierpinski(sierpinski) => sierpinski.classes(),
            Self::Grid(grid) => grid.classes(),
            Self::Projection(projection) => projection.classes(),
            Self::SplitTree(tree) => tree.classes(),
        }
    }

    /// Returns the number of cells, from 1 to [`MAX_CELLS`](crate::vector::MAX_CELLS).
    pub const fn cells(&self) -> usize {
        match self {
            Self::Sierpinski(sierpinski) => sierpinski.cells(),
            Self::Grid(grid) => grid.cells(),
            Self::Projection(projection) => projection.cells(),
            Self::SplitTree(tree) => tree.cells(),
        }
    }

    /// Finds the cell of a vector of scores, one per class. The scores may be overwritten.
    pub fn cell(&self, scores: &mut [f32]) -> u16 {
        match self {
            Self::Sierpinski(sierpinski) => sierpinski.cell(scores),
            Self::Grid(grid) => grid.cell(scores),
            Self::Projection(projection) => projection.cell(scores),
            Self::SplitTree(tree) => tree.cell(scores),
        }
    }
}

impl<'a> CellTable<'a> {
    /// Makes a table from a partition and its values: cell by cell, a probability in `[0, 1]` per class. The probabilities of a
    /// cell need not sum to one.
    ///
    /// # Errors
    ///
    /// If the number of values is another, or a value is out of range, with its index.
    pub fn new(scheme: CellScheme<'a>, values: &'a [f32]) -> Result<Self, TableError> {
        if Some(values.len()) != scheme.cells().checked_mul(scheme.classes()) {
            return Err(TableError::Length);
        }
        check_probs(values)?;
        Ok(Self { scheme, values, flags: &[] })
    }

    /// Adds the flags of the cells; `None` if their number is not the number of cells, or a flag is unknown.
    pub(crate) fn with_flags(self, flags: &'a [u8]) -> Option<Self> {
        let known = flags.iter().all(|&bits| BinFlags::from_bits(bits).is_some());
        (known && flags.len() == self.scheme.cells()).then_some(Self { flags, ..self })
    }

    /// Returns the partition.
    pub const fn scheme(&self) -> &CellScheme<'a> {
        &self.scheme
    }

    /// Returns the probabilities, cell by cell.
    pub const fn values(&self) -> &'a [f32] {
        self.values
    }

    /// Returns what to know about a cell.
    pub fn flags(&self, cell: u16) -> BinFlags {
        let bits = self.flags.get(usize::from(cell)).copied().unwrap_or_default();
        BinFlags::from_bits(bits).unwrap_or_default()
    }

    /// Replaces a vector of scores, one per class, by the probabilities of its cell, and returns the cell. If the cell is
    /// [empty](BinFlags::EMPTY), the scores become NaN: there are no probabilities.
    pub fn calibrate(&self, scores: &mut [f32]) -> u16 {
        let cell = self.scheme.cell(scores);
        if self.flags(cell).contains(BinFlags::EMPTY) {
            scores.fill(f32::NAN);
            return cell;
        }
        let values = self.values.get(usize::from(cell) * self.scheme.classes()..).unwrap_or_default();
        for (place, &value) in scores.iter_mut().zip(values) {
            *place = value;
        }
        cell
    }
}
