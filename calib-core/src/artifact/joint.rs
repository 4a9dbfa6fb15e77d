//! The sections that hold a calibrator of a whole vector.

use super::error::{ParseError, TableFault};
use super::header::{Header, Reduction};
use super::layout::SectionKind;
use super::pool::WordWriter;
use super::section::Payloads;
use crate::table::ParameterError;
use crate::vector::{
    CellScheme, CellTable, Joint, Projection, ScalingInput, ScalingShape, Sierpinski, SimplexGrid, SplitTree,
    VectorScaling,
};

// The shapes of section 12.
const TEMPERATURE: u32 = 0;
const DIAGONAL: u32 = 1;
const MATRIX: u32 = 2;
// The features of section 12.
const LOGITS: u32 = 0;
const LOG_PROBS: u32 = 1;

/// Reads the calibrator of a whole vector; `None` if the header says that there are tables.
pub(super) fn parse<'a>(
    sections: &Payloads<'a>,
    header: &Header<'_>,
) -> Result<Option<Joint<'a>>, ParseError> {
    if header.reduction != Reduction::Joint || header.method.has_no_calibrator() {
        return Ok(None);
    }
    let at = |fault| ParseError::Table { table: 0, fault };
    let kind = header.table_section().ok_or(ParseError::Header)?;
    let payload = sections.require(kind)?;
    let words: &[u32] = bytemuck::try_cast_slice(payload).map_err(|_| at(TableFault::Extent))?;
    if kind == SectionKind::VectorScaling {
        return Ok(Some(Joint::Scaled(scaling(words, header.classes).map_err(at)?)));
    }
    let table = cells(kind, words, header).map_err(at)?;
    let table = match sections.get(SectionKind::BinFlags) {
        Some(flags) => table.with_flags(flags).ok_or(at(TableFault::Flags))?,
        None => table,
    };
    Ok(Some(Joint::Binned(table)))
}

fn scaling(words: &[u32], classes: u16) -> Result<VectorScaling<'_>, TableFault> {
    let (&[shape, features, clip], rest) = words.split_first_chunk().ok_or(TableFault::Extent)?;
    let input = match (features, clip) {
        (LOGITS, 0) => ScalingInput::Logits,
        (LOG_PROBS, clip) => ScalingInput::LogProbs { clip: f32::from_bits(clip) },
        _ => return Err(TableFault::Content),
    };
    let rest: &[f32] = bytemuck::must_cast_slice(rest);
    let shape = match shape {
        TEMPERATURE => match *rest {
            [inverse_t] => ScalingShape::Temperature { inverse_t },
            _ => return Err(TableFault::Extent),
        },
        DIAGONAL | MATRIX => {
            let weights = rest.len().checked_sub(classes.into()).ok_or(TableFault::Extent)?;
            let (weights, intercepts) = rest.split_at_checked(weights).ok_or(TableFault::Extent)?;
            if shape == DIAGONAL {
                ScalingShape::Vector { weights, intercepts }
            } else {
                ScalingShape::Matrix { weights, intercepts }
            }
        }
        _ => return Err(TableFault::Content),
    };
    VectorScaling::new(classes, input, shape).map_err(|error| match error {
        ParameterError::Length => TableFault::Extent,
        _ => TableFault::Content,
    })
}

fn cells<'a>(kind: SectionKind, words: &'a [u32], header: &Header<'_>) -> Result<CellTable<'a>, TableFault> {
    let classes = usize::from(header.classes);
    let cells = usize::try_from(header.bins).map_err(|_| TableFault::Bins)?;
    let values = cells.checked_mul(classes).ok_or(TableFault::Bins)?;
    let before = words.len().checked_sub(values).ok_or(TableFault::Extent)?;
    let (before, values) = words.split_at_checked(before).ok_or(TableFault::Extent)?;
    let scheme = match (kind, before) {
        (SectionKind::Sierpinski, &[depth]) => u8::try_from(depth)
            .ok()
            .and_then(|depth| Sierpinski::new(header.classes, depth))
            .map(CellScheme::Sierpinski),
        (SectionKind::Grid, &[resolution]) => u16::try_from(resolution)
            .ok()
            .and_then(|resolution| SimplexGrid::new(header.classes, resolution))
            .map(CellScheme::Grid),
        (SectionKind::Projection, before) => {
            let thresholds = cells.checked_sub(1).ok_or(TableFault::Bins)?;
            let directions = before.len().checked_sub(thresholds).ok_or(TableFault::Extent)?;
            let (directions, thresholds) = before.split_at_checked(directions).ok_or(TableFault::Extent)?;
            let (directions, thresholds) =
                (bytemuck::must_cast_slice(directions), bytemuck::must_cast_slice(thresholds));
            Projection::new(header.classes, directions, thresholds).map(CellScheme::Projection)
        }
        (SectionKind::SplitTree, nodes) => {
            SplitTree::new(header.classes, nodes).ok().map(CellScheme::SplitTree)
        }
        _ => return Err(TableFault::Extent),
    };
    let scheme = scheme.ok_or(TableFault::Content)?;
    if scheme.cells() != cells {
        return Err(TableFault::Bins);
    }
    CellTable::new(scheme, bytemuck::must_cast_slice(values)).map_err(|_| TableFault::Content)
}

/// Returns the kind of section that holds a calibrator.
pub(super) fn section(joint: &Joint<'_>) -> SectionKind {
    match joint {
        Joint::Scaled(_) => SectionKind::VectorScaling,
        Joint::Binned(table) => match table.scheme() {
            CellScheme::Sierpinski(_) => SectionKind::Sierpinski,
            CellScheme::Grid(_) => SectionKind::Grid,
            CellScheme::Projection(_) => SectionKind::Projection,
            CellScheme::SplitTree(_) => SectionKind::SplitTree,
        },
    }
}

/// Writes the section's words.
pub(super) fn write(joint: &Joint<'_>, out: &mut WordWriter<'_>) -> Option<()> {
    match joint {
        Joint::Scaled(function) => {
            let (features, clip) = match function.input() {
                ScalingInput::Logits => (LOGITS, 0.0),
                ScalingInput::LogProbs { clip } => (LOG_PROBS, clip),
            };
            let scale = function.shape();
            let (shape, weights, intercepts): (_, &[f32], &[f32]) = match &scale {
                ScalingShape::Temperature { inverse_t } => {
                    (TEMPERATURE, core::slice::from_ref(inverse_t), &[])
                }
                ScalingShape::Vector { weights, intercepts } => (DIAGONAL, weights, intercepts),
                ScalingShape::Matrix { weights, intercepts } => (MATRIX, weights, intercepts),
            };
            out.words(&[shape, features, clip.to_bits()])?;
            out.floats(weights.iter().chain(intercepts).copied())
        }
        Joint::Binned(table) => {
            match table.scheme() {
                CellScheme::Sierpinski(sierpinski) => out.word(sierpinski.depth().into())?,
                CellScheme::Grid(grid) => out.word(grid.resolution().into())?,
                CellScheme::Projection(projection) => {
                    out.floats(projection.directions().iter().chain(projection.thresholds()).copied())?;
                }
                CellScheme::SplitTree(tree) => out.words(tree.words())?,
            }
            out.floats(table.values().iter().copied())
        }
    }
}
