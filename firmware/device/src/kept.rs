//! Monitors whose counters survive a restart.

use calib_core::Artifact;
use calib_core::Identity;
use calib_core::journal::{Journal, JournalLayout, JournalLayoutError};
use calib_core::predict::Ranked;
use calib_core::slot::MonitorRoom;
use calib_core::wire::{Kept, ReplyBody, RequestBody};
use embedded_storage::nor_flash::NorFlash;

use crate::{Monitors, Watch, log};

/// [`Monitors`] that save their counters in flash, in sectors of their own: whenever so many predictions and outcomes were counted, and
/// whenever an alarm is raised. What was counted since is lost with the power, which delays an alarm and raises none. A save that fails, as
/// of worn flash, is tried again when as many were counted once more.
///
/// A save writes all counters, 16 bytes a bin and 16 more for each table, and 28 more. With two sectors of 4 KiB, 15 bins of one table, a
/// save every 64 predictions and 1000 predictions a day there are 16 saves a day, and each sector is erased once in 28 saves, or in two
/// starts: of flash that is erased 10 000 times that is worn out after 48 years, or, with ten starts a day, after five.
///
/// Another calibrator begins anew, and erases what was counted before: 2 erases of each sector at most.
#[derive(Debug)]
pub struct KeptMonitors<F, const BINS: usize, const TABLES: usize> {
    monitors: Monitors<BINS, TABLES>,
    journal: Journal<F>,
    every: u32,
    has_failed: bool,
    /// Whether what was saved before could not be read.
    is_lost: bool,
}

impl<F: NorFlash, const BINS: usize, const TABLES: usize> KeptMonitors<F, BINS, TABLES> {
    /// What tells apart counters of other numbers of bins and tables.
    const SHAPE: u32 = (BINS as u32) << 16 | TABLES as u32;

    /// Takes the flash, and saves in it after so many predictions and outcomes, at least 1.
    ///
    /// # Errors
    ///
    /// If the journal does not fit the flash, or all counters a sector.
    pub fn open(flash: F, layout: JournalLayout, every: u32) -> Result<Self, JournalLayoutError> {
        let journal = Journal::open(flash, layout, Monitors::<BINS, TABLES>::WORDS)?;
        Ok(Self {
            monitors: Monitors::new(),
            journal,
            every: every.max(1),
            has_failed: false,
            is_lost: false,
        })
    }

    /// Gives the flash back.
    pub fn free(self) -> F {
        self.journal.free()
    }

    /// Saves if it is time.
    fn save_if_due(&mut self) {
        if let Some(calibrator) = self.monitors.of().filter(|_| self.monitors.is_due(self.every)) {
            let saved = self.journal.save(calibrator, Self::SHAPE, self.monitors.words());
            self.saved(saved.is_ok());
        }
    }

    /// Returns how many predictions and outcomes were counted of all tables.
    pub fn total(&self) -> u32 {
        self.monitors.total()
    }

    /// Lets nothing be left of what was counted before.
    fn begin_anew(&mut self, calibrator: Identity) {
        let saved = self.journal.begin_anew(calibrator, Self::SHAPE, self.monitors.words());
        self.saved(saved.is_ok());
    }

    fn saved(&mut self, is_saved: bool) {
        self.has_failed = !is_saved;
        // What fails is not tried again at once: every try erases.
        self.monitors.set_saved();
        if !is_saved {
            log::not_saved();
        }
    }
}

impl<F: NorFlash, const BINS: usize, const TABLES: usize> Watch for KeptMonitors<F, BINS, TABLES> {
    fn begin(&mut self, artifact: Option<&Artifact<'_>>) {
        let before = self.monitors.of();
        self.monitors.begin(artifact);
        let Some(calibrator) = self.monitors.of().filter(|&now| before != Some(now)) else { return };
        let monitors = &mut self.monitors;
        let resumed = self.journal.load(calibrator, Self::SHAPE, |words| monitors.restore(words));
        self.is_lost = resumed == Some(false) || self.journal.is_damaged();
        if self.is_lost {
            log::counters_lost();
        }
        if resumed != Some(true) {
            // What was read of a record that is not whole counts no more than another calibrator's.
            self.monitors.clear();
            self.begin_anew(calibrator);
        }
    }

