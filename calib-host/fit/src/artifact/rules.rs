//! Operating points and prediction sets in an artifact, alone or beside a calibrator.

use calib_core::ScoreEncoding;
use calib_core::artifact::{
    ArtifactWriter, Groups, Header, HeaderFlags, Method, Reduction, SectionKind, WriteError,
};
use calib_core::decision::{
    Accuracy, AccuracyGuarantee, Conformity, OperatingParts, Quantile, Quantiles, SetParts, Threshold,
    Thresholds,
};

use super::derived::{DerivedArtifact, RULES, copied_if};
use super::options::ArtifactOptions;
use super::stored::StoredArtifact;
use super::write::written;
use crate::operating::{Aim, OperatingPoint, OperatingPoints, PointCounts};
use crate::sets::{ConformityScore, PredictionSets};

/// Why there is no artifact with these operating points or prediction sets.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RuleError {
    /// The artifact has another encoding or kind of score, or another number of classes.
    #[error("the artifact is for {of}, and the thresholds are for {got}")]
    Scores {
        /// What the artifact is of.
        of: String,
        /// What the thresholds are of.
        got: String,
    },
    /// The artifact has tables for other groups.
    #[error("the artifact has tables for the groups {of}, and the thresholds are for {got}")]
    Groups {
        /// The groups of the artifact.
        of: String,
        /// The groups of the thresholds.
        got: String,
    },
    /// There are more groups than a code has values, or a name is too long or no plain text.
    #[error(
        "{0} is no name of a group, or there are too many groups: a name has 1 to 24 bytes of plain text, and there are at most 255"
    )]
    Names(String),
    /// More calibration points than the format counts.
    #[error("an artifact counts up to 4294967295 calibration observations of a class")]
    Count,
    /// The artifact would be larger than the format allows.
    #[error("{0}")]
    Write(WriteError),
}

impl From<WriteError> for RuleError {
    fn from(cause: WriteError) -> Self {
        Self::Write(cause)
    }
}

/// Refuses names of groups that an artifact has no room for, or that are no plain text.
pub(super) fn check_names(names: &[&str]) -> Result<(), RuleError> {
    let is_name = |name: &&&str| {
        !name.is_empty() && name.len() <= Groups::MAX_NAME_BYTES && !name.chars().any(char::is_control)
    };
    match names.iter().find(|name| !is_name(name)) {
        Some(name) => Err(RuleError::Names(format!("{name:?}"))),
        None if names.len() > u8::MAX.into() => Err(RuleError::Names(format!("{} groups", names.len()))),
        None => Ok(()),
    }
}

/// Operating points with what the device does with them.
#[derive(Clone, Copy, Debug)]
pub struct PointsOnDevice<'p> {
    /// The thresholds and what they guarantee.
    pub points: &'p OperatingPoints,
    /// The encoding of the scores.
    pub encoding: ScoreEncoding,
    /// What is guaranteed beside the aims: predictive values.
    pub predictive: &'p [AccuracyGuarantee],
    /// Whether a score that is referred raises the alarm.
    pub refer_raises: bool,
}

/// Prediction sets with what the device does with them.
#[derive(Clone, Copy, Debug)]
pub struct SetsOnDevice<'p> {
    /// The thresholds and what they guarantee.
    pub sets: &'p PredictionSets,
    /// The encoding of the scores.
    pub encoding: ScoreEncoding,
    /// Whether they are of the score of class 1 of two, rather than of a vector.
    pub binary: bool,
    /// Whether the predicted class is always in the set.
    pub never_empty: bool,
}

