//! What a calibrator of several classes gives besides the probability that the alarm looks at.

use calib_core::ScoreVector;
use calib_core::wire::{
    ClassProbList, ClassesPrediction, Prediction, RankedList, Refusal, ReplyBody, TopKPrediction,
};

use crate::{Calibration, Gives, Slot};

#[expect(clippy::large_enum_variant, reason = "there is one at a time, and no allocator to box it")]
pub(crate) enum Rest {
    None,
    TopK(RankedList),
    Classes(ClassProbList),
}

impl Rest {
    /// Calibrates a vector: the predicted class, which the alarm looks at, and the rest.
    pub(crate) fn calibrate(
        slot: &Slot<'_>,
        vector: ScoreVector<'_>,
        word: Option<u32>,
        space: &mut [f32],
    ) -> Result<(Calibration, Self), Refusal> {
        if slot.gives() == Gives::Classes {
            let (first, probs) = slot.calibrate_classes(vector, word, space)?;
            let mut list = ClassProbList::new();
            // A classifier's output has no more classes than a list has room for.
            let listed = probs.iter().try_for_each(|prob| list.push(prob));
            listed.map_err(|_| Refusal::Kind { classes: probs.classes() as u16 })?;
            return Ok((first, Self::Classes(list)));
        }
        let ranked = slot.calibrate_top_k(vector, word)?;
        match ranked.first() {
            Some(&first) => Ok((first, Self::TopK(ranked))),
            // There is at least one rank.
            None => Err(Refusal::Kind { classes: 0 }),
        }
    }

    /// The reply, given what there is besides.
    pub(crate) fn reply(self, top: Prediction) -> ReplyBody {
        let Prediction { alarm, word, action, .. } = top;
        match self {
            Self::None => ReplyBody::Prediction(top),
            Self::TopK(ranked) => ReplyBody::TopK(TopKPrediction { ranked, alarm, word, action }),
            Self::Classes(probs) => ReplyBody::Classes(ClassesPrediction { top, probs }),
        }
    }
}
