//! One step table of a mean of functions.

use super::weights::{BlendWeight, Gain, Part};
use crate::error::FitError;
use crate::points::Points;
use crate::stats::ScoreKind;

/// Between two scores of the grid a blend rises or falls by no more than this, and a function by no more than this part of its range.
const RISE: f64 = 1.0 / 4096.0;

/// The most by which a value in `[0, 1]` moves when it becomes an `f32`.
const ROUNDING: f64 = 1.0 / (1u64 << 25) as f64;

/// What a value differs from 0 or 1 by if only candidates with no weight to speak of say something else.
const NOTHING: f64 = 1e-12;

/// The squared error of the steps is at most this part of what the least estimate costs: a parameter or two.
const PART: f64 = 1.0 / 20.0;

/// The fewest steps that the points' scores reach, where the function has as many values there.
const REACHED: usize = 16;

/// A function in steps. Unlike bins, steps rest on no separate points: all have a value, whatever scores were seen.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct TabulatedModel {
    /// The inner edges, strictly ascending, one less than there are values. An `f32` holds each.
    pub edges: Vec<f64>,
    /// The value of each step.
    pub values: Vec<f64>,
    /// The largest difference between a value and the function, anywhere.
    pub within: f64,
    /// The same between the lowest and the highest score of a point; `None` if no points decided where the steps are.
    pub within_seen: Option<f64>,
    /// What was blended, the weightiest first; nothing for the function of one method.
    pub weights: Vec<BlendWeight>,
    /// What it gains over the scores as they are, on points that the functions were not fitted to.
    pub gain: Option<Gain>,
    /// Whether it was fitted to the points of all tables, because its own are too few.
    pub of_all_tables: bool,
}

impl TabulatedModel {
    /// A function of scores of this kind in at most so many steps, equal in value, that has one slope on either side of `turn`.
    pub(crate) fn of_function(
        function: &dyn Fn(f64) -> f64,
        turn: Option<f64>,
        kind: ScoreKind,
        steps: usize,
    ) -> Self {
        let above = |turn: f64| {
            let nearest = turn as f32;
            if f64::from(nearest) < turn { nearest.next_up() } else { nearest }
        };
        let (lowest, highest) = ends(kind);
        let turn = turn.map(above).filter(|turn| (lowest..=highest).contains(turn));
        let at = |score: f32| function(score.into());
        let values = || turn.into_iter().chain([lowest, highest]).map(at);
        let range = values().fold(0.0, f64::max) - values().fold(1.0, f64::min);
        let mut model =
            in_steps(&divided(&at, turn.into_iter().collect(), kind, &|_| RISE * range), steps, 0.0);
        model.within += ROUNDING;
        model.within_seen = None;
        model
    }

    /// The value at a score.
    pub fn prob(&self, score: f64) -> f64 {
        self.values[self.edges.partition_point(|&edge| edge <= score)]
    }

    /// The largest difference as it is stated, with four decimals: rounded up, so that it holds.
    pub fn stated_within(&self) -> f64 {
        (self.within * 1e4).ceil() / 1e4
    }

    /// How many of the values are exactly 0 or 1.
    pub(crate) fn extremes(&self) -> usize {
        self.values.iter().filter(|&&value| [0.0, 1.0].contains(&(value as f32))).count()
    }

    /// What it is made of, as parameters of a fit.
    pub(crate) fn parameters(&self) -> String {
        let told = self.weights.iter().filter(|part| part.weight >= 0.005);
        let weights: Vec<String> = told.map(|part| format!("{}:{:.2}", part.name, part.weight)).collect();
        format!("blend={} steps={} within={:.4}", weights.join(","), self.values.len(), self.stated_within())
    }
}

/// A stretch of scores on which the function is nearly level.
#[derive(Clone, Copy)]
struct Cell {
    start: f64,
    lo: f64,
    hi: f64,
    /// How many points have such scores.
    n: u64,
    /// Whether it is below all points, or above them.
    is_unseen: bool,
}

