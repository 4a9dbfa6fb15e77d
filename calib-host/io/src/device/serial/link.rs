//! Requests and their replies.

use std::io::{self, ErrorKind, Read, Write};
use std::time::{Duration, Instant};

use calib_core::wire::{
    self, FrameError, FrameReader, MAX_FRAME, Refusal, Reply, ReplyBody, Request, RequestBody, Slots, Status,
};

use super::error::DeviceError;

/// A line to a device: bytes both ways, and reads that give up after a while.
pub trait Transport: Read + Write {
    /// Lets reads give up after this long, with [`ErrorKind::TimedOut`] or [`ErrorKind::WouldBlock`].
    ///
    /// # Errors
    ///
    /// The line's.
    fn set_read_timeout(&mut self, patience: Duration) -> io::Result<()>;
}

/// How long to wait, and how often to ask.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RetryPolicy {
    /// How long to wait for a reply before the question is asked again.
    pub reply: Duration,
    /// How often to ask.
    pub tries: u32,
}

impl Default for RetryPolicy {
    fn default() -> Self {
        // Erasing a sector takes the slowest flash 4 s.
        Self { reply: Duration::from_secs(5), tries: 3 }
    }
}

/// Asks a device, and waits for its reply.
///
/// ```
/// use std::io::{self, Read, Write};
/// use std::time::Duration;
///
/// use calib_core::wire::RequestBody;
/// use calib_io::device::serial::{DeviceError, Link, RetryPolicy, Transport};
///
/// /// A line that nobody is on.
/// struct Nobody;
///
/// impl Read for Nobody {
///     fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
///         Err(io::ErrorKind::TimedOut.into())
///     }
/// }
///
/// impl Write for Nobody {
///     fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
///         Ok(bytes.len())
///     }
///
///     fn flush(&mut self) -> io::Result<()> {
///         Ok(())
///     }
/// }
///
/// impl Transport for Nobody {
///     fn set_read_timeout(&mut self, _: Duration) -> io::Result<()> {
///         Ok(())
///     }
/// }
///
/// let mut link = Link::new(Nobody, RetryPolicy { reply: Duration::from_millis(1), tries: 3 });
/// assert!(matches!(link.ask(&RequestBody::Status), Err(DeviceError::Silent { tries: 3, .. })));
/// ```
#[derive(Debug)]
pub struct Link<T> {
    line: T,
    retry: RetryPolicy,
    reader: FrameReader,
    next_id: u32,
    damaged: u64,
    /// The frame that was sent last.
    sent: Vec<u8>,
    /// What came since the last zero, as far as it may be that frame.
    came: Vec<u8>,
    /// How many frames came back as they were sent.
    echoed: u64,
}

impl<T: Transport> Link<T> {
    /// Takes the line.
    pub fn new(line: T, retry: RetryPolicy) -> Self {
        // Replies to what an earlier program asked have other numbers.
        let start = std::process::id().rotate_left(16);
        let (sent, came) = (Vec::new(), Vec::new());
        Self { line, retry, reader: FrameReader::new(), next_id: start, damaged: 0, sent, came, echoed: 0 }
    }

    /// How many damaged frames came.
    pub fn damaged(&self) -> u64 {
        self.damaged
    }

    /// Gives the line back.
    pub fn into_line(self) -> T {
        self.line
    }

    /// Asks, again if there is no reply in time, and returns the reply.
    ///
    /// A request that changes something changes nothing more when it is asked again, except for one: a prediction that a device counts is
    /// one more each time.
    ///
    /// # Errors
    ///
    /// If the line fails, the device stays silent, or it refuses.
    pub fn ask(&mut self, body: &RequestBody) -> Result<ReplyBody, DeviceError> {
        for _ in 0..self.retry.tries {
            let id = self.send(body)?;
            match self.receive(Some(id))?.map(|reply| reply.body) {
                Some(ReplyBody::Refused(refusal)) => return Err(refused(refusal)),
                Some(body) => return Ok(body),
                None => {}
            }
        }
        let RetryPolicy { reply: patience, tries } = self.retry;
        if self.echoed > 0 {
            return Err(DeviceError::Echo);
        }
        Err(DeviceError::Silent { patience, tries, damaged: self.damaged })
    }

