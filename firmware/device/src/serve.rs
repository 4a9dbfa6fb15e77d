//! The loop that answers the host over a serial line.

use core::fmt;

use calib_core::ArtifactBuffer;
use calib_core::slot::Trust;
use calib_core::wire::{self, FrameError, FrameReader, MAX_FRAME, Refusal, Reply, ReplyBody, Request};
use embedded_hal::digital::OutputPin;
use embedded_io::{Read, Write};
use embedded_storage::nor_flash::NorFlash;

use crate::report::report;
use crate::{Alarm, Classifier, Device, Entropy, Meter, NoUpdate, Report, Update, Updater, Watch, log};

/// Why a device stopped serving.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum ServeError<S, P> {
    /// Reading or writing the serial line failed.
    Serial(S),
    /// The alarm pin failed.
    Alarm(P),
}

/// Answers requests one after the other until the line ends or fails.
///
/// Damaged frames are logged and dropped without a reply, as a reply could not name the request; the host
/// asks again. A request that the device does not know is refused.
///
/// # Errors
///
/// The line's or the alarm pin's. The end of the input, which a serial port does not have, is none.
///
/// # Examples
///
/// The whole of a firmware with one calibrator, except for the board's start:
///
/// ```
/// use calib_core::Anybody;
/// use calib_firmware::{Alarm, AlarmRule, Classifier, Device, Meter, NoEntropy, ServeError, serve};
/// use embedded_hal::digital::OutputPin;
/// use embedded_io::{Read, Write};
///
/// fn run<S: Read + Write, P: OutputPin>(
///     mut uart: S,
///     pin: P,
///     timer: impl Meter,
///     classifier: impl Classifier,
///     slot: &'static [u8],
/// ) -> Result<(), ServeError<S::Error, P::Error>> {
///     let alarm = Alarm::new(pin, AlarmRule::AtLeast(0.5)).map_err(ServeError::Alarm)?;
///     let mut device = Device::new(classifier, slot, Anybody, alarm, timer, NoEntropy);
///     serve(&mut uart, &mut device)
/// }
/// ```
pub fn serve<S, C, P, M, E, W>(
    serial: &mut S,
    device: &mut Device<'_, C, P, M, E, W>,
) -> Result<(), ServeError<S::Error, P::Error>>
where
    S: Read + Write,
    C: Classifier,
    P: OutputPin,
    M: Meter,
    E: Entropy,
    W: Watch,
{
    Session::new().serve(serial, device, &mut NoUpdate).map(|_| ())
}

/// As [`serve`], for a device whose calibrator is replaced over the line: from the reply on that says so, requests are
/// answered from the new one.
///
/// `parts` are the classifier, the alarm, the meter, the source of random words, and what counts predictions:
/// [`Monitors`](crate::Monitors) go on while the calibrator stays the same, and restart with another.
///
/// `buffer` holds the active calibrator. `on_report` is given a report at the start, and whenever another calibrator becomes
/// active; a board that no debug probe reads does not need it.
///
/// # Errors
///
/// As [`serve`].
///
/// # Examples
///
/// Two slots of 8 KiB at the start of a flash, and calibrators of up to 2 KiB:
///
/// ```
/// use calib_core::{Admission, Anybody, ArtifactBuffer, Erased, SlotLayout};
/// use calib_firmware::{Alarm, Classifier, Meter, NoEntropy, NoMonitors, ServeError, Updater, serve_updatable};
/// use embedded_hal::digital::OutputPin;
/// use embedded_io::{Read, Write};
/// use embedded_storage::nor_flash::NorFlash;
///
/// const LAYOUT: SlotLayout = SlotLayout { offsets: [0, 8192], len_bytes: 8192, erased: Erased::Ones };
///
/// fn run<S: Read + Write, P: OutputPin>(
///     mut uart: S,
///     alarm: Alarm<P>,
///     timer: impl Meter,
///     classifier: impl Classifier,
///     flash: impl NorFlash,
/// ) -> Result<(), ServeError<S::Error, P::Error>> {
///     let (mut staged, mut buffer) = (ArtifactBuffer::<512>::new(), ArtifactBuffer::new());
///     let admission = Admission::new(Anybody, classifier.id());
///     let mut updater = Updater::open(flash, LAYOUT, admission, classifier.task(), &mut staged)
///         .unwrap_or_else(|_| panic!("the slots do not fit the flash"));
///     let parts = (classifier, alarm, timer, NoEntropy, NoMonitors);
///     serve_updatable(&mut uart, parts, &mut updater, &mut buffer, |_| {})
/// }
/// ```
pub fn serve_updatable<S, C, P, M, E, W, F, T, const WORDS: usize>(
    serial: &mut S,
    mut parts: (C, Alarm<P>, M, E, W),
    updater: &mut Updater<'_, F, T, WORDS>,
    buffer: &mut ArtifactBuffer<WORDS>,
    mut on_report: impl FnMut(&Report),
) -> Result<(), ServeError<S::Error, P::Error>>
where
    S: Read + Write,
    C: Classifier,
    P: OutputPin,
    M: Meter,
    E: Entropy,
    W: Watch,
    F: NorFlash,
    T: Trust,
{
    let mut session = Session::new();
    loop {
        let mut device = updater.device(parts, buffer);
        on_report(&report(&mut device, updater));
        if session.serve(serial, &mut device, updater)? == End::Line {
            return Ok(());
        }
        parts = device.free();
    }
}

