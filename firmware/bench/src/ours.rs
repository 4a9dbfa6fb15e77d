//! calib-core's functions.
//!
//! Where two numbers are returned, the bin is in the low word and the probability's bits are in the high one; a score that
//! is refused gives all ones.

use core::ffi::c_void;

use calib_core::artifact::{Method, TableForm};
use calib_core::score::{sigmoid, sigmoid_fast};
use calib_core::table::{CompactTable, DirectTable, InterpolatedTable, Scaling, ScalingFunction};
use calib_core::{
    Artifact, BinaryCalibrator, Calibrator, FixedCodeTable, FixedTable, Logits, Outcome, Probs,
    QuantizedScore, Score, ScoreEncoding, StepTable, TopLabelCalibrator, fixed_table,
};

use crate::artifacts::{self, Arena};
use crate::measure::Bench;
use crate::scores::{self, edges, edges_u16, values, values_u16};

pub(crate) const REFUSED: u64 = u64::MAX;
/// Codes of 16 bits.
const CODES: ScoreEncoding = ScoreEncoding::U16 { scale: 1.0 / 65_536.0, zero_point: 0 };

#[inline(always)]
pub(crate) fn pack((bin, prob): (u16, f32)) -> u64 {
    u64::from(prob.to_bits()) << 32 | u64::from(bin)
}

/// What a context points to.
///
/// # Safety
///
/// It was made from such a reference.
#[inline(always)]
pub(crate) unsafe fn at<'a, T>(context: *const c_void) -> &'a T {
    // SAFETY: the caller's.
    unsafe { &*context.cast::<T>() }
}

macro_rules! fixed {
    ($($name:ident $table:ident $room:literal $bins:literal;)*) => {$(
        #[unsafe(no_mangle)]
        pub(crate) static $table: FixedTable<$room> = fixed_table!(&edges::<{ $bins - 1 }>(), &values::<$bins>());

        #[unsafe(no_mangle)]
        #[inline(never)]
        extern "C" fn $name(score: f32, _: *const c_void) -> u64 {
            match Score::new(score) {
                Ok(score) => pack($table.lookup(score)),
                Err(_) => REFUSED,
            }
        }
    )*};
}

fixed! {
    fixed_15 FIXED_15 16 15;
    fixed_32 FIXED_32 32 32;
    fixed_64 FIXED_64 64 64;
    fixed_128 FIXED_128 128 128;
    fixed_256 FIXED_256 256 256;
    fixed_512 FIXED_512 512 512;
    fixed_1024 FIXED_1024 1024 1024;
}

/// How many scores a batch has.
const BATCH: usize = 256;

#[unsafe(no_mangle)]
#[inline(never)]
extern "C" fn batch_15(_: u32, context: *const c_void) -> u64 {
    // SAFETY: `run` passes it.
    batch(&FIXED_15, unsafe { at(context) })
}

#[unsafe(no_mangle)]
#[inline(never)]
extern "C" fn batch_64(_: u32, context: *const c_void) -> u64 {
    // SAFETY: `run` passes it.
    batch(&FIXED_64, unsafe { at(context) })
}

/// A batch's scores, and where its results go.
struct Batch<'a> {
    scores: &'a [Score],
    floats: &'a [f32],
    results: core::cell::Cell<&'a mut [(u16, f32)]>,
}

#[unsafe(no_mangle)]
#[inline(never)]
extern "C" fn batch_checked_15(_: u32, context: *const c_void) -> u64 {
    // SAFETY: `run` passes it.
    batch_checked(&FIXED_15, unsafe { at(context) })
}

#[unsafe(no_mangle)]
#[inline(never)]
extern "C" fn batch_checked_64(_: u32, context: *const c_void) -> u64 {
    // SAFETY: `run` passes it.
    batch_checked(&FIXED_64, unsafe { at(context) })
}

/// Bins and probabilities of scores that nothing has checked.
#[inline(always)]
fn batch_checked<const N: usize>(table: &'static FixedTable<N>, batch: &Batch<'_>) -> u64 {
    let results = batch.results.take();
    for (score, slot) in batch.floats.iter().zip(results.iter_mut()) {
        match Score::new(*score) {
            Ok(score) => *slot = table.lookup(score),
            Err(_) => return REFUSED,
        }
    }
    batch.results.set(results);
    0
}

/// Bins and probabilities of checked scores.
#[inline(always)]
fn batch<const N: usize>(table: &'static FixedTable<N>, batch: &Batch<'_>) -> u64 {
    let results = batch.results.take();
    table.lookup_all(batch.scores, results);
    batch.results.set(results);
    0
}

