//! Intervals of ranges of the score beside every method: what the device answers is what was fitted.

use std::collections::BTreeMap;

use calib_core::artifact::{Method, Rate, Reduction};
use calib_core::predict::{Output, Query};
use calib_core::score::CodeVector;
use calib_core::{
    Artifact, BinFlags, Calibrated, Logits, Margin, ProbInterval, QuantizedScore, Score, ScoreEncoding,
};
use calib_fit::data::RowGroups;
use calib_fit::dataset::{Dataset, Rows, Scores};
use calib_fit::job::{
    ClassScore, Finding, FitOptions, Fitted, FittedModel, MethodChoice, MonitorOptions, TableWidth, fit,
};
use calib_fit::joint::{CanonicalMethod, JointMethod, VectorScalingMethod};
use calib_fit::{
    BinaryData, BinaryMethod, Isotonic, ReductionOptions, ScalingMethod, ScoreKind, Umd, VectorKind,
    guarantee_text, intervals,
};

use crate::rows::{I8, N, hash, labels, scores};

fn with(method: BinaryMethod) -> FitOptions {
    FitOptions::default().method(method).band(Some(false))
}

fn methods() -> Vec<BinaryMethod> {
    vec![
        BinaryMethod::Scaling(ScalingMethod::PlattLogit),
        BinaryMethod::Scaling(ScalingMethod::Beta),
        BinaryMethod::Scaling(ScalingMethod::Temperature),
        BinaryMethod::Isotonic(Isotonic::default()),
        BinaryMethod::IsotonicInterpolated(Isotonic::default()),
    ]
}

fn answer(artifact: &Artifact<'_>, output: Output<'_>, group: Option<u8>) -> (u16, Calibrated) {
    let first = artifact.predict(&Query { output, group, word: None }).unwrap().first;
    (first.class, *first.outcome.calibrated().unwrap())
}

/// What the device holds of the ranges of one score: edges as numbers that a score is compared with, and intervals that contain those
/// fitted, at most an f32 wider.
fn found(data: &BinaryData, score: f64) -> (u16, intervals::RangeBin) {
    let found = intervals::fit(data, 0.1).unwrap();
    let table = found.tables()[0].as_ref().unwrap();
    let bin = table.edges().iter().filter(|&&edge| edge <= score).count();
    (bin as u16, table.bins()[bin])
}

fn rounds(exact: intervals::RangeBin, got: ProbInterval) -> bool {
    let (lo, hi) = (exact.interval.lo, exact.interval.hi);
    let (down, up) = (lo - f64::from(got.lo), f64::from(got.hi) - hi);
    (0.0..1e-7).contains(&down) && (0.0..1e-7).contains(&up)
}

#[test]
fn every_method_over_floats_answers_with_the_range_of_the_score() {
    let scores = scores();
    let labels = labels(&scores);
    let data =
        Dataset::new(Scores::Binary(ScoreKind::Probability, scores.as_slice().into()), Rows::new(&labels))
            .unwrap();
    let points = BinaryData::from_device_classes(&scores, &labels).unwrap();
    for method in methods() {
        let plain = fit(&data, &with(method).intervals(false)).unwrap();
        let fitted = fit(&data, &with(method)).unwrap();
        let (plain, artifact) = (plain.artifact.artifact(), fitted.artifact.artifact());
        let beside = artifact.score_intervals().unwrap();
        assert_eq!((plain.score_intervals(), beside.alpha(), beside.rate()), (None, 0.1, Rate::OfRange));
        for &score in &scores {
            let output = Output::Score(Score::new(score).unwrap());
            let ((_, without), (_, got)) = (answer(&plain, output, None), answer(&artifact, output, None));
            let (bin, exact) = found(&points, score.into());
            let flags = without.flags.with(BinFlags::RANGE);
            assert_eq!((got.prob, got.epsilon, got.flags, got.bin), (without.prob, None, flags, bin));
            assert!(rounds(exact, got.interval.unwrap()), "{method:?}: {exact:?} {:?}", got.interval);
        }
        let guaranteed = guarantee_text(&fitted.artifact);
        let expected = "With at least 90% probability over the draw of the calibration set, the event rate of every score range lies in its \
                        interval. Nothing is guaranteed of the probability itself.";
        assert_eq!(guaranteed.statement, expected);
        assert_eq!((guaranteed.assumptions.len(), guaranteed.limits.is_empty()), (4, false));
    }
    // Venn-Abers keeps p0 and p1.
    let default = fit(&data, &FitOptions::default().method(BinaryMethod::VennAbers)).unwrap();
    assert_eq!(default.artifact.artifact().score_intervals(), None);
    // Bins with a guarantee have intervals of their own.
    let umd = fit(&data, &with(BinaryMethod::Umd(Umd::new(5)))).unwrap();
    assert_eq!(umd.artifact.artifact().score_intervals(), None);
    assert!(umd.artifact.artifact().tables().has_intervals());
}

