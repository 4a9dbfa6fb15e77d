//! Fitting: a binary method on its own, or under a reduction.

use calib_core::{Method, Reduction, StepTable, Theorem};

use crate::binned::BinnedModel;
use crate::data::{BinaryData, TopLabelData};
use crate::guarantee::{Guarantee, gr21_theorem3, gr22_theorem1};
use crate::isotonic::Isotonic;
use crate::umd::{Boundary, Umd};

/// A binary calibration method with its parameters.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum BinaryMethod {
    /// Uniform-mass binning.
    Umd(Umd),
    /// Isotonic regression.
    Isotonic(Isotonic),
}

/// How the top-label reduction sizes its binary problems.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum TopLabelOptions {
    /// UMD with `floor(n_l / k)` bins for a class predicted `n_l` times: every bin rests on about `k` points. A
    /// class with fewer than `k` stays uncalibrated. (Gupta and Ramdas 2022, Algorithm 8.)
    UmdPointsPerBin {
        /// `k`, at least 2.
        points_per_bin: usize,
        /// Which order statistics are the boundaries.
        boundary: Boundary,
    },
    /// UMD with the same number of bins for every class. A class with fewer than two points a bin stays
    /// uncalibrated.
    UmdBins(Umd),
    /// Isotonic regression for every class with at least this many points; other classes stay uncalibrated.
    Isotonic {
        /// At least 1.
        min_points: usize,
    },
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
    /// Edges and values.
    pub model: BinnedModel,
    /// The number of calibration points of this table, boundary points included.
    pub n: u64,
    /// The largest deviation of a value at the fit's alpha; `None` if nothing is guaranteed.
    pub epsilon: Option<f64>,
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
        n: usize,
    },
    /// There are fewer than two points a bin.
    #[error("{n} calibration points are too few for {bins} bins: at least {} are needed", 2 * bins)]
    TooFewPoints {
        /// The number of points.
        n: usize,
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
        most: usize,
        /// How many would do.
        needed: usize,
    },
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
            Self::BinCount(_) | Self::PointsPerBin(_) => return None,
        })
    }
}

impl BinaryMethod {
    fn method(&self) -> Method {
        match self {
            Self::Umd(_) => Method::Umd,
            Self::Isotonic(_) => Method::Isotonic,
        }
    }

    fn parameters(&self) -> String {
        match self {
            Self::Umd(umd) => format!("bins={} boundary={}", umd.bins, umd.boundary.name()),
            Self::Isotonic(_) => "edges=midpoint".into(),
        }
    }

    fn fit(&self, sorted: &[(f64, bool)]) -> Result<BinnedModel, FitError> {
        match self {
            Self::Umd(umd) => umd.fit(sorted),
            Self::Isotonic(isotonic) => isotonic.fit(sorted),
        }
    }
}

impl Boundary {
    fn name(self) -> &'static str {
        match self {
            Self::Ceil => "ceil",
            Self::Floor => "floor",
        }
    }
}

impl TopLabelOptions {
    /// The binary method for a class with `n` points; `None` if they are too few.
    fn method_for(&self, n: usize) -> Option<BinaryMethod> {
        match *self {
            Self::UmdPointsPerBin { points_per_bin, boundary } => {
                let bins = n / points_per_bin;
                (bins > 0).then_some(BinaryMethod::Umd(Umd { bins, boundary }))
            }
            Self::UmdBins(umd) => (n >= 2 * umd.bins).then_some(BinaryMethod::Umd(umd)),
            Self::Isotonic { min_points } => {
                (n >= min_points.max(1)).then_some(BinaryMethod::Isotonic(Isotonic))
            }
        }
    }

    fn smallest_class(&self) -> usize {
        match *self {
            Self::UmdPointsPerBin { points_per_bin, .. } => points_per_bin,
            Self::UmdBins(umd) => 2 * umd.bins,
            Self::Isotonic { min_points } => min_points.max(1),
        }
    }

    fn parameters(&self) -> String {
        match self {
            Self::UmdPointsPerBin { points_per_bin, boundary } => {
                format!("points-per-bin={points_per_bin} boundary={}", boundary.name())
            }
            Self::UmdBins(umd) => BinaryMethod::Umd(*umd).parameters(),
            Self::Isotonic { min_points } => format!("edges=midpoint min-points={min_points}"),
        }
    }