/// Why a session paused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum End {
    /// The line ended.
    Line,
    /// Another calibrator is active than the device's.
    Replaced,
}

/// What was received and not answered yet: it outlives the device, which is made again for each calibrator.
pub(crate) struct Session {
    pub(crate) reader: FrameReader,
    pub(crate) chunk: [u8; 32],
    /// The part of the chunk that was not looked at yet.
    next: usize,
    end: usize,
}

impl Session {
    pub(crate) const fn new() -> Self {
        Self { reader: FrameReader::new(), chunk: [0; 32], next: 0, end: 0 }
    }

    /// The next byte of the chunk.
    pub(crate) fn take(&mut self) -> Option<u8> {
        let byte = self.chunk.get(..self.end)?.get(self.next).copied();
        self.next += usize::from(byte.is_some());
        byte
    }

    /// Takes note that so many bytes were read into the chunk; false at the end of the line.
    pub(crate) const fn is_filled(&mut self, len: usize) -> bool {
        (self.next, self.end) = (0, len);
        len > 0
    }

    fn serve<S, C, P, M, E, W>(
        &mut self,
        serial: &mut S,
        device: &mut Device<'_, C, P, M, E, W>,
        update: &mut impl Update,
    ) -> Result<End, ServeError<S::Error, P::Error>>
    where
        S: Read + Write,
        C: Classifier,
        P: OutputPin,
        M: Meter,
        E: Entropy,
        W: Watch,
    {
        let mut frame = [0; MAX_FRAME];
        loop {
            while let Some(byte) = self.take() {
                let reply = push_byte(&mut self.reader, byte, device, update, &mut frame);
                let Some((id, reply)) = reply.map_err(ServeError::Alarm)? else { continue };
                if !write_all(serial, reply).map_err(ServeError::Serial)? {
                    return Ok(End::Line);
                }
                serial.flush().map_err(ServeError::Serial)?;
                log::answered(id);
                if update.is_replaced() {
                    return Ok(End::Replaced);
                }
            }
            let len = serial.read(&mut self.chunk).map_err(ServeError::Serial)?;
            if !self.is_filled(len) {
                return Ok(End::Line);
            }
        }
    }
}

/// Takes a byte of the line; at the end of a request returns its number and the reply, a frame at the start of `frame`.
///
/// [`serve`], [`serve_updatable`] and [`serve_async`](crate::serve_async) are loops around it, and so is any other that moves bytes by itself. After a reply the
/// active calibrator may [have to be loaded](Update::is_replaced). Damaged frames are logged and dropped.
///
/// # Errors
///
/// The alarm pin's.
#[inline]
pub fn push_byte<'f, C: Classifier, P: OutputPin, M: Meter, E: Entropy, W: Watch>(
    reader: &mut FrameReader,
    byte: u8,
    device: &mut Device<'_, C, P, M, E, W>,
    update: &mut impl Update,
    frame: &'f mut [u8; MAX_FRAME],
) -> Result<Option<(u32, &'f [u8])>, P::Error> {
    push_byte_with(reader, byte, device, update, || frame)
}

