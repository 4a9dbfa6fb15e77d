//! The logit of one probability.

use super::extremes::ExtremeProbs;
use crate::points::Group;
use crate::stats::CLIP;

/// Rows with one logit.
#[derive(Clone, Copy, Debug)]
pub(super) struct LogitRow {
    pub(super) logit: f64,
    pub(super) n: u64,
    pub(super) positives: u64,
}

/// What makes logits of groups.
#[derive(Clone, Copy)]
pub(super) struct ToLogit(ExtremeProbs);

impl ToLogit {
    pub(super) fn new(treatment: ExtremeProbs) -> Self {
        Self(treatment)
    }

    /// The logit of a group's rows, if they have one.
    #[inline]
    pub(super) fn row(self, Group { score, n, positives }: Group) -> Option<LogitRow> {
        let prob = match self.0 {
            ExtremeProbs::LeaveOut => score,
            ExtremeProbs::Clip => score.clamp(CLIP, 1.0 - CLIP),
        };
        (prob > 0.0 && prob < 1.0).then(|| LogitRow { logit: (prob / (1.0 - prob)).ln(), n, positives })
    }
}
