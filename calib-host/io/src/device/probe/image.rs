//! The two slots as bytes on the host: what the device would make of them, and of an artifact installed there.

use calib_core::slot::{InstallError, LayoutError, Receipt, SlotContent, SlotFault, slot_trailer};
use calib_core::{Admission, Anybody, ArtifactBuffer, ClassifierId, Erased, SlotLayout, SlotStore};
use calib_fit::artifact::StoredArtifact;
use embedded_storage::nor_flash::{ErrorType, NorFlash, NorFlashErrorKind, ReadNorFlash};

use super::flow::Segment;

/// Words of the largest slot that is loaded here.
const WORDS: usize = 1 << 16;

/// Where a chip's slots lie.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SlotMap {
    /// The address of the first; the second follows.
    pub addr: u64,
    /// The length of either in bytes.
    pub len_bytes: u32,
}

/// The slots of calib's own board crates, by the chip's name.
///
/// ```
/// use calib_io::device::probe::slot_map;
///
/// assert!(slot_map("nRF52840_xxAA").is_some());
/// assert!(slot_map("a chip that has no board crate").is_none());
/// ```
pub fn slot_map(chip: &str) -> Option<SlotMap> {
    match chip.to_ascii_lowercase().as_str() {
        // The last two sectors of 4 KB of 1 MB.
        "nrf52840_xxaa" => Some(SlotMap { addr: 0x000F_E000, len_bytes: 4096 }),
        _ => None,
    }
}

/// Where calib's own board crates leave their report, by the chip's name: at the start of memory.
pub fn report_addr(chip: &str) -> Option<u64> {
    slot_map(chip).map(|_| 0x2000_0000)
}

/// The bytes of both slots, as they were read.
///
/// ```
/// use calib_core::slot::SlotFault;
/// use calib_io::device::probe::{SlotImage, SlotMap};
/// # use calib_fit::{BinaryData, BinaryMethod, StoredArtifact, Umd, artifact_bytes, fit_binary};
/// # let scores = (0..400).map(|i| f64::from(i) / 400.0).collect();
/// # let data = BinaryData::new(scores, (0..400).map(|i| i % 40 < i / 20).collect())?;
/// # let fit = fit_binary(&data, &BinaryMethod::Umd(Umd::new(4)), 0.1)?;
/// # let artifact = StoredArtifact::from_bytes(&artifact_bytes(&fit, &Default::default())?)?;
///
/// let map = SlotMap { addr: 0x000F_E000, len_bytes: 4096 };
/// let erased = SlotImage::new(map, vec![0xFF; 8192]);
/// assert_eq!(erased.survey()?, [Err(SlotFault::Blank); 2]);
/// let (receipt, segment) = erased.install(&artifact)?;
/// assert_eq!((receipt?.slot, segment.addr, segment.bytes.len()), (0, map.addr, 4096));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct SlotImage {
    map: SlotMap,
    bytes: Vec<u8>,
}

impl SlotImage {
    /// Takes the bytes of both slots, one after the other.
    pub fn new(map: SlotMap, bytes: Vec<u8>) -> Self {
        Self { map, bytes }
    }

    /// What the slots hold.
    ///
    /// # Errors
    ///
    /// If slots of this length hold nothing.
    pub fn survey(&self) -> Result<[Result<SlotContent, SlotFault>; 2], LayoutError> {
        self.with(ClassifierId([0; 8]), |store| store.survey()).map(|(survey, _)| survey)
    }

