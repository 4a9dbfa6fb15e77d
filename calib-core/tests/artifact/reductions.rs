//! Every reduction: which tables it has, and what calibrating a vector gives, against the definition.

use calib_core::artifact::{
    Guarantee, Header, HeaderFlags, Method, Reduction, Table, TableFault, TableForm, Theorem,
};
use calib_core::score::{ClassCountError, MAX_TOP_K};
use calib_core::vector::VectorError;
use calib_core::{
    Artifact, BinFlags, Calibrated, Calibrator, Logits, Outcome, ParseError, Probs, Score, ScoreEncoding,
    ScoreVector, StepTable, TopLabel, Uncalibrated, VectorCalibrator,
};
use proptest::prelude::*;

use crate::forge::{PROVENANCE, aligned, refusal, write};
use crate::test_size::{cases, step};

const EPSILON: f32 = 0.125;

/// A table of two bins, or none: every third one but the first is missing.
#[derive(Clone, Copy)]
struct Bins {
    edge: [f32; 1],
    values: [f32; 2],
}

fn bins(table: usize) -> Option<Bins> {
    let share = ((table * 37) % 97) as f32 / 97.0;
    (table % 3 != 2)
        .then_some(Bins { edge: [0.05 + share / 3.0], values: [share / 4.0, (1.0 + share) / 2.0] })
}

/// What the table of this index says to a score.
fn expected(table: usize, score: f32, epsilon: Option<f32>) -> Outcome {
    let Some(Bins { edge, values }) = bins(table) else { return Outcome::Uncalibrated(Uncalibrated::Class) };
    let bin = u16::from(score >= edge[0]);
    Outcome::Calibrated(Calibrated {
        prob: values[usize::from(bin)],
        bin,
        epsilon,
        flags: BinFlags::NONE,
        interval: None,
    })
}

fn header(reduction: Reduction, classes: u16, tables: usize) -> Header<'static> {
    let calibrated = (0..tables).filter_map(bins).count();
    let guarantee = Guarantee { theorem: Theorem::Gr21Theorem3, alpha: 0.1, epsilon: EPSILON };
    Header {
        method: Method::Umd,
        reduction,
        encoding: ScoreEncoding::F32,
        classes,
        bins: 2 * calibrated as u32,
        n: 1000,
        guarantee: Some(guarantee).filter(|_| reduction != Reduction::Normalized),
        flags: if calibrated < tables { HeaderFlags::CLASS_UNCALIBRATED } else { HeaderFlags::NONE },
        provenance: PROVENANCE,
    }
}

fn artifact(header: &Header<'_>, tables: usize) -> Vec<u8> {
    let numbers: Vec<Option<Bins>> = (0..tables).map(bins).collect();
    let tables: Vec<Option<Table<'_>>> = numbers
        .iter()
        .map(|bins| {
            let bins = bins.as_ref()?;
            let form = TableForm::Steps(StepTable::new(&bins.edge, &bins.values).unwrap());
            Some(Table { form, epsilon: header.guarantee.map(|guarantee| guarantee.epsilon) })
        })
        .collect();
    write(header, &tables, &[])
}

fn reductions(classes: u16) -> Vec<(Reduction, usize)> {
    let (l, k) = (usize::from(classes), classes.min(5));
    vec![
        (Reduction::TopLabel, l),
        (Reduction::Confidence, 1),
        (Reduction::ClassWise, l),
        (Reduction::Normalized, l),
        (Reduction::TopKLabel { k }, usize::from(k) * l),
        (Reduction::TopKConfidence { k }, usize::from(k)),
    ]
}

/// The classes in descending order of value, equal ones in ascending order.
fn order(values: &[f32]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_by(|&a, &b| values[b].partial_cmp(&values[a]).unwrap());
    order
}

