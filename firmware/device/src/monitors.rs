//! The monitors of the calibrator in force.

use calib_core::artifact::{Header, HeaderFlags, Monitors as Section, Reduction};
use calib_core::monitor::{LogEvidence, TableMonitors};
use calib_core::predict::Ranked;
use calib_core::slot::MonitorRoom;
use calib_core::wire::{
    ActionOnAlarm, Counters, CountersRefusal, Kept, KnownOutcomes, MAX_COUNTED_BINS, PredictionOutcome,
    Raised, Refusal, ReplyBody, RequestBody, ScoreEcho, Watched,
};
use calib_core::{Artifact, BinFlags, Identity, Outcome, ProbInterval};

use crate::{Watch, log};

/// How many predictions there are from one look at the evidence of a shift to the next, unless somebody asks in between.
pub const LOOK_EVERY: u32 = 16;

/// The counters and alarms of up to `TABLES` tables of up to `BINS` bins, at most 32: 16 bytes a bin and 16 more for each table, and
/// 24 for all.
///
/// Counted are the predictions that a calibrator of one probability answers, with its monitors' section, from what the device's own
/// classifier says. Not counted are, as they say nothing about the population that the device meets:
///
/// * [trials](RequestBody::is_trial), whose scores somebody on the line made up;
/// * requests that are refused, and all while there is no calibrator: there is nothing to compare with;
/// * predictions of a class, or a rank, whose table is not monitored, or whose monitor has the table's bins although one of them has no
///   calibrated probability: its number is not told, and the others alone would look like a shift.
///
/// A prediction whose calibrated probability is missing although its table is monitored counts all the same: where scores fall is what is
/// watched. A request that is sent again is a prediction again.
#[derive(Debug)]
pub struct Monitors<const BINS: usize, const TABLES: usize> {
    /// Whose predictions are counted.
    of: Option<Identity>,
    /// What an alarm of a change takes: it is asked at every prediction.
    change: LogEvidence,
    /// How many predictions and outcomes were counted since all was saved, and whether an alarm was raised since.
    unsaved: u32,
    is_urgent: bool,
    /// Whether there may be tables that are not counted, as where a score falls is not told of every bin.
    has_untold: bool,
    tables: [TableMonitors<BINS>; TABLES],
}

impl<const BINS: usize, const TABLES: usize> Monitors<BINS, TABLES> {
    /// How many words all counters are saved in.
    pub const WORDS: usize = TABLES * TableMonitors::<BINS>::WORDS;

    /// Makes monitors that have seen nothing.
    pub const fn new() -> Self {
        const { assert!(BINS <= MAX_COUNTED_BINS && TABLES <= u16::MAX as usize) };
        let tables = [const { TableMonitors::new() }; TABLES];
        Self { of: None, change: LogEvidence::NONE, unsaved: 0, is_urgent: false, has_untold: false, tables }
    }

    /// Returns whose predictions are counted.
    pub const fn of(&self) -> Option<Identity> {
        self.of
    }

    /// Returns how many predictions and outcomes were counted of all tables.
    pub fn total(&self) -> u32 {
        let counted =
            |table: &TableMonitors<BINS>| table.shift().total().saturating_add(table.promise().total());
        self.tables.iter().map(counted).fold(0, u32::saturating_add)
    }

