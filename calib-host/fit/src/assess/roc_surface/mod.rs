//! The ROC surface of several classes: its [`volume`], its [`points`] as counts, and their convex [`hull`].

mod hull;
mod points;
mod volume;

pub use volume::{HullVolume, RocSurface, SurfaceVolume, roc_surface};
