//! The options that choose a method.

use calib_fit::binary::Loss;
use calib_fit::job::{ClassScore, MethodName, NamedMethod, ReductionName, ScalingName, Smoothing};
use clap::Args;

use super::headings::{DETAILS, GUARANTEES, METHOD, WHOLE_VECTORS};
use super::parse::{count, listing, named, parse_number};

/// What is said of all methods.
const WHICH_METHOD: &str =
    "The calibration method; without it a blend of several methods. `calib help methods` helps you choose:";
/// What a reduction is.
const WHICH_REDUCTION: &str = "How a problem with several classes becomes binary ones (Gupta and Ramdas 2022), each fitted with the method:";

/// Which method, with which parameters.
#[derive(Args)]
pub(crate) struct MethodOptions {
    /// Calibration method: see `calib help methods`.
    #[arg(long, value_parser = named::<MethodName>(), ignore_case = true, hide_possible_values = true, long_help = listing::<MethodName>(WHICH_METHOD), help_heading = METHOD)]
    method: Option<MethodName>,
    /// Number of bins; of each table of a reduction.
    #[arg(long, value_name = "B", value_parser = count::<usize>(..), conflicts_with = "rows_per_bin", help_heading = METHOD)]
    bins: Option<usize>,
    /// Use as many bins as keep the guarantee within E.
    ///
    /// At most 15 bins, of umd. Without --epsilon and --method, calib fits a blend, with intervals of score ranges.
    #[arg(long, value_name = "E", value_parser = parse_epsilon, conflicts_with_all = ["bins", "rows_per_bin"], help_heading = METHOD)]
    epsilon: Option<f64>,
    /// Calibration rows per bin.
    ///
    /// The number of bins follows from the data, with a reduction for each of its tables. A class (or rank) with fewer
    /// rows stays uncalibrated. With a top-label blend, such a class gets the blend of all classes. A binary problem with fewer rows is an error.
    #[arg(long, value_name = "K", value_parser = count::<usize>(..), help_heading = METHOD, hide_short_help = true)]
    rows_per_bin: Option<usize>,
    /// Largest number of bins of isotonic regression, or of regions of multiclass-irp; recursive partitioning finds
    /// fewer.
    #[arg(long, value_name = "B", value_parser = count::<usize>(1..=65_536), help_heading = DETAILS, hide_short_help = true)]
    max_bins: Option<usize>,
    /// Laplace smoothing.
    ///
    /// Isotonic regression: (positives + A) / (n + 2 A), with A = 0 by default.
    ///
    /// Regions of multiclass-irp: (rows of a class + A) / (n + classes A), with A = 1 by default. `paper` gives the
    /// values of its authors' code, (mean + 0.05) / 1.05, which sum to more than one.
    #[arg(long, value_name = "A", value_parser = parse_smoothing, help_heading = DETAILS, hide_short_help = true)]
    smoothing: Option<Smoothing>,
    /// Scaling function under scaling-binning, platt by default.
    #[arg(long, value_parser = named::<ScalingName>(), help_heading = DETAILS, hide_short_help = true)]
    scaling: Option<ScalingName>,
    /// Range of raw scores in which fixed-width has its bins of equal width; the outer bins extend beyond it.
    ///
    /// For scores as integer codes, the default is the range of the codes.
    #[arg(long, value_name = "LO,HI", value_parser = parse_range, allow_hyphen_values = true, help_heading = DETAILS, hide_short_help = true)]
    range: Option<(f32, f32)>,
    /// Loss that a scaling function is fitted to, with or without scaling-binning: the log-loss by default.
    #[arg(long, value_parser = named::<Loss>(), help_heading = DETAILS, hide_short_help = true)]
    loss: Option<Loss>,
    /// Seed of all random draws: ties, sample splits, the rows of clusters. The artifact records it.
    #[arg(long, default_value_t = 0, value_name = "SEED", value_parser = count::<u64>(..), help_heading = GUARANTEES, hide_short_help = true)]
    seed: u64,
    /// Scale log-probabilities although the matrix has logits; by default logits are scaled unchanged.
    #[arg(long, help_heading = WHOLE_VECTORS, hide_short_help = true)]
    log_probs: bool,
    /// Penalty of weights and intercepts.
    ///
    /// LAMBDA is the penalty of off-diagonal weights, times their mean square: of matrix scaling (0 by default) and of
    /// Dirichlet calibration (0.1). MU is the penalty of intercepts, times their mean square: LAMBDA by default.
    #[arg(long, value_name = "LAMBDA[,MU]", value_parser = parse_odir, conflicts_with = "folds", help_heading = WHOLE_VECTORS, hide_short_help = true)]
    odir: Option<(f64, Option<f64>)>,
    /// Number of folds for cross-validation.
    ///
    /// It selects the penalties of matrix scaling and Dirichlet calibration, and the number of regions of
    /// multiclass-irp. Folds are drawn with --seed.
    #[arg(long, value_name = "PARTS", value_parser = count::<usize>(..), help_heading = WHOLE_VECTORS, hide_short_help = true)]
    folds: Option<usize>,
    /// Depth of Sierpinski binning, or number of steps from 0 to 1 of grid-style binning.
    ///
    /// With multiclass-irp, calib splits at the points of the simplex whose entries are multiples of 1/STEPS, not next
    /// to calibration rows.
    #[arg(long, value_name = "STEPS", value_parser = count::<u16>(..), help_heading = WHOLE_VECTORS, hide_short_help = true)]
    resolution: Option<u16>,
}

