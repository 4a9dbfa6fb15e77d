//! Monitors: counting what is calibrated, and noticing that it is no longer like the calibration.

use calib_core::predict::{Prediction, Ranked};
use calib_core::slot::MonitorRoom;
use calib_core::wire::{Counters, CountersRefusal, PredictionOutcome, Refusal, ReplyBody, RequestBody};
use calib_core::{Artifact, Identity};
use calib_firmware::{NoMonitors, Watch};

use crate::calibrator::{Opened, calib_calibrator_t};
use crate::counters::calib_counters_t;
use crate::counting::{
    self, CALIB_MANY_SAVED_BYTES, Counting, Made, ManyPersistentTables, ManyTables, OneTable, PersistentTable,
};
use crate::error::{
    CALIB_ERROR_ARGUMENT, CALIB_ERROR_BIN, CALIB_ERROR_LENGTH, CALIB_ERROR_NOT_MONITORED,
    CALIB_ERROR_OTHER_CALIBRATOR, Result, code, of_refusal,
};
use crate::journal::{calib_journal_t, persistent};
use crate::memory::{self, OutParam, Span, State};
use crate::result::{CALIB_CALIBRATED, CheckedOptions, calib_options_t, calib_result_t, options};
use crate::told::ToldOutcomes;

/// Words, of 8 bytes, of a `calib_monitors_t`.
#[cfg(target_pointer_width = "32")]
pub const CALIB_MONITORS_WORDS: usize = 13;
/// Words, of 8 bytes, of a `calib_monitors_t`.
#[cfg(target_pointer_width = "64")]
pub const CALIB_MONITORS_WORDS: usize = 15;

/// The monitors of a calibrator, over counters in other memory of the caller's. Opened by `calib_monitors_open` and its
/// like; there is nothing to close.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct calib_monitors_t {
    /// Internal.
    pub opaque: [u64; CALIB_MONITORS_WORDS],
}

/// Open monitors.
pub(crate) struct OpenMonitors {
    counters: *mut dyn Counting,
    /// Whose predictions are counted.
    of: Option<Identity>,
    /// The number of the last prediction; 0 if it has none.
    number: u32,
    /// Which outcomes were told.
    told: ToldOutcomes,
}

impl OpenMonitors {
    /// What a call with these monitors must leave alone: them, and the counters.
    fn own(&self, monitors: *const calib_monitors_t) -> [Span; 2] {
        [Span::of(monitors), Span::of_slice(self.counters.cast::<u64>(), self.counted().given())]
    }

    fn counters(&mut self) -> &mut dyn Counting {
        // SAFETY: by the contract of `calib_monitors_open`: nothing else uses the memory.
        unsafe { &mut *self.counters }
    }

    fn counted(&self) -> &dyn Counting {
        // SAFETY: as above.
        unsafe { &*self.counters }
    }

    /// Continues for this calibrator or restarts at 0, and checks that there is room for all of its monitors.
    fn begin_with(&mut self, artifact: &Artifact<'_>) -> Result<()> {
        self.begin(Some(artifact), false);
        let begun = self.has_room(artifact);
        if begun.is_err() {
            self.begin(None, false);
        }
        begun
    }

    fn has_room(&mut self, artifact: &Artifact<'_>) -> Result<()> {
        let section = artifact.monitors().ok_or(CALIB_ERROR_NOT_MONITORED)?;
        let is_monitored = |table: &u16| section.to_count(usize::from(*table)).is_some();
        let mut tables = (0..u16::MAX).take(section.count()).filter(is_monitored).peekable();
        tables.peek().ok_or(CALIB_ERROR_NOT_MONITORED)?;
        tables.try_for_each(|table| self.asked(artifact, &RequestBody::Counters { table }).map(|_| ()))
    }

    /// The calibrator must be the one that was begun with.
    fn check(&self, artifact: &Artifact<'_>) -> Result<()> {
        if self.of == Some(artifact.identity()) { Ok(()) } else { Err(CALIB_ERROR_OTHER_CALIBRATOR) }
    }

    /// Sees that it is begun with: the caller may have opened the monitors again, or begun with another calibrator.
    fn go_on_with(&mut self, artifact: Option<&Artifact<'_>>, is_stand_in: bool) {
        if self.of != artifact.map(Artifact::identity) {
            self.begin(artifact, is_stand_in);
        }
    }

    fn asked(&mut self, artifact: &Artifact<'_>, request: &RequestBody) -> Result<Counters> {
        match self.answer(Some(artifact), request, true) {
            ReplyBody::Counters(counters) => Ok(counters),
            ReplyBody::Refused(refusal) => Err(of_refusal(refusal)),
            _ => Err(CALIB_ERROR_NOT_MONITORED),
        }
    }

