//! The bytes of the device protocol: those of a message of every kind are in `golden.txt`.

mod meanings;
mod messages;

use calib_core::artifact::crc32c;
use calib_core::slot::{InstallError, Refused, SignatureError};
use calib_core::wire::{
    FrameError, FrameReader, MAX_FRAME, Reply, Request, RequestBody, UpdateRefusal, decode, encode,
};
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

/// Frames are compared, because a NaN does not equal itself.
fn is_read_back<T: DeserializeOwned + Serialize + core::fmt::Debug>(name: &str, message: &T) {
    let mut frame = golden(name);
    assert_eq!(frame.pop(), Some(0), "{name}");
    assert_eq!(hex(&decode::<T>(&mut frame).unwrap()), hex(message), "{name}");
    let mut reader = FrameReader::new();
    let received: Vec<_> = golden(name).into_iter().filter_map(|byte| reader.push::<T>(byte)).collect();
    assert!(matches!(&received[..], [Ok(found)] if hex(found) == hex(message)), "{name}: {received:?}");
}

#[test]
fn every_pinned_frame_is_understood() {
    requests().iter().for_each(|(name, request): &(String, Request)| is_read_back(name, request));
    replies().iter().for_each(|(name, reply): &(String, Reply)| is_read_back(name, reply));
}

/// The frame of these bytes: each of them, and the last of each run, begins a run of its own.
fn framed(payload: &[u8]) -> Vec<u8> {
    let whole = [payload, &crc32c(payload).to_le_bytes()].concat();
    whole.split(|&byte| byte == 0).flat_map(|run| [&[run.len() as u8 + 1], run].concat()).chain([0]).collect()
}

fn received<T: DeserializeOwned>(payload: &[u8]) -> Vec<Result<T, FrameError>> {
    let mut reader = FrameReader::new();
    framed(payload).into_iter().filter_map(|byte| reader.push::<T>(byte)).collect()
}

#[test]
fn what_another_version_says_is_unknown_and_not_damaged() {
    for payload in [
        // A kind of message that is not known, with and without fields.
        &[0x85, 0x02, 21][..],
        &[0x85, 0x02, 100, 1, 2, 3],
        // A known one with a field more, and with a field less.
        &[0x85, 0x02, 0, 9],
        &[0x85, 0x02, 7, 0, 0],
        &[0x85, 0x02, 1, 0],
    ] {
        assert_eq!(received::<Request>(payload), [Err(FrameError::Unknown { id: 0x105 })], "{payload:?}");
    }
    // A reason that is not known, in a reply that is.
    for payload in [&[7, 7][..], &[7, 3, 9, 15], &[7, 3, 15, 9], &[7, 3, 16], &[7, 3, 6, 0]] {
        assert_eq!(received::<Reply>(payload), [Err(FrameError::Unknown { id: 7 })], "{payload:?}");
    }
    let status = Request { id: 0x105, body: RequestBody::Status };
    assert_eq!(received::<Request>(&[0x85, 0x02, 0]), [Ok(status)]);
    // Without a number, or with nothing behind it, nobody can be answered.
    for payload in [&[][..], &[7], &[0xFF; 3], &[0xFF; 9]] {
        assert_eq!(received::<Request>(payload), [Err(FrameError::Damaged)], "{payload:?}");
    }
    // What is not intact is not unknown.
    let mut frame = framed(&[7, 21]);
    frame[1] ^= 8;
    frame.pop();
    assert_eq!(decode::<Request>(&mut frame), Err(FrameError::Damaged));
}

/// A device tells the host why it does not install something, in the words that belong to it.
#[test]
fn every_failure_of_an_installation_is_told_as_what_it_is() {
    let refused = Refused::Signature(SignatureError::Missing);
    let pairs: [(InstallError<()>, UpdateRefusal); 11] = [
        (InstallError::Refused(refused), UpdateRefusal::Refused(refused)),
        (InstallError::Downgrade { held: 4, offered: 3 }, UpdateRefusal::Downgrade { held: 4, offered: 3 }),
        (InstallError::TooLarge { len_bytes: 9, max: 8 }, UpdateRefusal::TooLarge { len_bytes: 9, max: 8 }),
        (InstallError::OtherArtifact, UpdateRefusal::Crc),
        (InstallError::SequenceExhausted, UpdateRefusal::SequenceExhausted),
        (InstallError::Flash(()), UpdateRefusal::Flash),
        (InstallError::ReadBack { offset: 7 }, UpdateRefusal::ReadBack { offset: 7 }),
        (InstallError::NoMark, UpdateRefusal::NoMark),
        (InstallError::NoCounter, UpdateRefusal::NoCounter),
        (InstallError::SameCounter { counter: 4 }, UpdateRefusal::SameCounter { counter: 4 }),
        (InstallError::Reload, UpdateRefusal::Reload),
    ];
    for (error, refusal) in pairs {
        assert_eq!(UpdateRefusal::from(error), refusal);
    }
}

#[test]
fn a_margin_that_is_not_finite_is_no_message() {
    // A prediction of class 1 with these bits for a margin, uncalibrated.
    for (bits, is_known) in
        [(0xFF7F_FFFF_u32, true), (0x7F80_0000, false), (0xFF80_0000, false), (0x7FC0_0000, false)]
    {
        let payload = [&[7, 1, 1, 2], &bits.to_le_bytes()[..], &[1, 0, 1, 0, 0, 0, 0, 0, 0]].concat();
        assert_eq!(received::<Reply>(&payload)[0].is_ok(), is_known, "{bits:x}");
    }
}
