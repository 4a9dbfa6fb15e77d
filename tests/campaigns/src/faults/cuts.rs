//! One power cut, at every step of an installation.

use std::fmt;

use calib_core::slot::InstallError;

use crate::faults::artifacts::{Aligned, Recipe};
use crate::faults::flash::Cut;
use crate::faults::geometry::{Geometry, for_every_geometry};
use crate::faults::nature::Nature;
use crate::faults::report::Report;
use crate::faults::rig::Rig;
use crate::faults::scale::Scale;

/// What is interrupted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Scenario {
    FirstInstall,
    Update,
    RetryOfTheSame,
    CounterBump,
}

const SCENARIOS: [Scenario; 4] =
    [Scenario::FirstInstall, Scenario::Update, Scenario::RetryOfTheSame, Scenario::CounterBump];

/// How many cuts there were, and what came of them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CutReport {
    /// The geometries.
    pub geometries: usize,
    /// Cuts per scenario: first install, update, retry of the same, counter bump.
    pub cuts: [u64; 4],
    /// After how many cuts the old calibrator was in force, or none as before.
    pub old: u64,
    /// After how many the new one was.
    pub new: u64,
    /// What should not have happened; the first few.
    pub violations: Vec<String>,
}

impl Scenario {
    /// What is installed in order, the last under the cut.
    fn artifacts(self) -> Vec<Aligned> {
        let recipes: &[Recipe] = match self {
            Self::FirstInstall => &[Recipe::new(1, 5, 0)],
            // The third artifact goes where the first was.
            Self::Update => &[Recipe::new(1, 5, 3), Recipe::new(2, 9, 3), Recipe::new(3, 4, 3)],
            Self::RetryOfTheSame => &[Recipe::new(1, 5, 3), Recipe::new(2, 6, 3), Recipe::new(2, 6, 3)],
            Self::CounterBump => &[Recipe::new(1, 5, 3), Recipe::new(2, 6, 4)],
        };
        recipes.iter().map(Recipe::artifact).collect()
    }
}

/// The steps in which record and mark are written, of which a sample leaves out fewer: cut there, a slot reads as complete now and then.
const LAST_STEPS: u64 = 48;

/// Cuts the power at every byte of every write and every sixteenth of every erase, in every way, in every scenario and
/// geometry; the natures of flash take turns.
pub fn cuts(scale: Scale) -> CutReport {
    Report::sum(for_every_geometry(|geometry, seed| of_geometry(geometry, seed, scale)))
}

