//! From a fit to the bytes that a device reads, and what can be said of such bytes: size, cost, and what they guarantee.
//!
//! Imports `stats`, `data`, `guarantee`, `operating`, `sets`, `binary`, `fit`, `joint`, `intervals` and `bands`.

mod band;
mod code_type;
mod compact;
mod cost;
mod derived;
mod error;
mod guarantee_text;
mod joint;
mod kind;
mod monitor_facts;
mod monitors;
mod options;
mod outside;
mod points;
mod quantized;
mod rule_facts;
mod rule_words;
mod rules;
mod sample;
mod score_edges;
mod score_intervals;
mod score_range;
mod stored;
mod tables;
mod vacuous;
mod write;

pub(crate) use band::DeviceBand;
pub use code_type::CodeType;
pub use cost::{CallInput, CoreCost, CostBasis, DeviceCost, device_costs};
pub use derived::DerivedArtifact;
pub use error::{CodesError, CompileError, MAX_CODE_STEPS};
pub(crate) use guarantee_text::names as table_names;
pub use guarantee_text::{
    ASSUMPTIONS, Condition, GuaranteeText, LIMITS, candidates, guarantee_text, points_for_a_useful_epsilon,
    table_label,
};
pub use joint::joint_artifact_bytes;
pub use kind::score_kind;
pub use monitor_facts::{AlarmOdds, MonitorFacts, TableMonitorFacts};
pub(crate) use monitors::OTHER_SCORES;
pub use monitors::{MonitorBins, MonitorError, Monitoring, monitor_scores};
pub use options::{ArtifactOptions, identity};
pub(crate) use outside::values_outside;
pub(crate) use points::COUNTING_DEVICES;
pub use points::{cluster_rows, number_of, points, size_in_words};
pub use rule_facts::{
    AccuracyGuaranteeFacts, PointsFacts, QuantileFacts, SetsFacts, ThresholdFacts, ThresholdsFacts,
};
pub use rule_words::rule_sentences;
pub(crate) use rule_words::score_words;
pub use rules::{PointsOnDevice, RuleError, SetsOnDevice};
pub use sample::{ClassRanges, SAMPLE_SECTION, SKETCH_SECTION, SampleFacts};
pub use score_edges::{
    band_steps, between, encoding_of_keys, score_edges, score_of_key, scores_in_words, shortest, table_prob,
    table_steps,
};
pub use stored::{SECTION_HEAD_LEN, StoredArtifact};
pub use tables::artifact_bytes;
pub use vacuous::VacuousBins;
pub(crate) use vacuous::values;
pub(crate) use write::written;
