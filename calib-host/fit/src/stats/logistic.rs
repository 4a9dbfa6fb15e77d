//! Logits, the sigmoid and the softmax in `f64`.

/// Scores are clipped to `[CLIP, 1 - CLIP]` before a logarithm is taken: the largest `f32` below 1 is `1 - CLIP`.
pub const CLIP: f64 = 1.0 / (1 << 24) as f64;

pub(crate) fn clip(score: f64) -> f64 {
    score.clamp(CLIP, 1.0 - CLIP)
}

pub(crate) fn ln_complement(score: f64) -> f64 {
    (-clip(score)).ln_1p()
}

pub(crate) fn logit(score: f64) -> f64 {
    let score = clip(score);
    (score / (1.0 - score)).ln()
}

pub(crate) fn sigmoid(z: f64) -> f64 {
    let e = (-z.abs()).exp();
    if z >= 0.0 { 1.0 / (1.0 + e) } else { e / (1.0 + e) }
}

/// Replaces numbers by their softmax, and returns the logarithm of the sum of their exponentials.
pub(crate) fn softmax(values: &mut [f64]) -> f64 {
    let max = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    values.iter_mut().for_each(|value| *value = (*value - max).exp());
    let sum: f64 = values.iter().sum();
    values.iter_mut().for_each(|value| *value /= sum);
    max + sum.ln()
}
