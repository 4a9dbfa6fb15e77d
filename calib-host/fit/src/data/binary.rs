//! Scores and binary labels, checked once.

use std::borrow::Cow;
use std::cmp::Ordering;
use std::collections::HashMap;
use std::ops::AddAssign;
use std::sync::Arc;

use calib_core::Score;
use rayon::prelude::*;

use super::checks::{check_class, check_device_scores, check_lengths, check_score};
use super::error::DataError;
use super::rounding::{rounded, rounded_of};
use super::rows_digest::RowsDigest;
use crate::cancel;
use crate::error::FitError;
use crate::points::{
    Classes, Collected, Counted, Group, Groups, Packed, Passes, Points, ScoreSummary, Sorted, Spill, group,
    packed,
};
use crate::stats::ScoreKind;

/// At least one point: scores of class 1 and labels. A row may stand for several points.
///
/// The scores are [probabilities or margins](ScoreKind). One point a row with a probability in the device's `f32` takes 4 bytes;
/// other rows, and all with margins, take 24.
#[derive(Clone, Debug, PartialEq)]
pub struct BinaryData {
    form: Form,
    kind: ScoreKind,
}

/// What the points are kept as.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Form {
    /// One point a row, its score an `f32`, in the order of the rows.
    Packed(Vec<Packed>),
    /// The same in ascending order.
    Sorted(Sorted),
    /// The same, as many as do not fit into memory.
    Spilled(Arc<Spill>),
    /// (score, number of points, number of them with label 1).
    Rows(Vec<(f64, u64, u64)>),
}

/// Counts up to here are exact in an `f64`.
const MAX_POINTS: u64 = 1 << 53;

impl BinaryData {
    /// Checks scores and labels. The scores are used as they are; see [`BinaryData::on_device`].
    ///
    /// # Errors
    ///
    /// No rows, different lengths, or a score that is not in `[0, 1]`.
    pub fn new(scores: Vec<f64>, labels: Vec<bool>) -> Result<Self, DataError> {
        check_lengths(scores.len(), labels.len())?;
        Self::from_counts(
            scores.into_iter().zip(labels).map(|(score, label)| (score, 1, label.into())).collect(),
        )
    }

    /// Checks rows of a score, the number `n` of points that the row stands for, and the number of those with label 1: a
    /// table aggregated by score. The same as so many rows of one point each.
    ///
    /// # Errors
    ///
    /// No points, a score that is not in `[0, 1]`, more positives than points, or more than 2^53 points.
    pub fn from_counts(rows: Vec<(f64, u64, u64)>) -> Result<Self, DataError> {
        Self::of_counts(ScoreKind::Probability, rows)
    }

    /// Checks margins of class 1 and labels. The margins are used as they are; see [`BinaryData::on_device`].
    ///
    /// ```
    /// use calib_fit::{BinaryData, BinaryMethod, Isotonic, fit_binary};
    ///
    /// let data = BinaryData::of_margins(vec![-7.5, -0.5, -0.0, 0.0, 31.0], vec![false, true, false, true, true])?;
    /// let fit = fit_binary(&data, &BinaryMethod::Isotonic(Isotonic::default()), 0.1)?;
    /// let steps = fit.tables()[0].as_ref().unwrap().model().steps().unwrap();
    /// assert_eq!((steps.edges[0], steps.prob(-0.25)), (-4.0, 2.0 / 3.0));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// No rows, different lengths, or a margin that is no finite number as an `f32`.
    pub fn of_margins(margins: Vec<f64>, labels: Vec<bool>) -> Result<Self, DataError> {
        check_lengths(margins.len(), labels.len())?;
        let rows = margins.into_iter().zip(labels).map(|(margin, label)| (margin, 1, label.into()));
        Self::of_margin_counts(rows.collect())
    }

