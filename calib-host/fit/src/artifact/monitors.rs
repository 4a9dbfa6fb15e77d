//! What the monitors of an artifact compare with.

use calib_core::artifact::{ArtifactWriter, Method, MonitorAction, MonitorParts, Reduction, WriteError};
use calib_core::monitor::Reference;
use calib_core::{Artifact, Margin, Score, ScoreEncoding};

use super::kind::score_kind;
use crate::accessors::options;
use crate::binary::{BinaryMethod, BinnedModel, Model, Umd};
use crate::data::{BinaryData, DataError};
use crate::error::FitError;
use crate::fit::{Fit, FittedTable, fit_binary, parameter_of};
use crate::stats::ScoreKind;

/// The parameter that says with how many scores, other than those of the calibration, monitors compare.
pub(crate) const OTHER_SCORES: &str = "monitor-scores";

/// Returns with how many scores, other than those of the calibration, the monitors of an artifact compare; `None` if with those of the
/// calibration, or if it has no monitors.
pub fn monitor_scores(artifact: &Artifact<'_>) -> Option<u64> {
    artifact.monitors()?;
    parameter_of(artifact.header().provenance.parameters, OTHER_SCORES)?.parse().ok()
}

options! {
    /// Which monitors an artifact is written for: how rare the false alarms of a device are, and in which bins its monitors count.
    ///
    /// Each table that is monitored has separate tests, and of L of them any may raise a false alarm. So that a device as a whole raises no
    /// more of them than is asked for, each table's take L times as much evidence (Bonferroni's inequality). But not those of a change where a
    /// prediction falls into one of the tables ([`Monitors::rarities_of_device`](calib_core::artifact::Monitors::rarities_of_device)).
    ///
    /// ```
    /// use calib_core::Artifact;
    /// use calib_fit::artifact::{MonitorBins, Monitoring};
    /// use calib_fit::{ArtifactOptions, BinaryData, BinaryMethod, Isotonic, artifact_bytes, fit_binary};
    ///
    /// let scores = (0..400).map(|i| f64::from(i) / 512.0).collect();
    /// let data = BinaryData::new(scores, (0..400).map(|i| i % 3 == 0).collect())?.on_device();
    /// let fit = fit_binary(&data, &BinaryMethod::Isotonic(Isotonic::default()), 0.1)?;
    /// // The steps of isotonic regression depend on the labels, so that the monitors have separate bins.
    /// let bins = Some(MonitorBins::of(&data, 5)?);
    /// let monitors = Some(Monitoring::default().bins(bins));
    /// let bytes = artifact_bytes(&fit, &ArtifactOptions::default().monitors(monitors))?;
    /// let artifact = Artifact::parse(&bytes).unwrap();
    /// assert_eq!(artifact.monitors().unwrap().reference(0).unwrap().gaps(), 401);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[derive(Clone, Debug, PartialEq, Eq)]
    #[non_exhaustive]
    pub struct Monitoring {
        /// The probability that a device ever wrongly reports scores from another distribution is at most 1 in this number, from 2 up.
        pub shift: u32 = 20,
        /// The mean number of predictions of a device between two of its false alarms of a change is at least this number, from 2 up.
        pub change: u32 = 10_000,
        /// The probability that a device ever wrongly reports a contradicted guarantee is at most 1 in this number, from 2 up.
        pub guarantee: u32 = 100,
        /// Separate bins; `None` for those of uniform-mass tables.
        pub bins: Option<MonitorBins> = None,
        /// What a device does on an alarm of a shift or of the guarantee; `None` if it only tells it. A device that cannot do it refuses the
        /// artifact.
        pub action: Option<MonitorAction> = None,
    }
}

/// Bins of uniform mass, whose edges are order statistics of the calibration scores, or of others, that were chosen without the labels.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MonitorBins {
    kind: ScoreKind,
    /// How many gaps between scores each bin has.
    gaps: Vec<u32>,
    /// The inner edges as keys.
    edges: Vec<u32>,
    /// Whether the scores are others than those of the calibration.
    is_of_other_scores: bool,
}

