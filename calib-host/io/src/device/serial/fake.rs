//! A device for tests.

use std::collections::VecDeque;
use std::io::{self, ErrorKind, Read, Write};
use std::time::Duration;

use calib_core::wire::{self, FrameReader, MAX_FRAME, Reply, ReplyBody, Request};

use super::link::{Link, RetryPolicy, Transport};

/// A device at the other end of a line, which answers every request with the bytes that a function makes of it: a frame,
/// or none if it stays silent.
pub(super) struct Fake<F> {
    answer: F,
    reader: FrameReader,
    to_host: VecDeque<u8>,
    /// How many requests came.
    pub(super) asked: u32,
}

impl<F: FnMut(&Request) -> Vec<u8>> Fake<F> {
    /// A link to such a device, which is asked three times and waited for a moment.
    pub(super) fn link(answer: F) -> Link<Self> {
        let device = Self { answer, reader: FrameReader::new(), to_host: VecDeque::new(), asked: 0 };
        Link::new(device, RetryPolicy { reply: Duration::from_millis(30), tries: 3 })
    }
}

/// A reply as a frame.
pub(super) fn frame(id: u32, body: ReplyBody) -> Vec<u8> {
    wire::encode(&Reply { id, body }, &mut [0; MAX_FRAME]).expect("every reply fits a frame").to_vec()
}

impl<F> Read for Fake<F> {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        match self.to_host.read(bytes)? {
            0 => Err(ErrorKind::TimedOut.into()),
            len => Ok(len),
        }
    }
}

impl<F: FnMut(&Request) -> Vec<u8>> Write for Fake<F> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        for &byte in bytes {
            if let Some(Ok(request)) = self.reader.push::<Request>(byte) {
                self.asked += 1;
                self.to_host.extend((self.answer)(&request));
            }
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl<F: FnMut(&Request) -> Vec<u8>> Transport for Fake<F> {
    fn set_read_timeout(&mut self, _: Duration) -> io::Result<()> {
        Ok(())
    }
}
