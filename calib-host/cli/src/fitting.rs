//! Fitting binary scores as it was asked, wherever they come from.

use calib_core::{QuantizedScore, ScoreEncoding};
use calib_fit::artifact::{CompileError, number_of};
use calib_fit::assess::evidence_of_fit;
use calib_fit::binary::Ums;
use calib_fit::fit::fit_weighted;
use calib_fit::{BinaryData, BinaryMethod, Fit, FitError, ScoreKind, fit_binary};
use calib_io::files::Place;
use calib_io::input::Sample;

use crate::error::Error;
use crate::options::{
    Binning, Candidate, Candidates, CodeOptions, MethodOptions, WrittenOptions, epsilon_from, least_epsilon,
    points_for,
};
use crate::show::Warnings;

/// A fit, or why there is none, which is said of the place that is at fault.
pub(crate) type Attempt = Result<(Fit, Option<Chosen>), FitError>;

/// What was chosen because nobody named it.
pub(crate) struct Chosen {
    /// What, and why.
    pub(crate) why: String,
    /// Among how many candidates by the scores.
    pub(crate) candidates: u32,
    /// What this one may spend of alpha, if the candidates share it.
    pub(crate) alpha: Option<f64>,
}

impl Chosen {
    /// What is chosen without a look at the rows, so that alpha is not shared.
    pub(crate) fn whatever_labels_say(why: String) -> Self {
        Self { why, candidates: 1, alpha: None }
    }

