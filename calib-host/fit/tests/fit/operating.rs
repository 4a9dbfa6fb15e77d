//! The guarantees of operating points, each against every sample that there can be.

use calib_core::{QuantizedScore, ScoreEncoding};
use calib_fit::operating::{
    Aim, Aims, Class, GroupScores, KeyedScores, OperatingError, OperatingPoint, OperatingPoints, Sharing,
    threshold_of_npv, threshold_of_ppv,
};
use calib_fit::stats::clopper_pearson;
use proptest::prelude::*;

const U8: ScoreEncoding = ScoreEncoding::U8 { scale: 1.0, zero_point: 0 };

/// Probabilities of the scores 0, 1, 2, ... of a class.
type Law<'a> = &'a [f64];

fn scores(positives: &[u16], negatives: &[u16]) -> KeyedScores {
    let row = |label: bool| move |&key: &u16| (QuantizedScore::from_key(U8, key).unwrap(), label);
    KeyedScores::of_codes(U8, positives.iter().map(row(true)).chain(negatives.iter().map(row(false))))
}

fn alone(scores: KeyedScores) -> [GroupScores; 1] {
    [GroupScores { name: None, scores }]
}

fn aims(sensitivity: Option<f64>, specificity: Option<f64>, confidence: f64) -> Aims {
    let aim = |level| Aim { level, confidence };
    Aims { sensitivity: sensitivity.map(aim), specificity: specificity.map(aim) }
}

/// Of two groups each has half of the failure probability, in its bounds and in its predictive values.
#[test]
fn what_may_fail_is_divided_among_the_groups() {
    let group = |name: &str, below: u16| {
        let positives: Vec<u16> = (0..200).map(|i| 100 + i % 100).collect();
        let negatives: Vec<u16> = (0..200).map(|i| if i < below { 150 } else { i % 100 }).collect();
        GroupScores { name: Some(name.into()), scores: scores(&positives, &negatives) }
    };
    let groups = [group("f", 4), group("m", 9)];
    let delta = 0.05 / 2.0;
    let found = OperatingPoints::find(&groups, aims(Some(0.9), None, 0.95), Sharing::Own).unwrap();
    for point in found.points() {
        let counts = point.counts;
        let bounds = found.specificity_bounds(point).unwrap();
        let cleared = counts.negatives - counts.negatives_from_lower;
        assert_eq!(bounds, clopper_pearson(cleared, counts.negatives, delta));
        assert_eq!(found.sensitivity_bounds(point), None);
        let values = found.predictive_values(point, 0.1).unwrap();
        let specificity = clopper_pearson(cleared, counts.negatives, 2.0 * delta).lo;
        assert_eq!(values.ppv, 0.1 * 0.9 / (0.1 * 0.9 + 0.9 * (1.0 - specificity)));
        // Two bounds may fail, each in a group.
        assert!((values.confidence - 0.9).abs() < 1e-12, "{}", values.confidence);
    }
    let found = OperatingPoints::find(&groups, aims(None, Some(0.9), 0.95), Sharing::Own).unwrap();
    for point in found.points() {
        let counts = point.counts;
        let bounds = found.sensitivity_bounds(point).unwrap();
        assert_eq!(bounds, clopper_pearson(counts.positives_from_upper, counts.positives, delta));
        assert_eq!(found.specificity_bounds(point), None);
        let values = found.predictive_values(point, 0.1).unwrap();
        let sensitivity = clopper_pearson(counts.positives_from_upper, counts.positives, 2.0 * delta).lo;
        assert_eq!(values.npv, 0.9 * 0.9 / (0.9 * 0.9 + 0.1 * (1.0 - sensitivity)));
        assert!((values.confidence - 0.9).abs() < 1e-12);
    }
    // One threshold for both was chosen by the negatives: nothing is said of their share there.
    let found = OperatingPoints::find(&groups, aims(Some(0.9), Some(0.9), 0.95), Sharing::Own).unwrap();
    for point in found.points() {
        assert!(!point.refers());
        assert_eq!(found.specificity_bounds(point), None);
        assert!(found.sensitivity_bounds(point).is_some());
    }
}

