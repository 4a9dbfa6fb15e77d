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

/// Find sets of classes that contain the true class.
///
/// Prediction sets: all classes that conform well enough, with a stated probability that the true class is among them.
///
/// Use rows that no part of the scores was fitted to: not a temperature, not a calibrator, not the choice of a method.
/// On average over the draw of the rows, the set of a new row contains the true class with probability at least 1 -
/// alpha. With --confidence, at least 1 - alpha of all new rows have such a set, with that confidence over the draw.
///
/// With too few rows every class is in every set. This is a result, not an error.
#[derive(Args)]
pub(crate) struct Sets {
    #[command(flatten)]
    source: ScoreSource,
    /// Score of a class that is compared.
    ///
    /// It is the class's probability, or its logit minus the largest other logit, which needs no exponential. Codes of
    /// logits need margin.
    #[arg(long, value_name = "NAME", value_parser = named::<ConformityScore>(), help_heading = METHOD)]
    class_score: Option<ConformityScore>,
    /// Accepted probability that the true class is not in the set.
    #[arg(long, default_value_t = 0.1, value_name = "ALPHA", value_parser = parse_alpha, help_heading = GUARANTEES)]
    alpha: f64,
    /// Give the guarantee for the rows of every class, not only for all rows together.
    ///
    /// This is the default with two classes: for all rows together, the frequent class could meet the guarantee on its
    /// own.
    #[arg(long, value_name = "BOOL", num_args = 0..=1, require_equals = true, default_missing_value = "true", help_heading = METHOD)]
    by_class: Option<bool>,
    /// Confidence over the draw of the rows that at most alpha of all new rows are missed (training-conditional
    /// coverage).
    #[arg(long, value_name = "C", value_parser = parse_share, help_heading = GUARANTEES)]
    confidence: Option<f64>,
    /// Add the predicted class to every set: coverage can only grow.
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
        let mut warnings = rows.warnings();
        cx.warn(&warnings)?;
        let target = self.rule.target(parent.as_ref(), &rows, cx)?;
        let found = sets(&rows.data, &self.options(), &target)
            .map_err(|cause| Error::job(rows.scores.clone(), cause))?;
        let missed = found.summary.warning().map(|warning| warning.with_names(option));
        cx.warn(missed.as_slice())?;
        let show = |output: &Path, err: &mut dyn Write| show::sets(&found, output, err);
        warnings.extend(missed);
        self.rule.write((&found.artifact, &found.summary), &warnings, show, cx)
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
