//! Artifacts to install.

use calib_core::artifact::{
    ArtifactWriter, Header, HeaderFlags, Method, Provenance, Reduction, Table, TableForm,
};
use calib_core::{Admission, Anybody, ClassifierId, Identity, MarginTable, ScoreEncoding, StepTable};

/// The classifier of every device here.
pub(crate) const CLASSIFIER: ClassifierId = ClassifierId(*b"faults01");

/// An artifact at a multiple of 4 in memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Aligned {
    words: Vec<u32>,
    len_bytes: usize,
}

impl Aligned {
    pub(crate) fn new(bytes: &[u8]) -> Self {
        let mut words = vec![0; bytes.len().div_ceil(4)];
        bytemuck::cast_slice_mut::<u32, u8>(&mut words)[..bytes.len()].copy_from_slice(bytes);
        Self { words, len_bytes: bytes.len() }
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        &bytemuck::cast_slice(&self.words)[..self.len_bytes]
    }
}

/// What an artifact is made of.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Recipe {
    /// Sets it apart from every other. Of an even name the scores are margins, of an odd one probabilities.
    pub(crate) name: u32,
    pub(crate) bins: usize,
    pub(crate) counter: u32,
    pub(crate) classifier: ClassifierId,
}

impl Recipe {
    pub(crate) const fn new(name: u32, bins: usize, counter: u32) -> Self {
        Self { name, bins, counter, classifier: CLASSIFIER }
    }

    pub(crate) fn artifact(&self) -> Aligned {
        let Self { name, bins, counter, classifier } = *self;
        let edges: Vec<f32> = (1..bins).map(|bin| bin as f32 / bins as f32).collect();
        let values: Vec<f32> =
            (0..bins).map(|bin| (bin as f32 + 1.0 / (name + 2) as f32) / bins as f32).collect();
        let margins: Vec<f32> = edges.iter().map(|edge| 8.0 * edge - 4.0).collect();
        let steps = StepTable::new(&edges, &values).map(TableForm::Steps);
        let margins = MarginTable::new(&margins, &values).map(TableForm::MarginSteps);
        let (form, encoding) = match name % 2 {
            0 => (margins, ScoreEncoding::Margin),
            _ => (steps, ScoreEncoding::F32),
        };
        let form = form.expect("the edges ascend");
        let header = Header {
            method: Method::Umd,
            reduction: Reduction::Binary,
            encoding,
            classes: 2,
            bins: bins as u32,
            n: 100,
            guarantee: None,
            flags: HeaderFlags::NONE,
            provenance: Provenance {
                data_sha256: [name as u8; 32],
                tool_version: "faults",
                parameters: "",
                classifier: Some(classifier),
            },
        };
        let mut words = vec![0u32; 64 + 2 * bins];
        let mut writer = ArtifactWriter::new(bytemuck::cast_slice_mut(&mut words));
        writer.header(&header).expect("the header is in order");
        writer.tables(&[Some(Table { form, epsilon: None })]).expect("the tables fit");
        if counter > 0 {
            writer.counter(counter).expect("the counter fits");
        }
        let identity = |sections: &[u8]| {
            let sum = sections.iter().fold(u64::from(name), |sum, &b| sum.rotate_left(7) ^ u64::from(b));
            Identity(sum.to_le_bytes())
        };
        Aligned::new(writer.finish(identity).expect("it fits"))
    }
}

/// What every device here accepts.
pub(crate) const fn admission() -> Admission<Anybody> {
    Admission::new(Anybody, CLASSIFIER)
}

/// CRC-32C, bit by bit.
pub(crate) fn crc32c(parts: &[&[u8]]) -> u32 {
    let mut crc = u32::MAX;
    for &byte in parts.iter().copied().flatten() {
        crc ^= u32::from(byte);
        for _ in 0..8 {
            crc = (crc >> 1) ^ (0x82F6_3B78 & 0u32.wrapping_sub(crc & 1));
        }
    }
    !crc
}
