//! Whole lives of devices with monitors that are switched off all the time: how many ever have a false alarm, and how soon a shift is found.

mod device;
mod report;
mod switch;

pub(crate) use device::calibrator;
pub use report::{LivesReport, Row};
pub use switch::Switch;

use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::SeedableRng;
use rayon::prelude::*;

use crate::faults::Scale;
use crate::lives::device::{Device, Population};

/// How many devices may ever have a false alarm: one in so many.
pub(crate) const RARITY: u32 = 20;
/// The save interval of the boards.
const EVERY: u32 = 64;

/// Who switches devices off, after how many predictions they save, and whether they are asked for counters after every prediction.
const CASES: [(Switch, u32, bool); 15] = [
    (Switch::Never, EVERY, false),
    (Switch::Every(1), EVERY, false),
    (Switch::Every(10), EVERY, false),
    (Switch::Every(40), EVERY, false),
    (Switch::Every(40), EVERY, true),
    (Switch::Every(60), EVERY, false),
    (Switch::Every(60), EVERY, true),
    (Switch::Every(63), EVERY, true),
    (Switch::Every(200), EVERY, false),
    (Switch::AtRandom(10), EVERY, true),
    (Switch::AtRandom(50), EVERY, true),
    (Switch::WhoSeesCounters, EVERY, true),
    (Switch::WhoSeesCounters, 1, true),
    (Switch::WhoSeesScores, 1, true),
    (Switch::WhoSeesScores, EVERY, true),
];

/// Lets devices live: with nothing wrong, and with scores of another population.
pub fn lives(scale: Scale) -> LivesReport {
    let (lives, length) = (scale.pick(40, 10_000, 10_000), scale.pick(600, 1500, 6000) as u32);
    let rows = CASES.into_iter().map(|case| {
        let (quiet, shifted) =
            (outcomes(case, false, lives, length), outcomes(case, true, lives / 10, length));
        Row::new(case, quiet, shifted)
    });
    LivesReport { lives, length, rows: rows.collect() }
}

/// After how many predictions each of so many devices has its first alarm.
fn outcomes(case: (Switch, u32, bool), is_shifted: bool, lives: usize, length: u32) -> Vec<Option<u32>> {
    let (switch, every, is_asked) = case;
    let live = |seed: usize| {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(seed as u64);
        let population = Population::new(&mut random, is_shifted);
        let mut device = Device::new(every);
        let mut operator = switch.operator();
        (1..=length).find(|_| {
            let bin = population.bin(&mut random);
            let is_alarmed = device.predict(bin, is_asked);
            if !is_alarmed && operator.switches_off(&mut device, bin, &mut random) {
                device.restart();
            }
            is_alarmed
        })
    };
    (0..lives).into_par_iter().map(live).collect()
}
