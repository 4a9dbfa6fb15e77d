//! Which of the last predictions have an outcome that was told: no outcome counts twice.

use crate::error::{
    CALIB_ERROR_LATE, CALIB_ERROR_NO_PREDICTION, CALIB_ERROR_RESTARTED, CALIB_ERROR_TOLD, Result,
};

/// How far apart predictions may be whose outcomes are reported in any order. An outcome is rejected once the outcome of a prediction that
/// came this many later is known.
pub const CALIB_TOLD_WINDOW: u32 = 256;

const WORDS: usize = CALIB_TOLD_WINDOW as usize / 32;

/// The numbers of counted predictions, and a window over those with a known outcome that moves with the outcomes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ToldOutcomes {
    /// The number of the last prediction.
    last: u32,
    /// No outcome is taken of a prediction up to this number.
    closed: u32,
    /// Predictions up to this number were before the restart: nobody knows which of their outcomes were told.
    before: u32,
    /// Of each number of the window, at its remainder: whether its outcome is known, and whether it is positive.
    known: [u32; WORDS],
    positive: [u32; WORDS],
}

impl ToldOutcomes {
    /// Words that hold all of it.
    pub(crate) const SAVED_WORDS: usize = 2 + 2 * WORDS;

    /// After a prediction of this number, without any outcome.
    pub(crate) const fn after(last: u32) -> Self {
        Self { last, closed: 0, before: 0, known: [0; WORDS], positive: [0; WORDS] }
    }

    /// Accepts no outcome of any prediction so far, nor of one up to this number: before the first prediction these are from before the
    /// restart.
    pub(crate) fn anew(&self, skipped: u32) -> Self {
        let before = if self.last == 0 { skipped } else { self.before };
        let last = self.last.max(skipped);
        Self { closed: last, before, ..Self::after(last) }
    }

    /// The number of the last prediction; 0 if there is none.
    pub(crate) const fn last(&self) -> u32 {
        self.last
    }

    /// Takes note of the number of the next prediction.
    pub(crate) const fn predict(&mut self, number: u32) {
        self.last = number;
    }

    /// Whether this very outcome is known. Another one of the same prediction, one of no prediction, and one that comes too late are errors.
    pub(crate) fn is_known(&self, number: u32, is_positive: bool) -> Result<bool> {
        if number == 0 || number > self.last {
            return Err(CALIB_ERROR_NO_PREDICTION);
        }
        if number <= self.before {
            return Err(CALIB_ERROR_RESTARTED);
        }
        if number <= self.closed {
            return Err(CALIB_ERROR_LATE);
        }
        // Beyond the window nothing is known.
        if number.saturating_sub(self.closed) > CALIB_TOLD_WINDOW || !bit(&self.known, number) {
            return Ok(false);
        }
        if bit(&self.positive, number) == is_positive { Ok(true) } else { Err(CALIB_ERROR_TOLD) }
    }

    /// Takes note of an outcome that is not known.
    pub(crate) fn tell(&mut self, number: u32, is_positive: bool) {
        let end = self.closed.saturating_add(CALIB_TOLD_WINDOW);
        if number > end {
            // What the window comes to lie over has no outcome yet.
            for entered in (end..number).take(CALIB_TOLD_WINDOW as usize) {
                set(&mut self.known, entered.saturating_add(1), false);
            }
            self.closed = number.saturating_sub(CALIB_TOLD_WINDOW);
        }
        set(&mut self.known, number, true);
        set(&mut self.positive, number, is_positive);
    }

    pub(crate) fn words(&self) -> impl Iterator<Item = u32> + '_ {
        [self.last, self.closed].into_iter().chain(self.known).chain(self.positive)
    }

    /// What [`ToldOutcomes::words`] gave; nothing if there are too few.
    pub(crate) fn restored(words: &mut impl Iterator<Item = u32>) -> Option<Self> {
        let (last, closed) = (words.next()?, words.next()?);
        let mut told = Self { closed, ..Self::after(last) };
        for word in told.known.iter_mut().chain(&mut told.positive) {
            *word = words.next()?;
        }
        Some(told)
    }
}