    fn check(&self) -> Result<Method, FitError> {
        match *self {
            Self::UmdPointsPerBin { points_per_bin: k @ 0..2, .. } => Err(FitError::PointsPerBin(k)),
            Self::UmdBins(Umd { bins, .. }) if !(1..=StepTable::MAX_BINS).contains(&bins) => {
                Err(FitError::BinCount(bins))
            }
            Self::UmdPointsPerBin { .. } | Self::UmdBins(_) => Ok(Method::Umd),
            Self::Isotonic { .. } => Ok(Method::Isotonic),
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
    let mut points: Vec<_> = data.scores().iter().copied().zip(data.labels().iter().copied()).collect();
    let first = points[0].1;
    if points.iter().all(|point| point.1 == first) {
        return Err(FitError::OneClass { label: first.into(), n: points.len() });
    }
    let n = points.len() as u64;
    let model = method.fit(sort(&mut points))?;
    let epsilon = match method {
        BinaryMethod::Umd(umd) if !model.ties_merged => {
            Some(gr21_theorem3(n / umd.bins as u64, umd.bins as u64, alpha))
        }
        _ => None,
    };
    Ok(Fit {
        method: method.method(),
        reduction: Reduction::Binary,
        classes: 2,
        n,
        tables: vec![Some(FittedTable { model, n, epsilon })],
        guarantee: epsilon.map(|epsilon| Guarantee { theorem: Theorem::Gr21Theorem3, alpha, epsilon }),
        parameters: format!("alpha={alpha} {}", method.parameters()),
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
    let method = options.check()?;
    let mut by_class: Vec<Vec<(f64, bool)>> = vec![Vec::new(); data.classes()];
    for (predicted, score, label) in data.rows() {
        by_class[usize::from(predicted)].push((score, predicted == label));
    }
    let most = by_class.iter().map(Vec::len).max().unwrap_or(0);
    let methods: Vec<_> = by_class.iter().map(|points| options.method_for(points.len())).collect();
    if methods.iter().all(Option::is_none) {
        return Err(FitError::NoClass { most, needed: options.smallest_class() });
    }

    let n = data.len() as u64;
    let all_bins = methods
        .iter()
        .flatten()
        .map(|m| if let BinaryMethod::Umd(umd) = m { umd.bins as u64 } else { 0 })
        .sum();
    let mut tables = Vec::with_capacity(by_class.len());
    for (points, method) in by_class.iter_mut().zip(&methods) {
        let Some(method) = method else {
            tables.push(None);
            continue;
        };
        let model = method.fit(sort(points))?;
        let class_n = points.len() as u64;
        let epsilon = match (options, method) {
            _ if model.ties_merged => None,
            (TopLabelOptions::UmdPointsPerBin { points_per_bin, .. }, _) => {
                Some(gr22_theorem1(n, *points_per_bin as u64, alpha))
            }
            (_, BinaryMethod::Umd(umd)) => Some(gr21_theorem3(class_n / umd.bins as u64, all_bins, alpha)),
            _ => None,
        };
        tables.push(Some(FittedTable { model, n: class_n, epsilon }));
    }
    let theorem = match options {
        TopLabelOptions::UmdPointsPerBin { .. } => Theorem::Gr22Theorem1,
        _ => Theorem::Gr21Theorem3,
    };
    let epsilon = tables.iter().flatten().filter_map(|table| table.epsilon).reduce(f64::max);
    Ok(Fit {
        method,
        reduction: Reduction::TopLabel,
        classes: data.classes(),
        n,
        tables,
        guarantee: epsilon.map(|epsilon| Guarantee { theorem, alpha, epsilon }),
        parameters: format!("alpha={alpha} {}", options.parameters()),
    })
}

impl Fit {
    /// The number of bins over all tables.
    pub fn bins(&self) -> usize {
        self.tables.iter().flatten().map(|table| table.model.bins.len()).sum()
    }

    /// The classes that stay uncalibrated.
    pub fn uncalibrated_classes(&self) -> impl Iterator<Item = usize> {
        self.tables.iter().enumerate().filter(|(_, table)| table.is_none()).map(|(class, _)| class)
    }

    /// The tables in which equal scores straddled a boundary.
    pub fn tied_tables(&self) -> impl Iterator<Item = usize> {
        let tied = |table: &Option<FittedTable>| table.as_ref().is_some_and(|t| t.model.ties_merged);
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

/// Sorts points by score. The order among equal scores has no influence on any method.
fn sort(points: &mut [(f64, bool)]) -> &[(f64, bool)] {
    points.sort_unstable_by(|a, b| a.0.total_cmp(&b.0));
    points
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn umd(bins: usize) -> BinaryMethod {
        BinaryMethod::Umd(Umd { bins, boundary: Boundary::Ceil })
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
    fn ties_void_the_guarantee() {
        let scores: Vec<f64> = (0..100).map(|i| f64::from(i / 4) / 25.0).collect();
        let data = BinaryData::new(scores, (0..100).map(|i| i % 3 == 0).collect()).unwrap();
        let fit = fit_binary(&data, &umd(5), 0.1).unwrap();
        assert!(fit.guarantee.is_none() && fit.tied_tables().eq([0]));
    }

    #[test]
    fn bins_adapt_to_the_class_and_rare_classes_stay_uncalibrated() {
        // Class 0 predicted 100 times, class 1 30 times, class 2 9 times, class 3 never.
        let predicted: Vec<u16> = [vec![0; 100], vec![1; 30], vec![2; 9]].concat();
        let scores: Vec<f64> = (0..139).map(|i| 0.3 + f64::from(i) / 200.0).collect();
        let labels: Vec<i64> = predicted.iter().map(|&c| i64::from(c)).collect();
        let data = TopLabelData::new(predicted, scores, &labels, 4).unwrap();
        let options = TopLabelOptions::UmdPointsPerBin { points_per_bin: 10, boundary: Boundary::Ceil };
        let fit = fit_top_label(&data, &options, 0.1).unwrap();
        let bins: Vec<_> = fit.tables.iter().map(|t| t.as_ref().map(|t| t.model.bins.len())).collect();
        assert_eq!(bins, [Some(10), Some(3), None, None]);
        assert_eq!(fit.uncalibrated_classes().collect::<Vec<_>>(), [2, 3]);
        let guarantee = fit.guarantee.unwrap();
        assert_eq!(guarantee.epsilon, gr22_theorem1(139, 10, 0.1));

        let fixed = TopLabelOptions::UmdBins(Umd { bins: 5, boundary: Boundary::Ceil });
        let fit = fit_top_label(&data, &fixed, 0.1).unwrap();
        let epsilons: Vec<_> = fit.tables.iter().map(|t| t.as_ref().map(|t| t.epsilon.unwrap())).collect();
        assert_eq!(epsilons, [Some(gr21_theorem3(20, 10, 0.1)), Some(gr21_theorem3(6, 10, 0.1)), None, None]);
        assert_eq!(fit.guarantee.unwrap().epsilon, gr21_theorem3(6, 10, 0.1));

        let none = TopLabelOptions::Isotonic { min_points: 1000 };
        assert_eq!(fit_top_label(&data, &none, 0.1), Err(FitError::NoClass { most: 100, needed: 1000 }));
    }

    proptest! {
        #[test]
        fn the_order_of_rows_does_not_matter(
            rows in proptest::collection::vec((0u32..40, any::<bool>()), 30..80).prop_shuffle(), bins in 1usize..8,
        ) {
            let fit = |rows: &[(u32, bool)]| {
                let data = BinaryData::new(
                    rows.iter().map(|r| f64::from(r.0) / 40.0).collect(), rows.iter().map(|r| r.1).collect());
                [umd(bins), BinaryMethod::Isotonic(Isotonic)].map(|m| fit_binary(&data.clone().unwrap(), &m, 0.1))
            };
            let mut reordered = rows.clone();
            reordered.sort();
            prop_assert_eq!(fit(&rows), fit(&reordered));
            reordered.reverse();
            prop_assert_eq!(fit(&rows), fit(&reordered));
        }
    }
}
