//! Power cuts against the numbers of results and their outcomes, through the library for C with a journal: no number is given twice, and no
//! outcome counts twice.

use std::fmt;
use std::mem::MaybeUninit;
use std::ptr::null;

use calib_c::*;
use calib_core::Artifact;

use crate::c_device::{Chip, erased};
use crate::faults::artifacts::Aligned;
use crate::faults::flash::{Cut, Flash};
use crate::faults::geometry::{Geometry, for_every_geometry};
use crate::faults::nature::Nature;
use crate::faults::report::Report;
use crate::faults::scale::Scale;
use crate::lives::calibrator;

/// A sector of the library's journals.
const SECTOR: usize = 4096;
/// After how many predictions a device saves.
const EVERY: [u32; 4] = [1, 4, 64, 300];

/// What was predicted and told, and what became of it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NumberReport {
    /// Devices.
    pub lives: u64,
    /// Starts.
    pub starts: u64,
    /// Of these, those whose power failed within a write or an erase.
    pub cuts: u64,
    /// Of these, those at which the journal could not be read.
    pub blind: u64,
    /// Of these, those before which a bit of the journal turned at rest.
    pub turned: u64,
    /// How often numbers began again, as no save was left.
    pub lost: u64,
    /// Results with a number, and without one: what cannot be reserved is not given.
    pub results: [u64; 2],
    /// Outcomes that were counted, and those of before a restart that were refused.
    pub outcomes: [u64; 2],
    /// What should not have happened; the first few.
    pub violations: Vec<String>,
}

/// Lets devices live over many starts.
pub fn numbers(scale: Scale) -> NumberReport {
    Report::sum(for_every_geometry(|geometry, seed| of_geometry(geometry, seed, scale)))
}

fn of_geometry(geometry: Geometry, seed: u64, scale: Scale) -> NumberReport {
    let artifacts = [calibrator(1), calibrator(2)];
    let mut report = NumberReport::default();
    let lives = if geometry.sector > SECTOR { scale.pick(2, 40, 400) } else { scale.pick(4, 160, 1600) };
    for life in 0..lives as u64 {
        report.lives += 1;
        let mut device = Device::new(geometry, seed + 104_729 * life);
        device.flash.set_nature(Nature::ALL[life as usize % Nature::ALL.len()]);
        for start in 0..30 {
            if let Err(problem) = device.one_start(&artifacts, &mut report) {
                report.note(format!("{geometry}, life {life}, start {start}: {problem}"));
                break;
            }
        }
    }
    report
}

/// A device with its flash, and what is known of it from outside.
struct Device {
    flash: Flash,
    every: u32,
    /// The journal's place.
    offset: u32,
    len_bytes: u32,
    /// Whose predictions are counted.
    in_force: usize,
    /// The last number that was given.
    last: u32,
    /// Results of before the last restart.
    before: Vec<calib_result_t>,
    /// How many outcomes each calibrator was told since it began, one in whose call the power failed among them.
    told: [u32; 2],
    /// Whether an alarm was told since the calibrator in force began.
    is_alarmed: bool,
    /// Whether a number was given since a bit turned last: so there are two saves that it is not in.
    is_sound: bool,
    /// How many starts in a row ended in a cut before a number was given.
    cuts: u32,
}

impl Device {
    fn new(geometry: Geometry, seed: u64) -> Self {
        let stride = geometry.sector.max(SECTOR);
        let mut flash = Flash::new(geometry, 4 * stride / geometry.sector, seed);
        let every = EVERY[flash.random() as usize % EVERY.len()];
        let len_bytes = stride as u32 * (2 + flash.random() as u32 % 2);
        let offset = stride as u32;
        let (in_force, last, before, told) = (0, 0, Vec::new(), [0; 2]);
        let (is_alarmed, is_sound, cuts) = (false, false, 0);
        Self { flash, every, offset, len_bytes, in_force, last, before, told, is_alarmed, is_sound, cuts }
    }

    fn random(&mut self, below: u64) -> u64 {
        self.flash.random() % below
    }

