//! The bytes of the device protocol. A device and a host of different ages must understand each other: no frame that stands in
//! `golden.txt` ever changes, and new ones are appended.

mod messages;

use calib_core::wire::{FrameReader, MAX_FRAME, Reply, Request, decode, encode};
use serde::Serialize;
use serde::de::DeserializeOwned;

use messages::{replies, requests};

/// The frames, a line each: a name, and the frame in hexadecimal digits.
const GOLDEN: &str = include_str!("golden.txt");

fn hex<T: Serialize>(message: &T) -> String {
    let mut buf = [0; MAX_FRAME];
    encode(message, &mut buf).unwrap().iter().map(|byte| format!("{byte:02x}")).collect()
}

fn bytes(hex: &str) -> Vec<u8> {
    (0..hex.len()).step_by(2).map(|at| u8::from_str_radix(&hex[at..at + 2], 16).unwrap()).collect()
}

/// The frame of this name.
fn golden(name: &str) -> Vec<u8> {
    let line = GOLDEN.lines().find_map(|line| line.split_once(' ').filter(|(found, _)| *found == name));
    bytes(line.unwrap_or_else(|| panic!("no frame is called {name}")).1)
}

#[test]
fn the_bytes_of_every_message_are_pinned() {
    let requests = requests().into_iter().map(|(name, request)| format!("{name} {}\n", hex(&request)));
    let replies = replies().into_iter().map(|(name, reply)| format!("{name} {}\n", hex(&reply)));
    let lines: String = requests.chain(replies).collect();
    assert!(lines == GOLDEN, "the frames are now\n{lines}");
}

fn is_read_back<T: DeserializeOwned + PartialEq + core::fmt::Debug>(name: &str, message: &T) {
    let mut frame = golden(name);
    assert_eq!(frame.pop(), Some(0), "{name}");
    assert_eq!(decode::<T>(&mut frame).as_ref(), Ok(message), "{name}");
    let mut reader = FrameReader::new();
    let received: Vec<_> = golden(name).into_iter().filter_map(|byte| reader.push::<T>(byte)).collect();
    assert!(matches!(&received[..], [Ok(found)] if found == message), "{name}: {received:?}");
}

#[test]
fn every_pinned_frame_is_understood() {
    requests().iter().for_each(|(name, request): &(String, Request)| is_read_back(name, request));
    replies().iter().for_each(|(name, reply): &(String, Reply)| is_read_back(name, reply));
}
