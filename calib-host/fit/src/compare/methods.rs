//! Comparing calibration methods by repeated cross-validation, or on points of their own.

use calib_core::artifact::Reduction;
use rayon::prelude::*;
use serde::Serialize;

use super::data::{Claim, CompareData, Contender, Fitted};
use crate::artifact::{DeviceCost, device_costs};
use crate::assess::{Bootstrap, EstimateWithInterval, ProperScore};
use crate::stats::{Units, deal};

/// How to compare.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CompareOptions {
    /// How held-out points come about.
    pub split: Split,
    /// What methods are ranked by.
    pub score: ProperScore,
    /// The failure probability of guarantees.
    pub alpha: f64,
    /// The widest guarantee that will do; `None` if none is needed.
    pub epsilon: Option<f64>,
    /// How to resample for intervals. Its seed also deals out the parts.
    pub bootstrap: Bootstrap,
}

/// How held-out points come about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Split {
    /// The points are dealt out into parts, each of which is calibrated by a fit to the others.
    CrossValidation {
        /// The number of parts, at least 2.
        folds: usize,
        /// How often the points are dealt out anew, at least 1.
        repeats: usize,
    },
    /// There are points for this alone.
    Test {
        /// How many.
        n: usize,
    },
}

/// A method that was compared.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ComparedMethod {
    /// The method's name, as it was given.
    pub name: String,
    /// Its parameters.
    pub parameters: String,
    /// How many of the probabilities that the log-loss judged gave 0 to what happened, over all repeats, so that their loss is
    /// that of a probability of 2.2e-16; `None` for the Brier score.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub log_loss_clipped: Option<u64>,
    /// How many classes or ranks stay uncalibrated in a fit to all points: their points keep their scores.
    pub uncalibrated_tables: usize,
    /// The mean loss of held-out points.
    pub loss: EstimateWithInterval,
    /// The mean loss less the mean loss of the scores as they are, on the same points: below 0 is better.
    pub change: EstimateWithInterval,
    /// The epsilon that a fit to all points guarantees; `None` for no guarantee.
    pub epsilon: Option<f64>,
    /// Whether that is narrow enough; `None` if nothing was asked for.
    pub meets_epsilon: Option<bool>,
    /// The length of the artefact of a fit to all points.
    pub len_bytes: usize,
    /// What a call costs on a device, given what was compared; `None` for forms that were not measured.
    pub cost: Option<DeviceCost>,
}

/// A method that could not be fitted to these points.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct FailedMethod {
    /// The method's name, as it was given.
    pub name: String,
    /// Why not.
    pub reason: String,
}

/// The result of a comparison.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct MethodComparison {
    /// The number of points.
    pub n: usize,
    /// The number of their clusters, where there are such: methods are fitted to one point of each.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub clusters: Option<usize>,
    /// How held-out points came about.
    pub split: Split,
    /// Which probabilities of vectors are judged.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub claim: Option<Claim>,
    /// What methods are ranked by.
    pub score: ProperScore,
    /// The mean loss of the scores as they are.
    pub uncalibrated: EstimateWithInterval,
    /// The methods, the lowest loss first.
    pub methods: Vec<ComparedMethod>,
    /// The methods that could not be fitted.
    pub failed: Vec<FailedMethod>,
    /// The name of the method to take; `None` to leave the scores uncalibrated.
    pub recommendation: Option<String>,
    /// Why.
    pub reason: String,
    /// How many methods were tried of which something may be guaranteed. Whoever takes one of them by this comparison has chosen by
    /// the labels: every epsilon here is for alpha divided by this number, so that all of them hold together.
    pub candidates: u32,
}

/// The held-out losses of a method, and what a fit to all points is like.
struct Candidate {
    losses: Vec<f64>,
    compared: ComparedMethod,
}

