//! Any bytes as an artifact: refused, or safe to calibrate with.
#![no_main]

use std::iter::repeat;

use calib_core::artifact::{HeaderFlags, PREFIX_LEN, Reduction, ScoreBins, Table, TableForm};
use calib_core::decision::{Thresholds, Verdict};
use calib_core::predict::{Mismatch, Output, Predictor, Query};
use calib_core::score::TopLabelCode;
use calib_core::{
    Artifact, ArtifactBuffer, BinFlags, Calibrated, Calibrator, Logits, Margin, Outcome, ProbInterval, Probs,
    QuantizedScore, Score, TopLabel, TopLabelCodeMargin, TopLabelMargin, Uncalibrated, VectorCalibrator,
};
use calib_fuzz::repair;
use libfuzzer_sys::fuzz_target;

/// Room for libFuzzer's default of 4096 bytes.
type Aligned = ArtifactBuffer<1024>;

fuzz_target!(|data: &[u8]| {
    // As they lie, which may be misaligned.
    let _ = Artifact::parse(data);

    let mut bytes = data.to_vec();
    check(&bytes, data);
    bytes.resize(bytes.len().next_multiple_of(4).max(PREFIX_LEN), 0);
    repair(&mut bytes);
    check(&bytes, data);
});

/// Parses `bytes` both ways and calibrates the scores in `data` with what comes out.
fn check(bytes: &[u8], data: &[u8]) {
    let mut buffer = Aligned::new();
    if buffer.extend_from_slice(bytes).is_err() {
        return;
    }
    let file = Artifact::parse(buffer.as_bytes());
    let slot = Artifact::parse_slot(buffer.as_bytes());
    if let Ok(artifact) = &file {
        assert_eq!(slot.as_ref(), Ok(artifact), "a slot without a tail is a file");
    }
    let Ok(artifact) = slot else { return };
    assert!(artifact.len_bytes() <= bytes.len());
    check_decision(&artifact, data);
    // There are no more scores than that; every word is a margin, too, or its bits are no finite float's.
    for (score, word) in scores(data).chain(repeat(Score::ONE)).zip(words(data).chain([0, u32::MAX])) {
        use_all(&artifact, score, word);
        check_band(&artifact, score, word);
    }
}

/// Both ends, and every word that is a score: the edges of the tables are among them.
fn scores(data: &[u8]) -> impl Iterator<Item = Score> + '_ {
    let words = words(data).map(f32::from_bits);
    words.flat_map(|word| Score::new(word).ok()).chain([Score::ZERO, Score::ONE])
}

/// The last words.
fn words(data: &[u8]) -> impl Iterator<Item = u32> + '_ {
    data.as_chunks::<4>().0.iter().map(|&word| u32::from_le_bytes(word)).rev().take(64)
}

/// Decides at every word, and compares with a scan of the thresholds.
fn check_decision(artifact: &Artifact<'_>, data: &[u8]) {
    let Some(rule) = artifact.decision() else { return };
    assert_eq!(rule.actions().count(), rule.action_count());
    for prob in words(data).map(f32::from_bits).chain(rule.thresholds().iter().copied()) {
        let expected = match rule.thresholds().iter().filter(|&&threshold| threshold < prob).count() {
            interval if (0.0..=1.0).contains(&prob) => rule.intervals()[interval],
            _ => rule.uncalibrated(),
        };
        assert_eq!(rule.action_at(prob), expected, "{prob}");
        assert!(rule.action(expected).is_some());
    }
}