    /// Returns all counters, as [`Monitors::restore`] takes them.
    pub fn words(&self) -> impl Iterator<Item = u32> + Clone + '_ {
        self.tables.iter().flat_map(TableMonitors::words)
    }

    /// Takes the counters of the calibrator that was begun with over; tells whether there were enough. If not, counting begins anew.
    pub fn restore(&mut self, words: &mut (impl Iterator<Item = u32> + ?Sized)) -> bool {
        for table in &mut self.tables {
            let Some(restored) = TableMonitors::restored(words) else {
                self.clear();
                return false;
            };
            *table = restored;
        }
        true
    }

    /// Tells whether so many predictions and outcomes were counted since all was saved, or an alarm was raised.
    pub const fn is_due(&self, every: u32) -> bool {
        self.is_urgent || self.unsaved >= every
    }

    /// Returns how many predictions and outcomes were counted since all was saved, or could not be.
    pub const fn unsaved(&self) -> u32 {
        self.unsaved
    }

    /// Takes note that all is saved, or could not be: it is due again when as many were counted once more.
    pub const fn set_saved(&mut self) {
        (self.unsaved, self.is_urgent) = (0, false);
    }

    /// Begins to count anew.
    pub fn clear(&mut self) {
        self.tables = [const { TableMonitors::new() }; TABLES];
        self.set_saved();
    }

    /// Counts a prediction; `None` if its table is not monitored.
    fn count_in(&mut self, artifact: &Artifact<'_>, group: Option<u8>, prediction: &Ranked) -> Option<()> {
        let section = artifact.monitors()?;
        let table = table_of(artifact.header(), group, prediction.class)?;
        let reference = section.to_count(table).filter(|reference| reference.bins() <= BINS)?;
        if self.has_untold && is_untold(artifact, &section, table) {
            return None;
        }
        let bin = match (section.own_bin(table, key(&prediction.score)), &prediction.outcome) {
            (Some(bin), _) => bin,
            (None, Outcome::Calibrated(calibrated)) => calibrated.bin.into(),
            // Of a table that is counted every bin is told: see `is_untold`.
            (None, Outcome::Uncalibrated(_)) => return None,
        };
        let monitors = self.tables.get_mut(table)?;
        // Of counters that are full nothing is new, to be looked at or to be saved.
        if monitors.shift().is_full() {
            return Some(());
        }
        self.unsaved = self.unsaved.saturating_add(1);
        if monitors.count(bin, &reference, self.change) {
            self.is_urgent = true;
            log::alarm("change", table, monitors.shift().total());
        }
        if monitors.shift().total().is_multiple_of(LOOK_EVERY) {
            self.look(&section, table);
        }
        Some(())
    }

    /// Works the evidence of a shift out.
    fn look(&mut self, section: &Section<'_>, table: usize) -> LogEvidence {
        let Some((monitors, reference)) = self.tables.get_mut(table).zip(section.to_count(table)) else {
            return LogEvidence::NONE;
        };
        let before = monitors.shift().alarm_at();
        let evidence = monitors.look_for_shift(&reference, section.alarms().shift);
        if let (None, Some(at)) = (before, monitors.shift().alarm_at()) {
            self.is_urgent = true;
            log::alarm("shift", table, at);
        }
        evidence
    }

    /// Works the evidence against the promise out; `None` if nothing is promised that outcomes could break.
    fn look_at_promise(
        &mut self,
        artifact: &Artifact<'_>,
        section: &Section<'_>,
        table: usize,
    ) -> Option<LogEvidence> {
        let bins = bins_of(artifact, table);
        let promised = (0..bins).map(|bin| artifact.tables().promised(table, bin));
        let can_break = |promised: ProbInterval| promised.lo > 0.0 || promised.hi < 1.0;
        if usize::from(bins) > BINS || !promised.clone().flatten().any(can_break) {
            return None;
        }
        let monitors = self.tables.get_mut(table)?;
        let before = monitors.promise().alarm_at();
        let evidence = monitors.look_at_promise(promised, section.alarms().promise);
        if let (None, Some(at)) = (before, monitors.promise().alarm_at()) {
            self.is_urgent = true;
            log::alarm("promise", table, at);
        }
        Some(evidence)
    }

    /// The section of a calibrator, one of whose tables is asked about and counted.
    fn monitored<'a>(
        &self,
        artifact: Option<&Artifact<'a>>,
        table: usize,
    ) -> Result<Section<'a>, CountersRefusal> {
        let section = self.compared(artifact, table)?;
        match artifact.is_some_and(|artifact| is_untold(artifact, &section, table)) {
            true => Err(CountersRefusal::Table { tables: tables(&section) }),
            false => Ok(section),
        }
    }

    /// The section of a calibrator, one of whose tables there is room for, whether it is counted or not.
    fn compared<'a>(
        &self,
        artifact: Option<&Artifact<'a>>,
        table: usize,
    ) -> Result<Section<'a>, CountersRefusal> {
        let artifact = artifact.ok_or(CountersRefusal::NotMonitored)?;
        let section = artifact.monitors().ok_or(CountersRefusal::NotMonitored)?;
        let is_counted = |class| table_of(artifact.header(), Some(0), class).is_some();
        if !(is_counted(0) || is_counted(1)) {
            return Err(CountersRefusal::NotMonitored);
        }
        let none = CountersRefusal::Table { tables: tables(&section) };
        let reference = section.to_count(table).ok_or(none)?;
        if reference.bins() > BINS || table >= TABLES {
            return Err(Self::ROOM);
        }
        Ok(section)
    }

    const ROOM: CountersRefusal = CountersRefusal::Room { tables: TABLES as u16, bins: BINS as u16 };

    fn counters(
        &mut self,
        artifact: Option<&Artifact<'_>>,
        table: u16,
        takes_outcomes: bool,
    ) -> Result<Counters, CountersRefusal> {
        // What was set back is told of a table that is not counted, too.
        let section = self.compared(artifact, table.into())?;
        let artifact = artifact.ok_or(CountersRefusal::NotMonitored)?;
        let at = usize::from(table);
        let (shift, promise) = (self.look(&section, at), self.look_at_promise(artifact, &section, at));
        let monitors = self.tables.get(at).ok_or(Self::ROOM)?;
        let alarms = section.alarms();
        let bins = section.to_count(at).map_or(0, |reference| reference.bins());
        let outcomes = match usize::from(bins_of(artifact, at)) {
            bins if bins <= BINS => bins,
            _ => 0,
        };
        let known = |(labelled, positives)| KnownOutcomes { labelled, positives };
        let is_done = self.is_alarmed();
        Ok(Counters {
            calibrator: artifact.identity(),
            table,
            tables: tables(&section),
            predictions: monitors.shift().counts().iter().take(bins).copied().collect(),
            outcomes: monitors.promise().counts().take(outcomes).map(known).collect(),
            shift: watched(shift, alarms.shift, monitors.shift().alarm_at()),
            change: Watched {
                evidence: monitors.change().evidence(),
                alarm: alarms.change,
                raised: monitors.change().since_alarm().map(|since| raised(monitors.shift().total(), since)),
            },
            promise: promise.map(|evidence| watched(evidence, alarms.promise, monitors.promise().alarm_at())),
            is_full: monitors.shift().is_full() || monitors.promise().is_full(),
            kept: Kept::No,
            takes_outcomes,
            action: artifact.monitor_action().map(|action| ActionOnAlarm { action, is_done }),
        })
    }

    /// Counts an outcome; returns the table that it is of.
    fn tell(&mut self, artifact: Option<&Artifact<'_>>, told: &PredictionOutcome) -> Result<u16, Refusal> {
        let refusal = Refusal::Counters;
        let artifact = self.held(artifact, told.calibrator).map_err(refusal)?;
        let header = artifact.header();
        if let Some(names) = artifact.groups().filter(|_| header.flags.contains(HeaderFlags::GROUPED))
            && told.group.is_none_or(|code| usize::from(code) >= names.count())
        {
            return Err(Refusal::Group(names.count() as u8));
        }
        let table = table_of(header, told.group, told.class).ok_or(refusal(CountersRefusal::NotMonitored))?;
        let section = self.monitored(Some(artifact), table).map_err(refusal)?;
        let bins = bins_of(artifact, table);
        if told.bin >= bins {
            return Err(refusal(CountersRefusal::Bin));
        }
        let monitors = self.tables.get_mut(table).filter(|_| usize::from(bins) <= BINS);
        let monitors = monitors.ok_or(refusal(Self::ROOM))?;
        let (known, _) = monitors.promise().counts().nth(told.bin.into()).unwrap_or_default();
        // Sent again, because the reply was lost.
        if known.checked_sub(1) != Some(told.known) {
            if known != told.known {
                return Err(refusal(CountersRefusal::Known(known)));
            }
            if !monitors.tell(told.bin.into(), told.is_positive) {
                let is_full = monitors.promise().is_full();
                let cause = if is_full { CountersRefusal::Full } else { CountersRefusal::NoPrediction };
                return Err(refusal(cause));
            }
            self.unsaved = self.unsaved.saturating_add(1);
            self.look_at_promise(artifact, &section, table);
        }
        // There are no more tables than a number of two bytes tells apart.
        Ok(table as u16)
    }

    fn reset(
        &mut self,
        artifact: Option<&Artifact<'_>>,
        calibrator: Identity,
    ) -> Result<u16, CountersRefusal> {
        let artifact = self.held(artifact, calibrator)?;
        let section = artifact.monitors().ok_or(CountersRefusal::NotMonitored)?;
        self.clear();
        let mut tables = (0..u16::MAX).take(section.count());
        let told = tables.find(|&table| self.compared(Some(artifact), table.into()).is_ok());
        // Why none can be told.
        told.map_or_else(|| self.compared(Some(artifact), 0).map(|_| 0), Ok)
    }

    /// The calibrator in force, if it is this one.
    fn held<'a, 'b>(
        &self,
        artifact: Option<&'b Artifact<'a>>,
        named: Identity,
    ) -> Result<&'b Artifact<'a>, CountersRefusal> {
        match artifact {
            None => Err(CountersRefusal::NotMonitored),
            Some(artifact) if artifact.identity() != named => {
                Err(CountersRefusal::OtherCalibrator(artifact.identity()))
            }
            Some(artifact) => Ok(artifact),
        }
    }
}

