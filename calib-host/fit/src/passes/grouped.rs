//! Both passes by group, each of which has a separate table.

use std::collections::BTreeMap;

use super::buckets::Buckets;
use super::error::PassError;
use super::first::{Bucket, FirstPass, MAX_ROWS};
use super::open::check_method;
use crate::data::{BinaryData, RowGroups};
use crate::dataset::Dataset;
use crate::points::ScoreSummary;
use crate::reduction::{Problems, ReductionOptions};
use crate::stats::ScoreKind;

/// Scores, each with the number of its points and of those with label 1.
type Counts = Vec<(f64, u64, u64)>;

/// What the first pass counted, by group: at least one row of each.
///
/// ```
/// use calib_fit::passes::{Bucket, Buckets, GroupedPass};
/// use calib_fit::{BinaryMethod, ReductionOptions, Umd, fit_reduction};
///
/// // Of both groups the rows of a bucket are known by their ends, and those of another one by one.
/// let bucket = |number: f64, n, positives| {
///     let (lowest, highest) = (number / 65_536.0, (number + 0.5) / 65_536.0);
///     Bucket { number, n, positives, lowest, highest, ties: None }
/// };
/// let rows = ["m", "f"].map(|group| [(10.0, 30, 5), (20.0, 30, 9)].map(|(at, n, k)| (group.to_owned(), bucket(at, n, k))));
/// let first = GroupedPass::new(Buckets::Probabilities, rows.into_iter().flatten())?;
/// assert_eq!(first.names().collect::<Vec<_>>(), ["f", "m"]);
///
/// let options = ReductionOptions::new(BinaryMethod::Umd(Umd::new(3)));
/// let open = first.open_buckets(&options)?;
/// assert_eq!(open[0].buckets, [10.0, 20.0]);
/// let score = |at: f64| (at / 65_536.0, 15);
/// let counted = ["f", "m"].map(|group| {
///     [(10.0, 1), (10.5, 4), (20.0, 2), (20.5, 7)].map(|(at, k)| (group.to_owned(), (score(at).0, score(at).1, k)))
/// });
/// let problems = first.problems(&open, counted.into_iter().flatten())?;
/// assert_eq!(fit_reduction(&problems, &options, 0.1)?.groups(), ["f", "m"]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct GroupedPass {
    buckets: Buckets,
    /// In the order of their names, as the tables of the fit.
    groups: BTreeMap<String, FirstPass>,
}

/// The buckets of a group whose scores a fit depends on one by one.
#[derive(Clone, Debug, PartialEq)]
pub struct OpenGroup {
    /// The group's name.
    pub name: String,
    /// The numbers of the buckets, ascending.
    pub buckets: Vec<f64>,
}

impl GroupedPass {
    /// Checks what was counted, in any order: the name of a group, and a bucket of it. A bucket without rows may be left out.
    ///
    /// # Errors
    ///
    /// As [`FirstPass::new`], of any of the groups.
    pub fn new(
        buckets: Buckets,
        rows: impl IntoIterator<Item = (String, Bucket)>,
    ) -> Result<Self, PassError> {
        let mut by_group: BTreeMap<String, Vec<Bucket>> = BTreeMap::new();
        for (group, bucket) in rows {
            // A group is one of rows: a database that joins a list of groups may count none.
            if bucket.n > 0 || bucket.positives > 0 {
                by_group.entry(group).or_default().push(bucket);
            }
        }
        if by_group.is_empty() {
            return Err(PassError::Empty);
        }
        let mut groups = BTreeMap::new();
        for (group, rows) in by_group {
            let first = FirstPass::new(buckets, rows).map_err(|cause| of_group(&group, cause))?;
            groups.insert(group, first);
        }
        let total = groups.values().try_fold(0u64, |total, first| total.checked_add(first.len()));
        match total {
            Some(total) if total <= MAX_ROWS => Ok(Self { buckets, groups }),
            _ => Err(PassError::TooMany),
        }
    }

    /// Returns how scores are divided.
    pub fn buckets(&self) -> Buckets {
        self.buckets
    }

    /// Returns how many rows were counted, at least 1.
    #[expect(clippy::len_without_is_empty, reason = "never empty")]
    pub fn len(&self) -> u64 {
        self.groups.values().map(FirstPass::len).sum()
    }

    /// Returns the names of the groups, ascending.
    pub fn names(&self) -> impl ExactSizeIterator<Item = &str> {
        self.groups.keys().map(String::as_str)
    }

