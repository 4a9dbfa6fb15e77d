//! Lives of devices: how often monitors raise an alarm with nothing wrong, and how soon with something.
//!
//! Not under Miri, which would take hours.
#![cfg(not(miri))]

use calib_core::ProbInterval;
use calib_core::monitor::{ChangeMonitor, GuaranteeMonitor, LogEvidence, Reference, ShiftMonitor};

const BINS: usize = 5;

/// Uniform numbers: SplitMix64.
struct Uniform(u64);

impl Iterator for Uniform {
    type Item = f64;

    fn next(&mut self) -> Option<f64> {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        Some(((z ^ (z >> 31)) >> 11) as f64 / (1u64 << 53) as f64)
    }
}

/// A calibration set's edges, and how many of its gaps are between them.
struct Calibrated {
    edges: Vec<f64>,
    gaps: [u32; BINS],
}

impl Calibrated {
    /// Uniform-mass bins of so many scores.
    fn draw(n: usize, uniform: &mut Uniform) -> Self {
        let mut scores: Vec<f64> = uniform.take(n).collect();
        scores.sort_by(f64::total_cmp);
        let rank = |bin: usize| (bin * (n + 1)).div_ceil(BINS);
        let gaps = core::array::from_fn(|bin| (rank(bin + 1) - rank(bin)) as u32);
        Self { edges: (1..BINS).map(|bin| scores[rank(bin) - 1]).collect(), gaps }
    }

    fn bin(&self, score: f64) -> usize {
        self.edges.partition_point(|&edge| edge <= score)
    }
}

/// The most alarms in `lives` that a probability of at most `alpha` explains: six standard deviations more than the mean.
fn most(lives: u32, alpha: f64) -> u32 {
    let mean = f64::from(lives) * alpha;
    (mean + 6.0 * mean.sqrt()) as u32
}

/// After how many predictions a shift is seen, looking at every tenth.
fn shift_seen_at(n: usize, predictions: u32, power: f64, uniform: &mut Uniform) -> Option<u32> {
    let calibrated = Calibrated::draw(n, uniform);
    let reference = Reference::new(&calibrated.gaps).unwrap();
    let mut monitor = ShiftMonitor::<BINS>::new();
    let alarm = LogEvidence::of_one_in(20);
    for prediction in 1..=predictions {
        monitor.count(calibrated.bin(uniform.next().unwrap().powf(power)));
        if prediction % 10 == 0 {
            monitor.look(&reference, alarm);
        }
        if monitor.alarm_at().is_some() {
            break;
        }
    }
    monitor.alarm_at()
}

#[test]
fn without_a_shift_at_most_one_life_in_20_ever_raises_the_alarm() {
    for n in [60, 1000] {
        let mut uniform = Uniform(n as u64);
        let lives = 400;
        let alarms = (0..lives).filter(|_| shift_seen_at(n, 3000, 1.0, &mut uniform).is_some()).count();
        assert!(alarms as u32 <= most(lives, 0.05), "{alarms} of {lives} with {n} scores");
    }
}

#[test]
fn a_shift_is_seen_soon() {
    let mut uniform = Uniform(2);
    let mut seen: Vec<u32> = (0..101)
        .map(|_| shift_seen_at(5000, 5000, 1.5, &mut uniform).expect("it is seen at some time"))
        .collect();
    seen.sort_unstable();
    assert!(seen[50] <= 200, "median {}", seen[50]);
}

#[test]
fn a_change_after_a_quiet_life_is_seen_and_hardly_a_false_one() {
    let mut uniform = Uniform(3);
    let alarm = LogEvidence::of_one_in(10_000);
    let (mut false_alarms, mut delays) = (0, Vec::new());
    for _ in 0..60 {
        let calibrated = Calibrated::draw(5000, &mut uniform);
        let reference = Reference::new(&calibrated.gaps).unwrap();
        let (mut shift, mut change) = (ShiftMonitor::<BINS>::new(), ChangeMonitor::<BINS>::new());
        let mut next = |score: f64| {
            let bin = calibrated.bin(score);
            let is_alarm = change.count(bin, &shift, &reference, alarm);
            shift.count(bin);
            is_alarm
        };
        false_alarms += (0..4000).filter(|_| next(uniform.next().unwrap())).count() as u32;
        let delay = (1..=4000).find(|_| next(uniform.next().unwrap().powf(1.5)));
        delays.push(delay.expect("it is seen at some time"));
    }
    delays.sort_unstable();
    // A false alarm in 10 000 predictions or fewer.
    assert!(false_alarms <= most(60 * 4000, 1e-4), "{false_alarms}");
    assert!(delays[30] < 1000, "median {}", delays[30]);
}

/// After how many outcomes it is seen that each is `off` more likely than its bin's highest guaranteed probability.
fn contradicted_guarantee_seen_at(off: f64, outcomes: u32, uniform: &mut Uniform) -> Option<u32> {
    let guaranteed: [_; BINS] = core::array::from_fn(|bin| {
        let middle = 0.1 + 0.15 * bin as f32;
        ProbInterval::new(middle - 0.0625, middle + 0.0625)
    });
    let mut monitor = GuaranteeMonitor::<BINS>::new();
    let alarm = LogEvidence::of_one_in(100);
    for outcome in 1..=outcomes {
        let bin = (uniform.next().unwrap() * BINS as f64) as usize;
        let prob = f64::from(guaranteed[bin].unwrap().hi) + off;
        monitor.count(bin, uniform.next().unwrap() < prob);
        if outcome % 10 == 0 {
            monitor.look(guaranteed.into_iter(), alarm);
        }
        if monitor.alarm_at().is_some() {
            break;
        }
    }
    monitor.alarm_at()
}

#[test]
fn outcomes_at_the_edge_of_the_guarantee_break_it_in_one_life_of_100_at_most() {
    let mut uniform = Uniform(4);
    let alarms =
        (0..400).filter(|_| contradicted_guarantee_seen_at(0.0, 2000, &mut uniform).is_some()).count();
    assert!(alarms as u32 <= most(400, 0.01), "{alarms}");
    let mut seen: Vec<u32> =
        (0..51).filter_map(|_| contradicted_guarantee_seen_at(0.2, 5000, &mut uniform)).collect();
    seen.sort_unstable();
    assert!(seen.len() == 51 && seen[25] < 600, "{seen:?}");
}
