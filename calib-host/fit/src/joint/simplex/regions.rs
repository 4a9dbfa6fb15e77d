//! The regions that hold points while the simplex is split, and the best split that keeps the order of them all.

use super::grid::Grid;
use super::growth::Growth;
use super::model::SimplexCell;
use super::order::Bounds;
use super::reachable::Reachable;
use super::split_search::{Candidate, SteppedPoints, first_gain_of_the_paper, gain};
use super::values::RegionValues;
use crate::cancel;

/// What regions are made of and judged by.
pub(crate) struct Rules<'a> {
    pub(crate) points: &'a SteppedPoints<'a>,
    /// Where splits may be, if not next to points.
    pub(crate) grid: Option<&'a Grid>,
    pub(crate) values: RegionValues,
}

impl Rules<'_> {
    /// What a split makes.
    fn children(&self, candidate: &Candidate) -> impl Iterator<Item = SimplexCell> {
        let of_child = candidate.counts.chunks_exact(self.points.classes);
        of_child.map(|counts| self.values.cell(counts.to_vec()))
    }
}

/// The regions with points, those of the last split at the end.
pub(crate) struct Regions<'a> {
    rules: Rules<'a>,
    list: Vec<Region>,
}

/// A split that can be made next.
pub(crate) struct BestSplit {
    place: usize,
    candidate: Candidate,
}

/// A region with points.
struct Region {
    /// The cell of [`Growth`] that it is.
    cell: usize,
    parts: Vec<Part>,
    /// The points of the grid of splits that are in it.
    grid: Vec<usize>,
    /// The splits that gain and may come to keep the order, the best first.
    candidates: Vec<Candidate>,
}

/// The points of a region that are on the same side of every split of the simplex, this region's or another's.
///
/// A split also affects the rest of the simplex: a threshold goes through regions that it does not divide. Their points
/// on both sides have the same values, which leaves room for few of them.
struct Part {
    points: Vec<usize>,
    /// The child of every split, in their order, that the points would be in.
    sides: Vec<u8>,
    reachable: Reachable,
}

impl<'a> Regions<'a> {
    /// The whole simplex, which is the first cell.
    pub(crate) fn new(rules: Rules<'a>, all: Vec<usize>) -> Self {
        let part = Part::new(rules.points, all, Vec::new());
        let grid = (0..rules.grid.map_or(0, Grid::len)).collect();
        let whole = Region::new(&rules, 0, vec![part], grid);
        Self { rules, list: vec![whole] }
    }

    /// How many there are.
    pub(crate) fn len(&self) -> usize {
        self.list.len()
    }

    /// The split that gains most of all splits of all regions with which all calibration points keep the order of every split
    /// (Berta, Bach and Jordan 2024, Algorithm 2). The first among equals.
    pub(crate) fn best_split(&mut self, growth: &Growth) -> Option<BestSplit> {
        let mut best: Option<BestSplit> = None;
        for place in 0..self.list.len() {
            let mut candidates = std::mem::take(&mut self.list[place].candidates);
            let trial = Trial::new(self, growth, place);
            let mut bounds = None;
            let mut hopeless = Vec::new();
            for (i, candidate) in candidates.iter_mut().enumerate() {
                if best.as_ref().is_some_and(|best| candidate.gain <= best.candidate.gain) {
                    break;
                }
                cancel::check_canceled();
                if !candidate.blocked_by.is_empty() {
                    continue;
                }
                let bounds = bounds.get_or_insert_with(|| trial.bounds_beside());
                match trial.conflict(candidate, bounds) {
                    None => best = Some(BestSplit { place, candidate: candidate.clone() }),
                    Some(regions) if regions.is_empty() => hopeless.push(i),
                    Some(regions) => candidate.blocked_by = regions,
                }
            }
            remove_all(&mut candidates, &hopeless);
            self.list[place].candidates = candidates;
        }
        best
    }

    /// All regions with points as they would be after a split.
    pub(crate) fn cells_after(&self, split: &BestSplit, growth: &Growth) -> Vec<SimplexCell> {
        let others = self.list.iter().enumerate().filter(|(place, _)| *place != split.place);
        let others = others.map(|(_, region)| growth.cell(region.cell).clone());
        others.chain(self.rules.children(&split.candidate).filter(|child| child.n() > 0)).collect()
    }

