//! The metrics that a page lists.

use calib_fit::assess::{Assessment, BinnedEstimate, Change, EstimateWithInterval};

/// A metric: its name, what it means, where it is in an assessment, also in JSON, and where its change is.
pub(super) struct Metric {
    pub(super) name: &'static str,
    pub(super) meaning: &'static str,
    pub(super) key: &'static str,
    pub(super) of: Of<Assessment>,
    pub(super) change: Of<Change>,
}

type Of<T> = fn(&T) -> Option<EstimateWithInterval>;

const fn metric(name: &'static str, meaning: &'static str, of: Of<Assessment>, change: Of<Change>) -> Metric {
    Metric { name, meaning, key: name, of, change }
}

const fn part(metric: Metric, key: &'static str) -> Metric {
    Metric { key, ..metric }
}

/// Of all predictions.
pub(super) const METRICS: [Metric; 10] = [
    metric("accuracy", "correct predictions", |a| Some(a.accuracy), |c| Some(c.accuracy)),
    metric("brier", "mean squared error", |a| Some(a.brier), |c| Some(c.brier)),
    metric("log_loss", "mean negative log-likelihood, in nats", |a| Some(a.log_loss), |c| Some(c.log_loss)),
    metric("auc", "area under the ROC curve", |a| a.auc, |c| c.auc),
    metric("sharpness", "variance of the probabilities", |a| Some(a.sharpness), |c| Some(c.sharpness)),
    metric(
        "c_emp",
        "largest deviation over intervals of probabilities",
        |a| Some(EstimateWithInterval { value: a.c_emp.value, interval: None }),
        |c| Some(c.c_emp),
    ),
    metric("conf_ece", "mean deviation of the bins", |a| Some(a.conf_ece.plugin()), |c| Some(c.conf_ece)),
    part(
        metric(
            "conf_ece, debiased",
            "the same minus its bias",
            |a| debiased(&a.conf_ece),
            |c| Some(c.conf_ece_debiased),
        ),
        "conf_ece.debiased",
    ),
    part(metric("conf_ece by chance", CHANCE, |a| a.conf_ece.chance(), |_| None), "conf_ece.by_chance"),
    metric("conf_mce", "largest deviation of a bin", |a| Some(a.conf_mce.plugin()), |c| Some(c.conf_mce)),
];

/// Of predicted classes besides.
pub(super) const TOP_LABEL_METRICS: [Metric; 5] = [
    metric("tl_ece", "mean deviation of the bins of each class", |a| Some(a.tl_ece?.plugin()), |c| c.tl_ece),
    part(
        metric(
            "tl_ece, debiased",
            "the same minus its bias",
            |a| debiased(a.tl_ece.as_ref()?),
            |c| c.tl_ece_debiased,
        ),
        "tl_ece.debiased",
    ),
    part(metric("tl_ece by chance", CHANCE, |a| a.tl_ece.as_ref()?.chance(), |_| None), "tl_ece.by_chance"),
    metric("tl_mce", "largest deviation of a bin of a class", |a| Some(a.tl_mce?.plugin()), |c| c.tl_mce),
    metric(
        "tl_mce_bin",
        "largest over bins, averaged over classes",
        |a| Some(a.tl_mce_bin?.plugin()),
        |c| c.tl_mce_bin,
    ),
];

const CHANCE: &str = "what calibrated probabilities of this many rows exceed in about 5% of cases";

fn debiased(estimate: &BinnedEstimate) -> Option<EstimateWithInterval> {
    Some(EstimateWithInterval { value: estimate.debiased?, interval: estimate.debiased_interval })
}
