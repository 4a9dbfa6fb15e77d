//! What a reduction makes of a multi-class problem: binary ones (Gupta and Ramdas 2022, Algorithm 5).

use calib_core::artifact::Reduction;
use calib_core::score::{MAX_CLASSES, MAX_TOP_K};
use calib_core::{Logits, Score, TopLabel};

use super::table::Table;
use crate::data::{
    CodeVectors, DataError, VectorKind, Vectors, check_class, check_labels, clamped_score, rounded_of,
};
use crate::parallel;
use crate::points::{Group, ScoreSummary, group};
use crate::stats::ScoreKind;

/// The binary problems of a reduction, one per table, over `n >= 1` labeled vectors.
///
/// Table by table, in the order of [`Reduction`]: the score of a class, and whether that class is the true one.
#[derive(Clone, Debug, PartialEq)]
pub struct Problems {
    reduction: Reduction,
    classes: usize,
    n: usize,
    scores: ScoreKind,
    /// A table for each problem. Where the reduction conditions on a predicted class, a row is a point of that class's problem
    /// alone.
    tables: Vec<Table>,
    /// The names of the groups, whose problems follow each other; none without groups.
    names: Vec<String>,
}

/// So many rows are divided at once by a thread.
const PART_ROWS: usize = 1 << 12;

impl Problems {
    /// Divides vectors, whose scores are computed as the device does, with labels.
    ///
    /// # Errors
    ///
    /// If labels and vectors differ in number, a label is out of range, or the reduction does not go with the number of
    /// classes.
    pub fn new(vectors: &Vectors, labels: &[i64], reduction: Reduction) -> Result<Self, DataError> {
        let score = |top: &TopLabel| (top.class, f64::from(top.score.get()));
        Self::divide(
            (vectors.rows(), vectors.classes()),
            labels,
            reduction,
            |(at, row), k, first| {
                if k == 1 {
                    // The same as the first of several, and known.
                    return first.push(score(&vectors.top_labels()[at]));
                }
                let mut top = [TopLabel::default(); MAX_TOP_K];
                first.extend(vectors.vector(row).top_k(&mut top[..k]).iter().map(score));
            },
            |row, exps, all| vectors.scores_of(row, exps, all),
        )
    }

    /// The same with the softmax computed in `f64`: the reference for what `f32` costs.
    ///
    /// # Errors
    ///
    /// As [`Problems::new`].
    pub fn in_f64(vectors: &Vectors, labels: &[i64], reduction: Reduction) -> Result<Self, DataError> {
        Self::divide(
            (vectors.rows(), vectors.classes()),
            labels,
            reduction,
            |(_, row), k, first| {
                let scores: Vec<f64> = vectors.scores_f64(row).collect();
                let mut order: Vec<usize> = (0..row.len()).collect();
                // Stable: ties keep the order of the classes.
                order.sort_by(|&a, &b| row[b].total_cmp(&row[a]));
                first.extend(order[..k].iter().map(|&class| (class as u16, scores[class])));
            },
            |row, _, all| all.extend(vectors.scores_f64(row)),
        )
    }

    /// The problems of logits without a softmax: the score of a predicted class is its top-two margin, the largest logit less the second
    /// largest, computed as the device does. The guarantees of [`Reduction::Confidence`] and [`Reduction::TopLabel`] (Gupta and
    /// Ramdas 2022, Theorem 1) hold for any score of the predicted class that was fixed before the calibration rows.
    ///
    /// ```
    /// use calib_core::artifact::Reduction;
    /// use calib_fit::{Problems, VectorKind, Vectors};
    ///
    /// let logits = Vectors::new(vec![0.5, 2.0, 1.5, -1.0, -3.0, -1.5], 3, VectorKind::Logits)?;
    /// let problems = Problems::of_top2_margins(&logits, &[1, 2], Reduction::Confidence)?;
    /// assert_eq!(problems.points(0), [(0.5, true), (0.5, false)]);
    /// # Ok::<(), calib_fit::data::DataError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// As [`Problems::new`], and if the vectors are of probabilities or the reduction is about all classes.
    pub fn of_top2_margins(
        vectors: &Vectors,
        labels: &[i64],
        reduction: Reduction,
    ) -> Result<Self, DataError> {
        check_top2_margins(vectors.kind(), reduction)?;
        let problems = Self::divide(
            (vectors.rows(), vectors.classes()),
            labels,
            reduction,
            |(_, row), _, first| {
                let top = Logits::new(row).expect("checked before").top_label_margin();
                first.push((top.class, top.margin.get().into()));
            },
            |_, _, _| unreachable!("a top-two margin is of the predicted class only"),
        )?;
        Ok(Self { scores: ScoreKind::Margin, ..problems })
    }