    /// Asks, and returns the number of the request without waiting for the reply.
    ///
    /// # Errors
    ///
    /// If the line fails.
    pub fn send(&mut self, body: &RequestBody) -> Result<u32, DeviceError> {
        let id = self.next_id;
        self.next_id = id.wrapping_add(1);
        // A zero first ends whatever half a frame the device has.
        self.line.write_all(&[0])?;
        let request = Request { id, body: body.clone() };
        let mut buf = [0; MAX_FRAME];
        let frame = wire::encode(&request, &mut buf).map_err(|_| DeviceError::Protocol)?;
        self.line.write_all(frame)?;
        self.line.flush()?;
        self.sent.clear();
        self.sent.extend_from_slice(frame);
        Ok(id)
    }

    /// Asks a device what it is, which version of the protocol it speaks, and which calibrator is active.
    ///
    /// # Errors
    ///
    /// As [`Link::ask`].
    pub fn status(&mut self) -> Result<Status, DeviceError> {
        match self.ask(&RequestBody::Status)? {
            ReplyBody::Status(status) => Ok(status),
            _ => Err(DeviceError::Protocol),
        }
    }

    /// Asks a device what its slots hold.
    ///
    /// # Errors
    ///
    /// As [`Link::ask`].
    pub fn slots(&mut self) -> Result<Slots, DeviceError> {
        match self.ask(&RequestBody::Slots)? {
            ReplyBody::Slots(slots) => Ok(slots),
            _ => Err(DeviceError::Protocol),
        }
    }

    /// Waits for a reply, to this request or to any; `None` if there is none in time.
    ///
    /// # Errors
    ///
    /// If the line fails, or the reply to this request is one that only another version of the protocol has.
    pub fn receive(&mut self, id: Option<u32>) -> Result<Option<Reply>, DeviceError> {
        let deadline = Instant::now() + self.retry.reply;
        let mut byte = [0];
        loop {
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Ok(None);
            }
            self.line.set_read_timeout(left)?;
            match self.line.read(&mut byte) {
                Ok(0) => return Err(DeviceError::Gone),
                Ok(_) => {}
                Err(error) if matches!(error.kind(), ErrorKind::TimedOut | ErrorKind::WouldBlock) => continue,
                Err(error) if error.kind() == ErrorKind::Interrupted => continue,
                Err(error) => return Err(error.into()),
            }
            let is_echo = self.is_echo(byte[0]);
            match self.reader.push::<Reply>(byte[0]) {
                // Behind what an adapter sends back, the reply may still come.
                _ if is_echo => self.echoed += 1,
                Some(Ok(reply)) if id.is_none_or(|id| id == reply.id) => return Ok(Some(reply)),
                // Late: the question was asked again since.
                Some(Ok(_)) | None => {}
                Some(Err(FrameError::Unknown { id: of })) if id == Some(of) => {
                    return Err(DeviceError::UnknownReply);
                }
                Some(Err(_)) => self.damaged += 1,
            }
        }
    }
}

impl<T> Link<T> {
    /// Whether a byte ends the frame that was sent: no reply is the same as its request.
    fn is_echo(&mut self, byte: u8) -> bool {
        if self.came.len() < self.sent.len() {
            self.came.push(byte);
        } else {
            // Longer than what was sent.
            self.came.fill(0);
        }
        let is_echo = byte == 0 && !self.sent.is_empty() && self.came == self.sent;
        if byte == 0 {
            self.came.clear();
        }
        is_echo
    }
}

fn refused(refusal: Refusal) -> DeviceError {
    match refusal {
        Refusal::Update(refusal) => DeviceError::Refused(refusal),
        Refusal::Unknown => DeviceError::UnknownRequest,
        Refusal::SwitchedOff => DeviceError::SwitchedOff,
        Refusal::Counters(refusal) => DeviceError::Counters(refusal),
        refusal => DeviceError::RefusedOtherwise(refusal),
    }
}

