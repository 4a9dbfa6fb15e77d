//! A UART as a serial port that blocks: the part that is the same on every board.

use core::convert::Infallible;

use embedded_io::{ErrorType, Read, Write};

/// A UART, a byte at a time.
pub(crate) trait Uart {
    /// Takes a received byte, if there is one.
    fn take(&mut self) -> Option<u8>;

    /// Sleeps until a byte is received; returns at once if one is there.
    fn wait_for_byte(&mut self);

    /// Whether the next byte to send must wait.
    fn is_sending(&self) -> bool;

    /// Sends a byte. Nothing is being sent.
    fn put(&mut self, byte: u8);
}

/// A serial port over a UART: reads what is there, at least a byte and up to the end of a frame, and writes everything.
pub(crate) struct Serial<U>(pub(crate) U);

impl<U> ErrorType for Serial<U> {
    type Error = Infallible;
}

impl<U: Uart> Read for Serial<U> {
    fn read(&mut self, buf: &mut [u8]) -> Result<usize, Infallible> {
        if buf.is_empty() {
            return Ok(0);
        }
        self.0.wait_for_byte();
        let mut len = 0;
        while let Some(room) = buf.get_mut(len) {
            let Some(byte) = self.0.take() else { break };
            *room = byte;
            len += 1;
            // The end of a frame, which is answered before anything else is taken.
            if byte == 0 {
                #[cfg(feature = "defmt")]
                defmt::trace!("zero taken");
                break;
            }
        }
        Ok(len)
    }
}

impl<U: Uart> Write for Serial<U> {
    fn write(&mut self, buf: &[u8]) -> Result<usize, Infallible> {
        for &byte in buf {
            self.flush()?;
            self.0.put(byte);
        }
        Ok(buf.len())
    }

    fn flush(&mut self) -> Result<(), Infallible> {
        while self.0.is_sending() {}
        Ok(())
    }
}
