//! Fitting binary scores as it was asked, wherever they come from.

use calib_core::{QuantizedScore, ScoreEncoding};
use calib_host::artifact::CompileError;
use calib_host::assess::evidence_of_fit;
use calib_host::binary::Ums;
use calib_host::files::Place;
use calib_host::fit::{divided, fit_weighted};
use calib_host::input::Sample;
use calib_host::{BinaryData, BinaryMethod, Fit, FitError, ScoreKind, fit_binary};

use crate::cli::error::Error;
use crate::cli::options::{CodeOptions, MethodOptions, WrittenOptions, bins_of_umd, bins_of_ums, points_for};
use crate::cli::show::Warnings;

/// A fit, or why there is none, which is said of the place that is at fault.
pub(crate) type Attempt = Result<(Fit, Option<Chosen>), FitError>;

/// What was chosen because nobody named it.
pub(crate) struct Chosen {
    /// What, and why.
    pub(crate) why: String,
    /// Among how many candidates by the scores.
    pub(crate) candidates: u32,
}

impl Chosen {
    /// The same, of scores by so many classifiers, of which nothing is guaranteed: what was chosen for its guarantee says so.
    pub(crate) fn of_classifiers(mut self, classifiers: u32) -> Self {
        if classifiers > 1 {
            self.why += &format!("; scores by {classifiers} classifiers have none");
        }
        self
    }
}

/// Refuses a table of 16-bit numbers for what has none, and bins that were chosen by labels for monitors.
pub(crate) fn check_written(
    method: &MethodOptions,
    written: &WrittenOptions,
    codes: &CodeOptions,
) -> Result<(), Error> {
    if written.is_compact() && codes.direct_table {
        return Err(Error::Usage("--direct-table goes with --table f32: leave one of them out".into()));
    }
    if written.candidates > 1 && written.monitors.take_bins_of_tables() {
        return Err(Error::Usage(
            "--candidates says that bins were chosen by these labels, and monitors count in bins that were not: add --monitor-bins \
             with a number that was set without a look at the labels"
                .into(),
        ));
    }
    // Over codes every function is one of steps.
    if written.is_compact() && codes.encoding()?.is_none() {
        method.check_steps("--table u16")?;
    }
    Ok(())
}

/// Fits points, or weighted points.
pub(crate) fn fit_sample(
    (method, written): (&MethodOptions, &WrittenOptions),
    sample: &Sample,
    (kind, encoding): (ScoreKind, Option<ScoreEncoding>),
    place: &Place,
) -> Result<Attempt, Error> {
    let data = match sample {
        Sample::Points(data) => return fit_points((method, written), data, (kind, encoding), place),
        Sample::Weighted(data) => data,
    };
    let method = method.binary((data.len(), place), kind, encoding.and_then(range_of_codes))?;
    Ok(fit_weighted(data, &method, written.divided_alpha()).map(|fit| (fit, None)))
}

/// Fits points, with the bins that suit them if nobody named any.
pub(crate) fn fit_points(
    (method, written): (&MethodOptions, &WrittenOptions),
    data: &BinaryData,
    (kind, encoding): (ScoreKind, Option<ScoreEncoding>),
    place: &Place,
) -> Result<Attempt, Error> {
    let codes = encoding.and_then(range_of_codes);
    if method.is_left_open() {
        return chosen((method, written), data, place, (kind, codes));
    }
    let method = method.binary((data.len(), place), kind, codes)?;
    Ok(fit_binary(data, &method, written.divided_alpha()).map(|fit| (fit, None)))
}

/// Fits the bins that suit so many points. Where scores tie at an edge, so that `umd` has no guarantee, it is `ums`, and alpha is
/// divided between both: which of them it is depends on the scores.
fn chosen(
    (method, written): (&MethodOptions, &WrittenOptions),
    data: &BinaryData,
    place: &Place,
    (kind, codes): (ScoreKind, Option<(f32, f32)>),
) -> Result<Attempt, Error> {
    let (n, alpha) = (data.len(), written.divided_alpha());
    // The fit refuses any other alpha, and says why.
    let epsilon = method.epsilon().filter(|_| alpha > 0.0 && alpha < 1.0);
    let Some(chosen) = bins_of_umd(n, alpha, epsilon) else {
        let epsilon = epsilon.unwrap_or_default();
        let needed = points_for(epsilon, alpha).map_or(String::new(), |n| format!(": two bins take {n}"));
        return Err(Error::Usage(format!(
            "{place}: no bins of {n} points keep a guarantee within {epsilon}{needed}; leave --epsilon out, or take a larger one"
        )));
    };
    let umd = method.umd(chosen.bins, (kind, codes.is_some()))?;
    let fit = match fit_binary(data, &umd, alpha) {
        Ok(fit) => fit,
        Err(cause) => return Ok(Err(cause)),
    };
    let only = |why| Ok(Ok((fit.clone(), Some(Chosen { why, candidates: 1 }))));
    if fit.tied_tables().next().is_none() {
        return only(chosen.why);
    }
    let halved = divided(alpha, 2);
    let split = bins_of_ums(n, halved, epsilon).map(|split| Ums { bins: split.bins, seed: method.seed() });
    let split = split.and_then(|ums| fit_binary(data, &BinaryMethod::Ums(ums), halved).ok());
    let keeps = |fit: &Fit| {
        fit.guarantee.is_some_and(|guarantee| epsilon.is_none_or(|epsilon| guarantee.epsilon <= epsilon))
    };
    match (split.filter(keeps), epsilon) {
        (Some(split), _) => {
            let why = format!(
                "chosen: ums with {} bins, because scores tie at an edge, so that umd has no guarantee; --method umd --ties \
                 randomize has a narrower one, with random numbers on the device",
                split.bins()
            );
            Ok(Ok((split, Some(Chosen { why, candidates: 2 }))))
        }
        (None, Some(epsilon)) => Err(Error::Usage(format!(
            "{place}: scores tie at the edges of bins, and neither umd nor ums keeps a guarantee within {epsilon}; leave --epsilon \
             out, or take --method umd --ties randomize with --bins"
        ))),
        (None, None) => only(format!(
            "chosen: umd with {} bins; scores tie at an edge, so that it has no guarantee",
            fit.bins()
        )),
    }
}

/// The fit as one of codes, if scores are such.
pub(crate) fn over_codes(fit: Fit, encoding: Option<ScoreEncoding>) -> Result<Fit, CompileError> {
    match encoding {
        Some(encoding) => fit.over_codes(encoding),
        None => Ok(fit),
    }
}

/// What the points that a calibrator is fitted to say against it.
pub(crate) fn warnings_of(data: &BinaryData) -> Result<Warnings, FitError> {
    let evidence = evidence_of_fit(data)?.into_iter().collect();
    Ok(Warnings { evidence, ..Warnings::default() })
}

/// What the lowest and the highest code stand for.
pub(crate) fn range_of_codes(encoding: ScoreEncoding) -> Option<(f32, f32)> {
    let (lowest, highest) = encoding.code_range()?;
    let score = |code| Some(QuantizedScore::new(encoding, code).ok()?.dequantized());
    score(lowest).zip(score(highest))
}

pub(crate) fn warnings_of_sample(sample: &Sample) -> Result<Warnings, FitError> {
    match sample {
        Sample::Points(data) => warnings_of(data),
        // The test counts points.
        Sample::Weighted(_) => Ok(Warnings::default()),
    }
}