    /// Counts the outcome of the prediction of this number, unless it is known: the number of outcomes that are known is asked for first.
    fn tell(&mut self, artifact: &Artifact<'_>, number: u32, mut told: PredictionOutcome) -> Result<()> {
        if self.told.is_known(number, told.is_positive)? {
            return Ok(());
        }
        let request = RequestBody::Outcome(told);
        if let ReplyBody::Refused(Refusal::Counters(CountersRefusal::Known(known))) =
            self.counters().answer(Some(artifact), &request, true)
        {
            told.known = known;
        }
        self.asked(artifact, &RequestBody::Outcome(told))?;
        self.told.tell(number, told.is_positive);
        Ok(())
    }
}

impl Watch for OpenMonitors {
    fn begin(&mut self, artifact: Option<&Artifact<'_>>, is_stand_in: bool) {
        let of = artifact.map(Artifact::identity);
        self.counters().begin(artifact, is_stand_in);
        if self.of != of {
            // No number is given twice, also if a journal goes on.
            self.told = self.told.anew(self.counted().skipped());
        }
        self.of = of;
    }

    fn room(&self) -> MonitorRoom {
        self.counted().room()
    }

    fn is_alarmed(&self) -> bool {
        self.counted().is_alarmed()
    }

    fn count(&mut self, artifact: &Artifact<'_>, group: Option<u8>, prediction: &Ranked) {
        self.counters().count(artifact, group, prediction);
        let last = self.told.last();
        self.number = self.counters().number(last).unwrap_or(0);
        if self.number > 0 {
            self.told.predict(self.number);
        }
    }

    fn answer(&mut self, artifact: Option<&Artifact<'_>>, request: &RequestBody, takes: bool) -> ReplyBody {
        let reply = self.counters().answer(artifact, request, takes);
        if let (RequestBody::ResetCounters { .. }, ReplyBody::Counters(_)) = (request, &reply) {
            self.told = self.told.anew(self.counted().skipped());
        }
        reply
    }
}

/// Counts a prediction by an open calibrator, which is passed on, and returns its number; null counts nothing.
///
/// # Safety
///
/// As [`calib_monitors_open`].
pub(crate) unsafe fn count(
    monitors: *mut calib_monitors_t,
    artifact: Option<&Artifact<'_>>,
    prediction: &Prediction,
    handed_over: Span,
) -> Result<u32> {
    if monitors.is_null() {
        return Ok(0);
    }
    let artifact = artifact.ok_or(CALIB_ERROR_NOT_MONITORED)?;
    let count = |opened: &mut OpenMonitors| {
        handed_over.apart_from(&opened.own(monitors))?;
        opened.check(artifact)?;
        opened.count(artifact, prediction.group, &prediction.first);
        Ok(opened.number)
    };
    // SAFETY: the caller's.
    unsafe { memory::work(monitors.cast(), count) }
}

/// What counts a device's predictions: the caller's monitors, or nothing.
#[derive(Clone, Copy)]
pub(crate) struct Watching {
    /// Null counts nothing.
    monitors: *mut calib_monitors_t,
    /// Whether the calibrator that was begun with stands in for one that was passed over.
    is_stand_in: bool,
}

impl Watching {
    /// Takes the caller's monitors.
    ///
    /// # Safety
    ///
    /// As [`calib_monitors_open`], as long as the device is used.
    pub(crate) unsafe fn new(monitors: *mut calib_monitors_t) -> Result<Self> {
        let watching = Self { monitors, is_stand_in: false };
        watching.check()?;
        Ok(watching)
    }

    /// Sees that they are open, and that nobody works on them: what a device predicts is counted then.
    pub(crate) fn check(&self) -> Result<()> {
        if self.monitors.is_null() {
            return Ok(());
        }
        // SAFETY: by the contract of `Watching::new`.
        unsafe { memory::look::<OpenMonitors>(self.monitors.cast()) }.map(|_| ())
    }

    /// What a call with the device must leave alone: the monitors and their counters.
    pub(crate) fn own(&self) -> [Span; 2] {
        let nothing = [Span::of(self.monitors); 2];
        self.look(|opened| opened.own(self.monitors)).unwrap_or(nothing)
    }

    /// The number of the last prediction; 0 if it has none.
    pub(crate) fn last(&self) -> u32 {
        self.look(|opened| opened.number).unwrap_or(0)
    }

    fn look<R>(&self, look: impl FnOnce(&OpenMonitors) -> R) -> Option<R> {
        if self.monitors.is_null() {
            return None;
        }
        // SAFETY: by the contract of `Watching::new`.
        unsafe { memory::look(self.monitors.cast()) }.ok().map(look)
    }

