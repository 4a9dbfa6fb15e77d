//! The same loop for a serial line that is waited for, in Embassy or another executor.

use calib_core::ArtifactBuffer;
use calib_core::slot::Trust;
use calib_core::wire::MAX_FRAME;
use embedded_hal::digital::OutputPin;
use embedded_io_async::{Read, Write};
use embedded_storage::nor_flash::NorFlash;

use crate::report::report;
use crate::serve::Session;
use crate::{Alarm, Classifier, Entropy, Meter, Report, ServeError, Update, Updater, Watch, log, push_byte};

/// As [`serve_updatable`](crate::serve_updatable), over a line that is waited for: other tasks run meanwhile.
///
/// Only the line is waited for. What a request asks for is done in one go: a prediction takes microseconds, and a step of an update erases
/// one sector of flash or writes at most 256 bytes. While its own flash is erased most microcontrollers stand still anyhow, whatever the
/// driver's interface is, so the flash is a blocking [`NorFlash`]. Work with a shorter deadline than the flash's longest erase belongs into
/// an interrupt, or an executor of a higher priority, whose code lies in RAM.
///
/// Bytes that arrive during such a step must not be lost: give it a line with a buffer. The host sends nothing until it is answered, or has
/// waited for `--timeout`, so one request is enough: 512 bytes.
///
/// A future that is dropped in the middle has lost the request that was received in part; the active calibrator stays active, and
/// the host asks again.
///
/// # Errors
///
/// As [`serve`](crate::serve).
///
/// # Examples
///
/// A task for two slots of 8 KiB at the start of a flash, and calibrators of up to 2 KiB:
///
/// ```
/// use calib_core::{Admission, Anybody, ArtifactBuffer, Erased, SlotLayout};
/// use calib_firmware::{Alarm, Classifier, Meter, NoEntropy, NoMonitors, ServeError, Updater, serve_async};
/// use embedded_hal::digital::OutputPin;
/// use embedded_io_async::{Read, Write};
/// use embedded_storage::nor_flash::NorFlash;
///
/// const LAYOUT: SlotLayout = SlotLayout { offsets: [0, 8192], len_bytes: 8192, erased: Erased::Ones };
///
/// async fn run<S: Read + Write, P: OutputPin>(
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
///     serve_async(&mut uart, parts, &mut updater, &mut buffer, |_| {}).await
/// }
/// ```
pub async fn serve_async<S, C, P, M, E, W, F, T, const WORDS: usize>(
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
    let (mut session, mut frame) = (Session::new(), [0; MAX_FRAME]);
    loop {
        let mut device = updater.device(parts, buffer);
        on_report(&report(&mut device, updater));
        while !updater.is_replaced() {
            let Some(byte) = session.take() else {
                let len = serial.read(&mut session.chunk).await.map_err(ServeError::Serial)?;
                if session.is_filled(len) {
                    continue;
                }
                return Ok(());
            };
            let reply = push_byte(&mut session.reader, byte, &mut device, updater, &mut frame);
            let Some((id, reply)) = reply.map_err(ServeError::Alarm)? else { continue };
            if !write_all(serial, reply).await.map_err(ServeError::Serial)? {
                return Ok(());
            }
            serial.flush().await.map_err(ServeError::Serial)?;
            log::answered(id);
        }
        parts = device.free();
    }
}

/// Writes all of `bytes`; false if the line takes no more.
async fn write_all<S: Write>(serial: &mut S, mut bytes: &[u8]) -> Result<bool, S::Error> {
    while !bytes.is_empty() {
        let taken = serial.write(bytes).await?;
        match bytes.get(taken..) {
            Some(rest) if taken > 0 => bytes = rest,
            _ => return Ok(false),
        }
    }
    Ok(true)
}

#[cfg(test)]
mod tests {
    use core::future::{Future, poll_fn};
    use core::pin::pin;
    use core::task::{Context, Poll, Waker};
    use std::vec::Vec;

    use calib_core::artifact::crc32c;
    use calib_core::wire::{
        self, Chunk, MAX_CHUNK, Missing, Reply, ReplyBody, Request, RequestBody, Scores, UpdateStatus,
    };
    use calib_core::{Admission, Anybody, Erased, SlotLayout};
    use embedded_hal_mock::eh1::digital::{Mock, State, Transaction};
    use embedded_io::ErrorKind;

    use super::*;
    use crate::testing::{BINARY, ID, Line, StopWatch, TestFlash, binary_artifact, values};
    use crate::{AlarmRule, LinearClassifier, NoEntropy, NoMonitors, serve_updatable};

    const LAYOUT: SlotLayout = SlotLayout { offsets: [0, 1024], len_bytes: 1024, erased: Erased::Ones };

