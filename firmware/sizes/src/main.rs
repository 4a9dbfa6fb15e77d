//! The parts of calib that its features name, with inputs of which the compiler knows nothing. This is weighed and never
//! runs.
#![no_std]
#![no_main]

#[cfg(any(feature = "log-prob", feature = "log-calibrated"))]
mod logger;

use core::hint::black_box;
use core::panic::PanicInfo;

use calib_core::Score;

#[panic_handler]
fn panic(_: &PanicInfo<'_>) -> ! {
    loop {}
}

#[unsafe(no_mangle)]
extern "C" fn part() {
    #[cfg(feature = "fixed-table")]
    fixed_table();
    #[cfg(feature = "binary")]
    binary();
    #[cfg(feature = "any-calibrator")]
    any_calibrator();
    #[cfg(feature = "frames")]
    frames();
}

fn score() -> Score {
    Score::new(black_box(0.0)).unwrap_or(Score::ZERO)
}

#[cfg(feature = "fixed-table")]
fn fixed_table() {
    use calib_core::{FixedTable, fixed_table};

    static TABLE: FixedTable<16> = fixed_table!(
        &[0.1, 0.2, 0.3, 0.35, 0.4, 0.45, 0.5, 0.55, 0.6, 0.65, 0.7, 0.8, 0.9, 0.95],
        &[0.0, 0.1, 0.2, 0.3, 0.4, 0.45, 0.5, 0.6, 0.65, 0.7, 0.75, 0.8, 0.9, 0.95, 1.0]
    );
    black_box(TABLE.lookup(score()));
}

#[cfg(feature = "binary")]
fn binary() {
    use calib_core::{Artifact, Calibrator};

    let Ok(artifact) = Artifact::parse(black_box(&[])) else { return };
    if let Calibrator::Binary(calibrator) = artifact.calibrator() {
        let outcome = black_box(calibrator.calibrate_with(score(), black_box(None)));
        #[cfg(any(feature = "log-prob", feature = "log-calibrated"))]
        if let Some(calibrated) = outcome.calibrated() {
            #[cfg(feature = "log-prob")]
            defmt::info!("{}", calibrated.prob);
            #[cfg(feature = "log-calibrated")]
            defmt::info!("{}", calibrated);
        }
        #[cfg(any(feature = "counted", feature = "watched"))]
        if let Some(calibrated) = outcome.calibrated() {
            watch(&artifact, calibrated.bin.into());
        }
        let _ = outcome;
    }
}

#[cfg(feature = "counted")]
fn watch(artifact: &calib_core::Artifact<'_>, bin: usize) {
    use calib_core::monitor::ShiftMonitor;

    let mut monitor = black_box(ShiftMonitor::<15>::new());
    let Some((section, reference)) =
        artifact.monitors().and_then(|section| Some((section, section.to_count(0)?)))
    else {
        return;
    };
    monitor.count(bin);
    if black_box(true) {
        monitor.look(&reference, section.alarms().shift);
    }
    black_box(monitor);
}

#[cfg(feature = "watched")]
fn watch(artifact: &calib_core::Artifact<'_>, bin: usize) {
    use calib_core::monitor::TableMonitors;

    let mut monitors = black_box(TableMonitors::<15>::new());
    let Some((section, reference)) =
        artifact.monitors().and_then(|section| Some((section, section.to_count(0)?)))
    else {
        return;
    };
    let alarms = section.alarms();
    black_box(monitors.count(bin, &reference, alarms.change));
    if black_box(true) {
        monitors.look_for_shift(&reference, alarms.shift);
    }
    if monitors.tell(bin, black_box(true)) {
        monitors.look_at_guarantee((0..15).map(|bin| artifact.tables().guaranteed(0, bin)), alarms.guarantee);
    }
    black_box(monitors);
}

#[cfg(feature = "any-calibrator")]
fn any_calibrator() {
    use calib_core::predict::Query;
    use calib_core::{Anybody, ClassifierId};
    use calib_firmware::{Output, Slot, Task};

    let slot = Slot::read(black_box(&[]), Anybody, black_box(ClassifierId([0; 8])), black_box(Task::Binary));
    let query = black_box(Query { output: Output::Score(score()), group: None, word: None });
    let _ = black_box(slot.predict_classes(&query, black_box(&mut [])));
}

#[cfg(feature = "frames")]
fn frames() {
    use calib_core::wire::{self, FrameReader, MAX_FRAME, Refusal, Reply, ReplyBody, Request};

    let mut reader = FrameReader::new();
    for &byte in black_box(&[] as &[u8]) {
        black_box(reader.push::<Request>(byte));
    }
    let refused = Reply { id: 0, body: ReplyBody::Refused(Refusal::Kind { classes: 2 }) };
    let _ = black_box(wire::encode(&black_box(refused), &mut black_box([0; MAX_FRAME])));
}
