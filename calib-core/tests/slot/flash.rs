//! Flash in RAM whose erase may fail without saying so.

use embedded_storage::nor_flash::{ErrorType, NorFlash, NorFlashErrorKind, ReadNorFlash};

/// The length of a slot in bytes.
pub(crate) const SLOT_LEN: usize = 1024;

/// Room for two slots. Programming clears bits.
#[derive(Debug)]
pub(crate) struct Flash {
    pub(crate) bytes: Vec<u8>,
    /// The offset of a byte that an erase leaves as it is.
    pub(crate) stuck: Option<usize>,
}

impl Flash {
    pub(crate) fn erased() -> Self {
        Self { bytes: vec![0xFF; 2 * SLOT_LEN], stuck: None }
    }
}

impl ErrorType for Flash {
    type Error = NorFlashErrorKind;
}

impl ReadNorFlash for Flash {
    const READ_SIZE: usize = 1;

    fn read(&mut self, offset: u32, bytes: &mut [u8]) -> Result<(), NorFlashErrorKind> {
        bytes.copy_from_slice(&self.bytes[offset as usize..][..bytes.len()]);
        Ok(())
    }

    fn capacity(&self) -> usize {
        self.bytes.len()
    }
}

impl NorFlash for Flash {
    const WRITE_SIZE: usize = 4;
    const ERASE_SIZE: usize = 256;

    fn erase(&mut self, from: u32, to: u32) -> Result<(), NorFlashErrorKind> {
        for at in from as usize..to as usize {
            if self.stuck != Some(at) {
                self.bytes[at] = 0xFF;
            }
        }
        Ok(())
    }

    fn write(&mut self, offset: u32, bytes: &[u8]) -> Result<(), NorFlashErrorKind> {
        assert!(offset.is_multiple_of(4) && bytes.len().is_multiple_of(4), "not in units of the flash");
        for (place, byte) in self.bytes[offset as usize..].iter_mut().zip(bytes) {
            *place &= byte;
        }
        Ok(())
    }
}
