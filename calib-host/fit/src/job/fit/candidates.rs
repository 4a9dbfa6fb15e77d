//! The bins where nobody names any: candidates that are gone through in turn, and what each may spend of alpha.

use crate::artifact::number_of;
use crate::guarantee::sample_split;

/// The widest guarantee that is taken without a word.
const EPSILON: f64 = 0.1;
/// More bins than these are asked for by name.
const MOST_BINS: u64 = 15;
/// One bin is one probability for all scores: nobody wants it unasked.
const FEWEST_BINS: u64 = 2;
/// The points a bin where that guarantee is out of reach (Gupta and Ramdas 2022).
const POINTS_PER_BIN: u64 = 50;
/// What the candidates of `umd` may spend of alpha; those of `ums` have the rest. `umd` is taken unless scores tie.
const PART_OF_UMD: f64 = 0.9;
/// No candidate has less of alpha than this part, however many points there are.
const LEAST_PART: f64 = 1e-4;

/// How a candidate has its bins.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Binning {
    /// `umd`.
    Umd,
    /// `ums`.
    Ums,
}

/// A number of bins that may be taken.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Candidate {
    pub(super) binning: Binning,
    pub(super) bins: usize,
    /// What it may spend of alpha: it is fitted at this.
    pub(super) alpha: f64,
    /// It is taken if its guarantee is not wider than this.
    pub(super) within: f64,
}

/// What is tried in turn; the first is taken whose guarantee exists and keeps its epsilon.
///
/// Which one it is depends on the scores: on those that tie, and for `ums` on the points that fall into each bin. That is a choice by the
/// rows that are fitted, so the candidates share alpha. They and their shares depend on the number of points, alpha and the epsilon that
/// is asked for, on nothing that the rows say; each fails with a probability of at most its share, so any with at most their sum, which
/// is alpha (union bound).
///
/// A candidate of `umd` gets what Theorem 3 takes for epsilon with its bins; that falls fast with their number, so the first one keeps
/// most. A larger epsilon takes less of each: all candidates of a smaller one are among those of a larger one. The shares of `ums` do
/// not depend on epsilon. Hence whatever keeps an epsilon is taken for any larger one, too, or something before it is.
pub(super) struct Candidates {
    /// In turn; the last may be taken with a wider guarantee.
    in_turn: Vec<Candidate>,
    count: u32,
    epsilon: f64,
    points_per_bin: Option<u64>,
}

impl Candidates {
    /// Those for so many points; none if an epsilon was asked for and not even two bins keep it.
    pub(super) fn new(n: u64, alpha: f64, asked: Option<f64>) -> Self {
        // What an artifact states is a float of 32 bits, and they are not to spend more.
        let alpha = alpha.min(f64::from(alpha as f32));
        let epsilon = asked.unwrap_or(EPSILON);
        let of_umd = umd_within(n, PART_OF_UMD * alpha, alpha, epsilon);
        let of_fifty = |n: u64| (n / POINTS_PER_BIN).clamp(FEWEST_BINS, MOST_BINS);
        let mut points_per_bin = None;
        let of_umd = match (&of_umd[..], asked) {
            ([], Some(_)) => {
                return Self { in_turn: Vec::new(), count: 0, epsilon, points_per_bin };
            }
            ([], None) => {
                let bins = of_fifty(n);
                points_per_bin = Some(n / bins);
                let alpha = rounded(PART_OF_UMD * alpha, f64::floor);
                vec![Candidate { binning: Binning::Umd, bins: bins as usize, alpha, within: f64::INFINITY }]
            }
            _ => of_umd,
        };
        let rest = (1.0 - PART_OF_UMD) * alpha;
        let share = rounded(rest / (MOST_BINS + 1 - FEWEST_BINS) as f64, f64::floor);
        let ums = |bins: u64, alpha: f64, within: f64| Candidate {
            binning: Binning::Ums,
            bins: bins as usize,
            alpha,
            within,
        };
        // Of the two halves, one has the edges and the other the values.
        let (half, wide) = (n / 2, 1.0);
        let is_in_reach =
            half / FEWEST_BINS >= 1 && sample_split(half / FEWEST_BINS, FEWEST_BINS, share) <= epsilon;
        let of_ums: Vec<Candidate> = match asked {
            None if !is_in_reach => Vec::new(),
            _ => (FEWEST_BINS..=MOST_BINS).rev().map(|bins| ums(bins, share, epsilon)).collect(),
        };
        // With a wider guarantee, after all that keep epsilon: one of the others, or else the only one of `ums`.
        let last = asked.is_none().then(|| {
            let alpha = if is_in_reach { share } else { rounded(rest, f64::floor) };
            ums(of_fifty(half), alpha, wide)
        });
        let count = (of_umd.len() + of_ums.len() + usize::from(last.is_some() && !is_in_reach)) as u32;
        // A few bins of `umd` say less than more bins of `ums`, which has the half of the points.
        let most = of_umd.first().map_or(0, |first| first.bins);
        let (many, few): (Vec<_>, Vec<_>) =
            of_umd.into_iter().partition(|candidate| candidate.bins >= most.div_ceil(2));
        let in_turn = many.into_iter().chain(of_ums).chain(few).chain(last).collect();
        Self { in_turn, count, epsilon, points_per_bin }
    }