/// All samples of `n` scores, with their probabilities.
fn samples(law: Law<'_>, n: usize) -> Vec<(Vec<u16>, f64)> {
    let mut all = vec![(Vec::new(), 1.0)];
    for _ in 0..n {
        let longer = |(sample, prob): &(Vec<u16>, f64)| {
            let (sample, prob) = (sample.clone(), *prob);
            (0..)
                .zip(law)
                .map(move |(score, p)| ([&sample[..], &[score]].concat(), prob * p))
                .collect::<Vec<_>>()
        };
        all = all.iter().flat_map(longer).collect();
    }
    all
}

/// The probability of a score at or above a threshold.
fn from(law: Law<'_>, threshold: u32) -> f64 {
    law.iter().skip(threshold as usize).sum()
}

/// Sums of a few dozen products are exact to that.
const ROUNDING: f64 = 1e-12;

fn keeps(point: &OperatingPoint, aims: Aims, positives: Law<'_>, negatives: Law<'_>) -> bool {
    let sensitive = aims.sensitivity.is_none_or(|aim| from(positives, point.lower) >= aim.level - ROUNDING);
    let specific =
        aims.specificity.is_none_or(|aim| 1.0 - from(negatives, point.upper) >= aim.level - ROUNDING);
    sensitive && specific
}

/// Laws with few and many ties, one where the first score never comes, and some whose last score comes a little too rarely.
const LAWS: [Law<'static>; 6] = [
    &[0.25, 0.25, 0.25, 0.25],
    &[0.1, 0.2, 0.7],
    &[0.4, 0.05, 0.55],
    &[0.0, 0.3, 0.7],
    &[0.401, 0.599],
    &[0.301, 0.699],
];

/// Whatever the distribution, and however often scores repeat: the probability of a guarantee that does not hold, over every sample.
#[test]
fn no_guarantee_is_broken_more_often_than_it_says() {
    let mut worst = 0.0f64;
    for law in LAWS {
        for n in 1..=7 {
            for (level, confidence) in [(0.5, 0.5), (0.6, 0.7), (0.7, 0.8), (0.75, 0.5), (0.7, 0.9)] {
                for is_sensitivity in [true, false] {
                    let aims = match is_sensitivity {
                        true => aims(Some(level), None, confidence),
                        false => aims(None, Some(level), confidence),
                    };
                    let mut broken = 0.0;
                    for (sample, prob) in samples(law, n) {
                        let scores = if is_sensitivity { scores(&sample, &[]) } else { scores(&[], &sample) };
                        match OperatingPoints::find(&alone(scores), aims, Sharing::Own) {
                            Ok(found) if !keeps(&found.points()[0], aims, law, law) => broken += prob,
                            Ok(_) | Err(OperatingError::TooFew { .. }) => {}
                            Err(cause) => panic!("{cause}"),
                        }
                    }
                    worst = worst.max(broken / (1.0 - confidence));
                    assert!(
                        broken <= 1.0 - confidence + ROUNDING,
                        "{law:?} {n} {level} {confidence}: {broken}"
                    );
                }
            }
        }
    }
    assert!(worst > 0.75, "the guarantee is never nearly used up: {worst}");
}

/// Both at once have the product of the confidences, whether one threshold has both or scores are referred.
#[test]
fn both_guarantees_hold_together() {
    let (positives, negatives): (Law<'_>, Law<'_>) = (&[0.2, 0.1, 0.7], &[0.6, 0.2, 0.2]);
    let [mut single, mut refers] = [0; 2];
    for (level, confidence) in [(0.5, 0.7), (0.6, 0.7), (0.7, 0.8)] {
        let aims = aims(Some(level), Some(level), confidence);
        let mut broken = 0.0;
        for (above, p) in samples(positives, 5) {
            for (below, q) in samples(negatives, 5) {
                let Ok(found) = OperatingPoints::find(&alone(scores(&above, &below)), aims, Sharing::Own)
                else {
                    continue;
                };
                let point = &found.points()[0];
                assert!(point.lower <= point.upper);
                if point.refers() {
                    refers += 1
                } else {
                    single += 1
                }
                if !keeps(point, aims, positives, negatives) {
                    broken += p * q;
                }
            }
        }
        assert!(broken <= 1.0 - confidence * confidence + ROUNDING, "{level} {confidence}: {broken}");
    }
    assert!(single > 1000 && refers > 1000, "{single} {refers}");
}

