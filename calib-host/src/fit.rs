//! Fitting: a binary method on its own, or under a reduction.

use calib_core::{Method, Reduction, StepTable, Theorem};

use crate::bootstrap::Interval;
use crate::clopper_pearson::clopper_pearson;
use crate::data::{BinaryData, DataError, Form, TopLabelData, check_device_scores, check_lengths};
use crate::groups::{Group, group, totals};
use crate::guarantee::{Guarantee, gr22_theorem1};
use crate::histogram::Counted;
use crate::method::{BinaryMethod, Model};
use crate::passes::Arrays;
use crate::points::Points;
use crate::scaling::ScalingError;

/// How the top-label reduction sizes its binary problems.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TopLabelOptions {
    /// The binary method. With `points_per_bin`, its number of bins does not matter.
    pub method: BinaryMethod,
    /// `k`, at least 2: a class predicted `n_l` times gets `floor(n_l / k)` bins, so that every bin rests on about `k`
    /// points (Gupta and Ramdas 2022, Algorithm 8), and stays uncalibrated below `k`. Without it every class gets the
    /// method's number of bins, and stays uncalibrated if its points are too few for them.
    pub points_per_bin: Option<usize>,
}

/// What was fitted.
#[derive(Clone, Debug, PartialEq)]
pub struct Fit {
    /// The binary method.
    pub method: Method,
    /// The reduction it was applied under.
    pub reduction: Reduction,
    /// The number of classes: 2 without a reduction.
    pub classes: usize,
    /// The number of calibration points.
    pub n: u64,
    /// The binary models, one, or one per class; `None` for a class that stays uncalibrated.
    pub tables: Vec<Option<FittedTable>>,
    /// What is guaranteed, if anything; its epsilon is the largest of the tables'.
    pub guarantee: Option<Guarantee>,
    /// The parameters, as `name=value` separated by spaces.
    pub parameters: String,
}

/// A binary model and what is guaranteed for it.
#[derive(Clone, Debug, PartialEq)]
pub struct FittedTable {
    /// The function.
    pub model: Model,
    /// The number of calibration points of this table, boundary points included.
    pub n: u64,
    /// The largest deviation of a value at the fit's alpha; `None` if nothing is guaranteed.
    pub epsilon: Option<f64>,
    /// The exact (Clopper-Pearson) intervals of the bins, all of which hold with probability `1 - alpha` where epsilon
    /// does; empty where it does not.
    pub intervals: Vec<Interval>,
}

/// Why nothing was fitted.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum FitError {
    /// All labels are the same.
    #[error("all {n} labels are {label}: nothing can be learned about the other class")]
    OneClass {
        /// The label.
        label: u8,
        /// The number of points.
        n: u64,
    },
    /// There are fewer than two points a bin.
    #[error("{n} calibration points are too few for {bins} bins: at least {} are needed", 2 * bins)]
    TooFewPoints {
        /// The number of points.
        n: u64,
        /// The number of bins.
        bins: usize,
    },
    /// The number of bins is 0, or more than a table holds.
    #[error("{0} bins: a table has 1 to 65536")]
    BinCount(usize),
    /// The points per bin are below 2.
    #[error("{0} points per bin: at least 2 are needed")]
    PointsPerBin(usize),
    /// The failure probability is not in `(0, 1)`.
    #[error("alpha is {_0:?}: {}", alpha_fault(*_0))]
    Alpha(f64),
    /// No class has enough points.
    #[error(
        "no class was predicted often enough: the most frequent has {most} calibration points, {needed} are needed"
    )]
    NoClass {
        /// The number of points of the most frequent class.
        most: u64,
        /// How many would do.
        needed: usize,
    },
    /// The temporary file of points that do not fit into memory cannot be read.
    #[error("the temporary file of points cannot be read: {0}")]
    Spill(std::io::ErrorKind),
    /// A scaling function has no finite optimum.
    #[error(transparent)]
    Scaling(#[from] ScalingError),
}

