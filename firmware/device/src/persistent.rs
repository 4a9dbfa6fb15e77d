//! Monitors whose counters survive a restart.

use calib_core::Artifact;
use calib_core::Identity;
use calib_core::journal::{Damage, Journal, JournalLayout, JournalLayoutError};
use calib_core::monitor::TableMonitors;
use calib_core::predict::Ranked;
use calib_core::slot::MonitorRoom;
use calib_core::wire::{Counters, CountersRefusal, Persistence, Refusal, ReplyBody, RequestBody};
use embedded_storage::nor_flash::NorFlash;

use crate::monitors::reply;
use crate::{Monitors, Watch, log};

/// What is saved besides the counters, in one word: whether what was counted before is lost.
const LOST: u32 = 1;
/// And up to which number predictions may be numbered: the word with the lowest 8 bits set.
const BELOW_NUMBERS: u32 = 0xFF;
/// How many numbers a save reserves at most: a start skips those that were not given.
const MOST_RESERVED: u32 = 1 << 16;

/// [`Monitors`] that save their counters in flash, in separate sectors, and whose bound on false alarms holds over all starts.
///
/// # When they save
///
/// Since a start after 1 prediction, 2 more, 4 more and so on, at most `every`; and an outcome at once. An alert is saved twice, in separate
/// sectors. A save that fails, as of worn flash, is tried again when `every` were counted once more.
///
/// # What is looked at, and told
///
/// *Only what is saved.* A save comes first; then the evidence is worked out, an alarm raised, and the request answered. Asked for counters,
/// the device tells those of the last save, and how many predictions came since ([`Persistence`]); asking saves nothing and wears nothing.
///
/// What is lost with the power takes counters back to those of the last save. An alarm that is raised in between would be one more chance
/// of a false one with every start: of devices that are switched off every 60 predictions three in four had one, where 1 in 20 is the bound.
/// Here it holds, for this reason. Call the predictions from a save, or a start, to the next save an attempt: the power may fail before
/// it is saved, and it is dropped. Whether it is dropped depends on when the power fails, and not on its scores, as nobody sees anything of
/// them before: neither the reported counters, nor an alert, nor when a save is due. So of independent, equally distributed scores
/// those that are kept are chosen in advance, one by one, and are such scores again (Doob's optional skipping). All looks are at states of
/// that one stream; so P(evidence is ever 1/alpha or more) <= alpha, by Ville's inequality.
///
/// *What it does not cover:* anyone who sees each prediction, and cuts the power before `every` of them are saved, chooses which of them are counted.
/// With enough cuts he raises an alarm, or holds one off. No bound that keeps evidence over starts holds against him but this one: with
/// `every` = 1 each prediction is saved before it is answered, nothing that anybody has seen is lost, and the bound holds whatever the power does.
///
/// # What is lost
///
/// If saved counters cannot be read, or are those of a newer calibrator that was passed over, nothing is erased and nothing saved, and what
/// the active calibrator asks for on an alarm is done: until they can be read, or counters are set back. If they were altered, so that
/// they never will be, counting restarts, and that, too, is done until counters are set back or there is another calibrator.
///
/// # Wear
///
/// A save writes all counters, 16 bytes a bin and 16 more for each table, and 32 more. Two sectors of 4 KiB hold 28 saves of 15 bins of one
/// table. A start takes the next sector with its first prediction. With `every` = 64 a year of 1000 predictions a day without a restart erases
/// each sector 200 times, of ten starts a day 1800 times. Of flash that is erased 10 000 times more sectors last as much longer.
///
/// Another calibrator restarts, and erases what was counted before: 2 erases of each sector at most.
///
/// # Numbers of predictions
///
/// [`PersistentMonitors::number`] gives a prediction a number that no other has, before or after any restart and whichever calibrator is active.
/// Every save reserves the next numbers, twice as many as predictions are counted to the next save (at least 256), and a number is given
/// only once two saves reserve it: so a start saves once more. The next start goes on behind the reserved numbers. Numbers restart only if
/// no save can be read any more ([`Persistence::Lost`]), or if several power cuts in a row take the last save.
#[derive(Debug)]
pub struct PersistentMonitors<F, const BINS: usize, const TABLES: usize> {
    monitors: Monitors<BINS, TABLES>,
    journal: Journal<F>,
    every: u32,
    /// After how many predictions the next save is due.
    pace: u32,
    has_failed: bool,
    /// Whether what was saved before could not be read.
    is_lost: bool,
    /// Whether nothing is saved, as it would take the place of what was saved before.
    is_held: bool,
    /// The last number that was given, or skipped at the start.
    numbered: u32,
    /// The last number that two saves of this start reserved: the loss of one takes none back.
    reserved: u32,
    /// The last number that the last of them reserved; 0 if there is none.
    reserved_once: u32,
}

