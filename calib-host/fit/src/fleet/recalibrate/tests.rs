//! Calibrators from counted outcomes, and which are refused.

use calib_core::artifact::MonitorAction;
use calib_core::{Calibrator, Outcome, Score};
use proptest::prelude::*;
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use super::*;
use crate::artifact::{ArtifactOptions, MonitorBins, Monitoring, artifact_bytes, guarantee_text};
use crate::binary::{BinaryMethod, FixedWidth, Isotonic, ScalingMethod, Umd, Ums};
use crate::data::{BinaryData, RowsDigest, VectorKind, Vectors};
use crate::fit::{Fit, fit_binary};
use crate::fleet::counters::is_full;
use crate::fleet::{COUNTERS_VERSION, FleetError};
use crate::reduction::{Problems, ReductionOptions, fit_reduction};

const HOW: Recalibration = Recalibration { alpha: 0.1, alpha_spent: 0.0, counter: 3, data_sha256: [7; 32] };

fn data() -> BinaryData {
    let scores = (0..1999).map(|i| f64::from(i) / 2048.0).collect();
    BinaryData::new(scores, (0..1999).map(|i| (i * 7919) % 1999 < i).collect()).unwrap().on_device()
}

fn of_fit(fit: &Fit, bins: Option<MonitorBins>) -> StoredArtifact {
    let action = (fit.reduction != Reduction::Normalized).then_some(MonitorAction::Alarm);
    let monitors = Some(Monitoring { bins, action, ..Monitoring::default() });
    let bytes = artifact_bytes(
        fit,
        &ArtifactOptions { monitors, counter: 2, rows: Some(RowsDigest::default()), ..Default::default() },
    );
    StoredArtifact::from_bytes(&bytes.unwrap()).unwrap()
}

fn stored(method: &BinaryMethod) -> StoredArtifact {
    let fit = fit_binary(&data(), method, 0.1).unwrap();
    let own = (fit.method != Method::Umd).then(|| MonitorBins::of(&data(), 4).unwrap());
    of_fit(&fit, own)
}

fn umd() -> StoredArtifact {
    stored(&BinaryMethod::Umd(Umd::new(4)))
}

fn device(stored: &StoredArtifact, name: &str, tables: &[[&[u64]; 3]]) -> DeviceCounters {
    let table = |counts: &[&[u64]; 3]| {
        let [predictions, labeled, positives] = counts.map(<[u64]>::to_vec);
        Some(TableCounters { predictions, labeled, positives })
    };
    DeviceCounters {
        calib_counters: COUNTERS_VERSION,
        device: name.into(),
        calibrator: stored.artifact().identity().to_string(),
        tables: tables.iter().map(table).collect(),
    }
}

fn made(after: &Recalibrated) -> StoredArtifact {
    StoredArtifact::from_bytes(&after.bytes).unwrap()
}