fn of_geometry(geometry: Geometry, seed: u64, scale: Scale) -> CutReport {
    let mut report = CutReport { geometries: 1, ..CutReport::default() };
    // A sample looks at every geometry, but not at every step: the stride is prime to all that has a rhythm.
    let stride = scale.pick(37, 1, 1);
    for (at, scenario) in SCENARIOS.into_iter().enumerate() {
        for cut in Cut::ALL {
            for repeat in 0..scale.pick(1, 1, 4) as u64 {
                let mut prepared = Rig::new(geometry, seed + 7919 * repeat);
                let artifacts = scenario.artifacts();
                let (new, earlier) = artifacts.split_last().expect("there is one");
                for artifact in earlier {
                    prepared.try_install(artifact).expect("the power is on");
                }
                let mut whole = prepared.clone();
                let before = whole.flash.steps();
                whole.try_install(new).expect("the power is on");
                let steps = whole.flash.steps() - before;
                let last = steps.saturating_sub(LAST_STEPS)..=steps;
                for step in (0..*last.start()).step_by(stride).chain(last.step_by(stride.min(3))) {
                    report.cuts[at] += 1;
                    let mut rig = prepared.clone();
                    let nature = Nature::of_cut(step + repeat);
                    rig.flash.set_nature(nature);
                    if let Err(problem) = one_cut(&mut rig, earlier.last(), new, step, cut, &mut report) {
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

/// Installs `new` over `old` with a cut, and looks at what is left.
fn one_cut(
    rig: &mut Rig,
    old: Option<&Aligned>,
    new: &Aligned,
    step: u64,
    cut: Cut,
    report: &mut CutReport,
) -> Result<(), String> {
    let around = outside(rig);
    rig.flash.cut_at(step, cut);
    let acknowledged = match rig.try_install(new) {
        Ok(_) => true,
        Err(InstallError::Flash(_)) => false,
        Err(other) => return Err(format!("refused: {other}")),
    };
    let known: Vec<&Aligned> = [new].into_iter().chain(old).collect();
    // Bits that read otherwise every time may change their minds: every start must end well.
    for _ in 0..if cut == Cut::Before { 1 } else { 3 } {
        match rig.boot(&known)? {
            Some(0) => report.new += 1,
            _ if acknowledged => return Err("an acknowledged calibrator is lost".into()),
            None if old.is_some() => return Err("no calibrator is left".into()),
            _ => report.old += 1,
        }
    }
    if outside(rig) != around {
        return Err("flash outside the slots was changed".into());
    }
    acknowledge_again(rig, old, new)?;
    // The update can be repeated, and an older one is refused then.
    rig.install(new).map_err(|error| format!("cannot be repeated: {error}"))?;
    if rig.boot(&known)? != Some(0) {
        return Err("repeating it did not help".into());
    }
    let lower = Recipe::new(9, 3, 2).artifact();
    let downgrade = rig.try_install(&lower);
    let counter = counter(new);
    match downgrade {
        Err(InstallError::Downgrade { held, offered: 2 }) if held == counter && counter > 2 => Ok(()),
        Ok(_) if counter <= 2 => Ok(()),
        other => Err(format!("a downgrade from {counter} to 2 gave {other:?}")),
    }
}

/// Installs what is in force once more, as somebody does who is not sure: it stays in force then, whatever the torn bits of the
/// other slot read as.
fn acknowledge_again(rig: &Rig, old: Option<&Aligned>, new: &Aligned) -> Result<(), String> {
    let mut rig = rig.clone();
    let known: Vec<&Aligned> = [new].into_iter().chain(old).collect();
    let Some(found) = rig.boot(&known)? else { return Ok(()) };
    match rig.try_install(known[found]) {
        Ok(_) => {}
        // Torn bits read otherwise than at the start, and say that a newer one is there.
        Err(InstallError::Reload | InstallError::Downgrade { .. }) => return Ok(()),
        Err(error) => return Err(format!("what is in force is not installed again: {error}")),
    }
    for start in 0..8 {
        if rig.boot(&known)? != Some(found) {
            return Err(format!("what was installed again is not in force at start {start}"));
        }
    }
    Ok(())
}

fn counter(artifact: &Aligned) -> u32 {
    calib_core::Artifact::parse(artifact.bytes()).expect("it was made here").counter()
}

/// What is in the flash beside the slots.
fn outside(rig: &Rig) -> Vec<bool> {
    let [first, second] = rig.layout.offsets.map(|offset| offset as usize);
    let len = rig.layout.len_bytes as usize;
    let raw = rig.flash.raw();
    let erased = rig.layout.erased.byte();
    [&raw[..first], &raw[first + len..second], &raw[second + len..]]
        .map(|part| part.iter().all(|&byte| byte == erased))
        .to_vec()
}

impl Report for CutReport {
    fn add_counts(&mut self, part: &Self) {
        self.geometries += part.geometries;
        self.cuts.iter_mut().zip(part.cuts).for_each(|(all, cuts)| *all += cuts);
        self.old += part.old;
        self.new += part.new;
    }

    fn violations(&mut self) -> &mut Vec<String> {
        &mut self.violations
    }
}

impl CutReport {
    /// All cuts.
    pub fn total(&self) -> u64 {
        self.cuts.iter().sum()
    }
}

impl fmt::Display for CutReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [first, update, retry, bump] = self.cuts;
        writeln!(f, "power cuts: {} over {} geometries", self.total(), self.geometries)?;
        writeln!(
            f,
            "  first install {first}, update {update}, retry of the same {retry}, counter bump {bump}"
        )?;
        write!(
            f,
            "  afterwards in force: the new calibrator {} times, the old one {} times; violations {}",
            self.new,
            self.old,
            self.violations.len()
        )
    }
}
