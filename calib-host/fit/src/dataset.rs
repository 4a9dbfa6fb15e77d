//! The rows that calibrators are fitted to and assessed by, as one value.

use std::borrow::Cow;
use std::cmp::Ordering;
use std::sync::OnceLock;

use calib_core::ScoreEncoding;

use crate::data::{
    BinaryData, CodeVectors, DataError, Repeats, RowGroups, RowsDigest, ScoreKind, VectorKind, Vectors,
    WeightedData, check_labels, check_lengths, scores_of_codes,
};
use crate::error::FitError;
use crate::points::ScoreSummary;
use crate::stats::{Clusters, Seed};

/// At least one row of scores with what came of it, checked once, and what is known of the rows besides.
///
/// A data set holds binary scores, which may be [more than fit into memory](crate::data::BinaryCollector), or a matrix of several
/// classes. Rows of binary scores may stand for several points, have real weights, or be of groups. Any rows without weights may
/// belong together in clusters. The hash of the rows, how often they repeat and where the scores lie are computed when they are
/// first asked for.
///
/// ```
/// use calib_fit::ScoreKind;
/// use calib_fit::dataset::{Dataset, Rows, Scores};
/// use calib_fit::stats::Clusters;
///
/// let scores = [0.1, 0.4, 0.4, 0.8];
/// let rows = Rows::new(&[0, 0, 1, 1]).clusters(Clusters::new(["ann", "bob", "cid", "bob"]));
/// let data = Dataset::new(Scores::Binary(ScoreKind::Probability, (&scores).into()), rows)?;
/// assert_eq!((data.len(), data.one_row_of_each_cluster(0).map(|drawn| drawn.len())), (4, Some(3)));
///
/// // A score that is no probability names its row.
/// let refused = Dataset::new(Scores::Binary(ScoreKind::Probability, vec![0.5, 1.5].into()), Rows::new(&[0, 1]));
/// assert!(refused.unwrap_err().to_string().starts_with("row 1: "));
/// # Ok::<(), calib_fit::data::DataError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Dataset {
    content: Content,
    encoding: Option<ScoreEncoding>,
    clusters: Option<Clusters>,
    groups: Option<RowGroups>,
    classifiers: u32,
    class_names: Option<Vec<String>>,
    /// Where the scores of each table lie, if a database counted them in two passes.
    score_summaries: Option<Vec<Option<ScoreSummary>>>,
    digest: OnceLock<Result<RowsDigest, FitError>>,
    score_summary: OnceLock<Result<ScoreSummary, FitError>>,
    repeats: OnceLock<Result<Option<Repeats>, FitError>>,
}

/// The scores and outcomes of a [`Dataset`].
#[derive(Clone, Debug)]
pub enum Content {
    /// Scores of class 1 of two. Each row is a point, or stands for several.
    Points(BinaryData),
    /// Scores of class 1 of two with real weights.
    Weighted(WeightedData),
    /// Vectors of floats with the class of each row.
    Vectors(Vectors, Vec<i64>),
    /// Vectors of integer codes with the class of each row.
    Codes(CodeVectors, Vec<i64>),
}

