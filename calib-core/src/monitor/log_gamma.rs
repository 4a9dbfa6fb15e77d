//! Logarithms of ratios of the gamma function.

use super::evidence::{from_log, times};
use super::log_ratio::{FRACTION_BITS, ln_ratio, product};

/// What is left of ln gamma(x) beside Stirling's formula, for x from 1 to 15, in units of 2^-40.
const SMALL: [i64; 15] = [
    89_128_025_306,
    45_454_575_903,
    30_432_201_123,
    22_859_585_727,
    18_301_031_504,
    15_256_964_989,
    13_080_570_918,
    11_447_307_215,
    10_176_488_290,
    9_159_551_361,
    8_327_344_264,
    7_633_733_428,
    7_046_763_632,
    6_543_600_640,
    6_107_494_130,
];

/// Returns ln(gamma(x) / gamma(y)) in units of 2^-24 for integers from 1 to 2^33, with an error of at most 200 units.
///
/// By Stirling's formula it is (x - 1/2) ln(x / y) + (x - y) (ln y - 1) + s(x) - s(y): no two large numbers are subtracted. The
/// logarithms' errors of 2^-51 become 64 units each.
pub(super) fn ln_gamma_ratio(x: u64, y: u64) -> i64 {
    let ratio = ln_ratio(x, y);
    let distance = x as i64 - y as i64;
    let one: i64 = 1 << FRACTION_BITS;
    times(x as i64, ratio) - from_log(ratio >> 1)
        + times(distance, ln_ratio(y, 1) - one)
        + ((correction(x) - correction(y)) >> 16)
}

/// Returns ln gamma(x) - ((x - 1/2) ln x - x + ln(2 pi) / 2) in units of 2^-40, with an error of at most 2^-37.
fn correction(x: u64) -> i64 {
    let position = usize::try_from(x.wrapping_sub(1)).unwrap_or(usize::MAX);
    if let Some(&small) = SMALL.get(position) {
        return small;
    }
    // 1/(12 x) - 1/(360 x^3) + 1/(1260 x^5), whose next term is below 2^-38.
    let inverse = (1u64 << 48) / x.max(1);
    let square = product(inverse, inverse).shifted_right::<48>();
    let cube = product(square, inverse).shifted_right::<48>();
    let fifth = product(cube, square).shifted_right::<48>();
    ((inverse / 12 + fifth / 1260).saturating_sub(cube / 360) >> 8) as i64
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::LogEvidence;
    use super::*;

    /// Computed with 60 digits.
    #[test]
    fn reference_values() {
        for (x, y, expected) in [
            (5, 1, 3.178_053_830_347_946),
            (1, 101, -363.739_375_555_563_47),
            (5, 334, -1_601.756_655_361_509_7),
            (1_000_005, 1_000_334, -4_545.358_568_389_202),
            (1 << 32, 1 << 31, 46_973_750_136.676_37),
            (75, 5001, -37_343.570_594_780_576),
            (100_000_075, 100_005_001, -90_740.398_339_875_45),
            (16, 15, 2.708_050_201_102_21),
        ] {
            let error = ln_gamma_ratio(x, y) as f64 - expected * LogEvidence::UNITS as f64;
            // The expected value is one of 53 bits.
            assert!(error.abs() <= 200.0 + expected.abs() * 4e-9, "{x} {y}: {error} units");
        }
    }

    /// Which is what is left of the logarithm beside Stirling's formula.
    #[test]
    fn the_correction_is_within_2_to_the_minus_37() {
        for x in 1u64..400 {
            let at = x as f64;
            let half_of_ln_2_pi = 0.918_938_533_204_672_7;
            let stirling = (at - 0.5) * libm::log(at) - at + half_of_ln_2_pi;
            let exact = (libm::lgamma(at) - stirling) * 2f64.powi(40);
            assert!((correction(x) as f64 - exact).abs() <= 8.0, "{x}: {} {exact}", correction(x));
        }
    }

    proptest! {
        #[test]
        fn is_the_ratio_of_factorials(x in 1u64..5000, y in 1u64..5000) {
            let exact = libm::lgamma(x as f64) - libm::lgamma(y as f64);
            let found = ln_gamma_ratio(x, y) as f64 / LogEvidence::UNITS as f64;
            prop_assert!((found - exact).abs() < 1e-6, "{found} {exact}");
        }

        /// gamma(x + 1) = x gamma(x).
        #[test]
        fn one_more_is_a_factor_more(x in 1u64..1 << 32, shift in 0u32..32) {
            let x = (x >> shift).max(1);
            let found = ln_gamma_ratio(x + 1, x) as f64 / LogEvidence::UNITS as f64;
            prop_assert!((found - libm::log(x as f64)).abs() < 1.3e-5, "{x}: {found}");
        }
    }
}
