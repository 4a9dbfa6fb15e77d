//! A calibrator from what devices counted.

use std::path::Path;

use calib_fit::StoredArtifact;
use calib_fit::artifact::{guarantee_text, number_of, table_label};
use calib_fit::fleet::{Recalibrated, RecalibratedBin};
use calib_fit::job::GuaranteeFacts;
use calib_fit::stats::{shown, thousands};
use serde_json::{Value, json};

use super::monitors::guarantee_and_monitors;
use crate::out::shown_path;

/// A calibrator with new values, beside the one that it comes from.
pub(crate) struct ShownRecalibration<'a> {
    pub(crate) before: &'a StoredArtifact,
    pub(crate) after: &'a StoredArtifact,
    pub(crate) made: &'a Recalibrated,
    pub(crate) devices: usize,
    /// Whether only what was counted since earlier counters was used.
    pub(crate) is_since: bool,
    pub(crate) output: &'a Path,
}

impl ShownRecalibration<'_> {
    /// What may make the new calibrator worth less than it seems.
    pub(crate) fn warnings(&self) -> Vec<String> {
        let mut warnings = Vec::new();
        if !self.made.shifted.is_empty() {
            warnings.push(format!(
                "{}scores are not distributed like the reference scores: the new values are for the present distribution of scores, and the calibrator \
                 has no monitors, because these would compare with the reference scores again",
                self.of(&self.made.shifted)
            ));
        }
        if !self.made.contradicted.is_empty() && !self.is_since {
            warnings.push(format!(
                "{}outcomes have raised an alert: if you recalibrate because of it, the guarantee does not hold for these outcomes; pass the \
                 counts of that time with --since, and use outcomes reported later",
                self.of(&self.made.contradicted)
            ));
        }
        let bins = || self.made.tables.iter().flatten();
        let (empty, all) = (bins().filter(|bin| bin.bin.n == 0).count(), bins().count());
        if empty > 0 {
            let (are, have) = if empty == 1 { ("is", "it has") } else { ("are", "they have") };
            warnings.push(format!(
                "{empty} of {} {are} uncalibrated: {have} no outcome",
                number_of(all as u64, "bin")
            ));
        }
        warnings
    }

    /// The names of tables before what is said of them, if there are several.
    fn of(&self, tables: &[usize]) -> String {
        let artifact = self.before.artifact();
        if artifact.tables().count() == 1 {
            return String::new();
        }
        let names: Vec<String> = tables.iter().map(|&table| table_label(&artifact, table)).collect();
        format!("{}: ", names.join("; "))
    }

    /// For people, line by line.
    pub(crate) fn lines(&self) -> Vec<String> {
        let (before, after) = (self.before.artifact(), self.after.artifact());
        let devices =
            if self.devices == 1 { "1 device".into() } else { number_of(self.devices as u64, "device") };
        let since = if self.is_since { " since the earlier counters" } else { "" };
        let mut lines = vec![format!(
            "{} outcomes of {devices}{since}, edges of {}, {} bytes: {}",
            thousands(after.header().n),
            before.identity(),
            thousands(after.len_bytes()),
            shown_path(self.output)
        )];
        lines.push("  bin  outcomes  positive   before   after   exact interval, simultaneous".into());
        for (table, bins) in self.made.tables.iter().enumerate() {
            if self.made.tables.len() > 1 && !bins.is_empty() {
                lines.push(format!("  {}", table_label(&after, table)));
            }
            for (at, bin) in bins.iter().enumerate() {
                lines.push(format!("  {at:>3} {} ", self.line(table, at, bin)).trim_end().into());
            }
        }
        lines.extend(guarantee_and_monitors(self.after, "as before: "));
        lines
    }

    fn line(
        &self,
        table: usize,
        at: usize,
        &RecalibratedBin { bin, interval, .. }: &RecalibratedBin,
    ) -> String {
        let old = self.value_before(table, at).map_or(String::new(), |value| shown(4, value.into()));
        let new = match bin.n {
            0 => format!("{:>7}   uncalibrated", ""),
            _ => format!("{:>7}   {interval:.4}", shown(4, bin.value)),
        };
        format!("{:>9} {:>9}  {old:>7} {new}", bin.n, bin.positives)
    }

    /// The value of a bin before; `None` if no device answered it.
    fn value_before(&self, table: usize, at: usize) -> Option<f32> {
        let artifact = self.before.artifact();
        let tables = artifact.tables();
        let is_empty = tables.bin_flags(table, at as u16).contains(calib_core::BinFlags::EMPTY);
        tables.get(table)?.form.step(at).filter(|_| !is_empty)
    }

    /// For programs, by names.
    pub(crate) fn json(&self) -> Value {
        let (before, after) = (self.before.artifact(), self.after.artifact());
        let guarantee = guarantee_text(self.after);
        let bin = |table: usize, (at, found): (usize, &RecalibratedBin)| {
            json!({
                "labeled": found.bin.n,
                "positives": found.bin.positives,
                "before": self.value_before(table, at),
                "prob": (found.bin.n > 0).then_some(found.bin.value),
                "interval": (found.bin.n > 0).then_some([found.interval.lo, found.interval.hi]),
            })
        };
        let table = |(at, bins): (usize, &Vec<RecalibratedBin>)| {
            json!({
                "table": at,
                "name": table_label(&after, at),
                "scores_shifted": self.made.shifted.contains(&at),
                "guarantee_contradicted": self.made.contradicted.contains(&at),
                "bins": bins.iter().enumerate().map(|found| bin(at, found)).collect::<Vec<_>>(),
            })
        };
        json!({
            "output": self.output,
            "len_bytes": after.len_bytes(),
            "identity": after.identity().to_string(),
            "parent": before.identity().to_string(),
            "n": after.header().n,
            "devices": self.devices,
            "guarantee": after.header().guarantee.map(GuaranteeFacts::from),
            "has_monitors": after.monitors().is_some(),
            "statement": guarantee.statement,
            "assumptions": guarantee.full_assumptions(),
            "limits": guarantee.full_limits(),
            "tables": self.made.tables.iter().enumerate().map(table).collect::<Vec<_>>(),
        })
    }
}
