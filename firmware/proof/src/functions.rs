//! The public functions of calib-core, one after the other.

use calib_core::score::sigmoid;
use calib_core::table::{
    CodeTable, CompactTable, DirectTable, InterpolatedMarginTable, InterpolatedTable, MarginFunction,
    MarginScaling, MarginVennAbersTable, RandomizedMarginTable, RandomizedTable, Scaling, ScalingFunction,
    VennAbersTable,
};
use calib_core::vector::{
    CellScheme, CellTable, Projection, ScalingInput, ScalingShape, Sierpinski, SimplexGrid, SplitTree,
    VectorScaling,
};
use calib_core::{
    AlarmRule, Artifact, ArtifactBuffer, Calibrator, DecisionRule, FixedCodeTable, FixedMarginTable,
    FixedTable, Logits, Margin, MarginTable, Outcome, ProbInterval, Probs, QuantizedScore, Score,
    ScoreEncoding, ScoreVector, StepTable, TopLabel, TopLabelCode, TopLabelCodeMargin, TopLabelMargin,
    Uncalibrated,
};

use crate::any::{any, bytes, floats, from, keep, margin, score, words};

fn scores() {
    keep(Score::new(any()));
    keep(Score::new_clamped(any(), any()));
    keep(score().rounded_key());
    keep(Margin::new(any()));
    keep((margin().key(), margin().rounded_key(), Margin::from_key(any())));
    keep(sigmoid(any()));
    if let Ok(logits) = Logits::new(floats()) {
        keep((logits.classes(), logits.top_label(), logits.top_label_margin()));
        vector(ScoreVector::Logits(logits));
    }
    if let Ok(probs) = Probs::new(floats()) {
        keep((probs.classes(), probs.top_label()));
        vector(ScoreVector::Probs(probs));
    }
    let encoding = from(ScoreEncoding::U8 { scale: 0.5, zero_point: 0 });
    if let Ok(score) = QuantizedScore::new(encoding, any()) {
        keep((score.key(), score.code(), score.dequantized()));
    }
    keep(QuantizedScore::from_key(encoding, any()));
    keep(TopLabelCode::new(encoding, bytes().iter().copied()));
    if let Ok(top) = TopLabelCode::from_keys(encoding, from(&[])) {
        keep((top.classes(), top.class(), top.score()));
    }
    keep(TopLabelCodeMargin::new(encoding, bytes().iter().copied()));
    if let Ok(top) = TopLabelCodeMargin::from_keys(encoding, from(&[])) {
        keep((top.encoding(), top.classes(), top.class(), top.top2_margin(), top.dequantized()));
    }
    keep(from(AlarmRule::AtLeast(0.5)).is_raised_by(any()));
    keep(ProbInterval::new(any(), any()));
}

fn vector(vector: ScoreVector<'_>) {
    keep((vector.classes(), vector.top_label()));
    let top: &mut [TopLabel] = from(&mut []);
    keep(vector.top_k(top));
    vector.scores().for_each(keep);
}

fn tables() {
    if let Ok(table) = StepTable::new(floats(), floats()) {
        keep((table.lookup(score()), table.bins(), table.edges()));
        table.values().for_each(keep);
    }
    if let Ok(table) = RandomizedTable::new(floats(), words(), floats()) {
        keep((table.lookup(score(), any()), table.is_tied(score()), table.bins()));
        table.values().for_each(keep);
    }
    if let Ok(table) = InterpolatedTable::new(floats(), floats(), floats()) {
        keep((table.lookup(score()), table.segments()));
    }
    InterpolatedTable::slopes_between(floats(), floats()).for_each(keep);
    if let Ok(table) = VennAbersTable::new(floats(), floats(), floats()) {
        keep((table.bins(), table.lookup(score())));
        table.p0().chain(table.p1()).for_each(keep);
    }
    let encoding = from(ScoreEncoding::U16 { scale: 0.5, zero_point: 0 });
    let code = QuantizedScore::from_key(encoding, any());
    if let (Ok(table), Ok(code)) = (CodeTable::new(words(), floats(), encoding), code) {
        keep((table.lookup(code), table.bins()));
        table.values().for_each(keep);
    }
    if let (Ok(table), Ok(code)) = (CompactTable::new(from(&[]), from(&[]), encoding), code) {
        keep((table.lookup(code), table.lookup_score(score()), table.bins()));
        table.values().for_each(keep);
    }
    keep((CompactTable::nearest(any()), CompactTable::prob(any())));
    for parameters in [
        Scaling::PlattLogit { a: any(), b: any(), clip: any() },
        Scaling::PlattProb { a: any(), b: any() },
        Scaling::Beta { a: any(), b: any(), c: any(), clip: any() },
        Scaling::Temperature { inverse_t: any(), clip: any() },
        Scaling::Quadratic { a: any(), b: any(), c: any(), clip: any() },
        Scaling::Unchanged,
    ] {
        if let Ok(function) = ScalingFunction::new(from(parameters)) {
            keep(function.prob(score()));
        }
    }
}