    fn with<R>(&mut self, work: impl FnOnce(&mut OpenMonitors) -> R) -> Option<R> {
        if self.monitors.is_null() {
            return None;
        }
        // SAFETY: by the contract of `Watching::new`.
        unsafe { memory::work(self.monitors.cast(), |opened| Ok(work(opened))) }.ok()
    }
}

impl Watch for Watching {
    fn begin(&mut self, artifact: Option<&Artifact<'_>>, is_stand_in: bool) {
        self.is_stand_in = is_stand_in;
        self.with(|opened| opened.begin(artifact, is_stand_in));
    }

    fn room(&self) -> MonitorRoom {
        self.look(OpenMonitors::room).unwrap_or(MonitorRoom::NONE)
    }

    fn is_alarmed(&self) -> bool {
        self.look(OpenMonitors::is_alarmed).unwrap_or(false)
    }

    fn count(&mut self, artifact: &Artifact<'_>, group: Option<u8>, prediction: &Ranked) {
        let is_stand_in = self.is_stand_in;
        self.with(|opened| {
            opened.go_on_with(Some(artifact), is_stand_in);
            opened.count(artifact, group, prediction);
        });
    }

    fn answer(&mut self, artifact: Option<&Artifact<'_>>, request: &RequestBody, takes: bool) -> ReplyBody {
        let is_stand_in = self.is_stand_in;
        let answered = self.with(|opened| {
            opened.go_on_with(artifact, is_stand_in);
            opened.answer(artifact, request, takes)
        });
        answered.unwrap_or_else(|| NoMonitors.answer(artifact, request, takes))
    }
}

/// Makes monitors of one table of up to 32 bins: those of a binary calibrator, or of one by confidence.
///
/// `counters` has room for `counters_words` words, at least `CALIB_COUNTERS_WORDS`; nothing else uses it while the monitors are used.
/// They are only in memory, unless `calib_monitors_save` saves them. Every start is then a separate test, and the bound on false alerts
/// is that of one start. With `calib_monitors_open_persistent` the bound holds over all starts. Counting begins with `calib_monitors_begin`, or with the device
/// that is given the monitors.
///
/// # Safety
///
/// Pointers that are neither null nor misaligned point to as many values as stated, which may be read or written as stated.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn calib_monitors_open(
    monitors: *mut calib_monitors_t,
    counters: *mut u64,
    counters_words: usize,
) -> i32 {
    // SAFETY: the caller's.
    unsafe { opened(monitors, counters, counters_words, &[], || Ok(OneTable::new())) }
}

/// The same for up to 10 tables of up to 15 bins: those of a calibrator with a table for each class or group. `counters` has room for
/// `CALIB_MANY_COUNTERS_WORDS`.
///
/// # Safety
///
/// As [`calib_monitors_open`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn calib_monitors_open_many(
    monitors: *mut calib_monitors_t,
    counters: *mut u64,
    counters_words: usize,
) -> i32 {
    // SAFETY: the caller's.
    unsafe { opened(monitors, counters, counters_words, &[], || Ok(ManyTables::new())) }
}

/// As `calib_monitors_open`, with a journal: the counters are saved in flash automatically, and survive a restart. Opening reads the
/// flash, and writes nothing.
///
/// # Safety
///
/// As [`calib_monitors_open`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn calib_monitors_open_persistent(
    monitors: *mut calib_monitors_t,
    counters: *mut u64,
    counters_words: usize,
    journal: *const calib_journal_t,
) -> i32 {
    // SAFETY: the caller's.
    unsafe {
        opened::<PersistentTable>(monitors, counters, counters_words, &[Span::of(journal)], || {
            persistent(journal)
        })
    }
}

/// As `calib_monitors_open_many`, with a journal, of which a save takes 2.6 KB of a sector's 4: with three sectors, no restart loses a save.
///
/// # Safety
///
/// As [`calib_monitors_open`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn calib_monitors_open_many_persistent(
    monitors: *mut calib_monitors_t,
    counters: *mut u64,
    counters_words: usize,
    journal: *const calib_journal_t,
) -> i32 {
    // SAFETY: the caller's.
    unsafe {
        opened::<ManyPersistentTables>(monitors, counters, counters_words, &[Span::of(journal)], || {
            persistent(journal)
        })
    }
}

