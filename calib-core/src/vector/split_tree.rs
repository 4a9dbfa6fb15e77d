//! Trees of splits of the simplex.

use super::limits::MAX_CELLS;

/// A partition of the probability simplex by splits at points `gamma` (Berta, Bach and Jordan 2024, section 3).
///
/// A split has a child per class. A vector `r` goes to the child in whose entry `r - gamma` is largest, to the lowest such child
/// among equals. Scores are rounded down to multiples of [`SplitTree::STEP`], so that only integers are compared, with the same
/// result on every target.
///
/// Nodes and leaves are stored in the order in which they are first referred to. A checked tree therefore has no cycle, and every
/// node and leaf has one parent.
///
/// ```
/// use calib_core::vector::SplitTree;
///
/// // One split of two classes, at (0.75, 0.25).
/// let gamma = [SplitTree::steps(0.75) as u32, SplitTree::steps(0.25) as u32];
/// let words = [gamma[0], gamma[1], SplitTree::LEAF, SplitTree::LEAF | 1];
/// let tree = SplitTree::new(2, &words).unwrap();
/// assert_eq!((tree.cells(), tree.cell(&[0.8, 0.2]), tree.cell(&[0.7, 0.3])), (2, 0, 1));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct SplitTree<'a> {
    classes: u16,
    leaves: u32,
    /// For each node, `L` entries of gamma as i32, then `L` children.
    words: &'a [u32],
}

/// Why words are not a [`SplitTree`]. The payload is the index of a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub enum SplitTreeError {
    /// The words make no whole number of nodes, or there are fewer than two classes.
    Length,
    /// There are more than 65 536 leaves.
    TooManyLeaves,
    /// A child of this node is not the next node or the next leaf, or nothing refers to this node.
    Order(usize),
}

impl<'a> SplitTree<'a> {
    /// The bit that marks a reference to a leaf.
    pub const LEAF: u32 = 1 << 31;
    /// The unit of gamma and of scores.
    pub const STEP: f32 = 1.0 / (1 << 30) as f32;

    /// Checks a tree of `2 L` words per node: first gamma as i32 in units of [`SplitTree::STEP`], then the children. A child is the
    /// index of a node, or the index of a leaf with the bit [`SplitTree::LEAF`]. A tree without nodes is a single leaf.
    ///
    /// # Errors
    ///
    /// The first cause found.
    pub fn new(classes: u16, words: &'a [u32]) -> Result<Self, SplitTreeError> {
        let width = 2 * usize::from(classes);
        if classes < 2 || !words.len().is_multiple_of(width) {
            return Err(SplitTreeError::Length);
        }
        let (mut next_node, mut next_leaf) = (1, 0);
        let mut rest = words;
        let mut node = 0;
        while let Some((words, after)) = rest.split_at_checked(width).filter(|(words, _)| !words.is_empty()) {
            if node >= next_node {
                return Err(SplitTreeError::Order(node as usize));
            }
            for &child in words.get(usize::from(classes)..).unwrap_or_default() {
                let next = if child & Self::LEAF == 0 { &mut next_node } else { &mut next_leaf };
                if child & !Self::LEAF != *next {
                    return Err(SplitTreeError::Order(node as usize));
                }
                *next += 1;
            }
            (rest, node) = (after, node + 1);
        }
        let leaves = if words.is_empty() { 1 } else { next_leaf };
        if !words.is_empty() && next_node != node {
            return Err(SplitTreeError::Order(node as usize));
        }
        if leaves as usize > MAX_CELLS {
            return Err(SplitTreeError::TooManyLeaves);
        }
        Ok(Self { classes, leaves, words })
    }

    /// Returns the number of classes.
    pub const fn classes(&self) -> usize {
        self.classes as usize
    }

    /// Returns the number of leaves, at least 1.
    pub const fn cells(&self) -> usize {
        self.leaves as usize
    }

    /// Returns the nodes as they are stored.
    pub const fn words(&self) -> &'a [u32] {
        self.words
    }

    /// Returns a score in units of [`SplitTree::STEP`], rounded toward 0. Scaling by a power of two is exact.
    #[inline]
    pub fn steps(score: f32) -> i32 {
        (score * (1 << 30) as f32) as i32
    }

    /// Finds the child to which a vector belongs in a split at `gamma`.
    #[inline]
    pub fn child(gamma: impl IntoIterator<Item = i32>, steps: impl IntoIterator<Item = i32>) -> usize {
        let mut best = (0, i64::MIN);
        for (class, (steps, gamma)) in steps.into_iter().zip(gamma).enumerate() {
            let margin = i64::from(steps) - i64::from(gamma);
            if margin > best.1 {
                best = (class, margin);
            }
        }
        best.0
    }

    /// Finds the leaf of a vector of scores, one per class.
    ///
    /// A child comes after its parent, so the descent ends.
    pub fn cell(&self, scores: &[f32]) -> u16 {
        let classes = self.classes();
        let width = 2 * classes;
        let mut node = 0usize;
        // The product does not wrap: every node of a checked tree lies within its words.
        while let Some((gamma, children)) = (self.words.get(node.wrapping_mul(width)..))
            .and_then(|words| words.get(..width))
            .and_then(|words| words.split_at_checked(classes))
        {
            let gamma = gamma.iter().map(|&word| word as i32);
            let child = Self::child(gamma, scores.iter().map(|&score| Self::steps(score)));
            match children.get(child) {
                Some(&child) if child & Self::LEAF == 0 && child as usize > node => node = child as usize,
                Some(&child) => return child as u16,
                None => break,
            }
        }
        0
    }
}