/// Tabulates the weighted mean of the parts' functions in so many steps, from the fewest on until the steps cost little beside what
/// any estimate costs: `2 squared_error / n`, the squared error of a logistic function.
///
/// Steps are equal in value. Even the largest number of steps may cost more, or lose the order of the points. An example is rare events, if
/// nearly all of the function's rise is at scores of no point. The steps at such scores are then twice as high as with equal steps, and the
/// others are lower.
pub(super) fn tabulate(
    parts: &[Part],
    points: &(impl Points + ?Sized),
    kind: ScoreKind,
    (fewest, most): (usize, usize),
    squared_error: f64,
) -> Result<TabulatedModel, FitError> {
    let (n, _) = points.totals();
    let little = PART * 2.0 * squared_error / n as f64;
    let costs_little = |model: &TabulatedModel, cells: &[Cell]| {
        let cost = |cell: &Cell| cell.n as f64 * (model.prob(cell.start) - cell.middle()).powi(2);
        cells.iter().map(cost).sum::<f64>() / n as f64 <= little && keep_the_order(model, cells)
    };
    let from_the_fewest = |cells: &[Cell], unseen: f64| {
        let mut steps = fewest;
        loop {
            let model = in_steps(cells, steps, unseen / steps as f64);
            let is_near = costs_little(&model, cells);
            if steps == most || is_near {
                return (model, is_near);
            }
            steps = (steps + steps / 2).min(most);
        }
    };
    let (mut model, is_near) = from_the_fewest(&cells_of(parts, points, kind, None)?, 0.0);
    if !is_near {
        model = from_the_fewest(&cells_of(parts, points, kind, seen(points)?)?, 2.0).0;
    }
    // Of a candidate that counts for next to nothing nothing is left.
    for value in &mut model.values {
        *value = if *value < NOTHING {
            0.0
        } else if *value > 1.0 - NOTHING {
            1.0
        } else {
            *value
        };
    }
    model.weights = parts.iter().map(|part| BlendWeight { name: part.name, weight: part.weight }).collect();
    Ok(model)
}

/// Whether the points reach [`REACHED`] steps, or as many as their cells.
fn keep_the_order(model: &TabulatedModel, cells: &[Cell]) -> bool {
    let cells = || cells.iter().filter(|cell| cell.n > 0);
    let steps = cells().map(|cell| model.edges.partition_point(|&edge| edge <= cell.start));
    let reached = 1 + steps.clone().zip(steps.skip(1)).filter(|(a, b)| a != b).count();
    reached >= REACHED.min(cells().count())
}

impl Cell {
    fn middle(&self) -> f64 {
        f64::midpoint(self.lo, self.hi)
    }
}

/// The lowest and the highest score of points, as an `f32` holds them.
fn seen(points: &(impl Points + ?Sized)) -> Result<Option<(f32, f32)>, FitError> {
    let ranges = points.ranges()?.into_iter().flatten();
    let range = ranges.reduce(|(lo, hi), (a, b)| (lo.min(a), hi.max(b)));
    Ok(range.map(|(lo, hi)| (lo as f32, hi as f32)))
}

/// The blended function in cells, with the points of each: between the scores that were `seen` the finer, the less the function rises
/// there.
fn cells_of(
    parts: &[Part],
    points: &(impl Points + ?Sized),
    kind: ScoreKind,
    seen: Option<(f32, f32)>,
) -> Result<Vec<Cell>, FitError> {
    let prob =
        |score: f32| parts.iter().map(|part| part.weight * part.function.prob(score.into())).sum::<f64>();
    let jumps = parts.iter().flat_map(|part| part.function.edges()).map(|&edge| edge as f32);
    let mut starts: Vec<f32> = jumps.collect();
    let mut fine = None;
    if let Some((lo, hi)) = seen {
        starts.extend([lo, hi.next_up()]);
        let within = stretches(starts.clone(), (lo, hi)).into_iter();
        let rises = within.map(|(start, end)| (prob(end) - prob(start)).abs());
        fine = Some((lo, hi, RISE * rises.sum::<f64>().max(RISE)));
    }
    let rise = |start: f32| match fine {
        Some((lo, hi, rise)) if (lo..=hi).contains(&start) => rise,
        _ => RISE,
    };
    let mut cells = divided(&prob, starts, kind, &rise);
    let edges: Vec<f64> = cells.iter().skip(1).map(|cell: &Cell| cell.start).collect();
    let (all, _) = points.totals();
    let below = points.below(&edges)?.into_iter().map(|(below, _)| below).chain([all]);
    let mut before = 0;
    for (cell, below) in cells.iter_mut().zip(below) {
        (cell.n, cell.is_unseen) = (below - before, below == 0 || before == all);
        before = below;
    }
    Ok(cells)
}

