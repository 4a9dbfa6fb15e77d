//! From a fit to the bytes that a device reads.

use calib_core::{
    Artifact, ArtifactWriter, ClassifierId, Header, HeaderFlags, Identity, Provenance, ScoreEncoding,
    StepTable, Table, TableForm, WriteError,
};
use sha2::{Digest, Sha256};

use crate::fit::Fit;

/// Where a fit comes from, as recorded in the artefact.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Origin {
    /// The SHA-256 of the calibration data files, in the order they were given.
    pub data_sha256: [u8; 32],
    /// The classifier the scores come from.
    pub classifier: Option<ClassifierId>,
}

/// Why a fit has no form that a device can run.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum CompileError {
    /// An edge is not an `f32`: the fit was made on scores that no device produces.
    #[error("edge {0} is not an f32: fit on scores as the device sees them")]
    Edge(f64),
    /// The tables or the header do not fit the format.
    #[error(transparent)]
    Write(#[from] WriteError),
}

/// Compiles a fit into an artefact of format 1.
///
/// Values are rounded to the nearest `f32`, epsilons upwards; edges are `f32` already. The same fit and origin
/// give the same bytes.
///
/// # Errors
///
/// If an edge is not an `f32`, or the artefact would be larger than the format allows.
pub fn artifact_bytes(fit: &Fit, origin: &Origin) -> Result<Vec<u8>, CompileError> {
    let mut words: Vec<Option<(Vec<f32>, Vec<f32>)>> = Vec::with_capacity(fit.tables.len());
    for table in &fit.tables {
        words.push(match table {
            None => None,
            Some(table) => {
                let edges =
                    table.model.edges.iter().map(|&edge| exact_f32(edge)).collect::<Result<_, _>>()?;
                Some((edges, table.model.bins.iter().map(|bin| bin.value as f32).collect()))
            }
        });
    }
    let tables: Vec<Option<Table<'_>>> = words
        .iter()
        .zip(&fit.tables)
        .map(|(words, fitted)| {
            let (edges, values) = words.as_ref()?;
            let steps =
                StepTable::new(edges, values).expect("edges ascend within (0, 1] and values are means");
            let epsilon = fitted.as_ref()?.epsilon.map(round_up);
            Some(Table { form: TableForm::Steps(steps), epsilon })
        })
        .collect();

    let mut flags = HeaderFlags::NONE;
    if fit.tied_tables().next().is_some() {
        flags = flags.with(HeaderFlags::TIES_MERGED);
    }
    if fit.uncalibrated_classes().next().is_some() {
        flags = flags.with(HeaderFlags::CLASS_UNCALIBRATED);
    }
    let header = Header {
        method: fit.method,
        reduction: fit.reduction,
        encoding: ScoreEncoding::F32,
        classes: u16::try_from(fit.classes).map_err(|_| WriteError::TooLarge)?,
        bins: u32::try_from(fit.bins()).map_err(|_| WriteError::TooLarge)?,
        n: fit.n,
        guarantee: fit.guarantee.map(|g| calib_core::Guarantee {
            theorem: g.theorem,
            alpha: g.alpha as f32,
            epsilon: round_up(g.epsilon),
        }),
        flags,
        provenance: Provenance {
            data_sha256: origin.data_sha256,
            tool_version: env!("CARGO_PKG_VERSION"),
            parameters: &fit.parameters,
            classifier: origin.classifier,
        },
    };

    let space = 1024 + fit.parameters.len() + 8 * (fit.bins() + tables.len());
    let mut buf = vec![0u32; space.div_ceil(4)];
    let mut writer = ArtifactWriter::new(bytemuck::cast_slice_mut(&mut buf));
    writer.header(&header)?;
    writer.tables(&tables)?;
    let bytes = writer.finish(identity)?;
    debug_assert!(Artifact::parse(bytes).is_ok());
    Ok(bytes.to_vec())
}

/// The identity of an artefact with these sections.
pub(crate) fn identity(sections: &[u8]) -> Identity {
    let hash = Sha256::digest(sections);
    Identity(*hash.first_chunk().expect("a SHA-256 has 32 bytes"))
}

fn exact_f32(edge: f64) -> Result<f32, CompileError> {
    let single = edge as f32;
    if f64::from(single) == edge { Ok(single) } else { Err(CompileError::Edge(edge)) }
}

/// The smallest `f32` not below a positive number.
fn round_up(value: f64) -> f32 {
    let nearest = value as f32;
    if f64::from(nearest) < value { nearest.next_up() } else { nearest }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn epsilon_is_never_rounded_down() {
        for value in [0.1, 0.100_263_616_852_151_99, 1.0 / 3.0, 2.0] {
            let single = f64::from(round_up(value));
            assert!(single >= value && single - value < 1e-7);
        }
    }
}
