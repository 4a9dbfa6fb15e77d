//! The generator of random bytes.

use calib_firmware::Entropy;
use nrf52840_hal::Rng;

/// Random words from thermal noise, without bias.
pub(crate) struct HardwareEntropy(pub(super) Rng);

impl Entropy for HardwareEntropy {
    /// Takes about 0.5 ms.
    fn word(&mut self) -> Option<u32> {
        Some(self.0.random_u32())
    }
}
