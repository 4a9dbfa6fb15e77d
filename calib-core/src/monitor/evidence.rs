//! Evidence against a calibrator.

use core::fmt;

use serde::{Deserialize, Serialize};

use super::log_ratio::{FRACTION_BITS, ln_ratio, product};

/// ln 2, in units of 2^-56.
const LN_2: u64 = 49_946_518_145_322_874;
/// 1, in units of 2^-62.
const ONE: u64 = 1 << 62;
/// Terms of the exponential function's series after the first: what is left out is below 2^-43.
const TERMS: u64 = 14;

/// The logarithm of evidence E >= 0, a lower bound in units of 2^-24.
///
/// ```
/// use calib_core::monitor::LogEvidence;
///
/// // What an alarm takes that is false with a probability of at most 1 in 20.
/// let alarm = LogEvidence::of_one_in(20);
/// assert!(LogEvidence::NONE < alarm);
/// assert_eq!((LogEvidence::NONE.odds(), alarm.odds()), (1, 20));
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct LogEvidence(i64);

impl LogEvidence {
    /// Neither for nor against: E = 1.
    pub const NONE: Self = Self(0);
    /// How many there are in the logarithm of e.
    pub const UNITS: i64 = 1 << 24;

    /// Makes it of a logarithm in units of 2^-24.
    pub const fn from_units(units: i64) -> Self {
        Self(units)
    }

    /// Returns the logarithm in units of 2^-24.
    pub const fn units(self) -> i64 {
        self.0
    }

    /// Returns the evidence that an alarm takes which is false with a probability of at most `1 / rarity`: ln `rarity`, rounded
    /// up.
    pub fn of_one_in(rarity: u32) -> Self {
        Self(from_log(ln_ratio(rarity.into(), 1)) + 2)
    }

    /// Returns E to be shown, as a whole number and within one part in 2^20: what a bettor has who began with 1. 0 of less than 1,
    /// and what 32 bits hold of more.
    pub fn odds(self) -> u32 {
        let Ok(units) = u64::try_from(self.0) else { return 0 };
        // ln 2^32 is 22.2.
        if units >= 23 << 24 {
            return u32::MAX;
        }
        // By what the logarithm of a whole number may have been rounded down, so that it is shown as that number.
        let steps = (units << 32).div_ceil(LN_2);
        let below = (steps * LN_2 - (units << 32)) >> 32;
        let fraction = exp_of_minus(below + 1) + (1 << 11);
        u32::try_from(product(fraction, 1 << steps).shifted_right::<32>()).unwrap_or(u32::MAX)
    }
}

impl fmt::Display for LogEvidence {
    /// Writes `1 : E`, as odds for the calibrator.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "1 : {}", self.odds())
    }
}

/// Rounds a logarithm in units of 2^-56 down to units of 2^-24.
pub(super) const fn from_log(log: i64) -> i64 {
    log >> (FRACTION_BITS - 24)
}

/// Returns a number times a logarithm in units of 2^-56, in units of 2^-24, rounded to one within a unit.
pub(super) fn times(number: i64, log: i64) -> i64 {
    let magnitude = product(number.unsigned_abs(), log.unsigned_abs()).shifted_right::<32>();
    let magnitude = i64::try_from(magnitude).unwrap_or(i64::MAX);
    if (number < 0) == (log < 0) { magnitude } else { -magnitude }
}

/// Returns exp(-x) in units of 2^-32, at most 2 units below and never above, for x in units of 2^-24.
pub(super) fn exp_of_minus(x: u64) -> u64 {
    // Below 2^-33.
    if x >= 23 << 24 {
        return 0;
    }
    let halvings = (x << 32) / LN_2;
    let rest = ((x << 32) - halvings * LN_2) << 6;
    // 1 - r (1 - r/2 (1 - r/3 ...)).
    let series = (1..=TERMS).rev().fold(ONE, |sum, term| {
        let factor: u64 = product(rest, sum).shifted_right::<62>();
        ONE - factor / term
    });
    (series >> (30 + halvings)).saturating_sub(1)
}

#[cfg(test)]
mod tests {
    use std::string::ToString;

    use proptest::prelude::*;

    use super::*;

    extern crate std;

    /// Evidence is rounded down wherever it is computed.
    #[test]
    fn the_logarithm_of_a_whole_number_rounded_down_is_shown_as_that_number() {
        for number in 1..3000u32 {
            let down = libm::floor(libm::log(number.into()) * LogEvidence::UNITS as f64) as i64;
            assert_eq!(LogEvidence::from_units(down).odds(), number);
        }
        assert_eq!(LogEvidence::of_one_in(20).to_string(), "1 : 20");
    }

    #[test]
    fn odds_are_those_that_evidence_was_made_of() {
        for rarity in (1..3000).chain([10_000, 65_536, 1_000_000, 1 << 30]) {
            let made = LogEvidence::of_one_in(rarity);
            let odds = made.odds();
            assert!(odds.abs_diff(rarity) <= rarity >> 18, "{rarity} {odds}");
            let exact = libm::log(rarity.into()) * LogEvidence::UNITS as f64;
            assert!(made.units() as f64 >= exact && made.units() as f64 <= exact + 3.0);
        }
        assert_eq!(exp_of_minus(0), (1 << 32) - 1, "rounded down, also where it is exact");
        assert_eq!(LogEvidence::from_units(-1).odds(), 0);
        assert_eq!(LogEvidence::from_units(i64::MAX).odds(), u32::MAX);
        assert_eq!(LogEvidence::from_units(-5 << 24).odds(), 0);
    }

    proptest! {
        /// A part in 2^21 of the power of two above is what is added.
        #[test]
        fn large_odds_are_shown_within_a_part_in_2_20(units in 18i64 << 24..22 << 24) {
            let exact = libm::exp(units as f64 / LogEvidence::UNITS as f64);
            let added = libm::exp2(libm::ceil(libm::log2(exact)) - 21.0);
            let shown = f64::from(LogEvidence::from_units(units).odds());
            prop_assert!(shown <= exact + added + 1e-3, "{shown} {exact}");
            prop_assert!(shown >= exact + added - exact / 2f64.powi(23) - 2.0, "{shown} {exact}");
        }

        #[test]
        fn the_exponential_is_never_too_large(x in 0u64..40 << 24) {
            let exact = libm::exp(-(x as f64) / LogEvidence::UNITS as f64) * 2f64.powi(32);
            let found = exp_of_minus(x) as f64;
            prop_assert!(found <= exact && found > exact - 2.5, "{found} {exact}");
        }

        #[test]
        fn a_multiple_is_within_a_unit(number in -(1i64 << 33)..1 << 33, log in -(1i64 << 55)..1 << 55) {
            let exact = (i128::from(number) * i128::from(log)) as f64 / 2f64.powi(32);
            prop_assert!((times(number, log) as f64 - exact).abs() <= 1.0 + exact.abs() * 1e-15);
        }
    }
}
