//! `calib sets`

use std::io::Write;
use std::path::Path;

use calib_fit::job::{SetOptions, sets};
use calib_fit::sets::ConformityScore;
use clap::Args;

use crate::context::Context;
use crate::error::{Error, option};
use crate::kinds::FileKind;
use crate::next::{Given, Suggestion};
use crate::options::headings::{GUARANTEES, METHOD};
use crate::options::{RuleOptions, ScoreSource, named, parse_alpha, parse_share};
use crate::run::Run;
use crate::show;

/// Find sets of classes that hold the true one.
///
/// Prediction sets: all classes that conform well enough, with a stated probability that the true one is among them.
///
/// The rows must be others than those that anything inside the scores was fitted to: a temperature, a calibrator, the choice of a
/// method. On average over their draw the set of a new row then contains the true class with a probability of at least 1 - alpha, and
/// with --confidence in at least that share of all new rows. Where the rows are too few every class is in every set, which is an
/// answer and no error.
#[derive(Args)]
pub(crate) struct Sets {
    #[command(flatten)]
    source: ScoreSource,
    /// What is compared: the class's own probability, or its logit less the largest other one, which takes no exponential. Codes of
    /// logits take margin.
    #[arg(long, value_name = "NAME", value_parser = named::<ConformityScore>(), help_heading = METHOD)]
    class_score: Option<ConformityScore>,
    /// The probability that the true class is not in the set.
    #[arg(long, default_value_t = 0.1, value_name = "ALPHA", value_parser = parse_alpha, help_heading = GUARANTEES)]
    alpha: f64,
    /// For the rows of every class, rather than for all rows taken together. The default with two classes: taken together, the frequent class
    /// alone can meet what is promised.
    #[arg(long, value_name = "BOOL", num_args = 0..=1, require_equals = true, default_missing_value = "true", help_heading = METHOD)]
    by_class: Option<bool>,
    /// The confidence over the draw of the rows that at most alpha of all new rows are missed (training-conditional coverage).
    #[arg(long, value_name = "C", value_parser = parse_share, help_heading = GUARANTEES)]
    confidence: Option<f64>,
    /// The predicted class is always in the set: coverage only grows by that.
    #[arg(long, help_heading = METHOD, hide_short_help = true)]
    never_empty: bool,
    #[command(flatten)]
    rule: RuleOptions,
}

impl Run for Sets {
    const AT_WORK: Option<&str> = Some("finding sets");
    const OUTPUT: Option<FileKind> = Some(FileKind::Artifact);
    const TELLS: bool = true;

    fn run(self, cx: &Context) -> Result<(), Error> {
        let parent = self.rule.parent()?;
        let rows = self.rule.rows(self.source.or(None), (None, None), parent.as_ref(), cx)?;
        let mut doubts = rows.doubts();
        cx.warn(&doubts)?;
        let target = self.rule.target(parent.as_ref(), &rows, cx)?;
        let found = sets(&rows.data, &self.options(), &target)
            .map_err(|cause| Error::job(rows.scores.clone(), cause))?;
        let missed = found.summary.doubt().map(|doubt| doubt.with_names(option));
        cx.warn(missed.as_slice())?;
        let show = |output: &Path, err: &mut dyn Write| show::sets(&found, output, err);
        doubts.extend(missed);
        self.rule.write((&found.artifact, &found.summary), &doubts, show, cx)
    }

    fn next(given: &Given<'_>, _: &Context) -> Option<Suggestion> {
        given.assessed()
    }
}

impl Sets {
    fn options(&self) -> SetOptions {
        let mut options = SetOptions::default();
        (options.alpha, options.confidence) = (self.alpha, self.confidence);
        (options.by_class, options.never_empty) = (self.by_class, self.never_empty);
        options.class_score = self.class_score;
        options
    }
}
