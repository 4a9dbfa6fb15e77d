//! Groups side by side, as a page shows them.

use calib_fit::assess::{EstimateWithInterval, Figure, GroupAssessment, GroupComparison, Tested};
use calib_fit::stats::percent_of_success;
use minijinja::{Value, context};

use super::words::{Cell, number, two_lines};

/// What a page says of groups.
pub(super) fn text(comparison: &GroupComparison) -> Value {
    let row = |(at, group): (usize, &GroupAssessment)| {
        let a = &group.assessment;
        let shown = |estimate: EstimateWithInterval| two_lines(&Figure::Defined(estimate));
        let clinical = |of: &dyn Fn(&calib_fit::assess::ClinicalValidation) -> Figure| {
            group.clinical.as_ref().map_or(String::new(), |clinical| two_lines(&of(clinical)))
        };
        let cells = [
            ("rate", shown(a.rate)),
            ("brier", shown(a.brier)),
            ("auc", a.auc.map_or("undefined".into(), shown)),
            ("conf_ece", shown(a.conf_ece.plugin())),
            ("clinical.cox.intercept", clinical(&|of| of.cox.intercept)),
            ("clinical.cox.slope", clinical(&|of| of.cox.slope)),
            ("clinical.observed_expected.ratio", clinical(&|of| of.observed_expected.ratio)),
        ];
        let cells = cells.map(|(key, text)| Cell::new(format!("groups.groups.{at}.{key}"), text));
        context! {name => group.group, n => a.n, why => group.too_small, cells => cells}
    };
    let differences = comparison.differences.iter().enumerate().map(|(at, difference)| {
        let size = EstimateWithInterval { value: difference.difference, interval: difference.interval };
        context! {
            metric => difference.metric,
            cell => Cell::new(format!("groups.differences.{at}.difference"), format!("{size:.4}")),
            groups => format!("{} above {}", difference.highest, difference.lowest),
        }
    });
    let test = match &comparison.equal_calibration {
        Tested::Done(test) => format!(
            "Test that all groups are equally calibrated: P = {}, by {} random assignments of labels within {} bins of \
             probability.",
            number(test.p_value),
            test.permutations,
            test.bins
        ),
        Tested::Not { not_tested } => {
            format!("Whether all groups are equally calibrated was not tested: {not_tested}.")
        }
    };
    context! {rows => comparison.groups.iter().enumerate().map(row).collect::<Vec<_>>(),
        differences => differences.collect::<Vec<_>>(),
        test => test,
        percent => percent_of_success(comparison.alpha),
    }
}