/// Scores in memory. Floats are the device's `f32`: [`device_scores`](crate::data::device_scores) rounds others.
#[derive(Clone, Debug)]
pub enum Scores<'a> {
    /// Of class 1 of two.
    Binary(ScoreKind, Cow<'a, [f32]>),
    /// Integer codes of them.
    Codes(ScoreKind, ScoreEncoding, &'a [i64]),
    /// Of several classes, row by row, with the number of classes.
    Vectors(VectorKind, Vec<f32>, usize),
    /// Integer codes of them.
    CodeVectors(VectorKind, ScoreEncoding, &'a [i64], usize),
}

/// What is known of rows in memory besides their scores.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Rows<'a> {
    /// The class of each row.
    pub labels: &'a [i64],
    /// The weight of each row, from 0 on.
    pub weights: Option<&'a [f64]>,
    /// Which rows belong together.
    pub clusters: Option<Clusters>,
    /// Of which group each row is.
    pub groups: Option<RowGroups>,
    /// By how many classifiers the scores are.
    pub classifiers: u32,
    /// Whether the order of the rows does not matter: probabilities are then sorted at once, which is quicker. A fit does not need the
    /// order. A randomized artifact does: it draws a random word for each row in turn.
    pub in_any_order: bool,
}

impl<'a> Rows<'a> {
    /// Independent rows that count the same, with scores by one classifier.
    pub fn new(labels: &'a [i64]) -> Self {
        Self { labels, weights: None, clusters: None, groups: None, classifiers: 1, in_any_order: false }
    }

    /// The same with a weight for each row.
    #[must_use]
    pub fn weights(self, weights: impl Into<Option<&'a [f64]>>) -> Self {
        Self { weights: weights.into(), ..self }
    }

    /// The same in clusters, which are independent of each other.
    #[must_use]
    pub fn clusters(self, clusters: impl Into<Option<Clusters>>) -> Self {
        Self { clusters: clusters.into(), ..self }
    }

    /// The same in groups, each of which may have a separate table.
    #[must_use]
    pub fn groups(self, groups: impl Into<Option<RowGroups>>) -> Self {
        Self { groups: groups.into(), ..self }
    }

    /// The same in any order, which is quicker for a fit.
    #[must_use]
    pub fn in_any_order(self, in_any_order: bool) -> Self {
        Self { in_any_order, ..self }
    }

    /// The same with scores by so many classifiers, such as those of cross-validation. Of more than one nothing is guaranteed.
    #[must_use]
    pub fn classifiers(self, classifiers: u32) -> Self {
        Self { classifiers, ..self }
    }
}

impl From<Content> for Dataset {
    fn from(content: Content) -> Self {
        Self {
            content,
            encoding: None,
            clusters: None,
            groups: None,
            classifiers: 1,
            class_names: None,
            score_summaries: None,
            digest: OnceLock::new(),
            score_summary: OnceLock::new(),
            repeats: OnceLock::new(),
        }
    }
}

impl From<BinaryData> for Dataset {
    fn from(points: BinaryData) -> Self {
        Content::Points(points).into()
    }
}

impl From<WeightedData> for Dataset {
    fn from(points: WeightedData) -> Self {
        Content::Weighted(points).into()
    }
}

impl Dataset {
    /// Checks rows in memory.
    ///
    /// # Errors
    ///
    /// No rows. Labels, weights, clusters or groups of another number of rows. A score, label or weight that is none. Weights of a
    /// matrix. Or what [`with_clusters`](Self::with_clusters), [`with_groups`](Self::with_groups) and
    /// [`by_classifiers`](Self::by_classifiers) refuse.
    ///
    /// # Panics
    ///
    /// If the number of values of a matrix is not a multiple of its number of classes.
    pub fn new(scores: Scores<'_>, rows: Rows<'_>) -> Result<Self, DataError> {
        let Rows { labels, weights, clusters, groups, classifiers, in_any_order } = rows;
        check_lengths(scores.rows(), labels.len())?;
        weights.map_or(Ok(()), |weights| check_rows("weights", weights.len(), scores.rows()))?;
        let keep_order = !in_any_order || clusters.is_some() || groups.is_some();
        let data = match scores {
            Scores::Binary(kind, scores) => Self::binary(kind, &scores, labels, (weights, keep_order))?,
            Scores::Codes(kind, encoding, codes) => {
                let scores = scores_of_codes(codes, encoding, kind)?;
                Self::binary(kind, &scores, labels, (weights, keep_order))?.in_codes(encoding)
            }
            Scores::Vectors(..) | Scores::CodeVectors(..) if weights.is_some() => {
                return Err(DataError::MatrixWeights);
            }
            Scores::Vectors(kind, values, classes) => {
                Self::of_vectors(Vectors::new(values, classes, kind)?, labels.to_vec())?
            }
            Scores::CodeVectors(kind, encoding, codes, classes) => {
                let vectors = match kind {
                    VectorKind::Probs => CodeVectors::new(codes, classes, encoding),
                    VectorKind::Logits => CodeVectors::of_logits(codes, classes, encoding),
                };
                Self::of_codes(vectors?, labels.to_vec())?
            }
        };
        data.with_clusters(clusters)?.with_groups(groups)?.by_classifiers(classifiers)
    }

    fn binary(
        kind: ScoreKind,
        scores: &[f32],
        labels: &[i64],
        (weights, keep_order): (Option<&[f64]>, bool),
    ) -> Result<Self, DataError> {
        if kind == ScoreKind::Probability && weights.is_none() && !keep_order {
            return Ok(BinaryData::from_device_classes(scores, labels)?.into());
        }
        let labels = check_labels(labels, scores.len(), 2)?.into_iter().map(|label| label == 1);
        if let Some(weights) = weights {
            let rows = scores.iter().zip(weights).zip(labels);
            let rows: Vec<_> = rows.map(|((&score, &weight), label)| (score.into(), weight, label)).collect();
            return Ok(match kind {
                ScoreKind::Probability => WeightedData::new(&rows)?.into(),
                ScoreKind::Margin => WeightedData::of_margins(&rows)?.into(),
            });
        }
        let labels: Vec<bool> = labels.collect();
        Ok(match kind {
            ScoreKind::Probability => BinaryData::from_device_scores(scores, &labels)?.into(),
            ScoreKind::Margin => {
                BinaryData::of_margins(scores.iter().copied().map(f64::from).collect(), labels)?.into()
            }
        })
    }

    /// Puts classes to vectors of floats.
    ///
    /// # Errors
    ///
    /// Another number of labels, or a label that is no class.
    pub fn of_vectors(vectors: Vectors, labels: Vec<i64>) -> Result<Self, DataError> {
        check_labels(&labels, vectors.len(), vectors.classes())?;
        Ok(Content::Vectors(vectors, labels).into())
    }

    /// Puts classes to vectors of codes.
    ///
    /// # Errors
    ///
    /// Another number of labels, or a label that is no class.
    pub fn of_codes(codes: CodeVectors, labels: Vec<i64>) -> Result<Self, DataError> {
        check_labels(&labels, codes.len(), codes.classes())?;
        let encoding = codes.encoding();
        Ok(Self::from(Content::Codes(codes, labels)).in_codes(encoding))
    }

    /// The same binary scores, which stand for integer codes of this encoding on the device.
    #[must_use]
    pub fn in_codes(self, encoding: impl Into<Option<ScoreEncoding>>) -> Self {
        Self { encoding: encoding.into(), ..self }
    }

    /// The same rows with names of the classes, class 0 first.
    #[must_use]
    pub fn with_class_names(self, class_names: Option<Vec<String>>) -> Self {
        Self { class_names, ..self }
    }

    /// Returns the names of the classes, class 0 first, if the labels were text.
    pub fn class_names(&self) -> Option<&[String]> {
        self.class_names.as_deref()
    }

    /// The same rows in clusters, which are independent of each other.
    ///
    /// # Errors
    ///
    /// Clusters of another number of rows, or rows that are weighted or counted.
    ///
    /// # Panics
    ///
    /// If the points were [sorted](BinaryData::sorted), so that no row is known.
    pub fn with_clusters(self, clusters: impl Into<Option<Clusters>>) -> Result<Self, DataError> {
        let Some(clusters) = clusters.into() else { return Ok(self) };
        check_rows("clusters", clusters.rows(), self.row_count())?;
        match &self.content {
            Content::Weighted(_) => Err(DataError::WeightedClusters),
            Content::Points(points) if points.len() != clusters.rows() as u64 => {
                Err(DataError::WeightedClusters)
            }
            _ => Ok(Self { clusters: Some(clusters), ..self }),
        }
    }

    /// The same binary rows in groups.
    ///
    /// # Errors
    ///
    /// Groups of another number of rows, or rows that are weighted, or of several classes.
    ///
    /// # Panics
    ///
    /// If the points were [sorted](BinaryData::sorted), so that no row is known.
    pub fn with_groups(self, groups: impl Into<Option<RowGroups>>) -> Result<Self, DataError> {
        let Some(groups) = groups.into() else { return Ok(self) };
        if !matches!(self.content, Content::Points(_)) {
            return Err(DataError::Groups);
        }
        check_rows("groups", groups.rows(), self.row_count())?;
        Ok(Self { groups: Some(groups), ..self })
    }

    /// The same rows with scores by so many classifiers.
    ///
    /// # Errors
    ///
    /// If there are none.
    pub fn by_classifiers(self, classifiers: u32) -> Result<Self, DataError> {
        match classifiers {
            0 => Err(DataError::NoClassifier),
            classifiers => Ok(Self { classifiers, ..self }),
        }
    }

    /// The number of rows, each of which may stand for several points.
    fn row_count(&self) -> usize {
        match &self.content {
            Content::Points(points) => points.row_count().expect("the observations have their rows"),
            Content::Weighted(points) => points.len() as usize,
            Content::Vectors(vectors, _) => vectors.len(),
            Content::Codes(codes, _) => codes.len(),
        }
    }

    /// Returns the scores and outcomes.
    pub fn content(&self) -> &Content {
        &self.content
    }

    /// Returns the encoding of the codes that scores are on the device; `None` for floats.
    pub fn encoding(&self) -> Option<ScoreEncoding> {
        self.encoding
    }

    /// Returns which rows belong together; `None` if all are independent.
    pub fn clusters(&self) -> Option<&Clusters> {
        self.clusters.as_ref()
    }

    /// Returns of which group each row is; `None` without groups.
    pub fn groups(&self) -> Option<&RowGroups> {
        self.groups.as_ref()
    }

    /// Returns by how many classifiers the scores are.
    pub fn classifiers(&self) -> u32 {
        self.classifiers
    }

    /// The number of points, or of rows with weights or of several classes; at least 1.
    #[expect(clippy::len_without_is_empty, reason = "never empty")]
    pub fn len(&self) -> u64 {
        match &self.content {
            Content::Points(points) => points.len(),
            Content::Weighted(points) => points.len(),
            Content::Vectors(vectors, _) => vectors.len() as u64,
            Content::Codes(codes, _) => codes.len() as u64,
        }
    }

    /// Returns what binary scores are; `None` for several classes.
    pub fn score_kind(&self) -> Option<ScoreKind> {
        match &self.content {
            Content::Points(points) => Some(points.kind()),
            Content::Weighted(points) => Some(points.kind()),
            Content::Vectors(..) | Content::Codes(..) => None,
        }
    }

    /// Returns what the entries of vectors are; `None` for binary scores.
    pub fn vector_kind(&self) -> Option<VectorKind> {
        match &self.content {
            Content::Vectors(vectors, _) => Some(vectors.kind()),
            Content::Codes(codes, _) => Some(codes.kind()),
            Content::Points(_) | Content::Weighted(_) => None,
        }
    }

    /// The points that [two passes](crate::passes) of a database counted, of all rows or by group, with where the scores of each table lie.
    /// Their rows are not known, and the hash is that of no rows.
    #[must_use]
    pub fn of_passes(
        points: BinaryData,
        groups: Option<RowGroups>,
        score_summaries: impl IntoIterator<Item = Option<ScoreSummary>>,
    ) -> Self {
        Self { groups, score_summaries: Some(score_summaries.into_iter().collect()), ..points.into() }
    }

    /// Returns where the scores of each table lie, if a database counted them.
    pub(crate) fn score_summaries(&self) -> Option<&[Option<ScoreSummary>]> {
        self.score_summaries.as_deref()
    }

    /// Whether a database counted the points in two passes.
    pub(crate) fn is_of_passes(&self) -> bool {
        self.score_summaries.is_some()
    }

    /// Returns the digest of all rows, whatever their order and their weights.
    ///
    /// # Errors
    ///
    /// [`FitError::Spill`] if points on a disk cannot be read back.
    pub fn rows_digest(&self) -> Result<RowsDigest, FitError> {
        if self.is_of_passes() {
            return Ok(RowsDigest::default());
        }
        let digest = || match &self.content {
            Content::Points(points) => points.rows_digest(),
            Content::Weighted(points) => Ok(points.rows_digest().clone()),
            Content::Vectors(vectors, labels) => Ok(vectors.rows_digest(labels)),
            Content::Codes(codes, labels) => Ok(codes.rows_digest(labels)),
        };
        self.digest.get_or_init(digest).clone()
    }

    /// Returns where binary scores lie, and how often they repeat; `None` for several classes.
    ///
    /// # Errors
    ///
    /// [`FitError::Spill`] if points on a disk cannot be read back.
    pub fn score_summary(&self) -> Result<Option<ScoreSummary>, FitError> {
        let score_summary = |of: &dyn Fn() -> Result<ScoreSummary, FitError>| {
            self.score_summary.get_or_init(of).clone().map(Some)
        };
        match &self.content {
            Content::Points(points) => score_summary(&|| points.score_summary()),
            Content::Weighted(points) => score_summary(&|| points.score_summary()),
            Content::Vectors(..) | Content::Codes(..) => Ok(None),
        }
    }

    /// Looks whether rows repeat each other so often that they are hardly independent; `None` if not, and of rows that are weighted,
    /// counted or in clusters. Points on a disk are not looked at.
    ///
    /// # Errors
    ///
    /// None for points in memory.
    pub fn repeats(&self) -> Result<Option<Repeats>, FitError> {
        if self.clusters.is_some() || self.is_of_passes() {
            return Ok(None);
        }
        let repeats = || match &self.content {
            Content::Points(points) if !points.are_counted() => Repeats::noticed_in(points),
            Content::Vectors(vectors, labels) => {
                let rows = vectors.top_labels().iter().zip(labels);
                let (scores, hits): (Vec<f32>, Vec<bool>) =
                    rows.map(|(top, &label)| (top.score.get(), i64::from(top.class) == label)).unzip();
                let data = BinaryData::from_device_scores(&scores, &hits).expect("the vectors were checked");
                Repeats::noticed_in(&data)
            }
            Content::Points(_) | Content::Weighted(_) | Content::Codes(..) => Ok(None),
        };
        self.repeats.get_or_init(repeats).clone()
    }

    /// The same with every score rounded to the nearest `f32`, as a device has it.
    pub(crate) fn on_device(&self) -> Cow<'_, Self> {
        let content = match &self.content {
            Content::Points(points) if !points.is_on_device() => Content::Points(points.clone().on_device()),
            Content::Weighted(points) if !points.units().is_on_device() => {
                Content::Weighted(points.clone().on_device())
            }
            _ => return Cow::Borrowed(self),
        };
        let (score_summary, repeats) = (OnceLock::new(), OnceLock::new());
        Cow::Owned(Self { content, score_summary, repeats, ..self.clone() })
    }

    /// Returns the rows of the group with this number; `None` if rows are in no groups, or there is no such group.
    ///
    /// ```
    /// use calib_fit::data::RowGroups;
    /// use calib_fit::{BinaryData, Dataset};
    ///
    /// let data = Dataset::from(BinaryData::new(vec![0.25, 0.5, 0.75], vec![false, true, true])?);
    /// let data = data.with_groups(RowGroups::new(["m", "f", "m"]))?;
    /// assert_eq!(data.of_group(1).map(|men| men.len()), Some(2));
    /// # Ok::<(), calib_fit::data::DataError>(())
    /// ```
    pub fn of_group(&self, group: usize) -> Option<Self> {
        let (groups, Content::Points(points)) = (self.groups.as_ref()?, &self.content) else { return None };
        let rows: Vec<usize> = groups.rows_of(group).collect();
        if rows.is_empty() || points.rows().is_none() {
            return None;
        }
        Some(Self {
            encoding: self.encoding,
            classifiers: self.classifiers,
            clusters: self.clusters.as_ref().map(|clusters| clusters.part(rows.iter().copied())),
            groups: Some(groups.part(rows.iter().copied())),
            ..Content::Points(points.part(&rows)).into()
        })
    }

    /// Draws one row of each cluster, which theorems on independent points are about; `None` if no rows belong together. The contents of
    /// the rows that are drawn depend neither on the order of the rows nor on the names of the clusters.
    pub fn one_row_of_each_cluster(&self, seed: Seed) -> Option<Self> {
        let clusters = self.clusters.as_ref()?;
        let draw = |compare: &dyn Fn(usize, usize) -> Ordering| clusters.one_row_each(seed, compare);
        let content = match &self.content {
            Content::Points(points) => Content::Points(points.part(&draw(&|a, b| points.compare(a, b)))),
            Content::Weighted(_) => unreachable!("weighted rows have no clusters"),
            Content::Vectors(vectors, labels) => {
                let rows = draw(&|a, b| vectors.compare(a, b).then(labels[a].cmp(&labels[b])));
                Content::Vectors(vectors.part(&rows), rows.iter().map(|&row| labels[row]).collect())
            }
            Content::Codes(codes, labels) => {
                let rows = draw(&|a, b| codes.compare(a, b).then(labels[a].cmp(&labels[b])));
                Content::Codes(codes.part(&rows), rows.iter().map(|&row| labels[row]).collect())
            }
        };
        Some(Self { encoding: self.encoding, classifiers: self.classifiers, ..content.into() })
    }
}

