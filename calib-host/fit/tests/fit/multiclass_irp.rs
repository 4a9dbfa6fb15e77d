//! Multi-class isotonic recursive partitioning against what it must be: Algorithm 2 of Berta, Bach and Jordan 2024 done the
//! slow way, the binary method of two classes, and a hull of the ROC surface that does not grow.

use calib_core::vector::SplitTree;
use calib_fit::assess::{AssessOptions, ProbMatrix, roc_surface};
use calib_fit::binary::Model;
use calib_fit::joint::{CanonicalMethod, CanonicalModel, MulticlassIrp, RegionValues, Splits};
use calib_fit::{BinaryData, BinaryMethod, Isotonic, VectorData, VectorKind, Vectors, fit_binary};
use proptest::prelude::*;
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

/// Rows of probabilities with their classes.
type Rows = Vec<(Vec<f32>, usize)>;

fn fit(rows: &Rows, irp: MulticlassIrp) -> CanonicalModel {
    let classes = rows[0].0.len();
    let values = rows.iter().flat_map(|row| row.0.clone()).collect();
    let vectors = Vectors::new(values, classes, VectorKind::Probs).unwrap();
    let labels: Vec<i64> = rows.iter().map(|row| row.1 as i64).collect();
    CanonicalMethod::MulticlassIrp(irp).fit(&VectorData::new(&vectors, &labels).unwrap()).unwrap()
}

/// Algorithm 2 as it is printed, with every region tried at every step and the order tested on all points: no more than
/// tens of points. Arithmetic is exact: differences of values are fractions.
struct Slow<'a> {
    /// In steps of [`SplitTree`].
    points: Vec<(Vec<i64>, usize)>,
    irp: &'a MulticlassIrp,
    smoothing: i128,
    /// The points of every region, and its points of the grid.
    regions: Vec<(Vec<usize>, Vec<Vec<i64>>)>,
    splits: Vec<Vec<i64>>,
}

impl<'a> Slow<'a> {
    fn new(rows: &Rows, irp: &'a MulticlassIrp) -> Self {
        let RegionValues::Smoothed(smoothing) = irp.values else {
            panic!("the authors' values are no fractions")
        };
        let points: Vec<(Vec<i64>, usize)> = rows
            .iter()
            .map(|row| (row.0.iter().map(|&entry| SplitTree::steps(entry).into()).collect(), row.1))
            .collect();
        let grid = match irp.splits {
            Splits::Grid(steps) => simplex(points[0].0.len(), steps.into())
                .into_iter()
                .map(|point| point.iter().map(|entry| (entry << 30) / i64::from(steps)).collect())
                .collect(),
            _ => Vec::new(),
        };
        let whole = ((0..points.len()).collect(), grid);
        Self { points, irp, smoothing: smoothing as i128, regions: vec![whole], splits: Vec::new() }
    }

    fn classes(&self) -> usize {
        self.points[0].0.len()
    }

    /// Splits while there is a valid split and room for what it makes.
    fn run(mut self) -> Self {
        while let Some((place, gamma)) = self.best() {
            let children = self.children(place, &gamma);
            let made = children.iter().filter(|child| !child.0.is_empty()).count();
            if self.irp.max_regions.is_some_and(|most| self.regions.len() - 1 + made > most) {
                break;
            }
            let with_points = children.into_iter().filter(|child| !child.0.is_empty());
            self.regions.remove(place);
            self.regions.extend(with_points);
            self.splits.push(gamma);
        }
        self
    }

    /// The valid split with the largest score; among equals the first region, and of a region the first point of the grid or
    /// the midpoint that tells the classes from the first by the least.
    fn best(&self) -> Option<(usize, Vec<i64>)> {
        let mut best: Option<((i128, i128), usize, Vec<i64>)> = None;
        for place in 0..self.regions.len() {
            for gamma in self.candidates(place) {
                let score = self.score(place, &gamma);
                let is_better = match &best {
                    Some((best, ..)) => score.0 * best.1 > best.0 * score.1,
                    None => score.0 > 0,
                };
                if is_better && self.is_monotone_after(place, &gamma) {
                    best = Some((score, place, gamma));
                }
            }
        }
        best.map(|(_, place, gamma)| (place, gamma))
    }

