//! Which calibrator an artifact holds.

use super::binary::{BinaryCalibrator, BinaryCodeCalibrator, BinaryMarginCalibrator};
use super::class_wise::ClassWiseCalibrator;
use super::normalized::NormalizedCalibrator;
use super::top_k::TopKCalibrator;
use super::top_label::{
    TopLabelCalibrator, TopLabelCodeCalibrator, TopLabelCodeMarginCalibrator, TopLabelMarginCalibrator,
};
use super::vector::VectorCalibrator;
use crate::artifact::{Artifact, Header, HeaderFlags, Reduction};

/// The calibrator of an artifact, whose kind follows from the artifact's reduction and score encoding.
///
/// Probabilities, margins and codes have separate calibrators, so that none is ever taken for another.
///
/// ```
/// use calib_core::{Artifact, Calibrator};
///
/// # mod sample { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/sample.rs")); }
/// # let bytes = sample::top_label();
/// let artifact = Artifact::parse(bytes.as_bytes()).unwrap();
/// match artifact.calibrator() {
///     Calibrator::TopLabel(calibrator) => assert_eq!(calibrator.classes(), 3),
///     _ => panic!("fitted for another kind of classifier"),
/// }
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub enum Calibrator<'a> {
    /// Maps the score of class 1 of two.
    Binary(BinaryCalibrator<'a>),
    /// Maps the score of the predicted class of several.
    TopLabel(TopLabelCalibrator<'a>),
    /// Maps the integer code of the score of class 1 of two.
    BinaryCode(BinaryCodeCalibrator<'a>),
    /// Maps the integer code of the score of the predicted class of several.
    TopLabelCode(TopLabelCodeCalibrator<'a>),
    /// Maps the margin of class 1 of two.
    BinaryMargin(BinaryMarginCalibrator<'a>),
    /// Maps the top-two margin of the logits.
    TopLabelMargin(TopLabelMarginCalibrator<'a>),
    /// Maps the top-two margin of the codes.
    TopLabelCodeMargin(TopLabelCodeMarginCalibrator<'a>),
    /// Maps the scores of the first few of several classes.
    TopK(TopKCalibrator<'a>),
    /// Maps the scores of several classes to a probability for each.
    Vector(VectorCalibrator<'a>),
    /// Has tables for each group. [`Artifact::predict`] looks up the group's.
    Grouped,
    /// Maps nothing to a probability: the artifact holds operating points or prediction sets alone.
    None,
}

impl<'a> Artifact<'a> {
    /// Returns the calibrator of this artifact.
    pub const fn calibrator(&self) -> Calibrator<'a> {
        let header = self.header();
        if header.flags.contains(HeaderFlags::GROUPED) && !header.method.has_no_calibrator() {
            Calibrator::Grouped
        } else {
            self.calibrator_of_all_tables()
        }
    }

    /// Returns the calibrator of the tables as if they were all of one group.
    pub(crate) const fn calibrator_of_all_tables(&self) -> Calibrator<'a> {
        if let Some(joint) = self.joint() {
            return Calibrator::Vector(VectorCalibrator::of_joint(joint));
        }
        let &Header { method, reduction, encoding, classes, flags, .. } = self.header();
        if method.has_no_calibrator() {
            return Calibrator::None;
        }
        let tables = *self.tables();

        // Parsing refuses margins under any reduction but binary, top-label and confidence.
        let is_of_class = flags.contains(HeaderFlags::TOP2_MARGIN);
        match (is_of_class, encoding.is_margin()) {
            (true, true) => {
                return Calibrator::TopLabelMargin(TopLabelMarginCalibrator { tables, classes });
            }
            (true, false) => {
                let calibrator = TopLabelCodeMarginCalibrator { tables, classes, encoding };
                return Calibrator::TopLabelCodeMargin(calibrator);
            }
            (false, true) => return Calibrator::BinaryMargin(BinaryMarginCalibrator { tables }),
            (false, false) => {}
        }
        match (reduction, encoding.is_quantized()) {
            (Reduction::Binary, false) => Calibrator::Binary(BinaryCalibrator { tables }),
            (Reduction::Binary, true) => Calibrator::BinaryCode(BinaryCodeCalibrator { tables, encoding }),
            // Parsing refuses codes under any reduction but binary, top-label and confidence.
            (_, true) => Calibrator::TopLabelCode(TopLabelCodeCalibrator { tables, classes, encoding }),
            (Reduction::TopLabel | Reduction::Confidence, false) => {
                Calibrator::TopLabel(TopLabelCalibrator { tables, classes })
            }
            (Reduction::ClassWise, false) => {
                Calibrator::Vector(VectorCalibrator::ClassWise(ClassWiseCalibrator::new(tables)))
            }
            // `Joint` is never reached: parsing refuses it without a separate section.
            (Reduction::Normalized | Reduction::Joint, false) => {
                Calibrator::Vector(VectorCalibrator::Normalized(NormalizedCalibrator::new(tables)))
            }
            (Reduction::TopKLabel { k }, false) => {
                Calibrator::TopK(TopKCalibrator::new(tables, classes, k, true))
            }
            (Reduction::TopKConfidence { k }, false) => {
                Calibrator::TopK(TopKCalibrator::new(tables, classes, k, false))
            }
        }
    }
}
