//! What a log of devices holds, computed again.

use std::io::{self, Write};

use calib_fit::artifact::number_of;
use calib_fit::fleet::{LOOKS_WHEN_SAVED, VerifiedDevice, VerifiedTable};

/// Prints what was computed again.
pub(crate) fn verified(devices: &[VerifiedDevice], out: &mut dyn Write) -> io::Result<()> {
    for VerifiedDevice { device, resets, looks_every, tables, .. } in devices {
        let looks = match *looks_every {
            LOOKS_WHEN_SAVED => "looks when it saves".into(),
            every => format!("looks_every {every}"),
        };
        let device = match resets {
            0 => device.clone(),
            1 => format!("{device}, after a reset"),
            times => format!("{device}, after {times} resets"),
        };
        if tables.is_empty() {
            writeln!(out, "{device}: nothing was counted")?;
        }
        for table in tables {
            let of =
                if tables.len() > 1 { format!("{device}, table {}", table.table) } else { device.clone() };
            let &VerifiedTable { predictions, outcomes, answers, .. } = table;
            writeln!(
                out,
                "{of}: {}, {}, {} as {} should be ({looks})",
                number_of(predictions, "prediction"),
                number_of(outcomes, "outcome"),
                number_of(answers, "answer"),
                if answers == 1 { "it" } else { "they" }
            )?;
            writeln!(out, "  shift       {}", alarm(table.shift_alarm_at, table.shift_due_at, "prediction"))?;
            writeln!(out, "  change      {}", changes(&table.change_alarms_at))?;
            writeln!(
                out,
                "  guarantee   {}",
                alarm(table.guarantee_alarm_at, table.guarantee_due_at, "outcome")
            )?;
        }
    }
    Ok(())
}

/// The alert that was reported, and the computed one.
fn alarm(told: Option<u64>, due: Option<u64>, of: &str) -> String {
    match (told, due) {
        (Some(told), Some(due)) if told == due => format!("alert at {of} {told}, when it was due"),
        (Some(told), Some(due)) => {
            format!("alert at {of} {told}, due at {of} {due} at the latest")
        }
        (Some(told), None) => format!("alert at {of} {told}, which the e-value allows"),
        (None, Some(due)) => format!("no alert was reported, but one was due at {of} {due} at the latest"),
        (None, None) => "no alert was reported, and none was due".into(),
    }
}

fn changes(at: &[u64]) -> String {
    match at {
        [] => "no alert".into(),
        [only] => format!("alert at prediction {only}"),
        [.., last] => format!("{} alerts, the last one at prediction {last}", at.len()),
    }
}