/// Compares methods, each with a name: every point that is judged is calibrated, with the device's arithmetic, by fits to
/// other points only. These are the points of the other parts, or, if there are test points, all. The result depends neither
/// on the order of the points nor on the number of threads. `progress` is called after each of [`fits`] fits.
///
/// The intervals tell the noise of the points that are judged, not the noise of the fits.
///
/// ```
/// use calib_fit::assess::{Bootstrap, IntervalKind, ProperScore};
/// use calib_fit::compare::{CompareData, CompareOptions, Contender, Split, compare_methods};
/// use calib_fit::{BinaryMethod, Isotonic, Umd};
///
/// // The classifier is overconfident: a score of s is right in s / 2 of the cases.
/// let points = CompareData::binary((0..1000).map(|i| (f64::from(i) / 1000.0, i % 40 < i / 50)), None);
/// let contenders = [
///     ("umd".to_string(), Contender::Binary(BinaryMethod::Umd(Umd::new(10)))),
///     ("isotonic".to_string(), Contender::Binary(BinaryMethod::Isotonic(Isotonic::default()))),
/// ];
/// let options = CompareOptions {
///     split: Split::CrossValidation { folds: 5, repeats: 1 },
///     score: ProperScore::Brier,
///     alpha: 0.1,
///     epsilon: None,
///     bootstrap: Bootstrap { kind: IntervalKind::Percentile, resamples: 100, seed: 1, alpha: 0.05 },
/// };
/// let comparison = compare_methods(&points, None, &contenders, &options, &|| ());
/// assert!(comparison.methods[0].loss.value < comparison.uncalibrated.value);
/// assert!(comparison.recommendation.is_some());
/// ```
///
/// # Panics
///
/// If there are fewer points, or clusters, than folds, or no test points although the split is such.
pub fn compare_methods(
    points: &CompareData,
    test: Option<&CompareData>,
    contenders: &[(String, Contender)],
    options: &CompareOptions,
    progress: &(dyn Fn() + Sync),
) -> MethodComparison {
    let held_out = match options.split {
        Split::CrossValidation { folds, repeats } => {
            assert!(folds >= 2 && points.units.count() >= folds, "too few points for the folds");
            HeldOut::Parts(deal(&points.units, &points.strata(), folds, repeats, options.bootstrap.seed))
        }
        Split::Test { .. } => HeldOut::Test(test.expect("test points are given")),
    };
    let may_guarantee = contenders.iter().filter(|(_, contender)| contender.may_guarantee()).count();
    let candidates = u32::try_from(may_guarantee).unwrap_or(u32::MAX).max(1);
    let judge = Judge { points, held_out, options, candidates, progress };
    let fitted: Vec<Result<Candidate, FailedMethod>> = contenders
        .par_iter()
        .map(|(name, contender)| {
            judge.candidate(name, contender).map_err(|reason| FailedMethod { name: name.clone(), reason })
        })
        .collect();
    let (mut fits, mut failed) = (Vec::new(), Vec::new());
    for fitted in fitted {
        match fitted {
            Ok(candidate) => fits.push(candidate),
            Err(failure) => failed.push(failure),
        }
    }
    let judged = test.unwrap_or(points);
    let as_they_are = judged.losses_as_they_are(options.score);
    let uncalibrated = with_intervals(&as_they_are, &mut fits, &judged.units, &options.bootstrap);
    let mut methods: Vec<ComparedMethod> = fits.into_iter().map(|c| c.compared).collect();
    methods.sort_by(|a, b| a.loss.value.total_cmp(&b.loss.value).then_with(|| a.name.cmp(&b.name)));
    let (recommendation, reason) = recommend(&methods, options);
    MethodComparison {
        n: points.len(),
        clusters: points.has_clusters().then(|| points.units()),
        split: options.split,
        claim: points.claim(),
        score: options.score,
        uncalibrated,
        methods,
        failed,
        recommendation,
        reason,
        candidates,
    }
}

/// How many fits each method takes.
///
/// ```
/// use calib_fit::compare::{Split, fits};
///
/// // One to the points outside each part, and one to all.
/// assert_eq!(fits(Split::CrossValidation { folds: 5, repeats: 2 }), 11);
/// ```
pub fn fits(split: Split) -> usize {
    match split {
        Split::CrossValidation { folds, repeats } => 1 + folds * repeats,
        Split::Test { .. } => 1,
    }
}

/// The points that a fit leaves out.
enum HeldOut<'a> {
    /// Repeat by repeat, part by part: the indices of the points outside and inside.
    Parts(Vec<Vec<(Vec<usize>, Vec<usize>)>>),
    Test(&'a CompareData),
}

/// Added to the seed, so that random words have a seed of their own.
const WORDS: u64 = 0x9e37_79b9_7f4a_7c15;

