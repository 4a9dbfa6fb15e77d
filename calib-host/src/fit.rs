//! Fitting: a binary method on its own, or under a reduction.

use calib_core::artifact::{Method, Reduction, Theorem};
use calib_core::{ScoreEncoding, StepTable};

use crate::assess::Interval;
use crate::clopper_pearson::clopper_pearson;
use crate::compact::in_compact_table;
use crate::data::{BinaryData, Form, TopLabelData, check_device_scores, check_lengths};
use crate::data_error::DataError;
pub use crate::fit_error::{FitError, UnfittedReason};
use crate::groups::{group, totals};
use crate::guarantee::{Guarantee, gr22_theorem1, gr22_theorem2};
use crate::histogram::Counted;
use crate::method::{BinaryMethod, Model};
use crate::passes::Arrays;
use crate::points::Points;
use crate::problems::Problems;

/// How a reduction's binary problems are solved.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ReductionOptions {
    /// The binary method. With `points_per_bin`, its number of bins does not matter.
    pub method: BinaryMethod,
    /// `k`, at least 2: a problem of `n_l` points gets `floor(n_l / k)` bins, so that every bin rests on about `k`
    /// points (Gupta and Ramdas 2022, Algorithms 8 and 9), and stays uncalibrated below `k`. Without it every problem
    /// gets the method's number of bins, and stays uncalibrated if its points are too few for them.
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
    /// The binary models, one per problem of the reduction, in the order of [`Reduction`]; `None` for one that stays
    /// uncalibrated.
    pub tables: Vec<Option<FittedTable>>,
    /// Why those stay uncalibrated.
    pub unfitted: Vec<Unfitted>,
    /// What is guaranteed, if anything; its epsilon is the largest of the tables'.
    pub guarantee: Option<Guarantee>,
    /// The parameters, as `name=value` separated by spaces.
    pub parameters: String,
    /// Whether it is meant for a table of 16-bit numbers: see [`Fit::compacted`].
    pub compact: bool,
    /// Whether the points had real weights. The counts of bins are then shares of the total weight, not numbers of
    /// points, and nothing is guaranteed.
    pub weighted: bool,
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

/// A binary problem that stays uncalibrated.
#[derive(Clone, Debug, PartialEq)]
pub struct Unfitted {
    /// The index of its table.
    pub table: usize,
    /// Why.
    pub reason: UnfittedReason,
}

impl ReductionOptions {
    /// The binary method for a problem of `n` points; `None` if they are too few.
    fn method_for(&self, n: usize) -> Option<BinaryMethod> {
        let method = match self.points_per_bin {
            Some(k) => self.method.with_bins((n / k).min(StepTable::MAX_BINS)),
            None => self.method,
        };
        (n >= self.points_per_bin.unwrap_or(1) && n >= method.min_points()).then_some(method)
    }

    /// The fewest points that a problem may have.
    fn fewest_points(&self) -> usize {
        self.points_per_bin.unwrap_or_else(|| self.method.min_points())
    }

    fn parameters(&self) -> String {
        let own = self.method.parameters();
        match self.points_per_bin {
            // The number of bins is each problem's own.
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
        unfitted: Vec::new(),
        guarantee: method.theorem().zip(epsilon).map(|(theorem, epsilon)| Guarantee {
            theorem,
            alpha,
            epsilon,
        }),
        parameters: format!("alpha={alpha} {}", method.parameters()).trim_end().into(),
        compact: false,
        weighted: false,
    })
}

/// Fits a binary calibrator per predicted class to whether the prediction was right: [`fit_reduction`] for
/// [`Reduction::TopLabel`] (Gupta and Ramdas 2022, Algorithms 2 and 8).
///
/// # Errors
///
/// As [`fit_reduction`].
pub fn fit_top_label(data: &TopLabelData, options: &ReductionOptions, alpha: f64) -> Result<Fit, FitError> {
    fit_reduction(&data.into(), options, alpha)
}

