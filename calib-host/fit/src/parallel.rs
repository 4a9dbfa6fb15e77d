//! Work on all processors.
//!
//! One function of rayon stands behind all of it: its code is made once, and not once for every closure.

use std::sync::{Mutex, MutexGuard, PoisonError};

use rayon::prelude::*;

use crate::cancel;

/// Maps the numbers below `count`, and returns the results in order. It looks before each whether the work was asked to stop.
pub(crate) fn map_range<T: Send>(count: usize, map: impl Fn(usize) -> T + Sync) -> Vec<T> {
    let results: Vec<Mutex<Option<T>>> = (0..count).map(|_| Mutex::new(None)).collect();
    for_each(count, &|number| {
        cancel::check_canceled();
        let result = map(number);
        *lock(&results[number]) = Some(result);
    });
    let result = |result: Mutex<Option<T>>| result.into_inner().unwrap_or_else(PoisonError::into_inner);
    results.into_iter().map(|of_number| result(of_number).expect("every number was mapped")).collect()
}

/// Maps items as [`map_range`] does numbers. Each takes two locks: they are for work that takes a microsecond at least.
pub(crate) fn map<I: Send, T: Send>(
    items: impl IntoIterator<Item = I>,
    map: impl Fn(I) -> T + Sync,
) -> Vec<T> {
    let items: Vec<Mutex<Option<I>>> = items.into_iter().map(|item| Mutex::new(Some(item))).collect();
    map_range(items.len(), |number| {
        let item = lock(&items[number]).take().expect("every item is mapped once");
        map(item)
    })
}

/// Merges neighbors in pairs until one is left; `None` if there are none.
pub(crate) fn merge<T: Send>(mut sums: Vec<T>, merge: &(dyn Fn(&mut T, T) + Sync)) -> Option<T> {
    while sums.len() > 1 {
        let mut rest = sums.into_iter();
        let pairs = std::iter::from_fn(|| Some((rest.next()?, rest.next())));
        sums = map(pairs, |(mut sum, other)| {
            other.into_iter().for_each(|other| merge(&mut sum, other));
            sum
        });
    }
    sums.pop()
}

/// Things that are made when there is none left over, for work that needs one at a time.
pub(crate) struct Spares<T, F>(Mutex<Vec<T>>, F);

impl<T, F: Fn() -> T> Spares<T, F> {
    pub(crate) fn new(new: F) -> Self {
        Self(Mutex::default(), new)
    }

    pub(crate) fn with<R>(&self, work: impl FnOnce(&mut T) -> R) -> R {
        let spare = lock(&self.0).pop();
        let mut one = spare.unwrap_or_else(&self.1);
        let result = work(&mut one);
        lock(&self.0).push(one);
        result
    }
}

fn for_each(count: usize, work: &(dyn Fn(usize) + Sync)) {
    (0..count).into_par_iter().for_each(work);
}

/// What is locked is never left half changed.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use std::panic::{AssertUnwindSafe, catch_unwind};

    use super::*;
    use crate::cancel::{CancelToken, NoResult};

    #[test]
    fn results_are_in_order_on_any_number_of_threads() {
        for threads in [1, 3] {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| {
                assert_eq!(map_range(1000, |number| 2 * number), (0..2000).step_by(2).collect::<Vec<_>>());
                let words = ["a", "b", "c"].map(str::to_owned);
                assert_eq!(map(words, |word| word + "!"), ["a!", "b!", "c!"]);
                assert!(map(Vec::<u8>::new(), |byte| byte).is_empty());
            });
        }
    }

    #[test]
    fn merging_keeps_the_order() {
        let join = |sum: &mut String, other: String| sum.push_str(&other);
        for count in 0..20u8 {
            let all: Vec<String> = (b'a'..b'a' + count).map(|letter| char::from(letter).into()).collect();
            assert_eq!(merge(all.clone(), &join), (count > 0).then(|| all.concat()));
        }
    }

    #[test]
    fn a_panic_comes_through() {
        let result = catch_unwind(AssertUnwindSafe(|| map_range(100, |number| assert!(number != 70))));
        assert!(result.is_err());
    }

    #[test]
    fn work_that_was_asked_to_stop_takes_no_further_number() {
        let token = CancelToken::default();
        let stopping = |_| token.cancel();
        assert!(matches!(token.run(|| map_range(64, stopping)), Err(NoResult::Canceled)));
    }

    #[test]
    fn a_spare_is_used_again() {
        let made = Mutex::new(0);
        let spares = Spares::new(|| *lock(&made) += 1);
        (0..10).for_each(|_| spares.with(|()| ()));
        assert_eq!(*lock(&made), 1);
    }
}
