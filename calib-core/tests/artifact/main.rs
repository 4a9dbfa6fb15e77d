//! The artifact format, from outside: pinned bytes, damage, contradictions, and the laws of use.

#[macro_use]
mod listing;
mod band;
mod binary_steps;
mod decisions;
mod forge;
mod golden;
mod golden_codes;
mod golden_compact;
mod golden_forms;
mod golden_margins;
mod golden_ranges;
mod joint;
mod listings;
mod monitors;
mod own_table;
mod properties;
mod reductions;
mod refusal_forms;
mod refusals;
mod rules;
mod score_intervals;
mod signed;
#[path = "../../src/test_size.rs"]
mod test_size;
