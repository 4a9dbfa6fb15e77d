//! The files that a person has: artefacts.

mod artifact;

pub use artifact::read_artifact;
