//! Rows that belong together, such as the recordings of a patient, and what of them is independent.

use std::cmp::Ordering;
use std::collections::HashMap;
use std::hash::Hash;

use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use super::seed::Seed;

/// Which rows belong together. Clusters are independent of each other; the rows of one need not be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Clusters {
    of_row: Vec<u32>,
    count: usize,
}

impl Clusters {
    /// Puts rows with the same name into a cluster.
    ///
    /// ```
    /// use calib_fit::stats::Clusters;
    ///
    /// let clusters = Clusters::new(["ann", "bob", "ann"]);
    /// assert_eq!((clusters.rows(), clusters.count()), (3, 2));
    /// ```
    ///
    /// # Panics
    ///
    /// If there are 2^32 clusters or more.
    pub fn new<T: Eq + Hash>(names: impl IntoIterator<Item = T>) -> Self {
        let mut numbers = HashMap::new();
        let number = |name| {
            let next = u32::try_from(numbers.len()).expect("fewer than 2^32 clusters");
            *numbers.entry(name).or_insert(next)
        };
        let of_row = names.into_iter().map(number).collect();
        Self { of_row, count: numbers.len() }
    }

    /// Returns the number of rows.
    pub fn rows(&self) -> usize {
        self.of_row.len()
    }

    /// Returns the number of clusters.
    pub fn count(&self) -> usize {
        self.count
    }

    /// Returns the number of a row's cluster, from 0 on.
    ///
    /// # Panics
    ///
    /// If there is no such row.
    pub fn of(&self, row: usize) -> usize {
        self.of_row[row] as usize
    }

    /// Returns to how many independent rows the rows amount at least: `n^2 / sum of n_c^2` for `n_c` rows of cluster c (Kish
    /// 1965), rounded down. That is what is left if the rows of a cluster all say the same, and the number of clusters if they
    /// are of equal size.
    ///
    /// ```
    /// use calib_fit::stats::Clusters;
    ///
    /// // 9 / (4 + 1)
    /// assert_eq!(Clusters::new(["ann", "bob", "ann"]).effective_rows(), 1);
    /// ```
    pub fn effective_rows(&self) -> u64 {
        effective_rows(self.of_row.iter().copied())
    }

    /// Returns the clusters of some of the rows, in the order in which these are given.
    ///
    /// # Panics
    ///
    /// If there is no such row.
    #[must_use]
    pub fn part(&self, rows: impl IntoIterator<Item = usize>) -> Self {
        Self::new(rows.into_iter().map(|row| self.of_row[row]))
    }

    /// Draws one row of every cluster, and returns the rows in ascending order. `compare` orders rows by what is in them:
    /// then the contents of the rows that are drawn depend neither on the order of the rows nor on the names of clusters.
    ///
    /// Theorems on independent points hold for the drawn rows, and are about a random row of a random cluster.
    ///
    /// ```
    /// use calib_fit::stats::Clusters;
    ///
    /// let scores = [0.5, 0.1, 0.3, 0.4];
    /// let clusters = Clusters::new(["ann", "ann", "bob", "ann"]);
    /// let drawn = clusters.one_row_each(7, |a, b| f64::total_cmp(&scores[a], &scores[b]));
    /// assert!(drawn.len() == 2 && drawn.contains(&2));
    /// ```
    pub fn one_row_each(&self, seed: Seed, compare: impl Fn(usize, usize) -> Ordering) -> Vec<usize> {
        let mut order: Vec<usize> = (0..self.rows()).collect();
        order.sort_unstable_by(|&a, &b| compare(a, b));
        let units = Units::of_clusters(self, &mut order, |a, b| compare(a, b).is_eq());
        let mut drawn: Vec<usize> = units.one_each(seed).into_iter().map(|place| order[place]).collect();
        drawn.sort_unstable();
        drawn
    }
}

/// What is drawn, dealt out or left out as a whole: every row of a table separately, or all rows of a cluster (Field and Welsh
/// 2007). Units have numbers from 0 on, and rows are named by their place in an order of their contents.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Units {
    rows: usize,
    /// The unit of the row in every place; `None` if every row is one.
    of_place: Option<Vec<u32>>,
    count: usize,
}

impl Units {
    /// Makes every row a unit.
    pub(crate) fn rows(rows: usize) -> Self {
        Self { rows, of_place: None, count: rows }
    }

