//! The options that choose a method.

use calib_core::artifact::Reduction;
use calib_fit::binary::{Boundary, Loss, ScalingMethod};
use calib_fit::{BinaryMethod, FitError, JointMethod, ReductionOptions, ScoreKind};
use calib_io::files::Place;
use clap::{Args, ValueEnum};

use super::joint::JointOptions;
use super::method_name::{MethodName, Parameters, listing};
use super::parse::{count, parse_number};
use crate::error::Error;

/// The fewest points of a class or rank for methods without bins of fixed mass: what Gupta and Ramdas 2022 suggest per bin.
pub(crate) const MIN_POINTS: usize = 50;

/// What is said of all methods.
const METHOD: &str = "The calibration method; without it umd, with bins that suit the number of points. `calib help methods` says \
                      which to take:";

/// Which method, with which parameters.
#[derive(Args)]
pub(crate) struct MethodOptions {
    /// The calibration method: see `calib help methods`.
    #[arg(long, value_enum, ignore_case = true, hide_possible_values = true, long_help = listing::<MethodName>(METHOD), help_heading = "Method and bins")]
    method: Option<MethodName>,
    /// scikit-learn's word for the bins: quantile is umd, uniform is fixed-width.
    #[arg(
        long,
        value_enum,
        conflicts_with = "method",
        help_heading = "Method and bins",
        hide_short_help = true
    )]
    strategy: Option<Strategy>,
    /// The number of bins; of each table of a reduction.
    #[arg(long, alias = "n-bins", value_name = "B", value_parser = count::<usize>(..), conflicts_with = "points_per_bin", help_heading = "Method and bins")]
    bins: Option<usize>,
    /// As many bins as keep the guarantee within E.
    ///
    /// At most 15, of umd. Without it and without --method: within 0.1, or bins of 50 points where that is out of reach.
    #[arg(long, value_name = "E", value_parser = parse_epsilon, conflicts_with_all = ["bins", "points_per_bin", "strategy"], help_heading = "Method and bins")]
    epsilon: Option<f64>,
    /// The calibration points per bin.
    ///
    /// The number of bins follows from the data, with a reduction for each of its tables.
    /// A class (or rank) with fewer points stays uncalibrated. A binary problem with fewer is an error.
    #[arg(long, value_name = "K", value_parser = count::<usize>(..), help_heading = "Method and bins", hide_short_help = true)]
    points_per_bin: Option<usize>,
    /// The largest number of bins of isotonic regression; fewer are found by recursive partitioning.
    #[arg(long, value_name = "B", value_parser = count::<u32>(1..=65_536), help_heading = "Details of methods", hide_short_help = true)]
    max_bins: Option<u32>,
    /// Interpolate isotonic regression linearly instead of stepping.
    #[arg(long, help_heading = "Details of methods", hide_short_help = true)]
    interpolate: bool,
    /// Laplace smoothing of isotonic regression: (positives + A) / (n + 2 A), with A = 0 by default. Of the regions of
    /// multiclass-irp: (points of a class + A) / (n + classes A), with A = 1 by default.
    #[arg(long, value_name = "A", value_parser = parse_smoothing, help_heading = "Details of methods", hide_short_help = true)]
    smoothing: Option<f64>,
    /// Which order statistics are the boundaries of uniform-mass bins.
    #[arg(long, value_enum, default_value_t = BoundaryName::Ceil, help_heading = "Details of methods", hide_short_help = true)]
    boundary: BoundaryName,
    /// What uniform-mass binning does where equal scores straddle a boundary.
    #[arg(long, value_enum, default_value_t = TiesName::Merge, help_heading = "Details of methods", hide_short_help = true)]
    ties: TiesName,
    /// The scaling function under scaling-binning.
    #[arg(long, value_enum, default_value_t = ScalingName::Platt, help_heading = "Details of methods", hide_short_help = true)]
    scaling: ScalingName,
    /// Of what the Platt scaling function is one: the logit, if nothing else is said, or the probability. Of margins it is one of the
    /// margin.
    #[arg(long, value_enum, help_heading = "Details of methods", hide_short_help = true)]
    platt_on: Option<PlattOn>,
    /// The margins between which fixed-width has its bins of equal width; the outer ones reach beyond. Where scores are codes, the
    /// range of the codes if nothing else is said.
    #[arg(long, value_name = "LO,HI", value_parser = parse_range, allow_hyphen_values = true, help_heading = "Details of methods", hide_short_help = true)]
    range: Option<(f32, f32)>,
    /// What a scaling function is fitted to, on its own or under scaling-binning.
    #[arg(long, value_enum, default_value_t = LossName::Log, help_heading = "Details of methods", hide_short_help = true)]
    loss: LossName,
    /// What a fit to the log-loss takes for the probability of a point, on its own or under scaling-binning.
    #[arg(long, value_enum, default_value_t = TargetsName::Labels, help_heading = "Details of methods", hide_short_help = true)]
    targets: TargetsName,
    /// Scaling-binning: use all points for each of its three steps, instead of a third each.
    #[arg(long, help_heading = "Details of methods", hide_short_help = true)]
    one_set: bool,
    /// The seed of whatever is drawn at random: ties, sample splits, the rows of clusters. It is recorded in the artefact.
    #[arg(
        long,
        default_value_t = 0,
        value_name = "SEED",
        help_heading = "Guarantees and intervals",
        hide_short_help = true
    )]
    seed: u64,
    #[command(flatten)]
    joint: JointOptions,
}

