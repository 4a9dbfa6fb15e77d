//! What a device calls for every score, a function each, whose stack `cargo xtask stack` bounds.
//!
//! Each function takes everything that the compiler could otherwise know from its caller, and returns all of the result.

use calib_core::predict::{Output, Prediction, Query, Ranked};
use calib_core::score::{ClassCountError, EncodingError};
use calib_core::table::{
    CodeTable, CompactTable, InterpolatedMarginTable, InterpolatedTable, MarginFunction,
    MarginVennAbersTable, RandomizedMarginTable, RandomizedTable, ScalingFunction, VennAbersTable,
};
use calib_core::wire::Refusal;
use calib_core::{
    BinaryCalibrator, BinaryCodeCalibrator, BinaryMarginCalibrator, DecisionRule, Logits, Margin,
    MarginTable, Outcome, Probs, QuantizedScore, Score, StepTable, TopLabel, TopLabelCalibrator,
    TopLabelCode, TopLabelCodeCalibrator, TopLabelCodeMargin, TopLabelCodeMarginCalibrator, TopLabelMargin,
    TopLabelMarginCalibrator,
};
use calib_firmware::Slot;

use crate::any::{any, bytes, floats, from, keep, margin, score, words};

macro_rules! entries {
    ($($(#[$doc:meta])* fn $name:ident($($argument:ident: $type:ty),*) -> $result:ty { $body:expr })*) => {$(
        $(#[$doc])*
        #[unsafe(no_mangle)]
        #[inline(never)]
        pub(crate) fn $name($($argument: $type),*) -> $result {
            $body
        }
    )*};
}

entries! {
    /// Whatever form its table has: steps, 16-bit steps, randomized ties, knots, a scaling function, Venn-Abers.
    fn binary(calibrator: &BinaryCalibrator<'_>, score: Score, word: Option<u32>) -> Outcome {
        calibrator.calibrate_with(score, word)
    }

    fn binary_code(
        calibrator: &BinaryCodeCalibrator<'_>,
        score: QuantizedScore
    ) -> Result<Outcome, EncodingError> {
        calibrator.calibrate(score)
    }

    fn binary_margin(
        calibrator: &BinaryMarginCalibrator<'_>,
        margin: Margin,
        word: Option<u32>
    ) -> Outcome {
        calibrator.calibrate_with(margin, word)
    }

    fn step_table(table: &StepTable<'_>, score: Score) -> (u16, f32) {
        table.lookup(score)
    }

    fn compact_table(table: &CompactTable<'_>, score: Score) -> (u16, f32) {
        table.lookup_score(score)
    }

    fn randomized_table(table: &RandomizedTable<'_>, score: Score, word: u32) -> (u16, f32) {
        table.lookup(score, word)
    }

    fn interpolated_table(table: &InterpolatedTable<'_>, score: Score) -> (u16, f32) {
        table.lookup(score)
    }

    fn venn_abers_table(table: &VennAbersTable<'_>, score: Score) -> (u16, f32, [f32; 2]) {
        table.lookup(score)
    }

    fn code_table(table: &CodeTable<'_>, score: QuantizedScore) -> (u16, f32) {
        table.lookup(score)
    }

    fn scaling_function(function: &ScalingFunction, score: Score) -> f32 {
        function.prob(score)
    }

    fn margin_table(table: &MarginTable<'_>, margin: Margin) -> (u16, f32) {
        table.lookup(margin)
    }

    fn compact_margin_table(table: &CompactTable<'_>, margin: Margin) -> (u16, f32) {
        table.lookup_score(margin)
    }

    fn randomized_margin_table(
        table: &RandomizedMarginTable<'_>,
        margin: Margin,
        word: u32
    ) -> (u16, f32) {
        table.lookup(margin, word)
    }

    fn interpolated_margin_table(table: &InterpolatedMarginTable<'_>, margin: Margin) -> (u16, f32) {
        table.lookup(margin)
    }

    fn venn_abers_margin_table(table: &MarginVennAbersTable<'_>, margin: Margin) -> (u16, f32, [f32; 2]) {
        table.lookup(margin)
    }

    fn margin_function(function: &MarginFunction, margin: Margin) -> f32 {
        function.prob(margin)
    }

    fn top_label_probs(
        calibrator: &TopLabelCalibrator<'_>,
        probs: Probs<'_>
    ) -> Result<(TopLabel, Outcome), ClassCountError> {
        calibrator.calibrate_probs(probs)
    }

    fn top_label_logits(
        calibrator: &TopLabelCalibrator<'_>,
        logits: Logits<'_>
    ) -> Result<(TopLabel, Outcome), ClassCountError> {
        calibrator.calibrate_logits(logits)
    }

    fn top_label_code(
        calibrator: &TopLabelCodeCalibrator<'_>,
        class: u16,
        score: QuantizedScore
    ) -> Result<Outcome, EncodingError> {
        calibrator.calibrate(class, score)
    }

    fn top_label_codes(calibrator: &TopLabelCodeCalibrator<'_>, codes: &[i8]) -> Option<Outcome> {
        TopLabelCode::new(calibrator.encoding(), codes.iter().copied())
            .ok()
            .and_then(|top| calibrator.calibrate(top.class(), top.score()).ok())
    }

    /// With as many classes as there are: the top-two margin takes no room for them.
    fn top_label_margin(
        calibrator: &TopLabelMarginCalibrator<'_>,
        logits: Logits<'_>
    ) -> Result<(TopLabelMargin, Outcome), ClassCountError> {
        calibrator.calibrate_logits(logits)
    }

    /// As [`top_label_margin`].
    fn top_label_code_margin(
        calibrator: &TopLabelCodeMarginCalibrator<'_>,
        codes: &[i8]
    ) -> Option<Outcome> {
        TopLabelCodeMargin::new(calibrator.encoding(), codes.iter().copied())
            .ok()
            .and_then(|top| calibrator.calibrate(top).ok())
    }

    fn decision(rule: &DecisionRule<'_>, outcome: &Outcome) -> (u8, bool) {
        {
            let action = rule.decide(outcome, || None);
            (action, rule.is_raised_by(outcome, action))
        }
    }

    /// What the firmware's library calls, of whatever calibrator there is in the slot.
    fn slot(slot: &Slot<'_>, query: &Query<'_>) -> Result<Ranked, Refusal> {
        slot.calibrate(query)
    }

    /// The same with what rules, thresholds and sets say.
    fn slot_prediction(slot: &Slot<'_>, query: &Query<'_>) -> Result<Prediction, Refusal> {
        slot.predict(query)
    }
}

/// Calls every one of them.
pub(crate) fn prove() {
    if let Ok(table) = StepTable::new(floats(), floats()) {
        keep(step_table(&table, score()));
    }
    let encoding = from(calib_core::ScoreEncoding::RoundedF32);
    if let Ok(table) = CompactTable::new(from(&[]), from(&[]), encoding) {
        keep(compact_table(&table, score()));
    }
    if let Ok(table) = RandomizedTable::new(floats(), words(), floats()) {
        keep(randomized_table(&table, score(), any()));
    }
    if let Ok(table) = InterpolatedTable::new(floats(), floats(), floats()) {
        keep(interpolated_table(&table, score()));
    }
    if let Ok(table) = VennAbersTable::new(floats(), floats(), floats()) {
        keep(venn_abers_table(&table, score()));
    }
    if let (Ok(table), Ok(score)) =
        (CodeTable::new(words(), floats(), encoding), QuantizedScore::from_key(encoding, any()))
    {
        keep(code_table(&table, score));
    }
    let parameters = calib_core::table::Scaling::PlattProb { a: any(), b: any() };
    if let Ok(function) = ScalingFunction::new(from(parameters)) {
        keep(scaling_function(&function, score()));
    }
    margin_tables();
    let Ok(artifact) = calib_core::Artifact::parse(bytes()) else { return };
    match artifact.calibrator() {
        calib_core::Calibrator::Binary(calibrator) => keep(binary(&calibrator, score(), from(None))),
        calib_core::Calibrator::BinaryCode(calibrator) => {
            if let Ok(score) = QuantizedScore::from_key(calibrator.encoding(), any()) {
                keep(binary_code(&calibrator, score));
            }
        }
        calib_core::Calibrator::TopLabel(calibrator) => {
            if let (Ok(probs), Ok(logits)) = (Probs::new(floats()), Logits::new(floats())) {
                keep(top_label_probs(&calibrator, probs));
                keep(top_label_logits(&calibrator, logits));
            }
        }
        calib_core::Calibrator::TopLabelCode(calibrator) => {
            if let Ok(score) = QuantizedScore::from_key(calibrator.encoding(), any()) {
                keep(top_label_code(&calibrator, any(), score));
            }
            keep(top_label_codes(&calibrator, from(&[])));
        }
        calib_core::Calibrator::BinaryMargin(calibrator) => {
            keep(binary_margin(&calibrator, margin(), from(None)));
        }
        calib_core::Calibrator::TopLabelMargin(calibrator) => {
            if let Ok(logits) = Logits::new(floats()) {
                keep(top_label_margin(&calibrator, logits));
            }
        }
        calib_core::Calibrator::TopLabelCodeMargin(calibrator) => {
            keep(top_label_code_margin(&calibrator, from(&[])));
        }
        _ => {}
    }
    let outcome = from(Outcome::Uncalibrated(calib_core::Uncalibrated::Class));
    if let Some(rule) = artifact.decision() {
        keep(decision(rule, &outcome));
    }
    let held = Slot::read(
        bytes(),
        calib_core::Anybody,
        from(calib_core::ClassifierId([0; 8])),
        from(calib_firmware::Task::Binary),
    );
    let query = from(Query { output: Output::Score(score()), group: None, word: None });
    keep(slot(&held, &query));
    keep(slot_prediction(&held, &query));
}

fn margin_tables() {
    if let Ok(table) = MarginTable::new(floats(), floats()) {
        keep(margin_table(&table, margin()));
    }
    let encoding = from(calib_core::ScoreEncoding::RoundedMargin);
    if let Ok(table) = CompactTable::new(from(&[]), from(&[]), encoding) {
        keep(compact_margin_table(&table, margin()));
    }
    if let Ok(table) = RandomizedMarginTable::new(floats(), words(), floats()) {
        keep(randomized_margin_table(&table, margin(), any()));
    }
    if let Ok(table) = InterpolatedMarginTable::new(floats(), floats(), floats()) {
        keep(interpolated_margin_table(&table, margin()));
    }
    if let Ok(table) = MarginVennAbersTable::new(floats(), floats(), floats()) {
        keep(venn_abers_margin_table(&table, margin()));
    }
    let parameters = calib_core::table::MarginScaling::Platt { a: any(), b: any() };
    if let Ok(function) = MarginFunction::new(from(parameters)) {
        keep(margin_function(&function, margin()));
    }
}
