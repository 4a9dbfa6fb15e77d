//! Artifacts for another prevalence, of every kind of table.

use calib_core::artifact::{HeaderFlags, Method, MonitorAction, Reduction, Theorem};
use calib_core::{Artifact, Calibrated, Margin, QuantizedScore, Score, ScoreEncoding};
use calib_fit::adjust::{
    AdjustError, Adjustment, CalibrationPrevalence, Shift, adjusted, adjusted_prevalence,
};
use calib_fit::apply::{Applied, Outputs, RandomWords, calibrate};
use calib_fit::artifact::{MonitorBins, MonitorError, Monitoring, monitor_scores};
use calib_fit::binary::{FixedWidth, ScalingMethod};
use calib_fit::dataset::{Dataset, Rows, Scores};
use calib_fit::fit::parameter_of;
use calib_fit::job::{FitOptions, fit};
use calib_fit::stats::clopper_pearson;
use calib_fit::{
    ArtifactOptions, BinaryData, BinaryMethod, Fit, Isotonic, Problems, ReductionOptions, ScoreKind,
    StoredArtifact, Umd, artifact_bytes, fit_binary, fit_reduction,
};
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

/// Scores that are right in half as many cases as they say.
fn data(n: usize, is_margin: bool) -> BinaryData {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(7);
    let rows: Vec<(f64, bool)> = (0..n)
        .map(|_| {
            let score: f64 = rng.random();
            (score, rng.random::<f64>() < 0.1 + 0.6 * score)
        })
        .collect();
    let labels = rows.iter().map(|row| row.1).collect();
    if is_margin {
        BinaryData::of_margins(rows.iter().map(|row| 8.0 * row.0 - 4.0).collect(), labels)
            .unwrap()
            .on_device()
    } else {
        BinaryData::new(rows.iter().map(|row| row.0).collect(), labels).unwrap().on_device()
    }
}

fn stored(fit: &Fit, intervals: bool) -> StoredArtifact {
    let options = ArtifactOptions::default().intervals(intervals).counter(3);
    StoredArtifact::from_bytes(&artifact_bytes(fit, &options).unwrap()).unwrap()
}

/// Every kind of table over probabilities and margins that can be changed, with and without intervals.
fn all_kinds() -> Vec<StoredArtifact> {
    let mut all = Vec::new();
    for is_margin in [false, true] {
        let data = data(800, is_margin);
        let mut methods = vec![
            BinaryMethod::Umd(Umd::new(6)),
            BinaryMethod::UmdRandomized(Umd::new(6), 1),
            BinaryMethod::Isotonic(Isotonic::default()),
            BinaryMethod::VennAbers,
        ];
        methods.extend(match is_margin {
            true => vec![
                BinaryMethod::Scaling(ScalingMethod::PlattMargin),
                BinaryMethod::Scaling(ScalingMethod::TemperatureMargin),
                BinaryMethod::Scaling(ScalingMethod::QuadraticMargin),
                BinaryMethod::Unchanged,
            ],
            false => vec![
                BinaryMethod::FixedWidth(FixedWidth { bins: 3 }),
                BinaryMethod::Scaling(ScalingMethod::PlattLogit),
                BinaryMethod::Scaling(ScalingMethod::PlattProb),
                BinaryMethod::Scaling(ScalingMethod::Beta),
                BinaryMethod::Scaling(ScalingMethod::Temperature),
                BinaryMethod::Scaling(ScalingMethod::Quadratic),
                BinaryMethod::Unchanged,
            ],
        });
        for method in methods {
            let fit = fit_binary(&data, &method, 0.1).unwrap();
            all.extend([stored(&fit, false), stored(&fit, true)]);
        }
        let compact = fit_binary(&data.rounded(), &BinaryMethod::Umd(Umd::new(6)), 0.1).unwrap();
        all.extend(
            [false, true].map(|intervals| stored(&compact.clone().into_u16_table().unwrap(), intervals)),
        );
    }
    let encoding = ScoreEncoding::U8 { scale: 1.0 / 255.0, zero_point: 0 };
    let codes = fit_binary(&data(800, false), &BinaryMethod::Umd(Umd::new(6)), 0.1).unwrap();
    all.push(stored(&codes.quantized(encoding).unwrap(), true));
    all
}

fn applied<'r>(artifact: &Artifact<'r>, outputs: impl Into<Outputs<'r>>, seed: u64) -> Vec<Applied> {
    calibrate(artifact, outputs.into(), RandomWords::new(artifact, seed)).unwrap()
}