/// Compares the band with a scan of its edges.
fn check_band(artifact: &Artifact<'_>, score: Score, word: u32) {
    let Some(band) = artifact.band() else { return };
    let encoding = artifact.header().encoding;
    let margin = Margin::new(f32::from_bits(word)).unwrap_or_default();
    let is_rounded = artifact.header().flags.contains(HeaderFlags::COMPACT);
    let (key, found) = match QuantizedScore::from_key(encoding, word as u16) {
        Ok(code) => (code.key().into(), band.at_code(code)),
        Err(_) if encoding.is_quantized() => return,
        Err(_) if encoding.is_margin() => {
            (if is_rounded { margin.rounded_key().into() } else { margin.key() }, band.at(margin))
        }
        Err(_) => (if is_rounded { score.rounded_key().into() } else { score.to_bits() }, band.at(score)),
    };
    let [lo, hi] = [band.lower(), band.upper()].map(|side| {
        let step = side.edges().iter().filter(|&&edge| edge <= key).count();
        side.values().nth(step).expect("there is a value more than edges")
    });
    assert!(0.0 <= lo && lo <= hi && hi <= 1.0);
    assert_eq!(found, Some(ProbInterval { lo, hi }));
}

/// Calibrates with the tables of every group, and of one that is none.
fn use_all(artifact: &Artifact<'_>, score: Score, word: u32) {
    let count = artifact.tables().count();
    match artifact.calibrator() {
        Calibrator::None => assert_eq!(count, 0),
        Calibrator::Grouped => use_groups(artifact, score, word),
        calibrator => use_tables(artifact, &calibrator, count, score, word),
    }
    check_points(artifact, score, word);
    check_sets(artifact, score, word);
}

/// Predicts with the tables of every group, and of one that is none.
fn use_groups(artifact: &Artifact<'_>, score: Score, word: u32) {
    let header = artifact.header();
    let (groups, tables) = (artifact.groups().unwrap(), artifact.tables().count());
    let per_group = header.reduction.tables(header.classes).unwrap();
    assert_eq!((groups.count() * per_group, groups.names().count()), (tables, groups.count()));
    let classes = usize::from(header.classes);
    let is_binary = header.reduction == Reduction::Binary;
    let margin = Margin::new(f32::from_bits(word)).unwrap_or_default();
    let code = QuantizedScore::from_key(header.encoding, word as u16);
    for group in 0..=groups.count() {
        for class in 0..classes.min(4) {
            let mut row = vec![0.0; classes];
            let mut keys = vec![0; classes];
            (row[class], keys[class]) = (1.0, word as u16);
            let (output, key) = match (is_binary, header.encoding.is_margin(), &code) {
                (true, true, _) => (Output::Margin(margin), Key::Margin(margin, word)),
                (true, false, Ok(code)) => (Output::Code(*code), Key::Code(*code)),
                (true, false, Err(_)) => (Output::Score(score), Key::Score(score, word)),
                (false, true, _) => {
                    let Ok(logits) = Logits::new(&row) else { unreachable!("numbers are logits") };
                    (Output::Logits(logits), Key::Margin(logits.top_label_margin().margin, word))
                }
                (false, false, Err(_)) => {
                    let Ok(probs) = Probs::new(&row) else { unreachable!("they sum to 1") };
                    (Output::Probs(probs), Key::Score(Score::ONE, word))
                }
                (false, false, Ok(_)) if header.flags.contains(HeaderFlags::TOP2_MARGIN) => {
                    let Ok(top) = TopLabelCodeMargin::from_keys(header.encoding, &keys) else { continue };
                    let key = QuantizedScore::from_key(header.encoding, top.top2_margin()).unwrap();
                    (Output::TopLabelCodeMargin(top), Key::Code(key))
                }
                (false, false, Ok(_)) => {
                    let Ok(top) = TopLabelCode::from_keys(header.encoding, &keys) else { continue };
                    (Output::TopLabelCode(top), Key::Code(top.score()))
                }
            };
            let Ok(code) = u8::try_from(group) else { continue };
            let query = Query { output, group: Some(code), word: Some(word) };
            let predicted = Predictor::new(*artifact).calibrate(&query);
            if group == groups.count() {
                assert_eq!(predicted, Err(Mismatch::Group(code)));
                continue;
            }
            let predicted = predicted.unwrap();
            let index = if per_group == 1 { 0 } else { usize::from(predicted.class) };
            let table = TableBeside::of(artifact, group * per_group + index);
            check_outcome(predicted.outcome, table, key);
        }
    }
}