/// Compares everything an artifact says to a vector with the definition; `values` are logits or probabilities.
fn check(artifact: &Artifact<'_>, vector: ScoreVector<'_>, values: &[f32]) -> Result<(), TestCaseError> {
    let scores: Vec<f32> = vector.scores().map(|score| score.get()).collect();
    let order = order(values);
    let reduction = artifact.header().reduction;
    let classes = values.len();
    let epsilon = Some(EPSILON);
    let wrong = Err(ClassCountError { expected: classes, got: 2 });
    let two = ScoreVector::Probs(Probs::new(&[0.5, 0.5]).unwrap());
    match artifact.calibrator() {
        Calibrator::TopLabel(calibrator) => {
            let top = vector.top_label();
            prop_assert_eq!(usize::from(top.class), order[0]);
            let table = if reduction == Reduction::Confidence { 0 } else { order[0] };
            prop_assert_eq!(calibrator.calibrate(top), expected(table, scores[order[0]], epsilon));
            prop_assert_eq!(calibrator.classes(), classes);
        }
        Calibrator::TopK(calibrator) => {
            let k = reduction.top_k().unwrap();
            let got: Vec<_> = calibrator.calibrate_all(vector, None).unwrap().collect();
            prop_assert_eq!(got.len(), k);
            for (rank, ((top, outcome), &class)) in got.into_iter().zip(&order).enumerate() {
                let by_class = matches!(reduction, Reduction::TopKLabel { .. });
                let table = if by_class { rank * classes + class } else { rank };
                prop_assert_eq!((usize::from(top.class), top.score.get()), (class, scores[class]));
                prop_assert_eq!(outcome, expected(table, scores[class], epsilon));
            }
            prop_assert!(classes == 2 || calibrator.calibrate_all(two, None).map(|_| ()) == wrong);
        }
        Calibrator::Vector(calibrator) => {
            let mut space = vec![f32::NAN; classes];
            let short = calibrator.calibrate(vector, None, &mut space[1..]).map(|_| ());
            let length = |got| Err(VectorError::Length(ClassCountError { expected: classes, got }));
            prop_assert_eq!(short, length(classes - 1));
            let other = calibrator.calibrate(two, None, &mut space).map(|_| ());
            prop_assert!(classes == 2 || other == length(2));
            let outcomes: Vec<Outcome> =
                scores.iter().enumerate().map(|(class, &score)| expected(class, score, epsilon)).collect();
            let raw = |outcome: &Outcome| match outcome {
                Outcome::Calibrated(calibrated) => Some(calibrated.prob),
                Outcome::Uncalibrated(_) => None,
            };
            let probs = calibrator.calibrate(vector, None, &mut space).unwrap();
            prop_assert_eq!(probs.classes(), classes);
            let top = vector.top_label();
            match calibrator {
                VectorCalibrator::ClassWise(class_wise) => {
                    prop_assert!(probs.iter().eq(outcomes.iter().map(raw)));
                    prop_assert!(
                        class_wise.calibrate_all(vector, None).unwrap().eq(outcomes.iter().copied())
                    );
                    // What is guaranteed of the class is not about the predictions of it.
                    let without_epsilon = expected(order[0], scores[order[0]], None);
                    prop_assert_eq!(calibrator.outcome(top, None, probs), without_epsilon);
                }
                VectorCalibrator::Normalized(_) => {
                    let sum: f32 = outcomes.iter().filter_map(raw).sum();
                    prop_assert!(probs.iter().eq(outcomes.iter().map(|o| raw(o).map(|prob| prob / sum))));
                    let total: f32 = probs.iter().flatten().sum();
                    prop_assert!((total - 1.0).abs() < 1e-4);
                    let shared_out = outcomes.iter().any(|outcome| raw(outcome).is_none());
                    let flags = if shared_out { BinFlags::SHARED_OUT } else { BinFlags::NONE };
                    prop_assert_eq!(probs.flags(), flags);
                    let got = calibrator.outcome(top, None, probs);
                    prop_assert_eq!(raw(&got), raw(&outcomes[order[0]]).map(|prob| prob / sum));
                    match got {
                        Outcome::Calibrated(c) => prop_assert_eq!((c.epsilon, c.flags), (None, flags)),
                        Outcome::Uncalibrated(why) => prop_assert_eq!(why, Uncalibrated::Class),
                    }
                }
                other => prop_assert!(false, "{:?}", other),
            }
        }
        other => prop_assert!(false, "{:?}", other),
    }
    Ok(())
}

const MOST_CLASSES: u16 = 1000 / step(100) as u16;