    /// A line that has nothing at first, whatever it is asked for, and is asked again.
    struct Slow<'a>(Line<'a>);

    async fn wait() {
        let mut has_waited = false;
        poll_fn(|context| {
            if core::mem::replace(&mut has_waited, true) {
                return Poll::Ready(());
            }
            context.waker().wake_by_ref();
            Poll::Pending
        })
        .await;
    }

    impl embedded_io_async::ErrorType for Slow<'_> {
        type Error = ErrorKind;
    }

    impl Read for Slow<'_> {
        async fn read(&mut self, bytes: &mut [u8]) -> Result<usize, ErrorKind> {
            wait().await;
            embedded_io::Read::read(&mut self.0, bytes)
        }
    }

    impl Write for Slow<'_> {
        async fn write(&mut self, bytes: &[u8]) -> Result<usize, ErrorKind> {
            wait().await;
            embedded_io::Write::write(&mut self.0, bytes)
        }

        async fn flush(&mut self) -> Result<(), ErrorKind> {
            wait().await;
            embedded_io::Write::flush(&mut self.0)
        }
    }

    /// Returns what a future gives, and how often it had to wait.
    fn block_on<R>(future: impl Future<Output = R>) -> (R, usize) {
        let mut future = pin!(future);
        let mut context = Context::from_waker(Waker::noop());
        let mut waits = 0;
        loop {
            match future.as_mut().poll(&mut context) {
                Poll::Ready(result) => return (result, waits),
                Poll::Pending => waits += 1,
            }
        }
    }

    /// Bytes for the line: predictions before and after an update, noise among them.
    fn requests() -> Vec<u8> {
        let artifact = binary_artifact(Some(ID));
        let bytes = artifact.as_bytes();
        let predict = || RequestBody::predict(Scores::Features(values(&[-9.0, 0.0])));
        let mut bodies = Vec::from([RequestBody::Status, predict()]);
        bodies.push(RequestBody::Announce { len_bytes: bytes.len() as u32, crc: crc32c(bytes) });
        bodies.extend(bytes.chunks(MAX_CHUNK).enumerate().map(|(place, part)| RequestBody::Chunk {
            offset: (place * MAX_CHUNK) as u32,
            bytes: Chunk::from_slice(part).unwrap(),
        }));
        bodies.extend((0..8).map(|_| RequestBody::Install));
        bodies.extend([predict(), RequestBody::Slots]);
        let mut line = b"noise\0".to_vec();
        for (id, body) in (1..).zip(bodies) {
            line.extend(wire::encode(&Request { id, body }, &mut [0; MAX_FRAME]).unwrap().iter());
        }
        line
    }

    /// What a device with empty slots answers on a line, and which pins it set.
    fn answered(
        work: impl FnOnce(
            (&'static LinearClassifier<2, 1>, Alarm<Mock>, StopWatch, NoEntropy, NoMonitors),
            &mut Updater<'_, TestFlash, Anybody, 256>,
            &mut ArtifactBuffer<256>,
        ),
    ) {
        let states = [State::High, State::High, State::Low];
        let mut pin = Mock::new(&states.map(Transaction::set));
        let alarm = Alarm::new(pin.clone(), AlarmRule::AtLeast(0.5)).unwrap();
        let (mut staged, mut buffer) = (ArtifactBuffer::<256>::new(), ArtifactBuffer::new());
        let admission = Admission::new(Anybody, ID);
        let mut updater =
            Updater::open(TestFlash::new(2048), LAYOUT, admission, BINARY.task(), &mut staged).unwrap();
        work((&BINARY, alarm, StopWatch { ticks: None }, NoEntropy, NoMonitors), &mut updater, &mut buffer);
        pin.done();
    }

    #[test]
    fn waiting_changes_no_byte() {
        let input = requests();
        let (mut line, mut slow) = (Line::new(&input), Slow(Line::new(&input)));
        let mut reports = [0, 0];
        answered(|parts, updater, buffer| {
            serve_updatable(&mut line, parts, updater, buffer, |_| reports[0] += 1).unwrap();
        });
        answered(|parts, updater, buffer| {
            let (served, waits) =
                block_on(serve_async(&mut slow, parts, updater, buffer, |_| reports[1] += 1));
            served.unwrap();
            assert!(waits > input.len() / 7);
        });
        assert_eq!(slow.0.output, line.output);
        // At the start, and for the new calibrator.
        assert_eq!(reports, [2, 2]);
        let replies = slow.0.replies();
        let Some(Reply { body: ReplyBody::Status(status), .. }) = replies.first() else {
            panic!("no status")
        };
        assert!(matches!(status.calibrator, Err(Missing::Slots(_))));
        assert!(
            replies.iter().any(|reply| matches!(reply.body, ReplyBody::Update(UpdateStatus::Installed(_))))
        );
        let Some(Reply { body: ReplyBody::Slots(slots), .. }) = replies.last() else { panic!("no slots") };
        assert_eq!(slots.in_force, Some(0));
    }

    #[test]
    fn a_line_that_fails_is_told() {
        let input = requests();
        for (room, end) in [(20, Ok(())), (usize::MAX, Err(ErrorKind::TimedOut))] {
            let mut slow = Slow(Line { room, end, ..Line::new(&input[..14]) });
            let mut pin = Mock::new(&[Transaction::set(State::High)]);
            let alarm = Alarm::new(pin.clone(), AlarmRule::AtLeast(0.5)).unwrap();
            let (mut staged, mut buffer) = (ArtifactBuffer::<256>::new(), ArtifactBuffer::new());
            let admission = Admission::new(Anybody, ID);
            let mut updater =
                Updater::open(TestFlash::new(2048), LAYOUT, admission, BINARY.task(), &mut staged).unwrap();
            let parts = (&BINARY, alarm, StopWatch { ticks: None }, NoEntropy, NoMonitors);
            let (served, _) = block_on(serve_async(&mut slow, parts, &mut updater, &mut buffer, |_| {}));
            let kind = end.err().unwrap_or(ErrorKind::BrokenPipe);
            assert_eq!(served, Err(ServeError::Serial(kind)));
            pin.done();
        }
    }
}
