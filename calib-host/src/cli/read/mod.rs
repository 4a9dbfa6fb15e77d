//! What commands read, and what an artefact makes of it.

mod assessed;
mod class_probs;
mod columns;
mod independence;
mod judged;
mod mismatch;
mod operating;
mod reported;
mod rows;
mod ruled;
mod sets;

pub(crate) use assessed::{Assessed, Subject};
pub(crate) use columns::{labels_of, question_kind, question_margins, read_code_vectors, read_vectors};
pub(crate) use independence::{predictions, question_independence, question_predictions};
pub(crate) use judged::Judged;
pub(crate) use mismatch::{applied_codes, codes_of_classes};
pub(crate) use reported::Reported;
pub(crate) use rows::{
    ColumnNames, NamedArtifact, ScoreColumns, is_fitted_to, matrix_labels, read_groups, row_labels,
    score_columns, table_labels,
};
pub(crate) use ruled::{RuleColumns, SET, VERDICT};
pub(crate) use sets::{SetInput, SetRows, SetSource};