fn bit(words: &[u32; WORDS], number: u32) -> bool {
    let at = number % CALIB_TOLD_WINDOW;
    words.get(at as usize / 32).is_some_and(|word| word >> (at % 32) & 1 == 1)
}

fn set(words: &mut [u32; WORDS], number: u32, is_set: bool) {
    let at = number % CALIB_TOLD_WINDOW;
    if let Some(word) = words.get_mut(at as usize / 32) {
        *word = *word & !(1 << (at % 32)) | u32::from(is_set) << (at % 32);
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::vec::Vec;

    use super::*;

    /// Numbers in a scattered order, against a map of everything that was told.
    #[test]
    fn no_outcome_counts_twice_and_none_within_the_window_is_lost() {
        let mut random = 12_345u32;
        let mut next = || {
            random = random.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            random >> 8
        };
        let (mut told, mut model, mut latest) = (ToldOutcomes::after(0), BTreeMap::new(), 0);
        for _ in 0..200_000 {
            if next() % 2 == 0 || told.last() == 0 {
                // Now and then many.
                for _ in 0..if next() % 500 == 0 { 700 } else { 1 } {
                    told.predict(told.last() + 1);
                }
                continue;
            }
            let number = told.last().saturating_sub(next() % 400);
            let is_positive = next() % 2 == 0;
            let expected = match model.get(&number) {
                _ if number == 0 => Err(CALIB_ERROR_NO_PREDICTION),
                _ if latest >= CALIB_TOLD_WINDOW && number <= latest - CALIB_TOLD_WINDOW => {
                    Err(CALIB_ERROR_LATE)
                }
                Some(&known) if known == is_positive => Ok(true),
                Some(_) => Err(CALIB_ERROR_TOLD),
                None => Ok(false),
            };
            assert_eq!(told.is_known(number, is_positive), expected, "{number} of {}", told.last());
            if expected == Ok(false) {
                told.tell(number, is_positive);
                model.insert(number, is_positive);
                latest = latest.max(number);
            }
            let words: Vec<u32> = told.words().collect();
            assert_eq!(words.len(), ToldOutcomes::SAVED_WORDS);
            told = ToldOutcomes::restored(&mut words.into_iter()).unwrap();
        }
        assert!(model.len() > 10_000);
        assert_eq!(told.is_known(told.last() + 1, true), Err(CALIB_ERROR_NO_PREDICTION));
        assert_eq!(told.anew(0).is_known(told.last(), true), Err(CALIB_ERROR_LATE));
    }

    #[test]
    fn what_was_before_the_restart_is_refused_as_that() {
        let mut told = ToldOutcomes::after(0).anew(511);
        for number in [1, 2, 510, 511] {
            assert_eq!(told.is_known(number, true), Err(CALIB_ERROR_RESTARTED));
        }
        assert_eq!(told.is_known(512, true), Err(CALIB_ERROR_NO_PREDICTION));
        told.predict(512);
        assert_eq!(told.is_known(512, true), Ok(false));
        // With another calibrator meanwhile, and after a reset, the two kinds stay apart.
        told = told.anew(511);
        assert_eq!(told.is_known(511, true), Err(CALIB_ERROR_RESTARTED));
        assert_eq!(told.is_known(512, true), Err(CALIB_ERROR_LATE));
        assert_eq!(told.last(), 512);
    }

    #[test]
    fn the_ends_of_the_numbers_hold() {
        let mut told = ToldOutcomes::after(u32::MAX - 1);
        told.tell(u32::MAX - 1, true);
        told.predict(u32::MAX);
        assert_eq!(told.is_known(u32::MAX, true), Ok(false));
        told.tell(u32::MAX, true);
        assert_eq!(told.is_known(u32::MAX, true), Ok(true));
        assert_eq!(told.is_known(u32::MAX - CALIB_TOLD_WINDOW, true), Err(CALIB_ERROR_LATE));
        assert!(ToldOutcomes::restored(&mut (0..17)).is_none());
    }
}