impl PointsOnDevice<'_> {
    /// Returns the bytes of an artifact of these operating points alone, of `n` calibration points. The device then answers by
    /// thresholds, and has no probabilities.
    ///
    /// # Errors
    ///
    /// Names that are no names of groups, or counts beyond the format.
    pub fn alone(&self, n: u64, parameters: &str, options: &ArtifactOptions) -> Result<Vec<u8>, RuleError> {
        let header = Header {
            n,
            ..bare(Method::OperatingPoint, Reduction::Binary, 2, self.encoding, parameters, options)
        };
        let (thresholds, guarantees, names) = (self.thresholds()?, self.guarantees(), self.names()?);
        let bytes = written(|writer| {
            writer.header(&header)?;
            self.write(writer, &thresholds, &guarantees, &names)?;
            options.write_about(writer)
        });
        Ok(bytes?)
    }

    /// Returns the bytes of an artifact with the calibrator of another one and these operating points, in place of whatever said what
    /// is done.
    ///
    /// # Errors
    ///
    /// As [`PointsOnDevice::alone`], and if the artifact takes other scores or has tables for other groups.
    pub fn beside(&self, parent: &StoredArtifact, child: &DerivedArtifact) -> Result<Vec<u8>, RuleError> {
        let artifact = parent.artifact();
        let header = artifact.header();
        let of = (header.reduction == Reduction::Binary).then_some(unrounded(header.encoding));
        if of != Some(self.encoding) {
            let of = format!("{} scores in {}", header.reduction, header.encoding);
            return Err(RuleError::Scores { of, got: format!("binary scores in {}", self.encoding) });
        }
        let names = self.names()?;
        let grouped = header.flags.contains(HeaderFlags::GROUPED);
        let tables_of = artifact.groups().filter(|_| grouped && !names.is_empty());
        if let Some(groups) = tables_of.filter(|groups| !groups.names().eq(names.iter().copied())) {
            let of = groups.names().collect::<Vec<_>>().join(", ");
            return Err(RuleError::Groups { of, got: names.join(", ") });
        }
        let (thresholds, guarantees) = (self.thresholds()?, self.guarantees());
        let keep =
            |kind: u16| kind != SectionKind::Groups as u16 && RULES.iter().all(|&rule| rule as u16 != kind);
        let own: Vec<&str> =
            artifact.groups().filter(|_| grouped).map_or(names, |groups| groups.names().collect());
        Ok(child.rewrite(
            parent,
            |header| header,
            copied_if(keep),
            |writer| self.write(writer, &thresholds, &guarantees, &own),
        )?)
    }

    fn write(
        &self,
        writer: &mut ArtifactWriter<'_>,
        groups: &[Thresholds],
        guarantees: &[AccuracyGuarantee],
        names: &[&str],
    ) -> Result<(), WriteError> {
        writer.operating_points(&OperatingParts { groups, refer_raises: self.refer_raises, guarantees })?;
        if names.is_empty() { Ok(()) } else { writer.groups(names) }
    }

    /// The names of the groups; none if there is one group.
    fn names(&self) -> Result<Vec<&str>, RuleError> {
        let names: Vec<&str> = self.points.points.iter().filter_map(|point| point.group.as_deref()).collect();
        check_names(&names)?;
        // A single group needs no code.
        Ok(if names.len() == 1 { Vec::new() } else { names })
    }

    fn thresholds(&self) -> Result<Vec<Thresholds>, RuleError> {
        self.points.points.iter().map(|point| counted(point).ok_or(RuleError::Count)).collect()
    }

    fn guarantees(&self) -> Vec<AccuracyGuarantee> {
        let guarantee = |accuracy, aim: Option<Aim>| {
            let Aim { level, confidence } = aim?;
            let (level, confidence) = (level as f32, confidence as f32);
            Some(AccuracyGuarantee { accuracy, level, confidence, prevalence: None })
        };
        let aims = self.points.aims;
        let of_classes = [
            guarantee(Accuracy::Sensitivity, aims.sensitivity),
            guarantee(Accuracy::Specificity, aims.specificity),
        ];
        of_classes.into_iter().flatten().chain(self.predictive.iter().copied()).collect()
    }
}

/// The thresholds of a group with their counts; `None` if a count is beyond the format.
fn counted(point: &OperatingPoint) -> Option<Thresholds> {
    let PointCounts { positives, negatives, .. } = point.counts;
    let threshold = |key, positives_above: u64, negatives_above: u64| {
        Some(Threshold {
            key,
            positives: positives.try_into().ok()?,
            positives_above: positives_above.try_into().ok()?,
            negatives: negatives.try_into().ok()?,
            negatives_above: negatives_above.try_into().ok()?,
        })
    };
    let counts = point.counts;
    Some(Thresholds {
        lower: threshold(point.lower, counts.positives_from_lower, counts.negatives_from_lower)?,
        upper: threshold(point.upper, counts.positives_from_upper, counts.negatives_from_upper)?,
    })
}

