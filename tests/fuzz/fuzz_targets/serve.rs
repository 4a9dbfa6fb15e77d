//! Any bytes on the serial line of a device with slots: it answers what is a request, and nothing else, and what is in
//! force is always whole.
#![no_main]

use std::convert::Infallible;

use calib_core::artifact::crc32c;
use calib_core::wire::{
    self, Chunk, FrameError, FrameReader, MAX_FRAME, Reply, ReplyBody, Request, RequestBody, Scores,
    UpdateStatus,
};
use calib_core::{
    Admission, Anybody, ArtifactBuffer, ClassifierId, Erased, Outcome, SlotLayout, Uncalibrated,
};
use calib_drivers::RamFlash;
use calib_firmware::{
    Alarm, AlarmRule, Classifier, LinearClassifier, Meter, Monitors, NoEntropy, Task, Updater,
    serve_updatable,
};
use embedded_hal::digital::{ErrorType as PinError, OutputPin};
use embedded_io::{ErrorType, Read, Write};
use libfuzzer_sys::fuzz_target;

static CLASSIFIER: LinearClassifier<2, 1> =
    LinearClassifier::new("fuzz", ClassifierId([7; 8]), [0.0; 2], [1.0; 2], [[1.0, 1.0]], [0.0]);
const LAYOUT: SlotLayout = SlotLayout { offsets: [0, 512], len_bytes: 512, erased: Erased::Zeros };

// The bytes as they are, and then once more as the payloads of requests: each begins with its kind and its length.
fuzz_target!(|data: &[u8]| {
    let mut input = data.to_vec();
    input.push(0);
    let mut asked = feed(&input);
    for (id, request) in requests(data).into_iter().enumerate() {
        let request = Request { id: id as u32, body: request };
        input.extend(wire::encode(&request, &mut [0; MAX_FRAME]).expect("every request fits a frame"));
        asked.push(request.id);
    }

    let mut memory = [0; 1024];
    let mut line = Line { input: &input, output: Vec::new() };
    let Ok(alarm) = Alarm::new(Pin, AlarmRule::AtLeast(0.5));
    let parts = (&CLASSIFIER, alarm, Clock, NoEntropy, Monitors::<4, 1>::new());
    let (mut staged, mut buffer) = (ArtifactBuffer::new(), ArtifactBuffer::new());
    let served =
        serve_updatable(&mut line, parts, &mut updater(&mut memory, &mut staged), &mut buffer, |_| ());
    assert_eq!(served, Ok(()));

    let mut reader = FrameReader::new();
    let replies = line.output.iter().filter_map(|&byte| reader.push::<Reply>(byte));
    let replies: Vec<Reply> = replies.map(|reply| reply.expect("a device sends whole frames")).collect();
    let answered: Vec<u32> = replies.iter().map(|reply| reply.id).collect();
    assert_eq!(answered, asked, "every request is answered once, in order");

    let (mut in_force, mut is_installing) = (None, false);
    for reply in replies {
        match reply.body {
            ReplyBody::Update(UpdateStatus::Installed(receipt)) => {
                (in_force, is_installing) = (Some(receipt.identity), false);
            }
            ReplyBody::Update(UpdateStatus::Installing { .. }) => is_installing = true,
            ReplyBody::Answer(prediction) => {
                let answers = matches!(
                    prediction.outcome,
                    Outcome::Calibrated(_) | Outcome::Uncalibrated(Uncalibrated::EmptyBin)
                );
                assert_eq!(answers, in_force.is_some(), "it answers from what is in force");
            }
            _ => {}
        }
    }
    let mut updater = updater(&mut memory, &mut staged);
    let restarted = updater.load(&mut buffer).status().ok().map(|status| status.identity);
    // The marks of an installation come one by one, and one suffices.
    assert!(
        restarted == in_force || is_installing && restarted.is_some(),
        "what was acknowledged is in force after a restart, or what was just being installed"
    );
});

/// A device that takes artifacts from anybody.
fn updater<'m>(
    memory: &'m mut [u8],
    staged: &'m mut ArtifactBuffer<112>,
) -> Updater<'m, RamFlash<'m, 4, 256>, Anybody, 112> {
    let admission = Admission::new(Anybody, CLASSIFIER.id());
    Updater::open(RamFlash::new(memory), LAYOUT, admission, Task::Binary, staged).expect("the slots fit")
}

/// The numbers of the requests in these bytes, those that are not known among them.
fn feed(bytes: &[u8]) -> Vec<u32> {
    let mut reader = FrameReader::new();
    let frames = bytes.iter().filter_map(|&byte| reader.push::<Request>(byte));
    frames
        .filter_map(|frame| match frame {
            Ok(request) => Some(request.id),
            Err(FrameError::Unknown { id }) => Some(id),
            Err(_) => None,
        })
        .collect()
}

/// Requests of an update, made of bytes.
fn requests(mut data: &[u8]) -> Vec<RequestBody> {
    let mut requests = Vec::new();
    while let [kind, len, rest @ ..] = data {
        let (part, later) = rest.split_at(rest.len().min(usize::from(*len)));
        data = later;
        let request = match kind % 8 {
            0 => RequestBody::Announce { len_bytes: part.len() as u32, crc: crc32c(part) },
            1 => RequestBody::Announce { len_bytes: u32::from(*len) << (kind % 24), crc: 0 },
            2 => RequestBody::Chunk { offset: 0, bytes: Chunk::from_slice(part).expect("up to 255 bytes") },
            3 => RequestBody::Chunk {
                offset: u32::from(*len),
                bytes: Chunk::from_slice(part).expect("up to 255 bytes"),
            },
            4 => {
                RequestBody::predict(Scores::Score(part.first().map_or(0.0, |&byte| f32::from(byte) / 255.0)))
            }
            5 => RequestBody::Slots,
            6 => {
                // A step each.
                requests.extend(std::iter::repeat_n(RequestBody::Install, 3));
                RequestBody::Install
            }
            _ => RequestBody::Status,
        };
        requests.push(request);
    }
    requests
}

struct Line<'a> {
    input: &'a [u8],
    output: Vec<u8>,
}

impl ErrorType for Line<'_> {
    type Error = Infallible;
}

impl Read for Line<'_> {
    fn read(&mut self, buf: &mut [u8]) -> Result<usize, Infallible> {
        let (now, later) = self.input.split_at(self.input.len().min(buf.len()));
        buf[..now.len()].copy_from_slice(now);
        self.input = later;
        Ok(now.len())
    }
}

impl Write for Line<'_> {
    fn write(&mut self, buf: &[u8]) -> Result<usize, Infallible> {
        self.output.extend_from_slice(buf);
        Ok(buf.len())
    }

    fn flush(&mut self) -> Result<(), Infallible> {
        Ok(())
    }
}

struct Pin;

impl PinError for Pin {
    type Error = Infallible;
}

impl OutputPin for Pin {
    fn set_low(&mut self) -> Result<(), Infallible> {
        Ok(())
    }

    fn set_high(&mut self) -> Result<(), Infallible> {
        Ok(())
    }
}

struct Clock;

impl Meter for Clock {
    // What is measured is the same every time, and not done: a request may ask for 65535 times.
    fn measure_ticks(&mut self, _: impl FnOnce()) -> Option<u32> {
        Some(1)
    }

    fn stack_high_water_bytes(&mut self) -> u32 {
        0
    }
}