#[test]
fn the_values_are_the_shares_of_all_devices() {
    let before = umd();
    let devices = [
        device(&before, "a", &[[&[90, 80, 99, 95], &[40, 30, 20, 0], &[4, 9, 10, 0]]]),
        device(&before, "b", &[[&[50, 50, 50, 50], &[10, 10, 20, 0], &[0, 1, 5, 0]]]),
        device(&before, "c", &[[&[9, 9, 9, 9], &[], &[]]]),
    ];
    let after = recalibrated(&before, &devices, &[], &HOW).unwrap();
    let bins: Vec<_> = after.tables[0].iter().map(|bin| (bin.bin.n, bin.bin.positives)).collect();
    assert_eq!(bins, [(50, 4), (40, 10), (40, 15), (0, 0)]);
    assert_eq!((&after.shifted[..], &after.contradicted[..]), (&[][..], &[][..]));
    let stored = made(&after);
    let artifact = stored.artifact();
    let header = artifact.header();
    assert_eq!((artifact.counter(), header.n, header.method), (3, 130, Method::Umd));
    assert_eq!(header.provenance.data_sha256, [7; 32]);
    let parent = before.artifact().identity();
    assert_eq!(
        header.provenance.parameters,
        format!("alpha=0.1 bins=4 boundary=ceil counting-devices=3 alpha-spent=0.1 parent={parent}")
    );
    // What was known of the rows is of the fit before.
    assert!(before.sample().is_some() && stored.sample().is_none());
    // The device answers the shares, with their intervals, and nothing where no outcome is known.
    let Calibrator::Binary(calibrator) = artifact.calibrator() else { panic!("one score") };
    for (score, known) in [(0.1, Some((4, 50))), (0.4, Some((10, 40))), (0.6, Some((15, 40))), (0.9, None)] {
        let outcome = calibrator.calibrate(Score::new(score).unwrap());
        let Some((positives, n)) = known else {
            assert!(matches!(outcome, Outcome::Uncalibrated(..)), "{outcome:?}");
            continue;
        };
        let found = outcome.calibrated().unwrap();
        assert_eq!(found.prob, positives as f32 / n as f32);
        let exact = clopper_pearson(positives, n, stated_alpha(0.1) / 4.0);
        let interval = artifact.tables().interval(0, found.bin).unwrap();
        assert!(f64::from(interval.lo) <= exact.lo && f64::from(interval.hi) >= exact.hi);
        assert!((f64::from(interval.lo) - exact.lo).abs() + (f64::from(interval.hi) - exact.hi).abs() < 1e-6);
        let epsilon = f64::from(header.guarantee.unwrap().epsilon);
        assert!(
            f64::from(found.prob - interval.lo) <= epsilon && f64::from(interval.hi - found.prob) <= epsilon
        );
    }
    // Monitors go on comparing with the calibration scores, and a second time alpha is spent once more.
    assert_eq!(artifact.monitors().unwrap().reference(0).unwrap().gaps(), 2000);
    let again = [device(&stored, "a", &[[&[90, 90, 90, 90], &[60, 60, 60, 60], &[5, 15, 25, 50]]])];
    let again = made(&recalibrated(&stored, &again, &[], &Recalibration { alpha: 0.05, ..HOW }).unwrap());
    let parameters = again.artifact().header().provenance.parameters.to_owned();
    let parent = artifact.identity();
    assert_eq!(
        parameters,
        format!("alpha=0.05 bins=4 boundary=ceil counting-devices=1 alpha-spent=0.2 parent={parent}")
    );
    assert_eq!(again.artifact().counter(), 3);
    let guarantee = guarantee_text(&again);
    assert!(guarantee.statement.contains("240 outcomes that 1 device counted"), "{}", guarantee.statement);
    assert!(guarantee.assumptions.iter().any(|a| a.short.contains("time set in advance")), "{guarantee}");
    assert!(guarantee.limits.iter().any(|l| l.short.contains("in the field (0.2)")), "{guarantee}");
}

