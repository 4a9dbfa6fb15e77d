//! Thresholds and prediction sets, as C writes them.

use calib_core::artifact::Reduction;
use calib_core::decision::{Conformity, OperatingPoints, PredictionSets, Quantile};
use calib_core::{Artifact, Margin, ScoreEncoding};
use minijinja::{Value, context};

use crate::export::exported::score_type;

/// The thresholds of each group, as keys.
pub(super) fn points(points: &OperatingPoints<'_>) -> Vec<[String; 2]> {
    let key = |key: u32| format!("{key:#010x}u");
    points.all().map(|group| [key(group.lower.key), key(group.upper.key)]).collect()
}

/// What the template of sets takes.
pub(super) fn sets(artifact: &Artifact<'_>, sets: &PredictionSets<'_>) -> Value {
    if artifact.header().reduction == Reduction::Binary {
        let keys = [0, 1].map(|class| sets.quantile(class).map_or(0, |quantile| quantile.key));
        return context! {
            template => "set_binary.h",
            least => keys.map(|key| format!("{key:#010x}u")).join(", "),
            never_empty => sets.never_empty(),
        };
    }
    let encoding = sets.encoding();
    let is_margin = sets.conformity() == Conformity::Margin;
    let thresholds = if sets.is_by_class() { sets.classes() } else { 1 };
    let quantiles = (0..thresholds).filter_map(|class| sets.quantile(class));
    let least: Vec<String> = quantiles.map(|quantile| least(quantile, &encoding, is_margin)).collect();
    context! {
        template => "set.h",
        classes => sets.classes(),
        is_code => encoding.is_quantized(),
        is_margin,
        of => match (is_margin, encoding.is_quantized()) {
            (true, true) => "the codes of the logits of all classes",
            (true, false) => "the logits of all classes",
            (false, true) => "the codes of all classes",
            (false, false) => "the probabilities of all classes",
        },
        type => score_type(&encoding),
        threshold => if encoding.is_quantized() { "int32_t" } else { "uint32_t" },
        least => least.join(", "),
        at => if sets.is_by_class() { "class_" } else { "0" },
        never_empty => sets.never_empty(),
    }
}

/// A threshold: an integer of codes, otherwise the bits of a float; below everything if the class is in every set.
fn least(Quantile { key, .. }: Quantile, encoding: &ScoreEncoding, is_margin: bool) -> String {
    const BELOW_ALL: u32 = f32::NEG_INFINITY.to_bits();
    match (encoding.code_range(), is_margin) {
        (Some(_), true) => (i64::from(key) - i64::from(Conformity::code_key(0))).to_string(),
        (Some((lowest, _)), false) => (i64::from(lowest) + i64::from(key)).to_string(),
        (None, true) => {
            format!("{:#010x}u", Margin::from_key(key).map_or(BELOW_ALL, |margin| margin.get().to_bits()))
        }
        (None, false) => format!("{key:#010x}u"),
    }
}