impl FitError {
    /// Whether an option alone is wrong, whatever the data.
    pub(crate) fn is_about_options(&self) -> bool {
        matches!(self, Self::BinCount(_) | Self::PointsPerBin(_) | Self::Alpha(_))
    }

    pub(crate) fn hint(&self) -> Option<String> {
        Some(match self {
            Self::TooFewPoints { n, .. } if *n >= 2 => {
                format!("use --bins {} or fewer, or add calibration data", n / 2)
            }
            Self::NoClass { most, .. } if *most >= 2 => {
                format!("use --points-per-bin {most} or less, or fewer --bins, or add calibration data")
            }
            Self::TooFewPoints { .. } | Self::NoClass { .. } => "add calibration data".into(),
            Self::OneClass { .. } => "calibration data must hold both labels, 0 and 1".into(),
            Self::Alpha(_) => "alpha is a fraction such as 0.1, not a percentage".into(),
            Self::Scaling(_) => "use a method that fits no slope, such as umd or isotonic".into(),
            Self::BinCount(_) | Self::PointsPerBin(_) | Self::Spill(_) => return None,
        })
    }
}

impl TopLabelOptions {
    /// The binary method for a class with `n` points; `None` if they are too few.
    fn method_for(&self, n: u64) -> Option<BinaryMethod> {
        let n = usize::try_from(n).unwrap_or(usize::MAX);
        let method = match self.points_per_bin {
            Some(k) => self.method.with_bins((n / k).min(StepTable::MAX_BINS)),
            None => self.method,
        };
        (n >= self.points_per_bin.unwrap_or(1) && n >= method.min_points()).then_some(method)
    }

    fn smallest_class(&self) -> usize {
        self.points_per_bin.unwrap_or_else(|| self.method.min_points())
    }

    fn parameters(&self) -> String {
        let own = self.method.parameters();
        match self.points_per_bin {
            // The number of bins is each class's own.
            Some(k) => {
                let rest = own.split(' ').filter(|word| !word.starts_with("bins="));
                std::iter::once(format!("points-per-bin={k}"))
                    .chain(rest.map(str::to_owned))
                    .collect::<Vec<_>>()
                    .join(" ")
            }
            None => own,
        }
    }

    fn check(&self) -> Result<(), FitError> {
        match (self.points_per_bin, self.method.bins()) {
            (Some(k @ 0..2), _) => Err(FitError::PointsPerBin(k)),
            (None, Some(bins)) if !(1..=StepTable::MAX_BINS).contains(&bins) => Err(FitError::BinCount(bins)),
            _ => Ok(()),
        }
    }
}

/// Fits a binary calibrator; `alpha` in `(0, 1)` is the failure probability of its guarantee.
///
/// The result does not depend on the order of the rows.
///
/// # Errors
///
/// One class only, too few points, or a parameter out of range.
pub fn fit_binary(data: &BinaryData, method: &BinaryMethod, alpha: f64) -> Result<Fit, FitError> {
    check_alpha(alpha)?;
    match data.form() {
        Form::Packed(points) => fit_points(&Counted::new(&points[..])?, method, alpha),
        Form::Spilled(points) => fit_points(&Counted::new(&**points)?, method, alpha),
        Form::Rows(rows) => fit_points(&group(rows.clone())[..], method, alpha),
    }
}

/// [`fit_binary`] for scores as the device sees them and labels that are in memory anyway: they are not copied.
///
/// # Errors
///
/// The data's fault as [`BinaryData::from_device_scores`] has it, or the fit's.
pub fn fit_device_scores(
    scores: &[f32],
    labels: &[bool],
    method: &BinaryMethod,
    alpha: f64,
) -> Result<Result<Fit, FitError>, DataError> {
    check_lengths(scores.len(), labels.len())?;
    check_device_scores(scores)?;
    let fit = || {
        check_alpha(alpha)?;
        fit_points(&Counted::new(&Arrays { scores, labels })?, method, alpha)
    };
    Ok(fit())
}