impl<const BINS: usize, const TABLES: usize> Default for Monitors<BINS, TABLES> {
    fn default() -> Self {
        Self::new()
    }
}

impl<const BINS: usize, const TABLES: usize> Watch for Monitors<BINS, TABLES> {
    fn begin(&mut self, artifact: Option<&Artifact<'_>>) {
        let of = artifact.map(Artifact::identity);
        if self.of != of {
            *self = Self { of, ..Self::new() };
        }
        let section = artifact.and_then(Artifact::monitors);
        self.change = section.map_or(LogEvidence::NONE, |section| section.alarms().change);
        // Once, and not with every prediction.
        self.has_untold = artifact.zip(section).is_some_and(|(artifact, section)| {
            (0..section.count()).any(|table| is_untold(artifact, &section, table))
        });
    }

    fn room(&self) -> MonitorRoom {
        MonitorRoom { tables: TABLES, bins: BINS }
    }

    fn is_alarmed(&self) -> bool {
        let is_alarmed =
            |table: &TableMonitors<BINS>| table.shift().alarm_at().or(table.promise().alarm_at()).is_some();
        self.tables.iter().any(is_alarmed)
    }

    fn count(&mut self, artifact: &Artifact<'_>, group: Option<u8>, prediction: &Ranked) {
        // What is not counted is said when somebody asks for the counters.
        let _ = self.count_in(artifact, group, prediction);
    }

