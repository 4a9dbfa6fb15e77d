//! The metrics that a page lists.

use calib_fit::assess::{Assessment, BinnedEstimate, Change, EstimateWithInterval};

/// A metric: its name, what it means, where it is in an assessment, and where its change is.
pub(super) struct Metric {
    pub(super) name: &'static str,
    pub(super) meaning: &'static str,
    pub(super) of: fn(&Assessment) -> Option<EstimateWithInterval>,
    pub(super) change: fn(&Change) -> Option<EstimateWithInterval>,
}

/// Of all predictions.
pub(super) const METRICS: [Metric; 9] = [
    Metric {
        name: "accuracy",
        meaning: "right decisions",
        of: |a| Some(a.accuracy),
        change: |change| Some(change.accuracy),
    },
    Metric {
        name: "brier",
        meaning: "mean squared error",
        of: |a| Some(a.brier),
        change: |change| Some(change.brier),
    },
    Metric {
        name: "log_loss",
        meaning: "mean negative log-likelihood, in nats",
        of: |a| Some(a.log_loss),
        change: |change| Some(change.log_loss),
    },
    Metric { name: "auc", meaning: "area under the ROC curve", of: |a| a.auc, change: |change| change.auc },
    Metric {
        name: "sharpness",
        meaning: "variance of the probabilities",
        of: |a| Some(a.sharpness),
        change: |change| Some(change.sharpness),
    },
    Metric {
        name: "c_emp",
        meaning: "largest deviation over intervals of probabilities",
        of: |a| Some(EstimateWithInterval { value: a.c_emp.value, interval: None }),
        change: |change| Some(change.c_emp),
    },
    Metric {
        name: "conf_ece",
        meaning: "mean deviation of the bins",
        of: |a| Some(a.conf_ece.plugin()),
        change: |change| Some(change.conf_ece),
    },
    Metric {
        name: "conf_ece, debiased",
        meaning: "the same less its bias",
        of: |a| debiased(&a.conf_ece),
        change: |change| Some(change.conf_ece_debiased),
    },
    Metric {
        name: "conf_mce",
        meaning: "largest deviation of a bin",
        of: |a| Some(a.conf_mce.plugin()),
        change: |change| Some(change.conf_mce),
    },
];

/// Of predicted classes besides.
pub(super) const TOP_LABEL_METRICS: [Metric; 4] = [
    Metric {
        name: "tl_ece",
        meaning: "mean deviation of the bins of each class",
        of: |a| Some(a.tl_ece?.plugin()),
        change: |change| change.tl_ece,
    },
    Metric {
        name: "tl_ece, debiased",
        meaning: "the same less its bias",
        of: |a| debiased(a.tl_ece.as_ref()?),
        change: |change| change.tl_ece_debiased,
    },
    Metric {
        name: "tl_mce",
        meaning: "largest deviation of a bin of a class",
        of: |a| Some(a.tl_mce?.plugin()),
        change: |change| change.tl_mce,
    },
    Metric {
        name: "tl_mce_bin",
        meaning: "largest over bins, averaged over classes",
        of: |a| Some(a.tl_mce_bin?.plugin()),
        change: |change| change.tl_mce_bin,
    },
];

fn debiased(estimate: &BinnedEstimate) -> Option<EstimateWithInterval> {
    Some(EstimateWithInterval { value: estimate.debiased?, interval: estimate.debiased_interval })
}
