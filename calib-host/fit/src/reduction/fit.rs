//! Fitting a binary method to each problem of a reduction.

use calib_core::artifact::{Reduction, Theorem};

use super::options::ReductionOptions;
use super::problems::Problems;
use crate::binary::{BinaryMethod, Blend, Model, Shared};
use crate::error::{FitError, UnfittedReason};
use crate::fit::{Fit, FittedTable, Unfitted, check_alpha, stated_alpha};
use crate::guarantee::{Guarantee, gr22_theorem1, gr22_theorem2};
use crate::parallel;
use crate::points::{Points, group};

/// Fits a binary calibrator to each binary problem of a reduction (Gupta and Ramdas 2022, Algorithm 5). The
/// failure probability of the guarantee over all of them is at most `alpha`, in `(0, 1)`.
///
/// A problem with too few points, without points of either label where a class is set against the rest, or whose scaling
/// function has no finite optimum stays uncalibrated. With a [`Blend`] of predicted classes, one with too few points gets the blend of all
/// points together, unless it has none or all are too few. The result does not depend on the order of the rows.
///
/// ```
/// use calib_core::artifact::Reduction;
/// use calib_fit::{BinaryMethod, Problems, ReductionOptions, Umd, VectorKind, Vectors, fit_reduction};
///
/// let rows = (0..90u8).map(|row| [f32::from(row) / 90.0, f32::from(row % 7) / 7.0, 0.5]);
/// let logits = Vectors::new(rows.flatten().collect(), 3, VectorKind::Logits)?;
/// let labels: Vec<i64> = (0..90).map(|row| row % 3).collect();
///
/// let problems = Problems::new(&logits, &labels, Reduction::ClassWise)?;
/// let options = ReductionOptions::new(BinaryMethod::Umd(Umd::new(3)));
/// let fit = fit_reduction(&problems, &options, 0.1)?;
/// assert_eq!((fit.tables().len(), fit.table_name(2)), (3, "class 2".to_owned()));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// ```
/// use calib_fit::{BinaryMethod, Problems, ReductionOptions, Umd, fit_reduction};
///
/// // Class 0 is predicted 60 times and right with every second score, class 1 only 5 times.
/// let predicted: Vec<u16> = (0..65).map(|row| u16::from(row >= 60)).collect();
/// let scores: Vec<f64> = (0..65).map(|row| 0.5 + f64::from(row) / 200.0).collect();
/// let labels: Vec<i64> = (0..65).map(|row| if row < 60 { row % 2 } else { 1 }).collect();
/// let problems = Problems::of_predictions(&predicted, &scores, &labels, 2)?;
///
/// let options = ReductionOptions::new(BinaryMethod::Umd(Umd::new(1))).rows_per_bin(Some(20));
/// let fit = fit_reduction(&problems, &options, 0.1)?;
/// assert_eq!(fit.bins(), 3);
/// assert_eq!(fit.unfitted()[0].reason.to_string(), "5 of 20 observations");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
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
    let all_bins = methods.iter().flatten().filter_map(|method| method.facts().bins).sum::<usize>() as u64;
    let stated = stated_alpha(alpha);
    let terms = Terms::of(problems, options, stated);
    let shared = shared(problems, &methods)?;
    let together = together(problems, &methods, options)?;
    let fit_table = |(table, method): (usize, &Option<BinaryMethod>)| {
        if let Some(model) = together.as_ref().filter(|_| method.is_none() && problems.table_len(table) > 0) {
            return Ok(Ok(FittedTable::bare(model.clone(), problems.table_len(table) as u64)));
        }
        let fitted = fit_table(problems, table, method.as_ref(), (options, &shared))?;
        Ok(fitted.map(|(method, model)| {
            let n = problems.table_len(table) as u64;
            let Some(terms) = terms else { return FittedTable::bare(model, n) };
            let facts = method.facts();
            let own = model.papers_epsilon(&facts, n, all_bins, stated);
            let papers_epsilon = own.map(|own| terms.uniform.unwrap_or(own));
            FittedTable::new(model, n, &facts, papers_epsilon, (all_bins, stated))
        }))
    };
    let fitted: Vec<Result<_, FitError>> = parallel::map(methods.iter().enumerate(), fit_table);
    let (mut tables, mut unfitted) = (Vec::with_capacity(methods.len()), Vec::new());
    for (table, fitted) in fitted.into_iter().enumerate() {
        match fitted? {
            Ok(fitted) => tables.push(Some(fitted)),
            Err(reason) => {
                tables.push(None);
                unfitted.push(Unfitted { table, reason });
            }
        }
    }
    if tables.iter().all(Option::is_none) {
        return Err(nothing_fitted(problems, options, unfitted));
    }
    let is_exact = options.method.facts().has_exact_intervals();
    let epsilon = tables.iter().flatten().filter_map(|table| table.epsilon).reduce(f64::max);
    let parameters = parameters(options, alpha, &tables);
    Ok(Fit {
        method: options.method.method(),
        reduction: problems.reduction(),
        classes: problems.classes(),
        n: problems.len() as u64,
        positives: None,
        tables,
        unfitted,
        guarantee: terms.zip(epsilon).map(|(terms, epsilon)| Guarantee {
            theorem: if is_exact { Theorem::ClopperPearson } else { terms.theorem },
            alpha,
            epsilon,
        }),
        papers: terms.map(|terms| terms.theorem),
        parameters,
        scores: problems.scores(),
        compact: false,
        weighted: false,
        groups: problems.names().to_vec(),
    })
}

