//! The artefact format, from outside: pinned bytes, damage, contradictions, and the laws of use.

mod forge;
mod golden;
mod golden_codes;
mod golden_forms;
mod properties;
mod refusal_forms;
mod refusals;
