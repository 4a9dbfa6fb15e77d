//! A method with its parameters, as users name them one by one.

use calib_core::ScoreEncoding;
use calib_core::artifact::Reduction;
use calib_core::score::MAX_TOP_K;

use super::method_name::{ClassScore, MethodName, NamedMethod, ReductionName, ScalingName, Smoothing};
use super::options::{MethodChoice, ROWS_PER_BIN, range_of_codes};
use crate::binary::Loss;
use crate::data::{ScoreKind, VectorKind};
use crate::joint::{
    CanonicalMethod, Directions, JointMethod, MulticlassIrp, Odir, ProjectionBinning, RegionValues, Splits,
    VectorScalingMethod,
};
use crate::names::Named;
use crate::options_error::OptionsError;
use crate::reduction::ReductionOptions;
use crate::stats::CrossValidation;

/// The penalties of Dirichlet calibration if none are asked for.
const DIRICHLET_ODIR: f64 = 0.1;

/// What a method is for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ScoresOf {
    /// Scores of class 1 of two.
    Binary {
        /// What they are, or what their codes stand for.
        kind: ScoreKind,
        /// The encoding of their codes.
        encoding: Option<ScoreEncoding>,
        /// Whether each group has a separate table.
        by_group: bool,
    },
    /// A matrix of several classes.
    Classes {
        /// What its entries are, or what their codes stand for.
        kind: VectorKind,
        /// Whether they are codes.
        are_codes: bool,
    },
}

impl NamedMethod {
    /// Whether the bins are left open, and with them the method; with an epsilon those of `umd` are.
    fn is_left_open(&self) -> bool {
        let has_bins = self.bins.is_some() || self.rows_per_bin.is_some();
        !has_bins && (self.method.is_none() || self.epsilon.is_some())
    }

    /// Returns the reduction that is asked for.
    ///
    /// # Errors
    ///
    /// A `k` without a reduction that has one, or the other way round.
    pub fn reduction_of(&self, of: ScoresOf) -> Result<Option<Reduction>, OptionsError> {
        let k = || match (self.reduction, self.k) {
            (_, Some(k)) if (1..=MAX_TOP_K).contains(&k.into()) => Ok(k),
            (_, Some(k)) => Err(refused(format!("`k` is {k}: it is a number from 1 to {MAX_TOP_K}"))),
            (name, None) => Err(refused(format!("{} needs `k`", name.map_or("a reduction", Named::name)))),
        };
        let asked = match self.reduction {
            None if self.k.is_some() => {
                return Err(refused("`k` needs `reduction=top-k-label` or top-k-confidence"));
            }
            None => None,
            Some(ReductionName::TopKLabel) => Some(Reduction::TopKLabel { k: k()? }),
            Some(ReductionName::TopKConfidence) => Some(Reduction::TopKConfidence { k: k()? }),
            Some(name) if self.k.is_some() => return Err(unused(name.name(), "k")),
            Some(name) => name.without_k(),
        };
        match (of, asked) {
            (ScoresOf::Binary { .. }, Some(_)) => Err(refused(
                "`reduction` needs a matrix: `kind=logits` or `kind=probs` instead of `kind=scores`",
            )),
            (_, asked) => Ok(asked),
        }
    }

    /// The reduction that is asked for; of several classes top-label if nothing is said of what is fitted.
    fn reduction_or_chosen(&self, of: ScoresOf) -> Result<Option<Reduction>, OptionsError> {
        let is_matrix = matches!(of, ScoresOf::Classes { .. });
        let is_open = is_matrix && self.takes_usual_bins() && self.unused_of_joint().is_none();
        Ok(self.reduction_of(of)?.or(is_open.then_some(Reduction::TopLabel)))
    }

    /// Whether tables get bins of a usual number of points, since nothing is named.
    fn takes_usual_bins(&self) -> bool {
        self.is_left_open() && self.epsilon.is_none()
    }

    /// Checks the parameters against the method and the scores, and returns both as a choice.
    ///
    /// # Errors
    ///
    /// The first parameter that the method does not have, or lacks, or that does not go with the scores.
    pub fn choice(&self, of: ScoresOf) -> Result<MethodChoice, OptionsError> {
        self.check_ranges()?;
        self.check_together()?;
        let reduction = self.reduction_or_chosen(of)?;
        match of {
            ScoresOf::Binary { kind, encoding, by_group } => {
                self.check_class_score(reduction, None)?;
                self.of_binary_scores((kind, encoding), by_group)
            }
            ScoresOf::Classes { kind, are_codes } => {
                self.check_class_score(reduction, Some(kind))?;
                if are_codes {
                    self.check_codes(kind, reduction)?;
                }
                match reduction {
                    Some(_) => self.of_binary_scores((ScoreKind::Probability, None), true),
                    None => self.joint().map(MethodChoice::Joint),
                }
            }
        }
    }