    /// Switches the device on, lets it work, and switches it off.
    fn one_start(&mut self, artifacts: &[Aligned; 2], report: &mut NumberReport) -> Result<(), String> {
        report.starts += 1;
        self.flash.restart();
        let is_other = self.random(12) == 0;
        if is_other {
            (self.in_force, self.is_alarmed) = (1 - self.in_force, false);
        }
        // One fault at a time.
        let is_turned = self.cuts == 0 && self.is_sound && self.random(8) == 0;
        if is_turned {
            report.turned += 1;
            self.is_sound = false;
            let bit = self.random(8 * u64::from(self.len_bytes)) as usize;
            self.flash.raw_mut()[self.offset as usize + bit / 8] ^= 1 << (bit % 8);
        }
        let is_blind = !is_turned && self.random(10) == 0;
        if is_blind {
            report.blind += 1;
            self.flash.blind(u64::MAX);
        } else if !is_turned && self.random(3) != 0 {
            let (step, cut) = (self.random(6000), Cut::ALL[self.random(4) as usize]);
            self.flash.cut_at(step, cut);
        }
        self.cuts += 1;
        let geometry = self.flash.geometry();
        let flash = std::mem::replace(&mut self.flash, Flash::new(geometry, 0, 0));
        let mut on = On::new(flash, self, &artifacts[self.in_force]);
        on.chip.flash.blind(0);
        let ended = self.work(&mut on, is_other, report);
        self.flash = on.chip.flash;
        let is_cut = self.flash.is_dead();
        report.cuts += u64::from(is_cut);
        if !is_cut {
            self.cuts = 0;
        }
        ended
    }

    /// What happens while the power is on.
    fn work(&mut self, on: &mut On, is_other: bool, report: &mut NumberReport) -> Result<(), String> {
        let Some(begun) = on.read() else { return Ok(()) };
        if begun.labeled.iter().sum::<u32>() > self.told[self.in_force] {
            return Err(format!("{:?} outcomes are known, and {:?} were told", begun.labeled, self.told));
        }
        if is_other
            && begun.persistence == CALIB_PERSISTENCE_SAVED
            && begun.predictions == [0; CALIB_COUNTED_BINS]
        {
            // All that was there is erased.
            self.told = [0; 2];
        }
        // What a device cannot know of before: the one save that was left has turned, or several cuts took it.
        let is_lost = begun.persistence == CALIB_PERSISTENCE_LOST || self.cuts > 2;
        if self.is_alarmed && !is_lost && begun.shift.raised == CALIB_NOT_RAISED {
            return Err("an alarm is gone".into());
        }
        // Now and then of another population.
        let bins = if on.chip.flash.random().is_multiple_of(4) { 3 } else { 10 };
        let (mut now, mut reset) = (Vec::<(calib_result_t, Option<u8>)>::new(), Vec::new());
        for _ in 0..on.chip.flash.random() % 150 {
            let draw = on.chip.flash.random();
            let chosen = (draw >> 8) as usize;
            match draw % 8 {
                0..4 => {
                    let Some(result) = on.predict(chosen % bins)? else { break };
                    report.results[usize::from(result.number == 0)] += 1;
                    if result.number == 0 {
                        continue;
                    }
                    if result.number <= self.last {
                        if !now.is_empty() || !reset.is_empty() || !is_lost {
                            return Err(format!("number {} after {}", result.number, self.last));
                        }
                        report.lost += 1;
                        self.before.clear();
                    }
                    (self.last, self.cuts, self.is_sound) = (result.number, 0, true);
                    now.push((result, None));
                }
                4..6 if !now.is_empty() => {
                    let at = chosen % now.len();
                    if !self.tell(on, &mut now[at], chosen as u8 & 1, report)? {
                        break;
                    }
                }
                6 if !self.before.is_empty() => {
                    let old = &self.before[chosen % self.before.len()];
                    let expected = match on.is_of(old) {
                        true => CALIB_ERROR_RESTARTED,
                        false => CALIB_ERROR_OTHER_CALIBRATOR,
                    };
                    let found = on.tell(old, 1);
                    // Of a device that cannot read its journal, there was no such prediction.
                    if found != expected && !(is_lost && found == CALIB_ERROR_NO_PREDICTION) {
                        return Err(format!(
                            "an outcome of before the restart gives {found}, not {expected}"
                        ));
                    }
                    report.outcomes[1] += 1;
                }
                7 if chosen.is_multiple_of(16) => {
                    let is_on = on.reset()?;
                    self.is_alarmed = false;
                    let Some(found) = on.read().filter(|_| is_on) else { break };
                    if found.persistence == CALIB_PERSISTENCE_SAVED {
                        self.told = [0; 2];
                    }
                    // Their outcomes come too late, also after a restart.
                    if let Some((result, _)) = now.last()
                        && on.tell(result, 1) != CALIB_ERROR_LATE
                    {
                        return Err("an outcome of before a reset is taken".into());
                    }
                    reset.extend(now.drain(..).map(|(result, _)| result));
                }
                7 => {
                    let Some(found) = on.read() else { break };
                    self.is_alarmed |= found.shift.raised != CALIB_NOT_RAISED
                        && found.persistence == CALIB_PERSISTENCE_SAVED;
                }
                _ => {}
            }
        }
        self.before.extend(now.into_iter().map(|(result, _)| result).chain(reset));
        Ok(())
    }

