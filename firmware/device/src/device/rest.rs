//! What a calibrator of several classes gives besides the probability that the alarm looks at.

use calib_core::wire::{MAX_VALUES, OtherClasses, RankedList, Refusal};
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
        let (first, others) = slot.calibrate_top_k(vector, word)?;
        Ok((first, Self::TopK(others)))
    }

    /// The other classes, as they are answered.
    pub(super) fn others(self) -> OtherClasses {
        match self {
            Self::None => OtherClasses::None,
            Self::TopK(ranked) => OtherClasses::Ranked(ranked),
            Self::Classes(probs) => {
                OtherClasses::Probs(probs.iter().map(|prob| prob.unwrap_or(f32::NAN)).collect())
            }
        }
    }
}