/// Counts every row in the range that it is answered with.
fn counted(
    rows: impl Iterator<Item = ((u8, u16), Calibrated, bool)>,
) -> BTreeMap<(u8, u16, u16), (u64, u64, ProbInterval)> {
    let mut counts = BTreeMap::new();
    for ((group, class), got, label) in rows {
        let interval = got.interval.expect("every range has an interval");
        let count = counts.entry((group, class, got.bin)).or_insert((0, 0, interval));
        *count = (count.0 + 1, count.1 + u64::from(label), interval);
    }
    counts
}

/// In every range lies the rate of the rows that were counted; there are as many ranges as are stored, of 30 rows or more.
fn hold(artifact: &Artifact<'_>, counts: &BTreeMap<(u8, u16, u16), (u64, u64, ProbInterval)>) {
    for (key, &(n, positives, interval)) in counts {
        assert!(interval.contains(positives as f32 / n as f32), "{key:?}: {positives} of {n}, {interval:?}");
        assert!(n >= 25, "{key:?}: {n}");
    }
    let beside = artifact.score_intervals().unwrap();
    let stored: usize = (0..beside.count()).filter_map(|table| Some(beside.table(table)?.bins())).sum();
    assert_eq!(counts.len(), stored);
}

#[test]
fn rounded_scores_codes_and_margins_have_ranges_of_their_own_keys() {
    let scores = scores();
    let labels = labels(&scores);
    let isotonic = BinaryMethod::Isotonic(Isotonic::default());
    let of = |scores: Scores<'_>, options: &FitOptions| {
        fit(&Dataset::new(scores, Rows::new(&labels)).unwrap(), options).unwrap()
    };
    let is_one = |row: usize| labels[row] == 1;

    let probabilities = || Scores::Binary(ScoreKind::Probability, scores.as_slice().into());
    let compact = of(probabilities(), &with(isotonic).table(TableWidth::U16));
    let artifact = compact.artifact.artifact();
    let ask = |row: usize| answer(&artifact, Output::Score(Score::new(scores[row]).unwrap()), None).1;
    hold(&artifact, &counted((0..N).map(|row| ((0, 1), ask(row), is_one(row)))));

    let margins: Vec<f32> = scores.iter().map(|&score| 8.0 * score - 5.0).collect();
    for (method, width) in [
        (BinaryMethod::Scaling(ScalingMethod::PlattMargin), TableWidth::F32),
        (isotonic, TableWidth::F32),
        (isotonic, TableWidth::U16),
    ] {
        let fitted =
            of(Scores::Binary(ScoreKind::Margin, margins.as_slice().into()), &with(method).table(width));
        let artifact = fitted.artifact.artifact();
        let ask = |row: usize| answer(&artifact, Output::Margin(Margin::new(margins[row]).unwrap()), None).1;
        hold(&artifact, &counted((0..N).map(|row| ((0, 1), ask(row), is_one(row)))));
    }

    // Of 256 codes some tie at an edge: no row is lost.
    let codes: Vec<i64> = scores.iter().map(|&score| (256.0 * score) as i64 - 128).collect();
    for method in [isotonic, BinaryMethod::Scaling(ScalingMethod::Beta)] {
        for width in [TableWidth::F32, TableWidth::U16, TableWidth::Direct] {
            let fitted = of(Scores::Codes(ScoreKind::Probability, I8, &codes), &with(method).table(width));
            let artifact = fitted.artifact.artifact();
            let code = |row: usize| QuantizedScore::new(I8, codes[row] as i32).unwrap();
            let ask = |row: usize| answer(&artifact, Output::Code(code(row)), None).1;
            let counts = counted((0..N).map(|row| ((0, 1), ask(row), is_one(row))));
            hold(&artifact, &counts);
            assert_eq!(artifact.score_intervals().unwrap().rate(), Rate::OfCalibrationScores);
            let guaranteed = guarantee_text(&fitted.artifact);
            assert!(
                guaranteed
                    .statement
                    .contains("for scores distributed within the range as in the calibration set")
            );
            assert_eq!(guaranteed.assumptions.len(), 3, "scores may repeat");
        }
    }
    // The bins of umd have a guarantee of their own, ties or not.
    let umd = BinaryMethod::Umd(Umd::new(5));
    let fitted = of(Scores::Codes(ScoreKind::Probability, I8, &codes), &with(umd));
    let artifact = fitted.artifact.artifact();
    assert!(artifact.header().guarantee.is_some() && artifact.score_intervals().is_none());
}

