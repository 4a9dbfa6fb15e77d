//! Groups side by side, as a page shows them.

use calib_fit::assess::{EstimateWithInterval, Figure, GroupAssessment, GroupComparison, Tested};
use calib_fit::stats::percent_of_success;
use minijinja::{Value, context};

use super::words::{number, two_lines};

/// What a page says of groups.
pub(super) fn text(comparison: &GroupComparison) -> Value {
    let row = |group: &GroupAssessment| {
        let a = &group.assessment;
        let shown = |estimate: EstimateWithInterval| two_lines(&Figure::Defined(estimate));
        let clinical = |of: &dyn Fn(&calib_fit::assess::ClinicalValidation) -> Figure| {
            group.clinical.as_ref().map_or(String::new(), |clinical| two_lines(&of(clinical)))
        };
        let cells = [
            shown(a.rate),
            shown(a.brier),
            a.auc.map_or("undefined".into(), shown),
            shown(a.conf_ece.plugin()),
            clinical(&|of| of.cox.intercept),
            clinical(&|of| of.cox.slope),
            clinical(&|of| of.observed_expected.ratio),
        ];
        context! {name => group.group, n => a.n, why => group.too_small, cells => cells}
    };
    let differences = comparison.differences.iter().map(|difference| {
        let size = EstimateWithInterval { value: difference.difference, interval: difference.interval };
        [
            difference.metric.to_owned(),
            format!("{size:.4}"),
            format!("{} above {}", difference.highest, difference.lowest),
        ]
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
    context! {rows => comparison.groups.iter().map(row).collect::<Vec<_>>(),
        differences => differences.collect::<Vec<_>>(),
        test => test,
        percent => percent_of_success(comparison.alpha),
    }
}