#[unsafe(no_mangle)]
#[inline(never)]
extern "C" fn parsed(score: f32, context: *const c_void) -> u64 {
    // SAFETY: `run` passes it.
    let table: &StepTable<'_> = unsafe { at(context) };
    match Score::new(score) {
        Ok(score) => pack(table.lookup(score)),
        Err(_) => REFUSED,
    }
}

/// A step table's edges and values.
struct Slices<'a> {
    edges: &'a [f32],
    values: &'a [f32],
}

/// What a step table would be in few bytes of code: the standard library's loop, over bits.
#[unsafe(no_mangle)]
#[inline(never)]
extern "C" fn looped(score: f32, context: *const c_void) -> u64 {
    // SAFETY: `run` passes it.
    let Slices { edges, values } = unsafe { at(context) };
    let Ok(score) = Score::new(score) else { return REFUSED };
    let bin = edges.partition_point(|edge| edge.to_bits() <= score.to_bits());
    pack((bin as u16, values.get(bin).copied().unwrap_or_default()))
}

#[unsafe(no_mangle)]
#[inline(never)]
extern "C" fn compact(score: u32, context: *const c_void) -> u64 {
    // SAFETY: `run` passes it.
    let table: &CompactTable<'_> = unsafe { at(context) };
    match QuantizedScore::new(CODES, score as i32) {
        Ok(score) => pack(table.lookup(score)),
        Err(_) => REFUSED,
    }
}

#[unsafe(no_mangle)]
#[inline(never)]
extern "C" fn compact_rounded(score: f32, context: *const c_void) -> u64 {
    // SAFETY: `run` passes it.
    let table: &CompactTable<'_> = unsafe { at(context) };
    match Score::new(score) {
        Ok(score) => pack(table.lookup_score(score)),
        Err(_) => REFUSED,
    }
}

#[unsafe(no_mangle)]
#[inline(never)]
extern "C" fn interpolated(score: f32, context: *const c_void) -> u64 {
    // SAFETY: `run` passes it.
    let table: &InterpolatedTable<'_> = unsafe { at(context) };
    match Score::new(score) {
        Ok(score) => pack(table.lookup(score)),
        Err(_) => REFUSED,
    }
}

/// A calibrator and where its result goes, which does not fit registers.
pub(crate) struct Fixture<C, R> {
    pub(crate) calibrator: C,
    pub(crate) result: core::cell::Cell<R>,
}

#[unsafe(no_mangle)]
#[inline(never)]
pub(crate) extern "C" fn calibrate(score: f32, context: *const c_void) -> u64 {
    // SAFETY: `run` passes it.
    let fixture: &Fixture<BinaryCalibrator<'_>, Option<Outcome>> = unsafe { at(context) };
    match Score::new(score) {
        Ok(score) => fixture.result.set(Some(fixture.calibrator.calibrate(score))),
        Err(_) => return REFUSED,
    }
    0
}

pub(crate) type TopLabelFixture<'a> =
    Fixture<TopLabelCalibrator<'a>, Option<(calib_core::TopLabel, Outcome)>>;

#[unsafe(no_mangle)]
#[inline(never)]
pub(crate) extern "C" fn top_label_probs(row: u32, context: *const c_void) -> u64 {
    // SAFETY: `run` passes it.
    let fixture: &TopLabelFixture<'_> = unsafe { at(context) };
    let Some(row) = scores::PROBS.get(row as usize % 8) else { return REFUSED };
    match Probs::new(row).map(|probs| fixture.calibrator.calibrate_probs(probs)) {
        Ok(Ok(result)) => fixture.result.set(Some(result)),
        _ => return REFUSED,
    }
    0
}

#[unsafe(no_mangle)]
#[inline(never)]
extern "C" fn top_label_logits(row: u32, context: *const c_void) -> u64 {
    // SAFETY: `run` passes it.
    let fixture: &TopLabelFixture<'_> = unsafe { at(context) };
    let Some(row) = scores::LOGITS.get(row as usize % 8) else { return REFUSED };
    match Logits::new(row).map(|logits| fixture.calibrator.calibrate_logits(logits)) {
        Ok(Ok(result)) => fixture.result.set(Some(result)),
        _ => return REFUSED,
    }
    0
}

#[unsafe(no_mangle)]
static U16_15: FixedCodeTable<16> = match FixedCodeTable::new(&edges_u16::<14>(), &values_u16::<15>()) {
    Ok(table) => table,
    Err(_) => panic!("the edges ascend"),
};

