//! Power cuts against the journal of counters: never more than was counted, and never what another calibrator counted.

use std::fmt;

use calib_core::Identity;
use calib_core::journal::{Journal, JournalError, JournalLayout};

use crate::faults::chip::{OnChip, on_chip};
use crate::faults::flash::{Chip, Cut, Flash, FlashFault};
use crate::faults::geometry::{Geometry, for_every_geometry};
use crate::faults::nature::Nature;
use crate::faults::report::Report;
use crate::faults::scale::Scale;

/// The counters of two bins of one table and more; a sector of 512 bytes holds eight records.
const WORDS: usize = 8;
const CALIBRATORS: [Identity; 2] = [Identity([1; 8]), Identity([2; 8])];

/// How many cuts there were, and what came of them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CounterReport {
    /// Single cuts: in a save, in one behind another since the start, in one that takes the next sector, when another calibrator begins.
    pub cuts: [u64; 4],
    /// Cuts in sequences of saves, resets and other calibrators.
    pub in_sequences: u64,
    /// Saves to flash that wears out: those that were acknowledged, and those that were not.
    pub worn: [u64; 2],
    /// How often counting went on with what was saved last.
    pub newest: u64,
    /// How often with an earlier state.
    pub earlier: u64,
    /// How often anew.
    pub anew: u64,
    /// What should not have happened; the first few.
    pub violations: Vec<String>,
}

/// What a device has counted: which calibrator, since which beginning, and how much. Every word of a record tells all of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct State {
    calibrator: usize,
    epoch: u32,
    count: u32,
}

impl State {
    fn words(self) -> [u32; WORDS] {
        let Self { calibrator, epoch, count } = self;
        std::array::from_fn(|at| (at as u32) << 28 | (calibrator as u32) << 24 | (epoch & 0xFF) << 16 | count)
    }

    fn of_words(words: &[u32]) -> Result<Self, String> {
        let first = words.first().copied().unwrap_or_default();
        let state = Self {
            calibrator: (first >> 24 & 0xF) as usize,
            epoch: first >> 16 & 0xFF,
            count: first & 0xFFFF,
        };
        match state.words() == words {
            true => Ok(state),
            false => Err(format!("counters that nobody saved: {words:x?}")),
        }
    }
}

/// A journal over flash of any geometry.
trait Counters {
    fn save(&mut self, state: State) -> Result<(), JournalError<FlashFault>>;
    fn begin_anew(&mut self, state: State) -> Result<(), JournalError<FlashFault>>;
    fn load(&mut self, calibrator: usize) -> Option<Vec<u32>>;
    fn free(self: Box<Self>) -> Flash;
}

impl<const WRITE: usize, const SECTOR: usize> Counters for Journal<Chip<WRITE, SECTOR>> {
    fn save(&mut self, state: State) -> Result<(), JournalError<FlashFault>> {
        self.save(CALIBRATORS[state.calibrator], 0, state.words().into_iter())
    }

    fn begin_anew(&mut self, state: State) -> Result<(), JournalError<FlashFault>> {
        self.begin_anew(CALIBRATORS[state.calibrator], 0, state.words().into_iter())
    }

    fn load(&mut self, calibrator: usize) -> Option<Vec<u32>> {
        self.load(CALIBRATORS[calibrator], 0, |words| words.collect())
    }

    fn free(self: Box<Self>) -> Flash {
        (*self).free().0
    }
}

struct Open(JournalLayout);

impl OnChip for Open {
    type Result = Box<dyn Counters>;

    fn on<const WRITE: usize, const SECTOR: usize>(self, chip: Chip<WRITE, SECTOR>) -> Self::Result {
        Box::new(Journal::open(chip, self.0, WORDS).expect("the layout fits"))
    }
}

/// A device with its flash.
#[derive(Clone)]
struct Device {
    flash: Flash,
    layout: JournalLayout,
}

impl Device {
    /// A journal of so many sectors, apart from both ends of the flash.
    fn new(geometry: Geometry, sectors: usize, seed: u64) -> Self {
        let sector = geometry.sector as u32;
        let layout =
            JournalLayout { offset: sector, len_bytes: sector * sectors as u32, erased: geometry.erased };
        Self { flash: Flash::new(geometry, sectors + 2, seed), layout }
    }