#[test]
fn groups_and_classes_share_alpha() {
    let scores = scores();
    let labels = labels(&scores);
    let platt = BinaryMethod::Scaling(ScalingMethod::PlattLogit);
    let groups = RowGroups::new((0..N).map(|row| if row % 3 == 0 { "b" } else { "a" }));
    let rows = Rows::new(&labels).groups(groups);
    let data = Dataset::new(Scores::Binary(ScoreKind::Probability, scores.as_slice().into()), rows).unwrap();
    let fitted = fit(&data, &with(platt)).unwrap();
    let artifact = fitted.artifact.artifact();
    let group = |row: usize| u8::from(row.is_multiple_of(3));
    let ask =
        |row: usize| answer(&artifact, Output::Score(Score::new(scores[row]).unwrap()), Some(group(row))).1;
    hold(&artifact, &counted((0..N).map(|row| ((group(row), 1), ask(row), labels[row] == 1))));

    // Three classes, by the softmax, by the top-two margin of the logits, and of codes.
    let logits: Vec<f32> = (0..3 * N).map(|at| 6.0 * hash(at, 3) as f32).collect();
    let top =
        |row: usize| (0..3).max_by(|&a, &b| logits[3 * row + a].total_cmp(&logits[3 * row + b])).unwrap();
    let truth: Vec<i64> =
        (0..N).map(|row| if hash(row, 4) < 0.7 { top(row) as i64 } else { (row % 3) as i64 }).collect();
    let choice = |by| {
        let of_margins = BinaryMethod::Scaling(ScalingMethod::PlattMargin);
        MethodChoice::Binary(ReductionOptions::new(if by == ClassScore::Margin { of_margins } else { platt }))
    };
    for reduction in [Reduction::TopLabel, Reduction::Confidence] {
        for by in [ClassScore::Softmax, ClassScore::Margin] {
            let data =
                Dataset::new(Scores::Vectors(VectorKind::Logits, logits.clone(), 3), Rows::new(&truth))
                    .unwrap();
            let options =
                FitOptions::default().method(choice(by)).reduction(reduction).class_score(by).intervals(true);
            let fitted = fit(&data, &options).unwrap();
            let artifact = fitted.artifact.artifact();
            let rows = (0..N).map(|row| {
                let output = Output::Logits(Logits::new(&logits[3 * row..3 * row + 3]).unwrap());
                let (class, got) = answer(&artifact, output, None);
                let table = if reduction == Reduction::Confidence { 0 } else { class };
                ((0, table), got, truth[row] == i64::from(class))
            });
            hold(&artifact, &counted(rows));
            assert!(
                guarantee_text(&fitted.artifact)
                    .statement
                    .contains("The event is that the predicted class is right.")
            );
        }
    }
    let encoding = ScoreEncoding::I8 { scale: 0.05, zero_point: 0 };
    let codes: Vec<i64> = logits.iter().map(|&logit| (logit * 20.0) as i64).collect();
    let data = Dataset::new(Scores::CodeVectors(VectorKind::Logits, encoding, &codes, 3), Rows::new(&truth))
        .unwrap();
    let by = ClassScore::Margin;
    let options = FitOptions::default()
        .method(choice(by))
        .reduction(Reduction::TopLabel)
        .class_score(by)
        .intervals(true);
    let fitted = fit(&data, &options).unwrap();
    let artifact = fitted.artifact.artifact();
    let rows = (0..N).map(|row| {
        let keys: Vec<u16> = codes[3 * row..3 * row + 3].iter().map(|code| (code + 128) as u16).collect();
        let (class, got) = answer(&artifact, Output::Codes(CodeVector::new(encoding, &keys).unwrap()), None);
        ((0, class), got, truth[row] == i64::from(class))
    });
    hold(&artifact, &counted(rows));
}

