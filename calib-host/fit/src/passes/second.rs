//! Both passes together.

use super::error::PassError;
use super::first::{Bucket, FirstPass, MAX_ROWS, holds};
use crate::data::BinaryData;
use crate::points::{Group, group};
use crate::stats::ScoreKind;

impl FirstPass {
    /// Returns points that every method for which these buckets are all that is [open](FirstPass::open_buckets) fits as it would fit
    /// all rows. `open` ascends; `counted` is what the second pass found: scores, each with its number of rows and positives. More buckets than
    /// needed do no harm.
    ///
    /// The points are not the rows: those of a bucket that was not counted one by one have its lowest and its highest score alone.
    ///
    /// # Errors
    ///
    /// An open bucket that was not counted, or counts that are not those of the first pass.
    pub fn points(&self, open: &[f64], counted: Vec<(f64, u64, u64)>) -> Result<BinaryData, PassError> {
        let points = self.counts(open, counted)?;
        let points = match self.buckets.kind() {
            ScoreKind::Probability => BinaryData::from_counts(points),
            ScoreKind::Margin => BinaryData::of_margin_counts(points),
        };
        Ok(points.expect("counts and scores were checked"))
    }

    /// The points as scores, each with its number of points and of positives.
    pub(super) fn counts(
        &self,
        open: &[f64],
        counted: Vec<(f64, u64, u64)>,
    ) -> Result<Vec<(f64, u64, u64)>, PassError> {
        if let Some(&(score, n, positives)) = counted.iter().find(|row| row.2 > row.1) {
            return Err(PassError::Positives { score, positives, n });
        }
        let total = counted.iter().try_fold(0u64, |total, row| total.checked_add(row.1));
        if total.is_none_or(|total| total > MAX_ROWS) {
            return Err(PassError::TooMany);
        }
        let single = |(score, n, positives): (f64, u64, u64)| (f64::from(score as f32), n, positives);
        let scores = group(counted.into_iter().map(single).collect());
        let mut points = Vec::with_capacity(scores.len() + 2 * self.rows.len());
        let mut missing = Vec::new();
        let mut rest = &scores[..];
        for bucket in &self.rows {
            let below = rest.partition_point(|group| self.buckets.of(group.score) < bucket.number);
            if let Some(group) = rest[..below].first() {
                return Err(self.unknown(group));
            }
            let (of_bucket, above) =
                rest.split_at(rest.partition_point(|group| self.buckets.of(group.score) == bucket.number));
            rest = above;
            match of_bucket {
                [] if holds(open, bucket.number) => missing.push(bucket.number),
                [] => points.extend(bucket.stand_in()),
                of_bucket => {
                    bucket.check_same(of_bucket)?;
                    points.extend(of_bucket.iter().map(|group| (group.score, group.n, group.positives)));
                }
            }
        }
        if let Some(group) = rest.first() {
            return Err(self.unknown(group));
        }
        if let [bucket, others @ ..] = &missing[..] {
            return Err(PassError::Missing { bucket: *bucket, others: others.len() });
        }
        Ok(points)
    }

    fn unknown(&self, group: &Group) -> PassError {
        PassError::Unknown { score: group.score, bucket: self.buckets.of(group.score) }
    }
}

impl Bucket {
    /// Some rows that have the counts and the ends of this bucket, of the orders that are possible one in which means do not ascend.
    fn stand_in(&self) -> impl Iterator<Item = (f64, u64, u64)> {
        let &Self { n, positives, lowest, highest, .. } = self;
        let first = match positives {
            _ if self.has_one_score() => (n, positives),
            0 => (1, 0),
            _ if positives == n => (1, 1),
            _ => (positives, positives),
        };
        [(lowest, first.0, first.1), (highest, n - first.0, positives - first.1)]
            .into_iter()
            .filter(|&(_, n, _)| n > 0)
    }

    /// Checks that its scores add up to what the first pass counted.
    fn check_same(&self, scores: &[Group]) -> Result<(), PassError> {
        let second_n = scores.iter().map(|group| group.n).sum();
        let second_positives = scores.iter().map(|group| group.positives).sum();
        let first_ends = [self.lowest, self.highest];
        let second_ends = [scores[0].score, scores[scores.len() - 1].score];
        if (second_n, second_positives, second_ends) == (self.n, self.positives, first_ends) {
            return Ok(());
        }
        Err(PassError::Differs {
            bucket: self.number,
            first_n: self.n,
            first_positives: self.positives,
            first_ends,
            second_n,
            second_positives,
            second_ends,
        })
    }
}
