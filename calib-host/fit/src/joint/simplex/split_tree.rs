//! A fitted tree of splits.

use calib_core::vector::SplitTree;

/// A tree of splits of the simplex.
#[derive(Clone, Debug, PartialEq)]
pub struct SplitTreeModel {
    classes: u16,
    words: Vec<u32>,
}

impl SplitTreeModel {
    /// Takes nodes that make a tree.
    pub(crate) fn new(classes: u16, words: Vec<u32>) -> Self {
        Self { classes, words }
    }

    /// The nodes as the device reads them.
    pub fn words(&self) -> &[u32] {
        &self.words
    }

    pub(crate) fn cells(&self) -> usize {
        self.tree().cells()
    }

    pub(crate) fn cell(&self, scores: &[f32]) -> u16 {
        self.tree().cell(scores)
    }

    fn tree(&self) -> SplitTree<'_> {
        SplitTree::new(self.classes, &self.words).expect("grown as a tree")
    }
}