/// What the device answers to scores from one end to the other.
fn answers(stored: &StoredArtifact) -> Vec<Calibrated> {
    let artifact = &stored.artifact();
    let shares = || (0..=200u8).map(|i| f64::from(i) / 200.0);
    let encoding = artifact.header().encoding;
    let rows = if encoding.is_margin() {
        let margins: Vec<_> = shares().map(|s| Margin::new((10.0 * s - 5.0) as f32).unwrap()).collect();
        applied(artifact, &margins[..], 9)
    } else if encoding.is_quantized() {
        let codes: Vec<_> = (0..=200).map(|code| QuantizedScore::new(encoding, code).unwrap()).collect();
        applied(artifact, &codes[..], 9)
    } else {
        let scores: Vec<_> = shares().map(|s| Score::try_from(s).unwrap()).collect();
        applied(artifact, &scores[..], 9)
    };
    rows.iter().map(|row| *row.outcome.calibrated().expect("every bin has observations")).collect()
}

fn change(before: &StoredArtifact, shift: Shift) -> StoredArtifact {
    let adjustment = Adjustment::new(shift).counter(9);
    StoredArtifact::from_bytes(&adjusted(before, &adjustment).unwrap()).unwrap()
}

fn known(from: f64, to: f64) -> Shift {
    Shift::new(CalibrationPrevalence::Stated(from), to).unwrap()
}

/// Venn-Abers says two numbers, of which the device makes one.
fn is_venn_abers(stored: &StoredArtifact) -> bool {
    stored.artifact().header().method == Method::VennAbers
}

#[test]
fn every_answer_is_the_one_at_the_other_prevalence() {
    for before in all_kinds() {
        for shift in [known(0.4, 0.01), known(0.4, 0.4), known(0.4, 0.9)] {
            let after = change(&before, shift);
            let header = *before.artifact().header();
            let rounding = match header.flags.contains(HeaderFlags::COMPACT) {
                true => 2e-5,
                // A function is evaluated in f32, and near 1 its error is up to 66 times as large afterwards.
                false if header.bins == 0 => 5e-5,
                false => 1e-7,
            };
            let near = |a: f32, b: f64| (f64::from(a) - b).abs() <= rounding;
            for (old, new) in answers(&before).iter().zip(answers(&after)) {
                assert_eq!((old.bin, old.flags), (new.bin, new.flags));
                if is_venn_abers(&before) {
                    let (old, new) = (old.interval.unwrap(), new.interval.unwrap());
                    assert!(
                        near(new.lo, shift.prob(old.lo.into())) && near(new.hi, shift.prob(old.hi.into()))
                    );
                    continue;
                }
                assert!(near(new.prob, shift.prob(old.prob.into())), "{} {}", old.prob, new.prob);
                assert_eq!(old.epsilon.is_some(), new.epsilon.is_some());
                if let (Some(old), Some(new)) = (old.interval, new.interval) {
                    assert!(
                        near(new.lo, shift.prob(old.lo.into())) && near(new.hi, shift.prob(old.hi.into()))
                    );
                }
                assert_eq!(new.interval.is_some(), new.epsilon.is_some());
            }
        }
    }
}

/// Whatever the truth is that the guarantee before allows, the guarantee after allows what it becomes: at both ends of the interval of
/// the calibration prevalence.
#[test]
fn no_truth_that_was_allowed_is_left_out() {
    let counted = CalibrationPrevalence::Counted { positives: 320, n: 800, alpha: 0.05 };
    let ends = clopper_pearson(320, 800, 0.05);
    let mut guaranteed = 0;
    for before in all_kinds().iter().filter(|before| before.artifact().header().guarantee.is_some()) {
        for to in [0.02, 0.3, 0.8] {
            let after = change(before, Shift::new(counted, to).unwrap());
            for (old, new) in answers(before).iter().zip(answers(&after)) {
                let (epsilon, interval) = (new.epsilon.unwrap(), new.interval.unwrap());
                for prevalence in [ends.lo, 0.4, ends.hi] {
                    let becomes = |truth: f64| known(prevalence, to).prob(truth.clamp(0.0, 1.0));
                    let (middle, half) = (f64::from(old.prob), f64::from(old.epsilon.unwrap()));
                    // An exact guarantee allows what lies in the bin's interval, which is narrower.
                    let is_exact =
                        before.artifact().header().guarantee.unwrap().theorem == Theorem::ClopperPearson;
                    let allowed = match old.interval.filter(|_| is_exact) {
                        Some(interval) => [interval.lo.into(), middle, interval.hi.into()],
                        None => [middle - half, middle, middle + half],
                    };
                    for truth in allowed.map(becomes) {
                        assert!((truth - f64::from(new.prob)).abs() <= f64::from(epsilon), "{truth} {new:?}");
                        let is_in = f64::from(interval.lo) <= truth && truth <= f64::from(interval.hi);
                        assert!(is_in || old.interval.is_some(), "{truth} {new:?}");
                    }
                    if let Some(old) = old.interval {
                        for truth in [old.lo, old.hi].map(|end| becomes(end.into())) {
                            let is_in = f64::from(interval.lo) <= truth && truth <= f64::from(interval.hi);
                            assert!(is_in, "{truth} {new:?}");
                        }
                    }
                }
                guaranteed += 1;
            }
            let (old, new) =
                (before.artifact().header().guarantee.unwrap(), after.artifact().header().guarantee.unwrap());
            assert!(f64::from(new.alpha) >= f64::from(old.alpha) + 0.05 && new.alpha < 0.150_001);
            assert_eq!(new.theorem, old.theorem);
        }
    }
    assert!(guaranteed > 1000);
}

