//! Any bytes as frames: dropped, or messages that survive the way back.
#![no_main]

use calib_core::wire::{FrameReader, MAX_FRAME, Reply, Request, decode, encode};
use calib_fuzz::{CRC_32C, cobs_encoded};
use libfuzzer_sys::fuzz_target;
use serde::{Serialize, de::DeserializeOwned};

fuzz_target!(|data: &[u8]| {
    read::<Request>(data);
    read::<Reply>(data);

    // Zeros within a frame, which a reader never hands on.
    let _ = decode::<Request>(&mut data.to_vec());

    let framed = frame(data);
    read::<Request>(&framed);
    read::<Reply>(&framed);
});

/// Gets behind the CRC: `payload` as a frame between two zeros.
fn frame(payload: &[u8]) -> Vec<u8> {
    let crc = CRC_32C.checksum(payload).to_le_bytes();
    let mut frame = vec![0];
    frame.extend(cobs_encoded(&[payload, &crc].concat()));
    frame.push(0);
    frame
}

/// Reads messages and checks that each encodes, and decodes to the same bytes again. Bytes, because a NaN
/// does not equal itself.
fn read<T: Serialize + DeserializeOwned>(bytes: &[u8]) {
    let mut reader = FrameReader::new();
    for message in bytes.iter().filter_map(|&byte| reader.push::<T>(byte)).flatten() {
        let mut buf = [0; MAX_FRAME];
        let first = encode(&message, &mut buf).expect("every message fits a frame").to_vec();
        let again: T = decode(&mut first[..first.len() - 1].to_vec()).expect("undamaged");
        assert_eq!(encode(&again, &mut [0; MAX_FRAME]), Ok(&first[..]));
    }
}
