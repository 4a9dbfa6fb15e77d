//! What was fitted.

use calib_core::ScoreEncoding;
use calib_core::artifact::{Method, Reduction, Theorem};

use crate::accessors::getters;
use crate::binary::Facts;
use crate::binary::{Bin, Gain, Model};
use crate::error::UnfittedReason;
use crate::guarantee::{Guarantee, GuaranteeBound, exact_interval, interval_epsilon};
use crate::points::ScoreSummary;
use crate::stats::{Interval, ScoreKind, Seed};

/// What was fitted. Its fields are private, so that an artifact guarantees no more than a theorem gave:
///
/// ```
/// # let data = calib_fit::BinaryData::new((0..40).map(f64::from).map(|i| i / 40.0).collect(), vec![false, true].repeat(20))?;
/// # let fit = calib_fit::fit_binary(&data, &calib_fit::BinaryMethod::Umd(calib_fit::Umd::new(2)), 0.1)?;
/// assert_eq!(fit.n(), 40);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// ```compile_fail
/// # let data = calib_fit::BinaryData::new((0..40).map(f64::from).map(|i| i / 40.0).collect(), vec![false, true].repeat(20))?;
/// # let mut fit = calib_fit::fit_binary(&data, &calib_fit::BinaryMethod::Umd(calib_fit::Umd::new(2)), 0.1)?;
/// fit.n = 1_000_000;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Fit {
    pub(crate) method: Method,
    pub(crate) reduction: Reduction,
    pub(crate) classes: usize,
    pub(crate) n: u64,
    pub(crate) positives: Option<u64>,
    pub(crate) tables: Vec<Option<FittedTable>>,
    pub(crate) unfitted: Vec<Unfitted>,
    pub(crate) guarantee: Option<Guarantee>,
    pub(crate) papers: Option<Theorem>,
    pub(crate) parameters: String,
    pub(crate) scores: ScoreKind,
    pub(crate) compact: bool,
    pub(crate) weighted: bool,
    pub(crate) groups: Vec<String>,
}

getters! {
    Fit {
        /// The binary method.
        method: Method,
        /// The reduction it was applied under.
        reduction: Reduction,
        /// The number of classes: 2 without a reduction.
        classes: usize,
        /// The number of calibration points.
        n: u64,
        /// The number of calibration points with label 1; `None` for several classes, and for points with real weights.
        positives: Option<u64>,
        /// What is guaranteed, if anything; its epsilon is the largest of the tables'.
        guarantee: Option<Guarantee>,
        /// What the tables' scores are; of a table over codes what the codes stand for.
        scores: ScoreKind,
        /// Whether it is meant for a table of 16-bit numbers: see [`Fit::into_u16_table`].
        compact: bool,
        /// Whether the points had real weights. The counts of bins are then shares of the total weight, not numbers of
        /// points, and nothing is guaranteed.
        weighted: bool,
        ;
        /// The binary models, one per problem of the reduction, in the order of [`Reduction`]; `None` for one that stays
        /// uncalibrated.
        tables: [Option<FittedTable>],
        /// Why those stay uncalibrated.
        unfitted: [Unfitted],
        /// The parameters, as `name=value` separated by spaces.
        parameters: str,
        /// The names of the groups, each of which has as many tables as the reduction, group by group; none without groups.
        groups: [String],
    }
}

/// A binary model and what is guaranteed for it.
#[derive(Clone, Debug, PartialEq)]
pub struct FittedTable {
    pub(crate) model: Model,
    pub(crate) n: u64,
    pub(crate) epsilon: Option<f64>,
    pub(crate) papers_epsilon: Option<f64>,
    pub(crate) intervals: Vec<Interval>,
    pub(crate) score_summary: Option<ScoreSummary>,
}

getters! {
    FittedTable {
        /// The number of calibration points of this table, boundary points included.
        n: u64,
        /// The largest deviation of a value at the fit's alpha; `None` if nothing is guaranteed.
        epsilon: Option<f64>,
        /// Where the scores lie that it was fitted to, and how often they repeat, if that was [looked at](Fit::with_score_summaries).
        score_summary: Option<ScoreSummary>,
        ;
        /// The function.
        model: Model,
        /// The exact (Clopper-Pearson) intervals of the bins, all of which hold with at least `1 - alpha` probability where
        /// epsilon is stated; empty where it is not. An exact epsilon holds whenever they do. One by Hoeffding's inequality and the
        /// intervals hold simultaneously with at least `1 - 2 alpha` probability.
        intervals: [Interval],
    }
}

/// A binary problem that stays uncalibrated.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Unfitted {
    /// The index of its table.
    pub table: usize,
    /// Why.
    pub reason: UnfittedReason,
}