fn margin_tables() {
    if let Ok(table) = MarginTable::new(floats(), floats()) {
        keep((table.lookup(margin()), table.bins(), table.edges()));
    }
    if let Ok(table) = RandomizedMarginTable::new(floats(), words(), floats()) {
        keep((table.lookup(margin(), any()), table.is_tied(margin()), table.bins()));
    }
    if let Ok(table) = InterpolatedMarginTable::new(floats(), floats(), floats()) {
        keep((table.lookup(margin()), table.segments()));
    }
    InterpolatedMarginTable::slopes_between(floats(), floats()).for_each(keep);
    if let Ok(table) = MarginVennAbersTable::new(floats(), floats(), floats()) {
        keep((table.bins(), table.lookup(margin())));
    }
    let encoding = from(ScoreEncoding::RoundedMargin);
    if let Ok(table) = CompactTable::new(from(&[]), from(&[]), encoding) {
        keep((table.lookup_score(margin()), table.bins()));
    }
    for parameters in [
        MarginScaling::Platt { a: any(), b: any() },
        MarginScaling::Temperature { inverse_t: any() },
        MarginScaling::Quadratic { a: any(), b: any(), c: any(), scale: any(), shift: any() },
    ] {
        if let Ok(function) = MarginFunction::new(from(parameters)) {
            keep(function.prob(margin()));
        }
    }
}

fn fixed_tables() {
    if let Ok(table) = FixedMarginTable::<16>::new(floats(), floats()) {
        let mut results = [(0, 0.0); 4];
        table.lookup_all(from(&[Margin::ZERO; 3]), &mut results);
        keep((table.lookup(margin()), results));
    }
    if let Ok(table) = FixedMarginTable::<1024>::new(floats(), floats()) {
        keep(table.lookup(margin()));
    }
    if let Ok(table) = FixedTable::<16>::new(floats(), floats()) {
        let mut results = [(0, 0.0); 4];
        table.lookup_all(from(&[Score::ZERO; 3]), &mut results);
        keep((table.lookup(score()), results));
    }
    if let Ok(table) = FixedTable::<1024>::new(floats(), floats()) {
        keep(table.lookup(score()));
    }
    if let Ok(table) = FixedCodeTable::<64>::new(from(&[]), from(&[])) {
        keep((table.lookup(any()), FixedCodeTable::<64>::prob(any())));
    }
    if let Ok(table) = DirectTable::new(from(&[]), floats()) {
        keep(table.lookup(any()));
    }
}

/// Calibrators of whole vectors, made from their parts.
fn whole_vectors() {
    let mut scores = from([0.5; 8]);
    let values = floats();
    let schemes = [
        Sierpinski::new(any(), any()).map(CellScheme::Sierpinski),
        SimplexGrid::new(any(), any()).map(CellScheme::Grid),
        Projection::new(any(), floats(), floats()).map(CellScheme::Projection),
        SplitTree::new(any(), words()).ok().map(CellScheme::SplitTree),
    ];
    for scheme in schemes.into_iter().flatten() {
        keep((scheme.classes(), scheme.cells(), scheme.cell(&mut scores)));
        if let Ok(table) = CellTable::new(scheme, values) {
            keep((table.calibrate(&mut scores), table.flags(any())));
        }
    }
    let shapes = [
        ScalingShape::Temperature { inverse_t: any() },
        ScalingShape::Vector { weights: floats(), intercepts: floats() },
        ScalingShape::Matrix { weights: floats(), intercepts: floats() },
    ];
    for shape in shapes {
        if let Ok(function) = VectorScaling::new(any(), from(ScalingInput::Logits), from(shape)) {
            keep((function.classes(), function.space()));
        }
    }
}