/// Opens monitors over counters.
///
/// # Safety
///
/// As [`calib_monitors_open`].
unsafe fn opened<C: Made>(
    monitors: *mut calib_monitors_t,
    counters: *mut u64,
    counters_words: usize,
    read: &[Span],
    make: impl FnOnce() -> Result<C>,
) -> i32 {
    let make = || {
        // SAFETY: the caller's.
        let counters = unsafe { counting::open(counters, counters_words, read, make) }?;
        Ok(OpenMonitors { counters, of: None, number: 0, told: ToldOutcomes::after(0) })
    };
    let counters = Span::of_slice(counters, C::WORDS_GIVEN);
    // SAFETY: the caller's.
    code(unsafe { memory::open(monitors, &[read, &[counters]], make) })
}

/// Works on monitors and the artifact that a calibrator was opened on, with the memory that is to be left alone.
///
/// # Safety
///
/// As [`calib_monitors_open`].
unsafe fn with_artifact(
    monitors: *mut calib_monitors_t,
    calibrator: *const calib_calibrator_t,
    work: impl FnOnce(&mut OpenMonitors, &Artifact<'_>, &[Span]) -> Result<()>,
) -> Result<()> {
    let work = |opened: &mut OpenMonitors| {
        let own = opened.own(monitors);
        Span::of(calibrator).apart_from(&own)?;
        // SAFETY: the caller's.
        let found = unsafe { Opened::look(calibrator) }?;
        found.bytes().apart_from(&own)?;
        let artifact = found.artifact().ok_or(CALIB_ERROR_NOT_MONITORED)?;
        let [monitors, counters] = own;
        work(opened, artifact, &[monitors, counters, Span::of(calibrator), found.bytes()])
    };
    // SAFETY: the caller's.
    unsafe { memory::work(monitors.cast(), work) }
}

/// Continues to count for this calibrator if it is the one that was counted for before, also by the journal. Otherwise restarts at 0.
///
/// From then on `calib_apply_...` counts each prediction whose `calib_options_t` names the monitors. A calibrator that was fitted
/// without `--monitor`, or that gives several probabilities, gives `CALIB_ERROR_NOT_MONITORED`. A calibrator with more tables or bins
/// than there is room for gives `CALIB_ERROR_ROOM`. A device calls this for the active calibrator.
///
/// # Safety
///
/// As [`calib_monitors_open`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn calib_monitors_begin(
    monitors: *mut calib_monitors_t,
    calibrator: *const calib_calibrator_t,
) -> i32 {
    // SAFETY: the caller's.
    code(unsafe { with_artifact(monitors, calibrator, |opened, artifact, _| opened.begin_with(artifact)) })
}

/// Reports the outcome of a prediction that was counted, once it is known.
///
/// This reads the calibrator's name, the number, the class, the bin and the reason of the `result`, and the group of the options. `is_positive`
/// is 1 if the event happened, or, with several classes, if the predicted class was right; otherwise 0.
///
/// The same outcome counts once, however often it is reported. Errors:
///
/// - `CALIB_ERROR_OTHER_CALIBRATOR`: the result is of another calibrator;
/// - `CALIB_ERROR_NO_PREDICTION`: no prediction with this number was counted;
/// - `CALIB_ERROR_TOLD`: the opposite outcome is known;
/// - `CALIB_ERROR_LATE`: an outcome of a prediction that came `CALIB_TOLD_WINDOW` or more later is known;
/// - `CALIB_ERROR_RESTARTED`: the result is from before a restart, and the journal does not hold which outcomes were reported.
///
/// The bytes of `calib_monitors_save` hold which outcomes were reported.
///
/// # Safety
///
/// As [`calib_monitors_open`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn calib_monitors_tell(
    monitors: *mut calib_monitors_t,
    calibrator: *const calib_calibrator_t,
    result: *const calib_result_t,
    told: *const calib_options_t,
    is_positive: u8,
) -> i32 {
    let tell = |opened: &mut OpenMonitors, artifact: &Artifact<'_>, own: &[Span]| {
        Span::of(result).apart_from(own)?;
        Span::of(told).apart_from(own)?;
        // SAFETY: the caller's.
        let (result, CheckedOptions { group, .. }) = unsafe { (memory::copied(result)?, options(told)?) };
        if is_positive > 1 {
            return Err(CALIB_ERROR_ARGUMENT);
        }
        let calib_result_t { class_index: class, bin, number, .. } = result;
        if result.reserved != 0 {
            return Err(CALIB_ERROR_ARGUMENT);
        }
        if result.reason != CALIB_CALIBRATED {
            return Err(CALIB_ERROR_BIN);
        }
        opened.check(artifact)?;
        if result.identity != artifact.identity().0 {
            return Err(CALIB_ERROR_OTHER_CALIBRATOR);
        }
        let (calibrator, is_positive) = (artifact.identity(), is_positive == 1);
        // More than a counter holds: no number that is known.
        let known = u32::MAX;
        let told = PredictionOutcome { calibrator, group, class, bin, is_positive, known };
        opened.tell(artifact, number, told)
    };
    // SAFETY: the caller's.
    code(unsafe { with_artifact(monitors, calibrator, tell) })
}

