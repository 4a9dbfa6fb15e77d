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
    /// All of them, in the order of their names.
    pub const ALL: [Self; 10] = [
        Self::About,
        Self::Artifact,
        Self::Bom,
        Self::Checklist,
        Self::Claims,
        Self::Log,
        Self::Key,
        Self::Protocol,
        Self::Report,
        Self::Statement,
    ];

    /// Its name in the folder.
    pub fn name(self) -> &'static str {
        match self {
            Self::About => "about.toml",
            Self::Artifact => "artifact.cal",
            Self::Bom => "bom.cdx.json",
            Self::Checklist => "checklist.html",
            Self::Claims => "claims.json",
            Self::Log => "decisions.jsonl",
            Self::Key => "owner.pub",
            Self::Protocol => "protocol.toml",
            Self::Report => "report.html",
            Self::Statement => "statement.json",
        }
    }

    /// The file of this name.
    pub fn of(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|file| file.name() == name)
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
        let names = BundleFile::ALL.map(BundleFile::name);
        assert!(names.is_sorted(), "{names:?}");
        assert!(BundleFile::ALL.is_sorted());
        assert!(BundleFile::ALL.iter().all(|file| BundleFile::of(file.name()) == Some(*file)));
    }
}