/// All that a method is judged by.
struct Judge<'a> {
    points: &'a CompareData,
    held_out: HeldOut<'a>,
    options: &'a CompareOptions,
    candidates: u32,
    progress: &'a (dyn Fn() + Sync),
}

impl Judge<'_> {
    fn candidate(&self, name: &str, contender: &Contender) -> Result<Candidate, String> {
        if self.options.score == ProperScore::LogLoss
            && self.points.claim() == Some(Claim::AllClasses)
            && matches!(contender, Contender::Reduced(Reduction::ClassWise, _))
        {
            return Err(
                "its probabilities need not sum to one, and the log-loss is proper only if they do".into()
            );
        }
        let whole = self.fit(self.points, contender)?;
        let mut clipped = 0;
        let losses = match &self.held_out {
            HeldOut::Test(test) => {
                let losses = self.losses(test, &whole, 0)?;
                clipped += self.clipped(&losses);
                losses
            }
            HeldOut::Parts(repeats) => {
                let mut losses = vec![0.0; self.points.len()];
                for (repeat, parts) in repeats.iter().enumerate() {
                    let of_parts: Vec<Result<Vec<f64>, String>> = parts
                        .par_iter()
                        .enumerate()
                        .map(|(part, (outside, inside))| {
                            let fitted = self.fit(&self.points.part(outside), contender)?;
                            let place = repeat * parts.len() + part;
                            self.losses(&self.points.part(inside), &fitted, place as u64)
                        })
                        .collect();
                    // The first part that failed says why, whichever thread was first.
                    for ((_, inside), part) in parts.iter().zip(of_parts) {
                        let part = part?;
                        clipped += self.clipped(&part);
                        for (&i, loss) in inside.iter().zip(part) {
                            losses[i] += loss / repeats.len() as f64;
                        }
                    }
                }
                losses
            }
        };
        let log_loss_clipped = (self.options.score == ProperScore::LogLoss).then_some(clipped);
        let compared = ComparedMethod { log_loss_clipped, ..self.compared(name, &whole) };
        Ok(Candidate { losses, compared })
    }

    /// How many losses are those of what was given the probability 0.
    fn clipped(&self, losses: &[f64]) -> u64 {
        let most = self.options.score.loss(0.0, true);
        losses.iter().filter(|&&loss| loss >= most).count() as u64
    }

    fn fit(&self, points: &CompareData, contender: &Contender) -> Result<Fitted, String> {
        let fitted =
            points.fit(contender, (self.options.alpha, self.candidates), self.options.bootstrap.seed);
        (self.progress)();
        fitted
    }

    /// The losses of the part in this place.
    fn losses(&self, points: &CompareData, fitted: &Fitted, place: u64) -> Result<Vec<f64>, String> {
        // Words that a randomised method breaks ties with now must have nothing to do with those of its fit, or of other
        // parts.
        let seed = (self.options.bootstrap.seed ^ WORDS).wrapping_add(place);
        points.losses(&fitted.stored, self.options.score, seed)
    }

    /// What a fit to all points is like, without its losses.
    fn compared(&self, name: &str, whole: &Fitted) -> ComparedMethod {
        let artifact = whole.stored.artifact();
        let unknown = EstimateWithInterval { value: f64::NAN, interval: None };
        let narrow_enough = |wanted| whole.epsilon.is_some_and(|epsilon| epsilon <= wanted);
        ComparedMethod {
            name: name.into(),
            parameters: artifact.header().provenance.parameters.into(),
            log_loss_clipped: None,
            uncalibrated_tables: whole.uncalibrated_tables,
            loss: unknown,
            change: unknown,
            epsilon: whole.epsilon,
            meets_epsilon: self.options.epsilon.map(narrow_enough),
            len_bytes: artifact.len_bytes(),
            cost: device_costs(&artifact).into_iter().find(|cost| cost.input == self.points.input()),
        }
    }
}

