//! Counts with prefix sums (Fenwick).

/// Counts of several kinds at numbered places.
pub(crate) struct CountTree {
    kinds: usize,
    sums: Vec<u64>,
}

impl CountTree {
    pub(crate) fn new(places: usize, kinds: usize) -> Self {
        Self { kinds, sums: vec![0; (places + 1) * kinds] }
    }

    /// Counts one of this kind at a place.
    pub(crate) fn add(&mut self, place: usize, kind: usize) {
        let mut node = place + 1;
        while let Some(sum) = self.sums.get_mut(node * self.kinds + kind) {
            *sum += 1;
            node += node & node.wrapping_neg();
        }
    }

    /// Adds the counts of the first `len` places, kind by kind.
    pub(crate) fn add_prefix(&self, len: usize, counts: &mut [u64]) {
        let mut node = len;
        while node > 0 {
            let sums = &self.sums[node * self.kinds..][..self.kinds];
            counts.iter_mut().zip(sums).for_each(|(count, sum)| *count += sum);
            node &= node - 1;
        }
    }
}