#[unsafe(no_mangle)]
static U16_64: FixedCodeTable<64> = match FixedCodeTable::new(&edges_u16::<63>(), &values_u16::<64>()) {
    Ok(table) => table,
    Err(_) => panic!("the edges ascend"),
};

#[unsafe(no_mangle)]
#[inline(never)]
extern "C" fn u16_15(score: u32, _: *const c_void) -> u64 {
    let (bin, prob) = U16_15.lookup(score as u16);
    u64::from(prob) << 32 | u64::from(bin)
}

#[unsafe(no_mangle)]
#[inline(never)]
extern "C" fn u16_64(score: u32, _: *const c_void) -> u64 {
    let (bin, prob) = U16_64.lookup(score as u16);
    u64::from(prob) << 32 | u64::from(bin)
}

#[unsafe(no_mangle)]
static DIRECT: DirectTable = match DirectTable::new(&[20, 50, 90, 130, 170, 220], &values::<7>()) {
    Ok(table) => table,
    Err(_) => panic!("the edges ascend"),
};

#[unsafe(no_mangle)]
#[inline(never)]
extern "C" fn direct_u8(score: u32, _: *const c_void) -> u64 {
    pack(DIRECT.lookup(score as u8))
}

#[unsafe(no_mangle)]
#[inline(never)]
extern "C" fn scaling(score: f32, context: *const c_void) -> u64 {
    // SAFETY: `run` passes it.
    let function: &ScalingFunction = unsafe { at(context) };
    match Score::new(score) {
        Ok(score) => pack((0, function.prob(score))),
        Err(_) => REFUSED,
    }
}

#[unsafe(no_mangle)]
#[inline(never)]
extern "C" fn platt_libm(score: f32, _: *const c_void) -> u64 {
    sigmoid(7.1 * score - 3.3).map_or(REFUSED, |prob| pack((0, prob.get())))
}

#[unsafe(no_mangle)]
#[inline(never)]
extern "C" fn platt_micromath(score: f32, _: *const c_void) -> u64 {
    sigmoid_fast(7.1 * score - 3.3).map_or(REFUSED, |prob| pack((0, prob.get())))
}

/// Measures tables of 16 bits, of codes and of floats.
fn compact_tables(bench: &mut Bench) {
    let (edges_15, values_15) = (edges_u16::<14>(), halves::<15>());
    let (edges_64, values_64) = (edges_u16::<63>(), halves::<64>());
    if let Ok(table) = CompactTable::new(&edges_15, &values_15, CODES) {
        bench.integer("compact_15", 15, compact, &table);
    }
    if let Ok(table) = CompactTable::new(&edges_64, &values_64, CODES) {
        bench.integer("compact_64", 64, compact, &table);
    }
    if let Ok(table) = CompactTable::new(&edges_15, &values_15, ScoreEncoding::RoundedF32) {
        bench.float("compact_rounded_15", 15, compact_rounded, &table);
    }
    if let Ok(table) = CompactTable::new(&edges_64, &values_64, ScoreEncoding::RoundedF32) {
        bench.float("compact_rounded_64", 64, compact_rounded, &table);
    }
}

/// [`values_u16`] in units of 1/32 768.
pub(crate) const fn halves<const B: usize>() -> [u16; B] {
    let mut values: [u16; B] = values_u16();
    let mut i = 0;
    while i < B {
        values[i] /= 2;
        i += 1;
    }
    values
}

/// Measures all of them.
#[inline(never)]
pub(crate) fn run(bench: &mut Bench) {
    fixed_tables(bench);
    compact_tables(bench);
    parsed_tables(bench);
    scaling_functions(bench);
}

/// The tables in a `const`, one score at a time and in batches.
fn fixed_tables(bench: &mut Bench) {
    bench.float("fixed_15", 15, fixed_15, &());
    bench.float("fixed_32", 0, fixed_32, &());
    bench.float("fixed_64", 64, fixed_64, &());
    bench.float("fixed_128", 0, fixed_128, &());
    bench.float("fixed_256", 0, fixed_256, &());
    bench.float("fixed_512", 0, fixed_512, &());
    bench.float("fixed_1024", 0, fixed_1024, &());
    let mut results = [(0, 0.0); BATCH];
    let mut scores = [Score::ZERO; BATCH];
    for (slot, score) in scores.iter_mut().zip(&scores::UNIFORM) {
        *slot = Score::new(*score).unwrap_or(Score::ZERO);
    }
    let floats = scores::UNIFORM.get(..BATCH).unwrap_or_default();
    let batch = Batch { scores: &scores, floats, results: core::cell::Cell::new(&mut results) };
    bench.batch("batch_15", BATCH as u32, batch_15, &batch);
    bench.batch("batch_64", BATCH as u32, batch_64, &batch);
    bench.batch("batch_checked_15", BATCH as u32, batch_checked_15, &batch);
    bench.batch("batch_checked_64", BATCH as u32, batch_checked_64, &batch);
    bench.integer("u16_15", 15, u16_15, &());
    bench.integer("u16_64", 64, u16_64, &());
    bench.integer("direct_u8", 0, direct_u8, &());
}

