//! Lives with something wrong: how soon it is noticed.

use calib_core::monitor::{ChangeMonitor, GuaranteeMonitor, LogEvidence, ShiftMonitor};
use rayon::prelude::*;

use crate::calibrated::{Calibrated, MOST, of_life, uniform};
use crate::guarantee::guaranteed;

const N: usize = 5000;
/// Where nothing was noticed until then, it never is.
const PREDICTIONS: u32 = 20_000;

/// The median, and how many of all there are.
fn median(mut found: Vec<Option<u32>>) -> String {
    let lives = found.len();
    let seen = found.iter().flatten().count();
    // What was never noticed is last.
    found.sort_by_key(|found| found.unwrap_or(u32::MAX));
    match found[lives / 2] {
        Some(median) => format!("{median} (median; noticed in {seen} of {lives})"),
        None => format!("not in half of the lives (noticed in {seen} of {lives})"),
    }
}

/// After how many predictions from `start` on, when scores U become U^k, a shift and a change are noticed on the device.
fn shifted(k: f64, start: u32, life: u32) -> [Option<u32>; 2] {
    let mut random = of_life(9_000_000 + (k * 100.0) as u64 + u64::from(start), life);
    let calibrated = Calibrated::draw(N, MOST, &mut random);
    let reference = calibrated.reference();
    let (mut shift, mut change) = (ShiftMonitor::<MOST>::new(), ChangeMonitor::<MOST>::new());
    let (of_shift, of_change) = (LogEvidence::of_one_in(20), LogEvidence::of_one_in(10_000));
    let mut changed = None;
    for prediction in 0..start + PREDICTIONS {
        let score = uniform(&mut random);
        let bin = calibrated.bin(if prediction < start { score } else { score.powf(k) });
        if change.count(bin, &shift, &reference, of_change) && prediction >= start && changed.is_none() {
            changed = Some(prediction + 1 - start);
        }
        shift.count(bin);
        shift.look(&reference, of_shift);
        if changed.is_some() && shift.alarm_at().is_some() {
            break;
        }
    }
    [shift.alarm_at().and_then(|at| at.checked_sub(start)), changed]
}

/// After how many outcomes it is noticed that every bin's truth is so far above the middle of what was guaranteed.
fn off(by: f64, life: u32) -> Option<u32> {
    let mut random = of_life(9_500_000 + (by * 100.0) as u64, life);
    let guaranteed = guaranteed();
    let mut monitor = GuaranteeMonitor::<10>::new();
    let alarm = LogEvidence::of_one_in(100);
    for _ in 0..PREDICTIONS {
        let bin = (uniform(&mut random) * 10.0) as usize;
        let truth = 0.05 + 0.1 * bin as f64 + by;
        monitor.count(bin, uniform(&mut random) < truth);
        monitor.look(guaranteed.into_iter(), alarm);
        if monitor.alarm_at().is_some() {
            break;
        }
    }
    monitor.alarm_at()
}

/// Prints how soon each monitor notices.
pub(crate) fn power(lives: u32) {
    let lives = lives.min(401);
    println!("n = {N}, B = {MOST}: predictions until scores U that became U^k are noticed on the device");
    for (k, start) in [(1.5, 0), (1.25, 0), (1.5, 4000)] {
        let found: Vec<_> = (0..lives).into_par_iter().map(|life| shifted(k, start, life)).collect();
        let of = |monitor: usize| median(found.iter().map(|found| found[monitor]).collect());
        println!("  k = {k} from prediction {start} on: shift {}, change {}", of(0), of(1));
    }
    println!("B = 10, epsilon 0.073: outcomes until a guarantee that does not hold is noticed on the device");
    for by in [0.3, 0.2, 0.15] {
        let found = (0..lives).into_par_iter().map(|life| off(by, life)).collect();
        println!("  every bin off by {by}: {}", median(found));
    }
}
