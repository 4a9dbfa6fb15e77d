//! The columns that `calib apply` writes.

use std::borrow::Cow;

use calib_core::artifact::{Method, Reduction};
use calib_core::{Artifact, Calibrated};
use calib_fit::apply::{Applied, AppliedClasses, AppliedRow};
use calib_io::output::{NewColumn, Values};

/// What every calibrated probability has.
const PROB: [&str; 4] = ["prob", "bin", "epsilon", "flags"];
/// What intervals add.
const INTERVAL: [&str; 2] = ["lo", "hi"];
/// What a band adds.
const BAND: [&str; 2] = ["band_lo", "band_hi"];
/// The probabilities of Venn-Abers with either label, which are no confidence interval.
const VENN_ABERS: [&str; 2] = ["p0", "p1"];
/// What a randomized artifact adds.
const WORD: &str = "word";
/// What decision rules, thresholds and prediction sets add: of sets the classes, separated by spaces, and their number.
const ACTION: &str = "action";
const VERDICT: &str = "verdict";
const SET: [&str; 2] = ["set", "set_size"];

/// What an artifact says of rows, as columns.
#[derive(Clone, Copy)]
pub(crate) struct AppliedColumns<'a> {
    artifact: Artifact<'a>,
    /// The names of the two columns beside a probability, if there are such.
    pair: Option<[&'static str; 2]>,
    /// Whether each class of several shows its evidence.
    evidence: bool,
}

impl<'a> AppliedColumns<'a> {
    pub(crate) fn of(artifact: Artifact<'a>, evidence: bool) -> Self {
        let is_venn_abers =
            artifact.header().method == Method::VennAbers && artifact.score_intervals().is_none();
        let pair = if is_venn_abers { VENN_ABERS } else { INTERVAL };
        let pair = artifact.tables().has_intervals().then_some(pair);
        Self { artifact, pair, evidence }
    }

