//! What commands read, and what an artefact makes of it.

mod assessed;
mod binary_rows;
mod class_labels;
mod columns;
mod counters;
mod files;
mod independence;
mod labelled;
mod passes;
mod reference;
mod reported;
mod rows;
mod ruled;

pub(crate) use assessed::{Assessed, Read};
pub(crate) use binary_rows::BinaryRows;
pub(crate) use class_labels::{MatrixColumns, row_labels};
pub(crate) use columns::{labels_of, question_margins, read_code_vectors, read_vectors};
pub(crate) use counters::CounterFiles;
pub(crate) use files::{open_matrix, open_table, read_all, read_binary};
pub(crate) use independence::{question_independence, question_predictions};
pub(crate) use labelled::{Labelled, LabelledFiles, ScoresAre};
pub(crate) use passes::{Counted, Opened};
pub(crate) use reference::{device_scores, monitors_of_scores};
pub(crate) use reported::Reported;
pub(crate) use rows::{
    ColumnNames, NamedArtifact, ScoreColumns, groups_of, one_group, read_groups, score_columns,
};
pub(crate) use ruled::{RuleColumns, SET, VERDICT};
