//! Replacing the calibrator over the serial line.

use calib_core::artifact::crc32c;
use calib_core::slot::{Install, InstallError, LayoutError, Progress, Trust};
use calib_core::wire::{Questions, Refusal, ReplyBody, RequestBody, Slots, UpdateRefusal, UpdateStatus};
use calib_core::{Admission, ArtifactBuffer, SlotLayout, SlotStore};
use embedded_hal::digital::OutputPin;
use embedded_storage::nor_flash::NorFlash;

use crate::{Alarm, Classifier, Device, Entropy, Meter, Slot, Task, Watch};

/// Answers the requests of an update.
pub trait Update {
    /// Answers a request if it is one of an update, or about the slots.
    fn answer(&mut self, request: &RequestBody) -> Option<ReplyBody>;

    /// Whether the active calibrator is to be loaded: because it is another than the one loaded last, or may be.
    fn is_replaced(&self) -> bool;
}

/// For devices whose calibrator is not replaced over the line: they refuse.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoUpdate;

/// Receives an artifact in RAM, checks it there, and installs it in a [`SlotStore`].
///
/// Flash is touched only once the artifact is admitted. The active calibrator is not in this buffer, but in the one
/// that it was [loaded](Updater::load) into, and stays in use until the new one is installed.
#[derive(Debug)]
pub struct Updater<'b, F, T, const WORDS: usize> {
    store: SlotStore<F, T>,
    task: Task,
    staged: &'b mut ArtifactBuffer<WORDS>,
    state: State,
    replaced: bool,
    questions: Questions,
    takes_outcomes: bool,
}

#[derive(Clone, Copy, Debug)]
enum State {
    Idle,
    /// Receives an artifact of this length and CRC-32C.
    Receiving {
        len_bytes: u32,
        crc: u32,
    },
    Installing {
        len_bytes: u32,
        crc: u32,
        install: Install,
    },
    Installed(UpdateStatus),
}

impl Update for NoUpdate {
    fn answer(&mut self, _: &RequestBody) -> Option<ReplyBody> {
        None
    }

    fn is_replaced(&self) -> bool {
        false
    }
}

impl<F: NorFlash, T: Trust, const WORDS: usize> Update for Updater<'_, F, T, WORDS> {
    fn answer(&mut self, request: &RequestBody) -> Option<ReplyBody> {
        let status = match request {
            RequestBody::Slots => return Some(ReplyBody::Slots(self.slots())),
            RequestBody::Announce { len_bytes, crc } => self.announce(*len_bytes, *crc),
            RequestBody::Chunk { offset, bytes } => self.chunk(*offset, bytes),
            RequestBody::Install => self.install(),
            _ => return None,
        };
        Some(match status {
            Ok(status) => ReplyBody::Update(status),
            Err(refusal) => ReplyBody::Refused(Refusal::Update(refusal)),
        })
    }

    fn is_replaced(&self) -> bool {
        self.replaced
    }
}

impl<'b, F: NorFlash, T: Trust, const WORDS: usize> Updater<'b, F, T, WORDS> {
    /// Takes the flash with the slots, for a classifier of this task, and a buffer to receive artifacts in, whatever it
    /// holds.
    ///
    /// If `admission` demands signatures, the device answers no [trials](RequestBody::is_trial) and takes no outcomes, otherwise all:
    /// see [`Updater::answering`] and [`Updater::taking_outcomes`].
    ///
    /// # Errors
    ///
    /// If the slots do not fit the flash.
    pub fn open(
        flash: F,
        layout: SlotLayout,
        admission: Admission<T>,
        task: Task,
        staged: &'b mut ArtifactBuffer<WORDS>,
    ) -> Result<Self, LayoutError> {
        // What is loaded here is looked at again by `load`; the store knows its slot from now on.
        let (store, _) = SlotStore::open(flash, layout, admission, staged)?;
        staged.clear();
        let is_keyed = store.admission().trusted_key().is_some();
        let questions = if is_keyed { Questions::NoTrials } else { Questions::All };
        let (state, replaced, takes_outcomes) = (State::Idle, false, !is_keyed);
        Ok(Self { store, task, staged, state, replaced, questions, takes_outcomes })
    }

