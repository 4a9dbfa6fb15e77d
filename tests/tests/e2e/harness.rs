//! A classifier, its firmware, and a device that runs both with an artifact: what most tests begin with.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock};
use std::{env, fs};

use calib_classifier::linear::{AlarmRule, LinearModel};
use calib_core::artifact::Reduction;
use calib_core::wire::RequestBody;
use calib_core::{Artifact, ClassifierId, Outcome};
use calib_host::{BinaryData, Problems, StoredArtifact, VectorKind, Vectors};
use calib_tests::classifier::Case;
use calib_tests::{
    Board, Emulator, Parity, asked, bare_scores, build_firmware_of, classified_rows, code_vectors, margins,
    stand_in, top2_margins, vectors,
};

/// The identity of every classifier that stands in for one.
pub(crate) const ID: ClassifierId = ClassifierId(*b"stand-in");
/// The rule that a stand-in with one output is built with.
pub(crate) const BINARY_ALARM: AlarmRule = AlarmRule::AtLeast(0.5);

/// The binary problem, trained once for all tests.
pub(crate) fn breast_cancer() -> &'static Case {
    static CASE: OnceLock<Case> = OnceLock::new();
    CASE.get_or_init(|| Case::breast_cancer().unwrap())
}

/// The problem of ten classes, trained once for all tests.
pub(crate) fn digits() -> &'static Case {
    static CASE: OnceLock<Case> = OnceLock::new();
    CASE.get_or_init(|| Case::digits().unwrap())
}

/// The scores of a binary problem's calibration rows, as the device has them.
pub(crate) fn binary_data(case: &Case) -> BinaryData {
    let scores = case.calibration.features.iter().map(|row| f64::from(case.model.score(row).unwrap().get()));
    let labels = case.calibration.labels.iter().map(|&label| label == 1);
    BinaryData::new(scores.collect(), labels.collect()).unwrap().on_device()
}

/// The predicted classes of the calibration rows.
pub(crate) fn top_label_data(case: &Case) -> Problems {
    let rows = &case.calibration;
    let logits: Vec<f32> = rows.features.iter().flat_map(|row| case.model.logits(row).unwrap()).collect();
    let classes = case.model.parameters().bias.len();
    let vectors = Vectors::new(logits, classes, VectorKind::Logits).unwrap();
    let labels: Vec<i64> = rows.labels.iter().map(|&label| label.into()).collect();
    Problems::new(&vectors, &labels, Reduction::TopLabel).unwrap()
}

/// How many inputs are drawn at random where `all` of them are to agree: all in `cargo xtask verify`, which says so by
/// `CALIB_ALL_INPUTS`, and an eighth otherwise. Edges and what is next to them are always sent.
pub(crate) fn random_inputs(all: usize) -> usize {
    if env::var_os("CALIB_ALL_INPUTS").is_some() { all } else { all.div_ceil(8) }
}

/// As [`random_inputs`] on a Cortex-M4F. Other cores always get an eighth, beside the same edges.
pub(crate) fn random_inputs_on(board: Board, all: usize) -> usize {
    if board == Board::Mps2An386 { random_inputs(all) } else { all.div_ceil(8) }
}

/// A way to start a device.
type Start = fn(Board, &Path, Option<&Path>) -> anyhow::Result<Emulator>;

/// A classifier and a board's firmware with it.
pub(crate) struct Image {
    pub(crate) board: Board,
    pub(crate) model: LinearModel,
    pub(crate) elf: PathBuf,
}

impl Image {
    pub(crate) fn new(board: Board, model: LinearModel) -> Self {
        let elf = build_firmware_of(board, &model).unwrap_or_else(|error| panic!("{error:#}"));
        Self { board, model, elf }
    }

    /// With a classifier that stands in for one of so many outputs, built once for all tests. With one output the alarm is
    /// raised from a probability of one half on, with several below it.
    pub(crate) fn stand_in(board: Board, outputs: usize) -> Arc<Self> {
        type Built = BTreeMap<(&'static str, usize), Arc<OnceLock<Arc<Image>>>>;
        static BUILT: Mutex<Built> = Mutex::new(Built::new());
        let image = Arc::clone(BUILT.lock().unwrap().entry((board.name(), outputs)).or_default());
        let alarm = if outputs == 1 { BINARY_ALARM } else { AlarmRule::Below(0.5) };
        let model = || stand_in(&format!("stand-in-{outputs}"), ID, outputs, alarm).unwrap();
        Arc::clone(image.get_or_init(|| Arc::new(Self::new(board, model()))))
    }

    /// Starts the device with these bytes in its slot: it counts instructions, and its log is kept.
    pub(crate) fn start(&self, slot: Option<&[u8]>) -> Emulator {
        self.start_by(Emulator::start_on, slot)
    }

    /// Starts the device with these bytes in its slot, as fast as it goes.
    pub(crate) fn start_fast(&self, slot: &[u8]) -> Emulator {
        self.start_by(Emulator::start_fast, Some(slot))
    }

    /// Starts the device with an artifact, to compare its answers.
    pub(crate) fn deploy(&self, what: impl Into<String>, bytes: &[u8]) -> Deployed<'_> {
        self.deployed(what.into(), bytes, self.start_fast(bytes))
    }

