//! What a calibrator of several classes gives besides the probability that the alarm looks at.

use calib_core::wire::{
    ClassProbList, ClassesPrediction, MAX_VALUES, Prediction, RankedList, Refusal, ReplyBody, TopKPrediction,
};
use calib_core::{ClassProbs, ScoreVector};

use crate::{Calibration, Gives, Slot};

#[expect(clippy::large_enum_variant, reason = "there is one at a time, and no allocator to box it")]
pub(super) enum Rest<'p> {
    None,
    TopK(RankedList),
    Classes(ClassProbs<'p>),
}

impl<'p> Rest<'p> {
    /// Calibrates a vector: the predicted class, which the alarm looks at, and the rest.
    pub(super) fn calibrate(
        slot: &Slot<'_>,
        vector: ScoreVector<'_>,
        word: Option<u32>,
        space: &'p mut [f32],
    ) -> Result<(Calibration, Self), Refusal> {
        if slot.gives() == Gives::Classes {
            let (first, probs) = slot.calibrate_classes(vector, word, space)?;
            // A classifier's output has no more classes than a list has room for.
            if probs.classes() > MAX_VALUES {
                return Err(Refusal::Kind { classes: probs.classes() as u16 });
            }
            return Ok((first, Self::Classes(probs)));
        }
        let ranked = slot.calibrate_top_k(vector, word)?;
        match ranked.first() {
            Some(&first) => Ok((first, Self::TopK(ranked))),
            // There is at least one rank.
            None => Err(Refusal::Kind { classes: 0 }),
        }
    }

    /// The reply, given what there is besides.
    pub(super) fn reply(self, top: Prediction) -> ReplyBody {
        let Prediction { alarm, word, action, .. } = top;
        match self {
            Self::None => ReplyBody::Prediction(top),
            Self::TopK(ranked) => ReplyBody::TopK(TopKPrediction { ranked, alarm, word, action }),
            Self::Classes(probs) => {
                let mut list = ClassProbList::new();
                // They fit: that was looked at.
                probs.iter().for_each(|prob| _ = list.push(prob));
                ReplyBody::Classes(ClassesPrediction { top, probs: list })
            }
        }
    }
}
