//! What several of the programs need.

pub mod browser;
pub mod truth;