    /// Where a region may be split.
    fn candidates(&self, place: usize) -> Vec<Vec<i64>> {
        let (inside, grid) = &self.regions[place];
        let mut all: Vec<Vec<i64>> = match self.irp.splits {
            Splits::Grid(_) => return grid.clone(),
            Splits::Midpoints => inside
                .iter()
                .map(|&point| {
                    let over =
                        |point: usize, class: usize| self.points[point].0[class] - self.points[point].0[0];
                    let midpoint = |class: usize| {
                        let here = over(point, class);
                        let next = inside
                            .iter()
                            .map(|&other| over(other, class))
                            .filter(|&other| other > here)
                            .min();
                        next.map_or(here, |next| here + (next - here) / 2)
                    };
                    (0..self.classes()).map(midpoint).collect()
                })
                .collect(),
        };
        all.sort();
        all.dedup();
        all
    }

    /// The class in whose entry `row - gamma` is largest, the lowest among equals.
    fn child(row: &[i64], gamma: &[i64]) -> usize {
        (0..row.len()).rev().max_by_key(|&class| row[class] - gamma[class]).unwrap()
    }

    fn children(&self, place: usize, gamma: &[i64]) -> Vec<(Vec<usize>, Vec<Vec<i64>>)> {
        let mut children = vec![(Vec::new(), Vec::new()); self.classes()];
        let (inside, grid) = &self.regions[place];
        inside.iter().for_each(|&i| children[Self::child(&self.points[i].0, gamma)].0.push(i));
        grid.iter().for_each(|point| children[Self::child(point, gamma)].1.push(point.clone()));
        children
    }

    fn counts(&self, inside: &[usize]) -> Vec<i128> {
        let mut counts = vec![0; self.classes()];
        inside.iter().for_each(|&point| counts[self.points[point].1] += 1);
        counts
    }

    /// M as printed, a fraction: points of each child times the distance of its mean label from that of the region.
    fn score(&self, place: usize, gamma: &[i64]) -> (i128, i128) {
        let whole = self.counts(&self.regions[place].0);
        let n: i128 = whole.iter().sum();
        let children = self.children(place, gamma);
        let of_child = |child: &(Vec<usize>, _)| -> i128 {
            let here = child.0.len() as i128;
            self.counts(&child.0)
                .iter()
                .zip(&whole)
                .map(|(count, whole)| (here * whole - n * count).abs())
                .sum()
        };
        (children.iter().map(of_child).sum(), n)
    }

    /// Whether the estimate after a split is monotone on all points, for this split and all before.
    fn is_monotone_after(&self, place: usize, gamma: &[i64]) -> bool {
        let mut regions: Vec<Vec<usize>> = self.regions.iter().map(|region| region.0.clone()).collect();
        regions.splice(place..=place, self.children(place, gamma).into_iter().map(|child| child.0));
        // Every point's value, as counts of the classes in its region.
        let mut values = vec![Vec::new(); self.points.len()];
        for region in &regions {
            let counts = self.counts(region);
            region.iter().for_each(|&point| values[point] = counts.clone());
        }
        self.splits.iter().map(Vec::as_slice).chain([gamma]).all(|gamma| self.is_monotone(gamma, &values))
            && self.is_hull_kept(&values)
    }

    /// Of three classes: whether the hull of the ROC surface is no larger than that of the points.
    fn is_hull_kept(&self, values: &[Vec<i128>]) -> bool {
        let labels: Vec<u16> = self.points.iter().map(|point| point.1 as u16).collect();
        let hull = |probs: Vec<f64>| {
            let matrix = ProbMatrix::new(probs, labels.clone(), 3);
            Some(roc_surface(&matrix, 0, &AssessOptions::default())?.vus_hull?.value)
        };
        let value = |counts: &Vec<i128>| -> Vec<f64> {
            let n = counts.iter().sum::<i128>() + self.smoothing * counts.len() as i128;
            counts.iter().map(|count| (count + self.smoothing) as f64 / n as f64).collect()
        };
        let step = f64::from(SplitTree::STEP);
        self.classes() != 3
            || hull(values.iter().flat_map(value).collect())
                <= hull(self.points.iter().flat_map(|row| row.0.iter().map(|&x| x as f64 * step)).collect())
    }