/// In all groups at once, with thresholds of their own or with one for all.
#[test]
fn guarantees_to_groups_hold_in_all_of_them() {
    for (first, second) in [(LAWS[1], LAWS[2]), (LAWS[4], LAWS[4])] {
        for sharing in [Sharing::Own, Sharing::Common] {
            for (level, confidence) in [(0.5, 0.7), (0.6, 0.8)] {
                for is_sensitivity in [true, false] {
                    let (n, mut broken) = (5, 0.0);
                    let aims = match is_sensitivity {
                        true => aims(Some(level), None, confidence),
                        false => aims(None, Some(level), confidence),
                    };
                    for (one, p) in samples(first, n) {
                        for (other, q) in samples(second, n) {
                            let group = |name: &str, sample: &[u16]| GroupScores {
                                name: Some(name.into()),
                                scores: if is_sensitivity {
                                    scores(sample, &[])
                                } else {
                                    scores(&[], sample)
                                },
                            };
                            let groups = [group("a", &one), group("b", &other)];
                            let found = OperatingPoints::find(&groups, aims, sharing).unwrap();
                            if sharing == Sharing::Common {
                                assert_eq!(found.points()[0].upper, found.points()[1].upper);
                            }
                            let laws = found.points().iter().zip([first, second]);
                            if !laws.into_iter().all(|(point, law)| keeps(point, aims, law, law)) {
                                broken += p * q;
                            }
                        }
                    }
                    let delta = 1.0 - confidence;
                    assert!(broken <= delta + ROUNDING, "{sharing:?} {level} {confidence}: {broken}");
                }
            }
        }
    }
}

/// Bounds of the class that did not choose the threshold, and the predictive values that follow from them.
#[test]
fn what_is_said_of_the_other_class_holds() {
    let (positives, negatives): (Law<'_>, Law<'_>) = (&[0.2, 0.1, 0.7], &[0.6, 0.2, 0.2]);
    let prevalence = 0.3;
    for (sensitivity, specificity) in
        [(Some(0.5), None), (None, Some(0.5)), (Some(0.5), Some(0.5)), (Some(0.3), Some(0.8))]
    {
        let aims = aims(sensitivity, specificity, 0.9);
        let [mut outside, mut wrong] = [0.0; 2];
        let mut confidence = 1.0f64;
        for (above, p) in samples(positives, 5) {
            for (below, q) in samples(negatives, 5) {
                let Ok(found) = OperatingPoints::find(&alone(scores(&above, &below)), aims, Sharing::Own)
                else {
                    continue;
                };
                let point = &found.points()[0];
                let (sensitive, specific) =
                    (from(positives, point.upper), 1.0 - from(negatives, point.lower));
                let bounds = [
                    (found.sensitivity_bounds(point), sensitive),
                    (found.specificity_bounds(point), specific),
                ];
                if bounds.iter().any(|(bounds, truth)| {
                    bounds
                        .is_some_and(|bounds| *truth < bounds.lo - ROUNDING || *truth > bounds.hi + ROUNDING)
                }) {
                    outside += p * q;
                }
                let values = found.predictive_values(point, prevalence).unwrap();
                confidence = confidence.min(values.confidence);
                let raised = prevalence * from(positives, point.upper);
                let ppv = raised / (raised + (1.0 - prevalence) * from(negatives, point.upper));
                let cleared = (1.0 - prevalence) * (1.0 - from(negatives, point.lower));
                let npv = cleared / (cleared + prevalence * (1.0 - from(positives, point.lower)));
                if ppv < values.ppv - ROUNDING || npv < values.npv - ROUNDING {
                    wrong += p * q;
                }
            }
        }
        let bounds = f64::from(u8::from(sensitivity.is_some()) + u8::from(specificity.is_some()));
        assert!(outside <= 0.1 * bounds + ROUNDING, "{sensitivity:?} {specificity:?}: {outside}");
        assert!(
            wrong <= 1.0 - confidence + ROUNDING,
            "{sensitivity:?} {specificity:?}: {wrong} {confidence}"
        );
    }
}

