//! Canonical binning: a partition of the simplex with the frequencies of the classes in each cell.

use calib_core::vector::{Sierpinski, SimplexGrid};

use super::irp::MulticlassIrp;
use super::model::{CanonicalModel, Partition};
use super::projection::ProjectionBinning;
use crate::data::VectorData;
use crate::error::CanonicalError;

/// A canonical calibration method (Gupta and Ramdas 2022, appendix G; Berta, Bach and Jordan 2024, section 3).
///
/// Meant for a few classes: the number of cells that resolve the simplex grows exponentially with them. Nothing is
/// guaranteed.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum CanonicalMethod {
    /// Sierpinski binning of this depth, at least 1.
    Sierpinski(u8),
    /// Grid-style binning with this many steps from 0 to 1, at least 1.
    Grid(u16),
    /// Projection-based histogram binning.
    Projection(ProjectionBinning),
    /// Multi-class isotonic recursive partitioning.
    MulticlassIrp(MulticlassIrp),
}

impl CanonicalMethod {
    /// Fits scores as the device sees them. The result does not depend on the order of the rows.
    ///
    /// # Errors
    ///
    /// If a parameter is out of range, there would be too many cells or are too few points, or all labels are the same.
    pub fn fit(&self, data: &VectorData) -> Result<CanonicalModel, CanonicalError> {
        let classes = data.classes();
        if data.class_counts().contains(&(data.len() as u64)) {
            return Err(CanonicalError::OneClass(data.len()));
        }
        let few = u16::try_from(classes).map_err(|_| CanonicalError::TooManyCells { classes })?;
        let partition = match self {
            Self::Sierpinski(0) => return Err(CanonicalError::Parameter("the depth is from 1 on")),
            Self::Grid(0) => return Err(CanonicalError::Parameter("the resolution is from 1 on")),
            Self::Sierpinski(depth) => Sierpinski::new(few, *depth).map(Partition::Sierpinski),
            Self::Grid(resolution) => SimplexGrid::new(few, *resolution).map(Partition::Grid),
            Self::Projection(projection) => return projection.fit(data),
            Self::MulticlassIrp(irp) => return irp.fit(data),
        };
        let partition = partition.ok_or(CanonicalError::TooManyCells { classes })?;
        Ok(CanonicalModel::with_frequencies(partition, data, |_| true))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::{VectorKind, Vectors};
    use crate::joint::simplex::{Directions, SimplexCell};

    fn data(classes: usize, rows: &[(Vec<f32>, i64)]) -> VectorData {
        let values = rows.iter().flat_map(|row| row.0.clone()).collect();
        let vectors = Vectors::new(values, classes, VectorKind::Probs).unwrap();
        VectorData::new(&vectors, &rows.iter().map(|row| row.1).collect::<Vec<_>>()).unwrap()
    }

    #[test]
    fn an_empty_cell_is_uniform() {
        let data = data(3, &[(vec![0.8, 0.1, 0.1], 0), (vec![0.8, 0.2, 0.0], 1), (vec![0.1, 0.8, 0.1], 1)]);
        let model = CanonicalMethod::Sierpinski(1).fit(&data).unwrap();
        assert_eq!(model.cells[0], SimplexCell { probs: vec![0.5, 0.5, 0.0], counts: vec![1, 1, 0] });
        assert_eq!(model.cells[2], SimplexCell { probs: vec![1.0 / 3.0; 3], counts: vec![0; 3] });
        assert_eq!(model.cell(&[0.0, 1.0, 0.0]).probs, [0.0, 1.0, 0.0]);
        assert_eq!(CanonicalMethod::Grid(4).fit(&data).unwrap().cells.len(), 16);
    }

    #[test]
    fn refuses_what_it_cannot_fit() {
        let small = data(3, &[(vec![0.8, 0.1, 0.1], 0), (vec![0.8, 0.2, 0.0], 1)]);
        let one = data(3, &[(vec![0.8, 0.1, 0.1], 0), (vec![0.8, 0.2, 0.0], 0)]);
        assert_eq!(CanonicalMethod::Sierpinski(1).fit(&one), Err(CanonicalError::OneClass(2)));
        let many = Err(CanonicalError::TooManyCells { classes: 3 });
        assert_eq!(CanonicalMethod::Sierpinski(20).fit(&small), many);
        assert_eq!(CanonicalMethod::Grid(300).fit(&small), many);
        assert!(matches!(CanonicalMethod::Grid(0).fit(&small), Err(CanonicalError::Parameter(_))));
        let projection =
            |bins| CanonicalMethod::Projection(ProjectionBinning { bins, directions: Directions::Rotate });
        assert_eq!(projection(2).fit(&small), Err(CanonicalError::TooFewPoints { n: 2, bins: 2 }));
        assert!(matches!(projection(0).fit(&small), Err(CanonicalError::Parameter(_))));
    }
}