    /// Does not make a split as long as all other regions stay as they are.
    pub(crate) fn refuse(&mut self, split: BestSplit) {
        let others = self.list.iter().map(|region| region.cell);
        let mine = self.list[split.place].cell;
        let others: Vec<usize> = others.filter(|&cell| cell != mine).collect();
        let candidates = &mut self.list[split.place].candidates;
        let place = candidates.iter().position(|candidate| candidate.gamma == split.candidate.gamma);
        let place = place.expect("the split of a region is one of its candidates");
        if others.is_empty() {
            candidates.remove(place);
        } else {
            candidates[place].blocked_by = others;
        }
    }

    /// Makes a split, here and in what grows.
    pub(crate) fn make(&mut self, split: BestSplit, growth: &mut Growth) {
        let Rules { points, grid, .. } = self.rules;
        let region = self.list.remove(split.place);
        let first_child =
            growth.split(region.cell, &split.candidate.gamma, self.rules.children(&split.candidate));
        let gamma = split.candidate.gamma;
        self.list.iter_mut().for_each(|other| other.pass(points, &gamma, region.cell));

        let mut children: Vec<Vec<Part>> = Vec::new();
        children.resize_with(points.classes, Default::default);
        for part in region.parts.into_iter().flat_map(|part| part.divided(points, &gamma)) {
            let side = part.sides.last().copied().unwrap_or(0);
            children[usize::from(side)].push(part);
        }
        let grids = match grid {
            Some(grid) => grid.divided(&region.grid, &gamma),
            None => vec![Vec::new(); points.classes],
        };
        let children = (first_child..).zip(children.into_iter().zip(grids));
        let children = children.filter(|(_, (parts, _))| !parts.is_empty());
        self.list.extend(children.map(|(cell, (parts, grid))| Region::new(&self.rules, cell, parts, grid)));
    }
}

impl BestSplit {
    /// How many regions with points it makes out of one.
    pub(crate) fn regions(&self) -> usize {
        let Candidate { gamma, counts, .. } = &self.candidate;
        counts.chunks_exact(gamma.len()).filter(|counts| counts.iter().any(|&count| count > 0)).count()
    }
}

/// Removes the entries at ascending indices.
fn remove_all(candidates: &mut Vec<Candidate>, indices: &[usize]) {
    let mut indices = indices.iter().copied().peekable();
    let mut i = 0;
    candidates.retain(|_| {
        let is_removed = indices.next_if_eq(&i).is_some();
        i += 1;
        !is_removed
    });
}

impl Region {
    fn new(rules: &Rules<'_>, cell: usize, parts: Vec<Part>, grid: Vec<usize>) -> Self {
        let mut inside: Vec<usize> = parts.iter().flat_map(|part| &part.points).copied().collect();
        inside.sort_unstable();
        let gammas = match rules.grid {
            None => rules.points.midpoints(&inside),
            Some(all) => grid.iter().map(|&point| all.point(point).to_vec()).collect(),
        };
        let gain = if cell == 0 && rules.values == RegionValues::PaperCompatible {
            first_gain_of_the_paper
        } else {
            gain
        };
        let candidates = rules.points.gaining(&inside, gammas, gain);
        Self { cell, parts, grid, candidates }
    }

    /// Takes account of a split of another region.
    fn pass(&mut self, points: &SteppedPoints<'_>, gamma: &[i32], split: usize) {
        let parts = std::mem::take(&mut self.parts).into_iter();
        self.parts = parts.flat_map(|part| part.divided(points, gamma)).collect();
        for candidate in &mut self.candidates {
            if candidate.blocked_by.contains(&split) {
                candidate.blocked_by.clear();
            }
        }
    }
}

impl Part {
    fn new(points: &SteppedPoints<'_>, inside: Vec<usize>, sides: Vec<u8>) -> Self {
        let reachable = Reachable::new(points, &inside);
        Self { points: inside, sides, reachable }
    }

    fn children(&self, points: &SteppedPoints<'_>, gamma: &[i32]) -> impl Iterator<Item = usize> + use<> {
        self.reachable.children(points, &self.points, gamma)
    }