    /// In the order in which they are tried.
    pub(super) fn in_turn(&self) -> &[Candidate] {
        &self.in_turn
    }

    /// How many share alpha.
    pub(super) fn count(&self) -> u32 {
        self.count
    }

    /// Why a candidate is the one, whose fit has so many bins.
    pub(super) fn why(&self, taken: &Candidate, bins: usize) -> String {
        let (epsilon, in_bins) = (self.epsilon, number_of(bins as u64, "bin"));
        let is_first = self.in_turn.first() == Some(taken);
        match (taken.binning, self.points_per_bin) {
            (Binning::Umd, Some(points)) => format!(
                "chosen: umd with {in_bins}, of {points} points each, too few for a guarantee within {epsilon}"
            ),
            (Binning::Umd, None) if is_first && bins as u64 == MOST_BINS => format!(
                "chosen: umd with {in_bins}, {bins} keep the guarantee within {epsilon}, and more are rarely needed"
            ),
            (Binning::Umd, None) if is_first => {
                format!("chosen: umd with {in_bins}, the most that keep the guarantee within {epsilon}")
            }
            (Binning::Umd, None) => format!(
                "chosen: umd with {in_bins}, the most that keep the guarantee within {epsilon} and have no tie at an edge"
            ),
            (Binning::Ums, _) => format!(
                "chosen: ums with {in_bins}, because scores tie at an edge, so that umd has no guarantee; `method=umd-randomized` \
                 has a narrower one, with random numbers on the device"
            ),
        }
    }
}

/// `umd` with the most bins that keep epsilon, and with all fewer ones, which together spend no more than `part` of alpha.
fn umd_within(n: u64, part: f64, alpha: f64, epsilon: f64) -> Vec<Candidate> {
    // Theorem 3, solved for alpha.
    let needed = |bins: u64| {
        let exponent = -2.0 * ((n / bins) as f64 - 1.0) * epsilon * epsilon;
        // Rounded up, and away from what the last bit decides.
        rounded((2.0 * bins as f64 * exponent.exp()).max(LEAST_PART * alpha) * (1.0 + 1e-9), f64::ceil)
    };
    let mut spent = 0.0;
    let mut candidates: Vec<Candidate> = (FEWEST_BINS..=MOST_BINS)
        .take_while(|&bins| {
            spent += needed(bins);
            n / bins >= 2 && spent <= part
        })
        .map(|bins| Candidate {
            binning: Binning::Umd,
            bins: bins as usize,
            alpha: needed(bins),
            within: epsilon,
        })
        .collect();
    candidates.reverse();
    let others: f64 = candidates.iter().skip(1).map(|candidate| candidate.alpha).sum();
    if let Some(first) = candidates.first_mut() {
        first.alpha = rounded(part - others, f64::floor).max(first.alpha);
    }
    candidates
}

/// A positive number with three digits, so that an artifact's parameters stay short.
fn rounded(number: f64, to: fn(f64) -> f64) -> f64 {
    let exponent = number.log10().floor() as i32 - 2;
    let digits = to(number / 10f64.powi(exponent));
    format!("{digits}e{exponent}").parse().expect("a number")
}

/// The least epsilon for which `umd` with so many bins is a candidate, with three digits; `None` if none below 1 is.
pub(super) fn least_epsilon(n: u64, alpha: f64, bins: usize) -> Option<f64> {
    let is_kept = |epsilon: f64| {
        Candidates::new(n, alpha, Some(epsilon))
            .in_turn
            .iter()
            .any(|one| one.bins == bins && one.binning == Binning::Umd)
    };
    let (mut not, mut kept) = (0.0, 0.999);
    if !is_kept(kept) {
        return None;
    }
    while kept - not > 1e-7 {
        let middle = f64::midpoint(not, kept);
        if is_kept(middle) { kept = middle } else { not = middle }
    }
    Some(rounded(kept, f64::ceil))
}

/// An epsilon with three digits that is not below this one.
pub(super) fn epsilon_from(epsilon: f64) -> f64 {
    rounded(epsilon, f64::ceil)
}

/// How many points `umd` takes for two bins within epsilon; `None` if more than anybody has.
pub(super) fn points_for(epsilon: f64, alpha: f64) -> Option<u64> {
    let is_enough = |n: u64| !Candidates::new(n, alpha, Some(epsilon)).in_turn.is_empty();
    let (mut too_few, mut enough) = (1u64, 1u64 << 50);
    if !is_enough(enough) {
        return None;
    }
    while enough - too_few > 1 {
        let middle = too_few.midpoint(enough);
        if is_enough(middle) { enough = middle } else { too_few = middle }
    }
    Some(enough)
}

