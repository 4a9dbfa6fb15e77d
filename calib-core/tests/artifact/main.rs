//! The artefact format, from outside: pinned bytes, damage, contradictions, and the laws of use.

mod forge;
mod golden;
mod properties;
mod refusals;