    /// Whether some threshold puts the values where a split puts the points, for every two classes.
    fn is_monotone(&self, gamma: &[i64], values: &[Vec<i128>]) -> bool {
        let classes = self.classes();
        let sides: Vec<usize> = self.points.iter().map(|point| Self::child(&point.0, gamma)).collect();
        let difference = |point: usize, k: usize, l: usize| {
            let n: i128 = values[point].iter().sum();
            (values[point][k] - values[point][l], n + classes as i128 * self.smoothing)
        };
        let on = |class: usize| (0..sides.len()).filter(|&point| sides[point] == class).collect();
        let by_class: Vec<Vec<usize>> = (0..classes).map(on).collect();
        let pairs = (0..classes).flat_map(|k| (0..k).map(move |l| (k, l)));
        let is_pairwise = pairs.into_iter().all(|(k, l)| {
            by_class[k].iter().all(|&a| {
                by_class[l].iter().all(|&b| {
                    let (a, b) = (difference(a, k, l), difference(b, k, l));
                    a.0 * b.1 >= b.0 * a.1
                })
            })
        });
        is_pairwise && is_joint(classes, &by_class, &difference)
    }
}

/// The authors' code: everything in 64-bit floats, with smoothed values that sum to more than one.
struct Authors {
    rows: Vec<Vec<f64>>,
    labels: Vec<usize>,
    grid: Vec<Vec<f64>>,
    /// The points of every region, its points of the grid, and its value.
    regions: Vec<(Vec<usize>, Vec<usize>, Vec<f64>)>,
    splits: Vec<usize>,
}

impl Authors {
    fn new(rows: &Rows, resolution: u16) -> Self {
        let classes = rows[0].0.len();
        let step = 1.0 / f64::from(resolution);
        let grid: Vec<Vec<f64>> = simplex(classes, resolution.into())
            .into_iter()
            .map(|point| {
                let mut floats: Vec<f64> = point.iter().map(|&entry| entry as f64 * step).collect();
                floats[classes - 1] = floats[..classes - 1].iter().fold(1.0, |left, entry| left - entry);
                floats
            })
            .collect();
        let mut authors = Self {
            rows: rows.iter().map(|row| row.0.iter().map(|&entry| entry.into()).collect()).collect(),
            labels: rows.iter().map(|row| row.1).collect(),
            grid,
            regions: Vec::new(),
            splits: Vec::new(),
        };
        let all: Vec<usize> = (0..rows.len()).collect();
        let whole = authors.means(&all);
        authors.regions.push((all, (0..authors.grid.len()).collect(), whole));
        authors
    }

    fn run(mut self) -> Self {
        while let Some((place, gamma)) = self.best() {
            let (inside, grid, _) = self.regions.remove(place);
            for class in 0..self.rows[0].len() {
                let on = |rows: &[Vec<f64>], some: &[usize]| -> Vec<usize> {
                    let is_on = |&i: &usize| Self::child(&rows[i], &self.grid[gamma]) == class;
                    some.iter().copied().filter(is_on).collect()
                };
                let (inside, grid) = (on(&self.rows, &inside), on(&self.grid, &grid));
                if !inside.is_empty() {
                    let value = self.value(&inside);
                    self.regions.push((inside, grid, value));
                }
            }
            self.splits.push(gamma);
        }
        self
    }

    fn child(row: &[f64], gamma: &[f64]) -> usize {
        (1..row.len()).fold(
            0,
            |best, class| {
                if row[class] - gamma[class] > row[best] - gamma[best] { class } else { best }
            },
        )
    }

    fn means(&self, some: &[usize]) -> Vec<f64> {
        let count = |class: usize| some.iter().filter(|&&i| self.labels[i] == class).count() as f64;
        (0..self.rows[0].len()).map(|class| count(class) / some.len() as f64).collect()
    }