/// The tables of an artifact, and whole calibrators.
fn parsed_tables(bench: &mut Bench) {
    // The search begins with both ends of 15 edges, where the compiler knows less of their number than of 14 or 63.
    let (edges_20, values_20): ([f32; 19], [f32; 20]) = (edges(), values());
    if let Ok(table) = StepTable::new(&edges_20, &values_20) {
        bench.float("parsed_20", 20, parsed, &table);
    }
    let (edges_15, values_15): ([f32; 14], [f32; 15]) = (edges(), values());
    let (edges_64, values_64): ([f32; 63], [f32; 64]) = (edges(), values());
    bench.float("looped_15", 15, looped, &Slices { edges: &edges_15, values: &values_15 });
    bench.float("looped_64", 64, looped, &Slices { edges: &edges_64, values: &values_64 });
    let mut room: Arena = [0; 512];
    for (bins, parsed_name, whole_name) in
        [(15, "parsed_15", "calibrate_15"), (64, "parsed_64", "calibrate_64")]
    {
        let artifact = artifacts::binary(&mut room, bins);
        if let Some(TableForm::Steps(table)) = artifact.tables().get(0).map(|table| table.form) {
            bench.float(parsed_name, bins as u16, parsed, &table);
        }
        whole(bench, whole_name, bins, &artifact);
    }
    beside(bench, &mut room);
    let artifact = artifacts::top_label(&mut room);
    if let Calibrator::TopLabel(calibrator) = artifact.calibrator() {
        let fixture: TopLabelFixture<'_> = Fixture { calibrator, result: core::cell::Cell::new(None) };
        bench.integer("top_label_probs", 0, top_label_probs, &fixture);
        bench.integer("top_label_logits", 0, top_label_logits, &fixture);
    }
}

/// What the interval of a range costs beside a step table and beside functions.
fn beside(bench: &mut Bench, room: &mut Arena) {
    let platt = Scaling::PlattLogit { a: 0.7, b: -0.3, clip: 1e-6 };
    let beta = Scaling::Beta { a: 0.7, b: 1.3, c: -0.2, clip: 1e-6 };
    for (name, function, bins) in [
        ("ranges_15", None, 15),
        ("ranges_64", None, 64),
        ("ranges_platt", Some((Method::Platt, platt)), 0),
        ("ranges_beta", Some((Method::Beta, beta)), 0),
    ] {
        whole(bench, name, bins, &artifacts::with_ranges(room, function, bins));
    }
}

/// A binary calibrator, which returns all that is known of a score.
fn whole(bench: &mut Bench, name: &str, bins: u32, artifact: &Artifact<'_>) {
    if let Calibrator::Binary(calibrator) = artifact.calibrator() {
        let fixture = Fixture { calibrator, result: core::cell::Cell::new(None::<Outcome>) };
        bench.float(name, bins as u16, calibrate, &fixture);
    }
}

/// What computes instead of looking up: interpolation and scaling functions.
fn scaling_functions(bench: &mut Bench) {
    let (x, y): ([f32; 14], [f32; 14]) = (edges(), values());
    let mut slopes = [0.0; 13];
    for (slot, slope) in slopes.iter_mut().zip(InterpolatedTable::slopes_between(&x, &y)) {
        *slot = slope;
    }
    if let Ok(table) = InterpolatedTable::new(&x, &y, &slopes) {
        bench.float("interpolated_15", 0, interpolated, &table);
    }
    for (name, parameters) in [
        ("platt_logit", Scaling::PlattLogit { a: 0.7, b: -0.3, clip: 1e-6 }),
        ("platt_prob", Scaling::PlattProb { a: 7.1, b: -3.3 }),
        ("beta", Scaling::Beta { a: 0.7, b: 1.3, c: -0.2, clip: 1e-6 }),
        ("temperature", Scaling::Temperature { inverse_t: 0.6, clip: 1e-6 }),
    ] {
        if let Ok(function) = ScalingFunction::new(parameters) {
            bench.float(name, 0, scaling, &function);
        }
    }
    bench.float("platt_libm", 0, platt_libm, &());
    bench.float("platt_micromath", 0, platt_micromath, &());
}
