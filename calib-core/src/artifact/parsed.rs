//! Reading an artefact.

use super::error::ParseError;
use super::header::{Header, Method};
use super::identity::{ClassifierId, Identity};
use super::joint;
use super::layout::{PREFIX_LEN, SectionKind, array_at};
use super::prefix::Prefix;
use super::section::Payloads;
use super::signature::{SIGNATURE_SECTION_LEN, Signature};
use super::tables::Tables;
use crate::decision::DecisionRule;
use crate::vector::Joint;

/// A checked artefact, which borrows the bytes from which it was parsed.
///
/// ```
/// use calib_core::{Artifact, Calibrator, Outcome, Score};
///
/// # mod sample { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/sample.rs")); }
/// # let bytes = sample::binary();
/// let artifact = Artifact::parse(bytes.as_bytes()).unwrap();
/// let Calibrator::Binary(calibrator) = artifact.calibrator() else { panic!("not a binary calibrator") };
/// let Outcome::Calibrated(calibrated) = calibrator.calibrate(Score::new(0.93)?) else { panic!("uncalibrated") };
/// assert_eq!((calibrated.prob, calibrated.epsilon), (0.8, Some(0.125)));
/// # Ok::<(), calib_core::ScoreError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Artifact<'a> {
    identity: Identity,
    len_bytes: usize,
    header: Header<'a>,
    tables: Tables<'a>,
    /// The calibrator of whole vectors in place of tables.
    joint: Option<Joint<'a>>,
    counter: u32,
    signature: Option<Signature<'a>>,
    decision: Option<DecisionRule<'a>>,
}

impl<'a> Artifact<'a> {
    /// Checks an artefact that fills `bytes` exactly, such as a file.
    ///
    /// Everything is checked here, once: magic, format, lengths, CRC-32C, sections, header, counts, edges and values. Calibrating a
    /// valid score cannot fail afterwards.
    ///
    /// `bytes` must start at a multiple of 4 in memory, as in an [`ArtifactBuffer`](crate::slot::ArtifactBuffer).
    ///
    /// # Errors
    ///
    /// The first cause found. No input panics, and nothing beyond `bytes` is read.
    pub fn parse(bytes: &'a [u8]) -> Result<Self, ParseError> {
        let artifact = Self::parse_front(bytes)?;
        if artifact.len_bytes == bytes.len() {
            Ok(artifact)
        } else {
            Err(ParseError::TrailingBytes { offset: artifact.len_bytes })
        }
    }

    /// Checks an artefact at the start of a flash slot whose rest is erased.
    ///
    /// Erased bytes are all `0xFF`, or all `0x00` as in emulated memory that was never programmed.
    ///
    /// ```
    /// use calib_core::Artifact;
    ///
    /// # mod sample { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/sample.rs")); }
    /// # let mut slot = sample::binary();
    /// slot.extend_from_slice(&[0xFF; 8]).unwrap();
    /// assert!(Artifact::parse_slot(slot.as_bytes()).is_ok());
    /// assert!(Artifact::parse(slot.as_bytes()).is_err());
    /// ```
    ///
    /// # Errors
    ///
    /// As [`Artifact::parse`], and [`ParseError::TrailingBytes`] if the rest of the slot is not erased.
    pub fn parse_slot(slot: &'a [u8]) -> Result<Self, ParseError> {
        let artifact = Self::parse_front(slot)?;
        let tail = slot.get(artifact.len_bytes..).unwrap_or_default();
        let erased = tail.first().copied().unwrap_or(0xFF);
        let dirty =
            if matches!(erased, 0x00 | 0xFF) { tail.iter().position(|&b| b != erased) } else { Some(0) };
        match dirty {
            None => Ok(artifact),
            Some(at) => Err(ParseError::TrailingBytes { offset: artifact.len_bytes + at }),
        }
    }

    fn parse_front(bytes: &'a [u8]) -> Result<Self, ParseError> {
        let prefix = Prefix::parse(bytes)?;
        let body = bytes.get(PREFIX_LEN..prefix.total_len).unwrap_or_default();

        let sections = Payloads::collect(body, prefix.section_count)?;
        let header = Header::parse(sections.require(SectionKind::Header)?)?;
        let joint = joint::parse(&sections, &header)?;
        let tables = if joint.is_some() { Tables::NONE } else { Tables::parse(&sections, &header)? };
        let decision = sections.get(SectionKind::Decision).map(DecisionRule::parse).transpose();
        let decision = decision.map_err(ParseError::Decision)?;
        let counter = sections.get(SectionKind::Counter).and_then(|payload| array_at(payload, 0));
        Ok(Self {
            identity: prefix.identity,
            len_bytes: prefix.total_len,
            header,
            tables,
            joint,
            decision,
            counter: counter.map_or(0, u32::from_le_bytes),
            signature: sections.get(SectionKind::Signature).and_then(Signature::parse),
        })
    }

    /// Returns the artefact's name, a hash of its content. The host checks it; parsing does not.
    pub const fn identity(&self) -> Identity {
        self.identity
    }

    /// Returns the artefact's length in bytes, with the prefix.
    pub const fn len_bytes(&self) -> usize {
        self.len_bytes
    }

    /// Returns the artefact's counter; 0 if it has none. A device refuses an artefact with a lower counter than its own.
    pub const fn counter(&self) -> u32 {
        self.counter
    }

    /// Returns the signature, if there is one. It is **not verified**: an [`Admission`](crate::slot::Admission) does that.
    pub const fn signature(&self) -> Option<Signature<'a>> {
        self.signature
    }

    /// Returns the length in bytes without the signature. The identity is a hash of the sections within this length.
    pub const fn unsigned_len_bytes(&self) -> usize {
        match self.signature {
            Some(_) => self.len_bytes.saturating_sub(SIGNATURE_SECTION_LEN),
            None => self.len_bytes,
        }
    }

    /// Returns what was fitted, how and with which guarantee.
    pub const fn header(&self) -> &Header<'a> {
        &self.header
    }

    /// Returns the calibrator of whole vectors, if the artefact has one in place of tables.
    pub(crate) const fn joint(&self) -> Option<Joint<'a>> {
        self.joint
    }

    /// Returns the tables, one per binary problem of the reduction.
    pub const fn tables(&self) -> &Tables<'a> {
        &self.tables
    }

    /// Returns the decision rule, if the artefact has one.
    pub const fn decision(&self) -> Option<&DecisionRule<'a>> {
        self.decision.as_ref()
    }

    /// Tells whether calibrating takes a random word, as in
    /// [`BinaryCalibrator::calibrate_with`](crate::calibrator::BinaryCalibrator::calibrate_with).
    pub fn is_randomized(&self) -> bool {
        self.header().method == Method::UmdRandomized
    }

    /// Tells whether the artefact may be used with a classifier: not if it names another one.
    pub fn is_for(&self, classifier: ClassifierId) -> bool {
        self.header().provenance.classifier.is_none_or(|id| id == classifier)
    }
}