/// The epsilon of a lopsided interval is its longer side, not half its width.
#[test]
fn epsilon_is_the_longer_side() {
    let fit = fit_binary(&data(800, false), &BinaryMethod::Umd(Umd::new(6)), 0.1).unwrap();
    let (before, shift) = (stored(&fit, false), known(0.4, 0.05));
    let after = change(&before, shift);
    let half = f64::from(before.artifact().header().guarantee.unwrap().epsilon);
    let side =
        |bin: &Calibrated| shift.prob((f64::from(bin.prob) + half).min(1.0)) - shift.prob(bin.prob.into());
    let longest = answers(&before).iter().map(side).fold(0.0, f64::max);
    let epsilon = f64::from(after.artifact().header().guarantee.unwrap().epsilon);
    assert!(epsilon >= longest - 1e-7 && epsilon < longest + 1e-6, "{epsilon} {longest}");
}

/// What an artifact holds for a bin without points is no probability, and has no interval at another prevalence either.
#[test]
fn an_empty_bin_is_guaranteed_nothing() {
    let scores: Vec<f64> = (0..600).map(|i| f64::from(i) / 1200.0).collect();
    let data = BinaryData::new(scores, (0..600).map(|i| i % 3 == 0).collect()).unwrap().on_device();
    let fit = fit_binary(&data, &BinaryMethod::FixedWidth(FixedWidth { bins: 4 }), 0.1).unwrap();
    let after = change(&stored(&fit, true), known(0.5, 0.1));
    let after = after.artifact();
    let guaranteed: Vec<bool> = (0..4).map(|bin| after.tables().interval(0, bin).is_some()).collect();
    assert_eq!(guaranteed, [true, true, false, false]);
}

#[test]
fn what_else_is_in_the_artifact_stays() {
    let fit = fit_binary(&data(800, false), &BinaryMethod::Umd(Umd::new(6)), 0.1).unwrap();
    let before = stored(&fit, true);
    let after = change(&before, known(0.4, 0.1));
    assert_eq!(after.artifact().counter(), 9);
    let parameters = |stored: &StoredArtifact| stored.artifact().header().provenance.parameters.to_owned();
    let parent = before.artifact().identity().to_string();
    assert_eq!(
        parameters(&after),
        format!("{} prevalence=0.1 calibration-prevalence=0.4 parent={parent}", parameters(&before))
    );
    assert_eq!(adjusted_prevalence(&after), Some(0.1));
    assert_eq!(adjusted_prevalence(&before), None);
    let kinds = |stored: &StoredArtifact| stored.sections().map(|section| section.0).collect::<Vec<_>>();
    let (mut old, mut new) = (kinds(&before), kinds(&after));
    old.sort_unstable();
    new.sort_unstable();
    assert_eq!(old, new);

    // From there to another one, the names of the first change are replaced.
    let again = change(&after, known(0.1, 0.2));
    let parameters = parameters(&again);
    assert_eq!(parameter_of(&parameters, "prevalence"), Some("0.2"));
    assert_eq!(parameter_of(&parameters, "parent"), Some(&*after.artifact().identity().to_string()));
    assert_eq!(parameters.matches("parent=").count(), 1);
    let direct = change(&before, known(0.4, 0.2));
    for (one, other) in answers(&again).iter().zip(answers(&direct)) {
        assert!((one.prob - other.prob).abs() < 1e-6);
    }
}