/// Logits of three classes whose labels follow a law of them, drawn with a seed.
fn three_classes(n: usize, seed: u64) -> (Vec<f32>, Vec<i64>) {
    let logits: Vec<f32> = (0..3 * n).map(|i| 5.0 * hash(i, 2 * seed) as f32).collect();
    let of_row = |row: usize| {
        let weights: Vec<f64> = logits[3 * row..][..3].iter().map(|&z| f64::from(z * 0.4).exp()).collect();
        let mut left = hash(row, 2 * seed + 1) * weights.iter().sum::<f64>();
        let drawn = weights.iter().position(|weight| {
            left -= weight;
            left < 0.0
        });
        drawn.unwrap_or(2) as i64
    };
    let labels = (0..n).map(of_row).collect();
    (logits, labels)
}

fn of_vectors(logits: &[f32], labels: &[i64], options: &FitOptions) -> Fitted {
    let data =
        Dataset::new(Scores::Vectors(VectorKind::Logits, logits.into(), 3), Rows::new(labels)).unwrap();
    fit(&data, options).unwrap()
}

/// What a device says of a vector: the class with the highest logit, and its probability.
fn of_vector(artifact: &Artifact<'_>, logits: &[f32]) -> (u16, Calibrated) {
    let query = Query::from(Output::Logits(Logits::new(logits).unwrap()));
    let (prediction, _) = artifact.predict_classes(&query, &mut [0.0; 6]).unwrap();
    (prediction.first.class, *prediction.first.outcome.calibrated().unwrap())
}

/// Beside every calibrator of whole vectors: the intervals of ranges of the score of the class with the highest one, whatever the calibrated
/// probabilities are.
#[test]
fn whole_vectors_have_intervals_by_predicted_class() {
    let (logits, truth) = three_classes(N, 5);
    let scaling = |method| JointMethod::Scaling { method, log_probs: false, cross_validation: None };
    for method in [
        JointMethod::Blend { seed: 0 },
        JointMethod::Unchanged,
        scaling(VectorScalingMethod::StructuredMatrix),
        scaling(VectorScalingMethod::Temperature),
        JointMethod::Canonical(CanonicalMethod::Grid(2)),
    ] {
        let fitted =
            of_vectors(&logits, &truth, &FitOptions::default().method(MethodChoice::Joint(method.clone())));
        let artifact = fitted.artifact.artifact();
        let found = artifact.score_intervals().expect("intervals");
        assert_eq!((found.count(), found.rate(), found.alpha()), (3, Rate::OfRange, 0.1), "{method:?}");
        let rows = (0..N).map(|row| {
            let (class, got) = of_vector(&artifact, &logits[3 * row..][..3]);
            ((0, class), got, truth[row] == i64::from(class))
        });
        hold(&artifact, &counted(rows));
        let statement = guarantee_text(&fitted.artifact).statement;
        assert!(
            statement.contains("The event is that the class with the highest score is right."),
            "{statement}"
        );
        let without = FitOptions::default().method(MethodChoice::Joint(method)).intervals(false);
        let without = of_vectors(&logits, &truth, &without);
        assert_eq!(without.artifact.artifact().score_intervals(), None);
    }
}

