//! Two power cuts, one after the other, at every pair of words.

use std::fmt;

use crate::faults::artifacts::{Aligned, Recipe};
use crate::faults::flash::Cut;
use crate::faults::geometry::{Geometry, for_every_geometry};
use crate::faults::nature::Nature;
use crate::faults::report::Report;
use crate::faults::rig::Rig;
use crate::faults::scale::Scale;

/// The smallest step between two cuts in bytes.
const WORD: usize = 4;

/// How many pairs of cuts there were, and what came of them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PairReport {
    /// The pairs.
    pub pairs: u64,
    /// How many starts followed a cut.
    pub starts: u64,
    /// What should not have happened; the first few.
    pub violations: Vec<String>,
}

/// Interrupts an update, starts, and interrupts the next: of the same artifact, or of another.
pub fn pairs(scale: Scale) -> PairReport {
    Report::sum(for_every_geometry(|geometry, seed| of_geometry(geometry, seed, scale)))
}

fn of_geometry(geometry: Geometry, seed: u64, scale: Scale) -> PairReport {
    let [held, offered, other] =
        [Recipe::new(1, 3, 0), Recipe::new(2, 2, 0), Recipe::new(3, 2, 0)].map(|recipe| recipe.artifact());
    let known = [&held, &offered, &other];
    let mut prepared = Rig::new(geometry, seed);
    prepared.try_install(&held).expect("the power is on");
    let word = WORD.max(geometry.write) as u64;
    let stride = word * scale.pick(13, 1, 1) as u64;
    // A sample leaves words out, but not the bytes that complete an installation.
    let last = if geometry.write == 1 { 4 } else { 0 };
    let chosen = |steps: u64| {
        let coarse = (0..steps.saturating_sub(last)).step_by(stride as usize).map(move |step| (step, stride));
        coarse.chain((steps.saturating_sub(last)..=steps).map(move |step| (step, stride.div_ceil(4))))
    };

    let mut report = PairReport::default();
    for cut in [Cut::Before, Cut::TornUnit, Cut::Unstable] {
        for second in [&offered, &other] {
            for (first_step, stride) in chosen(steps(&prepared, &offered)) {
                let mut once = prepared.clone();
                let nature = Nature::of_cut(first_step / stride);
                once.flash.set_nature(nature);
                once.flash.cut_at(first_step, cut);
                let acknowledged = once.try_install(&offered).is_ok();
                once.flash.restart();
                for step in (0..=steps(&once, second)).step_by(stride as usize) {
                    let mut twice = once.clone();
                    // Other bits are torn, and unstable bits read otherwise.
                    for _ in 0..step % 5 {
                        twice.flash.random();
                    }
                    report.pairs += 1;
                    if let Err(problem) =
                        second_cut(&mut twice, second, known, acknowledged, step, cut, &mut report)
                    {
                        report.note(format!(
                            "{geometry}, {nature:?}, {cut:?} at steps {first_step} and {step}: {problem}"
                        ));
                    }
                }
            }
        }
    }
    report
}

/// How many steps an installation takes.
fn steps(rig: &Rig, artifact: &Aligned) -> u64 {
    let mut rig = rig.clone();
    let before = rig.flash.steps();
    rig.install(artifact).expect("the power is on");
    rig.flash.steps() - before
}

fn second_cut(
    rig: &mut Rig,
    second: &Aligned,
    known: [&Aligned; 3],
    first_acknowledged: bool,
    step: u64,
    cut: Cut,
    report: &mut PairReport,
) -> Result<(), String> {
    rig.flash.cut_at(step, cut);
    let acknowledged = rig.try_install(second).is_ok();
    for _ in 0..if cut == Cut::Before { 1 } else { 2 } {
        report.starts += 1;
        let Some(found) = rig.boot(&known)? else { return Err("no calibrator is left".into()) };
        if acknowledged && known[found] != second {
            return Err("an acknowledged calibrator is lost".into());
        }
        if first_acknowledged && found == 0 {
            return Err("the first acknowledged calibrator is lost".into());
        }
    }
    rig.install(second).map_err(|error| format!("cannot be repeated: {error}"))?;
    match rig.boot(&known)? {
        Some(found) if known[found] == second => Ok(()),
        _ => Err("repeating it did not help".into()),
    }
}

impl Report for PairReport {
    fn add_counts(&mut self, part: &Self) {
        self.pairs += part.pairs;
        self.starts += part.starts;
    }

    fn violations(&mut self) -> &mut Vec<String> {
        &mut self.violations
    }
}

impl fmt::Display for PairReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "interrupted twice: {} pairs of cuts, {} starts; violations {}",
            self.pairs,
            self.starts,
            self.violations.len()
        )
    }
}