/// How a multi-class problem becomes binary ones.
#[derive(Args)]
pub(crate) struct ReductionOption {
    /// Probability to fit with several classes.
    #[arg(long, value_parser = named::<ReductionName>(), value_name = "NAME", hide_possible_values = true, long_help = listing::<ReductionName>(WHICH_REDUCTION), help_heading = METHOD)]
    reduction: Option<ReductionName>,
    /// Number of top classes that top-k-label and top-k-confidence give, at most 16.
    #[arg(long, value_name = "K", value_parser = count::<u16>(1..=16), help_heading = METHOD, hide_short_help = true)]
    k: Option<u16>,
    /// Score of the predicted class, under confidence and top-label.
    ///
    /// `margin` needs --logits, and the device then computes no softmax. Integer codes of logits need `margin`.
    #[arg(long, value_parser = named::<ClassScore>(), value_name = "SCORE", default_value = "softmax", help_heading = METHOD, hide_short_help = true)]
    class_score: ClassScore,
}

impl MethodOptions {
    /// The number of bins that is asked for.
    pub(crate) fn bins(&self) -> Option<usize> {
        self.bins
    }

    /// The method with its parameters, for one score.
    pub(crate) fn named(&self) -> NamedMethod {
        NamedMethod {
            method: self.method,
            bins: self.bins,
            rows_per_bin: self.rows_per_bin,
            epsilon: self.epsilon,
            max_bins: self.max_bins,
            smoothing: self.smoothing,
            scaling: self.scaling,
            loss: self.loss,
            range: self.range,
            log_probs: self.log_probs,
            odir: self.odir,
            folds: self.folds,
            resolution: self.resolution,
            seed: self.seed,
            ..NamedMethod::default()
        }
    }
}

impl ReductionOption {
    /// The method under this reduction.
    pub(crate) fn of(&self, method: NamedMethod) -> NamedMethod {
        NamedMethod { reduction: self.reduction, k: self.k, class_score: self.class_score, ..method }
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

fn parse_odir(text: &str) -> Result<(f64, Option<f64>), String> {
    let number = |text: &str| {
        text.trim().parse().map_err(|_| "a penalty is a number, or two of them, such as 0.1,0.01".to_owned())
    };
    match text.split_once(',') {
        Some((lambda, mu)) => Ok((number(lambda)?, Some(number(mu)?))),
        None => Ok((number(text)?, None)),
    }
}

fn parse_smoothing(text: &str) -> Result<Smoothing, String> {
    match text.parse::<f64>() {
        _ if text == "paper" => Ok(Smoothing::Paper),
        Ok(smoothing) if smoothing >= 0.0 && smoothing.is_finite() => Ok(Smoothing::Points(smoothing)),
        _ => Err("smoothing is a number from 0 on, such as 1".into()),
    }
}