/// The default of several classes: a blend of whole vectors, unless tables are asked for or nothing else can be fitted.
#[test]
fn several_classes_have_a_blend_of_whole_vectors() {
    let (logits, truth) = three_classes(N, 7);
    let fitted = of_vectors(&logits, &truth, &FitOptions::default());
    let FittedModel::Joint(model) = &fitted.model else { panic!("tables") };
    assert_eq!(model.method(), Method::Blend);
    assert!(model.blend().as_ref().unwrap().gain.is_sure());
    let chosen = fitted.chosen.unwrap().to_string();
    assert!(chosen.starts_with("chosen: blend of whole vectors"), "{chosen}");

    for options in [
        FitOptions::default().reduction(Reduction::TopLabel),
        FitOptions::default().monitors(MonitorOptions::default()),
        FitOptions::default().class_score(ClassScore::Margin),
        FitOptions::default().candidates(2u32),
    ] {
        let fitted = of_vectors(&logits, &truth, &options);
        assert!(matches!(fitted.model, FittedModel::Tables(_)), "{options:?}");
    }
    // Each row right by far: no temperature is high enough.
    let right: Vec<i64> = (0..N)
        .map(|row| {
            let row = &logits[3 * row..][..3];
            (0..3).max_by(|&a, &b| row[a as usize].total_cmp(&row[b as usize])).unwrap()
        })
        .collect();
    let fitted = of_vectors(&logits, &right, &FitOptions::default());
    assert!(matches!(fitted.model, FittedModel::Tables(_)));
}

/// How many of 200 calibration sets have a wrong interval: at most alpha, and a binomial bound for the number of sets.
#[test]
fn intervals_by_predicted_class_hold_as_often_as_stated() {
    const SETS: u64 = 200;
    let (logits, truth) = three_classes(60_000, 1000);
    let wrong = (0..SETS).filter(|&set| {
        let (some, labels) = three_classes(400, set + 1);
        let options = FitOptions::default().method(MethodChoice::Joint(JointMethod::Unchanged)).alpha(0.3);
        let fitted = of_vectors(&some, &labels, &options);
        let artifact = fitted.artifact.artifact();
        let rows = (0..truth.len()).map(|row| {
            let (class, got) = of_vector(&artifact, &logits[3 * row..][..3]);
            ((class, got.bin), (1.0, f64::from(u8::from(truth[row] == i64::from(class)))))
        });
        let mut sums: BTreeMap<(u16, u16), (f64, f64)> = BTreeMap::new();
        for (place, (n, hit)) in rows {
            let sum = sums.entry(place).or_default();
            *sum = (sum.0 + n, sum.1 + hit);
        }
        // The rate of a finite number of rows differs from the true one by chance.
        sums.iter().any(|(&(class, bin), &(n, hits))| {
            let ProbInterval { lo, hi } = artifact.tables().interval(class.into(), bin).unwrap();
            let slack = 3.0 * (0.25 / n).sqrt();
            !(f64::from(lo) - slack..=f64::from(hi) + slack).contains(&(hits / n))
        })
    });
    let wrong = wrong.count();
    // 60 are expected at most; 86 or more have a probability below 1e-5 then.
    assert!(wrong < 86, "{wrong}");
    assert!(wrong > 4, "{wrong}: far wider than needed");
}

