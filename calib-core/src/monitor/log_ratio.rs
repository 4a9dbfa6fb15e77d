//! Logarithms of ratios in fixed point.

/// Where the point of a logarithm is.
pub(super) const FRACTION_BITS: u32 = 56;
/// The integers that a ratio is of are below this.
const LIMIT: u64 = 1 << 61;
/// ln 2, in units of 2^-57.
const LN_2: i64 = 99_893_036_290_645_747;
/// sqrt(2) - 1, in units of 2^-64.
const SQRT_2_LESS_1: u64 = 7_640_891_576_956_012_808;
/// 1 / (2 k + 1) from k = 0 on, in units of 2^-62: the series of the area hyperbolic tangent.
const SERIES: [u64; 11] = [
    4_611_686_018_427_387_904,
    1_537_228_672_809_129_301,
    922_337_203_685_477_580,
    658_812_288_346_769_700,
    512_409_557_603_043_100,
    419_244_183_493_398_900,
    354_745_078_340_568_300,
    307_445_734_561_825_860,
    271_275_648_142_787_523,
    242_720_316_759_336_205,
    219_604_096_115_589_900,
];

/// Returns ln(numerator / denominator) in units of 2^-56, with an error of at most 2^-51, for integers from 1 to 2^61 - 1. What is
/// outside counts as the nearest of them.
///
/// For numbers in [1, 2), the ratio is between sqrt(1/2) and sqrt(2) after one halving. So z = (n - d) / (n + d) is within
/// 0.172 of 0, and ln(n / d) = 2 atanh z needs eleven terms: what is left out is below 2^-61. Takes two divisions of 64 bits.
pub(super) fn ln_ratio(numerator: u64, denominator: u64) -> i64 {
    let (numerator, denominator) = (numerator.clamp(1, LIMIT - 1), denominator.clamp(1, LIMIT - 1));
    let (zeros_n, zeros_d) = (numerator.leading_zeros(), denominator.leading_zeros());
    // In [2^60, 2^61), so that a sum is below 2^62.
    let (mut n, mut d) = (numerator << (zeros_n - 3), denominator << (zeros_d - 3));
    let mut doublings = i64::from(zeros_d) - i64::from(zeros_n);
    if n.saturating_sub(d) > product(d, SQRT_2_LESS_1).high {
        n >>= 1;
        doublings += 1;
    } else if d.saturating_sub(n) > product(n, SQRT_2_LESS_1).high {
        d >>= 1;
        doublings -= 1;
    }
    let z = quotient(n.abs_diff(d), n + d);
    let square = product(z, z).shifted_right::<62>();
    let series = SERIES.iter().rev().fold(0, |sum, &term| term + product(sum, square).shifted_right::<62>());
    // Twice the product of two numbers in units of 2^-62, in units of 2^-56.
    let magnitude = product(z, series).shifted_right::<67>() as i64;
    let logarithm = if n < d { -magnitude } else { magnitude };
    logarithm + ((doublings * LN_2) >> 1)
}

/// Returns `part / whole` in units of 2^-62, at most 2^-60 below it; `part` is below a fifth of `whole`, which is in [2^60, 2^62).
fn quotient(part: u64, whole: u64) -> u64 {
    // As long division has it, with digits of 31 bits; a divisor that is rounded up gives a digit that is never too large.
    let divisor = (whole >> 31) + 1;
    let first = part / divisor;
    let rest = (part << 31).wrapping_sub(first.wrapping_mul(whole));
    (first << 31) + rest / divisor
}

/// A product of two numbers of 64 bits.
pub(super) struct Product {
    high: u64,
    low: u64,
}

/// Multiplies without 128 bits, for which small cores have no instructions.
pub(super) fn product(a: u64, b: u64) -> Product {
    const MASK: u64 = u32::MAX as u64;
    let (a_high, a_low, b_high, b_low) = (a >> 32, a & MASK, b >> 32, b & MASK);
    let (low, cross, other) = (a_low * b_low, a_high * b_low, a_low * b_high);
    let middle = (low >> 32) + (cross & MASK) + (other & MASK);
    Product {
        high: a_high * b_high + (cross >> 32) + (other >> 32) + (middle >> 32),
        low: (middle << 32) | (low & MASK),
    }
}