/// The fit that knows every row has the same values and intervals, where its edges are as fixed.
#[test]
fn counts_make_what_the_rows_with_fixed_edges_make() {
    let before = stored(&BinaryMethod::FixedWidth(FixedWidth { bins: 5 }));
    let mut random = Xoshiro256PlusPlus::seed_from_u64(1);
    let scores: Vec<f64> = (0..700).map(|_| f64::from(random.random::<f32>())).collect();
    let labels: Vec<bool> = scores.iter().map(|&score| random.random_bool(score * score)).collect();
    let (mut labeled, mut positives) = (vec![0; 5], vec![0; 5]);
    for (&score, &label) in scores.iter().zip(&labels) {
        let bin = (0..4).take_while(|&edge| score >= f64::from((edge + 1) as f32 / 5.0)).count();
        labeled[bin] += 1;
        positives[bin] += u64::from(label);
    }
    let rows = BinaryData::new(scores, labels).unwrap().on_device();
    let fit = fit_binary(&rows, &BinaryMethod::FixedWidth(FixedWidth { bins: 5 }), 0.1).unwrap();
    let table = fit.tables[0].as_ref().unwrap();
    let devices = [device(&before, "a", &[[&[175; 4], &labeled, &positives]])];
    let after = recalibrated(&before, &devices, &[], &HOW).unwrap();
    let bins: Vec<Bin> = after.tables[0].iter().map(|bin| bin.bin).collect();
    assert_eq!(bins, table.model.bins());
    let intervals: Vec<Interval> = after.tables[0].iter().map(|bin| bin.interval).collect();
    assert_eq!(intervals, table.intervals);
    // Byte for byte what the device reads of both: the table and its intervals.
    let options = ArtifactOptions { intervals: true, ..Default::default() };
    let of_rows = StoredArtifact::from_bytes(&artifact_bytes(&fit, &options).unwrap()).unwrap();
    let section = |stored: &StoredArtifact, kind: SectionKind| {
        stored.sections().find(|(found, ..)| *found == kind as u16).map(|(.., payload)| payload.to_vec())
    };
    let stored = made(&after);
    assert!(section(&stored, SectionKind::Intervals).is_some());
    assert_eq!(section(&stored, SectionKind::Intervals), section(&of_rows, SectionKind::Intervals));
    let values = |stored: &StoredArtifact| values(&stored.artifact().tables().get(0).unwrap().form);
    assert_eq!(values(&stored), values(&of_rows));
    let edges = |stored: &StoredArtifact| match stored.artifact().tables().get(0).unwrap().form {
        TableForm::Steps(table) => table.edges().to_vec(),
        form => panic!("{form:?}"),
    };
    assert_eq!(edges(&stored), edges(&of_rows));
}

/// All intervals hold in the share of fleets that is guaranteed, although the truth is another one than that of the calibration.
#[test]
fn the_intervals_of_all_bins_hold_as_often_as_guaranteed() {
    let before = stored(&BinaryMethod::Ums(Ums { bins: 5, seed: 3 }));
    let edges = match before.artifact().tables().get(0).unwrap().form {
        TableForm::Steps(table) => table.edges().to_vec(),
        form => panic!("{form:?}"),
    };
    let bin = |score: f64| edges.iter().take_while(|&&edge| score >= f64::from(edge)).count();
    // Scores are uniform, and P(Y | score) is the score's square: in a bin its mean.
    let ends: Vec<f64> = [0.0].into_iter().chain(edges.iter().map(|&e| e.into())).chain([1.0]).collect();
    let truth: Vec<f64> =
        ends.windows(2).map(|e| (e[1].powi(3) - e[0].powi(3)) / (3.0 * (e[1] - e[0]))).collect();
    let mut random = Xoshiro256PlusPlus::seed_from_u64(4);
    let (fleets, alpha) = (2000, 0.2);
    let mut outside = 0;
    for _ in 0..fleets {
        let (mut labeled, mut positives) = (vec![0; 5], vec![0; 5]);
        for _ in 0..300 {
            let score: f64 = random.random();
            labeled[bin(score)] += 1;
            positives[bin(score)] += u64::from(random.random_bool(score * score));
        }
        let devices = [device(&before, "a", &[[&[75; 4], &labeled, &positives]])];
        let after = recalibrated(&before, &devices, &[], &Recalibration { alpha, ..HOW }).unwrap();
        let bins = after.tables[0].iter().zip(&truth);
        let is_outside =
            |(bin, &truth): (&RecalibratedBin, &f64)| truth < bin.interval.lo || truth > bin.interval.hi;
        outside += u64::from(bins.filter(|&of| is_outside(of)).count() > 0);
        let artifact = made(&after);
        let epsilon = f64::from(artifact.artifact().header().guarantee.unwrap().epsilon);
        let is_within = |bin: &RecalibratedBin| {
            let value = f64::from(bin.bin.value as f32);
            value - bin.interval.lo <= epsilon && bin.interval.hi - value <= epsilon
        };
        assert!(after.tables[0].iter().all(is_within));
    }
    let share = clopper_pearson(outside, fleets, 1e-6);
    assert!(share.lo <= alpha, "{outside} of {fleets}");
    // Exact intervals are cautious, and not idle.
    assert!(share.hi >= alpha / 10.0, "{outside} of {fleets}");
}

