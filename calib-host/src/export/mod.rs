//! Artefacts as source code, for firmware that is built with its calibrator.

mod c;
mod rust;

use calib_core::artifact::{Method, Reduction, TableForm};
use calib_core::{Artifact, BinFlags, QuantizedScore, ScoreEncoding};

/// Why an artefact has no form as source code.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ExportError {
    /// A scaling function, of which C would give other bits.
    #[error(
        "`{0}` is a function of exp and ln, which differ between libraries of C in their last bits: fit a method with \
         tables, or export it for Rust"
    )]
    Function(String),
    /// A calibrator of whole vectors.
    #[error(
        "`{0}` calibrates whole vectors and has no form as source code: put the artefact itself into flash"
    )]
    Vectors(String),
    /// The name is no identifier.
    #[error("`{0}` is no name: letters, digits and `_`, with a letter first")]
    Name(String),
    /// A template of C is wrong, which no artefact and no name can cause.
    #[error("the template of the header: {0}")]
    Template(String),
}

/// A table with what is known of its bins.
struct Exported<'a> {
    form: TableForm<'a>,
    epsilon: Option<f32>,
    /// Whether each bin is empty.
    empty: Vec<bool>,
    /// The bin of every 8-bit code, if the artefact holds them.
    direct: Vec<u8>,
}

/// A header in C99, without libm, with the tables of an artefact and a lookup of its own.
///
/// `name` is the prefix of everything that the header defines. It gives the bits of calib-core on a compiler that keeps to
/// IEEE 754 in single precision.
///
/// # Errors
///
/// If the artefact holds scaling functions or calibrates whole vectors, or the name is none.
pub fn export_c(artifact: &Artifact<'_>, name: &str) -> Result<String, ExportError> {
    let tables = exported(artifact, name)?;
    if tables.iter().flatten().any(|table| matches!(table.form, TableForm::Scaling(_))) {
        return Err(ExportError::Function(artifact.header().method.to_string()));
    }
    c::header(artifact, &tables, name).map_err(|error| ExportError::Template(error.to_string()))
}

/// Rust for `include!`: a `static` array with a table of calib-core, or `None`, per binary problem.
///
/// `name` is the array's, in capitals. Step tables are `FixedTable`s; of every other form the type is that in
/// [`TableForm`].
///
/// # Errors
///
/// If the artefact calibrates whole vectors, or the name is none.
pub fn export_rust(artifact: &Artifact<'_>, name: &str) -> Result<String, ExportError> {
    Ok(rust::tables(artifact, &exported(artifact, name)?, name))
}

fn exported<'a>(artifact: &Artifact<'a>, name: &str) -> Result<Vec<Option<Exported<'a>>>, ExportError> {
    let is_name = name.starts_with(|first: char| first.is_ascii_alphabetic())
        && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    if !is_name {
        return Err(ExportError::Name(name.into()));
    }
    if artifact.header().reduction == Reduction::Joint {
        return Err(ExportError::Vectors(artifact.header().method.to_string()));
    }
    let tables = artifact.tables();
    let one = |index| {
        let found = tables.get(index)?;
        let is_empty = |bin| tables.bin_flags(index, bin as u16).contains(BinFlags::EMPTY);
        let direct = match found.form {
            TableForm::Codes(codes) if tables.has_direct_table() => {
                let score = |key| QuantizedScore::from_key(artifact.header().encoding, key).ok();
                (0..=255).filter_map(score).map(|score| codes.lookup(score).0 as u8).collect()
            }
            _ => Vec::new(),
        };
        let empty = (0..found.form.bins()).map(is_empty).collect();
        Some(Exported { form: found.form, epsilon: found.epsilon, empty, direct })
    };
    Ok((0..tables.count()).map(one).collect())
}

/// The first lines: what this is.
fn title(artifact: &Artifact<'_>) -> Vec<String> {
    let header = artifact.header();
    let encoding = match header.encoding {
        ScoreEncoding::F32 => String::new(),
        encoding => format!(", of scores in {encoding}"),
    };
    let mut lines = vec![
        format!("calib {}, artefact {}:", env!("CARGO_PKG_VERSION"), artifact.identity()),
        format!(
            "{} ({}){encoding}, {} bins, {} calibration points.",
            header.method, header.reduction, header.bins, header.n
        ),
    ];
    if artifact.decision().is_some() {
        lines.push("The artefact's rule for decisions is not here.".into());
    }
    if artifact.tables().has_intervals() && !matches!(header.method, Method::VennAbers) {
        lines.push("The artefact's intervals are not here.".into());
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        ArtifactOptions, BinaryData, BinaryMethod, FixedWidth, ScalingMethod, StoredArtifact, artifact_bytes,
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
        let stored = artifact(&BinaryMethod::Scaling(ScalingMethod::Beta));
        let named = artifact(&BinaryMethod::FixedWidth(FixedWidth { bins: 5 }));
        assert_eq!(export_c(&stored.artifact(), "cal"), Err(ExportError::Function("beta".into())));
        assert!(export_rust(&stored.artifact(), "CAL").is_ok());
        for name in ["", "1st", "a-b", "é"] {
            assert_eq!(export_c(&named.artifact(), name), Err(ExportError::Name(name.into())));
        }
    }

    #[test]
    fn a_name_may_hold_words_of_the_templates() {
        let stored = artifact(&BinaryMethod::FixedWidth(FixedWidth { bins: 5 }));
        let c = export_c(&stored.artifact(), "name_NAME_table").unwrap();
        assert!(c.contains("#define NAME_NAME_TABLE_OK 0"), "{c}");
        assert!(c.contains("int name_NAME_table_calibrate("), "{c}");
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
