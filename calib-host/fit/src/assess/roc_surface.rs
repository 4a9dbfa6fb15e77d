//! The ROC surface of several classes, in volumes.

use std::collections::BTreeMap;

use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use rayon::prelude::*;
use serde::Serialize;

use crate::assess::assessment::AssessOptions;
use crate::assess::bootstrap::{Bootstrap, generators};
use crate::assess::roc::Roc;
use crate::assess::vectors::ProbMatrix;
use crate::cancel;
use crate::parallel;
use crate::stats::{Interval, Units, surface_hull};

/// Up to so many tuples all are looked at.
const MOST_TUPLES: u128 = 1 << 27;

/// Otherwise so many are drawn, in chunks that threads share out.
const DRAWN: usize = CHUNKS * CHUNK;

/// In how many tuples a row is on average, at least, where its share of them is asked for.
const TUPLES_OF_A_ROW: usize = 16;

/// So many parts threads share out.
const CHUNKS: usize = 256;

const CHUNK: usize = 1024;

/// The time of a tuple grows with the cube of the classes, that of a tie with two to their power.
const MOST_CLASSES: usize = 10;

/// Probabilities are taken in steps of 2^-52, so that sums of them are exact.
const STEPS: f64 = (1u64 << 52) as f64;

/// Volumes under the ROC surface: the points `(p_1, ..., p_L)` where `p_k` is the share of the rows of class `k` that
/// `argmax(r - gamma)` gives to class `k`, for all thresholds `gamma` (Berta et al. 2024, Definition 3.1).
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct RocSurface {
    /// The volume under the surface; `1 / L!` by chance. For two classes it is the area under the ROC curve.
    pub vus: SurfaceVolume,
    /// The volume under the surface's convex hull, for two and three classes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub vus_hull: Option<HullVolume>,
}

/// The volume under a ROC surface, as the share of tuples, with one row of each class, that some threshold gets right
/// altogether. Where another way to give the tuple's rows a class each is as good, a tuple counts for one over the number
/// of ways.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct SurfaceVolume {
    /// The volume.
    pub value: f64,
    /// Its bootstrap interval: how much it varies with the rows.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub interval: Option<Interval>,
    /// The standard error of the draw of tuples alone, as if the rows were all there are; `None` if all tuples count.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub standard_error: Option<f64>,
    /// How many tuples were looked at.
    pub tuples: u64,
}

/// The volume under the convex hull of a ROC surface.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct HullVolume {
    /// The volume.
    pub value: f64,
    /// Whether all thresholds count. Otherwise it is that of an even choice of thresholds, and the volume of all is not less.
    pub is_exact: bool,
}

/// The volumes under the ROC surface of vectors; `None` if a class has no rows, or there are more than ten classes. With the
/// bootstrap of `options` the volume has a percentile interval, whatever the kind asked for, from resamples of rows or of the
/// options' clusters.
///
/// The result depends neither on the order of the rows nor on the number of threads.
///
/// ```
/// use calib_fit::assess::{AssessOptions, ProbMatrix, roc_surface};
///
/// // Some threshold gets every class right.
/// let probs = vec![0.8, 0.1, 0.1, 0.2, 0.6, 0.2, 0.1, 0.2, 0.7];
/// let matrix = ProbMatrix::new(probs, vec![0, 1, 2], 3);
/// let surface = roc_surface(&matrix, 0, &AssessOptions::default()).expect("each class has rows");
/// assert_eq!(surface.vus.value, 1.0);
/// ```
pub fn roc_surface(matrix: &ProbMatrix, seed: u64, options: &AssessOptions<'_>) -> Option<RocSurface> {
    let classes = matrix.classes();
    let mut rows: Vec<(u16, Vec<i64>)> = matrix
        .rows()
        .map(|(row, label)| (label, row.iter().map(|prob| (prob * STEPS).round() as i64).collect()))
        .collect();
    let mut order: Vec<usize> = (0..rows.len()).collect();
    order.par_sort_unstable_by_key(|&row| &rows[row]);
    let units = Units::new(options.clusters, &mut order, |a, b| rows[a] == rows[b]);
    let mut by_class: Vec<Vec<Vec<i64>>> = vec![Vec::new(); classes];
    for row in order {
        let (label, row) = std::mem::take(&mut rows[row]);
        by_class[usize::from(label)].push(row);
    }
    if by_class.iter().any(Vec::is_empty) || classes > MOST_CLASSES {
        return None;
    }
    let mut surface = volumes(&by_class, seed)?;
    let bootstrap = options.bootstrap;
    surface.vus.interval =
        bootstrap.and_then(|bootstrap| interval(&by_class, &units, surface.vus.value, bootstrap));
    Some(surface)
}