    fn room(&self) -> MonitorRoom {
        self.monitors.room()
    }

    fn is_alarmed(&self) -> bool {
        self.monitors.is_alarmed()
    }

    fn count(&mut self, artifact: &Artifact<'_>, group: Option<u8>, prediction: &Ranked) {
        self.monitors.count(artifact, group, prediction);
        self.save_if_due();
    }

    fn answer(
        &mut self,
        artifact: Option<&Artifact<'_>>,
        request: &RequestBody,
        takes_outcomes: bool,
    ) -> ReplyBody {
        let mut reply = self.monitors.answer(artifact, request, takes_outcomes);
        if let ReplyBody::Counters(counters) = &mut reply {
            match request {
                RequestBody::ResetCounters { calibrator } => {
                    self.is_lost = false;
                    self.begin_anew(*calibrator);
                }
                _ => self.save_if_due(),
            }
            counters.kept = match self.monitors.unsaved() {
                _ if self.has_failed => Kept::Failed,
                unsaved if self.is_lost => Kept::Lost(unsaved),
                unsaved => Kept::But(unsaved),
            };
        }
        reply
    }
}

#[cfg(test)]
mod tests {
    use std::vec::Vec;

    use calib_core::artifact::{MonitorParts, Reduction, Table, TableForm};
    use calib_core::wire::{Counters, ScoreEcho};
    use calib_core::{BinFlags, Calibrated, Erased, Outcome, Score, StepTable};

    use super::*;
    use crate::testing::{Aligned, TestFlash, header, write_named};

    const LAYOUT: JournalLayout = JournalLayout { offset: 512, len_bytes: 1024, erased: Erased::Ones };

    type Small = KeptMonitors<TestFlash, 2, 1>;

    /// Two bins, split at a half.
    fn artifact(name: u8) -> Aligned {
        let steps = StepTable::new(&[0.5], &[0.25, 0.75]).unwrap();
        let tables = [Some(Table { form: TableForm::Steps(steps), epsilon: None })];
        write_named(&header(Reduction::Binary, 2, &tables, None), Identity([name; 8]), |writer| {
            writer.tables(&tables).unwrap();
            let gaps = &[&[50, 51][..]];
            writer
                .monitors(&MonitorParts { shift: 20, change: 1000, promise: 100, gaps, edges: None })
                .unwrap();
        })
    }

    fn predict(monitors: &mut Small, artifact: &Artifact<'_>, bins: &[u16]) {
        for &bin in bins {
            let calibrated =
                Calibrated { prob: 0.5, bin, epsilon: None, flags: BinFlags::NONE, interval: None };
            let score = ScoreEcho::F32(Score::ONE);
            monitors.count(
                artifact,
                None,
                &Ranked { class: 1, score, outcome: Outcome::Calibrated(calibrated) },
            );
        }
    }

    fn counters(monitors: &mut Small, artifact: &Artifact<'_>, request: RequestBody) -> Counters {
        match monitors.answer(Some(artifact), &request, true) {
            ReplyBody::Counters(counters) => counters,
            other => panic!("{other:?}"),
        }
    }

    const FIRST: RequestBody = RequestBody::Counters { table: 0 };

    fn opened(flash: TestFlash, artifact: &Artifact<'_>) -> Small {
        let mut monitors = Small::open(flash, LAYOUT, 4).unwrap();
        monitors.begin(Some(artifact));
        monitors
    }

    #[test]
    fn what_was_saved_is_there_after_a_restart() {
        let bytes = artifact(1);
        let artifact = Artifact::parse(bytes.as_bytes()).unwrap();
        let mut flash = TestFlash::new(2048);
        let mut total = 0;
        for _ in 0..30 {
            let mut monitors = opened(flash, &artifact);
            assert_eq!(counters(&mut monitors, &artifact, FIRST).predictions, [total; 2]);
            predict(&mut monitors, &artifact, &[0, 1, 0, 1, 0, 1]);
            let found = counters(&mut monitors, &artifact, FIRST);
            assert_eq!((&found.predictions[..], found.kept), (&[total + 3; 2][..], Kept::But(2)));
            // The last two are lost.
            total += 2;
            flash = monitors.free();
        }
    }