proptest! {
    #![proptest_config(ProptestConfig::with_cases(cases(48)))]

    #[test]
    fn every_reduction_does_what_its_definition_says(
        classes in prop_oneof![Just(2u16), Just(3), Just(10), Just(100), Just(1000)]
            .prop_map(|classes| classes.min(MOST_CLASSES)),
        seed in proptest::collection::vec(-8i8..8, usize::from(MOST_CLASSES)),
    ) {
        // Coarse logits, so that ties are the rule.
        let logits: Vec<f32> = seed.iter().take(classes.into()).map(|&z| f32::from(z) / 2.0).collect();
        let mut probs = vec![0.0; logits.len()];
        let vector = Logits::new(&logits).unwrap();
        vector.write_softmax(&mut probs).unwrap();
        for (reduction, tables) in reductions(classes) {
            prop_assert_eq!(reduction.tables(classes), Some(tables));
            let bytes = artifact(&header(reduction, classes, tables), tables);
            let buffer = aligned(&bytes);
            let parsed = Artifact::parse(buffer.as_bytes()).unwrap();
            check(&parsed, vector.into(), &logits)?;
            check(&parsed, Probs::new(&probs).unwrap().into(), &probs)?;
        }
    }
}

/// Nobody knows how classes share the probability if each has the probability 0.
#[test]
fn nothing_at_all_is_not_shared() {
    let steps = StepTable::new(&[0.5], &[0.0, 1.0]).unwrap();
    let table = Some(Table { form: TableForm::Steps(steps), epsilon: None });
    let header =
        Header { bins: 6, flags: HeaderFlags::CLASS_UNCALIBRATED, ..header(Reduction::Normalized, 4, 4) };
    let bytes = write(&header, &[table, table, None, table], &[]);
    let buffer = aligned(&bytes);
    let parsed = Artifact::parse(buffer.as_bytes()).unwrap();
    let Calibrator::Vector(calibrator) = parsed.calibrator() else { panic!("not a vector's") };
    let mut space = [0.0; 4];
    let row = [0.25; 4];
    let top = |class| TopLabel { class, score: Score::new(row[usize::from(class)]).unwrap() };
    let probs = calibrator.calibrate(Probs::new(&row).unwrap().into(), None, &mut space).unwrap();
    assert_eq!(probs.iter().collect::<Vec<_>>(), [None; 4]);
    assert_eq!((probs.get(2), probs.get(4), probs.bin()), (None, None, None));
    let reasons = [0, 2].map(|class| calibrator.outcome(top(class), None, probs));
    assert_eq!(reasons, [Uncalibrated::ZeroSum, Uncalibrated::Class].map(Outcome::Uncalibrated));
}

/// An empty bin of one class is no probability of that class, and the others' are flagged.
#[test]
fn a_class_in_an_empty_bin_has_no_part() {
    let steps = StepTable::new(&[0.5], &[0.25, 0.75]).unwrap();
    let table = Some(Table { form: TableForm::Steps(steps), epsilon: None });
    for reduction in [Reduction::Normalized, Reduction::ClassWise] {
        let header = Header { bins: 6, flags: HeaderFlags::NONE, guarantee: None, ..header(reduction, 3, 3) };
        let bytes = write(&header, &[table; 3], &[0, 1, 0, 0, 0, 0]);
        let buffer = aligned(&bytes);
        let parsed = Artifact::parse(buffer.as_bytes()).unwrap();
        let Calibrator::Vector(calibrator) = parsed.calibrator() else { panic!("not a vector's") };
        let mut space = [0.0; 3];
        let is_normalized = reduction == Reduction::Normalized;
        let rows = [
            ([0.75, 0.125, 0.125], [None, Some(0.25), Some(0.25)]),
            ([0.25, 0.625, 0.125], [Some(0.25), Some(0.75), Some(0.25)]),
        ];
        for (row, expected) in rows {
            let vector = Probs::new(&row).unwrap().into();
            let probs = calibrator.calibrate(vector, None, &mut space).unwrap();
            let sum: f32 = if is_normalized { expected.iter().flatten().sum() } else { 1.0 };
            assert!(probs.iter().eq(expected.map(|prob| prob.map(|prob: f32| prob / sum))));
            let shared_out = is_normalized && expected[0].is_none();
            assert_eq!(probs.flags(), if shared_out { BinFlags::SHARED_OUT } else { BinFlags::NONE });
            let outcome = calibrator.outcome(vector.top_label(), None, probs);
            let empty = Outcome::Uncalibrated(Uncalibrated::EmptyBin);
            assert_eq!(outcome == empty, expected[0].is_none(), "{outcome:?}");
        }
    }
}