    /// The choice for binary scores, or for each of several tables of such.
    fn of_binary_scores(
        &self,
        (kind, encoding): (ScoreKind, Option<ScoreEncoding>),
        of_tables: bool,
    ) -> Result<MethodChoice, OptionsError> {
        let name = self.name();
        self.check_parameters()?;
        self.check_kind(kind, encoding.is_some())?;
        if self.is_left_open() && name != MethodName::Umd {
            return Err(refused(format!("`epsilon` chooses the bins of umd, and {name} has others")));
        }
        if self.is_left_open() && !(of_tables && self.epsilon.is_some()) {
            return Ok(self.epsilon.map_or(MethodChoice::Auto, MethodChoice::Within));
        }
        if self.epsilon.is_some() {
            return Err(refused(
                "`epsilon` is for one score of class 1, a row for every observation, and `method=umd`",
            ));
        }
        let range = self.range.or(encoding.and_then(range_of_codes).filter(|_| kind == ScoreKind::Margin));
        let method =
            self.binary(self.bins.unwrap_or(1), kind, range).expect("whole vectors were refused before");
        let lacks_bins = method.has_bins() && self.bins.is_none() && self.rows_per_bin.is_none();
        let rows_per_bin = match (of_tables, method.has_bins()) {
            (true, true) if lacks_bins => {
                return Err(refused(format!(
                    "{name} needs `rows_per_bin` or `bins`, such as `rows_per_bin={ROWS_PER_BIN}`"
                )));
            }
            // A class with fewer points stays uncalibrated.
            (true, false) => Some(self.rows_per_bin.unwrap_or(ROWS_PER_BIN)),
            (false, true) if lacks_bins => return Err(refused(how_to_name_bins(name))),
            (false, false) if self.rows_per_bin.is_some() => {
                return Err(chooses_bins_itself(name, "rows_per_bin"));
            }
            _ => self.rows_per_bin,
        };
        Ok(MethodChoice::Binary(ReductionOptions { method, rows_per_bin }))
    }

    /// The method for whole vectors.
    pub(in crate::job) fn joint(&self) -> Result<JointMethod, OptionsError> {
        let name = self.name();
        let needs = |parameter: &str| refused(format!("{name} needs `{parameter}`"));
        let cross_validation = self.folds.map(|folds| CrossValidation { folds, seed: self.seed });
        let scaling = |method| JointMethod::Scaling { method, log_probs: self.log_probs, cross_validation };
        let odir = |default: f64| {
            let (lambda, mu) = self.odir.unwrap_or((default, None));
            Odir { lambda, mu: mu.unwrap_or(lambda) }
        };
        let resolution = || self.resolution.ok_or_else(|| needs("resolution"));
        let method = match name {
            MethodName::Blend => JointMethod::Blend { seed: self.seed },
            MethodName::Unchanged => JointMethod::Unchanged,
            MethodName::Temperature => scaling(VectorScalingMethod::Temperature),
            MethodName::Vector => scaling(VectorScalingMethod::Vector),
            MethodName::Matrix => scaling(VectorScalingMethod::Matrix(odir(0.0))),
            MethodName::Dirichlet => scaling(VectorScalingMethod::Dirichlet(odir(DIRICHLET_ODIR))),
            MethodName::StructuredVector => scaling(VectorScalingMethod::StructuredVector),
            MethodName::StructuredMatrix => scaling(VectorScalingMethod::StructuredMatrix),
            MethodName::Sierpinski => {
                let depth = u8::try_from(resolution()?).unwrap_or(u8::MAX);
                JointMethod::Canonical(CanonicalMethod::Sierpinski(depth))
            }
            MethodName::Grid => JointMethod::Canonical(CanonicalMethod::Grid(resolution()?)),
            MethodName::Projection | MethodName::ProjectionRandom => {
                let directions = match name {
                    MethodName::Projection => Directions::Rotate,
                    _ => Directions::Random(self.seed),
                };
                let bins = self.bins.ok_or_else(|| needs("bins"))?;
                JointMethod::Canonical(CanonicalMethod::Projection(ProjectionBinning { bins, directions }))
            }
            MethodName::MulticlassIrp => {
                JointMethod::Canonical(CanonicalMethod::MulticlassIrp(MulticlassIrp {
                    max_regions: self.max_bins,
                    cross_validation,
                    splits: self.resolution.map_or(Splits::Midpoints, Splits::Grid),
                    values: match self.smoothing {
                        Some(Smoothing::Paper) => RegionValues::PaperCompatible,
                        Some(Smoothing::Points(points)) => RegionValues::Smoothed(points),
                        None => RegionValues::Smoothed(1.0),
                    },
                }))
            }
            _ => {
                return Err(refused(
                    "a matrix of scores needs a reduction, such as `reduction=top-label`; for two classes, give the scores of class 1 with `kind=scores`",
                ));
            }
        };
        let bins = matches!(name, MethodName::Projection | MethodName::ProjectionRandom);
        let irp = name == MethodName::MulticlassIrp;
        let binary = [
            (self.bins.is_some() && !bins, "bins"),
            (self.rows_per_bin.is_some(), "rows_per_bin"),
            (self.max_bins.is_some() && !irp, "max_bins"),
            (self.smoothing.is_some() && !irp, "smoothing"),
            (self.loss == Some(Loss::Squared), "loss=squared"),
            (self.loss == Some(Loss::LogOfBayesianTargets), "loss=bayes"),
        ];
        let binary = binary.into_iter().find(|(given, _)| *given).map(|(_, parameter)| parameter);
        match binary.or(self.unused_of_joint()) {
            Some(parameter) => Err(unused(name.name(), parameter)),
            None => Ok(method),
        }
    }

