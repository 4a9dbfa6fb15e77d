//! calib-core's functions of scores that are no probabilities. They return what those of [`ours`](crate::ours) do.

use core::cell::Cell;
use core::ffi::c_void;

use calib_core::artifact::TableForm;
use calib_core::score::sigmoid;
use calib_core::table::CompactTable;
use calib_core::{
    BinaryMarginCalibrator, Calibrator, FixedCodeTable, FixedMarginTable, Logits, Margin, MarginTable,
    Outcome, QuantizedScore, ScoreEncoding, TopLabelCodeMargin, TopLabelCodeMarginCalibrator,
    TopLabelMarginCalibrator, fixed_margin_table,
};

use crate::artifacts::{self, Arena};
use crate::measure::Bench;
use crate::ours::{FIXED_15, Fixture, REFUSED, at, halves, pack};
use crate::scores::{self, LOGIT_CODES, edges_u16, margin_edges, top2_margin_edges, values, values_u16};

macro_rules! fixed_margins {
    ($($name:ident $table:ident $room:literal $bins:literal;)*) => {$(
        #[unsafe(no_mangle)]
        static $table: FixedMarginTable<$room> =
            fixed_margin_table!(&margin_edges::<{ $bins - 1 }>(), &values::<$bins>());

        #[unsafe(no_mangle)]
        #[inline(never)]
        extern "C" fn $name(margin: f32, _: *const c_void) -> u64 {
            match Margin::new(margin) {
                Ok(margin) => pack($table.lookup(margin)),
                Err(_) => REFUSED,
            }
        }
    )*};
}

fixed_margins! {
    fixed_margin_15 FIXED_MARGIN_15 16 15;
    fixed_margin_64 FIXED_MARGIN_64 64 64;
}

/// What a margin would be without a table of its own: its sigmoid, looked up in a table of probabilities.
#[unsafe(no_mangle)]
#[inline(never)]
extern "C" fn sigmoid_fixed_15(margin: f32, _: *const c_void) -> u64 {
    sigmoid(margin).map_or(REFUSED, |score| pack(FIXED_15.lookup(score)))
}

#[unsafe(no_mangle)]
#[inline(never)]
extern "C" fn parsed_margin(margin: f32, context: *const c_void) -> u64 {
    // SAFETY: `run` passes it.
    let table: &MarginTable<'_> = unsafe { at(context) };
    match Margin::new(margin) {
        Ok(margin) => pack(table.lookup(margin)),
        Err(_) => REFUSED,
    }
}

#[unsafe(no_mangle)]
#[inline(never)]
extern "C" fn calibrate_margin(margin: f32, context: *const c_void) -> u64 {
    // SAFETY: `run` passes it.
    let fixture: &Fixture<BinaryMarginCalibrator<'_>, Option<Outcome>> = unsafe { at(context) };
    match Margin::new(margin) {
        Ok(margin) => fixture.result.set(Some(fixture.calibrator.calibrate(margin))),
        Err(_) => return REFUSED,
    }
    0
}

#[unsafe(no_mangle)]
#[inline(never)]
extern "C" fn compact_margin(margin: f32, context: *const c_void) -> u64 {
    // SAFETY: `run` passes it.
    let table: &CompactTable<'_> = unsafe { at(context) };
    match Margin::new(margin) {
        Ok(margin) => pack(table.lookup_score(margin)),
        Err(_) => REFUSED,
    }
}

/// Codes of int16.
const CODES: ScoreEncoding = ScoreEncoding::I16 { scale: 1.0 / 4096.0, zero_point: 0 };

#[unsafe(no_mangle)]
#[inline(never)]
extern "C" fn compact_i16(score: u32, context: *const c_void) -> u64 {
    // SAFETY: `run` passes it.
    let table: &CompactTable<'_> = unsafe { at(context) };
    match QuantizedScore::new(CODES, score as i32 - 0x8000) {
        Ok(score) => pack(table.lookup(score)),
        Err(_) => REFUSED,
    }
}

/// A table for the top-two margin of every one of ten classes.
#[unsafe(no_mangle)]
static TOP2_MARGINS: [FixedCodeTable<16>; 10] = [TOP2_MARGIN; 10];

const TOP2_MARGIN: FixedCodeTable<16> = match FixedCodeTable::new(&top2_margin_edges(), &values_u16::<15>()) {
    Ok(table) => table,
    Err(_) => panic!("the edges ascend"),
};

macro_rules! top2_margins {
    ($($name:ident $classes:literal;)*) => {$(
        #[unsafe(no_mangle)]
        #[inline(never)]
        extern "C" fn $name(row: u32, _: *const c_void) -> u64 {
            let codes = scores::CODES.get(row as usize % 8 * 16..).and_then(<[i8]>::first_chunk::<$classes>);
            let Some(codes) = codes else { return REFUSED };
            match TopLabelCodeMargin::new(LOGIT_CODES, codes.iter().copied()) {
                Ok(top) => {
                    let Some(table) = TOP2_MARGINS.get(usize::from(top.class()) % TOP2_MARGINS.len()) else { return REFUSED };
                    let (bin, prob) = table.lookup(top.top2_margin());
                    u64::from(prob) << 32 | u64::from(bin)
                }
                Err(_) => REFUSED,
            }
        }
    )*};
}

