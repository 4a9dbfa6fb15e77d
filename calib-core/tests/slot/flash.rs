//! Flash in RAM whose erase may fail without saying so.

use embedded_storage::nor_flash::{ErrorType, NorFlash, NorFlashErrorKind, ReadNorFlash};

/// The length of a slot in bytes.
pub(crate) const SLOT_LEN: usize = 1024;

/// Room for two slots. Programming clears bits, and every word is programmed once at most.
#[derive(Clone, Debug)]
pub(crate) struct Flash {
    pub(crate) bytes: Vec<u8>,
    /// The offset of a byte that an erase leaves as it is.
    pub(crate) stuck: Option<usize>,
    /// How many reads will fail.
    pub(crate) blind: usize,
    /// The words that cannot be read, by their offsets.
    pub(crate) lost: Vec<usize>,
    /// The word that cannot be written, by its offset.
    pub(crate) refuses: Option<usize>,
    /// A word that cannot be read after so many reads of it, by its offset.
    pub(crate) fades: Option<(usize, usize)>,
    /// The offsets of bytes that are read wrong once, one in a read.
    pub(crate) misreads: Vec<usize>,
    /// The offset of a byte of which a write loses a bit.
    pub(crate) loses: Option<usize>,
    /// The offset of a byte; what is written over it is not held at all.
    pub(crate) ignores: Option<usize>,
    /// How often something is erased or written before the power fails; the write in which it does leaves a bit.
    pub(crate) cut: Option<usize>,
    /// How often something was erased or written.
    pub(crate) changes: usize,
}

impl Flash {
    pub(crate) fn erased() -> Self {
        let bytes = vec![0xFF; 2 * SLOT_LEN];
        Self {
            bytes,
            stuck: None,
            blind: 0,
            lost: Vec::new(),
            refuses: None,
            fades: None,
            misreads: Vec::new(),
            loses: None,
            ignores: None,
            cut: None,
            changes: 0,
        }
    }
}

impl Flash {
    /// Nothing is changed any more once the power has failed.
    fn spend(&mut self, written: Option<usize>) -> Result<(), NorFlashErrorKind> {
        match &mut self.cut {
            None => Ok(()),
            Some(0) => {
                // The first one leaves a bit.
                self.cut = Some(usize::MAX);
                if let Some(at) = written {
                    self.bytes[at] &= 0xFE;
                }
                Err(NorFlashErrorKind::Other)
            }
            Some(usize::MAX) => Err(NorFlashErrorKind::Other),
            Some(left) => {
                *left -= 1;
                Ok(())
            }
        }
    }
}

impl ErrorType for Flash {
    type Error = NorFlashErrorKind;
}

impl ReadNorFlash for Flash {
    const READ_SIZE: usize = 1;

    fn read(&mut self, offset: u32, bytes: &mut [u8]) -> Result<(), NorFlashErrorKind> {
        let range = offset as usize..offset as usize + bytes.len();
        if self.blind > 0 || self.lost.iter().any(|lost| range.contains(lost)) {
            self.blind = self.blind.saturating_sub(1);
            return Err(NorFlashErrorKind::Other);
        }
        if let Some((at, left)) = &mut self.fades
            && range.contains(at)
        {
            *left = left.saturating_sub(1);
            if *left == 0 {
                return Err(NorFlashErrorKind::Other);
            }
        }
        bytes.copy_from_slice(&self.bytes[offset as usize..][..bytes.len()]);
        if let Some(misread) = self.misreads.iter().position(|at| range.contains(at)) {
            bytes[self.misreads.remove(misread) - range.start] ^= 1;
        }
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
        self.changes += 1;
        self.spend(None)?;
        self.lost.retain(|lost| !(from as usize..to as usize).contains(lost));
        for at in from as usize..to as usize {
            if self.stuck != Some(at) {
                self.bytes[at] = 0xFF;
            }
        }
        Ok(())
    }

    fn write(&mut self, offset: u32, bytes: &[u8]) -> Result<(), NorFlashErrorKind> {
        assert!(offset.is_multiple_of(4) && bytes.len().is_multiple_of(4), "not in units of the flash");
        self.changes += 1;
        self.spend(Some(offset as usize))?;
        let range = offset as usize..offset as usize + bytes.len();
        if self.refuses.is_some_and(|refused| range.contains(&refused)) {
            return Err(NorFlashErrorKind::Other);
        }
        let place = &mut self.bytes[range.clone()];
        assert!(place.iter().all(|&byte| byte == 0xFF), "a word is written twice, at {offset}");
        if !self.ignores.is_some_and(|ignored| range.contains(&ignored)) {
            place.copy_from_slice(bytes);
        }
        if let Some(lost) = self.loses.filter(|lost| range.contains(lost)) {
            self.bytes[lost] ^= 1;
        }
        Ok(())
    }
}