/// The volumes of the sorted rows of each class, without an interval.
fn volumes(by_class: &[Vec<Vec<i64>>], seed: u64) -> Option<RocSurface> {
    match by_class.len() {
        2 => curve(by_class),
        3 => {
            let rows = std::array::from_fn(|class| {
                by_class[class].iter().map(|row| [row[0], row[1], row[2]]).collect()
            });
            let hull = surface_hull(&rows);
            let all: f64 = rows.iter().map(|rows| rows.len() as f64).product();
            let value = hull.six_volumes() as f64 / (6.0 * all);
            let vus_hull = Some(HullVolume { value, is_exact: hull.is_exact });
            Some(RocSurface {
                vus: all_tuples(by_class).unwrap_or_else(|| drawn_tuples(by_class, seed)),
                vus_hull,
            })
        }
        _ => Some(RocSurface {
            vus: each_tuple(by_class).unwrap_or_else(|| drawn_tuples(by_class, seed)),
            vus_hull: None,
        }),
    }
}

/// The surface of two classes is the ROC curve.
fn curve(by_class: &[Vec<Vec<i64>>]) -> Option<RocSurface> {
    let of = |class: usize| by_class[class].iter().map(move |row| ((row[1] - row[0]) as f64, class == 1));
    let roc = Roc::new(of(0).chain(of(1)))?;
    let totals = roc.totals();
    Some(RocSurface {
        vus: SurfaceVolume {
            value: roc.auc(),
            interval: None,
            standard_error: None,
            tuples: totals.fp * totals.tp,
        },
        vus_hull: Some(HullVolume { value: roc.hull_auc(), is_exact: true }),
    })
}

/// The share of all triples of rows; `None` if there are too many.
fn all_tuples(by_class: &[Vec<Vec<i64>>]) -> Option<SurfaceVolume> {
    let distinct: Vec<Vec<(&[i64], u128)>> = by_class
        .iter()
        .map(|rows| rows.chunk_by(|a, b| a == b).map(|same| (&same[0][..], same.len() as u128)).collect())
        .collect();
    let [first, second, third] = &distinct[..] else { return None };
    if distinct.iter().map(|rows| rows.len() as u128).product::<u128>() > MOST_TUPLES {
        return None;
    }
    // How many triples there are of each number of ways.
    let of_part = |part: &[(&[i64], u128)]| {
        let mut by_ways = [0u128; 7];
        for &(a, times_a) in part {
            cancel::check_canceled();
            for &(b, times_b) in second {
                let mut with_c = [0u128; 7];
                third.iter().for_each(|&(c, times)| with_c[ways_of_three([a, b, c])] += times);
                by_ways.iter_mut().zip(with_c).for_each(|(sum, count)| *sum += times_a * times_b * count);
            }
        }
        by_ways
    };
    let of_parts = parallel::map(first.chunks(first.len().div_ceil(CHUNKS)), of_part);
    let by_ways: [u128; 7] = std::array::from_fn(|ways| of_parts.iter().map(|part| part[ways]).sum());
    // In sixtieths, which all numbers of ways divide.
    let right: u128 = (1..7).map(|ways| by_ways[ways] * 60 / ways as u128).sum();
    let all: u128 = by_class.iter().map(|rows| rows.len() as u128).product();
    let value = right as f64 / (60 * all) as f64;
    let tuples = u64::try_from(all).unwrap_or(u64::MAX);
    Some(SurfaceVolume { value, interval: None, standard_error: None, tuples })
}

