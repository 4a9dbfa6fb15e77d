//! Lives that never change: how long it takes until a change is told all the same.

use calib_core::monitor::{ChangeMonitor, LogEvidence, ShiftMonitor};
use calib_fit::stats::clopper_pearson;
use rayon::prelude::*;

use crate::calibrated::{Calibrated, MOST, POINTS_OF_TABLE, TABLES, any_table, of_life, uniform};

/// How many predictions are between two false alarms of a change.
const CHANGE: u32 = 10_000;
/// A life is cut here.
const CUT: u32 = 1_000_000;

/// How many predictions there are until a change is told that there was not; at most those until a life is cut.
fn until_a_change(n: usize, bins: usize, life: u32) -> u32 {
    let mut random = of_life(7_000_000 + (n * 100 + bins) as u64, life);
    let calibrated = Calibrated::draw(n, bins, &mut random);
    let reference = calibrated.reference();
    let (mut before, mut change) = (ShiftMonitor::<MOST>::new(), ChangeMonitor::<MOST>::new());
    let alarm = LogEvidence::of_one_in(CHANGE);
    let found = (1..=CUT).find(|_| {
        let bin = calibrated.bin(uniform(&mut random));
        let is_alarm = change.count(bin, &before, &reference, alarm);
        before.count(bin);
        is_alarm
    });
    found.unwrap_or(CUT)
}

/// The same of a device with a table for each class, into one of which a prediction falls. Every table takes as much evidence as one alone.
fn until_a_change_in_any_table(life: u32) -> u32 {
    let mut random = of_life(8_000_000, life);
    let calibrated = Calibrated::draw_tables(&mut random);
    let mut before: Vec<ShiftMonitor<MOST>> = (0..TABLES).map(|_| ShiftMonitor::new()).collect();
    let mut change: Vec<ChangeMonitor<MOST>> = (0..TABLES).map(|_| ChangeMonitor::new()).collect();
    let alarm = LogEvidence::of_one_in(CHANGE);
    let found = (1..=CUT).find(|_| {
        let table = any_table(&mut random);
        let of_table = &calibrated[table];
        let bin = of_table.bin(uniform(&mut random));
        let is_alarm = change[table].count(bin, &before[table], &of_table.reference(), alarm);
        before[table].count(bin);
        is_alarm
    });
    found.unwrap_or(CUT)
}

/// The least that the mean time may be, of these lives: but for a probability of 1 in 2000.
///
/// As lives are cut, their mean time has no upper bound, and its lower one needs no more than the share of lives that reach a time: by Markov's
/// inequality the mean is at least any time multiplied by the probability of reaching it, for which there is an exact interval. The times are fixed
/// in advance, and share the probability.
fn at_least(times: &[u32]) -> f64 {
    const FIXED: [u32; 5] = [20_000, 50_000, 100_000, 300_000, CUT];
    let lives = times.len() as u64;
    let bound = |&time: &u32| {
        let reached = times.iter().filter(|&&found| found >= time).count() as u64;
        f64::from(time) * clopper_pearson(reached, lives, 0.001 / FIXED.len() as f64).lo
    };
    FIXED.iter().map(bound).fold(0.0, f64::max)
}

/// Scores that never change; whether the mean time until an alarm is shown to be what was guaranteed.
pub(crate) fn changes(lives: u32) -> bool {
    // A life is fifty times as long as one of a shift.
    let lives = (lives / 50).max(20);
    println!(
        "no change: the mean time until a false alarm of the device, {lives} lives of a million predictions or until then; {CHANGE} or more \
         are guaranteed"
    );
    let mut kept = true;
    for n in [200, 1000, 5000] {
        for bins in [5, 10, 15] {
            let times = (0..lives).into_par_iter().map(|life| until_a_change(n, bins, life)).collect();
            kept &= told(&format!("n = {n}, B = {bins}"), times);
        }
    }
    let times = (0..lives).into_par_iter().map(until_a_change_in_any_table).collect();
    kept & told(&format!("{TABLES} tables of {POINTS_OF_TABLE} points, each at all of the level"), times)
}

/// Says what these lives show, and whether it is what was guaranteed.
fn told(what: &str, times: Vec<u32>) -> bool {
    let lives = times.len();
    let mean = times.iter().map(|&time| f64::from(time)).sum::<f64>() / lives as f64;
    let ended = times.iter().filter(|&&time| time < CUT).count();
    let least = at_least(&times);
    let holds = least >= f64::from(CHANGE);
    println!(
        "  {what}: {ended} of {lives} had one; the mean of lives that are cut {mean:.0}, and of whole lives at least {least:.0} with 99.95 % \
         confidence{}",
        if holds { "" } else { "  NOT SHOWN" }
    );
    holds
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Where hardly a life ends the bound is near the cut, and where lives end soon it is no more than they lasted.
    #[test]
    fn the_bound_is_below_the_mean() {
        assert!((at_least(&[CUT; 20]) - 0.0001f64.powf(0.05) * f64::from(CUT)).abs() < 1.0);
        let mixed: Vec<u32> = (1..=100).map(|life| life * 5000).collect();
        let least = at_least(&mixed);
        assert!(least > 50_000.0 && least < 252_500.0, "{least}");
        assert_eq!(at_least(&[CHANGE; 1000]), 0.0, "what is not shown is not said");
    }
}
