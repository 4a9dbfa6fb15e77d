//! The tables.

use calib_core::table::{CompactTable, InterpolatedTable, RandomizedTable, VennAbersTable};
use calib_core::{FixedMarginTable, FixedTable, Margin, MarginTable, Score, ScoreEncoding, StepTable};

/// Finds a score's bin and probability.
type Lookup<S> = Box<dyn Fn(S) -> (u16, f32) + Sync>;

/// A table over scores or margins, and what it is compared with.
pub struct Case<S = Score> {
    /// The kind of table, its edges, and their number.
    pub name: String,
    /// What the edges are compared with: the score's bits, its 16-bit key, or the margin's place among all floats.
    pub key: fn(S) -> u32,
    /// The edges as keys, ascending.
    pub edges: Vec<u32>,
    /// Patterns of floats about which something may change.
    pub corners: Vec<f32>,
    /// The probability of a score, given its bin.
    pub prob: Box<dyn Fn(S, usize) -> f32 + Sync>,
    /// The function under test.
    pub lookup: Lookup<S>,
}

const fn bits(score: Score) -> u32 {
    score.to_bits()
}

fn rounded(score: Score) -> u32 {
    score.rounded_key().into()
}

/// How many floats there are below a margin, less a constant: in another way than [`Margin::key`] has it.
fn place(value: f32) -> u32 {
    let magnitude = value.abs().to_bits();
    if value < 0.0 { (1 << 31) - magnitude } else { (1 << 31) + magnitude }
}

/// Lives as long as the program, as a table in flash does.
fn leak<T>(numbers: Vec<T>) -> &'static [T] {
    Box::leak(numbers.into_boxed_slice())
}

/// Probabilities of so many bins, no two the same.
fn values(count: usize) -> Vec<f32> {
    (0..count).map(|i| (i as f32 + 0.25) / count as f32).collect()
}

/// Inner edges of `bins` bins of the same width, none of them a round number.
fn uniform(bins: usize) -> Vec<f32> {
    (1..bins).map(|i| (i as f32 - 0.03) / bins as f32).collect()
}

/// Edges that halve toward 0, down to subnormal numbers.
fn skewed() -> Vec<f32> {
    (0..63).rev().map(|i| 2f64.powi(-(i * 147 / 62) - 1) as f32).collect()
}

/// Edges next to each other: at one half, where the exponent changes.
fn adjacent() -> Vec<f32> {
    (0..15).map(|i| f32::from_bits(0.5f32.to_bits() - 7 + i)).collect()
}

/// Edges at the least number above 0 and at the greatest, and next to them.
fn ends() -> Vec<f32> {
    vec![f32::from_bits(1), f32::from_bits(2), 1.0f32.next_down(), 1.0]
}

fn case(name: &str, edges: &'static [f32], values: &'static [f32], lookup: Lookup<Score>) -> Case {
    Case {
        name: format!("{name}, {} edges", edges.len()),
        key: bits,
        edges: edges.iter().map(|edge| edge.to_bits()).collect(),
        corners: edges.to_vec(),
        prob: Box::new(|_, bin| values[bin]),
        lookup,
    }
}

fn fixed<const N: usize>(name: &str, edges: Vec<f32>) -> Case {
    let (values, edges) = (leak(values(edges.len() + 1)), leak(edges));
    let table = FixedTable::<N>::new(edges, values).expect("a table");
    case(&format!("FixedTable<{N}> {name}"), edges, values, Box::new(move |score| table.lookup(score)))
}

fn steps(name: &str, edges: Vec<f32>) -> Case {
    let (values, edges) = (leak(values(edges.len() + 1)), leak(edges));
    let table = StepTable::new(edges, values).expect("a table");
    case(&format!("StepTable {name}"), edges, values, Box::new(move |score| table.lookup(score)))
}

fn randomized(edges: Vec<f32>) -> Case {
    let values = leak(values(edges.len() + 1));
    let (ties, edges) = (leak(vec![0; edges.len()]), leak(edges));
    let table = RandomizedTable::new(edges, ties, values).expect("a table");
    // Without ties the word does not matter.
    case("RandomizedTable uniform", edges, values, Box::new(move |score| table.lookup(score, 7)))
}

fn venn_abers(edges: Vec<f32>) -> Case {
    let p0 = leak(values(edges.len() + 1));
    let (p1, edges) = (leak(p0.iter().map(|p| (p + 0.01).min(1.0)).collect()), leak(edges));
    let table = VennAbersTable::new(edges, p0, p1).expect("a table");
    let mut case = case(
        "VennAbersTable uniform",
        edges,
        p0,
        Box::new(move |score| {
            let (bin, prob, _) = table.lookup(score);
            (bin, prob)
        }),
    );
    // Vovk and Petej 2014: the two ends merged.
    case.prob = Box::new(|_, bin| p1[bin] / (1.0 - p0[bin] + p1[bin]));
    case
}