/// The share of all tuples of rows of any number of classes; `None` if there are more than would be drawn.
fn each_tuple(by_class: &[Vec<Vec<i64>>]) -> Option<SurfaceVolume> {
    let lens: Vec<usize> = by_class.iter().map(Vec::len).collect();
    let all = lens.iter().try_fold(1usize, |product, &len| product.checked_mul(len))?;
    if all > DRAWN {
        return None;
    }
    let mut by_ways = BTreeMap::<u64, u64>::new();
    for number in 0..all {
        cancel::check_canceled();
        let mut left = number;
        let tuple: Vec<&[i64]> = by_class
            .iter()
            .map(|rows| {
                let row = &rows[left % rows.len()][..];
                left /= rows.len();
                row
            })
            .collect();
        *by_ways.entry(ways(&tuple)).or_default() += 1;
    }
    by_ways.remove(&0);
    let right: f64 = by_ways.into_iter().map(|(ways, count)| count as f64 / ways as f64).sum();
    Some(SurfaceVolume {
        value: right / all as f64,
        interval: None,
        standard_error: None,
        tuples: all as u64,
    })
}

/// The share of seeded random tuples.
fn drawn_tuples(by_class: &[Vec<Vec<i64>>], seed: u64) -> SurfaceVolume {
    let sums = parallel::map(generators(seed, CHUNKS), |mut rng| {
        let mut sums = [0.0; 2];
        for _ in 0..CHUNK {
            let tuple: Vec<&[i64]> =
                by_class.iter().map(|rows| &rows[rng.random_range(0..rows.len())][..]).collect();
            let ways = match tuple[..] {
                [a, b, c] => ways_of_three([a, b, c]) as u64,
                _ => ways(&tuple),
            };
            if ways > 0 {
                let share = 1.0 / ways as f64;
                sums = [sums[0] + share, sums[1] + share * share];
            }
        }
        sums
    });
    let mean = |i: usize| sums.iter().map(|sums| sums[i]).sum::<f64>() / DRAWN as f64;
    let value = mean(0);
    let standard_error = Some(((mean(1) - value * value).max(0.0) / DRAWN as f64).sqrt());
    SurfaceVolume { value, interval: None, standard_error, tuples: DRAWN as u64 }
}

/// The percentile interval of a volume over resamples of the rows; `None` if a class is missing from all of them.
///
/// The volume is a mean over tuples. It changes with the rows about as a sum over classes does: of the means of what single
/// rows give (Hoeffding's decomposition, to the first order). Those means are resampled, so no resample needs
/// separate tuples.
fn interval(by_class: &[Vec<Vec<i64>>], units: &Units, value: f64, bootstrap: Bootstrap) -> Option<Interval> {
    let shares = shares_of_rows(by_class, value, bootstrap.seed);
    let whole: f64 = shares.iter().map(|shares| shares.iter().sum::<f64>() / shares.len() as f64).sum();
    let resampled = |counts: &[u32]| {
        let mut counts = counts.iter().copied();
        let mut sum = 0.0;
        for shares in &shares {
            let (mut drawn, mut total) = (0u64, 0.0);
            for (share, count) in shares.iter().zip(&mut counts) {
                drawn += u64::from(count);
                total += share * f64::from(count);
            }
            sum += total / drawn as f64;
        }
        vec![value + sum - whole]
    };
    let interval = bootstrap.intervals(units, resampled, |_| true).remove(0)?;
    Some(Interval { lo: interval.lo.max(0.0), hi: interval.hi.min(1.0) })
}

/// For every row of every class, the share of tuples with it that some threshold gets right, from seeded random tuples.
/// It is `value` for a row that is in none of them.
fn shares_of_rows(by_class: &[Vec<Vec<i64>>], value: f64, seed: u64) -> Vec<Vec<f64>> {
    let largest = by_class.iter().map(Vec::len).max().unwrap_or(0);
    let mut sums: Vec<Vec<(f64, u32)>> = by_class.iter().map(|rows| vec![(0.0, 0); rows.len()]).collect();
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed);
    for drawn in 0..DRAWN.max(TUPLES_OF_A_ROW * largest) {
        cancel::check_row(drawn);
        let places: Vec<usize> = by_class.iter().map(|rows| rng.random_range(0..rows.len())).collect();
        let tuple: Vec<&[i64]> =
            by_class.iter().zip(&places).map(|(rows, &place)| &rows[place][..]).collect();
        let ways = ways(&tuple);
        let share = if ways > 0 { 1.0 / ways as f64 } else { 0.0 };
        for (sums, place) in sums.iter_mut().zip(places) {
            sums[place] = (sums[place].0 + share, sums[place].1 + 1);
        }
    }
    let mean = |&(sum, count): &(f64, u32)| if count > 0 { sum / f64::from(count) } else { value };
    sums.iter().map(|sums| sums.iter().map(mean).collect()).collect()
}