impl<F: NorFlash, const BINS: usize, const TABLES: usize> PersistentMonitors<F, BINS, TABLES> {
    /// How many words a save has.
    pub const WORDS: usize = Monitors::<BINS, TABLES>::WORDS + 1;

    /// What tells apart counters of other numbers of bins and tables.
    const SHAPE: u32 = (BINS as u32) << 16 | TABLES as u32;

    /// Takes the flash, and saves in it after so many predictions, at least 1. With 1, no switch can choose what is counted.
    ///
    /// # Errors
    ///
    /// If the journal does not fit the flash, or all counters a sector.
    pub fn open(flash: F, layout: JournalLayout, every: u32) -> Result<Self, JournalLayoutError> {
        let journal = Journal::open(flash, layout, Self::WORDS)?;
        Ok(Self {
            monitors: Monitors::new(),
            journal,
            every: every.max(1),
            pace: 1,
            has_failed: false,
            is_lost: false,
            is_held: false,
            numbered: 0,
            reserved: 0,
            reserved_once: 0,
        })
    }

    /// Gives the flash back.
    pub fn free(self) -> F {
        self.journal.free()
    }

    /// Saves all, and looks at it: call it before the power is switched off, and nothing is lost.
    pub fn save(&mut self, artifact: &Artifact<'_>) {
        let is_of = self.monitors.of() == Some(artifact.identity());
        if self.is_held || !is_of || self.monitors.unsaved() == 0 {
            return;
        }
        let pace = self.pace.saturating_mul(2).min(self.every);
        if !self.write(Self::saved) {
            return;
        }
        self.pace = pace;
        // An alarm is saved in a separate sector, too: the loss of one sector loses none.
        if self.monitors.look_at_all(artifact) && self.write(Self::saved) {
            self.write(Self::saved_apart);
        }
    }

    /// Returns a number for the prediction that was counted last, which no other prediction has or will have, as a save reserved it. `None`
    /// if it cannot be saved, or no number is left.
    pub fn number(&mut self) -> Option<u32> {
        let number = self.numbered.checked_add(1)?;
        for _ in 0..2 {
            // What fails is not tried again at once.
            if number > self.reserved && !self.is_held && !self.has_failed {
                self.write(Self::saved);
            }
        }
        if number > self.reserved {
            return None;
        }
        self.numbered = number;
        Some(number)
    }

    /// Returns the last number that was given, or skipped at the start: predictions up to this one came earlier.
    pub const fn numbered(&self) -> u32 {
        self.numbered
    }

    /// Goes on behind the numbers that a save of another start reserved.
    const fn skip_reserved(&mut self, word: u32) {
        let reserved = word | BELOW_NUMBERS;
        if self.numbered < reserved {
            self.numbered = reserved;
        }
    }

    /// The same of the last save, whichever calibrator's it is.
    fn skip_what_is_saved(&mut self) {
        if let Some(Some(word)) = self.journal.load_any(|words| words.last()) {
            self.skip_reserved(word);
        }
    }

    /// Up to which number the next save reserves.
    fn reserving(&self) -> u32 {
        let ahead = self.every.saturating_mul(2).clamp(BELOW_NUMBERS + 1, MOST_RESERVED);
        self.numbered.saturating_add(ahead) | BELOW_NUMBERS
    }

    /// Writes a record, and tells whether it is there.
    fn write(&mut self, write: impl FnOnce(&mut Self, Identity) -> bool) -> bool {
        let is_saved = self.monitors.of().is_some_and(|calibrator| write(self, calibrator));
        self.has_failed = !is_saved;
        if is_saved {
            (self.reserved, self.reserved_once) = (self.reserved_once, self.reserving());
        }
        // What fails is not tried again at once: every try erases.
        self.monitors.set_saved();
        if !is_saved {
            self.pace = self.every;
            log::not_saved();
        }
        is_saved
    }

    fn saved(&mut self, calibrator: Identity) -> bool {
        let words = self.monitors.words().chain([self.last_word()]);
        self.journal.save(calibrator, Self::SHAPE, words).is_ok()
    }

    /// What is saved besides the counters.
    fn last_word(&self) -> u32 {
        self.reserving() & !BELOW_NUMBERS | (u32::from(self.is_lost) * LOST)
    }

    fn saved_apart(&mut self, calibrator: Identity) -> bool {
        self.journal.take_next_sector();
        self.saved(calibrator)
    }

    /// Lets nothing be left of what was counted before, and saves twice: the loss of one takes no number back.
    fn begin_anew(&mut self) {
        if self.write(Self::begun_anew) {
            self.write(Self::saved);
        }
    }

    fn begun_anew(&mut self, calibrator: Identity) -> bool {
        (self.reserved, self.reserved_once) = (0, 0);
        let words = self.monitors.words().chain([self.last_word()]);
        self.journal.begin_anew(calibrator, Self::SHAPE, words).is_ok()
    }

