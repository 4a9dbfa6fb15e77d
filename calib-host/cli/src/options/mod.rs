//! What several commands are asked: groups of options, and how their values are read.

mod artifact_args;
mod assessed;
mod clinical;
mod clusters;
mod codes;
mod contenders;
mod counted;
mod demanded;
mod derived;
mod groups;
pub(crate) mod headings;
#[cfg(feature = "serial")]
mod line;
mod method;
mod monitors;
mod parse;
mod passes;
mod planned_thresholds;
#[cfg(feature = "probe")]
mod probe;
mod reported;
mod rule;
mod same_rows;
mod source;
mod validation;
mod weights;

pub(crate) use artifact_args::{ArtifactArgs, parse_spent};
pub(crate) use assessed::AssessedOptions;
pub(crate) use clinical::ClinicalArgs;
pub(crate) use clusters::{ClusterColumn, ClusterSource};
pub(crate) use codes::EncodingOptions;
pub(crate) use contenders::MethodChoice;
pub(crate) use demanded::Demanded;
pub(crate) use derived::{DerivedOptions, warn_of_counter};
#[cfg(feature = "serial")]
pub(crate) use line::{LineOptions, SerialLine, parse_seconds};
pub(crate) use method::{MethodOptions, ReductionOption};
pub(crate) use monitors::MonitorOptions;
pub(crate) use parse::{any_number, count, named, parse_alpha, parse_number, parse_share};
pub(crate) use passes::PassOptions;
pub(crate) use planned_thresholds::PlannedThresholds;
#[cfg(feature = "probe")]
pub(crate) use probe::ProbeOptions;
pub(crate) use reported::ReportedOptions;
pub(crate) use rule::RuleOptions;
pub(crate) use same_rows::SameRows;
pub(crate) use source::{SCORE_COLUMN, ScoreSource, artifact_of, binary_source};
pub(crate) use validation::{ValidationArgs, parse_prevalence};
pub(crate) use weights::WeightArgs;