    /// Among how many candidates, and what this one may spend of alpha, if they share it.
    pub(crate) fn share(&self) -> Option<(u32, f64)> {
        self.alpha.map(|alpha| (self.candidates, alpha))
    }

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

/// Fits the bins that suit so many points: the first of [`Candidates`] whose guarantee exists and keeps its epsilon.
fn chosen(
    (method, written): (&MethodOptions, &WrittenOptions),
    data: &BinaryData,
    place: &Place,
    (kind, codes): (ScoreKind, Option<(f32, f32)>),
) -> Result<Attempt, Error> {
    let (n, alpha) = (data.len(), written.divided_alpha());
    let umd = |bins: usize| method.umd(bins, (kind, codes.is_some()));
    // What is at fault with the options is said whatever the points are.
    let few = umd(2)?;
    if !(alpha > 0.0 && alpha < 1.0) {
        // The fit refuses it, and says why.
        return Ok(fit_binary(data, &few, alpha).map(|fit| (fit, None)));
    }
    let fit = |candidate: &Candidate| {
        let method = match candidate.binning {
            Binning::Umd => umd(candidate.bins).expect("checked before"),
            Binning::Ums => BinaryMethod::Ums(Ums { bins: candidate.bins, seed: method.seed() }),
        };
        fit_binary(data, &method, candidate.alpha)
    };
    let candidates = Candidates::new(n, alpha, method.epsilon());
    let taken = match first_that_keeps(&candidates, fit) {
        Ok(taken) => taken,
        Err(cause) => return Ok(Err(cause)),
    };
    if let Some((taken, fit)) = taken {
        let why = candidates.why(taken, fit.bins());
        return Ok(Ok((fit, Some(Chosen { why, candidates: candidates.count(), alpha: Some(taken.alpha) }))));
    }
    let Some(epsilon) = method.epsilon() else {
        // At its share of alpha, although there is no guarantee: the others were candidates.
        let first = candidates.in_turn()[0];
        return Ok(fit(&first).map(|fit| {
            let why = format!(
                "chosen: umd with {}; scores tie at an edge, so that it has no guarantee",
                number_of(fit.bins() as u64, "bin")
            );
            (fit, Some(Chosen { why, candidates: candidates.count(), alpha: Some(first.alpha) }))
        }));
    };
    Err(Error::Usage(match candidates.in_turn() {
        [] => {
            let needed = points_for(epsilon, alpha).map_or(String::new(), |n| format!(": two bins take {n}"));
            let larger =
                least_epsilon(n, alpha, 2).map_or("a larger one".into(), |least| format!("{least} or more"));
            format!(
                "{place}: no bins of {n} points keep a guarantee within {epsilon}{needed}; leave --epsilon out, or take {larger}"
            )
        }
        _ => {
            let least = least_kept((n, alpha), fit);
            let least =
                least.map_or(String::new(), |least| format!(", and the least that is kept is {least}"));
            format!(
                "{place}: scores tie at the edges of bins, and neither umd nor ums keeps a guarantee within {epsilon}{least}; leave \
                 --epsilon out, take a larger one, or --method umd --ties randomize with --bins"
            )
        }
    }))
}

/// The first candidate that keeps its epsilon, and its fit.
///
/// # Errors
///
/// If the first one cannot be fitted at all: the others are fitted to the same points.
fn first_that_keeps(
    candidates: &Candidates,
    fit: impl Fn(&Candidate) -> Result<Fit, FitError>,
) -> Result<Option<(&Candidate, Fit)>, FitError> {
    for (index, candidate) in candidates.in_turn().iter().enumerate() {
        let fit = match fit(candidate) {
            Ok(fit) => fit,
            Err(cause) if index == 0 => return Err(cause),
            Err(_) => continue,
        };
        if fit.guarantee.is_some_and(|guarantee| guarantee.epsilon <= candidate.within) && fit.bins() > 1 {
            return Ok(Some((candidate, fit)));
        }
    }
    Ok(None)
}

/// The least epsilon that one of the candidates keeps, with three digits.
fn least_kept((n, alpha): (u64, f64), fit: impl Fn(&Candidate) -> Result<Fit, FitError>) -> Option<f64> {
    // All of them are among those of the largest epsilon.
    let all = Candidates::new(n, alpha, Some(0.999));
    let least = |candidate: &Candidate| {
        let fit = fit(candidate).ok().filter(|fit| fit.bins() > 1)?;
        let guarantee = fit.guarantee?;
        match candidate.binning {
            Binning::Umd => least_epsilon(n, alpha, candidate.bins),
            Binning::Ums => Some(epsilon_from(guarantee.epsilon)),
        }
    };
    all.in_turn().iter().filter_map(least).min_by(f64::total_cmp)
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

#[cfg(test)]
mod tests {
    use calib_fit::Umd;
    use proptest::prelude::*;

    use super::*;

    /// Scores that tie in many ways: in steps, and piled up at both ends.
    fn data(n: u32, steps: u32, (low, high): (u32, u32)) -> BinaryData {
        let score = |i: u32| {
            let at = f64::from(i) / f64::from(n);
            let at = if at * 100.0 < f64::from(low) {
                0.0
            } else if at * 100.0 >= f64::from(100 - high) {
                1.0
            } else {
                at
            };
            if steps == 0 { at } else { (at * f64::from(steps)).round() / f64::from(steps) }
        };
        BinaryData::new((0..n).map(score).collect(), (0..n).map(|i| i * 7 % 10 < 10 * i / n).collect())
            .unwrap()
    }

    fn taken(data: &BinaryData, epsilon: Option<f64>) -> Option<Fit> {
        let fit = |candidate: &Candidate| {
            let method = match candidate.binning {
                Binning::Umd => BinaryMethod::Umd(Umd::new(candidate.bins)),
                Binning::Ums => BinaryMethod::Ums(Ums { bins: candidate.bins, seed: 0 }),
            };
            fit_binary(data, &method, candidate.alpha)
        };
        let candidates = Candidates::new(data.len(), 0.1, epsilon);
        first_that_keeps(&candidates, fit).unwrap().map(|(_, fit)| fit)
    }

    fn epsilon_of(fit: &Fit) -> f64 {
        fit.guarantee.unwrap().epsilon
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(48))]

        /// What one epsilon accepts every larger one does, and what is said is kept.
        #[test]
        fn a_larger_epsilon_is_accepted_where_a_smaller_one_is(
            n in 100u32..8_000, steps in prop_oneof![Just(0u32), 5u32..20, 50u32..2_000],
            low in 0u32..45, high in 0u32..45, start in 0.03f64..0.2,
        ) {
            let data = data(n, steps, (low, high));
            let mut was_taken = false;
            for step in 0..8 {
                let epsilon = start * 1.15f64.powi(step);
                let taken = taken(&data, Some(epsilon));
                prop_assert!(!was_taken || taken.is_some(), "{epsilon}");
                was_taken = taken.is_some();
                if let Some(fit) = taken {
                    prop_assert!(epsilon_of(&fit) <= epsilon && fit.bins() > 1);
                }
            }
            // Without one it is kept within 0.1 where that can be asked for.
            if let Some(asked) = self::taken(&data, Some(0.1)) {
                let without = self::taken(&data, None).unwrap();
                prop_assert!(epsilon_of(&without) <= 0.1);
                prop_assert_eq!(without, asked);
            }
        }
    }

    /// Each end holds 7 % of the scores: the outermost edge of 15 bins is there, and that of 14 is not.
    #[test]
    fn another_number_of_bins_is_tried_where_an_edge_has_a_tie() {
        let data = data(5_000, 0, (7, 7));
        let fit = taken(&data, None).unwrap();
        assert_eq!(fit.method, calib_core::artifact::Method::Umd);
        assert!(epsilon_of(&fit) <= 0.1 && fit.bins() == 14, "{} {}", fit.bins(), epsilon_of(&fit));
    }
}