fn fit_points(points: &(impl Points + ?Sized), method: &BinaryMethod, alpha: f64) -> Result<Fit, FitError> {
    let (n, positives) = points.totals();
    if positives == 0 || positives == n {
        return Err(FitError::OneClass { label: (positives > 0).into(), n });
    }
    let model = method.fit(points)?;
    let bins = method.bins().unwrap_or(0) as u64;
    let epsilon = method.epsilon(&model, n, bins, alpha);
    let table = FittedTable::new(model, n, epsilon, bins, alpha);
    Ok(Fit {
        method: method.method(),
        reduction: Reduction::Binary,
        classes: 2,
        n,
        tables: vec![Some(table)],
        guarantee: method.theorem().zip(epsilon).map(|(theorem, epsilon)| Guarantee {
            theorem,
            alpha,
            epsilon,
        }),
        parameters: format!("alpha={alpha} {}", method.parameters()).trim_end().into(),
    })
}

/// Fits a binary calibrator per predicted class to whether the prediction was right (Gupta and Ramdas 2022,
/// Algorithms 2 and 8); `alpha` in `(0, 1)` is the failure probability of the guarantee over all classes.
///
/// The result does not depend on the order of the rows.
///
/// # Errors
///
/// No class with enough points, or a parameter out of range.
pub fn fit_top_label(data: &TopLabelData, options: &TopLabelOptions, alpha: f64) -> Result<Fit, FitError> {
    check_alpha(alpha)?;
    options.check()?;
    let mut by_class: Vec<Vec<(f64, u64, u64)>> = vec![Vec::new(); data.classes()];
    for (predicted, score, label) in data.rows() {
        by_class[usize::from(predicted)].push((score, 1, (predicted == label).into()));
    }
    let by_class: Vec<Vec<Group>> = by_class.into_iter().map(group).collect();
    let methods: Vec<_> = by_class.iter().map(|groups| options.method_for(totals(groups).0)).collect();
    if methods.iter().all(Option::is_none) {
        let most = by_class.iter().map(|groups| totals(groups).0).max().unwrap_or(0);
        return Err(FitError::NoClass { most, needed: options.smallest_class() });
    }

    let n = data.len() as u64;
    let all_bins = methods.iter().flatten().filter_map(BinaryMethod::bins).sum::<usize>() as u64;
    // Theorem 1 of 2022 is stated for UMD by points per bin; otherwise the binary theorem holds for each class, with a
    // union bound over the bins of all classes (appendix H there).
    let gr22 = match (options.method.theorem(), options.points_per_bin) {
        (Some(Theorem::Gr21Theorem3), Some(k)) => Some(gr22_theorem1(n, k as u64, alpha)),
        _ => None,
    };
    let mut tables = Vec::with_capacity(by_class.len());
    for (groups, method) in by_class.iter().zip(&methods) {
        let Some(method) = method else {
            tables.push(None);
            continue;
        };
        let points = totals(groups).0;
        let model = method.fit(&groups[..])?;
        let own = method.epsilon(&model, points, all_bins, alpha);
        let epsilon = own.map(|own| gr22.unwrap_or(own));
        tables.push(Some(FittedTable::new(model, points, epsilon, all_bins, alpha)));
    }
    let theorem = if gr22.is_some() { Some(Theorem::Gr22Theorem1) } else { options.method.theorem() };
    let epsilon = tables.iter().flatten().filter_map(|table| table.epsilon).reduce(f64::max);
    Ok(Fit {
        method: options.method.method(),
        reduction: Reduction::TopLabel,
        classes: data.classes(),
        n,
        tables,
        guarantee: theorem.zip(epsilon).map(|(theorem, epsilon)| Guarantee { theorem, alpha, epsilon }),
        parameters: format!("alpha={alpha} {}", options.parameters()).trim_end().into(),
    })
}

impl FittedTable {
    fn new(model: Model, n: u64, epsilon: Option<f64>, all_bins: u64, alpha: f64) -> Self {
        let intervals = match epsilon {
            Some(_) => {
                let exact = |bin: &crate::Bin| clopper_pearson(bin.positives, bin.n, alpha / all_bins as f64);
                model.bins().iter().map(exact).collect()
            }
            None => Vec::new(),
        };
        Self { model, n, epsilon, intervals }
    }
}

