//! Drawing without replacement.

use rand::{Rng, RngExt};
use rand_distr::{Distribution, Hypergeometric};

/// Numbers of marked things from here on are drawn by a method whose time does not grow.
const INVERSE_BELOW: f64 = 10.0;

/// Up to here a quotient of factorials, multiplied out one by one as [`Hypergeometric`] does, is a matter of seconds at most.
const MULTIPLIED_OUT: u64 = 1 << 24;

/// How many of the `marked` of `all` things are among `sample` drawn without replacement: the number that [`Hypergeometric`]
/// draws from the same generator, which needs time in proportion to `all` for each draw of few.
///
/// The probability of the lowest number, from which the others follow, is a quotient of factorials. It is taken here as a
/// product of as few terms as are left of it; where its rounding could matter for what is drawn, the other is asked.
///
/// # Panics
///
/// If more are marked or drawn than there are.
pub(crate) fn draw_marked<R: Rng + Clone>(rng: &mut R, all: u64, marked: u64, sample: u64) -> u64 {
    assert!(marked <= all && sample <= all, "no more than there are");
    let (few, many) = (marked.min(all - marked), marked.max(all - marked));
    let drawn = sample.min(all - sample);
    let mode = ((drawn + 1) as f64 * (few + 1) as f64 / (all + 2) as f64).floor();
    if mode >= INVERSE_BELOW || drawn >= many {
        return by_definition(rng, all, marked, sample);
    }
    let before = rng.clone();
    let Some(count) = inverse(rng.random(), all, few, drawn) else {
        *rng = before;
        return by_definition(rng, all, marked, sample);
    };
    // So many of the few are among the drawn, of which either may be the other part of the whole.
    let of_sample = if drawn == sample { count } else { few - count };
    if few == marked { of_sample } else { sample - of_sample }
}

fn by_definition(rng: &mut impl Rng, all: u64, marked: u64, sample: u64) -> u64 {
    Hypergeometric::new(all, marked, sample).expect("no more than there are").sample(rng)
}

/// The number whose cumulative probability reaches `u`; `None` if rounding decides.
fn inverse(mut u: f64, all: u64, few: u64, drawn: u64) -> Option<u64> {
    let many = all - few;
    // (many! (all - drawn)!) / (all! (many - drawn)!), of which the shorter way cancels all but this.
    let (terms, top) = if few <= drawn { (few, all - drawn) } else { (drawn, many) };
    let mut prob: f64 = (0..terms).map(|i| (top - i) as f64 / (all - i) as f64).product();
    // What two roundings of every factor may add up to.
    let uncertainty = if all <= MULTIPLIED_OUT { 1e-15 * (all + 1000) as f64 } else { 0.0 };
    let mut count = 0;
    loop {
        if count >= drawn.min(few) {
            return Some(count);
        }
        if (u - prob).abs() <= uncertainty {
            return None;
        }
        if u <= prob {
            return Some(count);
        }
        u -= prob;
        prob *= (few - count) as f64 * (drawn - count) as f64;
        prob /= (count + 1) as f64 * (many - drawn + 1 + count) as f64;
        count += 1;
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rand::SeedableRng;
    use rand_xoshiro::Xoshiro256PlusPlus;

    use super::*;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2000))]

        /// The same numbers from the same generator, which is then in the same state.
        #[test]
        fn draws_what_the_definition_draws(
            (all, marked, sample) in prop_oneof![1u64..40, 1u64..3000, 100_000u64..100_100].prop_flat_map(|all| {
                let some = move || prop_oneof![0..=all, (0..=all.min(25)), (0..=all.min(3)).prop_map(move |n| all - n)];
                (Just(all), some(), some())
            }),
            seed in any::<u64>(),
        ) {
            // Where its factorials overflow there is no other.
            let Ok(definition) = Hypergeometric::new(all, marked, sample) else { return Ok(()) };
            let mut ours = Xoshiro256PlusPlus::seed_from_u64(seed);
            let mut theirs = ours.clone();
            prop_assert_eq!(draw_marked(&mut ours, all, marked, sample), definition.sample(&mut theirs));
            prop_assert_eq!(ours, theirs);
        }
    }

    /// Where a number lies on the boundary of two, it is not this method that decides.
    #[test]
    fn what_rounding_decides_is_left_to_the_definition() {
        assert_eq!(inverse(0.6, 10, 1, 4), None);
        assert_eq!(inverse(0.599_999, 10, 1, 4), Some(0));
        assert_eq!(inverse(0.600_001, 10, 1, 4), Some(1));
        assert_eq!((inverse(1.0, 10, 0, 4), inverse(0.7, 10, 3, 0)), (Some(0), Some(0)));
    }

    /// Of so many things the sum of all points' draws comes in time, and is the size of the sample.
    #[test]
    fn a_million_draws_take_no_longer_each() {
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(1);
        let (mut left, mut wanted) = (1_000_000, 300_000);
        while left > 0 {
            wanted -= draw_marked(&mut rng, left, 1, wanted);
            left -= 1;
        }
        assert_eq!(wanted, 0);
    }
}
