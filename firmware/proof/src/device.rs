//! The firmware's library: from a request, or features, to the reply and the alarm.

use core::convert::Infallible;

use calib_core::journal::JournalLayout;
use calib_core::predict::Query;
use calib_core::slot::MonitorRoom;
use calib_core::wire::{Questions, Refusal, Request, RequestBody};
use calib_core::{AlarmRule, Anybody, ClassifierId, Erased};
use calib_firmware::{
    Alarm, Classifier, Device, Entropy, Features, LinearClassifier, Meter, Monitors, Output,
    PersistentMonitors, Slot, Task, Watch,
};
use embedded_hal::digital::{ErrorType, OutputPin};
use embedded_storage::nor_flash::ReadNorFlash;

use crate::any::{any, bytes, floats, from, keep, words};
use crate::slots::Flash;

/// A pin that is written and never read.
pub(crate) struct Pin(bool);

impl ErrorType for Pin {
    type Error = Infallible;
}

impl OutputPin for Pin {
    fn set_low(&mut self) -> Result<(), Infallible> {
        self.0 = from(false);
        Ok(())
    }

    fn set_high(&mut self) -> Result<(), Infallible> {
        self.0 = from(true);
        Ok(())
    }
}

/// Random words and times of which nothing is known.
pub(crate) struct Board;

impl Entropy for Board {
    fn word(&mut self) -> Option<u32> {
        from(None)
    }
}

impl Meter for Board {
    fn measure_ticks(&mut self, work: impl FnOnce()) -> Option<u32> {
        work();
        from(None)
    }

    fn stack_high_water_bytes(&mut self) -> u32 {
        any()
    }
}

pub(crate) static BINARY: LinearClassifier<30, 1> =
    LinearClassifier::new("binary", ClassifierId([1; 8]), [0.5; 30], [0.5; 30], [[0.5; 30]], [0.5]);
static TEN: LinearClassifier<64, 10> =
    LinearClassifier::new("ten", ClassifierId([2; 8]), [0.5; 64], [0.5; 64], [[0.5; 64]; 10], [0.5; 10]);

pub(crate) fn alarm() -> Alarm<Pin> {
    let Ok(alarm) = Alarm::new(Pin(any()), from(AlarmRule::AtLeast(0.5)));
    alarm
}

fn answer<C: Classifier>(classifier: C) {
    let room = from(MonitorRoom { tables: 1, bins: 15 });
    let slot = Slot::read_watched(bytes(), Anybody, classifier.id(), classifier.task(), room);
    let mut monitors = from(Monitors::<15, 10>::new());
    let device = Device::with_parts((classifier, alarm(), Board, Board, &mut monitors), slot);
    let mut device = device.answering(from(Questions::All)).taking_outcomes(any());
    let request = from(Request { id: 0, body: RequestBody::Status });
    keep(device.answer(&request));
    keep(device.free().0.name().len());
    monitors.words().for_each(keep);
    keep((monitors.total(), monitors.of(), monitors.restore(&mut words().iter().copied())));
}

/// A device whose counters are saved, in flash of which nothing is known.
fn kept() {
    let layout = from(JournalLayout { offset: 0, len_bytes: 8192, erased: Erased::Ones });
    let Ok(mut monitors) = PersistentMonitors::<_, 15, 10>::open(Flash, layout, any()) else { return };
    keep((monitors.room(), monitors.is_alarmed(), monitors.number(), monitors.numbered()));
    let slot = Slot::read_watched(bytes(), Anybody, BINARY.id(), BINARY.task(), monitors.room());
    let mut device = Device::with_parts((&BINARY, alarm(), Board, Board, &mut monitors), slot);
    keep(device.answer(&from(Request { id: 0, body: RequestBody::Status })));
    keep(monitors.free().capacity());
}

/// The steps by themselves, for whoever writes a loop of their own.
fn steps(classifier: &impl Classifier) {
    let mut scratch = from([0.0; calib_core::wire::MAX_VALUES]);
    let Ok(features) = Features::new(floats(), classifier.feature_count()) else { return };
    let output: Result<Output<'_>, Refusal> = classifier.classify(features, &mut scratch);
    let Ok(output) = output else { return };
    let slot = Slot::read(bytes(), Anybody, classifier.id(), from(Task::Binary));
    keep((slot.status(), slot.is_randomized()));
    let mut space = from([0.0; 2 * calib_core::wire::MAX_VALUES]);
    let mut alarm = alarm();
    let query = from(Query { output, group: None, word: None });
    keep((slot.shape(), slot.calibrate(&query), slot.calibrate_classes(&query, &mut space).is_ok()));
    keep(slot.predict(&query));
    let Ok((prediction, others)) = slot.predict_classes(&query, &mut space) else { return };
    keep(calib_core::wire::Beside::from(&others));
    keep(match prediction.alarm {
        Some(is_raised) => alarm.set(is_raised),
        None => alarm.update(&prediction.first.outcome),
    });
    keep(alarm.raise());
}

/// Calls it with a binary classifier and one of ten classes.
pub(crate) fn prove() {
    answer(&BINARY);
    answer(&TEN);
    kept();
    steps(&BINARY);
    steps(&TEN);
}