/// Fills in the losses and their changes; gives the loss of the scores as they are. All from the same resamples.
fn with_intervals(
    as_they_are: &[f64],
    candidates: &mut [Candidate],
    units: &Units,
    bootstrap: &Bootstrap,
) -> EstimateWithInterval {
    let columns: Vec<&[f64]> =
        std::iter::once(as_they_are).chain(candidates.iter().map(|c| &c.losses[..])).collect();
    // Row by row, so that the sums of all columns grow side by side.
    let rows: Vec<f64> =
        (0..as_they_are.len()).flat_map(|row| columns.iter().map(move |column| column[row])).collect();
    let means = |counts: &dyn Fn(usize) -> f64| -> Vec<f64> {
        // As many rows as the clusters that were drawn have.
        let n: f64 = (0..as_they_are.len()).map(counts).sum();
        let mut sums = vec![0.0; columns.len()];
        for (row, losses) in rows.chunks_exact(columns.len()).enumerate() {
            let count = counts(row);
            sums.iter_mut().zip(losses).for_each(|(sum, loss)| *sum += count * loss);
        }
        sums.into_iter().map(|sum| sum / n).collect()
    };
    let with_changes = |means: Vec<f64>| {
        let changes: Vec<f64> = means.iter().map(|mean| mean - means[0]).collect();
        [means, changes].concat()
    };
    let values = with_changes(means(&|_| 1.0));
    let intervals =
        bootstrap.intervals(units, |counts| with_changes(means(&|i| f64::from(counts[i]))), |_| false);
    let estimates: Vec<EstimateWithInterval> = values
        .into_iter()
        .zip(intervals)
        .map(|(value, interval)| EstimateWithInterval { value, interval })
        .collect();
    let (losses, changes) = estimates.split_at(estimates.len() / 2);
    for (candidate, (loss, change)) in candidates.iter_mut().zip(losses.iter().zip(changes).skip(1)) {
        (candidate.compared.loss, candidate.compared.change) = (*loss, *change);
    }
    losses[0]
}