/// scikit-learn's names.
#[derive(Clone, Copy, ValueEnum)]
enum Strategy {
    /// Bins of equal mass.
    Quantile,
    /// Bins of equal width.
    Uniform,
}

#[derive(Clone, Copy, ValueEnum)]
enum BoundaryName {
    /// Round the boundary's rank up, as in Algorithm 1.
    Ceil,
    /// Round it down.
    Floor,
}

#[derive(Clone, Copy, PartialEq, ValueEnum)]
enum TiesName {
    /// Keep equal scores in one bin: deterministic, and without a guarantee if there are such scores.
    Merge,
    /// Break ties at random, at fit and on the device: `umd` is then `umd-randomized`.
    Randomize,
}

#[derive(Clone, Copy, PartialEq, ValueEnum)]
enum ScalingName {
    Platt,
    Beta,
    Temperature,
}

#[derive(Clone, Copy, ValueEnum)]
enum PlattOn {
    /// The score's logit.
    Logit,
    /// The score itself.
    Prob,
}

#[derive(Clone, Copy, PartialEq, ValueEnum)]
enum LossName {
    /// The log-loss: convex, with one optimum.
    Log,
    /// The squared loss (Brier score), which bounds what a single label costs: the minimum that is reached downhill from
    /// the log-loss's optimum. There may be none.
    Squared,
}

#[derive(Clone, Copy, PartialEq, ValueEnum)]
enum TargetsName {
    /// Its label: maximum likelihood, which has no answer where a threshold separates the labels.
    Labels,
    /// Platt's (1999) Bayesian targets, as scikit-learn has them: (P + 1) / (P + 2) for each of the P positives, 1 / (N + 2) for
    /// each of the N negatives. There is always an answer, and with few points it is less sure of itself.
    Bayes,
}

impl MethodOptions {
    /// The method, `umd` if none is named.
    fn method(&self) -> MethodName {
        match (self.method, self.strategy) {
            (Some(method), _) => method,
            (None, Some(Strategy::Uniform)) => MethodName::FixedWidth,
            (None, _) => MethodName::Umd,
        }
    }

    /// Whether the bins are left to calib, and with them the method; with an epsilon those of `umd` are.
    pub(crate) fn is_left_open(&self) -> bool {
        let is_named = self.method.is_some() || self.strategy.is_some();
        let has_bins = self.bins.is_some() || self.points_per_bin.is_some();
        !has_bins && self.ties == TiesName::Merge && (!is_named || self.epsilon.is_some())
    }

    /// The reduction of several classes: the one that is asked for, or top-label if nothing is said of what is fitted.
    pub(crate) fn reduction_or_chosen(&self, asked: Option<Reduction>) -> Option<Reduction> {
        let is_open = self.takes_points_per_bin() && self.joint.first_without_use(None).is_none();
        asked.or(is_open.then_some(Reduction::TopLabel))
    }

    /// Why several tables have the bins that they have, if nobody named any; of a reduction that was not named either.
    pub(crate) fn why_tables(&self, chosen: Option<Reduction>) -> Option<String> {
        let bins = format!("umd with {MIN_POINTS} points a bin (Gupta and Ramdas 2022)");
        self.takes_points_per_bin().then(|| match chosen {
            Some(reduction) => format!(
                "chosen: {reduction}, the probability that the predicted class is right, by {bins}; --reduction class-wise has one of \
                 every class"
            ),
            None => format!("chosen: {bins}"),
        })
    }

