//! The header: what was fitted, how, on what, and what it guarantees.

use core::fmt;

use serde::{Deserialize, Serialize};

use super::error::ParseError;
use super::identity::ClassifierId;
use super::layout::SectionKind;
use super::section::Payloads;
use crate::score::{MAX_TOP_K, ScoreEncoding};

/// What was fitted, how, on what, and what it guarantees.
///
/// The header is encoded in postcard. It never gets another field: what is new goes into a separate section.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Header<'a> {
    /// The calibration method: a binary one, or one of whole vectors under [`Reduction::Joint`].
    pub method: Method,
    /// How a multi-class problem was reduced to binary ones.
    pub reduction: Reduction,
    /// What kind of number a score is.
    pub encoding: ScoreEncoding,
    /// The classifier's number of classes, at least 2.
    pub classes: u16,
    /// The number of bins over all tables, at least 1; 0 without a calibrator. Interpolated tables count their segments, with both constant ends; a
    /// partition of the simplex counts its cells; scaling functions of floats have 0.
    pub bins: u32,
    /// The number of calibration points, at least 1.
    pub n: u64,
    /// What is guaranteed, if anything; the epsilon is the largest over all tables.
    pub guarantee: Option<Guarantee>,
    /// What to know about the fit.
    pub flags: HeaderFlags,
    /// Where the artifact comes from.
    #[serde(borrow)]
    pub provenance: Provenance<'a>,
}