/// The best of the methods that will do, if it is better than nothing, and why.
fn recommend(ranked: &[ComparedMethod], options: &CompareOptions) -> (Option<String>, String) {
    let score = options.score.name();
    if ranked.is_empty() {
        return (None, "no method could be fitted".into());
    }
    let Some(best) = ranked.iter().find(|method| method.meets_epsilon != Some(false)) else {
        let wanted = options.epsilon.map_or(String::new(), |epsilon| format!(" of {epsilon}"));
        return (None, format!("no method guarantees an epsilon{wanted} with so few points"));
    };
    let interval = best.change.interval.map_or(String::new(), |i| format!(" [{:+.6}, {:+.6}]", i.lo, i.hi));
    let change = format!("{score} changes by {:+.6}{interval}", best.change.value);
    let is_better = best.change.interval.map_or(best.change.value < 0.0, |interval| interval.hi < 0.0);
    if is_better {
        let among = if options.epsilon.is_some() { " of those whose guarantee is narrow enough" } else { "" };
        return (Some(best.name.clone()), format!("it has the lowest {score}{among}, and {change}"));
    }
    (
        None,
        format!(
            "not even {}, the best of those that will do, is better beyond the noise of the points: {change}",
            best.name
        ),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::assess::{AssessOptions, IntervalKind, ProbMatrix, assess_vectors};
    use crate::binary::{BinaryMethod, Isotonic, ScalingMethod, Umd};
    use crate::data::{BinaryData, VectorKind, Vectors};
    use crate::fit::fit_binary;
    use crate::joint::{JointMethod, VectorScalingMethod};
    use crate::reduction::ReductionOptions;
    use crate::stats::Clusters;

    const OPTIONS: CompareOptions = CompareOptions {
        split: Split::CrossValidation { folds: 5, repeats: 2 },
        score: ProperScore::Brier,
        alpha: 0.1,
        epsilon: None,
        bootstrap: Bootstrap { kind: IntervalKind::Percentile, resamples: 200, seed: 1, alpha: 0.05 },
    };

    fn methods() -> Vec<(String, Contender)> {
        let methods = [
            ("umd", BinaryMethod::Umd(Umd::new(8))),
            ("isotonic", BinaryMethod::Isotonic(Isotonic::default())),
            ("platt", BinaryMethod::Scaling(ScalingMethod::PlattLogit)),
            ("too-many", BinaryMethod::Umd(Umd::new(1000))),
        ];
        methods.map(|(name, method)| (name.into(), Contender::Binary(method))).into()
    }

    fn noise(i: u32) -> f64 {
        f64::from(i.wrapping_mul(2_654_435_769) >> 8) / f64::from(1 << 24)
    }

    /// Points whose labels are true with probability `truth(score)`.
    fn points(truth: fn(f64) -> f64) -> Vec<(f64, bool)> {
        let score = |i: u32| (f64::from(i * 7919 % 1000) + 0.5) / 1000.0;
        (0..1000).map(|i| (score(i), noise(i) < truth(score(i)))).collect()
    }

    fn compare(points: &[(f64, bool)], options: &CompareOptions) -> MethodComparison {
        compare_methods(&CompareData::binary(points.iter().copied(), None), None, &methods(), options, &|| ())
    }

    /// Logits of three classes, twice as large as they should be.
    fn vectors(rows: std::ops::Range<u32>) -> (Vectors, Vec<i64>) {
        let (mut values, mut labels) = (Vec::new(), Vec::new());
        for i in rows {
            let logits: [f64; 3] = std::array::from_fn(|k| 3.0 * noise(7 * i + k as u32));
            let exps = logits.map(f64::exp);
            let mut below = noise(31 * i + 11) * exps.iter().sum::<f64>();
            let label = exps.iter().position(|exp| {
                below -= exp;
                below < 0.0
            });
            values.extend(logits.map(|logit| 2.0 * logit as f32));
            labels.push(label.unwrap_or(2) as i64);
        }
        (Vectors::new(values, 3, VectorKind::Logits).unwrap(), labels)
    }

    fn vector_methods() -> Vec<(String, Contender)> {
        let umd = ReductionOptions { method: BinaryMethod::Umd(Umd::new(1)), points_per_bin: Some(50) };
        let joint = |method| {
            Contender::Joint(JointMethod::Scaling { method, log_probs: false, cross_validation: None })
        };
        vec![
            ("top-label/umd".into(), Contender::Reduced(Reduction::TopLabel, umd)),
            ("normalized/umd".into(), Contender::Reduced(Reduction::Normalized, umd)),
            ("class-wise/umd".into(), Contender::Reduced(Reduction::ClassWise, umd)),
            ("temperature".into(), joint(VectorScalingMethod::Temperature)),
            ("binary".into(), Contender::Binary(BinaryMethod::VennAbers)),
        ]
    }

    /// A row that is drawn several times counts as often, and the rows of a cluster count together.
    #[test]
    fn intervals_are_of_the_rows_that_were_drawn() {
        let losses: Vec<f64> = (0..60).map(noise).collect();
        let better: Vec<f64> = (0..60).map(|i| noise(i) * noise(1000 + i)).collect();
        let clusters = Clusters::new((0..60u32).map(|i| i * i / 400));
        let mut order: Vec<usize> = (0..60).collect();
        let compared = compare(&points(|s| s), &OPTIONS).methods.remove(0);
        for units in [Units::rows(60), Units::new(Some(&clusters), &mut order, |_, _| false)] {
            let mut candidates = [Candidate { losses: better.clone(), compared: compared.clone() }];
            let as_they_are = with_intervals(&losses, &mut candidates, &units, &OPTIONS.bootstrap);
            let mean_drawn = |counts: &[u32], losses: &[f64]| {
                let times = |(&count, &loss): (&u32, &f64)| std::iter::repeat_n(loss, count as usize);
                let drawn: Vec<f64> = counts.iter().zip(losses).flat_map(times).collect();
                drawn.iter().sum::<f64>() / drawn.len() as f64
            };
            let of_draw = |counts: &[u32]| {
                let [before, after] = [&losses, &better].map(|losses| mean_drawn(counts, losses));
                vec![before, after, after - before]
            };
            let expected = OPTIONS.bootstrap.intervals(&units, of_draw, |_| false);
            let [Candidate { compared, .. }] = candidates;
            for (got, expected) in [as_they_are, compared.loss, compared.change].iter().zip(expected) {
                let (got, expected) = (got.interval.unwrap(), expected.unwrap());
                assert!((got.lo - expected.lo).abs() < 1e-12 && (got.hi - expected.hi).abs() < 1e-12);
            }
        }
    }

    #[test]
    fn what_is_off_is_calibrated_and_the_order_of_the_points_does_not_matter() {
        let mut points = points(|s| s * s * s);
        let got = compare(&points, &OPTIONS);
        assert!(got.recommendation.is_some(), "{}", got.reason);
        assert!(got.methods.windows(2).all(|pair| pair[0].loss.value <= pair[1].loss.value));
        let best = &got.methods[0];
        assert!((best.loss.value - got.uncalibrated.value - best.change.value).abs() < 1e-12);
        assert_eq!(got.failed.iter().map(|failed| &*failed.name).collect::<Vec<_>>(), ["too-many"]);
        points.reverse();
        assert_eq!(compare(&points, &OPTIONS), got);
    }

    #[test]
    fn vectors_are_judged_by_all_classes_or_by_the_predicted_one() {
        let (rows, labels) = vectors(0..1000);
        let run = |claim, score| {
            let data = CompareData::vectors(&rows, &labels, claim, None).unwrap();
            let options = CompareOptions { score, ..OPTIONS };
            compare_methods(&data, None, &vector_methods(), &options, &|| ())
        };
        let all = run(Claim::AllClasses, ProperScore::LogLoss);
        assert_eq!(
            (all.recommendation.as_deref(), all.claim),
            (Some("temperature"), Some(Claim::AllClasses))
        );
        let failed: Vec<_> = all.failed.iter().map(|failed| (&*failed.name, &*failed.reason)).collect();
        assert_eq!(
            failed,
            [
                ("top-label/umd", "it gives no probability for every class"),
                (
                    "class-wise/umd",
                    "its probabilities need not sum to one, and the log-loss is proper only if they do",
                ),
                ("binary", "it is for binary scores"),
            ]
        );
        // As an assessment of the scores has it.
        let labels_u16 = labels.iter().map(|&label| label as u16).collect();
        let matrix = ProbMatrix::new(rows.probs_f64(), labels_u16, 3);
        let assessment = assess_vectors(&matrix, &AssessOptions::default());
        assert!((all.uncalibrated.value - assessment.log_loss.value).abs() < 1e-6);
        let brier = run(Claim::AllClasses, ProperScore::Brier);
        assert!((brier.uncalibrated.value - assessment.brier.value).abs() < 1e-6);
        let top = run(Claim::TopLabel, ProperScore::Brier);
        assert!((top.uncalibrated.value - assessment.top_label.brier.value).abs() < 1e-6);
        assert_eq!((brier.methods.len(), top.methods.len(), top.failed.len()), (3, 4, 1));
        let umd = top.methods.iter().find(|method| method.name == "top-label/umd").unwrap();
        assert!(umd.change.value < 0.0, "{umd:?}");
    }

    #[test]
    fn points_of_their_own_judge_one_fit_to_all() {
        let all = points(|s| s * s * s);
        let (calibration, test) = all.split_at(600);
        let data = |points: &[(f64, bool)]| CompareData::binary(points.iter().copied(), None);
        let options = CompareOptions { split: Split::Test { n: 400 }, ..OPTIONS };
        let calls = std::sync::atomic::AtomicUsize::new(0);
        let count = || {
            calls.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        };
        let got = compare_methods(&data(calibration), Some(&data(test)), &methods(), &options, &count);
        assert_eq!(calls.into_inner(), 4 * fits(options.split));
        // By hand: the same fit, applied to the test points.
        let (scores, labels) = calibration.iter().copied().unzip();
        let fit = fit_binary(
            &BinaryData::new(scores, labels).unwrap().on_device(),
            &BinaryMethod::Umd(Umd::new(8)),
            0.1,
        );
        let model = fit.unwrap().tables.remove(0).unwrap().model;
        let model = model.steps().unwrap();
        let loss = |&(score, label): &(f64, bool)| {
            let value = model.bins[model.bin(f64::from(score as f32))].value;
            (value - f64::from(u8::from(label))).powi(2)
        };
        let expected = test.iter().map(loss).sum::<f64>() / 400.0;
        let umd = got.methods.iter().find(|method| method.name == "umd").unwrap();
        assert!((umd.loss.value - expected).abs() < 1e-6, "{umd:?} {expected}");
        assert_eq!(got.n, 600);
    }

    /// Where all scores are equal nothing is better than the share of positives, whose Brier score is 0.1875, but by chance.
    #[test]
    fn random_ties_do_not_look_ahead() {
        let points: Vec<(f64, bool)> = (0..400).map(|i| (0.5, i % 4 == 0)).collect();
        let umd = Contender::Binary(BinaryMethod::UmdRandomized(Umd::new(4), OPTIONS.bootstrap.seed));
        let data = CompareData::binary(points, None);
        let got = compare_methods(&data, None, &[("umd-randomized".into(), umd)], &OPTIONS, &|| ());
        assert!(got.methods[0].loss.value > 0.18, "{:?}", got.methods);
    }

    /// Two positives are never in the same part, so that every fit meets one.
    #[test]
    fn rare_positives_drop_no_method() {
        let points: Vec<_> = (0..100).map(|i| (f64::from(i) / 100.0, i == 60 || i == 90)).collect();
        let methods = [
            ("umd".to_owned(), Contender::Binary(BinaryMethod::Umd(Umd::new(2)))),
            ("isotonic".to_owned(), Contender::Binary(BinaryMethod::Isotonic(Isotonic::default()))),
        ];
        let data = CompareData::binary(points, None);
        for seed in 0..30 {
            let bootstrap = Bootstrap { seed, resamples: 5, ..OPTIONS.bootstrap };
            let got =
                compare_methods(&data, None, &methods, &CompareOptions { bootstrap, ..OPTIONS }, &|| ());
            assert_eq!(got.failed, [], "{seed}");
        }
    }

    /// Isotonic regression gives zeros to what may happen, a logistic function never does.
    #[test]
    fn clipped_misses_of_the_log_loss_are_counted() {
        let data = CompareData::binary(points(|s| s), None);
        let clipped = |score| {
            let got = compare_methods(&data, None, &methods(), &CompareOptions { score, ..OPTIONS }, &|| ());
            let of = |name: &str| got.methods.iter().find(|m| m.name == name).unwrap().log_loss_clipped;
            (of("isotonic"), of("platt"))
        };
        let (isotonic, platt) = clipped(ProperScore::LogLoss);
        assert!(isotonic > Some(0) && isotonic < Some(100) && platt == Some(0), "{isotonic:?} {platt:?}");
        assert_eq!(clipped(ProperScore::Brier), (None, None));
    }

    /// Without the only positive the labels are the same, with it they are separated.
    #[test]
    fn the_first_part_says_why_a_method_failed() {
        let points = (0..6).map(|i| (f64::from(i) / 6.0, i == 5));
        let platt = Contender::Binary(BinaryMethod::Scaling(ScalingMethod::PlattLogit));
        let data = CompareData::binary(points, None);
        let run = |threads, seed| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            let split = Split::CrossValidation { folds: 3, repeats: 1 };
            let bootstrap = Bootstrap { seed, resamples: 2, ..OPTIONS.bootstrap };
            let options = CompareOptions { bootstrap, split, ..OPTIONS };
            pool.install(|| {
                compare_methods(&data, None, &[("platt".into(), platt.clone())], &options, &|| ())
            })
            .failed
        };
        for seed in 0..30 {
            assert_eq!(run(4, seed), run(1, seed), "{seed}");
        }
    }

    #[test]
    fn the_number_of_threads_does_not_matter() {
        let (rows, labels) = vectors(0..400);
        let data = CompareData::vectors(&rows, &labels, Claim::TopLabel, None).unwrap();
        let on = |threads| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| compare_methods(&data, None, &vector_methods(), &OPTIONS, &|| ()))
        };
        assert_eq!(on(1), on(3));
    }

    #[test]
    fn what_is_calibrated_is_left_alone() {
        let got = compare(&points(|s| s), &OPTIONS);
        assert_eq!(got.recommendation, None, "{}", got.reason);
    }

    #[test]
    fn only_a_guarantee_that_is_narrow_enough_will_do() {
        let wide = CompareOptions { epsilon: Some(0.2), ..OPTIONS };
        let got = compare(&points(|s| s * s * s), &wide);
        assert_eq!(got.recommendation.as_deref(), Some("umd"), "{}", got.reason);
        let narrow = CompareOptions { epsilon: Some(0.01), ..OPTIONS };
        let got = compare(&points(|s| s * s * s), &narrow);
        assert_eq!(got.recommendation, None);
        assert!(got.reason.contains("0.01"));
    }
}
