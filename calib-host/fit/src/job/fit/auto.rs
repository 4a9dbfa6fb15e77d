//! The bins where nobody names any.

use super::candidates::{FEWEST_BINS, MOST_BINS, kept, least_epsilon, most_bins, points_for, rounded_up};
use super::error::NotFitted;
use super::options::FitOptions;
use crate::artifact::number_of;
use crate::binary::{BinaryMethod, Umd};
use crate::data::BinaryData;
use crate::error::FitError;
use crate::fit::{Fit, fit_binary, stated_alpha};
use crate::options_error::OptionsError;

/// What was chosen because nobody named it.
#[derive(Clone, Debug, PartialEq)]
pub struct Chosen {
    /// What, and why.
    why: OptionsError,
}

impl Chosen {
    pub(super) fn new(why: impl Into<String>) -> Self {
        Self { why: OptionsError::new(why) }
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

/// Fits the bins that [suit](Umd::suitable_bins) so many points, or [the most](most_bins) that keep an epsilon whatever the labels are. If scores
/// tie at an edge, bins have other numbers of points; then it is the most that still keep it. The scores decide, and what is said of
/// tied bins holds given the scores, so alpha is not shared.
pub(super) fn fit_chosen(
    data: &BinaryData,
    epsilon: Option<f64>,
    options: &FitOptions,
) -> Result<(Fit, Chosen), NotFitted> {
    let (n, alpha, bound) = (data.len(), options.divided_alpha(), options.bound);
    if !(alpha > 0.0 && alpha < 1.0) {
        return Err(FitError::Alpha(alpha).into());
    }
    let stated = stated_alpha(alpha);
    let fit = |bins: u64| {
        let method = BinaryMethod::Umd(Umd::new(bins as usize));
        fit_binary(data, &method, alpha).map(|fit| fit.bounded_by(bound))
    };
    let Some(epsilon) = epsilon else {
        let bins = Umd::suitable_bins(n) as u64;
        let fit = fit(bins)?;
        let why = match fit.bins() as u64 {
            left if left < bins => format!(", which are left of {bins}: scores tie"),
            _ if bins == MOST_BINS => ": more are rarely needed".into(),
            _ => format!(", of {} points each", n / bins),
        };
        return Ok((fit.clone(), Chosen::new(format!("chosen: umd with {}{why}", of_bins(&fit)))));
    };
    let most = most_bins(n, stated, bound, epsilon);
    let mut least: Option<f64> = None;
    for bins in (FEWEST_BINS..=most.unwrap_or_default()).rev() {
        let fit = fit(bins)?;
        match kept(&fit, bins, stated, bound) {
            Some(kept) if kept <= epsilon => {
                let why = why(bins, epsilon, &fit, Some(bins) == most);
                return Ok((fit, Chosen::new(why)));
            }
            kept => least = kept.into_iter().chain(least).reduce(f64::min),
        }
    }
    Err(match most {
        None => {
            let (needed, least) = (points_for(epsilon, stated, bound), least_epsilon(n, stated, bound));
            NotFitted::NoBinsKeep { n, epsilon, needed, least }
        }
        Some(_) => NotFitted::TiesAtEdges { epsilon, least: least.map(rounded_up) },
    })
}

/// The number of bins, in words.
fn of_bins(fit: &Fit) -> String {
    number_of(fit.bins() as u64, "bin")
}

/// Why these are the bins, of which some may have no scores of their own.
fn why(bins: u64, epsilon: f64, fit: &Fit, is_most: bool) -> String {
    let of = of_bins(fit);
    match is_most && fit.bins() as u64 == bins {
        true if bins == MOST_BINS => {
            format!(
                "chosen: umd with {of}: they keep the guarantee within {epsilon}, and more are rarely needed"
            )
        }
        true => format!("chosen: umd with {of}, the most that keep the guarantee within {epsilon}"),
        false => {
            format!(
                "chosen: umd with {of}, the most that keep the guarantee within {epsilon} where scores tie at an edge"
            )
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::guarantee::Plan;

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

    fn taken(data: &BinaryData, epsilon: Option<f64>) -> Result<Fit, NotFitted> {
        fit_chosen(data, epsilon, &FitOptions::default()).map(|(fit, _)| fit)
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
                prop_assert!(!was_taken || taken.is_ok(), "{epsilon}");
                was_taken = taken.is_ok();
                if let Ok(fit) = taken {
                    prop_assert!(epsilon_of(&fit) <= epsilon && fit.bins() > 1);
                }
            }
            // Without one there is always a guarantee.
            let without = self::taken(&data, None).unwrap();
            prop_assert!(without.guarantee.is_some() && without.bins() <= Umd::suitable_bins(data.len()));
        }
    }

    /// Distinct scores with any labels.
    fn untied(n: u64, label: impl Fn(u64) -> bool) -> BinaryData {
        BinaryData::new((0..n).map(|i| i as f64 / n as f64).collect(), (0..n).map(label).collect()).unwrap()
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        /// Bins that a plan gives for points and epsilon are those that a fit with that epsilon makes, up to the most that are taken unasked,
        /// whatever the labels are.
        #[test]
        fn the_bins_of_a_plan_are_accepted(
            n in 20u64..6_000, epsilon in 0.03f64..0.5, alpha in prop_oneof![Just(0.1), 0.001f64..0.5], rate in 0u64..=10,
            seed in any::<u64>(),
        ) {
            let data = untied(n, |i| (i ^ seed).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 32 & 1023 < rate * 102);
            let options = FitOptions::default().alpha(alpha);
            let planned = Plan::most_bins(n, stated_alpha(alpha), epsilon).filter(|plan| plan.bins > 1);
            let fitted = fit_chosen(&data, Some(epsilon), &options);
            match planned {
                Some(plan) => {
                    let fit = fitted.unwrap().0;
                    prop_assert_eq!(fit.bins() as u64, plan.bins.min(MOST_BINS));
                    prop_assert!(epsilon_of(&fit) <= plan.epsilon.min(epsilon));
                    let named = fit_binary(&data, &BinaryMethod::Umd(Umd::new(plan.bins as usize)), alpha).unwrap();
                    prop_assert!(epsilon_of(&named) <= plan.epsilon);
                }
                None => {
                    let is_refused = matches!(fitted, Err(NotFitted::NoBinsKeep { .. }));
                    prop_assert!(is_refused);
                }
            }
        }
    }

    /// The fewest points that a plan names for two bins, and one less.
    #[test]
    fn the_points_of_a_plan_suffice() {
        for epsilon in [0.05, 0.1, 0.2] {
            let n = Plan::fewest_points(2, 0.1, epsilon).unwrap().n;
            // Near one half, where intervals are widest.
            let fit = |n: u64| taken(&untied(n, |i| i % 2 == 0), Some(epsilon));
            assert_eq!(fit(n).unwrap().bins(), 2);
            let refused = fit(n - 1).unwrap_err();
            assert!(
                matches!(refused, NotFitted::NoBinsKeep { needed: Some(needed), .. } if needed == n),
                "{refused}"
            );
        }
    }

    /// A fourth of the scores tie at the upper end.
    #[test]
    fn few_bins_that_keep_the_guarantee_come_before_a_wider_one() {
        let fit = taken(&data(1_240, 748, (0, 25)), Some(0.1)).unwrap();
        assert!(epsilon_of(&fit) <= 0.1, "{}", epsilon_of(&fit));
    }

    /// Twenty votes: edges are at scores that many share, and every bin has an interval.
    #[test]
    fn few_different_scores_have_a_guarantee() {
        let fit = taken(&data(2_000, 20, (0, 0)), None).unwrap();
        assert!(fit.bins() > 5 && epsilon_of(&fit) <= 0.15, "{} {}", fit.bins(), epsilon_of(&fit));
        assert!(fit.tied_tables().eq([0]));
    }
}