    /// The same for a device that counts instructions.
    pub(crate) fn deploy_counting(&self, what: impl Into<String>, bytes: &[u8]) -> Deployed<'_> {
        self.deployed(what.into(), bytes, self.start(Some(bytes)))
    }

    fn start_by(&self, start: Start, slot: Option<&[u8]>) -> Emulator {
        let file = tempfile::NamedTempFile::new().unwrap();
        let path = slot.map(|bytes| {
            fs::write(file.path(), bytes).unwrap();
            file.path()
        });
        start(self.board, &self.elf, path).unwrap_or_else(|error| panic!("{error:#}"))
    }

    fn deployed(&self, what: String, bytes: &[u8], device: Emulator) -> Deployed<'_> {
        let what = format!("{what} on {} ({})", self.board.name(), self.board.core());
        Deployed { what, image: self, stored: StoredArtifact::from_bytes(bytes).unwrap(), device }
    }
}

/// A device with an artifact. What it is asked it must answer as the host does, bit for bit.
pub(crate) struct Deployed<'i> {
    /// What this is, for messages.
    pub(crate) what: String,
    pub(crate) image: &'i Image,
    pub(crate) stored: StoredArtifact,
    pub(crate) device: Emulator,
}

impl Deployed<'_> {
    pub(crate) fn artifact(&self) -> Artifact<'_> {
        self.stored.artifact()
    }

    /// Sends requests for predictions; the host's answers.
    pub(crate) fn asked(&mut self, requests: impl IntoIterator<Item = RequestBody>) -> Parity {
        self.agrees(|device, rule, artifact| asked(device, rule, artifact, requests))
    }

    /// Sends features.
    pub(crate) fn rows(&mut self, features: &[Vec<f32>]) -> Parity {
        let model = &self.image.model;
        self.agrees(|device, _, artifact| classified_rows(device, model, artifact, features))
    }

    /// Sends scores, at least as many as [`random_inputs_on`] says of `all`, among them every edge and its neighbors.
    pub(crate) fn bare_scores(&mut self, all: usize, seed: u64) -> Parity {
        let count = random_inputs_on(self.image.board, all);
        let parity = self.agrees(|device, rule, artifact| bare_scores(device, rule, artifact, count, seed));
        assert!(parity.replies.len() >= count, "{}", self.what);
        parity
    }

    /// Sends as many vectors of logits as [`random_inputs_on`] says of `all`, and as many of probabilities unless the calibrator
    /// takes logits only.
    pub(crate) fn vectors(&mut self, all: usize, seed: u64) -> Parity {
        let count = random_inputs_on(self.image.board, all);
        let parity = self.agrees(|device, rule, artifact| vectors(device, rule, artifact, count, seed));
        assert!(parity.replies.len() >= count, "{}", self.what);
        parity
    }

    /// Sends vectors of codes, at least as many as [`random_inputs_on`] says of `all`, among them those around every edge.
    pub(crate) fn code_vectors(&mut self, all: usize, seed: u64) -> Parity {
        let count = random_inputs_on(self.image.board, all);
        let parity = self.agrees(|device, rule, artifact| code_vectors(device, rule, artifact, count, seed));
        assert!(parity.replies.len() >= count, "{}", self.what);
        parity
    }

    /// Sends margins, at least as many as [`random_inputs_on`] says of `all`, among them every edge and its neighbors.
    pub(crate) fn margins(&mut self, all: usize, seed: u64) -> Parity {
        let count = random_inputs_on(self.image.board, all);
        let parity = self.agrees(|device, rule, artifact| margins(device, rule, artifact, count, seed));
        assert!(parity.replies.len() >= count, "{}", self.what);
        parity
    }

    /// Sends logits or codes to an artifact by the top-two margin of the predicted class, at least as many as [`random_inputs_on`] says of `all`,
    /// among them those around every edge.
    pub(crate) fn top2_margins(&mut self, all: usize, seed: u64) -> Parity {
        let count = random_inputs_on(self.image.board, all);
        let parity = self.agrees(|device, rule, artifact| top2_margins(device, rule, artifact, count, seed));
        assert!(parity.replies.len() >= count, "{}", self.what);
        parity
    }

    fn agrees(
        &mut self,
        ask: impl FnOnce(&mut Emulator, AlarmRule, &Artifact<'_>) -> anyhow::Result<Parity>,
    ) -> Parity {
        let Self { what, image, stored, device } = self;
        let parity = ask(device, image.model.parameters().alarm, &stored.artifact());
        let parity = parity.unwrap_or_else(|error| panic!("{what}: {error:#}"));
        assert_eq!(parity.differences, [] as [&str; 0], "{what}");
        parity
    }
}

/// How many of the predictions are calibrated.
pub(crate) fn calibrated(parity: &Parity) -> usize {
    parity.predictions.iter().filter(|p| matches!(p.outcome, Outcome::Calibrated(_))).count()
}