    /// Installs an artifact as the device itself would, and returns what is to be written: one whole slot.
    ///
    /// # Errors
    ///
    /// If the slots are no slots, or the device would not take the artifact.
    pub fn install(
        &self,
        artifact: &StoredArtifact,
    ) -> Result<(Result<Receipt, InstallError<NorFlashErrorKind>>, Segment), LayoutError> {
        // What the device's classifier is the chip does not tell: that it fits is for the device to say.
        let classifier = artifact.artifact().header().provenance.classifier.unwrap_or(ClassifierId([0; 8]));
        let ((receipt, in_force), bytes) = self.with(classifier, |store| {
            let receipt = store.install(artifact.as_bytes());
            (receipt, store.current_slot())
        })?;
        if let (Err(InstallError::NoMark), Some(in_force)) = (&receipt, in_force)
            && let Some((receipt, segment)) = self.beside(in_force, artifact)?
        {
            return Ok((Ok(receipt), segment));
        }
        let slot = receipt.as_ref().map_or(0, |receipt| usize::from(receipt.slot));
        let len = self.map.len_bytes as usize;
        let addr = self.map.addr + (slot * len) as u64;
        Ok((receipt, Segment { addr, bytes: bytes[slot * len..][..len].to_vec() }))
    }

    /// What is to be written beside the active slot if that has no place for marks: a probe can do without, because it can write
    /// the slot again if the power fails. The store has looked at the artifact's counter before.
    fn beside(
        &self,
        in_force: usize,
        artifact: &StoredArtifact,
    ) -> Result<Option<(Receipt, Segment)>, LayoutError> {
        let held = self.survey()?.get(in_force).copied().and_then(Result::ok);
        let Some(sequence) = held.and_then(|held| held.sequence.checked_add(1)) else { return Ok(None) };
        let (slot, len) = (1 - in_force.min(1), self.map.len_bytes as usize);
        let parsed = artifact.artifact();
        let Some(trailer) = slot_trailer(&parsed, artifact.as_bytes(), sequence, &self.layout()) else {
            return Ok(None);
        };
        let mut bytes = vec![0xFF; len];
        bytes[..artifact.as_bytes().len()].copy_from_slice(artifact.as_bytes());
        bytes[len - trailer.len()..].copy_from_slice(&trailer);
        let receipt = Receipt { identity: parsed.identity(), slot: slot as u8, sequence };
        Ok(Some((receipt, Segment { addr: self.map.addr + (slot * len) as u64, bytes })))
    }

    fn layout(&self) -> SlotLayout {
        let SlotMap { len_bytes, .. } = self.map;
        SlotLayout { offsets: [0, len_bytes], len_bytes, erased: Erased::Ones }
    }

    fn with<R>(
        &self,
        classifier: ClassifierId,
        work: impl FnOnce(&mut SlotStore<Memory, Anybody>) -> R,
    ) -> Result<(R, Vec<u8>), LayoutError> {
        let mut buffer = Box::new(ArtifactBuffer::<WORDS>::new());
        let admission = Admission::new(Anybody, classifier);
        let (mut store, _) =
            SlotStore::open(Memory(self.bytes.clone()), self.layout(), admission, &mut buffer)?;
        let result = work(&mut store);
        Ok((result, store.free().0))
    }
}

/// Bytes behind flash's rules.
struct Memory(Vec<u8>);

impl Memory {
    fn part(&mut self, offset: u32, len: usize) -> Result<&mut [u8], NorFlashErrorKind> {
        let part = self.0.get_mut(offset as usize..).and_then(|rest| rest.get_mut(..len));
        part.ok_or(NorFlashErrorKind::OutOfBounds)
    }
}

impl ErrorType for Memory {
    type Error = NorFlashErrorKind;
}

impl ReadNorFlash for Memory {
    const READ_SIZE: usize = 1;

    fn read(&mut self, offset: u32, bytes: &mut [u8]) -> Result<(), NorFlashErrorKind> {
        bytes.copy_from_slice(self.part(offset, bytes.len())?);
        Ok(())
    }

    fn capacity(&self) -> usize {
        self.0.len()
    }
}

impl NorFlash for Memory {
    const WRITE_SIZE: usize = 4;
    // The store erases whole slots: their true sectors are the probe's business.
    const ERASE_SIZE: usize = 256;

    fn erase(&mut self, from: u32, to: u32) -> Result<(), NorFlashErrorKind> {
        self.part(from, (to - from) as usize)?.fill(0xFF);
        Ok(())
    }

