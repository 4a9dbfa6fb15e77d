//! Makes artifacts byte by byte, without the crate's writer: right ones, and wrong ones with a right CRC.

use calib_core::artifact::{
    ArtifactWriter, Guarantee, Header, HeaderFlags, Method, PREFIX_LEN, Provenance, Reduction, Table,
};
use calib_core::{Artifact, ArtifactBuffer, Identity, ScoreEncoding};
use crc::{CRC_32_ISCSI, Crc};
use sha2::{Digest, Sha256};

/// The largest artifact of these tests, in words.
pub(crate) const MAX_WORDS: usize = 1 << 15;

/// Bytes aligned as the parser needs them.
pub(crate) type Aligned = ArtifactBuffer<MAX_WORDS>;

pub(crate) const MANDATORY: u16 = 1;
pub(crate) const HEADER: u16 = 1;
pub(crate) const TABLES: u16 = 2;
pub(crate) const BIN_FLAGS: u16 = 3;

/// Where the artifacts of most listings come from.
pub(crate) const PROVENANCE: Provenance<'static> =
    Provenance { data_sha256: [0x5A; 32], tool_version: "0.1.0", parameters: "", classifier: None };

/// Copies `bytes` to an aligned place.
pub(crate) fn aligned(bytes: &[u8]) -> Aligned {
    let mut buffer = Aligned::new();
    buffer.extend_from_slice(bytes).unwrap();
    buffer
}

/// Makes the stated length and the CRC those of `bytes`.
pub(crate) fn seal(bytes: &mut [u8]) {
    let len = bytes.len() as u32;
    bytes[8..12].copy_from_slice(&len.to_le_bytes());
    seal_crc(bytes);
}

/// Makes the CRC that of `bytes`.
pub(crate) fn seal_crc(bytes: &mut [u8]) {
    static CRC_32C: Crc<u32> = Crc::<u32>::new(&CRC_32_ISCSI);
    let mut digest = CRC_32C.digest();
    digest.update(&bytes[..12]);
    digest.update(&bytes[16..]);
    bytes[12..16].copy_from_slice(&digest.finalize().to_le_bytes());
}

/// The identity as the format defines it.
pub(crate) fn identity(sections: &[u8]) -> Identity {
    Identity(Sha256::digest(sections)[..8].try_into().unwrap())
}

/// An artifact from the crate's own writer.
pub(crate) fn write(header: &Header<'_>, tables: &[Option<Table<'_>>], bin_flags: &[u8]) -> Vec<u8> {
    let mut buf = vec![0xEE; 4 * MAX_WORDS];
    let mut writer = ArtifactWriter::new(&mut buf);
    writer.header(header).unwrap();
    writer.tables(tables).unwrap();
    if !bin_flags.is_empty() {
        writer.section(BIN_FLAGS, false, bin_flags).unwrap();
    }
    writer.finish(identity).unwrap().to_vec()
}

/// A section, right or wrong.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Section {
    pub(crate) kind: u16,
    pub(crate) flags: u16,
    pub(crate) payload: Vec<u8>,
}

/// A top-label artifact of three classes, the second uncalibrated, to be spoiled and sealed.
#[derive(Clone, Debug)]
pub(crate) struct Draft {
    pub(crate) header: Header<'static>,
    /// The payload of the tables section.
    pub(crate) words: Vec<u32>,
    pub(crate) bin_flags: Option<Vec<u8>>,
}

impl Draft {
    pub(crate) fn new() -> Self {
        let words = [&[3, 0, 4, 4, 6][..], &f32s(&[0.125, 0.5, 0.25, 0.75]), &f32s(&[0.25, 1.0])].concat();
        Self { header: top_label_header(), words, bin_flags: Some(vec![0, 1, 0]) }
    }

    pub(crate) fn sections(&self) -> Vec<Section> {
        let mut buf = [0; 256];
        let header = postcard::to_slice(&self.header, &mut buf).unwrap().to_vec();
        let words = self.words.iter().flat_map(|word| word.to_le_bytes()).collect();
        let mut sections = vec![
            Section { kind: HEADER, flags: MANDATORY, payload: header },
            Section { kind: TABLES, flags: MANDATORY, payload: words },
        ];
        sections.extend(self.bin_flags.clone().map(|payload| Section { kind: BIN_FLAGS, flags: 0, payload }));
        sections
    }

    pub(crate) fn bytes(&self) -> Vec<u8> {
        assemble(&self.sections())
    }
}

/// Prefix and sections, sealed.
pub(crate) fn assemble(sections: &[Section]) -> Vec<u8> {
    let mut bytes = vec![0; PREFIX_LEN];
    for section in sections {
        bytes.extend(section.kind.to_le_bytes());
        bytes.extend(section.flags.to_le_bytes());
        bytes.extend((section.payload.len() as u32).to_le_bytes());
        bytes.extend(&section.payload);
        bytes.resize(bytes.len().next_multiple_of(4), 0);
    }
    let Identity(identity) = identity(&bytes[PREFIX_LEN..]);
    bytes[..4].copy_from_slice(b"CALB");
    bytes[4..6].copy_from_slice(&1u16.to_le_bytes());
    bytes[6..8].copy_from_slice(&(sections.len() as u16).to_le_bytes());
    bytes[16..24].copy_from_slice(&identity);
    seal(&mut bytes);
    bytes
}

pub(crate) fn f32s(values: &[f32]) -> Vec<u32> {
    values.iter().map(|value| value.to_bits()).collect()
}

fn top_label_header() -> Header<'static> {
    Header {
        method: Method::Umd,
        reduction: Reduction::TopLabel,
        encoding: ScoreEncoding::F32,
        classes: 3,
        bins: 3,
        n: 50,
        guarantee: Some(Guarantee {
            theorem: calib_core::artifact::Theorem::Gr22Theorem1,
            alpha: 0.1,
            epsilon: 0.25,
        }),
        flags: HeaderFlags::CLASS_UNCALIBRATED,
        provenance: PROVENANCE,
    }
}

/// What the parser says to `bytes`, whichever way it refuses them.
#[track_caller]
pub(crate) fn refusal(bytes: &[u8]) -> Option<calib_core::ParseError> {
    let buffer = aligned(bytes);
    let file = Artifact::parse(buffer.as_bytes()).err();
    // Whatever is wrong with an artifact in a file is wrong with it in a slot.
    let slot = Artifact::parse_slot(buffer.as_bytes()).err();
    assert_eq!(file, slot);
    file
}

/// The sections of an artifact, to be spoiled and assembled again.
pub(crate) fn disassemble(artifact: &[u8]) -> Vec<Section> {
    let mut sections = Vec::new();
    let mut rest = &artifact[PREFIX_LEN..];
    while !rest.is_empty() {
        let u16_at = |at: usize| u16::from_le_bytes(rest[at..at + 2].try_into().unwrap());
        let len = u32::from_le_bytes(rest[4..8].try_into().unwrap()) as usize;
        sections.push(Section { kind: u16_at(0), flags: u16_at(2), payload: rest[8..8 + len].to_vec() });
        rest = &rest[(8 + len).next_multiple_of(4)..];
    }
    sections
}