#[cfg(test)]
mod tests {
    use crate::guarantee::{Plan, gr21_theorem3};
    use proptest::prelude::*;

    use super::*;

    fn first(n: u64, epsilon: Option<f64>) -> Candidate {
        Candidates::new(n, 0.1, epsilon).in_turn[0]
    }

    #[test]
    fn nearly_as_many_bins_as_theorem_3_allows_and_at_most_fifteen() {
        for n in [25_000, 5_000, 4_000, 2_000, 1_000, 600] {
            let candidate = first(n, None);
            let most = Plan::most_bins(n, 0.1, 0.1).unwrap().bins.min(15) as usize;
            assert!(candidate.bins <= most && most <= candidate.bins + 2, "{n}: {candidate:?}, of {most}");
        }
    }

    #[test]
    fn few_points_get_bins_of_fifty_and_never_less_than_two() {
        assert_eq!(first(250, None).bins, 5);
        assert_eq!(first(20, None).bins, 2);
        let few = Candidates::new(250, 0.1, None);
        assert_eq!(few.count(), 2);
        assert!(few.why(&few.in_turn()[0], 5).contains("of 50 points each"));
    }

    #[test]
    fn an_epsilon_that_is_asked_for_is_kept_or_refused() {
        assert!(Candidates::new(100, 0.1, Some(0.03)).in_turn().is_empty());
        let points = points_for(0.05, 0.1).unwrap();
        assert_eq!(first(points, Some(0.05)).bins, 2);
        assert!(Candidates::new(points - 1, 0.1, Some(0.05)).in_turn().is_empty());
        let least = least_epsilon(points, 0.1, 2).unwrap();
        assert!((0.0495..=0.0501).contains(&least), "{least}");
        assert_eq!(least_epsilon(10, 0.1, 15), None);
    }

    #[test]
    fn the_order_is_many_bins_of_umd_then_ums_then_few_of_umd() {
        let order: Vec<_> =
            Candidates::new(2_000, 0.1, None).in_turn().iter().map(|one| (one.binning, one.bins)).collect();
        assert_eq!(order[..4], [7, 6, 5, 4].map(|bins| (Binning::Umd, bins)));
        assert_eq!(order[4], (Binning::Ums, 15));
        let few = order.iter().position(|one| *one == (Binning::Umd, 3)).unwrap();
        assert!(few > 4 && order[few - 1] == (Binning::Ums, 2) && order[few + 1] == (Binning::Umd, 2));
    }

    proptest! {
        /// The union bound is paid, every share keeps epsilon, and the first one has the most.
        #[test]
        fn the_shares_add_up_to_alpha(
            n in 4u64..100_000, alpha in 1e-6f64..0.9, epsilon in proptest::option::of(0.01f64..0.9),
        ) {
            let candidates = Candidates::new(n, alpha, epsilon);
            let mut shares: Vec<_> = Vec::new();
            for one in candidates.in_turn() {
                let share = (one.binning == Binning::Umd, one.bins, one.alpha);
                // One may come again, last, with a wider guarantee.
                if !shares.contains(&share) {
                    shares.push(share);
                }
                prop_assert!(one.alpha > 0.0);
                if one.binning == Binning::Umd && one.within < 1.0 {
                    prop_assert!(gr21_theorem3(n / one.bins as u64, one.bins as u64, one.alpha) <= one.within);
                }
            }
            let sum: f64 = shares.iter().map(|(.., alpha)| alpha).sum();
            prop_assert!(sum <= f64::from(alpha as f32).min(alpha) * (1.0 + 1e-12), "{sum} of {alpha}");
            prop_assert_eq!(shares.len() as u32, candidates.count());
            if let Some((_, _, first)) = shares.first() {
                prop_assert!(shares.iter().all(|(.., alpha)| alpha <= first));
            }
        }

        /// Those of a smaller epsilon are among those of a larger one.
        #[test]
        fn a_larger_epsilon_loses_no_candidate(
            n in 4u64..100_000, alpha in 1e-6f64..0.9, small in 0.01f64..0.9, more in 0.0f64..0.5,
        ) {
            let bins = |epsilon: f64| -> Vec<(bool, usize)> {
                let candidates = Candidates::new(n, alpha, Some(epsilon));
                candidates.in_turn().iter().map(|one| (one.binning == Binning::Umd, one.bins)).collect()
            };
            let (small, large) = (bins(small), bins((small + more).min(0.99)));
            prop_assert!(small.iter().all(|one| large.contains(one)), "{small:?} {large:?}");
        }
    }
}