/// Compares verdicts with comparisons of keys.
fn check_points(artifact: &Artifact<'_>, score: Score, word: u32) {
    let Some(points) = artifact.operating_points() else { return };
    assert!(points.guarantees().count() > 0);
    let expected =
        |thresholds: Thresholds, key: u32| match (key >= thresholds.lower.key, key >= thresholds.upper.key) {
            (_, true) => Verdict::Positive,
            (true, false) => Verdict::Refer,
            (false, false) => Verdict::Negative,
        };
    for (group, thresholds) in points.all().enumerate() {
        if let Some(point) = points.point::<Score>(group) {
            assert_eq!(point.verdict(score), expected(thresholds, score.to_bits()));
        } else if let (Some(point), Ok(margin)) =
            (points.point::<Margin>(group), Margin::new(f32::from_bits(word)))
        {
            assert_eq!(point.verdict(margin), expected(thresholds, margin.key()));
        } else if let (Some(point), Ok(code)) =
            (points.code_point(group), QuantizedScore::from_key(points.encoding(), word as u16))
        {
            assert_eq!(point.verdict(code).unwrap(), expected(thresholds, code.key().into()));
        }
    }
    assert!(points.thresholds(points.groups()).is_none());
}

/// Sets hold classes alone, and the predicted one where that is stated.
fn check_sets(artifact: &Artifact<'_>, score: Score, word: u32) {
    let Some(sets) = artifact.prediction_sets() else { return };
    let classes = usize::from(sets.classes());
    let any = Margin::new(f32::from_bits(word)).unwrap_or_default().get();
    let row: Vec<f32> = (0..classes).map(|class| if class % 2 == 0 { any } else { score.get() }).collect();
    let keys: Vec<u16> = (0..classes).map(|class| if class % 2 == 0 { word as u16 } else { 7 }).collect();
    let found = [
        sets.of_score(score),
        Margin::new(any).ok().and_then(|margin| sets.of_margin(margin)),
        Logits::new(&row).ok().and_then(|logits| sets.of_logits(logits)),
        sets.of_keys(&keys).ok(),
    ];
    for set in found.into_iter().flatten() {
        assert!(set.classes().all(|class| usize::from(class) < classes));
        assert!(!sets.never_empty() || !set.is_empty());
    }
}

