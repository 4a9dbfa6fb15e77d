//! A new calibrator from the outcomes that devices counted.

mod error;

#[cfg(test)]
mod tests;

use calib_core::artifact::{
    ArtifactWriter, Guarantee, Header, HeaderFlags, Method, MonitorParts, Provenance, Reduction, SectionKind,
    Table, TableForm, Theorem, WriteError,
};
use calib_core::table::MarginTable;
use calib_core::{Artifact, BinFlags, Margin, ProbInterval, Score, StepTable};

use super::aggregate::{FleetTable, aggregate};
use super::counters::{DeviceCounters, TableCounters};
use super::evidence::EvidenceLevel;
use crate::artifact::{
    COUNTING_DEVICES, DerivedArtifact, SAMPLE_SECTION, SKETCH_SECTION, StoredArtifact, values,
};
use crate::binary::Bin;
use crate::fit::{check_alpha, parameter_of, stated_alpha};
use crate::stats::{Interval, clopper_pearson, f32_ceil};

pub use error::RecalibrateError;

/// How outcomes become a calibrator.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Recalibration {
    /// The probability with which the guarantee may fail.
    pub alpha: f64,
    /// The sum of the alphas of earlier calibrations in the field. What the active calibrator says that it and those before it spent
    /// is the least of it.
    pub alpha_spent: f64,
    /// How new the calibrator is.
    pub counter: u32,
    /// The SHA-256 of the counters' files, in the order they were given.
    pub data_sha256: [u8; 32],
}

/// A calibrator from outcomes, and what there is to know about it.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Recalibrated {
    /// The artifact.
    pub bytes: Vec<u8>,
    /// The bins of every table with the outcomes that were used, in the order of the tables; none of a table that is uncalibrated.
    pub tables: Vec<Vec<RecalibratedBin>>,
    /// The tables whose scores do not come from where the reference scores did, by all counters together: the new calibrator has no
    /// monitors if there are any, as these would compare with those scores again.
    pub shifted: Vec<usize>,
    /// The tables whose outcomes raised the alarm about the guarantee, by all counters together.
    pub contradicted: Vec<usize>,
}

/// A bin and the outcomes that its value rests on.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct RecalibratedBin {
    /// The value, and of how many outcomes; without any the value is the one before, and no device answers it.
    pub bin: Bin,
    /// The exact interval: those of all bins of all tables hold at once.
    pub interval: Interval,
}

/// What a calibrator says of the fit before, and no longer holds when outcomes make its values.
const NOT_KEPT: [&str; 7] =
    ["alpha", "candidates", "cluster-rows", "cluster-seed", "classifiers", "alpha-spent", COUNTING_DEVICES];