    #[test]
    fn an_alarm_is_saved_at_once() {
        let bytes = artifact(1);
        let artifact = Artifact::parse(bytes.as_bytes()).unwrap();
        let mut monitors = Small::open(TestFlash::new(2048), LAYOUT, 1000).unwrap();
        monitors.begin(Some(&artifact));
        predict(&mut monitors, &artifact, &[1; 33]);
        let raised = counters(&mut monitors, &artifact, FIRST).shift.raised;
        assert!(raised.is_some());
        let mut again = opened(monitors.free(), &artifact);
        assert_eq!(counters(&mut again, &artifact, FIRST).shift.raised, raised);
    }

    #[test]
    fn another_calibrator_begins_anew_and_so_does_the_first_when_it_is_back() {
        let (one, two) = (artifact(1), artifact(2));
        let [first, second] = [&one, &two].map(|bytes| Artifact::parse(bytes.as_bytes()).unwrap());
        let mut monitors = opened(TestFlash::new(2048), &first);
        predict(&mut monitors, &first, &[0; 8]);
        // Without a restart, and with one.
        monitors.begin(Some(&second));
        assert_eq!(counters(&mut monitors, &second, FIRST).predictions, [0, 0]);
        let mut monitors = opened(monitors.free(), &second);
        assert_eq!(counters(&mut monitors, &second, FIRST).predictions, [0, 0]);
        predict(&mut monitors, &second, &[1; 4]);
        let mut monitors = opened(monitors.free(), &first);
        assert_eq!(counters(&mut monitors, &first, FIRST).predictions, [0, 0]);
        // For a while there is none: then it is the same.
        predict(&mut monitors, &first, &[0; 4]);
        monitors.begin(None);
        monitors.begin(Some(&first));
        assert_eq!(counters(&mut monitors, &first, FIRST).predictions, [4, 0]);
    }

    #[test]
    fn counting_anew_outlives_a_restart() {
        let bytes = artifact(1);
        let artifact = Artifact::parse(bytes.as_bytes()).unwrap();
        let mut monitors = opened(TestFlash::new(2048), &artifact);
        predict(&mut monitors, &artifact, &[0; 8]);
        let reset = RequestBody::ResetCounters { calibrator: artifact.identity() };
        assert_eq!(counters(&mut monitors, &artifact, reset).kept, Kept::But(0));
        let mut monitors = opened(monitors.free(), &artifact);
        assert_eq!(counters(&mut monitors, &artifact, FIRST).predictions, [0, 0]);
    }

    #[test]
    fn what_cannot_be_read_is_said_until_counting_begins_anew() {
        let bytes = artifact(1);
        let artifact = Artifact::parse(bytes.as_bytes()).unwrap();
        let mut monitors = opened(TestFlash::new(2048), &artifact);
        assert_eq!(counters(&mut monitors, &artifact, FIRST).kept, Kept::But(0), "blank is not damaged");
        predict(&mut monitors, &artifact, &[0; 8]);
        let mut flash = monitors.free();
        // In the record with which counting began, and in the two behind it, a byte of the calibrator's identity.
        (0..3).for_each(|record| flash.spoil(LAYOUT.offset + 96 * record + 8, 1));
        let mut monitors = opened(flash, &artifact);
        let found = counters(&mut monitors, &artifact, FIRST);
        assert_eq!((&found.predictions[..], found.kept), (&[0, 0][..], Kept::Lost(0)));
        predict(&mut monitors, &artifact, &[0; 3]);
        assert_eq!(counters(&mut monitors, &artifact, FIRST).kept, Kept::Lost(3));
        let reset = RequestBody::ResetCounters { calibrator: artifact.identity() };
        assert_eq!(counters(&mut monitors, &artifact, reset).kept, Kept::But(0));
        let mut monitors = opened(monitors.free(), &artifact);
        assert_eq!(counters(&mut monitors, &artifact, FIRST).kept, Kept::But(0));
    }

