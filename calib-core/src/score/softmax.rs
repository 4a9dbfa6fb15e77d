//! The softmax, with the same bits however it is asked for.

use super::float::Score;
use super::ranking::argmax;

/// The softmax `exp(z - max) / sum(exp(z - max))` in f32 with libm's `expf`, summed from class 0 upwards.
///
/// The largest term is exactly 1, so the sum is at least 1 and every quotient is in `[0, 1]` without a clamp. A difference of
/// finite logits that is infinite in f32 gives 0.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Softmax {
    max: f32,
    sum: f32,
}

impl Softmax {
    /// Prepares the softmax of finite logits, the largest of which is `max`.
    pub(crate) fn of(logits: &[f32], max: f32) -> Self {
        Self { max, sum: logits.iter().map(|logit| libm::expf(logit - max)).sum() }
    }

    /// Returns the score of the largest logit.
    pub(crate) fn top(&self) -> Score {
        score(1.0 / self.sum)
    }

    /// Returns the score of one of the logits.
    #[inline]
    pub(crate) fn score(&self, logit: f32) -> Score {
        score(libm::expf(logit - self.max) / self.sum)
    }
}

/// Writes the softmax of all logits, the largest of which is `max`; both slices have the same length.
pub(crate) fn write(logits: &[f32], max: f32, probs: &mut [f32]) {
    let mut sum = 0.0;
    for (prob, logit) in probs.iter_mut().zip(logits) {
        *prob = libm::expf(logit - max);
        sum += *prob;
    }
    for prob in probs {
        *prob /= sum;
    }
}

/// Returns a quotient as a score. The quotient is in `[0, 1]`, so the fallback is never taken.
fn score(quotient: f32) -> Score {
    Score::new(quotient).unwrap_or(Score::ONE)
}

/// Replaces finite logits by their softmax.
pub(crate) fn in_place(values: &mut [f32]) {
    let (_, max) = argmax(values);
    let mut sum = 0.0;
    for value in values.iter_mut() {
        *value = libm::expf(*value - max);
        sum += *value;
    }
    for value in values {
        *value /= sum;
    }
}
