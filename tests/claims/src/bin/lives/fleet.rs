//! Fleets of devices, each of which sees too little: what their counters say together.

use calib_core::artifact::TableForm;
use calib_fit::artifact::StoredArtifact;
use calib_fit::fleet::{
    COUNTERS_VERSION, DeviceCounters, EvidenceLevel, FleetTable, TableCounters, aggregate,
};
use rand_xoshiro::Xoshiro256PlusPlus;
use rayon::prelude::*;

use crate::calibrated::{ALPHA, calibrator, of_life, uniform};
use crate::quiet::told;

/// Calibration points, and bins.
const N: usize = 5000;
const BINS: usize = 15;
/// Devices in a fleet, and predictions of each.
const DEVICES: usize = 1000;
const PREDICTIONS: usize = 100;
/// The share of predictions whose outcome becomes known.
const LABELED: f64 = 0.01;
/// What has changed since the calibration.
#[derive(Clone, Copy)]
struct Change {
    /// Scores U become U to the power of this.
    power: f64,
    /// By how much outcomes are more frequent.
    more: f64,
}

/// What a device counts.
fn device(
    stored: &StoredArtifact,
    name: usize,
    change: Change,
    random: &mut Xoshiro256PlusPlus,
) -> DeviceCounters {
    let artifact = stored.artifact();
    let Some(TableForm::Steps(table)) = artifact.tables().get(0).map(|table| table.form) else {
        panic!("umd has steps")
    };
    let edges = table.edges();
    let mut counters =
        TableCounters { predictions: vec![0; BINS], labeled: vec![0; BINS], positives: vec![0; BINS] };
    for _ in 0..PREDICTIONS {
        let score = uniform(random).powf(change.power);
        let bin = edges.partition_point(|&edge| f64::from(edge) <= score);
        counters.predictions[bin] += 1;
        if uniform(random) < LABELED {
            counters.labeled[bin] += 1;
            counters.positives[bin] += u64::from(uniform(random) < (score + change.more).min(1.0));
        }
    }
    DeviceCounters {
        calib_counters: COUNTERS_VERSION,
        device: name.to_string(),
        calibrator: artifact.identity().to_string(),
        tables: vec![Some(counters)],
    }
}

/// A fleet at the end of its life.
struct Seen {
    shift: bool,
    guarantee: bool,
    /// How many devices have an alarm about scores of their own.
    alone: usize,
    labeled: u64,
}

fn fleet(change: Change, life: u32) -> Seen {
    let mut random = of_life(9_800_000 + (change.power * 100.0 + change.more * 1000.0) as u64, life);
    let stored = calibrator(N, BINS, false, &mut random);
    let devices: Vec<DeviceCounters> =
        (0..DEVICES).map(|name| device(&stored, name, change, &mut random)).collect();
    let tables = aggregate(&stored.artifact(), &devices, 0.05).expect("the counters are the calibrator's");
    let [FleetTable { shift, guarantee, devices, bins, .. }] = &tables[..] else { panic!("one table") };
    let is_alarm = |standing: EvidenceLevel| standing == EvidenceLevel::Alarm;
    Seen {
        shift: is_alarm(shift.level()),
        guarantee: guarantee.is_some_and(|guarantee| is_alarm(guarantee.level())),
        alone: devices.iter().filter(|device| is_alarm(device.shift.level())).count(),
        labeled: bins.iter().map(|bin| bin.labeled).sum(),
    }
}

/// Prints what fleets see; whether quiet ones keep what was guaranteed.
pub(crate) fn fleets(lives: u32) -> bool {
    let fleets = (lives / 5).max(20);
    println!(
        "{fleets} fleets of {DEVICES} devices with {PREDICTIONS} predictions each, outcomes of {} % of them, n = {N}, B = {BINS}",
        100.0 * LABELED
    );
    let mut kept = true;
    for (what, change) in [
        ("nothing is wrong", Change { power: 1.0, more: 0.0 }),
        ("U becomes U^1.05", Change { power: 1.05, more: 0.0 }),
        ("U becomes U^1.1", Change { power: 1.1, more: 0.0 }),
        ("outcomes 0.2 more frequent", Change { power: 1.0, more: 0.2 }),
        ("outcomes 0.3 more frequent", Change { power: 1.0, more: 0.3 }),
    ] {
        let seen: Vec<Seen> = (0..fleets).into_par_iter().map(|life| fleet(change, life)).collect();
        let count = |is: fn(&Seen) -> bool| seen.iter().filter(|seen| is(seen)).count();
        let mean = |number: &dyn Fn(&Seen) -> f64| seen.iter().map(number).sum::<f64>() / f64::from(fleets);
        let (shifts, guarantees) = (count(|seen| seen.shift), count(|seen| seen.guarantee));
        println!(
            "  {what}: together scores {shifts}, outcomes {guarantees}; alone {:.1} of {DEVICES} devices, with {:.2} outcomes each",
            mean(&|seen| seen.alone as f64),
            mean(&|seen| seen.labeled as f64) / DEVICES as f64
        );
        if change.power == 1.0 && change.more == 0.0 {
            kept &= told("scores", shifts, fleets, 1.0 / 20.0);
            kept &= told("outcomes", guarantees, fleets, ALPHA + 1.0 / 100.0);
        }
    }
    kept
}