/// Makes a calibrator from the outcomes that devices counted with the active calibrator: its edges, with the share of positives in each
/// bin.
///
/// The edges were chosen without these outcomes. Given the bins in which outcomes are known, each bin's positives are binomial. The
/// exact intervals (Clopper and Pearson 1934) at `alpha / B` hold for all B bins of all tables simultaneously, with at least `1 -
/// alpha` probability.
/// Epsilon is the farthest end of one from its value. This is valid only if the outcomes that become known depend on neither the label
/// nor anything within the bin that predicts it. The time of reading the counters must not depend on them either. Where their alarm
/// is why there is to be another calibrator, `earlier` takes the counters of that time: only what was counted since is used.
///
/// A bin without outcomes is uncalibrated; the monitors then have the tables' edges as their own, so that it is counted anyway. What a device does with a probability, the range of the scores, groups, and the monitors stay as
/// they are, except for monitors by which scores have shifted. A signature is left out.
///
/// ```
/// use calib_core::{Artifact, Calibrator, Score};
/// use calib_fit::artifact::{ArtifactOptions, Monitoring};
/// use calib_fit::fleet::{DeviceCounters, Recalibration, recalibrated};
/// use calib_fit::{BinaryData, BinaryMethod, StoredArtifact, Umd, artifact_bytes, fit_binary};
///
/// let scores = (0..399).map(|i| f64::from(i) / 512.0).collect();
/// let data = BinaryData::new(scores, (0..399).map(|i| i % 3 == 0).collect())?.on_device();
/// let fit = fit_binary(&data, &BinaryMethod::Umd(Umd::new(2)), 0.1)?;
/// let monitors = Some(Monitoring::default());
/// let bytes = artifact_bytes(&fit, &ArtifactOptions::default().monitors(monitors))?;
/// let before = StoredArtifact::from_bytes(&bytes)?;
///
/// let mut device = DeviceCounters::new(&before.artifact(), "ward 3")?;
/// let table = device.tables[0].as_mut().unwrap();
/// (table.predictions, table.labeled, table.positives) = (vec![400, 420], vec![200, 100], vec![20, 90]);
/// let how = Recalibration { alpha: 0.1, alpha_spent: 0.0, counter: 1, data_sha256: [0; 32] };
/// let after = recalibrated(&before, &[device], &[], &how)?;
///
/// let artifact = Artifact::parse(&after.bytes).unwrap();
/// let Calibrator::Binary(calibrator) = artifact.calibrator() else { panic!("one score") };
/// let outcome = calibrator.calibrate(Score::new(0.7)?);
/// assert_eq!(outcome.calibrated().map(|calibrated| calibrated.prob), Some(0.9));
/// assert!((after.tables[0][1].interval.lo - 0.8238).abs() < 1e-4);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
///
/// Counters that are not the calibrator's, that are full or have gone back. A calibrator whose values are not those of bins with fixed
/// edges, or with guarantees about thresholds or sets. No outcome at all.
pub fn recalibrated(
    before: &StoredArtifact,
    devices: &[DeviceCounters],
    earlier: &[DeviceCounters],
    how: &Recalibration,
) -> Result<Recalibrated, RecalibrateError> {
    check_alpha(how.alpha)?;
    let artifact = &before.artifact();
    let aggregated = aggregate(artifact, devices, how.alpha)?;
    check_calibrator(before)?;
    check_full(devices)?;
    let used = match earlier {
        [] => None,
        earlier => {
            check_earlier(devices, earlier)?;
            Some(aggregate(artifact, earlier, how.alpha)?)
        }
    };
    let outcomes = |table: usize| {
        let now = aggregated.iter().find(|found| found.table == table)?;
        let then = used.as_ref().and_then(|used| used.iter().find(|found| found.table == table));
        Some(since(now, then))
    };
    let found = Outcomes::of(artifact, stated_alpha(how.alpha), outcomes)?;
    let alarmed = |evidence: fn(&FleetTable) -> Option<super::Evidence>| -> Vec<usize> {
        let is_alarm =
            |table: &&FleetTable| evidence(table).is_some_and(|e| e.level() == EvidenceLevel::Alarm);
        aggregated.iter().filter(is_alarm).map(|table| table.table).collect()
    };
    let shifted = alarmed(|table| Some(table.shift));
    let child = DerivedArtifact {
        counter: how.counter,
        parameters: Outcomes::parameters(artifact.header(), devices.len(), how),
    };
    let bytes = found.written(before, &child, how, !shifted.is_empty())?;
    Ok(Recalibrated {
        bytes,
        tables: found.tables.into_iter().map(|table| table.map_or(Vec::new(), |table| table.bins)).collect(),
        shifted,
        contradicted: alarmed(|table| table.guarantee),
    })
}

/// Refuses a calibrator whose values are not shares of labels in bins with fixed edges.
fn check_calibrator(before: &StoredArtifact) -> Result<(), RecalibrateError> {
    let artifact = before.artifact();
    let header = artifact.header();
    if !matches!(header.method, Method::Umd | Method::Ums | Method::FixedWidth) {
        return Err(RecalibrateError::Method(header.method));
    }
    if header.reduction == Reduction::Normalized {
        return Err(RecalibrateError::Normalized);
    }
    if artifact.score_intervals().is_some() || artifact.band().is_some() {
        return Err(RecalibrateError::Ranges);
    }
    const RULES: [u16; 2] = [SectionKind::OperatingPoints as u16, SectionKind::PredictionSets as u16];
    if before.sections().any(|(kind, ..)| RULES.contains(&kind)) {
        return Err(RecalibrateError::Rules);
    }
    Ok(())
}

