//! Where a board's random words come from.

/// A board's source of random words, for calibrators that divide equal scores at random.
///
/// The guarantee of a randomized calibrator rests on words that are uniform over all `u32` and independent of the
/// scores: a hardware generator gives them. A pseudo-random one with a fixed seed repeats itself after every start, and no
/// code notices that the epsilon in the reply then does not hold.
pub trait Entropy {
    /// A new word; `None` if there is none, and then nothing is guaranteed for any score.
    fn word(&mut self) -> Option<u32>;
}

/// For boards without a source of random words.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoEntropy;

impl Entropy for NoEntropy {
    fn word(&mut self) -> Option<u32> {
        None
    }
}