impl Fit {
    /// Tells whether the score of a predicted class is its top-two margin: the largest logit less the second largest.
    pub fn is_by_top2_margin(&self) -> bool {
        self.scores == ScoreKind::Margin && self.reduction != Reduction::Binary
    }
}

impl FittedTable {
    /// Whether it was fitted to the points of all tables, because its own are too few.
    pub fn is_of_all_tables(&self) -> bool {
        matches!(&self.model, Model::Tabulated(table) if table.of_all_tables)
    }

    /// A model with what is guaranteed: exactly where that is possible, otherwise by its paper's theorem, whose epsilon this is.
    pub(crate) fn new(
        model: Model,
        n: u64,
        facts: &Facts,
        papers_epsilon: Option<f64>,
        (all_bins, alpha): (u64, f64),
    ) -> Self {
        let is_exact = facts.has_exact_intervals();
        let exact = |bin: &Bin| exact_interval(bin.positives, bin.n, alpha / all_bins as f64);
        let intervals: Vec<Interval> = match is_exact || papers_epsilon.is_some() {
            true => model.bins().iter().map(exact).collect(),
            false => Vec::new(),
        };
        let filled = model.bins().iter().zip(&intervals).filter(|(bin, _)| bin.n > 0);
        let largest = filled.map(|(bin, &interval)| interval_epsilon(bin.value, interval)).reduce(f64::max);
        let epsilon = if is_exact { largest } else { papers_epsilon };
        Self { epsilon, papers_epsilon, intervals, ..Self::bare(model, n) }
    }

    /// A model for which nothing is guaranteed.
    pub(crate) fn bare(model: Model, n: u64) -> Self {
        Self { model, n, epsilon: None, papers_epsilon: None, intervals: Vec::new(), score_summary: None }
    }

    /// The bins with an exact interval that hold at most two positives or at most two negatives in all.
    pub fn bins_with_few_events(&self) -> Vec<usize> {
        const FEW: u64 = 2;
        let bins = self.model.bins().iter().zip(&self.intervals).enumerate();
        let has_few = |bin: &Bin| bin.n > 0 && bin.positives.min(bin.n - bin.positives) <= FEW;
        bins.filter(|(_, (bin, _))| has_few(bin)).map(|(index, _)| index).collect()
    }
}

