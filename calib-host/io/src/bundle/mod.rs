//! Evidence about a calibrator in one folder, which a reviewer's machine checks without this one.
//!
//! [`Bundle::new`] puts a signed artifact, its report and all its figures ([`Claims`]) into a folder, with a bill of materials, a
//! checklist, and a signed statement over every file. [`check`] finds what is not true of it, the first [`Lie`] by its name. With
//! the rows at hand, [`Checked::compare`] compares every figure with a report that was made again.
//!
//! This room knows reports, keys, protocols and logs. The forms are those of others: an in-toto statement in a DSSE envelope, and CycloneDX.

mod about;
mod archive;
mod bom;
mod changes;
mod check;
mod checklist;
mod claims;
mod content;
mod figure;
mod lie;
mod make;
mod page;
mod place;
mod shown;
mod statement;

pub use about::{About, AboutModel};
pub use bom::LinkedPackage;
pub use check::{Checked, Step, check};
pub use claims::{ArtifactClaim, Claim, Claims, DataClaim, Stated};
pub use content::{Bundle, BundleFile, MAX_BUNDLE_LEN_BYTES};
pub use figure::{Figure, FigureInterval};
pub use lie::Lie;
pub use make::{BundleError, BundleParts};
pub use place::{BundleReadError, read_bundle};