    /// The counters of a table as they were saved last.
    fn last_saved(&mut self, table: u16) -> TableMonitors<BINS> {
        let read = |words: &mut dyn Iterator<Item = u32>| {
            let before = usize::from(table) * TableMonitors::<BINS>::WORDS;
            words.take(before).for_each(drop);
            TableMonitors::restored(words)
        };
        let of = self.monitors.of();
        let found = of.and_then(|calibrator| self.journal.load(calibrator, Self::SHAPE, read));
        found.flatten().unwrap_or_default()
    }

    /// Tells of a table what is saved of it.
    fn told(
        &mut self,
        artifact: Option<&Artifact<'_>>,
        table: u16,
        takes_outcomes: bool,
    ) -> Result<Counters, Refusal> {
        let mut told = match self.monitors.unsaved() == 0 && !self.has_failed {
            true => self.monitors.told_now(artifact, table, takes_outcomes),
            false => self.told_before(artifact, table, takes_outcomes),
        }
        .map_err(Refusal::Counters)?;
        told.persistence = match self.monitors.unsaved() {
            _ if self.has_failed => Persistence::Failed,
            unsaved if self.is_lost => Persistence::Lost(unsaved),
            unsaved => Persistence::SavedExcept(unsaved),
        };
        Ok(told)
    }

    // Not inlined: the counters that are read lie on the stack.
    #[inline(never)]
    fn told_before(
        &mut self,
        artifact: Option<&Artifact<'_>>,
        table: u16,
        takes_outcomes: bool,
    ) -> Result<Counters, CountersRefusal> {
        let mut saved = self.last_saved(table);
        Monitors::<BINS, TABLES>::told(&mut saved, artifact, table, takes_outcomes)
    }
}

impl<F: NorFlash, const BINS: usize, const TABLES: usize> Watch for PersistentMonitors<F, BINS, TABLES> {
    fn begin(&mut self, artifact: Option<&Artifact<'_>>, is_stand_in: bool) {
        let before = self.monitors.of();
        self.monitors.begin(artifact, is_stand_in);
        let Some((calibrator, artifact)) = self.monitors.of().zip(artifact) else { return };
        if before == Some(calibrator) && !self.is_held {
            return;
        }
        (self.pace, self.has_failed) = (1, false);
        let monitors = &mut self.monitors;
        let resumed = self
            .journal
            .load(calibrator, Self::SHAPE, |words| monitors.restore(words).then(|| words.next()).flatten());
        if let Some(Some(word)) = resumed {
            self.skip_reserved(word);
            (self.is_held, self.is_lost) = (false, word & LOST != 0);
            // The power may have failed between a save and the alarm that it was enough for.
            if self.monitors.look_at_all(artifact) {
                self.write(Self::saved);
            }
            return;
        }
        // What was read of a record that is not whole counts no more than another calibrator's.
        self.monitors.clear();
        self.skip_what_is_saved();
        // With another calibrator since the start, nothing that was lost is of this one.
        let damage = if before.is_some() { Damage::None } else { self.journal.damage() };
        self.is_held = damage == Damage::Unreadable || is_stand_in && self.journal.has_record();
        self.is_lost = self.is_held || damage == Damage::Altered;
        if self.is_lost {
            log::counters_lost();
        }
        if !self.is_held {
            self.begin_anew();
        }
    }

    fn room(&self) -> MonitorRoom {
        self.monitors.room()
    }

    fn is_alarmed(&self) -> bool {
        self.is_lost || self.monitors.is_alarmed()
    }

    fn count(&mut self, artifact: &Artifact<'_>, group: Option<u8>, prediction: &Ranked) {
        self.monitors.count_in(artifact, group, prediction);
        if self.monitors.unsaved() >= self.pace {
            self.save(artifact);
        }
    }

    // Not inlined: what it needs of the stack lies below that of a prediction's answer otherwise.
    #[inline(never)]
    fn answer(
        &mut self,
        artifact: Option<&Artifact<'_>>,
        request: &RequestBody,
        takes_outcomes: bool,
    ) -> ReplyBody {
        let done = self.monitors.done(artifact, request);
        match (request, artifact) {
            (RequestBody::Outcome(_), Some(artifact)) if done.is_ok() => self.save(artifact),
            // Whether or not a table can be told of, all are set back.
            (RequestBody::ResetCounters { calibrator }, _) if self.monitors.of() == Some(*calibrator) => {
                if self.is_held {
                    self.journal.look_again();
                    self.skip_what_is_saved();
                }
                (self.is_lost, self.is_held, self.pace) = (false, false, 1);
                self.begin_anew();
            }
            _ => {}
        }
        let told = done.and_then(|table| self.told(artifact, table, takes_outcomes));
        reply(told, self.is_alarmed())
    }
}

#[cfg(test)]
mod tests {
    use std::vec::Vec;

    use calib_core::artifact::{Guarantee, Header, MonitorParts, Reduction, Table, TableForm, Theorem};
    use calib_core::wire::{Counters, PredictionOutcome, Raised, ScoreEcho};
    use calib_core::{BinFlags, Calibrated, Erased, Outcome, Score, StepTable};