/// Refuses counters that have stopped: from then on not every outcome was counted.
fn check_full(devices: &[DeviceCounters]) -> Result<(), RecalibrateError> {
    for device in devices {
        for (table, counters) in device.tables.iter().enumerate() {
            if counters.as_ref().is_some_and(TableCounters::is_full) {
                return Err(RecalibrateError::Full { device: device.device.clone(), table });
            }
        }
    }
    Ok(())
}

/// Refuses earlier counters of a device that has none now, or fewer: they are those of another life.
fn check_earlier(devices: &[DeviceCounters], earlier: &[DeviceCounters]) -> Result<(), RecalibrateError> {
    for before in earlier {
        let device = || before.device.clone();
        let now = devices.iter().find(|now| now.device == before.device);
        let now = now.ok_or_else(|| RecalibrateError::Gone(device()))?;
        let tables = before.tables.iter().zip(&now.tables).enumerate();
        for (table, (before, now)) in tables {
            let Some(before) = before else { continue };
            let Some(now) = now else { return Err(RecalibrateError::Back { device: device(), table }) };
            let negatives = |counters: &TableCounters| -> Vec<u64> {
                counters
                    .labeled
                    .iter()
                    .zip(&counters.positives)
                    .map(|(all, of)| all.saturating_sub(*of))
                    .collect()
            };
            let grew = [
                (&before.predictions, &now.predictions),
                (&before.positives, &now.positives),
                (&negatives(before), &negatives(now)),
            ];
            // Without any outcome there is none of any bin.
            let fell = |(before, now): (&Vec<u64>, &Vec<u64>)| {
                before.iter().enumerate().any(|(bin, &before)| now.get(bin).copied().unwrap_or(0) < before)
            };
            if grew.into_iter().any(fell) {
                return Err(RecalibrateError::Back { device: device(), table });
            }
        }
    }
    Ok(())
}

/// The outcomes and positives of every bin since.
fn since(now: &FleetTable, then: Option<&FleetTable>) -> Vec<(u64, u64)> {
    let of_bin = |bin: usize| then.map_or((0, 0), |then| (then.bins[bin].labeled, then.bins[bin].positives));
    let bins = now.bins.iter().enumerate();
    bins.map(|(bin, now)| (now.labeled - of_bin(bin).0, now.positives - of_bin(bin).1)).collect()
}

/// The tables with new values.
struct Outcomes<'a> {
    tables: Vec<Option<NewTable<'a>>>,
    /// The number of outcomes.
    n: u64,
    /// The farthest end of an interval from its value.
    epsilon: f32,
}

/// A table with new values.
struct NewTable<'a> {
    form: TableForm<'a>,
    values: Vec<f32>,
    bins: Vec<RecalibratedBin>,
    intervals: Vec<Option<ProbInterval>>,
    /// None where there is no outcome.
    epsilon: Option<f32>,
}

impl<'a> Outcomes<'a> {
    /// Makes the values of every table of an artifact from the outcomes that are known of it.
    fn of(
        artifact: &Artifact<'a>,
        alpha: f64,
        outcomes: impl Fn(usize) -> Option<Vec<(u64, u64)>>,
    ) -> Result<Self, RecalibrateError> {
        let tables = artifact.tables();
        let each = || (0..tables.count()).filter_map(|table| Some((table, tables.get(table)?)));
        // Whichever have outcomes, so that these do not choose which bins the union bound is over.
        let all_bins: usize = each().map(|(_, table)| table.form.bins()).sum();
        let mut made: Vec<Option<NewTable<'a>>> = (0..tables.count()).map(|_| None).collect();
        for (at, table) in each() {
            let counts = outcomes(at).unwrap_or_else(|| vec![(0, 0); table.form.bins()]);
            made[at] = Some(NewTable::of(table.form, &counts, alpha / all_bins as f64)?);
        }
        let n = made.iter().flatten().flat_map(|table| &table.bins).map(|bin| bin.bin.n).sum();
        let epsilon = made.iter().flatten().filter_map(|table| table.epsilon).reduce(f32::max);
        let epsilon = epsilon.ok_or(RecalibrateError::NoOutcome)?;
        Ok(Self { tables: made, n, epsilon })
    }

