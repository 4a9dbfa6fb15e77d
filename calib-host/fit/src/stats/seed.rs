//! What random draws start from.

/// The seed of whatever a fit draws at random.
pub type Seed = u64;