    /// The first parameter of methods of whole vectors that was given although this one does not have it.
    fn unused_of_joint(&self) -> Option<&'static str> {
        use MethodName::{Dirichlet, Grid, Matrix, MulticlassIrp, Sierpinski, Temperature, Vector};
        let is = |methods: &[MethodName]| self.method.is_some_and(|method| methods.contains(&method));
        let given = [
            (self.log_probs, is(&[Temperature, Vector, Matrix]), "log_probs"),
            (self.odir.is_some(), is(&[Matrix, Dirichlet]), "odir"),
            (self.folds.is_some(), is(&[Matrix, Dirichlet, MulticlassIrp]), "folds"),
            (self.resolution.is_some(), is(&[Sierpinski, Grid, MulticlassIrp]), "resolution"),
        ];
        given.into_iter().find(|(given, allowed, _)| *given && !allowed).map(|(.., parameter)| parameter)
    }

    /// Refuses values that make no sense whatever the method.
    fn check_ranges(&self) -> Result<(), OptionsError> {
        let fault = match *self {
            Self { epsilon: Some(epsilon), .. } if !(epsilon > 0.0 && epsilon < 1.0) => {
                format!("`epsilon` is {epsilon}: it is a deviation between 0 and 1, such as 0.05")
            }
            Self { max_bins: Some(0), .. } => "`max_bins` is 0: it is 1 or more".to_owned(),
            Self { smoothing: Some(Smoothing::Points(points)), .. }
                if !(points >= 0.0 && points.is_finite()) =>
            {
                format!("`smoothing` is {points}: it is a number from 0 on, such as 1")
            }
            Self { range: Some((lo, hi)), .. } if !(lo.is_finite() && hi.is_finite() && lo < hi) => {
                format!("`range` is {lo},{hi}: it is two numbers, the lower first")
            }
            _ => return Ok(()),
        };
        Err(refused(fault))
    }

    /// Refuses parameters that say the same thing twice.
    fn check_together(&self) -> Result<(), OptionsError> {
        let given = [
            (self.bins.is_some(), "bins", self.rows_per_bin.is_some(), "rows_per_bin"),
            (self.epsilon.is_some(), "epsilon", self.bins.is_some(), "bins"),
            (self.epsilon.is_some(), "epsilon", self.rows_per_bin.is_some(), "rows_per_bin"),
            (self.odir.is_some(), "odir", self.folds.is_some(), "folds"),
        ];
        match given.into_iter().find(|(one, _, other, _)| *one && *other) {
            Some((_, one, _, other)) => {
                Err(refused(format!("`{one}` and `{other}` do not go together: leave one of them out")))
            }
            None => Ok(()),
        }
    }

    /// Refuses parameters that the binary method does not have.
    fn check_parameters(&self) -> Result<(), OptionsError> {
        use MethodName::{
            Beta, Isotonic, IsotonicCentered, IsotonicInterpolated, Platt, PlattProb, Quadratic, Temperature,
        };
        let name = self.name();
        let Some(method) = self.binary(1, ScoreKind::Probability, None) else {
            return Err(refused(format!(
                "{name} calibrates whole vectors: use `kind=logits` or `kind=probs`, without `reduction`"
            )));
        };
        let of_vectors = [
            (self.log_probs, "log_probs"),
            (self.odir.is_some(), "odir"),
            (self.folds.is_some(), "folds"),
            (self.resolution.is_some(), "resolution"),
        ];
        if let Some((_, parameter)) = of_vectors.into_iter().find(|(given, _)| *given) {
            return Err(unused(name.name(), parameter));
        }
        if self.bins.is_some() && !method.has_bins() {
            return Err(chooses_bins_itself(name, "bins"));
        }
        let isotonic = matches!(name, Isotonic | IsotonicInterpolated | IsotonicCentered);
        let scaling =
            name.bins_scaling() || matches!(name, Platt | PlattProb | Beta | Quadratic | Temperature);
        let is_of_paper = self.smoothing == Some(Smoothing::Paper);
        let given = [
            (self.max_bins.is_some(), isotonic, "max_bins"),
            (self.smoothing.is_some(), isotonic && !is_of_paper, "smoothing"),
            (self.loss == Some(Loss::Squared), scaling, "loss=squared"),
            (self.loss == Some(Loss::LogOfBayesianTargets), scaling, "loss=bayes"),
        ];
        match given.into_iter().find(|(given, allowed, _)| *given && !allowed) {
            Some((.., parameter)) => Err(unused(name.name(), parameter)),
            None => Ok(()),
        }
    }

    /// Refuses methods and parameters for scores of the other kind.
    fn check_kind(&self, kind: ScoreKind, are_codes: bool) -> Result<(), OptionsError> {
        let name = self.name();
        if kind == ScoreKind::Probability {
            return match self.range {
                Some(_) => {
                    Err(refused("`range` is for margins, and these scores lie in [0, 1]: leave it out"))
                }
                None => Ok(()),
            };
        }
        let of_binning = self.scaling.filter(|_| name.bins_scaling());
        Err(refused(if name == MethodName::Beta || of_binning == Some(ScalingName::Beta) {
            "beta calibration is a function of a probability's logarithms, and margins are not probabilities: use platt, or \
             give probabilities with `kind=scores`"
                .to_owned()
        } else if name == MethodName::PlattProb || of_binning == Some(ScalingName::PlattProb) {
            "platt-prob is a function of a probability: for margins use platt, which is a function of the margin".to_owned()
        } else if name == MethodName::FixedWidth && self.range.is_none() && !are_codes {
            "bins of equal width of margins need their range: `range=LO,HI`".to_owned()
        } else if name != MethodName::FixedWidth && self.range.is_some() {
            return Err(unused(name.name(), "range"));
        } else {
            return Ok(());
        }))
    }

    /// Refuses the margin as the score of a predicted class where there is no such score.
    fn check_class_score(
        &self,
        reduction: Option<Reduction>,
        kind: Option<VectorKind>,
    ) -> Result<(), OptionsError> {
        if self.class_score == ClassScore::Softmax {
            return Ok(());
        }
        if !matches!(reduction, Some(Reduction::Confidence | Reduction::TopLabel)) {
            return Err(refused(
                "`class_score=margin` goes with `reduction=confidence` or top-label: it is the score of the predicted class",
            ));
        }
        match kind {
            Some(VectorKind::Logits) => Ok(()),
            _ => Err(refused(
                "`class_score=margin` is computed from logits: use `kind=logits`, or leave it out for probabilities",
            )),
        }
    }

    /// Refuses codes of several classes that there are no calibrators of.
    fn check_codes(&self, kind: VectorKind, reduction: Option<Reduction>) -> Result<(), OptionsError> {
        let takes = reduction.is_none_or(Reduction::takes_codes);
        if kind == VectorKind::Logits && self.class_score == ClassScore::Softmax && takes {
            return Err(refused(
                "codes of logits have no softmax without floating point: add `class_score=margin` and `reduction=confidence` or \
                 top-label, or give `kind=probs` if the codes stand for probabilities",
            ));
        }
        let what = match reduction {
            Some(reduction) if reduction.takes_codes() => return Ok(()),
            Some(reduction) => format!("{reduction} calibrators of integer codes"),
            None => "calibrators of whole vectors of integer codes".into(),
        };
        Err(refused(format!(
            "there are no {what}: choose `reduction=confidence` or top-label, or give probabilities, scale * (code - zero point), without \
             `score_encoding`"
        )))
    }
}

/// What is said where one score is fitted without bins.
fn how_to_name_bins(name: MethodName) -> String {
    let needs = format!(
        "{name} needs `bins` or `rows_per_bin`, such as `bins=10`: `plan(n, epsilon=0.1)` prints how many keep a guarantee \
         within 0.1"
    );
    match name {
        MethodName::Umd => {
            format!("{needs}; `epsilon=0.1` instead chooses the number")
        }
        _ => format!("{needs} of umd"),
    }
}

fn chooses_bins_itself(name: MethodName, parameter: &str) -> OptionsError {
    refused(format!("{name} chooses its bins itself: leave out `{parameter}`"))
}

fn unused(name: &str, parameter: &str) -> OptionsError {
    refused(format!("{name} has no `{parameter}`: leave it out"))
}

fn refused(sentence: impl Into<String>) -> OptionsError {
    OptionsError::new(sentence)
}
