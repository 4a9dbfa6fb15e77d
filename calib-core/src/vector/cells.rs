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
    /// Triangles in triangles.
    Sierpinski(Sierpinski),
    /// A regular grid.
    Grid(SimplexGrid),
    /// Hyperplanes.
    Projection(Projection<'a>),
    /// Splits in splits.
    SplitTree(SplitTree<'a>),
}

/// A partition of the simplex with the probabilities of all classes in each cell.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct CellTable<'a> {
    scheme: CellScheme<'a>,
    /// As many as there are classes, for each cell.
    values: &'a [f32],
    /// One per cell, or none.
    flags: &'a [u8],
}

impl CellScheme<'_> {
    /// The number of classes.
    pub const fn classes(&self) -> usize {
        match self {
            Self::Sierpinski(sierpinski) => sierpinski.classes(),
            Self::Grid(grid) => grid.classes(),
            Self::Projection(projection) => projection.classes(),
            Self::SplitTree(tree) => tree.classes(),
        }
    }

    /// The number of cells, at least 1 and at most [`MAX_CELLS`].
    pub const fn cells(&self) -> usize {
        match self {
            Self::Sierpinski(sierpinski) => sierpinski.cells(),
            Self::Grid(grid) => grid.cells(),
            Self::Projection(projection) => projection.cells(),
            Self::SplitTree(tree) => tree.cells(),
        }
    }

    /// The cell of a vector of scores, one per class, which may be overwritten.
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
    /// Puts values to the cells: for each as many as there are classes, in `[0, 1]`. They need not sum to one.
    ///
    /// # Errors
    ///
    /// If there are not so many, or one is out of range; its index.
    pub fn new(scheme: CellScheme<'a>, values: &'a [f32]) -> Result<Self, TableError> {
        if Some(values.len()) != scheme.cells().checked_mul(scheme.classes()) {
            return Err(TableError::Length);
        }
        check_probs(values)?;
        Ok(Self { scheme, values, flags: &[] })
    }

    /// Puts the bits of flags to the cells; `None` if there is not one for each, or one is unknown.
    pub(crate) fn with_flags(self, flags: &'a [u8]) -> Option<Self> {
        let known = flags.iter().all(|&bits| BinFlags::from_bits(bits).is_some());
        (known && flags.len() == self.scheme.cells()).then_some(Self { flags, ..self })
    }

    /// The partition.
    pub const fn scheme(&self) -> &CellScheme<'a> {
        &self.scheme
    }

    /// The probabilities, cell by cell.
    pub const fn values(&self) -> &'a [f32] {
        self.values
    }

    /// What to know about a cell.
    pub fn flags(&self, cell: u16) -> BinFlags {
        let bits = self.flags.get(usize::from(cell)).copied().unwrap_or_default();
        BinFlags::from_bits(bits).unwrap_or_default()
    }

    /// Replaces a vector of scores, one per class, by the probabilities of the cell that it is in, and names the cell.
    pub fn calibrate(&self, scores: &mut [f32]) -> u16 {
        let cell = self.scheme.cell(scores);
        let values = self.values.get(usize::from(cell) * self.scheme.classes()..).unwrap_or_default();
        for (place, &value) in scores.iter_mut().zip(values) {
            *place = value;
        }
        cell
    }
}