    use super::*;
    use crate::testing::{Aligned, TestFlash, header, write_named};

    const LAYOUT: JournalLayout = JournalLayout { offset: 512, len_bytes: 1024, erased: Erased::Ones };

    type Small = PersistentMonitors<TestFlash, 2, 1>;

    /// Two bins, split at a half.
    fn artifact(name: u8) -> Aligned {
        artifact_with(name, None)
    }

    /// The same, with a guarantee that outcomes can contradict.
    fn guaranteeing(name: u8) -> Aligned {
        artifact_with(name, Some(0.125))
    }

    fn artifact_with(name: u8, epsilon: Option<f32>) -> Aligned {
        let steps = StepTable::new(&[0.5], &[0.25, 0.75]).unwrap();
        let tables = [Some(Table { form: TableForm::Steps(steps), epsilon })];
        let guarantee =
            epsilon.map(|epsilon| Guarantee { theorem: Theorem::Gr21Theorem3, alpha: 0.1, epsilon });
        let header = Header { guarantee, ..header(Reduction::Binary, 2, &tables, None) };
        write_named(&header, Identity([name; 8]), |writer| {
            writer.tables(&tables).unwrap();
            let gaps = &[&[50, 51][..]];
            writer
                .monitors(&MonitorParts { shift: 20, change: 1000, guarantee: 100, gaps, edges: None })
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
        opened_saving(flash, artifact, 4)
    }

    fn opened_saving(flash: TestFlash, artifact: &Artifact<'_>, every: u32) -> Small {
        let mut monitors = Small::open(flash, LAYOUT, every).unwrap();
        monitors.begin(Some(artifact), false);
        monitors
    }

    fn reset(artifact: &Artifact<'_>) -> RequestBody {
        RequestBody::ResetCounters { calibrator: artifact.identity() }
    }

    /// As many in either bin.
    fn even(count: u16) -> Vec<u16> {
        (0..count).map(|at| at % 2).collect()
    }

    /// A device with an alarm of a shift that is saved.
    fn alarmed(artifact: &Artifact<'_>) -> (TestFlash, Raised) {
        let mut monitors = opened_saving(TestFlash::new(2048), artifact, 1000);
        predict(&mut monitors, artifact, &[1; 31]);
        assert!(monitors.is_alarmed());
        let found = counters(&mut monitors, artifact, FIRST);
        assert_eq!(
            (found.predictions[..].to_vec(), found.persistence),
            (std::vec![0, 31], Persistence::SavedExcept(0))
        );
        (monitors.free(), found.shift.raised.unwrap())
    }

    #[test]
    fn what_was_saved_is_there_after_a_restart() {
        let bytes = artifact(1);
        let artifact = Artifact::parse(bytes.as_bytes()).unwrap();
        let mut flash = TestFlash::new(2048);
        for round in 0..30 {
            let mut monitors = opened(flash, &artifact);
            assert_eq!(counters(&mut monitors, &artifact, FIRST).predictions, [4 * round, 3 * round]);
            // Saved after one, two more, and four more: the last two are lost.
            predict(&mut monitors, &artifact, &[0, 1, 0, 1, 0, 1, 0, 1, 0]);
            let found = counters(&mut monitors, &artifact, FIRST);
            assert_eq!(
                (&found.predictions[..], found.persistence),
                (&[4 * round + 4, 3 * round + 3][..], Persistence::SavedExcept(2))
            );
            flash = monitors.free();
        }
    }

    /// A device that is switched off after few predictions counts most of them.
    #[test]
    fn saves_are_close_after_a_start_and_then_as_often_as_is_asked() {
        let bytes = artifact(1);
        let artifact = Artifact::parse(bytes.as_bytes()).unwrap();
        let mut monitors = opened_saving(TestFlash::new(2048), &artifact, 64);
        let mut saved = Vec::new();
        for at in 1..=300 {
            predict(&mut monitors, &artifact, &[at % 2]);
            if counters(&mut monitors, &artifact, FIRST).persistence == Persistence::SavedExcept(0) {
                saved.push(at);
            }
        }
        assert_eq!(saved, [1, 3, 7, 15, 31, 63, 127, 191, 255]);
        // Anyone who is about to switch it off saves the rest.
        monitors.save(&artifact);
        let mut again = opened(monitors.free(), &artifact);
        assert_eq!(counters(&mut again, &artifact, FIRST).predictions, [150, 150]);
        let mut each = opened_saving(TestFlash::new(2048), &artifact, 1);
        for at in 1..50 {
            predict(&mut each, &artifact, &[1]);
            assert_eq!(counters(&mut each, &artifact, FIRST).predictions, [0, at]);
        }
    }

    /// What is lost with the power must not have been looked at: each start would be one more chance of a false alarm.
    #[test]
    fn what_is_not_saved_raises_no_alarm_and_is_not_told() {
        let bytes = artifact(1);
        let artifact = Artifact::parse(bytes.as_bytes()).unwrap();
        let mut monitors = opened_saving(TestFlash::new(2048), &artifact, 1000);
        predict(&mut monitors, &artifact, &even(63));
        let before = counters(&mut monitors, &artifact, FIRST);
        predict(&mut monitors, &artifact, &[1; 63]);
        for _ in 0..3 {
            let found = counters(&mut monitors, &artifact, FIRST);
            assert_eq!(found, Counters { persistence: Persistence::SavedExcept(63), ..before.clone() });
            assert!(!monitors.is_alarmed());
        }
        predict(&mut monitors, &artifact, &[1]);
        let found = counters(&mut monitors, &artifact, FIRST);
        assert_eq!(
            (found.shift.raised, found.persistence),
            (Some(Raised::At(127)), Persistence::SavedExcept(0))
        );
        assert!(monitors.is_alarmed());
    }

    #[test]
    fn an_alarm_outlives_a_restart_and_the_loss_of_a_sector() {
        let bytes = artifact(1);
        let artifact = Artifact::parse(bytes.as_bytes()).unwrap();
        let (flash, raised) = alarmed(&artifact);
        let is_there = |flash: TestFlash| {
            let mut again = opened(flash, &artifact);
            assert!(again.is_alarmed());
            counters(&mut again, &artifact, FIRST).shift.raised == Some(raised)
        };
        assert!(is_there(flash.clone()));
        for sector in [0, 512] {
            let mut flash = flash.clone();
            flash.spoil(LAYOUT.offset + sector, 512);
            assert!(is_there(flash));
        }
    }

    /// One bit anywhere in the journal.
    #[test]
    fn no_bit_that_flips_forgets_an_alarm() {
        let bytes = artifact(1);
        let artifact = Artifact::parse(bytes.as_bytes()).unwrap();
        let (mut flash, _) = alarmed(&artifact);
        // Also with later records behind.
        for later in [0, 20] {
            let mut monitors = opened(flash, &artifact);
            predict(&mut monitors, &artifact, &even(later));
            flash = monitors.free();
            for bit in 0..8 * LAYOUT.len_bytes as usize {
                let mut flipped = flash.clone();
                flipped.flip(8 * LAYOUT.offset as usize + bit);
                assert!(opened(flipped, &artifact).is_alarmed(), "bit {bit}");
            }
        }
    }

    /// The power fails between the save and the alarm that it is enough for.
    #[test]
    fn an_alarm_that_was_not_saved_is_raised_at_the_start() {
        let bytes = artifact(1);
        let artifact = Artifact::parse(bytes.as_bytes()).unwrap();
        let mut monitors = opened_saving(TestFlash::new(2048), &artifact, 1000);
        predict(&mut monitors, &artifact, &[1; 3]);
        monitors.monitors.tables_mut()[0] = {
            let words = [0, 200, 0, 0].into_iter().chain(core::iter::repeat(0));
            TableMonitors::restored(&mut words.take(TableMonitors::<2>::WORDS)).unwrap()
        };
        assert!(monitors.write(Small::saved));
        let mut again = opened(monitors.free(), &artifact);
        assert!(again.is_alarmed());
        assert_eq!(counters(&mut again, &artifact, FIRST).shift.raised, Some(Raised::At(200)));
    }

    #[test]
    fn another_calibrator_begins_anew_and_so_does_the_first_when_it_is_back() {
        let (one, two) = (artifact(1), artifact(2));
        let [first, second] = [&one, &two].map(|bytes| Artifact::parse(bytes.as_bytes()).unwrap());
        let mut monitors = opened(TestFlash::new(2048), &first);
        predict(&mut monitors, &first, &[0; 7]);
        // Without a restart, and with one.
        monitors.begin(Some(&second), false);
        assert_eq!(counters(&mut monitors, &second, FIRST).predictions, [0, 0]);
        let mut monitors = opened(monitors.free(), &second);
        assert_eq!(counters(&mut monitors, &second, FIRST).predictions, [0, 0]);
        predict(&mut monitors, &second, &[1; 3]);
        let mut monitors = opened(monitors.free(), &first);
        assert_eq!(counters(&mut monitors, &first, FIRST).predictions, [0, 0]);
        // For a while there is none: then it is the same.
        predict(&mut monitors, &first, &[0; 3]);
        monitors.begin(None, false);
        monitors.begin(Some(&first), false);
        assert_eq!(counters(&mut monitors, &first, FIRST).predictions, [3, 0]);
    }

    /// One that was passed over, as it could not be read, is active again at a later start: with its alarm.
    #[test]
    fn a_stand_in_takes_nothing_from_the_calibrator_that_was_passed_over() {
        let (one, two) = (artifact(1), artifact(2));
        let [newest, older] = [&one, &two].map(|bytes| Artifact::parse(bytes.as_bytes()).unwrap());
        let (mut flash, raised) = alarmed(&newest);
        for _ in 0..4 {
            let before = flash.clone();
            let mut monitors = Small::open(flash, LAYOUT, 4).unwrap();
            monitors.begin(Some(&older), true);
            // Whether there is an alarm is not known: what is done on one is done.
            assert!(monitors.is_alarmed());
            predict(&mut monitors, &older, &even(100));
            let found = counters(&mut monitors, &older, FIRST);
            assert_eq!((&found.predictions[..], found.persistence), (&[0, 0][..], Persistence::Lost(100)));
            flash = monitors.free();
            assert_eq!(flash, before, "nothing is erased or written");
        }
        let mut monitors = opened(flash.clone(), &newest);
        assert!(monitors.is_alarmed());
        let found = counters(&mut monitors, &newest, FIRST);
        assert_eq!((found.shift.raised, found.persistence), (Some(raised), Persistence::SavedExcept(0)));
        // Someone sets them back, or it is read again while the device runs.
        let mut stand_in = Small::open(flash, LAYOUT, 4).unwrap();
        stand_in.begin(Some(&older), true);
        stand_in.begin(Some(&newest), false);
        assert_eq!(counters(&mut stand_in, &newest, FIRST).shift.raised, Some(raised));
        let mut stand_in = Small::open(stand_in.free(), LAYOUT, 4).unwrap();
        stand_in.begin(Some(&older), true);
        assert_eq!(counters(&mut stand_in, &older, reset(&older)).persistence, Persistence::SavedExcept(0));
        assert!(!stand_in.is_alarmed());
        predict(&mut stand_in, &older, &[1]);
        let mut stand_in = Small::open(stand_in.free(), LAYOUT, 4).unwrap();
        stand_in.begin(Some(&older), true);
        assert_eq!(counters(&mut stand_in, &older, FIRST).predictions, [0, 1]);
    }

    /// Whatever a start, another calibrator, a reset, and the loss of one save do.
    #[test]
    fn no_number_is_given_twice() {
        let bytes = [artifact(1), artifact(2)];
        let calibrators = bytes.each_ref().map(|bytes| Artifact::parse(bytes.as_bytes()).unwrap());
        for every in [1, 4, 1000, u32::MAX] {
            let (mut flash, mut last) = (TestFlash::new(2048), 0);
            for start in 0..40u16 {
                let of = &calibrators[usize::from(start % 7 == 3)];
                let mut monitors = opened_saving(flash, of, every);
                for prediction in 0..start % 5 {
                    predict(&mut monitors, of, &[0]);
                    let number = monitors.number().unwrap();
                    assert!(number > last, "{every}, {start}: {number} after {last}");
                    assert!(prediction == 0 || number == last + 1);
                    last = number;
                }
                if start % 9 == 4 {
                    counters(&mut monitors, of, reset(of));
                    last = monitors.number().unwrap();
                }
                flash = monitors.free();
                // Any one record may be lost.
                let sound = flash.clone();
                for record in 0..10 {
                    flash.spoil(LAYOUT.offset + 512 * (record / 5) + 96 * (record % 5) + 8, 1);
                    let monitors = opened_saving(flash, of, every);
                    assert!(monitors.numbered() >= last, "{every}, {start}, {record}");
                    flash = sound.clone();
                }
            }
        }
    }

    /// What cannot be reserved is not given: of flash that fails, and in the place of counters that cannot be read.
    #[test]
    fn a_number_is_given_only_if_it_is_reserved() {
        let bytes = artifact(1);
        let artifact = Artifact::parse(bytes.as_bytes()).unwrap();
        let mut monitors = opened(TestFlash::new(2048), &artifact);
        predict(&mut monitors, &artifact, &[0]);
        let first = monitors.number().unwrap();
        monitors.journal.flash_mut().fails = true;
        let given = (0..2000).filter(|_| monitors.number().is_some()).count();
        assert!((200..1000).contains(&given), "{given}");
        monitors.journal.flash_mut().fails = false;
        predict(&mut monitors, &artifact, &even(8));
        let again = monitors.number().unwrap();
        assert_eq!(again as usize, first as usize + given + 1);
        let mut flash = monitors.free();
        flash.unreadable = usize::MAX;
        let mut monitors = opened(flash, &artifact);
        monitors.journal.flash_mut().unreadable = 0;
        predict(&mut monitors, &artifact, &even(8));
        assert_eq!(monitors.number(), None);
        // Counters are set back, and the journal is there again.
        counters(&mut monitors, &artifact, reset(&artifact));
        predict(&mut monitors, &artifact, &[0]);
        assert!(monitors.number().unwrap() > again);
        // All numbers are used up.
        monitors.numbered = u32::MAX - 1;
        monitors.write(Small::saved);
        monitors.write(Small::saved);
        assert_eq!([monitors.number(), monitors.number(), monitors.number()], [Some(u32::MAX), None, None]);
        let mut monitors = opened(monitors.free(), &artifact);
        assert_eq!(monitors.number(), None);
    }

    #[test]
    fn counting_anew_outlives_a_restart() {
        let bytes = artifact(1);
        let artifact = Artifact::parse(bytes.as_bytes()).unwrap();
        let (flash, _) = alarmed(&artifact);
        let mut monitors = opened(flash, &artifact);
        assert_eq!(
            counters(&mut monitors, &artifact, reset(&artifact)).persistence,
            Persistence::SavedExcept(0)
        );
        assert!(!monitors.is_alarmed());
        let mut monitors = opened(monitors.free(), &artifact);
        assert_eq!(counters(&mut monitors, &artifact, FIRST).predictions, [0, 0]);
        assert!(!monitors.is_alarmed());
    }

    #[test]
    fn what_was_altered_is_said_and_acts_until_counting_begins_anew() {
        let (one, two) = (artifact(1), artifact(2));
        let [artifact, other] = [&one, &two].map(|bytes| Artifact::parse(bytes.as_bytes()).unwrap());
        let mut monitors = opened(TestFlash::new(2048), &artifact);
        assert_eq!(
            counters(&mut monitors, &artifact, FIRST).persistence,
            Persistence::SavedExcept(0),
            "blank is not damaged"
        );
        predict(&mut monitors, &artifact, &[0; 7]);
        let mut flash = monitors.free();
        // In the two records with which counting began, and in the three behind them, a byte of the calibrator's identity.
        (0..5).for_each(|record| flash.spoil(LAYOUT.offset + 96 * record + 8, 1));
        for start in 0..3 {
            let mut monitors = opened(flash, &artifact);
            let found = counters(&mut monitors, &artifact, FIRST);
            assert_eq!((found.predictions[0], found.persistence), (3 * start, Persistence::Lost(0)));
            assert!(monitors.is_alarmed());
            predict(&mut monitors, &artifact, &[0; 4]);
            assert_eq!(counters(&mut monitors, &artifact, FIRST).persistence, Persistence::Lost(1));
            flash = monitors.free();
        }
        // Nothing is lost of another calibrator.
        let with_other = opened(flash.clone(), &other);
        assert!(!with_other.is_alarmed());
        let mut monitors = opened(flash, &artifact);
        assert_eq!(
            counters(&mut monitors, &artifact, reset(&artifact)).persistence,
            Persistence::SavedExcept(0)
        );
        assert!(!monitors.is_alarmed());
        let mut monitors = opened(monitors.free(), &artifact);
        assert_eq!(counters(&mut monitors, &artifact, FIRST).persistence, Persistence::SavedExcept(0));
    }

    /// The first save of all was cut short: before it nothing was counted.
    #[test]
    fn a_first_save_that_was_torn_loses_nothing() {
        let bytes = artifact(1);
        let artifact = Artifact::parse(bytes.as_bytes()).unwrap();
        let mut flash = TestFlash::new(2048);
        flash.spoil(LAYOUT.offset, 40);
        let mut monitors = opened(flash, &artifact);
        assert!(!monitors.is_alarmed());
        assert_eq!(counters(&mut monitors, &artifact, FIRST).persistence, Persistence::SavedExcept(0));
    }

    #[test]
    fn what_cannot_be_read_at_a_start_is_there_at_the_next() {
        let bytes = artifact(1);
        let artifact = Artifact::parse(bytes.as_bytes()).unwrap();
        let (mut flash, raised) = alarmed(&artifact);
        for _ in 0..3 {
            flash.unreadable = usize::MAX;
            let mut monitors = opened(flash, &artifact);
            assert!(monitors.is_alarmed());
            monitors.journal.flash_mut().unreadable = 0;
            predict(&mut monitors, &artifact, &even(100));
            let found = counters(&mut monitors, &artifact, FIRST);
            assert_eq!((found.shift.raised, found.persistence), (None, Persistence::Lost(100)));
            flash = monitors.free();
        }
        let mut monitors = opened(flash, &artifact);
        let found = counters(&mut monitors, &artifact, FIRST);
        assert_eq!((found.shift.raised, found.persistence), (Some(raised), Persistence::SavedExcept(0)));
    }

    /// What the calibrator counted before, and an alarm, are no longer there when it begins: nothing that was read of an incomplete record is
    /// reported.
    #[test]
    fn a_record_that_is_not_whole_counts_nothing() {
        let bytes = artifact(1);
        let artifact = Artifact::parse(bytes.as_bytes()).unwrap();
        let (mut flash, _) = alarmed(&artifact);
        // The checksums of all records.
        for sector in [0, 512] {
            (0..5).for_each(|record| flash.spoil(LAYOUT.offset + sector + 96 * record + 76, 4));
        }
        let mut monitors = opened(flash, &artifact);
        assert_eq!(counters(&mut monitors, &artifact, FIRST).predictions, [0, 0]);
        assert_eq!(monitors.monitors.total(), 0);
        let mut again = opened(monitors.free(), &artifact);
        let found = counters(&mut again, &artifact, FIRST);
        assert_eq!(
            (&found.predictions[..], found.shift.raised, found.persistence),
            (&[0, 0][..], None, Persistence::Lost(0))
        );
    }

    #[test]
    fn an_outcome_is_saved_before_it_is_answered_and_so_is_an_alarm_of_the_guarantee() {
        let bytes = guaranteeing(1);
        let artifact = Artifact::parse(bytes.as_bytes()).unwrap();
        let mut monitors = opened_saving(TestFlash::new(2048), &artifact, 1000);
        predict(&mut monitors, &artifact, &even(80));
        let mut raised = None;
        for known in 0..30 {
            let told = PredictionOutcome {
                calibrator: artifact.identity(),
                group: None,
                class: 1,
                bin: 0,
                is_positive: true,
                known,
            };
            let found = counters(&mut monitors, &artifact, RequestBody::Outcome(told));
            assert_eq!(
                (found.outcomes[0].labeled, found.persistence),
                (known + 1, Persistence::SavedExcept(0))
            );
            raised = raised.or(found.guarantee.unwrap().raised);
            monitors = opened_saving(monitors.free(), &artifact, 1000);
            assert_eq!(monitors.is_alarmed(), raised.is_some());
            let again = counters(&mut monitors, &artifact, FIRST);
            assert_eq!((again.outcomes[0].labeled, again.guarantee.unwrap().raised), (known + 1, raised));
        }
        assert!(raised.is_some());
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
        predict(&mut monitors, &artifact, &even(400));
        let erases = worn(&mut monitors) - before;
        assert!((1..=2 * 400 / 4).contains(&erases), "{erases}");
        assert_eq!(counters(&mut monitors, &artifact, FIRST).persistence, Persistence::Failed);
        // Anyone who asks, and however often, wears nothing.
        let before = worn(&mut monitors);
        (0..50).for_each(|_| _ = counters(&mut monitors, &artifact, FIRST));
        assert_eq!(worn(&mut monitors), before);
    }

    /// What is not saved is not looked at.
    #[test]
    fn flash_that_fails_raises_no_alarm_until_it_saves_again() {
        let bytes = artifact(1);
        let artifact = Artifact::parse(bytes.as_bytes()).unwrap();
        let mut monitors = opened_saving(TestFlash::new(2048), &artifact, 100);
        monitors.journal.flash_mut().fails = true;
        // The sector that is written is full: the next save erases.
        monitors.journal.take_next_sector();
        let before = monitors.journal.flash_mut().erases;
        predict(&mut monitors, &artifact, &[1; 100]);
        let found = counters(&mut monitors, &artifact, FIRST);
        assert_eq!(
            (&found.predictions[..], found.shift.raised, found.persistence),
            (&[0, 0][..], None, Persistence::Failed)
        );
        assert!(!monitors.is_alarmed());
        assert_eq!(monitors.journal.flash_mut().erases - before, 1, "it is not tried again at once");
        // The next one succeeds, and has it all.
        monitors.journal.flash_mut().fails = false;
        predict(&mut monitors, &artifact, &[1]);
        let found = counters(&mut monitors, &artifact, FIRST);
        assert_eq!((&found.predictions[..], found.persistence), (&[0, 101][..], Persistence::SavedExcept(0)));
        assert_eq!(found.shift.raised, Some(Raised::At(101)));
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
        assert_eq!(monitors.monitors.unsaved(), 0);
        let before = monitors.journal.flash_mut().erases;
        predict(&mut monitors, &artifact, &[0; 100]);
        let found = counters(&mut monitors, &artifact, FIRST);
        assert!(found.is_full && found.persistence == Persistence::SavedExcept(0), "{found:?}");
        assert_eq!(monitors.journal.flash_mut().erases, before);
    }

    #[test]
    fn flash_that_fails_is_said_and_counting_goes_on() {
        let bytes = artifact(1);
        let artifact = Artifact::parse(bytes.as_bytes()).unwrap();
        let mut monitors = opened(TestFlash::new(2048), &artifact);
        monitors.journal.flash_mut().fails = true;
        // More than a sector holds: three saves go behind the two with which counting began.
        predict(&mut monitors, &artifact, &even(60));
        let found = counters(&mut monitors, &artifact, FIRST);
        assert_eq!((&found.predictions[..], found.persistence), (&[4, 3][..], Persistence::Failed));
        monitors.journal.flash_mut().fails = false;
        predict(&mut monitors, &artifact, &even(60));
        let found = counters(&mut monitors, &artifact, FIRST);
        assert!(
            matches!(found.persistence, Persistence::SavedExcept(0..4)) && found.predictions[0] > 56,
            "{found:?}"
        );
    }
}