    fn value(&self, some: &[usize]) -> Vec<f64> {
        self.means(some).into_iter().map(|mean| (mean + 0.05) / 1.05).collect()
    }

    fn best(&self) -> Option<(usize, usize)> {
        let mut best: Option<(f64, usize, usize)> = None;
        for (place, (inside, grid, value)) in self.regions.iter().enumerate() {
            for &gamma in grid {
                let children: Vec<Vec<usize>> = (0..value.len())
                    .map(|class| {
                        let is_on = |&i: &usize| Self::child(&self.rows[i], &self.grid[gamma]) == class;
                        inside.iter().copied().filter(is_on).collect()
                    })
                    .filter(|child: &Vec<usize>| !child.is_empty())
                    .collect();
                if children.len() < 2 {
                    continue;
                }
                let distance = |child: &Vec<usize>| -> f64 {
                    let other = self.value(child);
                    child.len() as f64 * value.iter().zip(other).map(|(a, b)| (a - b).abs()).sum::<f64>()
                };
                let gain: f64 = children.iter().map(distance).sum();
                // Equal scores differ by rounding.
                let is_better = best.is_none_or(|best| gain > best.0 + 1e-9) && gain > 1e-9;
                if is_better && self.is_monotone_after(inside, &children, gamma) {
                    best = Some((gain, place, gamma));
                }
            }
        }
        best.map(|(_, place, gamma)| (place, gamma))
    }

    /// Whether every two classes can be told apart by a threshold on the values as each split tells all points apart.
    fn is_monotone_after(&self, inside: &[usize], children: &[Vec<usize>], gamma: usize) -> bool {
        let mut values = vec![Vec::new(); self.rows.len()];
        for (points, _, value) in &self.regions {
            points.iter().for_each(|&i| values[i] = value.clone());
        }
        for child in children {
            child.iter().for_each(|&i| values[i] = self.value(child));
        }
        assert!(inside.len() > 1);
        self.splits.iter().chain([&gamma]).all(|&gamma| {
            let sides: Vec<usize> = self.rows.iter().map(|row| Self::child(row, &self.grid[gamma])).collect();
            let classes = self.rows[0].len();
            let least = |k: usize, l: usize| {
                let on = (0..sides.len()).filter(|&i| sides[i] == k);
                on.map(|i| values[i][k] - values[i][l]).fold(f64::INFINITY, f64::min)
            };
            (0..classes).all(|k| (0..k).all(|l| least(k, l) + least(l, k) >= -1e-9))
        })
    }
}

/// Whether no choice of a point for each class of a cycle of classes has a negative sum of differences.
fn is_joint(
    classes: usize,
    by_class: &[Vec<usize>],
    difference: &dyn Fn(usize, usize, usize) -> (i128, i128),
) -> bool {
    let least = |k: usize, l: usize| {
        by_class[k].iter().map(|&point| difference(point, k, l)).min_by(|a, b| (a.0 * b.1).cmp(&(b.0 * a.1)))
    };
    fn cycles(path: Vec<usize>, classes: usize, all: &mut Vec<Vec<usize>>) {
        if path.len() > 1 {
            all.push(path.clone());
        }
        for next in (0..classes).filter(|next| !path.contains(next)).collect::<Vec<_>>() {
            cycles([&path[..], &[next]].concat(), classes, all);
        }
    }
    let mut all = Vec::new();
    (0..classes).for_each(|first| cycles(vec![first], classes, &mut all));
    all.iter().all(|cycle| {
        let edges = (0..cycle.len()).map(|i| least(cycle[i], cycle[(i + 1) % cycle.len()]));
        let Some(edges) = edges.collect::<Option<Vec<_>>>() else { return true };
        edges.iter().fold((0, 1), |sum, edge| (sum.0 * edge.1 + edge.0 * sum.1, sum.1 * edge.1)).0 >= 0
    })
}