/// Temperature scaling has no intercept, which a change of the prevalence adds: it becomes Platt's.
#[test]
fn the_method_is_the_one_that_has_the_parameters() {
    for before in all_kinds() {
        let (old, new) = (before.artifact().header().method, change(&before, known(0.4, 0.1)));
        let expected = match old {
            Method::Temperature | Method::Unchanged => Method::Platt,
            other => other,
        };
        assert_eq!(new.artifact().header().method, expected);
    }
}

/// What the counted prevalence adds to the failure probability is said, and a known one adds nothing.
#[test]
fn the_failure_probability_of_a_counted_prevalence_is_said() {
    let fit = fit_binary(&data(800, false), &BinaryMethod::Umd(Umd::new(6)), 0.1).unwrap();
    let counted = CalibrationPrevalence::Counted { positives: 320, n: 800, alpha: 0.05 };
    for (shift, expected) in [(Shift::new(counted, 0.1).unwrap(), Some("0.05")), (known(0.4, 0.1), None)] {
        let after = change(&stored(&fit, false), shift);
        let parameters = after.artifact().header().provenance.parameters.to_owned();
        assert_eq!(parameter_of(&parameters, "prevalence-alpha"), expected);
    }
    // As an f32 their sum is rounded up, here to 1.
    let almost = fit_binary(&data(800, false), &BinaryMethod::Umd(Umd::new(6)), 0.95).unwrap();
    let sum = f64::from(0.95f32) + 0.05;
    assert!(sum < 1.0 && sum as f32 == 1.0);
    let adjustment = Adjustment::new(Shift::new(counted, 0.1).unwrap());
    assert_eq!(adjusted(&stored(&almost, false), &adjustment), Err(AdjustError::Alpha(sum)));
}

/// Ranges of the score and the band are moved with a prevalence that is known, and left out with one that is estimated.
#[test]
fn ranges_and_band_move_with_the_prevalence() {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(7);
    let scores: Vec<f32> = (0..900).map(|_| rng.random()).collect();
    let labels: Vec<i64> = scores.iter().map(|&score| i64::from(rng.random::<f32>() < score)).collect();
    let rows =
        Dataset::new(Scores::Binary(ScoreKind::Probability, scores.into()), Rows::new(&labels)).unwrap();
    let method = BinaryMethod::Isotonic(Isotonic::default());
    let options = FitOptions::default().method(method).intervals(true).band(true);
    let before = fit(&rows, &options).unwrap().artifact;
    let shift = known(0.5, 0.1);
    let after = change(&before, shift);
    let (old, new) = (before.artifact(), after.artifact());
    let (old, new) = (old.score_intervals().unwrap(), new.score_intervals().unwrap());
    assert_eq!((old.alpha(), old.rate()), (new.alpha(), new.rate()));
    let (old, new) = (old.table(0).unwrap(), new.table(0).unwrap());
    assert_eq!(old.edges(), new.edges());
    let moved = |end: f32| shift.prob(end.into());
    let mut ranges = 0;
    for (old, new) in old.intervals().zip(new.intervals()) {
        let (down, up) = (moved(old.lo) - f64::from(new.lo), f64::from(new.hi) - moved(old.hi));
        assert!((0.0..1e-7).contains(&down) && (0.0..1e-7).contains(&up), "{old:?} {new:?}");
        ranges += 1;
    }
    assert!(ranges > 3);
    let (old, new) = (before.artifact().band().unwrap(), after.artifact().band().unwrap());
    assert_eq!((old.alpha(), old.lower().edges()), (new.alpha(), new.lower().edges()));
    for (old, new) in old.upper().values().zip(new.upper().values()) {
        assert!((0.0..1e-7).contains(&(f64::from(new) - moved(old))), "{old} {new}");
    }
    let estimated = Adjustment::new(shift).is_estimated(true);
    let after = StoredArtifact::from_bytes(&adjusted(&before, &estimated).unwrap()).unwrap();
    assert!(after.artifact().score_intervals().is_none() && after.artifact().band().is_none());
}