/// Fits a binary calibrator to each binary problem of a reduction (Gupta and Ramdas 2022, Algorithm 5); `alpha` in
/// `(0, 1)` is the failure probability of the guarantee over all of them.
///
/// A problem with too few points, without points of either label where a class is set against the rest, or whose scaling
/// function has no finite optimum stays uncalibrated. The result does not depend on the order of the rows.
///
/// # Errors
///
/// No problem that can be fitted, or a parameter out of range.
pub fn fit_reduction(problems: &Problems, options: &ReductionOptions, alpha: f64) -> Result<Fit, FitError> {
    check_alpha(alpha)?;
    options.check()?;
    let methods: Vec<_> =
        (0..problems.tables()).map(|table| options.method_for(problems.table_len(table))).collect();
    // Decided by the scores alone, so that the labels do not choose which bins the union bound is over.
    let all_bins = methods.iter().flatten().filter_map(BinaryMethod::bins).sum::<usize>() as u64;
    let promise = Promise::of(problems, options, alpha);
    let (mut tables, mut unfitted) = (Vec::with_capacity(methods.len()), Vec::new());
    for (table, method) in methods.iter().enumerate() {
        match fit_table(problems, table, method.as_ref(), options)? {
            Ok((method, model)) => {
                let n = problems.table_len(table) as u64;
                let epsilon = promise.and_then(|promise| {
                    let own = method.epsilon(&model, n, all_bins, alpha)?;
                    Some(promise.uniform.unwrap_or(own))
                });
                tables.push(Some(FittedTable::new(model, n, epsilon, all_bins, alpha)));
            }
            Err(reason) => {
                tables.push(None);
                unfitted.push(Unfitted { table, reason });
            }
        }
    }
    if tables.iter().all(Option::is_none) {
        return Err(nothing_fitted(problems, options, unfitted));
    }
    let epsilon = tables.iter().flatten().filter_map(|table| table.epsilon).reduce(f64::max);
    Ok(Fit {
        method: options.method.method(),
        reduction: problems.reduction(),
        classes: problems.classes(),
        n: problems.len() as u64,
        tables,
        unfitted,
        guarantee: promise.zip(epsilon).map(|(promise, epsilon)| Guarantee {
            theorem: promise.theorem,
            alpha,
            epsilon,
        }),
        parameters: format!("alpha={alpha} {}", options.parameters()).trim_end().into(),
        compact: false,
        weighted: false,
    })
}

/// What may be guaranteed for the tables of a reduction.
#[derive(Clone, Copy)]
struct Promise {
    theorem: Theorem,
    /// The epsilon of every table that the theorem holds for; without it each table has its own.
    uniform: Option<f64>,
}

impl Promise {
    /// Theorems 1 and 2 of 2022 are stated for UMD by points per bin; otherwise the binary theorem holds for each table,
    /// with a union bound over the bins of all (appendix H there). Normalising voids whatever holds.
    fn of(problems: &Problems, options: &ReductionOptions, alpha: f64) -> Option<Self> {
        let theorem = options.method.theorem()?;
        let (n, classes) = (problems.len() as u64, problems.classes() as u64);
        let k = options.points_per_bin.filter(|_| theorem == Theorem::Gr21Theorem3).map(|k| k as u64);
        Some(match (problems.reduction(), k) {
            (Reduction::Normalized, _) => return None,
            (Reduction::TopLabel, Some(k)) => {
                Self { theorem: Theorem::Gr22Theorem1, uniform: Some(gr22_theorem1(n, k, alpha)) }
            }
            (Reduction::ClassWise, Some(k)) => {
                Self { theorem: Theorem::Gr22Theorem2, uniform: Some(gr22_theorem2(n, k, classes, alpha)) }
            }
            _ => Self { theorem, uniform: None },
        })
    }
}

/// Fits one problem, with the method that its number of points allows.
fn fit_table<'m>(
    problems: &Problems,
    table: usize,
    method: Option<&'m BinaryMethod>,
    options: &ReductionOptions,
) -> Result<Result<(&'m BinaryMethod, Model), UnfittedReason>, FitError> {
    let Some(method) = method else {
        let (n, needed) = (problems.table_len(table), options.fewest_points());
        return Ok(Err(UnfittedReason::TooFewPoints { n, needed }));
    };
    let groups = problems.groups(table);
    let (n, positives) = totals(&groups);
    // One class against the rest is a problem with two labels; a prediction may well always be right.
    let against_the_rest = matches!(problems.reduction(), Reduction::ClassWise | Reduction::Normalized);
    if against_the_rest && (positives == 0 || positives == n) {
        return Ok(Err(UnfittedReason::OneLabel(positives == n)));
    }
    match method.fit(&groups[..]) {
        Ok(model) => Ok(Ok((method, model))),
        Err(FitError::Scaling(cause)) => Ok(Err(UnfittedReason::Scaling(cause))),
        Err(other) => Err(other),
    }
}