/// Over every sample of scores and labels, at the prevalence of the sample.
#[test]
fn thresholds_of_predictive_values_hold() {
    // The probabilities of (score, label): first all negatives.
    let law: Law<'_> = &[0.2, 0.15, 0.1, 0.05, 0.15, 0.35];
    let truth = |threshold: u32, label: usize| {
        let part = |label: usize, from: bool| -> f64 {
            (0..3)
                .filter(|&score| (score >= threshold) == from)
                .map(|score| law[3 * label + score as usize])
                .sum()
        };
        let from = label == 1;
        part(label, from) / (part(0, from) + part(1, from))
    };
    let grid = [0, 1, 2];
    for (level, confidence) in [(0.6, 0.6), (0.7, 0.7), (0.75, 0.6)] {
        let aim = Aim { level, confidence };
        let [mut ppv_broken, mut npv_broken, mut found] = [0.0; 3];
        for (sample, prob) in samples(law, 6) {
            let of = |label: u16| {
                sample.iter().filter(|&&row| row / 3 == label).map(|row| row % 3).collect::<Vec<_>>()
            };
            let scores = scores(&of(1), &of(0));
            if let Some(threshold) = threshold_of_ppv(&scores, aim, &grid).unwrap() {
                found += prob;
                ppv_broken += if truth(threshold, 1) < level - ROUNDING { prob } else { 0.0 };
            }
            if let Some(threshold) = threshold_of_npv(&scores, aim, &[1, 2]).unwrap() {
                npv_broken += if truth(threshold, 0) < level - ROUNDING { prob } else { 0.0 };
            }
        }
        assert!(found > 0.05, "{found}");
        assert!(ppv_broken <= 1.0 - confidence + ROUNDING, "{ppv_broken}");
        assert!(npv_broken <= 1.0 - confidence + ROUNDING, "{npv_broken}");
    }
}

/// With two thresholds each predictive value is that of its own, and both fail together; with one, that of the specificity says both.
#[test]
fn predictive_values_are_of_the_threshold_that_raises_and_of_the_one_that_clears() {
    let positives: Vec<u16> = (0..200).map(|i| 60 + i % 100).collect();
    let negatives: Vec<u16> = (0..300).map(|i| i % 100).collect();
    let (prevalence, delta) = (0.2, 0.05);
    let least = |right, n| clopper_pearson(right, n, 2.0 * delta).lo;
    let of = |sensitivity: f64, specificity: f64| {
        let (true_positives, true_negatives) = (prevalence * sensitivity, (1.0 - prevalence) * specificity);
        let ppv = true_positives / (true_positives + (1.0 - prevalence) * (1.0 - specificity));
        (ppv, true_negatives / (true_negatives + prevalence * (1.0 - sensitivity)))
    };
    for (sensitivity, specificity, refers) in [(0.95, 0.9, true), (0.5, 0.5, false)] {
        let found = OperatingPoints::find(
            &alone(scores(&positives, &negatives)),
            aims(Some(sensitivity), Some(specificity), 1.0 - delta),
            Sharing::Own,
        )
        .unwrap();
        let point = &found.points()[0];
        assert_eq!(point.refers(), refers);
        let values = found.predictive_values(point, prevalence).unwrap();
        let counts = point.counts;
        let raised = of(least(counts.positives_from_upper, 200), specificity);
        let cleared = of(sensitivity, least(300 - counts.negatives_from_lower, 300));
        assert!((values.ppv - raised.0).abs() < 1e-12, "{values:?} {raised:?}");
        let npv = if refers { cleared.1 } else { raised.1 };
        assert!((values.npv - npv).abs() < 1e-12 && (cleared.1 - raised.1).abs() > 0.001, "{values:?}");
        let all = if refers { 4.0 * delta } else { 2.0 * delta };
        assert!((values.confidence - (1.0 - all)).abs() < 1e-12, "{values:?}");
    }
    // What fails more often than not says nothing, and is said.
    let rarely = OperatingPoints::find(
        &alone(scores(&positives, &negatives)),
        aims(Some(0.9), None, 0.4),
        Sharing::Own,
    )
    .unwrap();
    let values = rarely.predictive_values(&rarely.points()[0], prevalence).unwrap();
    assert!((values.confidence + 0.2).abs() < 1e-12, "{values:?}");
}

