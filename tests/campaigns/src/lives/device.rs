//! A device with monitors that keep their counters, and the population that it meets.

use std::sync::OnceLock;

use calib_core::artifact::{
    ArtifactWriter, Header, HeaderFlags, Method, MonitorParts, Provenance, Reduction, Table, TableForm,
};
use calib_core::journal::JournalLayout;
use calib_core::monitor::LogEvidence;
use calib_core::predict::Ranked;
use calib_core::wire::{Counters, ReplyBody, RequestBody, ScoreEcho};
use calib_core::{
    Artifact, BinFlags, Calibrated, Erased, Identity, Outcome, Score, ScoreEncoding, StepTable,
};
use calib_firmware::{PersistentMonitors, Watch};
use embedded_storage::nor_flash::{ErrorType, NorFlash, NorFlashErrorKind, ReadNorFlash};
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::Rng;

use crate::faults::Aligned;
use crate::lives::RARITY;

/// The bins of the monitor.
pub(crate) const BINS: usize = 10;
/// The gaps between calibration scores in each bin: of 999 scores.
pub(crate) const GAPS: [u32; BINS] = [100; BINS];
const SECTOR: usize = 1024;
const LEN: usize = 2 * SECTOR;
const LAYOUT: JournalLayout = JournalLayout { offset: 0, len_bytes: LEN as u32, erased: Erased::Ones };

/// Two sectors in memory.
#[derive(Debug)]
struct Ram(Box<[u8; LEN]>);

impl ErrorType for Ram {
    type Error = NorFlashErrorKind;
}

impl ReadNorFlash for Ram {
    const READ_SIZE: usize = 1;

    fn read(&mut self, at: u32, bytes: &mut [u8]) -> Result<(), NorFlashErrorKind> {
        bytes.copy_from_slice(&self.0[at as usize..][..bytes.len()]);
        Ok(())
    }

    fn capacity(&self) -> usize {
        LEN
    }
}

impl NorFlash for Ram {
    const WRITE_SIZE: usize = 4;
    const ERASE_SIZE: usize = SECTOR;

    fn erase(&mut self, from: u32, to: u32) -> Result<(), NorFlashErrorKind> {
        self.0[from as usize..to as usize].fill(0xFF);
        Ok(())
    }

    fn write(&mut self, at: u32, bytes: &[u8]) -> Result<(), NorFlashErrorKind> {
        self.0[at as usize..][..bytes.len()].copy_from_slice(bytes);
        Ok(())
    }
}

/// A device, whose calibrator stays.
pub(crate) struct Device {
    every: u32,
    monitors: Option<PersistentMonitors<Ram, BINS, 1>>,
}

impl Device {
    /// Starts a device that saves after so many predictions.
    pub(crate) fn new(every: u32) -> Self {
        let mut device = Self { every, monitors: None };
        device.start(Ram(Box::new([0xFF; LEN])));
        device
    }

    fn start(&mut self, flash: Ram) {
        let mut monitors = PersistentMonitors::open(flash, LAYOUT, self.every).expect("it fits");
        monitors.begin(Some(artifact()), false);
        self.monitors = Some(monitors);
    }

    /// Switches the device off and on.
    pub(crate) fn restart(&mut self) {
        let flash = self.monitors().free();
        self.start(flash);
    }

    fn monitors(&mut self) -> PersistentMonitors<Ram, BINS, 1> {
        self.monitors.take().expect("it is on")
    }

    /// Predicts a score in a bin, and tells whether the device has an alarm, or tells of one.
    pub(crate) fn predict(&mut self, bin: u16, is_asked: bool) -> bool {
        let calibrated = Calibrated { prob: 0.5, bin, epsilon: None, flags: BinFlags::NONE, interval: None };
        let outcome = Outcome::Calibrated(calibrated);
        let ranked = Ranked { class: 1, score: ScoreEcho::F32(Score::ONE), outcome };
        let Some(monitors) = &mut self.monitors else { return false };
        monitors.count(artifact(), None, &ranked);
        let is_alarmed = monitors.is_alarmed();
        is_alarmed || is_asked && is_enough(&self.counters())
    }