    /// As [`BinaryData::from_counts`], for rows of a margin, the number of points and the number of those with label 1.
    ///
    /// # Errors
    ///
    /// No points, a margin that is no finite number as an `f32`, more positives than points, or more than 2^53 points.
    pub fn of_margin_counts(rows: Vec<(f64, u64, u64)>) -> Result<Self, DataError> {
        Self::of_counts(ScoreKind::Margin, rows)
    }

    pub(super) fn of_counts(kind: ScoreKind, rows: Vec<(f64, u64, u64)>) -> Result<Self, DataError> {
        let mut total = 0u64;
        for (row, &(score, n, positives)) in rows.iter().enumerate() {
            cancel::check_row(row);
            check_score(kind, score).map_err(|cause| DataError::Score { row, cause })?;
            if positives > n {
                return Err(DataError::Positives { row, positives, n });
            }
            total = total.checked_add(n).filter(|&total| total <= MAX_POINTS).ok_or(DataError::TooMany)?;
        }
        if total == 0 { Err(DataError::Empty) } else { Ok(Self { form: Form::Rows(rows), kind }) }
    }

    /// Checks scores as the device sees them, and labels: the same as [`BinaryData::new`] for these scores, and quicker.
    ///
    /// # Errors
    ///
    /// As [`BinaryData::new`].
    pub fn from_device_scores(scores: &[f32], labels: &[bool]) -> Result<Self, DataError> {
        check_lengths(scores.len(), labels.len())?;
        check_device_scores(scores)?;
        let pack = |(&score, &label)| packed::pack(Score::new(score).unwrap_or(Score::ZERO), label);
        Ok(Self::from_packed(scores.par_iter().zip(labels).with_min_len(1 << 14).map(pack).collect()))
    }

    /// Checks scores as the device sees them, and classes, which are 0 or 1, and [sorts](BinaryData::sorted) them: the same as
    /// [`BinaryData::from_device_scores`] of these labels, sorted, and quicker.
    ///
    /// ```
    /// use calib_fit::BinaryData;
    ///
    /// let data = BinaryData::from_device_classes(&[0.25, 0.75], &[0, 1])?;
    /// assert_eq!(data, BinaryData::from_device_scores(&[0.25, 0.75], &[false, true])?.sorted());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// As [`BinaryData::new`], or a class that is neither.
    pub fn from_device_classes(scores: &[f32], classes: &[i64]) -> Result<Self, DataError> {
        check_lengths(scores.len(), classes.len())?;
        let rows = Classes::new(scores, classes);
        let counted = Counted::new(&rows).expect("points in memory are read without a fault");
        if !rows.are_refused() {
            return Ok(Self::from_sorted(Sorted::of(counted)));
        }
        // A row is at fault, or a score is the negative zero.
        let label = |(row, &class): (usize, &i64)| Ok(check_class(row, class, 2)? == 1);
        let labels: Vec<bool> = classes.iter().enumerate().map(label).collect::<Result<_, _>>()?;
        Ok(Self::from_device_scores(scores, &labels)?.sorted())
    }

    /// At least one packed point.
    pub(crate) fn from_packed(points: Vec<Packed>) -> Self {
        Self { form: Form::Packed(points), kind: ScoreKind::Probability }
    }

    fn from_sorted(points: Sorted) -> Self {
        Self { form: Form::Sorted(points), kind: ScoreKind::Probability }
    }

    /// The same data as the device sees it: every score rounded to the nearest `f32`. What is fitted for a
    /// device must be fitted on this, so that no score changes its bin on the way.
    #[must_use]
    pub fn on_device(mut self) -> Self {
        let Form::Rows(rows) = &mut self.form else { return self };
        for row in rows.iter_mut() {
            row.0 = f64::from(row.0 as f32);
        }
        if self.kind == ScoreKind::Probability && rows.iter().all(|row| row.1 == 1) {
            let pack = |&(score, _, positives): &(f64, u64, u64)| {
                packed::pack(Score::try_from(score).expect("checked before"), positives == 1)
            };
            self.form = Form::Packed(rows.iter().map(pack).collect());
        }
        self
    }

