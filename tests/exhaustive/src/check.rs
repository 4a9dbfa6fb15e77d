//! The comparison.

use calib_core::{Score, ScoreError};

use crate::Case;

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

/// Checks every `step`th of [`CHUNK`] patterns from `start` on.
///
/// The patterns of a chunk have the same sign.
pub fn check(cases: &[Case], start: u64, step: usize) -> Counts {
    check_patterns(cases, (start..start + CHUNK).step_by(step).map(|pattern| pattern as u32))
}

/// Checks the patterns around every edge of every table, around 0, 1, infinity and the ends of NaN, `radius` on either
/// side.
pub fn near_edges(cases: &[Case], radius: u32) -> Counts {
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

/// What [`Score::new`] has to say of a float, by comparisons in f64.
fn expected(value: f32) -> Result<f32, ScoreError> {
    let wide = f64::from(value);
    if wide.is_nan() {
        Err(ScoreError::NaN)
    } else if wide.is_infinite() {
        Err(ScoreError::Infinite)
    } else if (0.0..=1.0).contains(&wide) {
        // Of -0.0, too, which becomes 0.
        Ok(if wide == 0.0 { 0.0 } else { value })
    } else {
        Err(ScoreError::OutOfRange(value))
    }
}

/// Checks ascending patterns of one sign.
fn check_patterns(cases: &[Case], patterns: impl Iterator<Item = u32>) -> Counts {
    let mut counts = Counts::default();
    let mut scores = Vec::new();
    for bits in patterns {
        counts.patterns += 1;
        let value = f32::from_bits(bits);
        let (got, expected) = (Score::new(value), expected(value));
        let same = match (got, expected) {
            (Ok(got), Ok(expected)) => got.to_bits() == expected.to_bits(),
            (Err(ScoreError::OutOfRange(a)), Err(ScoreError::OutOfRange(b))) => a.to_bits() == b.to_bits(),
            (Err(got), Err(expected)) => got == expected,
            _ => false,
        };
        if !same && counts.faults.is_empty() {
            counts.faults.push(format!("Score::new of {bits:#010x}: {got:?}, not {expected:?}"));
        }
        scores.extend(got.ok());
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
fn scan(case: &Case, scores: &[Score]) -> Result<(), String> {
    let mut bin = 0;
    let mut before = 0;
    for &score in scores {
        let key = (case.key)(score);
        if key < before {
            return Err(format!("{}: the key of {} falls", case.name, score.get()));
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
                score.to_bits()
            ));
        }
    }
    Ok(())
}