    /// Tells an outcome, a known one again or its opposite; returns whether the power is still on.
    fn tell(
        &mut self,
        on: &mut On,
        (result, known): &mut (calib_result_t, Option<u8>),
        is_positive: u8,
        report: &mut NumberReport,
    ) -> Result<bool, String> {
        let Some(before) = on.read() else { return Ok(false) };
        let expected = match *known {
            Some(known) if known != is_positive => CALIB_ERROR_TOLD,
            _ => CALIB_OK,
        };
        let is_new = known.is_none();
        self.told[self.in_force] += u32::from(is_new);
        let found = on.tell(result, is_positive);
        let Some(after) = on.read() else { return Ok(false) };
        if found != expected {
            return Err(format!("number {}, known {known:?}: {found}, not {expected}", result.number));
        }
        let [was, now] = [&before, &after].map(|counters| counters.labeled.iter().sum::<u32>());
        // What could not be saved is not told, until it is.
        let is_right = match before.persistence == CALIB_PERSISTENCE_FAILED
            || after.persistence == CALIB_PERSISTENCE_FAILED
        {
            true => now >= was && now <= self.told[self.in_force],
            false => now == was + u32::from(is_new),
        };
        if !is_right {
            return Err(format!("{was} outcomes are known, and then {now}, with a new one: {is_new}"));
        }
        report.outcomes[0] += u64::from(is_new);
        *known = Some(known.unwrap_or(is_positive));
        Ok(true)
    }
}

/// A program with the library, while the power is on.
struct On {
    chip: Box<Chip>,
    monitors: Box<calib_monitors_t>,
    calibrator: Box<calib_calibrator_t>,
    identity: [u8; 8],
    /// The monitors' own.
    _counters: Box<[u64; CALIB_COUNTERS_WORDS]>,
}

impl On {
    fn new(flash: Flash, device: &Device, artifact: &Aligned) -> Self {
        let mut chip = Chip::new(flash);
        let journal = calib_journal_t {
            flash: chip.callbacks(),
            offset: device.offset,
            len_bytes: device.len_bytes,
            every: device.every,
            erased: erased(chip.flash.geometry().erased),
            reserved: [0; 3],
        };
        let mut monitors = Box::new(calib_monitors_t { opaque: [0; CALIB_MONITORS_WORDS] });
        let mut calibrator = Box::new(calib_calibrator_t { opaque: [0; CALIB_CALIBRATOR_WORDS] });
        let mut counters = Box::new([0; CALIB_COUNTERS_WORDS]);
        let bytes = artifact.bytes();
        // SAFETY: every pointer points to what the function says, which lives as long as this.
        let opened = unsafe {
            let (monitors, calibrator) = (&raw mut *monitors, &raw mut *calibrator);
            let counters = counters.as_mut_ptr();
            [
                calib_open(calibrator, bytes.as_ptr(), bytes.len(), null()),
                calib_monitors_open_persistent(monitors, counters, CALIB_COUNTERS_WORDS, &raw const journal),
                calib_monitors_begin(monitors, calibrator),
            ]
        };
        assert_eq!(opened, [CALIB_OK; 3], "the artifact is whole, and the journal fits");
        let identity = Artifact::parse(bytes).expect("it is whole").identity().0;
        Self { chip, monitors, calibrator, identity, _counters: counters }
    }