    /// The same for logits in integer codes: the top-two margin is an exact difference of codes, times their scale. What is fitted to them
    /// becomes a calibrator of codes by [`Fit::quantized`](crate::fit::Fit::quantized).
    ///
    /// # Errors
    ///
    /// As [`Problems::of_top2_margins`].
    pub fn of_code_margins(
        codes: &CodeVectors,
        labels: &[i64],
        reduction: Reduction,
    ) -> Result<Self, DataError> {
        check_top2_margins(codes.kind(), reduction)?;
        let problems = Self::divide(
            (codes.rows(), codes.classes()),
            labels,
            reduction,
            |(_, row), _, first| {
                let top = codes.top_label_margin(row);
                first.push((top.class(), top.dequantized().into()));
            },
            |_, _, _| unreachable!("a top-two margin is of the predicted class only"),
        )?;
        Ok(Self { scores: ScoreKind::Margin, ..problems })
    }

    /// The problems of vectors of integer codes: a class is predicted by its code, and has the score that the code stands
    /// for. What is fitted to them becomes a calibrator of codes by [`Fit::quantized`](crate::fit::Fit::quantized).
    ///
    /// # Errors
    ///
    /// As [`Problems::new`], and if there are no calibrators of codes under the reduction.
    pub fn of_codes(codes: &CodeVectors, labels: &[i64], reduction: Reduction) -> Result<Self, DataError> {
        if !reduction.takes_codes() {
            return Err(DataError::CodeReduction(reduction));
        }
        if codes.kind() == VectorKind::Logits {
            return Err(DataError::SoftmaxOfCodes);
        }
        Self::divide(
            (codes.rows(), codes.classes()),
            labels,
            reduction,
            |(_, row), _, first| {
                let top = codes.top_label(row);
                first.push((top.class(), clamped_score(top.score()).get().into()));
            },
            |_, _, _| unreachable!("no calibrator of codes takes those of all classes"),
        )
    }