    /// Starts the device, and lets `work` go on until it ends or the power fails.
    fn run<R>(&mut self, work: impl FnOnce(&mut dyn Counters) -> R) -> R {
        let empty = Flash::new(self.flash.geometry(), 0, 0);
        let flash = std::mem::replace(&mut self.flash, empty);
        let mut journal = on_chip(flash, Open(self.layout));
        let result = work(&mut *journal);
        self.flash = journal.free();
        result
    }

    /// Starts the device with the power on, and returns what a calibrator goes on with.
    fn boot(&mut self, calibrator: usize) -> Result<Option<State>, String> {
        self.flash.restart();
        let words = self.run(|journal| journal.load(calibrator));
        words.map(|words| State::of_words(&words)).transpose()
    }

    /// Whether nothing but the journal's sectors was touched.
    fn is_clean_outside(&self) -> bool {
        let (start, len) = (self.layout.offset as usize, self.layout.len_bytes as usize);
        let raw = self.flash.raw();
        let erased = self.layout.erased.byte();
        raw[..start].iter().chain(&raw[start + len..]).all(|&byte| byte == erased)
    }
}

/// What is cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Scenario {
    Save,
    /// Two saves since the start: the second goes behind the first, into the sector of the newest.
    Behind,
    NextSector,
    OtherCalibrator,
}

const SCENARIOS: [Scenario; 4] =
    [Scenario::Save, Scenario::Behind, Scenario::NextSector, Scenario::OtherCalibrator];

/// Cuts the power at every byte of every write and every sixteenth of every erase of a save, in every way and geometry; then cuts at
/// random in long sequences of saves, resets and other calibrators; then wears flash out.
pub fn counters(scale: Scale) -> CounterReport {
    Report::sum(for_every_geometry(|geometry, seed| {
        let mut report = single_cuts(geometry, seed, scale);
        sequences(geometry, seed, scale, &mut report);
        worn(geometry, seed, scale, &mut report);
        report
    }))
}

fn single_cuts(geometry: Geometry, seed: u64, scale: Scale) -> CounterReport {
    let mut report = CounterReport::default();
    let stride = scale.pick(7, 1, 1);
    for (at, scenario) in SCENARIOS.into_iter().enumerate() {
        for cut in Cut::ALL {
            for repeat in 0..scale.pick(1, 2, 8) as u64 {
                let prepared = prepared(geometry, scenario, seed + 7919 * repeat);
                let mut whole = prepared.clone();
                let before = whole.0.flash.steps();
                assert!(whole.0.run(|journal| act(journal, scenario, whole.1)).is_saved, "the power is on");
                for step in (0..=whole.0.flash.steps() - before).step_by(stride) {
                    report.cuts[at] += 1;
                    let (mut device, last) = prepared.clone();
                    let nature = Nature::of_cut(step + repeat);
                    device.flash.set_nature(nature);
                    device.flash.cut_at(step, cut);
                    if let Err(problem) = one_cut(&mut device, scenario, last, cut, &mut report) {
                        report.note(format!(
                            "{geometry}, {nature:?}, {scenario:?}, {cut:?} at step {step}: {problem}"
                        ));
                    }
                }
            }
        }
    }
    report
}

/// A device that has saved a few times, or until its sector is full.
fn prepared(geometry: Geometry, scenario: Scenario, seed: u64) -> (Device, State) {
    let mut device = Device::new(geometry, 2 + (seed % 2) as usize, seed);
    let per_sector = device.layout.records(geometry.sector as u32, WORDS) * geometry.sector as u32
        / device.layout.len_bytes;
    // As if it had run for long in a large sector.
    let saves = if scenario == Scenario::NextSector { per_sector.min(300) } else { 3 };
    let mut last = State { calibrator: 0, epoch: 0, count: 0 };
    device.run(|journal| {
        for _ in 0..saves {
            last.count += 1;
            journal.save(last).expect("the power is on");
        }
    });
    (device, last)
}

/// What was done until the power failed.
struct Attempt {
    /// What was saved last.
    last: State,
    /// What was to be saved then, and whether it was.
    new: State,
    is_saved: bool,
}

