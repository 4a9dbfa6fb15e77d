//! Calibrators of whole vectors, as C writes them.

use calib_core::Artifact;
use calib_core::artifact::ScoreBins;
use calib_core::vector::{CellScheme, CellTable, ScalingInput, ScalingShape, SimplexGrid, VectorScaling};
use calib_core::{BinFlags, ProbInterval, VectorCalibrator};
use minijinja::{Value, context};

use super::data::{bits, list};
use crate::export::exported;

/// What the templates take of a calibrator of whole vectors; none if the artifact has tables.
pub(super) fn joint(artifact: &Artifact<'_>) -> Option<Value> {
    let calibrator = exported::joint(artifact)?;
    let takes_logits = calibrator.needs_logits();
    let has_ranges = artifact.score_intervals().is_some();
    let of_kind = match calibrator {
        VectorCalibrator::Scaled(function) => scaled(function),
        VectorCalibrator::Binned(table) => binned(table),
        _ => return None,
    };
    Some(context! {
        classes => artifact.header().classes,
        takes_logits,
        scores => if takes_logits { "logits" } else { "probs" },
        has_ranges,
        ranges => (0..artifact.header().classes.into()).map(|class| range(artifact, class)).collect::<Vec<_>>(),
        ..of_kind
    })
}

fn scaled(function: VectorScaling<'_>) -> Value {
    let clip = match function.input() {
        ScalingInput::Logits => None,
        ScalingInput::LogProbs { clip } => Some(format!("{clip:e}f")),
    };
    let temperature = match function.shape() {
        ScalingShape::Temperature { inverse_t } => Some(format!("{:#010x}u", inverse_t.to_bits())),
        _ => None,
    };
    let arrays = match function.shape() {
        ScalingShape::Vector { weights, intercepts } => vec![
            floats("weight", "The weight of each class's feature.", weights),
            floats("intercept", "What is added to it.", intercepts),
        ],
        ScalingShape::Matrix { weights, intercepts } => vec![
            floats("weight", "For each class the weights of all features.", weights),
            floats("intercept", "What is added to their sum.", intercepts),
        ],
        _ => Vec::new(),
    };
    context! {
        clip,
        temperature,
        is_matrix => matches!(function.shape(), ScalingShape::Matrix { .. }),
        arrays,
        arithmetic => context! { times => true, exp => true, bounded => true, softmax => true, log => clip.is_some() },
    }
}

fn binned(table: CellTable<'_>) -> Value {
    let cells = table.scheme().cells();
    let flags = |cell| table.flags(cell as u16).contains(BinFlags::EMPTY);
    let empty: Vec<u32> = (0..cells).map(|cell| flags(cell).into()).collect();
    let may_be_empty = empty.contains(&1);
    let mut arrays = match table.scheme() {
        CellScheme::Projection(projection) => vec![
            floats("direction", "For each cell but the last its direction.", projection.directions()),
            floats("threshold", "For each of them its threshold.", projection.thresholds()),
        ],
        CellScheme::SplitTree(tree) => {
            vec![array(
                "tree",
                "uint32_t",
                "For each node its point, then its children: nodes, or leaves with the highest bit set.",
                tree.words(),
            )]
        }
        _ => Vec::new(),
    };
    arrays.push(floats("value", "For each cell the probabilities of all classes.", table.values()));
    if may_be_empty {
        arrays.push(array("empty", "uint8_t", "Whether a cell has no calibration point.", &empty));
    }
    let scheme = match table.scheme() {
        CellScheme::Sierpinski(scheme) => context! { cells => "cell_sierpinski.h", depth => scheme.depth() },
        CellScheme::Grid(grid) => of_grid(*grid),
        CellScheme::SplitTree(tree) => {
            context! { cells => "cell_tree.h", nodes => tree.words().len() / (2 * tree.classes()) }
        }
        _ => context! { cells => "cell_projection.h" },
    };
    let times = matches!(table.scheme(), CellScheme::Grid(_) | CellScheme::Projection(_));
    context! { count => cells, may_be_empty, arrays, arithmetic => context! { times }, ..scheme }
}

fn of_grid(grid: SimplexGrid) -> Value {
    // The least and the largest sum of the steps of a cell.
    let (classes, steps) = (grid.classes() as u32, u32::from(grid.resolution()));
    let (lowest, highest) = ((steps + 1).saturating_sub(classes), steps - 1);
    let resolution = f32::from(grid.resolution());
    context! { cells => "cell_grid.h", lowest, highest, resolution => format!("{resolution:?}f") }
}

/// The ranges of a class's score, with their intervals.
fn range(artifact: &Artifact<'_>, class: usize) -> Option<Value> {
    let ranges: ScoreBins<'_> = artifact.tables().score_bins(class)?;
    let end = |end: fn(ProbInterval) -> f32| {
        let of = |bin| ranges.interval(bin).map_or(f32::NAN, end);
        bits((0..=ranges.edges().len()).map(of))
    };
    let parts = [
        ("range", ranges.edges().to_vec()),
        ("lo", end(|interval| interval.lo)),
        ("hi", end(|interval| interval.hi)),
    ];
    let part = |(name, numbers): (&str, Vec<u32>)| context! { name, numbers => list(&numbers, "uint32_t") };
    Some(context! { index => class, edges => ranges.edges().len(), parts => parts.map(part).to_vec() })
}

fn floats(name: &str, comment: &str, numbers: &[f32]) -> Value {
    array(name, "uint32_t", comment, &bits(numbers.iter().copied()))
}

fn array(name: &str, number: &str, comment: &str, numbers: &[u32]) -> Value {
    context! { name, type => number, comment, numbers => list(numbers, number) }
}