    /// Returns of every group, in their order, the buckets whose scores a fit with these options depends on one by one. A group that is too
    /// small for a table has none.
    ///
    /// # Errors
    ///
    /// As [`FirstPass::open_buckets`].
    pub fn open_buckets(&self, options: &ReductionOptions) -> Result<Vec<OpenGroup>, PassError> {
        options.check()?;
        check_method(&options.method)?;
        let of_group = |(name, first): (&String, &FirstPass)| {
            let n = usize::try_from(first.len()).unwrap_or(usize::MAX);
            let methods: Vec<_> = options.method_for(n).into_iter().collect();
            Ok(OpenGroup { name: name.clone(), buckets: first.open_buckets(&methods)? })
        };
        self.groups.iter().map(of_group).collect()
    }

    /// Returns how many rows these buckets hold: an upper bound of how many scores a second pass finds there.
    pub fn rows_in(&self, open: &[OpenGroup]) -> u64 {
        open.iter().filter_map(|open| Some(self.groups.get(&open.name)?.rows_in(&open.buckets))).sum()
    }

    /// Returns the problems of the groups, whose fit with the options for which these buckets are all that is
    /// [open](GroupedPass::open_buckets) is that of all rows. `counted` is what the second pass found: the name of a group, and a score
    /// with its number of rows and positives. More buckets than needed do no harm.
    ///
    /// # Errors
    ///
    /// Fewer than two groups, a group that the first pass does not have, or what [`FirstPass::points`] refuses of one of them.
    pub fn problems(
        &self,
        open: &[OpenGroup],
        counted: impl IntoIterator<Item = (String, (f64, u64, u64))>,
    ) -> Result<Problems, PassError> {
        let groups = self.counts(open, counted)?.into_iter();
        let problems = groups.map(|(name, counts)| (name, Problems::of_counts(counts, self.buckets.kind())));
        Problems::by_group(problems.collect()).ok_or(PassError::FewGroups(self.groups.len()))
    }

    /// Returns the points of the groups as a data set, of which a [job](crate::job::fit) fits what it would of all rows.
    ///
    /// # Errors
    ///
    /// As [`GroupedPass::problems`].
    pub fn dataset(
        &self,
        open: &[OpenGroup],
        counted: impl IntoIterator<Item = (String, (f64, u64, u64))>,
    ) -> Result<Dataset, PassError> {
        if self.groups.len() < 2 {
            return Err(PassError::FewGroups(self.groups.len()));
        }
        let (mut rows, mut names) = (Vec::new(), Vec::new());
        for (name, counts) in self.counts(open, counted)? {
            names.extend(counts.iter().map(|_| name.clone()));
            rows.extend(counts);
        }
        let points = match self.buckets.kind() {
            ScoreKind::Probability => BinaryData::from_counts(rows),
            ScoreKind::Margin => BinaryData::of_margin_counts(rows),
        };
        let points = points.expect("both passes were checked");
        Ok(Dataset::of_passes(points, Some(RowGroups::new(names)), self.score_summaries()))
    }

    /// Returns of every group, in their order, rows that stand for its points.
    fn counts(
        &self,
        open: &[OpenGroup],
        counted: impl IntoIterator<Item = (String, (f64, u64, u64))>,
    ) -> Result<Vec<(String, Counts)>, PassError> {
        let mut by_group: BTreeMap<String, Counts> = BTreeMap::new();
        for (group, score) in counted {
            by_group.entry(group).or_default().push(score);
        }
        if let Some(unknown) = by_group.keys().find(|group| !self.groups.contains_key(*group)) {
            return Err(PassError::UnknownGroup(unknown.clone()));
        }
        let of_group = |(name, first): (&String, &FirstPass)| {
            let open = open.iter().find(|open| open.name == *name).map_or(&[][..], |open| &open.buckets);
            let counted = by_group.remove(name).unwrap_or_default();
            let counts = first.counts(open, counted).map_err(|cause| of_group(name, cause))?;
            Ok((name.clone(), counts))
        };
        self.groups.iter().map(of_group).collect()
    }

    /// Returns of every group, in their order, where its scores lie, and how often they repeat.
    pub fn score_summaries(&self) -> Vec<Option<ScoreSummary>> {
        self.groups.values().map(|first| Some(first.score_summary())).collect()
    }
}

fn of_group(group: &str, cause: PassError) -> PassError {
    PassError::Group { group: group.to_owned(), cause: Box::new(cause) }
}
