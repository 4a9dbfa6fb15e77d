//! What theorems guarantee, as numbers: epsilon for so many points and bins, and the other way round.

mod exact;
mod plan;
mod theorems;
mod validation_size;

pub use exact::{exact_epsilon, exact_interval, interval_epsilon};
pub use plan::{ClassPlan, Plan};
pub use theorems::{
    Guarantee, GuaranteeBound, gr21_corollary1, gr21_theorem3, gr21_theorem3_smallest_n,
    gr21_theorem4_marginal, gr22_theorem1, gr22_theorem2, sample_split,
};
pub use validation_size::{ValidationPlan, ValidationSize};
