//! The monitors of the active calibrator.

use calib_core::artifact::{Header, HeaderFlags, Monitors as Section, Reduction};
use calib_core::monitor::{LogEvidence, TableMonitors};
use calib_core::predict::Ranked;
use calib_core::slot::MonitorRoom;
use calib_core::wire::{
    ActionOnAlarm, Counters, CountersRefusal, KnownOutcomes, MAX_COUNTED_BINS, Persistence,
    PredictionOutcome, Raised, Refusal, ReplyBody, RequestBody, ScoreEcho, Watched,
};
use calib_core::{Artifact, BinFlags, Identity, Outcome, ProbInterval};

use crate::{Watch, log};

/// How many predictions there are from one look at the evidence of a shift to the next, unless someone asks in between, where counters are in
/// memory alone.
pub const LOOK_EVERY: u32 = 16;

/// The counters and alarms of up to `TABLES` tables of up to `BINS` bins, at most 32: 16 bytes a bin and 16 more for each table, and
/// 32 for all.
///
/// They are in memory alone, and restart with every start: each start is a separate test, and the bound on false alarms is that of one
/// start. Of a device that is switched off often, many a start raises one. [`PersistentMonitors`](crate::PersistentMonitors) hold the bound over all
/// starts.
///
/// Counted are the predictions that a calibrator of one probability answers, with its monitors' section, from what the device's own
/// classifier says. Not counted are, as they say nothing about the population that the device meets:
///
/// * [trials](RequestBody::is_trial), whose scores someone on the line made up;
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
    /// How many predictions and outcomes were counted since all was saved.
    unsaved: u32,
    /// The tables of which something was counted since they were looked at: a bit each, of which several tables may share one.
    unseen: u32,
    /// The outcome that was counted last since the start, with its table: what is sent again is the same.
    last: Option<(u16, u16, bool)>,
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
        let change = LogEvidence::NONE;
        Self { of: None, change, unsaved: 0, unseen: 0, last: None, has_untold: false, tables }
    }

    /// Returns whose predictions are counted.
    pub const fn of(&self) -> Option<Identity> {
        self.of
    }

    /// Returns how many predictions and outcomes were counted of all tables.
    pub fn total(&self) -> u32 {
        let counted =
            |table: &TableMonitors<BINS>| table.shift().total().saturating_add(table.guarantee().total());
        self.tables.iter().map(counted).fold(0, u32::saturating_add)
    }

    /// Returns all counters, as [`Monitors::restore`] takes them.
    pub fn words(&self) -> impl Iterator<Item = u32> + Clone + '_ {
        self.tables.iter().flat_map(TableMonitors::words)
    }

    /// Takes the counters of the calibrator that was begun with over; tells whether there were enough. If not, counting restarts.
    pub fn restore(&mut self, words: &mut (impl Iterator<Item = u32> + ?Sized)) -> bool {
        for table in &mut self.tables {
            let Some(restored) = TableMonitors::restored(words) else {
                self.clear();
                return false;
            };
            *table = restored;
        }
        self.unseen = u32::MAX;
        true
    }

    /// Returns how many predictions and outcomes were counted since all was saved, or could not be.
    pub const fn unsaved(&self) -> u32 {
        self.unsaved
    }

    /// Takes note that all is saved, or could not be.
    pub(crate) const fn set_saved(&mut self) {
        self.unsaved = 0;
    }

    /// Begins to count again.
    pub fn clear(&mut self) {
        self.tables = [const { TableMonitors::new() }; TABLES];
        (self.unsaved, self.unseen, self.last) = (0, 0, None);
    }

    #[cfg(test)]
    pub(crate) const fn tables_mut(&mut self) -> &mut [TableMonitors<BINS>; TABLES] {
        &mut self.tables
    }

    /// Counts a prediction, and returns its table; `None` if that is not monitored, or counts no more. Nothing is looked at but the monitor of a
    /// change.
    pub(crate) fn count_in(
        &mut self,
        artifact: &Artifact<'_>,
        group: Option<u8>,
        prediction: &Ranked,
    ) -> Option<usize> {
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
            return None;
        }
        self.unsaved = self.unsaved.saturating_add(1);
        self.unseen |= bit(table);
        if monitors.count(bin, &reference, self.change) {
            log::alarm("change", table, monitors.shift().total());
        }
        Some(table)
    }

    /// Works the evidence of every table out of which something was counted since, raises the alarms that it is enough for, and tells whether
    /// there is one that was not.
    pub(crate) fn look_at_all(&mut self, artifact: &Artifact<'_>) -> bool {
        let unseen = core::mem::take(&mut self.unseen);
        let Some(section) = artifact.monitors() else { return false };
        let mut is_raised = false;
        for table in (0..TABLES.min(section.count())).filter(|&table| unseen & bit(table) != 0) {
            is_raised |= self.look(artifact, &section, table);
        }
        is_raised
    }

    /// The same of one table.
    fn look(&mut self, artifact: &Artifact<'_>, section: &Section<'_>, table: usize) -> bool {
        let Some((monitors, reference)) = self.tables.get_mut(table).zip(section.to_count(table)) else {
            return false;
        };
        let alarms = section.alarms();
        let mut is_raised = false;
        if reference.bins() <= BINS && monitors.shift().alarm_at().is_none() {
            monitors.look_for_shift(&reference, alarms.shift);
            if let Some(at) = monitors.shift().alarm_at() {
                is_raised = true;
                log::alarm("shift", table, at);
            }
        }
        // Without outcomes there is nothing to look at, which takes longest.
        if monitors.guarantee().total() > 0
            && monitors.guarantee().alarm_at().is_none()
            && let Some(guaranteed) = guaranteed::<BINS>(artifact, table)
        {
            monitors.look_at_guarantee(guaranteed, alarms.guarantee);
            if let Some(at) = monitors.guarantee().alarm_at() {
                is_raised = true;
                log::alarm("guarantee", table, at);
            }
        }
        is_raised
    }

    /// The section of a calibrator, one of whose tables is asked about and counted.
    fn monitored<'a>(artifact: Option<&Artifact<'a>>, table: usize) -> Result<Section<'a>, CountersRefusal> {
        let section = Self::compared(artifact, table)?;
        match artifact.is_some_and(|artifact| is_untold(artifact, &section, table)) {
            true => Err(CountersRefusal::Table { tables: tables(&section) }),
            false => Ok(section),
        }
    }

    /// The section of a calibrator, one of whose tables there is room for, whether it is counted or not.
    fn compared<'a>(artifact: Option<&Artifact<'a>>, table: usize) -> Result<Section<'a>, CountersRefusal> {
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

    /// Looks at the counters of a table, and tells of them.
    pub(crate) fn told(
        monitors: &mut TableMonitors<BINS>,
        artifact: Option<&Artifact<'_>>,
        table: u16,
        takes_outcomes: bool,
    ) -> Result<Counters, CountersRefusal> {
        // What was set back is told of a table that is not counted, too.
        let section = Self::compared(artifact, table.into())?;
        let artifact = artifact.ok_or(CountersRefusal::NotMonitored)?;
        let at = usize::from(table);
        let alarms = section.alarms();
        let reference = section.to_count(at);
        let look = |reference| monitors.look_for_shift(&reference, alarms.shift);
        let shift = reference.map_or(LogEvidence::NONE, look);
        let look = |guaranteed| monitors.look_at_guarantee(guaranteed, alarms.guarantee);
        let guarantee = guaranteed::<BINS>(artifact, at).map(look);
        let bins = reference.map_or(0, |reference| reference.bins());
        let outcomes = match usize::from(bins_of(artifact, at)) {
            bins if bins <= BINS => bins,
            _ => 0,
        };
        let known = |(labeled, positives)| KnownOutcomes { labeled, positives };
        Ok(Counters {
            calibrator: artifact.identity(),
            table,
            tables: tables(&section),
            predictions: monitors.shift().counts().iter().take(bins).copied().collect(),
            outcomes: monitors.guarantee().counts().take(outcomes).map(known).collect(),
            shift: watched(shift, alarms.shift, monitors.shift().alarm_at()),
            change: Watched {
                evidence: monitors.change().evidence(),
                alarm: alarms.change,
                raised: monitors.change().since_alarm().map(|since| raised(monitors.shift().total(), since)),
            },
            guarantee: guarantee
                .map(|evidence| watched(evidence, alarms.guarantee, monitors.guarantee().alarm_at())),
            is_full: monitors.shift().is_full() || monitors.guarantee().is_full(),
            persistence: Persistence::MemoryOnly,
            takes_outcomes,
            action: artifact.monitor_action().map(|action| ActionOnAlarm { action, is_done: false }),
        })
    }

    /// The same of the counters in memory.
    pub(crate) fn told_now(
        &mut self,
        artifact: Option<&Artifact<'_>>,
        table: u16,
        takes_outcomes: bool,
    ) -> Result<Counters, CountersRefusal> {
        let monitors = self.tables.get_mut(usize::from(table)).ok_or(Self::ROOM)?;
        Self::told(monitors, artifact, table, takes_outcomes)
    }

    /// Does what a request about counters asks for, and returns the table that is to be told of.
    pub(crate) fn done(
        &mut self,
        artifact: Option<&Artifact<'_>>,
        request: &RequestBody,
    ) -> Result<u16, Refusal> {
        match request {
            RequestBody::Counters { table } => {
                let asked = Self::monitored(artifact, (*table).into());
                asked.map(|_| *table).map_err(Refusal::Counters)
            }
            RequestBody::Outcome(told) => self.tell(artifact, told),
            RequestBody::ResetCounters { calibrator } => {
                self.reset(artifact, *calibrator).map_err(Refusal::Counters)
            }
            _ => Err(Refusal::Unknown),
        }
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
        let section = Self::monitored(Some(artifact), table).map_err(refusal)?;
        let bins = bins_of(artifact, table);
        if told.bin >= bins {
            return Err(refusal(CountersRefusal::Bin));
        }
        let monitors = self.tables.get_mut(table).filter(|_| usize::from(bins) <= BINS);
        let monitors = monitors.ok_or(refusal(Self::ROOM))?;
        let (known, _) = monitors.guarantee().counts().nth(told.bin.into()).unwrap_or_default();
        // There are no more tables than a number of two bytes tells apart.
        let (at, this) = (table as u16, (table as u16, told.bin, told.is_positive));
        // Sent again, because the reply was lost. Another one, as of a second host, is not.
        if known.checked_sub(1) == Some(told.known) && self.last == Some(this) {
            return Ok(at);
        }
        if known != told.known {
            return Err(refusal(CountersRefusal::Known(known)));
        }
        // In which of the table's bins predictions fell is known where the monitor has the same.
        let is_without = |&predictions: &u32| section.own_edges(table).is_none() && known >= predictions;
        let is_without = monitors.shift().counts().get(usize::from(told.bin)).is_some_and(is_without);
        if is_without || !monitors.tell(told.bin.into(), told.is_positive) {
            let is_full = monitors.guarantee().is_full();
            let cause = if is_full { CountersRefusal::Full } else { CountersRefusal::NoPrediction };
            return Err(refusal(cause));
        }
        (self.unsaved, self.last) = (self.unsaved.saturating_add(1), Some(this));
        self.unseen |= bit(table);
        Ok(at)
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
        let told = tables.find(|&table| Self::compared(Some(artifact), table.into()).is_ok());
        // Why none can be told.
        told.map_or_else(|| Self::compared(Some(artifact), 0).map(|_| 0), Ok)
    }

    /// The active calibrator, if it is this one.
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
    fn begin(&mut self, artifact: Option<&Artifact<'_>>, _: bool) {
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
            |table: &TableMonitors<BINS>| table.shift().alarm_at().or(table.guarantee().alarm_at()).is_some();
        self.tables.iter().any(is_alarmed)
    }

    fn count(&mut self, artifact: &Artifact<'_>, group: Option<u8>, prediction: &Ranked) {
        // What is not counted is said when someone asks for the counters.
        let Some(table) = self.count_in(artifact, group, prediction) else { return };
        let is_time = |table: &TableMonitors<BINS>| table.shift().total().is_multiple_of(LOOK_EVERY);
        if let Some(section) = artifact.monitors().filter(|_| self.tables.get(table).is_some_and(is_time)) {
            self.look(artifact, &section, table);
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
        let told = self
            .done(artifact, request)
            .and_then(|table| self.told_now(artifact, table, takes_outcomes).map_err(Refusal::Counters));
        reply(told, self.is_alarmed())
    }
}

