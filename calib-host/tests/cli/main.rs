//! The `calib` command as its users meet it: the binary, real files, exit codes and words.
/// Compares the transcript of a test with its snapshot.
macro_rules! said {
    () => {
        insta::assert_snapshot!(crate::transcript::said())
    };
}

mod adjust;
mod alone;
mod array_labels;
mod assess;
mod bad_arrays;
mod bad_files;
#[cfg(feature = "arrow")]
mod bad_formats;
mod bad_input;
mod bands;
mod book;
mod bundle;
mod bundle_lies;
#[cfg(feature = "arrow")]
mod causes;
mod class_codes;
mod class_margins;
mod clinical;
mod clusters;
mod codes;
mod compare;
mod data;
mod decide;
mod doctor;
mod empty_bins;
mod evidence;
mod export;
mod first_classes;
mod first_fit;
mod flaws;
mod fleet;
#[cfg(feature = "serial")]
mod fleet_log;
#[cfg(feature = "arrow")]
mod foreign;
mod forged;
#[cfg(feature = "arrow")]
mod formats;
mod forms;
mod grouped;
mod guarantee;
mod help;
mod joint;
mod label_codes;
#[cfg(feature = "serial")]
mod line;
mod margins;
mod methods;
mod mistaken_kind;
mod monitors;
mod named_classes;
mod next;
mod npy;
mod outputs;
#[cfg(feature = "arrow")]
mod pieces;
mod progress;
mod protocol;
mod recalibrate;
mod reductions;
mod refusal;
mod report;
mod report_bad;
mod report_parts;
mod report_warnings;
mod same_rows;
mod score_intervals;
mod screens;
mod sets;
mod signing;
mod silent;
mod spreadsheets;
mod sql;
mod sql_groups;
#[cfg(feature = "serial")]
mod status;
mod steps;
#[cfg(feature = "arrow")]
mod streams;
mod tables;
mod threshold;
mod transcript;
mod verdict;
mod warned;
mod weights;
mod wide;
mod workplace;
#[cfg(feature = "arrow")]
mod written;