/// Why no problem could be fitted.
fn nothing_fitted(problems: &Problems, options: &ReductionOptions, unfitted: Vec<Unfitted>) -> FitError {
    let n = problems.len() as u64;
    for Unfitted { table, reason } in unfitted {
        match reason {
            UnfittedReason::Scaling(cause) => return FitError::Scaling(cause),
            UnfittedReason::OneLabel(true) => return FitError::OneOfSeveral { class: table, n },
            _ => {}
        }
    }
    let needed = options.fewest_points();
    match problems.reduction() {
        Reduction::TopLabel | Reduction::TopKLabel { .. } => {
            let most = (0..problems.tables()).map(|table| problems.table_len(table)).max().unwrap_or(0);
            FitError::NoClass { most: most as u64, needed }
        }
        _ => FitError::FewerThanABin { n, needed },
    }
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
    /// What kind of number the tables take.
    pub fn encoding(&self) -> ScoreEncoding {
        let of_table = self.tables.iter().flatten().next().map_or(ScoreEncoding::F32, |t| t.model.encoding());
        if self.compact { in_compact_table(of_table) } else { of_table }
    }

    /// The number of bins over all tables.
    pub fn bins(&self) -> usize {
        self.tables.iter().flatten().map(|table| table.model.len()).sum()
    }

    /// What a table is for: `class 3`, `rank 1` or `rank 1, class 3`, ranks from 1 on.
    pub fn table_name(&self, table: usize) -> String {
        table_name(self.reduction, self.classes, table)
    }

    /// The tables in which equal scores straddled a boundary.
    pub fn tied_tables(&self) -> impl Iterator<Item = usize> {
        let tied = |table: &Option<FittedTable>| table.as_ref().is_some_and(|t| t.model.ties_merged());
        self.tables.iter().enumerate().filter(move |(_, table)| tied(table)).map(|(index, _)| index)
    }
}

/// What a table of a reduction is for: `class 3`, `rank 1` or `rank 1, class 3`, ranks from 1 on; `the table` if there is
/// one only.
pub fn table_name(reduction: Reduction, classes: usize, table: usize) -> String {
    match reduction {
        Reduction::TopLabel | Reduction::ClassWise | Reduction::Normalized => format!("class {table}"),
        Reduction::TopKLabel { .. } => format!("rank {}, class {}", table / classes + 1, table % classes),
        Reduction::TopKConfidence { .. } => format!("rank {}", table + 1),
        _ => "the table".into(),
    }
}

fn check_alpha(alpha: f64) -> Result<(), FitError> {
    // An artefact holds it as an f32.
    let single = alpha as f32;
    if single > 0.0 && single < 1.0 { Ok(()) } else { Err(FitError::Alpha(alpha)) }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::guarantee::gr21_theorem3;
    use crate::isotonic::Isotonic;
    use crate::least_squares::Loss;
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
        let options = ReductionOptions { method: umd(1), points_per_bin: Some(10) };
        let fit = fit_top_label(&data, &options, 0.1).unwrap();
        let bins: Vec<_> = fit.tables.iter().map(|t| t.as_ref().map(|t| t.model.len())).collect();
        assert_eq!(bins, [Some(10), Some(3), None, None]);
        let unfitted = |table, n| Unfitted { table, reason: UnfittedReason::TooFewPoints { n, needed: 10 } };
        assert_eq!(fit.unfitted, [unfitted(2, 9), unfitted(3, 0)]);
        assert_eq!(fit.guarantee.unwrap().epsilon, gr22_theorem1(139, 10, 0.1));
        assert_eq!(fit.parameters, "alpha=0.1 points-per-bin=10 boundary=ceil");

        let fixed = ReductionOptions { method: umd(5), points_per_bin: None };
        let fit = fit_top_label(&data, &fixed, 0.1).unwrap();
        let epsilons: Vec<_> = fit.tables.iter().map(|t| t.as_ref().map(|t| t.epsilon.unwrap())).collect();
        assert_eq!(epsilons, [Some(gr21_theorem3(20, 10, 0.1)), Some(gr21_theorem3(6, 10, 0.1)), None, None]);
        assert_eq!(fit.guarantee.unwrap().epsilon, gr21_theorem3(6, 10, 0.1));

        let isotonic = BinaryMethod::Isotonic(Isotonic::default());
        let none = ReductionOptions { method: isotonic, points_per_bin: Some(1000) };
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
            let (scaling, loss) = (ScalingMethod::PlattLogit, Loss::Squared);
            let methods = [
                umd(bins),
                BinaryMethod::Umd(original),
                BinaryMethod::UmdRandomized(Umd::new(bins), seed),
                BinaryMethod::Ums(Ums { bins, seed }),
                BinaryMethod::FixedWidth(FixedWidth { bins }),
                BinaryMethod::Isotonic(Isotonic::default()),
                BinaryMethod::Isotonic(Isotonic { max_bins: Some(bins), smoothing: 0.5 }),
                BinaryMethod::IsotonicInterpolated(Isotonic::default()),
                BinaryMethod::ScalingBinning(ScalingBinning { scaling, loss, bins, split_seed: Some(seed) }),
                BinaryMethod::Scaling(scaling),
                BinaryMethod::Scaling(ScalingMethod::PlattProb),
                BinaryMethod::Scaling(ScalingMethod::Beta),
                BinaryMethod::Scaling(ScalingMethod::Temperature),
                BinaryMethod::LeastSquares(ScalingMethod::Beta),
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
