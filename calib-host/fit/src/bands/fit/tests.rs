use proptest::prelude::*;
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use super::*;

fn data(rows: &[(f64, bool)]) -> BinaryData {
    let (scores, labels) = rows.iter().copied().unzip();
    BinaryData::new(scores, labels).unwrap().on_device()
}

/// The band, or the one that would be if nothing had contradicted it.
fn whole(rows: &[(f64, bool)], alpha: f64) -> Result<Band, FitError> {
    Band::with_steps(&data(rows), alpha, usize::MAX)
}

/// The probability that a binomial number of `n` is at least `k`, term by term.
fn tail(k: u64, n: u64, p: f64) -> f64 {
    let mut ways = 1.0;
    let mut sum = 0.0;
    for j in 0..=n {
        if j >= k {
            sum += ways * p.powi(j as i32) * (1.0 - p).powi((n - j) as i32);
        }
        ways *= (n - j) as f64 / (j + 1) as f64;
    }
    sum
}

/// The lower end by the definition: the number at which the tail is `a`.
fn lower_end(k: u64, n: u64, a: f64) -> f64 {
    match k {
        0 => return 0.0,
        1 => return a / n as f64,
        _ => {}
    }
    let (mut below, mut above) = (0.0, 1.0);
    for _ in 0..100 {
        let middle = f64::midpoint(below, above);
        if tail(k, n, middle) < a { below = middle } else { above = middle }
    }
    below
}

/// The band at a score by the definition, from rows in ascending order.
struct Definition {
    /// First score, last score, interval.
    unions: Vec<(f64, f64, f64, f64)>,
}

impl Definition {
    fn of(rows: &[(f64, bool)], alpha: f64) -> Self {
        let n = rows.len();
        let parts = ((1.5 * (n as f64).sqrt()).floor() as usize).clamp(5, 400);
        let boundaries: Vec<usize> = (1..n).filter(|&at| rows[at - 1].0 < rows[at].0).collect();
        let nearest = |i: usize| boundaries.iter().copied().min_by_key(|at| (i * n).abs_diff(at * parts));
        let mut cuts: Vec<usize> = [0].into_iter().chain((1..parts).filter_map(nearest)).collect();
        cuts.push(n);
        cuts.dedup();
        let cells = cuts.len() - 1;
        let mut length = 1;
        let mut family = Vec::new();
        loop {
            let step = (length / 4).max(1);
            for start in 0..=cells - length {
                if start % step == 0 || start == cells - length {
                    family.push((cuts[start], cuts[start + length]));
                }
            }
            if length == cells {
                break;
            }
            length = (length + 1).max((1.5 * length as f64).ceil() as usize).min(cells);
        }
        let a = alpha / (2 * family.len()) as f64;
        let union = |&(start, end): &(usize, usize)| {
            let m = (end - start) as u64;
            let k = rows[start..end].iter().filter(|row| row.1).count() as u64;
            (rows[start].0, rows[end - 1].0, lower_end(k, m, a), 1.0 - lower_end(m - k, m, a))
        };
        Self { unions: family.iter().map(union).collect() }
    }

    fn at(&self, score: f64) -> Interval {
        let below = self.unions.iter().filter(|union| union.1 <= score);
        let above = self.unions.iter().filter(|union| union.0 >= score);
        Interval {
            lo: below.map(|union| union.2).fold(0.0, f64::max),
            hi: above.map(|union| union.3).fold(1.0, f64::min),
        }
    }
}

/// The scores of rows, and some between and beyond them.
fn probes(rows: &[(f64, bool)]) -> Vec<f64> {
    let around = rows.iter().flat_map(|row| [row.0.next_down().max(0.0), row.0, row.0.next_up().min(1.0)]);
    around.chain([0.0, 1.0]).collect()
}

fn sorted(raw: &[(u32, bool)]) -> Vec<(f64, bool)> {
    let mut rows: Vec<(f64, bool)> = raw.iter().map(|&(s, y)| (f64::from(s) / 1024.0, y)).collect();
    rows.sort_by(|a, b| a.0.total_cmp(&b.0));
    rows
}

fn rows(most: usize) -> impl Strategy<Value = Vec<(u32, bool)>> {
    prop_oneof![
        proptest::collection::vec((0u32..=1024, any::<bool>()), 1..most),
        proptest::collection::vec((0u32..6, any::<bool>()), 1..most),
        // A curve that rises.
        proptest::collection::vec((0u32..=1024, 0u32..1024).prop_map(|(s, u)| (s, u < s)), 1..most),
    ]
}

