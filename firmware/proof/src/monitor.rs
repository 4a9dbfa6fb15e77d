//! Monitors, whatever they have counted.

use calib_core::ProbInterval;
use calib_core::monitor::{
    ChangeMonitor, GuaranteeMonitor, LogEvidence, Reference, ShiftMonitor, TableMonitors,
};

use crate::any::{any, floats, from, keep, words};

/// As many bins as a monitor often has.
const BINS: usize = 15;

/// Calls all of them.
pub(crate) fn prove() {
    let alarm = from(LogEvidence::of_one_in(any()));
    keep((alarm.odds(), alarm.units(), LogEvidence::from_units(any())));
    guarantee(alarm);
    let Ok(reference) = Reference::new(words()) else { return };
    keep((reference.bins(), reference.gaps()));
    let mut shift = from(ShiftMonitor::<BINS>::resumed(from([0; BINS]), any()));
    shift.count(any());
    keep((shift.counts(), shift.total(), shift.is_full()));
    keep((shift.look(&reference, alarm), shift.evidence(&reference), shift.alarm_at()));
    let mut change = from(ChangeMonitor::<BINS>::new());
    keep(change.count(any(), &shift, &reference, alarm));
    keep((change.evidence(), change.since_alarm()));
    together(&reference, alarm);
}

/// All of a table, from whatever was saved.
fn together(reference: &Reference<'_>, alarm: LogEvidence) {
    let Some(mut monitors) = TableMonitors::<BINS>::restored(&mut words().iter().copied()) else { return };
    keep((monitors.count(any(), reference, alarm), monitors.tell(any(), any())));
    keep(monitors.look_for_shift(reference, alarm));
    let guaranteed = floats().iter().map(|&end| ProbInterval::new(end, any()));
    keep(monitors.look_at_guarantee(guaranteed, alarm));
    monitors.words().for_each(keep);
}

fn guarantee(alarm: LogEvidence) {
    let mut monitor = from(GuaranteeMonitor::<BINS>::resumed(from([0; BINS]), from([0; BINS]), any()));
    monitor.count(any(), any());
    monitor.counts().for_each(keep);
    let guaranteed = || floats().iter().map(|&end| ProbInterval::new(end, any()));
    keep((monitor.look(guaranteed(), alarm), monitor.evidence(guaranteed())));
    keep((monitor.total(), monitor.is_full(), monitor.alarm_at()));
}