    /// As [`BinaryData::on_device`], [sorted](BinaryData::sorted), without a copy of data that are packed.
    pub(crate) fn as_on_device(&self) -> Cow<'_, Self> {
        if self.is_packed() { Cow::Borrowed(self) } else { Cow::Owned(self.clone().on_device().sorted()) }
    }

    /// The same data in ascending order of their scores, if they are packed and in memory: anyone who asks several questions, such as a fit, how
    /// often scores repeat, and where they lie, sorts once for all of them.
    #[must_use]
    pub fn sorted(self) -> Self {
        match self.form {
            Form::Packed(points) => Self::from_sorted(Sorted::new(points)),
            Form::Sorted(_) | Form::Spilled(_) | Form::Rows(_) => self,
        }
    }

    /// The same data as a device with a table of 16-bit numbers sees it: every probability rounded to the nearest `k / 65535`, and
    /// every margin to the least with the same [upper half of its key](calib_core::Margin::rounded_key).
    ///
    /// # Panics
    ///
    /// If points that do not fit into memory cannot be read back from their temporary file.
    #[must_use]
    pub fn rounded(self) -> Self {
        let rows = match self.form {
            Form::Packed(points) => {
                let row = |point| (rounded(packed::score(point)), 1, packed::label(point).into());
                points.into_iter().map(row).collect()
            }
            Form::Sorted(points) => {
                let row = |point| (rounded(packed::score(point)), 1, packed::label(point).into());
                points.iter().map(row).collect()
            }
            Form::Spilled(points) => {
                let add = |counts: &mut HashMap<u64, (u64, u64)>, part: &[Packed]| {
                    for &point in part {
                        let count = counts.entry(rounded(packed::score(point)).to_bits()).or_default();
                        *count = (count.0 + 1, count.1 + u64::from(packed::label(point)));
                    }
                };
                let counts =
                    points.fold(&HashMap::new, &add, &|_, _| ()).expect("the temporary file is there");
                counts.into_iter().map(|(bits, (n, k))| (f64::from_bits(bits), n, k)).collect()
            }
            Form::Rows(rows) => {
                let rounded = rounded_of(self.kind);
                rows.into_iter().map(|row| (rounded(row.0), row.1, row.2)).collect()
            }
        };
        Self { form: Form::Rows(rows), kind: self.kind }
    }

    /// Looks at where the scores lie, and how often they repeat.
    ///
    /// ```
    /// use calib_fit::BinaryData;
    ///
    /// let data = BinaryData::new(vec![0.25, 0.5, 0.5, 0.75], vec![false, true, false, true])?;
    /// let spread = data.score_summary()?;
    /// assert_eq!((spread.lowest, spread.highest, spread.tied), (0.25, 0.75, 0.5));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`FitError::Spill`] if points that do not fit into memory cannot be read back from their temporary file.
    pub fn score_summary(&self) -> Result<ScoreSummary, FitError> {
        match &self.form {
            Form::Packed(points) => ScoreSummary::of(&Counted::new(&points[..])?),
            Form::Sorted(points) => Ok(ScoreSummary::of_sorted(points)),
            Form::Spilled(points) => ScoreSummary::of(&Counted::new(&**points)?),
            Form::Rows(rows) => ScoreSummary::of(&group(rows.clone())[..]),
        }
    }

    /// Returns the digest of the points with their scores as the device sees them, each a separate row.
    ///
    /// # Errors
    ///
    /// [`FitError::Spill`] if points that do not fit into memory cannot be read back from their temporary file.
    pub fn rows_digest(&self) -> Result<RowsDigest, FitError> {
        match &self.form {
            Form::Packed(points) => points.fold(&RowsDigest::default, &add_packed, &RowsDigest::add_assign),
            Form::Sorted(points) => points.fold(&RowsDigest::default, &add_packed, &RowsDigest::add_assign),
            Form::Spilled(points) => points.fold(&RowsDigest::default, &add_packed, &RowsDigest::add_assign),
            Form::Rows(rows) => {
                let of = |&(score, n, positives): &(f64, u64, u64)| {
                    [(score as f32, true, positives), (score as f32, false, n - positives)]
                };
                Ok(RowsDigest::of_scores(rows.iter().flat_map(of)))
            }
        }
    }

    /// At least one packed point.
    pub(crate) fn from_collected(points: Collected) -> Self {
        Self {
            form: match points {
                Collected::Memory(points) => Form::Sorted(Sorted::new(points)),
                Collected::Spill(spill) => Form::Spilled(spill.into()),
            },
            kind: ScoreKind::Probability,
        }
    }

    /// Returns whether [`BinaryData::on_device`] packed the points, which are probabilities, so that it changes nothing.
    pub fn is_packed(&self) -> bool {
        !matches!(self.form, Form::Rows(_))
    }

    /// Returns whether every score is an `f32`, so that [`BinaryData::on_device`] changes none.
    pub(crate) fn is_on_device(&self) -> bool {
        match &self.form {
            Form::Rows(rows) => rows.iter().all(|row| f64::from(row.0 as f32) == row.0),
            Form::Packed(_) | Form::Sorted(_) | Form::Spilled(_) => true,
        }
    }

    /// Returns what the scores are.
    pub fn kind(&self) -> ScoreKind {
        self.kind
    }

    /// Returns the rows in their order, each as its score, its number of points and how many of them have label 1; `None` if the points
    /// were sorted.
    pub fn rows(&self) -> Option<Box<dyn Iterator<Item = (f64, u64, u64)> + '_>> {
        match &self.form {
            Form::Packed(points) => Some(Box::new(points.iter().map(|&point| row_of(point)))),
            Form::Rows(rows) => Some(Box::new(rows.iter().copied())),
            Form::Sorted(_) | Form::Spilled(_) => None,
        }
    }

    /// Whether every score is 0 or 1 and both occur, and then whether each is its label; not looked at are points on a disk.
    pub(crate) fn classes_as_scores(&self) -> Option<bool> {
        let mut counts = ClassScores::default();
        match &self.form {
            Form::Rows(rows) => counts.add_all(rows.iter().copied()),
            Form::Packed(points) => counts.add_all(points.iter().map(|&point| row_of(point))),
            Form::Sorted(points) => {
                let add = |counts: &mut ClassScores, points: &[Packed]| {
                    counts.add_all(points.iter().map(|&p| row_of(p)))
                };
                counts = points.fold(&ClassScores::default, &add, &ClassScores::merge).ok()?;
            }
            Form::Spilled(_) => return None,
        }
        let ClassScores { agree, differ, others } = counts;
        let both_occur = (0..2).all(|class| agree[class] + differ[class] > 0);
        (others == 0 && both_occur).then_some(differ == [0; 2])
    }

    /// The number of rows; `None` if the points were sorted.
    pub(crate) fn row_count(&self) -> Option<usize> {
        match &self.form {
            Form::Packed(points) => Some(points.len()),
            Form::Rows(rows) => Some(rows.len()),
            Form::Sorted(_) | Form::Spilled(_) => None,
        }
    }

    /// Some of the rows, in the order in which they are given.
    ///
    /// # Panics
    ///
    /// If there are none of them, or no such row, or the points were sorted.
    pub(crate) fn part(&self, rows: &[usize]) -> Self {
        assert!(!rows.is_empty(), "no rows");
        let form = match &self.form {
            Form::Packed(points) => Form::Packed(rows.iter().map(|&row| points[row]).collect()),
            Form::Rows(all) => Form::Rows(rows.iter().map(|&row| all[row]).collect()),
            Form::Sorted(_) | Form::Spilled(_) => panic!("sorted observations have no rows"),
        };
        Self { form, kind: self.kind }
    }

    /// The order of two rows by their scores as the device sees them, then by their labels.
    ///
    /// # Panics
    ///
    /// If there is no such row, or the points were sorted.
    pub(crate) fn compare(&self, a: usize, b: usize) -> Ordering {
        match &self.form {
            Form::Packed(points) => points[a].cmp(&points[b]),
            Form::Rows(rows) => {
                let seen = |row: usize| rows[row].0 as f32 + 0.0;
                seen(a).total_cmp(&seen(b)).then(rows[a].2.cmp(&rows[b].2))
            }
            Form::Sorted(_) | Form::Spilled(_) => panic!("sorted observations have no rows"),
        }
    }

    /// Whether a row stands for several points, or for none.
    pub(crate) fn are_counted(&self) -> bool {
        matches!(&self.form, Form::Rows(rows) if rows.iter().any(|row| row.1 != 1))
    }

    /// Maps runs of groups in ascending order of score, and takes the results in this order.
    pub(crate) fn map_groups_in_order<T: Send>(
        &self,
        map: impl Fn(&mut Groups<'_>) -> T + Sync,
        take: impl FnMut(T) -> Result<(), FitError>,
    ) -> Result<(), FitError> {
        with_points!(self, |points| points.map_runs_in_order(map, take))
    }

    /// The points grouped by score, in ascending order.
    ///
    /// # Errors
    ///
    /// If points on a disk cannot be read back.
    pub(crate) fn score_groups(&self) -> Result<Vec<Group>, FitError> {
        with_points!(self, |points| points.groups())
    }

    pub(crate) fn form(&self) -> &Form {
        &self.form
    }

    /// The number of points, at least 1.
    #[expect(clippy::len_without_is_empty, reason = "never empty")]
    pub fn len(&self) -> u64 {
        match &self.form {
            Form::Packed(points) => points.len() as u64,
            Form::Sorted(points) => points.len(),
            Form::Spilled(points) => points.len(),
            Form::Rows(rows) => rows.iter().map(|row| row.1).sum(),
        }
    }
}

