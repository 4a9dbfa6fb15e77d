//! The rows of a data set as a hash of all, and the least hashes of single rows.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::ops::AddAssign;

use super::rows_hash::RowsHash;

/// What tells a multiset of rows again, whatever their order: the hash of all, and a sketch of the least hashes of different rows.
///
/// Digests of parts add up to that of the whole.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RowsDigest {
    /// The hash of all rows.
    pub hash: RowsHash,
    /// The rows with the least hashes.
    pub sketch: RowsSketch,
}

/// The different rows with the least hashes, and how often each occurs: a sample of the different rows, which is the same for all sets
/// that hold them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RowsSketch {
    /// How many rows have each hash, if it is below the limit.
    least: BTreeMap<u64, u64>,
    /// Rows with a hash from here on are not in the sketch; nothing is known of them but their number.
    limit: u64,
    /// The number of the lowest bits of the hashes, and of the limit, that are not known and zero.
    unknown_bits: u32,
    /// The number of all rows.
    rows: u64,
}

/// The most different rows in a sketch that is made of rows.
const IN_MEMORY: usize = 1024;

/// The most of these that a file keeps.
pub(crate) const STORED: usize = 64;

/// The bits of a hash that a file keeps.
const STORED_BITS: u32 = 24;

/// A row that a file says occurs so often occurs so often or more.
pub(super) const MOST: u64 = u8::MAX as u64;

impl RowsDigest {
    /// Returns the digest of rows with one score, as the device sees them, each of which occurs a number of times.
    pub fn of_scores(rows: impl IntoIterator<Item = (f32, bool, u64)>) -> Self {
        let mut digest = Self::default();
        for (score, label, count) in rows {
            digest.add(RowsHash::of_score(score, label), count);
        }
        digest
    }

    /// Returns the digest of rows that are vectors of words, each with its label.
    pub(crate) fn of_vectors<V: Iterator<Item = u32>>(rows: impl Iterator<Item = (V, i64)>) -> Self {
        let mut digest = Self::default();
        let mut bytes = Vec::new();
        for (row, label) in rows {
            digest.add(RowsHash::of_vector(row, label, &mut bytes), 1);
        }
        digest
    }

    /// Adds equal rows with this hash.
    fn add(&mut self, row: RowsHash, count: u64) {
        self.hash += row.times(count);
        self.sketch.rows += count;
        if count > 0 {
            self.sketch.add(row.low(), count);
        }
    }
}

impl AddAssign for RowsDigest {
    fn add_assign(&mut self, other: Self) {
        self.hash += other.hash;
        self.sketch.rows += other.sketch.rows;
        self.sketch.cut(other.sketch.limit);
        for (hash, count) in other.sketch.least {
            self.sketch.add(hash, count);
        }
    }
}

impl Default for RowsSketch {
    fn default() -> Self {
        Self { least: BTreeMap::new(), limit: u64::MAX, unknown_bits: 0, rows: 0 }
    }
}

impl RowsSketch {
    /// Whether it is of no rows, so that nothing is known.
    pub fn is_empty(&self) -> bool {
        self.least.is_empty()
    }

    /// The number of all rows.
    pub(super) fn rows(&self) -> u64 {
        self.rows
    }

    /// Adds equal rows that are counted.
    fn add(&mut self, hash: u64, count: u64) {
        if hash >= self.limit {
            return;
        }
        match self.least.entry(hash) {
            Entry::Occupied(mut found) => *found.get_mut() += count,
            Entry::Vacant(place) => {
                place.insert(count);
                self.keep(IN_MEMORY);
            }
        }
    }

    /// Forgets all rows except the `most` with the least hashes.
    fn keep(&mut self, most: usize) {
        while self.least.len() > most {
            if let Some((hash, _)) = self.least.pop_last() {
                self.limit = hash;
            }
        }
    }

    /// Forgets rows with a hash from a limit on.
    fn cut(&mut self, limit: u64) {
        if limit < self.limit {
            self.limit = limit;
            self.least.split_off(&limit);
        }
    }

    /// How often each row of either sketch occurs in the one and in the other, as far as both know.
    pub(super) fn beside(&self, other: &Self) -> Vec<[u64; 2]> {
        let bits = self.unknown_bits.max(other.unknown_bits);
        let limit = self.limit.min(other.limit) >> bits;
        let mut counts = BTreeMap::<u64, [u64; 2]>::new();
        for (at, sketch) in [self, other].into_iter().enumerate() {
            for (hash, count) in sketch.least.iter().filter(|row| row.0 >> bits < limit) {
                counts.entry(hash >> bits).or_default()[at] += count;
            }
        }
        counts.into_values().collect()
    }

    /// Returns what a file keeps of it: the number of rows as a `u64`. As `u32`s the number of low bits that are left out of hashes, and the
    /// limit without these. And for each row a `u32` whose upper 24 bits are its hash without these, and whose lower 8 say how often it
    /// occurs, up to 255.
    pub(crate) fn to_bytes(&self) -> Vec<u8> {
        let mut few = self.clone();
        few.keep(STORED);
        let left_out = (u64::BITS - STORED_BITS).saturating_sub(few.limit.leading_zeros());
        let limit = few.limit >> left_out;
        let mut counts = BTreeMap::<u64, u64>::new();
        for (hash, count) in few.least.iter().filter(|row| row.0 >> left_out < limit) {
            *counts.entry(hash >> left_out).or_default() += count;
        }
        let rows = counts.into_iter().map(|(hash, count)| (hash as u32) << 8 | count.min(MOST) as u32);
        let words = [left_out, limit as u32].into_iter().chain(rows);
        few.rows.to_le_bytes().into_iter().chain(words.flat_map(u32::to_le_bytes)).collect()
    }