/// Declares the methods in the order of their numbers: each with its name, and the kinds of section that hold its tables for floats and its
/// calibrator of whole vectors.
macro_rules! methods {
    ($($(#[$doc:meta])+ $method:ident $name:literal $(of_score: $score:ident)? $(of_vector: $vector:ident)?,)+) => {
        /// A calibration method: first the binary methods, then the methods of whole vectors.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
        #[cfg_attr(feature = "defmt", derive(defmt::Format))]
        #[non_exhaustive]
        pub enum Method {
            $($(#[$doc])+ $method,)+
        }

        impl Method {
            /// Every method, in the order of their numbers.
            pub const ALL: &[Self] = &[$(Self::$method),+];

            /// Returns the kind of section that holds the method's tables for floats; `None` for a method of whole vectors.
            const fn table_section(self) -> Option<SectionKind> {
                match self {
                    $($(Self::$method => Some(SectionKind::$score),)?)+
                    _ => None,
                }
            }

            /// Returns the kind of section that holds the method's calibrator of whole vectors; `None` for a binary method.
            const fn joint_section(self) -> Option<SectionKind> {
                match self {
                    $($(Self::$method => Some(SectionKind::$vector),)?)+
                    _ => None,
                }
            }
        }

        impl fmt::Display for Method {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(match self {
                    $(Self::$method => $name,)+
                })
            }
        }
    };
}

methods! {
    /// Uniform-mass binning without sample splitting (Gupta and Ramdas 2021, Algorithm 1).
    Umd "umd" of_score: Tables,
    /// Isotonic regression, as a step function (pool adjacent violators).
    Isotonic "isotonic" of_score: Tables,
    /// Uniform-mass binning with the boundary points kept (Zadrozny and Elkan 2001).
    UmdOriginal "umd-original" of_score: Tables,
    /// Uniform-mass binning with ties broken at random (Gupta and Ramdas 2021, Algorithm 2).
    UmdRandomized "umd-randomized" of_score: RandomizedSteps,
    /// Uniform-mass binning with sample splitting: edges from one half of the data, values from the other.
    Ums "ums" of_score: Tables,
    /// Bins of equal width.
    FixedWidth "fixed-width" of_score: Tables,
    /// Isotonic regression, interpolated linearly.
    IsotonicInterpolated "isotonic-interpolated" of_score: Interpolated,
    /// Isotonic recursive partitioning (Berta, Bach and Jordan 2024).
    Irp "irp" of_score: Tables,
    /// Uniform-mass bins of a scaling function's outputs (Kumar, Liang and Ma 2019).
    ScalingBinning "scaling-binning" of_score: Tables,
    /// Platt scaling.
    Platt "platt" of_score: Scaling,
    /// Beta calibration (Kull, Silva Filho and Flach 2017).
    Beta "beta" of_score: Scaling,
    /// Temperature scaling.
    Temperature "temperature" of_score: Scaling of_vector: VectorScaling,
    /// Venn-Abers prediction (Vovk and Petej 2014).
    VennAbers "venn-abers" of_score: VennAbers,
    /// Vector scaling (Guo et al. 2017).
    VectorScaling "vector" of_vector: VectorScaling,
    /// Matrix scaling (Guo et al. 2017).
    MatrixScaling "matrix" of_vector: VectorScaling,
    /// Dirichlet calibration (Kull et al. 2019).
    Dirichlet "dirichlet" of_vector: VectorScaling,
    /// Sierpinski binning (Gupta and Ramdas 2022, appendix G.1).
    Sierpinski "sierpinski" of_vector: Sierpinski,
    /// Grid-style binning (Gupta and Ramdas 2022, appendix G.2).
    Grid "grid" of_vector: Grid,
    /// Projection-based histogram binning (Gupta and Ramdas 2022, Algorithm 10).
    Projection "projection" of_vector: Projection,
    /// Multi-class isotonic recursive partitioning (Berta, Bach and Jordan 2024, Algorithm 2).
    MulticlassIrp "multiclass-irp" of_vector: SplitTree,
    /// None: the artifact holds operating points alone.
    OperatingPoint "operating-point",
    /// None: the artifact holds prediction sets alone.
    PredictionSet "prediction-set",
    /// A weighted mean of several methods' functions, as a step function.
    Blend "blend" of_score: Tables of_vector: VectorScaling,
    /// None: the probability is the score as it is, or the sigmoid of a margin.
    Unchanged "none" of_score: Scaling of_vector: VectorScaling,
    /// A logistic function of a parabola of the logit or of the margin.
    Quadratic "quadratic" of_score: Scaling,
    /// Isotonic regression, interpolated linearly between the centers of its blocks.
    IsotonicCentered "isotonic-centered" of_score: Interpolated,
    /// Structured vector scaling (Berta et al. 2025).
    StructuredVector "svs" of_vector: VectorScaling,
    /// Structured matrix scaling (Berta et al. 2025).
    StructuredMatrix "sms" of_vector: VectorScaling,
}

/// How a multi-class problem is reduced to binary ones (Gupta and Ramdas 2022).
///
/// ```
/// use calib_core::artifact::Reduction;
///
/// assert_eq!(Reduction::ClassWise.tables(10), Some(10));
/// assert_eq!(Reduction::Binary.tables(10), None);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub enum Reduction {
    /// None: the problem is binary, with one table for the score of class 1.
    Binary,
    /// One table per predicted class, for the probability that the prediction is right.
    TopLabel,
    /// One table for the probability that the prediction is right, whatever the class.
    Confidence,
    /// One table per class, for the probability of the class. The probabilities need not sum to one.
    ClassWise,
    /// One table per class, with the probabilities divided by their sum.
    Normalized,
    /// One table per rank and class, for the probability that the class with the rank is right. The table of rank `r`, 0-based,
    /// and class `l` has the index `r * classes + l`.
    TopKLabel {
        /// The number of ranks.
        k: u16,
    },
    /// One table per rank, for the probability that the class with the rank is right.
    TopKConfidence {
        /// The number of ranks.
        k: u16,
    },
    /// None: one calibrator of the whole vector instead of tables.
    Joint,
}

/// A guarantee of conditional calibration: with probability at least `1 - alpha` over the calibration data, every bin's probability
/// is within `epsilon` of the bin's true probability.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Guarantee {
    /// The theorem from which the guarantee follows.
    pub theorem: Theorem,
    /// The failure probability, in `(0, 1)`.
    pub alpha: f32,
    /// The largest deviation, above 0 and rounded up; an epsilon of 1 or more says nothing.
    pub epsilon: f32,
}

/// The source of a guarantee.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub enum Theorem {
    /// Gupta and Ramdas 2021, Theorem 3, for scores with a continuous distribution. Under a reduction it is applied to each table,
    /// with a union bound over the bins of all tables (2022, appendix H).
    Gr21Theorem3,
    /// Gupta and Ramdas 2022, Theorem 1, for top-label with points per bin.
    Gr22Theorem1,
    /// Gupta and Ramdas 2021, Corollary 1, for bins that keep their boundary points.
    Gr21Corollary1,
    /// Gupta and Ramdas 2021, Theorem 4 (conditional), for ties broken at random.
    Gr21Theorem4,
    /// Hoeffding's inequality on each bin's own number of points, with a union bound over the bins, for edges that do not depend
    /// on the points in the bins.
    SampleSplit,
    /// Exact binomial intervals (Clopper and Pearson 1934), with a union bound over the bins.
    ClopperPearson,
    /// Gupta and Ramdas 2022, Theorem 2, for class-wise with points per bin, at `alpha / classes` for each class.
    Gr22Theorem2,
}