/// Below 10 all are negative and from 90 on all are positive; between them half are.
#[test]
fn a_threshold_of_a_predictive_value_is_the_last_that_is_sure() {
    let label = |i: u16| i % 100 >= 90 || i % 100 >= 10 && (i / 100).is_multiple_of(2);
    let keys = |is_positive: bool| -> Vec<u16> {
        (0..1000).filter(|&i| label(i) == is_positive).map(|i| i % 100).collect()
    };
    let scores = scores(&keys(true), &keys(false));
    let aim = Aim { level: 0.9, confidence: 0.95 };
    assert_eq!(threshold_of_npv(&scores, aim, &[5, 10, 30, 50]), Ok(Some(10)));
    assert_eq!(threshold_of_ppv(&scores, aim, &[50, 70, 90, 95]), Ok(Some(90)));
    // Ten rows below 1 are too few, and so the search ends there.
    assert_eq!(threshold_of_npv(&scores, aim, &[1, 5, 10]), Ok(None));
    assert_eq!(threshold_of_ppv(&scores, aim, &[90, 95, 99]), Ok(None));
}

#[test]
fn what_cannot_be_guaranteed_is_refused() {
    let find = |positives: &[u16], negatives: &[u16], aims| {
        OperatingPoints::find(&alone(scores(positives, negatives)), aims, Sharing::Own)
    };
    let say = |result: Result<OperatingPoints, OperatingError>| result.unwrap_err().to_string();
    let both = aims(Some(0.95), Some(0.9), 0.95);
    assert_eq!(say(find(&[], &[1; 99], both)), "59 positives are needed, there are none");
    assert_eq!(say(find(&[1; 58], &[1; 99], both)), "59 positives are needed, there are 58");
    assert_eq!(say(find(&[1; 59], &[], both)), "29 negatives are needed, there are none");
    assert_eq!(say(find(&[1; 59], &[1], both)), "29 negatives are needed, there is 1");
    assert_eq!(find(&[1], &[1], aims(None, None, 0.95)), Err(OperatingError::NoAim));
    assert_eq!(OperatingPoints::find(&[], both, Sharing::Common), Err(OperatingError::Empty));
    for bad in [0.0, 1.0, -0.5, f64::NAN] {
        assert!(matches!(find(&[1], &[1], aims(Some(bad), None, 0.9)), Err(OperatingError::Share { .. })));
        assert!(matches!(find(&[1], &[1], aims(Some(0.9), None, bad)), Err(OperatingError::Share { .. })));
    }
    let group =
        |name: &str, n| GroupScores { name: Some(name.into()), scores: scores(&vec![1; n], &[1, 1, 1]) };
    let groups = [group("women", 80), group("men", 3)];
    let error = OperatingPoints::find(&groups, aims(Some(0.95), None, 0.95), Sharing::Own).unwrap_err();
    // A failure probability of .025 for each of the two.
    assert_eq!(error.to_string(), "72 positives in group men are needed, there are 3");
    let error = OperatingPoints::find(&groups, aims(Some(0.95), None, 0.95), Sharing::Common).unwrap_err();
    assert_eq!(
        error,
        OperatingError::TooFew { class: Class::Positives, n: 3, needed: Some(59), group: Some("men".into()) }
    );
    let aim = Aim { level: 0.5, confidence: 0.5 };
    assert_eq!(threshold_of_ppv(&scores(&[1], &[1]), aim, &[2, 1]), Err(OperatingError::Grid));
    assert_eq!(threshold_of_ppv(&scores(&[1], &[1]), aim, &[2, 2]), Err(OperatingError::Grid));
    assert_eq!(threshold_of_npv(&scores(&[1], &[1]), aim, &[1, 2, 2]), Err(OperatingError::Grid));
    assert_eq!(threshold_of_ppv(&scores(&[1], &[1]), aim, &[]), Ok(None));
    let found = find(&[1; 9], &[1; 9], aims(Some(0.5), None, 0.9)).unwrap();
    for bad in [0.0, 1.0] {
        let refused = found.predictive_values(&found.points()[0], bad);
        assert_eq!(refused, Err(OperatingError::Share { name: "prevalence", value: bad }));
    }
}

