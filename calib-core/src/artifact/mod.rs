//! The artefact: what the host writes and the device reads, format 1.
//!
//! ```text
//! prefix, 32 bytes     0 magic "CALB"      4 format u16      6 section count u16
//!                      8 total length u32  12 CRC-32C u32    16 identity, 8 bytes    24 zeros, 8 bytes
//! section, repeated    0 kind u16          2 flags u16       4 payload length u32
//!                      8 payload, then zeros up to a multiple of 4 bytes
//! ```
//!
//! Integers and floats are little-endian. The CRC covers every byte of the artefact but its own four. The
//! identity is the first 8 bytes of the SHA-256 of all sections but the signature. Bit 0 of a section's flags marks it
//! mandatory: a reader that does not know its kind refuses the artefact, while unknown optional sections are
//! skipped; a reader that knows the kind needs no such bit. A new capability is a new section; what is written
//! here does not change.
//!
//! | kind | section | payload |
//! |---|---|---|
//! | 1 | header, mandatory, first | [`Header`] in postcard |
//! | 2 | steps | for each table of `B` bins: epsilon, `B - 1` inner edges, `B` values |
//! | 3 | bin flags, optional, beside 2, 9, 11 and 13 to 16 | a byte per bin ([`BinFlags`](crate::BinFlags)); absent if all are zero |
//! | 4 | randomized steps | epsilon, `B - 1` edges, the u32 words of the edges' ties, `B` values |
//! | 5 | interpolated | epsilon, `K` knots' x, `K` knots' y, `K - 1` slopes |
//! | 6 | scaling | epsilon, u32 kind, parameters: 0 Platt on the logit (a, b, clip), 1 Platt on the probability (a, b), 2 beta (a, b, c, clip), 3 temperature (1/T, clip) |
//! | 7 | Venn-Abers | epsilon, `B - 1` edges, `B` values p0, `B` values p1 |
//! | 8 | intervals, optional, beside 2, 4, 9 and 11 | for each table of `B` bins `B` pairs lo, hi; both NaN if a bin has none |
//! | 9 | integer steps | epsilon, `B - 1` u32 edges, `B` values |
//! | 10 | direct table, optional, beside 9 | for each table 256 bytes: the bin of every 8-bit code; zeros for a table without words |
//! | 11 | compact steps | epsilon in two halves, the lower first, `B - 1` u16 edges, `B` u16 values in units of 1/32768 |
//! | 12 | vector scaling | u32 shape: 0 temperature, 1 diagonal, 2 matrix; u32 features: 0 logits, 1 log-probabilities; clip, 0 for logits; weights: 1/T, or `L`, or `L` rows of `L`; `L` intercepts but for shape 0 |
//! | 13 | Sierpinski cells | u32 depth, values |
//! | 14 | grid cells | u32 resolution, values |
//! | 15 | projection cells | `C - 1` directions of `L` entries, `C - 1` thresholds, values |
//! | 16 | split tree | for each node `L` i32 entries of gamma and `L` u32 children ([`SplitTree`](crate::SplitTree)), values |
//! | 32 | decision, may be absent, mandatory if there | four bytes: the number of actions `A`, of thresholds `T`, the action for the uncalibrated, 0; `T` f32 thresholds; `T + 1` bytes, the action of every interval; `A` bytes of flags (1 alarm, 2 abstain); `A` names, a byte with the length before each |
//! | 64 | counter, optional | u32, never lower in a later artefact; 0 if it is not there |
//! | 65 | signature, optional, last | the name of a public key, 8 bytes, and an Ed25519 signature, 64 bytes (see `SignedPart`) |
//!
//! Sections 2, 4, 5, 6, 7, 9 and 11 hold the tables: each artefact has exactly one of them, the one that goes with its
//! method, its score encoding and its flags. They and section 8 are ragged pools: a u32 count `T`, `T + 1` u32 offsets in words,
//! then the words of the tables one after the other, u32 where the table says so and otherwise f32. A table without
//! words is an uncalibrated class. Epsilon is NaN if nothing is guaranteed. An edge of sections 9 and 11 is a code less the
//! lowest code of its encoding, or a score rounded to the nearest `k / 65535`. Section 11 is a pool of u16 in place of u32,
//! count and offsets as well.
//!
//! Sections 12 to 16 hold a calibrator of a whole vector of `L` classes, in place of the tables; values are `L`
//! probabilities for each of the header's `C` bins, which are cells of the simplex.

