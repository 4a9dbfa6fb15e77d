//! Writing an artifact into a buffer that is long enough.

use calib_core::Artifact;
use calib_core::artifact::{ArtifactWriter, WriteError};

use super::options::identity;

/// Most artifacts fit into the first buffer.
const FIRST_LEN_WORDS: usize = 1 << 10;
/// Four times what is read from a file, and more than any artifact that a device holds.
const MAX_LEN_WORDS: usize = 1 << 26;

/// Returns the bytes of an artifact whose sections `write` writes.
///
/// # Errors
///
/// If `write` fails with another cause than a short buffer, or the artifact is longer than 256 MiB.
pub(crate) fn written(
    write: impl Fn(&mut ArtifactWriter<'_>) -> Result<(), WriteError>,
) -> Result<Vec<u8>, WriteError> {
    let mut len_words = FIRST_LEN_WORDS;
    loop {
        let mut buf = vec![0u32; len_words];
        let mut writer = ArtifactWriter::new(bytemuck::cast_slice_mut(&mut buf));
        match write(&mut writer).and_then(|()| writer.finish(identity)) {
            // Too large for the buffer, or for the format: a longer buffer tells.
            Err(WriteError::TooLarge) if len_words < MAX_LEN_WORDS => len_words *= 2,
            Err(cause) => return Err(cause),
            Ok(bytes) => {
                debug_assert!(Artifact::parse(bytes).is_ok());
                return Ok(bytes.to_vec());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_buffer_grows_until_the_artifact_fits() {
        let header = calib_core::artifact::Header {
            method: calib_core::artifact::Method::Isotonic,
            reduction: calib_core::artifact::Reduction::Binary,
            encoding: calib_core::ScoreEncoding::F32,
            classes: 2,
            bins: 1000,
            n: 1000,
            guarantee: None,
            flags: calib_core::artifact::HeaderFlags::NONE,
            provenance: crate::artifact::ArtifactOptions::default().provenance(""),
        };
        let edges: Vec<f32> = (1..1000u16).map(|edge| f32::from(edge) / 1000.0).collect();
        let steps = calib_core::StepTable::new(&edges, &[0.5; 1000]).unwrap();
        let table = calib_core::artifact::Table {
            form: calib_core::artifact::TableForm::Steps(steps),
            epsilon: None,
        };
        let bytes = written(|writer| {
            writer.header(&header)?;
            writer.tables(&[Some(table)])
        });
        assert!(bytes.unwrap().len() > 4 * FIRST_LEN_WORDS);
        assert_eq!(written(|_| Err(WriteError::Form)), Err(WriteError::Form));
    }
}
