//! What is fitted where nobody names a method.

use super::candidates::{FEWEST_BINS, MOST_BINS, kept, least_epsilon, most_bins, points_for, rounded_up};
use super::error::NotFitted;
use super::options::FitOptions;
use crate::artifact::number_of;
use crate::binary::{BinaryMethod, Blend, Umd};
use crate::data::BinaryData;
use crate::error::FitError;
use crate::fit::{Fit, fit_binary, stated_alpha};
use crate::options_error::OptionsError;

/// Why the default is bins, and not a blend.
#[derive(Clone, Copy)]
pub(super) enum WhyBins {
    OneLabel,
    Monitors,
    SmallNumbers,
}

impl WhyBins {
    /// What the options ask for; `None` if a blend is fitted.
    pub(super) fn of(options: &FitOptions, is_compact: bool) -> Option<Self> {
        match &options.monitors {
            Some(monitors) if monitors.bins.is_none() => Some(Self::Monitors),
            _ => is_compact.then_some(Self::SmallNumbers),
        }
    }

    pub(super) fn text(self) -> &'static str {
        match self {
            Self::OneLabel => "if all labels are the same, only bins have bounds",
            Self::Monitors => {
                "monitors count in these bins; of one score, `monitor_bins` gives monitors separate bins and fits a blend"
            }
            Self::SmallNumbers => "a table of 16-bit numbers holds bins",
        }
    }
}

/// Fits a [`Blend`], or if there is a reason bins that [suit](Umd::suitable_bins) so many points.
pub(super) fn fit_chosen(data: &BinaryData, options: &FitOptions) -> Result<(Fit, OptionsError), NotFitted> {
    let (alpha, bound) = (options.divided_alpha(), options.bound);
    let why = match WhyBins::of(options, options.is_compact()) {
        Some(why) => why,
        None => match fit_binary(data, &BinaryMethod::Blend(Blend::new(options.seed)), alpha) {
            Err(FitError::OneClass { .. }) => WhyBins::OneLabel,
            fit => return Ok((fit?, why_blend(true))),
        },
    };
    let bins = Umd::suitable_bins(data.len()) as u64;
    let fit = fit_binary(data, &BinaryMethod::Umd(Umd::new(bins as usize)), alpha)?.bounded_by(bound);
    let left = if (fit.bins() as u64) < bins {
        format!(", which remain of {bins} because scores tie")
    } else {
        String::new()
    };
    let chosen = OptionsError::new(format!("chosen: umd with {}{left}: {}", of_bins(&fit), why.text()));
    Ok((fit, chosen))
}

/// Why a blend was fitted, and of one score what gives bins in its place.
pub(super) fn why_blend(names_bins: bool) -> OptionsError {
    let bins =
        if names_bins { "; `epsilon=0.1` gives bins whose probability is guaranteed within 0.1" } else { "" };
    OptionsError::new(format!(
        "chosen: blend, on average nearer to known curves than any single method{bins}"
    ))
}

