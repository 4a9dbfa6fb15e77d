//! `calib label`

use std::collections::HashMap;
use std::io::Write;
use std::path::{Path, PathBuf};

use calib_core::Identity;
use calib_core::wire::{CountersRefusal, PredictionOutcome};
use calib_fit::artifact::number_of;
use calib_io::device::serial::{DeviceError, Link, Transport};
use calib_io::files::{FileError, Location, Problem};
use calib_io::input::{Source, Table};
use clap::Args;
use serde_json::json;

use crate::context::Context;
use crate::error::Error;
use crate::options::SerialLine;
use crate::options::headings::{DATA, DEVICE, OUTPUT};
use crate::run::Run;
use crate::show::{counter_warnings, counters_json};

/// Report known outcomes of predictions to a device.
///
/// Its monitor then detects outcomes that are more or less frequent than predicted. The table has a row for each
/// prediction. Its columns are class and bin, as `calib monitor` shows them, and label. label is 1 if the event
/// happened or, with several classes, if the prediction was right. If the calibrator has groups, a column group has the
/// code of the group that the device was given.
///
/// Report each outcome once, and treat all outcomes alike. Report when the follow-up time of a prediction is over, the
/// same time for both outcomes, for any score. The device refuses outcomes of predictions that it has not counted, and
/// outcomes of another calibrator. A device that accepts only signed calibrators accepts outcomes only if its firmware
/// was built for it.
#[derive(Args)]
pub(crate) struct Label {
    /// Table of outcomes, with the columns class, bin and label.
    #[arg(value_name = "OUTCOMES", required_unless_present = "reset", help_heading = DATA)]
    outcomes: Option<PathBuf>,
    #[command(flatten)]
    line: SerialLine,
    /// Calibrator that made the predictions, as 16 hexadecimal digits; by default the active one.
    #[arg(long, value_name = "ID", value_parser = parse_identity, help_heading = DEVICE, hide_short_help = true)]
    made_by: Option<Identity>,
    /// Reset all counts and alerts instead.
    #[arg(long, conflicts_with = "outcomes", help_heading = OUTPUT)]
    reset: bool,
    /// Print JSON on standard output.
    #[arg(long, help_heading = OUTPUT)]
    json: bool,
}

/// The outcome of a prediction, as a row has it.
struct Row {
    at: Location,
    group: Option<u8>,
    class: u16,
    bin: u16,
    is_positive: bool,
}

impl Run for Label {
    fn run(self, cx: &Context) -> Result<(), Error> {
        // What is wrong with the table is told before the device hears of it.
        let rows = self.outcomes.as_ref().map(|path| read_rows(path)).transpose()?;
        let mut link = self.line.link()?;
        let tables = link.counters()?;
        let none = DeviceError::Counters(CountersRefusal::NotMonitored);
        let in_force = match tables.iter().flatten().next() {
            Some(counters) => counters.calibrator,
            // Counters that are told of no table are set back all the same.
            None if self.reset => link.calibrator_in_force()?.ok_or(none)?,
            None => return Err(none.into()),
        };
        let calibrator = self.made_by.unwrap_or(in_force);
        let told = match &rows {
            Some(rows) => tell_all(&mut link, calibrator, rows)?,
            None => {
                link.reset_counters(calibrator)?;
                0
            }
        };
        let tables = link.counters()?;
        if self.json {
            cx.print_json(&json!({
                "port": self.line.port,
                "reported": told,
                "reset": self.reset,
                "monitors": tables.iter().map(|table| table.as_ref().map(counters_json)).collect::<Vec<_>>(),
            }))?;
        } else if !cx.quiet {
            let done = if self.reset {
                "counting restarts at 0".into()
            } else {
                format!("{} reported", number_of(told as u64, "outcome"))
            };
            writeln!(cx.stderr(), "{done}")?;
        }
        Ok(cx.warn(&counter_warnings(&tables))?)
    }
}

/// Tells the outcomes one after the other, and returns how many there are.
///
/// Each says how many of its bin the device knows, so that none is counted twice. The first of a bin finds out: a device that knows
/// another number says which.
fn tell_all<T: Transport>(link: &mut Link<T>, calibrator: Identity, rows: &[Row]) -> Result<usize, Error> {
    let mut known = HashMap::new();
    for (before, row) in rows.iter().enumerate() {
        let &Row { group, class, bin, is_positive, .. } = row;
        let tell = |link: &mut Link<T>, known| {
            link.tell(PredictionOutcome { calibrator, group, class, bin, is_positive, known })
                .map(|_| known + 1)
        };
        let told = match known.get(&(group, class, bin)) {
            Some(&known) => tell(link, known),
            // No counter holds as many.
            None => match tell(link, u32::MAX - 1) {
                Err(DeviceError::Counters(CountersRefusal::Known(known))) => tell(link, known),
                other => other,
            },
        };
        let now = told.map_err(|cause| Error::Outcome { at: Box::new(row.at.clone()), before, cause })?;
        known.insert((group, class, bin), now);
    }
    Ok(rows.len())
}

/// The rows of a table.
fn read_rows(path: &Path) -> Result<Vec<Row>, FileError> {
    let table = Table::read(&Source::read(path, &|_| ())?)?;
    let (classes, bins, labels) =
        (table.integers("class")?, table.integers("bin")?, table.binary_labels("label")?);
    let has_groups = table.check_absent(&["group"]).is_err();
    let groups = has_groups.then(|| table.integers("group")).transpose()?;
    let small = |value: i64, at: &Location, max: i64| {
        let problem = Problem::Format(format!("{value} is no number from 0 to {max}"));
        if (0..=max).contains(&value) { Ok(value) } else { Err(FileError::input(at.clone(), problem)) }
    };
    (0..labels.len())
        .map(|row| {
            let group =
                groups.as_ref().map(|groups| small(groups.values[row], &groups.at(row), 254)).transpose()?;
            Ok(Row {
                at: labels.at(row),
                group: group.map(|group| group as u8),
                class: small(classes.values[row], &classes.at(row), u16::MAX.into())? as u16,
                bin: small(bins.values[row], &bins.at(row), u16::MAX.into())? as u16,
                is_positive: labels.values[row],
            })
        })
        .collect()
}

fn parse_identity(text: &str) -> Result<Identity, String> {
    let bytes = (0..8).map(|at| u8::from_str_radix(text.get(2 * at..2 * at + 2)?, 16).ok());
    let bytes: Option<Vec<u8>> = bytes.collect();
    let identity = bytes.filter(|_| text.len() == 16).and_then(|bytes| bytes.try_into().ok());
    identity.map(Identity).ok_or_else(|| "give 16 hexadecimal digits, as `calib inspect` shows them".into())
}