/// The lowest score of a kind and the highest.
fn ends(kind: ScoreKind) -> (f32, f32) {
    match kind {
        ScoreKind::Probability => (0.0, 1.0),
        ScoreKind::Margin => (f32::MIN, f32::MAX),
    }
}

/// A function in cells from the lowest score of a kind to the highest, which jumps or turns at no other scores than these. In a cell
/// it rises or falls by at most the `rise` of the stretch that it is in.
fn divided(prob: &dyn Fn(f32) -> f64, at: Vec<f32>, kind: ScoreKind, rise: &dyn Fn(f32) -> f64) -> Vec<Cell> {
    let mut cells = Vec::new();
    for (start, end) in stretches(at, ends(kind)) {
        divide((start, prob(start)), (end, prob(end)), prob, rise(start), &mut cells);
    }
    cells
}

/// The stretches between two scores that begin at the first of them and at each of `at`: the first and the last score of each.
fn stretches(at: Vec<f32>, (lowest, highest): (f32, f32)) -> Vec<(f32, f32)> {
    // No edge is -0.0.
    let mut starts: Vec<f32> = at.into_iter().map(|at| at + 0.0).chain([lowest]).collect();
    starts.retain(|start| (lowest..=highest).contains(start));
    starts.sort_by(f32::total_cmp);
    starts.dedup();
    let ends = starts[1..].iter().map(|start| start.next_down()).chain([highest]);
    starts.iter().copied().zip(ends).collect()
}

/// Divides a stretch on which the function neither jumps nor turns until it hardly rises or falls.
fn divide(
    (start, at_start): (f32, f64),
    (end, at_end): (f32, f64),
    prob: &dyn Fn(f32) -> f64,
    rise: f64,
    cells: &mut Vec<Cell>,
) {
    let middle = between(start, end);
    if (at_end - at_start).abs() <= rise || middle == start {
        let (lo, hi) = (at_start.min(at_end), at_start.max(at_end));
        if middle == start && end > start && hi - lo > rise {
            cells.push(Cell { start: start.into(), lo: at_start, hi: at_start, n: 0, is_unseen: false });
            cells.push(Cell { start: end.into(), lo: at_end, hi: at_end, n: 0, is_unseen: false });
        } else {
            cells.push(Cell { start: start.into(), lo, hi, n: 0, is_unseen: false });
        }
        return;
    }
    let before = middle.next_down();
    divide((start, at_start), (before, prob(before)), prob, rise, cells);
    divide((middle, prob(middle)), (end, at_end), prob, rise, cells);
}

/// The float in the middle of those between two: above the lower one if there is one, or else the lower one.
fn between(lo: f32, hi: f32) -> f32 {
    // Floats in their order.
    let key = |float: f32| {
        let bits = float.to_bits().cast_signed();
        i64::from(if bits < 0 { i32::MIN.wrapping_sub(bits) } else { bits })
    };
    let middle = (key(lo) + key(hi)).div_euclid(2);
    let middle = if middle == key(lo) && key(hi) - key(lo) > 1 { middle + 1 } else { middle };
    let bits = i32::try_from(middle).expect("between two keys");
    f32::from_bits(if bits < 0 { i32::MIN.wrapping_sub(bits) } else { bits }.cast_unsigned())
}

