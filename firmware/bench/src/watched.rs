//! Whole predictions of a device that counts them: from the score to the calibrated probability, its bin, and the monitors. Now and
//! then one takes the evidence of a shift, too; and outcomes, which take the evidence against the guarantee.
//!
//! No reference is kept from one prediction to the next: with one a look at the evidence of a shift takes half as long, see
//! [`calib_core::monitor::Reference::to_count`].

use core::cell::{Cell, UnsafeCell};
use core::ffi::c_void;

use calib_core::artifact::{Alarms, Monitors};
use calib_core::monitor::{ShiftMonitor, TableMonitors};
use calib_core::{Artifact, BinaryCalibrator, Calibrator, Outcome, Probs, Score, TopLabelCalibrator};

use crate::artifacts::{self, Arena};
use crate::measure::Bench;
use crate::ours::{Fixture, REFUSED, TopLabelFixture, at, calibrate, top_label_probs};
use crate::scores;

const BINS: usize = 15;
/// More predictions than are measured.
const NEVER: u32 = u32::MAX;
/// How many predictions were in each bin before: small counts, large ones and none take other ways to a logarithm.
const HISTORIES: [u32; 6] = [0, 7, 300, 40_000, 2_000_000, 100_000_000];

/// What counts the predictions of a table.
trait Count {
    /// Begins after so many predictions in every bin.
    fn after(count: u32) -> Self;

    fn count(&mut self, bin: usize, table: usize, section: &Monitors<'_>, alarms: &Alarms);

    /// Works the evidence of a shift out.
    fn look(&mut self, table: usize, section: &Monitors<'_>, alarms: &Alarms);
}

impl Count for ShiftMonitor<BINS> {
    fn after(count: u32) -> Self {
        Self::resumed(varied(count), None)
    }

    #[inline(always)]
    fn count(&mut self, bin: usize, _: usize, _: &Monitors<'_>, _: &Alarms) {
        self.count(bin);
    }

    #[inline(always)]
    fn look(&mut self, table: usize, section: &Monitors<'_>, alarms: &Alarms) {
        if let Some(reference) = section.to_count(table) {
            self.look(&reference, alarms.shift);
        }
    }
}

impl Count for TableMonitors<BINS> {
    fn after(count: u32) -> Self {
        // The counts of predictions, alarms, what a change is noticed by, and outcomes.
        let (recent, of_change) = ([2 << 20; BINS], [0, 1 << 15]);
        let counts = varied(count);
        let outcomes = counts.iter().flat_map(|&count| [count / 2, count / 6]);
        let mut words = counts.into_iter().chain([0; 2]).chain(recent).chain(of_change).chain(outcomes);
        Self::restored(&mut words).unwrap_or_default()
    }

    #[inline(always)]
    fn count(&mut self, bin: usize, table: usize, section: &Monitors<'_>, alarms: &Alarms) {
        if let Some(reference) = section.to_count(table) {
            self.count(bin, &reference, alarms.change);
        }
    }

    #[inline(always)]
    fn look(&mut self, table: usize, section: &Monitors<'_>, alarms: &Alarms) {
        if let Some(reference) = section.to_count(table) {
            self.look_for_shift(&reference, alarms.shift);
        }
    }
}

/// About so many in every bin.
fn varied(count: u32) -> [u32; BINS] {
    core::array::from_fn(|bin| count + count / 40 * bin as u32)
}

/// A calibrator, and what counts its predictions.
struct Watched<'a, C, M, const TABLES: usize> {
    artifact: Artifact<'a>,
    calibrator: C,
    section: Monitors<'a>,
    alarms: Alarms,
    monitors: UnsafeCell<[M; TABLES]>,
    /// How many predictions there are until the evidence is worked out.
    until_look: Cell<u32>,
    outcome: Cell<Option<Outcome>>,
}

type Binary<'a, M> = Watched<'a, BinaryCalibrator<'a>, M, 1>;
type TopLabel<'a, M> = Watched<'a, TopLabelCalibrator<'a>, M, 10>;

impl<'a, C, M: Count, const TABLES: usize> Watched<'a, C, M, TABLES> {
    fn new(artifact: Artifact<'a>, calibrator: C) -> Option<Self> {
        let section = artifact.monitors()?;
        Some(Self {
            artifact,
            calibrator,
            section,
            alarms: section.alarms(),
            monitors: UnsafeCell::new(core::array::from_fn(|_| M::after(40_000))),
            until_look: Cell::new(NEVER),
            outcome: Cell::new(None),
        })
    }

    /// Takes a prediction's outcome, and counts it.
    #[inline(always)]
    fn predicted(&self, table: usize, outcome: Outcome) {
        // SAFETY: nothing else refers to them while this runs.
        let monitors = unsafe { &mut *self.monitors.get() }.get_mut(table);
        if let Some((monitor, calibrated)) = monitors.zip(outcome.calibrated()) {
            monitor.count(calibrated.bin.into(), table, &self.section, &self.alarms);
            self.until_look.set(self.until_look.get().wrapping_sub(1));
            if self.until_look.get() == 0 {
                monitor.look(table, &self.section, &self.alarms);
                self.until_look.set(NEVER);
            }
        }
        self.outcome.set(Some(outcome));
    }

