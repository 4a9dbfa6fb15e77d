//! Words that only look random, for a board without a source of random ones.

use calib_firmware::Entropy;
use oorandom::Rand32;

/// Where the sequence begins: the same after every start, so that a run in the emulator can be repeated.
const SEED: u64 = 20_260_101;

/// A seeded PCG generator. For emulation: a product takes its words from a hardware generator, because a guarantee
/// rests on words that nobody can foresee or repeat.
pub(crate) struct PseudoEntropy(Rand32);

impl PseudoEntropy {
    /// The sequence from its beginning.
    pub(crate) fn new() -> Self {
        Self(Rand32::new(SEED))
    }
}

impl Entropy for PseudoEntropy {
    fn word(&mut self) -> Option<u32> {
        Some(self.0.rand_u32())
    }
}