    fn write(&mut self, offset: u32, bytes: &[u8]) -> Result<(), NorFlashErrorKind> {
        let part = self.part(offset, bytes.len())?;
        part.iter_mut().zip(bytes).for_each(|(to, from)| *to &= from);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use calib_fit::artifact::{ArtifactOptions, artifact_bytes};
    use calib_fit::binary::{BinaryMethod, Umd};
    use calib_fit::data::BinaryData;
    use calib_fit::fit::fit_binary;

    const MAP: SlotMap = SlotMap { addr: 0xFE000, len_bytes: 4096 };

    fn artifact(bins: usize, counter: u32) -> StoredArtifact {
        let scores = (0..400).map(|i| f64::from(i) / 400.0).collect();
        let labels = (0..400).map(|i| i % 40 < i / 20).collect();
        let data = BinaryData::new(scores, labels).unwrap().on_device();
        let fit = fit_binary(&data, &BinaryMethod::Umd(Umd::new(bins)), 0.1).unwrap();
        let options = ArtifactOptions::default().counter(counter);
        StoredArtifact::from_bytes(&artifact_bytes(&fit, &options).unwrap()).unwrap()
    }

    fn written(image: &SlotImage, segment: &Segment) -> SlotImage {
        let mut bytes = image.bytes.clone();
        let at = (segment.addr - MAP.addr) as usize;
        bytes[at..at + segment.bytes.len()].copy_from_slice(&segment.bytes);
        SlotImage::new(MAP, bytes)
    }

    #[test]
    fn one_slot_after_the_other_is_written() {
        let blank = SlotImage::new(MAP, vec![0xFF; 8192]);
        assert_eq!(blank.survey(), Ok([Err(SlotFault::Blank); 2]));
        let (receipt, segment) = blank.install(&artifact(4, 1)).unwrap();
        assert_eq!((receipt.unwrap().sequence, segment.addr, segment.bytes.len()), (1, 0xFE000, 4096));
        let first = written(&blank, &segment);
        assert_eq!(first.survey().unwrap()[0].unwrap().sequence, 1);
        let (receipt, segment) = first.install(&artifact(5, 1)).unwrap();
        assert_eq!((receipt.unwrap().sequence, segment.addr), (2, 0xFF000));
        let both = written(&first, &segment);
        let survey = both.survey().unwrap();
        assert_eq!(survey.map(|slot| slot.unwrap().sequence), [1, 2]);
        let (refused, _) = both.install(&artifact(6, 0)).unwrap();
        assert_eq!(refused, Err(InstallError::Downgrade { held: 1, offered: 0 }));
    }

    /// The device itself would refuse.
    #[test]
    fn beside_a_slot_without_a_place_for_marks_a_probe_still_writes() {
        let blank = SlotImage::new(MAP, vec![0xFF; 8192]);
        let (_, segment) = blank.install(&artifact(4, 1)).unwrap();
        let mut held = written(&blank, &segment);
        // Torn spare marks.
        held.bytes[4096 - 288..4096 - 64].fill(0x7F);
        let (receipt, segment) = held.install(&artifact(5, 1)).unwrap();
        assert_eq!((receipt.unwrap().sequence, segment.addr, segment.bytes.len()), (2, 0xFF000, 4096));
        let both = written(&held, &segment);
        assert_eq!(both.survey().unwrap().map(|slot| slot.unwrap().sequence), [1, 2]);
        let (refused, _) = both.install(&artifact(6, 0)).unwrap();
        assert_eq!(refused, Err(InstallError::Downgrade { held: 1, offered: 0 }));
    }

    #[test]
    fn a_slot_that_is_none_is_refused() {
        for len_bytes in [0, 100, 4000] {
            let image = SlotImage::new(SlotMap { addr: 0, len_bytes }, vec![0xFF; 2 * len_bytes as usize]);
            assert!(image.survey().is_err());
        }
    }
}