/// Vectors of `classes` whole numbers that sum to `total`.
fn simplex(classes: usize, total: i64) -> Vec<Vec<i64>> {
    if classes == 1 {
        return vec![vec![total]];
    }
    let with = |first: i64| {
        simplex(classes - 1, total - first).into_iter().map(move |rest| [vec![first], rest].concat())
    };
    (0..=total).flat_map(with).collect()
}

/// Rows of entries that sum to one, in whole parts, with classes that lean toward the larger entries; all classes but one
/// may be missing from it.
fn rows(classes: usize, n: std::ops::Range<usize>) -> impl Strategy<Value = Rows> {
    let row = (proptest::collection::vec(0u32..9, classes), 0..classes, any::<bool>());
    proptest::collection::vec(row, n).prop_map(move |raw| {
        let row = |(mut entries, label, is_likely): (Vec<u32>, usize, bool)| {
            entries[0] += 1;
            let sum: u32 = entries.iter().sum();
            let likely = (0..classes).max_by_key(|&class| entries[class]).unwrap();
            let entries = entries.iter().map(|&entry| entry as f32 / sum as f32).collect();
            (entries, if is_likely { likely } else { label })
        };
        raw.into_iter().map(row).collect()
    })
}

fn has_two_classes(rows: &Rows) -> bool {
    rows.iter().any(|row| row.1 != rows[0].1)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    /// The same regions as the paper's algorithm, done the slow way, after any number of splits.
    #[test]
    fn every_split_is_that_of_algorithm_2(
        rows in (2usize..5).prop_flat_map(|classes| rows(classes, 4..32)),
        max_regions in proptest::option::of(1usize..14), is_smoothed in any::<bool>(),
        grid in proptest::option::of(3u16..8),
    ) {
        prop_assume!(has_two_classes(&rows));
        let irp = MulticlassIrp {
            max_regions,
            splits: grid.map_or(Splits::Midpoints, Splits::Grid),
            values: RegionValues::Smoothed(is_smoothed.into()),
            cross_validation: None,
        };
        let model = fit(&rows, irp);
        let slow = Slow::new(&rows, &irp).run();
        let mut cells = vec![Vec::new(); model.cells.len()];
        rows.iter().enumerate().for_each(|(i, row)| cells[model.partition.cell(&row.0)].push(i));
        cells.retain(|cell| !cell.is_empty());
        let mut regions: Vec<Vec<usize>> = slow.regions.iter().map(|region| region.0.clone()).collect();
        cells.sort();
        regions.sort();
        prop_assert_eq!(cells, regions);
        prop_assert_eq!(1 + slow.splits.len() * (slow.classes() - 1), model.cells.len());
    }

    /// With the authors' values and a grid, split by split what their code does.
    #[test]
    fn every_split_is_that_of_the_authors(
        raw in (3usize..5).prop_flat_map(|classes| proptest::collection::vec(
            (proptest::collection::vec(0.01f64..1.0, classes), 0..classes, any::<bool>()), 6..40)),
        resolution in 4u16..14,
    ) {
        let rows: Rows = raw.into_iter().map(|(entries, label, is_likely)| {
            let sum: f64 = entries.iter().sum();
            let entries: Vec<f32> = entries.iter().map(|entry| (entry / sum) as f32).collect();
            let likely = (0..entries.len()).max_by(|&a, &b| entries[a].total_cmp(&entries[b])).unwrap();
            (entries, if is_likely { likely } else { label })
        }).collect();
        prop_assume!(has_two_classes(&rows));
        let irp = MulticlassIrp {
            splits: Splits::Grid(resolution), values: RegionValues::PaperCompatible, ..MulticlassIrp::default()
        };
        let model = fit(&rows, irp);
        let authors = Authors::new(&rows, resolution).run();
        prop_assert_eq!(1 + authors.splits.len() * (rows[0].0.len() - 1), model.cells.len());
        for (points, _, value) in &authors.regions {
            for &point in points {
                for (ours, theirs) in model.cell(&rows[point].0).probs.iter().zip(value) {
                    prop_assert!((ours - theirs).abs() < 1e-12, "{:?} {:?}", point, value);
                }
            }
        }
    }

    /// With two classes, however many regions: those of the binary method of as many bins, and the same cross-entropy.
    #[test]
    fn two_classes_are_split_as_by_irp(raw in proptest::collection::vec((0u32..=64, any::<bool>()), 4..200), max_regions in 1usize..20) {
        let rows: Rows = raw.iter().map(|&(score, label)| {
            let score = score as f32 / 64.0;
            (vec![1.0 - score, score], label.into())
        }).collect();
        prop_assume!(has_two_classes(&rows));
        let irp = MulticlassIrp {
            max_regions: Some(max_regions), values: RegionValues::Smoothed(0.0), ..MulticlassIrp::default()
        };
        let model = fit(&rows, irp);
        let scores = raw.iter().map(|row| f64::from(row.0) / 64.0).collect();
        let data = BinaryData::new(scores, raw.iter().map(|row| row.1).collect()).unwrap();
        let method = BinaryMethod::Isotonic(Isotonic { max_bins: Some(max_regions), smoothing: 0.0 });
        let binary = fit_binary(&data, &method, 0.1).unwrap();
        let Model::Steps(steps) = &binary.tables()[0].as_ref().unwrap().model() else { panic!() };

        let mut losses = [0.0; 2];
        for (row, label) in &rows {
            let cell = model.cell(row);
            let bin = steps.bins[steps.edges.iter().filter(|&&edge| edge <= row[1].into()).count()];
            prop_assert_eq!(&cell.counts, &[bin.n - bin.positives, bin.positives]);
            losses[0] -= cell.probs[*label].ln();
            losses[1] -= (if *label == 1 { bin.value } else { 1.0 - bin.value }).ln();
        }
        prop_assert_eq!(model.cells.iter().filter(|cell| cell.n() > 0).count(), steps.bins.len());
        prop_assert!((losses[0] - losses[1]).abs() < 1e-9, "{:?}", losses);
    }
}

