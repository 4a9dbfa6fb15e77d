//! What commands read, and what an artefact makes of it.

mod assessed;
mod binary_rows;
mod class_labels;
mod class_probs;
mod columns;
mod counted;
mod counters;
mod files;
mod independence;
mod judged;
mod labelled;
mod mismatch;
mod operating;
mod passes;
mod reference;
mod reported;
mod rows;
mod ruled;
mod sets;
mod surveyed;

pub(crate) use assessed::{Assessed, Subject, ranks};
pub(crate) use binary_rows::{BinaryRows, BinaryScores};
pub(crate) use class_labels::{MatrixColumns, matrix_labels, row_labels};
pub(crate) use columns::{
    Looks, doubt_of_margins, labels_of, question_kind, question_margins, read_code_vectors, read_vectors,
};
pub(crate) use counted::read_counted;
pub(crate) use counters::CounterFiles;
pub(crate) use files::{open_matrix, open_table, read_all, read_binary};
pub(crate) use independence::{predictions, question_independence, question_points, question_predictions};
pub(crate) use judged::judged_sets;
pub(crate) use labelled::{LabelledFiles, ScoresAre};
pub(crate) use mismatch::{applied_codes, codes_of_classes, needs_logits};
pub(crate) use operating::OperatingRows;
pub(crate) use passes::{Counted, Opened};
pub(crate) use reference::monitors_of_scores;
pub(crate) use reported::Reported;
pub(crate) use rows::{
    ColumnNames, NamedArtifact, ScoreColumns, binary_rows, every_class, groups_of, is_fitted_to, one_group,
    predicted_rows, read_groups, score_columns, wide,
};
pub(crate) use ruled::{RuleColumns, SET, VERDICT};
pub(crate) use surveyed::{Surveyed, calibrates_alone};
