//! Lives with nothing wrong: how often there is an alarm.

use calib_core::ProbInterval;
use calib_core::monitor::{ChangeMonitor, LogEvidence, PromiseMonitor, ShiftMonitor};
use calib_fit::stats::clopper_pearson;
use rayon::prelude::*;

use crate::calibrated::{Calibrated, MOST, of_life, uniform};
use crate::exact::Exact;

/// How many predictions or outcomes a life has.
const PREDICTIONS: u32 = 20_000;
/// In so many lives of a kind the device's monitor counts, too.
const WITH_DEVICE: u32 = 100;
/// Of how many lives one may raise a false alarm of a shift, and of the promise.
const SHIFT: u32 = 20;
const PROMISE: u32 = 100;
/// How many predictions are between two false alarms of a change.
const CHANGE: u32 = 10_000;

/// A line with the share of lives that had an alarm; whether the share may be what was promised.
pub(crate) fn told(what: &str, alarms: usize, lives: u32, limit: f64) -> bool {
    // Surely: a dozen shares are looked at in every run.
    let interval = clopper_pearson(alarms as u64, lives.into(), 0.001);
    let kept = interval.lo <= limit;
    println!(
        "  {what:<28} {alarms:>5} of {lives}: {:.4} [{:.4}, {:.4}], at most {:.4}{}",
        alarms as f64 / f64::from(lives),
        interval.lo,
        interval.hi,
        limit,
        if kept { "" } else { "  BROKEN" }
    );
    kept
}

/// After which prediction the definition raises the alarm, and after which the device does.
struct Seen {
    exact: Option<u32>,
    device: Option<Option<u32>>,
}

fn shift(n: usize, bins: usize, life: u32) -> Seen {
    let mut random = of_life((n * 100 + bins) as u64, life);
    let calibrated = Calibrated::draw(n, bins, &mut random);
    let reference = calibrated.reference();
    let mut exact = Exact::new(&calibrated);
    let mut device = (life < WITH_DEVICE).then(ShiftMonitor::<MOST>::new);
    let (level, alarm) = (f64::from(SHIFT).ln(), LogEvidence::of_one_in(SHIFT));
    let mut seen = None;
    for prediction in 1..=PREDICTIONS {
        let bin = calibrated.bin(uniform(&mut random));
        if exact.count(bin) >= level && seen.is_none() {
            seen = Some(prediction);
        }
        if let Some(device) = &mut device {
            device.count(bin);
            device.look(&reference, alarm);
        } else if seen.is_some() {
            break;
        }
    }
    Seen { exact: seen, device: device.map(|device| device.alarm_at()) }
}

/// Scores from where the calibration scores were.
pub(crate) fn shifts(lives: u32) -> bool {
    println!(
        "no shift, {PREDICTIONS} predictions, looked at after every one: lives that ever raise the alarm"
    );
    let (mut kept, mut compared, mut earlier, mut latest) = (true, 0, 0, 0);
    for n in [200, 1000, 5000] {
        for bins in [5, 10, 15] {
            let seen: Vec<Seen> = (0..lives).into_par_iter().map(|life| shift(n, bins, life)).collect();
            let alarms = seen.iter().filter(|seen| seen.exact.is_some()).count();
            kept &= told(&format!("n = {n}, B = {bins}"), alarms, lives, 1.0 / f64::from(SHIFT));
            for (exact, device) in seen.iter().filter_map(|seen| Some((seen.exact, seen.device?))) {
                compared += 1;
                match (exact, device) {
                    (Some(exact), Some(device)) if device >= exact => latest = latest.max(device - exact),
                    (None, None) => {}
                    // Rounded down, evidence at the very level may be missed, and is never made.
                    (Some(_), None) => latest = PREDICTIONS,
                    _ => earlier += 1,
                }
            }
        }
    }
    println!(
        "  the device beside the definition, {compared} lives: alarms that it alone raises {earlier}, at most {latest} predictions later"
    );
    kept && earlier == 0
}

/// How many predictions there are until a change is told that there was not; at most a million.
fn until_a_change(n: usize, bins: usize, life: u32) -> u32 {
    const MOST_PREDICTIONS: u32 = 1_000_000;
    let mut random = of_life(7_000_000 + (n * 100 + bins) as u64, life);
    let calibrated = Calibrated::draw(n, bins, &mut random);
    let reference = calibrated.reference();
    let (mut before, mut change) = (ShiftMonitor::<MOST>::new(), ChangeMonitor::<MOST>::new());
    let alarm = LogEvidence::of_one_in(CHANGE);
    let found = (1..=MOST_PREDICTIONS).find(|_| {
        let bin = calibrated.bin(uniform(&mut random));
        let is_alarm = change.count(bin, &before, &reference, alarm);
        before.count(bin);
        is_alarm
    });
    found.unwrap_or(MOST_PREDICTIONS)
}

/// Scores that never change.
pub(crate) fn changes(lives: u32) -> bool {
    // A life is fifty times as long.
    let lives = (lives / 50).max(10);
    println!(
        "no change: the mean time until a false alarm of the device, {lives} lives of a million predictions or until then"
    );
    let mut kept = true;
    for (n, bins) in [(200, 5), (1000, 10), (5000, 15)] {
        let times: Vec<u32> = (0..lives).into_par_iter().map(|life| until_a_change(n, bins, life)).collect();
        let mean = times.iter().map(|&time| f64::from(time)).sum::<f64>() / f64::from(lives);
        let ended = times.iter().filter(|&&time| time < 1_000_000).count();
        let holds = mean >= f64::from(CHANGE);
        kept &= holds;
        println!(
            "  n = {n}, B = {bins}: {mean:.0} or more, {ended} of {lives} ended; at least {CHANGE}{}",
            if holds { "" } else { "  BROKEN" }
        );
    }
    kept
}

/// What is promised in ten bins.
pub(crate) fn promised() -> [Option<ProbInterval>; 10] {
    std::array::from_fn(|bin| {
        let middle = 0.05 + 0.1 * bin as f32;
        ProbInterval::new((middle - 0.073).max(0.0), (middle + 0.073).min(1.0))
    })
}

/// Whether the alarm is ever raised where every bin's truth is this far from the middle to the upper end of what was promised.
fn promise(part: f64, life: u32) -> bool {
    let mut random = of_life(8_000_000 + (part * 10.0) as u64, life);
    let promised = promised();
    let mut monitor = PromiseMonitor::<10>::new();
    let alarm = LogEvidence::of_one_in(PROMISE);
    for outcome in 1..=PREDICTIONS {
        let bin = (uniform(&mut random) * 10.0) as usize;
        let promise = promised[bin].expect("every bin has a promise");
        let (lo, hi) = (f64::from(promise.lo), f64::from(promise.hi));
        let truth = (lo + hi) / 2.0 + part * (hi - lo) / 2.0;
        monitor.count(bin, uniform(&mut random) < truth);
        if outcome % 10 == 0 {
            monitor.look(promised.into_iter(), alarm);
        }
        if monitor.alarm_at().is_some() {
            return true;
        }
    }
    false
}

/// Outcomes that are as frequent as was promised.
pub(crate) fn promises(lives: u32) -> bool {
    println!(
        "a promise that holds, {PREDICTIONS} outcomes, looked at after every tenth: lives that ever raise the alarm on the device"
    );
    let mut kept = true;
    for (part, name) in [(0.0, "in the middle of it"), (1.0, "at its upper end")] {
        let alarms = (0..lives).into_par_iter().filter(|&life| promise(part, life)).count();
        kept &= told(name, alarms, lives, 1.0 / f64::from(PROMISE));
    }
    kept
}
