//! Any bytes as a device's replies to the host: every question ends, with the answer to it or with the reason why not.
#![no_main]

use std::cell::RefCell;
use std::collections::VecDeque;
use std::io::{self, Read, Write};
use std::time::Duration;

use calib_core::artifact::crc32c;
use calib_core::slot::Receipt;
use calib_core::wire::{
    FrameError, FrameReader, MAX_FRAME, Reply, ReplyBody, Request, RequestBody, Scores, UpdateStatus, decode,
    encode,
};
use calib_fit::StoredArtifact;
use calib_io::device::serial::{DeviceError, Link, RetryPolicy, Stage, Transport, push};
use libfuzzer_sys::fuzz_target;

/// The artifact that is pushed.
static ARTIFACT: &[u8] = include_bytes!("../seeds/parse/binary");

// The first byte says what is asked; the rest is what the device sends, as it is or in the parts that `Line` makes frames of.
fuzz_target!(|data: &[u8]| {
    let Some((&choice, sent)) = data.split_first() else { return };
    match choice % 4 {
        0 => answers(sent),
        1 => status(sent),
        2 => pushed(sent),
        _ => received(sent),
    }
});

/// Three questions.
fn answers(sent: &[u8]) {
    let answer = RefCell::default();
    let mut link = link(Line::new(sent, &answer));
    for question in [RequestBody::Status, RequestBody::Slots, RequestBody::predict(Scores::Score(0.5))] {
        answer.take();
        let asked = link.ask(&question);
        check(&asked, answer.take());
        let _ = told(asked);
    }
}

/// The status, which is believed only of a device of this version.
fn status(sent: &[u8]) {
    let answer = RefCell::default();
    let mut link = link(Line::new(sent, &answer));
    let Some(status) = told(link.status()) else { return };
    let Some(Ok(Reply { body: ReplyBody::Status(said), .. })) = answer.take() else { panic!("no status") };
    assert_eq!(status, said);
}

/// A push, which succeeds only on a device that says so and has the artifact in force. `Line` looks at what is sent.
fn pushed(sent: &[u8]) {
    let answer = RefCell::default();
    let mut link = link(Line::new(sent, &answer));
    let artifact = StoredArtifact::from_bytes(ARTIFACT).expect("a seed of the parser");
    let len = ARTIFACT.len() as u32;
    let receipt = told(push(&mut link, &artifact, |stage| match stage {
        Stage::Sending { sent, total } => assert!(sent < total && total == len),
        Stage::Installing { done, total } => assert!(done <= total),
    }));
    let Some(receipt) = receipt else { return };
    let Some(Ok(Reply { body: ReplyBody::Slots(slots), .. })) = answer.take() else { panic!("no slots") };
    let in_force = slots.slots[usize::from(slots.in_force.expect("one is in force"))].expect("it is valid");
    assert_eq!(in_force.identity, artifact.artifact().identity());
    assert_eq!(link.into_line().installed, Some(receipt));
}

/// All replies to anything: each is handed on, and the damaged ones are counted.
fn received(sent: &[u8]) {
    let answer = RefCell::default();
    let mut line = Line::new(&[], &answer);
    line.to_host.extend(sent);
    let mut link = link(line);
    let mut reader = FrameReader::new();
    let mut damaged = 0;
    for frame in sent.iter().filter_map(|&byte| reader.push::<Reply>(byte)) {
        match frame {
            Ok(reply) => {
                let received = link.receive(None).expect("there is one").expect("at once");
                assert_eq!(frame_of(&received), frame_of(&reply));
                let mut again = frame_of(&received);
                again.pop();
                let again: Reply = decode(&mut again).expect("undamaged");
                assert_eq!(frame_of(&again), frame_of(&received));
            }
            Err(_) => damaged += 1,
        }
    }
    assert!(matches!(link.receive(None), Err(DeviceError::Gone)));
    assert_eq!(link.damaged(), damaged);
}