/// Evaluates an expression of points, in whatever form they are.
macro_rules! with_points {
    ($data:expr, |$points:ident| $body:expr) => {
        match $data.form() {
            $crate::data::Form::Packed(points) => {
                let $points = &$crate::points::Counted::new(&points[..])?;
                $body
            }
            $crate::data::Form::Sorted($points) => $body,
            $crate::data::Form::Spilled(points) => {
                let $points = &$crate::points::Counted::new(&**points)?;
                $body
            }
            $crate::data::Form::Rows(rows) => {
                let $points = &$crate::points::group(rows.clone())[..];
                $body
            }
        }
    };
}
pub(crate) use with_points;

/// How many points have the score 0 or 1.
#[derive(Default)]
struct ClassScores {
    /// By score, and with the label that is the same.
    agree: [u64; 2],
    /// By score, and with the other label.
    differ: [u64; 2],
    /// With another score.
    others: u64,
}

impl ClassScores {
    /// Adds rows up to the first with another score, which says all.
    fn add_all(&mut self, rows: impl Iterator<Item = (f64, u64, u64)>) {
        for row in rows {
            if self.others > 0 {
                return;
            }
            self.add(row);
        }
    }

    fn add(&mut self, (score, n, positives): (f64, u64, u64)) {
        match score {
            0.0 => {
                (self.agree[0], self.differ[0]) = (self.agree[0] + n - positives, self.differ[0] + positives)
            }
            1.0 => {
                (self.agree[1], self.differ[1]) = (self.agree[1] + positives, self.differ[1] + n - positives)
            }
            _ => self.others += n,
        }
    }

