//! Fitting a binary method.

use calib_core::artifact::{Reduction, Theorem};

use super::fitted::{Fit, FittedTable, stated_alpha};
use crate::binary::BinaryMethod;
use crate::data::{BinaryData, DataError, check_device_scores, check_lengths, with_points};
use crate::error::FitError;
use crate::guarantee::Guarantee;
use crate::points::{Arrays, Counted, Points};
use crate::stats::ScoreKind;

/// Fits a binary calibrator; `alpha` in `(0, 1)` is the failure probability of its guarantee.
///
/// The result does not depend on the order of the rows.
///
/// ```
/// use calib_fit::{BinaryData, BinaryMethod, Umd, fit_binary};
///
/// let scores: Vec<f64> = (0..400).map(|i| f64::from(i) / 400.0).collect();
/// let labels: Vec<bool> = (0..400).map(|i| i % 40 < i / 20).collect();
/// let fit = fit_binary(&BinaryData::new(scores, labels)?, &BinaryMethod::Umd(Umd::new(4)), 0.1)?;
///
/// // The farthest end of the exact intervals of 4 bins of 100 points.
/// assert_eq!(fit.tables()[0].as_ref().unwrap().model().bins().len(), 4);
/// assert!(fit.guarantee().unwrap().epsilon <= calib_fit::guarantee::exact_epsilon(100, 4, 0.1));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
///
/// One class only, too few points, a parameter out of range, or a method of another kind of score. Binning with a guarantee (`umd` and its like, `ums`,
/// `fixed-width`) takes one class: all its values are then 0 or 1, and the exact intervals bound the truth on one side.
pub fn fit_binary(data: &BinaryData, method: &BinaryMethod, alpha: f64) -> Result<Fit, FitError> {
    check_alpha(alpha)?;
    with_points!(data, |points| fit_points(points, data.kind(), method, alpha))
}

/// [`fit_binary`] for scores as the device sees them and labels that are in memory anyway: they are not copied.
///
/// ```
/// use calib_fit::fit::fit_device_scores;
/// use calib_fit::{BinaryMethod, Umd};
///
/// let scores: Vec<f32> = (0..400).map(|i| i as f32 / 400.0).collect();
/// let labels: Vec<bool> = (0..400).map(|i| i % 40 < i / 20).collect();
/// let fit = fit_device_scores(&scores, &labels, &BinaryMethod::Umd(Umd::new(4)), 0.1)??;
/// assert_eq!(fit.n(), 400);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
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
        fit_points(&Counted::new(&Arrays { scores, labels })?, ScoreKind::Probability, method, alpha)
    };
    Ok(fit())
}

fn fit_points(
    points: &(impl Points + ?Sized),
    kind: ScoreKind,
    method: &BinaryMethod,
    alpha: f64,
) -> Result<Fit, FitError> {
    let facts = method.facts();
    let (n, positives) = points.totals();
    if (positives == 0 || positives == n) && !facts.takes_one_label {
        return Err(FitError::OneClass { label: (positives > 0).into(), n });
    }
    let model = method.fit(points, kind)?;
    let found = model.parameters();
    let bins = facts.bins.unwrap_or(0) as u64;
    let stated = stated_alpha(alpha);
    let papers_epsilon = model.papers_epsilon(&facts, n, bins, stated);
    let table = FittedTable::new(model, n, &facts, papers_epsilon, (bins, stated));
    let papers = facts.guarantee.map(|(theorem, _)| theorem);
    let theorem = if facts.has_exact_intervals() { Some(Theorem::ClopperPearson) } else { papers };
    Ok(Fit {
        method: facts.method,
        reduction: Reduction::Binary,
        classes: 2,
        n,
        positives: Some(positives),
        guarantee: theorem.zip(table.epsilon).map(|(theorem, epsilon)| Guarantee { theorem, alpha, epsilon }),
        papers,
        tables: vec![Some(table)],
        unfitted: Vec::new(),
        parameters: format!("alpha={alpha} {} {found}", facts.parameters).trim_end().into(),
        scores: kind,
        compact: false,
        weighted: false,
        groups: Vec::new(),
    })
}

