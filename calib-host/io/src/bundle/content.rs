//! What is in a bundle.

use std::collections::BTreeMap;

/// The most bytes of all files of a bundle together.
pub const MAX_BUNDLE_LEN_BYTES: u64 = 256 << 20;

/// A file of a bundle.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum BundleFile {
    /// What the owner says of model and use.
    About,
    /// The signed artifact.
    Artifact,
    /// The bill of materials.
    Bom,
    /// The checklists, and what answers their items.
    Checklist,
    /// Every figure of the report.
    Claims,
    /// The log of decisions on artifacts.
    Log,
    /// The owner's public key.
    Key,
    /// The protocol that changes have to keep.
    Protocol,
    /// The report.
    Report,
    /// The signed list of all other files.
    Statement,
}

impl BundleFile {
    /// All of them with their names in the folder, in the order of these.
    pub const NAMES: [(Self, &'static str); 10] = [
        (Self::About, "about.toml"),
        (Self::Artifact, "artifact.cal"),
        (Self::Bom, "bom.cdx.json"),
        (Self::Checklist, "checklist.html"),
        (Self::Claims, "claims.json"),
        (Self::Log, "decisions.jsonl"),
        (Self::Key, "owner.pub"),
        (Self::Protocol, "protocol.toml"),
        (Self::Report, "report.html"),
        (Self::Statement, "statement.json"),
    ];

    /// Its name in the folder.
    pub fn name(self) -> &'static str {
        Self::NAMES[self as usize].1
    }

    /// The file of this name.
    pub fn of(name: &str) -> Option<Self> {
        Self::NAMES.into_iter().find(|(_, own)| *own == name).map(|(file, _)| file)
    }

    /// Whether a bundle may be without it.
    pub fn is_optional(self) -> bool {
        matches!(self, Self::About | Self::Log | Self::Protocol)
    }
}

/// The files of a bundle in memory.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Bundle {
    pub(super) files: BTreeMap<BundleFile, Vec<u8>>,
}

impl Bundle {
    /// A file's bytes; `None` if the bundle is without it.
    pub fn get(&self, file: BundleFile) -> Option<&[u8]> {
        self.files.get(&file).map(Vec::as_slice)
    }

    /// The files in the order of their names.
    pub fn files(&self) -> impl Iterator<Item = (BundleFile, &[u8])> {
        self.files.iter().map(|(file, bytes)| (*file, bytes.as_slice()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_files_are_in_the_order_of_their_names() {
        assert!(BundleFile::NAMES.is_sorted_by_key(|(_, name)| name));
        for (file, name) in BundleFile::NAMES {
            assert_eq!((file.name(), BundleFile::of(name)), (name, Some(file)));
        }
    }
}
