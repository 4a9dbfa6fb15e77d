//! What the counters of a fleet say.

use std::io::{self, Write};

use calib_fit::StoredArtifact;
use calib_fit::artifact::{number_of, table_label};
use calib_fit::fleet::{Evidence, FleetBin, FleetTable, Standing};
use calib_fit::stats::{percent_of_success, shown};
use serde_json::{Value, json};

use super::monitors::{HOLDS, of_so_many};

/// A fleet's counters, compared with its calibrator.
pub(crate) struct ShownFleet<'a> {
    pub(crate) stored: &'a StoredArtifact,
    pub(crate) tables: &'a [FleetTable],
    pub(crate) devices: usize,
    pub(crate) alpha: f64,
}

impl ShownFleet<'_> {
    /// The alarms of all counters together.
    pub(crate) fn warnings(&self) -> Vec<String> {
        let mut warnings = Vec::new();
        for table in self.tables {
            let of = self.of_table(table);
            if table.shift.standing() == Standing::Alarm {
                warnings.push(format!(
                    "{of}the scores of the fleet do not come from where the reference scores did: evidence {}, and an alarm takes 1 : {}",
                    table.shift.in_odds(),
                    table.shift.rarity
                ));
            }
            if let Some(guarantee) =
                table.guarantee.filter(|guarantee| guarantee.standing() == Standing::Alarm)
            {
                warnings.push(format!(
                    "{of}outcomes are not as frequent as guaranteed: evidence {}, and an alarm needs 1 : {}",
                    guarantee.in_odds(),
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
            "{}, and which devices are added up, and when, depends on nothing that they counted: then there is ever a false alarm about scores in \
             {}, and about outcomes in {}, or fewer",
            HOLDS,
            of_so_many(shift, "fleets"),
            of_so_many(guarantee, "fleets")
        )
    }

    fn print_table(&self, table: &FleetTable, out: &mut dyn Write) -> io::Result<()> {
        let of = self.of_table(table);
        let predictions: u64 = table.predictions.iter().sum();
        let known: u64 = table.bins.iter().map(|bin| bin.labelled).sum();
        let counted = number_of(predictions, "prediction");
        writeln!(out, "{of}{counted}, {known} with a known outcome")?;
        let scores = match predictions {
            0 => "nothing to judge: no prediction is known".into(),
            _ => said(table.shift),
        };
        let outcomes = match table.guarantee {
            None => "no guarantee that they could contradict".into(),
            Some(_) if known == 0 => "nothing to judge: no outcome is known".into(),
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
            "  {} of {} devices have a separate alarm. If nothing is wrong, at most {expected} have one on average. Devices with the same calibrator raise \
             false alarms together",
            alone.len(),
            table.devices.len()
        )?;
        for device in alone.iter().take(SHOWN) {
            let guarantee =
                device.judged().map_or(String::new(), |guarantee| format!(", outcomes {guarantee}"));
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
            let devices = table.devices.iter().map(|device| {
                json!({
                    "device": device.device,
                    "predictions": device.predictions,
                    "labelled": device.labelled,
                    "full": device.is_full,
                    "shift": evidence_json(device.shift),
                    "guarantee": device.guarantee.map(evidence_json),
                })
            });
            json!({
                "table": table.table,
                "name": table_label(&artifact, table.table),
                "predictions": table.predictions,
                "shift": evidence_json(table.shift),
                "guarantee": table.guarantee.map(evidence_json),
                "bins": table.bins.iter().map(bin_json).collect::<Vec<_>>(),
                "devices": devices.collect::<Vec<_>>(),
            })
        };
        json!({
            "calibrator": artifact.identity().to_string(),
            "devices": self.devices,
            "alpha": self.alpha,
            "tables": self.tables.iter().map(table).collect::<Vec<_>>(),
        })
    }
}

/// How many devices are told one by one.
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
            "a counter is full in {which}: later predictions and outcomes are not counted, and the evidence does not change; keep these counters \
             under a separate name, and reset the device with `calib label --reset`"
        )
    })
}

/// How many devices are named in a sentence.
const SHOWN_FULL: usize = 10;

fn said(evidence: Evidence) -> String {
    format!("{evidence} (an alarm takes 1 : {})", evidence.rarity)
}

fn print_bin(at: usize, bin: &FleetBin, out: &mut dyn Write) -> io::Result<()> {
    let guaranteed = bin.guaranteed.map_or("nothing".into(), |guaranteed| format!("{guaranteed:.4}"));
    let share = match bin.labelled {
        0 => String::new(),
        known => shown(4, bin.positives as f64 / known as f64),
    };
    let &FleetBin { labelled: known, positives, interval, .. } = bin;
    writeln!(out, "  {at:>3}  {guaranteed:<17} {known:>9} {positives:>9}  {share:>6}   {interval:.4}")
}

fn evidence_json(evidence: Evidence) -> Value {
    json!({"standing": evidence.standing().to_string(), "log_evidence": evidence.log, "alarm_at_odds": evidence.rarity})
}

fn bin_json(bin: &FleetBin) -> Value {
    json!({
        "prob": bin.prob,
        "guaranteed": bin.guaranteed.map(|i| [i.lo, i.hi]),
        "labelled": bin.labelled,
        "positives": bin.positives,
        "interval": [bin.interval.lo, bin.interval.hi],
    })
}
