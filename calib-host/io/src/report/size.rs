//! What an artifact's bytes are.

use calib_core::artifact::{PREFIX_LEN, SectionKind};
use calib_fit::artifact::{SAMPLE_SECTION, SECTION_HEAD_LEN, SKETCH_SECTION, StoredArtifact};
use serde::Serialize;

/// A part of an artifact.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ArtifactPart {
    /// What it holds.
    pub name: String,
    /// Its length with its head and what aligns it.
    pub len_bytes: usize,
}

/// The parts of an artifact, in their order. Their lengths add up to the artifact's.
pub(super) fn parts(artifact: &StoredArtifact) -> Vec<ArtifactPart> {
    let prefix = ArtifactPart { name: "prefix".into(), len_bytes: PREFIX_LEN };
    let section = |(kind, _, payload): (u16, bool, &[u8])| ArtifactPart {
        name: name(kind),
        len_bytes: (SECTION_HEAD_LEN + payload.len()).next_multiple_of(4),
    };
    std::iter::once(prefix).chain(artifact.sections().map(section)).collect()
}

fn name(kind: u16) -> String {
    match kind {
        SAMPLE_SECTION => "facts about the calibration observations".into(),
        SKETCH_SECTION => "sketch of the calibration rows".into(),
        _ => SectionKind::ALL
            .iter()
            .find(|known| **known as u16 == kind)
            .map_or("a section of another version".into(), ToString::to_string),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use calib_fit::artifact::{ArtifactOptions, artifact_bytes};
    use calib_fit::binary::{BinaryMethod, Umd};
    use calib_fit::data::BinaryData;
    use calib_fit::fit::fit_binary;

    #[test]
    fn the_parts_are_the_whole() {
        let scores = (0..100).map(|i| f64::from(i) / 128.0).collect();
        let data = BinaryData::new(scores, (0..100).map(|i| i % 3 == 0).collect()).unwrap();
        let fit = fit_binary(&data, &BinaryMethod::Umd(Umd::new(4)), 0.1).unwrap();
        let options = ArtifactOptions::default().intervals(true).counter(3);
        let bytes = artifact_bytes(&fit, &options).unwrap();
        let parts = parts(&StoredArtifact::from_bytes(&bytes).unwrap());
        assert_eq!(parts.iter().map(|part| part.len_bytes).sum::<usize>(), bytes.len());
        let names: Vec<_> = parts.iter().map(|part| part.name.as_str()).collect();
        for name in ["prefix", "header", "tables", "intervals of the bins", "counter"] {
            assert!(names.contains(&name), "{names:?}");
        }
        let tables = parts.iter().find(|part| part.name == "tables").unwrap();
        // The number of tables and where they end, the table's epsilon, three edges and four values.
        assert!(tables.len_bytes >= SECTION_HEAD_LEN + 4 * 8);
    }
}
