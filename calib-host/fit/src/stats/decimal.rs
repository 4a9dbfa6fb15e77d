//! Numbers as people write them: decimals, exactly.

/// A number in `(0, 1)` as the shortest decimal that it prints as: `digits / 10^places`.
#[derive(Clone, Copy)]
struct Decimal {
    /// Below 10^17.
    digits: u64,
    places: u32,
}

/// The most places of which a power of ten is a `u128`.
const MAX_PLACES: u32 = 38;

impl Decimal {
    fn of(number: f64) -> Self {
        assert!(number > 0.0 && number < 1.0, "{number}");
        let written = number.to_string();
        let decimals = written.strip_prefix("0.").expect("a number below 1 is printed so");
        let digits = decimals.parse().expect("the shortest decimal has at most 17 digits");
        Self { digits, places: decimals.len() as u32 }
    }
}

/// Computes `floor(number * times)`, where the number is the decimal that it prints as: .29 of 100 is 29, which it is not in floats.
///
/// # Panics
///
/// If the number is not in `(0, 1)`.
pub(crate) fn floor_of_product(number: f64, times: u64) -> u64 {
    let Decimal { digits, places } = Decimal::of(number);
    if places > MAX_PLACES {
        // Below 10^17 * 2^64 / 10^39.
        return 0;
    }
    // Below 10^17 * 2^64, and at most `times`.
    (u128::from(digits) * u128::from(times) / 10u128.pow(places)) as u64
}

/// Computes the `f64` nearest to 1 less the decimal that the number prints as.
///
/// # Panics
///
/// If the number is not in `(0, 1)`.
pub(crate) fn complement(number: f64) -> f64 {
    let Decimal { digits, places } = Decimal::of(number);
    // Up to here both are exact in an f64, and the quotient is rounded once.
    if places <= 15 {
        let one = 10u64.pow(places);
        (one - digits) as f64 / one as f64
    } else {
        1.0 - number
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn decimals_are_what_they_print_as() {
        for (number, times, floor) in [
            (0.29, 100, 29),
            (0.1, 10, 1),
            (0.1, 9, 0),
            (0.07, 100, 7),
            (0.999_999_999_999_999_9, 1 << 53, (1 << 53) - 1),
            (1e-300, u64::MAX, 0),
            (1e-38, u64::MAX, 0),
            (5e-17, u64::MAX, 922),
        ] {
            assert_eq!(floor_of_product(number, times), floor, "{number} of {times}");
        }
        assert_eq!((complement(0.95), complement(0.9), complement(0.8)), (0.05, 0.1, 0.2));
        assert_eq!(complement(1e-20), 1.0);
    }

    proptest! {
        #[test]
        fn products_are_exact(digits in 1u64..10_000, times in 0u64..1 << 53) {
            let number = digits as f64 / 10_000.0;
            let exact = u128::from(digits) * u128::from(times) / 10_000;
            prop_assert_eq!(u128::from(floor_of_product(number, times)), exact);
            prop_assert_eq!(complement(number), (10_000 - digits) as f64 / 10_000.0);
        }
    }
}
