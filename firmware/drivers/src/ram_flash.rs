//! Memory that behaves like flash, for boards whose emulator has none.

use embedded_storage::nor_flash::{
    ErrorType, NorFlash, NorFlashErrorKind, ReadNorFlash, check_erase, check_read, check_write,
};

/// Memory behind flash's rules, erased to zeros: a unit of `WRITE` bytes is written only while it is erased, and only erasing
/// clears it. A reset keeps the memory, a power cut does not.
#[derive(Debug)]
pub struct RamFlash<'a, const WRITE: usize, const SECTOR: usize> {
    bytes: &'a mut [u8],
}

impl<'a, const WRITE: usize, const SECTOR: usize> RamFlash<'a, WRITE, SECTOR> {
    /// Takes the memory as it is.
    pub const fn new(bytes: &'a mut [u8]) -> Self {
        Self { bytes }
    }

    fn part(&mut self, from: u32, len: usize) -> Result<&mut [u8], NorFlashErrorKind> {
        let part = self.bytes.get_mut(from as usize..).and_then(|rest| rest.get_mut(..len));
        part.ok_or(NorFlashErrorKind::OutOfBounds)
    }
}

impl<const WRITE: usize, const SECTOR: usize> ErrorType for RamFlash<'_, WRITE, SECTOR> {
    type Error = NorFlashErrorKind;
}

impl<const WRITE: usize, const SECTOR: usize> ReadNorFlash for RamFlash<'_, WRITE, SECTOR> {
    const READ_SIZE: usize = 1;

    fn read(&mut self, offset: u32, bytes: &mut [u8]) -> Result<(), NorFlashErrorKind> {
        check_read(self, offset, bytes.len())?;
        bytes.copy_from_slice(self.part(offset, bytes.len())?);
        Ok(())
    }

    fn capacity(&self) -> usize {
        self.bytes.len()
    }
}

impl<const WRITE: usize, const SECTOR: usize> NorFlash for RamFlash<'_, WRITE, SECTOR> {
    const WRITE_SIZE: usize = WRITE;
    const ERASE_SIZE: usize = SECTOR;

    fn erase(&mut self, from: u32, to: u32) -> Result<(), NorFlashErrorKind> {
        check_erase(self, from, to)?;
        self.part(from, (to - from) as usize)?.fill(0);
        Ok(())
    }

    fn write(&mut self, offset: u32, bytes: &[u8]) -> Result<(), NorFlashErrorKind> {
        check_write(self, offset, bytes.len())?;
        let part = self.part(offset, bytes.len())?;
        if part.iter().any(|&byte| byte != 0) {
            return Err(NorFlashErrorKind::Other);
        }
        part.copy_from_slice(bytes);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_unit_is_written_once_between_two_erases() {
        let mut memory = [0xA5; 64];
        let mut flash = RamFlash::<4, 32>::new(&mut memory);
        flash.erase(32, 64).unwrap();
        flash.write(32, &[1, 2, 4, 8]).unwrap();
        assert_eq!(flash.write(32, &[1, 2, 4, 8]), Err(NorFlashErrorKind::Other));
        assert_eq!(flash.write(32, &[2, 2, 2, 2]), Err(NorFlashErrorKind::Other));
        assert_eq!(flash.write(28, &[2; 8]), Err(NorFlashErrorKind::Other));
        let mut bytes = [0; 6];
        flash.read(31, &mut bytes).unwrap();
        assert_eq!(bytes, [0xA5, 1, 2, 4, 8, 0]);
        flash.erase(32, 64).unwrap();
        flash.write(32, &[2; 4]).unwrap();
        assert_eq!(flash.erase(0, 16), Err(NorFlashErrorKind::NotAligned));
        assert_eq!(flash.write(58, &[0; 4]), Err(NorFlashErrorKind::NotAligned));
        assert_eq!(flash.erase(32, 96), Err(NorFlashErrorKind::OutOfBounds));
    }
}