/// How much a row has more of its true class than of another. A threshold gets all rows of a tuple right if it lies between
/// all of these. That is possible if they sum to no less than 0 along every cycle of classes. On a cycle with the sum 0
/// the rows could change places.
fn lead(rows: &[&[i64]], own: usize, other: usize) -> i64 {
    rows[own][own] - rows[own][other]
}

/// How many ways to give three rows a class each are as good as the true one; 0 if one is better.
fn ways_of_three(rows: [&[i64]; 3]) -> usize {
    let lead = |own, other| lead(&rows, own, other);
    let cycles = [
        lead(0, 1) + lead(1, 0),
        lead(0, 2) + lead(2, 0),
        lead(1, 2) + lead(2, 1),
        lead(0, 1) + lead(1, 2) + lead(2, 0),
        lead(0, 2) + lead(2, 1) + lead(1, 0),
    ];
    if cycles.iter().any(|&sum| sum < 0) { 0 } else { 1 + cycles.iter().filter(|&&sum| sum == 0).count() }
}

/// The same of any number of rows.
fn ways(rows: &[&[i64]]) -> u64 {
    let l = rows.len();
    let mut shortest: Vec<i64> =
        (0..l * l).map(|i| if i / l == i % l { 0 } else { lead(rows, i / l, i % l) }).collect();
    for middle in 0..l {
        for from in 0..l {
            for to in 0..l {
                let through = shortest[from * l + middle] + shortest[middle * l + to];
                shortest[from * l + to] = shortest[from * l + to].min(through);
            }
        }
        // At once: around a negative cycle the sums double with every further class, and ten classes overflow.
        if (0..l).any(|class| shortest[class * l + class] < 0) {
            return 0;
        }
    }
    // Only along cycles of sum 0 can rows change places without loss: these permutations are counted class by class, for
    // every set of classes that are taken.
    let may_be =
        |row: usize, class: usize| row == class || lead(rows, row, class) + shortest[class * l + row] == 0;
    if (0..l).all(|row| (0..l).all(|class| row == class || !may_be(row, class))) {
        return 1;
    }
    let mut ways = vec![0u64; 1 << l];
    ways[0] = 1;
    for taken in 0..(1usize << l) - 1 {
        let row = taken.count_ones() as usize;
        let free = (0..l).filter(|class| taken & (1 << class) == 0 && may_be(row, *class));
        for class in free.collect::<Vec<_>>() {
            ways[taken | (1 << class)] += ways[taken];
        }
    }
    ways[(1 << l) - 1]
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::assess::bootstrap::IntervalKind;
    use crate::stats::cells;

    /// Rows in 64ths, with their classes.
    fn matrix(classes: usize, rows: &[(Vec<u32>, u16)]) -> ProbMatrix {
        let probs = rows.iter().flat_map(|row| row.0.iter().map(|&entry| f64::from(entry) / 64.0)).collect();
        ProbMatrix::new(probs, rows.iter().map(|row| row.1).collect(), classes)
    }

    fn surface(matrix: &ProbMatrix, seed: u64, bootstrap: Option<Bootstrap>) -> Option<RocSurface> {
        roc_surface(matrix, seed, &AssessOptions { bootstrap, ..AssessOptions::default() })
    }

    fn close(got: f64, expected: f64) {
        assert!((got - expected).abs() < 1e-12, "{got} {expected}");
    }

    #[test]
    fn ten_classes_on_one_long_cycle_do_not_overflow() {
        let surer_of_the_next: Vec<Vec<i64>> = (0..10)
            .map(|row| {
                (0..10).map(|class| if class == (row + 1) % 10 { 1 << 53 } else { class as i64 }).collect()
            })
            .collect();
        let rows: Vec<&[i64]> = surer_of_the_next.iter().map(Vec::as_slice).collect();
        assert_eq!(ways(&rows), 0);
    }

    /// Numbers from 0 to 64 that look random.
    fn noise(i: u32) -> u32 {
        (i.wrapping_mul(2_654_435_769) >> 15) % 65
    }

    #[test]
    fn a_perfect_classifier_has_all_the_volume_and_a_constant_one_a_sixth() {
        let perfect: Vec<_> = (0..12)
            .map(|i| ((0..3).map(|class| 64 * u32::from(class == i % 3)).collect(), (i % 3) as u16))
            .collect();
        let got = surface(&matrix(3, &perfect), 0, None).unwrap();
        assert_eq!(got.vus, SurfaceVolume { value: 1.0, interval: None, standard_error: None, tuples: 64 });
        assert_eq!(got.vus_hull, Some(HullVolume { value: 1.0, is_exact: true }));

        let constant: Vec<_> = (0..12).map(|i| (vec![20, 30, 14], i % 3)).collect();
        let got = surface(&matrix(3, &constant), 0, None).unwrap();
        close(got.vus.value, 1.0 / 6.0);
        close(got.vus_hull.unwrap().value, 1.0 / 6.0);

        let constant: Vec<_> = (0..20).map(|i| (vec![10; 5], i % 5)).collect();
        let got = surface(&matrix(5, &constant), 0, None).unwrap();
        close(got.vus.value, 1.0 / 120.0);
        assert_eq!((got.vus.standard_error, got.vus.tuples, got.vus_hull), (None, 1024, None));

        // No row of class 2; more classes than are looked at.
        assert_eq!(surface(&matrix(3, &[(vec![1, 2, 3], 0), (vec![3, 2, 1], 1)]), 0, None), None);
        let many: Vec<_> = (0..11).map(|i| (vec![1; 11], i)).collect();
        assert_eq!(surface(&matrix(11, &many), 0, None), None);
    }

    /// So many rows of so many classes, whose own entry is the largest one more often than not.
    fn noisy(rows: u32, classes: u32) -> Vec<(Vec<u32>, u16)> {
        let row = |i: u32| {
            let class = i % classes;
            let entry = |k: u32| noise(classes * i + k) / 2 + 12 * u32::from(class == k);
            ((0..classes).map(entry).collect(), class as u16)
        };
        (0..rows).map(row).collect()
    }

    /// The scores of rows of each class.
    fn by_class(rows: &[(Vec<u32>, u16)], classes: usize) -> Vec<Vec<Vec<i64>>> {
        let scores = |row: &Vec<u32>| row.iter().map(|&entry| i64::from(entry)).collect();
        let of = |class| rows.iter().filter(move |row| usize::from(row.1) == class).map(|row| scores(&row.0));
        (0..classes).map(|class| of(class).collect()).collect()
    }

    /// Rows whose scores say nothing about the class: a sixth, and the same from a draw up to its standard error.
    #[test]
    fn a_draw_is_within_its_error_of_all_tuples() {
        let rows = noisy(90, 3);
        let all = surface(&matrix(3, &rows), 0, None).unwrap().vus;
        let by_class = by_class(&rows, 3);
        let drawn = drawn_tuples(&by_class, 5);
        let error = drawn.standard_error.unwrap();
        assert!(all.value > 0.2 && error > 0.0 && error < 1e-3, "{all:?} {drawn:?}");
        assert!((drawn.value - all.value).abs() < 4.0 * error, "{all:?} {drawn:?}");
        assert_ne!(drawn_tuples(&by_class, 6).value, drawn.value);
    }

    /// Of few rows all tuples are looked at, of however many classes.
    #[test]
    fn few_tuples_of_many_classes_are_all_looked_at() {
        let rows = noisy(28, 4);
        let all = surface(&matrix(4, &rows), 0, None).unwrap().vus;
        assert_eq!((all.tuples, all.standard_error), (7 * 7 * 7 * 7, None));
        assert_eq!(surface(&matrix(4, &rows), 9, None).unwrap().vus, all);
        let four = by_class(&rows, 4);
        let drawn = drawn_tuples(&four, 5);
        assert!((drawn.value - all.value).abs() < 4.0 * drawn.standard_error.unwrap(), "{all:?} {drawn:?}");
        // Of three classes both ways of counting are the same.
        let three: Vec<_> =
            rows.iter().filter(|row| row.1 < 3).map(|(row, class)| (row[..3].to_vec(), *class)).collect();
        let mut three = by_class(&three, 3);
        three.iter_mut().for_each(|rows| rows.sort());
        let (one, other) = (all_tuples(&three).unwrap(), each_tuple(&three).unwrap());
        close(one.value, other.value);
        assert_eq!(one.tuples, other.tuples);
    }

    /// The standard deviation over fresh rows is what the bootstrap's interval tells, and not the draw's error.
    #[test]
    fn the_interval_is_that_of_the_rows() {
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(8);
        for classes in [2, 3] {
            let mut draw = || -> ProbMatrix {
                let row = |i: usize| {
                    let class = i % classes;
                    let entry = |k: usize| rng.random_range(0..50) + 14 * u32::from(k == class);
                    ((0..classes).map(entry).collect(), class as u16)
                };
                matrix(classes, &(0..120).map(row).collect::<Vec<_>>())
            };
            let volumes: Vec<f64> = (0..100).map(|_| surface(&draw(), 0, None).unwrap().vus.value).collect();
            let mean = volumes.iter().sum::<f64>() / 100.0;
            let deviation = (volumes.iter().map(|volume| (volume - mean).powi(2)).sum::<f64>() / 99.0).sqrt();
            let bootstrap =
                Bootstrap { kind: IntervalKind::Percentile, resamples: 1000, seed: 3, alpha: 0.05 };
            let surface = surface(&draw(), 0, Some(bootstrap)).unwrap();
            let Interval { lo, hi } = surface.vus.interval.unwrap();
            let half = (hi - lo) / 2.0;
            assert!((half / (1.96 * deviation) - 1.0).abs() < 0.3, "{classes}: {half} against {deviation}");
            assert!(lo < surface.vus.value && surface.vus.value < hi);
        }
        // Four classes, whose tuples are drawn.
        let row = |i: u32| ((0..4).map(|k| noise(4 * i + k)).collect(), (i % 4) as u16);
        let rows: Vec<_> = (0..100).map(row).collect();
        let bootstrap = Bootstrap { kind: IntervalKind::Bca, resamples: 200, seed: 3, alpha: 0.05 };
        let SurfaceVolume { value, interval, standard_error, .. } =
            surface(&matrix(4, &rows), 0, Some(bootstrap)).unwrap().vus;
        let Interval { lo, hi } = interval.unwrap();
        assert!(lo < value && value < hi && hi - lo > 10.0 * standard_error.unwrap(), "{value} [{lo}, {hi}]");
    }

    #[test]
    fn the_number_of_threads_does_not_matter() {
        let rows: Vec<_> =
            (0..100).map(|i| ((0..4).map(|k| noise(4 * i + k)).collect(), (i % 4) as u16)).collect();
        let on = |threads| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| surface(&matrix(4, &rows), 3, None))
        };
        assert_eq!(on(1), on(3));
    }

    /// The best sum of scores over all ways to give the rows a class each, and how many reach it, if the true one does.
    fn ways_by_force(rows: &[&[i64]]) -> u64 {
        fn permutations(left: Vec<usize>, at: usize, sum: i64, rows: &[&[i64]], sums: &mut Vec<i64>) {
            if left.is_empty() {
                sums.push(sum);
            }
            for &class in &left {
                let others = left.iter().copied().filter(|&other| other != class).collect();
                permutations(others, at + 1, sum + rows[at][class], rows, sums);
            }
        }
        let mut sums = Vec::new();
        permutations((0..rows.len()).collect(), 0, 0, rows, &mut sums);
        let own: i64 = rows.iter().enumerate().map(|(class, row)| row[class]).sum();
        if sums.iter().any(|&sum| sum > own) {
            0
        } else {
            sums.iter().filter(|&&sum| sum == own).count() as u64
        }
    }

    type SomeRows = Vec<(Vec<u32>, u16)>;

    /// At least one row of each of three classes.
    fn three_classes() -> impl Strategy<Value = SomeRows> {
        let row = || proptest::collection::vec(0u32..=30, 3);
        let more = proptest::collection::vec((row(), 0u16..3), 0..8);
        (row(), row(), row(), more)
            .prop_map(|(a, b, c, more)| [(a, 0), (b, 1), (c, 2)].into_iter().chain(more).collect())
    }

    proptest! {
        #[test]
        fn ways_are_those_of_all_permutations(
            rows in (3usize..6).prop_flat_map(|l| proptest::collection::vec(proptest::collection::vec(0i64..4, l), l)),
        ) {
            let rows: Vec<&[i64]> = rows.iter().map(|row| &row[..]).collect();
            prop_assert_eq!(ways(&rows), ways_by_force(&rows));
            if let [a, b, c] = rows[..] {
                prop_assert_eq!(ways_of_three([a, b, c]) as u64, ways_by_force(&rows));
            }
        }

        /// With two classes they are the areas under the ROC curve and under its hull.
        #[test]
        fn two_classes_have_a_curve(rows in proptest::collection::vec((0u32..=64, any::<bool>()), 2..30)) {
            let roc = Roc::new(rows.iter().map(|&(score, label)| (f64::from(score), label)));
            let rows: Vec<_> = rows.iter().map(|&(s, label)| (vec![64 - s, s], label.into())).collect();
            let got = surface(&matrix(2, &rows), 0, None);
            prop_assert_eq!(got.map(|s| (s.vus.value, s.vus_hull.unwrap().value)), roc.map(|r| (r.auc(), r.hull_auc())));
        }

        /// A third class that is separated without error leaves the areas of the two others.
        #[test]
        fn a_class_apart_leaves_the_curve_of_the_others(rows in proptest::collection::vec((0u32..=8, any::<bool>()), 2..20)) {
            let roc = Roc::new(rows.iter().map(|&(score, label)| (f64::from(score), label)));
            prop_assume!(roc.is_some());
            let roc = roc.unwrap();
            let apart = [(vec![0, 0, 64], 2), (vec![0, 0, 64], 2)];
            let rows: Vec<_> =
                rows.iter().map(|&(s, label)| (vec![8 - s, s, 0], label.into())).chain(apart).collect();
            let got = surface(&matrix(3, &rows), 0, None).unwrap();
            prop_assert!((got.vus.value - roc.auc()).abs() < 1e-12);
            prop_assert!((got.vus_hull.unwrap().value - roc.hull_auc()).abs() < 1e-12);
        }

        /// Where no two sums of scores are equal, the share of triples is the volume of what is not above the surface.
        #[test]
        fn triples_are_the_volume_below_the_surface(
            rows in proptest::collection::vec(([0i64..1000, 0i64..1000, 0i64..1000], 0usize..3), 0..9),
            first in proptest::array::uniform3([0i64..1000, 0i64..1000, 0i64..1000]),
        ) {
            let mut rows_of = first.map(|row| vec![row]);
            rows.into_iter().for_each(|(row, class)| rows_of[class].push(row));
            let by_class: Vec<Vec<Vec<i64>>> =
                rows_of.iter().map(|rows| rows.iter().map(|row| row.to_vec()).collect()).collect();
            let sizes = rows_of.each_ref().map(Vec::len);
            for (a, b, c) in (0..sizes[0]).flat_map(|a| (0..sizes[1]).flat_map(move |b| (0..sizes[2]).map(move |c| (a, b, c)))) {
                prop_assume!(ways_of_three([&rows_of[0][a], &rows_of[1][b], &rows_of[2][c]]) < 2);
            }
            let reached = cells(&rows_of);
            let mut cubes = 0;
            for a in 1..=sizes[0] as i64 {
                for b in 1..=sizes[1] as i64 {
                    cubes += reached.iter().filter(|p| p[0] >= a && p[1] >= b).map(|p| p[2]).max().unwrap_or(0);
                }
            }
            let value = all_tuples(&by_class).unwrap().value;
            let volume = cubes as f64 / sizes.iter().product::<usize>() as f64;
            prop_assert!((value - volume).abs() < 1e-12, "{} {}", value, volume);
        }

        /// Neither the order of rows or classes matters, nor one factor and one vector for all scores; and the hull holds the
        /// surface.
        #[test]
        fn what_changes_no_region_changes_no_volume(rows in three_classes(), shift in 0u32..4) {
            let got = surface(&matrix(3, &rows), 0, None).unwrap();
            prop_assert!(got.vus_hull.unwrap().value >= got.vus.value - 1e-12);
            let reversed: Vec<_> = rows.iter().rev().cloned().collect();
            prop_assert_eq!(surface(&matrix(3, &reversed), 0, None), Some(got));
            let moved: Vec<_> = rows.iter().map(|(row, class)| {
                (vec![2 * row[0] + shift, 2 * row[1], 2 * row[2] + 1], *class)
            }).collect();
            prop_assert_eq!(surface(&matrix(3, &moved), 0, None), Some(got));
            let turned: Vec<_> = rows.iter()
                .map(|(row, class)| (vec![row[2], row[0], row[1]], (class + 1) % 3)).collect();
            let turned = surface(&matrix(3, &turned), 0, None).unwrap();
            prop_assert!((turned.vus.value - got.vus.value).abs() < 1e-12);
            prop_assert!((turned.vus_hull.unwrap().value - got.vus_hull.unwrap().value).abs() < 1e-12);
        }
    }
}
