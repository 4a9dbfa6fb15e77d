//! Classifier, calibrator, slots and alarm behind a serial line: bytes in, bytes out.

use core::mem::MaybeUninit;

use calib_core::Artifact;
use calib_core::predict::Prediction;
use calib_core::wire::{
    Answer, FrameReader, MAX_FRAME, Question, ReplyBody, Request, RequestBody, Scores, Values,
};
use calib_firmware::{Alarm, Classifier, Device, Update, Updater, Watch, push_byte_with};

use crate::apply::failed;
use crate::classifier::{Board, Own, alarm_rule, calib_board_t, calib_classifier_t, text};
use crate::error::{
    CALIB_ERROR_ALARM, CALIB_ERROR_ARGUMENT, CALIB_ERROR_KIND, CALIB_ERROR_LENGTH, CALIB_ERROR_STATE, Result,
    code, of_layout, of_refusal,
};
use crate::flash::{Flash, calib_flash_t, calib_layout_t};
use crate::memory::{self, Place, Span, State};
use crate::monitors::{Watching, calib_monitors_t};
use crate::result::{Told, calib_options_t, calib_result_t, options};
use crate::store::{self, Buffer, CALIB_BUFFER_BYTES, Counted, buffer_span};
use crate::trust::{CALIB_KEY_BYTES, Trusted};

/// Words, of 8 bytes, of a `calib_device_t`.
#[cfg(target_pointer_width = "32")]
pub const CALIB_DEVICE_WORDS: usize = 432;
/// Words, of 8 bytes, of a `calib_device_t`.
#[cfg(target_pointer_width = "64")]
pub const CALIB_DEVICE_WORDS: usize = 496;
/// Bytes of the longest reply.
pub const CALIB_REPLY_BYTES: usize = 608;

const _: () = assert!(CALIB_REPLY_BYTES == MAX_FRAME);

/// A device. Opened by `calib_device_open`; there is nothing to close. One that was moved is refused with `CALIB_ERROR_STATE`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct calib_device_t {
    /// The library's own.
    pub opaque: [u64; CALIB_DEVICE_WORDS],
}

/// What a device is made of. It is copied; what its pointers point to is not.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct calib_device_config_t {
    /// The classifier.
    pub classifier: calib_classifier_t,
    /// The alarm, and what else the board has.
    pub board: calib_board_t,
    /// The flash with the slots.
    pub flash: calib_flash_t,
    /// The slots.
    pub layout: calib_layout_t,
    /// The 32 bytes of the public key with which calibrators must be signed; null accepts every calibrator, and answers questions
    /// about scores from the line.
    pub key: *const u8,
    /// What counts the predictions, open; null counts nothing. The device begins with the active calibrator. With a `key`, outcomes are not
    /// accepted over the serial link, as anyone who forges them can silence a monitor: report them with `calib_monitors_tell`.
    pub monitors: *mut calib_monitors_t,
    /// If a calibrator has no rule: a probability at or above this threshold raises the alarm.
    pub alarm_threshold: f32,
    /// Whether a probability below the threshold raises it instead: 0 or 1.
    pub alarm_below: u8,
    /// Always 0.
    pub reserved: [u8; 3],
}

/// An open device.
struct OpenDevice {
    /// Absent only while it is rebuilt around another calibrator.
    device: Option<Joined>,
    updater: Slots,
    /// The updater's.
    staged: *const Buffer,
    loaded: *mut Buffer,
    reader: FrameReader,
    watching: Watching,
    /// Where it was opened.
    at: usize,
}

type Joined = Device<'static, Own, Board, Board, Board, Watching>;
type Slots = Updater<'static, Flash, Trusted, { CALIB_BUFFER_BYTES / 4 }>;

/// Joins the parts around the active calibrator, which is loaded first.
///
/// # Safety
///
/// `loaded` points to a buffer, and nothing else uses it while the device does.
#[inline(never)]
unsafe fn joined(
    updater: &mut Slots,
    loaded: *mut Buffer,
    parts: (Own, Alarm<Board>, Board, Board, Watching),
) -> Joined {
    // SAFETY: the caller's.
    updater.device(parts, unsafe { &mut *loaded })
}

