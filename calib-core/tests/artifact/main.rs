//! The artefact format, from outside: pinned bytes, damage, contradictions, and the laws of use.

mod decisions;
mod forge;
mod golden;
mod golden_codes;
mod golden_compact;
mod golden_forms;
mod joint;
mod listings;
mod properties;
mod reductions;
mod refusal_forms;
mod refusals;
#[path = "../../src/test_size.rs"]
mod test_size;