impl SetsOnDevice<'_> {
    /// Returns the bytes of an artifact of these prediction sets alone.
    ///
    /// # Errors
    ///
    /// Counts beyond the format.
    pub fn alone(&self, parameters: &str, options: &ArtifactOptions) -> Result<Vec<u8>, RuleError> {
        let reduction = if self.binary { Reduction::Binary } else { Reduction::Joint };
        let classes = self.classes()?;
        let header = bare(Method::PredictionSet, reduction, classes, self.encoding, parameters, options);
        let header = Header { n: self.sets.n, ..header };
        let quantiles = self.quantiles()?;
        let bytes = written(|writer| {
            writer.header(&header)?;
            writer.prediction_sets(&self.parts(&quantiles))?;
            options.write_about(writer)
        });
        Ok(bytes?)
    }

    /// Returns the bytes of an artifact with the calibrator of another one and these prediction sets, in place of whatever said what
    /// is done.
    ///
    /// # Errors
    ///
    /// As [`SetsOnDevice::alone`], and if the artifact takes other scores or has another number of classes.
    pub fn beside(&self, parent: &StoredArtifact, child: &DerivedArtifact) -> Result<Vec<u8>, RuleError> {
        let header = *parent.artifact().header();
        let is_binary = header.reduction == Reduction::Binary;
        let (of, got) = (unrounded(header.encoding), self.encoding);
        // A calibrator of several classes' floats takes logits, whatever it makes of them.
        let same = of == got || !is_binary && !of.is_quantized() && !got.is_quantized();
        if is_binary != self.binary || !same || usize::from(header.classes) != self.sets.classes {
            let of = format!("{} classes ({}) in {of}", header.classes, header.reduction);
            return Err(RuleError::Scores { of, got: format!("{} classes in {got}", self.sets.classes) });
        }
        let quantiles = self.quantiles()?;
        let grouped = header.flags.contains(HeaderFlags::GROUPED);
        let keep = |kind: u16| {
            (grouped || kind != SectionKind::Groups as u16) && RULES.iter().all(|&rule| rule as u16 != kind)
        };
        let add = |writer: &mut ArtifactWriter<'_>| writer.prediction_sets(&self.parts(&quantiles));
        Ok(child.rewrite(parent, |header| header, copied_if(keep), add)?)
    }

    fn classes(&self) -> Result<u16, RuleError> {
        u16::try_from(self.sets.classes).map_err(|_| RuleError::Count)
    }

    fn parts<'q>(&self, quantiles: &'q [Quantile]) -> SetParts<'q> {
        let aim = self.sets.aim;
        SetParts {
            conformity: match self.sets.score {
                ConformityScore::Softmax => Conformity::Score,
                ConformityScore::Margin => Conformity::Margin,
            },
            never_empty: self.never_empty,
            alpha: aim.alpha as f32,
            confidence: aim.confidence.map(|confidence| confidence as f32),
            quantiles: match quantiles {
                [one] if !aim.by_class => Quantiles::All(*one),
                several => Quantiles::ByClass(several),
            },
        }
    }

    fn quantiles(&self) -> Result<Vec<Quantile>, RuleError> {
        let quantile = |threshold: &crate::sets::SetThreshold| {
            let rows = u32::try_from(threshold.n).map_err(|_| RuleError::Count)?;
            // 0 is the key of no conformity: with it every class is in the set.
            Ok(Quantile { rows, key: threshold.key.unwrap_or(0) })
        };
        self.sets.thresholds.iter().map(quantile).collect()
    }
}

/// The header of an artifact without a calibrator.
fn bare<'a>(
    method: Method,
    reduction: Reduction,
    classes: u16,
    encoding: ScoreEncoding,
    parameters: &'a str,
    options: &ArtifactOptions,
) -> Header<'a> {
    Header {
        method,
        reduction,
        encoding,
        classes,
        bins: 0,
        n: 1,
        guarantee: None,
        flags: HeaderFlags::NONE,
        provenance: options.provenance(parameters),
    }
}

/// The encoding of the scores before they are rounded for tables of 16-bit numbers: thresholds are of the scores themselves.
const fn unrounded(encoding: ScoreEncoding) -> ScoreEncoding {
    match encoding {
        ScoreEncoding::RoundedF32 => ScoreEncoding::F32,
        ScoreEncoding::RoundedMargin => ScoreEncoding::Margin,
        other => other,
    }
}