    /// What the device tells.
    pub(crate) fn counters(&mut self) -> Counters {
        let monitors = self.monitors.as_mut().expect("it is on");
        match monitors.answer(Some(artifact()), &RequestBody::Counters { table: 0 }, true) {
            ReplyBody::Counters(counters) => counters,
            other => panic!("{other:?}"),
        }
    }
}

/// Whether what is told is an alarm, or as much evidence as one takes.
fn is_enough(counters: &Counters) -> bool {
    counters.shift.raised.is_some() || counters.shift.evidence >= LogEvidence::of_one_in(RARITY)
}

/// The calibrator of every device here.
fn artifact() -> &'static Artifact<'static> {
    static BYTES: OnceLock<Aligned> = OnceLock::new();
    static ARTIFACT: OnceLock<Artifact<'static>> = OnceLock::new();
    ARTIFACT
        .get_or_init(|| Artifact::parse(BYTES.get_or_init(|| calibrator(1)).bytes()).expect("it is whole"))
}

/// A calibrator of this name of ten bins with monitors.
pub(crate) fn calibrator(name: u8) -> Aligned {
    let edges: [f32; BINS - 1] = core::array::from_fn(|bin| (bin + 1) as f32 / BINS as f32);
    let values: [f32; BINS] = core::array::from_fn(|bin| (bin as f32 + 0.5) / BINS as f32);
    let form = TableForm::Steps(StepTable::new(&edges, &values).expect("the edges ascend"));
    let provenance =
        Provenance { data_sha256: [0; 32], tool_version: "lives", parameters: "", classifier: None };
    let header = Header {
        method: Method::Umd,
        reduction: Reduction::Binary,
        encoding: ScoreEncoding::F32,
        classes: 2,
        bins: BINS as u32,
        n: 999,
        guarantee: None,
        flags: HeaderFlags::NONE,
        provenance,
    };
    let mut words = vec![0u32; 128];
    let mut writer = ArtifactWriter::new(bytemuck::cast_slice_mut(&mut words));
    writer.header(&header).expect("the header is in order");
    writer.tables(&[Some(Table { form, epsilon: None })]).expect("the tables fit");
    let gaps = &[&GAPS[..]];
    let parts = MonitorParts { shift: RARITY, change: 10_000, guarantee: 100, gaps, edges: None };
    writer.monitors(&parts).expect("the monitors fit");
    Aligned::new(writer.finish(|_| Identity([name; 8])).expect("it fits"))
}

/// How scores fall into bins. It is another one for every life: what a calibration set leaves open of it is drawn anew.
pub(crate) struct Population([f64; BINS]);

impl Population {
    /// The gaps of the reference are those between uniform scores; `is_shifted` if scores are the power 3/2 of such.
    pub(crate) fn new(random: &mut Xoshiro256PlusPlus, is_shifted: bool) -> Self {
        let widths = GAPS.map(|gaps| (0..gaps).map(|_| -uniform(random).ln()).sum::<f64>());
        let (all, mut sum) = (widths.iter().sum::<f64>(), 0.0);
        Self(widths.map(|width| {
            sum += width;
            // P(U^(3/2) <= x) is x^(2/3).
            if is_shifted { (sum / all).powf(2.0 / 3.0) } else { sum / all }
        }))
    }

    /// The bin of the next score.
    pub(crate) fn bin(&self, random: &mut Xoshiro256PlusPlus) -> u16 {
        let at = uniform(random);
        self.0.iter().position(|&end| at <= end).unwrap_or(BINS - 1) as u16
    }
}

/// A number above 0 and up to 1.
pub(crate) fn uniform(random: &mut Xoshiro256PlusPlus) -> f64 {
    ((random.next_u64() >> 11) + 1) as f64 / (1u64 << 53) as f64
}