proptest! {
    #[test]
    fn a_band_is_that_of_the_definition(raw in prop_oneof![rows(13), rows(150)], alpha in 0.01..0.5f64) {
        let rows = sorted(&raw);
        let alpha = f64::from(alpha as f32);
        let definition = Definition::of(&rows, alpha);
        match whole(&rows, alpha) {
            Ok(band) => {
                for score in probes(&rows) {
                    let (found, known) = (band.at(score), definition.at(score));
                    prop_assert!((found.lo - known.lo).abs() < 1e-9, "{score}: {found:?}, not {known:?}");
                    prop_assert!((found.hi - known.hi).abs() < 1e-9, "{score}: {found:?}, not {known:?}");
                }
                let width: f64 = rows.iter().map(|row| band.at(row.0)).map(|i| i.hi - i.lo).sum();
                prop_assert!((band.mean_width() - width / rows.len() as f64).abs() < 1e-9);
            }
            Err(FitError::NotMonotone { lower, at_least, higher, at_most }) => {
                let apart = |score: f64| definition.at(score).lo - definition.at(score).hi;
                let most = probes(&rows).into_iter().map(apart).fold(f64::MIN, f64::max);
                prop_assert!(most > -1e-9 && (at_least - at_most - most).abs() < 1e-9);
                prop_assert!(lower[0] <= lower[1] && lower[1] <= higher[0] && higher[0] <= higher[1]);
                let named = |ends: [f64; 2], at: fn(&(f64, f64, f64, f64)) -> f64, value: f64| {
                    let mut unions = definition.unions.iter();
                    unions.any(|union| [union.0, union.1] == ends && (at(union) - value).abs() < 1e-9)
                };
                prop_assert!(named(lower, |union| union.2, at_least) && named(higher, |union| union.3, at_most));
            }
            Err(other) => prop_assert!(false, "{other}"),
        }
    }

    /// Neither the order of rows nor how they are kept matters, and only the order of the scores does.
    #[test]
    fn only_the_order_of_scores_counts(raw in rows(200), seed in any::<u64>()) {
        let mut rows = sorted(&raw);
        let found = Band::fit(&data(&rows), 0.1);
        let squared: Vec<(f64, bool)> = rows.iter().map(|&(score, label)| (score * score, label)).collect();
        match (&found, Band::fit(&data(&squared), 0.1)) {
            (Ok(band), Ok(squared)) => {
                for &(score, _) in &rows {
                    prop_assert_eq!(band.at(score), squared.at(score * score));
                }
            }
            (Err(_), Err(_)) => {}
            (one, other) => prop_assert!(false, "{one:?} and {other:?}"),
        }
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed);
        for at in (1..rows.len()).rev() {
            rows.swap(at, rng.random_range(0..=at));
        }
        prop_assert_eq!(&Band::fit(&data(&rows), 0.1), &found);
        prop_assert_eq!(&Band::fit(&data(&rows).sorted(), 0.1), &found);
        let counts = BinaryData::from_counts(rows.iter().map(|&(s, y)| (s, 1, y.into())).collect()).unwrap();
        prop_assert_eq!(&Band::fit(&counts, 0.1), &found);
    }

    #[test]
    fn joined_steps_contain_the_whole_band(raw in rows(400), most in 0usize..12) {
        let rows = sorted(&raw);
        let Ok(band) = whole(&rows, 0.1) else { return Ok(()) };
        let joined = Band::with_steps(&data(&rows), 0.1, most).unwrap();
        for side in [&joined.lower, &joined.upper] {
            prop_assert!(side.values().len() <= most && side.scores().len() == side.values().len());
            prop_assert!(side.scores().is_sorted_by(|a, b| a < b) && side.values().is_sorted_by(|a, b| a < b));
        }
        for score in probes(&rows) {
            let (inner, outer) = (band.at(score), joined.at(score));
            prop_assert!(outer.lo <= inner.lo && inner.hi <= outer.hi && outer.lo <= outer.hi);
            // What is left is what was there.
            prop_assert!(outer.lo == 0.0 || band.lower.values().contains(&outer.lo));
            prop_assert!(outer.hi == 1.0 || band.upper.values().contains(&outer.hi));
        }
        prop_assert!(joined.mean_width() >= band.mean_width());
    }
}

#[test]
fn many_rows_have_few_steps_and_a_band_little_wider() {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(1);
    let rows: Vec<(f64, bool)> = (0..5000)
        .map(|_| {
            let score: f64 = f64::from(rng.random::<f32>());
            (score, rng.random_bool(score))
        })
        .collect();
    let (whole, band) = (whole(&rows, 0.1).unwrap(), Band::fit(&data(&rows), 0.1).unwrap());
    assert!(whole.lower.values().len() > Band::MOST_STEPS && band.lower.values().len() == Band::MOST_STEPS);
    assert!(whole.upper.values().len() > Band::MOST_STEPS && band.upper.values().len() == Band::MOST_STEPS);
    let (narrow, wide) = (whole.mean_width(), band.mean_width());
    assert!((0.21..0.23).contains(&narrow) && wide < 1.05 * narrow, "{narrow} {wide}");
}

