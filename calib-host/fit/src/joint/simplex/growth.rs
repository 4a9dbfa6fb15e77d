//! What splitting the simplex made.

use calib_core::vector::SplitTree;

use super::held_out_loss::loss;
use super::model::SimplexCell;
use super::split_search::SteppedPoints;
use super::split_tree::SplitTreeModel;

/// Cells in the order in which they were made, the whole simplex first. The split with number `t` has made cells `1 + t L`
/// and so on, one for each class.
pub(crate) struct Growth {
    classes: usize,
    cells: Vec<SimplexCell>,
    /// The cell that was split, and where.
    splits: Vec<(usize, Vec<i32>)>,
}

impl Growth {
    pub(crate) fn new(whole: SimplexCell) -> Self {
        Self { classes: whole.counts.len(), cells: vec![whole], splits: Vec::new() }
    }

    /// The number of splits.
    pub(crate) fn splits(&self) -> usize {
        self.splits.len()
    }

    /// The values of a cell.
    pub(crate) fn probs(&self, cell: usize) -> &[f64] {
        &self.cells[cell].probs
    }

    pub(crate) fn cell(&self, cell: usize) -> &SimplexCell {
        &self.cells[cell]
    }

    /// Splits a cell into one for each class, and tells the first of these.
    pub(crate) fn split(
        &mut self,
        cell: usize,
        gamma: &[i32],
        children: impl Iterator<Item = SimplexCell>,
    ) -> usize {
        let first = self.cells.len();
        self.splits.push((cell, gamma.to_vec()));
        self.cells.extend(children);
        first
    }

    /// The log-loss of points, summed, after each number of splits.
    pub(crate) fn losses(&self, points: &SteppedPoints<'_>, some: &[usize]) -> Vec<f64> {
        let mut losses = vec![0.0; self.splits.len() + 1];
        for &point in some {
            let mut region = 0;
            losses[0] += self.loss_in(region, points, point);
            for split in 0..self.splits.len() {
                region = self.region_after(split, region, points, point);
                losses[split + 1] += self.loss_in(region, points, point);
            }
        }
        losses
    }

    /// The log-loss of a point after so many splits, or all if there are fewer.
    pub(crate) fn loss_after(&self, points: &SteppedPoints<'_>, point: usize, splits: usize) -> f64 {
        let splits = 0..splits.min(self.splits.len());
        let region = splits.fold(0, |region, split| self.region_after(split, region, points, point));
        self.loss_in(region, points, point)
    }

    /// Where a split leaves a point of a region.
    fn region_after(&self, split: usize, region: usize, points: &SteppedPoints<'_>, point: usize) -> usize {
        let (split_region, gamma) = &self.splits[split];
        if *split_region == region { 1 + split * self.classes + points.child(gamma, point) } else { region }
    }

    fn loss_in(&self, region: usize, points: &SteppedPoints<'_>, point: usize) -> f64 {
        loss(self.cells[region].probs[usize::from(points.labels[point])])
    }

    /// The tree as the device reads it, and the regions that are its leaves, in their order.
    pub(crate) fn tree(&self) -> (SplitTreeModel, Vec<usize>) {
        let mut split_of = vec![None; self.cells.len()];
        for (split, (region, _)) in self.splits.iter().enumerate() {
            split_of[*region] = Some(split);
        }
        let (mut words, mut leaves) = (Vec::new(), Vec::new());
        let mut nodes: Vec<usize> = split_of[0].into_iter().collect();
        let mut node = 0;
        while let Some(&split) = nodes.get(node) {
            words.extend(self.splits[split].1.iter().map(|&entry| entry as u32));
            for child in 0..self.classes {
                let region = 1 + split * self.classes + child;
                words.push(match split_of[region] {
                    Some(split) => {
                        nodes.push(split);
                        nodes.len() as u32 - 1
                    }
                    None => {
                        leaves.push(region);
                        (leaves.len() as u32 - 1) | SplitTree::LEAF
                    }
                });
            }
            node += 1;
        }
        if leaves.is_empty() {
            leaves.push(0);
        }
        (SplitTreeModel::new(self.classes as u16, words), leaves)
    }
}