impl OpenDevice {
    /// Checks the parts, raises the alarm, and loads the active calibrator.
    ///
    /// # Safety
    ///
    /// As [`calib_device_open`].
    unsafe fn new(
        config: &calib_device_config_t,
        (staged, loaded): (*mut u64, *mut u64),
        buffer_words: usize,
        at: usize,
        others: &[Span],
    ) -> Result<Self> {
        // SAFETY: the caller's.
        let (classifier, board) = unsafe { (Own::new(config.classifier)?, Board::new(config.board)?) };
        let rule = alarm_rule(config.alarm_threshold, config.alarm_below)?;
        if config.reserved != [0; 3] {
            return Err(CALIB_ERROR_ARGUMENT);
        }
        // SAFETY: the caller's.
        let (flash, layout, admission) =
            unsafe { store::parts(&config.flash, &config.layout, classifier.id(), config.key) }?;
        // SAFETY: the caller's.
        let watching = unsafe { Watching::new(config.monitors) }?;
        buffer_span(loaded).apart_from(others)?;
        buffer_span(loaded).apart_from(&[buffer_span(staged)])?;
        // SAFETY: the caller's.
        let (staged, loaded) = unsafe {
            let (staged, loaded) =
                (store::buffer(staged, buffer_words, others)?, store::buffer(loaded, buffer_words, others)?);
            (Counted::buffer(staged), Counted::buffer(loaded))
        };
        let alarm = Alarm::new(board, rule).map_err(|_| CALIB_ERROR_ALARM)?;
        let admission = admission.watched(watching.room());
        // SAFETY: the caller's.
        let received: &'static mut Buffer = unsafe { &mut *staged };
        let mut updater =
            Updater::open(flash, layout, admission, classifier.task(), received).map_err(of_layout)?;
        // SAFETY: the caller's.
        let device =
            Some(unsafe { joined(&mut updater, loaded, (classifier, alarm, board, board, watching)) });
        Ok(Self { device, updater, staged, loaded, reader: FrameReader::new(), watching, at })
    }

    /// What a call with this device must leave alone: it, its buffers, its monitors and their counters. One that lies elsewhere than it was opened
    /// is another one's copy, and works on the same buffers.
    fn own(&self, device: *const calib_device_t) -> Result<[Span; 5]> {
        if device.addr() != self.at {
            return Err(CALIB_ERROR_STATE);
        }
        let [monitors, counters] = self.watching.own();
        let [staged, loaded] =
            [self.staged, self.loaded.cast_const()].map(|buffer| Span::of(buffer.cast::<Counted>()));
        Ok([Span::of(device), staged, loaded, monitors, counters])
    }

    /// Loads the active calibrator.
    // What it needs of the stack is not there while requests are answered.
    #[inline(never)]
    fn reload(&mut self) -> Result<()> {
        let parts = self.device.take().ok_or(CALIB_ERROR_STATE)?.free();
        // SAFETY: by the contract of `OpenDevice::new`, and the device that looked at it is gone.
        self.device = Some(unsafe { joined(&mut self.updater, self.loaded, parts) });
        Ok(())
    }

    /// Takes bytes until a request is answered; returns how many, and the length of the reply.
    fn take(&mut self, bytes: &[u8], reply: &mut [MaybeUninit<u8>]) -> Result<(usize, usize)> {
        self.watching.check()?;
        let frame = reply.first_chunk_mut::<MAX_FRAME>().ok_or(CALIB_ERROR_LENGTH)?;
        for (taken, &byte) in (1..).zip(bytes) {
            let device = self.device.as_mut().ok_or(CALIB_ERROR_STATE)?;
            let answered = push_byte_with(&mut self.reader, byte, device, &mut self.updater, || {
                memory::filled_array(frame, 0)
            });
            if let Some((_, reply)) = answered.map_err(|_| CALIB_ERROR_ALARM)? {
                let len = reply.len();
                if self.updater.is_replaced() {
                    self.reload()?;
                }
                return Ok((taken, len));
            }
        }
        Ok((bytes.len(), 0))
    }
}

/// Where that lies which a device's configuration points to.
///
/// # Safety
///
/// As [`calib_device_open`].
unsafe fn named(config: &calib_device_config_t) -> [Span; 4] {
    // SAFETY: the caller's.
    let (text, watching) = unsafe { (text(config.classifier.name), Watching::new(config.monitors)) };
    let [monitors, counters] = watching.map_or([Span::of(config.monitors); 2], |watching| watching.own());
    [Span::of(config.key.cast::<[u8; CALIB_KEY_BYTES]>()), text, monitors, counters]
}

/// Joins the parts of a device, raises the alarm, and loads the active calibrator.
///
/// `staged` and `loaded` have room for `buffer_words` words each, at least `CALIB_BUFFER_WORDS`: one receives a new calibrator while the
/// one in the other is used. It is no error if there is no calibrator: the device answers "uncalibrated", and its alarm stays raised.
///
/// # Safety
///
/// Pointers that are neither null nor misaligned point to as many values as stated, which may be read or written as stated.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn calib_device_open(
    device: *mut calib_device_t,
    config: *const calib_device_config_t,
    staged: *mut u64,
    loaded: *mut u64,
    buffer_words: usize,
) -> i32 {
    let place = Span::of(config);
    // SAFETY: the caller's.
    let config = unsafe { memory::copied(config) };
    // SAFETY: the caller's.
    let named = config.as_ref().map_or([place; 4], |config| unsafe { named(config) });
    let [key, text, monitors, counters] = named;
    let (read, buffers) =
        ([place, key, text, monitors, counters], [buffer_span(staged), buffer_span(loaded)]);
    // SAFETY: the caller's.
    let make = || unsafe { OpenDevice::new(&config?, (staged, loaded), buffer_words, device.addr(), &read) };
    // SAFETY: the caller's.
    code(unsafe { memory::open(device, &[&read, &buffers], make) })
}