/// A function of two parameters cannot be a step: the mean value leaves the interval, and is counted. Steps follow the rows.
#[test]
fn values_outside_of_their_interval_are_counted() {
    let scores: Vec<f32> = (0..4000).map(|row| (row as f32 + 0.5) / 4000.0).collect();
    let labels: Vec<i64> =
        (0..4000).map(|row| i64::from((1000..2000).contains(&row) && row % 10 > 0)).collect();
    let data =
        Dataset::new(Scores::Binary(ScoreKind::Probability, scores.into()), Rows::new(&labels)).unwrap();
    let of = |method| -> Fitted { fit(&data, &with(method)).unwrap() };
    let outside = |fitted: &Fitted| {
        fitted.findings.iter().find_map(|finding| match finding {
            Finding::ValuesOutside { outside, ranges } => Some((*outside, *ranges)),
            _ => None,
        })
    };
    let platt = of(BinaryMethod::Scaling(ScalingMethod::PlattLogit));
    let (count, ranges) = outside(&platt).unwrap();
    assert!(ranges == 15 && count > 10, "{count} of {ranges}");
    let steep: Vec<i64> =
        (0..4000).map(|row| i64::from((2000..4000).contains(&row) && row % 10 > 0)).collect();
    let scores: Vec<f32> = (0..4000).map(|row| (row as f32 + 0.5) / 4000.0).collect();
    let data =
        Dataset::new(Scores::Binary(ScoreKind::Probability, scores.into()), Rows::new(&steep)).unwrap();
    let isotonic = fit(&data, &with(BinaryMethod::Isotonic(Isotonic::default()))).unwrap();
    assert_eq!(outside(&isotonic), None);
}

/// Where no theorem would hold, nothing is stored.
#[test]
fn weights_and_several_classifiers_have_no_intervals() {
    let scores = scores();
    let labels = labels(&scores);
    let weights: Vec<f64> = (0..N).map(|row| 1.0 + hash(row, 9)).collect();
    let isotonic = BinaryMethod::Isotonic(Isotonic::default());
    for rows in [Rows::new(&labels).weights(&weights[..]), Rows::new(&labels).classifiers(5)] {
        let data =
            Dataset::new(Scores::Binary(ScoreKind::Probability, scores.as_slice().into()), rows).unwrap();
        let fitted = fit(&data, &FitOptions::default().method(isotonic)).unwrap();
        assert_eq!(fitted.artifact.artifact().score_intervals(), None);
    }
    let data = Dataset::new(
        Scores::Binary(ScoreKind::Probability, scores.as_slice().into()),
        Rows::new(&labels).weights(&weights[..]),
    );
    let fitted = fit(&data.unwrap(), &with(isotonic)).unwrap();
    assert_eq!(fitted.artifact.artifact().score_intervals(), None);
}

/// Scores that are the probabilities cannot be improved: by chance a blend is worse beyond the noise, and that is a warning.
#[test]
fn a_blend_that_is_worse_than_the_scores_is_warned_of() {
    let (mut warned, mut quiet) = (0, 0);
    for set in 0..40_u64 {
        let scores: Vec<f32> = (0..400).map(|row| (row as f32 + 0.5) / 400.0).collect();
        let labels: Vec<i64> =
            scores.iter().enumerate().map(|(row, &p)| i64::from(hash(row, set) < p.into())).collect();
        let data =
            Dataset::new(Scores::Binary(ScoreKind::Probability, scores.into()), Rows::new(&labels)).unwrap();
        let fitted = fit(&data, &FitOptions::default()).unwrap();
        let FittedModel::Tables(tables) = &fitted.model else { panic!() };
        let gain = tables.blend_gain().expect("a blend");
        let warning = fitted.findings.iter().find(|finding| matches!(finding, Finding::Loss(_)));
        assert_eq!(warning.is_some(), gain.is_loss(), "{gain:?}");
        match warning {
            Some(warning) => {
                let text = warning.to_string();
                assert!(
                    text.starts_with("The blend is significantly worse") && text.contains("method=none"),
                    "{text}"
                );
                assert!(!warning.is_doubt());
                warned += 1;
            }
            None => quiet += 1,
        }
    }
    assert!(warned > 0 && quiet > 0, "{warned} {quiet}");
}