/// Calibrates with every table of a part and one too many, and compares with a scan of the table.
fn use_tables(artifact: &Artifact<'_>, calibrator: &Calibrator<'_>, count: usize, score: Score, word: u32) {
    for class in 0..=u16::try_from(count).unwrap() {
        let is_table = usize::from(class) < count;
        let table = if is_table { TableBeside::of(artifact, class.into()) } else { None };
        let top = TopLabel { class, score };
        let margin = Margin::new(f32::from_bits(word)).unwrap_or_default();
        match *calibrator {
            Calibrator::TopLabel(calibrator) => {
                let table = table_of(artifact, count, class, calibrator.classes());
                check_outcome(calibrator.calibrate(top), table, Key::Score(score, u32::MAX));
                check_outcome(calibrator.calibrate_with(top, word), table, Key::Score(score, word));
            }
            Calibrator::Binary(calibrator) if class == 0 => {
                check_outcome(calibrator.calibrate(score), table, Key::Score(score, u32::MAX));
                check_outcome(calibrator.calibrate_with(score, word), table, Key::Score(score, word));
            }
            Calibrator::TopLabelCode(calibrator) => {
                let Ok(code) = QuantizedScore::from_key(calibrator.encoding(), word as u16) else { continue };
                let table = table_of(artifact, count, class, calibrator.classes());
                check_outcome(calibrator.calibrate(class, code).unwrap(), table, Key::Code(code));
            }
            Calibrator::BinaryCode(calibrator) if class == 0 => {
                let Ok(code) = QuantizedScore::from_key(calibrator.encoding(), word as u16) else { continue };
                check_outcome(calibrator.calibrate(code).unwrap(), table, Key::Code(code));
            }
            Calibrator::BinaryMargin(calibrator) if class == 0 => {
                check_outcome(calibrator.calibrate(margin), table, Key::Margin(margin, u32::MAX));
                check_outcome(calibrator.calibrate_with(margin, word), table, Key::Margin(margin, word));
            }
            Calibrator::TopLabelMargin(calibrator) => {
                let table = table_of(artifact, count, class, calibrator.classes());
                let top = TopLabelMargin { class, margin };
                check_outcome(calibrator.calibrate(top), table, Key::Margin(margin, u32::MAX));
                check_outcome(calibrator.calibrate_with(top, word), table, Key::Margin(margin, word));
            }
            Calibrator::TopLabelCodeMargin(calibrator) => {
                let mut keys = vec![0; calibrator.classes()];
                keys.iter_mut().skip(class.into()).take(1).for_each(|key| *key = word as u16);
                let Ok(top) = TopLabelCodeMargin::from_keys(calibrator.encoding(), &keys) else { continue };
                let top2_margin = QuantizedScore::from_key(calibrator.encoding(), top.top2_margin()).unwrap();
                let table = table_of(artifact, count, top.class(), calibrator.classes());
                check_outcome(calibrator.calibrate(top).unwrap(), table, Key::Code(top2_margin));
            }
            Calibrator::TopK(calibrator) => {
                let classes = calibrator.classes();
                let by_class = matches!(artifact.header().reduction, Reduction::TopKLabel { .. });
                let index = usize::from(class);
                let (rank, class) = if by_class { (index / classes, index % classes) } else { (index, 0) };
                let top = TopLabel { class: class as u16, score };
                let outcome = calibrator.calibrate(rank as u16, top, Some(word));
                check_outcome(outcome, table, Key::Score(score, word));
            }
            Calibrator::Vector(VectorCalibrator::ClassWise(calibrator)) => {
                check_outcome(calibrator.calibrate(class, score, Some(word)), table, Key::Score(score, word));
            }
            Calibrator::Vector(VectorCalibrator::Normalized(calibrator)) if class == 0 => {
                normalized(artifact, calibrator.classes(), score, word);
            }
            Calibrator::Vector(calibrator @ (VectorCalibrator::Scaled(_) | VectorCalibrator::Binned(_))) => {
                joint(artifact, &calibrator, score, word)
            }
            Calibrator::Vector(_) => {}
            Calibrator::Binary(_) | Calibrator::BinaryMargin(_) | Calibrator::BinaryCode(_) => {
                assert!(table.is_none());
            }
            other => unreachable!("{other:?}"),
        }
    }
}

/// The table of a predicted class: one may serve all classes, of which there may be more or fewer than tables.
fn table_of<'a>(
    artifact: &Artifact<'a>,
    count: usize,
    class: u16,
    classes: usize,
) -> Option<TableBeside<'a>> {
    let index = if count == 1 { 0 } else { usize::from(class) };
    if usize::from(class) < classes && index < count { TableBeside::of(artifact, index) } else { None }
}

/// A table with the ranges of the score beside it.
#[derive(Clone, Copy)]
struct TableBeside<'a> {
    table: Table<'a>,
    beside: Option<ScoreBins<'a>>,
    is_rounded: bool,
}

impl<'a> TableBeside<'a> {
    fn of(artifact: &Artifact<'a>, index: usize) -> Option<Self> {
        let table = artifact.tables().get(index)?;
        let beside =
            artifact.score_intervals().map(|found| found.table(index).expect("each table has ranges"));
        assert_eq!(beside, artifact.tables().score_bins(index));
        Some(Self { table, beside, is_rounded: artifact.header().flags.contains(HeaderFlags::COMPACT) })
    }
}

