//! What a device says of itself.

use std::io::{self, Write};

use calib_core::slot::SlotContent;
use calib_core::wire::{CalibratorStatus, PROTOCOL_VERSION, Questions, Slots, Status, UpdateStatus};
use calib_fit::artifact::size_in_words;
use calib_fit::stats::thousands;
use serde_json::{Value, json};

use super::slots::slot_json;
use crate::out::escaped;

/// Prints what a device on a port is, and what its slots hold.
pub(crate) fn print_device(
    out: &mut impl Write,
    port: &str,
    status: &Status,
    slots: Option<&Slots>,
) -> io::Result<()> {
    writeln!(
        out,
        "{port}: firmware {}, {} bytes of stack used",
        escaped(&status.firmware),
        status.stack_high_water_bytes
    )?;
    writeln!(
        out,
        "classifier  {} ({}), {} features, {} classes",
        escaped(&status.classifier),
        status.classifier_id,
        status.features,
        status.classes
    )?;
    match &status.calibrator {
        Ok(CalibratorStatus { identity, method, reduction, bins, n, encoding, .. }) => {
            let bins =
                size_in_words(*method, *bins as usize).map_or(String::new(), |bins| format!("{bins}, "));
            writeln!(
                out,
                "calibrator  {identity}, {method} ({reduction}), {bins}{} observations",
                thousands(*n)
            )?;
            writeln!(out, "scores      {encoding}")?;
        }
        Err(missing) => writeln!(out, "calibrator  none: {missing:?}")?,
    }
    let Some(slots) = slots else {
        writeln!(out, "slots       one, not written over this line")?;
        return Ok(());
    };
    for (index, slot) in (0..).zip(&slots.slots) {
        let mark = if slots.in_force == Some(index) { "active" } else { "" };
        match slot {
            Ok(SlotContent { identity, len_bytes, counter, sequence }) => writeln!(
                out,
                "slot {index}      {identity}, {len_bytes} bytes, counter {counter}, installation {sequence} {mark}"
            )?,
            Err(fault) => writeln!(out, "slot {index}      {fault}")?,
        }
    }
    match slots.trusted_key {
        Some(key) => writeln!(out, "accepts     calibrators signed with key {key}")?,
        None => writeln!(out, "accepts     calibrators without a signature")?,
    }
    if let Some(UpdateStatus::Receiving { received, len_bytes }) = slots.update {
        writeln!(out, "update      {received} of {len_bytes} bytes are there")?;
    }
    Ok(())
}

/// Prints which version of the protocol a device speaks, from which calibrator it answers, and what it does not answer.
pub(crate) fn print_protocol(out: &mut impl Write, status: &Status) -> io::Result<()> {
    writeln!(out, "protocol    version {}, this calib speaks {PROTOCOL_VERSION}", status.protocol)?;
    if let Ok(CalibratorStatus { identity, counter, .. }) = status.calibrator {
        writeln!(out, "answers     from {identity}, counter {counter}")?;
    }
    if status.questions == Questions::NoTrials {
        writeln!(out, "answers     neither scores from the line nor measurements")?;
    }
    Ok(())
}

/// Which calibrator a device answers from, as JSON.
pub(crate) fn standing_json(status: &Status) -> Value {
    let held = status.calibrator.as_ref().ok();
    json!({
        "identity": held.map(|held| held.identity.to_string()),
        "counter": held.map(|held| held.counter),
        "fallback_from": status.fallback_from.map(|over| json!({
            "slot": over.slot,
            "reason": over.fault.to_string(),
        })),
        "answers_trials": status.questions == Questions::All,
    })
}

/// What a device is, as JSON.
pub(crate) fn device_json(status: &Status) -> Value {
    json!({
        "firmware": status.firmware.as_str(),
        "classifier": status.classifier.as_str(),
        "classifier_id": status.classifier_id.to_string(),
        "features": status.features,
        "classes": status.classes,
        "stack_high_water_bytes": status.stack_high_water_bytes,
        "calibrator": status.calibrator.as_ref().ok().map(|held| json!({
            "identity": held.identity.to_string(),
            "len_bytes": held.len_bytes,
            "method": held.method.to_string(),
            "reduction": held.reduction.to_string(),
            "bins": held.bins,
            "n": held.n,
            "encoding": held.encoding.to_string(),
        })),
        "uncalibrated": status.calibrator.as_ref().err().map(|missing| format!("{missing:?}")),
    })
}

/// What the slots of a device hold, as JSON.
pub(crate) fn slots_json(slots: &Slots) -> Value {
    json!({
        "active": slots.in_force,
        "slots": slots.slots.iter().map(slot_json).collect::<Vec<_>>(),
        "max_len_bytes": slots.max_len_bytes,
        "trusted_key": slots.trusted_key.map(|key| key.to_string()),
    })
}
