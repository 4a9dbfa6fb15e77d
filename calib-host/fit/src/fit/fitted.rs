//! What was fitted.

use calib_core::ScoreEncoding;
use calib_core::artifact::{Method, Reduction};

use crate::binary::{Bin, Model, in_compact_table};
use crate::error::UnfittedReason;
use crate::guarantee::Guarantee;
use crate::stats::{Interval, Seed, clopper_pearson};

/// What was fitted.
#[derive(Clone, Debug, PartialEq)]
pub struct Fit {
    /// The binary method.
    pub method: Method,
    /// The reduction it was applied under.
    pub reduction: Reduction,
    /// The number of classes: 2 without a reduction.
    pub classes: usize,
    /// The number of calibration points.
    pub n: u64,
    /// The binary models, one per problem of the reduction, in the order of [`Reduction`]; `None` for one that stays
    /// uncalibrated.
    pub tables: Vec<Option<FittedTable>>,
    /// Why those stay uncalibrated.
    pub unfitted: Vec<Unfitted>,
    /// What is guaranteed, if anything; its epsilon is the largest of the tables'.
    pub guarantee: Option<Guarantee>,
    /// The parameters, as `name=value` separated by spaces.
    pub parameters: String,
    /// Whether it is meant for a table of 16-bit numbers: see [`Fit::compacted`].
    pub compact: bool,
    /// Whether the points had real weights. The counts of bins are then shares of the total weight, not numbers of
    /// points, and nothing is guaranteed.
    pub weighted: bool,
}

/// A binary model and what is guaranteed for it.
#[derive(Clone, Debug, PartialEq)]
pub struct FittedTable {
    /// The function.
    pub model: Model,
    /// The number of calibration points of this table, boundary points included.
    pub n: u64,
    /// The largest deviation of a value at the fit's alpha; `None` if nothing is guaranteed.
    pub epsilon: Option<f64>,
    /// The exact (Clopper-Pearson) intervals of the bins, all of which hold with probability `1 - alpha` where epsilon
    /// does; empty where it does not.
    pub intervals: Vec<Interval>,
}

/// A binary problem that stays uncalibrated.
#[derive(Clone, Debug, PartialEq)]
pub struct Unfitted {
    /// The index of its table.
    pub table: usize,
    /// Why.
    pub reason: UnfittedReason,
}

impl FittedTable {
    pub(crate) fn new(model: Model, n: u64, epsilon: Option<f64>, all_bins: u64, alpha: f64) -> Self {
        let intervals = match epsilon {
            Some(_) => {
                let exact = |bin: &Bin| clopper_pearson(bin.positives, bin.n, alpha / all_bins as f64);
                model.bins().iter().map(exact).collect()
            }
            None => Vec::new(),
        };
        Self { model, n, epsilon, intervals }
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
    /// The same, fitted to one row of each cluster of so many rows, drawn with this seed: recorded in the parameters, so that all
    /// that is said of the fit says so.
    #[must_use]
    pub fn of_clusters(mut self, rows: u64, seed: Seed) -> Self {
        self.parameters = of_clusters(&self.parameters, rows, seed);
        self
    }

    /// What kind of number the tables take.
    pub fn encoding(&self) -> ScoreEncoding {
        let of_table = self.tables.iter().flatten().next().map_or(ScoreEncoding::F32, |t| t.model.encoding());
        if self.compact { in_compact_table(of_table) } else { of_table }
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

    /// What a table is for: `class 3`, `rank 1` or `rank 1, class 3`, ranks from 1 on.
    pub fn table_name(&self, table: usize) -> String {
        table_name(self.reduction, self.classes, table)
    }

    /// The tables in which equal scores straddled a boundary.
    pub fn tied_tables(&self) -> impl Iterator<Item = usize> {
        let tied = |table: &Option<FittedTable>| table.as_ref().is_some_and(|t| t.model.ties_merged());
        self.tables.iter().enumerate().filter(move |(_, table)| tied(table)).map(|(index, _)| index)
    }
}

/// The parameters of a fit to one row of each cluster of so many rows.
pub(crate) fn of_clusters(parameters: &str, rows: u64, seed: Seed) -> String {
    format!("{parameters} cluster-rows={rows} cluster-seed={seed}").trim_start().into()
}

/// Reads from the parameters of a fit how many rows there were of which one in each cluster was fitted to; `None` if every row
/// was.
///
/// ```
/// assert_eq!(calib_fit::fit::cluster_rows_of("alpha=0.1 bins=2 cluster-rows=80 cluster-seed=0"), Some(80));
/// ```
pub fn cluster_rows_of(parameters: &str) -> Option<u64> {
    parameters.split(' ').find_map(|parameter| parameter.strip_prefix("cluster-rows=")?.parse().ok())
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