impl Fit {
    /// The same with the epsilon of this bound: exact as it was fitted, or as the paper of the method states it. Where the paper's
    /// theorem does not hold, which is so for `umd` if equal scores straddle an edge, Hoeffding's bound guarantees nothing.
    ///
    /// ```
    /// use calib_fit::guarantee::{GuaranteeBound, gr21_theorem3};
    /// use calib_fit::{BinaryData, BinaryMethod, Umd, fit_binary};
    ///
    /// let scores: Vec<f64> = (0..400).map(|i| f64::from(i) / 400.0).collect();
    /// let data = BinaryData::new(scores, (0..400).map(|i| i % 40 < i / 20).collect())?;
    /// let fit = fit_binary(&data, &BinaryMethod::Umd(Umd::new(4)), 0.1)?;
    /// let exact = fit.guarantee().unwrap().epsilon;
    /// let fit = fit.bounded_by(GuaranteeBound::Hoeffding);
    /// assert_eq!(fit.guarantee().unwrap().epsilon, gr21_theorem3(100, 4, 0.1));
    /// assert!(exact < 0.84 * fit.guarantee().unwrap().epsilon);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn bounded_by(mut self, bound: GuaranteeBound) -> Self {
        if bound == GuaranteeBound::Exact {
            return self;
        }
        for table in self.tables.iter_mut().flatten() {
            table.epsilon = table.papers_epsilon;
            if table.epsilon.is_none() {
                table.intervals.clear();
            }
        }
        let epsilon = self.tables.iter().flatten().filter_map(|table| table.epsilon).reduce(f64::max);
        let papers = self.papers.zip(epsilon);
        self.guarantee = self.guarantee.and_then(|Guarantee { alpha, .. }| {
            papers.map(|(theorem, epsilon)| Guarantee { theorem, alpha, epsilon })
        });
        self
    }

    /// States what a fit at [`divided`] alpha guarantees although it was chosen, by the same labels, among so many candidates that
    /// were fixed before: each of them fails with a probability of at most `alpha / candidates`, so any with at most
    /// `alpha` (union bound).
    ///
    /// ```
    /// use calib_fit::{BinaryData, BinaryMethod, Umd, fit::divided, fit_binary};
    ///
    /// let scores: Vec<f64> = (0..400).map(|i| f64::from(i) / 400.0).collect();
    /// let data = BinaryData::new(scores, (0..400).map(|i| i % 40 < i / 20).collect())?;
    /// let fit = fit_binary(&data, &BinaryMethod::Umd(Umd::new(4)), divided(0.1, 10))?.chosen_among(10, 0.1);
    /// assert_eq!(fit.guarantee().unwrap().alpha, 0.1);
    /// assert_eq!(fit.parameters(), "alpha=0.1 candidates=10 bins=4 boundary=ceil");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn chosen_among(mut self, candidates: u32, alpha: f64) -> Self {
        if candidates <= 1 {
            return self;
        }
        if let Some(guarantee) = &mut self.guarantee {
            guarantee.alpha = alpha;
        }
        // Alpha comes first: it is that of the fit.
        let others =
            self.parameters.split_once(' ').map_or(String::new(), |(_, others)| format!(" {others}"));
        self.parameters = format!("alpha={alpha} candidates={candidates}{others}");
        self
    }

    /// Records where the scores of each table's points lie, in the order of the tables: an artifact then tells the device the range
    /// of the scores, at 8 bytes a table and 8 more, and the guarantee how often they repeat.
    /// [`BinaryData::score_summary`](crate::data::BinaryData::score_summary) and
    /// [`Problems::score_summaries`](crate::reduction::Problems::score_summaries) look at them.
    #[must_use]
    pub fn with_score_summaries(
        mut self,
        score_summaries: impl IntoIterator<Item = Option<ScoreSummary>>,
    ) -> Self {
        for (table, score_summary) in self.tables.iter_mut().zip(score_summaries) {
            if let Some(table) = table {
                table.score_summary = score_summary;
            }
        }
        self
    }

    /// Records the sum of the alphas of earlier calibrations that were in the field: each of them may have failed, too.
    #[must_use]
    pub fn after_spending(mut self, alpha_spent: f64) -> Self {
        if alpha_spent > 0.0 {
            self.parameters += &format!(" alpha-spent={alpha_spent}");
        }
        self
    }

    /// A fit of functions that others fitted to `n` points: one, or one a class whose values are divided by their sum. Nothing is
    /// guaranteed for it, and its parameters say where it comes from.
    pub fn imported(functions: Vec<(Method, Model)>, scores: ScoreKind, n: u64, origin: &str) -> Self {
        let method = functions.first().map_or(Method::Isotonic, |(method, _)| *method);
        let is_binary = functions.len() == 1;
        Self {
            method,
            reduction: if is_binary { Reduction::Binary } else { Reduction::Normalized },
            classes: if is_binary { 2 } else { functions.len() },
            n,
            positives: None,
            tables: functions.into_iter().map(|(_, model)| Some(FittedTable::bare(model, n))).collect(),
            unfitted: Vec::new(),
            guarantee: None,
            papers: None,
            parameters: format!("imported={origin}"),
            scores,
            compact: false,
            weighted: false,
            groups: Vec::new(),
        }
    }

    /// What the blend of the one table gains over the unchanged scores; `None` if there is no such blend.
    pub fn blend_gain(&self) -> Option<Gain> {
        let [Some(table)] = &self.tables[..] else { return None };
        let Model::Tabulated(steps) = &table.model else { return None };
        steps.gain.filter(|_| !steps.weights.is_empty())
    }

    /// The same, fitted to one row of each cluster of so many rows, drawn with this seed: recorded in the parameters, so that all
    /// that is said of the fit says so.
    #[must_use]
    pub fn of_clusters(mut self, rows: u64, seed: Seed) -> Self {
        self.parameters = of_clusters(&self.parameters, rows, seed);
        self
    }

    /// The same, fitted to scores by so many classifiers, such as those of cross-validation, where each is fitted to the rows outside its
    /// fold. A theorem is about the classifier that the scores come from, so nothing is guaranteed of another one, which is kept:
    /// neither epsilon nor intervals are left, and the parameters record why. Scores by one classifier change nothing.
    ///
    /// ```
    /// use calib_fit::{BinaryData, BinaryMethod, Umd, fit_binary};
    ///
    /// let scores: Vec<f64> = (0..400).map(|i| f64::from(i) / 400.0).collect();
    /// let data = BinaryData::new(scores, (0..400).map(|i| i % 40 < i / 20).collect())?;
    /// let fit = fit_binary(&data, &BinaryMethod::Umd(Umd::new(4)), 0.1)?;
    /// assert!(fit.clone().of_classifiers(1).guarantee().is_some());
    /// let fit = fit.of_classifiers(5);
    /// assert!(fit.guarantee().is_none() && fit.parameters().ends_with(" classifiers=5"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn of_classifiers(mut self, classifiers: u32) -> Self {
        if classifiers <= 1 {
            return self;
        }
        self.guarantee = None;
        for table in self.tables.iter_mut().flatten() {
            table.epsilon = None;
            table.intervals.clear();
        }
        self.parameters = format!("{} classifiers={classifiers}", self.parameters).trim_start().into();
        self
    }

    /// What kind of number the tables take.
    pub fn encoding(&self) -> ScoreEncoding {
        let first = self.tables.iter().flatten().next();
        let of_floats = self.scores.encoding(self.compact);
        first.and_then(|table| table.model.code_encoding()).unwrap_or(of_floats)
    }

    /// The number of bins over all tables.
    pub fn bins(&self) -> usize {
        self.tables.iter().flatten().map(|table| table.model.len()).sum()
    }

    /// The label of all points that count, if they have one only, so that every probability is 0 or 1 and known on one side;
    /// `None` under a reduction.
    pub fn one_label(&self) -> Option<bool> {
        let (Reduction::Binary, [Some(table)]) = (self.reduction, &self.tables[..]) else { return None };
        let sum = |of: fn(&Bin) -> u64| table.model.bins().iter().map(of).sum::<u64>();
        match (sum(|bin| bin.positives), sum(|bin| bin.n)) {
            (_, 0) => None,
            (0, _) => Some(false),
            (positives, n) => (positives == n).then_some(true),
        }
    }

    /// What a table is for: `class 3`, `rank 1` or `rank 1, class 3`, ranks from 1 on; with groups `group f` or `group f, class 3`.
    pub fn table_name(&self, table: usize) -> String {
        let names: Vec<&str> = self.groups.iter().map(String::as_str).collect();
        grouped_table_name(self.reduction, self.classes, &names, self.tables.len(), table)
    }

    /// The tables in which equal scores straddled a boundary.
    pub fn tied_tables(&self) -> impl Iterator<Item = usize> {
        let tied = |table: &Option<FittedTable>| table.as_ref().is_some_and(|t| t.model.ties_merged());
        self.tables.iter().enumerate().filter(move |(_, table)| tied(table)).map(|(index, _)| index)
    }
}