#[test]
fn only_what_was_counted_since_is_used() {
    let before = umd();
    let then = [device(&before, "a", &[[&[40; 4], &[9, 9, 9, 9], &[0, 0, 9, 9]]])];
    let now = [
        device(&before, "a", &[[&[90; 4], &[29, 29, 29, 29], &[2, 5, 19, 25]]]),
        device(&before, "b", &[[&[90; 4], &[20, 20, 20, 20], &[1, 6, 11, 17]]]),
    ];
    let after = recalibrated(&before, &now, &then, &HOW).unwrap();
    let bins: Vec<_> = after.tables[0].iter().map(|bin| (bin.bin.n, bin.bin.positives)).collect();
    assert_eq!(bins, [(40, 3), (40, 11), (40, 21), (40, 33)]);
    let refused = |then: DeviceCounters| recalibrated(&before, &now, &[then], &HOW).unwrap_err();
    let gone = device(&before, "c", &[[&[1; 4], &[], &[]]]);
    assert_eq!(refused(gone), RecalibrateError::Gone("c".into()));
    let back = RecalibrateError::Back { device: "a".into(), table: 0 };
    for counts in [
        [&[91, 0, 0, 0][..], &[0; 4][..], &[0; 4][..]],
        [&[90; 4], &[29, 30, 29, 29], &[2, 5, 19, 25]],
        // As many outcomes, and more of them positive.
        [&[90; 4], &[29; 4], &[3, 5, 19, 25]],
        // Fewer negatives, as many positives more.
        [&[90; 4], &[28; 4], &[0, 5, 19, 25]],
    ] {
        assert_eq!(refused(device(&before, "a", &[counts])), back, "{counts:?}");
    }
    let twice = [then[0].clone(), then[0].clone()];
    assert_eq!(
        recalibrated(&before, &now, &twice, &HOW),
        Err(RecalibrateError::Fleet(FleetError::Twice("a".into())))
    );
    // Nothing since.
    assert_eq!(recalibrated(&before, &then, &then, &HOW), Err(RecalibrateError::NoOutcome));
}