/// However many rows it is from.
#[test]
fn an_estimate_guarantees_nothing() {
    let fit = fit_binary(&data(800, false), &BinaryMethod::Umd(Umd::new(6)), 0.1).unwrap();
    let before = stored(&fit, true);
    let adjustment = Adjustment::new(known(0.4, 0.1)).is_estimated(true);
    let bytes = adjusted(&before, &adjustment).unwrap();
    let after = StoredArtifact::from_bytes(&bytes).unwrap();
    let artifact = after.artifact();
    assert_eq!((artifact.header().guarantee, artifact.counter()), (None, 0));
    assert!(
        !artifact.tables().has_intervals() && answers(&after).iter().all(|found| found.epsilon.is_none())
    );
    assert_eq!(parameter_of(artifact.header().provenance.parameters, "estimated-prevalence"), Some("0.1"));
}

/// Scores from the new place are draws from those to come, and those of the calibration are not.
#[test]
fn monitors_compare_with_scores_from_the_new_place() {
    let fit = fit_binary(&data(800, false), &BinaryMethod::Umd(Umd::new(6)), 0.1).unwrap();
    let own = ArtifactOptions::default().monitors(Some(Monitoring::default()));
    let before = StoredArtifact::from_bytes(&artifact_bytes(&fit, &own).unwrap()).unwrap();
    let plain = Adjustment::new(known(0.4, 0.1));
    let stored = |adjustment: &Adjustment| {
        StoredArtifact::from_bytes(&adjusted(&before, adjustment).unwrap()).unwrap()
    };
    let without = stored(&plain);
    assert!(without.artifact().monitors().is_none() && monitor_scores(&without.artifact()).is_none());

    let there: Vec<f32> = (0..90).map(|i| (i as f32 / 90.0).powi(3)).collect();
    let bins = Some(MonitorBins::of_scores(ScoreKind::Probability, &there, 3).unwrap());
    let action = Some(MonitorAction::Alarm);
    let with = plain.clone().monitors(Some(Monitoring::default().bins(bins).action(action)));
    let after = stored(&with);
    let artifact = after.artifact();
    let reference = artifact.monitors().unwrap().reference(0).unwrap();
    assert_eq!(reference.each().collect::<Vec<_>>(), [31, 30, 30]);
    assert_eq!((monitor_scores(&artifact), artifact.monitor_action()), (Some(90), action));
    assert_eq!(answers(&after), answers(&without));
    // A change of the change compares with what it is given, or with nothing.
    let again = StoredArtifact::from_bytes(&adjusted(&after, &plain).unwrap()).unwrap();
    assert_eq!((monitor_scores(&again.artifact()), again.artifact().monitor_action()), (None, None));
    assert_eq!(parameter_of(again.artifact().header().provenance.parameters, "monitor-scores"), None);
    let bins = Some(MonitorBins::of_scores(ScoreKind::Probability, &there[..45], 3).unwrap());
    let fewer = plain.clone().monitors(Some(Monitoring::default().bins(bins)));
    let again = StoredArtifact::from_bytes(&adjusted(&after, &fewer).unwrap()).unwrap();
    assert_eq!(monitor_scores(&again.artifact()), Some(45));

    for bins in [None, Some(MonitorBins::of(&data(800, false), 6).unwrap())] {
        let adjustment = plain.clone().monitors(Some(Monitoring::default().bins(bins)));
        assert_eq!(adjusted(&before, &adjustment), Err(AdjustError::Monitors(MonitorError::OtherScores)));
    }
}

#[test]
fn what_has_no_prevalence_is_refused() {
    let line = BinaryMethod::IsotonicInterpolated(Isotonic::default());
    let line = stored(&fit_binary(&data(200, false), &line, 0.1).unwrap(), false);
    let adjustment = Adjustment::new(known(0.4, 0.1));
    assert_eq!(adjusted(&line, &adjustment), Err(AdjustError::Interpolated));

    let predictions =
        Problems::of_predictions(&[0, 0, 1, 1], &[0.5, 0.75, 0.5, 0.75], &[0, 1, 1, 0], 2).unwrap();
    let options = ReductionOptions::new(BinaryMethod::Isotonic(Isotonic::default()));
    let classes = stored(&fit_reduction(&predictions, &options, 0.1).unwrap(), false);
    assert_eq!(adjusted(&classes, &adjustment), Err(AdjustError::Reduction(Reduction::TopLabel)));

    let fit = fit_binary(&data(800, false), &BinaryMethod::Umd(Umd::new(6)), 0.97).unwrap();
    let counted = CalibrationPrevalence::Counted { positives: 320, n: 800, alpha: 0.05 };
    let adjustment = adjustment.clone().shift(Shift::new(counted, 0.1).unwrap());
    assert!(matches!(adjusted(&stored(&fit, false), &adjustment), Err(AdjustError::Alpha(_))));
}