pub(crate) fn check_alpha(alpha: f64) -> Result<(), FitError> {
    // An artifact holds it as an f32.
    let single = alpha as f32;
    if single > 0.0 && single < 1.0 { Ok(()) } else { Err(FitError::Alpha(alpha)) }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::binary::{
        Blend, BoundaryPoints, FixedWidth, Isotonic, Loss, ScalingBinning, ScalingMethod, Umd, Ums,
    };
    use crate::data::BinaryCollector;
    use crate::guarantee::{GuaranteeBound, gr21_theorem3};
    use crate::stats::clopper_pearson;

    fn umd(bins: usize) -> BinaryMethod {
        BinaryMethod::Umd(Umd::new(bins))
    }

    #[test]
    fn refuses_one_class_and_a_bad_alpha() {
        let data = BinaryData::new(vec![0.1, 0.2, 0.3, 0.4], vec![true; 4]).unwrap();
        let isotonic = BinaryMethod::Isotonic(Isotonic::default());
        assert_eq!(fit_binary(&data, &isotonic, 0.1), Err(FitError::OneClass { label: 1, n: 4 }));
        for alpha in [0.0, 1.0, -0.1, f64::NAN, 1e-60, 1.0 - 1e-12] {
            assert!(matches!(fit_binary(&data, &umd(2), alpha), Err(FitError::Alpha(_))));
        }
    }

    /// Where no point is positive, every bin has an upper bound, and with it the bins' intervals hold in the share of all
    /// draws that they state.
    #[test]
    fn one_label_gives_bounds_on_one_side() {
        let data = |label| BinaryData::new((0..50).map(|i| f64::from(i) / 50.0).collect(), vec![label; 50]);
        for method in [
            umd(2),
            BinaryMethod::UmdRandomized(Umd::new(2), 1),
            BinaryMethod::Ums(Ums { bins: 2, seed: 0 }),
            BinaryMethod::FixedWidth(FixedWidth { bins: 2 }),
        ] {
            for label in [false, true] {
                let fit = fit_binary(&data(label).unwrap(), &method, 0.1).unwrap();
                assert!(fit.guarantee.is_some() && fit.one_label() == Some(label), "{method:?}");
                let table = fit.tables[0].as_ref().unwrap();
                assert_eq!((table.intervals.len(), table.bins_with_few_events()), (2, vec![0, 1]));
                for (bin, interval) in table.model.bins().iter().zip(&table.intervals) {
                    // (1 - hi)^n = alpha / (2 B)
                    let room = 1.0 - 0.025f64.powf(1.0 / bin.n as f64);
                    let expected = if label { (1.0 - room, 1.0) } else { (0.0, room) };
                    assert!(bin.value == f64::from(u8::from(label)) && interval.hi - interval.lo < 0.5);
                    assert!(
                        (interval.lo - expected.0).abs() < 1e-6 && (interval.hi - expected.1).abs() < 1e-6
                    );
                }
            }
        }
        let mixed = (0..50).map(|i| i % 3 == 0).collect();
        let mixed = BinaryData::new((0..50).map(|i| f64::from(i) / 50.0).collect(), mixed).unwrap();
        let fit = fit_binary(&mixed, &umd(2), 0.1).unwrap();
        assert_eq!(fit.one_label(), None);
        assert!(fit.tables[0].as_ref().unwrap().bins_with_few_events().is_empty());
    }

    /// 0.01 as an f32 is 2e-10 below 0.01.
    #[test]
    fn bounds_are_for_the_alpha_that_the_artifact_states() {
        let scores: Vec<f64> = (0..400).map(|i| f64::from(i) / 400.0).collect();
        let data = BinaryData::new(scores, (0..400).map(|i| i % 3 == 0).collect()).unwrap();
        for alpha in [0.01, 0.1, 0.05] {
            let fit = fit_binary(&data, &umd(5), alpha).unwrap();
            let (guarantee, single) = (fit.guarantee.unwrap(), f64::from(alpha as f32));
            assert_eq!(guarantee.alpha, alpha);
            let papers = fit.clone().bounded_by(GuaranteeBound::Hoeffding).guarantee.unwrap();
            assert!(papers.epsilon >= gr21_theorem3(80, 5, single), "{alpha}");
            assert!(papers.epsilon >= gr21_theorem3(80, 5, alpha), "{alpha}");
            assert!(guarantee.epsilon < papers.epsilon && papers.alpha == alpha, "{alpha}");
            let table = fit.tables[0].as_ref().unwrap();
            for (bin, interval) in table.model.bins().iter().zip(&table.intervals) {
                let exact = clopper_pearson(bin.positives, bin.n, single / 5.0);
                assert!(interval.lo <= exact.lo && exact.hi <= interval.hi, "{alpha}");
                let farthest = (bin.value - interval.lo).max(interval.hi - bin.value);
                assert!(farthest <= guarantee.epsilon, "{alpha}");
            }
        }
        assert!(stated_alpha(0.01) < 0.01 && stated_alpha(0.1) == 0.1);
    }

    #[test]
    fn theorem_4_is_not_claimed_for_kept_boundary_points() {
        let scores: Vec<f64> = (0..100).map(|i| f64::from(i / 4) / 25.0).collect();
        let data = BinaryData::new(scores, (0..100).map(|i| i % 3 == 0).collect()).unwrap();
        let kept = Umd { boundary_points: BoundaryPoints::Kept, ..Umd::new(5) };
        let fit = fit_binary(&data, &BinaryMethod::UmdRandomized(kept, 1), 0.1).unwrap();
        assert_eq!((fit.guarantee, fit.tables[0].as_ref().unwrap().epsilon), (None, None));
        assert_eq!(fit.parameters, "alpha=0.1 bins=5 boundary=ceil boundary-points=kept seed=1");
    }

    #[test]
    fn ties_void_the_papers_guarantee_unless_they_are_broken_at_random() {
        let scores: Vec<f64> = (0..100).map(|i| f64::from(i / 4) / 25.0).collect();
        let data = BinaryData::new(scores, (0..100).map(|i| i % 3 == 0).collect()).unwrap();
        let fit = fit_binary(&data, &umd(5), 0.1).unwrap();
        assert!(fit.guarantee.unwrap().theorem == Theorem::ClopperPearson && fit.tied_tables().eq([0]));
        assert_eq!(fit.tables[0].as_ref().unwrap().intervals.len(), 5);
        let fit = fit.bounded_by(GuaranteeBound::Hoeffding);
        assert!(fit.guarantee.is_none() && fit.tied_tables().eq([0]));
        assert!(fit.tables[0].as_ref().unwrap().intervals.is_empty());
        let fit = fit_binary(&data, &BinaryMethod::UmdRandomized(Umd::new(5), 1), 0.1).unwrap();
        assert_eq!(fit.guarantee.unwrap().theorem, Theorem::Gr21Theorem4);
        assert_eq!(fit.guarantee.unwrap().epsilon, gr21_theorem3(20, 5, 0.1));
    }

    /// Points that are kept on a disk.
    fn spilled(points: impl Iterator<Item = (f32, bool)>) -> BinaryData {
        let mut collector = BinaryCollector::new(0);
        collector.extend(points.map(|(score, label)| (score.try_into().unwrap(), label))).unwrap();
        collector.finish().unwrap().unwrap()
    }

    /// Scores that hardly tie, and some that tie much, in several runs: grouped, packed and on a disk, on one thread and on
    /// several.
    #[test]
    fn how_many_points_are_kept_does_not_matter() {
        let noise = |i: u32| f64::from(i.wrapping_mul(2_654_435_769) >> 8) / f64::from(1 << 24);
        let point = |i: u32| {
            let score = if i.is_multiple_of(3) { 0.25 } else { noise(i) as f32 };
            (score, noise(i.wrapping_mul(7919) + 1) < f64::from(score * score))
        };
        let points: Vec<(f32, bool)> = (0..400_000).map(point).collect();
        let (scores, labels) = points.iter().map(|&(score, label)| (f64::from(score), label)).unzip();
        let rows = BinaryData::new(scores, labels).unwrap();
        let packed = rows.clone().on_device();
        let spilled = spilled(points.into_iter());
        let (scaling, loss) = (ScalingMethod::PlattLogit, Loss::Squared);
        for method in [
            BinaryMethod::Ums(Ums { bins: 10, seed: 7 }),
            BinaryMethod::Isotonic(Isotonic { max_bins: Some(10), smoothing: 0.0 }),
            BinaryMethod::ScalingBinning(ScalingBinning { scaling, loss, bins: 10, split_seed: Some(7) }),
            BinaryMethod::LeastSquares(ScalingMethod::Beta),
            BinaryMethod::VennAbers,
            BinaryMethod::Blend(Blend::new(7)),
        ] {
            let grouped = fit_binary(&rows, &method, 0.1).unwrap();
            for threads in [1, 3] {
                let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
                for data in [&packed, &spilled] {
                    assert_eq!(
                        pool.install(|| fit_binary(data, &method, 0.1)).unwrap(),
                        grouped,
                        "{method:?}"
                    );
                }
            }
        }
    }

    proptest! {
        // Of 19 methods five fits each.
        #![proptest_config(ProptestConfig::with_cases(64))]

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
                BinaryMethod::BayesianTargets(ScalingMethod::Quadratic),
                BinaryMethod::IsotonicCentered(Isotonic::default()),
                BinaryMethod::Unchanged,
                BinaryMethod::Blend(Blend::new(seed)),
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
            let spilled = spilled(rows.iter().map(|r| (r.0 as f32 / 40.0, r.1)));
            for method in methods {
                let fit = fit_binary(&data(&rows), &method, 0.1);
                prop_assert_eq!(&fit, &fit_binary(&spilled, &method, 0.1));
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
