//! The generator of random bytes (chapter 21, "RNG").

use calib_firmware::Entropy;
use vcell::VolatileCell;

use crate::nrf::register;

const RNG: usize = 0x4000_D000;
const START: usize = 0x000;
const VALUE_READY: usize = 0x100;
const CONFIG: usize = 0x504;
const VALUE: usize = 0x508;
/// Removes the bias toward ones or zeros.
const DIGITAL_ERROR_CORRECTION: u32 = 1;

/// Random words from thermal noise.
pub(crate) struct Rng {
    ready: &'static VolatileCell<u32>,
    value: &'static VolatileCell<u32>,
}

impl Rng {
    /// Starts the generator.
    ///
    /// # Safety
    ///
    /// Nothing else uses it.
    pub(super) unsafe fn new() -> Self {
        // SAFETY: the caller's.
        let (start, ready, config, value) = unsafe {
            (register(RNG, START), register(RNG, VALUE_READY), register(RNG, CONFIG), register(RNG, VALUE))
        };
        config.set(DIGITAL_ERROR_CORRECTION);
        start.set(1);
        Self { ready, value }
    }

    fn byte(&self) -> u8 {
        while self.ready.get() == 0 {}
        self.ready.set(0);
        self.value.get() as u8
    }
}

impl Entropy for Rng {
    /// Takes about 3 ms.
    fn word(&mut self) -> Option<u32> {
        Some(u32::from_le_bytes([self.byte(), self.byte(), self.byte(), self.byte()]))
    }
}
