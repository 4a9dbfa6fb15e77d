//! What is not true of a bundle.

use super::content::BundleFile;

/// What is not true of a bundle, or keeps it from being checked.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Lie {
    /// A file that no bundle has.
    #[error("{0:?} is not a file of a bundle")]
    StrayFile(String),
    /// A link, a folder or a device in place of a file.
    #[error("{0:?} is not a regular file")]
    NotAFile(String),
    /// A name in an archive that leads elsewhere.
    #[error("{0:?} leads out of the archive")]
    Path(String),
    /// Two files of an archive have one name.
    #[error("the archive has {0} twice")]
    FileTwice(&'static str),
    /// A file that is larger than a bundle may be.
    #[error("{0:?} is too large for a bundle")]
    TooLarge(String),
    /// The archive is none.
    #[error("not an archive of a bundle: {0}")]
    Archive(String),
    /// A file that every bundle has is not there.
    #[error("{} is missing", .0.name())]
    MissingFile(BundleFile),
    /// The statement is no in-toto statement in a DSSE envelope, or not one of a bundle.
    #[error("statement.json: {0}")]
    Statement(String),
    /// The statement is not signed by the key.
    #[error("statement.json is not signed with the key {0}")]
    Signature(String),
    /// The key in the bundle is not the one that was given.
    #[error("the bundle has the key {found}, and {expected} was expected")]
    OtherKey {
        /// The key that was given.
        expected: String,
        /// That of the bundle.
        found: String,
    },
    /// A file is not in the statement.
    #[error("statement.json does not list {}", .0.name())]
    UnlistedFile(BundleFile),
    /// A file has other bytes than the statement says.
    #[error("{} is not the file that statement.json lists", .0.name())]
    ChangedFile(BundleFile),
    /// The claims are not in their form.
    #[error("claims.json: {0}")]
    Claims(String),
    /// The artifact is none.
    #[error("artifact.cal: {0}")]
    Artifact(String),
    /// The artifact is not signed by the owner's key.
    #[error("artifact.cal: {0}")]
    ArtifactSignature(String),
    /// The claims are about another artifact.
    #[error("claims.json is about another artifact: {what} is {claimed}, and artifact.cal has {found}")]
    OtherArtifact {
        /// What differs.
        what: String,
        /// What is claimed of it.
        claimed: String,
        /// What it is.
        found: String,
    },
    /// The page shows another figure than is claimed.
    #[error("report.html shows {shown:?} for {claim}, and {claimed} is claimed")]
    ShownFigure {
        /// The claim's id.
        claim: String,
        /// What is claimed.
        claimed: String,
        /// What the page shows.
        shown: String,
    },
    /// The page does not show a figure that is claimed of it.
    #[error("report.html does not show {0}")]
    HiddenFigure(String),
    /// The page does not have a sentence that is claimed of it.
    #[error("report.html does not state {0}")]
    HiddenSentence(String),
    /// What the owner says has another form.
    #[error("about.toml: {0}")]
    About(String),
    /// The bill of materials is none.
    #[error("bom.cdx.json: {0}")]
    Bom(String),
    /// The bill of materials does not follow from the claims.
    #[error("bom.cdx.json differs from claims.json and about.toml at {0}")]
    OtherBom(String),
    /// The checklist does not follow from the claims.
    #[error("checklist.html is not the checklist of this report")]
    OtherChecklist,
    /// A file of rows is not among those of the bundle.
    #[error("{0} has none of the hashes of rows in claims.json")]
    OtherRows(String),
    /// Rows were given, and a file of them is missing.
    #[error("the rows of {file} ({role}) are missing: no file has the SHA-256 {sha256}")]
    MissingRows {
        /// What the rows are.
        role: String,
        /// The file's name.
        file: String,
        /// Its hash.
        sha256: String,
    },
    /// The files of rows are not as long as is claimed.
    #[error("{file} has {found} rows, and {claimed} are claimed")]
    RowCount {
        /// The file's name.
        file: String,
        /// The number that is claimed.
        claimed: u64,
        /// The number of rows.
        found: u64,
    },
    /// No report follows from the rows.
    #[error("the rows give no report: {0}")]
    NoReport(String),
    /// A figure does not follow from the rows.
    #[error("{claim} is {found} by the rows, and {claimed} is claimed")]
    OtherFigure {
        /// The claim's id.
        claim: String,
        /// What is claimed.
        claimed: String,
        /// What follows from the rows.
        found: String,
    },
    /// The rows give a figure that is not claimed.
    #[error("{0} follows from the rows, and is not claimed")]
    UnclaimedFigure(String),
    /// A claim does not follow from the rows.
    #[error("{0} is claimed, and does not follow from the rows")]
    InventedFigure(String),
    /// The rows give another page.
    #[error("report.html is not the report of the rows")]
    OtherReport,
    /// The protocol, or the artifact under it.
    #[error("{0}")]
    Protocol(String),
    /// The log of decisions.
    #[error("decisions.jsonl: {0}")]
    Log(String),
}

impl Lie {
    /// A name for programs; it does not change.
    pub fn name(&self) -> &'static str {
        match self {
            Self::StrayFile(_) => "stray-file",
            Self::NotAFile(_) => "not-a-file",
            Self::Path(_) => "path",
            Self::FileTwice(_) => "file-twice",
            Self::TooLarge(_) => "too-large",
            Self::Archive(_) => "archive",
            Self::MissingFile(_) => "missing-file",
            Self::Statement(_) => "statement",
            Self::Signature(_) => "signature",
            Self::OtherKey { .. } => "other-key",
            Self::UnlistedFile(_) => "unlisted-file",
            Self::ChangedFile(_) => "changed-file",
            Self::Claims(_) => "claims",
            Self::Artifact(_) => "artifact",
            Self::ArtifactSignature(_) => "artifact-signature",
            Self::OtherArtifact { .. } => "other-artifact",
            Self::ShownFigure { .. } => "shown-figure",
            Self::HiddenFigure(_) => "hidden-figure",
            Self::HiddenSentence(_) => "hidden-sentence",
            Self::About(_) => "about",
            Self::Bom(_) => "bom",
            Self::OtherBom(_) => "other-bom",
            Self::OtherChecklist => "other-checklist",
            Self::OtherRows(_) => "other-rows",
            Self::MissingRows { .. } => "missing-rows",
            Self::RowCount { .. } => "row-count",
            Self::NoReport(_) => "no-report",
            Self::OtherFigure { .. } => "other-figure",
            Self::UnclaimedFigure(_) => "unclaimed-figure",
            Self::InventedFigure(_) => "invented-figure",
            Self::OtherReport => "other-report",
            Self::Protocol(_) => "protocol",
            Self::Log(_) => "log",
        }
    }
}