    /// Reads what [`RowsSketch::to_bytes`] wrote; `None` if it did not write this.
    pub(crate) fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let (rows, rest) = bytes.split_first_chunk()?;
        let (words, []) = rest.as_chunks() else { return None };
        let [unknown_bits, limit, words @ ..] = words else { return None };
        let (rows, unknown_bits) = (u64::from_le_bytes(*rows), u32::from_le_bytes(*unknown_bits));
        let limit = u32::from_le_bytes(*limit);
        let row = |word: &[u8; 4]| (u32::from_le_bytes(*word) >> 8, u64::from(word[0]));
        let least: Vec<(u32, u64)> = words.iter().map(row).collect();
        let is_row = |&(hash, count): &(u32, u64)| hash < limit && count > 0;
        let is_sketch = unknown_bits <= u64::BITS - STORED_BITS
            && limit < 1 << STORED_BITS
            && least.len() <= STORED
            && least.iter().all(is_row)
            && least.windows(2).all(|pair| pair[0].0 < pair[1].0)
            && least.iter().map(|row| row.1).sum::<u64>() <= rows;
        let shifted = |hash: u32| u64::from(hash) << unknown_bits;
        is_sketch.then(|| Self {
            least: least.into_iter().map(|(hash, count)| (shifted(hash), count)).collect(),
            limit: shifted(limit),
            unknown_bits,
            rows,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(rows: impl IntoIterator<Item = u32>) -> RowsDigest {
        RowsDigest::of_scores(rows.into_iter().map(|row| ((row / 2) as f32, row % 2 == 1, 1)))
    }

    /// A sketch has the least of all hashes, with all of their rows, however the rows are ordered and divided.
    #[test]
    fn neither_order_nor_parts_matter() {
        let rows: Vec<u32> = (0..9000u32).map(|i| i.wrapping_mul(2_654_435_761) % 4000).collect();
        let whole = of(rows.iter().copied());
        assert_eq!(of(rows.iter().rev().copied()), whole);
        for part in [1, 700, 5000] {
            let mut sum = RowsDigest::default();
            rows.chunks(part).for_each(|part| sum += of(part.iter().copied()));
            assert_eq!(sum, whole, "{part}");
        }
        let mut counts = BTreeMap::new();
        for row in &rows {
            *counts.entry(RowsHash::of_score((row / 2) as f32, row % 2 == 1).low()).or_insert(0) += 1;
        }
        let mut hashes = counts.into_iter();
        let least: BTreeMap<u64, u64> = hashes.by_ref().take(IN_MEMORY).collect();
        let limit = hashes.next().unwrap().0;
        assert_eq!(whole.sketch, RowsSketch { least, limit, unknown_bits: 0, rows: 9000 });
    }

    /// A file keeps the 64 least hashes to 24 bits, and what is none is refused.
    #[test]
    fn what_is_stored_comes_back() {
        for (different, each) in [(0, 1), (1, 1), (5, 300), (63, 2), (64, 3), (65, 1), (1000, 1), (70_000, 1)]
        {
            let sketch = of((0..different).flat_map(|row| std::iter::repeat_n(row, each))).sketch;
            let bytes = sketch.to_bytes();
            let kept = STORED.min(different as usize);
            assert_eq!(bytes.len(), 16 + 4 * kept, "{different}");
            let back = RowsSketch::from_bytes(&bytes).unwrap();
            assert_eq!((back.to_bytes(), back.rows), (bytes.clone(), sketch.rows));
            assert!(back.least.values().all(|&count| count == (each as u64).min(MOST)));
            let of_kept = sketch.least.keys().map(|hash| hash >> back.unknown_bits << back.unknown_bits);
            assert!(of_kept.take(kept).eq(back.least.keys().copied()));
            assert_eq!(RowsSketch::from_bytes(&bytes[..bytes.len() - 1]), None);
            for at in [0, 8, 12].into_iter().chain((16..bytes.len()).step_by(4)) {
                let mut forged = bytes.clone();
                forged[at..at + 4].fill(if at == 8 { 0xff } else { 0 });
                // Fewer rows than are listed, bits that no hash has, a limit below the hashes, no row, or none that ascends.
                assert_eq!(RowsSketch::from_bytes(&forged).is_none(), kept > 0 || at == 8, "{at}");
            }
        }
        let [one, other] = [1u32 << 8 | 1, 2 << 8 | 1].map(u32::to_le_bytes);
        let head = [2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 9, 0, 0, 0];
        let of = |rows: &[[u8; 4]]| RowsSketch::from_bytes(&[&head, rows.as_flattened()].concat());
        assert!(of(&[one, other]).is_some());
        assert!(
            of(&[other, one]).is_none() && of(&[one, one]).is_none() && of(&[one, other, other]).is_none()
        );
    }
}