#[test]
fn what_is_not_sound_is_refused() {
    let counts: [&[u64]; 3] = [&[50; 4], &[20; 4], &[1, 5, 11, 17]];
    let method = |method: &BinaryMethod| {
        let before = stored(method);
        let bins = before.artifact().tables().get(0).unwrap().form.bins();
        let (labeled, positives) = (vec![1; bins.min(100)], vec![0; bins.min(100)]);
        let counts: [&[u64]; 3] =
            if bins == 0 || bins > 100 { [&[50; 4], &[], &[]] } else { [&[50; 4], &labeled, &positives] };
        let devices = [device(&before, "a", &[counts])];
        recalibrated(&before, &devices, &[], &HOW)
    };
    let isotonic =
        method(&BinaryMethod::Isotonic(Isotonic { max_bins: Some(5), smoothing: 0.0 })).unwrap_err();
    assert_eq!(isotonic, RecalibrateError::Method(Method::Irp));
    assert!(isotonic.to_string().contains("rise with the score"), "{isotonic}");
    let platt = method(&BinaryMethod::Scaling(ScalingMethod::PlattLogit)).unwrap_err();
    assert!(platt.to_string().contains("platt has no bins"), "{platt}");
    let lot = method(&BinaryMethod::UmdRandomized(Umd::new(4), 1)).unwrap_err();
    assert_eq!(lot, RecalibrateError::Method(Method::UmdRandomized));
    assert!(method(&BinaryMethod::Ums(Ums { bins: 4, seed: 1 })).is_ok());

    let before = umd();
    let good = device(&before, "a", &[counts]);
    let refused = |devices: &[DeviceCounters], how: Recalibration| {
        recalibrated(&before, devices, &[], &how).unwrap_err()
    };
    assert!(recalibrated(&before, std::slice::from_ref(&good), &[], &HOW).is_ok());
    assert!(matches!(refused(&[], HOW), RecalibrateError::Fleet(FleetError::Empty)));
    let twice = [good.clone(), good.clone()];
    assert!(matches!(refused(&twice, HOW), RecalibrateError::Fleet(FleetError::Twice(_))));
    let other = DeviceCounters { calibrator: "00".repeat(8), ..good.clone() };
    assert!(matches!(refused(&[other], HOW), RecalibrateError::Fleet(FleetError::Calibrator { .. })));
    assert!(matches!(
        refused(std::slice::from_ref(&good), Recalibration { alpha: 1.0, ..HOW }),
        RecalibrateError::Fit(_)
    ));
    for none in [[&[50; 4][..], &[], &[]], [&[50; 4], &[0; 4], &[0; 4]]] {
        assert_eq!(refused(&[device(&before, "a", &[none])], HOW), RecalibrateError::NoOutcome);
    }
    let plain = artifact_bytes(
        &fit_binary(&data(), &BinaryMethod::Umd(Umd::new(4)), 0.1).unwrap(),
        &Default::default(),
    );
    let plain = StoredArtifact::from_bytes(&plain.unwrap()).unwrap();
    assert_eq!(
        recalibrated(&plain, &[good], &[], &HOW),
        Err(RecalibrateError::Fleet(FleetError::NoMonitors))
    );
}

#[test]
fn divided_probabilities_are_the_shares_of_no_bin() {
    let rows = (0..90u16).flat_map(|row| [f32::from(row) / 90.0, f32::from(row * 37 % 89) / 64.0, 0.5]);
    let logits = Vectors::new(rows.collect(), 3, VectorKind::Logits).unwrap();
    let labels: Vec<i64> = (0..90).map(|row| row % 3).collect();
    let problems = Problems::new(&logits, &labels, Reduction::Normalized).unwrap();
    let options = ReductionOptions { method: BinaryMethod::Umd(Umd::new(2)), rows_per_bin: None };
    let before = of_fit(&fit_reduction(&problems, &options, 0.1).unwrap(), None);
    let counts: [&[u64]; 3] = [&[9, 9], &[5, 5], &[1, 4]];
    let devices = [device(&before, "a", &[counts; 3])];
    assert_eq!(recalibrated(&before, &devices, &[], &HOW), Err(RecalibrateError::Normalized));
}

#[test]
fn a_counter_that_is_full_is_told_by_its_count() {
    let all = u64::from(u32::MAX);
    for bins in 1..256 {
        assert!(is_full(all / bins), "{bins}");
        assert!(!is_full(all / bins - 1), "{bins}");
    }
    assert!(!is_full(0) && !is_full(65_535) && !is_full(all / 256));
    let before = umd();
    let full = u64::from(u32::MAX / 16);
    for counts in
        [[&[full, 1, 1, 1][..], &[1; 4][..], &[0; 4][..]], [&[9, full, 9, 9], &[9, full, 9, 9], &[0; 4]]]
    {
        let devices = [device(&before, "a", &[counts])];
        assert_eq!(
            recalibrated(&before, &devices, &[], &HOW),
            Err(RecalibrateError::Full { device: "a".into(), table: 0 })
        );
    }
}