    /// What the device tells; nothing if the power is off.
    fn read(&mut self) -> Option<calib_counters_t> {
        let mut found = MaybeUninit::uninit();
        // SAFETY: the monitors are open, and the place is there; it is written if all is well.
        let found = unsafe {
            let read = calib_monitors_read(
                &raw mut *self.monitors,
                &raw const *self.calibrator,
                0,
                found.as_mut_ptr(),
            );
            assert_eq!(read, CALIB_OK, "there is a table");
            found.assume_init()
        };
        (!self.chip.flash.is_dead()).then_some(found)
    }

    /// Predicts a score of a bin; nothing if the power failed meanwhile.
    fn predict(&mut self, bin: usize) -> Result<Option<calib_result_t>, String> {
        let options = calib_options_t {
            monitors: &raw mut *self.monitors,
            word: 0,
            has_word: 0,
            group: 0,
            has_group: 0,
            reserved: 0,
        };
        let mut result = MaybeUninit::uninit();
        let score = ((bin % 10) as f32 + 0.5) / 10.0;
        // SAFETY: the calibrator and the monitors are open, and the place is there; it is written if all is well.
        let result = unsafe {
            let done = calib_apply_score(
                &raw const *self.calibrator,
                score,
                &raw const options,
                result.as_mut_ptr(),
            );
            if done != CALIB_OK {
                return Err(format!("a prediction gives {done}"));
            }
            result.assume_init()
        };
        Ok((!self.chip.flash.is_dead()).then_some(result))
    }

    /// Begins to count anew; returns whether the power is still on.
    fn reset(&mut self) -> Result<bool, String> {
        // SAFETY: the monitors and the calibrator are open.
        let done = unsafe { calib_monitors_reset(&raw mut *self.monitors, &raw const *self.calibrator) };
        if done == CALIB_OK { Ok(!self.chip.flash.is_dead()) } else { Err(format!("a reset gives {done}")) }
    }

    fn tell(&mut self, result: &calib_result_t, is_positive: u8) -> i32 {
        // SAFETY: the monitors and the calibrator are open, and the result is there.
        unsafe {
            let (monitors, calibrator) = (&raw mut *self.monitors, &raw const *self.calibrator);
            calib_monitors_tell(monitors, calibrator, result, null(), is_positive)
        }
    }

    /// Whether the calibrator in force gave this result.
    fn is_of(&self, result: &calib_result_t) -> bool {
        result.identity == self.identity
    }
}

impl Report for NumberReport {
    fn add_counts(&mut self, part: &Self) {
        self.lives += part.lives;
        self.starts += part.starts;
        self.cuts += part.cuts;
        self.blind += part.blind;
        self.turned += part.turned;
        self.lost += part.lost;
        self.results.iter_mut().zip(part.results).for_each(|(all, part)| *all += part);
        self.outcomes.iter_mut().zip(part.outcomes).for_each(|(all, part)| *all += part);
    }

    fn violations(&mut self) -> &mut Vec<String> {
        &mut self.violations
    }
}

impl fmt::Display for NumberReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { lives, starts, cuts, blind, turned, lost, results, outcomes, violations } = self;
        let ([numbered, unnumbered], [counted, refused]) = (results, outcomes);
        write!(
            f,
            "numbers of results in C: {lives} devices, {starts} starts, {cuts} of them cut, {blind} blind, {turned} after a bit turned; \
             {numbered} results with a number, {unnumbered} without; {counted} outcomes counted, {refused} of before a restart refused; \
             no save left {lost} times; violations {}",
            violations.len()
        )
    }
}