    /// Makes every cluster a unit, or every row if there are no clusters. `order` holds the rows by their contents, ascending,
    /// and `same` tells whether two have equal contents: such rows are put in an order of what their clusters hold besides. So
    /// neither the order of the rows nor the names of clusters matter, and clusters of one row each are the same as none.
    pub(crate) fn new(
        clusters: Option<&Clusters>,
        order: &mut [usize],
        same: impl Fn(usize, usize) -> bool,
    ) -> Self {
        match clusters {
            Some(clusters) => Self::of_clusters(clusters, order, same),
            None => Self::rows(order.len()),
        }
    }

    fn of_clusters(clusters: &Clusters, order: &mut [usize], same: impl Fn(usize, usize) -> bool) -> Self {
        assert_eq!(clusters.rows(), order.len(), "every row has a cluster");
        let of = |row: usize| clusters.of(row);
        // By the ranks of their rows, clusters are ordered by their contents.
        let mut contents: Vec<Vec<u32>> = vec![Vec::new(); clusters.count];
        for (rank, tied) in (0..).zip(order.chunk_by(|&a, &b| same(a, b))) {
            tied.iter().for_each(|&row| contents[of(row)].push(rank));
        }
        let mut by_content: Vec<usize> = (0..clusters.count).collect();
        by_content.sort_unstable_by(|&a, &b| contents[a].cmp(&contents[b]));
        let mut numbers = vec![0; clusters.count];
        for (number, cluster) in (0..).zip(by_content) {
            numbers[cluster] = number;
        }
        for tied in order.chunk_by_mut(|&a, &b| same(a, b)) {
            tied.sort_unstable_by_key(|&row| numbers[of(row)]);
        }
        let of_place = order.iter().map(|&row| numbers[of(row)]).collect();
        Self { rows: order.len(), of_place: Some(of_place), count: clusters.count }
    }

    /// Returns the number of units.
    pub(crate) fn count(&self) -> usize {
        self.count
    }

    /// Returns the mean of a value of every row, and its standard error where whole units are drawn: that of a ratio of totals
    /// (Cochran, Sampling Techniques, 1977, section 6.4), which is the usual one where every row is a unit. NaN for a single unit.
    pub(crate) fn mean(&self, values: &[f64]) -> (f64, f64) {
        let n = values.len() as f64;
        let mean = values.iter().sum::<f64>() / n;
        let squares: f64 = match &self.of_place {
            None => values.iter().map(|value| (value - mean).powi(2)).sum(),
            Some(of_place) => {
                let mut sums = vec![0.0; self.count];
                of_place.iter().zip(values).for_each(|(&unit, value)| sums[unit as usize] += value - mean);
                sums.iter().map(|sum| sum * sum).sum()
            }
        };
        let units = self.count as f64;
        (mean, (squares * units / (units - 1.0)).sqrt() / n)
    }

    /// Returns the number of rows.
    pub(crate) fn row_count(&self) -> usize {
        self.rows
    }

    /// Tells whether every row is a unit because nobody said otherwise.
    pub(crate) fn are_rows(&self) -> bool {
        self.of_place.is_none()
    }

    /// Returns the unit of the row in this place.
    pub(crate) fn of(&self, place: usize) -> usize {
        self.of_place.as_ref().map_or(place, |of_place| of_place[place] as usize)
    }

    /// Returns a number for every row, from one for every unit; `buffer` is overwritten.
    pub(crate) fn spread<'n, T: Copy>(&self, of_units: &'n [T], buffer: &'n mut Vec<T>) -> &'n [T] {
        let Some(of_place) = &self.of_place else { return of_units };
        buffer.clear();
        buffer.extend(of_place.iter().map(|&unit| of_units[unit as usize]));
        buffer
    }

    /// Returns the units of the rows in some places, which become the places 0, 1 and so on.
    pub(crate) fn part(&self, places: &[usize]) -> Self {
        let Some(of_place) = &self.of_place else { return Self::rows(places.len()) };
        let mut used: Vec<u32> = places.iter().map(|&place| of_place[place]).collect();
        let all = used.clone();
        used.sort_unstable();
        used.dedup();
        let number = |unit: u32| used.binary_search(&unit).expect("it is one of them") as u32;
        let of_place = all.into_iter().map(number).collect();
        Self { rows: places.len(), of_place: Some(of_place), count: used.len() }
    }