/// Returns the alpha at which each of so many candidates is fitted, so that all hold simultaneously at the alpha that an artifact
/// states.
pub fn divided(alpha: f64, candidates: u32) -> f64 {
    match candidates {
        0 | 1 => alpha,
        candidates => stated_alpha(alpha) / f64::from(candidates),
    }
}

/// Returns the failure probability for which an artifact's bounds are computed: not above the f32 in which the artifact states
/// alpha, so that what it states holds.
pub(crate) fn stated_alpha(alpha: f64) -> f64 {
    alpha.min((alpha as f32).into())
}

/// The parameters of a fit to one row of each cluster of so many rows.
pub(crate) fn of_clusters(parameters: &str, rows: u64, seed: Seed) -> String {
    format!("{parameters} cluster-rows={rows} cluster-seed={seed}").trim_start().into()
}

/// Reads from the parameters of a fit, which are `name=value` separated by spaces, the value of this name; `None` if there is no
/// such parameter.
///
/// ```
/// use calib_fit::fit::parameter_of;
///
/// let parameters = "alpha=0.1 bins=2 cluster-rows=80 cluster-seed=0";
/// assert_eq!(parameter_of(parameters, "cluster-rows"), Some("80"));
/// assert_eq!(parameter_of(parameters, "rows"), None);
/// ```
pub fn parameter_of<'p>(parameters: &'p str, name: &str) -> Option<&'p str> {
    let mut pairs = parameters.split(' ').filter_map(|pair| pair.split_once('='));
    pairs.find_map(|(found, value)| (found == name).then_some(value))
}

/// What a table of a reduction is for: `class 3`, `rank 1` or `rank 1, class 3`, ranks from 1 on; `the table` if there is
/// one only.
///
/// ```
/// use calib_core::artifact::Reduction;
///
/// assert_eq!(calib_fit::fit::table_name(Reduction::TopLabel, 10, 3), "class 3");
/// ```
pub fn table_name(reduction: Reduction, classes: usize, table: usize) -> String {
    match reduction {
        Reduction::TopLabel | Reduction::ClassWise | Reduction::Normalized => format!("class {table}"),
        Reduction::TopKLabel { .. } => format!("rank {}, class {}", table / classes + 1, table % classes),
        Reduction::TopKConfidence { .. } => format!("rank {}", table + 1),
        _ => "the table".into(),
    }
}

/// Returns what one of `tables` tables is for where each of these groups has as many: as [`table_name`], with the group; without groups
/// the same.
pub fn grouped_table_name(
    reduction: Reduction,
    classes: usize,
    groups: &[&str],
    tables: usize,
    table: usize,
) -> String {
    let per_group = tables.checked_div(groups.len()).unwrap_or(0);
    match groups.get(table.checked_div(per_group).unwrap_or(usize::MAX)) {
        Some(name) if per_group == 1 => format!("group {name}"),
        Some(name) => format!("group {name}, {}", table_name(reduction, classes, table % per_group)),
        None => table_name(reduction, classes, table),
    }
}