    /// Its points by their sides of one more split.
    fn divided(mut self, points: &SteppedPoints<'_>, gamma: &[i32]) -> Vec<Self> {
        let mut children = self.children(points, gamma);
        if let (Some(child), None) = (children.next(), children.next()) {
            self.sides.push(child as u8);
            return vec![self];
        }
        let mut inside: Vec<Vec<usize>> = vec![Vec::new(); points.classes];
        self.points.iter().for_each(|&point| inside[points.child(gamma, point)].push(point));
        let inside = inside.into_iter().enumerate().filter(|(_, inside)| !inside.is_empty());
        inside
            .map(|(child, inside)| {
                let sides = self.sides.iter().copied().chain([child as u8]).collect();
                Self::new(points, inside, sides)
            })
            .collect()
    }
}

/// Tries splits of one region.
struct Trial<'a> {
    rules: &'a Rules<'a>,
    growth: &'a Growth,
    region: &'a Region,
    others: Vec<&'a Region>,
}

impl<'a> Trial<'a> {
    fn new(regions: &'a Regions<'a>, growth: &'a Growth, place: usize) -> Self {
        let (before, after) = regions.list.split_at(place);
        let (region, after) = after.split_first().expect("a place of the list");
        Self { rules: &regions.rules, growth, region, others: before.iter().chain(after).collect() }
    }

    /// For every split before, what all other regions leave.
    fn bounds_beside(&self) -> Vec<Bounds> {
        let splits = 0..self.growth.splits();
        let mut all: Vec<Bounds> = splits.map(|_| Bounds::new(self.rules.points.classes)).collect();
        for other in &self.others {
            let probs = self.growth.probs(other.cell);
            for part in &other.parts {
                for (bounds, &side) in all.iter_mut().zip(&part.sides) {
                    bounds.add(side.into(), probs, other.cell);
                }
            }
        }
        all
    }

    /// The other regions whose values stand against a split, together with those that it would make: empty if its own stand
    /// against it alone; `None` if the order of all splits would be kept.
    fn conflict(&self, candidate: &Candidate, beside: &[Bounds]) -> Option<Vec<usize>> {
        let gamma = &candidate.gamma;
        let cells: Vec<SimplexCell> = self.rules.children(candidate).collect();
        let mut own = Bounds::new(gamma.len());
        for (child, cell) in cells.iter().enumerate().filter(|(_, cell)| cell.n() > 0) {
            own.add(child, &cell.probs, self.region.cell);
        }
        // The cheap questions first.
        self.found(&own)
            .or_else(|| self.in_order_of_splits_before(gamma, &cells, beside))
            .or_else(|| self.in_own_order(gamma, own))
    }

    /// What stands against the new values in the order of the splits before.
    fn in_order_of_splits_before(
        &self,
        gamma: &[i32],
        cells: &[SimplexCell],
        beside: &[Bounds],
    ) -> Option<Vec<usize>> {
        let parts = self.region.parts.iter();
        let parts: Vec<(&Part, Vec<usize>)> =
            parts.map(|part| (part, part.children(self.rules.points, gamma).collect())).collect();
        let mut bounds = Bounds::new(gamma.len());
        beside.iter().enumerate().find_map(|(split, beside)| {
            bounds.set(beside);
            for (part, children) in &parts {
                for &child in children {
                    bounds.add(part.sides[split].into(), &cells[child].probs, self.region.cell);
                }
            }
            self.found(&bounds)
        })
    }

    /// What stands against the values of all regions in the order of the new split, whose bounds from its own children are
    /// given.
    fn in_own_order(&self, gamma: &[i32], mut bounds: Bounds) -> Option<Vec<usize>> {
        for other in &self.others {
            let probs = self.growth.probs(other.cell);
            for part in &other.parts {
                let children = part.children(self.rules.points, gamma);
                children.for_each(|child| bounds.add(child, probs, other.cell));
            }
            if let Some(pair) = bounds.pair_in_conflict() {
                return Some(self.others_of(pair));
            }
        }
        self.found(&bounds)
    }

    fn found(&self, bounds: &Bounds) -> Option<Vec<usize>> {
        let conflict = bounds.pair_in_conflict();
        let conflict = match self.rules.values {
            RegionValues::PaperCompatible => conflict,
            RegionValues::Smoothed(_) => conflict.or_else(|| bounds.all_in_conflict()),
        };
        conflict.map(|regions| self.others_of(regions))
    }

    fn others_of(&self, mut regions: Vec<usize>) -> Vec<usize> {
        regions.retain(|&region| region != self.region.cell);
        regions
    }
}