mod error;
mod form;
mod header;
mod identity;
mod joint;
mod layout;
mod pool;
mod prefix;
mod section;
mod signature;
mod tables;
mod writer;

pub use error::{ParseError, TableFault};
pub use form::TableForm;
pub use header::{Guarantee, Header, HeaderFlags, Method, Provenance, Reduction, Theorem};
pub use identity::{ClassifierId, Identity};
pub use layout::{FORMAT_VERSION, PREFIX_LEN, SectionKind};
pub use signature::{KeyId, SIGNATURE_SECTION_LEN, Signature, SignedPart, sign};
pub use tables::{Table, Tables};
pub use writer::{ArtifactWriter, WriteError};

use crate::{DecisionRule, Joint};
use layout::array_at;
use prefix::Prefix;
use section::Payloads;

/// A checked artefact, borrowing the bytes it was parsed from.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Artifact<'a> {
    identity: Identity,
    len_bytes: usize,
    header: Header<'a>,
    tables: Tables<'a>,
    /// What stands in place of the tables.
    joint: Option<Joint<'a>>,
    counter: u32,
    signature: Option<Signature<'a>>,
    decision: Option<DecisionRule<'a>>,
}

impl<'a> Artifact<'a> {
    /// Checks an artefact that fills `bytes` exactly, such as a file.
    ///
    /// Everything is checked here, once: magic, format, lengths, CRC-32C, sections, header, counts, edges and
    /// values. Calibrating a valid score with what is returned cannot fail.
    ///
    /// `bytes` must start at a multiple of 4 in memory; see [`ArtifactBuffer`](crate::ArtifactBuffer).
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

    /// Checks an artefact at the start of a flash slot whose rest is erased: all `0xFF`, or all `0x00` as in
    /// emulated memory that was never programmed.
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

    /// The artefact's name: a hash of its content, checked by the host.
    pub const fn identity(&self) -> Identity {
        self.identity
    }

    /// The artefact's length in bytes, prefix included.
    pub const fn len_bytes(&self) -> usize {
        self.len_bytes
    }

    /// How new the artefact is: a device refuses one with a lower counter than its own. 0 if nothing is said.
    pub const fn counter(&self) -> u32 {
        self.counter
    }

    /// The signature, if there is one. **Not verified**: see [`Admission`](crate::Admission).
    pub const fn signature(&self) -> Option<Signature<'a>> {
        self.signature
    }

    /// The length in bytes without the signature: what is before is what the identity is of.
    pub const fn unsigned_len_bytes(&self) -> usize {
        match self.signature {
            Some(_) => self.len_bytes.saturating_sub(SIGNATURE_SECTION_LEN),
            None => self.len_bytes,
        }
    }

    /// What was fitted, how and with which guarantee.
    pub const fn header(&self) -> &Header<'a> {
        &self.header
    }

    /// The calibrator of the whole vector that there is in place of tables.
    pub(crate) const fn joint(&self) -> Option<Joint<'a>> {
        self.joint
    }

    /// The tables, one per binary problem of the reduction.
    pub const fn tables(&self) -> &Tables<'a> {
        &self.tables
    }

    /// Which action to take at which probability, if the artefact says so.
    pub const fn decision(&self) -> Option<&DecisionRule<'a>> {
        self.decision.as_ref()
    }

    /// Whether calibrating takes a random word, such as
    /// [`BinaryCalibrator::calibrate_with`](crate::BinaryCalibrator::calibrate_with) is given.
    pub fn is_randomized(&self) -> bool {
        self.header().method == Method::UmdRandomized
    }

    /// Whether this artefact may be used with a classifier: false only if it names another one.
    pub fn is_for(&self, classifier: ClassifierId) -> bool {
        self.header().provenance.classifier.is_none_or(|id| id == classifier)
    }
}