impl Fit {
    /// The number of bins over all tables.
    pub fn bins(&self) -> usize {
        self.tables.iter().flatten().map(|table| table.model.len()).sum()
    }

    /// The classes that stay uncalibrated.
    pub fn uncalibrated_classes(&self) -> impl Iterator<Item = usize> {
        self.tables.iter().enumerate().filter(|(_, table)| table.is_none()).map(|(class, _)| class)
    }

    /// The tables in which equal scores straddled a boundary.
    pub fn tied_tables(&self) -> impl Iterator<Item = usize> {
        let tied = |table: &Option<FittedTable>| table.as_ref().is_some_and(|t| t.model.ties_merged());
        self.tables.iter().enumerate().filter(move |(_, table)| tied(table)).map(|(index, _)| index)
    }
}

fn check_alpha(alpha: f64) -> Result<(), FitError> {
    // An artefact holds it as an f32.
    let single = alpha as f32;
    if single > 0.0 && single < 1.0 { Ok(()) } else { Err(FitError::Alpha(alpha)) }
}

fn alpha_fault(alpha: f64) -> &'static str {
    if alpha > 0.0 && alpha < 1.0 { "too near 0 or 1 for an f32" } else { "it must lie between 0 and 1" }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::guarantee::gr21_theorem3;
    use crate::isotonic::Isotonic;
    use crate::scaling::ScalingMethod;
    use crate::scaling_binning::ScalingBinning;
    use crate::umd::{BoundaryPoints, Umd};
    use crate::ums::{FixedWidth, Ums};

    fn umd(bins: usize) -> BinaryMethod {
        BinaryMethod::Umd(Umd::new(bins))
    }

    #[test]
    fn refuses_one_class_and_a_bad_alpha() {
        let data = BinaryData::new(vec![0.1, 0.2, 0.3, 0.4], vec![true; 4]).unwrap();
        assert_eq!(fit_binary(&data, &umd(2), 0.1), Err(FitError::OneClass { label: 1, n: 4 }));
        for alpha in [0.0, 1.0, -0.1, f64::NAN, 1e-60, 1.0 - 1e-12] {
            assert!(matches!(fit_binary(&data, &umd(2), alpha), Err(FitError::Alpha(_))));
        }
    }

    #[test]
    fn ties_void_the_guarantee_unless_they_are_broken_at_random() {
        let scores: Vec<f64> = (0..100).map(|i| f64::from(i / 4) / 25.0).collect();
        let data = BinaryData::new(scores, (0..100).map(|i| i % 3 == 0).collect()).unwrap();
        let fit = fit_binary(&data, &umd(5), 0.1).unwrap();
        assert!(fit.guarantee.is_none() && fit.tied_tables().eq([0]));
        assert!(fit.tables[0].as_ref().unwrap().intervals.is_empty());
        let fit = fit_binary(&data, &BinaryMethod::UmdRandomized(Umd::new(5), 1), 0.1).unwrap();
        assert_eq!(fit.guarantee.unwrap().theorem, Theorem::Gr21Theorem4);
        assert_eq!(fit.guarantee.unwrap().epsilon, gr21_theorem3(20, 5, 0.1));
    }

    #[test]
    fn bins_adapt_to_the_class_and_rare_classes_stay_uncalibrated() {
        // Class 0 predicted 100 times, class 1 30 times, class 2 9 times, class 3 never.
        let predicted: Vec<u16> = [vec![0; 100], vec![1; 30], vec![2; 9]].concat();
        let scores: Vec<f64> = (0..139).map(|i| 0.3 + f64::from(i) / 200.0).collect();
        let labels: Vec<i64> = predicted.iter().map(|&c| i64::from(c)).collect();
        let data = TopLabelData::new(predicted, scores, &labels, 4).unwrap();
        let options = TopLabelOptions { method: umd(1), points_per_bin: Some(10) };
        let fit = fit_top_label(&data, &options, 0.1).unwrap();
        let bins: Vec<_> = fit.tables.iter().map(|t| t.as_ref().map(|t| t.model.len())).collect();
        assert_eq!(bins, [Some(10), Some(3), None, None]);
        assert_eq!(fit.uncalibrated_classes().collect::<Vec<_>>(), [2, 3]);
        assert_eq!(fit.guarantee.unwrap().epsilon, gr22_theorem1(139, 10, 0.1));
        assert_eq!(fit.parameters, "alpha=0.1 points-per-bin=10 boundary=ceil");

        let fixed = TopLabelOptions { method: umd(5), points_per_bin: None };
        let fit = fit_top_label(&data, &fixed, 0.1).unwrap();
        let epsilons: Vec<_> = fit.tables.iter().map(|t| t.as_ref().map(|t| t.epsilon.unwrap())).collect();
        assert_eq!(epsilons, [Some(gr21_theorem3(20, 10, 0.1)), Some(gr21_theorem3(6, 10, 0.1)), None, None]);
        assert_eq!(fit.guarantee.unwrap().epsilon, gr21_theorem3(6, 10, 0.1));

        let isotonic = BinaryMethod::Isotonic(Isotonic::default());
        let none = TopLabelOptions { method: isotonic, points_per_bin: Some(1000) };
        assert_eq!(fit_top_label(&data, &none, 0.1), Err(FitError::NoClass { most: 100, needed: 1000 }));
    }

    proptest! {
        /// Neither the order of the rows nor repeating them as a weighted row changes any fit.
        #[test]
        fn the_order_of_rows_does_not_matter(
            rows in proptest::collection::vec((1u32..40, any::<bool>()), 40..80).prop_shuffle(), bins in 1usize..8,
            seed in any::<u64>(),
        ) {
            let original = Umd { boundary_points: BoundaryPoints::Kept, ..Umd::new(bins) };
            let scaling = ScalingMethod::PlattLogit;
            let methods = [
                umd(bins),
                BinaryMethod::Umd(original),
                BinaryMethod::UmdRandomized(Umd::new(bins), seed),
                BinaryMethod::Ums(Ums { bins, seed }),
                BinaryMethod::FixedWidth(FixedWidth { bins }),
                BinaryMethod::Isotonic(Isotonic::default()),
                BinaryMethod::Isotonic(Isotonic { max_bins: Some(bins), smoothing: 0.5 }),
                BinaryMethod::IsotonicInterpolated(Isotonic::default()),
                BinaryMethod::ScalingBinning(ScalingBinning { scaling, bins, split_seed: Some(seed) }),
                BinaryMethod::Scaling(scaling),
                BinaryMethod::Scaling(ScalingMethod::PlattProb),
                BinaryMethod::Scaling(ScalingMethod::Beta),
                BinaryMethod::Scaling(ScalingMethod::Temperature),
                BinaryMethod::VennAbers,
            ];
            let data = |rows: &[(u32, bool)]| {
                let scores = rows.iter().map(|r| f64::from(r.0 as f32 / 40.0)).collect();
                BinaryData::new(scores, rows.iter().map(|r| r.1).collect()).unwrap()
            };
            let mut reordered = rows.clone();
            reordered.sort();
            reordered.reverse();
            let mut counts: Vec<_> = rows.iter().map(|r| (f64::from(r.0 as f32 / 40.0), 1, r.1.into())).collect();
            counts.push((0.5, 0, 0));
            let counts = BinaryData::from_counts(counts).unwrap();
            for method in methods {
                let fit = fit_binary(&data(&rows), &method, 0.1);
                prop_assert_eq!(&fit, &fit_binary(&data(&reordered), &method, 0.1));
                // Packed, and not.
                prop_assert_eq!(&fit, &fit_binary(&data(&rows).on_device(), &method, 0.1));
                prop_assert_eq!(&fit, &fit_binary(&counts, &method, 0.1));
                let (scores, labels): (Vec<_>, Vec<_>) = rows.iter().map(|r| (r.0 as f32 / 40.0, r.1)).unzip();
                prop_assert_eq!(&Ok(fit), &fit_device_scores(&scores, &labels, &method, 0.1));
            }
        }
    }
}
