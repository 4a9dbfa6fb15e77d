//! The [`points`] of the ROC surface of three classes as counts, and their convex [`hull`].

mod hull;
mod points;

#[cfg(test)]
pub(crate) use points::tests::cells;
pub(crate) use points::{Rows, surface_hull};