    /// A sector that is worn out is erased with every try: once in four predictions, and once more for an alarm.
    #[test]
    fn worn_flash_is_not_worn_by_every_prediction() {
        let bytes = artifact(1);
        let artifact = Artifact::parse(bytes.as_bytes()).unwrap();
        let mut monitors = opened(TestFlash::new(2048), &artifact);
        monitors.journal.flash_mut().fails = true;
        let worn = |monitors: &mut Small| monitors.journal.flash_mut().erases;
        // Until the sector that is written is full, no other is erased.
        predict(&mut monitors, &artifact, &[0; 40]);
        let before = worn(&mut monitors);
        let bins: Vec<u16> = (0..400).map(|at| at % 2).collect();
        predict(&mut monitors, &artifact, &bins);
        let erases = worn(&mut monitors) - before;
        assert!((1..=2 * 400 / 4).contains(&erases), "{erases}");
        assert_eq!(counters(&mut monitors, &artifact, FIRST).kept, Kept::Failed);
        // Whoever asks, and however often, wears nothing.
        let before = worn(&mut monitors);
        (0..50).for_each(|_| _ = counters(&mut monitors, &artifact, FIRST));
        assert_eq!(worn(&mut monitors), before);
    }

    #[test]
    fn an_alarm_that_is_not_saved_is_tried_once() {
        let bytes = artifact(1);
        let artifact = Artifact::parse(bytes.as_bytes()).unwrap();
        let mut monitors = Small::open(TestFlash::new(2048), LAYOUT, 1000).unwrap();
        monitors.begin(Some(&artifact));
        // The sector that is written is full: the next save erases.
        for _ in 0..4 {
            let words = monitors.monitors.words();
            monitors.journal.save(artifact.identity(), Small::SHAPE, words).unwrap();
        }
        monitors.journal.flash_mut().fails = true;
        let before = monitors.journal.flash_mut().erases;
        predict(&mut monitors, &artifact, &[1; 100]);
        let found = counters(&mut monitors, &artifact, FIRST);
        // One alarm of a shift, and those of a change.
        assert!(found.shift.raised.is_some() && found.kept == Kept::Failed);
        let erases = monitors.journal.flash_mut().erases - before;
        assert!((1..=12).contains(&erases), "{erases}");
        // The next one succeeds, and has it all.
        monitors.journal.flash_mut().fails = false;
        predict(&mut monitors, &artifact, &[1; 1000]);
        let found = counters(&mut monitors, &artifact, FIRST);
        assert!(matches!(found.kept, Kept::But(..1000)));
        let mut again = opened(monitors.free(), &artifact);
        assert_eq!(counters(&mut again, &artifact, FIRST).shift.raised, found.shift.raised);
    }

    /// There is nothing new to save.
    #[test]
    fn full_counters_are_not_saved_again_and_again() {
        let bytes = artifact(1);
        let artifact = Artifact::parse(bytes.as_bytes()).unwrap();
        let mut monitors = opened(TestFlash::new(2048), &artifact);
        let words = [u32::MAX / 2 - 1].into_iter().chain(core::iter::repeat(0));
        assert!(monitors.monitors.restore(&mut words.take(Monitors::<2, 1>::WORDS)));
        predict(&mut monitors, &artifact, &[0; 4]);
        assert_eq!(monitors.monitors.unsaved(), 1);
        let before = monitors.journal.flash_mut().erases;
        predict(&mut monitors, &artifact, &[0; 100]);
        let found = counters(&mut monitors, &artifact, FIRST);
        assert!(found.is_full && found.kept == Kept::But(0), "{found:?}");
        assert_eq!(monitors.journal.flash_mut().erases, before);
    }

    #[test]
    fn flash_that_fails_is_said_and_counting_goes_on() {
        let bytes = artifact(1);
        let artifact = Artifact::parse(bytes.as_bytes()).unwrap();
        let mut monitors = opened(TestFlash::new(2048), &artifact);
        monitors.journal.flash_mut().fails = true;
        // More than a sector holds.
        let bins: Vec<u16> = (0..60).map(|at| at % 2).collect();
        predict(&mut monitors, &artifact, &bins);
        let found = counters(&mut monitors, &artifact, FIRST);
        assert_eq!((&found.predictions[..], found.kept), (&[30, 30][..], Kept::Failed));
        monitors.journal.flash_mut().fails = false;
        predict(&mut monitors, &artifact, &bins);
        assert!(matches!(counters(&mut monitors, &artifact, FIRST).kept, Kept::But(_)));
    }
}
