//! calib-core's thresholds and prediction sets. They return what those of [`ours`](crate::ours) do.

use core::cell::Cell;
use core::ffi::c_void;

use calib_core::decision::{ClassSet, CodeOperatingPoint, Conformity, OperatingPoint, PredictionSets};
use calib_core::{Logits, Margin, QuantizedScore, Score, ScoreEncoding};

use crate::artifacts::{self, Arena};
use crate::measure::Bench;
use crate::ours::{REFUSED, at};
use crate::scores::{self, LOGIT_CODES};

#[unsafe(no_mangle)]
#[inline(never)]
extern "C" fn threshold_score(score: f32, context: *const c_void) -> u64 {
    // SAFETY: `run` passes it.
    let point: &OperatingPoint<Score> = unsafe { at(context) };
    Score::new(score).map_or(REFUSED, |score| point.verdict(score) as u64)
}

#[unsafe(no_mangle)]
#[inline(never)]
extern "C" fn threshold_margin(margin: f32, context: *const c_void) -> u64 {
    // SAFETY: `run` passes it.
    let point: &OperatingPoint<Margin> = unsafe { at(context) };
    Margin::new(margin).map_or(REFUSED, |margin| point.verdict(margin) as u64)
}

/// Codes of int8.
const CODES: ScoreEncoding = ScoreEncoding::I8 { scale: 1.0 / 256.0, zero_point: -128 };

#[unsafe(no_mangle)]
#[inline(never)]
extern "C" fn threshold_i8(score: u32, context: *const c_void) -> u64 {
    // SAFETY: `run` passes it.
    let point: &CodeOperatingPoint = unsafe { at(context) };
    match QuantizedScore::new(CODES, score as i32 % 256 - 128).map(|score| point.verdict(score)) {
        Ok(Ok(verdict)) => verdict as u64,
        _ => REFUSED,
    }
}

/// Sets and where to put one.
struct SetFixture<'a> {
    sets: PredictionSets<'a>,
    set: Cell<ClassSet>,
}

#[unsafe(no_mangle)]
#[inline(never)]
extern "C" fn set_i8_10(row: u32, context: *const c_void) -> u64 {
    // SAFETY: `run` passes it.
    let into: &SetFixture<'_> = unsafe { at(context) };
    let Some(row) = scores::KEYS.get(row as usize % 8) else { return REFUSED };
    match into.sets.of_keys(row) {
        Ok(set) => into.set.set(set),
        Err(_) => return REFUSED,
    }
    0
}

#[unsafe(no_mangle)]
#[inline(never)]
extern "C" fn set_logits_10(row: u32, context: *const c_void) -> u64 {
    // SAFETY: `run` passes it.
    let into: &SetFixture<'_> = unsafe { at(context) };
    let Some(row) = scores::LOGITS.get(row as usize % 8) else { return REFUSED };
    match Logits::new(row).map(|logits| into.sets.of_logits(logits)) {
        Ok(Some(set)) => into.set.set(set),
        _ => return REFUSED,
    }
    0
}

/// Measures all of them.
#[inline(never)]
pub(crate) fn run(bench: &mut Bench) {
    let mut room: Arena = [0; 512];
    let ends = [0.25f32.to_bits(), 0.75f32.to_bits()];
    let artifact = artifacts::points(&mut room, ScoreEncoding::F32, ends);
    if let Some(point) = artifact.operating_points().and_then(|points| points.point::<Score>(0)) {
        bench.float("threshold_score", 0, threshold_score, &point);
    }
    let ends = [-1.5, 2.0].map(|end| Margin::new(end).unwrap_or_default().key());
    let artifact = artifacts::points(&mut room, ScoreEncoding::Margin, ends);
    if let Some(point) = artifact.operating_points().and_then(|points| points.point::<Margin>(0)) {
        bench.margin("threshold_margin", 0, threshold_margin, &point);
    }
    let artifact = artifacts::points(&mut room, CODES, [60, 200]);
    if let Some(point) = artifact.operating_points().and_then(|points| points.code_point(0)) {
        bench.integer("threshold_i8", 0, threshold_i8, &point);
    }
    let artifact = artifacts::sets(&mut room, LOGIT_CODES, Conformity::Margin, Conformity::code_key(-9));
    if let Some(&sets) = artifact.prediction_sets() {
        bench.integer("set_i8_10", 0, set_i8_10, &SetFixture { sets, set: Cell::default() });
    }
    let key = Margin::new(-0.5).unwrap_or_default().key();
    let artifact = artifacts::sets(&mut room, ScoreEncoding::F32, Conformity::Margin, key);
    if let Some(&sets) = artifact.prediction_sets() {
        bench.integer("set_logits_10", 0, set_logits_10, &SetFixture { sets, set: Cell::default() });
    }
}
