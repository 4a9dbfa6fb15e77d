//! Reading an artifact.

use super::band::Band;
use super::error::{MonitorsError, ParseError};
use super::groups::{Groups, GroupsError};
use super::header::{Header, HeaderFlags, Method, Reduction};
use super::header_bytes;
use super::identity::{ClassifierId, Identity};
use super::joint;
use super::layout::{PREFIX_LEN, SectionKind, array_at};
use super::monitor_action::MonitorAction;
use super::monitors::Monitors;
use super::prefix::Prefix;
use super::score_intervals::{Rate, ScoreIntervals};
use super::section::Payloads;
use super::signature::{SIGNATURE_SECTION_LEN, Signature};
use super::tables::Tables;
use crate::decision::{DecisionRule, OperatingPoints, PredictionSets};
use crate::vector::Joint;

/// A checked artifact, which borrows the bytes from which it was parsed.
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
    /// The rate and the alpha of intervals beside the tables.
    beside: Option<(Rate, f32)>,
    /// The words of the band; none if there is no band.
    band: &'a [u32],
    /// The calibrator of whole vectors in place of tables.
    joint: Option<Joint<'a>>,
    counter: u32,
    signature: Option<Signature<'a>>,
    groups: Option<Groups<'a>>,
    rule: Rule<'a>,
    monitors: Option<Monitors<'a>>,
    monitor_action: Option<MonitorAction>,
}

/// What is done: an artifact says it in one way at most.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub(crate) enum Rule<'a> {
    None,
    Decision(DecisionRule<'a>),
    OperatingPoints(OperatingPoints<'a>),
    PredictionSets(PredictionSets<'a>),
}

impl<'a> Rule<'a> {
    /// Reads the section that says what is done.
    fn parse(sections: &Payloads<'a>, header: &Header<'_>) -> Result<Self, ParseError> {
        use SectionKind::{Decision, OperatingPoints as Points, PredictionSets as Sets};
        let (decision, points, sets) = (sections.get(Decision), sections.get(Points), sections.get(Sets));
        let missing = match header.method {
            Method::OperatingPoint if points.is_none() => Some(Points),
            Method::PredictionSet if sets.is_none() => Some(Sets),
            _ => None,
        };
        if let Some(kind) = missing {
            return Err(ParseError::MissingSection(kind));
        }
        match (decision, points, sets) {
            (None, None, None) => Ok(Self::None),
            (Some(payload), None, None) => {
                DecisionRule::parse(payload).map(Self::Decision).map_err(ParseError::Decision)
            }
            (None, Some(payload), None) => OperatingPoints::parse(payload, header.encoding)
                .map(Self::OperatingPoints)
                .map_err(ParseError::OperatingPoints),
            (None, None, Some(payload)) => {
                let is_binary = header.reduction == Reduction::Binary;
                PredictionSets::parse(payload, header.encoding, header.classes, is_binary)
                    .map(Self::PredictionSets)
                    .map_err(ParseError::PredictionSets)
            }
            (_, _, Some(_)) => Err(ParseError::UnexpectedSection(Sets)),
            (_, Some(_), None) => Err(ParseError::UnexpectedSection(Points)),
        }
    }
}

impl<'a> Artifact<'a> {
    /// Checks an artifact that fills `bytes` exactly, such as a file.
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

    /// Checks an artifact at the start of a flash slot whose rest is erased.
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
        erased_behind(slot, artifact.len_bytes)?;
        Ok(artifact)
    }

    fn parse_front(bytes: &'a [u8]) -> Result<Self, ParseError> {
        let prefix = Prefix::parse(bytes)?;
        let body = bytes.get(PREFIX_LEN..prefix.total_len).unwrap_or_default();

        let sections = Payloads::collect(body, prefix.section_count)?;
        let header = header_bytes::parse(sections.require(SectionKind::Header)?)?;
        header.check_sections(&sections)?;
        let rule = Rule::parse(&sections, &header)?;
        let groups = groups(&sections, &header, &rule).map_err(ParseError::Groups)?;
        let joint = joint::parse(&sections, &header)?;
        let (tables, beside) = if header.method.has_no_calibrator() {
            (Tables::NONE, None)
        } else if joint.is_some() {
            Tables::beside_joint(&sections, &header)?
        } else {
            let grouped = groups.filter(|_| header.flags.contains(HeaderFlags::GROUPED));
            Tables::parse(&sections, &header, grouped.map_or(1, |groups| groups.count()))?
        };
        let band =
            sections.get(SectionKind::Band).map(|payload| Band::parse(payload, &header)).transpose()?;
        let monitors = sections.get(SectionKind::Monitors).map(|payload| {
            Monitors::parse(payload, header.reduction, tables.count(), |table| tables.bins(table))
        });
        let monitors = monitors.transpose().map_err(ParseError::Monitors)?;
        let monitor_action = action(&sections, monitors.as_ref())?;
        let counter = sections.get(SectionKind::Counter).and_then(|payload| array_at(payload, 0));
        Ok(Self {
            identity: prefix.identity,
            len_bytes: prefix.total_len,
            header,
            tables,
            beside,
            band: band.unwrap_or_default(),
            joint,
            groups,
            rule,
            monitors,
            monitor_action,
            counter: counter.map_or(0, u32::from_le_bytes),
            signature: sections.get(SectionKind::Signature).and_then(Signature::parse),
        })
    }

    /// Returns the artifact's name, a hash of its content. The host checks it; parsing does not.
    pub const fn identity(&self) -> Identity {
        self.identity
    }

    /// Returns the artifact's length in bytes, with the prefix.
    pub const fn len_bytes(&self) -> usize {
        self.len_bytes
    }

    /// Returns the artifact's counter; 0 if it has none. A device refuses an artifact with a lower counter than its own.
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

    /// Returns the calibrator of whole vectors, if the artifact has one in place of tables.
    pub(crate) const fn joint(&self) -> Option<Joint<'a>> {
        self.joint
    }

    /// Returns the tables, one per binary problem of the reduction.
    pub const fn tables(&self) -> &Tables<'a> {
        &self.tables
    }

    /// Returns the intervals of ranges of the score beside the tables, if there are some. Beside a calibrator of whole vectors there are ranges
    /// for each predicted class.
    pub const fn score_intervals(&self) -> Option<ScoreIntervals<'a>> {
        match (self.beside, self.tables.intervals()) {
            (Some((rate, alpha)), Some(pool)) => Some(ScoreIntervals::trusted(rate, alpha, pool)),
            _ => None,
        }
    }

    /// Returns the band around the calibration curve, if there is one.
    #[inline]
    pub fn band(&self) -> Option<Band<'a>> {
        Band::trusted(self.band, self.header.encoding)
    }

    /// Returns what is done.
    pub(crate) const fn rule(&self) -> &Rule<'a> {
        &self.rule
    }

    /// Returns the decision rule, if the artifact has one.
    pub const fn decision(&self) -> Option<&DecisionRule<'a>> {
        match &self.rule {
            Rule::Decision(rule) => Some(rule),
            _ => None,
        }
    }

    /// Returns the thresholds of the score, if the artifact has some.
    pub const fn operating_points(&self) -> Option<&OperatingPoints<'a>> {
        match &self.rule {
            Rule::OperatingPoints(points) => Some(points),
            _ => None,
        }
    }

    /// Returns the prediction sets, if the artifact has some.
    pub const fn prediction_sets(&self) -> Option<&PredictionSets<'a>> {
        match &self.rule {
            Rule::PredictionSets(sets) => Some(sets),
            _ => None,
        }
    }

    /// Returns the groups, if tables or thresholds are each group's own.
    pub const fn groups(&self) -> Option<&Groups<'a>> {
        self.groups.as_ref()
    }

    /// Returns what monitors compare with, if the artifact says it.
    pub const fn monitors(&self) -> Option<Monitors<'a>> {
        self.monitors
    }

    /// Returns what a device has to do on an alarm of its monitors, if the artifact says it.
    pub const fn monitor_action(&self) -> Option<MonitorAction> {
        self.monitor_action
    }

    /// Tells whether calibrating takes a random word, as in
    /// [`BinaryCalibrator::calibrate_with`](crate::calibrator::BinaryCalibrator::calibrate_with).
    pub fn is_randomized(&self) -> bool {
        self.header().method == Method::UmdRandomized
    }

    /// Tells whether the artifact may be used with a classifier: not if it names another one.
    pub fn is_for(&self, classifier: ClassifierId) -> bool {
        self.header().provenance.classifier.is_none_or(|id| id == classifier)
    }
}

