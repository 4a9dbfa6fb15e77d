//! What several of the programs need.

pub mod truth;