/// What the monitors of a fit's tables are written with.
pub(crate) struct TableMonitoring {
    /// The gaps of each table; none of a table that is not monitored.
    gaps: Vec<Vec<u32>>,
    /// How rare the false alarms of each table are: of a shift, a change and the guarantee.
    rarities: [u32; 3],
}

/// Why an artifact has no monitors.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum MonitorError {
    /// Equal scores straddle an edge in every table: the next score would not fall into one of n + 1 equally likely gaps.
    #[error(
        "reference scores tie at the edges of a monitor's bins: how new scores fall into these bins is unknown"
    )]
    Ties,
    /// Scores are on a grid, where they tie.
    #[error(
        "scores in {0} tie: how new scores fall into bins is unknown, and only scores in f32 have monitors"
    )]
    Encoding(ScoreEncoding),
    /// Weights of the calibration points say nothing of how new ones fall.
    #[error("the gaps between weighted calibration scores are not equally likely")]
    Weighted,
    /// The bins of the tables depend on the labels.
    #[error("the bins of {0} depend on the labels: monitors need separate bins")]
    NeedsBins(Method),
    /// A calibrator of whole vectors, which has no bins of a score.
    #[error("a calibrator of whole vectors has no bins of a score, in which monitors count")]
    Joint,
    /// Separate bins are of one score, and there are several tables.
    #[error("monitors with separate bins are for calibrators of one score")]
    Reduction,
    /// An action on an alarm, which no device would ever raise.
    #[error(
        "no device counts the predictions of a calibrator by {0}: no action can follow an alert of its monitors"
    )]
    Action(Reduction),
    /// The bins are of another kind of score than the fit.
    #[error("the monitor's bins are for {0}, and the fit is for {1}")]
    Kind(ScoreKind, ScoreKind),
    /// After a change of prevalence calibration scores are no draws from those to come.
    #[error(
        "scores at another prevalence are not draws from the calibration scores: monitors need bins of scores with the new \
         prevalence"
    )]
    OtherScores,
    /// An edge is no `f32`: the bins were made of scores that no device produces.
    #[error("edge {0} of the monitor's bins is not an f32: use scores as the device sees them")]
    Edge(f64),
    /// An alert would need no evidence.
    #[error("the bound 1/{0} on the probability of a false alert is no bound: use at least 2")]
    Rarity(u32),
    /// A false alert of one of the tables would be rarer than the format can state.
    #[error(
        "a bound of 1/{rarity} for {tables} tables together needs a bound {tables} times as low for each table, and the \
         format ends at 1/4294967295: set at most {} instead of {rarity}", u32::MAX / tables
    )]
    Rarest {
        /// The bound for all tables together that was requested.
        rarity: u32,
        /// The tables that are monitored.
        tables: u32,
    },
    /// There are fewer than 2 bins, or more gaps than a monitor counts.
    #[error("a monitor needs at least 2 bins, and at most 2^31 calibration observations")]
    Bins,
    /// There are no bins of uniform mass.
    #[error(transparent)]
    Fit(#[from] FitError),
    /// Scores without labels are none of their kind.
    #[error(transparent)]
    Data(#[from] DataError),
}

impl MonitorBins {
    /// Takes so many bins of uniform mass from the scores. The number has to be set without a look at the labels.
    ///
    /// # Errors
    ///
    /// With scores that tie at an edge, an edge that is no `f32`, fewer than 2 bins, or fewer points than two a bin.
    pub fn of(data: &BinaryData, bins: usize) -> Result<Self, MonitorError> {
        let fit = fit_binary(data, &BinaryMethod::Umd(Umd::new(bins)), 0.5)?;
        let Some(FittedTable { model: Model::Steps(model), .. }) = fit.tables.into_iter().flatten().next()
        else {
            return Err(MonitorError::Bins);
        };
        let key = |edge: &f64| {
            // A rounded edge would be no order statistic.
            let single = Some(*edge as f32).filter(|single| f64::from(*single) == *edge);
            let key = single.and_then(|single| match data.kind() {
                ScoreKind::Probability => Score::new(single).map(Score::to_bits).ok(),
                ScoreKind::Margin => Margin::new(single).map(Margin::key).ok(),
            });
            key.ok_or(MonitorError::Edge(*edge))
        };
        let edges = model.edges.iter().map(key).collect::<Result<_, _>>()?;
        Ok(Self { kind: data.kind(), gaps: gaps(&model)?, edges, is_of_other_scores: false })
    }

    /// The gaps, for the only table, of scores of this kind.
    fn of_one_table(&self, kind: ScoreKind, tables: usize) -> Result<Vec<u32>, MonitorError> {
        match tables {
            1 if self.kind == kind => Ok(self.gaps.clone()),
            1 => Err(MonitorError::Kind(self.kind, kind)),
            _ => Err(MonitorError::Reduction),
        }
    }

    /// Takes so many bins of uniform mass from other scores than those of the calibration, as the device has them: draws from the population
    /// that its predictions are of, such as its own place, or one reading of each patient. Nobody needs to know their labels.
    ///
    /// ```
    /// use calib_fit::ScoreKind;
    /// use calib_fit::artifact::MonitorBins;
    ///
    /// let bins = MonitorBins::of_scores(ScoreKind::Margin, &[-2.0, -1.0, 0.0, 1.0, 3.0], 2)?;
    /// assert_eq!(bins.gaps(), [3, 3]);
    /// # Ok::<(), calib_fit::artifact::MonitorError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// As [`MonitorBins::of`], and with a score that is none of its kind.
    pub fn of_scores(kind: ScoreKind, scores: &[f32], bins: usize) -> Result<Self, MonitorError> {
        // Edges are order statistics, whatever the labels; a fit wants both of them.
        let labels = (0..scores.len()).map(|row| row % 2 == 0).collect();
        let scores = scores.iter().copied().map(f64::from).collect();
        let data = match kind {
            ScoreKind::Probability => BinaryData::new(scores, labels),
            ScoreKind::Margin => BinaryData::of_margins(scores, labels),
        };
        Ok(Self { is_of_other_scores: true, ..Self::of(&data?.on_device(), bins)? })
    }

    /// Returns how many gaps between scores each bin has.
    pub fn gaps(&self) -> &[u32] {
        &self.gaps
    }
}

/// How many of the n + 1 gaps between the calibration scores each bin has: one more than there are points between its edges, which
/// are points themselves.
fn gaps(model: &BinnedModel) -> Result<Vec<u32>, MonitorError> {
    if model.ties_merged {
        return Err(MonitorError::Ties);
    }
    let gaps = model.bins.iter().map(|bin| u32::try_from(bin.n + 1)).collect::<Result<Vec<_>, _>>();
    gaps.ok().filter(|gaps| Reference::new(gaps).is_ok()).ok_or(MonitorError::Bins)
}

impl Monitoring {
    /// Returns what each table of a fit compares with, and how rare its false alarms are.
    pub(super) fn of_tables(&self, fit: &Fit) -> Result<TableMonitoring, MonitorError> {
        self.check(fit.encoding(), fit.reduction)?;
        let gaps = match &self.bins {
            Some(bins) if fit.weighted && !bins.is_of_other_scores => return Err(MonitorError::Weighted),
            None if fit.weighted => return Err(MonitorError::Weighted),
            Some(bins) => vec![bins.of_one_table(fit.scores, fit.tables.len())?],
            None => gaps_of_tables(fit)?,
        };
        self.sharing(gaps, fit.reduction)
    }

    /// Returns the same for an artifact of one table of scores of this kind, whose own bins say nothing of the scores to come.
    pub(crate) fn of_changed(&self, artifact: &Artifact<'_>) -> Result<TableMonitoring, MonitorError> {
        let header = artifact.header();
        self.check(header.encoding, header.reduction)?;
        let bins = self.bins.as_ref().ok_or(MonitorError::OtherScores)?;
        if !bins.is_of_other_scores {
            return Err(MonitorError::OtherScores);
        }
        self.sharing(
            vec![bins.of_one_table(score_kind(artifact), artifact.tables().count())?],
            header.reduction,
        )
    }

    /// Whether scores of this encoding can be monitored, with alarms this rare.
    fn check(&self, encoding: ScoreEncoding, reduction: Reduction) -> Result<(), MonitorError> {
        let rarities = [self.shift, self.change, self.guarantee];
        if let Some(&rarity) = rarities.iter().find(|&&rarity| rarity < 2) {
            return Err(MonitorError::Rarity(rarity));
        }
        if !matches!(encoding, ScoreEncoding::F32 | ScoreEncoding::Margin) {
            return Err(MonitorError::Encoding(encoding));
        }
        if self.action.is_some() && !reduction.has_one_probability() {
            return Err(MonitorError::Action(reduction));
        }
        Ok(())
    }

    /// All tables that have gaps share the false alarms.
    fn sharing(&self, gaps: Vec<Vec<u32>>, reduction: Reduction) -> Result<TableMonitoring, MonitorError> {
        let tables = gaps.iter().filter(|gaps| !gaps.is_empty()).count();
        let tables = u32::try_from(tables).map_err(|_| MonitorError::Bins)?;
        let of_table =
            |rarity: u32| rarity.checked_mul(tables).ok_or(MonitorError::Rarest { rarity, tables });
        let of_change = if reduction.has_one_probability() { self.change } else { of_table(self.change)? };
        let (shift, change, guarantee) = (of_table(self.shift)?, of_change, of_table(self.guarantee)?);
        Ok(TableMonitoring { gaps, rarities: [shift, change, guarantee] })
    }

    /// Returns how many scores other than those of the calibration the monitors compare with.
    pub(crate) fn other_scores(&self) -> Option<u64> {
        let bins = self.bins.as_ref().filter(|bins| bins.is_of_other_scores)?;
        Some(bins.gaps.iter().copied().map(u64::from).sum::<u64>() - 1)
    }

    /// Writes the sections.
    pub(crate) fn write(
        &self,
        tables: &TableMonitoring,
        writer: &mut ArtifactWriter<'_>,
    ) -> Result<(), WriteError> {
        let gaps: Vec<&[u32]> = tables.gaps.iter().map(Vec::as_slice).collect();
        let edges = self.bins.as_ref().map(|bins| [bins.edges.as_slice()]);
        let [shift, change, guarantee] = tables.rarities;
        writer.monitors(&MonitorParts {
            shift,
            change,
            guarantee,
            gaps: &gaps,
            edges: edges.as_ref().map(|edges| &edges[..]),
        })?;
        self.action.map_or(Ok(()), |action| writer.monitor_action(action))
    }
}

/// The gaps of the tables' own bins; none of a table without a fit or with ties at an edge, if others have some.
fn gaps_of_tables(fit: &Fit) -> Result<Vec<Vec<u32>>, MonitorError> {
    if fit.method != Method::Umd {
        return Err(MonitorError::NeedsBins(fit.method));
    }
    let table = |table: &Option<FittedTable>| match table.as_ref().map(|table| &table.model) {
        Some(Model::Steps(model)) => gaps(model),
        _ => Err(MonitorError::Bins),
    };
    let found: Vec<Result<Vec<u32>, MonitorError>> = fit.tables.iter().map(table).collect();
    match found.iter().all(Result::is_err).then(|| found.first()).flatten() {
        Some(Err(error)) => Err(error.clone()),
        _ => Ok(found.into_iter().map(Result::unwrap_or_default).collect()),
    }
}

#[cfg(test)]
mod tests {
    use calib_core::artifact::Reduction;
    use calib_core::monitor::{LogEvidence, ShiftMonitor};
    use proptest::prelude::*;

    use super::*;
    use crate::artifact::{ArtifactOptions, CompileError, artifact_bytes};
    use crate::binary::Isotonic;
    use crate::data::{VectorKind, Vectors, WeightedData};
    use crate::fit::fit_weighted;
    use crate::reduction::{Problems, ReductionOptions, fit_reduction};

    fn monitored(fit: &Fit, monitors: Monitoring) -> Result<Vec<u8>, CompileError> {
        artifact_bytes(fit, &ArtifactOptions { monitors: Some(monitors), ..Default::default() })
    }

    fn refused(fit: &Fit, monitors: Monitoring) -> MonitorError {
        match monitored(fit, monitors) {
            Err(CompileError::Monitors(error)) => error,
            other => panic!("{other:?}"),
        }
    }

    fn umd(bins: usize) -> BinaryMethod {
        BinaryMethod::Umd(Umd::new(bins))
    }

    fn data(scores: impl Iterator<Item = f64>) -> BinaryData {
        let scores: Vec<f64> = scores.collect();
        let labels = (0..scores.len()).map(|row| row % 3 == 0).collect();
        BinaryData::new(scores, labels).unwrap().on_device()
    }

    #[test]
    fn what_says_nothing_of_new_scores_has_no_monitors() {
        let spread = data((0..120).map(|i| f64::from(i) / 128.0));
        let fit = fit_binary(&spread, &umd(4), 0.1).unwrap();
        let bytes = monitored(&fit, Monitoring::default()).unwrap();
        let reference = Artifact::parse(&bytes).unwrap().monitors().unwrap().reference(0).unwrap();
        let mut shift = ShiftMonitor::<4>::new();
        (0..40).for_each(|_| shift.count(0));
        assert!(shift.evidence(&reference) > LogEvidence::of_one_in(20));
        for rarity in [0, 1] {
            let monitors = Monitoring { guarantee: rarity, ..Monitoring::default() };
            assert_eq!(refused(&fit, monitors), MonitorError::Rarity(rarity));
        }
        let tied = data((0..120).map(|i| f64::from(i / 30) / 8.0));
        let tied_fit = fit_binary(&tied, &umd(4), 0.1).unwrap();
        assert_eq!(refused(&tied_fit, Monitoring::default()), MonitorError::Ties);
        assert_eq!(MonitorBins::of(&tied, 4), Err(MonitorError::Ties));
        assert_eq!(MonitorBins::of(&spread, 1), Err(MonitorError::Bins));
        assert!(matches!(MonitorBins::of(&spread, 100), Err(MonitorError::Fit(_))));

        let isotonic = fit_binary(&spread, &BinaryMethod::Isotonic(Isotonic::default()), 0.1).unwrap();
        assert_eq!(refused(&isotonic, Monitoring::default()), MonitorError::NeedsBins(Method::Isotonic));
        let encoding = ScoreEncoding::U8 { scale: 1.0 / 256.0, zero_point: 0 };
        let codes = fit_binary(&spread, &umd(4), 0.1).unwrap().quantized(encoding).unwrap();
        assert_eq!(refused(&codes, Monitoring::default()), MonitorError::Encoding(encoding));
    }

    #[test]
    fn bins_are_those_of_scores_on_the_device() {
        let spread = data((0..120).map(|i| f64::from(i) / 128.0));
        let fit = fit_binary(&spread, &BinaryMethod::Isotonic(Isotonic::default()), 0.1).unwrap();
        let labels: Vec<bool> = (0..120).map(|row| row % 3 == 0).collect();
        let margins = BinaryData::of_margins((0..120).map(f64::from).collect(), labels.clone()).unwrap();
        let bins = Some(MonitorBins::of(&margins, 4).unwrap());
        let kinds = MonitorError::Kind(ScoreKind::Margin, ScoreKind::Probability);
        assert_eq!(refused(&fit, Monitoring { bins, ..Monitoring::default() }), kinds);
        // A hundredth is no f32.
        let exact = BinaryData::new((0..120).map(|i| f64::from(i) / 300.0).collect(), labels).unwrap();
        assert!(matches!(MonitorBins::of(&exact, 4), Err(MonitorError::Edge(_))));

        let rows: Vec<_> = (0..120).map(|i| (f64::from(i) / 128.0, 1.5, i % 3 == 0)).collect();
        let isotonic = BinaryMethod::Isotonic(Isotonic::default());
        let weighted = fit_weighted(&WeightedData::new(&rows).unwrap(), &isotonic, 0.1).unwrap();
        let bins = Some(MonitorBins::of(&spread, 4).unwrap());
        let monitors = Monitoring { bins, ..Monitoring::default() };
        assert!(monitored(&fit, monitors.clone()).is_ok());
        assert_eq!(refused(&weighted, monitors), MonitorError::Weighted);
    }

    #[test]
    fn an_action_is_written_where_a_device_counts() {
        let fit = fit_binary(&data((0..120).map(|i| f64::from(i) / 128.0)), &umd(4), 0.1).unwrap();
        for action in [None, Some(MonitorAction::Alarm), Some(MonitorAction::Uncalibrated)] {
            let bytes = monitored(&fit, Monitoring { action, ..Monitoring::default() }).unwrap();
            assert_eq!(Artifact::parse(&bytes).unwrap().monitor_action(), action);
        }
        let row = |i: usize| {
            let prob = 0.5 + i as f32 / 1024.0;
            let mut row = [(1.0 - prob) / 2.0; 3];
            row[i % 2] = prob;
            row
        };
        let vectors = Vectors::new((0..400).flat_map(row).collect(), 3, VectorKind::Probs).unwrap();
        let labels: Vec<i64> = (0..400).map(|i| i % 2).collect();
        let problems = Problems::new(&vectors, &labels, Reduction::ClassWise).unwrap();
        let options = ReductionOptions { method: umd(4), rows_per_bin: None };
        let fit = fit_reduction(&problems, &options, 0.1).unwrap();
        let monitors = Monitoring { action: Some(MonitorAction::Alarm), ..Monitoring::default() };
        assert_eq!(refused(&fit, monitors), MonitorError::Action(Reduction::ClassWise));
        assert!(monitored(&fit, Monitoring::default()).is_ok());
    }

    /// Under a reduction a class with ties is not monitored, and the others are.
    #[test]
    fn classes_are_monitored_one_by_one() {
        let row = |i: usize| {
            let prob = if i.is_multiple_of(2) { 0.6 } else { 0.5 + i as f32 / 1024.0 };
            let mut row = [(1.0 - prob) / 2.0; 3];
            row[i % 2] = prob;
            row
        };
        let vectors = Vectors::new((0..400).flat_map(row).collect(), 3, VectorKind::Probs).unwrap();
        let labels: Vec<i64> = (0..400).map(|i| i % 3).collect();
        let problems = Problems::new(&vectors, &labels, Reduction::TopLabel).unwrap();
        let options = ReductionOptions { method: umd(4), rows_per_bin: None };
        let fit = fit_reduction(&problems, &options, 0.1).unwrap();
        let bytes = monitored(&fit, Monitoring::default()).unwrap();
        let artifact = Artifact::parse(&bytes).unwrap();
        let monitors = artifact.monitors().unwrap();
        let gaps = [0, 1, 2].map(|class| monitors.reference(class).map(|reference| reference.gaps()));
        assert_eq!(gaps, [None, Some(201), None]);
        assert_eq!(monitors.rarities(), [20, 10_000, 100], "of one table");
        let bins = Some(MonitorBins {
            kind: ScoreKind::Probability,
            gaps: vec![5, 5],
            edges: vec![7],
            is_of_other_scores: false,
        });
        assert_eq!(refused(&fit, Monitoring { bins, ..Monitoring::default() }), MonitorError::Reduction);
    }

    /// The bound of a device is what was asked for, whatever the number of its tables: any of them may raise a false alarm.
    #[test]
    fn tables_share_the_false_alarms() {
        // So many classes are predicted, each with separate scores.
        let fit = |classes: usize, reduction| {
            let row = |i: usize| {
                let prob = 0.5 + i as f32 / 2048.0;
                let mut row = [(1.0 - prob) / 4.0; 5];
                row[i % classes] = prob;
                row
            };
            let vectors = Vectors::new((0..600).flat_map(row).collect(), 5, VectorKind::Probs).unwrap();
            let labels: Vec<i64> = (0..600).map(|i| i % classes as i64).collect();
            let problems = Problems::new(&vectors, &labels, reduction).unwrap();
            fit_reduction(&problems, &ReductionOptions { method: umd(4), rows_per_bin: None }, 0.1).unwrap()
        };
        for tables in 1..=5u32 {
            let bytes = monitored(&fit(tables as usize, Reduction::TopLabel), Monitoring::default()).unwrap();
            let artifact = Artifact::parse(&bytes).unwrap();
            let monitors = artifact.monitors().unwrap();
            assert_eq!((monitors.count(), monitors.monitored()), (5, tables as usize));
            assert_eq!(monitors.rarities(), [20 * tables, 10_000, 100 * tables]);
            assert_eq!(monitors.rarities_of_device(), [20, 10_000, 100]);
            assert_eq!(monitors.alarms().shift, LogEvidence::of_one_in(20 * tables));
        }
        // Where a prediction falls into every table, any of them may tell a change, too.
        let bytes = monitored(&fit(5, Reduction::ClassWise), Monitoring::default()).unwrap();
        let monitors = Artifact::parse(&bytes).unwrap().monitors().unwrap();
        let tables = monitors.monitored() as u32;
        assert!(tables > 1);
        assert_eq!(monitors.rarities(), [20, 10_000, 100].map(|rarity| rarity * tables));
        assert_eq!(monitors.rarities_of_device(), [20, 10_000, 100]);
        let rare = Monitoring { guarantee: u32::MAX / 2, ..Monitoring::default() };
        assert!(monitored(&fit(2, Reduction::TopLabel), rare.clone()).is_ok());
        let error = refused(&fit(3, Reduction::TopLabel), rare);
        assert_eq!(error, MonitorError::Rarest { rarity: u32::MAX / 2, tables: 3 });
        assert!(error.to_string().contains("at most 1431655765 instead of 2147483647"), "{error}");
    }

    /// Scores from elsewhere say how the next ones fall, whatever the calibration points weigh and however they lie.
    #[test]
    fn other_scores_are_compared_with() {
        let calibration = (0..240).map(|i| (f64::from(i) / 512.0, 1.5, i % 3 == 0)).collect::<Vec<_>>();
        let isotonic = BinaryMethod::Isotonic(Isotonic::default());
        let weighted = fit_weighted(&WeightedData::new(&calibration).unwrap(), &isotonic, 0.1).unwrap();
        let next: Vec<f32> = (0..300).map(|i| 0.5 + (i * 77 % 300) as f32 / 600.0).collect();
        let bins = Some(MonitorBins::of_scores(ScoreKind::Probability, &next, 5).unwrap());
        let bytes = monitored(&weighted, Monitoring { bins, ..Monitoring::default() }).unwrap();
        let artifact = Artifact::parse(&bytes).unwrap();
        assert_eq!(monitor_scores(&artifact), Some(300));
        let monitors = artifact.monitors().unwrap();
        let reference = monitors.reference(0).unwrap();
        assert_eq!(reference.each().collect::<Vec<_>>(), [61, 60, 60, 60, 60]);
        // Predictions like them are no shift, and those like the calibration points are one.
        let after = |score: &dyn Fn(u32) -> f32| {
            let mut shift = ShiftMonitor::<5>::new();
            (0..300).for_each(|i| {
                shift.count(monitors.own_bin(0, Score::new(score(i)).unwrap().to_bits()).unwrap())
            });
            shift.evidence(&reference)
        };
        assert!(after(&|i| next[i as usize]) < LogEvidence::of_one_in(2));
        assert!(after(&|i| i as f32 / 640.0) > LogEvidence::of_one_in(1_000_000));

        let margins = MonitorBins::of_scores(ScoreKind::Margin, &next, 5).unwrap();
        let kinds = MonitorError::Kind(ScoreKind::Margin, ScoreKind::Probability);
        assert_eq!(refused(&weighted, Monitoring { bins: Some(margins), ..Monitoring::default() }), kinds);
        let none = |scores: &[f32]| MonitorBins::of_scores(ScoreKind::Probability, scores, 5).unwrap_err();
        assert_eq!(none(&[]), MonitorError::Data(DataError::Empty));
        assert!(matches!(none(&[0.5, 1.5]), MonitorError::Data(DataError::Score { row: 1, .. })));
        assert!(matches!(none(&next[..9]), MonitorError::Fit(_)));
        assert_eq!(none(&[0.5; 50]), MonitorError::Ties);
    }

    proptest! {
        /// Whatever the bins, a bin's gaps are those between its edges: as many as places for one more score that is in it.
        #[test]
        fn gaps_are_the_places_of_the_next_score(
            words in proptest::collection::btree_set(0u32..100_000, 24..120).prop_map(Vec::from_iter), bins in 2usize..9,
            is_margin in any::<bool>(),
        ) {
            let score = |word: u32| if is_margin { f64::from(word) - 50_000.0 } else { f64::from(word) / 131_072.0 };
            let scores: Vec<f64> = words.iter().map(|&word| score(word)).collect();
            let labels = (0..scores.len()).map(|row| row % 3 == 0).collect();
            let data = if is_margin { BinaryData::of_margins(scores.clone(), labels) } else { BinaryData::new(scores.clone(), labels) };
            let data = data.unwrap().on_device();
            let fit = fit_binary(&data, &umd(bins), 0.1).unwrap();
            let own = fit_binary(&data, &BinaryMethod::Isotonic(Isotonic::default()), 0.1).unwrap();
            let own_bins = Some(MonitorBins::of(&data, bins).unwrap());
            let Some(Model::Steps(model)) = fit.tables[0].as_ref().map(|table| &table.model) else { panic!("no steps") };
            // The next score is as likely just above any of the others as below all of them; an edge belongs to the bin above.
            let places = std::iter::once(f64::NEG_INFINITY).chain(scores.iter().copied());
            let mut expected = vec![0; bins];
            places.for_each(|place| expected[model.bin(place)] += 1);
            for (bytes, has_own) in [
                (monitored(&fit, Monitoring::default()).unwrap(), false),
                (monitored(&own, Monitoring { bins: own_bins, ..Monitoring::default() }).unwrap(), true),
            ] {
                let artifact = Artifact::parse(&bytes).unwrap();
                let monitors = artifact.monitors().unwrap();
                prop_assert_eq!(monitors.reference(0), Reference::new(&expected).ok());
                prop_assert_eq!(monitors.rarities(), [20, 10_000, 100]);
                for &found in scores.iter().filter(|_| has_own) {
                    let key = if is_margin { Margin::new(found as f32).unwrap().key() } else { Score::new(found as f32).unwrap().to_bits() };
                    prop_assert_eq!(monitors.own_bin(0, key), Some(model.bin(found)));
                }
            }
        }
    }
}
