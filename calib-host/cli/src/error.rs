//! Why a command failed: one plain line, and an exit code.

use std::io;
use std::path::{Path, PathBuf};

use calib_fit::adjust::AdjustError;
#[cfg(feature = "serial")]
use calib_fit::artifact::number_of;
use calib_fit::artifact::{CompileError, RuleError};
use calib_fit::data::{DataError, Overlap};
use calib_fit::fleet::{FleetError, LogError, RecalibrateError};
use calib_fit::job::{AssessError, Finding, JobError, Mismatch, NotFitted};
use calib_fit::operating::OperatingError;
use calib_fit::passes::PassError;
use calib_fit::sets::SetError;
use calib_fit::{FitError, OptionsError};
use calib_io::bundle::BundleError;
use calib_io::device::probe::{AccessError, FlashError};
use calib_io::device::serial::DeviceError;
#[cfg(feature = "png")]
use calib_io::draw::PngError;
use calib_io::export::ExportError;
use calib_io::files::{FileError, Location, OutputError, Problem, RandomError};
use calib_io::report::PageError;

/// Why a command failed.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Error {
    /// The command line makes no sense, although each option does.
    #[error("{0}")]
    Usage(String),
    /// Two files do not belong together.
    #[error("{0}")]
    Mismatch(String),
    /// A file, or what it holds, is of no use.
    #[error("{}", with_options(.0))]
    File(#[from] FileError),
    /// Most of the rows that something is to be judged by are those that it was fitted to.
    #[error("{}: {overlap} that {fitted} fitted to, and every figure would be optimistically biased", path.display())]
    SameRows {
        /// The file of the rows.
        path: PathBuf,
        /// How many they are.
        overlap: Overlap,
        /// What was fitted, with its verb.
        fitted: &'static str,
    },
    /// The data do not go with the reduction.
    #[error(transparent)]
    Data(#[from] DataError),
    /// The data are in order, but nothing can be fitted to them, or an option is out of range.
    #[error("{}{cause}", if cause.is_about_options() { String::new() } else { format!("{place}: ") })]
    Fit {
        /// The data.
        place: Box<Location>,
        /// Why not.
        cause: FitError,
    },
    /// What a database counted does not stand for all rows.
    #[error("{}{cause}", if is_about_method(cause) { String::new() } else { format!("{place}: ") })]
    Pass {
        /// Where it was counted, or the answer.
        place: Box<Location>,
        /// Why not.
        cause: PassError,
    },
    /// There are no thresholds or sets that keep what is asked, by these data.
    #[error("{}{cause}", if cause.is_about_options() { String::new() } else { format!("{place}: ") })]
    Guarantee {
        /// The data.
        place: Box<Location>,
        /// Why not.
        cause: GuaranteeError,
    },
    /// Thresholds or sets do not go into an artifact.
    #[error(transparent)]
    Rule(#[from] RuleError),
    /// A calibrator is not adjusted to another prevalence.
    #[error(transparent)]
    Adjust(#[from] AdjustError),
    /// The fit has no form that a device can run.
    #[error(transparent)]
    Compile(#[from] CompileError),
    /// Counters are not those of the calibrator.
    #[error("{place}: {cause}")]
    Fleet {
        /// Whose.
        place: Box<Location>,
        /// Why not.
        cause: FleetError,
    },
    /// Outcomes that devices counted make no calibrator.
    #[error("{place}: {cause}")]
    Recalibrate {
        /// The counters, or the calibrator.
        place: Box<Location>,
        /// Why not.
        cause: RecalibrateError,
    },
    /// A log is not what devices counted and answered.
    #[error("{place}: {cause}")]
    Log {
        /// The line.
        place: Box<Location>,
        /// Why not.
        cause: LogError,
    },
    /// The artifact has no form as source code.
    #[error(transparent)]
    Export(#[from] ExportError),
    /// There is no bundle of an artifact.
    #[error("{}: {cause}", path.display())]
    Bundle {
        /// The artifact, or what else is of no use.
        path: PathBuf,
        /// Why not.
        cause: BundleError,
    },
    /// The page of a report cannot be made.
    #[error(transparent)]
    Page(#[from] PageError),
    /// A plot cannot be made of pixels.
    #[cfg(feature = "png")]
    #[error(transparent)]
    Png(#[from] PngError),
    /// The result could not be written.
    #[error(transparent)]
    Output(#[from] OutputError),
    /// A device did not do as it was asked.
    #[error(transparent)]
    Device(#[from] DeviceError),
    /// A device was not told an outcome, nor what stands behind it.
    #[cfg(feature = "serial")]
    #[error("{at}: {cause}; {} before this one {} reported", number_of(*before as u64, "outcome"), if *before == 1 { "was" } else { "were" })]
    Outcome {
        /// Where it stands.
        at: Box<Location>,
        /// How many were told before it.
        before: usize,
        /// Why not.
        cause: DeviceError,
    },
    /// A chip's flash was not read or written.
    #[error(transparent)]
    Flash(#[from] FlashError),
    /// There are no random numbers.
    #[error(transparent)]
    Random(#[from] RandomError),
    /// Nothing tells when the user interrupts.
    #[cfg(feature = "serial")]
    #[error("cannot wait for an interrupt: {0}")]
    Interrupt(#[from] ctrlc::Error),
    /// The result could not be printed.
    #[error("cannot write to standard output: {0}")]
    Stdout(#[from] io::Error),
}

/// Why there are no thresholds or sets that keep what is asked.
#[derive(Debug, thiserror::Error)]
pub(crate) enum GuaranteeError {
    /// No thresholds.
    #[error(transparent)]
    Operating(#[from] OperatingError),
    /// No sets.
    #[error(transparent)]
    Sets(#[from] SetError),
}

impl GuaranteeError {
    /// Whether an option alone is wrong, whatever the data.
    fn is_about_options(&self) -> bool {
        match self {
            Self::Operating(cause) => !matches!(cause, OperatingError::TooFew { .. } | OperatingError::Empty),
            Self::Sets(cause) => matches!(cause, SetError::Share { .. }),
        }
    }
}

impl From<AccessError> for Error {
    fn from(cause: AccessError) -> Self {
        FlashError::from(cause).into()
    }
}

impl From<OptionsError> for Error {
    fn from(cause: OptionsError) -> Self {
        Self::Usage(cause.with_names(option))
    }
}

/// The option of a field of the library, with its value if it has one: `--rows-per-bin` for `rows_per_bin`.
pub(crate) fn option(field: &str) -> String {
    match field.split_once('=') {
        _ if field.starts_with("plan(") => "`calib plan --n N --epsilon 0.1`".into(),
        Some(("kind", kind)) => format!("--{kind}"),
        Some((name, value)) => format!("{} {value}", option(name)),
        None => match field {
            "clusters" => "--cluster-column".into(),
            "monitor_bins" => "--monitor=B".into(),
            "groups" => "--group-column".into(),
            name => format!("--{}", name.replace('_', "-")),
        },
    }
}

impl Error {
    /// Says that something is wrong at a place.
    pub(crate) fn input(place: Location, problem: Problem) -> Self {
        FileError::input(place, problem).into()
    }

    /// States that no calibrator was fitted to the data at a place.
    pub(crate) fn fit(place: Location, cause: FitError) -> Self {
        match cause {
            FitError::Spill(kind) => FileError::spill(kind.into()).into(),
            cause => Self::Fit { place: Box::new(place), cause },
        }
    }

    /// States why no calibrator was fitted to scores and labels at these places. The last place holds the scores that monitors compare with.
    pub(crate) fn not_fitted(cause: NotFitted, [scores, labels, reference]: [&Location; 3]) -> Self {
        match cause {
            NotFitted::Data(cause) => cause.into(),
            NotFitted::Fit(cause @ FitError::OneClass { .. }) => Self::fit(labels.clone(), cause),
            NotFitted::Fit(cause) => Self::fit(scores.clone(), cause),
            NotFitted::ReferenceScores(cause) => Self::fit(reference.clone(), cause),
            NotFitted::Compile(cause) => cause.into(),
            NotFitted::Options(cause) => cause.into(),
            other => {
                let sentence = other.of_options().map(|cause| cause.with_names(option));
                Self::Usage(format!("{scores}: {}", sentence.unwrap_or_else(|| other.to_string())))
            }
        }
    }

    /// States that counts at a place do not stand for all rows, or that no calibrator was fitted to them.
    pub(crate) fn pass(place: Location, cause: PassError) -> Self {
        match cause {
            PassError::Fit(cause) => Self::fit(place, cause),
            cause => Self::Pass { place: Box::new(place), cause },
        }
    }

    /// Says that data at a place do not give what is asked.
    pub(crate) fn guarantee(place: Location, cause: impl Into<GuaranteeError>) -> Self {
        Self::Guarantee { place: Box::new(place), cause: cause.into() }
    }

    /// Says why a job for the data at a place has no result.
    pub(crate) fn job(place: Location, cause: JobError) -> Self {
        match cause {
            JobError::Options(cause) => cause.into(),
            JobError::Mismatch(sentence) => Self::Mismatch(sentence.into()),
            JobError::AllUncalibrated => Self::input(place, Problem::AllUncalibrated),
            JobError::Data(cause) => cause.into(),
            JobError::Fit(cause) => Self::fit(place, cause),
            JobError::Operating(cause) => Self::guarantee(place, cause),
            JobError::Sets(cause) => Self::guarantee(place, cause),
            JobError::Rule(cause) => cause.into(),
            JobError::Adjust(cause) => cause.into(),
            JobError::Monitors(cause) => CompileError::from(cause).into(),
            JobError::Write(cause) => CompileError::from(cause).into(),
            cause => Self::Usage(cause.to_string()),
        }
    }

    /// Says that rows of a file are not assessed, or not with an artifact of another one.
    pub(crate) fn assess(cause: AssessError, scores: &Path, artifact: &Path) -> Self {
        let (place, artifact) = (Location::file(scores), artifact.display());
        let name = |field: &str| option_of(field, &scores.display().to_string());
        match cause {
            AssessError::Options(cause) => Self::Usage(cause.with_names(name)),
            AssessError::Data(cause) => cause.into(),
            AssessError::Fit(cause) => Self::fit(place, cause),
            AssessError::Sets(cause) => Self::guarantee(place, cause),
            AssessError::AllUncalibrated => Self::input(place, Problem::AllUncalibrated),
            AssessError::SameRows(overlap) => {
                Self::SameRows { path: scores.into(), overlap, fitted: "the artifact was" }
            }
            AssessError::NoGroups { known } => Self::Usage(format!(
                "{artifact} has a table for each of the groups {known}: name the column of groups with --group-column"
            )),
            AssessError::UnknownGroup { name, known } => Self::Mismatch(format!(
                "the artifact has no group {name:?}\n  artifact  {artifact}: has {known}"
            )),
            AssessError::Mismatch(Mismatch { takes, got, .. }) => Self::Mismatch(format!(
                "the artifact does not fit the scores\n  artifact  {artifact}: accepts {}\n  scores    {got}",
                takes.with_names(name)
            )),
            other => Self::Usage(other.to_string()),
        }
    }

    /// The exit code: 1 for files that do not belong together, 2 for usage, 3 for input, 4 for output, 5 for a device.
    pub(crate) fn exit_code(&self) -> u8 {
        match self {
            Self::Mismatch(_) | Self::Bundle { cause: BundleError::OtherKey { .. }, .. } => 1,
            Self::Flash(FlashError::Refused(_)) => 1,
            Self::Rule(RuleError::Scores { .. } | RuleError::Groups { .. }) => 1,
            Self::Adjust(AdjustError::Reduction(_) | AdjustError::Tables(_) | AdjustError::Interpolated) => 1,
            Self::Adjust(AdjustError::Share { .. } | AdjustError::Alpha(_)) => 2,
            Self::Fleet { cause: FleetError::NoMonitors | FleetError::Calibrator { .. }, .. } => 1,
            Self::Usage(_) | Self::Data(_) | Self::Export(_) | Self::Page(_) => 2,
            #[cfg(feature = "png")]
            Self::Png(_) => 2,
            #[cfg(feature = "serial")]
            Self::Interrupt(_) => 2,
            Self::Flash(FlashError::Slots(_)) => 2,
            Self::Fit { cause, .. } if cause.is_about_options() => 2,
            Self::Pass { cause, .. } if is_about_method(cause) => 2,
            Self::Pass { .. } => 3,
            Self::Guarantee { cause, .. } if cause.is_about_options() => 2,
            Self::Compile(cause) if cause.is_about_options() => 2,
            Self::File(FileError::TwoStandardInputs | FileError::NoLabels | FileError::NoClassColumns) => 2,
            Self::File(FileError::Spill { .. }) | Self::Output(_) | Self::Random(_) | Self::Stdout(_) => 4,
            Self::Log { cause, .. } if cause.is_difference() => 1,
            Self::Recalibrate { cause, .. } if is_of_calibrator(cause) => 1,
            Self::Fleet { .. } | Self::Log { .. } | Self::Recalibrate { .. } => 3,
            Self::Bundle { .. } => 3,
            Self::File(_) | Self::Fit { .. } | Self::Compile(_) | Self::SameRows { .. } => 3,
            Self::Guarantee { .. } | Self::Rule(_) | Self::Adjust(_) => 3,
            Self::Device(_) | Self::Flash(_) => 5,
            #[cfg(feature = "serial")]
            Self::Outcome { .. } => 5,
        }
    }
}

/// The option of a field of the library, or the name of the scores.
pub(crate) fn option_of(field: &str, scores: &str) -> String {
    match field {
        "data" => scores.into(),
        "n_bins" => "--bins".into(),
        field => option(field),
    }
}

/// What was found of the rows of a file, with the names of options.
pub(crate) fn sentence(finding: &Finding, scores: &Path) -> String {
    finding.with_names(|name| option_of(name, &scores.display().to_string()))
}

/// Whether no counters would make another calibrator of this one.
fn is_of_calibrator(cause: &RecalibrateError) -> bool {
    matches!(
        cause,
        RecalibrateError::Method(_)
            | RecalibrateError::Normalized
            | RecalibrateError::Form
            | RecalibrateError::Rules
    )
}

/// Whether two passes are not enough for a method, whatever was counted.
fn is_about_method(cause: &PassError) -> bool {
    matches!(cause, PassError::Draws(_) | PassError::EveryScore(_))
}

/// An error of a file, with the options if one of them fixes it.
fn with_options(error: &FileError) -> String {
    match error {
        FileError::NoLabels => "--labels is needed beside a NumPy array".into(),
        FileError::NoClassColumns => {
            "of a table name the columns of all classes: --score-column code_0,code_1,code_2".into()
        }
        error => error.to_string(),
    }
}
