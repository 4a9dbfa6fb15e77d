//! What a protocol says.

use serde::Deserialize;

use crate::files::PublicKey;

/// A plan for changes of a calibrator.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Protocol {
    /// What it is called.
    pub name: String,
    /// The SHA-256 of its file.
    pub sha256: [u8; 32],
    /// What may differ from the active calibrator.
    pub change: Change,
    /// What a new calibrator must show.
    pub accept: Accept,
    /// Which test rows are required.
    pub rows: RequiredRows,
    /// Who signs.
    pub sign: Signers,
    /// Whether a calibrator that was signed before may be signed again without being compared with the active one.
    pub rollback: bool,
}

/// What may differ from the active calibrator. What is `None` or false may not.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct Change {
    /// The methods that a new calibrator may have.
    pub methods: Option<Vec<String>>,
    /// The least and the greatest number of bins that it may have.
    pub bins: Option<[u32; 2]>,
    /// The least and the greatest prevalence that it may be adjusted for.
    pub prevalence: Option<[f64; 2]>,
    /// Whether it may be fitted to other rows.
    #[serde(default)]
    pub rows: bool,
}

/// Which figure counts where a test row figure has an interval.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum JudgedBy {
    /// The worse end of the 95 % interval.
    #[default]
    Interval,
    /// The estimate.
    Estimate,
}

/// What a new calibrator must show.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct Accept {
    /// Which figure of test rows counts.
    #[serde(default)]
    pub judged_by: JudgedBy,
    /// The greatest epsilon of the guarantee.
    pub epsilon: Option<f64>,
    /// The greatest width of an interval of a score range.
    pub interval_width: Option<f64>,
    /// The greatest failure probability of each guarantee.
    pub alpha: Option<f64>,
    /// The least sensitivity of the alarm on all test rows.
    pub sensitivity: Option<f64>,
    /// The least specificity of the alarm on all test rows.
    pub specificity: Option<f64>,
    /// How much worse than the active calibrator it may be on all test rows.
    #[serde(default)]
    pub not_worse_by: Margins,
    /// What must hold in each group of the test rows.
    pub each_group: Option<Demands>,
}

/// What test rows must show.
#[derive(Clone, Copy, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct Demands {
    /// The least sensitivity of the alarm.
    pub sensitivity: Option<f64>,
    /// The least specificity of the alarm.
    pub specificity: Option<f64>,
    /// How much worse than the active calibrator it may be.
    #[serde(default)]
    pub not_worse_by: Margins,
}

/// How much worse than the active calibrator a new one may be, by metric.
#[derive(Clone, Copy, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct Margins {
    /// By how much the Brier score may be higher.
    pub brier: Option<f64>,
    /// By how much the log-loss may be higher.
    pub log_loss: Option<f64>,
    /// By how much the area under the ROC curve may be lower.
    pub auc: Option<f64>,
    /// By how much the calibration error may be higher.
    pub conf_ece: Option<f64>,
}

/// Which test rows are required.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct RequiredRows {
    /// Whether no test row may be a calibration row, and none may repeat another.
    pub independent: bool,
    /// Whether no other calibrator may have been judged by the same rows.
    #[serde(default)]
    pub fresh: bool,
    /// The least number of rows.
    pub n: u64,
    /// The least number of rows with label 1.
    #[serde(default)]
    pub events: u64,
}

/// Who signs.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Signers {
    /// The keys that may.
    pub keys: Vec<PublicKey>,
    /// How many of them must: one or two.
    pub needed: usize,
}

impl Accept {
    /// What all test rows must show.
    pub fn all(&self) -> Demands {
        let Self { sensitivity, specificity, not_worse_by, .. } = *self;
        Demands { sensitivity, specificity, not_worse_by }
    }
}

impl Demands {
    /// Whether it compares with the active calibrator.
    pub(super) fn compares(&self) -> bool {
        self.not_worse_by != Margins::default()
    }
}