/// The cells in at most so many steps, with the least difference that they allow; where no point is, it may be as large as `unseen`.
fn in_steps(cells: &[Cell], steps: usize, unseen: f64) -> TabulatedModel {
    let (mut too_narrow, mut width) = (0.0, 1.0);
    // Far below what an f32 near 1 tells apart, and below what tells rare events apart.
    while width - too_narrow > f64::min(1e-7, 1e-3 * width) && width > 1e-12 {
        let middle = f64::midpoint(too_narrow, width);
        if runs(cells, middle, unseen).len() <= steps { width = middle } else { too_narrow = middle }
    }
    let runs = runs(cells, width, unseen);
    let middle = |run: &&[Cell]| {
        let (lo, hi) = range(run);
        f64::midpoint(lo, hi)
    };
    let within = |run: &&[Cell]| {
        let (lo, hi) = range(run);
        (hi - lo) / 2.0
    };
    let seen = runs.iter().filter(|run| run.iter().any(|cell| !cell.is_unseen));
    TabulatedModel {
        edges: runs.iter().skip(1).map(|run| run[0].start).collect(),
        values: runs.iter().map(middle).collect(),
        within: runs.iter().map(within).fold(0.0, f64::max),
        within_seen: Some(seen.map(within).fold(0.0, f64::max)),
        weights: Vec::new(),
        gain: None,
        of_all_tables: false,
    }
}

/// The lowest and the highest value in cells.
fn range(cells: &[Cell]) -> (f64, f64) {
    cells.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(lo, hi), cell| (lo.min(cell.lo), hi.max(cell.hi)))
}