/// The reply to a request about counters, of a device that does what is done on an alarm, or does not.
pub(crate) fn reply(counters: Result<Counters, Refusal>, is_done: bool) -> ReplyBody {
    match counters {
        Ok(mut counters) => {
            if let Some(action) = &mut counters.action {
                action.is_done = is_done;
            }
            ReplyBody::Counters(counters)
        }
        Err(refusal) => {
            log::refused(refusal);
            ReplyBody::Refused(refusal)
        }
    }
}

/// The bit of a table among those that were not looked at.
const fn bit(table: usize) -> u32 {
    1 << (table % 32)
}

/// What is guaranteed of each bin of a table; `None` if nothing that outcomes could contradict, or of more bins than there is room for.
fn guaranteed<'a, 'b, const BINS: usize>(
    artifact: &'a Artifact<'b>,
    table: usize,
) -> Option<impl Iterator<Item = Option<ProbInterval>> + Clone + use<'a, 'b, BINS>> {
    let bins = bins_of(artifact, table);
    let guaranteed = (0..bins).map(move |bin| artifact.tables().guaranteed(table, bin));
    let can_break = |guaranteed: ProbInterval| guaranteed.lo > 0.0 || guaranteed.hi < 1.0;
    (usize::from(bins) <= BINS && guaranteed.clone().flatten().any(can_break)).then_some(guaranteed)
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

/// The bins that answers of a table name; 0 if there is no such table.
fn bins_of(artifact: &Artifact<'_>, table: usize) -> u16 {
    // A bin's number has two bytes.
    artifact.tables().bins(table).map_or(0, |bins| bins as u16)
}

/// Whether the monitor's bins are those of the table, and one of them has no calibrated probability: where a score falls would be told
/// of the others alone, which then look like a shift.
fn is_untold(artifact: &Artifact<'_>, section: &Section<'_>, table: usize) -> bool {
    let is_empty = |bin| artifact.tables().bin_flags(table, bin).contains(BinFlags::EMPTY);
    // Empty is a bin of the table's form, whatever answers name.
    let bins = artifact.tables().get(table).map_or(0, |table| table.form.bins() as u16);
    section.own_edges(table).is_none() && (0..bins).any(is_empty)
}

/// By what a monitor with separate bins finds the bin.
fn key(score: &ScoreEcho) -> u32 {
    match score {
        ScoreEcho::F32(score) => score.to_bits(),
        ScoreEcho::Margin(margin) => margin.key(),
        ScoreEcho::Code(key) | ScoreEcho::Top2Margin(key) => (*key).into(),
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
