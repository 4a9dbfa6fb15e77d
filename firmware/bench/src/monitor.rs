//! calib-core's monitors of 15 bins, as they go on.

use core::cell::UnsafeCell;
use core::ffi::c_void;

use calib_core::ProbInterval;
use calib_core::monitor::{ChangeMonitor, GuaranteeMonitor, LogEvidence, Reference, ShiftMonitor};

use crate::artifacts::GAPS;
use crate::measure::Bench;
use crate::ours::at;

const BINS: usize = 15;
/// How many predictions there are from one look at the evidence to the next.
const PREDICTIONS: u32 = 256;

/// What monitors keep, and what they compare with.
struct Watch<'a> {
    reference: Reference<'a>,
    shift: UnsafeCell<ShiftMonitor<BINS>>,
    change: UnsafeCell<ChangeMonitor<BINS>>,
    guarantee: UnsafeCell<GuaranteeMonitor<BINS>>,
    guaranteed: [Option<ProbInterval>; BINS],
}

#[unsafe(no_mangle)]
#[inline(never)]
extern "C" fn monitor_count(code: u32, context: *const c_void) -> u64 {
    // SAFETY: `run` passes it.
    let shift: &UnsafeCell<ShiftMonitor<BINS>> = unsafe { at(context) };
    // SAFETY: nothing else refers to it while this runs.
    unsafe { &mut *shift.get() }.count((code & 15) as usize);
    0
}

#[unsafe(no_mangle)]
#[inline(never)]
extern "C" fn monitor_change(code: u32, context: *const c_void) -> u64 {
    // SAFETY: `run` passes it.
    let watch: &Watch<'_> = unsafe { at(context) };
    // SAFETY: nothing else refers to them while this runs.
    let (shift, change) = unsafe { (&*watch.shift.get(), &mut *watch.change.get()) };
    let alarm = LogEvidence::from_units(i64::MAX);
    change.count((code & 15) as usize, shift, &watch.reference, alarm).into()
}

#[unsafe(no_mangle)]
#[inline(never)]
extern "C" fn monitor_shift(_: u32, context: *const c_void) -> u64 {
    // SAFETY: `run` passes it.
    let watch: &Watch<'_> = unsafe { at(context) };
    let alarm = LogEvidence::from_units(i64::MAX);
    // SAFETY: nothing else refers to it while this runs.
    let shift = unsafe { &mut *watch.shift.get() };
    shift.look(&watch.reference, alarm).units() as u64
}

#[unsafe(no_mangle)]
#[inline(never)]
extern "C" fn monitor_guarantee(_: u32, context: *const c_void) -> u64 {
    // SAFETY: `run` passes it.
    let watch: &Watch<'_> = unsafe { at(context) };
    let alarm = LogEvidence::from_units(i64::MAX);
    // SAFETY: nothing else refers to it while this runs.
    let guarantee = unsafe { &mut *watch.guarantee.get() };
    guarantee.look(watch.guaranteed.iter().copied(), alarm).units() as u64
}

/// Measures all of them.
#[inline(never)]
pub(crate) fn run(bench: &mut Bench) {
    let Ok(reference) = Reference::new(&GAPS) else { return };
    let counts = core::array::from_fn(|bin| 300 + 7 * bin as u32);
    let watch = Watch {
        reference,
        shift: ShiftMonitor::resumed(counts, None).into(),
        change: UnsafeCell::default(),
        guarantee: GuaranteeMonitor::resumed(counts, counts.map(|count| count / 3), None).into(),
        guaranteed: [ProbInterval::new(0.25, 0.375); BINS],
    };
    bench.integer("monitor_change", 0, monitor_change, &watch);
    bench.batch("monitor_shift", PREDICTIONS, monitor_shift, &watch);
    bench.batch("monitor_guarantee", PREDICTIONS, monitor_guarantee, &watch);
    bench.integer("monitor_count", 0, monitor_count, &watch.shift);
}
