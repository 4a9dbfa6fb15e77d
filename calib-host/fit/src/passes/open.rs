//! Which buckets the first pass leaves open.

use super::error::PassError;
use super::first::{Bucket, FirstPass};
use crate::binary::{BinaryMethod, Umd};
use crate::points::{Block, mean_is_below, pool};

/// What a method asks of the order of rows.
enum OrderNeeds<'m> {
    /// The scores of some ranks.
    Ranks(&'m Umd),
    /// How many rows are below some scores, which ascend.
    Edges(Vec<f64>),
    /// Where the mean label ascends.
    Means,
}

impl<'m> OrderNeeds<'m> {
    fn by(method: &'m BinaryMethod) -> Result<Self, PassError> {
        let name = method.method();
        Ok(match method {
            BinaryMethod::Umd(umd) => Self::Ranks(umd),
            BinaryMethod::FixedWidth(fixed) => Self::Edges(fixed.edges()?),
            BinaryMethod::FixedRange(fixed) => Self::Edges(fixed.edges()?),
            BinaryMethod::Isotonic(_) | BinaryMethod::IsotonicInterpolated(_) => Self::Means,
            BinaryMethod::Unchanged => Self::Edges(Vec::new()),
            BinaryMethod::UmdRandomized(..) | BinaryMethod::Ums(_) => return Err(PassError::Draws(name)),
            BinaryMethod::ScalingBinning(binning) if binning.split_seed.is_some() => {
                return Err(PassError::Draws(name));
            }
            _ => return Err(PassError::EveryScore(name)),
        })
    }
}

/// Checks that two passes are enough for a method, whatever is counted.
///
/// # Errors
///
/// [`PassError::Draws`] and [`PassError::EveryScore`] if they are not, and [`PassError::Fit`] for parameters that no rows suit.
pub fn check_method(method: &BinaryMethod) -> Result<(), PassError> {
    OrderNeeds::by(method).map(drop)
}

impl FirstPass {
    /// Returns the numbers, ascending, of the buckets whose scores a fit by any of these methods depends on one by one. All other
    /// buckets could hold their rows in any order, and the fit would be the same.
    ///
    /// # Errors
    ///
    /// As [`check_method`], and [`PassError::Fit`] if there are too few rows for the bins.
    pub fn open_buckets(&self, methods: &[BinaryMethod]) -> Result<Vec<f64>, PassError> {
        let mut open = Vec::new();
        for method in methods {
            let buckets = match OrderNeeds::by(method)? {
                OrderNeeds::Ranks(umd) => self.of_ranks(&umd.ranks(self.len())?),
                OrderNeeds::Edges(edges) => self.of_edges(&edges),
                OrderNeeds::Means => self.unsettled(),
            };
            open.extend(buckets.iter().filter(|bucket| !bucket.has_one_score()).map(|bucket| bucket.number));
        }
        open.sort_unstable_by(f64::total_cmp);
        open.dedup();
        Ok(open)
    }

    /// The buckets that hold the rows of these ascending ranks, from 1 on.
    fn of_ranks(&self, ranks: &[u64]) -> Vec<&Bucket> {
        let mut through = 0;
        let ends = self.rows.iter().map(|bucket| {
            through += bucket.n;
            through
        });
        let ends: Vec<u64> = ends.collect();
        ranks.iter().map(|&rank| &self.rows[ends.partition_point(|&end| end < rank)]).collect()
    }

    /// The buckets with scores on both sides of one of these ascending edges.
    fn of_edges(&self, edges: &[f64]) -> Vec<&Bucket> {
        let first_above = |score: f64| edges.partition_point(|&edge| edge <= score);
        self.rows.iter().filter(|bucket| first_above(bucket.lowest) < first_above(bucket.highest)).collect()
    }

    /// The buckets within which the greatest convex minorant of the cumulative diagram may have a corner.
    ///
    /// The diagram has the rows from left to right and the positives among them upwards. All that is known of it within a bucket of `n` rows is
    /// where it begins and ends; it goes lowest if all negatives come first. If that corner is on or above the minorant of what is known, no order of the
    /// rows reaches below. Where the minorant merely touches the corner, it is straight. Within a bucket of one label the diagram
    /// is straight, too, and as flat, or as steep, as any minorant: it has no corner there.
    fn unsettled(&self) -> Vec<&Bucket> {
        let known = |bucket: &Bucket| Block {
            lo: bucket.lowest,
            hi: bucket.highest,
            n: bucket.n,
            positives: bucket.positives,
        };
        let mut minorant = pool(self.rows.iter().map(known), mean_is_below).into_iter();
        let mut piece = minorant.next().expect("there is a bucket");
        // The rows and positives of the piece below the bucket.
        let (mut rows, mut positives) = (0, 0);
        let is_open = |bucket: &&Bucket| {
            if rows == piece.n {
                piece = minorant.next().expect("every bucket is in a piece");
                (rows, positives) = (0, 0);
            }
            let corner = rows + bucket.n - bucket.positives;
            let is_above = u128::from(positives) * u128::from(piece.n)
                >= u128::from(corner) * u128::from(piece.positives);
            rows += bucket.n;
            positives += bucket.positives;
            !is_above && bucket.positives > 0 && bucket.positives < bucket.n
        };
        self.rows.iter().filter(is_open).collect()
    }
}