/// Returns what the monitors of a table counted, and computes the e-values: about a million instructions.
///
/// A binary calibrator, and one by confidence, has only table 0. A calibrator by predicted class has a table for each class. With groups,
/// the tables of each group follow those of the group before.
///
/// # Safety
///
/// As [`calib_monitors_open`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn calib_monitors_read(
    monitors: *mut calib_monitors_t,
    calibrator: *const calib_calibrator_t,
    table: u16,
    counters: *mut calib_counters_t,
) -> i32 {
    let read = |opened: &mut OpenMonitors, artifact: &Artifact<'_>, own: &[Span]| {
        // SAFETY: the caller's.
        let place = unsafe { OutParam::new(counters, &[own]) }?;
        opened.check(artifact)?;
        let found = opened.asked(artifact, &RequestBody::Counters { table })?;
        place.write(calib_counters_t::new(&found));
        Ok(())
    };
    // SAFETY: the caller's.
    code(unsafe { with_artifact(monitors, calibrator, read) })
}

/// Restarts all counts at 0, and clears the alerts.
///
/// # Safety
///
/// As [`calib_monitors_open`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn calib_monitors_reset(
    monitors: *mut calib_monitors_t,
    calibrator: *const calib_calibrator_t,
) -> i32 {
    let reset = |opened: &mut OpenMonitors, artifact: &Artifact<'_>, _: &[Span]| {
        opened.check(artifact)?;
        let calibrator = artifact.identity();
        opened.asked(artifact, &RequestBody::ResetCounters { calibrator }).map(|_| ())
    };
    // SAFETY: the caller's.
    code(unsafe { with_artifact(monitors, calibrator, reset) })
}

/// Writes all counters to `bytes`, as `calib_monitors_restore` takes them: at most `CALIB_SAVED_BYTES`, or `CALIB_MANY_SAVED_BYTES` of
/// many tables. `len` is set to how many they are. Monitors with a journal save themselves, and give `CALIB_ERROR_ARGUMENT`.
///
/// # Safety
///
/// As [`calib_monitors_open`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn calib_monitors_save(
    monitors: *mut calib_monitors_t,
    bytes: *mut u8,
    capacity: usize,
    len: *mut usize,
) -> i32 {
    let save = |opened: &mut OpenMonitors| {
        let own = opened.own(monitors);
        // SAFETY: the caller's.
        let place = unsafe { OutParam::new(len, &[&own, &[Span::of_slice(bytes, capacity)]]) }?;
        // SAFETY: the caller's.
        let room = unsafe { memory::room(bytes, capacity, &[&own]) }?;
        // More is never written.
        let room = room.get_mut(..CALIB_MANY_SAVED_BYTES.min(capacity)).unwrap_or_default();
        let of = opened.of.ok_or(CALIB_ERROR_OTHER_CALIBRATOR)?;
        place.write(opened.counted().save(of, &opened.told, memory::filled(room, 0))?);
        Ok(())
    };
    // SAFETY: the caller's.
    code(unsafe { memory::work(monitors.cast::<State<OpenMonitors>>(), save) })
}

/// Takes counters over that `calib_monitors_save` wrote, after counting has begun for their calibrator. Predictions that came after these bytes are lost,
/// and their numbers are given again: tell no outcome of them, or use a journal, which gives no number twice. Bytes that are damaged, or of
/// another calibrator or other monitors, give `CALIB_ERROR_SAVED`, and nothing changes.
///
/// # Safety
///
/// As [`calib_monitors_open`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn calib_monitors_restore(
    monitors: *mut calib_monitors_t,
    bytes: *const u8,
    len: usize,
) -> i32 {
    let restore = |opened: &mut OpenMonitors| {
        if len == 0 {
            return Err(CALIB_ERROR_LENGTH);
        }
        Span::of_slice(bytes, len).apart_from(&opened.own(monitors))?;
        // SAFETY: the caller's.
        let bytes = unsafe { memory::slice(bytes, len) }?;
        let of = opened.of.ok_or(CALIB_ERROR_OTHER_CALIBRATOR)?;
        opened.told = opened.counters().restore(of, bytes)?;
        Ok(())
    };
    // SAFETY: the caller's.
    code(unsafe { memory::work(monitors.cast::<State<OpenMonitors>>(), restore) })
}