fn parameters(options: &ReductionOptions, alpha: f64, tables: &[Option<FittedTable>]) -> String {
    let together = tables.iter().flatten().filter(|table| table.is_of_all_tables()).count();
    let together = if together == 0 { String::new() } else { format!(" of-all-classes={together}") };
    format!("alpha={alpha} {}{together}", options.parameters()).trim_end().into()
}

/// What may be guaranteed for the tables of a reduction.
#[derive(Clone, Copy)]
struct Terms {
    theorem: Theorem,
    /// The epsilon of every table that the theorem holds for; without it each table has its own.
    uniform: Option<f64>,
}

impl Terms {
    /// Theorems 1 and 2 of 2022 are stated for UMD by points per bin. Otherwise the binary theorem holds for each table,
    /// with a union bound over the bins of all (appendix H there). Normalizing voids whatever holds.
    fn of(problems: &Problems, options: &ReductionOptions, alpha: f64) -> Option<Self> {
        let theorem = options.method.facts().guarantee?.0;
        let (n, classes) = (problems.len() as u64, problems.classes() as u64);
        let k = options.rows_per_bin.filter(|_| theorem == Theorem::Gr21Theorem3).map(|k| k as u64);
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

/// What the blends of several tables share: of predicted classes and of groups, whose scores mean alike.
fn shared(problems: &Problems, methods: &[Option<BinaryMethod>]) -> Result<Vec<Shared>, FitError> {
    let are_alike = matches!(problems.reduction(), Reduction::TopLabel | Reduction::Binary);
    let folds = |(table, method): (usize, &Option<BinaryMethod>)| match method {
        Some(BinaryMethod::Blend(blend)) if are_alike => Some(match problems.table(table).counted() {
            Some(points) => blend.folds(&points),
            None => blend.folds(&problems.table(table).groups()[..]),
        }),
        _ => None,
    };
    let tables = parallel::map(methods.iter().enumerate(), folds)
        .into_iter()
        .flatten()
        .collect::<Result<Vec<_>, _>>()?;
    if tables.len() < 2 { Ok(Vec::new()) } else { Blend::shared(&tables, problems.scores()) }
}

/// The table of classes that have too few points for a separate one: the blend of the points of all classes. Scores of predicted classes mean
/// alike: on held-out rows this is nearer to the truth than uncalibrated scores.
fn together(
    problems: &Problems,
    methods: &[Option<BinaryMethod>],
    options: &ReductionOptions,
) -> Result<Option<Model>, FitError> {
    let (BinaryMethod::Blend(blend), Reduction::TopLabel) = (options.method, problems.reduction()) else {
        return Ok(None);
    };
    let is_short = |(table, method): (usize, &Option<_>)| method.is_none() && problems.table_len(table) > 0;
    if problems.len() < options.fewest_points() || !methods.iter().enumerate().any(is_short) {
        return Ok(None);
    }
    let points = (0..problems.tables()).flat_map(|table| problems.groups(table));
    let points = group(points.map(|group| (group.score, group.n, group.positives)).collect());
    blend.fit_all_together(&points[..], problems.scores()).map(Some)
}

/// Fits one problem, with the method that its number of points allows.
fn fit_table<'m>(
    problems: &Problems,
    table: usize,
    method: Option<&'m BinaryMethod>,
    (options, shared): (&ReductionOptions, &[Shared]),
) -> Result<Result<(&'m BinaryMethod, Model), UnfittedReason>, FitError> {
    let Some(method) = method else {
        let (n, needed) = (problems.table_len(table), options.fewest_points());
        return Ok(Err(UnfittedReason::TooFewPoints { n, needed }));
    };
    match problems.table(table).counted() {
        Some(points) => fit_points(&points, problems, (method, shared)),
        None => fit_points(&problems.table(table).groups()[..], problems, (method, shared)),
    }
}

fn fit_points<'m>(
    points: &(impl Points + ?Sized),
    problems: &Problems,
    (method, shared): (&'m BinaryMethod, &[Shared]),
) -> Result<Result<(&'m BinaryMethod, Model), UnfittedReason>, FitError> {
    let (n, positives) = points.totals();
    // One class against the rest is a problem with two labels; a prediction may well always be right.
    let against_the_rest = matches!(problems.reduction(), Reduction::ClassWise | Reduction::Normalized);
    if against_the_rest && (positives == 0 || positives == n) {
        return Ok(Err(UnfittedReason::OneLabel(positives == n)));
    }
    let fitted = match method {
        BinaryMethod::Blend(blend) if problems.tables() > 1 => {
            blend.fit_one_of_several(points, problems.scores(), shared)
        }
        _ => method.fit(points, problems.scores()),
    };
    match fitted {
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

#[cfg(test)]
mod tests {
    use rand::{RngExt, SeedableRng};
    use rand_xoshiro::Xoshiro256PlusPlus;

    use super::*;
    use crate::binary::{BlendWeight, Isotonic, Umd};
    use crate::guarantee::{GuaranteeBound, exact_epsilon, gr21_theorem3};

    fn umd(bins: usize) -> BinaryMethod {
        BinaryMethod::Umd(Umd::new(bins))
    }

    #[test]
    fn bins_adapt_to_the_class_and_rare_classes_stay_uncalibrated() {
        // Class 0 predicted 100 times, class 1 30 times, class 2 9 times, class 3 never.
        let predicted: Vec<u16> = [vec![0; 100], vec![1; 30], vec![2; 9]].concat();
        let scores: Vec<f64> = (0..139).map(|i| 0.3 + f64::from(i) / 200.0).collect();
        let labels: Vec<i64> = predicted.iter().map(|&c| i64::from(c)).collect();
        let data = Problems::of_predictions(&predicted, &scores, &labels, 4).unwrap();
        let options = ReductionOptions { method: umd(1), rows_per_bin: Some(10) };
        let fit = fit_reduction(&data, &options, 0.1).unwrap();
        let bins: Vec<_> = fit.tables.iter().map(|t| t.as_ref().map(|t| t.model.len())).collect();
        assert_eq!(bins, [Some(10), Some(3), None, None]);
        let unfitted = |table, n| Unfitted { table, reason: UnfittedReason::TooFewPoints { n, needed: 10 } };
        assert_eq!(fit.unfitted, [unfitted(2, 9), unfitted(3, 0)]);
        // Thirteen bins: the plan is for the 13 that 139 points may have.
        let exact = fit.guarantee.unwrap();
        assert!(exact.theorem == Theorem::ClopperPearson && exact.epsilon <= exact_epsilon(10, 13, 0.1));
        let papers = fit.clone().bounded_by(GuaranteeBound::Hoeffding).guarantee.unwrap();
        assert_eq!(papers.epsilon, gr22_theorem1(139, 10, 0.1));
        assert_eq!(fit.parameters, "alpha=0.1 points-per-bin=10 boundary=ceil");

        let fixed = ReductionOptions { method: umd(5), rows_per_bin: None };
        let fit = fit_reduction(&data, &fixed, 0.1).unwrap();
        for (table, rows_per_bin) in fit.tables.iter().flatten().zip([20, 6]) {
            assert!(table.epsilon.unwrap() <= exact_epsilon(rows_per_bin, 10, 0.1));
        }
        let fit = fit.bounded_by(GuaranteeBound::Hoeffding);
        let epsilons: Vec<_> = fit.tables.iter().map(|t| t.as_ref().map(|t| t.epsilon.unwrap())).collect();
        assert_eq!(epsilons, [Some(gr21_theorem3(20, 10, 0.1)), Some(gr21_theorem3(6, 10, 0.1)), None, None]);
        assert_eq!(fit.guarantee.unwrap().epsilon, gr21_theorem3(6, 10, 0.1));

        let isotonic = BinaryMethod::Isotonic(Isotonic::default());
        let none = ReductionOptions { method: isotonic, rows_per_bin: Some(1000) };
        assert_eq!(fit_reduction(&data, &none, 0.1), Err(FitError::NoClass { most: 100, needed: 1000 }));
    }

    /// Classes of 60 predictions each: where all are off alike, what they share counts most and a table is nearer to the truth than by
    /// its own rows alone. A class that is off in another way keeps its own.
    #[test]
    fn blends_share_what_classes_have_in_common() {
        let truth = |class: u16, score: f64| if class == 9 { 1.0 - score } else { score * score };
        let rows = 600;
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(7);
        let predicted: Vec<u16> = (0..rows).map(|row| row / 60).collect();
        let scores: Vec<f64> = (0..rows).map(|_| f64::from(rng.random::<f32>())).collect();
        let drawn =
            predicted.iter().zip(&scores).map(|(&class, &score)| rng.random_bool(truth(class, score)));
        let right: Vec<bool> = drawn.collect();
        let labels =
            predicted.iter().zip(&right).map(|(&class, &right)| if right { class.into() } else { 10 });
        let labels: Vec<i64> = labels.collect();
        let data = Problems::of_predictions(&predicted, &scores, &labels, 11).unwrap();
        let options = ReductionOptions { method: BinaryMethod::Blend(Blend::new(0)), rows_per_bin: Some(50) };
        let fit = fit_reduction(&data, &options, 0.1).unwrap();
        let of = |class: usize| match fit.tables[class].as_ref().unwrap().model() {
            Model::Tabulated(table) => table.clone(),
            other => panic!("{other:?}"),
        };
        let shared = |class: usize| {
            let is_shared = |part: &&BlendWeight| part.name.ends_with(" of all");
            of(class).weights.iter().filter(is_shared).map(|part| part.weight).sum::<f64>()
        };
        let error = |class: u16, prob: &dyn Fn(f64) -> f64| {
            (1..100)
                .map(|s| (prob(f64::from(s) / 100.0) - truth(class, f64::from(s) / 100.0)).powi(2))
                .sum::<f64>()
        };
        let (mut together, mut alone, mut weight) = (0.0, 0.0, 0.0);
        for class in 0..9u16 {
            weight += shared(class.into()) / 9.0;
            together += error(class, &|score| of(class.into()).prob(score));
            let own = (0..predicted.len()).filter(|&row| predicted[row] == class);
            let points = own.map(|row| (scores[row], 1, right[row].into())).collect();
            let Ok(Model::Tabulated(own)) = BinaryMethod::Blend(Blend::new(0))
                .fit(&crate::points::group(points)[..], crate::stats::ScoreKind::Probability)
            else {
                panic!()
            };
            alone += error(class, &|score| own.prob(score));
        }
        assert!(weight > 0.2 && together < 0.8 * alone, "{weight} {together} {alone}");
        assert!(shared(9) < 0.05, "{:?}", of(9).weights);
    }

    /// A class with few predictions gets the table of all classes, which is nearer to the truth than its scores. One that is never predicted
    /// stays uncalibrated, and so does everything if all rows together are too few.
    #[test]
    fn classes_of_few_predictions_have_the_table_of_all() {
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(3);
        let mut fitted = |predicted: &[u16]| {
            let scores: Vec<f64> = predicted.iter().map(|_| f64::from(rng.random::<f32>())).collect();
            let drawn = predicted.iter().zip(&scores);
            let labels: Vec<i64> = drawn
                .map(|(&class, score)| if rng.random_bool(score * score) { class.into() } else { 3 })
                .collect();
            let data = Problems::of_predictions(predicted, &scores, &labels, 4).unwrap();
            let method = BinaryMethod::Blend(Blend::new(0));
            fit_reduction(&data, &ReductionOptions { method, rows_per_bin: Some(50) }, 0.1)
        };
        let error = |prob: &dyn Fn(f64) -> f64| {
            let scores = (1..100).map(|s| f64::from(s) / 100.0);
            scores.map(|s| (prob(s) - s * s).powi(2)).sum::<f64>()
        };
        let of_few = |fit: &Fit, class: usize| {
            let table = fit.tables[class].as_ref().unwrap();
            assert!(table.is_of_all_tables() && table.epsilon().is_none());
            let Model::Tabulated(steps) = table.model() else { panic!("{table:?}") };
            let steps = steps.clone();
            (table.n(), error(&|score| steps.prob(score)))
        };
        let fit = fitted(&[vec![0; 400], vec![1; 20], vec![2; 1]].concat()).unwrap();
        for (class, rows) in [(1, 20), (2, 1)] {
            let (n, far) = of_few(&fit, class);
            assert!(n == rows && far < 0.2 * error(&|score| score), "{class}: {n} {far}");
        }
        assert!(!fit.tables[0].as_ref().unwrap().is_of_all_tables() && fit.tables[3].is_none());
        assert_eq!(fit.unfitted.iter().map(|one| one.table).collect::<Vec<_>>(), [3]);
        assert!(fit.parameters.ends_with(" of-all-classes=2"), "{}", fit.parameters);
        let fit = fitted(&[vec![0; 40], vec![1; 30]].concat()).unwrap();
        assert_eq!((of_few(&fit, 0).0, of_few(&fit, 1).0), (40, 30));
        assert_eq!(
            fitted(&[vec![0; 20], vec![1; 20]].concat()),
            Err(FitError::NoClass { most: 20, needed: 50 })
        );
    }
}