    /// The same, for a device that answers these questions.
    #[must_use]
    pub fn answering(self, questions: Questions) -> Self {
        Self { questions, ..self }
    }

    /// The same, for a device that takes outcomes and sets counters back, or refuses: anyone who forges outcomes can silence a monitor.
    #[must_use]
    pub fn taking_outcomes(self, takes_outcomes: bool) -> Self {
        Self { takes_outcomes, ..self }
    }

    /// Whether the device takes outcomes and sets counters back.
    pub const fn takes_outcomes(&self) -> bool {
        self.takes_outcomes
    }

    /// What the device answers.
    pub const fn questions(&self) -> Questions {
        self.questions
    }

    /// Loads the active calibrator into a buffer.
    pub fn load<'l>(&mut self, buffer: &'l mut ArtifactBuffer<WORDS>) -> Slot<'l> {
        self.replaced = false;
        let loaded = self.store.load(buffer);
        Slot::admitted(loaded, self.task).falling_back_from(self.store.fallback_from())
    }

    /// Joins the parts of a device around the active calibrator, which is loaded into a buffer first. It answers the questions, and takes
    /// outcomes or not, as this does.
    pub fn device<'l, C, P, M, E, W>(
        &mut self,
        parts: (C, Alarm<P>, M, E, W),
        buffer: &'l mut ArtifactBuffer<WORDS>,
    ) -> Device<'l, C, P, M, E, W>
    where
        C: Classifier,
        P: OutputPin,
        M: Meter,
        E: Entropy,
        W: Watch,
    {
        let slot = self.load(buffer);
        let device = Device::with_parts(parts, slot).taking_outcomes(self.takes_outcomes);
        device.answering(self.questions)
    }

    fn max_len_bytes(&self) -> u32 {
        let buffer = u32::try_from(4 * WORDS).unwrap_or(u32::MAX);
        self.store.layout().max_artifact_len_bytes().min(buffer)
    }

    fn slots(&mut self) -> Slots {
        let update = match self.state {
            State::Idle => None,
            State::Receiving { len_bytes, .. } => Some(self.receiving(len_bytes)),
            State::Installing { install, .. } => Some(self.store.progress(&install).into()),
            State::Installed(status) => Some(status),
        };
        Slots {
            in_force: self.store.current_slot().and_then(|slot| u8::try_from(slot).ok()),
            slots: self.store.survey(),
            max_len_bytes: self.max_len_bytes(),
            trusted_key: self.store.admission().trusted_key(),
            update,
        }
    }

    fn receiving(&self, len_bytes: u32) -> UpdateStatus {
        // No more than was announced, which fits a u32.
        UpdateStatus::Receiving { received: self.staged.as_bytes().len() as u32, len_bytes }
    }

    fn announce(&mut self, len_bytes: u32, crc: u32) -> Result<UpdateStatus, UpdateRefusal> {
        let max = self.max_len_bytes();
        if len_bytes > max {
            return Err(UpdateRefusal::TooLarge { len_bytes, max });
        }
        match self.state {
            State::Receiving { len_bytes: len, crc: same } if (len, same) == (len_bytes, crc) => {}
            State::Installing { len_bytes: len, crc: same, install } if (len, same) == (len_bytes, crc) => {
                return Ok(self.store.progress(&install).into());
            }
            _ => {
                self.staged.clear();
                self.state = State::Receiving { len_bytes, crc };
            }
        }
        Ok(self.receiving(len_bytes))
    }

    fn chunk(&mut self, offset: u32, bytes: &[u8]) -> Result<UpdateStatus, UpdateRefusal> {
        let len_bytes = match self.state {
            State::Receiving { len_bytes, .. } => len_bytes,
            // All chunks are there: this one was sent again.
            State::Installing { install, .. } => return Ok(self.store.progress(&install).into()),
            State::Installed(status) => return Ok(status),
            State::Idle => return Err(UpdateRefusal::NotAnnounced),
        };
        let received = self.staged.as_bytes().len() as u32;
        let Some(known) = received.checked_sub(offset) else {
            return Err(UpdateRefusal::Offset { expected: received });
        };
        // What is there already was sent again, because the reply to it was lost.
        let fresh = bytes.get(known as usize..).unwrap_or_default();
        let end = (received as usize).saturating_add(fresh.len());
        if end > len_bytes as usize || self.staged.extend_from_slice(fresh).is_err() {
            return Err(UpdateRefusal::TooLarge { len_bytes: end as u32, max: len_bytes });
        }
        Ok(self.receiving(len_bytes))
    }

    fn install(&mut self) -> Result<UpdateStatus, UpdateRefusal> {
        let (len_bytes, crc, mut install) = match self.state {
            State::Idle => return Err(UpdateRefusal::NotAnnounced),
            // Asked again, because the reply was lost.
            State::Installed(status) => return Ok(status),
            State::Receiving { len_bytes, crc } => (len_bytes, crc, self.begin(len_bytes, crc)?),
            State::Installing { len_bytes, crc, install } => (len_bytes, crc, install),
        };
        match self.store.step(&mut install, self.staged.as_bytes()) {
            Ok(progress) => {
                let status = progress.into();
                self.state = match progress {
                    Progress::Pending { .. } => State::Installing { len_bytes, crc, install },
                    Progress::Installed(_) => State::Installed(status),
                };
                self.replaced |= matches!(progress, Progress::Installed(_));
                Ok(status)
            }
            Err(error) => {
                // What was received is good: it need not be sent again.
                self.state = State::Receiving { len_bytes, crc };
                Err(error.into())
            }
        }
    }

    /// Checks what was received.
    fn begin(&mut self, len_bytes: u32, crc: u32) -> Result<Install, UpdateRefusal> {
        let bytes = self.staged.as_bytes();
        let received = bytes.len() as u32;
        if received < len_bytes {
            return Err(UpdateRefusal::Incomplete { received });
        }
        if crc32c(bytes) != crc {
            self.staged.clear();
            self.state = State::Idle;
            return Err(UpdateRefusal::Crc);
        }
        Slot::fits(bytes, self.task).map_err(UpdateRefusal::Refused)?;
        let begun = self.store.begin(bytes);
        self.replaced |= matches!(begun, Err(InstallError::Reload));
        Ok(begun?)
    }
}

