//! Links only if no path to a panic is left in the functions of calib-core.
//!
//! The panic handler calls a function that does not exist. `prove` calls the public functions with inputs of which the
//! compiler knows nothing; whatever of them may panic keeps the handler, and the linker says so.
//!
//! Left out: text (`Display` and `Debug`), because core's own formatting of floats holds panics; `fixed_table!` and
//! `StepTable::new_const`, whose panics are the compiler's; and the writing of artefacts and frames, because postcard and
//! cobs hold checks that the compiler does not see through.
#![no_std]
#![no_main]

use core::hint::black_box;
use core::panic::PanicInfo;

use calib_core::{
    AlarmRule, Artifact, ArtifactBuffer, Calibrator, CodeTable, DirectTable, FixedCodeTable, FixedTable,
    InterpolatedTable, Logits, Outcome, ProbInterval, Probs, QuantizedScore, RandomizedTable, Scaling,
    ScalingFunction, Score, ScoreEncoding, StepTable, TopLabel, VennAbersTable, sigmoid,
};

unsafe extern "C" {
    fn a_function_of_calib_core_can_panic() -> !;
}

#[panic_handler]
fn panic(_: &PanicInfo<'_>) -> ! {
    // SAFETY: it does not exist, so that nothing that calls it is ever linked.
    unsafe { a_function_of_calib_core_can_panic() }
}

/// Inputs of which the compiler knows nothing.
fn any<T>() -> T
where
    T: Default,
{
    black_box(T::default())
}

fn floats() -> &'static [f32] {
    black_box(&[])
}

fn words() -> &'static [u32] {
    black_box(&[])
}

fn score() -> Score {
    Score::new(any()).unwrap_or(Score::ZERO)
}

fn scores() {
    let _ = black_box(Score::new(any()));
    let _ = black_box(Score::new_clamped(any(), any()));
    let _ = black_box(sigmoid(any()));
    if let Ok(logits) = Logits::new(floats()) {
        black_box((logits.classes(), logits.top_label()));
    }
    if let Ok(probs) = Probs::new(floats()) {
        black_box((probs.classes(), probs.top_label()));
    }
    let encoding = black_box(ScoreEncoding::U8 { scale: 0.5, zero_point: 0 });
    if let Ok(score) = QuantizedScore::new(encoding, any()) {
        black_box((score.key(), score.code(), score.dequantized()));
    }
    let _ = black_box(QuantizedScore::from_key(encoding, any()));
    black_box(black_box(AlarmRule::AtLeast(0.5)).is_raised_by(any()));
    black_box(ProbInterval::new(any(), any()));
}

fn tables() {
    if let Ok(table) = StepTable::new(floats(), floats()) {
        black_box((table.lookup(score()), table.bins(), table.edges()));
        table.values().for_each(|value| {
            black_box(value);
        });
    }
    if let Ok(table) = RandomizedTable::new(floats(), words(), floats()) {
        black_box((table.lookup(score(), any()), table.is_tied(score()), table.bins()));
    }
    if let Ok(table) = InterpolatedTable::new(floats(), floats(), floats()) {
        black_box((table.lookup(score()), table.segments()));
    }
    InterpolatedTable::slopes_between(floats(), floats()).for_each(|slope| {
        black_box(slope);
    });
    if let Ok(table) = VennAbersTable::new(floats(), floats(), floats()) {
        black_box((table.bins(), table.lookup(score())));
    }
    let encoding = black_box(ScoreEncoding::U16 { scale: 0.5, zero_point: 0 });
    if let (Ok(table), Ok(score)) =
        (CodeTable::new(words(), floats(), encoding), QuantizedScore::from_key(encoding, any()))
    {
        black_box((table.lookup(score), table.bins()));
    }
    for parameters in [
        Scaling::PlattLogit { a: any(), b: any(), clip: any() },
        Scaling::PlattProb { a: any(), b: any() },
        Scaling::Beta { a: any(), b: any(), c: any(), clip: any() },
        Scaling::Temperature { inverse_t: any(), clip: any() },
    ] {
        if let Ok(function) = ScalingFunction::new(black_box(parameters)) {
            black_box(function.prob(score()));
        }
    }
}

fn fixed_tables() {
    if let Ok(table) = FixedTable::<16>::new(floats(), floats()) {
        let mut results = [(0, 0.0); 4];
        table.lookup_all(black_box(&[Score::ZERO; 3]), &mut results);
        black_box((table.lookup(score()), results));
    }
    if let Ok(table) = FixedTable::<1024>::new(floats(), floats()) {
        black_box(table.lookup(score()));
    }
    if let Ok(table) = FixedCodeTable::<64>::new(black_box(&[]), black_box(&[])) {
        black_box((table.lookup(any()), FixedCodeTable::<64>::prob(any())));
    }
    if let Ok(table) = DirectTable::new(black_box(&[]), floats()) {
        black_box(table.lookup(any()));
    }
}

fn artifacts() {
    let bytes: &[u8] = black_box(&[]);
    let Ok(artifact) = Artifact::parse(bytes).or_else(|_| Artifact::parse_slot(bytes)) else { return };
    black_box((artifact.header(), artifact.identity(), artifact.len_bytes(), artifact.is_randomized()));
    let top = TopLabel { class: any(), score: score() };
    match artifact.calibrator() {
        Calibrator::Binary(calibrator) => {
            black_box(calibrator.calibrate(score()));
            black_box(calibrator.calibrate_with(score(), any::<u32>()));
        }
        Calibrator::TopLabel(calibrator) => {
            let outcome: Outcome = calibrator.calibrate(top);
            black_box((outcome, calibrator.calibrate_with(top, any::<u32>())));
            if let Ok(logits) = Logits::new(floats()) {
                let _ = black_box(calibrator.calibrate_logits(logits));
            }
            if let Ok(probs) = Probs::new(floats()) {
                let _ = black_box(calibrator.calibrate_probs(probs));
            }
        }
        Calibrator::BinaryCode(calibrator) => {
            if let Ok(score) = QuantizedScore::from_key(calibrator.encoding(), any()) {
                let _ = black_box(calibrator.calibrate(score));
            }
        }
        Calibrator::TopLabelCode(calibrator) => {
            if let Ok(score) = QuantizedScore::from_key(calibrator.encoding(), any()) {
                let _ = black_box(calibrator.calibrate(any(), score));
            }
        }
        _ => {}
    }
    let mut buffer: ArtifactBuffer<256> = ArtifactBuffer::new();
    let _ = black_box(buffer.extend_from_slice(bytes));
    black_box(buffer.as_bytes());
}

#[unsafe(no_mangle)]
extern "C" fn prove() {
    scores();
    tables();
    fixed_tables();
    artifacts();
    #[cfg(feature = "control")]
    control();
}

/// What the linker must find: an index that may be out of bounds.
#[cfg(feature = "control")]
fn control() {
    black_box(floats()[any::<usize>()]);
}
