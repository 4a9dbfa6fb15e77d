//! Whether a page shows what is claimed of it.

use std::collections::BTreeMap;

use calib_fit::assess::{EstimateWithInterval, Figure};
use calib_fit::stats::Interval;

use super::claims::{Claim, Claims};
use super::lie::Lie;
use super::page::{PageFigures, plain, plain_spaces};
use crate::report::two_lines;

/// Finds a figure or a sentence that a page does not show as it is claimed.
pub(super) fn check_page(page: &str, claims: &Claims) -> Result<usize, Lie> {
    let cells = PageFigures::of(page);
    for claim in claims.claims.iter().filter(|claim| claim.shown) {
        if !cells.has(&claim.id) {
            return Err(Lie::HiddenFigure(claim.id.clone()));
        }
    }
    let claimed: BTreeMap<&str, &Claim> =
        claims.claims.iter().map(|claim| (claim.id.as_str(), claim)).collect();
    let mut shown = 0;
    for (id, texts) in &cells.0 {
        for text in texts.iter().filter(|text| !text.is_empty()) {
            let is_right = match claimed.get(id.as_str()) {
                Some(claim) => forms(claim).contains(text),
                // What is undefined or infinite is no number, and so no claim.
                None => text.starts_with("undefined") || text.starts_with('∞'),
            };
            if !is_right {
                let claimed =
                    claimed.get(id.as_str()).map_or("nothing".into(), |claim| claim.value.to_string());
                return Err(Lie::ShownFigure { claim: id.clone(), claimed, shown: text.clone() });
            }
            shown += 1;
        }
    }
    let words = plain(page);
    match claims.sentences.iter().find(|stated| !words.contains(&plain_spaces(&stated.text))) {
        Some(stated) => Err(Lie::HiddenSentence(stated.id.clone())),
        None => Ok(shown),
    }
}

/// How a page may show a figure.
fn forms(claim: &Claim) -> [String; 4] {
    let interval = claim.interval.as_ref();
    let interval = interval.map(|ends| Interval { lo: ends.lo.number(), hi: ends.hi.number() });
    let figure = EstimateWithInterval { value: claim.value.number(), interval };
    let forms = [
        format!("{figure:#.4}"),
        format!("{figure:+#.4}"),
        format!("{figure:.4}"),
        two_lines(&Figure::Defined(figure)),
    ];
    forms.map(|text| plain_spaces(&text))
}