    fn merge(&mut self, other: Self) {
        for class in 0..2 {
            self.agree[class] += other.agree[class];
            self.differ[class] += other.differ[class];
        }
        self.others += other.others;
    }
}

/// A packed point as a row.
fn row_of(point: Packed) -> (f64, u64, u64) {
    (packed::score(point), 1, packed::label(point).into())
}

fn add_packed(sum: &mut RowsDigest, points: &[Packed]) {
    *sum += RowsDigest::of_scores(points.iter().map(|&p| (packed::score(p) as f32, packed::label(p), 1)));
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Sorting changes no answer.
    #[test]
    fn sorted_data_answer_as_before() {
        let scores: Vec<f32> = (0..5000u32).map(|i| ((i * 40_503) % 997) as f32 / 996.0).collect();
        let labels: Vec<bool> = (0..5000u32).map(|i| i * 40_503 % 7 < 3).collect();
        let data = BinaryData::from_device_scores(&scores, &labels).unwrap();
        let sorted = data.clone().sorted();
        assert!(matches!(sorted.form(), Form::Sorted(_)));
        assert_eq!((sorted.len(), sorted.kind()), (data.len(), data.kind()));
        assert_eq!(
            (sorted.rows_digest(), sorted.score_summary()),
            (data.rows_digest(), data.score_summary())
        );
        let method = crate::BinaryMethod::Isotonic(crate::Isotonic::default());
        assert_eq!(crate::fit_binary(&sorted, &method, 0.1), crate::fit_binary(&data, &method, 0.1));
        let counts = BinaryData::from_counts(vec![(0.5, 3, 1)]).unwrap();
        assert_eq!(counts.clone().sorted(), counts);
    }

    /// The quick way and the plain one say the same, of good rows and of bad ones in any part.
    #[test]
    fn classes_are_labels() {
        const PART_ROWS: usize = 1 << 14;
        let n = 3 * PART_ROWS + 5;
        let scores: Vec<f32> = (0..n).map(|i| (i % 1000) as f32 / 999.0).collect();
        let classes: Vec<i64> = (0..n).map(|i| i64::from(i % 3 == 0)).collect();
        let labels: Vec<bool> = classes.iter().map(|&class| class == 1).collect();
        let plain = BinaryData::from_device_scores(&scores, &labels).map(BinaryData::sorted);
        assert_eq!(BinaryData::from_device_classes(&scores, &classes), plain);
        let mut zero = scores.clone();
        zero[0] = -0.0;
        assert_eq!(BinaryData::from_device_classes(&zero, &classes), plain);
        for row in [0, PART_ROWS, n - 1] {
            for score in [-1.0, 1.0f32.next_up(), f32::NAN] {
                let mut scores = scores.clone();
                scores[row] = score;
                let refused = BinaryData::from_device_classes(&scores, &classes);
                assert_eq!(refused, BinaryData::from_device_scores(&scores, &labels));
                assert!(matches!(refused, Err(DataError::Score { row: at, .. }) if at == row));
            }
            for class in [2, -1, i64::MIN, 1 << 32] {
                let mut classes = classes.clone();
                classes[row] = class;
                let refused = BinaryData::from_device_classes(&scores, &classes);
                assert_eq!(refused, Err(DataError::Class { row, class, classes: 2 }));
            }
        }
        assert_eq!(BinaryData::from_device_classes(&[], &[]), Err(DataError::Empty));
    }

    #[test]
    fn counts_are_checked_and_stand_for_rows() {
        let counts = BinaryData::from_counts(vec![(0.5, 3, 1), (0.1, 0, 0), (0.9, 2, 2)]).unwrap();
        let rows = [(0.5, true), (0.5, false), (0.5, false), (0.9, true), (0.9, true)];
        let rows =
            BinaryData::new(rows.iter().map(|r| r.0).collect(), rows.iter().map(|r| r.1).collect()).unwrap();
        let groups = |data: &BinaryData| match data.form() {
            Form::Rows(rows) => crate::points::group(rows.clone()),
            Form::Packed(_) | Form::Sorted(_) | Form::Spilled(_) => {
                panic!("only scores for the device are packed")
            }
        };
        assert_eq!((counts.len(), groups(&counts)), (rows.len(), groups(&rows)));
        let refused = |row| BinaryData::from_counts(vec![row]);
        assert_eq!(refused((0.5, 1, 2)), Err(DataError::Positives { row: 0, positives: 2, n: 1 }));
        assert_eq!(refused((0.5, 0, 0)), Err(DataError::Empty));
        assert_eq!(refused((0.5, MAX_POINTS + 1, 0)), Err(DataError::TooMany));
    }
}
