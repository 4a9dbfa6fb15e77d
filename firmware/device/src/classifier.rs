//! The classifier that a device runs: a user puts their own in its place.

use calib_core::ClassifierId;
use calib_core::predict::{Output, Task};
use calib_core::wire::{MAX_VALUES, Refusal};

use crate::Features;

/// Memory for a vector, a classifier's output or calibrated probabilities: the device's own.
pub type Scratch = [f32; MAX_VALUES];

/// Maps features to a score or a vector of scores.
pub trait Classifier {
    /// A name for people, cut off after 32 bytes in the device's status.
    fn name(&self) -> &str;

    /// The identity that a calibrator names: other weights, another identity.
    fn id(&self) -> ClassifierId;

    /// How many features it takes.
    fn feature_count(&self) -> u16;

    /// The problem that it solves, always the same.
    fn task(&self) -> Task;

    /// Classifies; an output vector is written into `scratch`.
    ///
    /// `features` holds [`Classifier::feature_count`] finite values.
    ///
    /// # Errors
    ///
    /// If the output is not finite: [`Refusal::Score`], [`Refusal::Logits`] or [`Refusal::Probs`].
    fn classify<'s>(&self, features: Features<'_>, scratch: &'s mut Scratch) -> Result<Output<'s>, Refusal>;
}

impl<C: Classifier + ?Sized> Classifier for &C {
    fn name(&self) -> &str {
        (**self).name()
    }

    fn id(&self) -> ClassifierId {
        (**self).id()
    }

    fn feature_count(&self) -> u16 {
        (**self).feature_count()
    }

    fn task(&self) -> Task {
        (**self).task()
    }

    fn classify<'s>(&self, features: Features<'_>, scratch: &'s mut Scratch) -> Result<Output<'s>, Refusal> {
        (**self).classify(features, scratch)
    }
}
