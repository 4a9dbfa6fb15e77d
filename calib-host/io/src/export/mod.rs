//! Artifacts as source code, for firmware that is built with its calibrator.
//!
//! [`export_c`] writes a header that needs no library, [`export_rust`] tables of calib-core for `include!`. This room knows
//! artifacts, and no other room.

mod c;
mod comment;
mod example;
mod exported;
mod function;
mod rust;

use calib_fit::artifact::StoredArtifact;

use exported::{exported, joint};

pub use exported::ExportError;

/// A header in C99, without libm, with the tables of an artifact and a separate lookup, the interval of the
/// score's bin or range, its thresholds and its prediction sets.
///
/// ```
/// use calib_io::export::export_c;
/// # use calib_fit::{BinaryData, BinaryMethod, StoredArtifact, Umd, artifact_bytes, fit_binary};
/// # let scores = (0..400).map(|i| f64::from(i) / 400.0).collect();
/// # let data = BinaryData::new(scores, (0..400).map(|i| i % 40 < i / 20).collect())?;
/// # let fit = fit_binary(&data, &BinaryMethod::Umd(Umd::new(4)), 0.1)?;
/// # let artifact = StoredArtifact::from_bytes(&artifact_bytes(&fit, &Default::default())?)?;
///
/// let header = export_c(&artifact, "cal")?;
/// assert!(header.contains("cal_calibrate"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// `name` is the prefix of everything that the header defines. It gives the bits of calib-core on a compiler that keeps to
/// IEEE 754 in single precision.
///
/// # Errors
///
/// If the artifact asks for an action on an alarm of its monitors, or the name is none.
pub fn export_c(stored: &StoredArtifact, name: &str) -> Result<String, ExportError> {
    let tables = exported(&stored.artifact(), name)?;
    c::header(stored, &tables, name).map_err(|error| ExportError::Template(error.to_string()))
}

/// Rust for `include!`: a `static` array with a table of calib-core, or `None`, per binary problem.
///
/// ```
/// use calib_io::export::export_rust;
/// # use calib_fit::{BinaryData, BinaryMethod, StoredArtifact, Umd, artifact_bytes, fit_binary};
/// # let scores = (0..400).map(|i| f64::from(i) / 400.0).collect();
/// # let data = BinaryData::new(scores, (0..400).map(|i| i % 40 < i / 20).collect())?;
/// # let fit = fit_binary(&data, &BinaryMethod::Umd(Umd::new(4)), 0.1)?;
/// # let artifact = StoredArtifact::from_bytes(&artifact_bytes(&fit, &Default::default())?)?;
///
/// let tables = export_rust(&artifact, "CAL")?;
/// assert!(tables.contains("static CAL: [Option<calib_core::table::FixedTable<4>>; 1]"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// `name` is the array's, in capitals. Step tables are `FixedTable`s, of margins `FixedMarginTable`s; of every other form the type
/// is that in [`TableForm`](calib_core::artifact::TableForm).
///
/// If the artifact has intervals, a second array, `NAME_INTERVALS`, holds those of each table: of its bins, or of ranges of the score, which
/// `ScoreBins::bin` finds.
///
/// A lookup in such a table gives a bin and a number, and cannot say that there is no probability. So an artifact with bins
/// that hold no calibration point is refused: fit fewer bins, or a method whose bins follow the points; or export for C, where
/// the lookup returns a status; or put the artifact itself into flash.
///
/// # Errors
///
/// If the artifact calibrates whole vectors or has empty bins, or the name is none.
pub fn export_rust(stored: &StoredArtifact, name: &str) -> Result<String, ExportError> {
    let artifact = &stored.artifact();
    let tables = exported(artifact, name)?;
    if joint(artifact).is_some() {
        return Err(ExportError::Vectors(artifact.header().method.to_string()));
    }
    if tables.is_empty() {
        return Err(ExportError::NoTables);
    }
    let empty = tables.iter().flatten().flat_map(|table| &table.empty).filter(|&&is_empty| is_empty).count();
    if empty > 0 {
        return Err(ExportError::EmptyBins { empty, bins: artifact.header().bins });
    }
    Ok(rust::tables(stored, &tables, name))
}

