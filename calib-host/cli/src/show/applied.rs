//! The columns that `calib apply` writes.

use std::borrow::Cow;

use calib_core::artifact::Method;
use calib_core::{Artifact, Calibrated, DecisionRule, Outcome};
use calib_fit::apply::{Applied, AppliedClasses};
use calib_io::output::{NewColumn, Values};

/// What every calibrated probability has, what intervals and Venn-Abers add, and what a randomised artefact does.
pub(crate) const ADDED: [&str; 4] = ["prob", "bin", "epsilon", "flags"];
pub(crate) const INTERVAL: [&str; 2] = ["lo", "hi"];
/// The probabilities of Venn-Abers with either label, which are no confidence interval.
pub(crate) const VENN_ABERS: [&str; 2] = ["p0", "p1"];
pub(crate) const WORD: &str = "word";
/// What an artefact with a decision rule adds.
pub(crate) const ACTION: &str = "action";

/// Which columns an artefact's results have.
#[derive(Clone, Copy)]
pub(crate) struct AppliedColumns<'a> {
    /// The names of the two columns beside a probability, if there are such.
    pair: Option<[&'static str; 2]>,
    words: bool,
    decision: Option<DecisionRule<'a>>,
}

impl<'a> AppliedColumns<'a> {
    pub(crate) fn of(artifact: &Artifact<'a>) -> Self {
        let pair = if artifact.header().method == Method::VennAbers { VENN_ABERS } else { INTERVAL };
        let pair = artifact.tables().has_intervals().then_some(pair);
        let words = artifact.is_randomized();
        Self { pair, words, decision: artifact.decision().copied() }
    }

    /// Probabilities with their evidence, each name with this behind it.
    pub(crate) fn probs<'r>(
        self,
        behind: &str,
        rows: impl Iterator<Item = &'r Applied> + Clone,
    ) -> Vec<NewColumn> {
        let calibrated = || rows.clone().map(|row| row.outcome.calibrated());
        let flags = rows.clone().map(|row| row.flags().into()).collect();
        let [prob, bin, epsilon, name_of_flags] = ADDED.map(|name| format!("{name}{behind}"));
        let mut columns = vec![
            NewColumn::probs(prob, calibrated().map(|c| Some(c?.prob)).collect()),
            NewColumn::new(bin, bins(calibrated())),
            NewColumn::new(epsilon, epsilons(calibrated())),
            NewColumn::new(name_of_flags, Values::Text(flags)),
        ];
        if let Some([lo, hi]) = self.pair {
            let interval = || calibrated().map(|c| c?.interval);
            let ends = [
                (lo, interval().map(|interval| Some(interval?.lo)).collect()),
                (hi, interval().map(|interval| Some(interval?.hi)).collect()),
            ];
            columns.extend(
                ends.map(|(name, ends)| NewColumn::new(format!("{name}{behind}"), Values::F32(ends))),
            );
        }
        columns
    }

    /// Predicted classes and every class's probability.
    pub(crate) fn classes(self, rows: &[AppliedClasses], classes: u16, evidence: bool) -> Vec<NewColumn> {
        let mut columns = vec![class_column("class", rows.iter().map(|row| row.top.class))];
        let each = || (0..classes).map(usize::from);
        columns.extend(each().map(|class| {
            NewColumn::probs(format!("prob_{class}"), rows.iter().map(|row| row.probs[class]).collect())
        }));
        if evidence {
            let of = |class: usize| rows.iter().map(move |row| row.outcomes[class].calibrated());
            columns.extend(each().map(|class| NewColumn::new(format!("bin_{class}"), bins(of(class)))));
            columns
                .extend(each().map(|class| NewColumn::new(format!("epsilon_{class}"), epsilons(of(class)))));
        }
        let flags = rows.iter().map(|row| row.flags().into()).collect();
        columns.push(NewColumn::new("flags", Values::Text(flags)));
        columns
    }

    /// What every row ends with: its random word, and the action for its first probability.
    pub(crate) fn end<'r>(
        self,
        rows: impl Iterator<Item = (Option<u32>, &'r Outcome)> + Clone,
    ) -> Vec<NewColumn> {
        let mut columns = Vec::new();
        if self.words {
            columns.push(NewColumn::new(WORD, Values::U32(rows.clone().map(|row| row.0).collect())));
        }
        if let Some(rule) = self.decision {
            let action = |outcome: &Outcome| {
                let action = rule.action(rule.decide(outcome));
                action.map_or(Cow::Borrowed(""), |action| action.name.to_owned().into())
            };
            columns.push(NewColumn::new(ACTION, Values::Text(rows.map(|row| action(row.1)).collect())));
        }
        columns
    }
}

/// A column of classes.
pub(crate) fn class_column(name: impl Into<String>, classes: impl Iterator<Item = u16>) -> NewColumn {
    NewColumn::new(name, Values::U32(classes.map(|class| Some(class.into())).collect()))
}

fn bins<'r>(calibrated: impl Iterator<Item = Option<&'r Calibrated>>) -> Values {
    Values::U32(calibrated.map(|c| Some(c?.bin.into())).collect())
}

fn epsilons<'r>(calibrated: impl Iterator<Item = Option<&'r Calibrated>>) -> Values {
    Values::F32(calibrated.map(|c| c?.epsilon).collect())
}