#[test]
fn what_is_done_on_an_alarm_stays_with_the_monitors() {
    let before = umd();
    let devices = [device(&before, "a", &[[&[60; 4], &[40; 4], &[0, 10, 20, 40]]])];
    let after = made(&recalibrated(&before, &devices, &[], &HOW).unwrap());
    assert_eq!(after.artifact().monitor_action(), Some(MonitorAction::Alarm));
    assert!(after.artifact().monitors().is_some());
}

/// And nothing that is done on their alarm.
/// A bin without outcomes has no probability, and a device counts it anyway: it is found by edges of the monitors' own.
#[test]
fn a_bin_without_outcomes_is_still_counted() {
    let margins = {
        let scores = (0..1999).map(|i| f64::from(i) - 1000.0).collect();
        let labels = (0..1999).map(|i| (i * 7919) % 1999 < i).collect();
        let data = BinaryData::of_margins(scores, labels).unwrap().on_device();
        of_fit(&fit_binary(&data, &BinaryMethod::Umd(Umd::new(4)), 0.1).unwrap(), None)
    };
    for before in [umd(), margins] {
        let all = |last: u64| [device(&before, "a", &[[&[90; 4], &[40, 30, 20, last], &[4, 9, 10, last]]])];
        // Where every bin has outcomes the section stays as it is.
        let same = made(&recalibrated(&before, &all(1), &[], &HOW).unwrap());
        let after = made(&recalibrated(&before, &all(0), &[], &HOW).unwrap());
        let (artifact, old) = (after.artifact(), before.artifact());
        let (now, then) = (artifact.monitors().unwrap(), old.monitors().unwrap());
        assert_eq!(same.artifact().monitors(), Some(then));
        assert_eq!((now.reference(0), now.rarities()), (then.reference(0), then.rarities()));
        assert_eq!(artifact.monitor_action(), Some(MonitorAction::Alarm));
        let keys = now.own_edges(0).unwrap();
        assert_eq!((keys.len(), then.own_edges(0)), (3, None));
        for (bin, &key) in keys.iter().enumerate() {
            let (score, below) = match Margin::from_key(key) {
                Some(margin) if old.header().encoding.is_margin() => {
                    (f64::from(margin.get()), Margin::from_key(key - 1).unwrap().get().into())
                }
                _ => (f64::from(f32::from_bits(key)), f64::from(f32::from_bits(key - 1))),
            };
            // The table's bin changes where the monitors' does.
            let of_table = |score: f64| match old.tables().get(0).unwrap().form {
                TableForm::Steps(table) => table.lookup(Score::new(score as f32).unwrap()).0,
                TableForm::MarginSteps(table) => table.lookup(Margin::new(score as f32).unwrap()).0,
                form => panic!("{form:?}"),
            };
            assert_eq!((of_table(below), of_table(score)), (bin as u16, bin as u16 + 1));
            assert_eq!((now.own_bin(0, key - 1), now.own_bin(0, key)), (Some(bin), Some(bin + 1)));
        }
    }
    // Bins of their own stay so.
    let before = stored(&BinaryMethod::FixedWidth(FixedWidth { bins: 5 }));
    let devices = [device(&before, "a", &[[&[90; 4], &[40, 30, 20, 20, 0], &[4, 9, 10, 10, 0]]])];
    let after = made(&recalibrated(&before, &devices, &[], &HOW).unwrap());
    assert_eq!(after.artifact().monitors(), before.artifact().monitors());
}

#[test]
fn shifted_scores_leave_no_monitors() {
    let before = umd();
    let devices = [device(&before, "a", &[[&[0, 0, 20, 200], &[0, 0, 20, 100], &[0, 0, 11, 80]]])];
    let after = recalibrated(&before, &devices, &[], &HOW).unwrap();
    assert_eq!(after.shifted, [0]);
    let made = made(&after);
    assert!(made.artifact().monitors().is_none() && made.artifact().monitor_action().is_none());
}

