//! The bins where nobody names any.

use super::candidates::{Binning, Candidate, Candidates, epsilon_from, least_epsilon, points_for};
use super::error::NotFitted;
use super::options::FitOptions;
use crate::artifact::number_of;
use crate::binary::{BinaryMethod, Umd, Ums};
use crate::data::BinaryData;
use crate::error::FitError;
use crate::fit::{Fit, fit_binary};
use crate::options_error::OptionsError;

/// What was chosen because nobody named it.
#[derive(Clone, Debug, PartialEq)]
pub struct Chosen {
    /// What, and why.
    why: OptionsError,
    /// Among how many candidates by the scores, and what this one may spend of alpha, if they share it.
    pub(super) share: Option<(u32, f64)>,
}

impl Chosen {
    pub(super) fn new(why: impl Into<String>, share: Option<(u32, f64)>) -> Self {
        Self { why: OptionsError::new(why), share }
    }

    /// Returns what was chosen, and why, with other names of the fields.
    pub fn with_names(&self, name: impl Fn(&str) -> String) -> String {
        self.why.with_names(name)
    }
}

impl std::fmt::Display for Chosen {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.why.fmt(f)
    }
}

/// Fits the bins that suit so many points: the first of [`Candidates`] whose guarantee exists and keeps its epsilon.
pub(super) fn fit_chosen(
    data: &BinaryData,
    epsilon: Option<f64>,
    options: &FitOptions,
) -> Result<(Fit, Chosen), NotFitted> {
    let (n, alpha) = (data.len(), options.divided_alpha());
    let umd = |bins: usize| BinaryMethod::Umd(Umd::new(bins));
    if !(alpha > 0.0 && alpha < 1.0) {
        return Err(FitError::Alpha(alpha).into());
    }
    let fit = |candidate: &Candidate| {
        let method = match candidate.binning {
            Binning::Umd => umd(candidate.bins),
            Binning::Ums => BinaryMethod::Ums(Ums { bins: candidate.bins, seed: options.seed }),
        };
        fit_binary(data, &method, candidate.alpha)
    };
    let candidates = Candidates::new(n, alpha, epsilon);
    if let Some((taken, fit)) = first_that_keeps(&candidates, fit)? {
        let why = candidates.why(taken, fit.bins());
        return Ok((fit, Chosen::new(why, Some((candidates.count(), taken.alpha)))));
    }
    let Some(epsilon) = epsilon else {
        // At its share of alpha, although there is no guarantee: the others were candidates.
        let first = candidates.in_turn()[0];
        let fit = fit(&first)?;
        let why = format!(
            "chosen: umd with {}; scores tie at an edge, so that it has no guarantee",
            number_of(fit.bins() as u64, "bin")
        );
        return Ok((fit, Chosen::new(why, Some((candidates.count(), first.alpha)))));
    };
    Err(match candidates.in_turn() {
        [] => NotFitted::NoBinsKeep {
            n,
            epsilon,
            needed: points_for(epsilon, alpha),
            least: least_epsilon(n, alpha, 2),
        },
        _ => NotFitted::TiesAtEdges { epsilon, least: least_kept((n, alpha), fit) },
    })
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

#[cfg(test)]
mod tests {
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

    /// A fourth of the scores tie at the upper end: two or three bins of umd keep 0.1, and no bins of ums do.
    #[test]
    fn few_bins_that_keep_the_guarantee_come_before_a_wider_one() {
        let fit = taken(&data(1_240, 748, (0, 25)), None).unwrap();
        assert!(epsilon_of(&fit) <= 0.1, "{}", epsilon_of(&fit));
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