    /// What the artifact says of its making.
    fn parameters(before: &Header<'_>, devices: usize, how: &Recalibration) -> String {
        let number = |name| {
            parameter_of(before.provenance.parameters, name).and_then(|value| value.parse::<f64>().ok())
        };
        // Where nothing was guaranteed, nothing could fail.
        let own = before.guarantee.and(number("alpha")).unwrap_or(0.0);
        // Sums of decimals are decimals.
        let spent = (1e12 * (number("alpha-spent").unwrap_or(0.0) + own)).round() / 1e12;
        let spent = match how.alpha_spent.max(spent) {
            spent if spent > 0.0 => format!(" alpha-spent={spent}"),
            _ => String::new(),
        };
        format!("{COUNTING_DEVICES}={devices}{spent}")
    }

    /// Writes the artifact.
    fn written(
        &self,
        before: &StoredArtifact,
        child: &DerivedArtifact,
        how: &Recalibration,
        without_monitors: bool,
    ) -> Result<Vec<u8>, RecalibrateError> {
        const OF_MONITORS: [u16; 2] = [SectionKind::Monitors as u16, SectionKind::MonitorAction as u16];
        const NEW: [u16; 4] =
            [SectionKind::BinFlags as u16, SectionKind::Intervals as u16, SAMPLE_SECTION, SKETCH_SECTION];
        let tables: Vec<Option<Table<'_>>> = self
            .tables
            .iter()
            .map(|table| table.as_ref().map(|table| table.on_device(self.epsilon)).transpose())
            .collect::<Result<_, _>>()?;
        let of_tables = tables.iter().flatten().next().map(|table| table.form.section() as u16);
        let bins = self.tables.iter().flatten().flat_map(|table| &table.bins);
        let flags: Vec<BinFlags> =
            bins.map(|bin| if bin.bin.n == 0 { BinFlags::EMPTY } else { BinFlags::NONE }).collect();
        let intervals: Vec<_> =
            self.tables.iter().map(|table| table.as_ref().map(|table| &table.intervals[..])).collect();
        let artifact = before.artifact();
        let old = artifact.header();
        let parameters = kept_parameters(old.provenance.parameters, how.alpha);
        let header = Header {
            n: self.n,
            guarantee: Some(Guarantee {
                theorem: Theorem::ClopperPearson,
                alpha: how.alpha as f32,
                epsilon: self.epsilon,
            }),
            flags: kept_flags(old.flags),
            provenance: Provenance {
                data_sha256: how.data_sha256,
                tool_version: env!("CARGO_PKG_VERSION"),
                parameters: &parameters,
                classifier: old.provenance.classifier,
            },
            ..*old
        };
        Ok(child.rewrite(
            before,
            |_| header,
            |writer, (kind, mandatory, payload)| {
                if Some(kind) == of_tables {
                    writer.tables(&tables)?;
                    if flags.contains(&BinFlags::EMPTY) {
                        writer.bin_flags(&flags)?;
                    }
                    return writer.intervals(&intervals);
                }
                if kind == SectionKind::Monitors as u16
                    && !without_monitors
                    && flags.contains(&BinFlags::EMPTY)
                {
                    return self.monitors_with_edges(&artifact, (kind, mandatory, payload), writer);
                }
                let is_left_out = NEW.contains(&kind) || without_monitors && OF_MONITORS.contains(&kind);
                if is_left_out { Ok(()) } else { writer.section(kind, mandatory, payload) }
            },
            |_| Ok(()),
        )?)
    }

    /// Writes what the monitors compare with, with the tables' edges as their own unless they have some: a device does not tell in which
    /// bin a score is that has no probability, and counts of the other bins alone look like a shift.
    fn monitors_with_edges(
        &self,
        artifact: &Artifact<'_>,
        (kind, mandatory, payload): (u16, bool, &[u8]),
        writer: &mut ArtifactWriter<'_>,
    ) -> Result<(), WriteError> {
        let Some(monitors) = artifact.monitors().filter(|monitors| !monitors.have_own_bins()) else {
            return writer.section(kind, mandatory, payload);
        };
        let gaps_of = |table| monitors.reference(table).map_or(Vec::new(), |found| found.each().collect());
        let gaps: Vec<Vec<u32>> = (0..monitors.count()).map(gaps_of).collect();
        let keys_of = |(table, gaps): (&Option<NewTable<'_>>, &Vec<u32>)| match table {
            Some(table) if !gaps.is_empty() => keys(&table.form).ok_or(WriteError::Form),
            _ => Ok(Vec::new()),
        };
        let edges = self.tables.iter().zip(&gaps).map(keys_of).collect::<Result<Vec<_>, _>>()?;
        let [shift, change, guarantee] = monitors.rarities();
        writer.monitors(&MonitorParts {
            shift,
            change,
            guarantee,
            gaps: &gaps.iter().map(Vec::as_slice).collect::<Vec<_>>(),
            edges: Some(&edges.iter().map(Vec::as_slice).collect::<Vec<_>>()),
        })
    }
}