impl Theorem {
    /// Returns the number in the artifact format.
    pub const fn number(self) -> u8 {
        self as u8
    }
}

/// Marks of a whole artifact.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct HeaderFlags(u8);

impl HeaderFlags {
    /// No mark.
    pub const NONE: Self = Self(0);
    /// At least one table has equal scores at an edge that were kept in one bin. This voids the theorems of papers for the table; exact
    /// intervals hold given the scores.
    pub const TIES_MERGED: Self = Self(1);
    /// At least one class had too few points and is uncalibrated.
    pub const CLASS_UNCALIBRATED: Self = Self(2);
    /// Calibration points had weights other than one, so nothing is guaranteed.
    pub const WEIGHTED: Self = Self(4);
    /// The tables are of 16-bit numbers.
    pub const COMPACT: Self = Self(8);
    /// The score of a predicted class is the top-two margin of the logits: the largest logit minus the second largest. The
    /// [encoding](Header::encoding) is the one of the logits, and the tables' keys are differences.
    pub const TOP2_MARGIN: Self = Self(16);

    /// Each [group](super::Groups) has separate tables: first those of group 0, as many as the reduction has, then those of the
    /// others.
    pub const GROUPED: Self = Self(32);
    /// The tables are step tables of the method's function of floats, which is no step function.
    pub const STEPS: Self = Self(64);

    /// Takes the byte of a header, with bits that may be unknown.
    pub(super) const fn from_bits(bits: u8) -> Self {
        Self(bits)
    }

    /// Joins two sets of flags.
    #[must_use]
    pub const fn with(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// Tells whether every flag of `other` is set.
    pub const fn contains(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }

    const fn known(self) -> bool {
        let all = Self::TIES_MERGED.0
            | Self::CLASS_UNCALIBRATED.0
            | Self::WEIGHTED.0
            | Self::COMPACT.0
            | Self::TOP2_MARGIN.0
            | Self::GROUPED.0
            | Self::STEPS.0;
        self.0 & !all == 0
    }
}

/// Where an artifact comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Provenance<'a> {
    /// The SHA-256 of the files of calibration data, in the order in which they were given.
    pub data_sha256: [u8; 32],
    /// The version of calib that wrote the artifact.
    pub tool_version: &'a str,
    /// The parameters of the fit, as `name=value` separated by spaces.
    pub parameters: &'a str,
    /// The classifier for which the artifact was fitted, if stated. A device refuses artifacts for another classifier.
    pub classifier: Option<ClassifierId>,
}

