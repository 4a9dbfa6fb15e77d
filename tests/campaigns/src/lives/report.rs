//! How many devices had an alarm.

use std::fmt;

use crate::lives::RARITY;
use crate::lives::switch::Switch;

/// What came of lives.
#[derive(Clone, Debug, PartialEq)]
pub struct LivesReport {
    /// How many devices lived with nothing wrong; a tenth of them with a shift.
    pub lives: usize,
    /// After how many predictions a life ends.
    pub length: u32,
    /// One kind of life each.
    pub rows: Vec<Row>,
}

/// What came of lives of one kind.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    /// Who switched them off.
    pub switch: Switch,
    /// After how many predictions they save.
    pub every: u32,
    /// Whether they were asked for their counters after every prediction.
    pub is_asked: bool,
    /// The share with a false alarm.
    pub alarms: f64,
    /// How much the share may be by chance where the bound is kept: four standard errors above it.
    pub most: f64,
    /// The share of those with a shift that noticed it.
    pub detected: f64,
    /// After how many predictions half of the devices with a shift had noticed it.
    pub median: Option<u32>,
}

impl Row {
    pub(crate) fn new(
        (switch, every, is_asked): (Switch, u32, bool),
        quiet: Vec<Option<u32>>,
        mut shifted: Vec<Option<u32>>,
    ) -> Self {
        let share = |lives: &[Option<u32>]| {
            lives.iter().filter(|alarm| alarm.is_some()).count() as f64 / lives.len() as f64
        };
        let bound = 1.0 / f64::from(RARITY);
        let most = bound + 4.0 * (bound * (1.0 - bound) / quiet.len() as f64).sqrt();
        shifted.sort_by_key(|alarm| alarm.unwrap_or(u32::MAX));
        let median = shifted[shifted.len() / 2];
        let (alarms, detected) = (share(&quiet), share(&shifted));
        Self { switch, every, is_asked, alarms, most, detected, median }
    }

    /// Whether more devices had a false alarm than may have, where a bound is stated.
    pub fn is_violated(&self) -> bool {
        self.switch.is_covered(self.every) && self.alarms > self.most
    }
}

impl LivesReport {
    /// The kinds of lives in which the bound was not kept.
    pub fn violations(&self) -> Vec<String> {
        self.rows.iter().filter(|row| row.is_violated()).map(ToString::to_string).collect()
    }
}

impl fmt::Display for LivesReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { lives, length, rows } = self;
        writeln!(
            f,
            "monitors over the power switch: {lives} lives of {length} predictions each, bound 1 in {RARITY}"
        )?;
        writeln!(
            f,
            "{:42}  false  0 %       5 %      10 %   shift found, median after",
            "switched off, save every, asked"
        )?;
        rows.iter().try_for_each(|row| writeln!(f, "{row}"))
    }
}

impl fmt::Display for Row {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { switch, every, is_asked, alarms, detected, median, .. } = self;
        let kind = format!("{switch}, {every}{}", if *is_asked { ", asked" } else { "" });
        let bar = "#".repeat((alarms * 200.0).round().min(20.0) as usize);
        let bound = if switch.is_covered(*every) { "" } else { " (no bound)" };
        write!(f, "{kind:42} {:5.2} % |{bar:20}| {:5.1} %, ", 100.0 * alarms, 100.0 * detected)?;
        match median {
            Some(median) => write!(f, "{median}{bound}"),
            None => write!(f, "-{bound}"),
        }
    }
}
