//! Artefacts as source code, for firmware that is built with its calibrator.

mod c;
mod rust;

use calib_core::{Artifact, BinFlags, StepTable, TableForm};

/// Why an artefact has no form as source code.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ExportError {
    /// A table is no step table over floats.
    #[error("only step tables over floats have a form as source code, and {0} has another")]
    Form(String),
    /// The name is no identifier.
    #[error("`{0}` is no name: letters, digits and `_`, with a letter first")]
    Name(String),
}

/// A step table with what is known of its bins.
struct Steps<'a> {
    table: StepTable<'a>,
    epsilon: Option<f32>,
    /// Whether each bin is empty.
    empty: Vec<bool>,
}

/// A header in C99, without libm, with the tables of a step artefact and a lookup of its own.
///
/// `name` is the prefix of everything that the header defines.
///
/// # Errors
///
/// If the artefact holds other tables than steps over floats, or the name is none.
pub fn export_c(artifact: &Artifact<'_>, name: &str) -> Result<String, ExportError> {
    Ok(c::header(artifact, &steps(artifact, name)?, name))
}

/// Rust for `include!`: a `static` array with a `calib_core::FixedTable`, or `None`, per table of a step artefact.
///
/// `name` is the array's, in capitals.
///
/// # Errors
///
/// As [`export_c`].
pub fn export_rust(artifact: &Artifact<'_>, name: &str) -> Result<String, ExportError> {
    Ok(rust::table(artifact, &steps(artifact, name)?, name))
}

fn steps<'a>(artifact: &Artifact<'a>, name: &str) -> Result<Vec<Option<Steps<'a>>>, ExportError> {
    let is_name = name.starts_with(|first: char| first.is_ascii_alphabetic())
        && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    if !is_name {
        return Err(ExportError::Name(name.into()));
    }
    let tables = artifact.tables();
    (0..tables.count())
        .map(|index| match tables.get(index) {
            None => Ok(None),
            Some(found) => match found.form {
                TableForm::Steps(table) => {
                    let is_empty = |bin| tables.bin_flags(index, bin as u16).contains(BinFlags::EMPTY);
                    let empty = (0..table.bins()).map(is_empty).collect();
                    Ok(Some(Steps { table, epsilon: found.epsilon, empty }))
                }
                _ => Err(ExportError::Form(artifact.header().method.to_string())),
            },
        })
        .collect()
}

/// The first lines: what this is.
fn title(artifact: &Artifact<'_>) -> String {
    let header = artifact.header();
    format!(
        "calib {}, artefact {}: {} ({}), {} bins, {} calibration points.",
        env!("CARGO_PKG_VERSION"),
        artifact.identity(),
        header.method,
        header.reduction,
        header.bins,
        header.n
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        ArtifactOptions, BinaryData, BinaryMethod, FixedWidth, Isotonic, StoredArtifact, artifact_bytes,
        fit_binary,
    };

    fn artifact(method: &BinaryMethod) -> StoredArtifact {
        let scores = (0..300).map(|i| f64::from(i) / 400.0).collect();
        let labels = (0..300).map(|i| i % 30 < i / 10).collect();
        let data = BinaryData::new(scores, labels).unwrap().on_device();
        let fit = fit_binary(&data, method, 0.1).unwrap();
        StoredArtifact::from_bytes(&artifact_bytes(&fit, &ArtifactOptions::default()).unwrap()).unwrap()
    }

    #[test]
    fn refuses_what_has_no_form_and_no_name() {
        let stored = artifact(&BinaryMethod::IsotonicInterpolated(Isotonic::default()));
        let named = artifact(&BinaryMethod::FixedWidth(FixedWidth { bins: 5 }));
        assert!(matches!(export_c(&stored.artifact(), "cal"), Err(ExportError::Form(_))));
        assert!(matches!(export_rust(&stored.artifact(), "CAL"), Err(ExportError::Form(_))));
        for name in ["", "1st", "a-b", "é"] {
            assert_eq!(export_c(&named.artifact(), name), Err(ExportError::Name(name.into())));
        }
    }

    #[test]
    fn exports_every_bit() {
        let stored = artifact(&BinaryMethod::FixedWidth(FixedWidth { bins: 5 }));
        let artifact = stored.artifact();
        let TableForm::Steps(table) = artifact.tables().get(0).unwrap().form else { panic!("no steps") };
        let c = export_c(&artifact, "cal").unwrap();
        let rust = export_rust(&artifact, "CAL").unwrap();
        for number in table.edges().iter().copied().chain(table.values()) {
            assert!(c.contains(&format!("{:#010x}", number.to_bits())), "{c}");
            assert!(rust.contains(&format!("{:#010x}", number.to_bits())), "{rust}");
        }
        assert!(rust.contains("FixedTable<8>"), "{rust}");
    }
}
