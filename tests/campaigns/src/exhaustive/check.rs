//! The comparison.

use calib_core::{Margin, Score, ScoreError};

use super::Case;

/// How many patterns are taken at once.
pub const CHUNK: u64 = 1 << 20;

/// What was compared.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Patterns.
    pub patterns: u64,
    /// Patterns that are scores.
    pub scores: u64,
    /// Lookups that agreed with the scan.
    pub lookups: u64,
    /// Patterns and tables that did not, in words: the first of each chunk.
    pub faults: Vec<String>,
}

impl Counts {
    /// Both together.
    #[must_use]
    pub fn and(mut self, other: Self) -> Self {
        self.patterns += other.patterns;
        self.scores += other.scores;
        self.lookups += other.lookups;
        self.faults.extend(other.faults);
        self
    }
}

/// What floats are taken for.
pub trait Taken: Copy {
    /// Checks a float.
    ///
    /// # Errors
    ///
    /// What is wrong with it.
    fn of(value: f32) -> Result<Self, ScoreError>;

    /// The float.
    fn value(self) -> f32;

    /// What [`Taken::of`] has to say of a float that is finite, by comparisons in f64.
    fn expected(value: f32) -> Result<f32, ScoreError>;
}

impl Taken for Score {
    fn of(value: f32) -> Result<Self, ScoreError> {
        Self::new(value)
    }

    fn value(self) -> f32 {
        self.get()
    }

    fn expected(value: f32) -> Result<f32, ScoreError> {
        // Of -0.0, too, which becomes 0.
        match f64::from(value) {
            0.0 => Ok(0.0),
            0.0..=1.0 => Ok(value),
            _ => Err(ScoreError::OutOfRange(value)),
        }
    }
}

impl Taken for Margin {
    fn of(value: f32) -> Result<Self, ScoreError> {
        Self::new(value)
    }

    fn value(self) -> f32 {
        self.get()
    }

    fn expected(value: f32) -> Result<f32, ScoreError> {
        Ok(value)
    }
}

/// Checks every `step`th of [`CHUNK`] patterns from `start` on.
///
/// The patterns of a chunk have the same sign.
pub fn check<S: Taken>(cases: &[Case<S>], start: u64, step: usize) -> Counts {
    check_patterns(cases, (start..start + CHUNK).step_by(step).map(|pattern| pattern as u32))
}

/// Checks the patterns around every edge of every table, around 0, 1, infinity and the ends of NaN, `radius` on either
/// side.
pub fn near_edges<S: Taken>(cases: &[Case<S>], radius: u32) -> Counts {
    let corners = cases.iter().flat_map(|case| case.corners.iter().copied());
    let corners = corners.chain([0.0, -0.0, 1.0, -1.0, f32::INFINITY, f32::NEG_INFINITY, f32::MAX, f32::MIN]);
    let around = |bits: u32| bits.saturating_sub(radius)..=bits.saturating_add(radius);
    let mut patterns: Vec<u32> = corners.flat_map(|corner| around(corner.to_bits())).collect();
    patterns.extend(around(u32::MAX));
    patterns.extend(around(u32::MAX >> 1));
    patterns.sort_unstable();
    patterns.dedup();
    let (positive, negative): (Vec<u32>, Vec<u32>) = patterns.iter().partition(|&&bits| bits >> 31 == 0);
    check_patterns(cases, positive.into_iter()).and(check_patterns(cases, negative.into_iter()))
}

/// What is to be said of a float.
fn expected<S: Taken>(value: f32) -> Result<f32, ScoreError> {
    let wide = f64::from(value);
    if wide.is_nan() {
        Err(ScoreError::NaN)
    } else if wide.is_infinite() {
        Err(ScoreError::Infinite)
    } else {
        S::expected(value)
    }
}

/// Checks ascending patterns of one sign.
fn check_patterns<S: Taken>(cases: &[Case<S>], patterns: impl Iterator<Item = u32>) -> Counts {
    let mut counts = Counts::default();
    let mut scores = Vec::new();
    for bits in patterns {
        counts.patterns += 1;
        let value = f32::from_bits(bits);
        let (got, expected) = (S::of(value), expected::<S>(value));
        let same = match (got, expected) {
            (Ok(got), Ok(expected)) => got.value().to_bits() == expected.to_bits(),
            (Err(ScoreError::OutOfRange(a)), Err(ScoreError::OutOfRange(b))) => a.to_bits() == b.to_bits(),
            (Err(got), Err(ref expected)) => got == *expected,
            _ => false,
        };
        if !same && counts.faults.is_empty() {
            counts.faults.push(format!("of {bits:#010x}: {:?}, not {expected:?}", got.map(S::value)));
        }
        scores.extend(got.ok());
    }
    // Patterns of negative floats ascend as the floats descend.
    if scores.first().is_some_and(|score: &S| score.value().is_sign_negative()) {
        scores.reverse();
    }
    counts.scores = scores.len() as u64;
    for case in cases {
        match scan(case, &scores) {
            Ok(()) => counts.lookups += scores.len() as u64,
            Err(fault) => counts.faults.push(fault),
        }
    }
    counts
}

/// Compares a table with the scan over ascending scores.
fn scan<S: Taken>(case: &Case<S>, scores: &[S]) -> Result<(), String> {
    let mut bin = 0;
    let mut before = 0;
    for &score in scores {
        let key = (case.key)(score);
        if key < before {
            return Err(format!("{}: the key of {} falls", case.name, score.value()));
        }
        before = key;
        while case.edges.get(bin).is_some_and(|&edge| edge <= key) {
            bin += 1;
        }
        let expected = ((bin as u16), (case.prob)(score, bin).to_bits());
        let (got_bin, got) = (case.lookup)(score);
        if (got_bin, got.to_bits()) != expected {
            let expected = f32::from_bits(expected.1);
            return Err(format!(
                "{}: {:#010x} gives bin {got_bin} and {got}, not bin {bin} and {expected}",
                case.name,
                score.value().to_bits()
            ));
        }
    }
    Ok(())
}
