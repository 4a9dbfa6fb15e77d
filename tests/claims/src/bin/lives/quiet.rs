//! Lives with nothing wrong: how often there is an alarm.

use calib_core::monitor::{LogEvidence, ShiftMonitor};
use calib_fit::stats::clopper_pearson;
use rayon::prelude::*;

use crate::calibrated::{Calibrated, MOST, POINTS_OF_TABLE, TABLES, any_table, of_life, uniform};
use crate::exact::Exact;

/// How many predictions or outcomes a life has.
const PREDICTIONS: u32 = 20_000;
/// In so many lives of a kind the device's monitor counts, too.
const WITH_DEVICE: u32 = 100;
/// Of how many lives one may raise a false alarm of a shift.
const SHIFT: u32 = 20;

/// A line with the share of lives that had an alarm; whether the share may be what was guaranteed.
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

/// After which prediction of its own each of ten tables would raise the alarm of a shift: at its share of the level, and at all of it.
fn any_alarm(life: u32) -> [bool; 2] {
    let mut random = of_life(6_000_000, life);
    let calibrated = Calibrated::draw_tables(&mut random);
    let mut exact: Vec<Exact<'_>> = calibrated.iter().map(Exact::new).collect();
    let level = f64::from(SHIFT).ln();
    let divided = f64::from(SHIFT * TABLES as u32).ln();
    let mut seen = [false; 2];
    for _ in 0..PREDICTIONS {
        let table = any_table(&mut random);
        let log = exact[table].count(calibrated[table].bin(uniform(&mut random)));
        seen = [seen[0] || log >= divided, seen[1] || log >= level];
    }
    seen
}

/// Devices with several tables, whose scores come from where the calibration scores were.
pub(crate) fn tables(lives: u32) -> bool {
    println!(
        "no shift, {TABLES} tables of {POINTS_OF_TABLE} points, {PREDICTIONS} predictions among them: lives in which any table raises the alarm"
    );
    let seen: Vec<[bool; 2]> = (0..lives).into_par_iter().map(any_alarm).collect();
    let alarms = |at: usize| seen.iter().filter(|seen| seen[at]).count();
    let kept = told("each at a tenth of the level", alarms(0), lives, 1.0 / f64::from(SHIFT));
    println!("  each at all of it, as no calibrator is written: {} of {lives}", alarms(1));
    kept
}
