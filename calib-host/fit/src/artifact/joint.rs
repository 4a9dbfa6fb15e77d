//! From a calibrator of whole vectors to the bytes that a device reads.

use calib_core::artifact::{Header, HeaderFlags, Reduction, WriteError};
use calib_core::vector::{CellScheme, CellTable, Joint, Projection, ScalingShape, SplitTree, VectorScaling};
use calib_core::{BinFlags, ScoreEncoding};

use super::error::CompileError;
use super::monitors::MonitorError;
use super::options::ArtifactOptions;
use super::sample::{SampleFacts, write_rows};
use super::score_intervals::{self, of_classes};
use super::write::written;
use crate::joint::{CanonicalModel, JointFit, JointModel, Partition, VectorScalingModel};

/// Compiles a fit of whole vectors into an artifact of format 1.
///
/// Values and parameters are rounded to the nearest `f32`; what decides about cells is as it was fitted. The same fit and
/// options give the same bytes.
///
/// ```
/// use calib_fit::joint::VectorScalingMethod;
/// use calib_fit::{JointMethod, StoredArtifact, VectorData, VectorKind, Vectors, fit_joint, joint_artifact_bytes};
///
/// // Logits that are twice as sure as they should be.
/// let rows: Vec<f32> = (0..300).flat_map(|i| [[4.0, 0.0], [0.0, 4.0]][i % 2]).collect();
/// let labels: Vec<i64> = (0..300).map(|i| if i % 10 == 0 { (i + 1) % 2 } else { i % 2 }).collect();
/// let vectors = Vectors::new(rows, 2, VectorKind::Logits)?;
/// let method = VectorScalingMethod::Temperature;
/// let method = JointMethod::Scaling { method, log_probs: false, cross_validation: None };
/// let fit = fit_joint(&VectorData::new(&vectors, &labels)?, &method)?;
/// let stored = StoredArtifact::from_bytes(&joint_artifact_bytes(&fit, &Default::default())?)?;
/// assert_eq!(stored.artifact().header().method.to_string(), "temperature");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
///
/// If a number has no `f32`, monitors are asked for, or the artifact would be larger than the format allows.
pub fn joint_artifact_bytes(fit: &JointFit, options: &ArtifactOptions) -> Result<Vec<u8>, CompileError> {
    if options.monitors.is_some() {
        return Err(MonitorError::Joint.into());
    }
    let classes = u16::try_from(fit.classes).map_err(|_| WriteError::TooLarge)?;
    match &fit.model {
        JointModel::Scaling(model) => {
            let nearest = |values: &[f64]| values.iter().map(|&value| value as f32).collect::<Vec<_>>();
            let (weights, intercepts) = (nearest(&model.weights), nearest(&model.intercepts));
            let shape = shape(model, &weights, &intercepts);
            let function = VectorScaling::new(classes, model.input, shape);
            let function = function.map_err(|_| CompileError::Parameter)?;
            write(fit, classes, &Joint::Scaled(function), &[], options)
        }
        JointModel::Canonical(model) => {
            let values = model.cells.iter().flat_map(|cell| &cell.probs);
            let values: Vec<f32> = values.map(|&prob| prob as f32).collect();
            let scheme = scheme(model, classes).ok_or(CompileError::Parameter)?;
            let table = CellTable::new(scheme, &values).map_err(|_| CompileError::Parameter)?;
            let flags: Vec<BinFlags> = model.cells.iter().map(|cell| flags(cell.n())).collect();
            write(fit, classes, &Joint::Binned(table), &flags, options)
        }
    }
}

fn shape<'v>(model: &VectorScalingModel, weights: &'v [f32], intercepts: &'v [f32]) -> ScalingShape<'v> {
    match *weights {
        [inverse_t] => ScalingShape::Temperature { inverse_t },
        _ if weights.len() == model.classes() => ScalingShape::Vector { weights, intercepts },
        _ => ScalingShape::Matrix { weights, intercepts },
    }
}

/// The partition as the device reads it, checked as the device checks it.
fn scheme(model: &CanonicalModel, classes: u16) -> Option<CellScheme<'_>> {
    match &model.partition {
        Partition::Sierpinski(sierpinski) => Some(CellScheme::Sierpinski(*sierpinski)),
        Partition::Grid(grid) => Some(CellScheme::Grid(*grid)),
        Partition::Projection { directions, thresholds } => {
            Projection::new(classes, directions, thresholds).map(CellScheme::Projection)
        }
        Partition::SplitTree(tree) => SplitTree::new(classes, tree.words()).ok().map(CellScheme::SplitTree),
    }
}

fn flags(n: u64) -> BinFlags {
    if n == 0 { BinFlags::EMPTY } else { BinFlags::NONE }
}

fn write(
    fit: &JointFit,
    classes: u16,
    calibrator: &Joint<'_>,
    cells: &[BinFlags],
    options: &ArtifactOptions,
) -> Result<Vec<u8>, CompileError> {
    let beside = options.score_intervals.as_ref();
    let beside =
        beside.map(|found| Ok::<_, CompileError>((found, of_classes(found, fit.classes)?))).transpose()?;
    let ties_merged = matches!(&fit.model, JointModel::Canonical(model) if model.ties_merged);
    let header = Header {
        method: fit.method,
        reduction: Reduction::Joint,
        encoding: ScoreEncoding::F32,
        classes,
        bins: u32::try_from(cells.len()).map_err(|_| WriteError::TooLarge)?,
        n: fit.n,
        guarantee: None,
        flags: if ties_merged { HeaderFlags::TIES_MERGED } else { HeaderFlags::NONE },
        provenance: options.provenance(&fit.parameters),
    };
    Ok(written(|writer| {
        writer.header(&header)?;
        writer.joint(calibrator)?;
        if cells.contains(&BinFlags::EMPTY) {
            writer.bin_flags(cells)?;
        }
        if let Some((found, classes)) = &beside {
            score_intervals::write(found, classes, writer)?;
        }
        if let Some(rows) = &options.rows {
            write_rows(SampleFacts::of_rows(rows.hash), rows, writer)?;
        }
        options.write_about(writer)
    })?)
}