#[cfg(feature = "serial")]
impl Transport for serialport::TTYPort {
    fn set_read_timeout(&mut self, patience: Duration) -> io::Result<()> {
        // Less than a millisecond would not wait at all.
        Ok(serialport::SerialPort::set_timeout(self, patience.max(Duration::from_millis(1)))?)
    }
}

/// The words for `ENOTTY`, for which `serialport` has no kind.
#[cfg(feature = "serial")]
const NO_TERMINAL: &str = "Not a typewriter";

/// How long a port may stay in use.
///
/// Anyone who starts a process while a port is open lends the process a copy of it, and of its lock, until the process runs
/// its own program.
#[cfg(feature = "serial")]
const LENT: Duration = Duration::from_secs(1);

/// Opens a serial port, for this program alone.
///
/// A port that is in use is asked for again, for a second.
///
/// ```no_run
/// use calib_io::device::serial::{Link, RetryPolicy, open_port};
///
/// let link = Link::new(open_port("/dev/ttyACM0", 115_200)?, RetryPolicy::default());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
///
/// If it is not there, no serial port, in use, or not this user's to open.
#[cfg(feature = "serial")]
pub fn open_port(port: &str, baud: u32) -> Result<serialport::TTYPort, DeviceError> {
    let deadline = Instant::now() + LENT;
    loop {
        match open_free_port(port, baud) {
            Err(DeviceError::Busy { .. }) if Instant::now() < deadline => {
                std::thread::sleep(Duration::from_millis(10));
            }
            opened => return opened,
        }
    }
}

/// As [`open_port`], at once.
#[cfg(feature = "serial")]
fn open_free_port(port: &str, baud: u32) -> Result<serialport::TTYPort, DeviceError> {
    use std::os::unix::fs::FileTypeExt;

    let builder = serialport::new(port, baud).timeout(Duration::from_secs(1));
    serialport::TTYPort::open(&builder).map_err(|error| {
        let port = port.to_owned();
        let io_kind = match error.kind() {
            serialport::ErrorKind::Io(kind) => Some(kind),
            _ => None,
        };
        let found = std::fs::metadata(&port);
        let is_device = |found: &std::fs::Metadata| found.file_type().is_char_device();
        let there = || {
            let there = serialport::available_ports().unwrap_or_default();
            there.into_iter().map(|port| port.port_name).collect()
        };
        match (io_kind, error.kind()) {
            (Some(ErrorKind::PermissionDenied), _) => DeviceError::NoPermission { port },
            (Some(ErrorKind::NotFound), _) | (_, serialport::ErrorKind::NoDevice) if found.is_err() => {
                DeviceError::NoPort { port, there: there() }
            }
            // A file, or a device of another kind.
            _ if error.description == NO_TERMINAL || found.is_ok_and(|found| !is_device(&found)) => {
                DeviceError::NotAPort { port, there: there() }
            }
            (_, serialport::ErrorKind::NoDevice) => DeviceError::Busy { port },
            _ => DeviceError::Open { port, cause: error.to_string() },
        }
    })
}

#[cfg(test)]
mod tests {
    use calib_core::artifact::crc32c;
    use calib_core::wire::Scores;

    use super::*;
    use crate::device::serial::fake::{self, Fake};