    /// Draws one row of every unit, and returns the places in ascending order.
    pub(crate) fn one_each(&self, seed: Seed) -> Vec<usize> {
        let mut places: Vec<Vec<usize>> = vec![Vec::new(); self.count];
        (0..self.rows).for_each(|place| places[self.of(place)].push(place));
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed);
        let mut drawn: Vec<usize> =
            places.iter().map(|places| places[rng.random_range(0..places.len())]).collect();
        drawn.sort_unstable();
        drawn
    }

    /// Returns to how many independent rows the rows in these places amount at least, as [`Clusters::effective_rows`].
    pub(crate) fn effective_rows(&self, places: impl IntoIterator<Item = usize>) -> u64 {
        effective_rows(places.into_iter().map(|place| self.of(place)))
    }
}

/// Kish's effective number of rows, given the cluster of each.
fn effective_rows<T: Eq + Hash>(clusters: impl Iterator<Item = T>) -> u64 {
    let mut counts: HashMap<T, u64> = HashMap::new();
    clusters.for_each(|cluster| *counts.entry(cluster).or_default() += 1);
    let n: u64 = counts.values().sum();
    let squares: u128 = counts.values().map(|&count| u128::from(count).pow(2)).sum();
    (u128::from(n).pow(2) / squares.max(1)) as u64
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_effective_number_counts_clusters_of_equal_size() {
        let clusters = Clusters::new([0, 0, 1, 1, 2, 2]);
        let units = Units::new(Some(&clusters), &mut [0, 1, 2, 3, 4, 5], |a, b| a == b);
        assert_eq!(units.effective_rows(0..6), 3);
        // 16 / (4 + 1 + 1)
        assert_eq!(units.effective_rows(0..4), 2);
        assert_eq!(units.effective_rows([0, 1, 2, 4]), 2);
        assert_eq!(Units::rows(6).effective_rows(0..6), 6);
    }

    /// Rows that come several times, in a cluster each, tell no more than one of each.
    #[test]
    fn the_error_of_a_mean_counts_clusters() {
        let values = [0.3, -0.1, 0.25, 0.0, 1.0];
        let (mean, error) = Units::rows(5).mean(&values);
        let squares: f64 = values.iter().map(|value| (value - 0.29_f64).powi(2)).sum();
        assert!((mean - 0.29).abs() < 1e-15 && (error - (squares / 4.0 / 5.0).sqrt()).abs() < 1e-15);
        let clusters = Clusters::new((0..15).map(|row| row / 3));
        let order = &mut (0..15).collect::<Vec<_>>();
        let units = Units::new(Some(&clusters), order, |a, b| values[a / 3] == values[b / 3]);
        let repeated: Vec<f64> = order.iter().map(|&row| values[row / 3]).collect();
        let (of_clusters, error_of_clusters) = units.mean(&repeated);
        assert!((of_clusters - mean).abs() < 1e-15 && (error_of_clusters - error).abs() < 1e-15);
        assert!(Units::rows(1).mean(&[0.5]).1.is_nan());
    }

    proptest! {
        /// Of every cluster one row, and the same contents whatever the order of the rows and the names of clusters.
        #[test]
        fn one_row_each_depends_on_contents_alone(
            rows in proptest::collection::vec((0u32..6, 0u32..8), 1..40), shift in 1usize..40, seed in any::<u64>(),
        ) {
            let drawn = |rows: &[(u32, u32)], rename: fn(u32) -> u32| {
                let clusters = Clusters::new(rows.iter().map(|row| rename(row.1)));
                let drawn = clusters.one_row_each(seed, |a, b| rows[a].0.cmp(&rows[b].0));
                let names: std::collections::BTreeSet<u32> = drawn.iter().map(|&row| rows[row].1).collect();
                assert_eq!((drawn.len(), names.len()), (clusters.count(), clusters.count()));
                let mut contents: Vec<u32> = drawn.iter().map(|&row| rows[row].0).collect();
                contents.sort_unstable();
                contents
            };
            let mut moved = rows.clone();
            moved.rotate_left(shift % rows.len());
            prop_assert_eq!(drawn(&rows, |name| name), drawn(&moved, |name| 100 - name));
        }

        /// Clusters of one row are rows.
        #[test]
        fn clusters_of_one_row_are_none(rows in proptest::collection::vec(0u32..6, 1..40)) {
            let mut order: Vec<usize> = (0..rows.len()).collect();
            order.sort_by_key(|&row| rows[row]);
            let clusters = Clusters::new(0..rows.len());
            let units = Units::new(Some(&clusters), &mut order, |a, b| rows[a] == rows[b]);
            prop_assert!((0..rows.len()).all(|place| units.of(place) == place));
            prop_assert_eq!(units.one_each(3), (0..rows.len()).collect::<Vec<_>>());
            prop_assert_eq!(units.effective_rows(0..rows.len()), rows.len() as u64);
        }
    }
}
