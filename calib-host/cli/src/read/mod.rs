//! What commands read, and what an artifact makes of it.

mod assessed;
mod binary_rows;
mod class_labels;
mod columns;
mod counters;
mod dataset;
mod files;
mod independence;
mod passes;
mod reference;
mod rows;

pub(crate) use assessed::{Assessed, Read};
pub(crate) use binary_rows::BinaryRows;
pub(crate) use columns::{labels_of, margin_warning, read_code_vectors};
pub(crate) use counters::CounterFiles;
pub(crate) use dataset::{For, Labeled, RowFiles, ScoresAre};
pub(crate) use files::{open_matrix, open_table, read_all};
pub(crate) use independence::{independence_warning, prediction_warning};
pub(crate) use passes::{Counted, Opened};
pub(crate) use reference::{device_scores, monitors_of_scores};
pub(crate) use rows::{ColumnNames, NamedArtifact, ScoreColumns, groups_of, one_group, score_columns};