impl Scores<'_> {
    /// Returns the number of rows.
    pub fn rows(&self) -> usize {
        match self {
            Self::Binary(_, values) => values.len(),
            Self::Codes(_, _, codes) => codes.len(),
            Self::Vectors(_, values, classes) => values.len() / (*classes).max(1),
            Self::CodeVectors(_, _, codes, classes) => codes.len() / (*classes).max(1),
        }
    }
}

fn check_rows(what: &'static str, rows: usize, scores: usize) -> Result<(), DataError> {
    if rows == scores { Ok(()) } else { Err(DataError::RowCount { what, rows, scores }) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn binary(scores: &[f32], rows: Rows<'_>) -> Result<Dataset, DataError> {
        Dataset::new(Scores::Binary(ScoreKind::Probability, scores.into()), rows)
    }

    #[test]
    fn what_goes_beside_the_scores_has_a_row_for_each() {
        let (scores, labels) = ([0.25, 0.5, 0.75], [0, 1, 1]);
        let of = |rows: Rows<'_>| binary(&scores, rows).map(|data| data.len()).map_err(|e| e.to_string());
        assert_eq!(of(Rows::new(&labels)), Ok(3));
        assert_eq!(of(Rows::new(&labels[1..])), Err("3 rows of scores but 2 labels".into()));
        let weights = [1.0, 2.0];
        assert_eq!(
            of(Rows::new(&labels).weights(&weights[..])),
            Err("3 rows of scores but 2 weights".into())
        );
        let clusters = || Clusters::new(["a", "b"]);
        assert_eq!(
            of(Rows::new(&labels).clusters(clusters())),
            Err("3 rows of scores but 2 clusters".into())
        );
        let weighted = Rows::new(&labels).weights(&[1.0; 3][..]).clusters(Clusters::new([0, 0, 1]));
        assert_eq!(of(weighted), Err(DataError::WeightedClusters.to_string()));
        assert_eq!(of(Rows::new(&labels).classifiers(0)), Err(DataError::NoClassifier.to_string()));
    }

    /// The draw is that of the contents of the rows, whatever form they are kept in.
    #[test]
    fn the_rows_that_are_drawn_do_not_depend_on_the_form_or_the_order() {
        let scores: Vec<f32> = (0..60u16).map(|row| f32::from(row * 37 % 60) / 64.0).collect();
        let labels: Vec<i64> = (0..60).map(|row| i64::from(row % 3 == 0)).collect();
        let of = |kind, rows: &[usize]| {
            let scores: Vec<f32> = rows.iter().map(|&row| scores[row]).collect();
            let labels: Vec<i64> = rows.iter().map(|&row| labels[row]).collect();
            let clusters = Clusters::new(rows.iter().map(|row| row / 4));
            let rows = Rows::new(&labels).clusters(clusters);
            let data = Dataset::new(Scores::Binary(kind, scores.into()), rows).unwrap();
            let drawn = data.one_row_of_each_cluster(7).unwrap();
            assert_eq!(drawn.len(), 15);
            drawn.rows_digest().unwrap()
        };
        let ascending: Vec<usize> = (0..60).collect();
        let descending: Vec<usize> = (0..60).rev().collect();
        let expected = of(ScoreKind::Probability, &ascending);
        assert_eq!(of(ScoreKind::Probability, &descending), expected);
        assert_eq!(of(ScoreKind::Margin, &ascending), expected);
    }

    #[test]
    fn counted_rows_are_in_no_clusters_and_their_repeats_are_no_copies() {
        let counted = BinaryData::from_counts((0..50).map(|row| (f64::from(row) / 64.0, 4, 2)).collect());
        let data = Dataset::from(counted.unwrap());
        assert_eq!((data.len(), data.repeats()), (200, Ok(None)));
        let clusters = Clusters::new(0..50);
        assert_eq!(data.with_clusters(clusters).unwrap_err(), DataError::WeightedClusters);
    }
}
