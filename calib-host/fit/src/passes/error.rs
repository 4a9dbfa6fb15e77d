//! Why aggregated tables do not stand for all rows.

use calib_core::artifact::Method;

use crate::error::FitError;

/// Why aggregated tables do not stand for all rows.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum PassError {
    /// The buckets of margins are of a width that rounds.
    #[error(
        "{0} buckets to the unit: a power of two from 2^-100 to 2^100 is needed, so that nothing is rounded"
    )]
    PerUnit(f64),
    /// There are no rows.
    #[error("the first pass counted no rows")]
    Empty,
    /// A bucket is there twice.
    #[error("bucket {0} occurs twice: the first pass has one row for each bucket")]
    Twice(f64),
    /// What a row of the first pass says is impossible.
    #[error("bucket {bucket}: {fault}")]
    Bucket {
        /// Its number.
        bucket: f64,
        /// What is wrong.
        fault: &'static str,
    },
    /// The counts add up to more than 2^53.
    #[error("the counts add up to more than 2^53 rows")]
    TooMany,
    /// The method draws rows, of which aggregated tables have none.
    #[error("{0} draws rows at random, and counts have no rows")]
    Draws(Method),
    /// The method depends on every score.
    #[error("{0} depends on every single score, and two passes do not have it")]
    EveryScore(Method),
    /// A bucket's scores are needed and not there.
    #[error("the second pass lacks the scores of bucket {bucket}, and of {others} more")]
    Missing {
        /// The first such bucket.
        bucket: f64,
        /// How many others there are.
        others: usize,
    },
    /// A score is in a bucket that the first pass does not have.
    #[error("the second pass has the score {score}, and the first no rows in its bucket, {bucket}")]
    Unknown {
        /// The score.
        score: f64,
        /// Its bucket.
        bucket: f64,
    },
    /// More positives than rows.
    #[error("the second pass has {positives} positives of {n} rows with the score {score}")]
    Positives {
        /// The score.
        score: f64,
        /// The positives.
        positives: u64,
        /// Of so many.
        n: u64,
    },
    /// Both passes counted different rows.
    #[error(
        "bucket {bucket}: the first pass counted {first_n} rows, {first_positives} of them positive, from {} to {}, and the second \
         {second_n} and {second_positives}, from {} to {}: the passes did not read the same rows",
        first_ends[0], first_ends[1], second_ends[0], second_ends[1]
    )]
    Differs {
        /// The bucket.
        bucket: f64,
        /// The rows of the first pass.
        first_n: u64,
        /// The positives among them.
        first_positives: u64,
        /// Their lowest and highest score.
        first_ends: [f64; 2],
        /// The rows of the second pass.
        second_n: u64,
        /// The positives among them.
        second_positives: u64,
        /// Their lowest and highest score.
        second_ends: [f64; 2],
    },
    /// The answers about one group do not stand for its rows.
    #[error("group {group}: {cause}")]
    Group {
        /// The group.
        group: String,
        /// Why not.
        cause: Box<PassError>,
    },
    /// The second pass names a group that the first does not.
    #[error("the second pass has rows of the group {0}, and the first has none")]
    UnknownGroup(String),
    /// There are fewer than two groups.
    #[error("the first pass has {0} group, and tables of groups need two")]
    FewGroups(usize),
    /// Nothing can be fitted to so many rows.
    #[error(transparent)]
    Fit(#[from] FitError),
}
