//! The serial line: frames in and out, and the loop around them.

use calib_core::Anybody;
use calib_core::wire::{self, FrameReader, MAX_FRAME, Reply, Request};
use calib_firmware::{Device, serve};
use embedded_io::{ErrorKind, ErrorType, Read, Write};

use crate::any::{any, bytes, from, keep};
use crate::device::{BINARY, Board, alarm};

/// A line of which nothing is known.
pub(crate) struct Line;

impl ErrorType for Line {
    type Error = ErrorKind;
}

impl Read for Line {
    fn read(&mut self, bytes: &mut [u8]) -> Result<usize, ErrorKind> {
        bytes.fill(any());
        Ok(any::<usize>().min(bytes.len()))
    }
}

impl Write for Line {
    fn write(&mut self, bytes: &[u8]) -> Result<usize, ErrorKind> {
        keep(bytes);
        Ok(any())
    }

    fn flush(&mut self) -> Result<(), ErrorKind> {
        Ok(())
    }
}

fn frames() {
    let mut reader = FrameReader::new();
    let mut space = from([0; MAX_FRAME]);
    for &byte in bytes() {
        if let Some(Ok(request)) = reader.push::<Request>(byte) {
            keep(wire::encode(&request, &mut space));
        }
        if let Some(Ok(reply)) = reader.push::<Reply>(byte) {
            keep(wire::encode(&reply, &mut space));
        }
    }
}

/// Reads and writes frames, and serves.
pub(crate) fn prove() {
    frames();
    let mut device = Device::new(&BINARY, bytes(), Anybody, alarm(), Board, Board);
    keep(serve(&mut Line, &mut device));
}