/// Fits [the most bins](most_bins) that keep an epsilon whatever the labels are. If scores tie at an edge, bins have other numbers of
/// points; then it is the most that still keep it. The scores decide, and what is said of
/// tied bins holds given the scores, so alpha is not shared.
pub(super) fn fit_within(
    data: &BinaryData,
    epsilon: f64,
    options: &FitOptions,
) -> Result<(Fit, OptionsError), NotFitted> {
    let (n, alpha, bound) = (data.len(), options.divided_alpha(), options.bound);
    if !(alpha > 0.0 && alpha < 1.0) {
        return Err(FitError::Alpha(alpha).into());
    }
    let stated = stated_alpha(alpha);
    let fit = |bins: u64| {
        let method = BinaryMethod::Umd(Umd::new(bins as usize));
        fit_binary(data, &method, alpha).map(|fit| fit.bounded_by(bound))
    };
    let most = most_bins(n, stated, bound, epsilon);
    let mut least: Option<f64> = None;
    for bins in (FEWEST_BINS..=most.unwrap_or_default()).rev() {
        let fit = fit(bins)?;
        match kept(&fit, bins, stated, bound) {
            Some(kept) if kept <= epsilon => {
                let why = why(bins, epsilon, &fit, Some(bins) == most);
                return Ok((fit, OptionsError::new(why)));
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

/// Why these are the bins, of which some may have no separate scores.
fn why(bins: u64, epsilon: f64, fit: &Fit, is_most: bool) -> String {
    let of = of_bins(fit);
    match is_most && fit.bins() as u64 == bins {
        true if bins == MOST_BINS => {
            format!(
                "chosen: umd with {of}: they keep the guarantee within {epsilon}, and more are rarely needed"
            )
        }
        true => format!("chosen: umd with {of}, the largest number with a guarantee within {epsilon}"),
        false => {
            format!(
                "chosen: umd with {of}, the largest number with a guarantee within {epsilon} if scores tie at an edge"
            )
        }
    }
}

#[cfg(test)]
mod tests {
    use calib_core::artifact::Method;
    use proptest::prelude::*;

    use super::super::method_name::TableWidth;
    use super::super::options::MonitorOptions;
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

    fn taken(data: &BinaryData, epsilon: f64) -> Result<Fit, NotFitted> {
        fit_within(data, epsilon, &FitOptions::default()).map(|(fit, _)| fit)
    }

    /// The bins that monitors count in.
    fn bins(data: &BinaryData) -> (Fit, OptionsError) {
        fit_chosen(data, &FitOptions::default().monitors(MonitorOptions::default())).unwrap()
    }

    #[test]
    fn a_blend_is_fitted_unless_something_needs_bins() {
        let mixed = data(2_000, 0, (0, 0));
        let (fit, chosen) = fit_chosen(&mixed, &FitOptions::default()).unwrap();
        assert_eq!((fit.method(), fit.guarantee()), (Method::Blend, None));
        assert!(chosen.to_string().starts_with("chosen: blend"), "{chosen}");
        let own_bins = MonitorOptions { bins: Some(10), ..MonitorOptions::default() };
        let (fit, _) = fit_chosen(&mixed, &FitOptions::default().monitors(own_bins)).unwrap();
        assert_eq!(fit.method(), Method::Blend);

        let small = FitOptions::default().table(TableWidth::U16);
        for (fit, chosen) in [
            bins(&mixed),
            fit_chosen(&mixed, &small).unwrap(),
            fit_chosen(&untied(2_000, |_| false), &FitOptions::default()).unwrap(),
        ] {
            assert_eq!((fit.method(), fit.bins()), (Method::Umd, 13));
            assert!(fit.guarantee().is_some(), "{chosen}");
            assert!(chosen.to_string().starts_with("chosen: umd with 13 bins: "), "{chosen}");
        }
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
                let taken = taken(&data, epsilon);
                prop_assert!(!was_taken || taken.is_ok(), "{epsilon}");
                was_taken = taken.is_ok();
                if let Ok(fit) = taken {
                    prop_assert!(epsilon_of(&fit) <= epsilon && fit.bins() > 1);
                }
            }
            // For monitors there are always bins with a guarantee.
            let bins = bins(&data).0;
            prop_assert!(bins.guarantee.is_some() && bins.bins() <= Umd::suitable_bins(data.len()));
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
            let fitted = fit_within(&data, epsilon, &options);
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
            let fit = |n: u64| taken(&untied(n, |i| i % 2 == 0), epsilon);
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
        let fit = taken(&data(1_240, 748, (0, 25)), 0.1).unwrap();
        assert!(epsilon_of(&fit) <= 0.1, "{}", epsilon_of(&fit));
    }

    /// Twenty votes: edges are at scores that many share, and every bin has an interval.
    #[test]
    fn few_different_scores_have_a_guarantee() {
        let fit = bins(&data(2_000, 20, (0, 0))).0;
        assert!(fit.bins() > 5 && epsilon_of(&fit) <= 0.15, "{} {}", fit.bins(), epsilon_of(&fit));
        assert!(fit.tied_tables().eq([0]));
    }
}