impl Header<'_> {
    pub(super) fn is_consistent(&self) -> bool {
        let of_class = self.flags.contains(HeaderFlags::TOP2_MARGIN);
        let score = match self.reduction {
            Reduction::Binary => !of_class,
            // Floats of a predicted class are probabilities, or the top-two margins of logits; codes are of either.
            Reduction::TopLabel | Reduction::Confidence => {
                self.encoding.is_quantized() || self.encoding.is_margin() == of_class
            }
            _ => !of_class && !self.encoding.is_quantized() && !self.encoding.is_margin(),
        };
        let reduction = self.reduction.tables(self.classes).is_some() && score;
        if self.method.has_no_calibrator() {
            return self.is_consistent_without_calibrator();
        }
        let tables = match self.table_section() {
            Some(SectionKind::Scaling | SectionKind::VectorScaling) => self.bins == 0,
            Some(_) => self.bins > 0,
            None => false,
        };
        let ties_merged = self.flags.contains(HeaderFlags::TIES_MERGED);
        let joint = self.reduction == Reduction::Joint;
        reduction
            && tables
            && !(self.encoding.is_margin() && self.method == Method::Beta)
            && self.encoding.is_consistent()
            && self.guarantee.is_none_or(|guarantee| self.supports(&guarantee))
            && self.n > 0
            && self.flags.known()
            && !(ties_merged && self.method == Method::UmdRandomized)
            && !(joint && self.flags.contains(HeaderFlags::CLASS_UNCALIBRATED))
            && (self.reduction.takes_codes() || !self.flags.contains(HeaderFlags::GROUPED))
    }

    /// Tells whether the header goes with operating points or prediction sets alone, which have no bins and no flags.
    fn is_consistent_without_calibrator(&self) -> bool {
        let is_floats = matches!(self.encoding, ScoreEncoding::F32 | ScoreEncoding::Margin);
        let kind = match (self.method, self.reduction) {
            (_, Reduction::Binary) => is_floats || self.encoding.is_quantized(),
            (Method::PredictionSet, Reduction::Joint) => {
                self.encoding == ScoreEncoding::F32 || self.encoding.is_quantized()
            }
            _ => false,
        };
        kind && self.reduction.tables(self.classes).is_some()
            && self.encoding.is_consistent()
            && (self.bins, self.guarantee, self.flags) == (0, None, HeaderFlags::NONE)
            && self.n > 0
    }

    /// Tells whether the method can have this guarantee.
    fn supports(&self, guarantee: &Guarantee) -> bool {
        let Guarantee { theorem, alpha, epsilon } = *guarantee;
        // If the only table has merged ties, only exact intervals hold, given the scores. Edges that do not depend on the points in the
        // bins may be merged at will.
        let grouped = self.flags.contains(HeaderFlags::GROUPED);
        let alone = self.reduction.tables(self.classes) == Some(1) && !grouped;
        let tied = self.flags.contains(HeaderFlags::TIES_MERGED) && alone;
        let void = tied && !self.method.splits() && theorem != Theorem::ClopperPearson
            || self.flags.contains(HeaderFlags::WEIGHTED);
        let applies = match theorem {
            Theorem::Gr21Theorem3 => self.method == Method::Umd,
            Theorem::Gr22Theorem1 => self.method == Method::Umd && self.reduction == Reduction::TopLabel,
            Theorem::Gr22Theorem2 => self.method == Method::Umd && self.reduction == Reduction::ClassWise,
            Theorem::Gr21Corollary1 => self.method == Method::UmdOriginal,
            Theorem::Gr21Theorem4 => self.method == Method::UmdRandomized,
            Theorem::SampleSplit => self.method.splits(),
            Theorem::ClopperPearson => {
                matches!(self.method, Method::Umd | Method::Ums | Method::FixedWidth)
            }
        };
        // A guarantee for each table is lost when the probabilities are divided by their sum.
        let divided = self.reduction == Reduction::Normalized;
        applies && !void && !divided && alpha > 0.0 && alpha < 1.0 && is_epsilon(epsilon)
    }

    /// Returns the kind of section that holds the tables; `None` if the method has no tables in the score encoding.
    pub(super) const fn table_section(&self) -> Option<SectionKind> {
        let kind = match self.reduction {
            Reduction::Joint => self.method.joint_section(),
            _ => self.method.table_section(),
        };
        let Some(kind) = kind else { return None };
        // A function of keys is always a step table.
        let steps = matches!(kind, SectionKind::Tables | SectionKind::Interpolated | SectionKind::Scaling);
        if self.flags.contains(HeaderFlags::STEPS) {
            let is_of_floats = matches!(self.encoding, ScoreEncoding::F32 | ScoreEncoding::Margin);
            let is_function = matches!(kind, SectionKind::Interpolated | SectionKind::Scaling);
            let is_valid = is_of_floats && is_function && !self.flags.contains(HeaderFlags::COMPACT);
            return if is_valid { Some(SectionKind::Tables) } else { None };
        }
        match (kind, self.encoding, self.flags.contains(HeaderFlags::COMPACT)) {
            (kind, ScoreEncoding::F32 | ScoreEncoding::Margin, false) => Some(kind),
            (_, ScoreEncoding::F32 | ScoreEncoding::Margin, true)
            | (_, ScoreEncoding::RoundedF32 | ScoreEncoding::RoundedMargin, false) => None,
            (SectionKind::Tables, ScoreEncoding::RoundedF32 | ScoreEncoding::RoundedMargin, true) => {
                Some(SectionKind::CompactSteps)
            }
            (_, ScoreEncoding::RoundedF32 | ScoreEncoding::RoundedMargin, true) => None,
            (_, _, true) if steps => Some(SectionKind::CompactSteps),
            (_, _, false) if steps => Some(SectionKind::IntegerSteps),
            _ => None,
        }
    }

    /// Checks that every section goes with the method and the score encoding.
    pub(super) fn check_sections(&self, sections: &Payloads<'_>) -> Result<(), ParseError> {
        match sections.unexpected(|kind| self.takes(kind)) {
            Some(kind) => Err(ParseError::UnexpectedSection(kind)),
            None => Ok(()),
        }
    }

    /// Tells whether a section of this kind goes with the method and the score encoding.
    pub(super) fn takes(&self, kind: SectionKind) -> bool {
        use SectionKind::{
            CompactSteps, Grid, IntegerSteps, Projection, RandomizedSteps, Sierpinski, SplitTree, Tables,
        };
        let tables = self.table_section();
        match kind {
            kind if kind.is_of_any() => true,
            SectionKind::Decision => !self.method.has_no_calibrator(),
            SectionKind::OperatingPoints => {
                self.reduction == Reduction::Binary && self.method != Method::PredictionSet
            }
            SectionKind::PredictionSets => self.method != Method::OperatingPoint,
            SectionKind::Groups => self.reduction.takes_codes(),
            SectionKind::ScoreRanges | SectionKind::Monitors | SectionKind::MonitorAction
                if self.method.has_no_calibrator() =>
            {
                false
            }
            SectionKind::BinFlags => matches!(
                tables,
                Some(Tables | IntegerSteps | CompactSteps | Sierpinski | Grid | Projection | SplitTree)
            ),
            // Nothing is said of weighted points, nor of tables whose probabilities are divided by their sum.
            SectionKind::ScoreIntervals => {
                self.reduction != Reduction::Normalized
                    && !self.method.has_no_calibrator()
                    && !self.flags.contains(HeaderFlags::WEIGHTED)
            }
            // One score, whose rows count alike.
            SectionKind::Band => {
                self.reduction == Reduction::Binary
                    && !self.method.has_no_calibrator()
                    && !self.flags.contains(HeaderFlags::WEIGHTED)
                    && !self.flags.contains(HeaderFlags::GROUPED)
            }
            SectionKind::ScoreRanges | SectionKind::Monitors => self.reduction != Reduction::Joint,
            // Monitors count what has one probability.
            SectionKind::MonitorAction => self.reduction.has_one_probability(),
            SectionKind::Intervals => {
                matches!(tables, Some(Tables | RandomizedSteps | IntegerSteps | CompactSteps))
            }
            SectionKind::DirectTable => tables == Some(IntegerSteps) && self.encoding.is_byte(),
            kind => tables == Some(kind),
        }
    }
}