/// One table a predicted class: alpha is divided among the bins of all, and a class without outcomes is uncalibrated.
#[test]
fn a_class_without_outcomes_is_uncalibrated() {
    let predicted: Vec<u16> = (0..600).map(|row| row % 3).collect();
    let scores: Vec<f64> = (0..600).map(|row| f64::from(348 + row) / 1024.0).collect();
    let labels: Vec<i64> = (0..600).map(|row| if row % 5 == 0 { 0 } else { row % 3 }).collect();
    let rows = Problems::of_predictions(&predicted, &scores, &labels, 4).unwrap();
    let options = ReductionOptions { method: BinaryMethod::Umd(Umd::new(2)), rows_per_bin: None };
    let before = of_fit(&fit_reduction(&rows, &options, 0.1).unwrap(), None);
    let counts = |labeled: &'static [u64], positives: &'static [u64]| -> [&'static [u64]; 3] {
        [&[60, 60], labeled, positives]
    };
    let mut counted =
        device(&before, "a", &[counts(&[30, 30], &[20, 25]), counts(&[], &[]), counts(&[40, 0], &[10, 0])]);
    counted.tables.push(None);
    let after = recalibrated(&before, &[counted], &[], &HOW).unwrap();
    let stored = made(&after);
    let tables = stored.artifact();
    let tables = tables.tables();
    assert!(tables.get(3).is_none() && after.tables[3].is_empty());
    let empty = |table, bin| tables.bin_flags(table, bin).contains(BinFlags::EMPTY);
    assert_eq!(
        [empty(0, 0), empty(0, 1), empty(1, 0), empty(1, 1), empty(2, 0), empty(2, 1)],
        [false, false, true, true, false, true]
    );
    let (artifact, old) = (stored.artifact(), before.artifact());
    let (monitors, then) = (artifact.monitors().unwrap(), old.monitors().unwrap());
    for table in 0..4 {
        assert_eq!(monitors.reference(table), then.reference(table));
        assert_eq!(monitors.own_edges(table).map(<[u32]>::len), then.reference(table).map(|_| 1));
    }
    // Six bins share alpha, whichever have outcomes.
    assert_eq!(after.tables[2][0].interval, clopper_pearson(10, 40, stated_alpha(0.1) / 6.0));
    assert_eq!(stored.artifact().header().n, 100);
    let largest = [0, 1, 2].map(|table| tables.get(table).unwrap().epsilon.unwrap());
    assert_eq!(stored.artifact().header().guarantee.unwrap().epsilon, largest[1]);
    assert!(largest[0] != largest[2] && largest[1] == largest[0].max(largest[2]));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// What is made is an artifact whose intervals hold their values, and epsilon is as far as the farthest end.
    #[test]
    fn intervals_hold_their_values(counts in proptest::collection::vec((0u64..5000, 0u64..5000), 4)) {
        let before = umd();
        let (labeled, positives): (Vec<u64>, Vec<u64>) = counts.iter().map(|&(a, b)| (a + b, b)).unzip();
        let devices = [device(&before, "a", &[[&[10_000; 4], &labeled, &positives]])];
        let after = recalibrated(&before, &devices, &[], &HOW);
        if labeled.iter().all(|&n| n == 0) {
            prop_assert_eq!(after, Err(RecalibrateError::NoOutcome));
            return Ok(());
        }
        let stored = made(&after.unwrap());
        let artifact = stored.artifact();
        let epsilon = artifact.header().guarantee.unwrap().epsilon;
        let mut farthest = 0f32;
        for (bin, value) in values(&artifact.tables().get(0).unwrap().form).into_iter().enumerate() {
            let interval = artifact.tables().interval(0, bin as u16);
            prop_assert_eq!(interval.is_some(), labeled[bin] > 0);
            let Some(interval) = interval else { continue };
            prop_assert!(interval.lo <= value && value <= interval.hi);
            farthest = farthest.max(value - interval.lo).max(interval.hi - value);
        }
        prop_assert!((farthest - epsilon).abs() <= 1e-6 && epsilon < 1.0);
    }
}
