//! The bins where nobody names any.

use calib_host::guarantee::{Plan, gr21_theorem3, sample_split};

/// The widest guarantee that is taken without a word.
const EPSILON: f64 = 0.1;
/// More bins than these are asked for by name.
const MOST_BINS: u64 = 15;
/// The points a bin where that guarantee is out of reach (Gupta and Ramdas 2022).
const POINTS_PER_BIN: u64 = 50;

/// A number of bins, and why it is this one. It depends on the number of points alone: a choice by their labels would have to be paid
/// for.
#[derive(Debug, PartialEq)]
pub(crate) struct ChosenBins {
    pub(crate) bins: usize,
    pub(crate) why: String,
}

/// The bins of `umd` for so many points: as many as keep epsilon, at most 15; where none do, of 50 points each, at least two. `None` if
/// an epsilon was asked for and is out of reach.
pub(crate) fn bins_of_umd(n: u64, alpha: f64, epsilon: Option<f64>) -> Option<ChosenBins> {
    let meets = |bins: u64, epsilon: f64| n / bins >= 2 && gr21_theorem3(n / bins, bins, alpha) <= epsilon;
    bins_of("umd", n, epsilon, meets)
}

/// The bins of `ums`, of which one half of the points has the edges, and the other the values: those that would keep epsilon if no
/// scores tied.
pub(crate) fn bins_of_ums(n: u64, alpha: f64, epsilon: Option<f64>) -> Option<ChosenBins> {
    let meets =
        |bins: u64, epsilon: f64| n / 2 / bins >= 2 && sample_split(n / 2 / bins, bins, alpha) <= epsilon;
    bins_of("ums", n / 2, epsilon, meets)
}

fn bins_of(method: &str, n: u64, asked: Option<f64>, meets: impl Fn(u64, f64) -> bool) -> Option<ChosenBins> {
    let epsilon = asked.unwrap_or(EPSILON);
    let most = (1..=MOST_BINS).rev().find(|&bins| meets(bins, epsilon));
    // One bin is one probability for all scores: nobody wants it unasked.
    let most = most.filter(|&bins| bins > 1 || asked.is_some());
    let (bins, why) = match (most, asked) {
        (Some(MOST_BINS), _) => (
            MOST_BINS,
            format!("{MOST_BINS} keep the guarantee within {epsilon}, and more are rarely needed"),
        ),
        (Some(bins), _) => (bins, format!("the most that keep the guarantee within {epsilon}")),
        (None, Some(_)) => return None,
        (None, None) => {
            let bins = (n / POINTS_PER_BIN).clamp(2, MOST_BINS);
            (bins, format!("of {} points each, too few for a guarantee within {epsilon}", n / bins))
        }
    };
    let word = if bins == 1 { "bin" } else { "bins" };
    Some(ChosenBins { bins: bins as usize, why: format!("chosen: {method} with {bins} {word}, {why}") })
}

/// How many points `umd` takes for two bins within epsilon.
pub(crate) fn points_for(epsilon: f64, alpha: f64) -> Option<u64> {
    Plan::fewest_points(2, alpha, epsilon).map(|plan| plan.n)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn as_many_bins_as_keep_epsilon_and_at_most_fifteen() {
        for (n, bins) in [(25_000, 15), (4_000, 12), (2_000, 6), (600, 2)] {
            let chosen = bins_of_umd(n, 0.1, None).unwrap();
            let fits = |bins: u64| Plan::new(n, bins, 0.1).unwrap().epsilon <= 0.1;
            assert!(
                fits(chosen.bins as u64) && (chosen.bins == 15 || !fits(chosen.bins as u64 + 1)),
                "{n}: {chosen:?}"
            );
            assert!(chosen.bins.abs_diff(bins) <= 2, "{n}: {chosen:?}");
        }
    }

    #[test]
    fn few_points_get_bins_of_fifty_and_never_less_than_two() {
        assert_eq!(bins_of_umd(250, 0.1, None).unwrap().bins, 5);
        assert_eq!(bins_of_umd(20, 0.1, None).unwrap().bins, 2);
        assert!(bins_of_umd(250, 0.1, None).unwrap().why.contains("of 50 points each"));
    }

    #[test]
    fn an_epsilon_that_is_asked_for_is_kept_or_refused() {
        let chosen = bins_of_umd(10_000, 0.1, Some(0.03)).unwrap();
        assert!(Plan::new(10_000, chosen.bins as u64, 0.1).unwrap().epsilon <= 0.03);
        assert_eq!(bins_of_umd(100, 0.1, Some(0.03)), None);
        let points = points_for(0.05, 0.1).unwrap();
        assert!(bins_of_umd(points, 0.1, Some(0.05)).unwrap().bins >= 2);
        assert!(bins_of_umd(points - 1, 0.1, Some(0.05)).is_none_or(|chosen| chosen.bins < 2));
    }

    #[test]
    fn sample_splitting_has_half_the_points() {
        let (umd, ums) = (bins_of_umd(5_000, 0.1, None).unwrap(), bins_of_ums(5_000, 0.1, None).unwrap());
        assert!(ums.bins < umd.bins && ums.why.starts_with("chosen: ums with "));
    }
}