impl Reduction {
    /// Returns the number in the artifact format.
    pub const fn number(self) -> u8 {
        match self {
            Self::Binary => 0,
            Self::TopLabel => 1,
            Self::Confidence => 2,
            Self::ClassWise => 3,
            Self::Normalized => 4,
            Self::TopKLabel { .. } => 5,
            Self::TopKConfidence { .. } => 6,
            Self::Joint => 7,
        }
    }

    /// Returns whether a prediction has one probability, and so falls into one of the tables.
    pub const fn has_one_probability(self) -> bool {
        matches!(self, Self::Binary | Self::Confidence | Self::TopLabel)
    }

    /// Returns the number of tables for a classifier with this number of classes; `None` if the reduction does not go with it.
    ///
    /// Binary needs 2 classes, the others 2 or more. The number of ranks is at least 1, at most the number of classes, and at most
    /// [`MAX_TOP_K`].
    pub const fn tables(self, classes: u16) -> Option<usize> {
        let l = classes as usize;
        if l < 2 {
            return None;
        }
        match self {
            Self::Binary if l == 2 => Some(1),
            Self::Binary => None,
            Self::Confidence => Some(1),
            Self::TopLabel | Self::ClassWise | Self::Normalized => Some(l),
            Self::TopKLabel { k } | Self::TopKConfidence { k }
                if k == 0 || k as usize > MAX_TOP_K || k > classes =>
            {
                None
            }
            Self::TopKLabel { k } => Some(k as usize * l),
            Self::TopKConfidence { k } => Some(k as usize),
            Self::Joint => Some(0),
        }
    }