    // Not inlined: what it needs of the stack lies below that of a prediction's answer otherwise.
    #[inline(never)]
    fn answer(
        &mut self,
        artifact: Option<&Artifact<'_>>,
        request: &RequestBody,
        takes_outcomes: bool,
    ) -> ReplyBody {
        let table = match request {
            RequestBody::Counters { table } => {
                let asked = self.monitored(artifact, (*table).into());
                asked.map(|_| *table).map_err(Refusal::Counters)
            }
            RequestBody::Outcome(told) => self.tell(artifact, told),
            RequestBody::ResetCounters { calibrator } => {
                self.reset(artifact, *calibrator).map_err(Refusal::Counters)
            }
            _ => Err(Refusal::Unknown),
        };
        let counters =
            table.and_then(|table| self.counters(artifact, table, takes_outcomes).map_err(Refusal::Counters));
        match counters {
            Ok(counters) => ReplyBody::Counters(counters),
            Err(refusal) => {
                log::refused(refusal);
                ReplyBody::Refused(refusal)
            }
        }
    }
}

/// The table that a prediction is calibrated by; `None` if a calibrator of this reduction gives more than one probability, or there is
/// none for the class.
fn table_of(header: &Header<'_>, group: Option<u8>, class: u16) -> Option<usize> {
    let tables = header.reduction.tables(header.classes)?;
    let table = match header.reduction {
        Reduction::Binary | Reduction::Confidence => 0,
        Reduction::TopLabel => usize::from(class),
        _ => return None,
    };
    let group = if header.flags.contains(HeaderFlags::GROUPED) { group? } else { 0 };
    (table < tables).then(|| usize::from(group) * tables + table)
}

/// The number of tables, of which a calibrator has no more than two bytes tell.
fn tables(section: &Section<'_>) -> u16 {
    u16::try_from(section.count()).unwrap_or(u16::MAX)
}

/// The bins of a table; 0 if there is no such table.
fn bins_of(artifact: &Artifact<'_>, table: usize) -> u16 {
    // A bin's number has two bytes.
    artifact.tables().get(table).map_or(0, |table| table.form.bins() as u16)
}

/// Whether the monitor's bins are those of the table, and one of them has no calibrated probability: where a score falls would be told
/// of the others alone, which then look like a shift.
fn is_untold(artifact: &Artifact<'_>, section: &Section<'_>, table: usize) -> bool {
    let is_empty = |bin| artifact.tables().bin_flags(table, bin).contains(BinFlags::EMPTY);
    section.own_edges(table).is_none() && (0..bins_of(artifact, table)).any(is_empty)
}

/// By what a monitor with bins of its own finds the bin.
fn key(score: &ScoreEcho) -> u32 {
    match score {
        ScoreEcho::F32(score) => score.to_bits(),
        ScoreEcho::Margin(margin) => margin.key(),
        ScoreEcho::Code(key) | ScoreEcho::Lead(key) => (*key).into(),
    }
}

fn watched(evidence: LogEvidence, alarm: LogEvidence, at: Option<u32>) -> Watched {
    Watched { evidence, alarm, raised: at.map(Raised::At) }
}

/// Which of `total` predictions raised the alarm, that many predictions ago.
fn raised(total: u32, since: u16) -> Raised {
    let at = total.saturating_sub(since.into());
    // Where the monitor stops counting.
    if since == u16::MAX - 1 { Raised::By(at) } else { Raised::At(at) }
}