#[cfg(test)]
mod tests {
    use std::vec::Vec;

    use calib_core::artifact::KeyId;
    use calib_core::slot::{Receipt, Refused, SignatureError, SlotFault, UnusableSlot};
    use calib_core::wire::{Chunk, MAX_CHUNK, Missing};
    use calib_core::{Anybody, Artifact, Erased, ParseError};

    use super::*;
    use crate::testing::{ID, OTHER_ID, TestFlash, binary_artifact, top_label_artifact};

    const WORDS: usize = 256;
    const LAYOUT: SlotLayout = SlotLayout { offsets: [0, 1024], len_bytes: 1024, erased: Erased::Ones };

    fn updater(staged: &mut ArtifactBuffer<WORDS>) -> Updater<'_, TestFlash, Anybody, WORDS> {
        let admission = Admission::new(Anybody, ID);
        Updater::open(TestFlash::new(2048), LAYOUT, admission, Task::Binary, staged).unwrap()
    }

    fn ask(updater: &mut impl Update, request: RequestBody) -> Result<UpdateStatus, UpdateRefusal> {
        match updater.answer(&request) {
            Some(ReplyBody::Update(status)) => Ok(status),
            Some(ReplyBody::Refused(Refusal::Update(refusal))) => Err(refusal),
            other => panic!("not an answer to an update: {other:?}"),
        }
    }

    fn announce(bytes: &[u8]) -> RequestBody {
        RequestBody::Announce { len_bytes: bytes.len() as u32, crc: crc32c(bytes) }
    }

    fn chunk(bytes: &[u8], offset: usize, len: usize) -> RequestBody {
        let end = bytes.len().min(offset + len);
        RequestBody::Chunk { offset: offset as u32, bytes: Chunk::from_slice(&bytes[offset..end]).unwrap() }
    }

    fn push(updater: &mut impl Update, bytes: &[u8], len: usize) -> Result<Receipt, UpdateRefusal> {
        ask(updater, announce(bytes))?;
        for offset in (0..bytes.len()).step_by(len) {
            ask(updater, chunk(bytes, offset, len))?;
        }
        loop {
            if let UpdateStatus::Installed(receipt) = ask(updater, RequestBody::Install)? {
                return Ok(receipt);
            }
        }
    }

    fn identity(updater: &mut Updater<'_, TestFlash, Anybody, WORDS>) -> Result<[u8; 8], Missing> {
        let mut buffer = ArtifactBuffer::new();
        updater.load(&mut buffer).status().map(|status| status.identity.0)
    }

    #[test]
    fn an_artifact_in_pieces_of_any_length_is_installed() {
        let good = binary_artifact(Some(ID));
        for len in [1, 7, 32, MAX_CHUNK] {
            let mut staged = ArtifactBuffer::new();
            let mut updater = updater(&mut staged);
            assert_eq!(identity(&mut updater), Err(Missing::Slots([SlotFault::Blank; 2])));
            let receipt = push(&mut updater, good.as_bytes(), len).unwrap();
            assert_eq!((receipt.slot, receipt.sequence, receipt.identity.0), (0, 1, [1; 8]));
            assert!(updater.is_replaced());
            assert_eq!(identity(&mut updater), Ok([1; 8]));
            assert!(!updater.is_replaced());
            // Again is no change.
            assert_eq!(push(&mut updater, good.as_bytes(), len), Ok(receipt));
            let Some(ReplyBody::Slots(slots)) = updater.answer(&RequestBody::Slots) else {
                panic!("no slots")
            };
            assert_eq!((slots.in_force, slots.trusted_key, slots.max_len_bytes), (Some(0), None, 736));
            assert_eq!(slots.slots[0].map(|content| content.sequence), Ok(1));
            assert_eq!(slots.slots[1], Err(SlotFault::Blank));
            assert_eq!(slots.update, Some(UpdateStatus::Installed(receipt)));
        }
    }

    #[test]
    fn what_is_sent_twice_counts_once_and_what_is_left_out_is_asked_for() {
        let good = binary_artifact(Some(ID));
        let bytes = good.as_bytes();
        let len_bytes = bytes.len() as u32;
        let mut staged = ArtifactBuffer::new();
        let mut updater = updater(&mut staged);
        assert_eq!(ask(&mut updater, chunk(bytes, 0, 8)), Err(UpdateRefusal::NotAnnounced));
        assert_eq!(ask(&mut updater, RequestBody::Install), Err(UpdateRefusal::NotAnnounced));
        let receiving = |received| Ok(UpdateStatus::Receiving { received, len_bytes });
        assert_eq!(ask(&mut updater, announce(bytes)), receiving(0));
        assert_eq!(ask(&mut updater, chunk(bytes, 0, 50)), receiving(50));
        assert_eq!(ask(&mut updater, chunk(bytes, 0, 50)), receiving(50));
        assert_eq!(ask(&mut updater, chunk(bytes, 20, 50)), receiving(70));
        assert_eq!(ask(&mut updater, chunk(bytes, 71, 9)), Err(UpdateRefusal::Offset { expected: 70 }));
        assert_eq!(ask(&mut updater, RequestBody::Install), Err(UpdateRefusal::Incomplete { received: 70 }));
        // The host was started again.
        assert_eq!(ask(&mut updater, announce(bytes)), receiving(70));
        assert_eq!(ask(&mut updater, chunk(bytes, 70, MAX_CHUNK)), receiving(len_bytes));
        let beyond = RequestBody::Chunk { offset: len_bytes, bytes: Chunk::from_slice(&[0]).unwrap() };
        let refusal = UpdateRefusal::TooLarge { len_bytes: len_bytes + 1, max: len_bytes };
        assert_eq!(ask(&mut updater, beyond), Err(refusal));
        assert!(matches!(ask(&mut updater, RequestBody::Install), Ok(UpdateStatus::Installing { .. })));
        assert!(matches!(ask(&mut updater, chunk(bytes, 0, 50)), Ok(UpdateStatus::Installing { .. })));
        assert!(matches!(ask(&mut updater, announce(bytes)), Ok(UpdateStatus::Installing { .. })));
        while !updater.is_replaced() {
            ask(&mut updater, RequestBody::Install).unwrap();
        }
    }

    #[test]
    fn what_is_not_accepted_never_touches_flash() {
        let held = binary_artifact(None);
        let mut staged = ArtifactBuffer::new();
        let mut updater = updater(&mut staged);
        push(&mut updater, held.as_bytes(), 64).unwrap();
        let before = updater.store.survey();
        let erases = updater.store.flash().erases;

        let other = binary_artifact(Some(OTHER_ID));
        let refused = push(&mut updater, other.as_bytes(), 64);
        assert_eq!(refused, Err(UpdateRefusal::Refused(Refused::OtherClassifier(Some(OTHER_ID)))));
        let shape = top_label_artifact(Some(ID));
        let refused = push(&mut updater, shape.as_bytes(), 64);
        assert_eq!(refused, Err(UpdateRefusal::Refused(Refused::OtherClassifier(Some(ID)))));
        let refused = push(&mut updater, &[7; 100], 64);
        assert_eq!(refused, Err(UpdateRefusal::Refused(Refused::Artifact(ParseError::Magic))));
        let refused = ask(&mut updater, RequestBody::Announce { len_bytes: 737, crc: 0 });
        assert_eq!(refused, Err(UpdateRefusal::TooLarge { len_bytes: 737, max: 736 }));

        ask(&mut updater, RequestBody::Announce { len_bytes: 4, crc: 1 }).unwrap();
        ask(&mut updater, chunk(b"CALB", 0, 4)).unwrap();
        assert_eq!(ask(&mut updater, RequestBody::Install), Err(UpdateRefusal::Crc));
        assert_eq!((updater.store.survey(), updater.store.flash().erases), (before, erases));
        assert!(updater.is_replaced(), "the one held was not loaded yet");
        assert_eq!(identity(&mut updater), Ok([1; 8]));
    }

    #[test]
    fn flash_that_fails_leaves_what_is_in_force_and_what_was_received() {
        let held = binary_artifact(None);
        let offered = binary_artifact(Some(ID));
        let mut staged = ArtifactBuffer::new();
        let mut updater = updater(&mut staged);
        push(&mut updater, held.as_bytes(), 64).unwrap();
        identity(&mut updater).unwrap();
        updater.store.flash_mut().fails = true;
        assert_eq!(push(&mut updater, offered.as_bytes(), 64), Err(UpdateRefusal::Flash));
        updater.store.flash_mut().fails = false;
        let steps: Vec<_> = (0..100).map_while(|_| ask(&mut updater, RequestBody::Install).ok()).collect();
        assert!(matches!(steps.last(), Some(UpdateStatus::Installed(Receipt { slot: 1, sequence: 2, .. }))));
    }

    /// Repeating the step that failed would not help: what is wrong in flash stays wrong until the slot is erased.
    #[test]
    fn after_a_failure_the_installation_begins_again() {
        let (held, offered) = (binary_artifact(None), binary_artifact(Some(ID)));
        let bytes = offered.as_bytes();
        let mut staged = ArtifactBuffer::new();
        let mut updater = updater(&mut staged);
        push(&mut updater, held.as_bytes(), 64).unwrap();
        ask(&mut updater, announce(bytes)).unwrap();
        for offset in (0..bytes.len()).step_by(64) {
            ask(&mut updater, chunk(bytes, offset, 64)).unwrap();
        }
        let all_is_written = LAYOUT.len_bytes + bytes.len() as u32;
        while !matches!(
            ask(&mut updater, RequestBody::Install),
            Ok(UpdateStatus::Installing { done_bytes, .. }) if done_bytes >= all_is_written
        ) {}
        // Bits of the artifact are lost before it is compared.
        updater.store.flash_mut().spoil(LAYOUT.offsets[1], 8);
        let erases = updater.store.flash().erases;
        assert_eq!(ask(&mut updater, RequestBody::Install), Err(UpdateRefusal::ReadBack { offset: 0 }));
        let steps: Vec<_> = (0..100).map_while(|_| ask(&mut updater, RequestBody::Install).ok()).collect();
        assert!(matches!(steps.last(), Some(UpdateStatus::Installed(Receipt { slot: 1, sequence: 2, .. }))));
        assert_eq!(updater.store.flash().erases, erases + 2);
    }

    /// What could not be read at the start is read again before anything is erased, and then counts.
    #[test]
    fn flash_that_could_not_be_read_at_the_start_is_looked_at_again() {
        let (held, offered) = (binary_artifact(None), binary_artifact(Some(ID)));
        let mut staged = ArtifactBuffer::new();
        let mut updater = updater(&mut staged);
        push(&mut updater, held.as_bytes(), 64).unwrap();
        updater.store.flash_mut().unreadable = 10_000;
        assert_eq!(identity(&mut updater), Err(Missing::Slots([SlotFault::Flash; 2])));
        updater.store.flash_mut().unreadable = 0;
        let erases = updater.store.flash().erases;
        assert_eq!(push(&mut updater, offered.as_bytes(), 64), Err(UpdateRefusal::Reload));
        assert_eq!(updater.store.flash().erases, erases);
        assert!(updater.is_replaced(), "the calibrator is to be loaded again");
        assert_eq!(identity(&mut updater), Ok([1; 8]));
        let receipt = push(&mut updater, offered.as_bytes(), 64).unwrap();
        assert_eq!((receipt.slot, receipt.sequence), (1, 2));
    }

    #[test]
    fn a_device_that_falls_back_says_so() {
        let (older, newer) = (binary_artifact(None), binary_artifact(Some(ID)));
        let mut staged = ArtifactBuffer::new();
        let mut updater = updater(&mut staged);
        push(&mut updater, older.as_bytes(), 64).unwrap();
        push(&mut updater, newer.as_bytes(), 64).unwrap();
        let mut buffer = ArtifactBuffer::new();
        let slot = updater.load(&mut buffer);
        assert_eq!((slot.status().map(|held| held.counter), slot.fallback_from()), (Ok(0), None));
        updater.store.flash_mut().spoil(LAYOUT.offsets[1] + 40, 4);
        let fallback_from = updater.load(&mut buffer).fallback_from();
        assert_eq!(fallback_from, Some(UnusableSlot { slot: 1, fault: SlotFault::Altered }));
        // Until a newer one is there again.
        push(&mut updater, newer.as_bytes(), 64).unwrap();
        assert_eq!(updater.load(&mut buffer).fallback_from(), None);
    }

    /// Takes every signature.
    struct Owner;

    impl Trust for Owner {
        fn check(&self, _: &Artifact<'_>, _: &[u8]) -> Result<(), SignatureError> {
            Ok(())
        }

        fn key(&self) -> Option<KeyId> {
            Some(KeyId([9; 8]))
        }
    }

    #[test]
    fn a_device_with_a_key_answers_no_trials_unless_it_is_told_to() {
        let mut staged = ArtifactBuffer::<WORDS>::new();
        let open = updater(&mut staged);
        assert_eq!((open.questions(), open.takes_outcomes()), (Questions::All, true));
        let admission = Admission::new(Owner, ID);
        let flash = TestFlash::new(2048);
        let mut keyed = Updater::open(flash, LAYOUT, admission, Task::Binary, &mut staged).unwrap();
        assert_eq!((keyed.questions(), keyed.takes_outcomes()), (Questions::NoTrials, false));
        let artifact = binary_artifact(Some(ID));
        assert_eq!(push(&mut keyed, artifact.as_bytes(), 64), Err(UpdateRefusal::NoCounter));
        let allowing = keyed.answering(Questions::All).taking_outcomes(true);
        assert_eq!((allowing.questions(), allowing.takes_outcomes()), (Questions::All, true));
    }

    #[test]
    fn a_device_without_slots_says_so() {
        assert_eq!(NoUpdate.answer(&RequestBody::Slots), None);
        assert!(!NoUpdate.is_replaced());
    }
}