    /// Measures single calls in which the evidence is worked out, after more and more predictions.
    fn single(&mut self, bench: &mut Bench, name: &str, call: impl Fn(*const c_void)) {
        for count in HISTORIES {
            self.monitors.get_mut().fill_with(|| M::after(count));
            self.until_look.set(1);
            bench.single(name, || call((&raw const *self).cast()));
        }
        self.until_look.set(1);
        bench.stack(name, || call((&raw const *self).cast()));
    }
}

macro_rules! predictions {
    ($($binary:ident $top_label:ident $monitor:ty;)*) => {$(
        #[unsafe(no_mangle)]
        #[inline(never)]
        extern "C" fn $binary(score: f32, context: *const c_void) -> u64 {
            // SAFETY: `run` passes it.
            let watched: &Binary<'_, $monitor> = unsafe { at(context) };
            let Ok(score) = Score::new(score) else { return REFUSED };
            watched.predicted(0, watched.calibrator.calibrate(score));
            0
        }

        #[unsafe(no_mangle)]
        #[inline(never)]
        extern "C" fn $top_label(row: u32, context: *const c_void) -> u64 {
            // SAFETY: `run` passes it.
            let watched: &TopLabel<'_, $monitor> = unsafe { at(context) };
            let Some(row) = scores::PROBS.get(row as usize % 8) else { return REFUSED };
            let Ok(Ok((top, outcome))) = Probs::new(row).map(|row| watched.calibrator.calibrate_probs(row)) else {
                return REFUSED;
            };
            watched.predicted(top.class.into(), outcome);
            0
        }
    )*};
}

predictions! {
    counted_15 counted_top_label ShiftMonitor<BINS>;
    watched_15 watched_top_label TableMonitors<BINS>;
}

#[unsafe(no_mangle)]
#[inline(never)]
extern "C" fn told_15(code: u32, context: *const c_void) -> u64 {
    // SAFETY: `run` passes it.
    let watched: &Binary<'_, TableMonitors<BINS>> = unsafe { at(context) };
    // SAFETY: nothing else refers to them while this runs.
    let [monitors] = unsafe { &mut *watched.monitors.get() };
    let is_counted = monitors.tell((code & 15) as usize, code & 16 == 0);
    watched.until_look.set(watched.until_look.get().wrapping_sub(1));
    if watched.until_look.get() == 0 {
        let guaranteed = (0..BINS as u16).map(|bin| watched.artifact.tables().guaranteed(0, bin));
        monitors.look_at_guarantee(guaranteed, watched.alarms.guarantee);
        watched.until_look.set(NEVER);
    }
    is_counted.into()
}

/// Measures all of them.
#[inline(never)]
pub(crate) fn run(bench: &mut Bench) {
    let mut room: Arena = [0; 512];
    binary(bench, artifacts::monitored(&mut room));
    top_label(bench, artifacts::monitored_top_label(&mut room));
}

#[inline(never)]
fn binary(bench: &mut Bench, artifact: Artifact<'_>) {
    let Calibrator::Binary(calibrator) = artifact.calibrator() else { return };
    let alone = Fixture { calibrator, result: Cell::new(None::<Outcome>) };
    bench.float("predicted_15", 0, calibrate, &alone);
    if let Some(mut watched) = Binary::<ShiftMonitor<BINS>>::new(artifact, calibrator) {
        bench.float("counted_15", 0, counted_15, &watched);
        watched.single(bench, "counted_look_15", |context| _ = counted_15(0.6, context));
    }
    if let Some(mut watched) = Binary::<TableMonitors<BINS>>::new(artifact, calibrator) {
        bench.float("watched_15", 0, watched_15, &watched);
        watched.single(bench, "watched_look_15", |context| _ = watched_15(0.6, context));
        bench.integer("told_15", 0, told_15, &watched);
        watched.single(bench, "told_look_15", |context| _ = told_15(77, context));
    }
}

#[inline(never)]
fn top_label(bench: &mut Bench, artifact: Artifact<'_>) {
    let Calibrator::TopLabel(calibrator) = artifact.calibrator() else { return };
    let alone: TopLabelFixture<'_> = Fixture { calibrator, result: Cell::new(None) };
    bench.integer("predicted_top_label", 0, top_label_probs, &alone);
    if let Some(mut watched) = TopLabel::<ShiftMonitor<BINS>>::new(artifact, calibrator) {
        bench.integer("counted_top_label", 0, counted_top_label, &watched);
        watched.single(bench, "counted_look_top_label", |context| _ = counted_top_label(3, context));
    }
    if let Some(mut watched) = TopLabel::<TableMonitors<BINS>>::new(artifact, calibrator) {
        bench.integer("watched_top_label", 0, watched_top_label, &watched);
        watched.single(bench, "watched_look_top_label", |context| _ = watched_top_label(3, context));
    }
}