/// A calibrator of whole vectors gives every class a probability, or none if the vector's cell is empty.
fn joint(artifact: &Artifact<'_>, calibrator: &VectorCalibrator<'_>, score: Score, word: u32) {
    let any = f32::from_bits(word);
    let any = if any.is_finite() { any } else { 0.0 };
    let row: Vec<f32> =
        (0..calibrator.classes()).map(|class| if class % 2 == 0 { any } else { score.get() }).collect();
    let Ok(vector) = Logits::new(&row) else { unreachable!("finite numbers are logits") };
    let mut space = vec![0.0; calibrator.space()];
    let probs = calibrator.calibrate(vector.into(), None, &mut space).unwrap();
    let is_empty = probs.flags().contains(BinFlags::EMPTY);
    let is_right = |prob: Option<f32>| prob.map_or(is_empty, |prob| !is_empty && (0.0..=1.0).contains(&prob));
    assert!(probs.iter().all(is_right), "{probs:?}");
    assert_eq!(probs.bin().is_some(), matches!(calibrator, VectorCalibrator::Binned(_)));
    assert!(probs.bin().is_none_or(|bin| u32::from(bin) < artifact.header().bins));
}

/// Probabilities of all classes sum to one over those that are calibrated, if any is; a flag tells of the others.
fn normalized(artifact: &Artifact<'_>, classes: usize, score: Score, word: u32) {
    let Calibrator::Vector(calibrator) = artifact.calibrator() else { unreachable!("it was one") };
    let rest = (1.0 - score.get()) / (classes - 1) as f32;
    let row: Vec<f32> = (0..classes).map(|class| if class == 0 { score.get() } else { rest }).collect();
    let Ok(vector) = Probs::new(&row) else { return };
    let mut space = vec![0.0; classes];
    let probs = calibrator.calibrate(vector.into(), Some(word), &mut space).unwrap();
    let sum: f32 = probs.iter().flatten().sum();
    let calibrated = probs.iter().flatten().count();
    assert!(if calibrated > 0 { (sum - 1.0).abs() < 1e-3 } else { sum == 0.0 }, "{sum}");
    let is_shared_out = probs.flags().contains(BinFlags::SHARED_OUT);
    assert_eq!(is_shared_out, (1..classes).contains(&calibrated), "{probs:?}");
}

/// What a table was asked for.
#[derive(Clone, Copy)]
enum Key {
    /// A score and a random word, which is the highest if there was none.
    Score(Score, u32),
    /// A margin and a random word, likewise.
    Margin(Margin, u32),
    Code(QuantizedScore),
}

fn check_outcome(outcome: Outcome, table: Option<TableBeside<'_>>, key: Key) {
    match outcome {
        Outcome::Calibrated(got) => check_calibrated(got, table, key),
        Outcome::Uncalibrated(Uncalibrated::EmptyBin) => assert!(table.is_some()),
        Outcome::Uncalibrated(why) => assert!(table.is_none() && why == Uncalibrated::Class),
    }
}