fn act(journal: &mut dyn Counters, scenario: Scenario, last: State) -> Attempt {
    let after = |last: State| State { count: last.count + 1, ..last };
    let mut save = |last: State| {
        let new = after(last);
        Attempt { last, new, is_saved: journal.save(new).is_ok() }
    };
    match scenario {
        Scenario::OtherCalibrator => {
            let new = State { calibrator: 1, epoch: 1, count: 0 };
            Attempt { last, new, is_saved: journal.begin_anew(new).is_ok() }
        }
        Scenario::Behind => match save(last) {
            Attempt { new, is_saved: true, .. } => save(new),
            failed => failed,
        },
        Scenario::Save | Scenario::NextSector => save(last),
    }
}

fn one_cut(
    device: &mut Device,
    scenario: Scenario,
    last: State,
    cut: Cut,
    report: &mut CounterReport,
) -> Result<(), String> {
    let Attempt { last, new, is_saved } = device.run(|journal| act(journal, scenario, last));
    // Bits that read otherwise every time may change their minds: every start must end well.
    for _ in 0..if cut == Cut::Before { 1 } else { 4 } {
        let found = device.boot(new.calibrator)?;
        let former = if new.calibrator == last.calibrator { None } else { device.boot(last.calibrator)? };
        match (found, former) {
            (Some(state), None) if state == new => report.newest += 1,
            (Some(state), None) if state == last && !is_saved => report.earlier += 1,
            // The other calibrator has not begun.
            (None, Some(state)) if state == last && !is_saved => report.earlier += 1,
            // Torn bits read otherwise at the two starts.
            (None, None) if new.calibrator != last.calibrator && !is_saved => report.anew += 1,
            (Some(state), Some(former)) if state == new && former == last && !is_saved => report.newest += 1,
            other => return Err(format!("saved {is_saved}, and then there is {other:?}")),
        }
    }
    if !device.is_clean_outside() {
        return Err("flash outside the journal was changed".into());
    }
    go_on(device, new)
}

/// Counts on after the cut, as a device does: what is saved then is there at every start, and not what the cut left.
fn go_on(device: &mut Device, new: State) -> Result<(), String> {
    let Some(found) = device.boot(new.calibrator)? else { return Ok(()) };
    let later = State { count: found.count + 2, ..found };
    device.flash.set_nature(Nature::Plain);
    device.flash.restart();
    device.run(|journal| journal.save(later)).map_err(|error| format!("it saves no more: {error:?}"))?;
    for _ in 0..4 {
        let found = device.boot(new.calibrator)?;
        if found != Some(later) {
            return Err(format!("{later:?} was saved, and then there is {found:?}"));
        }
    }
    Ok(())
}

/// Long lives with cuts at random: what is loaded was counted by this calibrator since its last beginning.
fn sequences(geometry: Geometry, seed: u64, scale: Scale, report: &mut CounterReport) {
    for life in 0..scale.pick(2, 30, 200) as u64 {
        let mut device = Device::new(geometry, 2 + (life % 2) as usize, seed + life);
        device.flash.set_nature(Nature::ALL[(seed + life) as usize % Nature::ALL.len()]);
        if let Err(problem) = one_life(&mut device, report) {
            report.note(format!("{geometry}, life {life}: {problem}"));
        }
    }
}

