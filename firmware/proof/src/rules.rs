//! Thresholds, prediction sets and groups, and the questions about them.

use calib_core::decision::{ClassSet, Conformity, OperatingPoints, PredictionSets, Verdict, never};
use calib_core::score::CodeVector;
use calib_core::wire::{RequestBody, decode};
use calib_core::{Artifact, Logits, Margin, Probs, QuantizedScore, Score, ScoreEncoding};

use crate::any::{any, bytes, floats, from, keep, margin, score};

fn points(points: &OperatingPoints<'_>) {
    keep((points.encoding(), points.groups(), points.refers(), points.refer_raises()));
    points.all().for_each(keep);
    points.guarantees().for_each(keep);
    keep(points.is_raised_by(from(Verdict::Refer)));
    if let Some(point) = points.point::<Score>(any()) {
        keep(point.verdict(score()));
    }
    if let Some(point) = points.point::<Margin>(any()) {
        keep(point.verdict(margin()));
    }
    let code = QuantizedScore::from_key(points.encoding(), any());
    if let (Some(point), Ok(code)) = (points.code_point(any()), code) {
        keep(point.verdict(code));
    }
    keep(never(&from(ScoreEncoding::F32)));
}

fn sets(sets: &PredictionSets<'_>) {
    keep((sets.conformity(), sets.encoding(), sets.classes(), sets.never_empty(), sets.is_by_class()));
    keep((sets.alpha(), sets.confidence(), sets.quantile(any())));
    keep((sets.of_score(score()), sets.of_margin(margin())));
    if let Ok(code) = QuantizedScore::from_key(sets.encoding(), any()) {
        keep(sets.of_code(code));
    }
    if let Ok(logits) = Logits::new(floats()) {
        keep(sets.of_logits(logits));
    }
    if let Ok(probs) = Probs::new(floats()) {
        keep(sets.of_probs(probs));
    }
    keep(sets.of_keys(from(&[])));
    keep(Conformity::code_key(any()));
    let mut set: ClassSet = from(ClassSet::default());
    set.insert(any());
    keep((set.contains(any()), set.len(), set.is_empty(), set.alone()));
    set.classes().for_each(keep);
}

/// Calls all of them.
pub(crate) fn prove() {
    let encoding = from(ScoreEncoding::U8 { scale: 0.5, zero_point: 0 });
    if let Ok(codes) = CodeVector::new(encoding, from(&[])) {
        keep((codes.encoding(), codes.classes(), codes.keys(), codes.top_label(), codes.top_label_margin()));
    }
    let body = from(RequestBody::Status);
    keep((body.is_trial(), body.changes_counters()));
    keep(decode::<calib_core::wire::Reply>(from(&mut [])).is_ok());
    let Ok(artifact) = Artifact::parse(bytes()) else { return };
    if let Some(held) = artifact.operating_points() {
        points(held);
    }
    if let Some(held) = artifact.prediction_sets() {
        sets(held);
    }
    if let Some(names) = artifact.groups() {
        keep((names.count(), names.code(from(""))));
        names.names().for_each(keep);
    }
}
