//! The columns that `calib apply` writes.

use std::io::Write;

use calib_core::artifact::Method;
use calib_core::{Artifact, DecisionRule, Outcome};
use calib_host::apply::{Applied, AppliedClasses};

/// What every calibrated probability has, what intervals and Venn-Abers add, and what a randomised artefact does.
pub(crate) const ADDED: [&str; 4] = ["prob", "bin", "epsilon", "flags"];
pub(crate) const INTERVAL: [&str; 2] = ["lo", "hi"];
/// The probabilities of Venn-Abers with either label, which are no confidence interval.
pub(crate) const VENN_ABERS: [&str; 2] = ["p0", "p1"];
pub(crate) const WORD: &str = "word";
/// What an artefact with a decision rule adds.
pub(crate) const ACTION: &str = "action";

type Writer<'w> = csv::Writer<&'w mut dyn Write>;

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

    /// The names of a probability's columns, each with this behind it.
    pub(crate) fn write_header(self, behind: &str, writer: &mut Writer<'_>) -> csv::Result<()> {
        ADDED
            .iter()
            .chain(self.pair.iter().flatten())
            .try_for_each(|name| writer.write_field(format!("{name}{behind}")))
    }

    /// A probability with its evidence. An `f32` is printed with the digits that give it back.
    pub(crate) fn write(self, row: &Applied, writer: &mut Writer<'_>) -> csv::Result<()> {
        let calibrated = row.outcome.calibrated();
        writer.write_field(shown(calibrated.map(|c| c.prob)))?;
        writer.write_field(shown(calibrated.map(|c| c.bin)))?;
        writer.write_field(shown(calibrated.and_then(|c| c.epsilon)))?;
        writer.write_field(row.flags())?;
        if self.pair.is_some() {
            let interval = calibrated.and_then(|c| c.interval);
            writer.write_field(shown(interval.map(|interval| interval.lo)))?;
            writer.write_field(shown(interval.map(|interval| interval.hi)))?;
        }
        Ok(())
    }

    /// The names of the columns of all classes.
    pub(crate) fn write_classes_header(
        self,
        classes: u16,
        evidence: bool,
        writer: &mut Writer<'_>,
    ) -> csv::Result<()> {
        let names: &[&str] = if evidence { &["prob", "bin", "epsilon"] } else { &["prob"] };
        writer.write_field("class")?;
        for name in names {
            (0..classes).try_for_each(|class| writer.write_field(format!("{name}_{class}")))?;
        }
        writer.write_field("flags")
    }

    /// The predicted class and every class's probability.
    pub(crate) fn write_classes(
        self,
        row: &AppliedClasses,
        evidence: bool,
        writer: &mut Writer<'_>,
    ) -> csv::Result<()> {
        writer.write_field(row.top.class.to_string())?;
        row.probs.iter().try_for_each(|&prob| writer.write_field(shown(prob)))?;
        if evidence {
            let each = || row.outcomes.iter().map(Outcome::calibrated);
            each().try_for_each(|c| writer.write_field(shown(c.map(|c| c.bin))))?;
            each().try_for_each(|c| writer.write_field(shown(c.and_then(|c| c.epsilon))))?;
        }
        writer.write_field(row.flags())
    }

    /// The names of what every row ends with: those of thresholds or sets come last.
    pub(crate) fn write_end_header(self, rule: &[&str], writer: &mut Writer<'_>) -> csv::Result<()> {
        if self.words {
            writer.write_field(WORD)?;
        }
        if self.decision.is_some() {
            writer.write_field(ACTION)?;
        }
        rule.iter().try_for_each(|name| writer.write_field(name))?;
        writer.write_record(None::<&[u8]>)
    }

    /// The row's random word, the action for its first probability, what thresholds or sets say, and its end.
    pub(crate) fn write_end(
        self,
        word: Option<u32>,
        first: &Outcome,
        rule: &[String],
        writer: &mut Writer<'_>,
    ) -> csv::Result<()> {
        if self.words {
            writer.write_field(shown(word))?;
        }
        if let Some(rule) = self.decision {
            let action = rule.action(rule.decide(first));
            writer.write_field(action.map_or("", |action| action.name))?;
        }
        rule.iter().try_for_each(|cell| writer.write_field(cell))?;
        writer.write_record(None::<&[u8]>)
    }
}

/// What is not there is an empty field.
fn shown(value: Option<impl ToString>) -> String {
    value.map_or(String::new(), |value| value.to_string())
}