fn interpolated(x: Vec<f32>) -> Case {
    let y = leak(values(x.len()));
    let x = leak(x);
    let slopes = leak(InterpolatedTable::slopes_between(x, y).collect());
    let table = InterpolatedTable::new(x, y, slopes).expect("a table");
    let mut case = case("InterpolatedTable uniform", x, y, Box::new(move |score| table.lookup(score)));
    case.prob = Box::new(|score, segment| match segment {
        0 => y[0],
        _ if segment == x.len() => y[segment - 1],
        _ => {
            let (lo, hi) = (y[segment - 1], y[segment]);
            (lo + (score.get() - x[segment - 1]) * slopes[segment - 1]).max(lo).min(hi)
        }
    });
    case
}

fn compact(bins: u16) -> Case {
    let edges: &[u16] = leak((1..bins).map(|i| i * (u16::MAX / bins) + 13).collect());
    let values: &[u16] = leak((0..bins).map(|i| i * (CompactTable::ONE / bins)).collect());
    let table = CompactTable::new(edges, values, ScoreEncoding::RoundedF32).expect("a table");
    Case {
        name: format!("CompactTable of rounded scores, {} edges", edges.len()),
        key: rounded,
        edges: edges.iter().map(|&edge| edge.into()).collect(),
        corners: edges.iter().map(|&edge| (f32::from(edge) - 0.5) / f32::from(u16::MAX)).collect(),
        prob: Box::new(|_, bin| f32::from(values[bin]) / 32_768.0),
        lookup: Box::new(move |score| table.lookup_score(score)),
    }
}

/// Edges of both signs that spread to both ends of all floats, one of them 0, with their neighbors in the middle.
fn of_both_signs() -> Vec<f32> {
    let above: Vec<f32> = (0..29).map(|i| 2f64.powi(i * 9 - 125) as f32 * 1.03).collect();
    let below = above.iter().rev().map(|edge| -edge);
    let middle = [-f32::from_bits(1), 0.0, f32::from_bits(1), f32::MIN_POSITIVE];
    below.chain(middle).chain(above.iter().copied()).chain([f32::MAX]).collect()
}

fn of_margins(
    name: &str,
    edges: &'static [f32],
    values: &'static [f32],
    lookup: Lookup<Margin>,
) -> Case<Margin> {
    Case {
        name: format!("{name}, {} edges", edges.len()),
        key: |margin| place(margin.get()),
        edges: edges.iter().map(|&edge| place(edge)).collect(),
        corners: edges.to_vec(),
        prob: Box::new(|_, bin| values[bin]),
        lookup,
    }
}

/// Tables over margins.
pub fn margin_cases() -> Vec<Case<Margin>> {
    let (wide, narrow) = (leak(of_both_signs()), leak(vec![f32::MIN, -0.3, 0.0, 0.7, 4.5]));
    let of = |edges: &[f32]| leak(values(edges.len() + 1));
    let fixed = FixedMarginTable::<64>::new(wide, of(wide)).expect("a table");
    let small = FixedMarginTable::<8>::new(narrow, of(narrow)).expect("a table");
    let steps = MarginTable::new(wide, of(wide)).expect("a table");
    vec![
        of_margins("FixedMarginTable<64>", wide, of(wide), Box::new(move |margin| fixed.lookup(margin))),
        of_margins("FixedMarginTable<8>", narrow, of(narrow), Box::new(move |margin| small.lookup(margin))),
        of_margins("MarginTable", wide, of(wide), Box::new(move |margin| steps.lookup(margin))),
    ]
}

/// Tables over scores: with uniform, skewed, adjacent and extreme edges, and none.
pub fn cases() -> Vec<Case> {
    vec![
        fixed::<16>("uniform", uniform(15)),
        fixed::<64>("uniform", uniform(64)),
        fixed::<64>("skewed", skewed()),
        fixed::<16>("adjacent", adjacent()),
        fixed::<8>("at the ends", ends()),
        fixed::<1>("without edges", Vec::new()),
        steps("uniform", uniform(15)),
        steps("uniform", uniform(64)),
        steps("skewed", skewed()),
        steps("adjacent", adjacent()),
        steps("at the ends", ends()),
        steps("without edges", Vec::new()),
        steps("uniform", uniform(1500)),
        randomized(uniform(20)),
        venn_abers(uniform(40)),
        interpolated(uniform(15)),
        compact(15),
        compact(300),
    ]
}