impl Product {
    /// Shifts right by a constant from 1 to 127, rounding down; what does not fit in 64 bits is the largest that does.
    pub(super) const fn shifted_right<const BITS: u32>(&self) -> u64 {
        const { assert!(BITS > 0 && BITS < 128) };
        if BITS >= 64 {
            return self.high >> (BITS - 64);
        }
        if self.high >> BITS != 0 {
            return u64::MAX;
        }
        (self.high << (64 - BITS)) | (self.low >> BITS)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// 2^-51.
    const ERROR: i64 = 1 << (FRACTION_BITS - 51);

    /// Computed with 60 digits.
    #[test]
    fn reference_values() {
        for (n, d, expected) in [
            (1, 2, -49_946_518_145_322_874),
            (3, 1, 79_163_358_301_925_545),
            (10, 7, 25_701_138_313_837_883),
            (1, 1 << 32, -1_598_288_580_650_331_958),
            ((1 << 60) - 1, (1 << 59) + 12_345, 49_946_518_145_321_330),
            (1_000_000_001, 1_000_000_000, 72_057_594),
            ((1 << 33) - 1, 3, 1_569_071_740_485_340_677),
            (99, 70, 24_976_935_292_961_444),
            (70, 99, -24_976_935_292_961_445),
            (577, 408, 24_973_367_290_483_038),
        ] {
            let error = ln_ratio(n, d) - expected;
            assert!(error.abs() <= ERROR, "ln({n}/{d}) is {error} off");
        }
    }

    #[test]
    fn of_what_is_out_of_range_it_is_that_of_the_nearest() {
        assert_eq!(ln_ratio(0, 7), ln_ratio(1, 7));
        assert_eq!((ln_ratio(7, 0), ln_ratio(0, 0)), (ln_ratio(7, 1), 0));
        for beyond in [LIMIT, LIMIT + 1, u64::MAX] {
            assert_eq!(ln_ratio(7, beyond), ln_ratio(7, LIMIT - 1));
            assert_eq!(ln_ratio(beyond, 7), ln_ratio(LIMIT - 1, 7));
        }
        assert_eq!(product(u64::MAX, u64::MAX).shifted_right::<62>(), u64::MAX);
    }

    proptest! {
        #[test]
        fn is_the_logarithm(n in 1..LIMIT, d in 1..LIMIT, shifts in (0u32..60, 0u32..60)) {
            let (n, d) = ((n >> shifts.0).max(1), (d >> shifts.1).max(1));
            let expected = libm::log(n as f64) - libm::log(d as f64);
            let found = ln_ratio(n, d) as f64 / 2f64.powi(56);
            prop_assert!((found - expected).abs() < 1e-13, "{found} {expected}");
        }

        #[test]
        fn logarithms_of_ratios_add_up(n in 1..LIMIT, middle in 1..LIMIT, d in 1..LIMIT, shift in 0u32..60) {
            let middle = (middle >> shift).max(1);
            let sum = ln_ratio(n, middle) + ln_ratio(middle, d);
            prop_assert!((sum - ln_ratio(n, d)).abs() <= 3 * ERROR);
            prop_assert!((ln_ratio(n, d) + ln_ratio(d, n)).abs() <= 1);
        }

        #[test]
        fn a_product_is_that_of_128_bits(a: u64, b: u64) {
            let exact = u128::from(a) * u128::from(b);
            let found = product(a, b);
            prop_assert_eq!((u128::from(found.high) << 64) | u128::from(found.low), exact);
            prop_assert_eq!(u128::from(found.shifted_right::<67>()), exact >> 67);
            prop_assert_eq!(found.shifted_right::<24>(), u64::try_from(exact >> 24).unwrap_or(u64::MAX));
        }
    }
}