    /// Whether tables get bins of a usual number of points, since nothing is named.
    fn takes_points_per_bin(&self) -> bool {
        self.is_left_open() && self.epsilon.is_none()
    }

    /// The epsilon that is asked for.
    pub(crate) fn epsilon(&self) -> Option<f64> {
        self.epsilon
    }

    /// The number of bins that is asked for.
    pub(crate) fn bins(&self) -> Option<usize> {
        self.bins
    }

    /// Checks what is left when the bins are left open, and returns `umd` with so many.
    pub(crate) fn umd(&self, bins: usize, (kind, codes): (ScoreKind, bool)) -> Result<BinaryMethod, Error> {
        if self.method() != MethodName::Umd {
            return Err(Error::Usage(format!(
                "--epsilon chooses the bins of umd, and {} has others",
                self.name()
            )));
        }
        self.check_options()?;
        self.check_kind(kind, codes)?;
        Ok(self.with_bins(bins, kind, None))
    }

    /// The method for whole vectors.
    pub(crate) fn joint(&self) -> Result<JointMethod, Error> {
        let name = self.name();
        let method = self.joint.method(self.method(), self.bins, self.smoothing, self.seed)?;
        let method = method.ok_or_else(|| {
            Error::Usage(
                "a matrix of scores needs a reduction, such as --reduction top-label; of two classes give class 1 with --scores".into(),
            )
        })?;
        let binary = [
            (self.bins.is_some() && self.method() != MethodName::Projection, "--bins"),
            (self.points_per_bin.is_some(), "--points-per-bin"),
            (self.max_bins.is_some(), "--max-bins"),
            (self.interpolate, "--interpolate"),
            (self.smoothing.is_some() && self.method() != MethodName::MulticlassIrp, "--smoothing"),
            (self.ties == TiesName::Randomize, "--ties randomize"),
            (self.one_set, "--one-set"),
            (self.loss == LossName::Squared, "--loss squared"),
            (self.targets == TargetsName::Bayes, "--targets bayes"),
        ];
        let binary = binary.into_iter().find(|(given, _)| *given).map(|(_, option)| option);
        match binary.or(self.joint.first_without_use(Some(self.method()))) {
            Some(option) => Err(Error::Usage(format!("{name} has no {option}: leave it out"))),
            None => Ok(method),
        }
    }

    /// The method for `n` points of a binary problem with scores of this kind, which are codes of this range if they are codes.
    pub(crate) fn binary(
        &self,
        (n, place): (u64, &Place),
        kind: ScoreKind,
        codes: Option<(f32, f32)>,
    ) -> Result<BinaryMethod, Error> {
        self.check()?;
        if self.lacks_bins() {
            return Err(Error::Usage(self.how_to_name_bins()));
        }
        self.check_kind(kind, codes.is_some())?;
        if self.points_per_bin.is_some() && !self.method().has_bins() {
            return Err(self.chooses_bins_itself("--points-per-bin"));
        }
        let bins = match (self.bins, self.points_per_bin) {
            (Some(bins), _) => Ok(bins),
            (None, Some(points_per_bin @ 0..2)) => Err(FitError::PointsPerBin(points_per_bin)),
            (None, Some(points_per_bin)) => match n / points_per_bin as u64 {
                0 => Err(FitError::FewerThanABin { n, needed: points_per_bin }),
                bins => Ok(usize::try_from(bins).unwrap_or(usize::MAX)),
            },
            (None, None) => Ok(1),
        };
        let bins = bins.map_err(|cause| Error::fit(place.clone(), cause))?;
        Ok(self.with_bins(bins, kind, self.range_of(kind, codes)))
    }

    /// The range of bins of equal width: the one that is asked for, or that of the codes.
    fn range_of(&self, kind: ScoreKind, codes: Option<(f32, f32)>) -> Option<(f32, f32)> {
        self.range.or(codes.filter(|_| kind == ScoreKind::Margin))
    }