/// A threshold above the largest code is none that a wrapped number stands for.
#[test]
fn a_specificity_may_never_raise() {
    let found =
        OperatingPoints::find(&alone(scores(&[3], &[255; 60])), aims(None, Some(0.95), 0.95), Sharing::Own);
    let found = found.unwrap();
    assert_eq!((found.points()[0].lower, found.points()[0].upper), (256, 256));
    assert_eq!(found.points()[0].counts.negatives_from_upper, 0);
    let values = found.predictive_values(&found.points()[0], 0.1).unwrap();
    assert_eq!(values.ppv, 0.0);
}

proptest! {
    /// Negatives below a threshold are positives from it on, in a mirror.
    #[test]
    fn both_predictive_values_are_mirror_images(
        rows in proptest::collection::vec((0u16..20, any::<bool>()), 1..300),
        grid in proptest::collection::btree_set(1u32..=20, 1..8),
        level in 30u32..95, confidence in 20u32..95,
    ) {
        let aim = Aim { level: f64::from(level) / 100.0, confidence: f64::from(confidence) / 100.0 };
        let of = |label: bool, mirror: bool| -> Vec<u16> {
            let keys = rows.iter().filter(|row| row.1 == label).map(|row| row.0);
            keys.map(|key| if mirror { 255 - key } else { key }).collect()
        };
        let (plain, mirror) = (scores(&of(true, false), &of(false, false)), scores(&of(false, true), &of(true, true)));
        let ascending: Vec<u32> = grid.iter().copied().collect();
        let mirrored: Vec<u32> = grid.iter().rev().map(|threshold| 256 - threshold).collect();
        let found = threshold_of_npv(&plain, aim, &ascending).unwrap();
        prop_assert_eq!(found, threshold_of_ppv(&mirror, aim, &mirrored).unwrap().map(|threshold| 256 - threshold));
    }

    /// The threshold is the highest that leaves no more positives below than are allowed, and the lowest that leaves no more
    /// negatives from it on.
    #[test]
    fn thresholds_are_the_outermost_of_all(
        positives in proptest::collection::vec(0u16..12, 20..60), negatives in proptest::collection::vec(0u16..12, 20..60),
        level in 50u32..90, confidence in 50u32..95,
    ) {
        let share = |percent: u32| f64::from(percent) / 100.0;
        let both = aims(Some(share(level)), Some(share(level)), share(confidence));
        let all = scores(&positives, &negatives);
        let Ok(found) = OperatingPoints::find(&alone(all.clone()), both, Sharing::Own) else { return Ok(()) };
        let point = &found.points()[0];
        let (k, j) = (point.positives_allowed.unwrap(), point.negatives_allowed.unwrap());
        let highest = (0..=256).rfind(|&t| all.positives() - all.positives_from(t) <= k).unwrap();
        let lowest = (0..=256).find(|&t| all.negatives_from(t) <= j).unwrap();
        prop_assert_eq!((point.lower, point.upper), (highest.min(lowest), lowest));
        let counts = point.counts;
        let brute = |sample: &[u16], t: u32| sample.iter().filter(|&&key| u32::from(key) >= t).count() as u64;
        prop_assert_eq!(counts.positives_from_lower, brute(&positives, point.lower));
        prop_assert_eq!(counts.positives_from_upper, brute(&positives, point.upper));
        prop_assert_eq!(counts.negatives_from_lower, brute(&negatives, point.lower));
        prop_assert_eq!(counts.negatives_from_upper, brute(&negatives, point.upper));
        prop_assert_eq!((counts.positives, counts.negatives), (positives.len() as u64, negatives.len() as u64));
        // The order of the points does not matter.
        let turned = scores(&positives.iter().rev().copied().collect::<Vec<_>>(), &negatives);
        prop_assert_eq!(OperatingPoints::find(&alone(turned), both, Sharing::Own).unwrap(), found.clone());
    }
}
