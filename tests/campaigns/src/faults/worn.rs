//! Flash that does not hold what is written to it.

use std::fmt;

use calib_core::slot::InstallError;

use crate::faults::artifacts::Recipe;
use crate::faults::geometry::{Geometry, for_every_geometry};
use crate::faults::report::Report;
use crate::faults::rig::Rig;
use crate::faults::scale::Scale;

/// How many bits were worn out, and what came of it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WornReport {
    /// Installations over a worn bit.
    pub installs: u64,
    /// Of these, refused with the place of the bit.
    pub refused: u64,
    /// What should not have happened; the first few.
    pub violations: Vec<String>,
}

/// Installs over one worn bit after the other: what is not in flash is never acknowledged.
pub fn worn(scale: Scale) -> WornReport {
    Report::sum(for_every_geometry(|geometry, seed| of_geometry(geometry, seed, scale)))
}

fn of_geometry(geometry: Geometry, seed: u64, scale: Scale) -> WornReport {
    let [held, offered] = [Recipe::new(1, 5, 0), Recipe::new(2, 5, 0)].map(|recipe| recipe.artifact());
    let mut prepared = Rig::new(geometry, seed);
    prepared.try_install(&held).expect("the power is on");
    let mut report = WornReport::default();
    let slot = prepared.range(1);
    let trailer = slot.end - 64..slot.end;
    let places = (slot.start..slot.start + offered.bytes().len()).chain(trailer);
    for at in places.step_by(scale.pick(31, 1, 1)) {
        report.installs += 1;
        let mut rig = prepared.clone();
        rig.flash.wear(at, 1 << (at % 8));
        let offset = (at - slot.start) as u32;
        let outcome = rig.try_install(&offered);
        let in_force = rig.boot(&[&held, &offered]);
        let problem = match (outcome, in_force) {
            (Ok(_), Ok(Some(1))) => continue,
            (Err(InstallError::ReadBack { offset: found }), Ok(Some(0))) if found == offset => {
                report.refused += 1;
                continue;
            }
            (outcome, in_force) => format!("{outcome:?}, then {in_force:?} is in force"),
        };
        report.note(format!("{geometry}, offset {offset}: {problem}"));
    }
    spare_marks(&prepared, scale, &mut report);
    report
}

/// A worn bit in the place of a spare mark: another place is taken, and the update goes on.
fn spare_marks(prepared: &Rig, scale: Scale, report: &mut WornReport) {
    let [held, offered] = [Recipe::new(1, 5, 0), Recipe::new(2, 5, 0)].map(|recipe| recipe.artifact());
    let end = prepared.range(0).end;
    for at in (end - 288..end - 64).step_by(scale.pick(31, 1, 1)) {
        report.installs += 1;
        let mut rig = prepared.clone();
        rig.flash.wear(at, 1 << (at % 8));
        let outcome = rig.try_install(&offered);
        let in_force = rig.boot(&[&held, &offered]);
        if !matches!((&outcome, &in_force), (Ok(_), Ok(Some(1)))) {
            report.note(format!(
                "{}, spare mark at {at}: {outcome:?}, then {in_force:?} is in force",
                prepared.flash.geometry()
            ));
        }
    }
}

impl Report for WornReport {
    fn add_counts(&mut self, part: &Self) {
        self.installs += part.installs;
        self.refused += part.refused;
    }

    fn violations(&mut self) -> &mut Vec<String> {
        &mut self.violations
    }
}

impl fmt::Display for WornReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "worn bits: {} installations, {} refused at the bit's place; violations {}",
            self.installs,
            self.refused,
            self.violations.len()
        )
    }
}