    /// Refuses methods and options for scores of the other kind.
    fn check_kind(&self, kind: ScoreKind, are_codes: bool) -> Result<(), Error> {
        let refuse = |text: &str| Err(Error::Usage(text.into()));
        if kind == ScoreKind::Probability {
            return match self.range {
                Some(_) => refuse("--range is for margins, and these scores lie in [0, 1]: leave it out"),
                None => Ok(()),
            };
        }
        let is_beta = self.method() == MethodName::Beta
            || self.method() == MethodName::ScalingBinning && self.scaling == ScalingName::Beta;
        if is_beta {
            return refuse(
                "beta calibration is a function of a probability's logarithms, which margins have none of: use platt, or give \
                 probabilities with --scores",
            );
        }
        if self.platt_on.is_some() {
            return refuse(
                "--platt-on is for probabilities: of margins platt is a function of the margin, so leave it out",
            );
        }
        if self.method() == MethodName::FixedWidth && self.range.is_none() && !are_codes {
            return refuse("bins of equal width of margins need their range: --range LO,HI");
        }
        if self.range.is_some() && self.method() != MethodName::FixedWidth {
            return Err(Error::Usage(format!("{} has no --range: leave it out", self.name())));
        }
        Ok(())
    }

    /// The method for each binary problem of a reduction.
    pub(crate) fn reduction(&self) -> Result<ReductionOptions, Error> {
        self.by_table((ScoreKind::Probability, None))
    }

    /// The method for each of several tables of scores of this kind, which are codes of this range if they are codes.
    pub(crate) fn by_table(
        &self,
        (kind, codes): (ScoreKind, Option<(f32, f32)>),
    ) -> Result<ReductionOptions, Error> {
        self.check()?;
        let takes_usual = self.takes_points_per_bin();
        if self.lacks_bins() && !takes_usual {
            return Err(Error::Usage(format!(
                "{} needs --points-per-bin or --bins, such as --points-per-bin {MIN_POINTS}; without --method, umd is taken with \
                 {MIN_POINTS} points a bin",
                self.name()
            )));
        }
        self.check_kind(kind, codes.is_some())?;
        let points_per_bin = if self.method().has_bins() && !takes_usual {
            self.points_per_bin
        } else {
            Some(self.points_per_bin.unwrap_or(MIN_POINTS))
        };
        let range = self.range_of(kind, codes);
        Ok(ReductionOptions { method: self.with_bins(self.bins.unwrap_or(1), kind, range), points_per_bin })
    }

    /// Whether the method needs bins, and nobody named any.
    fn lacks_bins(&self) -> bool {
        self.method().has_bins() && self.bins.is_none() && self.points_per_bin.is_none()
    }

    /// What is said where one score is fitted without them.
    fn how_to_name_bins(&self) -> String {
        let needs = format!("{} needs --bins or --points-per-bin, such as --bins 10", self.name());
        let plan = "`calib plan --n N --epsilon 0.1` says how many keep a guarantee within 0.1";
        match (self.is_left_open(), self.method()) {
            // Of points that count the same they would have been chosen.
            (true, _) => format!("of weighted or rounded scores no bins are chosen, and {needs}: {plan}"),
            (false, MethodName::Umd) => {
                format!(
                    "{needs}: {plan}; --epsilon 0.1 in place of them chooses so many, and so does leaving --method out"
                )
            }
            (false, _) => {
                format!("{needs}: {plan} of umd, which is taken with bins that suit without --method")
            }
        }
    }

    /// Refuses options that the method does not have.
    fn check(&self) -> Result<(), Error> {
        self.check_options()?;
        if self.epsilon.is_some() {
            return Err(Error::Usage(
                "--epsilon is for one score of class 1, a row for every point, and --ties merge".into(),
            ));
        }
        Ok(())
    }

    fn check_options(&self) -> Result<(), Error> {
        use MethodName::{
            Beta, Irp, Isotonic, IsotonicInterpolated, Platt, ScalingBinning, Temperature, Umd, UmdOriginal,
            UmdRandomized,
        };
        let name = self.name();
        if self.method().is_joint() {
            return Err(Error::Usage(format!(
                "{name} calibrates whole vectors: use --logits or --probs, without --reduction"
            )));
        }
        if let Some(option) = self.joint.first_without_use(None) {
            return Err(Error::Usage(format!("{name} has no {option}: leave it out")));
        }
        let refuse = |given: bool, allowed: bool, option: &str| match given && !allowed {
            true => Err(Error::Usage(format!("{name} has no {option}: leave it out"))),
            false => Ok(()),
        };
        let isotonic = matches!(self.method(), Isotonic | IsotonicInterpolated | Irp);
        let umd = matches!(self.method(), Umd | UmdOriginal | UmdRandomized);
        if self.bins.is_some() && !self.method().has_bins() {
            return Err(self.chooses_bins_itself("--bins"));
        }
        refuse(self.max_bins.is_some(), isotonic, "--max-bins")?;
        refuse(self.interpolate, isotonic, "--interpolate")?;
        refuse(self.smoothing.is_some(), isotonic, "--smoothing")?;
        refuse(self.ties == TiesName::Randomize, umd, "--ties randomize")?;
        let scaling = matches!(self.method(), Platt | Beta | Temperature | ScalingBinning);
        refuse(self.loss == LossName::Squared, scaling, "--loss squared")?;
        refuse(self.targets == TargetsName::Bayes, scaling, "--targets bayes")?;
        if self.loss == LossName::Squared && self.targets == TargetsName::Bayes {
            return Err(Error::Usage("--targets bayes goes with --loss log: leave one of them out".into()));
        }
        refuse(self.one_set, self.method() == ScalingBinning, "--one-set")?;
        Ok(())
    }