#[test]
fn a_curve_that_falls_is_refused() {
    let rows: Vec<(f64, bool)> = (0..400).map(|i| (f64::from(i) / 400.0, i < 200)).collect();
    let Err(FitError::NotMonotone { lower, at_least, higher, at_most }) = Band::fit(&data(&rows), 0.1) else {
        panic!("it is refused")
    };
    assert!(lower[1] < 0.5 && 0.5 <= higher[0] && at_least > 0.9 && at_most < 0.1);
    assert!(matches!(Band::fit(&data(&rows), 1.0), Err(FitError::Alpha(_))));
}

/// The probability that the band fails, or is refused, from all labels that there are. Scores are 0, 1, .. so many times each, and
/// `curves` are the probabilities of each.
fn failure(times: &[usize], alpha: f64, curves: &[Vec<f64>]) -> Vec<f64> {
    let scores: Vec<usize> = times.iter().enumerate().flat_map(|(at, &times)| vec![at; times]).collect();
    let mut failed = vec![0.0; curves.len()];
    for labels in 0u32..1 << scores.len() {
        let label = |at: usize| labels >> at & 1 == 1;
        let rows: Vec<_> = scores.iter().enumerate().map(|(at, &s)| (s as f64 / 16.0, label(at))).collect();
        let band = whole(&rows, alpha);
        let holds = |curve: &Vec<f64>| {
            let Ok(band) = &band else { return false };
            curve.iter().enumerate().all(|(at, &p)| {
                let interval = band.at(at as f64 / 16.0);
                interval.lo <= p && p <= interval.hi
            })
        };
        for (failed, curve) in failed.iter_mut().zip(curves).filter(|(_, curve)| !holds(curve)) {
            let mass =
                |(at, &score): (usize, &usize)| if label(at) { curve[score] } else { 1.0 - curve[score] };
            *failed += scores.iter().enumerate().map(mass).product::<f64>();
        }
    }
    failed
}

/// Curves that do not fall, with values from a grid.
fn curves(scores: usize, grid: &[f64]) -> Vec<Vec<f64>> {
    if scores == 0 {
        return vec![Vec::new()];
    }
    let longer = |curve: Vec<f64>| {
        let least = curve.last().copied().unwrap_or(0.0);
        let rises = grid.iter().copied().filter(move |&p| p >= least);
        rises.map(move |p| curve.iter().copied().chain([p]).collect()).collect::<Vec<_>>()
    };
    curves(scores - 1, grid).into_iter().flat_map(longer).collect()
}

/// No curve of a grid that does not fall makes the band fail more often than stated, whatever the ties.
#[test]
fn bands_hold_for_all_labels_of_few_rows() {
    let grid = [0.01, 0.1, 0.3, 0.5, 0.8, 0.97];
    let mut largest = 0.0f64;
    for times in [&[1; 8][..], &[1; 6], &[2, 2, 2, 2], &[5, 1, 1], &[3, 4, 3], &[9], &[1, 8], &[1, 1, 6, 1]] {
        let curves = curves(times.len(), &grid);
        for alpha in [0.1, 0.5, 0.9] {
            let worst = failure(times, alpha, &curves).into_iter().fold(0.0, f64::max);
            assert!(worst <= alpha, "{times:?} at {alpha}: {worst}");
            largest = largest.max(worst / alpha);
        }
    }
    assert!(largest > 0.1, "bands of few rows never fail: {largest}");
}

/// The same of 12 rows.
#[test]
#[ignore = "a minute"]
fn bands_hold_for_all_labels_of_twelve_rows() {
    for times in [&[1; 12][..], &[2; 6], &[3; 4], &[6, 3, 1, 1, 1], &[1, 1, 1, 3, 6]] {
        let grid: &[f64] =
            if times.len() > 8 { &[0.05, 0.5, 0.9] } else { &[0.01, 0.1, 0.3, 0.5, 0.8, 0.97] };
        let curves = curves(times.len(), grid);
        for alpha in [0.1, 0.5, 0.9] {
            let worst = failure(times, alpha, &curves).into_iter().fold(0.0, f64::max);
            assert!(worst <= alpha, "{times:?} at {alpha}: {worst}");
        }
    }
}