/// Checks what a question came to by the answer that the device gave to it, if it gave one.
fn check(asked: &Result<ReplyBody, DeviceError>, answer: Option<Result<Reply, FrameError>>) {
    let fits = match (asked, &answer) {
        // Bytes, because a NaN does not equal itself.
        (Ok(body), Some(Ok(reply))) => {
            frame_of(&Reply { id: reply.id, body: body.clone() }) == frame_of(reply)
                && !matches!(body, ReplyBody::Refused(_))
        }
        (Err(DeviceError::UnknownReply), Some(Err(FrameError::Unknown { .. }))) => true,
        (Err(DeviceError::Gone), None | Some(Err(FrameError::Damaged))) => true,
        (
            Err(
                DeviceError::Refused(_)
                | DeviceError::RefusedOtherwise(_)
                | DeviceError::UnknownRequest
                | DeviceError::SwitchedOff,
            ),
            Some(Ok(Reply { body: ReplyBody::Refused(_), .. })),
        ) => true,
        _ => false,
    };
    assert!(fits, "{asked:?}, of {answer:?}");
}

/// What came of a question; a fault has words.
fn told<T>(asked: Result<T, DeviceError>) -> Option<T> {
    asked.inspect_err(|error| assert!(!error.to_string().is_empty())).ok()
}

fn frame_of(reply: &Reply) -> Vec<u8> {
    encode(reply, &mut [0; MAX_FRAME]).expect("every reply fits a frame").to_vec()
}

/// A link to a device that nothing keeps waiting.
fn link(line: Line<'_>) -> Link<Line<'_>> {
    Link::new(line, RetryPolicy { reply: Duration::from_secs(60), tries: 2 })
}

/// A line that answers each request with what is left of the input, and then is unplugged: silence would take time.
struct Line<'a> {
    sent: &'a [u8],
    reader: FrameReader,
    to_host: VecDeque<u8>,
    /// What the last request was answered with.
    answer: &'a RefCell<Option<Result<Reply, FrameError>>>,
    /// The last receipt.
    installed: Option<Receipt>,
}

impl<'a> Line<'a> {
    fn new(sent: &'a [u8], answer: &'a RefCell<Option<Result<Reply, FrameError>>>) -> Self {
        Self { sent, reader: FrameReader::new(), to_host: VecDeque::new(), answer, installed: None }
    }

    /// Sends parts up to the next answer. Each part is a kind, a length, and so many bytes.
    fn answer(&mut self, id: u32) {
        self.answer.take();
        while let [kind, len, rest @ ..] = self.sent {
            let (body, rest) = rest.split_at(rest.len().min(usize::from(*len)));
            self.sent = rest;
            match kind % 4 {
                0 => {
                    let mut frame = framed(id, body);
                    self.to_host.extend(&frame);
                    frame.pop();
                    let answer = decode(&mut frame);
                    if let Ok(Reply { body: ReplyBody::Update(UpdateStatus::Installed(receipt)), .. }) =
                        answer
                    {
                        self.installed = Some(receipt);
                    }
                    self.answer.replace(Some(answer));
                    return;
                }
                // An answer that is late.
                1 => self.to_host.extend(framed(id.wrapping_sub(1), body)),
                // One that was damaged on its way.
                2 => {
                    let mut frame = framed(id, body);
                    frame[1] ^= 0x80;
                    self.to_host.extend(frame);
                }
                _ => self.to_host.extend(body.iter().chain(&[0])),
            }
        }
    }

    /// Checks that what is sent of an artifact is of the one that is pushed.
    fn look_at(body: &RequestBody) {
        match body {
            RequestBody::Announce { len_bytes, crc } => {
                assert_eq!((*len_bytes as usize, *crc), (ARTIFACT.len(), crc32c(ARTIFACT)));
            }
            RequestBody::Chunk { offset, bytes } => {
                assert!(!bytes.is_empty() && ARTIFACT[*offset as usize..].starts_with(bytes));
            }
            _ => {}
        }
    }
}

/// A reply to the request of this number, of any bytes.
fn framed(mut id: u32, body: &[u8]) -> Vec<u8> {
    let mut payload = Vec::new();
    while id > 0x7F {
        payload.push(id as u8 | 0x80);
        id >>= 7;
    }
    payload.push(id as u8);
    payload.extend(body);
    let crc = calib_fuzz::CRC_32C.checksum(&payload).to_le_bytes();
    payload.extend(crc);
    let mut frame = calib_fuzz::cobs_encoded(&payload);
    frame.push(0);
    frame
}

impl Read for Line<'_> {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        self.to_host.read(bytes)
    }
}

impl Write for Line<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        for &byte in bytes {
            if let Some(request) = self.reader.push::<Request>(byte) {
                let request = request.expect("a host sends whole frames");
                Self::look_at(&request.body);
                self.answer(request.id);
            }
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Transport for Line<'_> {
    fn set_read_timeout(&mut self, _: Duration) -> io::Result<()> {
        Ok(())
    }
}