    /// Returns the number of ranks; `None` if the reduction has no ranks.
    pub const fn top_k(self) -> Option<usize> {
        match self {
            Self::TopKLabel { k } | Self::TopKConfidence { k } => Some(k as usize),
            _ => None,
        }
    }

    /// Tells whether there are calibrators of integer codes under this reduction.
    pub const fn takes_codes(self) -> bool {
        matches!(self, Self::Binary | Self::TopLabel | Self::Confidence)
    }
}

impl Method {
    /// Returns the number in the artifact format.
    pub const fn number(self) -> u8 {
        self as u8
    }

    /// Tells whether there is nothing that gives a probability.
    pub const fn has_no_calibrator(self) -> bool {
        matches!(self, Self::OperatingPoint | Self::PredictionSet)
    }

    /// Tells whether the edges do not depend on the points in the bins.
    const fn splits(self) -> bool {
        matches!(self, Self::Ums | Self::FixedWidth | Self::ScalingBinning)
    }
}

/// Tells whether a value can be an epsilon: a positive finite number.
pub(super) fn is_epsilon(value: f32) -> bool {
    value > 0.0 && value.is_finite()
}

impl fmt::Display for Reduction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Binary => "binary",
            Self::TopLabel => "top-label",
            Self::Confidence => "confidence",
            Self::ClassWise => "class-wise",
            Self::Normalized => "normalized",
            Self::TopKLabel { .. } => "top-k-label",
            Self::TopKConfidence { .. } => "top-k-confidence",
            Self::Joint => "joint",
        })
    }
}

impl fmt::Display for Theorem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Gr21Theorem3 => "Gupta and Ramdas 2021, Theorem 3",
            Self::Gr22Theorem1 => "Gupta and Ramdas 2022, Theorem 1",
            Self::Gr21Corollary1 => "Gupta and Ramdas 2021, Corollary 1",
            Self::Gr21Theorem4 => "Gupta and Ramdas 2021, Theorem 4",
            Self::SampleSplit => "Hoeffding's inequality on the bins' own counts",
            Self::ClopperPearson => "Clopper and Pearson 1934, exact binomial intervals",
            Self::Gr22Theorem2 => "Gupta and Ramdas 2022, Theorem 2",
        })
    }
}