/// Checks that what follows an artifact of so many bytes in its slot is erased.
pub(super) fn erased_behind(slot: &[u8], len_bytes: usize) -> Result<(), ParseError> {
    let tail = slot.get(len_bytes..).unwrap_or_default();
    let erased = tail.first().copied().unwrap_or(0xFF);
    let dirty = if matches!(erased, 0x00 | 0xFF) { tail.iter().position(|&b| b != erased) } else { Some(0) };
    match dirty {
        None => Ok(()),
        Some(at) => Err(ParseError::TrailingBytes { offset: len_bytes + at }),
    }
}

/// Reads what is done on an alarm, which some monitor can raise.
fn action(
    sections: &Payloads<'_>,
    monitors: Option<&Monitors<'_>>,
) -> Result<Option<MonitorAction>, ParseError> {
    let Some(payload) = sections.get(SectionKind::MonitorAction) else { return Ok(None) };
    let monitors = monitors.ok_or(ParseError::MissingSection(SectionKind::Monitors))?;
    let can_raise = (0..monitors.count()).any(|table| monitors.to_count(table).is_some());
    match MonitorAction::parse(payload).filter(|_| can_raise) {
        None => Err(ParseError::Monitors(MonitorsError::Action)),
        action => Ok(action),
    }
}

/// Reads the groups, which go with every section that has a part for each.
fn groups<'a>(
    sections: &Payloads<'a>,
    header: &Header<'_>,
    rule: &Rule<'_>,
) -> Result<Option<Groups<'a>>, GroupsError> {
    let groups = sections.get(SectionKind::Groups).map(Groups::parse).transpose()?;
    let points = match rule {
        Rule::OperatingPoints(points) => points.groups(),
        _ => 1,
    };
    let grouped = header.flags.contains(HeaderFlags::GROUPED);
    match groups.map(|groups| groups.count()) {
        None if points == 1 && !grouped => Ok(None),
        Some(count) if points == count || points == 1 && grouped => Ok(groups),
        _ => Err(GroupsError::Count),
    }
}
