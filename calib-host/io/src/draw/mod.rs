//! Charts as SVG, and as pixels with the feature `png`.
//!
//! A [`Plot`] is a picture with its heading, what to see in it, and the numbers behind it. Everything that calib draws is
//! drawn by [`Chart`] in one style, whose colors follow the reader's light or dark theme.
//!
//! This room knows no other.

mod chart;
mod labels;
mod plot;
#[cfg(feature = "png")]
mod png;

pub use chart::{Axis, Chart, LegendEntry, Mark, STYLE, key};
pub use plot::Plot;
pub(crate) use plot::{PlotText, finish};
#[cfg(feature = "png")]
pub use png::PngError;
