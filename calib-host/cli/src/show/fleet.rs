//! What the counters of a fleet say.

use std::io::{self, Write};

use calib_fit::StoredArtifact;
use calib_fit::artifact::{number_of, table_label};
use calib_fit::fleet::{Evidence, EvidenceLevel, FleetBin, FleetTable};
use calib_fit::stats::{percent_of_success, shown};
use serde_json::{Value, json};

use super::monitors::{REQUIRED, at_most};

/// A fleet's counters, compared with its calibrator.
pub(crate) struct ShownFleet<'a> {
    pub(crate) stored: &'a StoredArtifact,
    pub(crate) tables: &'a [FleetTable],
    pub(crate) devices: usize,
    pub(crate) alpha: f64,
}

impl ShownFleet<'_> {
    /// The alerts of all counts together.
    pub(crate) fn warnings(&self) -> Vec<String> {
        let mut warnings = Vec::new();
        for table in self.tables {
            let of = self.of_table(table);
            if table.shift.level() == EvidenceLevel::Alarm {
                warnings.push(format!(
                    "{of}the scores of the fleet are not distributed like the reference scores: e-value {} (alert at {})",
                    table.shift.e_value(),
                    table.shift.rarity
                ));
            }
            if let Some(guarantee) =
                table.guarantee.filter(|guarantee| guarantee.level() == EvidenceLevel::Alarm)
            {
                warnings.push(format!(
                    "{of}outcomes are not as frequent as guaranteed: e-value {} (alert at {})",
                    guarantee.e_value(),
                    guarantee.rarity
                ));
            }
            warnings.extend(full(table).map(|which| format!("{of}{which}")));
        }
        warnings
    }

    /// The name of a table before what is said of it, if there are several.
    fn of_table(&self, table: &FleetTable) -> String {
        match self.stored.artifact().tables().count() {
            1 => String::new(),
            _ => format!("{}: ", table_label(&self.stored.artifact(), table.table)),
        }
    }

    pub(crate) fn print(&self, out: &mut dyn Write) -> io::Result<()> {
        let devices = match self.devices {
            1 => "1 device".into(),
            devices => format!("{devices} devices"),
        };
        writeln!(out, "{devices} with the calibrator {}", self.stored.artifact().identity())?;
        self.tables.iter().try_for_each(|table| self.print_table(table, out))?;
        let artifact = self.stored.artifact();
        let [shift, _, guarantee] =
            artifact.monitors().map_or([0; 3], |monitors| monitors.rarities_of_device());
        writeln!(
            out,
            "False alerts at any time: about scores {}, about outcomes {}.\n{REQUIRED}. Which devices are added up, and when, must not \
             depend on what they counted.",
            at_most(shift, "fleet"),
            at_most(guarantee, "fleet")
        )
    }

    fn print_table(&self, table: &FleetTable, out: &mut dyn Write) -> io::Result<()> {
        let of = self.of_table(table);
        let predictions: u64 = table.predictions.iter().sum();
        let known: u64 = table.bins.iter().map(|bin| bin.labeled).sum();
        let counted = number_of(predictions, "prediction");
        writeln!(out, "{of}{counted}, {known} with a known outcome")?;
        let scores = match predictions {
            0 => "nothing to evaluate: no prediction is known".into(),
            _ => said(table.shift),
        };
        let outcomes = match table.guarantee {
            None => "no guarantee that they could contradict".into(),
            Some(_) if known == 0 => "nothing to evaluate: no outcome is known".into(),
            Some(guarantee) => said(guarantee),
        };
        writeln!(out, "  scores      {scores}")?;
        writeln!(out, "  outcomes    {outcomes}")?;
        if known > 0 {
            let confidence = percent_of_success(self.alpha);
            writeln!(
                out,
                "  bin  guaranteed         outcomes  positive   share   {confidence}% intervals, simultaneous"
            )?;
            for (at, bin) in table.bins.iter().enumerate() {
                print_bin(at, bin, out)?;
            }
        }
        let alone: Vec<_> = table.alone().collect();
        let expected = (table.expected_alone() * 100.0).round() / 100.0;
        writeln!(
            out,
            "  {} of {} devices have their own alert. If nothing has changed, at most {expected} have one on average. Devices with the same calibrator \
             raise false alerts together",
            alone.len(),
            table.devices.len()
        )?;
        for device in alone.iter().take(SHOWN) {
            let guarantee =
                device.judged().map_or(String::new(), |guarantee| format!("; outcomes {guarantee}"));
            writeln!(out, "    {}: scores {}{guarantee}", device.device, device.shift)?;
        }
        match alone.len() {
            0..=SHOWN => Ok(()),
            more => writeln!(out, "    and {} more: --json has them", more - SHOWN),
        }
    }

    pub(crate) fn json(&self) -> Value {
        let artifact = self.stored.artifact();
        let table = |table: &FleetTable| {
            let mut value = json!(table);
            value["name"] = table_label(&artifact, table.table).into();
            value
        };
        json!({
            "calibrator": artifact.identity().to_string(),
            "devices": self.devices,
            "alpha": self.alpha,
            "tables": self.tables.iter().map(table).collect::<Vec<_>>(),
        })
    }
}

/// How many devices are listed.
const SHOWN: usize = 20;

/// Which devices of a table have stopped counting, what that means and what to do; nothing if none has.
fn full(table: &FleetTable) -> Option<String> {
    let names: Vec<&str> = table.full().map(|device| &*device.device).collect();
    let which = match names.get(..SHOWN_FULL) {
        Some(first) if names.len() > SHOWN_FULL => {
            format!("{} and {} more", first.join(", "), names.len() - SHOWN_FULL)
        }
        _ => names.join(", "),
    };
    (!names.is_empty()).then(|| {
        format!(
            "a counter is full in {which}: later predictions and outcomes are not counted, and the e-value does not change; keep these counts \
             under a separate name, and reset the device with `calib label --reset`"
        )
    })
}

/// How many devices are named in a sentence.
const SHOWN_FULL: usize = 10;

fn said(evidence: Evidence) -> String {
    let level = evidence.rarity;
    match evidence.level() {
        EvidenceLevel::Quiet => format!("{evidence} (alert at e-value {level})"),
        _ => format!("{evidence} (alert at {level})"),
    }
}

fn print_bin(at: usize, bin: &FleetBin, out: &mut dyn Write) -> io::Result<()> {
    let guaranteed = bin.guaranteed.map_or("nothing".into(), |guaranteed| format!("{guaranteed:.4}"));
    let share = match bin.labeled {
        0 => String::new(),
        known => shown(4, bin.positives as f64 / known as f64),
    };
    let &FleetBin { labeled: known, positives, interval, .. } = bin;
    writeln!(out, "  {at:>3}  {guaranteed:<17} {known:>9} {positives:>9}  {share:>6}   {interval:.4}")
}