top2_margins! {
    top2_margin_i8_2 2;
    top2_margin_i8_10 10;
    top2_margin_i8_100 100;
    top2_margin_i8_1000 1000;
}

#[unsafe(no_mangle)]
#[inline(never)]
extern "C" fn calibrate_top2_margin_i8_10(row: u32, context: *const c_void) -> u64 {
    // SAFETY: `run` passes it.
    let fixture: &Fixture<TopLabelCodeMarginCalibrator<'_>, Option<Outcome>> = unsafe { at(context) };
    let codes = scores::CODES.get(row as usize % 8 * 16..).and_then(<[i8]>::first_chunk::<10>);
    let Some(codes) = codes else { return REFUSED };
    match TopLabelCodeMargin::new(LOGIT_CODES, codes.iter().copied())
        .map(|top| fixture.calibrator.calibrate(top))
    {
        Ok(Ok(outcome)) => fixture.result.set(Some(outcome)),
        _ => return REFUSED,
    }
    0
}

#[unsafe(no_mangle)]
#[inline(never)]
extern "C" fn top_label_margin(row: u32, context: *const c_void) -> u64 {
    // SAFETY: `run` passes it.
    let fixture: &Fixture<TopLabelMarginCalibrator<'_>, Option<Outcome>> = unsafe { at(context) };
    let Some(row) = scores::LOGITS.get(row as usize % 8) else { return REFUSED };
    match Logits::new(row).map(|logits| fixture.calibrator.calibrate_logits(logits)) {
        Ok(Ok((_, outcome))) => fixture.result.set(Some(outcome)),
        _ => return REFUSED,
    }
    0
}

/// Measures all of them.
#[inline(never)]
pub(crate) fn run(bench: &mut Bench) {
    bench.margin("fixed_margin_15", 15, fixed_margin_15, &());
    bench.margin("fixed_margin_64", 64, fixed_margin_64, &());
    bench.margin("sigmoid_fixed_15", 0, sigmoid_fixed_15, &());
    let mut room: Arena = [0; 512];
    for (bins, parsed_name, whole_name) in
        [(15, "parsed_margin_15", "calibrate_margin_15"), (64, "parsed_margin_64", "calibrate_margin_64")]
    {
        let artifact = artifacts::margin(&mut room, bins);
        if let Some(TableForm::MarginSteps(table)) = artifact.tables().get(0).map(|table| table.form) {
            bench.margin(parsed_name, bins as u16, parsed_margin, &table);
        }
        if let Calibrator::BinaryMargin(calibrator) = artifact.calibrator() {
            let fixture = Fixture { calibrator, result: Cell::new(None::<Outcome>) };
            bench.margin(whole_name, bins as u16, calibrate_margin, &fixture);
        }
    }
    compact_tables(bench);
    top2_margins(bench, &mut room);
}

/// Measures tables of 16 bits.
fn compact_tables(bench: &mut Bench) {
    let (edges_15, values_15) = (edges_u16::<14>(), halves::<15>());
    let (edges_64, values_64) = (edges_u16::<63>(), halves::<64>());
    if let Ok(table) = CompactTable::new(&edges_15, &values_15, CODES) {
        bench.integer("compact_i16_15", 15, compact_i16, &table);
    }
    if let Ok(table) = CompactTable::new(&edges_64, &values_64, CODES) {
        bench.integer("compact_i16_64", 64, compact_i16, &table);
    }
    let rounded = margin_edges::<14>().map(|edge| Margin::new(edge).unwrap_or_default().rounded_key());
    if let Ok(table) = CompactTable::new(&rounded, &values_15, ScoreEncoding::RoundedMargin) {
        bench.margin("compact_margin_15", 15, compact_margin, &table);
    }
}

/// Measures what a classifier of several classes predicts, by the top-two margin of its logit.
fn top2_margins(bench: &mut Bench, room: &mut Arena) {
    bench.integer("top2_margin_i8_2", 0, top2_margin_i8_2, &());
    bench.integer("top2_margin_i8_10", 0, top2_margin_i8_10, &());
    bench.integer("top2_margin_i8_100", 0, top2_margin_i8_100, &());
    bench.integer("top2_margin_i8_1000", 0, top2_margin_i8_1000, &());
    let artifact = artifacts::top2_margin_of_codes(room);
    if let Calibrator::TopLabelCodeMargin(calibrator) = artifact.calibrator() {
        let fixture = Fixture { calibrator, result: Cell::new(None::<Outcome>) };
        bench.integer("calibrate_top2_margin_i8_10", 0, calibrate_top2_margin_i8_10, &fixture);
    }
    let artifact = artifacts::top2_margin_of_logits(room);
    if let Calibrator::TopLabelMargin(calibrator) = artifact.calibrator() {
        let fixture = Fixture { calibrator, result: Cell::new(None::<Outcome>) };
        bench.integer("top_label_margin", 0, top_label_margin, &fixture);
    }
}