#[test]
fn the_number_of_tables_is_the_reductions() {
    assert_eq!(Reduction::Binary.tables(3), None);
    assert_eq!(Reduction::Binary.tables(2), Some(1));
    assert_eq!(Reduction::ClassWise.tables(1), None);
    for k in [0, 4, 17, u16::MAX] {
        assert_eq!(Reduction::TopKLabel { k }.tables(3), None);
        assert_eq!(Reduction::TopKConfidence { k }.tables(3), None);
    }
    assert_eq!(Reduction::TopKLabel { k: MAX_TOP_K as u16 }.tables(1000), Some(16_000));
    for (reduction, tables) in reductions(7) {
        let bytes = artifact(&header(reduction, 7, tables), tables);
        assert_eq!(refusal(&bytes), None, "{reduction}");
        for other in [tables - 1, tables + 1].into_iter().filter(|&other| other > 0) {
            // As if the header were right and a table were missing, or there were one too many.
            let bytes = artifact(&header(reduction, 7, other), other);
            let expected = ParseError::Table { table: 0, fault: TableFault::Count };
            assert_eq!(refusal(&bytes), Some(expected), "{reduction} with {other} tables");
        }
    }
}

#[test]
fn what_a_reduction_cannot_have_is_refused() {
    let of = |reduction, change: fn(&mut Header<'static>)| {
        let tables = Reduction::tables(reduction, 3).unwrap();
        let mut header = header(reduction, 3, tables);
        change(&mut header);
        let mut buf = [0u8; 4096];
        calib_core::artifact::ArtifactWriter::new(&mut buf).header(&header)
    };
    let guaranteed: fn(&mut Header<'static>) = |header| {
        header.guarantee = Some(Guarantee { theorem: Theorem::Gr21Theorem3, alpha: 0.1, epsilon: EPSILON });
    };
    let theorem_1: fn(&mut Header<'static>) = |header| {
        header.guarantee = Some(Guarantee { theorem: Theorem::Gr22Theorem1, alpha: 0.1, epsilon: EPSILON });
    };
    let theorem_2: fn(&mut Header<'static>) = |header| {
        header.guarantee = Some(Guarantee { theorem: Theorem::Gr22Theorem2, alpha: 0.1, epsilon: EPSILON });
    };
    let tied: fn(&mut Header<'static>) = |header| header.flags = header.flags.with(HeaderFlags::TIES_MERGED);
    let codes: fn(&mut Header<'static>) =
        |header| header.encoding = ScoreEncoding::U8 { scale: 0.004, zero_point: 0 };
    let ranks = |k| [Reduction::TopKLabel { k }, Reduction::TopKConfidence { k }];
    for reduction in
        [Reduction::TopLabel, Reduction::Confidence, Reduction::ClassWise].into_iter().chain(ranks(2))
    {
        assert!(of(reduction, guaranteed).is_ok(), "{reduction}");
        assert_eq!(of(reduction, theorem_1).is_ok(), reduction == Reduction::TopLabel, "{reduction}");
        assert_eq!(of(reduction, theorem_2).is_ok(), reduction == Reduction::ClassWise, "{reduction}");
        // Ties in the only table leave nothing to guarantee.
        assert_eq!(of(reduction, tied).is_ok(), reduction != Reduction::Confidence, "{reduction}");
        let takes_codes = matches!(reduction, Reduction::TopLabel | Reduction::Confidence);
        assert_eq!(of(reduction, codes).is_ok(), takes_codes, "{reduction}");
    }
    assert!(of(Reduction::Normalized, |_| ()).is_ok());
    assert!(of(Reduction::Normalized, guaranteed).is_err());
}
