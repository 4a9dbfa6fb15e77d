//! What goes into an artifact besides the fit, and what names it.

use std::borrow::Cow;

use calib_core::artifact::{ArtifactWriter, Provenance, WriteError};
use calib_core::{ClassifierId, Identity};
use sha2::{Digest, Sha256};

use super::monitors::{Monitoring, OTHER_SCORES};
use crate::accessors::options;
use crate::bands::Band;
use crate::data::RowsDigest;
use crate::intervals::Intervals;

options! {
    /// What goes into an artifact besides the fit.
    #[derive(Clone, Debug, PartialEq)]
    #[non_exhaustive]
    pub struct ArtifactOptions {
        /// The SHA-256 of the calibration data files, in the order they were given.
        pub data_sha256: [u8; 32] = [0; 32],
        /// The classifier the scores come from.
        pub classifier: Option<ClassifierId> = None,
        /// Whether the exact interval of every bin goes to the device, at 8 bytes a bin, where the fit has any. Those of a fit
        /// to points with one label only always go there.
        pub intervals: bool = false,
        /// Intervals of ranges of the score, at 12 bytes a range and about 28 more: they are written unless those of the bins are. The device then
        /// answers with them, whatever the calibrator.
        pub score_intervals: Option<Intervals> = None,
        /// A band around the calibration curve, at 8 bytes a step and 24 more, of a fit to one score whose rows count the same.
        pub band: Option<Band> = None,
        /// How new the artifact is: a device refuses one with a lower counter than its own.
        pub counter: u32 = 0,
        /// The digest of the rows of the calibration data. With it the artifact keeps what is known of them ([`SampleFacts`](super::SampleFacts)), at 40
        /// to 68 bytes. It also keeps a sketch of up to 64 different rows ([`SKETCH_SECTION`](super::SKETCH_SECTION)),
        /// at 4 bytes each and 24 more. No device reads either.
        pub rows: Option<RowsDigest> = None,
        /// Whether the bin of every 8-bit code goes to the device, at 256 bytes a table and 8 more, so that it need not search.
        pub direct_table: bool = false,
        /// What monitors on the device compare with, at 4 bytes a bin and 36 more.
        pub monitors: Option<Monitoring> = None,
    }
}

impl ArtifactOptions {
    /// The parameters of a fit, and what else the artifact records.
    pub(crate) fn parameters<'f>(&self, of_fit: &'f str) -> Cow<'f, str> {
        match self.monitors.as_ref().and_then(Monitoring::other_scores) {
            Some(scores) => format!("{of_fit} {OTHER_SCORES}={scores}").trim_start().to_owned().into(),
            None => of_fit.into(),
        }
    }

    /// Writes the sections that no fit changes: they come last.
    pub(super) fn write_about(&self, writer: &mut ArtifactWriter<'_>) -> Result<(), WriteError> {
        if self.counter > 0 { writer.counter(self.counter) } else { Ok(()) }
    }

    /// Where an artifact with these parameters comes from.
    pub(crate) fn provenance<'a>(&self, parameters: &'a str) -> Provenance<'a> {
        Provenance {
            data_sha256: self.data_sha256,
            tool_version: env!("CARGO_PKG_VERSION"),
            parameters,
            classifier: self.classifier,
        }
    }
}

/// Returns the identity of an artifact with these sections: the first bytes of their SHA-256.
///
/// ```
/// let (one, other) = (calib_fit::artifact::identity(b"one"), calib_fit::artifact::identity(b"other"));
/// assert_eq!(one, calib_fit::artifact::identity(b"one"));
/// assert_ne!(one, other);
/// ```
pub fn identity(sections: &[u8]) -> Identity {
    let hash = Sha256::digest(sections);
    Identity(*hash.first_chunk().expect("a SHA-256 has 32 bytes"))
}