/// As [`push_byte`], with room that is got ready once there is something to reply.
///
/// # Errors
///
/// Whatever the alarm returns.
pub fn push_byte_with<'f, C: Classifier, P: OutputPin, M: Meter, E: Entropy, W: Watch>(
    reader: &mut FrameReader,
    byte: u8,
    device: &mut Device<'_, C, P, M, E, W>,
    update: &mut impl Update,
    frame: impl FnOnce() -> &'f mut [u8; MAX_FRAME],
) -> Result<Option<(u32, &'f [u8])>, P::Error> {
    // Looked at where it is: a request is of half a kilobyte.
    let received = push(reader, byte);
    Ok(match &received {
        None => None,
        Some(Ok(request)) => Some((request.id, respond(device, update, request, frame())?)),
        Some(Err(FrameError::Unknown { id })) => {
            let body = ReplyBody::Refused(Refusal::Unknown);
            log::refused(Refusal::Unknown);
            Some((*id, encoded(&Reply { id: *id, body }, frame())))
        }
        Some(Err(error)) => {
            log::dropped(*error);
            None
        }
    })
}

/// Takes a byte of a frame.
// What decoding needs of the stack is given back before the request is answered.
#[inline(never)]
fn push(reader: &mut FrameReader, byte: u8) -> Option<Result<Request, FrameError>> {
    reader.push(byte)
}

/// Answers a request; returns the reply as a frame.
// What it needs of the stack is given back before the reply is written.
#[inline(never)]
fn respond<'f, C: Classifier, P: OutputPin, M: Meter, E: Entropy, W: Watch>(
    device: &mut Device<'_, C, P, M, E, W>,
    update: &mut impl Update,
    request: &Request,
    frame: &'f mut [u8; MAX_FRAME],
) -> Result<&'f [u8], P::Error> {
    Ok(match update.answer(&request.body) {
        Some(body) => encoded(&Reply { id: request.id, body }, frame),
        None => encoded(&device.answer(request)?, frame),
    })
}

/// A reply as a frame.
fn encoded<'f>(reply: &Reply, frame: &'f mut [u8; MAX_FRAME]) -> &'f [u8] {
    wire::encode(reply, frame).unwrap_or_else(|error| {
        // The longest reply fits; were it not so, the host would time out rather than be misled.
        log::dropped(error);
        &[]
    })
}

/// Writes all of `bytes`; false if the line takes no more. embedded-io's own function panics then.
fn write_all<S: Write>(serial: &mut S, mut bytes: &[u8]) -> Result<bool, S::Error> {
    while !bytes.is_empty() {
        let taken = serial.write(bytes)?;
        match bytes.get(taken..) {
            Some(rest) if taken > 0 => bytes = rest,
            _ => return Ok(false),
        }
    }
    Ok(true)
}

impl<S: fmt::Display, P: fmt::Display> fmt::Display for ServeError<S, P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Serial(error) => write!(f, "the serial line failed: {error}"),
            Self::Alarm(error) => write!(f, "the alarm pin failed: {error}"),
        }
    }
}

impl<S, P> core::error::Error for ServeError<S, P>
where
    S: fmt::Debug + fmt::Display,
    P: fmt::Debug + fmt::Display,
{
}

#[cfg(test)]
mod tests {
    use std::vec::Vec;

    use calib_core::wire::{Refusal, Reply, ReplyBody, RequestBody, Scores, Values};
    use calib_core::{Anybody, Outcome, ScoreError, Uncalibrated};
    use embedded_hal_mock::eh1::MockError;
    use embedded_hal_mock::eh1::digital::{Mock, State, Transaction};
    use embedded_io::ErrorKind;

    use super::*;
    use crate::testing::{BINARY, ID, Line, StopWatch, binary_artifact, calibrated};
    use crate::{AlarmRule, NoEntropy};

    fn frame(id: u32, body: RequestBody) -> Vec<u8> {
        wire::encode(&Request { id, body }, &mut [0; MAX_FRAME]).unwrap().to_vec()
    }

    /// Serves a binary device with a calibrator and a mocked pin.
    fn run(line: &mut Line<'_>, pin: &[Transaction]) -> Result<(), ServeError<ErrorKind, MockError>> {
        let slot = binary_artifact(Some(ID));
        let mut pin = Mock::new(&[&[Transaction::set(State::High)], pin].concat());
        let alarm = Alarm::new(pin.clone(), AlarmRule::AtLeast(0.5)).unwrap();
        let mut device =
            Device::new(&BINARY, slot.as_bytes(), Anybody, alarm, StopWatch { ticks: None }, NoEntropy);
        let result = serve(line, &mut device);
        pin.done();
        result
    }