    /// An adapter that sends back what it is sent is no device; one behind which there is a device does no harm.
    #[test]
    fn what_was_sent_is_no_reply() {
        let echo = |request: &Request| wire::encode(request, &mut [0; MAX_FRAME]).unwrap().to_vec();
        for body in [
            RequestBody::Status,
            RequestBody::Slots,
            RequestBody::Install,
            RequestBody::Counters { table: 0 },
            RequestBody::Announce { len_bytes: 300, crc: 7 },
            RequestBody::predict(Scores::Score(0.5)),
        ] {
            let mut link = Fake::link(echo);
            assert!(matches!(link.ask(&body), Err(DeviceError::Echo)), "{body:?}");
            assert_eq!((link.damaged(), link.echoed, link.into_line().asked), (0, 3, 3));
            let answering = |request: &Request| {
                let reply = fake::frame(request.id, ReplyBody::Refused(Refusal::Measure));
                [&[0], &echo(request)[..], &reply].concat()
            };
            let mut link = Fake::link(answering);
            let refused = link.ask(&body);
            assert!(matches!(refused, Err(DeviceError::RefusedOtherwise(Refusal::Measure))), "{refused:?}");
        }
        assert!(matches!(Fake::link(echo).counters(), Err(DeviceError::Echo)));
        let mut silent = Fake::link(|_: &Request| Vec::new());
        assert!(matches!(silent.counters(), Err(DeviceError::Silent { .. })));
        // Noise that is longer than a frame.
        let mut noisy = Fake::link(|_: &Request| [[7; 900].as_slice(), &[0]].concat());
        assert!(matches!(noisy.status(), Err(DeviceError::Silent { damaged: 3, .. })));
    }

    /// A port is not taken from the program that has it, and is waited for while a process that was just started holds it.
    #[cfg(feature = "serial")]
    #[test]
    fn a_port_in_use_is_waited_for() {
        use serialport::{SerialPort, TTYPort};

        let (_device, terminal) = TTYPort::pair().unwrap();
        let port = terminal.name().unwrap();
        drop(terminal);
        let user = open_port(&port, 115_200).unwrap();
        assert!(matches!(open_port(&port, 115_200), Err(DeviceError::Busy { .. })));
        std::thread::scope(|scope| {
            scope.spawn(|| {
                std::thread::sleep(LENT / 4);
                drop(user);
            });
            open_port(&port, 115_200).unwrap();
        });
    }

    /// A device that answers a status with what only another version of the protocol has.
    fn other_version() -> Link<Fake<impl FnMut(&Request) -> Vec<u8>>> {
        Fake::link(move |request| {
            let body = match &request.body {
                RequestBody::Status => {
                    let mut id = [0; 5];
                    let id = postcard_id(request.id, &mut id);
                    return framed(&[id, &[9, 1, 2, 3]].concat());
                }
                RequestBody::Install => ReplyBody::Refused(Refusal::Unknown),
                RequestBody::Predict(_) => ReplyBody::Refused(Refusal::SwitchedOff),
                RequestBody::Slots => return Vec::new(),
                _ => ReplyBody::Refused(Refusal::Measure),
            };
            fake::frame(request.id, body)
        })
    }

    /// A frame of any bytes, whose checksum is right.
    fn framed(payload: &[u8]) -> Vec<u8> {
        let whole = [payload, &crc32c(payload).to_le_bytes()].concat();
        let runs = whole.split(|&byte| byte == 0);
        runs.flat_map(|run| [&[run.len() as u8 + 1], run].concat()).chain([0]).collect()
    }

    /// A number as the protocol writes it: seven bits a byte, the lowest first.
    fn postcard_id(mut id: u32, bytes: &mut [u8; 5]) -> &[u8] {
        let mut len = 0;
        loop {
            let more = id > 0x7F;
            bytes[len] = id as u8 & 0x7F | if more { 0x80 } else { 0 };
            id >>= 7;
            len += 1;
            if !more {
                return &bytes[..len];
            }
        }
    }

    #[test]
    fn what_either_side_does_not_know_is_told_at_once() {
        let mut link = other_version();
        assert!(matches!(link.status(), Err(DeviceError::UnknownReply)));
        assert!(matches!(link.ask(&RequestBody::Install), Err(DeviceError::UnknownRequest)));
        let question = RequestBody::predict(Scores::Score(0.0));
        assert!(matches!(link.ask(&question), Err(DeviceError::SwitchedOff)));
        assert_eq!(link.damaged(), 0);
        // Silence is waited for as often as is said.
        assert!(matches!(link.ask(&RequestBody::Slots), Err(DeviceError::Silent { tries: 3, .. })));
        assert_eq!(link.into_line().asked, 3 + 3);
    }
}