fn check_calibrated(got: Calibrated, asked: Option<TableBeside<'_>>, key: Key) {
    let TableBeside { table, beside, is_rounded } = asked.expect("what is calibrated has a table");
    assert!((0.0..=1.0).contains(&got.prob), "{got:?}");
    assert!(got.epsilon.is_none_or(|epsilon| epsilon > 0.0 && epsilon.is_finite()), "{got:?}");
    let form = table.form;
    if let Some(ranges) = beside {
        let key = match key {
            Key::Score(score, _) if is_rounded => score.rounded_key().into(),
            Key::Score(score, _) => score.to_bits(),
            Key::Margin(margin, _) if is_rounded => margin.rounded_key().into(),
            Key::Margin(margin, _) => margin.key(),
            Key::Code(code) => code.key().into(),
        };
        let bin = ranges.edges().iter().filter(|&&edge| edge <= key).count();
        assert_eq!((usize::from(got.bin), got.interval), (bin, ranges.interval(bin)));
        return;
    }
    assert!(got.interval.is_none_or(|interval| interval.contains(got.prob)), "{got:?}");
    let bin = usize::from(got.bin);
    assert!(bin < form.bins().max(1), "{got:?}");
    match (form, key) {
        (TableForm::Steps(steps), Key::Score(score, _)) => {
            assert_eq!(bin, steps.edges().iter().filter(|&&edge| edge <= score.get()).count());
            assert_eq!(steps.values().nth(bin), Some(got.prob));
        }
        (TableForm::Randomized(steps), Key::Score(score, word)) => {
            let pairs = steps.edges().iter().zip(steps.ties());
            assert_eq!(bin, pairs.filter(|(edge, tie)| (**edge, **tie) <= (score.get(), word)).count());
            assert_eq!(steps.values().nth(bin), Some(got.prob));
        }
        (TableForm::Interpolated(knots), Key::Score(score, _)) => {
            assert_eq!(bin, knots.x().iter().filter(|&&x| x <= score.get()).count());
            let y = |i: usize| knots.y()[i.min(knots.y().len() - 1)];
            assert!((y(bin.saturating_sub(1))..=y(bin)).contains(&got.prob), "{got:?}");
        }
        (TableForm::VennAbers(bins), Key::Score(score, _)) => {
            assert_eq!(bin, bins.edges().iter().filter(|&&edge| edge <= score.get()).count());
            let interval = got.interval.expect("every bin has both probabilities");
            assert_eq!((bins.p0().nth(bin), bins.p1().nth(bin)), (Some(interval.lo), Some(interval.hi)));
        }
        (TableForm::Scaling(_), Key::Score(..)) => assert_eq!(bin, 0),
        (TableForm::MarginSteps(steps), Key::Margin(margin, _)) => {
            assert_eq!(bin, steps.edges().iter().filter(|&&edge| edge <= margin.get()).count());
            assert_eq!(steps.values().nth(bin), Some(got.prob));
        }
        (TableForm::MarginRandomized(steps), Key::Margin(margin, word)) => {
            let pairs = steps.edges().iter().zip(steps.ties());
            assert_eq!(bin, pairs.filter(|(edge, tie)| (**edge, **tie) <= (margin.get(), word)).count());
            assert_eq!(steps.values().nth(bin), Some(got.prob));
        }
        (TableForm::MarginInterpolated(knots), Key::Margin(margin, _)) => {
            assert_eq!(bin, knots.x().iter().filter(|&&x| x <= margin.get()).count());
            let y = |i: usize| knots.y()[i.min(knots.y().len() - 1)];
            assert!((y(bin.saturating_sub(1))..=y(bin)).contains(&got.prob), "{got:?}");
        }
        (TableForm::MarginVennAbers(bins), Key::Margin(margin, _)) => {
            assert_eq!(bin, bins.edges().iter().filter(|&&edge| edge <= margin.get()).count());
            let interval = got.interval.expect("every bin has both probabilities");
            assert_eq!((bins.p0().nth(bin), bins.p1().nth(bin)), (Some(interval.lo), Some(interval.hi)));
        }
        (TableForm::MarginScaling(_), Key::Margin(..)) => assert_eq!(bin, 0),
        (TableForm::Compact(steps), key) => {
            let key = match key {
                Key::Score(score, _) => score.rounded_key(),
                Key::Margin(margin, _) => margin.rounded_key(),
                Key::Code(code) => code.key(),
            };
            assert_eq!(bin, steps.edges().iter().filter(|&&edge| edge <= key).count());
            assert_eq!(steps.values().nth(bin), Some(got.prob));
        }
        (TableForm::Codes(codes), Key::Code(code)) => {
            let key = u32::from(code.key());
            assert_eq!(bin, codes.edges().iter().filter(|&&edge| edge <= key).count());
            assert_eq!(codes.values().nth(bin), Some(got.prob));
        }
        (form, _) => unreachable!("a score of one encoding reached {form:?}"),
    }
}
