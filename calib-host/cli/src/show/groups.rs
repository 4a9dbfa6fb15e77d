//! Groups side by side, as text.

use std::io::{self, Write};

use calib_fit::artifact::number_of;
use calib_fit::assess::{EstimateWithInterval, Figure, GroupAssessment, GroupComparison, Tested};
use calib_fit::stats::percent_of_success;

/// Prints the metrics of every group, the largest differences and the test.
pub(crate) fn groups(out: &mut impl Write, comparison: &GroupComparison) -> io::Result<()> {
    let percent = percent_of_success(comparison.alpha);
    writeln!(
        out,
        "by group; for each metric, the intervals of all groups hold simultaneously with at least {percent}% confidence (union bound):"
    )?;
    comparison.groups.iter().try_for_each(|group| one(out, group))?;
    for difference in &comparison.differences {
        let size = EstimateWithInterval { value: difference.difference, interval: difference.interval };
        writeln!(
            out,
            "  largest difference of {}: {size:.4}, {} above {}",
            difference.metric, difference.highest, difference.lowest
        )?;
    }
    match &comparison.equal_calibration {
        Tested::Done(test) => writeln!(
            out,
            "  all groups are equally calibrated: P = {:.4} ({} random assignments of labels within {} bins of probability)",
            test.p_value, test.permutations, test.bins
        ),
        Tested::Not { not_tested } => {
            writeln!(out, "  all groups are equally calibrated: not tested, {not_tested}")
        }
    }
}

fn one(out: &mut dyn Write, group: &GroupAssessment) -> io::Result<()> {
    let a = &group.assessment;
    writeln!(out, "  {}: {}, {} with label 1", group.group, number_of(a.n, "prediction"), a.hits)?;
    if let Some(why) = &group.too_small {
        writeln!(out, "    {why}")?;
    }
    let number = |estimate: &EstimateWithInterval| format!("{estimate:.4}");
    let ece = a.conf_ece.plugin();
    let mut lines = vec![("rate", number(&a.rate)), ("brier", number(&a.brier)), ("conf_ece", number(&ece))];
    lines.extend(a.auc.as_ref().map(|auc| ("auc", number(auc))));
    if let Some(clinical) = &group.clinical {
        let figure = |figure: &Figure| format!("{figure:.4}");
        lines.extend([
            ("intercept", figure(&clinical.cox.intercept)),
            ("slope", figure(&clinical.cox.slope)),
            ("observed/expected", figure(&clinical.observed_expected.ratio)),
        ]);
    }
    lines.into_iter().try_for_each(|(name, text)| writeln!(out, "    {name:<18} {text}"))
}