    /// Refuses an option that goes with step functions alone, if the method fits something else.
    pub(crate) fn check_steps(&self, option: &str) -> Result<(), Error> {
        use MethodName::{Beta, IsotonicInterpolated, Platt, Temperature, UmdRandomized, VennAbers};
        let functions = [Platt, Beta, Temperature, UmdRandomized, IsotonicInterpolated, VennAbers];
        let other = functions.contains(&self.method()) || self.method().is_joint();
        if other || self.interpolate || self.ties == TiesName::Randomize {
            let name = self.name();
            return Err(Error::Usage(format!(
                "{option} is for step functions, which {name} is not: leave it out"
            )));
        }
        Ok(())
    }

    fn with_bins(&self, bins: usize, kind: ScoreKind, range: Option<(f32, f32)>) -> BinaryMethod {
        let parameters = Parameters {
            bins,
            boundary: match self.boundary {
                BoundaryName::Ceil => Boundary::Ceil,
                BoundaryName::Floor => Boundary::Floor,
            },
            randomize_ties: self.ties == TiesName::Randomize,
            max_bins: self.max_bins.map(|max| max as usize),
            interpolate: self.interpolate,
            smoothing: self.smoothing.unwrap_or(0.0),
            scaling: match self.scaling {
                ScalingName::Platt => self.platt(),
                ScalingName::Beta => ScalingMethod::Beta,
                ScalingName::Temperature => ScalingMethod::Temperature,
            },
            platt: self.platt(),
            loss: self.loss(),
            one_set: self.one_set,
            kind,
            range: range.filter(|_| self.method() == MethodName::FixedWidth),
            seed: self.seed,
        };
        self.method().binary(&parameters).expect("a method of whole vectors was refused before")
    }

    fn platt(&self) -> ScalingMethod {
        match self.platt_on {
            None | Some(PlattOn::Logit) => ScalingMethod::PlattLogit,
            Some(PlattOn::Prob) => ScalingMethod::PlattProb,
        }
    }

    fn loss(&self) -> Loss {
        match (self.loss, self.targets) {
            (LossName::Squared, _) => Loss::Squared,
            (LossName::Log, TargetsName::Labels) => Loss::Log,
            (LossName::Log, TargetsName::Bayes) => Loss::LogOfBayesianTargets,
        }
    }

    fn chooses_bins_itself(&self, option: &str) -> Error {
        Error::Usage(format!("{} chooses its bins itself: leave out {option}", self.name()))
    }

    /// The seed of whatever is drawn at random.
    pub(crate) fn seed(&self) -> u64 {
        self.seed
    }

    fn name(&self) -> String {
        self.method().name()
    }
}

fn parse_epsilon(text: &str) -> Result<f64, String> {
    match parse_number(text) {
        Some(epsilon) if epsilon > 0.0 && epsilon < 1.0 => Ok(epsilon),
        _ => Err("epsilon is a deviation between 0 and 1, such as 0.05".into()),
    }
}

fn parse_range(text: &str) -> Result<(f32, f32), String> {
    let ends = text.split_once(',').and_then(|(lo, hi)| lo.trim().parse().ok().zip(hi.trim().parse().ok()));
    match ends {
        Some((lo, hi)) if f32::is_finite(lo) && f32::is_finite(hi) && lo < hi => Ok((lo, hi)),
        _ => Err("a range is two numbers, the lower first, such as -4,4".into()),
    }
}

fn parse_smoothing(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(smoothing) if smoothing >= 0.0 && smoothing.is_finite() => Ok(smoothing),
        _ => Err("smoothing is a number from 0 on, such as 1".into()),
    }
}