/// The longest runs of cells whose values are within a width, or where no point is within `unseen`, from the first on.
fn runs(cells: &[Cell], width: f64, unseen: f64) -> Vec<&[Cell]> {
    let mut runs = Vec::new();
    let mut rest = cells;
    while let Some(first) = rest.first() {
        let (mut lo, mut hi) = (first.lo, first.hi);
        let mut is_unseen = first.is_unseen;
        let fits = |cell: &&Cell| {
            (lo, hi) = (lo.min(cell.lo), hi.max(cell.hi));
            is_unseen &= cell.is_unseen;
            hi - lo <= if is_unseen { width.max(unseen) } else { width }
        };
        let len = 1 + rest[1..].iter().take_while(fits).count();
        let (run, others) = rest.split_at(len);
        runs.push(run);
        rest = others;
    }
    runs
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::function::Shape;
    use super::*;
    use crate::binary::{Loss, ScalingMethod};
    use crate::points::{Group, group};

    #[test]
    fn the_float_between_two_is_above_the_lower_one() {
        for (lo, hi) in
            [(0.0, 1.0), (-1.0, 1.0), (f32::MIN, f32::MAX), (0.5, 0.5f32.next_up().next_up()), (-0.5, 0.0)]
        {
            let middle = between(lo, hi);
            assert!(lo < middle && middle < hi, "{lo} {middle} {hi}");
        }
        assert_eq!((between(0.5, 0.5f32.next_up()), between(0.5, 0.5)), (0.5, 0.5));
    }

    fn parts(groups: &[Group], kind: ScoreKind) -> Vec<Part> {
        let (platt, quadratic) = match kind {
            ScoreKind::Probability => (ScalingMethod::PlattLogit, ScalingMethod::Quadratic),
            ScoreKind::Margin => (ScalingMethod::PlattMargin, ScalingMethod::QuadraticMargin),
        };
        let bayes = Loss::LogOfBayesianTargets;
        let shapes = [
            (0.4, Shape::Isotonic),
            (0.2, Shape::Bins(3)),
            (0.2, Shape::Scaling(bayes, platt)),
            (0.1, Shape::Scaling(bayes, quadratic)),
            (0.1, Shape::Unchanged),
        ];
        let part = |(weight, shape): (f64, Shape)| {
            Some(Part { name: "part", weight, function: shape.fit(groups, kind).unwrap()? })
        };
        shapes.into_iter().filter_map(part).collect()
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        /// No score is farther from the mean of the functions than the table says, and more equal steps are never farther away.
        #[test]
        fn every_value_is_within_what_is_stated(
            raw in proptest::collection::vec((0u32..40, any::<bool>()), 20..80), is_margin in any::<bool>(),
            probes in proptest::collection::vec(0.0f32..1.0, 50), steps in 2usize..80,
        ) {
            let kind = if is_margin { ScoreKind::Margin } else { ScoreKind::Probability };
            let score = |s: u32| if is_margin { f64::from(s) - 25.0 } else { f64::from(s as f32 / 40.0) };
            let groups = group(raw.into_iter().map(|(s, y)| (score(s), 1, y.into())).collect());
            prop_assume!(groups.len() > 3);
            let parts = parts(&groups, kind);
            let model = tabulate(&parts, &groups[..], kind, (steps, steps), 0.1).unwrap();
            prop_assert!(model.values.len() <= steps && model.edges.len() + 1 == model.values.len());
            prop_assert!(model.edges.iter().all(|&edge| f64::from(edge as f32) == edge));
            prop_assert!(model.edges.is_sorted_by(|a, b| a < b));
            let edges = model.edges.iter().map(|&edge| edge as f32).flat_map(|edge| [edge, edge.next_down()]);
            let ends = if is_margin { [f32::MIN, f32::MAX] } else { [0.0, 1.0] };
            let probes = probes.into_iter().map(|probe| if is_margin { probe * 80.0 - 40.0 } else { probe });
            for probe in probes.chain(edges).chain(ends).map(f64::from) {
                let exact: f64 = parts.iter().map(|part| part.weight * part.function.prob(probe)).sum();
                prop_assert!((model.prob(probe) - exact).abs() <= model.within + 1e-6, "{probe} {exact}");
            }
            let cells = cells_of(&parts, &groups[..], kind, None).unwrap();
            let of = |steps| in_steps(&cells, steps, 0.0).within;
            prop_assert!(of(2 * steps) <= of(steps));
            // Steps are equal in value where points are, and twice as high elsewhere: so many cover what the function rises, up to its
            // jumps.
            let jumps = parts.iter().map(|part| part.function.edges().len()).sum::<usize>();
            let least = 1.0 / (steps.saturating_sub(jumps + 2).max(1)) as f64;
            prop_assert!(model.within_seen.unwrap() <= 0.5 * least + 0.5 * RISE + 1e-6);
            prop_assert!(model.within <= least + 0.5 * RISE + 1e-6);
        }
    }

    /// Nearly all of the function's rise is at scores of no point: the steps are where the points are.
    #[test]
    fn rare_events_have_their_steps_where_the_scores_are() {
        let drawn = |n: u64, lo: f64, hi: f64| -> Vec<Group> {
            let score = |i: u64| f64::from((lo * (hi / lo).powf((i as f64 + 0.5) / n as f64)) as f32);
            let is_event = |i: u64| ((i * 7919 % n) as f64 + 0.5) / (n as f64) < score(i);
            group((0..n).map(|i| (score(i), 1, u64::from(is_event(i)))).collect())
        };
        for (n, lo, hi) in
            [(30_000, 1e-6, 2e-3), (3_000, 1e-4, 0.05), (600, 1e-3, 0.03), (100_000, 1e-7, 1e-4)]
        {
            let groups = drawn(n, lo, hi);
            let parts = [Part {
                name: "none",
                weight: 1.0,
                function: Shape::Unchanged.fit(&groups[..], ScoreKind::Probability).unwrap().unwrap(),
            }];
            let (_, events) = groups.totals();
            let rate = events as f64 / n as f64;
            let model = tabulate(&parts, &groups[..], ScoreKind::Probability, (64, 256), rate).unwrap();
            let reached: std::collections::BTreeSet<u64> =
                groups.iter().map(|group| model.prob(group.score).to_bits()).collect();
            assert!(
                model.values.len() <= 256 && reached.len() >= 16,
                "{n}: {} of {}",
                reached.len(),
                model.values.len()
            );
            let far =
                groups.iter().map(|group| (model.prob(group.score) - group.score).abs()).fold(0.0, f64::max);
            assert!(far <= model.within_seen.unwrap() + 1e-9 && far < hi / 30.0, "{n}: {far}");
        }
    }
}