    #[test]
    fn answers_good_frames_between_damaged_ones() {
        let good = frame(1, RequestBody::predict(Scores::Score(0.1)));
        let mut flipped = good.clone();
        flipped[3] ^= 0x10;
        let cut = &good[..good.len() - 4];
        let overlong = [1; MAX_FRAME + 9];
        let input = [
            b"noise\0",
            &good[..],
            &flipped,
            cut,
            &frame(2, RequestBody::predict(Scores::Score(0.2))),
            &frame(3, RequestBody::predict(Scores::Score(0.8))),
            &overlong,
            b"\0\0\0",
            &frame(4, RequestBody::predict(Scores::Score(f32::NAN))),
            &frame(5, RequestBody::Status)[..4],
        ]
        .concat();
        let mut line = Line::new(&input);
        let pin = [State::Low, State::High, State::High].map(Transaction::set);
        assert_eq!(run(&mut line, &pin), Ok(()));

        let replies = line.replies();
        // The cut frame runs into the one after it, which is lost with it.
        assert_eq!(replies.iter().map(|reply| reply.id).collect::<Vec<_>>(), [1, 3, 4]);
        let probs: Vec<_> = replies
            .iter()
            .filter_map(|reply| match &reply.body {
                ReplyBody::Answer(prediction) => Some(calibrated(prediction.outcome)),
                _ => None,
            })
            .collect();
        assert_eq!(probs, [0.05, 0.9]);
        assert_eq!(replies[2].body, ReplyBody::Refused(Refusal::Score(ScoreError::NaN)));
    }

    /// A frame with these bytes, the checksum of which is right: each run without zeros has its length before it.
    fn intact(payload: &[u8]) -> Vec<u8> {
        let whole = [payload, &calib_core::artifact::crc32c(payload).to_le_bytes()].concat();
        let runs = whole.split(|&byte| byte == 0);
        runs.flat_map(|run| [&[run.len() as u8 + 1], run].concat()).chain([0]).collect()
    }

    #[test]
    fn a_request_of_another_version_is_answered_and_leaves_the_alarm() {
        // Number 9, a kind that is not known; number 300, a known kind with a field more.
        let input = [
            frame(1, RequestBody::predict(Scores::Score(0.1))),
            intact(&[9, 100, 1, 2, 3]),
            intact(&[0xAC, 2, 0, 1]),
            frame(2, RequestBody::Status),
        ]
        .concat();
        let mut line = Line::new(&input);
        // The alarm is set once, by the score.
        assert_eq!(run(&mut line, &[Transaction::set(State::Low)]), Ok(()));
        let replies = line.replies();
        assert_eq!(replies.iter().map(|reply| reply.id).collect::<Vec<_>>(), [1, 9, 300, 2]);
        for reply in &replies[1..3] {
            assert_eq!(reply.body, ReplyBody::Refused(Refusal::Unknown));
        }
        assert!(
            matches!(&replies[3].body, ReplyBody::Status(status) if status.protocol == wire::PROTOCOL_VERSION)
        );
    }

    #[test]
    fn answers_over_a_dead_calibrator() {
        let input =
            frame(9, RequestBody::predict(Scores::Features(Values::from_slice(&[0.0, 0.0]).unwrap())));
        let mut line = Line::new(&input);
        let mut pin = Mock::new(&[State::High, State::High].map(Transaction::set));
        let alarm = Alarm::new(pin.clone(), AlarmRule::AtLeast(0.5)).unwrap();
        let mut device = Device::new(&BINARY, &[], Anybody, alarm, StopWatch { ticks: None }, NoEntropy);
        assert_eq!(serve(&mut line, &mut device), Ok(()));
        pin.done();
        let [Reply { id: 9, body: ReplyBody::Answer(prediction) }] = &line.replies()[..] else {
            panic!("not one prediction");
        };
        assert_eq!(prediction.outcome, Outcome::Uncalibrated(Uncalibrated::NoArtifact));
    }

    #[test]
    fn stops_when_the_line_or_the_pin_fails() {
        let input = frame(1, RequestBody::predict(Scores::Score(0.1)));
        let low = Transaction::set(State::Low);

        let mut line = Line { end: Err(ErrorKind::NotConnected), ..Line::new(&input) };
        assert_eq!(
            run(&mut line, core::slice::from_ref(&low)),
            Err(ServeError::Serial(ErrorKind::NotConnected))
        );

        let mut line = Line { room: 8, ..Line::new(&input) };
        assert_eq!(
            run(&mut line, core::slice::from_ref(&low)),
            Err(ServeError::Serial(ErrorKind::BrokenPipe))
        );

        let failure = MockError::Io(std::io::ErrorKind::Other);
        let mut line = Line::new(&input);
        assert_eq!(run(&mut line, &[low.with_error(failure.clone())]), Err(ServeError::Alarm(failure)));
        assert!(line.output.is_empty(), "a device with a stuck alarm must not answer");
    }
}