    /// The names of columns that a table must not have.
    pub(crate) fn reserved(&self) -> Vec<&'static str> {
        let venn_abers = self.artifact.header().method == Method::VennAbers;
        let pairs = INTERVAL.into_iter().chain(venn_abers.then_some(VENN_ABERS).into_iter().flatten());
        let band = self.artifact.band().map(|_| BAND).into_iter().flatten();
        PROB.into_iter().chain(pairs).chain(band).chain([WORD, ACTION, VERDICT]).chain(SET).collect()
    }

    /// Whether the artifact says nothing but a probability of a binary score, which takes less time.
    pub(crate) fn are_plain(&self) -> bool {
        let Self { artifact, .. } = self;
        let has_rule = artifact.decision().is_some()
            || artifact.operating_points().is_some()
            || artifact.prediction_sets().is_some();
        artifact.header().reduction == Reduction::Binary && !has_rule
    }

    /// The columns of binary scores, where [they are plain](Self::are_plain).
    pub(crate) fn of_scores(self, rows: &[Applied]) -> Vec<NewColumn> {
        let mut columns = self.probs("", rows.iter());
        columns.extend(self.words(rows.iter()));
        columns
    }

    /// The columns of rows: the probabilities that the reduction asks for, then what every row ends with.
    pub(crate) fn of_rows(self, rows: &[AppliedRow]) -> Vec<NewColumn> {
        let header = self.artifact.header();
        let classes = |name: &str, rank| {
            let classes = rows.iter().filter_map(|row| Some(Some(row.ranks().nth(rank)?.class.into())));
            NewColumn::new(name, Values::U32(classes.collect()))
        };
        let is_calibrator = !header.method.has_no_calibrator();
        let mut columns = Vec::new();
        match header.reduction {
            Reduction::TopKLabel { k } | Reduction::TopKConfidence { k } if is_calibrator => {
                for rank in 0..usize::from(k) {
                    let behind = format!("_{}", rank + 1);
                    columns.push(classes(&format!("class{behind}"), rank));
                    columns.extend(self.probs(&behind, rows.iter().filter_map(|row| row.ranks().nth(rank))));
                }
            }
            reduction => {
                columns.extend((reduction != Reduction::Binary).then(|| classes("class", 0)));
                if rows.iter().any(|row| row.classes().is_some()) {
                    columns.extend(self.classes(rows, header.classes));
                } else if is_calibrator {
                    columns.extend(self.probs("", rows.iter().map(|row| &row.first)));
                }
            }
        }
        columns.extend(self.end(rows));
        columns
    }

    /// Probabilities with their evidence, each name with this behind it.
    fn probs<'r>(self, behind: &str, rows: impl Iterator<Item = &'r Applied> + Clone) -> Vec<NewColumn> {
        let calibrated = || rows.clone().map(|row| row.outcome.calibrated());
        let flags = rows.clone().map(|row| row.flags().into()).collect();
        let [prob, bin, epsilon, name_of_flags] = PROB.map(|name| format!("{name}{behind}"));
        let mut columns = vec![
            NewColumn::probs(prob, calibrated().map(|c| Some(c?.prob)).collect()),
            NewColumn::new(bin, bins(calibrated())),
            NewColumn::new(epsilon, epsilons(calibrated())),
            NewColumn::new(name_of_flags, Values::Text(flags)),
        ];
        columns.extend(self.interval(behind, calibrated));
        if self.artifact.band().is_some() {
            let [lo, hi] = BAND;
            let ends = [
                (lo, rows.clone().map(|row| Some(row.band?.lo)).collect()),
                (hi, rows.clone().map(|row| Some(row.band?.hi)).collect()),
            ];
            columns.extend(ends.map(|(name, ends)| NewColumn::new(name, Values::F32(ends))));
        }
        columns
    }

    /// Every class's probability.
    fn classes(self, rows: &[AppliedRow], classes: u16) -> Vec<NewColumn> {
        let each = || (0..classes).map(usize::from);
        let of_rows = || rows.iter().filter_map(AppliedRow::classes);
        let probs = |class: usize| of_rows().map(|row| row.probs[class]).collect();
        let mut columns: Vec<_> =
            each().map(|class| NewColumn::probs(format!("prob_{class}"), probs(class))).collect();
        if self.evidence {
            let of =
                |class: usize| of_rows().map(move |row: &AppliedClasses| row.outcomes[class].calibrated());
            columns.extend(each().map(|class| NewColumn::new(format!("bin_{class}"), bins(of(class)))));
            columns
                .extend(each().map(|class| NewColumn::new(format!("epsilon_{class}"), epsilons(of(class)))));
        }
        let flags = rows.iter().map(|row| row.flags().into()).collect();
        columns.push(NewColumn::new("flags", Values::Text(flags)));
        if self.artifact.header().reduction == Reduction::Joint {
            let first = || rows.iter().map(|row| row.first.outcome.calibrated());
            columns.extend(self.interval("", first));
        }
        columns
    }

    /// The interval beside a probability, each name with this behind it.
    fn interval<'r, C: Iterator<Item = Option<&'r Calibrated>>>(
        self,
        behind: &str,
        calibrated: impl Fn() -> C,
    ) -> Vec<NewColumn> {
        let Some([lo, hi]) = self.pair else { return Vec::new() };
        let interval = || calibrated().map(|c| c?.interval);
        let ends = [
            (lo, interval().map(|interval| Some(interval?.lo)).collect()),
            (hi, interval().map(|interval| Some(interval?.hi)).collect()),
        ];
        ends.map(|(name, ends)| NewColumn::new(format!("{name}{behind}"), Values::F32(ends))).into()
    }

    /// The random words of a randomized artifact.
    fn words<'r>(self, rows: impl Iterator<Item = &'r Applied>) -> Option<NewColumn> {
        let words = || Values::U32(rows.map(|row| row.word).collect());
        self.artifact.is_randomized().then(|| NewColumn::new(WORD, words()))
    }

    /// What every row ends with: its random word, and what the artifact decides.
    fn end(self, rows: &[AppliedRow]) -> Vec<NewColumn> {
        fn text<'r>(cells: impl Iterator<Item = Cow<'static, str>> + 'r) -> Values {
            Values::Text(cells.collect())
        }
        let mut columns: Vec<_> = self.words(rows.iter().map(|row| &row.first)).into_iter().collect();
        if let Some(rule) = self.artifact.decision() {
            let name = |row: &AppliedRow| {
                let action = row.action.and_then(|action| rule.action(action));
                action.map_or_else(String::new, |action| action.name.to_owned()).into()
            };
            columns.push(NewColumn::new(ACTION, text(rows.iter().map(name))));
        }
        if self.artifact.operating_points().is_some() {
            let verdicts = rows.iter().filter_map(|row| Some(row.verdict?.to_string().into()));
            columns.push(NewColumn::new(VERDICT, text(verdicts)));
        }
        if self.artifact.prediction_sets().is_some() {
            let sets = || rows.iter().filter_map(|row| row.set);
            let joined = sets().map(|set| {
                let classes: Vec<String> = set.classes().map(|class| class.to_string()).collect();
                classes.join(" ").into()
            });
            let sizes = sets().map(|set| Some(set.len() as u32)).collect();
            let [set, size] = SET;
            columns.extend([NewColumn::new(set, text(joined)), NewColumn::new(size, Values::U32(sizes))]);
        }
        columns
    }
}

fn bins<'r>(calibrated: impl Iterator<Item = Option<&'r Calibrated>>) -> Values {
    Values::U32(calibrated.map(|c| Some(c?.bin.into())).collect())
}

fn epsilons<'r>(calibrated: impl Iterator<Item = Option<&'r Calibrated>>) -> Values {
    Values::F32(calibrated.map(|c| c?.epsilon).collect())
}