#[cfg(test)]
mod tests {
    extern crate std;

    use std::vec::Vec;

    use proptest::prelude::*;

    use super::*;

    const LEAF: u32 = SplitTree::LEAF;

    fn steps(value: f32) -> u32 {
        SplitTree::steps(value) as u32
    }

    #[test]
    fn refuses_what_is_no_tree() {
        fn order(words: &[u32]) -> Result<SplitTree<'_>, SplitTreeError> {
            SplitTree::new(2, words)
        }
        assert_eq!(order(&[]).unwrap().cells(), 1);
        assert_eq!(order(&[0, 0, LEAF, LEAF + 1]).unwrap().cells(), 2);
        assert_eq!(SplitTree::new(1, &[0, LEAF]), Err(SplitTreeError::Length));
        assert_eq!(order(&[0, 0, LEAF]), Err(SplitTreeError::Length));
        // A leaf out of turn, a node that is its own child, a child that is not there, one that nothing refers to.
        assert_eq!(order(&[0, 0, LEAF + 1, LEAF]), Err(SplitTreeError::Order(0)));
        assert_eq!(order(&[0, 0, 0, LEAF]), Err(SplitTreeError::Order(0)));
        assert_eq!(order(&[0, 0, 1, LEAF]), Err(SplitTreeError::Order(1)));
        let stray = [0, 0, LEAF, LEAF + 1, 0, 0, LEAF + 2, LEAF + 3];
        assert_eq!(order(&stray), Err(SplitTreeError::Order(1)));
        // Two parents for one leaf, and a cycle.
        assert_eq!(order(&[0, 0, 1, LEAF, 0, 0, LEAF, LEAF + 1]), Err(SplitTreeError::Order(1)));
        assert_eq!(order(&[0, 0, 1, LEAF, 0, 0, 0, LEAF + 1]), Err(SplitTreeError::Order(1)));
    }

    #[test]
    fn descends_and_gives_ties_to_the_lowest_class() {
        let words = [
            steps(0.5),
            steps(0.5),
            1,
            LEAF, //
            steps(0.75),
            steps(0.25),
            LEAF + 1,
            LEAF + 2,
        ];
        let tree = SplitTree::new(2, &words).unwrap();
        assert_eq!(tree.cells(), 3);
        assert_eq!(tree.cell(&[0.4, 0.6]), 0);
        assert_eq!(tree.cell(&[0.5, 0.5]), 2);
        assert_eq!(tree.cell(&[0.75, 0.25]), 1);
        assert_eq!(tree.cell(&[0.75f32.next_down(), 0.25]), 2);
    }

    proptest! {
        /// No words make a descent that leaves the leaves or does not end, whether they were accepted or not.
        #[test]
        fn descents_end(
            words in proptest::collection::vec(prop_oneof![0u32..8, (0u32..8).prop_map(|i| i | LEAF), any::<u32>()], 0..48),
            scores in proptest::collection::vec(0.0f32..=1.0, 3),
        ) {
            if let Ok(tree) = SplitTree::new(3, &words) {
                prop_assert!(usize::from(tree.cell(&scores)) < tree.cells());
            }
            SplitTree { classes: 3, leaves: 9, words: &words }.cell(&scores);
        }

        /// Every leaf of a tree grown at random is there once.
        #[test]
        fn grown_trees_are_accepted(shape in proptest::collection::vec(any::<[bool; 3]>(), 0..6)) {
            let mut words: Vec<u32> = Vec::new();
            let (mut nodes, mut leaves) = (1, 0);
            for (node, inner) in shape.iter().enumerate() {
                if node as u32 >= nodes { break }
                words.extend([0; 3]);
                for &inner in inner {
                    // As many inner children as there are shapes left for.
                    if inner && (nodes as usize) < shape.len() {
                        words.push(nodes);
                        nodes += 1;
                    } else {
                        words.push(leaves | LEAF);
                        leaves += 1;
                    }
                }
            }
            let tree = SplitTree::new(3, &words);
            let complete = words.len() == 6 * nodes as usize || words.is_empty();
            prop_assert_eq!(tree.is_ok(), complete);
            if let Ok(tree) = tree {
                prop_assert_eq!(tree.cells() as u32, leaves.max(1));
            }
        }
    }
}