/// The set of the paper's supplement: points uniform on the simplex, each labeled with the largest of its entries after
/// noise.
fn noisy(n: usize, noise: f64, seed: u64) -> Rows {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed);
    let mut row = || {
        let raw: [f64; 3] = std::array::from_fn(|_| -(1.0 - rng.random::<f64>()).ln());
        let sum: f64 = raw.iter().sum();
        // Twelve uniform numbers are about normal.
        let mut normal = || (0..12).map(|_| rng.random::<f64>()).sum::<f64>() - 6.0;
        let noisy = raw.map(|entry| entry / sum + noise * normal());
        let label = (0..3).max_by(|&a, &b| noisy[a].total_cmp(&noisy[b])).unwrap();
        (raw.map(|entry| (entry / sum) as f32).to_vec(), label)
    };
    (0..n).map(|_| row()).collect()
}

/// The volume under the hull of the ROC surface, on the rows that were fitted.
fn hull_volume(probs: impl Fn(&[f32]) -> Vec<f64>, rows: &Rows) -> f64 {
    let values = rows.iter().flat_map(|row| probs(&row.0)).collect();
    let matrix = ProbMatrix::new(values, rows.iter().map(|row| row.1 as u16).collect(), 3);
    let hull = roc_surface(&matrix, 0, &AssessOptions::default()).unwrap().vus_hull.unwrap();
    assert!(hull.is_exact);
    hull.value
}

/// Calibrating takes points from the ROC surface and adds none that is better (section 3.2 of the paper).
#[test]
fn the_hull_of_the_roc_surface_does_not_grow() {
    for seed in 0..25 {
        let rows = noisy(120, 0.1 + 0.2 * (seed % 5) as f64, seed);
        let before = hull_volume(|row| row.iter().map(|&entry| entry.into()).collect(), &rows);
        for smoothing in [0.0, 1.0] {
            let values = RegionValues::Smoothed(smoothing);
            let model = fit(&rows, MulticlassIrp { values, ..MulticlassIrp::default() });
            let after = hull_volume(|row| model.cell(row).probs.clone(), &rows);
            assert!(after <= before, "seed {seed}, smoothing {smoothing}: {after} after, {before} before");
        }
    }
}