/// Reads bytes from the serial link until a request is complete, and answers it.
///
/// `taken` is set to how many of the `len` bytes were read. `reply_len` is set to the length of the reply that is to be sent, or to 0 if
/// no request is complete yet. `reply` has room for `CALIB_REPLY_BYTES` bytes. Call it again with the rest of the bytes. Bytes that are not a
/// frame are skipped. An installation erases and writes a slot within this
/// call, and the counters of monitors may be saved: it takes as long as the flash's callbacks do.
///
/// If it returns anything but `CALIB_OK`, nothing is to be sent; after `CALIB_ERROR_ALARM` the device must not go on as if its alarm
/// were in order.
///
/// # Safety
///
/// As [`calib_device_open`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn calib_device_take(
    device: *mut calib_device_t,
    bytes: *const u8,
    len: usize,
    taken: *mut usize,
    reply: *mut u8,
    reply_capacity: usize,
    reply_len: *mut usize,
) -> i32 {
    let take = |opened: &mut OpenDevice| {
        let own = opened.own(device)?;
        let [received, sent] = [Span::of_slice(bytes, len), Span::of_slice(reply, reply_capacity)];
        received.apart_from(&own)?;
        // SAFETY: the caller's.
        let (taken, reply_len, bytes, reply) = unsafe {
            (
                Place::new(taken, &[&own, &[received, sent, Span::of(reply_len)]])?,
                Place::new(reply_len, &[&own, &[received, sent]])?,
                memory::slice(bytes, len)?,
                memory::room(reply, reply_capacity, &[&own, &[received]])?,
            )
        };
        let (bytes, reply) = opened.take(bytes, reply)?;
        taken.write(bytes);
        reply_len.write(reply);
        Ok(())
    };
    // SAFETY: the caller's.
    code(unsafe { memory::work(device.cast::<State<OpenDevice>>(), take) })
}

/// Classifies features of the device's own, as a request over the line does: calibrates the output, and sets the alarm.
///
/// Of the options only the group is looked at; they may name no monitors, as the device has its own. The result's `alarm` says what the alarm was set to.
///
/// # Safety
///
/// As [`calib_device_open`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn calib_device_classify(
    device: *mut calib_device_t,
    features: *const f32,
    count: usize,
    told: *const calib_options_t,
    result: *mut calib_result_t,
) -> i32 {
    let classify = |opened: &mut OpenDevice| {
        let (own, given) = (opened.own(device)?, [Span::of_slice(features, count), Span::of(told)]);
        given.into_iter().try_for_each(|given| given.apart_from(&own))?;
        // SAFETY: the caller's.
        let place = unsafe { Place::new(result, &[&own, &given]) }?;
        // SAFETY: the caller's.
        let (Told { group, monitors, .. }, features) =
            unsafe { (options(told)?, memory::slice(features, count)?) };
        if !monitors.is_null() {
            return Err(CALIB_ERROR_ARGUMENT);
        }
        opened.watching.check()?;
        let features = Values::from_slice(features).map_err(|_| CALIB_ERROR_LENGTH)?;
        let question = Question { group, word: None, scores: Scores::Features(features) };
        let device = opened.device.as_mut().ok_or(CALIB_ERROR_STATE)?;
        let reply = device.answer(&Request { id: 0, body: RequestBody::Predict(question) });
        match reply.map_err(|_| CALIB_ERROR_ALARM)?.body {
            ReplyBody::Answer(answer) => {
                let (first, alarm) = (answer.first(), Some(answer.alarm));
                let Answer { group, verdict, set, action, .. } = answer;
                let prediction = Prediction { first, group, verdict, set, action, alarm };
                let of = device.artifact().map(Artifact::identity);
                let number = of.map_or(0, |_| opened.watching.last());
                place.write(calib_result_t::new(&prediction, of, number));
                Ok(())
            }
            ReplyBody::Refused(refusal) => Err(of_refusal(refusal)),
            _ => Err(CALIB_ERROR_KIND),
        }
    };
    // SAFETY: the caller's.
    let done = unsafe { memory::work(device.cast::<State<OpenDevice>>(), classify) };
    // SAFETY: the caller's.
    unsafe {
        failed(&done, (result, 1), &[Span::of(device)], &[Span::of_slice(features, count), Span::of(told)])
    };
    code(done)
}