fn one_life(device: &mut Device, report: &mut CounterReport) -> Result<(), String> {
    let mut epoch = 0;
    // The greatest count that a save was begun with, and the beginning's epoch, of the calibrator in force.
    let mut now = State { calibrator: 0, epoch, count: 0 };
    // The last beginning that was saved to the end: nothing of before it is left.
    let mut begun = 0;
    for _ in 0..40 {
        let draw = device.flash.random();
        let cut = Cut::ALL[(draw >> 8) as usize % 4];
        device.flash.restart();
        device.flash.cut_at(draw >> 16 & 0x3FF, cut);
        let is_other = draw.is_multiple_of(5);
        if is_other {
            now.calibrator = 1 - now.calibrator;
        }
        let before = begun;
        let mut begun_now = None;
        let (loaded, reached) = device.run(|journal| {
            let loaded = journal.load(now.calibrator);
            let mut state = match loaded.as_deref().map(State::of_words) {
                Some(Ok(state)) if !is_other => state,
                _ => {
                    epoch += 1;
                    let fresh = State { calibrator: now.calibrator, epoch: epoch & 0xFF, count: 0 };
                    if journal.begin_anew(fresh).is_ok() {
                        begun_now = Some(epoch);
                    }
                    fresh
                }
            };
            for _ in 0..draw % 12 {
                state.count += 1;
                let _ = journal.save(state);
            }
            (loaded, state)
        });
        report.in_sequences += u64::from(device.flash.is_dead());
        match loaded.map(|words| State::of_words(&words)).transpose()? {
            None => report.anew += 1,
            Some(found) if found.calibrator != now.calibrator => {
                return Err(format!("{found:?} is another calibrator's"));
            }
            // It was in force before, and its end was not saved: it is told anew then.
            Some(_) if is_other => {}
            Some(found) if found.epoch < before => {
                return Err(format!("{found:?} is of before beginning {before}, which was saved"));
            }
            Some(found) if found.epoch > epoch & 0xFF => return Err(format!("{found:?} is of no beginning")),
            Some(found) if found.epoch == now.epoch && found.count > now.count => {
                return Err(format!("{found:?} is more than {now:?} counted"));
            }
            Some(found) if found == now => report.newest += 1,
            Some(_) => report.earlier += 1,
        }
        begun = begun_now.unwrap_or(begun);
        // What a save was begun with may be read later, though counting went on with less in between: it was counted.
        let is_on = (now.calibrator, now.epoch) == (reached.calibrator, reached.epoch);
        now = State { count: if is_on { reached.count.max(now.count) } else { reached.count }, ..reached };
    }
    match device.is_clean_outside() {
        true => Ok(()),
        false => Err("flash outside the journal was changed".into()),
    }
}

/// Flash that says nothing when it no longer takes bits, or leaves some behind when it erases: what was acknowledged is there at the next
/// start, and where nothing was, what was saved before.
fn worn(geometry: Geometry, seed: u64, scale: Scale, report: &mut CounterReport) {
    for life in 0..scale.pick(2, 20, 100) as u64 {
        let mut device = Device::new(geometry, 2 + (life % 2) as usize, seed + life);
        device.flash.set_nature(Nature::ErasesBadly);
        if let Err(problem) = one_worn_life(&mut device, report) {
            report.note(format!("{geometry}, worn life {life}: {problem}"));
        }
    }
}

fn one_worn_life(device: &mut Device, report: &mut CounterReport) -> Result<(), String> {
    let (mut state, mut saved) = (State { calibrator: 0, epoch: 0, count: 0 }, None);
    for _ in 0..80 {
        let draw = device.flash.random();
        // Where one of the first records of a sector lies, as long as no other byte wears out.
        let sectors = device.layout.len_bytes / device.flash.geometry().sector as u32;
        let sector = (draw >> 8) as u32 % sectors * device.flash.geometry().sector as u32;
        device.flash.wear((device.layout.offset + sector) as usize + (draw >> 16) as usize % 256, 0xFF);
        device.run(|journal| {
            for _ in 0..=draw % 3 {
                state.count += 1;
                let is_saved = journal.save(state).is_ok();
                report.worn[usize::from(!is_saved)] += 1;
                saved = if is_saved { Some(state) } else { saved };
            }
        });
        let found = device.boot(0)?;
        if found != saved {
            return Err(format!("{saved:?} was saved, and then there is {found:?}"));
        }
    }
    Ok(())
}

impl Report for CounterReport {
    fn add_counts(&mut self, part: &Self) {
        self.cuts.iter_mut().zip(part.cuts).for_each(|(all, cuts)| *all += cuts);
        self.in_sequences += part.in_sequences;
        self.worn.iter_mut().zip(part.worn).for_each(|(all, saves)| *all += saves);
        self.newest += part.newest;
        self.earlier += part.earlier;
        self.anew += part.anew;
    }

    fn violations(&mut self) -> &mut Vec<String> {
        &mut self.violations
    }
}

impl fmt::Display for CounterReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ([save, behind, sector, other], [kept, refused]) = (self.cuts, self.worn);
        writeln!(f, "counters: {} power cuts", self.cuts.iter().sum::<u64>() + self.in_sequences)?;
        writeln!(
            f,
            "  in a save {save}, in one behind it {behind}, with the next sector {sector}, another calibrator {other}, in sequences {}",
            self.in_sequences
        )?;
        writeln!(f, "  in worn flash {kept} saves were acknowledged, and {refused} were not")?;
        write!(
            f,
            "  counting went on with the newest {} times, with an earlier save {}, anew {}; violations {}",
            self.newest,
            self.earlier,
            self.anew,
            self.violations.len()
        )
    }
}
