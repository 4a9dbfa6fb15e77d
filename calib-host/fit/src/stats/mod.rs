//! Numbers: exact sums, intervals, folds, and the functions that fitting is made of.
//!
//! The ground: knows nothing of calibration, and imports nothing of this crate.

mod binomial;
mod clopper_pearson;
mod clusters;
mod decimal;
mod exact_sum;
mod f32_rounding;
mod fenwick;
mod fixed_point;
mod folds;
mod hypergeometric;
mod interval;
mod logistic;
mod newton;
mod percent;
mod range_moments;
mod score_kind;
mod seed;
mod share;
mod shown;
mod surface_hull;

pub(crate) use binomial::{at_most, at_most_is_rare};
pub use clopper_pearson::{clopper_pearson, effective_clopper_pearson};
pub use clusters::Clusters;
pub(crate) use clusters::Units;
pub(crate) use decimal::{complement, floor_of_product};
pub(crate) use exact_sum::ExactSum;
pub use f32_rounding::{f32_ceil, f32_floor};
pub(crate) use fenwick::CountTree;
pub(crate) use fixed_point::{Sums, mean};
pub use folds::CrossValidation;
pub(crate) use folds::deal;
pub(crate) use hypergeometric::draw_marked;
pub use interval::Interval;
pub use logistic::CLIP;
pub(crate) use logistic::{clip, ln_complement, logit, sigmoid, softmax};
pub(crate) use newton::{Convex, End, approach, minimize};
pub use percent::{decimals, percent, percent_of_success};
pub use range_moments::RangeMoments;
pub use score_kind::ScoreKind;
pub use seed::Seed;
pub use share::Share;
pub(crate) use shown::write;
pub use shown::{places, places_between, shown, shown_bound, thousands};
#[cfg(test)]
pub(crate) use surface_hull::cells;
pub(crate) use surface_hull::{Rows, surface_hull};
