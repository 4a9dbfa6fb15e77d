//! The distributions.

use calib_claims::truth::Truth;

/// A distribution, and what is known of its curve.
pub(crate) struct Case {
    pub(crate) truth: Truth,
    /// A higher score never means a lower probability.
    pub(crate) rises: bool,
    /// All scores have the same probability, and events are frequent, so that counts are fine.
    pub(crate) is_flat: bool,
}

impl Case {
    const fn rising(truth: Truth) -> Self {
        Self { truth, rises: true, is_flat: false }
    }

    const fn flat(truth: Truth) -> Self {
        Self { truth, rises: true, is_flat: true }
    }

    const fn any(truth: Truth) -> Self {
        Self { truth, rises: false, is_flat: false }
    }
}

fn logistic(slope: f64, middle: f64, score: f64) -> f64 {
    1.0 / (1.0 + (-slope * (score - middle)).exp())
}

/// Votes of 20 trees that agree with each other: a beta-binomial distribution.
fn votes() -> [f64; 21] {
    const TREES: f64 = 20.0;
    const BETA: [f64; 2] = [1.5, 2.5];
    let mut weights = [1.0; 21];
    for k in 0..20 {
        let (yes, no) = (k as f64, TREES - k as f64);
        weights[k + 1] = weights[k] * no * (yes + BETA[0]) / ((yes + 1.0) * (no - 1.0 + BETA[1]));
    }
    weights
}

/// Flat and steep curves, rare events, curves that fall, and scores that tie.
pub(crate) fn cases() -> [Case; 11] {
    [
        Case::flat(Truth::uniform("flat, 1/2", |_| 0.5)),
        Case::rising(Truth::uniform("flat, 1%", |_| 0.01)),
        Case::flat(Truth::atoms("3 values, flat, 0.3", &[1.0; 3], |_| 0.3)),
        Case::rising(Truth::uniform("diagonal", |s| s)),
        Case::rising(Truth::uniform("1% positive, rising", |s| 0.02 * s)),
        Case::rising(Truth::uniform("steep", |s| logistic(60.0, 0.5, s))),
        Case::any(Truth::uniform("oscillating", |s| 0.5 + 0.4 * (40.0 * s).sin())),
        Case::rising(Truth::atoms("20 values", &[1.0; 20], |s| 0.1 + 0.8 * s)),
        Case::rising(Truth::atoms("votes of 20 trees", &votes(), |s| 0.05 + 0.9 * s * s)),
        Case::any(Truth::atoms("votes, high and low in turn", &votes(), |s| {
            0.2 + 0.6 * ((20.0 * s).round() % 2.0)
        })),
        Case::rising(Truth::with_zeros("40% zeros", 0.4, |s| {
            if s == 0.0 { 0.0 } else { logistic(20.0, 0.5, s) }
        })),
    ]
}
