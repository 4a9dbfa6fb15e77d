//! Guarantees that hold: how often their alarm is raised.

use calib_core::ProbInterval;
use calib_core::artifact::TableForm;
use calib_core::monitor::{GuaranteeMonitor, LogEvidence};
use rayon::prelude::*;

use crate::calibrated::{ALPHA, MOST, calibrator, of_life, uniform};
use crate::quiet::told;

/// How many outcomes a life has.
const OUTCOMES: u32 = 20_000;
/// Of how many lives with a guarantee that holds one may raise its alarm.
const GUARANTEE: u32 = 100;
/// How often the grid is looked at: a look takes longer than an outcome.
const LOOK_EVERY: u32 = 20;

/// What is guaranteed in ten bins.
pub(crate) fn guaranteed() -> [Option<ProbInterval>; 10] {
    std::array::from_fn(|bin| {
        let middle = 0.05 + 0.1 * bin as f32;
        ProbInterval::new((middle - 0.073).max(0.0), (middle + 0.073).min(1.0))
    })
}

/// Whether the alarm is ever raised where every bin's truth is this far from the middle to the upper end of what was guaranteed.
fn of_ten_bins(part: f64, life: u32) -> bool {
    let mut random = of_life(8_000_000 + (part * 10.0) as u64, life);
    let guaranteed = guaranteed();
    let mut monitor = GuaranteeMonitor::<10>::new();
    let alarm = LogEvidence::of_one_in(GUARANTEE);
    for outcome in 1..=OUTCOMES {
        let bin = (uniform(&mut random) * 10.0) as usize;
        let guarantee = guaranteed[bin].expect("every bin has a guarantee");
        let (lo, hi) = (f64::from(guarantee.lo), f64::from(guarantee.hi));
        let truth = (lo + hi) / 2.0 + part * (hi - lo) / 2.0;
        monitor.count(bin, uniform(&mut random) < truth);
        if outcome % 10 == 0 {
            monitor.look(guaranteed.into_iter(), alarm);
        }
        if monitor.alarm_at().is_some() {
            return true;
        }
    }
    false
}

/// Where the truth of a life is.
#[derive(Clone, Copy)]
enum Truth {
    /// Where the calibration rows came from: what was guaranteed may be wrong.
    AsCalibrated,
    /// At the upper end of what was guaranteed in every bin, or at the lower where nothing is above: the guarantee holds, and no more.
    AtTheEnd,
}

/// Whether the alarm is ever raised by a calibrator of its own of so many points and bins; with exact intervals or with an epsilon.
fn of_fit((n, bins): (usize, usize), intervals: bool, truth: Truth, life: u32) -> bool {
    let kind = 8_100_000 + (n * 100 + bins) as u64 * 4 + u64::from(intervals) * 2;
    let mut random = of_life(kind + u64::from(matches!(truth, Truth::AtTheEnd)), life);
    let stored = calibrator(n, bins, intervals, &mut random);
    let artifact = stored.artifact();
    let Some(TableForm::Steps(table)) = artifact.tables().get(0).map(|table| table.form) else {
        panic!("umd has steps")
    };
    let guaranteed: Vec<Option<ProbInterval>> =
        (0..bins).map(|bin| artifact.tables().guaranteed(0, bin as u16)).collect();
    let alarm = artifact.monitors().expect("asked for").alarms().guarantee;
    let mut monitor = GuaranteeMonitor::<MOST>::new();
    for outcome in 1..=OUTCOMES {
        let score = uniform(&mut random);
        let bin = table.edges().partition_point(|&edge| f64::from(edge) <= score);
        let prob = match (truth, guaranteed[bin]) {
            (Truth::AtTheEnd, Some(guarantee)) if guarantee.hi < 1.0 => guarantee.hi.into(),
            (Truth::AtTheEnd, Some(guarantee)) => guarantee.lo.into(),
            _ => score,
        };
        monitor.count(bin, uniform(&mut random) < prob);
        if outcome % LOOK_EVERY == 0 {
            monitor.look(guaranteed.iter().copied(), alarm);
            if monitor.alarm_at().is_some() {
                return true;
            }
        }
    }
    false
}

/// Outcomes that are as frequent as was guaranteed.
pub(crate) fn guarantees(lives: u32) -> bool {
    println!(
        "a guarantee that holds, {OUTCOMES} outcomes, looked at after every tenth: lives that ever raise the alarm on the device"
    );
    let mut kept = true;
    for (part, name) in [(0.0, "in the middle of it"), (1.0, "at its upper end")] {
        let alarms = (0..lives).into_par_iter().filter(|&life| of_ten_bins(part, life)).count();
        kept &= told(name, alarms, lives, 1.0 / f64::from(GUARANTEE));
    }
    let of_monitor = 1.0 / f64::from(GUARANTEE);
    for (truth, what, limit) in [
        (Truth::AtTheEnd, "what a fit guarantees, with the truth at the end of it", of_monitor),
        (Truth::AsCalibrated, "what a fit guarantees, with outcomes as in its points", ALPHA + of_monitor),
    ] {
        println!("{what}: {OUTCOMES} outcomes, looked at after every {LOOK_EVERY}th");
        for intervals in [false, true] {
            let kind = if intervals { "intervals" } else { "epsilon" };
            for n in [200, 1000, 5000] {
                for bins in [5, 10, 15] {
                    let is_alarm = |&life: &u32| of_fit((n, bins), intervals, truth, life);
                    let alarms = (0..lives).into_par_iter().filter(is_alarm).count();
                    kept &= told(&format!("n = {n}, B = {bins}, {kind}"), alarms, lives, limit);
                }
            }
        }
    }
    kept
}