#[cfg(test)]
mod tests {
    use super::*;
    use calib_core::artifact::TableForm;
    use calib_fit::artifact::{ArtifactOptions, artifact_bytes};
    use calib_fit::binary::{BinaryMethod, FixedWidth, ScalingMethod};
    use calib_fit::data::BinaryData;
    use calib_fit::fit::fit_binary;

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
        let c = export_c(&stored, "cal").unwrap();
        assert!(c.contains("cal_sigmoid(cal_times(a, ln_s) - cal_times(b, ln_not_s) + c)"), "{c}");
        assert!(export_rust(&stored, "CAL").is_ok());
        for name in ["", "1st", "a-b", "é"] {
            assert_eq!(export_c(&named, name), Err(ExportError::Name(name.into())));
        }
    }

    #[test]
    fn a_name_may_hold_words_of_the_templates() {
        let stored = artifact(&BinaryMethod::FixedWidth(FixedWidth { bins: 5 }));
        let c = export_c(&stored, "name_NAME_table").unwrap();
        assert!(c.contains("#define NAME_NAME_TABLE_OK 0"), "{c}");
        assert!(c.contains("int name_NAME_table_calibrate("), "{c}");
    }

    /// Scores end at 0.75, so the last of five bins of equal width is empty.
    #[test]
    fn a_form_without_flags_refuses_empty_bins() {
        let stored = artifact(&BinaryMethod::FixedWidth(FixedWidth { bins: 5 }));
        let refused = export_rust(&stored, "CAL");
        assert_eq!(refused, Err(ExportError::EmptyBins { empty: 1, bins: 5 }));
        let c = export_c(&stored, "cal").unwrap();
        assert!(
            c.contains("if (table->empty && table->empty[bin])\n        return CAL_UNCALIBRATED;"),
            "{c}"
        );
    }

    #[test]
    fn the_guarantee_is_in_the_first_comment() {
        let stored = artifact(&BinaryMethod::FixedWidth(FixedWidth { bins: 3 }));
        let [c, rust] = [export_c(&stored, "cal"), export_rust(&stored, "CAL")];
        let guaranteed = calib_fit::artifact::guarantee_text(&stored);
        assert!(guaranteed.statement.contains("at least 90% probability"), "{guaranteed}");
        assert!(guaranteed.assumptions.len() >= 3 && guaranteed.limits.len() >= 3, "{guaranteed}");
        for (text, end) in [(c.unwrap(), "*/"), (rust.unwrap(), "#[rustfmt::skip]")] {
            let comment = text.split_once(end).unwrap().0.replace("// ", "");
            let words = comment.split_whitespace().collect::<Vec<_>>().join(" ");
            let all = [&guaranteed.statement].into_iter();
            let conditions = guaranteed.assumptions.iter().chain(&guaranteed.limits).map(|one| &one.full);
            for sentence in all.chain(conditions) {
                assert!(words.contains(sentence), "{sentence}\n{words}");
            }
            assert!(comment.lines().all(|line| line.len() < 120), "{comment}");
        }
    }

    #[test]
    fn exports_every_bit() {
        let stored = artifact(&BinaryMethod::FixedWidth(FixedWidth { bins: 3 }));
        let artifact = stored.artifact();
        let TableForm::Steps(table) = artifact.tables().get(0).unwrap().form else { panic!("no steps") };
        let c = export_c(&stored, "cal").unwrap();
        let rust = export_rust(&stored, "CAL").unwrap();
        for number in table.edges().iter().copied().chain(table.values()) {
            assert!(c.contains(&format!("{:#010x}", number.to_bits())), "{c}");
            assert!(rust.contains(&format!("{:#010x}", number.to_bits())), "{rust}");
        }
        assert!(rust.contains("FixedTable<4>"), "{rust}");
    }
}