    /// `first` appends the first `k` classes of a row, which has a number, with their scores, `all` the scores of all classes.
    fn divide<'r, T: Sync + 'r>(
        (rows, classes): (impl ExactSizeIterator<Item = &'r [T]>, usize),
        labels: &[i64],
        reduction: Reduction,
        first: impl Fn((usize, &'r [T]), usize, &mut Vec<(u16, f64)>) + Sync,
        all: impl Fn(&'r [T], &mut Vec<f32>, &mut Vec<f64>) + Sync,
    ) -> Result<Self, DataError> {
        let n = rows.len();
        let labels = check_labels(labels, n, classes)?;
        let tables = u16::try_from(classes).ok().and_then(|classes| reduction.tables(classes));
        let tables = tables.ok_or(DataError::Reduction { reduction, classes })?;
        let is_of_all = matches!(reduction, Reduction::ClassWise | Reduction::Normalized);
        let k = reduction.top_k().unwrap_or(1);
        let divide_part = |(part, (rows, labels)): (usize, (&[&'r [T]], &[u16]))| {
            let mut divided = vec![Table::new(); tables];
            let (mut scores, mut ranked) = (Vec::with_capacity(classes), Vec::with_capacity(k));
            let mut exps = Vec::new();
            for (at, (row, &label)) in (part * PART_ROWS..).zip(rows.iter().zip(labels)) {
                if is_of_all {
                    scores.clear();
                    all(row, &mut exps, &mut scores);
                    for (class, (table, &score)) in divided.iter_mut().zip(&scores).enumerate() {
                        table.push(score, class == usize::from(label));
                    }
                    continue;
                }
                ranked.clear();
                first((at, row), k, &mut ranked);
                for (rank, &(class, score)) in ranked.iter().enumerate() {
                    divided[table_of(reduction, classes, rank, class)].push(score, class == label);
                }
            }
            divided
        };
        let rows: Vec<&[T]> = rows.collect();
        let parts = rows.chunks(PART_ROWS).zip(labels.chunks(PART_ROWS));
        let mut divided = vec![Table::new(); tables];
        for part in parallel::map(parts.enumerate(), divide_part) {
            divided.iter_mut().zip(part).for_each(|(table, part)| table.append(part));
        }
        Ok(Self { reduction, classes, n, scores: ScoreKind::Probability, tables: divided, names: Vec::new() })
    }

    /// The problems of [`Reduction::TopLabel`], of a classifier whose predicted classes and their scores are all that is known.
    ///
    /// # Errors
    ///
    /// No rows, different lengths, a number of classes out of range, a class or a score out of range.
    ///
    /// # Panics
    ///
    /// If predictions and scores differ in number.
    pub fn of_predictions(
        predicted: &[u16],
        scores: &[f64],
        labels: &[i64],
        classes: usize,
    ) -> Result<Self, DataError> {
        assert_eq!(predicted.len(), scores.len());
        if !(2..=MAX_CLASSES).contains(&classes) {
            return Err(DataError::ClassCount(classes));
        }
        let labels = check_labels(labels, scores.len(), classes)?;
        let mut tables = vec![Table::new(); classes];
        for (row, ((&class, &score), label)) in predicted.iter().zip(scores).zip(labels).enumerate() {
            check_class(row, class.into(), classes)?;
            Score::try_from(score).map_err(|cause| DataError::Score { row, cause })?;
            tables[usize::from(class)].push(score, class == label);
        }
        let (n, reduction) = (scores.len(), Reduction::TopLabel);
        Ok(Self { reduction, classes, n, scores: ScoreKind::Probability, tables, names: Vec::new() })
    }

    /// The problem of labeled scores of class 1 of two, each for one point.
    ///
    /// # Panics
    ///
    /// If there are not as many labels as scores.
    pub fn of_scores(scores: &[f64], labels: &[bool], kind: ScoreKind) -> Self {
        assert_eq!(scores.len(), labels.len(), "a label for each score");
        let mut table = Table::new();
        scores.iter().zip(labels).for_each(|(&score, &label)| table.push(score, label));
        Self {
            reduction: Reduction::Binary,
            classes: 2,
            n: scores.len(),
            scores: kind,
            tables: vec![table],
            names: Vec::new(),
        }
    }

    /// The same for points counted by score: rows of a score, the number of points, and the number of those with label 1.
    ///
    /// ```
    /// use calib_fit::{Problems, ScoreKind};
    ///
    /// let problems = Problems::of_counts(vec![(0.5, 2, 1), (0.25, 1, 1)], ScoreKind::Probability);
    /// assert_eq!(problems.points(0), [(0.25, true), (0.5, false), (0.5, true)]);
    /// ```
    ///
    /// # Panics
    ///
    /// If a score has more positives than points.
    pub fn of_counts(counts: Vec<(f64, u64, u64)>, kind: ScoreKind) -> Self {
        assert!(counts.iter().all(|row| row.2 <= row.1), "no more positives than observations");
        let table = Table::Grouped(group(counts));
        Self {
            reduction: Reduction::Binary,
            classes: 2,
            n: table.len(),
            scores: kind,
            tables: vec![table],
            names: Vec::new(),
        }
    }

    /// The problems of groups, each of which has separate problems: the probability of a group's table is that in the group.
    ///
    /// ```
    /// use calib_fit::{BinaryMethod, Problems, ReductionOptions, ScoreKind, Umd, fit_reduction};
    ///
    /// let scores: Vec<f64> = (0..100).map(|row| f64::from(row) / 128.0).collect();
    /// let labels: Vec<bool> = (0..100).map(|row| row % 2 == 0).collect();
    /// let of = |rows: std::ops::Range<usize>| {
    ///     Problems::of_scores(&scores[rows.clone()], &labels[rows], ScoreKind::Probability)
    /// };
    /// let problems = Problems::by_group(vec![("f".into(), of(0..60)), ("m".into(), of(60..100))]).unwrap();
    /// let options = ReductionOptions::new(BinaryMethod::Umd(Umd::new(4)));
    /// let fit = fit_reduction(&problems, &options, 0.1)?;
    /// assert_eq!((fit.groups().len(), fit.table_name(1)), (2, "group m".to_owned()));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// `None` if there are fewer than two groups, or they have other reductions, classes or scores, or ones for which a device has no
    /// groups.
    pub fn by_group(groups: Vec<(String, Self)>) -> Option<Self> {
        let (names, parts): (Vec<String>, Vec<Self>) = groups.into_iter().unzip();
        let (first, rest) = parts.split_first().filter(|(_, rest)| !rest.is_empty())?;
        let (reduction, classes, scores) = (first.reduction, first.classes, first.scores);
        let alike = |part: &Self| (part.reduction, part.classes, part.scores) == (reduction, classes, scores);
        if !reduction.takes_codes() || !rest.iter().all(alike) {
            return None;
        }
        let n = parts.iter().map(|part| part.n).sum();
        let tables = parts.into_iter().flat_map(|part| part.tables).collect();
        Some(Self { reduction, classes, n, scores, tables, names })
    }

    /// The names of the groups, whose problems follow each other; none without groups.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// The same problems as a device with a table of 16-bit numbers sees them: every score rounded to the nearest
    /// `k / 65535`, every top-two margin to the least with the same [upper half of its key](calib_core::Margin::rounded_key). Which class is first is decided before.
    #[must_use]
    pub fn rounded(mut self) -> Self {
        let rounded = rounded_of(self.scores);
        self.tables = parallel::map(&self.tables, |table| table.map(rounded));
        self
    }

    /// The reduction.
    pub fn reduction(&self) -> Reduction {
        self.reduction
    }

    /// What the scores are.
    pub fn scores(&self) -> ScoreKind {
        self.scores
    }

    /// The number of classes, at least 2.
    pub fn classes(&self) -> usize {
        self.classes
    }

    /// The number of vectors, at least 1.
    #[expect(clippy::len_without_is_empty, reason = "never empty")]
    pub fn len(&self) -> usize {
        self.n
    }

    /// The number of problems.
    pub fn tables(&self) -> usize {
        self.tables.len()
    }

    /// The points of a problem.
    pub(super) fn table(&self, table: usize) -> &Table {
        &self.tables[table]
    }

    /// The points of a problem grouped by score, in ascending order.
    pub(crate) fn groups(&self, table: usize) -> Vec<Group> {
        self.tables[table].groups()
    }

    /// The number of points of a problem.
    pub(crate) fn table_len(&self, table: usize) -> usize {
        self.tables[table].len()
    }

    /// The points of a problem as (score, whether the class is right), in row order.
    pub fn points(&self, table: usize) -> Vec<(f64, bool)> {
        self.tables[table].points()
    }

    /// Looks at where the scores of each problem lie, and how often they repeat; `None` for a problem without points.
    pub fn score_summaries(&self) -> Vec<Option<ScoreSummary>> {
        parallel::map(&self.tables, |table| table.score_summary())
    }
}

/// Checks that there are top-two margins under the reduction, and logits of which they can be.
fn check_top2_margins(kind: VectorKind, reduction: Reduction) -> Result<(), DataError> {
    if !matches!(reduction, Reduction::Confidence | Reduction::TopLabel) {
        Err(DataError::MarginReduction(reduction))
    } else if kind == VectorKind::Probs {
        Err(DataError::MarginOfProbs)
    } else {
        Ok(())
    }
}

/// The index of the table for a class with a rank, both 0-based.
fn table_of(reduction: Reduction, classes: usize, rank: usize, class: u16) -> usize {
    match reduction {
        Reduction::TopLabel => class.into(),
        Reduction::TopKLabel { .. } => rank * classes + usize::from(class),
        Reduction::TopKConfidence { .. } => rank,
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use calib_core::ScoreEncoding;

    use super::*;

    /// Threads divide parts of the rows; the points keep the order of all.
    #[test]
    fn points_come_in_the_order_of_the_rows() {
        let rows = 2 * PART_ROWS + 5;
        let prob = |row: usize| 0.5 + row as f32 / (1 << 15) as f32;
        let values = (0..rows).flat_map(|row| [prob(row), 1.0 - prob(row), 0.0]).collect();
        let vectors = Vectors::new(values, 3, VectorKind::Probs).unwrap();
        let labels: Vec<i64> = (0..rows).map(|row| i64::from(row % 3 == 0)).collect();
        let problems = Problems::new(&vectors, &labels, Reduction::Confidence).unwrap();
        let expected: Vec<(f64, bool)> = (0..rows).map(|row| (prob(row).into(), row % 3 != 0)).collect();
        assert!(problems.points(0) == expected);
    }

    /// Six points of four classes, as in appendix A.2 of Gupta and Ramdas 2022.
    fn six() -> (Vectors, Vec<i64>) {
        let rows = [
            [0.1, 0.2, 0.6, 0.1],
            [0.4, 0.1, 0.1, 0.4],
            [0.2, 0.6, 0.1, 0.1],
            [0.5, 0.2, 0.2, 0.1],
            [0.1, 0.1, 0.6, 0.2],
            [0.3, 0.3, 0.2, 0.2],
        ];
        let values = rows.iter().flatten().copied().collect();
        (Vectors::new(values, 4, VectorKind::Probs).unwrap(), vec![2, 3, 1, 1, 0, 0])
    }

    fn points(reduction: Reduction) -> Vec<Vec<(f32, bool)>> {
        let (vectors, labels) = six();
        let problems = Problems::new(&vectors, &labels, reduction).unwrap();
        let single = |points: Vec<(f64, bool)>| points.into_iter().map(|(s, hit)| (s as f32, hit)).collect();
        (0..problems.tables()).map(|table| single(problems.points(table))).collect()
    }

    #[test]
    fn each_claim_has_its_own_points() {
        let confidence = [(0.6, true), (0.4, false), (0.6, true), (0.5, false), (0.6, false), (0.3, true)];
        assert_eq!(points(Reduction::Confidence), [confidence.to_vec()]);
        assert_eq!(
            points(Reduction::TopLabel),
            [
                vec![(0.4, false), (0.5, false), (0.3, true)],
                vec![(0.6, true)],
                vec![(0.6, true), (0.6, false)],
                vec![]
            ]
        );
        let class_wise = points(Reduction::ClassWise);
        let class_0 = [(0.1, false), (0.4, false), (0.2, false), (0.5, false), (0.1, true), (0.3, true)];
        assert_eq!(class_wise[0], class_0);
        assert_eq!(class_wise.iter().map(Vec::len).collect::<Vec<_>>(), [6; 4]);
        assert_eq!(points(Reduction::Normalized), class_wise);

        // The second class of each row; of equals the lowest.
        let second = [(0.2, false), (0.4, true), (0.2, false), (0.2, true), (0.2, false), (0.3, false)];
        assert_eq!(points(Reduction::TopKConfidence { k: 2 }), [confidence.to_vec(), second.to_vec()]);
        let by_class = points(Reduction::TopKLabel { k: 2 });
        assert_eq!(by_class[..4], points(Reduction::TopLabel));
        assert_eq!(by_class[4], [(0.2, false)]);
        assert_eq!(by_class[5], [(0.2, false), (0.2, true), (0.3, false)]);
        assert_eq!(by_class[6], []);
        assert_eq!(by_class[7], [(0.4, true), (0.2, false)]);
    }

    #[test]
    fn top2_margins_of_logits_and_of_codes_are_those_of_the_predicted_class() {
        let encoding = ScoreEncoding::I8 { scale: 0.25, zero_point: 10 };
        let codes = [-120i64, 100, 90, 5, 5, 5, 127, -128, 0, -3, -4, 60];
        let logits = codes.map(|code| 0.25 * (code - 10) as f32).to_vec();
        let labels = [1, 2, 0, 0];
        let codes = CodeVectors::of_logits(&codes, 3, encoding).unwrap();
        let logits = Vectors::new(logits, 3, VectorKind::Logits).unwrap();
        for reduction in [Reduction::TopLabel, Reduction::Confidence] {
            let problems = Problems::of_top2_margins(&logits, &labels, reduction).unwrap();
            assert_eq!(Problems::of_code_margins(&codes, &labels, reduction).unwrap(), problems);
            assert_eq!(problems.scores(), ScoreKind::Margin);
        }
        let confidence = Problems::of_top2_margins(&logits, &labels, Reduction::Confidence).unwrap();
        assert_eq!(confidence.points(0), [(2.5, true), (0.0, false), (31.75, true), (15.75, false)]);
        let by_class = Problems::of_top2_margins(&logits, &labels, Reduction::TopLabel).unwrap();
        assert_eq!(by_class.points(0), [(0.0, false), (31.75, true)]);
        for reduction in [Reduction::ClassWise, Reduction::Normalized, Reduction::TopKLabel { k: 2 }] {
            let refused = Err(DataError::MarginReduction(reduction));
            assert_eq!(Problems::of_top2_margins(&logits, &labels, reduction), refused);
            assert_eq!(Problems::of_code_margins(&codes, &labels, reduction), refused);
        }
        let softmax = Problems::of_codes(&codes, &labels, Reduction::TopLabel);
        assert_eq!(softmax, Err(DataError::SoftmaxOfCodes));
        let (probs, labels) = six();
        let of_probs = Problems::of_top2_margins(&probs, &labels, Reduction::TopLabel);
        assert_eq!(of_probs, Err(DataError::MarginOfProbs));
    }

    #[test]
    fn what_does_not_go_together_is_refused() {
        let (vectors, labels) = six();
        for reduction in
            [Reduction::Binary, Reduction::TopKLabel { k: 0 }, Reduction::TopKConfidence { k: 5 }]
        {
            let refused = Problems::new(&vectors, &labels, reduction);
            assert_eq!(refused, Err(DataError::Reduction { reduction, classes: 4 }));
        }
        let refused = Problems::new(&vectors, &labels[1..], Reduction::ClassWise);
        assert_eq!(refused, Err(DataError::LabelCount { scores: 6, labels: 5 }));
        let refused = Problems::new(&vectors, &[0, 1, 2, 3, 4, 0], Reduction::ClassWise);
        assert_eq!(refused, Err(DataError::Class { row: 4, class: 4, classes: 4 }));
    }

    #[test]
    fn f32_and_f64_divide_alike() {
        let values = (0..120).map(|i| ((i * 37) % 101) as f32 / 10.0).collect();
        let vectors = Vectors::new(values, 6, VectorKind::Logits).unwrap();
        let labels: Vec<i64> = (0..20).map(|i| i % 6).collect();
        for reduction in
            [Reduction::ClassWise, Reduction::TopKLabel { k: 3 }, Reduction::TopLabel, Reduction::Confidence]
        {
            let single = Problems::new(&vectors, &labels, reduction).unwrap();
            let double = Problems::in_f64(&vectors, &labels, reduction).unwrap();
            for table in 0..single.tables() {
                let (single, double) = (single.points(table), double.points(table));
                assert_eq!(single.len(), double.len());
                for (a, b) in single.iter().zip(&double) {
                    assert!(a.1 == b.1 && (a.0 - b.0).abs() < 1e-6, "{a:?} {b:?}");
                }
            }
        }
        let tops = vectors.top_labels().iter().map(|top| (top.class, f64::from(top.score.get())));
        let (predicted, scores): (Vec<u16>, Vec<f64>) = tops.unzip();
        assert_eq!(
            Problems::of_predictions(&predicted, &scores, &labels, 6),
            Problems::new(&vectors, &labels, Reduction::TopLabel)
        );
    }

    #[test]
    fn labels_must_be_classes() {
        for class in [3, -1] {
            let refused = Problems::of_predictions(&[0], &[0.5], &[class], 3);
            assert_eq!(refused, Err(DataError::Class { row: 0, class, classes: 3 }));
        }
    }
}