fn artifacts() {
    let Ok(artifact) = Artifact::parse(bytes()).or_else(|_| Artifact::parse_slot(bytes())) else { return };
    keep((artifact.header(), artifact.identity(), artifact.len_bytes(), artifact.is_randomized()));
    keep((artifact.counter(), artifact.signature(), artifact.unsigned_len_bytes()));
    keep((artifact.tables().get(any()), artifact.tables().bin_flags(any(), any())));
    keep((artifact.tables().interval(any(), any()), artifact.tables().score_range(any())));
    keep((artifact.tables().bins(any()), artifact.tables().guaranteed(any(), any())));
    if let Some(found) = artifact.score_intervals() {
        keep((found.rate(), found.alpha(), found.count()));
        if let Some(ranges) = found.table(any()) {
            keep((ranges.bins(), ranges.edges(), ranges.bin(any()), ranges.interval(any())));
            ranges.intervals().for_each(keep);
        }
    }
    if let Some(band) = artifact.band() {
        keep((band.alpha(), band.lower().edges(), band.upper().edges(), band.at_key(any())));
        keep((band.at(score()), band.at(margin())));
        if let Ok(code) = QuantizedScore::from_key(artifact.header().encoding, any()) {
            keep(band.at_code(code));
        }
        band.lower().values().chain(band.upper().values()).for_each(keep);
    }
    calibrator(&artifact.calibrator());
    if let Some(rule) = artifact.decision() {
        decision(rule);
    }
    let mut buffer: ArtifactBuffer<256> = ArtifactBuffer::new();
    keep(buffer.extend_from_slice(bytes()));
    keep(buffer.as_bytes());
}

fn calibrator(calibrator: &Calibrator<'_>) {
    let top = TopLabel { class: any(), score: score() };
    let word = from(None);
    match calibrator {
        Calibrator::Binary(calibrator) => {
            keep(calibrator.calibrate(score()));
            keep(calibrator.calibrate_with(score(), any::<u32>()));
        }
        Calibrator::TopLabel(calibrator) => {
            keep((calibrator.calibrate(top), calibrator.calibrate_with(top, any::<u32>())));
            if let Ok(logits) = Logits::new(floats()) {
                keep(calibrator.calibrate_logits(logits));
            }
            if let Ok(probs) = Probs::new(floats()) {
                keep(calibrator.calibrate_probs(probs));
            }
        }
        Calibrator::BinaryCode(calibrator) => {
            if let Ok(score) = QuantizedScore::from_key(calibrator.encoding(), any()) {
                keep(calibrator.calibrate(score));
            }
        }
        Calibrator::TopLabelCode(calibrator) => {
            if let Ok(score) = QuantizedScore::from_key(calibrator.encoding(), any()) {
                keep(calibrator.calibrate(any(), score));
            }
        }
        Calibrator::BinaryMargin(calibrator) => {
            keep(calibrator.calibrate(margin()));
            keep(calibrator.calibrate_with(margin(), any::<u32>()));
        }
        Calibrator::TopLabelMargin(calibrator) => {
            let top = TopLabelMargin { class: any(), margin: margin() };
            keep((calibrator.calibrate(top), calibrator.calibrate_with(top, any::<u32>())));
            if let Ok(logits) = Logits::new(floats()) {
                keep(calibrator.calibrate_logits(logits));
            }
        }
        Calibrator::TopLabelCodeMargin(calibrator) => {
            if let Ok(top) = TopLabelCodeMargin::from_keys(calibrator.encoding(), from(&[])) {
                keep(calibrator.calibrate(top));
            }
        }
        Calibrator::TopK(calibrator) => {
            keep(calibrator.calibrate(any(), top, word));
            if let Ok(probs) = Probs::new(floats())
                && let Ok(ranked) = calibrator.calibrate_all(ScoreVector::Probs(probs), word)
            {
                ranked.for_each(keep);
            }
        }
        Calibrator::Vector(calibrator) => {
            let mut space = from([0.0; 16]);
            if let Ok(logits) = Logits::new(floats())
                && let Ok(probs) = calibrator.calibrate(ScoreVector::Logits(logits), word, &mut space)
            {
                keep((probs.get(any()), probs.bin(), probs.flags()));
                probs.iter().for_each(keep);
                keep(calibrator.outcome(top, word, probs));
            }
        }
        _ => {}
    }
}

fn decision(rule: &DecisionRule<'_>) {
    let outcome = from(Outcome::Uncalibrated(Uncalibrated::Class));
    keep((rule.decide(&outcome, || any()), rule.is_raised_by(&outcome, any()), rule.action_at(any())));
    keep((rule.thresholds(), rule.intervals(), rule.uncalibrated(), rule.action_count()));
    keep(rule.action(any()));
    rule.actions().for_each(keep);
}

/// Calls all of them.
pub(crate) fn prove() {
    scores();
    tables();
    margin_tables();
    fixed_tables();
    whole_vectors();
    artifacts();
}
