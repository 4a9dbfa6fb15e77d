//! Doubles for the unit tests.

use std::vec::Vec;

use calib_core::{
    ArtifactWriter, ClassifierId, Header, HeaderFlags, Identity, Method, Outcome, Provenance, Reduction,
    ScoreEncoding, StepTable, Table,
};

use crate::{LinearClassifier, Meter};

pub(crate) const ID: ClassifierId = ClassifierId(*b"testing!");
pub(crate) const OTHER_ID: ClassifierId = ClassifierId(*b"another!");

pub(crate) static BINARY: LinearClassifier<2, 1> =
    LinearClassifier::new("binary", ID, [0.0; 2], [1.0; 2], [[1.0, 1.0]], [0.0]);
pub(crate) static TERNARY: LinearClassifier<2, 3> = LinearClassifier::new(
    "ternary",
    ID,
    [0.0; 2],
    [1.0; 2],
    [[1.0, 0.0], [0.0, 1.0], [-1.0, -1.0]],
    [0.0; 3],
);

/// A meter that always shows the same.
#[derive(Debug)]
pub(crate) struct StopWatch {
    pub(crate) ticks: Option<u32>,
}

impl Meter for StopWatch {
    fn measure_ticks(&mut self, work: impl FnOnce()) -> Option<u32> {
        work();
        self.ticks
    }

    fn stack_high_water_bytes(&mut self) -> u32 {
        1234
    }
}

/// An artefact at a multiple of 4 in memory.
#[derive(Clone)]
pub(crate) struct Aligned(Vec<u32>);

impl Aligned {
    pub(crate) fn as_bytes(&self) -> &[u8] {
        bytemuck::cast_slice(&self.0)
    }

    pub(crate) fn flip(&mut self, bit: usize) {
        bytemuck::cast_slice_mut::<u32, u8>(&mut self.0)[bit / 8] ^= 1 << (bit % 8);
    }
}

/// 0.05 below 0.2, 0.4 below 0.7, then 0.9.
pub(crate) fn binary_artifact(classifier: Option<ClassifierId>) -> Aligned {
    let steps = StepTable::new_const(&[0.2, 0.7], &[0.05, 0.4, 0.9]);
    artifact(Reduction::Binary, 2, &[Some(Table { steps, epsilon: None })], classifier)
}

/// 0.3 for class 0, 0.8 for class 1, nothing for class 2.
pub(crate) fn top_label_artifact(classifier: Option<ClassifierId>) -> Aligned {
    let table = |values| Some(Table { steps: StepTable::new_const(&[], values), epsilon: None });
    artifact(Reduction::TopLabel, 3, &[table(&[0.3]), table(&[0.8]), None], classifier)
}

fn artifact(
    reduction: Reduction,
    classes: u16,
    tables: &[Option<Table<'_>>],
    classifier: Option<ClassifierId>,
) -> Aligned {
    let whole = tables.iter().all(Option::is_some);
    let header = Header {
        method: Method::Umd,
        reduction,
        encoding: ScoreEncoding::F32,
        classes,
        bins: tables.iter().flatten().map(|table| table.steps.bins() as u32).sum(),
        n: 100,
        guarantee: None,
        flags: if whole { HeaderFlags::NONE } else { HeaderFlags::CLASS_UNCALIBRATED },
        provenance: Provenance { data_sha256: [0; 32], tool_version: "test", parameters: "", classifier },
    };
    let mut words = std::vec![0; 256];
    let mut writer = ArtifactWriter::new(bytemuck::cast_slice_mut(&mut words));
    writer.header(&header).unwrap();
    writer.tables(tables).unwrap();
    let len_bytes = writer.finish(|_| Identity([1; 8])).unwrap().len();
    words.truncate(len_bytes / 4);
    Aligned(words)
}

/// The probability of a calibrated outcome.
pub(crate) fn calibrated(outcome: Outcome) -> f32 {
    match outcome {
        Outcome::Calibrated(calibrated) => calibrated.prob,
        Outcome::Uncalibrated(reason) => panic!("uncalibrated: {reason}"),
    }
}