/// The inner edges of a table as keys.
fn keys(form: &TableForm<'_>) -> Option<Vec<u32>> {
    match form {
        TableForm::Steps(table) => {
            table.edges().iter().map(|&edge| Some(Score::new(edge).ok()?.to_bits())).collect()
        }
        TableForm::MarginSteps(table) => {
            table.edges().iter().map(|&edge| Some(Margin::new(edge).ok()?.key())).collect()
        }
        _ => None,
    }
}

impl<'a> NewTable<'a> {
    /// Makes the values of a table from outcomes and positives of each bin; every interval fails with a probability of at most `alpha`.
    fn of(form: TableForm<'a>, counts: &[(u64, u64)], alpha: f64) -> Result<Self, RecalibrateError> {
        if !matches!(form, TableForm::Steps(_) | TableForm::MarginSteps(_)) {
            return Err(RecalibrateError::Form);
        }
        let bin = |(old, &(n, positives)): (f32, &(u64, u64))| RecalibratedBin {
            bin: if n > 0 { Bin::mean(n, positives) } else { Bin { value: old.into(), n, positives } },
            interval: clopper_pearson(positives, n, alpha),
        };
        let bins: Vec<RecalibratedBin> = values(&form).into_iter().zip(counts).map(bin).collect();
        let values: Vec<f32> = bins.iter().map(|bin| bin.bin.value as f32).collect();
        let known = |(bin, &value): (&RecalibratedBin, &f32)| {
            (bin.bin.n > 0).then(|| bin.interval.outwards_around(value))
        };
        let intervals: Vec<Option<ProbInterval>> = bins.iter().zip(&values).map(known).collect();
        let reach = |(interval, &value): (&Option<ProbInterval>, &f32)| {
            let away = |end: f32| f32_ceil((f64::from(end) - f64::from(value)).abs());
            interval.map(|interval| away(interval.lo).max(away(interval.hi)))
        };
        let epsilon = intervals.iter().zip(&values).filter_map(reach).reduce(f32::max);
        Ok(Self { form, values, bins, intervals, epsilon })
    }

    /// Returns the table as the device reads it. Where no bin has an outcome, any epsilon holds for all that have one.
    fn on_device(&self, any: f32) -> Result<Table<'_>, WriteError> {
        let Self { form, values, epsilon, .. } = self;
        let form = match form {
            TableForm::Steps(old) => StepTable::new(old.edges(), values).ok().map(TableForm::Steps),
            TableForm::MarginSteps(old) => {
                MarginTable::new(old.edges(), values).ok().map(TableForm::MarginSteps)
            }
            _ => None,
        };
        Ok(Table { form: form.ok_or(WriteError::Form)?, epsilon: Some(epsilon.unwrap_or(any)) })
    }
}

/// The parameters that still hold, after alpha.
fn kept_parameters(before: &str, alpha: f64) -> String {
    let name = |pair: &str| pair.split_once('=').map_or(pair, |(name, _)| name).to_owned();
    let kept = before.split(' ').filter(|pair| !NOT_KEPT.contains(&&*name(pair)));
    [format!("alpha={alpha}")].into_iter().chain(kept.map(str::to_owned)).collect::<Vec<_>>().join(" ")
}

/// The marks that are not of the fit before: of edges that do not depend on the outcomes, ties are no matter.
fn kept_flags(before: HeaderFlags) -> HeaderFlags {
    let all = [HeaderFlags::CLASS_UNCALIBRATED, HeaderFlags::TOP2_MARGIN, HeaderFlags::GROUPED];
    let kept = all.into_iter().filter(|&flag| before.contains(flag));
    kept.fold(HeaderFlags::NONE, HeaderFlags::with)
}
